"""Measures of representations as a report shows them: by layer, by language, by pair, and as a map of sentences.

Which numbers are shown, in which order and under which title follows from the `Metric` declarations: of every measure
that was taken its headline and what is `charted`, so a user's own measure is shown like those of the package.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np

from interlingua.metric import Metric
from interlingua.record import Difference, Estimate, Record, RecordTable, mean_estimate
from interlingua.registry import list_registered
from interlingua.report.kit.chart import (
    GREY,
    Axis,
    Chart,
    ChartMenu,
    Histogram,
    HistogramChart,
    HistogramRow,
    Line,
    LineChart,
    PointGroup,
    PointMap,
    ReferenceLine,
)
from interlingua.report.kit.evidence import Peak, differs_from_null, find_peak, is_above_null
from interlingua.report.kit.section import Run, Section
from interlingua.report.kit.table import Cell, Column, Table, table_of_columns
from interlingua.report.kit.wording import (
    capitalize_first,
    escape_control_characters,
    format_share,
    language_name,
    shorten,
)

K = TypeVar("K", bound=Hashable)
Pair: TypeAlias = "tuple[str, str | None]"
"""A source and a target language; of a measure of one language the target is None."""

ALL = "all languages"
MAX_MENU_LANGUAGES = 40
"""With more languages a layer chart has no menu of them, so that a page stays small."""
MAX_HISTOGRAM_COUNTS = 4_000
"""The most counts of histograms on a page."""
MAX_MAP_POINTS, MAX_POINT_LETTERS, MAX_MAP_LETTERS = 50_000, 120, 2_000_000
"""The most points on a map, the most letters of the text of one, and of all texts together."""
MAX_TABLE_COLUMNS = 8
_SEED = re.compile(r" seed \d+$")
_OTHER_SUBJECTS = frozenset(("consistency", "consistency-choices", "faithfulness", "task", "pairwise", "similarity"))
_DECISIVE = ("retrieval", "cka")
"""The measures whose headline the best layer is chosen by: the first that was taken."""


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A metric with chosen options: a line of a chart, a column of a table. `line` is what its line is called."""

    measure: str
    name: str
    options: frozenset[tuple[str, str]] = frozenset()
    same_language: bool = False
    """Whether it is read of one language in two models, which is another question than two languages."""
    metric: Metric = field(compare=False, repr=False)
    line: str = field(default="", compare=False)

    @property
    def heading(self) -> str:
        """What stands over a column of it."""
        title = self.metric.heading or self.metric.title
        same = ", same language" if self.same_language else ""
        return f"{title}{same}"


def is_alignment_record(record: Record) -> bool:
    """Whether a record is a measure of representations on a parallel corpus, and of no task, state or explanation."""
    of_others = (record.task, record.regime, record.state, record.aspect, record.test, record.trained_on)
    return all(value is None for value in of_others) and record.measure not in _OTHER_SUBJECTS


