"""What was measured of a model to a 2-D map of the sentences in its best layer, `map.json`."""

from __future__ import annotations

import json

from interlingua.analyses.space_measures import best_layer, project
from interlingua.engine.atomic_files import write_text
from interlingua.engine.records import Records
from interlingua.engine.step import StepContext
from interlingua.record import Record
from interlingua.studies.step_settings import MapStep
from interlingua.studies.steps.step_io import MAP, load_space


def run(settings: MapStep, context: StepContext) -> None:
    """Flatten the layer that was read as the best; the last one where no measure decides."""
    space = load_space(settings.encoded, context, "0 ")
    measured = [folder for role, folder in context.inputs.items() if role.startswith("measure ")]
    best = best_layer(record for folder in measured for record in Records(Record, folder).read())
    layer = space.encoder.layers[-1] if best is None else best
    points = project(space, layer=layer, seed=settings.encoded.seed, projection=settings.projection)
    write_text(context.out / MAP, json.dumps(points, ensure_ascii=False))
