"""What is concluded from attributions: verdicts and numbers of findings, cells and what stands behind them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from interlingua.analyses.explained_examples import (
    ExampleCollection,
    ExplainedExample,
    ExplainedText,
    WrongPredictions,
)
from interlingua.record import Difference, Estimate, Record, RecordTable
from interlingua.report.kit.chart import FlowChart, IntervalChart, ScatterChart, charts_of
from interlingua.report.kit.finding import Finding, Verdict
from interlingua.report.kit.page import render_page
from interlingua.report.kit.section import Run, Section
from interlingua.report.kit.table import Table
from interlingua.report.kit.terminal import console, print_report
from interlingua.report.kit.wording import format_number
from interlingua.report.report import Report, build_report, run_numbers
from interlingua.report.subjects.attribution import explained_models, judge_model
from interlingua.report.subjects.examples import make_example, select_examples
from interlingua.stats import above_draws, holm

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
CODES = ("en", "es", "ru", "hi", "zh", "ar")
CHANCE = 0.3


def consistency(code: str, value: float, **changes: Any) -> Record:
    """A record of consistency beside known controls: random 0.2, others' texts 0.1, three untrained heads."""
    random = changes.pop("random", 0.2)
    lead = round(value - random, 12)
    details = {
        "random": random,
        "above_random": changes.pop("above_random", [lead, lead - 0.01, lead + 0.01]),
        "heads": changes.pop("heads", {"consistency": [0.22, 0.23, 0.24], "above_random": [0.02, 0.03, 0.04],
                                       "error": 0.002}),
    }  # fmt: skip
    about: dict[str, Any] = {"aspect": "label", "model": "runs/clf", "task": "nli", "source": "en", "target": code,
                             "unit": "token", "block": "explain", "null_value": 0.1, "n": 100}  # fmt: skip
    own = {name: value for name, value in details.items() if value is not None}
    bounds = {"ci_low": value - 0.01, "ci_high": value + 0.01}
    return Record(
        measure="consistency", metric="consistency", value=value, details=own, **{**bounds, **about, **changes}
    )


def score(code: str, value: float, **changes: Any) -> Record:
    """A record of accuracy, above chance where it is above 0.3."""
    chance = {"level": CHANCE, "by": "always 'neutral'", "always": None, "above": value > CHANCE}
    about: dict[str, Any] = {"model": "runs/clf", "task": "nli", "source": "en", "target": code, "unit": "token",
                             "block": "explain", "n": 16}  # fmt: skip
    chance |= changes.pop("chance", {})
    bounds = {"ci_low": value - 0.05, "ci_high": value + 0.05}
    return Record(
        measure="task", metric="accuracy", value=value, details={"chance": chance}, **{**bounds, **about, **changes}
    )


def records_of(codes: tuple[str, ...] = CODES, **changes: Any) -> list[Record]:
    """A model that is well above every control in all languages, less so the later they stand."""
    records = []
    for place, code in enumerate(codes):
        records.append(consistency(code, 1.0 if code == "en" else 0.5 - 0.04 * place, **changes))
        records.append(score(code, 0.9 - 0.06 * place))
    return records


def run_of(records: list[Record], kind: str = "explain", **attachments: Any) -> Run:
    codes = list(dict.fromkeys(record.target for record in records))
    about: dict[str, Any] = {"task": "nli", "languages": codes, "data": {code: f"{code}.tsv" for code in codes}}
    return Run(kind=kind, about=about, records=RecordTable(records), attachments=attachments)


def verdict_of(records: list[Record]) -> Finding:
    (model,) = explained_models(run_of(records))
    return judge_model(model)


def charts(report: Report) -> dict[str, Any]:
    return {one.name: one for chart in report.charts() for one in charts_of(chart)}


def tables(report: Report) -> dict[str, Table]:
    return {table.name: table for table in report.tables()}


