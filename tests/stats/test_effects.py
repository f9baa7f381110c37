import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from interlingua.stats import cliffs_delta, hedges_correction, paired_effect


@given(st.integers(2, 40), st.integers(0, 1000))
def test_the_paired_effect_is_scipys_t_by_the_root_of_n(size, seed):
    ours, theirs = np.random.default_rng(seed).normal(size=(2, size))
    expected = scipy_stats.ttest_rel(ours, theirs).statistic / size**0.5
    assert paired_effect(ours, theirs, corrected=False) == pytest.approx(expected)
    assert paired_effect(ours, theirs) == pytest.approx(expected * hedges_correction(size - 1))
    assert paired_effect(theirs, ours) == pytest.approx(-paired_effect(ours, theirs))


def test_hedges_correction_has_its_closed_forms_and_makes_the_effect_unbiased():
    assert hedges_correction(2) == pytest.approx(1 / np.sqrt(np.pi))
    assert hedges_correction(4) == pytest.approx(np.sqrt(2 / np.pi))
    assert hedges_correction(50) == pytest.approx(1 - 3 / (4 * 50 - 1), abs=1e-4)  # Hedges' own approximation
    draws = np.random.default_rng(0).normal(0.5, 1.0, (40_000, 6))
    found = draws.mean(axis=1) / draws.std(axis=1, ddof=1)
    assert found.mean() * hedges_correction(5) == pytest.approx(0.5, abs=0.01)
    assert found.mean() > 0.58


def test_without_a_scale_there_is_no_effect_size():
    assert paired_effect(np.ones(4), np.ones(4)) == 0.0
    assert paired_effect(np.ones(4), np.zeros(4)) is None
    assert paired_effect(np.ones(1), np.zeros(1)) is None
    assert hedges_correction(1) == 1.0


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=15), st.lists(st.integers(-5, 5), min_size=1, max_size=15))
def test_cliffs_delta_is_counted_over_all_pairs_and_is_the_u_test(ours, theirs):
    expected = np.mean([np.sign(x - y) for x in ours for y in theirs])
    assert cliffs_delta(np.array(ours), np.array(theirs)) == pytest.approx(expected)
    u = scipy_stats.mannwhitneyu(ours, theirs).statistic
    assert cliffs_delta(np.array(ours), np.array(theirs)) == pytest.approx(2 * u / (len(ours) * len(theirs)) - 1)
