"""A correlation over a few languages: with its interval, what so few can show, and the smallest p they allow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from interlingua.stats.correlation import pearson
from interlingua.stats.intervals import Z95
from interlingua.stats.power import POWER

LEAST = 4
"""Below four pairs a correlation has no interval."""


@dataclass(frozen=True)
class Correlated:
    """Pearson's r of n pairs and its 95 % interval; the smallest |r| found with 80 % power; the least p of n pairs."""

    n: int
    r: float
    low: float
    high: float
    detectable: float
    least_p: float


def correlated(x: NDArray[np.floating[Any]], y: NDArray[np.floating[Any]]) -> Correlated | None:
    """Pearson's correlation of n pairs with all that is needed to read it; None of fewer than four, or of a constant.

    `detectable` is tanh((z(0.975) + z(0.8)) / sqrt(n - 3)) (Fisher 1921), `least_p` 2 / n!: the two-sided p-value of
    the most extreme of all orders.

    >>> found = correlated(np.arange(12.0), np.arange(12.0) % 4)
    >>> found.n, round(found.detectable, 2), correlated(np.arange(12.0), np.ones(12)), found.least_p < 0.05
    (12, 0.73, None, True)
    """
    if len(x) < LEAST or any(np.ptp(side) <= 1e-12 * np.abs(side).max(initial=0.0) for side in map(np.asarray, (x, y))):
        return None
    r, low, high = pearson(x, y)
    if r is None or low is None or high is None:
        return None
    shown = math.tanh((Z95 + float(special.ndtri(POWER))) / math.sqrt(len(x) - 3))
    return Correlated(len(x), r, low, high, shown, 2 / math.factorial(len(x)))
