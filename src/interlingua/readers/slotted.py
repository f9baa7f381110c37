"""Contexts and names in our own format: TSV, one file a kind, the kind in the file's name (docs/howto-synth.md).

`LOC.locative.contexts.tsv` and `LOC.locative.names.tsv` belong together; so do `PER.male.contexts.tsv` and
`PER.male.names.tsv`. The first line names the languages. A slot is `[???]`. In a name, square brackets stand around the
entity where a preposition or a suffix comes with it: `in the [Bahamas]`, `[Ankara]'da`.
"""

from __future__ import annotations

from pathlib import Path

from interlingua.errors import InputError
from interlingua.readers.documents import opened
from interlingua.readers.sheets import Sheet, header, same_width
from interlingua.synthetic.tables import GENDERS, Kind

ENDINGS = (".contexts.tsv", ".names.tsv")


def is_slotted(path: Path) -> bool:
    """Whether a file's name is one of ours."""
    return path.name.endswith(ENDINGS)


def kind_of(path: Path) -> tuple[Kind, str]:
    """The kind that a file's name says, and whether it holds contexts or names.

    >>> kind_of(Path("PER.female.names.tsv"))
    (Kind(type='PER', case='nominative', gender='female'), 'names')
    >>> kind_of(Path("LOC.locative.contexts.tsv"))
    (Kind(type='LOC', case='locative', gender=''), 'contexts')
    """
    type, *rest, what, _ = path.name.split(".")
    genders = [part for part in rest if part in GENDERS]
    cases = [part for part in rest if part not in GENDERS]
    if not type or len(genders) > 1 or len(cases) > 1:
        raise InputError(
            "the file's name says no kind",
            file=path,
            remedy="Call it TYPE[.CASE][.GENDER].contexts.tsv or .names.tsv, such as LOC.locative.names.tsv.",
        )
    return Kind(type, cases[0] if cases else "nominative", genders[0] if genders else ""), what


def read_slotted(path: Path) -> list[Sheet]:
    """The one sheet of a file; every cell is kept as it stands, for `sheets` to judge in the languages asked for."""
    kind, what = kind_of(path)
    rows: list[tuple[int, dict[str, str]]] = []
    places: tuple[tuple[str, int], ...] = ()
    width = 0
    with opened(path) as document:
        for line, text in document.lines():
            if not text.strip():
                continue
            cells = text.split("\t")
            if not places:
                places, width = header(cells, file=document.name, line=line), len(cells)
                continue
            same_width(cells, width, file=document.name, line=line)
            rows.append((line, {code: cells[place] for code, place in places}))
        return [Sheet(what, kind, document.name, tuple(code for code, _ in places), tuple(rows), marked=True)]
