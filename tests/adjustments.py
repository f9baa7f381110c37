"""Adjustments as a report reads them, made of the numbers of both states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlingua.measures.retrieval import METRICS as RETRIEVAL
from interlingua.measures.separation import METRICS as SEPARATION
from interlingua.record import Record, RecordTable
from interlingua.report.record_adapter import to_v1
from interlingua.report.runs import Run
from interlingua.score import Score

STATES = {"before": "original", "after": "adjusted"}


def records_of(summary: Mapping[str, Any]) -> RecordTable:
    """The records whose numbers are in a summary."""
    found: list[Record] = []
    for when, state in STATES.items():
        for code, its in summary.get(when, {}).items():
            staying = summary["languages"].get(code, {}).get("staying", "en")
            shared = Record(measure="separation", model="m", source=staying, target=code, state=state, corpus="x.tsv")
            for key, told in its["distances"].items():
                place = Record(**{**vars(shared), "layer": summary["layer"], "unit": "word"})
                found.append(place.scored(SEPARATION, key, score_of(told)))
            for corpus, retrieval in (
                ("x.tsv", its["retrieval"]),
                ("sampler", its.get("sampler", {}).get("retrieval", {})),
            ):
                for layer, scores in retrieval.items():
                    place = Record(**{**vars(shared), "measure": "retrieval", "layer": int(layer), "corpus": corpus})
                    found += [place.scored(RETRIEVAL, key, score_of(told)) for key, told in scores.items()]
    return RecordTable(found)


def score_of(told: Mapping[str, Any]) -> Score:
    bounds = {name: told.get(name) for name in ("null", "low", "high")}
    return Score(value=told["value"], n=told["n"], details=told.get("details", {}), **bounds)


def run_of(summary: Mapping[str, Any]) -> Run:
    """The run of a summary, as `interlingua report` reads it."""
    return Run(summary, to_v1(records_of(summary)))
