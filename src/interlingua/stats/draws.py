"""One value beside draws of a control: how far it lies above them, with an interval that counts how few they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

Above = tuple[float, float | None, float | None]


def above_draws(value: float, draws: Sequence[float], *, error: float = 0.0) -> Above:
    """`value` less the mean of k draws of a control, and the ends of its 95 % interval; None below two draws.

    Under the null hypothesis the value is one more draw, so the interval is that of a further draw (Student's
    prediction interval): difference ± t(0.975, k-1) · sqrt(s² (1 + 1/k)), s the deviation of the draws. Their spread
    counts, however many rows each of them was measured on, and has the noise of the rows in it; where the standard
    `error` of the difference over rows is larger (draws that are all alike), that takes its place.

    >>> difference, low, high = above_draws(5.0, [1.0, 2.0, 3.0])
    >>> difference, round(low, 3), round(high, 3)
    (3.0, -1.968, 7.968)
    """
    drawn = np.asarray(draws, np.float64)
    k = len(drawn)
    difference = value - float(drawn.mean())
    if k < 2:
        return difference, None, None
    spread = max(float(drawn.var(ddof=1)) * (1 + 1 / k), error**2)
    half = float(special.stdtrit(k - 1, 0.975)) * float(np.sqrt(spread))
    return difference, difference - half, difference + half
