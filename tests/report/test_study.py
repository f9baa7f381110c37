"""The report of a study: how many comparisons are clear, published numbers beside ours, and how far it came."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from interlingua.analyses.published_numbers import Published
from interlingua.record import Record
from interlingua.report.files import report_files
from interlingua.report.kit.chart import ChartMenu, ScatterChart
from interlingua.report.kit.exports import format_cell
from interlingua.report.kit.finding import Finding, Verdict
from interlingua.report.kit.section import Run
from interlingua.report.kit.table import MarkedEstimate
from interlingua.report.report import Report, build_report
from interlingua.report.subjects.published import (
    judged_comparisons,
    published_finding,
    published_matches,
    published_table,
    sign_pairs,
)
from interlingua.report.subjects.seeds import task_scores
from task_worlds import Made, hits, make_run, random_made, score_record

ENCODERS, TASKS, TESTS, REGIMES = ("small", "large"), ("nli", "paraphrase"), ("ru", "ar"), ("original", "adjusted")
ABOUT = {
    "name": "grid", "about": "Does it help?", "paper": "papers/001", "size": "tiny", "source": "en", "seeds": [0, 1, 2],
    "regimes": list(REGIMES), "encoders": list(ENCODERS), "tasks": {name: name for name in TASKS},
    "steps": {"done": 24, "failed": 0}, "permutations": 9,
}  # fmt: skip


def grid(*, apart: float = 0.1, seeds: int = 3) -> Made:
    """Scores of every encoder, task, test and regime; regimes differ by much, by little, or the other way."""
    draw, made = np.random.default_rng(4), []
    for e, encoder in enumerate(ENCODERS):
        for t, task in enumerate(TASKS):
            for place, regime in enumerate(REGIMES):
                for test in TESTS:
                    for seed in range(seeds):
                        share = 0.6 + place * apart * (1, -1, 0, 2)[2 * e + t]
                        values = hits(draw, share + 0.002 * draw.normal(), 2000)
                        made.append(
                            (
                                score_record(values, test=test, regime=regime, seed=seed, task=task, model=encoder),
                                values,
                            )
                        )
    return made


def paper_of(run: Run, *, encoder: str = "small", mark: str = "*", shift: float = 0.01) -> list[Published]:
    """Published numbers of one encoder's first task, near ours."""
    means = {
        key: np.mean([r.value for r in own])
        for key, own in run.records.where(model="small", task="nli").by("test", "regime").items()
    }
    return [
        Published(f"papers/001 Table 2, {regime}, {test}", encoder, "nli", "en", test, "accuracy", regime,
                  float(value) + shift, mark if regime == "adjusted" else "")
        for (test, regime), value in means.items()
    ]  # fmt: skip


@pytest.fixture(scope="module")
def run() -> Run:
    bare = make_run(grid(), kind="study", about=ABOUT)
    return replace(bare, attachments={"published": paper_of(bare)})


@pytest.fixture(scope="module")
def report(run: Run) -> Report:
    return build_report([run])


def one(report: Report, kind: str) -> Finding:
    headline = [report.headline.answer, *report.headline.findings]
    return next(finding for finding in headline if finding.kind == kind)


def test_the_answer_counts_what_helped_and_what_hurt_after_holm_over_all(run: Run, report: Report) -> None:
    judged = judged_comparisons(task_scores(run))
    p = sorted(each.difference.p for _, each, _ in judged)
    # Holm (1979): the k-th smallest of m is held against 0.05 / (m - k + 1), as long as those before it passed.
    passed = [value * (len(p) - k) < 0.05 for k, value in enumerate(p)]
    limit = p[passed.index(False) - 1] if False in passed else p[-1]
    signs = [each.difference.value > 0 for _, each, _ in judged if each.difference.p <= limit]
    answer = report.headline.answer
    assert (answer.kind, answer.about["compared"]) == ("comparisons", len(ENCODERS) * len(TASKS) * len(TESTS))
    assert answer.about["clear"] == len(signs)
    assert len(answer.about["helped"]) == sum(signs) > 0
    assert len(answer.about["hurt"]) == len(signs) - sum(signs) > 0
    assert answer.sentence.startswith(
        f"{len(signs)} of {len(judged)} comparisons with original are clear (p < 0.05 after Holm’s"
    )
    figures = {figure.label: figure.text for figure in report.headline.figures}
    assert figures["Clear gains"] == f"{sum(signs)} of {len(judged)}"
    assert figures["Clear losses"] == f"{len(signs) - sum(signs)} of {len(judged)}"


