"""Parallel cosine: how near a sentence, word or name lies to its translation, on average."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from interlingua.measures import measures
from interlingua.measures.vectors import center_rows, checked_pair, unit
from interlingua.metric import Metric, Metrics
from interlingua.score import Score, Scores
from interlingua.stats import mean_interval

METRICS = Metrics(
    (
        Metric(
            name="parallel-cosine",
            title="Mean cosine of translations",
            range=(-1.0, 1.0),
            null="shuffled pairs",
            options={"centering": ("raw", "centred")},
            headline=True,
            bare=True,
            about="Mean cosine of a sentence and its translation. Centred: each language's mean vector is subtracted.",
            heading="Cosine",
            lines={"centering": {"raw": "as is", "centred": "centred"}},
        ),
    )
)


@measures.register("parallel-cosine", needs="sentences", metrics=METRICS)
def parallel_cosine(source: Tensor, target: Tensor, *, seed: int = 0) -> Scores:
    """The mean cosine of rows that mean the same, in [-1, 1], 1 is best; as is and with each side's mean removed.

    - `raw`: the mean over i of cos(x_i, y_i) (papers/003 Table 2, for named entities at the output layer).
    - `centred`: the same after the mean of each side is taken off (Libovický et al. 2019).

    In a crowded space every cosine is high, so a value says nothing without its null: what shuffled pairs read, exactly
    over all pairings, (Σ u_i)·(Σ v_j) / n² with u and v the rows at length 1. `items` are the pairs' cosines, the
    interval is Student's over pairs; pairs that share a name or a context are not independent, so it is too
    narrow for them. Nothing is drawn: the `seed` that measures are called with changes nothing.

    >>> import torch
    >>> scores = parallel_cosine(torch.eye(4), torch.eye(4))
    >>> scores["raw"].value, scores["raw"].null
    (1.0, 0.25)
    """
    checked_pair(source, target, least=2)
    return {"raw": _score(source, target), "centred": _score(center_rows(source), center_rows(target))}


def _score(source: Tensor, target: Tensor) -> Score:
    ours, theirs = unit(source).double(), unit(target).double()
    # Rounding must not put the cosine of a vector with itself above 1.
    items = (ours * theirs).sum(dim=1).clamp(-1, 1).cpu().numpy().astype(np.float64)
    null = float(ours.mean(dim=0) @ theirs.mean(dim=0))
    low, high = mean_interval(items)
    return Score(float(items.mean()), len(items), null, max(low, -1.0), min(high, 1.0), items)
