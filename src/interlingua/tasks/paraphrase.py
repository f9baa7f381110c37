"""Paraphrase identification: do two sentences of like words mean the same (PAWS-X)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch

from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs
from interlingua.readers.examples import Examples, TextPair
from interlingua.readers.labelled_pairs import read_pairs
from interlingua.score import Scores
from interlingua.tasks import tasks
from interlingua.tasks.heads import SentenceHead
from interlingua.tasks.pairs import Classified, classify, judge_pairs, pair_inputs, pair_loss
from interlingua.tasks.predicting import Progress
from interlingua.training.loop import Batch
from interlingua.training.task import FineTuning

LABELS = ("different", "paraphrase")
_SPELLED = {name: name for name in LABELS} | {str(number): name for number, name in enumerate(LABELS)}


@tasks.register("paraphrase", needs="head")
@dataclass(frozen=True)
class Paraphrase:
    """Paraphrase identification (PAWS-X): accuracy over different (0) and paraphrase (1).

    Both sentences in one input of at most `length` tokens. Defaults are XTREME's (Hu et al. 2020).
    """

    length: int = 128
    name: ClassVar[str] = "paraphrase"
    metric: ClassVar[str] = "accuracy"
    kind: ClassVar[str] = "sequence"
    defaults: ClassVar[FineTuning] = FineTuning(learning_rate=2e-5, epochs=5)

    def read(self, path: str | Path, language: str) -> Examples[TextPair]:
        return read_pairs(path, language=language, labels=_SPELLED)

    def labels(self, examples: Examples[TextPair]) -> tuple[str, ...]:
        return LABELS

    def head(self, dim: int, labels: tuple[str, ...], *, dropout: float, activation: str) -> SentenceHead:
        return SentenceHead(dim, len(labels), dropout=dropout, activation=activation)

    def inputs(
        self, examples: Examples[TextPair], encoder: Encoder, *, labels: tuple[str, ...] = LABELS, training: bool
    ) -> Inputs:
        return pair_inputs(examples, encoder, labels=labels, length=self.length, training=training)

    def loss(self, output: torch.Tensor, batch: Batch) -> torch.Tensor:
        return pair_loss(output, batch)

    def predict(
        self,
        model: torch.nn.Module,
        inputs: Inputs,
        *,
        labels: tuple[str, ...] = LABELS,
        budget: int | None = None,
        progress: Progress | None = None,
    ) -> Classified:
        return classify(model, inputs, labels=labels, budget=budget, progress=progress)

    def judge(self, predictions: Classified, examples: Examples[TextPair]) -> Scores:
        return judge_pairs(predictions, examples)
