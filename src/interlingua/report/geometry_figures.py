"""What a geometry study's records look like: cosines and errors language by language, curves over layers and steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlingua.report.evidence import trend_of_pairs
from interlingua.report.figures import CLUSTERED, GIVEN, cluster_order
from interlingua.report.geometry_tables import (
    STATES,
    chance_level,
    cosine_cells,
    last_layer,
    looked,
    places_on_page,
    sets_of,
    within_script,
    wrong_cells,
    wrong_places,
)
from interlingua.report.readings import Pair, Reading
from interlingua.report.runs import Run, colour
from interlingua.report.scatter import CROWDED, label_sides, names_beside
from interlingua.report.sections import Choice, Figure, Trace, band, label, short
from interlingua.report.tables import Cell, Ref, Table
from interlingua.report.wording import language_name, number, variant_name, visible
from interlingua.stats import Association

Found = Mapping[str, Any]
Styles = Mapping[str, Mapping[str, str]]
Cells = Mapping[tuple[str, str], tuple[float, Ref]]
"""What a matrix has at (row, column), and the records behind it."""
VARIANTS = ("raw", "centred")
TWO_ENDED = [[0, "#D55E00"], [0.5, "#F2F2F2"], [1, "#0072B2"]]
"""From orange by near white to blue: both ends told apart with any colour vision."""
WATCHED = {
    "change": ("Change of the average cosine", "change", "Of words inside each language"),
    "cosine": ("Average cosine", "cosine", "Of words inside each language."),
    "retrieval": ("Retrieval", "share found", "Of translations, from the language of training."),
    "cka": ("CKA with the start", "CKA", "How much of each language’s space is as it was."),
    "separation": (
        "Related against unrelated",
        "AUC",
        "How probably a word lies closer to its translation in the "
        "language of training than to another word; 0.5 is a coin toss.",
    ),
}


def cosine_maps(run: Run) -> tuple[list[Choice], list[Figure]]:
    """The cosines of parallel names at the output, a figure a state; order, set and centring are chosen."""
    last = last_layer(run.records)
    found = {
        (state, corpus, variant): cells
        for state in STATES
        for corpus in sets_of(run.records)
        for variant in VARIANTS
        if (cells := cosine_cells(run.records, state, corpus, last, variant))
    }
    if not found:
        return [], []
    first: dict[Pair, Reading] = {pair: Reading(each["value"]) for pair, each in next(iter(found.values())).items()}
    orders = {CLUSTERED: cluster_order(first), GIVEN: list(run.about["languages"])}
    sets, variants = (list(dict.fromkeys(key[at] for key in found)) for at in (1, 2))
    every = [
        Choice("order", "Order", ((CLUSTERED, "by similarity"), (GIVEN, "as given")), CLUSTERED),
        Choice("set", "Entities", tuple((visible(each), visible(each)) for each in sets), visible(sets[0])),
        Choice("variant", "Vectors", tuple((each, variant_name("parallel-cosine", each)) for each in variants),
               variants[0]),
    ]  # fmt: skip
    choices = [choice for choice in every if len(choice.options) > 1]  # A menu with one entry is none.
    asked, figures = {choice.name for choice in choices}, []
    for state in dict.fromkeys(state for state, *_ in found):
        mine = {(corpus, variant): cells for (own, corpus, variant), cells in found.items() if own == state}
        figures.append(_cosine_figure(run, state, mine, orders, asked))
    return choices, figures


def _cosine_figure(
    run: Run, state: str, found: Mapping[tuple[str, str], Any], orders: Mapping[str, Sequence[str]], asked: set[str]
) -> Figure:
    places = places_on_page(run)
    traces: list[Trace] = []
    rows: list[tuple[Cell, ...]] = []
    behind: list[tuple[Ref, ...]] = []
    for (corpus, variant), records in found.items():
        cells = {pair: (each["value"], places[id(each)]) for pair, each in records.items()}
        for order, codes in orders.items():
            when = {"order": order, "set": visible(corpus), "variant": variant}
            own = {name: value for name, value in when.items() if name in asked}
            traces.append({**_heat(codes, codes, cells, run.about), "when": own})
        for (one, other), each in records.items():
            if each["source"] == one:
                rows.append((visible(corpus), variant_name("parallel-cosine", variant), visible(one), visible(other),
                             each["value"], each["low"], each["high"], each["null"]))  # fmt: skip
                behind.append((*(None,) * 4, places[id(each)], None, None, None))
    after = f"After fine-tuning on {language_name(run.about['source'], run.about)}"
    title = "Before fine-tuning" if state == STATES[0] else after
    heads = ("entities", "vectors", "language", "with", "cosine", "low", "high", "shuffled")
    table = Table(f"cosine-{state}", title, "", heads, tuple(rows), tuple(behind))
    caption = "Without relation: pairs of different names."
    return Figure(f"cosine-{state}", title, caption, tuple(traces), _square(orders[GIVEN]), table, "square")


def learnt_dots(run: Run) -> Figure | None:
    """Wrong sentences in the language of training with their interval, a dot per fine-tuning, and the chance level."""
    own = [
        (place, each)
        for place, each in run.numbered()
        if (each["measure"], each["variant"]) == ("pairwise", "wrong/sentence") and each["source"] == each["target"]
    ]
    if not own:
        return None
    failed = {(e["language"], e["seed"]) for e in (run.more.get("found") or {}).get("not_learnt") or ()}
    names = [label(language_name(each["source"], run.about)) for _, each in own]
    traces: list[Trace] = []
    for title, values, symbol, more in (
        ("wrong", [each["value"] for _, each in own], "circle",
         {"error_y": {"type": "data", "symmetric": False, "color": colour(0),
                      "array": [short((each["high"] or each["value"]) - each["value"]) for _, each in own],
                      "arrayminus": [short(each["value"] - (each["low"] or each["value"])) for _, each in own]}}),
        ("chance", [chance_level(each) for _, each in own], "line-ew-open", {}),
    ):  # fmt: skip
        traces.append(
            {"type": "scatter", "mode": "markers", "x": names, "y": [short(value) for value in values], "name": title,
             "marker": {"color": colour(0), "size": 9 if more else 20, "symbol": symbol,
                        "line": {"width": 2, "color": colour(0)}},
             "records": [place for place, _ in own], "hover": f"{title}, %{{x}}: %{{y:.3f}}", **more}
        )  # fmt: skip
    rows = tuple(
        (visible(each["source"]), each.get("seed"), each["value"], each["low"], each["high"], chance_level(each),
         "no" if (each["source"], each.get("seed")) in failed else "yes")
        for _, each in own
    )  # fmt: skip
    heads = ("trained on", "seed", "wrong sentences", "low", "high", "chance", "learnt")
    behind = tuple((None, None, place, None, None, None, None) for place, _ in own)
    layout = {
        "showlegend": True,
        "xaxis": {"type": "category", "showgrid": False, "title": {"text": "trained and tested on"}},
        "yaxis": {"range": [0, 1.03], "tickformat": ".0%", "title": {"text": "wrong sentences", "standoff": 8}},
    }
    caption = "Dots with 95 % intervals, one per seed; strokes are the chance level. Lower is better."
    table = Table("learnt", "Wrong sentences beside chance", "", heads, rows, behind)
    return Figure("learnt", "Wrong sentences beside chance", caption, tuple(traces), layout, table, "wide")


def wrong_map(run: Run) -> Figure | None:
    """Wrong sentences by language of training (rows) and of testing; None for fewer than two of training."""
    shares, places = wrong_cells(run.records), wrong_places(run.records, places_on_page(run))
    codes = list(run.about["languages"])
    trained = [code for code in codes if any(code == source for source, _ in shares)]
    if len(trained) < 2:
        return None
    cells = {pair: (value, places[pair]) for pair, value in shares.items()}
    trace = _heat(trained, codes, cells, run.about)
    trace |= {"reversescale": True, "hover": "trained on %{y}, tested on %{x}"}
    if "texttemplate" in trace:
        trace["texttemplate"] = "%{z:.0%}"
    rows = tuple((visible(one), visible(other), value) for (one, other), value in shares.items())
    heads = ("trained on", "tested on", "wrong sentences")
    table = Table("wrong", "Wrong sentences", "", heads, rows, tuple((None, None, places[pair]) for pair in shares))
    caption = "Rows: trained on; columns: tested on. Brighter is better."
    return Figure("wrong", "Wrong sentences", caption, (trace,), _square(codes), table, "square")


def group_map(run: Run) -> Figure | None:
    """Which languages' spaces change together (papers/003 Fig. 4), in the order of their clustering."""
    together = (run.more.get("found") or {}).get("groups")
    if not together:
        return None
    codes = together["languages"]
    order = [codes[leaf] for leaf in together["order"]]
    pairs = [(i, j) for i in range(len(codes)) for j in range(len(codes)) if i != j]
    cells: Cells = {(codes[i], codes[j]): (together["matrix"][i][j], None) for i, j in pairs}
    chance = {(codes[i], codes[j]): f"by chance |r| = {number(together['null'][i][j])}" for i, j in pairs}
    trace = _heat(order, order, cells, run.about)
    lowest = min(value for value, _ in cells.values())
    if near := lowest > 0.5:  # From -1 to 1 all cells would have one colour.
        beside = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.01, "yanchor": "bottom", "len": 0.36}
        bar = {**trace.get("colorbar", {}), **beside, "thickness": 8}
        trace |= {"zmin": short(lowest), "zmax": 1, "showscale": True, "colorbar": bar}
    else:
        trace |= {"zmin": -1, "zmax": 1, "colorscale": TWO_ENDED, "showscale": False}
    trace |= {
        "hover": "%{y}, %{x}: r = %{z:.2f}<br>%{text}",
        "text": [[chance.get((a, b), "") for b in order] for a in order],
    }  # fmt: skip
    del trace["records"]  # A correlation of whole curves is no record.
    rows = tuple((visible(codes[i]), visible(codes[j]), together["matrix"][i][j], together["null"][i][j])
                 for i, j in pairs if i < j)  # fmt: skip
    table = Table("together", "Correlations of changes", "", ("language", "with", "r", "chance |r|"), rows)
    ends = (
        "all are high, and the scale begins at the lowest"
        if near
        else "blue is together (1), orange against each other (−1)"
    )
    caption = f"Pearson’s r of the changes over {together['span']} steps, all fine-tunings end to end; {ends}."
    layout = _square(order)
    layout["yaxis"] |= {"scaleanchor": "x", "constrain": "domain"}  # Alone in its section, it would be drawn out.
    layout["xaxis"] |= {"constrain": "domain", "constraintoward": "left"}
    return Figure("together", "Correlations of changes", caption, (trace,), layout, table, "square")


