"""A step of training as one CUDA graph: the host sends one command instead of a few hundred."""

from __future__ import annotations

from collections.abc import Callable

import torch

Batch = dict[str, torch.Tensor]
Update = Callable[[list[list[Batch]]], torch.Tensor]
_FIRST = 3  # steps before the capture, so that kernels are compiled and the optimiser has its state


class Graphed:
    """Calls `update` for the first steps, records it then, and plays the recording after.

    `update` takes the batches of a step (parts × terms) whose shapes never change, and returns the loss; it must take
    all its inputs from them and from tensors that stay where they are, and must never wait for the device. Gradients
    must be None when it begins, as it leaves them.
    """

    def __init__(self, update: Update) -> None:
        self._update = update
        self._calls = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._batches: list[list[Batch]] = []
        self._loss = torch.zeros(())

    def __call__(self, batches: list[list[Batch]]) -> torch.Tensor:
        self._calls += 1
        if self._calls <= _FIRST:
            # Aside, as the capture will be: what is set up here belongs to no other stream.
            aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                loss = self._update(batches)
            torch.cuda.current_stream().wait_stream(aside)
            return loss
        if self._graph is None:
            self._batches = [[{k: v.clone() for k, v in batch.items()} for batch in part] for part in batches]
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._loss = self._update(self._batches)
        else:
            for mine, part in zip(self._batches, batches, strict=True):
                for own, batch in zip(mine, part, strict=True):
                    for name, tensor in batch.items():
                        own[name].copy_(tensor)
        self._graph.replay()
        return self._loss.clone()
