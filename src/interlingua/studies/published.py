"""Numbers that a paper published, to be laid beside ours: a TSV whose every row cites its table or figure."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from interlingua.errors import InputError

COLUMNS = ("cite", "encoder", "task", "source", "test", "metric", "regime", "value", "mark")


@dataclass(frozen=True)
class Published:
    """One published number: where it stands, what it is of, its value as a share of 1, and the paper's mark."""

    cite: str
    encoder: str
    task: str
    source: str
    test: str
    metric: str
    regime: str
    value: float
    mark: str

    @property
    def cell(self) -> tuple[str, str, str, str, str]:
        """What of ours it stands beside: task, language of training, test, metric, regime; encoders differ."""
        return self.task, self.source, self.test, self.metric, self.regime


def read_published(file: Path) -> list[Published]:
    """The numbers of a file; a row that is not as the header says is an error with its line."""
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise InputError("no such file", value=str(file), remedy="Name a TSV of published numbers.") from error
    lines = [line for line in enumerate(text.splitlines(), 1) if line[1].strip() and not line[1].startswith("#")]
    rows = [(number, next(csv.reader([line], delimiter="\t"))) for number, line in lines]
    if not rows or tuple(rows[0][1]) != COLUMNS:
        raise InputError("not the header of published numbers", file=file, line=rows[0][0] if rows else 1,
                         remedy=f"Give the columns {', '.join(COLUMNS)}.")  # fmt: skip
    found = []
    for number, row in rows[1:]:
        try:
            told = dict(zip(COLUMNS, row, strict=True))
            found.append(Published(**{**told, "value": float(told["value"])}))  # type: ignore[arg-type]
        except ValueError as error:
            raise InputError(
                f"not a published number ({error})", file=file, line=number, remedy="Mend that line."
            ) from error
    return found
