"""Records as the pages read them until they are rewritten: schema 1, whose `variant` and `details` hold many fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interlingua.record import Record

_OF_GEOMETRY = {"pairwise", "similarity"}
_OF_EXPLANATIONS = {"consistency", "consistency-choices", "faithfulness", "task"}
GIVEN = "given"
"""What stands for the regime of a model that no regime of the study trained."""


def to_v1(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Each record as schema 1 had it."""
    return [_v1(record) for record in records]


def _v1(record: Record) -> dict[str, Any]:
    best = {None: None, True: "high", False: "low"}[record.higher_is_better]
    return {
        "measure": record.measure,
        "variant": _variant(record),
        "model": record.model,
        "source": "+".join(record.languages) if record.source is None else record.source,
        "value": record.value,
        "n": record.n,
        "target": record.target,
        "target_model": record.against,
        "layer": record.layer,
        "unit": record.unit,
        "pooling": record.pooling,
        "null": record.null_value,
        "low": record.ci_low,
        "high": record.ci_high,
        "best": best,
        "seed": record.seed,
        "corpus": record.corpus,
        "digests": dict(record.digests),
        "details": _details(record),
        "items": record.items,
        "step": record.step,
        "part": list(record.part),
        "versions": dict(record.versions),
        "schema": 1,
    }


def _variant(record: Record) -> str:
    if record.measure == "consistency":
        return str(record.aspect)
    if record.measure == "consistency-choices":
        return "/".join([str(record.aspect), *record.options.values()])
    if record.measure == "faithfulness":
        return f"{record.key}/{record.aspect}"
    if record.measure == "retrieval" and record.test is not None:
        back = "/backward" * (record.options["direction"] == "backward")
        return f"{record.metric}/layer {record.layer}{back}"
    return record.key


def _details(record: Record) -> dict[str, Any]:
    of_geometry = record.measure in _OF_GEOMETRY or (record.unit == "entity" and record.state is not None)
    of_names = record.measure == "spelling" and record.aspect is not None
    found: dict[str, Any] = {
        "regime": record.regime,
        "test": record.test,
        "bitexts": None if record.bitexts is None else list(record.bitexts),
        "state": record.state,
        "type": record.aspect if of_names else None,
    }
    found = {name: value for name, value in found.items() if value is not None}
    if of_geometry and record.state is not None:
        found["trained"] = record.trained_on
    own = dict(record.details)
    settings = {"settings": own.pop("settings")} if "settings" in own else {}
    if record.measure in _OF_EXPLANATIONS and record.block is not None:
        found.setdefault("regime", GIVEN)
    found |= {} if record.task is None else {"task": record.task}
    found |= own | settings
    if record.block is not None:
        found["geometry" if of_geometry else "synth" if of_names else "called"] = record.block
    return found