def findings(report: Report, kind: str) -> list[Finding]:
    return [finding for finding in [report.headline.answer, *report.findings()] if finding.kind == kind]


def column(table: Table, title: str) -> list[Any]:
    at = [column.title for column in table.columns].index(title)
    return [row[at] for row in table.rows]


def test_a_model_is_credited_only_where_it_is_above_untrained_heads_and_every_other_control() -> None:
    found = verdict_of(records_of())
    assert found.verdict is Verdict.HIGHER
    assert found.about["languages"] == found.about["clear"] == list(CODES[1:])
    assert found.sentence == (
        "Yes in all 5 languages, above every control: consistency 0.380, random attributions 0.200, "
        "untrained heads 0.230."
    )
    leads = [0.26, 0.22, 0.18, 0.14, 0.1]
    difference, low, high = above_draws(float(np.mean(leads)), [0.02, 0.03, 0.04], error=0.002)
    assert isinstance(found.estimate, Difference)
    assert (found.estimate.value, found.estimate.ci_low, found.estimate.ci_high) == pytest.approx(
        (difference, low, high)
    )

    def with_heads(leads: list[float] | None) -> Verdict:
        heads = (
            None if leads is None else {"consistency": [0.2 + v for v in leads], "above_random": leads, "error": 0.001}
        )
        return verdict_of(records_of(heads=heads)).verdict

    assert with_heads([0.17, 0.18, 0.175]) is Verdict.UNCLEAR
    assert with_heads([0.0, 0.1, -0.1]) is Verdict.UNCLEAR  # Heads that differ much say little.
    assert with_heads(None) is Verdict.NOT_TESTED
    # Above untrained heads that are far below random attributions, but not above random attributions themselves.
    below = {"consistency": [0.1, 0.1, 0.1], "above_random": [-0.3, -0.31, -0.29], "error": 0.001}
    assert verdict_of(records_of(random=0.6, heads=below)).verdict is Verdict.UNCLEAR
    assert verdict_of(records_of(null_value=0.9)).verdict is Verdict.UNCLEAR


def test_single_languages_are_clear_after_the_correction_over_languages_alone() -> None:
    heads = {"consistency": [0.3] * 5, "above_random": [0.0, 0.01, 0.02, 0.01, 0.005], "error": 0.001}
    records = []
    for place, code in enumerate(CODES):
        lead = 0.0 if code == "en" else 0.05 - 0.008 * place
        records += [consistency(code, 0.2 + lead, heads=heads), score(code, 0.8)]
    (model,) = explained_models(run_of(records))
    p = [lead.difference.p for lead in model.leads.values()]
    assert [lead.difference.p_adjusted for lead in model.leads.values()] == pytest.approx(holm(p))
    alone = [code for code, value in zip(model.leads, p, strict=True) if value < 0.05]
    assert set(model.clear) == {c for c, lead in model.leads.items() if lead.difference.p_adjusted < 0.05}
    assert len(model.clear) < len(alone)
    assert judge_model(model).basis.compared == len(CODES) - 1


def test_nothing_is_concluded_from_the_attributions_of_a_model_at_chance() -> None:
    always = {"above": False, "always": "neutral"}
    records = [r if r.measure != "task" else score(str(r.target), 5 / 16, chance=always) for r in records_of()]
    report = build_report([run_of(records)])
    answer = report.headline.answer
    assert answer.verdict is Verdict.AT_CHANCE
    assert answer.sentence == (
        "The model is at chance in English (5 of 16 right, chance 30.0\N{NO-BREAK SPACE}%; always 'neutral'): its "
        "attributions explain nothing."
    )
    assert set(charts(report)) == {"scores-beside-chance"}
    assert not findings(report, "same_words")
    assert not findings(report, "consistency_and_performance")
    assert all(
        cell is None for name in ("Difference", "p") for cell in column(tables(report)["consistency-languages"], name)
    )
    assert set(run_numbers(run_of(records))) == {
        f"accuracy, {name}" for name in ("Spanish", "Russian", "Hindi", "Chinese", "Arabic")
    }
    unknown = [r for r in records_of() if r.measure != "task"]
    assert verdict_of(unknown).verdict is Verdict.NOT_TESTED


