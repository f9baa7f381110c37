"""Charts on their way to a reader: the charts of a page as data, a chart as a table, a figure in a notebook."""

from __future__ import annotations

import base64
import gzip
import html
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from interlingua.errors import InputError
from interlingua.record import Difference, Estimate, Record
from interlingua.registry import unknown
from interlingua.report.kit.chart import (
    GREY,
    Chart,
    ChartMenu,
    FlowChart,
    HeatMap,
    HistogramChart,
    IntervalChart,
    LineChart,
    PointMap,
    ScatterChart,
)
from interlingua.report.kit.svg import HALF, NARROW, STYLES, WIDE, draw, font_file, plain_text, resolve, theme_colours
from interlingua.report.kit.table import Cell, Column, Table
from interlingua.report.kit.wording import format_value

RecordGroup: TypeAlias = Callable[[Sequence[Record]], str]
"""From records to what a page's `data-r` calls them; empty for none."""
MAX_NOTEBOOK = 60_000
"""Bytes of a chart in a notebook; one that is larger, a map of thousands of points, is a note there."""
_FULL_WIDTH_COLUMNS = 9


# ---- a chart as a table -------------------------------------------------------------------------------------------


def chart_table(chart: Chart) -> Table:
    """The numbers of a chart, a row per mark (a row per row of a heat map), as they are exported."""
    columns, rows = _columns_and_rows(chart)
    return Table(name=chart.name, title=chart.title, note=chart.note, columns=tuple(columns), rows=tuple(rows))


def _columns_and_rows(chart: Chart) -> tuple[list[Column], list[tuple[Cell, ...]]]:
    columns: list[Column]
    rows: list[tuple[Cell, ...]]
    match chart:
        case LineChart():
            columns = [Column(title="line"), Column(title=chart.x.title)]
            columns.append(Column(title=chart.y.title, display=chart.y.display, interval=True))
            rows = list(_line_rows(chart))
        case HeatMap():
            columns = [Column(title="")] + [Column(title=name, display=chart.display) for name in chart.columns]
            rows = [(name, *cells) for name, cells in zip(chart.rows, chart.cells, strict=True)]
        case ScatterChart():
            columns = [Column(title="label"), Column(title="group")]
            columns += [Column(title=axis.title, display=axis.display) for axis in (chart.x, chart.y)]
            names = dict(enumerate(chart.groups))
            rows = [(dot.label, names.get(dot.color, ""), dot.x, dot.y) for dot in chart.dots]
        case IntervalChart():
            display = chart.x.display
            columns = [Column(title=""), Column(title="group")]
            columns.append(Column(title=chart.x.title, display=display, interval=True))
            columns += [Column(title="chance level", display=display), Column(title="single values")]
            dots = [", ".join(format_value(value, display) for value, _ in row.dots) for row in chart.rows]
            rows = [(r.label, r.group, r.estimate, r.reference, own) for r, own in zip(chart.rows, dots, strict=True)]
            unused = [at for at in (3, 4) if not any(row[at] not in (None, "") for row in rows)]
            columns = [column for at, column in enumerate(columns) if at not in unused]
            rows = [tuple(cell for at, cell in enumerate(row) if at not in unused) for row in rows]
        case HistogramChart():
            columns = [Column(title=title) for title in ("", "curve")]
            columns += [Column(title=title, display="decimal3") for title in (f"{chart.x.title}, from", "to")]
            columns.append(Column(title="count or share", display="decimal3"))
            columns += [Column(title=chart.side_title, display="decimal3")] if chart.side_title else []
            rows = list(_histogram_rows(chart))
        case FlowChart():
            columns = [Column(title=title) for title in ("part", chart.source_name, chart.target_name)]
            columns.append(Column(title="share", display="percent"))
            left, right = chart.source_words, chart.target_words
            rows = [("word", word, "", share) for word, share in left]
            rows += [("word", "", word, share) for word, share in right]
            rows += [("flow", left[flow.source][0], right[flow.target][0], flow.share) for flow in chart.flows]
        case PointMap():
            columns = [Column(title="group"), Column(title="row", display="count")]
            columns += [Column(title=axis, display="decimal3") for axis in ("x", "y")] + [Column(title="text")]
            rows = [
                (group.name, group.rows[at] if group.rows else at, group.x[at], group.y[at], group.texts[at])
                for group in chart.groups
                for at in range(len(group.x))
            ]
    return columns, rows


