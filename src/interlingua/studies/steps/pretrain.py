"""A recipe and plain text to a masked language model."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from interlingua.encoder.devices import pick_device
from interlingua.engine.step import Work
from interlingua.studies.config.recipe import read_config
from interlingua.studies.pretraining import held_out, pretrain
from interlingua.studies.steps.step_io import MODEL, Inputs
from interlingua.training.processes import is_first_process


def run(settings: Mapping[str, Any], inputs: Inputs, out: Path, work: Work) -> None:
    """Train one model as its recipe says; a killed run goes on."""
    path = Path(settings["recipe"])
    config = read_config(path)
    folder = Path(next(iter(settings["text"].values()))[0]).parent
    config = replace(config, data=replace(config.data, folder=str(folder)))
    corpus = held_out(config, path.parent)
    made = work.state / "model"
    pretrain(config, corpus, home=path.parent, out=made, device=pick_device(None), progress=work.progress)
    if is_first_process():
        (out / MODEL).parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(made, out / MODEL, ignore=shutil.ignore_patterns(".*"))
