"""Consistency: do two languages' attributions lie on words that mean the same (Wang et al. 2021 §2.3)?

For every pair of examples the earth mover's similarity of their units, weighted by attribution, in a shared space: the
sum of flow times cosine. It is high for similar texts whatever the weights, so it travels with three controls: other
examples' texts (the null); random attributions on the same texts, those of each text dealt to its words at random; and
attributions of the same body under random heads, which have learnt nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.attribution.units import UNITS
from interlingua.corpus import Skip
from interlingua.errors import InputError
from interlingua.metric import Metric, Metrics
from interlingua.registry import unknown
from interlingua.score import Score
from interlingua.stats import group_sums, mean_interval
from interlingua.transport import WEIGHTINGS, Flow, TransportProblem, entropic, exact, weights_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SOLVERS = ("exact", "entropic")
_AT_ONCE = 128  # pairs of texts in memory at a time, each with all that is asked of it
_PAIR, _RANDOM, _NULL = range(3)

METRICS = Metrics(
    (Metric(name="consistency", title="Consistency of attributions", null="texts of other rows", headline=True),)
)
CHOICES = Metrics(
    (
        Metric(
            name="consistency",
            title="Consistency of attributions, by unit and weighting",
            null="texts of other rows",
            options={"unit": UNITS, "weighting": tuple(WEIGHTINGS)},
        ),
    )
)


@dataclass(frozen=True)
class WeightedUnits:
    """Examples as weighted units: example i has attributions `values[starts[i]:starts[i + 1]]`, and as many vectors."""

    values: Floats
    vectors: NDArray[np.float32]
    starts: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    def unit_vectors(self, number: int) -> Floats:
        """The vectors of an example's units at length 1 or 0, in float64: a unit is exactly like itself."""
        vectors = self.vectors[self.starts[number] : self.starts[number + 1]].astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        scaled: Floats = vectors / np.where(lengths > 0, lengths, 1.0)
        return scaled

    def weights(self, number: int, how: str) -> Floats | None:
        """Weights that add up to 1; units without a vector have none. None where nothing is left to weigh."""
        span = slice(self.starts[number], self.starts[number + 1])
        known = self.known[span]
        shares = weights_of(self.values[span][known], how)
        if shares is None:
            return None
        weights = np.zeros(len(known))
        weights[known] = shares
        return weights

    def kinds(self, number: int) -> tuple[Ints, Ints]:
        """The first unit of every kind in an example, and the kind of each unit: those of one vector are of one."""
        vectors = self.vectors[self.starts[number] : self.starts[number + 1]]
        seen: dict[bytes, int] = {}
        kind = np.fromiter((seen.setdefault(row.tobytes(), len(seen)) for row in vectors), np.int64, len(vectors))
        first = np.flatnonzero(np.diff(np.maximum.accumulate(kind), prepend=-1))
        return first, kind

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether each unit has a vector."""
        found: NDArray[np.bool_] = np.asarray(self.vectors.any(axis=1))
        return found

    @property
    def unknown(self) -> int:
        """How many units have no vector."""
        return int((~self.known).sum())


@dataclass(frozen=True)
class Consistency:
    """Scores in [0, 1] of the examples `rows`, what flowed, and both controls; `skipped` counts the other examples.

    `null` is each source example against another target example, `random` the same pair with its attributions dealt to
    its words at random. `heads` (head, 2, example) are score and `random` of the same pairs by attributions of other
    heads; attributions that weigh nothing let nothing flow, and score 0. There are no `flows` where scores alone were
    asked for.
    """

    rows: Ints
    scores: Floats
    flows: tuple[Flow, ...]
    null: Floats
    random: Floats
    heads: Floats
    skipped: tuple[Skip, ...]

    def score(self, groups: Ints | None = None) -> Score:
        """The mean with its interval, per-example values and the shuffled-pairs null; in details the other controls.

        `above_random` has the mean of score less random over examples and its Student interval (None for one example):
        both are of the same texts, so what the texts make high or low is in neither. `heads` has the same difference
        for each random head, and the standard error, over examples, of how far it is from their mean. Examples are
        independent between `groups` only (the names of one sentence); by default each is one.
        """
        if not len(self.scores):
            shown = "; ".join(str(skip) for skip in self.skipped)
            raise InputError("no example could be compared", value=shown or None, remedy="Use another weighting.")
        low, high = _interval(self.scores, groups) or (None, None)
        above = self.scores - self.random
        return Score(
            float(self.scores.mean()),
            len(self.scores),
            null=float(self.null.mean()) if len(self.null) else None,
            low=low,
            high=high,
            items=self.scores,
            details={
                "random": float(self.random.mean()),
                "above_random": [float(above.mean()), *(_interval(above, groups) or (None, None))],
                "error": max((flow.error for flow in self.flows), default=0.0),
                **self._heads(above, groups),
            },
        )

    def _heads(self, above: Floats, groups: Ints | None) -> dict[str, Any]:
        """What the other heads reach, and the standard error over examples of ours less their mean."""
        if not len(self.heads):
            return {}
        theirs = self.heads[:, 0] - self.heads[:, 1]
        means = {"consistency": self.heads[:, 0].mean(axis=1), "above_random": theirs.mean(axis=1)}
        error = _standard_error(above - theirs.mean(axis=0), groups)
        return {"heads": {**{name: each.tolist() for name, each in means.items()}, "error": error}}


def consistency(
    source: WeightedUnits,
    target: WeightedUnits,
    *,
    weighting: str = "absolute",
    solver: str = "exact",
    seed: int = 0,
    device: str = "cpu",
    heads: Sequence[tuple[Floats, Floats]] = (),
) -> Consistency:
    """The consistency of examples of two languages, row i of one the translation of row i of the other.

    An example without weights (attributions all 0, or no token) is skipped and counted. `heads` are attributions of the
    same units of both sides under other heads, a control.
    """
    weightings = (weighting,)
    found = consistencies(source, target, weightings=weightings, solver=solver, seed=seed, device=device, heads=heads)
    return found[weighting]


def consistencies(
    source: WeightedUnits,
    target: WeightedUnits,
    *,
    weightings: Sequence[str],
    solver: str = "exact",
    seed: int = 0,
    device: str = "cpu",
    flows: bool = True,
    heads: Sequence[tuple[Floats, Floats]] = (),
) -> dict[str, Consistency]:
    """The consistency by each weighting: what `consistency` gives for it, and the similarities of texts found once.

    Unless `flows` are asked for there are none, and equal units of a text are one: smaller problems, the same scores.
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
    sides = [(source, target), *((replace(source, values=a), replace(target, values=b)) for a, b in heads)]
    ways = [_Way.of(*both, weighting, seed, head=at > 0) for weighting in weightings for at, both in enumerate(sides)]
    found = _solved(source, target, ways, solver=solver, device=device, flows=flows)
    results = {}
    for at, weighting in enumerate(weightings):
        place = at * len(sides)
        way, (scores, kept) = ways[place], found[place]
        control = np.zeros((len(heads), 2, len(way.rows)))
        for number in range(len(heads)):
            rows = ways[place + 1 + number].rows
            _, ours, theirs = np.intersect1d(way.rows, rows, assume_unique=True, return_indices=True)
            control[number][:, ours] = found[place + 1 + number][0][[_PAIR, _RANDOM]][:, theirs]
        null = scores[_NULL, : len(way.others)]
        random = scores[_RANDOM]
        results[weighting] = Consistency(way.rows, scores[_PAIR], kept, null, random, control, _skipped(way.weights))
    return results