def _heat(rows: Sequence[str], columns: Sequence[str], cells: Cells, about: Found) -> dict[str, Any]:
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": [[short(cells[a, b][0]) if (a, b) in cells else None for b in columns] for a in rows],
        "x": [label(code) for code in columns],
        "y": [label(language_name(code, about)) for code in rows],
        "records": [[cells[a, b][1] if (a, b) in cells else None for b in columns] for a in rows],
        "hover": "%{y} – %{x}",
        "colorscale": "Cividis",
        "xgap": 1,
        "ygap": 1,
        "colorbar": {"thickness": 10, "outlinewidth": 0, "len": 0.9, "nticks": 5, "tickfont": {"size": 11}},
    }
    return {**trace, "texttemplate": "%{z:.2f}"} if len(columns) <= 9 else trace


def _square(codes: Sequence[str]) -> dict[str, Any]:
    axis = {"showgrid": False, "type": "category", "dtick": 1, "tickfont": {"size": 11 if len(codes) > 12 else 12}}
    turn = {"tickangle": -90 if len(codes) > 8 else 0}
    return {"xaxis": {**axis, **turn}, "yaxis": {**axis, "autorange": "reversed"}}


def purity_curves(runs: Sequence[Run], by: str) -> Figure | None:
    """The share of neighbours with the same label at every layer, of all runs, before and after, with chance."""
    traces: list[Trace] = []
    rows: list[tuple[Cell, ...]] = []
    behind: list[tuple[Ref, ...]] = []
    for number_of_run, run in enumerate(runs):
        places = places_on_page(run)
        corpus = next(iter(sets_of(run.records)), "")
        for at, state in enumerate(STATES):
            mine = sorted(looked(run.records, "clusters", f"purity/{by}", state, corpus), key=lambda own: own["layer"])
            if not mine:
                continue
            ink = colour(number_of_run if len(runs) > 1 else at)
            layers = [each["layer"] for each in mine]
            low, value, high, null = ([short(each[key]) for each in mine] for key in ("low", "value", "high", "null"))
            says = label(f"{run.prefix}{state}", most=90)
            if at == 0:
                dotted = {"color": "@soft", "width": 1.5, "dash": "dot"}
                traces.append({"type": "scatter", "mode": "lines", "x": layers, "y": null, "showlegend": False,
                               "line": dotted, "hover": "by chance: %{y:.3f}"})  # fmt: skip
            traces += band(layers, low, high, ink)
            traces.append(
                {"type": "scatter", "mode": "lines+markers", "x": layers, "y": value, "name": says,
                 "line": {"color": ink, "width": 2.5, "dash": "dash" if at else "solid"},
                 "marker": {"color": ink, "size": 6, "symbol": "diamond" if at else "circle"},
                 "records": [places[id(each)] for each in mine], "hover": f"{says}, layer %{{x}}"}
            )  # fmt: skip
            rows += [(visible(f"{run.prefix}{state}"), own["layer"], own["value"], own["low"], own["high"], own["null"])
                     for own in mine]  # fmt: skip
            behind += [(None, None, places[id(each)], None, None, None) for each in mine]
    if not traces:
        return None
    title, most = f"Neighbours of the same {by}", max(len(trace["x"]) for trace in traces)
    heads = ("state", "layer", "purity", "low", "high", "shuffled")
    table = Table(f"purity-{by}", title, "", heads, tuple(rows), tuple(behind))
    layout = {
        "showlegend": True,
        "xaxis": {"title": {"text": "layer"}, "showgrid": False, "dtick": 4 if most > 14 else 1},
        "yaxis": {
            "range": [0, 1.03],
            "tickformat": ".0%",
            "nticks": 6,
            "title": {"text": "share of the 10 nearest", "standoff": 8},
        },
    }
    return Figure(f"purity-{by}", title, "Dotted: by chance. Band: 95 %.", tuple(traces), layout, table)


