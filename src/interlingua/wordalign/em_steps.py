"""The steps of EM: expected counts, new probabilities (variational Bayes), and the tension of the diagonal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from scipy.optimize import brentq

from interlingua.wordalign.blocks import Workers
from interlingua.wordalign.cooccurrence import Block, Cooccurrences, PieceWords, weights
from interlingua.wordalign.diagonal import TENSIONS, Groups, Prior, TargetPlaces

SCALE = 50.0
"""Probabilities are kept times e^50: variational ones go down to e^-100, past the end of single precision."""
_LEAST = 1e-37
"""A sum of weights that is smaller is taken for this: its word has no expected counts."""


@dataclass(frozen=True)
class TranslationTable:
    """p(target type | source type) of each pair and p(target type | null), times e^50."""

    pairs: torch.Tensor
    null: torch.Tensor

    @classmethod
    def of_logs(cls, pairs: torch.Tensor, null: torch.Tensor) -> TranslationTable:
        """The table of these logarithms, in single precision."""
        return cls(*((logs.double() + SCALE).exp().float() for logs in (pairs, null)))

    def logs(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The logarithms of the probabilities of pairs, and of null's, in single precision."""
        return _logs(self.pairs), _logs(self.null)


@dataclass(frozen=True)
class ExpectedCounts:
    """What a pass counts: sums in double precision, and counts of pairs in that of the table."""

    counts: torch.Tensor  # expected links of each pair
    totals: torch.Tensor  # expected links of each source type
    null: torch.Tensor  # expected links of each target type with the empty word
    log_likelihood: float  # Σ ln p(target word | source sentence)
    distance: float  # Σ E[h] over links with real words; 0 where not asked for
    mass: torch.Tensor  # expected links with real words at each place; 0 where not asked for


@dataclass(frozen=True)
class BestLinks:
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
    table: TranslationTable,
    prior: Prior,
    workers: Workers,
    *,
    source_types: int,
    distances: bool,
    into: torch.Tensor | None = None,
) -> ExpectedCounts:
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
    return ExpectedCounts(counts, totals, null, log_likelihood, distance, mass)


class _Counted(NamedTuple):
    """What a block adds: counts of its pairs, (log-likelihood, distance), and 1 - null's share of words by place."""

    counts: torch.Tensor
    sources: torch.Tensor
    sums: torch.Tensor
    real: list[tuple[torch.Tensor, torch.Tensor]]


