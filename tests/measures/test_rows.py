import inspect

import numpy as np
import pytest
import torch

from interlingua.errors import InputError
from interlingua.measures import measures
from interlingua.measures.vectors import MemoryBudget, PreparedVectors, checked, dear, unit

WITH_SIDES = [entry.name for entry in measures if "sides" in inspect.signature(entry.call).parameters]


def test_some_measures_share_what_a_side_decides():
    assert {"cka", "retrieval", "procrustes"} <= set(WITH_SIDES)


@pytest.mark.parametrize("room", [None, 0, 10_000, 10**8])
@pytest.mark.parametrize("name", WITH_SIDES)
def test_kept_sides_change_no_score(name, room):
    draw = torch.Generator().manual_seed(0)
    first, second, third = (torch.randn(60, 8, generator=draw) for _ in range(3))
    second += first
    kept = {
        id(side): PreparedVectors(side, None if room is None else MemoryBudget(room)) for side in (first, second, third)
    }
    # The second round finds what the first has kept.
    for source, target in [(first, second), (second, third), (first, third)] * 2:
        given = (kept[id(source)], kept[id(target)])
        with_kept = measures[name].call(source, target, sides=given, seed=3)
        for variant, score in measures[name].call(source, target, seed=3).items():
            twin = with_kept[variant]
            assert (score.value, score.null, score.low, score.high) == (twin.value, twin.null, twin.low, twin.high)
            np.testing.assert_array_equal(score.items, twin.items)


def test_a_side_computes_once_for_each_argument_and_no_more_than_its_room():
    calls = []

    @dear
    def scaled(vectors, factor):
        calls.append(factor)
        return factor * vectors

    side = PreparedVectors(torch.ones(5, 4), MemoryBudget(2 * 5 * 4 * 4))
    for factor in (1, 2, 3, 1, 2, 3):
        assert side.of(scaled, factor).sum() == 20 * factor
    assert calls == [1, 2, 3, 3]
    assert side.of(unit).shape == (5, 4)


def test_what_is_quick_to_make_again_is_not_kept_and_takes_no_room():
    room = MemoryBudget(5 * 4 * 4)
    side = PreparedVectors(torch.ones(5, 4), room)
    assert side.of(unit) is not side.of(unit)
    assert room.take(5 * 4 * 4)


def test_what_was_kept_of_vectors_is_found_by_the_next_side_of_them():
    made = []

    @dear
    def counted(vectors):
        made.append(1)
        return vectors + 1

    kept, room = {}, MemoryBudget(10**6)
    for _ in range(3):
        PreparedVectors(torch.ones(5, 4), room, kept).of(counted)
    assert len(made) == 1


def test_large_finite_values_pass_though_their_sum_overflows():
    for dtype, peak in ((torch.float16, 60_000.0), (torch.float32, 3e38)):
        rows = torch.full((40, 3), peak, dtype=dtype)
        assert checked(rows, least=2) is rows


@pytest.mark.parametrize("value", [torch.inf, -torch.inf, torch.nan])
def test_one_value_that_is_no_number_is_refused(value):
    rows = torch.ones(40, 3)
    rows[7, 2] = value
    with pytest.raises(InputError, match="infinite or undefined"):
        checked(rows, least=2)
    rows[8, 2] = -value
    with pytest.raises(InputError, match="infinite or undefined"):
        checked(rows, least=2)
