"""`draw`: a chart as SVG, with every mark linked to its records; the colours and styles of all charts.

Little ink: no frames, horizontal grid lines alone, names beside what they name, and a legend only where there is no
room for that. Elements have classes instead of colours, so that one drawing serves both themes; `resolve` writes the
light colours into it for files. There are only `path` (M, L, C, Z and h0), `rect`, `circle` and `text`, which
templates/pdf.js can write as PDF.
"""

from __future__ import annotations

import base64
import html
import math
import re
import struct
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby, pairwise
from typing import TypeAlias

from interlingua.record import Estimate, Record
from interlingua.report.kit.chart import (
    Axis,
    Chart,
    FlowChart,
    HeatMap,
    HistogramChart,
    IntervalChart,
    IntervalRow,
    Line,
    LineChart,
    PointMap,
    ReferenceLine,
    ScatterChart,
)
from interlingua.report.kit.wording import (
    Display,
    escape_control_characters,
    format_interval,
    format_number,
    format_value,
)

WIDE, HALF, NARROW = 900, 440, 320
"""The widths of a chart over the whole page, of one of two beside each other, and of one on a phone, in pixels."""

LIGHT: Mapping[str, str] = {
    "paper": "#ffffff", "ink": "#1b1d21", "soft": "#5a606b", "line": "#e3e5e9", "grey": "#868d99",
    "c0": "#0072b2", "c1": "#c24e00", "c2": "#00805e", "c3": "#9c3f86", "c4": "#6b4700", "c5": "#33338f",
}  # fmt: skip
"""Colours of the light theme. Text and series have a contrast of at least 4.5 : 1 on paper, grey marks 3 : 1; the first
four series differ with any colour vision (at least 10 in CIELAB), the others by their marker, too."""
DARK: Mapping[str, str] = {
    "paper": "#15171b", "ink": "#e8eaed", "soft": "#a3a9b4", "line": "#30343b", "grey": "#7d8490",
    "c0": "#56b4e9", "c1": "#f2994a", "c2": "#2fc49a", "c3": "#e59ac9", "c4": "#f3ecb4", "c5": "#c9c6ff",
}  # fmt: skip
MARGIN = 3
"""Room around a drawing, since letters and markers reach a little over their places."""
SERIES = 6
STEPS = 15
"""The number of colours of a heat map: more cannot be distinguished; the middle one is the 0 of a diverging scale."""
_SEQUENTIAL = {
    "light": ("#faf4e1", "#ddd3a4", "#93a69f", "#45739a", "#12305c"),
    "dark": ("#22304c", "#465a7b", "#808b8a", "#c0b47b", "#ffe873"),
}
"""As cividis, from blue to yellow by way of grey, and readable with any colour vision; high values stand out most."""
_DIVERGING = {
    "light": ("#a84300", "#eaa76b", "#f3f1ed", "#7fb2d8", "#005488"),
    "dark": ("#ffb27a", "#94613a", "#2b2e34", "#3c6f97", "#90d0ff"),
}
_FONT_FAMILY = "'Noto Sans',system-ui,sans-serif"
_FSI, _PDI = "\u2068", "\u2069"
_FONT = "assets/font/NotoSans-subset.ttf"

Mark: TypeAlias = Callable[[str, Sequence[Record]], str]
"""From the tip of a mark and the records behind it, its attributes."""
Box: TypeAlias = tuple[float, float, float, float]


# ---- colours and styles -------------------------------------------------------------------------------------------


def font_file() -> bytes:
    """Our font as TrueType, with the characters of Latin, Greek and Cyrillic alphabets."""
    return _asset(_FONT)


