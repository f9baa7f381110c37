"""Scores of tasks over seeds: the tasks of a run, regimes compared, and their tables and charts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import PurePath
from typing import Any
from weakref import WeakKeyDictionary

from interlingua import languages
from interlingua.analyses.seed_statistics import (
    RegimeDifference,
    RegimeScore,
    summarize_tasks,
)
from interlingua.metric import Metric
from interlingua.record import Estimate, Record, RecordTable, mean_estimate
from interlingua.registry import ListedEntry, list_registered
from interlingua.report.kit.chart import (
    Axis,
    Chart,
    ChartMenu,
    IntervalChart,
    IntervalRow,
    Line,
    LineChart,
    ReferenceLine,
)
from interlingua.report.kit.finding import Verdict
from interlingua.report.kit.section import Run
from interlingua.report.kit.table import Cell, Column, MarkedEstimate, Table
from interlingua.report.kit.wording import (
    Display,
    escape_control_characters,
    format_number,
    format_value,
    language_name,
    pluralize,
)
from interlingua.stats.chance import LEVEL

MAX_TEST_COLUMNS = 5
"""How many tests stand side by side in a table; more stand below each other."""
CLEAR = (Verdict.HIGHER, Verdict.LOWER)
_PERMUTATIONS = 10_000
_TASK_NAMES = {
    "ner": "NER",
    "nli": "NLI",
    "paraphrase": "paraphrase identification",
    "classification": "text classification",
    "qa": "question answering",
    "retrieval": "sentence retrieval",
}
_REGIME_NAMES = {
    "adjusted": "adjustment",
    "continual": "continual adjustment",
    "continual-code": "continual adjustment with the weights of the published code",
    "joint": "joint adjustment",
    "mapped": "a fitted rotation",
}


# What is measured.


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A regime against one of its test's bases, and what the numbers allow to say.

    NOT_COMPARABLE: a seed of a side is collapsed. AT_CHANCE: neither side is above chance. NOT_TESTED: a side has one
    seed, or values per example were not kept. `p` is what the verdict goes by.
    """

    score: RegimeScore
    base: RegimeScore
    difference: RegimeDifference
    verdict: Verdict

    @property
    def remaining(self) -> RegimeDifference | None:
        """The difference over the seeds in which both sides learned, where a seed is collapsed."""
        return self.score.without_collapsed.get(self.base.regime)


@dataclass(frozen=True, eq=False)
class TaskScores:
    """All scores of one encoder, task and language of training."""

    model: str
    task: str
    source: str
    scores: tuple[RegimeScore, ...]
    prefix: str = ""
    """What its tables and charts are called after, where a run has several."""

    @cached_property
    def name(self) -> str:
        """Task, model and language of training: they identify it in a study."""
        language = language_name(self.source, {})
        return escape_control_characters(f"{self.task} ({PurePath(self.model).name}, {language})")

    @cached_property
    def measure(self) -> str:
        """The kind of its task: that of the language of training, not of retrieval beside it."""
        kinds = dict.fromkeys(score.measure for score in self.scores)
        return next((kind for kind in kinds if kind != "retrieval"), "retrieval")

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that are shown, in the order in which their tasks declare them; without a known one, all."""
        order: dict[str, tuple[int, int]] = {}
        for score in self.scores:
            declared, place = declared_metric(score)
            if declared is not None and _is_default(declared, score.records[0]):
                order[score.metric] = (score.measure == "retrieval", place)
        return tuple(sorted(order, key=lambda key: order[key])) or tuple({score.metric: None for score in self.scores})

    @cached_property
    def lead_metrics(self) -> Mapping[str, str]:
        """By test the metric that speaks for it: the first of its own that is shown.

        Tests of one run may have different metrics: sentence retrieval beside the task that was trained.
        """
        present: dict[str, set[str]] = {}
        for score in self.scores:
            present.setdefault(score.test, set()).add(score.metric)
        return {test: next((m for m in self.metrics if m in own), min(own)) for test, own in present.items()}

    @cached_property
    def main_scores(self) -> tuple[RegimeScore, ...]:
        """The scores that verdicts are about: of every test its lead metric."""
        return tuple(score for score in self.scores if self.lead_metrics[score.test] == score.metric)

    @cached_property
    def source_test(self) -> str | None:
        """The test in the language of training, None where there is none."""
        tests = dict.fromkeys(score.test for score in self.main_scores if score.measure != "retrieval")
        # A second test of a language is named CODE:NAME.
        return next((test for test in tests if test.partition(":")[0] == self.source), None)

    def of_metric(self, metric: str) -> tuple[RegimeScore, ...]:
        """Its scores in one metric."""
        return tuple(score for score in self.scores if score.metric == metric)

    def base_scores(self) -> list[RegimeScore]:
        """Of every test of the task the main score of the regime that the others are compared with.

        The language of training comes first; retrieval beside a task is another question.
        """
        own = [score for score in self.main_scores if score.regime == score.base and score.measure == self.measure]
        return sorted(own, key=lambda score: score.test != self.source_test)

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The main scores against the first base of their test."""
        return tuple(each for each in compare(self.main_scores) if each.base.regime == each.score.base)


