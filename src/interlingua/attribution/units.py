"""Units: the tokens or words of what a model read, with the characters they are of; sub-tokens' attributions add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interlingua.attribution.inputs import Attributions
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs, SpecialTokenTemplate, expand_ranges, frame, tokenised
from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.words import token_spans

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
UNITS = ("token", "word")


@dataclass(frozen=True)
class Units:
    """Unit u is tokens `place[start[u]:start[u + 1]]` (flat, of `Inputs`) of input `row[u]`; units are in text order.

    `side` is the text of the input it stands in (0 or 1), `spans` its characters there, `written` those characters.
    Separators are in no unit, and each other token in at most one.
    """

    row: Ints
    side: Ints
    spans: Ints
    start: Ints
    place: Ints
    written: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.row)

    def of_rows(self, rows: Ints) -> tuple[Ints, Ints]:
        """The numbers of the units of inputs, end to end, and where each input's begin (and the end)."""
        begin, end = (np.searchsorted(self.row, rows, side=side) for side in ("left", "right"))
        starts = np.concatenate([[0], np.cumsum(end - begin)])
        numbers = np.arange(starts[-1]) + np.repeat(begin - starts[:-1], end - begin)
        return numbers, starts

    def sums(self, found: Attributions, inputs: Inputs, rows: Ints) -> tuple[Floats, Ints]:
        """The attribution of every unit of target i, whose input is `rows[i]`: the sum of its tokens'; with starts.

        A sum, so that what attributions add up to stays what it was (but for separators).
        """
        numbers, starts = self.of_rows(rows)
        target = np.repeat(np.arange(len(rows)), np.diff(starts))
        counts = np.diff(self.start)[numbers]
        unit = np.repeat(np.arange(len(numbers)), counts)
        offset = np.arange(len(unit)) - np.repeat(np.cumsum(counts) - counts, counts)
        place = self.place[self.start[numbers][unit] + offset]
        flat = found.starts[target[unit]] + place - inputs.starts[rows[target[unit]]]
        sums: Floats = np.bincount(unit, weights=found.values[flat], minlength=len(numbers)).astype(np.float64)
        return sums, starts


def units_of(
    inputs: Inputs, texts: Sequence[Sequence[str]], encoder: Encoder, *, unit: str, rows: Ints | None = None
) -> Units:
    """The units of inputs, all or those at `rows` (in order), that were made of these texts: one or two an example.

    Words are `words.token_spans`, punctuation included; a token that two words share belongs to the first.
    """
    if unit not in UNITS:
        raise unknown("unit", unit, list(UNITS))
    width = len(texts[0])
    shape = frame(encoder.tokenizer, pair=width == 2)
    flat = [text for parts in texts for text in parts]
    tokens, number = tokenised(encoder, flat, spans=True)
    assert tokens.spans is not None
    ids: list[NDArray[np.int32]] = np.split(tokens.ids, tokens.starts[1:-1])
    spans: list[Ints] = np.split(tokens.spans, tokens.starts[1:-1])
    cut: dict[int, list[tuple[int, int, int, int]]] = {}
    told: list[tuple[int, int, int, int]] = []
    ranges: list[tuple[int, int]] = []
    written: list[str] = []
    for row in range(len(inputs)) if rows is None else rows.tolist():
        begin = int(inputs.starts[row])
        own = [int(number[inputs.owner[row] * width + side]) for side in range(width)]
        seen = inputs.ids[begin : int(inputs.starts[row + 1])]
        layout = _layout(seen, [ids[text] for text in own], shape)
        if inputs.spans is not None:
            layout[-1] = _moved(layout[-1], spans[own[-1]], inputs.spans[begin:])
        for side, (at, first, last) in enumerate(layout):
            text = flat[inputs.owner[row] * width + side]
            if own[side] not in cut:
                cut[own[side]] = _cut(text, spans[own[side]], unit)
            for unit_first, unit_last, start, stop in cut[own[side]]:
                low, high = max(unit_first, first), min(unit_last, last)
                if low < high:
                    told.append((row, side, start, stop))
                    ranges.append((begin + at + low - first, high - low))
                    written.append(text[start:stop])
    table, places = np.array(told, np.int64).reshape(-1, 4), np.array(ranges, np.int64).reshape(-1, 2)
    starts = np.concatenate([[0], np.cumsum(places[:, 1])])
    return Units(
        table[:, 0], table[:, 1], table[:, 2:], starts, expand_ranges(places[:, 0], places[:, 1]), tuple(written)
    )


def _cut(text: str, spans: Ints, unit: str) -> list[tuple[int, int, int, int]]:
    """(first token, last token, first character, last character) of each unit of a text; last ones exclusive."""
    told: list[tuple[int, int]] = spans.tolist()  # Python's own numbers: arrays are slow one cell at a time.
    if unit == "token":
        return [(at, at + 1, start, end) for at, (start, end) in enumerate(told)]
    found = []
    token = 0
    for start, end in token_spans(text):
        while token < len(told) and told[token][1] <= start:
            token += 1
        first = token
        while token < len(told) and told[token][0] < end:
            token += 1
        if token > first:
            found.append((first, token, start, end))
    return found


def _layout(
    row: NDArray[np.int32], parts: Sequence[NDArray[np.int32]], shape: SpecialTokenTemplate
) -> list[tuple[int, int, int]]:
    """(position of its first token, first token, last token) of what an input shows of each text.

    Texts may have been cut at their end, and the last of them read through a window.
    """
    before, between, after = shape.before, shape.between, shape.after
    room = len(row) - len(before) - len(after)
    if len(parts) == 1:
        first = _window(row[len(before) : len(before) + room], parts[0])
        if first is not None:
            return [(len(before), first, first + room)]
    for size in range(min(len(parts[0]), room - len(between)), -1, -1) if len(parts) == 2 else ():
        second = len(before) + size + len(between)
        shown = row[second : len(row) - len(after)]
        fits = tuple(row[second - len(between) : second]) == between
        if fits and np.array_equal(row[len(before) : len(before) + size], parts[0][:size]):
            first = _window(shown, parts[1])
            if first is not None:
                return [(len(before), 0, size), (second, first, first + len(shown))]
    raise InputError(
        "the tokens of a text can't be traced to its characters",
        remedy="Use a model with a fast tokenizer, which keeps offsets.",
    )


def _moved(part: tuple[int, int, int], whole: Ints, seen: Ints) -> tuple[int, int, int]:
    """The place of a window by the characters it shows: a text that repeats itself shows the same tokens elsewhere."""
    at, first, last = part
    if last == first:
        return part
    shown = seen[at : at + last - first]
    places = np.flatnonzero((whole == shown[0]).all(axis=1))
    right = [int(place) for place in places if np.array_equal(whole[place : place + len(shown)], shown)]
    return (at, right[0], right[0] + len(shown)) if right else part


def _window(shown: NDArray[np.int32], whole: NDArray[np.int32]) -> int | None:
    """Where in a text's tokens a window of them begins, or None."""
    places = np.arange(max(len(whole) - len(shown) + 1, 0))
    if len(shown):
        places = places[whole[places] == shown[0]]
    for begin in places.tolist():
        if np.array_equal(whole[begin : begin + len(shown)], shown):
            return int(begin)
    return None
