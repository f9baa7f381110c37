"""CKA: how alike two spaces are over the same items, whatever their rotation, scale and width."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interlingua.errors import InputError
from interlingua.measures import measures
from interlingua.measures.vectors import PreparedVectors, Sides, blocks, checked_pair, dear, subtract_mean
from interlingua.metric import Metric, Metrics
from interlingua.registry import unknown
from interlingua.score import Score, Scores
from interlingua.stats import half_sample_interval, half_samples, interval_of_half_samples

FORMS = ("debiased", "plain")
INTERVAL_ROWS = 512
"""The most rows of one sample behind the interval; more would cost more than the value itself."""
GRAM_ROWS = 2 * INTERVAL_ROWS
"""Up to this many rows every half-sample is a part of one pair of Gram matrices."""


METRICS = Metrics(
    (
        Metric(
            name="cka",
            title="Linear CKA",
            range=(-1.0, 1.0),
            null="shuffled pairs: 0 where debiased",
            options={"form": FORMS},
            headline=True,
            bare=True,
            about="Debiased linear CKA: 1 if the spaces of two languages are equal up to rotation and scale, 0 if "
            "they are unrelated.",
            heading="CKA",
        ),
    )
)


@measures.register("cka", needs="sentences", metrics=METRICS)
def cka(
    source: Tensor, target: Tensor, *, forms: Sequence[str] = FORMS, sides: Sides | None = None, seed: int = 0
) -> Scores:
    """Linear CKA of two spaces: `debiased` in [-1, 1] and `plain` in [0, 1], 1 is best; widths may differ.

    Invariant to rotation, translation and scaling of either side, not to other linear maps.

    - `plain`: ||Y'X||² / (||X'X|| ||Y'Y||), Frobenius norms, columns centred (Kornblith et al. 2019;
      papers/000 §5.2). It grows with width over rows: on unrelated noise of n = 1000, d = 768 it reads 0.43.
    - `debiased`: HSIC(X, Y) / sqrt(HSIC(X, X) HSIC(Y, Y)) with the unbiased HSIC (Song et al. 2012, Eq. 5;
      Nguyen et al. 2021, Eq. 3), which is 0 on average for unrelated data, and so slightly negative at times.
      With K = XX' and L = YY', their diagonals set to zero,

          HSIC = [tr(KL) + 1'K1 1'L1 / ((n-1)(n-2)) - 2/(n-2) 1'KL1] / (n (n-3)).

      It does not change when X or Y is translated. With both centred every row of XX' sums to zero, so with
      a_i = |x_i|² and b_i = |y_i|² the row sums of K are -a_i, and

          HSIC = [||X'Y||² - n/(n-2) Σ a_i b_i + Σ a_i Σ b_i / ((n-1)(n-2))] / (n (n-3)):

      no n × n matrix is needed. Where n <= d, or where the interval needs them in any case (n <= 1024), ||X'Y||² is
      taken from the Gram matrices. Both are exact.

    The null is exact over shuffled pairs: 0 for `debiased`; Σ a_i Σ b_i / ((n-1) ||X'X|| ||Y'Y||) for `plain`,
    which is large and is the reason for the other. The interval of `debiased` comes from half-samples without
    replacement (of at most 512 rows, rescaled), and is absent for n < 8.
    A side without spread has no similarity to anything: 0. `sides` are both sides with what is kept of them.

    >>> generator = torch.Generator().manual_seed(0)
    >>> english = torch.randn(40, 8, generator=generator)
    >>> scores = cka(english, 3 * english.flip(1) + 1)
    >>> round(scores["debiased"].value, 6), round(scores["plain"].value, 6), scores["debiased"].null
    (1.0, 1.0, 0.0)
    """
    for form in forms:
        if form not in FORMS:
            raise unknown("form of CKA", form, list(FORMS))
    checked_pair(source, target, least=4, same_width=False)
    n, (ours, theirs) = len(source), sides or (PreparedVectors(source), PreparedVectors(target))
    grams = (ours.of(_gram, seed), theirs.of(_gram, seed)) if "debiased" in forms and n <= GRAM_ROWS else None
    moments = _moments(source, target) if grams is None else _gram_moments(*grams)
    scores: Scores = {}
    if "debiased" in forms:
        value = float(_debiased(moments.hsics()))
        low, high = _interval(source, target, grams, value, seed=seed) if n >= 8 else (None, None)
        scores["debiased"] = Score(value, n=n, null=0.0, low=low, high=high)
    if "plain" in forms:
        size = float(np.sqrt(moments.source * moments.target))
        shuffled = float(moments.a.sum() * moments.b.sum()) / (n - 1)
        value, null = (moments.both / size, shuffled / size) if size > 0 else (0.0, 0.0)
        scores["plain"] = Score(value, n=n, null=null)
    return scores


def minibatch_cka(batches: Iterable[tuple[Tensor, Tensor]]) -> Score:
    """Debiased CKA of a corpus seen in blocks of (source, target) rows, in [-1, 1].

    The unbiased HSIC of each block is averaged before the ratio is taken, so the result does not
    depend on the batch size in expectation (Nguyen et al. 2021, Eq. 2). Blocks are weighted alike, as in
    the paper; keep them of one size, and shuffled. Each needs 4 rows.

    >>> generator = torch.Generator().manual_seed(0)
    >>> parts = [torch.randn(20, 4, generator=generator) for _ in range(3)]
    >>> score = minibatch_cka((part, 2 * part) for part in parts)
    >>> round(score.value, 6), score.n
    (1.0, 60)
    """
    total, rows = np.zeros(3), 0
    for source, target in batches:
        checked_pair(source, target, least=4, same_width=False)
        total += _moments(source, target).hsics()
        rows += len(source)
    if not rows:
        raise InputError("no batch to compare", remedy="Give at least one block of 4 parallel rows.")
    return Score(float(_debiased(total)), n=rows, null=0.0)


@dataclass(frozen=True)
class _Moments:
    """All that either form needs of the centred sides: ||X'Y||², ||X'X||², ||Y'Y||², and a_i, b_i."""

    both: float
    source: float
    target: float
    a: Tensor
    b: Tensor

    def hsics(self) -> NDArray[np.float64]:
        """The unbiased HSIC of both sides, of the source with itself and of the target with itself."""
        n = len(self.a)
        terms = ((self.both, self.a, self.b), (self.source, self.a, self.a), (self.target, self.b, self.b))
        return np.array(
            [
                (square - n / (n - 2) * float(a @ b) + float(a.sum() * b.sum()) / ((n - 1) * (n - 2))) / (n * (n - 3))
                for square, a, b in terms
            ]
        )


def _moments(source: Tensor, target: Tensor) -> _Moments:
    n, width = len(source), max(source.shape[1], target.shape[1])
    if n <= width:
        return _gram_moments(_gram(source, None), _gram(target, None))
    # In float64: HSIC is a difference of large sums.
    means = [side.mean(dim=0, dtype=torch.float64) for side in (source, target)]
    a, b = means[0].new_empty(n), means[0].new_empty(n)
    products: list[Tensor] = [torch.zeros(()).to(means[0])] * 3
    for rows in blocks(n, width, source.device):
        x, y = subtract_mean(source[rows], means[0]), subtract_mean(target[rows], means[1])
        a[rows], b[rows] = x.square().sum(dim=1), y.square().sum(dim=1)
        products = [total + part for total, part in zip(products, (x.T @ y, x.T @ x, y.T @ y), strict=True)]
    both, own, other = (float(product.square().sum()) for product in products)
    return _Moments(both, own, other, a, b)


class _Gram(NamedTuple):
    """What CKA needs of one side, its rows centred.

    `products` is XX' with its diagonal, `squares` (the a_i), set to zero; `power` is ||X'X||². For each half-sample
    that the seed draws, `sums` (times, n) has the sums by row of its part of `products`, 0 for rows
    outside it, and `own` (times,) its HSIC with itself.
    """

    products: Tensor
    squares: Tensor
    power: Tensor
    sums: Tensor
    own: Tensor


@dear
def _gram(vectors: Tensor, seed: int | None) -> _Gram:
    rows = subtract_mean(vectors, vectors.mean(dim=0, dtype=torch.float64))
    products = rows @ rows.T
    squares = products.diagonal().clone()
    products.fill_diagonal_(0.0)
    power = products.square().sum() + squares.square().sum()
    if seed is None or len(rows) < 8:
        return _Gram(products, squares, power, rows.new_empty(0, len(rows)), rows.new_empty(0))
    masks = _masks(len(rows), seed).to(products)
    sums = (masks @ products) * masks
    return _Gram(products, squares, power, sums, _half_sample_hsics(products.square(), sums, sums, masks))


def _gram_moments(left: _Gram, right: _Gram) -> _Moments:
    both = (left.products * right.products).sum() + left.squares @ right.squares
    return _Moments(float(both), float(left.power), float(right.power), left.squares, right.squares)


@functools.lru_cache(maxsize=8)
def _masks(n: int, seed: int) -> Tensor:
    """(times, n): 1 where a half-sample has the row. The cache hands out one tensor: nobody may write to it."""
    drawn = torch.from_numpy(half_samples(n, seed=seed))
    return torch.zeros(len(drawn), n, dtype=torch.float64).scatter_(1, drawn, 1.0)


def _half_sample_hsics(products: Tensor, rows_k: Tensor, rows_l: Tensor, masks: Tensor) -> Tensor:
    """Song et al. 2012, Eq. 5, for every half-sample of two Gram matrices K and L with zero diagonals.

    `products` is K∘L: with m a sample as zeros and ones, tr(KL) over the sample is m'(K∘L)m.
    """
    n = products.shape[1] // 2
    trace = ((masks @ products) * masks).sum(dim=1)
    crossed = rows_k.sum(dim=1) * rows_l.sum(dim=1) / ((n - 1) * (n - 2)) - 2 / (n - 2) * (rows_k * rows_l).sum(dim=1)
    return (trace + crossed) / (n * (n - 3))


def _debiased(hsics: NDArray[np.float64]) -> NDArray[np.float64]:
    """The ratios of (3, …) HSICs of both sides, of the source with itself and of the target with itself."""
    both, source, target = hsics
    # Self-terms are squared lengths of U-centred matrices (Székely & Rizzo 2014): 0 only without spread.
    spread = (source > 0) & (target > 0)
    size = np.sqrt(np.where(spread, source, 1.0) * np.where(spread, target, 1.0))
    ratio: NDArray[np.float64] = np.where(spread, np.clip(both / size, -1.0, 1.0), 0.0)
    return ratio


def _interval(
    source: Tensor, target: Tensor, grams: tuple[_Gram, _Gram] | None, value: float, *, seed: int
) -> tuple[float, float]:
    n = len(source)
    if grams is None:

        def statistic(rows: NDArray[np.int64]) -> float:
            chosen = torch.from_numpy(rows).to(source.device)
            return float(_debiased(_moments(source[chosen], target[chosen]).hsics()))

        low, high = half_sample_interval(statistic, n, value, seed=seed, most=INTERVAL_ROWS)
    else:
        left, right = grams
        masks = _masks(n, seed).to(left.products)
        both = _half_sample_hsics(left.products * right.products, left.sums, right.sums, masks)
        samples = _debiased(torch.stack([both, left.own, right.own]).cpu().numpy())
        low, high = interval_of_half_samples(samples, n // 2, n, value)
    return max(low, -1.0), min(high, 1.0)
