"""Answers given before, as bytes: the last ones, within a fixed room."""

from __future__ import annotations

import threading
from collections import OrderedDict

ROOM = 4 << 20


class AnswerCache:
    """The answers used last, `room` bytes of them at most, and of what was asked: that may be the longer of the two.

    >>> kept = AnswerCache(room=12)
    >>> kept.put("a", b"12345"); kept.put("b", b"12345"); kept.get("a")
    b'12345'
    >>> kept.put("c", b"123"); kept.get("b"), kept.get("a")
    (None, b'12345')
    """

    def __init__(self, *, room: int = ROOM) -> None:
        self._room, self._size = room, 0
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, bytes] = OrderedDict()

    def get(self, key: str) -> bytes | None:
        """The answer, which is then the last used, or None."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def put(self, key: str, answer: bytes) -> None:
        """Keep an answer; those used longest ago make room."""
        with self._lock:
            if key in self._answers:
                self._size -= len(key) + len(self._answers.pop(key))
            self._answers[key] = answer
            self._size += len(key) + len(answer)
            while self._size > self._room:
                asked, dropped = self._answers.popitem(last=False)
                self._size -= len(asked) + len(dropped)
