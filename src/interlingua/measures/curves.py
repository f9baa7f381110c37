"""Curves of several languages over the steps of a run: their changes, how these go together, and which form groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def differences(
    steps: Sequence[int] | Ints, values: NDArray[np.floating[Any]], *, span: int = 50
) -> tuple[Ints, Floats]:
    """The change of each curve over `span` steps, and the steps at which each change begins.

    sim(l, t + h) - sim(l, t) with h = `span` (papers/003 §4.1: 50), for every measured step t whose step t + h was
    measured, too. `values` are (step, language), and so is the result.

    >>> steps, changes = differences([0, 25, 50, 75, 80], np.array([[0.0], [1.0], [4.0], [9.0], [9.5]]))
    >>> steps.tolist(), changes[:, 0].tolist()
    ([0, 25], [4.0, 8.0])
    """
    at = {int(step): place for place, step in enumerate(steps)}
    if len(at) != len(values):
        raise InputError("steps and values differ in number", value=f"{len(at)} and {len(values)}", remedy="Pair them.")
    begun = [step for step in sorted(at) if step + span in at]
    if span < 1 or not begun:
        raise InputError(
            f"no two measured steps lie {span} apart", remedy="Train longer, or measure at divisors of the span."
        )
    curves = np.asarray(values, np.float64)
    later, now = ([at[step + shift] for step in begun] for shift in (span, 0))
    changes: Floats = curves[later] - curves[now]
    return np.array(begun, np.int64), changes


def pool_runs(runs: Sequence[Floats]) -> Floats:
    """The curves of several runs end to end, (step, language), each run's minus its own mean.

    Without the means a language that changes more in one run than in another would seem to go with every other
    language that does.

    >>> pool_runs([np.array([[1.0], [3.0]]), np.array([[10.0], [10.0]])])[:, 0].tolist()
    [-1.0, 1.0, 0.0, 0.0]
    """
    return np.concatenate([curves - curves.mean(axis=0) for curves in runs])


@dataclass(frozen=True)
class Correlations:
    """Pearson's correlation of every two languages' curves, in [-1, 1]; 1 on the diagonal. `null`, `p` are in [0, 1].

    `null` is what unrelated curves as smooth as these would show: the mean |r| of each pair when one curve is shifted
    round, over all shifts. Changes over overlapping spans are smooth, and smooth curves correlate by chance. `p` is the
    share of shifts, none included, whose |r| is at least as large: of n steps it can't be below 1 / n.
    """

    matrix: Floats
    null: Floats
    p: Floats


def correlations(curves: Floats) -> Correlations:
    """How the languages' curves go together (papers/003 Fig. 4), from (step, language). A constant curve has r = 0.

    >>> found = correlations(np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0], [1.0, 2.0, 0.0]]))
    >>> found.matrix.round(4).tolist()
    [[1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    steps = len(curves)
    if steps < 3:
        raise InputError("too few steps to correlate", value=steps, remedy="Train longer, or measure more often.")
    around = curves - curves.mean(axis=0)
    sizes = np.linalg.norm(around, axis=0)
    # A constant curve differs from its mean by rounding alone.
    flat = sizes <= 1e-12 * np.sqrt(steps) * np.abs(curves).max(axis=0)
    unit = np.where(flat, 0.0, around / np.where(sizes > 0, sizes, 1.0))
    matrix = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(matrix, 1.0)
    # Shifts by all steps at once: a product of Fourier transforms is a circular correlation.
    spectrum = np.fft.rfft(unit, axis=0)
    shifted = np.fft.irfft(spectrum[:, :, None] * spectrum[:, None, :].conj(), n=steps, axis=0)
    null: Floats = np.abs(shifted[1:]).mean(axis=0)
    p: Floats = (1 + (np.abs(shifted[1:]) >= np.abs(matrix) - 1e-12).sum(axis=0)) / steps
    return Correlations(matrix, null, p)


@dataclass(frozen=True)
class CurveClustering:
    """Languages in a tree: the order of its leaves, the group of each language, and the merges from the leaves up.

    A merge is (one, other, distance, size) as in `scipy.cluster.hierarchy`: numbers from the count of languages on are
    earlier merges. Groups are numbered in the order of the leaves, from 0.
    """

    order: list[int]
    groups: list[int]
    merges: list[tuple[int, int, float, int]]


def cluster_curves(matrix: Floats, *, groups: int = 2) -> CurveClustering:
    """The hierarchical clustering of a correlation matrix, by average linkage on 1 - r.

    papers/003 Fig. 4 sees two groups of six languages by eye. Leaves are ordered so that neighbours are alike
    (Bar-Joseph et al. 2001).

    >>> found = cluster_curves(np.array([[1.0, -0.5, 0.9], [-0.5, 1.0, -0.4], [0.9, -0.4, 1.0]]))
    >>> found.groups[0] == found.groups[2] != found.groups[1]
    True
    """
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    count = len(matrix)
    if count < 2:
        raise InputError("one language forms no groups", remedy="Give two or more.")
    if not 1 <= groups <= count:
        raise InputError("there are fewer groups", value=groups, remedy=f"Give 1 to {count}.")
    apart = np.clip(1 - (matrix + matrix.T) / 2, 0.0, 2.0)
    np.fill_diagonal(apart, 0.0)
    tree = hierarchy.linkage(squareform(apart, checks=False), method="average", optimal_ordering=True)
    order = [int(leaf) for leaf in hierarchy.leaves_list(tree)]
    named = hierarchy.cut_tree(tree, n_clusters=groups)[:, 0]
    numbers = {int(label): place for place, label in enumerate(dict.fromkeys(named[order].tolist()))}
    merges = [(int(one), int(other), float(far), int(size)) for one, other, far, size in tree]
    return CurveClustering(order, [numbers[int(label)] for label in named], merges)
