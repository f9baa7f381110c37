"""Records by what they measure: curves over layers, pairs at a layer, one number a language."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from interlingua.errors import InputError
from interlingua.measures import measures
from interlingua.metric import Metrics
from interlingua.report.wording import share_percent

K = TypeVar("K")
Record = Mapping[str, Any]
Pair = tuple[str, str | None]

SAME_LANGUAGE = ", same language"

HEADLINE = (
    ("retrieval", "p@1/cosine/raw"),
    ("retrieval", "p@1/cosine/centred"),
    ("cka", "debiased"),
)
"""What the best layer is chosen by, and what leads: the first of these that was measured; vectors as a user gets them.
"""


@dataclass(frozen=True)
class Reading:
    """A value, what it reads without a relation, and the bounds of its 95 % interval; None where unknown.

    `records` are the places of the records it was made from, and `best` what these tell: whether high or low is best.
    """

    value: float
    null: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    details: Mapping[str, Any] = field(default_factory=dict)
    records: tuple[int, ...] = field(default=(), repr=False)
    best: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Readings:
    """The finite records of one model, by measure, variant, layer and pair.

    `pairs[measure, variant][layer][source, target]`; a `…/backward` variant stands under its
    forward name with the pair turned round, so that a direction is a pair and nothing else.
    """

    pairs: Mapping[tuple[str, str], Mapping[int | None, Mapping[Pair, Reading]]]
    languages: tuple[str, ...]
    output: int | None = None
    """The number of the layer that is a sentence-transformers model's own output, where it has one."""

    def variants(self, measure: str) -> list[str]:
        return [variant for name, variant in self.pairs if name == measure]

    def measures(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self.pairs))

    def layers(self, measure: str, variant: str) -> list[int]:
        found = self.pairs.get((measure, variant), {})
        return sorted(layer for layer in found if layer is not None)

    def at(self, measure: str, variant: str, layer: int | None) -> Mapping[Pair, Reading]:
        """Each directed pair's reading at a layer; those without a layer where the measure has none."""
        found = self.pairs.get((measure, variant), {})
        return found.get(layer) or found.get(None) or {}

    def headline(self) -> tuple[str, str] | None:
        """The measure and variant that the best layer is chosen by, or None when none was measured."""
        return next((key for key in HEADLINE if self.layers(*key)), None)

    def best_layer(self) -> int | None:
        """The layer of the highest mean over pairs and directions, the lowest such on a tie; None without layers.

        Where the model has an output of its own, it is that: what its users compare.
        """
        key = self.headline()
        if key is None or self.output in self.layers(*key):
            return None if key is None else self.output
        return max(self.layers(*key), key=lambda layer: (mean(self.at(*key, layer).values()).value, -layer))

    def name(self, layer: int | None) -> str:
        """A layer's number, or that it is the output."""
        return "output" if layer is not None and layer == self.output else str(layer)

    def span(self, layers: Sequence[int]) -> str:
        """The first and the last of layers, and the output where it is among them."""
        own = [layer for layer in layers if layer != self.output]
        ends = "–".join(str(end) for end in dict.fromkeys([*own[:1], *own[-1:]]))
        return ends if len(own) == len(layers) else f"{ends} and output" if ends else "output"

    def equal_candidates(self) -> bool:
        """Whether all pairs of the headline were read over equally many rows, so that they can be ranked."""
        key = self.headline()
        return key is None or len({reading.n for reading in self.at(*key, self.best_layer()).values()}) == 1

    def pool(self, measure: str, variant: str, layer: int | None) -> tuple[int | None, float | None]:
        """Among how many candidates a P@1 at a layer was read, and its chance level; None where they differ, or none.

        Of a dictionary the candidates are not those who ask, and only chance tells how many they are.
        """
        readings = self.at(measure, variant, layer)
        if not variant.startswith("p@1/") or not readings:
            return None, None
        counts = {reading.n for reading in readings.values()}
        if measure.startswith("procrustes-dictionary"):
            plain = self.at(measure, "p@1/identity", layer)
            return None, mean(plain.values()).null if plain else None
        if len(counts) > 1 or not (count := counts.pop()):
            return None, None
        return count, 1 / count

    def told_pool(self, measure: str, variant: str, layer: int | None) -> str:
        """The candidates and the chance level of a P@1 in words; nothing where they are not one number."""
        count, chance = self.pool(measure, variant, layer)
        level = "" if chance is None else f"chance {share_percent(chance)}"
        return f"among {count:,}, {level}" if count is not None else level

    def language(self, measure: str, variant: str, layer: int | None, code: str) -> Reading | None:
        """The mean over the pairs that a language is a side of, both directions; None when there are none."""
        found = [reading for pair, reading in self.at(measure, variant, layer).items() if code in pair]
        return mean(found) if found else None

    def fertility(self, code: str, *, kind: str = "fertility") -> Reading | None:
        """A language's own tokenizer reading (`fertility`, `continued` or `unknown`), over the pairs it is in."""
        sides = [
            reading
            for side in ("source", "target")
            for pair, reading in self.at("tokenization", f"{kind}/{side}", None).items()
            if pair[side == "target"] == code
        ]
        return mean(sides) if sides else None


