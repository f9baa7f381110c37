"""Separation: how far linked words lie nearer to each other than words that mean different things."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats as scipy_stats
from torch import Tensor

from interlingua.errors import InputError
from interlingua.measures import measures
from interlingua.measures.vectors import blocks, checked_pair, unit
from interlingua.metric import Metric, Metrics
from interlingua.score import Score, Scores
from interlingua.stats import Z95, group_sums, half_width, mean_interval

Distances = NDArray[np.float64]


_DISTANCES = ("l2", "cosine")
METRICS = Metrics(
    (
        Metric(
            name="auc",
            title="Translations nearer than other words (AUC)",
            null="chance: one half",
            options={"distance": _DISTANCES},
            headline=True,
            about="Probability that a word is closer to its translation than to an unrelated word.",
            heading="AUC",
            lines={"distance": {"cosine": "cosine distance", "l2": "Euclidean distance"}},
        ),
        Metric(
            name="overlap",
            title="Overlap of both histograms",
            higher_is_better=False,
            null="two draws of unrelated words",
            options={"distance": _DISTANCES},
        ),
        Metric(
            name="distance",
            title="Distance of words",
            higher_is_better=False,
            range=(0.0, None),
            null="of related words, the distance of unrelated ones",
            options={"pairs": ("related", "unrelated"), "distance": _DISTANCES},
        ),
    )
)


@measures.register("separation", needs="words", metrics=METRICS)
def separation(
    source: Tensor,
    target: Tensor,
    *,
    bins: int = 40,
    groups: NDArray[np.int64] | None = None,
    seed: int = 0,
) -> Scores:
    """AUC, histogram overlap and mean distances of related and unrelated word pairs, by L2 and by cosine.

    Related: row i with row i. Unrelated: row i with a row of another sentence, every row used once
    (a seeded derangement; with `groups`, the sentence of each row, never within one), as in papers/001 §5.3 and
    Fig. 1. L2 distances there are of the raw vectors; the cosine distance is 1 - cos, in [0, 2].

    - `auc/l2`, `auc/cosine`, in [0, 1], 1 is best: the probability that a related pair is nearer than an unrelated
      one, ties half; the exact Mann-Whitney statistic over n². Null 0.5. `items`: for each related pair
      the share of unrelated ones farther apart, whose mean is the AUC. The interval is DeLong et al.'s (1988) with the
      covariance of pairs that share a row, or, with `groups`, a sentence. `details`: `edges`, and the counts `related`,
      `unrelated`.
    - `overlap/…`, in [0, 1], 0 is best: Σ min(p, q) of the two histograms on `bins` common bins. Its null is
      the overlap of two draws of unrelated pairs, which is below 1 by chance.
    - `distance/related/…`, `distance/unrelated/…`, >= 0: the means; the null of the former is the latter.

    With `groups`, intervals treat sentences as drawn and not words: an unrelated pair belongs to both of its sentences
    (dyadic-robust errors, Fafchamps & Gubert 2007).

    >>> generator = torch.Generator().manual_seed(0)
    >>> english = torch.randn(200, 16, generator=generator)
    >>> scores = separation(english, english + 0.1 * torch.randn(200, 16, generator=generator))
    >>> scores["auc/l2"].value, scores["overlap/l2"].value, scores["auc/l2"].null
    (1.0, 0.0, 0.5)
    """
    checked_pair(source, target, least=2)
    if bins < 1:
        raise InputError("a histogram needs bins", value=bins, remedy="Give 1 or more.")
    n = len(source)
    unrelated, again = (derangement(n, groups=groups, seed=[seed, draw]) for draw in (0, 1))
    scores: Scores = {}
    for name, left, right in (
        ("l2", source, target),
        ("cosine", unit(source), unit(target)),
    ):
        near = _distances(left, right, None, name)
        far, control = _distances(left, right, unrelated, name), _distances(left, right, again, name)
        scores |= _compare(name, near, far, control, partner=unrelated, groups=groups, bins=bins)
    return scores


def derangement(n: int, *, groups: NDArray[np.int64] | None, seed: int | list[int]) -> NDArray[np.int64]:
    """For each of n rows another row, of another group where groups are given; each row is taken once.

    Rows stand in a random order of groups and are paired with the row one largest group further on.

    >>> partner = derangement(6, groups=np.array([0, 0, 1, 1, 2, 2]), seed=0)
    >>> sorted(partner.tolist()), bool((partner // 2 != np.arange(6) // 2).all())
    ([0, 1, 2, 3, 4, 5], True)
    """
    labels = np.arange(n) if groups is None else np.asarray(groups)
    if labels.shape != (n,):
        raise InputError(
            "groups do not match the rows", value=labels.shape, remedy=f"Give one number for each of {n} rows."
        )
    _, member, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    step = int(sizes.max())
    if 2 * step > n:
        raise InputError(
            "more than half of the words are of one sentence", value=f"{step} of {n}", remedy="Give more sentences."
        )
    draw = np.random.default_rng(seed)
    order = np.lexsort((draw.random(n), draw.permutation(len(sizes))[member]))
    partner = np.empty(n, np.int64)
    partner[order] = np.roll(order, -step)
    return partner


def _distances(left: Tensor, right: Tensor, partner: NDArray[np.int64] | None, name: str) -> Distances:
    places = torch.arange(len(right)) if partner is None else torch.from_numpy(partner)
    found = np.empty(len(left))
    for rows in blocks(left.shape[0], left.shape[1], left.device):
        ours, theirs = left[rows].double(), right[places[rows].to(right.device)].double()
        if name == "cosine":
            # Rounding must not make the distance of a vector to itself negative.
            apart = (1 - (ours * theirs).sum(dim=1)).clamp_min(0)
        else:
            apart = torch.linalg.vector_norm(ours - theirs, dim=1)
        found[rows] = apart.cpu().numpy()
    return found


def _compare(
    name: str,
    near: Distances,
    far: Distances,
    control: Distances,
    *,
    partner: NDArray[np.int64],
    groups: NDArray[np.int64] | None,
    bins: int,
) -> Scores:
    edges = np.histogram_bin_edges(np.concatenate([near, far, control]), bins)
    related, unrelated, again = (np.histogram(part, edges)[0] for part in (near, far, control))
    n = len(near)
    expected = float(far.mean())
    if groups is None:
        apart = mean_interval(far)
    else:
        half = _half_by_sentence(np.zeros(n), far - expected, partner, groups)
        apart = (expected - half, expected + half)
    histogram = {"edges": edges, "related": related, "unrelated": unrelated}
    return {
        f"auc/{name}": _auc(near, far, partner, groups, histogram),
        f"overlap/{name}": Score(_overlap(related, unrelated), n=n, null=_overlap(again, unrelated)),
        f"distance/related/{name}": Score(float(near.mean()), n, expected, *mean_interval(near, groups), near),
        f"distance/unrelated/{name}": Score(expected, n, None, *apart, far),
    }


def _overlap(left: NDArray[np.int64], right: NDArray[np.int64]) -> float:
    return float(np.minimum(left / left.sum(), right / right.sum()).sum())


def _auc(
    near: Distances,
    far: Distances,
    partner: NDArray[np.int64],
    groups: NDArray[np.int64] | None,
    histogram: dict[str, NDArray[Any]],
) -> Score:
    n = len(near)
    pooled = scipy_stats.rankdata(np.concatenate([near, far]))
    # A value's mid-rank in the pool less that in its own sample counts the other sample's values below it.
    items = 1 - (pooled[:n] - scipy_stats.rankdata(near)) / n
    below_far = (pooled[n:] - scipy_stats.rankdata(far)) / n
    value = float(items.mean())
    a, b = items - value, below_far - value
    if groups is None:
        # An unrelated pair shares its source row with one related pair and its target row with another.
        variance = float((a * a + b * b + 2 * b * (a + a[partner])).sum()) / (n - 1)
        half = Z95 * float(np.sqrt(max(variance, 0.0) / n))
    else:
        half = _half_by_sentence(a, b, partner, groups)
    details = {key: values.tolist() for key, values in histogram.items()}
    return Score(value, n, 0.5, max(value - half, 0.0), min(value + half, 1.0), items, details)


def _half_by_sentence(
    related: Distances, unrelated: Distances, partner: NDArray[np.int64], groups: NDArray[np.int64]
) -> float:
    """Half of the interval whose variance sums the products of influence values of all pairs that share a sentence.

    Each sentence's sum, squared, has them all, but twice where two unrelated pairs share both of their sentences, or
    are one and the same: so the squared sums by the two sentences go off again.
    """
    _, ours = np.unique(groups, return_inverse=True)
    count, theirs = int(ours.max()) + 1, ours[partner]
    sums = np.bincount(ours, related + unrelated, count) + np.bincount(theirs, unrelated, count)
    both = group_sums(unrelated, np.minimum(ours, theirs) * count + np.maximum(ours, theirs))
    return half_width(float(np.square(sums).sum() - np.square(both).sum()), count, len(related))
