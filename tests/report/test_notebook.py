from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from interlingua.report.kit.notebook import ReportedResult, summary_html
from interlingua.report.kit.page import render_page
from interlingua.report.report import Report
from sample_reports import HOSTILE, sample_report


@dataclass(frozen=True)
class Result(ReportedResult):
    text: str = ""
    folder: Path | None = None

    def report(self) -> Report:
        return sample_report(self.text)

    @property
    def page_file(self) -> Path | None:
        return None if self.folder is None else self.folder / "report.html"


def test_a_result_shows_its_verdict_figures_and_findings_in_a_few_kilobytes() -> None:
    shown = Result(folder=Path("runs/an audit"))._repr_html_()
    assert len(shown.encode()) < 30_000
    for text in (
        "How well does lab/small align",
        "3 are aligned",
        "36.0",
        "Weak languages",
        "runs/an%20audit/report.html",
    ):
        assert text in shown
    assert "<script" not in shown
    assert "<iframe" not in shown


@pytest.mark.parametrize("text", [HOSTILE, "न" * 100_000])
def test_texts_of_users_are_neither_markup_nor_too_long(text: str) -> None:
    shown = summary_html(sample_report(text), Path(text[:99]))
    assert len(shown.encode()) < 30_000
    assert not re.search(r"<(script|img)", shown)
    assert "\u202e" not in shown


def test_the_page_is_shown_on_demand_in_a_frame_of_its_own() -> None:
    frame = Result().show(height=500)
    shown = frame._repr_html_()
    assert shown.startswith('<iframe srcdoc="')
    assert 'height="500"' in shown
    assert frame.page == render_page(sample_report())
    assert len(repr(frame)) < 200


def test_a_summary_is_one_line_per_finding() -> None:
    lines = Result().summary().splitlines()
    assert "3 are aligned" in lines[0]
    assert [line.partition(". ")[0] for line in lines[1:]] == ["Weak languages"]


def test_a_result_without_a_report_is_no_result() -> None:
    with pytest.raises(TypeError, match="abstract"):
        ReportedResult()  # type: ignore[abstract]
