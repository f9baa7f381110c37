"""Raw text without the lines that teach a language model nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import regex

_SHORTEST = 8
_LETTERS = 0.6
_LETTER = regex.compile(r"[\p{L}\p{M}]")
_DIGIT = regex.compile(r"\p{Nd}")
# Harakat, superscript alef and tatweel: the tokenizer drops them too.
_UNWRITTEN = regex.compile("[\u064b-\u0652\u0670\u0640]")


def tidy(lines: Iterable[str]) -> Iterator[str]:
    """The lines that are worth learning from, in order; doing it twice changes nothing.

    Left out: lines of fewer than 8 characters, with a web address, with fewer letters than 60 % of their characters
    (tables, code, numbers), and lines seen before in all but their digits (menus, dates, headings).

    >>> list(tidy(["Version 2.0 is out now", "Version 3.1 is out now", "ok", "see http://a.example", "1 + 1 = 2 (!)"]))
    ['Version 2.0 is out now']
    """
    seen: set[bytes] = set()
    for line in lines:
        text = _UNWRITTEN.sub("", line)
        if len(text) < _SHORTEST or "http" in text or len(_LETTER.findall(text)) < _LETTERS * len(text):
            continue
        key = hashlib.blake2b(_DIGIT.sub("0", text).encode(), digest_size=8).digest()
        if key not in seen:
            seen.add(key)
            yield line
