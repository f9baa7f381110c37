"""Maps of a geometry study: the same names at each layer, before and after, coloured by language or by type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlingua.report.geometry_tables import LABELS, STATES, cluster_value, last_layer
from interlingua.report.runs import Run
from interlingua.report.scatter import ALL_LETTERS, PALETTE, SYMBOLS, marker_styles
from interlingua.report.sections import Choice, Figure, Section, Trace, label, of_run, short
from interlingua.report.wording import language_name, number, visible

Found = Mapping[str, Any]
Styles = Mapping[str, Mapping[str, Mapping[str, str]]]
TEXT_LETTERS, SHOWN_POINTS = 160, 10_000
"""How much of a mark's text is put in a page, and how many marks a map has there; files have all of them."""


def map_sets(maps: Sequence[Found], records: Sequence[Found], run: Found) -> list[dict[str, Any]]:
    """For each set of entities its labels once, and a panel for each layer and state: first layers down, states across.

    The same entities stand in every panel of a set. Each panel has the numbers that go with it.
    """
    sets = []
    for name in dict.fromkeys(each["set"] for each in maps):
        mine = [each for each in maps if each["set"] == name]
        points = mine[0]["points"]
        panels = []
        for layer in [panel["layer"] for panel in mine[0]["panels"]]:
            for each in mine:
                panel = next((panel for panel in each["panels"] if panel["layer"] == layer), None)
                if panel is not None and [p["row"] for p in each["points"]] == [p["row"] for p in points]:
                    panels.append(_panel(panel, each, records, run))
        numbers = {row: at for at, row in enumerate(dict.fromkeys(point["row"] for point in points))}
        sets.append(
            {
                "set": visible(name),
                "title": "Entities of the test part" if name == "test" else f"Sentences {visible(name)}",
                "entities": mine[0]["entities"],
                "row": [numbers[point["row"]] for point in points],
                "language": [visible(point["language"]) for point in points],
                "type": [visible(point["type"]) for point in points],
                "text": [
                    f"{point['name']} ({language_name(point['language'], run)}, {point['type']}): {point['text']}"
                    for point in points
                ],
                "panels": panels,
            }
        )
    return sets


def _panel(panel: Found, each: Found, records: Sequence[Found], run: Found) -> dict[str, Any]:
    layer = panel["layer"]
    where = "initial layer" if layer == 0 else "output layer" if layer == last_layer(records) else f"layer {layer}"
    told = []
    for by in LABELS:
        for variant in ("silhouette", "purity"):
            record = cluster_value(records, f"{variant}/{by}", each["state"], each["set"], layer)
            if record is not None:
                told.append(
                    {"label": by, "what": variant, "value": number(record["value"]), "null": number(record["null"])}
                )
    when = "before" if each["state"] == STATES[0] else f"after fine-tuning on {language_name(run['source'], run)}"
    about = dict(panel["about"])
    extra = f", perplexity {about['perplexity']:g}" if "perplexity" in about else ""
    if "explained" in about:
        extra = f", {100 * sum(about['explained'][:2]):.0f} % of the variance"
    return {
        "title": f"{where[:1].upper()}{where[1:]}, {when}",
        "method": f"{visible(each['method']).upper().replace('TSNE', 't-SNE')}{extra}",
        "state": each["state"],
        "layer": layer,
        "x": panel["x"],
        "y": panel["y"],
        "numbers": told,
    }


def styles(maps: Sequence[Found], run: Found) -> dict[str, dict[str, dict[str, str]]]:
    """A colour, a symbol and a name for each language and each type."""
    texts = dict.fromkeys(run["languages"], "")
    for each in maps:
        for point in each["points"]:
            if len(texts.get(point["language"], "")) < 400:
                texts[point["language"]] = texts.get(point["language"], "") + point["text"]
    by_language = {
        visible(code): {"colour": colour, "symbol": symbol, "name": language_name(code, run)}
        for code, (colour, symbol) in marker_styles(texts).items()
    }
    types = sorted({point["type"] for each in maps for point in each["points"]})
    by_type = {
        visible(name): {
            "colour": PALETTE[at % len(PALETTE)],
            "symbol": SYMBOLS[at % len(SYMBOLS)],
            "name": visible(name),
        }
        for at, name in enumerate(types)
    }
    return {"language": by_language, "type": by_type}


