"""What an audit's records look like: layer curves, language by language heat maps, histograms of distances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from interlingua.report.evidence import apart_from_null, peak
from interlingua.report.panels import MAPS, PANELS
from interlingua.report.readings import Pair, Reading, Readings, both_ways, lower_is_better, mean
from interlingua.report.runs import Run, colour
from interlingua.report.sections import Choice, Figure, Trace, band, faded, label, short
from interlingua.report.tables import Cell, Ref, Table, refs
from interlingua.report.wording import UNRANKED, language_name, measure_name, variant_name, visible

MEAN, CLUSTERED, GIVEN = "mean", "clustered", "given"
PAIRS, HISTOGRAM_NUMBERS = 200, 150_000
"""How many pairs have curves of their own, and how many counts of histograms there are, so that a page stays small."""


@dataclass(frozen=True)
class Curve:
    """A line by layer: what it is of, and its readings; None where a layer has none."""

    run: Run
    variant: str
    place: int
    chosen: str
    shown: str
    layers: Sequence[int]
    readings: Sequence[Reading | None]
    output: int | None = None

    def values(self, key: str) -> list[float | None]:
        return [None if reading is None else short(getattr(reading, key)) for reading in self.readings]


def layer_curves(runs: Mapping[str, tuple[Run, Readings]]) -> tuple[list[Choice], list[Figure]]:
    """A figure a measure, all runs in it: the mean over pairs by layer, or a language's or a pair's, as chosen.

    Measures that are not ours get a figure of their own with their first two variants. A
    measure with a single layer has no curve and is left out.
    """
    known = {measure for measure, *_ in PANELS}
    every = list(dict.fromkeys(measure for _, found in runs.values() for measure in found.measures()))
    first = {measure: next(f for _, f in runs.values() if measure in f.measures()) for measure in every}
    others = tuple(
        (measure, variants, measure_name(measure), "value", _low_is_best(first[measure], measure, variants))
        for measure in every
        if measure not in known
        for variants in [tuple(first[measure].variants(measure)[:2])]
    )
    figures, options = [], {MEAN: "mean of all"}
    for measure, variants, title, axis, caption in (*PANELS, *others):
        curves = [
            curve
            for run, found in runs.values()
            for place, variant in enumerate(variants)
            if len(found.layers(measure, variant)) > 1
            for curve in _curves(run, found, measure, (variant, place))
        ]
        if curves:
            options |= {curve.chosen: curve.shown for curve in curves}
            name = f"curve-{measure}-{variants[0].split('/')[0]}".replace("@", "").replace(" ", "-").replace(",", "")
            tops = [top for _, found in runs.values() if (top := peak(found)) is not None]
            marked = sorted({top.layer for top in tops if top.stands_out and len(top.layers) > 1})
            figures.append(
                _curve_figure(
                    name, (title, axis, caption + _pools(runs, measure, variants) + _at_null(curves)), curves, marked
                )
            )
    languages = sorted((value, text) for value, text in options.items() if "\t" not in value and value != MEAN)
    pairs = sorted((value, text) for value, text in options.items() if "\t" in value)
    menu = Choice("line", "Show", ((MEAN, options[MEAN]), *languages, *pairs), MEAN)
    return [menu] if figures else [], figures


def _pools(runs: Mapping[str, tuple[Run, Readings]], measure: str, variants: Sequence[str]) -> str:
    """Among how many candidates a share was read, and chance; of runs that did not read the same, that they differ."""
    told = {
        run.name: found.told_pool(measure, variants[0], found.layers(measure, variants[0])[0])
        for run, found in runs.values()
        if found.layers(measure, variants[0])
    }
    if len(set(told.values())) == 1:
        text = next(iter(told.values()))
        said = f" {text[0].upper()}{text[1:]}." if text else ""
    else:
        said = f" {'; '.join(f'{visible(name)}: {pool}' for name, pool in told.items() if pool)}."
    texts = {str((run.about.get("digests") or {}).get("corpus")) for run, _ in runs.values()}
    apart = len(texts) > 1 or len(set(told.values())) > 1
    return f"{said} The runs did not read the same, so their lines are not to be compared." if apart else said


def _curves(run: Run, found: Readings, measure: str, line: tuple[str, int]) -> Iterator[Curve]:
    variant, place = line
    layers = found.layers(measure, variant)
    by_layer = [both_ways(found.at(measure, variant, layer)) for layer in layers]

    def curve(chosen: str, shown: str, readings: Sequence[Reading | None]) -> Curve:
        return Curve(run, variant_name(measure, variant), place, chosen, shown, layers, readings, found.output)

    yield curve(MEAN, "mean of all", [mean(readings.values()) for readings in by_layer])
    pairs = list(dict.fromkeys(pair for readings in by_layer for pair in readings))
    codes = list(dict.fromkeys(code for pair in pairs for code in pair if code is not None))
    for code in codes:
        yield curve(code, language_name(code, run.about), [found.language(measure, variant, at, code) for at in layers])
    for pair in pairs if len(pairs) <= PAIRS else ():
        if pair[1] is not None:
            shown = "–".join(language_name(code, run.about) for code in pair if code is not None)
            yield curve("\t".join(sorted((pair[0], pair[1]))), shown, [readings.get(pair) for readings in by_layer])


def _curve_figure(name: str, words: tuple[str, str, str], curves: Sequence[Curve], best: Sequence[int]) -> Figure:
    title, axis, caption = words
    runs = list(dict.fromkeys(curve.run.key for curve in curves))
    lines = list(dict.fromkeys((curve.run.key, curve.place) for curve in curves))
    everything = list(dict.fromkeys(curve.chosen for curve in curves))
    traces: list[Trace] = []
    for curve in curves:
        # Colour tells runs apart where there are several, else variants, which the dash always tells.
        ink = colour(runs.index(curve.run.key) if len(runs) > 1 else curve.place)
        when = {"line": curve.chosen}
        says = label(f"{curve.run.prefix}{curve.variant}", most=90)
        if curve.place == 0 and curve.chosen == MEAN:
            traces += _nulls(curve)
        traces += [
            {**edge, "when": when} for edge in band(curve.layers, curve.values("low"), curve.values("high"), ink)
        ]
        main: Trace = {
            "type": "scatter", "mode": "lines+markers", "x": list(curve.layers), "y": curve.values("value"),
            "name": says, "records": [refs(each) for each in curve.readings],
            "line": {"color": ink, "width": 2.5, "dash": "dash" if curve.place else "solid"},
            "marker": {"color": ink, "size": 6, "symbol": "diamond" if curve.place else "circle"},
            "hover": f"{says}<br>{label(curve.shown)}, layer %{{x}}",
        }  # fmt: skip
        traces.append({**main, "when": when})
        if curve.chosen == MEAN and len(everything) > 1:
            faint = {"line": {"color": faded(ink, 0.45), "width": 1.2}, "mode": "lines"}
            traces.append({**main, **faint, "showlegend": False, "when": {"line": everything[1:]}})
    layers = curves[0].layers
    upright = {"type": "line", "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    layout = {
        "shapes": [{**upright, "x0": at, "x1": at, "line": {"color": "@soft/0.45", "width": 1}} for at in best],
        "showlegend": len(lines) > 1,
        "xaxis": {"title": {"text": "layer"}, "showgrid": False, **_ticks(layers, curves)},
        "yaxis": {"nticks": 5, "title": {"text": axis, "standoff": 8}},
    }
    return Figure(name, title, caption, tuple(traces), layout, _curve_table(name, title, curves))


def _ticks(layers: Sequence[int], curves: Sequence[Curve]) -> dict[str, Any]:
    """Which layers are numbered; an output that every run has at the same place is named."""
    step, outputs = 4 if len(layers) > 14 else 1, {curve.output for curve in curves if curve.output in curve.layers}
    if len(outputs) != 1:
        return {"dtick": step}
    (output,) = outputs
    shown = [layer for layer in layers if layer != output and layer % step == 0]
    return {"tickmode": "array", "tickvals": [*shown, output], "ticktext": [*map(str, shown), "output"]}


def _low_is_best(found: Readings, measure: str, variants: Sequence[str]) -> str:
    """A sentence that names the variants which are best when low."""
    told = {each: next(iter(found.at(measure, each, found.layers(measure, each)[0]).values())).best
            for each in variants if found.layers(measure, each)}  # fmt: skip
    low = [variant_name(measure, each) for each, best in told.items() if lower_is_better(best, measure, each)]
    return f"Best when low: {visible(', '.join(low))}." if low else ""


def _at_null(curves: Sequence[Curve]) -> str:
    """A sentence where the means of all runs and variants are, at every layer, no different from their nulls."""
    means = [reading for curve in curves if curve.chosen == MEAN for reading in curve.readings if reading is not None]
    return "" if any(map(apart_from_null, means)) else " No layer differs from what it reads without any relation."


def _nulls(curve: Curve) -> list[Trace]:
    values = curve.values("null")
    if all(value is None for value in values):
        return []
    dotted = {"color": "@soft", "width": 1.5, "dash": "dot"}
    return [{"type": "scatter", "mode": "lines", "x": list(curve.layers), "y": values, "showlegend": False,
             "name": "without relation", "line": dotted, "hover": "without relation: %{y:.3f}"}]  # fmt: skip


def _curve_table(name: str, title: str, curves: Sequence[Curve]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    records: list[tuple[Ref, ...]] = []
    for curve in curves:
        for layer, found in zip(curve.layers, curve.readings, strict=True):
            if found is not None:
                run = (visible(curve.run.name),) if curve.run.key else ()
                numbers = (found.value, found.low, found.high, found.null)
                place = "output" if layer == curve.output else layer
                rows.append((*run, curve.variant, curve.shown, place, *numbers))
                records.append((*(None for _ in run), None, None, None, refs(found), None, None, None))
    heads = (*(("run",) if curves[0].run.key else ()), "what", "of", "layer", "value", "low", "high", "null")
    return Table(name, title, "", heads, tuple(rows), tuple(records))


def heat_maps(run: Run, found: Readings) -> list[Figure]:
    """Language by language at the best layer, one figure a measure, all in one order; nothing for two languages.

    The order is that of the leaves of an average-linkage clustering of the first measure
    there is, so that languages which the model holds close stand together (families, often); or the given one.
    """
    layer = found.best_layer()
    figures: list[Figure] = []
    order: list[str] = []
    for measure, variant, title, words in MAPS:
        caption = words
        readings = found.at(measure, variant, layer) or found.at(measure, variant.replace("raw", "centred"), layer)
        present = {code for pair in readings for code in pair if code is not None}
        if len(present) < 3:
            continue
        order = order or cluster_order(readings, distances=measure == "spelling")
        if measure == "retrieval" and not found.equal_candidates():
            caption = f"{words} {UNRANKED}"
            order = [code for code in found.languages if code in present]
        clustered = [code for code in order if code in present] + sorted(present - set(order))
        given = [code for code in found.languages if code in present]
        traces = [
            {**_heat(readings, codes, run, distances=measure == "spelling"), "when": {"order": name}}
            for name, codes in ((CLUSTERED, clustered), (GIVEN, given))
        ]
        size = {"size": 11 if len(given) > 12 else 12}
        axis = {"showgrid": False, "type": "category", "dtick": 1, "tickfont": size}
        layout = {
            "xaxis": {**axis, "tickangle": -90 if len(given) > 8 else 0},
            "yaxis": {**axis, "autorange": "reversed"},
        }
        table = matrix_table(f"heat-{measure}", title, caption, readings, clustered, run)
        figures.append(Figure(f"heat-{measure}", title, caption, tuple(traces), layout, table, size="square"))
    return figures


def _heat(readings: Mapping[Pair, Reading], codes: Sequence[str], run: Run, *, distances: bool) -> dict[str, Any]:
    cells = [[_cell(readings, row, column) for column in codes] for row in codes]
    trace = {
        "type": "heatmap",
        "z": [[None if cell is None else short(cell.value) for cell in line] for line in cells],
        "x": [label(code) for code in codes],
        "y": [label(language_name(code, run.about)) for code in codes],
        "records": [[refs(cell) for cell in line] for line in cells],
        "hover": "%{y} → %{x}",
        "colorscale": "Cividis",
        "zmin": 0,  # Stretched to its own range, a map of equals would look like one of groups.
        "zmax": 1,
        "reversescale": distances,
        "xgap": 1,
        "ygap": 1,
        "colorbar": {"thickness": 10, "outlinewidth": 0, "len": 0.9, "nticks": 5, "tickfont": {"size": 11}},
    }
    return {**trace, "texttemplate": "%{z:.2f}"} if len(codes) <= 9 else trace


def matrix_table(
    name: str, title: str, caption: str, readings: Mapping[Pair, Reading], codes: Sequence[str], run: Run
) -> Table:
    """A heat map's numbers: a row a language, a column a language."""
    cells = [[_cell(readings, row, column) for column in codes] for row in codes]
    rows = tuple(
        (language_name(code, run.about), *(None if cell is None else cell.value for cell in line))
        for code, line in zip(codes, cells, strict=True)
    )
    records = tuple((None, *(refs(cell) for cell in line)) for line in cells)
    return Table(name, title, caption, ("language", *(visible(code) for code in codes)), rows, records)


