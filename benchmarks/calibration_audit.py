"""Rows of `benchmarks.calibration`: retrieval's intervals with and without hubs, and correlations over languages."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import torch

from benchmarks.calibration import Row
from interlingua.encoder import Encoder
from interlingua.measures.cka import cka
from interlingua.measures.retrieval import gain, interval_of_ranks, retrieval, variance_of_hubs
from interlingua.readers import read_corpus
from interlingua.record import Estimate
from interlingua.report.kit.evidence import is_above_null
from interlingua.score import Scores
from interlingua.stats import correlate, paired_difference

TRUTH_DRAWS = 400
LAYERS = {"no hubs": (0.0, 0.0, 0.0), "hubs": (0.05, 1.0, 0.0), "strong hubs": (0.1, 1.0, -0.5)}
"""The share of candidates that are hubs, how many standard deviations nearer they are to every query, and how much
nearer translations are."""


def _pair(draw: np.random.Generator, *, n: int, spread: float, offset: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Sentences that share a meaning, with lengths that differ and an offset for each language: hubs by cosine."""
    meaning, sides = draw.normal(size=(n, 24)), []
    for sign in (1, -1):
        lengths = np.exp(spread * draw.normal(size=(n, 1)))
        side = (meaning + draw.normal(size=(n, 24))) * lengths
        side[:, 0] += offset
        side[:, 1] += 0.2 * sign * offset
        sides.append(torch.from_numpy(side).float())
    return sides[0], sides[1]


def _score(draw: np.random.Generator, variant: str, spread: float, offset: float) -> tuple[float, float, float]:
    found = retrieval(*_pair(draw, n=200, spread=spread, offset=offset), ks=(1,), similarities=("cosine",),
                      centre=(variant.endswith("centred"),))[variant]  # fmt: skip
    assert found.low is not None
    assert found.high is not None
    return found.value, found.low, found.high


@cache
def _truth(variant: str, spread: float, offset: float) -> float:
    """The mean over many draws: what P@1 among 200 candidates is in this world."""
    draw = np.random.default_rng(0)
    return float(np.mean([_score(draw, variant, spread, offset)[0] for _ in range(TRUTH_DRAWS)]))


def _covered(variant: str, spread: float, offset: float, draw: np.random.Generator) -> bool:
    _, low, high = _score(draw, variant, spread, offset)
    return low <= _truth(variant, spread, offset) <= high


def _matrix(draw: np.random.Generator, share: float, lift: float, easier: float) -> tuple[float, float, float]:
    """P@1 and its interval where hubs are nearer to every query, each query for itself."""
    n = 200
    table = draw.normal(size=(n, n))
    hubs = draw.random(n) < share
    table[:, hubs] += lift * np.exp(0.3 * draw.normal(size=int(hubs.sum())))
    np.fill_diagonal(table, 3.5 + easier + draw.normal(size=n))
    ahead = table >= np.diagonal(table)[:, None]
    np.fill_diagonal(ahead, False)
    rank = 1 + ahead.sum(axis=1)
    hits, costs = (rank == 1).astype(np.float64), ahead[rank == 2].sum(axis=0).astype(np.float64)
    return float(hits.mean()), *interval_of_ranks(hits, costs, float(costs.sum()), share=True)


@cache
def _matrix_truth(world: tuple[float, float, float]) -> float:
    draw = np.random.default_rng(0)
    return float(np.mean([_matrix(draw, *world)[0] for _ in range(2 * TRUTH_DRAWS)]))


def _covered_matrix(world: tuple[float, float, float], draw: np.random.Generator) -> bool:
    _, low, high = _matrix(draw, *world)
    return low <= _matrix_truth(world) <= high


