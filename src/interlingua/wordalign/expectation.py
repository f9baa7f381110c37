"""Passes over a text under a model: expected counts of word pairs, and the best source word of each target word."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from interlingua.wordalign.cooccurrence import Block, Cooccurrences, Piece
from interlingua.wordalign.diagonal import Prior
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
    null: torch.Tensor  # expected links of each target type with the empty word
    log_likelihood: float  # Σ ln p(target word | source sentence)
    distance: float  # Σ E[h] over links with real words; 0 where not asked for
    mass: torch.Tensor  # expected links with real words at each place


@dataclass(frozen=True)
class Best:
    """The best source word (from 0; -1: none) of each target word of a text, and the ln p of each; null's share."""

    source: torch.Tensor
    log_likelihood: torch.Tensor
    null: float


def _logs(scaled: torch.Tensor) -> torch.Tensor:
    """In double precision on the way, since next to 50 a single number has five digits left; some at a time."""
    logs = torch.empty(len(scaled), device=scaled.device)
    for begin in range(0, len(scaled), 1 << 20):
        here = slice(begin, begin + (1 << 20))
        logs[here] = scaled[here].double().log_().sub_(SCALE)
    return logs


def expect(text: Cooccurrences, table: Table, prior: Prior, workers: Workers, *, distances: bool) -> Expected:
    """The E-step: posteriors q(i) = δ(i) θ(t | s_i) / Σ, summed by pair (Dyer et al. 2013, §2)."""
    device = table.pairs.device
    counts = torch.empty_like(table.pairs)
    null = torch.zeros(len(table.null), dtype=torch.float64, device=device)
    mass = torch.zeros(len(text.places.position), dtype=torch.float64, device=device)
    sums = torch.zeros(2, dtype=torch.float64, device=device)

    def counted(block: Block) -> tuple[torch.Tensor, list[torch.Tensor]]:
        here, found, shares = _count(text, block, table, prior, distances)
        counts[block.first_pair : block.first_pair + block.pairs] = here
        return found, shares

    # Blocks are added up in their order, so that the number of workers changes nothing.
    for block, (found, shares) in zip(text.blocks, workers.each(counted, text.blocks), strict=True):
        sums += found
        for piece, share in zip(block.pieces, shares, strict=True):
            null.index_add_(0, piece.types, share)
            mass.index_add_(0, piece.places, 1 - share)
    log_likelihood, distance = sums.tolist()
    return Expected(counts, null, log_likelihood, distance, mass)


def _count(
    text: Cooccurrences, block: Block, table: Table, prior: Prior, distances: bool
) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
    """A block's counts, its (log-likelihood, distance), and null's share of each word, by piece."""
    theta = table.pairs[block.first_pair : block.first_pair + block.pairs]
    counts = torch.zeros(block.pairs, dtype=torch.float64, device=theta.device)
    found = torch.zeros(2, dtype=torch.float64, device=theta.device)
    shares = []
    for piece in block.pieces:
        matrix = weights(block, piece, text.store.get(piece.entries), prior)
        null = table.null.index_select(0, piece.types) * prior.null
        total = matrix.sums(theta).add_(null).clamp_min_(_LEAST)
        inverse = total.reciprocal()
        counts += matrix.spread(inverse)
        if distances:
            found[1] += matrix.distances(theta).mul_(inverse).sum(dtype=torch.float64)
        found[0] += total.log_().sum(dtype=torch.float64) - SCALE * len(total)
        shares.append(null.mul_(inverse).double())
    return counts.mul_(theta), found, shares


def decode(text: Cooccurrences, table: Table, prior: Prior, workers: Workers, *, words: int) -> Best:
    """The most probable source word of each target word; null's where none is more probable, as in fast_align.

    `prior` is one in double precision, see `_best`.
    """
    device = table.pairs.device
    source = torch.full((words,), -1, dtype=torch.int32, device=device)
    log_likelihood = torch.zeros(words, dtype=torch.float64, device=device)
    null = torch.zeros((), dtype=torch.float64, device=device)
    work = workers.each(lambda block: [_best(text, block, piece, table, prior) for piece in block.pieces], text.blocks)
    for block, found in zip(text.blocks, work, strict=True):
        for piece, (best, logs, share) in zip(block.pieces, found, strict=True):
            source[piece.words] = best
            log_likelihood[piece.words] = logs
            null += share
    return Best(source, log_likelihood, float(null))


def _best(
    text: Cooccurrences, block: Block, piece: Piece, table: Table, prior: Prior
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The best source word of each word of a piece, ln p of the word, and null's share of all of them."""
    theta = table.pairs[block.first_pair : block.first_pair + block.pairs]
    entries = text.store.get(piece.entries)
    # In single precision, priors that differ by rounding only are equal: of a word that stands twice, as far from
    # the diagonal on either side, the first one is taken, whatever the last digits.
    weight = prior.weights(piece.groups, piece.places).float().mul_(theta.float().index_select(0, entries))
    null = table.null.index_select(0, piece.types) * prior.null
    best, total = [], []
    for matrix, least in zip(piece.groups.matrices(weight), piece.groups.vectors(null), strict=True):
        most, where = matrix.max(1)
        best.append(torch.where(most > least, where, -1).int())
        total.append(matrix.sum(1))
    sums = torch.cat(total).double().add_(null).clamp_min_(_LEAST)
    return torch.cat(best), sums.log().sub_(SCALE), (null / sums).sum()
