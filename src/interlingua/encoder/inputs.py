"""Texts and pairs of texts as a model reads them for a task: ragged arrays made once, batches padded from them.

Special tokens are the tokenizer's own: how it frames a text or a pair is read off a probe, so that ids are put
together by array operations and are those that the tokenizer gives for the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.corpus import Skip
from interlingua.encoder.encoder import Encoder
from interlingua.encoder.pooling import to_device
from interlingua.encoder.tokens import TokenisedTexts
from interlingua.errors import InputError

Ints = NDArray[np.int64]
IGNORED = -100
"""The label of positions that are not trained on, as in `torch.nn.functional.cross_entropy`."""


@dataclass(frozen=True)
class SpecialTokenTemplate:
    """What a tokenizer puts before a text, between two texts and after them, and the token types of all five parts."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: tuple[tuple[int, ...], int, tuple[int, ...], int, tuple[int, ...]]

    @property
    def special(self) -> int:
        """The number of special tokens."""
        return len(self.before) + len(self.between) + len(self.after)

    @property
    def reads_first(self) -> bool:
        """Whether the first token stands for the whole text: so where specials open and close it, as [CLS] and [SEP].

        Otherwise the last token does: a decoder has read all of the text there alone, and T5 ends with its own.
        """
        return bool(self.before) and bool(self.after)


