"""The target words of a bitext sorted by type, and the keys of their co-occurrences, made when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch

from interlingua.wordalign.diagonal import Groups, Places
from interlingua.wordalign.numbering import Sentences

_SORTED_AT_ONCE = {"cpu": 1 << 22, "cuda": 1 << 28}
"""How many words are sorted at once: a sort takes 24 bytes a word, and what stays of it four."""


class Cut(NamedTuple):
    """A range of target types, and the ranges of sorted target words that hold them; more than one for one type."""

    first_type: int
    types: int
    parts: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Part:
    """Some target words, sorted by place."""

    words: torch.Tensor  # where they stand in the target text
    types: torch.Tensor
    places: torch.Tensor
    lines: torch.Tensor  # the line of their source sentence among those as long
    groups: Groups


@dataclass(frozen=True)
class _Rows:
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
    rows: _Rows
    order: _Sorted
    places: Places
    width: int  # the number of source types

    @classmethod
    def of(cls, source: Sentences, target: Sentences, device: torch.device, *, unknown: bool = False) -> Slots:
        """The slots of a bitext; `unknown`: a number past the end of the vocabulary stands for words it lacks."""
        starts = [torch.from_numpy(side.starts).to(device) for side in (source, target)]
        n, m = starts[0].diff(), starts[1].diff()
        whole = (n > 0) & (m > 0)
        places, first_of_whole = Places.of(n[whole], m[whole])
        first_places = torch.zeros_like(n).masked_scatter_(whole, first_of_whole).int()
        matrices, lines = _matrices(torch.from_numpy(source.ids).to(device), starts[0], whole)
        rows = _Rows(n, starts[1], whole, first_places, lines)
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

    def part(self, begin: int, end: int) -> Part:
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
        return Part(words, types, places, lines, Groups(lengths, words_of))

    def keys(self, part: Part, first_type: int) -> torch.Tensor:
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


def _sorted(ids: torch.Tensor, row_of: torch.Tensor, rows: _Rows, types: int) -> _Sorted:
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
