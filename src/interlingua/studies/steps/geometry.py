"""A model and parallel tagged sentences to its fine-tuning on one language: watched, then tested on all."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from typing import Any

from interlingua.analyses.training_inputs import Pairs, PairSettings, TrainingInputs, loop_settings, stages
from interlingua.analyses.transfer import TransferSettings
from interlingua.analyses.transfer_matrix import (
    SIMILARITY,
    MatrixTraining,
    MonitoredSample,
    MonitorSettings,
    TaggedLanguages,
)
from interlingua.engine.atomic_files import write_text
from interlingua.engine.serialization import digest
from interlingua.engine.step import StepContext
from interlingua.errors import InputError
from interlingua.studies.step_settings import GeometryStep
from interlingua.studies.steps.step_io import MODEL, load_encoder, trainable_copy, write_notes, write_records
from interlingua.studies.steps.synth import synthetic_of
from interlingua.tasks.saved_models import FineTuned, save
from interlingua.training.monitors import measured_share
from interlingua.training.regime import RunPaths, train_stages
from interlingua.training.task import TaskModel

JOURNAL, TRAINED = "journal.jsonl", "trained.json"


def run(settings: GeometryStep, context: StepContext) -> None:
    """Fine-tune, measure, and leave the metrics of every training step, and the model where someone looks into it."""
    encoder = load_encoder(settings.encoder, context)
    shared = digest(["tagged languages", encoder.digest, settings.synth])
    data = context.objects.get(shared, lambda: TaggedLanguages(encoder, synthetic_of(settings.synth)))
    training = MatrixTraining(
        settings.epochs,
        settings.learning_rate,
        settings.batch,
        settings.precision,
        MonitorSettings(on=settings.watch, span=settings.watch_span, every=settings.watch_every),
    )
    inside = trainable_copy(encoder, settings.encoder.name, settings.precision)
    model = TaskModel.of(inside, data.task, data.labels, seed=settings.seed)
    tuned = FineTuned(data.task, data.labels, model, inside)
    watched = data.watched(model, settings.sources, training) if settings.watch else None
    metrics = _train(tuned, data, watched, training, settings, context)
    if not context.group.is_first:
        return
    model.eval()
    made = data.wrong(tuned, settings.source, settings.seed, precision=settings.precision)
    if watched is not None:
        made += watched.records(metrics, data.record(settings.source, settings.seed, SIMILARITY))
    if settings.keep_model:
        (context.out / MODEL).parent.mkdir(parents=True, exist_ok=True)
        save(tuned, context.out / MODEL)
    write_records(context, made, model=settings.encoder.name, block=settings.block)
    unread = () if watched is None else watched.similarities.sample.skipped
    write_notes(context, [*data.left_out(settings.sources), *unread])


def _train(
    tuned: FineTuned,
    data: TaggedLanguages,
    watched: MonitoredSample | None,
    training: MatrixTraining,
    settings: GeometryStep,
    context: StepContext,
) -> list[dict[str, Any]]:
    """Train the model, from the newest checkpoint on; what was measured on the way. What it took is left too."""
    device, usual, source = data.encoder.device, TransferSettings(), settings.source
    like = loop_settings(
        device,
        settings.precision,
        graph=usual.graph,
        compile=usual.compile,
        checkpoint_every=usual.checkpoint_every,
    )
    read, steady = data.train_inputs(source), device.type == "cuda"
    material = TrainingInputs(
        data.task, read, (), _no_pairs, PairSettings(), settings.seed, settings.precision, steady=steady
    )
    (stage,) = stages(tuned.model, [training.phase], material, like=like)
    if watched is not None:
        stage = replace(stage, monitors=watched.monitors(source))
    place = RunPaths(context.state)
    before, began = int(place.checkpoint(0, stage).state().get("step", 0)), time.monotonic()
    told = f"fine-tuning on {source}, seed {settings.seed}"
    (metrics,) = train_stages(
        tuned.model,
        [stage],
        device=device,
        place=place,
        progress=lambda _, done, total: context.progress(told, done, total),
    )
    if context.group.is_first:
        about: dict[str, Any] = {
            "language": source,
            "seed": settings.seed,
            "steps": stage.settings.steps - before,
            "seconds": round(time.monotonic() - began, 2),
        }
        if watched is not None:
            own = watched.cadence
            # What the monitors cost, over the training itself: counted in tokens, and by the clock.
            shares = {"tokens": round(own.share, 4), "seconds": round(measured_share(metrics), 4)}
            about["monitors"] = {"every": own.every, "coarse": own.coarse, "rows": own.rows, "share": shares}
        write_text(context.out / TRAINED, json.dumps(about) + "\n")
        if (journal := place.journal(0, stage)).is_file():
            shutil.copyfile(journal, context.out / JOURNAL)
    return metrics


def _no_pairs(code: str) -> Pairs:
    raise InputError("this fine-tuning reads no bitext", value=code, remedy="Use interlingua transfer.")
