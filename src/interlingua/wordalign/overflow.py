"""A temporary file for what memory shall not hold: bytes are put behind each other and read back from anywhere."""

from __future__ import annotations

import os
import shutil
import tempfile
from io import FileIO
from threading import Lock

from interlingua.errors import InputError, InterlinguaError


class Overflow:
    """A file without a name: nothing is left of it, even after a kill. It is made when first written to.

    >>> file = Overflow("the example")
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
