"""A model to the distances of related and unrelated words of a language, in one of its states (papers/001 Fig. 1)."""

from __future__ import annotations

from interlingua.analyses.evaluation import Evaluator
from interlingua.analyses.transfer import TransferSettings
from interlingua.engine.step import StepContext
from interlingua.studies.step_settings import DistancesStep
from interlingua.studies.steps.predict import lesson_of
from interlingua.studies.steps.step_io import LinkedBitexts, asked_model, load_encoder, write_records
from interlingua.tasks.retrieval import Retrieval


def run(settings: DistancesStep, context: StepContext) -> None:
    """Measure one language's words in one model, on rows that were not trained on."""
    encoder, precision = load_encoder(settings.encoder, context), settings.precision
    tuned = asked_model(settings.encoder, context, Retrieval(), precision=precision)
    linked = LinkedBitexts.of(encoder, [settings.bitext], settings.linked_rows, context)
    lesson = lesson_of(tuned.task, tuned.labels, context)
    own = TransferSettings(source=settings.source, pairs=linked.settings)
    examiner = Evaluator(encoder, lesson, own, linked.files, (), precision, linked)
    # The examiner's digests are of the bitexts it has; which others the model was adjusted on is in the details.
    made = examiner.distances(tuned, settings.state, (), settings.bitext.language, settings.seed)
    bitexts = tuple(settings.bitext_languages)
    write_records(context, made, model=settings.encoder.name, task=settings.block, bitexts=bitexts)
