"""Labelled examples of tasks: texts, pairs of texts, tagged words, questions; their language, and what was skipped.

Every kind of example has its `texts`, those that a model reads, in order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from interlingua.corpus import Skip
from interlingua.errors import InputError
from interlingua.readers.scripts import foreign_rows


@dataclass(frozen=True, slots=True)
class LabelledText:
    """One text, or two that are read together, and a label; `line` is where they stand in their file."""

    texts: tuple[str, ...]
    label: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two texts and the name of their relation; `line` is where they stand in their file."""

    first: str
    second: str
    label: str
    line: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class TaggedWords:
    """The words of a sentence and a tag for each; `line` is that of the first word."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    line: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        return (" ".join(self.words),)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer's text and where it begins in its paragraph; -1 where it does not stand at the place that is stated."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the paragraph that answers it, and the answers that count as right."""

    id: str
    question: str
    context: str
    answers: tuple[Answer, ...]
    line: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        return self.question, self.context


E = TypeVar("E", LabelledText, TextPair, TaggedWords, Question)


@dataclass(frozen=True)
class Examples(Generic[E]):
    """Examples of one file in the order they stand there.

    `language` is that of the text which is judged (of the paragraph, where question and paragraph differ).

    >>> examples = Examples((TextPair("a", "b", "1"), TextPair("c", "d", "0")), "en", "two.tsv")
    >>> len(examples), examples[1].first, len(examples.sample(1, seed=0))
    (2, 'c', 1)
    """

    items: tuple[E, ...] = field(repr=False)  # A file has thousands.
    language: str
    name: str
    skipped: tuple[Skip, ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[E]:
        return iter(self.items)

    def __getitem__(self, number: int) -> E:
        return self.items[number]

    def take(self, rows: NDArray[np.int64]) -> Examples[E]:
        """The examples at these rows, in this order."""
        return replace(self, items=tuple(self.items[row] for row in rows))

    def sample(self, count: int, *, seed: int) -> Examples[E]:
        """`count` examples drawn without replacement, in file order; all of them where there are fewer."""
        if count >= len(self):
            return self
        return self.take(np.sort(np.random.default_rng(seed).choice(len(self), count, replace=False)))

    @cached_property
    def digest(self) -> str:
        """A hash of language and examples, wherever they stood: the same digest means the same data."""
        state = hashlib.blake2b(self.language.encode(), digest_size=16)
        for item in self.items:
            state.update(repr(replace(item, line=0)).encode("utf-8", "surrogatepass") + b"\0")
        return state.hexdigest()


class Skips:
    """What a reader leaves out, counted by reason, with the first few places of each."""

    def __init__(self, short: str) -> None:
        self._short = short
        self._counts: dict[str, int] = {}
        self._first: dict[str, list[str]] = {}

    def add(self, reason: str, line: int) -> None:
        self._counts[reason] = self._counts.get(reason, 0) + 1
        places = self._first.setdefault(reason, [])
        if len(places) < 3:
            places.append(f"{self._short}:{line}")

    def counted(self) -> tuple[Skip, ...]:
        return tuple(Skip(reason, count, tuple(self._first[reason])) for reason, count in self._counts.items())


def collect_examples(items: list[E], *, language: str, name: str, file: str, skips: Skips) -> Examples[E]:
    """The examples read from a file; none at all is an error."""
    if not items:
        shown = "; ".join(str(skip) for skip in skips.counted())
        raise InputError("no example in the file", file=file, value=shown or None, remedy="Give a file with examples.")
    foreign = foreign_rows(language, map(_text, items))
    notes: list[Skip] = [] if foreign is None else [Skip(f"{foreign.noun}, kept", foreign.count)]
    return Examples(tuple(items), language, name, (*skips.counted(), *notes))


def _text(item: LabelledText | TextPair | TaggedWords | Question) -> str:
    """What is in the language of the examples: of a question its paragraph."""
    return item.context if isinstance(item, Question) else " ".join(item.texts)
