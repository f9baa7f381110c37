"""Records of steps with the arrays they were made from: each step writes its own once; a run gathers them.

The engine knows two fields of a record: `step`, the key of the step that made it, and `items`, where its array is.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, ClassVar, Generic, Protocol, Self, TypeVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from interlingua.engine.atomic_files import link_or_copy, write_atomically
from interlingua.engine.graph import Graph
from interlingua.engine.workspace import Workspace
from interlingua.errors import InputError
from interlingua.paths import json_value, regular

Array = NDArray[np.floating[Any]]
RECORDS, ITEMS, NOTES = "records", "items", "notes.txt"
PACKED = "records.jsonl.gz"
"""A step's own records. The run's folder has them under second names, in the order of the steps: they are kept once."""
PLAIN = "records.jsonl"
"""All records of a run in one file, as folders of version 0.1 have them; read, no longer written."""
_NUMBER = re.compile(r"\d[\d,]*")


class Row(Protocol):
    """A record: a frozen dataclass that can be written as JSON and read again."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def step(self) -> str: ...

    @property
    def items(self) -> str | None: ...

    def to_dict(self) -> dict[str, Any]: ...

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self: ...


R = TypeVar("R", bound=Row)


class Records(Generic[R]):
    """The records of a folder: a finished step's, or those gathered from all steps of a run."""

    def __init__(self, row: type[R], folder: str | Path) -> None:
        self._row, self.folder = row, Path(folder)

    def __repr__(self) -> str:
        return f"Records({self._row.__name__}, {str(self.folder)!r})"

    @staticmethod
    def write(out: Path, step: str, rows: Sequence[tuple[R, Array | None]]) -> None:
        """Leave a step's records in its folder, once: the renaming of that folder commits them."""
        if not rows:
            return
        groups: dict[str, list[NDArray[Any]]] = {}
        lines = []
        for row, items in rows:
            place = None if items is None else f"{step}.npz#{_add_items(groups, items)}"
            made = replace(row, step=step, items=place)
            lines.append(json.dumps(made.to_dict(), ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n")
        arrays = {name: np.stack(own) for name, own in groups.items()}
        if arrays:
            (out / ITEMS).mkdir()
            with (out / ITEMS / f"{step}.npz").open("xb") as file:
                np.savez_compressed(file, allow_pickle=False, **arrays)
        with (out / PACKED).open("xb") as file:
            file.write(gzip.compress("".join(lines).encode("utf-8", "backslashreplace"), 6, mtime=0))

    @staticmethod
    def collect(graph: Graph, workspace: Workspace) -> int:
        """Gather records, arrays and notes of all finished steps in the run's folder; the number of records.

        They are numbered in the order of the graph: the same names and bytes, whatever order the steps ran in. All are
        second names of the steps' files, or copies where the file system has no links. Where no step leaves any there
        is no file.
        """
        done = workspace.done()
        count = 0
        notes: dict[str, None] = {}
        records: dict[str, Path] = {}
        items: dict[str, Path] = {}
        for step in (step for step in graph if step.key in done):
            place = workspace.step(step.key)
            present = {entry.name for entry in os.scandir(place)}
            if PACKED in present:
                count += _unpacked(place / PACKED).count(b"\n")
                records[f"{len(records) + 1:05d}-{step.key}.jsonl.gz"] = place / PACKED
            if ITEMS in present:
                items |= {entry.name: Path(entry.path) for entry in os.scandir(place / ITEMS)}
            if NOTES in present:
                told = (place / NOTES).read_text("utf-8").splitlines()
                notes |= dict.fromkeys(f"{step.shown}: {note}" for note in told if note.strip())
        _link_all(records, workspace.folder / RECORDS)
        _link_all(items, workspace.folder / ITEMS)
        (workspace.folder / PLAIN).unlink(missing_ok=True)
        _write(workspace.folder / NOTES, "".join(f"{note}\n" for note in notes).encode("utf-8", "backslashreplace"))
        return count

    def read(self) -> list[R]:
        """All records, in their order."""
        return list(self._rows())

    def items(self, row: R) -> Array:
        """The array that a record was made from."""
        if row.items is None:
            raise InputError("this record has no per-item values", value=row.step, remedy="Its value is no mean.")
        return read_items(self.folder, row.items)

    def _rows(self) -> Iterator[R]:
        for file in record_files(self.folder):
            with open_lines(file) as lines:
                for number, line in enumerate(lines, 1):
                    try:
                        yield self._row.from_dict(json_value(line))
                    except InputError as error:
                        value, remedy = error.value, error.remedy
                        raise InputError(error.problem, file=file, line=number, value=value, remedy=remedy) from error
                    except (ValueError, AttributeError) as error:
                        raise _unreadable(file, number, str(error)) from error


def record_files(folder: Path) -> list[Path]:
    """Where the records of a folder are: a step's own file, those of a run in their order, or that of an older run."""
    if (folder / PACKED).is_file():
        return [folder / PACKED]
    gathered = sorted((folder / RECORDS).glob("*.jsonl.gz")) if (folder / RECORDS).is_dir() else []
    plain = folder / PLAIN
    return gathered or ([plain] if plain.exists() or plain.is_symlink() else [])


def open_lines(file: Path) -> IO[bytes]:
    """A file of records as its lines; one that is damaged is an error."""
    return regular(file).open("rb") if file.suffix != ".gz" else io.BytesIO(_unpacked(regular(file)))


def _unpacked(file: Path) -> bytes:
    try:
        return gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        remedy = "Remove that step's folder and run again."
        raise InputError("not the records of a step", file=file, remedy=remedy) from error


def _unreadable(file: Path, line: int, why: str) -> InputError:
    return InputError(f"not a record ({why})", file=file, line=line, remedy="Run again: the records are gathered anew.")


def read_items(folder: Path, place: str) -> Array:
    """The per-item values at a place (`FILE#GROUP/ROW`) of a store's folder; nothing else is opened or repaired."""
    name, _, there = place.partition("#")
    file = folder / ITEMS / Path(name).name
    group, _, row = there.partition("/")
    try:
        found = _read_group(str(regular(file)), file.stat().st_mtime_ns, group)
        if not row:  # Written by version 0.1: an array of its own.
            return found
        values: Array = found[int(row)]
        if not group.startswith(HITS):
            return values
        count = int(group.removeprefix(HITS).split("x")[-1])
        hits: Array = np.unpackbits(values.astype(np.uint8), axis=-1, count=count).astype(np.float32)
        return hits  # Bytes subtract modulo 256.
    except (OSError, ValueError, KeyError, TypeError, IndexError, EOFError, BadZipFile, zlib.error) as error:
        raise InputError(
            f"per-item values cannot be read ({type(error).__name__})",
            file=file,
            remedy="Remove that file and give the command of that run again: it makes it anew.",
        ) from error


@lru_cache(maxsize=8)
def _read_group(file: str, changed: int, group: str) -> NDArray[Any]:
    """An array of a file, which holds the values of many records."""
    with np.load(file, allow_pickle=False) as arrays:
        found: NDArray[Any] = arrays[group]
    found.flags.writeable = False
    return found


HITS, VALUES = "hits", "values"


def _add_items(groups: dict[str, list[NDArray[Any]]], items: Array) -> str:
    """Put values beside those of their shape, and say where: `hits600/17`, row 17 of the array `hits600`.

    Zeros and ones are bits (lossless), the rest is float32 (enough). An array per record would take more room for its
    name in the file than for its bits.
    """
    hits = bool(np.isin(items, (0.0, 1.0)).all())
    kind = HITS if hits else VALUES
    name = kind + "x".join(map(str, items.shape))
    group = groups.setdefault(name, [])
    group.append(np.packbits(items.astype(np.uint8), axis=-1) if hits else items.astype(np.float32))
    return f"{name}/{len(group) - 1}"


def deduplicate_notes(notes: Iterable[str]) -> list[str]:
    """Notes of one kind of step that differ in numbers alone: the first of them, and how many more there are.

    >>> deduplicate_notes(["cut part 0: 7 rows dropped", "cut part 1: 9 rows dropped", "join: 2 rows"])
    ['cut part 0: 7 rows dropped (and 1 more step with such a note)', 'join: 2 rows']
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


def _link_all(files: Mapping[str, Path], folder: Path) -> None:
    """Give files second names in a folder, which holds nothing else then; no files, no folder."""
    if files:
        folder.mkdir(exist_ok=True)
    for entry in list(os.scandir(folder)) if folder.is_dir() else ():
        if entry.name not in files and not entry.name.startswith("."):
            os.unlink(entry.path)
    for name, source in files.items():
        link_or_copy(source, folder / name)


def _write(path: Path, data: bytes) -> None:
    before = path.read_bytes() if path.is_file() else b""
    if before != data:
        write_atomically(path, lambda file: file.write(data))
