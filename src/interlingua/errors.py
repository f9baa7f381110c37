"""The few errors a user can meet, each with what to do next.

The command line turns `InputError` into exit code 2, `RunInterrupted` into 130, and `DiskFull`, any other
`InterlinguaError` and errors of the system into exit code 1; a traceback is a bug of ours.
"""

from __future__ import annotations

import os

_CONTROLS = {number: f"\\x{number:02x}" for number in (*range(32), *range(127, 160)) if number not in (9, 10)}
_CONTROLS |= {number: f"\\u{number:04x}" for number in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


class InterlinguaError(Exception):
    """Something failed that the user can do something about."""


class InputError(InterlinguaError):
    """The user's input is wrong: what is wrong, where, the value, and the remedy.

    >>> print(InputError("unequal line counts", file="a.ru", line=3, remedy="Cut both files alike."))
    a.ru:3: unequal line counts. Cut both files alike.
    >>> print(InputError("not a language code", value="zz9", remedy="Use ISO 639, such as 'en'."))
    not a language code: 'zz9'. Use ISO 639, such as 'en'.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | os.PathLike[str] | None = None,
        line: int | None = None,
        value: object = None,
        remedy: str,
    ) -> None:
        self.problem, self.file, self.line = problem, file, line
        self.value, self.remedy = value, remedy
        place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        shown = "" if value is None else f": {_shorten(value)!r}"
        super().__init__(f"{place}{problem}{shown}. {remedy}")


class DiskFull(InputError):
    """A disk is full: nothing is wrong with the input, so that the command line ends with exit code 1."""


class RunInterrupted(InterlinguaError):
    """The user stopped a command whose run is in a folder: what is kept, and how it goes on.

    >>> print(RunInterrupted(os.curdir))
    what was done is kept in .; the same command continues from there.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        kept = f"what was done is kept in {os.fspath(folder)}; the same command continues from there."
        super().__init__(kept if os.path.isdir(folder) else "nothing was done yet; the same command begins anew.")


class MissingExtra(InputError):
    """An optional dependency is needed and absent; the message is the install command.

    >>> print(MissingExtra("zstd", "reading .zst files"))
    reading .zst files needs an extra that is not installed. Run: pip install 'interlingua[zstd]'
    """

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs an extra that is not installed",
            remedy=f"Run: pip install 'interlingua[{extra}]'",
        )


class NoSegmenter(InputError):
    """A script is written without spaces, and there is no segmenter for it here: words can't be found."""


def system_error(error: BaseException) -> OSError | None:
    """The system's own error: this one, or the one that safetensors reports by its number, `(os error 28)`; else None.

    >>> system_error(OSError(28, "full")), system_error(ValueError("28"))
    (OSError(28, 'full'), None)
    """
    if isinstance(error, OSError):
        return error
    _, found, number = str(error).rpartition("(os error ")
    code = number.split(")")[0]
    if type(error).__name__ != "SafetensorError" or not found or not code.isdigit():
        return None
    return OSError(int(code), os.strerror(int(code)))


def printable(text: object) -> str:
    """The text without what a terminal obeys: escapes of an input are shown, not followed.

    >>> print(printable("a\\x1b[31mred"))
    a\\x1b[31mred
    """
    return str(text).translate(_CONTROLS)


def _shorten(value: object, limit: int = 120) -> object:
    """The value, cut when it is a long string or number, so that an error stays one line.

    >>> _shorten("a" * 200)[-2:], _shorten(10**5000)
    ('a…', 'a number of 5001 digits')
    """
    if isinstance(value, int) and abs(value) >= 1 << 400:  # Python refuses to write down one of 5,000 digits.
        return f"a number of {int(value.bit_length() * 0.30103) + 1} digits"
    return f"{value[:limit]}…" if isinstance(value, str) and len(value) > limit else value
