"""PCA: the plane along which the vectors spread most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from interlingua.projection import Floats, ProjectedPoints, checked, projections


@projections.register("pca")
def pca(vectors: Floats, *, perplexity: float | None = None, seed: int = 0) -> ProjectedPoints:
    """The first two principal components (Pearson 1901); `about`: `explained`, the share of variance of each.

    Linear: what is far apart on the map is far apart in the space, but not the other way round. `perplexity` and
    `seed` change nothing.

    >>> flat = pca(np.array([[0.0, 0.0, 1.0], [3.0, 0.0, 1.0], [0.0, 1.0, 1.0]]))
    >>> flat.places.shape, round(sum(flat.about["explained"]), 6)
    ((3, 2), 1.0)
    """
    places, explained = components(checked(vectors, least=2), 2)
    return ProjectedPoints(places, {"explained": explained})


def components(vectors: Floats, count: int) -> tuple[NDArray[np.float64], list[float]]:
    """The coordinates on the first `count` principal axes (zeros where there are fewer), and each one's share."""
    wide = np.asarray(vectors, np.float64)
    wide = wide - wide.mean(axis=0)
    # The covariance is (dim, dim): cheaper than the singular vectors of all the points.
    variances, axes = np.linalg.eigh(wide.T @ wide)
    axes = axes[:, ::-1][:, :count]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0, -1.0, 1.0)  # Reruns agree.
    flat = np.zeros((len(wide), count))
    flat[:, : axes.shape[1]] = wide @ axes
    total = float(variances.sum())
    shares = [float(share) / total if total > 0 else 0.0 for share in variances[::-1][:count]]
    return flat, shares
