"""Is a score above its chance level? Binomial tests, so that no small sample of luck is read as learning."""

from __future__ import annotations

from collections.abc import Sequence

from scipy import special

LEVEL = 0.05


def binomial_p(hits: float, n: int, chance: float) -> float:
    """The one-sided p-value of `hits` of `n` or more where each is a hit with probability `chance`, in [0, 1].

    P(Bin(n, chance) ≥ hits) = I(chance; hits, n - hits + 1), the regularised incomplete beta function. No hit: 1.

    >>> round(binomial_p(2, 2, 0.5), 4), binomial_p(0, 10, 0.1)
    (0.25, 1.0)
    """
    hits = round(hits)
    return 1.0 if hits <= 0 else float(special.betainc(hits, n - hits + 1, chance))


def chance_p(scores: Sequence[tuple[float, int, float]]) -> float:
    """The p-value of the clearest of several shares (share, n, chance), corrected for their number; in [0, 1].

    The smallest of the binomial p-values times the number of shares (Bonferroni): the best of many layers is not judged
    as if it were the only one. No share at all: 1.

    >>> round(chance_p([(0.05, 100, 0.01)]), 4), round(chance_p([(0.05, 100, 0.01)] * 20), 3)
    (0.0034, 0.069)
    """
    values = [binomial_p(share * n, n, chance) for share, n, chance in scores]
    return min(len(values) * min(values, default=1.0), 1.0) if values else 1.0


def above_chance(scores: Sequence[tuple[float, int, float]]) -> bool:
    """Whether any of several shares (share, n, chance) is above its chance level: `chance_p` below 0.05.

    >>> above_chance([(0.02, 100, 0.01)]), above_chance([(0.05, 100, 0.01)]), above_chance([(0.05, 100, 0.01)] * 20)
    (False, True, False)
    """
    return chance_p(scores) < LEVEL
