"""From a regime's phases to stages the loop trains: objectives with their names, made of a task's inputs and linked
text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from interlingua.analyses.aligned_bitext import LinkedText
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs
from interlingua.encoder.tokens import Tokeniser
from interlingua.errors import InputError
from interlingua.objectives import objectives
from interlingua.objectives.adjustment import Adjustment
from interlingua.objectives.anchor import Anchor
from interlingua.objectives.contrastive import Contrastive
from interlingua.objectives.drift import Drift
from interlingua.objectives.task import TaskObjective
from interlingua.plural_counts import count_noun
from interlingua.registry import unknown
from interlingua.training.forward import checked_layer, is_trained
from interlingua.training.loop import LoopSettings, Monitor, Objective, Term
from interlingua.training.pair_batches import PairBatches, PairPass, TokenizedBitext, bitext, concatenate_bitexts
from interlingua.training.phases import Phase, PhaseObjective
from interlingua.training.processes import first_process_first
from interlingua.training.reference import Reference, reference
from interlingua.training.regime import Stage, trainable
from interlingua.wordalign.links import PairFilters, WordPairs, word_pairs

Progress = Callable[[str, int, int], None]
NEED_PAIRS = ("adjustment", "anchor", "contrastive")
NO_PAIRS = ("task", "drift")
"""Objectives that read no linked text; those of users do, as `docs/extending.md` has it."""
_SHAPES = 12  # lengths of task batches on a GPU, each recorded once


@dataclass(frozen=True)
class PairSettings:
    """How linked text is read and pulled together; the defaults are those of papers/001's code.

    `rows` are drawn by the seed for training and, others, `held_out` for measuring (None: 1,000, a tenth at most).
    `layer`, `target` and `reduction` are those of the objective `adjustment`; `tidy` filters the word pairs; `kept` is
    how f⁰ is kept.
    """

    rows: int = 30_000
    held_out: int | None = None
    layer: int = -1
    how: str = "mean"
    specials: bool = True
    target: str = "joint"
    reduction: str = "mean"
    tidy: PairFilters = field(default_factory=PairFilters)
    kept: str = "fp16"


@dataclass(frozen=True)
class TextReader:
    """All of an encoder that drawn rows need: they may outlive its weights."""

    tokeniser: Tokeniser
    room: int

    @classmethod
    def of(cls, encoder: Encoder) -> TextReader:
        return cls(encoder.tokeniser, encoder.room)


@dataclass(frozen=True)
class Pairs:
    """The linked text of a language for one seed: rows that are trained on, and others that are held out.

    Either is made when it is asked for: cutting and tokenising 30,000 rows takes ten times as long as 1,000.
    """

    given: LinkedText
    rows: list[int]
    aside: list[int]
    reader: TextReader
    settings: PairSettings

    @property
    def trained(self) -> TokenizedBitext:
        """What is trained on, as tokens."""
        return self._made[0]

    @property
    def text(self) -> LinkedText:
        """What is trained on, with the links that are kept of it."""
        return self._made[1]

    @property
    def dropped(self) -> dict[str, int]:
        """The links that each filter dropped of what is trained on."""
        return self._made[2]

    @property
    def notes(self) -> tuple[str, ...]:
        """Descriptions, with counts, of what was left out on the way here."""
        lost = [f"{count_noun(count, reason)} left out" for reason, count in self.trained.left_out if count]
        dropped = [count_noun(links, f"links dropped: {name}") for name, links in self.dropped.items() if links]
        return (*self.given.notes, *lost, *dropped)

    @cached_property
    def held(self) -> TokenizedBitext:
        """What is held out, as tokens."""
        return _bitext(self.given.take(self.aside), self.reader, self.settings)[0]

    @cached_property
    def held_texts(self) -> tuple[list[str], list[str]]:
        """What is held out, as text."""
        kept = self.given.take(self.aside)
        return [one.text for one in kept.source], [one.text for one in kept.target]

    @cached_property
    def _made(self) -> tuple[TokenizedBitext, LinkedText, dict[str, int]]:
        chosen = self.given.take(self.rows)
        trained, pairs = _bitext(chosen, self.reader, self.settings)
        return trained, replace(chosen, links=pairs.links), {drop.name: drop.links for drop in pairs.dropped}


def sample_pairs(text: LinkedText, encoder: Encoder, settings: PairSettings, *, seed: int) -> Pairs:
    """Rows with text on both sides, drawn by the seed (papers/001 §5.1: 30k of all, anew for each run)."""
    order = np.random.default_rng(seed).permutation(text.usable).tolist()
    held = min(1000, max(len(order) // 10, 2)) if settings.held_out is None else settings.held_out
    if held > (most := len(order) // 2):
        raise InputError(
            f"more sentence pairs are to be held out than half of the {len(order)} that there are",
            value=held,
            remedy=f"Hold out {most} at most, or give more text.",
        )
    return Pairs(text, order[held : held + settings.rows], order[:held], TextReader.of(encoder), settings)


def _bitext(text: LinkedText, reader: TextReader, settings: PairSettings) -> tuple[TokenizedBitext, WordPairs]:
    source, target = ([sentence.words for sentence in side] for side in (text.source, text.target))
    pairs = word_pairs(source, target, text.links, settings.tidy)
    made = bitext(
        reader.tokeniser,
        text.source,
        text.target,
        pairs.links,
        how=settings.how,
        specials=settings.specials,
        room=reader.room,
    )
    return made, pairs


@dataclass
class TrainingInputs:
    """What the stages of one seed are made of; what the model as it came makes of its text is computed once.

    `dataclasses.replace` of its task and inputs keeps what was computed.

    `pairs` gives the linked text of a language; `spoken` are the languages of this run. `steady` gives batches few
    shapes, each of which is recorded as one CUDA graph. With a `folder` the reference is kept there: a run that goes on
    finds it, and so do other processes than the first.
    """

    task: Any
    inputs: Inputs | None
    spoken: tuple[str, ...]
    pairs: Callable[[str], Pairs]
    settings: PairSettings
    seed: int
    precision: str = "fp32"
    steady: bool = False
    folder: Path | None = None
    _made: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> TokenizedBitext:
        """The rows of all languages end to end."""
        if "text" not in self._made:
            self._made["text"] = concatenate_bitexts([self.pairs(code).trained for code in self.spoken])
        found: TokenizedBitext = self._made["text"]
        return found

    def reference(self, model: torch.nn.Module, progress: Progress | None) -> Reference:
        """What the model, not yet trained, makes of the source side: the original, always."""
        if "reference" not in self._made:
            device = next(model.parameters()).device
            with nullcontext() if self.folder is None else first_process_first(device):
                self._made["reference"] = reference(
                    model,
                    self.text,
                    layer=self.settings.layer,
                    kind=self.settings.kept,
                    precision=self.precision,
                    folder=self.folder,
                    progress=progress,
                )
        found: Reference = self._made["reference"]
        return found


def records_cuda_graphs(device: torch.device, precision: str, asked: bool | None = None) -> bool:
    """Whether steps are recorded as CUDA graphs: as asked, else on a GPU; fp16 looks at each gradient first."""
    return device.type == "cuda" and precision != "fp16" if asked is None else asked


def loop_settings(
    device: torch.device,
    precision: str,
    *,
    graph: bool | None,
    checkpoint_every: int,
    compile: bool = False,
    best: str | None = None,
) -> LoopSettings:
    """The settings of the loop beside the schedules of phases; their steps and rates are put in by `stages`."""
    return LoopSettings(
        1,
        1.0,
        precision=precision,
        graph=records_cuda_graphs(device, precision, graph),
        compile=compile,
        partial=True,
        checkpoint_every=checkpoint_every,
        best=best,
    )


def check_trained(model: Any, layer: int, phases: Iterable[Phase], *, seed: int = 0) -> None:
    """Refuse phases that train nothing that the layer they pull together depends on."""
    place = checked_layer(model, layer)
    for phase in phases:
        if not any(part.objective in NEED_PAIRS for part in phase.parts):
            continue
        with trainable(model, phase.freeze, phase.lora, seed=seed):
            if not is_trained(model, place):
                raise InputError(
                    f"nothing is trained that layer {place} depends on",
                    value=phase.freeze.blocks,
                    remedy="Freeze fewer blocks, or adjust a higher layer.",
                )


def stages(
    model: torch.nn.Module,
    phases: Sequence[Phase],
    material: TrainingInputs,
    *,
    like: LoopSettings,
    monitors: Mapping[str, Callable[[int], Monitor]] | None = None,
    progress: Progress | None = None,
) -> list[Stage]:
    """The stages of a regime; call it with the model as it was before the first, which references are made of.

    `like` says precision, checkpoints and the like. `monitors` are by phase, made of the number of steps an epoch;
    a phase that has one ends with its best weights where `like` names a metric.
    """
    made = []
    for phase in phases:
        passes: dict[tuple[int, bool], PairPass] = {}
        terms = [Term(part.weight, _objective(part, model, material, passes, progress), part.objective)
                 for part in phase.parts]  # fmt: skip
        first: Any = terms[0].objective
        epoch = first.steps_per_epoch if isinstance(first, TaskObjective) else first.pairs.steps
        watch = (monitors or {}).get(phase.name)
        settings = phase.schedule.settings(epoch, seed=material.seed, like=like)
        made.append(
            Stage(
                phase.name,
                terms,
                replace(settings, best=like.best if watch else None, patience=like.patience if watch else None),
                phase.freeze,
                phase.lora,
                (watch(epoch),) if watch else (),
            )
        )
    return made


def _objective(
    part: PhaseObjective,
    model: torch.nn.Module,
    material: TrainingInputs,
    passes: dict[tuple[int, bool], PairPass],
    progress: Progress | None,
) -> Objective:
    settings = material.settings
    if part.objective == "task":
        assert material.inputs is not None
        return TaskObjective(
            material.task,
            material.inputs,
            part.batch,
            material.seed,
            fixed=material.steady,
            bucket=bucket(int(material.inputs.lengths.max())),
        )
    if part.objective == "drift":
        return Drift.of(model)
    if part.objective not in known_objectives():
        raise unknown("objective of a regime", part.objective, known_objectives())
    key = (part.batch, part.replacement)
    if key not in passes:
        passes[key] = PairPass(PairBatches(material.text, part.batch, material.seed, part.replacement))
    pairs, layer = passes[key], settings.layer
    if part.objective == "adjustment":
        held = material.reference(model, progress) if settings.target == "frozen" else None
        return Adjustment(pairs, layer, settings.target, settings.reduction, held)
    if part.objective == "anchor":
        return Anchor(pairs, material.reference(model, progress), layer, settings.reduction)
    if part.objective == "contrastive":
        return Contrastive(pairs, layer, temperature=part.temperature)
    return cast(Objective, objectives[part.objective].call(pairs))


def known_objectives() -> list[str]:
    """The objectives that a phase of a regime may name: ours, and those that a user's file brought."""
    brought = [entry.name for entry in objectives if not entry.call.__module__.startswith(objectives.package)]
    return ["task", "drift", *NEED_PAIRS, *brought]


def bucket(longest: int) -> int:
    """The multiple that lengths are padded to so that there are at most twelve, whole tiles of matrices all.

    >>> bucket(128), bucket(384)
    (16, 32)
    """
    return 16 * max(-(-longest // (16 * _SHAPES)), 1)
