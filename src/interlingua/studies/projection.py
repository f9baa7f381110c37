"""A 2-D map of sentences: principal components of one layer, every language in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interlingua.corpus import ParallelCorpus
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
        blocks.append(np.asarray(language.sentences[layer][places], np.float64))
        column = corpus.column(language.code)
        labels += [(language.code, int(language.rows[place]), column[place]) for place in places]
    vectors = np.concatenate(blocks)
    vectors -= vectors.mean(axis=0)
    # The covariance is (dim, dim): cheaper than the singular vectors of all the points.
    variances, axes = np.linalg.eigh(vectors.T @ vectors)
    axes = axes[:, ::-1][:, :2]
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)  # A sign, so that reruns agree.
    flat = vectors @ axes
    total = float(variances.sum())
    return {
        "method": "pca",
        "layer": layer,
        "explained": [float(v) / total if total > 0 else 0.0 for v in variances[::-1][:2]],
        "points": [
            {"x": round(float(x), 4), "y": round(float(y), 4), "language": code, "row": row, "text": text}
            for (x, y), (code, row, text) in zip(flat, labels, strict=True)
        ],
    }
