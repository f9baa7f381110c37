"""The co-occurrences of a bitext, in a form in which a pass over them is a few dense operations.

A target word of a row with n source words has n co-occurrences. Target words are sorted by type and cut into
blocks, so that the distinct (source type, target type) pairs of a block are no other block's: what a block reads
and counts is a short range of the table of pairs, which stays in the processor's cache, and blocks can be worked
on at the same time without changing a digit. Within a block, words are grouped by n: a group is a dense matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from interlingua.wordalign.diagonal import Groups, Places
from interlingua.wordalign.distinct import distinct
from interlingua.wordalign.entries import EntryStore, Kept
from interlingua.wordalign.numbering import Sentences
from interlingua.wordalign.slots import Cut, Part, Slots
from interlingua.wordalign.threads import Workers

PIECE = {"cpu": 1 << 20, "cuda": 1 << 26}
"""How many co-occurrences are worked on at once, but for a single word's: few for the cache, many for a GPU."""


@dataclass(frozen=True)
class Piece:
    """Some target words of a block, sorted by the length of their source sentence; 32-bit numbers."""

    words: torch.Tensor  # where they stand in the target text
    types: torch.Tensor
    places: torch.Tensor
    starts: torch.Tensor  # where the entries of each word start, and where the last ones end
    groups: Groups
    entries: Kept  # for each word, and each source word of its row, the number of the pair within the block


@dataclass(frozen=True)
class Block:
    """All target words of some types, and the range of the table that holds their pairs."""

    first_pair: int
    pairs: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Cooccurrences:
    """The blocks of a bitext in one direction, and the two types of each distinct pair (32-bit numbers)."""

    places: Places
    blocks: tuple[Block, ...]
    pair_source: torch.Tensor
    pair_target: torch.Tensor
    store: EntryStore

    @property
    def words(self) -> int:
        """The number of target words in rows with two sides."""
        return sum(len(piece.words) for block in self.blocks for piece in block.pieces)

    @classmethod
    def of(cls, source: Sentences, target: Sentences, *, store: EntryStore, workers: Workers) -> Cooccurrences:
        """The co-occurrences of rows that translate each other; rows with an empty side have none."""
        slots = Slots.of(source, target, store.device)
        made = list(workers.each(lambda cut: _numbered(slots, cut, store), slots.cuts(PIECE[store.device.type])))
        firsts = np.cumsum([0, *(len(pairs.source) for pairs, _ in made)])
        blocks = [Block(int(at), len(pairs.source), pieces) for at, (pairs, pieces) in zip(firsts, made, strict=False)]
        none = torch.zeros(0, dtype=torch.int32, device=store.device)
        sources = torch.cat([none, *(pairs.source for pairs, _ in made)])
        targets = torch.cat([none, *(pairs.target for pairs, _ in made)])
        return cls(slots.places, tuple(blocks), sources, targets, store)

    @classmethod
    def known(
        cls, source: Sentences, target: Sentences, keys: torch.Tensor, *, store: EntryStore, workers: Workers
    ) -> Cooccurrences:
        """The co-occurrences as places in a given table of pairs; a pair that is not there gets the place past its end.

        `keys` are sorted: those of `Slots.keys`, target-major, with a source type more than the vocabulary has.
        """
        slots = Slots.of(source, target, store.device, unknown=True)

        def block(cut: Cut) -> Block:
            parts = [slots.part(*bounds) for bounds in cut.parts]
            pieces = (_piece(part, _looked_up(slots.keys(part, 0), keys), store) for part in parts)
            return Block(0, len(keys) + 1, tuple(pieces))

        none = torch.zeros(0, dtype=torch.int32, device=store.device)
        blocks = tuple(workers.each(block, slots.cuts(PIECE[store.device.type])))
        return cls(slots.places, blocks, none, none, store)


class _Pairs(NamedTuple):
    source: torch.Tensor
    target: torch.Tensor


def _numbered(slots: Slots, cut: Cut, store: EntryStore) -> tuple[_Pairs, tuple[Piece, ...]]:
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
    return _Pairs((keys - targets * slots.width).int(), (targets + cut.first_type).int()), tuple(pieces)


def _looked_up(wanted: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    at = torch.searchsorted(keys, wanted)
    there = torch.cat([keys, keys.new_full((1,), -1)]).index_select(0, at) == wanted
    return torch.where(there, at, len(keys)).int()


def _piece(part: Part, entries: torch.Tensor, store: EntryStore) -> Piece:
    return Piece(part.words, part.types, part.places, part.starts, part.groups, store.keep(entries))
