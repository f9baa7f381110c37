"""Cross-lingual adjustment (Cao et al. 2020; papers/001 Eq. 1): linked words of two languages are pulled together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from interlingua.errors import InputError
from interlingua.objectives import objectives
from interlingua.training.forward import Batch
from interlingua.training.pair_batches import PairPass
from interlingua.training.reference import Reference

TARGETS, REDUCTIONS = ("joint", "frozen"), ("mean", "sum")


@objectives.register("adjustment")
@dataclass
class Adjustment:
    """Squared L2 distance of linked words' vectors, >= 0: translations are pulled together (papers/001 Eq. 1).

    With s and t the source (English) and target word of a pair, f the model's vectors at `layer` (the mean of
    sub-tokens), the first sum of Eq. 1 is

        Σ ‖f(s) - f(t)‖².

    `target="joint"`: both sides move, as Eq. 1 has it and the code of papers/001 does. `"frozen"`: f(s) is the
    original model's f⁰(s), so only the target language moves, as in public copies of Cao et al. (2020).
    `reduction="sum"` is the formula as printed; `"mean"` is what the code of papers/001 does (the mean over pairs and
    dimensions), and its learning rate fits that. The second sum of Eq. 1 is the objective `anchor`, which shares this
    one's pass where both have the same `pairs`.
    """

    pairs: PairPass
    layer: int = -1
    target: str = "joint"
    reduction: str = "mean"
    reference: Reference | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_option_value("target of the adjustment", self.target, TARGETS)
        check_option_value("reduction", self.reduction, REDUCTIONS)
        if self.target == "frozen" and self.reference is None:
            raise InputError("a frozen target has no vectors", remedy="Give the reference of the original model.")

    def prepare(self, model: torch.nn.Module) -> Callable[[], None]:
        if self.reference is not None:
            self.reference.check(model, self.layer, self.pairs.bitext)
        return self.pairs.prepare(model, self.layer)

    def batch(self, step: int, *, rank: int, world: int, device: torch.device) -> Batch:
        return self.pairs.batch(step, rank=rank, world=world, device=device)

    def loss(self, model: torch.nn.Module, batch: Batch) -> torch.Tensor:
        words = self.pairs.words(model, batch, self.layer).flatten(0, 1)
        if self.reference is not None and self.target == "frozen":
            ours = self.reference.rows(batch["left_row"])
        else:
            ours = words.index_select(0, batch["left"])
        apart = (ours - words.index_select(0, batch["right"])).square().sum(dim=1)
        return reduce_distances(
            apart, batch["pair_weight"], batch["counts"][0], batch["counts"][3], words.shape[1], self.reduction
        )


def reduce_distances(
    distances: torch.Tensor,
    weight: torch.Tensor,
    count: torch.Tensor,
    part: torch.Tensor,
    dim: int,
    reduction: str,
) -> torch.Tensor:
    """Squared distances summed, or as their mean over `count` and dimensions; `part` is 1 over the processes."""
    total = (distances * weight).sum()
    return total / (count * dim) if reduction == "mean" else total / part


def check_option_value(what: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse a name that is none of the known ones."""
    if value not in known:
        raise InputError(f"unknown {what}", value=value, remedy=f"Known: {', '.join(known)}.")