_SUMMARIES: WeakKeyDictionary[RecordTable, dict[tuple[Any, ...], tuple[TaskScores, ...]]] = WeakKeyDictionary()


def task_scores(run: Run) -> tuple[TaskScores, ...]:
    """The scores of all tasks of a run, computed once per table of records: tests over examples take their time."""
    regimes, tests = (tuple(map(str, run.about.get(name) or ())) for name in ("regimes", "tests"))
    settings = run.about.get("settings")
    asked = run.about.get("permutations") or (settings.get("permutations") if isinstance(settings, Mapping) else None)
    permutations = int(asked or _PERMUTATIONS)
    held = _SUMMARIES.setdefault(run.records, {})
    key = (regimes, tests, permutations)
    if key not in held:
        scores = summarize_tasks(run.records, run.items, regimes=regimes, tests=tests, permutations=permutations)
        groups: dict[tuple[str, str, str], list[RegimeScore]] = {}
        for score in scores:
            groups.setdefault((score.model, str(score.task), str(score.source)), []).append(score)
        held[key] = tuple(
            TaskScores(*group, tuple(own), "-".join(PurePath(part).name for part in group) if len(groups) > 1 else "")
            for group, own in groups.items()
        )
    return held[key]


def has_scores(run: Run) -> bool:
    """Whether a run has scores of a task."""
    return any(None not in (record.regime, record.test, record.task) for record in run.records)


def compare(scores: Sequence[RegimeScore]) -> Iterator[Comparison]:
    """All comparisons of scores of one metric, in the order of the scores."""
    by_cell = {(score.test, score.regime): score for score in scores}
    for score in scores:
        for base in score.bases[: score.bases.index(score.regime)] if score.regime in score.bases else score.bases:
            other = by_cell.get((score.test, base))
            if other is not None:
                difference = score.against.get(base) or _untested(score, other)
                yield Comparison(
                    score=score, base=other, difference=difference, verdict=judge(score, other, difference)
                )


def _untested(score: RegimeScore, base: RegimeScore) -> RegimeDifference:
    """The difference of two means whose values per example were not kept."""
    return RegimeDifference(
        value=score.value - base.value,
        n=min(score.n, base.n),
        records=(*score.records, *base.records),
        base=base.regime,
        seeds=score.seeds,
        base_seeds=base.seeds,
        over="",
        item_deviation=0.0,
    )


def judge(score: RegimeScore, base: RegimeScore, difference: RegimeDifference) -> Verdict:
    """What may be said of a difference: a mean with a collapsed seed compares luck in training, not regimes."""
    if not score.has_learned and not base.has_learned:
        return Verdict.AT_CHANCE
    if score.collapsed_seeds or base.collapsed_seeds:
        return Verdict.NOT_COMPARABLE
    return judge_p(difference, difference.p_adjusted)


def judge_p(difference: RegimeDifference, p: float | None) -> Verdict:
    """Higher or lower where a p-value is below 0.05 and the difference is not shown as 0."""
    if p is None:
        return Verdict.NOT_TESTED
    if p >= LEVEL or not round(100 * difference.value, 1):
        return Verdict.UNCLEAR
    return Verdict.HIGHER if difference.value > 0 else Verdict.LOWER


@cache
def _tasks_in_source() -> list[ListedEntry]:
    return list_registered("interlingua.tasks", "tasks")


def _declared(measure: str) -> tuple[Metric, ...]:
    """The metrics that a task declares; a file of a user may have registered it just now."""
    tasks = list_registered("interlingua.tasks", "tasks") if "interlingua.tasks" in sys.modules else _tasks_in_source()
    return next((tuple(task.metrics) for task in tasks if task.name == measure), ())