class AlignmentRecords:
    """The measures of one model (or of two that are compared) on one corpus, by quantity, layer and pair.

    `label` distinguishes its lines from those of other models and is empty if there is one model. Seeds of a model are
    averaged. A direction is a pair and nothing else: the source has the queries.
    """

    def __init__(self, records: Iterable[Record], about: Mapping[str, Any], *, label: str = "") -> None:
        self.records, self.about, self.label = tuple(records), about, label
        held: dict[Quantity, dict[int | None, dict[Pair, list[Record]]]] = {}
        known: dict[tuple[str, str, frozenset[tuple[str, str]], bool], Quantity] = {}
        languages: dict[str, None] = {}
        self.output: int | None = None
        for record in self.records:
            if record.pooling == "output":
                self.output = record.layer
            options = frozenset((name, value) for name, value in record.options.items() if name != "direction")
            source, target = record.source or "+".join(record.languages), record.target
            languages.update({code: None for code in (source, target) if code is not None})
            if record.options.get("direction") == "backward" and target is not None:
                source, target = target, source
            key = (record.measure, record.metric, options, source == target)
            if key not in known:
                known[key] = Quantity(
                    measure=record.measure,
                    name=record.metric,
                    options=options,
                    same_language=source == target,
                    metric=declared_metric(record),
                )
                held[known[key]] = defaultdict(lambda: defaultdict(list))
            held[known[key]][record.layer][source, target].append(record)
        self.languages = tuple(languages)
        self._held = held
        self._estimates: dict[tuple[Quantity, int | None], dict[Pair, Estimate]] = {}

    # ------------------------------------------------------------------------------------------------- selection
    def layers(self, quantity: Quantity) -> list[int]:
        """The layers it was read at, in order; none where it has no layer."""
        return sorted(layer for layer in self._held.get(quantity, {}) if layer is not None)

    def at(self, quantity: Quantity | None, layer: int | None) -> Mapping[Pair, Estimate]:
        """The estimate of each directed pair at a layer, or those without a layer where it has none."""
        own = {} if quantity is None else self._held.get(quantity, {})
        place = layer if own.get(layer) else None
        if quantity is None or place not in own:
            return {}
        if (quantity, place) not in self._estimates:
            pairs = own[place]
            self._estimates[quantity, place] = {pair: RecordTable(found).estimate() for pair, found in pairs.items()}
        return self._estimates[quantity, place]

    def mean(self, quantity: Quantity | None, layer: int | None) -> Estimate | None:
        """The mean over all pairs and directions at a layer; None where there are none."""
        found = self.at(quantity, layer)
        return mean_estimate(found.values()) if found else None

    def layer_estimates(self, quantity: Quantity | None, code: str | None = None) -> dict[int, Estimate]:
        """By layer the mean over all pairs, or over those of one language."""
        found = {} if quantity is None else {
            layer: self.mean(quantity, layer) if code is None else self.language(quantity, layer, code)
            for layer in self.layers(quantity)
        }  # fmt: skip
        return {layer: estimate for layer, estimate in found.items() if estimate is not None}

    def language(self, quantity: Quantity | None, layer: int | None, code: str) -> Estimate | None:
        """The mean over the pairs that a language is a side of, both directions; None where there are none."""
        found = [estimate for pair, estimate in self.at(quantity, layer).items() if code in pair]
        return mean_estimate(found) if found else None

    def language_estimates(self, quantity: Quantity | None, layer: int | None) -> dict[str, Estimate]:
        """The mean of each language, over its pairs and both directions, in the order of the run."""
        found = {code: self.language(quantity, layer, code) for code in self.languages}
        return {code: estimate for code, estimate in found.items() if estimate is not None}

    def side_estimates(self, name: str) -> dict[str, Estimate]:
        """Of a metric of the tokenizer that each side of a pair has its own of (fertility): the mean per language."""
        found: defaultdict[str, list[Estimate]] = defaultdict(list)
        for quantity in self._held:
            side = dict(quantity.options).get("side")
            if quantity.measure == "tokenization" and quantity.name == name and side is not None:
                for pair, estimate in self.at(quantity, None).items():
                    if (code := pair[side == "target"]) is not None:
                        found[code].append(estimate)
        return {code: mean_estimate(found[code]) for code in self.languages if code in found}

    def find(self, measure: str, name: str, same_language: bool = False, **options: str) -> Quantity | None:
        """The quantity of a measure with these options; None where it was not measured."""
        wanted = frozenset(options.items())
        return next(
            (
                quantity
                for quantity in self._held
                if (quantity.measure, quantity.name, quantity.same_language) == (measure, name, same_language)
                and wanted <= quantity.options
            ),
            None,
        )

    # ------------------------------------------------------------------------------------- what is shown of a metric
    def lines_of(self, measure: str, metric: Metric, same_language: bool = False) -> tuple[Quantity, ...]:
        """The quantities of a metric that are shown: one for each of its `lines`, of other options the first value.

        Of a measure that declares no options but has some the first two that were measured.
        """
        if "side" in metric.options:
            return ()
        base = {name: values[0] for name, values in metric.options.items()}
        option, labels = next(iter(metric.lines.items()), ("", {}))
        wanted = [(base | {option: value}, label) for value, label in labels.items()] or [(base, "")]
        found = [(self.find(measure, metric.name, same_language, **options), label) for options, label in wanted]
        if not metric.options and not any(quantity for quantity, _ in found):
            key = (measure, metric.name, same_language)
            own = [each for each in self._held if (each.measure, each.name, each.same_language) == key]
            found = [(each, ", ".join(value for _, value in sorted(each.options))) for each in own[:2]]
        return tuple(replace(quantity, line=label) for quantity, label in found if quantity is not None)

    @cached_property
    def shown(self) -> tuple[tuple[Quantity, ...], ...]:
        """The lines of every chart: of each measure those of its headline and of what else is charted."""
        groups = []
        for measure, same_language in dict.fromkeys((each.measure, each.same_language) for each in self._held):
            present = {each.name: each.metric for each in self._held if each.measure == measure}
            declared = [metric for metric in declared_metrics(measure) if metric.name in present]
            chosen = [each for each in declared or list(present.values())[:2] if each.headline or each.charted]
            groups += [lines for metric in chosen if (lines := self.lines_of(measure, metric, same_language))]
        return tuple(groups)

    # -------------------------------------------------------------------------------------------- the best layer
    @cached_property
    def headline(self) -> Quantity | None:
        """What the best layer is chosen by: retrieval as is, with means subtracted, or CKA, the first measured."""
        order = [(measure, same_language) for measure in _DECISIVE for same_language in (False, True)]
        layered = [quantity for lines in self.shown for quantity in lines if self.layers(quantity)]
        of_kind = (each for kind in order for each in layered if (each.measure, each.same_language) == kind)
        return next(of_kind, None)

    @property
    def centered(self) -> Quantity | None:
        """Retrieval once the mean vector of each language is subtracted; None where it was not measured."""
        return self.find("retrieval", "p@1", similarity="cosine", centering="centred")

    @property
    def as_is(self) -> Quantity | None:
        """Retrieval of the vectors as a user gets them; None where it was not measured."""
        return self.find("retrieval", "p@1", similarity="cosine", centering="raw")

    def peak(self, quantity: Quantity | None = None, code: str | None = None) -> Peak | None:
        """The best layer of a quantity, of the headline by default; of one language where a `code` is given.

        Of the headline it is the model's own output where it has one: what its users compare.
        """
        own = self.headline if quantity is None else quantity
        found = self.layer_estimates(own, code)
        if own is None or not found:
            return None
        output = self.output if quantity is None else None
        return find_peak(found, higher_is_better=own.metric.higher_is_better is not False, output=output)

    @cached_property
    def best_layer(self) -> int | None:
        """The layer of the highest mean over pairs and directions, the lowest of equals; None without layers."""
        top = self.peak()
        return None if top is None else top.layer

    @property
    def is_at_chance(self) -> bool:
        """Whether the headline is no better than its null value, so that nothing is ranked by it."""
        top = self.peak()
        return top is not None and top.is_at_chance

    @property
    def has_equal_candidates(self) -> bool:
        """Whether all pairs of the headline were read over equally many rows, so that they can be ranked."""
        found = self.at(self.headline, self.best_layer)
        return len({estimate.n for estimate in found.values()}) <= 1

    @property
    def is_ranked(self) -> bool:
        """Whether languages and pairs may be ranked by the headline: above chance, over equally many candidates."""
        return not self.is_at_chance and self.has_equal_candidates

    # ------------------------------------------------------------------------------------------------------- words
    def name_layer(self, layer: int | None) -> str:
        """A layer's number, or that it is the model's output."""
        return "output" if layer is not None and layer == self.output else str(layer)

    def name_span(self, layers: Sequence[int]) -> str:
        """The first and the last of layers, and the output where it is among them.

        >>> AlignmentRecords((), {}).name_span([0, 1, 2])
        '0–2'
        """
        own = [layer for layer in layers if layer != self.output]
        ends = "–".join(str(end) for end in dict.fromkeys([*own[:1], *own[-1:]]))
        return ends if len(own) == len(layers) else f"{ends} and output" if ends else "output"

    def name_language(self, code: str) -> str:
        """The English name of a language."""
        return language_name(code, self.about)

    def name_pair(self, pair: Pair) -> str:
        """The names of both languages with a dash."""
        return "–".join(self.name_language(code) for code in pair if code is not None)

    def candidates(self, quantity: Quantity | None, layer: int | None) -> str:
        """Among how many candidates a P@k was read, and its chance level; empty where these are not one number.

        In a dictionary the candidates are not the query words, and only the chance level gives their number.
        """
        found = self.at(quantity, layer)
        if quantity is None or not quantity.name.startswith("p@") or not found:
            return ""
        if quantity.measure == "procrustes-dictionary":
            plain = self.mean(self.find(quantity.measure, quantity.name, map="identity"), layer)
            return "" if plain is None else f"chance level {format_share(plain.null_value)}"
        counts = {estimate.n for estimate in found.values()}
        if len(counts) > 1 or not (count := counts.pop()):
            return ""
        return f"{count:,} candidates, chance level {format_share(min(int(quantity.name[2:]) / count, 1.0))}"


