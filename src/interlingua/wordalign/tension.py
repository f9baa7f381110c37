"""How the tension follows the links: towards its maximum, or as fast_align moves it."""

from __future__ import annotations

import torch
from scipy.optimize import brentq

from interlingua.wordalign.diagonal import TENSIONS, Places

RULES = ("part", "fast_align")
"""`part`: part of the way to the maximum at each pass. `fast_align`: the steps of that program, digit by digit."""
_STEPS, _RATE = 8, 20.0
_ROUNDING = 1e-6
"""A slope that is smaller next to the distances it is made of is none: they are summed in the table's precision."""


def best_tension(places: Places, mass: torch.Tensor, distance: float, start: float) -> float:
    """The tension in [0.1, 14] that maximises the expected log prior: -λ Σ E[h] - Σ mass · ln Z(λ).

    `distance` is Σ E[h] over all links to real words, and `mass` for each place the number of target words there
    that are expected to have one; `start` is where to look from. The function is concave in λ (ln Z is convex):
    its slope has one zero, found to 1e-6, and any tension on the way there is better than `start`. Where all source
    sentences have one word the function is flat, and the tension stays where it is.
    """

    def slope(tension: float) -> float:
        return -distance - float((places.log_normaliser(tension)[1] * mass).sum())

    here = slope(start)
    if abs(here) <= _ROUNDING * distance:
        return start
    rising = here > 0
    end = TENSIONS[rising]
    if (slope(end) > 0) == rising:
        return end
    return float(brentq(slope, start, end, xtol=1e-6))


def fast_align_tension(places: Places, distance: float, start: float) -> float:
    """The tension in [0.1, 14] after fast_align's eight gradient steps of length 20 (its `-o`).

    They are not quite those of the gradient. `distance` is Σ E[h] with target words counted from 0, where the model
    counts from 1; the model's own mean distance is over all target words, those of the empty word too; and it is
    divided by Z with the two lengths exchanged. Each keeps the tension below its maximum. For links that are
    fast_align's own: nothing says that a pass raises the objective.
    """
    words = places.words.double()
    if not len(words):
        return start  # No word has a distance.
    tension = start
    for _ in range(_STEPS):
        log_normaliser, slope = places.log_normaliser(tension)
        expected = (slope * log_normaliser.exp() / _exchanged(places, tension) * words).sum()
        tension += _RATE * float((-distance - expected) / words.sum())
        tension = min(max(tension, TENSIONS[0]), TENSIONS[1])
    return tension


def _exchanged(places: Places, tension: float) -> torch.Tensor:
    """Z as for target word j of n and source words i of m. Where j > n, fast_align's count of words wraps round."""
    n, m, j = (x.double() for x in (places.source_length, places.target_length, places.position))
    below = torch.floor(j * m / n)
    above = m - below
    less = 1 / (1 - torch.exp(-tension / m))
    rest = torch.where(above < 0, 0.0, torch.exp(-tension * above / m))  # above 0 that many, else about 2³² words
    upper = torch.exp(-tension * ((below + 1) / m - j / n)) * (1 - rest)
    lower = torch.exp(-tension * (j / n - below / m)) * (1 - torch.exp(-tension * below / m))
    return (upper + lower) * less
