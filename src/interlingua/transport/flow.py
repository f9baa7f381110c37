"""A transport problem of two weighted sets of tokens, and what solves it: score, plan, and a bound on its error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from interlingua.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_ROUNDING = 1e-12  # a float64 cosine of a vector with itself is off by about 1e-15


@dataclass(frozen=True)
class TransportProblem:
    """Similarities (source, target) in [-1, 1], and the weights of both sides, at least 0 and adding up to 1.

    `costs` are 1 - max(similarity, 0), exactly 0 where the similarity is 1 but for rounding: equal tokens then score 1.
    """

    similarities: Floats
    costs: Floats
    source: Floats
    target: Floats

    @classmethod
    def of(cls, similarities: ArrayLike, source: ArrayLike, target: ArrayLike) -> TransportProblem:
        """The problem, its weights normalised to add up to 1.

        >>> TransportProblem.of([[1.0, 0.0]], [2.0], [1.0, 3.0]).target
        array([0.25, 0.75])
        """
        table = np.ascontiguousarray(similarities, np.float64)
        sides = [np.ascontiguousarray(side, np.float64) for side in (source, target)]
        if table.ndim != 2 or table.shape != (sides[0].size, sides[1].size):
            raise ValueError(f"similarities {table.shape} for {sides[0].size} and {sides[1].size} weights")
        if not np.isfinite(table).all() or np.abs(table).max(initial=0) > 1 + 1e-6:
            raise InputError(
                "a similarity is undefined or outside of [-1, 1]", remedy="Give cosines of finite vectors."
            )
        table = np.clip(table, -1.0, 1.0)
        costs: Floats = 1.0 - np.maximum(table, 0.0)
        costs[costs < _ROUNDING] = 0.0
        return cls(table, costs, normalize_weights(sides[0]), normalize_weights(sides[1]))

    def weighed(self, source: Floats, target: Floats) -> TransportProblem:
        """The same similarities under other weights, which are normalised."""
        return replace(self, source=normalize_weights(source), target=normalize_weights(target))

    def merged(self, rows: tuple[Ints, Ints], columns: tuple[Ints, Ints]) -> TransportProblem:
        """The smaller problem of the same optimum in which equal tokens are one, with the sum of their weights.

        A side is described by one token of each kind, and by the kind of every token.

        >>> problem = TransportProblem.of([[1.0, 0.5], [1.0, 0.5]], [0.2, 0.3], [0.5, 0.5])
        >>> problem.merged((np.array([0]), np.array([0, 0])), (np.array([0, 1]), np.array([0, 1]))).source
        array([1.])
        """
        place = np.ix_(rows[0], columns[0])
        source: Floats = np.bincount(rows[1], weights=self.source, minlength=len(rows[0])).astype(np.float64)
        target: Floats = np.bincount(columns[1], weights=self.target, minlength=len(columns[0])).astype(np.float64)
        return TransportProblem(self.similarities[place], self.costs[place], source, target)

    def flow(self, balanced: NDArray[np.floating[Any]], *, error: float = 0.0) -> Flow:
        """The score of a plan of the balanced problem, and what of it flows in Eq. 2 of papers/002."""
        plan = np.asarray(balanced, np.float64)
        score = 1.0 - float((plan * self.costs).sum())
        return Flow(score, np.where(self.similarities > 0, plan, 0.0), error)


@dataclass(frozen=True)
class Flow:
    """How alike two weighted sets are, in [0, 1], what flows from each source token to each target token, and a bound.

    `score` is at most the optimum, and the optimum at most `score + error`. `plan` holds what flows along positive
    similarities: its sum can be below 1.
    """

    score: float
    plan: Floats
    error: float

    def strongest(self, count: int) -> list[tuple[int, int, float]]:
        """The (source, target, flow) of the largest flows, largest first.

        >>> Flow(1.0, np.array([[0.2, 0.0], [0.1, 0.7]]), 0.0).strongest(2)
        [(1, 1, 0.7), (0, 0, 0.2)]
        """
        flows = self.plan.ravel()
        there = np.flatnonzero(flows > 0)
        chosen = there[np.argsort(-flows[there], kind="stable")[:count]]
        rows, columns = np.divmod(chosen, self.plan.shape[1])
        return list(zip(rows.tolist(), columns.tolist(), flows[chosen].tolist(), strict=True))


def normalize_weights(weights: Floats) -> Floats:
    """The weights divided by their sum; none that is negative or undefined, and not all 0."""
    total = float(weights.sum())
    if not np.isfinite(total) or weights.min(initial=0.0) < 0 or total <= 0:
        if not weights.any():
            everywhere = "Attributions that are 0 everywhere have no earth mover's similarity."
            raise InputError("all weights are 0", remedy=everywhere)
        raise InputError("a weight is negative or undefined", remedy="Give finite weights of at least 0.")
    shares: Floats = weights / total
    return shares
