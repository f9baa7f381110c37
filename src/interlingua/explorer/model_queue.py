"""Turns at the model: one at a time, in the order of asking, with a limit on how many wait and for how long."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from interlingua.errors import InterlinguaError


class Busy(InterlinguaError):
    """The model has no turn to give: too many wait, it took too long, or the server is stopping."""


class _QueuePlace:
    """A place in the queue: called when its wait is over, granted if that is because the turn has come."""

    def __init__(self) -> None:
        self.called, self.granted = threading.Event(), False


class ModelQueue:
    """A queue in front of something that only one can use.

    `waiting` is how many may stand in it, `patience` how many seconds each waits.

    >>> turns = ModelQueue(waiting=0)
    >>> with turns.one():
    ...     try:
    ...         with turns.one(): pass
    ...     except Busy as error: print(error)
    The model is busy: 0 others wait already. Try again in a moment.
    """

    def __init__(self, *, waiting: int = 64, patience: float = 30.0) -> None:
        self.waiting, self.patience = waiting, patience
        self._lock = threading.Lock()
        self._queue: deque[_QueuePlace] = deque()
        self._taken = self._closed = False

    @contextmanager
    def one(self) -> Iterator[float]:
        """Within the block the turn is ours; the seconds waited for it. Raises `Busy` where there is none."""
        begun = time.monotonic()
        place = self._stand()
        if place is not None:
            if not place.called.wait(self.patience):
                self._leave(place)
            if not place.granted:
                raise Busy("The server is stopping.")
        try:
            yield time.monotonic() - begun
        finally:
            self._pass_on()

    def close(self, *, seconds: float) -> bool:
        """Send away all that wait and let nobody in; whether whoever had the turn was done within that many seconds."""
        with self._lock:
            self._closed = True
            while self._queue:
                self._queue.popleft().called.set()
        end = time.monotonic() + seconds
        while self._taken and time.monotonic() < end:
            time.sleep(0.01)
        return not self._taken

    def _stand(self) -> _QueuePlace | None:
        """Our place in the queue, or None where the turn is ours at once."""
        with self._lock:
            if self._closed:
                raise Busy("The server is stopping.")
            if not self._taken:
                self._taken = True
                return None
            if len(self._queue) >= self.waiting:
                raise Busy(f"The model is busy: {self.waiting} others wait already. Try again in a moment.")
            place = _QueuePlace()
            self._queue.append(place)
            return place

    def _leave(self, place: _QueuePlace) -> None:
        """Give up waiting, unless the wait ended in this very moment."""
        with self._lock:
            if place.called.is_set():
                return
            self._queue.remove(place)
        raise Busy(f"The model is busy: no turn within {self.patience:g} s. Try again in a moment.")

    def _pass_on(self) -> None:
        with self._lock:
            if self._queue:
                place = self._queue.popleft()
                place.granted = True
                place.called.set()
            else:
                self._taken = False
