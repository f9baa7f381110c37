import time

import numpy as np
import pytest
from scipy import stats as scipy_stats

from interlingua.errors import InputError
from interlingua.stats import bootstrap_f1_difference, bootstrap_mean, bootstrap_ratio


@pytest.mark.parametrize(("method", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
def test_the_interval_of_a_mean_is_scipys_with_the_same_draws(method, theirs):
    values = np.random.default_rng(0).exponential(size=60)
    found = bootstrap_mean(values, method=method, times=999, seed=7)
    expected = scipy_stats.bootstrap(
        (values,), np.mean, n_resamples=999, method=theirs, rng=np.random.default_rng(7), vectorized=True
    )
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval))
    assert found.error == pytest.approx(expected.standard_error)
    assert found.value == pytest.approx(values.mean())


def test_the_interval_of_a_ratio_of_sums_is_scipys_with_the_same_draws():
    draw = np.random.default_rng(1)
    below = draw.exponential(size=50)
    above = below * draw.random(50)
    found = bootstrap_ratio(above, below, times=999, seed=3)
    expected = scipy_stats.bootstrap(
        (above, below),
        lambda x, y, axis: x.sum(axis=axis) / y.sum(axis=axis),
        n_resamples=999,
        paired=True,
        rng=np.random.default_rng(3),
        vectorized=True,
    )
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval))


def test_a_percentile_interval_of_hits_is_the_binomials():
    hits = np.array([1] * 130 + [0] * 70)
    found = bootstrap_mean(hits, method="percentile", times=40_000)
    expected = scipy_stats.binom.ppf([0.025, 0.975], 200, 0.65) / 200
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.0051)  # one hit of 200
    assert found.error == pytest.approx(np.sqrt(0.65 * 0.35 / 200), rel=0.02)


def test_drawing_kinds_of_items_is_drawing_items():
    draw = np.random.default_rng(5)
    counts = [np.stack([draw.integers(0, 2, 400), np.full(400, 1), draw.integers(1, 3, 400)]) for _ in range(2)]
    found = bootstrap_f1_difference(*counts, times=20_000)
    parts = [(2 * side[0], side[1] + side[2]) for side in counts]
    expected = scipy_stats.bootstrap(
        (*parts[0], *parts[1]),
        lambda a, b, c, d, axis: a.sum(axis=axis) / b.sum(axis=axis) - c.sum(axis=axis) / d.sum(axis=axis),
        n_resamples=20_000,
        batch=2000,
        paired=True,
        rng=1,
        vectorized=True,
    )
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval), abs=0.06 * found.error)
    assert found.error == pytest.approx(expected.standard_error, rel=0.03)


def test_the_interval_holds_its_level_on_skewed_values():
    draw, inside = np.random.default_rng(9), {"bca": 0, "percentile": 0}
    for trial in range(300):
        values = draw.exponential(size=40)
        for method in inside:
            found = bootstrap_mean(values, method=method, times=400, seed=trial)
            inside[method] += found.low <= 1.0 <= found.high
    assert inside["bca"] >= inside["percentile"]
    assert 0.88 < inside["bca"] / 300 < 0.98


def test_items_that_are_all_alike_have_a_point_for_an_interval():
    for method in ("percentile", "bca"):
        found = bootstrap_mean(np.full(30, 0.3), method=method)
        assert (found.low, found.high, found.error) == pytest.approx((0.3, 0.3, 0.0))
        assert bootstrap_mean(np.array([0.3]), method=method).high == pytest.approx(0.3)
    assert bootstrap_ratio(np.zeros(5), np.zeros(5)).value == 0.0


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="percentile, bca"):
        bootstrap_mean(np.ones(3), method="bcs")


def test_many_tagged_sentences_take_a_moment():
    draw = np.random.default_rng(0)
    counts = [draw.integers(0, 4, (3, 50_000)) for _ in range(2)]
    began = time.process_time()
    bootstrap_f1_difference(*counts)
    assert time.process_time() - began < 6