@dataclass(frozen=True)
class _Way:
    """What one weighting compares: examples `rows` with themselves and with `others`, and both sides' weights."""

    rows: Ints
    others: Ints
    weights: list[list[Floats | None]]
    noise: list[list[Floats | None]]
    head: bool

    @classmethod
    def of(cls, source: WeightedUnits, target: WeightedUnits, weighting: str, seed: int, *, head: bool) -> _Way:
        weights = [[side.weights(number, weighting) for number in range(len(side))] for side in (source, target)]
        rows = np.array(
            [n for n in range(len(source)) if weights[0][n] is not None and weights[1][n] is not None], np.int64
        )
        draw = np.random.default_rng(seed)
        order = draw.permutation(len(rows))
        others = np.empty_like(rows)
        others[order] = rows[np.roll(order, 1)]  # Nobody is paired with itself.
        noise = [_noise(side, weighting, draw) for side in (source, target)]
        # Texts of others are asked of the model alone: a head is compared on the pairs.
        return cls(rows, others if len(rows) > 1 and not head else others[:0], weights, noise, head)

    def sides(self, kind: int, row: int, column: int) -> tuple[Floats, Floats]:
        """The weights of a source and of a target example."""
        weights = self.noise if kind == _RANDOM else self.weights
        ours, theirs = weights[0][row], weights[1][column]
        assert ours is not None
        assert theirs is not None
        return ours, theirs


