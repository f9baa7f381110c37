"""Retrieval: how often a sentence's nearest neighbour in the other language is its translation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import special
from torch import Tensor

from interlingua.measures import measures
from interlingua.measures.vectors import PreparedVectors, Sides, blocks, center_rows, checked, checked_pair, unit
from interlingua.metric import Metric, Metrics
from interlingua.registry import unknown
from interlingua.score import Score, Scores
from interlingua.stats import Z95, group_sums, mean_interval, mean_variance, paired_difference, wilson_interval

Ranks = NDArray[np.int64]
SIMILARITIES = ("cosine", "csls", "margin")


CENTERING = ("raw", "centred")
_OPTIONS = {"similarity": SIMILARITIES, "centering": CENTERING}
_LINES = {"centering": {"raw": "as is", "centred": "centred"}}
METRICS = Metrics(
    (
        Metric(
            name="p@1",
            title="Retrieval accuracy (P@1)",
            display="percent",
            null="chance: one candidate in n",
            options=_OPTIONS,
            headline=True,
            directed=True,
            about="Share of sentences whose nearest neighbour in the other language is their translation. Centred: the "
            "mean vector of each language is subtracted.",
            heading="P@1",
            lines=_LINES,
        ),
        Metric(
            name="p@5",
            title="Translation among the first five (P@5)",
            display="percent",
            null="chance: five candidates in n",
            options=_OPTIONS,
            directed=True,
        ),
        Metric(
            name="mrr",
            title="Mean reciprocal rank (MRR)",
            null="chance: the mean of 1 / rank over n candidates",
            options=_OPTIONS,
            directed=True,
        ),
        Metric(
            name="hubness",
            title="Hubness (skewness of how often each candidate is a neighbour)",
            higher_is_better=False,
            range=(None, None),
            null="random neighbours",
            options={"similarity": ("cosine",), "centering": CENTERING},
            directed=True,
        ),
    )
)


@dataclass(frozen=True)
class NeighborRanking:
    """The ranks of one direction, and what each candidate costs: what its removal would add to the sum of a score.

    `costs[name]` (n,) is the sum over queries, `squares[name]` the sum of squares of its single terms.
    """

    ranks: Ranks
    costs: dict[str, NDArray[np.float64]]
    squares: dict[str, float]


@measures.register(
    "retrieval",
    needs="sentences",
    metrics=METRICS,
)
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
    The null is exact over shuffled pairs: K/n, and H_n/n for mrr. Intervals hold for other sentences, as queries and
    as candidates (`interval_of_ranks`).

    Where cosine is asked for, `hubness/cosine/…` is the skewness of how often a candidate is among the `neighbours`
    nearest of a query (Radovanović et al. 2010, Eq. 1). About 0.3 is none (the null: neighbours drawn at random); above
    1 a few sentences, the hubs, are neighbours of many.

    `details`: `hubs`, what shared candidates add to the variance, and its degrees of freedom (absent where nothing). Of
    `…/centred`, where `raw` is asked for too: `above_raw`, the mean of centred less raw by row and its interval.
    Nothing here is random; `seed` is taken because every measure of sentences is given one. `sides` are both sides with
    what is kept of them.

    >>> generator = torch.Generator().manual_seed(0)
    >>> english = torch.randn(50, 16, generator=generator)
    >>> scores = retrieval(english, english + 5, similarities=["cosine"])
    >>> scores["p@1/cosine/centred"].value, scores["p@1/cosine/centred"].null
    (1.0, 0.02)
    """
    checked_pair(source, target, least=2)
    scores: Scores = {}
    for moved in centre:
        left, right = (
            side.of(_directions, moved) for side in sides or (PreparedVectors(source), PreparedVectors(target))
        )
        space = "centred" if moved else "raw"
        rankings = _rankings(left, right, similarities, neighbours, ks=ks)
        for similarity, directions in rankings.items():
            for found, suffix in zip(directions, ("", "/backward"), strict=True):
                name = f"{similarity}/{space}{suffix}"
                scores |= {f"{metric}/{name}": score for metric, score in ranking_scores(found, ks=ks).items()}
        if "cosine" in similarities:
            forward, backward = _occurrences(left, right, neighbours)
            scores[f"hubness/cosine/{space}"] = hubness(forward, neighbours)
            scores[f"hubness/cosine/{space}/backward"] = hubness(backward, neighbours)
    for name, score in scores.items():
        raw = scores.get(name.replace("/centred", "/raw"), score)
        if raw is not score and score.items is not None:
            scores[name] = replace(score, details={**score.details, "above_raw": gain(score, raw)})
    return scores


