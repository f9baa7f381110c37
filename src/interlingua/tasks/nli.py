"""Natural language inference: does a premise entail a hypothesis, contradict it, or neither (XNLI, MultiNLI)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs
from interlingua.errors import InputError
from interlingua.readers.examples import Examples, TextPair
from interlingua.readers.labelled_pairs import read_pairs
from interlingua.score import Scores
from interlingua.tasks import tasks
from interlingua.tasks.heads import SentenceHead
from interlingua.tasks.pairs import Classified, classify, judge_pairs, pair_inputs, pair_loss
from interlingua.tasks.predicting import Progress
from interlingua.training.loop import Batch
from interlingua.training.task import FineTuning

LABELS = ("entailment", "neutral", "contradiction")
_SPELLED = {name: name for name in LABELS} | {"contradictory": "contradiction"}
_SPELLED |= {str(number): name for number, name in enumerate(LABELS)}


@tasks.register("nli", needs="head")
@dataclass(frozen=True)
class Nli:
    """Natural language inference (XNLI, MultiNLI): accuracy over entailment, neutral and contradiction.

    Premise and hypothesis in one input of at most `length` tokens. Labels are read by name or as numbers in that
    order, as Hugging Face's copies number them.
    """

    length: int = 128
    name: ClassVar[str] = "nli"
    metric: ClassVar[str] = "accuracy"
    kind: ClassVar[str] = "sequence"
    defaults: ClassVar[FineTuning] = FineTuning(learning_rate=5e-5, epochs=2)

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


def mixed(examples: Examples[TextPair], english: Examples[TextPair], *, seed: int) -> Examples[TextPair]:
    """The same pairs, premise or hypothesis of each replaced by its English original, at random (papers/001 §4.2).

    Both sets must be row-parallel. The side is drawn by the seed for each row, each with probability one half.

    >>> spanish = Examples((TextPair("Llueve.", "Hace sol.", "contradiction"),), "es", "es.tsv")
    >>> english = Examples((TextPair("It rains.", "It is sunny.", "contradiction"),), "en", "en.tsv")
    >>> mixed(spanish, english, seed=0)[0]
    TextPair(first='It rains.', second='Hace sol.', label='contradiction', line=0)
    """
    if len(examples) != len(english):
        raise InputError(
            f"{len(examples)} pairs, and {len(english)} in {english.name}",
            file=examples.name,
            remedy="Give two files of one release, whose rows correspond.",
        )
    first = np.random.default_rng(seed).integers(2, size=len(examples)).astype(bool)
    items = []
    for item, original, premise in zip(examples, english, first, strict=True):
        if item.label != original.label:
            raise InputError(
                f"another label than {english.name}:{original.line} has",
                file=examples.name,
                line=item.line,
                value=item.label,
                remedy="Give two files of one release, whose rows correspond.",
            )
        items.append(replace(item, first=original.first) if premise else replace(item, second=original.second))
    name = f"{examples.name} mixed with {english.name}, seed {seed}"
    return Examples(tuple(items), examples.language, name, examples.skipped)
