"""Rows drawn from a product that is never built: a seeded permutation of a huge range, one number at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
ROUNDS = 8
"""Of the Feistel network: 4 make a pseudo-random permutation (Luby & Rackoff 1988); small ranges like a few more."""


class Permutation:
    """A pseudo-random order of range(size), in constant memory: number i of it in a few hashes.

    A Feistel network over the smallest even number of bits that holds the range, with BLAKE2b as its round function;
    numbers past the range are sent through again until they fall inside (cycle walking, Black & Rogaway 2002). The
    same size and seed give the same order on every machine, and a longer draw begins with a shorter one.

    >>> order = Permutation(10**12, "a seed")
    >>> len({order[i] for i in range(1000)}), sorted(Permutation(5, "x")) == [0, 1, 2, 3, 4]
    (1000, True)
    """

    def __init__(self, size: int, seed: str) -> None:
        self.size = size
        self._half = max(1, (max(size - 1, 1).bit_length() + 1) // 2)
        self._mask = (1 << self._half) - 1
        self._key = hashlib.blake2b(seed.encode(), digest_size=32).digest()

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, number: int) -> int:
        if not 0 <= number < self.size:
            raise IndexError(number)
        number = self._turned(number)
        while number >= self.size:
            number = self._turned(number)
        return number

    def __iter__(self) -> Iterator[int]:
        return (self[number] for number in range(self.size))

    def _turned(self, number: int) -> int:
        left, right = number >> self._half, number & self._mask
        for turn in range(ROUNDS):
            data = right.to_bytes(16, "little")
            mixed = hashlib.blake2b(data, digest_size=8, key=self._key, salt=turn.to_bytes(16, "little")).digest()
            left, right = right, left ^ (int.from_bytes(mixed, "little") & self._mask)
        return (left << self._half) | right


def shuffle_seeded(items: Sequence[T], seed: str) -> list[T]:
    """The items in a seeded order that no version of a library changes.

    >>> sorted(shuffle_seeded("abc", "x")), shuffle_seeded("abc", "x") == shuffle_seeded("abc", "x")
    (['a', 'b', 'c'], True)
    """
    return [items[number] for number in Permutation(len(items), seed)]


def apportion(count: int, weights: Sequence[float]) -> list[int]:
    """`count` split into whole parts by weight, the largest remainders rounded up; the parts sum to `count`.

    >>> apportion(10, [1, 1, 1]), apportion(8534, [6082, 1580, 872])
    ([4, 3, 3], [6082, 1580, 872])
    """
    total = sum(weights)
    exact = [count * weight / total for weight in weights]
    parts = [int(part) for part in exact]
    order = sorted(range(len(exact)), key=lambda place: (parts[place] - exact[place], place))
    for place in order[: count - sum(parts)]:
        parts[place] += 1
    return parts
