"""Bootstrap intervals of means, of ratios of counts, and of differences of such ratios, all resamples at once.

For statistics that are functions of sums over items. Measures that compare rows with each other (CKA, retrieval) are
not: a row drawn twice is its own neighbour, and `half_sample_interval` is for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from interlingua.errors import InputError

METHODS = ("percentile", "bca")
Floats = NDArray[np.float64]
_BLOCK = 1 << 22  # items drawn at a time
_FEW = 4  # of items that are this many times fewer in kind than in number, kinds are drawn


@dataclass(frozen=True)
class BootstrapEstimate:
    """A value, the ends of its 95 % interval, and its standard error: the deviation over resamples."""

    value: float
    low: float
    high: float
    error: float


def bootstrap_mean(values: NDArray[Any], *, method: str = "bca", times: int = 2000, seed: int = 0) -> BootstrapEstimate:
    """The mean of values with a 95 % bootstrap interval.

    >>> found = bootstrap_mean(np.array([0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]))
    >>> found.value, found.low < 0.6, found.high > 0.8
    (0.75, True, True)
    """
    array = np.asarray(values, np.float64)
    parts = np.stack([array, np.ones_like(array)])
    return bootstrap(parts, _ratio, method=method, times=times, seed=seed)


def bootstrap_ratio(
    above: NDArray[Any], below: NDArray[Any], *, method: str = "bca", times: int = 2000, seed: int = 0
) -> BootstrapEstimate:
    """sum(above) / sum(below) with a 95 % bootstrap interval over items; 0 where nothing is below.

    A micro-averaged F1 is such a ratio: twice the right ones above, the predicted and the gold ones below.

    >>> round(bootstrap_ratio(np.array([2, 0, 2]), np.array([2, 2, 3])).value, 4)
    0.5714
    """
    parts = np.stack([np.asarray(side, np.float64) for side in (above, below)])
    return bootstrap(parts, _ratio, method=method, times=times, seed=seed)


def bootstrap_f1_difference(
    ours: NDArray[Any], theirs: NDArray[Any], *, method: str = "bca", times: int = 2000, seed: int = 0
) -> BootstrapEstimate:
    """The difference of two micro-averaged F1s on the same items, ours less theirs, with a 95 % bootstrap interval.

    Both sides are (3, item) counts: right, predicted, gold. A resample takes both systems' counts of an item together,
    as they are of the same text.

    >>> counts = np.array([[1, 0, 1], [1, 1, 1], [1, 1, 1]])
    >>> bootstrap_f1_difference(counts, counts)
    BootstrapEstimate(value=0.0, low=0.0, high=0.0, error=0.0)
    """
    sides = [np.stack([2.0 * counts[0], 1.0 * counts[1] + counts[2]]) for counts in (ours, theirs)]
    return bootstrap(
        np.concatenate(sides),
        lambda sums: _ratio(sums[..., :2]) - _ratio(sums[..., 2:]),
        method=method,
        times=times,
        seed=seed,
    )


def bootstrap(
    parts: Floats, of: Callable[[Floats], Floats], *, method: str = "bca", times: int = 2000, seed: int = 0
) -> BootstrapEstimate:
    """A function `of` sums over items, with its 95 % bootstrap interval: `parts` is (part, item), `of` takes (…, part).

    `percentile`: the 2.5 and 97.5 % points of the resamples (Efron 1981). `bca`: points moved by the bias z0, the
    normal point of the share of resamples below the value (ties half), and by the acceleration a, sum(d³) / 6
    sum(d²)^1.5 with d the jackknife's deviations (Efron 1987): right to O(1/n) where the former is to
    O(1/sqrt n). Where no resample is on one side of the value, the share is put at half a resample, so that z0 is
    finite.

    >>> draw = np.random.default_rng(0).exponential(size=(1, 400))
    >>> found = bootstrap(draw, lambda sums: np.sqrt(sums[..., 0]))
    >>> found.low < found.value < found.high
    True
    """
    if method not in METHODS:
        raise InputError("unknown bootstrap", value=method, remedy=f"Known: {', '.join(METHODS)}.")
    total = parts.sum(axis=1)
    value = float(of(total))
    drawn = of(_resampled(parts, times, seed))
    points = np.array([0.025, 0.975])
    if method == "bca" and parts.shape[1] > 1:
        points = _bca(value, drawn, of(total - parts.T))
    low, high = np.quantile(drawn, points)
    return BootstrapEstimate(value, float(low), float(high), float(drawn.std(ddof=1)))


def _bca(value: float, drawn: Floats, left_out: Floats) -> Floats:
    """The two shares whose points of the resamples end the interval."""
    below = float((drawn < value).mean() + (drawn <= value).mean()) / 2
    bias = float(special.ndtri(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn))))
    apart = left_out.mean() - left_out
    square = float((apart**2).sum())
    acceleration = float((apart**3).sum()) / (6 * square**1.5) if square > 0 else 0.0
    ends = bias + special.ndtri(np.array([0.025, 0.975]))
    found: Floats = special.ndtr(bias + ends / (1 - acceleration * ends))
    return found


def _resampled(parts: Floats, times: int, seed: int) -> Floats:
    """(times, part) sums over items drawn with replacement.

    Where items are few in kind (hits, counts), how often each kind is drawn is multinomial: the same distribution from
    far fewer random numbers.
    """
    draw, n = np.random.default_rng(seed), parts.shape[1]
    kinds, counts = np.unique(parts, axis=1, return_counts=True)
    if kinds.shape[1] * _FEW <= n:
        found: Floats = draw.multinomial(n, counts / n, size=times).astype(np.float64) @ kinds.T
        return found
    sums = np.empty((times, len(parts)))
    block = max(_BLOCK // n, 1)
    for begin in range(0, times, block):
        rows = draw.integers(0, n, (min(block, times - begin), n))
        for place, part in enumerate(parts):
            sums[begin : begin + len(rows), place] = part[rows].sum(axis=1)
    return sums


def _ratio(sums: Floats) -> Floats:
    below = sums[..., 1]
    found: Floats = np.where(below > 0, sums[..., 0] / np.where(below > 0, below, 1.0), 0.0)
    return found
