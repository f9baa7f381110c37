"""What a result shows of itself in a notebook: a short summary by default, and its page by `.show()`."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from interlingua.report.kit.figure import Figure
from interlingua.report.kit.page import render_page
from interlingua.report.kit.section import KeyFigure, split_code
from interlingua.report.kit.wording import escape_control_characters

if TYPE_CHECKING:
    from interlingua.report.report import Report

MAX_FINDINGS = 12
MAX_TEXT = 600
"""Letters of a text of a summary; a name of a user's may be of any length, and a summary is at most 30 kB."""


class ReportedResult(ABC):
    """What every result of a command shows, from its report alone."""

    @abstractmethod
    def report(self) -> Report:
        """The report of this result: findings, tables and charts as objects."""

    @property
    @abstractmethod
    def page_file(self) -> Path | None:
        """The page in the folder of the run; None where nothing was written."""

    def summary(self) -> str:
        """The verdict and the findings as plain text, one per line."""
        report = self.report()
        findings = [f"{topic}. {sentence}" for topic, sentence in _listed_findings(report)]
        return "\n".join([report.headline.answer.sentence, *findings])

    def page(self) -> str:
        """The page as HTML, complete in itself."""
        return render_page(self.report())

    def figure(self, name: str) -> Figure:
        """A chart of the page by its name, to look at or to save; an unknown name is an error that lists the names."""
        return self.report().figure(name)

    def show(self, *, height: int = 800) -> PageFrame:
        """The page in a frame, as the value of a notebook's cell; it is kept in the notebook."""
        return PageFrame(page=self.page(), height=height)

    def _repr_html_(self) -> str:
        return summary_html(self.report(), self.page_file)


@dataclass(frozen=True, kw_only=True)
class PageFrame:
    """A page in a frame of its own, so that neither its style nor the notebook's reaches the other."""

    page: str = field(repr=False)
    height: int = 800

    def _repr_html_(self) -> str:
        page = html.escape(self.page)
        return f'<iframe srcdoc="{page}" width="100%" height="{self.height}" style="border:0"></iframe>'


def _listed_findings(report: Report) -> list[tuple[str, str]]:
    """Topic and sentence of each finding, those of several sections once."""
    return list(dict.fromkeys((finding.topic, finding.sentence) for finding in report.findings()))


def summary_html(report: Report, page_file: Path | None = None) -> str:
    """Title, verdict, key figures, findings and a link to the page, as at most 30 kB of HTML without scripts."""
    head = report.headline
    rows = "".join(
        f'<dt style="opacity:.7">{_text(topic)}</dt><dd style="margin:0 0 .5em">{_text(sentence)}</dd>'
        for topic, sentence in _listed_findings(report)[:MAX_FINDINGS]
    )
    figures = "".join(_figure_html(figure) for figure in head.figures)
    link = "" if page_file is None else (
        f'<p>Page: <a href="{quote(page_file.as_posix())}">{_text(page_file.as_posix())}</a></p>'
    )  # fmt: skip
    return (
        '<div style="max-width:60em;line-height:1.5">'
        f'<p style="margin:0;opacity:.7">{_text(head.title)}</p>'
        f'<p style="font-size:1.25em;margin:.2em 0 .8em"><strong>{_text(head.answer.sentence)}</strong></p>'
        f'<div style="display:flex;flex-wrap:wrap;gap:.5em 2.5em;margin-bottom:.8em">{figures}</div>'
        f'<p style="opacity:.7">{_text(head.measured)}</p><dl>{rows}</dl>{link}'
        '<p style="opacity:.7">The whole page: <code>.show()</code></p></div>'
    )


def _figure_html(figure: KeyFigure) -> str:
    below = ", ".join(filter(None, (figure.interval, figure.context)))
    return (
        f'<div><div>{_text(figure.label)}</div><div style="font-size:1.6em;line-height:1.3">{_text(figure.value)}</div>'
        f'<div style="opacity:.7;font-size:.85em">{_text(below)}</div></div>'
    )


def _text(text: str) -> str:
    """A text as HTML, cut where it is very long, with code where it stands in backticks."""
    safe = escape_control_characters(text)
    cut = safe if len(safe) <= MAX_TEXT else f"{safe[: MAX_TEXT - 1]}…"
    return "".join(
        f"<code>{html.escape(part)}</code>" if is_code else html.escape(part) for part, is_code in split_code(cut)
    )
