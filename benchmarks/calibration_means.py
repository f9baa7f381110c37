"""Rows of `benchmarks.calibration`: Student's and Wilson's intervals of means and shares over examples."""

from __future__ import annotations

import numpy as np

from benchmarks.calibration import Row
from interlingua.stats import mean_interval, over_seeds, wilson_interval


def _student(draw: np.random.Generator) -> bool:
    low, high = mean_interval(draw.beta(2, 5, 200))
    return low <= 2 / 7 <= high


def _clustered(draw: np.random.Generator) -> bool:
    groups = np.repeat(np.arange(60), 8)
    values = draw.normal(size=60)[groups] + draw.normal(size=480)
    low, high = mean_interval(values, groups)
    return low <= 0 <= high


def _wilson(draw: np.random.Generator) -> bool:
    low, high = wilson_interval(int(draw.binomial(500, 0.93)), 500)
    return low <= 0.93 <= high


def _seeds(draw: np.random.Generator) -> bool:
    found = over_seeds(draw.normal(0.6, 0.017, 5))
    return found.low <= 0.6 <= found.high


ROWS = [
    Row("mean over 200 examples (Student)", "coverage", _student, times=4000),
    Row("mean over 480 words of 60 sentences (Student, clustered)", "coverage", _clustered, times=4000),
    Row("share of 500 examples (Wilson)", "coverage", _wilson, times=4000),
    Row("mean over 5 seeds (Student)", "coverage", _seeds, times=4000),
]
