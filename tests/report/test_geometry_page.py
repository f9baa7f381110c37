from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import json
import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browsers import all_drawn
from interlingua.report.geometry import geometry_files
from interlingua.report.geometry_maps import map_section, map_sets, styles
from interlingua.report.geometry_page import geometry_sections
from interlingua.report.geometry_pictures import maps_svg
from interlingua.report.geometry_tables import all_tables, findings
from interlingua.report.runs import Run
from interlingua.stats import Association, wilson_interval
from pages import page_data

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{7*7}}<!--\u202e"
CODES = ("be", "en", "ru")
LAST = 2


def record(measure: str, variant: str, source: str, target: str | None, value: float, **more: Any) -> dict[str, Any]:
    own = {"layer": None, "corpus": "test", "null": 0.3, "low": value - 0.01, "high": value + 0.01, "details": {}}
    return {"measure": measure, "variant": variant, "source": source, "target": target, "value": value, **own, **more}


def looks(state: str, corpus: str, shift: float) -> list[dict[str, Any]]:
    made = []
    about = {"corpus": corpus, "details": {"state": state}}
    for layer in range(LAST + 1):
        for place, (one, other) in enumerate((("be", "en"), ("be", "ru"), ("en", "ru"))):
            value = 0.5 + 0.1 * place + 0.01 * layer + shift
            made.append(record("parallel-cosine", "raw", one, other, value, layer=layer, **about))
        for variant in ("silhouette/language", "purity/language", "silhouette/type", "purity/type"):
            made.append(record("clusters", variant, "be+en+ru", None, 0.6 + shift, layer=layer, **about))
    return made


def wrong(source: str, target: str) -> float:
    return 0.1 * (CODES.index(source) + 1) + 0.02 * CODES.index(target)


@pytest.fixture
def records() -> list[dict[str, Any]]:
    made = [r for s, shift in (("before", 0.0), ("after", 0.1)) for r in looks(s, "test", shift)]
    made += [r for s, shift in (("before", 0.0), ("after", 0.1)) for r in looks(s, f"about {HOSTILE}", shift)]
    for source in CODES:
        for column, target in enumerate(CODES):
            made.append(record("pairwise", "wrong/sentence", source, target, wrong(source, target)))
            curve = {"steps": [0, 2, 4], "values": [0.1, 0.2, 0.1 * column], "span": 2}
            made.append(record("similarity", "cosine", source, target, 0.5, layer=LAST, details=curve))
    return made


@pytest.fixture
def run() -> dict[str, Any]:
    return {
        "model": HOSTILE, "data": [HOSTILE], "languages": list(CODES), "source": "en", "about": HOSTILE,
        "names": {"be": "Belarusian", "en": HOSTILE, "ru": "Russian"}, "pieces": {"be": [HOSTILE, "b"], "en": ["c"]},
        "rows": {"train": 8, "test": 2}, "settings": {"map": HOSTILE}, "skipped": [HOSTILE],
        "trained": [{"language": "en", "seed": 0, "steps": 9, "seconds": 1.0}],
    }  # fmt: skip


def points(corpus: str, state: str) -> dict[str, Any]:
    own = [
        {"language": code, "row": f"r{row}", "type": kind, "name": HOSTILE, "text": f"{HOSTILE} {code} {row}"}
        for code in CODES
        for row, kind in enumerate(("PER", HOSTILE, "LOC"))
    ]
    panels = [
        {"layer": layer, "x": [float(n) for n in range(9)], "y": [float(n % 4) for n in range(9)], "about": about}
        for layer, about in ((0, {"explained": [0.5, 0.2]}), (LAST, {"perplexity": 70.0}))
    ]
    return {"set": corpus, "state": state, "method": "pca", "entities": 3, "points": own, "panels": panels}


@pytest.fixture
def maps() -> list[dict[str, Any]]:
    return [points(corpus, state) for state in ("before", "after") for corpus in ("test", f"about {HOSTILE}")]


