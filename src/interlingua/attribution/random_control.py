"""Random attributions: the control. What consistency they reach is owed to the texts, not to the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interlingua.attribution import attributions
from interlingua.attribution.attributed import Attributions, Case
from interlingua.attribution.points import attributed


@attributions.register("random", needs="scores")
@dataclass(frozen=True)
class Random:
    """Random attributions: standard normal for every token but separators, drawn by `seed`; the control."""

    seed: int = 0

    def __call__(self, case: Case) -> Attributions:
        """The attributions of every target of a case."""
        drawn = np.random.default_rng(self.seed).normal(size=int(case.starts[-1]))
        return attributed(case, np.where(case.changed, drawn, 0.0))
