"""Word links of a bitext as three arrays, in one order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Links:
    """Word links of a bitext: link k joins word `source[k]` and word `target[k]` (0-based) of row `row[k]`.

    Links are sorted by (row, source, target), none twice; `Links.of` makes them so.
    """

    row: Ints
    source: Ints
    target: Ints

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        return f"Links({len(self)} links)"

    @classmethod
    def of(cls, row: ArrayLike, source: ArrayLike, target: ArrayLike) -> Links:
        """Links in order, each once, from three lists of equal length in any order.

        >>> links = Links.of([1, 0, 0, 0], [0, 2, 1, 1], [0, 0, 3, 3])
        >>> links.row.tolist(), links.source.tolist(), links.target.tolist()
        ([0, 0, 1], [1, 2, 0], [3, 0, 0])
        """
        columns = [np.asarray(column, np.int64).reshape(-1) for column in (row, source, target)]
        order = np.lexsort(columns[::-1])
        sorted_columns = [column[order] for column in columns]
        new = np.ones(len(order), bool)
        new[1:] = np.any([np.diff(column) != 0 for column in sorted_columns], axis=0)
        return cls(*(column[new] for column in sorted_columns))

    def turned(self) -> Links:
        """The same links with source and target exchanged."""
        return Links.of(self.row, self.target, self.source)
