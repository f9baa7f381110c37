"""The command `interlingua pretrain`: parse, one call, print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from interlingua.cli.options import Console, print_json
from interlingua.cli.progress import progress_bars, resumable
from interlingua.studies.config.schema import PretrainCommand

EXAMPLES = """
**Examples**

    interlingua pretrain recipes/tiny-mono-en.toml --out tiny  # your text is in recipes/mono/en.txt

    interlingua pretrain recipes/embedded.toml --out model --json  # and there in 19 languages more

    torchrun --nproc-per-node 8 -m interlingua pretrain my.toml --out model  # eight GPUs
"""


def pretrain(given: PretrainCommand, output: Console) -> None:
    """Train, and print what was measured on the way."""
    from interlingua.commands.command import call_command
    from interlingua.commands.pretrain import pretrain as pretrain_command
    from interlingua.training.processes import is_first_process

    with resumable(Path(given.out)), progress_bars() as tell:
        result = call_command(pretrain_command, replace(given, progress=tell))
    if not is_first_process():
        return
    report = result.report()
    if output.json:
        print_json({"folder": str(result.folder), **result.training, "report": report.to_dict()})
        return
    from interlingua.report.kit.terminal import console, print_report

    print_report(report, console())
    typer.echo(f"\nModel: {result.folder}, page: {result.page_file}")
