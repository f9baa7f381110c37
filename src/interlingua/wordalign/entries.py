"""Room for the one large thing of an alignment: the pair number of every co-occurrence, four bytes each.

What does not fit into the budget goes to a temporary file, which is read once in every pass, in order.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from threading import Lock
from typing import IO

import numpy as np
import torch

from interlingua.errors import InputError


@dataclass(frozen=True)
class Kept:
    """Where one array is: in memory, or `count` numbers at `offset` of the file."""

    memory: torch.Tensor | None
    offset: int = 0
    count: int = 0


@dataclass
class EntryStore:
    """Arrays of 32-bit integers, the first `budget` bytes of them in the memory of the device."""

    budget: int
    device: torch.device
    _used: int = 0
    _file: IO[bytes] | None = None
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def on(cls, device: torch.device, budget: int | None = None) -> EntryStore:
        """A store with this budget; by default 1 GiB, or half of what is free on a GPU."""
        if budget is None:
            budget = 1 << 30 if device.type == "cpu" else torch.cuda.mem_get_info(device)[0] // 2
        return cls(budget, device)

    def keep(self, entries: torch.Tensor) -> Kept:
        """Keep an array; `get` gives it back."""
        data = entries.numel() * 4
        with self._lock:
            if self._used + data <= self.budget:
                self._used += data
                return Kept(entries)
            file = self._opened(data)
            offset = file.seek(0, os.SEEK_END)
            file.write(entries.cpu().numpy().tobytes())
        return Kept(None, offset, entries.numel())

    def get(self, kept: Kept) -> torch.Tensor:
        """An array that was kept, on the device."""
        if kept.memory is not None:
            return kept.memory
        assert self._file is not None
        with self._lock:
            self._file.seek(kept.offset)
            data = np.fromfile(self._file, np.int32, kept.count)
        return torch.from_numpy(data).to(self.device)

    def close(self) -> None:
        """Give the file back. It has no name: nothing is left of it even after a kill."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self, size: int) -> IO[bytes]:
        folder = tempfile.gettempdir()
        if shutil.disk_usage(folder).free < size:
            raise InputError(
                "no room for the co-occurrences of this text on the disk of temporary files",
                file=folder,
                remedy="Set TMPDIR to a folder with more room, or align less text at once.",
            )
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - `close` closes it
        return self._file
