"""Scores of tasks over regimes, tests and seeds: what transfers, what each regime changes, and every seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, wraps
from pathlib import PurePath
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from interlingua import languages
from interlingua.analyses.seed_statistics import (
    RegimeDifference,
    RegimeScore,
    summarize_tasks,
)
from interlingua.metric import Metric
from interlingua.record import Estimate, Record, RecordTable, mean_estimate
from interlingua.registry import listed
from interlingua.report.kit.chart import (
    Axis,
    Chart,
    ChartMenu,
    IntervalChart,
    IntervalRow,
    Line,
    LineChart,
    Reference,
)
from interlingua.report.kit.finding import Basis, Finding, Template, Verdict, sentence_of
from interlingua.report.kit.section import Headline, KeyFigure, Run, Section, Subject
from interlingua.report.kit.table import Cell, Column, MarkedEstimate, Table
from interlingua.report.kit.wording import (
    Display,
    escape_control_characters,
    format_number,
    format_p_value,
    format_value,
    join_with_and,
    language_name,
    pluralize,
)
from interlingua.report.subjects.adjustment import separation_section
from interlingua.stats import SEED_DEVIATIONS, USUAL_DEVIATION, items_needed, seeds_needed
from interlingua.stats.chance import LEVEL

MAX_NAMED_TESTS = 8
"""Of more tests a sentence names the ends of their range; the tables have all."""
MAX_TEST_COLUMNS = 5
"""How many tests stand side by side in a table; more stand below each other."""
MAX_OPEN_TASKS = 6
"""Tables of more tasks are folded."""
PLANNED_POINTS = (1, 2, 5)
_CLEAR = (Verdict.HIGHER, Verdict.LOWER)
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
        """What tells it from the other tasks of a study."""
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
def _declared() -> Mapping[str, tuple[Metric, ...]]:
    return {task.name: tuple(task.metrics) for task in listed("interlingua.tasks", "tasks")}


def declared_metric(score: RegimeScore) -> tuple[Metric | None, int]:
    """The metric that a score is of, as its task declares it, and its place there; None of a task that is not known."""
    record = score.records[0]
    for place, metric in enumerate(_declared().get(score.measure, ())):
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


def _lower(title: str) -> str:
    """A title within a sentence: `accuracy`, but `F1 of whole entities`."""
    return title[0].lower() + title[1:] if title[1:2].islower() else title


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


# Findings.


def _with_task_name(template: Template) -> Template:
    """The template, after the name of the task where a study has several (`whose`)."""

    @wraps(template)
    def word(finding: Finding) -> str:
        whose = finding.about.get("whose")
        return f"{whose}: {template(finding)}" if whose else template(finding)

    return word


def describe_level(score: RegimeScore) -> dict[str, Any]:
    """What a sentence says of one score."""
    return {
        "regime": score.regime,
        "test": score.test,
        "title": title_of_test(score),
        "value": score.value,
        "chance": score.null_value,
        "display": metric_display(score),
        "metric": _lower(metric_title(score)),
        "learned": score.has_learned,
    }


def _level_text(level: Mapping[str, Any], *, name: bool = True) -> str:
    chance = level["chance"]
    known = "" if chance is None else f" (chance level {format_value(chance, level['display'])})"
    value = format_value(level["value"], level["display"])
    return f"{level['title']} {value}{known}" if name else f"{value}{known}"


def training_findings(group: TaskScores, *, whose: str = "") -> list[Finding]:
    """What did not learn: first what is above chance in no seed, then single seeds that collapsed."""
    found: list[Finding] = []
    low = [score for score in group.main_scores if not score.has_learned and not score.collapsed_seeds]
    if low:
        levels = _chance_levels(group, low)
        answers = {score.constant_answer for score in _judged(group, low)}
        answer = answers.pop() if len(answers) == 1 else None
        bases = [score for score in low if score.regime == score.base]
        source = next((score for score in bases if score.test == group.source_test), None)
        failed = source is not None or (group.source_test is None and bool(bases) and answer is not None)
        every = len(low) == len(group.main_scores)
        found.append(
            Finding(
                kind="training_failed" if failed else "at_chance",
                verdict=Verdict.AT_CHANCE,
                about={
                    "whose": whose,
                    "source": group.source,
                    "answer": answer,
                    "levels": levels,
                    "every": every,
                    "seeds": max(len(score.seeds) for score in low),
                    "source_tested": group.source_test is not None,
                },
                metric=declared_metric(low[0])[0],
                estimate=source or low[0],
            )
        )
    collapsed: dict[tuple[str, int], dict[str, None]] = {}
    for score in group.main_scores:
        for seed in score.collapsed_seeds:
            collapsed.setdefault((score.regime, int(seed or 0)), {})[title_of_test(score)] = None
    if collapsed:
        own = [score for score in group.main_scores if score.collapsed_seeds]
        seeds = [{"regime": regime, "seed": seed, "tests": [*tests]} for (regime, seed), tests in collapsed.items()]
        nulls = [score.null_value for score in _judged(group, own) if score.null_value is not None]
        about = {
            "whose": whose,
            "seeds": seeds,
            "chance": [min(nulls), max(nulls)] if nulls else [],
            "compared": len(group.comparisons),
        }
        found.append(Finding(kind="collapsed_seed", verdict=Verdict.NOT_COMPARABLE, about=about, estimate=own[0]))
    return found


def _judged(group: TaskScores, scores: Iterable[RegimeScore]) -> list[RegimeScore]:
    """The scores that say whether these are above chance: of a metric without a chance level, another of that test."""
    found = []
    for score in scores:
        cell = (score.test, score.regime)
        others = [each for each in group.scores if (each.test, each.regime) == cell and each.null_value is not None]
        best = min(others, key=lambda each: "chance" not in each.records[0].details, default=score)
        found.append(score if score.null_value is not None else best)
    return found


def _chance_levels(group: TaskScores, scores: Sequence[RegimeScore]) -> list[dict[str, Any]]:
    return [describe_level(score) for score in _judged(group, scores)]


@sentence_of("training_failed", topic="Training")
@_with_task_name
def _training_failed(finding: Finding) -> str:
    about = finding.about
    levels: Sequence[Mapping[str, Any]] = about["levels"]
    first = next((level for level in levels if level["test"] == about["source"]), levels[0])
    chance = "" if first["chance"] is None else f", chance {format_value(first['chance'], first['display'])}"
    numbers = f"{first['metric']} {format_value(first['value'], first['display'])}{chance}"
    if about["answer"] is not None:
        where = "" if about["every"] else f" in {_join_levels(levels)}"
        said = f"the model predicts {escape_control_characters(str(about['answer']))} for every example{where}"
        return f"Training failed: {said} ({numbers})."
    source = language_name(str(about["source"]), {})
    return f"Training failed: in {source}, the language of training, the model is not above chance ({numbers})."


@sentence_of("at_chance", topic="Chance level")
@_with_task_name
def _at_chance(finding: Finding) -> str:
    about = finding.about
    levels: Sequence[Mapping[str, Any]] = about["levels"]
    several = len({level["regime"] for level in levels}) > 1
    where = "Not above chance in any seed" if about["seeds"] > 1 else "Not above chance"
    if len(levels) > MAX_NAMED_TESTS:
        regimes = join_with_and([escape_control_characters(name) for name in dict.fromkeys(_values(levels, "regime"))])
        named = f"{len(levels)} scores ({regimes}; chance level {_range(levels, 'chance')})"
    else:
        of = [f"{each['title']}, {escape_control_characters(each['regime'])}:" if several else "" for each in levels]
        named = join_with_and(
            [f"{name} {_level_text(each, name=not several)}".strip() for name, each in zip(of, levels, strict=True)]
        )
    answer = about["answer"]
    always = "" if answer is None else f"; every example is answered with {escape_control_characters(str(answer))!r}"
    source = "" if about["source_tested"] else (
        f" {language_name(str(about['source']), {})} was not tested, so training itself may have failed."
    )  # fmt: skip
    return f"{where} by {levels[0]['metric']}: {named}{always}.{source}"


def _values(levels: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    return [level[name] for level in levels if level[name] is not None]


def _range(levels: Sequence[Mapping[str, Any]], name: str) -> str:
    """The lowest and the highest of values as they are shown, once where they are alike."""
    known = _values(levels, name)
    shown = dict.fromkeys(format_value(end, levels[0]["display"]) for end in (min(known), max(known))) if known else ()
    return " to ".join(shown) or "not known"


def _join_levels(levels: Sequence[Mapping[str, Any]]) -> str:
    titles = list(dict.fromkeys(level["title"] for level in levels))
    return join_with_and(titles) if len(titles) <= MAX_NAMED_TESTS else f"{len(titles)} tests"


@sentence_of("collapsed_seed", topic="Collapsed seeds")
@_with_task_name
def _collapsed_seed(finding: Finding) -> str:
    about = finding.about
    seeds = [
        f"seed {each['seed']} of {escape_control_characters(each['regime'])} ({join_with_and(each['tests'])})"
        if len(each["tests"]) <= 3
        else f"seed {each['seed']} of {escape_control_characters(each['regime'])} ({len(each['tests'])} tests)"
        for each in about["seeds"]
    ]
    named = join_with_and(seeds) if len(seeds) <= MAX_NAMED_TESTS else f"{len(seeds)} models"
    ends = dict.fromkeys(format_value(end, "percent") for end in about["chance"])
    level = f" (chance level {' to '.join(ends)})" if ends else ""
    compared = " Means with a collapsed seed are not compared." if about["compared"] else ""
    return f"Collapsed, at chance where other seeds learned{level}: {named}.{compared}"


def gap_finding(group: TaskScores, *, whose: str = "") -> Finding | None:
    """What the base regime reaches in the tests, beside the language of training; None where nothing was scored."""
    scores = group.base_scores()
    source = next((score for score in scores if score.test == group.source_test), None)
    targets = [score for score in scores if score is not source and score.test.partition(":")[0] != group.source]
    targets = targets or [score for score in scores if score is not source] or scores
    if not targets:
        return None
    lowest = min(targets, key=lambda score: score.value)
    same = source is not None and all(score.metric == source.metric for score in targets)
    learned = source is not None and source.has_learned and same and targets != [source]
    effects = regime_outcomes(group)
    return Finding(
        kind="transfer",
        verdict=Verdict.FOUND if lowest.has_learned else Verdict.AT_CHANCE,
        about={
            "whose": whose,
            "task": group.measure,
            "source": group.source,
            "regime": lowest.regime,
            "source_level": describe_level(source) if learned and source is not None else None,
            "levels": [describe_level(score) for score in targets],
            "effects": effects if len(effects) <= 2 and lowest.has_learned and not whose else [],
        },
        metric=declared_metric(lowest)[0],
        estimate=lowest,
        compared_with=source if learned else None,
        basis=Basis(over="seeds" if len(lowest.seeds) > 1 else "examples"),
    )


@sentence_of("transfer", topic="Transfer")
@_with_task_name
def _transfer(finding: Finding) -> str:
    about = finding.about
    source, levels = about["source_level"], about["levels"]
    language = language_name(str(about["source"]), {})
    low = [level for level in levels if not level["learned"]]
    effects = f"; not above chance in {_join_levels(low)}" if low else ""
    effects += "".join(f"; {_short_effect(effect)}" for effect in about["effects"])
    metric = levels[0]["metric"]
    if about["task"] == "retrieval":
        return f"Sentence retrieval, {metric}: {_levels_text(levels)}{effects}."
    task = f"{language} {task_title(str(about['task']))}"
    if source is None:
        return f"{task}, {metric}: {_levels_text(levels)}{effects}."
    own = format_value(source["value"], source["display"])
    chance = f"; chance {_range(levels, 'chance')}" if _values(levels, "chance") else ""
    if source["chance"] is not None and source["chance"] >= 0.1:
        # A share of a score that is a third by chance would flatter.
        drops = [(level["title"], level["value"] - source["value"]) for level in levels]
        said = _named_ends(drops, lambda value: f"{format_value(value, 'points')} points")
        return f"{task}: {metric} {own} in {language}, {said} ({_levels_text(levels, chance=False)}{chance}){effects}."
    shares = [(level["title"], level["value"] / source["value"]) for level in levels]
    said = _named_ends(shares, lambda value: f"{100 * value:.0f}\N{NO-BREAK SPACE}% of its {language} score")
    numbers = f"{metric} {_levels_text(levels, chance=False)} against {own}{chance}"
    return f"{task} reaches {said} ({numbers}){effects}."


def _short_effect(effect: Mapping[str, Any]) -> str:
    """What a regime does: with its difference in one test, with counts in several."""
    tests: Sequence[Mapping[str, Any]] = effect["tests"]
    if len(tests) == 1:
        [test] = tests
        return f"{regime_title(effect['regime'])} {_OUTCOMES[Verdict(test['verdict'])]} {_numbers(test)}"
    counts = Counter(Verdict(test["verdict"]) for test in tests)
    if len(counts) == 1:
        [(verdict, count)] = counts.items()
        return (
            f"{regime_title(effect['regime'])} {_OUTCOMES[verdict]} in {'both' if count == 2 else f'all {count}'} tests"
        )
    parts = [f"{text} in {counts[verdict]}" for verdict, text in _OUTCOMES.items() if counts[verdict]]
    return f"{regime_title(effect['regime'])} {', '.join(parts)} of {len(tests)} tests"


def _named_ends(values: Sequence[tuple[str, float]], show: Any) -> str:
    """Every value with its test; of many the ends of their range."""
    if len(values) <= 3:
        return join_with_and([f"{show(value)} in {title}" for title, value in values])
    low, high = min(values, key=lambda each: each[1]), max(values, key=lambda each: each[1])
    return f"{show(low[1])} in {low[0]} to {show(high[1])} in {high[0]} ({len(values)} tests)"


def _levels_text(levels: Sequence[Mapping[str, Any]], *, chance: bool = True) -> str:
    shown = [level if chance else {**level, "chance": None} for level in levels]
    if len(shown) <= MAX_NAMED_TESTS:
        return ", ".join(_level_text(level) for level in shown)
    ends = min(shown, key=lambda level: level["value"]), max(shown, key=lambda level: level["value"])
    return f"{_level_text(ends[0])} to {_level_text(ends[1])}, {len(shown)} tests"


def regime_outcomes(group: TaskScores) -> list[dict[str, Any]]:
    """What every regime changed against the base of each test, as data of a sentence."""
    by_regime: dict[str, list[Comparison]] = {}
    for each in group.comparisons:
        by_regime.setdefault(each.score.regime, []).append(each)
    return [_outcome(regime, own) for regime, own in by_regime.items()]


def _outcome(regime: str, own: Sequence[Comparison]) -> dict[str, Any]:
    return {
        "regime": regime,
        "bases": list(dict.fromkeys(each.base.regime for each in own)),
        "tests": [_comparison_data(each) for each in own],
        "remaining": [_remaining_data(each) for each in own if each.verdict is Verdict.NOT_COMPARABLE],
    }


def _comparison_data(each: Comparison) -> dict[str, Any]:
    return {
        "test": each.score.test,
        "title": title_of_test(each.score),
        "verdict": str(each.verdict),
        "difference": each.difference.value,
        "display": difference_display(each.score),
        "detectable": each.difference.detectable,
        "kept": bool(each.difference.over),
    }


def _remaining_data(each: Comparison) -> dict[str, Any]:
    """The comparison over the seeds in which both sides learned; without a difference where none is left."""
    rest = each.remaining
    own = {"title": title_of_test(each.score), "display": difference_display(each.score), "detectable": None}
    if rest is None:
        return {**own, "verdict": str(Verdict.NOT_COMPARABLE), "difference": None, "seeds": 0}
    seeds = min(len(rest.seeds), len(rest.base_seeds))
    verdict = judge_p(rest, rest.p_adjusted)
    return {**own, "verdict": str(verdict), "difference": rest.value, "seeds": seeds}


_OUTCOMES = {
    Verdict.HIGHER: "helps",
    Verdict.LOWER: "hurts",
    Verdict.UNCLEAR: "makes no clear difference",
    Verdict.NOT_TESTED: "is not tested over seeds",
    Verdict.NOT_COMPARABLE: "is not compared, because a seed collapsed,",
    Verdict.AT_CHANCE: "is at chance, as its base is,",
}
"""What is said of a regime by the verdict of its comparisons, in the order of the sentence."""


def _effect_text(effect: Mapping[str, Any]) -> str:
    tests: Sequence[Mapping[str, Any]] = effect["tests"]
    parts = []
    for verdict, text in _OUTCOMES.items():
        own = [test for test in tests if test["verdict"] == str(verdict)]
        if own:
            parts.append(f"{text} {_differences(own, len(tests), largest=verdict in _CLEAR)}")
    bases = [escape_control_characters(base) for base in effect["bases"] if base != "original"]
    against = f" (against {join_with_and(bases)})" if bases else ""
    return f"{regime_title(effect['regime'])}{against} {'; '.join(parts)}"


def _differences(own: Sequence[Mapping[str, Any]], count: int, *, largest: bool) -> str:
    """Every difference with its test; of many tests how many, and the largest of those that are clear."""
    if len(own) <= 3 or count <= MAX_NAMED_TESTS:
        return f"in {join_with_and([_difference_text(test) for test in own])}"
    top = sorted(own, key=lambda test: -abs(test["difference"]))[:3]
    most = f", most in {join_with_and([_difference_text(test) for test in top])}" if largest else ""
    return f"in {len(own)} of {count} tests{most}"


def _difference_text(test: Mapping[str, Any]) -> str:
    if test["difference"] is None:
        return f"{test['title']} (no seed is left in which both sides learned)"
    return f"{test['title']} {_numbers(test)}"


def _numbers(test: Mapping[str, Any]) -> str:
    points = " points" if test["display"] == "points" else ""
    sign = "+" if test["difference"] > 0 and not points else ""
    detectable = test["detectable"] if test["verdict"] == str(Verdict.UNCLEAR) else None
    power = "" if detectable is None else f", {_size(detectable, test['display'])} detectable"
    return f"({sign}{format_value(test['difference'], test['display'])}{points}{power})"


def _size(value: float, display: Display) -> str:
    """A size without a sign: detectable differences have none."""
    if display != "points":
        return "over 1" if value > 1 else format_value(value, display)
    return "over 100" if value > 1 else format_number(100 * value, 1)


def effect_findings(group: TaskScores) -> list[Finding]:
    """One finding per regime and test, against the base of the test; after it that over seeds that did not collapse."""
    found = []
    tested = sum(each.difference.p is not None for each in group.comparisons)
    for each in group.comparisons:
        about = {**_comparison_data(each), "regime": each.score.regime, "base": each.base.regime}
        basis = _basis(each.difference, tested)
        metric, _ = declared_metric(each.score)
        found.append(
            Finding(kind="regime_effect", verdict=each.verdict, about=about, metric=metric, estimate=each.difference,
                    compared_with=each.base, basis=basis)
        )  # fmt: skip
        if each.verdict is Verdict.NOT_COMPARABLE:
            rest, data = each.remaining, _remaining_data(each)
            found.append(
                Finding(kind="remaining_seeds", verdict=Verdict(data["verdict"]), metric=metric, estimate=rest,
                        about={**data, "regime": each.score.regime, "base": each.base.regime},
                        basis=basis if rest is None else _basis(rest, tested))
            )  # fmt: skip
    return found


def _basis(difference: RegimeDifference, compared: int) -> Basis:
    tested = difference.p is not None
    return Basis(
        over=difference.over or "seeds",
        test="t over seeds and examples" if tested else "",
        correction="Holm" if tested and compared > 1 else "",
        compared=max(compared, 1),
    )


@sentence_of("regime_effect", topic="Regime")
def _regime_effect(finding: Finding) -> str:
    about = finding.about
    base = "" if about["base"] == "original" else f" against {escape_control_characters(about['base'])}"
    text = f"{regime_title(about['regime'])}{base} {_OUTCOMES[finding.verdict]} in {_difference_text(about)}"
    difference = finding.estimate
    p = getattr(difference, "p_adjusted", None) if finding.verdict in (*_CLEAR, Verdict.UNCLEAR) else None
    return _upper(text) + ("." if p is None else f", {format_p_value(p)}{_correction(finding.basis)}.")


def _correction(basis: Basis) -> str:
    return f" after {basis.correction}’s correction" if basis.correction else ""


@sentence_of("remaining_seeds", topic="Without collapsed seeds")
def _remaining_seeds(finding: Finding) -> str:
    about = finding.about
    if about["difference"] is None:
        return (
            f"{_upper(regime_title(about['regime']))}: no seed is left in {about['title']} in which both sides learned."
        )
    text = f"over the {pluralize(about['seeds'], 'seed')} in which both sides learned, {regime_title(about['regime'])}"
    return f"{_upper(text)} {_OUTCOMES[finding.verdict]} in {_difference_text(about)}."


def regime_findings(group: TaskScores, *, whose: str = "") -> list[Finding]:
    """One finding per regime over all its tests, for a first screen."""
    found = []
    tested = sum(each.difference.p is not None for each in group.comparisons)
    for outcome in regime_outcomes(group):
        own = [each for each in group.comparisons if each.score.regime == outcome["regime"]]
        verdicts = {each.verdict for each in own}
        verdict = verdicts.pop() if len(verdicts) == 1 else Verdict.FOUND
        found.append(
            Finding(
                kind="regime",
                verdict=verdict,
                about={"whose": whose, **outcome},
                estimate=own[0].difference if len(own) == 1 else None,
                metric=declared_metric(own[0].score)[0],
                basis=_basis(own[0].difference, tested),
            )
        )
    return found


@sentence_of("regime", topic="Regimes")
@_with_task_name
def _regime(finding: Finding) -> str:
    text = f"{_upper(_effect_text(finding.about))}."
    remaining: Sequence[Mapping[str, Any]] = finding.about["remaining"]
    for verdict, said in _OUTCOMES.items():
        own = [each for each in remaining if each["verdict"] == str(verdict)]
        if own and verdict is Verdict.NOT_COMPARABLE:
            text += f" No seed is left in {join_with_and([each['title'] for each in own])} in which both sides learned."
        elif own:
            text += (
                f" Over the seeds in which both sides learned it {said} {_differences(own, len(own), largest=True)}."
            )
    return text


def uncertainty_finding(groups: Sequence[TaskScores]) -> Finding:
    """How differences are tested, what could be detected, and how many seeds smaller ones need.

    A correction and a power are named only where a comparison is of models that learned.
    """
    comparisons = [each for group in groups for each in group.comparisons]
    telling = [each for each in comparisons if each.verdict in (*_CLEAR, Verdict.UNCLEAR, Verdict.NOT_TESTED)]
    display = difference_display(comparisons[0].score) if comparisons else "points"
    tested = [each for each in telling if each.difference.p is not None]
    about = {
        "seeds": max((len(score.seeds) for group in groups for score in group.scores), default=0),
        "compared": len(comparisons),
        "silent": bool(comparisons) and not telling,
        "items_kept": all(each.difference.over for each in comparisons),
        "detectable": detectable_range(each for each in tested if difference_display(each.score) == display),
        "display": display,
        "plan": plan_seeds(telling) if telling else None,
    }
    if comparisons and not tested:
        basis = Basis(over="examples", compared=len(comparisons))
        return Finding(kind="seeds", verdict=Verdict.NOT_TESTED, about=about, basis=basis)
    most = max((sum(each.difference.p is not None for each in group.comparisons) for group in groups), default=0)
    basis = Basis(
        over="seeds and examples" if tested else "seeds",
        test="t over seeds and examples" if tested else "",
        correction="Holm" if most > 1 else "",
        compared=max(most, 1),
    )
    return Finding(kind="seeds", verdict=Verdict.FOUND, about=about, basis=basis)


@sentence_of("seeds", topic="Uncertainty")
def _seeds(finding: Finding) -> str:
    about, basis = finding.about, finding.basis
    if not about["compared"]:
        if about["seeds"] > 1:
            return f"{about['seeds']} seeds; ± is their standard deviation."
        return "One seed: the result says nothing about other seeds. Intervals are over its examples."
    if about["silent"]:
        return (
            "No comparison can be judged: a seed of a side collapsed, or neither side is above chance."
        )  # fmt: skip
    plan = "" if about["plan"] is None else f" {_plan_text(about['plan'])}"
    if finding.verdict is Verdict.NOT_TESTED:
        why = (
            "One seed: differences are not tested, and the result says nothing about other seeds."
            if about["items_kept"]
            else "Differences are not tested: the values per example (items/) are not in the folder."
        )
        return f"{why}{plan}"
    correction = " after Holm’s correction over the comparisons of a table" if basis.correction else ""
    detectable = about["detectable"]
    sizes = dict.fromkeys(_size(end, about["display"]) for end in detectable)
    unit = " points" if about["display"] == "points" else ""
    power = f" Detectable with 80\N{NO-BREAK SPACE}% power: differences of at least {' to '.join(sizes)}{unit}."
    said = f"Differences of means are tested over seeds and examples; clear means p < 0.05{correction}."
    return f"{said}{power if sizes else ''}{plan}"


def detectable_range(comparisons: Iterable[Comparison]) -> list[float]:
    """The smallest and the largest detectable difference of the tested comparisons; empty where none is known."""
    differences = [each.difference for each in comparisons]
    sizes = [each.detectable for each in differences if each.p is not None and each.detectable is not None]
    return [min(sizes), max(sizes)] if sizes else []


def plan_seeds(comparisons: Sequence[Comparison]) -> dict[str, Any] | None:
    """How many seeds per regime a difference of 1, 2 or 5 points needs, by the deviations of these comparisons.

    With one seed, whose deviation is not known, by the median one of the grids in docs/findings.
    """
    first = comparisons[0].score
    own = [each for each in comparisons if each.score.metric == first.metric]
    deviations = [each.difference.item_deviation for each in own if each.difference.item_deviation]
    if not deviations:
        return None
    known = [score.deviation for each in own for score in (each.score, each.base) if score.deviation]
    deviation = float(np.median(known)) if known else usual_deviation(first.metric)
    items, n = float(np.median(deviations)), int(np.median([each.score.n for each in own]))
    needed = {}
    for points in PLANNED_POINTS:
        seeds = seeds_needed(points / 100, deviation=deviation, item_deviation=items, n=n)
        examples = max(items_needed(points / 100, item_deviation=items) // 100 * 100, 100)
        needed[str(points)] = {"seeds": seeds, "examples": examples}
    return {"deviation": deviation, "measured": bool(known), "n": n, "needed": needed}


def usual_deviation(metric: str) -> float:
    """The deviation over seeds that a metric had in our own grids."""
    return SEED_DEVIATIONS.get(metric.partition("/")[0], USUAL_DEVIATION)


def _plan_text(plan: Mapping[str, Any]) -> str:
    sizes = [
        f"{pluralize(int(points), 'point')} over {each['examples']:,} examples"
        if each["seeds"] is None
        else f"{pluralize(int(points), 'point')} {pluralize(each['seeds'], 'seed')}"
        for points, each in plan["needed"].items()
    ]
    whose = "this run" if plan["measured"] else "our own grids"
    return (
        f"With the deviation over seeds of {whose} ({100 * plan['deviation']:.1f} points) and {plan['n']:,} examples, "
        f"detecting a difference takes: {', '.join(sizes)}."
    )


def source_finding(run: Run, group: TaskScores) -> Finding | None:
    """That the language of training was not tested, so that weak transfer looks as a weak model does; or on what."""
    if group.measure == "retrieval":
        return None
    if group.source_test is not None:
        on_dev = group.source_test == run.about.get("dev_test")
        return Finding(kind="source_on_dev", verdict=Verdict.FOUND, about={"source": group.source}) if on_dev else None
    return Finding(kind="source_untested", verdict=Verdict.NOT_TESTED, about={"source": group.source})


@sentence_of("source_untested", topic="Language of training")
def _source_untested(finding: Finding) -> str:
    code = str(finding.about["source"])
    name = language_name(code, {})
    return f"{name} was not tested, so a weak model cannot be told from weak transfer: add --test {code}=FILE."


@sentence_of("source_on_dev", topic="Language of training")
def _source_on_dev(finding: Finding) -> str:
    name = language_name(str(finding.about["source"]), {})
    return (
        f"{name} was scored on the examples of --dev, on which the epoch is chosen, so its score is slightly too high."
    )


# The first screen.


def headline(run: Run) -> Headline | None:
    """The first screen of a run of `interlingua transfer`; a study answers for itself."""
    groups = task_scores(run)
    if run.kind == "study" or not groups:
        return None
    group = groups[0]
    failures = training_findings(group)
    failed = next((each for each in failures if each.kind == "training_failed"), None)
    gap = gap_finding(group)
    everything_low = all(not score.has_learned for score in group.main_scores)
    low = next((each for each in failures if each.kind == "at_chance"), None) if everything_low else None
    answer = failed or low or gap
    assert answer is not None
    findings = [each for each in failures if each is not answer]
    findings += [gap] if gap is not None and gap is not answer and gap.verdict is not Verdict.AT_CHANCE else []
    findings += [each for each in regime_findings(group) if each.verdict is not Verdict.AT_CHANCE]
    source = source_finding(run, group)
    findings += [source] if source is not None else []
    findings.append(uncertainty_finding(groups))
    return Headline(
        title=_title(group),
        answer=answer,
        figures=tuple(_figures(group)),
        measured=_measured(run, group),
        next_step=_next_step(run, group, failed or low, source),
        findings=tuple(findings),
    )


def _title(group: TaskScores) -> str:
    model = escape_control_characters(PurePath(group.model).name)
    titles = [title_of_test(score) for score in group.base_scores() if score.test != group.source_test]
    tests = join_with_and(titles) if 0 < len(titles) <= 3 else pluralize(len(titles), "test") if titles else ""
    source = language_name(group.source, {})
    if group.measure == "retrieval":
        return f"How well {model} retrieves translations: {tests}"
    where = f"work in {tests}" if titles else f"work in {source}"
    return f"Does {model}, trained on {source} {task_title(group.measure)}, {where}?"


def _figures(group: TaskScores) -> Iterator[KeyFigure]:
    scores = group.base_scores()
    source = next((score for score in scores if score.test == group.source_test), None)
    if source is not None:
        yield _score_figure(group, source, "the language of training")
    targets = [score for score in scores if score is not source]
    if len(targets) > 1:
        yield _score_figure(group, min(targets, key=lambda score: score.value), f"lowest of {len(targets)} tests")
    elif targets:
        yield _score_figure(group, targets[0], "")
    verdicts = (*_CLEAR, Verdict.UNCLEAR, Verdict.NOT_TESTED)
    own = [each for each in group.comparisons if each.score.measure == group.measure]
    comparisons = [each for each in own if each.verdict in verdicts]
    if comparisons:
        best = max(comparisons, key=lambda each: (each.verdict is Verdict.HIGHER, each.difference.value))
        verdict = "clear" if best.verdict in _CLEAR else str(best.verdict)
        unit = "points; " if difference_display(best.score) == "points" else ""
        yield KeyFigure(
            label=f"{_upper(regime_title(best.score.regime))} in {title_of_test(best.score)}",
            estimate=best.difference,
            display=difference_display(best.score),
            remark=f"{unit}largest difference to {escape_control_characters(best.base.regime)}: {verdict}",
        )
    collapsed = {(score.regime, seed) for score in group.main_scores for seed in score.collapsed_seeds}
    if collapsed:
        models = {(score.regime, seed) for score in group.main_scores for seed in score.seeds}
        yield KeyFigure(label="Collapsed seeds", text=f"{len(collapsed)} of {len(models)}", remark="at chance")


def _score_figure(group: TaskScores, score: RegimeScore, remark: str) -> KeyFigure:
    chance = _chance_text(group, score)
    remarks = [part for part in (escape_control_characters(score.regime), remark, chance) if part]
    return KeyFigure(
        label=f"{metric_title(score)} in {title_of_test(score)}",
        estimate=with_shown_interval(score),
        display=metric_display(score),
        remark=", ".join(remarks),
    )


def _chance_text(group: TaskScores, score: RegimeScore) -> str:
    """The chance level of a score; where its metric has none, that of the metric that models are judged by."""
    (judged,) = _judged(group, [score])
    if judged.null_value is None:
        return ""
    value = format_value(judged.null_value, metric_display(judged))
    return f"chance level {value}" if judged is score else f"chance level of {_lower(metric_title(judged))} {value}"


def _measured(run: Run, group: TaskScores) -> str:
    counts = {score.test: score.n for score in group.main_scores}
    examples = " to ".join(f"{count:,}" for count in sorted({min(counts.values()), max(counts.values())}))
    regimes = dict.fromkeys(score.regime for score in group.main_scores)
    seeds = max(len(score.seeds) for score in group.main_scores)
    train = run.about.get("train")
    trained = f"Trained on {escape_control_characters(PurePath(str(train)).name)}; " if train else ""
    return (
        f"{trained}{pluralize(len(counts), 'test')} of {examples} examples, {pluralize(len(regimes), 'regime')}, "
        f"{pluralize(seeds, 'seed')} per regime."
    )


def _next_step(run: Run, group: TaskScores, failed: Finding | None, source: Finding | None) -> str:
    if failed is not None:
        return "Train longer, at another learning rate or with a warm-up, for example `--epochs 5 --warmup 0.1`."
    if source is not None and source.verdict is Verdict.NOT_TESTED:
        return (
            f"Add `--test {group.source}=FILE` to see how much of the {language_name(group.source, {})} score remains."
        )
    clear = [each for each in group.comparisons if each.verdict is Verdict.HIGHER]
    if clear:
        best = Counter(each.score.regime for each in clear).most_common(1)[0][0]
        return f"Use the regime {escape_control_characters(best)}; `--save-models` keeps its models."
    telling = [each for each in group.comparisons if each.verdict in (Verdict.UNCLEAR, Verdict.NOT_TESTED)]
    plan = plan_seeds(telling) if telling else None
    needed = None if plan is None else plan["needed"]["2"]["seeds"]
    if needed is not None and needed > max(len(score.seeds) for score in group.main_scores):
        return f"A difference of 2 points takes {needed} seeds per regime: `--seeds {needed}` in the same folder."
    if not group.comparisons and group.measure != "retrieval":
        return "Test whether a small parallel corpus helps: `--bitext XX=FILE`."
    return ""


# Tables.


def mark_of(score: RegimeScore, base: str) -> str:
    """The mark of a difference: ** to the adjusted regime, or to the second base where others are the bases."""
    return "**" if base == "adjusted" or base in score.bases[1:] else "*"


def marked_scores(scores: Sequence[RegimeScore]) -> dict[tuple[str, str], MarkedEstimate]:
    """The cells of a table of scores by regime and test, marked where a difference is clear (Efimov et al. 2023)."""
    marks: dict[tuple[str, str], str] = {}
    for each in compare(scores):
        if each.verdict in _CLEAR:
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
    telling = [each for each in tested if each.verdict in (*_CLEAR, Verdict.UNCLEAR)]
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
        clear = sum(each.verdict in _CLEAR for each in telling)
        if len(tested) > 1:
            yield f"{clear} of {pluralize(len(tested), 'comparison')} {'is' if clear == 1 else 'are'} clear."
        display = difference_display(tested[0].score)
        sizes = dict.fromkeys(_size(end, display) for end in detectable_range(telling))
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
        "examples. p (examples) is the test of Efimov et al. 2023, §5.1, which holds the seeds fixed and says nothing "
        "of other seeds. d: Cohen’s, of paired examples, with Hedges’ correction."
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
        x=Axis(title=f"Difference in {_lower(metric_title(first))}", display=difference_display(first)),
        rows=rows,
        references=(Reference(label="no difference", values=(0.0,)),),
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
        chance = () if first.null_value is None else (Reference(label="chance level", values=(first.null_value,)),)
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


# Sections.


def sections(run: Run) -> list[Section]:
    """Every seed, differences, tables, and distances of words."""
    groups = task_scores(run)
    return [
        *_seed_section(groups),
        *_difference_section(groups),
        *_layer_section(run, groups),
        *_table_sections(run, groups),
        *(section for section in [_distance_section(run)] if section is not None),
    ]


def _distance_section(run: Run) -> Section | None:
    """Distances of related and unrelated words in every state of the models."""
    measured = RecordTable(record for record in run.records if record.measure == "distances")
    section = separation_section(measured, run.about) if measured else None
    return None if section is None else replace(section, folded=run.kind == "study")


def _lead_pairs(groups: Sequence[TaskScores]) -> Iterator[tuple[TaskScores, str, str]]:
    """Every task with each of its lead metrics, and what the two are called in a menu."""
    for group in groups:
        metrics = list(dict.fromkeys(group.lead_metrics.values()))
        for metric in sorted(metrics, key=lambda key: group.metrics.index(key) if key in group.metrics else 0):
            title = metric_title(group.of_metric(metric)[0])
            parts = [*([group.name] if len(groups) > 1 else []), *([title] if len(metrics) > 1 else [])]
            yield group, metric, ": ".join(parts) or title


def _menu(groups: Sequence[TaskScores]) -> str:
    return "Task" if len(groups) > 1 else "Metric"


def _seed_section(groups: Sequence[TaskScores]) -> Iterator[Section]:
    """Every seed in the lead metrics and, where these have no chance level, in the metric that models are judged by."""
    charts: list[tuple[str, Chart]] = []
    for group, metric, label in _lead_pairs(groups):
        charts.append((label, seed_chart(group, metric)))
        judged = _judged(group, group.of_metric(metric)[:1])[0]
        if judged.metric != metric:
            name = f"{group.name}: {metric_title(judged)}" if len(groups) > 1 else metric_title(judged)
            charts.append((name, seed_chart(group, judged.metric)))
    if charts:
        findings = tuple(finding for group in groups for finding in training_findings(group)) if len(groups) > 1 else ()
        yield Section(
            name="seeds",
            title="Every seed",
            charts=with_menu("seeds", _menu(groups), charts),
            findings=findings[:MAX_NAMED_TESTS],
        )


def _difference_section(groups: Sequence[TaskScores]) -> Iterator[Section]:
    charts = [
        (label, chart)
        for group, metric, label in _lead_pairs(groups)
        if (chart := difference_chart(group, metric)) is not None
    ]
    if charts:
        findings = effect_findings(groups[0]) if len(groups) == 1 else []
        yield Section(
            name="differences",
            title="Regimes compared",
            findings=tuple(findings) if len(findings) <= 2 * MAX_NAMED_TESTS else (),
            charts=with_menu("differences", _menu(groups), charts),
        )


def _layer_section(run: Run, groups: Sequence[TaskScores]) -> Iterator[Section]:
    charts = [(chart.title, chart) for group in groups for chart in layer_charts(run, group)]
    if charts:
        yield Section(name="layers", title="Retrieval by layer", charts=with_menu("layers", "Test", charts))


def _table_sections(run: Run, groups: Sequence[TaskScores]) -> Iterator[Section]:
    """Tables of lead metrics; differences, seeds and other metrics are folded."""
    lead = {(group, metric) for group, metric, _ in _lead_pairs(groups)}
    scores: list[Table] = []
    differences: list[Table] = []
    seeds: list[Table] = []
    others: list[Table] = []
    for group in groups:
        for metric in group.metrics:
            first = (group, metric) in lead
            (scores if first else others).append(score_table(group, metric, terminal=first))
            difference = difference_table(group, metric)
            if difference is not None:
                (differences if first else others).append(difference)
            (seeds if first else others).append(seed_table(group, metric))
    text = ("A number links to its records.",)
    for name, title, tables, folded in (
        ("scores", "Scores", scores, len(groups) > MAX_OPEN_TASKS),
        ("difference-tables", "Differences with their tests", differences, True),
        ("seed-tables", "Scores of every seed", seeds, True),
        ("other-metrics", "Other metrics", others, True),
    ):
        if tables:
            yield Section(name=name, title=title, text=text, tables=tuple(tables), folded=folded)


def numbers(run: Run) -> Mapping[str, Estimate]:
    """Means over seeds of every metric that is shown, regime and test: `RegimeScore`s with their seeds.

    A single seed without values per example has no interval.
    """
    groups = task_scores(run)
    found: dict[str, Estimate] = {}
    for group in groups:
        for metric in group.metrics:
            for score in group.of_metric(metric):
                parts = [*([group.name] if len(groups) > 1 else []), metric_title(score)]
                name = ", ".join([*parts, escape_control_characters(score.regime), title_of_test(score)])
                found[name] = with_shown_interval(score)
    return found


SUBJECT = Subject(
    name="transfer",
    applies=lambda run: has_scores(run) or any(record.measure == "distances" for record in run.records),
    sections=sections,
    headline=headline,
    numbers=numbers,
)
