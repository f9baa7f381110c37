"""A matrix as a heat map in SVG: a picture that opens anywhere, without a script."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

_DARK, _LIGHT = (8, 48, 107), (247, 251, 255)
"""Ends of the scale; lightness falls evenly between them, so that it reads in grey and by the colour-blind."""
_CELL, _COLUMNS = 34, 2


@dataclass(frozen=True)
class Panel:
    """One heat map: a title, the labels of rows and columns, and values in [0, 1]."""

    title: str
    labels: Sequence[str]
    values: Sequence[Sequence[float]]


def heat_map_svg(panels: Sequence[Panel]) -> str:
    """An SVG picture of panels side by side, each value written in its cell.

    >>> heat_map_svg([Panel("TNLD", ["en", "be"], [[0, 0.25], [0.25, 0]])]).count("<rect") - 1
    4
    """
    side = max(len(panel.labels) for panel in panels) * _CELL
    step_x, step_y = side + 80, side + 70
    across = min(_COLUMNS, len(panels))
    width, height = across * step_x + 20, -(-len(panels) // _COLUMNS) * step_y + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number, panel in enumerate(panels):
        parts += _panel(panel, 50 + number % _COLUMNS * step_x, 55 + number // _COLUMNS * step_y)
    return "\n".join([*parts, "</svg>\n"])


def _panel(panel: Panel, left: int, top: int) -> list[str]:
    parts = [f'<text x="{left}" y="{top - 28}" font-size="14" font-weight="bold">{html.escape(panel.title)}</text>']
    for place, label in enumerate(panel.labels):
        middle = place * _CELL + _CELL // 2
        shown = html.escape(label)
        parts.append(f'<text x="{left + middle}" y="{top - 8}" text-anchor="middle">{shown}</text>')
        parts.append(f'<text x="{left - 8}" y="{top + middle + 4}" text-anchor="end">{shown}</text>')
    for row, values in enumerate(panel.values):
        for column, value in enumerate(values):
            x, y = left + column * _CELL, top + row * _CELL
            ink = "white" if value > 0.5 else "black"
            parts.append(f'<rect x="{x}" y="{y}" width="{_CELL - 1}" height="{_CELL - 1}" fill="{_colour(value)}"/>')
            parts.append(
                f'<text x="{x + _CELL / 2 - 0.5:g}" y="{y + _CELL // 2 + 4}" text-anchor="middle" font-size="10" '
                f'fill="{ink}">{value:.2f}</text>'
            )
    return parts


def _colour(value: float) -> str:
    share = min(max(value, 0.0), 1.0)
    return "#" + "".join(
        f"{round(light + (dark - light) * share):02x}" for dark, light in zip(_DARK, _LIGHT, strict=True)
    )
