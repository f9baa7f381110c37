"""Records to figures: plain dictionaries that plotly.js draws. Colours of text and grid are the page's business."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from interlingua.report.readings import Pair, Reading, Readings, both_ways, mean
from interlingua.report.wording import language_name, measure_name, variant_name, visible

Figure = dict[str, Any]

PANELS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    (
        "retrieval",
        ("p@1/cosine/centred", "p@1/cosine/raw"),
        "Translation retrieval",
        "Share of sentences whose nearest neighbour in the other language is their translation.",
    ),
    (
        "cka",
        ("debiased",),
        "Similarity of the spaces",
        "Debiased linear CKA: 1 when two languages’ spaces are the same up to rotation and scale, 0 without relation.",
    ),
    (
        "procrustes",
        ("p@1/mapped", "p@1/identity"),
        "Orthogonal map, sentences",
        "Retrieval of held-out translations after a rotation fitted on other sentences, and without one; by default "
        "for pairs with the first language.",
    ),
    (
        "procrustes-words",
        ("p@1/mapped", "p@1/identity"),
        "Orthogonal map, words",
        "The same for words in context, linked by a word aligner.",
    ),
    (
        "separation",
        ("auc/cosine", "auc/l2"),
        "Related against unrelated words",
        "Probability that a word lies closer to its translation than to an unrelated word; 0.5 is a coin toss.",
    ),
    (
        "isotropy",
        ("average-cosine",),
        "Crowding of the space",
        "Mean cosine of two unrelated words of one language: near 1, all vectors point the same way.",
    ),
    (
        "isotropy",
        ("isoscore",),
        "Evenness of the space",
        "IsoScore: 1 when all directions are used alike. Dotted: what perfectly even data of this size reads.",
    ),
)

MAPS = (
    (
        "retrieval",
        "p@1/cosine/centred",
        "Retrieval",
        "Share of the row’s sentences that find their translation in the column’s language.",
    ),
    ("cka", "debiased", "CKA, debiased", "How alike the two languages’ spaces are, whatever their rotation."),
    (
        "spelling",
        "tnld",
        "Spelling of names (TNLD)",
        "Edit distance of romanised names, 0 alike to 1 nothing in common.",
    ),
    (
        "tokenization",
        "overlap",
        "Shared vocabulary",
        "Share of token types that the tokenizer uses for both languages.",
    ),
)

CURVE_NUMBERS, HISTOGRAM_NUMBERS = 30_000, 40_000
"""How much of each is put in the page, so that it stays under 2.5 MB of which plotly.js is 1.5."""


def layer_curves(found: Readings) -> list[Figure]:
    """One figure a measure: the mean over pairs by layer, its null dotted, and each pair's values to choose from.

    Measures that are not ours get a figure of their own with their first two variants. A
    measure with a single layer has no curve and is left out.
    """
    known = {measure for measure, *_ in PANELS}
    others = tuple(
        (measure, tuple(found.variants(measure)[:2]), measure_name(measure), "")
        for measure in found.measures()
        if measure not in known
    )
    figures = []
    for measure, variants, title, caption in (*PANELS, *others):
        lines = [_line(found, measure, variant) for variant in variants if len(found.layers(measure, variant)) > 1]
        if lines:
            name = f"curve-{measure}-{variants[0].split('/')[0]}".replace("@", "")
            figures.append({"name": name, "title": title, "caption": caption, "lines": lines})
    _fit(figures)
    return figures


def _fit(figures: Sequence[Figure]) -> None:
    """Keep what fits the page of each line's choices: past it no intervals, past that one a language, not a pair."""
    lines = [line for figure in figures for line in figure["lines"]]
    size = sum(len(line["layers"]) * len(line["pairs"]) for line in lines)
    for line in lines if 3 * size > CURVE_NUMBERS else ():
        line["pairs"] = [{key: pair[key] for key in ("source", "target", "value")} for pair in line["pairs"]]
        if size > CURVE_NUMBERS:
            line["pairs"] = [
                {
                    "source": code,
                    "target": None,
                    "value": _middle([p["value"] for p in line["pairs"] if code in _codes(p)]),
                }
                for code in dict.fromkeys(code for pair in line["pairs"] for code in _codes(pair))
            ]


def _codes(pair: Mapping[str, Any]) -> list[str]:
    return [pair[side] for side in ("source", "target") if pair[side] is not None]


def _middle(curves: Sequence[Sequence[float | None]]) -> list[float | None]:
    columns = ([value for value in column if value is not None] for column in zip(*curves, strict=True))
    return [short(sum(column) / len(column)) if column else None for column in columns]


