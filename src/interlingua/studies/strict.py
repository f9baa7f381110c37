"""Tables of a config to dataclasses, strictly: what is wrong is told all at once, each with its line."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import Any, TypeVar

from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.studies.tomlplaces import Path

T = TypeVar("T")
_WORDS = {str: "a string", int: "a whole number", float: "a finite number", bool: "true or false"}


class Wrong(InputError):
    """All that is wrong with a file, a line each."""

    def __init__(self, file: str, problems: Sequence[InputError]) -> None:
        self.problems = tuple(problems)
        super().__init__("", remedy="")
        count = len(self.problems)
        head = "" if count == 1 else f"{count} things are wrong with {file}\n"
        self.args = (head + "\n".join(map(str, self.problems)),)


@dataclass
class Problems:
    """What is wrong so far; every problem has the line of its path, or of the nearest one above it that has a line."""

    file: str
    lines: Mapping[Path, int] = field(default_factory=dict)
    found: list[InputError] = field(default_factory=list)

    def add(self, path: Path, problem: str, *, value: object = None, remedy: str) -> None:
        """Tell a problem at a path."""
        told = InputError(problem, file=self.file, line=self.line(path), value=value, remedy=remedy)
        if str(told) not in map(str, self.found):
            self.found.append(told)

    def take(self, path: Path, error: InputError) -> None:
        """Tell an error that something else found, at this path; of several, each."""
        if isinstance(error, Wrong):
            for each in error.problems:
                self.take(path, each)
            return
        line = "" if error.line is None else f":{error.line}"
        problem = error.problem if error.file is None else f"{error.file}{line}: {error.problem}"
        self.add(path, problem, value=error.value, remedy=error.remedy)

    def line(self, path: Path) -> int | None:
        """The line of a path.

        >>> Problems("a.toml", {("tasks",): 3, ("tasks", "nli"): 4}).line(("tasks", "nli", "train"))
        4
        """
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None

    def check(self) -> None:
        """Raise what was found, in the order of the lines."""
        if self.found:
            raise Wrong(self.file, sorted(self.found, key=lambda problem: problem.line or 0))


def build(kind: type[T], given: Mapping[str, Any], path: Path, problems: Problems) -> T | None:
    """The dataclass that a table describes; None where it cannot be made, and why is among the problems."""
    hints = typing.get_type_hints(kind)
    known = {entry.name: entry for entry in fields(kind)}  # type: ignore[arg-type]
    table = ".".join(map(str, path))
    values: dict[str, Any] = {}
    broken = False
    for key, value in given.items():
        if key not in known:
            plain = unknown(f"key in [{table}]" if table else "key", key, list(known))
            problems.add((*path, key), plain.problem, value=key, remedy=plain.remedy)
            continue
        made = convert(hints[key], value, (*path, key), problems)
        if made is not None:
            values[key] = made
        elif not _optional(known[key]):
            broken = True  # Else it is as if left out, so that what else is wrong with the table can be told.
    for key, entry in known.items():
        if key not in given and not _optional(entry):
            problems.add(path, f"[{table}] lacks {key}" if table else f"lacks {key}", remedy=f"Add {key} = ….")
            broken = True
    return None if broken else kind(**values)


def _optional(entry: Field[Any]) -> bool:
    return entry.default is not MISSING or entry.default_factory is not MISSING


def convert(hint: Any, value: Any, path: Path, problems: Problems) -> Any:
    """The value as its type says; None where it is another, and that is among the problems."""
    options = [each for each in _options(hint) if each is not type(None)]
    fitting = [each for each in options if _fits(each, value)]
    if not fitting:
        words = " or ".join(dict.fromkeys(map(_words, options)))
        problems.add(path, f"{_called(path)} should be {words}", value=value, remedy="Mend that line.")
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


def _called(path: Path) -> str:
    """What stands at a path, in words: a key by its name, an element by that of its list.

    >>> _called(("tasks", "ner", "train")), _called(("languages", 0))
    ('train', 'an element of languages')
    """
    name = next(part for part in reversed(path) if isinstance(part, str))
    return name if path[-1] == name else f"an element of {name}"


def _options(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


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
