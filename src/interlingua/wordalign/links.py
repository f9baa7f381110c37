"""Word links of sentence pairs: as arrays, as Pharaoh's lines, and as pairs of words to train on."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from interlingua.errors import InputError

Ints = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Links:
    """Word links of a bitext: link k joins word `source[k]` and word `target[k]` (0-based) of row `row[k]`.

    Links are sorted by (row, source, target), none twice; `Links.of` makes them so.
    """

    row: Ints
    source: Ints
    target: Ints

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        return f"Links({len(self)} links)"

    @classmethod
    def of(cls, row: ArrayLike, source: ArrayLike, target: ArrayLike) -> Links:
        """Links in order, each once, from three lists of equal length in any order.

        >>> links = Links.of([1, 0, 0, 0], [0, 2, 1, 1], [0, 0, 3, 3])
        >>> links.row.tolist(), links.source.tolist(), links.target.tolist()
        ([0, 0, 1], [1, 2, 0], [3, 0, 0])
        """
        columns = [np.asarray(column, np.int64).reshape(-1) for column in (row, source, target)]
        order = np.lexsort(columns[::-1])
        sorted_columns = [column[order] for column in columns]
        new = np.ones(len(order), bool)
        new[1:] = np.any([np.diff(column) != 0 for column in sorted_columns], axis=0)
        return cls(*(column[new] for column in sorted_columns))

    def turned(self) -> Links:
        """The same links with source and target exchanged."""
        return Links.of(self.row, self.target, self.source)


_ROWS_AT_ONCE = 1 << 16


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


Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class PairFilters:
    """What is dropped, in this order; the defaults are those of papers/001's code.

    `longest` is the most words a side of a sentence may have (None: any). `one_to_one` drops both links of a word that
    has two. `identical` drops pairs of equal strings, which teach nothing. `shortest` is the least characters of a
    word, and `punctuation` drops words without a letter or digit; papers/001 keeps both.
    """

    longest: int | None = 64
    one_to_one: bool = True
    identical: bool = True
    shortest: int = 1
    punctuation: bool = False

    def __post_init__(self) -> None:
        if self.longest is not None and self.longest < 1:
            raise InputError("the longest sentence has no word", value=self.longest, remedy="Give 1 or more, or None.")
        if self.shortest < 1:
            raise InputError("a word has at least one character", value=self.shortest, remedy="Give 1 or more.")


@dataclass(frozen=True)
class DroppedLinks:
    """What a filter dropped: its name, and how many links."""

    name: str
    links: int


@dataclass(frozen=True)
class WordPairs:
    """The links that are left, how many there were, and what each filter dropped, in the order they ran."""

    links: Links
    given: int
    dropped: tuple[DroppedLinks, ...]


def word_pairs(source: Rows, target: Rows, links: Links, filters: PairFilters | None = None) -> WordPairs:
    """Links of a bitext's words after the filters.

    Whether a word has two links is judged on all links of its sentence, before other filters, as in papers/001's code.

    >>> source, target = [["the", "red", "car", "!"]], [["das", "rote", "Auto", "!"]]
    >>> pairs = word_pairs(source, target, Links.of([0] * 5, [0, 1, 1, 2, 3], [0, 0, 1, 2, 3]))
    >>> pairs.links.source.tolist(), [(drop.name, drop.links) for drop in pairs.dropped]
    ([2], [('long sentences', 0), ('not one-to-one', 3), ('identical words', 1)])
    """
    filters = filters or PairFilters()
    known: dict[str, int] = {}
    left, right = _numbers(source, links.row, links.source, known), _numbers(target, links.row, links.target, known)
    words = list(known)
    kept = np.ones(len(links), bool)
    dropped: list[DroppedLinks] = []

    def drop(name: str, bad: NDArray[np.bool_]) -> None:
        dropped.append(DroppedLinks(name, int((kept & bad).sum())))
        np.logical_and(kept, ~bad, out=kept)

    if filters.longest is not None:
        long = [max(len(a), len(b)) > filters.longest for a, b in zip(source, target, strict=True)]
        drop("long sentences", np.array(long, bool)[links.row])
    if filters.one_to_one:
        drop("not one-to-one", _several(links.row, links.source) | _several(links.row, links.target))
    if filters.identical:
        drop("identical words", left == right)
    if filters.shortest > 1:
        short = np.array([len(word) < filters.shortest for word in words], bool)
        drop("short words", short[left] | short[right])
    if filters.punctuation:
        marks = np.array([not any(unicodedata.category(sign)[0] in "LN" for sign in word) for word in words], bool)
        drop("punctuation", marks[left] | marks[right])
    return WordPairs(Links(links.row[kept], links.source[kept], links.target[kept]), len(links), tuple(dropped))


def _numbers(rows: Rows, row: Ints, word: Ints, known: dict[str, int]) -> Ints:
    """A number for the word of each link, the same for equal strings; `known` is added to."""
    chosen = (rows[r][w] for r, w in zip(row.tolist(), word.tolist(), strict=True))
    return np.fromiter((known.setdefault(each, len(known)) for each in chosen), np.int64, len(row))


def _several(row: Ints, word: Ints) -> NDArray[np.bool_]:
    """Whether the word of each link has another link, too."""
    _, where, counts = np.unique(row * (1 + word.max(initial=0)) + word, return_inverse=True, return_counts=True)
    several: NDArray[np.bool_] = counts[where] > 1
    return several
