"""Word links by the log-linear reparameterisation of IBM model 2 (Dyer, Chahuneau & Smith 2013).

p(t | s, i, m, n) = p0 · θ(t | null) + (1 - p0) · Σ_j δ(j | i, m, n) θ(t | s_j), with
δ(j | i, m, n) ∝ exp(-λ |i/m - j/n|): links lie near the diagonal. θ by EM with the variational Bayes
step of Dirichlet(α) priors. Both directions are trained, and a link is kept where they agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Links:
    """Word links of a bitext: link k joins word `source[k]` and word `target[k]` (0-based) of row `row[k]`."""

    row: Ints
    source: Ints
    target: Ints

    def __len__(self) -> int:
        return len(self.row)


def link_words(
    source: Sequence[Sequence[str]],
    target: Sequence[Sequence[str]],
    *,
    iterations: int = 5,
    null: float = 0.08,
    tension: float = 4.0,
    alpha: float = 0.01,
) -> Links:
    """Links on which both directions agree (intersection), so that each word has at most one.

    `source` and `target` are words by row. The defaults are fast_align's.

    >>> links = link_words([["the", "dog"], ["the", "cat"], ["dog"]], [["el", "perro"], ["el", "gato"], ["perro"]])
    >>> [(int(r), int(s), int(t)) for r, s, t in zip(links.row, links.source, links.target)]
    [(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1), (2, 0, 0)]
    """
    forward = _best(source, target, iterations, null, tension, alpha)
    backward = _best(target, source, iterations, null, tension, alpha)
    back = {(int(r), int(s)): int(t) for r, t, s in zip(*backward, strict=True)}
    kept = [(int(r), int(s), int(t)) for r, s, t in zip(*forward, strict=True) if back.get((int(r), int(s))) == int(t)]
    table = np.array(sorted(kept), np.int64).reshape(-1, 3)
    return Links(table[:, 0], table[:, 1], table[:, 2])


def _best(
    source: Sequence[Sequence[str]],
    target: Sequence[Sequence[str]],
    iterations: int,
    null: float,
    tension: float,
    alpha: float,
) -> tuple[Ints, Ints, Ints]:
    """For each target word its most probable source word: (row, source word, target word); null links left out.

    Every (source word, target word) co-occurrence of every row is one entry of flat arrays; EM is
    a few segmented sums over them.
    """
    table = _Cooccurrences.of(source, target)
    prior = table.diagonal(tension, null)
    theta = np.full(table.types, 1.0 / max(table.target_types, 1))
    for _ in range(iterations):
        weight = prior * theta[table.pair]
        posterior = weight / np.bincount(table.slot, weight, table.slots)[table.slot]
        counts = np.bincount(table.pair, posterior, table.types) + alpha
        totals = np.bincount(table.pair_source, counts, table.source_types)
        # The mean of log θ under the Dirichlet posterior; unseen pairs' prior mass is what fast_align leaves out too.
        theta = np.exp(digamma(counts) - digamma(totals)[table.pair_source])
    weight = prior * theta[table.pair]
    order = np.lexsort((table.column, -weight, table.slot))
    first = np.searchsorted(table.slot[order], np.arange(table.slots))
    chosen = order[first]
    chosen = chosen[table.column[chosen] >= 0]
    return table.row[chosen], table.column[chosen], table.place[chosen]


@dataclass(frozen=True)
class _Cooccurrences:
    """Flat co-occurrences: entry e pairs source word `column[e]` (-1: null) with target word `place[e]` of `row[e]`."""

    row: Ints
    column: Ints
    place: Ints
    slot: Ints  # the target word's running number
    pair: Ints  # the distinct (source type, target type)
    pair_source: Ints  # the source type of each distinct pair
    lengths: tuple[Ints, Ints]
    slots: int
    types: int
    source_types: int
    target_types: int

    @classmethod
    def of(cls, source: Sequence[Sequence[str]], target: Sequence[Sequence[str]]) -> _Cooccurrences:
        ours, theirs = _numbers(source), _numbers(target)
        n = np.array([len(row) for row in source], np.int64)
        m = np.array([len(row) for row in target], np.int64)
        starts_n, starts_m = np.cumsum(n) - n, np.cumsum(m) - m
        slot_row = np.repeat(np.arange(len(m)), m)
        width = (n + 1)[slot_row]  # every source word, and null
        slot = np.repeat(np.arange(len(slot_row)), width)
        column = np.arange(len(slot)) - np.repeat(np.cumsum(width) - width, width) - 1
        row = slot_row[slot]
        types = np.concatenate([ours + 1, np.zeros(1, np.int64)])  # type 0 is null
        index = np.where(column < 0, len(types) - 1, starts_n[row] + column)
        base = int(theirs.max(initial=0)) + 1
        keys, pair = np.unique(types[index] * base + theirs[slot], return_inverse=True)
        place = slot - starts_m[row]
        return cls(
            row, column, place, slot, pair, keys // base, (n, m), len(slot_row), len(keys), int(types.max()) + 1, base
        )

    def diagonal(self, tension: float, null: float) -> NDArray[np.float64]:
        """δ of the module docstring for every entry, normalised over each target word; null has mass p0."""
        n, m = self.lengths
        distance = np.abs((self.place + 1) / m[self.row] - (self.column + 1) / np.maximum(n[self.row], 1))
        weight = np.where(self.column < 0, 0.0, np.exp(-tension * distance))
        total = np.bincount(self.slot, weight, self.slots)[self.slot]
        return np.where(self.column < 0, null, (1 - null) * weight / np.where(total > 0, total, 1.0))


def _numbers(rows: Sequence[Sequence[str]]) -> Ints:
    known: dict[str, int] = {}
    return np.array([known.setdefault(word, len(known)) for row in rows for word in row], np.int64)
