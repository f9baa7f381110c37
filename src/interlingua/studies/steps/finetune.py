"""An encoder, adjusted or as it came, to a model for a task under the last phase of a regime."""

from __future__ import annotations

import json
from functools import partial

from interlingua.analyses.evaluation import Evaluator
from interlingua.analyses.transfer import TaskData, TransferSettings, check_labels_known
from interlingua.engine.atomic_files import write_text
from interlingua.engine.step import StepContext
from interlingua.studies.step_settings import FinetuneStep
from interlingua.studies.steps.step_io import (
    MODEL,
    LinkedBitexts,
    load_encoder,
    read_examples,
    read_made,
    remember_inputs,
    task_of,
    train_once,
    train_phases,
    trainable_copy,
    write_notes,
)
from interlingua.tasks.saved_models import FineTuned, save
from interlingua.training.task import TaskModel

ABOUT = "trained.json"


def run(settings: FinetuneStep, context: StepContext) -> None:
    """Fine-tune one model with one seed; references of a regime that has them are the encoder's as it came."""
    encoder, lesson = load_encoder(settings.encoder, context), _lesson(settings, context)
    linked = LinkedBitexts.of(encoder, settings.bitexts, settings.linked_rows, context)
    own = TransferSettings(source=settings.source, pairs=linked.settings)
    remember = remember_inputs(context)
    examiner = Evaluator(encoder, lesson, own, linked.files, (), settings.precision, linked, remember=remember)
    inputs = examiner.train_inputs

    def train() -> FineTuned:
        inside = trainable_copy(encoder, settings.encoder.name, settings.precision)
        model = TaskModel.of(inside, lesson.task, lesson.labels, seed=settings.seed)
        tuned = FineTuned(lesson.task, lesson.labels, model, inside)
        adjusted = context.inputs.get("adjusted")
        train_phases(
            model,
            settings.phases,
            linked,
            context,
            seed=settings.seed,
            precision=settings.precision,
            lesson=lesson,
            inputs=inputs,
            monitors=None if lesson.dev is None else {"task": examiner.watch},
            begin_with=None if adjusted is None else partial(read_made, adjusted, context),
            compile=settings.compile,
            checkpoint_every=settings.checkpoint_every,
        )
        return tuned

    tuned = train_once(context, train)
    if context.group.is_first:
        (context.out / MODEL).parent.mkdir(parents=True, exist_ok=True)
        save(tuned, context.out / MODEL)
        write_text(context.out / ABOUT, json.dumps({"train": lesson.train.digest}) + "\n")
    write_notes(context, [*examiner.trained_without, *linked.notes])


def _lesson(settings: FinetuneStep, context: StepContext) -> TaskData:
    task = task_of(settings.task)
    examples = read_examples(settings.task, settings.train, settings.source, context)
    if settings.train_rows is not None:
        examples = examples.sample(settings.train_rows, seed=0)
    dev = None if settings.dev is None else read_examples(settings.task, settings.dev, settings.source, context)
    labels = task.labels(examples)
    if dev is not None:
        check_labels_known(dev, task.kind, labels, train=examples.name)
    return TaskData(task, labels, examples, dev)
