"""Windows, parts and batches: the arithmetic behind a pass, by property."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.encoder.tokens import PooledItems, batches, locate_parts, windows

lengths = st.lists(st.integers(1, 60), min_size=1, max_size=12).map(lambda given: np.array(given, np.int64))


@given(lengths, st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_each_token_is_owned_by_one_window_that_shows_it(counts: np.ndarray, room: int) -> None:
    plan = windows(counts, room)
    owners = [np.zeros(n, int) for n in counts]
    for row, begin, end, own, own_end in zip(plan.row, plan.begin, plan.end, plan.own, plan.own_end, strict=True):
        assert begin <= own < own_end <= end
        assert end - begin <= room
        owners[row][own:own_end] += 1
    assert all((owner == 1).all() for owner in owners)


@given(lengths, st.integers(1, 40), st.integers(0, 2), st.integers(0, 2), st.data())
@settings(max_examples=200, deadline=None)
def test_parts_of_an_item_cover_its_tokens_once(
    counts: np.ndarray, room: int, prefix: int, suffix: int, data: st.DataObject
) -> None:
    plan = windows(counts, room)
    row, first, last = [], [], []
    for number, count in enumerate(counts):
        for _ in range(data.draw(st.integers(0, 3))):
            begin = data.draw(st.integers(0, int(count) - 1))
            row.append(number)
            first.append(begin)
            last.append(data.draw(st.integers(begin + 1, int(count))))
    order = np.arange(len(row))
    items = PooledItems(
        np.array(row, np.int64), np.array(first, np.int64), np.array(last, np.int64), np.zeros((len(row), 2), int)
    )
    parts = locate_parts(items, plan, pooling="mean", special=False, around=(prefix, suffix))
    for item in order:
        mine = parts.item == item
        covered = np.concatenate(
            [
                np.arange(a, b) - prefix + plan.begin[w]
                for a, b, w in zip(parts.first[mine], parts.last[mine], parts.window[mine], strict=True)
            ]
        )
        np.testing.assert_array_equal(np.sort(covered), np.arange(first[item], last[item]))
        assert set(plan.row[parts.window[mine]]) == {row[item]}
        np.testing.assert_allclose(parts.weight[mine], 1 / (last[item] - first[item]), rtol=1e-6)


@given(st.lists(st.integers(1, 200), min_size=1, max_size=200), st.integers(1, 500))
@settings(max_examples=200, deadline=None)
def test_batches_hold_every_window_once_within_the_budget(sizes: list[int], budget: int) -> None:
    counts = np.array(sizes, np.int64)
    made = batches(counts, budget)
    np.testing.assert_array_equal(np.sort(np.concatenate(made)), np.arange(len(sizes)))
    for batch in made:
        assert len(batch) == 1 or len(batch) * counts[batch].max() <= budget


def test_equal_lengths_make_full_batches_without_padding() -> None:
    counts = np.array([10] * 50 + [7] * 50 + [3] * 50)
    made = batches(counts, 100)
    waste = sum(len(batch) * counts[batch].max() for batch in made) / counts.sum()
    assert waste < 1.1
