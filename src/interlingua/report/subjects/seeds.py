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
from interlingua.analyses.seed_statistics import RegimeDifference, RegimeScore, summarize_tasks
from interlingua.metric import Metric
from interlingua.record import Estimate, RecordTable
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
from interlingua.report.kit.finding import Basis, Verdict
from interlingua.report.kit.section import Run
from interlingua.report.kit.table import Cell, Column, MarkedEstimate, Table, columns_of, group_by
from interlingua.report.kit.wording import (
    Display,
    difference_display,
    format_number,
    format_value,
    language_name,
    pluralize,
)
from interlingua.stats.chance import LEVEL

MAX_TEST_COLUMNS = 5
"""How many tests stand side by side in a table; more stand below each other."""
CLEAR = (Verdict.HIGHER, Verdict.LOWER)
SILENT = (Verdict.AT_CHANCE, Verdict.NOT_COMPARABLE)
"""Verdicts on models, which no test of a difference can change."""
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
    def is_tested(self) -> bool:
        """Whether the difference has a p-value."""
        return self.difference.p is not None

    @property
    def display(self) -> Display:
        """How the difference is shown."""
        return difference_display(metric_of(self.score).display)

    @property
    def remaining(self) -> RegimeDifference | None:
        """The difference over the seeds in which both sides learned, where a seed is collapsed."""
        return self.score.without_collapsed.get(self.base.regime)

    @property
    def remaining_verdict(self) -> Verdict:
        """What may be said of that difference."""
        rest = self.remaining
        return Verdict.NOT_COMPARABLE if rest is None else judge_p(rest, rest.p_adjusted)


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
    def model_name(self) -> str:
        """The encoder without the folders above it."""
        return PurePath(self.model).name

    @cached_property
    def name(self) -> str:
        """Task, model and language of training: they identify it in a study."""
        return f"{self.task} ({self.model_name}, {language_name(self.source, {})})"

    def file_name(self, metric: str) -> str:
        """What its table of a metric is called."""
        return f"{self.prefix}{'-' * bool(self.prefix)}{metric.replace('/', '-').replace('@', '')}"

    @cached_property
    def measure(self) -> str:
        """The kind of its task: that of the language of training, not of retrieval beside it."""
        kinds = dict.fromkeys(score.measure for score in self.scores)
        return next((kind for kind in kinds if kind != "retrieval"), "retrieval")

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that are shown, in the order in which their tasks declare them; without a known one, all."""
        order: dict[str, tuple[bool, int]] = {}
        for score in self.scores:
            declared, metric, record = _declared(score.measure), metric_of(score), score.records[0]
            is_shown = all(record.options.get(name) == values[0] for name, values in metric.options.items())
            if metric in declared and is_shown:
                order[score.metric] = (score.measure == "retrieval", declared.index(metric))
        return tuple(sorted(order, key=lambda key: order[key])) or tuple({score.metric: None for score in self.scores})

    @cached_property
    def lead_metrics(self) -> Mapping[str, str]:
        """By test the metric that speaks for it: the first of its own that is shown.

        Tests of one run may have different metrics: sentence retrieval beside the task that was trained.
        """
        by_test = group_by(self.scores, lambda score: score.test)
        present = {test: {score.metric for score in scores} for test, scores in by_test.items()}
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
        groups = group_by(scores, lambda score: (score.model, str(score.task), str(score.source)))
        held[key] = tuple(
            TaskScores(*group, tuple(own), "-".join(PurePath(part).name for part in group) if len(groups) > 1 else "")
            for group, own in groups.items()
        )
    return held[key]


def has_scores(run: Run) -> bool:
    """Whether a run has scores of a task."""
    return any(None not in (record.regime, record.test, record.task) for record in run.records)


def compare(scores: Sequence[RegimeScore]) -> Iterator[Comparison]:
    """All comparisons of scores of one metric, in the order of the scores.

    Where the values per example were not kept, a difference is that of the means, and is not tested.
    """
    by_cell = {(score.test, score.regime): score for score in scores}
    for score in scores:
        for regime in score.bases[: score.bases.index(score.regime)] if score.regime in score.bases else score.bases:
            base = by_cell.get((score.test, regime))
            if base is not None:
                difference = score.against.get(regime) or RegimeDifference(
                    value=score.value - base.value,
                    n=min(score.n, base.n),
                    records=(*score.records, *base.records),
                    base=regime,
                    seeds=score.seeds,
                    base_seeds=base.seeds,
                    over="",
                    item_deviation=0.0,
                )
                verdict = judge(score, base, difference)
                yield Comparison(score=score, base=base, difference=difference, verdict=verdict)


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


def basis_of(tested: int, *, compared: int, untested: str) -> Basis:
    """What differences are judged by: a test over seeds and examples of so many, else what they are over."""
    if not tested:
        return Basis(over=untested, compared=compared)
    test = "t over seeds and examples"
    return Basis(over="seeds and examples", test=test, correction="Holm" if tested > 1 else "", compared=compared)


def level_text(basis: Basis) -> str:
    """The level of tests, and the correction behind it: `p < 0.05 after Holm’s correction`."""
    return f"p < {LEVEL:g}" + (f" after {basis.correction}’s correction" if basis.correction else "")


@cache
def _tasks_in_source() -> list[ListedEntry]:
    return list_registered("interlingua.tasks", "tasks")


def _declared(measure: str) -> tuple[Metric, ...]:
    """The metrics that a task declares; a file of a user may have registered it just now."""
    tasks = list_registered("interlingua.tasks", "tasks") if "interlingua.tasks" in sys.modules else _tasks_in_source()
    return next((tuple(task.metrics) for task in tasks if task.name == measure), ())


def metric_of(score: RegimeScore) -> Metric:
    """The metric of a score as its task declares it; made of the score, as a share, where that task is not known."""
    record = score.records[0]
    for metric in _declared(score.measure):
        same = all(record.options.get(name) in values for name, values in metric.options.items())
        if metric.name == record.metric and same:
            return metric
    return Metric(name=score.metric, title=score.metric, display="percent")


def title_of_test(score: RegimeScore) -> str:
    """What a test is called: its language, and its name where that says more.

    The language of a test of two languages is that of what is scored (the paragraph of a question).
    """
    if score.target is None or not languages.is_language(score.target):
        return score.test
    name = language_name(score.target, {})
    return name if score.test == score.target else f"{name} ({score.test})"


def task_title(measure: str) -> str:
    """What a kind of task is called in a sentence."""
    return _TASK_NAMES.get(measure, measure)


def regime_title(regime: str) -> str:
    """What a regime is called in a sentence."""
    return _REGIME_NAMES.get(regime, f"the regime {regime}")


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
    tested = [each.difference.detectable for each in comparisons if each.is_tested]
    sizes = [size for size in tested if size is not None]
    return [min(sizes), max(sizes)] if sizes else []


def describe_detectable(sizes: Sequence[float], display: Display) -> str:
    """The power of tests as a sentence, by the ends of what they could detect; empty where these are not known."""
    if not sizes:
        return ""
    ends = " to ".join(dict.fromkeys(format_size(end, display) for end in sizes))
    unit = " points" if display == "points" else ""
    return f"Detectable with 80\N{NO-BREAK SPACE}% power: differences of at least {ends}{unit}."


def format_ends(values: Iterable[float | None], display: Display) -> str:
    """The lowest and the highest of the values that are known as they are shown, once where they are alike."""
    known = [value for value in values if value is not None]
    return " to ".join(dict.fromkeys(format_value(end, display) for end in (min(known), max(known)))) if known else ""


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
    return {
        (score.regime, score.test): MarkedEstimate(
            value=score.value,
            ci_low=score.ci_low,
            ci_high=score.ci_high,
            null_value=score.null_value,
            n=score.n,
            records=score.records,
            deviation=score.deviation,
            mark=marks.get((score.regime, score.test), ""),
        )
        for score in map(with_shown_interval, scores)
    }


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
    cells, declared = marked_scores(scores), metric_of(scores[0])
    ordered = sorted(scores, key=lambda score: score.test != group.source_test)
    tests = {score.test: title_of_test(score) for score in ordered}
    regimes = {score.regime: score.regime for score in scores}
    rows: tuple[tuple[Cell, ...], ...]
    if len(tests) > MAX_TEST_COLUMNS:
        first, heads = "Test", regimes
        rows = tuple((title, *(cells.get((regime, test)) for regime in regimes)) for test, title in tests.items())
    else:
        first, heads = "Regime", tests
        rows = tuple((regime, *(cells.get((regime, test)) for test in tests)) for regime in regimes)
    return Table(
        name=group.file_name(metric),
        title=f"{declared.title}, trained in {language_name(group.source, {})}: {group.model_name}",
        columns=columns_of(
            first, *(Column(title=head, display=declared.display, interval=True) for head in heads.values())
        ),
        rows=rows,
        note=" ".join(_score_note(scores)),
        terminal=terminal,
    )


def _score_note(scores: Sequence[RegimeScore]) -> Iterator[str]:
    """What the numbers and marks of a table mean, how many comparisons are clear, and what could be detected."""
    counts = sorted({len(score.seeds) for score in scores})
    if counts[-1] > 1:
        yield f"Mean ± standard deviation over {' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} seeds."
    if counts[0] == 1 and any(with_shown_interval(score).ci_low is not None for score in scores):
        yield "In brackets the 95\N{NO-BREAK SPACE}% interval of one seed over its examples."
    chance = format_ends((score.null_value for score in scores), metric_of(scores[0]).display)
    without = "This metric has no chance level; the models are judged by the task’s own metric."
    yield f"Chance level: {chance}." if chance else without
    layers = {score.regime: score.layer for score in scores if score.layer is not None}
    if layers:
        named = ", ".join(f"{regime} {layer}" for regime, layer in layers.items())
        yield f"Each regime at its best layer, chosen on these same sentences (last test: {named})."

    comparisons = list(compare(scores))
    tested = [each for each in comparisons if each.is_tested]
    telling = [each for each in tested if each.verdict not in SILENT]
    if comparisons and not tested:
        yield "Differences are not tested over seeds, and none is marked."
    elif tested and not telling:
        yield "No comparison is marked: a seed of a side collapsed, or neither side is above chance."
    elif tested:
        bases = group_by(tested, lambda each: mark_of(each.score, each.base.regime))
        marks = ", ".join(
            f"{mark} from {' or '.join(dict.fromkeys(each.base.regime for each in bases[mark]))}"
            for mark in sorted(bases)
        )
        correction = f", Holm’s correction over {len(tested)} comparisons" if len(tested) > 1 else ""
        yield f"Differs: {marks} (p < 0.05 over seeds and examples{correction})."
        clear = sum(each.verdict in CLEAR for each in telling)
        if len(tested) > 1:
            yield f"{clear} of {pluralize(len(tested), 'comparison')} {'is' if clear == 1 else 'are'} clear."
        yield from filter(None, [describe_detectable(detectable_range(telling), tested[0].display)])
    sides = [side for each in comparisons for side in (each.score, each.base)]
    collapsed = {(side.regime, seed) for side in sides for seed in side.collapsed_seeds}
    if collapsed:
        named = ", ".join(f"{regime} {seed}" for regime, seed in sorted(collapsed, key=str))
        yield f"Collapsed, and left unmarked: {named} (regime and seed)."


def difference_table(group: TaskScores, metric: str) -> Table | None:
    """One row per test, regime and base: the difference with its interval, tests, and what was detectable."""
    comparisons = list(compare(group.of_metric(metric)))
    if not comparisons:
        return None
    rows: list[tuple[Cell, ...]] = []
    for each in comparisons:
        sides = [(each.difference, str(each.verdict))]
        if each.remaining is not None:
            sides.append((each.remaining, f"{each.remaining_verdict} without collapsed seeds"))
        for difference, verdict in sides:
            seeds = " and ".join(map(str, dict.fromkeys((len(difference.seeds), len(difference.base_seeds)))))
            rows.append((title_of_test(each.score), each.score.regime, each.base.regime, seeds, difference, verdict,
                         difference.p, difference.p_adjusted, difference.detectable, difference.effect,
                         difference.p_published))  # fmt: skip
    note = (
        "Differences of the means over seeds. Interval, p, p (Holm: corrected over this table) and detectable (with "
        "80 % power) are over seeds and examples; with one seed on a side there is no p, and the interval is over "
        "examples. p (examples) is the test of Efimov et al. 2023, §5.1, which holds the seeds fixed and does not "
        "apply to other seeds. d: Cohen’s, of paired examples, with Hedges’ correction."
    )
    if len(rows) > len(comparisons):
        note += (
            " A comparison with a collapsed seed has a second row, over the seeds in which both sides learned; these "
            "rows are corrected apart."
        )
    display = comparisons[0].display
    return Table(
        name=f"{group.file_name(metric)}-differences",
        title=f"{metric_of(comparisons[0].score).title}: differences, {group.model_name}",
        columns=columns_of(
            "Test",
            "Regime",
            "Against",
            "Seeds",
            Column(title="Difference", display=display, interval=True),
            "Verdict",
            Column(title="p", display="p_value"),
            Column(title="p (Holm)", display="p_value"),
            Column(title="Detectable", display=display),
            Column(title="Effect (d)", display="number"),
            Column(title="p (examples)", display="p_value"),
        ),
        rows=tuple(rows),
        note=note,
    )


def seed_table(group: TaskScores, metric: str) -> Table:
    """One row per test and regime: its mean, its deviation, and the score of every seed."""
    scores = group.of_metric(metric)
    declared = metric_of(scores[0])
    seeds = sorted({seed for score in scores for seed in score.seeds if seed is not None})
    rows: list[tuple[Cell, ...]] = []
    for score in scores:
        by_seed = {
            seed: Estimate(value=value, null_value=score.null_value, n=score.n, records=(record,))
            for seed, value, record in zip(score.seeds, score.values, score.records, strict=True)
        }
        mean = Estimate(value=score.value, null_value=score.null_value, n=score.n, records=score.records)
        rows.append((title_of_test(score), score.regime, mean, score.deviation, *map(by_seed.get, seeds)))
    heads = ("Mean", "sd", *(f"Seed {seed}" for seed in seeds))
    return Table(
        name=f"{group.file_name(metric)}-seeds",
        title=f"{declared.title}: every seed, {group.model_name}",
        columns=columns_of("Test", "Regime", *(Column(title=head, display=declared.display) for head in heads)),
        rows=tuple(rows),
        note="sd: standard deviation over seeds.",
    )


# Charts.


def seed_chart(group: TaskScores, metric: str) -> IntervalChart:
    """Every seed a dot, by test and regime, with the mean, its interval and the chance level."""
    scores = sorted(group.of_metric(metric), key=lambda score: score.test != group.source_test)
    declared = metric_of(scores[0])
    rows = tuple(
        IntervalRow(
            label=title_of_test(score),
            group=score.regime,
            estimate=with_shown_interval(score),
            dots=tuple((value, (record,)) for value, record in zip(score.values, score.records, strict=True)),
            reference=score.null_value,
        )
        for score in scores
    )
    chance = "; a cross is the chance level" if any(row.reference is not None for row in rows) else ""
    return IntervalChart(
        name=f"seeds-{group.file_name(metric)}",
        title=declared.title,
        note=f"Dots are seeds, the bar their mean with its 95 % interval (one seed: over its examples){chance}.",
        x=Axis(title=declared.title, display=declared.display),
        rows=rows,
    )


def difference_chart(group: TaskScores, metric: str) -> IntervalChart | None:
    """Regimes against the base of each test: differences with their intervals around the line of no difference."""
    comparisons = [each for each in group.comparisons if each.score.metric == metric]
    comparisons.sort(key=lambda each: each.score.test != group.source_test)
    if not comparisons:
        return None
    title = metric_of(comparisons[0].score).title
    bases = {each.base.regime for each in comparisons}
    base = bases.pop() if len(bases) == 1 else "the base of its test"
    over = {each.difference.over for each in comparisons}
    level = "over seeds and examples" if over == {"seeds and examples"} else "over examples where a side has one seed"
    return IntervalChart(
        name=f"differences-{group.file_name(metric)}",
        title=f"{title}: difference to {base}",
        note=f"Each regime less {base}, with its 95 % interval {level}, not corrected for the number of comparisons.",
        x=Axis(title=f"Difference in {lower_first(title)}", display=comparisons[0].display),
        rows=tuple(
            IntervalRow(label=title_of_test(each.score), group=each.score.regime, estimate=each.difference)
            for each in comparisons
        ),
        references=(ReferenceLine(label="no difference", values=(0.0,)),),
    )


def layer_charts(run: Run, group: TaskScores) -> Iterator[LineChart]:
    """Retrieval at every layer, one chart per test and line per regime, means over seeds; nothing without layers."""
    for test, metric in group.lead_metrics.items():
        scores = [score for score in group.main_scores if score.test == test and score.layer is not None]
        if not scores:
            continue
        first, declared = scores[0], metric_of(scores[0])
        about = {"model": group.model, "task": group.task, "test": test, "direction": ("forward", None)}
        records = run.records.of(first.measure, first.records[0].metric, **about)
        cells = RecordTable(r for r in records if r.key == metric and r.layer is not None).by("regime", "layer")
        layers = tuple(sorted({layer for _, layer in cells}))
        if len(layers) < 2:
            continue
        chance = () if first.null_value is None else (ReferenceLine(label="chance level", values=(first.null_value,)),)
        yield LineChart(
            name=f"layers-{group.file_name(test)}",
            title=f"{declared.title} by layer, {title_of_test(first)}",
            note="Means over seeds; the marked layer is the best of its regime. Layer 0 is the embedding output.",
            x=Axis(title="Layer"),
            y=Axis(title=declared.title, display=declared.display, zero=True),
            lines=tuple(
                Line(
                    name=score.regime,
                    x=layers,
                    y=tuple(cells[score.regime, k].estimate() if (score.regime, k) in cells else None for k in layers),
                    color=color,
                    best=None if score.layer is None else layers.index(score.layer),
                )
                for color, score in enumerate(scores)
            ),
            references=chance,
        )


def with_menu(name: str, menu: str, charts: Sequence[tuple[str, Chart]]) -> tuple[Chart | ChartMenu, ...]:
    """The chart of each name under one menu; one chart alone needs none. Of equal names the first stays."""
    by_name: dict[tuple[str, ...], Chart] = {}
    for label, chart in charts:
        by_name.setdefault((label,), chart)
    return tuple(by_name.values()) if len(by_name) < 2 else (ChartMenu.of(name, (menu,), by_name),)
