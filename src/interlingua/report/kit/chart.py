"""Charts as data: what is drawn, with the records behind every mark; `kit.svg` draws them.

Values are shares or plain numbers as measured; `display="percent"` puts percent on axes and marks. Every chart has a
`note`, its caption, which says how to read it and claims nothing. A chart that its note would call meaningless is not
made. `color` is a number: 0, 1, 2 … are the colours of the theme that can be distinguished with any colour vision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from interlingua.record import Estimate, Record
from interlingua.report.kit.wording import Display

GREY = -1
"""The colour of what stands behind the rest."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis: its title with the unit, how its numbers are shown, and its ends (None: from the data).

    `zero` begins it at 0. A share never goes below 0 or above 1.
    """

    title: str
    display: Display = "number"
    low: float | None = None
    high: float | None = None
    zero: bool = False


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line: x values, an estimate (or None for a gap) at each; the interval of the estimates is drawn as a band."""

    name: str
    x: tuple[float | str, ...]
    y: tuple[Estimate | None, ...]
    color: int = 0
    dashed: bool = False
    best: int | None = None
    """The place of the point that is marked as this line's own best; None where no layer stands out."""


@dataclass(frozen=True, kw_only=True)
class ReferenceLine:
    """A labelled dotted line: the chance level, shuffled pairs, a published number; one value, or one per x."""

    label: str
    values: tuple[float | None, ...]
    """One value for a level line, or as many as the x values of the lines."""


@dataclass(frozen=True, kw_only=True)
class LineChart:
    """Lines over layers, steps or amounts."""

    name: str
    title: str
    note: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    references: tuple[ReferenceLine, ...] = ()


@dataclass(frozen=True, kw_only=True)
class HeatMap:
    """A matrix of estimates with its scale named in the legend; `diverging` scales are centred on 0.

    The scale goes from the smallest to the largest value shown, unless `low` and `high` are given.
    """

    name: str
    title: str
    note: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Estimate | None, ...], ...]
    scale: str
    display: Display = "percent"
    low: float | None = None
    high: float | None = None
    diverging: bool = False


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A dot of a scatter chart with its label."""

    label: str
    x: float
    y: float
    records: Sequence[Record] = field(default=(), repr=False)
    color: int = 0
    detail: str = ""
    """More for the tooltip: a table and cell of a paper, a sentence."""


@dataclass(frozen=True, kw_only=True)
class ScatterChart:
    """Dots by two numbers. `diagonal` draws the line of equality; `trend` a line between two points."""

    name: str
    title: str
    note: str
    x: Axis
    y: Axis
    dots: tuple[Dot, ...]
    groups: tuple[str, ...] = ("",)
    """The name of each colour, by its number."""
    labels: bool = True
    """Whether labels stand beside the dots (else in the tooltip alone)."""
    diagonal: bool = False
    trend: tuple[tuple[float, float], tuple[float, float]] | None = None


@dataclass(frozen=True, kw_only=True)
class IntervalRow:
    """A row of an interval chart: a mean with its interval, the single values behind it as faint dots."""

    label: str
    group: str
    """The name of its colour: a regime, a model, before or after."""
    estimate: Estimate | None
    dots: tuple[tuple[float, Sequence[Record]], ...] = ()
    reference: float | None = None
    """The chance level of this row; drawn as a cross."""


@dataclass(frozen=True, kw_only=True)
class IntervalChart:
    """Rows of means with intervals along one axis: every seed, differences from 0, languages of two models.

    `references` are vertical labelled lines (`no difference` at 0).
    """

    name: str
    title: str
    note: str
    x: Axis
    rows: tuple[IntervalRow, ...]
    references: tuple[ReferenceLine, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """One curve of a histogram chart: counts per bin, of equal width between the ends of the axis."""

    name: str
    counts: tuple[float, ...]
    color: int = 0


@dataclass(frozen=True, kw_only=True)
class HistogramRow:
    """Histograms that share an axis, with a label and a number printed beside: `after adjustment`, `AUC 0.92`."""

    label: str
    histograms: tuple[Histogram, ...]
    side: Estimate | None = None


@dataclass(frozen=True, kw_only=True)
class HistogramChart:
    """Rows of histograms on one axis."""

    name: str
    title: str
    note: str
    x: Axis
    rows: tuple[HistogramRow, ...]
    side_title: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """Where the axis begins and ends; without ends of its own a bin is 1 wide."""
        bins = max((len(curve.counts) for row in self.rows for curve in row.histograms), default=1)
        return self.x.low or 0.0, float(bins) if self.x.high is None else self.x.high


@dataclass(frozen=True, kw_only=True)
class PointGroup:
    """The points of one language or label on a map, with the text of each."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    texts: Sequence[str]
    rows: Sequence[int] = ()
    """Which points of other groups belong to a point: equal numbers are translations of each other."""
    color: int | None = None
    """`GREY` where the group stands behind the others; None: by its place among the groups."""


