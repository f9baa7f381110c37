"""Links made of one direction or of both, some rows at a time, against those made all at once."""

from __future__ import annotations

import numpy as np
import pytest

from aligner_by_loops import bitext
from interlingua.wordalign import applied
from interlingua.wordalign.applied import combined
from interlingua.wordalign.links import Links
from interlingua.wordalign.symmetrise import SYMMETRISATIONS, symmetrise
from interlingua.wordalign.training import Aligned, align_both


def as_list(links: Links) -> list[tuple[int, int, int]]:
    return list(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))


@pytest.fixture(scope="module")
def both() -> tuple[Aligned, Aligned]:
    source, target = bitext(21, rows=50, words=20)
    source[4], target[9], source[30], target[30] = [], [], [], []
    return align_both(source, target)


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("how", SYMMETRISATIONS)
def test_rows_at_a_time_give_what_symmetrising_all_links_gives(
    both: tuple[Aligned, Aligned], monkeypatch: pytest.MonkeyPatch, how: str, size: int
) -> None:
    forward, backward = (one.applied for one in both)
    expected = as_list(symmetrise(forward.links, backward.links, how))
    monkeypatch.setattr(applied, "_ROWS_AT_ONCE", size)
    assert as_list(combined(forward, backward, how)) == expected == sorted(expected)
    assert as_list(combined(forward, backward, how, rows=20)) == [link for link in expected if link[0] < 20]


def test_a_range_of_rows_has_the_links_of_these_rows(both: tuple[Aligned, Aligned]) -> None:
    for one in both:
        whole = as_list(one.applied.links)
        assert as_list(one.applied.links_of(10, 31)) == [link for link in whole if 10 <= link[0] < 31]
        assert as_list(one.applied.links_of(7, 7)) == []


def test_a_word_has_the_link_that_was_found_for_it(both: tuple[Aligned, Aligned]) -> None:
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
