"""How good links are: AER, precision, recall and F1 against gold, and a score of each pair to filter bitext by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.errors import InputError
from interlingua.score import Score, Scores
from interlingua.wordalign.gold import Gold
from interlingua.wordalign.links import Links

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_ROWS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class LinkCounts:
    """What AER is made of, by row: links found, sure gold links, and how many of the found are sure or possible.

    Kept by row so that any interval or test between two aligners can be made from them. `shuffled` is how many links
    in all would be sure and possible if each row had the links of another row, on average over all ways to deal them.
    """

    found: Ints
    sure: Ints
    in_sure: Ints
    in_possible: Ints
    shuffled: tuple[float, float] | None = None

    def table(self) -> Ints:
        """The four counts as (row, 4)."""
        return np.stack([self.found, self.sure, self.in_sure, self.in_possible], axis=1)


def count_links(found: Links, gold: Gold) -> LinkCounts:
    """Counts for the rows that gold speaks of, in their order; other rows are left out."""
    rows = len(gold.marked)
    wide = 1 + int(max(words.max(initial=0) for part in (found, gold.possible) for words in (part.source, part.target)))

    def keys(links: Links) -> Ints:
        return (links.row * wide + links.source) * wide + links.target

    def by_row(links: Links, kept: NDArray[np.bool_] | None = None) -> Ints:
        return np.bincount(links.row if kept is None else links.row[kept], minlength=rows)[gold.marked]

    def shuffled(links: Links) -> float:
        """Links of one place in a sentence, ours times gold's, over the rows."""
        places = []
        for part in (found, links):
            inside = np.isin(part.row, np.arange(rows)[gold.marked])
            places.append(np.unique(part.source[inside] * wide + part.target[inside], return_counts=True))
        (at, ours), (there, theirs) = places
        _, one, other = np.intersect1d(at, there, assume_unique=True, return_indices=True)
        return float((ours[one] * theirs[other]).sum()) / max(int(np.arange(rows)[gold.marked].size), 1)

    ours = keys(found)
    return LinkCounts(
        by_row(found),
        by_row(gold.sure),
        by_row(found, np.isin(ours, keys(gold.sure))),
        by_row(found, np.isin(ours, keys(gold.possible))),
        (shuffled(gold.sure), shuffled(gold.possible)),
    )


def quality(counts: LinkCounts, *, seed: int = 0, times: int = 1000) -> Scores:
    """`aer` in [0, 1], 0 is best; `precision`, `recall` and `f1` in [0, 1], 1 is best.

    With A the links found, S the sure and P the possible gold links, S within P (Och & Ney 2003, section 4):

        precision = |A ∩ P| / |A|,  recall = |A ∩ S| / |S|,  AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|),

    summed over all rows before dividing; F1 is the harmonic mean of precision and recall. A ratio of nothing to
    nothing is 0 (1 - AER of no links and no gold is 1). The interval holds 95 % of `times` bootstrap draws of rows. The
    null is that of links dealt to other rows, as places in the sentence: what following the diagonal alone is worth.

    >>> counts = LinkCounts(np.array([3]), np.array([2]), np.array([2]), np.array([3]))
    >>> {name: round(score.value, 3) for name, score in quality(counts).items()}
    {'aer': 0.0, 'precision': 1.0, 'recall': 1.0, 'f1': 1.0}
    """
    table = counts.table()
    if not len(table):
        raise InputError("gold speaks of no row that was aligned", remedy="Give gold links of this bitext.")
    draw = np.random.default_rng(seed)
    weights = draw.multinomial(len(table), np.full(len(table), 1 / len(table)), size=times)
    values, draws = _ratios(table.sum(axis=0)[None]), _ratios(weights @ table)
    nulls: dict[str, Floats] = {}
    if counts.shuffled is not None:
        found, sure = table[:, 0].sum(), table[:, 1].sum()
        nulls = _ratios(np.array([[found, sure, *counts.shuffled]]))
    scores: Scores = {}
    for name, value in values.items():
        null = float(nulls[name][0]) if nulls else None
        low, high = np.quantile(draws[name], (0.025, 0.975))
        scores[name] = Score(float(value[0]), n=len(table), null=null, low=float(low), high=float(high))
    return scores


