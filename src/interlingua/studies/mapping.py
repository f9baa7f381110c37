"""Vectors of linked words and of sentences from two models, one a side, and the map from one to the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.encoder import Encoder
from interlingua.encoder.pooling import View
from interlingua.encoder.word_tokens import WordTokens, align_tokens, word_tokens
from interlingua.errors import InputError
from interlingua.measures.procrustes import Map, fit
from interlingua.studies.linkedtexts import LinkedText

Ints = NDArray[np.int64]
Encoders = tuple[Encoder, Encoder]
"""Who reads the source side, and who reads the target side."""
CONTROLS = ("shuffled", "shifted")
"""What may stand in the place of a map that was fitted on translations."""


def linked_vectors(text: LinkedText, encoders: Encoders, *, most: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The last layer's vectors of linked words, source and target, each side by its own model and tokenizer.

    A word is the mean of its sub-tokens. At most `most` pairs, drawn by the seed; a pair one of whose words has no
    token is left out.
    """
    sentences = (text.source, text.target)
    sides = [word_tokens(each.tokeniser, own, room=each.room) for each, own in zip(encoders, sentences, strict=True)]
    aligned = align_tokens(text.links, *sides)
    count = len(aligned.left)
    if count < 2:
        raise InputError("fewer than two pairs of words", value=count, remedy="Give more text.")
    chosen = np.arange(count)
    if count > most:
        chosen = np.sort(np.random.default_rng(seed).choice(count, most, replace=False))
    found = []
    for encoder, own, items, wanted in zip(
        encoders, sentences, (aligned.source, aligned.target), (aligned.left, aligned.right), strict=True
    ):
        rows = np.unique(items.row[wanted[chosen]])
        found.append(_means(encoder, [own[row].text for row in rows.tolist()], rows, items, wanted[chosen]))
    return found[0], found[1]


def _means(encoder: Encoder, texts: list[str], rows: Ints, items: WordTokens, wanted: Ints) -> torch.Tensor:
    """The vectors of some items, whose texts are `rows`: means over their tokens, at the last layer."""
    last = encoder.layers[-1]
    (made,) = encoder.encode_views(texts, [View("token", layers=(last,))])
    vectors = np.asarray(made[last], np.float32)
    begin = np.searchsorted(made.row, np.arange(len(rows)))
    text = np.searchsorted(rows, items.row[wanted])
    counts = np.diff(items.start)[wanted]
    owner = np.repeat(np.arange(len(wanted)), counts)
    inner = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    # Positions count the special tokens before a text, which are no items of the view.
    places = items.position[items.start[wanted][owner] + inner] - len(encoder.tokeniser.prefix)
    summed = np.zeros((len(wanted), vectors.shape[1]), np.float64)
    np.add.at(summed, owner, vectors[begin[text][owner] + places])
    return torch.from_numpy((summed / counts[:, None]).astype(np.float32))


def sentence_vectors(text: LinkedText, encoders: Encoders, *, most: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The last layer's vectors of the first rows, source and target, each side by its own model."""
    found = []
    for encoder, side in zip(encoders, (text.source, text.target), strict=True):
        last, rows = encoder.layers[-1], min(len(side), most)
        vectors = encoder.encode([side[row].text for row in range(rows)], layers=[last])[last]
        found.append(torch.from_numpy(np.array(vectors, np.float32)))
    return found[0], found[1]


def fitted(source: torch.Tensor, target: torch.Tensor, *, control: str | None = None, seed: int) -> Map:
    """The rotation that carries target vectors onto source ones; two models must have one width.

    A control in its place: `shuffled` is fitted on pairs that the seed deals anew, so that it turns one space into
    the other with no knowledge of who translates whom; `shifted` moves the target's mean to the source's and turns
    nothing.
    """
    if source.shape[1] != target.shape[1]:
        raise InputError(
            "two models of different widths have no rotation between them",
            value=f"{source.shape[1]} and {target.shape[1]}",
            remedy="Use models whose vectors are of one width.",
        )
    if control == "shuffled":
        source = source[torch.from_numpy(np.random.default_rng(seed).permutation(len(source))).to(source.device)]
    found = fit(target.float(), source.float(), normalise=False)
    return replace(found, matrix=torch.eye(len(found.matrix)).to(found.matrix)) if control == "shifted" else found
