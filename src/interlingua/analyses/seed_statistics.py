"""Scores over seeds: means, and differences of regimes tested over seeds and examples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from interlingua.record import Difference, Estimate, Items, Record
from interlingua.stats import (
    bootstrap_f1_difference,
    detectable_error,
    detectable_mean,
    detectable_share,
    f1_influence,
    f1_permutation_test,
    find_collapsed_seeds,
    holm,
    over_seeds,
    paired_difference,
    paired_effect,
    paired_t_test,
    seed_difference,
)
from interlingua.training.regime_names import REGIMES, STATES

Values = NDArray[Any]
BASELINES = ("original", "adjusted")
"""What a regime is compared with: the model without parallel data and, but for these two, the adjusted one.

Where a test has neither, the first two regimes that it has take their places, in the order they are named."""

ItemsOf: TypeAlias = "Callable[[Record], Items | None]"
"""The values of a record, item by item; None where they were not kept."""


@dataclass(frozen=True, kw_only=True)
class RegimeDifference(Difference):
    """A regime's mean score less that of the regime `base`, over the `seeds` of one and the `base_seeds` of the other.

    Its test and interval are `over` seeds and examples (`stats.seed_difference`). With one seed on a side there is no
    test (`p` None), and the interval is over examples. `fixed_seed_p` are the tests of Efimov et al. 2023 §5.1, which
    hold the seeds fixed: `examples`, Student's on per-example values averaged over the seeds that both have, or, for an
    F1 that is made of counts, `permutation`, which swaps an example with its counts of all seeds, and
    `permutation_apart`, which swaps each seed's on its own. `item_deviation` is that of the difference on one example.
    """

    base: str
    seeds: tuple[int | None, ...]
    base_seeds: tuple[int | None, ...]
    over: str
    item_deviation: float
    fixed_seed_p: Mapping[str, float] = field(default_factory=dict)

    @property
    def p_published(self) -> float | None:
        """The p-value of the test that Efimov et al. 2023 use for this metric."""
        return self.fixed_seed_p.get("permutation", self.fixed_seed_p.get("examples"))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the records."""
        return {name: _as_json(value) for name, value in super().to_dict().items()}

    def to_plain(self) -> dict[str, Any]:
        """What transfer.json has of it under the name of its base."""
        return {
            "seeds": list(self.seeds),
            "base_seeds": list(self.base_seeds),
            "item_deviation": self.item_deviation,
            "difference": self.value,
            "low": self.ci_low,
            "high": self.ci_high,
            "over": self.over,
            "effect": self.effect,
            "detectable": self.detectable,
        }


