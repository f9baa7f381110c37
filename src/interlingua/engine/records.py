"""Records of steps with the arrays they were made from: written once, gathered in the graph's order, read again."""

from __future__ import annotations

import errno
import os
import re
import shutil
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, is_zipfile

import numpy as np
from numpy.typing import NDArray

from interlingua.engine.atomic_files import hidden_name, sweep, write_beside
from interlingua.engine.graph import Graph
from interlingua.engine.workspace import Home
from interlingua.errors import InputError, NoRoom, system_error
from interlingua.paths import json_value, regular
from interlingua.record import Record

Items = NDArray[np.floating[Any]]
Made = list[tuple[Record, Items | None]]
"""Records on their way to a store, each with its per-item values."""
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Store:
    """The records of a run, in a folder, which is made with the first step: input refused later leaves none behind."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = folder = Path(folder)
        self._file = folder / "records.jsonl"
        try:
            _writable(folder)
            sweep(folder / "items")
            sweep(folder)
            sweep(folder / "tables")
            self._steps = self._recover()
        except OSError as error:
            raise cannot_write(folder, error) from error

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r}, {len(self._steps)} steps done)"

    def done(self, step: str) -> bool:
        """Whether all records of a step are here."""
        return step in self._steps

    def append(self, step: str, made: Made) -> None:
        """Add a step's records and per-item values: all of them or none."""
        if not made:
            return
        arrays = {str(number): _compact(items) for number, (_, items) in enumerate(made) if items is not None}
        lines = []
        for number, (record, items) in enumerate(made):
            place = f"{step}.npz#{number}" if items is not None else None
            lines.append(replace(record, step=step, part=(number + 1, len(made)), items=place).to_json())
        try:
            (self.folder / "items").mkdir(parents=True, exist_ok=True)
            if arrays:
                write_beside(
                    self.folder / "items" / f"{step}.npz",
                    lambda file: np.savez_compressed(file, allow_pickle=False, **arrays),
                )
            self._add(("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise cannot_write(self.folder, error) from error
        self._steps.add(step)

    def _add(self, lines: bytes) -> None:
        """Append to the records; where the disk takes only some of it, none of it stays."""
        with self._file.open("ab", buffering=0) as file:
            before = file.seek(0, os.SEEK_END)
            try:
                while lines:  # An unbuffered write may take less than it is given.
                    lines = lines[file.write(lines) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(before)
                raise

    def read(self) -> list[Record]:
        """All records, in the order they were made."""
        return list(self._lines())

    def items(self, record: Record) -> Items:
        """The per-item values of a record."""
        if record.items is None:
            raise InputError(
                "this record has no per-item values",
                value=f"{record.measure} {record.key}",
                remedy="Its value is no mean.",
            )
        return read_items(self.folder, record.items)

    def _lines(self) -> Iterable[Record]:
        if not self._file.is_file():
            return
        with regular(self._file).open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    record = Record.from_dict(json_value(line))
                except InputError as error:
                    value, remedy = error.value, error.remedy
                    raise InputError(error.problem, file=self._file, line=number, value=value, remedy=remedy) from error
                except ValueError as error:
                    raise self._unreadable(number, str(error)) from error
                yield record

    def _unreadable(self, line: int, why: str) -> InputError:
        return InputError(f"not a record ({why})", file=self._file, line=line, remedy="Remove that line and run again.")

    def _recover(self) -> set[str]:
        """The finished steps; what an interrupted write left of others is removed."""
        if not self._file.is_file():
            return set()
        data = self._file.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            write_beside(self._file, lambda file: file.write(whole))
        present: Counter[str] = Counter()
        wanted: dict[str, int] = {}
        values: dict[str, str] = {}
        for record in self._lines():
            present[record.step] += 1
            wanted[record.step] = record.part[1]
            if record.items is not None:
                values[record.step] = Path(record.items.partition("#")[0]).name
        broken = {step for step, count in present.items() if count < wanted[step]}
        # The same for a step whose values are gone or cut short: it is made anew.
        broken |= {step for step, file in values.items() if not is_zipfile(self.folder / "items" / file)}
        if broken:
            kept = [line for line in whole.splitlines(keepends=True) if json_value(line)["step"] not in broken]
            write_beside(self._file, lambda file: file.write(b"".join(kept)))
        return set(present) - broken


def read_items(folder: Path, place: str) -> Items:
    """The per-item values at a place (`FILE#NUMBER`) of a store's folder; nothing else is opened, nothing mended."""
    name, _, number = place.partition("#")
    file = folder / "items" / Path(name).name
    try:
        with np.load(regular(file), allow_pickle=False) as arrays:
            values: Items = arrays[number]
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile, zlib.error) as error:
        raise InputError(
            f"per-item values cannot be read ({type(error).__name__})",
            file=file,
            remedy="Remove that file and give the command of that run again: it makes it anew.",
        ) from error
    return values


def step_of(file: Path) -> str | None:
    """The step that made a file of JSON lines beside the records; None where there is none, or it does not say.

    A damaged file is nobody's: "".
    """
    if not file.is_file():
        return None
    try:
        with file.open(encoding="utf-8") as lines:
            found = json_value(next(lines)).get("step")
    except (ValueError, AttributeError, StopIteration):
        return ""
    return None if found is None else str(found)


def _writable(folder: Path) -> None:
    """Raise what making the folder, or a file in it, would raise: better now than after hours."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))


def write_text(path: Path, text: str) -> None:
    """Write a text file beside and rename it into place; a full or forbidden disk is a clear error.

    Half a surrogate pair, as of a file name that is not UTF-8, becomes its escape, which JSON reads back as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_beside(path, lambda file: file.write(text.encode("utf-8", "backslashreplace")))
    except OSError as error:
        raise cannot_write(path.parent, error) from error


@contextmanager
def told_when_full(folder: Path) -> Iterator[None]:
    """Where the disk fills up inside, whoever was writing, it is said so; all else is as it is."""
    try:
        yield
    except Exception as error:
        found = system_error(error)
        if found is None or found.errno not in _NO_ROOM:
            raise
        raise cannot_write(folder, found) from error


@contextmanager
def reading_back(folder: Path) -> Iterator[None]:
    """Inside, what earlier processes left in a folder is put together; where it does not fit, the folder is named.

    Its files may be damaged in as many ways as they have values, of which those that are read first are checked.
    """
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        reason = next(iter(str(error).splitlines()), "")[:200]
        raise InputError(
            f"the files in the folder cannot be put together ({type(error).__name__}: {reason})",
            file=folder,
            remedy="Remove that folder and run the command again that wrote it. If that fails, too, report it to us.",
        ) from error


def cannot_write(folder: Path, error: OSError) -> InputError:
    """The error for a folder that takes no more."""
    if error.errno in _NO_ROOM:
        return NoRoom(
            "no space left for results", file=folder, remedy="Free some, or name another --out; a rerun continues."
        )
    return InputError(
        f"cannot write results ({error.strerror})", file=folder, remedy="Name a folder you can write to with --out DIR."
    )


def _compact(values: Items) -> NDArray[Any]:
    """Zeros and ones as bytes, the rest as float32: lossless for hits, enough for the rest."""
    if np.isin(values, (0.0, 1.0)).all():
        return values.astype(np.uint8)
    return values.astype(np.float32)


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