def gain(after: Score, before: Score, groups: NDArray[np.int64] | None = None) -> list[float]:
    """The mean of the differences of two scores of the same rows, and the ends of its 95 % interval.

    Student's, with what the hubs of either add (`hubs` in their details): rows share their candidates in both. Rows of
    one of `groups` are not independent.

    >>> ours, theirs = (rank_scores(np.array(found), ks=[1])["p@1"] for found in ([1, 1, 1, 2], [1, 2, 1, 2]))
    >>> [round(end, 3) for end in gain(ours, theirs)]
    [0.25, -0.546, 1.046]
    """
    assert after.items is not None
    assert before.items is not None
    more = [score.details["hubs"] for score in (after, before) if "hubs" in score.details]
    mean, low, high, _ = paired_difference(after.items - before.items, more, groups=groups)
    return [mean, *((low, high) if np.isfinite(low) else (-1.0, 1.0))]


def ranks(source: Tensor, target: Tensor, *, similarity: str = "cosine", neighbours: int = 10) -> tuple[Ranks, Ranks]:
    """The rank (1 is best) of each row's translation: among the targets, and among the sources.

    >>> ranks(torch.eye(3), torch.eye(3)[[0, 2, 1]])
    (array([1, 3, 3]), array([1, 3, 3]))
    """
    checked_pair(source, target, least=2)
    forward, backward = _rankings(unit(source), unit(target), [similarity], neighbours)[similarity]
    return forward.ranks, backward.ranks


def rankings(source: Tensor, target: Tensor, *, ks: Sequence[int]) -> tuple[NeighborRanking, NeighborRanking]:
    """The ranks by cosine among the targets and among the sources, with what each candidate costs `p@K` and `mrr`.

    >>> forward, _ = rankings(torch.eye(3), torch.eye(3)[[0, 2, 1]], ks=[1])
    >>> forward.ranks, sorted(forward.costs)
    (array([1, 3, 3]), ['mrr', 'p@1'])
    """
    checked_pair(source, target, least=2)
    return _rankings(unit(source), unit(target), ["cosine"], 1, ks=ks)["cosine"]


def cosine_scores(
    source: Tensor, target: Tensor, *, ks: Sequence[int], groups: NDArray[np.int64] | None = None
) -> Scores:
    """The scores `p@K` and `mrr` of each row's translation among the targets by cosine; rows of length 1 or zero.

    Rows of one of `groups`, such as the words of a sentence, are not independent.

    >>> round(cosine_scores(torch.eye(3), torch.eye(3)[[0, 2, 1]], ks=[1])["p@1"].value, 3)
    0.333
    """
    return ranking_scores(_rankings(source, target, ["cosine"], 1, ks=ks)["cosine"][0], ks=ks, groups=groups)


def ranking_scores(found: NeighborRanking, *, ks: Sequence[int], groups: NDArray[np.int64] | None = None) -> Scores:
    """The scores `p@K` and `mrr` of ranks among as many candidates, with intervals over queries and candidates."""
    scores = rank_scores(found.ranks, ks=ks)
    for name, score in scores.items():
        assert score.items is not None
        given = (score.items, found.costs[name], found.squares[name])
        low, high = interval_of_ranks(*given, share=name != "mrr", groups=groups)
        hubs = variance_of_hubs(*given, share=name != "mrr", groups=groups)
        scores[name] = replace(score, low=low, high=high, details={"hubs": list(hubs)} if hubs[0] > 0 else {})
    return scores


