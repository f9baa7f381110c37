"""Room for the large things of an alignment: what is known of every co-occurrence and of every pair of words.

What does not fit into the budget goes to a temporary file, which is read once in every pass, in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

import numpy as np
import torch

from interlingua.wordalign.overflow import Overflow


@dataclass(frozen=True, slots=True)
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
    _file: Overflow = field(default_factory=lambda: Overflow("the co-occurrences of this text"))
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def on(cls, device: torch.device, budget: int | None = None) -> EntryStore:
        """A store with this budget; by default 1 GiB, or half of what is free on a GPU."""
        if budget is None:
            budget = 1 << 30 if device.type == "cpu" else torch.cuda.mem_get_info(device)[0] // 2
        return cls(budget, device)

    def keep(self, *parts: torch.Tensor) -> Kept:
        """Keep arrays, one behind the other; `get` gives them back as one."""
        data = sum(part.numel() for part in parts) * 4
        with self._lock:
            fits = self._used + data <= self.budget
            self._used += data * fits
        whole = parts[0] if len(parts) == 1 else torch.cat(parts)
        if fits:
            return Kept(whole)
        return Kept(None, self._file.append(whole.cpu().numpy().data.cast("B")), whole.numel())

    def get(self, kept: Kept) -> torch.Tensor:
        """What was kept, on the device."""
        if kept.memory is not None:
            return kept.memory
        data = np.empty(kept.count, np.int32)
        self._file.read_into(data.data.cast("B"), kept.offset)
        return torch.from_numpy(data).to(self.device)

    def close(self) -> None:
        """Give the file back."""
        self._file.close()
