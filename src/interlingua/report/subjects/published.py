"""A study as a whole: its answer over all comparisons, task by task, and published numbers beside ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from interlingua.analyses.published_numbers import Published, PublishedMatch, match_published
from interlingua.record import Difference
from interlingua.report.kit.chart import Axis, Dot, ScatterChart
from interlingua.report.kit.citations import name_papers
from interlingua.report.kit.finding import Basis, Finding, Verdict, sentence_of
from interlingua.report.kit.section import Headline, KeyFigure, Run, Section, Subject
from interlingua.report.kit.table import Cell, Column, MarkedEstimate, Table, columns_of, group_by
from interlingua.report.kit.wording import Display, format_number, join_with_and, language_name, pluralize
from interlingua.report.subjects.seeds import (
    CLEAR,
    SILENT,
    Comparison,
    TaskScores,
    basis_of,
    compare,
    judge_p,
    level_text,
    mark_of,
    metric_of,
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
_WITHOUT_VERDICT = {
    Verdict.NOT_TESTED: ("is not tested over seeds", "are not tested over seeds"),
    Verdict.AT_CHANCE: ("is of models at chance", "are of models at chance"),
    Verdict.NOT_COMPARABLE: ("has a collapsed seed", "have a collapsed seed"),
}


# All comparisons of a study.


def judged_comparisons(groups: Sequence[TaskScores]) -> list[tuple[TaskScores, Comparison, Verdict]]:
    """All comparisons of main scores with their base, judged after Holm's correction over all that were tested."""
    every = [(group, each) for group in groups for each in group.comparisons]
    corrected = iter(holm([each.difference.p for _, each in every if each.difference.p is not None]))
    judged = []
    for group, each in every:
        p = next(corrected) if each.is_tested else None
        judged.append((group, each, each.verdict if each.verdict in SILENT else judge_p(each.difference, p)))
    return judged


def _remaining(comparisons: Iterable[Comparison]) -> Counter[str]:
    """Verdicts over the seeds in which both sides learned, of comparisons with a collapsed one, corrected together."""
    rest = [each.remaining for each in comparisons if each.verdict is Verdict.NOT_COMPARABLE]
    known = [each for each in rest if each is not None]
    corrected = iter(holm([each.p for each in known if each.p is not None]))
    return Counter(judge_p(each, None if each.p is None else next(corrected)) for each in known)


def comparison_finding(groups: Sequence[TaskScores]) -> Finding:
    """How many comparisons are clear: where a regime helps and where it hurts."""
    judged = judged_comparisons(groups)
    counts = Counter(verdict for *_, verdict in judged)
    places: dict[Verdict, list[dict[str, Any]]] = {verdict: [] for verdict in Verdict}
    for group, each, verdict in judged:
        task = f"{group.task} {group.model_name}, " if len(groups) > 1 else ""
        place = f"{task}{title_of_test(each.score)}"
        places[verdict].append({"regime": each.score.regime, "place": place, "difference": each.difference.value})
    clear = sum(counts[verdict] for verdict in CLEAR)
    if clear:
        verdict = next((verdict for verdict in CLEAR if counts[verdict] == clear), Verdict.FOUND)
    elif counts[Verdict.UNCLEAR]:
        verdict = Verdict.UNCLEAR
    else:
        verdict = next((each for each in _WITHOUT_VERDICT if counts[each] == len(judged)), Verdict.NOT_COMPARABLE)
    tested = sum(each.is_tested for _, each, _ in judged)
    return Finding(
        kind="comparisons",
        verdict=verdict,
        about={
            "compared": len(judged),
            "clear": clear,
            "counts": counts,
            "helped": places[Verdict.HIGHER],
            "hurt": places[Verdict.LOWER],
            "bases": list(dict.fromkeys(each.base.regime for _, each, _ in judged)),
            "remaining": _remaining(each for _, each, _ in judged),
        },
        basis=basis_of(tested, compared=len(judged), untested="examples"),
    )


