"""What a setting is: help, range, choices, names; which settings a class has, and what is wrong with their values."""

from __future__ import annotations

import importlib
import math
import numbers
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from interlingua.errors import InputError
from interlingua.registry import unknown

Place = tuple[str | int, ...]
"""Where a value stands: keys and numbers of list elements, from the outside in."""
Shape = Literal["scalar", "names", "numbers", "files", "switch"]
"""How a setting is written: a value, names (`en,ru` or a list), numbers (`0,-1` or a list), files by language, or a
switch."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is declared of a setting beside its name, type and default; None stands for "any" in ranges.

    `choices` are the accepted texts, or `MODULE:NAME` of a registry that is looked up when a value is checked.
    `left_out` says what None means; `flag` is the option's name without dashes where it is not the setting's;
    `formerly` are old names, which are errors that name this one. `where` limits a setting to Python (objects and
    functions, which no text can be). `argument` marks what a command line takes by its place, `several` what it takes
    in any number. `metavar` stands for the value in the help, and `paper` cites where a default is from.
    """

    help: str
    above: float | None = None
    least: float | None = None
    most: float | None = None
    below: float | None = None
    choices: tuple[str, ...] | str = ()
    left_out: str = ""
    flag: str = ""
    formerly: tuple[str, ...] = ()
    where: Literal["", "python"] = ""
    argument: bool = False
    several: bool = False
    metavar: str = ""
    paper: str = ""

    @property
    def known(self) -> tuple[str, ...]:
        """The accepted texts; none where any is."""
        return tuple(self.choices) if not isinstance(self.choices, str) else tuple(e.name for e in self._registry)

    @property
    def _registry(self) -> Any:
        assert isinstance(self.choices, str)
        module, _, name = self.choices.partition(":")
        return getattr(importlib.import_module(module), name)

    @property
    def range(self) -> str:
        """A description of the accepted numbers.

        >>> Setting(help="", least=0, below=1).range, Setting(help="", above=0).range
        ('at least 0 and below 1', 'above 0')
        """
        limits = (("above", self.above), ("at least", self.least), ("below", self.below), ("at most", self.most))
        return " and ".join(
            f"{word} {'2**63' if limit == 2**63 else f'{limit:,}'}" for word, limit in limits if limit is not None
        )

    def accepts(self, value: Any) -> bool:
        """Whether a number is in the range: finite, and between the limits."""
        return (
            (isinstance(value, numbers.Integral) or math.isfinite(value))
            and (self.above is None or value > self.above)
            and (self.least is None or value >= self.least)
            and (self.below is None or value < self.below)
            and (self.most is None or value <= self.most)
        )

    def unknown(self, value: str) -> InputError | None:
        """The error for a text that is none of the choices: the nearest one, and all."""
        if not self.choices or value in self.known:
            return None
        return unknown(self._registry.kind if isinstance(self.choices, str) else "value", value, list(self.known))


@dataclass(frozen=True)
class Problem:
    """What is wrong with the setting at a place; names of settings stand in braces in `says` and `remedy`.

    It is reported to whoever wrote it: at a line of a file, of an option, or of a parameter.

    >>> wrong = Problem(("adjust", "epochs"), "{epochs} must be above 0", -1, "Give another number.")
    >>> print(wrong.in_file("a.toml", 3))
    a.toml:3: epochs must be above 0: -1. Give another number.
    >>> print(wrong.of_option(lambda name: f"--{name}")), print(wrong.of_parameter("adjust"))
    --epochs must be above 0: -1. Give another number.
    adjust: epochs must be above 0: -1. Give another number.
    (None, None)
    """

    place: Place
    says: str
    value: object = None
    remedy: str = "Give another number."

    def in_file(self, file: str | Path, line: int | None) -> InputError:
        return self._told(str, file=file, line=line)

    def of_option(self, flag: Callable[[str], str]) -> InputError:
        return self._told(flag)

    def of_parameter(self, function: str) -> InputError:
        return self._told(str, before=f"{function}: ")

    def _told(self, name: Callable[[str], str], *, before: str = "", **where: Any) -> InputError:
        def named(text: str) -> str:
            return re.sub(r"\{(\w+)\}", lambda found: name(found[1]), text)

        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return InputError(before + named(self.says), value=value, remedy=named(self.remedy), **where)

    def under(self, place: Place) -> Problem:
        """The same problem of a table that stands at a place."""
        return Problem((*place, *self.place), self.says, self.value, self.remedy)


class ConfigErrors(InputError):
    """Several things that are wrong, a line each."""

    def __init__(self, owner: str, problems: Sequence[InputError]) -> None:
        self.problems = tuple(problems)
        super().__init__("", remedy="")
        count = len(self.problems)
        head = "" if count == 1 else f"{count} things are wrong with {owner}\n"
        self.args = (head + "\n".join(map(str, self.problems)),)


