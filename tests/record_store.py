"""A folder of records for tests of what reads them: steps are added one by one, as a finished run would hold them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from interlingua.engine.records import ITEMS, PACKED, RECORDS, Records, open_lines, record_files
from interlingua.record import Items, Made, Record


def record_lines(folder: str | Path) -> bytes:
    """The records of a run's folder as JSON lines."""
    return b"".join(open_lines(file).read() for file in record_files(Path(folder)))


class RecordStore:
    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def append(self, step: str, made: Made) -> None:
        """The records of one more step, with their values."""
        numbered = [(replace(record, part=(n, len(made))), items) for n, (record, items) in enumerate(made, 1)]
        (self.folder / ITEMS).mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory() as place:
            Records.write(Path(place), step, numbered)
            for file in Path(place, ITEMS).glob("*"):
                shutil.copyfile(file, self.folder / ITEMS / file.name)
            (self.folder / RECORDS).mkdir(exist_ok=True)
            number = len(list((self.folder / RECORDS).iterdir())) + 1
            shutil.copyfile(Path(place, PACKED), self.folder / RECORDS / f"{number:05d}-{step}.jsonl.gz")

    def read(self) -> list[Record]:
        return Records(Record, self.folder).read()

    def items(self, record: Record) -> Items:
        return Records(Record, self.folder).items(record)
