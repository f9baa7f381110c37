import importlib
import time

import numpy as np
import pytest
from scipy import stats as scipy_stats

from interlingua.errors import InputError
from interlingua.stats import bootstrap, bootstrap_f1_difference, bootstrap_mean, bootstrap_ratio


@pytest.mark.parametrize(("method", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
@pytest.mark.parametrize("size", [2, 60])  # of two items, half of the resamples tie with the value
def test_the_interval_of_a_mean_is_scipys_with_the_same_draws(method, theirs, size):
    values = np.random.default_rng(0).exponential(size=size)
    found = bootstrap_mean(values, method=method, times=999, seed=7)
    expected = scipy_stats.bootstrap(
        (values,), np.mean, n_resamples=999, method=theirs, rng=np.random.default_rng(7), vectorized=True
    )
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval))
    assert found.error == pytest.approx(expected.standard_error)
    assert found.value == pytest.approx(values.mean())


@pytest.mark.parametrize(("method", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
def test_the_interval_of_a_ratio_of_sums_is_scipys_with_the_same_draws(method, theirs):
    draw = np.random.default_rng(1)
    below = draw.exponential(size=50)
    above = below * draw.random(50)
    found = bootstrap_ratio(above, below, method=method, times=999, seed=3)
    expected = scipy_stats.bootstrap(
        (above, below),
        lambda x, y, axis: x.sum(axis=axis) / y.sum(axis=axis),
        n_resamples=999,
        method=theirs,
        paired=True,
        rng=np.random.default_rng(3),
        vectorized=True,
    )
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval))


@pytest.mark.parametrize(("method", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
def test_the_interval_of_a_difference_of_f1s_is_scipys_with_the_same_draws(method, theirs):
    said, gold = np.random.default_rng(2).integers(1, 60, (2, 2, 30))
    right = np.minimum(said, gold) // np.array([[2], [3]])
    sides = np.stack([right, said, gold], axis=1)
    found = bootstrap_f1_difference(*sides, method=method, times=999, seed=5)
    expected = scipy_stats.bootstrap(
        (*right, *(said + gold)),
        lambda a, b, c, d, axis: 2 * a.sum(axis) / c.sum(axis) - 2 * b.sum(axis) / d.sum(axis),
        n_resamples=999,
        method=theirs,
        paired=True,
        rng=np.random.default_rng(5),
        vectorized=True,
    )
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval))
    assert found.error == pytest.approx(expected.standard_error)


def test_a_ratio_does_not_change_with_the_unit_of_both_sides():
    above, below = np.random.default_rng(3).random((2, 40))
    one, other = bootstrap_ratio(above, below), bootstrap_ratio(above / 1024, below / 1024)
    assert (one.value, one.low, one.high, one.error) == (other.value, other.low, other.high, other.error)


def test_a_value_beyond_every_resample_has_the_interval_of_half_a_resample_on_that_side():
    values = np.random.default_rng(4).normal(size=(1, 15))
    for sign in (1.0, -1.0):
        drawn = []

        def away(sums, sign=sign, kept=drawn):
            kept.append(sign * np.abs(sums[..., 0] - values.sum()))
            return kept[-1]

        found = bootstrap(values, away, times=50)
        value, resamples, left_out = drawn
        assert (sign * resamples > sign * value).all()
        bias = scipy_stats.norm.ppf(0.01 if sign > 0 else 0.99)
        apart = left_out.mean() - left_out
        skew = (apart**3).sum() / 6 / (apart**2).sum() ** 1.5
        ends = bias + scipy_stats.norm.ppf([0.025, 0.975])
        expected = np.quantile(resamples, scipy_stats.norm.cdf(bias + ends / (1 - skew * ends)))
        assert (found.low, found.high) == pytest.approx(tuple(expected))


def test_resamples_are_the_same_in_blocks_of_any_size(monkeypatch):
    values = np.random.default_rng(6).exponential(size=50)
    whole = bootstrap_mean(values, times=100)
    monkeypatch.setattr(importlib.import_module("interlingua.stats.bootstrap"), "_BLOCK", 50 * 7)
    assert bootstrap_mean(values, times=100) == whole


def test_what_is_not_said_is_bca_of_2000_resamples_with_seed_0():
    draw = np.random.default_rng(7)
    values, counts = draw.random(20), draw.integers(1, 50, (2, 3, 20))
    said = {"method": "bca", "times": 2000, "seed": 0}
    assert bootstrap_mean(values) == bootstrap_mean(values, **said)
    assert bootstrap_ratio(*counts[:, 0]) == bootstrap_ratio(*counts[:, 0], **said)
    assert bootstrap_f1_difference(*counts) == bootstrap_f1_difference(*counts, **said)

    def first(sums):
        return sums[..., 0]

    assert bootstrap(values[None], first) == bootstrap(values[None], first, **said)


def test_single_precision_values_are_summed_in_double_precision():
    values = np.random.default_rng(8).random((2, 200)).astype(np.float32)
    assert bootstrap_mean(values[0]) == bootstrap_mean(values[0].astype(np.float64))
    assert bootstrap_ratio(*values) == bootstrap_ratio(*values.astype(np.float64))


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
    assert bootstrap_ratio(np.ones(5), np.zeros(5)).value == 0.0


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="percentile, bca"):
        bootstrap_mean(np.ones(3), method="bcs")


def test_many_tagged_sentences_take_a_moment():
    draw = np.random.default_rng(0)
    counts = [draw.integers(0, 4, (3, 50_000)) for _ in range(2)]
    began = time.process_time()
    bootstrap_f1_difference(*counts)
    assert time.process_time() - began < 6
