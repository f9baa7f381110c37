"""What is measured of a trained model in a transfer study: exams, maps, distances; and the records made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs
from interlingua.measures.procrustes import Map
from interlingua.score import Score, Scores
from interlingua.studies.exams import Exam
from interlingua.studies.lessons import Lesson
from interlingua.studies.linkedtexts import LinkedFiles
from interlingua.studies.mapping import fitted, linked_vectors, sentence_vectors
from interlingua.studies.record import Record, versions
from interlingua.studies.scenarios import Scenario, TransferSettings
from interlingua.studies.stages import Pairs
from interlingua.studies.store import Items, Made
from interlingua.tasks.chance import KINDS, chance
from interlingua.tasks.saved_models import FineTuned
from interlingua.training.forward import mapped
from interlingua.training.loop import Monitor
from interlingua.training.monitors import WordDistances
from interlingua.training.task import TaskModel

_MAP_WORDS, _MAP_SENTENCES = 20_000, 5_000
_COUNTS = ("right", "predicted", "gold")


@dataclass(frozen=True)
class Examined:
    """An exam that a model took: its records, and what the model said of each example; None where it has no head."""

    exam: Exam
    made: Made
    predictions: Any | None


@dataclass
class Examiner:
    """Measures a model of a study; `linked` gives the linked text of a language and seed.

    `through` is another encoder that reads the exams of mapped regimes in the place of the model's own (papers/000
    Fig. 5): its vectors go through a map to the model's head.
    """

    encoder: Encoder
    lesson: Lesson
    settings: TransferSettings
    bitexts: Mapping[str, LinkedFiles]
    exams: tuple[Exam, ...]
    precision: str
    linked: Callable[[str, int], Pairs]
    through: Encoder | None = None

    @cached_property
    def train_inputs(self) -> Inputs | None:
        return None if self.lesson.train is None else self._inputs_of(self.lesson.train, training=True)

    @cached_property
    def dev_inputs(self) -> Inputs | None:
        return None if self.lesson.dev is None else self._inputs_of(self.lesson.dev, training=False)

    @property
    def trained_without(self) -> list[str]:
        """What training does not see as it was meant: of the model's folder, and of examples to train and choose by."""
        parts = [each.skipped for each in (self.lesson.train, self.lesson.dev) if each is not None]
        parts += [each.skipped for each in (self.train_inputs, self.dev_inputs) if each is not None]
        return list(dict.fromkeys([*self.encoder.layer_notes, *(str(skip) for part in parts for skip in part)]))

    @cached_property
    def exam_inputs(self) -> dict[str, Inputs]:
        """The inputs of every exam that a head takes, by digest."""
        taken = [] if self.lesson.headless else [e for e in self.exams if e.task.name == self.lesson.task.name]
        return {exam.digest: self._inputs_of(exam.examples, training=False) for exam in taken}

    def _inputs_of(self, examples: Any, *, training: bool) -> Inputs:
        reader = self.encoder if training or self.through is None else self.through
        inputs: Inputs = self.lesson.task.inputs(examples, reader, labels=self.lesson.labels, training=training)
        return inputs

    def watch(self, epoch: int) -> Monitor:
        """The task's metric on the examples for choosing, after every epoch of so many steps."""
        inputs, task = self.dev_inputs, self.lesson.task

        def measure(model: torch.nn.Module) -> dict[str, float]:
            said = task.predict(model, inputs, labels=self.lesson.labels, precision=self.precision)
            return {task.metric: task.judge(said, self.lesson.dev)[task.metric].value}

        return Monitor(epoch, measure)

    def examine(self, tuned: FineTuned, scenario: Scenario, exam: Exam, seed: int) -> Examined:
        """The records of an exam that a model takes, and its predictions."""
        said = None
        if exam.task.name == "retrieval":
            scores = exam.task.judge(exam.task.predict(tuned.encoder, exam.examples), exam.examples)
        elif scenario.mapped:
            model = tuned.model if self.through is None else TaskModel(self.through.model, tuned.model.head)
            control = scenario.mapped if isinstance(scenario.mapped, str) else None
            with mapped(model, self._map(tuned, exam.judged, seed, control)):
                said = self._said(model, exam)
        else:
            said = self._said(tuned.model, exam)
        if said is not None:
            scores = self._judged(said, exam)
        spoken = list(scenario.spoken)
        shared = Record(
            exam.task.name,
            "",
            self.encoder.name,
            self.settings.source,
            0.0,
            0,
            target=exam.judged,
            target_model=None if self.through is None else self.through.name,
            unit="example",
            seed=seed,
            corpus=exam.examples.name,
            digests=self._digests(spoken) | {"test": exam.digest},
            details={"regime": scenario.regime, "test": exam.name, "bitexts": spoken},
            versions=versions(),
        )
        return Examined(exam, _records(scores, shared), said)

    def _said(self, model: torch.nn.Module, exam: Exam) -> Any:
        inputs = self.exam_inputs[exam.digest]
        return exam.task.predict(model, inputs, labels=self.lesson.labels, precision=self.precision)

    def _judged(self, said: Any, exam: Exam) -> Scores:
        """The exam's scores, and in the details of the task's own metric the chance level."""
        task, scores = exam.task, dict(exam.task.judge(said, exam.examples))
        own = scores.get(task.metric)
        if own is not None and getattr(task, "kind", None) in KINDS:
            told = chance(task, said, exam.examples, self.lesson.labels, own)
            scores[task.metric] = replace(own, details={**own.details, "chance": told})
        return scores

    def _map(self, tuned: FineTuned, code: str, seed: int, control: str | None) -> Map:
        """From the language's vectors to those of the language of training, at this model's last layer."""
        return fitted(*self._vectors(tuned, code, seed), control=control, seed=seed)

    def _vectors(self, tuned: FineTuned, code: str, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Of words or sentences that translate each other, the language of training first."""
        pairs = self.linked(code, seed)
        if self.settings.map_on == "words" and self.through is None:
            words = WordDistances(pairs.trained, most=_MAP_WORDS, precision=self.precision, seed=seed)
            english, theirs, _ = words.vectors(tuned.model)
            return english, theirs
        encoders = (tuned.encoder, self.through or tuned.encoder)
        if self.settings.map_on == "words":
            return linked_vectors(pairs.text, encoders, most=_MAP_WORDS, seed=seed)
        return sentence_vectors(pairs.text, encoders, most=_MAP_SENTENCES)

    def distances(self, tuned: FineTuned, state: str, spoken: tuple[str, ...], code: str, seed: int) -> Made:
        """The records of related and unrelated words of a language, on rows that were not trained on."""
        layer = self.settings.pairs.layer
        words = WordDistances(self.linked(code, seed).held, layer, precision=self.precision, seed=seed)
        shared = Record(
            "distances",
            "",
            self.encoder.name,
            self.settings.source,
            0.0,
            0,
            target=code,
            layer=tuned.encoder.layers[layer],
            unit="word",
            seed=seed,
            corpus=self.bitexts[code].files[0].name,
            digests=self._digests([code, *(other for other in spoken if other != code)]),
            details={"state": state, "bitexts": list(spoken)},
            versions=versions(),
        )
        return _records(words(tuned.model), shared)

    def _digests(self, spoken: list[str]) -> dict[str, str]:
        train = {} if self.lesson.train is None else {"train": self.lesson.train.digest}
        told = {f"bitext {code}": self.bitexts[code].digest for code in spoken}
        other = {} if self.through is None else {"target_model": self.through.digest}
        return {"model": self.encoder.digest, **other, **train, **told}


def _records(scores: Scores, shared: Record) -> Made:
    """Scores as records like `shared`; the counts that an F1 is made of go with the items, not into the line."""
    made: Made = []
    for variant, score in scores.items():
        items, details = _items(score)
        own = {
            "variant": variant,
            "value": score.value,
            "n": score.n,
            "null": score.null,
            "low": score.low,
            "high": score.high,
            "layer": int(variant.split("/layer ")[1].split("/")[0]) if "/layer " in variant else shared.layer,
            "details": {**shared.details, **details},
        }
        made.append((Record(**{**vars(shared), **own}), items))
    return made


def _items(score: Score) -> tuple[Items | None, dict[str, Any]]:
    """The per-item values of a score: a value an item or, of an F1, (3, item) counts; and its other details."""
    if score.items is None and all(name in score.details for name in _COUNTS):
        rest = {name: value for name, value in score.details.items() if name not in _COUNTS}
        return np.array([score.details[name] for name in _COUNTS], np.float64), rest
    return score.items, dict(score.details)
