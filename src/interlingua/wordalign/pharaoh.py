"""Pharaoh lines: one for each row, its links as `source-target` separated by spaces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from interlingua.errors import InputError
from interlingua.wordalign.links import Links

_ROWS_AT_ONCE = 1 << 16
_LINK = re.compile(r"(\d{1,9})-(\d{1,9})")


@dataclass(frozen=True)
class LinkLines:
    """What a Pharaoh file holds: the links, and the number of its lines, which are rows."""

    links: Links
    rows: int


def read_pharaoh(
    lines: Iterable[tuple[int, str]],
    *,
    file: str,
    base: int = 0,
    lengths: Sequence[tuple[int, int]] | None = None,
) -> LinkLines:
    """The links of numbered lines, those of an opened `Document`; words are counted from `base` in the file.

    `lengths`, where given, are the numbers of source and target words of each row: a link past them is an error
    with file and line, and so is a file with more lines or fewer.

    >>> read_pharaoh([(1, "0-0 2-1"), (2, "")], file="a.links").rows
    2
    """
    rows, sources, targets, count = [], [], [], 0
    for line, text in lines:
        for word in text.split():
            link = _LINK.fullmatch(word)
            if link is None:
                remedy = "Write links as source-target, such as 0-0 1-2."
                raise InputError("not a link", file=file, line=line, value=word, remedy=remedy)
            pair = int(link[1]) - base, int(link[2]) - base
            if min(pair) < 0 or (lengths is not None and count < len(lengths) and not _inside(pair, lengths[count])):
                raise InputError(
                    _outside(base, lengths, count), file=file, line=line, value=word,
                    remedy="Check that the file belongs to this text, and whether it counts words from 0 or from 1.",
                )  # fmt: skip
            rows.append(count)
            sources.append(pair[0])
            targets.append(pair[1])
        count += 1
    if lengths is not None and count != len(lengths):
        raise InputError(
            f"{count} lines of links for {len(lengths)} rows of text",
            file=file,
            line=min(count, len(lengths)) + 1,
            remedy="Give one line for each row, an empty one for a row without links.",
        )
    return LinkLines(Links.of(rows, sources, targets), count)


def write_pharaoh(links: Links, rows: int, *, base: int = 0) -> Iterator[str]:
    """One line for each row, without a line end; an empty one for a row without links.

    >>> list(write_pharaoh(Links.of([0, 2], [1, 0], [0, 0]), 3, base=1))
    ['2-1', '', '1-1']
    """
    for first in range(0, rows, _ROWS_AT_ONCE):
        last = min(first + _ROWS_AT_ONCE, rows)
        bounds = np.searchsorted(links.row, np.arange(first, last + 1))
        here = slice(bounds[0], bounds[-1])
        numbers = (links.source[here] + base).tolist(), (links.target[here] + base).tolist()
        pairs = [f"{source}-{target}" for source, target in zip(*numbers, strict=True)]
        ends = (bounds - bounds[0]).tolist()
        for begin, end in pairwise(ends):
            yield " ".join(pairs[begin:end])


def _inside(pair: tuple[int, int], lengths: tuple[int, int]) -> bool:
    return pair[0] < lengths[0] and pair[1] < lengths[1]


def _outside(base: int, lengths: Sequence[tuple[int, int]] | None, row: int) -> str:
    if lengths is None or row >= len(lengths):
        return f"a link below {base}, where words are counted from {base}"
    n, m = lengths[row]
    return f"a link outside the row's {n} source and {m} target words, counted from {base}"
