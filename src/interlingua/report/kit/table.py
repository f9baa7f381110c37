"""`Table`: typed cells under typed columns; every renderer formats a cell by its column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from interlingua.record import Difference, Estimate, Record
from interlingua.report.kit.wording import Display

T = TypeVar("T")
K = TypeVar("K")
Cell: TypeAlias = "str | int | float | Estimate | Difference | None"
"""What a cell may hold. An `Estimate` links to its records; its interval is shown where the column says so."""


@dataclass(frozen=True, kw_only=True)
class MarkedEstimate(Estimate):
    """A mean with its standard deviation over seeds (printed as ±, in place of an interval) and a mark: `23.5 ± 0.2*`.

    A table that has marks says in its note what they mean.
    """

    deviation: float | None = None
    mark: str = ""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column: its heading, how its numbers are displayed, and whether intervals are printed beside the values.

    `text` columns are left-aligned. `better` says which end is best (None: neither); the best cells that are tied are
    set in bold where it is not None.
    """

    title: str
    display: Display = "text"
    interval: bool = False
    better: bool | None = None


def columns_of(*columns: str | Column) -> tuple[Column, ...]:
    """Columns in their order; one that is given by its heading alone holds text.

    >>> [column.display for column in columns_of("Test", Column(title="p", display="p_value"))]
    ['text', 'p_value']
    """
    return tuple(Column(title=column) if isinstance(column, str) else column for column in columns)


def group_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The items by a key of each, in the order of their first.

    >>> group_by(["ab", "c", "de"], len)
    {2: ['ab', 'de'], 1: ['c']}
    """
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows under columns. `note` says how to read it; `terminal` tables are also printed in a terminal.

    `name` is a file name (`languages`) and an id of the page. A table is never sorted by a renderer.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    terminal: bool = False

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of {self.name!r} does not have {len(self.columns)} cells")


def cell_records(cell: Cell) -> Sequence[Record]:
    """The records behind a cell; none for text and plain numbers."""
    return cell.records if isinstance(cell, Estimate) else ()
