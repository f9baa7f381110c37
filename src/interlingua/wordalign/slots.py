"""The target words of a bitext sorted by type, and the keys of their co-occurrences, made when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch

from interlingua.wordalign.diagonal import Groups, Places
from interlingua.wordalign.numbering import Sentences


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
    starts: torch.Tensor  # where the entries of each word start, and where the last ones end
    groups: Groups


@dataclass(frozen=True)
class Slots:
    """A bitext on the device: the source sentences as dense matrices, the target words in order of their type."""

    matrices: dict[int, torch.Tensor]  # sentences as lines, by their length
    lines: torch.Tensor  # the line of each row in its matrix
    target_ids: torch.Tensor
    target_starts: torch.Tensor
    rows: torch.Tensor  # the row of each target word
    order: torch.Tensor  # the target words of rows with two sides, by type
    type_ends: torch.Tensor  # where the words of a type end in `order`
    entry_ends: torch.Tensor  # the number of co-occurrences up to each word of `order`
    places: Places
    first_places: torch.Tensor  # the place of each row's first word
    width: int  # the number of source types

    @classmethod
    def of(cls, source: Sentences, target: Sentences, device: torch.device, *, unknown: bool = False) -> Slots:
        """The slots of a bitext; `unknown`: a number past the end of the vocabulary stands for words it lacks."""
        starts = [torch.from_numpy(side.starts).to(device) for side in (source, target)]
        n, m = starts[0].diff(), starts[1].diff()
        whole = (n > 0) & (m > 0)
        places, first_of_whole = Places.of(n[whole], m[whole])
        first_places = torch.zeros_like(n).masked_scatter_(whole, first_of_whole)
        rows = torch.repeat_interleave(torch.arange(len(m), dtype=torch.int32, device=device), m)
        ids = torch.from_numpy(target.ids).to(device)
        types, order = torch.sort(ids, stable=True)
        if not bool(whole.all()):
            kept = whole.index_select(0, rows.index_select(0, order))
            types, order = types[kept], order[kept]
        ends = torch.bincount(types, minlength=len(target.words) + unknown).cumsum(0)
        entry_ends = n.index_select(0, rows.index_select(0, order)).cumsum(0)
        matrices, lines = _matrices(torch.from_numpy(source.ids).to(device), starts[0], whole)
        return cls(
            matrices, lines, ids, starts[1], rows, order.int(), ends, entry_ends, places, first_places,
            len(source.words) + unknown,
        )  # fmt: skip

    def cuts(self, limit: int) -> list[Cut]:
        """Ranges of types with at most `limit` co-occurrences, and single types that have more, in parts that don't."""
        types = torch.cat([self.type_ends.new_zeros(1), self.type_ends])
        ends = torch.cat([self.entry_ends.new_zeros(1), self.entry_ends])[types].cpu().numpy()
        word_ends = types.cpu().numpy()
        cuts: list[Cut] = []
        first = 0
        while ends[first] < ends[-1]:
            last = max(int(np.searchsorted(ends, ends[first] + limit, "right")) - 1, first + 1)
            bounds = [int(word_ends[first]), int(word_ends[last])]
            if ends[last] - ends[first] > limit:
                steps = torch.arange(int(ends[first]) + limit, int(ends[last]), limit, device=self.order.device)
                inner = torch.searchsorted(self.entry_ends, steps, right=True).tolist()
                bounds = sorted({*bounds, *(at for at in inner if bounds[0] < at < bounds[1])})
            cuts.append(Cut(first, last - first, tuple(pairwise(bounds))))
            first = last
        return cuts

    def part(self, begin: int, end: int) -> Part:
        """The words `begin:end` of the sorted ones, by place: by the length of their source sentence, to begin with."""
        words = self.order[begin:end]
        rows = self.rows.index_select(0, words)
        places = self.first_places.index_select(0, rows) + words - self.target_starts.index_select(0, rows)
        places, by_place = torch.sort(places.int(), stable=True)
        words, rows = words.index_select(0, by_place), rows.index_select(0, by_place)
        bounds = torch.tensor(list(self.places.ends.values()), dtype=torch.int32, device=places.device)
        ends = torch.searchsorted(places, bounds).tolist()
        counts = zip(self.places.ends, (end - begin for begin, end in pairwise([0, *ends])), strict=True)
        lengths, words_of = zip(*((length, count) for length, count in counts if count), strict=True)
        groups = Groups(lengths, words_of)
        types, lines = self.target_ids.index_select(0, words), self.lines.index_select(0, rows)
        return Part(words, types, places, lines, _starts(groups, places.device), groups)

    def keys(self, part: Part, first_type: int) -> torch.Tensor:
        """`(target type - first_type) * width + source type` of each co-occurrence: by word, then by column."""
        keys = torch.empty(sum(part.groups.entries), dtype=torch.int64, device=part.words.device)
        bases = part.groups.columns((part.types - first_type).long() * self.width)
        lines = part.groups.vectors(part.lines)
        outs = part.groups.matrices(keys)
        for length, out, base, of in zip(part.groups.lengths, outs, bases, lines, strict=True):
            torch.add(base, self.matrices[length].index_select(0, of), out=out)
        return keys


def _starts(groups: Groups, device: torch.device) -> torch.Tensor:
    """Where the entries of each word start, and where the last ones end."""
    lengths, words = torch.tensor(groups.lengths), torch.tensor(groups.words)
    ends = torch.repeat_interleave(lengths, words).cumsum(0)
    return torch.cat([ends.new_zeros(1), ends]).to(device, torch.int32)


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
