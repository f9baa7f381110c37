"""Progress where stderr is no terminal: a line a tenth, and after a minute of silence."""

from __future__ import annotations

import time

import pytest

from interlingua.cli.progress import progress_bars


def test_a_name_with_brackets_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # As in a terminal.
    with progress_bars() as tell:
        tell("finetune a[/b]<b>", 1, 2)


def test_a_log_gets_a_line_a_tenth_and_after_a_minute_of_silence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: seconds[0])
    with progress_bars() as tell:
        for step in range(1, 1001):
            tell("steps", step, 1000)
        for step in range(1, 51):  # Not a tenth, in eight minutes.
            seconds[0] += 10
            tell("slow", step, 1000)
    lines = capsys.readouterr().err.splitlines()
    tenths = [f"steps: {step}/1000" for step in (1, *range(100, 1001, 100))]
    assert lines == [*tenths, *(f"slow: {step}/1000" for step in range(1, 51, 6))]
