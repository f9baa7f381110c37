"""A regime's phases trained one after another, each with its own checkpoint: a killed run goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from interlingua.encoder.joined import joined_projections
from interlingua.training.bookkeeping import Monitor, Progress
from interlingua.training.checkpoints import Checkpoint
from interlingua.training.freezing import Freeze, freezing
from interlingua.training.loop import Settings, Term, train
from interlingua.training.lora import Lora, adapted
from interlingua.training.metrics import Journal


@dataclass(frozen=True)
class Stage:
    """A phase with its objectives made: what the loop needs."""

    name: str
    terms: Sequence[Term]
    settings: Settings
    freeze: Freeze = field(default_factory=Freeze)
    lora: Lora | None = None
    monitors: Sequence[Monitor] = ()


@dataclass(frozen=True)
class Place:
    """Where a run keeps its state: a folder with a checkpoint and a journal for each stage."""

    folder: Path

    def checkpoint(self, number: int, stage: Stage) -> Checkpoint:
        return Checkpoint(self.folder / f"{number + 1}-{stage.name}")

    def journal(self, number: int, stage: Stage) -> Path:
        return self.folder / f"{number + 1}-{stage.name}.jsonl"


@contextmanager
def trainable(model: torch.nn.Module, freeze: Freeze, lora: Lora | None, *, seed: int) -> Iterator[None]:
    """Within the block, the model's trained weights are those of a phase; what is frozen gets no adapter either."""
    with ExitStack() as around:
        around.enter_context(freezing(model, freeze))
        if lora is not None:
            around.enter_context(adapted(model, lora, seed=seed))
        yield


def train_stages(
    model: torch.nn.Module,
    stages: Sequence[Stage],
    *,
    device: torch.device,
    place: Place | None = None,
    tensorboard: Path | None = None,
    progress: Progress | None = None,
    after: Callable[[str], None] | None = None,
    stop_after: float | None = None,
) -> list[list[dict[str, Any]]]:
    """Train the model through all stages in place; what each measured.

    The model is given as it was before the first stage, also where the run goes on: finished stages only load their
    weights. `after` is called with a stage's name when it is over. A run that `stop_after` seconds ended has fewer
    entries than stages.
    """
    measured = []
    for number, stage in enumerate(stages):
        checkpoint = None if place is None else place.checkpoint(number, stage)
        board = None if tensorboard is None else tensorboard / f"{number + 1}-{stage.name}"
        journal = None if place is None else Journal(place.journal(number, stage), tensorboard=board)
        with trainable(model, stage.freeze, stage.lora, seed=stage.settings.seed), joined_projections(model):
            metrics = train(
                model,
                stage.terms,
                stage.settings,
                device=device,
                checkpoint=checkpoint,
                monitors=stage.monitors,
                journal=journal,
                progress=progress,
                stop_after=stop_after,
            )
        if checkpoint is not None and stop_after is not None and not checkpoint.state().get("finished"):
            break
        measured.append(metrics)
        if after is not None:
            after(stage.name)
    return measured
