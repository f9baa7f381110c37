"""Do two systems differ on the same items? Student's paired test, permutation tests, and Holm's correction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

_BLOCK = 1 << 22  # bits drawn at a time


def paired_t_test(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """The two-sided p-value of Student's paired t-test, in [0, 1]: do two systems differ on the same items?

    t = mean(d) / (s / sqrt(n)) with d the differences and n - 1 degrees of freedom (papers/001 §5.1 tests per-example
    values averaged over seeds so). Where all differences are 0 there is nothing to test: 1. Where all are one number
    they have no spread to go by, and p is that of all swaps of signs, 2 / 2^n.

    >>> round(paired_t_test(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0, 0.0])), 4)
    0.1817
    """
    apart = np.asarray(ours, np.float64) - np.asarray(theirs, np.float64)
    mean = float(apart.mean())
    if mean == 0.0 or apart.size < 2:
        return 1.0
    spread = float(apart.std(ddof=1)) / float(np.sqrt(apart.size))
    if spread <= abs(mean) * 1e-14:
        return float(2.0 ** (1 - apart.size))
    return float(2 * special.stdtr(apart.size - 1, -abs(mean / spread)))


def f1_permutation_test(ours: NDArray[Any], theirs: NDArray[Any], *, times: int = 1000, seed: int = 0) -> float:
    """The two-sided p-value of a permutation test of two micro-averaged F1s, in (0, 1].

    Both sides are (3, item) counts: right, predicted, gold. A permutation swaps the two systems' predictions of each
    item with probability 1/2, and p = (1 + the permutations whose F1s differ at least as much) / (1 + `times`): the
    observed one is one of them (Pitman 1937; Phipson & Smyth 2010). An item that several runs were asked is one item,
    with the sum of their counts. Where all 2^n permutations are no more than `times`, each is taken once, and p is
    exact.

    >>> right, said = np.array([1, 1, 1, 1, 1, 1]), np.ones(6)
    >>> f1_permutation_test(np.stack([right, said, said]), np.stack([0 * right, said, said]), times=999)
    0.03125
    """
    sides = [np.stack([2.0 * counts[0], counts[1] + counts[2]], axis=1) for counts in (ours, theirs)]
    moved = sides[1] - sides[0]
    totals = [side.sum(axis=0) for side in sides]
    observed = abs(_f1(totals[0]) - _f1(totals[1]))
    hits = [
        np.abs(_f1(totals[0] + swapped) - _f1(totals[1] - swapped)) >= observed - 1e-12
        for swapped in _swapped(moved, times, seed)
    ]
    return _share(hits, len(moved), times)


def mean_permutation_test(ours: NDArray[Any], theirs: NDArray[Any], *, times: int = 1000, seed: int = 0) -> float:
    """The two-sided p-value of a permutation test of two means over the same items, in (0, 1].

    As `f1_permutation_test`, with the difference of means as what is compared; it asks nothing of how values are
    distributed, where `paired_t_test` asks for a mean that is nearly normal. With five seeds as the items there are 32
    permutations, and no p-value can be below 2/32.

    >>> mean_permutation_test(np.array([3.0, 4.0, 5.0, 6.0, 7.0]), np.zeros(5))
    0.0625
    """
    apart = np.asarray(theirs, np.float64) - np.asarray(ours, np.float64)
    whole = float(apart.sum())
    limit = abs(whole) - 1e-12 * float(np.abs(apart).sum())
    hits = [np.abs(whole - 2 * swapped[:, 0]) >= limit for swapped in _swapped(apart[:, None], times, seed)]
    return _share(hits, len(apart), times)


def holm(values: Sequence[float]) -> list[float]:
    """p-values corrected for their number, each in [0, 1] and at least what it was, in the order given (Holm 1979).

    The k-th smallest of m is multiplied by m - k + 1, and none may be below one before it. Calling those below 0.05
    different keeps the chance of even one false call in the whole table below 0.05, however they depend on each other.

    >>> [round(p, 4) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    if not len(values):
        return []
    given = np.asarray(values, np.float64)
    order = np.argsort(given, kind="stable")
    raised = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    found = np.empty_like(given)
    found[order] = np.minimum(raised, 1.0)
    return [float(value) for value in found]


def _exact(items: int, times: int) -> bool:
    return items < 31 and 1 << items <= times


def _share(hits: Sequence[NDArray[np.bool_]], items: int, times: int) -> float:
    count = sum(int(block.sum()) for block in hits)
    return count / (1 << items) if _exact(items, times) else (1 + count) / (1 + times)


def _swapped(moved: NDArray[np.float64], times: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Blocks (permutation, part) of what swapping some of the items adds: `moved` is (item, part)."""
    items = len(moved)
    if _exact(items, times):
        every = np.arange(1 << items)[:, None] >> np.arange(items)[None, :] & 1
        yield every.astype(np.float64) @ moved
        return
    draw = np.random.default_rng(seed)
    kinds, sizes = np.unique(moved[moved.any(axis=1)], axis=0, return_counts=True)
    if 4 * len(kinds) <= items:  # Of items that add the same it matters how many are swapped, not which.
        yield draw.binomial(sizes, 0.5, size=(times, len(sizes))).astype(np.float64) @ kinds
        return
    block = max(_BLOCK // max(items, 1), 1)
    for begin in range(0, times, block):
        count = min(block, times - begin)
        bits = np.unpackbits(draw.integers(256, size=(count, -(-items // 8)), dtype=np.uint8), axis=1, count=items)
        yield bits.astype(np.float64) @ moved


def _f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 of sums (…, 2): twice the right ones, and the predicted and gold ones together."""
    whole: NDArray[np.float64] = sums[..., 0] / np.maximum(sums[..., 1], 1.0)
    return whole