def gather(records: Iterable[Record], *, places: Iterable[int] | None = None) -> Readings:
    """The records as `Readings`; records without a finite value are left out, repeats (seeds) are averaged.

    `places` are their numbers on a page that has other records too; they count from 0 without.

    >>> record = dict(measure="cka", variant="debiased", model="m", source="en", target="ru", layer=3, value=0.5)
    >>> gather([record]).best_layer()
    3
    """
    found: dict[tuple[str, str], dict[int | None, dict[Pair, list[Reading]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    languages: dict[str, None] = {}
    models: dict[str, None] = {}
    output: int | None = None
    for place, record in zip(count() if places is None else places, records, strict=False):  # count() has no end.
        models[record["model"]] = None
        value = finite(record["value"])
        if value is None:
            continue
        if record.get("pooling") == "output":
            output = record.get("layer")
        source, target = record["source"], record.get("target")
        languages.update({code: None for code in (source, target) if code is not None})
        variant, pair = record["variant"], (source, target)
        if variant.endswith("/backward") and target is not None:
            variant, pair = variant.removesuffix("/backward"), (target, source)
        null, low, high = (finite(record.get(key)) for key in ("null", "low", "high"))
        n, details = record.get("n") or 0, record.get("details") or {}
        best = record.get("best")
        reading = Reading(value, null, low, high, n=n, details=details, records=(place,), best=best)
        # One language in two models is another question than two languages: it has readings of its own.
        measure = record["measure"] + SAME_LANGUAGE * (source == target)
        found[measure, variant][record.get("layer")][pair].append(reading)
    if len(models) > 1:
        raise InputError(
            "records of several models", value=", ".join(models), remedy="Report one model at a time, one folder each."
        )
    merged = {
        key: {
            layer: {pair: many[0] if len(many) == 1 else mean(many) for pair, many in pairs.items()}
            for layer, pairs in layers.items()
        }
        for key, layers in found.items()
    }
    return Readings(merged, tuple(languages), output)


def mean(readings: Iterable[Reading]) -> Reading:
    """The mean of values, nulls and bounds; a null or bound is None unless every reading has it.

    Bounds are averaged as they are: the standard error of a mean of correlated values is at
    most the mean of their standard errors, and pairs that share sentences are correlated, so
    the interval is never too narrow for sampling of sentences. It shows nothing about other languages.

    >>> mean([Reading(0.2, 0.0, 0.1, 0.3, 10), Reading(0.4, 0.1, 0.2, 0.6, 20)])
    Reading(value=0.30000000000000004, null=0.05, low=0.15000000000000002, high=0.44999999999999996, n=10, details={})
    """
    many = list(readings)

    def middle(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if len(known) == len(values) else None

    return Reading(
        value=sum(reading.value for reading in many) / len(many),
        null=middle([reading.null for reading in many]),
        low=middle([reading.low for reading in many]),
        high=middle([reading.high for reading in many]),
        n=min(reading.n for reading in many),
        details=many[0].details if len(many) == 1 else {},
        records=tuple(place for reading in many for place in reading.records),
        best=many[0].best,
    )


def lower_is_better(told: str | None, measure: str, variant: str) -> bool:
    """Whether less is better: what a record tells as `best`, or, of one too old to tell, what its measure says.

    >>> lower_is_better("low", "mine", "gap"), lower_is_better(None, "mine", "gap")
    (True, False)
    >>> [lower_is_better(None, "separation", each) for each in ("overlap/l2", "auc/l2")]
    [True, False]
    """
    if told is None:
        name = measure.removesuffix(SAME_LANGUAGE)
        metrics = next((entry.metrics for entry in measures if entry.name == name), Metrics())
        return variant in metrics.keys and metrics.named(variant, of=name).metric.higher_is_better is False
    return told == "low"


def tied_for_first(each: Mapping[K, Reading]) -> list[K]:
    """The items that lie within the interval of the highest, it included: on other sentences any may be first.

    >>> tied_for_first({"a": Reading(0.5, low=0.4, high=0.6), "b": Reading(0.45), "c": Reading(0.3)})
    ['a', 'b']
    """
    top = max(each, key=lambda item: each[item].value)
    low = each[top].value if (end := each[top].low) is None else end
    return [item for item in each if each[item].value >= low]


def both_ways(readings: Mapping[Pair, Reading]) -> dict[Pair, Reading]:
    """One reading an unordered pair: the mean of its directions, under the order seen first.

    >>> list(both_ways({("en", "ru"): Reading(0.2), ("ru", "en"): Reading(0.4)}))
    [('en', 'ru')]
    """
    groups: dict[frozenset[str | None], list[tuple[Pair, Reading]]] = defaultdict(list)
    for pair, reading in readings.items():
        groups[frozenset(pair)].append((pair, reading))
    return {many[0][0]: mean(reading for _, reading in many) for many in groups.values()}


def finite(value: object) -> float | None:
    """The number as a float, or None when it is missing, NaN or infinite.

    >>> finite(1), finite(None), finite(float("nan"))
    (1.0, None, None)
    """
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None