_DECLARED: dict[str, tuple[Metric, ...]] = {}
"""What was read of the declarations: a list of all measures takes a tenth of a second."""


def declared_metrics(measure: str) -> tuple[Metric, ...]:
    """The metrics that a measure declares; none of one that is not registered here. No measure is imported for it."""
    if measure not in _DECLARED:
        found = {entry.name: tuple(entry.metrics) for entry in list_registered("interlingua.measures", "measures")}
        if measure == "procrustes-dictionary":  # No entry of its own: it comes with --dictionary.
            from interlingua.measures.procrustes import DICTIONARY_METRICS

            found[measure] = tuple(DICTIONARY_METRICS)
        _DECLARED.update(found)
    return _DECLARED.get(measure, ())


def declared_metric(record: Record) -> Metric:
    """The metric of a record as its measure declares it; made of the record where that measure is not at hand."""
    declared = next((metric for metric in declared_metrics(record.measure) if metric.name == record.metric), None)
    title = record.measure if record.metric in ("", record.measure) else f"{record.measure}: {record.metric}"
    return declared or Metric(name=record.metric, title=title, higher_is_better=record.higher_is_better, headline=True)


def quantity_title(
    quantity: Quantity, spaces: Sequence[AlignmentRecords], *, short: bool = False, line: bool = False
) -> str:
    """What a metric is called on a page: with the unit where another measure here has its title; with its line.

    The `short` title is the heading of a column.
    """

    def title(metric: Metric) -> str:
        return (metric.heading if short else "") or metric.title

    shown = [group[0] for space in spaces for group in space.shown]
    same = {other.measure for other in shown if title(other.metric) == title(quantity.metric)}
    units = (record.unit for space in spaces for record in space.records if record.measure == quantity.measure)
    unit = f"{next(units, quantity.measure)}s" if len(same) > 1 else ""
    same_language = "same language" if quantity.same_language else ""
    return ", ".join(filter(None, (title(quantity.metric), unit, same_language, quantity.line if line else "")))


