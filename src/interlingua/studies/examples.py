"""Explained examples as lines of files: what is told of each, where they are, and the first of them, for pages."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from interlingua.paths import json_value

if TYPE_CHECKING:
    from interlingua.studies.explaining import Compared, Side

SHOWN = 8
"""How many examples of each language a page shows."""


def example_file(model: str, source: str, target: str, aspect: str) -> str:
    """Where the examples of an aspect of two languages are written, under the folder.

    >>> example_file("runs/mBERT", "en", "es", "label")
    'examples/runs-mBERT.en-es.label.jsonl'
    """
    name = re.sub(r"[^\w.-]+", "-", model).strip("-")
    return f"examples/{name}.{source}-{target}.{aspect}.jsonl"


def example_lines(
    source: Side, target: Side, place: int, each: Compared, *, most: int | None = None, step: str | None = None
) -> list[str]:
    """One JSON line for each compared example: units and attributions of both sides, the score, and what flows."""
    lines = []
    for at, row in enumerate(each.found.rows[:most]):
        flow = each.found.flows[at]
        null = float(each.found.null[at]) if at < len(each.found.null) else None
        told: dict[str, Any] = {"key": each.keys[row], "score": flow.score, "null": null}
        for name, side, pair, weighed in zip(
            ("source", "target"), (source, target), each.pairs, each.sides, strict=True
        ):
            values = weighed.values[weighed.starts[row] : weighed.starts[row + 1]]
            told[name] = told_of(side, place, int(pair[row]), values)
        told["flows"] = [[i, j, round(f, 6)] for i, j, f in flow.strongest(flow.plan.size)]
        told |= {} if step is None else {"step": step}
        lines.append(json.dumps(told, ensure_ascii=False))
    return lines


def told_of(side: Side, place: int, number: int, values: NDArray[np.float64]) -> dict[str, Any]:
    """What an example's line says of one side: units, attributions, the completeness gap, gold and predicted."""
    row = side.aspects[place].targets.row[number : number + 1]
    units, _ = side.units.of_rows(row)
    told: dict[str, Any] = {
        "units": [side.units.written[unit] for unit in units],
        "side": side.units.side[units].tolist(),
        "attributions": [round(float(value), 6) for value in values],
        "gap": round(float(side.found[place].gap[number]), 6),
    }
    if side.verdicts:
        gold, predicted = side.verdicts[int(side.inputs.owner[row[0]])]
        told |= {"gold": gold, "predicted": predicted}
    return told


def page_examples(folder: Path, models: Sequence[tuple[str, str]], languages: Sequence[str]) -> list[dict[str, Any]]:
    """The first examples of every language, of the first model, for the page."""
    found = []
    model, source = models[0]
    for code in languages:
        for path in sorted((folder / "examples").glob(Path(example_file(model, source, code, "*")).name)):
            if code == source:
                continue
            with path.open(encoding="utf-8") as lines:
                for _, line in zip(range(SHOWN), lines, strict=False):
                    found.append({**json_value(line), "languages": {"source": source, "target": code}})
    return found
