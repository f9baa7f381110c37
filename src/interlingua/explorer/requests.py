"""What the page may ask: JSON to checked requests, every wrong value named."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

from interlingua.errors import InputError
from interlingua.explorer.layer_comparison import LINKINGS, WEIGHINGS
from interlingua.registry import unknown

LONGEST = 1000
"""Characters of a text, at most: what a model reads in a second, with room for scripts that spell long."""


@dataclass(frozen=True)
class Texts:
    """Two texts, their languages ('' where it is not one of the corpus), and the row they were picked from, or -1."""

    source: str
    target: str
    source_language: str = ""
    target_language: str = ""
    row: int = -1


@dataclass(frozen=True)
class PairRequest(Texts):
    """Two texts side by side, at every layer."""

    centred: bool = True
    weighing: str = "attribution"
    linking: str = "argmax"


@dataclass(frozen=True)
class NeighboursAsked:
    """The nearest sentences to a text at a layer, in every language of the corpus."""

    text: str
    language: str = ""
    row: int = -1
    layer: int = -1
    centred: bool = True
    count: int = 3


@dataclass(frozen=True)
class HeadAsked(Texts):
    """What a task head looks at in both texts; the second texts are for tasks of pairs."""

    head: str = ""
    source_second: str = ""
    target_second: str = ""
    label: str = ""


@dataclass(frozen=True)
class RowsAsked:
    """Rows of the corpus in two languages that hold a piece of text, from a row on."""

    source_language: str
    target_language: str
    find: str = ""
    start: int = 0
    count: int = 8


_COUNTS = {"count": (1, 20), "start": (0, 1 << 40), "row": (-1, 1 << 40), "layer": (-(1 << 10), 1 << 10)}
_KINDS = {"str": "a text", "int": "a whole number", "bool": "true or false"}
_CHOICES = {"weighing": WEIGHINGS, "linking": LINKINGS}
Request = TypeVar("Request", PairRequest, NeighboursAsked, HeadAsked, RowsAsked)


def parse_request(given: object, kind: type[Request]) -> Request:
    """The request of a kind that this JSON is, or an error that names what is wrong with it.

    >>> parse_request({"text": "Hi.", "layer": 2}, NeighboursAsked).layer
    2
    >>> parse_request({"text": "Hi.", "layer": "2"}, NeighboursAsked)
    Traceback (most recent call last):
    interlingua.errors.InputError: layer is of the wrong kind: 'str'. Send a whole number.
    """
    if not isinstance(given, dict):
        raise InputError("a request is no JSON object", remedy="Send an object.")
    known = {field.name: str(field.type) for field in fields(kind)}
    for name in given:
        if name not in known:
            raise unknown("key of a request", str(name), list(known))
    lacking = [field.name for field in fields(kind) if field.default is MISSING and field.name not in given]
    if lacking:
        raise InputError(f"a request lacks {', '.join(lacking)}", remedy=f"Its keys are {', '.join(known)}.")
    return kind(**{name: _value(name, given[name], known[name]) for name in given})


def _value(name: str, value: Any, kind: str) -> Any:
    # By the exact kind: a truth value is no number here.
    if type(value).__name__ != kind:
        raise InputError(f"{name} is of the wrong kind", value=type(value).__name__, remedy=f"Send {_KINDS[kind]}.")
    if kind == "str":
        return _text(name, value)
    if name in _COUNTS and not _COUNTS[name][0] <= value <= _COUNTS[name][1]:
        low, high = _COUNTS[name]
        raise InputError(f"{name} is out of range", value=value, remedy=f"Send {low} to {high}.")
    return value


def _text(name: str, value: str) -> str:
    if len(value) > LONGEST:
        raise InputError(f"{name} has {len(value)} characters", remedy=f"Up to {LONGEST} are read.")
    if name in _CHOICES and value not in _CHOICES[name]:
        raise unknown(name, value, list(_CHOICES[name]))
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{name} holds half a character", remedy="Send well-formed Unicode.") from error
    # As a corpus has its cells, so that a row picked and a row typed are one.
    return unicodedata.normalize("NFC", value).strip() if name != "find" else value


def known_language(code: str, languages: Mapping[str, Any] | tuple[str, ...]) -> str | None:
    """The language, or None for '': it is not one of the corpus."""
    if not code:
        return None
    if code not in languages:
        raise unknown("language of the corpus", code, list(languages))
    return code
