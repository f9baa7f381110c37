"""A model and a parallel corpus to representations at every layer, kept for the measures that read them."""

from __future__ import annotations

from interlingua.analyses.space_measures import left_out
from interlingua.engine.step import StepContext
from interlingua.studies.step_settings import EncodeStep
from interlingua.studies.steps.step_io import VECTORS, corpus_of, load_body, plan_of, read_languages, write_notes


def run(settings: EncodeStep, context: StepContext) -> None:
    """Encode every language of the corpus that the model knows, once."""
    corpus, plan = corpus_of(settings, context), plan_of(settings, settings.measures)
    encoder = load_body(settings.encoder, context, precision=settings.precision)
    languages, skipped = read_languages(encoder, settings.known, corpus, plan, context, context.out / VECTORS)
    write_notes(context, [*encoder.notes, *left_out(corpus, skipped, [languages])])
