"""A study as a terminal shows it: its tables, long ones cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from interlingua.report.tables import Table

_BESIDE = "beside-the-paper"
_NARROW = ("where", "paper", "ours")  # What the other columns say is in `where`, too.


def render_study(tables: Sequence[Table], console: Console, *, most: int = 40) -> None:
    """Print the tables, our own scores first, long ones cut; differences are left to the files."""
    for table in sorted(tables, key=lambda table: table.name == _BESIDE):
        if table.name.endswith("-differences"):
            continue
        shown = [number for number, head in enumerate(table.columns) if table.name != _BESIDE or head in _NARROW]
        grid = Grid(
            box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", title_style="bold", caption_justify="left"
        )
        grid.title = Text(table.title)
        left = len(table.rows) - most
        grid.caption = Text(table.caption + (f" {left} more rows are in the files." if left > 0 else ""))
        numeric = table.numeric()
        for number in shown:
            justify: Literal["left", "right"] = "right" if numeric[number] else "left"
            grid.add_column(Text(table.columns[number]), justify=justify, overflow="fold")
        for row in table.text()[:most]:
            grid.add_row(*(Text(row[number]) for number in shown))
        console.print(grid)
