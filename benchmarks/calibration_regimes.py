"""Rows of `benchmarks.calibration`: two regimes of several seeds, by accuracy, mean reciprocal rank and F1.

A latent normal value of every example, shared by all models (SHARED), by the seeds of a regime (OWN) and by none,
decides which answers are right; each seed adds a shift of its own, with the deviation that docs/findings has for NER
(F1 of tagged words: median 1.3 points, 0.6 to 4.4) and XSR (MRR: 2.3), and 1.7 for accuracy. Regimes have the same
expectation. `before` is what the tests of commit e6cb9bf (paired t, permutation of F1) give in the same worlds:

    python -m benchmarks.calibration_regimes                 # prints BEFORE anew
    python -m benchmarks.calibration_regimes --candidates    # the tests that `seed_difference` was chosen from
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.calibration import Row
from interlingua.stats import (
    detectable_over_seeds,
    f1_influence,
    f1_permutation_test,
    holm,
    paired_t_test,
    seed_difference,
)

SHARED, OWN = 0.6, 0.1
SHARES = {"accuracy": 0.65, "MRR": 0.3, "F1": 0.63}
_WORDS = 3

BEFORE = {
    "accuracy, 1 seeds, 500 examples, deviation 1.7 points": "0.17",
    "accuracy, 1 seeds, 1,000 examples, deviation 1.7 points": "0.28",
    "accuracy, 1 seeds, 5,000 examples, deviation 1.7 points": "0.56",
    "accuracy, 3 seeds, 500 examples, deviation 1.7 points": "0.16",
    "accuracy, 3 seeds, 1,000 examples, deviation 1.7 points": "0.24",
    "accuracy, 3 seeds, 5,000 examples, deviation 1.7 points": "0.51",
    "accuracy, 5 seeds, 500 examples, deviation 1.7 points": "0.13",
    "accuracy, 5 seeds, 1,000 examples, deviation 1.7 points": "0.17",
    "accuracy, 5 seeds, 5,000 examples, deviation 1.7 points": "0.52",
    "accuracy, 10 seeds, 500 examples, deviation 1.7 points": "0.11",
    "accuracy, 10 seeds, 1,000 examples, deviation 1.7 points": "0.15",
    "accuracy, 10 seeds, 5,000 examples, deviation 1.7 points": "0.43",
    "MRR, 1 seeds, 500 examples, deviation 2.3 points": "0.48",
    "MRR, 1 seeds, 1,000 examples, deviation 2.3 points": "0.58",
    "MRR, 1 seeds, 5,000 examples, deviation 2.3 points": "0.80",
    "MRR, 3 seeds, 500 examples, deviation 2.3 points": "0.40",
    "MRR, 3 seeds, 1,000 examples, deviation 2.3 points": "0.53",
    "MRR, 3 seeds, 5,000 examples, deviation 2.3 points": "0.77",
    "MRR, 5 seeds, 500 examples, deviation 2.3 points": "0.36",
    "MRR, 5 seeds, 1,000 examples, deviation 2.3 points": "0.47",
    "MRR, 5 seeds, 5,000 examples, deviation 2.3 points": "0.75",
    "MRR, 10 seeds, 500 examples, deviation 2.3 points": "0.29",
    "MRR, 10 seeds, 1,000 examples, deviation 2.3 points": "0.44",
    "MRR, 10 seeds, 5,000 examples, deviation 2.3 points": "0.67",
    "F1, 1 seeds, 500 examples, deviation 1.3 points": "0.16",
    "F1, 1 seeds, 1,000 examples, deviation 1.3 points": "0.24",
    "F1, 1 seeds, 5,000 examples, deviation 1.3 points": "0.57",
    "F1, 3 seeds, 500 examples, deviation 1.3 points": "0.15",
    "F1, 3 seeds, 1,000 examples, deviation 1.3 points": "0.23",
    "F1, 3 seeds, 5,000 examples, deviation 1.3 points": "0.52",
    "F1, 5 seeds, 500 examples, deviation 1.3 points": "0.13",
    "F1, 5 seeds, 1,000 examples, deviation 1.3 points": "0.20",
    "F1, 5 seeds, 5,000 examples, deviation 1.3 points": "0.47",
    "F1, 10 seeds, 500 examples, deviation 1.3 points": "0.12",
    "F1, 10 seeds, 1,000 examples, deviation 1.3 points": "0.19",
    "F1, 10 seeds, 5,000 examples, deviation 1.3 points": "0.39",
    "F1, 2 seeds, 1,000 examples, deviation 0.6 and 4.4 points": "0.56",
    "F1, 3 seeds, 1,000 examples, deviation 0.6 and 4.4 points": "0.54",
    "F1, 5 seeds, 1,000 examples, deviation 0.6 and 4.4 points": "0.48",
    "accuracy, 2 seeds, 500 examples, deviation 0 points": "0.06",
    "accuracy, 2 seeds, 5,000 examples, deviation 0 points": "0.06",
    "accuracy, 3 seeds, 500 examples, deviation 0 points": "0.05",
    "accuracy, 3 seeds, 5,000 examples, deviation 0 points": "0.04",
    "accuracy, 5 seeds, 500 examples, deviation 0 points": "0.04",
    "accuracy, 5 seeds, 5,000 examples, deviation 0 points": "0.05",
    "some of 5 tests, 2 regimes called different: accuracy, 3 seeds, 500 examples, deviation 1.7 points": "0.25",
    "some of 5 tests, 2 regimes called different: accuracy, 3 seeds, 1,000 examples, deviation 1.7 points": "0.54",
    "some of 5 tests, 2 regimes called different: accuracy, 3 seeds, 5,000 examples, deviation 1.7 points": "0.97",
    "some of 5 tests, 2 regimes called different: accuracy, 5 seeds, 500 examples, deviation 1.7 points": "0.16",
    "some of 5 tests, 2 regimes called different: accuracy, 5 seeds, 1,000 examples, deviation 1.7 points": "0.36",
    "some of 5 tests, 2 regimes called different: accuracy, 5 seeds, 5,000 examples, deviation 1.7 points": "0.94",
}
"""The share of equal regimes called different by the tests of e6cb9bf, 1,000 simulations (tables 250)."""


@dataclass(frozen=True)
class World:
    """So many seeds and examples, what is scored, and the deviation over seeds of each regime."""

    kind: str
    seeds: int
    n: int
    deviations: tuple[float, float]

    @property
    def name(self) -> str:
        one, other = self.deviations
        spread = f"{100 * one:g}" if one == other else f"{100 * one:g} and {100 * other:g}"
        return f"{self.kind}, {self.seeds} seeds, {self.n:,} examples, deviation {spread} points"


def _latent(draw: np.random.Generator, world: World, shared: NDArray[np.float32]) -> NDArray[np.float32]:
    """(seed, example, …) standard normal values of one regime; `shared` are those of all regimes."""
    own = draw.standard_normal(shared.shape, dtype=np.float32)
    rest = draw.standard_normal((world.seeds, *shared.shape), dtype=np.float32)
    found: NDArray[np.float32] = (
        np.float32(SHARED**0.5) * shared + np.float32(OWN**0.5) * own + np.float32((1 - SHARED - OWN) ** 0.5) * rest
    )
    return found


def _regime(
    draw: np.random.Generator, world: World, shared: NDArray[np.float32], shifts: NDArray[np.float64]
) -> tuple[list[float], list[NDArray[Any]]]:
    """The scores of a regime's seeds and their values per example; `shifts` are what each seed adds to its score."""
    latent = _latent(draw, world, shared)
    if world.kind == "MRR":  # Ranks of 1, 2, … by the latent value; a seed lifts them all.
        ranks = 1 + np.floor(np.exp(latent + 1)).astype(np.float32)
        values = [1 / own + shift for own, shift in zip(ranks, shifts, strict=True)]
        return [float(own.mean()) for own in values], values
    limits = special.ndtri(SHARES[world.kind] + shifts)
    if world.kind == "accuracy":
        hits = [(own < limit).astype(np.float64) for own, limit in zip(latent, limits, strict=True)]
        return [float(own.mean()) for own in hits], hits
    gold = 1 + (np.arange(world.n) % _WORDS)  # Words of entities per sentence.
    there = np.arange(_WORDS) < gold[:, None]
    right = [((own < limit) & there).sum(axis=1) for own, limit in zip(latent, limits, strict=True)]
    noise = draw.integers(-1, 2, (world.seeds, world.n))
    counts = [np.stack([own, np.maximum(own, gold + more), gold]) for own, more in zip(right, noise, strict=True)]
    return [float(2 * own[0].sum() / own[1:].sum()) for own in counts], counts


