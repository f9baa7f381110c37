"""A piece of text as a sparse matrix A, and the products with it that a pass needs.

A has a row for each target word and a column for each pair of the block; its entries are the priors δ. With θ
the probabilities of the pairs, A θ is p(target word | source sentence) but for the empty word, and θ ∘ Aᵀ (1 / p)
are the expected counts, where p is the whole probability. On a CPU these are SciPy's products, which fuse what
would be four passes over memory; on a GPU they are gathers and scatters of dense groups.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from interlingua.wordalign.cooccurrence import Block, Words
from interlingua.wordalign.diagonal import Groups, Prior


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

    def __init__(self, block: Block, groups: Groups, words: Words, prior: Prior) -> None:
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

    def __init__(self, block: Block, groups: Groups, words: Words, prior: Prior) -> None:
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


def weights(block: Block, groups: Groups, words: Words, prior: Prior) -> Weights:
    """The matrix of a piece, in the form that suits its device."""
    made = HostWeights if words.entries.device.type == "cpu" else DeviceWeights
    return made(block, groups, words, prior)


def _starts(groups: Groups) -> NDArray[np.int32]:
    """Where the entries of each word start, and where the last ones end."""
    starts = np.zeros(sum(groups.words) + 1, np.int32)
    np.cumsum(np.repeat(np.array(groups.lengths, np.int32), groups.words), dtype=np.int32, out=starts[1:])
    return starts
