"""A study's geometry tables as runs of `interlingua geometry`, for the parts that draw those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from interlingua.report.geometry_page import geometry_sections
from interlingua.report.geometry_tables import all_tables
from interlingua.report.runs import Run
from interlingua.report.sections import Section
from interlingua.report.study_parts import entries, slug
from interlingua.report.tables import Table
from interlingua.report.wording import visible


def geometry_runs(run: Run) -> list[Run]:
    """One run a geometry table and encoder, with its maps and what was concluded.

    Its records stand together among the study's, because its steps do.
    """
    found = []
    for entry in entries(run, "geometries"):
        held = [
            (place, record)
            for place, record in run.numbered()
            if ((record.get("details") or {}).get("geometry"), record["model"]) == (entry["name"], entry["encoder"])
        ]
        if held:
            name = f"{entry['name']}, {entry['encoder']}"
            more = {"maps": entry.get("maps") or [], "found": entry["found"]}
            key = slug(f"{name}-{run.key}" if run.key else name)
            records = [record for _, record in held]
            found.append(Run(entry["about"], records, held[0][0], key, f"{run.prefix}{name}", more))
    return found


def geometry_parts(runs: Sequence[Run]) -> list[Section]:
    """The sections of all geometry tables but the answers, which stand in the study's own."""
    parts = [part for run in runs for part in geometry_runs(run)]
    return [section for section in geometry_sections(parts) if not section.name.startswith("answer")] if parts else []


def study_geometry_tables(run: Run) -> list[Table]:
    """The tables of every geometry table and encoder."""
    return [
        replace(table, name=f"{part.key}-{table.name}", title=f"{table.title}: {visible(part.name)}")
        for part in geometry_runs(run)
        for table in all_tables(part.records, part.about, part.more["found"], first=part.first)
    ]
