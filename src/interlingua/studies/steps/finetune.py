"""An encoder, adjusted or as it came, to a model for a task under the last phase of a regime."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlingua.analyses.evaluation import Examiner
from interlingua.analyses.transfer import Lesson, TransferSettings, check_known, phases_of, task_named
from interlingua.encoder import Encoder
from interlingua.engine.records import write_text
from interlingua.engine.step import Work
from interlingua.studies.compile.custom_regimes import phases_from
from interlingua.studies.steps.step_io import (
    MODEL,
    Inputs,
    Linked,
    encoder_of,
    file_of,
    linked_files,
    named,
    note,
    precision_of,
    stages_of,
    trained,
    transfer_settings,
)
from interlingua.tasks.saved_models import FineTuned, save
from interlingua.training.processes import is_first_process
from interlingua.training.task import TaskModel

ABOUT = "trained.json"


def run(settings: Mapping[str, Any], inputs: Inputs, out: Path, work: Work) -> None:
    """Fine-tune one model with one seed; references of a regime that has them are the encoder's as it came."""
    own, seed = transfer_settings(settings["settings"]), settings["seed"]
    encoder = encoder_of(settings["encoder"], inputs)
    precision = precision_of(own, encoder)
    lesson = _lesson(settings, inputs, own)
    linked = Linked(encoder, linked_files(settings["bitexts"], inputs), own, inputs)
    examiner = Examiner(encoder, lesson, own, linked.bitexts, (), precision, linked)
    read = examiner.train_inputs
    inside = named(encoder.model, encoder, settings["encoder"]["name"], precision)
    tuned = FineTuned(lesson.task, lesson.labels, TaskModel.of(inside, lesson.task, lesson.labels, seed=seed), inside)
    phases = phases_of(settings["regime"], own, task=lesson.task.name, headless=False)[-1:]
    if "phases" in settings:
        phases = phases_from(settings["phases"])
    watch = None if lesson.dev is None else examiner.watch
    made = stages_of(tuned, phases, lesson, read, linked, seed=seed, precision=precision, watch=watch, work=work)
    if "adjusted" in inputs:
        adjusted = Encoder.load(str(inputs["adjusted"] / MODEL), precision="fp32")
        tuned.model.base_model.load_state_dict(adjusted.model.state_dict())
    trained(tuned, made, out, work)
    if is_first_process():
        (out / MODEL).parent.mkdir(parents=True, exist_ok=True)
        save(tuned, out / MODEL)
        write_text(out / ABOUT, json.dumps({"train": lesson.train.digest}) + "\n")
    note(out, [*examiner.trained_without, *linked.notes])


def _lesson(settings: Mapping[str, Any], inputs: Inputs, own: TransferSettings) -> Lesson:
    task = task_named(settings["task"], length=own.length, pooling=own.pooling)
    examples = task.read(file_of(settings["train"], inputs), own.source)
    if own.train_rows is not None:
        examples = examples.sample(own.train_rows, seed=0)
    dev = None if settings["dev"] is None else task.read(file_of(settings["dev"], inputs), own.source)
    labels = task.labels(examples)
    if dev is not None:
        check_known(dev, task.kind, labels, train=examples.name)
    return Lesson(task, labels, examples, dev)
