"""Pharaoh lines: what was written is read, and every bad line is named."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import InputError
from interlingua.readers.documents import opened
from interlingua.wordalign import pharaoh
from interlingua.wordalign.links import Links
from interlingua.wordalign.pharaoh import read_pharaoh, write_pharaoh

Triples = set[tuple[int, int, int]]


def as_set(links: Links) -> Triples:
    return set(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))


def read(text: str, base: int = 0, lengths: list[tuple[int, int]] | None = None) -> Triples:
    lines = enumerate(text.splitlines(), 1)
    return as_set(read_pharaoh(lines, file="a.links", base=base, lengths=lengths).links)


@given(
    triples=st.sets(st.tuples(st.integers(0, 8), st.integers(0, 30), st.integers(0, 30))), base=st.sampled_from([0, 1])
)
def test_what_was_written_is_read(triples: Triples, base: int) -> None:
    links = Links.of(*zip(*triples, strict=True)) if triples else Links.of([], [], [])
    lines = list(write_pharaoh(links, 9, base=base))
    assert len(lines) == 9
    again = read_pharaoh(enumerate(lines, 1), file="a.links", base=base, lengths=[(31, 31)] * 9)
    assert as_set(again.links) == triples
    assert again.rows == 9


def test_many_rows_are_written_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    links = Links.of([0, 0, 2, 4], [0, 1, 5, 0], [1, 0, 5, 0])
    whole = list(write_pharaoh(links, 6))
    monkeypatch.setattr(pharaoh, "_ROWS_AT_ONCE", 2)
    assert list(write_pharaoh(links, 6)) == whole == ["0-1 1-0", "", "5-5", "", "0-0", ""]


def test_a_compressed_file_is_read_through_a_document(tmp_path: Path) -> None:
    path = tmp_path / "links.gz"
    path.write_bytes(gzip.compress(b"0-0 1-1\n\n2-0\n"))
    with opened(path) as document:
        found = read_pharaoh(document.lines(), file=document.name)
    assert as_set(found.links) == {(0, 0, 0), (0, 1, 1), (2, 2, 0)}
    assert found.rows == 3


@pytest.mark.parametrize(
    ("text", "base", "line", "problem"),
    [
        ("0-0\n0_1", 0, 2, "not a link"),
        ("0-0 1-", 0, 1, "not a link"),
        ("0-0\n-1-0", 0, 2, "not a link"),
        ("0-0\n0p0", 0, 2, "not a link"),
        ("1-1\n0-1", 1, 2, "below 1"),
        ("0-0\n\n0-0 3-1", 0, 3, "outside the row's 3 source and 3 target words"),
        ("0-0\n1-3", 0, 2, "outside the row's 3 source and 3 target words"),
    ],
)
def test_a_bad_link_is_named_with_file_and_line(text: str, base: int, line: int, problem: str) -> None:
    with pytest.raises(InputError) as error:
        read(text, base, [(3, 3)] * 3 if "outside" in problem else None)
    assert problem in str(error.value)
    assert str(error.value).startswith(f"a.links:{line}: ")


@pytest.mark.parametrize(("rows", "line"), [(2, 3), (4, 4)])
def test_more_lines_or_fewer_than_rows_are_an_error(rows: int, line: int) -> None:
    with pytest.raises(InputError, match=f"3 lines of links for {rows} rows") as error:
        read("0-0\n\n0-0", lengths=[(1, 1)] * rows)
    assert error.value.line == line
