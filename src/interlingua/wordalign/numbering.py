"""Words as numbers: the form in which text is trained on, four bytes a word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.wordalign.bytewise import distinct_words

_ROWS_AT_ONCE = {"words": 1 << 14, "bytes": 1 << 16}
_BY_BYTES = {"cuda"}
"""The devices on which equal words are found by their bytes; on a CPU a dictionary is as fast."""
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
    def of(cls, rows: Iterable[Sequence[str]], *, device: str = "cpu") -> Sentences:
        """The rows as numbers. Reads any iterable once, so that a corpus need not be in memory as strings.

        `device` is where equal words are looked for; it changes nothing else.

        >>> side = Sentences.of([["a", "b"], [], ["b"]])
        >>> side.words, side.ids.tolist(), side.starts.tolist()
        (('b', 'a'), [1, 0, 0], [0, 2, 2, 3])
        """
        known: defaultdict[str, int] = defaultdict(count().__next__)
        ids, lengths = _numbers(rows, known, torch.device(device))
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
    rows: Iterable[Sequence[str]], numbers: defaultdict[str, int], device: torch.device | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    ids, lengths = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    by_bytes = device is not None and device.type in _BY_BYTES
    for some in _batches(rows, _ROWS_AT_ONCE["bytes" if by_bytes else "words"]):
        lengths.append(np.fromiter(map(len, some), np.int64, len(some)))
        found = distinct_words(list(chain.from_iterable(some)), device) if by_bytes and device is not None else None
        if found is None:
            words, count = chain.from_iterable(some), int(lengths[-1].sum())
            ids.append(np.fromiter(map(numbers.__getitem__, words), np.int32, count))
        else:
            ids.append(np.fromiter(map(numbers.__getitem__, found[0]), np.int32, len(found[0]))[found[1]])
    return np.concatenate(ids), np.concatenate(lengths)


def _batches(rows: Iterable[Sequence[str]], size: int) -> Iterator[list[Sequence[str]]]:
    it = iter(rows)
    while some := list(islice(it, size)):
        yield some


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