def interval_of_ranks(
    items: NDArray[np.floating[Any]],
    costs: NDArray[np.float64],
    squares: float,
    *,
    share: bool,
    groups: NDArray[np.int64] | None = None,
) -> tuple[float, float]:
    """The 95 % interval of a mean over n queries that share their n candidates, for other rows of the same kind.

    Every row is a query and a candidate, and a hub takes the hits of many queries at once, so that hits are not
    independent. What row j adds to the sum is its own score less what it costs others, I_j = items_j - costs_j: the
    delete-one jackknife (Efron & Stein 1981). Its variance counts chance, which of equally near candidates stands
    ahead, twice: once with the query and once with the candidate. `squares`, the sum of squares of the single costs,
    is the candidates' part, and is taken off (Efron & Stein 1981, §4: the jackknife is biased upward by the
    interactions):

        V = sum (I_j - mean I)² / (n (n - 1)) - squares / n²,  at least that of independent items.

    What V has beyond that least, E, comes from hubs. Where these are few it is itself uncertain: its part has Student's
    t of 2 E² n⁴ / sum (costs_j - mean)⁴ degrees of freedom (those of a chi² with E's variance; Satterthwaite 1946), at
    least two. Of a share: Wilson's interval with share (1 - share) / V in place of n. Else Student's. Two or three hubs
    that come and go with the sample are too few for any interval from one sample: see `hubness`.

    Rows of one of `groups` (the words of a sentence) are drawn together: the sums of a group take the place of its rows
    in both variances, and both have Student's t by the number of groups.

    >>> hits = np.array([1.0] * 60 + [0.0] * 40)
    >>> [round(end, 3) for end in interval_of_ranks(hits, np.zeros(100), 0.0, share=True)]
    [0.502, 0.691]
    >>> hubs = np.where(np.arange(100) % 10 == 7, 3.0, 0.0)  # Ten candidates cost three hits each.
    >>> [round(end, 3) for end in interval_of_ranks(hits, hubs, 30.0, share=True)]
    [0.412, 0.762]
    """
    n, mean = len(items), float(items.mean())
    if n < 2:
        return (0.0, 1.0) if share else (mean, mean)
    own = float(items.var())
    if own == 0:  # All found, or none: no variance tells how many queries they are worth.
        return wilson_interval(mean * n, n) if share else (mean, mean)
    least, rows = _variance_of_items(items, share=share, groups=groups)
    beyond, freedom = variance_of_hubs(items, costs, squares, share=share, groups=groups)
    variance = least + beyond
    if not np.isfinite(variance):
        return (0.0, 1.0)
    plain = Z95 if share and groups is None else float(special.stdtrit(rows, 0.975))
    z = float(np.sqrt((plain**2 * least + special.stdtrit(freedom, 0.975) ** 2 * beyond) / variance))
    if share:
        return wilson_interval(mean * own / variance, own / variance, z=z)
    half = z * float(np.sqrt(variance))
    return max(mean - half, 0.0), min(mean + half, 1.0)


def _variance_of_items(
    items: NDArray[np.floating[Any]], *, share: bool, groups: NDArray[np.int64] | None
) -> tuple[float, float]:
    """The variance of the mean of items, none of which costs another anything, and its degrees of freedom."""
    n = len(items)
    if groups is not None:
        return mean_variance(items, groups)
    return float(items.var()) / (n if share else n - 1), n - 1.0


def variance_of_hubs(
    items: NDArray[np.floating[Any]],
    costs: NDArray[np.float64],
    squares: float,
    *,
    share: bool,
    groups: NDArray[np.int64] | None = None,
) -> tuple[float, float]:
    """What shared candidates add to the variance of a mean of items that were independent, and its freedom.

    E and its degrees of freedom as `interval_of_ranks` has them; 0 where all items are alike.

    >>> hits, hubs = np.array([1.0] * 60 + [0.0] * 40), np.where(np.arange(100) % 10 == 7, 3.0, 0.0)
    >>> [round(each, 4) for each in variance_of_hubs(hits, hubs, 30.0, share=True)]
    [0.0052, 10.1859]
    """
    n, own = len(items), float(items.var())
    if n < 2 or own == 0:
        return 0.0, float(n)
    least, _ = _variance_of_items(items, share=share, groups=groups)
    apart = costs - costs.mean()
    fourth = float(np.sum((apart if groups is None else group_sums(apart, groups)) ** 4))
    if fourth == 0 or not np.isfinite(least):
        return 0.0, float(n)
    beyond = max(mean_variance(items - costs, groups)[0] - squares / n**2 - least, 0.0)
    return beyond, max(2 * beyond**2 * n**4 / fourth, 2.0)


