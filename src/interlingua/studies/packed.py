"""Many texts in little room: UTF-8, one behind the other, and past a limit in a temporary file."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from interlingua.wordalign.overflow import Overflow

IN_MEMORY = 1 << 28
"""How many bytes of a column stay in memory. A string of Python's takes 50 to 75 bytes more than its characters."""
_WRITTEN_AT_ONCE = 1 << 20
_ROWS_AT_ONCE = 1 << 12


class PackedTexts(Sequence[str]):
    """A list of texts that can grow.

    >>> texts = PackedTexts(["one", "", "две"])
    >>> texts.append("three")
    >>> len(texts), texts[-2], texts[1:], list(texts)
    (4, 'две', ['', 'две', 'three'], ['one', '', 'две', 'three'])
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._ends = array("q", [0])
        self._memory, self._waiting = bytearray(), bytearray()  # what is in the file, or on its way there, comes behind
        self._file = Overflow("the text")
        self._spilt = False
        for text in texts:
            self.append(text)

    def append(self, text: str) -> None:
        """Add a text at the end."""
        data = text.encode("utf-8", "surrogatepass")
        self._ends.append(self._ends[-1] + len(data))
        self._spilt = self._spilt or len(self._memory) + len(data) > IN_MEMORY
        if not self._spilt:
            self._memory += data
            return
        self._waiting += data
        if len(self._waiting) >= _WRITTEN_AT_ONCE:
            self._flush()

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        row = range(len(self))[row]
        return next(self._texts(row, row + 1))

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _ROWS_AT_ONCE):
            yield from self._texts(first, min(first + _ROWS_AT_ONCE, len(self)))

    def _texts(self, first: int, last: int) -> Iterator[str]:
        begin = self._ends[first]
        data = self._bytes(begin, self._ends[last])
        for row in range(first, last):
            yield data[self._ends[row] - begin : self._ends[row + 1] - begin].decode("utf-8", "surrogatepass")

    def _bytes(self, begin: int, end: int) -> bytearray:
        inside = len(self._memory)
        data = self._memory[begin:end]
        if end > inside:
            self._flush()
            behind = bytearray(end - max(begin, inside))
            self._file.read_into(behind, max(begin, inside) - inside)
            data += behind
        return data

    def _flush(self) -> None:
        if self._waiting:
            self._file.append(self._waiting)
            self._waiting = bytearray()
