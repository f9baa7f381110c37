"""Rows on their way to a corpus: which columns are languages, where each row stood, what was left out."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import overload

from interlingua import languages as codes
from interlingua.corpus import Cell, ParallelCorpus, Skip
from interlingua.errors import InputError
from interlingua.readers.scripts import has_own_script

# Ordinary names of columns that are also ISO 639-3 codes of small languages (`tag` is Tagoi): they
# are languages only when asked for, since a corpus with a column of tags is a million times likelier.
_WORDS = frozenset(
    ("src", "tgt", "trg", "url", "key", "row", "num", "pos", "tag", "len", "doc", "set", "ner", "org", "per", "loc")
) | {"qid", "sid", "lid", "lab", "sum"}
# Indonesian and Norwegian are no small languages: the values decide.
DOUBTFUL = ("id", "no")

ROLES = {"source": 0, "src": 0, "target": 1, "tgt": 1, "trg": 1}


_BESIDE = re.compile(r"(?:sentence|text|translation)[ _.-]|[ _.-](?:sentence|text|translation)", re.IGNORECASE)
"""What may stand before or after the language in a column's name: `sentence_eng_Latn`, `text_en`, `Russian text`."""


def language_of(column: str, asked: Sequence[str] | None = None) -> str | None:
    """The code of a column's language, named by a code or by a name, or None where its name is no language's.

    >>> language_of("eng_Latn"), language_of("notes"), language_of("tag"), language_of("tag", ["tag", "ar"])
    ('en', None, None, 'tag')
    >>> language_of("English"), language_of("Русский"), language_of("sentence_hin_Deva")
    ('en', 'ru', 'hi')
    """
    name = column.strip("# \t\ufeff")
    if len(name) > 80:
        return None
    if codes.is_language(name):
        code = codes.canonical(name)
        return None if name.lower() in _WORDS and code not in (asked or ()) else code
    if named := codes.code_of_name(name):
        return named
    inner = _BESIDE.sub("", name, count=1)
    return None if inner == name else language_of(inner, asked)


_PROGRAM_NAME = re.compile(r"[a-z]+[_.-]?[a-z0-9][a-z0-9_.-]*")

_COLUMN_NAMES = frozenset(
    (
        "text",
        "texts",
        "sentence",
        "sentences",
        "sent",
        "segment",
        "seg",
        "line",
        "translation",
        "translated",
        "original",
    )
) | {"reference", "premise", "hypothesis", "hypo", "sentence1", "sentence2", "text1", "text2", "sent1", "sent2", "l1"}
_COLUMN_NAMES |= {"l2", "query", "mt", "hyp", "ref", "input", "output", "lang", "language", "column", "col", "field"}
_COLUMN_NAMES |= {"unnamed:", *ROLES}
_COLUMN_NAMES |= {"satz", "übersetzung", "quelle", "ziel", "ausgangstext", "zieltext", "texto", "frase", "oración"}
_COLUMN_NAMES |= {"traducción", "origen", "destino", "texte", "phrase", "traduction", "cible", "testo", "traduzione"}
_COLUMN_NAMES |= {"tradução", "текст", "предложение", "перевод", "оригинал", "原文", "译文", "翻译", "訳文", "文本"}
"""What columns of sentences are called where they are not called by their language."""


def names_a_column(cell: str, language: str | None = None) -> bool:
    """Whether a cell is what a column of sentences is called: `text`, `Source sentence 2`, or by its `language`.

    >>> names_a_column("Source text"), names_a_column("ru", "ru"), names_a_column("no", "es"), names_a_column("Tea.")
    (True, True, False, False)
    >>> names_a_column("column_2"), names_a_column("Sentence A"), names_a_column("2")
    (True, True, False)
    """
    name = " ".join(re.split(r"[\s_.-]+", cell.strip("\"'# \t").lower()))
    if not name or len(name) > 80:
        return False
    if language is not None and language_of(cell.strip("\"'# "), [language]) == language:
        return True
    words = [word.rstrip("0123456789") or word for word in name.split()]
    if len(words) > 1 and len(words[-1]) == 1:  # sentence_a, column 2
        words.pop()
    return name.replace(" ", "") in _COLUMN_NAMES or all(word in _COLUMN_NAMES for word in words)