@sentence_of("comparisons", topic="Comparisons")
def _comparisons(finding: Finding) -> str:
    about = finding.about
    counts: Mapping[str, int] = about["counts"]
    bases: Sequence[str] = about["bases"]
    compared = f"{pluralize(about['compared'], 'comparison')} with "
    compared += bases[0] if len(bases) == 1 else "the base of their test"
    known = [(counts.get(verdict, 0), text) for verdict, text in _WITHOUT_VERDICT.items()]
    apart = join_with_and([f"{count} {text[count > 1]}" for count, text in known if count])
    remaining: Mapping[str, int] = about["remaining"]
    over_others = [f"{count} {verdict.replace('unclear', 'not clear')}" for verdict, count in remaining.items()]
    rest = f" Over the seeds in which both sides learned, of these {join_with_and(over_others)}." if over_others else ""
    if finding.verdict in _WITHOUT_VERDICT:
        return f"None of {compared} can be judged: {apart}.{rest}"
    parts = [_describe_clear(about[name], verb) for name, verb in (("helped", "helps"), ("hurt", "hurts"))]
    found = "; ".join(part for part in parts if part)
    said = (
        f"{about['clear']} of {compared} {'is' if about['clear'] == 1 else 'are'} clear ({level_text(finding.basis)})"
    )
    others = f" Nothing can be said of others: {apart}." if apart else ""
    return f"{said}{': ' + found if found else ''}.{others}{rest}"


def _describe_clear(found: Sequence[Mapping[str, Any]], verb: str) -> str:
    """Where regimes help or hurt: in how many tests, and the three largest differences."""
    regimes = {each["regime"] for each in found}
    top = sorted(found, key=lambda each: -abs(each["difference"]))[:3]
    named = [
        f"{each['place']}{', ' + each['regime'] if len(regimes) > 1 else ''} "
        f"{'+' if each['difference'] > 0 else ''}{format_number(100 * each['difference'], 1)}"
        for each in top
    ]
    regime = regime_title(regimes.pop()) if len(regimes) == 1 else "a regime"
    most = "most: " if len(found) > len(top) else ""
    return f"{regime} {verb} in {len(found)} ({most}{'; '.join(named)} points)" if found else ""


# Published numbers.


def published_matches(run: Run) -> list[PublishedMatch]:
    """Published numbers with ours; none where the study names no paper's."""
    given: Sequence[Any] = run.attachments.get("published") or ()
    paper = [each if isinstance(each, Published) else Published(**each) for each in given]
    if not paper:
        return []
    return match_published([score for group in task_scores(run) for score in group.scores], run.records, paper)


def _comparisons_by_cell(run: Run) -> dict[tuple[str, ...], list[Comparison]]:
    """All comparisons of all metrics by encoder, task, source, test, metric and regime."""
    scores = [group.of_metric(metric) for group in task_scores(run)
              for metric in dict.fromkeys(score.metric for score in group.scores)]  # fmt: skip
    return group_by(
        (comparison for of_metric in scores for comparison in compare(of_metric)),
        lambda each: (each.score.model, str(each.score.task), str(each.score.source), each.score.test,
                      each.score.metric, each.score.regime),
    )  # fmt: skip


def _silent_matches(run: Run, matches: Sequence[PublishedMatch]) -> list[PublishedMatch]:
    """Whose comparison with the original says nothing: a seed is collapsed, or neither side is above chance."""
    comparisons = _comparisons_by_cell(run)

    def is_silent(match: PublishedMatch) -> bool:
        found = comparisons.get((match.encoder, *match.published.cell), ())
        return any(each.verdict in SILENT for each in found if each.base.regime == "original")

    return [match for match in matches if is_silent(match)]


