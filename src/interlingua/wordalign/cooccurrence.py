"""Which words occur together, on disk where memory is short, cut into blocks whose products are dense."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from interlingua.wordalign.blocks import Workers
from interlingua.wordalign.diagonal import Groups, Prior, TargetPlaces
from interlingua.wordalign.spill import SpillFile
from interlingua.wordalign.vocabulary import Sentences, distinct


@dataclass(frozen=True, slots=True)
class ArrayPlace:
    """Where one array is: in memory, or `count` numbers at `offset` of the file."""

    memory: torch.Tensor | None
    offset: int = 0
    count: int = 0


@dataclass
class EntryStore:
    """Arrays of 32-bit integers, the first `budget` bytes of them in the memory of the device."""

    budget: int
    device: torch.device
    _used: int = 0
    _file: SpillFile = field(default_factory=lambda: SpillFile("the co-occurrences of this text"))
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def on(cls, device: torch.device, budget: int | None = None) -> EntryStore:
        """A store with this budget; by default 1 GiB, or half of what is free on a GPU."""
        if budget is None:
            budget = 1 << 30 if device.type == "cpu" else torch.cuda.mem_get_info(device)[0] // 2
        return cls(budget, device)

    def keep(self, *parts: torch.Tensor) -> ArrayPlace:
        """Keep arrays, one behind the other; `get` gives them back as one."""
        data = sum(part.numel() for part in parts) * 4
        with self._lock:
            fits = self._used + data <= self.budget
            self._used += data * fits
        whole = parts[0] if len(parts) == 1 else torch.cat(parts)
        if fits:
            return ArrayPlace(whole)
        return ArrayPlace(None, self._file.append(whole.cpu().numpy().data.cast("B")), whole.numel())

    def get(self, kept: ArrayPlace) -> torch.Tensor:
        """What was kept, on the device."""
        if kept.memory is not None:
            return kept.memory
        data = np.empty(kept.count, np.int32)
        self._file.read_into(data.data.cast("B"), kept.offset)
        return torch.from_numpy(data).to(self.device)

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


_SORTED_AT_ONCE = {"cpu": 1 << 22, "cuda": 1 << 28}
"""How many words are sorted at once: a sort takes 24 bytes a word, and what stays of it four."""


class Cut(NamedTuple):
    """A range of target types, and the ranges of sorted target words that hold them; more than one for one type."""

    first_type: int
    types: int
    parts: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class TargetWords:
    """Some target words, sorted by place."""

    words: torch.Tensor  # where they stand in the target text
    types: torch.Tensor
    places: torch.Tensor
    lines: torch.Tensor  # the line of their source sentence among those as long
    groups: Groups


@dataclass(frozen=True)
class _BitextRows:
    """What is known of every row of a bitext, on the device."""

    source_lengths: torch.Tensor
    target_starts: torch.Tensor
    whole: torch.Tensor  # whether both sides have words
    first_places: torch.Tensor  # the place of the first target word
    lines: torch.Tensor  # the line of the source sentence in its matrix


@dataclass(frozen=True)
class _Sorted:
    """The target words of whole rows in order of their type."""

    words: torch.Tensor  # where they stand in the target text, 32-bit numbers
    type_ends: torch.Tensor  # where the words of each type end
    entry_ends: torch.Tensor  # the number of co-occurrences up to there


@dataclass(frozen=True)
class Slots:
    """A bitext on the device: the source sentences as dense matrices, the target words in order of their type."""

    matrices: dict[int, torch.Tensor]  # sentences as lines, by their length
    target_ids: torch.Tensor
    row_of: torch.Tensor  # the row of each target word
    rows: _BitextRows
    order: _Sorted
    places: TargetPlaces
    width: int  # the number of source types

    @classmethod
    def of(cls, source: Sentences, target: Sentences, device: torch.device, *, unknown: bool = False) -> Slots:
        """The slots of a bitext; `unknown`: a number past the end of the vocabulary stands for words it lacks."""
        starts = [torch.from_numpy(side.starts).to(device) for side in (source, target)]
        n, m = starts[0].diff(), starts[1].diff()
        whole = (n > 0) & (m > 0)
        places, first_of_whole = TargetPlaces.of(n[whole], m[whole])
        first_places = torch.zeros_like(n).masked_scatter_(whole, first_of_whole).int()
        matrices, lines = _matrices(torch.from_numpy(source.ids).to(device), starts[0], whole)
        rows = _BitextRows(n, starts[1], whole, first_places, lines)
        ids, row_of = torch.from_numpy(target.ids).to(device), _row_of(target, device)
        order = _sorted(ids, row_of, rows, len(target.words) + unknown)
        return cls(matrices, ids, row_of, rows, order, places, len(source.words) + unknown)

    @property
    def occurring(self) -> torch.Tensor:
        """The target types that occur in whole rows."""
        ends = self.order.type_ends
        return torch.cat([ends[:1], ends.diff()]).nonzero().view(-1)

    def cuts(self, limit: int) -> list[Cut]:
        """Ranges of types with at most `limit` co-occurrences, and single types that have more, in parts that don't."""
        ends, word_ends = (
            np.concatenate([np.zeros(1, np.int64), x.cpu().numpy()])
            for x in (self.order.entry_ends, self.order.type_ends)
        )
        cuts: list[Cut] = []
        first = 0
        while ends[first] < ends[-1]:
            last = max(int(np.searchsorted(ends, ends[first] + limit, "right")) - 1, first + 1)
            begin, end = int(word_ends[first]), int(word_ends[last])
            bounds = [begin, end] if ends[last] - ends[first] <= limit else self._parts(begin, end, limit)
            cuts.append(Cut(first, last - first, tuple(pairwise(bounds))))
            first = last
        return cuts

    def _parts(self, begin: int, end: int, limit: int) -> list[int]:
        """The sorted words `begin:end` in ranges of at most `limit` co-occurrences, but for a single word's."""
        rows = self.row_of.index_select(0, self.order.words[begin:end])
        ends = self.rows.source_lengths.index_select(0, rows).cumsum(0).cpu().numpy()
        bounds, done = [begin], 0
        while bounds[-1] < end:
            last = max(int(np.searchsorted(ends, done + limit, "right")), bounds[-1] - begin + 1)
            bounds.append(begin + last)
            done = int(ends[last - 1])
        return bounds

    def part(self, begin: int, end: int) -> TargetWords:
        """The words `begin:end` of the sorted ones, by place: by the length of their source sentence, to begin with."""
        words = self.order.words[begin:end]
        rows = self.row_of.index_select(0, words)
        places = self.rows.first_places.index_select(0, rows) + words - self.rows.target_starts.index_select(0, rows)
        places, by_place = torch.sort(places.int(), stable=True)
        words, rows = words.index_select(0, by_place), rows.index_select(0, by_place)
        ends = torch.searchsorted(places, self.places.bounds).tolist()
        counts = zip(self.places.ends, (end - begin for begin, end in pairwise([0, *ends])), strict=True)
        lengths, words_of = zip(*((length, count) for length, count in counts if count), strict=True)
        types, lines = self.target_ids.index_select(0, words), self.rows.lines.index_select(0, rows)
        return TargetWords(words, types, places, lines, Groups(lengths, words_of))

    def keys(self, part: TargetWords, first_type: int) -> torch.Tensor:
        """`(target type - first_type) * width + source type` of each co-occurrence: by word, then by column."""
        keys = torch.empty(sum(part.groups.entries), dtype=torch.int64, device=part.words.device)
        bases = part.groups.columns((part.types - first_type).long() * self.width)
        lines = part.groups.vectors(part.lines)
        outs = part.groups.matrices(keys)
        for length, out, base, of in zip(part.groups.lengths, outs, bases, lines, strict=True):
            torch.add(base, self.matrices[length].index_select(0, of), out=out)
        return keys