def _cell(readings: Mapping[Pair, Reading], row: str, column: str) -> Reading | None:
    return None if row == column else readings.get((row, column)) or readings.get((column, row))


def cluster_order(readings: Mapping[Pair, Reading], *, distances: bool = False) -> list[str]:
    """Languages so that close ones stand together: leaves of an average-linkage tree, optimally turned.

    Similarities become distances by 1 - s; a pair that was not measured takes the largest
    distance seen (Bar-Joseph et al. 2001 for the order of leaves).

    >>> cluster_order({("a", "c"): Reading(0.9), ("a", "b"): Reading(0.1), ("b", "c"): Reading(0.2)})
    ['a', 'c', 'b']
    """
    codes = list(dict.fromkeys(code for pair in readings for code in pair if code is not None))
    if len(codes) < 3:
        return codes
    matrix: NDArray[np.float64] = np.full((len(codes), len(codes)), np.nan)
    for (row, column), reading in both_ways(readings).items():
        if column is not None:
            i, j = codes.index(row), codes.index(column)
            matrix[i, j] = matrix[j, i] = max(reading.value if distances else 1 - reading.value, 0.0)
    matrix = np.where(np.isnan(matrix), np.nanmax(matrix), matrix)
    np.fill_diagonal(matrix, 0.0)
    flat = squareform(matrix, checks=False)
    order = [codes[leaf] for leaf in leaves_list(optimal_leaf_ordering(linkage(flat, "average"), flat))]
    return order if codes.index(order[0]) < codes.index(order[-1]) else order[::-1]