def _asset(path: str) -> bytes:
    return files("interlingua").joinpath(path).read_bytes()


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def contrast(first: str, second: str) -> float:
    """The contrast of two colours as WCAG 2 defines it, from 1 to 21.

    >>> round(contrast("#000000", "#ffffff")), round(contrast("#ffffff", "#767676"), 2)
    (21, 4.54)
    """

    def luminance(colour: str) -> float:
        parts = [part / 255 for part in _channels(colour)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@cache
def theme_colours(theme: str) -> Mapping[str, str]:
    """All colours of the `light` or `dark` theme: name to colour, heat maps (`q7`, `v7`) and their inks included."""
    colours = dict(LIGHT if theme == "light" else DARK)
    for prefix, ink, anchors in (("q", "x", _SEQUENTIAL[theme]), ("v", "y", _DIVERGING[theme])):
        for step in range(STEPS):
            place = step / (STEPS - 1) * (len(anchors) - 1)
            first = min(int(place), len(anchors) - 2)
            ends = zip(_channels(anchors[first]), _channels(anchors[first + 1]), strict=True)
            cell = "#" + "".join(f"{round(low + (high - low) * (place - first)):02x}" for low, high in ends)
            colours[f"{prefix}{step}"] = cell
            colours[f"{ink}{step}"] = max("#000000", "#ffffff", key=lambda text: contrast(text, cell))
    return colours


def _style_table() -> dict[str, dict[str, str]]:
    styles: dict[str, dict[str, str]] = {
        "t": {"fill": "@ink"},
        "s": {"fill": "@soft"},
        "p": {"fill": "@paper"},
        "gl": {"fill": "@line"},
        "g": {"fill": "none", "stroke": "@line", "stroke-width": "1"},
        "a": {"fill": "none", "stroke": "@soft", "stroke-width": "1"},
        "r": {"fill": "none", "stroke": "@soft", "stroke-width": "1.5", "stroke-dasharray": "1.5 3.5"},
        "cross": {"fill": "none", "stroke": "@soft", "stroke-width": "1.5"},
    }
    for name in [*map(str, range(SERIES)), "g"]:
        colour = "@grey" if name == "g" else f"@c{name}"
        styles |= {
            f"f{name}": {"fill": colour},
            f"l{name}": {"fill": "none", "stroke": colour, "stroke-width": "2.25", "stroke-linejoin": "round"},
            f"b{name}": {"fill": colour, "fill-opacity": "0.15"},
            f"o{name}": {"fill": colour, "fill-opacity": "0.4"},
            f"n{name}": {"fill": "none", "stroke": colour, "stroke-width": "1.25", "stroke-linejoin": "round"},
            f"m{name}": {"fill": "none", "stroke": colour, "stroke-width": "4", "stroke-linecap": "round"},
        }
    styles |= {"h": {"fill": "@paper"}, "d": {"stroke-dasharray": "6 4"}, "thin": {"stroke-width": "1.25"}}
    for prefix in "qxvy":
        styles |= {f"{prefix}{step}": {"fill": f"@{prefix}{step}"} for step in range(STEPS)}
    return styles


STYLES = _style_table()
"""What each class looks like; `@ink` is a colour of the theme. Later classes win."""


def chart_css() -> str:
    """The styles of charts for a page, which has `--paper`, `--ink`, `--soft` and `--line` itself."""

    def variables(theme: str) -> str:
        shared = ("paper", "ink", "soft", "line")
        return "".join(f"--{name}:{colour};" for name, colour in theme_colours(theme).items() if name not in shared)

    light, dark = variables("light"), variables("dark")
    rules = "".join(
        f".chart .{name}{{{';'.join(f'{key}:{value}' for key, value in style.items())}}}"
        for name, style in STYLES.items()
    )
    rules = re.sub("@([a-z0-9]+)", r"var(--\1)", rules)
    return (
        f":root{{{light}}}@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f":root[data-theme=dark]{{{dark}}}{rules}{_asset('report/templates/charts.css').decode()}"
        f"@media print{{:root,:root[data-theme=dark],:root:not([data-theme=light]){{{light}}}}}"
    )


def resolve(svg: str, *, font: bool = False) -> str:
    """The drawing with the light theme's colours in place of classes, for a file; `font` embeds the font."""
    colours = theme_colours("light")

    def attributes(match: re.Match[str]) -> str:
        style: dict[str, str] = {}
        for name in match[1].split():
            style |= STYLES.get(name, {})
        return "".join(f' {key}="{colours[value[1:]] if value[0] == "@" else value}"' for key, value in style.items())

    plain = re.sub(r' class="([^"]*)"', attributes, re.sub(r' data-(?:r|m|tip)="[^"]*"', "", svg))
    if not font:
        return plain
    face = base64.b64encode(_asset(_FONT)).decode()
    style = f"<style>@font-face{{font-family:'Noto Sans';src:url(data:font/ttf;base64,{face})}}</style>"
    head, _, rest = plain.partition(">")
    return f"{head}>{style}{rest}"


# ---- text ---------------------------------------------------------------------------------------------------------


@cache
def _advances() -> Mapping[int, float]:
    """The width of each character of our font in em, from its tables cmap (format 4) and hmtx."""
    data = _asset(_FONT)
    tables = {
        data[at : at + 4]: struct.unpack(">I", data[at + 8 : at + 12])[0] for at in range(12, 12 + 16 * data[5], 16)
    }

    def shorts(at: int, count: int) -> tuple[int, ...]:
        return struct.unpack(f">{count}H", data[at : at + 2 * count])

    em = shorts(tables[b"head"] + 18, 1)[0]
    many = shorts(tables[b"hhea"] + 34, 1)[0]
    widths = shorts(tables[b"hmtx"], 2 * many)[::2]
    cmap = tables[b"cmap"]
    places = [struct.unpack(">HHI", data[at : at + 8])[2] for at in range(cmap + 4, cmap + 4 + 8 * data[cmap + 3], 8)]
    sub = next(cmap + place for place in places if shorts(cmap + place, 1) == (4,))
    count = shorts(sub + 6, 1)[0] // 2
    ends, starts = shorts(sub + 14, count), shorts(sub + 16 + 2 * count, count)
    deltas, ranges = shorts(sub + 16 + 4 * count, count), shorts(sub + 16 + 6 * count, count)
    advances: dict[int, float] = {}
    for segment in range(count - 1):
        for code in range(starts[segment], ends[segment] + 1):
            place = sub + 16 + 6 * count + 2 * segment + ranges[segment] + 2 * (code - starts[segment])
            glyph = shorts(place, 1)[0] if ranges[segment] else code
            advances[code] = widths[min((glyph + deltas[segment]) & 0xFFFF, many - 1)] / em
    return advances


def text_width(text: str, size: float = 12) -> float:
    """How wide a text is in pixels: exact in our font, an estimate in scripts that it lacks.

    >>> round(text_width("layer 6")), text_width("日本"), round(text_width("हिन्दी"))
    (38, 24.0, 37)
    """
    known = _advances()

    def em(letter: str) -> float:
        if (width := known.get(ord(letter))) is not None:
            return width
        if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
            return 0.0
        return 1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.62

    return size * sum(map(em, text))


def plain_text(text: str) -> str:
    """Text of a user as one line without anything that acts on what stands around it."""
    joined = re.sub("[ \t\r\n\x0b\x0c\u2028\u2029]+", " ", escape_control_characters(text)).strip(" ")
    return re.sub("[\ud800-\udfff\ufffe\uffff]", "\ufffd", joined)


def _escaped(text: str) -> str:
    return html.escape(text, quote=True)


def _isolated(text: str) -> str:
    """A name inside a longer text: its direction does not turn what stands beside it."""
    return f"{_FSI}{plain_text(text)}{_PDI}"


def shorten(text: str, width: float, size: float = 12) -> str:
    """The text with an ellipsis where it is wider than `width`.

    >>> shorten("Norwegian Bokmål", 60)
    'Norwegi…'
    """
    if len(text) * size * 0.2 <= width and text_width(text, size) <= width:
        return text
    room, end = width - text_width("…", size), 0
    for end, letter in enumerate(text):  # noqa: B007 - how far it came is what is asked
        room -= text_width(letter, size)
        if room < 0:
            break
    return text[:end].rstrip() + "…"


def _number(value: float) -> str:
    """A coordinate with at most one decimal."""
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def _trace(points: Iterable[tuple[float, float]]) -> str:
    """The commands of a line through the points."""
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points)


def _head(*names: str) -> str:
    """The names of what a mark is, each with its own direction."""
    return ", ".join(_isolated(name) for name in names if name)


def _tip(head: str, estimate: Estimate, display: Display) -> str:
    """What a mark says: what it is, its value with interval, chance level and number of items."""
    interval = format_interval(estimate.ci_low, estimate.ci_high, display)
    lines = [head, f"{format_value(estimate.value, display)} {interval}".rstrip()]
    if estimate.null_value is not None:
        lines.append(f"chance level {format_value(estimate.null_value, display)}")
    if estimate.n:
        lines.append(f"n = {estimate.n:,}")
    return "\n".join(line for line in lines if line)


# ---- what drawings are made of ------------------------------------------------------------------------------------


_SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    ((0, -1.2), (1.15, 0.85), (-1.15, 0.85)),
    ((0, 1.2), (1.15, -0.85), (-1.15, -0.85)),
    ((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4), (0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4),
     (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)),
)  # fmt: skip
"""The corners of a circle (none), square, diamond, triangle up and down, and plus."""


