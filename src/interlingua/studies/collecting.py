"""The records of a study, gathered from its steps in the graph's order: the same bytes whatever order they ran in."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from interlingua.atomic_files import hidden_name, write_beside
from interlingua.studies.graph import Graph
from interlingua.studies.home import Home

_NUMBER = re.compile(r"\d[\d,]*")
RECORDS, ITEMS, NOTES = "records.jsonl", "items", "notes.txt"


def collect(graph: Graph, home: Home) -> int:
    """Gather records, per-item values and notes of all finished steps into the study's folder; the number of records.

    `Store(home.folder)` then reads them like those of any run. Per-item values are second names of the steps' files,
    or copies where the file system has none.
    """
    done = home.done()
    steps = [step for step in graph if step.key in done]
    lines: list[bytes] = []
    notes: dict[str, None] = {}
    items: dict[str, Path] = {}
    for step in steps:
        place = home.step(step.key)
        present = {entry.name for entry in os.scandir(place)}
        if RECORDS in present:
            lines += (place / RECORDS).read_bytes().splitlines(keepends=True)
        if ITEMS in present:
            items |= {entry.name: Path(entry.path) for entry in os.scandir(place / ITEMS)}
        if NOTES in present:
            told = (place / NOTES).read_text("utf-8").splitlines()
            notes |= dict.fromkeys(f"{step.shown}: {note}" for note in told if note.strip())
    _link_all(items, home.folder / ITEMS)
    _write(home.folder / RECORDS, b"".join(lines))
    _write(home.folder / NOTES, "".join(f"{note}\n" for note in notes).encode("utf-8", "backslashreplace"))
    for entry in os.scandir(home.folder / ITEMS):
        if entry.name not in items and not entry.name.startswith("."):
            os.unlink(entry.path)
    return len(lines)


def told_once(notes: Iterable[str]) -> list[str]:
    """Notes of one kind of step that differ in numbers alone: the first of them, and how many more there are.

    >>> told_once(["adjust a seed 0: 7 links dropped", "adjust a seed 1: 9 links dropped", "align: 2 rows"])
    ['adjust a seed 0: 7 links dropped (and 1 more step with such a note)', 'align: 2 rows']
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        step, _, message = note.partition(": ")
        groups.setdefault((step.partition(" ")[0], _NUMBER.sub("#", message)), []).append(note)
    more = {key: len(own) - 1 for key, own in groups.items()}
    return [
        own[0] + (f" (and {more[key]} more step{'s' * (more[key] > 1)} with such a note)" if more[key] else "")
        for key, own in groups.items()
    ]


def _write(path: Path, data: bytes) -> None:
    if not path.is_file() or path.read_bytes() != data:
        write_beside(path, lambda file: file.write(data))


def _link_all(items: dict[str, Path], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, source in items.items():
        place = folder / name
        if place.exists() and place.samefile(source):
            continue
        beside = hidden_name(place)
        try:
            os.link(source, beside)
        except OSError:
            shutil.copyfile(source, beside)
        os.replace(beside, place)
        # Where another run linked the same file meanwhile, renaming one name of it to the other does nothing.
        beside.unlink(missing_ok=True)
