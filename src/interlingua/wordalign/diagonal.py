"""Where a link is likely before any word is known: near the diagonal (Dyer, Chahuneau & Smith 2013, §2, Eq. 1-4).

For target word j of m (from 1) and source words i of n: δ(i | j, m, n) = (1 - p0) exp(-λ h) / Z with
h = |i/n - j/m|, and δ(null) = p0. λ is the tension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

TENSIONS = (0.1, 14.0)
"""The least and the largest tension, as in fast_align."""


@dataclass(frozen=True)
class Groups:
    """Words in groups, by the length of their source sentence; each word has as many entries, one after the other."""

    lengths: tuple[int, ...]
    words: tuple[int, ...]  # how many there are in each group

    @cached_property
    def entries(self) -> tuple[int, ...]:
        """How many entries each group has."""
        return tuple(length * words for length, words in zip(self.lengths, self.words, strict=True))

    def matrices(self, entries: torch.Tensor) -> list[torch.Tensor]:
        """Values of all entries as a matrix for each group, of words by source words."""
        parts = entries.split_with_sizes(self.entries)
        return [part.view(-1, length) for part, length in zip(parts, self.lengths, strict=True)]

    def vectors(self, words: torch.Tensor) -> Sequence[torch.Tensor]:
        """Values of all words as a vector for each group."""
        return words.split_with_sizes(self.words)

    def columns(self, words: torch.Tensor) -> Sequence[torch.Tensor]:
        """Values of all words as a matrix of one column for each group."""
        return words.unsqueeze(1).split_with_sizes(self.words)


@dataclass(frozen=True)
class TargetPlaces:
    """The distinct places (n, m, j) of target words in a corpus, sorted: source length, target length, position."""

    source_length: torch.Tensor  # n
    target_length: torch.Tensor  # m
    position: torch.Tensor  # j, from 1
    words: torch.Tensor  # how many target words stand there
    ends: dict[int, int]  # n -> where its places end

    @classmethod
    def of(cls, source_lengths: torch.Tensor, target_lengths: torch.Tensor) -> tuple[TargetPlaces, torch.Tensor]:
        """The places of rows of these lengths, none empty, and for each row the place of its first target word.

        >>> places, first = TargetPlaces.of(torch.tensor([2, 1, 2]), torch.tensor([2, 1, 2]))
        >>> places.source_length.tolist(), places.position.tolist(), first.tolist()
        ([1, 2, 2], [1, 1, 2], [1, 0, 1])
        """
        base = int(target_lengths.max()) + 1 if len(target_lengths) else 1
        shapes, of_row, rows = torch.unique(
            source_lengths * base + target_lengths, return_inverse=True, return_counts=True
        )
        n, m = shapes // base, shapes % base
        firsts = m.cumsum(0) - m
        shape = torch.repeat_interleave(m)
        position = torch.arange(len(shape), device=m.device) - firsts[shape] + 1
        n, m = n[shape], m[shape]
        lengths, counts = torch.unique_consecutive(n, return_counts=True)
        ends = dict(zip(lengths.tolist(), counts.cumsum(0).tolist(), strict=True))
        return cls(n, m, position, rows[shape], ends), firsts[of_row]

    @cached_property
    def bounds(self) -> torch.Tensor:
        """Where the places of each source length end, on the device."""
        return torch.tensor(list(self.ends.values()), dtype=torch.int32, device=self.position.device)

    @cached_property
    def source_steps(self) -> torch.Tensor:
        """i/n of the source words of every length n that occurs, one length after the other."""
        steps = [torch.arange(1, length + 1, dtype=torch.float64) / length for length in self.ends]
        return torch.cat([torch.zeros(0, dtype=torch.float64), *steps]).to(self.position.device)

    def log_normaliser(self, tension: float) -> tuple[torch.Tensor, torch.Tensor]:
        """ln Z of every place and its derivative by the tension, both in closed form.

        h is arithmetic on either side of the diagonal, so exp(-λ h) is geometric there (§2.1).
        """
        step = 1 / self.source_length.double()
        ratio = torch.exp(-tension * step)
        less = 1 / (1 - ratio)
        weight, slope = torch.zeros_like(step), torch.zeros_like(step)
        for nearest, words in self._sides:
            # Σ r^k and Σ k r^k for k below `words`: the k-th word on this side is k/n further than the nearest.
            rest = torch.exp(words * step * -tension)
            plain = (1 - rest) * less
            linear = (ratio * plain - words * rest) * less
            scale = torch.exp(-tension * nearest)
            weight += scale * plain
            slope -= scale * (nearest * plain + linear * step)
        return weight.log(), slope / weight

    @cached_property
    def _sides(self) -> tuple[tuple[torch.Tensor, torch.Tensor], ...]:
        """Above the diagonal and below it: the distance of the nearest source word, and how many there are."""
        n = self.source_length.double()
        at = self.position / self.target_length.double()
        below = torch.div(self.position * self.source_length, self.target_length, rounding_mode="floor").double()
        return ((below + 1) / n - at, n - below), (at - below / n, below)


class Prior:
    """δ(i | j, m, n) of a corpus at one tension.

    exp(-λ |i/n - j/m|) is the smaller one of exp(λ i/n) exp(-λ j/m) and exp(-λ i/n) exp(λ j/m): a co-occurrence
    needs no exponential of its own, since one factor is the source word's and one the target word's.
    """

    def __init__(
        self, places: TargetPlaces, tension: float, null: float, *, dtype: torch.dtype, measured_from: int = 1
    ) -> None:
        """`measured_from` is the number of the first target word in distances; in the prior itself it is 1."""
        self.null, self._dtype = null, dtype
        at = places.position.double() / places.target_length
        scale = (1 - null) * torch.exp(-places.log_normaliser(tension)[0])
        measured = (places.position.double() - 1 + measured_from) / places.target_length
        words = measured, scale * torch.exp(-tension * at), scale * torch.exp(tension * at)
        self._at, self._falling, self._rising = (factor.to(self._dtype) for factor in words)
        steps = places.source_steps
        parts = (
            factor.to(self._dtype).split_with_sizes(list(places.ends))
            for factor in (steps, torch.exp(tension * steps), torch.exp(-tension * steps))
        )
        self._sources = dict(zip(places.ends, zip(*parts, strict=True), strict=True))

    def weights(self, groups: Groups, places: torch.Tensor) -> torch.Tensor:
        """δ of every entry of these groups, whose words are at these places."""
        falling, rising = (groups.columns(x.index_select(0, places)) for x in (self._falling, self._rising))
        values = torch.empty(sum(groups.entries), dtype=self._dtype, device=places.device)
        for length, out, fall, rise in zip(groups.lengths, groups.matrices(values), falling, rising, strict=True):
            _, up, down = self._sources[length]
            torch.minimum(torch.mul(up, fall, out=out), down * rise, out=out)
        return values

    def times_distances(self, values: torch.Tensor, groups: Groups, places: torch.Tensor) -> None:
        """Multiply such values by the distance h of each entry."""
        columns = groups.columns(self._at.index_select(0, places))
        for length, out, at in zip(groups.lengths, groups.matrices(values), columns, strict=True):
            out.mul_((self._sources[length][0] - at).abs_())
