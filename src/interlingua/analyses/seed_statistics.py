"""Scores over seeds: means, tests over seeds and examples, and published numbers beside them."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from interlingua.analyses.transfer import REGIMES, STATES
from interlingua.errors import InputError
from interlingua.record import Items, Record
from interlingua.stats import (
    bootstrap_f1_difference,
    detectable_error,
    detectable_mean,
    detectable_share,
    f1_influence,
    holm,
    over_seeds,
    paired_difference,
    paired_effect,
    paired_t,
    permuted_f1,
    seed_difference,
    stuck,
)

Values = NDArray[Any]
BASELINES = ("original", "adjusted")
"""What a regime is compared with: the model without parallel data and, but for these two, the adjusted one.

Where a test has neither, the first two regimes that it has take their places, in the order they are named."""


class ItemStore(Protocol):
    """Where the values of a record are, item by item: the records of a run."""

    def items(self, record: Record, /) -> Items: ...


def summarise(
    records: Sequence[Record], store: ItemStore, *, regimes: Sequence[str], tests: Sequence[str], permutations: int
) -> list[dict[str, Any]]:
    """One entry per test, metric and regime: values by seed, their mean, deviation and interval, p-values by baseline.

    The interval (`low`, `high`) is over seeds; of one seed it is over its examples, and `deviation` is None. `p` is
    that of `stats.seed_difference`, over seeds and examples; a regime or baseline of one seed has none. `p_holm` are
    those of a metric, all regimes, tests and baselines, corrected together. The tests of Efimov et al. 2023 §5.1, which
    hold the seeds fixed, stand beside it: `p_examples`, Student's on per-example values averaged over the seeds that
    both have, or, for an F1 that is made of counts, `p_permutation`, which swaps an example with its counts of all
    seeds, and `p_permutation_apart`, which swaps each seed's on its own. `above` is how many seeds are above chance by
    their own interval, `always` the one answer that all seeds' models give to every example, where they do. `against`
    has, by baseline, the difference of the means, its interval, what it is `over`, its effect size over examples, and
    the smallest detectable difference. Retrieval is at the layer that is best for the regime in the mean over seeds,
    chosen on the same data for all regimes alike; the other layers are in the records. `bases` are the regimes that the
    test's others are compared with. `without_stuck` has, by baseline, what `p` and `against` have, over the seeds in
    which neither side's model is stuck at chance, where one is in some seed.
    """
    by_cell: dict[tuple[str, str, str], list[Record]] = {}
    for record in sorted(records, key=lambda record: record.seed or 0):
        if record.regime is not None and record.options.get("direction") != "backward":
            by_cell.setdefault((str(record.test), record.key, record.regime), []).append(record)
    found: list[dict[str, Any]] = []
    for test in tests:
        here = {key: its for key, its in by_cell.items() if key[0] == test}
        for metric, cells in _metrics(here, regimes).items():
            sides = {
                regime: _Side([record.seed for record in its], [record.value for record in its],
                              [store.items(record) for record in its], [_hubs(record) for record in its])
                for regime, its in cells.items()
            }  # fmt: skip
            known = [base for base in BASELINES if base in cells] or [*cells][:2]
            lost = {regime: _stuck(its) for regime, its in cells.items()}
            for regime, its in cells.items():
                bases = known[: known.index(regime)] if regime in known else known
                against = {base: _apart(sides[regime], sides[base]) for base in bases}
                entry = {
                    "test": test,
                    "metric": metric,
                    "regime": regime,
                    "bases": known,
                    **_over_seeds(its),
                    **_tested(against),
                    **_of_the_paper(sides[regime], {base: sides[base] for base in bases}, permutations),
                }
                entry["without_stuck"] = {}
                for base in bases:
                    out = lost[regime] | lost[base]
                    ours, theirs = (side.without(out) for side in (sides[regime], sides[base]))
                    if out and ours.seeds and theirs.seeds:
                        p, each = _apart(ours, theirs)
                        entry["without_stuck"][base] = {**each, "p": p}
                found.append(entry)
    return _corrected(found)


@dataclass(frozen=True)
class _Side:
    """A regime's seeds, the score of each, and its values per example: (example,), of an F1 counts (3, example).

    `hubs` is what shared candidates add to the variance of each seed's score, and its degrees of freedom.
    """

    seeds: list[int | None]
    scores: list[float]
    items: list[Values]
    hubs: list[tuple[float, float]] = field(default_factory=list)

    def without(self, seeds: Collection[int | None]) -> _Side:
        kept = [place for place, seed in enumerate(self.seeds) if seed not in seeds]
        own = [self.scores[place] for place in kept]
        return _Side(
            [self.seeds[place] for place in kept],
            own,
            [self.items[place] for place in kept],
            [self.hubs[place] for place in kept] if self.hubs else [],
        )

    @property
    def shared(self) -> float:
        """What shared candidates add to the variance of the mean over seeds: at most the mean of what they add."""
        return float(np.mean([variance for variance, _ in self.hubs])) if self.hubs else 0.0

    @property
    def counted(self) -> bool:
        return self.items[0].ndim == 2

    def examples(self) -> NDArray[np.float64]:
        """What each example adds to the mean over seeds of the score, but for a constant."""
        own = [f1_influence(values) if self.counted else values.astype(np.float64) for values in self.items]
        mean: NDArray[np.float64] = np.mean(own, axis=0)
        return mean

    def counts(self) -> NDArray[np.float64]:
        """Each example's counts of all seeds together."""
        whole: NDArray[np.float64] = np.sum([values.astype(np.float64) for values in self.items], axis=0)
        return whole


