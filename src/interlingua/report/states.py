"""Related and unrelated distances of words over the states of a model, one below the other (papers/001 Fig. 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlingua.report.figures import hill_layout, hills
from interlingua.report.readings import Reading
from interlingua.report.sections import Choice, Figure, Trace, label
from interlingua.report.tables import Cell, Ref, Table, refs
from interlingua.report.wording import language_name, visible

STATES_WORDS = (
    "How far words lie from their translations (related), and from words of other sentences (unrelated), on sentences "
    "that were not trained on. The less the two hills overlap, the better a translation can be told by distance alone. "
    "Both hills of a row have one area, so a narrow one is high; each row has its own scale of height."
)


def state_hills(
    states: Mapping[str, Mapping[str, Reading]], run: Mapping[str, Any] | None = None
) -> tuple[list[Choice], Figure] | None:
    """A row a state, the language chosen; `states[state][language]` is the AUC with its histograms; None without.

    Languages are called as `run` has their names.
    """
    codes = list(dict.fromkeys(code for found in states.values() for code in found))
    drawn = {state: found for state, found in states.items() if any(_has(each) for each in found.values())}
    if not drawn:
        return None
    traces: list[Trace] = []
    layout = {**hill_layout("Euclidean distance"), "annotations": []}
    share = {**layout.pop("yaxis"), "title": {"text": ""}}
    for place, (state, found) in enumerate(drawn.items()):
        number = "" if place == 0 else str(place + 1)
        low, high = 1 - (place + 0.8) / len(drawn), 1 - place / len(drawn)
        layout[f"yaxis{number}"] = {**share, "domain": [max(low, 0), high], "showticklabels": False}
        layout["annotations"].append(
            {"text": label(state), "xref": "paper", "yref": "paper", "x": 1, "y": high, "showarrow": False,
             "xanchor": "right", "yanchor": "bottom", "font": {"size": 13, "color": "@ink"}}
        )  # fmt: skip
        for code, reading in found.items():
            if _has(reading):
                more = {"yaxis": f"y{number}", "when": {"language": code}}
                traces += [{**trace, **more, "showlegend": place == 0, "name": kind} for trace, kind in
                           zip(hills(reading), ("related", "unrelated"), strict=True)]  # fmt: skip
    layout["xaxis"] = {**layout["xaxis"], "anchor": f"y{len(drawn)}" if len(drawn) > 1 else "y"}
    menu = Choice("language", "Language", tuple((code, language_name(code, run or {})) for code in codes), codes[0])
    caption = f"{', then '.join(visible(state) for state in drawn)}; Euclidean distance."
    size = "wide" if len(drawn) < 3 else "tall"
    return [menu], Figure(
        "states", "Distances of words", caption, tuple(traces), layout, _table(drawn, run or {}), size
    )


def _has(reading: Reading) -> bool:
    return len(reading.details.get("edges") or []) > 1


def _table(states: Mapping[str, Mapping[str, Reading]], run: Mapping[str, Any]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    records: list[tuple[Ref, ...]] = []
    for state, found in states.items():
        for code, each in found.items():
            rows.append((visible(state), language_name(code, run), each.value, each.low, each.high, each.n))
            records.append((None, None, refs(each), None, None, None))
    heads = ("state", "language", "AUC", "low", "high", "n")
    return Table("states", "Related against unrelated words", "", heads, tuple(rows), tuple(records))
