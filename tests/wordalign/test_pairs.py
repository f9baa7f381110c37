"""Filters of word pairs: what is left, what each dropped, and that nothing is lost between them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import InputError
from interlingua.wordalign.links import Links, PairFilters, word_pairs

WORDS = ["a", "be", "see", ",", "...", "7", "été", "«"]
SENTENCE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)


@st.composite
def bitexts(draw: st.DrawFn) -> tuple[list[list[str]], list[list[str]], Links]:
    rows = draw(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=5))
    cells = []
    for number, (ours, theirs) in enumerate(rows):
        places = st.tuples(st.integers(0, len(ours) - 1), st.integers(0, len(theirs) - 1))
        cells += [(number, *place) for place in draw(st.sets(places, max_size=6))]
    links = Links.of(*np.array(cells, np.int64).reshape(-1, 3).T)
    return [ours for ours, _ in rows], [theirs for _, theirs in rows], links


@given(
    bitexts(),
    st.builds(
        PairFilters,
        longest=st.none() | st.integers(1, 6),
        one_to_one=st.booleans(),
        identical=st.booleans(),
        shortest=st.integers(1, 3),
        punctuation=st.booleans(),
    ),
)
def test_filters_equal_a_loop_over_links(bitext: tuple[list[list[str]], list[list[str]], Links], filters: PairFilters):
    source, target, links = bitext
    cells = list(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))
    ours, theirs = Counter((r, s) for r, s, _ in cells), Counter((r, t) for r, _, t in cells)
    kept, dropped = [], Counter()
    for r, s, t in cells:
        pair = source[r][s], target[r][t]
        if filters.longest is not None and max(len(source[r]), len(target[r])) > filters.longest:
            dropped["long sentences"] += 1
        elif filters.one_to_one and (ours[r, s] > 1 or theirs[r, t] > 1):
            dropped["not one-to-one"] += 1
        elif filters.identical and pair[0] == pair[1]:
            dropped["identical words"] += 1
        elif filters.shortest > 1 and min(map(len, pair)) < filters.shortest:
            dropped["short words"] += 1
        elif filters.punctuation and not all(any(sign.isalnum() for sign in word) for word in pair):
            dropped["punctuation"] += 1
        else:
            kept.append((r, s, t))
    found = word_pairs(source, target, links, filters)
    left = found.links
    assert list(zip(left.row.tolist(), left.source.tolist(), left.target.tolist(), strict=True)) == kept
    assert {drop.name: drop.links for drop in found.dropped if drop.links} == dict(dropped)
    assert found.given == len(left) + sum(drop.links for drop in found.dropped)


def test_the_filters_of_the_paper_are_the_default_and_run_in_its_order() -> None:
    source, target = [["x", "y", "z", "z"]], [["x", "u", "v", "w"]]
    found = word_pairs(source, target, Links.of([0] * 4, [0, 1, 1, 3], [0, 1, 2, 3]))
    assert [drop.name for drop in found.dropped] == ["long sentences", "not one-to-one", "identical words"]
    assert found.links.source.tolist() == [3]


def test_filters_that_could_keep_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="longest sentence"):
        PairFilters(longest=0)
    with pytest.raises(InputError, match="at least one character"):
        PairFilters(shortest=0)


def test_a_sentence_of_the_longest_length_stays_and_one_word_more_goes() -> None:
    source, target = [["a", "b"], ["a", "b", "c"], ["a", "b"]], [["x", "y"], ["x", "y"], ["x", "y", "z"]]
    found = word_pairs(source, target, Links.of([0, 1, 2], [0, 0, 0], [0, 0, 0]), PairFilters(longest=2))
    assert found.links.row.tolist() == [0]
    long = [["a"] * 64, ["a"] * 65], [["x"], ["x"]]
    assert word_pairs(*long, Links.of([0, 1], [0, 0], [0, 0])).links.row.tolist() == [0]


def test_texts_of_unequal_length_are_no_bitext() -> None:
    with pytest.raises(ValueError, match="zip"):
        word_pairs([["a"], ["b"]], [["x"]], Links.of([0], [0], [0]))
