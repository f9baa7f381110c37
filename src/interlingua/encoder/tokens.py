"""Texts to token ids, windows and items, as flat arrays: everything a pass needs that is not the model.

A text's tokens are numbered without special tokens; an *item* (sentence, word or token) is a range of
them. A text longer than the model's limit is read through overlapping windows, and each of its tokens
is taken from the window in which it has most context, so nothing is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.encoder.modelfiles import is_bad_input
from interlingua.errors import InputError
from interlingua.words import word_spans

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TokenisedTexts:
    """Token ids of many texts end to end; `starts[i]:starts[i+1]` are text i's; `spans` their characters."""

    ids: NDArray[np.int32]
    starts: Ints
    spans: Ints | None  # (token, 2) character offsets
    words: Items | None  # where words were asked for

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)

    def ids_of(self, texts: Ints) -> TokenisedTexts:
        """The ids of some texts, in this order, without spans."""
        lengths = self.lengths[texts]
        starts = _starts(lengths)
        places = np.arange(starts[-1]) + np.repeat(self.starts[:-1][texts] - starts[:-1], lengths)
        return TokenisedTexts(self.ids[places], starts, None, None)


@dataclass(frozen=True)
class Items:
    """What is pooled: item i is tokens `first[i]:last[i]` (numbered inside its text) of text `row[i]`.

    `spans` are its characters; `lost` counts words the tokenizer turned into nothing.
    """

    row: Ints
    first: Ints
    last: Ints
    spans: Ints
    lost: int = 0

    def __len__(self) -> int:
        return len(self.row)


class Tokeniser:
    """A thin face over a `transformers` tokenizer: ids without special tokens, and what goes round them.

    `known` is how many tokens the model has vectors for; a text with another is refused.
    """

    def __init__(self, tokenizer: Any, *, known: int | None = None) -> None:
        self._tokenizer, self._known = tokenizer, known
        self.prefix, self.suffix = _specials(tokenizer)
        self.keeps_offsets: bool = tokenizer.is_fast
        self.unknown: int | None = tokenizer.unk_token_id
        pad = tokenizer.pad_token_id
        pad = pad if pad is not None else (tokenizer.eos_token_id or 0)
        self.pad: int = pad if known is None or pad < known else 0  # It is masked, but must have a vector.

    def __call__(self, texts: Sequence[str], *, spans: bool, words: bool) -> TokenisedTexts:
        """The texts' tokens, with character spans or word items where asked for."""
        try:
            made = self._tokenised(texts, spans=spans, words=words)
        except BaseException as error:
            if isinstance(error, InputError | MemoryError) or not is_bad_input(error):
                raise
            raise InputError(
                f"the tokenizer cannot read the texts ({type(error).__name__}: {str(error)[:200]})",
                value=type(self._tokenizer).__name__,
                remedy="Its files are broken; fetch the model again.",
            ) from error
        if self._known is not None and (most := int(made.ids.max(initial=0))) >= self._known:
            token = self._tokenizer.convert_ids_to_tokens(most)
            raise InputError(
                f"the model has no vector for the token {token!r}, number {most}: it knows {self._known:,}",
                value=texts[int(np.searchsorted(made.starts, made.ids.argmax(), "right")) - 1],
                remedy="Use the tokenizer that belongs to the weights, or resize the model's embeddings.",
            )
        return made

    def _tokenised(self, texts: Sequence[str], *, spans: bool, words: bool) -> TokenisedTexts:
        if not self._tokenizer.is_fast:
            return self._by_word(texts) if words or spans else self._plain(texts)
        backend = self._tokenizer.backend_tokenizer
        # Without offsets the fast call skips the bookkeeping: twice the speed where only sentences are wanted.
        encode = backend.encode_batch if spans or words else backend.encode_batch_fast
        encodings = encode(list(texts), add_special_tokens=False)
        starts = _starts([len(encoding) for encoding in encodings])
        ids = np.fromiter(chain.from_iterable(e.ids for e in encodings), np.int32, starts[-1])
        if not (spans or words):
            return TokenisedTexts(ids, starts, None, None)
        flat = chain.from_iterable(chain.from_iterable(e.offsets for e in encodings))
        offsets = np.fromiter(flat, np.int64, 2 * starts[-1]).reshape(-1, 2)
        return TokenisedTexts(ids, starts, offsets, _word_items(texts, starts, offsets) if words else None)

    def _plain(self, texts: Sequence[str]) -> TokenisedTexts:
        lists = self._tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        starts = _starts([len(ids) for ids in lists])
        return TokenisedTexts(np.fromiter(chain.from_iterable(lists), np.int32, starts[-1]), starts, None, None)

    def _by_word(self, texts: Sequence[str]) -> TokenisedTexts:
        """For tokenizers that keep no offsets (Marian's): each word on its own, punctuation between them too."""
        row: list[int] = []
        ranges: list[tuple[int, int]] = []
        characters: list[tuple[int, int]] = []
        ids: list[int] = []
        token_spans: list[tuple[int, int]] = []
        lengths: list[int] = []
        lost = 0
        for number, text in enumerate(texts):
            begin = len(ids)
            for start, end, is_word in _with_gaps(text, word_spans(text)):
                before = len(ids) - begin
                ids += self._tokenizer(text[start:end], add_special_tokens=False)["input_ids"]
                after = len(ids) - begin
                token_spans += [(start, end)] * (after - before)
                if is_word and after > before:
                    row.append(number)
                    ranges.append((before, after))
                    characters.append((start, end))
                lost += is_word and after == before
            lengths.append(len(ids) - begin)
        pairs, places = np.array(ranges, np.int64).reshape(-1, 2), np.array(characters, np.int64).reshape(-1, 2)
        items = Items(np.array(row, np.int64), pairs[:, 0], pairs[:, 1], places, lost)
        offsets = np.array(token_spans, np.int64).reshape(-1, 2)
        return TokenisedTexts(np.array(ids, np.int32), _starts(lengths), offsets, items)


