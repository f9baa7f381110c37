"""The command `interlingua audit`: parse, one call, print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from interlingua.cli.options import Console, print_json, print_notes
from interlingua.cli.progress import progress_bars, resumable
from interlingua.studies.config.schema import AuditCommand

if TYPE_CHECKING:
    from interlingua.commands.compiled import CompiledCommand

EXAMPLES = """
**Examples**

    interlingua audit                                        # the embedded encoder on the embedded corpus

    interlingua audit xlm-roberta-base --languages en,ru,hi  # a hub model, three languages

    interlingua audit ./my-model --corpus flores/ --out run  # your model, your files

    interlingua audit ./a --against ./b --json               # two models, side by side
"""
DEFAULT_OUT = Path("interlingua-audit")


def compiled(given: AuditCommand) -> CompiledCommand:
    """The audit as a study with one cell, in the folder that it would have."""
    from interlingua.commands.audit import compile_audit

    return compile_audit(replace(given, out=DEFAULT_OUT if given.out is None else given.out))


def audit(given: AuditCommand, output: Console) -> None:
    """Run, and print what was found."""
    from interlingua.commands.audit import audit as audit_command
    from interlingua.commands.command import call_with

    place = Path(given.out) if given.out is not None else None if output.json else DEFAULT_OUT
    with resumable(place), progress_bars() as tell:
        result = call_with(audit_command, replace(given, out=place, progress=tell))
    print_notes(result.run["skipped"])
    if output.json:
        print_json({"run": result.run, "records": result.records.to_dicts()})
        return
    from interlingua.report.record_adapter import to_v1
    from interlingua.report.screen import console
    from interlingua.report.terminal import render

    render(to_v1(result.records), result.run, console())
    typer.echo(f"\nPage, tables and records: {place}/report.html")
