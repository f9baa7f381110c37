"""Correlations with their intervals: Pearson's and Spearman's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from interlingua.errors import InputError
from interlingua.stats.intervals import Z95

Correlation = tuple[float, float | None, float | None]


def pearson(x: NDArray[np.floating[Any]], y: NDArray[np.floating[Any]]) -> Correlation:
    """Pearson's correlation of two vectors, in [-1, 1], and the ends of its 95 % interval.

    The interval is tanh(atanh(r) ± 1.96 / sqrt(n - 3)) (Fisher 1921), None below four pairs. Where a side is constant
    there is no correlation: 0, without an interval.

    >>> pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    (1.0, None, None)
    """
    value = _correlation(np.asarray(x, np.float64), np.asarray(y, np.float64))
    return (0.0, None, None) if value is None else (value, *_fisher(value, len(x), 1.0))


def spearman(x: NDArray[np.floating[Any]], y: NDArray[np.floating[Any]]) -> Correlation:
    """Spearman's rank correlation of two vectors, in [-1, 1], and the ends of its 95 % interval.

    Pearson's of the ranks, ties sharing theirs. The interval is Fisher's with the variance of atanh(r) put at
    (1 + r²/2) / (n - 3), which holds its level where Fisher's own is too narrow (Bonett & Wright 2000). None
    below four pairs, and 0 without an interval where a side is constant.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0, 100.0]))
    (1.0, None, None)
    """
    value = _correlation(*(scipy_stats.rankdata(side).astype(np.float64) for side in (x, y)))
    return (0.0, None, None) if value is None else (value, *_fisher(value, len(x), 1 + value * value / 2))


def _correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("a value to correlate is not a finite number", remedy="Leave that pair out, and say so.")
    ours, theirs = (side - np.mean(side) for side in (x, y))
    scale = float(np.sqrt((ours @ ours) * (theirs @ theirs)))
    # A constant side differs from its mean by rounding alone.
    if any(np.ptp(side) <= 1e-12 * np.abs(side).max(initial=0.0) for side in (x, y)) or not scale > 0:
        return None
    return min(max(float(ours @ theirs) / scale, -1.0), 1.0)


def _fisher(value: float, n: int, variance: float) -> tuple[float | None, float | None]:
    if n < 4:
        return None, None
    middle = float(np.arctanh(min(max(value, -1 + 1e-15), 1 - 1e-15)))
    half = Z95 * float(np.sqrt(variance / (n - 3)))
    return float(np.tanh(middle - half)), float(np.tanh(middle + half))
