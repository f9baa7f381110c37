import io
import re

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import linregress

from interlingua.report.answer import answer
from interlingua.report.audit import build_page, key_figures
from interlingua.report.evidence import FEW, peak, trend, trend_of_pairs
from interlingua.report.readings import gather
from interlingua.report.scatter import dot_plot
from interlingua.report.screen import BARS
from interlingua.report.terminal import render
from interlingua.stats import Association
from pages import page_data

CODES = ["en", "ru", "hi", "de"]


@pytest.fixture
def spread(make):
    """Records whose every number is what `of` makes of the record."""
    make_records, make_run, _ = make

    def made(of, codes=CODES):
        records = make_records(codes, range(4))
        return [{**record, **of(record)} if record["layer"] is not None else record for record in records], make_run(
            codes
        )

    return made


def at_chance(record):
    null = record["null"] if record["null"] is not None else 0.3
    near = null + 0.001 * (record["layer"] == 2)
    return {"null": null, "value": near, "low": null - 0.02, "high": null + 0.02}


def level(record):
    value = 0.2 + 0.001 * record["layer"]
    return {"value": value, "low": value - 0.02, "high": value + 0.02, "null": 0.002}


def rising(record):
    value = 0.2 + 0.1 * record["layer"]
    return {"value": value, "low": value - 0.02, "high": value + 0.02, "null": 0.002}


def printed(records, run):
    out = io.StringIO()
    render(records, run, Console(file=out, width=110, color_system=None))
    return out.getvalue()


def uprights(html):
    return [figure["layout"]["shapes"] for figure in page_data(html)["figures"] if "shapes" in figure["layout"]]


def test_a_layer_is_named_best_only_above_chance_and_above_some_other_layer(spread):
    assert peak(gather(spread(rising)[0])).stands_out
    assert peak(gather(spread(level)[0])).flat
    top = peak(gather(spread(at_chance)[0]))
    assert top.chance
    assert not top.stands_out


def test_equal_values_without_intervals_have_no_peak(spread):
    records, _ = spread(lambda _: {"value": 0.4, "low": None, "high": None})
    assert peak(gather(records)).flat


@pytest.mark.parametrize(("of", "words"), [(at_chance, "better than chance"), (level, "no layer stands out")])
def test_neither_page_nor_terminal_names_a_best_layer_where_there_is_none(spread, of, words):
    records, run = spread(of)
    shown, html = printed(records, run), build_page(records, run)
    for text in (shown, html):
        assert words in text
        assert not re.search(r"[Bb]est layer|is best of", text)
    assert not any(uprights(html))
    assert ("No", "layer stands out") in [tile[:2] for tile in key_figures(gather(records))]


def test_a_best_layer_is_named_and_marked_where_there_is_one(spread):
    records, run = spread(rising)
    shown, html = printed(records, run), build_page(records, run)
    assert "best layer (3)" in shown
    assert "The thin upright line marks the best layer (3)" in html
    assert {shape["x0"] for shapes in uprights(html) for shape in shapes} == {3}


def test_a_measure_that_is_best_when_low_is_best_at_its_lowest_layer_on_terminal_and_page(spread):
    records, run = spread(rising)
    mine = [{**each, "measure": "mine", "variant": "gap"} for each in records if each["measure"] == "cka"]
    low = [{**each, "best": "low"} for each in mine]
    assert [peak(gather(given), ("mine", "gap")).layer for given in (low, mine)] == [0, 3]
    assert peak(gather([{**each, "high": 0.9} for each in low]), ("mine", "gap")).flat
    [line] = [line for line in printed([*records, *low], run).splitlines() if " mine " in line]
    assert line.split()[-3:] == ["0.20", "0.50", "0"]
    assert "Best when low: gap." in build_page([*records, *low], run)
    assert "Best when low" not in build_page([*records, *mine], run)


def test_the_first_layer_is_marked_as_well_as_any_other(spread):
    records, run = spread(lambda record: rising({**record, "layer": 3 - record["layer"]}))
    assert {shape["x0"] for shapes in uprights(build_page(records, run)) for shape in shapes} == {0}


