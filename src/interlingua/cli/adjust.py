"""The command `interlingua adjust`: parse, one call, print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from interlingua.cli.options import Console, print_json, print_notes
from interlingua.cli.progress import progress_bars, resumable
from interlingua.studies.config.schema import AdjustCommand

if TYPE_CHECKING:
    from interlingua.commands.compiled import CompiledCommand

EXAMPLES = """
**Examples**

    interlingua adjust embedded --bitext talks.en-ru.tsv --out adjusted --learning-rate 3e-4

    interlingua adjust xlm-roberta-base --bitext ru=talks.txt --links ru=talks.links --out adjusted

    interlingua adjust ./my-model --bitext ru=en-ru.tsv --bitext es=en-es.tsv --out both  # at once

    interlingua adjust ./my-model --bitext hi=train.en,train.hi --out tuned --layer 8 --freeze 6

    torchrun --nproc-per-node 8 -m interlingua adjust ./my-model --bitext x.en-ru.tsv --out adjusted
"""


def compiled(given: AdjustCommand) -> CompiledCommand:
    """The command as a study with one cell."""
    from interlingua.commands.adjust import compile_adjust

    return compile_adjust(given)


def adjust(given: AdjustCommand, output: Console) -> None:
    """Run, and print what changed."""
    from interlingua.commands.adjust import adjust as adjust_command
    from interlingua.commands.command import call_with
    from interlingua.training.processes import is_first_process

    with resumable(Path(given.out)), progress_bars() as tell:
        result = call_with(adjust_command, replace(given, progress=tell))
    if not is_first_process():
        return
    from interlingua.report.adjustment import left_out

    print_notes(left_out(result.summary))
    if output.json:
        print_json({"folder": str(result.folder), **result.summary})
        return
    from interlingua.report.adjustment_terminal import render_adjustment
    from interlingua.report.record_adapter import to_v1
    from interlingua.report.runs import Run
    from interlingua.report.screen import console

    render_adjustment(Run(result.summary, to_v1(result.records)), console())
    if result.summary["finished"]:
        typer.echo(f"\nModel: {result.folder}, page: {result.folder / 'adjustment.html'}")
