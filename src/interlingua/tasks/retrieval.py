"""Cross-lingual sentence retrieval (XSR, Tatoeba): the translation's rank at every layer, from any checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from interlingua.corpus import ParallelCorpus
from interlingua.encoder import Cache, Encoder
from interlingua.errors import InputError
from interlingua.measures.retrieval import NeighborRanking, ranking_scores, rankings
from interlingua.metric import BACKWARD, Metric, Metrics
from interlingua.readers import read_corpus
from interlingua.score import Scores
from interlingua.tasks import tasks
from interlingua.tasks.predictions import Progress

_KS = (1,)


@dataclass(frozen=True)
class TranslationRanks:
    """The ranks of the sentences' translations, by layer: in the pivot for sentences, and the other way."""

    forward: Mapping[int, NeighborRanking]
    backward: Mapping[int, NeighborRanking]


_BOTH_WAYS = {"direction": ("forward", "backward")}
METRICS = Metrics(
    (
        Metric(
            name="mrr",
            title="Mean reciprocal rank (MRR)",
            null="chance: the mean of 1 / rank over n candidates",
            options=_BOTH_WAYS,
            headline=True,
        ),
        Metric(
            name="p@1",
            title="Retrieval accuracy (P@1)",
            display="percent",
            null="chance: one candidate in n",
            options=_BOTH_WAYS,
        ),
    )
)


@tasks.register("retrieval", needs="encoder", metrics=METRICS)
@dataclass(frozen=True)
class Retrieval:
    """Cross-lingual sentence retrieval (Tatoeba): MRR and P@1 at every layer, by cosine of mean token vectors.

    A query is a sentence, the candidates are all sentences of the pivot language (papers/001 §4.5). Layer 0 is the
    embedding output, layer k the output of block k.
    """

    pivot: str = "en"
    pooling: str | None = None
    name: ClassVar[str] = "retrieval"
    metric: ClassVar[str] = "mrr"

    def read(self, path: str | Path, language: str) -> ParallelCorpus:
        """The rows that a corpus has in the language and the pivot, the language first."""
        return read_corpus(path, languages=[language, self.pivot])

    def predict(
        self,
        encoder: Encoder,
        examples: ParallelCorpus,
        *,
        cache: Cache | None = None,
        progress: Progress | None = None,
    ) -> TranslationRanks:
        """The ranks at every layer, both sides encoded in one pass each."""
        if len(examples.languages) != 2:
            raise InputError(
                "retrieval is between two languages", value=", ".join(examples.languages), remedy="Select two."
            )
        pair = examples.pair(*examples.languages)
        source, target = (
            encoder.reading(code).encode(texts, pooling=self.pooling or encoder.mean, cache=cache, progress=progress)
            for code, texts in zip(examples.languages, (pair.source_texts, pair.target_texts), strict=True)
        )
        forward, backward = {}, {}
        for layer in encoder.layers:
            sides = (torch.as_tensor(np.asarray(side[layer], np.float32)) for side in (source, target))
            forward[layer], backward[layer] = rankings(*sides, ks=_KS)
        return TranslationRanks(forward, backward)

    def judge(self, predictions: TranslationRanks, examples: ParallelCorpus) -> Scores:
        """`mrr/layer K` and `p@1/layer K` for every layer K, and the same with `/backward` from the pivot."""
        scores: Scores = {}
        for layer, found in self.by_layer(predictions).items():
            for key, score in found.items():
                name, _, back = key.partition("/")
                scores[f"{name}/layer {layer}/{back}".removesuffix("/")] = score
        return scores

    def by_layer(self, predictions: TranslationRanks) -> dict[int, Scores]:
        """The scores of every layer: `mrr` and `p@1`, and the same with `/backward` from the pivot."""
        found: dict[int, Scores] = {}
        for suffix, by_layer in (("", predictions.forward), (BACKWARD, predictions.backward)):
            for layer, ranked in by_layer.items():
                scores = dict(sorted(ranking_scores(ranked, ks=_KS).items()))  # MRR, the headline, first.
                found.setdefault(layer, {}).update({f"{name}{suffix}": score for name, score in scores.items()})
        return found
