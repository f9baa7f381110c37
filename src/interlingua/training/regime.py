"""Regimes as data: ordered phases, each a weighted sum of objectives, and where each phase's state lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from interlingua.encoder.fused_layers import joined_projections
from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.training.checkpoints import Checkpoint
from interlingua.training.journal import Journal, Monitor, Progress
from interlingua.training.loop import LoopSettings, Term, train
from interlingua.training.phases import Freeze, Lora, Phase, PhaseObjective, Schedule
from interlingua.training.regime_names import ALPHA, AUXILIARY
from interlingua.training.task import FineTuning
from interlingua.training.trainable import freeze_weights, with_adapters

ADJUST = Schedule(5e-5, epochs=1, warmup=0.1, decay=0.0, betas=(0.9, 0.98), eps=1e-9)
"""The adjustment as the code of papers/001 has it: Adam, warm-up over a tenth of the steps, then constant."""


def fine_tune(task: FineTuning) -> Schedule:
    """How a task is trained: AdamW without weight decay, linear decay, no warm-up, as in papers/001's code."""
    return Schedule(task.learning_rate, epochs=task.epochs, clip=1.0)


@dataclass(frozen=True)
class Regime:
    """Ordered phases; `mapped`: nothing more is trained, and other languages go through a map before the head.

    True has it fitted on translations; the name of a control, without (`studies.mapping`).
    """

    name: str
    phases: tuple[Phase, ...]
    mapped: bool | str = False


def _task(task: FineTuning | None, *more: PhaseObjective) -> Phase:
    if task is None:
        raise InputError("a regime with a task, and none was given", remedy="Give the task's defaults as task=.")
    return Phase("task", (PhaseObjective("task", batch=task.batch), *more), fine_tune(task))


_ADJUST = Phase("adjust", (PhaseObjective("adjustment"), PhaseObjective("anchor")), ADJUST)


def _beside(anchor: float) -> tuple[PhaseObjective, PhaseObjective]:
    """The adjustment as a second task: a random batch of 16 rows at every step."""
    return (
        PhaseObjective("adjustment", ALPHA, AUXILIARY, replacement=True),
        PhaseObjective("anchor", anchor, AUXILIARY, replacement=True),
    )


_REGIMES: dict[str, Callable[[FineTuning | None], tuple[Phase, ...]]] = {
    "original": lambda task: (_task(task),),
    "adjusted": lambda task: (_ADJUST, _task(task)),
    "continual": lambda task: (_ADJUST, _task(task, *_beside(ALPHA))),
    "continual-code": lambda task: (_ADJUST, _task(task, *_beside(1.0))),
    "joint": lambda task: (_task(task, *_beside(ALPHA)),),
    "adjust-only": lambda _: (_ADJUST,),
}
NAMES = tuple(_REGIMES)


def regime(name: str, *, task: FineTuning | None = None) -> Regime:
    """The regime with this name; `task` sets how its task is trained.

    `task` are a task's own `defaults`; only `adjust-only` has none.

    - `original`: the task alone.
    - `adjusted`: the adjustment with its anchor (papers/001 Eq. 1), then the task. With bitexts of several languages it
      is adjusted on all of them at once, as in Cao et al. (2020); papers/001 takes one at a time.
    - `continual`: as adjusted, and beside the task α = 0.01 times Eq. 1, anchor included (Eq. 2), on 16 random rows per
      step. `continual-code`: the same with the anchor's weight 1, as the code of papers/001 has it.
    - `joint`: Eq. 2 without the adjustment before it.
    - `adjust-only`: no task.

    >>> for phase in regime("continual", task=FineTuning(learning_rate=5e-5, epochs=2)).phases:
    ...     print(phase.name, [(part.objective, part.weight) for part in phase.parts])
    adjust [('adjustment', 1.0), ('anchor', 1.0)]
    task [('task', 1.0), ('adjustment', 0.01), ('anchor', 0.01)]
    """
    if name not in _REGIMES:
        raise unknown("regime", name, list(_REGIMES))
    return Regime(name, _REGIMES[name](task))


@dataclass(frozen=True)
class Stage:
    """A phase with its objectives made: what the loop needs."""

    name: str
    terms: Sequence[Term]
    settings: LoopSettings
    freeze: Freeze = field(default_factory=Freeze)
    lora: Lora | None = None
    monitors: Sequence[Monitor] = ()


@dataclass(frozen=True)
class RunPaths:
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
        around.enter_context(freeze_weights(model, freeze))
        if lora is not None:
            around.enter_context(with_adapters(model, lora, seed=seed))
        yield


def train_stages(
    model: torch.nn.Module,
    stages: Sequence[Stage],
    *,
    device: torch.device,
    place: RunPaths | None = None,
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
