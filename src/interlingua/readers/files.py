"""One file a language: `name.xx`, `xx.txt`, FLORES-200 `xxx_Latn.devtest`, NTREX; line i of each means the same.

Unequal numbers of lines are an error with both files and counts. A blank line is an empty cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interlingua.corpus import ParallelCorpus, Skip
from interlingua.errors import InputError
from interlingua.readers import readers
from interlingua.readers.documents import opened
from interlingua.readers.gathering import Places, absent
from interlingua.readers.naming import FileSet


@readers.register("files", needs="folder")
def files(found: FileSet, *, languages: Sequence[str] | None, encoding: str | None) -> ParallelCorpus:
    """One file a language, line by line: name.xx, FLORES-200, NTREX."""
    paths = one_file_each(found, languages)
    columns = read_lines(list(paths.values()), encoding=encoding)
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


def read_lines(paths: Sequence[Path], *, encoding: str | None) -> list[list[str]]:
    """The lines of each file, as many in each."""
    columns: list[list[str]] = []
    for path in paths:
        with opened(path, encoding=encoding) as document:
            columns.append([line for _, line in document.lines()])
        if len(columns[-1]) != len(columns[0]):
            raise InputError(
                f"unequal line counts: {paths[0].name} has {len(columns[0])}, {path.name} has {len(columns[-1])}",
                file=path,
                remedy="Give files whose lines correspond, one sentence a line.",
            )
    return columns
