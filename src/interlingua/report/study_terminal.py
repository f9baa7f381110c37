"""A study as a terminal shows it: its tables, long ones cut."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from interlingua.report.papers import cited
from interlingua.report.screen import print_table
from interlingua.report.tables import Table

_BESIDE = "beside-the-paper"
_NARROW = ("where", "paper", "ours")  # What the other columns say is in `where`, too.


def render_study(tables: Sequence[Table], console: Console, *, most: int = 40) -> None:
    """Print the tables, our own scores first, long ones cut; differences are left to the files."""
    shown = [table for table in tables if not table.name.endswith("-differences")]
    for table in sorted(shown, key=lambda table: table.name == _BESIDE):
        print_table(table, console, columns=_NARROW if table.name == _BESIDE else None, most=most)
    for citation in cited(text for table in shown for text in (table.title, table.caption)):
        console.print(Text(citation, style="dim"))
