"""Arguments of the functions that Python users call, checked against their annotations before any work.

A wrong type is an `InputError` that names the function, the argument and what is accepted, in place of an
`AttributeError` somewhere inside. Fields of settings are checked as arguments are.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import os
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from interlingua.errors import InputError
from interlingua.paths import usable_path

P = ParamSpec("P")
R = TypeVar("R")
MAX_ITEMS = 10_000
"""Items of a list that are looked at."""
_LISTS = (tuple, list, set, frozenset, Sequence, Collection, Iterable, Set)
LARGEST = 2**64
_NAMES: dict[Any, str] = {
    str: "a text", int: "a whole number", float: "a number", bool: "True or False", type(None): "None", Path: "a path",
    bytes: "bytes",
}  # fmt: skip


def check_argument_types(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which first compares each argument with its annotation.

    >>> @check_argument_types
    ... def twice(rows: int, *, names: Sequence[str] | None = None) -> int:
    ...     return 2 * rows
    >>> twice(4)
    8
    >>> twice("4")
    Traceback (most recent call last):
    interlingua.errors.InputError: twice: rows is of the wrong type: '4'. Give a whole number.
    >>> twice(4, names=["a", 5])
    Traceback (most recent call last):
    interlingua.errors.InputError: twice: names[1] is of the wrong type: 5. Give a text.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        hints = _hints(function)
        for name, value in given.items():
            if name in hints:
                kind = signature.parameters[name].kind
                several = kind is inspect.Parameter.VAR_POSITIONAL
                accepted: Any = hints[name]
                check_argument(value, Sequence[accepted] if several else accepted, function.__name__, name)
        return function(*args, **kwargs)

    return checked


@functools.cache
def _hints(owner: object) -> Mapping[str, Any]:
    """The annotations under their names; those that cannot be resolved here are left out without a message."""
    space = vars(inspect.getmodule(owner)) if inspect.getmodule(owner) else {}
    found = {}
    for name, hint in inspect.get_annotations(owner).items():  # type: ignore[arg-type]
        try:
            found[name] = eval(hint, dict(space)) if isinstance(hint, str) else hint
        except (NameError, TypeError):
            continue
    return found


def check_argument(value: object, hint: Any, function: str, name: str) -> None:
    """Raise for the first part of a value that its annotation does not allow."""
    if isinstance(value, str) and Path in typing.get_args(hint):
        usable_path(value)
    wrong = _first_wrong(value, hint, name)
    if wrong is not None:
        place, part, accepted = wrong
        raise InputError(
            f"{function}: {place} is of the wrong type",
            value=part if isinstance(part, int | float | str) else _shown(part),
            remedy=f"Give {accepted}.",
        )


def _first_wrong(value: object, hint: Any, place: str) -> tuple[str, object, str] | None:
    """Where a value is not what it is annotated to be: the place, the part, and what would be accepted; else None."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        found = [_first_wrong(value, each, place) for each in arguments]
        inner = [wrong for wrong in found if wrong is not None and wrong[0] != place]
        return None if None in found else inner[0] if inner else (place, value, describe_type(hint))
    kind = origin or hint
    if origin is typing.Literal or not isinstance(kind, type) or kind in (object, Any):  # Any is a class from 3.11 on
        return (
            (place, value, describe_type(hint)) if origin is typing.Literal and not _among(value, arguments) else None
        )
    if not _is_a(value, kind) or (kind in _LISTS and isinstance(value, str) and not _of_texts(arguments)):
        return place, value, describe_type(hint)
    parts = _parts(value, kind, arguments, place)
    return next((wrong for each, one, where in parts if (wrong := _first_wrong(each, one, where)) is not None), None)


def _among(value: object, accepted: Sequence[object]) -> bool:
    return any(type(value) is type(each) and value == each for each in accepted)


def _of_texts(arguments: Sequence[Any]) -> bool:
    """Whether a list of these may be written as one text, such as the languages `en,ru`."""
    return not arguments or any(each in (str, Any) or str in typing.get_args(each) for each in arguments)


def _parts(value: object, kind: type, arguments: Sequence[Any], place: str) -> Iterable[tuple[object, Any, str]]:
    """The parts of a list, a mapping or settings, each with its own annotation and place."""
    if is_dataclass(value) and not isinstance(value, type) and type(value).__module__.startswith("interlingua"):
        hints = _hints(type(value))
        return [
            (getattr(value, each.name), hints.get(each.name, Any), f"{place}.{each.name}") for each in fields(value)
        ]
    # Of other classes with parameters, as an array with its shape and type, no argument describes the items.
    listed = kind in _LISTS or issubclass(kind, Mapping)
    if not arguments or not listed or isinstance(value, str | bytes) or not isinstance(value, Collection):
        return []
    items = list(islice(value, MAX_ITEMS))
    if isinstance(value, Mapping):
        keys = [(key, arguments[0], f"a key of {place}") for key in items]
        return keys + [(value[key], arguments[1], f"{place}[{key!r}]") for key in items]
    if kind is tuple and arguments[-1] is not Ellipsis:
        if len(items) != len(arguments):
            return [(value, typing.Literal[f"{len(arguments)} values"], place)]
        return [(item, one, f"{place}[{n}]") for n, (item, one) in enumerate(zip(items, arguments, strict=True))]
    return [(item, arguments[0], f"{place}[{n}]") for n, item in enumerate(items)]


def _is_a(value: object, kind: type) -> bool:
    """Whether a value is of a kind; numbers of numpy are numbers, True is none, and neither is NaN."""
    boolean = isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")
    if kind is bool:
        return boolean
    if kind in (int, float):
        exact = numbers.Integral if kind is int else numbers.Real
        return (
            isinstance(value, exact) and not boolean and (_finite(value) or (kind is float and abs(value) == math.inf))
        )
    if kind in _LISTS:  # A list does where a tuple is asked for, and a set where a list is.
        return isinstance(value, Collection) and not isinstance(value, Mapping | bytes)
    if kind.__name__ == "Callable":  # A class would be made, and not called.
        return callable(value) and not isinstance(value, type)
    # Of other classes whatever has their methods will do; text, numbers, lists and classes have not.
    plain = kind in _NAMES or issubclass(kind, Mapping) or type(value).__module__ in ("builtins", "numpy")
    return isinstance(value, os.PathLike if kind is Path else kind) or not plain


def _finite(value: Any) -> bool:
    """Whether a number has at most 64 bits: nothing has more rows, and no generator another seed."""
    return bool(-LARGEST <= value <= LARGEST)


def describe_type(hint: Any) -> str:
    """A description of what an annotation accepts.

    >>> describe_type(int | None), describe_type(Sequence[str]), describe_type(str | Path | None)
    ('a whole number or None', 'a list of texts', 'a text, a path or None')
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        parts = list(dict.fromkeys(map(describe_type, arguments)))
        return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"
    if origin is typing.Literal:
        return f"one of {', '.join(map(repr, arguments))}"
    kind = origin or hint
    if kind in _NAMES or not isinstance(kind, type):
        return _NAMES.get(kind, "another value")
    if issubclass(kind, Mapping):
        return f"a mapping to {describe_type(arguments[1])}" if arguments else "a mapping"
    if kind in _LISTS:
        inner = describe_type(arguments[0]) if arguments else ""
        return f"a list of {inner.removeprefix('a ')}s" if inner in ("a text", "a number", "a path") else "a list"
    name = "function" if kind.__name__ == "Callable" else kind.__name__
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _shown(part: object) -> str:
    try:
        return repr(part)[:80]
    except Exception:
        return type(part).__name__
