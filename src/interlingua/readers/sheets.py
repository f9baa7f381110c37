"""Contexts and names for `interlingua synth`, as their files have them: a column a language, a row a sentence or name.

A file is read whole into a `Sheet`; `contexts` and `names` make the table of the languages asked for, and name every
row that can't be used by its line. A row counts as bad only for a fault in one of those languages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from interlingua import languages as codes
from interlingua.corpus import clean
from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.synthetic.slots import SLOT, cut
from interlingua.synthetic.tables import Context, Kind, LeftOut, Name, Table
from interlingua.words import has_tokens

SLOTS = ("one", "any")
BAD_ROWS = ("skip", "fail")
T = TypeVar("T", Context, Name)


@dataclass(frozen=True)
class Sheet:
    """The rows of a file, of one kind: their line and the text of each language; `what` is contexts or names.

    `marked` says that names have square brackets around the entity where something comes with it.
    """

    what: str
    kind: Kind
    file: str
    languages: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]
    marked: bool = False


def without(sheet: Sheet, languages: Iterable[str]) -> InputError | None:
    """The error for a sheet that lacks languages asked for, at the header that should name them; None if it has all."""
    lacking = [code for code in languages if code not in sheet.languages]
    if not lacking:
        return None
    return InputError(
        f"no {sheet.what} for {sheet.kind.label} in {', '.join(lacking)}",
        file=sheet.file,
        line=1,
        remedy=f"It has: {', '.join(sheet.languages)}. Add a column, or leave that language out.",
    )


class Fault(Exception):
    """Why a cell can't be used."""


def header(
    cells: Sequence[str], *, file: str, line: int = 1, besides: Sequence[str] = ()
) -> tuple[tuple[str, int], ...]:
    """The languages of a header and where each stands; a column that is no language and none of `besides` is an error.

    >>> header(["en", "rus", "gender"], file="x.csv", besides=["gender"])
    (('en', 0), ('ru', 1))
    """
    found: dict[str, int] = {}
    for place, cell in enumerate(cells):
        name = cell.strip()
        if name in besides:
            continue
        if not codes.is_language(name):
            allowed = f", or {', '.join(repr(each) for each in besides)}" if besides else ""
            raise InputError(
                f"column {place + 1} of the header is no language",
                file=file,
                line=line,
                value=cell,
                remedy=f"Name every column by an ISO 639 code, such as 'en' or 'be'{allowed}; remove this one.",
            )
        code = codes.canonical(name)
        if code in found:
            raise InputError(
                f"columns {found[code] + 1} and {place + 1} are the same language",
                file=file,
                line=line,
                value=code,
                remedy="Keep one of the two.",
            )
        found[code] = place
    return tuple(found.items())


def same_width(cells: Sequence[str], width: int, *, file: str, line: int) -> Sequence[str]:
    """The cells of a row, once it is known to have as many as the header."""
    if len(cells) != width:
        raise InputError(
            f"{len(cells)} cells where the header has {width}",
            file=file,
            line=line,
            value=(cells[-1] if len(cells) > width else None),
            remedy="Give each row one cell for each column; quote a cell of a CSV file that holds a comma.",
        )
    return cells


def contexts(
    sheet: Sheet, languages: Sequence[str], *, slots: str = "one", bad: str = "skip"
) -> tuple[Table[Context], list[LeftOut]]:
    """The contexts in these languages, and the rows left out of them.

    A context has one slot in every language. With `slots` any, more are allowed, and all take the same name, as the
    paper counts them. `bad` fail raises at the first row that can't be used.
    """
    _known("choice of slots", slots, SLOTS)

    def read(text: str) -> Context:
        context = cut(text)
        count = len(context.pieces) - 1
        if count == 0:
            raise Fault("contexts without a slot")
        if count > 1 and slots == "one":
            raise Fault("contexts with two slots or more")
        return context

    return _table(sheet, languages, read, bad, remedy=f"Put {SLOT} once where the name goes, or leave the row out.")


def names(sheet: Sheet, languages: Sequence[str], *, bad: str = "skip") -> tuple[Table[Name], list[LeftOut]]:
    """The names in these languages, and the rows left out of them."""

    def read(text: str) -> Name:
        try:
            name = Name.of(text) if sheet.marked else Name(text)
        except ValueError as error:
            raise Fault(f"names whose {error}") from None
        if not has_tokens(name.text):
            raise Fault("names without a visible sign")
        return name

    return _table(sheet, languages, read, bad, remedy="Give the name in every language, or leave the row out.")


def _table(
    sheet: Sheet, languages: Sequence[str], read: Callable[[str], T], bad: str, *, remedy: str
) -> tuple[Table[T], list[LeftOut]]:
    _known("choice for bad rows", bad, BAD_ROWS)
    columns: dict[str, list[T]] = {code: [] for code in languages}
    lines: list[int] = []
    faults: dict[str, list[int]] = {}
    for line, texts in sheet.rows:
        cells: dict[str, T] = {}
        for code in languages:
            text = clean(texts.get(code))
            try:
                if text is None:
                    raise Fault(f"{sheet.what} missing in a language")
                cells[code] = read(text)
            except Fault as fault:
                if bad == "fail":
                    problem = f"{fault} ({code})"
                    raise InputError(problem, file=sheet.file, line=line, value=text, remedy=remedy) from None
                faults.setdefault(str(fault), []).append(line)
                break
        else:
            lines.append(line)
            for code, cell in cells.items():
                columns[code].append(cell)
    table = Table(sheet.kind, {code: tuple(column) for code, column in columns.items()}, tuple(lines), sheet.file)
    table, repeated = table.distinct()
    faults |= {f"{sheet.what} that repeat an earlier row in every language": repeated} if repeated else {}
    return table, [LeftOut(reason, sheet.file, tuple(where)) for reason, where in faults.items()]


def _known(what: str, given: str, accepted: Iterable[str]) -> None:
    if given not in accepted:
        raise unknown(what, given, list(accepted))
