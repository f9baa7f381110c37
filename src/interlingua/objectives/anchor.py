"""The anchor (papers/001 Eq. 1, second sum): source words stay where the original model had them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from interlingua.objectives import objectives
from interlingua.objectives.adjustment import REDUCTIONS, check_option_value, reduce_distances
from interlingua.training.forward import Batch
from interlingua.training.pair_batches import PairPass
from interlingua.training.reference import Reference


@objectives.register("anchor")
@dataclass
class Anchor:
    """Squared L2 distance of source words' vectors to the original model's, >= 0: English stays (papers/001 Eq. 1).

    Σ ‖f(s) - f⁰(s)‖² over all words s of the source sentences and their special tokens, linked or not, as the code of
    papers/001 does. f⁰ comes from `reference`, computed once before training; nothing is run for it at a step.
    Where an `adjustment` has the same `pairs`, both read one pass. `reduction` is as there.
    """

    pairs: PairPass
    reference: Reference = field(repr=False)
    layer: int = -1
    reduction: str = "mean"

    def __post_init__(self) -> None:
        check_option_value("reduction", self.reduction, REDUCTIONS)

    def prepare(self, model: torch.nn.Module) -> Callable[[], None]:
        self.reference.check(model, self.layer, self.pairs.bitext)
        return self.pairs.prepare(model, self.layer)

    def batch(self, step: int, *, rank: int, world: int, device: torch.device) -> Batch:
        return self.pairs.batch(step, rank=rank, world=world, device=device)

    def loss(self, model: torch.nn.Module, batch: Batch) -> torch.Tensor:
        weight = batch["anchor_weight"]
        now = self.pairs.words(model, batch, self.layer)[: len(weight)]
        moved = (now - self.reference.rows(batch["anchor_row"])).square().sum(dim=2)
        return reduce_distances(moved, weight, batch["counts"][1], batch["counts"][3], now.shape[2], self.reduction)
