"""Consistency of attributions against performance as a picture: a dot a language (papers/002 Fig. 2)."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interlingua.report.evidence import trend
from interlingua.report.scatter import PALETTE
from interlingua.report.wording import visible
from interlingua.stats import correlate

LEAST = 4
"""Below four languages no correlation is told: of three even a perfect order has p = 0.33."""

Found = Mapping[str, Any]
_WIDE, _TALL, _LEFT, _TOP = 460, 340, 64, 40
_STYLE = """
svg{--ink:#1b1d21;--soft:#5a606b;--line:#d5d8dd;font:13px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
@media (prefers-color-scheme:dark){svg{--ink:#e8eaed;--soft:#a3a9b4;--line:#3a3f47}}
text{fill:var(--soft)} .ink{fill:var(--ink)} .axis{stroke:var(--line)} .fit{stroke-width:1.5;stroke-dasharray:5 4}
"""


def selected(records: Sequence[Found], measure: str, variant: str) -> dict[tuple[str, str, str], Found]:
    """The records of a measure's variant by (model, source, target)."""
    return {
        (each["model"], each["source"], each["target"]): each
        for each in records
        if each["measure"] == measure and each["variant"] == variant
    }


def short_names(run: Found) -> dict[str, str]:
    """What each model is called in tables: the last part of its path, the whole of it where two end alike.

    >>> short_names({"models": [("runs/nli", "en"), ("old/nli", "en"), ("runs/qa/", "es")]})
    {'runs/nli': 'runs/nli', 'old/nli': 'old/nli', 'runs/qa/': 'qa'}
    """
    models = list(dict.fromkeys(model for model, _ in run["models"]))
    last = [model.rstrip("/").rsplit("/", maxsplit=1)[-1] for model in models]
    return {model: visible(name if last.count(name) == 1 else model) for model, name in zip(models, last, strict=True)}


def aspects(records: Sequence[Found]) -> list[str]:
    """What was explained, in order: label; start and end; entities."""
    return list(dict.fromkeys(each["variant"] for each in records if each["measure"] == "consistency"))


def scatter(records: Sequence[Found], run: Found) -> str:
    """An SVG: a dot a language and model, consistency across, performance up; a line where dots bear one out.

    The first aspect; the language of training is left out, since its consistency is 1 by construction.
    """
    aspect = next(iter(aspects(records)), None)
    performance = selected(records, "task", run["metric"])
    if aspect is None:
        return ""
    cells = selected(records, "consistency", aspect)
    points = {
        place: [
            (code, cells[key]["value"], performance[key]["value"])
            for code in run["languages"]
            if code != source and (key := (model, source, code)) in cells and key in performance
        ]
        for place, (model, source) in enumerate(run["models"])
    }
    every = [point for mine in points.values() for point in mine]
    if len(every) < 2:
        return ""
    (left, right), (low, high) = (reach([point[axis] for point in every]) for axis in (1, 2))

    def x(value: float) -> float:
        return _LEFT + (value - left) / (right - left) * _WIDE

    def y(value: float) -> float:
        return _TOP + (high - value) / (high - low) * _TALL

    parts = [f'<path class="axis" fill="none" d="M{_LEFT} {_TOP}v{_TALL}h{_WIDE}"/>']
    floor = _TOP + _TALL + 18
    parts += [f'<text x="{x(v):.0f}" y="{floor}" text-anchor="middle">{v:g}</text>' for v in axis_ticks(left, right)]
    parts += [f'<text x="{_LEFT - 8}" y="{y(v) + 4:.0f}" text-anchor="end">{v:g}</text>' for v in axis_ticks(low, high)]
    for place, mine in points.items():
        parts += _dots(
            mine,
            PALETTE[place % len(PALETTE)],
            x,
            y,
            ": ".join((short_names(run)[run["models"][place][0]], run["models"][place][1])),
        )
    parts += _legend(run, points)
    across = f"consistency of attributions ({html.escape(visible(aspect))})"
    parts.append(f'<text x="{_LEFT + _WIDE / 2}" y="{_TOP + _TALL + 40}" text-anchor="middle">{across}</text>')
    middle = _TOP + _TALL / 2
    upward = html.escape(visible(run["metric"]))
    parts.append(f'<text transform="rotate(-90 16 {middle})" x="16" y="{middle}" text-anchor="middle">{upward}</text>')
    wide, tall = _LEFT + _WIDE + 60, _TOP + _TALL + 56 + 18 * len(points)
    begin = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}" '
        'role="img" aria-label="Consistency of attributions against performance, a dot a language">'
    )
    return "\n".join([begin, f"<style>{_STYLE}</style>", *parts, "</svg>"])


def _dots(mine: Sequence[tuple[str, float, float]], colour: str, x: Any, y: Any, name: str) -> list[str]:
    parts = []
    across, up = (np.array([point[axis] for point in mine]) for axis in (1, 2))
    ends = trend(across.tolist(), up.tolist()).line
    if ends:
        path = f"M{x(ends[0][0]):.1f} {y(ends[0][1]):.1f}L{x(ends[1][0]):.1f} {y(ends[1][1]):.1f}"
        parts.append(f'<path class="fit" stroke="{colour}" d="{path}"/>')
    for code, one, other in mine:
        about = html.escape(f"{name}, {visible(code)}: {one:.3f}, {other:.3f}")
        parts.append(
            f'<circle cx="{x(one):.1f}" cy="{y(other):.1f}" r="4.5" fill="{colour}"><title>{about}</title></circle>'
        )
        parts.append(
            f'<text class="ink" x="{x(one) + 7:.1f}" y="{y(other) + 4:.1f}">{html.escape(visible(code))}</text>'
        )
    return parts


def _legend(run: Found, points: Mapping[int, Sequence[tuple[str, float, float]]]) -> list[str]:
    parts = []
    for place, mine in points.items():
        model, source = run["models"][place]
        level = _TOP + _TALL + 62 + 18 * place
        found = correlate([point[1] for point in mine], [point[2] for point in mine]) if len(mine) >= LEAST else None
        within = "" if found is None or found.low is None else f" ({found.low:.2f} to {found.high:.2f})"
        shown = f"{short_names(run)[model]}, trained in {visible(source)}" + (
            f": ρ = {found.value:.2f}{within}, n = {found.n}" if found else ""
        )
        parts.append(f'<circle cx="{_LEFT + 6}" cy="{level - 4}" r="5" fill="{PALETTE[place % len(PALETTE)]}"/>')
        parts.append(f'<text x="{_LEFT + 18}" y="{level}">{html.escape(shown)}</text>')
    return parts


def reach(values: Sequence[float]) -> tuple[float, float]:
    """A range a little wider than the values."""
    low, high = min(values), max(values)
    room = max((high - low) * 0.12, 0.01)
    return low - room, high + room


def axis_ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high, six or so.

    >>> axis_ticks(0.22, 0.48)
    [0.25, 0.3, 0.35, 0.4, 0.45]
    """
    raw = (high - low) / 6
    scale = 10.0 ** math.floor(math.log10(raw))
    step = next(scale * unit for unit in (1, 2, 5, 10) if scale * unit >= raw)
    return [round(step * place, 10) for place in range(math.ceil(low / step), math.floor(high / step) + 1)]