class _Sheet:
    """The elements of a drawing, and where texts stand, so that optional labels can keep away from them."""

    def __init__(self, width: int, mark: Mark) -> None:
        self.width, self.mark = width, mark
        self.height = 0.0
        self.parts: list[str] = []
        self.boxes: list[Box] = []

    def text(
        self, x: float, y: float, text: str, style: str = "s", *, anchor: str = "start", size: int = 12, mark: str = ""
    ) -> None:
        """A line of text with its baseline at y."""
        self.boxes.append(text_box(x, y, text, anchor, size))
        where = "" if anchor == "start" else f' text-anchor="{anchor}"'
        big = "" if size == 12 else f' font-size="{size}"'
        self.parts.append(
            f'<text x="{_number(x)}" y="{_number(y)}" class="{style}"{where}{big}{mark}>{_escaped(text)}</text>'
        )

    def centered(self, x: float, y: float, text: str, style: str = "s", *, size: int = 12) -> None:
        """A text round x, moved as far as it would leave the drawing."""
        half = text_width(text, size) / 2
        self.text(min(max(x, half), self.width - half), y, text, style, anchor="middle", size=size)

    def upright(self, x: float, y: float, text: str, style: str = "s", *, size: int = 11) -> None:
        """A text that is read from below, ending at (x, y)."""
        turn = f'transform="translate({_number(x)} {_number(y)}) rotate(-90)"'
        self.parts.append(f'<text {turn} class="{style}" font-size="{size}">{_escaped(text)}</text>')

    def path(self, commands: str, style: str, mark: str = "") -> None:
        self.parts.append(f'<path d="{commands}" class="{style}"{mark}/>')

    def rect(self, box: Box, style: str, mark: str = "", *, opacity: float | None = None) -> None:
        x, y, width, height = map(_number, box)
        faint = "" if opacity is None else f' fill-opacity="{round(opacity, 2)}"'
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" class="{style}"{faint}{mark}/>')

    def segment(self, x1: float, y1: float, x2: float, y2: float, style: str, mark: str = "") -> None:
        self.path(_trace([(x1, y1), (x2, y2)]), style, mark)

    def symbol(self, color: int, x: float, y: float, radius: float, style: str, mark: str = "") -> None:
        """A marker: each colour has a shape of its own, so that no series is recognised by its colour alone."""
        corners = _SHAPES[(color + color // SERIES) % SERIES if color >= 0 else 0]
        if corners:
            places = [(x + radius * right, y + radius * down) for right, down in corners]
            self.path(_trace(places) + "Z", style, mark)
            return
        where = f'cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}"'
        self.parts.append(f'<circle {where} class="{style}"{mark}/>')

    def text_where_free(
        self,
        text: str,
        places: Iterable[tuple[float, float, str]],
        style: str = "s",
        *,
        size: int = 12,
        taken: Sequence[Box] = (),
        frame: Box = (-math.inf, -math.inf, math.inf, math.inf),
    ) -> bool:
        """Write a text at the first place (x, y, anchor) in the frame where it covers no text and nothing taken."""
        for x, y, anchor in places:
            box = text_box(x, y, text, anchor, size)
            inside = frame[0] <= box[0] and box[2] <= frame[2] and frame[1] <= box[1] and box[3] <= frame[3]
            if inside and not any(_overlap(box, other) for other in (*self.boxes, *taken)):
                self.text(x, y, text, style, anchor=anchor, size=size)
                return True
        return False

    def finished(self, chart: Chart) -> str:
        width, height = self.width + 2 * MARGIN, math.ceil(self.height) + 2 * MARGIN
        view = f"{-MARGIN} {-MARGIN} {width} {height}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" width="{width}" height="{height}" '
            f'role="img" font-family="{_FONT_FAMILY}" font-size="12"><title>{_escaped(plain_text(chart.title))}</title>'
            f"<desc>{_escaped(plain_text(chart.note))}</desc>{''.join(self.parts)}</svg>"
        )


def text_box(x: float, y: float, text: str, anchor: str = "start", size: float = 12) -> Box:
    """Left, top, right and bottom of a text."""
    width = text_width(text, size)
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, y - 0.78 * size, left + width, y + 0.22 * size


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def nice_ticks(low: float, high: float, most: int) -> list[float]:
    """At most `most` round numbers from `low` to `high`, steps of 1, 2 or 5.

    >>> nice_ticks(0.0, 0.47, 6), nice_ticks(-3, 12, 4)
    ([0.0, 0.1, 0.2, 0.3, 0.4], [0.0, 5.0, 10.0])
    """
    if not high > low:
        return [low]
    power = math.floor(math.log10((high - low) / max(most, 1)))
    for digit in (1, 2, 5, 10, 20, 50):
        step = digit * 10.0**power
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            return [round(place * step, 12) for place in range(first, last + 1)]
    return [low]


def format_tick(value: float, display: Display, step: float, *, unit: bool = True) -> str:
    r"""The number of a tick or a cell, with as many digits as the step needs; in a cell the legend names the unit.

    >>> format_tick(0.25, "percent", 0.05), format_tick(-0.02, "points", 0.02), format_tick(1500, "number", 500)
    ('25\xa0%', '−2', '1,500')
    """
    shown, step = (100 * value, 100 * step) if display in ("percent", "points") else (value, step)
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) if step > 0 else 2
    text = f"{shown:,.{digits}f}" if abs(shown) >= 1000 else format_number(shown, digits)
    text = text.replace("-", "−")
    if display == "percent" and unit:
        return f"{text}\N{NO-BREAK SPACE}%"
    return f"+{text}" if display == "points" and round(shown, digits) > 0 else text


@dataclass(frozen=True, kw_only=True)
class _Scale:
    """Values to pixels, with ticks."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    display: Display

    def __call__(self, value: float) -> float:
        clipped = min(max(value, self.low), self.high)
        return self.start + (clipped - self.low) / (self.high - self.low) * (self.end - self.start)

    def labels(self) -> list[str]:
        step = self.ticks[1] - self.ticks[0] if len(self.ticks) > 1 else abs(self.ticks[0]) or 1
        return [format_tick(tick, self.display, step) for tick in self.ticks]


def axis_ends(
    axis: Axis, values: Iterable[float], most: int, *, at_ticks: bool = True
) -> tuple[float, float, tuple[float, ...]]:
    """Where an axis begins and ends, and its ticks: as the axis says, else at the ticks around its values.

    A share never goes below 0 or above 1, nor a difference of shares beyond 1, also where an interval would.
    """
    known = [*values, *(end for end in (axis.low, axis.high) if end is not None), *([0.0] if axis.zero else [])]
    _require_finite(known)
    is_share = axis.display in ("percent", "points")
    shares = (0.0 if axis.display == "percent" else -1.0, 1.0) if is_share else (-math.inf, math.inf)
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if low == high:
        low, high = low - (abs(low) / 2 or 0.5) * (low != 0), high + (abs(high) / 2 or 0.5)
    low, high = min(max(low, shares[0]), 0.99 * shares[1]), min(high, shares[1])
    high = max(high, low + 0.01) if is_share else high
    ticks = nice_ticks(low, high, most)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else high - low
    below, above = step * math.floor(low / step + 1e-6), step * math.ceil(high / step - 1e-6)
    if not at_ticks:
        below, above = (low if low == 0 else low - (high - low) / 30), high + (high - low) / 30
    low = max(below, shares[0]) if axis.low is None else low
    high = min(above, shares[1]) if axis.high is None else high
    return low, high, tuple(nice_ticks(low, high, most + 2))


def _scale(axis: Axis, ends: tuple[float, float, tuple[float, ...]], start: float, end: float) -> _Scale:
    low, high, ticks = ends
    return _Scale(low=low, high=high, start=start, end=end, ticks=ticks, display=axis.display)


def _require_finite(values: Iterable[float]) -> None:
    if any(not math.isfinite(value) for value in values):
        raise ValueError("a chart draws finite numbers only")


def _drawn_values(estimates: Iterable[Estimate | None], references: Iterable[ReferenceLine]) -> list[float]:
    """Values and bounds of estimates, and those of reference lines."""
    values = [value for reference in references for value in reference.values]
    for estimate in estimates:
        values += [estimate.value, estimate.ci_low, estimate.ci_high] if estimate is not None else []
    return [value for value in values if value is not None]


def _widest(texts: Iterable[str], size: float = 12) -> float:
    return max((text_width(text, size) for text in texts), default=0.0)


def _series(color: int) -> str:
    return "g" if color < 0 else str(color % SERIES)


def spread_labels(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The places moved as little as need be, so that they are `gap` apart and lie from `low` to `high`.

    >>> spread_labels([10, 12, 50], 14, 0, 100)
    [4.0, 18.0, 50.0]
    """
    order = sorted(range(len(places)), key=lambda at: places[at])
    blocks: list[tuple[float, list[int]]] = []  # The middle of each block of labels that touch, and its members.
    for at in order:
        middle, members = float(places[at]), [at]
        while True:
            half = gap * (len(members) - 1) / 2
            middle = min(max(middle, low + half), max(high - half, low + half))
            if not blocks:
                break
            other, others = blocks[-1]
            if middle - half - (other + gap * (len(others) - 1) / 2) >= gap:
                break
            blocks.pop()
            members = [*others, *members]
            middle = (other * len(others) + middle * (len(members) - len(others))) / len(members)
        blocks.append((middle, members))
    spread = [0.0] * len(places)
    for middle, members in blocks:
        for place, at in enumerate(members):
            spread[at] = middle + gap * (place - (len(members) - 1) / 2)
    return spread


