"""The loss of a task on its training examples: every example once an epoch, batches of like lengths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.encoder.inputs import IGNORED, Inputs
from interlingua.encoder.pooling import to_device
from interlingua.errors import InputError
from interlingua.objectives import objectives
from interlingua.training.loop import Batch
from interlingua.training.task import Task

Ints = NDArray[np.int64]


@objectives.register("task")
@dataclass
class TaskObjective:
    """A task: the mean loss over the labels of a batch of its training examples.

    An epoch is a permutation drawn by (seed, epoch), cut into stretches of `pool` batches; each stretch is sorted by
    length and cut into batches, and the batches of the epoch are shuffled: little padding, every input exactly once.
    With `pool=1` batches are drawn without regard to length. A batch depends on seed and step alone; with several
    processes each takes its share, and the mean is over the labels of all shares. `fixed` pads every batch to one
    shape, as a recorded step needs, or with `bucket` to a length that is a multiple of it: a few shapes, each recorded.
    """

    task: Task
    inputs: Inputs
    batch_size: int = 32
    seed: int = 0
    pool: int = 50
    fixed: bool = False
    bucket: int | None = None
    _plan: tuple[int, list[Ints]] = field(default=(-1, []), repr=False)

    def __post_init__(self) -> None:
        if not len(self.inputs):
            raise InputError("there is nothing to train the task on", remedy="Give labelled examples.")
        if self.batch_size < 1:
            raise InputError("a batch has at least one example", value=self.batch_size, remedy="Give 1 or more.")

    @property
    def steps_per_epoch(self) -> int:
        return -(-len(self.inputs) // self.batch_size)

    def prepare(self, model: torch.nn.Module) -> Callable[[], None]:
        return lambda: None

    def batch(self, step: int, *, rank: int, world: int, device: torch.device) -> Batch:
        epoch, place = divmod(step, self.steps_per_epoch)
        rows = self._epoch(epoch)[place]
        count = max(int(self.inputs.units[rows].sum()), 1)
        share = rows[rank::world]
        real = len(share)
        if self.fixed:  # Rows that count for nothing fill the last batch of an epoch.
            share = np.resize(share if real else rows[:1], -(-self.batch_size // world))
        elif not real:
            share = rows[:1]
        batch = self.inputs.batch(share, device, width=self._width(rows) if self.fixed else None)
        if real < len(share):
            for name in (*self.inputs.row_labels, *self.inputs.token_labels):
                batch[name][real:] = IGNORED
        # Processes average their gradients, so each weighs its sum by `world` over the labels of them all.
        batch["scale"] = to_device(np.full((), world / count, np.float32), device)
        return batch

    def loss(self, model: torch.nn.Module, batch: Batch) -> torch.Tensor:
        return self.task.loss(model(batch), batch) * batch["scale"]

    def _width(self, rows: Ints) -> int:
        """The length that a batch is padded to, the same in all processes."""
        lengths = self.inputs.lengths
        longest = int(lengths.max())  # A model may have no position beyond it.
        if self.bucket is None:
            return longest
        return min(-(-int(lengths[rows].max()) // self.bucket) * self.bucket, longest)

    def _epoch(self, epoch: int) -> list[Ints]:
        """The batches of an epoch, kept until another is asked for."""
        if self._plan[0] != epoch:
            draw = np.random.default_rng([self.seed, epoch])
            order, size = draw.permutation(len(self.inputs)), self.batch_size
            stretch = size * self.pool
            lengths = self.inputs.lengths
            parts: list[Ints] = []
            for begin in range(0, len(order), stretch):
                rows = order[begin : begin + stretch]
                rows = rows[np.argsort(lengths[rows], kind="stable")] if self.pool > 1 else rows
                parts += [rows[at : at + size] for at in range(0, len(rows), size)]
            self._plan = (epoch, [parts[number] for number in draw.permutation(len(parts))])
        return self._plan[1]
