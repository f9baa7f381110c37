"""Two readings side by side at every layer: similarity, what each word adds to it, links, and what flows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.explorer.encoded_text import ModelReading
from interlingua.registry import unknown
from interlingua.transport import Flow, TransportProblem, exact, weights_of
from interlingua.wordalign.neural import NeuralSettings, link_batch

Floats = NDArray[np.float64]
WEIGHINGS = ("attribution", "even")
LINKINGS = ("argmax", "itermax")


@dataclass(frozen=True)
class LayerComparison:
    """Two sentences at one layer.

    `cosine` is that of the sentences by the model's own pooling. `source` and `target` are what each word adds to
    `explained`, the cosine of the means over tokens; `rest` is what tokens of no word add to it, a side. `links` are
    (source word, target word) and `similar` the cosines of all words; `flow` is None where nothing can be weighed.
    """

    cosine: float
    explained: float
    source: Floats
    target: Floats
    rest: tuple[float, float]
    similar: Floats
    links: list[tuple[int, int]]
    flow: Flow | None


def compare(
    source: ModelReading, target: ModelReading, centres: tuple[Floats, Floats], *, weighing: str, linking: str
) -> list[LayerComparison]:
    """Both readings at every layer, less `centres` (layer, dim) of each side's language (zeros to leave them as is).

    Weights of words in transport are the sizes of what they add to the cosine (`attribution`), or all the same
    (`even`). Links are SimAlign's `argmax` or `itermax` over the words' cosines.
    """
    if weighing not in WEIGHINGS:
        raise unknown("weighing of words", weighing, list(WEIGHINGS))
    if linking not in LINKINGS:
        raise unknown("way to link words", linking, list(LINKINGS))
    return [
        _level((source, target), (centres[0][layer], centres[1][layer]), layer, weighing, linking)
        for layer in range(len(source.vectors))
    ]


def _level(
    sides: tuple[ModelReading, ModelReading], centres: tuple[Floats, Floats], layer: int, weighing: str, linking: str
) -> LayerComparison:
    ours, theirs = sides
    words = [
        np.where(side.seen[:, None], side.vectors[layer] - centre, 0.0)
        for side, centre in zip(sides, centres, strict=True)
    ]
    rests = [side.rest[layer] - (1.0 - side.shares.sum()) * centre for side, centre in zip(sides, centres, strict=True)]
    explained, (source, target), rest = contributions_to_cosine(words, [ours.shares, theirs.shares], rests)
    units = [unit_rows(side) for side in words]
    similar = np.clip(units[0] @ units[1].T, -1.0, 1.0)
    weights = [
        weights_of(values if weighing == "attribution" else side.seen.astype(np.float64), "absolute")
        for side, values in zip(sides, (source, target), strict=True)
    ]
    flow = None
    if weights[0] is not None and weights[1] is not None:
        (flow,) = exact([TransportProblem.of(similar, weights[0], weights[1])])
    sentences = [unit_rows((side.sentence[layer] - c)[None])[0] for side, c in zip(sides, centres, strict=True)]
    return LayerComparison(
        float(np.clip(sentences[0] @ sentences[1], -1.0, 1.0)),
        explained,
        source,
        target,
        rest,
        similar,
        _links(words, sides, linking),
        flow,
    )


def contributions_to_cosine(
    words: list[Floats], shares: list[Floats], rests: list[Floats]
) -> tuple[float, tuple[Floats, Floats], tuple[float, float]]:
    """The cosine of two means over tokens, what each word of both sides adds to it, and what the rest of each adds.

    A mean is s = sum_i p_i w_i + r, with p_i a word's share of the tokens, so that for either side
    cos(s, t) = sum_i p_i w_i·t / (|s||t|) + r·t / (|s||t|): exact, and no gradient is asked for. It says of the words'
    vectors at this layer, in context, which of them draw the sentences together, and not of the words typed: Moeller et
    al. (2023) carry such a sum back to the input by integrated Jacobians, which costs a pass for each dimension.

    >>> words = [np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0]])]
    >>> shares, rests = [np.array([0.5, 0.5]), np.array([1.0])], [np.zeros(2), np.zeros(2)]
    >>> cosine, (source, _), _ = contributions_to_cosine(words, shares, rests)
    >>> round(cosine, 4), source.round(4).tolist()
    (0.7071, [0.7071, 0.0])
    """
    means = [share @ side + rest for side, share, rest in zip(words, shares, rests, strict=True)]
    scale = float(np.linalg.norm(means[0]) * np.linalg.norm(means[1])) or 1.0
    source, target = (shares[k] * (words[k] @ means[1 - k]) / scale for k in (0, 1))
    rest = (float(rests[0] @ means[1]) / scale, float(rests[1] @ means[0]) / scale)
    return float(means[0] @ means[1]) / scale, (source, target), rest


def unit_rows(vectors: Floats) -> Floats:
    """The rows at length 1; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return scaled


def _links(words: list[Floats], sides: tuple[ModelReading, ModelReading], linking: str) -> list[tuple[int, int]]:
    vectors = [torch.from_numpy(side)[None] for side in words]
    masks = [torch.from_numpy(side.seen)[None] for side in sides]
    found = link_batch(vectors[0], vectors[1], masks[0], masks[1], NeuralSettings(method=linking))
    return [(int(i), int(j)) for _, i, j in found.nonzero()]