def declared_metric(score: RegimeScore) -> tuple[Metric | None, int]:
    """The metric that a score is of, as its task declares it, and its place there; None of a task that is not known."""
    record = score.records[0]
    for place, metric in enumerate(_declared(score.measure)):
        same = all(record.options.get(name) in values for name, values in metric.options.items())
        if metric.name == record.metric and same:
            return metric, place
    return None, 0


def _is_default(metric: Metric, record: Record) -> bool:
    """Whether a record has the first value of each option of its metric: the one that is shown."""
    return all(record.options.get(name) == values[0] for name, values in metric.options.items())


def metric_title(score: RegimeScore) -> str:
    """The title of a score's metric."""
    declared, _ = declared_metric(score)
    return escape_control_characters(score.metric) if declared is None else declared.title


def metric_display(score: RegimeScore) -> Display:
    """How a score is displayed: percent, but for a mean reciprocal rank and metrics that are not known as shares."""
    declared, _ = declared_metric(score)
    return "percent" if declared is None else declared.display


def difference_display(score: RegimeScore) -> Display:
    """How a difference of such scores is displayed."""
    return "points" if metric_display(score) == "percent" else "decimal3"


def title_of_test(score: RegimeScore) -> str:
    """What a test is called: its language, and its name where that says more.

    The language of a test of two languages is that of what is scored (the paragraph of a question).
    """
    if score.target is None or not languages.is_language(score.target):
        return escape_control_characters(score.test)
    name = language_name(score.target, {})
    return name if score.test == score.target else f"{name} ({escape_control_characters(score.test)})"


def task_title(measure: str) -> str:
    """What a kind of task is called in a sentence."""
    return _TASK_NAMES.get(measure, escape_control_characters(measure))


def regime_title(regime: str) -> str:
    """What a regime is called in a sentence."""
    return _REGIME_NAMES.get(regime, f"the regime {escape_control_characters(regime)}")


def lower_first(title: str) -> str:
    """A title within a sentence: `accuracy`, but `F1 of whole entities`."""
    return title[0].lower() + title[1:] if title[1:2].islower() else title


