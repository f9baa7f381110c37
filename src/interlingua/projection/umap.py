"""UMAP: neighbours stay neighbours, and more of the whole stays than with t-SNE."""

from __future__ import annotations

import warnings

import numpy as np

from interlingua.projection import Floats, ProjectedPoints, check_installed, checked, clamp_perplexity, projections

NEIGHBOURS = 15.0
"""The library's default."""


@projections.register("umap", needs="umap")
def umap(vectors: Floats, *, perplexity: float | None = None, seed: int = 0) -> ProjectedPoints:
    """UMAP (McInnes et al. 2018) with `perplexity` as its number of neighbours, 15 by default; needs the extra `umap`.

    Deterministic by `seed`, for which it runs on one thread. `about`: `neighbours`.

    >>> from importlib.util import find_spec
    >>> cloud = np.random.default_rng(0).normal(size=(40, 5))
    >>> umap(cloud, perplexity=5).places.shape if find_spec("umap") else (40, 2)
    (40, 2)
    """
    wide = checked(vectors, least=7)
    count = max(round(clamp_perplexity(perplexity, len(wide), default=NEIGHBOURS)), 2)
    check_installed("umap")
    from umap import UMAP

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # That a seed means one thread, which is what is wanted.
        places = UMAP(n_neighbors=count, random_state=seed, n_jobs=1).fit_transform(wide.astype(np.float32))
    return ProjectedPoints(np.asarray(places, np.float64), {"neighbours": count})
