"""The records of a study to scores over seeds, distances, and the numbers of a paper beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlingua.stats import over_seeds
from interlingua.studies.comparing import distance_table, paper_p, summarise
from interlingua.studies.published import Published
from interlingua.studies.record import Record
from interlingua.studies.scenarios import REGIMES
from interlingua.studies.store import Store
from interlingua.studies.transferring import STATES

Entry = dict[str, Any]
_SCORED = {"regime", "test", "task"}


def study_scores(records: Sequence[Record], store: Store, *, regimes: Sequence[str], permutations: int) -> list[Entry]:
    """One entry an encoder, task, language of training, test, metric and regime; see `comparing.summarise`.

    Holm's correction is over the regimes and tests of one metric of one task, encoder and language of training.
    """
    asked = [record for record in records if record.details.keys() >= _SCORED]
    found: list[Entry] = []
    for encoder, task, source in _groups(asked):
        mine = [r for r in asked if (r.model, r.details["task"], r.source) == (encoder, task, source)]
        present = {record.details["regime"] for record in mine}
        named = [name for name in regimes if name in present]
        made = summarise(
            mine,
            store,
            regimes=[*named, *sorted(present - set(named), key=_usual)],
            tests=list(dict.fromkeys(record.details["test"] for record in mine)),
            permutations=permutations,
        )
        found += [{"encoder": encoder, "task": task, "source": source, **entry} for entry in made]
    return found


def _usual(regime: str) -> tuple[int, str]:
    """The place of a regime that only a task names: ours as they are always told, then others by name."""
    return (REGIMES.index(regime) if regime in REGIMES else len(REGIMES)), regime


def study_distances(records: Sequence[Record]) -> list[Entry]:
    """Distances of words, one entry an encoder, task, language and state; a model before any task has no task."""
    stood = [record for record in records if record.measure == "distances"]
    found: list[Entry] = []
    for encoder, task, source in _groups(stood):
        mine = [r for r in stood if (r.model, r.details["task"], r.source) == (encoder, task, source)]
        states = [*STATES, *dict.fromkeys(record.details["state"] for record in mine)]
        made = distance_table(mine, states=states)
        found += [{"encoder": encoder, "task": task, "source": source, **entry} for entry in made]
    return found


def beside(scores: Sequence[Mapping[str, Any]], records: Sequence[Record], paper: Sequence[Published]) -> list[Entry]:
    """Each published number with ours of the same task, test, metric and regime.

    Ours is of the encoder that the paper names, where the study has it; else of every encoder there is. Its `p_paper`
    are by the paper's own tests, which hold the seeds fixed.
    """
    ours: dict[tuple[str, ...], list[tuple[str, float, Mapping[str, float]]]] = {}
    for entry in scores:
        cell = tuple(entry[key] for key in ("task", "source", "test", "metric", "regime"))
        ours.setdefault(cell, []).append((entry["encoder"], entry["mean"], paper_p(entry)))
    for key, values in (_consistencies(records) | _cosines(records)).items():
        ours.setdefault(key[1:], []).append((key[0], over_seeds(values).mean, {}))
    found: list[Entry] = []
    for each in paper:
        matches = ours.get(each.cell, [])
        for encoder, value, p in [match for match in matches if match[0] == each.encoder] or matches:
            found.append(
                {
                    "cite": each.cite,
                    "task": each.task,
                    "source": each.source,
                    "test": each.test,
                    "metric": each.metric,
                    "regime": each.regime,
                    "paper": each.value,
                    "paper_mark": each.mark,
                    "paper_encoder": each.encoder,
                    "encoder": encoder,
                    "ours": value,
                    "p_paper": dict(p),
                }
            )
    return found


def _consistencies(records: Sequence[Record]) -> dict[tuple[str, ...], list[float]]:
    """Consistencies of attributions over seeds, by encoder, task, source, test, metric and regime."""
    found: dict[tuple[str, ...], list[float]] = {}
    for record in records:
        if record.measure == "consistency" and "called" in record.details:
            task, regime = record.details["task"], record.details["regime"]
            cell = (record.model, task, record.source, str(record.target), f"consistency/{record.variant}", regime)
            found.setdefault(cell, []).append(record.value)
    return found


def _cosines(records: Sequence[Record]) -> dict[tuple[str, ...], list[float]]:
    """Cosines of parallel names at the output, both ways round, by encoder, geometry table, pair, metric and state.

    A state is `before`, or `after` with the language of fine-tuning (papers/003 Table 2).
    """
    mine = [r for r in records if r.measure == "parallel-cosine" and r.corpus == "test" and "geometry" in r.details]
    last: dict[str, int] = {}
    for record in mine:
        last[record.model] = max(last.get(record.model, 0), record.layer or 0)
    found: dict[tuple[str, ...], list[float]] = {}
    for record in mine:
        if record.layer == last[record.model]:
            for pair in ((record.source, str(record.target)), (str(record.target), record.source)):
                state = " ".join(each for each in (record.details["state"], record.details["trained"]) if each)
                cell = (record.model, record.details["geometry"], *pair, f"{record.measure}/{record.variant}", state)
                found.setdefault(cell, []).append(record.value)
    return found


def _groups(records: Sequence[Record]) -> list[tuple[str, str, str]]:
    return list(dict.fromkeys((r.model, r.details["task"], r.source) for r in records))
