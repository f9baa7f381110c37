"""The files of SyntheticNER (papers/003 §3.1): CSV, `LOC_NOM_names.csv` beside `LOC_NOM_1984sents.csv`, and so on.

- The kind is in the file's name: `LOC_NOM`, `LOC_LOC` (locative), `LOC_ACC_DAT` (accusative in Belarusian and Russian,
  dative in Turkish), `ORG`, `PER`. Persons have their gender in a column `gender` (m, f); contexts for them have the
  slots `[male]` and `[female]`, all others `[???]`. A first column without a name holds row numbers.
- Names in the locative and accusative come with their preposition ("w Australii", "in the Bahamas"), and in Turkish
  with a suffix after an apostrophe ("Avustralya'da"): both become the name's `lead` and `tail`, which are not tagged.
- Wikipedia's disambiguation in brackets ("Kaługa (miasto)") is no part of a name and is cut off; the rows are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from interlingua.errors import InputError
from interlingua.readers.documents import Document, opened
from interlingua.readers.sheets import Sheet, header, same_width
from interlingua.readers.table import quoted_rows
from interlingua.synthetic.slots import SLOT
from interlingua.synthetic.tables import GENDERS, Kind, LeftOut

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


def read_syntheticner(path: Path) -> tuple[list[Sheet], list[LeftOut]]:
    """The sheets of a file (one, or one a gender) and the lines whose names were cut."""
    match = _FILE.fullmatch(path.name)
    if match is None:
        raise InputError("no file of SyntheticNER", file=path, remedy="Names are such as LOC_NOM_names.csv.")
    kind, what = Kind(match[1], _CASES[match[2]]), "names" if match[3] else "contexts"
    besides = ("", "gender") if kind.type == "PER" else ("",)
    by_kind: dict[Kind, list[tuple[int, dict[str, str]]]] = {}
    cut: list[int] = []
    with opened(path) as document:
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
                texts = {code: marked(text, code) for code, text in whole.items()} if oblique else whole
            by_kind.setdefault(found, []).append((line, texts))
        sheets = [
            Sheet(what, found, document.name, languages, tuple(rows), marked=kind.case != "nominative")
            for found, rows in sorted(by_kind.items())
        ]
        told = [LeftOut("disambiguation in brackets, cut off the names", document.name, tuple(cut))] if cut else []
        return sheets, told


def marked(text: str, language: str) -> str:
    """An oblique name in our notation: brackets around the entity, its preposition before and its suffix after.

    >>> marked("In Canada", "en"), marked("w Australii", "pl"), marked("Avustralya'da", "tr"), marked("v Ústí", "cs")
    ('in [Canada]', 'w [Australii]', "[Avustralya]'da", 'v [Ústí]')
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


def _by_slot(kind: Kind, texts: Mapping[str, str]) -> tuple[Kind, dict[str, str]]:
    """The gender that most languages' slots say, with that slot made the common one; another slot stays text.

    So a row whose languages disagree has languages without a slot, and is told as such.
    """
    counts = {gender: sum(f"[{gender}]" in text for text in texts.values()) for gender in GENDERS}
    gender = max(GENDERS, key=lambda each: counts[each])
    return replace(kind, gender=gender), {code: text.replace(f"[{gender}]", SLOT) for code, text in texts.items()}
