"""A model and parallel names to one part of their geometry: the look before, or a fine-tuning on one language."""

from __future__ import annotations

import copy
import json
import shutil
from dataclasses import replace

from interlingua.analyses.entity_geometry import LookSettings
from interlingua.analyses.transfer_matrix import Watch
from interlingua.engine.atomic_files import write_text
from interlingua.engine.run_store import Store
from interlingua.engine.step import StepContext
from interlingua.record import Made
from interlingua.studies.compile.geometry import BEFORE
from interlingua.studies.geometry import Geometry, GeometrySettings
from interlingua.studies.pairwise import Pairwise, PairwiseSettings
from interlingua.studies.step_settings import GeometryStep
from interlingua.studies.steps.step_io import load_encoder, write_notes, write_records
from interlingua.studies.steps.synth import synthetic_of

MAPS, ABOUT = "maps", "set.json"


def run(settings: GeometryStep, context: StepContext) -> None:
    """Look, or fine-tune under the monitor, test on all languages and look again where that is asked for."""
    own, synthetic = geometry_settings(settings), synthetic_of(settings.synth)
    # A copy: the first fine-tuning changes the model, and other steps of the process read it.
    encoder = copy.deepcopy(load_encoder(settings.encoder, context))
    store = Store(context.state / "run")
    if settings.looks is None:
        runs = Pairwise(encoder, synthetic, own.training, store, progress=context.progress)
        runs.run(only=settings.part)
        notes = runs.notes
    else:
        whole = Geometry(encoder, synthetic, own, store, context.progress)
        if settings.part == BEFORE:
            whole.look_before()
            _write_about(whole, context)
            notes = [*synthetic.notes, *map(str, synthetic.left_out), *whole.notes]
        else:
            whole.pairwise.run(only=settings.part)
            notes = whole.notes
    _leave(store, settings, context)
    write_notes(context, notes)


def geometry_settings(settings: GeometryStep) -> GeometrySettings:
    """The settings of the command `geometry` that do what a step does; a part without a look has those of none."""
    training, looks = settings.training, settings.looks
    found = GeometrySettings()
    if training is not None:
        watch = Watch(on=training.watch, span=training.watch_span, every=training.watch_every)
        found = replace(
            found,
            training=PairwiseSettings(
                train_on=training.train_on,
                epochs=training.epochs,
                learning_rate=training.learning_rate,
                batch=training.batch,
                seeds=(0 if settings.seed is None else settings.seed,),
                watch=watch,
                precision=training.precision,
            ),
        )
    if looks is None:
        return found
    looked = LookSettings(
        flattening=looks.map,
        perplexity=looks.perplexity,
        map_layers=looks.layers,
        points=looks.points,
        seed=looks.seed,
    )
    return replace(found, source=looks.source, about=looks.about, about_rows=looks.about_rows, looks=looked)


def _write_about(whole: Geometry, context: StepContext) -> None:
    """What a page says of the set of sentences, and how the name that is followed is cut."""
    rows = {part: len(drawn) for part, drawn in whole.synthetic.parts.items()}
    if context.group.is_first:
        told = {"rows": rows, "pieces": whole.pieces()}
        write_text(context.out / ABOUT, json.dumps(told, ensure_ascii=False, indent=1) + "\n")


def _leave(store: Store, settings: GeometryStep, context: StepContext) -> None:
    """Records under the study's name for the model, maps, and the metrics of every step of training."""
    if not context.group.is_first:
        return
    made: Made = [(record, None if record.items is None else store.items(record)) for record in store.read()]
    write_records(context, made, model=settings.encoder.name, geometry=settings.block)
    for folder, name in (("maps", MAPS), ("steps", "journals")):
        if (store.folder / folder).is_dir():
            shutil.copytree(store.folder / folder, context.out / name)
