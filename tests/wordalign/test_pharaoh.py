"""Pharaoh lines: what was written is read, one line for every row."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.readers.documents import open_document
from interlingua.wordalign import links as links_module
from interlingua.wordalign.links import Links, write_pharaoh
from interlingua.wordalign.quality import read_gold

Triples = set[tuple[int, int, int]]


def as_set(links: Links) -> Triples:
    return set(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))


@given(
    triples=st.sets(st.tuples(st.integers(0, 8), st.integers(0, 30), st.integers(0, 30))), base=st.sampled_from([0, 1])
)
def test_what_was_written_is_read(triples: Triples, base: int) -> None:
    links = Links.of(*zip(*triples, strict=True)) if triples else Links.of([], [], [])
    lines = list(write_pharaoh(links, 9, base=base))
    assert len(lines) == 9
    again = read_gold(enumerate(lines, 1), file="a.links", base=base, lengths=[(31, 31)] * 9)
    assert as_set(again.sure) == as_set(again.possible) == triples


def test_many_rows_are_written_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    links = Links.of([0, 0, 2, 4], [0, 1, 5, 0], [1, 0, 5, 0])
    whole = list(write_pharaoh(links, 6))
    monkeypatch.setattr(links_module, "_ROWS_AT_ONCE", 2)
    assert list(write_pharaoh(links, 6)) == whole == ["0-1 1-0", "", "5-5", "", "0-0", ""]


def test_a_compressed_file_is_read_through_a_document(tmp_path: Path) -> None:
    path = tmp_path / "links.gz"
    path.write_bytes(gzip.compress(b"0-0 1-1\n\n2-0\n"))
    with open_document(path) as document:
        found = read_gold(document.lines(), file=document.name, base=0, lengths=[(3, 2)] * 3)
    assert as_set(found.sure) == {(0, 0, 0), (0, 1, 1), (2, 2, 0)}