def hubness(occurrences: NDArray[np.float64], neighbours: int) -> Score:
    """The skewness of the k-occurrences of n candidates (Radovanović et al. 2010, Eq. 1); 0 where all are alike.

    The null is that of neighbours drawn at random, a binomial's: (1 - 2 k/n) / sqrt(k (1 - k/n)).

    >>> even, hubs = np.full(100, 10.0), np.where(np.arange(100) < 2, 400.0, 2.0)
    >>> hubness(even, 10).value, round(hubness(hubs, 10).value, 1), round(hubness(hubs, 10).null, 2)
    (0.0, 6.9, 0.27)
    """
    n = len(occurrences)
    share = min(neighbours, n) / n
    null = (1 - 2 * share) / float(np.sqrt(n * share * (1 - share))) if share < 1 else 0.0
    apart = occurrences - occurrences.mean()
    spread = float(np.sqrt(np.square(apart).mean()))
    value = float((apart**3).mean()) / spread**3 if spread > 0 else 0.0
    return Score(value, n=n, null=null)


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
    source: Tensor, target: Tensor, similarities: Sequence[str], neighbours: int, *, ks: Sequence[int] | None = None
) -> dict[str, tuple[NeighborRanking, NeighborRanking]]:
    """Ranks in both directions for each similarity: two passes over blocks of the cosine matrix, three with `ks`.

    With `ks`, what each candidate costs the scores `p@K` and `mrr`.
    """
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

    def ahead(name: str, block: Tensor, rows: slice) -> Tensor:
        scored = _scored(name, block, near_source[rows, None], near_target[None, :])
        # A row's own translation is left out by place, so that every other tie counts against it.
        scored.diagonal(offset=rows.start).fill_(-torch.inf)
        return scored

    for rows in parts:
        block = cosines(rows)
        for name in similarities:
            scored = ahead(name, block, rows)
            forward[name][rows] += (scored >= mine[name][rows, None]).sum(dim=1)
            backward[name] += (scored >= mine[name][None, :]).sum(dim=0, dtype=torch.int32)
    if ks is None:
        return {name: (_bare(forward[name]), _bare(backward[name])) for name in similarities}
    weights = {name: tuple(_weights(found[name], ks) for found in (forward, backward)) for name in similarities}
    costs = {name: [torch.zeros_like(one) for one in weights[name]] for name in similarities}
    for rows in parts:
        block = cosines(rows)
        for name in similarities:
            scored, (there, back) = ahead(name, block, rows), weights[name]
            costs[name][0] += (scored >= mine[name][rows, None]).float().T @ there[rows]
            costs[name][1][rows] += (scored >= mine[name][None, :]).float() @ back
    return {
        name: (
            _ranking(forward[name], costs[name][0], weights[name][0], ks),
            _ranking(backward[name], costs[name][1], weights[name][1], ks),
        )
        for name in similarities
    }


def _weights(found: Tensor, ks: Sequence[int]) -> Tensor:
    """(n, len(ks) + 1): what a query's p@K and 1/rank gain where one of the candidates ahead is gone."""
    hits = [(found == k + 1).float() for k in ks]
    inverse = torch.where(found > 1, 1.0 / (found * (found - 1)).clamp_min(1), 0.0)
    return torch.stack([*hits, inverse.float()], dim=1)


def _ranking(found: Tensor, costs: Tensor, weights: Tensor, ks: Sequence[int]) -> NeighborRanking:
    names = [*(f"p@{k}" for k in ks), "mrr"]
    # Each of the rank - 1 candidates ahead of a query costs it as much.
    squares = (weights.double().square() * (found - 1)[:, None]).sum(dim=0)
    each = zip(names, costs.double().cpu().numpy().T, squares.tolist(), strict=True)
    table = {name: (cost, square) for name, cost, square in each}
    ranks_ = found.cpu().numpy()
    return NeighborRanking(
        ranks_, {name: row[0] for name, row in table.items()}, {name: row[1] for name, row in table.items()}
    )


def _bare(found: Tensor) -> NeighborRanking:
    return NeighborRanking(found.cpu().numpy(), {}, {})


def _occurrences(source: Tensor, target: Tensor, neighbours: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How often each target is among the nearest of a source row by cosine, and each source of a target row."""
    n = len(source)
    k = min(neighbours, n)
    found = []
    for queries, candidates in ((source, target), (target, source)):
        counts = torch.zeros(n, dtype=torch.int64, device=source.device)
        for rows in blocks(n, n, source.device):
            cosines = queries[rows] @ candidates.T
            least = _largest(cosines, k)[:, -1:]
            counts += (cosines >= least).sum(dim=0)
        found.append(counts.double().cpu().numpy())
    return found[0], found[1]


def _directions(vectors: Tensor, moved: bool) -> Tensor:
    return unit(center_rows(vectors) if moved else vectors)


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