def _ratios(sums: NDArray[Any]) -> dict[str, Floats]:
    found, sure, in_sure, in_possible = (sums[:, column].astype(np.float64) for column in range(4))
    precision, recall = _share(in_possible, found), _share(in_sure, sure)
    both = found + sure
    return {
        "aer": np.where(both > 0, 1 - _share(in_sure + in_possible, both), 0.0),
        "precision": precision,
        "recall": recall,
        "f1": _share(2 * precision * recall, precision + recall),
    }


def _share(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return share


@dataclass(frozen=True)
class PairScores:
    """How well the two sides of each row fit: `likelihood` (nats a word, at most 0) and `linked` (share, in [0, 1]).

    A row left out has NaN in both.
    """

    likelihood: Floats
    linked: Floats


def score_pairs(
    lengths: Sequence[tuple[int, int]] | Ints,
    links: Links,
    forward: NDArray[np.floating[Any]] | None = None,
    backward: NDArray[np.floating[Any]] | None = None,
) -> PairScores:
    """A score of each pair, high where the sides translate each other: to sort a bitext by, and to cut its tail.

    `likelihood` is (log p(target | source) / m + log p(source | target) / n) / 2 with `forward` and `backward` the
    log-likelihoods of the rows under the two directions, n and m the numbers of words: the mean log-probability of
    a word given the other side, so that long pairs are not punished for their length. `linked` is the share of
    the words of both sides that have a link. Without a model (links from elsewhere) `likelihood` is NaN.

    A pair that was trained on fits better than one that was not; a name seen once is explained by whatever stood
    beside it. Judge new text by a model trained on other text, or compare only pairs trained on together.

    >>> links = Links.of([0, 0], [0, 1], [0, 1])
    >>> scores = score_pairs([(2, 2), (2, 3)], links, np.log([0.25, 0.001]), np.log([0.25, 0.0001]))
    >>> scores.likelihood.round(2).tolist(), scores.linked.tolist()
    ([-0.69, -3.45], [1.0, 0.0])
    """
    n, m = np.asarray(lengths, np.int64).reshape(-1, 2).T
    absent = (n <= 0) | (m <= 0)
    n, m = np.where(absent, 1, n), np.where(absent, 1, m)
    linked = np.concatenate([np.zeros(0, np.int64), *_linked_words(links, m)])
    likelihood = np.full(len(n), np.nan) if forward is None or backward is None else (forward / m + backward / n) / 2
    return PairScores(np.where(absent, np.nan, likelihood), np.where(absent, np.nan, linked / (n + m)))


def _linked_words(links: Links, target_lengths: Ints) -> Iterator[Ints]:
    """How many words of each row have a link, some rows at a time."""
    for first in range(0, len(target_lengths), _ROWS_AT_ONCE):
        lengths = target_lengths[first : first + _ROWS_AT_ONCE]
        begin, end = np.searchsorted(links.row, (first, first + len(lengths)))
        row, source, target = (column[begin:end] for column in (links.row, links.source, links.target))
        row = row - first
        # Links are sorted by row and source word: a word that is linked again is next to where it was.
        new = np.ones(len(row), bool)
        new[1:] = (np.diff(row) != 0) | (np.diff(source) != 0)
        starts = np.cumsum(lengths) - lengths
        reached = np.zeros(int(lengths.sum()), bool)
        reached[starts[row] + target] = True
        of_target = np.add.reduceat(reached, starts, dtype=np.int64)  # No row is empty here.
        yield np.bincount(row[new], minlength=len(lengths)) + of_target
