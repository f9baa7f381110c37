"""`Score`: a measured value, the per-item statistics it was made from, and its null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Score:
    """One number and what is needed to judge it.

    `items` are the per-item values whose mean is `value`; with them any significance test can be
    run later. None where the value is no mean over items (CKA), or where items have no partner to
    be tested against (a language's own words, as in fertility). `null` is
    what the same measure reads when there is no relation (pairs shuffled), or None where
    no such reading exists. `low` and `high` bound the 95 % interval. `details` holds small
    arrays worth drawing, such as histogram counts; plain numbers and lists only.
    """

    value: float
    n: int
    null: float | None = None
    low: float | None = None
    high: float | None = None
    items: NDArray[np.floating[Any]] | None = field(default=None, repr=False)
    details: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.items is not None and self.items.ndim != 1:
            raise ValueError(f"items must be a vector, got shape {self.items.shape}")


Scores = dict[str, Score]
"""What a measure returns: one `Score` for each variant, such as `p@1/cosine/centred`.

A dictionary rather than one `Score` because P@1, P@k and MRR share one ranking: asking
for each apart would cost three times the work.
"""
