"""Files of contexts and names: sheets, one slot per line, SyntheticNER, and the embedded ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from interlingua import languages as codes
from interlingua.corpus import clean
from interlingua.errors import InputError
from interlingua.readers.documents import Document, open_document
from interlingua.readers.table import quoted_rows
from interlingua.registry import unknown
from interlingua.synthetic.slot_filling import SLOT, cut
from interlingua.synthetic.tables import GENDERS, Context, SkippedRows, SlotKind, SlotName, TemplateTable
from interlingua.words import has_tokens

SLOTS = ("one", "any")
BAD_ROWS = ("skip", "fail")
T = TypeVar("T", Context, SlotName)


@dataclass(frozen=True)
class Sheet:
    """The rows of a file, of one kind: their line and the text of each language; `what` is contexts or names.

    `marked` says that names have square brackets around the entity where something comes with it.
    """

    what: str
    kind: SlotKind
    file: str
    languages: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]
    marked: bool = False


def missing_languages(sheet: Sheet, languages: Iterable[str]) -> InputError | None:
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
) -> tuple[TemplateTable[Context], list[SkippedRows]]:
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


def names(
    sheet: Sheet, languages: Sequence[str], *, bad: str = "skip"
) -> tuple[TemplateTable[SlotName], list[SkippedRows]]:
    """The names in these languages, and the rows left out of them."""

    def read(text: str) -> SlotName:
        try:
            name = SlotName.of(text) if sheet.marked else SlotName(text)
        except ValueError as error:
            raise Fault(f"names whose {error}") from None
        if not has_tokens(name.text):
            raise Fault("names without a visible sign")
        return name

    return _table(sheet, languages, read, bad, remedy="Give the name in every language, or leave the row out.")


def _table(
    sheet: Sheet, languages: Sequence[str], read: Callable[[str], T], bad: str, *, remedy: str
) -> tuple[TemplateTable[T], list[SkippedRows]]:
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
    table = TemplateTable(
        sheet.kind, {code: tuple(column) for code, column in columns.items()}, tuple(lines), sheet.file
    )
    table, repeated = table.distinct()
    faults |= {f"{sheet.what} that repeat an earlier row in every language": repeated} if repeated else {}
    return table, [SkippedRows(reason, sheet.file, tuple(where)) for reason, where in faults.items()]


def _known(what: str, given: str, accepted: Iterable[str]) -> None:
    if given not in accepted:
        raise unknown(what, given, list(accepted))


ENDINGS = (".contexts.tsv", ".names.tsv")


def is_slotted(path: Path) -> bool:
    """Whether a file's name is one of ours."""
    return path.name.endswith(ENDINGS)


