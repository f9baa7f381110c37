"""Bitext for the aligner: every line is handed on, and what is wrong with one is told beside its number."""

from __future__ import annotations

import gzip
import io
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import InputError
from interlingua.readers.sentence_pairs import REMEDIES, SentencePair, open_bitext


def read(data: str | bytes, **options: str) -> list[SentencePair]:
    raw = data if isinstance(data, bytes) else data.encode()
    with open_bitext("-", stdin=io.BytesIO(raw), **options) as bitext:
        return list(bitext.pairs)


def told(data: str | bytes, **options: str) -> list[tuple[int, str, str, str]]:
    return [(pair.line, pair.source, pair.target, pair.problem) for pair in read(data, **options)]


GOOD = "the cat ||| el gato\n"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "blank line"),
        ("   ", "blank line"),
        ("no bar here", "no separator"),
        ("a | b", "no separator"),
        ("a|||b", "no separator"),
        ("a ||| b ||| c", "more than one separator"),
        ("||| b", "empty source"),
        ("a |||", "empty target"),
        ("a ||| \t ", "empty target"),
        (" ||| ", "empty source"),
    ],
)
def test_each_bad_line_of_pipes_is_told_with_its_number_and_shifts_nothing(line: str, problem: str) -> None:
    assert told(GOOD + line + "\n" + GOOD) == [
        (1, "the cat", "el gato", ""),
        (2, "", "", problem),
        (3, "the cat", "el gato", ""),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("one cell", "no separator"),
        ("a\tb\tc", "more than one separator"),
        ("a\tb\t", "more than one separator"),
        ("\tb", "empty source"),
        ("a\t ", "empty target"),
        ("", "blank line"),
    ],
)
def test_each_bad_line_of_a_table_is_told_with_its_number(line: str, problem: str) -> None:
    assert told(f"tea\tté\n{line}\nmilk\tleche\n") == [
        (1, "tea", "té", ""),
        (2, "", "", problem),
        (3, "milk", "leche", ""),
    ]


def test_undecodable_bytes_cost_their_own_line_only() -> None:
    assert told("чай ||| tea\n".encode() + b"\xff\xfe ||| b\n" + GOOD.encode()) == [
        (1, "чай", "tea", ""),
        (2, "", "", "undecodable bytes"),
        (3, "the cat", "el gato", ""),
    ]


def test_every_problem_has_a_remedy_and_an_error_with_file_and_line() -> None:
    for problem in REMEDIES:
        assert str(SentencePair(7, "", "", problem, "x.txt").error()).startswith(f"x.txt:7: {problem}. ")


@pytest.mark.parametrize("first", ["broken", "", "a\tb"])
def test_a_bad_first_line_does_not_decide_the_format(first: str) -> None:
    pairs = read(first + "\n" + 3 * GOOD)
    assert [bool(pair.problem) for pair in pairs] == [True, False, False, False]


def test_a_bar_inside_a_table_is_text() -> None:
    assert told("a || b\tc\n")[0][1:3] == ("a || b", "c")


def test_a_third_column_of_links_is_no_text() -> None:
    assert told("a b\tc d\t0-0 1-1\ne\tf\t0-0\n") == [(1, "a b", "c d", ""), (2, "e", "f", "")]


def test_what_is_no_bitext_says_what_is_accepted() -> None:
    with pytest.raises(InputError, match=r"stdin: no line is a pair.*'just text'.*source \|\|\| target"):
        read("just text\nand more\n")


def test_a_named_format_is_taken_at_its_word() -> None:
    assert [pair.problem for pair in read("a ||| b\nc\td\n", format="tsv")] == ["no separator", ""]
    with pytest.raises(InputError, match="unknown format of a bitext: 'csv'"):
        read(GOOD, format="csv")
    with pytest.raises(InputError, match="one file where two are needed"):
        read(GOOD, format="files")


@pytest.mark.parametrize("squeeze", [gzip.compress, lzma.compress, bytes])
def test_two_files_pair_by_line_whatever_their_compression(tmp_path, squeeze) -> None:
    (tmp_path / "a.en").write_bytes(squeeze(b"tea\n\nmilk\n"))
    (tmp_path / "a.ru").write_bytes("чай\nхлеб\n\n".encode())
    with open_bitext(tmp_path / "a.en", tmp_path / "a.ru") as bitext:
        assert bitext.format == "files"
        pairs = list(bitext.pairs)
    assert [(pair.line, pair.problem) for pair in pairs] == [(1, ""), (2, "empty source"), (3, "empty target")]
    assert (pairs[1].file, pairs[2].file) == (str(tmp_path / "a.en"), str(tmp_path / "a.ru"))


def test_lines_without_partner_name_the_longer_file(tmp_path) -> None:
    (tmp_path / "a.en").write_text("tea\n")
    (tmp_path / "a.ru").write_text("чай\nхлеб\nсоль\n")
    with open_bitext(tmp_path / "a.en", tmp_path / "a.ru") as bitext:
        pairs = list(bitext.pairs)
    assert [(pair.line, pair.problem) for pair in pairs] == [(1, ""), (2, "no partner"), (3, "no partner")]
    assert str(pairs[1].error()).startswith(f"{tmp_path / 'a.ru'}:2: no partner: {tmp_path / 'a.en'} has 1 line. ")


def test_undecodable_bytes_name_the_file_they_are_in(tmp_path) -> None:
    (tmp_path / "a.en").write_text("tea\n")
    (tmp_path / "a.ru").write_bytes(b"\xff\n")
    with open_bitext(tmp_path / "a.en", tmp_path / "a.ru") as bitext:
        [pair] = bitext.pairs
    assert (pair.problem, pair.file) == ("undecodable bytes", str(tmp_path / "a.ru"))


def test_a_missing_file_gets_the_nearest_name(tmp_path) -> None:
    (tmp_path / "bitext.txt").write_text(GOOD)
    with pytest.raises(InputError, match=r"Did you mean .*bitext\.txt"), open_bitext(tmp_path / "bitex.txt"):
        pass


SIDES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="|"), min_size=1).filter(
    lambda side: side.strip()
)


@given(st.lists(st.tuples(SIDES, SIDES) | st.sampled_from(["", "bad", "a ||| b ||| c"]), max_size=8))
def test_there_is_one_result_for_every_line_in_its_order(lines: list[tuple[str, str] | str]) -> None:
    text = "".join(line + "\n" if isinstance(line, str) else f"{line[0]} ||| {line[1]}\n" for line in lines)
    pairs = read(GOOD + text, format="pipes")[1:]
    assert [pair.line for pair in pairs] == list(range(2, len(lines) + 2))
    for line, pair in zip(lines, pairs, strict=True):
        if isinstance(line, str):
            assert pair.problem
        else:
            assert (pair.source, pair.target) == (line[0].strip(), line[1].strip())
