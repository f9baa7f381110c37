"""A model to its scores on the tests of a task, one language or two each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interlingua.analyses.evaluation import (
    FOLDER,
    Evaluator,
    model_name,
    posteriors_file,
    prediction_lines,
    test_file,
    write_posteriors,
)
from interlingua.analyses.transfer import Scenario, TaskData, TestFiles, TestSet, TransferSettings, check_labels
from interlingua.engine.atomic_files import write_text
from interlingua.engine.serialization import digest
from interlingua.engine.step import StepContext
from interlingua.engine.workspace import INNER
from interlingua.paths import read_json
from interlingua.record import Made
from interlingua.studies.step_settings import PredictStep
from interlingua.studies.steps.finetune import ABOUT
from interlingua.studies.steps.step_io import (
    MODEL,
    LinkedBitexts,
    asked_model,
    load_encoder,
    path_of,
    remember_inputs,
    task_of,
    write_notes,
    write_records,
)
from interlingua.studies.study import MADE


@dataclass(frozen=True)
class TrainingSetSummary:
    """What is known of the examples a model was trained on once they are no longer here."""

    digest: str


def lesson_of(task: Any, labels: tuple[str, ...], context: StepContext) -> TaskData:
    """The lesson of a trained model; one without a head had none."""
    if "tuned" not in context.inputs:
        return TaskData(task)
    about = read_json(context.inputs["tuned"] / ABOUT)
    return TaskData(task, labels, TrainingSetSummary(about["train"]))


def run(settings: PredictStep, context: StepContext) -> None:
    """Give one model its tests."""
    task, precision = task_of(settings.task), settings.precision
    encoder = load_encoder(settings.encoder, context)
    tuned = asked_model(settings.encoder, context, task, precision=precision)
    exams = _exams(settings, task, context)
    check_labels(exams, tuned.labels, train="the training examples")
    linked = LinkedBitexts.of(encoder, settings.bitexts, settings.linked_rows, context)
    through = None if settings.through is None else load_encoder(settings.through, context, role="through ")
    own = TransferSettings(source=settings.source, pairs=linked.settings)
    if settings.map_on is not None:
        own = replace(own, map_on=settings.map_on)
    lesson = lesson_of(task, tuned.labels, context)
    remember = remember_inputs(context)
    examiner = Evaluator(encoder, lesson, own, linked.files, exams, precision, linked, through, remember)
    scenario = Scenario(settings.regime, (), settings.bitext_languages, exams, settings.mapped)
    made: Made = []
    for number, exam in enumerate(exams):
        context.progress("tests", number, len(exams))
        found = examiner.examine(tuned, scenario, exam, settings.seed)
        made += found.made
        if found.predictions is not None and context.group.is_first:
            file = context.out / FOLDER / test_file(exam.name)
            write_text(file, prediction_lines(exam, found.predictions, _about(settings, exam, context)))
            write_posteriors(posteriors_file(file), {exam.name: found.predictions})
    if settings.through is not None:
        made = [(replace(record, against=settings.through.name), items) for record, items in made]
    write_records(context, made, model=settings.encoder.name, task=settings.block)
    read = examiner.exam_inputs.values()
    skipped = [skip for exam in exams for skip in exam.skipped]
    write_notes(context, [*skipped, *(skip for inputs in read for skip in inputs.skipped)])


def _exams(settings: PredictStep, task: Any, context: StepContext) -> tuple[TestSet, ...]:
    """The tests that are asked; they are read once for all steps of this process that have the same files."""
    made = {role: folder.name for role, folder in context.inputs.items() if role.startswith(MADE)}
    files = [settings.tests, settings.retrieval, settings.mixed, settings.rows, settings.source, made]
    key = digest(["exams", repr(task), *files])
    found = context.objects.get(key, lambda: _read(settings, task, context), kind="exams")
    return tuple(exam for exam in found if exam.name in settings.names)


def _read(settings: PredictStep, task: Any, context: StepContext) -> tuple[TestSet, ...]:
    tests, lookups = (
        {name: tuple(path_of(file, context) for file in files) for name, files in given.items()}
        for given in (settings.tests, settings.retrieval)
    )
    mixed = None if settings.mixed is None else path_of(settings.mixed, context)
    return TestFiles(tests, mixed, lookups, settings.rows).read(task, source=settings.source)


def _about(settings: PredictStep, exam: TestSet, context: StepContext) -> dict[str, Any]:
    """What a line of predictions says of the model and the test."""
    return {
        "file": Path(exam.examples.name).name,
        "task": settings.block,
        "encoder": settings.encoder.name,
        "model": model_name(settings.regime, settings.bitext_languages, settings.seed),
        "regime": settings.regime,
        "seed": settings.seed,
        "bitexts": list(settings.bitext_languages),
        "folder": f"{INNER}/steps/{context.inputs['tuned'].name}/{MODEL}",
        "step": context.key,
    }
