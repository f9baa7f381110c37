"""Occlusion: what is lost when a token is replaced by its baseline, one token at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interlingua.attribution import attributions
from interlingua.attribution.attributed import Attributions, Case
from interlingua.attribution.points import ends, scores_at

Ints = NDArray[np.int64]


@attributions.register("occlusion", needs="scores")
@dataclass(frozen=True)
class Occlusion:
    """Occlusion: a_i = F(x) - F(x with token i as in the baseline); 0 for separators (Zeiler & Fergus 2014)."""

    def __call__(self, case: Case) -> Attributions:
        """The attributions of every target of a case."""
        score, nothing = ends(case)
        tokens = np.flatnonzero(case.changed)
        owner = np.searchsorted(case.starts, tokens, side="right") - 1
        hidden = tokens - case.starts[owner]

        def mix(points: Ints, width: int) -> NDArray[np.float32]:
            shown: NDArray[np.float32] = (np.arange(width) != hidden[points][:, None]).astype(np.float32)
            return shown

        values = np.zeros(case.starts[-1])
        values[tokens] = score[owner] - scores_at(case, owner, mix, exact=True)
        return Attributions(values, case.starts, score, nothing, np.zeros(len(case.targets), np.int64))
