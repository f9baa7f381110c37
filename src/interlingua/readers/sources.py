"""Where contexts and names come from: folders in either format, and the embedded set with CLDR's places."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interlingua.errors import InputError
from interlingua.readers.sheets import Sheet
from interlingua.readers.slotted import is_slotted, read_slotted
from interlingua.readers.syntheticner import is_syntheticner, read_syntheticner
from interlingua.synthetic.tables import Kind, LeftOut

EMBEDDED = "embedded"
_FOLDER = Path(__file__).parent.parent / "assets" / "synthetic"
_NO_PLACE = {"EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"}
"""CLDR's codes of what is no country or territory: unions, outlying regions, the unknown, and test locales."""
CLDR = "CLDR territories"


def read_sheets(source: str | Path, what: str, languages: Sequence[str] | None) -> tuple[list[Sheet], list[LeftOut]]:
    """The sheets of contexts or names (`what`) in a folder, or `embedded`, in order of their files' names.

    A folder may hold files of both formats; other files in it are none of ours and are passed over. The embedded
    names have CLDR's territories as places in the nominative, in the languages asked for.
    """
    folder = _FOLDER if str(source) == EMBEDDED else Path(source)
    if not folder.is_dir():
        raise InputError(
            "no such folder", value=str(source), remedy=f"Give a folder of {what}, or {EMBEDDED!r} for ours."
        )
    sheets: list[Sheet] = []
    left_out: list[LeftOut] = []
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
    return Sheet("names", Kind("LOC"), CLDR, tuple(columns), tuple(rows))
