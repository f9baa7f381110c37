"""`Store`: the records of a run whose steps follow one another in one process, appended as they are made.

It serves the commands that do not yet run on the engine, and goes with the last of them.
"""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from zipfile import is_zipfile

import numpy as np

from interlingua.engine.atomic_files import cannot_write, sweep, write_beside
from interlingua.engine.records import compact, read_items
from interlingua.errors import InputError
from interlingua.paths import json_value, regular
from interlingua.record import Items, Made, Record


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
        arrays = {str(number): compact(items) for number, (_, items) in enumerate(made) if items is not None}
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
                value=f"{record.measure} {record.variant}",
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
                    raise self._unreadable(number, error.problem) from error
                except (ValueError, AttributeError) as error:
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
