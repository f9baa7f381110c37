"""An encoder and linked text to an adjusted encoder, which serves every task (papers/001 Eq. 1)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from interlingua.analyses.transfer import phases_of
from interlingua.engine.step import Work
from interlingua.studies.compile.custom_regimes import phases_from
from interlingua.studies.steps.step_io import (
    MODEL,
    Inputs,
    Linked,
    encoder_of,
    linked_files,
    named,
    note,
    precision_of,
    stages_of,
    trained,
    transfer_settings,
)
from interlingua.tasks.retrieval import Retrieval
from interlingua.tasks.saved_models import FineTuned
from interlingua.training.checkpoints import save_whole
from interlingua.training.processes import is_first_process
from interlingua.training.task import TaskModel


def run(settings: Mapping[str, Any], inputs: Inputs, out: Path, work: Work) -> None:
    """Adjust one encoder with one seed on the bitexts of some languages."""
    own = transfer_settings(settings["settings"])
    encoder = encoder_of(settings["encoder"], inputs)
    precision = precision_of(own, encoder)
    body = encoder.model.float().requires_grad_(True)
    inside = named(body, encoder, settings["encoder"]["name"], precision)
    task: Any = Retrieval()
    tuned = FineTuned(task, (), TaskModel(body, torch.nn.Identity()), inside)
    linked = Linked(encoder, linked_files(settings["bitexts"], inputs), own, inputs)
    phases = phases_of("adjusted", own, task="retrieval", headless=True)
    if "phases" in settings:
        phases = phases_from(settings["phases"])
    made = stages_of(tuned, phases, None, None, linked, seed=settings["seed"], precision=precision, work=work)
    trained(tuned, made, out, work)
    if is_first_process():
        save_whole(body, encoder.tokenizer, out / MODEL)
    note(out, linked.notes)
