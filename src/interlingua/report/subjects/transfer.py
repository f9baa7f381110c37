"""Transfer of tasks between languages: what a model reaches, what each regime changes, and what did not learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import PurePath
from typing import Any

import numpy as np

from interlingua.analyses.seed_statistics import RegimeScore
from interlingua.record import Estimate, RecordTable
from interlingua.report.kit.chart import Chart
from interlingua.report.kit.finding import Basis, Finding, Template, Verdict, sentence_of
from interlingua.report.kit.section import Headline, KeyFigure, Run, Section, Subject
from interlingua.report.kit.table import Table, group_by
from interlingua.report.kit.wording import (
    format_chance,
    format_p_value,
    format_value,
    join_with_and,
    language_name,
    pluralize,
)
from interlingua.report.subjects.adjustment import separation_section
from interlingua.report.subjects.seeds import (
    CLEAR,
    SILENT,
    Comparison,
    TaskScores,
    basis_of,
    describe_detectable,
    detectable_range,
    difference_chart,
    difference_table,
    format_ends,
    format_size,
    has_scores,
    layer_charts,
    lower_first,
    metric_of,
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

Level = Mapping[str, Any]
"""What a sentence says of one score (`describe_level`)."""
Effect = Mapping[str, Any]
"""What a sentence says of one difference (`effect_findings`)."""
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
    metric = metric_of(score)
    return {
        "regime": score.regime,
        "test": score.test,
        "title": title_of_test(score),
        "value": score.value,
        "chance": score.null_value,
        "display": metric.display,
        "metric": lower_first(metric.title),
        "learned": score.has_learned,
    }


def _level_text(level: Level) -> str:
    chance = format_chance(level["chance"], level["display"])
    return f"{level['title']} {format_value(level['value'], level['display'])}" + (f" ({chance})" if chance else "")


def training_findings(group: TaskScores, *, whose: str = "") -> list[Finding]:
    """What did not learn: first what is above chance in no seed, then single seeds that collapsed."""
    found: list[Finding] = []
    low = [score for score in group.main_scores if not score.has_learned and not score.collapsed_seeds]
    if low:
        judged = scores_judged_by_chance(group, low)
        answers = {score.constant_answer for score in judged}
        answer = answers.pop() if len(answers) == 1 else None
        bases = [score for score in low if score.regime == score.base]
        source = next((score for score in bases if score.test == group.source_test), None)
        failed = source is not None or (group.source_test is None and bool(bases) and answer is not None)
        about = {
            "whose": whose,
            "source": group.source,
            "answer": answer,
            "levels": [describe_level(score) for score in judged],
            "every": len(low) == len(group.main_scores),
            "seeds": max(len(score.seeds) for score in low),
            "source_tested": group.source_test is not None,
        }
        kind = "training_failed" if failed else "at_chance"
        found.append(
            Finding(kind=kind, verdict=Verdict.AT_CHANCE, about=about, metric=metric_of(low[0]),
                    estimate=source or low[0])
        )  # fmt: skip
    collapsed = [score for score in group.main_scores if score.collapsed_seeds]
    if collapsed:
        models = group_by(
            [(score, seed) for score in collapsed for seed in score.collapsed_seeds],
            lambda model: (model[0].regime, model[1] or 0),
        )
        chance = format_ends((score.null_value for score in scores_judged_by_chance(group, collapsed)), "percent")
        about = {
            "whose": whose,
            "seeds": [
                {"regime": regime, "seed": seed, "tests": list(dict.fromkeys(title_of_test(score) for score, _ in own))}
                for (regime, seed), own in models.items()
            ],
            "chance": chance,
            "compared": len(group.comparisons),
        }
        found.append(Finding(kind="collapsed_seed", verdict=Verdict.NOT_COMPARABLE, about=about, estimate=collapsed[0]))
    return found


@sentence_of("training_failed", topic="Training")
@_with_task_name
def _training_failed(finding: Finding) -> str:
    about = finding.about
    levels: Sequence[Level] = about["levels"]
    first = next((level for level in levels if level["test"] == about["source"]), levels[0])
    chance = "" if first["chance"] is None else f", chance {format_value(first['chance'], first['display'])}"
    numbers = f"{first['metric']} {format_value(first['value'], first['display'])}{chance}"
    if about["answer"] is not None:
        where = "" if about["every"] else f" in {_join_titles(levels)}"
        return f"Training failed: the model predicts {about['answer']} for every example{where} ({numbers})."
    source = language_name(about["source"], {})
    return f"Training failed: in {source}, the language of training, the model is not above chance ({numbers})."


@sentence_of("at_chance", topic="Chance level")
@_with_task_name
def _at_chance(finding: Finding) -> str:
    about = finding.about
    levels: Sequence[Level] = about["levels"]
    regimes = list(dict.fromkeys(level["regime"] for level in levels))
    if len(levels) > MAX_NAMED_TESTS:
        chance = format_ends((level["chance"] for level in levels), levels[0]["display"]) or "not known"
        named = f"{len(levels)} scores ({join_with_and(regimes)}; chance level {chance})"
    else:
        several = len(regimes) > 1
        named = join_with_and([f"{level['regime']}: " * several + _level_text(level) for level in levels])
    where = "Not above chance in any seed" if about["seeds"] > 1 else "Not above chance"
    always = "" if about["answer"] is None else f"; every example is answered with {about['answer']!r}"
    untested = f" {language_name(about['source'], {})} was not tested, so training itself may have failed."
    return f"{where} by {levels[0]['metric']}: {named}{always}.{'' if about['source_tested'] else untested}"


def _join_titles(levels: Sequence[Level]) -> str:
    titles = list(dict.fromkeys(level["title"] for level in levels))
    return join_with_and(titles) if len(titles) <= MAX_NAMED_TESTS else f"{len(titles)} tests"


@sentence_of("collapsed_seed", topic="Collapsed seeds")
@_with_task_name
def _collapsed_seed(finding: Finding) -> str:
    about = finding.about
    seeds = []
    for model in about["seeds"]:
        tests = model["tests"]
        named = join_with_and(tests) if len(tests) <= 3 else f"{len(tests)} tests"
        seeds.append(f"seed {model['seed']} of {model['regime']} ({named})")
    models = join_with_and(seeds) if len(seeds) <= MAX_NAMED_TESTS else f"{len(seeds)} models"
    level = f" (chance level {about['chance']})" if about["chance"] else ""
    compared = " Means with a collapsed seed are not compared." if about["compared"] else ""
    return f"Collapsed, at chance where other seeds learned{level}: {models}.{compared}"


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
    base = source if source is not None and source.has_learned and same and targets != [source] else None
    return Finding(
        kind="transfer",
        verdict=Verdict.FOUND if lowest.has_learned else Verdict.AT_CHANCE,
        about={
            "whose": whose,
            "task": group.measure,
            "source": group.source,
            "source_level": None if base is None else describe_level(base),
            "levels": [describe_level(score) for score in targets],
        },
        metric=metric_of(lowest),
        estimate=lowest,
        compared_with=base,
        basis=Basis(over="seeds" if len(lowest.seeds) > 1 else "examples"),
    )


@sentence_of("transfer", topic="Transfer")
@_with_task_name
def _transfer(finding: Finding) -> str:
    about = finding.about
    source: Level | None = about["source_level"]
    levels: Sequence[Level] = about["levels"]
    display, metric = levels[0]["display"], levels[0]["metric"]
    language = language_name(about["source"], {})
    task = "Sentence retrieval" if about["task"] == "retrieval" else f"{language} {task_title(about['task'])}"
    low = [level for level in levels if not level["learned"]]
    at_chance = f"; not above chance in {_join_titles(low)}" if low else ""
    if source is None:
        return f"{task}, {metric}: {_named_ends(levels, _level_text)}{at_chance}."

    def against_source(level: Level) -> str:
        # A share of a score that is a third by chance would flatter.
        if source["chance"] is not None and source["chance"] >= 0.1:
            return f"{format_value(level['value'] - source['value'], 'points')} points in {level['title']}"
        share = f"{100 * level['value'] / source['value']:.0f}\N{NO-BREAK SPACE}%"
        return f"{share} of its {language} score in {level['title']}"

    chance = format_ends((level["chance"] for level in levels), display)
    values = _named_ends(levels, lambda level: f"{level['title']} {format_value(level['value'], display)}")
    numbers = f"{values}{'; chance ' + chance if chance else ''}"
    own = format_value(source["value"], display)
    return f"{task}: {metric} {own} in {language}, {_named_ends(levels, against_source)} ({numbers}){at_chance}."


def _named_ends(levels: Sequence[Level], name: Callable[[Level], str]) -> str:
    """Every level with its test; of many the ends of their range."""
    if len(levels) <= MAX_NAMED_TESTS:
        return join_with_and([name(level) for level in levels])
    ends = [pick(levels, key=lambda level: level["value"]) for pick in (min, max)]
    return f"{' to '.join(map(name, ends))} ({len(levels)} tests)"


_OUTCOMES = {
    Verdict.HIGHER: "helps",
    Verdict.LOWER: "hurts",
    Verdict.UNCLEAR: "makes no clear difference",
    Verdict.NOT_TESTED: "is not tested over seeds",
    Verdict.NOT_COMPARABLE: "is not compared, because a seed collapsed,",
    Verdict.AT_CHANCE: "is at chance, as its base is,",
}
"""The phrase for a regime by the verdict of its comparisons, in the order of the sentence."""


def effect_findings(group: TaskScores) -> list[Finding]:
    """One finding per regime and test, against the base of the test; after it that over seeds that did not collapse."""
    found = []
    compared = sum(each.is_tested for each in group.comparisons)
    for each in group.comparisons:
        sides = [("regime_effect", each.difference, each.verdict)]
        if each.verdict is Verdict.NOT_COMPARABLE:
            sides.append(("remaining_seeds", each.remaining, each.remaining_verdict))  # type: ignore[arg-type]
        for kind, difference, verdict in sides:
            about = {
                "regime": each.score.regime,
                "base": each.base.regime,
                "test": each.score.test,
                "title": title_of_test(each.score),
                "verdict": verdict,
                "difference": None if difference is None else difference.value,
                "display": each.display,
                "detectable": None if difference is None else difference.detectable,
            }
            tested = compared if difference is not None and difference.p is not None else 0
            over = (difference or each.difference).over or "seeds"
            basis = basis_of(tested, compared=max(compared, 1), untested=over)
            found.append(
                Finding(kind=kind, verdict=verdict, about=about, metric=metric_of(each.score), estimate=difference,
                        compared_with=each.base, basis=basis)
            )  # fmt: skip
    return found


def regime_findings(group: TaskScores, *, whose: str = "") -> list[Finding]:
    """One finding per regime over all its tests, for a first screen."""
    found = []
    for regime, effects in group_by(effect_findings(group), lambda finding: finding.about["regime"]).items():
        tests = [finding for finding in effects if finding.kind == "regime_effect"]
        verdicts = {finding.verdict for finding in tests}
        about = {
            "whose": whose,
            "regime": regime,
            "bases": list(dict.fromkeys(finding.about["base"] for finding in tests)),
            "tests": [finding.about for finding in tests],
            "remaining": [finding.about for finding in effects if finding.kind == "remaining_seeds"],
        }
        found.append(
            replace(tests[0], kind="regime", about=about, compared_with=None,
                    verdict=verdicts.pop() if len(verdicts) == 1 else Verdict.FOUND,
                    estimate=tests[0].estimate if len(tests) == 1 else None)
        )  # fmt: skip
    return found


@sentence_of("regime_effect", topic="Regime")
def _regime_effect(finding: Finding) -> str:
    p = getattr(finding.estimate, "p_adjusted", None) if finding.verdict in (*CLEAR, Verdict.UNCLEAR) else None
    correction = f" after {finding.basis.correction}’s correction" if finding.basis.correction else ""
    effect = _describe_effects(finding.about["regime"], [finding.about["base"]], [finding.about])
    return effect + ("." if p is None else f", {format_p_value(p)}{correction}.")


@sentence_of("remaining_seeds", topic="Without collapsed seeds")
def _remaining_seeds(finding: Finding) -> str:
    return " ".join(_describe_remaining(regime_title(finding.about["regime"]), [finding.about]))


@sentence_of("regime", topic="Regimes")
@_with_task_name
def _regime(finding: Finding) -> str:
    about = finding.about
    effect = _describe_effects(about["regime"], about["bases"], about["tests"])
    return " ".join([f"{effect}.", *_describe_remaining("it", about["remaining"])])


def _describe_effects(regime: str, bases: Sequence[str], effects: Sequence[Effect]) -> str:
    others = [base for base in bases if base != "original"]
    against = f" (against {join_with_and(others)})" if others else ""
    return f"{upper_first(regime_title(regime))}{against} {_describe_outcomes(effects)}"


def _describe_remaining(subject: str, effects: Sequence[Effect]) -> Iterator[str]:
    known = [effect for effect in effects if effect["difference"] is not None]
    lost = [effect["title"] for effect in effects if effect["difference"] is None]
    if known:
        yield f"Over the seeds in which both sides learned, {subject} {_describe_outcomes(known)}."
    if lost:
        yield f"No seed is left in {join_with_and(lost)} in which both sides learned."


def _describe_outcomes(effects: Sequence[Effect]) -> str:
    """Every difference with its test; of many tests how many, and the largest of those that are clear."""
    by_verdict = group_by(effects, lambda effect: Verdict(effect["verdict"]))
    parts = []
    for verdict, outcome in _OUTCOMES.items():
        alike = by_verdict.get(verdict, [])
        if alike and (len(alike) <= 3 or len(effects) <= MAX_NAMED_TESTS):
            parts.append(f"{outcome} in {join_with_and([_difference_text(effect) for effect in alike])}")
        elif alike:
            top = sorted(alike, key=lambda effect: -abs(effect["difference"]))[:3]
            largest = f", most in {join_with_and([_difference_text(effect) for effect in top])}"
            parts.append(f"{outcome} in {len(alike)} of {len(effects)} tests{largest if verdict in CLEAR else ''}")
    return "; ".join(parts)


def _difference_text(effect: Effect) -> str:
    is_points = effect["display"] == "points"
    value = format_value(effect["difference"], effect["display"]) + (" points" if is_points else "")
    sign = "+" if effect["difference"] > 0 and not is_points else ""
    detectable = effect["detectable"] if effect["verdict"] == Verdict.UNCLEAR else None
    power = "" if detectable is None else f", {format_size(detectable, effect['display'])} detectable"
    return f"{effect['title']} ({sign}{value}{power})"


def uncertainty_finding(groups: Sequence[TaskScores]) -> Finding:
    """How differences are tested, what could be detected, and how many seeds smaller ones need.

    A correction and a power are named only where a comparison is of models that learned.
    """
    comparisons = [each for group in groups for each in group.comparisons]
    telling = [each for each in comparisons if each.verdict not in SILENT]
    display = comparisons[0].display if comparisons else "points"
    tested = [each for each in telling if each.is_tested]
    most = max((sum(each.is_tested for each in group.comparisons) for group in groups), default=0) if tested else 0
    untested = bool(comparisons) and not tested
    return Finding(
        kind="seeds",
        verdict=Verdict.NOT_TESTED if untested else Verdict.FOUND,
        about={
            "seeds": max((len(score.seeds) for group in groups for score in group.scores), default=0),
            "compared": len(comparisons),
            "silent": bool(comparisons) and not telling,
            "items_kept": all(each.difference.over for each in comparisons),
            "detectable": detectable_range(each for each in tested if each.display == display),
            "display": display,
            "plan": plan_seeds(telling) if telling else None,
        },
        basis=basis_of(
            most,
            compared=len(comparisons) if untested else max(most, 1),
            untested="examples" if untested else "seeds",
        ),
    )


@sentence_of("seeds", topic="Uncertainty")
def _seeds(finding: Finding) -> str:
    about, basis = finding.about, finding.basis
    if not about["compared"]:
        if about["seeds"] > 1:
            return f"{about['seeds']} seeds; ± is their standard deviation."
        return "One seed: the result says nothing about other seeds. Intervals are over its examples."
    if about["silent"]:
        return "No comparison can be judged: a seed of a side collapsed, or neither side is above chance."
    correction = " after Holm’s correction over the comparisons of a table" if basis.correction else ""
    said = [f"Differences of means are tested over seeds and examples; clear means p < 0.05{correction}."]
    if finding.verdict is not Verdict.NOT_TESTED:
        said.append(describe_detectable(about["detectable"], about["display"]))
    elif about["items_kept"]:
        said = ["One seed: differences are not tested, and the result says nothing about other seeds."]
    else:
        said = ["Differences are not tested: the values per example (items/) are not in the folder."]
    plan = about["plan"]
    if plan is not None:
        sizes = [
            f"{pluralize(int(points), 'point')}: at least {needed['examples']:,} examples, whatever the seeds"
            if needed["seeds"] is None
            else f"{pluralize(int(points), 'point')}: {pluralize(needed['seeds'], 'seed')}"
            for points, needed in plan["needed"].items()
        ]
        whose = "this run" if plan["measured"] else "our own grids"
        deviation = f"the deviation over seeds of {whose} ({100 * plan['deviation']:.1f} points)"
        said.append(f"With {deviation} and {plan['n']:,} examples, detecting a difference needs: {'; '.join(sizes)}.")
    return " ".join(filter(None, said))


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
    usual = SEED_DEVIATIONS.get(first.metric.partition("/")[0], USUAL_DEVIATION)
    deviation = float(np.median(known)) if known else usual
    items, n = float(np.median(deviations)), int(np.median([each.score.n for each in own]))
    needed = {}
    for points in PLANNED_POINTS:
        seeds = seeds_needed(points / 100, deviation=deviation, item_deviation=items, n=n)
        examples = max(examples_needed(points / 100, item_deviation=items) // 100 * 100, 100)
        needed[str(points)] = {"seeds": seeds, "examples": examples}
    return {"deviation": deviation, "measured": bool(known), "n": n, "needed": needed}


def source_finding(run: Run, group: TaskScores) -> Finding | None:
    """That the language of training was not tested, so that weak transfer looks as a weak model does; or on what."""
    if group.measure == "retrieval" or group.source_test not in (None, run.about.get("dev_test")):
        return None
    about = {"source": group.source}
    if group.source_test is None:
        return Finding(kind="source_untested", verdict=Verdict.NOT_TESTED, about=about)
    return Finding(kind="source_on_dev", verdict=Verdict.FOUND, about=about)


@sentence_of("source_untested", topic="Language of training")
@sentence_of("source_on_dev", topic="Language of training")
def _source(finding: Finding) -> str:
    code = finding.about["source"]
    name = language_name(code, {})
    if finding.verdict is Verdict.NOT_TESTED:
        missing = "so a weak model cannot be distinguished from weak transfer"
        return f"{name} was not tested, {missing}: add --test {code}=FILE."
    return f"{name} was scored on the examples of --dev, which choose the epoch, so its score is slightly too high."


# The first screen.


def headline(run: Run) -> Headline | None:
    """The first screen of a run of `interlingua transfer`; a study answers for itself."""
    groups = task_scores(run)
    if run.kind == "study" or not groups:
        return None
    group = groups[0]
    failures, gap = training_findings(group), gap_finding(group)
    anything_learned = any(score.has_learned for score in group.main_scores)
    decisive = ("training_failed",) if anything_learned else ("training_failed", "at_chance")
    low = next((each for each in failures if each.kind in decisive), None)
    answer = low or gap
    assert answer is not None
    source = source_finding(run, group)
    effects = [each for each in (gap, *regime_findings(group)) if each and each.verdict is not Verdict.AT_CHANCE]
    findings = [*failures, *effects, source, uncertainty_finding(groups)]
    return Headline(
        title=_title(group),
        answer=answer,
        figures=tuple(_figures(group)),
        measured=_measured(run, group),
        next_step=_next_step(run, group, low, source),
        findings=tuple(each for each in findings if each is not None and each is not answer),
    )


def _title(group: TaskScores) -> str:
    titles = [title_of_test(score) for score in group.base_scores() if score.test != group.source_test]
    source = language_name(group.source, {})
    tests = join_with_and(titles) if len(titles) <= 3 else pluralize(len(titles), "test")
    if group.measure == "retrieval":
        return f"How well {group.model_name} retrieves translations: {tests}"
    return f"Does {group.model_name}, trained on {source} {task_title(group.measure)}, work in {tests or source}?"


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
    telling = [each for each in group.comparisons if each.score.measure == group.measure and each.verdict not in SILENT]
    if telling:
        best = max(telling, key=lambda each: (each.verdict is Verdict.HIGHER, each.difference.value))
        verdict = "clear" if best.verdict in CLEAR else str(best.verdict)
        unit = "points; " if best.display == "points" else ""
        yield KeyFigure(
            label=f"{upper_first(regime_title(best.score.regime))} in {title_of_test(best.score)}",
            estimate=best.difference,
            display=best.display,
            remark=f"{unit}largest difference to {best.base.regime}: {verdict}",
        )
    collapsed = {(score.regime, seed) for score in group.main_scores for seed in score.collapsed_seeds}
    if collapsed:
        models = {(score.regime, seed) for score in group.main_scores for seed in score.seeds}
        yield KeyFigure(label="Collapsed seeds", text=f"{len(collapsed)} of {len(models)}", remark="at chance")


def _score_figure(group: TaskScores, score: RegimeScore, remark: str) -> KeyFigure:
    """A score with its chance level; where its metric has none, that of the metric that models are judged by."""
    metric = metric_of(score)
    (judged,) = scores_judged_by_chance(group, [score])
    chance = format_chance(judged.null_value, metric_of(judged).display)
    if judged is not score:
        chance = chance.replace("level", f"level of {lower_first(metric_of(judged).title)}")
    return KeyFigure(
        label=f"{metric.title} in {title_of_test(score)}",
        estimate=with_shown_interval(score),
        display=metric.display,
        remark=", ".join(part for part in (score.regime, remark, chance) if part),
    )


def _measured(run: Run, group: TaskScores) -> str:
    counts = {score.test: score.n for score in group.main_scores}
    examples = " to ".join(f"{count:,}" for count in sorted({min(counts.values()), max(counts.values())}))
    regimes = dict.fromkeys(score.regime for score in group.main_scores)
    seeds = max(len(score.seeds) for score in group.main_scores)
    train = run.about.get("train")
    trained = f"Trained on {PurePath(str(train)).name}; " if train else ""
    return (
        f"{trained}{pluralize(len(counts), 'test')} of {examples} examples, {pluralize(len(regimes), 'regime')}, "
        f"{pluralize(seeds, 'seed')} per regime."
    )


def _next_step(run: Run, group: TaskScores, failed: Finding | None, source: Finding | None) -> str:
    if failed is not None:
        return "Train longer, at another learning rate or with a warm-up, for example `--epochs 5 --warmup 0.1`."
    if source is not None and source.verdict is Verdict.NOT_TESTED:
        language = language_name(group.source, {})
        return f"Add `--test {group.source}=FILE` to see how much of the {language} score remains."
    clear = [each for each in group.comparisons if each.verdict is Verdict.HIGHER]
    if clear:
        best = Counter(each.score.regime for each in clear).most_common(1)[0][0]
        return f"Use the regime {best}; `--save-models` keeps its models."
    telling = [each for each in group.comparisons if each.verdict not in (*CLEAR, *SILENT)]
    plan = plan_seeds(telling) if telling else None
    needed = None if plan is None else plan["needed"]["2"]["seeds"]
    if needed is not None and needed > max(len(score.seeds) for score in group.main_scores):
        return f"A difference of 2 points takes {needed} seeds per regime: `--seeds {needed}` in the same folder."
    if not group.comparisons and group.measure != "retrieval":
        return "Test whether a small parallel corpus helps: `--bitext XX=FILE`."
    return ""


# Sections.


def sections(run: Run) -> list[Section]:
    """Every seed, differences, retrieval by layer, tables, and distances of words.

    Charts are of lead metrics, seeds also of the metric that models are judged by where a lead has no chance level.
    """
    groups = task_scores(run)
    several = len(groups) > 1
    is_open = len(groups) <= MAX_OPEN_TASKS
    charts: dict[str, list[tuple[str, Chart]]] = {"seeds": [], "differences": [], "layers": []}
    tables: dict[str, list[Table]] = {"scores": [], "differences": [], "seeds": [], "others": []}
    for group in groups:
        lead = set(group.lead_metrics.values())
        for metric in dict.fromkeys((*group.metrics, *sorted(lead))):
            first = group.of_metric(metric)[0]
            parts = [group.name] * several + [metric_of(first).title] * (len(lead) > 1 or not several)
            tables["scores" if metric in lead else "others"].append(
                score_table(group, metric, terminal=metric in lead and is_open)
            )
            if (difference := difference_table(group, metric)) is not None:
                tables["differences" if metric in lead else "others"].append(difference)
            tables["seeds" if metric in lead else "others"].append(seed_table(group, metric))
            if metric in lead:
                charts["seeds"].append((": ".join(parts), seed_chart(group, metric)))
                (judged,) = scores_judged_by_chance(group, [first])
                if judged.metric != metric:
                    name = f"{group.name}: " * several + metric_of(judged).title
                    charts["seeds"].append((name, seed_chart(group, judged.metric)))
                if (chart := difference_chart(group, metric)) is not None:
                    charts["differences"].append((": ".join(parts), chart))
        charts["layers"] += [(chart.title, chart) for chart in layer_charts(run, group)]
    failures = [finding for group in groups for finding in training_findings(group)] if several else []
    effects = [] if several else [finding for group in groups for finding in effect_findings(group)]
    effects = effects if len(effects) <= 2 * MAX_NAMED_TESTS else []
    menu = "Task" if several else "Metric"
    found = [
        Section(name=name, title=title, findings=tuple(findings), charts=with_menu(name, label, charts[name]))
        for name, title, label, findings in (
            ("seeds", "Every seed", menu, failures[:MAX_NAMED_TESTS]),
            ("differences", "Regimes compared", menu, effects),
            ("layers", "Retrieval by layer", "Test", []),
        )
        if charts[name]
    ]
    text = ("A number links to its records.",)
    found += [
        Section(name=name, title=title, text=text, tables=tuple(tables[key]), folded=key != "scores" or not is_open)
        for key, name, title in (
            ("scores", "scores", "Scores"),
            ("differences", "difference-tables", "Differences with their tests"),
            ("seeds", "seed-tables", "Scores of every seed"),
            ("others", "other-metrics", "Other metrics"),
        )
        if tables[key]
    ]
    distances = RecordTable(record for record in run.records if record.measure == "distances")
    section = separation_section(distances, run.about) if distances else None
    return found if section is None else [*found, replace(section, folded=run.kind == "study")]


def numbers(run: Run) -> Mapping[str, Estimate]:
    """Means over seeds of every metric that is shown, regime and test: `RegimeScore`s with their seeds.

    A single seed without values per example has no interval.
    """
    groups = task_scores(run)
    return {
        ", ".join([*[group.name] * (len(groups) > 1), metric_of(score).title, score.regime, title_of_test(score)]):
            with_shown_interval(score)
        for group in groups for metric in group.metrics for score in group.of_metric(metric)
    }  # fmt: skip


SUBJECT = Subject(
    name="transfer",
    applies=lambda run: has_scores(run) or any(record.measure == "distances" for record in run.records),
    sections=sections,
    headline=headline,
    numbers=numbers,
)
