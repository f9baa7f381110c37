"""Texts that occur more than once: each is encoded once, and every other place is given the same vectors.

The same text in two batches has vectors that differ in their last bits, and what is equal must be equal: a measure
that counts ties would take them for near neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from interlingua.encoder.tokens import Items
from interlingua.encoder.views import View

Ints = NDArray[np.int64]
Vectors = NDArray[np.floating[Any]]


class Written(Protocol):
    """Vectors that were written and can be read again."""

    def taken(self, items: Ints) -> Vectors: ...


def first_alike(texts: Sequence[str], view: View) -> Ints:
    """For each text the number of the first equal one of those that a view wants; its own where the view does not.

    With spans a text is equal where its span is, too.

    >>> [first_alike("abaa", view).tolist() for view in (View(), View(only=(2, 3)))]
    [[0, 1, 0, 0], [0, 1, 2, 2]]
    """
    found = np.arange(len(texts))
    first: dict[object, int] = {}
    for number in range(len(texts)) if view.only is None else view.only:
        key = texts[number] if view.spans is None else (texts[number], view.spans[number])
        found[number] = first.setdefault(key, number)
    return found


@dataclass(frozen=True)
class Repeats:
    """What of a chunk's items is pooled (`fresh`), and which item, of all so far, each takes its vector from.

    `before` items were in earlier chunks.
    """

    fresh: NDArray[np.bool_]
    origin: Ints
    before: int

    def pooled(self, items: Items) -> Items:
        """The items that are pooled."""
        return Items(items.row[self.fresh], items.first[self.fresh], items.last[self.fresh], items.spans[self.fresh])

    def whole(self, vectors: Vectors, written: Written) -> Vectors:
        """The (layer, item, dim) vectors of all items of the chunk, from those of the fresh ones and earlier chunks."""
        if self.fresh.all():
            return vectors
        made = np.empty((len(vectors), len(self.fresh), vectors.shape[-1]), vectors.dtype)
        made[:, self.fresh] = vectors
        earlier = self.origin < self.before
        if earlier.any():
            made[:, earlier] = written.taken(self.origin[earlier])
        here = ~self.fresh & ~earlier
        made[:, here] = made[:, self.origin[here] - self.before]
        return made


class Alike:
    """The repeats of a view's texts, chunk after chunk, from the numbers of `first_alike`."""

    def __init__(self, first: Ints) -> None:
        self.first = first
        self._begin = np.zeros_like(first)  # the number of each text's first item
        self._count = 0

    def next(self, items: Items) -> Repeats:
        """The repeats among the next chunk's items, which are in the order of texts."""
        begin = np.searchsorted(items.row, items.row)
        self._begin[items.row] = self._count + begin
        first = self.first[items.row]
        # Equal texts have the same items in the same order.
        origin = self._begin[first] + np.arange(len(items)) - begin
        found = Repeats(first == items.row, origin, self._count)
        self._count += len(items)
        return found
