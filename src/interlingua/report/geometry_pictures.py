"""A geometry study as pictures that open anywhere: maps as small multiples, errors against spelling."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interlingua.report.evidence import trend_of_pairs
from interlingua.report.explain_picture import axis_ticks, reach
from interlingua.report.geometry_maps import Styles
from interlingua.report.wording import number, p_value, visible
from interlingua.stats import Association

Found = Mapping[str, Any]
_SIDE, _GAP, _TOP, _FOOT = 340, 26, 46, 40
_STYLE = """
svg{--ink:#1b1d21;--soft:#5a606b;--line:#d5d8dd;font:13px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
@media (prefers-color-scheme:dark){svg{--ink:#e8eaed;--soft:#a3a9b4;--line:#3a3f47}}
text{fill:var(--soft)} .ink{fill:var(--ink);font-weight:600} .axis{stroke:var(--line);fill:none} .dots{fill-opacity:.7}
.fit{stroke:var(--soft);stroke-dasharray:5 4;fill:none}
"""
_SHAPES = {
    "circle": "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "square": "M-2.7-2.7h5.4v5.4h-5.4z",
    "triangle-up": "M0-3.4L3.2 2.4H-3.2z",
    "diamond": "M0-3.6L3.6 0L0 3.6L-3.6 0z",
}
"""The first symbols of `scatter.SYMBOLS`; further ones are drawn as circles."""


def maps_svg(figure: Found, styles: Styles, label: str) -> str:
    """The maps of a set side by side, states across and layers down, marks by language or by type (`label`)."""
    panels = figure["panels"]
    across = len(dict.fromkeys(panel["state"] for panel in panels))
    down = -(-len(panels) // across)
    legend = [(key, own) for key, own in styles[label].items() if key in set(figure[label])]
    marks = {key: at for at, (key, _) in enumerate(legend)}
    wide = across * (_SIDE + _GAP) + _GAP
    key, more = _legend(legend, wide)
    tall = _TOP + more + down * (_SIDE + _FOOT + _GAP)
    parts = [*_defined(legend), *key]
    for at, panel in enumerate(panels):
        left, top = _GAP + at % across * (_SIDE + _GAP), _TOP + more + at // across * (_SIDE + _FOOT + _GAP)
        parts += _map(panel, [marks[key] for key in figure[label]], left, top, label)
    return _svg(wide, tall, parts, f"Maps of {figure['title'].lower()}, by {label}")


def _defined(legend: Sequence[tuple[str, Mapping[str, str]]]) -> list[str]:
    """A mark for each label, drawn once and used at every point."""
    shapes = [
        f'<path id="m{at}" d="{_SHAPES.get(own["symbol"], _SHAPES["circle"])}" fill="{own["colour"]}"/>'
        for at, (_, own) in enumerate(legend)
    ]
    return ["<defs>", *shapes, "</defs>"]


def _legend(legend: Sequence[tuple[str, Mapping[str, str]]], wide: float) -> tuple[list[str], float]:
    """The key, in as many lines as it takes, and what it takes beyond the first."""
    parts, left, low = [], float(_GAP), 18.0
    for at, (_, own) in enumerate(legend):
        room = 30 + 7.2 * len(own["name"])
        if left > _GAP and left + room > wide:
            left, low = float(_GAP), low + 18
        parts.append(f'<use href="#m{at}" x="{left + 4:.0f}" y="{low:.0f}"/>')
        parts.append(f'<text x="{left + 14:.0f}" y="{low + 4:.0f}">{html.escape(own["name"])}</text>')
        left += room
    return parts, low - 18


def _map(panel: Found, marks: Sequence[int], left: float, top: float, label: str) -> list[str]:
    (x_low, x_high), (y_low, y_high) = (_ends(panel[axis]) for axis in "xy")
    parts = [
        f'<text class="ink" x="{left}" y="{top - 6}">{html.escape(panel["title"])}</text>',
        f'<rect class="axis" x="{left}" y="{top}" width="{_SIDE}" height="{_SIDE}"/>',
        '<g class="dots">',
    ]
    room = _SIDE - 16
    # Marks of all labels in turn, so that no language lies on top of all others.
    for at in np.random.default_rng(0).permutation(len(marks)):
        x = left + 8 + (panel["x"][at] - x_low) / (x_high - x_low) * room
        y = top + 8 + (y_high - panel["y"][at]) / (y_high - y_low) * room
        parts.append(f'<use href="#m{marks[at]}" x="{x:.1f}" y="{y:.1f}"/>')
    told = [f"{n['what']} {n['value']} ({n['null']})" for n in panel["numbers"] if n["label"] == label]
    parts.append("</g>")
    parts.append(f'<text x="{left}" y="{top + _SIDE + 16}">{html.escape(panel["method"])}</text>')
    if told:
        shown = f"by {label}: {', '.join(told)}"
        parts.append(f'<text x="{left}" y="{top + _SIDE + 32}">{html.escape(shown)}</text>')
    return parts


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 1, high + 1)


def scatter_svg(found: Found, styles: Styles) -> str:
    """Wrong sentences against TNLD, a mark for each pair, by the language of training, with the fitted line."""
    points = found["points"]
    wide, tall, left = 460.0, 340.0, 64.0
    sources = list(dict.fromkeys(point["source"] for point in points))
    legend = [(code, styles["language"][visible(code)]) for code in sources if visible(code) in styles["language"]]
    key, more = _legend(legend, left + wide)
    top = 40.0 + more
    (x_low, x_high), (y_low, y_high) = (reach([point[axis] for point in points]) for axis in ("tnld", "wrong"))

    def x(value: float) -> float:
        return left + (value - x_low) / (x_high - x_low) * wide

    def y(value: float) -> float:
        return top + (y_high - value) / (y_high - y_low) * tall

    parts = [*_defined(legend), *key, f'<path class="axis" d="M{left} {top}v{tall}h{wide}"/>']
    floor = top + tall + 18
    parts += [f'<text x="{x(v):.0f}" y="{floor}" text-anchor="middle">{v:g}</text>' for v in axis_ticks(x_low, x_high)]
    parts += [
        f'<text x="{left - 8}" y="{y(v) + 4:.0f}" text-anchor="end">{100 * v:g} %</text>'
        for v in axis_ticks(y_low, y_high)
    ]
    across, up = ([float(point[key]) for point in points] for key in ("tnld", "wrong"))
    rho = Association(**found["rho"])
    line = trend_of_pairs(across, up, rho).line
    if line:
        parts.append(f'<path class="fit" d="M{" L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in line)}"/>')
    parts += _pairs(points, {code: at for at, (code, _) in enumerate(legend)}, x, y)
    below = f"spelling distance of names (TNLD); Mantel’s ρ = {number(rho.value)}, {p_value(rho.p)}, {rho.n} languages"
    parts.append(f'<text x="{left + wide / 2}" y="{top + tall + 40}" text-anchor="middle">{_safe(below)}</text>')
    middle = top + tall / 2
    parts.append(
        f'<text transform="rotate(-90 14 {middle})" x="14" y="{middle}" text-anchor="middle">wrong sentences</text>'
    )
    return _svg(left + wide + 60, top + tall + 56, parts, "Wrong sentences against the spelling distance of names")


def _pairs(points: Sequence[Found], marks: Mapping[str, int], x: Any, y: Any) -> list[str]:
    """A mark for each pair, with its languages beside it where there are not too many to read."""
    parts = []
    for point in points:
        left, low = x(point["tnld"]), y(point["wrong"])
        about = f"{point['source']} to {point['target']}: TNLD {point['tnld']:.3f}, {point['wrong']:.1%} wrong"
        use = f'<use href="#m{marks.get(point["source"], 0)}" x="{left:.1f}" y="{low:.1f}">'
        parts.append(f"{use}<title>{_safe(about)}</title></use>")
        if len(points) <= 30:
            shown = f"{_safe(point['source'])}→{_safe(point['target'])}"
            parts.append(f'<text font-size="10" x="{left + 6:.1f}" y="{low + 4:.1f}">{shown}</text>')
    return parts


def _svg(wide: float, tall: float, parts: Sequence[str], about: str) -> str:
    begin = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {tall:.0f}" width="{wide:.0f}" '
        f'height="{tall:.0f}" role="img" aria-label="{_safe(about)}">'
    )
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', begin, f"<style>{_STYLE}</style>", *parts, "</svg>\n"])


def _safe(text: str) -> str:
    return html.escape(visible(text))
