"""What is explained of examples of each task, and which of it belongs together in two languages."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.attribution.inputs import END, START, Targets, of_answers, of_texts, of_tokens
from interlingua.corpus import Skip
from interlingua.encoder.inputs import Inputs
from interlingua.errors import InputError
from interlingua.readers.examples import Examples
from interlingua.registry import unknown
from interlingua.tasks.ner import entities
from interlingua.tasks.qa import exact, official
from interlingua.tasks.text_pairs import label_numbers

Ints = NDArray[np.int64]
CHOICES = ("gold", "predicted")


@dataclass(frozen=True)
class Aspect:
    """Numbers that are explained under one name: the label of a pair, an answer's start or end, entities.

    `keys` has one for each target; targets of two languages with equal keys belong together.
    """

    name: str
    targets: Targets
    keys: tuple[Hashable, ...]
    skipped: tuple[Skip, ...] = ()


@dataclass(frozen=True)
class Asked:
    """Examples with what a model says of them, and which of both is explained: gold or predicted, on which scale."""

    task: Any
    examples: Examples[Any]
    inputs: Inputs
    predictions: Any
    labels: tuple[str, ...]
    choice: str
    scale: str

    def aspects(self) -> list[Aspect]:
        """The aspects of the task's kind."""
        if self.choice not in CHOICES:
            raise unknown("choice of a target", self.choice, list(CHOICES))
        return {"sequence": self._label, "span": self._ends, "token": self._entities}[self.task.kind]()

    def _label(self) -> list[Aspect]:
        numbers = label_numbers(self.examples, self.labels) if self.choice == "gold" else self.predictions.choice
        return [Aspect("label", of_texts(numbers, scale=self.scale), row_keys(self.examples))]

    def _ends(self) -> list[Aspect]:
        if self.choice == "gold":
            first = [next((each for each in item.answers if each.start >= 0), None) for item in self.examples]
            spans = np.array([(-1, -1) if a is None else (a.start, a.start + len(a.text)) for a in first], np.int64)
        else:
            spans = self.predictions.spans
        row, start, end = _windows_with(self.inputs, spans)
        there = np.flatnonzero(row >= 0)
        lost = np.flatnonzero(row < 0)
        where = tuple(f"{self.examples.name} {self.examples[int(n)].id}" for n in lost[:3])
        skipped = (Skip("questions no window of which holds the answer", len(lost), where),) if len(lost) else ()
        keys = tuple(self.examples[int(n)].id for n in there)
        return [
            Aspect(name, of_answers(row[there], at[there], side, scale=self.scale), keys, skipped)
            for name, at, side in (("start", start, START), ("end", end, END))
        ]

    def _entities(self) -> list[Aspect]:
        words = [tag for item in self.examples for tag in item.tags]
        tags = words if self.choice == "gold" else self.predictions.tags()
        numbers = {tag: number for number, tag in enumerate(self.labels)}
        keys: list[Hashable] = []
        items: list[int] = []
        seen: dict[tuple[int, str], int] = {}
        word = 0
        for number, example in enumerate(self.examples):
            own = tags[word : word + len(example.words)]
            for offset, tag in enumerate(own):
                if tag not in numbers:
                    raise InputError(
                        "a tag that the model was not trained on",
                        file=self.examples.name,
                        line=example.line + offset,
                        value=tag,
                        remedy=f"It knows: {', '.join(self.labels)}.",
                    )
            # As the judge finds them: a model may begin an entity with I-, and so may its data.
            for kind, first, _ in sorted(entities(own), key=lambda entity: entity[1]):
                place = seen[number, kind] = seen.get((number, kind), -1) + 1
                keys.append((number, kind, place))
                items.append(word + first)
            word += len(example.words)
        chosen = np.array(items, np.int64)
        assert self.inputs.items is not None
        readable = np.isin(chosen, self.inputs.items)
        kept = np.flatnonzero(readable)
        targets = of_tokens(
            self.inputs, chosen[kept], np.array([numbers[tags[n]] for n in chosen[kept]], np.int64), scale=self.scale
        )
        lost = int((~readable).sum())
        skipped = (Skip("entities whose first word has no token", lost),) if lost else ()
        return [Aspect("entities", targets, tuple(keys[n] for n in kept), skipped)]


def texts_of(task: Any, examples: Examples[Any]) -> list[tuple[str, ...]]:
    """The texts that each example's input is made of."""
    if task.kind == "sequence":
        return [(item.first, item.second) for item in examples]
    if task.kind == "span":
        return [(item.question, item.context) for item in examples]
    return [(" ".join(item.words),) for item in examples]