@pytest.fixture
def found() -> dict[str, Any]:
    pairs = [(a, b) for a in CODES for b in CODES if a != b]
    shown = [
        {"source": a, "target": b, "tnld": 0.1 * n, "wrong": wrong(a, b), "n": 9} for n, (a, b) in enumerate(pairs)
    ]
    rho = asdict(Association(0.5, None, None, 1 / 6, 1 / 6, None, 3, of_pairs=True))
    lines = {code: [0.1, 0.2] for code in CODES}
    matrix = [[1.0, 0.9, -0.5], [0.9, 1.0, -0.4], [-0.5, -0.4, 1.0]]
    return {
        "changes": {"en": {"steps": [0, 2], "lines": lines}},
        "groups": {"languages": list(CODES), "matrix": matrix, "null": [[0.2] * 3] * 3, "order": [2, 0, 1],
                   "groups": [1, 1, 0], "merges": [], "span": 2},
        "scatter": {"points": shown, "rho": rho},
    }  # fmt: skip


@pytest.fixture
def files(records: Any, run: Any, maps: Any, found: Any) -> dict[str, str]:
    return geometry_files(records, run, maps, found)


def test_hostile_texts_are_text_everywhere(files: dict[str, str]) -> None:
    html = files["geometry.html"]
    assert html.count("<script") == 4
    assert "<img" not in html
    assert "alert(1)</script>" not in html
    assert "\u202e" not in html
    assert "{{7*7}}" in html
    for name, text in files.items():
        if name.endswith(".svg"):
            assert "<script" not in text
            assert "<img" not in text
    maps = [figure for figure in page_data(html)["figures"] if figure["dense"]]
    assert all("<" not in text for figure in maps for trace in figure["traces"] for text in trace["text"])
    assert maps[0]["traces"][0]["text"][0].startswith("\u2068&lt;/script&gt;")


def test_the_policy_names_the_hash_of_each_script_that_runs(files: dict[str, str]) -> None:
    html = files["geometry.html"]
    running = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(running) == 3
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    for script in running:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy


def test_maps_are_well_formed_and_have_a_mark_for_each_entity_in_each_panel(files: dict[str, str]) -> None:
    for name in ("maps-test-language.svg", "maps-about-type.svg"):
        tree = ET.fromstring(files[name])
        groups = [node for node in tree.iter() if node.tag.endswith("}g")]
        assert [len(list(group)) for group in groups] == [9] * 4


def test_a_point_has_the_colour_that_the_key_gives_its_label(records: Any, run: Any, maps: Any) -> None:
    for label in ("language", "type"):
        figure, own = map_sets(maps, records, run)[0], styles(maps, run)
        tree = ET.fromstring(maps_svg(figure, own, label))
        paths = [node for node in tree.iter() if node.tag.endswith("}path")]
        fills = {"#" + str(node.get("id")): node.get("fill") for node in paths}
        drawn = next(node for node in tree.iter() if node.tag.endswith("}g"))
        # x grows with the number of the point, so that marks from left to right are the points in order.
        marks = sorted(drawn, key=lambda node: float(str(node.get("x"))))
        assert [fills[str(mark.get("href"))] for mark in marks] == [own[label][key]["colour"] for key in figure[label]]


def test_panels_stand_by_layer_and_state_and_have_their_own_numbers(records: Any, run: Any, maps: Any) -> None:
    figure = map_sets(maps, records, run)[0]
    assert [(panel["layer"], panel["state"]) for panel in figure["panels"]] == [
        (0, "before"), (0, "after"), (LAST, "before"), (LAST, "after"),
    ]  # fmt: skip
    shown = [{n["what"]: n["value"] for n in panel["numbers"]} for panel in figure["panels"]]
    assert [one["purity"] for one in shown] == ["0.60", "0.70", "0.60", "0.70"]


def test_every_language_and_type_has_a_mark_of_its_own(maps: Any, run: Any) -> None:
    for own in styles(maps, run).values():
        marks = [(style["colour"], style["symbol"]) for style in own.values()]
        assert len(set(marks)) == len(marks) == 3


