import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from interlingua.stats import (
    Z95,
    group_sums,
    half_sample_interval,
    half_samples,
    half_width,
    interval_of_half_samples,
    mean_interval,
    over_seeds,
    wilson_interval,
)


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30).filter(lambda values: np.std(values) > 1e-6))
def test_mean_interval_equals_scipys_student_interval(values):
    array = np.array(values)
    expected = scipy_stats.t.interval(0.95, len(array) - 1, array.mean(), scipy_stats.sem(array))
    assert mean_interval(array) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_one_value_is_its_own_interval():
    assert mean_interval(np.array([0.3])) == (0.3, 0.3)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_interval_equals_scipys_and_holds_the_share(counts):
    hits, n = counts
    low, high = wilson_interval(hits, n)
    expected = scipy_stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert (low, high) == (pytest.approx(expected.low, abs=1e-9), pytest.approx(expected.high, abs=1e-9))
    assert 0 <= low <= hits / n <= high <= 1


def test_the_normal_point_is_scipys():
    assert pytest.approx(scipy_stats.norm.ppf(0.975)) == Z95


@pytest.mark.parametrize("most", [None, 40])
def test_half_samples_give_the_known_interval_of_a_mean_whatever_their_size(most):
    values = np.random.default_rng(0).normal(size=300)
    low, high = half_sample_interval(
        lambda rows: float(values[rows].mean()), 300, float(values.mean()), seed=1, times=600, most=most
    )
    assert (high - low) / 2 == pytest.approx(Z95 * values.std() / 300**0.5, rel=0.12)
    assert (high + low) / 2 == pytest.approx(values.mean())


def test_half_samples_repeat_no_row_and_follow_the_seed():
    seen = []
    for seed in (1, 1, 2):
        drawn = []
        half_sample_interval(lambda rows, kept=drawn: float(kept.append(rows) or 0.0), 21, 0.0, seed=seed)
        seen.append(drawn)
    assert all(len(set(rows.tolist())) == 10 for rows in seen[0])
    np.testing.assert_array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[0], seen[2])


@pytest.mark.parametrize(("most", "size"), [(None, 10), (4, 4), (8, 8), (11, 10), (50, 10)])
def test_half_samples_are_of_half_the_rows_or_of_what_can_be_afforded(most, size):
    assert half_samples(21, seed=0, times=3, most=most).shape == (3, size)
    sizes = set()
    half_sample_interval(lambda rows: float(sizes.add(len(rows)) or 0.0), 21, 0.0, seed=0, most=most)
    assert sizes == {size}


def test_the_spread_of_half_samples_is_that_of_their_deviations_from_their_own_mean():
    # Two samples 2 apart deviate by sqrt 2; 2 of 10 rows spread sqrt(8 / 2) = 2 times as much as the whole.
    half = float(scipy_stats.t.ppf(0.975, 1)) * 2**0.5
    assert interval_of_half_samples([1.0, 3.0], 5, 10, 7.0) == pytest.approx((7 - half, 7 + half))
    assert interval_of_half_samples([1.0, 3.0], 2, 10, 7.0) == pytest.approx((7 - half / 2, 7 + half / 2))


def test_seeds_together_are_scipys_description_and_interval():
    values = np.random.default_rng(0).normal(0.6, 0.02, 5)
    found = over_seeds(values.tolist())
    described = scipy_stats.describe(values)
    assert (found.mean, found.deviation, found.n) == pytest.approx((described.mean, described.variance**0.5, 5))
    assert (found.low, found.high) == pytest.approx(
        scipy_stats.t.interval(0.95, 4, described.mean, scipy_stats.sem(values))
    )


def test_two_seeds_deviate_by_half_their_distance_times_the_root_of_2():
    assert over_seeds([1.0, 3.0]).deviation == pytest.approx(2**0.5)
    single = np.float32([0.1, 0.7, 0.25])
    assert over_seeds(single) == over_seeds(single.astype(np.float64))


def test_one_seed_has_no_deviation():
    found = over_seeds([0.25])
    assert (found.mean, found.deviation, found.low, found.high) == (0.25, None, 0.25, 0.25)


def test_values_said_again_within_their_group_narrow_nothing():
    values = np.random.default_rng(0).normal(size=25)
    groups = np.repeat(np.random.default_rng(1).permutation(25), 4)
    assert mean_interval(np.repeat(values, 4), groups) == pytest.approx(mean_interval(values))


def test_the_interval_of_grouped_values_is_the_jackknifes_that_leaves_out_whole_groups():
    draw = np.random.default_rng(0)
    groups = np.sort(draw.integers(0, 200, 2000))
    values = draw.normal(size=200)[groups] + draw.normal(size=2000)
    left = np.array([values[groups != group].mean() for group in range(200)])
    half = scipy_stats.t.ppf(0.975, 199) * np.sqrt(199 / 200 * np.square(left - left.mean()).sum())
    low, high = mean_interval(values, groups)
    assert (high - low) / 2 == pytest.approx(half, rel=0.01)
    assert half > 2 * (mean_interval(values)[1] - values.mean())


def test_one_group_says_nothing_of_others():
    assert half_width(0.0, 1, 5) == np.inf
    assert group_sums(np.arange(3.0), np.array([5, 5, 5])).tolist() == [3.0]
