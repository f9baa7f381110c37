"""Faithfulness: whether the tokens an attribution puts first are those that the model's answer rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from interlingua.attribution.inputs import AttributionInput, Attributions
from interlingua.attribution.integrated_gradients import scores_at
from interlingua.metric import Metric, Metrics

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.5)
"""The shares of tokens of DeYoung et al. 2020 (ERASER), §4.2."""

METRICS = Metrics(
    (
        Metric(
            name="comprehensiveness",
            title="Loss of the answer without its words",
            range=(-1.0, 1.0),
            null="random attributions",
            headline=True,
        ),
        Metric(
            name="sufficiency",
            title="Loss of the answer with its words alone",
            higher_is_better=False,
            range=(-1.0, 1.0),
            null="random attributions",
        ),
    )
)


@dataclass(frozen=True)
class Faithfulness:
    """What is left of each target's probability without its first tokens, and with them alone.

    `deleted[i, k]` is the probability with the first `fractions[k]` of the tokens replaced by the baseline, `kept[i,
    k]` with all others replaced, `whole[i]` with none.
    """

    fractions: tuple[float, ...]
    whole: Floats
    deleted: Floats
    kept: Floats

    @property
    def comprehensiveness(self) -> Floats:
        """Mean over fractions of what deletion takes away, in [-1, 1]; high where the first tokens were needed."""
        lost: Floats = (self.whole[:, None] - self.deleted).mean(axis=1)
        return lost

    @property
    def sufficiency(self) -> Floats:
        """Mean over fractions of what is missing when they are all there is, in [-1, 1]; low where they are enough."""
        lost: Floats = (self.whole[:, None] - self.kept).mean(axis=1)
        return lost


def faithfulness(
    case: AttributionInput, found: Attributions, *, fractions: tuple[float, ...] = FRACTIONS
) -> Faithfulness:
    """Comprehensiveness and sufficiency (DeYoung et al. 2020, §4.2) of attributions, highest first.

    Probabilities whatever the scale of the targets. With fractions from 0 to 1 `deleted` is the deletion curve
    (Petsiuk et al. 2018) and `kept` the insertion curve. At least one token is deleted at any fraction above 0.
    """
    case = replace(case, targets=replace(case.targets, scale="probability"))
    rank, count = _ranks(case, found)
    targets, steps = len(case.targets), len(fractions)
    # Point (way, target, step): ways are 0 whole, 1 deleted, 2 kept; `whole` has one step.
    owner = np.concatenate([np.arange(targets), np.tile(np.repeat(np.arange(targets), steps), 2)])
    first = np.minimum(np.ceil(np.outer(count, fractions)), count[:, None]).astype(np.int64).ravel()
    many = np.concatenate([np.zeros(targets, np.int64), first, first])
    keeps = np.arange(len(owner)) >= targets + targets * steps

    def mix(points: Ints, width: int) -> NDArray[np.float32]:
        offsets = np.arange(width)
        own = owner[points]
        inside = offsets < np.diff(case.starts)[own][:, None]
        ranks = np.where(inside, rank[np.where(inside, case.starts[own][:, None] + offsets, 0)], 0)
        chosen = ranks < many[points][:, None]
        shown: NDArray[np.float32] = np.where(keeps[points][:, None], chosen, ~chosen).astype(np.float32)
        return shown

    values = scores_at(case, owner, mix, exact=True)
    shaped = values[targets:].reshape(2, targets, steps)
    return Faithfulness(tuple(fractions), values[:targets], shaped[0], shaped[1])


def _ranks(case: AttributionInput, found: Attributions) -> tuple[Ints, Ints]:
    """The rank of every token among those of its target that can be deleted, and how many can; separators come last."""
    owner = np.repeat(np.arange(len(found)), np.diff(found.starts))
    order = np.lexsort((-found.values, ~case.changed, owner))
    rank = np.empty(len(owner), np.int64)
    rank[order] = np.arange(len(owner)) - found.starts[owner[order]]
    return rank, np.bincount(owner[case.changed], minlength=len(found))
