"""Clusters: how far vectors lie together by a label (language, entity type): silhouette and neighbour purity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interlingua.errors import InputError
from interlingua.measures import measures
from interlingua.measures.vectors import blocks, checked, checked_pair, unit
from interlingua.metric import Metric, Metrics
from interlingua.score import Score, Scores
from interlingua.stats import mean_interval

NULL_SHUFFLES = 5
"""Shuffled labellings behind the null of the silhouette."""


def clusters(vectors: Tensor, labels: Sequence[str], *, k: int = 10, seed: int = 0) -> Scores:
    """Silhouette in [-1, 1] and purity of the k nearest neighbours in [0, 1], both by cosine; high is clustered.

    What the eye sees in a map of papers/003 Figs. 1-2, as numbers: by language, high says that vectors still lie by
    language; by type, that they lie by meaning. Cosine distance 1 - cos, so that lengths do not matter.

    - `silhouette` (Rousseeuw 1987): the mean of (b - a) / max(a, b), a a row's mean distance to the other rows of its
      label, b the smallest mean distance to those of another label; 0 for a row alone with its label, and where both
      are 0. Null: the mean over 5 seeded shuffles of the labels. `details`: `by_label`, the mean of each label.
    - `purity`: the mean share of a row's k nearest other rows that have its label; ties of distance share their
      places evenly, so that the order of rows does not matter. Its null is exact: a row's label is shared by a
      share (n_label - 1) / (n - 1) of the others. `details`: `k` and `by_label`.

    Intervals are Student's over rows, those of the purity by the jackknife: a row is also the neighbour of others. Rows
    of one sentence or name are not independent, so they are too narrow there.

    >>> rows = torch.tensor([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
    >>> scores = clusters(rows, ["ru", "ru", "tr", "tr"], k=1)
    >>> scores["silhouette"].value > 0.9, scores["purity"].value, round(scores["purity"].null, 4)
    (True, 1.0, 0.3333)
    """
    checked(vectors, least=3)
    names, member = np.unique(np.asarray(labels), return_inverse=True)
    n = len(vectors)
    if len(labels) != n:
        raise InputError("labels do not match the rows", value=len(labels), remedy=f"Give one for each of {n} rows.")
    if not 2 <= len(names) < n:
        raise InputError(
            "clusters need two labels or more, and a label that two rows share",
            value=len(names),
            remedy="Give rows of several languages or types.",
        )
    if not 1 <= k < n:
        raise InputError("k must be at least 1 and below the number of rows", value=k, remedy=f"{n} rows are given.")
    draw = np.random.default_rng(seed)
    labellings = np.stack([member, *(draw.permutation(member) for _ in range(NULL_SHUFFLES))])
    widths, shares, costs = _passed(unit(vectors), labellings, len(names), k)
    counts = np.bincount(member)
    chance = float(((counts[member] - 1) / (n - 1)).mean())
    shuffled = float(np.mean([width.mean() for width in widths[1:]]))
    return {
        "silhouette": _score(widths[0], shuffled, names, member, floor=-1.0),
        "purity": _score(shares, chance, names, member, floor=0.0, k=k, costs=costs),
    }


METRICS = Metrics(
    (
        Metric(
            name="silhouette",
            title="Silhouette by language",
            higher_is_better=False,
            range=(-1.0, 1.0),
            null="languages shuffled among rows",
            headline=True,
            about="How far sentences lie apart by language: 0 if languages are mixed, 1 if each lies by itself.",
            heading="Silhouette",
        ),
        Metric(
            name="purity",
            title="Nearest neighbours of the same language",
            higher_is_better=False,
            display="percent",
            null="chance: the share of the same language among the other rows",
        ),
    )
)


@measures.register("clusters", needs="sentences", metrics=METRICS)
def language_clusters(source: Tensor, target: Tensor, *, seed: int = 0) -> Scores:
    """How far the rows of two languages lie apart by language: `silhouette` and `purity` of `clusters`, low is mixed.

    Null silhouette 0 and null purity about 0.5: languages that cannot be distinguished, as papers/003 §3.3 looks for in
    maps. A language's rows beside their own copy read less than that, since the nearest row is always the other's.

    >>> rows = torch.randn(24, 4, generator=torch.Generator().manual_seed(0))
    >>> scores = language_clusters(rows + 5, rows - 5)
    >>> scores["purity"].value, round(scores["purity"].null, 2)
    (1.0, 0.49)
    """
    checked_pair(source, target, least=10)
    labels = ["source"] * len(source) + ["target"] * len(target)
    return clusters(torch.cat([_single(source), _single(target)]), labels, seed=seed)


def _single(vectors: Tensor) -> Tensor:
    return vectors.float() if vectors.dtype != torch.float64 else vectors


def _passed(
    rows: Tensor, labellings: NDArray[np.int64], classes: int, k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Silhouettes under every labelling and purity under the first, in one pass over blocks of distances.

    And what each row costs the purity of others: what they would gain where it is gone, and the next takes its place.
    """
    n = len(rows)
    marks = torch.nn.functional.one_hot(torch.from_numpy(labellings).to(rows.device), classes).double()
    sizes = marks.sum(dim=1)
    widths = np.empty((len(labellings), n))
    shares, costs = np.empty(n), np.zeros(n)
    for block in blocks(n, n, rows.device):
        distances = (1 - (rows[block] @ rows.T).double()).clamp_min(0)
        places = torch.arange(block.start, block.stop, device=rows.device)
        distances[torch.arange(len(places)), places] = 0.0
        for number, mark in enumerate(marks):
            widths[number, block] = _widths(distances @ mark, mark[block], sizes[number]).cpu().numpy()
        distances[torch.arange(len(places)), places] = torch.inf
        same = (marks[0][block] @ marks[0].T) > 0
        purity, cost = _purity(distances, same, k)
        shares[block] = purity.cpu().numpy()
        costs += cost.cpu().numpy()
    return widths, shares, costs


def _widths(sums: Tensor, own: Tensor, sizes: Tensor) -> Tensor:
    """Silhouettes from each row's summed distances to every class."""
    mine = own.bool()
    count = (own * sizes).sum(dim=1)
    inside = (sums * own).sum(dim=1) / (count - 1).clamp_min(1)
    outside = torch.where(mine, torch.inf, sums / sizes).amin(dim=1)
    largest = torch.maximum(inside, outside)
    width = torch.where(largest > 0, (outside - inside) / torch.where(largest > 0, largest, 1.0), 0.0)
    return torch.where(count > 1, width, 0.0)


def _purity(distances: Tensor, same: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The share of same-label rows among the k nearest; rows as far as the k-th share the places that are left.

    And for every other row the sum of what these rows would gain without it.
    """
    edge = distances.kthvalue(k, dim=1, keepdim=True).values
    nearer, tied = distances < edge, distances == edge
    left = k - nearer.sum(dim=1)
    places = nearer.double() + tied * (left / tied.sum(dim=1))[:, None]
    purity = (places * same).sum(dim=1) / k
    beyond = distances == distances.kthvalue(min(k + 1, distances.shape[1]), dim=1, keepdim=True).values
    following = (beyond & same).sum(dim=1) / beyond.sum(dim=1)
    return purity, (places * (following[:, None] - same.double())).sum(dim=0) / k


def _score(
    items: NDArray[np.float64],
    null: float,
    names: NDArray[np.str_],
    member: NDArray[np.int64],
    *,
    floor: float,
    k: int | None = None,
    costs: NDArray[np.float64] | None = None,
) -> Score:
    moved = items if costs is None else items - costs
    low, high = mean_interval(moved - moved.mean() + items.mean())
    by_label = {str(name): float(items[member == place].mean()) for place, name in enumerate(names)}
    details = {"by_label": by_label} | ({} if k is None else {"k": k})
    return Score(float(items.mean()), len(items), null, max(low, floor), min(high, 1.0), items, details)