def items_of(
    tokens: TokenisedTexts, unit: str, texts: Sequence[str], *, spans: Sequence[tuple[int, int]] | None = None
) -> Items:
    """The items of a unit; a sentence with no tokens is an error, since its row would have no vector.

    `spans` are the characters of the unit `span`, one of every text; those that no token overlaps are counted as lost.
    """
    count = len(texts)
    if unit == "sentence":
        empty = np.flatnonzero(tokens.lengths == 0)
        if len(empty):
            raise InputError(
                f"the tokenizer turns text {empty[0] + 1} into nothing",
                value=texts[empty[0]],
                remedy="Remove that row from the corpus.",
            )
        ends = np.fromiter((len(text) for text in texts), np.int64, count)
        whole = np.stack([np.zeros(count, np.int64), ends], axis=1)
        return Items(np.arange(count), np.zeros(count, np.int64), tokens.lengths, whole)
    if unit == "word":
        assert tokens.words is not None
        return tokens.words
    assert tokens.spans is not None
    if spans is not None:
        return _spanned([[span] for span in spans], texts, tokens.starts, tokens.spans)
    row = np.repeat(np.arange(count), tokens.lengths)
    place = np.arange(len(tokens.ids)) - tokens.starts[:-1][row]
    return Items(row, place, place + 1, tokens.spans)


@dataclass(frozen=True)
class Windows:
    """What the model reads: window w shows tokens `begin[w]:end[w]` of text `row[w]` and owns `own[w]:own_end[w]`."""

    row: Ints
    begin: Ints
    end: Ints
    own: Ints
    own_end: Ints

    @property
    def lengths(self) -> Ints:
        return self.end - self.begin

    def of(self, texts: NDArray[np.bool_]) -> Windows:
        """The windows of the texts that are marked."""
        kept = texts[self.row]
        return Windows(self.row[kept], self.begin[kept], self.end[kept], self.own[kept], self.own_end[kept])


