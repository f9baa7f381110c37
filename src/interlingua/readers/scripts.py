"""Texts that cannot be in the language they are said to be in: swapped columns, a column copied twice.

A text contradicts its language if it has letters and none of them is of a script that the language is written in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import regex

from interlingua import languages as codes
from interlingua.corpus import ParallelCorpus, Skip
from interlingua.errors import InputError

_MANY_SCRIPTS = frozenset(
    ("az", "ber", "bm", "bs", "crh", "cu", "ff", "ha", "iu", "jv", "kab", "kk", "ks", "ku", "ky", "mn", "mni", "ms")
) | {"nan", "pa", "pi", "rom", "sa", "sat", "sd", "sh", "shi", "sr", "su", "tg", "tk", "tly", "tmh", "tt", "tzm", "ug"}
_MANY_SCRIPTS |= {"uz", "vai", "za", "zgh"}
"""Languages that are written in several scripts, so that another script is no error; their rows are noted."""
_LETTER = regex.compile(r"\p{L}")
_WHOLE = {"Jpan": "Hani|Hira|Kana", "Kore": "Hang|Hani", "Hans": "Hani|Bopo", "Hant": "Hani|Bopo", "Aran": "Arab"}
NEARLY_ALL, MOST, LEAST = 0.9, 0.5, 10
"""Shares of a language's rows that make an error and a note, and the rows below which nothing is said."""


def checked(corpus: ParallelCorpus, *, file: str | None = None) -> ParallelCorpus:
    """The corpus, with a note on languages most of whose rows are in another script; nearly all of them are an error.

    `file` is what an error names in place of the corpus.

    >>> corpus = ParallelCorpus.of({"en": ["Да."] * 10, "ru": [f"{n} cups" for n in range(10)]})
    >>> checked(corpus)
    Traceback (most recent call last):
    interlingua.errors.InputError: corpus: 10 of 10 rows of en have no letter in its script (Latn): 'Да.'. \
Are columns or files swapped? If the text is meant to be in that script, say so in its code, such as en-Cyrl.
    """
    notes = []
    for code, column in corpus.texts.items():
        found = foreign_rows(code, column)
        if found is None:
            continue
        if found.count >= NEARLY_ALL * found.written and code.split("-")[0] not in _MANY_SCRIPTS:
            raise InputError(
                f"{found.count} of {found.written} rows of {code} have no letter in its script ({found.script})",
                file=file or corpus.name,
                value=found.example,
                remedy="Are columns or files swapped? If the text is meant to be in that script, say so in its code, "
                f"such as {code}-{_script_of(found.example)}.",
            )
        notes.append(Skip(f"texts without a letter in the script of {code} ({found.script}), kept", found.count))
    return replace(corpus, skipped=(*corpus.skipped, *notes)) if notes else corpus


@dataclass(frozen=True)
class Foreign:
    """How many of the texts with letters have none in the script of their language, and one of them."""

    code: str
    script: str
    count: int
    written: int
    example: str

    def __str__(self) -> str:
        return f"{self.count} of {self.written} texts in {self.code} have no letter in its script ({self.script})"


def foreign_rows(code: str, texts: Iterable[str | None]) -> Foreign | None:
    """What there is to say of a language's texts: most of them are in another script. Else None."""
    script = codes.script(code)
    if not codes.has_known_script(code) or (own := _letters(script)) is None:
        return None
    written = [text for text in texts if text and _LETTER.search(text)]
    foreign = [text for text in written if not own.search(text)]
    if len(written) < LEAST or len(foreign) <= MOST * len(written):
        return None
    return Foreign(code, script, len(foreign), len(written), foreign[0])


@cache
def _letters(script: str) -> regex.Pattern[str] | None:
    """What finds a letter of a script; None where Unicode has no such script, as of the unwritten."""
    try:
        return regex.compile("|".join(rf"\p{{Script={name}}}" for name in _WHOLE.get(script, script).split("|")))
    except regex.error:
        return None


def _script_of(text: str) -> str:
    for script in ("Latn", "Cyrl", "Arab", "Hans", "Deva", "Grek", "Hebr", "Thai", "Jpan", "Kore"):
        if (own := _letters(script)) is not None and own.search(text):
            return script
    return "Latn"