def alignment_blocks(run: Run) -> dict[str, list[AlignmentRecords]]:
    """The measures of a run by the block of the study that asked for them, and in each by model.

    Two models that are compared are one entry. Models that differ in their seed alone are averaged.
    """
    held: dict[tuple[str, bool], dict[str, list[Record]]] = {}
    for record in run.records:
        if is_alignment_record(record):
            models = [record.model] if record.against is None else [record.model, record.against]
            name = "–".join(_SEED.sub("", model) for model in models)
            block = (record.block or "", record.against is not None)
            held.setdefault(block, {}).setdefault(name, []).append(record)
    several = len({block for block, _ in held}) < len(held)
    return {
        f"{block}, two models" if several and two else block: [
            AlignmentRecords(found, run.about, label=name if len(models) > 1 else "") for name, found in models.items()
        ]
        for (block, two), models in held.items()
    }


def mean_both_directions(estimates: Mapping[Pair, Estimate]) -> dict[Pair, Estimate]:
    """One estimate per unordered pair, the mean of its directions, under the order seen first.

    >>> list(mean_both_directions({("en", "ru"): Estimate(value=0.2), ("ru", "en"): Estimate(value=0.4)}))
    [('en', 'ru')]
    """
    groups: dict[frozenset[str | None], list[Pair]] = defaultdict(list)
    for pair in estimates:
        groups[frozenset(pair)].append(pair)
    return {pairs[0]: mean_estimate(estimates[pair] for pair in pairs) for pairs in groups.values()}


def mean_change(after: Mapping[Pair, Estimate], before: Mapping[Pair, Estimate], detail: str) -> Difference:
    """What pairs gain on average, with the interval of their differences by row, which `details` have under `detail`.

    Bounds are averaged, as everywhere. Where some record does not have it, the two intervals are taken as far apart as
    they may be: the error of a difference is at most the sum of both errors. The value is the difference of the shares
    as they are shown, so that a reader who subtracts finds the same.

    >>> pairs = [{("en", "ru"): Estimate(value=v, ci_low=v - 0.1, ci_high=v + 0.1)} for v in (0.5, 0.2)]
    >>> gain = mean_change(*pairs, "above_raw")
    >>> round(gain.value, 3), round(gain.ci_low, 3)
    (0.3, 0.1)
    """
    one, other = mean_estimate(after.values()), mean_estimate(before.values())
    value = round(round(one.value, 3) - round(other.value, 3), 3)
    records = one.records + other.records
    known = [record.details.get(detail) for estimate in after.values() for record in estimate.records]
    if known and all(known):
        _, low, high = (float(end) for end in np.mean(np.array(known, np.float64), axis=0))
        return Difference(value=value, ci_low=low, ci_high=high, n=one.n, records=records)
    if one.ci_low is None or one.ci_high is None or other.ci_low is None or other.ci_high is None:
        return Difference(value=value, n=one.n, records=records)
    low, high = one.ci_low - other.ci_high, one.ci_high - other.ci_low
    return Difference(value=value, ci_low=low, ci_high=high, n=one.n, records=records)


def difference_sign(difference: Difference) -> int:
    """1 where the interval lies above 0, -1 where below, 0 where it does not say."""
    if difference.ci_low is None or difference.ci_high is None:
        return 0
    return int(difference.ci_low > 0) - int(difference.ci_high < 0)


# ------------------------------------------------------------------------------------------------------ layer charts
def layer_section(spaces: Sequence[AlignmentRecords], *, name: str = "layers", title: str = "Layers") -> Section | None:
    """Curves over layers of every measure that was taken, and their values as tables."""
    charts = layer_charts(spaces, name=name)
    if not charts:
        return None
    text = ["Layer 0 is the embedding output; layer k is the output of block k."]
    if any(space.output is not None for space in spaces):
        text[0] += " The layer “output” is what the model itself returns as sentence vectors."
    text.append(
        "Each line is the mean over all pairs or languages, its band the 95\N{NO-BREAK SPACE}% interval over sentences "
        "or words. A ring marks the best layer of a line where one stands out."
    )
    tables = tuple(table for space in spaces if (table := layer_table(space, name=name)) is not None)
    return Section(name=name, title=title, text=tuple(text), charts=tuple(charts), tables=tables, terminal=True)