def map_section(run: Run) -> Section | None:
    """The maps of a run, a figure for each layer and state, with menus for the colour and the set; None without any."""
    maps = run.more.get("maps") or []
    sets = [each for each in map_sets(maps, run.records, run.about) if each["panels"]]
    if not sets:
        return None
    marks = styles(maps, run.about)
    places = dict.fromkeys((panel["layer"], panel["state"]) for each in sets for panel in each["panels"])
    figures = tuple(of_run(_figure(sets, marks, *place), run.key, run.name) for place in places)
    colour = Choice("by", "Colour by", tuple((by, by) for by in LABELS), LABELS[0])
    which = Choice("set", "Show", tuple((each["set"], each["title"]) for each in sets), sets[0]["set"])
    words = (
        "Every mark is a name in its sentence, the mean of its sub-tokens; the same ones in every map. "
        "Point at a mark for its name, sentence and translations, click "
        "to keep them. Maps deceive: the numbers of the next part are of the vectors themselves."
    )
    title = "Maps of names" + (f": {run.name}" if run.key else "")
    choices = (colour, *((which,) if len(sets) > 1 else ()))
    return Section(run.id("maps"), title, (words, *_thinned(sets)), choices=choices, figures=figures)


def _figure(sets: Sequence[Found], marks: Styles, layer: int, state: str) -> Figure:
    """One layer and state of every set, by language and by type: which of them is shown is chosen."""
    traces: list[Trace] = []
    methods: dict[str, str] = {}
    title = ""
    for each in sets:
        for panel in each["panels"]:
            if (panel["layer"], panel["state"]) == (layer, state):
                title = panel["title"]
                methods[each["title"]] = panel["method"]
                for by in LABELS:
                    when = {"by": by} | ({"set": each["set"]} if len(sets) > 1 else {})
                    traces += [{**trace, "when": when} for trace in _traces(each, panel, marks[by], by)]
    same = len(set(methods.values())) == 1
    told = [method if same else f"{name}: {method}" for name, method in methods.items()]
    caption = f"{'. '.join(dict.fromkeys(told))}."
    return Figure(f"map-{layer}-{state}", title, caption, tuple(traces), size="square", dense=True)


def _traces(each: Found, panel: Found, marks: Mapping[str, Mapping[str, str]], by: str) -> Iterator[Trace]:
    kept = _kept(each)
    letters = min(TEXT_LETTERS, max(ALL_LETTERS // len(each["row"]), 40))
    for key, style in marks.items():
        mine = [at for at, own in enumerate(each[by]) if own == key and each["row"][at] in kept]
        if mine:
            yield {
                "type": "scatter",
                "mode": "markers",
                "name": label(style["name"]),
                "marker": {"color": style["colour"], "symbol": style["symbol"]},
                "x": [panel["x"][at] for at in mine],
                "y": [panel["y"][at] for at in mine],
                "groups": [each["row"][at] for at in mine],
                "text": [label(each["text"][at], most=letters) for at in mine],
                "hover": "%{text}",
            }


def _kept(each: Found) -> set[int]:
    """Rows that are put in the page, thinned evenly, whole rows at a time, so that translations stay together."""
    count = max(each["row"]) + 1
    room = min(count, max(SHOWN_POINTS * count // len(each["row"]), 1))
    return {at * count // room for at in range(room)}


def _thinned(sets: Sequence[Found]) -> tuple[str, ...]:
    """What is not shown, in words."""
    told = [
        f"{each['title']}: {short(len(_kept(each)))} of {each['entities']} rows are shown."
        for each in sets
        if len(_kept(each)) < each["entities"]
    ]
    return (" ".join(told),) if told else ()
