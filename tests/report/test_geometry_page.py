from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from interlingua.report.geometry import geometry_files
from interlingua.report.geometry_figures import map_figures, styles
from interlingua.report.geometry_pictures import maps_svg
from interlingua.report.geometry_tables import all_tables, findings

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


@pytest.fixture
def records() -> list[dict[str, Any]]:
    made = [r for s, shift in (("before", 0.0), ("after", 0.1)) for r in looks(s, "test", shift)]
    made += [r for s, shift in (("before", 0.0), ("after", 0.1)) for r in looks(s, f"about {HOSTILE}", shift)]
    for row, source in enumerate(CODES):
        for column, target in enumerate(CODES):
            made.append(record("pairwise", "wrong/sentence", source, target, 0.1 * (row + 1) + 0.02 * column))
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
    shown = [{"source": a, "target": b, "tnld": 0.1 * n, "wrong": 0.05 * n, "n": 9} for n, (a, b) in enumerate(pairs)]
    score = {"value": 0.5, "low": None, "high": None, "null": 0.0, "n": 6, "details": {"p": 0.01, "languages": 3}}
    lines = {code: [0.1, 0.2] for code in CODES}
    matrix = [[1.0, 0.9, -0.5], [0.9, 1.0, -0.4], [-0.5, -0.4, 1.0]]
    return {
        "changes": {"en": {"steps": [0, 2], "lines": lines}},
        "groups": {"languages": list(CODES), "matrix": matrix, "null": [[0.2] * 3] * 3, "order": [2, 0, 1],
                   "groups": [1, 1, 0], "merges": [], "span": 2},
        "scatter": {"points": shown, "pearson": score, "spearman": score},
    }  # fmt: skip


@pytest.fixture
def files(records: Any, run: Any, maps: Any, found: Any) -> dict[str, str]:
    return geometry_files(records, run, maps, found)


def test_hostile_texts_are_text_everywhere(files: dict[str, str]) -> None:
    html = files["geometry.html"]
    assert html.count("<script") == 3
    assert "<img" not in html
    assert "alert(1)</script>" not in html
    assert "\u202e" not in html
    assert "{{7*7}}" in html
    for name, text in files.items():
        if name.endswith(".svg"):
            assert "<script" not in text
            assert "<img" not in text
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1])
    assert data["maps"][0]["name"][0].startswith("</script><script>alert(1)")


def test_the_policy_names_the_hash_of_each_script_that_runs(files: dict[str, str]) -> None:
    html = files["geometry.html"]
    running = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(running) == 2
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
        figure, own = map_figures(maps, records, run)[0], styles(maps, run)
        tree = ET.fromstring(maps_svg(figure, own, label))
        paths = [node for node in tree.iter() if node.tag.endswith("}path")]
        fills = {"#" + str(node.get("id")): node.get("fill") for node in paths}
        drawn = next(node for node in tree.iter() if node.tag.endswith("}g"))
        # x grows with the number of the point, so that marks from left to right are the points in order.
        marks = sorted(drawn, key=lambda node: float(str(node.get("x"))))
        assert [fills[str(mark.get("href"))] for mark in marks] == [own[label][key]["colour"] for key in figure[label]]


def test_panels_stand_by_layer_and_state_and_have_their_own_numbers(records: Any, run: Any, maps: Any) -> None:
    figure = map_figures(maps, records, run)[0]
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


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium here")
def test_a_browser_draws_every_figure_without_a_complaint(files: dict[str, str], tmp_path: Path) -> None:
    page = tmp_path / "geometry.html"
    page.write_text(files["geometry.html"], "utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
    command = ["chromium", *options, "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}"]
    command += ["--virtual-time-budget=20000", "--dump-dom"]
    done = subprocess.run([*command, page.as_uri()], capture_output=True, text=True, timeout=180, check=True)
    assert "CONSOLE" not in done.stderr
    # 8 maps, 2 of layers, 2 of cosines, steps, groups, wrong, scatter.
    assert len(re.findall(r'class="plot[^"]*js-plotly-plot"', done.stdout)) == 8 + 2 + 2 + 4