def step_curves(run: Run, marks: Styles) -> tuple[list[Choice], list[Figure]]:
    """What the monitor saw, a figure for each thing watched (papers/003 Fig. 3), a line a language.

    The language of training is chosen. A change is that of the cosine's record over `span` steps.
    """
    places = places_on_page(run)
    lines: dict[tuple[str, str, str], tuple[Sequence[int], Sequence[float], Ref]] = {}
    for each in run.records:
        if each["measure"] == "similarity":  # The first seed's.
            about = each["details"]
            key = (each["variant"], each["source"], each["target"])
            lines.setdefault(key, (about["steps"], about["values"], places[id(each)]))
    found = run.more.get("found") or {}
    for source, change in (found.get("changes") or {}).items():
        for code, values in change["lines"].items():
            behind = lines.get(("cosine", source, code))
            lines["change", source, code] = (change["steps"], values, None if behind is None else behind[2])
    sources = [code for code in run.about["languages"] if any(code == source for _, source, _ in lines)]
    if not sources:
        return [], []
    span = (found.get("groups") or {}).get("span")
    figures = []
    for what, (title, _, caption) in WATCHED.items():
        mine = {(source, code): line for (own, source, code), line in lines.items() if own == what}
        if mine:
            said = caption if what != "change" else f"{caption}, over {span} steps." if span else f"{caption}."
            figures.append(_steps(f"steps-{what}", title, said, mine, run, marks))
    first = run.about["source"] if run.about["source"] in sources else sources[0]
    named = tuple((visible(code), language_name(code, run.about)) for code in sources)
    return [Choice("trained", "Trained on", named, visible(first))], figures


