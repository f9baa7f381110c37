"""Contexts and names, each split into a training and a test part that share nothing a reader would recognise."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

from interlingua.synthetic.drawing import shuffled
from interlingua.synthetic.tables import Context, Name, Table

T = TypeVar("T", Context, Name)
_Group = list[tuple[int, int]]
"""Rows, each by its table and its place there."""


def split(tables: Sequence[Table[T]], *, share: float, seed: str) -> list[tuple[Table[T], Table[T]]]:
    """Each table's training and test part: disjoint, together whole, the test part `share` of it to the nearest row.

    papers/003 §3.1 splits rows. Here rows that share a text in any language, whatever their kind, stay together
    (Australia in the nominative and in the locative; a context that two genders have in common in English): otherwise
    a test name would have been seen in training. Where rows are tied the share is met as nearly as the ties allow.
    Both parts of a table of two or more untied rows have a row.

    >>> from interlingua.synthetic.tables import Kind
    >>> table = Table(Kind("LOC"), {"en": tuple(Name(f"Place {i}") for i in range(10))}, tuple(range(10)), "x")
    >>> [len(part) for part in split([table], share=0.2, seed="0")[0]]
    [8, 2]
    """
    groups = _groups(tables)
    test: list[set[int]] = [set() for _ in tables]
    classes: dict[tuple[int, ...], list[_Group]] = {}
    for group in groups:
        classes.setdefault(tuple(number for number, _ in group), []).append(group)
    # Groups of one pattern (so many rows of the same tables) are split alike; what rounding owes a table is paid
    # by the next pattern that has rows of it.
    owed = [0.0] * len(tables)
    for pattern in sorted(classes):
        members = shuffled(classes[pattern], f"{seed}/{pattern}")
        inside = {number: pattern.count(number) for number in pattern}
        debt = sum(owed[number] / count for number, count in inside.items()) / len(inside)
        taken = min(max(round(len(members) * share + debt), 0), len(members))
        for number, count in inside.items():
            owed[number] += (len(members) * share - taken) * count
        for number, row in (item for group in members[:taken] for item in group):
            test[number].add(row)
    for number in range(len(tables)):
        _lend(number, tables, test, groups)
    return [
        (table.take([row for row in range(len(table)) if row not in chosen]), table.take(sorted(chosen)))
        for table, chosen in zip(tables, test, strict=True)
    ]


def _lend(number: int, tables: Sequence[Table[T]], test: Sequence[set[int]], groups: Sequence[_Group]) -> None:
    """Move a group where one part of a small table has no row, if that leaves no other part without one."""
    sizes = [len(table) for table in tables]
    if 0 < len(test[number]) < sizes[number]:
        return
    into = not test[number]
    for group in groups:
        inside = [other for other, _ in group]
        left = all(
            inside.count(other) < (sizes[other] - len(test[other]) if into else len(test[other])) for other in inside
        )
        if number in inside and left:
            for other, row in group:
                (test[other].add if into else test[other].discard)(row)
            return


def _groups(tables: Sequence[Table[T]]) -> list[_Group]:
    """Rows in sets that no text ties to another, in order of their first row."""
    items = [(number, row) for number, table in enumerate(tables) for row in range(len(table))]
    parent = list(range(len(items)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    seen: dict[tuple[str, Hashable], int] = {}
    for place, (number, row) in enumerate(items):
        for key in tables[number].keys(row):
            other = root(seen.setdefault(key, place))
            mine = root(place)
            parent[max(other, mine)] = min(other, mine)
    groups: dict[int, _Group] = {}
    for place, item in enumerate(items):
        groups.setdefault(root(place), []).append(item)
    return list(groups.values())