def kind_of(path: Path) -> tuple[SlotKind, str]:
    """The kind that a file's name says, and whether it holds contexts or names.

    >>> kind_of(Path("PER.female.names.tsv"))
    (SlotKind(type='PER', case='nominative', gender='female'), 'names')
    >>> kind_of(Path("LOC.locative.contexts.tsv"))
    (SlotKind(type='LOC', case='locative', gender=''), 'contexts')
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
    return SlotKind(type, cases[0] if cases else "nominative", genders[0] if genders else ""), what


def read_slotted(path: Path) -> list[Sheet]:
    """The one sheet of a file; every cell is kept as it stands, for `sheets` to judge in the languages asked for."""
    kind, what = kind_of(path)
    rows: list[tuple[int, dict[str, str]]] = []
    places: tuple[tuple[str, int], ...] = ()
    width = 0
    with open_document(path) as document:
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


_FILE = re.compile(r"(PER|LOC|ORG)(?:_(NOM|LOC|ACC_DAT))?_(?:(names)|\d*sents(?:_\w+)?)\.csv")
_CASES = {"NOM": "nominative", "LOC": "locative", "ACC_DAT": "accusative-dative", None: "nominative"}
_GENDERS = {"m": "male", "f": "female"}
_LEADS = {
    "be": {"у", "ў", "ва", "на"},
    "bg": {"в", "във", "на", "до"},
    "cs": {"v", "ve", "na", "do"},
    "en": {"in", "on", "at", "to", "the"},
    "pl": {"w", "we", "na", "do"},
    "ru": {"в", "во", "на"},
    "sl": {"v", "na"},
    "uk": {"у", "в", "на"},
}
"""Words that the oblique files put before a name; the closed set of those that occur there."""
_SUFFIX = re.compile(r"(?P<name>.+\w)(?P<tail>['’]\w+)")
_BRACKETS = re.compile(r"\([^()]*\)$")


def is_syntheticner(path: Path) -> bool:
    """Whether a file's name is one of SyntheticNER's."""
    return _FILE.fullmatch(path.name) is not None


def read_syntheticner(path: Path) -> tuple[list[Sheet], list[SkippedRows]]:
    """The sheets of a file (one, or one a gender) and the lines whose names were cut."""
    match = _FILE.fullmatch(path.name)
    if match is None:
        raise InputError("no file of SyntheticNER", file=path, remedy="Names are such as LOC_NOM_names.csv.")
    kind, what = SlotKind(match[1], _CASES[match[2]]), "names" if match[3] else "contexts"
    besides = ("", "gender") if kind.type == "PER" else ("",)
    by_kind: dict[SlotKind, list[tuple[int, dict[str, str]]]] = {}
    cut: list[int] = []
    with open_document(path) as document:
        quoted = quoted_rows(document, ",")
        columns, languages, width = _header(document, quoted, besides)
        for line, cells in quoted:
            if not any(cell.strip() for cell in cells):
                continue
            same_width(cells, width, file=document.name, line=line)
            texts = {code: cells[columns[code]] for code in languages}
            gender = cells[columns["gender"]].strip() if "gender" in columns else None
            if what == "contexts":
                found, texts = (kind, texts) if kind.type != "PER" else _by_slot(kind, texts)
            else:
                found = kind if kind.type != "PER" else replace(kind, gender=_gender(gender, document.name, line))
                whole = {code: _BRACKETS.sub("", text.strip()).rstrip() for code, text in texts.items()}
                if any(whole[code] != text.strip() for code, text in texts.items()):
                    cut.append(line)
                oblique = kind.case != "nominative"
                texts = {code: mark_oblique_name(text, code) for code, text in whole.items()} if oblique else whole
            by_kind.setdefault(found, []).append((line, texts))
        sheets = [
            Sheet(what, found, document.name, languages, tuple(rows), marked=kind.case != "nominative")
            for found, rows in sorted(by_kind.items())
        ]
        told = [SkippedRows("disambiguation in brackets, cut off the names", document.name, tuple(cut))] if cut else []
        return sheets, told


def mark_oblique_name(text: str, language: str) -> str:
    """An oblique name in our notation: brackets around the entity, its preposition before and its suffix after.

    >>> names = (("In Canada", "en"), ("w Australii", "pl"), ("Avustralya'da", "tr"), ("v Ústí", "cs"))
    >>> [mark_oblique_name(*name) for name in names]
    ['in [Canada]', 'w [Australii]', "[Avustralya]'da", 'v [Ústí]']
    """
    words = text.strip().split()
    count = 0
    leads: set[str] = _LEADS.get(language, set())
    while count < len(words) - 1 and words[count].lower() in leads and words[count] != "The":
        count += 1
    lead = "".join(f"{word.lower()} " for word in words[:count])
    name, tail = " ".join(words[count:]), ""
    suffix = _SUFFIX.fullmatch(name) if language == "tr" else None
    if suffix:
        name, tail = suffix["name"], suffix["tail"]
    return f"{lead}[{name}]{tail}" if name else ""


def _header(
    document: Document, rows: Iterator[tuple[int, list[str]]], besides: tuple[str, ...]
) -> tuple[Mapping[str, int], tuple[str, ...], int]:
    line, cells = next(rows, (1, list[str]()))
    places = dict(header(cells, file=document.name, line=line, besides=besides))
    columns = places | ({"gender": cells.index("gender")} if "gender" in cells else {})
    return columns, tuple(places), len(cells)


def _gender(given: str | None, file: str, line: int) -> str:
    if given not in _GENDERS:
        raise InputError(
            "a person without a gender", file=file, line=line, value=given, remedy="Give m or f in a column 'gender'."
        )
    return _GENDERS[given]


def _by_slot(kind: SlotKind, texts: Mapping[str, str]) -> tuple[SlotKind, dict[str, str]]:
    """The gender that most languages' slots say, with that slot made the common one; another slot stays text.

    So a row whose languages disagree has languages without a slot, and is reported as such.
    """
    counts = {gender: sum(f"[{gender}]" in text for text in texts.values()) for gender in GENDERS}
    gender = max(GENDERS, key=lambda each: counts[each])
    return replace(kind, gender=gender), {code: text.replace(f"[{gender}]", SLOT) for code, text in texts.items()}


EMBEDDED = "embedded"
_FOLDER = Path(__file__).parent.parent / "assets" / "synthetic"
_NO_PLACE = {"EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"}
"""CLDR's codes of what is no country or territory: unions, outlying regions, the unknown, and test locales."""
CLDR = "CLDR territories"


