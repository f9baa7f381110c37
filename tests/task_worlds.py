"""Runs with scores of tasks, made of random records: what tests of the reports of transfers and studies read."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from interlingua.record import Items, Record, RecordTable
from interlingua.report.kit.section import Run
from record_store import RecordStore

REGIMES, TESTS = ("original", "adjusted", "continual"), ("en", "es", "ru")
CHANCE = 1 / 3
Made = list[tuple[Record, Items]]
Cell = tuple[str, str, int]
"""Test, regime, seed."""


def score_record(values: Items, *, test: str, regime: str, seed: int, task: str = "nli", **fields: Any) -> Record:
    """The record of hits, or of the counts of an F1, with the chance level a task's own metric has."""
    if values.ndim == 1:
        metric, options, value, n = "accuracy", {}, float(values.mean()), len(values)
    else:
        metric, options, n = "f1", {"of": "token"}, values.shape[1]
        value = float(2 * values[0].sum() / max(float(values[1:].sum()), 1.0))
    half = 1.96 * (max(value * (1 - value), 1e-9) / n) ** 0.5
    chance = {"level": CHANCE, "above": value - half > CHANCE, "always": None}
    given: dict[str, Any] = {
        "measure": task, "metric": metric, "options": options, "model": "bert", "source": "en", "target": test,
        "value": value, "n": n, "null_value": CHANCE, "ci_low": value - half, "ci_high": value + half, "seed": seed,
        "test": test, "regime": regime, "task": task, "unit": "example", "details": {"chance": chance},
    }  # fmt: skip
    return Record(**{**given, **fields})


def hits(draw: np.random.Generator, share: float, n: int = 40) -> Items:
    """Whether each of n examples is right."""
    return (draw.random(n) < np.clip(share, 0.0, 1.0)).astype(np.uint8)


def counts(draw: np.random.Generator, share: float, n: int = 40, more: int = 0) -> Items:
    """Right, predicted and gold tags of n sentences, with up to `more` wrong ones in each."""
    gold = draw.integers(1, 4, n)
    right = draw.binomial(gold, float(np.clip(share, 0.02, 0.98)))
    return np.stack([right, right + draw.integers(0, 1 + more, n), gold])


def make_run(
    made: Sequence[tuple[Record, Items]],
    *,
    kind: str = "transfer",
    keep_items: bool = True,
    about: Mapping[str, Any] | None = None,
    attachments: Mapping[str, Any] | None = None,
) -> Run:
    """A run of records with their values, as one read from its folder."""
    with tempfile.TemporaryDirectory() as folder:
        store = RecordStore(Path(folder))
        for number, pair in enumerate(made):
            store.append(f"step{number}", [pair])
        records = RecordTable(store.read())
        values = {record.items: store.items(record) for record in records}
    regimes = list(dict.fromkeys(str(record.regime) for record in records if record.regime))
    tests = list(dict.fromkeys(str(record.test) for record in records if record.test))
    usual = {"regimes": regimes, "tests": tests, "permutations": 9, "model": "bert", "name": "grid", "source": "en"}
    return Run(
        kind=kind,
        about={**usual, **(about or {})},
        records=records,
        attachments=attachments or {},
        items=(lambda record: values.get(record.items)) if keep_items else (lambda record: None),
    )


def random_made(
    seed: int,
    *,
    kind: str = "accuracy",
    seeds: int = 3,
    apart: float = 0.0,
    level: float = 0.6,
    collapsed: Collection[Cell] = (),
    tests: Sequence[str] = TESTS,
    regimes: Sequence[str] = REGIMES,
    **fields: Any,
) -> Made:
    """Records of random scores, with some seeds missing on one side; where `level` is chance some have learned nothing.

    The difference that pooled counts have is far from that of the means: seeds predict very different amounts.
    """
    draw = np.random.default_rng(seed)
    made: Made = []
    for test in tests:
        for place, regime in enumerate(regimes):
            for number in range(seeds + (seeds > 1 and draw.random() < 0.2)):
                share = level + apart * place + 0.05 * draw.normal()
                if (test, regime, number) in collapsed:
                    values: Items = (np.arange(42) % 3 == 0).astype(np.uint8)
                elif kind == "accuracy":
                    values = hits(draw, share, 42)
                else:
                    values = counts(draw, share, 42, more=5 * (number % 2))
                task = "nli" if kind == "accuracy" else "ner"
                own = {"task": task, **fields}
                made.append((score_record(values, test=test, regime=regime, seed=number, **own), values))
    return made
