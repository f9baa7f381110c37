"""A phase of training as data: its objectives, its schedule and what is frozen. No torch, so that plans hold it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from interlingua.errors import InputError

if TYPE_CHECKING:
    import interlingua.training.loop


@dataclass(frozen=True)
class PhaseObjective:
    """An objective by its name, its weight and its batch; its text is that of all languages of the run.

    `replacement` draws its batches anew at every step instead of going through its data. `temperature` is that of a
    contrast.
    """

    objective: str
    weight: float = 1.0
    batch: int = 32
    replacement: bool = False
    temperature: float = 0.1


@dataclass(frozen=True)
class Schedule:
    """How long a phase trains and how: `settings` makes the loop's `LoopSettings` of it once the data's size is known.

    `warmup` and `decay` are shares of the steps; decay 0 holds the rate to the end. `steps` take the place of the
    epochs.
    """

    learning_rate: float
    epochs: float = 1.0
    warmup: float = 0.0
    decay: float = 1.0
    weight_decay: float = 0.0
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    clip: float | None = None
    steps: int | None = None

    def warmed(self, warmup: float) -> Schedule:
        """This schedule with another warm-up; a rate that falls begins to when it has risen, so that it is reached.

        >>> from interlingua.training.regime import ADJUST
        >>> Schedule(5e-5).warmed(0.25).decay, ADJUST.warmed(0.25).decay
        (0.75, 0.0)
        """
        return replace(self, warmup=warmup, decay=min(self.decay, 1 - warmup))

    def settings(
        self, steps_an_epoch: int, *, seed: int = 0, like: interlingua.training.loop.LoopSettings | None = None
    ) -> interlingua.training.loop.LoopSettings:
        """The settings of a run; precision, checkpoints and the like are taken from `like`.

        >>> from interlingua.training.regime import ADJUST
        >>> ADJUST.settings(100).steps, ADJUST.settings(100).warmup, ADJUST.settings(100).rate(99)
        (100, 10, 5e-05)
        """
        from interlingua.training.loop import LoopSettings  # which imports torch

        steps = self.steps or max(round(self.epochs * steps_an_epoch), 1)
        return replace(
            like or LoopSettings(steps, self.learning_rate),
            steps=steps,
            learning_rate=self.learning_rate,
            warmup=round(self.warmup * steps),
            decay=self.decay,
            floor=0.0 if self.decay else 1.0,
            weight_decay=self.weight_decay,
            betas=self.betas,
            eps=self.eps,
            clip=self.clip,
            seed=seed,
        )


@dataclass(frozen=True)
class Freeze:
    """What is not trained: the body's weights before its blocks (`embeddings`), and blocks 1 … `blocks`.

    Freezing up to layer k, layer 0 being the embedding output, is `Freeze(embeddings=True, blocks=k)`; the front half
    of 12 blocks, as in AlignFreeze (2025), is k = 6. Negative ones count from the end, as layers do: -1 is all blocks,
    and with `embeddings` the whole body, whatever stands between its parts.
    """

    embeddings: bool = False
    blocks: int = 0


@dataclass(frozen=True)
class Lora:
    """W + (alpha / rank) B A for the linear maps inside the blocks; only A and B are trained, and the task's head.

    `targets` are endings of module names (`query`, `value`); none: all linear maps of the body's blocks. Maps that are
    frozen get no adapter.
    """

    rank: int = 8
    alpha: float = 16.0
    dropout: float = 0.0
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Phase:
    """A weighted sum of objectives and how it is trained; the first part's data says how long an epoch is."""

    name: str
    parts: tuple[PhaseObjective, ...]
    schedule: Schedule
    freeze: Freeze = field(default_factory=Freeze)
    lora: Lora | None = None

    def __post_init__(self) -> None:
        if not self.parts:
            raise InputError("a phase has nothing to train for", value=self.name, remedy="Give it an objective.")
