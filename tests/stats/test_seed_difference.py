import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from interlingua.stats import (
    detectable_error,
    detectable_over_seeds,
    examples_needed,
    f1_influence,
    seed_difference,
    seeds_needed,
)


def test_without_any_spread_over_examples_it_is_welchs_test():
    draw = np.random.default_rng(0)
    ours, theirs = draw.normal(0.6, 0.01, 5), draw.normal(0.58, 0.04, 3)
    found = seed_difference(ours, theirs, np.full(100, 0.02))
    expected = scipy_stats.ttest_ind(ours, theirs, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert found.df == pytest.approx(expected.df)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 6), st.sampled_from([0.0, 1e-9, 0.01, 1.0]))
def test_p_interval_and_sign_agree(seed, count, other, spread):
    draw = np.random.default_rng(seed)
    ours, theirs = (draw.normal(0.5, spread, size) for size in (count, other))
    apart = draw.normal(0, 0.3, 50) * draw.integers(0, 2)
    found = seed_difference(ours, theirs, apart)
    assert found.difference == pytest.approx(ours.mean() - theirs.mean())
    assert 0 <= found.p <= 1
    if found.error > 0:
        assert (found.p < 0.05) == (not found.ci_low <= 0 <= found.ci_high)
        assert found.detectable == pytest.approx(detectable_error(found.error, df=found.df))
    turned = seed_difference(theirs, ours, -apart)
    assert turned.p == pytest.approx(found.p)
    assert (turned.ci_low, turned.ci_high) == pytest.approx((-found.ci_high, -found.ci_low))
    # More spread over examples never makes a difference surer.
    assert seed_difference(ours, theirs, 2 * apart).p >= found.p - 1e-12


def test_one_seed_of_either_has_no_test_and_seeds_without_spread_that_of_their_deals():
    assert seed_difference([0.5], [0.4, 0.3], np.zeros(9)) is None
    assert seed_difference([0.5, 0.5, 0.5], [0.4, 0.4, 0.4], np.full(9, 0.1)).p == pytest.approx(2 / 20)
    assert seed_difference([0.5, 0.5], [0.5, 0.5], np.zeros(9)).p == 1.0


@pytest.mark.parametrize(("seeds", "deviations"), [(3, (0.017, 0.017)), (5, (0.006, 0.044)), (2, (0.01, 0.01))])
def test_equal_systems_differ_in_no_more_than_a_twentieth_of_studies(seeds, deviations):
    draw, found = np.random.default_rng(1), []
    for _ in range(1500):
        own = draw.normal(0, 0.2, (2, 400))
        items = [
            0.6 + place[None] + draw.normal(0, each, (seeds, 1)) + draw.normal(0, 0.25, (seeds, 400))
            for place, each in zip(own, deviations, strict=True)
        ]
        apart = items[0].mean(axis=0) - items[1].mean(axis=0)
        found.append(seed_difference(items[0].mean(axis=1), items[1].mean(axis=1), apart).p < 0.05)
    assert np.mean(found) < 0.05 + 3 * (0.05 * 0.95 / 1500) ** 0.5


def test_the_influence_of_examples_has_the_variance_of_an_f1_over_samples_of_them():
    draw = np.random.default_rng(0)
    gold = draw.integers(0, 4, 20_000)
    right, more = draw.binomial(gold, 0.7), draw.integers(0, 3, 20_000)
    counts = np.stack([right, right + more, gold])
    rows = draw.integers(0, 20_000, (2000, 300))
    f1s = 2 * right[rows].sum(1) / (counts[1][rows] + gold[rows]).sum(1)
    assert f1_influence(counts).mean() == pytest.approx(0, abs=1e-12)
    assert f1_influence(counts).std() / 300**0.5 == pytest.approx(f1s.std(), rel=0.05)


@pytest.mark.parametrize(("seeds", "n"), [(3, 500), (3, 5000), (5, 1000), (10, 5000)])
def test_a_planned_difference_is_found_in_four_of_five_studies(seeds, n):
    planned = detectable_over_seeds(seeds, deviation=0.02, item_deviation=0.3, n=n)
    draw, found = np.random.default_rng(2), []
    apart = draw.normal(size=n)
    apart *= 0.3 / apart.std(ddof=1)
    for _ in range(2000):
        ours, theirs = draw.normal(0, 0.02, (2, seeds))
        shift = planned + 0.3 / n**0.5 * draw.normal()
        found.append(seed_difference(ours + shift, theirs, apart).p < 0.05)
    assert np.mean(found) == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize("points", [1, 2, 5, 20])
@pytest.mark.parametrize("n", [200, 5000, 50_000])
def test_the_seeds_needed_are_the_fewest_that_do(points, n):
    about = {"deviation": 0.016, "item_deviation": 0.4, "n": n}
    seeds = seeds_needed(points / 100, **about)
    if seeds is None:
        assert detectable_over_seeds(1000, **about) > points / 100
    else:
        assert detectable_over_seeds(seeds, **about) <= points / 100
        fewer = detectable_over_seeds(seeds - 1, **about)
        assert fewer is None or fewer > points / 100
        assert examples_needed(points / 100, item_deviation=0.4) <= n
    assert detectable_over_seeds(1, **about) is None


def test_what_shared_candidates_add_is_a_part_of_the_variance_and_needs_a_larger_difference():
    ours, theirs, apart = [0.52, 0.55, 0.50], [0.45, 0.47, 0.40], np.random.default_rng(0).normal(0.08, 0.5, 400)
    plain, counted = (seed_difference(ours, theirs, apart, shared=shared) for shared in (0.0, 0.01))
    assert counted.error**2 == pytest.approx(plain.error**2 + 0.01)
    assert (counted.difference, counted.df) == (plain.difference, plain.df)
    assert counted.p > plain.p
    assert counted.ci_low < plain.ci_low
    assert counted.detectable > plain.detectable
