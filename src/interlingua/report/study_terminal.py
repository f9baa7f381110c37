"""A study as a terminal shows it: the answer in words, its tables, long ones cut, measures at their best layers."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from interlingua.report.papers import cited
from interlingua.report.runs import Run
from interlingua.report.screen import print_answer, print_table
from interlingua.report.study import MEASURE_HEADS
from interlingua.report.study_answer import peaks, study_answer
from interlingua.report.study_parts import measure_blocks
from interlingua.report.tables import Table
from interlingua.report.transfer import DIFFERENCE_HEADS, SEED_HEADS
from interlingua.report.wording import measure_name, variant_name, visible

_BESIDE = "beside-the-paper"
_NARROW = ("where", "paper", "ours")  # What the other columns say is in `where`, too.


def render_study(run: Run, tables: Sequence[Table], console: Console, *, most: int = 40) -> None:
    """Print the answer, then the tables, our own scores first, long ones cut; differences and seeds are in the files.

    Of measures, whose tables have a row a pair of languages and variant, a summary is printed, and where the rest is.
    """
    print_answer(study_answer(run), console, facts=False)
    measured = [table for table in tables if table.columns == MEASURE_HEADS]
    shown = [
        table
        for table in tables
        if table.columns not in (MEASURE_HEADS, DIFFERENCE_HEADS) and table.columns[: len(SEED_HEADS)] != SEED_HEADS
    ]
    beside = [table for table in shown if table.name == _BESIDE]
    for table in (*(each for each in shown if each.name != _BESIDE), *summaries(run)):
        print_table(table, console, most=most)
    if measured:
        names = ", ".join(f"tables/{table.name}.csv ({len(table.rows)} rows)" for table in measured)
        console.print(Text(f"Every pair of languages and variant: {names}; every layer: records.jsonl.\n"))
    for table in beside:
        print_table(table, console, columns=_NARROW, most=most)
    for citation in cited(text for table in (*shown, *beside) for text in (table.title, table.caption)):
        console.print(Text(citation, style="dim"))


def summaries(run: Run) -> list[Table]:
    """A table a block of measures: one row a model and measure, its mean over pairs at the layer where it is best."""
    heads = ("model", "measure", "best", "layer", "null")
    caption = (
        "Means over pairs of languages and over seeds, at the layer where each is best (errors and distances: lowest). "
        "The layer is chosen on the same data for all alike."
    )
    tables = []
    for (called, between), lines in measure_blocks([run]).items():
        rows = [
            (visible(part.name or str(part.records[0]["model"])), f"{measure_name(measure)}, "
             f"{variant_name(measure, variant)}", reading.value, layer, reading.null)
            for part, found in lines.values()
            for measure, variant, layer, reading in peaks(found)
        ]  # fmt: skip
        title = f"{visible(called)}{', between models' if between else ''}"
        tables.append(Table(f"{called}-summary", title, caption, heads, tuple(rows)))
    return tables