def test_the_cosine_table_is_the_records_both_ways(files: dict[str, str]) -> None:
    rows = list(csv.reader(io.StringIO(files["tables/cosine-test-after.csv"])))
    assert rows[0] == ["", "be", "en", "ru", "shuffled"]
    values = [[float(cell) for cell in row[1:4]] for row in rows[1:]]
    assert values[0] == pytest.approx([1.0, 0.62, 0.72])
    assert [list(column) for column in zip(*values, strict=True)] == values


def test_wrong_sentences_stand_under_the_language_of_training(files: dict[str, str]) -> None:
    rows = list(csv.reader(io.StringIO(files["tables/pairwise.csv"])))
    assert rows[2][0] == "en"
    assert [float(cell) for cell in rows[2][1:]] == pytest.approx([0.2, 0.22, 0.24, 0.22])


def test_a_study_without_fine_tuning_is_told_by_what_it_has(records: Any, run: Any, maps: Any) -> None:
    before = [each for each in records if each["details"].get("state") == "before"]
    files = geometry_files(before, {**run, "trained": []}, maps[:1], {})
    assert "While fine-tuning" not in files["geometry.html"]
    assert not any("after" in table.name for table in all_tables(before, run, {}))
    assert [topic for topic, _ in findings(before, run, {})] == ["Clusters", "Cosine"]


def test_of_two_languages_none_is_best_and_no_group_is_told(records: Any, run: Any, found: Any) -> None:
    two = ("be", "ru")
    kept = [each for each in records if each["source"] in two and each["target"] in two]
    groups = {"languages": list(two), "matrix": [[1.0, 0.9], [0.9, 1.0]], "null": [[0.2] * 2] * 2, "groups": [0, 1]}
    told = dict(findings(kept, run, {"groups": {**groups, "span": 2}}))
    assert "Best" not in told["Transfer"]
    assert told["Transfer"].startswith("From Belarusian to Russian (14\N{NO-BREAK SPACE}% wrong), from Russian to")
    assert told["Moving together"].endswith(
        "Belarusian and Russian change with r = 0.90, their curves shifted in time with 0.20."
    )
    (table,) = (each for each in all_tables(kept, run, {"groups": {**groups, "span": 2}}) if each.name == "groups")
    assert table.columns == ("", "be", "ru", "chance")


def made_run(records: Any, run: Any, maps: Any, found: Any, **more: Any) -> Run:
    return Run(run, records, more={"maps": maps, "found": found}, **more)


def test_every_mark_and_cell_names_the_record_that_has_its_value(records: Any, run: Any, maps: Any, found: Any) -> None:
    checked = 0
    for section in geometry_sections([made_run(records, run, maps, found)]):
        for table in (*section.tables, *(figure.table for figure in section.figures if figure.table)):
            for row, cells in enumerate(table.rows):
                for column, cell in enumerate(cells):
                    refs = table.behind(row, column)
                    # A change is no value of its record, which is the cosine it is a change of.
                    if refs is None or table.name == "steps-change":
                        continue
                    own = [records[place] for place in ((refs,) if isinstance(refs, int) else refs)]
                    if table.name == "steps-cosine":
                        source, target, step = cells[:3]
                        assert (own[0]["source"], own[0]["target"]) == (source, target)
                        assert cell == own[0]["details"]["values"][own[0]["details"]["steps"].index(step)]
                        continue
                    key = "null" if "shuffled" in table.columns[column] else "value"
                    assert cell == pytest.approx(sum(each[key] for each in own) / len(own))
                    checked += 1
        for figure in section.figures:
            for trace in [trace for trace in figure.traces if trace["type"] == "heatmap" and "records" in trace]:
                for values, behind in zip(trace["z"], trace["records"], strict=True):
                    for value, refs in zip(values, behind, strict=True):
                        own = [records[at] for at in ((refs,) if isinstance(refs, int) else refs or ())]
                        assert (value is None) == (not own)
                        assert all(each["value"] == pytest.approx(value, abs=1e-4) for each in own)
    assert checked > 100


