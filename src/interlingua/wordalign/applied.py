"""What one direction says of a text: a source word for each target word, four bytes each, and links when asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from interlingua.wordalign.expectation import Best
from interlingua.wordalign.links import Links
from interlingua.wordalign.numbering import Sentences
from interlingua.wordalign.symmetrise import symmetrise

_ROWS_AT_ONCE = 1 << 17
Starts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Applied:
    """What a model says of a bitext: the best source word of each target word, and ln p(target | source) by row.

    `turned`: the model is one of p(source | target), and its links are told as (row, source word, target word) still.
    """

    best: NDArray[np.int32]  # of each word given the other side: a place in the row, -1 for none
    log_likelihood: NDArray[np.float64]  # 0 where a side is empty
    given_starts: Starts  # where each row's words begin on the side that is given
    starts: Starts  # and on the side that is explained
    turned: bool = False

    @classmethod
    def of(cls, best: Best, source: Sentences, target: Sentences, *, turned: bool = False) -> Applied:
        """What was found for each target word of p(target | source)."""
        logs = best.logs.cpu().numpy()
        by_row = np.zeros(len(target))
        for first, last in _ranges(len(target)):
            starts = target.starts[first : last + 1]
            sums = np.zeros(starts[-1] - starts[0] + 1)
            np.cumsum(logs[starts[0] : starts[-1]], dtype=np.float64, out=sums[1:])
            by_row[first:last] = np.diff(sums[starts - starts[0]])
        return cls(best.source.cpu().numpy(), by_row, source.starts, target.starts, turned)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def links(self) -> Links:
        """One link for each word that has one."""
        parts = (self.links_of(*bounds) for bounds in _ranges(len(self)))
        return _gathered(parts, int(np.count_nonzero(self.best >= 0)))

    def links_of(self, first: int, last: int) -> Links:
        """The links of the rows `first:last`."""
        row, place, column = self.found(first, last)
        if self.turned:
            return Links(row, place, column)  # A word has one link, so that these are in order as they come.
        order = np.argsort(self.given_starts[row] + column, kind="stable")
        return Links(row[order], column[order], place[order])

    def found(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Row, own place and best place of the words of these rows that have a link, in the order of the text."""
        starts = self.starts[first : last + 1]
        here = self.best[starts[0] : starts[-1]]
        linked = np.flatnonzero(here >= 0)
        row = np.repeat(np.arange(first, last), np.diff(starts))[linked]
        return row, linked + starts[0] - self.starts[row], here[linked].astype(np.int64)


def combined(forward: Applied, backward: Applied, how: str = "intersect", *, rows: int | None = None) -> Links:
    """The links of both directions as one set (see `symmetrise`), of the first `rows` rows where that is given.

    Rows are worked on some at a time, so that the links of a direction are never there as a whole.
    """
    count = len(forward) if rows is None else rows
    words = [int(np.count_nonzero(one.best[: one.starts[count]] >= 0)) for one in (forward, backward)]
    room = {"intersect": min(words), "forward": words[0], "backward": words[1]}.get(how, sum(words))
    made = (
        _agreed(forward, backward, *bounds)
        if how == "intersect"
        else symmetrise(forward.links_of(*bounds), backward.links_of(*bounds), how)
        for bounds in _ranges(count)
    )
    return _gathered(made, room)


def _agreed(forward: Applied, backward: Applied, first: int, last: int) -> Links:
    """Links that both directions have; by source word, and so in order without a sort."""
    row, source, target = backward.found(first, last)
    kept = forward.best[forward.starts[row] + target] == source
    return Links(row[kept], source[kept], target[kept])


def _gathered(parts: Iterator[Links], room: int) -> Links:
    """The parts as one, where it is known how many links there can be: room that is not needed is never touched."""
    columns = tuple(np.empty(room, np.int64) for _ in range(3))
    done = 0
    for part in parts:
        for column, values in zip(columns, (part.row, part.source, part.target), strict=True):
            column[done : done + len(part)] = values
        done += len(part)
    row, source, target = (column[:done] for column in columns)
    return Links(row, source, target)


def _ranges(rows: int) -> Iterator[tuple[int, int]]:
    for first in range(0, rows, _ROWS_AT_ONCE):
        yield first, min(first + _ROWS_AT_ONCE, rows)
