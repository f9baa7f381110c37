"""`Record`: one measured number with all that made it. The schema is written in docs/records.md."""

from __future__ import annotations

import importlib.metadata
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from interlingua import __version__
from interlingua.errors import InputError
from interlingua.metric import Metrics, key_of
from interlingua.registry import unknown
from interlingua.score import Score

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Items: TypeAlias = "NDArray[np.floating[Any]]"
"""The values of a score item by item."""
Made: TypeAlias = "list[tuple[Record, Items | None]]"
"""Records on their way to a folder, each with its per-item values."""

SCHEMA = 2
_REMEDY = "Remove that line and run again. docs/records.md has the schema."
_NUMBER, _TEXT, _MAPPING, _NONE = (int, float), str, Mapping, type(None)
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("measure", "metric", "model", "unit", "corpus", "step"), _TEXT),
    **dict.fromkeys(
        ("against", "source", "target", "pooling", "task", "test", "regime", "state", "trained_on", "aspect", "block",
         "items"),
        (_TEXT, _NONE),
    ),
    **dict.fromkeys(("null_value", "ci_low", "ci_high"), (*_NUMBER, _NONE)),
    **dict.fromkeys(("layer", "seed"), (int, _NONE)),
    **dict.fromkeys(("options", "digests", "details", "versions"), _MAPPING),
    **dict.fromkeys(("languages", "part"), list),
    "higher_is_better": (bool, _NONE),
    "bitexts": (list, _NONE),
    "value": _NUMBER,
    "n": int,
    "schema": int,
}  # fmt: skip
_OF_TEXTS = ("options", "digests", "versions")


