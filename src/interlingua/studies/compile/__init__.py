"""Tables of a study to steps."""

from __future__ import annotations

from interlingua.engine.step import Step
from interlingua.studies.compile.geometry import GeometrySteps
from interlingua.studies.compile.measures import ExplainSteps, MeasureSteps
from interlingua.studies.compile.study_inputs import StudyInputs
from interlingua.studies.compile.tasks import TaskSteps


def steps_of(inputs: StudyInputs) -> tuple[list[Step], list[str]]:
    """All steps whose results are wanted, in the order of the file, and descriptions of what cannot be tested.

    What they need is reached through them. A study that asks nothing of models makes what it names: models by their
    recipes, and synthetic sets.
    """
    study, tasks = inputs.study, TaskSteps(inputs)
    measures, explanations, geometry = MeasureSteps(inputs, tasks), ExplainSteps(inputs, tasks), GeometrySteps(inputs)
    found: list[Step] = inputs.effects()
    for task, table in study.table.tasks.items():
        for encoder in study.encoders(table.encoders):
            for source in study.sources(task):
                found += tasks.steps(task, encoder, source)
    for name, measured in study.table.measures.items():
        found += measures.steps(name, measured)
    for name, explained in study.table.explanations.items():
        found += explanations.steps(name, explained)
    for name, looked in study.table.geometry.items():
        found += geometry.steps(name, looked)
    if not study.table.tests_models:
        found = [
            inputs.pretrained(name) for name, encoder in study.table.encoders.items() if encoder.recipe is not None
        ]
        found += [inputs.synth(name) for name in study.table.synth]
    return found, [*tasks.notes, *inputs.notes]
