"""Records of a pairwise study as matrices and curves, and wrong sentences against spelling (papers/003 Figs. 3–5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.errors import InputError
from interlingua.languages import script
from interlingua.measures.curves import Clustering, Correlations, clustered, correlations, differences, pooled
from interlingua.score import Score
from interlingua.stats.correlation import mantel
from interlingua.studies.pairwise import MEASURE, SIMILARITY, WRONG
from interlingua.studies.record import Record
from interlingua.studies.spellings import ALL, Spellings

Floats = NDArray[np.float64]


def transfer_matrix(records: Sequence[Record], languages: Sequence[str]) -> Floats:
    """The share of wrong sentences, (language of training, language of test), mean over seeds; nan where none is."""
    cells = {cell: np.mean([record.value for record in its]) for cell, its in _by_cell(records, MEASURE, WRONG).items()}
    return np.array([[cells.get((source, target), np.nan) for target in languages] for source in languages])


@dataclass(frozen=True)
class Scatter:
    """Wrong sentences against how alike names are spelled: a point for each ordered pair of languages, and how they go.

    Points have `source`, `target`, `tnld`, `wrong` (a share, mean over seeds), `low`, `high` and `n` (sentences).
    `pearson` and `spearman` are `stats.correlation.mantel` scores: p and interval allow for shared languages.
    `within` is Pearson's with held whether both languages are written in one script; None where all are, or none, or
    where that explains all of a side.
    """

    points: list[dict[str, Any]]
    pearson: Score
    spearman: Score
    within: Score | None


def against_spelling(
    records: Sequence[Record], spelled: Spellings, *, type: str = ALL, permutations: int = 9999, seed: int = 0
) -> Scatter:
    """papers/003 Fig. 5: the share of wrong sentences against TNLD, over all pairs of two languages.

    `type` is whose names are compared; where a set has one type alone, that one. Needs a fine-tuning on every language.
    """
    languages = spelled.languages
    wrong = transfer_matrix(records, languages)
    missing = [source for source, row in zip(languages, wrong, strict=True) if np.isnan(row).any()]
    if missing:
        raise InputError(
            "no fine-tuning on", value=", ".join(missing), remedy="Fine-tune on every language of the set."
        )
    apart = ~np.eye(len(languages), dtype=bool)
    if len(languages) > 2 and np.ptp(wrong[apart]) == 0:
        raise InputError(
            "every pair has the same share of wrong sentences", value=float(wrong[apart][0]), remedy="Train longer."
        )
    named = type if type in spelled.scores else next(iter(spelled.scores))
    far = np.array(spelled.matrix(named))
    if len(languages) > 2 and np.ptp(far[apart]) == 0:
        raise InputError("names are spelled alike in every pair", value=float(far[apart][0]), remedy="Take others.")
    cells = _by_cell(records, MEASURE, WRONG)
    points = []
    for row, source in enumerate(languages):
        for column, target in enumerate(languages):
            if source != target:
                its = cells[source, target]
                own = {"low": its[0].low, "high": its[0].high} if len(its) == 1 else _over_seeds(its)
                points.append(
                    {
                        "source": source,
                        "target": target,
                        "tnld": float(far[row, column]),
                        "wrong": float(wrong[row, column]),
                        **own,
                        "n": its[0].n,
                    }
                )
    pearson, spearman = (
        mantel(far, wrong, ranks=ranks, permutations=permutations, seed=seed) for ranks in (False, True)
    )
    written = np.array([script(code) for code in languages])
    same = (written[:, None] == written[None, :]).astype(np.float64)
    alike = same[apart]
    within = None
    # Where scripts alone decide a side nothing is left to correlate.
    if alike.min() < alike.max() and all(
        abs(np.corrcoef(side[apart], alike)[0, 1]) < 1 - 1e-9 for side in (far, wrong)
    ):
        within = mantel(far, wrong, given=same, permutations=permutations, seed=seed)
    return Scatter(points, pearson, spearman, within)


def _over_seeds(its: Sequence[Record]) -> dict[str, float]:
    values = [record.value for record in its]
    return {"low": min(values), "high": max(values)}


@dataclass(frozen=True)
class Changes:
    """How the average cosines of languages changed in one fine-tuning (papers/003 Fig. 3).

    `values` and `changes` are (step, language), `steps` and `begun` their steps; `span` is over how many steps a change
    is taken.
    """

    source: str
    languages: tuple[str, ...]
    steps: NDArray[np.int64]
    values: Floats
    begun: NDArray[np.int64]
    changes: Floats
    span: int


def changes_of(records: Sequence[Record], *, variant: str = "cosine", span: int | None = None) -> list[Changes]:
    """The curves of every fine-tuning that was watched, by language of training and seed, and their changes."""
    runs: dict[tuple[str, int | None], list[Record]] = {}
    for record in records:
        if (record.measure, record.variant) == (SIMILARITY, variant):
            runs.setdefault((record.source, record.seed), []).append(record)
    found = []
    for (source, _), its in runs.items():
        steps = np.array(its[0].details["steps"], np.int64)
        values = np.array([record.details["values"] for record in its]).T
        wide = span or int(its[0].details["span"])
        begun, changes = differences(steps, values, span=wide)
        spoken = tuple(str(record.target) for record in its)
        found.append(Changes(source, spoken, steps, values, begun, changes, wide))
    return found


@dataclass(frozen=True)
class Together:
    """How languages' changes go together over all fine-tunings, and which languages form groups (papers/003 Fig. 4)."""

    languages: tuple[str, ...]
    correlations: Correlations
    clustering: Clustering


def together(runs: Sequence[Changes], *, groups: int = 2) -> Together:
    """The correlations of the languages' changes, all runs end to end, and their clustering."""
    if not runs:
        raise InputError("no fine-tuning was watched", remedy="Run it with its monitors on.")
    curves = pooled([run.changes for run in runs])
    if still := [
        code for code, spread in zip(runs[0].languages, np.ptp(curves, axis=0), strict=True) if spread < 1e-12
    ]:
        raise InputError("a curve that does not change", value=", ".join(still), remedy="Train longer.")
    found = correlations(curves)
    return Together(runs[0].languages, found, clustered(found.matrix, groups=min(groups, len(runs[0].languages))))


def _by_cell(records: Sequence[Record], measure: str, variant: str) -> dict[tuple[str, str], list[Record]]:
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if (record.measure, record.variant) == (measure, variant):
            found.setdefault((record.source, str(record.target)), []).append(record)
    return found
