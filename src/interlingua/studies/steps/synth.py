"""Contexts and names to parallel tagged sentences: `xx.train.iob2` and `xx.test.iob2` for each language."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from interlingua.analyses.synthesis import Rules, Synthetic, synthesise
from interlingua.engine.atomic_files import write_text
from interlingua.engine.serialization import File
from interlingua.engine.step import StepContext
from interlingua.studies.step_settings import SynthStep
from interlingua.studies.steps.step_io import write_notes

COUNTS = "counts.json"


def run(settings: SynthStep, context: StepContext) -> None:
    """Write the sentences of every language, and what was counted."""
    made = synthetic_of(settings)
    parts = dict(made.parts)
    if settings.entity is not None:
        made, parts["about"] = made.with_entity(settings.entity)
    for code in made.languages:
        for part, sample in parts.items():
            write_text(context.out / f"{code}.{part}.iob2", "".join(sample.iob2(code)))
    write_text(context.out / COUNTS, json.dumps(made.counts(), ensure_ascii=False, indent=1) + "\n")
    left = [f"{len(each.lines)} rows of {Path(each.file).name} left out: {each.reason}" for each in made.left_out]
    write_notes(context, [*made.notes, *left])


@lru_cache(maxsize=1)
def synthetic_of(settings: SynthStep) -> Synthetic:
    """The sentences that settings describe: drawing them anew is as quick as reading them.

    Those of last time stay in memory: a geometry table has many steps that read the same.
    """
    contexts, names = (
        [each.path if isinstance(each, File) else each for each in given]
        for given in (settings.contexts, settings.names)
    )
    return synthesise(
        contexts,
        names,
        languages=settings.languages or None,
        types=settings.types or None,
        rows=settings.rows,
        seed=settings.seed,
        rules=Rules(settings.test_share, settings.slots, settings.bad_rows),
    )