def _count(
    text: Cooccurrences, block: Block, table: TranslationTable, prior: Prior, of_null: torch.Tensor, distances: bool
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


def decode(text: Cooccurrences, table: TranslationTable, prior: Prior, workers: Workers, *, words: int) -> BestLinks:
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
    return BestLinks(source, logs, *sums.tolist())


def _best(
    block: Block, groups: Groups, words: PieceWords, table: TranslationTable, prior: Prior
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


_HALF_LOG_TWO_PI = 0.9189385332046727
_LOG_TEN = 2.302585092994046
# Stirling's series: B_2k / (2k (2k - 1)) and B_2k / 2k for k = 1, 2, ...
_LOG_GAMMA = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_TERMS = {torch.float32: 3, torch.float64: 7}
"""How many terms the precision can resolve, six steps up."""


def log_gamma_and_digamma(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """ln Γ(x) and ψ(x) of positive numbers, in the precision of x.

    Both are pushed six steps up by Γ(x + 1) = x Γ(x), where Stirling's series is short (Abramowitz & Stegun
    6.1.41, 6.3.18). With u = x (x + 5) the six factors are u and (u + 4) (u + 6).

    >>> log_gamma, digamma = log_gamma_and_digamma(torch.tensor([1.0, 5.0], dtype=torch.float64))
    >>> [round(float(value), 6) for value in (*log_gamma, *digamma)]
    [0.0, 3.178054, -0.577216, 1.506118]
    """
    terms = _TERMS[x.dtype]
    u = x * (x + 5.0)
    rest = (u + 4.0).mul_(u + 6.0)
    up = x + 6.0
    log_up = up.log()
    r = up.reciprocal()
    r2 = r * r
    digamma = u.mul(2.0).add_(10.0).div_(rest).add_(u.reciprocal()).mul_(x.mul(-2.0).sub_(5.0))
    digamma += log_up
    digamma -= r.mul(0.5)
    digamma -= _series(r2, _DIGAMMA[:terms]).mul_(r2)
    log_gamma = _series(r2, _LOG_GAMMA[:terms]).mul_(r).add_(_HALF_LOG_TWO_PI).sub_(up)
    log_gamma += up.sub_(0.5).mul_(log_up)
    log_gamma -= u.mul_(1e-10).mul_(rest.mul_(1e-10)).log_()  # The product alone could overflow.
    log_gamma -= 20 * _LOG_TEN
    return log_gamma, digamma


def _series(x: torch.Tensor, coefficients: tuple[float, ...]) -> torch.Tensor:
    """Σ c_k x^k."""
    *lower, last = coefficients
    value = x.mul(last).add_(lower[-1])
    for coefficient in lower[-2::-1]:
        value.mul_(x).add_(coefficient)
    return value


_RANGE = {"cpu": 1 << 16, "cuda": 1 << 24}
"""How many pairs are worked on at once."""
EXACT = 1 << 20
"""Up to how many pairs a table is kept in double precision; in single, the objective has seven digits."""


@dataclass(frozen=True)
class Distributions:
    """The distributions θ(· | source type) over the target types seen with it, and θ(· | null) over all of them."""

    text: Cooccurrences
    sizes: torch.Tensor  # how many target types each source type is seen with

    @classmethod
    def of(cls, text: Cooccurrences, source_types: int) -> Distributions:
        sizes = torch.zeros(source_types, dtype=torch.int64, device=text.store.device)
        for block in text.blocks:
            sources = text.store.get(block.sources)
            sizes.index_add_(0, sources, torch.ones_like(sources, dtype=torch.int64))
        return cls(text, sizes)

    @property
    def null_types(self) -> torch.Tensor:
        """The target types that occur."""
        return self.text.occurring

    def uniform(self, target_types: int) -> TranslationTable:
        """Every target type equally probable, whatever the source word."""
        count = self.text.pairs
        value = math.exp(SCALE) / max(len(self.null_types), 1)
        dtype = torch.float64 if count <= EXACT else torch.float32
        pairs, null = (
            torch.full((size,), value, dtype=dtype, device=self.text.store.device) for size in (count, target_types)
        )
        return TranslationTable(pairs, null)

    def prior_expectation(self, expected: ExpectedCounts, alpha: float) -> float:
        """E[ln p(target words | links)] where links are those expected and every θ has its Dirichlet prior only.

        That is the variational bound before the first step: neither links nor θ differ from their priors.
        """
        seen = self.sizes > 0
        totals = torch.cat([expected.totals[seen], expected.null.sum()[None]])
        one, null = totals.new_ones(1), totals.new_full((1,), len(self.null_types))
        digamma = log_gamma_and_digamma(torch.cat([self.sizes[seen].double(), null, one]).clamp_min(1) * alpha)[1]
        return float((totals * (digamma[-1] - digamma[:-1])).sum())

    def likeliest(self, expected: ExpectedCounts, workers: Workers) -> TranslationTable:
        """θ = count / total: the M-step of plain EM. The counts are overwritten by the table."""
        totals = expected.totals
        scale = torch.where(totals > 0, math.exp(SCALE) / totals, 0.0)

        def made(counts: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
            counts *= scale.index_select(0, source)
            return counts.new_zeros(())

        self._by_range(made, expected.counts, workers)
        total = expected.null.sum()
        # Nothing is expected of an empty word that has no mass: its distribution is 0, not 0/0.
        null = expected.null * torch.where(total > 0, math.exp(SCALE) / total, 0.0)
        return TranslationTable(expected.counts, null.to(expected.counts.dtype))

    def variational(self, expected: ExpectedCounts, alpha: float, workers: Workers) -> tuple[TranslationTable, float]:
        """exp E[ln θ] = exp(ψ(count + α) - ψ(total + size · α)), and the divergence of θ's posterior from its prior.

        The Dirichlet prior of a source word is over the target types seen with it, as in fast_align's table
        (Dyer et al. 2013, §2.3; Kurihara & Sato 2006). KL[Dir(α + c) || Dir(α)] summed over source types is
        Σ ln Γ(α size + C) - ln Γ(α size) - Σ [ln Γ(α + c) - ln Γ(α)] + Σ c E[ln θ]. The counts are overwritten by
        the table: they are the largest array there is.
        """
        seen = self.sizes > 0
        spread = self.sizes[seen].double() * alpha
        totals = expected.totals
        log_gammas, digammas = log_gamma_and_digamma(totals[seen] + spread)
        total_digamma = torch.zeros_like(totals).masked_scatter_(seen, digammas).to(expected.counts.dtype)
        # As it comes out in this precision: a pair with no count then adds exactly nothing.
        of_alpha = log_gamma_and_digamma(expected.counts.new_full((1,), alpha))[0]

        def made(counts: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
            log_gamma, logs = log_gamma_and_digamma(counts + alpha)
            logs -= total_digamma.index_select(0, source)
            divergence = counts.mul_(logs).sub_(log_gamma.sub_(of_alpha)).sum(dtype=torch.float64)
            # Half of the logarithm at a time: next to 50 it would lose two digits, and e^-100 is no single number.
            half = logs.mul_(0.5).exp_()
            torch.mul(half, half * math.exp(SCALE), out=counts)
            return divergence

        divergence = self._by_range(made, expected.counts, workers)
        divergence += (log_gammas - log_gamma_and_digamma(spread)[0]).sum()
        null, of_null = _variational_null(expected.null, self.null_types, alpha)
        return TranslationTable(expected.counts, null.to(expected.counts.dtype)), float(divergence + of_null)

    def _by_range(
        self, made: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], counts: torch.Tensor, workers: Workers
    ) -> torch.Tensor:
        """What `made` returns for ranges of counts and their source types, summed in the order of the ranges."""
        step, nothing = _RANGE[counts.device.type], torch.zeros((), dtype=torch.float64, device=counts.device)

        def of_block(block: Block) -> torch.Tensor:
            here, sources = counts[block.first_pair :][: block.pairs], self.text.store.get(block.sources)
            ranges = (slice(begin, begin + step) for begin in range(0, block.pairs, step))
            return sum((made(here[some], sources[some]) for some in ranges), start=nothing)

        return sum(workers.each(of_block, self.text.blocks), start=nothing)


def _variational_null(counts: torch.Tensor, types: torch.Tensor, alpha: float) -> tuple[torch.Tensor, torch.Tensor]:
    here = counts.index_select(0, types)
    log_gamma, logs = log_gamma_and_digamma(here + alpha)
    whole = torch.stack([here.sum() + alpha * len(types), here.new_tensor(alpha * max(len(types), 1))])
    whole_log_gamma, whole_digamma = log_gamma_and_digamma(whole.clamp_min(alpha))
    logs = logs - whole_digamma[0]
    divergence = whole_log_gamma[0] - whole_log_gamma[1] + (here * logs - log_gamma + math.lgamma(alpha)).sum()
    null = torch.zeros_like(counts)
    null[types] = (logs + SCALE).exp()
    return null, divergence


RULES = ("part", "fast_align")
"""`part`: part of the way to the maximum at each pass. `fast_align`: the steps of that program, digit by digit."""
_STEPS, _RATE = 8, 20.0
_ROUNDING = 1e-6
"""A slope that is smaller next to the distances it is made of is none: they are summed in the table's precision."""


def best_tension(places: TargetPlaces, mass: torch.Tensor, distance: float, start: float) -> float:
    """The tension in [0.1, 14] that maximises the expected log prior: -λ Σ E[h] - Σ mass · ln Z(λ).

    `distance` is Σ E[h] over all links to real words, and `mass` for each place the number of target words there
    that are expected to have one; `start` is where to look from. The function is concave in λ (ln Z is convex):
    its slope has one zero, found to 1e-6, and any tension on the way there is better than `start`. Where all source
    sentences have one word the function is flat, and the tension stays where it is.
    """

    def slope(tension: float) -> float:
        return -distance - float((places.log_normaliser(tension)[1] * mass).sum())

    here = slope(start)
    if abs(here) <= _ROUNDING * distance:
        return start
    rising = here > 0
    end = TENSIONS[rising]
    if (slope(end) > 0) == rising:
        return end
    return float(brentq(slope, start, end, xtol=1e-6))


def fast_align_tension(places: TargetPlaces, distance: float, start: float) -> float:
    """The tension in [0.1, 14] after fast_align's eight gradient steps of length 20 (its `-o`).

    They are not quite those of the gradient. `distance` is Σ E[h] with target words counted from 0, where the model
    counts from 1; the model's own mean distance is over all target words, those of the empty word too; and it is
    divided by Z with the two lengths exchanged. Each keeps the tension below its maximum. For links that are
    fast_align's own: nothing says that a pass raises the objective.
    """
    words = places.words.double()
    if not len(words):
        return start  # No word has a distance.
    tension = start
    for _ in range(_STEPS):
        log_normaliser, slope = places.log_normaliser(tension)
        expected = (slope * log_normaliser.exp() / _exchanged(places, tension) * words).sum()
        tension += _RATE * float((-distance - expected) / words.sum())
        tension = min(max(tension, TENSIONS[0]), TENSIONS[1])
    return tension


def _exchanged(places: TargetPlaces, tension: float) -> torch.Tensor:
    """Z as for target word j of n and source words i of m. Where j > n, fast_align's count of words wraps round."""
    n, m, j = (x.double() for x in (places.source_length, places.target_length, places.position))
    below = torch.floor(j * m / n)
    above = m - below
    less = 1 / (1 - torch.exp(-tension / m))
    rest = torch.where(above < 0, 0.0, torch.exp(-tension * above / m))  # above 0 that many, else about 2³² words
    upper = torch.exp(-tension * ((below + 1) / m - j / n)) * (1 - rest)
    lower = torch.exp(-tension * (j / n - below / m)) * (1 - torch.exp(-tension * below / m))
    return (upper + lower) * less
