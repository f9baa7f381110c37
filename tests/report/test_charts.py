"""Drawings state the numbers they are made of: places, scales, records, texts and colours."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import io
import itertools
import json
import math
import re
import time
import xml.etree.ElementTree as ET
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chart_gallery as gallery
from chart_gallery import HOSTILE, estimate
from interlingua.errors import InputError
from interlingua.record import Estimate
from interlingua.report.kit import exports
from interlingua.report.kit.chart import (
    Axis,
    Chart,
    ChartMenu,
    Dot,
    HeatMap,
    Histogram,
    HistogramChart,
    HistogramRow,
    IntervalChart,
    IntervalRow,
    Line,
    LineChart,
    PointMap,
    ReferenceLine,
    ScatterChart,
    WordFlow,
)
from interlingua.report.kit.figure import PageCharts, chart_table, figure_html, find_figure
from interlingua.report.kit.svg import (
    DARK,
    HALF,
    LIGHT,
    NARROW,
    STYLES,
    WIDE,
    axis_ends,
    chart_css,
    contrast,
    draw,
    font_file,
    nice_ticks,
    resolve,
    spread_labels,
    text_box,
    text_width,
    theme_colours,
)
from interlingua.report.kit.wording import format_value

WIDTHS = (WIDE, HALF, NARROW)
CHARTS = gallery.gallery()
SVG = "{http://www.w3.org/2000/svg}"
every_chart = pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
every_width = pytest.mark.parametrize("width", WIDTHS)


def parsed(chart: Chart, width: int = HALF, **options: Any) -> ET.Element:
    return ET.fromstring(draw(chart, width=width, **options))


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


def middle(mark: ET.Element) -> tuple[float, float]:
    """The middle of a marker, whatever its shape."""
    if mark.tag == SVG + "circle":
        return float(mark.get("cx", 0)), float(mark.get("cy", 0))
    if mark.tag == SVG + "rect":
        x, y, width, height = (float(mark.get(name, 0)) for name in ("x", "y", "width", "height"))
        return x + width / 2, y + height / 2
    found = np.array(numbers(mark.get("d", ""))).reshape(-1, 2)
    low, high = found.min(axis=0), found.max(axis=0)
    return float(low[0] + high[0]) / 2, float(low[1] + high[1]) / 2


def classes(mark: ET.Element) -> list[str]:
    return (mark.get("class") or "").split()


def markers(svg: ET.Element) -> list[ET.Element]:
    return [mark for mark in svg.iter() if "m" in classes(mark)]


def ticks(svg: ET.Element, *, across: bool) -> dict[float, float]:
    """Values by pixel, read off the numbers at an axis: those at the left have one x, those below have one y."""
    found: dict[float, dict[float, float]] = {}
    for text in svg.iter(SVG + "text"):
        shown = (text.text or "").replace("−", "-").replace("+", "").replace(",", "")
        if (match := re.fullmatch(r"(-?\d+(?:\.\d+)?)(\N{NO-BREAK SPACE}%)?", shown)) and "s" in classes(text):
            x, y = float(text.get("x", 0)), float(text.get("y", 0))
            value = float(match[1]) / (100 if match[2] else 1)
            found.setdefault(y if across else x, {})[value] = x if across else y - 4
    return max(found.values(), key=len)


def value_at(place: float, by_value: dict[float, float]) -> float:
    (low, start), (high, end) = min(by_value.items()), max(by_value.items())
    return low + (place - start) / (end - start) * (high - low)


def texts(svg: ET.Element) -> list[tuple[str, tuple[float, float, float, float]]]:
    return [
        (text.text or "", text_box(float(text.get("x", 0)), float(text.get("y", 0)), text.text or "",
                                   text.get("text-anchor", "start"), float(text.get("font-size", 12))))
        for text in svg.iter(SVG + "text")
        if not text.get("transform")
    ]  # fmt: skip


# ---- places -------------------------------------------------------------------------------------------------------


@every_width
@given(shares=st.lists(st.floats(0, 1), min_size=3, max_size=14))
@settings(max_examples=15)
def test_the_height_of_a_point_is_its_value(width: int, shares: list[float]) -> None:
    line = Line(name="a", x=tuple(range(len(shares))), y=tuple(estimate(share) for share in shares))
    svg = parsed(LineChart(name="c", title="t", note="", x=Axis(title="layer"), y=gallery.SHARE, lines=(line,)), width)
    upward, plot = ticks(svg, across=False), markers(svg)
    pixel = abs(value_at(1, upward) - value_at(0, upward))
    assert len(plot) == len(shares)
    for mark, share in zip(plot, shares, strict=True):
        assert value_at(middle(mark)[1], upward) == pytest.approx(share, abs=pixel)
    assert [middle(mark)[0] for mark in plot] == sorted(middle(mark)[0] for mark in plot)


def test_bands_are_the_intervals_and_no_share_leaves_its_axis() -> None:
    shares = (0.005, 0.5, 0.99)
    line = Line(name="a", x=(0, 1, 2), y=tuple(estimate(share) for share in shares))
    svg = parsed(LineChart(name="c", title="t", note="", x=Axis(title="layer"), y=gallery.SHARE, lines=(line,)))
    upward = ticks(svg, across=False)
    assert (min(upward), max(upward)) == (0, 1)
    band = next(mark for mark in svg.iter(SVG + "path") if "b0" in classes(mark))
    edge = [value_at(y, upward) for _, y in np.array(numbers(band.get("d", ""))).reshape(-1, 2)]
    assert edge == pytest.approx([0.035, 0.53, 1, 0.96, 0.47, 0], abs=0.003)


def test_dots_intervals_and_references_stand_at_their_values() -> None:
    for width in WIDTHS:
        chart = gallery.tokens()
        svg = parsed(chart, width)
        across, upward = ticks(svg, across=True), ticks(svg, across=False)
        for mark, dot in zip(markers(svg), chart.dots, strict=True):
            assert value_at(middle(mark)[0], across) == pytest.approx(dot.x, abs=0.02)
            assert value_at(middle(mark)[1], upward) == pytest.approx(dot.y, abs=0.004)
        forest = gallery.changes()
        svg = parsed(forest, width)
        across = ticks(svg, across=True)
        for mark, row in zip(markers(svg), forest.rows, strict=True):
            assert row.estimate is not None
            assert value_at(middle(mark)[0], across) / 100 == pytest.approx(row.estimate.value, abs=0.002)
        whiskers = [numbers(mark.get("d", "")) for mark in svg.iter(SVG + "path") if "l0" in classes(mark)]
        for (low, _, high, _), row in zip(whiskers, forest.rows, strict=True):
            assert row.estimate is not None
            ends = [value_at(end, across) / 100 for end in (low, high)]
            assert ends == pytest.approx([row.estimate.ci_low, row.estimate.ci_high], abs=0.002)


def test_panels_with_the_same_axis_have_the_same_scale() -> None:
    axis = Axis(title="P@1", display="percent", low=0, high=0.6)
    panels = [
        parsed(LineChart(name="c", title="t", note="", x=Axis(title="layer"), y=axis,
                         lines=(Line(name="a", x=(0, 1), y=(estimate(0.1), estimate(top))),)))
        for top in (0.15, 0.55)
    ]  # fmt: skip
    assert ticks(panels[0], across=False) == ticks(panels[1], across=False)
    square = parsed(gallery.published())
    assert set(ticks(square, across=True)) == set(ticks(square, across=False))


def test_gaps_stay_gaps_and_names_stand_at_equal_distances() -> None:
    line = Line(name="a", x=(0, 1, "output", 2), y=(estimate(0.1), None, estimate(0.4), estimate(0.3)))
    svg = parsed(LineChart(name="c", title="t", note="", x=Axis(title="layer"), y=gallery.SHARE, lines=(line,)))
    (stroke,) = [mark for mark in svg.iter(SVG + "path") if "l0" in classes(mark)]
    assert stroke.get("d", "").count("L") == 1  # From layer 2 to the output, which is last; layer 0 stands alone.
    first, output, second = (middle(mark)[0] for mark in markers(svg))
    assert second - first == pytest.approx(2 * (output - second), abs=0.3)


def test_a_flow_is_as_wide_as_its_share_and_stays_inside_its_words() -> None:
    svg = parsed(gallery.flows())
    bands = [mark for mark in svg.iter(SVG + "path") if "C" in (mark.get("d") or "")]
    heights = []
    for band in bands:
        place = np.array(numbers(band.get("d", ""))).reshape(-1, 2)
        assert np.ptp(place[[0, -1], 1]) == pytest.approx(np.ptp(place[[3, 4], 1]), abs=0.2)
        heights.append(float(np.ptp(place[[0, -1], 1])))
    # In the order of the words; the two flows into the second Arabic word fill it.
    assert np.array(heights) / sum(heights) == pytest.approx(np.array([0.4, 0.05, 0.22, 0.15]) / 0.82, abs=0.01)
    assert heights[0] + heights[1] == pytest.approx(24, abs=0.3)


@pytest.mark.parametrize("diverging", [False, True])
def test_the_colour_of_a_cell_rises_with_its_value_from_end_to_end(diverging: bool) -> None:
    chart = gallery.pairs(8, diverging=diverging)
    cells = [mark for mark in parsed(chart).iter(SVG + "rect") if mark.get("data-tip")]
    steps = [int(classes(cell)[0][1:]) for cell in cells]
    known = [cell.value for row in chart.cells for cell in row if cell is not None]
    order = np.argsort(known)
    assert np.all(np.diff(np.array(steps)[order]) >= 0)
    if diverging:
        assert {step >= 7 for step, value in zip(steps, known, strict=True) if value > 0.03} == {True}
        assert {step <= 7 for step, value in zip(steps, known, strict=True) if value < -0.03} == {True}
    else:
        assert (min(steps), max(steps)) == (0, 14)
    shown = {text for text, _ in texts(parsed(chart))}
    ends = (-max(map(abs, known)), max(map(abs, known))) if diverging else (min(known), max(known))
    assert {chart.scale, *(format_value(end, chart.display) for end in ends)} <= shown


@given(low=st.floats(-1e4, 1e4), spread=st.floats(1e-3, 1e4), most=st.integers(2, 12))
def test_ticks_are_few_round_and_inside(low: float, spread: float, most: int) -> None:
    found = nice_ticks(low, low + spread, most)
    assert 1 <= len(found) <= most
    assert all(low - 1e-6 * spread <= tick <= low + spread * (1 + 1e-6) for tick in found)
    steps = np.diff(found)
    assert np.allclose(steps, steps[:1] if len(steps) else 0)


@given(places=st.lists(st.floats(0, 300), min_size=1, max_size=15))
def test_labels_keep_their_order_their_distance_and_the_frame(places: list[float]) -> None:
    moved = spread_labels(places, 15, 0, 300)
    order = sorted(moved)
    assert all(second - first >= 15 - 1e-6 for first, second in itertools.pairwise(order))
    assert order[0] >= -1e-6
    assert order[-1] <= 300 + 1e-6
    ranks = sorted(range(len(places)), key=lambda at: places[at])
    assert [moved[at] for at in ranks] == sorted(moved)


@given(values=st.lists(st.floats(-2, 3).map(lambda value: round(value, 6)), min_size=1, max_size=9), zero=st.booleans())
def test_an_axis_holds_its_values_and_a_share_is_a_share(values: list[float], zero: bool) -> None:
    low, high, _ = axis_ends(Axis(title="", zero=zero), values, 5)
    held = [*values, *([0.0] if zero else [])]
    assert low <= min(held)
    assert high >= max(held)
    low, high, shown = axis_ends(Axis(title="", display="percent", zero=zero), values, 5)
    assert 0 <= low < high <= 1
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in shown)
    low, high, _ = axis_ends(Axis(title="", display="points", zero=zero), values, 5)
    assert -1 <= low < high <= 1


# ---- texts --------------------------------------------------------------------------------------------------------


@every_chart
@every_width
def test_texts_are_readable_apart_and_inside_the_drawing(chart: Chart, width: int) -> None:
    svg = parsed(chart, width)
    assert svg.get("role") == "img"
    assert svg.find(SVG + "title") is not None
    assert svg.find(SVG + "desc") is not None
    left, top, wide, high = numbers(svg.get("viewBox", ""))
    assert wide == width
    boxes = texts(svg)
    for text, (x1, y1, x2, y2) in boxes:
        assert left - 0.5 <= x1 < x2 <= left + wide + 0.5, text
        assert top <= y1 < y2 <= top + high, text
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert a[2] <= b[0] + 0.5 or b[2] <= a[0] + 0.5 or a[3] <= b[1] + 0.5 or b[3] <= a[1] + 0.5, (one, other)
    assert all(float(text.get("font-size", 12)) >= 11 for text in svg.iter(SVG + "text"))


def test_names_stand_at_their_lines_where_there_is_room_and_in_a_legend_where_not() -> None:
    chart = gallery.layers()
    wide, narrow = (dict(texts(parsed(chart, width))) for width in (WIDE, NARROW))
    assert wide["as is"][0] > 0.7 * WIDE
    assert wide["chance level 0.2\xa0%"][0] > 0.7 * WIDE
    assert narrow["as is"][1] < 20
    assert "chance level 0.2\xa0%" in narrow


@pytest.mark.parametrize("count", [1, 2, 9, 40])
def test_crowded_dots_have_labels_apart_or_none_and_all_say_their_names(count: int) -> None:
    crowd = tuple(Dot(label=f"language {at}", x=0.5, y=0.5) for at in range(count))
    lonely = tuple(Dot(label=f"lonely {at}", x=float(at), y=float(at)) for at in range(2))
    chart = dataclasses.replace(gallery.tokens(), dots=(*crowd, *lonely), trend=None, groups=("",))
    svg = parsed(chart)
    boxes = {text: box for text, box in texts(svg) if text.startswith(("language", "lonely"))}
    assert {"lonely 0", "lonely 1"} <= set(boxes)
    assert 1 <= len(boxes) - 2 <= min(count, 8)
    for one, other in itertools.combinations(boxes.values(), 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    tips = [(mark.get("data-tip") or "").split("\n")[0].strip("\u2068\u2069") for mark in markers(svg)]
    assert tips == [dot.label for dot in chart.dots]


def test_each_line_marks_its_own_best_point() -> None:
    svg = parsed(gallery.layers(), WIDE)
    rings = [middle(mark) for mark in svg.iter(SVG + "circle") if "thin" in classes(mark)]
    places = [middle(mark) for mark in markers(svg)]
    assert rings == [places[6], places[13 + 7]]  # The second line has no value at its sixth layer.


def test_widths_of_texts_are_those_of_the_font() -> None:
    tools = pytest.importorskip("fontTools.ttLib")
    font = tools.TTFont(io.BytesIO(font_file()))
    cmap, widths = font.getBestCmap(), font["hmtx"]
    text = "Layer 6, 33.4 % → Ελληνικά, Беларуская, Tiếng Việt, Ł ≤ − “x”…"
    assert set(map(ord, text)) <= set(cmap)
    assert text_width(text, 1000) == pytest.approx(sum(widths[cmap[ord(letter)]][0] for letter in text))
    assert len(font_file()) <= 80_000
    assert files("interlingua").joinpath("assets/font/LICENSE").is_file()


def hostile(chart: Chart) -> Chart:
    """The chart with a hostile text in the place of every text."""

    def changed(value: Any) -> Any:
        if isinstance(value, str) and value not in ("percent", "points", "number", "decimal3"):
            return HOSTILE
        if isinstance(value, tuple):
            return tuple(map(changed, value))
        if isinstance(value, list):
            return list(map(changed, value))
        if dataclasses.is_dataclass(value) and not isinstance(value, Estimate):
            names = [field.name for field in dataclasses.fields(value) if field.name != "records"]
            return dataclasses.replace(value, **{name: changed(getattr(value, name)) for name in names})
        return value

    found: Chart = changed(chart)
    return found


@every_chart
def test_texts_of_users_stay_texts(chart: Chart) -> None:
    bad = hostile(chart)
    if isinstance(bad, LineChart):  # The places on the axis would all be one.
        bad = dataclasses.replace(
            bad, lines=tuple(dataclasses.replace(line, x=tuple(range(len(line.x)))) for line in bad.lines)
        )
    for width in WIDTHS:
        text = draw(bad, width=width, number=lambda record: 1)
        assert not re.search("[\u202a-\u202e\u2066\x00\ud800]", text.replace("\u2068", "").replace("\u2069", ""))
        assert {element.tag.removeprefix(SVG) for element in ET.fromstring(text.encode()).iter()} <= {
            "svg", "title", "desc", "path", "rect", "circle", "text"}  # fmt: skip
    charts = PageCharts(lambda records: "1")
    markup = charts.figure(dataclasses.replace(bad, name="x"))
    assert not re.search("<script|<img", markup)
    assert "<script" not in figure_html(bad).replace("\u2068", "")


# ---- records ------------------------------------------------------------------------------------------------------


@every_chart
@every_width
def test_every_mark_of_a_record_leads_to_it(chart: Chart, width: int) -> None:
    known: dict[int, int] = {}
    svg = parsed(chart, width, number=lambda record: known.setdefault(id(record), len(known)))
    marked = [mark for mark in svg.iter() if mark.get("data-r")]
    assert all(mark.get("data-tip") for mark in marked)
    expected = {id(record) for estimate in estimates(chart) for record in estimate}
    assert set(known) == expected
    assert {int(number) for mark in marked for number in (mark.get("data-r") or "").split()} == set(known.values())


def estimates(chart: Chart) -> list[Any]:
    match chart:
        case LineChart():
            return [estimate.records for line in chart.lines for estimate in line.y if estimate]
        case HeatMap():
            return [cell.records for row in chart.cells for cell in row if cell]
        case ScatterChart():
            return [dot.records for dot in chart.dots]
        case IntervalChart():
            rows = [row.estimate.records for row in chart.rows if row.estimate]
            return rows + [records for row in chart.rows for _, records in row.dots]
        case HistogramChart():
            return [row.side.records for row in chart.rows if row.side]
        case _:
            return []


def test_a_tip_says_name_value_interval_chance_level_and_count() -> None:
    svg = parsed(gallery.layers())
    tip = markers(svg)[0].get("data-tip")
    assert tip == "\u2068language means removed\u2069, layer 0\n8.4\xa0% [5.4, 11.4]\nchance level 0.2\xa0%\nn = 600"


def nan_charts() -> list[Chart]:
    bad = math.nan
    line = Line(name="a", x=(0, 1), y=(estimate(0.1), Estimate(value=bad)))
    heat = gallery.pairs(6)
    dots = (Dot(label="a", x=bad, y=0.1), Dot(label="b", x=0.2, y=math.inf))
    rows = HistogramRow(label="a", histograms=(Histogram(name="a", counts=(1.0, bad)),))
    return [
        dataclasses.replace(gallery.layers(), lines=(line,)),
        dataclasses.replace(heat, cells=((Estimate(value=bad),) * 6,) * 6),
        *(dataclasses.replace(gallery.tokens(), dots=(dot,)) for dot in dots),
        dataclasses.replace(gallery.seeds(), rows=(IntervalRow(label="a", group="", estimate=Estimate(value=bad)),)),
        dataclasses.replace(gallery.seeds(), references=(ReferenceLine(label="a", values=(bad,)),)),
        dataclasses.replace(gallery.distances(), rows=(rows,)),
        dataclasses.replace(gallery.flows(), flows=(WordFlow(source=0, target=0, share=bad),)),
        dataclasses.replace(gallery.points(), groups=(dataclasses.replace(gallery.points().groups[0], x=[bad] * 50),)),
    ]


@pytest.mark.parametrize("chart", nan_charts(), ids=lambda chart: chart.name)
def test_numbers_that_are_not_finite_are_refused(chart: Chart) -> None:
    with pytest.raises(ValueError, match="finite"):
        draw(chart)


def test_wrong_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="places and"):
        draw(dataclasses.replace(gallery.layers(), lines=(Line(name="a", x=(1, 2), y=(None,)),)))
    with pytest.raises(ValueError, match="the cells of"):
        draw(dataclasses.replace(gallery.pairs(6), columns=("a",)))
    with pytest.raises(ValueError, match="2 values at 13 places"):
        draw(dataclasses.replace(gallery.layers(), references=(ReferenceLine(label="a", values=(0.1, 0.2)),)))


def test_charts_without_numbers_and_of_one_number_are_drawn() -> None:
    empty = [
        dataclasses.replace(gallery.layers(), lines=()),
        dataclasses.replace(gallery.layers(), lines=(Line(name="a", x=(1, 2), y=(None, None)),), references=()),
        dataclasses.replace(gallery.pairs(6), cells=((None,) * 6,) * 6),
        dataclasses.replace(gallery.tokens(), dots=(), trend=None),
        dataclasses.replace(gallery.seeds(), rows=()),
        dataclasses.replace(gallery.distances(), rows=()),
        dataclasses.replace(gallery.flows(), source_words=(), target_words=(), flows=()),
        dataclasses.replace(gallery.points(), groups=()),
        dataclasses.replace(gallery.layers(), lines=(Line(name="a", x=(1,), y=(estimate(0.0, 0),), best=0),)),
        dataclasses.replace(gallery.layers(), lines=(Line(name="a", x=(1,), y=(estimate(1.0, 0),), best=0),)),
        dataclasses.replace(gallery.pairs(6), cells=((estimate(0.5),) * 6,) * 6),
        dataclasses.replace(gallery.pairs(6, diverging=True), cells=((estimate(0.0),) * 6,) * 6),
        dataclasses.replace(gallery.tokens(), dots=(Dot(label="a", x=1, y=0.5),), trend=None),
        dataclasses.replace(gallery.published(), dots=(Dot(label="a", x=0, y=1.0),)),
        dataclasses.replace(gallery.seeds(), rows=(IntervalRow(label="a", group="", estimate=None),)),
    ]
    for chart in empty:
        for width in WIDTHS:
            drawing = ET.tostring(parsed(chart, width), encoding="unicode")
            assert not re.search(r"\b(nan|inf)\b|None", drawing)


def test_a_thousand_languages_are_drawn_in_seconds_and_kilobytes() -> None:
    names = [f"language {at}" for at in range(1000)]
    one = estimate(0.5)
    rows = tuple(IntervalRow(label=name, group="", estimate=one) for name in names)
    dots = tuple(Dot(label=name, x=at % 37, y=at % 41 / 41) for at, name in enumerate(names))
    lines = tuple(Line(name=name, x=(0, 1), y=(one, one), color=at) for at, name in enumerate(names))
    charts: list[Chart] = [
        dataclasses.replace(gallery.pairs(6), rows=tuple(names), columns=tuple(names), cells=((one,) * 1000,) * 1000),
        dataclasses.replace(gallery.changes(), rows=rows),
        dataclasses.replace(gallery.tokens(), dots=dots),
        dataclasses.replace(gallery.layers(), lines=lines),
    ]
    for chart in charts:
        begun = time.process_time()
        text = draw(chart, width=HALF)
        assert time.process_time() - begun < 10
        assert len(text) < 4_000_000
        ET.fromstring(text)


def test_drawings_are_equal_to_the_byte_and_their_numbers_short() -> None:
    for first, second in zip(CHARTS, gallery.gallery(), strict=True):
        text = draw(first)
        assert text == draw(second)
        assert not re.search(r"\d\.\d\d", re.sub(r'data-tip="[^"]*"|fill-opacity="[^"]*"|>[^<]*<', "", text))


# ---- colours ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_and_texts_stand_out_from_the_paper(theme: dict[str, str]) -> None:
    for name, colour in theme.items():
        if name in ("paper", "line"):
            continue
        assert contrast(colour, theme["paper"]) >= (3 if name == "grey" else 4.5), name
    colours = theme_colours("light" if theme is LIGHT else "dark")
    for ground, ink in (("q", "x"), ("v", "y")):
        for step in range(15):
            assert contrast(colours[f"{ground}{step}"], colours[f"{ink}{step}"]) >= 4.5


def test_the_first_four_colours_differ_with_any_colour_vision() -> None:
    # Machado, Oliveira and Fernandes 2009: protanopia, deuteranopia and tritanopia, in linear RGB.
    visions = [
        np.eye(3),
        np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
        np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
        np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
    ]

    def lab(colour: str, vision: np.ndarray) -> np.ndarray:
        parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
        linear = vision @ np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        xyz = to_xyz @ np.clip(linear, 0, 1) / [0.9505, 1, 1.089]
        f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

    for theme, vision in itertools.product((LIGHT, DARK), visions):
        for one, other in itertools.combinations(["c0", "c1", "c2", "c3"], 2):
            assert np.linalg.norm(lab(theme[one], vision) - lab(theme[other], vision)) >= 10


def test_files_have_colours_and_pages_have_variables() -> None:
    css = chart_css()
    for chart in CHARTS:
        text = resolve(draw(chart), font=True)
        assert not re.search(r"class=|data-|var\(", text)
        assert "@font-face" in text
        used = {name for element in parsed(chart).iter() for name in classes(element)}
        assert used - set(STYLES) <= {"m", "v"}
        ET.fromstring(text)
    for style in STYLES.values():
        for value in style.values():
            assert value[0] != "@" or f"--{value[1:]}:" in css or value[1:] in ("ink", "soft", "paper", "line")


# ---- data, pages, notebooks ---------------------------------------------------------------------------------------


def test_tables_hold_the_numbers_of_their_charts() -> None:
    table = chart_table(gallery.layers())
    assert [column.title for column in table.columns] == ["line", "layer", "Sentences that find their translation"]
    assert len(table.rows) == 25 + 1
    rows = list(csv.DictReader(io.StringIO(exports.to_csv(table))))
    first = gallery.layers().lines[0].y[3]
    assert first is not None
    assert float(rows[3]["Sentences that find their translation"]) == first.value
    assert float(rows[3]["Sentences that find their translation ci_low"]) == first.ci_low
    heat = chart_table(gallery.pairs(6))
    assert (heat.rows[1][0], heat.rows[1][2], heat.rows[1][1]) == ("Spanish", None, gallery.pairs(6).cells[1][0])
    assert len(chart_table(gallery.distances()).rows) == 2 * 2 * 40
    assert ("flow", "train", "القطار", 0.4) in chart_table(gallery.flows()).rows
    assert "48.0" in str(chart_table(gallery.seeds()).rows[0][-1])
    assert len(chart_table(gallery.points()).rows) == 8 * 50
    for chart in CHARTS:
        exports.to_latex(chart_table(chart))
        exports.to_markdown(chart_table(chart))


def test_a_page_holds_every_state_once_and_marks_name_their_records() -> None:
    groups: dict[tuple[int, ...], str] = {}

    def group(records: Any) -> str:
        return groups.setdefault(tuple(map(id, records)), f"g{len(groups)}") if records else ""

    charts = PageCharts(group)
    one = dataclasses.replace(gallery.layers(), title="Russian")
    menu = ChartMenu(name="menu", menus=(("Language", ("Russian", "Hindi")), ("Vectors", ("as is", "centred"))),
                     charts={("Russian", "as is"): one, ("Hindi", "centred"): gallery.languages_lines()})  # fmt: skip
    html = charts.figure(menu) + charts.figure(gallery.points()) + charts.figure(gallery.seeds())
    assert re.findall('data-chart="([^"]*)"', html) == ["menu", "map", "seeds"]
    data = json.loads(json.dumps(charts.to_dict(), allow_nan=False))
    assert list(data["charts"]["menu"]["states"]) == ["0,0", "1,1"]
    state = data["charts"]["menu"]["states"]["0,0"]
    for drawing in (state["wide"], state["narrow"]):
        places = {int(number) for number in re.findall('data-m="(\\d+)"', drawing)}
        assert places == set(range(len(state["marks"])))
    assert {records for _, records in state["marks"]} <= set(groups.values())
    assert state["table"]["rows"][0][2][0] in groups.values()
    shown = data["charts"]["map"]["states"][""]["map"]["groups"][0]
    assert data["texts"][shown["text"][3]] == "English 3"
    with pytest.raises(ValueError, match="two charts"):
        charts.figure(gallery.seeds())


def test_curves_of_17_languages_in_ten_measures_take_a_fifth_of_a_page() -> None:
    charts = PageCharts(lambda records: f"g{id(records) % 977}" if records else "")
    names = list(gallery.LANGUAGES.values())
    for measure in range(10):
        states = {}
        for at, name in enumerate(names):

            def moved(line: Line, at: int = at, measure: int = measure) -> Line:
                values = [None if e is None else e.value * (0.5 + at / 40) + measure / 100 for e in line.y]
                return dataclasses.replace(line, y=tuple(v if v is None else estimate(v) for v in values))

            states[name,] = dataclasses.replace(gallery.layers(), lines=tuple(map(moved, gallery.layers().lines)))
        charts.figure(ChartMenu(name=f"menu {measure}", menus=(("Language", tuple(names)),), charts=states))
    for count in range(4):
        charts.figure(dataclasses.replace(gallery.pairs(17), name=f"pairs {count}"))
    text = json.dumps(charts.to_dict(), ensure_ascii=False, separators=(",", ":"))
    assert len(gzip.compress(text.encode())) * 4 / 3 < 600_000


def test_figures_are_found_shown_and_saved(tmp_path: Any) -> None:
    menu = ChartMenu(
        name="menu", menus=(("Language", ("ru", "hi")),), charts={("ru",): gallery.layers(), ("hi",): gallery.tokens()}
    )
    charts = [gallery.seeds(), menu, gallery.points(5000)]
    figure = find_figure(charts, "menu")
    assert figure.chart == gallery.layers()
    assert figure.choose("hi").chart == gallery.tokens()
    with pytest.raises(InputError, match="hi"):
        figure.choose("fr")
    with pytest.raises(InputError, match="seeds"):
        find_figure(charts, "sedes")
    with pytest.raises(InputError, match="no figure"):
        find_figure([], "seeds")
    svg = figure.save(tmp_path / "a.svg").read_text("utf-8")
    assert len(svg) < 150_000
    ET.fromstring(svg)
    assert figure.save(tmp_path / "a.csv").read_text("utf-8") == exports.to_csv(chart_table(gallery.layers())).replace(
        "\r\n", "\n"
    )
    assert "toprule" in figure.save(tmp_path / "a.tex").read_text("utf-8")
    with pytest.raises(InputError, match="PDF"):
        figure.save(tmp_path / "a.pdf")
    for chart in CHARTS:
        html = figure_html(chart)
        assert len(html.encode()) <= 60_000
        assert "<script" not in html
    assert "too large" in find_figure(charts, "map")._repr_html_()


@every_chart
def test_maps_are_pictures_in_files(chart: Chart) -> None:
    if isinstance(chart, PointMap):
        dots = [mark for mark in parsed(chart).iter(SVG + "path") if "h0" in (mark.get("d") or "")]
        assert sum((mark.get("d") or "").count("h0") for mark in dots) == 8 * 50
