"""Retrieval: how often a sentence's nearest neighbour in the other language is its translation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interlingua.measures import measures
from interlingua.measures.rows import Side, Sides, blocks, centred, checked, checked_pair, unit
from interlingua.registry import unknown
from interlingua.score import Score, Scores
from interlingua.stats import mean_interval, wilson_interval

Ranks = NDArray[np.int64]
SIMILARITIES = ("cosine", "csls", "margin")


@measures.register("retrieval", needs="sentences")
def retrieval(
    source: Tensor,
    target: Tensor,
    *,
    ks: Sequence[int] = (1, 5),
    similarities: Sequence[str] = SIMILARITIES,
    centre: Sequence[bool] = (False, True),
    neighbours: int = 10,
    sides: Sides | None = None,
    seed: int = 0,
) -> Scores:
    """P@k and mean reciprocal rank of translations, in [0, 1], 1 is best, in both directions.

    Variants are `{p@K|mrr}/{similarity}/{raw|centred}` from source to target, and the same with
    `/backward` from target to source. With r_i the rank of row i's translation among all rows,

        p@K = mean(r_i <= K),   mrr = mean(1 / r_i).

    - `cosine`: cos(x, y). Accuracy by it is the usual XSR / Tatoeba score (papers/001 §4, papers/000 §5.1).
    - `csls`: 2 cos(x, y) - r(x) - r(y), r(x) the mean cosine of x to its nearest `neighbours` rows of
      the other language, which takes away the advantage of hubs (Lample et al. 2018, Eq. 3).
    - `margin`: cos(x, y) / ((r(x) + r(y)) / 2), the ratio margin (Artetxe & Schwenk 2019, Eq. 2 and 4);
      the denominator is at least 1e-6, since after centring it can fall below zero in tiny corpora.
    - `centred`: each side minus its own mean: what is left once the language's offset is gone
      (Libovický et al. 2019).

    Every row is brought to length 1 by itself (normalising the matrix as a whole breaks CSLS). A candidate
    tied with the translation ranks ahead of it, so no hit is luck: constant vectors score 0, and a row
    whose translation occurs twice among the candidates cannot reach p@1. `neighbours` is cut to n - 1.
    The null is exact over shuffled pairs: K/n, and H_n/n for mrr. Intervals: Wilson for p@K, Student for mrr.
    `details` of `…/centred`, where `raw` is asked for too: `above_raw`, the mean of centred less raw by row and its
    Student interval. Nothing here is random; `seed` is taken because every measure of sentences is given one. `sides`
    are both sides with what is kept of them.

    >>> generator = torch.Generator().manual_seed(0)
    >>> english = torch.randn(50, 16, generator=generator)
    >>> scores = retrieval(english, english + 5, similarities=["cosine"])
    >>> scores["p@1/cosine/centred"].value, scores["p@1/cosine/centred"].null
    (1.0, 0.02)
    """
    checked_pair(source, target, least=2)
    scores: Scores = {}
    for moved in centre:
        left, right = (side.of(_directions, moved) for side in sides or (Side(source), Side(target)))
        rankings = _rankings(left, right, similarities, neighbours)
        for similarity, (forward, backward) in rankings.items():
            for found, suffix in ((forward, ""), (backward, "/backward")):
                name = f"{similarity}/{'centred' if moved else 'raw'}{suffix}"
                scores |= {f"{metric}/{name}": score for metric, score in rank_scores(found, ks=ks).items()}
    for name, score in scores.items():
        raw = scores.get(name.replace("/centred", "/raw"), score)
        if raw is not score:
            scores[name] = replace(score, details={"above_raw": gain(score, raw)})
    return scores


def gain(after: Score, before: Score) -> list[float]:
    """The mean of the differences of two scores of the same rows, and the ends of its Student interval.

    >>> ours, theirs = (rank_scores(np.array(found), ks=[1])["p@1"] for found in ([1, 1, 1, 2], [1, 2, 1, 2]))
    >>> [round(end, 3) for end in gain(ours, theirs)]
    [0.25, -0.546, 1.046]
    """
    assert after.items is not None
    assert before.items is not None
    apart = after.items - before.items
    return [float(apart.mean()), *mean_interval(apart)]


def ranks(source: Tensor, target: Tensor, *, similarity: str = "cosine", neighbours: int = 10) -> tuple[Ranks, Ranks]:
    """The rank (1 is best) of each row's translation: among the targets, and among the sources.

    >>> ranks(torch.eye(3), torch.eye(3)[[0, 2, 1]])
    (array([1, 3, 3]), array([1, 3, 3]))
    """
    checked_pair(source, target, least=2)
    return _rankings(unit(source), unit(target), [similarity], neighbours)[similarity]


def cosine_ranks(source: Tensor, target: Tensor) -> Ranks:
    """The rank (1 is best) of each row's translation among the targets by cosine; rows are of length 1 or zero.

    >>> cosine_ranks(torch.eye(3), torch.eye(3)[[0, 2, 1]])
    array([1, 3, 3])
    """
    return _rankings(source, target, ["cosine"], 1)["cosine"][0]


def rank_scores(found: Ranks, *, ks: Sequence[int], candidates: int | None = None) -> Scores:
    """The scores `p@K` and `mrr` of ranks among `candidates` (as many as there are ranks, by default).

    >>> {name: round(score.value, 3) for name, score in rank_scores(np.array([1, 2, 1, 4]), ks=[1]).items()}
    {'p@1': 0.5, 'mrr': 0.688}
    """
    n = len(found)
    among = n if candidates is None else candidates
    scores: Scores = {}
    for k in ks:
        hits = (found <= k).astype(np.float64)
        low, high = wilson_interval(float(hits.sum()), n)
        scores[f"p@{k}"] = Score(float(hits.mean()), n=n, null=min(k / among, 1.0), low=low, high=high, items=hits)
    inverse = 1.0 / found
    low, high = mean_interval(inverse)
    # A uniformly random rank among m candidates has the mean inverse H_m / m.
    null = float((1.0 / np.arange(1, among + 1)).sum() / among)
    scores["mrr"] = Score(float(inverse.mean()), n=n, null=null, low=max(low, 0.0), high=min(high, 1.0), items=inverse)
    return scores


def nearest(source: Tensor, target: Tensor, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The indices of each source row's k nearest target rows by cosine, nearest first, and the cosines.

    The two sides may differ in number of rows; k is cut to the number of targets.

    >>> indices, cosines = nearest(torch.eye(2), torch.tensor([[0.0, 2.0], [3.0, 0.0], [1.0, 1.0]]), 1)
    >>> indices.tolist(), cosines.tolist()
    ([[1], [0]], [[1.0], [1.0]])
    """
    left, right = unit(checked(source, least=1, side="source")), unit(checked(target, least=1, side="target"))
    found = [
        (left[rows] @ right.T).topk(min(k, len(right)), dim=1) for rows in blocks(len(left), len(right), left.device)
    ]
    indices = torch.cat([block.indices for block in found]).cpu().numpy()
    return indices, torch.cat([block.values for block in found]).cpu().numpy()


