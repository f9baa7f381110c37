"""A run as a page has it: its settings, its records, and what else its folder holds; one of several has a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.report.readings import Readings, Record, gather

Items = NDArray[np.floating[Any]]

LINES = ("@one", "@two", "@three", "@four", "#8C8C8C", "#E69F00", "#56B4E9")
"""Colours of runs and lines, told apart with any colour vision; the first four are lighter on a dark ground."""


@dataclass(frozen=True)
class Run:
    """One run on a page. `first` is the place of its first record among the page's; `places`, where given, of each.

    `key` and `name` are empty where the run is alone: then nothing on the page need say which run it is of. `more` is
    what its folder holds beside records: `points`, `examples`, `scores`, `distances`. `items` gives the per-item values
    of a record, None where there are none.
    """

    about: Mapping[str, Any]
    records: Sequence[Record] = ()
    first: int = 0
    key: str = ""
    name: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    places: Sequence[int] = ()
    items: Callable[[Record], Items | None] = field(default=lambda record: None, compare=False, repr=False)

    @property
    def prefix(self) -> str:
        """What stands before a line's name where there are several runs."""
        return f"{self.name}: " if self.key else ""

    def numbered(self) -> Iterator[tuple[int, Record]]:
        """Each record with its place on the page."""
        every = range(self.first, self.first + len(self.records))
        return zip(self.places or every, self.records, strict=True)

    def readings(self) -> Readings:
        """The records by what they measure, each with its place on the page."""
        return self._gathered

    @cached_property
    def _gathered(self) -> Readings:
        # Seconds, for the tens of thousands of records of an audit.
        return gather(self.records, places=[place for place, _ in self.numbered()])

    def id(self, name: str) -> str:
        """The name of a part of the page that every run has its own of."""
        return f"{name}-{self.key}" if self.key else name


def colour(place: int) -> str:
    """The colour of the run or line at a place; they begin again after the seventh."""
    return LINES[place % len(LINES)]
