"""The command `interlingua explore`: parse, one call, serve until stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from interlingua.cli.options import Console, print_notes
from interlingua.cli.progress import progress_bars
from interlingua.studies.config.schema import ExploreCommand

if TYPE_CHECKING:
    from interlingua.explorer.server import ExplorerServer

EXAMPLES = """
**Examples**

    interlingua explore                                           # the embedded encoder and corpus

    interlingua explore ./before --against ./after                # two models side by side

    interlingua explore xlm-roberta-base --corpus flores/ --languages en,ru,hi --rows 1000

    interlingua explore --head nli=nli/models/original-seed0 --aligner links/en-ru
"""


def explore(given: ExploreCommand, output: Console) -> None:
    """Open the explorer, and serve it."""
    from interlingua.explorer.explorer_loading import open_explorer, open_server
    from interlingua.explorer.model_queue import ModelQueue

    with progress_bars() as tell:
        explorer = open_explorer(
            [given.model] if given.against is None else [given.model, given.against],
            corpus=given.corpus,
            languages=given.languages,
            rows=given.rows,
            heads=given.heads or {},
            aligner=given.aligner,
            cache=given.cache,
            device=given.device,
            progress=tell,
        )
    print_notes(explorer.notes)
    server = open_server(explorer, port=given.port, turns=ModelQueue(waiting=given.max_queue))
    _serve(server, browser=given.browser, as_json=output.json)


@contextmanager
def _opened(address: str) -> Iterator[None]:
    """A browser at the address, by way of a file that only this user can read.

    All users of a machine see the command lines of all programs, and the address has the token.
    """
    import webbrowser

    folder = Path(tempfile.mkdtemp(prefix="interlingua-"))
    try:
        page = folder / "explore.html"
        page.touch(mode=0o600)
        page.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">\n', "utf-8")
        webbrowser.open(page.as_uri())
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _serve(server: ExplorerServer, *, browser: bool, as_json: bool) -> None:
    """Answer until SIGINT or SIGTERM; a second one ends the process at once."""
    # Python runs a handler between two steps of the main thread, which may just have begun to wait: so the byte that
    # ends the wait is written by the system's handler, at once, whichever thread the signal comes to.
    wait, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: signal.signal(number, signal.SIG_DFL))
    with server:
        address = server.gate.address
        typer.echo(json.dumps({"address": address, "port": server.gate.port}) if as_json else address)
        sys.stdout.flush()
        sys.stderr.write("Ctrl-C stops it.\n")
        with _opened(address) if browser else nullcontext():
            os.read(wait, 1)
    signal.set_wakeup_fd(-1)
    sys.stderr.write("stopped\n")
