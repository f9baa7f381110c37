"""`Metric`: what a number is, declared once beside the measure or task that computes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, Literal

from interlingua.errors import InputError

Range = tuple[float | None, float | None]
BACKWARD = "/backward"
"""What ends the key of a directed score from target to source."""
UNSAID = frozenset({"forward", "lenient", "official"})
"""Values of options that a key leaves out, as its default."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One number of a measure or task, and the options it comes with.

    `higher_is_better` is None where neither end is best. `range` are its ends, None where it has none. `null` describes
    its value without a relation, and is empty where no such reading exists. The first value of each of its
    `options` is the one that is shown first. `headline` marks the one number that speaks for its measure. A `directed`
    metric is measured both ways round: a record of it has the queries' language as `source`. The key of a `bare` metric
    among a measure's `Scores` is its options alone.

    Reports draw headlines, and metrics that are `charted`. `about` is the sentence under its charts, `heading` what
    stands over a column of a table (the title where it is empty). `lines` are the values of an option that are drawn
    as lines of one chart, with what each is called there; the first of them is the one that stands in tables.
    """

    name: str
    title: str
    higher_is_better: bool | None = True
    display: Literal["percent", "number", "count"] = "number"
    range: Range = (0.0, 1.0)
    null: str = ""
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    headline: bool = False
    directed: bool = False
    bare: bool = False
    charted: bool = False
    about: str = ""
    heading: str = ""
    lines: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def pattern(self) -> str:
        """Its keys in one text, alternatives in braces: `mrr/{raw,centred}`."""
        parts = [f"{{{','.join(values)}}}" if len(values) > 1 else values[0] for values in self.options.values()]
        return "/".join(parts if self.bare else [self.name, *parts])

    def named_options(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Each key that this metric has among a measure's `Scores`, but for its direction, and the options it means.

        >>> list(Metric(name="mrr", title="MRR", options={"centering": ("raw", "centred")}).named_options())
        [('mrr/raw', {'centering': 'raw'}), ('mrr/centred', {'centering': 'centred'})]
        """
        for values in product(*self.options.values()):
            options = dict(zip(self.options, values, strict=True))
            yield key_of("" if self.bare else self.name, options), options


def metric_to_dict(metric: Metric) -> dict[str, Any]:
    """A metric as plain data: all that is declared, and as `key` how its numbers are called."""
    options = {name: list(values) for name, values in metric.options.items()}
    return {"key": metric.pattern, **vars(metric), "range": list(metric.range), "options": options}


@dataclass(frozen=True)
class NamedScore:
    """What a key means: its metric, the options, and whether it is measured from target to source."""

    metric: Metric
    options: Mapping[str, str]
    backward: bool = False


def key_of(name: str, options: Mapping[str, str]) -> str:
    """A metric's name and its options as one text, which is shown and never read back.

    >>> key_of("p@1", {"similarity": "cosine", "direction": "forward"})
    'p@1/cosine'
    """
    return "/".join(part for part in (name, *options.values()) if part and part not in UNSAID)


class Metrics(tuple[Metric, ...]):
    """All metrics of a measure or task."""

    @cached_property
    def _by_key(self) -> dict[str, NamedScore]:
        found: dict[str, NamedScore] = {}
        for metric in self:
            for key, options in metric.named_options():
                if key in found:
                    raise InputError("a score is declared twice", value=key, remedy="Give each metric another name.")
                found[key] = NamedScore(metric, options)
                if metric.directed:
                    found[key + BACKWARD] = NamedScore(metric, options, backward=True)
        return found

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key that `named` knows, in the order of the declaration."""
        return tuple(self._by_key)

    def named(self, key: str, *, of: str) -> NamedScore:
        """What a key of the `Scores` of a measure (`of`) means; one that is not declared is an error.

        >>> error = Metric(name="error", title="Error", options={"map": ("mapped",)})
        >>> found = Metrics((error,)).named("error/mapped", of="mine")
        >>> found.metric.name, found.options
        ('error', {'map': 'mapped'})
        """
        try:
            return self._by_key[key]
        except KeyError:
            raise InputError(
                f"{of!r} returned a score that it does not declare",
                value=key,
                remedy=f'Register it with metrics=(Metric(name="{key.partition("/")[0]}", title="…"), …).',
            ) from None