@dataclass(frozen=True, kw_only=True)
class RegimeScore(Estimate):
    """The mean score of a regime in a test over its seeds, with what it is compared with.

    The interval is over seeds; of one seed it is over its examples, and `deviation` is None. `bases` are the regimes
    that the test's others are compared with. Retrieval is at the `layer` that is best for the regime in the mean over
    seeds, chosen on the same data for all regimes alike; the other layers are in the records. `seeds_above_chance`
    counts seeds that are above chance by their own interval (None: not known), `constant_answer` is the one answer that
    all seeds' models give to every example, where they do. A seed is collapsed where its model is at chance and another
    of the regime is clearly above. `against` has the differences to the bases, `without_collapsed` the same over the
    seeds of which neither side's model is collapsed, where one is.

    `has_learned` and `collapsed_seeds` of a metric without a chance level are those of the metric that the test has
    one for: an F1 of whole entities goes by the F1 of tagged words.
    """

    model: str
    measure: str
    task: str | None
    source: str | None
    target: str | None
    test: str
    metric: str
    regime: str
    bases: tuple[str, ...]
    seeds: tuple[int | None, ...]
    values: tuple[float, ...]
    deviation: float | None
    seeds_above_chance: int | None
    constant_answer: str | None
    layer: int | None
    has_learned: bool = True
    collapsed_seeds: tuple[int | None, ...] = ()
    against: Mapping[str, RegimeDifference] = field(default_factory=dict)
    without_collapsed: Mapping[str, RegimeDifference] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """The regime that the others of this test are compared with first."""
        return self.bases[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the records and comparisons."""
        whole = super().to_dict()
        return {name: _as_json(value) for name, value in whole.items() if name not in ("against", "without_collapsed")}

    def to_plain(self) -> dict[str, Any]:
        """The entry that transfer.json has of it; study.json adds encoder, task and language of training."""
        tested = {base: each for base, each in self.against.items() if each.p is not None}
        fixed: dict[str, dict[str, float]] = {}
        for base, each in self.against.items():
            for name, p in each.fixed_seed_p.items():
                fixed.setdefault(f"p_{name}", {})[base] = p
        return {
            "test": self.test,
            "metric": self.metric,
            "regime": self.regime,
            "bases": list(self.bases),
            "seeds": list(self.seeds),
            "values": list(self.values),
            "mean": self.value,
            "deviation": self.deviation,
            "low": self.ci_low,
            "high": self.ci_high,
            "null": self.null_value,
            "above": self.seeds_above_chance,
            "always": self.constant_answer,
            "n": self.n,
            "layer": self.layer,
            "p": {base: each.p for base, each in tested.items()},
            "against": {base: each.to_plain() for base, each in self.against.items()},
            **fixed,
            "without_stuck": {
                base: each.to_plain() | {"p": each.p} | ({} if each.p is None else {"p_holm": each.p_adjusted})
                for base, each in self.without_collapsed.items()
            },
            "p_holm": {base: each.p_adjusted for base, each in tested.items()},
        }


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value


def summarize_over_seeds(
    records: Sequence[Record], items: ItemsOf, *, regimes: Sequence[str], tests: Sequence[str], permutations: int
) -> list[RegimeScore]:
    """One score per test, metric and regime, compared with its baselines where the values of the items are known.

    `p_adjusted` is Holm's correction over all comparisons of one metric: all its regimes, tests and baselines.
    """
    by_test: dict[str, dict[tuple[str, str], list[Record]]] = {}
    for record in sorted(records, key=lambda record: record.seed or 0):
        if record.regime is not None and record.options.get("direction") != "backward":
            by_test.setdefault(str(record.test), {}).setdefault((record.key, record.regime), []).append(record)
    scores: list[RegimeScore] = []
    for test in tests:
        by_metric = _by_metric(by_test.get(test, {}), regimes)
        # The task's own metric has the level that a model without any knowledge reaches.
        leveled = [cells for cells in by_metric.values() if _has_chance_level(cells)]
        reference = min(leveled, key=lambda cells: not _is_judged_by_chance(cells), default={})
        for cells in by_metric.values():
            scores += _scores_of_metric(cells, cells if _has_chance_level(cells) else reference, items, permutations)
    return _correct(scores)


def _scores_of_metric(
    cells: Mapping[str, list[Record]], reference: Mapping[str, list[Record]], items: ItemsOf, permutations: int
) -> Iterator[RegimeScore]:
    """The scores of all regimes in one metric of one test; `reference` are those of the metric with a chance level."""
    bases = tuple([base for base in BASELINES if base in cells] or [*cells][:2])
    sides = {} if len(cells) < 2 else {regime: side for regime, own in cells.items() if (side := _side(own, items))}
    collapsed = {regime: _collapsed(reference.get(regime, ())) for regime in cells}
    for regime, own in cells.items():
        against, remaining = {}, {}
        for base in bases[: bases.index(regime)] if regime in bases else bases:
            if regime not in sides or base not in sides:
                continue
            against[base] = _difference(sides[regime], sides[base], base, permutations=permutations)
            lost = collapsed[regime] | collapsed[base]
            ours, theirs = (sides[name].without(lost) for name in (regime, base))
            if lost and ours.seeds and theirs.seeds:
                remaining[base] = _difference(ours, theirs, base)
        yield replace(
            _over_seeds(own),
            bases=bases,
            has_learned=_has_learned(reference.get(regime, ())),
            collapsed_seeds=tuple(seed for seed in (r.seed for r in own) if seed in collapsed[regime]),
            against=against,
            without_collapsed=remaining,
        )


@dataclass(frozen=True)
class _Side:
    """A regime's seeds, the score of each, and its values per example: (example,), of an F1 counts (3, example).

    `hubs` is what shared candidates add to the variance of each seed's score, and its degrees of freedom.
    """

    seeds: list[int | None]
    scores: list[float]
    items: list[Values]
    hubs: list[tuple[float, float]] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    def without(self, seeds: Collection[int | None]) -> _Side:
        places = [place for place, seed in enumerate(self.seeds) if seed not in seeds]
        return _Side(
            [self.seeds[place] for place in places],
            [self.scores[place] for place in places],
            [self.items[place] for place in places],
            [self.hubs[place] for place in places] if self.hubs else [],
            [self.records[place] for place in places] if self.records else [],
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


def _side(records: Sequence[Record], items: ItemsOf) -> _Side | None:
    """A regime's seeds with their values; None where the values of one were not kept."""
    values = [items(record) for record in records]
    known = [each for each in values if each is not None]
    if len(known) < len(records):
        return None
    seeds, scores = [record.seed for record in records], [record.value for record in records]
    return _Side(seeds, scores, known, [_hubs(record) for record in records], list(records))


def _fixed_seed_p(ours: _Side, theirs: _Side, permutations: int) -> dict[str, float]:
    """The p-values of Efimov et al. 2023 §5.1, over the seeds that both have; none where they share no seed."""
    both = [
        side.without({seed for seed in side.seeds if seed not in other.seeds})
        for side, other in ((ours, theirs), (theirs, ours))
    ]
    if not both[0].seeds:
        return {}
    if not ours.counted:
        return {"examples": paired_t_test(*(side.examples() for side in both))}
    sums, ends = ([side.counts() for side in both], [np.concatenate(side.items, axis=1) for side in both])
    return {
        "permutation": f1_permutation_test(*sums, times=permutations),
        "permutation_apart": f1_permutation_test(*ends, times=permutations),
    }


def _chance(record: Record) -> float | None:
    """What a model reaches that has learnt nothing: of a task's own metric the best of several such answers."""
    chance = record.details.get("chance")
    return record.null_value if chance is None else float(chance["level"])


def _has_chance_level(cells: Mapping[str, Sequence[Record]]) -> bool:
    return any(_chance(record) is not None for records in cells.values() for record in records)


def _is_judged_by_chance(cells: Mapping[str, Sequence[Record]]) -> bool:
    return any("chance" in record.details for records in cells.values() for record in records)


def _null_value(records: Sequence[Record]) -> float | None:
    nulls = [null for null in map(_chance, records) if null is not None]
    return float(np.mean(nulls)) if nulls else None


def _collapsed(records: Sequence[Record]) -> set[int | None]:
    return find_collapsed_seeds({record.seed: record.value for record in records}, _null_value(records))


def _has_learned(records: Sequence[Record]) -> bool:
    """Whether a model is above chance: one seed at least, by its own interval over examples.

    Over two seeds Student's interval of the mean holds nearly anything; each seed has thousands of examples to go by.
    Where no seed has an interval of its own, that of the mean decides. Without a chance level nothing speaks against.
    """
    null = _null_value(records)
    if null is None:
        return True
    above = _above(records)
    return max(_bounds(records)[0], 0.0) > null if above is None else above > 0


def _correct(scores: Sequence[RegimeScore]) -> list[RegimeScore]:
    """The scores with `p_adjusted`: a metric's p-values are one table, and corrected as one.

    Comparisons over the seeds that did not collapse are another one.
    """
    found: dict[int, RegimeScore] = {}
    for metric in dict.fromkeys(score.metric for score in scores):
        places = [place for place, score in enumerate(scores) if score.metric == metric]
        against = _corrected([scores[place].against for place in places])
        remaining = _corrected([scores[place].without_collapsed for place in places])
        for place, first, second in zip(places, against, remaining, strict=True):
            found[place] = replace(scores[place], against=first, without_collapsed=second)
    return [found[place] for place in range(len(scores))]


def _corrected(tables: Sequence[Mapping[str, RegimeDifference]]) -> list[dict[str, RegimeDifference]]:
    raw = [each.p for table in tables for each in table.values() if each.p is not None]
    corrected = iter(holm(raw))
    return [
        {base: each if each.p is None else replace(each, p_adjusted=next(corrected)) for base, each in table.items()}
        for table in tables
    ]


def _by_metric(
    cells: Mapping[tuple[str, str], list[Record]], regimes: Sequence[str]
) -> dict[str, dict[str, list[Record]]]:
    """The records by metric and regime, in the order of the regimes; of layers the best."""
    found: dict[str, dict[str, list[Record]]] = {}
    for metric in dict.fromkeys(metric for metric, _ in cells):
        for regime in regimes:
            if records := cells.get((metric, regime)):
                found.setdefault(metric, {})[regime] = at_best_layer(records)
    return found


def at_best_layer(records: Sequence[Record]) -> list[Record]:
    """The records of the layer with the best mean over seeds; of equals the lowest. Records without a layer are all."""
    layers: dict[int, list[Record]] = {}
    for record in records:
        layers.setdefault(-1 if record.layer is None else record.layer, []).append(record)
    means = {layer: float(np.mean([record.value for record in its])) for layer, its in layers.items()}
    return layers[max(means, key=lambda layer: (means[layer], -layer))]


def _over_seeds(records: Sequence[Record]) -> RegimeScore:
    """The mean of a regime's seeds, compared with nothing yet."""
    first, values = records[0], tuple(record.value for record in records)
    spread = over_seeds(values)
    low, high = _bounds(records)
    return RegimeScore(
        value=spread.mean,
        ci_low=low,
        ci_high=high,
        null_value=_null_value(records),
        n=first.n,
        records=tuple(records),
        model=first.model,
        measure=first.measure,
        task=first.task,
        source=first.source,
        target=first.target,
        test=str(first.test),
        metric=first.key,
        regime=str(first.regime),
        bases=(),
        seeds=tuple(record.seed for record in records),
        values=values,
        deviation=spread.deviation,
        seeds_above_chance=_above(records),
        constant_answer=_always(records),
        layer=first.layer,
    )


def _above(records: Sequence[Record]) -> int | None:
    """How many seeds are above chance by their own interval over examples; None where that is not known of all.

    One answer for every example is never above it.
    """
    verdicts = [bool(record.details["chance"]["above"]) for record in records if "chance" in record.details]
    if len(verdicts) == len(records):
        return sum(verdicts)
    known = [(r.ci_low, r.null_value) for r in records if r.ci_low is not None and r.null_value is not None]
    return sum(low > null for low, null in known) if len(known) == len(records) else None


def _always(records: Sequence[Record]) -> str | None:
    """The one answer that every seed's model gives to every example; None where answers differ or are not kept."""
    answers = {record.details.get("chance", {}).get("always") for record in records}
    return answers.pop() if len(answers) == 1 else None


def _bounds(records: Sequence[Record]) -> tuple[float, float]:
    """The 95 % interval of the mean over seeds; of one seed, which has no spread, the record's, over its examples."""
    first = records[0]
    if len(records) == 1 and first.ci_low is not None and first.ci_high is not None:
        return first.ci_low, first.ci_high
    spread = over_seeds([record.value for record in records])
    return spread.low, spread.high


def _difference(ours: _Side, theirs: _Side, base: str, *, permutations: int = 0) -> RegimeDifference:
    """The difference of two means with its test, interval, effect size and detectable size.

    Of one seed there is no p-value, and the interval is over its examples: of an F1 of counts a bootstrap's, else
    Student's. One seed's hits have McNemar's detectable difference. Without `permutations` the tests that hold the
    seeds fixed are left out.
    """
    apart = ours.examples() - theirs.examples()
    deviation = float(apart.std(ddof=1)) if apart.size > 1 else 0.0
    p: float | None = None
    detectable: float | None
    tested = seed_difference(ours.scores, theirs.scores, apart, shared=ours.shared + theirs.shared)
    if tested is not None:
        difference, low, high, p = tested.difference, tested.ci_low, tested.ci_high, tested.p
        over, detectable = "seeds and examples", tested.detectable
    else:
        difference, over = float(np.mean(ours.scores) - np.mean(theirs.scores)), "examples"
        low, high, detectable = _over_examples(ours, theirs, apart, difference, deviation)
    return RegimeDifference(
        value=difference,
        ci_low=low,
        ci_high=high,
        n=apart.size,
        records=(*ours.records, *theirs.records),
        p=p,
        effect=None if ours.counted else paired_effect(ours.examples(), theirs.examples()),
        detectable=detectable,
        base=base,
        seeds=tuple(ours.seeds),
        base_seeds=tuple(theirs.seeds),
        over=over,
        item_deviation=deviation,
        fixed_seed_p=_fixed_seed_p(ours, theirs, permutations) if permutations else {},
    )


def _over_examples(
    ours: _Side, theirs: _Side, apart: NDArray[np.float64], difference: float, deviation: float
) -> tuple[float, float, float | None]:
    """The interval of a difference over examples alone, and the smallest detectable one."""
    if ours.counted and len(ours.seeds) == len(theirs.seeds) == 1:
        drawn = bootstrap_f1_difference(ours.counts(), theirs.counts())
        return drawn.low, drawn.high, detectable_error(drawn.error)
    hubs = [(side.shared, min(freedom for _, freedom in side.hubs)) for side in (ours, theirs) if side.shared > 0]
    _, low, high, _ = paired_difference(apart - apart.mean() + difference, hubs)
    hits = len(ours.seeds) == len(theirs.seeds) == 1 and set(np.unique([*ours.items, *theirs.items])) <= {0.0, 1.0}
    if hits:
        return low, high, detectable_share(float((apart != 0).mean()), apart.size)
    return low, high, detectable_mean(deviation, apart.size)


@dataclass(frozen=True, kw_only=True)
class StateDistances:
    """Mean distances of related and unrelated words of a language in one state of a model (Efimov et al. 2023 Fig. 1).

    Intervals are those of the means, 95 %: over `seeds` or, of one seed, over its words. A model before any task has no
    `task`.
    """

    model: str
    task: str | None
    source: str | None
    state: str
    language: str
    related: Estimate
    unrelated: Estimate
    auc: Estimate
    seeds: int

    def to_plain(self) -> dict[str, Any]:
        """The entry that transfer.json has of it."""
        parts = {"related": self.related, "unrelated": self.unrelated, "auc": self.auc}
        return {
            "state": self.state,
            "language": self.language,
            **{name: each.value for name, each in parts.items()},
            "seeds": self.seeds,
            "intervals": {name: [each.ci_low, each.ci_high] for name, each in parts.items()},
        }


def summarize_distances(records: Sequence[Record], *, states: Sequence[str] = ()) -> list[StateDistances]:
    """Distances of words over seeds, one entry per model, task, language of training, language and state.

    States are in the order of `states`, those before any task first; others follow in the order of their records.
    """
    cells: dict[tuple[str, str | None, str | None], dict[tuple[str, str], dict[str, list[Record]]]] = {}
    for record in records:
        name = record.options.get("pairs", record.metric)
        if record.measure == "distances" and record.state is not None and record.options.get("distance") == "l2":
            group = cells.setdefault((record.model, record.task, record.source), {})
            group.setdefault((record.state, str(record.target)), {}).setdefault(name, []).append(record)
    found: list[StateDistances] = []
    for (model, task, source), group in cells.items():
        order = [*STATES, *states, *dict.fromkeys(state for state, _ in group)]
        for (state, language), own in sorted(group.items(), key=lambda cell: (cell[0][1], order.index(cell[0][0]))):
            if own.keys() >= {"related", "unrelated", "auc"}:
                found.append(
                    StateDistances(
                        model=model,
                        task=task,
                        source=source,
                        state=state,
                        language=language,
                        related=_mean_over_seeds(own["related"]),
                        unrelated=_mean_over_seeds(own["unrelated"]),
                        auc=_mean_over_seeds(own["auc"]),
                        seeds=len(own["auc"]),
                    )
                )
    return found


def _mean_over_seeds(records: Sequence[Record]) -> Estimate:
    low, high = _bounds(records)
    return Estimate(
        value=float(np.mean([record.value for record in records])),
        ci_low=low,
        ci_high=high,
        null_value=_null_value(records),
        n=records[0].n,
        records=tuple(records),
    )


def summarize_tasks(
    records: Sequence[Record],
    items: ItemsOf,
    *,
    regimes: Sequence[str],
    tests: Sequence[str] = (),
    permutations: int,
) -> list[RegimeScore]:
    """The scores of every encoder, task and language of training; see `summarize_over_seeds`.

    Tests and regimes are in the order of those that are given, then of the records (tests), or alphabetical (regimes).
    Holm's correction is over the regimes and tests of one metric of one task, encoder and language of training.
    """
    groups: dict[tuple[str, str | None, str | None], list[Record]] = {}
    for record in records:
        if None not in (record.regime, record.test, record.task):
            groups.setdefault((record.model, record.task, record.source), []).append(record)
    scores: list[RegimeScore] = []
    for own in groups.values():
        present = {str(record.regime) for record in own}
        named = [name for name in regimes if name in present]
        tested = dict.fromkeys(str(record.test) for record in own)
        scores += summarize_over_seeds(
            own,
            items,
            regimes=[*named, *sorted(present - set(named), key=_usual_order)],
            tests=list(dict.fromkeys([*(test for test in tests if test in tested), *tested])),
            permutations=permutations,
        )
    return scores


def _usual_order(regime: str) -> tuple[int, str]:
    """The place of a regime that only a task names: ours in their usual order, then others in alphabetical order."""
    return (REGIMES.index(regime) if regime in REGIMES else len(REGIMES)), regime
