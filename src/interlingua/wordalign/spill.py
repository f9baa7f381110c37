"""Lists of numbers and texts that spill to a temporary file when they outgrow memory."""

from __future__ import annotations

import os
import shutil
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from io import FileIO
from threading import Lock
from typing import overload

from interlingua.errors import InputError, InterlinguaError


class SpillFile:
    """A file without a name: nothing is left of it, even after a kill. It is made when first written to.

    >>> file = SpillFile("the example")
    >>> file.append(b"some"), file.append(b"bytes")
    (0, 4)
    >>> buffer = bytearray(5)
    >>> file.read_into(buffer, 4)
    >>> bytes(buffer)
    b'bytes'
    """

    def __init__(self, of: str) -> None:
        self._of, self._lock = of, Lock()
        self._file: FileIO | None = None

    def append(self, data: bytes | bytearray | memoryview) -> int:
        """Write the bytes behind those written before; where they begin."""
        size = len(data)
        with self._lock:
            file = self._opened(size)
            offset = file.seek(0, os.SEEK_END)
            done = 0
            while done < size:
                done += file.write(memoryview(data)[done:])
        return offset

    def read_into(self, buffer: bytearray | memoryview, offset: int) -> None:
        """Fill the buffer with what was written at `offset`."""
        assert self._file is not None
        view, done = memoryview(buffer), 0
        with self._lock:
            self._file.seek(offset)
            while done < len(view):
                got = self._file.readinto(view[done:])
                if not got:
                    raise InterlinguaError(f"the temporary file of {self._of} ends before {offset + len(view)} bytes")
                done += got

    def close(self) -> None:
        """Give the room on the disk back."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self, size: int) -> FileIO:
        folder = tempfile.gettempdir()
        if shutil.disk_usage(folder).free < size:
            raise InputError(
                f"no room for {self._of} on the disk of temporary files",
                file=folder,
                remedy="Set TMPDIR to a folder with more room, or align less text at once.",
            )
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - `close` closes it
        return self._file


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
        self._file = SpillFile("the text")
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
