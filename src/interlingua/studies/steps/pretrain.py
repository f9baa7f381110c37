"""A recipe and plain text to a masked language model."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from interlingua.encoder.devices import pick_device
from interlingua.engine.step import StepContext
from interlingua.studies.config.recipe import read_config
from interlingua.studies.pretraining import held_out, pretrain
from interlingua.studies.step_settings import PretrainStep
from interlingua.studies.steps.step_io import MODEL


def run(settings: PretrainStep, context: StepContext) -> None:
    """Train one model as its recipe says; a killed run goes on."""
    path = Path(settings.recipe.path)
    config = read_config(path)
    [first, *_] = next(iter(settings.text.values()))
    config = replace(config, data=replace(config.data, folder=str(Path(first.path).parent)))
    corpus = held_out(config, path.parent)
    made = context.state / "model"
    pretrain(config, corpus, home=path.parent, out=made, device=pick_device(context.device), progress=context.progress)
    if context.group.is_first:
        (context.out / MODEL).parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(made, context.out / MODEL, ignore=shutil.ignore_patterns(".*"))
