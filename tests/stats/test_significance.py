from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from interlingua.stats import f1_permutation_test, holm, mean_permutation_test, paired_t_test, significance


@given(st.integers(2, 60), st.integers(0, 1000))
def test_the_paired_t_test_is_scipys(size, seed):
    draw = np.random.default_rng(seed)
    ours, theirs = draw.random(size), draw.random(size) + 0.1
    assert paired_t_test(ours, theirs) == pytest.approx(scipy_stats.ttest_rel(ours, theirs).pvalue, rel=1e-9)


def test_where_nothing_differs_nothing_is_significant():
    same = np.random.default_rng(0).random(30)
    assert paired_t_test(same, same) == 1.0
    assert paired_t_test(same[:1], same[:1] + 1) == 1.0
    # Five differences of one size: two of the 32 ways to swap signs are as extreme.
    assert paired_t_test(np.zeros(5), np.ones(5)) == 2 / 32 == mean_permutation_test(np.zeros(5), np.ones(5))
    counts = np.ones((3, 20), int)
    assert f1_permutation_test(counts, counts) == 1.0


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
    assert f1_permutation_test(ours, theirs, times=20_000) == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 20_000))


def test_a_p_value_counts_the_observed_order_and_blocks_do_not_matter():
    draw = np.random.default_rng(0)
    better, worse = counts_of(draw, 3000, 0.9), counts_of(draw, 3000, 0.1)
    worse[1:] = better[1:]
    assert f1_permutation_test(better, worse, times=199) == 1 / 200
    assert f1_permutation_test(better, worse, times=1) == 1 / 2
    null = [
        f1_permutation_test(counts_of(draw, 40, 0.5), counts_of(draw, 40, 0.5), times=99, seed=s) for s in range(300)
    ]
    # Two systems alike: a p-value at most x has probability at most x.
    assert np.mean(np.array(null) <= 0.1) < 0.17


@pytest.mark.parametrize("seed", range(4))
def test_the_permutation_test_of_means_is_scipys(seed):
    draw = np.random.default_rng(seed)
    ours, theirs = draw.normal(size=(2, 10))
    theirs -= 0.5
    exact = scipy_stats.permutation_test(
        (ours, theirs),
        lambda x, y, axis: np.abs(np.mean(x - y, axis=axis)),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
        alternative="greater",
    ).pvalue
    assert mean_permutation_test(ours, theirs, times=1024) == pytest.approx(exact)
    assert mean_permutation_test(ours, theirs, times=1023) == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 1023))


def test_with_many_items_the_permutation_test_of_means_is_students():
    draw = np.random.default_rng(3)
    theirs = draw.random(2000)
    ours = theirs + draw.normal(0.02, 0.5, 2000)
    assert mean_permutation_test(ours, theirs, times=20_000) == pytest.approx(paired_t_test(ours, theirs), abs=0.015)


def test_equal_arrangements_count_although_sums_are_rounded():
    ours = np.array([0.1, 0.2, 0.3, 0.4, 0.7])
    assert mean_permutation_test(ours, np.zeros(5), times=32) == 2 / 32
    assert mean_permutation_test(ours, ours) == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_holms_correction_is_closed_testing_with_bonferroni(values):
    # A hypothesis is given up when every set of them that holds it is; a set's own p-value is Bonferroni's.
    expected = [
        max(
            min(1.0, len(chosen) * min(values[k] for k in chosen))
            for size in range(1, len(values) + 1)
            for chosen in combinations(range(len(values)), size)
            if place in chosen
        )
        for place in range(len(values))
    ]
    assert holm(values) == pytest.approx(expected)


def test_holms_own_correction_of_a_textbook_table():
    # Wright (1992), "Adjusted p-values for simultaneous inference", has the rule; R's p.adjust(p, "holm") the figures.
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([]) == []


@pytest.mark.parametrize("items", [8, 9, 16, 17, 18, 27, 36, 40])
def test_every_item_is_swapped_in_half_of_the_permutations(items):
    # Two items alone differ: they stay on one side in half of all permutations.
    for pair in ([0, 1], [items - 2, items - 1]):
        ours = np.zeros(items)
        ours[pair] = 1.0
        assert mean_permutation_test(ours, np.zeros(items), times=2000) == pytest.approx(
            0.5, abs=4 * np.sqrt(0.25 / 2000)
        )


def test_where_permutations_are_too_many_they_are_drawn_as_often_as_asked():
    ours = np.random.default_rng(5).normal(size=12)
    found = mean_permutation_test(ours, np.zeros(12), times=99) * 100
    assert found == pytest.approx(round(found))
    assert mean_permutation_test(np.ones(32), np.zeros(32)) == 1 / 1001
    counts = np.ones((3, 32))
    assert f1_permutation_test(counts, counts * [[0], [1], [1]]) == 1 / 1001


def test_permutations_follow_the_seed():
    draw = np.random.default_rng(6)
    ours, theirs = draw.normal(size=(2, 40))
    counts = counts_of(draw, 40, 0.5), counts_of(draw, 40, 0.4)
    for test, sides in ((mean_permutation_test, (ours, theirs)), (f1_permutation_test, counts)):
        found = [test(*sides, seed=seed) for seed in range(8)]
        assert found == [test(*sides, seed=seed) for seed in range(8)]
        assert len(set(found)) > 1
        assert test(*sides) == found[0]


def test_permutations_in_blocks_are_as_many_as_in_one(monkeypatch):
    monkeypatch.setattr(significance, "_BLOCK", 40 * 7)
    # Nothing differs: every permutation is a hit, and p is 1 only if there are as many as were asked for.
    assert mean_permutation_test(np.ones(40), np.ones(40), times=99) == 1.0
    ours = np.zeros(40)
    ours[:2] = 1.0
    assert mean_permutation_test(ours, np.zeros(40), times=2000) == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / 2000))
