"""Digests of files and folders by content, kept by path, size and time: a file is read once, not at every run."""

from __future__ import annotations

import errno
import json
import os
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from interlingua.engine.atomic_files import write_atomically
from interlingua.engine.serialization import File
from interlingua.errors import InputError
from interlingua.paths import read_json, regular

# A file written within this many nanoseconds of being read may be written again without a new time: as git does,
# its digest is not kept.
_TOO_FRESH = 2_000_000_000


class Digests:
    """Digests by path; `keep` writes those known to the file they were read from."""

    def __init__(self, kept: Path | None = None) -> None:
        self._kept = kept
        self._known: dict[str, list[str]] = {}
        self._changed = False
        if kept is not None and kept.is_file():
            try:
                self._known = dict(read_json(kept))
            except (ValueError, TypeError):
                self._known = {}  # Only a cache: read the files again.

    def file(self, path: str | Path) -> File:
        """A file or folder as a setting of a step; a folder's digest is of the names and contents of all in it.

        >>> Digests().file("no-such-file")
        Traceback (most recent call last):
        interlingua.errors.InputError: no such file or folder: 'no-such-file'. Check the path.
        """
        place = Path(path).absolute()
        try:
            parts = sorted(_files(place))
            if place.is_dir():
                whole = blake2b(digest_size=16)
                for part in parts:
                    whole.update(
                        f"{part.relative_to(place).as_posix()}\0{self._digest(part)}\0".encode(
                            "utf-8", "backslashreplace"
                        )
                    )
                digest = whole.hexdigest()
            else:
                digest = self._digest(place)
            return File(str(place), digest, stamp(place))
        except FileNotFoundError as error:
            if os.path.lexists(place):
                raise InputError("a link to nothing", file=error.filename, remedy="Repair or remove it.") from error
            raise InputError("no such file or folder", value=str(path), remedy="Check the path.") from error
        except OSError as error:
            loop = error.errno == errno.ELOOP
            remedy = "Repair or remove that link." if loop else "Check its permissions."
            raise InputError(f"cannot be read ({error.strerror})", file=error.filename, remedy=remedy) from error

    def keep(self) -> None:
        """Write what is known, beside and renamed; a cache that can't be written is no error."""
        if self._kept is None or not self._changed:
            return
        with suppress(OSError):
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._kept, lambda file: file.write(json.dumps(self._known).encode()))
            self._changed = False

    def _digest(self, path: Path) -> str:
        before = _stamp_of(path)
        known = self._known.get(str(path))
        if known is not None and known[0] == before:
            return known[1]
        digest = blake2b(digest_size=16)
        with regular(path).open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        if _stamp_of(path) != before:
            raise InputError("changed while it was read", file=path, remedy="Run again when nothing writes to it.")
        found = digest.hexdigest()
        if time.time_ns() - path.stat().st_mtime_ns > _TOO_FRESH:
            self._known[str(path)] = [before, found]
            self._changed = True
        return found


def stamp(place: Path) -> str:
    """Sizes and times of a file, or of all files in a folder, short: it changes when one of them is written."""
    parts = sorted(_files(place))
    text = "\n".join(f"{part.relative_to(place).as_posix()} {_stamp_of(part)}" for part in parts)
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def _files(place: Path, above: tuple[str, ...] = ()) -> list[Path]:
    """The file, or all files under the folder; hidden ones of a folder are not content (.git, .cache, .DS_Store).

    Links are followed, but for those that lead back to a folder that they lie in: nothing new is there.
    """
    if not place.is_dir():
        place.stat()
        return [place]
    real = os.path.realpath(place)
    if real in above:
        return []
    entries = [entry for entry in place.iterdir() if not entry.name.startswith(".")]
    return [file for entry in entries for file in _files(entry, (*above, real))]


def _stamp_of(path: Path) -> str:
    about = path.stat()
    return f"{about.st_size} {about.st_mtime_ns}"
