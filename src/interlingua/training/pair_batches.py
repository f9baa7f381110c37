"""Batches of linked sentence pairs: both sides in one pass, pooled where words are linked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.encoder.pooling import to_device
from interlingua.encoder.tokens import TokenisedTexts, Tokeniser
from interlingua.errors import InputError
from interlingua.plural_counts import count_noun
from interlingua.training.forward import Batch, Forward, States, checked_layer, once
from interlingua.training.word_pairs import WordTokens, align_tokens, beginnings, spread, word_tokens
from interlingua.wordalign.links import Links
from interlingua.words import Sentence

Ints = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]
_STEADY = 8
"""On a GPU lengths are multiples of this, beyond 64 of twice as much: few shapes, each recorded as one graph."""


@dataclass(frozen=True)
class TokenizedBitext:
    """Sentence pairs of one or several language pairs as flat arrays; row r is texts r (source) and `rows` + r.

    `ids[starts[t]:starts[t + 1]]` is what the model reads of text t, special tokens included; `inner` is how many of
    those stand before and after the text. Item i (a word, or a special token) is of text `item_text[i]`, and the
    mean of positions `position[item_starts[i]:item_starts[i + 1]]`; items are sorted by text, so those of sources,
    which a reference is kept of, come first. Word pair k joins items `left[k]` and `right[k]` of row `pair_row[k]`.
    """

    ids: NDArray[np.int32]
    starts: Ints
    inner: tuple[int, int]
    pad: int
    item_text: Ints
    item_starts: Ints
    position: Ints
    pair_row: Ints
    left: Ints
    right: Ints
    of_words: NDArray[np.bool_]
    """Whether a pair is of words, not of special tokens."""
    left_out: tuple[tuple[str, int], ...] = ()
    """What is not there, and how often: rows too long, rows without a pair, words turned into nothing."""

    def __len__(self) -> int:
        return (len(self.starts) - 1) // 2

    @property
    def source_items(self) -> int:
        """The number of items of source texts."""
        return int(self._items[len(self)])

    @cached_property
    def lengths(self) -> Ints:
        """The tokens of each text, special ones included."""
        return np.diff(self.starts)

    @cached_property
    def _items(self) -> Ints:
        return np.searchsorted(self.item_text, np.arange(2 * len(self) + 1))

    @cached_property
    def _pairs(self) -> Ints:
        return np.searchsorted(self.pair_row, np.arange(len(self) + 1))

    def counts(self, rows: Ints) -> list[int]:
        """The number of pairs, source items, rows, one, and pairs of words, of some rows."""
        pairs, _ = spread(self._pairs, rows)
        items = int((self._items[rows + 1] - self._items[rows]).sum())
        return [len(pairs), items, len(rows), 1, int(self.of_words[pairs].sum())]

    def width(self, rows: Ints, *, few: bool = False) -> int:
        """The tokens that a batch of rows is padded to where steps are recorded: few widths, so few recordings.

        Multiples of 8, above 64 of 16; with `few` the longest text of all, half of it or a quarter, for rows that go
        beside a task's: the recordings of a step are the task's widths times these.
        """
        longest = int(self.lengths[np.concatenate([rows, rows + len(self)])].max())
        if not few:
            return _up(longest)
        whole = _up(int(self.lengths.max()))
        return next(part for part in (whole // 4, whole // 2, whole) if longest <= part)

    def batch(self, rows: Ints, *, device: torch.device, few: bool = False) -> Batch:
        """Some rows, in order, as tensors; `few` as `width` has it.

        `pool` (text, slot, position) takes the means of items: its product with hidden states has item j of text t in
        slot j. `left`, `right` number the slots of all texts of each pair; `left_row`, `anchor_row` are the
        places of source items in a reference. Weights are 1, and 0 where there is nothing.
        """
        steady = device.type == "cuda"
        texts = np.concatenate([rows, rows + len(self)])
        wide = self.width(rows, few=few) if steady else int(self.lengths[texts].max())
        items, text_of_item = spread(self._items, texts)
        begin = self._items[texts]
        slot = items - begin[text_of_item]
        slots = max(wide, _up(int(slot.max()) + 1)) if steady else int(slot.max()) + 1
        pairs, row_of_pair = spread(self._pairs, rows)
        left = row_of_pair * slots + self.left[pairs] - begin[row_of_pair]
        far = row_of_pair + len(rows)
        right = far * slots + self.right[pairs] - begin[far]
        room = max(len(rows) * slots, len(pairs)) if steady else len(pairs)
        source = text_of_item < len(rows)
        anchor_row = np.zeros((len(rows), slots), np.int64)
        anchor_row[text_of_item[source], slot[source]] = items[source]
        anchor_weight = np.zeros((len(rows), slots), np.float32)
        anchor_weight[text_of_item[source], slot[source]] = 1.0
        made: Arrays = {
            "input_ids": self._matrix(texts, wide),
            "left": _padded(left, room),
            "right": _padded(right, room),
            "left_row": _padded(self.left[pairs], room),
            "pair_weight": _padded(np.ones(len(pairs), np.float32), room),
            "word_weight": _padded(self.of_words[pairs].astype(np.float32), room),
            "anchor_row": anchor_row,
            "anchor_weight": anchor_weight,
            "lengths": self.lengths[texts],
        }
        if steady or int(self.lengths[texts].min()) < wide:  # Texts of one length need no mask on a CPU.
            made["attention_mask"] = (np.arange(wide) < self.lengths[texts][:, None]).astype(np.int64)
        batch = {name: to_device(array, device) for name, array in made.items()}
        batch["pool"] = self._pool(items, text_of_item * slots + slot, (len(texts), slots, wide), device)
        return batch

    def pair_numbers(self, rows: Ints) -> Ints:
        """The numbers of the pairs of some rows, in the order in which `batch` has them."""
        return spread(self._pairs, rows)[0]

    def source_batch(self, rows: Ints, *, device: torch.device) -> Batch:
        """The source texts of some rows alone, as `batch` has them: what a reference is computed from."""
        wide = int(self.lengths[rows].max())
        items, text_of_item = spread(self._items, rows)
        slot = items - self._items[rows][text_of_item]
        slots = int(slot.max(initial=0)) + 1
        place = np.zeros((len(rows), slots), np.int64)
        there = np.zeros((len(rows), slots), np.float32)
        place[text_of_item, slot], there[text_of_item, slot] = items, 1.0
        made: Arrays = {"input_ids": self._matrix(rows, wide), "anchor_row": place, "anchor_weight": there}
        if int(self.lengths[rows].min()) < wide:
            made["attention_mask"] = (np.arange(wide) < self.lengths[rows][:, None]).astype(np.int64)
        batch = {name: to_device(array, device) for name, array in made.items()}
        batch["pool"] = self._pool(items, text_of_item * slots + slot, (len(rows), slots, wide), device)
        return batch

    def _matrix(self, texts: Ints, wide: int) -> Ints:
        inside = np.arange(wide) < self.lengths[texts][:, None]
        ids = np.full((len(texts), wide), self.pad, np.int64)
        places, _ = spread(self.starts, texts)
        ids[inside] = self.ids[places]
        return ids

    def _pool(self, items: Ints, place: Ints, shape: tuple[int, int, int], device: torch.device) -> torch.Tensor:
        """Zeros but for 1/n at the n tokens of each item: a product with it is the mean, and so is its gradient.

        Unlike a sum by index it adds in one order on every device.
        """
        entries, owner = spread(self.item_starts, items)
        flat = place[owner] * shape[2] + self.position[entries]
        weight = 1.0 / np.diff(self.item_starts)[items][owner]
        pool = torch.zeros(shape[0] * shape[1] * shape[2], device=device)
        pool[to_device(flat, device)] = to_device(weight.astype(np.float32), device)
        return pool.view(shape)


def bitext(
    tokeniser: Tokeniser,
    source: Sequence[Sentence],
    target: Sequence[Sentence],
    links: Links,
    *,
    how: str = "mean",
    specials: bool = True,
    room: int,
) -> TokenizedBitext:
    """A bitext's linked words as an adjustment reads them; rows with no pair, or too long, are left out and counted.

    `how` and `specials` are those of `word_tokens`; papers/001 takes the mean and pairs [CLS] and [SEP] too. The
    source is the language that stays (English). `room` is how many text tokens the model takes (`Encoder.room`).
    """
    if len(source) != len(target):
        raise InputError(
            "the two sides have unequal numbers of rows",
            value=f"{len(source)} and {len(target)}",
            remedy="Give a translation of each row.",
        )
    both = (source, target)
    tokens = [tokeniser([sentence.text for sentence in side], spans=True, words=False) for side in both]
    sides = [
        word_tokens(tokeniser, side, how=how, specials=specials, room=room, tokens=own)
        for side, own in zip(both, tokens, strict=True)
    ]
    aligned = align_tokens(links, *sides)
    words_linked = np.bincount(aligned.row[sides[0].word[aligned.left] >= 0], minlength=len(source)) > 0
    fits = np.ones(len(source), bool)
    fits[np.concatenate([sides[0].unfit, sides[1].unfit])] = False
    kept = np.flatnonzero(words_linked & fits)
    if not len(kept):
        raise InputError(
            "no row has a pair of linked words",
            value=count_noun(len(source), "rows"),
            remedy="Give more text, or better links.",
        )
    chosen = aligned.take(kept)
    texts = [own.ids_of(kept) for own in tokens]
    left_out = (
        ("rows too long for the model", int((~fits).sum())),
        ("rows without a pair of linked words", int((fits & ~words_linked).sum())),
        ("words the tokenizer turned into nothing", sides[0].lost + sides[1].lost),
    )
    return _joined_sides(
        tokeniser, texts, (chosen.source, chosen.target), (chosen.row, chosen.left, chosen.right), left_out
    )


def _joined_sides(
    tokeniser: Tokeniser,
    texts: Sequence[TokenisedTexts],
    sides: tuple[WordTokens, WordTokens],
    pairs: tuple[Ints, Ints, Ints],
    left_out: tuple[tuple[str, int], ...],
) -> TokenizedBitext:
    rows, first = sides[0].texts, len(sides[0])
    prefix, suffix = (np.asarray(part, np.int64) for part in (tokeniser.prefix, tokeniser.suffix))
    lengths = np.concatenate([side.lengths for side in texts])
    starts = beginnings(lengths + len(prefix) + len(suffix))
    ids = np.empty(starts[-1], np.int32)
    for number, sign in enumerate(prefix):
        ids[starts[:-1] + number] = sign
    for number, sign in enumerate(suffix):
        ids[starts[1:] - len(suffix) + number] = sign
    owner = np.repeat(np.arange(len(lengths)), lengths)
    inner = np.arange(len(owner)) - beginnings(lengths)[:-1][owner]
    ids[starts[:-1][owner] + len(prefix) + inner] = np.concatenate([side.ids for side in texts])
    return TokenizedBitext(
        ids,
        starts,
        (len(prefix), len(suffix)),
        tokeniser.pad,
        np.concatenate([sides[0].row, sides[1].row + rows]),
        np.concatenate([sides[0].start, sides[0].start[-1] + sides[1].start[1:]]),
        np.concatenate([sides[0].position, sides[1].position]),
        pairs[0],
        pairs[1],
        pairs[2] + first,
        sides[0].word[pairs[1]] >= 0,
        left_out,
    )


def concatenate_bitexts(parts: Sequence[TokenizedBitext]) -> TokenizedBitext:
    """Several bitexts as one, their rows end to end: a model adjusted on k languages at once (Cao et al. 2020)."""
    if len(parts) == 1:
        return parts[0]
    halves = [[_half(part, side) for part in parts] for side in (0, 1)]
    counts = [beginnings(np.array([len(half[1]) for half in side])) for side in halves]
    flat = [*halves[0], *halves[1]]
    rows = beginnings(np.array([len(part) for part in parts]))
    first = int(counts[0][-1])
    left_out: dict[str, int] = {}
    for part in parts:
        for reason, count in part.left_out:
            left_out[reason] = left_out.get(reason, 0) + count
    text_counts = beginnings(np.array([len(half[0]) for half in flat]))
    return TokenizedBitext(
        np.concatenate([half[3] for half in flat]),
        beginnings(np.concatenate([half[0] for half in flat])),
        parts[0].inner,
        parts[0].pad,
        np.concatenate([half[4] + text_counts[number] for number, half in enumerate(flat)]),
        beginnings(np.concatenate([half[1] for half in flat])),
        np.concatenate([half[2] for half in flat]),
        np.concatenate([part.pair_row + rows[number] for number, part in enumerate(parts)]),
        np.concatenate([part.left + counts[0][number] for number, part in enumerate(parts)]),
        np.concatenate(
            [part.right - part.source_items + first + counts[1][number] for number, part in enumerate(parts)]
        ),
        np.concatenate([part.of_words for part in parts]),
        tuple(left_out.items()),
    )


def _half(part: TokenizedBitext, side: int) -> tuple[Ints, Ints, Ints, NDArray[np.int32], Ints]:
    """One side of a bitext: lengths of texts, tokens of items, positions, ids, and the text of each item."""
    texts = slice(side * len(part), (side + 1) * len(part))
    edges = (0, part.source_items, len(part.item_text))
    items = slice(edges[side], edges[side + 1])
    counts = np.diff(part.item_starts)[items]
    begin, end = part.item_starts[items.start], part.item_starts[items.stop]
    first, last = part.starts[texts.start], part.starts[texts.stop]
    return (
        part.lengths[texts],
        counts,
        part.position[begin:end],
        part.ids[first:last],
        part.item_text[items] - texts.start,
    )


def pooled_words(hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
    """The vectors of a batch's items in float32 (float64 of float64), (text, slot, dim); empty slots are zero."""
    states = _at_least_float(hidden)
    return torch.bmm(batch["pool"].to(states.dtype), states)