def _rankings(
    source: Tensor, target: Tensor, similarities: Sequence[str], neighbours: int
) -> dict[str, tuple[Ranks, Ranks]]:
    """Ranks in both directions for each similarity: two passes over blocks of the cosine matrix."""
    for similarity in similarities:
        if similarity not in SIMILARITIES:
            raise unknown("similarity", similarity, list(SIMILARITIES))
    n = len(source)
    parts = list(blocks(n, n, source.device))
    # One block serves both passes; more are made twice, so that no more than one is held.
    whole = source @ target.T if len(parts) == 1 else None

    def cosines(rows: slice) -> Tensor:
        return source[rows] @ target.T if whole is None else whole

    # The pair's cosine is read from the same product as all others: a sum in another order could differ in
    # the last bit, and an exact tie would be decided by rounding.
    own = torch.cat([cosines(rows).diagonal(offset=rows.start) for rows in parts])
    near_source, near_target = own, own
    if set(similarities) - {"cosine"}:
        near_source, near_target = _neighbourhoods((cosines(rows) for rows in parts), max(1, min(neighbours, n - 1)))
    forward = {name: torch.ones(n, dtype=torch.int64, device=source.device) for name in similarities}
    backward = {name: torch.ones(n, dtype=torch.int64, device=source.device) for name in similarities}
    mine = {name: _scored(name, own, near_source, near_target) for name in similarities}
    for rows in parts:
        block = cosines(rows)
        for name in similarities:
            scored = _scored(name, block, near_source[rows, None], near_target[None, :])
            # A row's own translation is left out by place, so that every other tie counts against it.
            scored.diagonal(offset=rows.start).fill_(-torch.inf)
            forward[name][rows] += (scored >= mine[name][rows, None]).sum(dim=1)
            backward[name] += (scored >= mine[name][None, :]).sum(dim=0, dtype=torch.int32)
    return {name: (forward[name].cpu().numpy(), backward[name].cpu().numpy()) for name in similarities}


def _directions(vectors: Tensor, moved: bool) -> Tensor:
    return unit(centred(vectors) if moved else vectors)


def _scored(similarity: str, cosines: Tensor, near_source: Tensor, near_target: Tensor) -> Tensor:
    if similarity == "csls":
        return 2 * cosines - near_source - near_target
    if similarity == "margin":
        return cosines / ((near_source + near_target) / 2).clamp_min(1e-6)
    return cosines.clone()


def _neighbourhoods(parts: Iterable[Tensor], k: int) -> tuple[Tensor, Tensor]:
    """The mean cosine of each source row and of each target row to its k nearest of the other side, from blocks."""
    near_source: list[Tensor] = []
    best: Tensor | None = None
    for cosines in parts:
        near_source.append(_largest(cosines, k).mean(dim=1))
        tops = _largest(cosines.T.contiguous(), k)
        best = tops if best is None else _largest(torch.cat([best, tops], dim=1), k)
    assert best is not None
    return torch.cat(near_source), best.mean(dim=1)


def _largest(values: Tensor, k: int) -> Tensor:
    """The k largest values of each row, largest first; all where there are fewer."""
    count = min(k, values.shape[1])
    if values.device.type != "cpu":
        return values.topk(count, dim=1).values
    # NumPy selects with vector instructions and takes half the time of topk.
    found = np.partition(values.numpy(), values.shape[1] - count, axis=1)[:, values.shape[1] - count :]
    return torch.from_numpy(-np.sort(-found, axis=1))
