"""Reports of pretraining and of word links: verdicts with their chance levels, curves, counts."""

from __future__ import annotations

import math

import pytest

from interlingua.commands.align import align_run
from interlingua.commands.pretrain import pretrain_run
from interlingua.report.files import report_files
from interlingua.report.kit.chart import ChartMenu, FlowChart
from interlingua.report.kit.finding import Verdict
from interlingua.report.subjects.links import SUBJECT as LINKS
from interlingua.report.subjects.training import MAX_CURVE_POINTS, SUBJECT


def entry(step, loss, *, held=None, plain=None, p=None, found=None, found_p=None):
    measured = {"step": step, "loss": loss}
    if held is not None:
        measured |= {"held_out_loss": held, "unigram_loss": plain, "unigram_p": p}
    if found is not None:
        measured |= {f"{kind}{name}": value for kind in ("raw", "centred") for name, value in
                     (("", found), ("_layer", 2), ("_chance", 0.01), ("_p", found_p))}  # fmt: skip
    return measured


def pretrained(metrics, **changes):
    training = {"architecture": "bert", "parameters": 10, "vocabulary": 100, "languages": ["en", "ru"], "steps": 9,
                "lines_of_text": {}, "tokens_of_text": {}, "finished": True, "seed": 0, "tokens_seen": 99,
                "metrics": metrics}  # fmt: skip
    return pretrain_run({"model": "a/b/small", "training": training | changes})


@pytest.mark.parametrize(
    ("last", "text", "translations", "answer"),
    [
        (entry(9, 3.0, held=3.0, plain=4.0, p=1e-4, found=0.3, found_p=1e-5), Verdict.LOWER, Verdict.HIGHER,
         "pretraining_translations"),
        (entry(9, 3.0, held=3.9, plain=4.0, p=0.2, found=0.3, found_p=1e-5), Verdict.AT_CHANCE, Verdict.HIGHER,
         "pretraining_text"),
        (entry(9, 3.0, held=4.1, plain=4.0, p=1e-4, found=0.3, found_p=1e-5), Verdict.AT_CHANCE, Verdict.HIGHER,
         "pretraining_text"),
        (entry(9, 3.0, held=3.0, plain=4.0, p=1e-4, found=0.01, found_p=0.4), Verdict.LOWER, Verdict.AT_CHANCE,
         "pretraining_translations"),
        (entry(9, 3.0), Verdict.NOT_TESTED, None, "pretraining_text"),
        (entry(9, math.log(100) + 0.1), Verdict.AT_CHANCE, None, "pretraining_text"),
    ],
)  # fmt: skip
def test_what_was_not_learnt_answers_and_every_number_has_its_chance_level(last, text, translations, answer):
    run = pretrained([last])
    head = SUBJECT.headline(run)
    found = {finding.kind: finding for finding in (head.answer, *head.findings)}
    assert found["pretraining_text"].verdict is text
    assert (found["pretraining_translations"].verdict if translations else None) is translations
    assert head.answer.kind == answer
    assert head.title == "What has small learnt of English and Russian?"
    assert all(figure.estimate.null_value is not None for figure in head.figures)
    assert ("Train longer" in head.next_step) == (head.answer.verdict is Verdict.AT_CHANCE)
    assert set(SUBJECT.numbers(run)) == {figure.label for figure in head.figures}


def test_a_run_without_a_measurement_says_so():
    assert SUBJECT.headline(pretrained([])).answer.verdict is Verdict.NOT_TESTED


def test_curves_have_chance_levels_and_few_points():
    metrics = [
        entry(at, 5 - at / 500, held=4.0, plain=4.5, p=0.01, found=at / 2000, found_p=0.01) for at in range(1, 1001)
    ]
    loss, retrieval = SUBJECT.sections(pretrained(metrics))[0].charts
    assert [reference.label for reference in loss.references] == ["word frequencies alone", "guessing evenly"]
    assert loss.references[1].values == (pytest.approx(math.log(100)),)
    assert [line.name for line in loss.lines] == ["training loss", "held-out loss"]
    assert all(len(line.x) <= MAX_CURVE_POINTS for line in (*loss.lines, *retrieval.lines))
    assert retrieval.references[0].values == (0.01,)
    assert not SUBJECT.sections(pretrained(metrics[:2]))[0].charts


def test_lines_left_out_are_a_table_where_a_rule_left_any_out():
    run = pretrained([], lines_of_text={"en": {"kept": 5, "short": 1}, "ru": {"kept": 6, "short": 0}})
    [table] = SUBJECT.sections(run)[-1].tables
    assert table.rows == (("English", 5, 1), ("Russian", 6, 0))
    assert not SUBJECT.sections(pretrained([], lines_of_text={"en": {"kept": 5}}))[-1].tables


def test_names_in_a_page_of_pretraining_act_on_nothing():
    page = report_files(pretrained([], architecture="<script>alert(1)</script>"))["report.html"]
    assert "<script>alert" not in page


PAIRS = [("one two", "eno owt"), ("two three", "owt eerht"), ("three one", "eerht eno"), ("", "x"), ("one", "eno")] * 8


@pytest.fixture(scope="module")
def aligned(tmp_path_factory):
    from interlingua import align

    gold = tmp_path_factory.mktemp("gold") / "gold"
    gold.write_text("".join({2: "0-0 1-1\n", 1: "0-0\n", 0: "\n"}[len(a.split())] for a, _ in PAIRS), "utf-8")
    return align(PAIRS, gold=gold, gold_base=0), align(PAIRS)


def test_links_are_counted_by_hand_and_drawn(aligned):
    judged, _ = aligned
    run = align_run(judged, bitext="pairs", method="diagonal")
    links = run.attachments["links"]
    words = sum(len(a.split()) for a, b in PAIRS if a)
    assert (links.lines, links.lines_without_links) == (40, 8)
    assert (links.source.words, links.target.words) == (words, words)
    linked = {
        (row, source) for row, source in zip(judged.links.row.tolist(), judged.links.source.tolist(), strict=True)
    }
    assert links.source.unlinked == words - len(linked)
    [menu] = LINKS.sections(run)[-1].charts
    assert isinstance(menu, ChartMenu)
    chart = next(iter(menu.charts.values()))
    assert isinstance(chart, FlowChart)
    assert [word for word, _ in chart.source_words] == ["one", "two"]
    assert math.fsum(flow.share for flow in chart.flows) == pytest.approx(1.0)
    assert math.fsum(share for _, share in chart.source_words) == pytest.approx(1.0)


def test_links_are_judged_against_gold_and_chance_or_not_at_all(aligned):
    judged, alone = (align_run(result, bitext="pairs", method="diagonal") for result in aligned)
    found = LINKS.headline(judged).answer
    assert found.verdict is (Verdict.AT_CHANCE if aligned[0].at_chance else Verdict.LOWER)
    assert found.estimate.value == aligned[0].quality["aer"].value
    assert found.estimate.null_value == aligned[0].quality["aer"].null
    assert [row[1].value for row in LINKS.sections(judged)[0].tables[0].rows] == [
        score.value for score in aligned[0].quality.values()]  # fmt: skip
    answer = LINKS.headline(alone).answer
    assert (answer.verdict, answer.estimate) == (Verdict.NOT_TESTED, None)
    assert {"report.html", "summary.md"} <= set(report_files(alone))
