"""Gold links in every form: sure and possible, 0- and 1-based, and bad lines with their number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import InputError
from interlingua.readers.documents import open_document
from interlingua.wordalign.links import Links
from interlingua.wordalign.quality import Gold, read_gold

LENGTHS = [(3, 4), (2, 2), (5, 5)]


def lines(*texts: str) -> list[tuple[int, str]]:
    return list(enumerate(texts, 1))


def cells(links: Links) -> set[tuple[int, int, int]]:
    return set(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))


def test_pharaoh_tells_sure_from_possible_and_sure_is_possible_too() -> None:
    gold = read_gold(lines("0-0 1p2 2?3", "", "4-4"), file="g", lengths=LENGTHS, base=0)
    assert cells(gold.sure) == {(0, 0, 0), (2, 4, 4)}
    assert cells(gold.possible) == {(0, 0, 0), (0, 1, 2), (0, 2, 3), (2, 4, 4)}
    assert gold.marked.all()


def test_the_same_links_in_three_forms_are_the_same_gold() -> None:
    zero = read_gold(lines("0-0 1-1", "1-1", "2-3"), file="g", lengths=LENGTHS, base=0)
    one = read_gold(lines("1-1 2-2", "2-2", "3-4"), file="g", lengths=LENGTHS, base=1)
    table = read_gold(lines("a b c\tw x y z\t0-0 1-1", "a b\tc d\t1-1", "a\tb\t2-3"), file="g", lengths=LENGTHS)
    naacl = read_gold(lines("0001 1 1 S", "0001 2 2", "2 2 2 S 0.5", "3 3 4 S"), file="g", lengths=LENGTHS)
    for gold in (one, table, naacl):
        assert cells(gold.sure) == cells(zero.sure)
        assert cells(gold.possible) == cells(zero.possible)


def test_naacl_has_possible_links_empty_words_and_rows_nobody_marked() -> None:
    gold = read_gold(lines("1 1 1 S", "1 2 2 P", "3 1 0 S"), file="g", lengths=LENGTHS)
    assert cells(gold.sure) == {(0, 0, 0)}
    assert cells(gold.possible) == {(0, 0, 0), (0, 1, 1)}
    assert gold.marked.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("text", "hint"),
    [("0-0 1-1", "so give 0"), ("1-0", "so give 0"), ("0p1", "so give 0"), ("1-1 2-2", "for 1"), ("10-20", "for 1")],
)
def test_the_first_word_must_be_said_where_the_form_leaves_it_open(text: str, hint: str) -> None:
    with pytest.raises(InputError, match=rf"g: links in this form may count words from 0 or from 1.*{hint}"):
        read_gold(lines(text), file="g", lengths=LENGTHS[:1])


def test_a_base_against_the_form_is_an_error() -> None:
    with pytest.raises(InputError, match="naacl counts words from 1: 0"):
        read_gold(lines("1 1 1 S"), file="g", lengths=LENGTHS[:1], base=0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("3-0", r"g:2: a link past the words of its row \(2 and 2\): '3-0'"),
        ("2-0", r"g:2: a link past the words of its row \(2 and 2\): '2-0'"),
        ("0-2", r"g:2: a link past the words of its row \(2 and 2\): '0-2'"),
        ("0-0 x", "g:2: not a link: 'x'"),
        ("0--1", "g:2: not a link: '0--1'"),
        ("0 - 1", "g:2: not a link: '0'"),
        ("0-١", "g:2: not a link: '0-١'"),
    ],
)
def test_a_bad_line_is_named_and_costs_its_row_alone(text: str, told: str) -> None:
    given_lines = lines("0-0", text, "4-4")
    with pytest.raises(InputError, match=told):
        read_gold(given_lines, file="g", lengths=LENGTHS, base=0)
    gold = read_gold(given_lines, file="g", lengths=LENGTHS, base=0, fail=False)
    assert gold.marked.tolist() == [True, False, True]
    assert cells(gold.sure) == {(0, 0, 0), (2, 4, 4)}
    assert [error.line for error in gold.bad] == [2]


def test_word_zero_of_a_file_said_to_count_from_one_is_out_of_range() -> None:
    with pytest.raises(InputError, match=r"g:1: a link past the words of its row .*'0-1'\. The first word is 1"):
        read_gold(lines("0-1"), file="g", lengths=LENGTHS[:1], base=1)


def test_too_few_and_too_many_lines_are_named() -> None:
    with pytest.raises(InputError, match="g:2: ends here, and the bitext has 3 lines"):
        read_gold(lines("0-0", "0-0"), file="g", lengths=LENGTHS, base=0)
    with pytest.raises(InputError, match="g:4: speaks of a row past the 3 of the bitext"):
        read_gold(lines("0-0", "0-0", "0-0", "0-0", "0-0"), file="g", lengths=LENGTHS, base=0)
    gold = read_gold(lines("0-0", "0-0"), file="g", lengths=LENGTHS, base=0, fail=False)
    assert gold.marked.tolist() == [True, True, False]
    with pytest.raises(InputError, match="g:1: speaks of a row past"):
        read_gold(lines("4 1 1 S"), file="g", lengths=LENGTHS)


def test_a_number_of_lines_that_is_not_that_of_the_rows_is_told_apart_from_bad_lines() -> None:
    for count, line in ((0, 0), (2, 2), (4, 4), (6, 4)):
        gold = read_gold(lines(*["0-0"] * count), file="g", lengths=LENGTHS, base=0, format="pharaoh", fail=False)
        assert gold.unequal is not None
        assert [gold.unequal] == list(gold.bad)
        assert gold.unequal.line == line
    with pytest.raises(InputError, match="the bitext has 1 lines"):
        read_gold([], file="g", lengths=LENGTHS[:1], base=0)
    bad = read_gold(lines("0-0", "x", "0-0"), file="g", lengths=LENGTHS, base=0, fail=False)
    assert bad.unequal is None
    assert len(bad.bad) == 1


def test_every_link_of_naacl_past_the_rows_is_bad_and_those_after_it_are_read() -> None:
    texts = lines("9 1 1 S", "1 1 1 S", "4 1 1 S")
    gold = read_gold(texts, file="g", lengths=LENGTHS, fail=False)
    assert [error.line for error in gold.bad] == [1, 3]
    assert cells(gold.sure) == {(0, 0, 0)}
    with pytest.raises(InputError, match="g:1: speaks of a row past"):
        read_gold(texts, file="g", lengths=LENGTHS)


def test_naacl_need_not_speak_of_every_row() -> None:
    assert read_gold(lines("2 1 1 S"), file="g", lengths=LENGTHS).marked.tolist() == [False, True, False]


@pytest.mark.parametrize(("text", "told"), [("0 1 1 S", "rows count from 1"), ("1 1 S", "not 'row source target")])
def test_a_line_of_naacl_without_a_row_spoils_none(text: str, told: str) -> None:
    texts = lines("1 1 1 S", "2 1 1 S", "3 1 1 S", text)
    with pytest.raises(InputError, match=f"g:4: {told}.*: '{text}'"):
        read_gold(texts, file="g", lengths=LENGTHS)
    assert read_gold(texts, file="g", lengths=LENGTHS, fail=False).marked.all()


def test_a_bad_first_row_is_not_marked_whatever_else_is_said_of_it() -> None:
    gold = read_gold(lines("1 1 1 S", "1 9 9 S", "2 1 1 S"), file="g", lengths=LENGTHS, fail=False)
    assert gold.marked.tolist() == [False, True, False]
    assert cells(gold.possible) == {(1, 0, 0)}


def test_files_are_read_to_their_end() -> None:
    gold = read_gold(lines(*["0-0"] * 250), file="g", lengths=[(1, 1)] * 250, base=0)
    assert gold.sure.row.tolist() == list(range(250))


def test_the_form_is_that_of_more_than_half_of_the_lines() -> None:
    naacl, table = "1 1 1 S", "a\tb\t0-0"
    for text in (naacl, table):
        gold = read_gold(lines(text, text, "x", ""), file="g", lengths=LENGTHS, fail=False)
        assert cells(gold.sure) >= {(0, 0, 0)}
        for texts in ((text, "0-0"), (text, "0-0", "0-0", "0-0", "0-0", "0-0")):
            with pytest.raises(InputError, match="may count words from 0 or from 1"):
                read_gold(lines(*texts), file="g", lengths=LENGTHS)
    # Words that look like links do not make a table of a line whose last column has none.
    with pytest.raises(InputError, match="may count words from 0 or from 1"):
        read_gold(lines("a 1-2\tb 3-4\tc"), file="g", lengths=LENGTHS)


def test_unknown_forms_and_first_words_are_refused_with_what_is_known() -> None:
    with pytest.raises(InputError, match=r"unknown format of links: 'moses'\. Known: pharaoh, xl-wa, naacl"):
        read_gold(lines("0-0"), file="g", lengths=LENGTHS, format="moses")
    with pytest.raises(InputError, match="the first word is 0 or 1: 2"):
        read_gold(lines("2-2"), file="g", lengths=LENGTHS, base=2)


def test_an_empty_row_has_no_word_to_link() -> None:
    with pytest.raises(InputError, match=r"past the words of its row \(0 and 0\)"):
        read_gold(lines("0-0"), file="g", lengths=[(0, 0)], base=0)


def test_a_bad_link_of_naacl_spoils_the_whole_sentence() -> None:
    gold = read_gold(lines("1 1 1 S", "2 9 1 S", "2 1 1 S"), file="g", lengths=LENGTHS, fail=False)
    assert gold.marked.tolist() == [True, False, False]
    assert cells(gold.possible) == {(0, 0, 0)}


def test_what_gold_says_of_a_row_that_was_left_out_is_passed_over() -> None:
    for out in range(3):
        lengths = [(-1, -1) if row == out else (1, 1) for row in range(3)]
        texts = lines(*("9-9" if row == out else "0-0" for row in range(3)))
        gold = read_gold(texts, file="g", lengths=lengths, base=0)
        assert gold.marked.tolist() == [row != out for row in range(3)]


@given(st.lists(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=6), min_size=1))
def test_what_is_written_is_read(rows: list[set[tuple[int, int, bool]]]) -> None:
    # A link that is both sure and possible is sure.
    texts = [" ".join(f"{s + 1}{'-' if sure else 'p'}{t + 1}" for s, t, sure in row) for row in rows]
    gold = read_gold(lines(*texts), file="g", lengths=[(6, 6)] * len(rows), base=1, format="pharaoh")
    assert cells(gold.sure) == {(r, s, t) for r, row in enumerate(rows) for s, t, sure in row if sure}
    assert cells(gold.possible) == {(r, s, t) for r, row in enumerate(rows) for s, t, _ in row}


def _of(path: Path, lengths: list[tuple[int, int]], base: int | None) -> Gold:
    with open_document(path) as document:
        return read_gold(document.lines(), file=document.name, lengths=lengths, base=base)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["enfr", "zhen"])
def test_real_gold_counts_from_one_and_fits_its_text(shared_data: Path, name: str) -> None:
    folder = shared_data / "wordalign"
    sides = [line.split("|||") for line in (folder / f"{name}.src-tgt").read_text("utf-8").splitlines()]
    lengths = [(len(a.split()), len(b.split())) for a, b in sides]
    gold = _of(folder / f"{name}.gold", lengths, 1)
    assert gold.marked.all()
    assert 0 < len(gold.sure) < len(gold.possible)
    with pytest.raises(InputError, match="past the words"):
        _of(folder / f"{name}.gold", lengths, 0)


@pytest.mark.shared
@pytest.mark.parametrize("code", ["bg", "es", "ru", "sl"])
def test_real_tables_count_from_zero_and_fit_their_text(shared_data: Path, code: str) -> None:
    path = shared_data / "wordalign" / f"xlwa.en-{code}.dev.tsv"
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    gold = _of(path, [(len(row[0].split()), len(row[1].split())) for row in rows], None)
    assert np.array_equal(gold.sure.target, gold.possible.target)
    assert gold.possible.source.min() == gold.possible.target.min() == 0
