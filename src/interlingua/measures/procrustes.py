"""Procrustes: how well one rotation, learnt from some pairs, carries other pairs onto each other."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interlingua.errors import InputError
from interlingua.measures import measures
from interlingua.measures.retrieval import cosine_scores, gain, nearest
from interlingua.measures.vectors import PreparedVectors, Sides, blocks, checked, checked_pair, unit
from interlingua.metric import Metric, Metrics
from interlingua.score import Score, Scores
from interlingua.stats import group_sums, half_samples, interval_of_half_samples, wilson_interval

Indices = NDArray[np.int64]
WEAK = 1e-4
"""The share of the largest singular value below which the squared matrix is too coarse."""
ALIKE = 2e-6
"""The spread of rows, as a share of their length, that is rounding of float32 and no spread at all."""


@dataclass(frozen=True)
class Map:
    """An orthogonal map from one space to another: `apply(x) = (x - source_mean) matrix + target_mean`.

    With `normalise`, rows are brought to length 1 before their mean is taken away, and what `apply`
    returns is to be compared with target rows of length 1. All tensors are float64.
    """

    matrix: Tensor
    source_mean: Tensor
    target_mean: Tensor
    normalise: bool

    def apply(self, vectors: Tensor) -> Tensor:
        """The (n, d2) images of (n, d1) source rows in the target's space, in the dtype given."""
        return (self.centre_source(vectors) @ self.matrix + self.target_mean).to(vectors.dtype)

    def centre_source(self, vectors: Tensor) -> Tensor:
        return _prepared(vectors, self.normalise) - self.source_mean

    def centre_target(self, vectors: Tensor) -> Tensor:
        return _prepared(vectors, self.normalise) - self.target_mean

    def to_tensors(self) -> dict[str, Tensor]:
        """The map as named tensors, ready for a safetensors file."""
        return {
            "matrix": self.matrix,
            "source_mean": self.source_mean,
            "target_mean": self.target_mean,
            "normalise": torch.tensor([self.normalise]),
        }

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Map:
        """The map that `to_tensors` described."""
        missing = {"matrix", "source_mean", "target_mean", "normalise"} - set(tensors)
        if missing:
            raise InputError(
                f"not a saved map: it lacks {', '.join(sorted(missing))}", remedy="Give a file written by interlingua."
            )
        return cls(tensors["matrix"], tensors["source_mean"], tensors["target_mean"], bool(tensors["normalise"].item()))


def fit_rotation_map(source: Tensor, target: Tensor, *, normalise: bool = True) -> Map:
    """The orthogonal `Map` that brings source rows nearest to their target rows.

    W = UV', with USV' the singular value decomposition of X'Y, maximises tr(W'X'Y) and, where d1 <= d2,
    minimises ||XW - Y|| (Schönemann 1966; papers/000 §5.1). X and Y are of length 1 by row (`normalise`) and
    centred by their means. Where widths differ W is semi-orthogonal; for d1 > d2, where ||XW|| depends
    on W, it is the map of greatest trace rather than of least squares. Fitted on fewer rows than dimensions, W is
    arbitrary on what the rows do not span.

    >>> generator = torch.Generator().manual_seed(0)
    >>> rotation, _ = torch.linalg.qr(torch.randn(4, 4, generator=generator, dtype=torch.float64))
    >>> english = torch.randn(30, 4, generator=generator, dtype=torch.float64)
    >>> torch.allclose(fit_rotation_map(english, english @ rotation + 2, normalise=False).matrix, rotation)
    True
    """
    checked_pair(source, target, least=2, same_width=False)
    left, right = (unit(side) if normalise else side for side in (source, target))
    source_mean, target_mean = (side.mean(dim=0, dtype=torch.float64) for side in (left, right))
    # X'Y of the centred sides, block by block: a (d1, d2) matrix whatever the number of rows.
    cross = torch.zeros(left.shape[1], right.shape[1], dtype=torch.float64, device=left.device)
    for rows in blocks(len(left), max(cross.shape), left.device):
        cross += (left[rows].double() - source_mean).T @ (right[rows].double() - target_mean)
    return Map(_isometry(cross, spanned=len(left) > max(cross.shape)), source_mean, target_mean, normalise)


