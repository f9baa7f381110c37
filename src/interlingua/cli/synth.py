"""The command `interlingua synth`: parse, one call, print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from interlingua.cli.options import Console, print_json, print_notes
from interlingua.errors import InputError
from interlingua.studies.config.schema import SynthCommand

if TYPE_CHECKING:
    from interlingua.analyses.synthesis import Synthetic

EXAMPLES = """
**Examples**

    interlingua synth --out ner                                   # the embedded set, 11 languages

    interlingua synth --languages be,en,ru,tr --types PER=4,LOC,ORG --rows 5000 --out ner

    interlingua synth --contexts SyntheticNER --contexts embedded --names SyntheticNER --out ner

    interlingua synth --languages en,ru --entity Georgia --out georgia
"""


def synth(given: SynthCommand, output: Console) -> None:
    """Make the files, and print how many sentences there are."""
    from interlingua.commands.command import call_command
    from interlingua.commands.synth import synth as synth_command

    if given.out is None:
        raise InputError("--out is missing", remedy="Give --out DIR.")
    made, out = call_command(synth_command, given), given.out
    print_notes((*made.notes, *made.left_out))
    if output.json:
        print_json({"folder": str(out), **made.counts()})
        return
    _show(made)
    typer.echo(f"\n{len(made.languages)} languages, files in {out}")


def _show(made: Synthetic) -> None:
    """The counts, one line per kind, as the paper's Table 1 has them by type."""
    from rich.table import Table

    from interlingua.report.kit.terminal import console

    counts: dict[str, Any] = made.counts()
    table = Table(title="Sentences", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for name in ("kind", "contexts", "names", "possible", "train", "test"):
        table.add_column(name, justify="left" if name == "kind" else "right")
    for kind in counts["kinds"]:
        cells = (kind["contexts"], kind["names"], kind["possible"], kind["train"]["rows"], kind["test"]["rows"])
        table.add_row(kind["kind"], *(f"{cell:,}" for cell in cells))
    for name, possible in counts["possible"].items():
        table.add_row(f"[bold]{name}[/bold]", "", "", f"[bold]{possible:,}[/bold]", "", "")
    console().print(table)