def test_languages_at_chance_are_named_and_left_out_of_verdict_charts_and_correlation() -> None:
    weak = {"above": False, "always": "neutral"}
    codes = (*CODES, "de")
    records = [
        score("hi", 0.72, chance=weak) if (r.measure, r.target) == ("task", "hi") else r for r in records_of(codes)
    ]
    report = build_report([run_of(records)])
    assert report.headline.answer.about["languages"] == ["es", "ru", "zh", "ar", "de"]
    (left_out,) = findings(report, "explained_languages_at_chance")
    assert left_out.about["languages"] == ["hi"]
    assert "Hindi (12 of 16 right" in left_out.sentence
    assert {row.label for row in charts(report)["consistency-above-controls"].rows}.isdisjoint({"Hindi", "English"})
    assert len(charts(report)["consistency-and-performance"].dots) == 5
    (relation,) = findings(report, "consistency_and_performance")
    assert relation.basis.compared == 5


@pytest.mark.reliability("a sentence about words of a model at chance")
@pytest.mark.parametrize("seed", range(150))
def test_of_a_model_at_chance_nothing_is_judged_and_differences_are_those_of_the_table(seed: int) -> None:
    draw = np.random.default_rng(seed)
    codes = ["en", *draw.permutation(["es", "ru", "hi", "zh", "ar", "de"])[: draw.integers(1, 6)]]
    records, learnt = [], {}
    for code in codes:
        value, random = draw.uniform(0.1, 0.5), draw.uniform(0.1, 0.4)
        leads = draw.normal(0.03, 0.03, 3)
        heads = {"consistency": (leads + 0.2).tolist(), "above_random": leads.tolist(), "error": 0.002}
        records.append(consistency(code, value, random=random, heads=heads))
        learnt[code] = bool(draw.random() < 0.6)
        always = None if learnt[code] or draw.random() < 0.5 else "neutral"
        records.append(score(code, draw.uniform(0.3, 0.9), chance={"always": always, "above": learnt[code]}))
    report = build_report([run_of(records)])
    answer, others = report.headline.answer, [code for code in codes[1:] if learnt[code]]
    judged = tables(report)["consistency-languages"]
    screen = io.StringIO()
    print_report(report, console(screen))
    if not learnt["en"] or not others:
        assert answer.verdict is Verdict.AT_CHANCE
        assert column(judged, "Difference") == [None] * (len(codes) - 1)
        assert not {chart for chart in charts(report) if chart != "scores-beside-chance"}
        assert "Consistency per language" not in screen.getvalue()
        return
    assert answer.verdict in (Verdict.HIGHER, Verdict.UNCLEAR)
    assert answer.about["languages"] == others
    assert isinstance(answer.estimate, Difference)
    assert answer.estimate.value == pytest.approx(answer.about["lead"] - answer.about["lead_of_heads"], abs=1e-9)
    if answer.verdict is Verdict.HIGHER:
        assert (answer.estimate.ci_low or -1) > 0
    # What is drawn is what is judged: the difference to untrained heads, with its own interval.
    drawn = [
        row.estimate for row in charts(report)["consistency-above-controls"].rows if row.group == "untrained heads"
    ]
    assert drawn == [cell for cell in column(judged, "Difference") if cell is not None]
    if len(others) == 1:
        assert [estimate.value for estimate in drawn if estimate is not None] == [answer.estimate.value]


def test_the_chart_has_the_interval_of_the_difference_not_that_of_consistency() -> None:
    report = build_report([run_of(records_of())])
    chart = charts(report)["consistency-above-controls"]
    assert isinstance(chart, IntervalChart)
    first = chart.rows[0]
    assert (first.label, first.group) == ("Spanish", "random attributions")
    assert first.estimate is not None
    assert (first.estimate.value, first.estimate.ci_low, first.estimate.ci_high) == pytest.approx((0.26, 0.25, 0.27))
    assert chart.references[0].values == (0.0,)


