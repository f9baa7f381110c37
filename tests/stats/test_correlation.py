import numpy as np
import pytest
from scipy import stats as scipy_stats

from interlingua.stats import pearson, spearman


def test_pearson_equals_scipys_with_its_interval_and_is_0_for_a_constant():
    draw = np.random.default_rng(0)
    for n in (4, 9, 40):
        x = draw.normal(size=n)
        y = x + draw.normal(size=n)
        wanted = scipy_stats.pearsonr(x, y)
        interval = wanted.confidence_interval(0.95)
        assert pearson(x, y) == pytest.approx((wanted.statistic, interval.low, interval.high), abs=1e-4)
    assert pearson(x, np.full(40, 0.35)) == (0.0, None, None)


def test_spearman_equals_scipys_and_does_not_change_with_monotone_scales():
    draw = np.random.default_rng(1)
    x = draw.integers(0, 12, 30).astype(float)  # with ties
    y = x + draw.normal(scale=3, size=30)
    assert spearman(x, y)[0] == pytest.approx(scipy_stats.spearmanr(x, y).statistic)
    assert spearman(np.exp(x), y**3) == pytest.approx(spearman(x, y))
    assert spearman(x, np.ones(30)) == (0.0, None, None)


def test_the_interval_of_spearmans_holds_its_level():
    draw, true = np.random.default_rng(2), 0.6
    # For two normal variables Spearman's is 6/pi asin(r/2) of Pearson's.
    expected = 6 / np.pi * np.arcsin(true / 2)
    inside = 0
    for _ in range(600):
        x, noise = draw.normal(size=(2, 40))
        _, low, high = spearman(x, true * x + np.sqrt(1 - true**2) * noise)
        inside += low <= expected <= high
    assert 0.92 < inside / 600 < 0.98
