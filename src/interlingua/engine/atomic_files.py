"""Files that are there whole or not at all: written under a hidden name beside, then renamed into place.

What a killed process leaves under such a name is removed by the next one that writes into the same folder. A disk that
is full or forbidden is one clear error.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from interlingua.errors import DiskFull, InputError, system_error

_NAMES = re.compile(r"\..+\.([0-9a-f]{8})\.(\d+)")
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""What the system says of a disk that is full."""
_swept: set[Path] = set()  # A look at the whole folder for each of its files would take long where there are many.


def hidden_name(path: Path, *, of: str = "") -> Path:
    """The name beside `path` under which this process writes it; `of` distinguishes two such names."""
    if path.parent not in _swept:
        sweep(path.parent)
    return path.with_name(f".{path.name}{of and f'.{of}'}.{_machine()}.{os.getpid()}")


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A hidden name, for a file or folder that gets its own name when the block ends, and is removed where it fails.

    What had the name goes when the new one is there.
    """
    beside = hidden_name(path)
    _remove(beside)  # of an earlier try of this very process
    try:
        yield beside
        if beside.is_dir():
            swap_in(beside, path)
        else:
            os.replace(beside, path)
    except BaseException:
        _remove(beside)
        raise


def _remove(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under a hidden name and rename it into place, so that no reader sees half of it."""
    with atomic_path(path) as beside, beside.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


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


def link_or_copy(source: Path, place: Path) -> None:
    """Give a file or folder a second name: by hard links, or by copies where the file system has none.

    What has that name is replaced at once; a file that is there already under both names stays.
    """
    if source.is_dir():
        beside = hidden_name(place)
        shutil.copytree(source, beside, copy_function=_link)
        swap_in(beside, place)
        return
    if place.exists() and place.samefile(source):
        return
    beside = hidden_name(place)
    _link(source, beside)
    os.replace(beside, place)
    # Where another run linked the same file meanwhile, renaming one name of it to the other does nothing.
    beside.unlink(missing_ok=True)


def _link(source: str | Path, place: str | Path) -> None:
    try:
        os.link(source, place)
    except OSError:
        shutil.copyfile(source, place)


def write_text(path: Path, text: str) -> None:
    """Write a text file beside and rename it into place; a full or forbidden disk is a clear error.

    Half a surrogate pair, as of a file name that is not UTF-8, becomes its escape, which JSON reads back as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lambda file: file.write(text.encode("utf-8", "backslashreplace")))
    except OSError as error:
        raise cannot_write(path.parent, error) from error


@contextmanager
def report_full_disk(folder: Path) -> Iterator[None]:
    """Where the disk fills up inside, whoever was writing, it is said so; all else is as it is."""
    try:
        yield
    except Exception as error:
        found = system_error(error)
        if found is None or found.errno not in NO_ROOM:
            raise
        raise cannot_write(folder, found) from error


@contextmanager
def reading_back(folder: Path) -> Iterator[None]:
    """Inside, what earlier processes left in a folder is put together; where it does not fit, the folder is named.

    Its files may be damaged in as many ways as they have values, of which those that are read first are checked.
    """
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        reason = next(iter(str(error).splitlines()), "")[:200]
        raise InputError(
            f"the files in the folder cannot be put together ({type(error).__name__}: {reason})",
            file=folder,
            remedy="Remove that folder and run the command again that wrote it. If that fails, too, report it to us.",
        ) from error


def cannot_write(folder: Path, error: OSError) -> InputError:
    """The error for a folder that takes no more."""
    if error.errno in NO_ROOM:
        return DiskFull(
            "no space left for results", file=folder, remedy="Free some, or name another --out; a rerun continues."
        )
    return InputError(
        f"cannot write results ({error.strerror})", file=folder, remedy="Name a folder you can write to with --out DIR."
    )


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