def _row_of(side: Sentences, device: torch.device) -> torch.Tensor:
    """The row of each word. NumPy repeats four-byte numbers as such, where torch makes an index of eight first."""
    if device.type == "cpu":
        return torch.from_numpy(np.repeat(np.arange(len(side), dtype=np.int32), side.lengths))
    lengths = torch.from_numpy(side.lengths).to(device)
    rows = torch.arange(len(side), dtype=torch.int32, device=device)
    return torch.repeat_interleave(rows, lengths, output_size=len(side.ids))


def _sorted(ids: torch.Tensor, row_of: torch.Tensor, rows: _BitextRows, types: int) -> _Sorted:
    """A counting sort: ranges of words are sorted one by one and put where their types' words go."""
    step = _SORTED_AT_ONCE[ids.device.type]
    ranges = [(begin, min(begin + step, len(ids))) for begin in range(0, len(ids), step)]
    complete = bool(rows.whole.all())
    counts, entries = (torch.zeros(types, dtype=torch.int64, device=ids.device) for _ in range(2))

    def kept(begin: int, end: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """The types and rows of these words, and which of them are meant where it is not all."""
        here, of = ids[begin:end], row_of[begin:end]
        if complete:
            return here, of, None
        chosen = rows.whole.index_select(0, of).nonzero().view(-1)
        return here.index_select(0, chosen), of.index_select(0, chosen), chosen

    for bounds in ranges:
        here, of, _ = kept(*bounds)
        counts += torch.bincount(here, minlength=types)
        entries.index_add_(0, here, rows.source_lengths.index_select(0, of))
    ends = counts.cumsum(0)
    free = ends - counts
    words = torch.empty(int(ends[-1]) if types else 0, dtype=torch.int32, device=ids.device)
    for begin, end in ranges:
        here, _, chosen = kept(begin, end)
        sorted_types, at = torch.sort(here, stable=True)
        at = at if chosen is None else chosen.index_select(0, at)
        here_counts = torch.bincount(here, minlength=types)
        # The k-th word of its type in this range goes k places behind the first free one.
        shift = free - (here_counts.cumsum(0) - here_counts)
        to = shift.index_select(0, sorted_types).add_(torch.arange(len(at), device=ids.device))
        words[to] = at.add_(begin).int()
        free += here_counts
    return _Sorted(words, ends, entries.cumsum(0))


def _matrices(
    ids: torch.Tensor, starts: torch.Tensor, whole: torch.Tensor
) -> tuple[dict[int, torch.Tensor], torch.Tensor]:
    """The source sentences of each length as a matrix, and the line of each row in its matrix."""
    rows = whole.nonzero().view(-1)
    lengths, by_length = torch.sort(starts.diff().index_select(0, rows), stable=True)
    rows = rows.index_select(0, by_length)
    lines = torch.zeros(len(whole), dtype=torch.int32, device=ids.device)
    matrices: dict[int, torch.Tensor] = {}
    at = 0
    for length, count in zip(*(x.tolist() for x in torch.unique_consecutive(lengths, return_counts=True)), strict=True):
        here = rows[at : at + count]
        matrices[length] = ids[starts[here, None] + torch.arange(length, device=ids.device)]
        lines[here] = torch.arange(count, dtype=torch.int32, device=ids.device)
        at += count
    return matrices, lines


PIECE = {"cpu": 1 << 20, "cuda": 1 << 26}
"""How many co-occurrences are worked on at once, but for a single word's: few for the cache, many for a GPU."""


class PieceWords(NamedTuple):
    """The target words of a piece, sorted by the length of their source sentence; 32-bit numbers."""

    at: torch.Tensor  # where they stand in the target text
    types: torch.Tensor
    places: torch.Tensor
    entries: torch.Tensor  # for each word, and each source word of its row, the number of the pair within the block


@dataclass(frozen=True, slots=True)
class BlockPiece:
    """Some target words of a block: how they are grouped, and where they are."""

    groups: Groups
    kept: ArrayPlace

    def words(self, store: EntryStore) -> PieceWords:
        count = sum(self.groups.words)
        return PieceWords(*store.get(self.kept).split_with_sizes([count, count, count, sum(self.groups.entries)]))


@dataclass(frozen=True, slots=True)
class Block:
    """All target words of some types, and the range of the table that holds their pairs."""

    first_pair: int
    pairs: int
    pieces: tuple[BlockPiece, ...]
    sources: ArrayPlace  # the source type of each pair
    targets: ArrayPlace  # the target type of each pair


@dataclass(frozen=True)
class Cooccurrences:
    """The blocks of a bitext in one direction."""

    places: TargetPlaces
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
    pieces: tuple[BlockPiece, ...]
    sources: ArrayPlace
    targets: ArrayPlace


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


def _piece(part: TargetWords, entries: torch.Tensor, store: EntryStore) -> BlockPiece:
    return BlockPiece(part.groups, store.keep(part.words, part.types, part.places, entries))


class Weights(Protocol):
    """The matrix of one piece, in the precision of the prior."""

    def sums(self, theta: torch.Tensor) -> torch.Tensor:
        """A θ, by word."""

    def spread(self, by: torch.Tensor) -> torch.Tensor:
        """Aᵀ times a vector over words, by pair."""

    def distances(self, theta: torch.Tensor) -> torch.Tensor:
        """A θ with every entry times its distance h. Comes last: the entries are overwritten."""


class HostWeights:
    """The matrix by rows, for SciPy."""

    def __init__(self, block: Block, groups: Groups, words: PieceWords, prior: Prior) -> None:
        self._groups, self._places, self._prior = groups, words.places, prior
        self._values = prior.weights(groups, words.places)
        parts = self._values.numpy(), words.entries.numpy(), _starts(groups)
        self._matrix = csr_array(parts, shape=(len(words.at), block.pairs))

    def sums(self, theta: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(self._matrix @ theta.numpy())

    def spread(self, by: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(self._matrix.T @ by.numpy())

    def distances(self, theta: torch.Tensor) -> torch.Tensor:
        self._prior.times_distances(self._values, self._groups, self._places)
        return self.sums(theta)


class DeviceWeights:
    """The matrix as dense groups of words with as many source words; what is spread is added in double precision."""

    def __init__(self, block: Block, groups: Groups, words: PieceWords, prior: Prior) -> None:
        self._groups, self._places, self._prior = groups, words.places, prior
        self._entries, self._pairs = words.entries, block.pairs
        self._values = prior.weights(groups, words.places)

    def sums(self, theta: torch.Tensor) -> torch.Tensor:
        values = theta.index_select(0, self._entries).mul_(self._values)
        return torch.cat([matrix.sum(1) for matrix in self._groups.matrices(values)])

    def spread(self, by: torch.Tensor) -> torch.Tensor:
        groups, values = self._groups, self._values.clone()
        for matrix, column in zip(groups.matrices(values), groups.columns(by), strict=True):
            matrix.mul_(column)
        sums = torch.zeros(self._pairs, dtype=torch.float64, device=values.device)
        return sums.index_add_(0, self._entries, values.double())

    def distances(self, theta: torch.Tensor) -> torch.Tensor:
        self._prior.times_distances(self._values, self._groups, self._places)
        return self.sums(theta)


def weights(block: Block, groups: Groups, words: PieceWords, prior: Prior) -> Weights:
    """The matrix of a piece, in the form that suits its device."""
    made = HostWeights if words.entries.device.type == "cpu" else DeviceWeights
    return made(block, groups, words, prior)


def _starts(groups: Groups) -> NDArray[np.int32]:
    """Where the entries of each word start, and where the last ones end."""
    starts = np.zeros(sum(groups.words) + 1, np.int32)
    np.cumsum(np.repeat(np.array(groups.lengths, np.int32), groups.words), dtype=np.int32, out=starts[1:])
    return starts
