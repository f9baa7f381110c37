"""What a report says of a geometry run: verdicts, values of cells with their records, and what is not drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from interlingua.record import Estimate, Record, RecordTable
from interlingua.report.kit.chart import GREY, Chart, ChartMenu, HeatMap, IntervalChart, LineChart, PointMap
from interlingua.report.kit.finding import Verdict
from interlingua.report.kit.section import Run, Section
from interlingua.report.kit.table import Table
from interlingua.report.subjects import entity_maps
from interlingua.report.subjects.geometry import SUBJECT, EntityGeometry, find_errors, find_groups
from interlingua.stats import Association, wilson_interval

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{7*7}}<!--\u202e"
CODES = ("be", "en", "ru", "uk", "tr")
LAST = 2


def record(measure: str, metric: str, value: float, **more: Any) -> Record:
    bounds = {"null_value": 0.3, "ci_low": value - 0.01, "ci_high": value + 0.01, "n": 500}
    return Record(measure=measure, metric=metric, model="m", value=value, **{**bounds, **more})


def looks(state: str, corpus: str, shift: float, codes: tuple[str, ...]) -> Iterator[Record]:
    shared = {"corpus": corpus, "state": state, "unit": "entity"}
    for layer in range(LAST + 1):
        for place, (one, other) in enumerate((a, b) for a in codes for b in codes if a < b):
            for centering in ("raw", "centred"):
                value = 0.5 + 0.05 * place + 0.01 * layer + shift
                yield record("parallel-cosine", "parallel-cosine", value, layer=layer, source=one, target=other,
                             options={"centering": centering}, **shared)  # fmt: skip
        for metric in ("silhouette", "purity"):
            for label in ("language", "type"):
                yield record("clusters", metric, 0.6 + shift + 0.05 * (label == "type"), layer=layer, languages=codes,
                             options={"label": label}, **shared)  # fmt: skip


def wrong(source: str, target: str) -> float:
    return 0.1 * (CODES.index(source) + 1) + 0.02 * CODES.index(target)


def errors(codes: tuple[str, ...], null: float = 0.95) -> Iterator[Record]:
    for source in codes:
        for target in codes:
            yield record("pairwise", "wrong", wrong(source, target), source=source, target=target, null_value=null,
                         seed=0, options={"of": "sentence"}, higher_is_better=False)  # fmt: skip


def curves(codes: tuple[str, ...]) -> Iterator[Record]:
    for source in codes:
        for column, target in enumerate(codes):
            details = {"steps": [0, 2, 4], "values": [0.1, 0.2, 0.1 * column], "span": 2}
            yield record("similarity", "cosine", 0.5, source=source, target=target, seed=0, layer=LAST, details=details)


def spellings(codes: tuple[str, ...]) -> Iterator[Record]:
    pairs = [(a, b) for place, a in enumerate(codes) for b in codes[place + 1 :]]
    for place, (one, other) in enumerate(pairs):
        yield record("spelling", "tnld", 0.1 * place, source=one, target=other, aspect="all", unit="name")


def entity_points(corpus: str, state: str, codes: tuple[str, ...]) -> dict[str, Any]:
    points = [
        {"language": code, "row": f"r{row}", "type": kind, "name": HOSTILE, "text": f"{HOSTILE} {code} {row}"}
        for code in codes
        for row, kind in enumerate(("PER", HOSTILE, "LOC"))
    ]
    count = len(points)
    places = {"x": [float(n) for n in range(count)], "y": [float(n % 4) for n in range(count)]}
    panels = [{"layer": 0, **places, "about": {"explained": [0.5, 0.2]}},
              {"layer": LAST, **places, "about": {"perplexity": 70.0}}]  # fmt: skip
    return {"set": corpus, "state": state, "method": "pca", "entities": 3, "points": points, "panels": panels}


def groups_of(codes: tuple[str, ...], matrix: Any) -> dict[str, Any]:
    count = len(codes)
    return {"languages": list(codes), "matrix": matrix, "null": [[0.2] * count] * count, "order": list(range(count)),
            "groups": [int(at > 0) for at in range(count)], "merges": [], "span": 2}  # fmt: skip


def geometry_run(codes: tuple[str, ...] = CODES, *, failed: tuple[str, ...] = (), **more: Any) -> Run:
    sets = ("test", f"about {HOSTILE}")
    records = [
        each for s, shift in (("before", 0.0), ("after", 0.1)) for c in sets for each in looks(s, c, shift, codes)
    ]
    records += [*errors(codes), *curves(codes), *spellings(codes)]
    about = {
        "kind": "geometry", "model": HOSTILE, "data": [HOSTILE], "languages": list(codes), "source": "en",
        "about": HOSTILE, "names": {"be": "Belarusian", "en": HOSTILE}, "pieces": {"be": [HOSTILE, "b"], "en": ["c"]},
        "rows": {"train": 8, "test": 2}, "settings": {"projection": HOSTILE, "seeds": [0]}, "skipped": [HOSTILE],
        "trained": [{"language": "en", "seed": 0, "steps": 9, "seconds": 1.0}],
    }  # fmt: skip
    pairs = [(a, b) for a in codes for b in codes if a != b]
    points = [
        {"source": a, "target": b, "tnld": 0.1 * n, "wrong": wrong(a, b), "n": 9} for n, (a, b) in enumerate(pairs)
    ]
    matrix = (np.eye(len(codes)) * 1.3 - 0.3).tolist()
    rho = asdict(Association(0.5, None, None, 1 / 6, 1 / 6, None, 3, of_pairs=True))
    found: dict[str, Any] = {
        "not_learnt": [{"language": code, "seed": 0, "wrong": 1.0, "chance": 0.95, "n": 500} for code in failed],
        "changes": {"en": {"steps": [0, 2], "lines": {code: [0.1, 0.2] for code in codes}}},
        "groups": groups_of(codes, matrix),
        "scatter": {"points": points, "rho": rho},
        **more,
    }  # fmt: skip
    maps = [entity_points(corpus, state, codes) for state in ("before", "after") for corpus in sets]
    attachments = {"geometries": [{"found": found, "maps": maps}]}
    return Run(kind="geometry", about=about, records=RecordTable(records), attachments=attachments)


def sections_of(run: Run) -> dict[str, Section]:
    return {section.name: section for section in SUBJECT.sections(run)}


def charts_of(run: Run) -> Iterator[Chart]:
    for section in SUBJECT.sections(run):
        for chart in section.charts:
            yield from chart.charts.values() if isinstance(chart, ChartMenu) else (chart,)


def tables_of(run: Run) -> dict[str, Table]:
    return {table.name: table for section in SUBJECT.sections(run) for table in section.tables}


def topics(run: Run) -> dict[str, Verdict]:
    headline = SUBJECT.headline(run)
    assert headline is not None
    return {finding.kind: finding.verdict for finding in (headline.answer, *headline.findings)}


def test_the_first_screen_answers_with_neighbours_and_errors_by_language_of_training() -> None:
    headline = SUBJECT.headline(geometry_run())
    assert headline is not None
    answer = headline.answer
    assert (answer.kind, answer.verdict) == ("fine_tuning_effect", Verdict.HIGHER)
    assert answer.estimate is not None
    assert answer.compared_with is not None
    assert (answer.estimate.value, answer.compared_with.value) == pytest.approx((0.7, 0.6))
    within = np.mean([wrong(code, code) for code in CODES])
    elsewhere = np.mean([wrong(a, b) for a in CODES for b in CODES if a != b])
    assert answer.about["errors_within"] == pytest.approx(within)
    assert answer.about["errors_elsewhere"] == pytest.approx(elsewhere)
    values = [figure.estimate.value for figure in headline.figures if figure.estimate is not None]
    assert values == pytest.approx([0.7, 0.75, within, elsewhere])
    assert answer.sentence == (
        "Fine-tuning on " + HOSTILE.replace("\u202e", "[U+202E]") + " raised the share of neighbours with the same "
        "language (60.0\xa0% [59.0, 61.0] before and 70.0\xa0% [69.0, 71.0] after, chance level 30.0\xa0%). "
        "34.0\xa0% of test sentences have a wrong tag in the language of training, 34.0\xa0% in other languages. "
        "Neighbours are of one fine-tuned model; those of other seeds were not measured."
    )


@pytest.mark.reliability("a run that learnt nothing says so first")
def test_a_task_that_was_not_learnt_comes_first_and_nothing_is_said_or_drawn_of_after() -> None:
    run = geometry_run(failed=("en",))
    headline = SUBJECT.headline(run)
    assert headline is not None
    assert (headline.answer.kind, headline.answer.verdict) == ("task_not_learnt", Verdict.AT_CHANCE)
    assert headline.answer.sentence.startswith("The task was not learnt: nothing can be said of fine-tuning on ")
    assert "not learnt: chance level 95.0\xa0%" in [figure.remark for figure in headline.figures]
    assert not [finding for finding in headline.findings if finding.kind == "entity_purity" and finding.compared_with]
    for chart in charts_of(run):
        if isinstance(chart, LineChart) and chart.name != "training":
            assert [line.name for line in chart.lines] == ["before fine-tuning"]
        assert not isinstance(chart, PointMap) or "after" not in chart.title
        if isinstance(chart, HeatMap) and chart.name == "error-matrix":
            assert len(chart.rows) == len(CODES) - 1
    names = [name for name in SUBJECT.numbers(run) if "after" in name]
    assert not names
    numbers = SUBJECT.numbers(run)
    assert [number.at_chance for name, number in numbers.items() if f"trained on {HOSTILE[:9]}" in name] == [True, True]  # type: ignore[attr-defined]
    assert any(str(row[0]).endswith("(not learnt)") for row in tables_of(run)["errors-by-language"].rows)


def test_a_failed_training_on_another_language_is_named_and_left_out() -> None:
    run = geometry_run(failed=("be",))
    headline = SUBJECT.headline(run)
    assert headline is not None
    assert headline.answer.kind == "fine_tuning_effect"
    assert headline.findings[0].kind == "task_not_learnt"
    own = [wrong(code, code) for code in CODES if code != "be"]
    assert headline.answer.about["errors_within"] == pytest.approx(np.mean(own))
    (intervals,) = (chart for chart in charts_of(run) if isinstance(chart, IntervalChart))
    assert [row.group for row in intervals.rows if row.label == "Belarusian"] == ["language of training"]


def test_overlapping_intervals_are_no_change_and_labels_at_chance_are_said_to_be() -> None:
    def verdict(before: float, after: float, null: float) -> Verdict:
        run = geometry_run()
        kept = [r for r in run.records if r.measure != "clusters"]
        kept += [
            record("clusters", "purity", value, layer=LAST, state=state, corpus="test", languages=CODES,
                   null_value=null,
                   options={"label": "language"})
            for state, value in (("before", before), ("after", after))
        ]  # fmt: skip
        headline = SUBJECT.headline(Run(kind="geometry", about=run.about, records=RecordTable(kept)))
        assert headline is not None
        return headline.answer.verdict

    assert verdict(0.5, 0.515, 0.2) is Verdict.UNCLEAR
    assert verdict(0.5, 0.4, 0.2) is Verdict.LOWER
    assert verdict(0.5, 0.515, 0.6) is Verdict.AT_CHANCE


def test_every_cell_and_mark_has_records_with_its_value() -> None:
    run = geometry_run()
    checked = 0
    for section in SUBJECT.sections(run):
        for table in section.tables:
            for cell in (cell for row in table.rows for cell in row):
                if isinstance(cell, Estimate) and cell.records:
                    assert cell.value == pytest.approx(np.mean([r.value for r in cell.records]))
                    checked += 1
    for chart in charts_of(run):
        if isinstance(chart, HeatMap) and chart.name != "correlation-matrix":
            for cell in (cell for row in chart.cells for cell in row if cell is not None):
                assert cell.value == pytest.approx(np.mean([r.value for r in cell.records]))
        if isinstance(chart, LineChart) and "cosine" in chart.name:
            assert all(e is not None and len(e.records) == 10 for line in chart.lines for e in line.y)
    assert checked > 80


def test_the_cosine_table_is_the_records_both_ways_round() -> None:
    rows = tables_of(geometry_run())["cosine-test-after"].rows
    matrix = [[cell.value if isinstance(cell, Estimate) else None for cell in row[1:-1]] for row in rows]
    assert [list(column) for column in zip(*matrix, strict=True)] == matrix
    assert matrix[0][1] == pytest.approx(0.62)


def test_fewer_than_five_languages_have_tables_and_no_heat_map() -> None:
    assert not [chart for chart in charts_of(geometry_run(("be", "en", "ru"))) if isinstance(chart, HeatMap)]
    names = {chart.name for chart in charts_of(geometry_run()) if isinstance(chart, HeatMap)}
    assert names == {"error-matrix", "cosine-matrix", "correlation-matrix", "spelling-matrix"}


def test_a_run_without_fine_tuning_is_reported_by_what_it_has() -> None:
    run = geometry_run()
    before = RecordTable(r for r in run.records if r.state == "before")
    run = Run(kind="geometry", about={**run.about, "trained": []}, records=before)
    assert topics(run)["fine_tuning_effect"] is topics(run)["entity_purity"] is Verdict.FOUND
    assert {"errors", "training"}.isdisjoint(sections_of(run))
    nothing = SUBJECT.headline(Run(kind="geometry", about=run.about, records=RecordTable([])))
    assert nothing is not None
    assert nothing.answer.verdict is Verdict.UNFINISHED


def geometry_of(records: list[Record], **more: Any) -> EntityGeometry:
    codes = list(dict.fromkeys(str(each.source) for each in records))
    return EntityGeometry(about={"languages": codes, "source": codes[0]}, records=RecordTable(records), **more)


@pytest.mark.parametrize("seeds", [1, 3])
def test_the_extremes_of_equal_pairs_are_seldom_told_apart_and_a_far_one_is(seeds: int) -> None:
    codes = tuple("abcdefghijk")  # 110 pairs of languages, as the paper's.
    draw, n, apart = np.random.default_rng(7), 1000, 0

    def made(far: float) -> list[Record]:
        found = []
        for seed in range(seeds):
            for one in codes:
                for other in codes:
                    share = far if (one, other) == ("a", "b") else 0.3
                    count = int(draw.binomial(n, min(max(share + draw.normal(0, 0.02 * (seeds > 1)), 0), 1)))
                    low, high = wilson_interval(count, n)
                    found.append(record("pairwise", "wrong", count / n, source=one, target=other, seed=seed,
                                        ci_low=low, ci_high=high, null_value=0.9))  # fmt: skip
        return found

    for _ in range(100):
        finding = find_errors(geometry_of(made(0.3)))
        assert finding is not None
        apart += finding.verdict is Verdict.LOWER
    assert apart <= 12  # By two intervals that lie apart it was 98 and 97.
    finding = find_errors(geometry_of(made(0.05)))
    assert finding is not None
    assert (finding.verdict, finding.about["best"]) == (Verdict.LOWER, ("a", "b"))


def test_where_nothing_is_transferred_that_comes_before_other_findings_and_no_pair_is_best() -> None:
    run = geometry_run()
    far = [r if r.source == r.target or r.measure != "pairwise"
           else record("pairwise", "wrong", 0.88, source=r.source, target=r.target, seed=0, null_value=0.9,
                       ci_low=0.85, ci_high=0.92)
           for r in run.records]  # fmt: skip
    headline = SUBJECT.headline(Run(kind="geometry", about=run.about, records=RecordTable(far)))
    assert headline is not None
    assert (headline.findings[0].kind, headline.findings[0].verdict) == ("cross_lingual_errors", Verdict.AT_CHANCE)
    assert "best" not in headline.findings[0].about
    cells = [r for r in far if r.measure == "pairwise"]
    cells[1] = record("pairwise", "wrong", 0.2, source="be", target="en", seed=0, null_value=0.9)
    finding = find_errors(geometry_of(cells))
    assert finding is not None
    assert (finding.verdict, len(finding.about["at_chance"]), finding.about["pairs"]) == (Verdict.UNCLEAR, 19, 20)
    assert finding.sentence.startswith("Better than chance only from Belarusian to English")


def test_of_two_languages_none_is_best_and_no_group_is_named() -> None:
    geometry = geometry_of(list(errors(("be", "ru"))))
    finding = find_errors(geometry)
    assert finding is not None
    assert finding.verdict is Verdict.NOT_TESTED
    entry = {"about": geometry.about, "found": {"groups": groups_of(("be", "ru"), [[1.0, 0.9], [0.9, 1.0]])}}
    groups = find_groups(EntityGeometry.of(entry, geometry.records))
    assert groups is not None
    assert groups.verdict is Verdict.UNCLEAR
    assert groups.sentence == (
        "The spaces of Belarusian and Russian change with r = 0.90 during fine-tuning; curves shifted in time give "
        "0.20."
    )


@pytest.mark.parametrize(
    ("lowest", "verdict"), [(0.91, Verdict.UNCLEAR), (0.99, Verdict.UNCLEAR), (-0.3, Verdict.NOT_TESTED)]
)
def test_groups_cannot_be_distinguished_where_all_correlations_are_high(lowest: float, verdict: Verdict) -> None:
    matrix = (np.eye(5) * (1 - lowest) + lowest).tolist()
    entry = {"about": {"languages": CODES, "source": "en"}, "found": {"groups": groups_of(CODES, matrix)}}
    finding = find_groups(EntityGeometry.of(entry, RecordTable([])))
    assert finding is not None
    assert finding.verdict is verdict
    assert finding.sentence.startswith("Groups cannot be distinguished") == (lowest > 0)


def maps_of(run: Run) -> list[tuple[tuple[str, ...], PointMap]]:
    menus = [chart for chart in sections_of(run)["maps"].charts if isinstance(chart, ChartMenu)]
    return [(key, chart) for menu in menus for key, chart in menu.charts.items() if isinstance(chart, PointMap)]


def test_a_map_shows_each_entity_once_and_colours_at_most_three_languages() -> None:
    maps = maps_of(geometry_run())
    assert len(maps) == 2 * 2 * 2 * 3  # Sets, states, layers; two pairs beside English, and the types.
    for _, chart in maps:
        assert sorted(x for group in chart.groups for x in group.x) == [float(n) for n in range(15)]
        colors = [group.color for group in chart.groups if group.color != GREY]
        assert len(colors) == len(set(colors)) == 3
        rows = {x: row for group in chart.groups for x, row in zip(group.x, group.rows, strict=True)}
        assert [rows[float(n)] for n in range(15)] == [0, 1, 2] * 5
        assert all("\u202e" not in text for group in chart.groups for text in group.texts)
    for (_, _, choice), chart in maps:
        assert ("by language" in chart.title) == (choice != "types")


def test_a_map_of_many_points_is_thinned_by_whole_rows_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_maps, "MAX_SHOWN_POINTS", 10)
    for _, chart in maps_of(geometry_run()):
        assert [len(group.x) for group in chart.groups if "by language" in chart.title] in ([2] * 5, [])
        assert "2 of 3 rows are shown" in chart.note


def test_a_study_has_the_sections_of_each_geometry_table_with_records() -> None:
    run = geometry_run()
    blocks = [("names", "small"), ("names", "large"), ("others", "small")]
    records = RecordTable(
        Record(**{**vars(r), "model": model, "block": block})
        for block, model in blocks[:2]
        for r in run.records
        if r.measure != "spelling"
    )
    entry = {**run.attachments["geometries"][0], "about": run.about}
    entries = [{**entry, "name": name, "encoder": encoder} for name, encoder in blocks]
    study = Run(kind="study", about={"name": "s"}, records=records, attachments={"geometries": entries})
    assert SUBJECT.applies(study)
    errors_by_title = {
        section.title: section.tables[0].rows for section in SUBJECT.sections(study) if section.name == "errors"
    }
    titles = [f"Errors by language of training: names, {model}" for model in ("small", "large")]
    assert list(errors_by_title) == titles
    small, large = (errors_by_title[title][0][1] for title in titles)
    assert isinstance(small, Estimate)
    assert isinstance(large, Estimate)
    assert {r.model for r in small.records} == {"small"}
    assert small.value == large.value
    assert not SUBJECT.applies(Run(kind="study", about={}, records=records))
