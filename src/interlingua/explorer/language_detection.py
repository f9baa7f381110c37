"""The language of a typed text, among those of a corpus: naive Bayes over pieces of words of its sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import regex

from interlingua import languages as codes
from interlingua.corpus import ParallelCorpus
from interlingua.readers.scripts import has_own_script

MAX_SENTENCES = 1000
"""Sentences of each language that are learnt from."""
MIN_LOG_ODDS = 10.0
"""How much likelier another language must be than the one chosen: 22,000 to 1."""
_WORD = regex.compile(r"[\p{L}\p{M}]+")
_ORDERS = (1, 2, 3)


@dataclass(frozen=True)
class LanguageDetector:
    """How often each piece of one to three letters is in each language, as logarithms of probabilities."""

    languages: tuple[str, ...]
    log_probabilities: dict[str, tuple[float, ...]]
    unseen: tuple[tuple[float, ...], ...]
    """Of a piece that no language has: by its length less 1, then by language."""

    @classmethod
    def of(cls, corpus: ParallelCorpus) -> LanguageDetector:
        """What the sentences of a corpus show."""
        counts = [Counter[str]() for _ in corpus.languages]
        for counter, code in zip(counts, corpus.languages, strict=True):
            for text in corpus.column(code)[:MAX_SENTENCES]:
                counter.update(_pieces(text))
        known = set[str]().union(*counts)
        kinds = [sum(len(piece) == order for piece in known) + 1 for order in _ORDERS]
        sums = [
            [sum(n for piece, n in counter.items() if len(piece) == order) for counter in counts] for order in _ORDERS
        ]
        smooth = 0.1  # A piece that is not in the corpus is rare, and not as likely as any.

        def log_probability(count: int, order: int, place: int) -> float:
            return math.log((count + smooth) / (sums[order - 1][place] + smooth * kinds[order - 1]))

        places = range(len(counts))
        table = {
            piece: tuple(log_probability(counts[place][piece], len(piece), place) for place in places)
            for piece in known
        }
        unseen = tuple(tuple(log_probability(0, order, place) for place in places) for order in _ORDERS)
        return cls(corpus.languages, table, unseen)

    def other_language(self, text: str, chosen: str) -> str | None:
        """The language that a text is in, where it is clearly another than the one chosen; else None.

        >>> corpus = ParallelCorpus.of({"en": ["The tap is leaking again."] * 2, "ru": ["Кран снова течёт.", "Да."]})
        >>> detector = LanguageDetector.of(corpus)
        >>> detector.other_language("Снова кран.", "en"), detector.other_language("Снова кран.", "ru")
        ('ru', None)
        """
        scores = [0.0] * len(self.languages)
        letters = 0
        for piece in _pieces(text):
            letters += len(piece) == 1
            found = self.log_probabilities.get(piece, self.unseen[len(piece) - 1])
            scores = [score + value for score, value in zip(scores, found, strict=True)]
        if letters == 0:
            return None
        best = max(range(len(scores)), key=scores.__getitem__)
        # The orders say much the same of each letter, so that their sum counts it more than once.
        odds = (scores[best] - scores[self.languages.index(chosen)]) / len(_ORDERS)
        return self.languages[best] if odds > MIN_LOG_ODDS and self.languages[best] != chosen else None


def doubt(detector: LanguageDetector, text: str, chosen: str | None, side: str) -> dict[str, str] | None:
    """What there is to say of a text that is not in the language chosen for it; `side` is the first or the second."""
    if chosen is None:
        return None
    other = detector.other_language(text, chosen)
    foreign = not has_own_script(chosen, text)
    if other is None and not foreign:
        return None
    name = codes.name(chosen)
    if other is not None and not (foreign and not has_own_script(other, text)):
        problem = f"The {side} text looks like {codes.name(other)}, and {name} is chosen"
        remedy = f"Choose {codes.name(other)}: means and ranges are those of {name} now."
    else:
        other, problem = None, f"The {side} text has no letter in the script of {name}"
        remedy = "Choose its language, or “another language”."
    return {"language": other or "", "message": f"{problem}. {remedy}"}


def _pieces(text: str) -> Iterator[str]:
    """The letters of each word, and its pieces of two and three, with a space at both ends."""
    for word in _WORD.findall(text.casefold()):
        yield from word
        padded = f" {word} "
        for order in _ORDERS[1:]:
            for begin in range(len(padded) - order + 1):
                yield padded[begin : begin + order]
