"""Judgements of predictions as scores: accuracy and F1, with what each example adds and what chance would give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from interlingua.score import Score
from interlingua.stats import Z95, mean_interval, wilson_interval

Ints = NDArray[np.int64]


def accuracy(predicted: Ints, gold: Ints) -> Score:
    """The share of predictions that are right, in [0, 1]; `items` are the hits.

    The null is exact over shuffled predictions: the sum over labels of the share predicted times the share of gold.
    The interval is Wilson's.

    >>> score = accuracy(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    >>> score.value, score.null
    (0.75, 0.5)
    """
    hits = (predicted == gold).astype(np.float64)
    size = 1 + int(max(predicted.max(), gold.max()))
    shares = np.bincount(predicted, minlength=size) / len(gold), np.bincount(gold, minlength=size) / len(gold)
    low, high = wilson_interval(float(hits.sum()), len(gold))
    return Score(float(hits.mean()), len(gold), null=float(shares[0] @ shares[1]), low=low, high=high, items=hits)


def mean_score(values: NDArray[np.float64], *, null: float | None = None) -> Score:
    """The mean of values in [0, 1], with Student's interval; `items` are the values."""
    low, high = mean_interval(values)
    return Score(float(values.mean()), len(values), null=null, low=max(low, 0.0), high=min(high, 1.0), items=values)


def f1(right: Sequence[int] | Ints, predicted: Sequence[int] | Ints, gold: Sequence[int] | Ints) -> Score:
    """Micro-averaged F1 in [0, 1] from the counts of each example: 2 · right / (predicted + gold), each summed.

    0 where nothing is predicted and nothing is gold, as seqeval has it. `details` has the counts of each example, from
    which any test can draw again. The interval is that of a ratio of sums over examples (Cochran 1977, Eq. 6.13):
    ± t(0.975, n-1) · sqrt(sum((2·right - F1·(predicted + gold))²) · n/(n-1)) / sum(predicted + gold).

    >>> score = f1([1, 0], [1, 1], [2, 0])
    >>> score.value, score.details["right"]
    (0.5, [1, 0])
    """
    hits, said, there = (np.asarray(values, np.int64) for values in (right, predicted, gold))
    both = said + there
    value = 2 * float(hits.sum()) / max(float(both.sum()), 1.0)
    rest = 2 * hits - value * both
    n = len(hits)
    point = float(special.stdtrit(n - 1, 0.975)) if n > 1 else Z95
    half = point * float(np.sqrt((rest**2).sum() * n / max(n - 1, 1))) / max(float(both.sum()), 1.0)
    counts = {"right": hits.tolist(), "predicted": said.tolist(), "gold": there.tolist()}
    return Score(value, n, low=max(value - half, 0.0), high=min(value + half, 1.0), details=counts)