def pooled_texts(hidden: torch.Tensor, batch: Batch, inner: tuple[int, int]) -> torch.Tensor:
    """The mean vector of each text without its special tokens in float32, (text, dim)."""
    places = torch.arange(hidden.shape[1], device=hidden.device)
    inside = (places >= inner[0]) & (places < (batch["lengths"] - inner[1])[:, None])
    states = _at_least_float(hidden)
    weight = inside.to(states.dtype) / inside.sum(dim=1, keepdim=True).clamp_min(1)
    return torch.bmm(weight[:, None], states)[:, 0]


def _at_least_float(hidden: torch.Tensor) -> torch.Tensor:
    return hidden if hidden.dtype == torch.float64 else hidden.float()


def _up(number: int) -> int:
    unit = _STEADY if number <= 64 else 2 * _STEADY
    return -(-number // unit) * unit


def _padded(array: NDArray[np.generic], size: int) -> NDArray[np.generic]:
    """The array with zeros after it."""
    return np.concatenate([array, np.zeros(size - len(array), array.dtype)])


@dataclass
class PairBatches:
    """The batches of a bitext by step, the same to all terms that hold this object: they share one pass a step.

    Without `replacement` every row comes once an epoch, in an order drawn from (seed, epoch). With it, as in the
    continual regime of papers/001, every row of every batch is drawn anew. Either way `pooled` batches at a time are
    sorted by length, so that a batch has texts of about one length and little padding, and are taken in random order.
    The last batch of an epoch is filled from the epoch's own beginning.
    """

    bitext: TokenizedBitext
    batch_size: int = 32
    seed: int = 0
    replacement: bool = False
    pooled: int = 16
    _order: tuple[int, Ints] | None = field(default=None, repr=False)
    _made: tuple[tuple[int, int, int, torch.device], Batch] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.pooled < 1:
            raise InputError("a batch has at least one row", value=self.batch_size, remedy="Give 1 or more.")

    @property
    def steps(self) -> int:
        """The number of batches of an epoch."""
        return -(-len(self.bitext) // self.batch_size)

    def rows(self, step: int) -> Ints:
        """The rows of the batch of a step: a function of the seed and the step."""
        turn, number = divmod(step, self.pooled if self.replacement else self.steps)
        if self._order is None or self._order[0] != turn:
            self._order = (turn, self._drawn(turn))
        rows: Ints = self._order[1][number]
        return rows

    def _drawn(self, turn: int) -> Ints:
        """The rows of every batch of an epoch; with `replacement` of the batches that are sorted together."""
        draw = np.random.default_rng([self.seed, turn])
        half = len(self.bitext)
        if self.replacement:
            order = draw.integers(half, size=self.pooled * self.batch_size)
        else:
            order = np.resize(draw.permutation(half), self.steps * self.batch_size)
        longest = np.maximum(self.bitext.lengths[:half], self.bitext.lengths[half:])
        pool = np.arange(len(order)) // (self.pooled * self.batch_size)
        batches: Ints = order[np.lexsort((longest[order], pool))].reshape(-1, self.batch_size)
        return batches[draw.permutation(len(batches))]

    def batch(self, step: int, *, rank: int, world: int, device: torch.device) -> Batch:
        """This process's share of the batch of a step: the same object to all who ask for the same."""
        key = (step, rank, world, device)
        if self._made is None or self._made[0] != key:
            rows = self.rows(step)
            own = rows[rank::world]
            if not len(own):
                raise InputError(
                    f"a batch of {len(rows)} rows cannot be shared by {world} processes", remedy="Use a larger batch."
                )
            made = self.bitext.batch(own, device=device, few=self.replacement)
            counts = self.bitext.counts(rows)
            # Gradients of processes are averaged, so each divides by its part of the whole batch's count.
            made["counts"] = to_device((np.array(counts) / world).astype(np.float32), device)
            self._made = (key, made)
        return self._made[1]


@dataclass
class PairPass:
    """Batches of sentence pairs, and a model's layers on them: terms that hold the same object share one pass.

    Each term says in `prepare` which layer it reads; the pass goes as far up as the highest of them.
    """

    batches: PairBatches
    _wanted: list[int] = field(default_factory=list, repr=False)
    _forward: Forward | None = field(default=None, repr=False)

    @property
    def bitext(self) -> TokenizedBitext:
        return self.batches.bitext

    @property
    def steps(self) -> int:
        """The number of batches of an epoch."""
        return self.batches.steps

    def prepare(self, model: torch.nn.Module, layer: int) -> Callable[[], None]:
        """Take note of a layer that a term reads; the call that forgets it."""
        number = checked_layer(model, layer)
        self._wanted.append(number)
        self._forward = Forward(model, self._wanted)

        def forget() -> None:
            self._wanted.remove(number)

        return forget

    def batch(self, step: int, *, rank: int, world: int, device: torch.device) -> Batch:
        return self.batches.batch(step, rank=rank, world=world, device=device)

    def hidden(self, model: torch.nn.Module, batch: Batch, layer: int) -> torch.Tensor:
        """Hidden states at a layer that was asked for in `prepare`, (text, position, dim)."""
        forward = self._forward
        assert forward is not None
        states: States = once((id(self), id(batch)), lambda: forward(model, batch))
        return states[checked_layer(model, layer)]

    def words(self, model: torch.nn.Module, batch: Batch, layer: int) -> torch.Tensor:
        """The vectors of words and special tokens, (text, slot, dim) in float32; the sources' texts come first."""
        key = (id(self), id(batch), checked_layer(model, layer))
        found: torch.Tensor = once(key, lambda: pooled_words(self.hidden(model, batch, layer), batch))
        return found