def _steps(
    name: str, title: str, caption: str, lines: Mapping[tuple[str, str], Any], run: Run, marks: Styles
) -> Figure:
    traces: list[Trace] = []
    rows: list[tuple[Cell, ...]] = []
    behind: list[tuple[Ref, ...]] = []
    for (source, code), (steps, values, place) in lines.items():
        style = marks[visible(code)]
        ink, says = style["colour"], label(style["name"])
        traces.append(
            {"type": "scatter", "mode": "lines+markers", "x": list(steps), "y": [short(value) for value in values],
             "name": says, "line": {"color": ink, "width": 3.5 if code == source else 1.8},
             "marker": {"color": ink, "symbol": style["symbol"], "size": 4 if len(steps) > 60 else 6},
             "records": [place] * len(steps), "when": {"trained": visible(source)},
             "hover": f"{says}<br>step %{{x}}: %{{y:.4f}}<br>{'cosine at the end' if 'change' in name else 'end'}:"}
        )  # fmt: skip
        rows += [(visible(source), visible(code), step, value) for step, value in zip(steps, values, strict=True)]
        behind += [(None, None, None, place)] * len(steps)
    table = Table(name, title, "", ("trained on", "language", "step", title), tuple(rows), tuple(behind))
    many = len({code for _, code in lines}) > 6
    layout = {
        "showlegend": True,
        "xaxis": {"title": {"text": "step"}, "showgrid": False},
        "yaxis": {
            "nticks": 6,
            "title": {"text": WATCHED[name.removeprefix("steps-")][1], "standoff": 8},
            **({"zeroline": True, "zerolinecolor": "@soft"} if "change" in name else {}),
        },
    }
    size = "square" if many else "plain"
    margin = {"margin": {"l": 44, "r": 10, "t": 28, "b": 40}} if many else {}
    return Figure(name, title, caption, tuple(traces), layout | margin, table, size)


