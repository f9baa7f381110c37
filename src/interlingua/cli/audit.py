"""The command `interlingua audit`: parse, one call, print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from interlingua.cli.options import Console, print_json, print_notes
from interlingua.cli.progress import progress_bars, resumable
from interlingua.studies.config.schema import AuditCommand

EXAMPLES = """
**Examples**

    interlingua audit                                        # the embedded encoder on the embedded corpus

    interlingua audit xlm-roberta-base --languages en,ru,hi  # a hub model, three languages

    interlingua audit ./my-model --corpus flores/ --out run  # your model, your files

    interlingua audit ./a --against ./b --json               # two models, side by side
"""
DEFAULT_OUT = Path("interlingua-audit")


def audit(given: AuditCommand, output: Console) -> None:
    """Run, and print the report."""
    from interlingua.commands.audit import audit as audit_command
    from interlingua.commands.command import call_command

    place = Path(given.out) if given.out is not None else None if output.json else DEFAULT_OUT
    with resumable(place), progress_bars() as tell:
        result = call_command(audit_command, replace(given, out=place, progress=tell))
    print_notes(result.run["skipped"])
    report = result.report()
    if output.json:
        print_json({"run": result.run, "report": report.to_dict(), "records": result.records.to_dicts()})
        return
    from interlingua.report.kit.terminal import console, print_report

    print_report(report, console())
    typer.echo(f"\nPage: {place}/report.html")
