"""Counts as text: one row, two rows."""

from __future__ import annotations

import re

_NOUNS = (
    "cells", "columns", "comments", "entries", "entities", "examples", "files", "languages", "lines", "links", "pairs",
    "questions", "records", "rows", "sentences", "steps", "targets", "texts", "words",
)  # fmt: skip
_PLURAL = re.compile(rf"\b({'|'.join(_NOUNS)})\b")


def count_noun(count: int, what: str) -> str:
    """A count and what it is of, whose first plural becomes singular for one: all that we count is in the plural.

    >>> count_noun(2, "duplicate rows"), count_noun(1, "duplicate rows"), count_noun(1, "entries that no word is in")
    ('2 duplicate rows', '1 duplicate row', '1 entry that no word is in')
    """
    return f"{count:,} {_PLURAL.sub(_singular, what, count=1) if count == 1 else what}"


def _singular(found: re.Match[str]) -> str:
    word = found[1]
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]