def _legend(sheet: _Sheet, entries: Sequence[tuple[str, str, int]], y: float) -> float:
    """A legend from the left, in as many lines as it needs; each entry is a name, the style of its line, its colour.

    Of more than 24 entries the rest is counted. Returns the y below it.
    """
    x, shown = 0.0, list(entries[:24])
    if len(entries) > 24:
        shown.append((f"and {len(entries) - 24} more", "", -2))
    for name, stroke, color in shown:
        label = shorten(plain_text(name), sheet.width - 24)
        sample = 24.0 if stroke else 14.0 if color > -2 else 0.0
        if x and x + sample + text_width(label) > sheet.width:
            x, y = 0.0, y + 18
        if stroke:
            sheet.segment(x, y + 8, x + 18, y + 8, stroke)
        if color > -2:
            sheet.symbol(color, x + (9 if stroke else 4), y + 8, 3.2, f"f{_series(color)}")
        sheet.text(x + sample, y + 12, label, "t")
        x += sample + text_width(label) + 16
    return y + 22


def _group_legend(sheet: _Sheet, colors: Mapping[str, int], top: float) -> float:
    """A legend of markers where there are several names; returns the y below it."""
    entries = [(name, "", color) for name, color in colors.items() if name]
    return _legend(sheet, entries, top) if len(entries) > 1 else top


def _grid(sheet: _Sheet, scale: _Scale, left: float, right: float) -> None:
    """Horizontal lines at the ticks of an upward axis, with their numbers left of them."""
    for tick, label in zip(scale.ticks, scale.labels(), strict=True):
        base = tick in (scale.low, 0)
        sheet.segment(left, scale(tick), right, scale(tick), "a" if base else "g")
        sheet.text(left - 6, scale(tick) + 4, label, anchor="end")


def _upright_grid(sheet: _Sheet, scale: _Scale, top: float, bottom: float) -> None:
    for tick in scale.ticks:
        sheet.segment(scale(tick), top, scale(tick), bottom, "g")


def _foot(sheet: _Sheet, scale: _Scale, y: float, title: str) -> None:
    """The numbers of a horizontal axis below `y`, as many as there is room for, and its title."""
    last = -math.inf
    for tick, label in zip(scale.ticks, scale.labels(), strict=True):
        half = text_width(label) / 2
        if scale(tick) - half > last + 6:
            sheet.centered(scale(tick), y + 17, label)
            last = max(scale(tick), half) + half
    _foot_title(sheet, (scale.start + scale.end) / 2, y, title)


def _foot_title(sheet: _Sheet, middle: float, y: float, title: str) -> None:
    sheet.height = y + 24
    if title:
        sheet.centered(middle, y + 36, shorten(plain_text(title), sheet.width))
        sheet.height = y + 42


def _head_title(sheet: _Sheet, title: str, top: float) -> float:
    """The title of an upward axis above it, read from the left; returns the y below it."""
    if title:
        sheet.text(0, top + 12, shorten(plain_text(title), sheet.width))
    return top + 24 if title else top


# ---- charts -------------------------------------------------------------------------------------------------------


def draw(
    chart: Chart, *, width: int = WIDE, number: Callable[[Record], int] | None = None, mark: Mark | None = None
) -> str:
    """The chart as an SVG element of that width, with a title and a description.

    Every mark has `data-tip`, what it says, and with `number` also `data-r`, the numbers of its records. `mark` gives
    other attributes in their place. Numbers that are not finite are a ValueError.
    """

    def attributes(tip: str, records: Sequence[Record]) -> str:
        known = "" if number is None else " ".join(map(str, dict.fromkeys(map(number, records))))
        lines = _escaped(tip).replace("\n", "&#10;")  # XML reads a line break in an attribute as a blank.
        return f' data-tip="{lines}"' + (f' data-r="{known}"' if known else "")

    sheet = _Sheet(width - 2 * MARGIN, mark or attributes)
    match chart:
        case LineChart():
            _draw_lines(sheet, chart)
        case HeatMap():
            _draw_heat_map(sheet, chart)
        case ScatterChart():
            _draw_scatter(sheet, chart)
        case IntervalChart():
            _draw_intervals(sheet, chart)
        case HistogramChart():
            _draw_histograms(sheet, chart)
        case FlowChart():
            _draw_flows(sheet, chart)
        case PointMap():
            _draw_points(sheet, chart)
    return sheet.finished(chart)


def _height(width: int) -> int:
    """How high the plot of a line or scatter chart of this width is."""
    return 320 if width >= 700 else 250 if width >= 400 else 230


MOST_BANDS = 4
"""Lines above which bands would hide each other: intervals are then in the tips and the table alone."""


@dataclass(frozen=True, kw_only=True)
class _LinePlot:
    """Where a line chart is drawn: the pixel of every x value, the upward scale, the sides, the names at the right."""

    sheet: _Sheet
    chart: LineChart
    across: Mapping[float | str, float]
    upward: _Scale
    left: float
    right: float
    direct: bool

    def points(self, line: Line) -> list[tuple[float, Estimate | None]]:
        """The points of a line from left to right."""
        known = ((self.across[x], estimate) for x, estimate in zip(line.x, line.y, strict=True))
        return sorted(known, key=lambda point: point[0])

    def runs(self, line: Line) -> list[list[tuple[float, Estimate]]]:
        """The points of a line from gap to gap."""
        groups = groupby(self.points(line), key=lambda point: point[1] is not None)
        return [[(x, estimate) for x, estimate in group if estimate is not None] for known, group in groups if known]