def _hubs(record: Record) -> tuple[float, float]:
    variance, freedom = record.details.get("hubs", (0.0, 1.0))
    return float(variance), float(freedom)


def _tested(against: Mapping[str, tuple[float | None, dict[str, Any]]]) -> dict[str, Any]:
    return {
        "p": {base: p for base, (p, _) in against.items() if p is not None},
        "against": {base: each for base, (_, each) in against.items()},
    }


def _of_the_paper(ours: _Side, bases: Mapping[str, _Side], permutations: int) -> dict[str, dict[str, float]]:
    """The p-values of Efimov et al. 2023 §5.1, over the seeds that both have."""
    found: dict[str, dict[str, float]] = {}
    for base, theirs in bases.items():
        both = [
            mine.without({seed for seed in mine.seeds if seed not in other.seeds})
            for mine, other in ((ours, theirs), (theirs, ours))
        ]
        if not both[0].seeds:
            continue
        if ours.counted:
            sums, ends = ([side.counts() for side in both], [np.concatenate(side.items, axis=1) for side in both])
            found.setdefault("p_permutation", {})[base] = permuted_f1(*sums, times=permutations)
            found.setdefault("p_permutation_apart", {})[base] = permuted_f1(*ends, times=permutations)
        else:
            found.setdefault("p_examples", {})[base] = paired_t(*(side.examples() for side in both))
    return found


def paper_p(entry: Mapping[str, Any]) -> dict[str, float]:
    """The p-values of Efimov et al. 2023 §5.1, which hold the seeds fixed, by baseline."""
    return dict(entry.get("p_permutation") or entry.get("p_examples") or {})


def _chance(record: Record) -> float | None:
    """What a model reaches that has learnt nothing: of a task's own metric the best of several such answers."""
    told = record.details.get("chance")
    return record.null_value if told is None else float(told["level"])


def _stuck(its: Sequence[Record]) -> set[int | None]:
    nulls = [null for null in map(_chance, its) if null is not None]
    return stuck({record.seed: record.value for record in its}, float(np.mean(nulls)) if nulls else None)