def layer_charts(spaces: Sequence[AlignmentRecords], *, name: str = "layers") -> list[Chart | ChartMenu]:
    """A chart per metric with the lines of all models; a menu shows one language in the place of the mean.

    A metric with a single layer has no curve and is left out. The menu is for the metrics of the decisive measures.
    """
    charts: list[Chart | ChartMenu] = []
    for group in _all_groups(spaces):
        drawn = [space for space in spaces if any(len(space.layers(quantity)) > 1 for quantity in group)]
        if not drawn:
            continue
        title = quantity_title(group[0], drawn)
        own = f"{name}-{slugify(title)}"
        options: dict[str, str | None] = {ALL: None}
        codes = [code for code in drawn[0].languages if all(code in space.languages for space in drawn)]
        if group[0].measure in _DECISIVE and 2 < len(codes) <= MAX_MENU_LANGUAGES:
            options |= {drawn[0].name_language(code): code for code in codes}
        shown: dict[tuple[str, ...], Chart] = {
            (option,): _layer_chart(drawn, group, code, name=own, title=f"{title}: {option}" if code else title)
            for option, code in options.items()
        }
        charts.append(ChartMenu.of(own, ["Language"], shown) if len(shown) > 1 else shown[ALL,])
    return charts


def layer_lines(runs: Sequence[Run]) -> list[LineChart]:
    """Curves of several runs over each other, for their comparison: of each metric its first line, per run and model.

    A caption says where the runs did not read the same sentences or equally many candidates.
    """
    spaces = []
    for run in runs:
        for found in (space for block in alignment_blocks(run).values() for space in block):
            label = ", ".join(part for part in (run.name, found.label) if part)
            spaces.append(AlignmentRecords(found.records, run.about, label=label))
    corpora = {str((space.about.get("digests") or {}).get("corpus")) for space in spaces}
    charts = []
    for group in _all_groups(spaces):
        drawn = [space for space in spaces if len(space.layers(group[0])) > 1]
        if len(drawn) > 1:
            title = quantity_title(group[0], drawn)
            pools = {space.candidates(group[0], space.layers(group[0])[0]) for space in drawn}
            unequal = len(corpora) > 1 or len(pools) > 1
            note = "The runs did not read the same sentences: the lines are not comparable." if unequal else ""
            charts.append(_layer_chart(drawn, group[:1], None, name=f"curve-{slugify(title)}", title=title, more=note))
    return charts


def _all_groups(spaces: Sequence[AlignmentRecords]) -> list[tuple[Quantity, ...]]:
    """The charts of all models, in the order in which they come; of one metric the most lines that one has."""
    groups: dict[tuple[str, str, bool], tuple[Quantity, ...]] = {}
    for space in spaces:
        for group in space.shown:
            key = (group[0].measure, group[0].name, group[0].same_language)
            if len(group) > len(groups.get(key, ())):
                groups[key] = group
    return list(groups.values())


def _layer_chart(
    spaces: Sequence[AlignmentRecords],
    group: Sequence[Quantity],
    code: str | None,
    *,
    name: str,
    title: str,
    more: str = "",
) -> LineChart:
    metric = group[0].metric
    layers = sorted({layer for space in spaces for quantity in group for layer in space.layers(quantity)})
    outputs = {space.output for space in spaces}
    axis: tuple[float | str, ...] = tuple(layers)
    if not outputs.isdisjoint(layers):
        axis = tuple(spaces[0].name_layer(layer) if len(outputs) == 1 else str(layer) for layer in layers)
    lines = []
    notes = [*_chart_notes(spaces, group[0]), f"No layer differs from its null value ({_null_label(metric)}).", more]
    references: dict[tuple[float | None, ...], ReferenceLine] = {}
    for number, (space, quantity) in enumerate((space, quantity) for space in spaces for quantity in group):
        found = space.layer_estimates(quantity, code)
        if not found:
            continue
        place = number % len(group)
        top = find_peak(found, higher_is_better=metric.higher_is_better is not False)
        differs = any(map(differs_from_null, found.values()))
        if differs:
            notes[-2] = ""
        lines.append(
            Line(
                name=escape_control_characters(", ".join(filter(None, (space.label, quantity.line)))),
                x=axis,
                y=tuple(found.get(layer) for layer in layers),
                color=number // len(group) if len(spaces) > 1 else place,
                dashed=place > 0,
                best=layers.index(top.layer) if top.stands_out and differs else None,
            )
        )
        nulls = tuple(None if layer not in found else found[layer].null_value for layer in layers)
        known = {null for null in nulls if null is not None}
        if place == 0 and known:
            values = tuple(known) if len(known) == 1 else nulls
            references.setdefault(values, ReferenceLine(label=_null_label(metric), values=values))
    return LineChart(
        name=name,
        title=title,
        note=" ".join(filter(None, notes)),
        x=Axis(title="layer"),
        y=Axis(title=metric.heading or metric.title, display=metric.display, zero=metric.range[0] == 0.0),
        lines=tuple(lines),
        references=tuple(references.values()),
    )