def windows(lengths: Ints, room: int) -> Windows:
    """One window for each text that fits into `room` tokens, several overlapping by a quarter for the others.

    >>> [(int(b), int(e), int(o), int(p)) for b, e, o, p in
    ...  zip(*(lambda w: (w.begin, w.end, w.own, w.own_end))(windows(np.array([10]), 8)))]
    [(0, 8, 0, 7), (6, 10, 7, 10)]
    """
    step = max(room - room // 4, 1)
    counts = 1 + np.maximum(0, -(-(lengths - room) // step))
    row = np.repeat(np.arange(len(lengths)), counts)
    number = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = number * step
    end = np.minimum(begin + room, lengths[row])
    half = (room - step) // 2
    own = np.where(number == 0, 0, begin + half)
    last = number == counts[row] - 1
    own_end = np.where(last, lengths[row], begin + step + half)
    return Windows(row, begin, end, own, own_end)


@dataclass(frozen=True)
class Parts:
    """Where items lie in windows: part p is positions `first[p]:last[p]` of window `window[p]`, of item `item[p]`.

    `weight[p]` is 1 over the number of tokens of the item, so that weighted sums over parts are means.
    """

    item: Ints
    window: Ints
    first: Ints
    last: Ints
    weight: NDArray[np.float32]


def parts_of(items: Items, view: Windows, *, pooling: str, special: bool, around: tuple[int, int]) -> Parts:
    """The parts of windows that each item is pooled from.

    `around` is how many special tokens stand before and after the text in a window. With `special` a
    sentence's mean counts those of its first window's front and last window's back, too.
    """
    prefix, suffix = around
    first, last = items.first, items.last
    if pooling == "cls":
        position = np.searchsorted(view.row, items.row)  # The first window of the item's text.
        zero = np.zeros(len(items), np.int64)
        return Parts(np.arange(len(items)), position, zero, zero + 1, np.ones(len(items), np.float32))
    if pooling == "first":
        last = first + 1
    elif pooling == "last":
        first = last - 1
    opening = np.searchsorted(view.row, items.row, side="left")
    counts = np.searchsorted(view.row, items.row, side="right") - opening
    item = np.repeat(np.arange(len(items)), counts)
    window = np.repeat(opening, counts) + np.arange(len(item)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = np.maximum(first[item], view.own[window])
    stop = np.minimum(last[item], view.own_end[window])
    kept = start < stop
    item, window, start, stop = item[kept], window[kept], start[kept], stop[kept]
    shift = prefix - view.begin[window]
    weight = (1.0 / (last - first)[item]).astype(np.float32)
    if special:
        opens = start == first[item]
        closes = stop == last[item]
        weight = (1.0 / ((last - first)[item] + prefix + suffix)).astype(np.float32)
        return Parts(item, window, start + shift - opens * prefix, stop + shift + closes * suffix, weight)
    return Parts(item, window, start + shift, stop + shift, weight)


def batches(lengths: Ints, budget: int) -> list[Ints]:
    """Window numbers in batches of at most `budget` padded tokens, longest first, of one length where that is cheap.

    Sorted by length; a batch closes when full, or when the length drops and it is at least half full:
    batches of one length need no mask and no padding, and small ones waste the machine.
    """
    order = np.argsort(-lengths, kind="stable")
    result: list[Ints] = []
    begin = 0
    ordered = lengths[order]
    while begin < len(order):
        longest = max(int(ordered[begin]), 1)
        most = max(budget // longest, 1)
        end = min(begin + most, len(order))
        same = int(np.searchsorted(-ordered, -longest, side="right"))
        if same < end and (same - begin) * longest >= budget // 2:
            end = same
        result.append(order[begin:end])
        begin = end
    return result


def covering(
    found: Sequence[Sequence[tuple[int, int]]], starts: Ints, offsets: Ints, *, longest: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """The tokens that overlap each span of each text: (text, first, last, characters), by span, for all texts at once.

    `found` has the spans by text, in order and disjoint; `offsets` the characters of each token of the texts, which
    begin at `starts`; no text is longer than `longest`. A span that no token overlaps has `last` <= `first`.
    """
    counts = np.fromiter((len(spans) for spans in found), np.int64, len(found))
    spans = np.fromiter(chain.from_iterable(chain.from_iterable(found)), np.int64, 2 * counts.sum()).reshape(-1, 2)
    row = np.repeat(np.arange(len(found)), counts)
    # One number line for all texts: text i's characters begin at i * wide, so one sorted search serves all.
    wide = 1 + longest
    token_row = np.repeat(np.arange(len(found)), np.diff(starts))
    # Byte-level pieces of one character share a span and some added tokens have none: a running maximum
    # keeps the line sorted. A token that is only a space, or of zero width, overlaps no word.
    token_start = np.maximum.accumulate(offsets[:, 0] + token_row * wide)
    token_end = np.maximum.accumulate(offsets[:, 1] + token_row * wide)
    first = np.searchsorted(token_end, spans[:, 0] + row * wide, side="right")
    last = np.searchsorted(token_start, spans[:, 1] + row * wide, side="left")
    base = starts[:-1][row]
    return row, first - base, last - base, spans


def _word_items(texts: Sequence[str], starts: Ints, offsets: Ints) -> Items:
    """Words and the tokens that overlap each of them, by character offsets."""
    return _spanned([word_spans(text) for text in texts], texts, starts, offsets)


def _spanned(found: Sequence[Sequence[tuple[int, int]]], texts: Sequence[str], starts: Ints, offsets: Ints) -> Items:
    longest = max((len(text) for text in texts), default=0)
    row, first, last, spans = covering(found, starts, offsets, longest=longest)
    kept = last > first
    return Items(row[kept], first[kept], last[kept], spans[kept], lost=int((~kept).sum()))


def _with_gaps(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int, bool]]:
    """Words and what stands between them (punctuation), in order, white space left out."""
    pieces: list[tuple[int, int, bool]] = []
    at = 0
    for start, end in [*spans, (len(text), len(text))]:
        gap = text[at:start]
        if gap.strip():
            lead = len(gap) - len(gap.lstrip())
            pieces.append((at + lead, at + len(gap.rstrip()), False))
        if end > start:
            pieces.append((start, end, True))
        at = end
    return pieces


def _specials(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The ids the tokenizer puts before and after a text."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    full = tokenizer("a", add_special_tokens=True)["input_ids"]
    for start in range(len(full) - len(bare) + 1):
        if full[start : start + len(bare)] == bare:
            return list(full[:start]), list(full[start + len(bare) :])
    raise InputError(
        "the tokenizer changes a text when it adds special tokens",
        value=type(tokenizer).__name__,
        remedy="Report it to us.",
    )


def _starts(lengths: Sequence[int] | Ints) -> Ints:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
