"""Attributions to weights of at least 0 that add up to 1, which Eq. 2 of papers/002 asks for without saying how."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from interlingua.registry import unknown

Floats = NDArray[np.float64]


def absolute(attributions: Floats) -> Floats:
    """The size of each attribution: how much a token matters, whichever way it pulls."""
    return np.abs(attributions)


def positive(attributions: Floats) -> Floats:
    """The attributions above 0: what speaks for the target."""
    return np.maximum(attributions, 0.0)


def softmax(attributions: Floats) -> Floats:
    """exp of the attributions: never 0, and not invariant to their scale."""
    raised: Floats = np.exp(attributions - attributions.max(initial=-np.inf))
    return raised


WEIGHTINGS: dict[str, Callable[[Floats], Floats]] = {"absolute": absolute, "positive": positive, "softmax": softmax}
"""Weightings under their names; `absolute` is the default, as a strong pull against the target is attention too."""


def weights_of(attributions: ArrayLike, how: str) -> Floats | None:
    """The weights, adding up to 1, or None where there is nothing to weigh: all 0, or no token at all.

    >>> weights_of([1.0, -3.0], "absolute"), weights_of([1.0, -3.0], "positive"), weights_of([-1.0], "positive")
    (array([0.25, 0.75]), array([1., 0.]), None)
    """
    if how not in WEIGHTINGS:
        raise unknown("way from attributions to weights", how, list(WEIGHTINGS))
    values = np.asarray(attributions, np.float64)
    # An undefined attribution is no weight of any kind; one example of it must not cost the others.
    if not values.size or not np.isfinite(values).all() or not values.any():
        return None
    weights = WEIGHTINGS[how](values / np.abs(values).max() if how != "softmax" else values)
    total = float(weights.sum())
    return weights / total if total > 0 else None