def _null_label(metric: Metric) -> str:
    """What a reference line is called: the null value of a metric in two or three words.

    >>> _null_label(Metric(name="p@1", title="P@1", null="chance: one candidate in n"))
    'chance level'
    """
    text = re.split("[:;]", metric.null)[0].strip() or "null value"
    return "chance level" if text == "chance" else text


def _chart_notes(spaces: Sequence[AlignmentRecords], quantity: Quantity) -> Iterator[str]:
    """What a metric is, among how many candidates it was read, and its direction where lower is better."""
    yield quantity.metric.about
    pools = {space.label: space.candidates(quantity, layers[0]) for space in spaces
             if (layers := space.layers(quantity))}  # fmt: skip
    if len(set(pools.values())) > 1:
        known = "; ".join(f"{escape_control_characters(label)}: {pool}" for label, pool in pools.items() if pool)
        yield f"{known}. The lines are not comparable: fewer candidates are easier."
    elif pool := next(iter(pools.values()), ""):
        yield f"{capitalize_first(pool)}."
    if quantity.metric.higher_is_better is False:
        yield "Lower is better."


def layer_table(space: AlignmentRecords, *, name: str = "layers") -> Table | None:
    """A row per layer, a column per line of the decisive measures and per other measure, as far as a page has room."""
    groups = [group for group in space.shown if len(space.layers(group[0])) > 1]
    decisive = [quantity for group in groups if group[0].measure in _DECISIVE for quantity in group]
    columns = list(dict.fromkeys([*decisive, *(group[0] for group in groups)]))[:MAX_TABLE_COLUMNS]
    layers = sorted({layer for quantity in columns for layer in space.layers(quantity)})
    if not layers:
        return None
    heads = [
        Column(
            title=quantity_title(quantity, [space], short=True, line=True),
            display=quantity.metric.display,
            better=None if space.is_at_chance else quantity.metric.higher_is_better,
        )
        for quantity in columns
    ]
    means = [space.layer_estimates(quantity) for quantity in columns]
    return table_of_columns(
        "Layer",
        {layer: space.name_layer(layer) for layer in layers},
        list(zip(heads, means, strict=True)),
        name=f"{name}-{slugify(space.label)}" if space.label else name,
        title=f"Mean over all pairs by layer{f': {space.label}' if space.label else ''}",
        note="Layer 0 is the embedding output. Bold: best, with all layers in its interval.",
    )


def language_layer_table(space: AlignmentRecords, *, name: str = "best-layers") -> Table | None:
    """The best layer of each language with those tied, beside the best layer of all and the last one.

    A language whose layers all lie within one interval has none that stands out; one that is at chance has none.
    """
    quantity, best = space.headline, space.best_layer
    layers = [] if quantity is None else [layer for layer in space.layers(quantity) if layer != space.output]
    if quantity is None or best is None or len(layers) < 2:
        return None
    last = layers[-1]
    rows: list[tuple[Cell, ...]] = []
    for code in space.languages:
        found = {layer: each for layer, each in space.layer_estimates(quantity, code).items() if layer != space.output}
        if not found:
            continue
        top = find_peak(found, higher_is_better=quantity.metric.higher_is_better is not False)
        at_layers = (space.language(quantity, layer, code) for layer in (best, last))
        rows.append((space.name_language(code), best_layer_text(top, space), top.estimate, *at_layers))
    display, where = quantity.metric.display, f"{quantity.heading} at"
    return Table(
        name=name,
        title="Best layer per language",
        columns=(
            Column(title="Language"),
            Column(title="Best layer (tied)"),
            Column(title=f"{where} it", display=display, interval=True),
            Column(title=f"{where} layer {space.name_layer(best)}", display=display),
            Column(title=f"{where} last layer ({last})", display=display),
        ),
        rows=tuple(rows),
        note="Tied layers lie within the 95\N{NO-BREAK SPACE}% interval of the best one. The best layer is chosen on "
        "the same sentences, so its value is slightly optimistic.",
    )


def best_layer_text(top: Peak, space: AlignmentRecords) -> str:
    """The best layer and those tied with it.

    >>> space = AlignmentRecords((), {})
    >>> best_layer_text(Peak(3, Estimate(value=0.5), (2, 4), (1, 2, 3, 4, 5)), space)
    '3 (2, 4)'
    """
    if top.is_at_chance:
        return "none above chance"
    if top.has_no_peak:
        return "no layer stands out"
    tied = ", ".join(space.name_layer(layer) for layer in top.tied_layers)
    return f"{space.name_layer(top.layer)}{f' ({tied})' if tied else ''}"


# --------------------------------------------------------------------------------------------------- map of sentences
MAP_NAMES = {"pca": "principal components", "tsne": "t-SNE", "umap": "UMAP"}


