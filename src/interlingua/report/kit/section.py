"""`Section`, `Headline` and `Subject`: what a subject of a report gives to the renderers, and a `Run` it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeAlias, TypeVar

from interlingua.record import Estimate, Items, Record, RecordTable
from interlingua.report.kit.chart import Chart, ChartMenu
from interlingua.report.kit.finding import Finding
from interlingua.report.kit.table import Table
from interlingua.report.kit.wording import (
    Display,
    escape_control_characters,
    format_chance,
    format_interval,
    format_value,
)

T = TypeVar("T")
Fact: TypeAlias = "tuple[str, str | tuple[str, ...]]"
"""A term, and what it is: a text, or a list of texts."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run that is reported: its settings (`run.json`), its records, and what its folder holds that is no number.

    `kind` is the command that wrote the folder. `name` identifies it among other runs of the same report, and is empty
    where it is alone. Keys of `attachments`: `points` (map of sentences), `examples`, `maps`, `curves`, `published`.
    `items` gives the values behind a record, None where they were not kept.
    """

    kind: str
    about: Mapping[str, Any]
    records: RecordTable
    name: str = ""
    attachments: Mapping[str, Any] = field(default_factory=dict)
    items: Callable[[Record], Items | None] = field(default=lambda record: None, compare=False, repr=False)

    @property
    def unfinished(self) -> str:
        """How far a run came that was stopped, and what finishes it; empty for a finished one."""
        return str(self.about.get("unfinished") or "")


@dataclass(frozen=True, kw_only=True)
class ComparedNumber(Estimate):
    """A number by which runs are compared, with what decides whether its difference says anything.

    `trained_seeds` is the number of models trained for it (None: of a model as it came): of one, nothing is known of
    other seeds. `at_chance` None: by its interval and null value. `tied` are the layers as good as a best layer.
    """

    display: Display = "percent"
    higher_is_better: bool | None = None
    trained_seeds: int | None = None
    at_chance: bool | None = None
    tied: tuple[int, ...] = ()

    @classmethod
    def of(cls, estimate: Estimate, **fields: Any) -> ComparedNumber:
        """The number of an estimate."""
        known = {name: getattr(estimate, name) for name in Estimate.__dataclass_fields__}
        better = {record.higher_is_better for record in estimate.records}
        return cls(**{**known, "higher_is_better": better.pop() if len(better) == 1 else None, **fields})


@dataclass(frozen=True, kw_only=True)
class KeyFigure:
    """A number of the first screen: what it is, the number with its interval, and a remark (the chance level).

    `text` stands for numbers that no record holds (`layer 6`). Without a remark the null value of the estimate is
    printed in its place, as the chance level.
    """

    label: str
    estimate: Estimate | None = None
    display: Display = "percent"
    text: str = ""
    remark: str = ""
    link: str = ""
    """The name of the section that shows more of it."""

    @property
    def value(self) -> str:
        """The number as people read it."""
        return format_value(self.estimate.value, self.display) if self.estimate and not self.text else self.text

    @property
    def interval(self) -> str:
        """Its interval in brackets; empty where it has none."""
        known = self.estimate
        return "" if known is None else format_interval(known.ci_low, known.ci_high, self.display)

    @property
    def context(self) -> str:
        """What stands below it: the remark, else the chance level."""
        return self.remark or (format_chance(self.estimate.null_value, self.display) if self.estimate else "")


@dataclass(frozen=True, kw_only=True)
class Headline:
    """The first screen: a title, the finding that answers the command's question, three or four figures, what to do.

    `title` is the question with the model (`How well embedded aligns 17 languages`); `measured` is one line on what
    was measured on how much data; `next_step` is advice, with commands in backticks.
    """

    title: str
    answer: Finding
    figures: tuple[KeyFigure, ...] = ()
    measured: str = ""
    next_step: str = ""
    findings: tuple[Finding, ...] = ()
    """More findings, listed below the figures by topic."""

    def __post_init__(self) -> None:
        _escape_fields(self)


def escape_texts(part: T) -> T:
    """A part of a report with the control characters of all its texts written out, so that no subject needs to do it.

    Names of models, tests, regimes and files are typed by users. Numbers, records and findings stay as they are: a
    finding escapes its sentence, and its JSON has the names as they were given.
    """
    escaped: Any = part
    if isinstance(part, str):
        escaped = escape_control_characters(part)
        return escaped if escaped != part else part
    if type(part) in (tuple, list):
        before: Any = part
        after = [escape_texts(item) for item in before]
        if any(new is not old for new, old in zip(after, before, strict=True)):
            escaped = type(before)(after)
    elif isinstance(part, dict):
        escaped = {escape_texts(key): escape_texts(value) for key, value in part.items()}
    elif is_dataclass(part) and not isinstance(part, (type, Estimate, Record, Finding)):
        values = {each.name: getattr(part, each.name) for each in fields(part)}
        texts = {name: new for name, value in values.items() if (new := escape_texts(value)) is not value}
        escaped = replace(part, **texts) if texts else part
    return escaped  # type: ignore[no-any-return]


def _escape_fields(part: Headline | Section) -> None:
    for each in fields(part):
        object.__setattr__(part, each.name, escape_texts(getattr(part, each.name)))


def split_code(text: str) -> list[tuple[str, bool]]:
    """The parts of a text, each with whether it is code, which stands in backticks; a lone backtick is a character.

    >>> split_code("Adjust for Hindi: `interlingua adjust x`")
    [('Adjust for Hindi: ', False), ('interlingua adjust x', True)]
    """
    parts = text.split("`") if text.count("`") % 2 == 0 else [text]
    return [(part, bool(at % 2)) for at, part in enumerate(parts) if part]


def split_commands(next_step: str) -> list[tuple[str, bool]]:
    """The paragraphs and the commands of a next step, without the stops and blanks between them.

    >>> split_commands("Adjust for Hindi: `interlingua adjust x`.")
    [('Adjust for Hindi:', False), ('interlingua adjust x', True)]
    """
    return [(part.strip(), is_code) for part, is_code in split_code(next_step) if part.strip(" .,;")]


@dataclass(frozen=True, kw_only=True)
class ExampleWord:
    """A whole word of an example: its attribution on the scale of its pair, and whether it lies in the marked span."""

    text: str
    strength: float = 0.0
    """Its attribution over the largest of both texts, from -1 (against) to 1 (for)."""
    marked: bool = False


@dataclass(frozen=True, kw_only=True)
class ExampleText:
    """One text of an example: its language and what is explained there (`ORG "Bank of Spain"`), its words."""

    language: str
    explained: str
    words: tuple[ExampleWord, ...]


@dataclass(frozen=True, kw_only=True)
class Example:
    """An explained example: its texts side by side, and a line below them (consistency, prediction, gold label)."""

    title: str
    texts: tuple[ExampleText, ...]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a report. `text` is method and reading help, at most three short paragraphs.

    `folded` sections are closed when the page opens. `terminal` sections' findings are printed in a terminal, too.
    """

    name: str
    title: str
    findings: tuple[Finding, ...] = ()
    text: tuple[str, ...] = ()
    charts: tuple[Chart | ChartMenu, ...] = ()
    tables: tuple[Table, ...] = ()
    examples: tuple[Example, ...] = ()
    facts: tuple[Fact, ...] = ()
    """Terms with what they are, for settings and provenance."""
    folded: bool = False
    terminal: bool = False

    def __post_init__(self) -> None:
        _escape_fields(self)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A subject of reports: whether a run has records of it, and what it makes of them.

    `headline` is None where another subject answers for the run. `numbers` are what a comparison of runs compares, by
    what they are called on a page, in their order; runs are ranked by the first. One that is no plain share is a
    `ComparedNumber`.
    """

    name: str
    applies: Callable[[Run], bool]
    sections: Callable[[Run], Sequence[Section]]
    headline: Callable[[Run], Headline | None] = lambda run: None
    numbers: Callable[[Run], Mapping[str, Estimate]] = lambda run: {}