def _two_matrices(draw: np.random.Generator, first: str, second: str, shared: float) -> tuple[float, float, float]:
    """The difference of P@1 of two models of the same sentences, each with hubs of its own, and its interval."""
    n, scores = 200, []
    common = draw.normal(size=(n, n))
    for share, lift, easier in (LAYERS[first], LAYERS[second]):
        table = np.sqrt(shared) * common + np.sqrt(1 - shared) * draw.normal(size=(n, n))
        own = np.diagonal(table).copy()
        hubs = draw.random(n) < share
        table[:, hubs] += lift * np.exp(0.3 * draw.normal(size=int(hubs.sum())))
        ahead = table >= (3.5 + easier + own)[:, None]
        np.fill_diagonal(ahead, False)
        rank = 1 + ahead.sum(axis=1)
        hits, costs = (rank == 1).astype(np.float64), ahead[rank == 2].sum(axis=0).astype(np.float64)
        scores.append((hits, variance_of_hubs(hits, costs, float(costs.sum()), share=True)))
    (before, some), (after, more) = scores
    mean, low, high, _ = paired_difference(after - before, [each for each in (some, more) if each[0] > 0])
    return mean, low, high


@cache
def _two_truths(*world: str | float) -> float:
    draw = np.random.default_rng(0)
    return float(np.mean([_two_matrices(draw, *world)[0] for _ in range(TRUTH_DRAWS)]))  # type: ignore[arg-type]


def _covered_difference(world: tuple[str, str, float], draw: np.random.Generator) -> bool:
    _, low, high = _two_matrices(draw, *world)
    return low <= _two_truths(*world) <= high


def _called_above_chance(draw: np.random.Generator) -> bool:
    """Sentences that have nothing to do with each other, with hubs, are called better than chance."""
    x, _ = _pair(draw, n=200, spread=0.5, offset=3.0)
    _, y = _pair(draw, n=200, spread=0.5, offset=3.0)
    found = retrieval(x, y, ks=(1,), similarities=("cosine",), centre=(False,))["p@1/cosine/raw"]
    estimate = Estimate(value=found.value, null_value=found.null, ci_low=found.low, ci_high=found.high, n=found.n)
    return is_above_null(estimate)


SAMPLE = 150
"""How many of the sampler's 600 sentences a study of a real model reads."""


@cache
def _population(language: str) -> tuple[np.ndarray, ...]:
    """The embedded encoder's layers of all sentences of the sampler."""
    encoder = Encoder.load("embedded")
    texts = read_corpus("sampler", languages=["en", "ru"]).column(language)
    found = encoder.reading(language).encode(list(texts))
    return tuple(np.asarray(found[layer], np.float32) for layer in found.layers)


def _real(what: str, layer: int, draw: np.random.Generator) -> tuple[float, float, float]:
    """A number of a study of a real model at a layer, and its interval; `other` is how much layer 5 is above it."""
    rows = draw.choice(len(_population("en")[0]), SAMPLE, replace=False)

    def sides(at: int) -> list[torch.Tensor]:
        return [torch.from_numpy(_population(language)[at][rows]) for language in ("en", "ru")]

    def found(at: int, *centre: bool) -> Scores:
        return retrieval(*sides(at), ks=(1,), similarities=("cosine",), centre=centre)

    if what == "centring":
        mean, low, high = found(layer, False, True)["p@1/cosine/centred"].details["above_raw"]
        return mean, low, high
    if what == "other":
        mean, low, high = gain(*(found(at, False)["p@1/cosine/raw"] for at in (5, layer)))
        return mean, low, high
    scores = cka(*sides(layer), forms=("debiased",)) if what == "debiased" else found(layer, what.endswith("centred"))
    score = scores[what]
    assert score.low is not None
    assert score.high is not None
    return score.value, score.low, score.high


