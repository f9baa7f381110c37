"""Word links of a bitext: how many words are linked, how well they agree with gold links, and the first sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from interlingua.record import Estimate
from interlingua.report.kit.chart import Chart, FlowChart, WordFlow, charts_under_menus
from interlingua.report.kit.finding import Basis, Finding, Verdict, sentence_of
from interlingua.report.kit.section import Headline, KeyFigure, Run, Section, Subject
from interlingua.report.kit.table import Column, Table
from interlingua.report.kit.wording import (
    escape_control_characters,
    format_interval,
    format_number,
    format_share,
    pluralize,
)

MAX_MENU_LETTERS = 40
QUALITY_TITLES = {"aer": "Alignment error rate (AER)", "precision": "Precision", "recall": "Recall", "f1": "F1"}


@dataclass(frozen=True, kw_only=True)
class LinkedSentence:
    """A sentence pair with its words and its links, as places in both."""

    line: int
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    links: tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True)
class LinkSide:
    """The words of one side, and how many of them have no link."""

    words: int
    unlinked: int

    @property
    def unlinked_share(self) -> Estimate:
        """The share of words without a link; 0 of no words."""
        return Estimate(value=self.unlinked / max(self.words, 1), n=self.words)


@dataclass(frozen=True, kw_only=True)
class WordLinks:
    """What aligning a bitext gave: counts, agreement with gold links, the first sentences. Attached as `links`.

    `quality` has AER, precision, recall and F1 where gold links were given; `at_chance` says whether the AER is not
    shown to be below that of links of other rows.
    """

    bitext: str
    method: str
    lines: int
    links: int
    lines_without_links: int
    source: LinkSide
    target: LinkSide
    quality: Mapping[str, Estimate] = field(default_factory=dict)
    at_chance: bool | None = None
    examples: Sequence[LinkedSentence] = ()


def _links(run: Run) -> WordLinks:
    links = run.attachments["links"]
    assert isinstance(links, WordLinks)
    return links


def _finding(links: WordLinks) -> Finding:
    about = {"links": links.links, "lines": links.lines, "without": links.lines_without_links,
             "source": links.source.unlinked_share.value, "target": links.target.unlinked_share.value}  # fmt: skip
    error = links.quality.get("aer")
    if error is None:
        return Finding(kind="word_links", verdict=Verdict.NOT_TESTED, about=about)
    verdict = {True: Verdict.AT_CHANCE, False: Verdict.LOWER, None: Verdict.NOT_TESTED}[links.at_chance]
    basis = Basis(over="sentence pairs", test="bootstrap interval against the links of other rows")
    return Finding(kind="word_links", verdict=verdict, about=about, estimate=error, basis=basis)


@sentence_of("word_links", topic="Word links")
def _links_sentence(finding: Finding) -> str:
    about, error = finding.about, finding.estimate
    if error is None:
        return (
            f"{pluralize(about['links'], 'link')} in {pluralize(about['lines'], 'line')}: "
            f"{format_share(about['source'])} of source words and {format_share(about['target'])} of target words have "
            "no link. Without gold links (--gold) their accuracy is not known."
        )
    interval = format_interval(error.ci_low, error.ci_high, "decimal3")
    number = f"the alignment error rate is {format_number(error.value, 3)} {interval}".rstrip()
    start = {
        Verdict.AT_CHANCE: "The links are no better than chance: ",
        Verdict.LOWER: "The links agree with the gold links better than chance: ",
    }.get(finding.verdict, "There is no chance level to compare with: ")
    null = "" if error.null_value is None else f", {format_number(error.null_value, 3)} with the links of other rows"
    return f"{start}{number}{null}."


def _headline(run: Run) -> Headline:
    links = _links(run)
    answer = _finding(links)
    figures = [
        KeyFigure(label=QUALITY_TITLES[name], estimate=estimate, display="decimal3")
        for name, estimate in links.quality.items()
        if name in ("aer", "f1")
    ]
    for label, side in (("Source", links.source), ("Target", links.target)):
        remark = f"{side.unlinked:,} of {side.words:,}"
        figures.append(KeyFigure(label=f"{label} words without a link", estimate=side.unlinked_share, remark=remark))
    without = "" if not links.lines_without_links else (
        f"; {pluralize(links.lines_without_links, 'line')} without a link, lines left out included"
    )  # fmt: skip
    counts = f"{pluralize(links.lines, 'line')}, {pluralize(links.links, 'link')}"
    advice = "Adjust a model with these links: `interlingua adjust MODEL --bitext XX=FILE --links XX=LINKS`."
    if answer.verdict is Verdict.AT_CHANCE:
        advice = "Check that both sides are in the same order, or train on more text (--also)."
    return Headline(
        title=f"How well are the words of {escape_control_characters(links.bitext)} linked?",
        answer=answer,
        figures=tuple(figures),
        measured=f"{counts}{without}; aligner: {links.method}.",
        next_step=advice,
    )


def _sections(run: Run) -> list[Section]:
    links = _links(run)
    sections = []
    if links.quality:
        sections.append(
            Section(name="link-quality", title="Agreement with gold links", tables=(_quality_table(links),))
        )
    if links.examples:
        charts: dict[tuple[str, ...], Chart] = {(_menu_text(each),): _flow_chart(each) for each in links.examples}
        sections.append(
            Section(
                name="linked-sentences",
                title="The first sentences",
                text=("A band joins two words that are linked. A word without a band has no link.",),
                charts=charts_under_menus("linked-sentence", ("Sentence",), charts),
            )
        )
    return sections


def _quality_table(links: WordLinks) -> Table:
    return Table(
        name="link-quality",
        title="Agreement with gold links",
        columns=(
            Column(title="measure"),
            Column(title="value", display="decimal3", interval=True),
            Column(title="with links of other rows", display="decimal3"),
            Column(title="sentence pairs", display="count"),
        ),
        rows=tuple(
            (QUALITY_TITLES.get(name, name), estimate, estimate.null_value, estimate.n)
            for name, estimate in links.quality.items()
        ),
        note="Och & Ney 2003, section 4. An AER of 0 is best; precision, recall and F1 of 1. 95 % bootstrap intervals "
        "over sentence pairs.",
        terminal=True,
    )


def _menu_text(example: LinkedSentence) -> str:
    text = escape_control_characters(" ".join(example.source_words))
    return f"{example.line}: {text if len(text) <= MAX_MENU_LETTERS else text[:MAX_MENU_LETTERS] + '…'}"


def _flow_chart(example: LinkedSentence) -> FlowChart:
    """Each link as a band of one width; a word is as wide as all of its bands."""
    share = 1 / max(len(example.links), 1)
    counts = [Counter(link[side] for link in example.links) for side in (0, 1)]
    source, target = (
        tuple((escape_control_characters(word), share * counts[side][place]) for place, word in enumerate(words))
        for side, words in enumerate((example.source_words, example.target_words))
    )
    return FlowChart(
        name=f"linked-sentence-{example.line}",
        title=f"Line {example.line}",
        note=f"{pluralize(len(example.links), 'link')} of {len(source)} and {len(target)} words.",
        source_name="source",
        target_name="target",
        source_words=source,
        target_words=target,
        flows=tuple(WordFlow(source=a, target=b, share=share) for a, b in example.links),
    )


def _numbers(run: Run) -> dict[str, Estimate]:
    """The figures of the first screen."""
    return {figure.label: figure.estimate for figure in _headline(run).figures if figure.estimate is not None}


SUBJECT = Subject(
    name="links",
    applies=lambda run: isinstance(run.attachments.get("links"), WordLinks),
    sections=_sections,
    headline=_headline,
    numbers=_numbers,
)