def map_section(run: Run) -> Section | None:
    """The map of sentences as is and with language means subtracted; None where the run has none."""
    points = run.attachments.get("points") or {}
    all_points = points.get("points") or []
    drawn = [at for at, point in enumerate(all_points) if _is_place(point.get("x"), point.get("y"))]
    if not drawn:
        return None
    own = [all_points[at] for at in drawn]
    views: dict[tuple[str, ...], Chart] = {
        ("as is",): _point_map(run, own, [(point["x"], point["y"]) for point in own], points)
    }
    centered = points.get("centred") or {}
    if len(places := centered.get("places") or ()) == len(all_points):
        views["language means subtracted",] = _point_map(run, own, [places[at] for at in drawn], centered)
    method = MAP_NAMES.get(str(points.get("method")), escape_control_characters(str(points.get("method") or "")))
    layer = "" if points.get("layer") is None else f" at layer {points['layer']}"
    text = (
        f"Every point is a sentence{layer}, projected by {method or 'two directions'}. Colour and shape show the "
        "language. Two dimensions can hide what separates languages: rely on numbers of the vectors themselves.",
    )
    chart = ChartMenu.of("map", ["Vectors"], views) if len(views) > 1 else views["as is",]
    return Section(name="map", title="Map of sentences", text=text, charts=(chart,))


def _is_place(x: Any, y: Any) -> bool:
    return all(isinstance(end, int | float) and np.isfinite(end) for end in (x, y))


