"""An adjustment as a terminal shows it: a table of before and after for each language, layers as sparklines."""

from __future__ import annotations

from rich.console import Console

from interlingua.report.adjustment import Found, adjustment_lines
from interlingua.report.screen import plain_table, sparkline
from interlingua.report.wording import visible


def render_adjustment(summary: Found, console: Console) -> None:
    """Print a table of before and after for each language, and what was left out."""
    after = "after" in summary
    for code, about in summary["languages"].items():
        table = plain_table(
            f"{visible(code)}: {about['held_out']:,} held-out sentences, layer {summary['layer']} "
            "(0 is the embedding output)"
        )
        table.add_column("")
        for head in ("before", "after")[: 1 + after]:
            table.add_column(head, justify="right")
        for line in adjustment_lines(summary, code):
            table.add_row(line.name, *((line.before, line.after)[: 1 + after]))
        curves = [_curve(summary[when][code]["retrieval"]) for when in ("before", "after")[: 1 + after]]
        table.add_row("P@1 by layer, means removed, 0 to 100 %", *(sparkline(curve) for curve in curves))
        console.print(table)
        console.print(f"trained on {about['rows']:,} sentences with {about['pairs']:,} word pairs")
    finished = "" if summary["finished"] else ", not finished: run the same command again"
    console.print(f"{summary['steps']:,} of {summary['of_steps']:,} steps{finished}")


def _curve(by_layer: Found) -> list[float]:
    """Mean P@1 of both directions at every layer, language means removed."""
    ways = ("p@1/cosine/centred", "p@1/cosine/centred/backward")
    return [sum(by_layer[layer][way]["value"] for way in ways) / 2 for layer in sorted(by_layer, key=int)]
