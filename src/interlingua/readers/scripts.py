"""Texts that cannot be what they are said to be: columns swapped or copied, labels, a wrong encoding.

A text contradicts its language if it has letters and none of them is of a script that the language is written in. It
was decoded with the wrong encoding if, encoded back, it is UTF-8 (`Ñ‡Ð°Ð¹` for `чай`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
import regex
from numpy.typing import NDArray

from interlingua import languages as codes
from interlingua.corpus import ParallelCorpus, Skip
from interlingua.errors import InputError

_MANY_SCRIPTS = frozenset(
    ("az", "ber", "bm", "bs", "crh", "cu", "ff", "ha", "iu", "jv", "kab", "kk", "ks", "ku", "ky", "mn", "mni", "ms")
) | {"nan", "pa", "pi", "rom", "sa", "sat", "sd", "sh", "shi", "sr", "su", "tg", "tk", "tly", "tmh", "tt", "tzm", "ug"}
_MANY_SCRIPTS |= {"uz", "vai", "za", "zgh"}
"""Languages that are written in several scripts, so that another script is no error; their rows are noted."""
_LETTER = regex.compile(r"\p{L}")
_MARK = regex.compile(r"[<>\[{_#@|=]\S*\w\S*")
_PIECES = regex.compile(r"\S@@ |▁")
_ESCAPE = regex.compile(r"&(?:amp|quot|apos|lt|gt|nbsp|#\d+|#x[0-9a-fA-F]+);")
_NUMBER = regex.compile(r"[#(\[]?\d+[.):\]]*")
_WHOLE = {"Jpan": "Hani|Hira|Kana", "Kore": "Hang|Hani", "Hans": "Hani|Bopo", "Hant": "Hani|Bopo", "Aran": "Arab"}
NEARLY_ALL, MOST, LEAST, MANY = 0.9, 0.5, 10, 20
"""Shares of a language's rows that make an error and a note, and the rows below which there is no message (about
labels).
"""

_LOOKED = 2_000_000
"""Cells of a corpus that are looked at before languages are compared row by row."""


def checked(corpus: ParallelCorpus, *, file: str | None = None) -> ParallelCorpus:
    """The corpus, with a note on languages most of whose rows are in another script; nearly all of them are an error.

    `file` is what an error names in place of the corpus.

    >>> corpus = ParallelCorpus.of({"en": ["Да."] * 10, "ru": [f"{n} cups" for n in range(10)]})
    >>> checked(corpus)
    Traceback (most recent call last):
    interlingua.errors.InputError: corpus: 10 of 10 rows of en have no letter in its script (Latn): 'Да.'. \
