"""`View`: what is wanted of a pass over texts, and the items it pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interlingua.encoder.tokens import Items, TokenisedTexts, items_of

UNITS = ("sentence", "word", "token", "span")
POOLINGS = ("mean", "sinkless", "weighted", "first", "last", "cls")


@dataclass(frozen=True)
class View:
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

    def items(self, tokens: TokenisedTexts, texts: Sequence[str], begin: int) -> Items:
        """What is pooled of a chunk of texts, of which the first is number `begin`."""
        own = None if self.spans is None else self.spans[begin : begin + len(texts)]
        return moved(_chosen(items_of(tokens, self.unit, texts, spans=own), self.only, begin), begin)


def _chosen(items: Items, only: tuple[int, ...] | None, begin: int) -> Items:
    if only is None:
        return items
    kept = np.isin(items.row + begin, np.asarray(only))
    return Items(items.row[kept], items.first[kept], items.last[kept], items.spans[kept], items.lost)


def moved(items: Items, by: int) -> Items:
    """The items as those of texts whose numbers are higher by so many."""
    return Items(items.row + by, items.first, items.last, items.spans, items.lost)
