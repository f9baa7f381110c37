"""TSV and CSV with a column per language, and two-column bitexts without a header."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.readers import readers, sniffers
from interlingua.readers.corpus_builder import (
    ROLES,
    CorpusBuilder,
    absent,
    is_header,
    language_of,
    languages_by_role,
    too_few_languages,
)
from interlingua.readers.documents import Document, open_document
from interlingua.readers.file_names import FileSet, parse
from interlingua.readers.parallel_files import bitexts_of

_Row = tuple[int, list[str]]


@sniffers.register("tsv")
def is_tsv(document: Document, languages: Sequence[str] | None) -> bool:
    """Whether the first line has tabs and names two languages."""
    return "\t" in document.first_line and header_languages(document, languages)


@sniffers.register("csv")
def is_csv(document: Document, languages: Sequence[str] | None) -> bool:
    """Whether the first line has commas or semicolons, no tabs, and names two languages."""
    return "\t" not in document.first_line and header_languages(document, languages)


@readers.register("tsv", needs="file")
def tsv(document: Document, *, languages: Sequence[str] | None) -> ParallelCorpus:
    """TSV with a header of languages."""
    if document.first_line.lstrip().startswith('"'):
        return _table(document, quoted_rows(document, "\t"), languages)
    rows = ((line, text.split("\t")) for line, text in document.lines())
    return _table(document, rows, languages, quotable=True)


@readers.register("csv", needs="file")
def csv_table(document: Document, *, languages: Sequence[str] | None) -> ParallelCorpus:
    """CSV with a header of languages (RFC 4180), commas or semicolons."""
    return _table(document, quoted_rows(document, _delimiter(document.first_line)), languages)


def header_languages(document: Document, languages: Sequence[str] | None) -> bool:
    """Whether the first line is a header: it names two languages, or a source and a target."""
    cells = header_cells(document.first_line)
    found = {code for cell in cells if (code := language_of(cell, languages))}
    name = parse(document.path.name if document.path else "")
    # "So, no" may be the first sentence of corpus.en, or the first row of x.en-es.tsv.
    if name.one_language or (len(cells) == 2 and name.pair and not is_header(cells, name.pair)):
        return False
    return len(found) > 1 or bool(languages_by_role(cells, languages))


def _delimiter(line: str) -> str:
    return max(",;", key=line.count)


def header_cells(line: str) -> list[str]:
    """The cells of a first line, by the separator it has most likely; none where its quoting is broken."""
    delimiter = "\t" if "\t" in line else _delimiter(line)
    if delimiter == "\t" and not line.lstrip().startswith('"'):
        return line.split("\t")
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration):
        return []


def quoted_rows(document: Document, delimiter: str) -> Iterator[_Row]:
    """Records of a CSV file with the line each begins on; a quoted cell may hold line breaks."""
    records = csv.reader((f"{text}\n" for _, text in document.lines()), delimiter=delimiter, strict=True)
    while True:
        line = records.line_num + 1
        try:
            cells = next(records, None)
        except csv.Error as error:
            if "field limit" in str(error):
                raise InputError(
                    f"a cell of more than {csv.field_size_limit():,} letters",
                    file=document.name,
                    line=line,
                    remedy="Close its quotation mark, or cut it: no sentence is so long.",
                ) from error
            raise InputError(
                f"broken quoting ({error})",
                file=document.name,
                line=line,
                remedy='Quote cells as RFC 4180 has it: "a ""word"" in quotes".',
            ) from error
        if cells is None:
            return
        yield line, cells


def _table(
    document: Document, rows: Iterator[_Row], asked: Sequence[str] | None, *, quotable: bool = False
) -> ParallelCorpus:
    gathering = CorpusBuilder(document.short, file=document.name)
    header: list[str] = []
    wanted: dict[str, int] = {}
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            gathering.skip("blank lines", f"{document.short}:{line}")
        elif not header:
            header = cells
            wanted = _wanted(document.name, line, cells, asked)
            gathering.columns.update((code, []) for code in wanted)
            roles = languages_by_role(cells, asked)
            for name in cells:
                if language_of(name, asked) is None and not roles:
                    gathering.skip("columns that are no language", f"{document.short}:{line} {name.strip()}")
        elif len(cells) > len(header):
            raise InputError(
                f"{len(cells)} cells where the header has {len(header)}",
                file=document.name,
                line=line,
                remedy="Remove the extra separators, or quote the cells that hold them.",
            )
        else:
            row = {code: cells[place] if place < len(cells) else "" for code, place in wanted.items()}
            gathering.add(row, line=line)
    if quotable:
        gathering.unquote()
    return gathering.corpus(asked, seen={name: language_of(name, asked) for name in header})


def _wanted(file: str, line: int, header: Sequence[str], asked: Sequence[str] | None) -> dict[str, int]:
    """Where each language asked for stands in the header."""
    roles = languages_by_role(header, asked)
    found: dict[str, int] = {}
    for place, name in enumerate(header):
        code = roles.get(name) if roles else language_of(name, asked)
        if code is None:
            continue
        if code in found:
            raise InputError(
                f"{header[found[code]]!r} and {name!r} are the same language ({code})",
                file=file,
                line=line,
                remedy="Keep one of the two columns.",
            )
        found[code] = place
    if len(found) < 2:
        raise too_few_languages(list(found), header, file, line)
    if missing := [code for code in asked or () if code not in found]:
        raise absent(missing, list(found), file)
    return found if asked is None else {code: found[code] for code in asked}


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
            "its name contains no pair of languages",
            file=document.name,
            remedy="Name it x.en-ru.tsv, or give both languages.",
        )
    gathering = CorpusBuilder(document.short, file=document.name)
    _gather(document, pair, gathering)
    gathering.unquote()
    return gathering.corpus(languages or pair)


@readers.register("bitexts", needs="folder")
def bitexts(found: FileSet, *, languages: Sequence[str] | None, encoding: str | None) -> ParallelCorpus:
    """A folder of two-column TSV bitexts (x.en-ru.tsv, x.en-es.tsv), merged into one corpus."""
    gathering = CorpusBuilder(found.label, file=found.file, gap=None)
    for pair, paths in bitexts_of(found, languages, kind="bitexts").items():
        for path in paths:
            with open_document(path, encoding=encoding) as document:
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


def _gather(document: Document, pair: Sequence[str], gathering: CorpusBuilder) -> None:
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
