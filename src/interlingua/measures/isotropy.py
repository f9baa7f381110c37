"""Isotropy: how evenly a language's vectors use the directions of their space."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interlingua.errors import InputError
from interlingua.measures import measures
from interlingua.measures.vectors import blocks, checked, subtract_mean, unit
from interlingua.metric import Metric, Metrics
from interlingua.score import Score, Scores
from interlingua.stats import Z95, group_sums, half_width, mean_interval

Values = NDArray[np.float64]
TOPS = (1, 10)


METRICS = Metrics(
    (
        Metric(
            name="average-cosine",
            title="Mean cosine of two words",
            higher_is_better=False,
            range=(-1.0, 1.0),
            null="an isotropic space",
            headline=True,
            about="Mean cosine of two unrelated words of one language: near 1, all vectors point in one direction.",
            heading="Mean cosine",
        ),
        Metric(
            name="isoscore",
            title="IsoScore",
            null="a Gaussian of as many rows and dimensions",
            charted=True,
            about="1 if all directions of the space are used equally. The reference is a Gaussian sample of the same "
            "size, the highest value to expect.",
        ),
        Metric(
            name="top-1",
            title="Variance on the first axis",
            higher_is_better=False,
            display="percent",
            null="a Gaussian of as many rows and dimensions",
        ),
        Metric(
            name="top-10",
            title="Variance on the first ten axes",
            higher_is_better=False,
            display="percent",
            null="a Gaussian of as many rows and dimensions",
        ),
    )
)


@measures.register("isotropy", needs="space", metrics=METRICS)
def isotropy(vectors: Tensor, *, groups: NDArray[np.int64] | None = None, seed: int = 0) -> Scores:
    """Average cosine in [-1, 1], IsoScore in [0, 1] and shares of variance in (0, 1] of one space.

    - `average-cosine`, 0 is isotropic: the mean cosine of two distinct rows (papers/003 §4.1). Exact over all
      pairs in O(nd): with u_i the rows at length 1, (|Σ u_i|² - Σ |u_i|²) / (n (n-1)). Null 0. `items`: each row's
      mean cosine to the others; a U-statistic of order two, so its standard error is twice that of their mean.
    - `isoscore`, 1 is isotropic (Rudman et al. 2022, Algorithm 1). Its steps (PCA, diagonal of the covariance at
      length √d, distance to the vector of ones, rescaling) come to (r - 1) / (d - 1), r = (Σ λ)² / Σ λ² the
      participation ratio of the covariance's eigenvalues. It **depends on the sample size**: a perfectly isotropic
      Gaussian of d = 768 reads 0.57 at n = 1,000 and 0.87 at 5,000. Compare with the null, never across n.
    - `top-1`, `top-10`: the share of variance on the first 1 and 10 principal axes, biased upwards likewise.
      `details` of `top-1`: `profile`, the cumulative share on up to 100 axes.

    The null of the last three is what an isotropic Gaussian of this n and d reads, from one seeded draw. Their
    intervals are from influence functions (infinitesimal jackknife, Efron 1982). With `groups`, the sentence of each
    row, all intervals treat sentences as drawn and not rows: influence is summed within them first. Vectors without
    spread have IsoScore 0 and all variance on the first axis.

    >>> generator = torch.Generator().manual_seed(0)
    >>> cloud = torch.randn(2000, 8, generator=generator)
    >>> scores = isotropy(cloud)
    >>> scores["isoscore"].value > 0.98, abs(scores["average-cosine"].value) < 0.01
    (True, True)
    >>> isotropy(cloud + 10)["average-cosine"].value > 0.9
    True
    """
    checked(vectors, least=3)
    n, d = vectors.shape
    if d < 2:
        raise InputError("a line has no isotropy", value=d, remedy="Give vectors of width 2 or more.")
    if groups is not None and np.shape(groups) != (n,):
        raise InputError(
            "groups do not match the rows", value=np.shape(groups), remedy=f"Give one number for each of {n} rows."
        )
    spectrum, rows = _principal(vectors)
    expected = _isotropic_spectrum(n, d, seed)
    total = spectrum.sum()
    summed = np.cumsum(spectrum)
    # Over its own last entry, not over `total`: summed in another order that can leave a share just above 1.
    shares = summed / summed[-1] if total > 0 else np.ones(len(spectrum))
    scores: Scores = {"average-cosine": _average_cosine(vectors, groups)}
    value = _isoscore(spectrum, d)
    low, high = _around(value, _isoscore_influence(spectrum, rows, d), groups)
    scores["isoscore"] = Score(value, n, _isoscore(expected, d), low, high)
    for count in TOPS:
        value = float(shares[min(count, len(shares)) - 1])
        # A row moves a share by its part on those axes less the share of its whole.
        influence = (rows.on_top[count] - value * rows.whole) / total if total > 0 else np.zeros(n)
        low, high = _around(value, influence, groups)
        null = float(expected[:count].sum() / expected.sum())
        details = {"profile": shares[:100].tolist()} if count == 1 else {}
        scores[f"top-{count}"] = Score(value, n, null, low, high, details=details)
    return scores


@dataclass(frozen=True)
class _Rows:
    """Of each centred row x: |x|², x'Cx, and the squared length of its projection on the first axes."""

    whole: Values
    power: Values
    on_top: dict[int, Values]


