"""Files that are there whole or not at all: written under a hidden name beside, then renamed into place.

What a killed process leaves under such a name is removed by the next one that writes into the same folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

_NAMES = re.compile(r"\..+\.([0-9a-f]{8})\.(\d+)")
_swept: set[Path] = set()  # A look at the whole folder for each of its files would take long where there are many.


def hidden_name(path: Path, *, of: str = "") -> Path:
    """The name beside `path` under which this process writes it; `of` tells two such names apart."""
    if path.parent not in _swept:
        sweep(path.parent)
    return path.with_name(f".{path.name}{of and f'.{of}'}.{_machine()}.{os.getpid()}")


def write_beside(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under a hidden name and rename it into place, so that no reader sees half of it."""
    beside = hidden_name(path)
    try:
        with beside.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def swap_in(beside: Path, folder: Path) -> None:
    """Give a new folder its name; an old one of that name goes when the new one is there, and stays where it is not."""
    before = hidden_name(folder, of="before")
    if folder.exists():
        os.rename(folder, before)
    try:
        os.rename(beside, folder)
    except BaseException:
        if before.exists():
            os.rename(before, folder)
        raise
    shutil.rmtree(before, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove what dead processes left half-written in a folder; a living one's is its own."""
    _swept.add(folder)
    with suppress(FileNotFoundError, NotADirectoryError):
        for entry in list(os.scandir(folder)):
            found = _NAMES.fullmatch(entry.name)
            if found is None or found[1] != _machine() or _is_alive(int(found[2])):
                continue
            with suppress(OSError):
                shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)


def open_to_umask(folder: Path) -> None:
    """Give the weights in a folder the mode that any new file has: safetensors makes files for their owner alone."""
    umask = os.umask(0o077)
    os.umask(umask)
    for file in folder.glob("*.safetensors"):
        file.chmod(0o666 & ~umask)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    try:
        # A zombie writes no more. The name of the program, in parentheses, may hold spaces and parentheses.
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return True


@cache
def _machine() -> str:
    """This machine since it was started, and its numbering of processes: containers have their own."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text("utf-8").strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.blake2b(" ".join(parts).encode(), digest_size=4).hexdigest()
