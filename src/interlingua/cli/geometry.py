"""The command `interlingua geometry`: parse, one call, print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from interlingua.cli.options import Console, print_json, print_notes
from interlingua.cli.progress import progress_bars, resumable
from interlingua.studies.config.schema import GeometryCommand

EXAMPLES = """
**Examples**

    interlingua geometry --small --out geometry                     # the embedded encoder, minutes on 2 cores

    interlingua geometry xlm-roberta-base --languages be,en,ru,tr --projection tsne --out geometry

    interlingua geometry xlm-roberta-base --entities SyntheticNER --entity Washington --out geometry

    interlingua geometry ./my-model --sources en --no-watch --out geometry   # one fine-tuning only
"""


def geometry(given: GeometryCommand, output: Console) -> None:
    """Run, and print the report."""
    from interlingua.commands.command import call_command
    from interlingua.commands.geometry import geometry as geometry_command
    from interlingua.training.processes import is_first_process

    out = Path(given.out)
    with resumable(out), progress_bars() as tell:
        result = call_command(geometry_command, replace(given, progress=tell))
    if not is_first_process():
        return
    print_notes(result.run["skipped"])
    if output.json:
        report = result.report().to_dict()
        print_json({"run": result.run, "report": report, "records": result.records.to_dicts(), **result.found})
        return
    from interlingua.report.kit.terminal import console, print_report

    print_report(result.report(), console())
    typer.echo(f"\nPage: {result.page_file}")
