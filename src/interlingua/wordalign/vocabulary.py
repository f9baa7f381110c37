"""Sentences as numbers: distinct words of a text, found by hashing bytes, in the order they first appear."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice

import numpy as np
import torch
from numpy.typing import NDArray

_FACTORS = (1, -7046029254386353131, -4417276706812531889)
"""What keys are multiplied by in each round: odd 64-bit numbers, as signed integers."""


def distinct(keys: torch.Tensor, bound: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The distinct keys (in no order) and for each key its place among them; keys are in [0, bound).

    Half of the time it takes to build an index is spent here, and a sort would take three times as long.
    Where the range is not much larger than the number of keys, every value has a cell of its own.

    >>> values, place = distinct(torch.tensor([7, 3, 7, 900]), 1000)
    >>> sorted(values.tolist()), values[place].tolist()
    ([3, 7, 900], [7, 3, 7, 900])
    """
    if bound <= max(3 * len(keys), 1 << 14):
        seen = torch.zeros(bound, dtype=torch.bool, device=keys.device).index_fill_(0, keys, True)
        return places_of(seen), seen.cumsum(0, dtype=torch.int32).sub_(1).index_select(0, keys)
    return _by_hashing(keys)


def _by_hashing(keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Every key writes its place into a cell chosen by hashing and reads the cell back.

    Equal keys read the same place, that of their leader. Where the cell holds the place of another key, the key
    goes to a next round with another hash function; all its occurrences do. What three rounds leave is sorted.
    """
    own = torch.arange(len(keys), dtype=torch.int32, device=keys.device)
    leader = torch.empty_like(own)
    bits = max(10, (4 * len(keys) - 1).bit_length())
    cells = torch.empty(1 << bits, dtype=torch.int32, device=keys.device)
    left: torch.Tensor | None = None  # None: all of them
    for number, factor in enumerate(_FACTORS):
        some = keys if left is None else keys.index_select(0, left)
        at = (some * factor >> 64 - bits if number else some) & (1 << bits) - 1
        cells.scatter_(0, at, own if left is None else left.int())
        won = cells.index_select(0, at)
        leader = won if left is None else leader.index_copy_(0, left, won)
        lost = places_of(keys.index_select(0, won) != some)
        left = lost if left is None else left.index_select(0, lost)
        if not len(left):
            break
    assert left is not None
    return _numbered(keys, own, leader, left)


def _numbered(
    keys: torch.Tensor, own: torch.Tensor, leader: torch.Tensor, left: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Leaders numbered in order; keys that have none are sorted and come last."""
    leaders = places_of(leader == own)
    place = torch.empty_like(own).scatter_(0, leaders, own[: len(leaders)]).index_select(0, leader)
    values = keys.index_select(0, leaders)
    if len(left):
        rest, where = torch.unique(keys.index_select(0, left), return_inverse=True)
        place[left] = (where + len(values)).int()
        values = torch.cat([values, rest])
    return values, place


def places_of(true: torch.Tensor) -> torch.Tensor:
    """Where a vector is true; NumPy finds it four times as fast as torch."""
    if true.device.type == "cpu":
        return torch.from_numpy(np.flatnonzero(true.numpy()))
    return true.nonzero().view(-1)


_BASIS, _PRIME = -3750763034362895579, 1099511628211
"""FNV-1a (Fowler, Noll & Vo), 64 bits, as signed numbers."""
_EVERY = 8
"""Up to which byte all words are looked at, the shorter ones in vain; from there on the longer ones alone."""


def distinct_words(words: list[str], device: torch.device) -> tuple[list[str], NDArray[np.int32]] | None:
    """The distinct words in the order in which they first occur, and for each word its place among them.

    None where a word holds a line break, which stands between words here. Two words are taken for one where 63 bits
    of their hashes are equal: of 100,000 distinct words some are with a probability of 5e-10.

    >>> found = distinct_words(["b", "a", "", "b"], torch.device("cpu"))
    >>> found[0], found[1].tolist()
    (['b', 'a', ''], [0, 1, 2, 0])
    """
    if not words:
        return [], np.zeros(0, np.int32)
    text = bytearray("\n".join(words).encode("utf-8", "surrogatepass"))
    data = torch.frombuffer(text, dtype=torch.uint8).to(device) if text else torch.zeros(0, dtype=torch.uint8)
    breaks = (data == ord("\n")).nonzero().view(-1)
    if len(breaks) != len(words) - 1:
        return None
    begins = torch.cat([breaks.new_zeros(1), breaks + 1])
    ends = torch.cat([breaks, breaks.new_full((1,), len(text))])
    values, place = distinct(_hashes(data, begins, ends - begins), 1 << 63)
    own = torch.arange(len(words), device=place.device)
    first = own.new_full((len(values),), len(words)).scatter_reduce_(0, place.long(), own, "amin")
    first, order = torch.sort(first)
    rank = torch.empty_like(order).scatter_(0, order, own[: len(order)])
    bounds = zip(begins.index_select(0, first).tolist(), ends.index_select(0, first).tolist(), strict=True)
    found = [text[begin:end].decode("utf-8", "surrogatepass") for begin, end in bounds]
    return found, rank.index_select(0, place).int().cpu().numpy()


def _hashes(data: torch.Tensor, begins: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """63 bits of the hash of each word."""
    hashes = torch.full_like(begins, _BASIS)
    longest = int(lengths.max())
    for at in range(min(longest, _EVERY)):
        byte = data.index_select(0, (begins + at).clamp_max_(len(data) - 1))
        hashes = torch.where(lengths > at, (hashes ^ byte).mul_(_PRIME), hashes)
    long = (lengths > _EVERY).nonzero().view(-1)
    for at in range(_EVERY, longest):
        long = long[lengths.index_select(0, long) > at]
        byte = data.index_select(0, begins.index_select(0, long) + at)
        hashes[long] = (hashes.index_select(0, long) ^ byte).mul_(_PRIME)
    return hashes & (1 << 63) - 1


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
