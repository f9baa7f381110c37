"""An audit as a terminal shows it: one line a language, layers as sparklines, a shaded table, the answer in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from interlingua.report.answer import CENTRED, RAW, answer
from interlingua.report.evidence import Peak, above_null, apart_from_null, at_chance, peak
from interlingua.report.figures import cluster_order
from interlingua.report.panels import PANELS
from interlingua.report.readings import Reading, Readings, Record, gather, mean, tied_for_first
from interlingua.report.screen import plain_table, print_titled, shaded_cell, sparkline, stretched
from interlingua.report.wording import (
    UNRANKED,
    language_name,
    listing,
    number,
    percent,
    share_percent,
    variant_name,
    visible,
)
from interlingua.stats.chance import LEVEL

_LEVEL, _AT_NULL = "–", "null"
_NO_LAYER = {
    _LEVEL: "–: no layer stands out, all read within the interval of the best.",
    _AT_NULL: "null: no layer differs from what the measure reads without any relation.",
}
"""What stands in place of the layer where a measure is best, and why."""


def render(records: Iterable[Record], run: Mapping[str, Any], console: Console) -> None:
    """Print languages, layers, pairs, and the answer in words; texts are shown, never read as markup."""
    found = gather(records)
    for table in (language_lines(found, run), layer_lines(found), pair_cells(found, width=console.width)):
        if table.row_count:
            print_titled(table, console)
    for finding in answer(found, run):
        console.print(Text.assemble((f"{finding.topic}. ", "bold"), visible(finding.text)))


def render_training(summary: Mapping[str, Any], console: Console) -> None:
    """Print what a pretraining run made: what was not learnt first, its size, what it saw, loss and retrieval."""
    metrics = summary["metrics"][-1] if summary["metrics"] else {}
    for words in training_findings(summary).values():
        console.print(Text(words))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_row("architecture", f"{summary['architecture']}, {summary['parameters']:,} parameters")
    table.add_row("languages", Text(" ".join(summary["languages"])))
    table.add_row("vocabulary", f"{summary['vocabulary']:,}")
    table.add_row("steps", f"{summary['steps']:,}" + ("" if summary["finished"] else ", not finished"))
    table.add_row("tokens seen", f"{summary['tokens_seen']:,}")
    if "loss" in metrics:
        even = number(math.log(summary["vocabulary"]))
        table.add_row("loss", f"{number(metrics['loss'])}, guessing evenly {even}")
    losses = [each.get("loss") for each in summary["metrics"]]
    if sum(loss is not None for loss in losses) > 2:
        table.add_row("loss over time", Text(stretched(losses[:: max(len(losses) // 60, 1)])))
    if "held_out_loss" in metrics:
        plain = f", word frequencies alone {number(metrics['unigram_loss'])}" if "unigram_loss" in metrics else ""
        table.add_row("held-out loss", f"{number(metrics['held_out_loss'])}{plain}")
    elif "loss" in metrics:
        table.add_row("held-out loss", "no text was held out (data.held_out), so nothing is known of new text")
    for variant in ("raw", "centred"):
        if variant in metrics:
            shown = f"{percent(metrics[variant])} at layer {metrics[f'{variant}_layer']}"
            if f"{variant}_chance" in metrics:
                p = metrics[f"{variant}_p"]
                shown += f", chance {percent(metrics[f'{variant}_chance'])}{'' if p < LEVEL else ' (not above chance)'}"
            table.add_row(f"P@1 {variant}", shown)
    console.print(table)
    if left := lines_left_out(summary.get("lines_of_text", {})):
        console.print(left)


def training_findings(summary: Mapping[str, Any]) -> dict[str, str]:
    """What a pretraining did not learn, in words: `text`, `translations`; nothing where they clear their chance levels.

    The level of the loss is that of word frequencies on the held-out text, or where none was held out that of guessing
    evenly over the vocabulary, ln(its size).
    """
    metrics, told = summary["metrics"][-1] if summary["metrics"] else {}, {}
    if "unigram_loss" in metrics:
        ours, plain = metrics["held_out_loss"], metrics["unigram_loss"]
        if ours >= plain or metrics["unigram_p"] >= LEVEL:
            told["text"] = (
                f"The model learnt no more than word frequencies: its held-out loss is {number(ours)}, that of word "
                f"frequencies alone {number(plain)}. Train longer, or at another learning rate."
            )
    elif "loss" in metrics and metrics["loss"] >= math.log(summary["vocabulary"]):
        told["text"] = (
            f"The model learnt nothing of the text: its loss is {number(metrics['loss'])}, that of guessing evenly "
            f"{number(math.log(summary['vocabulary']))}. Train longer, or at another learning rate."
        )
    known = [variant for variant in ("raw", "centred") if f"{variant}_p" in metrics]
    if known and all(metrics[f"{variant}_p"] >= LEVEL for variant in known):
        best = max(known, key=lambda variant: metrics[variant])
        told["translations"] = (
            f"Translations are not found above chance at any layer: P@1 is {percent(metrics[best])} at most, and "
            f"chance finds {percent(metrics[f'{best}_chance'])}."
        )
    return told


def lines_left_out(lines: Mapping[str, Mapping[str, int]]) -> Table | None:
    """One row a language: lines kept, and left out by each rule; None where the text was taken as it is."""
    rules = list(dict.fromkeys(rule for counts in lines.values() for rule in counts))
    if len(rules) < 2:
        return None
    table = plain_table("Lines of text: kept, and left out by each rule")
    table.add_column("language")
    for rule in rules:
        table.add_column(rule, justify="right")
    for code, counts in lines.items():
        table.add_row(Text(code), *(f"{counts[rule]:,}" for rule in rules))
    return table


def language_lines(found: Readings, run: Mapping[str, Any]) -> Table:
    """One row a language: retrieval at the best layer (mean over its pairs, both directions) and what explains it."""
    key, top = found.headline(), peak(found)
    table = plain_table("")
    if key is None or top is None:
        return table
    layer = top.layer
    said = "; no layer is better than chance" if top.chance else "; no layer stands out"
    more = "" if top.stands_out or (top.output and not top.chance) else said
    where = f"layer {found.name(layer)} (0 is the embedding output){more}"
    table.title = Text(f"{visible(str(run.get('model') or 'model'))}, {where}")
    layers = found.layers(*key)
    columns = {
        "retrieval": ("retrieval", RAW, share_percent),
        "centred": ("retrieval", CENTRED, share_percent),
        "CKA": ("cka", "debiased", number),
    }
    kept = {head: column for head, column in columns.items() if found.at(*column[:2], layer)}
    fertility = {code: found.fertility(code) for code in found.languages}
    heads = [*kept, "chance", *(["pieces/word"] if any(fertility.values()) else [])]
    table.add_column("language")
    for head in heads:
        table.add_column(head, justify="right")
    if len(layers) > 1:
        table.add_column(f"layers {found.span(layers)}")
    each = {code: reading for code in found.languages if (reading := found.language(*key, layer, code))}
    ranked = found.equal_candidates()
    for code in sorted(each, key=lambda code: -each[code].value) if ranked else each:
        cells = [
            show(_value(found.language(measure, variant, layer, code))) for measure, variant, show in kept.values()
        ]
        cells.append(share_percent(each[code].null) if key[0] == "retrieval" else number(each[code].null))
        cells += [number(_value(fertility[code]))] if "pieces/word" in heads else []
        curve = [_value(found.language(*key, own, code)) for own in layers]
        cells += [sparkline(curve)] if len(layers) > 1 else []
        table.add_row(Text(language_name(code, run)), *(Text(cell) for cell in cells))
    lost = [language_name(code, run) for code in each if not above_null(each[code])]
    below = f"No better than chance: {'all languages' if len(lost) == len(each) else listing(lost)}." if lost else ""
    table.caption = Text(
        " ".join(
            [
                *(["Bars run from 0 to 1."] if len(layers) > 1 else []),
                _tied(each, run) if ranked and not lost else "",
                below,
                *([] if ranked else [UNRANKED]),
            ]
        ).strip()
    )
    return table


def _tied(each: Mapping[str, Reading], run: Mapping[str, Any]) -> str:
    """The languages that are tied for first, where there are several."""
    tied = tied_for_first(each) if len(each) > 2 else []
    names = listing([language_name(code, run) for code in sorted(tied, key=lambda code: -each[code].value)])
    return f"Tied for first: {names}." if len(tied) > 1 else ""


def layer_lines(found: Readings) -> Table:
    """One row a measure: its mean over pairs by layer as a sparkline, all from 0 to 1, so that equal bars are equal.

    Stretched to its own range each, noise in the third decimal would look like a curve.
    """
    table = plain_table("Layer by layer")
    for head, justify in (("measure", "left"), ("", "left"), ("layers", "left"), ("least", "right"), ("most", "right")):
        table.add_column(head, justify=justify)  # type: ignore[arg-type]
    table.add_column("best at", justify="right")
    lines = [(measure, variants, title) for measure, variants, title, *_ in PANELS]
    ours = {measure for measure, *_ in lines}
    lines += [(name, tuple(found.variants(name)), name) for name in found.measures() if name not in ours]
    used: set[str] = set()
    for measure, variants, title in lines:
        for variant in variants:
            layers = found.layers(measure, variant)
            top = peak(found, (measure, variant))
            if len(layers) > 1 and top is not None:
                readings = [mean(found.at(measure, variant, layer).values()) for layer in layers]
                line = [reading.value for reading in readings]
                at = _LEVEL if top.flat else best_layers(found, top)
                at = at if any(map(apart_from_null, readings)) else _AT_NULL
                used.add(at)
                bars = sparkline(line, low=min(0.0, *line), high=max(1.0, *line))
                ends = (number(min(line)), number(max(line)), at)
                pool = found.told_pool(measure, variant, top.layer)
                what = variant_name(measure, variant) + (f" ({pool})" if pool else "")
                table.add_row(title, Text(what), Text(bars), *ends)
    words = (
        "Bars run from 0 to 1, or to the greatest value beyond; layer 0 is the embedding output. Best at: the layers "
        "within the interval of the one with the most, of errors, distances and crowding with the least. Among fewer "
        "candidates more is found: shares of different numbers of them are not to be compared."
    )
    table.caption = Text(" ".join([words, *(text for sign, text in _NO_LAYER.items() if sign in used)]))
    return table


def best_layers(found: Readings, top: Peak) -> str:
    """The best layer and those tied with it, in order; of many the first three.

    >>> best_layers(Readings({}, ()), Peak(3, Reading(0.5), (2, 4), (1, 2, 3, 4, 5)))
    '2, 3, 4'
    """
    group = sorted((top.layer, *top.rivals))
    names = [found.name(layer) for layer in group]
    return ", ".join(names) if len(names) < 5 else f"{found.name(top.layer)}, {len(names) - 1} more tied"


def pair_cells(found: Readings, *, width: int) -> Table:
    """Language by language at the best layer, close ones together, shaded; no rows where it does not fit the width."""
    key, layer = found.headline(), found.best_layer()
    readings = found.at(*key, layer) if key else {}
    alike = found.equal_candidates()
    codes = cluster_order(readings) if alike else list(dict.fromkeys(str(code) for pair in readings for code in pair))
    what = "retrieval" if key and key[0] == "retrieval" else "CKA"
    poor = bool(readings) and at_chance(found)
    where = f"{found.name(layer)}{', no better than chance' if poor else ''}"
    title = f"Language by language: {what}, percent, at layer {where}"
    table = plain_table(title, f"Rows are sources. Shades run from 0 to 100.{'' if alike else f' {UNRANKED}'}")
    longest = max((len(code) for code in codes), default=0)
    if len(codes) < 3 or longest + 2 + len(codes) * 5 > width:
        return Table()
    table.padding, table.box = (0, 0), None
    table.add_column("")
    for code in codes:
        table.add_column(Text(visible(code)[:4]), justify="right", min_width=4)
    for row in codes:
        cells = [_value(readings.get((row, column)) or readings.get((column, row))) for column in codes]
        table.add_row(Text(f"{visible(row)} "), *(shaded_cell(cell, low=0.0, high=1.0) for cell in cells))
    return table


def _value(reading: Reading | None) -> float | None:
    return None if reading is None else reading.value
