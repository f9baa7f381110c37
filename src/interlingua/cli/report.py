"""The command `interlingua report`: parse, one call, print."""

from __future__ import annotations

from pathlib import Path

import typer

from interlingua.cli.options import Console, print_json, print_notes
from interlingua.studies.config.schema import ReportCommand

EXAMPLES = """
**Examples**

    interlingua report interlingua-audit                  # the page of one run, in its folder

    interlingua report before after --out compared.html   # the comparison of two audits

    interlingua report mbert xlmr mmbert --title "Which model for Hindi?"   # a ranking of three

    interlingua report audit nli why --out all.html       # an audit, a transfer study and explanations
"""
DEFAULT_OUT = Path("interlingua-report.html")


def report(given: ReportCommand, output: Console) -> None:
    """Write the page, and print the report."""
    from interlingua.commands.report import report_on
    from interlingua.report.report import build_report

    folders = given.folders
    page = given.out or (folders[0] / "report.html" if len(folders) == 1 else DEFAULT_OUT)
    made = report_on(*folders, out=page, title=given.title)
    print_notes(f"{run.name}: {run.unfinished}".removeprefix(": ") for run in made.runs if run.unfinished)
    if output.json:
        runs = [{"kind": run.kind, "name": run.name} for run in made.runs]
        print_json({"page": str(page), "runs": runs, "report": made.to_dict()})
        return
    from interlingua.report.kit.terminal import console, print_report

    screen = console()
    print_report(made, screen, full=given.full)
    for run in made.runs if given.full and len(made.runs) > 1 else ():
        print_report(build_report([run], title=run.name), screen, full=True)
    typer.echo(f"\nPage: {page}")
