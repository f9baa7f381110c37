"""The command `interlingua transfer`: parse, one call, print."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from interlingua.cli.options import Console, print_json, print_notes
from interlingua.cli.progress import progress_bars, resumable
from interlingua.studies.config.schema import TransferCommand

EXAMPLES = """
**Examples**

    interlingua transfer mbert/ --task ner --train en.tsv --test ru=ru.tsv --test hi=hi.tsv --out a

    interlingua transfer mbert/ --task ner --train en.tsv --test ru=ru.tsv --bitext ru=en-ru.tsv --out b

    interlingua transfer mbert/ --task nli --train en.tsv --test es=es.tsv --mix-with dev-en.tsv --out c

    interlingua transfer mbert/ --task classification --train en.csv --test hi=hi.csv --out topics

    interlingua transfer mbert/ --task qa --train en.json --test en+ru=q-en.json,q-ru.json --out d

    interlingua transfer mbert/ --task retrieval --test ru=tatoeba/ --bitext ru=en-ru.tsv --out e
"""


def transfer(given: TransferCommand, output: Console) -> None:
    """Run, and print the report."""
    from interlingua.analyses.evaluation import FOLDER
    from interlingua.commands.command import call_command
    from interlingua.commands.transfer import transfer as transfer_command
    from interlingua.training.processes import is_first_process

    out = Path(given.out)
    with resumable(out), progress_bars() as tell:
        result = call_command(transfer_command, replace(given, progress=tell))
    if not is_first_process():
        return
    print_notes(result.run["skipped"])
    report = result.report()
    if output.json:
        print_json({"run": result.run, "report": report.to_dict(), **result.exports()})
        return
    from interlingua.report.kit.terminal import console, print_report

    print_report(report, console())
    typer.echo(f"\nPage: {result.page_file}; tables: {out / 'tables'}/")
    if given.save_models and (out / "models").is_dir():
        size = sum(file.stat().st_size for file in (out / "models").rglob("*") if file.is_file())
        typer.echo(f"Models: {out / 'models'}/ ({size / 2**20:,.0f} MiB)")
    if (out / FOLDER).is_dir():
        typer.echo(f"Predictions of every model: {out / FOLDER}/")
        if why := _why_wrong(result.predictions(), given.tests, out, saved=given.save_models):
            typer.echo(why)


def _why_wrong(predictions: Iterator[Mapping[str, Any]], tests: Mapping[str, Any], out: Path, *, saved: bool) -> str:
    """The command that explains the first wrong prediction of a saved model on a test of one file; how to save one."""
    if not saved:  # What is there may be of other settings.
        return "With --save-models the models are kept, and interlingua explain --row explains a wrong prediction."
    wrong = (line for line in predictions if not line["right"] and isinstance(tests.get(line["test"]), str))
    first = next((line for line in wrong if (out / "models" / line["model"]).is_dir()), None)
    if first is None:
        return ""
    code, model = first["language"], out / "models" / first["model"]
    row = first.get("id") or f"{code}:{first['line']}"
    given = ["interlingua", "explain", str(model), "--test", f"{code}={tests[first['test']]}", "--row", str(row)]
    return f"To explain the first wrong prediction: {shlex.join(given)}"