def upper_first(text: str) -> str:
    """A text at the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def format_size(value: float, display: Display) -> str:
    """A size without a sign: detectable differences have none."""
    if display != "points":
        return "over 1" if value > 1 else format_value(value, display)
    return "over 100" if value > 1 else format_number(100 * value, 1)


def detectable_range(comparisons: Iterable[Comparison]) -> list[float]:
    """The smallest and the largest detectable difference of the tested comparisons; empty where none is known."""
    differences = [each.difference for each in comparisons]
    sizes = [each.detectable for each in differences if each.p is not None and each.detectable is not None]
    return [min(sizes), max(sizes)] if sizes else []


def scores_judged_by_chance(group: TaskScores, scores: Iterable[RegimeScore]) -> list[RegimeScore]:
    """The scores that say whether these are above chance: of a metric without a chance level, another of that test."""
    found = []
    for score in scores:
        cell = (score.test, score.regime)
        others = [each for each in group.scores if (each.test, each.regime) == cell and each.null_value is not None]
        best = min(others, key=lambda each: "chance" not in each.records[0].details, default=score)
        found.append(score if score.null_value is not None else best)
    return found


# Tables.


def mark_of(score: RegimeScore, base: str) -> str:
    """The mark of a difference: ** to the adjusted regime, or to the second base where others are the bases."""
    return "**" if base == "adjusted" or base in score.bases[1:] else "*"


def marked_scores(scores: Sequence[RegimeScore]) -> dict[tuple[str, str], MarkedEstimate]:
    """The cells of a table of scores by regime and test, marked where a difference is clear (Efimov et al. 2023)."""
    marks: dict[tuple[str, str], str] = {}
    for each in compare(scores):
        if each.verdict in CLEAR:
            key = (each.score.regime, each.score.test)
            marks[key] = max(marks.get(key, ""), mark_of(each.score, each.base.regime), key=len)
    cells = {}
    for score in scores:
        key = (score.regime, score.test)
        cells[key] = MarkedEstimate(
            value=score.value,
            ci_low=with_shown_interval(score).ci_low,
            ci_high=with_shown_interval(score).ci_high,
            null_value=score.null_value,
            n=score.n,
            records=score.records,
            deviation=score.deviation,
            mark=marks.get(key, ""),
        )
    return cells


def with_shown_interval(score: RegimeScore) -> RegimeScore:
    """The score with its interval as it is shown: within the range of a share, None where it is a point.

    Student's interval of two seeds reaches past 100 %; a single seed whose interval was not kept has none.
    """
    low, high = score.ci_low, score.ci_high
    if low is None or high is None or low >= high:
        return replace(score, ci_low=None, ci_high=None)
    return replace(score, ci_low=max(low, 0.0), ci_high=min(high, 1.0))


def score_table(group: TaskScores, metric: str, *, terminal: bool = False) -> Table:
    """One row per regime, one column per test; of more than five tests one row per test, one column per regime."""
    scores = group.of_metric(metric)
    cells, display = marked_scores(scores), metric_display(scores[0])
    ordered = sorted(scores, key=lambda score: score.test != group.source_test)
    tests = {score.test: title_of_test(score) for score in ordered}
    regimes = list(dict.fromkeys(score.regime for score in scores))
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    if len(tests) > MAX_TEST_COLUMNS:
        heads = [escape_control_characters(regime) for regime in regimes]
        rows = tuple((title, *(cells.get((regime, test)) for regime in regimes)) for test, title in tests.items())
    else:
        heads = list(tests.values())
        rows = tuple(
            (escape_control_characters(regime), *(cells.get((regime, test)) for test in tests)) for regime in regimes
        )
    first = "Test" if len(tests) > MAX_TEST_COLUMNS else "Regime"
    columns = (Column(title=first), *(Column(title=head, display=display, interval=True) for head in heads))
    title = f"{metric_title(scores[0])}, trained in {language_name(group.source, {})}: {_model(group)}"
    name = f"{_slug(group)}{_metric_slug(metric)}"
    return Table(name=name, title=title, columns=columns, rows=rows, note=_score_note(scores), terminal=terminal)


def _score_note(scores: Sequence[RegimeScore]) -> str:
    counts = sorted({len(score.seeds) for score in scores})
    seeds = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[-1]}"
    parts = [f"Mean ± standard deviation over {seeds} seeds."] if counts[-1] > 1 else []
    if counts[0] == 1 and any(with_shown_interval(score).ci_low is not None for score in scores):
        parts.append("In brackets the 95\N{NO-BREAK SPACE}% interval of one seed over its examples.")
    nulls = [score.null_value for score in scores if score.null_value is not None]
    if nulls:
        ends = dict.fromkeys(format_value(end, metric_display(scores[0])) for end in (min(nulls), max(nulls)))
        parts.append(f"Chance level: {' to '.join(ends)}.")
    else:
        parts.append("This metric has no chance level; the models are judged by the task’s own metric.")
    layers = {score.regime: score.layer for score in scores if score.layer is not None}
    if layers:
        named = ", ".join(f"{escape_control_characters(regime)} {layer}" for regime, layer in layers.items())
        parts.append(f"Each regime at its best layer, chosen on these same sentences (last test: {named}).")
    return " ".join([*parts, *_mark_note(list(compare(scores)))])


def _mark_note(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """What the marks of a table mean, how many of its comparisons are clear, and what could be detected."""
    tested = [each for each in comparisons if each.difference.p is not None]
    telling = [each for each in tested if each.verdict in (*CLEAR, Verdict.UNCLEAR)]
    if comparisons and not tested:
        yield "Differences are not tested over seeds, and none is marked."
    elif tested and not telling:
        yield "No comparison is marked: a seed of a side collapsed, or neither side is above chance."
    elif tested:
        known: dict[str, dict[str, None]] = {"*": {}, "**": {}}
        for each in tested:
            known[mark_of(each.score, each.base.regime)][escape_control_characters(each.base.regime)] = None
        marks = ", ".join(f"{mark} from {' or '.join(bases)}" for mark, bases in known.items() if bases)
        correction = f", Holm’s correction over {len(tested)} comparisons" if len(tested) > 1 else ""
        yield f"Differs: {marks} (p < 0.05 over seeds and examples{correction})."
        clear = sum(each.verdict in CLEAR for each in telling)
        if len(tested) > 1:
            yield f"{clear} of {pluralize(len(tested), 'comparison')} {'is' if clear == 1 else 'are'} clear."
        display = difference_display(tested[0].score)
        sizes = dict.fromkeys(format_size(end, display) for end in detectable_range(telling))
        if sizes:
            unit = " points" if display == "points" else ""
            yield f"Detectable with 80\N{NO-BREAK SPACE}% power: differences of at least {' to '.join(sizes)}{unit}."
    collapsed = {(each.score.regime, seed) for each in comparisons for seed in each.score.collapsed_seeds}
    collapsed |= {(each.base.regime, seed) for each in comparisons for seed in each.base.collapsed_seeds}
    if collapsed:
        named = ", ".join(f"{escape_control_characters(regime)} {seed}" for regime, seed in sorted(collapsed, key=str))
        yield f"Collapsed, and left unmarked: {named} (regime and seed)."


def difference_table(group: TaskScores, metric: str) -> Table | None:
    """One row per test, regime and base: the difference with its interval, tests, and what was detectable."""
    scores = group.of_metric(metric)
    display = difference_display(scores[0])
    rows: list[tuple[Cell, ...]] = []
    for each in compare(scores):
        rows.append(_difference_row(each, each.difference, str(each.verdict), display))
        if each.remaining is not None:
            verdict = judge_p(each.remaining, each.remaining.p_adjusted)
            rows.append(_difference_row(each, each.remaining, f"{verdict} without collapsed seeds", display))
    if not rows:
        return None
    columns = (
        Column(title="Test"),
        Column(title="Regime"),
        Column(title="Against"),
        Column(title="Seeds"),
        Column(title="Difference", display=display, interval=True),
        Column(title="Verdict"),
        Column(title="p", display="p_value"),
        Column(title="p (Holm)", display="p_value"),
        Column(title="Detectable", display=display),
        Column(title="Effect (d)", display="number"),
        Column(title="p (examples)", display="p_value"),
    )
    note = (
        "Differences of the means over seeds. Interval, p, p (Holm: corrected over this table) and detectable (with "
        "80 % power) are over seeds and examples; with one seed on a side there is no p, and the interval is over "
        "examples. p (examples) is the test of Efimov et al. 2023, §5.1, which holds the seeds fixed and does not "
        "apply to other seeds. d: Cohen’s, of paired examples, with Hedges’ correction."
    )
    if any(each.remaining is not None for each in compare(scores)):
        note += (
            " A comparison with a collapsed seed has a second row, over the seeds in which both sides learned; these "
            "rows are corrected apart."
        )
    title = f"{metric_title(scores[0])}: differences, {_model(group)}"
    name = f"{_slug(group)}{_metric_slug(metric)}-differences"
    return Table(name=name, title=title, columns=columns, rows=tuple(rows), note=note)


def _difference_row(each: Comparison, difference: RegimeDifference, verdict: str, display: Display) -> tuple[Cell, ...]:
    counts = dict.fromkeys((len(difference.seeds), len(difference.base_seeds)))
    return (
        title_of_test(each.score),
        escape_control_characters(each.score.regime),
        escape_control_characters(each.base.regime),
        " and ".join(map(str, counts)),
        difference,
        verdict,
        difference.p,
        difference.p_adjusted,
        difference.detectable,
        difference.effect,
        difference.p_published,
    )


def seed_table(group: TaskScores, metric: str) -> Table:
    """One row per test and regime: its mean, its deviation, and the score of every seed."""
    scores = group.of_metric(metric)
    display = metric_display(scores[0])
    seeds = sorted({seed for score in scores for seed in score.seeds if seed is not None})
    rows: list[tuple[Cell, ...]] = []
    for score in scores:
        by_seed = {
            seed: Estimate(value=value, null_value=score.null_value, n=score.n, records=(record,))
            for seed, value, record in zip(score.seeds, score.values, score.records, strict=True)
        }
        own = (by_seed.get(seed) for seed in seeds)
        mean = Estimate(value=score.value, null_value=score.null_value, n=score.n, records=score.records)
        rows.append((title_of_test(score), escape_control_characters(score.regime), mean, score.deviation, *own))
    heads = ("Mean", "sd", *(f"Seed {seed}" for seed in seeds))
    columns = (Column(title="Test"), Column(title="Regime"), *(Column(title=head, display=display) for head in heads))
    title = f"{metric_title(scores[0])}: every seed, {_model(group)}"
    name = f"{_slug(group)}{_metric_slug(metric)}-seeds"
    return Table(name=name, title=title, columns=columns, rows=tuple(rows), note="sd: standard deviation over seeds.")


def _model(group: TaskScores) -> str:
    return escape_control_characters(PurePath(group.model).name)


def _slug(group: TaskScores) -> str:
    return f"{group.prefix}-" if group.prefix else ""


def _metric_slug(metric: str) -> str:
    return metric.replace("/", "-").replace("@", "")


# Charts.


def seed_chart(group: TaskScores, metric: str) -> IntervalChart:
    """Every seed a dot, by test and regime, with the mean, its interval and the chance level."""
    scores = sorted(group.of_metric(metric), key=lambda score: score.test != group.source_test)
    rows = tuple(
        IntervalRow(
            label=title_of_test(score),
            group=escape_control_characters(score.regime),
            estimate=with_shown_interval(score),
            dots=tuple((value, (record,)) for value, record in zip(score.values, score.records, strict=True)),
            reference=score.null_value,
        )
        for score in scores
    )
    chance = "; a cross is the chance level" if any(row.reference is not None for row in rows) else ""
    return IntervalChart(
        name=f"seeds-{_slug(group)}{_metric_slug(metric)}",
        title=metric_title(scores[0]),
        note=f"Dots are seeds, the bar their mean with its 95 % interval (one seed: over its examples){chance}.",
        x=Axis(title=metric_title(scores[0]), display=metric_display(scores[0])),
        rows=rows,
    )


def difference_chart(group: TaskScores, metric: str) -> IntervalChart | None:
    """Regimes against the base of each test: differences with their intervals around the line of no difference."""
    own = [each for each in group.comparisons if each.score.metric == metric]
    own.sort(key=lambda each: each.score.test != group.source_test)
    if not own:
        return None
    first = own[0].score
    bases = dict.fromkeys(escape_control_characters(each.base.regime) for each in own)
    base = next(iter(bases)) if len(bases) == 1 else "the base of its test"
    rows = tuple(
        IntervalRow(
            label=title_of_test(each.score),
            group=escape_control_characters(each.score.regime),
            estimate=each.difference,
        )
        for each in own
    )
    over = {each.difference.over for each in own}
    level = "over seeds and examples" if over == {"seeds and examples"} else "over examples where a side has one seed"
    return IntervalChart(
        name=f"differences-{_slug(group)}{_metric_slug(metric)}",
        title=f"{metric_title(first)}: difference to {base}",
        note=f"Each regime less {base}, with its 95 % interval {level}, not corrected for the number of comparisons.",
        x=Axis(title=f"Difference in {lower_first(metric_title(first))}", display=difference_display(first)),
        rows=rows,
        references=(ReferenceLine(label="no difference", values=(0.0,)),),
    )


def layer_charts(run: Run, group: TaskScores) -> Iterator[LineChart]:
    """Retrieval at every layer, one chart per test and line per regime, means over seeds; nothing without layers."""
    for test, metric in group.lead_metrics.items():
        scores = [score for score in group.main_scores if score.test == test and score.layer is not None]
        if not scores:
            continue
        first = scores[0]
        about = {"model": group.model, "task": group.task, "test": test, "direction": ("forward", None)}
        records = [r for r in run.records.of(first.measure, first.records[0].metric, **about) if r.key == metric]
        layers = sorted({record.layer for record in records if record.layer is not None})
        if len(layers) < 2:
            continue
        lines = []
        for place, score in enumerate(scores):
            by_layer: dict[int, list[Record]] = {}
            for record in records:
                if record.regime == score.regime and record.layer is not None:
                    by_layer.setdefault(record.layer, []).append(record)
            means = tuple(mean_estimate(map(_estimate, by_layer[k])) if k in by_layer else None for k in layers)
            best = None if score.layer is None else layers.index(score.layer)
            lines.append(
                Line(name=escape_control_characters(score.regime), x=tuple(layers), y=means, color=place, best=best)
            )
        chance = () if first.null_value is None else (ReferenceLine(label="chance level", values=(first.null_value,)),)
        yield LineChart(
            name=f"layers-{_slug(group)}{_metric_slug(test)}",
            title=f"{metric_title(first)} by layer, {title_of_test(first)}",
            note="Means over seeds; the marked layer is the best of its regime. Layer 0 is the embedding output.",
            x=Axis(title="Layer"),
            y=Axis(title=metric_title(first), display=metric_display(first), zero=True),
            lines=tuple(lines),
            references=chance,
        )


def _estimate(record: Record) -> Estimate:
    return Estimate(value=record.value, ci_low=record.ci_low, ci_high=record.ci_high, null_value=record.null_value,
                    n=record.n, records=(record,))  # fmt: skip


def with_menu(name: str, menu: str, charts: Sequence[tuple[str, Chart]]) -> tuple[Chart | ChartMenu, ...]:
    """The chart of each name under one menu; one chart alone needs none. Of equal names the first stays."""
    by_name: dict[str, Chart] = {}
    for label, chart in charts:
        by_name.setdefault(label, chart)
    if len(by_name) < 2:
        return tuple(by_name.values())
    return (ChartMenu(name=name, menus=((menu, tuple(by_name)),), charts={(key,): c for key, c in by_name.items()}),)
