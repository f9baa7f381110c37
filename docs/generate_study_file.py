"""Writes docs/study-file.md, every key of a study file:  python docs/generate_study_file.py"""

from __future__ import annotations

import inspect
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from interlingua.report.papers import in_names
from interlingua.studies.config import tables

ROOT = Path(__file__).resolve().parents[1]
HEAD = """# Every key of a study file

<!-- Made by docs/generate_study_file.py from interlingua/studies/config/tables.py; edit that instead. -->

What each table of a [study](howto-study.md) may say, and what it is where a key is left out. *Files* are a template
with `{language}` and `{source}`, two of them, or a table of such by name. Anything else is an error with its line.
"""
TABLES = {
    "The top of the file": tables.StudyTable,
    "[encoders.NAME]": tables.EncoderTable,
    "[bitexts]": tables.BitextTable,
    "[adjust]": tables.AdjustTable,
    "[tasks.NAME]": tables.TaskTable,
    "[measures.NAME]": tables.MeasureTable,
    "[explanations.NAME]": tables.ExplainTable,
    "[synth.NAME]": tables.SynthTable,
    "[geometry.NAME]": tables.GeometryTable,
    "[regime.NAME]": tables.RegimeTable,
    "[[regime.NAME.phases]]": tables.PhaseTable,
    "A part of a phase": tables.PartTable,
    "[resources.KIND]": tables.ResourceTable,
}
KINDS = {
    "str": "text",
    "int": "whole number",
    "float": "number",
    "bool": "true or false",
    "bool | str": "true or false, or text",
    "tuple[str, ...]": "list of texts",
    "tuple[int, ...]": "list of whole numbers",
    "tuple[tuple[str, ...], ...]": "list of lists of texts",
    "int | tuple[int, ...]": "whole number, or a list",
    "Files": "files",
    "Text": "text, or one by language",
    "Mapping[str, str]": "a text by language",
}


def page() -> str:
    """The whole page as Markdown."""
    parts = [HEAD.strip()]
    for title, table in TABLES.items():
        own = [each for each in fields(table) if "Table" not in str(each.type)]
        lines = ["| key | what | left out |", "|---|---|---|", *map(_line, own)]
        words = inspect.cleandoc(table.__doc__ or "").replace("\n\n", "<br>").replace("\n", " ").replace("<br>", "\n\n")
        parts.append("\n".join([f"## `{title}`" if title[0] == "[" else f"## {title}", "", words, "", *lines]))
    return in_names("\n\n".join(parts) + "\n")


def _line(each: Field[Any]) -> str:
    said = str(each.type).removesuffix(" | None")
    kind = KINDS.get(said, f"`{said}`")
    if each.default is MISSING and each.default_factory is MISSING:
        left = "must be said"
    else:
        value = each.default if each.default_factory is MISSING else each.default_factory()
        plain = str(value).lower() if isinstance(value, bool) else value
        left = "–" if value is None or value in ((), {}, "") else f"`{_plain(plain)}`"
    return f"| `{each.name}` | {kind} | {left} |"


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


if __name__ == "__main__":
    (ROOT / "docs" / "study-file.md").write_text(page(), "utf-8")
