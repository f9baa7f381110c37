"""Words as numbers: by a dictionary or by their bytes, the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from aligner_by_loops import bitext
from interlingua.wordalign import bytewise, numbering
from interlingua.wordalign.bytewise import distinct_words
from interlingua.wordalign.numbering import Sentences

WORD = st.text(st.characters(exclude_characters="\n"), max_size=15)  # lone surrogates and empty words too


@given(st.lists(st.one_of(WORD, st.sampled_from(["a", "aa", "the", "x" * 40])), max_size=60))
def test_equal_words_are_found_by_their_bytes(words: list[str]) -> None:
    found = distinct_words(words, torch.device("cpu"))
    assert found is not None
    assert found[0] == list(dict.fromkeys(words))
    assert [found[0][place] for place in found[1]] == words


def test_a_word_with_a_line_break_is_not_looked_for_by_its_bytes() -> None:
    assert distinct_words(["a\nb", "c"], torch.device("cpu")) is None


def test_words_that_begin_alike_and_are_long_are_told_apart() -> None:
    words = [f"{'long' * 20}{end}" for end in "abcabd"]
    found = distinct_words(words, torch.device("cpu"))
    assert found is not None
    assert found[1].tolist() == [0, 1, 2, 0, 1, 3]
    assert len(words[0]) > bytewise._EVERY


@pytest.mark.parametrize("rows_at_once", [1, 7, 1000])
def test_both_ways_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch, rows_at_once: int) -> None:
    rows = [*bitext(0, rows=80, words=40)[0], [], ["with\nbreak", "s1"], ["s2"]]
    by_words = Sentences.of(rows)
    monkeypatch.setattr(numbering, "_BY_BYTES", {"cpu"})
    monkeypatch.setitem(numbering._ROWS_AT_ONCE, "bytes", rows_at_once)
    by_bytes = Sentences.of(rows)
    assert by_bytes.words == by_words.words
    assert np.array_equal(by_bytes.ids, by_words.ids)
    assert np.array_equal(by_bytes.starts, by_words.starts)


def test_words_are_numbered_from_the_most_frequent_and_then_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "_WORDS_AT_ONCE", 2)
    side = Sentences.of([["c", "b", "a"], ["a", "b"], ["d", "a"]])
    assert side.words == ("a", "b", "c", "d")
    assert [[side.words[k] for k in side.ids[i:j]] for i, j in zip(side.starts, side.starts[1:], strict=False)] == [
        ["c", "b", "a"],
        ["a", "b"],
        ["d", "a"],
    ]
