"""Reports of adjustments: verdicts, the first screen, cells and their records, charts on comparable scales."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adjustments import run_of, word_distances
from interlingua.analyses.state_comparison import ADJUSTED, HELD_OUT, ORIGINAL, SAMPLER, adjustment_effects, weakest
from interlingua.record import Difference, Estimate, Record, RecordTable
from interlingua.report.files import report_files
from interlingua.report.kit.chart import ChartMenu, HistogramChart, IntervalChart, LineChart
from interlingua.report.kit.finding import Verdict
from interlingua.report.kit.table import cell_records
from interlingua.report.kit.wording import format_share
from interlingua.report.report import build_report
from interlingua.report.subjects.adjustment import SUBJECT, separation_section

BETTER = ({HELD_OUT: [0.3, 0.4], SAMPLER: [0.2, 0.2]}, {HELD_OUT: [0.3, 0.7], SAMPLER: [0.2, 0.6]})
UNCLEAR = ({HELD_OUT: [0.3, 0.4], SAMPLER: [0.2, 0.2]}, {HELD_OUT: [0.3, 0.7], SAMPLER: [0.2, 0.2]})
WORSE = ({HELD_OUT: [0.3, 0.4], SAMPLER: [0.2, 0.6]}, {HELD_OUT: [0.3, 0.7], SAMPLER: [0.2, 0.2]})


def answer_of(run):
    return SUBJECT.headline(run).answer


def section_of(run, name):
    return next(section for section in SUBJECT.sections(run) if section.name == name)


def charts_in(section):
    return [
        one for chart in section.charts for one in (chart.charts.values() if isinstance(chart, ChartMenu) else [chart])
    ]


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        (BETTER, Verdict.HIGHER),
        (UNCLEAR, Verdict.UNCLEAR),
        (WORSE, Verdict.LOWER),
        (tuple({HELD_OUT: side[HELD_OUT]} for side in BETTER), Verdict.NOT_TESTED),
        (({HELD_OUT: [0.004, 0.004]}, {HELD_OUT: [0.004, 0.004]}), Verdict.AT_CHANCE),
        ((BETTER[0], None), Verdict.UNFINISHED),
    ],
)
def test_the_answer_is_the_verdict_of_the_weakest_comparison(shares, verdict):
    run = run_of(*shares)
    finding = answer_of(run)
    assert (finding.kind, finding.verdict, finding.about["language"]) == ("adjustment", verdict, "ru")
    assert ("helped Russian" in finding.sentence) == (verdict in (Verdict.HIGHER, Verdict.UNCLEAR, Verdict.NOT_TESTED))
    if verdict not in (Verdict.AT_CHANCE, Verdict.UNFINISHED):
        [effect] = adjustment_effects(run.records, run.items)
        change = effect.best_change()
        assert finding.estimate == change.difference
        assert finding.compared_with == change.before
        assert finding.about["weakest"]["p_adjusted"] == weakest(effect.comparisons).difference.p_adjusted
        assert finding.basis.correction == "Holm"
        assert finding.basis.compared == len(effect.comparisons)
        assert format_share(change.before.value) in finding.sentence


def test_the_first_screen_says_what_was_asked_how_much_was_measured_and_what_to_do():
    head = SUBJECT.headline(run_of(*BETTER))
    assert head.title == "Did adjusting m on 9 sentence pairs help Russian?"
    assert [figure.label.split(" (")[0] for figure in head.figures] == [
        "Retrieval accuracy", "Translation nearer than an unrelated word", "Weakest comparison"]  # fmt: skip
    assert all(isinstance(figure.estimate, Estimate) for figure in head.figures)
    assert "200 held-out sentences and 200 sentences of the embedded sampler" in head.measured
    assert "`interlingua audit out --languages en,ru`" in head.next_step
    assert "transfer" not in SUBJECT.headline(run_of(*WORSE)).next_step


def test_of_several_languages_each_has_its_finding_and_the_worst_verdict_leads():
    run = run_of(*BETTER, languages=("ru", "hi"))
    other = run_of(*WORSE, languages=("es",))
    records = [
        replace(record, items=None if record.items is None else f"es {record.items}") for record in other.records
    ]
    both = replace(
        run,
        records=RecordTable([*run.records, *records]),
        items=lambda record: (
            other.items(replace(record, items=record.items[3:]))
            if record.items.startswith("es ")
            else run.items(record)
        ),
    )
    head = SUBJECT.headline(both)
    assert head.answer.verdict is Verdict.LOWER
    assert [(each.about["language"], each.verdict) for each in head.findings] == [
        ("ru", Verdict.HIGHER), ("hi", Verdict.HIGHER), ("es", Verdict.LOWER)]  # fmt: skip
    assert [(name, said) for name, said in head.answer.about["languages"]] == [
        ("Russian", "higher"), ("Hindi", "higher"), ("Spanish", "lower")]  # fmt: skip


@pytest.mark.reliability("a verdict on one kind of text")
def test_a_text_that_was_not_measured_and_states_at_chance_are_findings_of_their_own():
    kinds = {finding.kind: finding for finding in section_of(run_of(*BETTER), "before-and-after").findings}
    assert set(kinds) == {"adjustment_weakest", "adjustment_words"}
    alone = run_of({HELD_OUT: [0.004, 0.004]}, {HELD_OUT: [0.004, 0.4]})
    found = {finding.kind: finding for finding in section_of(alone, "before-and-after").findings}
    assert found["adjustment_other_text"].verdict is Verdict.NOT_TESTED
    assert (found["adjustment_at_chance"].about["text"], found["adjustment_at_chance"].about["states"]) == (
        HELD_OUT, [ORIGINAL])  # fmt: skip
    assert answer_of(alone).verdict is Verdict.NOT_TESTED


@pytest.mark.reliability("words and table agree")
@pytest.mark.parametrize("shares", [BETTER, UNCLEAR, WORSE])
def test_tables_have_every_comparison_with_its_records_and_no_language_is_called_translation(shares):
    run = run_of(*shares)
    [effect] = adjustment_effects(run.records, run.items)
    [best], [adjusted] = (section_of(run, name).tables for name in ("before-and-after", "differences"))
    rows = {best.name: best.rows, adjusted.name: adjusted.rows}
    assert [len(each) for each in rows.values()] == [8, 8]
    cells = [row[:7] for table in rows.values() for row in table]
    compared = sorted(effect.comparisons, key=lambda each: not each.best_layer)  # Best layers first, texts within.
    assert [(row[5].value, row[6]) for row in cells] == [(each.difference.value, each.change) for each in compared]
    for row, each in zip(cells, compared, strict=True):
        assert row[0] == {"en": "English → Russian", "ru": "Russian → English"}[each.source]
        assert [record.state for cell in row[3:5] for record in cell_records(cell)] == [ORIGINAL, ADJUSTED]
        assert len(cell_records(row[5])) == 2
    assert {row[8] for row in best.rows} == {f"{a} → {b}" for a, b in {each.layers for each in compared[:8]}}
    assert "translation →" not in str(rows)


def test_differences_are_drawn_with_their_interval_around_no_difference():
    run = run_of(*UNCLEAR)
    [chart] = section_of(run, "differences").charts
    assert isinstance(chart, IntervalChart)
    assert (chart.references[0].label, chart.references[0].values) == ("no difference", (0.0,))
    assert [row.estimate for row in chart.rows] == [
        row[5] for row in section_of(run, "before-and-after").tables[0].rows
    ]
    assert {row.group for row in chart.rows} == {"held-out sentences", "embedded sampler"}


def test_layer_curves_have_both_states_chance_and_each_own_best_layer():
    menu, differences = section_of(run_of({HELD_OUT: [0.7, 0.2]}, {HELD_OUT: [0.2, 0.7]}), "adjustment-by-layer").charts
    for chart in menu.charts.values():
        assert isinstance(chart, LineChart)
        before, after = chart.lines
        assert (before.dashed, after.dashed) == (True, False)
        assert (before.best, after.best) == (0, 1)
        assert chart.references[0].values == pytest.approx((1 / 200,))
        assert chart.y.display == "percent"
    for chart in differences.charts.values():
        assert all(isinstance(value, Difference) and value.ci_low < value.value for value in chart.lines[0].y)
        assert chart.references[0].values == (0.0,)
    flat = section_of(run_of({HELD_OUT: [0.5, 0.5]}, {HELD_OUT: [0.5, 0.5]}), "adjustment-by-layer")
    assert {line.best for chart in charts_in(flat)[:2] for line in chart.lines} == {None}


def test_histograms_have_one_area_and_the_scale_of_their_states_unrelated_words():
    run = run_of(*BETTER)
    section = section_of(run, "words")
    [chart] = section.charts
    assert isinstance(chart, HistogramChart)
    assert [row.side.value for row in chart.rows] == pytest.approx([0.8, 0.9])
    for row in chart.rows:
        assert [sum(each.counts) for each in row.histograms] == pytest.approx([1.0, 1.0])
    # Edges end at 3, and unrelated words lie at 2 on average: the axis ends at 1.5 of that.
    assert chart.x.high == pytest.approx(1.5)
    centers = (np.arange(len(chart.rows[0].histograms[0].counts)) + 0.5) * chart.x.high / 60
    related, unrelated = (np.dot(each.counts, centers) for each in chart.rows[0].histograms)
    assert (related, unrelated) == pytest.approx(((6 * 0.5 + 3 * 1.5) / 9 / 2, (3 * 1.5 + 6 * 2.5) / 9 / 2))
    [table] = section.tables
    assert [(row[0], row[1], row[2].value, row[4]) for row in table.rows] == [
        ("Russian", "before adjustment", 0.8, 2.5), ("Russian", "after adjustment", 0.8, 2.5)]  # fmt: skip


def test_distances_of_transfers_are_shown_by_state_with_means_over_seeds():
    records: list[Record] = []
    for seed, auc in ((0, 0.6), (1, 0.8)):
        for state, shift in (("untouched", 0.0), ("original", 0.05), ("adjusted", 0.1)):
            shared = Record(
                measure="distances", model="m", source="en", target="ru", state=state, seed=seed, task="ner"
            )
            records += word_distances(shared, auc + shift, measure="distances")
    section = separation_section(RecordTable(records), {}, names={"original": "original", "adjusted": "adjusted"})
    [table] = section.tables
    assert [row[1] for row in table.rows] == ["original model", "original", "adjusted"]
    means = [row[5] for row in table.rows]
    assert [each.value for each in means] == pytest.approx([0.7, 0.75, 0.8])
    assert all(len(each.records) == 2 and each.ci_low < 0.1 for each in means)  # Student's, of two seeds.
    [chart] = section.charts
    assert [row.side.value for row in chart.rows] == pytest.approx([0.7, 0.75, 0.8])
    assert separation_section(RecordTable([]), {}) is None


def test_seeds_of_a_study_are_tested_one_by_one_and_their_mean_is_not():
    run = run_of(*BETTER, seeds=(0, 1, 2), kind="study")
    finding = answer_of(run)
    assert (finding.verdict, finding.about["seeds"], finding.about["compared"]) == (Verdict.HIGHER, 3, 48)
    assert finding.estimate.ci_low is None
    [best] = section_of(run, "before-and-after").tables
    assert {row[6] for row in best.rows} == {"higher in 3 of 3 seeds"}
    assert all(len(cell_records(row[3])) == 3 and row[7] is None for row in best.rows)
    task = Record(measure="nli", metric="accuracy", model="m", regime="original", test="ru")
    assert SUBJECT.headline(replace(run, records=RecordTable([*run.records, task]))) is None


def test_without_items_nothing_is_called_higher():
    run = run_of(*BETTER, items=False)
    finding = answer_of(run)
    assert finding.verdict is Verdict.NOT_TESTED
    assert "not tested" in finding.sentence
    assert {row[6] for row in section_of(run, "before-and-after").tables[0].rows} == {"not tested"}


def test_what_stayed_the_same_is_neither_better_nor_worse():
    run = run_of(*BETTER)
    same = [record for record in run.records if record.state == ORIGINAL]
    after = [replace(record, state=ADJUSTED) for record in same]
    run = replace(run, records=RecordTable([*same, *after]))
    finding = answer_of(run)
    assert (finding.verdict, finding.estimate.value, finding.about["unclear"]) == (Verdict.UNCLEAR, 0.0, 16)
    assert "every sentence as before" in finding.sentence


@pytest.mark.parametrize(("auc", "verdict"), [(0.8, "unclear"), (0.9, "higher"), (0.7, "lower")])
def test_distances_alone_are_no_verdict_and_the_area_under_the_curve_is(auc, verdict):
    run = run_of(*BETTER)
    kept = [record for record in run.records if record.measure != "separation"]
    shared = next(record for record in kept if record.state == ADJUSTED and record.source == "en")
    words = [*word_distances(replace(shared, state=ORIGINAL), 0.8), *word_distances(shared, auc)]
    # The whole space shrinks to a third: every distance falls, and nothing else moves.
    shrunk = {True: 1 / 3, False: 1.0}
    words = [replace(record, value=record.value * shrunk[record.metric == "distance" and record.state == ADJUSTED])
             for record in words]  # fmt: skip
    findings = section_of(replace(run, records=RecordTable([*kept, *words])), "before-and-after").findings
    assert [str(finding.verdict) for finding in findings if finding.kind == "adjustment_words"] == [verdict]


def test_an_unfinished_run_shows_what_there_is():
    run = run_of(BETTER[0], None, unfinished="2 of 5 steps are done.")
    report = build_report([run])
    assert report.headline.answer.verdict is Verdict.UNFINISHED
    assert {section.name for section in SUBJECT.sections(run)} == {"words", "adjustment-data"}
    assert len(SUBJECT.numbers(run)) == 1


def test_training_curves_and_the_shift_of_the_source_language_come_from_the_steps():
    steps = [{"step": at, "adjustment": 4.0 / at, "anchor": 0.01 * at, "rate": 1.0} for at in range(1, 501)]
    run = run_of(*BETTER, settings={"reduction": "mean"})
    run = replace(run, attachments={"curves": steps})
    [chart] = section_of(run, "adjustment-training").charts
    assert [len(line.x) for line in chart.lines] == [167, 167]
    assert chart.lines[1].y[-1].value == pytest.approx(np.mean([0.01 * at for at in (499, 500)]))
    [shift] = [figure for figure in SUBJECT.headline(run).figures if figure.label.startswith("Shift of English")]
    moved = np.sqrt(np.mean([line["anchor"] for line in steps[-50:]]) / 4.0)
    assert shift.text == format_share(float(moved))
    summed = replace(run, about={**run.about, "settings": {"reduction": "sum"}})
    assert not [figure for figure in SUBJECT.headline(summed).figures if figure.label.startswith("Shift")]


def test_numbers_of_a_comparison_are_both_states_at_the_adjusted_layer():
    run = run_of(*BETTER)
    found = SUBJECT.numbers(run)
    [effect] = adjustment_effects(run.records, run.items)
    assert [each.value for each in found.values()] == [
        effect.estimate(state, HELD_OUT, "centred", 1).value for state in (ADJUSTED, ORIGINAL)]  # fmt: skip
    # What one training gave says nothing of other seeds.
    assert [each.trained_seeds for each in found.values()] == [1, None]


def test_files_are_complete_and_fetch_nothing():
    files = report_files(run_of(*BETTER))
    assert {"report.html", "summary.md", "tables/adjustment.csv", "tables/words-distances.tex"} <= set(files)
    assert not re.search(r'(?:src|href)="(?!#|data:)', files["report.html"])


HOSTILE = '</script><script>alert("x")</script>\N{RIGHT-TO-LEFT OVERRIDE}'


def test_names_of_users_act_on_nothing():
    run = run_of(*BETTER, out=HOSTILE, names={"ru": HOSTILE})
    training: dict[str, Any] = dict(run.about["training"])
    training["languages"]["ru"]["notes"] = [HOSTILE]
    files = report_files(replace(run, about={**run.about, "training": training}))
    assert "<script>alert" not in files["report.html"]
    assert all("\N{RIGHT-TO-LEFT OVERRIDE}" not in text for text in files.values())
