"""Scores of regimes over seeds: mean, deviation, and whether they differ from those of another (papers/001 §5.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.stats import (
    bootstrap_f1_difference,
    detectable_error,
    detectable_mean,
    detectable_share,
    holm,
    mean_interval,
    over_seeds,
    paired_effect,
    paired_t,
    permuted_f1,
    stuck,
)
from interlingua.studies.record import Record
from interlingua.studies.store import Store

Values = NDArray[Any]
BASELINES = ("original", "adjusted")
"""What a regime is compared with: the model without parallel data and, but for these two, the adjusted one.

Where a test has neither, the first two regimes that it has take their places, in the order they are named."""
_LAYERED = ("mrr", "p@1")


def summarise(
    records: Sequence[Record], store: Store, *, regimes: Sequence[str], tests: Sequence[str], permutations: int
) -> list[dict[str, Any]]:
    """One entry a test, metric and regime: values by seed, their mean, deviation and interval, p-values by baseline.

    The interval (`low`, `high`) is over seeds; of one seed it is over its examples, and `deviation` is None.
    p-values are Student's on per-example values averaged over seeds and, for an F1 that is made of counts, those of a
    permutation test that swaps an example with its counts of all seeds (`p_apart`: each seed's on its own); `p_holm`
    are those of a metric, all regimes, tests and baselines, corrected together. `above` is how many seeds are above
    chance by their own interval. `against` has, by baseline, the difference with its interval over examples, its effect
    size, and the smallest difference that this sample would show. Retrieval is at the layer that is best for the regime
    in the mean over seeds, chosen on the same data for all regimes alike; the other layers are in the records. `bases`
    are the regimes that the test's others are compared with. `without_stuck` has, by baseline, what `p` and `against`
    have, over the seeds in which neither side's model is stuck at chance, where one is in some seed.
    """
    by_cell: dict[tuple[str, str, str], list[Record]] = {}
    for record in sorted(records, key=lambda record: record.seed or 0):  # So that items of one seed meet.
        if "regime" in record.details:
            by_cell.setdefault((record.details["test"], record.variant, record.details["regime"]), []).append(record)
    found: list[dict[str, Any]] = []
    for test in tests:
        here = {key: its for key, its in by_cell.items() if key[0] == test}
        for metric, cells in _metrics(here, regimes).items():
            items = {regime: {record.seed: store.items(record) for record in its} for regime, its in cells.items()}
            known = [base for base in BASELINES if base in cells] or [*cells][:2]
            lost = {regime: _stuck(its) for regime, its in cells.items()}
            for regime, its in cells.items():
                bases = known[: known.index(regime)] if regime in known else known
                # Where a seed is not done yet, or failed, only those that both have are compared.
                both = {base: [seed for seed in items[regime] if seed in items[base]] for base in bases}
                sides = {base: _sides(items[regime], items[base], seeds) for base, seeds in both.items() if seeds}
                entry = {
                    "test": test,
                    "metric": metric,
                    "regime": regime,
                    "bases": known,
                    **_over_seeds(its),
                    "p": {base: _differ(*each, permutations=permutations) for base, each in sides.items()},
                    "against": {base: {"seeds": both[base], **_apart(*each)} for base, each in sides.items()},
                }
                if any(ours[0].ndim == 2 for ours, _ in sides.values()):
                    entry["p_apart"] = {base: _differ_apart(*each, times=permutations) for base, each in sides.items()}
                luck = {base: (lost[regime] | lost[base], seeds) for base, seeds in both.items()}
                kept = {base: [seed for seed in seeds if seed not in out] for base, (out, seeds) in luck.items() if out}
                entry["without_stuck"] = {
                    base: {"seeds": seeds, "p": _differ(*each, permutations=permutations), **_apart(*each)}
                    for base, seeds in kept.items()
                    if seeds
                    for each in [_sides(items[regime], items[base], seeds)]
                }
                found.append(entry)
    return _corrected(found)


def _sides(ours: Mapping[Any, Values], theirs: Mapping[Any, Values], seeds: Sequence[Any]) -> tuple[list[Values], ...]:
    return [ours[seed] for seed in seeds], [theirs[seed] for seed in seeds]


def _stuck(its: Sequence[Record]) -> set[int | None]:
    nulls = [record.null for record in its if record.null is not None]
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
        for each, value in zip(again, holm([each["p"] for each in again]), strict=True):
            each["p_holm"] = value
    return entries


def _metrics(
    cells: Mapping[tuple[str, str, str], list[Record]], regimes: Sequence[str]
) -> dict[str, dict[str, list[Record]]]:
    """The records by metric and regime, in the order of the regimes; of layers the best."""
    found: dict[str, dict[str, list[Record]]] = {}
    variants = list(dict.fromkeys(variant for _, variant, _ in cells))
    plain = [variant for variant in variants if "/layer " not in variant]
    for metric in plain or _LAYERED:
        for regime in regimes:
            its = {variant: records for (_, variant, name), records in cells.items() if name == regime}
            if not its:
                continue
            chosen = metric if plain else best_layer(its, metric)
            if chosen in its:
                found.setdefault(metric, {})[regime] = its[chosen]
    return found


def best_layer(by_variant: Mapping[str, Sequence[Record]], metric: str) -> str:
    """The variant `metric/layer K` with the best mean over seeds; of equals the lowest layer."""
    means = {
        variant: float(np.mean([record.value for record in its]))
        for variant, its in by_variant.items()
        if variant.startswith(f"{metric}/layer ") and not variant.endswith("/backward")
    }
    return max(means, key=lambda variant: (means[variant], -int(variant.rpartition(" ")[2])))


def _over_seeds(its: Sequence[Record]) -> dict[str, Any]:
    values = [record.value for record in its]
    nulls = [record.null for record in its if record.null is not None]
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
        "n": its[0].n,
        "layer": its[0].layer,
    }


def _above(its: Sequence[Record]) -> int | None:
    """How many seeds are above chance by their own interval over examples; None where that is not known of all."""
    known = [(record.low, record.null) for record in its if record.low is not None and record.null is not None]
    return sum(low > null for low, null in known) if len(known) == len(its) else None


def _bounds(its: Sequence[Record]) -> tuple[float, float]:
    """The 95 % interval of the mean over seeds; of one seed, which has no spread, the record's, over its examples."""
    one = its[0]
    if len(its) == 1 and one.low is not None and one.high is not None:
        return one.low, one.high
    spread = over_seeds([record.value for record in its])
    return spread.low, spread.high


def _differ(ours: Sequence[Values], theirs: Sequence[Values], *, permutations: int) -> float:
    """How likely so large a difference is where regimes are alike: of an example all seeds are one draw.

    papers/001 §5.1 has predictions of all seeds concatenated and permuted. Were each seed's swapped on its own, five
    seeds of a sentence would count as five sentences, and two regimes that differ by their examples alone would be
    called different in up to a quarter of studies.
    """
    if ours[0].ndim == 2:
        return permuted_f1(_sum(ours), _sum(theirs), times=permutations)
    return paired_t(_mean(ours), _mean(theirs))


def _differ_apart(ours: Sequence[Values], theirs: Sequence[Values], *, times: int) -> float:
    """The other reading of papers/001 §5.1: the examples of all seeds end to end, and each swapped on its own."""
    sides = (np.concatenate(side, axis=1).astype(np.float64) for side in (ours, theirs))
    return permuted_f1(*sides, times=times)


def _apart(ours: Sequence[Values], theirs: Sequence[Values]) -> dict[str, float | None]:
    """The difference over examples, its 95 % interval, its effect size, and the smallest one that would be found.

    An F1 of counts has a bootstrap's interval over examples, each with its counts of all seeds, and no effect size: it
    is no mean. One seed's hits have McNemar's detectable difference, all else the paired t-test's.
    """
    if ours[0].ndim == 2:
        made = bootstrap_f1_difference(_sum(ours), _sum(theirs))
        return {
            "difference": made.value,
            "low": made.low,
            "high": made.high,
            "effect": None,
            "detectable": detectable_error(made.error),
        }
    first, second = _mean(ours), _mean(theirs)
    apart = first - second
    low, high = mean_interval(apart)
    if len(ours) == 1 and set(np.unique(np.stack([first, second]))) <= {0.0, 1.0}:
        detectable = detectable_share(float((apart != 0).mean()), apart.size)
    else:
        detectable = detectable_mean(float(apart.std(ddof=1)) if apart.size > 1 else 0.0, apart.size)
    return {
        "difference": float(apart.mean()),
        "low": low,
        "high": high,
        "effect": paired_effect(first, second),
        "detectable": detectable,
    }


def _mean(side: Sequence[Values]) -> NDArray[np.float64]:
    """Each example's value, averaged over seeds."""
    mean: NDArray[np.float64] = np.mean([values.astype(np.float64) for values in side], axis=0)
    return mean


def _sum(side: Sequence[Values]) -> NDArray[np.float64]:
    """Each example's counts of all seeds together."""
    whole: NDArray[np.float64] = np.sum([counts.astype(np.float64) for counts in side], axis=0)
    return whole


def distance_table(records: Sequence[Record], *, states: Sequence[str]) -> list[dict[str, Any]]:
    """Mean distances of related and unrelated words over seeds, one entry a language and state (papers/001 Fig. 1).

    `intervals` are those of the means, 95 %: over seeds or, of one seed, over its words.
    """
    cells: dict[tuple[str, str], dict[str, list[Record]]] = {}
    for record in records:
        if "state" in record.details:
            cell = cells.setdefault((record.details["state"], str(record.target)), {})
            cell.setdefault(record.variant, []).append(record)
    wanted = {"related": "distance/related/l2", "unrelated": "distance/unrelated/l2", "auc": "auc/l2"}
    return [
        {
            "state": state,
            "language": language,
            **{name: float(np.mean([each.value for each in its[variant]])) for name, variant in wanted.items()},
            "seeds": len(its[wanted["auc"]]),
            "intervals": {name: list(_bounds(its[variant])) for name, variant in wanted.items()},
        }
        for (state, language), its in sorted(cells.items(), key=lambda cell: (cell[0][1], states.index(cell[0][0])))
    ]
