from __future__ import annotations

import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.errors import InputError
from interlingua.training.text import RULES, classify_lines, filter_lines, lines_of, token_stream
from interlingua.training.tokenizer import train_wordpiece

BARE, VOWELLED = "الكتاب على الطاولة", "الكِتَابُ عَلَى الطَّاوِلَةِ"
# Few letters of a few kinds, so that lines are short, poor in letters, alike, and none of these.
LINES = st.lists(
    st.one_of(st.text("ab1 2-é\u064eا\u0640", max_size=14), st.sampled_from([BARE, VOWELLED, "see http://a.b now"])),
    max_size=30,
)
CASES = {
    "seven letters": ("abcdefg", "short"),
    "eight letters": ("abcdefgh", None),
    "eight characters, one of them a vowel sign": ("ابتثجحخ\u064e", "short"),
    "an address": ("read http://a.example for more of it", "web address"),
    "a safe address": ("read https://a.example for more of it", "web address"),
    "six letters of ten": ("abcdef1234", None),
    "six letters of eleven": ("abcdef12345", "few letters"),
    "spaces count as no letters": ("a b c d e f g h", "few letters"),
    "marks count as letters": ("हिन्दी में लिखा", None),
    "han": ("厨房的水龙头又漏水了", None),
}


@given(LINES)
@settings(deadline=None)
def test_tidying_twice_is_tidying_once_and_keeps_lines_and_order(lines):
    once = list(filter_lines(lines))
    assert list(filter_lines(once)) == once
    assert list(filter_lines(lines)) == once
    rest = iter(lines)
    assert all(line in rest for line in once)  # In order, none changed, none added.


@given(LINES)
@settings(deadline=None)
def test_every_line_is_judged_once_and_those_without_fault_are_the_tidy_ones(lines):
    found = list(classify_lines(lines))
    assert [line for line, _ in found] == lines
    assert [line for line, rule in found if rule is None] == list(filter_lines(lines))
    assert {rule for _, rule in found} <= {None, *RULES}


@pytest.mark.parametrize("case", CASES)
def test_each_rule(case):
    line, rule = CASES[case]
    assert list(classify_lines([line])) == [(line, rule)]


def test_a_line_seen_before_in_all_but_its_digits_is_left_out_and_the_first_one_stays():
    lines = ["Page 12 of the report", "Page 37 of the report", "Page 7 of the report", "Page १२ of the report"]
    # As many digits, in whatever script; another count of digits is another line.
    assert list(filter_lines(lines)) == [lines[0], lines[2]]
    assert list(filter_lines(["Good morning!", "Good evening!", "Good morning!"])) == ["Good morning!", "Good evening!"]


@pytest.mark.parametrize("first", [BARE, VOWELLED])
def test_arabic_with_and_without_vowel_signs_is_one_line(first):
    assert any(unicodedata.combining(character) for character in VOWELLED)
    assert list(filter_lines([first, BARE, VOWELLED])) == [first]


def test_no_line_that_is_left_out_leaves_its_mark_on_later_ones():
    assert list(filter_lines(["12345678 abc", "12345678 abc", "abcdefgh abc"])) == ["abcdefgh abc"]


@pytest.fixture
def raw(tmp_path):
    """A file in which lines of every kind stand among ordinary ones, and how many of each."""
    draw = np.random.default_rng(0)
    words = ["".join(draw.choice(list("abcdefghij"), 6)) for _ in range(80)]
    ordinary = [" ".join(draw.choice(words, 8)) for _ in range(120)]
    others = {
        "short": ["ok", "no", "a b", "well"],
        "web address": ["look at http://a.example/b today", "https://c.example"],
        "few letters": ["1 + 1 = 2 + 0 = 2", "| 3 | 4 | 5 | 6 |", "- - - - - - -"],
        "repeated": [ordinary[3], ordinary[5], ordinary[5], ordinary[9], ordinary[11]],
    }
    lines = ordinary + [line for kind in others.values() for line in kind]
    path = tmp_path / "en.txt"
    # Of doubles the first one stays, wherever it stands.
    path.write_text("\n\n".join(lines[i] for i in draw.permutation(len(lines))) + "\n", "utf-8")
    return path, {"kept": len(ordinary), **{rule: len(kind) for rule, kind in others.items()}}


def test_the_stream_counts_what_was_kept_and_what_each_rule_left_out(raw, tmp_path):
    path, expected = raw
    tokenizer = train_wordpiece({"en": path}, vocabulary=200, tidied=True)
    for _ in range(2):  # Made, then read.
        stream = token_stream(tokenizer, {"en": path}, length=16, folder=tmp_path / "kept", tidied=True)
        assert stream.lines == {"en": expected}
    assert Counter(rule or "kept" for _, rule in classify_lines(lines_of(path))) == expected
    plain = token_stream(tokenizer, {"en": path}, length=16, folder=tmp_path / "kept")
    assert plain.lines == {"en": {"kept": sum(expected.values())}}


def test_text_that_was_tidied_before_gives_the_same_tokenizer_and_stream(raw, tmp_path):
    path, expected = raw
    clean = tmp_path / "tidied.txt"
    clean.write_text("\n".join(lines_of(path, tidied=True)) + "\n", "utf-8")
    assert len(clean.read_text("utf-8").splitlines()) == expected["kept"]
    tokenizers = [train_wordpiece({"en": place}, vocabulary=200, tidied=True).to_str() for place in (path, clean)]
    assert tokenizers[0] == tokenizers[1]
    tokenizer = train_wordpiece({"en": path}, vocabulary=200, tidied=True)
    streams = [
        token_stream(tokenizer, {"en": place}, length=16, folder=tmp_path / name, tidied=tidied)
        for place, name, tidied in ((path, "a", True), (clean, "b", True), (clean, "c", False))
    ]
    for other in streams[1:]:
        for name in ("ids", "starts", "begin", "edges"):
            assert np.array_equal(getattr(streams[0], name), getattr(other, name))


def test_text_of_which_tidying_leaves_too_little_is_refused(raw, tmp_path):
    tokenizer = train_wordpiece({"en": raw[0]}, vocabulary=200)
    path = tmp_path / "numbers.txt"
    path.write_text("".join(f"{n} {n + 1} {n + 2}\n" for n in range(100)), "utf-8")
    assert token_stream(tokenizer, {"en": path}, length=16, folder=tmp_path / "kept").ids.size
    with pytest.raises(InputError, match=r"numbers\.txt: too little text in en after tidying\. Give more than 16"):
        token_stream(tokenizer, {"en": path}, length=16, folder=tmp_path / "kept", tidied=True)
