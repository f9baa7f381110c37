from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from interlingua.report.explain import all_tables, correlations
from interlingua.report.explain_page import explain_files
from interlingua.report.explain_picture import scatter
from interlingua.report.explain_terminal import render_explanation

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
CODES = ("en", "es", "ru", "hi", "zh")


def record(measure: str, variant: str, target: str, value: float, **more: Any) -> dict[str, Any]:
    details = {"random": 0.2, **more}
    return {
        "measure": measure, "variant": variant, "model": HOSTILE, "source": "en", "target": target,
        "value": value, "null": 0.1, "low": value - 0.01, "high": value + 0.01, "details": details,
    }  # fmt: skip


@pytest.fixture
def records() -> list[dict[str, Any]]:
    made = []
    for place, code in enumerate(CODES):
        made.append(record("consistency", "label", code, 1.0 if code == "en" else 0.5 - 0.05 * place))
        made.append(record("task", "accuracy", code, 0.9 - 0.06 * place))
        made.append(record("faithfulness", "comprehensiveness/label", code, 0.3))
        made.append(record("consistency-choices", "label/token/absolute", code, 0.4))
    return made


@pytest.fixture
def run() -> dict[str, Any]:
    return {
        "task": "nli", "metric": "accuracy", "models": [(HOSTILE, "en")], "languages": list(CODES),
        "settings": {"space": HOSTILE}, "skipped": [HOSTILE],
    }  # fmt: skip


EXAMPLE = {
    "key": HOSTILE,
    "score": 0.5,
    "languages": {"source": "en", "target": "es"},
    "source": {"units": ["tea", HOSTILE], "side": [0, 1], "attributions": [0.5, -1.0]},
    "target": {"units": [HOSTILE, "té"], "side": [0, 1], "attributions": [0.0, 0.0]},
    "flows": [[0, 1, 0.5], [1, 0, 0.2]],
}


def test_correlations_leave_out_the_source_and_equal_numpys(records: list[Any], run: dict[str, Any]) -> None:
    without, all_ = correlations(records, run)
    consistency = [0.5 - 0.05 * place for place in range(1, 5)]
    accuracy = [0.9 - 0.06 * place for place in range(1, 5)]
    assert without["without_source"]
    assert without["languages"] == 4
    assert without["r"] == pytest.approx(np.corrcoef(consistency, accuracy)[0, 1])
    assert all_["r"] == pytest.approx(np.corrcoef([1.0, *consistency], [0.9, *accuracy])[0, 1])


def test_the_picture_is_well_formed_and_has_a_dot_a_language_but_the_source(
    records: list[Any], run: dict[str, Any]
) -> None:
    tree = ET.fromstring(scatter(records, run))
    dots = [node for node in tree.iter() if node.tag.endswith("circle") and node.findall("{*}title")]
    assert len(dots) == 4


def test_one_language_beside_the_source_is_neither_most_nor_least(records: list[Any], run: dict[str, Any]) -> None:
    assert "Most alike: Spanish (0.45); least: Chinese (0.30)." in explain_files(records, run, [])["explain.html"]
    two = {**run, "languages": ["en", "es"]}
    page = explain_files([each for each in records if each["target"] in two["languages"]], two, [])["explain.html"]
    assert "Most alike" not in page
    assert "Spanish (0.45) is the one language beside that of training" in page


def test_a_terminal_has_the_answer_on_top_and_no_broken_words_whatever_the_languages(
    records: list[Any], run: dict[str, Any]
) -> None:
    codes = ["ar", "bg", "de", "el", "fr", "sw", "th", "tr", "ur", "vi"]
    like = next(each for each in records if each["target"] == "es" and each["measure"] == "consistency")
    faith = record("faithfulness", "comprehensiveness/entities", "es", 0.3)
    many = {**run, "languages": [*run["languages"], *codes]}
    screen = Console(file=io.StringIO(), width=80)
    render_explanation([*records, *({**like, "target": code} for code in codes), faith], many, screen)
    said = screen.file.getvalue()
    assert re.match(r"0\.\d\d of the attribution", said)
    assert "comprehensiveness/entities" in said
    assert {line.split()[0] for line in said.splitlines() if re.match(r" [a-z]{2} ", line)} == set(many["languages"])


@pytest.mark.parametrize(("unit", "said"), [("token", "the same word pieces"), ("word", "the same words")])
def test_pieces_of_words_are_not_called_words(records: list[Any], run: dict[str, Any], unit: str, said: str) -> None:
    page = explain_files(records, {**run, "settings": {"unit": unit}}, [])["explain.html"]
    assert said in page


def test_missing_numbers_are_shown_as_missing(records: list[Any], run: dict[str, Any]) -> None:
    fewer = [each for each in records if (each["measure"], each["target"]) != ("consistency", "hi")]
    table = next(table for table in all_tables(fewer, run) if table.name == "consistency-label")
    assert table.text()[0][table.columns.index("hi")] == "–"


def test_hostile_names_and_words_are_text_on_the_page(records: list[Any], run: dict[str, Any]) -> None:
    written = explain_files(records, run, [EXAMPLE])
    assert "<script" not in written["correlation.svg"]
    for name in ("explain.html", "correlation.svg"):
        assert "<script>alert" not in written[name]
        assert "<img" not in written[name].split("<script>", 1)[0]
    assert "&lt;script&gt;" in written["explain.html"]