def distance_histograms(run: Run, found: Readings) -> tuple[list[Choice], Figure] | None:
    """Related and unrelated distances of the pair and layer chosen; None when there are none.

    Past what fits the page only the first, best and last layer are kept, then only as many pairs as fit.
    """
    for variant, distance in (("auc/cosine", "cosine distance"), ("auc/l2", "Euclidean distance")):
        layers = found.layers("separation", variant)
        entries = [
            (pair, layer, reading)
            for layer in layers
            for pair, reading in found.at("separation", variant, layer).items()
            if len(reading.details.get("edges") or []) > 1
        ]
        if not entries:
            continue
        if sum(2 * len(reading.details["related"]) for *_, reading in entries) > HISTOGRAM_NUMBERS:
            kept = {layers[0], found.best_layer(), layers[-1]}
            entries = [entry for entry in entries if entry[1] in kept]
            room = HISTOGRAM_NUMBERS // (2 * len(kept) * max(len(each.details["related"]) for *_, each in entries))
            pairs = set(list(dict.fromkeys(pair for pair, *_ in entries))[:room])
            entries = [entry for entry in entries if entry[0] in pairs]
        return _histogram_figure(run, found, entries, distance)
    return None


def _histogram_figure(
    run: Run, found: Readings, entries: Sequence[tuple[Pair, int, Reading]], distance: str
) -> tuple[list[Choice], Figure]:
    pairs = {
        "\t".join(map(str, pair)): "–".join(language_name(code, run.about) for code in pair if code)
        for pair, *_ in entries
    }
    layers = list(dict.fromkeys(layer for _, layer, _ in entries))
    traces: list[Trace] = []
    for pair, layer, reading in entries:
        when = {"pair": "\t".join(map(str, pair)), "layer": str(layer)}
        traces += [{**trace, "when": when} for trace in hills(reading)]
    choices = [
        Choice("pair", "Pair", tuple(pairs.items()), next(iter(pairs))),
        Choice("layer", "Layer", tuple((str(layer), str(layer)) for layer in layers),
               str(found.best_layer() if found.best_layer() in layers else layers[-1])),
    ]  # fmt: skip
    caption = "AUC: how probably a related pair is closer than an unrelated one; 0.50 is a coin toss."
    table = Table("distances", "Distances", caption, ("pair", "layer", "AUC", "low", "high", "n"),
                  tuple((pairs["\t".join(map(str, pair))], layer, each.value, each.low, each.high, each.n)
                        for pair, layer, each in entries),
                  tuple((None, None, refs(each), None, None, None) for *_, each in entries))  # fmt: skip
    return choices, Figure(
        "distances", "Distances of words", caption, tuple(traces), hill_layout(distance), table, "wide"
    )


