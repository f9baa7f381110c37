"""Folders that a process is writing: held while it lives, and removed by the next one where it was killed.

A process holds its folder by the system's lock (`flock`), which ends with the process, however it ends. Where the
locks of one machine are not seen by another (some network file systems), the machine's name in the folder's name
shows whose lock can be trusted; what is of another machine must have been silent for a day, too.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

if sys.platform != "win32":  # There, only silence tells.
    import fcntl

_SILENT = 24 * 3600.0
_OURS = re.compile(r"\.[0-9a-f]{12}-(?:[0-9a-f]{8}-)?[a-z0-9_]{8}")
"""The names that are given here, and were before they had a machine's name in them: no other folder is touched."""


class PartialFolder:
    """A new hidden folder in `folder`, held until it is let go."""

    def __init__(self, folder: Path, name: str) -> None:
        while True:
            self.place = Path(tempfile.mkdtemp(prefix=f".{name}-{_machine()}-", dir=folder))
            # Between making and holding it another process may take it for a dead one's.
            with suppress(BlockingIOError, FileNotFoundError):
                self._held = _lock(self.place)
                if self.place.is_dir():
                    return
                self.let_go()

    def let_go(self) -> None:
        """Hold it no longer; it may have been renamed, or removed."""
        if self._held is not None:
            os.close(self._held)
            self._held = None


def sweep(folder: Path) -> None:
    """Remove the folders of processes that were killed while they wrote; a living one's is left alone."""
    for place in folder.iterdir():
        if _OURS.fullmatch(place.name) is None:  # A user may name any folder as the cache.
            continue
        with suppress(OSError):  # Gone meanwhile, or not ours to open.
            if place.is_dir() and (_machine() in place.name.split("-")[1:-1] or _silence(place) > _SILENT):
                _remove_if_free(place)


def _remove_if_free(place: Path) -> None:
    try:
        held = _lock(place)
    except BlockingIOError:
        return
    if held is None and _silence(place) <= _SILENT:  # No locks here.
        return
    shutil.rmtree(place, ignore_errors=True)
    if held is not None:
        os.close(held)


def _lock(place: Path) -> int | None:
    """The lock on a folder, to be closed; None where there is no such thing, and `BlockingIOError` where it is held."""
    if sys.platform == "win32":
        return None
    opened = os.open(place, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        raise
    except OSError:  # A file system without locks on folders.
        os.close(opened)
        return None
    return opened


def _silence(place: Path) -> float:
    """Seconds since anything in a folder was written."""
    return time.time() - max(each.stat().st_mtime for each in (place, *place.iterdir()))


@cache
def _machine() -> str:
    """This machine since it was started, whatever container asks: eight signs."""
    try:
        own = Path("/proc/sys/kernel/random/boot_id").read_text("utf-8")
    except OSError:
        own = socket.gethostname()
    return hashlib.blake2b(own.encode(), digest_size=4).hexdigest()
