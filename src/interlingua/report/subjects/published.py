"""A study as a whole: its answer over all comparisons, task by task, and published numbers beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from statistics import median
from typing import Any

from interlingua.analyses.published_numbers import Published, PublishedMatch, match_published
from interlingua.record import Difference
from interlingua.report.kit.chart import Axis, Dot, ScatterChart
from interlingua.report.kit.citations import name_papers
from interlingua.report.kit.finding import Basis, Finding, Verdict, sentence_of
from interlingua.report.kit.section import Headline, KeyFigure, Run, Section, Subject
from interlingua.report.kit.table import Cell, Column, MarkedEstimate, Table
from interlingua.report.kit.wording import (
    escape_control_characters,
    format_number,
    join_with_and,
    language_name,
    pluralize,
)
from interlingua.report.subjects.seeds import (
    CLEAR,
    Comparison,
    TaskScores,
    compare,
    judge_p,
    mark_of,
    metric_title,
    regime_title,
    task_scores,
    title_of_test,
)
from interlingua.report.subjects.transfer import (
    gap_finding,
    regime_findings,
    training_findings,
    uncertainty_finding,
)
from interlingua.stats import holm
from interlingua.stats.chance import LEVEL

MAX_TASKS = 12
"""Findings of more tasks are not printed; the tables have them."""
AT_A_GLANCE = 4
"""How many tasks that did not learn the first screen names."""
_WITHOUT_VERDICT = (Verdict.NOT_TESTED, Verdict.AT_CHANCE, Verdict.NOT_COMPARABLE)


# All comparisons of a study.


def judged_comparisons(groups: Sequence[TaskScores]) -> list[tuple[TaskScores, Comparison, Verdict]]:
    """All comparisons of main scores with their base, judged after Holm's correction over all that were tested."""
    every = [(group, each) for group in groups for each in group.comparisons]
    corrected = iter(holm([each.difference.p for _, each in every if each.difference.p is not None]))
    judged = []
    for group, each in every:
        p = None if each.difference.p is None else next(corrected)
        silent = each.verdict in (Verdict.AT_CHANCE, Verdict.NOT_COMPARABLE)
        judged.append((group, each, each.verdict if silent else judge_p(each.difference, p)))
    return judged


def _remaining(comparisons: Iterable[Comparison]) -> dict[str, int]:
    """Verdicts over the seeds in which both sides learned, of comparisons with a collapsed one, corrected together."""
    rest = [each.remaining for each in comparisons if each.verdict is Verdict.NOT_COMPARABLE]
    known = [each for each in rest if each is not None]
    corrected = iter(holm([each.p for each in known if each.p is not None]))
    counts: dict[str, int] = {}
    for each in known:
        verdict = str(judge_p(each, None if each.p is None else next(corrected)))
        counts[verdict] = counts.get(verdict, 0) + 1
    return counts


def comparison_finding(groups: Sequence[TaskScores]) -> Finding:
    """How many comparisons are clear: where a regime helps and where it hurts."""
    judged = judged_comparisons(groups)
    counts = {str(verdict): sum(its is verdict for *_, its in judged) for verdict in Verdict}
    tested = sum(each.difference.p is not None for _, each, _ in judged)
    helped, hurt = ([_where(g, each, len(groups)) for g, each, its in judged if its is verdict] for verdict in CLEAR)
    clear = counts[str(Verdict.HIGHER)] + counts[str(Verdict.LOWER)]
    about = {
        "compared": len(judged),
        "clear": clear,
        "counts": {verdict: count for verdict, count in counts.items() if count},
        "helped": helped,
        "hurt": hurt,
        "bases": list(dict.fromkeys(each.base.regime for _, each, _ in judged)),
        "remaining": _remaining(each for _, each, _ in judged),
    }
    silent = clear + counts[str(Verdict.UNCLEAR)] == 0
    alone = {Verdict.HIGHER: counts[str(Verdict.HIGHER)], Verdict.LOWER: counts[str(Verdict.LOWER)]}
    verdict = next((its for its, count in alone.items() if count and count == clear), Verdict.FOUND)
    if silent:
        verdict = next((v for v in _WITHOUT_VERDICT if counts[str(v)] == len(judged)), Verdict.NOT_COMPARABLE)
    return Finding(
        kind="comparisons",
        verdict=verdict if silent or clear else Verdict.UNCLEAR,
        about=about,
        basis=Basis(
            over="seeds and examples" if tested else "examples",
            test="t over seeds and examples" if tested else "",
            correction="Holm" if tested > 1 else "",
            compared=len(judged),
        ),
    )


