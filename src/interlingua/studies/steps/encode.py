"""A model and a parallel corpus to representations at every layer, kept for the measures that read them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlingua.analyses.space_measures import left_out
from interlingua.engine.step import Work
from interlingua.studies.steps.step_io import CACHE, Inputs, corpus_of, languages_of, note, plan_of


def run(settings: Mapping[str, Any], inputs: Inputs, out: Path, work: Work) -> None:
    """Encode every language of the corpus that the model knows, once."""
    plan = plan_of(settings, tuple(settings["names"]))
    corpus = corpus_of(settings)
    encoder, languages, skipped = languages_of(settings, settings, corpus, plan, inputs, out / CACHE, work)
    note(out, [*encoder.notes, *left_out(corpus, skipped, [languages])])