def _corrected(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries with `p_holm`: a metric's p-values are one table, and corrected as one."""
    for metric in {entry["metric"] for entry in entries}:
        mine = [entry for entry in entries if entry["metric"] == metric]
        places = [(entry, base) for entry in mine for base in entry["p"]]
        for entry in mine:
            entry["p_holm"] = {}
        for (entry, base), value in zip(places, holm([entry["p"][base] for entry, base in places]), strict=True):
            entry["p_holm"][base] = value
        again = [each for entry in mine for each in entry["without_stuck"].values()]
        tested = [each for each in again if each["p"] is not None]
        for each, value in zip(tested, holm([each["p"] for each in tested]), strict=True):
            each["p_holm"] = value
    return entries


def _metrics(
    cells: Mapping[tuple[str, str, str], list[Record]], regimes: Sequence[str]
) -> dict[str, dict[str, list[Record]]]:
    """The records by metric and regime, in the order of the regimes; of layers the best."""
    found: dict[str, dict[str, list[Record]]] = {}
    for metric in dict.fromkeys(metric for _, metric, _ in cells):
        for regime in regimes:
            its = [record for (_, key, name), own in cells.items() if (key, name) == (metric, regime) for record in own]
            if its:
                found.setdefault(metric, {})[regime] = at_best_layer(its)
    return found


def at_best_layer(records: Sequence[Record]) -> list[Record]:
    """The records of the layer with the best mean over seeds; of equals the lowest. Records without a layer are all."""
    layers: dict[int, list[Record]] = {}
    for record in records:
        layers.setdefault(-1 if record.layer is None else record.layer, []).append(record)
    means = {layer: float(np.mean([record.value for record in its])) for layer, its in layers.items()}
    return layers[max(means, key=lambda layer: (means[layer], -layer))]


def _over_seeds(its: Sequence[Record]) -> dict[str, Any]:
    values = [record.value for record in its]
    nulls = [null for null in map(_chance, its) if null is not None]
    spread = over_seeds(values)
    low, high = _bounds(its)
    return {
        "seeds": [record.seed for record in its],
        "values": values,
        "mean": spread.mean,
        "deviation": spread.deviation,
        "low": low,
        "high": high,
        "null": float(np.mean(nulls)) if nulls else None,
        "above": _above(its),
        "always": _always(its),
        "n": its[0].n,
        "layer": its[0].layer,
    }


def _above(its: Sequence[Record]) -> int | None:
    """How many seeds are above chance by their own interval over examples; None where that is not known of all.

    One answer for every example is never above it.
    """
    told = [bool(record.details["chance"]["above"]) for record in its if "chance" in record.details]
    if len(told) == len(its):
        return sum(told)
    known = [(r.ci_low, r.null_value) for r in its if r.ci_low is not None and r.null_value is not None]
    return sum(low > null for low, null in known) if len(known) == len(its) else None


def _always(its: Sequence[Record]) -> str | None:
    """The one answer that every seed's model gives to every example; None where answers differ or are not kept."""
    said = {record.details.get("chance", {}).get("always") for record in its}
    return said.pop() if len(said) == 1 else None


def _bounds(its: Sequence[Record]) -> tuple[float, float]:
    """The 95 % interval of the mean over seeds; of one seed, which has no spread, the record's, over its examples."""
    one = its[0]
    if len(its) == 1 and one.ci_low is not None and one.ci_high is not None:
        return one.ci_low, one.ci_high
    spread = over_seeds([record.value for record in its])
    return spread.low, spread.high


def _apart(ours: _Side, theirs: _Side) -> tuple[float | None, dict[str, Any]]:
    """The p-value of a difference of means, and the difference with its interval, effect size and detectable size.

    Of one seed there is no p-value, and the interval is over its examples: of an F1 of counts a bootstrap's, else
    Student's. One seed's hits have McNemar's detectable difference.
    """
    apart = ours.examples() - theirs.examples()
    deviation = float(apart.std(ddof=1)) if apart.size > 1 else 0.0
    said = {"seeds": ours.seeds, "base_seeds": theirs.seeds, "item_deviation": deviation}
    effect = None if ours.counted else paired_effect(ours.examples(), theirs.examples())
    tested = seed_difference(ours.scores, theirs.scores, apart, shared=ours.shared + theirs.shared)
    if tested is not None:
        ends = {"low": tested.ci_low, "high": tested.ci_high, "over": "seeds and examples"}
        more = {"effect": effect, "detectable": tested.detectable}
        return tested.p, {**said, "difference": tested.difference, **ends, **more}
    difference = float(np.mean(ours.scores) - np.mean(theirs.scores))
    detectable: float | None
    if ours.counted and len(ours.seeds) == len(theirs.seeds) == 1:
        made = bootstrap_f1_difference(ours.counts(), theirs.counts())
        low, high, detectable = made.low, made.high, detectable_error(made.error)
    else:
        hubs = [(side.shared, min(freedom for _, freedom in side.hubs)) for side in (ours, theirs) if side.shared > 0]
        _, low, high, _ = paired_difference(apart - apart.mean() + difference, hubs)
        hits = len(ours.seeds) == len(theirs.seeds) == 1 and set(np.unique([*ours.items, *theirs.items])) <= {0.0, 1.0}
        detectable = (
            detectable_share(float((apart != 0).mean()), apart.size) if hits else detectable_mean(deviation, apart.size)
        )
    ends = {"low": low, "high": high, "over": "examples"}
    return None, {**said, "difference": difference, **ends, "effect": effect, "detectable": detectable}


def distance_table(records: Sequence[Record], *, states: Sequence[str]) -> list[dict[str, Any]]:
    """Mean distances of related and unrelated words over seeds, one entry a language and state (papers/001 Fig. 1).

    `intervals` are those of the means, 95 %: over seeds or, of one seed, over its words.
    """
    wanted = ("related", "unrelated", "auc")
    cells: dict[tuple[str, str], dict[str, list[Record]]] = {}
    for record in records:
        name = record.options.get("pairs", record.metric)
        if record.state is not None and record.options.get("distance") == "l2" and name in wanted:
            cells.setdefault((record.state, str(record.target)), {}).setdefault(name, []).append(record)
    return [
        {
            "state": state,
            "language": language,
            **{name: float(np.mean([each.value for each in its[name]])) for name in wanted},
            "seeds": len(its["auc"]),
            "intervals": {name: list(_bounds(its[name])) for name in wanted},
        }
        for (state, language), its in sorted(cells.items(), key=lambda cell: (cell[0][1], states.index(cell[0][0])))
    ]


COLUMNS = ("cite", "encoder", "task", "source", "test", "metric", "regime", "value", "mark")


@dataclass(frozen=True)
class Published:
    """One published number: where it stands, what it is of, its value as a share of 1, and the paper's mark."""

    cite: str
    encoder: str
    task: str
    source: str
    test: str
    metric: str
    regime: str
    value: float
    mark: str

    @property
    def cell(self) -> tuple[str, str, str, str, str]:
        """What of ours it stands beside: task, language of training, test, metric, regime; encoders differ."""
        return self.task, self.source, self.test, self.metric, self.regime


def read_published(file: Path) -> list[Published]:
    """The numbers of a file; a row that is not as the header says is an error with its line."""
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise InputError("no such file", value=str(file), remedy="Name a TSV of published numbers.") from error
    lines = [line for line in enumerate(text.splitlines(), 1) if line[1].strip() and not line[1].startswith("#")]
    rows = [(number, next(csv.reader([line], delimiter="\t"))) for number, line in lines]
    if not rows or tuple(rows[0][1]) != COLUMNS:
        raise InputError("not the header of published numbers", file=file, line=rows[0][0] if rows else 1,
                         remedy=f"Give the columns {', '.join(COLUMNS)}.")  # fmt: skip
    found = []
    for number, row in rows[1:]:
        try:
            told = dict(zip(COLUMNS, row, strict=True))
            found.append(Published(**{**told, "value": float(told["value"])}))  # type: ignore[arg-type]
        except ValueError as error:
            raise InputError(
                f"not a published number ({error})", file=file, line=number, remedy="Correct that line."
            ) from error
    return found


Entry = dict[str, Any]


def study_scores(
    records: Sequence[Record], store: ItemStore, *, regimes: Sequence[str], permutations: int
) -> list[Entry]:
    """One entry an encoder, task, language of training, test, metric and regime; see `comparing.summarise`.

    Holm's correction is over the regimes and tests of one metric of one task, encoder and language of training.
    """
    asked = [record for record in records if None not in (record.regime, record.test, record.task)]
    found: list[Entry] = []
    for encoder, task, source in _groups(asked):
        mine = [r for r in asked if (r.model, r.task, r.source) == (encoder, task, source)]
        present = {str(record.regime) for record in mine}
        named = [name for name in regimes if name in present]
        made = summarise(
            mine,
            store,
            regimes=[*named, *sorted(present - set(named), key=_usual)],
            tests=list(dict.fromkeys(str(record.test) for record in mine)),
            permutations=permutations,
        )
        found += [{"encoder": encoder, "task": task, "source": source, **entry} for entry in made]
    return found


def _usual(regime: str) -> tuple[int, str]:
    """The place of a regime that only a task names: ours in their usual order, then others alphabetically."""
    return (REGIMES.index(regime) if regime in REGIMES else len(REGIMES)), regime


def study_distances(records: Sequence[Record]) -> list[Entry]:
    """Distances of words, one entry an encoder, task, language and state; a model before any task has no task."""
    stood = [record for record in records if record.measure == "distances"]
    found: list[Entry] = []
    for encoder, task, source in _groups(stood):
        mine = [r for r in stood if (r.model, r.task, r.source) == (encoder, task, source)]
        states = [*STATES, *dict.fromkeys(str(record.state) for record in mine)]
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
        if record.measure == "consistency" and record.block is not None:
            about = (record.task, record.source, record.target, f"consistency/{record.aspect}", record.regime)
            cell = (record.model, *map(str, about))
            found.setdefault(cell, []).append(record.value)
    return found


def _cosines(records: Sequence[Record]) -> dict[tuple[str, ...], list[float]]:
    """Cosines of parallel names at the output, both ways round, by encoder, geometry table, pair, metric and state.

    A state is `before`, or `after` with the language of fine-tuning (papers/003 Table 2).
    """
    looked = [record for record in records if record.state is not None and record.block is not None]
    mine = [record for record in looked if (record.measure, record.corpus) == ("parallel-cosine", "test")]
    last: dict[str, int] = {}
    for record in mine:
        last[record.model] = max(last.get(record.model, 0), record.layer or 0)
    found: dict[tuple[str, ...], list[float]] = {}
    for record in mine:
        if record.layer == last[record.model]:
            for pair in ((record.source, record.target), (record.target, record.source)):
                state = " ".join(each for each in (record.state, record.trained_on) if each)
                metric = f"{record.measure}/{record.options['centering']}"
                cell = (record.model, str(record.block), *map(str, pair), metric, state)
                found.setdefault(cell, []).append(record.value)
    return found


def _groups(records: Sequence[Record]) -> list[tuple[str, str, str]]:
    return list(dict.fromkeys((r.model, str(r.task), str(r.source)) for r in records))