def _where(group: TaskScores, each: Comparison, groups: int) -> dict[str, Any]:
    model = escape_control_characters(PurePath(group.model).name)
    place = f"{escape_control_characters(group.task)} {model}, {title_of_test(each.score)}"
    return {
        "regime": each.score.regime,
        "place": place if groups > 1 else title_of_test(each.score),
        "difference": each.difference.value,
    }


@sentence_of("comparisons", topic="Comparisons")
def _comparisons(finding: Finding) -> str:
    about = finding.about
    counts: Mapping[str, int] = about["counts"]
    count = int(about["compared"])
    bases = [escape_control_characters(base) for base in about["bases"]]
    base = bases[0] if len(bases) == 1 else "the base of their test"
    silent = {
        "is not tested over seeds": counts.get(str(Verdict.NOT_TESTED), 0),
        "is of models at chance": counts.get(str(Verdict.AT_CHANCE), 0),
        "has a collapsed seed": counts.get(str(Verdict.NOT_COMPARABLE), 0),
    }
    apart = [f"{n} {text if n == 1 else _plural(text)}" for text, n in silent.items() if n]
    rest = _remaining_text(about["remaining"])
    if finding.verdict in _WITHOUT_VERDICT:
        return f"None of {pluralize(count, 'comparison')} with {base} can be judged: {join_with_and(apart)}.{rest}"
    test = f" (p < {LEVEL:g}{' after Holm’s correction' if finding.basis.correction else ''})"
    said = f"{about['clear']} of {pluralize(count, 'comparison')} with {base} {'is' if about['clear'] == 1 else 'are'} "
    said += f"clear{test}"
    parts = [
        f"{_by_regime(about[name])} {verb} in {len(about[name])} ({_largest(about[name])})"
        for name, verb in (("helped", "helps"), ("hurt", "hurts"))
        if about[name]
    ]
    silence = f" Nothing can be said of others: {join_with_and(apart)}." if apart else ""
    return f"{said}{': ' + '; '.join(parts) if parts else ''}.{silence}{rest}"


def _plural(text: str) -> str:
    return text.replace("is ", "are ", 1) if text.startswith("is ") else text.replace("has ", "have ", 1)


def _by_regime(found: Sequence[Mapping[str, Any]]) -> str:
    regimes = list(dict.fromkeys(each["regime"] for each in found))
    return regime_title(regimes[0]) if len(regimes) == 1 else "a regime"


def _largest(found: Sequence[Mapping[str, Any]]) -> str:
    several = len({each["regime"] for each in found}) > 1
    top = sorted(found, key=lambda each: -abs(each["difference"]))[:3]
    named = [
        f"{each['place']}{', ' + escape_control_characters(each['regime']) if several else ''} "
        f"{'+' if each['difference'] > 0 else ''}{format_number(100 * each['difference'], 1)}"
        for each in top
    ]
    return f"{'most: ' if len(found) > len(top) else ''}{'; '.join(named)} points"


def _remaining_text(counts: Mapping[str, int]) -> str:
    names = {str(Verdict.UNCLEAR): "not clear"}
    parts = [f"{count} {names.get(verdict, verdict)}" for verdict, count in counts.items()]
    return f" Over the seeds in which both sides learned, of these {join_with_and(parts)}." if parts else ""


# Published numbers.


def published_matches(run: Run) -> list[PublishedMatch]:
    """Published numbers with ours; none where the study names no paper's."""
    given: Sequence[Any] = run.attachments.get("published") or ()
    paper = [each if isinstance(each, Published) else Published(**each) for each in given]
    if not paper:
        return []
    return match_published([score for group in task_scores(run) for score in group.scores], run.records, paper)


def _cell(match: PublishedMatch) -> tuple[str, ...]:
    """What a published number shares with those of other regimes."""
    paper = match.published
    return paper.encoder, match.encoder, paper.task, paper.source, paper.test, paper.metric


def _task_comparisons(groups: Sequence[TaskScores]) -> dict[tuple[str, ...], list[Comparison]]:
    """All comparisons of all metrics by encoder, task, source, test, metric and regime."""
    found: dict[tuple[str, ...], list[Comparison]] = {}
    for group in groups:
        for metric in dict.fromkeys(score.metric for score in group.scores):
            for each in compare(group.of_metric(metric)):
                key = (group.model, group.task, group.source, each.score.test, metric, each.score.regime)
                found.setdefault(key, []).append(each)
    return found


def _score_cell(match: PublishedMatch) -> tuple[str, ...]:
    return match.encoder, *match.published.cell


