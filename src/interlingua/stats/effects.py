"""How large a difference is beside the spread of what it is made of: effect sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special


def paired_effect(ours: NDArray[Any], theirs: NDArray[Any], *, corrected: bool = True) -> float | None:
    """Cohen's d of paired differences, ours less theirs: their mean by their standard deviation; any real number.

    d_z of Cohen (1988): 0.2 is small, 0.5 medium, 0.8 large. `corrected` multiplies by Hedges' (1981)
    J = Γ(m/2) / (sqrt(m/2) Γ((m-1)/2)), m = n - 1, without which small samples read too much. Where nothing differs
    it is 0; where all differences are one there is no scale: None. Unlike a p-value it does not grow with the number of
    items.

    >>> round(paired_effect(np.array([3.0, 5.0, 4.0, 8.0]), np.array([1.0, 4.0, 4.0, 3.0]), corrected=False), 4)
    0.9258
    """
    apart = np.asarray(ours, np.float64) - np.asarray(theirs, np.float64)
    spread = float(apart.std(ddof=1)) if apart.size > 1 else 0.0
    mean = float(apart.mean())
    if mean == 0.0:
        return 0.0
    if spread <= abs(mean) * 1e-14:
        return None
    return mean / spread * (hedges_correction(apart.size - 1) if corrected else 1.0)


def hedges_correction(freedom: int) -> float:
    """What a standardised difference of so many degrees of freedom is multiplied by to be unbiased, in (0, 1).

    One degree of freedom leaves nothing to correct with: 1.

    >>> round(hedges_correction(10), 4)
    0.9227
    """
    if freedom < 2:
        return 1.0
    half = freedom / 2
    return float(np.exp(special.gammaln(half) - special.gammaln(half - 0.5)) / np.sqrt(half))


def cliffs_delta(ours: NDArray[Any], theirs: NDArray[Any]) -> float:
    """How much more often a value of ours is above one of theirs than below, in [-1, 1] (Cliff 1993).

    P(x > y) - P(x < y) over all pairs of two samples that need not be paired, from ranks: no n × m matrix.

    >>> cliffs_delta(np.array([1, 2, 3]), np.array([2, 2, 0]))
    0.3333333333333333
    """
    first, second = np.asarray(ours, np.float64), np.sort(np.asarray(theirs, np.float64))
    above = int(np.searchsorted(second, first, side="left").sum())
    below = int((len(second) - np.searchsorted(second, first, side="right")).sum())
    return (above - below) / (len(first) * len(second))
