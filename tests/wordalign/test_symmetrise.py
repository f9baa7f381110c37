"""Symmetrisation against atools' algorithm written link by link."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.errors import InputError
from interlingua.wordalign.links import Links
from interlingua.wordalign.symmetrize import SYMMETRISATIONS, symmetrize

Grid = set[tuple[int, int]]
NEIGHBOURS = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)]


def by_links(forward: Grid, backward: Grid, how: str) -> Grid:
    """One row, as atools goes about it: sorted candidates, again and again while any was added, then both finals."""
    if how in ("forward", "backward"):
        return forward if how == "forward" else backward
    if how == "union":
        return forward | backward
    kept = forward & backward
    if how == "intersect":
        return kept
    kept = set(kept)

    def linked(axis: int, word: int) -> bool:
        return any(link[axis] == word for link in kept)

    candidates = sorted((forward | backward) - kept)
    going = True
    while going:
        going = False
        for source, target in list(candidates):
            one_open = not (linked(0, source) and linked(1, target))
            if one_open and any((source + ds, target + dt) in kept for ds, dt in NEIGHBOURS):
                kept.add((source, target))
                candidates.remove((source, target))
                going = True
    if how != "grow-diag":
        for direction in (forward, backward):
            for source, target in sorted(direction - kept):
                open_words = [not linked(0, source), not linked(1, target)]
                if all(open_words) if how == "grow-diag-final-and" else any(open_words):
                    kept.add((source, target))
    return kept


def links_of(rows: list[Grid]) -> Links:
    triples = [(row, s, t) for row, grid in enumerate(rows) for s, t in grid]
    return Links.of(*zip(*triples, strict=True)) if triples else Links.of([], [], [])


def rows_of(links: Links, count: int) -> list[Grid]:
    rows: list[Grid] = [set() for _ in range(count)]
    for row, s, t in zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True):
        rows[row].add((s, t))
    return rows


grids = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14)


@pytest.mark.parametrize("how", SYMMETRISATIONS)
@given(rows=st.lists(st.tuples(grids, grids), max_size=6))
@settings(max_examples=60, deadline=None)
def test_every_way_does_what_atools_does(how: str, rows: list[tuple[Grid, Grid]]) -> None:
    forward, backward = [ours for ours, _ in rows], [theirs for _, theirs in rows]
    found = symmetrize(links_of(forward), links_of(backward), how)
    assert rows_of(found, len(rows)) == [by_links(ours, theirs, how) for ours, theirs in rows]
    triples = list(zip(found.row.tolist(), found.source.tolist(), found.target.tolist(), strict=True))
    assert triples == sorted(set(triples))


def one_link_a_word(draw: np.random.Generator, rows: int) -> tuple[list[Grid], list[Grid]]:
    """Links as an aligner gives them: one for each target word, one for each source word, mostly near the diagonal."""
    forward: list[Grid] = []
    backward: list[Grid] = []
    for _ in range(rows):
        n, m = draw.integers(1, 25, 2).tolist()
        near = np.clip(np.arange(m) * n // m + draw.integers(-2, 3, m), 0, n - 1).tolist()
        back = np.clip(np.arange(n) * m // n + draw.integers(-2, 3, n), 0, m - 1).tolist()
        forward.append({(s, t) for t, s in enumerate(near) if draw.random() > 0.1})
        backward.append({(s, t) for s, t in enumerate(back) if draw.random() > 0.1})
    return forward, backward


@pytest.mark.parametrize("how", ["grow-diag", "grow-diag-final", "grow-diag-final-and"])
@pytest.mark.parametrize("rows_at_once", [7, 1 << 17])
def test_links_of_two_directions_grow_as_in_atools(
    how: str, rows_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["interlingua.wordalign.symmetrize"], "_ROWS_AT_ONCE", rows_at_once)
    forward, backward = one_link_a_word(np.random.default_rng(0), 150)
    found = rows_of(symmetrize(links_of(forward), links_of(backward), how), 150)
    assert found == [by_links(ours, theirs, how) for ours, theirs in zip(forward, backward, strict=True)]


@pytest.mark.parametrize("how", ["union", "grow-diag-final"])
@pytest.mark.parametrize("shorter", [0, 1])
def test_rows_after_the_last_one_with_links_of_one_direction_have_those_of_the_other(
    how: str, shorter: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["interlingua.wordalign.symmetrize"], "_ROWS_AT_ONCE", 7)
    sides = one_link_a_word(np.random.default_rng(3), 40)
    sides[shorter][10:] = [set()] * 30
    found = rows_of(symmetrize(links_of(sides[0]), links_of(sides[1]), how), 40)
    assert found == [by_links(ours, theirs, how) for ours, theirs in zip(*sides, strict=True)]
    assert any(found[35:])


def test_every_way_lies_between_intersection_and_union() -> None:
    forward, backward = one_link_a_word(np.random.default_rng(1), 80)
    found: dict[str, set[tuple[int, int, int]]] = {}
    for how in SYMMETRISATIONS:
        links = symmetrize(links_of(forward), links_of(backward), how)
        found[how] = set(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))
    order = ("intersect", "grow-diag", "grow-diag-final-and", "union")
    assert all(found[less] <= found[more] for less, more in itertools.pairwise(order))
    assert found["grow-diag"] <= found["grow-diag-final"] <= found["union"]


def test_the_ways_are_those_of_atools_and_each_direction_as_it_is() -> None:
    ways = ["intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and", "forward", "backward"]
    assert sorted(SYMMETRISATIONS) == sorted(ways)


def test_an_unknown_way_is_an_error_with_the_list() -> None:
    with pytest.raises(InputError, match=r"unknown symmetrisation.*grow-diag-final-and") as error:
        symmetrize(Links.of([], [], []), Links.of([], [], []), "grow")
    assert error.value.value == "grow"


def test_what_is_not_said_is_the_intersection() -> None:
    forward, backward = one_link_a_word(np.random.default_rng(2), 20)
    found = rows_of(symmetrize(links_of(forward), links_of(backward)), 20)
    assert found == [ours & theirs for ours, theirs in zip(forward, backward, strict=True)]
