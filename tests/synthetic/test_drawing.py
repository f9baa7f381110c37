import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.synthetic.seeded_draws import Permutation, apportion, shuffle_seeded


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 700), st.text(max_size=5))
def test_a_permutation_visits_every_number_once(size, seed):
    assert sorted(Permutation(size, seed)) == list(range(size))


@settings(max_examples=30, deadline=None)
@given(st.integers(10**6, 10**18), st.integers(0, 9))
def test_draws_from_a_huge_range_are_distinct_and_inside(size, seed):
    drawn = [Permutation(size, str(seed))[number] for number in range(60)]
    assert len(set(drawn)) == 60
    assert 0 <= min(drawn) <= max(drawn) < size


def test_positions_are_as_good_as_random():
    # First place of 4,000 seeded orders of 20: a chi-square of 19 degrees of freedom, 99.9 % below 43.8.
    counts = np.bincount([Permutation(20, str(seed))[0] for seed in range(4000)], minlength=20)
    assert ((counts - 200) ** 2 / 200).sum() < 43.8
    # Neighbours in the order are unrelated: the correlation of 5,000 pairs is below 4 standard errors.
    drawn = np.array([Permutation(10**6, "x")[number] for number in range(5001)])
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 4 / np.sqrt(5000)


def test_another_seed_is_another_order_and_none_is_past_the_end():
    assert shuffle_seeded(range(50), "a") != shuffle_seeded(range(50), "b")
    with pytest.raises(IndexError):
        Permutation(5, "a")[5]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.floats(0.01, 100), min_size=1, max_size=8))
def test_parts_sum_to_the_whole_and_are_within_one_of_their_share(count, weights):
    parts = apportion(count, weights)
    assert sum(parts) == count
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - count * weight / sum(weights)) < 1 + 1e-6