def _point_map(
    run: Run, points: Sequence[Mapping[str, Any]], places: Sequence[Sequence[float]], view: Mapping[str, Any]
) -> PointMap:
    """One map of at most 50,000 points, with the share of variance on its axes and what its `view` says of purity."""
    rows = {point["row"] for point in points}
    shown = {row: int(row) for row in thin_rows(sorted(rows), len(points), MAX_MAP_POINTS)}
    letters = min(MAX_POINT_LETTERS, max(MAX_MAP_LETTERS // len(points), 20))
    notes = [f"{len(shown):,} of {len(rows):,} sentences are shown." if len(shown) < len(rows) else ""]
    if purity := view.get("purity"):
        notes.append(
            f"Of the {purity['k']} nearest neighbours of a sentence, {format_share(purity['value'])} have its language "
            f"({format_share(purity['chance'])} if languages were mixed)."
        )
    groups = point_groups(
        points,
        "language",
        list(zip(*places, strict=True)),
        shown=shown,
        name=lambda code: language_name(code, run.about),
        text=lambda point: shorten(str(point.get("text", "")), letters),
    )
    x_title, y_title = component_titles(view.get("explained") or ())
    return PointMap(name="map", title="Map of sentences", note=" ".join(filter(None, notes)), groups=groups,
                    x_title=x_title, y_title=y_title)  # fmt: skip


def point_groups(
    points: Sequence[Mapping[str, Any]],
    label: str,
    places: Sequence[Sequence[float]],
    *,
    shown: Mapping[Any, int],
    name: Callable[[str], str],
    text: Callable[[Mapping[str, Any]], str],
    chosen: Sequence[str] | None = None,
) -> tuple[PointGroup, ...]:
    """The points of the rows that are shown, by a label of theirs; where some labels are chosen, the rest is grey."""
    held: dict[str, list[int]] = defaultdict(list)
    for at, point in enumerate(points):
        if point["row"] in shown:
            held[str(point[label])].append(at)
    x, y = places
    return tuple(
        PointGroup(
            name=name(value),
            x=[float(x[at]) for at in held[value]],
            y=[float(y[at]) for at in held[value]],
            texts=[text(points[at]) for at in held[value]],
            rows=[shown[points[at]["row"]] for at in held[value]],
            color=None if chosen is None else chosen.index(value) if value in chosen else GREY,
        )
        for value in sorted(held, key=lambda value: chosen is not None and value not in chosen)
    )


def thin_rows(rows: Sequence[K], points: int, max_points: int) -> dict[K, int]:
    """The rows that a map shows, numbered: thinned evenly and by whole rows, so that translations stay together.

    >>> thin_rows(["a", "b", "c", "d"], 8, 4)
    {'a': 0, 'c': 1}
    """
    room = min(len(rows), max(max_points * len(rows) // points, 1))
    return {rows[at * len(rows) // room]: at for at in range(room)}


def component_titles(explained: Sequence[float]) -> tuple[str, str]:
    """The titles of both axes of a map by the variance they explain; empty where that is not known."""
    if len(explained) < 2:
        return "", ""
    first, second = (f"component {at} ({format_share(explained[at - 1])} of variance)" for at in (1, 2))
    return first, second


# ------------------------------------------------------------------------------------------------- distances of words
def distance_section(space: AlignmentRecords, *, name: str = "distances") -> Section | None:
    """Histograms of distances of related and unrelated words, by pair and layer; None where there are none.

    Past what fits a page only the first, best and last layer are kept, then only as many pairs as fit.
    """
    group = next((lines for lines in space.shown if lines[0].measure == "separation"), ())
    for quantity in group:
        found = [
            (pair, layer, estimate)
            for layer in space.layers(quantity)
            for pair, estimate in space.at(quantity, layer).items()
            if len(estimate.records[0].details.get("edges") or ()) > 1
        ]
        if found:
            return _histograms(space, quantity, _that_fit(found, space), name)
    return None


def _that_fit(entries: list[tuple[Pair, int, Estimate]], space: AlignmentRecords) -> list[tuple[Pair, int, Estimate]]:
    def count() -> int:
        return sum(2 * len(estimate.records[0].details["related"]) for *_, estimate in entries)

    if count() > MAX_HISTOGRAM_COUNTS:
        layers = sorted({layer for _, layer, _ in entries})
        entries = [entry for entry in entries if entry[1] in (layers[0], space.best_layer, layers[-1])]
        pairs = list(dict.fromkeys(pair for pair, *_ in entries))
        room = MAX_HISTOGRAM_COUNTS // max(count() // len(pairs), 1)
        entries = [entry for entry in entries if entry[0] in pairs[: max(room, 1)]]
    return entries


def _histograms(
    space: AlignmentRecords, quantity: Quantity, entries: Sequence[tuple[Pair, int, Estimate]], name: str
) -> Section:
    layers = sorted({layer for _, layer, _ in entries})
    best = space.best_layer if space.best_layer in layers else layers[-1]
    charts: dict[tuple[str, ...], Chart] = {}
    for pair, layer, estimate in sorted(entries, key=lambda entry: entry[1] != best):  # The best layer is shown first.
        edges, key = estimate.records[0].details["edges"], (space.name_pair(pair), space.name_layer(layer))
        charts[key] = HistogramChart(
            name=name,
            title=f"Distances of words: {key[0]}, layer {key[1]}",
            note=f"{quantity.metric.about} Chance level 0.50.",
            x=Axis(title=quantity.line or "distance", low=edges[0], high=edges[-1]),
            rows=(separation_row(estimate),),
            side_title="AUC",
        )
    text = (
        "Distances of words to their translations (related) and to words of other sentences (unrelated). The less the "
        "two histograms overlap, the better distance alone identifies a translation.",
    )
    title = "Related and unrelated words" + (f": {space.label}" if space.label else "")
    return Section(name=name, title=title, text=text, charts=(ChartMenu.of(name, ["Pair", "Layer"], charts),),
                   folded=True)  # fmt: skip


def separation_row(estimate: Estimate, label: str = "") -> HistogramRow:
    """The two histograms behind an AUC, as shares of their pairs, with the AUC beside."""
    details = estimate.records[0].details
    histograms = (
        Histogram(name=kind, counts=tuple(count / (sum(details[kind]) or 1) for count in details[kind]), color=color)
        for color, kind in enumerate(("related", "unrelated"))
    )
    return HistogramRow(label=label, histograms=tuple(histograms), side=estimate)


# ---------------------------------------------------------------------------------------------------------- tokenizer
def tokenizer_table(space: AlignmentRecords, *, name: str = "tokenizer") -> Table | None:
    """A row per language, fewest pieces per word first: how the tokenizer cuts its words; None where not measured."""
    fertility = space.side_estimates("fertility")
    if not fertility:
        return None
    overlap, agreement = (
        space.language_estimates(space.find("tokenization", metric), None) for metric in ("overlap", "agreement")
    )
    columns = [
        (Column(title="Pieces per word", display="number"), fertility),
        (Column(title="Words cut", display="percent"), space.side_estimates("continued")),
        (Column(title="Unknown tokens", display="percent"), space.side_estimates("unknown")),
        (Column(title="Shared tokens", display="percent"), overlap),
        (Column(title="Agreement", display="number"), agreement),
    ]
    order = sorted(fertility, key=lambda code: fertility[code].value)
    return table_of_columns(
        "Language",
        {code: space.name_language(code) for code in order},
        columns,
        name=name,
        title="Tokenizer" + (f": {space.label}" if space.label else ""),
        note="Shared tokens: mean share of token types that two languages have in common. Agreement: mean ratio of the "
        "token counts of a sentence and its translation, the smaller over the larger.",
        terminal=len(order) <= 4,
    )


def lost_languages(space: AlignmentRecords) -> list[str]:
    """The languages whose headline is no better than its null value."""
    found = space.language_estimates(space.headline, space.best_layer)
    return [code for code, estimate in found.items() if not is_above_null(estimate)]


def slugify(title: str) -> str:
    """A title as an id of a page and a file name.

    >>> slugify("Retrieval accuracy (P@1)")
    'retrieval-accuracy-p-1'
    """
    return re.sub("[^a-z0-9]+", "-", title.casefold()).strip("-") or "model"
