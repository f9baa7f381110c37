"""What a sample can show: the smallest difference that a test would find in four of five studies."""

from __future__ import annotations

import numpy as np
from scipy import optimize, special

from interlingua.stats.intervals import Z95

POWER = 0.8
"""The share of studies in which a true difference of that size would be found (Cohen 1988)."""


def detectable_mean(deviation: float, n: int, *, power: float = POWER) -> float | None:
    """The smallest true difference that a two-sided paired t-test at 0.05 finds with that power; above 0.

    `deviation` is that of the n paired differences. The root of P(|T| > t(0.975, n-1)) = power, T noncentral t with
    n - 1 degrees of freedom and noncentrality difference · sqrt(n) / deviation. None below two items, and where
    nothing differs: such a sample does not tell how much another would.

    >>> round(detectable_mean(1.0, 34), 2)  # G*Power: 34 pairs for d = 0.5
    0.5
    """
    if n < 2 or deviation <= 0:
        return None
    limit = float(special.stdtrit(n - 1, 0.975))

    def missing(shift: float) -> float:
        # scipy has no number for the far tail of very few items, where it is nothing beside the other.
        far = np.nan_to_num(special.nctdtr(n - 1, shift, -limit))
        return float(1 - special.nctdtr(n - 1, shift, limit) + far) - power

    # The normal approximation is below the root, and far below only where there are few items.
    low = 0.0
    high = Z95 + float(special.ndtri(power))
    while missing(high) < 0:
        low, high = high, 2 * high
    return float(optimize.brentq(missing, low, high)) * deviation / float(np.sqrt(n))


def detectable_error(error: float, *, power: float = POWER) -> float | None:
    """The smallest true difference found with that power, from the standard error of the difference; None for 0.

    (z(0.975) + z(power)) · error: `detectable_mean` for a large sample, and for what is no mean (an F1), with the
    error of a bootstrap.

    >>> round(detectable_error(0.01), 4)
    0.028
    """
    return (Z95 + float(special.ndtri(power))) * error if error > 0 else None


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
