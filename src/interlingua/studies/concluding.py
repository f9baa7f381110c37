"""What several records of a geometry study say together: changes in training, languages that move alike, spelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interlingua.errors import InputError
from interlingua.score import Score
from interlingua.studies.crossings import against_spelling, changes_of, together
from interlingua.studies.record import Record
from interlingua.studies.spellings import Spellings, spellings
from interlingua.studies.synthesising import Synthetic

GROUPS = 2
"""As papers/003 Fig. 4 sees them."""


def conclusions(
    records: Sequence[Record], spelled: Spellings | None, *, seed: int = 0
) -> tuple[dict[str, Any], list[str]]:
    """Plain data for the report, and what could not be concluded, in words; `spelled` is how names are spelled.

    - `changes`: for each language of training the changes of every language's average cosine (papers/003 Fig. 3).
    - `groups`: their correlations over all fine-tunings end to end, and their clustering (Fig. 4).
    - `scatter`: wrong sentences against the TNLD of the test part's names, with correlations (Fig. 5).
    """
    found: dict[str, Any] = {}
    notes: list[str] = []
    try:
        found |= _movements(records)
    except InputError as error:
        notes.append(f"no correlations of changes: {error}")
    try:
        if spelled is None:
            raise InputError("names were not compared", remedy="Compare them first.")
        scatter = against_spelling(records, spelled, seed=seed)
        found["scatter"] = {
            "points": scatter.points,
            "pearson": _plain(scatter.pearson),
            "spearman": _plain(scatter.spearman),
            "within": None if scatter.within is None else _plain(scatter.within),
        }
    except InputError as error:
        notes.append(f"no correlation with spelling: {error}")
    return found, notes


def spellings_of_test(synthetic: Synthetic, *, seed: int = 0) -> Spellings:
    """TNLD over the names that the test part draws from, as papers/003 §4.2 takes it."""
    tables = [product.names for product in synthetic.parts["test"].products.values()]
    return spellings(tables, synthetic.languages, seed=seed)


def _movements(records: Sequence[Record]) -> dict[str, Any]:
    """Changes of each run (the first seed's are drawn), and how languages' changes go together over all runs."""
    runs = changes_of(records)
    if not runs:
        return {}
    changes: dict[str, Any] = {}
    for run in runs:
        lines = {code: run.changes[:, place].tolist() for place, code in enumerate(run.languages)}
        changes.setdefault(run.source, {"steps": run.begun.tolist(), "lines": lines})
    found = together(runs, groups=GROUPS)
    groups = {
        "languages": list(found.languages),
        "matrix": found.correlations.matrix.tolist(),
        "null": found.correlations.null.tolist(),
        "order": found.clustering.order,
        "groups": found.clustering.groups,
        "merges": [list(merge) for merge in found.clustering.merges],
        "span": runs[0].span,
    }
    return {"changes": changes, "groups": groups}


def _plain(score: Score) -> dict[str, Any]:
    return {
        "value": score.value,
        "low": score.low,
        "high": score.high,
        "null": score.null,
        "n": score.n,
        "details": dict(score.details),
    }
