"""Transfer of tasks between languages: what a model reaches, what each regime changes, and what did not learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import PurePath
from typing import Any

import numpy as np

from interlingua.analyses.seed_statistics import (
    RegimeDifference,
    RegimeScore,
)
from interlingua.record import Estimate, RecordTable
from interlingua.report.kit.chart import (
    Chart,
)
from interlingua.report.kit.finding import Basis, Finding, Template, Verdict, sentence_of
from interlingua.report.kit.section import Headline, KeyFigure, Run, Section, Subject
from interlingua.report.kit.table import Table
from interlingua.report.kit.wording import (
    escape_control_characters,
    format_p_value,
    format_value,
    join_with_and,
    language_name,
    pluralize,
)
from interlingua.report.subjects.adjustment import separation_section
from interlingua.report.subjects.seeds import (
    CLEAR,
    Comparison,
    TaskScores,
    declared_metric,
    detectable_range,
    difference_chart,
    difference_display,
    difference_table,
    format_size,
    has_scores,
    judge_p,
    layer_charts,
    lower_first,
    metric_display,
    metric_title,
    regime_title,
    score_table,
    scores_judged_by_chance,
    seed_chart,
    seed_table,
    task_scores,
    task_title,
    title_of_test,
    upper_first,
    with_menu,
    with_shown_interval,
)
from interlingua.stats import SEED_DEVIATIONS, USUAL_DEVIATION, examples_needed, seeds_needed

MAX_NAMED_TESTS = 8
"""Of more tests a sentence names the ends of their range; the tables have all."""
MAX_OPEN_TASKS = 6
"""Tables of more tasks are folded, and not printed in a terminal."""
PLANNED_POINTS = (1, 2, 5)


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
        "metric": lower_first(metric_title(score)),
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
        answers = {score.constant_answer for score in scores_judged_by_chance(group, low)}
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
        nulls = [score.null_value for score in scores_judged_by_chance(group, own) if score.null_value is not None]
        about = {
            "whose": whose,
            "seeds": seeds,
            "chance": [min(nulls), max(nulls)] if nulls else [],
            "compared": len(group.comparisons),
        }
        found.append(Finding(kind="collapsed_seed", verdict=Verdict.NOT_COMPARABLE, about=about, estimate=own[0]))
    return found


def _chance_levels(group: TaskScores, scores: Sequence[RegimeScore]) -> list[dict[str, Any]]:
    return [describe_level(score) for score in scores_judged_by_chance(group, scores)]


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
"""The phrase for a regime by the verdict of its comparisons, in the order of the sentence."""


def _effect_text(effect: Mapping[str, Any]) -> str:
    tests: Sequence[Mapping[str, Any]] = effect["tests"]
    parts = []
    for verdict, text in _OUTCOMES.items():
        own = [test for test in tests if test["verdict"] == str(verdict)]
        if own:
            parts.append(f"{text} {_differences(own, len(tests), largest=verdict in CLEAR)}")
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
    power = "" if detectable is None else f", {format_size(detectable, test['display'])} detectable"
    return f"({sign}{format_value(test['difference'], test['display'])}{points}{power})"


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
    p = getattr(difference, "p_adjusted", None) if finding.verdict in (*CLEAR, Verdict.UNCLEAR) else None
    return upper_first(text) + ("." if p is None else f", {format_p_value(p)}{_correction(finding.basis)}.")


def _correction(basis: Basis) -> str:
    return f" after {basis.correction}’s correction" if basis.correction else ""


@sentence_of("remaining_seeds", topic="Without collapsed seeds")
def _remaining_seeds(finding: Finding) -> str:
    about = finding.about
    if about["difference"] is None:
        regime = upper_first(regime_title(about["regime"]))
        return f"{regime}: no seed is left in {about['title']} in which both sides learned."
    text = f"over the {pluralize(about['seeds'], 'seed')} in which both sides learned, {regime_title(about['regime'])}"
    return f"{upper_first(text)} {_OUTCOMES[finding.verdict]} in {_difference_text(about)}."


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
    text = f"{upper_first(_effect_text(finding.about))}."
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
    telling = [each for each in comparisons if each.verdict in (*CLEAR, Verdict.UNCLEAR, Verdict.NOT_TESTED)]
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
    sizes = dict.fromkeys(format_size(end, about["display"]) for end in detectable)
    unit = " points" if about["display"] == "points" else ""
    power = f" Detectable with 80\N{NO-BREAK SPACE}% power: differences of at least {' to '.join(sizes)}{unit}."
    said = f"Differences of means are tested over seeds and examples; clear means p < 0.05{correction}."
    return f"{said}{power if sizes else ''}{plan}"


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
        examples = max(examples_needed(points / 100, item_deviation=items) // 100 * 100, 100)
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
    return f"{name} was not tested, so a weak model cannot be distinguished from weak transfer: add --test {code}=FILE."


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
    verdicts = (*CLEAR, Verdict.UNCLEAR, Verdict.NOT_TESTED)
    own = [each for each in group.comparisons if each.score.measure == group.measure]
    comparisons = [each for each in own if each.verdict in verdicts]
    if comparisons:
        best = max(comparisons, key=lambda each: (each.verdict is Verdict.HIGHER, each.difference.value))
        verdict = "clear" if best.verdict in CLEAR else str(best.verdict)
        unit = "points; " if difference_display(best.score) == "points" else ""
        yield KeyFigure(
            label=f"{upper_first(regime_title(best.score.regime))} in {title_of_test(best.score)}",
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
    (judged,) = scores_judged_by_chance(group, [score])
    if judged.null_value is None:
        return ""
    value = format_value(judged.null_value, metric_display(judged))
    return (
        f"chance level {value}" if judged is score else f"chance level of {lower_first(metric_title(judged))} {value}"
    )


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
        judged = scores_judged_by_chance(group, group.of_metric(metric)[:1])[0]
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
            (scores if first else others).append(
                score_table(group, metric, terminal=first and len(groups) <= MAX_OPEN_TASKS)
            )
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
