"""A phase of a regime trained inside a step: its state survives a kill, its journal stays."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interlingua.encoder import Encoder
from interlingua.studies.lessons import Lesson
from interlingua.studies.linkedtexts import LinkedFiles, LinkedText
from interlingua.studies.scenarios import TransferSettings
from interlingua.studies.stages import Material, Pairs, drawn_pairs, loop_settings, stages
from interlingua.studies.step import Work
from interlingua.studies.steps.given import LINKS, Inputs
from interlingua.tasks.saved_models import FineTuned
from interlingua.training.loop import Monitor
from interlingua.training.processes import is_first_process
from interlingua.training.regime import Phase, Place, Stage, train_stages


@dataclass
class Linked:
    """The linked text of each language, drawn by a seed when it is asked for."""

    encoder: Encoder
    bitexts: Mapping[str, LinkedFiles]
    settings: TransferSettings
    inputs: Inputs
    _texts: dict[str, LinkedText] = field(default_factory=dict)
    _pairs: dict[tuple[str, int], Pairs] = field(default_factory=dict)

    def __call__(self, code: str, seed: int) -> Pairs:
        if code not in self._texts:
            self._texts[code] = self.bitexts[code].read(self.inputs[f"align {code}"] / LINKS)
        if (code, seed) not in self._pairs:
            self._pairs[code, seed] = drawn_pairs(self._texts[code], self.encoder, self.settings.pairs, seed=seed)
        return self._pairs[code, seed]

    @property
    def notes(self) -> list[str]:
        """What was left out of the texts that were trained on."""
        return [f"{code}: {line}" for (code, _), made in self._pairs.items() for line in made.notes]


def stages_of(
    tuned: FineTuned,
    phases: Sequence[Phase],
    lesson: Lesson | None,
    inputs: Any,
    linked: Linked,
    *,
    seed: int,
    precision: str,
    watch: Callable[[int], Monitor] | None = None,
    work: Work,
) -> list[Stage]:
    """The stages of phases; the model must be as it came, because references are made of it."""
    own, device = linked.settings, linked.encoder.device
    like = loop_settings(
        device,
        precision,
        graph=own.graph,
        compile=own.compile,
        checkpoint_every=own.checkpoint_every,
        best=None if watch is None or lesson is None else lesson.task.metric,
    )
    material = Material(
        None if lesson is None else lesson.task,
        inputs,
        tuple(linked.bitexts),
        lambda code: linked(code, seed),
        own.pairs,
        seed,
        precision,
        steady=device.type == "cuda",
    )
    monitors = None if watch is None else {"task": watch}
    return stages(tuned.model, phases, material, like=like, monitors=monitors, progress=work.progress)


def trained(tuned: FineTuned, made: Sequence[Stage], out: Path, work: Work) -> None:
    """Train the stages one after another, going on from the newest checkpoint; the metrics of every step are kept."""
    place = Place(work.state)
    train_stages(tuned.model, made, device=tuned.encoder.device, place=place, progress=work.progress)
    for number, stage in enumerate(made):
        journal = place.journal(number, stage)
        if is_first_process() and journal.is_file():
            shutil.copyfile(journal, out / f"{number + 1}-{stage.name}.jsonl")
    tuned.model.eval()