@dataclass(frozen=True, kw_only=True)
class Record:
    """One measured number with all that made it.

    `source` and `target` are its direction: from the queries' language to that of the candidates; of a task, from the
    language of training to that of the test. A measure of one language has no `target`, one of many together has
    `languages` alone. `against` is a second model, where two are compared. `layer` None: the measure has no layer.
    `trained_on` is the language of the fine-tuning before, `aspect` what is explained or whose names are compared, and
    `block` the table of a study file that asked for it. `details` hold arrays to draw and nothing to select by. `items`
    names the per-item values in the store (`file#number`), None where the score kept none. Two runs with the same
    inputs give the same records to the byte; times are therefore kept in run.json, not here.
    """

    measure: str
    metric: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    value: float = 0.0
    n: int = 0
    ci_low: float | None = None
    ci_high: float | None = None
    null_value: float | None = None
    higher_is_better: bool | None = None
    model: str
    against: str | None = None
    source: str | None = None
    target: str | None = None
    languages: tuple[str, ...] = ()
    layer: int | None = None
    unit: str = "sentence"
    pooling: str | None = None
    seed: int | None = None
    task: str | None = None
    test: str | None = None
    regime: str | None = None
    bitexts: tuple[str, ...] | None = None
    state: str | None = None
    trained_on: str | None = None
    aspect: str | None = None
    block: str | None = None
    corpus: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    items: str | None = None
    step: str = ""
    part: tuple[int, int] = (1, 1)
    versions: Mapping[str, str] = field(default_factory=dict)
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise InputError(
                f"{self.measure} {self.key} of {self.source}–{self.target} at layer {self.layer} is not a number",
                value=self.value,
                remedy="The vectors are degenerate (constant or infinite); try --precision fp32.",
            )

    @property
    def key(self) -> str:
        """Its key among the scores of its measure, which people read and no program: `p@1/cosine/centred`."""
        return key_of("" if self.metric == self.measure and self.options else self.metric, self.options)

    def scored(self, metrics: Metrics, key: str, score: Score, **fields: Any) -> Record:
        """This record with a score in it, which `metrics` declare under `key`, and with more `fields`.

        A score from target to source turns the two languages round: the mean over records is the number of a page.
        """
        found = metrics.named(key, of=self.measure)
        own: dict[str, Any] = {"source": self.source, "target": self.target} | fields
        options = dict(found.options)
        if found.backward and own.get("against", self.against) is not None:
            options["direction"] = "backward"  # Of two models, each reads a language of its own.
        elif found.backward:
            own |= {"source": own["target"], "target": own["source"]}
        own.setdefault("details", {**self.details, **score.details})
        return replace(
            self,
            metric=found.metric.name,
            options=options,
            value=score.value,
            n=score.n,
            ci_low=score.low,
            ci_high=score.high,
            null_value=score.null,
            higher_is_better=found.metric.higher_is_better,
            **own,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; a field that does not apply is left out."""
        # `asdict` copies every number of every list and takes ten times as long.
        own: dict[str, Any] = {name: dict(getattr(self, name)) for name in ("details", *_OF_TEXTS)}
        own |= {"languages": list(self.languages), "part": list(self.part)}
        own["bitexts"] = None if self.bitexts is None else list(self.bitexts)
        whole = {**vars(self), **own}
        return {name: value for name, value in whole.items() if value is not None and (value or name not in _EMPTY)}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_dict(cls, given: Any) -> Record:
        """The record that plain data describes; another schema, an unknown or a missing key is an error."""
        if not isinstance(given, Mapping):
            raise InputError("not a record", value=str(given)[:40], remedy=_REMEDY)
        if "schema" not in given:
            raise InputError("not a record (no schema)", remedy=_REMEDY)
        if (schema := given["schema"]) != SCHEMA:
            newer = isinstance(schema, int) and schema > SCHEMA
            remedy = "Install a newer interlingua." if newer else f"This version reads schema {SCHEMA}."
            raise InputError("a record of another schema", value=schema, remedy=remedy)
        try:
            if missing := sorted(_REQUIRED - given.keys()):
                raise TypeError(f"no {missing[0]}")
            for name, value in given.items():
                if name not in _TYPES:
                    raise TypeError(f"unknown field {name!r:.40}")
                if not isinstance(value, _TYPES[name]) or (isinstance(value, bool) and name != _FLAG):
                    raise TypeError(f"{name} is {value!r:.40}")
                if name in _OF_TEXTS and not all(isinstance(each, str) for each in value.values()):
                    raise TypeError(f"{name} is {value!r:.40}")
            number, count = given["part"]
            if not 1 <= int(number) <= int(count):
                raise TypeError(f"part is {given['part']!r:.40}")
            own = {name: tuple(given[name]) for name in ("languages", "bitexts") if given.get(name) is not None}
            return cls(**{**given, **own, "part": (int(number), int(count))})
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"not a record ({error})", remedy=_REMEDY) from error


_FIELDS = tuple(each.name for each in fields(Record))
_FLAG = "higher_is_better"
_EMPTY = frozenset(("options", "languages", "details"))
"""Fields that are left out of a line where they hold nothing."""
_REQUIRED = frozenset(
    ("measure", "metric", "value", "n", "model", "unit", "corpus", "digests", "step", "part", "versions", "schema")
)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number on its way to a reader: a mean of records with its interval and null value, and these records.

    `n` is the number of items behind the record that has the fewest.
    """

    value: float
    ci_low: float | None = None
    ci_high: float | None = None
    null_value: float | None = None
    n: int = 0
    records: tuple[Record, ...] = field(default=(), repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the records."""
        return {name: value for name, value in vars(self).items() if name != "records"}


@dataclass(frozen=True, kw_only=True)
class Difference(Estimate):
    """A difference of two estimates over the same items or over seeds, and its test.

    `p_adjusted` is after the correction over all comparisons of its table, `detectable` the smallest difference that
    would be detected with 80 % power. A test or a size that was not made is None.
    """

    p: float | None = None
    p_adjusted: float | None = None
    effect: float | None = None
    detectable: float | None = None


def mean_estimate(estimates: Iterable[Estimate]) -> Estimate:
    """The mean of values, nulls and bounds; a null or bound is None unless every estimate has it.

    Bounds are averaged as they are: the standard error of a mean of correlated values is at most the mean of their
    standard errors, and pairs that share sentences are correlated, so the interval is never too narrow for sampling of
    sentences. It shows nothing about other languages.

    >>> mean_estimate([Estimate(value=0.2, ci_low=0.1, ci_high=0.3, n=10), Estimate(value=0.4, n=20)])
    Estimate(value=0.30000000000000004, ci_low=None, ci_high=None, null_value=None, n=10)
    """
    many = list(estimates)

    def middle(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if len(known) == len(values) else None

    return Estimate(
        value=sum(each.value for each in many) / len(many),
        ci_low=middle([each.ci_low for each in many]),
        ci_high=middle([each.ci_high for each in many]),
        null_value=middle([each.null_value for each in many]),
        n=min(each.n for each in many),
        records=tuple(record for each in many for record in each.records),
    )


class RecordTable(Sequence[Record]):
    """Records, and how they are selected: by their fields and their options.

    >>> low, high = (Record(measure="cka", metric="cka", model="m", layer=k, value=k / 10) for k in (1, 2))
    >>> table = RecordTable([low, high])
    >>> table.where(layer=2).mean(), [key for key in table.by("layer")]
    (0.2, [(1,), (2,)])
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = tuple(records)
        self._by_metric: dict[tuple[str, str], list[Record]] | None = None

    @overload
    def __getitem__(self, place: int) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> RecordTable: ...
    def __getitem__(self, place: int | slice) -> Record | RecordTable:
        return RecordTable(self._records[place]) if isinstance(place, slice) else self._records[place]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __eq__(self, other: object) -> bool:
        return self._records == other._records if isinstance(other, RecordTable) else NotImplemented

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"RecordTable({len(self)} records of {', '.join(dict.fromkeys(r.measure for r in self)) or 'nothing'})"

    def where(self, **wanted: Any) -> RecordTable:
        """The records whose fields and options are these: `where(metric="p@1", centering="centred", layer=6)`.

        A tuple, list or set stands for any of its values. A field, or a value of `measure`, `metric` or `layer`, that
        no record here has is an InputError with the nearest that one has.
        """
        options = {name for record in self for name in record.options}
        found = list(self._records)
        for name, value in wanted.items():
            if name not in _FIELDS and name not in options:
                raise unknown("field of a record", name, [*_FIELDS, *sorted(options)])
            several = isinstance(value, (tuple, list, set, frozenset)) and name not in ("languages", "bitexts", "part")
            allowed = list(value) if several else [value]
            if name in ("measure", "metric", "layer"):
                known = list(dict.fromkeys(getattr(record, name) for record in found))
                for each in allowed:
                    if found and each not in known:
                        raise unknown(name, str(each), [str(one) for one in known])
            found = [record for record in found if _value(record, name) in allowed]
        return RecordTable(found)

    def by(self, *names: str) -> dict[tuple[Any, ...], RecordTable]:
        """The records by the values of these fields and options, in the order of their first."""
        groups: defaultdict[tuple[Any, ...], list[Record]] = defaultdict(list)
        for record in self:
            groups[tuple(_value(record, name) for name in names)].append(record)
        return {key: RecordTable(its) for key, its in groups.items()}

    def to_dicts(self) -> list[dict[str, Any]]:
        """Plain data for JSON, a dictionary a record."""
        return [record.to_dict() for record in self]

    def estimate(self) -> Estimate:
        """Their mean with the means of their intervals and null values. Of no record, or several metrics, an error."""
        self.mean()  # Refuses what has none.
        return mean_estimate(
            Estimate(
                value=record.value,
                ci_low=record.ci_low,
                ci_high=record.ci_high,
                null_value=record.null_value,
                n=record.n,
                records=(record,),
            )
            for record in self
        )

    def of(self, measure: str, metric: str, **wanted: Any) -> RecordTable:
        """The records of a metric of a measure with these fields and options; empty where there are none.

        Unlike `where`, a report asks this way for what may not have been measured. The first such question sorts all
        records by metric, so that asking again costs what it finds.
        """
        if self._by_metric is None:
            groups: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
            for record in self._records:
                groups[record.measure, record.metric].append(record)
            self._by_metric = dict(groups)
        found = self._by_metric.get((measure, metric), [])
        for name, value in wanted.items():
            allowed = list(value) if isinstance(value, (tuple, list, set, frozenset)) else [value]
            found = [record for record in found if _value(record, name) in allowed]
        return RecordTable(found)

    def mean(self) -> float:
        """The plain mean of their values: what a page prints of them. Of no record, or several metrics, an error."""
        kinds = {(record.measure, record.key) for record in self}
        if len(kinds) != 1:
            told = ", ".join(sorted(f"{measure} {key}" for measure, key in kinds)[:4]) or "no record"
            raise InputError("only records of one metric have a mean", value=told, remedy="Select by metric first.")
        return math.fsum(record.value for record in self) / len(self)


def _value(record: Record, name: str) -> Any:
    return getattr(record, name) if name in _FIELDS else record.options.get(name)


@cache
def versions() -> dict[str, str]:
    """The versions of what computes: interlingua, torch, transformers, numpy."""
    found = {name: importlib.metadata.version(name) for name in ("torch", "transformers", "numpy")}
    return {"interlingua": __version__, **found}
