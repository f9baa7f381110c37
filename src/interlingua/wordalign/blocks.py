"""Blocks of work on all cores: each thread works alone on its block, so that no result depends on their number."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")
_AHEAD = 4
"""How many results of each thread may wait until they are asked for: all of them would fill the memory."""


class Workers:
    """Threads that work on a list of items; on a GPU there is one, since the device has its own."""

    def __init__(self, pool: ThreadPoolExecutor | None = None, threads: int = 1) -> None:
        self._pool, self._ahead = pool, _AHEAD * threads

    def each(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """What `work` makes of each item, in the order of the items."""
        if self._pool is None:
            yield from map(work, items)
            return
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(self._pool.submit(work, item))
                if len(waiting) >= self._ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def workers(device: torch.device) -> Iterator[Workers]:
    """As many workers as torch uses threads, with one thread of torch's each: it releases the interpreter's lock.

    The caller's thread has one as well until the end: those of many small operations wait for each other.
    """
    threads = torch.get_num_threads()
    if device.type != "cpu" or threads == 1:
        yield Workers()
        return
    try:
        torch.set_num_threads(1)
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield Workers(pool, threads)
    finally:
        torch.set_num_threads(threads)