def is_header(cells: Sequence[str], pair: Sequence[str] | None = None) -> bool:
    """Whether the first row of a table is one of names of columns, not of sentences.

    "So, no" may be the first sentence of a file in English and Spanish: where the languages are known (`pair`), the
    row must name them. Else it must name two. Words such as "text" and "translation" are names, too, and so are numbers
    in order (of pandas), and two different words such as a program's names, one of which should be in another script.

    >>> is_header(["English", "Русский"]), is_header(["So", "no"], ["en", "es"]), is_header(["source", "target"])
    (True, False, True)
    >>> is_header(["English", "translation"], ["en", "ru"]), is_header(["Text", "Text"], ["en", "de"])
    (True, False)
    >>> is_header(["0", "1"], ["en", "es"]), is_header(["left_side", "right"], ["en", "ru"]), is_header(["a", "1"])
    (True, True, False)
    """
    if sorted(ROLES.get(cell.strip().lower(), -1) for cell in cells) == [0, 1]:
        return True
    plain = [cell.strip(" \t\ufeff") for cell in cells]
    different = len({cell.lower() for cell in plain}) == len(cells)
    if plain in ([str(place + first) for place in range(len(plain))] for first in (0, 1)):
        return pair is not None
    foreign = pair is not None and not any(all(map(has_own_script, pair, way)) for way in (plain, plain[::-1]))
    if different and foreign and all(map(_PROGRAM_NAME.fullmatch, plain)):
        return True
    if different and all(any(names_a_column(cell, code) for code in [None, *(pair or ())]) for cell in cells):
        return pair is not None or all(map(names_a_column, cells))
    found = {language_of(cell, pair) for cell in cells}
    if None in found or len(found) < 2:
        return False
    return pair is None or found == set(pair)


def languages_by_role(columns: Sequence[str], asked: Sequence[str] | None) -> dict[str, str]:
    """Column names to languages where the columns are a source and a target and two languages are asked for."""
    roles = {name: ROLES[name.strip().lower()] for name in columns if name.strip().lower() in ROLES}
    if sorted(roles.values()) != [0, 1] or asked is None or len(asked) != 2:
        return {}
    return {name: asked[role] for name, role in roles.items()}


def looks_like_identifiers(values: Sequence[Cell]) -> bool:
    """Whether values are all unique, without white space, of at most 40 characters and with a digit.

    A column named `id` may be Indonesian or a number for each row; so may `no`, Norwegian.

    >>> looks_like_identifiers(["s1", "s2"]), looks_like_identifiers(["Selamat pagi.", "Terima kasih."])
    (True, False)
    """
    given = [value.strip() for value in values if value and value.strip()]
    return len(set(given)) == len(given) and all(
        len(value) <= 40 and len(value.split()) == 1 and any(sign.isdigit() for sign in value) for value in given
    )


def absent(wanted: Sequence[str], known: Sequence[str], file: str) -> InputError:
    """The error for languages asked for that are not there."""
    return InputError(f"has no {', '.join(wanted)}", file=file, remedy=f"It has: {', '.join(known)}.")


MANY_GAPS, GAPS_PER_TEXT = 3_000_000, 100
"""Cells without text, and how many for each with one, from which on a small file would take all memory."""
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


class RowPlaces(Sequence[str]):
    """The place of each row as `file:line`, made when asked for: a million strings outweigh a corpus."""

    def __init__(self) -> None:
        self._files: list[str] = []
        self._starts: list[int] = []
        self._lines = array("q")

    def add(self, file: str, line: int) -> None:
        if not self._files or self._files[-1] != file:
            self._files.append(file)
            self._starts.append(len(self._lines))
        self._lines.append(line)

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        return f"{self._files[bisect_right(self._starts, row) - 1]}:{self._lines[row]}"


