from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import spearmanr

from interlingua.report.explain import all_tables, correlations, heads_table, verdicts
from interlingua.report.explain_page import explain_answer, explain_files, explain_sections, explain_summary
from interlingua.report.explain_picture import scatter
from interlingua.report.explain_terminal import render_explanation
from interlingua.report.runs import Run

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
CODES = ("en", "es", "ru", "hi", "zh")


LEVEL = 0.3
SINGLE = {"level": LEVEL, "by": "always 'neutral'", "always": None, "above": True}


def record(measure: str, variant: str, target: str, value: float, **more: Any) -> dict[str, Any]:
    details = {"random": 0.2, **more}
    if measure == "consistency":
        above = value - details["random"]
        details.setdefault("above_random", [above, above - 0.01, above + 0.01])
        details.setdefault("heads", {"consistency": [0.22, 0.23, 0.24], "above_random": [0.02, 0.03, 0.04],
                                     "error": 0.002})  # fmt: skip
    if measure == "task":
        details.setdefault("chance", {**SINGLE, "above": value > LEVEL})
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


def test_correlations_leave_out_the_source_and_equal_scipys(records: list[Any], run: dict[str, Any]) -> None:
    without, all_ = correlations(records, run)
    consistency = [0.5 - 0.05 * place for place in range(1, 5)]
    accuracy = [0.9 - 0.06 * place for place in range(1, 5)]
    assert without["without_source"]
    assert without["languages"] == 4
    assert without["value"] == pytest.approx(spearmanr(consistency, accuracy).statistic)
    assert all_["value"] == pytest.approx(spearmanr([1.0, *consistency], [0.9, *accuracy]).statistic)


def test_the_picture_is_well_formed_and_has_a_dot_a_language_but_the_source(
    records: list[Any], run: dict[str, Any]
) -> None:
    tree = ET.fromstring(scatter(records, run))
    dots = [node for node in tree.iter() if node.tag.endswith("circle") and node.findall("{*}title")]
    assert len(dots) == 4


def with_heads(records: list[dict[str, Any]], values: list[float]) -> list[dict[str, Any]]:
    heads = {"consistency": [0.2 + value for value in values], "above_random": values, "error": 0.001}
    return [
        {**each, "details": {**each["details"], "heads": heads}} if each["measure"] == "consistency" else each
        for each in records
    ]


def test_a_model_is_credited_only_where_it_is_above_untrained_heads(
    records: list[dict[str, Any]], run: dict[str, Any]
) -> None:
    run = {**run, "models": [("clf", "en")]}
    own = [{**each, "model": "clf"} for each in records]
    above = verdicts(own, run)[0]
    assert (above.kind, above.languages) == ("above", ("es", "ru", "hi", "zh"))
    assert above.sentence.startswith("Yes: ")
    assert above.above is not None
    assert above.above.own == pytest.approx(np.mean([0.25, 0.2, 0.15, 0.1]), abs=1e-3)
    same = verdicts(with_heads(own, [0.17, 0.18, 0.175]), run)[0]
    assert same.kind == "not above"
    assert same.sentence.startswith("No: it can’t be shown")
    far = verdicts(with_heads(own, [0.0, 0.1, -0.1]), run)[0]  # Heads that differ much tell little.
    assert far.kind == "not above"
    none = [{**e, "details": {k: v for k, v in e["details"].items() if k != "heads"}} for e in own]
    assert verdicts(none, run)[0].kind == "unmeasured"


def test_where_only_some_languages_are_at_chance_they_are_named_first_and_left_out(
    records: list[dict[str, Any]], run: dict[str, Any]
) -> None:
    run = {**run, "models": [("clf", "en")]}
    own = [{**each, "model": "clf"} for each in records]
    for each in own:
        if (each["measure"], each["target"]) == ("task", "hi"):
            each["details"] = {"chance": {**SINGLE, "above": False, "always": "neutral"}}
    found = verdicts(own, run)[0]
    assert found.sentence.startswith("clf is not shown to be above chance in Hindi (accuracy 0.720")
    assert "always says 'neutral'" in found.sentence
    assert found.languages == ("es", "ru", "zh")


