"""Rows of `benchmarks.calibration`: scores of tasks and their differences over examples, and what samples can show."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration import Row
from interlingua.stats import (
    bootstrap_f1_difference,
    bootstrap_mean,
    bootstrap_ratio,
    correlate,
    detectable_mean,
    detectable_rho,
    detectable_share,
    f1_permutation_test,
    holm,
    mean_interval,
    mean_permutation_test,
    paired_difference,
    paired_t_test,
)
from interlingua.stats.chance import chance_p
from interlingua.tasks.classification import macro_f1
from interlingua.tasks.predictions import accuracy, f1, mean_score

Draw = np.random.Generator
MANY = 200_000


def _tags(draw: Draw, sentences: int, skill: float, hard: NDArray[np.float64] | None = None) -> NDArray[np.int64]:
    """Right, predicted and gold entities of each sentence; entities of one sentence are as hard."""
    hard = draw.beta(8, 2, sentences) if hard is None else hard
    gold = 1 + np.random.default_rng(len(hard)).poisson(1.5, len(hard))
    predicted = draw.binomial(gold, 0.95) + draw.binomial(1, 0.15, len(gold))
    right = draw.binomial(np.minimum(gold, predicted), np.clip(hard * skill, 0, 1))
    return np.stack([right, predicted, gold])


@cache
def _f1_truth(sentences: int) -> float:
    """Micro-averaged F1 over so many sentences that sampling no longer matters, in the same mixture of lengths."""
    draw = np.random.default_rng(0)
    sums = sum(_tags(draw, sentences, 0.9).sum(axis=1).astype(float) for _ in range(MANY // sentences))
    return float(2 * sums[0] / (sums[1] + sums[2]))


def _f1(sentences: int, draw: Draw) -> bool:
    score = f1(*_tags(draw, sentences, 0.9))
    assert score.low is not None
    assert score.high is not None
    return score.low <= _f1_truth(sentences) <= score.high


def _f1_bootstrap(sentences: int, draw: Draw) -> bool:
    right, predicted, gold = _tags(draw, sentences, 0.9)
    found = bootstrap_ratio(2 * right, predicted + gold, times=1000, seed=int(draw.integers(2**31)))
    return found.low <= _f1_truth(sentences) <= found.high


def _two_taggers(draw: Draw, sentences: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    hard = draw.beta(8, 2, sentences)
    return _tags(draw, sentences, 0.9, hard), _tags(draw, sentences, 0.9, hard)


def _f1_difference(sentences: int, draw: Draw) -> bool:
    found = bootstrap_f1_difference(*_two_taggers(draw, sentences), times=1000, seed=int(draw.integers(2**31)))
    return found.low <= 0 <= found.high


def _f1_permuted(sentences: int, draw: Draw) -> bool:
    return f1_permutation_test(*_two_taggers(draw, sentences), times=499, seed=int(draw.integers(2**31))) < 0.05


def _hits(draw: Draw, n: int, more: float = 0.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Right answers of two models to the same questions, some of which are harder for both."""
    easy = draw.beta(4, 2, n)
    first = (draw.random(n) < easy).astype(float)
    return first, (draw.random(n) < np.clip(easy + more, 0, 1)).astype(float)


def _paired_interval(n: int, draw: Draw) -> bool:
    first, second = _hits(draw, n)
    _, low, high, _ = paired_difference(second - first)
    return low <= 0 <= high


def _paired_test(n: int, draw: Draw) -> bool:
    return paired_t_test(*_hits(draw, n)) < 0.05


def _permuted_mean(draw: Draw) -> bool:
    return mean_permutation_test(*draw.beta(2, 5, size=(2, 40)), times=499, seed=int(draw.integers(2**31))) < 0.05


def _accuracy(n: int, draw: Draw) -> bool:
    gold = draw.integers(0, 3, n)
    score = accuracy(np.where(draw.random(n) < 0.7, gold, (gold + 1) % 3), gold)
    assert score.low is not None
    assert score.high is not None
    return score.low <= 0.7 <= score.high


@cache
def _macro_truth() -> float:
    draw = np.random.default_rng(0)
    return float(macro_f1(*_classified(draw, MANY), ("a", "b", "c", "d")).value)


