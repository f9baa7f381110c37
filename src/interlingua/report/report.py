"""`build_report`: runs in, one report out; which command made their records does not matter."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from interlingua.record import Estimate
from interlingua.report.kit.chart import Chart, ChartMenu, charts_of
from interlingua.report.kit.citations import name_papers
from interlingua.report.kit.figure import Figure, find_figure
from interlingua.report.kit.finding import Finding, Verdict, sentence_of
from interlingua.report.kit.notebook import ReportedResult
from interlingua.report.kit.section import Fact, Headline, Run, Section, Subject
from interlingua.report.kit.table import Cell, Table
from interlingua.report.kit.wording import escape_control_characters, format_number

SUBJECTS = (
    "published", "transfer", "adjustment", "attribution", "examples", "geometry", "alignment", "training", "links",
)  # fmt: skip
"""The modules of `report.subjects`, in the order in which they may answer for a run and follow each other on a page."""


@dataclass(frozen=True, kw_only=True)
class Report(ReportedResult):
    """What every renderer renders: a first screen and sections."""

    command: str
    """`audit`, `study`; `report` of several runs."""
    headline: Headline
    sections: tuple[Section, ...] = field(repr=False)
    runs: tuple[Run, ...] = field(repr=False)

    def report(self) -> Report:
        """The report itself: it is shown in notebooks as results are."""
        return self

    @property
    def page_file(self) -> Path | None:
        """None: a report does not know where it was written."""
        return None

    @property
    def html(self) -> str:
        """The page: one HTML file that works offline."""
        return self.page()

    def to_dict(self) -> dict[str, Any]:
        """Title, findings, key figures and tables as plain data for JSON."""
        return {
            "title": self.headline.title,
            "answer": self.headline.answer.to_dict(),
            "figures": [
                {
                    "label": figure.label,
                    "text": figure.text,
                    "remark": figure.remark,
                    "estimate": None if figure.estimate is None else figure.estimate.to_dict(),
                }
                for figure in self.headline.figures
            ],
            "measured": self.headline.measured,
            "next_step": self.headline.next_step,
            "findings": [finding.to_dict() for finding in self.findings()],
            "tables": {table.name: _table_data(table) for table in self.tables()},
        }

    def findings(self) -> Iterator[Finding]:
        """All findings, those of the first screen first."""
        yield from self.headline.findings
        for section in self.sections:
            yield from section.findings

    def tables(self) -> Iterator[Table]:
        """All tables, in the order of the page."""
        for section in self.sections:
            yield from section.tables

    def charts(self) -> Iterator[Chart | ChartMenu]:
        """All charts and menus of charts, in the order of the page."""
        for section in self.sections:
            yield from section.charts

    def figure(self, name: str) -> Figure:
        """A chart, to look at or to save; an unknown name is an error that lists the known ones."""
        return find_figure(list(self.charts()), name)

    def texts(self) -> Iterator[str]:
        """All sentences, notes and cells of text: where a term of the glossary or a paper may be named."""
        head = self.headline
        yield from (head.title, head.answer.sentence, head.measured, head.next_step)
        yield from (text for figure in head.figures for text in (figure.label, figure.text, figure.remark))
        yield from (finding.sentence for finding in self.findings())
        for section in self.sections:
            yield from (section.title, *section.text)
            for fact in section.facts:
                yield fact[0]
                yield from [fact[1]] if isinstance(fact[1], str) else fact[1]
        for chart in self.charts():
            yield from (text for one in charts_of(chart) for text in (one.title, one.note))
        for table in self.tables():
            yield from (table.title, table.note, *(column.title for column in table.columns))
            yield from (cell for row in table.rows for cell in row if isinstance(cell, str))


@cache
def subjects() -> tuple[Subject, ...]:
    """All subjects, in their order."""
    loaded: list[Subject] = [import_module(f"interlingua.report.subjects.{name}").SUBJECT for name in SUBJECTS]
    return tuple(loaded)


def applying(run: Run) -> list[Subject]:
    """The subjects that a run has records of."""
    return [subject for subject in subjects() if subject.applies(run)]


def run_headline(run: Run) -> Headline | None:
    """The first screen of one run: of the first subject that answers for it."""
    return next((headline for subject in applying(run) if (headline := subject.headline(run)) is not None), None)


def run_sections(run: Run) -> list[Section]:
    """The sections of one run, in the order of the subjects; its settings are a section of the report."""
    return [section for subject in applying(run) for section in subject.sections(run)]


def run_numbers(run: Run) -> Mapping[str, Estimate]:
    """What a comparison of runs compares."""
    return {name: estimate for subject in applying(run) for name, estimate in subject.numbers(run).items()}


def build_report(runs: Sequence[Run], *, title: str = "") -> Report:
    """The report of one run, or the comparison of several. `title` stands in the place of the title made for it."""
    if len(runs) != 1:
        compared: Report = import_module("interlingua.report.subjects.comparison").build(runs, title)
        return compared
    (run,) = runs
    headline = run_headline(run)
    if headline is None:
        model = run.about.get("model") or run.about.get("name") or ""
        about = escape_control_characters(f" of {model}" if model else "")
        no_result = Finding(kind="no_result", verdict=Verdict.NOT_TESTED)
        headline = Headline(title=f"{run.kind.capitalize()}{about}", answer=no_result)
    if run.unfinished:
        unfinished = Finding(kind="unfinished", verdict=Verdict.UNFINISHED, about={"progress": run.unfinished})
        headline = replace(headline, answer=unfinished, findings=(headline.answer, *headline.findings))
    if title:
        headline = replace(headline, title=title)
    sections = with_unique_names([*run_sections(run), provenance_section(run)])
    return Report(command=run.kind, headline=headline, sections=sections, runs=(run,))


@sentence_of("unfinished", topic="Unfinished run")
def _unfinished_sentence(finding: Finding) -> str:
    return escape_control_characters(str(finding.about["progress"]))


@sentence_of("no_result", topic="No result")
def _no_result_sentence(finding: Finding) -> str:
    return "This run has no records that a report can show."


# Settings and provenance.

_LABELS = {
    "model": "Model", "against": "Second model", "models": "Models", "encoders": "Encoders", "task": "Task",
    "tasks": "Tasks", "corpus": "Corpus", "bitext": "Parallel corpus", "bitexts": "Parallel corpora",
    "languages": "Languages", "source": "Language of training", "rows": "Rows", "pairs": "Pairs of languages",
    "measures": "Measures", "layers": "Layers", "layer": "Layer", "dim": "Dimensions of a vector",
    "pooling": "Pooling", "precision": "Precision", "device": "Device", "maps": "Rotations are fitted for",
    "seed": "Seed", "seeds": "Seeds", "regimes": "Regimes", "output": "Output layer", "prompt": "Prompt",
    "learning_rate": "Learning rate", "batch_size": "Batch size", "epochs": "Epochs", "max_length": "Longest input",
    "warmup": "Warm-up", "seconds": "Seconds", "created": "Created", "data": "Data", "size": "Size", "paper": "Paper",
}  # fmt: skip
_NOT_SETTINGS = {"kind", "names", "digests", "versions", "skipped", "steps", "unfinished", "settings", "schema",
                 "notes", "training"}  # fmt: skip
"""Parts of run.json that are shown elsewhere or that only a program reads."""


def provenance_section(run: Run, *, name: str = "provenance", title: str = "How this was made") -> Section:
    """Settings, what was skipped, versions and digests of a run: the last section, and the only one with digests."""
    settings = {**_mapping(run.about.get("settings")), **run.about}
    order = [key for key in _LABELS if key in settings] + [key for key in settings if key not in _LABELS]
    facts: list[Fact] = []
    for key in order:
        if key not in _NOT_SETTINGS and (text := describe_setting(settings[key])):
            facts.append((_LABELS.get(key) or escape_control_characters(key.replace("_", " ").capitalize()), text))
    facts.append(("Skipped or left out", tuple(_notes(run.about)) or "Nothing."))
    of_records = next((record.versions for record in run.records if record.versions), {})
    versions, digests = (
        [describe_setting(f"{part} {value}") for part, value in known.items()]
        for known in (_mapping(run.about.get("versions")) or of_records, _mapping(run.about.get("digests")))
    )
    facts += [("Versions", ", ".join(versions))] if versions else []
    facts += [("Digests of models and data", tuple(digests))] if digests else []
    return Section(name=name, title=title, facts=tuple(facts), folded=True)


def _notes(about: Mapping[str, Any]) -> list[str]:
    """What was skipped or left out, one note per line."""
    notes: list[str] = []
    for key in ("skipped", "notes"):
        value = about.get(key) or []
        lines = [f"{name}: {note}" for name, note in value.items()] if isinstance(value, Mapping) else value
        notes += [str(line) for line in ([lines] if isinstance(lines, str) else lines)]
    return [escape_control_characters(note) for note in notes]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def describe_setting(value: object) -> str:
    """A setting as people read it: short numbers, lists with commas, objects with the names of their parts.

    >>> describe_setting({"learning_rate": 0.0003, "betas": [0.9, 0.98], "clip": None, "freeze": True})
    'learning rate 0.0003, betas 0.9, 0.98, freeze yes'
    """
    if isinstance(value, Mapping):
        parts = {str(name).replace("_", " "): describe_setting(inner) for name, inner in value.items()}
        return ", ".join(f"{escape_control_characters(name)} {text}" for name, text in parts.items() if text)
    if isinstance(value, (list, tuple)):
        return ", ".join(text for item in value if (text := describe_setting(item)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format_number(value, 1) if abs(value) >= 10 else f"{value:g}".replace("-", "−", 1)
    return "" if value is None else name_papers(escape_control_characters(str(value)))


# Names.

_IDS_OF_PAGE = ("summary", "title", "glossary", "contents", "menu", "here", "toc", "theme", "failed", "tip", "record",
                "record-h", "record-close", "record-body", "data")  # fmt: skip
"""Ids that the page itself has, which no section may take."""


def with_unique_names(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections with names that are plain file names and ids, and that no other part of the page has.

    Tables and charts may be named after texts of users (a model, a test), which may repeat or hold any character.
    """
    sections_taken, tables_taken, charts_taken = set(_IDS_OF_PAGE), set[str](), set[str]()

    def chart_named(chart: Chart | ChartMenu) -> Chart | ChartMenu:
        name = _unique(chart.name, charts_taken)
        if isinstance(chart, ChartMenu):
            charts = {key: replace(one, name=_unique(one.name, charts_taken)) for key, one in chart.charts.items()}
            return replace(chart, name=name, charts=charts)
        return replace(chart, name=name)

    return tuple(
        replace(
            section,
            name=_unique(section.name, sections_taken),
            charts=tuple(chart_named(chart) for chart in section.charts),
            tables=tuple(replace(table, name=_unique(table.name, tables_taken)) for table in section.tables),
        )
        for section in sections
    )


def _unique(name: str, taken: set[str]) -> str:
    """The name as a plain file name, numbered where another has it already, in whatever case."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:60] or "part"
    numbered, number = plain, 2
    while numbered.lower() in taken:
        numbered, number = f"{plain}-{number}", number + 1
    taken.add(numbered.lower())
    return numbered


def _table_data(table: Table) -> dict[str, Any]:
    def plain(cell: Cell) -> Any:
        if isinstance(cell, Estimate):
            return {name: value for name, value in cell.to_dict().items() if value is not None}
        return None if isinstance(cell, float) and not math.isfinite(cell) else cell

    return {
        "title": table.title,
        "note": table.note,
        "columns": [column.title for column in table.columns],
        "rows": [[plain(cell) for cell in row] for row in table.rows],
    }
