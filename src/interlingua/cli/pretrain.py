"""The command `interlingua pretrain`: parse, one call, print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from interlingua.cli.options import Console, print_json
from interlingua.cli.progress import progress_bars, resumable
from interlingua.studies.config.schema import PretrainCommand

if TYPE_CHECKING:
    from interlingua.commands.compiled import CompiledCommand

EXAMPLES = """
**Examples**

    interlingua pretrain recipes/tiny-mono-en.toml --out tiny  # your text is in recipes/mono/en.txt

    interlingua pretrain recipes/embedded.toml --out model --json  # and there in 19 languages more

    torchrun --nproc-per-node 8 -m interlingua pretrain my.toml --out model  # eight GPUs
"""


def compile(given: PretrainCommand) -> CompiledCommand:
    """The command as a study."""
    from interlingua.commands.pretrain import compile_pretrain

    return compile_pretrain(given)


def pretrain(given: PretrainCommand, output: Console) -> None:
    """Train, and print what was measured on the way."""
    from interlingua.commands.command import call_with
    from interlingua.commands.pretrain import pretrain as pretrain_command
    from interlingua.training.processes import is_first_process

    with resumable(Path(given.out)), progress_bars() as tell:
        result = call_with(pretrain_command, replace(given, progress=tell))
    if not is_first_process():
        return
    if output.json:
        from interlingua.report.terminal import training_findings

        print_json({"folder": str(result.folder), **result.summary, "not_learnt": training_findings(result.summary)})
        return
    from interlingua.report.screen import console
    from interlingua.report.terminal import render_training

    render_training(result.summary, console())
    typer.echo(f"\nModel: {result.folder}")
