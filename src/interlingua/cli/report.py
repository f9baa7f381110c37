"""The command `interlingua report`: parse, one call, print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from interlingua.cli.options import Console as Output
from interlingua.cli.options import print_json, print_notes
from interlingua.studies.config.schema import ReportCommand

if TYPE_CHECKING:
    from rich.console import Console

    from interlingua.report.runs import Run

EXAMPLES = """
**Examples**

    interlingua report interlingua-audit                  # the page of one run, in its folder

    interlingua report before after --out compared.html   # two audits, side by side

    interlingua report audit nli why --out all.html       # an audit, a transfer study and explanations
"""
DEFAULT_OUT = Path("interlingua-report.html")


def report(given: ReportCommand, output: Output) -> None:
    """Write the page, and print the tables."""
    from interlingua.commands import report as report_command
    from interlingua.report.comparison import POINT

    folders = given.folders
    place = given.out or (folders[0] / "report.html" if len(folders) == 1 else DEFAULT_OUT)
    result = report_command.report_on(*folders, out=place)
    every = [run for its in result.runs.values() for run in its]
    print_notes(f"{run.prefix}{run.about['unfinished']}" for run in every if "unfinished" in run.about)
    if output.json:
        told = {
            "page": str(place),
            "runs": [{"kind": kind, "name": run.name} for kind, its in result.runs.items() for run in its],
            "summary": [words for section in result.comparisons() for words in section.words if words != POINT],
            "tables": {table.name: [dict(zip(table.columns, row, strict=True)) for row in table.rows]
                       for table in result.tables()},
        }  # fmt: skip
        print_json(told)
        return
    from interlingua.report.screen import console, print_answer, print_table

    screen = console()
    for section in result.comparisons():
        print_answer(replace(section, words=tuple(words for words in section.words if words != POINT)), screen)
        for table in section.tables:
            print_table(table, screen)
    for kind, its in result.runs.items():
        for run in its:
            _show(kind, run, screen)
    typer.echo(f"\nPage: {place}")


def _show(kind: str, run: Run, screen: Console) -> None:
    """One run, as the command that made it prints it."""
    from rich.text import Text

    from interlingua.report.adjustment_terminal import render_adjustment
    from interlingua.report.explain_terminal import render_explanation
    from interlingua.report.geometry_terminal import render_geometry
    from interlingua.report.study import study_tables
    from interlingua.report.study_terminal import render_study
    from interlingua.report.terminal import render
    from interlingua.report.transfer_terminal import render_transfer

    if run.name:
        screen.rule(Text(run.name), align="left")
    if kind == "audit":
        render(run.records, run.about, screen)
    elif kind == "adjust":
        render_adjustment(run, screen)
    elif kind == "transfer":
        render_transfer(run, screen)
    elif kind == "geometry":
        render_geometry(run.records, run.about, run.more.get("found") or {}, screen)
    elif kind == "study":
        render_study(run, study_tables(run), screen)
    else:
        render_explanation(run.records, run.about, screen)