def _draw_lines(sheet: _Sheet, chart: LineChart) -> None:
    lines, width, tall = chart.lines, sheet.width, _height(sheet.width)
    if not lines:
        return
    for line in lines:
        if len(line.x) != len(line.y):
            raise ValueError(f"the line {line.name!r} has {len(line.x)} places and {len(line.y)} values")
    named = [line for line in lines if line.name] if len(lines) > 1 or chart.references else []
    beside = [plain_text(name) for name in (*(line.name for line in named), *(one.label for one in chart.references))]
    widest = _widest(beside)
    direct = len(beside) * 15 < tall and widest <= width * (0.3 if width >= 400 else 0.26)
    top = 0.0
    if named and not direct:
        top = _legend(sheet, [(line.name, _stroke(line), line.color) for line in named], top) + 4
    top = _head_title(sheet, chart.y.title, top) + 6
    values = _drawn_values((estimate for line in lines for estimate in line.y), chart.references)
    upward = _scale(chart.y, axis_ends(chart.y, values, 5), top + tall, top)
    left = _widest(upward.labels()) + 8
    right = width - (widest + 14 if direct and beside else 8)
    across = _places(lines, left + 10, right - 6)
    plot = _LinePlot(sheet=sheet, chart=chart, across=across, upward=upward, left=left, right=right, direct=direct)
    _grid(sheet, upward, left, right)
    for reference in chart.references:
        _draw_reference(plot, reference)
    for line in lines if sum(line.color >= 0 for line in lines) <= MOST_BANDS else ():
        _draw_band(plot, line)
    for line in sorted(lines, key=lambda line: line.color >= 0):  # What is grey lies below.
        _draw_line(plot, line)
    if direct:
        _draw_end_labels(plot, named)
    for line in lines:
        _draw_best(plot, line)
    _draw_x_axis(plot)


def _stroke(line: Line) -> str:
    return f"l{_series(line.color)}" + (" d" if line.dashed else "") + (" thin" if line.color < 0 else "")


def _places(lines: Sequence[Line], start: float, end: float) -> dict[float | str, float]:
    """The pixel of every x value: numbers to scale, names (and numbers beside names) at equal distances."""
    everything = list(dict.fromkeys(x for line in lines for x in line.x))
    numbers = sorted(x for x in everything if not isinstance(x, str))
    _require_finite(numbers)
    names: list[float | str] = [*numbers, *(x for x in everything if isinstance(x, str))]
    if len(names) == 1:
        return {names[0]: (start + end) / 2}
    if len(numbers) < len(names):
        return {x: start + (end - start) * place / (len(names) - 1) for place, x in enumerate(names)}
    return {x: start + (end - start) * (x - numbers[0]) / (numbers[-1] - numbers[0]) for x in numbers}


def _draw_band(plot: _LinePlot, line: Line) -> None:
    for run in plot.runs(line):
        edges = [
            (x, plot.upward(estimate.ci_low), plot.upward(estimate.ci_high))
            for x, estimate in run
            if estimate.ci_low is not None and estimate.ci_high is not None
        ]
        if len(edges) == 1:
            x, low, high = edges[0]
            plot.sheet.segment(x, low, x, high, f"n{_series(line.color)}")
        elif edges and line.color >= 0:
            outline = [(x, high) for x, _, high in edges] + [(x, low) for x, low, _ in reversed(edges)]
            plot.sheet.path(_trace(outline) + "Z", f"b{_series(line.color)}")


def _draw_line(plot: _LinePlot, line: Line) -> None:
    sheet, upward, axis = plot.sheet, plot.upward, plot.chart.x
    for run in plot.runs(line):
        if len(run) > 1:
            sheet.path(_trace((x, upward(estimate.value)) for x, estimate in run), _stroke(line))
    radius = 1.6 if line.color < 0 or len(line.x) > 40 else 2.8
    for x, estimate in zip(line.x, line.y, strict=True):
        if estimate is not None:
            place = f"{plain_text(axis.title)} {_isolated(x) if isinstance(x, str) else _plain_number(x)}".strip()
            head = ", ".join(filter(None, (_head(line.name), place)))
            tip = _tip(head, estimate, plot.chart.y.display)
            mark = sheet.mark(tip, estimate.records)
            sheet.symbol(line.color, plot.across[x], upward(estimate.value), radius, f"f{_series(line.color)} m", mark)


def _plain_number(value: float) -> str:
    return format_tick(value, "number", 1.0 if float(value).is_integer() else 0.01)


def _draw_best(plot: _LinePlot, line: Line) -> None:
    """A ring round the best point of a line and its value, where that covers no other text."""
    if line.best is None or (estimate := line.y[line.best]) is None:
        return
    x, y, style = plot.across[line.x[line.best]], plot.upward(estimate.value), f"l{_series(line.color)}"
    plot.sheet.symbol(0, x, y, 5.5, f"{style} thin")
    label = format_value(estimate.value, plot.chart.y.display)
    middle = max(x, plot.left + 4 + text_width(label) / 2)
    points = [(u, plot.upward(e.value)) for one in plot.chart.lines for u, e in plot.points(one) if e is not None]
    # Above, else below, where no line passes; a label on a line is still better than none.
    places, color = [(middle, y + down, "middle") for down in (-11, 20)], f"f{_series(line.color)}"
    below_top = (-math.inf, 0.0, math.inf, math.inf)
    on_lines = [(u, v, u + 1, v + 1) for u, v in points]
    if not plot.sheet.text_where_free(label, places, color, taken=on_lines, frame=below_top):
        plot.sheet.text_where_free(label, places, color, frame=below_top)


def _draw_reference(plot: _LinePlot, reference: ReferenceLine) -> None:
    values, places = reference.values, sorted(plot.across.values())
    if len(values) not in (1, len(places)):
        raise ValueError(f"the reference {reference.label!r} has {len(values)} values at {len(places)} places")
    points = zip(places, values, strict=True) if len(values) > 1 else [(plot.left, values[0]), (plot.right, values[0])]
    known = [(x, plot.upward(value)) for x, value in points if value is not None]
    if known:
        plot.sheet.path(_trace(known), "r")
        if not plot.direct:
            _write_along(plot.sheet, plain_text(reference.label), known, (plot.left, plot.right))


def _write_along(sheet: _Sheet, label: str, points: Sequence[tuple[float, float]], ends: tuple[float, float]) -> None:
    """A label above a line, else below it, at its right or left end, where no text stands yet."""
    label = shorten(label, ends[1] - ends[0], 11)
    (_, first), (_, last) = points[0], points[-1]
    at_left = ends[0] + 4
    places = [(ends[1], last - 5, "end"), (ends[1], last + 13, "end"), (at_left, first - 5, "start")]
    if not sheet.text_where_free(label, places, size=11):
        sheet.text(at_left, first + 13, label, size=11)


def _draw_end_labels(plot: _LinePlot, lines: Sequence[Line]) -> None:
    """Names of lines and references right of where they end, moved apart where they would touch."""
    ends: list[tuple[float, float, str, str]] = []
    for line in lines:
        known = [(x, plot.upward(estimate.value)) for x, estimate in plot.points(line) if estimate is not None]
        style = "s" if line.color < 0 else f"f{_series(line.color)}"
        ends += [(x + 4, y, plain_text(line.name), style) for x, y in known[-1:]]
    for reference in plot.chart.references:
        values = [value for value in reference.values if value is not None]
        ends += [(plot.right, plot.upward(value), plain_text(reference.label), "s") for value in values[-1:]]
    moved = spread_labels([y for _, y, _, _ in ends], 15, plot.upward.end, plot.upward.start - 6)
    for (x, y, label, style), place in zip(ends, moved, strict=True):
        if abs(place - y) > 5 or plot.right - x > 12:
            plot.sheet.segment(x + 1, y, plot.right + 7, place, "g")
        plot.sheet.text(plot.right + 9, place + 4, label, style)


