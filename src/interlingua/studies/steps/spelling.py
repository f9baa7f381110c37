"""Parallel names to how alike languages spell them: TNLD of every pair of languages, type by type (papers/003 §3.2)."""

from __future__ import annotations

from interlingua.analyses.transfer_matrix import spellings_of_test
from interlingua.engine.step import StepContext
from interlingua.record import Made, Record, versions
from interlingua.studies.step_settings import SpellingStep
from interlingua.studies.steps.step_io import write_records
from interlingua.studies.steps.synth import synthetic_of


def run(settings: SpellingStep, context: StepContext) -> None:
    """Compare the names that the test part draws from; no model is asked."""
    found = spellings_of_test(synthetic_of(settings.synth), seed=settings.seed)
    made: Made = []
    for kind, variants in found.scores.items():
        for variant, pairs in variants.items():
            for (source, target), score in pairs.items():
                record = Record(
                    "spelling",
                    variant,
                    "",
                    source,
                    score.value,
                    score.n,
                    target=target,
                    unit="name",
                    null=score.null,
                    low=score.low,
                    high=score.high,
                    seed=settings.seed,
                    corpus=settings.block,
                    details={"type": kind, **score.details},
                    versions=versions(),
                )
                made.append((record, score.items))
    write_records(context, made, model="", synth=settings.block)