def test_a_lone_comparison_is_answered_by_its_task_and_has_nothing_to_correct() -> None:
    made = [(r, v) for r, v in grid() if (r.model, r.task, r.test) == ("small", "nli", "ru")]
    report = build_report([make_run(made, kind="study", about={**ABOUT, "encoders": ["small"]})])
    assert report.headline.answer.kind == "transfer"
    assert one(report, "regime").verdict is Verdict.HIGHER
    assert "Holm" not in " ".join(finding.sentence for finding in report.findings())


def test_one_seed_and_models_at_chance_decide_nothing() -> None:
    single = build_report([make_run(grid(seeds=1), kind="study", about=ABOUT)])
    assert single.headline.answer.verdict is Verdict.NOT_TESTED
    assert "None of 8 comparisons" in single.headline.answer.sentence
    assert not any("gain" in figure.label for figure in single.headline.figures)
    low = random_made(0, seeds=3, level=0.2, tests=TESTS, regimes=REGIMES)
    report = build_report([make_run(low, kind="study", about=ABOUT)])
    assert report.headline.answer.verdict is Verdict.AT_CHANCE
    assert one(report, "at_chance").verdict is Verdict.AT_CHANCE
    assert "chance level 33.3" in one(report, "at_chance").sentence
    verdicts = {finding.verdict for finding in report.findings()}
    assert not verdicts & {Verdict.HIGHER, Verdict.LOWER, Verdict.UNCLEAR}


def test_comparisons_with_a_collapsed_seed_are_counted_apart_and_over_the_others() -> None:
    lost = {("ru", "original", 1)}
    made = random_made(0, seeds=3, level=0.7, apart=0.1, collapsed=lost, tests=TESTS, regimes=REGIMES)
    run = make_run(made, kind="study", about=ABOUT, attachments={"published": []})
    about = build_report([run]).headline.answer.about
    assert about["counts"][str(Verdict.NOT_COMPARABLE)] == 1
    assert sum(about["remaining"].values()) == 1
    assert "1 has a collapsed seed" in build_report([run]).headline.answer.sentence
    [collapsed] = [each for each in build_report([run]).headline.findings if each.kind == "collapsed_seed"]
    assert collapsed.about["seeds"][0]["tests"] == ["Russian"]
    # A difference of luck has no mark beside the paper, and its sign is not counted.
    with_paper = replace(run, attachments={"published": [
        Published("papers/001 Table 2", "bert", "nli", "en", test, "accuracy", regime, 0.5, "")
        for test in TESTS for regime in REGIMES
    ]})  # fmt: skip
    matches = published_matches(with_paper)
    assert {match.published.test for match, *_ in sign_pairs(with_paper, matches)} == {"ar"}
    assert published_finding(with_paper, matches).about["silent"] == 1


def test_published_numbers_and_differences_are_dots_that_cite_their_cell(run: Run, report: Report) -> None:
    values, signs = (chart for chart in report.charts() if isinstance(chart, ScatterChart))
    paper = run.attachments["published"]
    assert len(values.dots) == len(paper)
    for dot, number in zip(values.dots, paper, strict=True):
        own = [
            r.value
            for r in run.records
            if (r.model, r.task, r.test, r.regime) == ("small", "nli", number.test, number.regime)
        ]
        assert (dot.x, dot.y) == (number.value, pytest.approx(np.mean(own)))
        assert dot.label.startswith("Efimov et al. 2023 Table 2, ")
        assert {record.value for record in dot.records} == set(own)
    assert {values.x.display, values.y.display, signs.x.display} == {"percent", "points"}
    assert len(signs.dots) == len(TESTS)
    found = one(report, "published").about
    deviations = {(s.test, s.regime): s.deviation for s in task_scores(run)[0].scores}
    assert found["within"] == sum(deviations[n.test, n.regime] >= 0.01 for n in paper)
    assert found["median_distance"] == pytest.approx(0.01)
    assert (found["signs"], found["same_signs"]) == (2, 2)


def test_the_table_beside_the_paper_has_both_marks_in_percent(run: Run) -> None:
    table = published_table(run, published_matches(run))
    ours = {(row[3], row[4]): row for row in table.rows}
    for regime in REGIMES:
        row = ours["ru", regime]
        assert isinstance(row[6], MarkedEstimate)
        assert isinstance(row[8], MarkedEstimate)
        assert row[0] == f"Efimov et al. 2023 Table 2, {regime}, ru"
        assert row[6].mark == row[8].mark == ("*" if regime == "adjusted" else "")
        assert "%" in format_cell(row[6], table, 6)