def sign_pairs(run: Run, matches: Sequence[PublishedMatch]) -> list[tuple[PublishedMatch, float, float]]:
    """A paper's and our differences to the original, of each regime; ours that say nothing are left out."""

    def cell_of(match: PublishedMatch) -> tuple[str, ...]:
        return match.published.encoder, match.encoder, *match.published.cell[:-1]

    originals = {cell_of(match): match for match in matches if match.published.regime == "original"}
    silent = _silent_matches(run, matches)
    pairs = []
    for match in matches:
        base = originals.get(cell_of(match))
        if base is not None and base is not match and match not in silent:
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
    about = {
        "paper": _paper(run),
        "cells": len(matches),
        "same_encoder": len(same),
        "with_deviation": len(spread),
        "within": sum(abs(match.ours.value - match.published.value) <= deviation for match, deviation in spread),
        "median_distance": _median_distance(same),
        "signs": len(pairs),
        "same_signs": sum(theirs * ours > 0 for _, theirs, ours in pairs),
        "silent": len(_silent_matches(run, matches)),
    }
    return Finding(kind="published", verdict=Verdict.FOUND, about=about, basis=Basis(over="seeds"))


def _median_distance(matches: Sequence[PublishedMatch]) -> float | None:
    return median(abs(match.ours.value - match.published.value) for match in matches) if matches else None


def _paper(run: Run) -> str:
    return name_papers(str(run.about.get("paper") or "the paper"))


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
        signs = f"{about['same_signs']} of {about['signs']}"
        parts.append(f"Our differences to the original have the paper’s sign in {signs} cases.")
    if about["silent"]:
        parts.append(
            f"{about['silent']} of our differences cannot be judged: a seed collapsed, or both sides are at chance."
        )
    if cells > same:
        parts.append(f"{cells - same} are of another encoder than the paper’s: compare signs there, not values.")
    return " ".join(parts)


def published_section(run: Run) -> Section | None:
    """The paper's numbers against ours, and its differences to the original against ours."""
    matches = published_matches(run)
    if not matches:
        return None
    values = [(match, _series(match), match.published.value, match.ours.value) for match in matches]
    signs = [(match, match.published.regime, theirs, ours) for match, theirs, ours in sign_pairs(run, matches)]
    charts = [
        _scatter_chart(
            values,
            name="published-values",
            title="Published numbers and ours",
            note="One dot per cell of the paper’s tables. On the diagonal both are the same.",
            axis="",
            display="percent",
        )
    ]
    if signs:
        charts.append(
            _scatter_chart(
                signs,
                name="published-differences",
                title="Differences to the original",
                note="Each regime less the original. Above right and below left of 0 the signs are the same.",
                axis=": difference to the original",
                display="points",
            )
        )
    return Section(
        name="published",
        title=f"Beside {_paper(run)}",
        findings=(published_finding(run, matches),),
        text=("Point at a dot for the table and cell of the paper.",),
        charts=tuple(charts),
        tables=(published_table(run, matches),),
    )


def _series(match: PublishedMatch) -> str:
    task = match.published.task
    return task if match.score is None else f"{task}, {metric_of(match.score).title}"


def _scatter_chart(
    pairs: Sequence[tuple[PublishedMatch, str, float, float]],
    *,
    name: str,
    title: str,
    note: str,
    axis: str,
    display: Display,
) -> ScatterChart:
    """The paper's values against ours, one dot per match in the colour of its group."""
    groups = list(dict.fromkeys(group for _, group, *_ in pairs))
    dots = [
        Dot(label=name_papers(f"{match.published.cite} ({match.published.encoder})"), x=theirs, y=ours,
            records=match.ours.records, color=groups.index(group), detail=f"ours: {match.encoder}")
        for match, group, theirs, ours in pairs
    ]  # fmt: skip
    return ScatterChart(
        name=name,
        title=title,
        note=note,
        x=Axis(title=f"the paper{axis}", display=display),
        y=Axis(title=f"ours{axis}", display=display),
        dots=tuple(dots),
        groups=tuple(groups),
        labels=False,
        diagonal=True,
    )