def verdicts(task: Any, examples: Examples[Any], predictions: Any) -> list[tuple[str, str]]:
    """What each example is by its file, and what the model says it is, in words; names of a sentence in their order.

    The two are equal where the model is right: an answer that the official script takes for one of several stands for
    them.
    """
    if task.kind == "sequence":
        said = [predictions.labels[number] for number in predictions.choice.tolist()]
        return [(item.label, own) for item, own in zip(examples, said, strict=True)]
    if task.kind == "span":
        cut, pairs = official(examples.language), []
        for item, own in zip(examples, predictions.texts(examples), strict=True):
            known = [answer.text for answer in item.answers]
            pairs.append((own if exact(own, known, cut) else " / ".join(dict.fromkeys(known)), own))
        return pairs
    tags, found = iter(predictions.tags()), []
    for item in examples:
        own = list(islice(tags, len(item.words)))
        found.append((_names(item.words, item.tags), _names(item.words, own)))
    return found


def _names(words: Sequence[str], tags: Sequence[str]) -> str:
    """
    >>> _names(["Ada", "Lovelace", "in", "Rome"], ["B-PER", "I-PER", "O", "B-LOC"])
    'PER Ada Lovelace; LOC Rome'
    """
    ordered = sorted(entities(tags), key=lambda entity: entity[1])
    return "; ".join(f"{kind} {' '.join(words[first : last + 1])}" for kind, first, last in ordered) or "no name"


def row_keys(examples: Examples[Any]) -> tuple[Hashable, ...]:
    """The number of each example's line, by which files of one release correspond whatever was skipped."""
    return tuple(item.line for item in examples)


def by_order(task: Any, source: Examples[Any], target: Examples[Any]) -> bool:
    """Whether rows correspond by their order rather than by line: always for tagged words, and where lines are apart.

    A file of all languages, one block each, has other lines for the same row in each. Neither equal lines nor equal
    counts are an error; so are other labels.
    """
    if task.kind == "span":
        return False
    apart = task.kind == "token" or not {item.line for item in source} & {item.line for item in target}
    if apart and len(source) != len(target):
        raise InputError(
            f"{len(target)} examples, and {len(source)} in {source.name}",
            file=target.name,
            remedy="Give files of one release, whose rows correspond.",
        )
    if task.kind == "sequence":
        lines = {(n if apart else item.line): item for n, item in enumerate(source)}
        for number, item in enumerate(target):
            other = lines.get(number if apart else item.line)
            if other is not None and other.label != item.label:
                raise InputError(
                    f"another label than {source.name}:{other.line} has",
                    file=target.name,
                    line=item.line,
                    value=item.label,
                    remedy="Give files of one release, whose rows correspond.",
                )
    return apart


def matched(source: Sequence[Hashable], target: Sequence[Hashable]) -> tuple[Ints, Ints]:
    """The numbers of the keys that both have, in the order of the source.

    >>> matched(["a", "b", "c"], ["c", "a"])
    (array([0, 2]), array([1, 0]))
    """
    places = {key: number for number, key in enumerate(target)}
    both = [(number, places[key]) for number, key in enumerate(source) if key in places]
    pairs = np.array(both, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _windows_with(inputs: Inputs, spans: Ints) -> tuple[Ints, Ints, Ints]:
    """For each example the input that holds these characters of its paragraph, and their first and last position.

    -1 where there is none; of several windows, that which shows most around them.
    """
    assert inputs.spans is not None
    row, first, last = (np.full(inputs.examples, -1, np.int64) for _ in range(3))
    best = np.full(inputs.examples, -1, np.int64)
    for number in range(len(inputs)):
        owner = int(inputs.owner[number])
        start, end = spans[owner]
        told = inputs.spans[inputs.starts[number] : inputs.starts[number + 1]]
        inside = np.flatnonzero((told[:, 0] < end) & (told[:, 1] > start) & (told[:, 0] >= 0))
        shown = np.flatnonzero(told[:, 0] >= 0)
        if not len(inside) or told[inside[0], 0] > start or told[inside[-1], 1] < end:
            continue
        around = int(min(inside[0] - shown[0], shown[-1] - inside[-1]))
        if around > best[owner]:
            best[owner], row[owner], first[owner], last[owner] = around, number, inside[0], inside[-1]
    return row, first, last
