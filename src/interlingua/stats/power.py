"""Effect sizes, and the smallest difference that a sample can show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from interlingua.stats.intervals import Z95

SEED_DEVIATIONS = {"f1": 0.0125, "mrr": 0.023}
"""Median deviation of a score over five seeds by metric: F1 of tagged words and MRR, 12 cells each of docs/findings."""
USUAL_DEVIATION = 0.016
"""That of all 24 cells, for every other metric."""
ITEM_DEVIATION = 0.4
"""A deviation of the difference on one example, for plans: two models of which one alone is right in 16 % of all."""
MOST_SEEDS = 1000
"""Where that many seeds would not do, more examples are needed."""
EXAMPLES = (500, 1000, 5000)
"""The sizes of test sets that a plan of seeds is made for; XNLI has 5,010 examples."""
POINTS = (1, 2, 5)
"""The differences in points that a plan names the seeds for."""
_METRICS = {"ner": "f1", "retrieval": "mrr"}
POWER = 0.8
"""The share of studies in which a true difference of that size would be found (Cohen 1988)."""


def detectable_mean(deviation: float, n: int, *, power: float = POWER) -> float | None:
    """The smallest true difference that a two-sided paired t-test at 0.05 finds with that power; above 0.

    `deviation` is that of the n paired differences. The root of P(|T| > t(0.975, n-1)) = power, T noncentral t with
    n - 1 degrees of freedom and noncentrality difference · sqrt(n) / deviation. None below two items, and where
    nothing differs: such a sample does not show how much another would.

    >>> round(detectable_mean(1.0, 34), 2)  # G*Power: 34 pairs for d = 0.5
    0.5
    """
    if n < 2:
        return None
    return detectable_error(deviation / float(np.sqrt(n)), df=n - 1, power=power)


def detectable_error(error: float, *, df: float | None = None, power: float = POWER) -> float | None:
    """The smallest true difference found with that power, from the standard error of the difference; None for 0.

    With `df` degrees of freedom that of a t-test, else (z(0.975) + z(power)) · error: the limit of a large sample.

    >>> round(detectable_error(0.01), 4), round(detectable_error(0.01, df=4), 4)
    (0.028, 0.0376)
    """
    if error <= 0:
        return None
    normal = Z95 + float(special.ndtri(power))
    return error * (normal if df is None else _noncentrality(df, power, normal))


def _noncentrality(df: float, power: float, high: float) -> float:
    """The shift of a noncentral t with these degrees of freedom at which P(|T| > t(0.975, df)) is the power."""
    limit = float(special.stdtrit(df, 0.975))

    def missing(shift: float) -> float:
        # scipy has no number for the far tail of very few items, where it is nothing beside the other.
        far = np.nan_to_num(special.nctdtr(df, shift, -limit))
        return float(1 - special.nctdtr(df, shift, limit) + far) - power

    # The normal approximation is below the root, and far below only where there are few degrees of freedom.
    low = 0.0
    while missing(high) < 0:
        low, high = high, 2 * high
    return float(optimize.brentq(missing, low, high))


def detectable_over_seeds(
    seeds: int, *, deviation: float, item_deviation: float, n: int, power: float = POWER
) -> float | None:
    """The smallest difference that `seed_difference` finds with that power, before anything is trained.

    Both systems have that many seeds and vary by `deviation` between them; `item_deviation` is that of their difference
    over n examples. From the standard error sqrt(2 · deviation²/seeds + item_deviation²/n) and 2 · seeds - 3 degrees of
    freedom: one below those of two equal deviations, as Welch's are estimated from few seeds and never above these
    (with 3 seeds and all of them the difference is found in .69 of studies, with one less in .79 to .83). None below
    two seeds.

    >>> round(detectable_over_seeds(5, deviation=0.017, item_deviation=0.4, n=5000), 4)
    0.0397
    """
    if seeds < 2:
        return None
    error = float(np.sqrt(2 * deviation**2 / seeds + item_deviation**2 / n))
    return detectable_error(error, df=2 * seeds - 3, power=power)


def seeds_needed(
    difference: float, *, deviation: float, item_deviation: float, n: int, power: float = POWER
) -> int | None:
    """The fewest seeds per system with which that difference is found; None where more examples are needed first.

    That is where 1,000 seeds would not do: what the examples leave unsure no seed makes up for.

    >>> needed = {"deviation": 0.017, "item_deviation": 0.4}
    >>> seeds_needed(0.02, n=5000, **needed), seeds_needed(0.02, n=1000, **needed)
    (34, None)
    """

    def found(seeds: int) -> bool:
        least = detectable_over_seeds(seeds, deviation=deviation, item_deviation=item_deviation, n=n, power=power)
        return least is not None and least <= difference

    if not found(MOST_SEEDS):
        return None
    low, high = 1, MOST_SEEDS  # The fewest that do are above the first, and at most the second.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def examples_needed(difference: float, *, item_deviation: float, power: float = POWER) -> int:
    """The fewest examples with which that difference could be found at all, were there any number of seeds.

    >>> examples_needed(0.01, item_deviation=0.4)
    12559
    """
    return int(np.ceil(((Z95 + float(special.ndtri(power))) * item_deviation / difference) ** 2))


@dataclass(frozen=True)
class SeedPlan:
    """What differences between regimes a task's seeds can detect with 80 % power, and the seeds that others need.

    `deviation` is that of a score over seeds, `measured` in this study or taken from our own grids (docs/findings).
    `detectable` has the smallest difference by the number of test examples, None with one seed; `seeds_needed` by
    points the seeds per regime with 5,000 examples, or None where these are too few, and `examples_needed` how many it
    takes at least. Shares of 1 all.
    """

    task: str
    seeds: int
    deviation: float
    measured: bool
    item_deviation: float
    detectable: dict[int, float | None]
    seeds_needed: dict[int, int | None]
    examples_needed: dict[int, int]


def seed_plan(task: str, kind: str, seeds: int, scores: Sequence[Mapping[str, Any]] = ()) -> SeedPlan:
    """The plan of a task of that kind; `scores` are what the study has found of it so far.

    >>> made = seed_plan("ner", "ner", 5)
    >>> round(made.detectable[5000], 3), made.seeds_needed, made.examples_needed[1]
    (0.032, {1: None, 2: 20, 5: 3}, 12559)
    """
    own = [each.get("deviation") for each in scores if each.get("task") == task]
    known = [value for value in own if isinstance(value, float) and value > 0]
    usual = SEED_DEVIATIONS.get(_METRICS.get(kind, ""), USUAL_DEVIATION)
    deviation = float(median(known)) if known else usual
    spread = {"deviation": deviation, "item_deviation": ITEM_DEVIATION}
    return SeedPlan(
        task,
        seeds,
        deviation,
        bool(known),
        ITEM_DEVIATION,
        {n: detectable_over_seeds(seeds, n=n, **spread) for n in EXAMPLES},
        {points: seeds_needed(points / 100, n=EXAMPLES[-1], **spread) for points in POINTS},
        {points: examples_needed(points / 100, item_deviation=ITEM_DEVIATION) for points in POINTS},
    )


def detectable_share(discordance: float, n: int, *, power: float = POWER) -> float | None:
    """The smallest difference of two shares of right answers to the same n questions that McNemar's test finds.

    `discordance` ψ is the share of questions that one of the two alone has right; the difference δ is how much more of
    them are one's. From n δ² = (z(0.975) sqrt ψ + z(power) sqrt(ψ - δ²))² (Miettinen 1968; Connor 1987), in
    closed form. None where even ψ itself, all of them one's, would not be found: fewer than about eight such questions,
    or none.

    >>> round(detectable_share(0.1, 1000), 4)
    0.028
    """
    first, second = Z95, float(special.ndtri(power))
    inside = n + second**2 - first**2
    if inside < 0:
        return None
    found = float(np.sqrt(discordance) * (first * np.sqrt(n) + second * np.sqrt(inside)) / (n + second**2))
    return found if 0 < found <= discordance else None


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
    """What a standardised difference with these degrees of freedom is multiplied by to be unbiased, in (0, 1).

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