def _solved(
    source: WeightedUnits, target: WeightedUnits, ways: Sequence[_Way], *, solver: str, device: str, flows: bool
) -> list[tuple[Floats, tuple[Flow, ...]]]:
    """Of each way the scores (pair, random, null; row), and what flows in pairs where that was asked for."""
    # All that is asked of two texts is asked together: their similarities are found once.
    asked: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for number, way in enumerate(ways):
        for place, row in enumerate(way.rows.tolist()):
            asked.setdefault((row, row), []).extend([(number, _PAIR, place), (number, _RANDOM, place)])
        for place, (row, other) in enumerate(zip(way.rows.tolist(), way.others.tolist(), strict=False)):
            asked.setdefault((row, other), []).append((number, _NULL, place))
    scores = [np.zeros((3, len(way.rows))) for way in ways]
    kept: list[dict[int, Flow]] = [{} for _ in ways]
    merging = solver == "exact"  # The entropic solver is near the optimum, and how near hangs on the problem.
    kinds = [[side.kinds(number) for number in range(len(side))] if merging else [] for side in (source, target)]
    pairs = list(asked)
    for begin in range(0, len(pairs), _AT_ONCE):
        problems: list[TransportProblem] = []
        uses: list[tuple[int, int, int]] = []
        for row, column in pairs[begin : begin + _AT_ONCE]:
            similarities = source.unit_vectors(row) @ target.unit_vectors(column).T
            problem: TransportProblem | None = None
            for use in asked[row, column]:
                sides = ways[use[0]].sides(use[1], row, column)
                problem = TransportProblem.of(similarities, *sides) if problem is None else problem.weighed(*sides)
                whole = not merging or (flows and use[1] == _PAIR and not ways[use[0]].head)
                problems.append(problem if whole else problem.merged(kinds[0][row], kinds[1][column]))
            uses += asked[row, column]
        solved = exact(problems) if solver == "exact" else entropic(problems, device=device)
        for (number, kind, place), flow in zip(uses, solved, strict=True):
            scores[number][kind, place] = flow.score
            if flows and kind == _PAIR and not ways[number].head:
                kept[number][place] = flow
    return [(each, tuple(own[place] for place in sorted(own))) for each, own in zip(scores, kept, strict=True)]


def _interval(values: Floats, groups: Ints | None) -> tuple[float, float] | None:
    """The 95 % interval of a mean; None where one group has all there is, which shows nothing about others."""
    several = len(values) > 1 if groups is None else len(np.unique(groups)) > 1
    return mean_interval(values, groups) if several else None


def _standard_error(values: Floats, groups: Ints | None) -> float:
    """That of a mean of values which are independent between groups; 0 of one group, which has no spread."""
    sums = group_sums(values - values.mean(), np.arange(len(values)) if groups is None else groups)
    return float(np.sqrt(len(sums) / (len(sums) - 1) * np.square(sums).sum()) / len(values)) if len(sums) > 1 else 0.0


def _noise(side: WeightedUnits, weighting: str, draw: np.random.Generator) -> list[Floats | None]:
    """Weights of each example's own attributions, dealt at random to its units that have a vector.

    The same sizes on other words: a control that is more even, or less, would score higher, or lower, for that alone.
    """
    owner = np.repeat(np.arange(len(side)), np.diff(side.starts))
    places = np.lexsort((side.known, owner))
    dealt = np.empty_like(side.values)
    dealt[places] = side.values[np.lexsort((draw.random(len(owner)), side.known, owner))]
    drawn = WeightedUnits(dealt, side.vectors, side.starts)
    return [drawn.weights(number, weighting) for number in range(len(side))]


def _skipped(weights: list[list[Floats | None]]) -> tuple[Skip, ...]:
    empty = [n for n, sides in enumerate(zip(*weights, strict=True)) if any(side is None for side in sides)]
    places = tuple(f"example {n + 1}" for n in empty[:3])
    return (
        (Skip("examples whose attributions weigh nothing (all 0, or no token)", len(empty), places),) if empty else ()
    )