def _is_silent(comparisons: Iterable[Comparison]) -> bool:
    """Whether the comparison with the original says nothing: a seed is collapsed, or neither side is above chance."""
    silent = (Verdict.AT_CHANCE, Verdict.NOT_COMPARABLE)
    return any(each.verdict in silent for each in comparisons if each.base.regime == "original")


def sign_pairs(run: Run, matches: Sequence[PublishedMatch]) -> list[tuple[PublishedMatch, float, float]]:
    """A paper's and our differences to the original, of each regime; ours that say nothing are left out."""
    originals = {_cell(match): match for match in matches if match.published.regime == "original"}
    comparisons = _task_comparisons(task_scores(run))
    pairs = []
    for match in matches:
        base = originals.get(_cell(match))
        if base is None or base is match or _is_silent(comparisons.get(_score_cell(match), ())):
            continue
        theirs, ours = match.published.value - base.published.value, match.ours.value - base.ours.value
        pairs.append((match, theirs, ours))
    return pairs


def published_finding(run: Run, matches: Sequence[PublishedMatch]) -> Finding:
    """How near our numbers are to a paper's, and how many differences to the original have its sign.

    Values are compared where the encoder is the paper's own: within one standard deviation over our seeds.
    """
    same = [match for match in matches if match.is_same_encoder]
    spread = [(match, match.score.deviation) for match in same if match.score and match.score.deviation is not None]
    pairs = sign_pairs(run, matches)
    comparisons = _task_comparisons(task_scores(run))
    about = {
        "paper": _paper(run),
        "cells": len(matches),
        "same_encoder": len(same),
        "with_deviation": len(spread),
        "within": sum(abs(match.ours.value - match.published.value) <= deviation for match, deviation in spread),
        "median_distance": _median_distance(same),
        "signs": len(pairs),
        "same_signs": sum(theirs * ours > 0 for _, theirs, ours in pairs),
        "silent": sum(_is_silent(comparisons.get(_score_cell(match), ())) for match in matches),
    }
    return Finding(kind="published", verdict=Verdict.FOUND, about=about, basis=Basis(over="seeds"))


def _median_distance(matches: Sequence[PublishedMatch]) -> float | None:
    return median(abs(match.ours.value - match.published.value) for match in matches) if matches else None


def _paper(run: Run) -> str:
    return name_papers(escape_control_characters(str(run.about.get("paper") or "the paper")))


@sentence_of("published", topic="Published numbers")
def _published(finding: Finding) -> str:
    about = finding.about
    paper, cells, same = about["paper"], int(about["cells"]), int(about["same_encoder"])
    parts = [f"{pluralize(cells, 'number')} of {paper} {'has' if cells == 1 else 'have'} one of ours beside it."]
    if about["with_deviation"]:
        within = f"{about['within']} of {about['with_deviation']}"
        parts.append(f"{within} lie within one standard deviation over our seeds.")
    if about["median_distance"] is not None:
        parts.append(f"The median distance is {format_number(100 * about['median_distance'], 1)} points.")
    if about["signs"]:
        parts.append(
            f"Our differences to the original have the paper’s sign in {about['same_signs']} of {about['signs']} cases."
        )
    if about["silent"]:
        count = pluralize(about["silent"], "of our differences", "of our differences")
        parts.append(f"{count} cannot be judged: a seed collapsed, or both sides are at chance.")
    if cells > same:
        parts.append(f"{cells - same} are of another encoder than the paper’s: compare signs there, not values.")
    return " ".join(parts)


def published_section(run: Run) -> Section | None:
    """The paper's numbers against ours, and its differences to the original against ours."""
    matches = published_matches(run)
    if not matches:
        return None
    charts = [_value_chart(matches)]
    pairs = sign_pairs(run, matches)
    if pairs:
        charts.append(_sign_chart(pairs))
    return Section(
        name="published",
        title=f"Beside {_paper(run)}",
        findings=(published_finding(run, matches),),
        text=("Point at a dot for the table and cell of the paper.",),
        charts=tuple(charts),
        tables=(published_table(run, matches),),
    )


def _value_chart(matches: Sequence[PublishedMatch]) -> ScatterChart:
    groups = list(dict.fromkeys(_series(match) for match in matches))
    dots = [
        Dot(label=_citation(match), x=match.published.value, y=match.ours.value, records=match.ours.records,
            color=groups.index(_series(match)), detail=f"ours: {escape_control_characters(match.encoder)}")
        for match in matches
    ]  # fmt: skip
    return ScatterChart(
        name="published-values",
        title="Published numbers and ours",
        note="One dot per cell of the paper’s tables. On the diagonal both are the same.",
        x=Axis(title="the paper", display="percent"),
        y=Axis(title="ours", display="percent"),
        dots=tuple(dots),
        groups=tuple(groups),
        labels=False,
        diagonal=True,
    )


