"""`build_report`: runs in, one report out; which command made their records does not matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from interlingua.record import Estimate
from interlingua.report.kit.section import Headline, Run, Section, Subject

SUBJECTS = ("published", "transfer", "adjustment", "attribution", "geometry", "alignment", "training")
"""The modules of `report.subjects`, in the order in which they may answer for a run and follow each other on a page."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What every renderer renders: a first screen and sections."""

    command: str
    """`audit`, `study`; `report` of several runs."""
    headline: Headline
    sections: tuple[Section, ...]
    runs: tuple[Run, ...]

    def to_dict(self) -> dict[str, Any]:
        """Title, findings and key figures as plain data for JSON."""
        return {
            "title": self.headline.title,
            "answer": self.headline.answer.to_dict(),
            "figures": [
                {
                    "label": figure.label,
                    "text": figure.text,
                    "remark": figure.remark,
                    "estimate": None if figure.estimate is None else figure.estimate.to_dict(),
                }
                for figure in self.headline.figures
            ],
            "measured": self.headline.measured,
            "next_step": self.headline.next_step,
            "findings": [finding.to_dict() for finding in self.findings()],
        }

    def findings(self) -> Iterator[Any]:
        """All findings, those of the first screen first."""
        yield from self.headline.findings
        for section in self.sections:
            yield from section.findings


@cache
def subjects() -> tuple[Subject, ...]:
    """All subjects, in their order."""
    found: list[Subject] = [import_module(f"interlingua.report.subjects.{name}").SUBJECT for name in SUBJECTS]
    return tuple(found)


def applying(run: Run) -> list[Subject]:
    """The subjects that a run has records of."""
    return [subject for subject in subjects() if subject.applies(run)]


def run_headline(run: Run) -> Headline | None:
    """The first screen of one run: of the first subject that answers for it."""
    return next((headline for subject in applying(run) if (headline := subject.headline(run)) is not None), None)


def run_sections(run: Run) -> list[Section]:
    """All sections of one run, settings and provenance last."""
    return [section for subject in applying(run) for section in subject.sections(run)]


def run_numbers(run: Run) -> Mapping[str, Estimate]:
    """What a comparison of runs compares."""
    return {name: estimate for subject in applying(run) for name, estimate in subject.numbers(run).items()}


def build_report(runs: Sequence[Run], *, title: str = "") -> Report:
    """The report of one run, or the comparison of several. `title` stands in the place of the title made for it."""
    raise NotImplementedError
