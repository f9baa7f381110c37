"""Which of several processes this one is, and what the first of them sends to the others: before and without any
training.

`torchrun` and `accelerate launch` start one command several times. All processes then walk the same steps, and only
the first reads and writes the folder: what it finds there reaches the others by `broadcast`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any, Protocol, TypeVar

from interlingua.errors import InputError, InterlinguaError

T = TypeVar("T")
_PATIENCE = timedelta(days=30)
"""How long the others wait: the first may run a step alone. A process that dies ends them all by its launcher."""


class ProcessGroup(Protocol):
    """One process, or several that run one step together."""

    @property
    def is_first(self) -> bool:
        """Whether this process writes and speaks for all."""
        ...

    @property
    def size(self) -> int:
        """The number of processes."""
        ...

    def broadcast(self, make: Callable[[], T]) -> T:
        """In all processes, the value that `make` gives in the first; called nowhere else. JSON types only.

        An error of `make` ends the others, too.
        """
        ...

    def barrier(self) -> None:
        """Return when all processes have come here."""
        ...


class SingleProcess:
    """The group of one."""

    is_first = True
    size = 1

    def barrier(self) -> None:
        pass

    def broadcast(self, make: Callable[[], T]) -> T:
        return make()


class LaunchedProcesses:
    """The processes that a launcher started, which meet at its store (MASTER_ADDR, MASTER_PORT)."""

    def __init__(self, rank: int, size: int, store: Any) -> None:
        self._rank, self.size, self._store = rank, size, store
        self._count = self._barriers = 0

    @property
    def is_first(self) -> bool:
        return self._rank == 0

    def barrier(self) -> None:
        self._barriers += 1
        key = f"interlingua/barrier/{self._barriers}"
        if not self.is_first:
            self._store.set(f"{key}/{self._rank}", "here")
        else:
            for rank in range(1, self.size):
                self._store.get(f"{key}/{rank}")
        self.broadcast(lambda: None)

    def broadcast(self, make: Callable[[], T]) -> T:
        self._count += 1
        key = f"interlingua/broadcast/{self._count}"
        if not self.is_first:
            told = json.loads(self._store.get(key))
            if "error" in told:
                raise InterlinguaError(f"the first process failed: {told['error']}")
            found: T = told["value"]
            return found
        try:
            made = make()
            said = json.dumps({"value": made})
        except BaseException as error:
            self._store.set(key, json.dumps({"error": f"{type(error).__name__}: {error}"}))
            raise
        self._store.set(key, said)
        return made


@cache
def current_group() -> ProcessGroup:
    """The group that this process was started in: by `RANK` and `WORLD_SIZE`, as launchers set them."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return SingleProcess()
    if "MASTER_ADDR" not in os.environ or "MASTER_PORT" not in os.environ:
        raise InputError(
            "WORLD_SIZE is set, but not where the processes meet (MASTER_ADDR, MASTER_PORT)",
            value=size,
            remedy="Start the command with torchrun or accelerate launch, or unset WORLD_SIZE.",
        )
    from torch.distributed import TCPStore  # type: ignore[attr-defined]

    rank = int(os.environ.get("RANK", "0"))
    # Under torchrun its agent holds the store. Other launchers leave that to the first process.
    agent = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == str(True)
    place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    store = TCPStore(*place, None, is_master=rank == 0 and not agent, timeout=_PATIENCE, wait_for_workers=False)
    return LaunchedProcesses(rank, size, store)
