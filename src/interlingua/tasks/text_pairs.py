"""Tasks with a label for a text or two; of them NLI (three labels, mixed languages) and paraphrase (two)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import special

from interlingua.corpus import Skip
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs, Ranges, build_inputs, frame, longest_first, tokenised
from interlingua.errors import InputError
from interlingua.metric import Metric, Metrics
from interlingua.readers.examples import Examples, TextPair
from interlingua.readers.labelled_pairs import read_pairs
from interlingua.score import Scores
from interlingua.tasks import tasks
from interlingua.tasks.heads import SentenceHead
from interlingua.tasks.predictions import Floats, Progress, accuracy, by_input, round_probabilities
from interlingua.training.loop import Batch
from interlingua.training.task import FineTuning, check_typed

POOLINGS = ("first", "mean")


@dataclass(frozen=True)
class ClassPredictions:
    """The label of each example, as a number among `labels`, and the scores it was chosen by."""

    labels: tuple[str, ...]
    choice: NDArray[np.int64]
    scores: Floats

    def posteriors(self) -> dict[str, NDArray[Any]]:
        """The label probabilities (example, label) as arrays for a file: `labels` and `probabilities`."""
        probabilities = round_probabilities(special.softmax(self.scores.astype(np.float64), axis=1), self.choice)
        return {"labels": np.array(self.labels), "probabilities": probabilities}


METRICS = Metrics(
    (
        Metric(
            name="accuracy",
            title="Accuracy",
            display="percent",
            null="its own answers, shuffled among examples",
            headline=True,
        ),
    )
)


@dataclass(frozen=True)
class TextTask:
    """What tasks with a label for each example do alike, whose examples are one text or two (`texts`, `label`).

    `pooling` is the vector that the head reads: that of the `first` token, as in papers/001 and 002, or the `mean`.
    """

    length: int = 128
    pooling: str = "first"
    metric: ClassVar[str] = "accuracy"
    kind: ClassVar[str] = "sequence"
    known: ClassVar[tuple[str, ...]] = ()
    """The labels of a task that has the same in every file; none where they are those of the training examples."""

    def __post_init__(self) -> None:
        if self.pooling not in POOLINGS:
            raise InputError("unknown pooling", value=self.pooling, remedy=f"Known: {', '.join(POOLINGS)}.")

    def head(self, dim: int, labels: tuple[str, ...], *, dropout: float, activation: str) -> SentenceHead:
        return SentenceHead(dim, len(labels), dropout=dropout, activation=activation, pooling=self.pooling)

    def inputs(
        self, examples: Examples[Any], encoder: Encoder, *, labels: tuple[str, ...] | None = None, training: bool
    ) -> Inputs:
        return text_inputs(examples, encoder, labels=labels or self.known, length=self.length, training=training)

    def loss(self, output: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Cross-entropy summed over the examples of a batch."""
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
    ) -> ClassPredictions:
        """The likeliest label of each example."""
        scores = by_input(
            model, inputs, lambda output, _: output, precision=precision, budget=budget, progress=progress
        )
        return ClassPredictions(labels or self.known, scores.argmax(axis=1).astype(np.int64), scores)


@dataclass(frozen=True)
class PairTask(TextTask):
    """What tasks of pairs of texts do alike; each says its name, its labels and how files spell them."""

    reads: ClassVar[tuple[str, ...]] = ("first text", "second text")
    spelled: ClassVar[Mapping[str, str]]

    def read(self, path: str | Path, language: str) -> Examples[TextPair]:
        return read_pairs(path, language=language, labels=self.spelled)

    def labels(self, examples: Examples[TextPair]) -> tuple[str, ...]:
        return self.known

    def example(self, texts: Sequence[str]) -> TextPair:
        check_typed(texts, self.reads)
        first, second = texts
        return TextPair(first, second, "", 1)

    def judge(self, predictions: ClassPredictions, examples: Examples[Any]) -> Scores:
        """The score `accuracy`."""
        return {"accuracy": accuracy(predictions.choice, gold_numbers(predictions, examples))}


