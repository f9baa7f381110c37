"""Frozen dataclasses as plain JSON and back, canonical text, and the digest of a value."""

from __future__ import annotations

import json
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from interlingua.errors import InputError
from interlingua.registry import unknown

T = TypeVar("T")


class Dataclass(Protocol):
    """An instance of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


@dataclass(frozen=True)
class File:
    """A file or folder as a setting: its path, the digest of its content, and a stamp of its sizes and times.

    In a key it counts by its name, which a reader may take a meaning from, and its content; not by where it lies.
    `Digests` makes it.
    """

    path: str
    digest: str
    stamp: str = ""

    @property
    def content(self) -> dict[str, str]:
        """What of it is in a key."""
        return {"file": Path(self.path).name, "digest": self.digest}


def to_plain(value: Any, *, file: Callable[[File], Any] | None = None, where: str = "") -> Any:
    """A value as JSON types: dataclasses and mappings as objects, tuples as lists, enums by value.

    `file` says what stands for a `File`; without it, its three fields. `where` names the value in an error.

    >>> to_plain((1, {"a": File("/data/x.tsv", "00")}), file=lambda file: file.path)
    [1, {'a': '/data/x.tsv'}]
    """
    if isinstance(value, File) and file is not None:
        return file(value)
    if value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        inside = f"{where}." if where else ""
        return {
            field.name: to_plain(getattr(value, field.name), file=file, where=f"{inside}{field.name}")
            for field in fields(value)
        }
    if isinstance(value, Enum):
        return to_plain(value.value, file=file, where=where)
    if isinstance(value, Mapping):
        odd = next((name for name in value if not isinstance(name, str)), None)
        if odd is not None:
            raise InputError(f"a name in {where or 'a mapping'} is not text", value=odd, remedy="Use text.")
        return {name: to_plain(inner, file=file, where=f"{where}.{name}") for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(inner, file=file, where=where) for inner in value]
    raise InputError(
        f"{where or 'a value'} cannot be written as JSON",
        value=repr(value),
        remedy="Use text, finite numbers, true or false, None, tuples, mappings, File, and dataclasses of those.",
    )


def build(cls: type[T], data: Mapping[str, Any], *, where: str = "") -> T:
    """The dataclass that `to_plain` wrote; an unknown, missing or wrongly typed field is an `InputError`.

    Lists become tuples where a field says tuple, and a whole number becomes a float where it says float. Of a union of
    dataclasses, the one is made whose fields are exactly those of the data.

    >>> @dataclass(frozen=True)
    ... class Growth:
    ...     rate: float
    ...     steps: tuple[int, ...] = ()
    >>> build(Growth, {"rate": 1, "steps": [2, 3]})
    Growth(rate=1.0, steps=(2, 3))
    >>> build(Growth, {"rate": "fast"})
    Traceback (most recent call last):
    interlingua.errors.InputError: Growth.rate should be float: 'fast'. Check the value.
    """
    name = where or cls.__name__
    if not isinstance(data, Mapping):
        raise _wrong(cls, data, name)
    hints = _hints(typing.cast(Any, cls))
    known = {field.name: field for field in fields(typing.cast(Any, cls)) if field.init}
    for key in data:
        if key not in known:
            raise unknown(f"field of {name}", key, list(known))
    for key, field in known.items():
        if key not in data and field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{name} lacks a field", value=key, remedy=f"Add {key}.")
    return cls(**{key: _convert(hints[key], value, f"{name}.{key}") for key, value in data.items()})


def canonical(value: Any) -> str:
    """JSON that is the same for equal values: keys in order, no spaces, no NaN.

    >>> canonical({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_form(value: Dataclass) -> Any:
    """What of a dataclass is in a key: JSON types as its fields declare them, files as name and content.

    Equal dataclasses have equal forms: 1 and 1.0 are one value where a field says float.
    """
    cls: type[Any] = type(value)
    return to_plain(build(cls, to_plain(value, where=cls.__name__)), file=lambda file: file.content)


def digest(value: Any) -> str:
    """32 hexadecimal digits of a value's canonical JSON, files as name and content; of text, those of the text itself.

    >>> digest({"a": 1}) == digest('{"a":1}'), len(digest(""))
    (True, 32)
    """
    text = value if isinstance(value, str) else canonical(to_plain(value, file=lambda file: file.content))
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _convert(hint: Any, value: Any, where: str) -> Any:  # noqa: PLR0911, one case a kind of type
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        chosen = [option for option in inner if _fits(option, value)]
        if not chosen:
            raise _wrong(hint, value, where)
        return _convert(chosen[0], value, where)
    if isinstance(hint, type) and is_dataclass(hint):
        return build(hint, value, where=where)
    if not _fits(hint, value):
        raise _wrong(hint, value, where)
    if isinstance(origin, type) and origin is not tuple:
        if issubclass(origin, Mapping):
            return {key: _convert(inner[1], each, f"{where}.{key}") for key, each in value.items()}
        return [_convert(inner[0], each, where) for each in value]
    if origin is tuple:
        if len(inner) == 2 and inner[1] is Ellipsis:
            inner = (inner[0],) * len(value)
        if len(inner) != len(value):
            raise _wrong(hint, value, where)
        return tuple(_convert(kind, each, where) for kind, each in zip(inner, value, strict=True))
    if hint is float:
        return float(value)
    return hint(value) if isinstance(hint, type) and issubclass(hint, Enum) else value


def _fits(hint: Any, value: Any) -> bool:  # noqa: PLR0911, the same
    """Whether a JSON value is of the kind a type says, whatever is inside it."""
    origin = typing.get_origin(hint)
    if hint is Any or hint is object:
        return True
    if hint is None or hint is type(None):
        return value is None
    if origin is typing.Literal:
        return any(value == option and type(value) is type(option) for option in typing.get_args(hint))
    if origin in (typing.Union, types.UnionType):
        return any(_fits(option, value) for option in typing.get_args(hint))
    if isinstance(hint, type) and is_dataclass(hint):
        return isinstance(value, Mapping) and value.keys() == {field.name for field in fields(hint) if field.init}
    kind = origin or hint
    if not isinstance(kind, type):
        return False
    if issubclass(kind, Mapping):
        return isinstance(value, Mapping)
    if issubclass(kind, Enum):
        return any(option.value == value for option in kind)
    if kind in (str, int, bool):
        return type(value) is kind
    if kind is float:
        return type(value) in (int, float)
    return issubclass(kind, Sequence) and isinstance(value, list | tuple)


def _wrong(hint: Any, value: Any, where: str) -> InputError:
    called = hint.__name__ if isinstance(hint, type) and typing.get_origin(hint) is None else str(hint)
    return InputError(f"{where} should be {called}", value=value, remedy="Check the value.")
