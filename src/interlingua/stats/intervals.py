"""Intervals of means, shares and dearer statistics; what several seeds say; seeds that never left chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


def mean_interval(values: NDArray[np.floating[Any]], groups: NDArray[np.int64] | None = None) -> tuple[float, float]:
    """The 95 % Student interval of a mean; with `groups`, of values that are independent only between groups.

    mean ± t(0.975, n-1) · s / sqrt(n); with groups as `group_sums` and `half_width` have it. One value has no spread:
    the interval is the value.

    >>> low, high = mean_interval(np.array([1.0, 2.0, 3.0, 4.0]))
    >>> round(low, 4), round(high, 4)
    (0.4457, 4.5543)
    """
    mean = float(values.mean())
    if groups is not None:
        sums = group_sums(values - mean, groups)
        half = half_width(float(np.square(sums).sum()), len(sums), values.size)
        return mean - half, mean + half
    if values.size < 2:
        return mean, mean
    half = float(special.stdtrit(values.size - 1, 0.975) * values.std(ddof=1) / np.sqrt(values.size))
    return mean - half, mean + half


def paired_difference(
    apart: NDArray[np.floating[Any]],
    more: Sequence[Sequence[float]] = (),
    *,
    groups: NDArray[np.int64] | None = None,
) -> tuple[float, float, float, float]:
    """The mean of paired differences, the ends of its 95 % interval, and its two-sided p-value in (0, 1].

    mean ± t(0.975, f) · sqrt(V), V = s² / n + what `more` adds: (variance, degrees of freedom) of each further source
    that rows do not show, such as the candidates that all rows share. f = V² / (sum of squared parts, each by its own
    degrees of freedom) (Welch 1947; Satterthwaite 1946). Of rows in `groups` that are drawn whole `mean_variance` of
    these takes the place of s² / n. Where no row differs the difference is 0, and p is 1.

    >>> [round(each, 3) for each in paired_difference(np.array([1.0, 2.0, 3.0, 4.0]))]
    [2.5, 0.446, 4.554, 0.03]
    >>> [round(each, 3) for each in paired_difference(np.array([1.0, 2.0, 3.0, 4.0]), [(0.5, 4.0)])]
    [2.5, 0.235, 4.765, 0.035]
    """
    mean = float(apart.mean())
    if apart.size < 2 or not apart.any():
        return mean, mean, mean, 1.0
    first = mean_variance(apart, groups)
    parts = [first, *((part[0], part[1]) for part in more)]
    variance = sum(part for part, _ in parts)
    if variance <= (abs(mean) * 1e-14) ** 2:  # All differences are one number: p is that of all swaps of signs.
        return mean, mean, mean, float(2.0 ** -first[1])
    if not np.isfinite(variance):  # One group shows nothing about others.
        return mean, float("-inf"), float("inf"), 1.0
    freedom = variance**2 / sum(part**2 / own for part, own in parts)
    error = float(np.sqrt(variance))
    half = float(special.stdtrit(freedom, 0.975)) * error
    return mean, mean - half, mean + half, float(2 * special.stdtr(freedom, -abs(mean) / error))


def mean_variance(values: NDArray[np.floating[Any]], groups: NDArray[np.int64] | None = None) -> tuple[float, float]:
    """The variance of a mean and its degrees of freedom; with `groups`, of values independent only between groups.

    >>> [round(each, 3) for each in mean_variance(np.array([1.0, 1.0, 4.0, 4.0]))]
    [0.75, 3.0]
    >>> [round(each, 3) for each in mean_variance(np.array([1.0, 1.0, 4.0, 4.0]), np.array([0, 0, 1, 1]))]
    [2.25, 1.0]
    """
    if groups is None:
        return float(values.var(ddof=1)) / values.size, values.size - 1.0
    sums = group_sums(values - values.mean(), groups)
    many = len(sums)
    if many < 2:
        return float("inf"), 1.0
    return many / (many - 1) * float(np.square(sums).sum()) / values.size**2, many - 1.0


def group_sums(values: NDArray[np.floating[Any]], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """The sum of each group's values, groups in ascending order of their numbers.

    >>> group_sums(np.array([1.0, 2.0, 4.0]), np.array([7, 3, 7])).tolist()
    [2.0, 5.0]
    """
    _, member = np.unique(groups, return_inverse=True)
    sums: NDArray[np.float64] = np.bincount(member, weights=values).astype(np.float64)
    return sums


def half_width(squares: float, groups: int, n: int) -> float:
    """Half of the 95 % interval of a statistic of n rows in groups that are drawn whole, such as words of sentences.

    `squares` is the sum over groups of (the sum of their rows' influence values)²: the error is
    sqrt(G / (G-1) · squares) / n, times t(0.975, G-1) (Liang & Zeger 1986; Cameron & Miller 2015). Rows that are each a
    group of their own give Student's interval. One group shows nothing about others: infinite.

    >>> values = np.array([1.0, 2.0, 3.0, 4.0])
    >>> low, high = mean_interval(values)
    >>> round(half_width(float(np.square(values - 2.5).sum()), 4, 4), 4) == round((high - low) / 2, 4)
    True
    """
    if groups < 2:
        return float("inf")
    # A sum over pairs that share a group can fall below 0 by rounding, or where groups are very few.
    error = np.sqrt(groups / (groups - 1) * max(squares, 0.0)) / n
    return float(special.stdtrit(groups - 1, 0.975) * error)


def clustered_share(hits: NDArray[np.bool_], groups: NDArray[np.int64]) -> tuple[float, float]:
    """The 95 % interval of a share of rows that are independent only between groups, such as words of sentences.

    Wilson's, with as many rows as would have the variance of groups drawn whole: n' = share (1 - share) / error², at
    most n, and Student's t of the groups in place of 1.96 (Korn & Graubard 1998). One group shows nothing about others.

    >>> hits = np.repeat([True, False, True, True], 25)
    >>> [round(end, 2) for end in clustered_share(hits, np.repeat(np.arange(4), 25))]
    [0.13, 0.98]
    """
    share, count = float(hits.mean()), len(np.unique(groups))
    if count < 2:
        return 0.0, 1.0
    sums = group_sums(hits - share, groups)
    error = float(np.sqrt(count / (count - 1) * np.square(sums).sum())) / hits.size
    worth = min(share * (1 - share) / error**2, hits.size) if error > 0 else float(count)
    return wilson_interval(share * worth, worth, z=float(special.stdtrit(count - 1, 0.975)))


def wilson_interval(hits: float, n: float, *, z: float = Z95) -> tuple[float, float]:
    """The 95 % Wilson score interval of a proportion; stays inside [0, 1] (Wilson 1927); `n` may be effective.

    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    share, z2 = hits / n, z**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
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
    statistic can afford the spread is multiplied by sqrt(b / (n - b)). Of m samples it is itself uncertain: Student's t
    of m - 1.

    >>> low, high = interval_of_half_samples([1.0, 3.0, 2.0], 5, 10, 2.0)
    >>> round((high - low) / 2, 4)
    4.3027
    """
    drawn = np.asarray(samples)
    spread = float(np.std(drawn, ddof=1)) * float(np.sqrt(size / (n - size)))
    half = float(special.stdtrit(len(drawn) - 1, 0.975)) * spread
    return value - half, value + half


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

    For statistics that repeated rows would inflate (CKA, retrieval). `most` is the
    largest sample that a dear statistic can afford.

    >>> values = np.random.default_rng(0).normal(size=1000)
    >>> low, high = half_sample_interval(lambda rows: float(values[rows].mean()), 1000, 0.0, seed=0, times=400)
    >>> bool(abs(high - 1.96 * values.std() / 1000**0.5) < 0.01)
    True
    """
    drawn = half_samples(n, seed=seed, times=times, most=most)
    return interval_of_half_samples([statistic(rows) for rows in drawn], drawn.shape[1], n, value)


@dataclass(frozen=True)
class SeedSpread:
    """What several seeds give: their mean, standard deviation and the 95 % Student interval of the mean.

    One seed has no deviation (None), and its interval is the value itself.
    """

    mean: float
    deviation: float | None
    low: float
    high: float
    n: int


def over_seeds(values: Sequence[float] | NDArray[np.floating[Any]]) -> SeedSpread:
    """The mean over seeds with its standard deviation (n - 1) and its 95 % Student interval.

    The interval is of the mean over *seeds* on one test set: how far another five seeds would move it. How far another
    test set would move it follows from the items (`mean_interval`, `bootstrap_mean`).

    >>> found = over_seeds([0.61, 0.63, 0.65])
    >>> round(found.mean, 4), round(found.deviation, 4), round(found.low, 4), round(found.high, 4)
    (0.63, 0.02, 0.5803, 0.6797)
    """
    array = np.asarray(values, np.float64)
    deviation = float(array.std(ddof=1)) if array.size > 1 else None
    return SeedSpread(float(array.mean()), deviation, *mean_interval(array), int(array.size))


CLEAR = 0.05
"""By how much a score is above chance where something was learnt; below a tenth of it nothing was."""

K = TypeVar("K")


def find_collapsed_seeds(values: Mapping[K, float], null: float | None) -> set[K]:
    """Those at chance where another is clearly above it; none where none has learnt, which is no luck.

    >>> find_collapsed_seeds({0: 0.47, 1: 0.3333}, 0.333), find_collapsed_seeds({0: 0.334, 1: 0.3333}, 0.333)
    ({1}, set())
    >>> find_collapsed_seeds({0: 0.47, 1: 0.2}, None)
    set()
    """
    if null is None or all(value - null <= CLEAR for value in values.values()):
        return set()
    return {key for key, value in values.items() if value - null < CLEAR / 10}
