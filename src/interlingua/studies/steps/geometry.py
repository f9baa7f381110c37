"""A model and parallel names to one part of their geometry: the look before, or a fine-tuning on one language."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from interlingua.engine.records import Store, write_text
from interlingua.engine.step import Work
from interlingua.studies.compile.geometry import BEFORE, geometry_settings
from interlingua.studies.geometry import Geometry
from interlingua.studies.pairwise import Pairwise
from interlingua.studies.steps.step_io import Inputs, encoder_of, note
from interlingua.studies.steps.synth import synthetic_of
from interlingua.training.processes import is_first_process

MAPS, ABOUT = "maps", "set.json"


def run(settings: Mapping[str, Any], inputs: Inputs, out: Path, work: Work) -> None:
    """Look, or fine-tune under the monitor, test on all languages and look again where that is asked for."""
    own, made = geometry_settings(settings), synthetic_of(settings["synth"])
    encoder = encoder_of(settings["encoder"], inputs)
    store, part = Store(work.state / "run"), settings["part"]
    if settings["looks"] is None:
        runs = Pairwise(encoder, made, own.training, store, progress=work.progress)
        runs.run(only=part)
        notes = runs.notes
    else:
        whole = Geometry(encoder, made, own, store, work.progress)
        if part == BEFORE:
            whole.look_before()
            _about(whole, out)
        else:
            whole.pairwise.run(only=part)
        notes = [*made.notes, *map(str, made.left_out), *whole.notes] if part == BEFORE else whole.notes
    if is_first_process():
        _leave(store, settings, out, work)
    note(out, notes)


def _about(whole: Geometry, out: Path) -> None:
    """What a page says of the set of sentences, and how the name that is followed is cut."""
    rows = {part: len(drawn) for part, drawn in whole.synthetic.parts.items()}
    if is_first_process():
        told = {"rows": rows, "pieces": whole.pieces()}
        write_text(out / ABOUT, json.dumps(told, ensure_ascii=False, indent=1) + "\n")


def _leave(store: Store, settings: Mapping[str, Any], out: Path, work: Work) -> None:
    """Records under the study's name for the model, maps, and the metrics of every step of training."""
    told = []
    for record in store.read():
        items = None if record.items is None else store.items(record)
        told.append((replace(record, model=settings["encoder"]["name"], block=settings["called"]), items))
    Store(out).append(work.key, told)
    for folder, name in (("maps", MAPS), ("steps", "journals")):
        if (store.folder / folder).is_dir():
            shutil.copytree(store.folder / folder, out / name)
