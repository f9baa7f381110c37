"""A geometry study as data for plotly.js: maps, heat maps, curves over layers and steps, a scatter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlingua.report.figures import Figure, cluster_order, short
from interlingua.report.geometry_tables import (
    LABELS,
    STATES,
    cluster_value,
    cosine_cells,
    layers_of,
    looked,
    sets_of,
    wrong_cells,
)
from interlingua.report.readings import Pair, Reading
from interlingua.report.scatter import PALETTE, SYMBOLS, marker_styles
from interlingua.report.wording import language_name, number, visible

Found = Mapping[str, Any]
TEXT_LETTERS = 120
TWO_ENDED = [[0, "#D55E00"], [0.5, "#F2F2F2"], [1, "#0072B2"]]
"""From orange by near white to blue: both ends told apart with any colour vision."""
TITLES = {
    "change": "Change of the average cosine",
    "cosine": "Average cosine inside the language",
    "retrieval": "Retrieval from the language of training",
    "cka": "CKA with the start",
    "separation": "Related against unrelated",
}


def map_figures(maps: Sequence[Found], records: Sequence[Found], run: Found) -> list[Figure]:
    """For each set of entities its labels once, and a panel for each layer and state: first layers down, states across.

    The same entities stand in every panel of a set. Each panel has the numbers that go with it.
    """
    figures = []
    for name in dict.fromkeys(each["set"] for each in maps):
        mine = [each for each in maps if each["set"] == name]
        points = mine[0]["points"]
        panels = []
        for layer in [panel["layer"] for panel in mine[0]["panels"]]:
            for each in mine:
                panel = next((panel for panel in each["panels"] if panel["layer"] == layer), None)
                if panel is not None and [p["row"] for p in each["points"]] == [p["row"] for p in points]:
                    panels.append(_panel(panel, each, records, run))
        figures.append(
            {
                "set": visible(name),
                "title": "Entities of the test part" if name == "test" else f"Sentences {visible(name)}",
                "entities": mine[0]["entities"],
                "shown": len({point["row"] for point in points}),
                "language": [visible(point["language"]) for point in points],
                "type": [visible(point["type"]) for point in points],
                "name": [visible(point["name"]) for point in points],
                "text": [_cut(visible(point["text"])) for point in points],
                "panels": panels,
            }
        )
    return figures


def _panel(panel: Found, each: Found, records: Sequence[Found], run: Found) -> dict[str, Any]:
    layer = panel["layer"]
    where = "initial layer" if layer == 0 else "output layer" if layer == layers_of(records)[-1] else f"layer {layer}"
    told = []
    for label in LABELS:
        for variant in ("silhouette", "purity"):
            record = cluster_value(records, f"{variant}/{label}", each["state"], each["set"], layer)
            if record is not None:
                told.append(
                    {"label": label, "what": variant, "value": number(record["value"]), "null": number(record["null"])}
                )
    when = "before" if each["state"] == STATES[0] else f"after fine-tuning on {language_name(run['source'], run)}"
    about = dict(panel["about"])
    extra = f", perplexity {about['perplexity']:g}" if "perplexity" in about else ""
    if "explained" in about:
        extra = f", {100 * sum(about['explained'][:2]):.0f} % of the variance"
    return {
        "title": f"{where[:1].upper()}{where[1:]}, {when}",
        "method": f"{each['method'].upper().replace('TSNE', 't-SNE')}{extra}",
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


def heat_figures(records: Sequence[Found], run: Found, found: Found) -> dict[str, list[Figure]]:
    """Matrices of languages: cosines in each state, wrong sentences, and which languages move together."""
    return {
        "cosines": _cosine_maps(records, run),
        "wrong": _wrong_map(records, run),
        "groups": _group_map(run, found),
    }


def _cosine_maps(records: Sequence[Found], run: Found) -> list[Figure]:
    corpus = next(iter(sets_of(records)), None)
    if corpus is None:
        return []
    last = layers_of(records)[-1]
    cells = {state: cosine_cells(records, state, corpus, last) for state in STATES}
    if not cells[STATES[0]]:
        return []
    readings: dict[Pair, Reading] = {pair: Reading(each["value"]) for pair, each in cells[STATES[0]].items()}
    order = cluster_order(readings) if len(run["languages"]) > 2 else list(run["languages"])
    figures = []
    for state, found in cells.items():
        if found:
            title = "Before fine-tuning" if state == STATES[0] else f"After, on {language_name(run['source'], run)}"
            hover = {pair: f"shuffled pairs {number(each['null'], 3)}" for pair, each in found.items()}
            trace = _heat(order, {pair: each["value"] for pair, each in found.items()}, run, hover)
            figures.append({"name": f"cosine-{state}", "title": title, "size": len(order), "data": [trace]})
    return figures


def _wrong_map(records: Sequence[Found], run: Found) -> list[Figure]:
    cells = wrong_cells(records)
    trained = [code for code in run["languages"] if any(code == source for source, _ in cells)]
    if len(trained) < 2:
        return []
    trace = _heat(run["languages"], cells, run, {}, rows=trained)
    trace |= {"reversescale": True, "hovertemplate": "trained on %{customdata}<br>%{z:.1%} wrong<extra></extra>"}
    if "texttemplate" in trace:
        trace["texttemplate"] = "%{z:.0%}"
    return [{"name": "wrong", "title": "", "size": len(run["languages"]), "data": [trace]}]


def _group_map(run: Found, found: Found) -> list[Figure]:
    together = found.get("groups")
    if not together:
        return []
    codes = together["languages"]
    order = [codes[leaf] for leaf in together["order"]]
    cells = {(a, b): together["matrix"][i][j] for i, a in enumerate(codes) for j, b in enumerate(codes) if a != b}
    chance = together["null"]
    hover = {(codes[i], codes[j]): f"chance |r| {number(v)}" for i, row in enumerate(chance) for j, v in enumerate(row)}
    trace = _heat(order, cells, run, hover)
    trace |= {"zmin": -1, "zmax": 1, "colorscale": TWO_ENDED}
    return [{"name": "groups", "title": "", "size": len(codes), "data": [trace]}]


def _heat(
    codes: Sequence[str],
    cells: Mapping[tuple[str, str], float],
    run: Found,
    hover: Mapping[tuple[str, str], str],
    *,
    rows: Sequence[str] | None = None,
) -> dict[str, Any]:
    rows = codes if rows is None else rows
    names = {code: language_name(code, run) for code in (*codes, *rows)}
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": [[short(cells[a, b]) if (a, b) in cells else None for b in codes] for a in rows],
        "x": [visible(code) for code in codes],
        "y": [names[code] for code in rows],
        "customdata": [
            [f"{names[a]} – {names[b]}" + (f", {hover[a, b]}" if (a, b) in hover else "") for b in codes] for a in rows
        ],
        "colorscale": "Cividis",
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": "%{customdata}<br>%{z:.3f}<extra></extra>",
        "colorbar": {"thickness": 10, "outlinewidth": 0, "len": 0.9, "nticks": 5},
    }
    if len(codes) <= 11:
        trace["texttemplate"] = "%{z:.2f}"
    return trace


def layer_figures(records: Sequence[Found]) -> list[Figure]:
    """Purity by language and by type at every layer, before and after, with what chance reads."""
    corpus = next(iter(sets_of(records)), None)
    figures = []
    for label in LABELS if corpus is not None else ():
        lines = {}
        for state in STATES:
            mine = sorted(
                looked(records, "clusters", f"purity/{label}", state, str(corpus)), key=lambda each: each["layer"]
            )
            if mine:
                lines[state] = {
                    "layers": [each["layer"] for each in mine],
                    **{key: [short(each[key]) for each in mine] for key in ("value", "low", "high", "null")},
                }
        if lines:
            title = f"Neighbours of the same {label}"
            figures.append({"name": f"purity-{label}", "title": title, "lines": lines})
    return figures


def step_figures(records: Sequence[Found], found: Found, run: Found) -> Figure | None:
    """Curves of every fine-tuning by what was watched: changes over h steps (papers/003 Fig. 3), and the values."""
    runs: dict[str, dict[str, Any]] = {}
    for each in records:
        if each["measure"] != "similarity":
            continue
        about = each["details"]
        own = runs.setdefault(visible(each["source"]), {}).setdefault(
            each["variant"], {"steps": about["steps"], "lines": {}}
        )
        own["lines"].setdefault(visible(each["target"]), [short(value) for value in about["values"]])
    for source, change in (found.get("changes") or {}).items():
        lines = {visible(code): [short(v) for v in line] for code, line in change["lines"].items()}
        runs.setdefault(visible(source), {})["change"] = {"steps": change["steps"], "lines": lines}
    if not runs:
        return None
    what = [name for name in TITLES if any(name in own for own in runs.values())]
    titles = {name: TITLES[name] for name in what}
    if "change" in titles and found.get("groups"):
        titles["change"] += f" over {found['groups']['span']} steps"
    return {
        "runs": runs,
        "titles": titles,
        "sources": [visible(code) for code in run["languages"] if visible(code) in runs],
        "first": visible(run["source"]),
    }


def scatter_figure(found: Found, run: Found) -> Figure | None:
    """Wrong sentences against the spelling distance of names, a mark for each pair (papers/003 Fig. 5)."""
    scatter = found.get("scatter")
    if not scatter:
        return None
    return {
        "points": [
            {
                "source": visible(point["source"]),
                "target": visible(point["target"]),
                "tnld": short(point["tnld"]),
                "wrong": short(point["wrong"]),
                "n": point["n"],
            }
            for point in scatter["points"]
        ],
        "r": short(scatter["pearson"]["value"]),
    }


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_LETTERS else f"{text[: TEXT_LETTERS - 1]}…"
