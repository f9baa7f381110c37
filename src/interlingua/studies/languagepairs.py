"""Which pairs of languages are measured, in one model or between two, and the measurements that do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from interlingua.corpus import ParallelCorpus
from interlingua.studies.measuring import (
    Language,
    Measurement,
    MeasurePlan,
    language_measurement,
    pair_measurement,
    shared_rows,
)

Codes = tuple[str, str]
TWO_MODELS = ("procrustes", "procrustes-words", "cka")
"""What can be said of two models: measures that ask for no common space."""


@dataclass(frozen=True)
class Asked:
    """Pairs of languages to measure, those of them that a map is fitted for, and how many others share no row.

    `rows` is how many sentences every pair is measured on: as many as `fewest` shares, since retrieval among fewer
    candidates is easier. `cut` counts what that leaves out, over all pairs.
    """

    pairs: tuple[Codes, ...]
    mapped: frozenset[Codes]
    apart: int = 0
    rows: int | None = None
    fewest: Codes | None = None
    cut: int = 0


def asked_pairs(
    corpus: ParallelCorpus, sides: Sequence[Sequence[str]], *, pairs: str = "all", maps: str = "all"
) -> Asked:
    """The pairs of one model's languages, or every language of the first of two models with every one of the second.

    `pairs` and `maps` are all, or pivot: those with the first language of the corpus. Two models have no space in
    common: the same sentences in both are a pair like any other, and every pair has its map.
    """
    if len(sides) == 2:
        every = tuple((a, b) for a in sides[0] for b in sides[1])
        return Asked(every, frozenset(every), **_equal_rows(corpus, every))
    pivot, shared = corpus.languages[0], set(corpus.pairs())
    known = [code for code in corpus.languages if code in sides[0]]
    asked = [(a, b) for a, b in combinations(known, 2) if pairs == "all" or a == pivot]
    there = tuple(pair for pair in asked if pair in shared)
    mapped = frozenset(pair for pair in there if maps == "all" or pair[0] == pivot)
    return Asked(there, mapped, len(asked) - len(there), **_equal_rows(corpus, there))


def _equal_rows(corpus: ParallelCorpus, pairs: Sequence[Codes]) -> dict[str, Any]:
    """The number of rows that all pairs can be measured on, the pair that has no more, and what others have beyond."""
    shared = {pair: count for pair in pairs if (count := len(shared_rows(corpus, *pair)))}
    if not shared:
        return {}
    fewest = min(shared, key=lambda pair: shared[pair])
    rows = shared[fewest]
    return {"rows": rows, "fewest": fewest, "cut": sum(shared.values()) - rows * len(shared)}


def measurements(
    spaces: Sequence[Sequence[Language]],
    corpus: ParallelCorpus,
    names: ParallelCorpus | None,
    plan: MeasurePlan,
    asked: Asked,
) -> list[Measurement]:
    """The measurements of the first model's languages, and of the pairs that are asked for."""
    alone = [each for language in spaces[0] if (each := language_measurement(language, corpus, plan)) is not None]
    ours, theirs = ({language.code: language for language in space} for space in (spaces[0], spaces[-1]))
    return alone + [
        pair_measurement(ours[a], theirs[b], corpus, names, plan, fits=(a, b) in asked.mapped, most_rows=asked.rows)
        for a, b in asked.pairs
    ]