@pytest.mark.reliability("a sentence about words of a model at chance")
@pytest.mark.parametrize("seed", range(150))
def test_of_a_model_at_chance_no_sentence_is_about_words_and_differences_are_those_of_the_table(seed: int) -> None:
    draw = np.random.default_rng(seed)
    codes = ["en", *draw.permutation(["es", "ru", "hi", "zh", "ar", "de"])[: draw.integers(1, 6)]]
    made, learnt = [], {}
    unit = str(draw.choice(["token", "word"]))
    for code in codes:
        value, random = draw.uniform(0.1, 0.5), draw.uniform(0.1, 0.4)
        theirs = draw.normal(0.03, 0.03, draw.integers(3, 4))
        heads = {"consistency": (theirs + 0.2).tolist(), "above_random": theirs.tolist(), "error": 0.002}
        ends = [value - random, value - random - 0.01, value - random + 0.01]
        made.append(record("consistency", "label", code, value, random=random, above_random=ends, heads=heads))
        learnt[code] = bool(draw.random() < 0.6)
        always = None if learnt[code] or draw.random() < 0.5 else "neutral"
        told = {"level": 0.35, "by": "always 'neutral'", "always": always, "above": learnt[code]}
        made.append(record("task", "accuracy", code, draw.uniform(0.3, 0.9), chance=told))
    made = [{**each, "model": "clf"} for each in made]
    run = {"task": "nli", "metric": "accuracy", "models": [("clf", "en")], "languages": codes,
           "settings": {"unit": unit}}  # fmt: skip
    summary = explain_summary(made, run)
    (found,) = verdicts(made, run)
    section = explain_answer(Run(run, made))
    everything = " ".join([*section.words, *(text for _, text in section.facts)])
    screen = Console(file=io.StringIO(), width=200)
    render_explanation(made, run, screen)
    others = [code for code in codes[1:] if learnt[code]]
    assert summary["summary"] == section.words[0] == found.sentence
    if not learnt["en"] or not others:
        assert found.kind == "chance"
        assert "not shown to be above chance" in found.sentence.split(".  ")[0]
        assert not re.search(r"look|similar|words|pieces|attributions of|r = ", everything)
        assert found.above is None
        assert screen.file.getvalue().startswith("clf is not shown to be above chance in")
        return
    assert found.kind in ("above", "not above")
    assert list(found.languages) == others
    numbers = [
        float(each.replace("−", "-"))
        for each in re.findall(
            r"(?<= )[−]?[0-9]\.[0-9]{3}", found.sentence.split("above random attributions it scores")[1]
        )
    ]
    assert numbers[2] == pytest.approx(numbers[0] - numbers[1], abs=1e-9)
    assert (found.kind == "above") == (found.above is not None and (found.above.low or -1) > 0)
    table = heads_table(made, run)
    assert table is not None
    place = {name: at for at, name in enumerate(table.columns)}
    for row in table.rows:
        shown = [row[place[name]] for name in ("above random", "random heads", "difference")]
        assert shown[2] == pytest.approx(shown[0] - shown[1], abs=1e-9)
    if len(others) == 1:
        line = next(row for row in table.rows if row[place["language"]] == others[0])
        assert [line[place[name]] for name in ("above random", "random heads", "difference")] == numbers[:3]


def test_a_correlation_with_a_constant_or_of_three_languages_is_not_printed(
    records: list[dict[str, Any]], run: dict[str, Any]
) -> None:
    flat = [{**each, "value": 0.5} if each["measure"] == "task" else each for each in records]
    assert correlations(flat, run) == []
    assert "r = " not in explain_files(flat, run, [])["correlation.svg"]
    few = {**run, "languages": ["en", "es", "ru"]}
    assert correlations(records, few) == []
    assert [each["n"] for each in correlations(records, run)] == [4, 5]


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
    assert said.startswith("Yes: attributions of ")
    assert "comprehensiveness/entities" in said
    assert {line.split()[0] for line in said.splitlines() if re.match(r" [a-z]{2} ", line)} == set(many["languages"])


@pytest.mark.parametrize(("unit", "said"), [("token", "similar word pieces"), ("word", "similar words")])
def test_pieces_of_words_are_not_called_words(records: list[Any], run: dict[str, Any], unit: str, said: str) -> None:
    assert said in verdicts(records, {**run, "settings": {"unit": unit}})[0].sentence


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


def test_of_several_models_the_first_sentence_has_score_and_level_of_each_at_chance(
    records: list[dict[str, Any]], run: dict[str, Any]
) -> None:
    weak = [{**each, "model": "weak"} for each in records]
    for each in weak:
        if each["measure"] == "task":
            each["value"], each["details"] = 0.31, {"chance": {**SINGLE, "above": False}}
    run = {**run, "models": [("clf", "en"), ("weak", "en")], "names": {"en": "English"}}
    section = explain_answer(Run(run, [*({**each, "model": "clf"} for each in records), *weak]))
    first = section.words[0]
    assert first.startswith("Of 2 models 1 not shown to be above chance")
    assert "weak (trained in en), English (0.310; chance 0.300)" in first
    assert "attributions on similar words more than those of untrained heads (clf" in first


@pytest.mark.reliability("words and table agree")
@pytest.mark.parametrize("seed", range(20))
def test_answer_table_and_figure_have_one_coefficient(seed: int, run: dict[str, Any]) -> None:
    draw, codes = np.random.default_rng(seed), ["en", *"abcdefgh"[: 4 + seed % 5]]
    made = []
    for code in codes:
        made.append(record("consistency", "label", code, float(draw.uniform(0.2, 0.6))))
        made.append(record("task", "accuracy", code, float(draw.uniform(0.5, 0.9))))
    about = {**run, "languages": codes}
    (fact,) = (text for topic, text in explain_answer(Run(about, made)).facts if topic == "With performance")
    (figure,) = (
        figure
        for section in explain_sections([Run(about, made)])
        for figure in section.figures
        if figure.name.startswith("correlation")
    )
    number = re.search(r"ρ = (−?\d\.\d\d)", fact)
    assert number is not None, fact
    told = next(each for each in correlations(made, about) if each["without_source"])
    assert float(number[1].replace("−", "-")) == pytest.approx(told["value"], abs=0.005)
    # Below five languages there is no interval, so the figure has dots alone and no coefficient at all.
    assert number[0] in figure.caption or (told["low"] is None and "ρ" not in figure.caption)
    assert " r = " not in figure.caption
    # A line is drawn where the interval leaves out 0, and only there.
    assert (len(figure.traces) == 2) == (told["low"] is not None and (told["low"] > 0 or told["high"] < 0))
