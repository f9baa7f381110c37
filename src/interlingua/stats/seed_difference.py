"""Do two systems differ, over the seeds they were trained with and over the examples they were tested on?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from interlingua.stats.power import detectable_error


@dataclass(frozen=True)
class SeedDifference:
    """A difference of two means over seeds with its 95 % interval, its p-value, and the smallest detectable difference.

    `error` and `df` are the standard error and the degrees of freedom that all four go by. `detectable` is None where
    nothing varies.
    """

    difference: float
    ci_low: float
    ci_high: float
    p: float
    detectable: float | None
    error: float
    df: float


def seed_difference(
    ours: Sequence[float], theirs: Sequence[float], apart: NDArray[np.floating[Any]], *, shared: float = 0.0
) -> SeedDifference | None:
    """The difference of two systems' mean scores, tested over seeds and examples; None below two seeds of either.

    `ours` and `theirs` are the scores of each seed, `apart` the difference on each example, averaged over seeds (of an
    F1 the difference of `f1_influence`). A score is μ + seed + example + rest, seeds and examples crossed, and

        t = D / sqrt(V_seed + V_item),  V_seed = s²/S + s'²/S',  V_item = var(apart) / n + `shared`,

    with the degrees of freedom of V_seed alone (Satterthwaite 1946; Welch 1947: seeds are not paired). `shared` is what
    candidates that all examples share add (`measures.retrieval.variance_of_hubs`). The rest of a score, divided by n,
    is in both variances. Without it in one of them, or with the larger degrees of freedom of the sum, two to five seeds
    reject too often where one system varies far more than the other (docs/method). Where no score varies, p is that of
    all ways of dealing the seeds to the two systems, 2 / C(S + S', S).

    >>> found = seed_difference([0.52, 0.55, 0.50], [0.45, 0.47, 0.40], np.array([1.0, 0.0, -1.0, 0.0] * 500) + 0.08)
    >>> round(found.difference, 4), round(found.error, 4), round(found.df, 2), round(found.p, 3)
    (0.0833, 0.0299, 3.57, 0.056)
    """
    sides = [np.asarray(side, np.float64) for side in (ours, theirs)]
    if min(len(side) for side in sides) < 2:
        return None
    difference = float(sides[0].mean() - sides[1].mean())
    parts = [float(side.var(ddof=1)) / len(side) for side in sides]
    seeds = sum(parts)
    items = shared + (float(np.var(apart, ddof=1)) / len(apart) if len(apart) > 1 else 0.0)
    free = [len(side) - 1 for side in sides]
    # Relative to the larger part: squares of tiny variances would be 0.
    shares = [part / max(parts) if max(parts) > 0 else 1.0 for part in parts]
    df = sum(shares) ** 2 / sum(share**2 / each for share, each in zip(shares, free, strict=True))
    error = math.sqrt(seeds + items)
    if error <= 1e-12 * max(abs(difference), 1e-3):  # Nothing but rounding.
        p = 2 / math.comb(len(ours) + len(theirs), len(ours)) if abs(difference) > 1e-12 else 1.0
        return SeedDifference(difference, difference, difference, min(p, 1.0), None, 0.0, df)
    half = float(special.stdtrit(df, 0.975)) * error
    p = float(2 * special.stdtr(df, -abs(difference) / error))
    return SeedDifference(
        difference, difference - half, difference + half, p, detectable_error(error, df=df), error, df
    )


def f1_influence(counts: NDArray[Any]) -> NDArray[np.float64]:
    """What each example adds to a micro-averaged F1, from (3, example) counts: right, predicted, gold; the mean is 0.

    F1 = 2 · right / (predicted + gold), each summed, is a ratio of sums, whose linear part in example i is
    n · (2 · right_i - F1 · (predicted_i + gold_i)) / sum(predicted + gold): their variance by n is that of the F1
    (Cochran 1977, Eq. 6.13).

    >>> f1_influence(np.array([[1, 0], [1, 1], [1, 1]])).tolist()
    [0.5, -0.5]
    """
    right, predicted, gold = np.asarray(counts, np.float64)
    both = predicted + gold
    whole = max(float(both.sum()), 1.0)
    found: NDArray[np.float64] = (2 * right - 2 * right.sum() / whole * both) * len(both) / whole
    return found