def test_embeddings_that_do_as_well_are_told_as_of_a_model_never_trained(spread):
    assert any("never trained" in finding.text for finding in answer(*spread(level)))
    assert not any("never trained" in finding.text for finding in answer(*spread(rising)))
    assert not any("never trained" in finding.text for finding in answer(*spread(at_chance)))


def test_a_language_at_chance_among_others_is_named(spread):
    def of(record):
        return at_chance(record) if "hi" in (record["source"], record["target"]) else rising(record)

    records, run = spread(of)
    said = next(finding.text for finding in answer(records, run) if finding.topic == "Languages")
    assert said.endswith("No better than chance: Hindi.")
    assert "No better than chance: Hindi." in printed(records, run)


def test_sparklines_of_all_measures_share_one_scale(spread):
    records, run = spread(level)
    table = printed(records, run).split("Layer by layer")[1].split("Language by language")[0]
    lines = re.findall(f"[{BARS}]{{4}}", table)
    assert len(lines) > 3
    assert set(lines) == {BARS[1] * 4}  # 0.2 of 1, whichever measure, and steps of 0.001 are none.


def test_heat_maps_share_one_scale(spread):
    maps = [
        trace
        for figure in page_data(build_page(*spread(level)))["figures"]
        if figure["name"].startswith("heat-")
        for trace in figure["traces"]
    ]
    assert {(trace["zmin"], trace["zmax"]) for trace in maps} == {(0, 1)}


def test_curves_that_never_leave_their_null_say_so(spread):
    said = "No layer differs from what it reads without any relation."
    assert said in build_page(*spread(at_chance))
    assert said not in build_page(*spread(level))


@pytest.mark.parametrize("count", range(2, FEW))
def test_few_dots_get_no_line(count):
    found = trend(range(count), range(count))
    assert found.line is None
    assert f"{count} dots" in found.said


def test_a_line_is_drawn_where_the_interval_leaves_out_0_and_is_that_of_scipy():
    draw = np.random.default_rng(0)
    across = draw.normal(size=20)
    up = 2 * across + draw.normal(size=20)
    line = linregress(across, up)
    ends = trend(across.tolist(), up.tolist()).line
    assert ends is not None
    for x, y in ends:
        assert y == pytest.approx(line.intercept + line.slope * x)


def test_noise_rarely_gets_a_line():
    draw = np.random.default_rng(0)
    drawn = sum(trend(*draw.normal(size=(2, 8)).tolist()).line is not None for _ in range(400))
    assert drawn / 400 == pytest.approx(0.05, abs=0.035)


def test_a_constant_side_gets_no_line():
    assert trend([1.0] * 6, range(6)).line is None
    clear = Association(0.9, 0.5, 0.98, 0.01, 1e-4, 0.5, 11, of_pairs=True)
    assert trend_of_pairs([1.0] * 6, [float(v) for v in range(6)], clear).line is None


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
def test_pairs_that_share_languages_are_judged_by_the_mantel_test(count, p, low, drawn):
    found = Association(0.9, low, None if low is None else 0.98, p, 1e-4, 0.5, 11, of_pairs=True)
    shown = trend_of_pairs(list(range(count)), list(range(count)), found)
    assert (shown.line is not None) == drawn
    assert "Mantel’s ρ = 0.90" in shown.said
    assert trend_of_pairs(list(range(count)), list(range(count))[::-1], found).line is None


def test_a_figure_says_why_it_has_no_line():
    dots = [(str(at), float(at), float(at), None) for at in range(3)]
    few = dot_plot("d", "D", "Dots.", {"one": dots}, ("x", "y"))
    assert few.caption == "Dots. Too few for a line: 3 dots."
    assert not [trace for trace in few.traces if trace["mode"] == "lines"]
    more = [(str(at), float(at), float(at), None) for at in range(6)]
    both = dot_plot("d", "D", "Dots.", {"one": dots, "two": more}, ("x", "y"))
    assert "one: too few" in both.caption
    assert len([trace for trace in both.traces if trace["mode"] == "lines"]) == 1
