"""TOML files read strictly (every key with its line, every problem reported at once), and written."""

from __future__ import annotations

import json
import re
import sys
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path as FilePath
from typing import Any, TypeVar

from interlingua.errors import InputError
from interlingua.paths import regular
from interlingua.registry import unknown
from interlingua.studies.config.fields import (
    ConfigErrors,
    Place,
    Problem,
    alternatives,
    find_renamed,
    rules,
    settings_of,
)

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}\n#]*")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_LONG = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}', re.DOTALL)
_LONG_NUMBER = re.compile(r"(?:\d_?){4301,}")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")

_LARGEST = 4 << 20  # bytes


def read_toml(file: FilePath, *, called: str) -> tuple[dict[str, Any], dict[Place, int]]:
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
        return tomllib.loads(text), locate_keys(text)
    except RecursionError as error:
        raise InputError("nested too deeply", file=file, remedy="Take some of the brackets out.") from error
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\s*\(at line (\d+), column \d+\)", str(error))
        why, line = (str(error), None) if at is None else (str(error)[: at.start()], int(at[1]))
        raise InputError(f"not valid TOML ({why})", file=file, line=line, remedy="Correct that line.") from error
    except ValueError as error:  # Python makes no number of so many digits.
        long = _LONG_NUMBER.search(text)
        line = None if long is None else text.count("\n", 0, long.start()) + 1
        raise InputError("a number of too many digits", file=file, line=line, remedy="Give a shorter one.") from error


def locate_keys(text: str) -> dict[Place, int]:
    """The line of each key and list element by its path, as `tomllib.loads(text)` nests them; the text must be valid.

    Tables have the line of their header, or of the first key that made them; elements of lists their number.

    >>> locate_keys("a.b = 1\\n[c]\\nd = [1,\\n 2]\\n")
    {('a',): 1, ('a', 'b'): 1, ('c',): 2, ('c', 'd'): 3, ('c', 'd', 0): 3, ('c', 'd', 1): 4}
    """
    return _Scanner(text).run()


