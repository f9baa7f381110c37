"""Hidden states to items: sentences, words or tokens pooled on the device, every layer, without a loop over items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.encoder.tokens import Parts

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Pool:
    """Where one view of a chunk is gathered: (layer, item, dim), filled batch by batch.

    `begin[w]:begin[w + 1]` are the parts of window w. `shared` says that some items lie in several windows,
    so that their parts are added up.
    """

    parts: Parts
    begin: Ints
    layers: tuple[int, ...]
    mean: bool
    shared: bool
    result: torch.Tensor

    @classmethod
    def of(
        cls, parts: Parts, *, windows: int, items: int, layers: tuple[int, ...], mean: bool, like: torch.Tensor
    ) -> Pool:
        """An empty pool for `items` items of the width, type and device of `like`."""
        assert (np.diff(parts.window) >= 0).all()  # Items are in the order of texts, and so of windows.
        return cls(
            parts,
            np.searchsorted(parts.window, np.arange(windows + 1)),
            layers,
            mean,
            len(np.unique(parts.item)) < len(parts.item),
            like.new_zeros((len(layers), items, like.shape[-1])),
        )

    def take(self, hidden: tuple[torch.Tensor, ...], batch: Ints) -> None:
        """Pool the items of a batch of windows from its hidden states, (window, position, dim) a layer."""
        first, end = self.begin[batch], self.begin[batch + 1]
        counts = end - first
        if not counts.sum():
            return
        chosen = np.concatenate([np.arange(a, b) for a, b in zip(first, end, strict=True)])
        place = np.repeat(np.arange(len(batch)), counts)
        item = self._send(self.parts.item[chosen])
        rows = self._send(place)
        if not self.mean:
            columns = self._send(self.parts.first[chosen])
            for number, layer in enumerate(self.layers):
                self.result[number, item] = hidden[layer][rows, columns].to(self.result.dtype)
            return
        slot = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
        bounds = np.zeros((2, len(batch), int(counts.max())), np.int64)
        bounds[0, place, slot], bounds[1, place, slot] = self.parts.first[chosen], self.parts.last[chosen]
        edges = self._send(bounds)[..., None]
        positions = torch.arange(hidden[0].shape[1], device=self.result.device)
        # Sums by a product with zeros and ones: deterministic, and in float32 whatever the model's precision.
        mask = ((positions >= edges[0]) & (positions < edges[1])).float()
        slots, weight = self._send(slot), self._send(self.parts.weight[chosen])[:, None]
        for number, layer in enumerate(self.layers):
            vectors = (torch.bmm(mask, hidden[layer].float())[rows, slots] * weight).to(self.result.dtype)
            if self.shared:
                self.result[number].index_add_(0, item, vectors)
            else:
                self.result[number, item] = vectors

    def _send(self, array: NDArray[Any]) -> torch.Tensor:
        return send(array, self.result.device)


def send(array: NDArray[Any], device: torch.device) -> torch.Tensor:
    """The array on the device; to a GPU through pinned memory, so that nothing waits."""
    tensor = torch.from_numpy(np.asarray(array, order="C"))  # `ascontiguousarray` would make a number a row of one.
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor
