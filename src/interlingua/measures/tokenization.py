"""How evenly a tokenizer serves two languages: fertility, continued words, unknowns, overlap, agreement."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from interlingua.measures import measures
from interlingua.metric import Metric, Metrics
from interlingua.score import Score, Scores
from interlingua.stats import clustered_share, mean_interval


@dataclass(frozen=True)
class Splits:
    """How a tokenizer cut texts: one entry a word, one entry a token.

    `pieces[w]` is the number of sub-tokens of word w, `word_row[w]` its text; `tokens[t]` is
    the id of token t, `token_row[t]` its text, `unknown[t]` whether it is the unknown token.
    Special tokens and punctuation are no words; special tokens are no tokens.
    """

    rows: int
    pieces: NDArray[np.int64]
    word_row: NDArray[np.int64]
    tokens: NDArray[np.int64]
    token_row: NDArray[np.int64]
    unknown: NDArray[np.bool_]

    def tokens_per_row(self) -> NDArray[np.int64]:
        return np.bincount(self.token_row, minlength=self.rows)


_SIDES = {"side": ("source", "target")}
METRICS = Metrics(
    (
        Metric(
            name="fertility",
            title="Pieces per word",
            higher_is_better=False,
            range=(0.0, None),
            options=_SIDES,
            headline=True,
            about="Mean number of tokens per word.",
        ),
        Metric(
            name="continued",
            title="Words cut into pieces",
            higher_is_better=False,
            display="percent",
            options=_SIDES,
        ),
        Metric(name="unknown", title="Unknown tokens", higher_is_better=False, display="percent", options=_SIDES),
        Metric(
            name="overlap",
            title="Shared token types (Jaccard)",
            display="percent",
            charted=True,
            about="Share of token types that the tokenizer uses for both languages.",
            heading="Shared tokens",
        ),
        Metric(name="agreement", title="Agreement of token counts", null="rows shuffled"),
    )
)


@measures.register("tokenization", needs="splits", metrics=METRICS)
def tokenization(source: Splits, target: Splits) -> Scores:
    """Fertility, continued-word share, unknown rate, vocabulary overlap and split agreement of two languages.

    - `fertility/source`, `fertility/target`: sub-tokens a word, >= 0, 1 is best (Rust et al. 2021).
    - `continued/…`: share of words cut into two pieces or more, in [0, 1].
    - `unknown/…`: share of tokens that are the unknown token, in [0, 1].
    - `overlap`: Jaccard index of the two sets of token types, in [0, 1].
    - `agreement`: mean over parallel rows of min(a, b) / max(a, b), a and b the rows' token
      counts, in [0, 1]: 1 when the tokenizer spends as many tokens on a sentence as on its
      translation (papers/003 §2 and §3.2, after Maronikolakis et al. 2021). Its null is the
      same over shuffled rows, exact in expectation over all pairings.

    Intervals treat rows as drawn and not words or tokens: those of one sentence are alike. One row has none.

    >>> import numpy as np
    >>> split = Splits(2, np.array([1, 3, 2]), np.array([0, 0, 1]), np.array([5, 6, 7, 8, 5, 9]),
    ...                np.array([0, 0, 0, 0, 1, 1]), np.zeros(6, bool))
    >>> scores = tokenization(split, split)
    >>> scores["fertility/source"].value, scores["overlap"].value, scores["agreement"].value
    (2.0, 1.0, 1.0)
    """
    scores: Scores = {}
    for side, split in (("source", source), ("target", target)):
        if split.pieces.size:  # Without a segmenter there are tokens but no words.
            scores[f"fertility/{side}"] = _mean(split.pieces.astype(float), split.word_row)
            scores[f"continued/{side}"] = _share(split.pieces > 1, split.word_row)
        if split.unknown.size:
            scores[f"unknown/{side}"] = _share(split.unknown, split.token_row)
    ours, theirs = np.unique(source.tokens), np.unique(target.tokens)
    shared = np.intersect1d(ours, theirs, assume_unique=True).size
    union = ours.size + theirs.size - shared
    scores["overlap"] = Score(shared / union if union else 0.0, n=int(union))
    if source.rows == target.rows:
        left, right = source.tokens_per_row(), target.tokens_per_row()
        both = (left > 0) & (right > 0)
        if both.any():
            agreement = _ratio(left[both], right[both])
            null = _shuffled_ratio(left[both], right[both])
            made = _mean(agreement)
            low, high = (None if end is None else min(max(end, 0.0), 1.0) for end in (made.low, made.high))
            scores["agreement"] = replace(made, null=null, items=agreement, low=low, high=high)
    return scores


def _ratio(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
    ratio: NDArray[np.float64] = np.minimum(left, right) / np.maximum(left, right)
    return ratio


def _shuffled_ratio(left: NDArray[np.int64], right: NDArray[np.int64]) -> float:
    """The mean ratio over all pairings of rows: exact, and over distinct counts only, so it is cheap."""
    a, times_a = np.unique(left, return_counts=True)
    b, times_b = np.unique(right, return_counts=True)
    weights = np.outer(times_a, times_b)
    return float((_ratio(a[:, None], b[None, :]) * weights).sum() / weights.sum())


def _share(hits: NDArray[np.bool_], rows: NDArray[np.int64]) -> Score:
    """The share of hits with an interval over rows, which stays in [0, 1] where hits are few."""
    ends = clustered_share(hits, rows) if len(np.unique(rows)) > 1 else (None, None)
    return Score(float(hits.mean()), n=hits.size, low=ends[0], high=ends[1])


def _mean(values: NDArray[np.float64], rows: NDArray[np.int64] | None = None) -> Score:
    ends = mean_interval(values, rows) if rows is None or len(np.unique(rows)) > 1 else (None, None)
    return Score(float(values.mean()), n=values.size, low=ends[0], high=ends[1])