def sheet_folder(source: str | Path, what: str) -> Path:
    """The folder of contexts or names (`what`), which must be there; ours for `embedded`."""
    folder = _FOLDER if str(source) == EMBEDDED else Path(source)
    if not folder.is_dir():
        raise InputError(
            "no such folder", value=str(source), remedy=f"Give a folder of {what}, or {EMBEDDED!r} for ours."
        )
    return folder


def read_sheets(
    source: str | Path, what: str, languages: Sequence[str] | None
) -> tuple[list[Sheet], list[SkippedRows]]:
    """The sheets of contexts or names (`what`) in a folder, or `embedded`, in order of their files' names.

    A folder may hold files of both formats; other files in it are none of ours and are passed over. The embedded
    names have CLDR's territories as places in the nominative, in the languages asked for.
    """
    folder = sheet_folder(source, what)
    sheets: list[Sheet] = []
    left_out: list[SkippedRows] = []
    for path in sorted(folder.iterdir()):
        if is_slotted(path):
            sheets += [sheet for sheet in read_slotted(path) if sheet.what == what]
        elif is_syntheticner(path) and (("_names" in path.name) == (what == "names")):
            found, told = read_syntheticner(path)
            sheets += found
            left_out += told
    if not sheets:
        raise InputError(
            f"no file of {what} in the folder",
            file=folder,
            remedy=f"Give files such as LOC.{what}.tsv (docs/howto-synth.md), or SyntheticNER's CSV files.",
        )
    if str(source) == EMBEDDED and what == "names":
        known = dict.fromkeys(code for sheet in sheets for code in sheet.languages)
        sheets.append(place_sheet(tuple(languages or known)))
    return sheets, left_out


def place_sheet(languages: Sequence[str]) -> Sheet:
    """CLDR's names of countries and territories in the nominative, in those of the languages that it knows.

    Names with brackets in some language ("Myanmar (Burma)") are descriptions rather than names, and are left out.

    >>> sheet = place_sheet(["en", "be"])
    >>> [row["be"] for _, row in sheet.rows if row["en"] == "Poland"], sheet.kind.label
    (['Польшча'], 'LOC.nominative')
    """
    from babel import Locale, UnknownLocaleError

    columns: dict[str, dict[str, str]] = {}
    for language in languages:
        try:
            columns[language] = dict(Locale.parse(language, sep="-").territories)
        except (UnknownLocaleError, ValueError):
            continue
    places = sorted(code for code in Locale("en").territories if len(code) == 2 and code.isalpha())
    rows = []
    for line, place in enumerate(places, 1):
        texts = {language: names[place] for language, names in columns.items() if place in names}
        if place not in _NO_PLACE and len(texts) == len(columns) and not any("(" in text for text in texts.values()):
            rows.append((line, texts))
    return Sheet("names", SlotKind("LOC"), CLDR, tuple(columns), tuple(rows))
