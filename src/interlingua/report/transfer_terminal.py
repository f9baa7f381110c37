"""A transfer study as a terminal shows it: a table a metric, then the distances of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from interlingua.report.tables import Table as Written
from interlingua.report.transfer import distance_lines, metrics, score_table


def render_transfer(
    scores: Sequence[Mapping[str, Any]],
    distances: Sequence[Mapping[str, Any]],
    run: Mapping[str, Any],
    console: Console,
) -> None:
    """Print a table for each metric that is shown, and one of distances where they were measured."""
    tables = [score_table(scores, run, metric) for metric in metrics(scores)]
    for each in (*tables, *([distance_lines(distances)] if distances else [])):
        _print(each, console)


def _print(written: Written, console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", title_style="bold", caption_justify="left")
    table.title, table.caption = Text(written.title), Text(written.caption)
    for place, head in enumerate(written.columns):
        table.add_column(Text(head), justify="right" if place else "left", overflow="fold")
    for row in written.text():
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
