"""Pharaoh lines as they are written: one for each row, its links as `source-target`; `gold.read_gold` reads them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from interlingua.wordalign.links import Links

_ROWS_AT_ONCE = 1 << 16


def write_pharaoh(links: Links, rows: int, *, base: int = 0) -> Iterator[str]:
    """One line for each row, without a line end; an empty one for a row without links.

    >>> list(write_pharaoh(Links.of([0, 2], [1, 0], [0, 0]), 3, base=1))
    ['2-1', '', '1-1']
    """
    for first in range(0, rows, _ROWS_AT_ONCE):
        last = min(first + _ROWS_AT_ONCE, rows)
        bounds = np.searchsorted(links.row, np.arange(first, last + 1))
        here = slice(bounds[0], bounds[-1])
        numbers = (links.source[here] + base).tolist(), (links.target[here] + base).tolist()
        pairs = [f"{source}-{target}" for source, target in zip(*numbers, strict=True)]
        ends = (bounds - bounds[0]).tolist()
        for begin, end in pairwise(ends):
            yield " ".join(pairs[begin:end])
