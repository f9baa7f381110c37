"""Gradient × input: the first-order change if a token's embedding were zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from interlingua.attribution import attributions
from interlingua.attribution.attributed import Attributions, Case
from interlingua.attribution.points import attributed, gradients_at


@attributions.register("gradient-input", needs="gradients")
@dataclass(frozen=True)
class GradientInput:
    """Gradient × input: a_i = sum_k x_ik dF(x)/dx_ik, one step at the input itself (Shrikumar et al. 2016)."""

    def __call__(self, case: Case) -> Attributions:
        """The attributions of every target of a case."""
        count = len(case.targets)
        values = gradients_at(
            case, np.arange(count), lambda points, _: np.ones((len(points), 1), np.float32), np.ones(count), _times
        )
        return attributed(case, values, steps=1)


def _times(gradient: torch.Tensor, there: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
    return (gradient * there).sum(dim=-1)
