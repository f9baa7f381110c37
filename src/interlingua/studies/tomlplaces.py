"""A TOML file with the line of each key and each element, which `tomllib` does not tell."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path as FilePath
from typing import Any

from interlingua.errors import InputError
from interlingua.paths import regular

Path = tuple[str | int, ...]
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}\n#]*")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_LONG = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}', re.DOTALL)
_LONG_NUMBER = re.compile(r"(?:\d_?){4301,}")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")

_LARGEST = 4 << 20  # bytes


def read_toml(file: FilePath, *, called: str) -> tuple[dict[str, Any], dict[Path, int]]:
    """What a TOML file says, and the line of everything in it by its path; `called` is what the user knows it as."""
    try:
        if (size := regular(file).stat().st_size) > _LARGEST:
            raise InputError(f"a {called} of more than {_LARGEST >> 20} MB", file=file, value=size,
                             remedy="Check that this is the right file.")  # fmt: skip
        text = file.read_text("utf-8-sig")  # Editors on Windows begin a file with a byte order mark.
    except (FileNotFoundError, IsADirectoryError) as error:
        raise InputError(f"no such {called}", value=str(file), remedy="Give the path of a TOML file.") from error
    except UnicodeDecodeError as error:
        raise InputError(
            "a byte that is not UTF-8",
            file=file,
            line=error.object[: error.start].count(b"\n") + 1,
            value=f"{error.object[error.start]:#04x}",
            remedy="Save it as UTF-8.",
        ) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=file, remedy="Check its permissions.") from error
    try:
        return tomllib.loads(text), places(text)
    except RecursionError as error:
        raise InputError("nested too deeply", file=file, remedy="Take some of the brackets out.") from error
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\s*\(at line (\d+), column \d+\)", str(error))
        why, line = (str(error), None) if at is None else (str(error)[: at.start()], int(at[1]))
        raise InputError(f"not valid TOML ({why})", file=file, line=line, remedy="Mend that line.") from error
    except ValueError as error:  # Python makes no number of so many digits.
        long = _LONG_NUMBER.search(text)
        line = None if long is None else text.count("\n", 0, long.start()) + 1
        raise InputError("a number of too many digits", file=file, line=line, remedy="Give a shorter one.") from error


def places(text: str) -> dict[Path, int]:
    """The line of each key and list element by its path, as `tomllib.loads(text)` nests them; the text must be valid.

    Tables have the line of their header, or of the first key that made them; elements of lists their number.

    >>> places("a.b = 1\\n[c]\\nd = [1,\\n 2]\\n")
    {('a',): 1, ('a', 'b'): 1, ('c',): 2, ('c', 'd'): 3, ('c', 'd', 0): 3, ('c', 'd', 1): 4}
    """
    return _Scanner(text).run()


class _Scanner:
    """One pass over the text, by the grammar; what is wrong in it `tomllib` has told already."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text.replace("\r\n", "\n"), 0
        self.found: dict[Path, int] = {}
        self.elements: dict[Path, int] = {}
        self._line, self._counted = 1, 0

    def run(self) -> dict[Path, int]:
        table: Path = ()
        self._take(_BLANK)
        while self.at < len(self.text):
            if self.text.startswith("[", self.at):
                table = self._header()
            else:
                self._pair(table)
            self._take(_BLANK)
        return self.found

    @property
    def line(self) -> int:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        assert match is not None, f"not TOML at {self.at}"
        self.at = match.end()
        return match[0]

    def _header(self) -> Path:
        """`[a.b]` or `[[a.b]]`; a name that is a list of tables stands for its last one."""
        line, many = self.line, self.text.startswith("[[", self.at)
        self.at += 2 if many else 1
        parts = self._key()
        self.at += 2 if many else 1
        path: Path = ()
        for place, part in enumerate(parts):
            path += (part,)
            self.found.setdefault(path, line)
            if many and place == len(parts) - 1:
                self.elements[path] = self.elements.get(path, -1) + 1
            if path in self.elements:
                path += (self.elements[path],)
                self.found.setdefault(path, line)
        return path

    def _pair(self, table: Path) -> None:
        line, path = self.line, table
        for part in self._key():
            path += (part,)
            self.found.setdefault(path, line)
        self.at += 1  # =
        self._value(path)

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._take(_SPACE)
            quoted = self.text[self.at] in "\"'"
            name = self._take(_QUOTED if quoted else _BARE)
            parts.append(str(tomllib.loads(f"x = {name}")["x"]) if quoted else name)
            self._take(_SPACE)
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def _value(self, path: Path) -> None:
        self._take(_SPACE)
        begin = self.text[self.at]
        if self.text.startswith(('"""', "'''"), self.at):
            self._take(_LONG)
        elif begin in "\"'":
            self._take(_QUOTED)
        elif begin == "[":
            self._list(path)
        elif begin == "{":
            self._inline(path)
        else:
            self._take(_SCALAR)

    def _list(self, path: Path) -> None:
        self.at += 1
        number = 0
        while True:
            self._take(_BLANK)
            if self.text.startswith("]", self.at):
                break
            self.found[(*path, number)] = self.line
            self._value((*path, number))
            number += 1
            self._take(_BLANK)
            if self.text.startswith(",", self.at):
                self.at += 1
        self.at += 1

    def _inline(self, path: Path) -> None:
        self.at += 1
        while True:
            self._take(_BLANK)
            if self.text.startswith("}", self.at):
                break
            self._pair(path)
            self._take(_BLANK)
            if self.text.startswith(",", self.at):
                self.at += 1
        self.at += 1
