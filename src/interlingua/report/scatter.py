"""The 2-D map of sentences as data for plotly.js: places, texts, and a colour and a symbol for each language."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from interlingua.report.figures import Figure, short
from interlingua.report.wording import language_name, visible

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
"""Okabe & Ito's colours, told apart with any colour vision; without yellow and black, lost on one of the grounds."""

SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "star", "x", "triangle-down", "pentagon", "hexagon")

MAP_POINTS, TEXT_LETTERS = 2_500, 120
"""How many sentences, and how much of each, are put in the page, so that it stays under 2.5 MB."""


def sentence_map(points: Mapping[str, Any] | None, run: Mapping[str, Any]) -> Figure | None:
    """The 2-D map: places, rows and texts by language with colour and symbol; None without points.

    Rows are thinned evenly to 2,500 points, whole rows at a time, so that translations stay together.
    """
    if not points or not points.get("points"):
        return None
    every = [point for point in points["points"] if short(point["x"]) is not None and short(point["y"]) is not None]
    rows = sorted({point["row"] for point in every})
    room = min(len(rows), max(MAP_POINTS * len(rows) // max(len(every), 1), 1))
    kept = {rows[at * len(rows) // room] for at in range(room)} if rows else set()
    languages = list(dict.fromkeys(point["language"] for point in every))
    groups = {code: [p for p in every if p["language"] == code and p["row"] in kept] for code in languages}
    styles = marker_styles(
        {code: "".join(str(p.get("text", "")) for p in group[:20]) for code, group in groups.items()}
    )
    series = [
        {
            "language": code,
            "name": language_name(code, run),
            "colour": styles[code][0],
            "symbol": styles[code][1],
            "x": [short(point["x"]) for point in group],
            "y": [short(point["y"]) for point in group],
            "row": [point["row"] for point in group],
            "text": [_cut(visible(str(point.get("text", "")))) for point in group],
        }
        for code, group in groups.items()
        if group
    ]
    return {
        "method": str(points.get("method", "")),
        "layer": points.get("layer"),
        "series": series,
        "shown": len(kept),
        "rows": len(rows),
    }


def marker_styles(texts: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """A colour and a symbol for each language, no two alike: the symbol tells the script, the colour the language.

    >>> marker_styles({"en": "abc", "ru": "где", "de": "der"})
    {'en': ('#0072B2', 'circle'), 'ru': ('#D55E00', 'square'), 'de': ('#009E73', 'circle')}
    """
    seen: dict[tuple[str, int], int] = {}
    counts: dict[str, int] = {}
    styles: dict[str, tuple[str, str]] = {}
    for at, (code, text) in enumerate(texts.items()):
        script = script_of(text)
        counts[script] = counts.get(script, 0) + 1
        # Every run of seven languages has seven colours; a script with more than seven takes a second symbol.
        block = (script, (counts[script] - 1) // len(PALETTE))
        symbol = seen.setdefault(block, len(seen))
        used = {colour for colour, mark in styles.values() if mark == SYMBOLS[symbol % len(SYMBOLS)]}
        turn = [PALETTE[(at + step) % len(PALETTE)] for step in range(len(PALETTE))]
        styles[code] = (
            next((colour for colour in turn if colour not in used), turn[0]),
            SYMBOLS[symbol % len(SYMBOLS)],
        )
    return styles


def script_of(text: str) -> str:
    """The script most letters of a text are in, by their Unicode names, or nothing without letters.

    >>> script_of("Где A?"), script_of("你好"), script_of("1")
    ('CYRILLIC', 'CJK', '')
    """
    names = [unicodedata.name(letter, "").split(" ")[0].split("-")[0] for letter in text if letter.isalpha()]
    return max(sorted(set(names)), key=names.count) if names else ""


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_LETTERS else f"{text[: TEXT_LETTERS - 1]}…"
