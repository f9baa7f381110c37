"""Who is at a step: locks that two runs on one or several machines respect, and that a dead owner does not keep.

A process has one file that says who it is. To lock a step is to give that file a second name (`link`), which fails
where the name is taken: one system call, atomic, on network file systems too, and never half-written. All locks of a
process are one inode, so that one touch of it is the heartbeat of all.

What a lock protects is work done twice and the state of a step; no result depends on it, because each attempt writes
into a folder of its own, and only the first one is renamed into place.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from interlingua.engine.atomic_files import write_atomically
from interlingua.errors import InputError
from interlingua.paths import read_json

BEAT = 15.0
STALE = 180.0  # seconds; network file systems may show a touch a minute late
_PREFIX = ".owner."


@dataclass(frozen=True)
class Holder:
    """Who has a lock: a process by machine, number, and when it started, because numbers are used again."""

    token: str
    host: str
    pid: int
    started: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host.partition(' ')[0]}"

    def is_dead(self, lock: Path) -> bool:
        """Whether it can't be at work any more: gone from this machine, or silent for long on another."""
        if self.host == _host():
            return _started(self.pid) != self.started
        try:
            return _now(lock.parent) - lock.stat().st_mtime > STALE
        except FileNotFoundError:
            return False


@dataclass
class Owner:
    """This process as one that takes locks in a folder; `owner` makes it, once."""

    folder: Path
    token: str = field(default_factory=lambda: secrets.token_hex(4))

    def __post_init__(self) -> None:
        self._file = self.folder / f"{_PREFIX}{self.token}"
        told = {"token": self.token, "host": _host(), "pid": os.getpid(), "started": _started(os.getpid())}
        write_atomically(self._file, lambda file: file.write(json.dumps(told).encode()))
        self._inode = os.stat(self._file).st_ino
        self._left = threading.Event()
        threading.Thread(target=self._beat, name="heartbeat", daemon=True).start()

    def take(self, lock: Path) -> bool:
        """Whether the lock is ours now; False where a living process has it."""
        for _ in range(3):  # A lock may be let go, or a claim on it left, while we look.
            if self._link(lock):
                return True
            held = holder(lock)
            if held is None:
                continue
            if held.token == self.token:
                return True  # A network file system may say no to what it did.
            if not held.is_dead(lock):
                return False
            if self._take_over(lock, held):
                return True
        return False

    def release(self, lock: Path) -> None:
        """Let a lock go; one that was taken from us meanwhile stays with who has it."""
        with suppress(FileNotFoundError):
            if os.stat(lock).st_ino == self._inode:
                os.unlink(lock)

    def is_here(self) -> bool:
        """Whether the file that says who this is lies where it was made."""
        return self._file.exists()

    def leave(self) -> None:
        """End the heartbeat, and take no more locks."""
        self._left.set()
        self._file.unlink(missing_ok=True)

    def _link(self, place: Path) -> bool:
        try:
            os.link(self._file, place)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
                raise InputError(
                    "this file system has no hard links, which locks are made of",
                    file=self.folder,
                    remedy="Name a folder on another one with --out DIR.",
                ) from error
            raise
        return True

    def _take_over(self, lock: Path, dead: Holder) -> bool:
        """Take a dead owner's lock: of all who try, one may claim that very owner's, and renames the claim to it."""
        claim = lock.with_name(f"{lock.name}.{dead.token}")
        if not self._link(claim):
            claimed = holder(claim)
            if claimed is not None and claimed.is_dead(claim):
                claim.unlink(missing_ok=True)
            return False
        held = holder(lock)
        if held is not None and held.token != dead.token:
            claim.unlink(missing_ok=True)  # It was taken over before we claimed it.
            return False
        os.rename(claim, lock)
        return True

    def _beat(self) -> None:
        while not self._left.wait(BEAT):
            try:
                os.utime(self._file)
            except OSError:
                return


_owners: dict[tuple[Path, int], Owner] = {}


def owner(folder: Path) -> Owner:
    """This process as an owner of locks in a folder, the same one until `release_locks`."""
    found = _owners.get((folder, os.getpid()))
    if found is None or not found.is_here():  # The folder was removed, and made again, while this process went on.
        found = _owners[folder, os.getpid()] = Owner(folder)
    return found


def release_locks(folder: Path) -> None:
    """Take no more locks in a folder, and leave nothing there that says who this process is."""
    found = _owners.pop((folder, os.getpid()), None)
    if found is not None:
        found.leave()


def holder(lock: Path) -> Holder | None:
    """Who has a lock, None where nobody has."""
    try:
        return Holder(**read_json(lock))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):  # A power cut took its text: nobody's, and let go when it is old.
        return Holder("", "", 0, "")
    except OSError as error:
        if error.errno == errno.ESTALE:  # a network file system's word for: removed while we read
            return None
        raise


def living_tokens(folder: Path) -> set[str]:
    """The tokens of owners that are at work; the files of those that are not any more are removed."""
    found = set()
    for file in folder.glob(f"{_PREFIX}*"):
        held = holder(file)
        if held is None:
            continue
        if held.is_dead(file):
            file.unlink(missing_ok=True)
        else:
            found.add(held.token)
    return found


@cache
def _host() -> str:
    """This machine since it was started, and its numbering of processes: containers have their own."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text("utf-8").strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)


def _started(pid: int) -> str:
    """When a process of this machine started, in ticks; "" where there is none, or it is a zombie."""
    try:
        # The name of the program, in parentheses, may hold spaces and parentheses.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    except (OSError, IndexError):
        return _started_without_proc(pid)


def _started_without_proc(pid: int) -> str:
    if Path("/proc/self").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "alive"


def _now(folder: Path) -> float:
    """The time by the file system's clock: those of two machines may differ."""
    probe = folder / f".now.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        probe.touch()
        return probe.stat().st_mtime
    except OSError:
        return time.time()
    finally:
        probe.unlink(missing_ok=True)