def _regimes(
    draw: np.random.Generator, world: World, shifts: Sequence[NDArray[np.float64]], apart: float = 0.0
) -> list[tuple[list[float], list[NDArray[Any]]]]:
    shape = (world.n, _WORDS) if world.kind == "F1" else (world.n,)
    shared = draw.standard_normal(shape, dtype=np.float32)
    places = [apart, *[0.0] * (len(shifts) - 1)]
    return [_regime(draw, world, shared, own + place) for own, place in zip(shifts, places, strict=True)]


def _pair(draw: np.random.Generator, world: World, apart: float = 0.0) -> list[tuple[list[float], list[NDArray[Any]]]]:
    return _regimes(draw, world, [draw.normal(0, each, world.seeds) for each in world.deviations], apart)


def _influences(items: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = np.mean([f1_influence(own) if own.ndim == 2 else own for own in items], axis=0)
    return mean


def _p(ours: tuple[list[float], list[NDArray[Any]]], theirs: tuple[list[float], list[NDArray[Any]]]) -> float:
    found = seed_difference(ours[0], theirs[0], _influences(ours[1]) - _influences(theirs[1]))
    return 1.0 if found is None else found.p  # One seed is not tested.


def _p_before(ours: tuple[list[float], list[NDArray[Any]]], theirs: tuple[list[float], list[NDArray[Any]]]) -> float:
    if ours[1][0].ndim == 2:
        return f1_permutation_test(np.sum(ours[1], axis=0), np.sum(theirs[1], axis=0), times=199)
    return paired_t_test(np.mean(ours[1], axis=0), np.mean(theirs[1], axis=0))


def _rejected(world: World, test: Any, draw: np.random.Generator) -> bool:
    return bool(test(*_pair(draw, world)) < 0.05)


def _covered(world: World, draw: np.random.Generator) -> bool:
    ours, theirs = _pair(draw, world, 0.02)
    found = seed_difference(ours[0], theirs[0], _influences(ours[1]) - _influences(theirs[1]))
    assert found is not None
    return found.ci_low <= 0.02 <= found.ci_high


def _found(world: World, draw: np.random.Generator) -> bool:
    """Whether the difference that the plan names is found; the plan knows the deviations that such a run prints."""
    share = SHARES[world.kind]
    rest = share * (1 - share) * 0.3  # About what seeds of a regime disagree on.
    deviation = float(np.sqrt(world.deviations[0] ** 2 + rest / world.n))
    pairs = [_influences(items) for _, items in _pair(draw, world)]
    planned = detectable_over_seeds(
        world.seeds, deviation=deviation, item_deviation=float((pairs[0] - pairs[1]).std(ddof=1)), n=world.n
    )
    assert planned is not None
    return _p(*_pair(draw, world, planned)) < 0.05


TESTS = 5


def _some(world: World, test: Any, draw: np.random.Generator) -> bool:
    """Whether a table of five tests calls some of two regimes helped or hurt after Holm's correction.

    Half of a seed's variance is in all tests alike. All three pairs of regimes are compared, as tables do; counted are
    those with the original.
    """
    parts = np.sqrt(0.5) * world.deviations[0]
    common = draw.normal(0, parts, (3, world.seeds))
    found = []
    for _ in range(TESTS):
        original, adjusted, continual = _regimes(draw, world, common + draw.normal(0, parts, (3, world.seeds)))
        found += [test(adjusted, original), test(continual, original), test(continual, adjusted)]
    return any(p < 0.05 for place, p in enumerate(holm(found)) if place % 3 < 2)


_DEVIATION = {"accuracy": 0.017, "MRR": 0.023, "F1": 0.013}
ERRORS = [
    *(
        World(kind, seeds, n, (deviation, deviation))
        for kind, deviation in _DEVIATION.items()
        for seeds in (1, 3, 5, 10)
        for n in (500, 1000, 5000)
    ),
    *(World("F1", seeds, 1000, (0.006, 0.044)) for seeds in (2, 3, 5)),
    *(World("accuracy", seeds, n, (0.0, 0.0)) for seeds in (2, 3, 5) for n in (500, 5000)),
]
SOME = [World("accuracy", seeds, n, (0.017, 0.017)) for seeds in (3, 5) for n in (500, 1000, 5000)]
_TABLE = f"some of {TESTS} tests, 2 regimes called different: "


def _times(world: World) -> int:
    return 1000 if world.seeds * world.n > 10_000 else 2000


ROWS = [
    *(
        Row(f"equal regimes: {world.name}", "error", partial(_rejected, world, _p), times=_times(world),
            before=BEFORE.get(world.name, ""))
        for world in ERRORS
    ),
    *(
        Row(f"{_TABLE}{world.name}", "error", partial(_some, world, _p), times=_times(world) // 2,
            before=BEFORE.get(f"{_TABLE}{world.name}", ""))
        for world in SOME
    ),
    *(
        Row(f"interval of a difference: {world.name}", "coverage", partial(_covered, world), times=2000)
        for world in (World(kind, seeds, 1000, (each, each)) for kind, each in _DEVIATION.items() for seeds in (3, 5))
    ),
    *(
        Row(f"planned difference: {world.name}", "power", partial(_found, world), times=1000)
        for world in (World("accuracy", seeds, n, (0.017, 0.017)) for seeds in (3, 5, 10) for n in (1000, 5000))
    ),
]  # fmt: skip


def _before() -> None:
    draw, times = np.random.default_rng(0), 1000
    for world in ERRORS:
        share = np.mean([_rejected(world, _p_before, draw) for _ in range(times)])
        print(f'    "{world.name}": "{share:.2f}",', flush=True)
    for world in SOME:
        share = np.mean([_some(world, _p_before, draw) for _ in range(times // 4)])
        print(f'    "{_TABLE}{world.name}": "{share:.2f}",', flush=True)


def _candidates(times: int = 10_000) -> None:
    """For each test that counts seeds, its highest share of equal regimes called different, and its mean power.

    Normal scores over 2 to 10 seeds and 500 to 5,000 examples; deviations of 0 to 4.4 points; of a hit's variance (.21)
    what a regime's seeds share is 0 to .05, and what they do not .04 to .1. Power: a difference of 3 standard errors.
    """
    draw = np.random.default_rng(1)
    deviations = ((0.0, 0.0), (0.003, 0.003), (0.017, 0.017), (0.04, 0.04), (0.006, 0.044), (0.003, 0.04))
    cells = itertools.product(
        (2, 3, 5, 10), (500, 1000, 5000), deviations, ((0.0, 0.1), (0.0, 0.05), (0.02, 0.07), (0.05, 0.04)), (0.0, 0.5)
    )
    worst: dict[str, tuple[float, str]] = {}
    power: dict[tuple[str, int], list[float]] = {}
    for seeds, n, spread, (own, rest), alike in cells:
        common = draw.normal(size=(times, seeds))
        shift = [
            each * (alike**0.5 * common + (1 - alike) ** 0.5 * draw.normal(size=(times, seeds))) for each in spread
        ]
        scores = [each + draw.normal(size=(times, seeds)) * (rest / n) ** 0.5 for each in shift]
        apart = scores[0].mean(1) - scores[1].mean(1) + draw.normal(size=times) * (2 * own / n) ** 0.5
        parts = np.stack([each.var(1, ddof=1) / seeds for each in scores])
        items = (2 * own + 2 * rest / seeds) / n * draw.chisquare(n - 1, times) / (n - 1)
        free = (n - 1) * (seeds - 1)
        less = np.maximum(items - 2 * rest / seeds / n * draw.chisquare(free, times) / free, 0)
        seed = parts.sum(0)
        squares = (parts**2).sum(0) / (seeds - 1)
        true = np.sqrt((sum(each**2 for each in spread) - 2 * alike * spread[0] * spread[1]) / seeds
                       + (2 * own + 2 * rest / seeds) / n)  # fmt: skip
        tests = {
            "seeds alone, Welch": (seed, seed**2 / squares),
            "both, normal": (seed + items, np.full(times, 1e9)),
            "both, Satterthwaite's df": (seed + items, (seed + items) ** 2 / (squares + items**2 / (n - 1))),
            "less the residual, Welch's df": (seed + less, seed**2 / squares),
            "both, Welch's df": (seed + items, seed**2 / squares),
        }
        about = f"{seeds} seeds, {n} examples, deviations {spread}, regime {own}, rest {rest}, seeds alike {alike}"
        for name, (variance, df) in tests.items():
            limit = special.stdtrit(df, 0.975) * np.sqrt(variance)
            worst[name] = max(worst.get(name, (0.0, "")), (float((np.abs(apart) > limit).mean()), about))
            power.setdefault((name, seeds), []).append(float((np.abs(apart + 3 * true) > limit).mean()))
    for name, (share, about) in worst.items():
        shares = ", ".join(f"{seeds} seeds {np.mean(power[name, seeds]):.2f}" for seeds in (2, 3, 5, 10))
        print(f"{name}: type-I error at most {share:.3f} ({about}); power {shares}")


if __name__ == "__main__":
    _candidates() if "--candidates" in sys.argv else _before()