def test_correlations_leave_out_the_source_and_equal_scipys() -> None:
    report = build_report([run_of(records_of())])
    table = tables(report)["correlation"]
    sides = [[0.5 - 0.04 * place for place in range(1, 6)], [0.9 - 0.06 * place for place in range(1, 6)]]
    without, with_source = column(table, "ρ")
    assert column(table, "Number") == [5, 6]
    assert without.value == pytest.approx(scipy_stats.spearmanr(*sides).statistic)
    assert with_source.value == pytest.approx(scipy_stats.spearmanr([1.0, *sides[0]], [0.9, *sides[1]]).statistic)
    assert len(without.records) == 10


@pytest.mark.parametrize("few", [CODES[:5], CODES])
def test_too_few_languages_or_one_number_for_all_have_no_correlation_no_dots_and_no_row(few: tuple[str, ...]) -> None:
    records = records_of(few)
    if few == CODES:
        records = [r if r.measure != "task" else score(str(r.target), 0.5) for r in records]
    report = build_report([run_of(records)])
    assert not any(isinstance(chart, ScatterChart) for chart in charts(report).values())
    assert "correlation" not in tables(report)
    assert not findings(report, "consistency_and_performance")


@pytest.mark.reliability("words and table agree")
@pytest.mark.parametrize("seed", range(20))
def test_finding_table_and_chart_have_one_coefficient(seed: int) -> None:
    draw, records = np.random.default_rng(seed), []
    for code in ["en", *"abcdefgh"[: 5 + seed % 4]]:
        records += [consistency(code, float(draw.uniform(0.2, 0.6))), score(code, float(draw.uniform(0.5, 0.9)))]
    report = build_report([run_of(records)])
    (finding,) = findings(report, "consistency_and_performance")
    chart = charts(report)["consistency-and-performance"]
    assert finding.estimate is not None
    assert column(tables(report)["correlation"], "ρ")[0].value == finding.estimate.value
    shown = f"ρ = {format_number(finding.estimate.value)}"
    assert shown in finding.sentence
    assert shown in chart.note
    low, high = finding.estimate.ci_low, finding.estimate.ci_high
    assert (chart.trend is not None) <= (low is not None and high is not None and not low <= 0 <= high)
    clear = low is not None and high is not None and not low <= 0 <= high
    assert (finding.verdict is Verdict.UNCLEAR) == (not clear or finding.about["association"]["p"] >= 0.05)


def test_of_several_models_the_first_sentence_has_each_verdict_and_the_score_of_those_at_chance() -> None:
    weak = [
        consistency(str(r.target), r.value, model="weak")
        if r.measure == "consistency"
        else score(str(r.target), 0.31, model="weak", chance={"above": False})
        for r in records_of()
    ]
    report = build_report([run_of([*records_of(), *weak])])
    answer = report.headline.answer
    assert answer.verdict is Verdict.FOUND
    assert answer.about["groups"][str(Verdict.HIGHER)] == ["clf"]
    (named,) = answer.about["groups"][str(Verdict.AT_CHANCE)]
    assert named == "weak: 5 of 16 right, chance 30.0\N{NO-BREAK SPACE}%"
    verdicts = [finding.verdict for finding in report.findings() if finding.kind in ("same_words", "model_at_chance")]
    assert verdicts == [Verdict.HIGHER, Verdict.AT_CHANCE]
    assert set(column(tables(report)["consistency"], "Model")) == {"clf", "weak"}
    assert len(charts(report)) == len({id(chart) for chart in charts(report).values()})


