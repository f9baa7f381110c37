"""A study's run cut into what the parts of a page draw: a transfer run a task, readings a block of measures, points."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from interlingua.report.explain import Above, above_heads, above_random, mean_of
from interlingua.report.readings import Readings, Record
from interlingua.report.runs import Run
from interlingua.report.tables import Ref
from interlingua.report.transfer import SHOWN, of_today, telling
from interlingua.report.transfer_page import behind_entry, entry_records

Entry = Mapping[str, Any]
Group = tuple[str, str, str]
"""An encoder, a task, the language of training."""

Block = tuple[str, bool]
"""The name of a block of measures, and whether it lies between two models."""

Found = dict[str, tuple[Run, Readings]]
Point = tuple[str, float, float, Ref]
"""A language, consistency, performance, and the records behind both."""


@dataclass(frozen=True)
class Controlled:
    """A consistency with its interval, what other examples' texts and random attributions reach, its lead on these."""

    value: float
    low: float | None
    high: float | None
    null: float | None
    random: float
    above: Above
    heads: Above | None
    behind: tuple[int, ...]


_SEED = re.compile(r" seed \d+$")


def entries(run: Run, name: str) -> list[Entry]:
    """A list of a study's: `scores`, `distances`, `beside` or `geometries`."""
    found = list(run.more.get(name) or [])
    return of_today(found) if name == "scores" else found


def group_of(entry: Entry) -> Group:
    """Which encoder, task and language of training an entry is of."""
    return entry["encoder"], entry["task"], entry["source"]


def task_runs(run: Run) -> list[Run]:
    """One transfer run an encoder, task and language of training, as `report.transfer_page` draws them."""
    scores = entries(run, "scores")
    held: dict[Group, list[tuple[int, Record]]] = {}
    for place, record in run.numbered():
        details = record.get("details") or {}
        if details.keys() >= {"regime", "test", "task"}:
            held.setdefault((record["model"], details["task"], record["source"]), []).append((place, record))
    found = []
    for group in dict.fromkeys(map(group_of, scores)):
        mine = [entry for entry in scores if group_of(entry) == group]
        encoder, task, source = group
        about = {
            "tests": list(dict.fromkeys(entry["test"] for entry in mine)),
            "regimes": list(dict.fromkeys(entry["regime"] for entry in mine)),
            "seeds": list(dict.fromkeys(seed for entry in mine for seed in entry["seeds"])),
            "source": source,
            "model": encoder,
            "task": task,
        }
        found.append(_part(run, about, held.get(group, []), f"{task}, {encoder}, {source}", {"scores": mine}))
    return found


def state_runs(run: Run) -> list[Run]:
    """One run an encoder, task and language of training with the distances of words in its states.

    States before any task, which all tasks of an encoder share, stand first.
    """
    held: dict[Group, list[tuple[int, Record]]] = {}
    for place, record in run.numbered():
        details = record.get("details") or {}
        if record["measure"] == "distances":
            held.setdefault((record["model"], details.get("task") or "", record["source"]), []).append((place, record))
    found = []
    for (encoder, task, source), its in held.items():
        if task or not any(other[::2] == (encoder, source) and other[1] for other in held):
            own = its if task else []
            name = f"{task}, {encoder}, {source}" if task else f"{encoder}, {source}"
            found.append(_part(run, run.about, [*held.get((encoder, "", source), []), *own], name, {}))
    return found


