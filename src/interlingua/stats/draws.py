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
    difference, deviation = _beside_draws(value, draws, error)
    if deviation is None:
        return difference, None, None
    half = float(special.stdtrit(len(draws) - 1, 0.975)) * deviation
    return difference, difference - half, difference + half


def above_draws_p(value: float, draws: Sequence[float], *, error: float = 0.0) -> float:
    """The two-sided p-value of the test that the interval of `above_draws` inverts, in [0, 1]; 1 below two draws.

    >>> above_draws_p(2.0, [1.0, 2.0, 3.0]), round(above_draws_p(5.0, [1.0, 2.0, 3.0]), 3)
    (1.0, 0.122)
    """
    difference, deviation = _beside_draws(value, draws, error)
    if not deviation:
        return 1.0 if deviation is None or difference == 0 else 0.0
    return float(2 * special.stdtr(len(draws) - 1, -abs(difference) / deviation))


def _beside_draws(value: float, draws: Sequence[float], error: float) -> tuple[float, float | None]:
    """The value less the mean of the draws, and the standard deviation of that difference; None below two draws."""
    drawn = np.asarray(draws, np.float64)
    k = len(drawn)
    difference = value - float(drawn.mean())
    if k < 2:
        return difference, None
    return difference, float(np.sqrt(max(float(drawn.var(ddof=1)) * (1 + 1 / k), error**2)))
