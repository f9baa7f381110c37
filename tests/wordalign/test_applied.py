"""Links made of one direction or of both, some rows at a time, against those made all at once."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from aligner_by_loops import bitext
from interlingua.wordalign import model
from interlingua.wordalign.em_steps import BestLinks
from interlingua.wordalign.links import Links
from interlingua.wordalign.model import DirectedAlignment, combine_directions
from interlingua.wordalign.symmetrize import SYMMETRISATIONS, symmetrize
from interlingua.wordalign.training import DirectionResult, align_both
from interlingua.wordalign.vocabulary import Sentences


def as_list(links: Links) -> list[tuple[int, int, int]]:
    return list(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))


@pytest.fixture(scope="module")
def both() -> tuple[DirectionResult, DirectionResult]:
    source, target = bitext(21, rows=50, words=20)
    source[4], target[9], source[30], target[30] = [], [], [], []
    return align_both(source, target)


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("how", SYMMETRISATIONS)
def test_rows_at_a_time_give_what_symmetrising_all_links_gives(
    both: tuple[DirectionResult, DirectionResult], monkeypatch: pytest.MonkeyPatch, how: str, size: int
) -> None:
    forward, backward = (one.applied for one in both)
    expected = as_list(symmetrize(forward.links, backward.links, how))
    monkeypatch.setattr(model, "_ROWS_AT_ONCE", size)
    assert as_list(combine_directions(forward, backward, how)) == expected == sorted(expected)
    assert as_list(combine_directions(forward, backward, how, rows=20)) == [link for link in expected if link[0] < 20]


def test_a_range_of_rows_has_the_links_of_these_rows(both: tuple[DirectionResult, DirectionResult]) -> None:
    for one in both:
        whole = as_list(one.applied.links)
        assert as_list(one.applied.links_of(10, 31)) == [link for link in whole if 10 <= link[0] < 31]
        assert as_list(one.applied.links_of(7, 7)) == []


def test_a_word_has_the_link_that_was_found_for_it(both: tuple[DirectionResult, DirectionResult]) -> None:
    forward, backward = (one.applied for one in both)
    assert {(row, t, s) for row, s, t in as_list(forward.links)} == {
        (row, t, int(forward.best[start + t]))
        for row, (start, end) in enumerate(zip(forward.starts[:-1], forward.starts[1:], strict=True))
        for t in range(end - start)
        if forward.best[start + t] >= 0
    }
    assert len(backward.links) == np.count_nonzero(backward.best >= 0)
    for one in (forward, backward):
        assert one.log_likelihood[[4, 9, 30]].tolist() == [0.0, 0.0, 0.0]
        assert (np.delete(one.log_likelihood, [4, 9, 30]) < 0).all()


def made_up(
    given: list[int], explained: list[int], draw: np.random.Generator, *, turned: bool, none: float
) -> DirectedAlignment:
    """What a direction might say of rows of these lengths: any word, or with a probability none."""
    chosen = [
        int(draw.integers(n)) if draw.random() >= none else -1
        for n, m in zip(given, explained, strict=True)
        for _ in range(m)
    ]
    starts = [np.concatenate([[0], np.cumsum(lengths)]) for lengths in (given, explained)]
    return DirectedAlignment(np.array(chosen, np.int32), np.zeros(len(given)), *starts, turned)


@pytest.mark.parametrize("none", [(0.1, 0.7), (0.7, 0.1)])
@pytest.mark.parametrize("how", SYMMETRISATIONS)
def test_long_rows_in_which_many_words_have_one_partner_have_their_links_in_order(
    how: str, none: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(0)
    n, m = ([3, 90, 5, 1, 60], [90, 4, 200, 1, 60])
    forward = made_up(n, m, draw, turned=False, none=none[0])
    backward = made_up(m, n, draw, turned=True, none=none[1])
    monkeypatch.setattr(model, "_ROWS_AT_ONCE", 2)
    said = [
        [(row, *((place, int(s))[:: 1 if one.turned else -1])) for row in range(5)
         for place, s in enumerate(one.best[one.starts[row] : one.starts[row + 1]]) if s >= 0]
        for one in (forward, backward)
    ]  # fmt: skip
    assert as_list(forward.links) == sorted(said[0])
    assert as_list(backward.links) == sorted(said[1])
    links = combine_directions(forward, backward, how)
    assert as_list(links) == as_list(
        symmetrize(Links.of(*np.transpose(said[0])), Links.of(*np.transpose(said[1])), how)
    )
    assert {column.dtype for column in (links.row, links.source, links.target)} == {np.dtype(np.int64)}
    if how in ("intersect", "union"):
        both = set(said[0]) & set(said[1]) if how == "intersect" else set(said[0]) | set(said[1])
        assert as_list(links) == sorted(both)
    if how == "intersect":
        assert as_list(combine_directions(forward, backward)) == as_list(links)


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_likelihoods_of_rows_are_the_sums_over_their_words(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(model, "_ROWS_AT_ONCE", size)
    rows = [["a", "b"], [], ["c"], ["a", "b", "c", "d"], ["d"]]
    logs = -torch.rand(8, generator=torch.Generator().manual_seed(0))
    side = Sentences.of(rows)
    found = DirectedAlignment.of(BestLinks(torch.zeros(8, dtype=torch.int32), logs, 0.0, 0.0), side, side)
    values = iter(logs.tolist())
    assert found.log_likelihood == pytest.approx([sum(next(values) for _ in row) for row in rows], abs=1e-12)
    assert len(found) == 5
    assert not found.turned
