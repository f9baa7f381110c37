"""What a comparison of runs says: verdicts, what is tested, what is not comparable, ranks and names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel

from interlingua.record import Difference, Estimate, Items, Record, RecordTable
from interlingua.report.kit.chart import HeatMap, IntervalChart, ScatterChart
from interlingua.report.kit.finding import Finding, Verdict
from interlingua.report.kit.section import ComparedNumber, Run
from interlingua.report.kit.table import Table
from interlingua.report.report import Report
from interlingua.report.subjects import comparison
from interlingua.stats import wilson_interval

LANGUAGES = ("en", "es", "ru", "hi", "tr", "uk")


def numbers(run: Run) -> Mapping[str, Estimate]:
    """One number per metric of a run: what a subject would give, without any subject."""
    found: dict[str, Estimate] = {}
    if "best layer" in run.about:
        found["best layer"] = ComparedNumber(value=run.about["best layer"], tied=(1,))
    for (metric, state), records in run.records.by("metric", "state").items():
        found[f"{metric}{'' if state is None else f', {state}'}"] = records.estimate()
    return found


@pytest.fixture(autouse=True)
def without_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "run_numbers", numbers)
    monkeypatch.setattr(comparison, "run_sections", lambda run: [])
    monkeypatch.setattr(comparison, "layer_curves", lambda compared: [])


def retrieval(value: float, n: int = 600, corpus: str = "c0", **more: Any) -> Record:
    bounds = {"ci_low": value - 0.05, "ci_high": value + 0.05, "null_value": 1 / n, "higher_is_better": True}
    digests = {"digests": {"corpus": corpus} if corpus else {}}
    fields = {"measure": "retrieval", "metric": "p@1", "model": "m", "source": "en", "target": "ru", "seed": 0, "n": n}
    return Record(value=value, **{**fields, **digests, **bounds, **more})


def run_of(
    *records: Record, kind: str = "audit", items: Callable[[Record], Items | None] | None = None, **about: Any
) -> Run:
    settings = {"model": "m", "rows": 600, **about}
    given: dict[str, Any] = {} if items is None else {"items": items}
    return Run(kind=kind, about=settings, records=RecordTable(records), name=str(about.get("model", "m")), **given)


def compare(*runs: Run, title: str = "") -> Report:
    return comparison.build(runs, title)


def answer(*runs: Run) -> Finding:
    return compare(*runs).headline.answer


def table(report: Report, name: str) -> Table:
    return next(each for each in report.tables() if each.name == name)


def test_a_difference_is_that_of_the_means_and_clear_where_intervals_lie_apart() -> None:
    one, two = run_of(retrieval(0.3), model="a"), run_of(retrieval(0.5), model="b")
    found = answer(one, two)
    assert (found.kind, found.verdict) == ("run_difference", Verdict.HIGHER)
    assert found.estimate is not None
    assert found.estimate.value == pytest.approx(0.2)
    assert found.sentence == "b is 20.0 points higher than a in p@1: 50.0\xa0% against 30.0\xa0%."
    assert answer(two, one).verdict is Verdict.LOWER
    near = answer(one, run_of(retrieval(0.38), model="b"))
    assert near.verdict is Verdict.UNCLEAR
    assert near.sentence.startswith("No difference can be shown between a and b: p@1 differs by 8.0 points")


def hits_run(hits: Any, model: str, *, layer: int = 1, corpus: str = "c0", kept: bool = True) -> Run:
    low, high = wilson_interval(hits.sum(), len(hits))
    record = retrieval(float(hits.mean()), len(hits), corpus, ci_low=low, ci_high=high, layer=layer, items="s#0")
    return run_of(record, model=model, rows=len(hits), items=lambda _: hits if kept else None)


def test_runs_on_the_same_sentences_are_tested_sentence_by_sentence_at_whatever_layer() -> None:
    before = np.zeros(600)
    before[:240] = 1
    after = before.copy()
    after[:6], after[240:270] = 0, 1
    report = compare(hits_run(before, "a"), hits_run(after, "b", layer=2))
    found = report.headline.answer
    expected = ttest_rel(after, before)
    interval = expected.confidence_interval(0.95)
    assert isinstance(found.estimate, Difference)
    assert (found.verdict, found.basis.test) == (Verdict.HIGHER, "paired difference")
    assert (found.estimate.ci_low, found.estimate.ci_high) == pytest.approx((interval.low, interval.high))
    assert found.estimate.p == pytest.approx(expected.pvalue)
    assert found.sentence == "b is 4.0 points (2.1 to 5.9) higher than a in p@1: 44.0\xa0% against 40.0\xa0%."
    row = table(report, "numbers").rows[0]
    assert row[3] == found.estimate
    assert row[4] == "higher"


def test_the_same_run_twice_has_no_difference_and_two_names() -> None:
    one = hits_run(np.tile([0.0, 1.0], 300), "a")
    report = compare(one, one)
    assert report.headline.answer.verdict is Verdict.UNCLEAR
    assert report.headline.answer.estimate is not None
    assert report.headline.answer.estimate.value == 0
    assert (
        len({run.title for run in table(report, "numbers").columns[1:3]}) == 1
    )  # Named by folders, which are one here.
    settings = next(finding for finding in report.findings() if finding.kind == "settings_differ")
    assert settings.sentence == "The settings are the same."


@pytest.mark.parametrize("lost", ["digest", "items", "rows", "unknown"])
def test_what_was_not_measured_on_the_same_is_not_compared_and_without_items_only_by_intervals(lost: str) -> None:
    hits, more = np.zeros(600), np.zeros(599 if lost == "rows" else 600)
    hits[:240], more[:264] = 1, 1
    corpus = {"digest": "other", "unknown": ""}.get(lost, "c0")
    report = compare(hits_run(hits, "a"), hits_run(more, "b", corpus=corpus, kept=lost != "items"))
    found = report.headline.answer
    if lost == "items":
        assert (found.verdict, found.basis.test) == (Verdict.UNCLEAR, "intervals that do not overlap")
        return
    assert found.verdict is Verdict.NOT_COMPARABLE
    assert found.estimate is None
    said = {
        "rows": "Not comparable: a was measured on 600 sentences, b on 599 (p@1).",
        "digest": "Not comparable: a and b were measured on different sentences (p@1).",
        "unknown": "Not comparable: b does not record what it was measured on (p@1).",
    }
    assert found.sentence == said[lost]
    assert table(report, "numbers").rows[0][3:] == (None, "not comparable")
    assert all(rank is None for rank, *_ in [row[:1] for row in table(report, "ranking").rows])


def test_rows_drawn_by_another_seed_are_not_compared_but_models_of_other_seeds_are() -> None:
    one = run_of(retrieval(0.3), model="a")
    assert answer(one, run_of(retrieval(0.5, seed=1), model="b")).verdict is Verdict.NOT_COMPARABLE

    def trained(value: float, seeds: tuple[int, ...], model: str) -> Run:
        scores = [Record(measure="nli", metric="accuracy", model="m", task="nli", regime="original", test="ru",
                         value=value,
                         n=500, seed=seed, source="en", target="ru", digests={"test": "t"}, ci_low=value - 0.02,
                         ci_high=value + 0.02, null_value=0.33, higher_is_better=True) for seed in seeds]  # fmt: skip
        return run_of(*scores, kind="transfer", model=model)

    assert answer(trained(0.5, (0, 1), "a"), trained(0.6, (2, 3), "b")).verdict is Verdict.HIGHER


@pytest.mark.reliability("no mark without a test that counts seeds")
def test_what_one_training_gave_has_no_verdict_and_what_it_began_with_may() -> None:
    def adjusted(value: float, model: str) -> Run:
        weights: dict[str, Any] = {"digests": {"corpus": "c0", "model": model}}
        return run_of(*(retrieval(value, state=state, **weights) for state in ("original", "adjusted")), kind="adjust",
                      model=model)  # fmt: skip

    report = compare(adjusted(0.6, "a"), adjusted(0.3, "b"))
    verdicts = {row[0]: (row[3], row[4]) for row in table(report, "numbers").rows}
    assert verdicts["p@1, original"][1] == "lower"
    assert verdicts["p@1, adjusted"][1] == "not tested (one seed)"
    assert isinstance(verdicts["p@1, adjusted"][0], Estimate)


def test_one_given_model_that_is_measured_in_two_ways_is_compared() -> None:
    def explained(value: float, weights: str) -> Run:
        record = Record(measure="consistency", metric="consistency", model="m", task="nli", value=value, n=50,
                        source="en",
                        target="hi", digests={"corpus": "c", "model": weights}, ci_low=value - 0.01,
                        ci_high=value + 0.01,
                        higher_is_better=True)  # fmt: skip
        return run_of(record, kind="explain", model=f"{weights}{value}")

    assert answer(explained(0.5, "w"), explained(0.3, "w")).verdict is Verdict.LOWER
    assert answer(explained(0.5, "w"), explained(0.3, "v")).verdict is Verdict.NOT_TESTED


@pytest.mark.reliability("a run that learnt nothing says so first")
def test_two_runs_at_chance_say_so_with_the_level_and_one_at_chance_comes_first() -> None:
    low = [run_of(retrieval(value, n=50), model=model) for value, model in ((0.03, "a"), (0.02, "b"))]
    found = answer(*low)
    assert found.verdict is Verdict.AT_CHANCE
    assert "neither is better than chance in p@1 (chance level 2.0\xa0%)" in found.sentence
    report = compare(low[0], run_of(retrieval(0.5, n=50), model="b"))
    first = report.headline.findings[0]
    assert (first.kind, first.about["run"]) == ("run_at_chance", "a")
    errors = [run_of(retrieval(0.9, null_value=0.92, higher_is_better=False), model=model) for model in "ab"]
    assert answer(*errors).verdict is Verdict.AT_CHANCE


def test_several_runs_are_ranked_with_ties_first_and_only_with_like() -> None:
    values = {"a": 0.30, "b": 0.52, "c": 0.50, "d": 0.44}
    runs = [run_of(retrieval(value), model=model) for model, value in values.items()]
    other = run_of(retrieval(0.9, n=200), model="e", rows=200)
    report = compare(*runs, other)
    ranking = [(row[0], row[1]) for row in table(report, "ranking").rows]
    assert ranking == [("1", "b"), ("1", "c"), ("1", "d"), ("4", "a"), (None, "e")]
    found = report.headline.answer
    assert (found.kind, found.verdict) == ("run_ranking", Verdict.HIGHER)
    assert found.sentence == (
        "b, c and d are tied for first in p@1 (52.0\xa0%), clearly before a. Not comparable with these: e."
    )
    alike = compare(*(run_of(retrieval(value), model=model) for model, value in (("a", 0.5), ("b", 0.51), ("c", 0.52))))
    assert alike.headline.answer.verdict is Verdict.UNCLEAR
    apart = compare(*(run_of(retrieval(0.5, n=n), model=f"m{n}", rows=n) for n in (100, 200, 300)))
    assert apart.headline.answer.verdict is Verdict.NOT_COMPARABLE


def test_lower_is_better_ranks_the_other_way_round() -> None:
    runs = [
        run_of(retrieval(v, higher_is_better=False, null_value=0.99), model=m)
        for m, v in (("a", 0.6), ("b", 0.2), ("c", 0.4))
    ]
    report = compare(*runs)
    assert [row[1] for row in table(report, "ranking").rows] == ["b", "c", "a"]


def test_trained_models_of_one_seed_are_not_ranked() -> None:
    runs = [
        run_of(retrieval(v, state="adjusted"), kind="adjust", model=m) for m, v in (("a", 0.2), ("b", 0.5), ("c", 0.8))
    ]
    report = compare(*runs)
    assert report.headline.answer.verdict is Verdict.NOT_TESTED
    assert {row[0] for row in table(report, "ranking").rows} == {None}


def test_runs_are_called_by_model_and_by_what_differs_and_never_by_digests() -> None:
    one = run_of(
        retrieval(0.3), model="../runs/mbert", digests={"corpus": "3af384cd92452bc52bb9d59e0450579f"}, pooling="mean"
    )
    two = run_of(retrieval(0.4), model="../runs/mbert", digests={"corpus": "3af384cd92452bc52bb9d59e0450579f"},
                 pooling="cls",
                 rows=200, settings={"seed": 3})  # fmt: skip
    three = run_of(retrieval(0.4), model="xlmr")
    assert comparison.label_runs([one, two]) == ["mbert (rows 600, pooling mean)", "mbert (rows 200, pooling cls)"]
    assert comparison.label_runs([one, three]) == ["mbert", "xlmr"]
    assert comparison.label_runs([one, run_of(kind="transfer", model="mbert")]) == ["mbert (audit)", "mbert (transfer)"]
    same = [Run(kind="audit", about={"model": "m"}, records=RecordTable([]), name=name) for name in ("x4", "x9")]
    assert comparison.label_runs(same) == ["m (x4)", "m (x9)"]
    report = compare(one, two)
    found = next(finding for finding in report.findings() if finding.kind == "settings_differ")
    assert found.about["settings"] == {"rows": ["600", "200"], "pooling": ["mean", "cls"], "seed": ["–", "3"]}
    assert found.sentence == "Different settings: rows 600 → 200; pooling mean → cls; seed – → 3."
    own = [section for section in report.sections if not section.folded]
    assert own[-1].name == "settings"
    texts = [str(cell) for section in own for each in section.tables for row in each.rows for cell in row]
    assert not any("3af384cd" in text for text in texts)


def test_a_best_layer_has_no_difference_and_shows_its_ties() -> None:
    report = compare(
        *(
            run_of(retrieval(0.3), model=model, **dict[str, Any]({"best layer": at}))
            for model, at in (("a", 2), ("b", 3))
        )
    )
    assert table(report, "layers").rows == (("best layer", "2 (tied with 1)", "3 (tied with 1)"),)
    assert report.headline.answer.about["number"] == "p@1"


def many(shift: float, model: str) -> Run:
    pairs = [(a, b) for a in LANGUAGES for b in LANGUAGES if a != b]
    return run_of(
        *(retrieval(0.3 + 0.01 * at + shift, source=a, target=b) for at, (a, b) in enumerate(pairs)), model=model
    )


def test_languages_are_compared_one_by_one_with_a_heat_map_for_three_runs() -> None:
    report = compare(many(0.0, "a"), many(0.2, "b"), many(-0.2, "c"))
    languages = table(report, "languages")
    assert len(languages.rows) == 3 * len(LANGUAGES)
    (heat_map,) = (chart for section in report.sections for chart in section.charts if isinstance(chart, HeatMap))
    for at, cells in enumerate(heat_map.cells):
        values = [row[2].value for row in languages.rows[3 * at : 3 * at + 3] if isinstance(row[2], Estimate)]
        differences = [cell.value for cell in cells if cell is not None]
        assert differences == pytest.approx([values[1] - values[0], values[2] - values[0]])
        assert differences == pytest.approx([0.2, -0.2])
    two = compare(many(0.0, "a"), many(0.2, "b"))
    assert [type(chart) for section in two.sections for chart in section.charts] == [IntervalChart]


def transfer(scores: Mapping[str, float]) -> Run:
    records = [Record(measure="nli", metric="accuracy", model="m", task="nli", regime="original", test=code,
                      value=value,
                      n=500, seed=seed, source="en", target=code, digests={"test": code}, higher_is_better=True)
               for code, value in scores.items() for seed in (0, 1)]  # fmt: skip
    return run_of(*records, kind="transfer", source="en", metric="accuracy", regimes=["original"])


def test_alignment_and_transfer_meet_by_language_from_three_on_and_not_at_chance() -> None:
    scores = {"es": 0.5, "ru": 0.4, "hi": 0.3, "sw": 0.2}
    report = compare(many(0.0, "a"), transfer(scores))
    assert report.headline.answer.kind == "runs_of_different_kinds"
    (chart,) = (chart for section in report.sections for chart in section.charts if isinstance(chart, ScatterChart))
    assert {dot.label: dot.y for dot in chart.dots} == {"Spanish": 0.5, "Russian": 0.4, "Hindi": 0.3}
    aligned = {r.value for r in many(0.0, "a").records if {r.source, r.target} == {"en", "es"}}
    assert next(dot.x for dot in chart.dots if dot.label == "Spanish") == pytest.approx(np.mean(list(aligned)))
    few = compare(many(0.0, "a"), transfer({"es": 0.5, "ru": 0.4}))
    chance = run_of(*(retrieval(0.002, source="en", target=code) for code in LANGUAGES[1:]), model="a")
    for report in (few, compare(chance, transfer(scores))):
        assert "alignment-transfer" not in {section.name for section in report.sections}


def test_a_title_stands_in_the_place_of_the_one_that_is_made_and_runs_are_folded_below() -> None:
    one, two = run_of(retrieval(0.3), model="a"), run_of(retrieval(0.5), model="b", unfinished="2 of 3 steps are done")
    report = compare(one, two, title="Which model for Hindi?")
    assert report.headline.title == "Which model for Hindi?"
    assert [section.title for section in report.sections if section.folded] == [
        "a: How this was made",
        "b: How this was made",
    ]
    assert report.headline.findings[0].verdict is Verdict.UNFINISHED
    assert report.to_dict()["answer"]["verdict"] == "higher"


def random_audit(draw: np.random.Generator, model: str, *, corpus: str = "a", rows: int = 200) -> Run:
    """Records of retrieval of random languages, layers, values and intervals."""
    codes = LANGUAGES[: int(draw.integers(2, len(LANGUAGES) + 1))]
    level, spread, half = draw.choice([0.1, 0.4, 0.6]), draw.choice([0.0, 0.02, 0.2]), draw.choice([0.0, 0.01, 0.1])
    records = []
    for one, other in ((a, b) for a in codes for b in codes if a != b):
        value = float(np.clip(level + spread * draw.normal(), 0, 1))
        records.append(retrieval(value, rows, corpus, source=one, target=other, ci_low=max(value - half, 0.0),
                                 ci_high=min(value + half, 1.0)))  # fmt: skip
    return run_of(*records, model=model, rows=rows)


def changed(run: Run, change: Callable[[Record], Record | None], model: str = "m1") -> Run:
    records = (change(record) for record in run.records)
    kept = RecordTable(record for record in records if record is not None)
    return Run(kind=run.kind, about={**run.about, "model": model}, records=kept)


@pytest.mark.reliability("differences between runs that did not read the same")
def test_random_runs_are_compared_only_over_the_same_text_and_as_many_rows(record_property: Any) -> None:
    draw = np.random.default_rng(2)
    for _ in range(20):
        corpora, rows, seed = draw.choice(["a", "b"], 2), draw.choice([100, 200], 2), int(draw.integers(2**31))
        runs = [
            random_audit(np.random.default_rng(seed), f"m{at}", corpus=str(corpus), rows=int(n))
            for at, (corpus, n) in enumerate(zip(corpora, rows, strict=True))
        ]
        alike = corpora[0] == corpora[1] and rows[0] == rows[1]
        report = compare(*runs)
        assert (report.headline.answer.verdict is not Verdict.NOT_COMPARABLE) == alike
        assert all((row[4] != "not comparable") == alike for row in table(report, "numbers").rows)
        assert any(row[0] == "1" for row in table(report, "ranking").rows) == alike
    record_property("tried", 20)
    record_property("held", 20)


def test_differences_in_sentences_are_those_of_the_table_and_of_the_numbers_beside_them() -> None:
    draw, clear = np.random.default_rng(5), 0
    for _ in range(20):
        first = random_audit(draw, "m0")
        shift = float(draw.choice([-0.3, 0.05, 0.3]))
        other = changed(first, lambda r: retrieval(r.value + shift, r.n, "a", source=r.source, target=r.target))  # noqa: B023
        report = compare(first, other)
        found = report.headline.answer
        row = table(report, "numbers").rows[0]
        assert found.estimate == row[3]
        assert found.estimate is not None
        assert found.estimate.value == pytest.approx(row[2].value - row[1].value)  # type: ignore[union-attr]
        if found.verdict in (Verdict.HIGHER, Verdict.LOWER):
            assert (
                (found.verdict is Verdict.HIGHER) == (found.estimate.value > 0) == (" higher than " in found.sentence)
            )
            assert f"{100 * abs(found.estimate.value):.1f} points" in found.sentence
            clear += 1
    assert clear >= 10


@pytest.mark.parametrize(
    "change",
    [
        lambda r: None if {r.source, r.target} == {"en", "es"} else r,
        lambda r: retrieval(r.value, r.n, "a", source=r.source, target=r.target, seed=1),
        lambda r: retrieval(r.value, r.n - (r.target == "es"), "a", source=r.source, target=r.target),
    ],
    ids=["other pairs", "rows drawn by another seed", "one pair with fewer rows"],
)
def test_means_over_other_pairs_or_rows_are_not_compared(change: Callable[[Record], Record | None]) -> None:
    draw, tried = np.random.default_rng(6), 0
    for _ in range(12):
        first = random_audit(draw, "m0")
        other = changed(first, change)
        if len(other.records):
            assert answer(first, other).verdict is Verdict.NOT_COMPARABLE
            tried += 1
    assert tried > 5
