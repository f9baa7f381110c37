"""Layer curves, best layers, maps and histograms: each line with its own best, its null value, and its candidates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import linregress

from audits import CENTRED, RAW, changed, make_record, make_records, make_run
from interlingua.measures import measures
from interlingua.metric import Metric
from interlingua.record import Estimate, Record
from interlingua.report.kit.chart import ChartMenu, LineChart, PointMap, charts_of
from interlingua.report.kit.evidence import MIN_CORRELATION_ITEMS, find_peak, fit_trend, fit_trend_of_pairs
from interlingua.report.kit.finding import Verdict
from interlingua.report.report import build_report
from interlingua.report.subjects.alignment import cluster_order, find_alignment
from interlingua.report.subjects.layers import (
    ALL,
    MAX_HISTOGRAM_COUNTS,
    AlignmentRecords,
    alignment_blocks,
    distance_section,
    language_layer_table,
    layer_charts,
    layer_lines,
    layer_table,
    map_section,
    mean_both_directions,
    tokenizer_table,
)
from interlingua.stats import Association

CODES = ["en", "ru", "hi", "de"]


def space_of(records: Iterable[Record], **about: Any) -> AlignmentRecords:
    return AlignmentRecords(records, make_run(records, **about).about)


def first_charts(records: Iterable[Record]) -> dict[str, LineChart]:
    charts = [charts_of(chart)[0] for chart in layer_charts([space_of(records)])]
    return {chart.title: chart for chart in charts if isinstance(chart, LineChart)}


def shaped(how: Any, codes: Any = CODES) -> list[Record]:
    """Records whose every number with a layer is what `how` makes of the layer, ± 0.02."""

    def give(record: Record) -> dict[str, Any] | None:
        if record.layer is None:
            return None
        value, null = how(record.layer)
        return {"value": value, "ci_low": value - 0.02, "ci_high": value + 0.02, "null_value": null}

    return changed(make_records(codes, range(4)), give)


AT_CHANCE = shaped(lambda layer: (0.3 + 0.001 * (layer == 2), 0.3))
LEVEL = shaped(lambda layer: (0.2 + 0.001 * layer, 0.002))
RISING = shaped(lambda layer: (0.2 + 0.1 * layer, 0.002))
FALLING = shaped(lambda layer: (0.5 - 0.1 * layer, 0.002))


# ----------------------------------------------------------------------------------------------------------- best layer
def test_a_layer_is_best_only_above_chance_and_above_some_other_layer() -> None:
    verdicts = []
    for records in (RISING, LEVEL, AT_CHANCE):
        found = {finding.kind: finding for finding in find_alignment(space_of(records))}
        verdicts.append(found["best_layer"].verdict)
        assert ("embeddings_suffice" in found) == (records is LEVEL)
        marked = {line.best for chart in first_charts(records).values() for line in chart.lines}
        assert marked == ({3, 0} if records is RISING else {None})  # 0: of the mean cosine, which is best when low.
    assert verdicts == [Verdict.HIGHER, Verdict.UNCLEAR, Verdict.AT_CHANCE]


def test_the_first_layer_is_marked_as_well_as_any_other() -> None:
    assert first_charts(FALLING)["Linear CKA"].lines[0].best == 0


def test_equal_values_without_intervals_have_no_peak() -> None:
    records = changed(RISING, lambda r: {"value": 0.4, "ci_low": None, "ci_high": None})
    top = space_of(records).peak()
    assert top is not None
    assert top.has_no_peak


def test_best_layer_is_that_of_the_highest_mean_and_the_lowest_of_equals() -> None:
    draw = np.random.default_rng(0)
    for _ in range(20):
        values = draw.random(5).round(1)
        records = [
            make_record("retrieval", "p@1", float(value), options=RAW, layer=layer, null_value=0.001)
            for layer, value in enumerate(values)
        ]
        assert space_of(records).best_layer == int(np.argmax(values))


def test_every_language_has_its_best_layer_with_those_tied() -> None:
    def best_at(record: Record) -> dict[str, Any] | None:
        if record.measure != "retrieval" or record.layer is None:
            return None
        top = 5 if "hi" in (record.source, record.target) else 2
        value = 0.6 - 0.1 * abs(record.layer - top)
        return {"value": value, "ci_low": value - 0.05, "ci_high": value + 0.05}

    space = space_of(changed(make_records(["en", "ru", "hi", "de", "fr"], range(7)), best_at))
    table = language_layer_table(space)
    assert table is not None
    rows = {row[0]: row for row in table.rows}
    assert rows["Hindi"][1] == "5"
    assert rows["Hindi"][2] == space.language(space.headline, 5, "hi")
    menu = next(chart for chart in layer_charts([space]) if isinstance(chart, ChartMenu))
    assert menu.menus == (("Language", (ALL, "English", "Russian", "Hindi", "German", "French")),)
    hindi = menu.charts["Hindi",]
    assert isinstance(hindi, LineChart)
    assert hindi.lines[0].best == 5
    chance = language_layer_table(space_of(changed(AT_CHANCE, lambda r: {"null_value": 0.31})))
    assert chance is not None
    assert {row[1] for row in chance.rows} == {"none above chance"}
    level = language_layer_table(space_of(LEVEL))
    assert level is not None
    assert {row[1] for row in level.rows} == {"no layer stands out"}


def test_the_output_of_a_model_is_its_layer() -> None:
    records = changed(RISING, lambda r: {"pooling": "output"} if r.layer == 1 and r.unit == "sentence" else None)
    space = space_of(records)
    assert space.best_layer == 1
    assert space.name_layer(1) == "output"
    finding = next(finding for finding in find_alignment(space) if finding.kind == "best_layer")
    assert finding.verdict == Verdict.FOUND
    assert finding.about["best_inner"] == 3
    assert finding.sentence.startswith("The output of the model has 30.0")
    chart = first_charts(records)["Linear CKA"]
    assert chart.lines[0].x == ("0", "output", "2", "3")


# --------------------------------------------------------------------------------------------------------------- charts
def test_every_charted_metric_has_its_title_percent_axis_and_labelled_reference() -> None:
    charts = first_charts(make_records(CODES, range(5)))
    assert list(charts) == [
        "Retrieval accuracy (P@1)", "Linear CKA", "Retrieval accuracy after a rotation (P@1)",
        "Translations nearer than other words (AUC)", "Mean cosine of two words",
    ]  # fmt: skip
    chart = charts["Retrieval accuracy (P@1)"]
    assert chart.y.display == "percent"
    assert [line.name for line in chart.lines] == ["as is", "centred"]
    assert [(reference.label, reference.values) for reference in chart.references] == [
        ("chance level", (pytest.approx(1 / 600),))
    ]
    assert charts["Linear CKA"].references[0].label == "shuffled pairs"
    assert "600 candidates, chance level 0.2" in chart.note
    assert "120 candidates, chance level 0.8" in charts["Retrieval accuracy after a rotation (P@1)"].note
    space = space_of(make_records(CODES, range(5)))
    assert chart.lines[0].y[4] == space.mean(space.as_is, 4)
    assert "Lower is better." in charts["Mean cosine of two words"].note


def test_curves_that_never_leave_their_null_value_say_so() -> None:
    words = "No layer differs from its null value"
    assert words in first_charts(AT_CHANCE)["Linear CKA"].note
    assert words not in first_charts(LEVEL)["Linear CKA"].note


def test_a_users_measure_is_shown_under_what_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    of_mine = [record for record in RISING if record.metric == "cka" and record.options["form"] == "debiased"]
    mine = changed(of_mine, lambda r: {"measure": "mine", "metric": "gap", "options": {}, "higher_is_better": False})
    charts = first_charts([*RISING, *mine])
    assert "Lower is better." in charts["mine: gap"].note
    assert charts["mine: gap"].lines[0].best == 0
    metric = Metric(
        name="gap", title="My gap", higher_is_better=True, display="percent", null="shuffled rows", headline=True
    )

    def mine_measure(source: Any, target: Any) -> Any:
        """My gap."""

    monkeypatch.setattr(measures, "_entries", dict(measures._entries))
    measures.register("mine", needs="sentences", metrics=(metric,))(mine_measure)
    chart = first_charts([*RISING, *mine])["My gap"]
    assert chart.lines[0].best == 3
    assert chart.y.display == "percent"
    assert chart.references[0].label == "shuffled rows"


def test_measures_of_unequal_candidates_are_called_not_comparable() -> None:
    first = changed(RISING, lambda r: {"model": "a", "block": "space"})
    second = changed(RISING, lambda r: {"model": "b", "block": "space", "n": 99})
    (spaces,) = alignment_blocks(make_run([*first, *second])).values()
    note = charts_of(layer_charts(spaces)[0])[0].note
    assert "a: 600 candidates" in note
    assert "b: 99 candidates" in note
    assert "not comparable" in note


def test_runs_are_overlaid_by_name_and_other_sentences_are_said() -> None:
    first = replace(make_run(RISING), name="a")
    for digest, comparable in (("cd34", True), ("ef56", False)):
        second = replace(make_run(LEVEL, digests={"corpus": digest}), name="b")
        chart = layer_lines([first, second])[0]
        assert [line.name.split(",")[0] for line in chart.lines] == ["a", "b"]
        assert ("not comparable" in chart.note) != comparable


def test_the_layer_table_holds_what_is_drawn() -> None:
    space = space_of(make_records(CODES, range(5)))
    table = layer_table(space)
    assert table is not None
    assert [column.title for column in table.columns] == [
        "Layer", "P@1, as is", "P@1, centred", "CKA", "P@1 held out, rotated", "AUC, cosine distance", "Mean cosine",
    ]  # fmt: skip
    assert table.rows[4][2] == space.mean(space.centered, 4)
    assert len(table.rows) == 5


def test_seeds_are_averaged_and_blocks_and_models_kept_apart() -> None:
    base = [record for record in RISING if record.measure == "cka"]
    records = [
        record
        for seed in range(2)
        for record in changed(
            base, lambda r, s=seed: {"model": f"m seed {s}", "block": "one", "value": r.value + s / 10}
        )
    ]
    other = changed(base, lambda r: {"block": "two", "model": "m"})
    blocks = alignment_blocks(make_run([*records, *other]))
    assert list(blocks) == ["one", "two"]
    (space,) = blocks["one"]
    assert len(space.at(space.headline, 0)["en", "ru"].records) == 2
    names = [section.name for section in build_report([make_run([*records, *other])]).sections]
    assert "layers-one" in names
    assert "layers-two" in names


def test_directions_are_pairs_and_their_mean_is_of_both() -> None:
    records = [
        make_record("retrieval", "p@1", value, options=CENTRED, source=pair[0], target=pair[1])
        for pair, value in ((("en", "ru"), 0.2), (("ru", "en"), 0.4))
    ]
    space = space_of(records)
    found = space.at(space.centered, 1)
    assert list(found) == [("en", "ru"), ("ru", "en")]
    assert mean_both_directions(found)["en", "ru"].value == pytest.approx(0.3)


def test_languages_are_clustered_by_closeness() -> None:
    close = {
        ("en", "de"): 0.9,
        ("ru", "uk"): 0.9,
        ("en", "ru"): 0.1,
        ("en", "uk"): 0.1,
        ("de", "ru"): 0.1,
        ("de", "uk"): 0.1,
    }
    order = cluster_order({pair: Estimate(value=value) for pair, value in close.items()})
    assert abs(order.index("en") - order.index("de")) == abs(order.index("ru") - order.index("uk")) == 1


# ------------------------------------------------------------------------------------------ map, distances, tokenizer
def points_of(codes: list[str], rows: int) -> dict[str, Any]:
    points = [{"x": row + 0.5, "y": float(at), "language": code, "row": row, "text": f"{code} {row}\u202e"}
              for at, code in enumerate(codes) for row in range(rows)]  # fmt: skip
    return {"method": "pca", "layer": 4, "explained": [0.312, 0.1], "points": points,
            "purity": {"k": 10, "value": 0.85, "chance": 0.33},
            "centred": {"places": [[p["x"] + 1, p["y"]] for p in points], "explained": [0.2, 0.1]}}  # fmt: skip


def test_the_map_is_shown_as_is_and_centred_with_the_variance_on_its_axes() -> None:
    section = map_section(make_run(RISING, points=points_of(CODES, 5)))
    assert section is not None
    (menu,) = section.charts
    assert isinstance(menu, ChartMenu)
    assert menu.menus == (("Vectors", ("as is", "language means subtracted")),)
    raw, centred = (menu.charts[key,] for key in menu.menus[0][1])
    assert isinstance(raw, PointMap)
    assert isinstance(centred, PointMap)
    assert raw.x_title == "component 1 (31.2\xa0% of variance)"
    assert "85.0\xa0% have its language (33.0\xa0% if languages were mixed)" in raw.note
    assert [group.name for group in raw.groups] == ["English", "Russian", "Hindi", "German"]
    assert centred.groups[0].x[0] == raw.groups[0].x[0] + 1
    assert raw.groups[1].rows == list(range(5))
    assert raw.groups[0].texts[0] == "en 0[U+202E]"
    assert map_section(make_run(RISING)) is None


def test_a_large_map_is_thinned_by_whole_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlingua.report.subjects.layers.MAX_MAP_POINTS", 12)
    section = map_section(make_run(RISING, points=points_of(CODES, 20)))
    assert section is not None
    shown = charts_of(section.charts[0])[0]
    assert isinstance(shown, PointMap)
    assert {tuple(group.rows) for group in shown.groups} == {(0, 6, 13)}
    assert "3 of 20 sentences are shown" in shown.note


def test_histograms_of_distances_have_their_auc_and_stay_small() -> None:
    space = space_of(make_records(["en", "ru", "hi", "de", "fr", "es", "pt", "sw", "tr", "be"], range(7)))
    section = distance_section(space)
    assert section is not None
    menu = section.charts[0]
    assert isinstance(menu, ChartMenu)
    assert menu.menus[1][1][0] == "4"
    assert (
        sum(len(h.counts) for c in menu.charts.values() for r in c.rows for h in r.histograms) <= MAX_HISTOGRAM_COUNTS
    )  # type: ignore[union-attr]
    row = menu.charts["English–Russian", "4"].rows[0]  # type: ignore[union-attr]
    assert row.side == space.at(space.find("separation", "auc", distance="cosine"), 4)["en", "ru"]  # type: ignore[union-attr]
    assert [sum(histogram.counts) for histogram in row.histograms] == [pytest.approx(1.0)] * 2  # type: ignore[union-attr]


def test_the_tokenizer_table_is_sorted_by_pieces_per_word_and_absent_without_records() -> None:
    table = tokenizer_table(space_of(make_records(CODES, [0])))
    assert table is not None
    values = [row[1].value for row in table.rows if isinstance(row[1], Estimate)]
    assert values == sorted(values)
    assert len(values) == len(CODES)
    assert tokenizer_table(space_of([r for r in RISING if r.measure == "cka"])) is None


# ------------------------------------------------------------------------------------------------------------- evidence
def test_a_layer_is_tied_within_the_interval_of_the_best_on_the_side_that_counts() -> None:
    layers = {0: Estimate(value=0.3, ci_low=0.2, ci_high=0.4), 1: Estimate(value=0.5, ci_low=0.4, ci_high=0.6)}
    assert find_peak(layers).layer == 1
    assert find_peak(layers, higher_is_better=False).layer == 0
    assert find_peak(layers, higher_is_better=False).tied_layers == ()


@pytest.mark.parametrize("count", range(2, MIN_CORRELATION_ITEMS))
def test_few_dots_get_no_line(count: int) -> None:
    found = fit_trend(range(count), range(count))
    assert found.line is None
    assert f"{count} dots" in found.text


def test_a_line_is_drawn_where_the_interval_leaves_out_0_and_is_that_of_scipy() -> None:
    draw = np.random.default_rng(0)
    across = draw.normal(size=20)
    up = 2 * across + draw.normal(size=20)
    line = linregress(across, up)
    ends = fit_trend(across.tolist(), up.tolist()).line
    assert ends is not None
    for x, y in ends:
        assert y == pytest.approx(line.intercept + line.slope * x)


def test_noise_rarely_gets_a_line_and_a_constant_side_none() -> None:
    draw = np.random.default_rng(0)
    drawn = sum(fit_trend(*draw.normal(size=(2, 8)).tolist()).line is not None for _ in range(400))
    assert drawn / 400 == pytest.approx(0.05, abs=0.035)
    assert fit_trend([1.0] * 6, range(6)).line is None
    clear = Association(0.9, 0.5, 0.98, 0.01, 1e-4, 0.5, 11, of_pairs=True)
    assert fit_trend_of_pairs([1.0] * 6, [float(v) for v in range(6)], clear).line is None


@pytest.mark.parametrize(
    ("count", "p", "low", "drawn"),
    [
        (4, 0.01, 0.5, False),
        (6, 0.01, 0.5, True),
        (6, 0.05, 0.5, False),
        (6, 0.01, None, False),
        (6, 0.01, -0.1, False),
    ],
)
def test_pairs_that_share_languages_are_judged_by_the_mantel_test(
    count: int, p: float, low: float | None, drawn: bool
) -> None:
    found = Association(0.9, low, None if low is None else 0.98, p, 1e-4, 0.5, 11, of_pairs=True)
    shown = fit_trend_of_pairs(list(range(count)), list(range(count)), found)
    assert (shown.line is not None) == drawn
    assert re.search("Mantel’s ρ = 0.90", shown.text)
    assert fit_trend_of_pairs(list(range(count)), list(range(count))[::-1], found).line is None
