"""Contrastive alignment (InfoNCE): a word or sentence is distinguished from the batch's others by its translation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from interlingua.errors import InputError
from interlingua.objectives import objectives
from interlingua.objectives.adjustment import check_option_value
from interlingua.training.forward import Batch
from interlingua.training.pair_batches import PairPass, pooled_texts

UNITS = ("word", "sentence")


@objectives.register("contrastive")
@dataclass
class Contrastive:
    """InfoNCE of translations against all others in the batch, >= 0: linked words or whole sentences.

    With u and v the vectors of n pairs brought to length 1 and τ the temperature,

        -1/2n Σ_i [ log softmax_j(u_i·v_j / τ)_i + log softmax_j(v_i·u_j / τ)_i ]

    (van den Oord et al. 2018; to align words: Wu & Dredze 2020). Words are the linked pairs of `pairs`, special tokens
    left out: every sentence has the same ones, which would be each other's negatives. Sentences are means of their
    tokens. With several processes the others are those of a process's own share.
    """

    pairs: PairPass
    layer: int = -1
    unit: str = "word"
    temperature: float = 0.1

    def __post_init__(self) -> None:
        check_option_value("unit of the contrast", self.unit, UNITS)
        if not self.temperature > 0:
            raise InputError("a temperature is above 0", value=self.temperature, remedy="Give 0.1, or so.")

    def prepare(self, model: torch.nn.Module) -> Callable[[], None]:
        return self.pairs.prepare(model, self.layer)

    def batch(self, step: int, *, rank: int, world: int, device: torch.device) -> Batch:
        return self.pairs.batch(step, rank=rank, world=world, device=device)

    def loss(self, model: torch.nn.Module, batch: Batch) -> torch.Tensor:
        if self.unit == "sentence":
            ours, theirs = pooled_texts(
                self.pairs.hidden(model, batch, self.layer), batch, self.pairs.bitext.inner
            ).chunk(2)
            weight, count = torch.ones_like(ours[:, 0]), batch["counts"][2]
        else:
            words = self.pairs.words(model, batch, self.layer).flatten(0, 1)
            ours, theirs = (words.index_select(0, batch[side]) for side in ("left", "right"))
            weight, count = batch["word_weight"], batch["counts"][4]
        ours, theirs = (torch.nn.functional.normalize(side, dim=1) for side in (ours, theirs))
        logits = ours @ theirs.T / self.temperature
        absent = weight == 0
        losses = sum(
            torch.nn.functional.cross_entropy(
                way.masked_fill(absent, float("-inf")).masked_fill(absent[:, None], 0.0),
                torch.arange(len(way), device=way.device),
                reduction="none",
            )
            for way in (logits, logits.T)
        )
        return (torch.as_tensor(losses) * weight).sum() / (2 * count)
