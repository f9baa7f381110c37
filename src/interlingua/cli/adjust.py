"""The command `interlingua adjust`: parse, one call, print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from interlingua.cli.options import Console, print_json, print_notes
from interlingua.cli.progress import progress_bars, resumable
from interlingua.studies.config.schema import AdjustCommand

EXAMPLES = """
**Examples**

    interlingua adjust embedded --bitext talks.en-ru.tsv --out adjusted --learning-rate 3e-4

    interlingua adjust xlm-roberta-base --bitext ru=talks.txt --links ru=talks.links --out adjusted

    interlingua adjust ./my-model --bitext ru=en-ru.tsv --bitext es=en-es.tsv --out both  # at once

    interlingua adjust ./my-model --bitext hi=train.en,train.hi --out tuned --layer 8 --freeze 6

    torchrun --nproc-per-node 8 -m interlingua adjust ./my-model --bitext x.en-ru.tsv --out adjusted
"""


def adjust(given: AdjustCommand, output: Console) -> None:
    """Run, and print what changed."""
    from interlingua.commands.adjust import adjust as adjust_command
    from interlingua.commands.command import call_command
    from interlingua.training.processes import is_first_process

    with resumable(Path(given.out)), progress_bars() as tell:
        result = call_command(adjust_command, replace(given, progress=tell))
    if not is_first_process():
        return
    from interlingua.report.subjects.adjustment import exclusions

    print_notes(exclusions(result.run["training"]["languages"]))
    report = result.report()
    if output.json:
        print_json(
            {
                "folder": str(result.folder),
                "run": result.run,
                "report": report.to_dict(),
                "records": result.records.to_dicts(),
            }
        )
        return
    from interlingua.report.kit.terminal import console, print_report

    print_report(report, console())
    if result.finished:
        typer.echo(f"\nModel: {result.folder}, page: {result.folder / 'report.html'}")
