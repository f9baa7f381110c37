"""Paths that users name, checked for what no file system can have: no name at all, one too long, an unknown user's."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from interlingua.errors import InputError


def usable_path(given: str | os.PathLike[str], *, home: bool = False) -> Path:
    """The path, whether something is there or not; with `home`, `~` is the user's folder.

    >>> usable_path("")
    Traceback (most recent call last):
    interlingua.errors.InputError: no file or folder is named: ''. Give a path.
    """
    if not os.fspath(given):
        raise InputError("no file or folder is named", value="", remedy="Give a path.")
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


def too_long(name: str) -> InputError:
    """The error for a name that the file system refuses, which shows its begin."""
    return InputError("a name that is too long for a file", value=name, remedy="Check it for a text given as a path.")
