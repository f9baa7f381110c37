"""Batches of sentence pairs by step, and the pass over one: run once, whatever number of terms reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

from interlingua.encoder.pooling import send
from interlingua.errors import InputError
from interlingua.training.bitext import Bitext, Ints, pooled_words
from interlingua.training.passes import Batch, Forward, States, checked_layer, once


@dataclass
class PairBatches:
    """The batches of a bitext by step, the same to all terms that hold this object: they share one pass a step.

    Without `replacement` every row comes once an epoch, in an order drawn from (seed, epoch). With it, as in the
    continual regime of papers/001, every row of every batch is drawn anew. Either way `pooled` batches at a time are
    sorted by length, so that a batch has texts of about one length and little padding, and are taken in random order.
    The last batch of an epoch is filled from the epoch's own beginning.
    """

    bitext: Bitext
    batch_size: int = 32
    seed: int = 0
    replacement: bool = False
    pooled: int = 16
    _order: tuple[int, Ints] | None = field(default=None, repr=False)
    _made: tuple[tuple[int, int, int, torch.device], Batch] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.pooled < 1:
            raise InputError("a batch has at least one row", value=self.batch_size, remedy="Give 1 or more.")

    @property
    def steps(self) -> int:
        """The number of batches of an epoch."""
        return -(-len(self.bitext) // self.batch_size)

    def rows(self, step: int) -> Ints:
        """The rows of the batch of a step: a function of the seed and the step."""
        turn, number = divmod(step, self.pooled if self.replacement else self.steps)
        if self._order is None or self._order[0] != turn:
            self._order = (turn, self._drawn(turn))
        rows: Ints = self._order[1][number]
        return rows

    def _drawn(self, turn: int) -> Ints:
        """The rows of every batch of an epoch; with `replacement` of the batches that are sorted together."""
        draw = np.random.default_rng([self.seed, turn])
        half = len(self.bitext)
        if self.replacement:
            order = draw.integers(half, size=self.pooled * self.batch_size)
        else:
            order = np.resize(draw.permutation(half), self.steps * self.batch_size)
        longest = np.maximum(self.bitext.lengths[:half], self.bitext.lengths[half:])
        pool = np.arange(len(order)) // (self.pooled * self.batch_size)
        batches: Ints = order[np.lexsort((longest[order], pool))].reshape(-1, self.batch_size)
        return batches[draw.permutation(len(batches))]

    def batch(self, step: int, *, rank: int, world: int, device: torch.device) -> Batch:
        """This process's share of the batch of a step: the same object to all who ask for the same."""
        key = (step, rank, world, device)
        if self._made is None or self._made[0] != key:
            rows = self.rows(step)
            own = rows[rank::world]
            if not len(own):
                raise InputError(
                    f"a batch of {len(rows)} rows cannot be shared by {world} processes", remedy="Use a larger batch."
                )
            made = self.bitext.batch(own, device=device, few=self.replacement)
            counts = self.bitext.counts(rows)
            # Gradients of processes are averaged, so each divides by its part of the whole batch's count.
            made["counts"] = send((np.array(counts) / world).astype(np.float32), device)
            self._made = (key, made)
        return self._made[1]


@dataclass
class PairPass:
    """Batches of sentence pairs, and a model's layers on them: terms that hold the same object share one pass.

    Each term says in `prepare` which layer it reads; the pass goes as far up as the highest of them.
    """

    batches: PairBatches
    _wanted: list[int] = field(default_factory=list, repr=False)
    _forward: Forward | None = field(default=None, repr=False)

    @property
    def bitext(self) -> Bitext:
        return self.batches.bitext

    @property
    def steps(self) -> int:
        """The number of batches of an epoch."""
        return self.batches.steps

    def prepare(self, model: torch.nn.Module, layer: int) -> Callable[[], None]:
        """Take note of a layer that a term reads; the call that forgets it."""
        number = checked_layer(model, layer)
        self._wanted.append(number)
        self._forward = Forward(model, self._wanted)

        def forget() -> None:
            self._wanted.remove(number)

        return forget

    def batch(self, step: int, *, rank: int, world: int, device: torch.device) -> Batch:
        return self.batches.batch(step, rank=rank, world=world, device=device)

    def hidden(self, model: torch.nn.Module, batch: Batch, layer: int) -> torch.Tensor:
        """Hidden states at a layer that was asked for in `prepare`, (text, position, dim)."""
        forward = self._forward
        assert forward is not None
        states: States = once((id(self), id(batch)), lambda: forward(model, batch))
        return states[checked_layer(model, layer)]

    def words(self, model: torch.nn.Module, batch: Batch, layer: int) -> torch.Tensor:
        """The vectors of words and special tokens, (text, slot, dim) in float32; the sources' texts come first."""
        key = (id(self), id(batch), checked_layer(model, layer))
        found: torch.Tensor = once(key, lambda: pooled_words(self.hidden(model, batch, layer), batch))
        return found