@cache
def _real_truth(what: str, layer: int) -> float:
    draw = np.random.default_rng(0)
    return float(np.mean([_real(what, layer, draw)[0] for _ in range(TRUTH_DRAWS // 4)]))


def _covered_real(what: str, layer: int, draw: np.random.Generator) -> bool:
    """Whether the interval would hold the truth of a population without end.

    A quarter of 600 sentences is read, so what it gives is nearer to what all give than it would be to a larger
    population: by sqrt(1 - 150/600), which is taken off (Cochran 1977, Eq. 2.20).
    """
    value, low, high = _real(what, layer, draw)
    apart = (_real_truth(what, layer) - value) / np.sqrt(1 - SAMPLE / len(_population("en")[0]))
    return low <= value + apart <= high


def _unrelated(n: int, draw: np.random.Generator) -> bool:
    x, y = draw.normal(size=(2, n))
    found = correlate(x, y, seed=int(draw.integers(2**31)))
    return found is not None and found.p < 0.05


def _related(n: int, r: float, draw: np.random.Generator) -> bool:
    x, noise = draw.normal(size=(2, n))
    found = correlate(x, r * x + np.sqrt(1 - r * r) * noise, seed=int(draw.integers(2**31)))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return found.low <= 6 / np.pi * np.arcsin(r / 2) <= found.high  # Spearman's of normal variables


def _unrelated_pairs(draw: np.random.Generator) -> bool:
    """Cells that share languages: each has a way of its own in all its pairs."""
    names = "abcdefgh"
    pairs = [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
    sides = []
    for _ in range(2):
        own = dict(zip(names, draw.normal(size=len(names)), strict=True))
        sides.append([own[a] + own[b] + 0.5 * draw.normal() for a, b in pairs])
    found = correlate(*sides, languages=pairs, seed=int(draw.integers(2**31)))
    return found is not None and found.p < 0.05


ROWS = [
    *(
        Row(f"P@1 among 200, {name} (queries and candidates)", "coverage", partial(_covered_matrix, world), times=1000,
            before=before)
        for (name, world), before in zip(LAYERS.items(), ("0.95", "0.86", "0.83"), strict=True)
    ),
    *(
        Row(f"P@1 among 200, {space}, {name}", "coverage", partial(_covered, f"p@1/cosine/{space}", spread, offset),
            times=400, before="0.95")
        for space in ("raw", "centred")
        for name, spread, offset in (("vectors of one length", 0.0, 0.0), ("vectors of many lengths", 0.5, 3.0))
    ),
    *(
        Row(f"difference of two models’ P@1 among 200, {first}, {second}", "coverage",
            partial(_covered_difference, (first, second, shared)), times=600, before=before)
        for first, second, shared, before in (
            ("no hubs", "no hubs", 0.7, "0.94"), ("strong hubs", "no hubs", 0.0, "0.91"),
            ("strong hubs", "strong hubs", 0.7, "0.83"), ("strong hubs", "hubs", 0.7, "0.84"),
        )
    ),
    Row("P@1 of unrelated sentences called above chance", "error", _called_above_chance, times=400, nominal=0.025),
    *(
        Row(f"{title}, embedded encoder en–ru, layer {layer}", "coverage", partial(_covered_real, what, layer),
            times=900 if what == "centring" else 300)
        for what, title, layers in (
            ("p@1/cosine/raw", "P@1 as is", (0, 3, 5, 8)), ("p@1/cosine/centred", "P@1 without means", (0, 3, 5, 8)),
            ("centring", "what centring adds", (0, 5, 8)), ("other", "P@1 of layer 5 less this one’s", (0, 8)),
            ("debiased", "CKA", (5,)),
        )
        for layer in layers
    ),
    *(Row(f"rho over {n} languages, unrelated", "error", partial(_unrelated, n), times=1000) for n in (5, 6, 10, 17)),
    *(
        Row(f"rho over {n} languages, Pearson's r {r:g}", "coverage", partial(_related, n, r), times=1000)
        for n in (5, 6, 10, 17)
        for r in (0.0, 0.8)
    ),
    Row("rho over pairs of 8 languages, unrelated (Mantel)", "error", _unrelated_pairs, times=400),
]  # fmt: skip