class CorpusBuilder:
    """Columns by language, filled row by row, and what was skipped on the way.

    `name` is what places and the corpus are called by, `file` what errors name. `gap` stands where
    a row has no such language: an empty string, which is counted as an empty cell, or None in a
    merge of bitexts, where it is there by design.
    """

    def __init__(self, name: str, *, file: str, gap: Cell = "") -> None:
        self.name, self.file, self.gap = name, file, gap
        self.columns: dict[str, list[Cell]] = {}
        self.places = RowPlaces()
        self._skips: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}
        self._texts = 0

    def add(self, row: Mapping[str, Cell], *, line: int, file: str | None = None) -> None:
        """Append one row: cells by language code."""
        self._texts += sum(1 for text in row.values() if text)
        gaps = len(self.columns) * len(self.places) - self._texts
        if gaps > MANY_GAPS and gaps > GAPS_PER_TEXT * self._texts:
            raise InputError(
                f"{len(self.columns):,} languages, of which a row has few: {gaps:,} gaps",
                file=self.file,
                line=line,
                remedy="Give languages (--languages), or a file of fewer.",
            )
        for code in row:
            if code not in self.columns:
                self.columns[code] = [self.gap] * len(self.places)
        for code, column in self.columns.items():
            column.append(row.get(code, self.gap))
        self.places.add(file or self.name, line)

    def skip(self, reason: str, where: str) -> None:
        """Count something left out; the first three places are kept."""
        self._counts[reason] = self._counts.get(reason, 0) + 1
        places = self._skips.setdefault(reason, [])
        if len(places) < 3:
            places.append(where)

    def note(self, skip: Skip) -> None:
        """Count what another reader has left out."""
        self._counts[skip.reason] = self._counts.get(skip.reason, 0) + skip.count
        places = self._skips.setdefault(skip.reason, [])
        places += skip.where[: 3 - len(places)]

    def unquote(self) -> None:
        """Take the quotation marks off cells of TSV that a spreadsheet or pandas has quoted.

        A cell such as `"He said ""no""."` is never written by hand: where there is one, or where all cells are within
        quotation marks, the file is quoted as CSV has it. Else such a cell (`"Come in!"`) is speech.
        """
        cells = [cell.strip() for column in self.columns.values() for cell in column if cell and cell.strip()]
        whole = len(cells) >= 20 and all(cell[0] == '"' and _QUOTED.fullmatch(cell) for cell in cells)
        if not whole and not any('""' in cell[1:-1] and _QUOTED.fullmatch(cell) for cell in cells):
            return
        for column in self.columns.values():
            for row, cell in enumerate(column):
                if cell and _QUOTED.fullmatch(cell.strip()):
                    column[row] = cell.strip()[1:-1].replace('""', '"')
                    self.skip("cells in quotation marks, read without them", self.places[row])

    def corpus(self, asked: Sequence[str] | None, *, seen: Mapping[str, str | None] | None = None) -> ParallelCorpus:
        """The corpus in the languages asked for; `seen` maps column names to codes, for errors."""
        for code in DOUBTFUL:
            if asked is None and code in self.columns and looks_like_identifiers(self.columns[code]):
                del self.columns[code]
                self.skip("columns that are no language", f"{self.name} {code}")
        if asked is not None and (missing := [code for code in asked if code not in self.columns]):
            known = dict.fromkeys(code for code in (seen or {}).values() if code)
            raise absent(missing, list(known or self.columns), self.file)
        if asked is None and len(self.columns) < 2:
            raise too_few_languages(list(self.columns), list(seen or ()), self.file)
        chosen = {code: self.columns[code] for code in asked or self.columns}
        skipped = [Skip(reason, count, tuple(self._skips[reason])) for reason, count in self._counts.items()]
        return ParallelCorpus.of(chosen, name=self.name, skipped=skipped, places=self.places)


def too_few_languages(found: Sequence[str], seen: Sequence[str], file: str, line: int | None = None) -> InputError:
    """The error for a table, or objects, that name fewer than two languages."""
    return InputError(
        f"fewer than two languages ({', '.join(found) or 'none'}) among the columns",
        file=file,
        line=line,
        value=", ".join(seen),
        remedy="Name the columns by ISO 639 or BCP 47 codes, such as 'en' and 'rus'; "
        "for two columns without a header, or called source and target, give their languages: --languages en,rus.",
    )
