"""One file a language: `name.xx`, `xx.txt`, FLORES-200 `xxx_Latn.devtest`, NTREX; line i of each means the same.

Unequal numbers of lines are an error with both files and counts. A blank line is an empty cell. A file of columns
(XNLI, PAWS-X, CoNLL) is no prose: it is refused, unless `column` says which of its columns holds the sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from interlingua.corpus import ParallelCorpus, Skip
from interlingua.errors import InputError
from interlingua.readers import readers
from interlingua.readers.documents import Document, opened
from interlingua.readers.gathering import Places, absent
from interlingua.readers.naming import FileSet

Column = int | str
_FIELDS = frozenset(
    ("id", "guid", "pairid", "promptid", "index", "language", "genre", "premise", "hypothesis", "hypo", "sentence",
     "sentence1", "sentence2", "text", "label", "gold_label", "token", "word", "tag", "ner_tag", "question", "answer")
)  # fmt: skip
"""Names of columns in published files of labelled examples."""
_MARKUP = re.compile(r"""\s*(?:<[A-Za-z?!/][^>]*>|[{\[]\s*["{\[])""")
_NO_PROSE = re.compile(r"\.(?:json|xml|sgml?|html?)(?:\.(?:gz|bz2|xz|zst))*$", re.IGNORECASE)


@readers.register("files", needs="folder")
def files(
    found: FileSet, *, languages: Sequence[str] | None, encoding: str | None, column: Column | None = None
) -> ParallelCorpus:
    """One file a language, line by line: name.xx, FLORES-200, NTREX."""
    paths = one_file_each(found, languages)
    columns = read_lines(list(paths.values()), encoding=encoding, column=column)
    places = Places()
    for line in range(len(columns[0])):
        places.add(found.label, line + 1)
    names = [path.name for path in found.left_out]
    skipped = [Skip("files of a region whose language has a file", len(names), tuple(names[:3]))] if names else []
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


def read_lines(paths: Sequence[Path], *, encoding: str | None, column: Column | None = None) -> list[list[str]]:
    """The lines of each file, as many in each; of files of columns, the cells of the one named."""
    columns: list[list[str]] = []
    for path in paths:
        with opened(path, encoding=encoding) as document:
            if column is None:
                check_prose(document)
                columns.append([line for _, line in document.lines()])
            else:
                columns.append(_cells(document, column))
        if len(columns[-1]) != len(columns[0]):
            raise InputError(
                f"unequal line counts: {paths[0].name} has {len(columns[0])}, {path.name} has {len(columns[-1])}",
                file=path,
                remedy="Give files whose lines correspond, one sentence a line.",
            )
    return columns


def check_prose(document: Document) -> None:
    """Refuse a text whose first lines are rows of a table, or JSON or XML, where sentences are expected."""
    lines = [line for line in re.split(r"\r\n|\r|\n", document.head) if line.strip()]
    tabs, count = Counter(line.strip("\r\n").count("\t") for line in lines).most_common(1)[0] if lines else (0, 0)
    if tabs and 2 * count > len(lines):
        last = {line.rpartition("\t")[2].strip() for line in lines[1:]}
        labelled = len(lines) > 10 and len(last) <= len(lines) / 10
        task = "; files of labelled examples are also read by interlingua transfer" if labelled else ""
        raise InputError(
            f"{tabs + 1} columns per line, where each line should be one sentence",
            file=document.name,
            line=1,
            value=lines[0],
            remedy=f"Name the column that holds the sentences, such as --column 1 (in Python column=1){task}.",
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


def _cells(document: Document, column: Column) -> list[str]:
    """The cells of one column, by number from 1 or by its name in the first line; a header is left out."""
    cells: list[str] = []
    place, width = (column - 1 if isinstance(column, int) else -1), 0
    if isinstance(column, bool) or (isinstance(column, int) and column < 1):
        raise InputError("not the number of a column", value=column, remedy="Columns count from 1.")
    for line, text in document.lines():
        if not text.strip():
            cells.append("")
            continue
        row = text.split("\t")
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
            if isinstance(column, str) or sum(name in _FIELDS for name in names) > 1:
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