def published_table(run: Run, matches: Sequence[PublishedMatch]) -> Table:
    """One row per published number, with ours and both marks."""
    comparisons = _comparisons_by_cell(run)
    rows: list[tuple[Cell, ...]] = []
    for match in matches:
        paper = match.published
        # The longest mark of comparisons that can be judged, by the paper's own test.
        marks = [
            mark_of(each.score, each.base.regime)
            for each in comparisons.get((match.encoder, *paper.cell), ())
            if each.verdict not in SILENT
            and each.difference.p_published is not None
            and each.difference.p_published < LEVEL
        ]
        ours = MarkedEstimate(
            value=match.ours.value,
            n=match.ours.n,
            records=match.ours.records,
            deviation=None if match.score is None else match.score.deviation,
            mark=max(marks, key=len, default=""),
        )
        names = map(name_papers, (paper.cite, paper.task, paper.source, paper.test, paper.regime, paper.metric))
        theirs = MarkedEstimate(value=paper.value, mark=paper.mark)
        apart = Difference(value=match.ours.value - paper.value, records=match.ours.records)
        rows.append((*names, theirs, paper.encoder, ours, match.encoder, apart))
    return Table(
        name="beside-the-paper",
        title=f"{_paper(run)} and ours",
        columns=columns_of(
            "Where",
            "Task",
            "Source",
            "Test",
            "Regime",
            "Metric",
            Column(title="Paper", display="percent"),
            "Its encoder",
            Column(title="Ours", display="percent"),
            "Our encoder",
            Column(title="Ours − paper", display="points"),
        ),
        rows=tuple(rows),
        note="± is the standard deviation over our seeds. * differs from original, ** from adjusted (p < 0.05): the "
        "paper’s marks, and ours by the paper’s own tests, which hold the seeds fixed and are not corrected; the "
        "tables of scores have tests over seeds. Where the encoders differ, compare signs of differences, not values.",
    )


# The first screen and the sections.


def headline(run: Run) -> Headline | None:
    """The first screen of a study: of its comparisons, else of the first other subject that answers."""
    if run.kind != "study":
        return None
    groups, matches = task_scores(run), published_matches(run)
    if not groups:
        return _headline_of_others(run, matches)
    compared = sum(len(group.comparisons) for group in groups)
    named = [(group, group.name if len(groups) > 1 else "") for group in groups]
    failures = [finding for group, name in named for finding in training_findings(group, whose=name)]
    gaps = [gap for group, name in named if (gap := gap_finding(group, whose=name)) is not None]
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
    name = run.about.get("name") or "study"
    question = name_papers(str(run.about.get("about") or ""))
    return f"{name}: {question}" if question else f"Study {name}"


def _figures(run: Run, groups: Sequence[TaskScores], matches: Sequence[PublishedMatch]) -> Iterator[KeyFigure]:
    judged = judged_comparisons(groups)
    tested = sum(each.is_tested for _, each, _ in judged)
    if tested:
        level = level_text(basis_of(tested, compared=len(judged), untested=""))
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
    size = f"size {about['size']}" if about.get("size") else ""
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
    found: list[Section | None] = []
    if len(groups) > 1:
        findings = [
            finding
            for group in groups[:MAX_TASKS]
            for finding in (gap_finding(group, whose=group.name), *regime_findings(group, whose=group.name))
            if finding is not None
        ]
        left = (f"{len(groups) - MAX_TASKS} more tasks are in the tables.",) if len(groups) > MAX_TASKS else ()
        found.append(Section(name="tasks", title="Task by task", findings=tuple(findings), text=left))
    found.append(published_section(run))
    return [section for section in found if section is not None]


SUBJECT = Subject(
    name="published",
    applies=lambda run: run.kind == "study" or bool(run.attachments.get("published")),
    sections=sections,
    headline=headline,
)
