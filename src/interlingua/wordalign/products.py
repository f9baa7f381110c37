"""A piece of text as a sparse matrix A, and the products with it that a pass needs.

A has a row for each target word and a column for each pair of the block; its entries are the priors δ. With θ
the probabilities of the pairs, A θ is p(target word | source sentence) but for the empty word, and θ ∘ Aᵀ (1 / p)
are the expected counts, where p is the whole probability. On a CPU these are SciPy's products, which fuse what
would be four passes over memory; on a GPU they are gathers and scatters of dense groups.
"""

from __future__ import annotations

from typing import Protocol

import torch
from scipy.sparse import csr_array

from interlingua.wordalign.cooccurrence import Block, Piece
from interlingua.wordalign.diagonal import Prior


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

    def __init__(self, block: Block, piece: Piece, entries: torch.Tensor, prior: Prior) -> None:
        self._piece, self._prior = piece, prior
        self._values = prior.weights(piece.groups, piece.places)
        parts = self._values.numpy(), entries.numpy(), piece.starts.numpy()
        self._matrix = csr_array(parts, shape=(len(piece.words), block.pairs))

    def sums(self, theta: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(self._matrix @ theta.numpy())

    def spread(self, by: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(self._matrix.T @ by.numpy())

    def distances(self, theta: torch.Tensor) -> torch.Tensor:
        self._prior.times_distances(self._values, self._piece.groups, self._piece.places)
        return self.sums(theta)


class DeviceWeights:
    """The matrix as dense groups of words with as many source words; what is spread is added in double precision."""

    def __init__(self, block: Block, piece: Piece, entries: torch.Tensor, prior: Prior) -> None:
        self._piece, self._entries, self._prior, self._pairs = piece, entries, prior, block.pairs
        self._values = prior.weights(piece.groups, piece.places)

    def sums(self, theta: torch.Tensor) -> torch.Tensor:
        values = theta.index_select(0, self._entries).mul_(self._values)
        return torch.cat([matrix.sum(1) for matrix in self._piece.groups.matrices(values)])

    def spread(self, by: torch.Tensor) -> torch.Tensor:
        groups, values = self._piece.groups, self._values.clone()
        for matrix, column in zip(groups.matrices(values), groups.columns(by), strict=True):
            matrix.mul_(column)
        sums = torch.zeros(self._pairs, dtype=torch.float64, device=values.device)
        return sums.index_add_(0, self._entries, values.double())

    def distances(self, theta: torch.Tensor) -> torch.Tensor:
        self._prior.times_distances(self._values, self._piece.groups, self._piece.places)
        return self.sums(theta)


def weights(block: Block, piece: Piece, entries: torch.Tensor, prior: Prior) -> Weights:
    """The matrix of a piece, in the form that suits its device."""
    made = HostWeights if entries.device.type == "cpu" else DeviceWeights
    return made(block, piece, entries, prior)
