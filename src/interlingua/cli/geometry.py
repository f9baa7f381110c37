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

    interlingua geometry xlm-roberta-base --languages be,en,ru,tr --map tsne --out geometry

    interlingua geometry xlm-roberta-base --entities SyntheticNER --entity Washington --out geometry

    interlingua geometry ./my-model --sources en --no-watch --out geometry   # one fine-tuning only
"""


def geometry(given: GeometryCommand, output: Console) -> None:
    """Run, and print what was found."""
    from interlingua.commands.command import call_with
    from interlingua.commands.geometry import geometry as geometry_command
    from interlingua.training.processes import is_first_process

    out = Path(given.out)
    with resumable(out), progress_bars() as tell:
        result = call_with(geometry_command, replace(given, progress=tell))
    if not is_first_process():
        return
    print_notes(result.run["skipped"])
    if output.json:
        print_json({"run": result.run, "records": result.records.to_dicts(), **result.found})
        return
    from interlingua.report.geometry_terminal import render_geometry
    from interlingua.report.record_adapter import to_v1
    from interlingua.report.screen import console

    render_geometry(to_v1(result.records), result.run, result.found, console())
    typer.echo(f"\nPage: {out / 'geometry.html'}")
