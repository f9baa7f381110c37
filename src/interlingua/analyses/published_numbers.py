"""Published numbers, and what of ours stands beside each."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from interlingua.analyses.seed_statistics import RegimeScore
from interlingua.errors import InputError
from interlingua.record import Estimate, Record

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
    published = []
    for number, row in rows[1:]:
        try:
            fields = dict(zip(COLUMNS, row, strict=True))
            published.append(Published(**{**fields, "value": float(fields["value"])}))  # type: ignore[arg-type]
        except ValueError as error:
            raise InputError(
                f"not a published number ({error})", file=file, line=number, remedy="Correct that line."
            ) from error
    return published


@dataclass(frozen=True, kw_only=True)
class PublishedMatch:
    """A published number with ours of the same task, language of training, test, metric and regime, by one encoder.

    `score` is ours where it is of a task; consistencies of attributions and cosines of names are means of records.
    """

    published: Published
    encoder: str
    ours: Estimate
    score: RegimeScore | None = None

    @property
    def is_same_encoder(self) -> bool:
        """Whether ours is of the encoder that the paper names: else signs can be compared, values cannot."""
        return self.encoder == self.published.encoder

    def to_plain(self) -> dict[str, Any]:
        """The entry that study.json has of it."""
        paper, against = self.published, {} if self.score is None else self.score.against
        return {
            "cite": paper.cite,
            "task": paper.task,
            "source": paper.source,
            "test": paper.test,
            "metric": paper.metric,
            "regime": paper.regime,
            "paper": paper.value,
            "paper_mark": paper.mark,
            "paper_encoder": paper.encoder,
            "encoder": self.encoder,
            "ours": self.ours.value,
            "p_paper": {base: each.p_published for base, each in against.items() if each.p_published is not None},
        }


def match_published(
    scores: Iterable[RegimeScore], records: Sequence[Record], paper: Sequence[Published]
) -> list[PublishedMatch]:
    """Each published number with ours of the same task, test, metric and regime.

    Ours is of the encoder that the paper names, where the study has it; else of every encoder there is.
    """
    ours: dict[tuple[str, ...], list[tuple[str, Estimate, RegimeScore | None]]] = {}
    for each in scores:
        cell = (str(each.task), str(each.source), each.test, each.metric, each.regime)
        ours.setdefault(cell, []).append((each.model, each, each))
    if paper:
        for (encoder, *rest), cell_records in (_consistencies(records) | _cosines(records)).items():
            ours.setdefault(tuple(rest), []).append((encoder, _mean(cell_records), None))
    matches: list[PublishedMatch] = []
    for number in paper:
        candidates = ours.get(number.cell, [])
        for encoder, estimate, score in [match for match in candidates if match[0] == number.encoder] or candidates:
            matches.append(PublishedMatch(published=number, encoder=encoder, ours=estimate, score=score))
    return matches


def _mean(records: Sequence[Record]) -> Estimate:
    value = float(np.asarray([record.value for record in records], np.float64).mean())
    return Estimate(value=value, n=min(record.n for record in records), records=tuple(records))


def _consistencies(records: Sequence[Record]) -> dict[tuple[str, ...], list[Record]]:
    """Consistencies of attributions by encoder, task, source, test, metric and regime."""
    cells: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        if record.measure == "consistency" and record.block is not None:
            metric = f"consistency/{record.aspect}"
            cell = (record.model, record.task, record.source, record.target, metric, record.regime)
            cells.setdefault(tuple(map(str, cell)), []).append(record)
    return cells


def _cosines(records: Sequence[Record]) -> dict[tuple[str, ...], list[Record]]:
    """Cosines of parallel names at the output, both ways round, by encoder, geometry table, pair, metric and state.

    A state is `before`, or `after` with the language of fine-tuning (Anonymous ACL submission, Table 2).
    """
    of_names = [
        record
        for record in records
        if (record.measure, record.corpus) == ("parallel-cosine", "test") and None not in (record.state, record.block)
    ]
    last: dict[str, int] = {}
    for record in of_names:
        last[record.model] = max(last.get(record.model, 0), record.layer or 0)
    cells: dict[tuple[str, ...], list[Record]] = {}
    for record in of_names:
        if record.layer != last[record.model]:
            continue
        state = " ".join(each for each in (record.state, record.trained_on) if each)
        metric = f"{record.measure}/{record.options['centering']}"
        for pair in ((record.source, record.target), (record.target, record.source)):
            cell = (record.model, str(record.block), *map(str, pair), metric, state)
            cells.setdefault(cell, []).append(record)
    return cells