def spelling_scatter(run: Run, marks: Styles) -> Figure | None:
    """Wrong sentences against the spelling distance of names, a mark a pair, and their trend (papers/003 Fig. 5)."""
    scatter = (run.more.get("found") or {}).get("scatter")
    if not scatter:
        return None
    points, places = scatter["points"], wrong_places(run.records, places_on_page(run))
    traces: list[Trace] = []
    across, up = ([float(point[key]) for point in points] for key in ("tnld", "wrong"))
    found = trend_of_pairs(across, up, Association(**scatter["rho"]))
    if found.line:
        traces.append(
            {"type": "scatter", "mode": "lines", "x": [short(v) for v, _ in found.line], "showlegend": False,
             "y": [short(v) for _, v in found.line], "hoverinfo": "skip",
             "line": {"color": "@soft", "width": 1.5, "dash": "dash"}}
        )  # fmt: skip
    beside = label_sides([(point["tnld"], point["wrong"], 1 + len(point["target"])) for point in points])
    for source in dict.fromkeys(point["source"] for point in points):
        mine, style = [point for point in points if point["source"] == source], marks[visible(source)]
        names = [label(f"→{point['target']}") for point in mine]
        sides = [beside[at] for at, point in enumerate(points) if point["source"] == source]
        traces.append(
            {"type": "scatter", "mode": "markers+text" if len(points) <= 30 else "markers",
             "name": label(style["name"]), "x": [short(point["tnld"]) for point in mine],
             "y": [short(point["wrong"]) for point in mine], **names_beside(names, sides),
             "textfont": {"size": 10, "color": "@soft"}, "cliponaxis": False,
             "marker": {"color": style["colour"], "symbol": style["symbol"], "size": 8},
             "records": [places.get((point["source"], point["target"])) for point in mine],
             "hover": f"{label(style['name'])} %{{hovertext}}<br>TNLD %{{x:.3f}}, wrong sentences:"}
        )  # fmt: skip
    rows = tuple((visible(p["source"]), visible(p["target"]), p["tnld"], p["wrong"]) for p in points)
    behind = tuple((None, None, None, places.get((p["source"], p["target"]))) for p in points)
    heads = ("trained on", "tested on", "TNLD", "wrong sentences")
    layout = {
        "showlegend": True,
        "margin": {"l": 54, "r": 30, "t": 28, "b": 44},
        "xaxis": {"title": {"text": "spelling distance of names (TNLD)"}, "showgrid": False, "nticks": 6},
        "yaxis": {
            "tickformat": ".0%",
            "rangemode": "tozero",
            "nticks": 6,
            "title": {"text": "wrong sentences", "standoff": 8},
        },
    }
    table = Table("against-spelling", "Against spelling", "", heads, rows, behind)
    return Figure(
        "against-spelling",
        "Against spelling",
        f"{found.said}{within_script(scatter)}{f' {CROWDED}' if '' in beside and len(points) <= 30 else ''}",
        tuple(traces),
        layout,
        table,
        "square",
    )