def test_tables_are_those_of_the_paper_with_every_control_overall_and_others() -> None:
    table = tables(build_report([run_of(records_of())]))["consistency"]
    assert [c.title for c in table.columns] == ["Source", "Attributions", *CODES, "Overall", "Others"]
    assert column(table, "Attributions") == ["consistency", "random attributions", "shuffled texts", "untrained heads"]
    own = table.rows[0]
    values = [1.0, *(0.5 - 0.04 * place for place in range(1, 6))]
    assert [cell.value for cell in own[2:8] if isinstance(cell, Estimate)] == pytest.approx(values)
    overall, others = own[8:]
    assert isinstance(overall, Estimate)
    assert isinstance(others, Estimate)
    assert (overall.value, others.value) == pytest.approx((np.mean(values), np.mean(values[1:])))
    fewer = [consistency(code, 0.4, model="other") for code in CODES if code != "hi"]
    assert tables(build_report([run_of([*records_of(), *fewer])]))["consistency"].rows[4][6] is None


def test_of_several_metrics_with_a_chance_level_the_tasks_own_one_decides() -> None:
    other = [
        Record.from_dict({**r.to_dict(), "metric": "f1", "value": 0.1}) for r in records_of() if r.measure == "task"
    ]
    run = run_of([*other, *records_of()])
    report = build_report([replace(run, about={**run.about, "metric": "accuracy"})])
    assert {cell.value for cell in column(tables(report)["performance-beside-chance"], "Score")} == {
        r.value for r in records_of() if r.measure == "task"
    }
    assert report.headline.answer.verdict is Verdict.HIGHER


def test_faithfulness_needs_every_language_above_random_attributions() -> None:
    def made(low: Mapping[str, float]) -> Report:
        own = [
            Record(
                measure="faithfulness", metric=metric, model="runs/clf", task="nli", source=code, target=code,
                value=0.3, ci_low=low.get(code, 0.25), ci_high=0.35, null_value=0.2, n=100, aspect="label",
                block="explain",
            )
            for code in CODES for metric in ("comprehensiveness", "sufficiency")
        ]  # fmt: skip
        return build_report([run_of([*records_of(), *own])])

    (faithful,) = findings(made({}), "faithfulness")
    assert (faithful.verdict, len(faithful.about["above"])) == (Verdict.HIGHER, 6)
    (unclear,) = findings(made({"hi": 0.15}), "faithfulness")
    assert (unclear.verdict, "hi" in unclear.about["above"]) == (Verdict.UNCLEAR, False)
    assert len(tables(made({}))["faithfulness"].rows) == 12


def test_choices_are_grouped_by_the_unit_that_was_tried_not_by_that_of_the_run() -> None:
    tried = [
        Record(
            measure="consistency-choices", metric="consistency", options={"unit": unit, "weighting": "absolute"},
            model="runs/clf", task="nli", source="en", target=code, value=value, null_value=0.1, n=100, aspect="label",
            block="explain", unit="token", details={"random": 0.2},
        )
        for code in CODES for unit, value in (("token", 0.4), ("word", 0.6))
    ]  # fmt: skip
    table = tables(build_report([run_of([*records_of(), *tried])]))["choices"]
    assert column(table, "Unit") == ["token", "word"]
    assert [cell.value for cell in column(table, "Consistency")] == pytest.approx([0.4, 0.6])
    assert len(column(table, "Consistency")[0].records) == 5  # Without the source, whose consistency is 1.


def test_pieces_of_words_are_not_called_words_and_printed_numbers_add_up() -> None:
    pieces, words = (build_report([run_of(records_of(unit=unit))]) for unit in ("token", "word"))
    (lead,) = findings(pieces, "lead_over_heads")
    assert lead.sentence == (
        "On similar word pieces the lead over random attributions is 0.180, that of 3 untrained heads 0.030: a "
        "difference of 0.150 (95\N{NO-BREAK SPACE}% 0.100 to 0.200)."
    )
    assert "similar words" in findings(words, "lead_over_heads")[0].sentence


