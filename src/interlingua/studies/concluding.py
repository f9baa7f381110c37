"""What several records of a geometry study say together: changes in training, languages that move alike, spelling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from interlingua.errors import InputError
from interlingua.score import Score
from interlingua.studies.crossings import against_spelling, changes_of, together
from interlingua.studies.pairwise import MEASURE, SIMILARITY, WRONG
from interlingua.studies.record import Record
from interlingua.studies.spellings import Spellings, spellings
from interlingua.studies.synthesising import Synthetic

GROUPS = 2
"""As papers/003 Fig. 4 sees them."""


def conclusions(
    records: Sequence[Record], spelled: Spellings | None, *, seed: int = 0
) -> tuple[dict[str, Any], list[str]]:
    """Plain data for the report, and what could not be concluded, in words; `spelled` is how names are spelled.

    - `not_learnt`: the fine-tunings that did not learn the task, with their share of wrong sentences in the language of
      training and what chance gives (see `not_learnt`). They are left out of all that follows.
    - `changes`: for each language of training the changes of every language's average cosine (papers/003 Fig. 3).
    - `groups`: their correlations over all fine-tunings end to end, and their clustering (Fig. 4).
    - `scatter`: wrong sentences against the TNLD of the test part's names, with correlations (Fig. 5).
    """
    failed = not_learnt(records)
    found: dict[str, Any] = {"not_learnt": failed}
    notes = [f"the fine-tuning on {each['language']}, seed {each['seed']}, did not learn the task" for each in failed]
    without = {(each["language"], each["seed"]) for each in failed}
    fine_tuned = (MEASURE, SIMILARITY)
    records = [r for r in records if r.measure not in fine_tuned or (r.source, r.seed) not in without]
    try:
        found |= _movements(records)
    except InputError as error:
        notes.append(f"no correlations of changes: {error}")
    try:
        if spelled is None:
            raise InputError("names were not compared", remedy="Compare them first.")
        learnt = {r.source for r in records if r.measure == MEASURE}
        lost = [code for code in spelled.languages if code in {own for own, _ in without} - learnt]
        kept = tuple(code for code in spelled.languages if code not in lost)
        if lost and len(kept) < 3:
            raise InputError(
                "the task was learnt in too few languages to correlate over", value=len(kept), remedy="Train longer."
            )
        scatter = against_spelling(records, replace(spelled, languages=kept), seed=seed)
        found["scatter"] = {
            "points": scatter.points,
            "pearson": _plain(scatter.pearson),
            "spearman": _plain(scatter.spearman),
            "within": None if scatter.within is None else _plain(scatter.within),
            "left_out": lost,
        }
    except InputError as error:
        notes.append(f"no correlation with spelling: {error}")
    return found, notes


def not_learnt(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The fine-tunings whose own language's test sentences are no less often wrong than by chance.

    Chance is the lower of two shares of wrong sentences: of the model's own answers dealt to other sentences (the
    record's null), and of no word tagged at all. A fine-tuning has learnt where the 95 % interval lies below it.
    """
    found = []
    for record in records:
        if (record.measure, record.variant) != (MEASURE, WRONG) or record.source != record.target:
            continue
        levels = [level for level in (record.null, record.details.get("untagged")) if level is not None]
        chance = min(levels, default=1.0)
        if record.high is None or record.high >= chance:
            about = {"language": record.source, "seed": record.seed, "wrong": record.value, "n": record.n}
            found.append({**about, "low": record.low, "high": record.high, "chance": chance})
    return found


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
        "p": found.correlations.p.tolist(),
        "runs": len(runs),
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