def measure_blocks(runs: Sequence[Run]) -> dict[Block, Found]:
    """Every block of measures with its models, those of all studies together; seeds of a model are averaged."""
    held: dict[Block, list[tuple[Run, str, list[tuple[int, Record]]]]] = {}
    for run in runs:
        groups: dict[tuple[Block, str], list[tuple[int, Record]]] = {}
        for place, record in run.numbered():
            details = record.get("details") or {}
            if "called" in details and "regime" not in details:
                other = record.get("target_model")
                models = [record["model"]] if other is None else [record["model"], other]
                name = "–".join(_SEED.sub("", model) for model in models)
                block = (str(details["called"]), other is not None)
                groups.setdefault((block, name), []).append((place, {**record, "model": name}))
        for (block, name), its in groups.items():
            held.setdefault(block, []).append((run, name, its))
    made: dict[Block, Found] = {}
    for block, lines in held.items():
        for run, name, its in lines:
            part = replace(_part(run, run.about, its, f"{run.prefix}{name}", {}), key=f"{run.key}\t{name}")
            if len(lines) == 1:  # Alone, a line need not say whose it is.
                part = Run(part.about, part.records, places=part.places)
            made.setdefault(block, {})[part.key] = (part, part.readings())
    return made


def consistency_points(run: Run) -> dict[tuple[str, ...], list[Point]]:
    """Consistency and performance of each language by model, task, regime, source and aspect, means over seeds.

    Languages in which a model is at chance are left out, and all are where it is in the language of training.
    """
    weak = explained_at_chance(run)
    values: dict[tuple[str, ...], list[tuple[int, float]]] = {}
    for place, record in run.numbered():
        details = record.get("details") or {}
        if "called" in details and "regime" in details:
            key = (record["model"], details["task"], details["regime"], record["source"])
            cell = (*key, record["measure"], record["variant"], record["target"])
            values.setdefault(cell, []).append((place, record["value"]))
    found: dict[tuple[str, ...], list[Point]] = {}
    for named, own in values.items():
        shared, (measure, variant, target) = named[:4], named[4:]
        # The metric that speaks for the task is the first of those that are shown.
        judged = next(
            (values[each] for each in ((*shared, "task", name, target) for name in SHOWN) if each in values), None
        )
        if measure == "consistency" and judged is not None and not {(*shared, target), (*shared, shared[3])} & weak:
            x, y = (float(np.mean([value for _, value in side])) for side in (own, judged))
            behind = tuple(place for side in (own, judged) for place, _ in side)
            found.setdefault((*shared, variant), []).append((target, x, y, behind))
    return found


def explained_at_chance(run: Run) -> set[tuple[str, ...]]:
    """The model, task, regime, source and language of which some explained seed is not above chance, where known."""
    found: set[tuple[str, ...]] = set()
    for record in run.records:
        details = record.get("details") or {}
        known = record["measure"] == "task" and {"called", "regime", "chance"} <= details.keys()
        if known and not details["chance"].get("above"):
            found.add((record["model"], details["task"], details["regime"], record["source"], record["target"]))
    return found


def consistency_controls(run: Run) -> dict[tuple[str, ...], dict[str, Controlled]]:
    """Consistency of each language with its controls by model, task, regime, source and aspect, means over seeds."""
    held: dict[tuple[str, ...], dict[str, list[tuple[int, Record]]]] = {}
    for place, record in run.numbered():
        details = record.get("details") or {}
        if record["measure"] == "consistency" and {"called", "regime", "random"} <= details.keys():
            key = (record["model"], details["task"], details["regime"], record["source"], record["variant"])
            held.setdefault(key, {}).setdefault(record["target"], []).append((place, record))
    return {key: {code: _controlled(its) for code, its in cells.items()} for key, cells in held.items()}


def _controlled(its: Sequence[tuple[int, Record]]) -> Controlled:
    low, high, null = (
        mean_of([record[name] for _, record in its if record[name] is not None]) for name in ("low", "high", "null")
    )
    value, random = (
        float(np.mean(values))
        for values in ([record["value"] for _, record in its], [record["details"]["random"] for _, record in its])
    )
    records, behind = [record for _, record in its], tuple(place for place, _ in its)
    return Controlled(value, low, high, null, random, above_random(records), above_heads(records), behind)


