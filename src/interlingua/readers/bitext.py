"""Headerless two-column TSV: a bitext whose languages are in its name (`x.en-ru.tsv`) or are asked for.

A row with one cell has a missing one; a row with three is an error. Columns of numbers beside the two (WikiMatrix's
scores, Tatoeba's ids) and a first row that names the languages are left out and counted. A folder of such files is
merged into one corpus with gaps, as pairs of Moses files are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.readers import readers, sniffers
from interlingua.readers.documents import Document, opened
from interlingua.readers.gathering import ROLES, Gathering, is_header, language_of
from interlingua.readers.moses import bitexts_of
from interlingua.readers.naming import FileSet, parse
from interlingua.readers.table import header_languages

_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?")


@sniffers.register("bitext")
def is_bitext(document: Document, languages: Sequence[str] | None) -> bool:
    """Whether the first line has two cells, no header, and the name or the user gives two languages."""
    cells = document.first_line.split("\t")
    two = len(cells) - len(_numbers(cells)) == 2 and pair_of(document, languages) is not None
    return two and not header_languages(document, languages)


@readers.register("bitext", needs="file")
def bitext(document: Document, *, languages: Sequence[str] | None) -> ParallelCorpus:
    """Two-column TSV without a header, its languages in the name (x.en-ru.tsv) or asked for."""
    pair = pair_of(document, languages)
    if pair is None:
        raise InputError(
            "its name tells no pair of languages",
            file=document.name,
            remedy="Name it x.en-ru.tsv, or give both languages.",
        )
    gathering = Gathering(document.short, file=document.name)
    _gather(document, pair, gathering)
    gathering.unquote()
    return gathering.corpus(languages or pair)


@readers.register("bitexts", needs="folder")
def bitexts(found: FileSet, *, languages: Sequence[str] | None, encoding: str | None) -> ParallelCorpus:
    """A folder of two-column TSV bitexts (x.en-ru.tsv, x.en-es.tsv), merged into one corpus."""
    gathering = Gathering(found.label, file=found.file, gap=None)
    for pair, paths in bitexts_of(found, languages, kind="bitexts").items():
        for path in paths:
            with opened(path, encoding=encoding) as document:
                _gather(document, pair, gathering)
    gathering.unquote()
    return gathering.corpus(languages or found.languages)


def pair_of(document: Document, languages: Sequence[str] | None) -> tuple[str, ...] | None:
    """The two languages of a bitext: its name's, else the two asked for."""
    name = parse(document.path.name if document.path else "")
    if name.one_language:
        return None
    return name.pair or (tuple(languages) if languages is not None and len(languages) == 2 else None)


def _numbers(cells: Sequence[str]) -> list[int]:
    """The places of numbers in a row of more than two cells."""
    return [place for place, cell in enumerate(cells) if len(cells) > 2 and _NUMBER.fullmatch(cell.strip())]


def _order(header: Sequence[str], pair: Sequence[str]) -> Sequence[str]:
    """The languages of both columns, as a header says it: by their names, by one of them, or by source and target."""
    named = [language_of(cell, pair) for cell in header]
    roles = [ROLES.get(cell.strip().lower()) for cell in header]
    turned = named[0] == pair[1] or named[1] == pair[0] or roles[0] == 1 or roles[1] == 0
    return pair[::-1] if turned else pair


def _gather(document: Document, pair: Sequence[str], gathering: Gathering) -> None:
    numbers: list[int] | None = None
    width, columns = 2, 0
    for line, text in document.lines():
        if not text.strip():
            gathering.skip("blank lines", f"{document.short}:{line}")
            continue
        cells = text.split("\t")
        columns = max(columns, len(cells))
        if numbers is None:
            numbers = _numbers(cells)
            width = 2 + len(numbers)
            for place in numbers:
                gathering.skip("columns of numbers", f"{document.short}:{line} {cells[place].strip()}")
            if len(cells) == 2 and is_header(cells, pair):
                gathering.skip("rows of names of columns", f"{document.short}:{line}")
                pair = _order(cells, pair)
                continue
        if len(cells) > width or (len(cells) < width and numbers):
            raise InputError(
                f"{len(cells)} cells in a bitext of {width} columns",
                file=document.name,
                line=line,
                remedy="Remove the extra tabs, or give a header of languages.",
            )
        for place in numbers:
            if not _NUMBER.fullmatch(cells[place].strip()):
                raise InputError(
                    "no number in a column of numbers",
                    file=document.name,
                    line=line,
                    value=cells[place],
                    remedy="Give a header of languages.",
                )
        texts = [cell for place, cell in enumerate(cells) if place not in numbers]
        texts += [""] * (2 - len(texts))
        gathering.add(dict(zip(pair, texts, strict=True)), file=document.short, line=line)
    if columns == 1:
        raise InputError(
            "no line has two columns with a tab between them",
            file=document.name,
            line=1,
            value=document.first_line,
            remedy="Put a tab between the two sentences of a line, or, in CSV, give a header of languages.",
        )
