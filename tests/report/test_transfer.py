"""What the report of a transfer claims, over random records: no more than its table, its tests and its seeds."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.record import Record, RecordTable
from interlingua.report.kit.chart import IntervalChart
from interlingua.report.kit.exports import format_cell, to_csv, to_markdown
from interlingua.report.kit.finding import Finding, Verdict
from interlingua.report.kit.section import Run
from interlingua.report.kit.table import Column, MarkedEstimate, Table, cell_records
from interlingua.report.kit.wording import format_value
from interlingua.report.report import build_report
from interlingua.report.subjects import seeds, transfer
from interlingua.report.subjects.seeds import (
    compare,
    difference_table,
    marked_scores,
    score_table,
    seed_table,
    task_scores,
)
from interlingua.report.subjects.transfer import effect_findings, training_findings, uncertainty_finding
from task_worlds import CHANCE, REGIMES, TESTS, counts, hits, make_run, random_made, score_record

CLEAR = (Verdict.HIGHER, Verdict.LOWER)
worlds = {
    "seed": st.integers(0, 10**6),
    "kind": st.sampled_from(["accuracy", "f1"]),
    "seeds": st.integers(1, 4),
    "apart": st.sampled_from([-0.12, 0.0, 0.02, 0.12]),
    "level": st.sampled_from([CHANCE, 0.45, 0.6]),
}


def findings(run: Run, kind: str) -> list[Finding]:
    return [finding for finding in build_report([run]).findings() if finding.kind == kind]


def answer(run: Run) -> Finding:
    return build_report([run]).headline.answer


def means(run: Run) -> dict[tuple[str, str], float]:
    """What the records say, by regime and test."""
    groups = run.records.by("regime", "test")
    return {key: float(np.mean([record.value for record in own])) for key, own in groups.items()}


@settings(max_examples=40, deadline=None, derandomize=True)
@given(**worlds)
@pytest.mark.reliability("a difference in words is that of its table")
def test_a_difference_is_that_of_the_table_and_of_its_means_and_has_the_sign_of_its_verdict(
    seed: int, kind: str, seeds: int, apart: float, level: float
) -> None:
    run = make_run(random_made(seed, kind=kind, seeds=seeds, apart=apart, level=level))
    [group] = task_scores(run)
    table, mean = difference_table(group, group.metrics[0]), means(run)
    assert table is not None
    cells = {(row[0], row[1], row[2]): row[4] for row in table.rows if "without" not in str(row[5])}
    effects = [finding for finding in effect_findings(group) if finding.kind == "regime_effect"]
    assert len(effects) == 2 * len(TESTS)
    for finding in effects:
        about, difference = finding.about, finding.estimate
        assert difference is cells[about["title"], about["regime"], about["base"]]
        key = (about["regime"], about["test"])
        assert difference.value == pytest.approx(mean[key] - mean[about["base"], about["test"]])
        assert format_value(difference.value, "points") in finding.sentence
        if finding.verdict in CLEAR:
            assert (difference.value > 0) == (finding.verdict is Verdict.HIGHER)
            assert round(100 * difference.value, 1) != 0


@settings(max_examples=40, deadline=None, derandomize=True)
@given(**worlds)
@pytest.mark.reliability("no mark without a test that counts seeds")
def test_no_mark_and_no_verdict_without_a_test_over_seeds_of_models_that_learned(
    seed: int, kind: str, seeds: int, apart: float, level: float
) -> None:
    run = make_run(random_made(seed, kind=kind, seeds=seeds, apart=apart, level=level))
    [group] = task_scores(run)
    every = list(compare(group.main_scores))
    tested = {
        (each.score.regime, each.score.test, each.base.regime)
        for each in every
        if each.difference.p_adjusted is not None
        and each.difference.p_adjusted < 0.05
        and min(len(each.difference.seeds), len(each.difference.base_seeds)) > 1
        and not each.score.collapsed_seeds
        and not each.base.collapsed_seeds
        and (each.score.has_learned or each.base.has_learned)
    }
    assert {(e.score.regime, e.score.test, e.base.regime) for e in every if e.verdict in CLEAR} <= tested
    marked = {key for key, cell in marked_scores(group.main_scores).items() if cell.mark}
    assert marked <= {(regime, test) for regime, test, _ in tested}
    for finding in effect_findings(group):
        assert finding.verdict not in CLEAR or finding.basis.over == "seeds and examples"
    if seeds == 1:
        assert not marked
        report = build_report([run])
        assert not [finding for finding in report.findings() if finding.verdict in CLEAR]
        assert not any("Holm" in text for text in report.texts() if "p (Holm" not in text)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(**worlds)
def test_what_has_not_learned_comes_first_with_its_chance_level(
    seed: int, kind: str, seeds: int, apart: float, level: float
) -> None:
    run = make_run(random_made(seed, kind=kind, seeds=seeds, apart=apart, level=level))
    [group] = task_scores(run)
    low = [s for s in group.main_scores if s.seeds_above_chance == 0 and max(s.values) <= CHANCE + 0.05]
    report = build_report([run])
    shown = [report.headline.answer, *report.headline.findings]
    chance = [finding for finding in shown if finding.kind in ("training_failed", "at_chance")]
    assert all("33.3" in finding.sentence for finding in chance)
    assert chance or not low
    if any(score.test == "en" and score.regime == "original" for score in low):
        assert report.headline.answer.kind == "training_failed"
        assert report.headline.answer.verdict is Verdict.AT_CHANCE
    assert all("33.3" in figure.context for figure in report.headline.figures if "Accuracy" in figure.label)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(**{**worlds, "apart": st.sampled_from([0.0, -0.1]), "level": st.sampled_from([CHANCE, 0.25])})
def test_corrections_and_powers_are_named_only_where_a_comparison_is_of_models_that_learned(
    seed: int, kind: str, seeds: int, apart: float, level: float
) -> None:
    run = make_run(random_made(seed, kind=kind, seeds=seeds, apart=apart, level=level))
    groups = task_scores(run)
    if any(score.has_learned for score in groups[0].scores):
        return
    finding = uncertainty_finding(groups)
    assert finding.verdict is Verdict.NOT_TESTED
    assert not finding.basis.correction
    texts = [finding.sentence, score_table(groups[0], groups[0].metrics[0]).note]
    assert not any(re.search(r"Holm|[Dd]etect", text) for text in texts)
    assert not [each for each in effect_findings(groups[0]) if each.verdict in (*CLEAR, Verdict.UNCLEAR)]


@settings(max_examples=20, deadline=None, derandomize=True)
@given(**worlds)
def test_the_tables_have_every_seed_whose_mean_is_the_score_and_cells_name_their_records(
    seed: int, kind: str, seeds: int, apart: float, level: float
) -> None:
    run = make_run(random_made(seed, kind=kind, seeds=seeds, apart=apart, level=level))
    [group] = task_scores(run)
    metric = group.metrics[0]
    for row, score in zip(seed_table(group, metric).rows, group.main_scores, strict=True):
        values = [cell.value for cell in row[4:] if cell is not None]
        assert tuple(values) == score.values
        assert [cell_records(cell)[0].value for cell in row[4:] if cell is not None] == values
    for row in score_table(group, metric).rows:
        for cell in row[1:]:
            assert isinstance(cell, MarkedEstimate)
            assert cell.value == pytest.approx(np.mean([record.value for record in cell.records]))
    [chart] = [chart for chart in build_report([run]).charts() if chart.name.startswith("seeds-")]
    assert isinstance(chart, IntervalChart)
    for line in chart.rows:
        assert line.estimate is not None
        assert line.reference == pytest.approx(CHANCE)
        assert [value for value, _ in line.dots] == [record.value for record in line.estimate.records]


def test_a_model_that_gives_one_answer_failed_in_training_and_no_correction_is_explained() -> None:
    def with_answer(record: Record) -> Record:
        return replace(record, details={"chance": {**record.details["chance"], "always": "entailment", "above": False}})

    made = random_made(1, seeds=1, level=0.3, tests=("en", "es"), regimes=("original",))
    run = make_run([(with_answer(record), values) for record, values in made])
    found = answer(run)
    assert (found.kind, found.verdict, found.about["answer"]) == ("training_failed", Verdict.AT_CHANCE, "entailment")
    assert found.sentence.startswith("Training failed: the model predicts entailment for every example (accuracy ")
    assert "chance 33.3" in found.sentence
    assert "Holm" not in " ".join(finding.sentence for finding in build_report([run]).findings())


def test_the_gap_is_to_the_language_of_training_and_a_share_of_a_score_above_chance_alone_is_no_ratio() -> None:
    draw = np.random.default_rng(0)
    made = []
    for test, share in (("en", 0.9), ("ru", 0.45)):
        for seed in range(2):
            values = hits(draw, share, 400)
            made.append((score_record(values, test=test, regime="original", seed=seed), values))
    run = make_run(made)
    found, mean = answer(run), means(run)
    assert (found.kind, found.compared_with.value, found.estimate.value) == (
        "transfer", mean["original", "en"], mean["original", "ru"],
    )  # fmt: skip
    assert (
        f"{format_value(mean['original', 'ru'] - mean['original', 'en'], 'points')} points in Russian" in found.sentence
    )
    low = [(replace(r, details={"chance": {"level": 0.02, "above": True, "always": None}}), v) for r, v in made]
    share = 100 * mean["original", "ru"] / mean["original", "en"]
    assert f"{share:.0f}\N{NO-BREAK SPACE}% of its English score in Russian" in answer(make_run(low)).sentence


def test_without_a_test_in_the_language_of_training_the_gap_is_said_to_be_unknown() -> None:
    run = make_run(random_made(0, tests=("ru",), level=0.7))
    [found] = findings(run, "source_untested")
    assert found.verdict is Verdict.NOT_TESTED
    assert "--test en=FILE" in found.sentence
    assert "--test en=FILE" in build_report([run]).headline.next_step
    assert answer(run).compared_with is None
    on_dev = make_run(random_made(0, tests=("ru", "en:dev"), level=0.7), about={"dev_test": "en:dev"})
    assert findings(on_dev, "source_on_dev")
    assert not findings(on_dev, "source_untested")
    assert answer(on_dev).compared_with is not None


def ner_made(collapsed: int | None = None) -> list[tuple[Record, Any]]:
    """Tags and entities of two regimes; the F1 of entities has no chance level of its own."""
    draw = np.random.default_rng(3)
    made = []
    for test in ("en", "ru"):
        for place, regime in enumerate(REGIMES[:2]):
            for seed in range(3):
                share = 0.1 if seed == collapsed and place else 0.6 + 0.3 * place
                tags, names = counts(draw, share, 200), counts(draw, 0.4 + 0.4 * place, 200)
                own = {"test": test, "regime": regime, "seed": seed, "task": "ner"}
                made.append((score_record(tags, **own), tags))
                entities = score_record(names, **own, options={"of": "entity", "matching": "lenient"}, details={},
                                        null_value=None)  # fmt: skip
                made.append((entities, names))
    return made


def test_ner_leads_with_whole_entities_and_is_judged_by_tagged_words() -> None:
    run = make_run(ner_made())
    [group] = task_scores(run)
    assert group.metrics == ("f1/entity", "f1/token")
    assert {score.metric for score in group.main_scores} == {"f1/entity"}
    assert answer(run).metric.title == "F1 of whole entities"
    assert all("33.3" in figure.context for figure in build_report([run]).headline.figures[:2])
    assert all(each.verdict is Verdict.HIGHER for each in group.comparisons)
    [lost] = task_scores(make_run(ner_made(collapsed=1)))
    # A seed that says O to every word makes no entity either: its luck is no difference of regimes.
    assert all(each.verdict is Verdict.NOT_COMPARABLE for each in lost.comparisons)
    assert all(each.remaining is not None and 1 not in each.remaining.seeds for each in lost.comparisons)
    assert not any(cell.mark for cell in marked_scores(lost.main_scores).values())


def test_a_collapsed_seed_is_named_excluded_and_the_others_are_tested_without_it() -> None:
    made = random_made(2, seeds=3, apart=0.1, level=0.7, collapsed={("ru", "original", 1)})
    run = make_run([(r, v) for r, v in made if r.seed < 3])
    [group] = task_scores(run)
    verdicts = {(each.score.test, each.score.regime): each.verdict for each in group.comparisons}
    assert {key for key, verdict in verdicts.items() if verdict is Verdict.NOT_COMPARABLE} == {
        ("ru", "adjusted"), ("ru", "continual"),
    }  # fmt: skip
    [collapsed] = [each for each in training_findings(group) if each.kind == "collapsed_seed"]
    assert collapsed.about["seeds"] == [{"regime": "original", "seed": 1, "tests": ["Russian"]}]
    assert "seed 1 of original (Russian)" in collapsed.sentence
    rest = [each for each in effect_findings(group) if each.kind == "remaining_seeds"]
    assert len(rest) == 2
    for finding in rest:
        assert (finding.estimate.seeds, finding.estimate.base_seeds) == ((0, 1, 2), (0, 2)) or set(
            finding.estimate.seeds
        ) == set(finding.estimate.base_seeds) == {0, 2}
        assert finding.estimate.p_adjusted is not None
    note = score_table(group, "accuracy").note
    assert "original 1 (regime and seed)" in note
    assert [figure.text for figure in build_report([run]).headline.figures if figure.label == "Collapsed seeds"] == [
        "1 of 9"
    ]


def test_seeds_that_collapsed_on_both_sides_leave_none_to_compare() -> None:
    lost = {("ru", "original", 0), ("ru", "adjusted", 1)}
    made = random_made(4, seeds=2, level=0.7, collapsed=lost, tests=("ru",), regimes=REGIMES[:2])
    run = make_run([(r, v) for r, v in made if r.seed < 2])
    [group] = task_scores(run)
    [rest] = [each for each in effect_findings(group) if each.kind == "remaining_seeds"]
    assert rest.verdict is Verdict.NOT_COMPARABLE
    assert rest.estimate is None
    assert "No seed is left" in findings(run, "regime")[0].sentence


def test_what_no_seed_of_the_original_learned_is_help_and_no_luck() -> None:
    draw, made = np.random.default_rng(0), []
    for regime, share in (("original", 0.3), ("adjusted", 0.8)):
        for seed in range(3):
            values = hits(draw, share, 500)
            made.append((score_record(values, test="hi", regime=regime, seed=seed), values))
    [group] = task_scores(make_run(made))
    assert [each.verdict for each in group.comparisons] == [Verdict.HIGHER]
    assert not any(score.collapsed_seeds for score in group.scores)
    assert [finding.kind for finding in training_findings(group)] == ["at_chance"]


def test_two_seeds_far_above_chance_have_learned_however_wide_the_interval_of_their_mean() -> None:
    draw, made = np.random.default_rng(0), []
    for seed, share in enumerate((0.67, 0.57)):
        values = hits(draw, share, 2000)
        made.append((score_record(values, test="es", regime="original", seed=seed), values))
    [group] = task_scores(make_run(made))
    assert group.scores[0].ci_low < CHANCE
    assert group.scores[0].has_learned


@pytest.mark.parametrize("order", [REGIMES, REGIMES[::-1], ("adjusted", "original", "continual")])
def test_the_base_is_the_original_wherever_it_stands(order: tuple[str, ...]) -> None:
    run = make_run(random_made(5, apart=0.12, level=0.5), about={"regimes": list(order)})
    [group] = task_scores(run)
    assert [*dict.fromkeys(score.regime for score in group.scores)] == list(order)
    assert {each.base.regime for each in group.comparisons} == {"original"}
    assert {(e.score.regime, e.base.regime) for e in compare(group.scores)} == {
        ("adjusted", "original"), ("continual", "original"), ("continual", "adjusted"),
    }  # fmt: skip


def test_regimes_of_ones_own_are_compared_with_the_first_two_that_a_test_has() -> None:
    made = [(r, v) for r, v in random_made(6, apart=0.12, level=0.5, regimes=("plain", "mapped", "shuffled"))
            if (r.test, r.regime) != ("ru", "plain")]  # fmt: skip
    run = make_run(made, about={"regimes": ["plain", "mapped", "shuffled"]})
    [group] = task_scores(run)
    bases = {score.test: score.bases for score in group.scores}
    assert bases == {"en": ("plain", "mapped"), "es": ("plain", "mapped"), "ru": ("mapped", "shuffled")}
    assert {(e.score.test, e.base.regime) for e in group.comparisons} == {
        ("en", "plain"), ("es", "plain"), ("ru", "mapped"),
    }  # fmt: skip
    assert "* from plain or mapped, ** from mapped" in score_table(group, "accuracy").note


def test_without_the_values_of_examples_scores_stay_and_nothing_is_tested() -> None:
    made = random_made(7, apart=0.1, level=0.7)
    run = make_run(made, keep_items=False)
    [group] = task_scores(run)
    assert {each.verdict for each in group.comparisons} == {Verdict.NOT_TESTED}
    assert "items/" in uncertainty_finding([group]).sentence
    assert means(run) == {
        (s.regime, s.test): pytest.approx(s.value) for s in task_scores(make_run(made))[0].main_scores
    }


def test_tests_of_another_metric_have_charts_and_verdicts_of_their_own() -> None:
    draw = np.random.default_rng(0)
    made = random_made(8, kind="f1", seeds=3, level=0.6, tests=("en", "ru"), regimes=REGIMES[:2])
    for place, regime in enumerate(REGIMES[:2]):
        for seed in range(3):
            for layer in range(3):
                values = hits(draw, 0.4 + 0.3 * place + 0.05 * layer, 300).astype(float)
                made.append((score_record(values, test="ru retrieval", regime=regime, seed=seed, task="ner",
                                          measure="retrieval", metric="mrr", target="ru", layer=layer, details={},
                                          null_value=0.02, options={"direction": "forward"}), values))  # fmt: skip
    run = make_run(made)
    [group] = task_scores(run)
    assert group.lead_metrics["ru retrieval"] == "mrr"
    assert "retrieval" not in build_report([run]).headline.title
    charts = {chart.name for chart in seeds.layer_charts(run, group)}
    assert charts == {"layers-ru retrieval"}
    gained = [each for each in group.comparisons if each.score.metric == "mrr"]
    assert [each.verdict for each in gained] == [Verdict.HIGHER]
    best = means(make_run([(r, v) for r, v in made if r.layer == gained[0].score.layer]))
    assert gained[0].score.value == pytest.approx(best["adjusted", "ru retrieval"])


def test_many_tests_stand_below_each_other_and_sentences_name_the_ends() -> None:
    tests = [f"x{number}" for number in range(9)]
    run = make_run(random_made(9, seeds=2, apart=0.25, level=0.45, tests=tests, regimes=REGIMES[:2]))
    [group] = task_scores(run)
    table = score_table(group, "accuracy")
    assert [column.title for column in table.columns] == ["Test", "original", "adjusted"]
    assert [row[0] for row in table.rows] == tests
    assert max(len(finding.sentence) for finding in build_report([run]).headline.findings) < 500


def test_numbers_of_a_run_are_its_means_with_their_seeds_and_whether_they_are_above_chance() -> None:
    run = make_run(random_made(10, seeds=2, level=0.2))
    numbers = transfer.numbers(run)
    mean = means(run)
    assert numbers["Accuracy, adjusted, Russian"].value == pytest.approx(mean["adjusted", "ru"])
    assert not any(score.has_learned for score in numbers.values())
    assert {len(score.seeds) for score in numbers.values()} <= {2, 3}


def test_names_of_users_are_no_markup_and_a_report_says_in_json_what_it_says_on_its_page() -> None:
    run = make_run(random_made(11, seeds=2, level=0.7, tests=("en", "<b>\x1b"), regimes=("original", "mi|ne_&")))
    report = build_report([run])
    data = report.to_dict()
    assert data["answer"]["verdict"] == report.headline.answer.verdict
    assert [each["sentence"] for each in data["findings"]] == [each.sentence for each in report.findings()]
    assert all("\x1b" not in text for text in report.texts())
    [group] = task_scores(run)
    assert "\\|" in to_markdown(score_table(group, "accuracy"))


def test_a_marked_cell_is_shown_with_its_deviation_and_kept_whole_in_a_sheet() -> None:
    cell = MarkedEstimate(value=0.63434, ci_low=0.6, ci_high=0.7, deviation=0.0021, mark="**")
    [column] = [Column(title="ru", display="percent", interval=True)]
    table = Table(name="t", title="T", columns=(column,), rows=((cell,), (replace(cell, deviation=None, mark=""),)))
    assert [format_cell(row[0], table, 0) for row in table.rows] == [
        "63.4\N{NO-BREAK SPACE}%** ± 0.2", "63.4\N{NO-BREAK SPACE}% [60.0, 70.0]",
    ]  # fmt: skip
    assert to_csv(table).splitlines()[:2] == [
        "ru,ru ci_low,ru ci_high,ru deviation,ru mark",
        "0.63434,0.6,0.7,0.0021,**",
    ]


def test_a_hundred_thousand_records_take_seconds() -> None:
    import time

    records = RecordTable(
        Record(measure="nli", metric="accuracy", model=f"m{number % 50}", source="en", target="ru", task="nli",
               test=f"t{number // 10 % 40}", regime=REGIMES[number % 3], seed=number // 400 % 17, value=0.5, n=10,
               details={"chance": {"level": 0.1, "above": True, "always": None}})
        for number in range(100_000)
    )  # fmt: skip
    begun = time.process_time()
    task_scores(Run(kind="study", about={}, records=records))
    assert time.process_time() - begun < 60
