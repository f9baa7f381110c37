"""A step of training as one CUDA graph: the host sends one command instead of a few hundred."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

Batch = dict[str, torch.Tensor]
Update = Callable[[list[list[Batch]]], torch.Tensor]
_FIRST = 3  # steps before the first capture, so that kernels are compiled and the optimiser has its state
_MOST = 40  # graphs; batches of yet other shapes are run as they are

_Shape = tuple[tuple[str, tuple[int, ...], torch.dtype], ...]


@dataclass(frozen=True)
class _Recording:
    """A recorded step: the graph, what it reads, what it leaves."""

    graph: torch.cuda.CUDAGraph
    batches: list[list[Batch]]
    readings: torch.Tensor


class CudaGraphStep:
    """Calls `update` for the first steps, records it then, and plays the recording after; one for each shape.

    `update` takes the batches of a step (parts × terms) and returns its readings; it must take all its inputs from them
    and from tensors that stay where they are, and must never wait for the device. Gradients must be None when it
    begins, as it leaves them. Terms that were given one batch are given one batch in the recording.
    """

    def __init__(self, update: Update) -> None:
        self._update = update
        self._calls = 0
        self._seen: set[_Shape] = set()
        self._recordings: dict[_Shape, _Recording] = {}

    def __call__(self, batches: list[list[Batch]]) -> torch.Tensor:
        self._calls += 1
        shape = _shape(batches)
        known = self._recordings.get(shape)
        if known is None:
            # Once as it is: what a shape sets up for the first time may wait for the device.
            new = shape not in self._seen
            self._seen.add(shape)
            if self._calls <= _FIRST or new or len(self._recordings) >= _MOST:
                return self._aside(batches)
            known = self._recordings[shape] = self._record(batches)
        else:
            for mine, theirs in zip(known.batches, batches, strict=True):
                for own, batch in {id(own): (own, batch) for own, batch in zip(mine, theirs, strict=True)}.values():
                    for name, tensor in batch.items():
                        own[name].copy_(tensor)
        known.graph.replay()
        return known.readings.clone()

    def _aside(self, batches: list[list[Batch]]) -> torch.Tensor:
        """Run in another stream, as the capture will be: what is set up here belongs to no other."""
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            readings = self._update(batches)
        torch.cuda.current_stream().wait_stream(aside)
        return readings

    def _record(self, batches: list[list[Batch]]) -> _Recording:
        copies = {id(batch): {k: v.clone() for k, v in batch.items()} for part in batches for batch in part}
        own = [[copies[id(batch)] for batch in part] for part in batches]
        # One pool for all: only one of the graphs runs at a time, and its readings are copied at once.
        first = next(iter(self._recordings.values()), None)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=None if first is None else first.graph.pool()):
            readings = self._update(own)
        return _Recording(graph, own, readings)


def _shape(batches: list[list[Batch]]) -> _Shape:
    return tuple(
        (name, tuple(tensor.shape), tensor.dtype)
        for part in batches
        for batch in part
        for name, tensor in batch.items()
    )