@dataclass(frozen=True, kw_only=True)
class PointMap:
    """A 2-D map of up to 50,000 points, drawn on a canvas; axes name the share of variance where it is known."""

    name: str
    title: str
    note: str
    groups: tuple[PointGroup, ...]
    x_title: str = ""
    y_title: str = ""

    @property
    def colors(self) -> tuple[int, ...]:
        """The colour of each group, `GREY` of those that stand behind the others."""
        return tuple(at if group.color is None else group.color for at, group in enumerate(self.groups))


@dataclass(frozen=True, kw_only=True)
class WordFlow:
    """A band from a word of the first text to a word of the second, as wide as its share of the attribution."""

    source: int
    target: int
    share: float


@dataclass(frozen=True, kw_only=True)
class FlowChart:
    """Words of two texts, each with its share of the attribution (negative: against), and the flow between them."""

    name: str
    title: str
    note: str
    source_name: str
    target_name: str
    source_words: tuple[tuple[str, float], ...]
    target_words: tuple[tuple[str, float], ...]
    flows: tuple[WordFlow, ...]


Chart: TypeAlias = LineChart | HeatMap | ScatterChart | IntervalChart | HistogramChart | PointMap | FlowChart


@dataclass(frozen=True, kw_only=True)
class ChartMenu:
    """Charts of which one is shown at a time, chosen by menus: `{("6", "as is"): chart, …}`.

    `menus` are label and options of each; the first option of each is shown first. Not every combination need exist.
    """

    name: str
    menus: tuple[tuple[str, tuple[str, ...]], ...]
    charts: Mapping[tuple[str, ...], Chart]

    @classmethod
    def of(cls, name: str, labels: Sequence[str], charts: Mapping[tuple[str, ...], Chart]) -> ChartMenu:
        """The charts under menus with these labels, whose options are in the order of the charts."""
        options = [tuple(dict.fromkeys(key[at] for key in charts)) for at in range(len(labels))]
        return cls(name=name, menus=tuple(zip(labels, options, strict=True)), charts=charts)


def charts_of(chart: Chart | ChartMenu) -> tuple[Chart, ...]:
    """The charts of a menu in their order, or the one chart."""
    return tuple(chart.charts.values()) if isinstance(chart, ChartMenu) else (chart,)


def charts_under_menus(
    name: str, labels: Sequence[str], charts: Mapping[tuple[str, ...], Chart]
) -> tuple[Chart | ChartMenu, ...]:
    """The charts under menus with these labels, of which only those that offer a choice are shown; one chart alone."""
    menu = ChartMenu.of(name, labels, charts)
    wanted = [at for at, (_, options) in enumerate(menu.menus) if len(options) > 1]
    if not wanted:
        return tuple(charts.values())
    shown = {tuple(key[at] for at in wanted): chart for key, chart in charts.items()}
    return (ChartMenu(name=name, menus=tuple(menu.menus[at] for at in wanted), charts=shown),)