def _line(found: Readings, measure: str, variant: str) -> dict[str, Any]:
    layers = found.layers(measure, variant)
    by_layer = [both_ways(found.at(measure, variant, layer)) for layer in layers]
    means = [mean(readings.values()) for readings in by_layer]
    pairs = list(dict.fromkeys(pair for readings in by_layer for pair in readings))
    return {
        "name": variant_name(measure, variant),
        "layers": layers,
        **_numbers(means),
        "null": _null([reading.null for reading in means]),
        "pairs": [
            {"source": pair[0], "target": pair[1], **_numbers([readings.get(pair) for readings in by_layer])}
            for pair in pairs
        ],
    }


def _numbers(readings: Sequence[Reading | None]) -> dict[str, list[float | None]]:
    return {
        key: [None if reading is None else short(getattr(reading, key)) for reading in readings]
        for key in ("value", "low", "high")
    }


def _null(values: Sequence[float | None]) -> list[float | None] | None:
    return [short(value) for value in values] if any(value is not None for value in values) else None


def heat_maps(found: Readings, run: Mapping[str, Any]) -> list[Figure]:
    """Language by language at the best layer, one figure a measure, all in one order; nothing for two languages.

    The order is that of the leaves of an average-linkage clustering of the first measure
    there is, so that languages which the model holds close stand together (families, often).
    """
    layer = found.best_layer()
    figures: list[Figure] = []
    order: list[str] = []
    for measure, variant, title, caption in MAPS:
        readings = found.at(measure, variant, layer) or found.at(measure, variant.replace("centred", "raw"), layer)
        if len({code for pair in readings for code in pair}) < 3:
            continue
        order = order or cluster_order(readings, distances=measure == "spelling")
        codes = [code for code in order if any(code in pair for pair in readings)]
        codes += sorted({code for pair in readings for code in pair if code is not None} - set(codes))
        cells = [[_cell(readings, row, column) for column in codes] for row in codes]
        names = [language_name(code, run) for code in codes]
        trace = {
            "type": "heatmap",
            "z": cells,
            "x": [visible(code) for code in codes],
            "y": names,
            "customdata": [[f"{row} → {column}" for column in names] for row in names],
            "colorscale": "Cividis",
            "reversescale": measure == "spelling",
            "xgap": 1,
            "ygap": 1,
            "hovertemplate": "%{customdata}: %{z:.3f}<extra></extra>",
            "colorbar": {"thickness": 10, "outlinewidth": 0, "len": 0.9, "nticks": 5},
        }
        if len(codes) <= 9:
            trace["texttemplate"] = "%{z:.2f}"
        figures.append(
            {"name": f"heat-{measure}", "title": title, "caption": caption, "size": len(codes), "data": [trace]}
        )
    return figures


def _cell(readings: Mapping[Pair, Reading], row: str, column: str) -> float | None:
    reading = None if row == column else readings.get((row, column)) or readings.get((column, row))
    return None if reading is None else short(reading.value)


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


def distance_histograms(found: Readings) -> Figure | None:
    """Counts of related and unrelated distances for each pair and layer; None when there are none.

    Past what fits the page only the first, best and last layer are kept, then only as many pairs as fit.
    """
    for variant in ("auc/cosine", "auc/l2"):
        layers = found.layers("separation", variant)
        entries = list(_histograms(found, variant, layers))
        if not entries:
            continue
        if sum(len(entry["related"]) * 2 for entry in entries) > HISTOGRAM_NUMBERS:
            kept = {layers[0], found.best_layer(), layers[-1]}
            entries = [entry for entry in entries if entry["layer"] in kept]
            room = HISTOGRAM_NUMBERS // (2 * len(kept) * max(len(entry["related"]) for entry in entries))
            pairs = set(list(dict.fromkeys((entry["source"], entry["target"]) for entry in entries))[:room])
            entries = [entry for entry in entries if (entry["source"], entry["target"]) in pairs]
        return {"distance": "Cosine distance" if variant == "auc/cosine" else "Euclidean distance", "entries": entries}
    return None


def _histograms(found: Readings, variant: str, layers: Iterable[int]) -> Iterable[dict[str, Any]]:
    for layer in layers:
        for pair, reading in found.at("separation", variant, layer).items():
            edges = reading.details.get("edges") or []
            if len(edges) > 1:
                yield {
                    "source": pair[0],
                    "target": pair[1],
                    "layer": layer,
                    "auc": short(reading.value),
                    "start": short(edges[0]),
                    "end": short(edges[-1]),
                    "related": [short(count) for count in reading.details["related"]],
                    "unrelated": [short(count) for count in reading.details["unrelated"]],
                }


def short(value: float | None) -> float | None:
    """The number to four decimals (what a screen can show), whole numbers as such; None unless finite.

    >>> short(0.123456), short(2.0), short(None), short(float("inf"))
    (0.1235, 2, None, None)
    """
    if value is None or not np.isfinite(value):
        return None
    rounded = round(float(value), 4)
    return int(rounded) if rounded.is_integer() else rounded
