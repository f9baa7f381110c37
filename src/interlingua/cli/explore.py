"""The command `interlingua explore`: parse, one call, serve until told to stop."""

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
from typing import TYPE_CHECKING, Annotated

import typer

from interlingua.cli.options import Device, Load, load_all, print_notes, split_names
from interlingua.cli.progress import progress_bars
from interlingua.errors import InputError

if TYPE_CHECKING:
    from interlingua.explorer.server import ExplorerServer

EXAMPLES = """
**Examples**

    interlingua explore                                           # the embedded encoder and corpus

    interlingua explore ./before --against ./after                # two models side by side

    interlingua explore xlm-roberta-base --data flores/ --languages en,ru,hi --rows 1000

    interlingua explore --head nli=nli/models/original-seed0 --aligner links/en-ru
"""


def explore(
    model: Annotated[
        str, typer.Argument(help="'embedded', a model folder, or a hub name.", metavar="MODEL")
    ] = "embedded",
    against: Annotated[
        str | None, typer.Option(help="A second model to show beside it: before and after.", metavar="MODEL")
    ] = None,
    data: Annotated[
        str, typer.Option(help="Where sentences are picked from: 'sampler', a file, a folder.", metavar="CORPUS")
    ] = "sampler",
    languages: Annotated[
        str | None, typer.Option(help="Only these languages of the corpus, comma-separated.", metavar="XX,YY")
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Use this many rows of the corpus, drawn by a fixed seed.")] = None,
    head: Annotated[
        list[str] | None,
        typer.Option(help="A fine-tuned folder to look into, under a name.", metavar="NAME=DIR"),
    ] = None,
    aligner: Annotated[
        Path | None,
        typer.Option(help="A folder that 'interlingua align --save' made: its links too.", metavar="DIR"),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="The port on this machine. [default: 8017, or any that is free]")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    waiting: Annotated[int, typer.Option(help="Requests that may wait for the model.")] = 64,
    cache: Annotated[
        str | None,
        typer.Option(help="Where representations are kept, or 'none'. [default: the user's cache]", metavar="DIR"),
    ] = None,
    device: Device = None,
    load: Load = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the address as JSON on stdout.")] = False,
) -> None:
    """Look inside, live: two sentences, their words, links, attributions, flows and neighbours, layer by layer.

    Serves a page on this machine alone, at an address with a random token, until it is interrupted (Ctrl-C). The
    first start encodes the corpus; later ones take it from the cache. Nothing leaves the machine.
    """
    from interlingua.explorer.opening import open_explorer, open_server
    from interlingua.explorer.turns import Turns

    load_all(load)
    heads = _heads(head or [])
    if waiting < 0:
        raise InputError("fewer than no request", value=waiting, remedy="Give --waiting 0 or more.")
    with progress_bars() as tell:
        explorer = open_explorer(
            [model] if against is None else [model, against],
            corpus=data,
            languages=split_names(languages),
            rows=rows,
            heads=heads,
            aligner=aligner,
            cache=cache,
            device=device,
            progress=tell,
        )
    print_notes(explorer.notes)
    _serve(open_server(explorer, port=port, turns=Turns(waiting=waiting)), browser=browser, as_json=as_json)


def _heads(given: list[str]) -> dict[str, str]:
    """`NAME=DIR` as a mapping, in order."""
    found: dict[str, str] = {}
    for text in given:
        name, _, folder = text.partition("=")
        if not name.strip() or not folder.strip():
            raise InputError("--head is no name and folder", value=text, remedy="Give --head nli=DIR.")
        if name.strip() in found:
            raise InputError("two heads of one name", value=name.strip(), remedy="Give each another.")
        found[name.strip()] = folder.strip()
    return found


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
