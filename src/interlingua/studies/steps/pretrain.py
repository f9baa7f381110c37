"""A recipe and plain text to a masked language model."""

from __future__ import annotations

import time
from pathlib import Path

import torch

from interlingua.analyses.pretraining import held_out_corpus, pretrain
from interlingua.encoder.devices import pick_device
from interlingua.engine.atomic_files import atomic_path
from interlingua.engine.step import StepContext, StepPaused
from interlingua.studies.analysis_settings import pretrain_settings
from interlingua.studies.config.recipe import read_config
from interlingua.studies.step_settings import PretrainStep
from interlingua.studies.steps.step_io import MODEL, path_of

UNFINISHED = "model"
"""Where in its state a paused step leaves the model as far as it is trained."""


def run(settings: PretrainStep, context: StepContext) -> None:
    """Train one model as its recipe says; a killed or paused run goes on."""
    device = pick_device(context.device)
    if device.index is not None:
        torch.cuda.set_device(device)  # The launcher of several processes chooses; alone, it takes the current one.
    text = {code: Path(file.path) for code, file in settings.text.items()}
    made = pretrain(
        pretrain_settings(
            read_config(Path(settings.recipe.path)),
            text,
            tokenizer_file=None if settings.tokenizer is None else Path(settings.tokenizer.path),
            start_from=Path(settings.start_from[0].path).parent if settings.start_from else None,
        ),
        None if settings.held_out is None else held_out_corpus(path_of(settings.held_out, context), text),
        state=context.state,
        device=device,
        progress=context.progress,
        stop_after=None if context.deadline is None else context.deadline - time.time(),
    )
    if context.group.is_first:
        with atomic_path((context.out / MODEL) if made.finished else context.state / UNFINISHED) as beside:
            made.save(beside)
    if not made.finished:
        context.group.barrier()  # A process that leaves ends the others.
        raise StepPaused("paused")
