"""t-SNE: neighbours stay neighbours, and distances between groups mean nothing."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from interlingua.projection import Floats, ProjectedPoints, check_installed, checked, clamp_perplexity, projections
from interlingua.projection.pca import components

PERPLEXITY = 70.0
"""That of papers/003 Fig. 1; it gives none for Fig. 2."""
FIRST = 50
"""Principal components kept before (van der Maaten & Hinton 2008, §4.2, keep 30): faster, and less noise."""


@projections.register("tsne", needs="maps")
def tsne(vectors: Floats, *, perplexity: float | None = None, seed: int = 0) -> ProjectedPoints:
    """t-SNE (van der Maaten & Hinton 2008), Barnes-Hut, after 50 principal components; needs the extra `maps`.

    `perplexity` is roughly how many neighbours count, 70 by default (papers/003 §3.2) or (n - 1) / 3 where there are
    fewer points; `about` has the one used. Begins at the first two components, so that runs differ little by seed; the
    learning rate is max(n / 48, 50) (Belkina et al. 2019).

    >>> from importlib.util import find_spec
    >>> cloud = np.random.default_rng(0).normal(size=(40, 5))
    >>> tsne(cloud, perplexity=5).places.shape if find_spec("sklearn") else (40, 2)
    (40, 2)
    """
    wide = checked(vectors, least=7)
    wanted = clamp_perplexity(perplexity, len(wide), default=PERPLEXITY)
    check_installed("tsne")
    from sklearn.manifold import TSNE

    # One thread: sums over threads round differently from run to run, and the map would not come out the same.
    with threadpool_limits(1):
        start = components(wide, FIRST)[0]
        # Sizes as TSNE's own start from PCA has them; a constant cloud has no size.
        spread = start[:, :2].std(axis=0)[0]
        begin = start[:, :2] / (spread if spread > 0 else 1.0) * 1e-4
        engine = TSNE(perplexity=wanted, init=begin.astype(np.float32), learning_rate="auto", random_state=seed)
        places = engine.fit_transform(start.astype(np.float32))
    return ProjectedPoints(
        np.asarray(places, np.float64), {"perplexity": wanted, "divergence": float(engine.kl_divergence_)}
    )
