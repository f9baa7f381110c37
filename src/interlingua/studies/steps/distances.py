"""A model to the distances of related and unrelated words of a language, in one of its states (papers/001 Fig. 1)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlingua.analyses.evaluation import Examiner
from interlingua.engine.step import Work
from interlingua.studies.steps.predict import lesson_of
from interlingua.studies.steps.step_io import (
    Inputs,
    Linked,
    encoder_of,
    keep,
    linked_files,
    precision_of,
    transfer_settings,
    tuned_of,
)
from interlingua.tasks.retrieval import Retrieval


def run(settings: Mapping[str, Any], inputs: Inputs, out: Path, work: Work) -> None:
    """Measure one language's words in one model, on rows that were not trained on."""
    own = transfer_settings(settings["settings"])
    encoder = encoder_of(settings["encoder"], inputs)
    precision = precision_of(own, encoder)
    tuned = tuned_of(settings["encoder"], inputs, Retrieval(), precision=precision)
    linked = Linked(encoder, linked_files([settings["bitext"]], inputs), own, inputs)
    lesson = lesson_of(tuned.task, tuned.labels, inputs)
    examiner = Examiner(encoder, lesson, own, linked.bitexts, (), precision, linked)
    code = settings["bitext"]["language"]
    # The examiner's digests are of the bitexts it has; which others the model was adjusted on is in the details.
    made = examiner.distances(tuned, settings["state"], (), code, settings["seed"])
    keep(out, work, made, model=settings["encoder"]["name"], task=settings["called"], bitexts=tuple(settings["spoken"]))