def _series(match: PublishedMatch) -> str:
    task = escape_control_characters(match.published.task)
    return task if match.score is None else f"{task}, {metric_title(match.score)}"


def _citation(match: PublishedMatch) -> str:
    return name_papers(escape_control_characters(f"{match.published.cite} ({match.published.encoder})"))


def _sign_chart(pairs: Sequence[tuple[PublishedMatch, float, float]]) -> ScatterChart:
    regimes = list(dict.fromkeys(match.published.regime for match, *_ in pairs))
    dots = [
        Dot(label=_citation(match), x=theirs, y=ours, records=match.ours.records,
            color=regimes.index(match.published.regime), detail=f"ours: {escape_control_characters(match.encoder)}")
        for match, theirs, ours in pairs
    ]  # fmt: skip
    return ScatterChart(
        name="published-differences",
        title="Differences to the original",
        note="Each regime less the original. Above right and below left of 0 the signs are the same.",
        x=Axis(title="the paper: difference to the original", display="points"),
        y=Axis(title="ours: difference to the original", display="points"),
        dots=tuple(dots),
        groups=tuple(map(escape_control_characters, regimes)),
        labels=False,
        diagonal=True,
    )


def published_table(run: Run, matches: Sequence[PublishedMatch]) -> Table:
    """One row per published number, with ours and both marks."""
    comparisons = _task_comparisons(task_scores(run))
    rows: list[tuple[Cell, ...]] = []
    for match in matches:
        paper = match.published
        own = comparisons.get(_score_cell(match), [])
        names = (paper.cite, paper.task, paper.source, paper.test, paper.regime, paper.metric)
        apart = Difference(value=match.ours.value - paper.value, records=match.ours.records)
        rows.append(
            (
                *(name_papers(escape_control_characters(name)) for name in names),
                MarkedEstimate(value=paper.value, mark=paper.mark),
                escape_control_characters(paper.encoder),
                MarkedEstimate(
                    value=match.ours.value,
                    n=match.ours.n,
                    records=match.ours.records,
                    deviation=None if match.score is None else match.score.deviation,
                    mark=_published_mark(own),
                ),
                escape_control_characters(match.encoder),
                apart,
            )
        )
    heads = ("Where", "Task", "Source", "Test", "Regime", "Metric")
    columns = (
        *(Column(title=head) for head in heads),
        Column(title="Paper", display="percent"),
        Column(title="Its encoder"),
        Column(title="Ours", display="percent"),
        Column(title="Our encoder"),
        Column(title="Ours − paper", display="points"),
    )
    note = (
        "± is the standard deviation over our seeds. * differs from original, ** from adjusted (p < 0.05): the paper’s "
        "marks, and ours by the paper’s own tests, which hold the seeds fixed and are not corrected; the tables of "
        "scores have tests over seeds. Where the encoders differ, compare signs of differences, not values."
    )
    return Table(name="beside-the-paper", title=f"{_paper(run)} and ours", columns=columns, rows=tuple(rows), note=note)


def _published_mark(comparisons: Iterable[Comparison]) -> str:
    """The longest mark of comparisons that can be judged, by the paper's own test."""
    silent = (Verdict.AT_CHANCE, Verdict.NOT_COMPARABLE)
    known = [each for each in comparisons if each.verdict not in silent and each.difference.p_published is not None]
    clear = [each for each in known if (each.difference.p_published or 0.0) < LEVEL]
    return max((mark_of(each.score, each.base.regime) for each in clear), key=len, default="")


# The first screen and the sections.


def headline(run: Run) -> Headline | None:
    """The first screen of a study: of its comparisons, else of the first other subject that answers."""
    if run.kind != "study":
        return None
    groups, matches = task_scores(run), published_matches(run)
    if not groups:
        return _headline_of_others(run, matches)
    compared = sum(len(group.comparisons) for group in groups)
    failures = [finding for group in groups for finding in training_findings(group, whose=_whose(group, groups))]
    gaps = [gap for group in groups if (gap := gap_finding(group, whose=_whose(group, groups))) is not None]
    answer = comparison_finding(groups) if compared > 1 else (failures or gaps)[0]
    findings = [finding for finding in failures[:AT_A_GLANCE] if finding is not answer]
    if len(groups) == 1:
        findings += [gap for gap in gaps if gap is not answer]
        findings += regime_findings(groups[0])
    findings += [published_finding(run, matches)] if matches else []
    findings.append(uncertainty_finding(groups))
    return Headline(
        title=_title(run),
        answer=answer,
        figures=tuple(_figures(run, groups, matches)),
        measured=_measured(run),
        next_step=_next_step(run),
        findings=tuple(findings),
    )