def _draw_x_axis(plot: _LinePlot) -> None:
    sheet, across, axis, y = plot.sheet, plot.across, plot.chart.x, plot.upward.start
    numbers = [x for x in across if not isinstance(x, str)]
    is_dense = len(across) > 25 or any(not float(x).is_integer() for x in numbers)
    if len(numbers) == len(across) > 1 and is_dense:
        low, high = min(numbers), max(numbers)
        ticks = tuple(nice_ticks(low, high, max(3, int((across[high] - across[low]) / 70))))
        _foot(sheet, _scale(axis, (low, high, ticks), across[low], across[high]), y, axis.title)
        return
    names = [(x, shorten(plain_text(x), 110) if isinstance(x, str) else _plain_number(x)) for x in across]
    # The last place (the output) is always named; of the others as many as fit, at equal steps.
    for step in range(1, len(names) + 1):
        shown = [name for place, name in enumerate(names) if place % step == 0 or place == len(names) - 1]
        boxes = [text_box(across[x], 0, label, "middle") for x, label in shown]
        if len(shown) > 2 and boxes[-2][2] + 6 > boxes[-1][0]:
            del shown[-2], boxes[-2]
        if all(first[2] + 6 <= second[0] for first, second in pairwise(boxes)):
            break
    for x, label in shown:
        sheet.centered(across[x], y + 17, label)
    _foot_title(sheet, (plot.left + plot.right) / 2, y, axis.title)


MOST_CELLS = 120
"""Rows or columns of a heat map above which neighbours are drawn as one cell with their mean."""


def _draw_heat_map(sheet: _Sheet, chart: HeatMap) -> None:
    if len(chart.cells) != len(chart.rows) or any(len(row) != len(chart.columns) for row in chart.cells):
        raise ValueError(f"the cells of {chart.name!r} are not {len(chart.rows)} × {len(chart.columns)}")
    values = [cell.value for row in chart.cells for cell in row if cell is not None]
    _require_finite(values)
    if not values:
        return
    low, high = heat_ends(chart, values)
    rows, columns, cells = _blocks(chart)
    small = 12 if sheet.width >= 700 else 11
    left = min(_widest(rows, small), sheet.width * 0.34) + 8
    side = min((sheet.width - left) / len(columns), 58.0)
    level = _widest(columns, small) + 4 <= side
    head = 16.0 if level else min(_widest(columns, 11), 110.0) + 8
    tall = max(min(side, 34.0 if sheet.width >= 400 else 30.0), 12.0 if len(rows) <= 40 else 3.0)
    top = _draw_heat_legend(sheet, chart, low, high) + head
    finest = {"count": 1.0, "decimal3": 0.001, "number": 0.01}.get(chart.display)
    finest = finest or (0.001 if max(map(abs, values)) < 0.2 else 0.01)  # One more digit of small shares.
    shown = [format_tick(value, chart.display, finest, unit=False) for value in values]
    written = tall >= 15 and _widest(shown, 11) + 3 <= side
    if side >= 11 or level:
        for column, label in enumerate(columns):
            x = left + (column + 0.5) * side
            if level:
                sheet.text(x, top - 6, label, anchor="middle", size=small)
            else:
                sheet.upright(x + 4, top - 5, shorten(label, 110, 11))
    every = max(1, math.ceil(13 / tall))
    prefix, ink = ("v", "y") if chart.diverging else ("q", "x")
    gap = 1.0 if side > 8 else 0.0
    for place, (name, line) in enumerate(zip(rows, cells, strict=True)):
        y = top + place * tall
        if place % every == 0:
            sheet.text(left - 8, y + tall / 2 + 4, shorten(name, left - 8, small), "t", anchor="end", size=small)
        for column, cell in enumerate(line):
            if cell is None:
                continue
            step = heat_step(cell.value, low, high)
            tip = _tip(f"{_isolated(name)} → {_isolated(columns[column])}", cell, chart.display)
            box = (left + column * side, y, side - gap, tall - min(gap, tall - 1))
            sheet.rect(box, f"{prefix}{step}", sheet.mark(tip, cell.records))
            if written:
                text = format_tick(cell.value, chart.display, finest, unit=False)
                sheet.text(box[0] + box[2] / 2, y + tall / 2 + 4, text, f"{ink}{step} v", anchor="middle", size=11)
    sheet.height = top + len(rows) * tall + 4


def _blocks(chart: HeatMap) -> tuple[list[str], list[str], list[list[Estimate | None]]]:
    """Names and cells as they are drawn: above `MOST_CELLS` to a side, means of neighbours."""
    most = max(len(chart.rows), len(chart.columns))
    size = math.ceil(most / MOST_CELLS)
    rows, columns = list(map(plain_text, chart.rows)), list(map(plain_text, chart.columns))
    if size == 1:
        return rows, columns, [list(row) for row in chart.cells]

    def joined(names: Sequence[str]) -> list[str]:
        groups = [names[at : at + size] for at in range(0, len(names), size)]
        return [f"{group[0]}…{group[-1]}" if len(group) > 1 else group[0] for group in groups]

    def mean(top: int, left: int) -> Estimate | None:
        known = [cell for row in chart.cells[top : top + size] for cell in row[left : left + size] if cell is not None]
        if not known:
            return None
        records = tuple(record for cell in known for record in cell.records)
        return Estimate(value=math.fsum(cell.value for cell in known) / len(known), records=records)

    cells = [[mean(y, x) for x in range(0, len(columns), size)] for y in range(0, len(rows), size)]
    return joined(rows), joined(columns), cells


def heat_ends(chart: HeatMap, values: Sequence[float]) -> tuple[float, float]:
    """The ends of the scale: as the chart says, else those of the values; of a diverging one equally far from 0."""
    low = min(values) if chart.low is None else chart.low
    high = max(values) if chart.high is None else chart.high
    if chart.diverging:
        high = max(abs(low), abs(high)) or 1.0
        return -high, high
    if low == high:
        return (low - 0.005, high + 0.005) if chart.display == "percent" else (low - 0.5, high + 0.5)
    return low, high


def heat_step(value: float, low: float, high: float) -> int:
    """Which of the colours of a heat map a value has.

    >>> heat_step(0, -1, 1), heat_step(-1, -1, 1), heat_step(5, -1, 1)
    (7, 0, 14)
    """
    return min(max(math.floor((value - low) / (high - low) * STEPS), 0), STEPS - 1)


def _draw_heat_legend(sheet: _Sheet, chart: HeatMap, low: float, high: float) -> float:
    """What the colours are of, and a bar with its two ends, 0 in the middle of a diverging one."""
    name = shorten(plain_text(chart.scale), sheet.width)
    ends = [format_value(end, chart.display) for end in (low, high)]
    bar, x, y = min(180.0, sheet.width * 0.4), 0.0, 0.0
    sheet.text(0, 12, name)
    if text_width(name) + 20 + bar + sum(map(text_width, ends)) + 16 <= sheet.width:
        x = text_width(name) + 20
    else:
        y = 20.0
    sheet.text(x, y + 12, ends[0])
    x += text_width(ends[0]) + 8
    prefix = "v" if chart.diverging else "q"
    for step in range(STEPS):
        sheet.rect((x + step * bar / STEPS, y + 3, bar / STEPS + 0.3, 10), f"{prefix}{step}")
    sheet.text(x + bar + 8, y + 12, ends[1])
    if chart.diverging:
        sheet.text(x + bar / 2, y + 25, "0", anchor="middle", size=11)
        y += 12
    return y + 26


