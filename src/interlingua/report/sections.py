"""What every page is made of: sections of words, figures and tables, whose numbers name the records behind them."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from interlingua.report.readings import Record, finite
from interlingua.report.tables import Ref, Table, to_csv, to_latex, to_markdown
from interlingua.report.wording import visible

Trace = Mapping[str, Any]
"""A trace as plotly.js reads it, and four keys of ours, which the page takes out before it draws:

`records`, for each mark the record behind it, or several (for a heat map rows of them); `hover`, the first line of
what a mark says, with plotly's `%{x}`; `when`, at which choices it is shown; `groups`, marks that belong together.
A colour may be a name of the page's theme: `@one`, or `@one/0.2` with its opacity.
"""

LABEL = 60
"""How many letters of a text a mark or an axis shows."""


@dataclass(frozen=True)
class Choice:
    """A menu above a section's figures: its name in `when`, its label, values with their texts, the value at first."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    chosen: str

    def __post_init__(self) -> None:
        if self.chosen not in [value for value, _ in self.options]:
            raise ValueError(f"{self.name!r} can't begin with {self.chosen!r}")


@dataclass(frozen=True)
class Figure:
    """A picture as plotly.js draws it: traces and layout, a caption, and its data as a table.

    `size` is plain, square, wide or tall; a `height` in pixels takes its place. `dense` figures have marks alone, up to
    50,000, and are drawn dot by dot on a canvas, which plotly.js would be too slow for; it still saves them. Without a
    `table` the traces are its data.
    """

    name: str
    title: str
    caption: str
    traces: tuple[Trace, ...]
    layout: Mapping[str, Any] = field(default_factory=dict)
    table: Table | None = None
    size: str = "plain"
    dense: bool = False
    height: int = 0


@dataclass(frozen=True)
class Section:
    """A part of a page: a title, then what there is of words, tiles, facts, menus, figures, shaded texts and tables.

    `tiles` are numbers at a glance (value, what it is, a remark, its records), `facts` a list of terms and what is said
    of them, `texts` what `report.explain.shaded` makes. `folded` tables open at a click, but for the
    first unless it is long.
    """

    name: str
    title: str
    words: tuple[str, ...] = ()
    tiles: tuple[tuple[str, str, str, Ref], ...] = ()
    facts: tuple[tuple[str, str | Sequence[str]], ...] = ()
    choices: tuple[Choice, ...] = ()
    figures: tuple[Figure, ...] = ()
    texts: tuple[Mapping[str, Any], ...] = ()
    tables: tuple[Table, ...] = ()
    folded: bool = False


def label(text: str, *, most: int = LABEL) -> str:
    r"""A text of a user's as plotly.js may have it: cut, shown as it is, and turning no other text around.

    Plotly reads a few tags and entities; an isolate (U+2068, U+2069) keeps right-to-left text to itself.

    >>> label("<b>x</b>")
    '\u2068&lt;b&gt;x&lt;/b&gt;\u2069'
    """
    shown = visible(text)
    cut = shown if len(shown) <= most else f"{shown[: most - 1]}…"
    # A word joiner between the two signs that plotly would take for the begin of a variable.
    plain = html.escape(cut, quote=False).replace("%{", "%\u2060{")
    return f"\u2068{plain}\u2069"


def short(value: float | None) -> float | None:
    """The number to four decimals (what a screen can show), whole numbers as such; None unless finite.

    >>> short(0.123456), short(2.0), short(None), short(float("inf"))
    (0.1235, 2, None, None)
    """
    found = finite(value)
    if found is None:
        return None
    rounded = round(found, 4)
    return int(rounded) if rounded.is_integer() else rounded


def faded(colour: str, opacity: float) -> str:
    """A colour, or the name of one, with an opacity.

    >>> faded("@one", 0.5), faded("#8C8C8C", 0.5)
    ('@one/0.5', '#8C8C8C80')
    """
    return f"{colour}/{opacity}" if colour.startswith("@") else f"{colour}{round(opacity * 255):02x}"


