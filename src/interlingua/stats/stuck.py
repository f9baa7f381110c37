"""Seeds whose models never left chance where others of the same kind did: their scores tell luck, not what was done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

CLEAR = 0.05
"""By how much a score is above chance where something was learnt; below a tenth of it nothing was."""

Key = TypeVar("Key")


def stuck(values: Mapping[Key, float], null: float | None) -> set[Key]:
    """Those at chance where another is clearly above it; none where none has learnt, which is no luck.

    >>> stuck({0: 0.47, 1: 0.3333}, 0.333), stuck({0: 0.334, 1: 0.3333}, 0.333), stuck({0: 0.47, 1: 0.2}, None)
    ({1}, set(), set())
    """
    if null is None or all(value - null <= CLEAR for value in values.values()):
        return set()
    return {key for key, value in values.items() if value - null < CLEAR / 10}
