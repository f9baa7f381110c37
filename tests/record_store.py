"""A folder of records for tests of what reads them: steps are added one by one, as a finished run would hold them."""

from __future__ import annotations

import gzip
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from interlingua.engine.records import ITEMS, PACKED, PLAIN, Records
from interlingua.record import Items, Made, Record


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
            with (self.folder / PLAIN).open("ab") as lines:
                lines.write(gzip.decompress(Path(place, PACKED).read_bytes()))

    def read(self) -> list[Record]:
        return Records(Record, self.folder).read()

    def items(self, record: Record) -> Items:
        return Records(Record, self.folder).items(record)