def test_a_map_shows_each_entity_once_whatever_is_chosen(records: Any, run: Any, maps: Any, found: Any) -> None:
    section = map_section(made_run(records, run, maps, found))
    assert section is not None
    assert [figure.name for figure in section.figures] == [
        f"map-{layer}-{state}" for layer in (0, LAST) for state in ("before", "after")
    ]
    by, which = section.choices
    for figure in section.figures:
        for colour, _ in by.options:
            for corpus, _ in which.options:
                shown = [trace for trace in figure.traces if trace["when"] == {"by": colour, "set": corpus}]
                assert sorted(x for trace in shown for x in trace["x"]) == [float(n) for n in range(9)]
                assert len({trace["name"] for trace in shown}) == 3


def test_translations_are_one_group_in_every_colouring(records: Any, run: Any, maps: Any, found: Any) -> None:
    section = map_section(made_run(records, run, maps[:1], found))
    assert section is not None
    for by in ("language", "type"):
        shown = [trace for trace in section.figures[0].traces if trace["when"] == {"by": by}]
        rows = {x: group for trace in shown for x, group in zip(trace["x"], trace["groups"], strict=True)}
        assert [rows[float(n)] for n in range(9)] == [0, 1, 2] * 3


def test_a_page_of_many_points_is_thinned_by_whole_rows_and_says_so(
    monkeypatch: pytest.MonkeyPatch, records: Any, run: Any, maps: Any, found: Any
) -> None:
    monkeypatch.setattr("interlingua.report.geometry_maps.SHOWN_POINTS", 6)
    section = map_section(made_run(records, run, maps[:1], found))
    assert section is not None
    groups = [
        group for trace in section.figures[0].traces if trace["when"]["by"] == "type" for group in trace["groups"]
    ]
    assert len(groups) == 6
    assert all(groups.count(group) == len(CODES) for group in groups)
    assert "2 of 3 rows are shown" in section.words[1]


def test_texts_that_maps_share_are_once_in_the_page(files: dict[str, str]) -> None:
    packed = files["geometry.html"].split('id="data">', 1)[1].split("</script>", 1)[0]
    data = json.loads(gzip.decompress(base64.b64decode(packed)))
    traces = [trace for figure in page_data(files["geometry.html"])["figures"] if figure["dense"]
              for trace in figure["traces"]]  # fmt: skip
    every = [text for trace in traces for text in trace["text"]]
    assert len(every) == 9 * 4 * 2 * 2  # Marks, panels, sets, colourings.
    assert sorted(data["texts"]) == sorted(set(every))


def test_a_study_of_which_nothing_is_there_yet_has_a_page(run: Any) -> None:
    sections = geometry_sections([Run(run)])
    assert [section.name for section in sections] == ["answer", "tables", "made"]
    assert "run the same command again" in sections[0].words[0]