def test_numbers_of_another_encoder_are_compared_by_their_signs_alone(run: Run) -> None:
    other = replace(run, attachments={"published": paper_of(run, encoder="mbert")})
    found = published_finding(other, published_matches(other)).about
    # Without the paper's encoder ours of every encoder stand beside it.
    assert (found["cells"], found["same_encoder"], found["with_deviation"]) == (8, 0, 0)
    assert found["median_distance"] is None
    assert "compare signs" in published_finding(other, published_matches(other)).sentence


def test_published_numbers_of_a_report_that_was_written_are_those_of_the_study(run: Run) -> None:
    written = json.loads(json.dumps([vars(each) for each in run.attachments["published"]]))
    again = replace(run, attachments={"published": written})
    assert build_report([again]).to_dict() == build_report([run]).to_dict()


def test_an_unfinished_study_says_how_far_it_is_before_all_else(run: Run) -> None:
    about = {**run.about, "unfinished": "This study is not finished: 9 of 28 steps are done.",
             "steps": {"done": 9, "failed": 1, "blocked": 2, "needed": 16}}  # fmt: skip
    report = build_report([replace(run, about=about)])
    assert report.headline.answer.verdict is Verdict.UNFINISHED
    assert report.headline.answer.sentence.startswith("This study is not finished: 9 of 28 steps are done")
    [steps] = [figure for figure in report.headline.figures if "teps" in figure.label]
    assert (steps.label, steps.text) == ("Steps failed or blocked", "3 of 28")
    assert "--retry" in report.headline.next_step


def test_many_tasks_share_charts_with_a_menu_and_every_table_has_a_file_of_its_own(run: Run, report: Report) -> None:
    menus = [chart for chart in report.charts() if isinstance(chart, ChartMenu)]
    assert all(len(menu.charts) == len(ENCODERS) * len(TASKS) for menu in menus)
    assert len(menus) == 2
    names = [table.name for table in report.tables()]
    assert len(set(names)) == len(names)
    files = report_files(run)
    assert {f"tables/{name}.csv" for name in names} <= set(files)
    assert {"report.html", "summary.md", "tables/beside-the-paper.tex"} <= set(files)


def test_names_that_are_one_once_they_are_joined_lose_nothing() -> None:
    made = []
    for model in ("a b", "a-b", "a/b"):
        made += [(replace(r, model=model), v) for r, v in random_made(0, seeds=1, tests=("ru",), regimes=("original",))]
    report = build_report([make_run(made, kind="study", about=ABOUT)])
    names = [table.name for table in report.tables() if "accuracy" in table.name and "seeds" not in table.name]
    assert len(names) == len(set(names)) == 3


def test_consistencies_and_cosines_stand_beside_published_ones_as_percent() -> None:
    shared: dict[str, Any] = {"model": "small", "source": "en", "target": "ru", "n": 9, "block": "words"}
    records = [
        (Record(measure="consistency", metric="consistency", aspect="label", task="nli", regime="original", value=value,
                seed=seed, **shared), np.ones(2)) for seed, value in enumerate((0.2, 0.3))
    ]  # fmt: skip
    records += [
        (Record(measure="parallel-cosine", metric="cosine", options={"centering": "raw"}, layer=layer, value=value,
                corpus="test", state="after", trained_on="en", **shared), np.ones(2))
        for layer, value in ((1, 0.9), (2, 0.4))
    ]  # fmt: skip
    paper = [Published("papers/002 Table 1, ru", "small", "nli", "en", "ru", "consistency/label", "original", 0.2,
                       ""),
             Published("papers/003 Table 2", "small", "words", "ru", "en", "parallel-cosine/raw", "after en", 0.5,
                       "")]  # fmt: skip
    run = make_run(records, kind="study", about=ABOUT, attachments={"published": paper})
    matches = published_matches(run)
    assert [match.ours.value for match in matches] == [pytest.approx(0.25), 0.4]
    assert {column.display for column in published_table(run, matches).columns[6:9:2]} == {"percent"}


def test_names_are_no_markup_and_no_sentence_of_a_study_names_a_share_of_one(run: Run) -> None:
    about = {**ABOUT, "name": "mine <b>", "notes": ["<script>alert(1)</script>"]}
    page = report_files(replace(run, about=about))["report.html"]
    assert "<script>alert" not in page
    assert "mine <b>" not in page
    for finding in build_report([run]).findings():
        assert not re.search(r"(?<![\d.<] )\b0\.\d{3,4}\b", finding.sentence), finding.sentence
