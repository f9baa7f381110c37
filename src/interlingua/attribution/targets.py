"""Targets: the number that is explained. A class of a text, a tag of a token, or a token as an answer's end."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.encoder.inputs import Inputs
from interlingua.encoder.pooling import send
from interlingua.errors import InputError
from interlingua.registry import unknown

Ints = NDArray[np.int64]
SCALES = ("logit", "probability")
START, END = 0, 1


@dataclass(frozen=True)
class Targets:
    """Target i is a number that the model gives for input `row[i]`: the score of `label[i]`, at `position[i]` if >= 0.

    `scale` is the score itself (`logit`) or its share among what it competes with (`probability`): labels, or with
    `rivals="positions"` the positions of the text.
    """

    row: Ints
    label: Ints
    position: Ints
    scale: str = "logit"
    rivals: str = "labels"

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise unknown("scale of a target", self.scale, list(SCALES))

    def __len__(self) -> int:
        return len(self.row)

    def take(self, numbers: Ints) -> Targets:
        """The targets of these numbers, in this order."""
        return replace(self, row=self.row[numbers], label=self.label[numbers], position=self.position[numbers])

    def values(self, output: torch.Tensor, batch: dict[str, torch.Tensor], numbers: Ints) -> torch.Tensor:
        """The value of each of these targets in the output of a batch, whose row k is the input of `numbers[k]`."""
        wanted = output.shape[-1]
        worst = int(self.label[numbers].max(initial=0))
        if worst >= wanted:
            raise InputError(
                "a label that the head does not have", value=worst, remedy=f"It has {wanted}, numbered from 0."
            )
        if (output.ndim == 3) != bool((self.position[numbers] >= 0).all()):
            kinds = ("texts", "tokens") if output.ndim == 2 else ("tokens", "texts")
            raise InputError(f"the head scores {kinds[0]}, and {kinds[1]} are asked for", remedy="Use its own task.")
        rows = torch.arange(len(numbers), device=output.device)
        label = send(self.label[numbers], output.device)
        if output.ndim == 2:
            chosen = output if self.scale == "logit" else output.softmax(dim=-1)
            return chosen[rows, label]
        position = send(self.position[numbers], output.device)
        if self.scale == "logit":
            return output[rows, position, label]
        if self.rivals == "labels":
            return output[rows, position].softmax(dim=-1)[rows, label]
        if "attention_mask" in batch:
            output = output.masked_fill(batch["attention_mask"][..., None] == 0, -torch.inf)
        return output.softmax(dim=1)[rows, position, label]


def of_texts(labels: Ints, *, scale: str = "logit") -> Targets:
    """The class of each input: gold ones, or those the model chose (papers/002 leaves it open)."""
    rows = np.arange(len(labels))
    return Targets(rows, np.asarray(labels, np.int64), np.full(len(labels), -1), scale)


def of_tokens(inputs: Inputs, items: Ints, labels: Ints, *, scale: str = "logit") -> Targets:
    """The label of each of these items (words of NER, by number) at the token that stands for it.

    An item that no input has a token for has no target; targets are in the order of `items`.
    """
    assert inputs.items is not None
    place = np.full(inputs.item_count, -1, np.int64)
    there = np.flatnonzero(inputs.items >= 0)
    place[inputs.items[there]] = there
    found = place[items]
    kept = found >= 0
    row = np.searchsorted(inputs.starts, found[kept], side="right") - 1
    return Targets(row, np.asarray(labels, np.int64)[kept], found[kept] - inputs.starts[row], scale)


def of_answers(rows: Ints, positions: Ints, side: int, *, scale: str = "logit") -> Targets:
    """The first (`START`) or last (`END`) token of an answer, by its position in the input at each row."""
    return Targets(np.asarray(rows), np.full(len(rows), side), np.asarray(positions), scale, rivals="positions")