Are columns or files swapped? If the text is meant to be in that script, say so in its code, such as en-Cyrl.
    """
    notes: list[Skip] = []
    for code, column in corpus.texts.items():
        notes += _unreadable(code, column, file or corpus.name)
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
        notes.append(Skip(f"{found.noun}, kept", found.count))
    notes += _same_texts(corpus, file or corpus.name)
    _refuse_few(corpus, file or corpus.name)
    _refuse_labels(corpus, file or corpus.name)
    return replace(corpus, skipped=(*corpus.skipped, *notes)) if notes else corpus


def _unreadable(code: str, column: Iterable[str | None], file: str) -> list[Skip]:
    """Notes on lost and escaped characters; an error where most texts are wrongly decoded, cut, or without a letter."""
    texts = [text for text in column if text]
    written = [text for text in texts if not text.isascii()]
    garbled = [text for text in written if _is_garbled(text)]
    lost = [text for text in texts if "\ufffd" in text]
    blank = [text for text in texts if _LETTER.search(text) is None]
    remedy = "Give the file's own encoding (--encoding utf-8), or make the file anew from its source."
    shown = f"{len(texts)} rows of {code}"
    if len(garbled) >= LEAST and len(garbled) > MOST * len(written):
        problem = f"{len(garbled)} of {shown} are UTF-8 that was read as another encoding"
        raise InputError(problem, file=file, value=garbled[0], remedy=remedy)
    if len(lost) >= LEAST and len(lost) > MOST * len(texts):
        raise InputError(
            f"{len(lost)} of {shown} have the sign of lost characters", file=file, value=lost[0], remedy=remedy
        )
    if len(blank) >= LEAST and len(blank) >= NEARLY_ALL * len(texts):
        remedy = "Give sentences; for columns of numbers, the column that holds the text."
        raise InputError(f"{len(blank)} of {shown} have no letter", file=file, value=blank[0], remedy=remedy)
    pieces = [text for text in texts if _PIECES.search(text)]
    if len(pieces) >= LEAST and len(pieces) > MOST * len(texts):
        problem = f"{len(pieces)} of {shown} are cut into pieces of words"
        raise InputError(
            problem, file=file, value=pieces[0], remedy="Join the pieces: models have tokenizers of their own."
        )
    escaped = [text for text in texts if _ESCAPE.search(text)]
    notes = {"the sign of lost characters": lost, "characters written as &quot; or the like": escaped}
    return [Skip(f"texts of {code} with {what}, kept", len(its)) for what, its in notes.items() if len(its) >= LEAST]


def _is_garbled(text: str) -> bool:
    """Whether a text becomes another when it is encoded back as it may have been decoded, and decoded as UTF-8.

    >>> [_is_garbled(text) for text in ("Ñ\x87Ð°Ð¹", "Ð§Ð°Ð¹", "cafÃ©", "чай", "café", "Ça va ?")]
    [True, True, True, False, False, False]
    """
    for encoding in ("latin-1", "cp1252", "cp1251", "koi8-r", "cp437"):
        try:
            return text.encode(encoding).decode() != text
        except UnicodeError:
            continue
    return False


def _same_texts(corpus: ParallelCorpus, file: str) -> list[Skip]:
    """Notes on pairs of languages nearly all of whose rows have one and the same text; of sentences it is an error.

    Names are often the same in two languages, sentences of three words or more are not.
    """
    notes = []
    columns = list(corpus.texts.items())
    step = 1 + len(corpus) * len(columns) // _LOOKED
    looked = _numbered([column[::step] for _, column in columns])
    for place, (code, column) in enumerate(columns):
        here = np.flatnonzero(looked[place])
        rest = looked[place + 1 :, here]
        same_here, both_here = (rest == looked[place, here]).sum(1), (rest > 0).sum(1)
        # A look at some rows decides whether all are compared.
        for later in np.flatnonzero((same_here > 0) & (same_here >= MOST * both_here)):
            other, texts = columns[place + 1 + later]
            if code.split("-")[0] == other.split("-")[0] or codes.script(code) != codes.script(other):
                continue
            both = [(ours, theirs) for ours, theirs in zip(column, texts, strict=True) if ours and theirs]
            same = [ours for ours, theirs in both if ours == theirs]
            if len(same) < LEAST or len(same) < NEARLY_ALL * len(both):
                continue
            sentences = [text for text in same if len(text.split()) > 2 and _LETTER.search(text)]
            if len(sentences) >= NEARLY_ALL * len(both):
                raise InputError(
                    f"{len(same)} of {len(both)} rows have the same text in {code} and {other}",
                    file=file,
                    value=sentences[0],
                    remedy="Was a column or file copied? Give the translations.",
                )
            notes.append(Skip(f"rows with the same text in {code} and {other}, kept", len(same)))
    return notes


def _numbered(columns: Sequence[Sequence[str | None]]) -> NDArray[np.int32]:
    """The texts of columns by numbers from 1, (column, row): equal texts have equal numbers, and no text has 0."""
    known: dict[str | None, int] = {None: 0, "": 0}
    return np.array([[known.setdefault(text, len(known)) for text in column] for column in columns], np.int32)


def _refuse_few(corpus: ParallelCorpus, file: str) -> None:
    """An error where one language has a handful of texts for many different ones of another: labels, or a filler."""
    step = 1 + len(corpus) // 2000  # A look at some rows decides.
    looked = {code: column[::step] for code, column in corpus.texts.items()}
    found = {code: len({text for text in column if text}) for code, column in looked.items()}
    suspects = [code for code, column in looked.items() if len(column) >= MANY and 10 * found[code] <= len(column)]
    for code in suspects:
        for other in (name for name in looked if found[name] > 5 * found[code]):
            both = [(ours, theirs) for ours, theirs in zip(looked[code], looked[other], strict=True) if ours and theirs]
            few, many = (len(set(side)) for side in (zip(*both, strict=True) if both else ((), ())))
            if len(both) >= MANY and 10 * few <= len(both) < 2 * many:
                raise InputError(
                    f"{len(both)} rows of {code} have {few} different text{'' if few == 1 else 's'}, those of {other} "
                    f"{many}",
                    file=file,
                    value=both[0][0],
                    remedy="Is it a column of labels? Give the one that holds the translations.",
                )


def _refuse_labels(corpus: ParallelCorpus, file: str) -> None:
    """An error where a label or a number stands at one end of nearly all texts: a column with a space beside it.

    A label is a word at the same end of both texts of a row, one of few (`__label__pos`, `entailment`), or a mark in
    one language alone (`>>ru<<`, `</s>`). A number stands before each text, another one each time. They are alike in
    every language, and would be what retrieval goes by.
    """
    step = 1 + len(corpus) // 2000  # A look at some rows decides.
    looked = {code: column[::step] for code, column in corpus.texts.items()}
    for place, end in ((0, "begin"), (-1, "end")):
        words = {
            code: [text.split()[place] if text and len(text.split()) > 1 else "" for text in column]
            for code, column in looked.items()
        }
        for code, own in words.items() if place == 0 else ():
            numbers = [word for word in own if _NUMBER.fullmatch(word)]
            given = sum(text is not None for text in looked[code])
            if len(numbers) >= max(MANY, NEARLY_ALL * given) and 2 * len(set(numbers)) > len(numbers):
                raise _beside(f"{len(numbers)} of {given} rows of {code} {end} with a number", file, looked[code])
        for first, other in pairwise(words):
            both = [(one, two) for one, two in zip(words[first], words[other], strict=True) if one and two]
            same = [one for one, two in both if one == two and _LETTER.search(one)]
            if len(same) >= max(MANY, NEARLY_ALL * len(both)) and len(set(same)) <= len(same) / 5:
                problem = f"{len(same)} of {len(both)} rows {end} with the same word in {first} and {other}"
                raise _beside(f"{problem}, one of {len(set(same))}", file, looked[first])
        for code, own in words.items():
            marks = [word for word in own if _MARK.fullmatch(word)]
            given = sum(word != "" for word in own)
            if len(marks) >= max(MANY, NEARLY_ALL * given) and len(set(marks)) <= len(marks) / 5:
                raise _beside(
                    f"{len(marks)} of {given} rows of {code} {end} with a mark, {marks[0]}", file, looked[code]
                )


def _beside(problem: str, file: str, texts: Iterable[str | None]) -> InputError:
    remedy = "A label or a number is no part of a sentence: cut it out, or put a tab beside it and give --column 2."
    return InputError(problem, file=file, value=next(text for text in texts if text), remedy=remedy)


@dataclass(frozen=True)
class Foreign:
    """How many of the texts with letters have none in the script of their language, and one of them."""

    code: str
    script: str
    count: int
    written: int
    example: str

    @property
    def noun(self) -> str:
        """What such texts are called in a note."""
        return f"texts without a letter in the script of {self.code} ({self.script})"

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


def has_own_script(code: str, text: str) -> bool:
    """Whether a text has a letter in the script of a language, or no letter, or nothing is known of the script.

    >>> has_own_script("es", "Кран"), has_own_script("es", "¿Qué?"), has_own_script("ru", "42")
    (False, True, True)
    """
    own = _letters(codes.script(code)) if codes.has_known_script(code) else None
    return own is None or own.search(text) is not None or _LETTER.search(text) is None