def _classified(draw: Draw, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What a model says of four labels, one of them rare, and which it was."""
    gold = draw.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])
    said = np.where(draw.random(n) < np.array([0.9, 0.7, 0.6, 0.5])[gold], gold, draw.integers(0, 4, n))
    return said, gold


def _macro(n: int, draw: Draw) -> bool:
    score = macro_f1(*_classified(draw, n), ("a", "b", "c", "d"))
    assert score.low is not None
    assert score.high is not None
    return score.low <= _macro_truth() <= score.high


def _overlap(n: int, draw: Draw) -> bool:
    """Token F1 of answers: many all right, many all wrong, the rest between."""
    kind = draw.random(n)
    score = mean_score(np.where(kind < 0.5, 1.0, np.where(kind < 0.75, 0.0, draw.beta(2, 2, n))))
    assert score.low is not None
    assert score.high is not None
    return score.low <= 0.625 <= score.high


def _bootstrap_mean(draw: Draw) -> bool:
    found = bootstrap_mean(draw.exponential(size=80), times=1000, seed=int(draw.integers(2**31)))
    return found.low <= 1.0 <= found.high


def _losses(draw: Draw) -> bool:
    """Held-out losses of a model that learnt no more than what it is compared with."""
    level = draw.gamma(4, 1.5, 120)
    return paired_t_test(level + draw.normal(size=120), level + draw.normal(size=120)) < 0.05


def _guessed_accuracy(draw: Draw) -> bool:
    """A model that guesses is called above chance."""
    score = accuracy(draw.integers(0, 3, 360), draw.integers(0, 3, 360))
    assert score.low is not None
    return score.low > 1 / 3


def _layers_at_chance(draw: Draw) -> bool:
    """Some layer of twelve is called above chance although every sentence's rank is random."""
    return chance_p([(float((draw.random(200) < 1 / 200).mean()), 200, 1 / 200) for _ in range(12)]) < 0.05


def _family(draw: Draw) -> bool:
    """Some of ten comparisons that share a model is below .05 after Holm."""
    shared = draw.normal(size=60)
    return min(holm([paired_t_test(shared, draw.normal(size=60)) for _ in range(10)])) < 0.05


def _mean_is_found(n: int, draw: Draw) -> bool:
    size = detectable_mean(1.0, n)
    assert size is not None
    low, _ = mean_interval(draw.normal(size, 1.0, n))
    return low > 0


def _share_is_found(draw: Draw) -> bool:
    n, discordance = 1000, 0.2
    more = detectable_share(discordance, n)
    assert more is not None
    apart = draw.choice([1.0, -1.0, 0.0], n, p=[(discordance + more) / 2, (discordance - more) / 2, 1 - discordance])
    return paired_difference(apart)[3] < 0.05


def _rho_is_found(n: int, draw: Draw) -> bool:
    rho = detectable_rho(n)
    assert rho is not None
    r = 2 * np.sin(np.pi * rho / 6)  # Pearson's of normal variables whose Spearman's is rho.
    x, noise = draw.normal(size=(2, n))
    found = correlate(x, r * x + np.sqrt(1 - r * r) * noise, seed=int(draw.integers(2**31)))
    return found is not None and found.sign != 0  # As pages call it: p below .05, and an interval without 0.


ROWS = [
    *(Row(f"accuracy of {n} examples (Wilson)", "coverage", partial(_accuracy, n), 4000, "as now") for n in (50, 500)),
    *(Row(f"F1 averaged over four labels, {n} examples (Student)", "coverage", partial(_macro, n), 2000, "none")
      for n in (300, 1000)),
    Row("token F1 of 200 answers (Student)", "coverage", partial(_overlap, 200), 4000, "as now"),
    *(
        Row(f"F1 of entities in {n} sentences ({how})", "coverage", partial(made, n), times, before)
        for how, made, times, before in (
            ("ratio of sums", _f1, 3000, "0.94"), ("bootstrap", _f1_bootstrap, 800, "as now"),
        )
        for n in (60, 300)
    ),
    Row("difference of two F1s, 300 sentences (bootstrap)", "coverage", partial(_f1_difference, 300), 600, "as now"),
    Row("difference of two F1s, 300 sentences (permutation)", "error", partial(_f1_permuted, 300), 800, "as now"),
    *(
        Row(f"difference of two accuracies, {n} examples (Student)", "coverage", partial(_paired_interval, n), 4000,
            "as now")
        for n in (60, 500)
    ),
    Row("difference of two accuracies, 500 examples (paired t)", "error", partial(_paired_test, 500), 4000, "as now"),
    Row("difference of two means, 40 values (permutation)", "error", _permuted_mean, 1500, "as now"),
    Row("mean of 80 exponential values (bootstrap)", "coverage", _bootstrap_mean, 1500, "as now"),
    Row("held-out loss against word frequencies, 120 texts", "error", _losses, 4000, "none"),
    Row("accuracy of guesses called above chance, 360 examples", "error", _guessed_accuracy, 4000, "none",
        nominal=0.025),
    Row("P@1 at chance called above it, best of 12 layers", "error", _layers_at_chance, 3000, "none"),
    Row("any of ten comparisons, Holm", "error", _family, 2000, "as now"),
    *(
        Row(f"smallest difference that {n} values show", "power", partial(_mean_is_found, n), 3000, "as now")
        for n in (5, 50)
    ),
    Row("smallest difference of shares that 1,000 questions show", "power", _share_is_found, 2000, "as now"),
    *(
        Row(f"smallest rho that {n} languages show", "power", partial(_rho_is_found, n), 800, "none")
        for n in (6, 7, 10, 17)
    ),
]  # fmt: skip
