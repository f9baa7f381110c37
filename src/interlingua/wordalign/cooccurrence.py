"""The co-occurrences of a bitext, in a form in which a pass over them is a few dense operations.

A target word of a row with n source words has n co-occurrences. Target words are sorted by type and cut into
blocks, so that the distinct (source type, target type) pairs of a block are no other block's: what a block reads
and counts is a short range of the table of pairs, which stays in the processor's cache, and blocks can be worked
on at the same time without changing a digit. Within a block, words are grouped by n: a group is a dense matrix.

All that grows with the text is in the store, which has a budget; the blocks here only say where.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

from interlingua.wordalign.diagonal import Groups, Places
from interlingua.wordalign.distinct import distinct
from interlingua.wordalign.entries import EntryStore, Kept
from interlingua.wordalign.numbering import Sentences
from interlingua.wordalign.slots import Cut, Part, Slots
from interlingua.wordalign.threads import Workers

PIECE = {"cpu": 1 << 20, "cuda": 1 << 26}
"""How many co-occurrences are worked on at once, but for a single word's: few for the cache, many for a GPU."""


class Words(NamedTuple):
    """The target words of a piece, sorted by the length of their source sentence; 32-bit numbers."""

    at: torch.Tensor  # where they stand in the target text
    types: torch.Tensor
    places: torch.Tensor
    entries: torch.Tensor  # for each word, and each source word of its row, the number of the pair within the block


@dataclass(frozen=True, slots=True)
class Piece:
    """Some target words of a block: how they are grouped, and where they are."""

    groups: Groups
    kept: Kept

    def words(self, store: EntryStore) -> Words:
        count = sum(self.groups.words)
        return Words(*store.get(self.kept).split_with_sizes([count, count, count, sum(self.groups.entries)]))


@dataclass(frozen=True, slots=True)
class Block:
    """All target words of some types, and the range of the table that holds their pairs."""

    first_pair: int
    pairs: int
    pieces: tuple[Piece, ...]
    sources: Kept  # the source type of each pair
    targets: Kept  # the target type of each pair


@dataclass(frozen=True)
class Cooccurrences:
    """The blocks of a bitext in one direction."""

    places: Places
    blocks: tuple[Block, ...]
    words: int  # target words in rows with two sides
    occurring: torch.Tensor  # the target types among them
    store: EntryStore

    @property
    def pairs(self) -> int:
        """The number of distinct pairs of types."""
        return self.blocks[-1].first_pair + self.blocks[-1].pairs if self.blocks else 0

    @classmethod
    def of(cls, source: Sentences, target: Sentences, *, store: EntryStore, workers: Workers) -> Cooccurrences:
        """The co-occurrences of rows that translate each other; rows with an empty side have none."""
        slots = Slots.of(source, target, store.device)
        blocks: list[Block] = []
        first = 0
        for made in workers.each(lambda cut: _numbered(slots, cut, store), slots.cuts(PIECE[store.device.type])):
            blocks.append(Block(first, *made))
            first += made.pairs
        return cls(slots.places, tuple(blocks), len(slots.order.words), slots.occurring, store)

    @classmethod
    def known(
        cls, source: Sentences, target: Sentences, keys: torch.Tensor, *, store: EntryStore, workers: Workers
    ) -> Cooccurrences:
        """The co-occurrences as places in a given table of pairs; a pair that is not there gets the place past its end.

        `keys` are sorted: those of `Slots.keys`, target-major, with a source type more than the vocabulary has.
        """
        slots = Slots.of(source, target, store.device, unknown=True)
        none = store.keep(torch.zeros(0, dtype=torch.int32, device=store.device))

        def block(cut: Cut) -> Block:
            parts = [slots.part(*bounds) for bounds in cut.parts]
            pieces = (_piece(part, _looked_up(slots.keys(part, 0), keys), store) for part in parts)
            return Block(0, len(keys) + 1, tuple(pieces), none, none)

        blocks = tuple(workers.each(block, slots.cuts(PIECE[store.device.type])))
        return cls(slots.places, blocks, len(slots.order.words), slots.occurring, store)


class _Made(NamedTuple):
    pairs: int
    pieces: tuple[Piece, ...]
    sources: Kept
    targets: Kept


def _numbered(slots: Slots, cut: Cut, store: EntryStore) -> _Made:
    """A block's distinct pairs, and its pieces with every co-occurrence numbered by them."""
    parts = [slots.part(*bounds) for bounds in cut.parts]
    if len(parts) == 1:
        keys, entries = distinct(slots.keys(parts[0], cut.first_type), cut.types * slots.width)
        pieces = [_piece(parts[0], entries, store)]
    else:
        # One type with more co-occurrences than a piece may have: its source words are marked, then numbered.
        seen = torch.zeros(slots.width, dtype=torch.bool, device=store.device)
        for part in parts:
            seen.index_fill_(0, slots.keys(part, cut.first_type), True)
        keys, number = seen.nonzero().view(-1), seen.cumsum(0, dtype=torch.int32).sub_(1)
        pieces = [_piece(part, number.index_select(0, slots.keys(part, cut.first_type)), store) for part in parts]
    targets = keys // slots.width
    pair_types = store.keep((keys - targets * slots.width).int()), store.keep((targets + cut.first_type).int())
    return _Made(len(keys), tuple(pieces), *pair_types)


def _looked_up(wanted: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    at = torch.searchsorted(keys, wanted)
    if len(keys):
        there = keys.index_select(0, at.clamp_max(len(keys) - 1)) == wanted
        at = torch.where(there, at, len(keys))
    return at.int()


def _piece(part: Part, entries: torch.Tensor, store: EntryStore) -> Piece:
    return Piece(part.groups, store.keep(part.words, part.types, part.places, entries))