def _isometry(cross: Tensor, *, spanned: bool) -> Tensor:
    """UV' of the singular value decomposition USV'; `spanned` says whether the rows may span all dimensions."""
    if spanned and cross.device.type == "cpu":
        matrix = cross.numpy()
        return torch.from_numpy(_polar(matrix) if matrix.shape[0] >= matrix.shape[1] else _polar(matrix.T).T)
    # Here W is arbitrary in part, and every algorithm chooses differently: this one is not to change.
    u, _, vh = torch.linalg.svd(cross, full_matrices=False)
    matrix_of_svd: Tensor = u @ vh
    return matrix_of_svd


def _polar(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """UV' of a tall or square matrix USV', to about 1e-9: its orthogonal polar factor (Higham 1986).

    The eigenvectors V of C'C take two thirds of the time of the singular value decomposition, which is most of the time
    of an audit; U = CVS⁻¹. They lose what lies below σ = 1e-4 σ₁ to rounding: that part of C, with
    what U spans taken out, is a few columns and is decomposed by itself.
    """
    peak = float(np.abs(matrix).max())
    matrix = matrix / (peak if peak > 0 else 1.0)
    values, axes = np.linalg.eigh(matrix.T @ matrix)
    weak = int(np.searchsorted(values, WEAK**2 * values[-1]))
    if weak > len(values) // 4 or peak == 0:
        left, _, right = np.linalg.svd(matrix, full_matrices=False)
        return np.asarray(left @ right)
    images = matrix @ axes
    left = images[:, weak:] / np.linalg.norm(images[:, weak:], axis=0)
    polar = left @ axes[:, weak:].T
    if weak:
        rest = images[:, :weak] - left @ (left.T @ images[:, :weak])
        u, _, vh = np.linalg.svd(rest, full_matrices=False)
        polar += u @ (vh @ axes[:, :weak].T)
    return np.asarray(polar)


_MAPS = {"map": ("mapped", "identity", "random")}
_BLIND = "a map fitted on shuffled pairs; without a fitted map, chance"
_FIRST = Metric(
    name="p@1",
    title="Retrieval accuracy after a rotation (P@1)",
    display="percent",
    null=_BLIND,
    options=_MAPS,
    headline=True,
    about="Retrieval of held-out translations after a rotation fitted on other translations, and without it; "
    "language means are subtracted in both.",
    heading="P@1 held out",
    lines={"map": {"mapped": "rotated", "identity": "not rotated"}},
)
METRICS = Metrics(
    (
        _FIRST,
        Metric(name="mrr", title="Mean reciprocal rank after a rotation", null=_BLIND, options=_MAPS),
        Metric(
            name="error",
            title="Error of the rotation",
            higher_is_better=False,
            range=(0.0, None),
            null="a map fitted on shuffled pairs",
            options={"map": ("mapped",)},
        ),
    )
)
DICTIONARY_METRICS = Metrics(
    (
        _FIRST,
        Metric(
            name="p@5",
            title="Translation among the first five after a rotation (P@5)",
            display="percent",
            null=_BLIND,
            options=_MAPS,
        ),
    )
)


@measures.register("procrustes", needs="sentences", fits=True, metrics=METRICS)
def procrustes(
    source: Tensor,
    target: Tensor,
    *,
    fraction: float = 0.8,
    groups: Indices | None = None,
    normalise: bool = True,
    sides: Sides | None = None,
    seed: int = 0,
) -> Scores:
    """P@1, MRR and error of an orthogonal map fitted on one split and tested on the other; widths may differ.

    - `p@1/mapped`, `mrr/mapped`, in [0, 1], 1 is best: cosine retrieval of the test split's translations
      among the test split's targets, after the map (papers/000 §5.1, Fig. 4-6). Null: the same with
      the map fitted on shuffled training pairs.
    - `p@1/identity`, `mrr/identity`: without a map (left out where widths differ); `…/random`: with a seeded
      random orthogonal map. Null: chance, 1/n and H_n/n.
    - `error/mapped`, >= 0, 0 is best: ||XW - Y|| / ||Y|| on the test split (Frobenius); with the
      shuffled-pairs map as null; its interval is from half-samples of the test rows, or of their `groups`. Left out
      where the target's rows are all alike: Y is 0, and 0 / 0 or 1 / 0 would say that nothing was missed, or all.

    Both sides are centred by their training means. `groups` (n,) keeps rows of one number (the words of one
    sentence) on one side of the split; `fraction` of the groups train. Cosines ignore the length of the test rows.
    `details` of `p@1/mapped` has the sizes: a split with fewer training rows than dimensions fits W only in part;
    as `above_identity` the mean of mapped less identity by row and its interval (also of `mrr/mapped`); and, as
    `undefined`, what is left out, with the reason.
    `sides` are both sides with what is kept of them.

    >>> generator = torch.Generator().manual_seed(0)
    >>> rotation, _ = torch.linalg.qr(torch.randn(8, 8, generator=generator))
    >>> english = torch.randn(100, 8, generator=generator)
    >>> scores = procrustes(english, english @ rotation)
    >>> scores["p@1/mapped"].value, scores["p@1/mapped"].n, round(scores["error/mapped"].value, 3) < 0.05
    (1.0, 20, True)
    """
    checked_pair(source, target, least=4, same_width=False)
    train, test = split(len(source), fraction=fraction, groups=groups, seed=seed)
    shuffled = np.random.default_rng(seed).permutation(train)
    x, y = (side.of(_prepared, normalise) for side in sides or (PreparedVectors(source), PreparedVectors(target)))
    learnt = _take(x, train)
    fitted = fit_rotation_map(learnt, _take(y, train), normalise=False)
    blind = fit_rotation_map(learnt, _take(y, shuffled), normalise=False)
    left, right = fitted.centre_source(_take(x, test)), fitted.centre_target(_take(y, test))
    mapped, astray, directions = left @ fitted.matrix, left @ blind.matrix, unit(right)

    whose = None if groups is None else np.asarray(groups)[test]

    def retrieved(images: Tensor) -> Scores:
        return cosine_scores(unit(images), directions, ks=[1], groups=whose)

    scores: Scores = {}
    null = retrieved(astray)
    # What rounding leaves of rows that are all alike, squared.
    nothing = float(ALIKE * _take(y, test).norm()) ** 2
    spread = float(right.square().sum()) > nothing
    controls: Scores = {}
    for control, images in _controls(left, right.shape[1], seed).items():
        controls |= {f"{name}/{control}": score for name, score in retrieved(images).items()}
    for name, score in retrieved(mapped).items():
        about: dict[str, Any] = {"train": len(train), "test": len(test), "width": left.shape[1]}
        if name == "p@1" and not spread:
            about["undefined"] = ["error/mapped: the target's test rows are all alike"]
        if f"{name}/identity" in controls:
            about["above_identity"] = gain(score, controls[f"{name}/identity"], whose)
        scores[f"{name}/mapped"] = _with_null(score, null[name].value, {**score.details, **about})
    scores |= controls
    every = np.arange(len(test)) if whose is None else whose
    return scores | {"error/mapped": _error(mapped, astray, right, nothing, every, seed)} if spread else scores


@measures.register("procrustes-words", needs="words", fits=True, metrics=METRICS)
def procrustes_words(
    source: Tensor,
    target: Tensor,
    *,
    fraction: float = 0.8,
    groups: Indices | None = None,
    normalise: bool = True,
    sides: Sides | None = None,
    seed: int = 0,
) -> Scores:
    """P@1, MRR and error of an orthogonal map between linked contextual words (papers/000 §5.1.2).

    As `procrustes`, in whose terms all is defined; give `groups`, the sentence of each row, so that no
    sentence's words are on both sides of the split, and half-samples are of sentences.

    >>> words = torch.eye(6).repeat(2, 1)[:10]
    >>> procrustes_words(words, words, groups=np.arange(10) // 2)["p@1/mapped"].n
    2
    """
    scores: Scores = procrustes(
        source, target, fraction=fraction, groups=groups, normalise=normalise, sides=sides, seed=seed
    )
    return scores


def dictionary_precision(
    source: Tensor,
    target: Tensor,
    *,
    train: Indices,
    test: Indices,
    ks: Sequence[int] = (1, 5),
    normalise: bool = True,
    seed: int = 0,
) -> Scores:
    """P@K of a dictionary's test words, in [0, 1]: a hit is any of the word's translations (papers/000 §5.1.1).

    `source` and `target` hold one row per word; `train` and `test` are (pairs, 2) arrays of (source row,
    target row), as in MUSE's two files (Lample et al. 2018). The map is fitted on the training pairs; each distinct
    test word asks once among all targets. No test word may be a training word. Variants `p@K/mapped`
    (null: training pairs shuffled), `p@K/identity`, `p@K/random` (null: chance, 1 - C(m-t, K) / C(m, K) for a
    word with t of m targets right).

    >>> words = torch.eye(6)
    >>> pairs = np.array([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [4, 5], [5, 5]])
    >>> dictionary_precision(words, words, train=pairs[:4], test=pairs[4:], ks=[1])["p@1/identity"].value
    1.0
    """
    checked(source, least=2, side="source")
    checked(target, least=2, side="target")
    shared = np.intersect1d(train[:, 0], test[:, 0])
    if shared.size:
        raise InputError(
            "words are in the training and the test dictionary", value=shared.size, remedy="Split by word."
        )
    shuffled = np.random.default_rng(seed).permutation(train[:, 1])
    fitted = fit_rotation_map(_take(source, train[:, 0]), _take(target, train[:, 1]), normalise=normalise)
    blind = fit_rotation_map(_take(source, train[:, 0]), _take(target, shuffled), normalise=normalise)
    queries = np.unique(test[:, 0])
    left, right = fitted.centre_source(_take(source, queries)), fitted.centre_target(target)
    chance = _chance(test, len(target), ks)
    nulls = {k: hits.mean() for k, hits in _hits(left @ blind.matrix, right, queries, test, ks).items()}
    scores: Scores = {}
    for name, images in {"mapped": left @ fitted.matrix, **_controls(left, right.shape[1], seed)}.items():
        for k, hits in _hits(images, right, queries, test, ks).items():
            low, high = wilson_interval(float(hits.sum()), len(hits))
            null = float(nulls[k]) if name == "mapped" else chance[k]
            scores[f"p@{k}/{name}"] = Score(float(hits.mean()), len(hits), null, low, high, hits)
    return scores


def split(n: int, *, fraction: float, groups: Indices | None, seed: int) -> tuple[Indices, Indices]:
    """The rows to fit on and the rows to test on: disjoint, sorted, no group in both, at least two each.

    >>> train, test = split(6, fraction=0.5, groups=np.array([0, 0, 1, 1, 2, 2]), seed=0)
    >>> sorted([*train, *test]) == list(range(6)), len(test) % 2
    (True, 0)
    """
    if not 0 < fraction < 1:
        raise InputError("not a share to fit on", value=fraction, remedy="Give a fraction between 0 and 1.")
    labels = np.arange(n) if groups is None else np.asarray(groups)
    if labels.shape != (n,):
        raise InputError(
            "groups do not match the rows", value=labels.shape, remedy=f"Give one number for each of {n} rows."
        )
    names, member = np.unique(labels, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(names))
    in_train = np.zeros(len(names), bool)
    in_train[order[: round(fraction * len(names))]] = True
    train, test = np.flatnonzero(in_train[member]), np.flatnonzero(~in_train[member])
    if len(train) < 2 or len(test) < 2:
        raise InputError(
            "too few rows to fit on some and test on others",
            value=f"{len(train)} and {len(test)}",
            remedy="Give more rows or groups, or another fraction.",
        )
    return train, test


def _error(mapped: Tensor, blind: Tensor, right: Tensor, nothing: float, groups: Indices, seed: int) -> Score:
    """||XW - Y|| / ||Y||, with no interval where the rows that differ are so few that a half-sample has none.

    Half-samples are of groups, which are drawn whole.
    """
    scale, residue, blind_residue = (
        group_sums(part.square().sum(dim=1).cpu().numpy(), groups) for part in (right, mapped - right, blind - right)
    )

    def relative(part: NDArray[np.float64], chosen: Indices) -> NDArray[np.float64]:
        """The error over the groups of each line."""
        error: NDArray[np.float64] = np.sqrt(part[chosen].sum(axis=1) / scale[chosen].sum(axis=1))
        return error

    n, count, everything = len(right), len(scale), np.arange(len(scale))[None]
    value, drawn = float(relative(residue, everything)[0]), half_samples(count, seed=seed)
    null = float(relative(blind_residue, everything)[0])
    if (scale[drawn].sum(axis=1) <= nothing).any():
        return Score(value, n=n, null=null)
    low, high = interval_of_half_samples(relative(residue, drawn), drawn.shape[1], count, value)
    return Score(value, n=n, null=null, low=max(low, 0.0), high=high)


def _controls(left: Tensor, width: int, seed: int) -> dict[str, Tensor]:
    """The images of rows under a random map into `width` dimensions, and themselves where those are as many."""
    images = {"random": left @ torch.from_numpy(_random_map(left.shape[1], width, seed)).to(left)}
    return {**images, "identity": left} if left.shape[1] == width else images


@functools.lru_cache(maxsize=8)
def _random_map(rows: int, columns: int, seed: int) -> NDArray[np.float64]:
    """A random map with orthonormal rows or columns."""
    drawn = np.random.default_rng(seed).standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(drawn)
    # Signs of R's diagonal make the draw uniform over rotations (Mezzadri 2007).
    chosen: NDArray[np.float64] = q * np.sign(np.diagonal(r))
    return chosen if rows >= columns else chosen.T


def _hits(
    mapped: Tensor, right: Tensor, queries: Indices, test: Indices, ks: Sequence[int]
) -> dict[int, NDArray[np.float64]]:
    """For each K, whether each query has a valid translation among its K nearest targets."""
    found, _ = nearest(mapped, right, max(ks))
    width = len(right)
    valid = np.isin(queries[:, None] * width + found, test[:, 0] * width + test[:, 1])
    return {k: np.asarray(valid[:, :k].any(axis=1), np.float64) for k in ks}


def _chance(test: Indices, targets: int, ks: Sequence[int]) -> dict[int, float]:
    """The mean probability that K targets drawn without replacement hold a valid one."""
    _, right = np.unique(np.unique(test, axis=0)[:, 0], return_counts=True)
    shares = {}
    for k in ks:
        drawn = np.arange(min(k, targets))
        missed = np.clip(targets - right[:, None] - drawn, 0, None) / (targets - drawn)
        shares[k] = float(1 - missed.prod(axis=1).mean())
    return shares


def _prepared(vectors: Tensor, normalise: bool) -> Tensor:
    return (unit(vectors) if normalise else vectors).double()


def _take(vectors: Tensor, rows: Indices) -> Tensor:
    return vectors[torch.from_numpy(np.ascontiguousarray(rows)).to(vectors.device)]


def _with_null(score: Score, null: float, details: Mapping[str, Any]) -> Score:
    return Score(score.value, score.n, null, score.low, score.high, score.items, details)
