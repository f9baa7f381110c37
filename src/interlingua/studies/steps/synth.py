"""Contexts and names to parallel tagged sentences: `xx.train.iob2` and `xx.test.iob2` for each language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlingua.analyses.synthesis import Synthetic, synthesise
from interlingua.engine.records import write_text
from interlingua.engine.step import Work
from interlingua.studies.steps.step_io import Inputs, note


def run(settings: Mapping[str, Any], inputs: Inputs, out: Path, work: Work) -> None:
    """Write the sentences of every language, and what was counted."""
    made = synthetic_of(settings)
    for code in made.languages:
        for part, sample in made.parts.items():
            write_text(out / f"{code}.{part}.iob2", "".join(sample.iob2(code)))
    write_text(out / "counts.json", json.dumps(made.counts(), ensure_ascii=False, indent=1) + "\n")
    left = [f"{len(each.lines)} rows of {Path(each.file).name} left out: {each.reason}" for each in made.left_out]
    note(out, [*made.notes, *left])


def synthetic_of(settings: Mapping[str, Any]) -> Synthetic:
    """The sentences that settings describe: drawing them anew is as quick as reading them."""
    return synthesise(
        settings["contexts"],
        settings["names"],
        languages=settings["languages"],
        types=settings["types"] or None,
        rows=settings["rows"],
        seed=settings["seed"],
    )