def cell_records(run: Run) -> dict[tuple[str, ...], Ref]:
    """The records behind our numbers by encoder, task, source, test, metric and regime, as papers' cells are named."""
    found: dict[tuple[str, ...], Ref] = {}
    for part in task_runs(run):
        behind = entry_records(part)
        for entry in part.more["scores"]:
            found[(*group_of(entry), entry["test"], entry["metric"], entry["regime"])] = behind_entry(behind, entry)
    held: dict[tuple[str, ...], tuple[int, ...]] = {}
    last: dict[str, int] = {}
    for record in run.records:
        if record["measure"] == "parallel-cosine":
            last[record["model"]] = max(last.get(record["model"], 0), record["layer"])
    for place, record in run.numbered():
        details = record.get("details") or {}
        if record["measure"] == "consistency" and "called" in details:
            named = (f"consistency/{record['variant']}", details["regime"])
            cell = (record["model"], details["task"], record["source"], str(record["target"]), *named)
            held[cell] = (*held.get(cell, ()), place)
        elif record["measure"] == "parallel-cosine" and "geometry" in details and record["corpus"] == "test":
            state = " ".join(each for each in (details["state"], details["trained"]) if each)
            if record["layer"] == last[record["model"]]:
                for pair in ((record["source"], record["target"]), (record["target"], record["source"])):
                    metric = f"parallel-cosine/{record['variant']}"
                    held[record["model"], details["geometry"], *pair, metric, state] = (place,)
    return {**found, **held}


def beside_entries(run: Run) -> list[Entry]:
    """A paper's numbers with ours, and the p-values of the paper's own tests, which hold the seeds fixed.

    Comparisons that tell nothing have none: a seed is stuck, or both are at chance. `silent` are those with the
    original. Reports of before called these p-values `p`.
    """
    scores: dict[tuple[Any, ...], list[Entry]] = {}
    for entry in entries(run, "scores"):
        scores.setdefault((*group_of(entry), entry["metric"]), []).append(entry)
    heard: dict[tuple[Any, ...], set[str]] = {
        (*group, entry["test"], entry["regime"]): {*entry.get("against", {}), *entry["p"]}
        for group, its in scores.items()
        for entry in telling(its)
    }
    found: list[Entry] = []
    for each in entries(run, "beside"):
        cell = (*group_of(each), each["metric"], each["test"], each["regime"])
        every: Mapping[str, float] = each["p_paper"] if "p_paper" in each else each["p"]
        p = {base: value for base, value in every.items() if cell not in heard or base in heard[cell]}
        found.append({**each, "p": p, "silent": "original" in every and "original" not in p})
    return found


def differences(beside: Sequence[Entry]) -> Iterator[tuple[Entry, float, float]]:
    """Each of a paper's numbers of a regime but the original, its difference to the original, and ours.

    Those of ours that tell nothing are left out.
    """
    keys = ("paper_encoder", "encoder", "task", "source", "test", "metric")
    base = {tuple(each[key] for key in keys): each for each in beside if each["regime"] == "original"}
    for each in beside:
        first = base.get(tuple(each[key] for key in keys))
        if first is not None and each["regime"] != "original" and not each["silent"]:
            yield each, each["paper"] - first["paper"], each["ours"] - first["ours"]


class Names:
    """Names given out, none twice: the second of a kind ends in -2.

    >>> names = Names()
    >>> names.new("a"), names.new("a"), names.new("b")
    ('a', 'a-2', 'b')
    """

    def __init__(self) -> None:
        self._given: set[str] = set()

    def new(self, name: str) -> str:
        """The name, or the next one of its kind that is free."""
        free = name
        for number in count(2):
            if free not in self._given:
                break
            free = f"{name}-{number}"
        self._given.add(free)
        return free


def slug(text: str) -> str:
    """The text as a part of a name on a page or of a file.

    >>> slug("xlmr ner/original en")
    'xlmr-ner-original-en'
    """
    return re.sub(r"[^\w.-]+", "-", text)


def _part(run: Run, about: Mapping[str, Any], held: Sequence[tuple[int, Record]], name: str, more: Entry) -> Run:
    records, places = [record for _, record in held], [place for place, _ in held]
    key = slug(f"{name}-{run.key}" if run.key else name)
    return Run(about, records, key=key, name=name, more=more, places=places)
