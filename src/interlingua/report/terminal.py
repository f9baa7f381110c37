"""Records to what a terminal shows: one line a language, then the answer in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from interlingua.report.answer import CENTRED, RAW, answer
from interlingua.report.readings import Reading, Readings, Record, gather
from interlingua.report.wording import language_name, number, percent, visible

BARS = "▁▂▃▄▅▆▇█"


def render(records: Iterable[Record], run: Mapping[str, Any], console: Console) -> None:
    """Print the languages, best first, and the answer in words; texts are shown, never read as markup."""
    found = gather(records)
    table = language_lines(found, run)
    if table.row_count:
        console.print(table)
    for finding in answer(found, run):
        console.print(Text.assemble((f"{finding.topic}. ", "bold"), visible(finding.text)))


def render_training(summary: Mapping[str, Any], console: Console) -> None:
    """Print what a pretraining run made: its size, what it saw, and held-out retrieval at the best layer."""
    metrics = summary["metrics"][-1] if summary["metrics"] else {}
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_row("architecture", f"{summary['architecture']}, {summary['parameters']:,} parameters")
    table.add_row("languages", Text(" ".join(summary["languages"])))
    table.add_row("vocabulary", f"{summary['vocabulary']:,}")
    table.add_row("steps", f"{summary['steps']:,}" + ("" if summary["finished"] else ", not finished"))
    table.add_row("tokens seen", f"{summary['tokens_seen']:,}")
    if "loss" in metrics:
        table.add_row("loss", number(metrics["loss"]))
    if "held_out_loss" in metrics:
        table.add_row("held-out loss", number(metrics["held_out_loss"]))
    for variant in ("raw", "centred"):
        if variant in metrics:
            table.add_row(f"P@1 {variant}", f"{percent(metrics[variant])} at layer {metrics[f'{variant}_layer']}")
    console.print(table)
    if left := lines_left_out(summary.get("lines_of_text", {})):
        console.print(left)


def lines_left_out(lines: Mapping[str, Mapping[str, int]]) -> Table | None:
    """One row a language: lines kept, and left out by each rule; None where the text was taken as it is."""
    rules = list(dict.fromkeys(rule for counts in lines.values() for rule in counts))
    if len(rules) < 2:
        return None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", title_style="bold")
    table.title = "Lines of text: kept, and left out by each rule"
    table.add_column("language")
    for rule in rules:
        table.add_column(rule, justify="right")
    for code, counts in lines.items():
        table.add_row(Text(code), *(f"{counts[rule]:,}" for rule in rules))
    return table


def language_lines(found: Readings, run: Mapping[str, Any]) -> Table:
    """One row a language: retrieval at the best layer (mean over its pairs, both directions) and what explains it."""
    layer = found.best_layer()
    key = found.headline()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", title_style="bold", caption_justify="left")
    if key is None:
        return table
    table.title = Text(f"{visible(str(run.get('model') or 'model'))}, layer {layer} (0 is the embedding output)")
    layers = found.layers(*key)
    columns = {
        "retrieval": ("retrieval", RAW, percent),
        "centred": ("retrieval", CENTRED, percent),
        "CKA": ("cka", "debiased", number),
    }
    kept = {head: column for head, column in columns.items() if found.at(*column[:2], layer)}
    fertility = {code: found.fertility(code) for code in found.languages}
    heads = [*kept, "chance", *(["pieces/word"] if any(fertility.values()) else [])]
    table.add_column("language")
    for head in heads:
        table.add_column(head, justify="right")
    if len(layers) > 1:
        table.add_column(f"layers {layers[0]}–{layers[-1]}")
    each = {code: reading for code in found.languages if (reading := found.language(*key, layer, code))}
    for code in sorted(each, key=lambda code: -each[code].value):
        cells = [
            show(_value(found.language(measure, variant, layer, code))) for measure, variant, show in kept.values()
        ]
        cells.append(percent(each[code].null) if key[0] == "retrieval" else number(each[code].null))
        cells += [number(_value(fertility[code]))] if "pieces/word" in heads else []
        curve = [_value(found.language(*key, own, code)) for own in layers]
        cells += [sparkline(curve)] if len(layers) > 1 else []
        table.add_row(Text(language_name(code, run)), *(Text(cell) for cell in cells))
    return table


def sparkline(values: Sequence[float | None]) -> str:
    """One bar a value from 0 to 1, a space where there is none; shares outside are cut to the ends.

    >>> sparkline([0.0, 0.5, None, 1.0])
    '▁▅ █'
    """
    return "".join(" " if v is None else BARS[min(max(int(v * len(BARS)), 0), len(BARS) - 1)] for v in values)


def _value(reading: Reading | None) -> float | None:
    return None if reading is None else reading.value