def text_inputs(
    examples: Examples[Any], encoder: Encoder, *, labels: tuple[str, ...], length: int, training: bool
) -> Inputs:
    """The text, or both texts, of each example in one input of at most `length` tokens.

    What is longer is cut, of two texts the longer one first, and counted.
    """
    counts = {len(item.texts) for item in examples}
    if len(counts) != 1 or not counts <= {1, 2}:
        raise InputError(
            "examples of one text and of two", file=examples.name, remedy="Give the same number of texts in every row."
        )
    pair = counts == {2}
    tokens, text = tokenised(encoder, [text for item in examples for text in item.texts], spans=False)
    room = min(length, encoder.limit) - frame(encoder.tokenizer, pair=pair).special
    if room < 1 + pair:
        what = "a pair of texts" if pair else "a text"
        raise InputError(f"{what} has no room", value=length, remedy="Give a length of at least 8 tokens.")
    sizes = tokens.lengths[text]
    zero, rows = np.zeros(len(examples), np.int64), np.arange(len(examples))
    if pair:
        kept = longest_first(sizes[::2], sizes[1::2], room)
        sides = [Ranges(tokens, text[side::2], zero, kept[side]) for side in (0, 1)]
        inputs = build_inputs(encoder, sides[0], sides[1], owner=rows, examples=len(examples))
        cut = np.flatnonzero(sizes[::2] + sizes[1::2] > room)
    else:
        inputs = build_inputs(
            encoder, Ranges(tokens, text, zero, np.minimum(sizes, room)), None, owner=rows, examples=len(examples)
        )
        cut = np.flatnonzero(sizes > room)
        if (empty := np.flatnonzero(inputs.lengths == 0)).size:
            item = examples[int(empty[0])]
            raise InputError(
                "the tokenizer turns a text into nothing",
                file=examples.name,
                line=item.line,
                value=item.texts[0],
                remedy="Leave that row out.",
            )
    places = tuple(f"{examples.name}:{examples[int(row)].line}" for row in cut[:3])
    skipped = (Skip(f"{'pairs' if pair else 'texts'} cut to {room} tokens", len(cut), places),) if len(cut) else ()
    gold = {"labels": label_numbers(examples, labels)} if training else {}
    return replace(inputs, row_labels=gold, units=np.ones(len(examples), np.int64), skipped=skipped)


def gold_numbers(predictions: ClassPredictions, examples: Examples[Any]) -> NDArray[np.int64]:
    """The number of each example's label among those of predictions that were made for these examples."""
    if len(predictions.choice) != len(examples):
        raise InputError(
            f"{len(predictions.choice)} predictions for {len(examples)} examples",
            file=examples.name,
            remedy="Judge predictions on the examples they were made for.",
        )
    return label_numbers(examples, predictions.labels)


def label_numbers(examples: Examples[Any], labels: tuple[str, ...]) -> NDArray[np.int64]:
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


NLI_LABELS = ("entailment", "neutral", "contradiction")
_NLI_SPELLED = {name: name for name in NLI_LABELS} | {"contradictory": "contradiction"}
_NLI_SPELLED |= {str(number): name for number, name in enumerate(NLI_LABELS)}


@tasks.register("nli", needs="head", metrics=METRICS)
@dataclass(frozen=True)
class Nli(PairTask):
    """Natural language inference (XNLI, MultiNLI): accuracy over entailment, neutral and contradiction.

    Premise and hypothesis in one input of at most `length` tokens. Labels are read as names or as numbers in that
    order, as Hugging Face's copies number them.
    """

    name: ClassVar[str] = "nli"
    defaults: ClassVar[FineTuning] = FineTuning(learning_rate=5e-5, epochs=2)
    known: ClassVar[tuple[str, ...]] = NLI_LABELS
    spelled: ClassVar[Mapping[str, str]] = _NLI_SPELLED


def mix_with_english(examples: Examples[TextPair], english: Examples[TextPair], *, seed: int) -> Examples[TextPair]:
    """The same pairs, premise or hypothesis of each replaced by its English original, at random (papers/001 §4.2).

    Both sets must be row-parallel. The side is drawn by the seed for each row, each with probability one half.

    >>> spanish = Examples((TextPair("Llueve.", "Hace sol.", "contradiction"),), "es", "es.tsv")
    >>> english = Examples((TextPair("It rains.", "It is sunny.", "contradiction"),), "en", "en.tsv")
    >>> mix_with_english(spanish, english, seed=0)[0]
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


PARAPHRASE_LABELS = ("different", "paraphrase")
_PARAPHRASE_SPELLED = {name: name for name in PARAPHRASE_LABELS} | {
    str(number): name for number, name in enumerate(PARAPHRASE_LABELS)
}


@tasks.register("paraphrase", needs="head", metrics=METRICS)
@dataclass(frozen=True)
class Paraphrase(PairTask):
    """Paraphrase identification (PAWS-X): accuracy over different (0) and paraphrase (1).

    Both sentences in one input of at most `length` tokens. Defaults are XTREME's (Hu et al. 2020).
    """

    name: ClassVar[str] = "paraphrase"
    defaults: ClassVar[FineTuning] = FineTuning(learning_rate=2e-5, epochs=5)
    known: ClassVar[tuple[str, ...]] = PARAPHRASE_LABELS
    spelled: ClassVar[Mapping[str, str]] = _PARAPHRASE_SPELLED
