"""An encoder and linked text to an adjusted encoder, which serves every task (papers/001 Eq. 1)."""

from __future__ import annotations

from interlingua.engine.step import StepContext
from interlingua.studies.step_settings import AdjustStep
from interlingua.studies.steps.step_io import (
    MODEL,
    LinkedBitexts,
    headless,
    load_encoder,
    train_phases,
    trainable_copy,
    write_notes,
)
from interlingua.tasks.retrieval import Retrieval
from interlingua.training.checkpoints import save_whole


def run(settings: AdjustStep, context: StepContext) -> None:
    """Adjust one encoder with one seed on the bitexts of some languages."""
    encoder = load_encoder(settings.encoder, context)
    body = trainable_copy(encoder, settings.encoder.name, settings.precision).model
    tuned = headless(body, encoder, settings.encoder.name, settings.precision, Retrieval())
    linked = LinkedBitexts.of(encoder, settings.bitexts, settings.linked_rows, context)
    train_phases(
        tuned,
        settings.phases,
        linked,
        context,
        seed=settings.seed,
        precision=settings.precision,
        compile=settings.compile,
        checkpoint_every=settings.checkpoint_every,
    )
    if context.group.is_first:
        save_whole(body, encoder.tokenizer, context.out / MODEL)
    write_notes(context, linked.notes)
