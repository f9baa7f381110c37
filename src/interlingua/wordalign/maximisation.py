"""From expected counts to translation probabilities, by plain EM or with the variational step of a Dirichlet prior."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from interlingua.wordalign.cooccurrence import Block, Cooccurrences
from interlingua.wordalign.expectation import SCALE, Expected, Table
from interlingua.wordalign.gamma import log_gamma_and_digamma
from interlingua.wordalign.threads import Workers

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

    def uniform(self, target_types: int) -> Table:
        """Every target type equally probable, whatever the source word."""
        count = self.text.pairs
        value = math.exp(SCALE) / max(len(self.null_types), 1)
        dtype = torch.float64 if count <= EXACT else torch.float32
        pairs, null = (
            torch.full((size,), value, dtype=dtype, device=self.text.store.device) for size in (count, target_types)
        )
        return Table(pairs, null)

    def prior_expectation(self, expected: Expected, alpha: float) -> float:
        """E[ln p(target words | links)] where links are those expected and every θ has its Dirichlet prior only.

        That is the variational bound before the first step: neither links nor θ differ from their priors.
        """
        seen = self.sizes > 0
        totals = torch.cat([expected.totals[seen], expected.null.sum()[None]])
        one, null = totals.new_ones(1), totals.new_full((1,), len(self.null_types))
        digamma = log_gamma_and_digamma(torch.cat([self.sizes[seen].double(), null, one]).clamp_min(1) * alpha)[1]
        return float((totals * (digamma[-1] - digamma[:-1])).sum())

    def likeliest(self, expected: Expected, workers: Workers) -> Table:
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
        return Table(expected.counts, null.to(expected.counts.dtype))

    def variational(self, expected: Expected, alpha: float, workers: Workers) -> tuple[Table, float]:
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
        return Table(expected.counts, null.to(expected.counts.dtype)), float(divergence + of_null)

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
