"""The command `interlingua synth`: parse, one call, print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlingua.cli.options import Json, print_json, print_notes, split_names

if TYPE_CHECKING:
    from interlingua.analyses.synthesis import Synthetic

EXAMPLES = """
**Examples**

    interlingua synth --out ner                                   # the embedded set, 11 languages

    interlingua synth --languages be,en,ru,tr --types PER=4,LOC,ORG --rows 5000 --out ner

    interlingua synth --contexts SyntheticNER --contexts embedded --names SyntheticNER --out ner

    interlingua synth --languages en,ru --about Georgia --out georgia
"""


def synth(
    out: Annotated[Path, typer.Option(help="Where the files go; a folder.", metavar="DIR")],
    contexts: Annotated[
        list[str] | None,
        typer.Option(
            help="A folder of contexts, or 'embedded'; a kind comes from the first that has it. [default: embedded]",
            metavar="DIR",
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(help="A folder of names, likewise. [default: embedded]", metavar="DIR"),
    ] = None,
    languages: Annotated[
        str | None,
        typer.Option(help="Codes, comma-separated. [default: those that every type has]", metavar="XX,YY"),
    ] = None,
    types: Annotated[
        str | None,
        typer.Option(
            help="Entity types or kinds, with weights where shares differ: PER=4,LOC.locative,ORG. [default: all]",
            metavar="TYPES",
        ),
    ] = None,
    rows: Annotated[int, typer.Option(help="Sentences in each language, for training and testing together.")] = 500,
    test_share: Annotated[float, typer.Option(help="The share of contexts, of names and of rows for testing.")] = 0.2,
    slots: Annotated[
        str, typer.Option(help="one: contexts with several slots are left out. any: one name fills them all.")
    ] = "one",
    bad_rows: Annotated[
        str, typer.Option(help="skip (and count) or fail, for contexts and names that can't be used.")
    ] = "skip",
    about: Annotated[
        str | None,
        typer.Option(help="Also put this one name into test contexts of every type: xx.about.iob2.", metavar="NAME"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides the split and the sample.")] = 0,
    as_json: Json = False,
) -> None:
    """Make strictly parallel NER data: every context with every name, in any set of languages.

    Writes xx.train.iob2 and xx.test.iob2 for each language (word, row id, tag), counts.json, and how alike the names
    are spelled (spelling.csv, spelling.svg). No context and no name of the test part is seen in training. What was left
    out goes to stderr, by file and line.
    """
    from interlingua.commands import synth as synth_command

    made = synth_command.synth(
        contexts or "embedded",
        names or "embedded",
        languages=split_names(languages),
        types=split_names(types),
        rows=rows,
        seed=seed,
        rules=synth_command.Rules(test_share, slots, bad_rows),
        about=about,
        out=out,
    )
    print_notes((*made.notes, *made.left_out))
    if as_json:
        print_json({"folder": str(out), **made.counts()})
        return
    _show(made)
    typer.echo(f"\n{len(made.languages)} languages, files in {out}")


def _show(made: Synthetic) -> None:
    """The counts, a line a kind, as the paper's Table 1 has them by type."""
    from rich.table import Table

    from interlingua.report.screen import console

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
