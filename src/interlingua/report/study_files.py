"""A study's report as an object that a notebook shows, and as files: tables, one JSON object, a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from interlingua.record import RecordTable
from interlingua.report.notebook import Drawing, drawing, framed
from interlingua.report.readings import Record
from interlingua.report.runs import Run
from interlingua.report.study import study_tables
from interlingua.report.study_page import study_page, study_sections
from interlingua.report.tables import Table, to_csv, to_latex, to_markdown


@dataclass(frozen=True)
class StudyReport:
    """What a study found: `scores` of tasks, `distances` of words, the paper's numbers `beside` ours, and `tables`.

    `geometries` has, for each geometry table and encoder, its maps and what was concluded.
    `about` is all that made them, `records` every number, `read` the same as pages read them.
    """

    about: dict[str, Any]
    scores: list[dict[str, Any]]
    distances: list[dict[str, Any]]
    beside: list[dict[str, Any]]
    tables: list[Table]
    read: Sequence[Record] = field(default=(), repr=False)
    geometries: list[dict[str, Any]] = field(default_factory=list, repr=False)
    records: RecordTable = field(default_factory=lambda: RecordTable(()), repr=False)

    def select(self, task: str, metric: str) -> dict[tuple[str, str, str], dict[str, Any]]:
        """The entries of a task's metric, by encoder, regime and test."""
        return {
            (entry["encoder"], entry["regime"], entry["test"]): entry
            for entry in self.scores
            if (entry["task"], entry["metric"]) == (task, metric)
        }

    def run(self) -> Run:
        """The report as pages have a run."""
        more = {"scores": self.scores, "distances": self.distances, "beside": self.beside}
        return Run(self.about, self.read, more={**more, "geometries": self.geometries})

    def page(self) -> str:
        """The HTML page, self-contained."""
        return study_page(self.run())

    def figure(self, name: str) -> Drawing:
        """A figure of the page by its name: plotly's JSON as a dictionary, which a notebook draws."""
        return drawing(study_sections([self.run()]), name, self.read)

    def __repr__(self) -> str:
        return f"StudyReport({self.about['name']}, {len(self.tables)} tables)"

    def _repr_html_(self) -> str:
        return framed(self.page())


def study_report(
    about: dict[str, Any],
    scores: list[dict[str, Any]],
    distances: list[dict[str, Any]],
    beside: list[dict[str, Any]],
    read: Sequence[Record],
    geometries: Sequence[dict[str, Any]] = (),
    records: RecordTable | None = None,
) -> StudyReport:
    """The report with its tables; `read` are all of the study's `records` as pages read them."""
    kept = RecordTable(()) if records is None else records
    bare = StudyReport(about, scores, distances, beside, [], read, list(geometries), kept)
    return replace(bare, tables=study_tables(bare.run()))


def study_files(report: StudyReport) -> dict[str, str]:
    """File names and texts: `study.json`, `study.html`, and under `tables/` each table as CSV, Markdown, LaTeX."""
    out = {"study.json": json.dumps(as_json(report), ensure_ascii=False, indent=1), "study.html": report.page()}
    for table in report.tables:
        for ending, write in (("csv", to_csv), ("md", to_markdown), ("tex", to_latex)):
            out[f"tables/{table.name}.{ending}"] = write(table)
    return out


def as_json(report: StudyReport) -> dict[str, object]:
    """The report as one object of plain data; `steps` are those whose records it was made from."""
    steps = list(dict.fromkeys(record["step"] for record in report.read if record.get("step")))
    found = {"study": report.about, "scores": report.scores, "distances": report.distances, "beside": report.beside}
    # Maps are large, and stay where their steps left them.
    looked = [{key: value for key, value in each.items() if key != "maps"} for each in report.geometries]
    return {**found, "geometries": looked, "steps": steps}
