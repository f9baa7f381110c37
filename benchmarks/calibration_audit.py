"""Rows of `benchmarks.calibration`: retrieval's intervals with and without hubs, and correlations over languages."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import torch

from benchmarks.calibration import Row
from interlingua.measures.retrieval import interval_of_ranks, retrieval
from interlingua.stats import correlate

TRUTH_DRAWS = 800
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
        Row(f"P@1 among 200, {name} (queries and candidates)", "coverage", partial(_covered_matrix, world), times=1500,
            before=before)
        for (name, world), before in zip(LAYERS.items(), ("0.95", "0.86", "0.83"), strict=True)
    ),
    *(
        Row(f"P@1 among 200, {space}, {name}", "coverage", partial(_covered, f"p@1/cosine/{space}", spread, offset),
            times=600)
        for space in ("raw", "centred")
        for name, spread, offset in (("vectors of one length", 0.0, 0.0), ("vectors of many lengths", 0.5, 3.0))
    ),
    *(Row(f"rho over {n} languages, unrelated", "error", partial(_unrelated, n), times=1000) for n in (6, 10, 17)),
    *(
        Row(f"rho over {n} languages, Pearson's r {r:g}", "coverage", partial(_related, n, r), times=1000)
        for n in (6, 10, 17)
        for r in (0.0, 0.8)
    ),
    Row("rho over pairs of 8 languages, unrelated (Mantel)", "error", _unrelated_pairs, times=400),
]  # fmt: skip
