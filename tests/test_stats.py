import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from interlingua.stats import (
    Z95,
    half_sample_interval,
    mean_interval,
    paired_t,
    pearson,
    permuted_f1,
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


@given(st.integers(2, 60), st.integers(0, 1000))
def test_the_paired_t_test_is_scipys(size, seed):
    draw = np.random.default_rng(seed)
    ours, theirs = draw.random(size), draw.random(size) + 0.1
    assert paired_t(ours, theirs) == pytest.approx(scipy_stats.ttest_rel(ours, theirs).pvalue, rel=1e-9)


def test_where_nothing_differs_nothing_is_significant():
    same = np.random.default_rng(0).random(30)
    assert paired_t(same, same) == 1.0
    assert paired_t(same[:1], same[:1] + 1) == 1.0
    assert paired_t(np.zeros(5), np.ones(5)) == 0.0
    counts = np.ones((3, 20), int)
    assert permuted_f1(counts, counts) == 1.0


def counts_of(draw, size, right):
    said, gold = draw.integers(0, 4, (2, size))
    return np.stack([np.minimum(np.minimum(said, gold), draw.binomial(3, right, size)), said, gold])


@pytest.mark.parametrize("right", [0.2, 0.5, 0.8])
def test_the_permutation_test_of_an_f1_is_the_exact_one_and_scipys(right):
    draw = np.random.default_rng(int(10 * right))
    ours, theirs = counts_of(draw, 9, 0.5), counts_of(draw, 9, right)
    both = np.concatenate([ours, theirs], axis=1)

    def apart(left, other, axis=-1):
        sums = [both[:, np.asarray(side, int)].sum(axis=-1) for side in (left, other)]
        values = [2 * total[0] / (total[1] + total[2]) for total in sums]
        return np.abs(values[0] - values[1])

    observed = apart(np.arange(9), np.arange(9) + 9)
    hits = [
        apart(np.where(mask, np.arange(9) + 9, np.arange(9)), np.where(mask, np.arange(9), np.arange(9) + 9))
        >= observed - 1e-12
        for mask in (np.unpackbits(np.array([n >> 8, n & 255], np.uint8))[-9:].astype(bool) for n in range(512))
    ]
    exact = scipy_stats.permutation_test(
        (np.arange(9), np.arange(9) + 9), apart, permutation_type="samples", n_resamples=np.inf, alternative="greater"
    ).pvalue
    assert np.mean(hits) == pytest.approx(exact)
    assert permuted_f1(ours, theirs, times=20_000) == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 20_000))


def test_a_p_value_counts_the_observed_order_and_blocks_do_not_matter():
    draw = np.random.default_rng(0)
    better, worse = counts_of(draw, 3000, 0.9), counts_of(draw, 3000, 0.1)
    worse[1:] = better[1:]
    assert permuted_f1(better, worse, times=199) == 1 / 200
    assert permuted_f1(better, worse, times=1) == 1 / 2
    null = [permuted_f1(counts_of(draw, 40, 0.5), counts_of(draw, 40, 0.5), times=99, seed=s) for s in range(300)]
    # Two systems alike: a p-value at most x has probability at most x.
    assert np.mean(np.array(null) <= 0.1) < 0.17


def test_pearson_equals_scipys_with_its_interval_and_is_0_for_a_constant():
    from scipy.stats import pearsonr

    draw = np.random.default_rng(0)
    for n in (4, 9, 40):
        x = draw.normal(size=n)
        y = x + draw.normal(size=n)
        wanted = pearsonr(x, y)
        interval = wanted.confidence_interval(0.95)
        assert pearson(x, y) == pytest.approx((wanted.statistic, interval.low, interval.high), abs=1e-4)
    assert pearson(x, np.full(40, 0.35)) == (0.0, None, None)
