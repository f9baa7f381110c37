"""A 2-D map of sentences: principal components of one layer, every language in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interlingua.corpus import ParallelCorpus
from interlingua.flattening.pca import components
from interlingua.studies.measuring import Language

MOST_POINTS = 3000


def project(languages: Sequence[Language], corpus: ParallelCorpus, *, layer: int, seed: int) -> dict[str, Any]:
    """The first two principal components of a layer's sentences, as points with language, row and text.

    Rows are sampled by `seed` so that at most 3,000 points are drawn, the same rows in every language.
    `explained` is the share of the variance each component carries.
    """
    most = max(MOST_POINTS // len(languages), 1)
    chosen = np.arange(len(corpus))
    if len(chosen) > most:
        chosen = np.sort(np.random.default_rng(seed).choice(len(corpus), most, replace=False))
    blocks, labels = [], []
    for language in languages:
        places = np.flatnonzero(np.isin(language.rows, chosen))
        blocks.append(language.sentences.copied(layer, places).astype(np.float64))
        column = corpus.column(language.code)
        labels += [(language.code, int(language.rows[place]), column[place]) for place in places]
    flat, explained = components(np.concatenate(blocks), 2)
    return {
        "method": "pca",
        "layer": layer,
        "explained": explained,
        "points": [
            {"x": round(float(x), 4), "y": round(float(y), 4), "language": code, "row": row, "text": text}
            for (x, y), (code, row, text) in zip(flat, labels, strict=True)
        ],
    }
