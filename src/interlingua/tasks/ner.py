"""Named entities: tags for words, entities from tags, and F1 of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.corpus import Skip
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import IGNORED, Inputs, Ranges, build_inputs, frame
from interlingua.encoder.tokens import Windows, covering_windows, windows
from interlingua.errors import InputError
from interlingua.metric import Metric, Metrics
from interlingua.readers.examples import Examples, TaggedWords
from interlingua.readers.tagged_words import read_tagged
from interlingua.registry import unknown
from interlingua.score import Score, Scores
from interlingua.tasks import tasks
from interlingua.tasks.heads import TokenHead
from interlingua.tasks.predictions import Probabilities, Progress, accuracy, by_token, f1, round_probabilities
from interlingua.training.loop import Batch
from interlingua.training.task import FineTuning, check_typed
from interlingua.words import lacks_segmenter, token_spans

Entity = tuple[str, int, int]


def entities(tags: Sequence[str], *, strict: bool = False) -> set[Entity]:
    """The entities of a sentence: (type, first word, last word), as seqeval 1.2 finds them in IOB2 tags.

    By default an I- that continues nothing begins an entity, as in the CoNLL evaluation script; `strict` (seqeval's
    `mode="strict", scheme=IOB2`) has an entity begin with B- alone, so such an I- belongs to none.

    >>> sorted(entities(["B-PER", "I-PER", "I-LOC", "O", "I-LOC"]))
    [('LOC', 2, 2), ('LOC', 4, 4), ('PER', 0, 1)]
    >>> sorted(entities(["B-PER", "I-PER", "I-LOC", "O", "I-LOC"], strict=True))
    [('PER', 0, 1)]
    """
    found: set[Entity] = set()
    kind, begin = "", -1
    for place, tag in enumerate([*tags, "O"]):
        goes_on = tag[:1] == "I" and begin >= 0 and tag[2:] == kind
        if goes_on:
            continue
        if begin >= 0:
            found.add((kind, begin, place - 1))
        opens = tag[:1] == "B" or (tag[:1] == "I" and not strict)
        kind, begin = (tag[2:], place) if opens else ("", -1)
    return found


Ints = NDArray[np.int64]
OVERFLOW = ("window", "cut")


@dataclass(frozen=True)
class TagPredictions:
    """The tag of each word, sentence after sentence, as a number among `labels`; -1 where a word could not be read."""

    labels: tuple[str, ...]
    choice: Ints
    probabilities: Probabilities | None = None
    """Of each label for each word (word, label); zeros for a word that could not be read."""

    def posteriors(self) -> dict[str, NDArray[Any]]:
        """The tag posteriors as arrays for a file: `labels` and `probabilities`."""
        if self.probabilities is None:
            return {}
        return {"labels": np.array(self.labels), "probabilities": self.probabilities}

    def tags(self) -> list[str]:
        """The names of the tags; a word that could not be read is outside of all entities."""
        return ["O" if number < 0 else self.labels[number] for number in self.choice.tolist()]


METRICS = Metrics(
    (
        Metric(
            name="f1",
            title="F1 of whole entities",
            display="percent",
            options={"of": ("entity",), "matching": ("lenient", "strict")},
        ),
        Metric(
            name="f1",
            title="F1 of tagged words",
            display="percent",
            null="its own tags, shuffled among words",
            options={"of": ("token",)},
            headline=True,
        ),
        Metric(
            name="accuracy",
            title="Accuracy of tags",
            display="percent",
            null="its own tags, shuffled among words",
            options={"of": ("token",)},
        ),
    )
)


@tasks.register("ner", needs="head", metrics=METRICS)
@dataclass(frozen=True)
class Ner:
    """Named entity recognition (PAN-X, CoNLL): token-level micro-F1, and entity-level F1 as seqeval has it.

    A word is tagged by its first sub-token. Sentences longer than `length` tokens are read in windows that overlap by
    a quarter, each word in the one that shows most around it. `overflow="cut"` trains on the first window alone, as the
    usual scripts do, and counts the words beyond; predictions are made for every word. `columns` names the columns of
    the files, such as ("index", "word", "tag"); by default they are detected.
    """

    length: int = 128
    overflow: str = "window"
    columns: tuple[str, ...] | None = None
    name: ClassVar[str] = "ner"
    metric: ClassVar[str] = "f1/token"
    reads: ClassVar[tuple[str, ...]] = ("sentence",)
    kind: ClassVar[str] = "token"
    defaults: ClassVar[FineTuning] = FineTuning(learning_rate=2e-5, epochs=3)

    def __post_init__(self) -> None:
        if self.overflow not in OVERFLOW:
            raise unknown("way with long sentences", self.overflow, list(OVERFLOW))

    def read(self, path: str | Path, language: str) -> Examples[TaggedWords]:
        return read_tagged(path, language=language, columns=self.columns)

    def labels(self, examples: Examples[TaggedWords]) -> tuple[str, ...]:
        """O, then B- and I- of each type that occurs, alphabetically."""
        types = sorted({tag[2:] for item in examples for tag in item.tags if tag != "O"})
        if not types:
            raise InputError("no entity in the examples", file=examples.name, remedy="Give sentences with entities.")
        return ("O", *(f"{mark}-{name}" for name in types for mark in "BI"))

    def example(self, texts: Sequence[str]) -> TaggedWords:
        check_typed(texts, self.reads)
        (text,) = texts
        words = tuple(text[start:end] for start, end in token_spans(text, segmented=lacks_segmenter(text) is None))
        return TaggedWords(words, tuple("O" for _ in words), 1)

    def head(self, dim: int, labels: tuple[str, ...], *, dropout: float, activation: str) -> TokenHead:
        return TokenHead(dim, len(labels), dropout=dropout)

    def inputs(
        self, examples: Examples[TaggedWords], encoder: Encoder, *, labels: tuple[str, ...], training: bool
    ) -> Inputs:
        texts = [" ".join(item.words) for item in examples]
        tokens = encoder.tokeniser(texts, spans=True, words=False)
        assert tokens.spans is not None
        longest = max(len(text) for text in texts)
        row, first, last, _ = covering_windows(
            [_spans(item) for item in examples], tokens.starts, tokens.spans, longest=longest
        )
        shape = frame(encoder.tokenizer, pair=False)
        room = min(self.length, encoder.limit) - shape.special
        if room < 1:
            raise InputError("a sentence has no room", value=self.length, remedy="Give a length of at least 8 tokens.")
        plan = windows(tokens.lengths, room)
        if training and self.overflow == "cut":
            plan = _first_only(plan)
        inputs = build_inputs(
            encoder, Ranges(tokens, plan.row, plan.begin, plan.lengths), None, owner=plan.row, examples=len(examples)
        )
        read = last > first
        window, inside = _owners(plan, row, first)
        placed = np.flatnonzero(read & inside)
        at = inputs.starts[window[placed]] + len(shape.before) + first[placed] - plan.begin[window[placed]]
        items = np.full(len(inputs.ids), -1, np.int64)
        items[at] = placed
        units = np.bincount(window[placed], minlength=len(plan.row))
        skipped = _lost(examples, row, read, inside)
        marks = {"labels": _gold(examples, items, labels)} if training else {}
        return replace(
            inputs, items=items, item_count=len(row), token_labels=marks, units=units, spans=None, skipped=skipped
        )

    def loss(self, output: torch.Tensor, batch: Batch) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(
            output.flatten(0, 1).float(), batch["labels"].flatten(), ignore_index=IGNORED, reduction="sum"
        )

    def predict(
        self,
        model: torch.nn.Module,
        inputs: Inputs,
        *,
        labels: tuple[str, ...],
        precision: str | None = None,
        budget: int | None = None,
        progress: Progress | None = None,
    ) -> TagPredictions:
        best, sure = by_token(model, inputs, labels=len(labels), precision=precision, budget=budget, progress=progress)
        assert inputs.items is not None
        choice = np.full(inputs.item_count, -1, np.int64)
        probabilities = np.zeros((inputs.item_count, len(labels)), np.float16)
        read = inputs.items >= 0
        choice[inputs.items[read]] = best[read]
        probabilities[inputs.items[read]] = sure[read]
        return TagPredictions(labels, choice, round_probabilities(probabilities, choice))

    def judge(self, predictions: TagPredictions, examples: Examples[TaggedWords]) -> Scores:
        """`f1/token`, `accuracy/token`, `f1/entity` and `f1/entity/strict`.

        `f1/token` is micro-averaged over the tags other than O (papers/001 §4.3): with a word right where its tag is
        gold and not O, F1 = 2 · right / (words tagged + words of entities). Its null is exact over shuffled
        predictions. `f1/entity` counts whole entities, as seqeval does by default, `…/strict` as its strict mode does.
        """
        counts = np.fromiter((len(item.words) for item in examples), np.int64, len(examples))
        if counts.sum() != len(predictions.choice):
            raise InputError(
                f"predictions for {len(predictions.choice)} words, and {counts.sum()} words in the examples",
                file=examples.name,
                remedy="Judge predictions on the examples they were made for.",
            )
        ends = np.cumsum(counts)
        said = predictions.tags()
        there = [tag for item in examples for tag in item.tags]
        scores = _token_scores(said, there, np.repeat(np.arange(len(examples)), counts), len(examples))
        for name, strict in (("f1/entity", False), ("f1/entity/strict", True)):
            found = []
            for item, end in zip(examples, ends, strict=True):
                ours = entities(said[end - len(item.words) : end], strict=strict)
                gold = entities(item.tags, strict=strict)
                found.append((len(ours & gold), len(ours), len(gold)))
            scores[name] = f1(*np.array(found).T)
        return scores


def wrong_sentences(predictions: TagPredictions, examples: Examples[TaggedWords]) -> Score:
    """The share of sentences in which any word's tag is wrong, in [0, 1], 0 is best; `items` are 1 where one is.

    papers/003 §3.2 counts "the number of sentences where the model was wrong". The null is exact over predictions
    shuffled among sentences: 1 - the sum over sequences of tags of the share predicted times the share of gold. The
    interval is Wilson's.
    """
    said, at = predictions.tags(), 0
    numbers: dict[tuple[str, ...], int] = {}
    sides = np.zeros((2, len(examples)), np.int64)
    for row, item in enumerate(examples):
        for side, tags in enumerate((tuple(said[at : at + len(item.words)]), tuple(item.tags))):
            sides[side, row] = numbers.setdefault(tags, len(numbers))
        at += len(item.words)
    right = accuracy(*sides)
    assert right.items is not None
    assert None not in (right.null, right.low, right.high)
    null, low, high = (1 - float(value or 0.0) for value in (right.null, right.high, right.low))
    return Score(1 - right.value, right.n, null, low, high, 1 - right.items)


def _token_scores(said: list[str], there: list[str], sentence: Ints, sentences: int) -> Scores:
    numbers = {"O": 0}
    ours, gold = (
        np.fromiter((numbers.setdefault(tag, len(numbers)) for tag in tags), np.int64, len(tags))
        for tags in (said, there)
    )
    parts = ((ours == gold) & (gold > 0), ours > 0, gold > 0)
    score = f1(*(np.bincount(sentence, weights=part, minlength=sentences).astype(np.int64) for part in parts))
    size = len(numbers)
    by_chance = float(np.bincount(ours, minlength=size)[1:] @ np.bincount(gold, minlength=size)[1:]) / len(gold)
    null = 2 * by_chance / max(int(parts[1].sum() + parts[2].sum()), 1)
    return {"f1/token": replace(score, null=null), "accuracy/token": accuracy(ours, gold)}


def _spans(item: TaggedWords) -> list[tuple[int, int]]:
    """Where each word stands in the sentence that is read: the words with one space between them."""
    ends = accumulate(len(word) + 1 for word in item.words)
    return [(end - len(word) - 1, end - 1) for word, end in zip(item.words, ends, strict=True)]


def _first_only(plan: Windows) -> Windows:
    keep = plan.begin == 0
    return Windows(plan.row[keep], plan.begin[keep], plan.end[keep], plan.own[keep], plan.end[keep])


def _owners(plan: Windows, row: Ints, token: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """The window that owns each token of each text, and whether there is one."""
    wide = 1 + int(max(plan.end.max(), token.max(initial=0)))
    window = np.searchsorted(plan.row * wide + plan.own, row * wide + token, side="right") - 1
    return window, token < plan.own_end[window]


def _lost(
    examples: Examples[TaggedWords], row: Ints, read: NDArray[np.bool_], inside: NDArray[np.bool_]
) -> tuple[Skip, ...]:
    found = []
    for reason, lost in (
        ("words that the tokenizer turns into nothing", ~read),
        ("words beyond the first window", read & ~inside),
    ):
        if lost.any():
            where = tuple(f"{examples.name}:{examples[int(number)].line}" for number in row[lost][:3])
            found.append(Skip(reason, int(lost.sum()), where))
    return tuple(found)


def _gold(examples: Examples[TaggedWords], items: Ints, labels: tuple[str, ...]) -> NDArray[np.int16]:
    """The number of the tag of every token that stands for a word, `IGNORED` elsewhere."""
    numbers = {tag: number for number, tag in enumerate(labels)}
    for item in examples:
        for offset, tag in enumerate(item.tags):
            if tag not in numbers:
                raise InputError(
                    "a tag that the model is not trained on",
                    file=examples.name,
                    line=item.line + offset,
                    value=tag,
                    remedy=f"It knows: {', '.join(labels)}.",
                )
    gold = np.fromiter((numbers[tag] for item in examples for tag in item.tags), np.int16)
    return np.where(items >= 0, gold[items], np.int16(IGNORED))
