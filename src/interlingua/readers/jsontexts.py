"""Texts in JSON: strings that are whole, or an error that says which is not."""

from __future__ import annotations

from interlingua.errors import InputError


def text_of(value: object, what: str, *, file: str, line: int | None = None, remedy: str = "Give a string.") -> str:
    """The value, where it is a text that can be written down again; `what` names it in an error.

    JSON may escape one half of a surrogate pair alone, which no encoding has.
    """
    if not isinstance(value, str):
        shown = "null" if value is None else value
        raise InputError(f"{what} is no text", file=file, line=line, value=shown, remedy=remedy)
    if any("\ud800" <= sign <= "\udfff" for sign in value):
        raise InputError(
            f"{what} holds half a surrogate pair",
            file=file,
            line=line,
            remedy="Write the character itself, or both halves of its escape.",
        )
    return value


def question_id(given: object, *, file: str, line: int | None = None) -> str:
    """The id of a question as a text; numbers are ids, too."""
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    return text_of(given, "the id of a question", file=file, line=line, remedy="Give a string or a number.")
