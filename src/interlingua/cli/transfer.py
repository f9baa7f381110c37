"""The command `interlingua transfer`: parse, one call, print."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from interlingua.cli.options import Console, print_json, print_notes
from interlingua.cli.progress import progress_bars, resumable
from interlingua.studies.config.schema import TransferCommand

if TYPE_CHECKING:
    from interlingua.commands.compiled import CompiledCommand

EXAMPLES = """
**Examples**

    interlingua transfer mbert/ --task ner --train en.tsv --test ru=ru.tsv --test hi=hi.tsv --out a

    interlingua transfer mbert/ --task ner --train en.tsv --test ru=ru.tsv --bitext ru=en-ru.tsv --out b

    interlingua transfer mbert/ --task nli --train en.tsv --test es=es.tsv --mix-with dev-en.tsv --out c

    interlingua transfer mbert/ --task classification --train en.csv --test hi=hi.csv --out topics

    interlingua transfer mbert/ --task qa --train en.json --test en+ru=q-en.json,q-ru.json --out d

    interlingua transfer mbert/ --task retrieval --test ru=tatoeba/ --bitext ru=en-ru.tsv --out e
"""


def compiled(given: TransferCommand) -> CompiledCommand:
    """The command as a study with one cell."""
    from interlingua.commands.transfer import compile_transfer

    return compile_transfer(given)


def transfer(given: TransferCommand, output: Console) -> None:
    """Run, and print what was found."""
    from interlingua.analyses.evaluation import FOLDER
    from interlingua.commands.command import call_with
    from interlingua.commands.transfer import transfer as transfer_command
    from interlingua.training.processes import is_first_process

    out = Path(given.out)
    with resumable(out), progress_bars() as tell:
        result = call_with(transfer_command, replace(given, progress=tell))
    if not is_first_process():
        return
    print_notes(result.run["skipped"])
    if output.json:
        print_json({"run": result.run, "scores": result.scores, "distances": result.distances})
        return
    from interlingua.report.runs import Run
    from interlingua.report.screen import console
    from interlingua.report.transfer_terminal import render_transfer

    render_transfer(Run(result.run, more={"scores": result.scores, "distances": result.distances}), console())
    typer.echo(f"\nPage, tables, picture and records: {out / 'transfer.html'}")
    if (out / FOLDER).is_dir():
        typer.echo(f"What each model said of each example: {out / FOLDER}/")
        if why := _why_wrong(result.predictions(), given.tests, out, saved=given.save_models):
            typer.echo(why)


def _why_wrong(predictions: Iterator[Mapping[str, Any]], tests: Mapping[str, Any], out: Path, *, saved: bool) -> str:
    """The command that explains the first wrong prediction of a saved model on a test of one file; how to save one."""
    if not saved:  # What is there may be of other settings.
        return "With --save-models the models stay, and interlingua explain --row says why one of them is wrong."
    wrong = (line for line in predictions if not line["right"] and isinstance(tests.get(line["test"]), str))
    first = next((line for line in wrong if (out / "models" / line["model"]).is_dir()), None)
    if first is None:
        return ""
    code, model = first["language"], out / "models" / first["model"]
    row = first.get("id") or f"{code}:{first['line']}"
    given = ["interlingua", "explain", str(model), "--test", f"{code}={tests[first['test']]}", "--row", str(row)]
    return f"Why is one wrong? For the first: {shlex.join(given)}"
