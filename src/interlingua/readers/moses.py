"""Bitexts as pairs of files: Moses and OPUS `corpus.en-ru.en` + `corpus.en-ru.ru`, LASER `tatoeba.rus-eng.rus`.

Several pairs make one corpus with gaps: each pair keeps its own rows, since the English side of
one is not that of another. Only the pairs whose two languages are asked for are opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.readers import readers
from interlingua.readers.files import HEADERS, read_lines
from interlingua.readers.gathering import Gathering, absent
from interlingua.readers.naming import FileSet


@readers.register("moses", needs="folder")
def moses(found: FileSet, *, languages: Sequence[str] | None, encoding: str | None) -> ParallelCorpus:
    """Bitexts as pairs of files (Moses, OPUS, LASER's Tatoeba), merged into one corpus."""
    chosen = bitexts_of(found, languages, kind="moses")
    gathering = Gathering(found.label, file=found.file, gap=None)
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
