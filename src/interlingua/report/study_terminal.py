"""A study as a terminal shows it: its tables, long ones cut."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from interlingua.report.tables import Table


def render_study(tables: Sequence[Table], console: Console, *, most: int = 40) -> None:
    """Print the tables, long ones cut; differences are left to the files."""
    for table in tables:
        if table.name.endswith("-differences"):
            continue
        grid = Grid(
            box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", title_style="bold", caption_justify="left"
        )
        grid.title = Text(table.title)
        left = len(table.rows) - most
        grid.caption = Text(table.caption + (f" {left} more rows are in the files." if left > 0 else ""))
        for head, numeric in zip(table.columns, table.numeric(), strict=True):
            grid.add_column(Text(head), justify="right" if numeric else "left", overflow="fold")
        for row in table.text()[:most]:
            grid.add_row(*(Text(cell) for cell in row))
        console.print(grid)