# Studies: the same sections from more records.


def test_a_study_is_grouped_by_block_model_task_regime_and_source_and_seeds_are_averaged() -> None:
    draw = np.random.default_rng(3)
    records = []
    for regime in ("original", "adjusted"):
        for source in ("en", "es"):
            for code in CODES[:4]:
                for seed in (0, 1):
                    value = 1.0 if code == source else float(draw.uniform(0.3, 0.5))
                    more = {"regime": regime, "source": source, "model": "xlmr", "block": "ig", "seed": seed}
                    records += [consistency(code, value, **more), score(code, float(draw.uniform(0.5, 0.9)), **more)]
    run = run_of(records, kind="study")
    models = explained_models(run)
    assert [(m.model, m.regime, m.source) for m in models] == [
        ("xlmr", regime, source) for regime in ("original", "adjusted") for source in ("en", "es")
    ]
    assert [m.name for m in models][:2] == ["xlmr, trained in English, original", "xlmr, trained in Spanish, original"]
    own = [
        r.value for r in records if (r.measure, r.regime, r.source, r.target) == ("consistency", "original", "en", "ru")
    ]
    assert models[0].cells["ru"].estimate().value == pytest.approx(np.mean(own))
    report = build_report([run])
    verdicts = findings(report, "same_words")
    assert len(verdicts) == 4
    assert [v.about["regime"] for v in verdicts] == ["original", "original", "adjusted", "adjusted"]
    chart = next(chart for section in report.sections for chart in section.charts if section.name == "same-words")
    assert len(list(charts_of(chart))) == 4


def test_one_seed_at_chance_leaves_a_language_out() -> None:
    records = [*records_of(), *(consistency(code, 0.4, seed=1) for code in CODES)]
    records += [score(code, 0.5, seed=1, chance={"above": code != "ru"}) for code in CODES]
    (model,) = explained_models(run_of(records, kind="study"))
    assert "ru" not in model.learnt
    assert [standing.language for standing in model.weak] == ["ru"]
    assert len(run_numbers(run_of(records, kind="study"))) == 9  # Four consistencies, five scores.


# Examples.


def text(language: str, attributions: tuple[float, ...], **changes: Any) -> ExplainedText:
    units = tuple(f"{language}{place}" for place in range(len(attributions)))
    plain: dict[str, Any] = {"units": units, "side": (0,) * len(units), "attributions": attributions}
    return ExplainedText(language=language, **{**plain, **changes})


PAIR = ExplainedExample(
    key=57,
    aspect="entities",
    score=0.5,
    texts=(
        text("en", (0.1, 0.2, -0.5), words=(("Bank", 0, 2), ("closed", 2, 3)), explained="ORG: Bank", marked=(0,),
             gold="ORG Bank", predicted="ORG Bank"),
        text("es", (1.0, 0.0), explained="ORG: Banco", gold="ORG Banco", predicted="no name", row="es:57"),
    ),
    flows=((0, 0, 0.3), (1, 0, 0.3), (2, 1, 0.1)),
)  # fmt: skip


def test_pieces_add_up_to_whole_words_on_one_scale_for_both_texts() -> None:
    shown = make_example(PAIR, "1", run_of(records_of()))
    assert [(word.text, word.strength, word.marked) for word in shown.texts[0].words] == [
        ("Bank", pytest.approx(0.3), True), ("closed", pytest.approx(-0.5), False)
    ]  # fmt: skip
    assert [word.strength for word in shown.texts[1].words] == [1.0, 0.0]
    assert shown.texts[1].explained == "ORG: Banco · wrong: gold ORG Banco, predicted no name"
    assert PAIR.word_flows() == [(0, 0, pytest.approx(0.6)), (1, 1, pytest.approx(0.1))]
    report = build_report([run_of(records_of(), examples=ExampleCollection(shown=(PAIR,)))])
    chart = charts(report)["flows"]
    assert isinstance(chart, FlowChart)
    assert [word for word, _ in chart.source_words] == ["Bank", "closed"]
    assert sum(abs(share) for _, share in chart.source_words) == pytest.approx(1)
    assert [(flow.source, flow.target) for flow in chart.flows] == [(0, 0), (1, 1)]


