"""Where the words of a text are, by Unicode property; a real segmenter for scripts without spaces."""

from __future__ import annotations

import functools
from collections.abc import Callable

import regex

from interlingua.errors import MissingExtra, NoSegmenter

Span = tuple[int, int]

# Letters with their combining marks (Hindi vowel signs are marks, which `\w` of `re` leaves out), joined by
# an inner apostrophe, hyphen or middle dot; numbers keep an inner point, comma or colon.
_WORD = regex.compile(
    r"\p{N}+(?:[.,:]\p{N}+)+|[\p{L}\p{M}\p{N}_]+(?:['’ʼ\-·][\p{L}\p{M}\p{N}]+)*",
    flags=regex.VERSION1,
)
_UNSPACED = regex.compile(
    r"(?P<han>\p{Han}+)|(?P<thai>\p{Thai}+)"
    r"|(?P<other>[\p{Hiragana}\p{Katakana}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]+)",
    flags=regex.VERSION1,
)


def word_spans(text: str) -> list[Span]:
    """The character spans of the words of a text, in order; punctuation is no word.

    >>> [text[a:b] for text in ["Don't pay 1,500 for it!"] for a, b in word_spans(text)]
    ["Don't", 'pay', '1,500', 'for', 'it']
    >>> [text[a:b] for text in ["हिन्दी में किताब"] for a, b in word_spans(text)]
    ['हिन्दी', 'में', 'किताब']
    """
    spans: list[Span] = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        runs = list(_UNSPACED.finditer(text, start, end))
        if not runs:
            spans.append((start, end))
            continue
        at = start
        for run in runs:
            if run.start() > at:
                spans.append((at, run.start()))
            spans += _cut(run.group(), run.start(), str(run.lastgroup))
            at = run.end()
        if at < end:
            spans.append((at, end))
    return spans


def _cut(run: str, offset: int, script: str) -> list[Span]:
    spans: list[Span] = []
    at = offset
    for word in _segmenter(script)(run):
        if word.strip():
            spans.append((at, at + len(word)))
        at += len(word)
    return spans


@functools.cache
def _segmenter(script: str) -> Callable[[str], list[str]]:
    try:
        if script == "han":
            import jieba

            jieba.setLogLevel(60)
            jieba.initialize()
            return lambda run: list(jieba.cut(run))
        if script == "thai":
            from pythainlp.tokenize import word_tokenize

            return lambda run: list(word_tokenize(run, engine="newmm"))
    except ImportError as error:
        raise MissingExtra("segment", f"finding words in {script} script") from error
    raise NoSegmenter(
        "no word segmenter for this script (Japanese, Lao, Khmer, Burmese or Tibetan)",
        remedy="Use sentence or token units, or give the words separated by spaces.",
    )
