"""A model, as it came or fine-tuned, to names inside it: their cosines, their clusters, and a map of them."""

from __future__ import annotations

import json

from interlingua.analyses.entity_geometry import STATES, LookSettings, entity_set, measure_snapshot, tokenize_names
from interlingua.engine.atomic_files import write_text
from interlingua.engine.step import StepContext
from interlingua.studies.step_settings import EntityGeometryStep
from interlingua.studies.steps.step_io import encoder_over, load_encoder, load_made, write_notes, write_records
from interlingua.studies.steps.synth import synthetic_of

MAP, ABOUT = "map.json", "set.json"


def run(settings: EntityGeometryStep, context: StepContext) -> None:
    """Look at one set of names in one state of the model; the first of several processes looks for all."""
    if not context.group.is_first:
        return
    encoder, synthetic = load_encoder(settings.encoder, context), synthetic_of(settings.synth)
    given, notes = entity_set(synthetic, settings.entity, settings.entity_rows)
    inside = encoder
    if "tuned" in context.inputs:
        # In float32 as before, whatever the precision of the training.
        inside = encoder_over(load_made(context.inputs["tuned"], context).model, encoder, encoder.name, "fp32")
    found = measure_snapshot(
        inside,
        given,
        LookSettings(
            projection=settings.projection,
            perplexity=settings.perplexity,
            map_layers=settings.layers,
            points=settings.max_points,
            seed=settings.seed,
        ),
        state=STATES["tuned" in context.inputs],
        source=settings.source,
        digest=encoder.digest,
        progress=context.progress,
    )
    write_text(context.out / MAP, json.dumps(found.maps, ensure_ascii=False))
    rows = {part: len(drawn) for part, drawn in synthetic.parts.items()}
    about = {"rows": rows, "pieces": {} if settings.entity is None else tokenize_names(encoder, given)}
    write_text(context.out / ABOUT, json.dumps(about, ensure_ascii=False, indent=1) + "\n")
    write_records(context, found.made, model=settings.encoder.name, block=settings.block)
    told = [] if "tuned" in context.inputs else [*encoder.layer_notes, *synthetic.notes, *map(str, synthetic.left_out)]
    write_notes(context, [*told, *notes, *found.notes])
