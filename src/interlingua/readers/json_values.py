"""Texts in JSON: strings that are whole, or an error that says which is not."""

from __future__ import annotations

import json
import re
from typing import Any

from interlingua.errors import InputError

_HALF_PAIR = re.compile("[\ud800-\udfff]")


def load_json(text: str, *, file: str, line: int | None = None, remedy: str) -> Any:
    """What a JSON text says, a line of a file (`line`) or a whole one.

    A key twice in one object, and half a surrogate pair or a zero character in a key or in its text, is an error.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in pairs:
            text_of(key, "a key", file=file, line=line)
            if line is not None and isinstance(value, str):  # In a whole file the reader names the question.
                text_of(value, f"the value of {key[:40]!r}", file=file, line=line)
            if key in made:
                problem = "a key twice in one object"
                raise InputError(problem, file=file, line=line, value=key, remedy="Keep one of the two.")
            made[key] = value
        return made

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        place = line if line is not None else error.lineno
        raise InputError(f"not JSON ({error.msg})", file=file, line=place, remedy=remedy) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON ({error})", file=file, line=line, remedy=remedy) from error


def text_of(value: object, what: str, *, file: str, line: int | None = None, remedy: str = "Give a string.") -> str:
    """The value, where it is a text that can be written down again; `what` names it in an error.

    JSON may escape one half of a surrogate pair alone, which no encoding has, and a zero, which no text file has.
    """
    if not isinstance(value, str):
        shown = "null" if value is None else value if isinstance(value, str | int | float) else repr(value)[:80]
        raise InputError(f"{what} is no text", file=file, line=line, value=shown, remedy=remedy)
    if _HALF_PAIR.search(value):
        raise InputError(
            f"{what} holds half a surrogate pair",
            file=file,
            line=line,
            remedy="Write the character itself, or both halves of its escape.",
        )
    if "\0" in value:  # Text files with one are refused, too.
        raise InputError(f"{what} holds a zero character", file=file, line=line, remedy="Take it out.")
    return value


def question_id(given: object, *, file: str, line: int | None = None) -> str:
    """The id of a question as a text; numbers are ids, too."""
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    return text_of(given, "the id of a question", file=file, line=line, remedy="Give a string or a number.")
