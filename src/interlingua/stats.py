"""Statistics on per-item values: intervals that hold for the measures here, and tests of two systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


def mean_interval(values: NDArray[np.floating[Any]]) -> tuple[float, float]:
    """The 95 % Student interval of a mean.

    mean ± t(0.975, n-1) · s / sqrt(n). One value has no spread: the interval is the value.

    >>> low, high = mean_interval(np.array([1.0, 2.0, 3.0, 4.0]))
    >>> round(low, 4), round(high, 4)
    (0.4457, 4.5543)
    """
    mean = float(values.mean())
    if values.size < 2:
        return mean, mean
    half = float(special.stdtrit(values.size - 1, 0.975) * values.std(ddof=1) / np.sqrt(values.size))
    return mean - half, mean + half


def wilson_interval(hits: float, n: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a proportion; stays inside [0, 1] (Wilson 1927).

    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    share, z2 = hits / n, Z95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # Rounding must not put a share of exactly 0 or 1 outside its own interval.
    return float(min(max(centre - half, 0.0), share)), float(max(min(centre + half, 1.0), share))


def half_samples(n: int, *, seed: int, times: int = 20, most: int | None = None) -> NDArray[np.int64]:
    """(times, b) row numbers: each line b of n rows drawn without replacement, in order; b is n/2, or `most` if fewer.

    >>> half_samples(6, seed=0, times=2).shape
    (2, 3)
    """
    draw = np.random.default_rng(seed)
    size = n // 2 if most is None else min(n // 2, most)
    return np.stack([np.sort(draw.permutation(n)[:size]) for _ in range(times)])


def interval_of_half_samples(
    samples: NDArray[np.float64] | Sequence[float], size: int, n: int, value: float
) -> tuple[float, float]:
    """A 95 % interval of a value over n rows from what its statistic reads on samples of `size` of them.

    A sample of b rows deviates from the full value with variance var · (n/b - 1), var that of the full
    value itself (Politis, Romano & Wolf 1999): at b = n/2 no rescaling is needed, and at the b that a dear
    statistic can afford the spread is multiplied by sqrt(b / (n - b)).

    >>> low, high = interval_of_half_samples([1.0, 3.0], 5, 10, 2.0)
    >>> round((high - low) / 2 / Z95, 4)
    1.4142
    """
    spread = float(np.std(np.asarray(samples), ddof=1)) * float(np.sqrt(size / (n - size)))
    return value - Z95 * spread, value + Z95 * spread


def half_sample_interval(
    statistic: Callable[[NDArray[np.int64]], float],
    n: int,
    value: float,
    *,
    seed: int,
    times: int = 20,
    most: int | None = None,
) -> tuple[float, float]:
    """A 95 % interval from half-samples drawn without replacement, as `interval_of_half_samples` has it.

    For statistics that repeated rows would inflate (CKA, retrieval: `HYPERPARAMETERS`, traps). `most` is the
    largest sample that a dear statistic can afford.

    >>> values = np.random.default_rng(0).normal(size=1000)
    >>> low, high = half_sample_interval(lambda rows: float(values[rows].mean()), 1000, 0.0, seed=0, times=400)
    >>> bool(abs(high - 1.96 * values.std() / 1000**0.5) < 0.01)
    True
    """
    drawn = half_samples(n, seed=seed, times=times, most=most)
    return interval_of_half_samples([statistic(rows) for rows in drawn], drawn.shape[1], n, value)


def paired_t(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """The two-sided p-value of Student's paired t-test, in [0, 1]: do two systems differ on the same items?

    t = mean(d) / (s / sqrt(n)) with d the differences and n - 1 degrees of freedom (papers/001 §5.1 tests per-example
    values averaged over seeds so). Where all differences are 0 there is nothing to tell: 1.

    >>> round(paired_t(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0, 0.0])), 4)
    0.1817
    """
    apart = np.asarray(ours, np.float64) - np.asarray(theirs, np.float64)
    mean = float(apart.mean())
    spread = float(apart.std(ddof=1)) / float(np.sqrt(apart.size)) if apart.size > 1 else 0.0
    if mean == 0.0 or apart.size < 2:
        return 1.0
    if spread <= abs(mean) * 1e-14:
        return 0.0
    return float(2 * special.stdtr(apart.size - 1, -abs(mean / spread)))


def permuted_f1(ours: NDArray[Any], theirs: NDArray[Any], *, times: int = 1000, seed: int = 0) -> float:
    """The two-sided p-value of a permutation test of two micro-averaged F1s, in (0, 1].

    Both sides are (3, item) counts: right, predicted, gold. A permutation swaps the two systems' predictions of each
    item with probability 1/2, and p = (1 + the permutations whose F1s differ at least as much) / (1 + `times`): the
    observed one is one of them (Pitman 1937; Phipson & Smyth 2010). papers/001 §5.1 does 1,000 on all seeds' items.

    >>> right, said = np.array([1, 1, 1, 1, 1, 1]), np.ones(6)
    >>> permuted_f1(np.stack([right, said, said]), np.stack([0 * right, said, said]), times=999) < 0.1
    True
    """
    sides = [np.stack([2.0 * counts[0], counts[1] + counts[2]], axis=1) for counts in (ours, theirs)]
    moved = sides[1] - sides[0]
    totals = [side.sum(axis=0) for side in sides]
    observed = abs(_ratio(totals[0]) - _ratio(totals[1]))
    draw = np.random.default_rng(seed)
    items, hits = len(moved), 0
    block = max((1 << 22) // max(items, 1), 1)
    for begin in range(0, times, block):
        count = min(block, times - begin)
        bits = np.unpackbits(draw.integers(256, size=(count, -(-items // 8)), dtype=np.uint8), axis=1, count=items)
        swapped = bits.astype(np.float64) @ moved
        apart = np.abs(_ratio(totals[0] + swapped) - _ratio(totals[1] - swapped))
        hits += int((apart >= observed - 1e-12).sum())
    return (1 + hits) / (1 + times)


def pearson(x: NDArray[np.floating[Any]], y: NDArray[np.floating[Any]]) -> tuple[float, float | None, float | None]:
    """Pearson's correlation of two vectors, in [-1, 1], and the ends of its 95 % interval.

    The interval is tanh(atanh(r) ± 1.96 / sqrt(n - 3)) (Fisher 1921), None below four pairs. Where a side is constant
    there is no correlation: 0, without an interval.

    >>> pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    (1.0, None, None)
    """
    ours, theirs = (np.asarray(side, np.float64) - np.mean(side) for side in (x, y))
    scale = float(np.sqrt((ours @ ours) * (theirs @ theirs)))
    # A constant side differs from its mean by rounding alone.
    if any(np.ptp(side) <= 1e-12 * np.abs(side).max(initial=0.0) for side in (x, y)) or not scale > 0:
        return 0.0, None, None
    value = min(max(float(ours @ theirs) / scale, -1.0), 1.0)
    if len(ours) < 4:
        return value, None, None
    middle, half = float(np.arctanh(min(max(value, -1 + 1e-15), 1 - 1e-15))), Z95 / float(np.sqrt(len(ours) - 3))
    return value, float(np.tanh(middle - half)), float(np.tanh(middle + half))


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 of sums (…, 2): twice the right ones, and the predicted and gold ones together."""
    whole: NDArray[np.float64] = sums[..., 0] / np.maximum(sums[..., 1], 1.0)
    return whole
