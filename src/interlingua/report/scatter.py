"""Marks in the plane: the 2-D map of sentences, a colour and a symbol for each language; one number against another."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np

from interlingua.report.evidence import trend
from interlingua.report.runs import Run, colour
from interlingua.report.sections import Figure, Trace, faded, label, short
from interlingua.report.tables import Ref, Table
from interlingua.report.wording import language_name, visible

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
"""Okabe & Ito's colours, told apart with any colour vision; without yellow and black, lost on one of the grounds."""

SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "star", "x", "triangle-down", "pentagon", "hexagon")

MAP_POINTS, TEXT_LETTERS, ALL_LETTERS = 50_000, 120, 2_000_000
"""How many marks, how much of each one's text, and how much text in all are put in a page, so that it stays small."""

Dot = tuple[str, float, float, Ref]
"""What a dot is of, its two numbers, and the records behind them."""


def sentence_map(run: Run) -> Figure | None:
    """The 2-D map of a run's sentences, a mark each, in rows that mean the same; None without points.

    Rows are thinned evenly to 50,000 points, whole rows at a time, so that translations stay together.
    """
    points = run.more.get("points") or {}
    every = [
        point for point in points.get("points") or [] if short(point["x"]) is not None and short(point["y"]) is not None
    ]
    if not every:
        return None
    rows = sorted({point["row"] for point in every})
    room = min(len(rows), max(MAP_POINTS * len(rows) // len(every), 1))
    kept = {rows[at * len(rows) // room] for at in range(room)}
    letters = min(TEXT_LETTERS, max(ALL_LETTERS // len(every), 20))
    languages = list(dict.fromkeys(point["language"] for point in every))
    groups = {code: [p for p in every if p["language"] == code and p["row"] in kept] for code in languages}
    styles = marker_styles(
        {code: "".join(str(p.get("text", "")) for p in group[:20]) for code, group in groups.items()}
    )
    traces = tuple(
        {
            "type": "scatter",
            "mode": "markers",
            "name": label(language_name(code, run.about)),
            "marker": {"color": styles[code][0], "symbol": styles[code][1]},
            "x": [short(point["x"]) for point in group],
            "y": [short(point["y"]) for point in group],
            "groups": [point["row"] for point in group],
            "text": [label(str(point.get("text", "")), most=letters) for point in group],
            "hover": "%{text}",
        }
        for code, group in groups.items()
        if group
    )
    layer = "" if points.get("layer") is None else f" at layer {points['layer']}"
    method = f" ({visible(str(points['method'])).upper()})" if points.get("method") else ""
    count = "" if len(kept) == len(rows) else f" Shown: {len(kept)} of {len(rows)} sentences."
    caption = f"Sentences{layer}, placed by their two main directions{method}.{count}"
    return Figure("map", "Map of sentences", caption, traces, size="tall", dense=True)


def dot_plot(
    name: str,
    title: str,
    caption: str,
    series: Mapping[str, Sequence[Dot]],
    axes: tuple[str, str],
    *,
    first: int = 0,
    diagonal: bool = False,
    named: bool = True,
) -> Figure:
    """One number against another: a dot a language, a colour a series (from the `first`), and a line.

    The line is each series' least-squares line where its dots bear one out, and the caption says so; or the one of
    equals, where the two numbers are of one kind. Dots that are too many or too long to be `named` beside say what they
    are of on hover.
    """
    traces: list[Trace] = []
    rows, records = [], []
    said: dict[str, str] = {}
    values = [value for dots in series.values() for dot in dots for value in dot[1:3]]
    ends = [min(values), max(values)]
    every = [(dot[1], dot[2], min(len(dot[0]), 24)) for dots in series.values() for dot in dots]
    sides = label_sides(every, reach=(ends, ends) if diagonal else None)
    if named and "" in sides:
        caption = f"{caption} {CROWDED}"
    beside = iter(sides)
    for place, (name_, dots) in enumerate(series.items()):
        ink = colour(place + first)
        across, up = [dot[1] for dot in dots], [dot[2] for dot in dots]
        texts, places = [label(dot[0], most=24 if named else 90) for dot in dots], [next(beside) for _ in dots]
        traces.append(
            {"type": "scatter", "mode": "markers+text" if named else "markers",
             "x": [short(v) for v in across], "y": [short(v) for v in up],
             **(names_beside(texts, places) if named else {"hovertext": texts}),
             "name": label(name_, most=90),
             "marker": {"color": ink, "size": 9}, "textfont": {"color": "@ink"}, "cliponaxis": False,
             "hover": f"{label(name_)}<br>%{{hovertext}}: %{{x:.3f}}, %{{y:.3f}}", "records": [dot[3] for dot in dots]}
        )  # fmt: skip
        found = trend(across, up)
        said[visible(name_)] = found.said
        if found.line and not diagonal:
            traces.append(
                {"type": "scatter", "mode": "lines", "x": [short(v) for v, _ in found.line], "showlegend": False,
                 "y": [short(v) for _, v in found.line], "hoverinfo": "skip",
                 "line": {"color": faded(ink, 0.7), "width": 1.5, "dash": "dash"}}
            )  # fmt: skip
        rows += [(visible(name_), visible(dot[0]), dot[1], dot[2]) for dot in dots]
        records += [(None, None, dot[3], None) for dot in dots]
    if not diagonal:
        caption = f"{caption} {_trends(said)}".strip()
    equal: Trace = {"type": "scatter", "mode": "lines", "x": ends, "y": ends, "showlegend": False, "hoverinfo": "skip",
                    "line": {"color": "@soft", "width": 1, "dash": "dot"}}  # fmt: skip
    layout = {
        "showlegend": len(series) > 1,
        "margin": {"l": 54, "r": 50, "t": 28 + 14 * (len(series) > 2), "b": 44},
        "xaxis": {"title": {"text": label(axes[0], most=90)}, "nticks": 7},
        "yaxis": {"title": {"text": label(axes[1], most=90), "standoff": 12}, "nticks": 7},
    }
    table = Table(
        name, title, caption, ("series", "of", visible(axes[0]), visible(axes[1])), tuple(rows), tuple(records)
    )
    return Figure(name, title, caption, (*([equal] if diagonal else []), *traces), layout, table, "wide")


def _trends(said: Mapping[str, str]) -> str:
    """What is said of each series, once where it is the same of all; of many only the rule."""
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    if len(said) > 4:
        return "Least-squares lines only where the 95\N{NO-BREAK SPACE}% interval of r leaves out 0."
    return " ".join(f"{name}: {text[0].lower()}{text[1:]}" for name, text in said.items())


SIDES = {"middle right": (1, 0), "middle left": (-1, 0), "top center": (0, 1), "bottom center": (0, -1)}
"""Where a label may stand beside its dot, by plotly's names: to the right, or as far up."""
_PLOT, _LETTER, _LINE = (290.0, 250.0), 7.0, 14.0  # pixels of the narrowest figure, of a letter, and of a line


def label_sides(
    dots: Sequence[tuple[float, float, int]], *, reach: tuple[Sequence[float], Sequence[float]] | None = None
) -> list[str]:
    """For each dot (across, up, letters of its label) the side its label stands on; nothing where there is no room.

    One by one the first side that covers no dot and no label placed before, on a phone's width. `reach` is from where
    to where the axes go, across and up; as far as the dots without it.

    >>> label_sides([(0.0, 0.0, 2), (0.05, 0.0, 2), (1.0, 1.0, 2)])
    ['middle left', 'middle right', 'middle right']
    """
    at = np.array([dot[:2] for dot in dots], np.float64).reshape(-1, 2)
    corners = np.array(reach, np.float64).T if reach else at
    spread = np.ptp(corners, axis=0) if len(corners) else np.ones(2)
    at = (at - (corners.min(axis=0) if len(corners) else 0)) / np.where(spread > 0, spread, 1.0) * _PLOT
    taken = [(x, y, 5.0, 5.0) for x, y in at]
    sides = []
    for number, (x, y) in enumerate(at):
        half = (dots[number][2] * _LETTER / 2, _LINE / 2)
        far = (7 + half[0], 7 + half[1])
        boxes = {side: (x + right * far[0], y + up * far[1], *half) for side, (right, up) in SIDES.items()}
        free = [side for side, box in boxes.items() if not any(_meet(box, other) for other in taken)]
        sides.append(free[0] if free else "")
        taken += [boxes[side] for side in free[:1]]
    return sides


CROWDED = "Where dots are close, only some have their names beside; all say theirs when pointed at."


def names_beside(names: Sequence[str], sides: Sequence[str]) -> Trace:
    """A trace's keys for names beside its dots, by `label_sides`: one without a side is told on hover alone.

    >>> names_beside(["en", "ru"], ["top center", ""])["text"]
    ['en', '']
    """
    text = [name if side else "" for name, side in zip(names, sides, strict=True)]
    return {"text": text, "hovertext": list(names), "textposition": [side or next(iter(SIDES)) for side in sides]}


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether two boxes (middle across, middle up, half as wide, half as high) have a place in common."""
    return abs(one[0] - other[0]) < one[2] + other[2] and abs(one[1] - other[1]) < one[3] + other[3]


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