def _average_cosine(vectors: Tensor, groups: NDArray[np.int64] | None) -> Score:
    rows = unit(vectors).double()
    n = len(rows)
    items = ((rows @ rows.sum(dim=0) - rows.square().sum(dim=1)) / (n - 1)).cpu().numpy()
    value = float(items.mean())
    low, high = mean_interval(items, groups)
    return Score(value, n, 0.0, max(2 * low - value, -1.0), min(2 * high - value, 1.0), items)


def _isoscore(spectrum: Values, d: int) -> float:
    total = float(spectrum.sum())
    if total <= 0:
        return 0.0
    return (total**2 / float(np.square(spectrum).sum()) - 1) / (d - 1)


def _principal(vectors: Tensor) -> tuple[Values, _Rows]:
    """Eigenvalues of the covariance C, largest first, and what each row contributes.

    From the (n, n) or the (d, d) matrix, whichever is smaller: both have the same non-zero eigenvalues.
    """
    n, d = vectors.shape
    mean = vectors.mean(dim=0, dtype=torch.float64)
    if n <= d:
        moved = subtract_mean(vectors, mean)
        values, axes = torch.linalg.eigh(moved @ moved.T / n)
        parts: Iterable[Tensor] = [axes.square() * values.clamp_min(0) * n]
    else:
        covariance = torch.zeros(d, d, dtype=torch.float64, device=vectors.device)
        for rows in blocks(n, d, vectors.device):
            moved = subtract_mean(vectors[rows], mean)
            covariance += moved.T @ moved / n
        values, axes = torch.linalg.eigh(covariance)
        parts = ((subtract_mean(vectors[rows], mean) @ axes).square() for rows in blocks(n, d, vectors.device))
    # Rounding leaves eigenvalues of -1e-17 where the rows do not reach.
    values = values.clamp_min(0)
    kept = [(part.sum(dim=1), part @ values, *(part[:, -count:].sum(dim=1) for count in TOPS)) for part in parts]
    whole, power, *tops = (torch.cat(column).cpu().numpy() for column in zip(*kept, strict=True))
    return values.flip(0).cpu().numpy(), _Rows(whole, power, dict(zip(TOPS, tops, strict=True)))


def _isoscore_influence(spectrum: Values, rows: _Rows, d: int) -> Values:
    """What each row moves, from T = tr C and F = tr C²: d(T²/F) = 2T dT / F - T² dF / F²."""
    total, power = float(spectrum.sum()), float(np.square(spectrum).sum())
    if total <= 0:
        return np.zeros(len(rows.whole))
    on_total, on_power = rows.whole - total, 2 * (rows.power - power)
    influence: Values = (2 * total * on_total / power - total**2 * on_power / power**2) / (d - 1)
    return influence


def _around(value: float, influence: Values, groups: NDArray[np.int64] | None) -> tuple[float, float]:
    n = len(influence)
    if groups is None:
        half = Z95 * float(np.sqrt(np.square(influence).mean() / n))
    else:
        sums = group_sums(influence, groups)
        half = half_width(float(np.square(sums).sum()), len(sums), n)
    return max(value - half, 0.0), min(value + half, 1.0)


@functools.lru_cache(maxsize=64)
def _isotropic_spectrum(n: int, d: int, seed: int) -> Values:
    """Eigenvalues, largest first, of the covariance of n draws of a d-dimensional isotropic Gaussian.

    n - 1 degrees of freedom are left after centring. Where they are many, Bartlett's (1933) triangular factor of
    the Wishart matrix has the same distribution at a cost that does not grow with n.
    """
    draw, freedom = np.random.default_rng(seed), n - 1
    if freedom <= d:
        factor = draw.standard_normal((freedom, d))
    else:
        factor = np.tril(draw.standard_normal((d, d)), -1)
        factor[np.diag_indices(d)] = np.sqrt(draw.chisquare(freedom - np.arange(d)))
    # The cache hands out one array: nobody may write to it.
    spectrum: Values = np.square(np.linalg.svd(factor, compute_uv=False)) / n
    spectrum.flags.writeable = False
    return spectrum