def test_an_example_is_the_same_after_a_round_through_its_file() -> None:
    assert ExplainedExample.from_dict(PAIR.to_dict()) == PAIR
    old = {"key": 3, "score": 0.5, "source": {"units": ["a"], "side": [0], "attributions": [1.0]}, "flows": []}
    read = ExplainedExample.from_dict(old, languages=("en",))
    assert [word for word, *_ in read.texts[0].whole_words] == ["a"]
    assert read.texts[0].language == "en"


def test_wrong_predictions_come_first_and_every_pair_of_languages_has_as_many() -> None:
    def example(number: int, code: str, *, wrong: bool) -> ExplainedExample:
        answer = {"gold": "a", "predicted": "b" if wrong else "a"}
        return ExplainedExample(key=number, texts=(text("en", (1.0,)), text(code, (1.0,), **answer)))

    many = [example(n, code, wrong=n == 5) for code in ("es", "ru", "hi") for n in range(8)]
    shown = select_examples(many, 6)
    assert [each.key for each in shown[:3]] == [5, 5, 5]
    assert sorted(each.texts[1].language for each in shown) == ["es", "es", "hi", "hi", "ru", "ru"]


def test_the_first_wrong_prediction_of_transfer_is_linked_and_explained_by_the_next_step() -> None:
    counts = (
        WrongPredictions(language="en", wrong=1, total=9, first="en:2"),
        WrongPredictions(language="es", wrong=3, total=9, first="es:4"),
    )
    report = build_report([run_of(records_of(), examples=ExampleCollection(shown=(PAIR,), predictions=counts))])
    figure = next(figure for figure in report.headline.figures if figure.label == "Wrong predictions")
    assert (figure.text, figure.link) == ("4 of 18", "examples")
    assert "--test en=en.tsv --test es=es.tsv --row es:4" in report.headline.next_step
    assert [section.name for section in report.sections if section.examples] == ["examples"]
    assert 'href="#examples"' in render_page(report)


def test_hostile_names_labels_and_words_are_text_on_the_page() -> None:
    evil = ExplainedExample(
        key=HOSTILE, score=0.5,
        texts=tuple(text(code, (0.5, -1.0), units=("tea", HOSTILE), explained=HOSTILE, gold=HOSTILE,
                         predicted="\x1b[2J") for code in ("en", "es")),
        flows=((0, 1, 0.5),),
    )  # fmt: skip
    records = [
        Record.from_dict({**r.to_dict(), "model": HOSTILE, "aspect": HOSTILE} if r.measure == "consistency"
                         else {**r.to_dict(), "model": HOSTILE}) for r in records_of()
    ]  # fmt: skip
    run = run_of(records, examples=ExampleCollection(shown=(evil,), model=HOSTILE))
    page = render_page(build_report([run]))
    assert "<script>alert" not in page
    assert "<img" not in page.split("<script", 1)[0]
    assert "&lt;script&gt;" in page
    screen = io.StringIO()
    print_report(build_report([run]), console(screen))
    assert "\x1b[2J" not in screen.getvalue()


def test_sections_are_named_once_whatever_is_explained() -> None:
    aspects = [r for name in ("start", "end") for r in (consistency(c, 0.4, aspect=name) for c in CODES)]
    run = run_of([*aspects, *(score(code, 0.8) for code in CODES)])
    report = build_report([run])
    assert [finding.about["name"] for finding in findings(report, "same_words")] == ["clf, start", "clf, end"]
    sections: tuple[Section, ...] = report.sections
    assert len({section.name for section in sections}) == len(sections)
    assert len(tables(report)["performance-beside-chance"].rows) == len(CODES)
