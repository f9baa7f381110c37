"""Passes over a text under a model: expected counts of word pairs, and the best source word of each target word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

from interlingua.wordalign.cooccurrence import Block, Cooccurrences, Words
from interlingua.wordalign.diagonal import Groups, Prior
from interlingua.wordalign.products import weights
from interlingua.wordalign.threads import Workers

SCALE = 50.0
"""Probabilities are kept times e^50: variational ones go down to e^-100, past the end of single precision."""
_LEAST = 1e-37
"""A sum of weights that is smaller is taken for this: its word has no expected counts."""


@dataclass(frozen=True)
class Table:
    """p(target type | source type) of each pair and p(target type | null), times e^50."""

    pairs: torch.Tensor
    null: torch.Tensor

    @classmethod
    def of_logs(cls, pairs: torch.Tensor, null: torch.Tensor) -> Table:
        """The table of these logarithms, in single precision."""
        return cls(*((logs.double() + SCALE).exp().float() for logs in (pairs, null)))

    def logs(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The logarithms of the probabilities of pairs, and of null's, in single precision."""
        return _logs(self.pairs), _logs(self.null)


@dataclass(frozen=True)
class Expected:
    """What a pass counts: sums in double precision, and counts of pairs in that of the table."""

    counts: torch.Tensor  # expected links of each pair
    totals: torch.Tensor  # expected links of each source type
    null: torch.Tensor  # expected links of each target type with the empty word
    log_likelihood: float  # Σ ln p(target word | source sentence)
    distance: float  # Σ E[h] over links with real words; 0 where not asked for
    mass: torch.Tensor  # expected links with real words at each place; 0 where not asked for


@dataclass(frozen=True)
class Best:
    """The best source word (from 0; -1: none) of each target word of a text and ln p of each, and sums over all."""

    source: torch.Tensor
    logs: torch.Tensor
    log_likelihood: float
    null: float  # the number of words expected to belong to the empty word


def _logs(scaled: torch.Tensor) -> torch.Tensor:
    """In double precision on the way, since next to 50 a single number has five digits left; some at a time."""
    logs = torch.empty(len(scaled), device=scaled.device)
    for begin in range(0, len(scaled), 1 << 20):
        here = slice(begin, begin + (1 << 20))
        logs[here] = scaled[here].double().log_().sub_(SCALE)
    return logs


def expect(
    text: Cooccurrences,
    table: Table,
    prior: Prior,
    workers: Workers,
    *,
    source_types: int,
    distances: bool,
    into: torch.Tensor | None = None,
) -> Expected:
    """The E-step: posteriors q(i) = δ(i) θ(t | s_i) / Σ, summed by pair (Dyer et al. 2013, §2).

    `into` is where the counts go; it may be the table itself, the largest array there is: what a block reads and
    what it writes are the same range, and no other block's.
    """
    device = table.pairs.device
    counts = torch.empty_like(table.pairs) if into is None else into
    null = torch.zeros(len(table.null), dtype=torch.float64, device=device)
    mass = torch.zeros(len(text.places.position), dtype=torch.float64, device=device)
    totals = torch.zeros(source_types, dtype=torch.float64, device=device)
    sums = torch.zeros(2, dtype=torch.float64, device=device)

    def counted(block: Block) -> _Counted:
        found = _count(text, block, table, prior, null, distances)
        counts[block.first_pair : block.first_pair + block.pairs] = found.counts
        return found

    # Blocks are added up in their order, so that the number of workers changes nothing.
    for found in workers.each(counted, text.blocks):
        sums += found.sums
        totals.index_add_(0, found.sources, found.counts)
        for places, real in found.real:
            mass.index_add_(0, places, real)
    log_likelihood, distance = sums.tolist()
    return Expected(counts, totals, null, log_likelihood, distance, mass)


class _Counted(NamedTuple):
    """What a block adds: counts of its pairs, (log-likelihood, distance), and 1 - null's share of words by place."""

    counts: torch.Tensor
    sources: torch.Tensor
    sums: torch.Tensor
    real: list[tuple[torch.Tensor, torch.Tensor]]


def _count(
    text: Cooccurrences, block: Block, table: Table, prior: Prior, of_null: torch.Tensor, distances: bool
) -> _Counted:
    """A block's counts; those of the empty word go to `of_null`, where its types are no other block's."""
    theta = table.pairs[block.first_pair : block.first_pair + block.pairs]
    counts = torch.zeros(block.pairs, dtype=torch.float64, device=theta.device)
    sums = torch.zeros(2, dtype=torch.float64, device=theta.device)
    real = []
    for piece in block.pieces:
        words = piece.words(text.store)
        matrix = weights(block, piece.groups, words, prior)
        null = table.null.index_select(0, words.types) * prior.null
        total = matrix.sums(theta).add_(null).clamp_min_(_LEAST)
        inverse = total.reciprocal()
        counts += matrix.spread(inverse)
        if distances:
            sums[1] += matrix.distances(theta).mul_(inverse).sum(dtype=torch.float64)
        sums[0] += total.log_().sum(dtype=torch.float64) - SCALE * len(total)
        share = null.mul_(inverse).double()
        of_null.index_add_(0, words.types, share)
        if distances:
            real.append((words.places, 1 - share))
    return _Counted(counts.mul_(theta), text.store.get(block.sources), sums, real)


def decode(text: Cooccurrences, table: Table, prior: Prior, workers: Workers, *, words: int) -> Best:
    """The most probable source word of each target word; null's where none is more probable, as in fast_align.

    `prior` is one in double precision, see `_best`.
    """
    device = table.pairs.device
    source = torch.full((words,), -1, dtype=torch.int32, device=device)
    logs = torch.zeros(words, device=device)
    sums = torch.zeros(2, dtype=torch.float64, device=device)

    def decoded(block: Block) -> torch.Tensor:
        found = torch.zeros_like(sums)
        for piece in block.pieces:
            here = piece.words(text.store)
            best, of_words, shares = _best(block, piece.groups, here, table, prior)
            source[here.at] = best
            logs[here.at] = of_words.float()
            found += torch.stack([of_words.sum(), shares.sum()])
        return found

    for found in workers.each(decoded, text.blocks):
        sums += found
    return Best(source, logs, *sums.tolist())


def _best(
    block: Block, groups: Groups, words: Words, table: Table, prior: Prior
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The best source word of each word of a piece, ln p of the word, and null's share of it."""
    theta = table.pairs[block.first_pair : block.first_pair + block.pairs]
    picked, near = theta.index_select(0, words.entries), prior.weights(groups, words.places)
    # In single precision, priors that differ by rounding only are equal: of a word that stands twice, as far from
    # the diagonal on either side, the first one is taken, whatever the last digits; and none as probable as null.
    single = near.float().mul_(picked)
    weight = near.mul_(picked) if picked.dtype == torch.float64 else single
    null = table.null.index_select(0, words.types) * prior.null
    best = []
    for matrix, least in zip(groups.matrices(single), groups.vectors(null.float()), strict=True):
        most, where = matrix.max(1)
        best.append(torch.where(most > least, where, -1).int())
    sums = torch.cat([matrix.sum(1) for matrix in groups.matrices(weight)])
    sums = sums.double().add_(null).clamp_min_(_LEAST)
    return torch.cat(best), sums.log().sub_(SCALE), null / sums
