"""Words given by the caller to the tokens an encoder reads, and linked words to what an adjustment compares.

Everything is ragged arrays made once on the host: a batch is a slice of them, and the vectors of all its words are one
gather and one `index_add` over hidden states, whatever the lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.encoder.pooling import to_device
from interlingua.encoder.tokens import TokenisedTexts, Tokeniser, covering_windows
from interlingua.errors import InputError
from interlingua.wordalign.links import Links
from interlingua.words import Sentence

Ints = NDArray[np.int64]
HOWS = ("mean", "first", "last", "token")


@dataclass(frozen=True)
class WordTokens:
    """The tokens of each item: item i is tokens `position[start[i]:start[i + 1]]` of what is read of text `row[i]`.

    Items are sorted by row and word. `word[i]` is the word's number in its text; special tokens are items with
    negative numbers, those before the text from -1 down, then those after it. With `how="token"` every token of a
    word is an item of its own. Positions count special tokens. `lost` counts words that the tokenizer turned into
    nothing, `unfit` are the texts too long for the model, which have no items.
    """

    row: Ints
    word: Ints
    start: Ints
    position: Ints
    texts: int
    lost: int
    unfit: Ints

    def __len__(self) -> int:
        return len(self.row)

    def take(self, rows: Ints) -> WordTokens:
        """The items of these texts, numbered anew in the order given; a text may be given twice."""
        chosen, row = spread(np.searchsorted(self.row, np.arange(self.texts + 1)), rows)
        places, _ = spread(self.start, chosen)
        counts = np.diff(self.start)[chosen]
        unfit = np.flatnonzero(np.isin(rows, self.unfit))
        return WordTokens(
            row, self.word[chosen], beginnings(counts), self.position[places], len(rows), self.lost, unfit
        )


def word_tokens(
    tokeniser: Tokeniser,
    sentences: Sequence[Sentence],
    *,
    how: str = "mean",
    specials: bool = False,
    room: int,
    tokens: TokenisedTexts | None = None,
) -> WordTokens:
    """The tokens of the words of sentences that an encoder reads one by one, each in one window.

    `how` is what stands for a word: the mean of its tokens, the first, the last, or each token for itself (`token`).
    `specials` adds [CLS] and [SEP], or what the model has. `room` is how many text tokens fit (`Encoder.room`).
    `tokens` are the texts' own with spans, where the caller has them.
    """
    if how not in HOWS:
        raise InputError("unknown way from tokens to words", value=how, remedy=f"Known: {', '.join(HOWS)}.")
    if tokens is None:
        tokens = tokeniser([sentence.text for sentence in sentences], spans=True, words=False)
    row, first, last = spans_to_tokens(tokens, sentences)
    word = np.arange(len(row)) - np.searchsorted(row, row)
    fits = tokens.lengths <= room
    lost = int(((last <= first) & fits[row]).sum())
    kept = (last > first) & fits[row]
    row, word, first, last = row[kept], word[kept], first[kept], last[kept]
    prefix, suffix = len(tokeniser.prefix), len(tokeniser.suffix)
    first, last = first + prefix, last + prefix
    if how == "first":
        last = first + 1
    elif how == "last":
        first = last - 1
    elif how == "token":
        owner = np.repeat(np.arange(len(row)), last - first)
        place = np.arange(len(owner)) - np.repeat(beginnings(last - first)[:-1], last - first)
        row, word, first = row[owner], word[owner], first[owner] + place
        last = first + 1
    if specials:
        texts = np.flatnonzero(fits)
        places = [np.full(len(texts), k) for k in range(prefix)]
        places += [prefix + tokens.lengths[texts] + k for k in range(suffix)]
        for number, place in enumerate(places):
            row, word = np.concatenate([row, texts]), np.concatenate([word, np.full(len(texts), -1 - number)])
            first, last = np.concatenate([first, place]), np.concatenate([last, place + 1])
        order = np.lexsort((first, word, row))
        row, word, first, last = row[order], word[order], first[order], last[order]
    start = beginnings(last - first)
    position = np.arange(start[-1]) + np.repeat(first - start[:-1], last - first)
    return WordTokens(row, word, start, position, len(sentences), lost, np.flatnonzero(~fits))


def spans_to_tokens(tokens: TokenisedTexts, sentences: Sequence[Sentence]) -> tuple[Ints, Ints, Ints]:
    """The text, first token and last token (exclusive) of every word; `last` <= `first` where there is no token."""
    assert tokens.spans is not None
    longest = max((len(sentence.text) for sentence in sentences), default=0)
    row, first, last, _ = covering_windows(
        [sentence.spans for sentence in sentences], tokens.starts, tokens.spans, longest=longest
    )
    return row, first, last


@dataclass(frozen=True)
class AlignedTokens:
    """Linked words as tokens: pair k is item `left[k]` of `source` and item `right[k]` of `target`, of text `row[k]`.

    What Eq. 1 of papers/001 compares; all items of one side are what its anchor holds in place. Pairs are sorted by
    row. `lost` counts links one of whose words has no item (turned into nothing, or in a text too long).
    """

    source: WordTokens
    target: WordTokens
    row: Ints
    left: Ints
    right: Ints
    lost: int

    def __len__(self) -> int:
        return len(self.row)

    def take(self, rows: Ints) -> AlignedTokens:
        """The pairs and items of these texts, numbered anew in the order given."""
        pairs, row = spread(np.searchsorted(self.row, np.arange(self.source.texts + 1)), rows)
        moved = []
        for side, items in ((self.source, self.left), (self.target, self.right)):
            begin = np.searchsorted(side.row, np.arange(side.texts + 1))
            counts = np.diff(begin)[rows]
            moved.append(items[pairs] - begin[rows][row] + beginnings(counts)[:-1][row])
        return AlignedTokens(self.source.take(rows), self.target.take(rows), row, moved[0], moved[1], self.lost)


def align_tokens(links: Links, source: WordTokens, target: WordTokens) -> AlignedTokens:
    """The items of linked words; special tokens that are items on both sides are paired with each other.

    Made with `how="token"`, the k-th token of a word is paired with the k-th of the other, as far as both have one.
    (The code of papers/001 has links between tokens instead: align the tokens as words, and take any `how`.)
    """
    wide = 1 + max(int(words.max(initial=0)) for words in (source.word, target.word, links.source, links.target))
    low = -min(int(source.word.min(initial=0)), int(target.word.min(initial=0)))

    def keys(row: Ints, word: Ints) -> Ints:
        return row * (wide + low) + word + low

    ours, theirs = keys(source.row, source.word), keys(target.row, target.word)
    special = np.intersect1d(ours[source.word < 0], theirs[target.word < 0])
    wanted = np.concatenate([keys(links.row, links.source), special])
    others = np.concatenate([keys(links.row, links.target), special])
    row = np.concatenate([links.row, special // (wide + low)])
    left, right = np.searchsorted(ours, wanted), np.searchsorted(theirs, others)
    counts = np.minimum(
        np.searchsorted(ours, wanted, side="right") - left, np.searchsorted(theirs, others, side="right") - right
    )
    pair = np.repeat(np.arange(len(row)), counts)
    place = np.arange(len(pair)) - np.repeat(beginnings(counts)[:-1], counts)
    row, left, right = row[pair], left[pair] + place, right[pair] + place
    order = np.lexsort((right, left, row))
    return AlignedTokens(source, target, row[order], left[order], right[order], int((counts == 0).sum()))


def pool_words(hidden: torch.Tensor, words: WordTokens) -> torch.Tensor:
    """The vectors of all items, (item, dim): the mean of each item's tokens of hidden states (text, position, dim).

    In float32 whatever the precision of the hidden states. Differentiable; one gather and one sum, no loop.
    """
    counts = np.diff(words.start)
    owner = np.repeat(np.arange(len(words)), counts)
    flat = to_device(words.row[owner] * hidden.shape[1] + words.position, hidden.device)
    weight = to_device((1.0 / counts).astype(np.float32), hidden.device)[:, None]
    vectors = hidden.reshape(-1, hidden.shape[-1])[flat].float()
    sums = vectors.new_zeros(len(words), hidden.shape[-1]).index_add(0, to_device(owner, hidden.device), vectors)
    return sums * weight


def beginnings(counts: Ints) -> Ints:
    """Where each of pieces of these lengths begins when they stand end to end, and where the last ends."""
    found = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=found[1:])
    return found


def spread(begin: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """The numbers `begin[c]:begin[c + 1]` of each chosen c, end to end, and which of the chosen each belongs to."""
    counts = begin[chosen + 1] - begin[chosen]
    owner = np.repeat(np.arange(len(chosen)), counts)
    return np.arange(len(owner)) - beginnings(counts)[:-1][owner] + begin[chosen][owner], owner
