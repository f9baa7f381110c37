"""Consistency: do two languages' attributions lie on words that mean the same (papers/002 §2.3)?

For every pair of examples the earth mover's similarity of their units, weighted by attribution, in a shared space. It
is high for similar texts whatever the weights, so it travels with two controls: other examples' texts (the null), and
random attributions on the same texts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interlingua.corpus import Skip
from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.score import Score
from interlingua.stats import mean_interval
from interlingua.transport import Flow, Problem, entropic, exact, weights_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SOLVERS = ("exact", "entropic")
_AT_ONCE = 512  # problems in memory at a time


@dataclass(frozen=True)
class Weighed:
    """Examples as weighted units: example i has attributions `values[starts[i]:starts[i + 1]]`, and as many vectors."""

    values: Floats
    vectors: NDArray[np.float32]
    starts: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    def unit_vectors(self, number: int) -> Floats:
        """The vectors of an example's units, of length 1 or 0, in float64: a unit is exactly like itself."""
        vectors = self.vectors[self.starts[number] : self.starts[number + 1]].astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        scaled: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        return scaled

    def weights(self, number: int, how: str) -> Floats | None:
        """Weights that add up to 1; units without a vector have none. None where nothing is left to weigh."""
        span = slice(self.starts[number], self.starts[number + 1])
        known: NDArray[np.bool_] = np.asarray(self.vectors[span].any(axis=1))
        shares = weights_of(self.values[span][known], how)
        if shares is None:
            return None
        weights = np.zeros(len(known))
        weights[known] = shares
        return weights

    @property
    def unknown(self) -> int:
        """How many units have no vector."""
        return int((~self.vectors.any(axis=1)).sum())


@dataclass(frozen=True)
class Consistency:
    """Scores in [0, 1] of the examples `rows`, what flowed, and both controls; `skipped` counts the other examples.

    `null` is each source example against another target example, `random` the same pair under random attributions.
    """

    rows: Ints
    scores: Floats
    flows: tuple[Flow, ...]
    null: Floats
    random: Floats
    skipped: tuple[Skip, ...]

    def score(self) -> Score:
        """The mean with its interval, per-example values and the shuffled-pairs null; in details the random control."""
        if not len(self.scores):
            shown = "; ".join(str(skip) for skip in self.skipped)
            raise InputError("no example could be compared", value=shown or None, remedy="Use another weighting.")
        low, high = mean_interval(self.scores)
        return Score(
            float(self.scores.mean()),
            len(self.scores),
            null=float(self.null.mean()) if len(self.null) else None,
            low=low,
            high=high,
            items=self.scores,
            details={
                "random": float(self.random.mean()),
                "error": max((flow.error for flow in self.flows), default=0.0),
            },
        )


def consistency(
    source: Weighed,
    target: Weighed,
    *,
    weighting: str = "absolute",
    solver: str = "exact",
    seed: int = 0,
    device: str = "cpu",
) -> Consistency:
    """The consistency of examples of two languages, row i of one the translation of row i of the other.

    An example without weights (attributions all 0, or no token) is skipped and counted.
    """
    if len(source) != len(target):
        raise InputError(
            f"{len(source)} examples, and {len(target)} in the other language", remedy="Give row-parallel examples."
        )
    if solver not in SOLVERS:
        raise unknown("solver", solver, list(SOLVERS))
    if source.vectors.shape[1] != target.vectors.shape[1]:
        raise InputError(
            f"vectors of {source.vectors.shape[1]} and {target.vectors.shape[1]} numbers",
            remedy="Both languages must be in one space.",
        )
    weights = [[side.weights(number, weighting) for number in range(len(side))] for side in (source, target)]
    rows = np.array(
        [n for n in range(len(source)) if weights[0][n] is not None and weights[1][n] is not None], np.int64
    )
    skipped = _skipped(weights)
    draw = np.random.default_rng(seed)
    order = draw.permutation(len(rows))
    others = np.empty_like(rows)
    others[order] = rows[np.roll(order, 1)]  # Nobody is paired with itself.
    noise = [_noise(side, weighting, draw) for side in (source, target)]
    ways = [(rows, rows, weights), (rows, rows, noise)]
    ways += [(rows, others, weights)] if len(rows) > 1 else []
    found = [_solved(source, target, *way, solver=solver, device=device) for way in ways]
    values = [np.array([flow.score for flow in flows]) for flows in found]
    return Consistency(
        rows, values[0], tuple(found[0]), values[2] if len(values) > 2 else np.zeros(0), values[1], skipped
    )


def _solved(
    source: Weighed,
    target: Weighed,
    rows: Ints,
    columns: Ints,
    weights: list[list[Floats | None]],
    *,
    solver: str,
    device: str,
) -> list[Flow]:
    flows: list[Flow] = []
    for begin in range(0, len(rows), _AT_ONCE):
        problems = []
        for row, column in zip(rows[begin : begin + _AT_ONCE], columns[begin : begin + _AT_ONCE], strict=True):
            ours, theirs = weights[0][row], weights[1][column]
            assert ours is not None
            assert theirs is not None
            problems.append(Problem.of(source.unit_vectors(row) @ target.unit_vectors(column).T, ours, theirs))
        flows += exact(problems) if solver == "exact" else entropic(problems, device=device)
    return flows


def _noise(side: Weighed, weighting: str, draw: np.random.Generator) -> list[Floats | None]:
    """Weights of normal attributions, drawn anew for every example of a side that can be weighed at all."""
    drawn = Weighed(draw.normal(size=len(side.values)), side.vectors, side.starts)
    found: list[Floats | None] = []
    for number in range(len(side)):
        weights = drawn.weights(number, weighting)
        # All drawn below 0, and only the positive part asked for: any size will do.
        found.append(drawn.weights(number, "absolute") if weights is None else weights)
    return found


def _skipped(weights: list[list[Floats | None]]) -> tuple[Skip, ...]:
    empty = [n for n, sides in enumerate(zip(*weights, strict=True)) if any(side is None for side in sides)]
    places = tuple(f"example {n + 1}" for n in empty[:3])
    return (
        (Skip("examples whose attributions weigh nothing (all 0, or no token)", len(empty), places),) if empty else ()
    )
