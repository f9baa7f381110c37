"""A geometry study as a terminal shows it: what was found in words, then its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from interlingua.report.geometry_tables import all_tables, findings
from interlingua.report.papers import cited
from interlingua.report.screen import print_table

Found = Mapping[str, Any]


def render_geometry(records: Sequence[Found], run: Found, found: Found, console: Console) -> None:
    """Print the findings, then every table."""
    if not records:
        console.print("Nothing has been measured yet: run the same command again.")
    for topic, text in findings(records, run, found):
        console.print(Text.assemble((f"{topic}. ", "bold"), text), soft_wrap=True)
    console.print()
    tables = list(all_tables(records, run, found))
    for each in tables:
        print_table(each, console)
    for citation in cited(each.caption for each in tables):
        console.print(Text(citation, style="dim"))