def _headline_of_others(run: Run, matches: Sequence[PublishedMatch]) -> Headline | None:
    """What the next subject answers of a study that trained no task, under the study's title."""
    from interlingua.report.report import subjects  # The report knows its subjects, and this one is among them.

    others = [each for each in subjects() if each.name not in ("published", "transfer") and each.applies(run)]
    found = next((head for each in others if (head := each.headline(run)) is not None), None)
    if found is None:
        return None
    findings = (*found.findings, *([published_finding(run, matches)] if matches else []))
    figures = (*found.figures[:2], *_figures(run, (), matches))
    return replace(found, title=_title(run), figures=figures, measured=_measured(run), findings=findings)


def _title(run: Run) -> str:
    name = escape_control_characters(str(run.about.get("name") or "study"))
    question = name_papers(escape_control_characters(str(run.about.get("about") or "")))
    return f"{name}: {question}" if question else f"Study {name}"


def _whose(group: TaskScores, groups: Sequence[TaskScores]) -> str:
    return group.name if len(groups) > 1 else ""


def _figures(run: Run, groups: Sequence[TaskScores], matches: Sequence[PublishedMatch]) -> Iterator[KeyFigure]:
    judged = judged_comparisons(groups)
    tested = [each for _, each, _ in judged if each.difference.p is not None]
    if tested:
        level = f"p < {LEVEL:g}{' after Holm’s correction' if len(tested) > 1 else ''}"
        for verdict, label in ((Verdict.HIGHER, "Clear gains"), (Verdict.LOWER, "Clear losses")):
            count = sum(its is verdict for *_, its in judged)
            yield KeyFigure(label=label, text=f"{count} of {len(judged)}", remark=level)
    same = [match for match in matches if match.is_same_encoder]
    distance = _median_distance(same or matches)
    if distance is not None:
        remark = f"{pluralize(len(same or matches), 'cell')}{'' if same else ', of other encoders'}"
        text = f"{format_number(100 * distance, 1)} points"
        yield KeyFigure(label="Median distance to the paper", text=text, remark=remark)
    steps = _steps(run)
    bad = steps.get("failed", 0) + steps.get("blocked", 0)
    missing = sum(steps.values()) - steps.get("done", 0) - bad
    label = "Steps failed or blocked" if bad else "Steps missing" if missing else "Steps done"
    yield KeyFigure(label=label, text=f"{bad or missing or steps.get('done', 0)} of {sum(steps.values())}")


def _steps(run: Run) -> dict[str, int]:
    steps = run.about.get("steps")
    return {str(name): int(count) for name, count in steps.items()} if isinstance(steps, Mapping) else {}


def _measured(run: Run) -> str:
    about = run.about
    nouns = [noun for noun in ("encoder", "task", "seed") if about.get(f"{noun}s")]
    counts = [pluralize(len(about[f"{noun}s"]), noun) for noun in nouns]
    source = language_name(str(about["source"]), {}) if about.get("source") and about.get("tasks") else ""
    size = f"size {escape_control_characters(str(about['size']))}" if about.get("size") else ""
    trained = f"trained in {source}" if source else ""
    records = f"{pluralize(len(run.records), 'record')} of {pluralize(_steps(run).get('done', 0), 'step')}"
    return ", ".join(part for part in (size, *counts, trained, records) if part) + "."


def _next_step(run: Run) -> str:
    steps = _steps(run)
    if steps.get("failed", 0):
        return "`interlingua study status` shows why steps failed; `interlingua study run --retry` runs them again."
    if sum(steps.values()) > steps.get("done", 0):
        return "`interlingua study run` resumes the missing steps."
    return ""


def sections(run: Run) -> list[Section]:
    """Published numbers, then the results of each task."""
    groups = task_scores(run) if run.kind == "study" else ()
    tasks: list[Finding] = []
    for group in groups[:MAX_TASKS] if len(groups) > 1 else ():
        gap = gap_finding(group, whose=group.name)
        tasks += [gap] if gap is not None else []
        tasks += regime_findings(group, whose=group.name)
    left = (f"{len(groups) - MAX_TASKS} more tasks are in the tables.",) if len(groups) > MAX_TASKS else ()
    found = [Section(name="tasks", title="Task by task", findings=tuple(tasks), text=left)] if tasks else []
    published = published_section(run)
    return [*found, *([published] if published is not None else [])]


SUBJECT = Subject(
    name="published",
    applies=lambda run: run.kind == "study" or bool(run.attachments.get("published")),
    sections=sections,
    headline=headline,
)
