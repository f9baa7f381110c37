"""Projections: many dimensions to two, for the eye, one file each.

A projection is called as `f(vectors, perplexity=…, seed=…)` with an (n, d) array and returns
`ProjectedPoints`. The same vectors and seed give the same places. What the eye sees in a flat map can deceive: numbers
are taken of the vectors themselves (`measures.clusters`), never of the map.

New projection: one file here with `@projections.register("name")`; `needs` names an extra of ours, where it takes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.errors import InputError, MissingExtra
from interlingua.registry import Registry

Floats = NDArray[np.floating[Any]]

projections = Registry("projection", "interlingua.projection")


_PACKAGES = {"maps": "sklearn", "umap": "umap"}


def check_installed(name: str) -> None:
    """Raise `MissingExtra` where what a projection needs is not here, so that the error comes before anything is
    encoded.

    >>> check_installed("pca")
    """
    extra = projections[name].needs
    if extra in _PACKAGES and find_spec(_PACKAGES[extra]) is None:
        raise MissingExtra(extra, f"drawing maps with {name}")


@dataclass(frozen=True)
class ProjectedPoints:
    """Places (n, 2) and what there is to say of them: plain numbers."""

    places: NDArray[np.float64]
    about: Mapping[str, Any] = field(default_factory=dict)


def checked(vectors: Floats, *, least: int) -> NDArray[np.float64]:
    """The vectors in float64, once they are known to be a finite matrix of enough rows."""
    if vectors.ndim != 2 or len(vectors) < least:
        raise InputError("too few points for a map", value=len(vectors), remedy=f"Give at least {least}.")
    wide = np.asarray(vectors, np.float64)
    if not np.isfinite(wide).all():
        raise InputError("a map of infinite or undefined values", remedy="Encode in fp32.")
    return wide


def clamp_perplexity(perplexity: float | None, n: int, *, default: float) -> float:
    """The perplexity to use: what is given, or the default as far as n points allow.

    Every point must have three times as many neighbours as the perplexity says (van der Maaten 2014), which n - 1 must
    reach; a perplexity given beyond that is refused, not lowered in silence.

    >>> [clamp_perplexity(given, n, default=70) for given, n in ((None, 1000), (None, 31), (5, 31))]
    [70.0, 10.0, 5.0]
    """
    most = (n - 1) / 3
    if perplexity is None:
        return float(min(default, most))
    if not 1 <= perplexity <= most:
        raise InputError(
            f"{n} points are too few for this perplexity" if perplexity > most else "the perplexity is below 1",
            value=perplexity,
            remedy=f"It goes from 1 to {most:.0f} here, a third of the points.",
        )
    return float(perplexity)
