"""What is attributed: examples as model inputs, the baseline they are compared with, and the target explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.attribution.embedding_forward import EmbeddingForward
from interlingua.encoder.inputs import Inputs, expand_ranges
from interlingua.encoder.pooling import to_device
from interlingua.errors import InputError
from interlingua.registry import unknown

_CHUNK = 8192


@dataclass(frozen=True)
class Baseline:
    """A vector (dim,) that stands in for tokens, and the ids of those that stay as they are."""

    name: str
    vector: torch.Tensor
    kept: tuple[int, ...]

    @classmethod
    def of(cls, name: str, through: EmbeddingForward, tokenizer: Any, *, kept: tuple[int, ...]) -> Baseline:
        """The baseline called so: padding (Wang et al. 2021 §2.1), mask, zero or mean.

        `kept` are the ids of separators: what the tokenizer puts round texts.
        """
        if name not in BASELINES:
            raise unknown("baseline", name, list(BASELINES))
        return cls(name, BASELINES[name](through, tokenizer), tuple(sorted(set(kept))))

    def changed(self, ids: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether a token differs from its baseline: all but separators."""
        return ~np.isin(ids, np.array(self.kept, np.int64))


def _padding(through: EmbeddingForward, tokenizer: Any) -> torch.Tensor:
    # A tokenizer without padding (a decoder's) is padded with its end of text everywhere else in the house.
    return _of_token(through, tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id)


def _mask(through: EmbeddingForward, tokenizer: Any) -> torch.Tensor:
    if tokenizer.mask_token_id is None:
        raise InputError("the tokenizer has no mask token", value="mask", remedy="Use the baseline padding or mean.")
    return _of_token(through, tokenizer.mask_token_id)


def _zero(through: EmbeddingForward, tokenizer: Any) -> torch.Tensor:
    return torch.zeros_like(_of_token(through, 0))


def _mean(through: EmbeddingForward, tokenizer: Any) -> torch.Tensor:
    table: Any = through.table
    count = int(table.weight.shape[0])
    total = torch.zeros_like(_of_token(through, 0), dtype=torch.float64)
    for begin in range(0, count, _CHUNK):
        ids = torch.arange(begin, min(begin + _CHUNK, count), device=through.device)
        total += through.embed(ids).sum(dim=0, dtype=torch.float64)
    return (total / count).float()


def _of_token(through: EmbeddingForward, token: int | None) -> torch.Tensor:
    return through.embed(torch.tensor(token or 0, device=through.device))


BASELINES: dict[str, Callable[[EmbeddingForward, Any], torch.Tensor]] = {
    "padding": _padding,
    "mask": _mask,
    "zero": _zero,
    "mean": _mean,
}


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
        label = to_device(self.label[numbers], output.device)
        if output.ndim == 2:
            chosen = output if self.scale == "logit" else output.softmax(dim=-1)
            return chosen[rows, label]
        position = to_device(self.position[numbers], output.device)
        if self.scale == "logit":
            return output[rows, position, label]
        if self.rivals == "labels":
            return output[rows, position].softmax(dim=-1)[rows, label]
        if "attention_mask" in batch:
            output = output.masked_fill(batch["attention_mask"][..., None] == 0, -torch.inf)
        return output.softmax(dim=1)[rows, position, label]


def of_texts(labels: Ints, *, scale: str = "logit") -> Targets:
    """The class of each input: gold ones, or those the model chose (Wang et al. 2021 leaves it open)."""
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


Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class AttributionInput:
    """A model as a function of word embeddings, what it reads, the numbers to explain, and what nothing looks like."""

    through: EmbeddingForward
    inputs: Inputs
    targets: Targets
    baseline: Baseline
    progress: Progress | None = None

    @cached_property
    def starts(self) -> Ints:
        """Where the tokens of each target begin in a flat array of them, and its end."""
        starts = np.zeros(len(self.targets) + 1, np.int64)
        np.cumsum(self.inputs.lengths[self.targets.row], out=starts[1:])
        return starts

    @cached_property
    def changed(self) -> NDArray[np.bool_]:
        """Whether each token of the targets, flat, differs from its baseline."""
        row = self.targets.row
        return self.baseline.changed(self.inputs.ids[expand_ranges(self.inputs.starts[row], self.inputs.lengths[row])])


@dataclass(frozen=True)
class Attributions:
    """The attribution of each token of each target: target i has `values[starts[i]:starts[i + 1]]`.

    `score` is the target's value for the input, `nothing` that for its baseline; `steps` how many points of the path
    each was integrated over (0: none).
    """

    values: Floats
    starts: Ints
    score: Floats
    nothing: Floats
    steps: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> Floats:
        return self.values[self.starts[number] : self.starts[number + 1]]

    @property
    def delta(self) -> Floats:
        """What attributions add up to beyond what they have to: sum - (score - nothing), 0 for a complete one."""
        sums = np.add.reduceat(self.values, self.starts[:-1]) if len(self.values) else np.zeros(len(self))
        delta: Floats = sums - (self.score - self.nothing)
        return delta

    @property
    def gap(self) -> Floats:
        """The completeness gap of each target, >= 0: |delta| as a share of all that was attributed.

        |delta| / max(|score - nothing|, sum of |attributions|); 0 where all of it is 0. Integrated gradients are
        complete (Sundararajan et al. 2017, §3), so this is the error of the integral; others are not.
        """
        sizes = np.add.reduceat(np.abs(self.values), self.starts[:-1]) if len(self.values) else np.zeros(len(self))
        scale = np.maximum(sizes, np.abs(self.score - self.nothing))
        gap: Floats = np.abs(self.delta) / np.where(scale > 0, scale, 1.0)
        return gap
