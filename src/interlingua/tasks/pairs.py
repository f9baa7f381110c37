"""Classification of pairs of texts: what NLI and paraphrase share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.corpus import Skip
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs, Ranges, frame, framed, longest_first, tokenised
from interlingua.errors import InputError
from interlingua.readers.examples import Examples, TextPair
from interlingua.readers.labelled_pairs import read_pairs
from interlingua.score import Scores
from interlingua.tasks.heads import SentenceHead
from interlingua.tasks.judging import accuracy
from interlingua.tasks.predicting import Floats, Progress, by_input
from interlingua.training.loop import Batch

POOLINGS = ("first", "mean")


@dataclass(frozen=True)
class Classified:
    """The label of each example, as a number among `labels`, and the scores it was chosen by."""

    labels: tuple[str, ...]
    choice: NDArray[np.int64]
    scores: Floats


@dataclass(frozen=True)
class PairTask:
    """What tasks of pairs of texts do alike; each says its name, its labels and how files spell them.

    `pooling` is the vector that the head reads: that of the `first` token, as in papers/001 and 002, or the `mean`.
    """

    length: int = 128
    pooling: str = "first"
    metric: ClassVar[str] = "accuracy"
    kind: ClassVar[str] = "sequence"
    known: ClassVar[tuple[str, ...]]
    spelled: ClassVar[Mapping[str, str]]

    def __post_init__(self) -> None:
        if self.pooling not in POOLINGS:
            raise InputError("unknown pooling", value=self.pooling, remedy=f"Known: {', '.join(POOLINGS)}.")

    def read(self, path: str | Path, language: str) -> Examples[TextPair]:
        return read_pairs(path, language=language, labels=self.spelled)

    def labels(self, examples: Examples[TextPair]) -> tuple[str, ...]:
        return self.known

    def head(self, dim: int, labels: tuple[str, ...], *, dropout: float, activation: str) -> SentenceHead:
        return SentenceHead(dim, len(labels), dropout=dropout, activation=activation, pooling=self.pooling)

    def inputs(
        self, examples: Examples[TextPair], encoder: Encoder, *, labels: tuple[str, ...] | None = None, training: bool
    ) -> Inputs:
        return pair_inputs(examples, encoder, labels=labels or self.known, length=self.length, training=training)

    def loss(self, output: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Cross-entropy summed over the pairs of a batch."""
        return torch.nn.functional.cross_entropy(output.float(), batch["labels"], reduction="sum")

    def predict(
        self,
        model: torch.nn.Module,
        inputs: Inputs,
        *,
        labels: tuple[str, ...] | None = None,
        precision: str | None = None,
        budget: int | None = None,
        progress: Progress | None = None,
    ) -> Classified:
        """The likeliest label of each pair."""
        scores = by_input(
            model, inputs, lambda output, _: output, precision=precision, budget=budget, progress=progress
        )
        return Classified(labels or self.known, scores.argmax(axis=1).astype(np.int64), scores)

    def judge(self, predictions: Classified, examples: Examples[TextPair]) -> Scores:
        """The score `accuracy`."""
        if len(predictions.choice) != len(examples):
            raise InputError(
                f"{len(predictions.choice)} predictions for {len(examples)} examples",
                file=examples.name,
                remedy="Judge predictions on the examples they were made for.",
            )
        return {"accuracy": accuracy(predictions.choice, label_numbers(examples, predictions.labels))}


def pair_inputs(
    examples: Examples[TextPair], encoder: Encoder, *, labels: tuple[str, ...], length: int, training: bool
) -> Inputs:
    """Both texts of each pair in one input of at most `length` tokens; the longer text is cut first, and counted."""
    texts = [text for item in examples for text in (item.first, item.second)]
    tokens, text = tokenised(encoder, texts, spans=False)
    room = min(length, encoder.limit) - frame(encoder.tokenizer, pair=True).special
    if room < 2:
        raise InputError("a pair of texts has no room", value=length, remedy="Give a length of at least 8 tokens.")
    sizes = tokens.lengths[text]
    kept = longest_first(sizes[::2], sizes[1::2], room)
    zero = np.zeros(len(examples), np.int64)
    sides = [Ranges(tokens, text[side::2], zero, kept[side]) for side in (0, 1)]
    inputs = framed(encoder, sides[0], sides[1], owner=np.arange(len(examples)), examples=len(examples))
    cut = np.flatnonzero(sizes[::2] + sizes[1::2] > room)
    places = tuple(f"{examples.name}:{examples[int(row)].line}" for row in cut[:3])
    skipped = (Skip(f"pairs cut to {room} tokens", len(cut), places),) if len(cut) else ()
    gold = {"labels": label_numbers(examples, labels)} if training else {}
    return replace(inputs, row_labels=gold, units=np.ones(len(examples), np.int64), skipped=skipped)


def label_numbers(examples: Examples[TextPair], labels: tuple[str, ...]) -> NDArray[np.int64]:
    """The number of each example's label; one that is not among `labels` is an error."""
    numbers = {name: number for number, name in enumerate(labels)}
    for item in examples:
        if item.label not in numbers:
            raise InputError(
                "a label that the model was not trained on",
                file=examples.name,
                line=item.line,
                value=item.label,
                remedy=f"It knows: {', '.join(labels)}.",
            )
    return np.fromiter((numbers[item.label] for item in examples), np.int64, len(examples))