def _line_rows(chart: LineChart) -> Iterator[tuple[Cell, ...]]:
    def place(x: float | str) -> str | int | float:
        return int(x) if isinstance(x, float) and x.is_integer() else x

    for line in chart.lines:
        known = zip(line.x, line.y, strict=True)
        yield from ((line.name, place(x), estimate) for x, estimate in known if estimate is not None)
    places = [place(x) for x in dict.fromkeys(x for line in chart.lines for x in line.x)]
    for reference in chart.references:
        at = places if len(reference.values) > 1 else [""]
        known_values = zip(at, reference.values, strict=False)
        yield from ((reference.label, x, value) for x, value in known_values if value is not None)


def _histogram_rows(chart: HistogramChart) -> Iterator[tuple[Cell, ...]]:
    low, high = chart.ends
    for row in chart.rows:
        side: tuple[Cell, ...] = (row.side,) if chart.side_title else ()
        for curve in row.histograms:
            width = (high - low) / max(len(curve.counts), 1)
            for at, count in enumerate(curve.counts):
                yield row.label, curve.name, low + at * width, low + (at + 1) * width, count, *side


# ---- charts of a page ---------------------------------------------------------------------------------------------


class PageCharts:
    """The charts of a page: the place of each in its HTML, and the data from which templates/charts.js fills them.

    `group` gives what the page's `data-r` calls some records. Marks with the same tip and records are stored once.
    """

    def __init__(self, group: RecordGroup) -> None:
        self._group = group
        self._charts: dict[str, Any] = {}
        self._texts: dict[str, int] = {}

    def figure(self, chart: Chart | ChartMenu, *, alone: bool = False) -> str:
        """The `<figure>` of a chart, whose heading and caption are there without a script; `alone` in its section."""
        if chart.name in self._charts:
            raise ValueError(f"two charts of a page are called {chart.name!r}")
        states = list(chart.charts.values()) if isinstance(chart, ChartMenu) else [chart]
        wide = alone or any(map(_needs_width, states))
        self._charts[chart.name] = self._payload(chart, WIDE if wide else HALF)
        first = states[0]
        return (
            f'<figure class="chart{" wide" if wide else ""}" data-chart="{_text(chart.name)}">'
            f'<h3><bdi>{_text(first.title)}</bdi></h3><div class="menus"></div><div class="drawing"></div>'
            f"<figcaption><bdi>{_text(first.note)}</bdi></figcaption></figure>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: `data.charts` of the page."""
        return {
            "font": base64.b64encode(gzip.compress(font_file(), mtime=0)).decode(),
            "styles": STYLES,
            "colours": theme_colours("light"),
            "charts": self._charts,
            "texts": list(self._texts),
        }

    def _payload(self, chart: Chart | ChartMenu, width: int) -> dict[str, Any]:
        menus, charts = (chart.menus, chart.charts) if isinstance(chart, ChartMenu) else ((), {(): chart})
        places = [{option: at for at, option in enumerate(options)} for _, options in menus]
        states = {
            ",".join(str(places[menu][option]) for menu, option in enumerate(options)): self._state(one, width)
            for options, one in charts.items()
        }
        plain = [[plain_text(label), [plain_text(option) for option in options]] for label, options in menus]
        return {"menus": plain, "states": states}

    def _state(self, chart: Chart, width: int) -> dict[str, Any]:
        common = {"title": plain_text(chart.title), "note": plain_text(chart.note)}
        if isinstance(chart, PointMap):
            return common | {"map": self._map(chart)}
        marks: dict[tuple[str, str], int] = {}

        def mark(tip: str, records: Sequence[Record]) -> str:
            return f' data-m="{marks.setdefault((tip, self._group(records)), len(marks))}"'

        drawings = [draw(chart, width=each, mark=mark) for each in (width, NARROW)]
        return common | {"wide": drawings[0], "narrow": drawings[1], "marks": list(marks), "table": self._table(chart)}

    def _map(self, chart: PointMap) -> dict[str, Any]:
        colors = chart.colors
        # A grey group has a colour too, for a reader who brings it out.
        free = (number for number in range(2 * len(colors)) if number not in colors)
        groups = [
            {
                "name": plain_text(group.name),
                "x": [round_digits(x, 4) for x in group.x],
                "y": [round_digits(y, 4) for y in group.y],
                "text": [self._texts.setdefault(plain_text(text), len(self._texts)) for text in group.texts],
                "rows": list(group.rows),
                "color": next(free) if color == GREY else color,
            }
            for group, color in zip(chart.groups, colors, strict=True)
        ]
        chosen = [at for at, color in enumerate(colors) if color != GREY] if GREY in colors else []
        return {"groups": groups, "chosen": chosen, "x": plain_text(chart.x_title), "y": plain_text(chart.y_title)}

    def _table(self, chart: Chart) -> dict[str, Any]:
        table = chart_table(chart)
        columns = [[plain_text(column.title), column.display, column.interval] for column in table.columns]
        return {"columns": columns, "rows": [[self._cell(cell) for cell in row] for row in table.rows]}

    def _cell(self, cell: Cell) -> Any:
        """A cell for JSON; an estimate as its records, value, bounds, null value and p-values as far as it has them."""
        if isinstance(cell, str):
            return plain_text(cell)
        if not isinstance(cell, Estimate):
            return round_digits(cell)
        tests = (cell.p, cell.p_adjusted) if isinstance(cell, Difference) else ()
        numbers = [round_digits(each) for each in (cell.value, cell.ci_low, cell.ci_high, cell.null_value, *tests)]
        while numbers[-1] is None:
            numbers.pop()
        return [self._group(cell.records), *numbers]


def _needs_width(chart: Chart) -> bool:
    """Whether half of a page is too narrow for a chart."""
    if isinstance(chart, HeatMap):
        return len(chart.columns) > _FULL_WIDTH_COLUMNS
    return isinstance(chart, (FlowChart, IntervalChart, PointMap))


def _text(text: str) -> str:
    return html.escape(plain_text(text), quote=True)


def round_digits(value: float | int | None, digits: int = 6) -> float | int | None:
    """The number rounded to significant digits; None of one that is not finite, which JSON cannot hold."""
    if value is None or isinstance(value, int):
        return value
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


# ---- a figure in Python -------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A chart to look at in a notebook or to save: `figure.save("layers.svg")`.

    `options` are the charts of its menus, which `choose` selects.
    """

    chart: Chart = field(repr=False)
    name: str = ""
    options: Mapping[tuple[str, ...], Chart] = field(default_factory=dict, repr=False)

    def svg(self, *, width: int = WIDE, font: bool = True) -> str:
        """The figure as SVG with the colours of the light theme, complete in itself; the font is 80 kB of it."""
        return resolve(draw(self.chart, width=width), font=font)

    def save(self, path: str | Path) -> Path:
        """Write the figure as SVG, or its numbers as CSV, Markdown or LaTeX, by the ending of `path`."""
        from interlingua.report.kit import exports

        writers: dict[str, Callable[[], str]] = {
            ".svg": self.svg,
            ".csv": lambda: exports.to_csv(self.table),
            ".md": lambda: exports.to_markdown(self.table),
            ".tex": lambda: exports.to_latex(self.table),
        }
        place = Path(path)
        if place.suffix not in writers:
            remedy = f"Name a file that ends in {', '.join(writers)}; a PDF is saved from the page, below the figure."
            raise InputError("a figure is not saved in this format", value=place.name, remedy=remedy)
        place.write_text(writers[place.suffix](), "utf-8")
        return place

    def choose(self, *options: str) -> Figure:
        """The figure as menus with these options show it; unknown options are an error that lists the known ones."""
        if options not in self.options:
            known = [" / ".join(each) for each in self.options]
            raise unknown("options of this figure", " / ".join(options), known)
        return Figure(chart=self.options[options], name=self.name, options=self.options)

    @cached_property
    def table(self) -> Table:
        """The numbers of the figure."""
        return chart_table(self.chart)

    def _repr_html_(self) -> str:
        return figure_html(self.chart)


def find_figure(charts: Sequence[Chart | ChartMenu], name: str) -> Figure:
    """The figure of that name, as its menus show it first; an unknown name is an error that lists the known ones."""
    by_name = {chart.name: chart for chart in charts}
    if not by_name:
        raise InputError("this result has no figure", value=name, remedy="Its numbers are in .records.")
    if name not in by_name:
        raise unknown("figure", name, list(by_name))
    chart = by_name[name]
    if isinstance(chart, ChartMenu):
        return Figure(chart=next(iter(chart.charts.values())), name=name, options=chart.charts)
    return Figure(chart=chart, name=name)


def figure_html(chart: Chart) -> str:
    """A chart with its title and caption as HTML without scripts, at most 60 kB, for a notebook of either theme."""
    caption = f'<figcaption style="color:#5a606b;font-size:.9em;max-width:60em">{_text(chart.note)}</figcaption>'
    for width in (WIDE, HALF):
        svg = resolve(draw(chart, width=width)).replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
        drawn = (
            '<figure style="margin:0;padding:12px;background:#fff;color:#1b1d21;border-radius:6px">'
            f'<p style="font-weight:600;margin:0 0 8px">{_text(chart.title)}</p>{svg}{caption}</figure>'
        )
        if len(drawn.encode("utf-8", "replace")) <= MAX_NOTEBOOK:
            return drawn
    return f"<p><strong>{_text(chart.title)}</strong>: too large for a notebook; see the page, or .save a file.</p>"