def test_runs_side_by_side_share_the_layer_curves_and_keep_their_own_records(
    records: Any, run: Any, maps: Any, found: Any
) -> None:
    both = [
        made_run(records, run, maps, found, key=key, name=key, first=first)
        for key, first in (("a", 0), ("b", len(records)))
    ]
    sections = {section.name: section for section in geometry_sections(both)}
    lines = [trace for trace in sections["clusters"].figures[0].traces if "records" in trace]
    assert [trace["name"] for trace in lines] == [
        f"\u2068{key}: {state}\u2069" for key in "ab" for state in ("before", "after")
    ]
    assert [place + len(records) for place in lines[0]["records"]] == lines[2]["records"]
    assert {"maps-a", "maps-b", "transfer-a", "transfer-b"} <= set(sections)


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium here")
def test_a_browser_draws_every_figure_and_recolours_the_maps(files: dict[str, str], tmp_path: Path) -> None:
    sync = pytest.importorskip("playwright.sync_api")
    page, heard = tmp_path / "geometry.html", []
    page.write_text(files["geometry.html"], "utf-8")
    with sync.sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page()
        tab.on("console", lambda message: heard.append(message.text))
        tab.on("pageerror", lambda error: heard.append(str(error)))
        tab.goto(page.as_uri())
        all_drawn(tab)
        # Learnt, 2 of layers, 2 of cosines, change and cosine by step, groups, wrong, scatter; and 4 maps.
        assert tab.locator(".plot.js-plotly-plot").count() == 1 + 2 + 2 + 2 + 3
        assert tab.locator("#maps .dots canvas").count() == 4
        names = tab.locator("#maps figure").first.locator(".legend button")
        names.first.click()  # Hidden, Belarusian is; of another colouring that says nothing.
        assert names.first.get_attribute("aria-pressed") == "false"
        tab.select_option("#maps [data-choice=by]", "type")
        tab.wait_for_function("document.querySelector('#maps .legend').textContent.includes('PER')")
        assert [name[:9] for name in names.all_text_contents()] == ["</script>", "LOC", "PER"]
        assert {button.get_attribute("aria-pressed") for button in names.all()} == {"true"}
        box = tab.locator("#maps canvas").first
        size = box.bounding_box()
        # The first point is the lowest on the left, at 3 % of the map's sides from its corner.
        box.hover(position={"x": size["width"] * (0.5 - 0.5 / 1.06), "y": size["height"] * (0.5 + 0.5 / 1.06)})
        assert "Belarusian, PER" in tab.locator("#tip").text_content()
        assert tab.locator("#maps .reading").first.locator("li").count() == len(CODES)
        browser.close()
    assert heard == []


@pytest.mark.parametrize("seeds", [1, 3])
def test_the_extremes_of_equal_pairs_are_seldom_told_apart_and_a_far_one_is(seeds: int) -> None:
    codes = tuple("abcdefghijk")  # 110 pairs of languages, as the paper's.
    about = {"languages": list(codes), "source": "a", "names": {}}
    draw, n, told_apart = np.random.default_rng(7), 1000, 0

    def made(far: float) -> list[dict[str, Any]]:
        found = []
        for seed in range(seeds):
            for one in codes:
                for other in codes:
                    share = far if (one, other) == ("a", "b") else 0.3
                    wrong_ones = int(draw.binomial(n, min(max(share + draw.normal(0, 0.02 * (seeds > 1)), 0), 1)))
                    low, high = wilson_interval(wrong_ones, n)
                    more = {"low": low, "high": high, "null": 0.9, "seed": seed}
                    found.append(record("pairwise", "wrong/sentence", one, other, wrong_ones / n, **more))
        return found

    for _ in range(100):
        told_apart += dict(findings(made(0.3), about, {}))["Transfer"].startswith("Best")
    assert told_apart <= 12  # By two intervals that lie apart it was 98 and 97.
    assert dict(findings(made(0.05), about, {}))["Transfer"].startswith("Best from a to b (")


def test_where_nothing_is_carried_over_that_comes_first_and_no_pair_is_best() -> None:
    about = {"languages": ["be", "en", "ru"], "source": "en", "names": {}}
    cells = [
        record("pairwise", "wrong/sentence", one, other, 0.1 if one == other else 0.88, null=0.9, low=0.05, high=0.92)
        for one in CODES
        for other in CODES
    ]
    for each in cells:
        if each["source"] == each["target"]:
            each["high"] = 0.15
    topic, said = findings(cells, about, {})[0]
    assert topic == "No transfer"
    assert "all 6 pairs are no better than chance" in said
    assert "90\N{NO-BREAK SPACE}% by chance" in said
    assert "Best" not in said
    cells[1] = {**cells[1], "value": 0.2, "low": 0.15, "high": 0.25}
    told = dict(findings(cells, about, {}))
    assert "Above chance only from" in told["Transfer"]
    assert "No better than chance: 5 of 6 pairs" in told["Transfer"]
