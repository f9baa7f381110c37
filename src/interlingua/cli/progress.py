"""Progress of a command on stderr: bars in a terminal, lines elsewhere; and what is kept when it is stopped."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from interlingua.errors import RunInterrupted

Tell = Callable[[str, int, int], None]
"""What stage, how much of it is done, and of how much."""
_SILENCE = 60.0  # seconds: who reads a log wants to know that it goes on


@contextmanager
def resumable(folder: Path | None) -> Iterator[None]:
    """Ctrl-C inside says that the run in `folder` is kept and goes on; without a folder it is any other Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if folder is None:
            raise
        raise RunInterrupted(folder) from stop


@contextmanager
def progress_bars() -> Iterator[Tell]:
    """A progress bar a stage on stderr; elsewhere one line per tenth of it, and one after a minute of silence."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    shown: dict[str, TaskID] = {}
    if not console.is_terminal:
        told: dict[str, tuple[int, float]] = {}

        def line(stage: str, done: int, total: int) -> None:
            tenth, now = 10 * done // max(total, 1), time.monotonic()
            before, spoke = told.get(stage, (-1, now))
            if tenth != before or now - spoke >= _SILENCE:
                told[stage] = tenth, now
                sys.stderr.write(f"{stage}: {done}/{total}\n")

        yield line
        return
    columns = (
        TextColumn("{task.description:<18}", markup=False),  # A name may hold [brackets].
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in shown:
                shown[stage] = bars.add_task(stage, total=total)
            bars.update(shown[stage], completed=done, total=total)

        yield tell