def _draw_scatter(sheet: _Sheet, chart: ScatterChart) -> None:
    width, dots = min(sheet.width, 560) if chart.diagonal else sheet.width, chart.dots
    _require_finite(number for dot in dots for number in (dot.x, dot.y))
    below = _group_legend(sheet, {name: color for color, name in enumerate(chart.groups)}, 0.0)
    top = _head_title(sheet, chart.y.title, below + 4 if below else 0.0)
    tall = width - 70 if chart.diagonal else _height(width) + 50
    # Where equality is drawn both axes have one scale.
    both = [number for dot in dots for number in (dot.x, dot.y)] if chart.diagonal else []
    ends = axis_ends(chart.y, both or [*(dot.y for dot in dots), *(y for _, y in chart.trend or ())], 6)
    upward = _scale(chart.y, ends, top + tall, top + 6)
    left = _widest(upward.labels()) + 8
    if not chart.diagonal:
        most = max(3, int((width - left) / 75))
        ends = axis_ends(chart.x, (dot.x for dot in dots), most, at_ticks=False)
    rightward = _scale(chart.x, ends, left + 8, width - 12)
    _grid(sheet, upward, left, width - 4)
    _foot(sheet, rightward, upward.start, chart.x.title)
    if chart.diagonal:
        points = [(rightward(end), upward(end)) for end in (upward.low, upward.high)]
        sheet.segment(*points[0], *points[1], "r")
        _write_along(sheet, "equal", points, (left, width - 4))
    if chart.trend:
        (x1, y1), (x2, y2) = chart.trend
        sheet.segment(rightward(x1), upward(y1), rightward(x2), upward(y2), "a d")
    places = [(rightward(dot.x), upward(dot.y)) for dot in dots]
    radius = 2.2 if len(dots) > 300 else 3.6
    for dot, (x, y) in zip(dots, places, strict=True):
        names = [_isolated(text) for text in (dot.label, dot.detail) if text]
        axes = ((chart.x, dot.x), (chart.y, dot.y))
        numbers = [f"{plain_text(axis.title)}: {format_value(value, axis.display)}" for axis, value in axes]
        mark = sheet.mark("\n".join([*names, *numbers]), dot.records)
        sheet.symbol(dot.color, x, y, radius, f"f{_series(dot.color)} m", mark)
    if chart.labels:
        _label_dots(sheet, chart, places, (left, upward.end - 6, width, upward.start))


def _label_dots(sheet: _Sheet, chart: ScatterChart, places: Sequence[tuple[float, float]], frame: Box) -> None:
    """Labels beside their dots, on the first of eight sides that covers no dot and no text; else none."""
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in places]
    for number, (dot, (x, y)) in enumerate(zip(chart.dots, places, strict=True)):
        label = shorten(plain_text(dot.label), 150, 11)
        sides = (
            (7, 4, "start"), (-7, 4, "end"), (0, -8, "middle"), (0, 15, "middle"),
            (6, -5, "start"), (-6, -5, "end"), (6, 12, "start"), (-6, 12, "end"),
        )  # fmt: skip
        others = [other for at, other in enumerate(taken) if at != number]
        beside = [(x + right, y + down, anchor) for right, down, anchor in sides]
        sheet.text_where_free(label, beside, "t", size=11, taken=others, frame=frame)


def _draw_intervals(sheet: _Sheet, chart: IntervalChart) -> None:
    width, rows = sheet.width, chart.rows
    values = _drawn_values((row.estimate for row in rows), chart.references)
    values += [value for row in rows for value, _ in row.dots]
    values += [row.reference for row in rows if row.reference is not None]
    groups = {name: color for color, name in enumerate(dict.fromkeys(row.group for row in rows))}
    blocks = [list(block) for _, block in groupby(rows, key=lambda row: row.label)]
    names = [plain_text(block[0].label) for block in blocks]
    widest = _widest(names)
    above = widest > width * 0.34  # Long names stand above their rows.
    left = 0.0 if above else widest + 12
    numbers = [_interval_text(row, chart.x.display, full=width >= 700) for row in rows]
    side = _widest(numbers) + 14
    ends = axis_ends(chart.x, values, max(3, int((width - left - side) / 80)), at_ticks=False)
    scale = _scale(chart.x, ends, left + 8, width - side)
    top = _reference_heads(sheet, chart.references, scale, _group_legend(sheet, groups, 0.0))
    step, pad = (18.0, 12.0) if len(rows) > len(blocks) else (26.0, 0.0)
    bottom = top + sum(step * len(block) + pad + (17 if above else 0) for block in blocks)
    _upright_grid(sheet, scale, top, bottom)
    for value in (reference.values[0] for reference in chart.references):
        if value is not None:
            sheet.segment(scale(value), top - 2, scale(value), bottom, "a" if value == 0 else "r")
    y, texts = top, iter(numbers)
    for name, block in zip(names, blocks, strict=True):
        if above:
            sheet.text(0, y + 13, shorten(name, width), "t")
            y += 17
        else:
            sheet.text(left - 12, y + (step * len(block) + pad) / 2 + 4, name, "t", anchor="end")
        for place, row in enumerate(block):
            middle = y + pad / 2 + step * (place + 0.5)
            _draw_interval(sheet, row, groups[row.group], scale, middle)
            sheet.text(width, middle + 4, next(texts), f"f{_series(groups[row.group])}", anchor="end")
        y += step * len(block) + pad
    _foot(sheet, scale, bottom, chart.x.title)


def _interval_text(row: IntervalRow, display: Display, *, full: bool) -> str:
    if row.estimate is None:
        return "–"
    interval = format_interval(row.estimate.ci_low, row.estimate.ci_high, display) if full else ""
    return f"{format_value(row.estimate.value, display)} {interval}".rstrip()


def _draw_interval(sheet: _Sheet, row: IntervalRow, color: int, scale: _Scale, y: float) -> None:
    display, name, estimate = scale.display, _series(color), row.estimate
    head = _head(row.label, row.group)
    records = estimate.records if estimate else ()
    if row.reference is not None:
        x, tip = scale(row.reference), f"{head}\nchance level {format_value(row.reference, display)}"
        cross = _trace([(x - 3, y - 3), (x + 3, y + 3)]) + _trace([(x - 3, y + 3), (x + 3, y - 3)])
        sheet.path(cross, "cross", sheet.mark(tip, records))
    for value, behind in row.dots:
        mark = sheet.mark(f"{head}\n{format_value(value, display)}", behind)
        sheet.symbol(0, scale(value), y + 6, 2.2, f"o{name}", mark)
    if estimate is not None:
        if estimate.ci_low is not None and estimate.ci_high is not None:
            sheet.segment(scale(estimate.ci_low), y, scale(estimate.ci_high), y, f"l{name}")
        mark = sheet.mark(_tip(head, estimate, display), records)
        sheet.symbol(color, scale(estimate.value), y, 4, f"f{name} m", mark)


