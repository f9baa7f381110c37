"""A transfer study as a terminal shows it: the answer in words, a table a metric, then the distances of words."""

from __future__ import annotations

from rich.console import Console

from interlingua.report.runs import Run
from interlingua.report.screen import print_answer, print_table
from interlingua.report.transfer import distance_lines, metrics, score_table
from interlingua.report.transfer_page import transfer_answer


def render_transfer(run: Run, console: Console) -> None:
    """Print the answer, a table for each metric that is shown, and one of distances where they were measured.

    `run.more` has `scores` and `distances`.
    """
    scores, distances = run.more.get("scores") or [], run.more.get("distances") or []
    print_answer(transfer_answer(run), console)
    tables = [score_table(scores, run.about, metric) for metric in metrics(scores)]
    for each in (*tables, *([distance_lines(distances)] if distances else [])):
        print_table(each, console)
