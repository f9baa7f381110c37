"""Saliency: how steep the target is at a token, whichever way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from interlingua.attribution import attributions
from interlingua.attribution.attributed import Attributions, Case
from interlingua.attribution.points import attributed, gradients_at


@attributions.register("saliency", needs="gradients")
@dataclass(frozen=True)
class Saliency:
    """Saliency: a_i = ||dF(x)/dx_i||, at least 0: the steepest slope at a token (Simonyan et al. 2014)."""

    def __call__(self, case: Case) -> Attributions:
        """The attributions of every target of a case."""
        count = len(case.targets)
        values = gradients_at(
            case, np.arange(count), lambda points, _: np.ones((len(points), 1), np.float32), np.ones(count), _length
        )
        return attributed(case, values, steps=1)


def _length(gradient: torch.Tensor, there: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
    lengths: torch.Tensor = gradient.norm(dim=-1)
    return lengths
