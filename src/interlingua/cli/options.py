"""What commands share: options that mean the same everywhere, notes on stderr, and one JSON object on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from interlingua.errors import printable

Device = Annotated[str | None, typer.Option(help="cpu, cuda or cuda:N; the GPU where there is one.")]
Precision = Annotated[str | None, typer.Option(help="fp32, bf16 or fp16; bf16 on a GPU, fp32 on a CPU.")]
TrustRemoteCode = Annotated[bool, typer.Option("--trust-remote-code", help="Let the model run its own code.")]
AllowPickle = Annotated[bool, typer.Option("--allow-pickle", help="Read pickled weights, which can run code.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")]
Load = Annotated[
    list[Path] | None,
    typer.Option("--load", help="A Python file that registers more names; repeatable.", metavar="FILE"),
]


def load_all(files: Iterable[Path] | None) -> None:
    """Import the files of --load, before any name is looked up."""
    from interlingua.registry import load

    for file in files or ():
        load(file)


def split_names(given: str | None) -> list[str] | None:
    """What stands between the commas of an option; None where it was not given.

    >>> split_names("en, ru,"), split_names(None)
    (['en', 'ru'], None)
    """
    return None if given is None else [name for part in given.split(",") if (name := part.strip())]


def print_notes(notes: Iterable[object]) -> None:
    """Say on stderr what was left out or handled specially."""
    for note in notes:
        sys.stderr.write(f"note: {printable(note)}\n")


def print_json(told: Any) -> None:
    """One JSON object on stdout, and the end of its line; undefined numbers and what JSON does not know are bugs.

    The text is whole before any of it is written. Where the output can't hold its letters, they are `\\u` and a number.
    """
    text = json.dumps(told, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(told, allow_nan=False)
    sys.stdout.write(f"{text}\n")