def hills(reading: Reading) -> list[Trace]:
    """The two histograms of a reading of `separation`, as shares of its pairs: related, then unrelated."""
    edges, auc = reading.details["edges"], f"AUC {reading.value:.2f}"
    step = (edges[-1] - edges[0]) / (len(edges) - 1)
    traces: list[Trace] = []
    for kind, ink, dash in (("related", "@one", "solid"), ("unrelated", "@two", "dash")):
        counts = reading.details[kind]
        total = sum(counts) or 1
        shares = [short(count / total) for count in counts]
        traces.append(
            {"type": "scatter", "mode": "lines", "x0": edges[0] + step / 2, "dx": step, "y": shares, "fill": "tozeroy",
             "name": f"{kind} ({auc})" if kind == "related" else kind, "fillcolor": faded(ink, 0.22),
             "line": {"shape": "hvh", "color": ink, "width": 2, "dash": dash},
             "hover": f"{kind}: %{{y:.1%}} at %{{x:.2f}}<br>{auc}", "records": [refs(reading)] * len(counts)}
        )  # fmt: skip
    return traces


def hill_layout(distance: str) -> dict[str, Any]:
    """Axes of histograms of distances."""
    share = {"tickformat": ".0%", "nticks": 4, "rangemode": "tozero", "title": {"text": "share of word pairs"}}
    return {"showlegend": True, "xaxis": {"title": {"text": distance}, "showgrid": False}, "yaxis": share}
