"""TSV and CSV with a header of languages.

CSV is quoted as in RFC 4180 and may use semicolons. TSV has no quoting, so that a lone `"` is
text, unless its header is quoted, or a cell shows that it was written by a spreadsheet: quoted, with doubled marks
inside (`Gathering.unquote`). Columns that are no language are ignored and counted. A column
called `id` is Indonesian (and `no` Norwegian) unless its values look like identifiers: all unique,
without white space, at most 40 characters, with a digit. Words such as `src`, `tag` or `url`, which
are also codes of small languages, are languages only when asked for; columns called source and
target are read where two languages are asked for.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.readers import readers, sniffers
from interlingua.readers.documents import Document
from interlingua.readers.gathering import Gathering, absent, by_role, is_header, language_of, too_few
from interlingua.readers.naming import parse

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
    return len(found) > 1 or bool(by_role(cells, languages))


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
    gathering = Gathering(document.short, file=document.name)
    header: list[str] = []
    wanted: dict[str, int] = {}
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            gathering.skip("blank lines", f"{document.short}:{line}")
        elif not header:
            header = cells
            wanted = _wanted(document.name, line, cells, asked)
            gathering.columns.update((code, []) for code in wanted)
            roles = by_role(cells, asked)
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
    roles = by_role(header, asked)
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
        raise too_few(list(found), header, file, line)
    if missing := [code for code in asked or () if code not in found]:
        raise absent(missing, list(found), file)
    return found if asked is None else {code: found[code] for code in asked}
