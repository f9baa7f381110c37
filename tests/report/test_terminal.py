from __future__ import annotations

import io
import random
import re
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from interlingua.record import Estimate
from interlingua.report import report as assembly
from interlingua.report.kit.section import Section, Subject
from interlingua.report.kit.table import Column, Table
from interlingua.report.kit.terminal import (
    MAX_TERMINAL_ROWS,
    console,
    describe_curve,
    fit_table,
    print_report,
    sparkline,
    wrap_words,
)
from interlingua.report.report import Report, build_report
from sample_reports import HOSTILE, languages_table, sample_report, sample_run


def printed(report: Report, *, width: int = 80, encoding: str = "utf-8", **options: Any) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    screen = console(stream)
    screen.width = width
    print_report(report, screen, **options)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


def report_of(monkeypatch: pytest.MonkeyPatch, *tables: Table) -> Report:
    sections = [Section(name="s", title="S", tables=tables)]
    subject = Subject(name="s", applies=lambda run: True, sections=lambda run: sections)
    monkeypatch.setattr(assembly, "subjects", lambda: (subject,))
    return build_report([sample_run()])


def test_the_verdict_comes_first_and_the_next_step_last() -> None:
    text = printed(sample_report())
    flat = " ".join(text.split())
    order = [
        "How well does lab/small align", "3 are aligned", "Sentences that retrieve their translation",
        "600 sentences in 6", "Weak languages.", "Spanish", "Next: Adjust the model",
        "interlingua adjust lab/small --bitext zh=talks.en-zh.tsv",
    ]  # fmt: skip
    places = [flat.index(part) for part in order]
    assert places == sorted(places)
    assert text.rstrip().endswith("zh=talks.en-zh.tsv")
    assert text.count("is below the median") == 1
    assert all(cell_len(line) <= 80 for line in text.splitlines())


def test_only_tables_for_a_terminal_are_printed_unless_all_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = (Column(title="n"),)
    long = Table(name="long", title="Long", columns=columns, rows=tuple((at,) for at in range(99)), terminal=True)
    hidden = Table(name="hidden", title="Hidden", columns=columns, rows=((1,),))
    report = report_of(monkeypatch, long, hidden)
    short = printed(report)
    assert "Hidden" not in short
    assert f"{99 - MAX_TERMINAL_ROWS} more rows are in the files" in short
    full = printed(report, full=True)
    assert "Hidden" in full
    assert re.search(r"^98$", full, re.MULTILINE)


def words_of(table: Table) -> set[str]:
    cells = [cell for row in table.rows for cell in row if isinstance(cell, str)]
    return {word for text in [*cells, *(column.title for column in table.columns)] for word in text.split()}


@pytest.mark.parametrize("width", [40, 60, 80, 132])
@pytest.mark.parametrize("seed", range(12))
def test_tables_fit_any_width_without_breaking_a_word_or_losing_a_cell(width: int, seed: int) -> None:
    draw = random.Random(seed)
    alphabet = "abcdefghijklmnopqrst语言模型наречие"
    text = lambda most: " ".join(  # noqa: E731
        "".join(draw.choice(alphabet) for _ in range(draw.randint(1, 7))) for _ in range(draw.randint(1, most))
    )
    count = draw.randint(1, 12)
    columns = tuple(
        Column(title=text(4), display=draw.choice(("text", "percent", "decimal3")), interval=draw.random() < 0.7)
        for _ in range(count)
    )
    rows = tuple(
        tuple(
            text(6) if column.display == "text" else Estimate(value=draw.random(), ci_low=0.1, ci_high=0.9)
            for column in columns
        )
        for _ in range(6)
    )
    table = Table(name="t", title="T", columns=columns, rows=rows)
    blocks = fit_table(table, width)
    lines = [line for block in blocks for _, line in block]
    assert max(map(cell_len, lines)) <= width
    assert words_of(table) <= set(" ".join(lines).split())


def test_intervals_are_dropped_before_anything_is_split() -> None:
    def text(width: int) -> str:
        return "\n".join(line for block in fit_table(languages_table(), width) for _, line in block)

    assert "[47.0, 53.0]" in text(90)
    assert "[47.0, 53.0]" not in text(60)
    assert len(fit_table(languages_table(), 60)) == 1
    assert len(fit_table(languages_table(), 30)) > 1
    assert text(30).count("Spanish") == len(fit_table(languages_table(), 30))


def test_wide_characters_keep_columns_in_line() -> None:
    rows = (("中文汉字", 1), ("English", 22), ("हिन्दी", 333))
    table = Table(name="t", title="T", columns=(Column(title="Language"), Column(title="n")), rows=rows)
    lines = [line for _, line in fit_table(table, 80)[0]]
    assert len({cell_len(line) for line in lines}) == 1


def test_a_word_wider_than_the_screen_is_cut_and_nothing_hangs() -> None:
    assert max(map(cell_len, wrap_words("语" * 10_000, 7))) <= 7
    huge = Table(name="t", title="T", columns=(Column(title="x" * 999), Column(title="n")), rows=(("न" * 999, 1),) * 3)
    assert max(cell_len(line) for block in fit_table(huge, 20) for _, line in block) <= 20
    for width in (1, 2, 5):
        assert fit_table(languages_table(), width)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_terminal_can_print_any_report(encoding: str) -> None:
    text = printed(sample_report(HOSTILE + "\x1b[31m\x07"), encoding=encoding)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "<script>alert(1)</script>" in text


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_no_line_is_wider_than_the_screen_in_letters_that_are_replaced_either(encoding: str) -> None:
    for line in printed(sample_report(), encoding=encoding).splitlines():
        assert cell_len(line) <= 80 or line.startswith("    interlingua")


@pytest.mark.reliability("terminal escapes in an input")
def test_markup_and_escapes_of_texts_are_shown_and_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = printed(sample_report("[red]x[/red] [link=http://a.b]\x1b]0;title\x07\r\x9b2J"))
    assert "[red]x[/red]" in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


def test_no_color_is_minded_and_a_terminal_with_colours_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(**options: Any) -> str:
        out = io.StringIO()
        print_report(sample_report(), Console(file=out, width=80, force_terminal=True, **options))
        return out.getvalue()

    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[1m" in shown(color_system="standard")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", shown(no_color=True))


def test_a_sparkline_reaches_its_own_maximum_and_both_ends_are_printed() -> None:
    assert sparkline([0.05, 0.18]) == "▃█"
    assert sparkline([]) == ""
    assert sparkline([None, None]) == "  "
    assert sparkline([-1.0, 0.0, 1.0]) == "▁▅█"
    assert describe_curve([0.05, 0.06, 0.18], "percent") == "5.0\xa0% ▃▃█ 18.0\xa0%"
    curve = next(line for line in printed(sample_report()).splitlines() if line.startswith("Chinese  "))
    assert "█" in curve
    assert curve.count("%") == 3
