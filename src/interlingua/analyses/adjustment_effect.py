"""Retrieval and word distances of an encoder in one state; both states read the same rows, so they can be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import torch

from interlingua.analyses.aligned_bitext import LinkedText
from interlingua.analyses.state_comparison import SAMPLER
from interlingua.analyses.training_inputs import Pairs
from interlingua.corpus import Pair, clean
from interlingua.encoder import Encoder
from interlingua.measures.retrieval import METRICS as RETRIEVAL
from interlingua.measures.retrieval import retrieval
from interlingua.measures.separation import METRICS as SEPARATION
from interlingua.readers.embedded_data import sampler
from interlingua.record import Made, Record
from interlingua.training.monitors import WordDistances

_SAMPLER_LEAST = 100  # With fewer rows the change of a share is known to no better than ten points.


def sampler_rows(staying: str, code: str, given: LinkedText) -> Pair | None:
    """The embedded sampler in both languages, without rows of the bitext; None where it lacks one, or has too few.

    What is learnt from one kind of text may be lost on another.
    """
    corpus = sampler("sampler", languages=None)
    if staying == code or not {staying, code} <= set(corpus.languages):
        return None
    seen = {clean(text) for texts in given.texts for text in texts}
    both = corpus.select([staying, code])
    pair = both.pair(staying, code)
    texts = zip(pair.source_texts, pair.target_texts, strict=True)
    fresh = np.flatnonzero([not seen & set(row) for row in texts])
    return both.take(fresh).pair(staying, code) if len(fresh) >= _SAMPLER_LEAST else None


def measure_effect(encoder: Encoder, pairs: Pairs, other: Pair | None, shared: Record, *, precision: str) -> Made:
    """Distances of words at the adjusted layer and retrieval at every layer, on the rows held out of a bitext.

    On `other`, rows of the sampler, retrieval alone.
    """
    layer, seed = pairs.settings.layer, shared.seed or 0
    words = WordDistances(pairs.held, layer, precision=precision, seed=seed)(encoder.model)
    near = replace(shared, measure="separation", layer=encoder.layers[layer], unit="word")
    near = replace(near, digests=_of_texts(near, *pairs.held_texts))
    made: Made = [(near.scored(SEPARATION, key, score), score.items) for key, score in words.items()]
    made += _retrieval(encoder, *pairs.held_texts, shared)
    if other is not None:
        made += _retrieval(encoder, other.source_texts, other.target_texts, replace(shared, corpus=SAMPLER))
    return made


def _retrieval(encoder: Encoder, source: Sequence[str], target: Sequence[str], shared: Record) -> Made:
    """P@1 of both directions at every layer, with what each sentence added."""
    sides = [encoder.encode(list(texts)) for texts in (source, target)]
    shared = replace(shared, digests=_of_texts(shared, source, target))
    made: Made = []
    for layer in encoder.layers:
        vectors = [torch.from_numpy(np.array(side[layer], np.float32)) for side in sides]
        scores = retrieval(vectors[0], vectors[1], ks=(1,), similarities=("cosine",))
        own = replace(shared, layer=layer)
        made += [(own.scored(RETRIEVAL, key, score), score.items) for key, score in scores.items()]
    return made


def _of_texts(shared: Record, *sides: Sequence[str]) -> dict[str, str]:
    """The digests of a record with that of the sentences it is of: those of two runs may be compared one by one."""
    state = hashlib.blake2b(digest_size=16)
    for text in chain.from_iterable(sides):
        state.update(b"\x1f" + text.encode("utf-8", "surrogatepass"))
    return {**shared.digests, "corpus": state.hexdigest()}