def band(x: Sequence[Any], low: Sequence[float | None], high: Sequence[float | None], colour: str) -> list[Trace]:
    """The two edges of an interval with the space between them filled; nothing where a bound is missing."""
    if not low or any(value is None for value in (*low, *high)):
        return []
    edge = {"type": "scatter", "x": list(x), "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    more = {"fill": "tonexty", "fillcolor": faded(colour, 0.16), "showlegend": False}
    return [{**edge, "y": list(low), "showlegend": False}, {**edge, "y": list(high), **more}]


def of_run(figure: Figure, key: str, name: str) -> Figure:
    """The figure of one of several runs: its title says of which; as it is where `key` is empty, for there is one."""
    return replace(figure, name=f"{figure.name}-{key}", title=f"{figure.title}: {name}") if key else figure


def payload(sections: Sequence[Section], records: Sequence[Record]) -> tuple[dict[str, Any], dict[int, int]]:
    """What the page's script needs, plain enough for JSON, and the new number of every record that is shown.

    Only records that some mark or cell names are in it; all others are in the run's folder.
    """
    kept = {number: place for place, number in enumerate(sorted(set(_named(sections))))}
    tables = [table for section in sections for table in section.tables]
    texts: dict[str, int] = {}
    data = {
        "figures": [
            {
                "name": figure.name,
                "dense": figure.dense,
                "size": figure.size,
                "traces": [_trace(trace, kept, texts if figure.dense else None) for trace in figure.traces],
                "layout": dict(figure.layout),
                "table": None if figure.table is None else _columns(figure.table, kept),
            }
            for section in sections
            for figure in section.figures
        ],
        "tables": {each.name: {"csv": to_csv(each), "tex": to_latex(each), "md": to_markdown(each)} for each in tables},
        "texts": list(texts),
        "records": _packed([records[number] for number in kept]),
    }
    return data, kept


def _named(sections: Sequence[Section]) -> Iterator[int]:
    for section in sections:
        yield from _numbers([tile[3] for tile in section.tiles])
        own = [figure.table for figure in section.figures if figure.table is not None]
        for table in (*section.tables, *own):
            yield from _numbers(table.records)
        for figure in section.figures:
            for trace in figure.traces:
                yield from _numbers(trace.get("records"))


def _numbers(refs: Any) -> Iterator[int]:
    if isinstance(refs, int):
        yield refs
    elif refs is not None:
        for each in refs:
            yield from _numbers(each)


def renumbered(refs: Any, kept: Mapping[int, int]) -> Any:
    """References with the numbers that the page gave the records."""
    if refs is None or isinstance(refs, int):
        return refs if refs is None else kept[refs]
    return [renumbered(each, kept) for each in refs]


def _trace(trace: Trace, kept: Mapping[int, int], texts: dict[str, int] | None) -> dict[str, Any]:
    """The trace with its records renumbered; texts of dense figures, which several maps share, by their places."""
    packed = dict(trace)
    if "records" in trace:
        packed["records"] = renumbered(trace["records"], kept)
    if texts is not None and "text" in trace:
        packed["text"] = [texts.setdefault(text, len(texts)) for text in trace["text"]]
    return packed


def _columns(table: Table, kept: Mapping[int, int]) -> dict[str, Any]:
    # Not rounded: what the page shows is, and its CSV is for machines.
    rows = [[_json(cell) for cell in row] for row in table.rows]
    return {"columns": table.columns, "rows": rows, "records": renumbered(table.records, kept) or None}


def _json(cell: Any) -> Any:
    return None if isinstance(cell, float) and finite(cell) is None else cell


_KEYS = ("measure", "variant", "model", "target_model", "source", "target", "layer", "unit", "pooling", "value", "null",
         "low", "high", "n", "seed", "corpus", "digests", "versions", "details")  # fmt: skip


def _packed(records: Sequence[Record]) -> dict[str, Any]:
    """Records as rows under one list of keys; digests and versions, which most share, once each."""
    shared: dict[str, int] = {}
    things: list[Any] = []

    def once(value: Any) -> int:
        known = repr(value)
        if known not in shared:
            shared[known] = len(things)
            things.append(value)
        return shared[known]

    rows = []
    for record in records:
        row = [_json(record.get(key)) for key in _KEYS[:-3]]
        details = {key: value for key, value in (record.get("details") or {}).items() if _small(value)}
        rows.append([*row, *(once(dict(record.get(key) or {})) for key in ("digests", "versions")), once(details)])
    return {"keys": _KEYS, "rows": rows, "shared": things}


def _small(value: Any) -> bool:
    return isinstance(value, str | bool | int) or finite(value) is not None