def frame(tokenizer: Any, *, pair: bool) -> SpecialTokenTemplate:
    """How the tokenizer frames one text, or a pair."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    size = len(bare)
    made = tokenizer(*(("a", "a") if pair else ("a",)), add_special_tokens=True)
    ids = list(made["input_ids"])
    types = list(made["token_type_ids"]) if "token_type_ids" in made else [0] * len(ids)
    at = [place for place in range(len(ids) - size + 1) if ids[place : place + size] == bare]
    wanted = 2 if pair else 1
    if not bare or len(at) < wanted:
        raise InputError(
            "the tokenizer changes a text when it adds special tokens",
            value=type(tokenizer).__name__,
            remedy="Report it to us.",
        )
    first, second = at[0], at[-1] if pair else at[0] + size
    middle, end = first + size, second + size if pair else second
    return SpecialTokenTemplate(
        tuple(ids[:first]),
        tuple(ids[middle:second]),
        tuple(ids[end:]),
        (
            tuple(types[:first]),
            types[first],
            tuple(types[middle:second]),
            types[second] if pair else 0,
            tuple(types[end:]),
        ),
    )


@dataclass(frozen=True)
class Ranges:
    """Parts of tokenised texts: range i is tokens `begin[i]:begin[i] + length[i]` of text `text[i]` of `tokens`."""

    tokens: TokenisedTexts
    text: Ints
    begin: Ints
    length: Ints

    @classmethod
    def whole(cls, tokens: TokenisedTexts, text: Ints) -> Ranges:
        return cls(tokens, text, np.zeros(len(text), np.int64), tokens.lengths[text])

    @property
    def places(self) -> Ints:
        """Where the tokens of all ranges stand in the flat arrays, range after range."""
        return expand_ranges(self.tokens.starts[self.text] + self.begin, self.length)


@dataclass(frozen=True)
class Inputs:
    """What a model reads, end to end: input i is `ids[starts[i]:starts[i + 1]]`, part of example `owner[i]`.

    `row_labels` have a value an input and `token_labels` a value a token; both go into batches, the latter padded
    with `IGNORED`. `items` number what a token stands for (-1: nothing), of `item_count` in all, and `spans` give its
    characters; both stay on the host. `units` counts the labels of each input, over which a loss is averaged.
    `summary` is the position that stands for the whole, `examples` how many examples there are, `skipped` what was
    cut or left out.
    """

    ids: NDArray[np.int32]
    starts: Ints
    types: NDArray[np.int8] | None
    owner: Ints
    pad: int
    summary: Ints
    examples: int
    row_labels: Mapping[str, Ints] = field(default_factory=dict)
    token_labels: Mapping[str, NDArray[np.int16]] = field(default_factory=dict)
    items: Ints | None = None
    item_count: int = 0
    spans: Ints | None = None
    units: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    skipped: tuple[Skip, ...] = ()

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)

    def take(self, rows: Ints) -> Inputs:
        """The inputs at these rows, in this order."""
        lengths = self.lengths[rows]
        places = expand_ranges(self.starts[rows], lengths)
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        return replace(
            self,
            ids=self.ids[places],
            starts=starts,
            types=None if self.types is None else self.types[places],
            owner=self.owner[rows],
            summary=self.summary[rows],
            row_labels={name: values[rows] for name, values in self.row_labels.items()},
            token_labels={name: values[places] for name, values in self.token_labels.items()},
            items=None if self.items is None else self.items[places],
            spans=None if self.spans is None else self.spans[places],
            units=self.units[rows],
        )

    def batch(self, rows: Ints, device: torch.device, *, width: int | None = None) -> dict[str, torch.Tensor]:
        """The inputs at these rows, padded to `width`, or to the longest of them.

        Without `width` there is no mask where nothing is padded, which runs faster; with it shapes and keys never
        change.
        """
        lengths = self.lengths[rows]
        wide = int(lengths.max()) if width is None else width
        if width is None and device.type == "cuda" and int(lengths.min()) < wide:
            # What tensor cores like, and few shapes: each is recorded as one graph.
            wide = min(-(-wide // 16) * 16, max(int(self.lengths.max()), wide))
        offsets = np.arange(wide)
        inside = offsets < lengths[:, None]
        places = np.where(inside, self.starts[rows][:, None] + offsets, 0)
        given: dict[str, NDArray[Any]] = {"input_ids": np.where(inside, self.ids[places], self.pad).astype(np.int64)}
        if width is not None or not inside.all():
            given["attention_mask"] = inside.astype(np.int64)
        if self.types is not None:
            given["token_type_ids"] = np.where(inside, self.types[places], 0).astype(np.int64)
        for name, values in self.token_labels.items():
            given[name] = np.where(inside, values[places], IGNORED).astype(np.int64)
        given |= {name: values[rows] for name, values in self.row_labels.items()}
        given["summary"] = self.summary[rows]
        return {name: to_device(array, device) for name, array in given.items()}


def build_inputs(encoder: Encoder, first: Ranges, second: Ranges | None, *, owner: Ints, examples: int) -> Inputs:
    """The inputs of ranges of texts, one or two an input, in the tokenizer's own frame.

    `spans` are the characters of the tokens of `second` (of `first` where there is no second) and (-1, -1) elsewhere,
    where the texts were tokenised with spans.
    """
    shape = frame(encoder.tokenizer, pair=second is not None)
    count = len(first.text)
    none = np.zeros(count, np.int64)
    sizes = [
        none + len(shape.before),
        first.length,
        none + len(shape.between),
        none if second is None else second.length,
        none + len(shape.after),
    ]
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.sum(sizes, axis=0), out=starts[1:])
    ids, types = np.zeros(starts[-1], np.int32), np.zeros(starts[-1], np.int8)
    shown = first if second is None else second
    spans = None if shown.tokens.spans is None else np.full((starts[-1], 2), -1, np.int64)
    at = starts[:-1]
    parts: tuple[tuple[int, ...] | Ranges | None, ...] = (shape.before, first, shape.between, second, shape.after)
    for part, size, kind in zip(parts, sizes, shape.types, strict=True):
        if part is None:
            continue
        place = expand_ranges(at, size)
        if isinstance(part, Ranges):
            ids[place], types[place] = part.tokens.ids[part.places], kind
            if part is shown and spans is not None and part.tokens.spans is not None:
                spans[place] = part.tokens.spans[part.places]
        else:
            ids[place], types[place] = np.tile(np.array(part, np.int32), count), np.tile(np.array(kind, np.int8), count)
        at = at + size
    summary = none if shape.reads_first else starts[1:] - starts[:-1] - 1
    marked = types if types.any() else None  # All zero is what a model takes where it is told nothing.
    return Inputs(ids, starts, marked, owner, encoder.tokeniser.pad, summary, examples, spans=spans)


def tokenised(encoder: Encoder, texts: Sequence[str], *, spans: bool) -> tuple[TokenisedTexts, Ints]:
    """The distinct texts tokenised, each once, and which of them each text is."""
    numbers: dict[str, int] = {}
    text = np.fromiter((numbers.setdefault(text, len(numbers)) for text in texts), np.int64, len(texts))
    return encoder.tokeniser(list(numbers), spans=spans, words=False), text


def longest_first(first: Ints, second: Ints, room: int) -> tuple[Ints, Ints]:
    """How many tokens of each text are kept where a pair has to fit into `room`: the longer one is cut, until it fits.

    As `transformers` has it with the strategy `longest_first`: of two equally long ones the second is cut.

    >>> longest_first(np.array([3, 9, 9]), np.array([4, 2, 8]), 9)
    (array([3, 7, 5]), array([4, 2, 4]))
    """
    half = room // 2
    fits = first + second <= room
    # A text of at most its half stays whole, and the other has the rest.
    left = np.where(second <= half, room - second, np.where(first <= room - half, first, room - half))
    kept = np.where(fits, first, np.minimum(first, left))
    return kept, np.where(fits, second, room - kept)


def expand_ranges(begin: Ints, length: Ints) -> Ints:
    """The numbers of all ranges end to end: begin, begin + 1 … for each.

    >>> expand_ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(length)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(begin - (ends - length), length) + np.arange(total)
