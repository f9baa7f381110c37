"""Answers judged as the official scripts of SQuAD 1.1 and MLQA judge them: F1 over words, and exact match.

Both scripts put answers in lower case and take out punctuation, articles and extra white space. SQuAD's knows ASCII
punctuation and English articles; MLQA's knows all of Unicode's punctuation and the articles of its languages, and cuts
Chinese into characters.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

import regex

Cut = Callable[[str], list[str]]

_ARTICLES = {
    "en": r"\b(a|an|the)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "vi": r"\b(của|là|cái|chiếc|những)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    # As MLQA's script has it: the first half can't match, the second takes the article out of the middle of words too.
    "ar": r"\sال^|ال",
}
_HAN = regex.compile(r"[\u4e00-\u9fa5]")


def squad_words(text: str) -> list[str]:
    """The words of an answer as the script of SQuAD 1.1 compares them.

    >>> squad_words("The  U.S. News"), squad_words("«A» cat")
    (['us', 'news'], ['«', '»', 'cat'])
    """
    bare = "".join(sign for sign in text.lower() if sign not in string.punctuation)
    return re.sub(_ARTICLES["en"], " ", bare).split()


def mlqa_words(language: str) -> Cut:
    """What cuts an answer in this language into words as MLQA's script does.

    A language that MLQA does not have is cut at white space and has no articles.

    >>> mlqa_words("es")("¡El gato!"), mlqa_words("zh")("在1960年。"), mlqa_words("ru")("«Кот» и the")
    (['gato'], ['在', '1960', '年'], ['кот', 'и', 'the'])
    """
    code = language.partition("-")[0]
    article = _ARTICLES.get(code)

    def cut(text: str) -> list[str]:
        bare = "".join(sign for sign in text.lower() if not _is_punctuation(sign))
        bare = re.sub(article, " ", bare) if article else bare
        return (_HAN.sub(r" \g<0> ", bare) if code == "zh" else bare).split()

    return cut


def official(language: str) -> Cut:
    """The script that is official for a language: SQuAD's for English, MLQA's for all others."""
    return squad_words if language == "en" else mlqa_words(language)


def exact(said: str, answers: Sequence[str], cut: Cut) -> float:
    """1 where what was said is one of the answers, up to case, punctuation and articles; else 0.

    >>> exact("the cat", ["Cat!", "a dog"], squad_words)
    1.0
    """
    words = cut(said)
    return float(any(words == cut(answer) for answer in answers))


def overlap(said: str, answers: Sequence[str], cut: Cut) -> float:
    """The F1 of the words said and those of the nearest answer, in [0, 1].

    With c words in common, counted as often as both have them: 2c / (words said + words of the answer).

    >>> overlap("the old cat", ["cat", "an old dog"], squad_words)
    0.6666666666666666
    """
    words = Counter(cut(said))
    best = 0.0
    for answer in answers:
        wanted = Counter(cut(answer))
        shared = (words & wanted).total()
        best = max(best, 2 * shared / (words.total() + wanted.total()) if shared else 0.0)
    return best


@cache
def _is_punctuation(sign: str) -> bool:
    return sign in string.punctuation or unicodedata.category(sign).startswith("P")