def _reference_heads(sheet: _Sheet, references: Sequence[ReferenceLine], scale: _Scale, top: float) -> float:
    """The names of upright reference lines above them, in as many lines as keep them apart."""
    ends: list[float] = []
    for reference in references:
        if (value := reference.values[0]) is not None:
            label = shorten(plain_text(reference.label), sheet.width, 11)
            half = text_width(label, 11) / 2
            x = min(max(scale(value), half), sheet.width - half)
            line = next((line for line, end in enumerate(ends) if end + 8 < x - half), len(ends))
            ends[line : line + 1] = [x + half]
            sheet.text(x, top + 11 + 15 * line, label, anchor="middle", size=11)
    return top + 15 * len(ends) + 6


def _draw_histograms(sheet: _Sheet, chart: HistogramChart) -> None:
    width, rows = sheet.width, chart.rows
    counts = [curve.counts for row in rows for curve in row.histograms]
    _require_finite(number for each in counts for number in each)
    low, high = chart.ends
    side_title = plain_text(chart.side_title)
    side_texts = ["" if row.side is None else format_value(row.side.value, "decimal3") for row in rows]
    side = _widest((*side_texts, side_title)) + 12 if any(side_texts) else 4.0
    scale = _scale(chart.x, (low, high, tuple(nice_ticks(low, high, max(3, int(width / 90))))), 4.0, width - side)
    top = _group_legend(sheet, {curve.name: curve.color for row in rows for curve in row.histograms}, 0.0)
    if side_title and any(side_texts):
        sheet.text(width, top + 12, side_title, anchor="end")
        top += 6
    tall, label_high = 62.0, 18.0
    _upright_grid(sheet, scale, top + label_high, top + len(rows) * (tall + label_high))
    for place, row in enumerate(rows):
        base = top + (place + 1) * (tall + label_high)
        # Every curve has the same area, so that they compare in shape whatever their counts; the row has one scale.
        densities = [[count / (math.fsum(curve.counts) or 1.0) for count in curve.counts] for curve in row.histograms]
        peak = max((max(density) for density in densities if density), default=1.0) or 1.0
        for curve, density in zip(row.histograms, densities, strict=True):
            step = (scale.end - scale.start) / max(len(density), 1)
            heights = [base - share / peak * (tall - 4) for share in density]
            tops = [(scale.start + (at + 0.5) * step, height) for at, height in enumerate(heights)]
            commands = _trace([(scale.start, base), *tops, (scale.end, base)])
            mark = sheet.mark(_head(row.label, curve.name), row.side.records if row.side is not None else ())
            sheet.path(commands + "Z", f"b{_series(curve.color)}", mark)
            sheet.path(commands, f"l{_series(curve.color)} thin" + (" d" if curve.color % 2 else ""))
        sheet.segment(scale.start, base, scale.end, base, "a")
        sheet.text(4, base - tall - 2, shorten(plain_text(row.label), width - side), "t")
        if row.side is not None:
            tip = _tip(f"{_isolated(row.label)}, {side_title}", row.side, "decimal3")
            mark = sheet.mark(tip, row.side.records)
            sheet.text(width, base - 6, side_texts[place], "t", anchor="end", mark=mark)
    _foot(sheet, scale, top + len(rows) * (tall + label_high), chart.x.title)


def _draw_flows(sheet: _Sheet, chart: FlowChart) -> None:
    row, gap, top = 24.0, 4.0, 26.0
    width = min(sheet.width, 640)
    column = width * (0.32 if width >= 460 else 0.36)
    sides = (chart.source_words, chart.target_words)
    _require_finite([*(strength for words in sides for _, strength in words), *(flow.share for flow in chart.flows)])
    totals = [[0.0] * len(words) for words in sides]
    for flow in chart.flows:
        totals[0][flow.source] += flow.share
        totals[1][flow.target] += flow.share
    # The word with the most flow uses its whole height, so that no band leaves its word.
    thick = row / (max((total for side in totals for total in side), default=0.0) or 1.0)
    starts = [[top + at * (row + gap) + (row - thick * total) / 2 for at, total in enumerate(side)] for side in totals]
    widest = max((flow.share for flow in chart.flows), default=0.0)
    for flow in sorted(chart.flows, key=lambda flow: (flow.source, flow.target)):
        high, left, right = thick * flow.share, starts[0][flow.source], starts[1][flow.target]
        starts[0][flow.source] += high
        starts[1][flow.target] += high
        if flow.share < widest / 100:
            continue
        ends = chart.source_words[flow.source][0], chart.target_words[flow.target][0]
        tip = f"{_isolated(ends[0])} → {_isolated(ends[1])}\n{format_value(flow.share, 'percent')}"
        over = ((width / 2, left), (width / 2, right), (width - column, right))
        back = ((width / 2, right + high), (width / 2, left + high), (column, left + high))
        curves = [" ".join(f"{_number(x)} {_number(y)}" for x, y in side) for side in (over, back)]
        start, turn = _trace([(column, left)]), _number(right + high)
        commands = f"{start}C{curves[0]}L{_number(width - column)} {turn}C{curves[1]}Z"
        sheet.path(commands, "o0" if flow.share > widest / 3 else "b0", sheet.mark(tip, ()))
    strongest = max((abs(strength) for words in sides for _, strength in words), default=0.0) or 1.0
    for side, name, left, inner, anchor in (
        (0, chart.source_name, 0.0, column - 8, "end"),
        (1, chart.target_name, width - column, width - column + 8, "start"),
    ):
        sheet.text(inner, 14, shorten(plain_text(name), column - 8), anchor=anchor)
        for at, (word, strength) in enumerate(sides[side]):
            y = top + at * (row + gap)
            mark = sheet.mark(f"{_isolated(word)}\n{format_value(strength, 'percent')}", ())
            shade = 0.5 * abs(strength) / strongest
            sheet.rect((left, y, column, row), "p")
            sheet.rect((left, y, column, row), "f0" if strength >= 0 else "f1", mark, opacity=shade)
            sheet.text(inner, y + 16, shorten(plain_text(word), column - 16), "t v", anchor=anchor)
    sheet.height = top + max(len(chart.source_words), len(chart.target_words), 1) * (row + gap)


def _draw_points(sheet: _Sheet, chart: PointMap) -> None:
    """All points of a group in one path of dots; pages draw maps on a canvas instead."""
    xs = [x for group in chart.groups for x in group.x] or [0.0]
    ys = [y for group in chart.groups for y in group.y] or [0.0]
    _require_finite([*xs, *ys])
    entries = [(group.name, "", color) for color, group in zip(chart.colors, chart.groups, strict=True)]
    top = _legend(sheet, entries, 0) + 4
    top = _head_title(sheet, chart.y_title, top)
    left, high, tall = min(xs), max(ys), max(ys) - min(ys)
    # One scale for both axes, since distances are what a map shows.
    room = min(sheet.width, 620) - 16
    scale = room / (max(max(xs) - left, tall) or 1.0)
    # Grey lies below.
    for color, group in sorted(zip(chart.colors, chart.groups, strict=True), key=lambda both: both[0] >= 0):
        points = zip(group.x, group.y, strict=True)
        places = [(8 + (x - left) * scale, top + 8 + (high - y) * scale) for x, y in points]
        if places:
            sheet.path("".join(f"{_trace([place])}h0" for place in places), f"m{_series(color)}")
    _foot_title(sheet, room / 2, top + 12 + tall * scale, chart.x_title)