class _Scanner:
    """One pass over the text, by the grammar; what is wrong in it `tomllib` has reported already."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text.replace("\r\n", "\n"), 0
        self.found: dict[Place, int] = {}
        self.elements: dict[Place, int] = {}
        self._line, self._counted = 1, 0

    def run(self) -> dict[Place, int]:
        table: Place = ()
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

    def _header(self) -> Place:
        """`[a.b]` or `[[a.b]]`; a name that is a list of tables stands for its last one."""
        line, many = self.line, self.text.startswith("[[", self.at)
        self.at += 2 if many else 1
        parts = self._key()
        self.at += 2 if many else 1
        path: Place = ()
        for place, part in enumerate(parts):
            path += (part,)
            self.found.setdefault(path, line)
            if many and place == len(parts) - 1:
                self.elements[path] = self.elements.get(path, -1) + 1
            if path in self.elements:
                path += (self.elements[path],)
                self.found.setdefault(path, line)
        return path

    def _pair(self, table: Place) -> None:
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

    def _value(self, path: Place) -> None:
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

    def _list(self, path: Place) -> None:
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

    def _inline(self, path: Place) -> None:
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


T = TypeVar("T")
_WORDS = {str: "a string", int: "a whole number", float: "a finite number", bool: "true or false"}


@dataclass
class ProblemList:
    """What is wrong so far; every problem has the line of its path, or of the nearest one above it that has a line.

    Of a command there is no file: its problems begin with the option that filled in the path, by `options`.
    """

    file: str
    lines: Mapping[Place, int] = field(default_factory=dict)
    options: Mapping[Place, str] = field(default_factory=dict)
    found: list[InputError] = field(default_factory=list)

    def add(self, path: Place, problem: str, *, value: object = None, remedy: str) -> None:
        """Report a problem at a path."""
        if self.file:
            told = InputError(problem, file=self.file, line=self.line(path), value=value, remedy=remedy)
        else:
            option = _nearest(self.options, path)
            told = InputError(f"{option}: {problem}" if option else problem, value=value, remedy=remedy)
        if str(told) not in map(str, self.found):
            self.found.append(told)

    def report(self, problem: Problem) -> None:
        """Add what is wrong with a setting, with the line of its key."""
        if self.file:
            told = problem.in_file(self.file, self.line(problem.place))
        else:
            told = problem.of_option(lambda name: _nearest(self.options, problem.place) or name)
        if str(told) not in map(str, self.found):
            self.found.append(told)

    def take(self, path: Place, error: InputError) -> None:
        """Report an error that something else found, at this path; of several, each."""
        if isinstance(error, ConfigErrors):
            for each in error.problems:
                self.take(path, each)
            return
        line = "" if error.line is None else f":{error.line}"
        problem = error.problem if error.file is None else f"{error.file}{line}: {error.problem}"
        self.add(path, problem, value=error.value, remedy=error.remedy)

    def line(self, path: Place) -> int | None:
        """The line of a path.

        >>> ProblemList("a.toml", {("tasks",): 3, ("tasks", "nli"): 4}).line(("tasks", "nli", "train"))
        4
        """
        return _nearest(self.lines, path)

    def check(self) -> None:
        """Raise what was found, in the order of the lines."""
        if self.found:
            raise ConfigErrors(self.file, sorted(self.found, key=lambda problem: problem.line or 0))


def _nearest(known: Mapping[Place, T], path: Place) -> T | None:
    """What is known of a path, or of the nearest one above it."""
    return next((known[path[:length]] for length in range(len(path), 0, -1) if path[:length] in known), None)


def build(kind: type[T], given: Mapping[str, Any], path: Place, problems: ProblemList) -> T | None:
    """The dataclass that a table describes; None where it cannot be made, and why is among the problems.

    Types, ranges, choices and rules of its settings are checked; names that users' files may add are not, since those
    are not loaded yet.
    """
    hints = typing.get_type_hints(kind)
    known = {entry.name: entry for entry in fields(kind)}  # type: ignore[arg-type]
    settings = {field.name: field for field in settings_of(kind)}
    table = ".".join(map(str, path))
    values: dict[str, Any] = {}
    broken = wrong = False
    for key, value in given.items():
        if key not in known:
            problems.report(_unknown(kind, key, path, list(known)))
            continue
        made = convert(hints[key], value, (*path, key), problems)
        if made is not None and key in settings:
            for problem in settings[key].check(made, registries=False):
                problems.report(problem.under(path))
                made = None
        if made is not None:
            values[key] = made
        elif not _optional(known[key]):
            broken = True  # Else it is as if left out, so that what else is wrong with the table can be told.
        wrong = wrong or made is None
    for key, entry in known.items():
        if key not in given and not _optional(entry):
            problems.add(path, f"[{table}] lacks {key}" if table else f"lacks {key}", remedy=f"Add {key} = ….")
            broken = True
    if broken:
        return None
    built = kind(**values)
    for problem in () if wrong else rules(built):
        problems.report(problem.under(path))
    return built


def _unknown(kind: type, key: str, path: Place, known: list[str]) -> Problem:
    """The problem of a key that a table does not have: what it is called now, or the nearest one."""
    if (now := find_renamed(kind, key)) is not None:
        return Problem((*path, key), f"{key} is now called {now.name}", key, f"Write {now.name} = ….")
    table = ".".join(map(str, path))
    plain = unknown(f"key in [{table}]" if table else "key", key, known)
    return Problem((*path, key), plain.problem, key, plain.remedy)


def _optional(entry: Field[Any]) -> bool:
    return entry.default is not MISSING or entry.default_factory is not MISSING


def convert(hint: Any, value: Any, path: Place, problems: ProblemList) -> Any:
    """The value as its type says; None where it is another, and that is among the problems."""
    if hint is Any:
        return value
    options = [each for each in alternatives(hint) if each is not type(None)]
    fitting = [each for each in options if _fits(each, value)]
    if not fitting:
        words = " or ".join(dict.fromkeys(map(_words, options)))
        problems.add(path, f"{_called(path)} should be {words}", value=value, remedy="Correct that line.")
        return None
    chosen = fitting[0]
    origin, inner = typing.get_origin(chosen), typing.get_args(chosen)
    if is_dataclass(chosen):
        return build(typing.cast(type[Any], chosen), value, path, problems)
    if origin is tuple:
        made = [convert(inner[0], each, (*path, place), problems) for place, each in enumerate(value)]
        return None if any(each is None for each in made) else tuple(made)
    if origin is not None:
        tables = {str(key): convert(inner[1], each, (*path, key), problems) for key, each in value.items()}
        return {key: each for key, each in tables.items() if each is not None}
    return float(value) if chosen is float else value


def _called(path: Place) -> str:
    """A description of what stands at a path: a key by its name, an element by that of its list.

    >>> _called(("tasks", "ner", "train")), _called(("languages", 0))
    ('train', 'an element of languages')
    """
    name = next(part for part in reversed(path) if isinstance(part, str))
    return name if path[-1] == name else f"an element of {name}"


def _fits(hint: Any, value: Any) -> bool:
    """Whether a value is of the kind, whatever is inside it; in Python true is a number, in a config it is a slip."""
    origin = typing.get_origin(hint)
    if is_dataclass(hint) or (origin is not None and origin is not tuple):
        return isinstance(value, dict)
    if origin is tuple:
        return isinstance(value, list)
    if isinstance(value, bool) or hint is bool:
        return isinstance(value, bool) and hint is bool
    if hint is float:
        # TOML knows inf and nan, and integers of any length.
        return isinstance(value, int | float) and abs(value) <= sys.float_info.max
    return isinstance(value, hint) and (not isinstance(value, int) or abs(value) < 1 << 63)


def _words(hint: Any) -> str:
    origin = typing.get_origin(hint)
    if is_dataclass(hint) or (origin is not None and origin is not tuple):
        return "a table"
    if origin is tuple:
        return f"a list of {'strings' if typing.get_args(hint)[0] is str else 'values'}"
    return _WORDS[hint]


def to_toml(table: Any) -> str:
    """A table as TOML that `build` reads back as an equal one: what is as its default is left out.

    >>> from interlingua.studies.config.schema import EncoderTable, StudyTable
    >>> print(to_toml(StudyTable(name="mine", languages=("ru",), encoders={"a b": EncoderTable(model="x")})), end="")
    name = "mine"
    languages = ["ru"]
    <BLANKLINE>
    [encoders."a b"]
    model = "x"
    """
    return "".join(f"{line}\n" for line in _table_lines(_said(table), ())).lstrip("\n")


def _said(table: Any) -> dict[str, Any]:
    """What a table says beyond its defaults, as plain data."""
    found = {}
    for entry in fields(table):
        value = getattr(table, entry.name)
        usual = entry.default_factory() if entry.default_factory is not MISSING else entry.default
        if value is not None and (usual is MISSING or value != usual):
            found[entry.name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _said(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, FilePath) else value


def _table_lines(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    """The lines of a table: its values first, then the tables in it, each under its header."""
    lines = [f"{_key(key)} = {_value(value)}" for key, value in table.items() if not isinstance(value, dict)]
    tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    if path and (lines or not tables):
        lines = ["", f"[{'.'.join(map(_key, path))}]", *lines]
    for key, value in tables.items():
        lines += _table_lines(value, (*path, key))
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {_value(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for the delete character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else repr(value)
