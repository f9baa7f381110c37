"""A transfer study as a terminal shows it: a table a metric, then the distances of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from interlingua.report.screen import print_table
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
        print_table(each, console)
