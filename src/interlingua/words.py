"""Where the words of a text are, by Unicode property; a real segmenter for scripts without spaces."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import accumulate
from typing import Any

import regex

from interlingua.errors import MissingExtra, NoSegmenter

Span = tuple[int, int]

# Letters with their combining marks (Hindi vowel signs are marks, which `\w` of `re` leaves out), joined by
# an inner apostrophe, hyphen or middle dot; numbers keep an inner point, comma or colon.
_LETTERS = r"\p{N}+(?:[.,:]\p{N}+)+|[\p{L}\p{M}\p{N}_]+(?:['’ʼ\-·][\p{L}\p{M}\p{N}]+)*"
_WORD = regex.compile(_LETTERS, flags=regex.VERSION1)
# Or a run of one punctuation mark: "…", "--" and "?!" are one, one and two tokens. Control and format characters
# (joiners, byte order marks) are invisible and in no token.
_INVISIBLE = r"\s\p{Cc}\p{Cf}\p{Cs}"
_TOKEN = regex.compile(
    rf"{_LETTERS}|(?P<mark>[^\p{{L}}\p{{M}}\p{{N}}_{_INVISIBLE}])(?P=mark)*\p{{M}}*", flags=regex.VERSION1
)
_VISIBLE = regex.compile(rf"[^{_INVISIBLE}]", flags=regex.VERSION1)
_OTHERS = r"[\p{Hiragana}\p{Katakana}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
_UNSPACED = regex.compile(
    rf"(?P<han>\p{{Han}}+)|(?P<thai>\p{{Thai}}+)|(?P<other>{_OTHERS}+)",
    flags=regex.VERSION1,
)
_WITHOUT_SEGMENTER = regex.compile(_OTHERS, flags=regex.VERSION1)
_CHARACTER = regex.compile(r"\X", flags=regex.VERSION1)  # as a reader sees it, its marks included
_FIELD = re.compile(r"\S+")
_SEGMENTERS = {"han": "jieba", "thai": "pythainlp"}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text and where its words are: what is aligned, and what an encoder reads.

    >>> Sentence.of(["Don't", "!"])
    Sentence(text="Don't !", spans=[(0, 5), (6, 7)])
    >>> Sentence("Don't!", token_spans("Don't!")).words
    ["Don't", '!']
    """

    text: str
    spans: list[Span]

    @classmethod
    def of(cls, words: Sequence[str]) -> Sentence:
        """The words of a tokenised text, with one space between them."""
        ends = list(accumulate(len(word) + 1 for word in words))
        return cls(" ".join(words), [(end - len(word) - 1, end - 1) for word, end in zip(words, ends, strict=True)])

    @property
    def words(self) -> list[str]:
        return [self.text[start:end] for start, end in self.spans]


def word_spans(text: str) -> list[Span]:
    """The character spans of the words of a text, in order; punctuation is no word.

    >>> [text[a:b] for text in ["Don't pay 1,500 for it!"] for a, b in word_spans(text)]
    ["Don't", 'pay', '1,500', 'for', 'it']
    >>> [text[a:b] for text in ["हिन्दी में किताब"] for a, b in word_spans(text)]
    ['हिन्दी', 'में', 'किताब']
    """
    return _spans(text, _WORD, characters="none")


def token_spans(text: str, *, segmented: bool = True) -> list[Span]:
    """The character spans of words and punctuation, in order: every visible character is in exactly one.

    Words are those of `word_spans`; a run of one punctuation mark is one token, different marks are several. What an
    aligner wants: a mark is often the only anchor of a short sentence. Scripts without spaces and without a
    segmenter here (Japanese kana, Lao, Khmer, Burmese, Tibetan) are cut into characters; `by_character` shows which.
    Unless `segmented`, so are Chinese and Thai.

    >>> [text[a:b] for text in ["Don't pay 1,500 -- now?!"] for a, b in token_spans(text)]
    ["Don't", 'pay', '1,500', '--', 'now', '?', '!']
    """
    return _spans(text, _TOKEN, characters="all" if not segmented else "some")


def field_spans(text: str) -> list[Span]:
    """The character spans of what white space separates, as `str.split` cuts: for text that is tokenised already.

    >>> field_spans(" to be  , or")
    [(1, 3), (4, 6), (8, 9), (10, 12)]
    """
    return [match.span() for match in _FIELD.finditer(text)]


def by_character(text: str) -> bool:
    """Whether `token_spans` cuts some of the text into characters, for want of a segmenter.

    >>> by_character("ペン"), by_character("pen")
    (True, False)
    """
    return _WITHOUT_SEGMENTER.search(text) is not None


def lacks_segmenter(text: str) -> str | None:
    """The script, Chinese or Thai, whose words could be found in the text if the extra `segment` were installed.

    >>> lacks_segmenter("pen") is None
    True
    """
    for run in _UNSPACED.finditer(text):
        script = str(run.lastgroup)
        if script in _SEGMENTERS and not _installed(_SEGMENTERS[script]):
            return script
    return None


@functools.cache
def _installed(package: str) -> bool:
    return find_spec(package) is not None


def has_tokens(text: str) -> bool:
    """Whether `token_spans` finds anything in the text.

    >>> has_tokens("\u200b \ufeff"), has_tokens("!")
    (False, True)
    """
    return _VISIBLE.search(text) is not None


def _spans(text: str, pattern: Any, *, characters: str) -> list[Span]:
    if _UNSPACED.search(text) is None:
        return [match.span() for match in pattern.finditer(text)]
    spans: list[Span] = []
    for match in pattern.finditer(text):
        start, end = match.span()
        at = start
        for run in _UNSPACED.finditer(text, start, end):
            if run.start() > at:
                spans.append((at, run.start()))
            spans += _cut(run.group(), run.start(), str(run.lastgroup), characters=characters)
            at = run.end()
        if at < end:
            spans.append((at, end))
    return spans


def _cut(run: str, offset: int, script: str, *, characters: str) -> list[Span]:
    spans: list[Span] = []
    at = offset
    single = characters == "all" or (characters == "some" and script == "other")
    for word in _CHARACTER.findall(run) if single else _segmenter(script)(run):
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
