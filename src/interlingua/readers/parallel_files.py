"""Parallel text in one file per language: FLORES-200, NTREX, Moses, OPUS and LASER pairs."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from interlingua.corpus import ParallelCorpus, Skip
from interlingua.errors import InputError
from interlingua.readers import readers
from interlingua.readers.corpus_builder import CorpusBuilder, RowPlaces, absent, names_a_column
from interlingua.readers.documents import Document, open_document
from interlingua.readers.file_names import FileSet

Column = int | str
HEADERS = "lines of names of columns"
_FIELDS = frozenset(
    ("id", "guid", "pairid", "promptid", "index", "language", "genre", "premise", "hypothesis", "hypo", "sentence",
     "sentence1", "sentence2", "text", "label", "gold_label", "token", "word", "tag", "ner_tag", "question", "answer")
)  # fmt: skip
"""Names of columns in published files of labelled examples."""
_MARKUP = re.compile(r"""\s*(?:<[A-Za-z?!/][^>]*>|[{\[]\s*["{\[])""")
_TAGGED = re.compile(r".*\S[ ](?:O|[BIESLU]-[A-Z][\w-]*)\s*")
_TIMES = re.compile(r"\s*\d+:\d\d:\d\d[.,]\d+ --> .*")
_SEPARATORS = {"|||": "|||", "|": "|", ";": "a semicolon", ",": "a comma"}
_NO_PROSE = re.compile(r"\.(?:json|xml|sgml?|html?)(?:\.(?:gz|bz2|xz|zst))*$", re.IGNORECASE)


@readers.register("files", needs="folder")
def files(
    found: FileSet, *, languages: Sequence[str] | None, encoding: str | None, column: Column | None = None
) -> ParallelCorpus:
    """One file per language, line by line: name.xx, FLORES-200, NTREX."""
    paths = one_file_each(found, languages)
    columns, skipped = read_lines(paths, encoding=encoding, column=column)
    places = RowPlaces()
    first = 1 + any(skip.reason == HEADERS for skip in skipped)
    for line in range(len(columns[0])):
        places.add(found.label, line + first)
    names = [path.name for path in found.left_out]
    if names:
        skipped.append(Skip("files of a region whose language has a file", len(names), tuple(names[:3])))
    texts = dict(zip(paths, columns, strict=True))
    return ParallelCorpus.of(texts, name=found.label, skipped=skipped, places=places)


def one_file_each(found: FileSet, languages: Sequence[str] | None) -> dict[str, Path]:
    """The file of each language asked for; a language absent, or in two files, is an error."""
    if found.kind != "files":
        raise InputError(
            "files of two languages where one each was expected", file=found.file, remedy="Name them name.xx, name.yy."
        )
    listed = "," in found.label  # A comma list keeps the user's order.
    known = tuple(member[0] for member in found.members) if listed else found.languages
    chosen = tuple(languages) if languages is not None else known
    if missing := [code for code in chosen if (code,) not in found.members]:
        raise absent(missing, known, found.file)
    if languages is None and len(chosen) < 2 and all(len(paths) == 1 for paths in found.members.values()):
        raise InputError("one language only", file=found.file, remedy="Give the file of a second language too.")
    for code in chosen:
        first, *others = found.members[(code,)]
        if others:
            raise InputError(
                f"{first.name} and {others[0].name} are both in the same language ({code})",
                file=found.file,
                remedy="Remove one, or give languages without it.",
            )
    return {code: found.members[(code,)][0] for code in chosen}


def read_lines(
    paths: Mapping[str, Path], *, encoding: str | None, column: Column | None = None
) -> tuple[list[list[str]], list[Skip]]:
    """The lines of each language's file, or the cells of the column named, as many in each; and notes."""
    columns: list[list[str]] = []
    notes: list[Skip] = []
    first_path = next(iter(paths.values()))
    for path in paths.values():
        with open_document(path, encoding=encoding) as document:
            if column is None:
                check_prose(document)
                columns.append([line for _, line in document.lines()])
                notes += _tabs_in_lines(document, columns[-1])
            else:
                columns.append(_cells(document, column))
        if len(columns[-1]) != len(columns[0]):
            raise InputError(
                f"unequal line counts: {first_path.name} has {len(columns[0])}, {path.name} has {len(columns[-1])}",
                file=path,
                remedy="Give files whose lines correspond, one sentence a line.",
            )
    heads = zip(paths.items(), (lines[0] if lines else "" for lines in columns), strict=True)
    named = [path for (code, path), head in heads if names_a_column(head, code)]
    where = tuple(f"{path.name}:1" for path in named[:3])
    if column is None and len(columns) > 1 and len(named) == len(columns):
        notes.append(Skip(HEADERS, len(columns), where))
        columns = [lines[1:] for lines in columns]
    elif column is None and named:
        notes.append(Skip(f"{HEADERS} in some files and not in others, kept (do the lines correspond?)", 1, where))
    return columns, notes


def _tabs_in_lines(document: Document, lines: Sequence[str]) -> list[Skip]:
    """The message about tabs within lines; where most lines of the whole file have them, it is no prose."""
    places = [number for number, line in enumerate(lines, start=1) if "\t" in line.strip()]
    if 2 * len(places) > sum(1 for line in lines if line.strip()):
        raise _columns_of(document.name, places[0], lines[places[0] - 1], 1 + lines[places[0] - 1].count("\t"))
    where = tuple(f"{document.short}:{number}" for number in places[:3])
    return [Skip("lines with a tab inside, read as a space", len(places), where)] if places else []


def check_prose(document: Document) -> None:
    """Refuse a text whose first lines are rows of a table, tagged words, subtitles, JSON or XML, and no sentences."""
    lines = [line for line in re.split(r"\r\n|\r|\n", document.head) if line.strip()]
    tabs, count = Counter(line.strip("\r\n").count("\t") for line in lines).most_common(1)[0] if lines else (0, 0)
    if tabs and 2 * count > len(lines):
        last = {line.rpartition("\t")[2].strip() for line in lines[1:]}
        raise _columns_of(
            document.name, 1, lines[0], tabs + 1, labelled=len(lines) > 10 and len(last) <= len(lines) / 10
        )
    markup = sum(_MARKUP.match(line) is not None for line in lines)
    if _NO_PROSE.search(document.short) or (lines and 2 * markup > len(lines)):
        raise InputError(
            "JSON or XML, where each line should be one sentence",
            file=document.name,
            line=1,
            value=lines[0] if lines else None,
            remedy="Give plain text, or a format with its own reader: JSON Lines, TMX, XQuAD.",
        )
    for separator, name in _SEPARATORS.items():
        width = _width(lines, separator)
        if width > 1:
            raise _columns_of(document.name, 1, lines[0], width, f" with {name} between them")
    for pattern, share, what in ((_TAGGED, 0.5, "words with tags"), (_TIMES, 0.2, "subtitles with times")):
        found = [line for line in lines if pattern.fullmatch(line)]
        if len(lines) > 2 and len(found) > share * len(lines):
            raise InputError(
                f"{what}, where each line should be one sentence",
                file=document.name,
                value=found[0],
                remedy="Give one sentence a line, in the same order in each language.",
            )


def _width(lines: Sequence[str], separator: str) -> int:
    """The number of columns that most lines have with this separator; 1 where it is a sign of the text.

    In a text a comma or a semicolon has a space after it; between columns it has none.
    """
    widths = Counter[int]()
    for line in lines if len(lines) > 2 else ():
        cells = _split(line, separator) if separator in line else []
        spaced = separator in ",;" and any(cell.startswith((" ", "\t")) for cell in cells[1:])
        widths[1 if spaced else len(cells)] += 1
    width, count = widths.most_common(1)[0] if widths else (1, 0)
    return width if width > 1 and 2 * count > len(lines) else 1


def _split(line: str, separator: str) -> list[str]:
    """The cells of a line; those of CSV may be quoted."""
    if len(separator) > 1 or '"' not in line or separator == "\t":
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return [line]


def _columns_of(
    file: str, line: int, text: str, width: int, between: str = "", *, labelled: bool = False
) -> InputError:
    task = "; files of labelled examples are also read by interlingua transfer" if labelled else ""
    return InputError(
        f"{width} columns per line{between}, where each line should be one sentence",
        file=file,
        line=line,
        value=text,
        remedy=f"Name the column that holds the sentences, such as --column 1 (in Python column=1){task}.",
    )


def _cells(document: Document, column: Column) -> list[str]:
    """The cells of one column, by number from 1 or by its name in the first line; a header is left out."""
    cells: list[str] = []
    place, width = (column - 1 if isinstance(column, int) else -1), 0
    if isinstance(column, bool) or (isinstance(column, int) and column < 1):
        raise InputError("not the number of a column", value=column, remedy="Columns count from 1.")
    lines = [line for line in re.split(r"\r\n|\r|\n", document.head) if line.strip()]
    tabs = 2 * sum("\t" in line for line in lines) > len(lines)
    separator = next((each for each in (() if tabs else _SEPARATORS) if _width(lines, each) > 1), "\t")
    for line, text in document.lines():
        if not text.strip():
            cells.append("")
            continue
        row = _split(text, separator)
        if not width:
            width = len(row)
            names = [cell.strip().lower() for cell in row]
            if isinstance(column, str) and column.strip().lower() in names:
                place = names.index(column.strip().lower())
            if not 0 <= place < width:
                raise InputError(
                    f"no such column among {width}",
                    file=document.name,
                    line=line,
                    value=column,
                    remedy="Give its number, from 1, or its name in the first line.",
                )
            if isinstance(column, str) or sum(name in _FIELDS or names_a_column(name) for name in names) > 1:
                continue
        if len(row) != width:
            raise InputError(
                f"{len(row)} columns where {width} were expected",
                file=document.name,
                line=line,
                value=text,
                remedy="Give each line as many columns as the first.",
            )
        cells.append(row[place])
    return cells


@readers.register("moses", needs="folder")
def moses(found: FileSet, *, languages: Sequence[str] | None, encoding: str | None) -> ParallelCorpus:
    """Bitexts as pairs of files (Moses, OPUS, LASER's Tatoeba), merged into one corpus."""
    chosen = bitexts_of(found, languages, kind="moses")
    gathering = CorpusBuilder(found.label, file=found.file, gap=None)
    for (source, target), paths in chosen.items():
        for place in range(0, len(paths), 2):
            sides = dict(zip((source, target), paths[place : place + 2], strict=True))
            (left, right), notes = read_lines(sides, encoding=encoding)
            for note in notes:
                gathering.note(note)
            first = 1 + any(note.reason == HEADERS for note in notes)
            for line, cells in enumerate(zip(left, right, strict=True), start=first):
                gathering.add(dict(zip((source, target), cells, strict=True)), file=paths[place].name, line=line)
    return gathering.corpus(languages or found.languages)


def bitexts_of(
    found: FileSet, languages: Sequence[str] | None, *, kind: str
) -> dict[tuple[str, ...], tuple[Path, ...]]:
    """The bitexts whose two languages are asked for; one of them must reach every language asked for."""
    if found.kind != kind:
        raise InputError(
            "the files are not named as this format has it",
            file=found.file,
            value=kind,
            remedy="Name two-column bitexts x.en-ru.tsv, pairs of files x.en-ru.en and x.en-ru.ru.",
        )
    asked = set(languages or found.languages)
    if missing := [code for code in languages or () if code not in found.languages]:
        raise absent(missing, found.languages, found.file)
    chosen = {pair: paths for pair, paths in found.members.items() if set(pair) <= asked}
    reached = {code for pair in chosen for code in pair}
    if alone := [code for code in languages or () if code not in reached]:
        pairs = ["-".join(pair) for pair in found.members if set(pair) & set(alone)]
        raise InputError(
            f"no bitext of {', '.join(alone)} with another language asked for",
            file=found.file,
            remedy=f"There are: {', '.join(pairs)}. Ask for both languages of one.",
        )
    return chosen
