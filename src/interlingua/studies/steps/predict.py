"""A model to its scores on the tests of a task, one language or two each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interlingua.analyses.evaluation import FILE, Examiner, posteriors_file, prediction_lines, write_posteriors
from interlingua.analyses.transfer import ExamFiles, Lesson, Scenario, check_labels, task_named
from interlingua.engine.records import Made, write_text
from interlingua.engine.step import Work
from interlingua.paths import read_json
from interlingua.studies.steps.finetune import ABOUT
from interlingua.studies.steps.step_io import (
    MODEL,
    Inputs,
    Linked,
    encoder_of,
    file_of,
    keep,
    linked_files,
    note,
    precision_of,
    transfer_settings,
    tuned_of,
)
from interlingua.training.processes import is_first_process


@dataclass(frozen=True)
class Taught:
    """What is known of the examples a model was trained on once they are no longer here."""

    digest: str


def lesson_of(task: Any, labels: tuple[str, ...], inputs: Inputs) -> Lesson:
    """The lesson of a trained model; one without a head had none."""
    if "tuned" not in inputs:
        return Lesson(task)
    about = read_json(inputs["tuned"] / ABOUT)
    return Lesson(task, labels, Taught(about["train"]))


def run(settings: Mapping[str, Any], inputs: Inputs, out: Path, work: Work) -> None:
    """Give one model its tests."""
    own = transfer_settings(settings["settings"])
    own = type(own)(**{**vars(own), "source": settings["source"]})
    task = task_named(
        settings["task"], length=settings["length"], pooling=settings["pooling"], source=settings["source"]
    )
    encoder = encoder_of(settings["encoder"], inputs)
    precision = precision_of(own, encoder)
    tuned = tuned_of(settings["encoder"], inputs, task, precision=precision)
    tests, lookups = (
        {name: tuple(file_of(file, inputs) for file in files) for name, files in settings[key].items()}
        for key in ("tests", "retrieval")
    )
    mixed = None if settings["mixed"] is None else file_of(settings["mixed"], inputs)
    exams = ExamFiles(tests, mixed, lookups, settings["rows"]).read(task, source=settings["source"])
    exams = tuple(exam for exam in exams if exam.name in settings["names"])
    check_labels(exams, tuned.labels, train="the training examples")
    linked = Linked(encoder, linked_files(settings["bitexts"], inputs), own, inputs)
    through = None
    if settings["through"] is not None:
        through = encoder_of(settings["through"], inputs, role="through ")
    lesson = lesson_of(task, tuned.labels, inputs)
    examiner = Examiner(encoder, lesson, own, linked.bitexts, exams, precision, linked, through)
    scenario = Scenario(settings["regime"], (), tuple(settings["spoken"]), exams, settings["mapped"])
    made: Made = []
    said: list[str] = []
    answers: dict[str, Any] = {}
    for number, exam in enumerate(exams):
        work.progress("tests", number, len(exams))
        found = examiner.examine(tuned, scenario, exam, settings["seed"])
        made += found.made
        if found.predictions is not None:
            about = {"file": Path(exam.examples.name).name, "task": settings["called"],
                     "encoder": settings["encoder"]["name"], "regime": scenario.regime, "seed": settings["seed"],
                     "bitexts": settings["spoken"], "model": f"steps/{inputs['tuned'].name}/{MODEL}"}  # fmt: skip
            said.append(prediction_lines(exam, found.predictions, about))
            answers[exam.name] = found.predictions
    if settings["through"] is not None:
        made = [(replace(record, against=settings["through"]["name"]), items) for record, items in made]
    if said and is_first_process():
        write_text(out / FILE, "".join(said))
        write_posteriors(posteriors_file(out / FILE), answers)
    keep(out, work, made, model=settings["encoder"]["name"], task=settings["called"])
    read = examiner.exam_inputs.values()
    note(out, [*(skip for exam in exams for skip in exam.skipped), *(skip for each in read for skip in each.skipped)])
