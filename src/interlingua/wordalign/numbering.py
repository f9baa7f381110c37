"""Words as numbers: the form in which text is trained on, four bytes a word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice

import numpy as np
from numpy.typing import NDArray

_ROWS_AT_ONCE = 1 << 14
_WORDS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Sentences:
    """One side of a bitext: row r has the words `words[k] for k in ids[starts[r] : starts[r + 1]]`.

    Words are numbered from the most frequent one; equally frequent ones in the order in which they first occur.
    """

    words: tuple[str, ...]
    ids: NDArray[np.int32]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words of each row."""
        return np.diff(self.starts)

    @classmethod
    def of(cls, rows: Iterable[Sequence[str]]) -> Sentences:
        """The rows as numbers. Reads any iterable once, so that a corpus need not be in memory as strings.

        >>> side = Sentences.of([["a", "b"], [], ["b"]])
        >>> side.words, side.ids.tolist(), side.starts.tolist()
        (('b', 'a'), [1, 0, 0], [0, 2, 2, 3])
        """
        known: defaultdict[str, int] = defaultdict(count().__next__)
        ids, lengths = _numbers(rows, known)
        parts = [ids[begin : begin + _WORDS_AT_ONCE] for begin in range(0, len(ids), _WORDS_AT_ONCE)]
        seen = np.zeros(len(known), np.int64)
        for part in parts:
            seen += np.bincount(part, minlength=len(known))
        order = np.argsort(-seen, kind="stable")
        rank = np.empty(len(known), np.int32)
        rank[order] = np.arange(len(known), dtype=np.int32)
        for part in parts:
            part[:] = rank[part]
        words = list(known)
        return cls(tuple(words[k] for k in order), ids, _starts(lengths))

    @classmethod
    def known(cls, rows: Iterable[Sequence[str]], words: Sequence[str]) -> Sentences:
        """The rows in the numbers of a given vocabulary; a word that is not in it gets the number past its end.

        >>> Sentences.known([["b", "c"]], ["a", "b"]).ids.tolist()
        [1, 2]
        """
        numbers = defaultdict(lambda: len(words), {word: number for number, word in enumerate(words)})
        ids, lengths = _numbers(rows, numbers)
        return cls(tuple(words), ids, _starts(lengths))


def _numbers(
    rows: Iterable[Sequence[str]], numbers: defaultdict[str, int]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    ids, lengths = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for some in _batches(rows):
        lengths.append(np.fromiter(map(len, some), np.int64, len(some)))
        ids.append(np.fromiter(map(numbers.__getitem__, chain.from_iterable(some)), np.int32, int(lengths[-1].sum())))
    return np.concatenate(ids), np.concatenate(lengths)


def _batches(rows: Iterable[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    it = iter(rows)
    while some := list(islice(it, _ROWS_AT_ONCE)):
        yield some


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
