"""TNLD between languages over parallel names, type by type, as matrices (papers/003 §3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from interlingua.errors import InputError
from interlingua.measures.spelling import spelling
from interlingua.score import Score
from interlingua.synthetic.tables import Name, Table

ALL = "all"
NULL_ROWS = 200
"""Names of one side behind each null: with 11 languages there are 55 pairs, and 40,000 distances are enough."""


@dataclass(frozen=True)
class Spellings:
    """How alike names are spelled, for each type and for all: `scores[type][variant][source, target]`.

    Variants are `tnld` and, without transliteration, `nld`. A pair stands once, in the order of `languages`; the
    distance is symmetric, and that of a language to itself is 0.
    """

    languages: tuple[str, ...]
    scores: Mapping[str, Mapping[str, Mapping[tuple[str, str], Score]]]

    def value(self, type: str, variant: str, source: str, target: str) -> float:
        """The mean distance of two languages' names of a type."""
        if source == target:
            return 0.0
        found = self.scores[type][variant]
        return (found.get((source, target)) or found[target, source]).value

    def matrix(self, type: str = ALL, variant: str = "tnld") -> list[list[float]]:
        """The distances of all pairs, rows and columns in the order of `languages`."""
        return [[self.value(type, variant, one, other) for other in self.languages] for one in self.languages]

    def rows(self) -> list[dict[str, str | float | int | None]]:
        """A row for each type and pair: both distances, the interval and null of TNLD, and the number of names."""
        return [
            {
                "type": type,
                "source": source,
                "target": target,
                "tnld": score.value,
                "low": score.low,
                "high": score.high,
                "null": score.null,
                "nld": variants["nld"][source, target].value,
                "names": score.n,
            }
            for type, variants in self.scores.items()
            for (source, target), score in variants["tnld"].items()
        ]


def spellings(
    names: Sequence[Table[Name]], languages: Sequence[str], *, romaniser: str = "anyascii", seed: int = 0
) -> Spellings:
    """TNLD and plain normalised edit distance of every pair of languages, by type and over all names.

    Entities alone are compared, without the prepositions and suffixes that come with them. Names of several cases of
    one type are taken together, each as often as it stands there.

    >>> from interlingua.synthetic.tables import Kind
    >>> table = Table(Kind("LOC"), {"en": (Name("Minsk"),), "be": (Name("Мінск"),)}, (2,), "places")
    >>> found = spellings([table], ["en", "be"])
    >>> found.matrix("LOC"), found.matrix("LOC", "nld")
    ([[0.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]])
    """
    if len(languages) < 2:
        raise InputError("one language has nothing to be compared with", value=languages[0], remedy="Give two or more.")
    types = dict.fromkeys(table.kind.type for table in names)
    groups = {type: [table for table in names if table.kind.type == type] for type in types}
    if len(groups) > 1:
        groups[ALL] = list(names)
    scores: dict[str, dict[str, dict[tuple[str, str], Score]]] = {}
    for type, tables in groups.items():
        columns = {code: [name.text for table in tables for name in table.cells[code]] for code in languages}
        found = scores.setdefault(type, {"tnld": {}, "nld": {}})
        for place, source in enumerate(languages):
            for target in languages[place + 1 :]:
                made = spelling(columns[source], columns[target], romaniser=romaniser, seed=seed, null_rows=NULL_ROWS)
                for variant in found:
                    found[variant][source, target] = made[variant]
    return Spellings(tuple(languages), scores)
