"""Paths that users name, checked for what no file system can have: no name at all, one too long, an unknown user's.

And the door to what lies there: only regular files are opened, since a pipe or a device may never end.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

from interlingua.errors import InputError


def usable_path(given: str | os.PathLike[str], *, home: bool = False) -> Path:
    """The path, whether something is there or not; with `home`, `~` is the user's folder.

    >>> usable_path("")
    Traceback (most recent call last):
    interlingua.errors.InputError: no file or folder is named: ''. Give a path.
    """
    if not os.fspath(given):
        raise InputError("no file or folder is named", value="", remedy="Give a path.")
    check_name(os.fspath(given))
    try:
        path = Path(given).expanduser() if home else Path(given)
        os.lstat(path)
    except RuntimeError as error:  # So `expanduser` says it.
        raise InputError("no such user", value=str(given), remedy="Write the whole path.") from error
    except ValueError as error:
        raise InputError(f"no name of a file ({error})", value=str(given), remedy="Give a path.") from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise too_long(str(given)) from error
    return path


def check_name(name: str) -> None:
    """Refuse a name that is not UTF-8 before any work: records, pages and JSON could not hold it."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            "a name that is not UTF-8", value=name, remedy="Rename that file or folder, or make a link to it."
        ) from error


def too_long(name: str) -> InputError:
    """The error for a name that the file system refuses, which shows its begin."""
    return InputError("a name that is too long for a file", value=name, remedy="Check it for a text given as a path.")


def regular(path: Path) -> Path:
    """The path, which is a regular file or a link to one; or nothing or a folder, whose opening says so itself.

    >>> regular(Path("/dev/zero"))
    Traceback (most recent call last):
    interlingua.errors.InputError: /dev/zero: not a regular file. A pipe or a device may never end: give a file.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return path
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InputError("not a regular file", file=path, remedy="A pipe or a device may never end: give a file.")
    return path


def regular_folder(folder: Path) -> Path:
    """The folder, in which and in whose folders everything is a regular file: libraries open what they like of it."""
    for place in (folder, *(inner for inner in folder.iterdir() if inner.is_dir())):
        for file in sorted(place.iterdir()):
            if file.is_symlink() and not file.exists():
                raise InputError("a link that leads nowhere", file=file, remedy="Fetch the folder again.")
            regular(file)
    return folder


_LARGEST_JSON = 1 << 28


def read_json(path: Path) -> Any:
    """What a JSON file holds; a `ValueError` where it is none, is nested too deeply or too large to be read."""
    if regular(path).stat().st_size > _LARGEST_JSON:
        raise ValueError(f"more than {_LARGEST_JSON >> 20} MB")
    return json_value(path.read_text("utf-8"))


def json_value(text: str | bytes) -> Any:
    """What a JSON text says; a `ValueError` where it is none, or is nested too deeply to be read.

    >>> json_value("[" * 5000)
    Traceback (most recent call last):
    ValueError: nested too deeply
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
