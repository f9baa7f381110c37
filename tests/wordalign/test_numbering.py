"""Words as numbers: by a dictionary or by their bytes, the same numbers."""

from __future__ import annotations

import itertools
import random
import weakref
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from aligner_by_loops import bitext
from interlingua.wordalign import vocabulary
from interlingua.wordalign.vocabulary import Sentences, distinct_words

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
    assert len(words[0]) > vocabulary._EVERY


@pytest.mark.parametrize("rows_at_once", [1, 7, 1000])
def test_both_ways_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch, rows_at_once: int) -> None:
    rows = [*bitext(0, rows=80, words=40)[0], [], ["with\nbreak", "s1"], ["s2"]]
    by_words = Sentences.of(rows)
    looked: list[list[str]] = []

    def spy(words: list[str], device: torch.device) -> object:
        assert device == torch.device("cpu")
        looked.append(words)
        return distinct_words(words, device)

    monkeypatch.setattr(vocabulary, "distinct_words", spy)
    assert np.array_equal(Sentences.of(rows).ids, by_words.ids)
    assert not looked
    monkeypatch.setattr(vocabulary, "_BY_BYTES", {"cpu"})
    monkeypatch.setitem(vocabulary._ROWS_AT_ONCE, "bytes", rows_at_once)
    by_bytes = Sentences.of(rows)
    some = (rows[begin : begin + rows_at_once] for begin in range(0, len(rows), rows_at_once))
    assert looked == [list(itertools.chain.from_iterable(batch)) for batch in some]
    assert by_bytes.words == by_words.words
    assert np.array_equal(by_bytes.ids, by_words.ids)
    assert np.array_equal(by_bytes.starts, by_words.starts)


def test_words_are_numbered_from_the_most_frequent_and_then_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "_WORDS_AT_ONCE", 2)
    side = Sentences.of([["c", "b", "a"], ["a", "b"], ["d", "a"]])
    assert side.words == ("a", "b", "c", "d")
    assert [[side.words[k] for k in side.ids[i:j]] for i, j in zip(side.starts, side.starts[1:], strict=False)] == [
        ["c", "b", "a"],
        ["a", "b"],
        ["d", "a"],
    ]


def test_many_equally_frequent_words_are_numbered_as_they_come() -> None:
    draw = random.Random(0)
    rows = [[f"w{draw.randrange(300)}" for _ in range(draw.randrange(9))] for _ in range(200)]
    side = Sentences.of(rows)
    assert side.words == tuple(word for word, _ in Counter(itertools.chain.from_iterable(rows)).most_common())
    assert [side.words[k] for k in side.ids] == list(itertools.chain.from_iterable(rows))
    assert side.ids.dtype == np.int32


def test_rows_are_read_some_at_a_time_and_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    class Row(list[str]):
        pass

    seen: list[weakref.ref[Row]] = []
    held: list[int] = []

    def rows() -> Iterator[Row]:
        for number in range(60):
            row = Row([f"w{number}"])
            seen.append(weakref.ref(row))
            held.append(sum(one() is not None for one in seen))
            yield row

    monkeypatch.setitem(vocabulary._ROWS_AT_ONCE, "words", 4)
    assert len(Sentences.of(rows())) == 60
    assert max(held) <= 2 * 4 + 1  # those of this turn, of the last one, and the one at hand
