"""One set of links from those of two directions, as fast_align's atools does it, for all rows at once.

Koehn, Och & Marcu (2003), §4.4: grow from the intersection into the union along neighbours, then add links of
either direction for words that still have none. The order in which links are tried matters and is that of atools:
by source word, then by target word; a link that was added counts for those tried after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interlingua.errors import InputError
from interlingua.wordalign.links import Links

SYMMETRISATIONS = (
    "intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and", "forward", "backward",
)  # fmt: skip
_NEIGHBOURS = tuple((s, t) for s in (-1, 0, 1) for t in (-1, 0, 1) if (s, t) != (0, 0))
_ROWS_AT_ONCE = 1 << 17
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def symmetrize(forward: Links, backward: Links, how: str = "intersect") -> Links:
    """The links of both directions combined; both are given as (row, source word, target word).

    `how`: `intersect`, `union`, `grow-diag`, `grow-diag-final`, `grow-diag-final-and`, or one of the directions
    as it is, `forward` or `backward`.

    >>> forward, backward = Links.of([0, 0], [0, 1], [0, 1]), Links.of([0, 0], [0, 1], [0, 2])
    >>> for how in ("intersect", "grow-diag", "union"):
    ...     print(how, symmetrize(forward, backward, how).target.tolist())
    intersect [0]
    grow-diag [0, 1, 2]
    union [0, 1, 2]
    """
    if how not in SYMMETRISATIONS:
        raise InputError("unknown symmetrisation", value=how, remedy=f"Use one of: {', '.join(SYMMETRISATIONS)}.")
    if how in ("forward", "backward"):
        return forward if how == "forward" else backward
    parts = [_combined(ours, theirs, how) for ours, theirs in _by_rows(forward, backward)]
    return Links(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _by_rows(forward: Links, backward: Links) -> Iterator[tuple[Links, Links]]:
    """Both in the same ranges of rows, so that memory does not grow with the text; at least one range."""
    last = max((int(links.row[-1]) for links in (forward, backward) if len(links)), default=0)
    for begin in range(0, last + 1, _ROWS_AT_ONCE):
        bounds = (begin, begin + _ROWS_AT_ONCE)
        cuts = (np.searchsorted(links.row, bounds) for links in (forward, backward))
        ours, theirs = (
            Links(links.row[a:b], links.source[a:b], links.target[a:b])
            for links, (a, b) in zip((forward, backward), cuts, strict=True)
        )
        yield ours, theirs


def _combined(forward: Links, backward: Links, how: str) -> tuple[Ints, Ints, Ints]:
    union = _Union.of(forward, backward)
    kept = union.forward & union.backward
    if how == "union":
        kept = union.forward | union.backward
    elif how != "intersect":
        grown = _Grown(union)
        grown.grow()
        if how != "grow-diag":
            for direction in (union.forward, union.backward):
                grown.add(direction, neither=how == "grow-diag-final-and")
        kept = grown.kept
    return union.row[kept], union.source[kept], union.target[kept]


@dataclass(frozen=True)
class _Union:
    """The links of either direction in order, which direction each is of, and keys that are sorted like them."""

    row: Ints
    source: Ints
    target: Ints
    forward: Bools
    backward: Bools
    keys: Ints
    strides: tuple[int, int]  # of a source word and of a row in keys

    @classmethod
    def of(cls, forward: Links, backward: Links) -> _Union:
        row, source, target = (
            np.concatenate([getattr(forward, name), getattr(backward, name)]) for name in ("row", "source", "target")
        )
        # A word more than there are: a neighbour past either end is no link.
        stride = int(target.max(initial=0)) + 2
        strides = stride, stride * (int(source.max(initial=0)) + 2)
        every = row * strides[1] + source * strides[0] + target
        order = np.argsort(every, kind="stable")  # Two sorted runs: a merge.
        keys = every[order]
        new = np.diff(keys, prepend=-1) != 0
        first = order[new]
        # Of equal links the forward one comes first, and the next one says that there is a backward one.
        is_forward = first < len(forward)
        is_backward = ~is_forward | ~np.append(new, True)[1:][new]
        return cls(row[first], source[first], target[first], is_forward, is_backward, keys[new], strides)


class _Grown:
    """Links that grow from the intersection. Rows are worked on side by side: the k-th candidate of each at a time."""

    def __init__(self, union: _Union) -> None:
        self._union = union
        self.kept = union.forward & union.backward
        # Every source and target word of a row with links has a number, and a mark where it is linked.
        self._sources = np.unique(union.keys // union.strides[0], return_inverse=True)[1]
        self._targets = np.unique(union.row * union.strides[0] + union.target, return_inverse=True)[1]
        self._source_linked, self._target_linked = np.zeros((2, len(union.row)), bool)
        self._keep(np.flatnonzero(self.kept))

    def grow(self) -> None:
        """Add links with a neighbour that is kept and a word that is not linked, again and again."""
        waiting = np.flatnonzero(~self.kept)
        near = self._neighbours(waiting)
        kept = np.append(self.kept, False)  # what is no link stands at the end
        rows = self._union.row[waiting]
        while len(waiting):
            moved = np.zeros(len(waiting), bool)
            for turn in _in_turn(rows):
                open_ones = turn[~self._both_linked(waiting[turn])]
                good = open_ones[kept[near[open_ones]].any(axis=1)]
                self._keep(waiting[good])
                kept[waiting[good]] = True
                moved[good] = True
            again = ~moved & np.isin(rows, rows[moved])
            waiting, near, rows = waiting[again], near[again], rows[again]

    def add(self, direction: Bools, *, neither: bool) -> None:
        """Add links of one direction, in order, where one word is not linked, or where neither is."""
        waiting = np.flatnonzero(direction & ~self.kept)
        for some in _in_turn(self._union.row[waiting]):
            links = waiting[some]
            source, target = self._source_linked[self._sources[links]], self._target_linked[self._targets[links]]
            self._keep(links[~(source | target) if neither else ~(source & target)])

    def _both_linked(self, links: Ints) -> Bools:
        both: Bools = self._source_linked[self._sources[links]] & self._target_linked[self._targets[links]]
        return both

    def _keep(self, links: Ints) -> None:
        self.kept[links] = True
        self._source_linked[self._sources[links]] = True
        self._target_linked[self._targets[links]] = True

    def _neighbours(self, links: Ints) -> Ints:
        """For each link the numbers of its eight neighbours in the union, one past the last where there is none."""
        keys = self._union.keys
        near = np.empty((len(links), len(_NEIGHBOURS)), np.int64)
        for column, (source, target) in enumerate(_NEIGHBOURS):
            wanted = keys[links] + source * self._union.strides[0] + target
            at = np.searchsorted(keys, wanted)
            there = keys[np.minimum(at, len(keys) - 1)] == wanted
            near[:, column] = np.where(there, at, len(keys))
        return near


def _in_turn(rows: Ints) -> Iterator[Ints]:
    """The places of sorted rows: first those where a row stands first, then second, and so on."""
    if not len(rows):
        return
    new = np.flatnonzero(np.diff(rows, prepend=-1))
    counts = np.diff(np.append(new, len(rows)))
    order = np.argsort(-counts, kind="stable")
    new, counts = new[order], counts[order]
    for turn in range(int(counts[0])):
        yield new[: np.searchsorted(-counts, -turn)] + turn
