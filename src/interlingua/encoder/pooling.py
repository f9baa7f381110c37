"""From sub-words to a sentence, word or span: which vectors are asked for, and how they are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.encoder.tokens import PooledItems, TokenisedTexts, WindowParts, locate_items

Ints = NDArray[np.int64]
MEANS = ("mean", "sinkless", "weighted")
SINK = 5.0
"""How many times as long as the median of the others a token is that counts as an attention sink."""


@dataclass(frozen=True)
class Pool:
    """Where one view of a chunk is gathered: (layer, item, dim), filled batch by batch.

    `begin[w]:begin[w + 1]` are the parts of window w. `shared` says that some items lie in several windows,
    so that their parts are added up. `counts` (layer, item) are the tokens in a mean without sinks so far.
    """

    parts: WindowParts
    begin: Ints
    layers: tuple[int, ...]
    pooling: str
    shared: bool
    result: torch.Tensor
    counts: torch.Tensor

    @classmethod
    def of(
        cls, parts: WindowParts, *, windows: int, items: int, layers: tuple[int, ...], pooling: str, like: torch.Tensor
    ) -> Pool:
        """An empty pool for `items` items of the width, type and device of `like`."""
        assert (np.diff(parts.window) >= 0).all()  # Items are in the order of texts, and so of windows.
        return cls(
            parts,
            np.searchsorted(parts.window, np.arange(windows + 1)),
            layers,
            pooling,
            len(np.unique(parts.item)) < len(parts.item),
            like.new_zeros((len(layers), items, like.shape[-1])),
            torch.zeros((len(layers), items), device=like.device),
        )

    def take(self, hidden: tuple[torch.Tensor, ...], batch: Ints, sinks: Sequence[torch.Tensor]) -> None:
        """Pool the items of a batch of windows from its hidden states, (window, position, dim) a layer.

        `sinks` (window, position) mark the tokens that a mean without sinks leaves out, layer by layer.
        """
        first, end = self.begin[batch], self.begin[batch + 1]
        counts = end - first
        if not counts.sum():
            return
        chosen = np.concatenate([np.arange(a, b) for a, b in zip(first, end, strict=True)])
        place = np.repeat(np.arange(len(batch)), counts)
        item = self._send(self.parts.item[chosen])
        rows = self._send(place)
        if self.pooling not in MEANS:
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
        if self.pooling == "weighted":
            before = np.zeros((len(batch), int(counts.max())), np.int64)
            before[place, slot] = self.parts.before[chosen]
            mask = mask * (positions - edges[0] + 1 + self._send(before)[..., None])
        for number, layer in enumerate(self.layers):
            if self.pooling == "sinkless":
                self._add(number, item, *_without(mask, hidden[layer].float(), sinks[layer], (rows, slots)))
                continue
            vectors = (torch.bmm(mask, hidden[layer].float())[rows, slots] * weight).to(self.result.dtype)
            if self.shared:
                self.result[number].index_add_(0, item, vectors)
            else:
                self.result[number, item] = vectors

    def _add(self, number: int, item: torch.Tensor, means: torch.Tensor, counts: torch.Tensor) -> None:
        """Merge the means of parts into those of their items, which are of whole numbers of tokens."""
        if not self.shared:
            self.result[number, item] = means.to(self.result.dtype)
            return
        before = self.counts[number]
        total = before.index_add(0, item, counts)
        self.result[number] *= (before / total.clamp(min=1))[:, None].to(self.result.dtype)
        self.result[number].index_add_(0, item, (means * (counts / total[item])[:, None]).to(self.result.dtype))
        before.copy_(total)

    def _send(self, array: NDArray[Any]) -> torch.Tensor:
        return to_device(array, self.result.device)


def attention_sinks(states: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """Which tokens of a layer (window, position, dim) are attention sinks: much longer than the others of their window.

    That is over `SINK` times the median length of the other tokens, wherever in the window they stand. `inside` marks
    what is no padding. Of an even number the lower middle is the median, so that of three tokens two may be sinks.
    """
    lengths = torch.where(inside, states.float().norm(dim=-1), torch.inf)
    ordered, order = lengths.sort(dim=1, stable=True)
    rank = order.argsort(dim=1)
    others = inside.sum(dim=1, keepdim=True) - 1
    middle = (others - 1).clamp(min=0) // 2
    # Without a token at or before the middle the others' middle is one further.
    median = ordered.gather(1, (middle + (rank <= middle)).clamp(max=lengths.shape[1] - 1))
    return inside & (others > 0) & (lengths > SINK * median)


def _without(
    mask: torch.Tensor, states: torch.Tensor, sinks: torch.Tensor, parts: tuple[torch.Tensor, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """The means of parts without their sinks, and of how many tokens; what is all sinks is of all its tokens."""
    kept = mask * ~sinks[:, None]
    kept = torch.where(kept.any(dim=2, keepdim=True), kept, mask)
    counts = kept.sum(dim=2)[parts]
    return torch.bmm(kept, states)[parts] / counts[:, None], counts


def to_device(array: NDArray[Any], device: torch.device) -> torch.Tensor:
    """The array on the device; to a GPU through pinned memory, so that nothing waits."""
    tensor = torch.from_numpy(np.asarray(array, order="C"))  # `ascontiguousarray` would make a number a row of one.
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor


UNITS = ("sentence", "word", "token", "span")
POOLINGS = ("mean", "sinkless", "weighted", "first", "last", "cls")


@dataclass(frozen=True)
class PoolingRequest:
    """What is wanted of a pass: the unit, how its sub-tokens are pooled, and of which texts and layers.

    `pooling` None is the model's own: a sentence-transformers folder states it; else, and of words, it is the mean:
    for a decoder without its attention sinks (`sinkless`).
    `only` limits the view to some texts, by number; `layers` None is all of them. The unit `span` takes one piece of
    every text, such as a name: its characters are `spans[text]`.
    """

    unit: str = "sentence"
    pooling: str | None = None
    special_tokens: bool = False
    layers: tuple[int, ...] | None = None
    only: tuple[int, ...] | None = None
    spans: tuple[tuple[int, int], ...] | None = None

    def items(self, tokens: TokenisedTexts, texts: Sequence[str], begin: int) -> PooledItems:
        """What is pooled of a chunk of texts, of which the first is number `begin`."""
        own = None if self.spans is None else self.spans[begin : begin + len(texts)]
        return shift_items(_chosen(locate_items(tokens, self.unit, texts, spans=own), self.only, begin), begin)


def _chosen(items: PooledItems, only: tuple[int, ...] | None, begin: int) -> PooledItems:
    if only is None:
        return items
    kept = np.isin(items.row + begin, np.asarray(only))
    return PooledItems(items.row[kept], items.first[kept], items.last[kept], items.spans[kept], items.lost)


def shift_items(items: PooledItems, by: int) -> PooledItems:
    """The items as those of texts whose numbers are higher by that much."""
    return PooledItems(items.row + by, items.first, items.last, items.spans, items.lost)
