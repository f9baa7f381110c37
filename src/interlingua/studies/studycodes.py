"""The languages of a study file in their one form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from interlingua import languages as codes
from interlingua.errors import InputError
from interlingua.studies.strict import Problems
from interlingua.studies.tables import StudyTable
from interlingua.studies.tomlplaces import Path as Place


def plain_codes(table: StudyTable, problems: Problems) -> StudyTable:
    """The table with one code for each language; what is no language, or is named twice, is a problem."""

    def plain(path: Place, code: str) -> str | None:
        try:
            return codes.canonical(code)
        except InputError as error:
            problems.take(path, error)
            return None  # As if it were not there, so that what else is wrong can be told.

    def all_plain(path: Place, given: Sequence[str]) -> tuple[str, ...]:
        found: list[str] = []
        for place, code in enumerate(given):
            one = plain((*path, place), code)
            if one in found:
                problems.add((*path, place), "a language twice", value=code, remedy="Name each once.")
            if one is not None:
                found.append(one)
        return tuple(found)

    changed: dict[str, Any] = {}
    for section in ("encoders", "tasks", "measures", "explanations", "synth"):
        changed[section] = {
            name: replace(each, languages=all_plain((section, name, "languages"), each.languages))
            for name, each in getattr(table, section).items()
        }
    changed["tasks"] = {
        name: replace(each, sources=all_plain(("tasks", name, "sources"), each.sources))
        for name, each in changed["tasks"].items()
    }
    changed["geometry"] = {
        name: replace(
            each,
            sources=all_plain(("geometry", name, "sources"), each.sources),
            source=None if each.source is None else plain(("geometry", name, "source"), each.source),
        )
        for name, each in table.geometry.items()
    }
    languages = all_plain(("languages",), table.languages)
    source = plain(("source",), table.source) or StudyTable.source
    return replace(table, languages=languages, source=source, **changed)
