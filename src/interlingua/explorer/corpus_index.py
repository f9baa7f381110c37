"""A corpus inside a model: every sentence at every layer, memory-mapped; language means, null bands, neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from interlingua.corpus import ParallelCorpus
from interlingua.encoder import Cache, Encoder, Representations

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Progress = Callable[[str, int, int], None]
PAIRS = 2000
"""Pairs of sentences that a band is made of, at most."""
_BLOCK = 4096  # rows in float64 at a time
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Band:
    """Quantiles (layer, 3) of cosines, at 5, 50 and 95 %: of unrelated sentences and of translations; of `n` pairs."""

    unrelated: Floats
    translations: Floats
    n: int


@dataclass(frozen=True)
class Neighbour:
    """A sentence of the corpus, its cosine with what was asked, and its row."""

    row: int
    text: str
    cosine: float


class CorpusIndex:
    """The sentences of a corpus as one model has them; layer 0 is the embedding output."""

    def __init__(self, encoder: Encoder, corpus: ParallelCorpus, found: dict[str, Representations]) -> None:
        self.encoder, self.corpus, self._found = encoder, corpus, found
        self._rows = {code: corpus.rows_of(code) for code in corpus.languages}
        self._lengths: dict[tuple[str, int, bool], Floats] = {}
        self._centres: dict[str, Floats] = {}
        # A pair of languages is compared once; a page asks for few of them.
        self.band = lru_cache(maxsize=512)(self._band)

    @classmethod
    def of(
        cls, encoder: Encoder, corpus: ParallelCorpus, *, cache: Cache | None, progress: Progress | None = None
    ) -> CorpusIndex:
        """The corpus encoded, language by language, or taken from the cache, where an audit leaves the same vectors."""
        found = {}
        total = sum(len(corpus.column(code)) for code in corpus.languages)
        done = 0
        for code in corpus.languages:
            tell = None if progress is None else _counting(progress, f"reading {encoder.name}", done, total)
            found[code] = encoder.reading(code).encode(corpus.column(code), cache=cache, progress=tell)
            done += len(corpus.column(code))
        return cls(encoder, corpus, found)

    def centre(self, language: str | None, *, centred: bool = True) -> Floats:
        """The mean (layer, dim) of a language's sentences; of all languages' means where it is None; or zeros."""
        if not centred:
            return np.zeros((len(self.encoder.layers), self.encoder.dim))
        if language is None:
            every: Floats = np.mean([self.centre(code) for code in self.corpus.languages], axis=0)
            return every
        if language not in self._centres:
            self._centres[language] = np.stack(
                [np.asarray(layer).mean(axis=0, dtype=np.float64) for layer in self._found[language].vectors]
            )
        return self._centres[language]

    def _band(self, source: str | None, target: str | None, centred: bool) -> Band:
        """What the cosine of two sentences is in the corpus, at every layer, where they are related and where not.

        Row i of one language beside another row of the other, and beside its own. Where a side's language is not
        known, over all languages. Seeded, so that a page shows the same band each time.
        """
        sides = [self.corpus.languages if code is None else (code,) for code in (source, target)]
        pairs = [(a, b) for a, b in product(*sides) if a != b or len(sides[0]) == len(sides[1]) == 1]
        each = max(PAIRS // len(pairs), 4)
        draw = np.random.default_rng(0)
        unrelated: list[Floats] = []
        related: list[Floats] = []
        for ours, theirs in pairs:
            rows = np.intersect1d(self._rows[ours], self._rows[theirs])
            if len(rows) < 2:
                continue
            rows = np.sort(draw.choice(rows, min(each, len(rows)), replace=False))
            left = self._at(ours, rows, centred=centred)
            right = self._at(theirs, rows, centred=centred)
            related.append(np.einsum("lnd,lnd->ln", left, right))
            # Turned by a random step: nobody stands beside its own row.
            turned = np.roll(right, int(draw.integers(1, len(rows))), axis=1)
            unrelated.append(np.einsum("lnd,lnd->ln", left, turned))
        if not related:
            nothing = np.zeros((len(self.encoder.layers), len(QUANTILES)))
            return Band(nothing, nothing, 0)
        quantiles = [np.quantile(np.concatenate(side, axis=1), QUANTILES, axis=1).T for side in (unrelated, related)]
        return Band(quantiles[0], quantiles[1], sum(side.shape[1] for side in related))

    def _at(self, language: str, rows: Ints, *, centred: bool) -> Floats:
        """The vectors (layer, row, dim) of some rows at length 1."""
        places = np.searchsorted(self._rows[language], rows)
        centre = self.centre(language, centred=centred)
        found = np.stack([np.asarray(layer[places], np.float64) for layer in self._found[language].vectors])
        found -= centre[:, None]
        lengths = np.linalg.norm(found, axis=2, keepdims=True)
        scaled: Floats = np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)
        return scaled

    def neighbours(
        self, vector: Floats, layer: int, language: str, *, centred: bool, count: int, row: int | None = None
    ) -> tuple[list[Neighbour], int | None]:
        """The nearest sentences of a language to a vector (already centred), nearest first, and the rank of a row.

        The rank, from 1, is that of `row`, the translation of what was asked; of equals the first is the better.
        """
        cosines = self._cosines(vector, layer, language, centred=centred)
        count = min(count, len(cosines))
        top = np.argpartition(-cosines, count - 1)[:count]
        top = top[np.lexsort((top, -cosines[top]))]
        rows, texts = self._rows[language], self.corpus.texts[language]
        found = [Neighbour(int(rows[n]), texts[rows[n]] or "", float(cosines[n])) for n in top]
        rank = None
        if row is not None and len(place := np.flatnonzero(rows == row)):
            own = cosines[place[0]]
            rank = 1 + int((cosines > own).sum()) + int((cosines[: place[0]] == own).sum())
        return found, rank

    def _cosines(self, vector: Floats, layer: int, language: str, *, centred: bool) -> Floats:
        """Cosines of a vector with all sentences of a language, without a centred copy of them: x·q - c·q."""
        stored = self._found[language].vectors[layer]
        centre = self.centre(language, centred=centred)[layer]
        length = float(np.linalg.norm(vector))
        query = vector / length if length > 0 else vector
        dots = np.empty(len(stored))
        for begin in range(0, len(stored), _BLOCK):
            block = stored[begin : begin + _BLOCK]
            dots[begin : begin + len(block)] = np.asarray(block, np.float32) @ query.astype(np.float32)
        lengths = self._norms(language, layer, centre, centred=centred)
        cosines: Floats = np.clip((dots - float(centre @ query)) / lengths, -1.0, 1.0)
        return cosines

    def _norms(self, language: str, layer: int, centre: Floats, *, centred: bool) -> Floats:
        """The lengths of a language's centred vectors, made once; a vector of length 0 is as far as any."""
        key = (language, layer, centred)
        if key not in self._lengths:
            stored = self._found[language].vectors[layer]
            parts = [
                np.linalg.norm(np.asarray(stored[begin : begin + _BLOCK], np.float64) - centre, axis=1)
                for begin in range(0, len(stored), _BLOCK)
            ]
            lengths = np.concatenate(parts)
            lengths[lengths == 0] = np.inf
            self._lengths[key] = lengths
        return self._lengths[key]


def _counting(progress: Progress, stage: str, before: int, total: int) -> Callable[[int, int], None]:
    return lambda done, _: progress(stage, before + done, total)
