"""Texts to token ids, windows and items, as flat arrays: everything a pass needs that is not the model.

A text's tokens are numbered without special tokens; an *item* (sentence, word or token) is a range of
them. A text longer than the model's limit is read through overlapping windows, and each of its tokens
is taken from the window in which it has most context, so nothing is cut.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray

from interlingua.encoder.model_folders import is_bad_input
from interlingua.errors import InputError
from interlingua.languages import canonical, is_language
from interlingua.words import word_spans

Ints = NDArray[np.int64]
_MISSED = 128  # bytes after a piece that the text does not show, among which the next one is looked for


@dataclass(frozen=True)
class TokenisedTexts:
    """Token ids of many texts end to end; `starts[i]:starts[i+1]` are text i's; `spans` their characters."""

    ids: NDArray[np.int32]
    starts: Ints
    spans: Ints | None  # (token, 2) character offsets
    words: PooledItems | None  # where words were asked for

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
class PooledItems:
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

    `known` is how many tokens the model has vectors for; a text with another is refused. With `target` the texts are in
    the language that a translation model translates into, which has pieces of its own (Marian's). `mark` is the code of
    the texts' language where a special token says it (NLLB's, M2M100's, mBART's).
    """

    def __init__(
        self, tokenizer: Any, *, known: int | None = None, target: bool = False, mark: str | None = None
    ) -> None:
        self._tokenizer, self._known, self.target, self.mark = tokenizer, known, target, mark
        self.prefix, self.suffix, self.types = _specials(tokenizer) if mark is None else _marked(tokenizer, mark)
        self.unknown: int | None = tokenizer.unk_token_id
        self.specials = frozenset(tokenizer.all_special_ids)
        self.cuts_left = getattr(tokenizer, "truncation_side", "right") == "left"
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
            return self._without_offsets(texts, spans=spans, words=words)
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

    def _without_offsets(self, texts: Sequence[str], *, spans: bool, words: bool) -> TokenisedTexts:
        """For tokenizers that keep no offsets (Marian's): the same ids whatever is asked, spans from their spelling."""
        given = {"text_target": list(texts)} if self.target else {"text": list(texts)}
        lists = self._tokenizer(**given, add_special_tokens=False)["input_ids"]
        starts = _starts([len(ids) for ids in lists])
        ids = np.fromiter(chain.from_iterable(lists), np.int32, starts[-1])
        if not (spans or words):
            return TokenisedTexts(ids, starts, None, None)
        how = self._spelling
        found = [_spelled(text, self._pieces(own, how), how) for text, own in zip(texts, lists, strict=True)]
        offsets = np.array(list(chain.from_iterable(found)), np.int64).reshape(-1, 2)
        return TokenisedTexts(ids, starts, offsets, _word_items(texts, starts, offsets) if words else None)

    def _pieces(self, ids: Sequence[int], spelling: _Spelling) -> list[str | None]:
        """What each token spells, None where it does not say."""
        silent = set(self._tokenizer.all_special_tokens)
        pieces = self._tokenizer.convert_ids_to_tokens(list(ids))
        return [None if piece in silent else spelling.piece(piece) for piece in pieces]

    @cached_property
    def _spelling(self) -> _Spelling:
        """How the tokenizer's pieces spell letters: found by trying."""
        made = [self._tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("р", "ё")]
        rare, accent = (self._tokenizer.convert_ids_to_tokens(list(ids)) for ids in made)
        if any(isinstance(piece, bytes) for piece in rare) or rare == ["Ñ", "\x80"]:
            return _Spelling(exact=True)
        return _Spelling(marks="ё" in "".join(accent) or "е" not in "".join(accent))


@dataclass(frozen=True)
class _Spelling:
    """How letters and pieces are compared: as bytes, a character of Latin-1 each, without white space.

    That is by NFKC and without regard to case, or to accents where a tokenizer takes them off (`marks` false). With
    `exact` the pieces are bytes themselves (ByT5's).
    """

    exact: bool = False
    marks: bool = True

    def letter(self, letter: str) -> str:
        """The bytes that a piece of the text spells."""
        if not self.exact:
            letter = normalize("NFKC", letter).casefold()
            if not self.marks:
                letter = "".join(part for part in normalize("NFKD", letter) if category(part) != "Mn")
        elif not letter.isspace():
            return letter.encode("utf-8", "replace").decode("latin-1")
        return "".join(letter.split()).encode("utf-8", "replace").decode("latin-1")

    def piece(self, piece: str | bytes) -> str:
        """The bytes that a token of the vocabulary spells, without the marks that say where words begin or end."""
        if isinstance(piece, bytes):
            piece = piece.decode("latin-1")
        if self.exact:
            return piece.strip(" \t\n\r\v\f")
        if byte := re.fullmatch(r"<0x([0-9A-Fa-f]{2})>|<\|byte(\d{1,3})\|>", piece):
            number = int(byte[1], 16) if byte[1] else int(byte[2])
            return chr(number & 255)
        for mark in ("</w>", "@@"):
            piece = piece.removesuffix(mark) or piece
        return self.letter(piece.removeprefix("##").replace("▁", " "))


def locate_items(
    tokens: TokenisedTexts, unit: str, texts: Sequence[str], *, spans: Sequence[tuple[int, int]] | None = None
) -> PooledItems:
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
        return PooledItems(np.arange(count), np.zeros(count, np.int64), tokens.lengths, whole)
    if unit == "word":
        assert tokens.words is not None
        return tokens.words
    assert tokens.spans is not None
    if spans is not None:
        return _spanned([[span] for span in spans], texts, tokens.starts, tokens.spans)
    row = np.repeat(np.arange(count), tokens.lengths)
    place = np.arange(len(tokens.ids)) - tokens.starts[:-1][row]
    return PooledItems(row, place, place + 1, tokens.spans)


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
class WindowParts:
    """Where items lie in windows: part p is positions `first[p]:last[p]` of window `window[p]`, of item `item[p]`.

    `weight[p]` is 1 over the number of tokens of the item, so that weighted sums over parts are means; pooled by
    `weighted`, 1 over the sum of their places in the item, of which `before[p]` come before the part.
    """

    item: Ints
    window: Ints
    first: Ints
    last: Ints
    weight: NDArray[np.float32]
    before: Ints


def locate_parts(
    items: PooledItems, view: Windows, *, pooling: str, special: bool, around: tuple[int, int]
) -> WindowParts:
    """The parts of windows that each item is pooled from.

    `around` is how many special tokens stand before and after the text in a window. With `special` a
    sentence's mean counts those of its first window's front and last window's back, too.
    """
    prefix, suffix = around
    first, last = items.first, items.last
    if pooling == "cls":
        position = np.searchsorted(view.row, items.row)  # The first window of the item's text.
        zero = np.zeros(len(items), np.int64)
        return WindowParts(np.arange(len(items)), position, zero, zero + 1, np.ones(len(items), np.float32), zero)
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
    shift, before = prefix - view.begin[window], start - first[item]
    size = (last - first)[item]
    weight = (1.0 / (size * (size + 1) / 2 if pooling == "weighted" else size)).astype(np.float32)
    if special:
        opens = start == first[item]
        closes = stop == last[item]
        weight = (1.0 / ((last - first)[item] + prefix + suffix)).astype(np.float32)
        return WindowParts(item, window, start + shift - opens * prefix, stop + shift + closes * suffix, weight, before)
    return WindowParts(item, window, start + shift, stop + shift, weight, before)


def batches(lengths: Ints, budget: int, *, one_length: bool = False) -> list[Ints]:
    """Window numbers in batches of at most `budget` padded tokens, longest first, of one length where that is cheap.

    Sorted by length; a batch closes when full, or when the length drops and it is at least half full:
    batches of one length need no mask and no padding, and small ones waste the machine. With `one_length` no batch
    is padded.
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
        if same < end and (one_length or (same - begin) * longest >= budget // 2):
            end = same
        result.append(order[begin:end])
        begin = end
    return result


def covering_windows(
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


def _word_items(texts: Sequence[str], starts: Ints, offsets: Ints) -> PooledItems:
    """Words and the tokens that overlap each of them, by character offsets."""
    return _spanned([word_spans(text) for text in texts], texts, starts, offsets)


def _spanned(
    found: Sequence[Sequence[tuple[int, int]]], texts: Sequence[str], starts: Ints, offsets: Ints
) -> PooledItems:
    longest = max((len(text) for text in texts), default=0)
    row, first, last, spans = covering_windows(found, starts, offsets, longest=longest)
    kept = last > first
    return PooledItems(row[kept], first[kept], last[kept], spans[kept], lost=int((~kept).sum()))


def _spelled(text: str, pieces: Sequence[str | None], spelling: _Spelling) -> list[tuple[int, int]]:
    """The characters of each token, where the pieces are found one after another in the text.

    Pieces that are not found (unknown ones, or changed by the tokenizer) share what lies between those that are.

    >>> _spelled("Tea, ½ cup", ["tea", ",", None, "cup"], _Spelling())
    [(0, 3), (3, 4), (5, 6), (7, 10)]
    """
    owner: list[int] = []
    letters: list[str] = []
    for place, letter in enumerate(text):
        plain = spelling.letter(letter)
        letters.append(plain)
        owner += [place] * len(plain)
    line = "".join(letters)
    found: list[tuple[int, int] | None] = []
    at = 0
    for piece in pieces:
        # Where nothing is missing before it a piece follows at once; otherwise it is looked for not far away.
        missing = bool(found) and found[-1] is None
        begin = -1 if piece is None else line.find(piece, at, at + len(piece) + (_MISSED if missing else 0))
        if piece is None or begin < 0 or (missing and not piece):
            found.append(None)
        else:
            at = begin + len(piece)
            found.append((begin, at))
    before, after = [0], [len(line)]
    for own in found:
        before.append(before[-1] if own is None else own[1])
    for own in reversed(found):
        after.append(after[-1] if own is None else own[0])
    whole = [own or (before[n], after[len(found) - 1 - n]) for n, own in enumerate(found)]
    ends = [*owner, len(text)]
    return [(ends[a], ends[b - 1] + 1 if b > a else ends[a]) for a, b in whole]


def translates_into(tokenizer: Any, language: str) -> bool:
    """Whether a translation model's tokenizer cuts a language as the one it translates into (Marian's two models).

    Not where both sides have their own numbers: what is encoded has vectors for the source's alone.
    """
    if getattr(tokenizer, "spm_target", None) is None or getattr(tokenizer, "separate_vocabs", False):
        return False

    def among(codes: Sequence[str | None]) -> bool:
        return any(canonical(language) == canonical(code) for code in codes if code and is_language(code))

    marked = [code.strip("<>") for code in tokenizer.supported_language_codes]  # of several: >>fra<<
    return not among([tokenizer.source_lang]) and among([tokenizer.target_lang, *marked])


Types = tuple[list[int], int, list[int]]


def language_mark(tokenizer: Any, language: str) -> str | None:
    """The code that a tokenizer marks a language by; None where it marks none, or has no code for this one.

    Without it all texts would be marked as the one language the tokenizer begins with, English as a rule.
    """
    if getattr(tokenizer, "set_src_lang_special_tokens", None) is None:
        return None
    stated = getattr(tokenizer, "lang_code_to_token", None) or getattr(tokenizer, "lang_code_to_id", None)
    codes = list(stated or (token.strip("_") for token in tokenizer.get_added_vocab()))
    plain = {code: code.removesuffix("_XX") for code in codes}
    known = {code: canonical(name) for code, name in plain.items() if is_language(name)}
    wanted = canonical(language)
    same = [code for code, own in known.items() if own == wanted]
    near = [code for code, own in known.items() if own.split("-")[0] == wanted.split("-")[0]]
    return next(iter(same or near), None)


def _marked(tokenizer: Any, mark: str) -> tuple[list[int], list[int], Types | None]:
    """What the tokenizer puts round a text in the language that it has this code for."""
    before = tokenizer.src_lang
    tokenizer.src_lang = mark
    try:
        return _specials(tokenizer)
    finally:
        tokenizer.src_lang = before


def _specials(tokenizer: Any) -> tuple[list[int], list[int], Types | None]:
    """The ids the tokenizer puts before and after a text, and the token types of all three where any is not 0.

    XLNet and Funnel have a type of its own for the first or last token.
    """
    # A vocabulary of one script may have no piece for another's letters.
    probes = (tokenizer(text, add_special_tokens=False)["input_ids"] and text for text in ("a", "1", "и", "的", "か"))
    probe = next(filter(None, probes), "a")
    bare = tokenizer(probe, add_special_tokens=False)["input_ids"]
    made = tokenizer(probe, add_special_tokens=True)
    full, types = list(made["input_ids"]), list(made["token_type_ids"]) if "token_type_ids" in made else []
    for start in range(len(full) - len(bare) + 1):
        end = start + len(bare)
        if full[start:end] == bare:
            given = (types[:start], types[start], types[end:]) if any(types) and bare else None
            return full[:start], full[end:], given
    raise InputError(
        "the tokenizer changes a text when it adds special tokens",
        value=type(tokenizer).__name__,
        remedy="Report it to us.",
    )


def token_types(types: Types, lengths: Ints) -> Ints:
    """The (text, position) token types of texts with these numbers of tokens, with the special ones around each.

    >>> token_types(([2], 0, [1]), np.array([2, 1])).tolist()
    [[2, 0, 0, 1], [2, 0, 1, 0]]
    """
    before, own, after = types
    found = np.zeros((len(lengths), len(before) + int(lengths.max()) + len(after)), np.int64)
    found[:, : len(before)] = before
    place = np.arange(found.shape[1]) - len(before)
    found[(place >= 0) & (place < lengths[:, None])] = own
    for number, kind in enumerate(after):
        found[np.arange(len(lengths)), len(before) + lengths + number] = kind
    return found


def _starts(lengths: Sequence[int] | Ints) -> Ints:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
