"""A text as a model reads it: words, their sub-words, and their vectors at every layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.encoder import Encoder, PoolingRequest
from interlingua.encoder.tokens import TokenisedTexts
from interlingua.errors import InputError
from interlingua.words import Span, has_tokens, lacks_segmenter, token_spans

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TextPiece:
    """A sub-word: the characters it is of, and whether the tokenizer knows them."""

    text: str
    known: bool


@dataclass(frozen=True)
class ModelReading:
    """A text as a model reads it.

    `words` are the characters of words and punctuation, `pieces` the sub-words of each: none where the tokenizer turns
    a word into nothing. `vectors` (layer, word, dim) are means over a word's sub-words, `shares` (word,) its share of
    all of them, so that `shares @ vectors + rest` is the mean over all tokens; `rest` is what tokens of no word add.
    `sentence` (layer, dim) is the sentence by the model's own pooling.
    """

    text: str
    words: tuple[Span, ...]
    pieces: tuple[tuple[TextPiece, ...], ...]
    vectors: Floats
    shares: Floats
    rest: Floats
    sentence: Floats

    @property
    def written(self) -> list[str]:
        return [self.text[start:end] for start, end in self.words]

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which words have a vector."""
        return self.shares > 0


def words_of(text: str) -> tuple[Span, ...]:
    """The characters of the words and punctuation of a text; Chinese and Thai by character without the segmenter.

    >>> words_of("Don't!")
    ((0, 5), (5, 6))
    """
    return tuple(token_spans(text, segmented=lacks_segmenter(text) is None))


def read(encoder: Encoder, texts: Sequence[str]) -> list[ModelReading]:
    """The texts as the encoder reads them, all layers, from one pass; a text that is empty or too long is an error."""
    for text in texts:
        if not has_tokens(text):
            raise InputError("a text without a word", value=text, remedy="Type a sentence.")
    tokens = encoder.tokeniser(list(texts), spans=True, words=False)
    for text, length in zip(texts, tokens.lengths, strict=True):
        if length > encoder.room or not length:
            raise InputError(
                f"{encoder.name} makes {length} tokens of a text, and reads 1 to {encoder.room}",
                value=text,
                remedy="Type a shorter sentence." if length else "Type other words.",
            )
    each, whole = encoder.encode_views(texts, [PoolingRequest("token"), PoolingRequest("sentence")])
    vectors, sentences = _stacked(each.vectors), _stacked(whole.vectors)
    return [
        _reading(encoder, text, tokens, number, vectors[:, each.row == number], sentences[:, number])
        for number, text in enumerate(texts)
    ]


def _stacked(layers: Sequence[NDArray[np.floating[Any]]]) -> Floats:
    # In float64, so that what adds up to a cosine does so to the last digit shown.
    return np.stack([np.asarray(layer, np.float64) for layer in layers])


def _reading(
    encoder: Encoder, text: str, tokens: TokenisedTexts, number: int, vectors: Floats, sentence: Floats
) -> ModelReading:
    assert tokens.spans is not None
    span = slice(tokens.starts[number], tokens.starts[number + 1])
    spans, ids = tokens.spans[span], tokens.ids[span]
    words = words_of(text)
    owner = owners(words, spans)
    count = len(owner)
    belongs = np.zeros((len(words), count))
    belongs[owner[owner >= 0], np.flatnonzero(owner >= 0)] = 1.0
    sizes = belongs.sum(axis=1)
    means = np.einsum("wt,ltd->lwd", belongs / np.maximum(sizes, 1.0)[:, None], vectors)
    pieces: list[list[TextPiece]] = [[] for _ in words]
    for token, word in enumerate(owner):
        if word >= 0:
            start, end = spans[token]
            pieces[word].append(TextPiece(text[start:end], bool(ids[token] != encoder.tokeniser.unknown)))
    return ModelReading(
        text,
        words,
        tuple(tuple(each) for each in pieces),
        means,
        sizes / count,
        vectors[:, owner < 0].sum(axis=1) / count,
        sentence,
    )


def owners(words: Sequence[Span], tokens: Ints) -> Ints:
    """The word of each token: the first that it shares a character with, -1 for none.

    >>> owners([(0, 3), (3, 4)], np.array([[0, 2], [2, 4], [4, 5]])).tolist()
    [0, 0, -1]
    """
    found = np.full(len(tokens), -1, np.int64)
    for place, (start, end) in enumerate(tokens):
        # Some added tokens have no character at all.
        shared = (n for n, (first, last) in enumerate(words) if max(first, start) < min(last, end))
        found[place] = next(shared, -1)
    return found
