"""An adjustment as a terminal shows it: the answer in words, before and after for each language, layers as bars."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from interlingua.counting import counted
from interlingua.report.adjustment import CAPTION, Found, adjustment_lines
from interlingua.report.adjustment_page import adjustment_answer
from interlingua.report.runs import Run
from interlingua.report.screen import plain_table, print_answer, sparkline
from interlingua.report.wording import language_name


def render_adjustment(run: Run, console: Console) -> None:
    """Print the answer, a table of before and after for each language, and how to read it."""
    summary: Found = run.about
    if summary["languages"]:
        print_answer(adjustment_answer(run), console, facts=False)
    after = "after" in summary
    for code, about in summary["languages"].items():
        table = plain_table(
            f"{language_name(code, summary)}: {about['held_out']:,} held-out sentences, layer {summary['layer']} "
            "(0 is the embedding output)"
        )
        table.add_column("")
        for head in ("before", "after")[: 1 + after]:
            table.add_column(head, justify="right")
        if after:
            table.add_column("change")
        for line in adjustment_lines(summary, code):
            table.add_row(Text(line.name), *((line.before, line.after, line.change) if after else (line.before,)))
        curves = [_curve(summary[when][code]["retrieval"]) for when in ("before", "after")[: 1 + after]]
        table.add_row("both arrows by layer, means removed, 0 to 100 %", *(sparkline(curve) for curve in curves))
        console.print(table)
        console.print(f"trained on {counted(about['rows'], 'sentences')} with {counted(about['pairs'], 'word pairs')}")
    if summary["languages"]:
        console.print(Text(CAPTION, style="dim italic"))
    finished = "" if summary["finished"] else ", not finished: run the same command again"
    console.print(f"{summary['steps']:,} of {summary['of_steps']:,} steps{finished}")


def _curve(by_layer: Found) -> list[float]:
    """Mean P@1 of both directions at every layer, language means removed."""
    ways = ("p@1/cosine/centred", "p@1/cosine/centred/backward")
    return [sum(by_layer[layer][way]["value"] for way in ways) / 2 for layer in sorted(by_layer, key=int)]
