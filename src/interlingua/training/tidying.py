"""Raw text without the lines that teach a language model nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import regex

RULES = ("short", "web address", "few letters", "repeated")
_SHORTEST = 8
_LETTERS = 0.6
_NO_LETTERS = regex.compile(r"[^\p{L}\p{M}]+")
_DIGIT = regex.compile(r"\p{Nd}")
# Harakat, superscript alef and tatweel: the tokenizer drops them too.
_UNWRITTEN = regex.compile("[\u064b-\u0652\u0670\u0640]")


def tidy(lines: Iterable[str]) -> Iterator[str]:
    """The lines that are worth learning from, in order; doing it twice changes nothing.

    Left out: lines of fewer than 8 characters, with "http" in them, with fewer letters than 60 % of their characters
    (tables, code, numbers), and lines seen before in all but their digits (menus, dates, headings).

    >>> list(tidy(["Version 2.0 is out now", "Version 3.1 is out now", "ok", "see http://a.example", "1 + 1 = 2 (!)"]))
    ['Version 2.0 is out now']
    """
    return (line for line, rule in judged(lines) if rule is None)


def judged(lines: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Every line, in order, with the first of `RULES` that leaves it out; None for a line that is kept.

    >>> [rule for _, rule in judged(["Version 2.0 is out now", "Version 3.1 is out now", "ok", "1 + 1 = 2 (!)"])]
    [None, 'repeated', 'short', 'few letters']
    """
    seen: set[bytes] = set()
    for line in lines:
        text = _UNWRITTEN.sub("", line)
        if len(text) < _SHORTEST:
            yield line, "short"
        elif "http" in text:
            yield line, "web address"
        elif len(_NO_LETTERS.sub("", text)) < _LETTERS * len(text):
            yield line, "few letters"
        else:
            key = hashlib.blake2b(_DIGIT.sub("0", text).encode(), digest_size=8).digest()
            yield line, "repeated" if key in seen else None
            seen.add(key)