@dataclass(frozen=True)
class Field:
    """A setting of a class: its name, type, default (`MISSING` where it must be given) and what is declared of it.

    `panel` is the heading of the group it came with.
    """

    name: str
    hint: Any
    default: Any
    setting: Setting
    panel: str

    @property
    def required(self) -> bool:
        return self.default is MISSING

    @property
    def left_out(self) -> str:
        """A description of the default; empty where the setting is required, off or empty."""
        plain = self.default
        if self.required or plain is None or (isinstance(plain, tuple | Mapping) and not plain):
            return self.setting.left_out
        if isinstance(plain, bool):
            return "on" if plain else ""
        return ",".join(map(str, plain)) if isinstance(plain, tuple) else str(plain)

    @property
    def about(self) -> str:
        """The help with what is accepted, where a default is from, and the default."""
        known = self.setting.choices
        explained = isinstance(known, str) or all(name in self.setting.help for name in known)
        accepted = "" if explained else f" One of {', '.join(known)}."
        source = f" ({self.setting.paper})" if self.setting.paper else ""
        default = f" Default: {self.left_out}{source}." if self.left_out else ""
        return f"{self.setting.help}{accepted}{default}"

    @property
    def flag(self) -> str:
        """The option's name."""
        return f"--{self.setting.flag or self.name.replace('_', '-')}"

    @property
    def shape(self) -> Shape:
        options = [option for option in alternatives(self.hint) if option is not type(None)]
        kinds = [typing.get_origin(option) or option for option in options]
        if any(isinstance(kind, type) and issubclass(kind, Mapping) for kind in kinds):
            return "files"
        listed = [option for option, kind in zip(options, kinds, strict=True) if kind in (tuple, Sequence)]
        if listed:
            return "numbers" if typing.get_args(listed[0])[0] in (int, float) else "names"
        return "switch" if options == [bool] else "scalar"

    def check(self, value: object, *, registries: bool = True) -> Iterator[Problem]:
        """What is wrong with a value of the right type: its range, or the name.

        Names in `registries` are known once users' files have been loaded.
        """
        listed = isinstance(value, tuple | list)
        parts: Iterable[Any] = value if listed else (value,)  # type: ignore[assignment]
        for number, part in enumerate(parts):
            place = (self.name, number) if listed else (self.name,)
            if isinstance(part, str):
                if not registries and isinstance(self.setting.choices, str):
                    continue
                if (wrong := self.setting.unknown(part)) is not None:
                    kind = wrong.problem.replace("unknown value", f"unknown value of {{{self.name}}}")
                    yield Problem(place, kind, part, wrong.remedy)
            elif not isinstance(part, bool) and isinstance(part, numbers.Real) and not self.setting.accepts(part):
                limits = self.setting.range if isinstance(part, numbers.Integral) or math.isfinite(part) else "finite"
                yield Problem(place, f"{{{self.name}}} must be {limits}", part)


def alternatives(hint: Any) -> tuple[Any, ...]:
    """The types that a union allows, or the one type."""
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def settings_of(group: type) -> tuple[Field, ...]:
    """The settings of a class in the order of its parameters; fields without a declaration, such as tables, are none.

    The only place that looks into a class of settings.
    """
    if group not in _SETTINGS:
        _SETTINGS[group] = _declared(group)
    return _SETTINGS[group]


_SETTINGS: dict[type, tuple[Field, ...]] = {}


def _declared(group: type) -> tuple[Field, ...]:
    hints = typing.get_type_hints(group, include_extras=True)
    found = []
    for entry in sorted(fields(group), key=lambda entry: bool(entry.kw_only)):
        hint = hints[entry.name]
        declared = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Setting)]
        if not declared:
            continue
        default = entry.default_factory() if entry.default_factory is not MISSING else entry.default
        owner = next(each for each in group.__mro__ if entry.name in vars(each).get("__annotations__", {}))
        found.append(Field(entry.name, hint.__origin__, default, declared[0], vars(owner).get("panel", "")))
    return tuple(found)


def check(given: object, *, only: Iterable[str] | None = None) -> list[Problem]:
    """All that is wrong with the values of settings: each by itself, then rules that involve several.

    Rules are checked where every value alone is right.
    """
    values = {field.name: field for field in settings_of(type(given)) if only is None or field.name in only}
    found = [problem for name, field in values.items() for problem in field.check(getattr(given, name))]
    return found or list(rules(given))


def rules(given: object) -> Iterator[Problem]:
    """What the groups of a class say of several settings together."""
    for group in type(given).__mro__:
        if "rules" in vars(group):
            yield from vars(group)["rules"](given)


def find_renamed(group: type, name: str) -> Field | None:
    """The setting that once had this name."""
    return next((field for field in settings_of(group) if name in field.setting.formerly), None)
