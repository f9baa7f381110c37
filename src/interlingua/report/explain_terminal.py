"""Explanations as a terminal shows them: the answer, tables, and texts with words shaded by what they matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from interlingua.report.explain import (
    Standing,
    choices_table,
    correlation_table,
    correlations,
    faithfulness_table,
    heads_table,
    shaded,
)
from interlingua.report.explain_page import explain_answer
from interlingua.report.explain_picture import aspects, selected, short_names
from interlingua.report.runs import Run
from interlingua.report.screen import print_answer, print_table
from interlingua.report.tables import Table as Written
from interlingua.report.wording import visible

Found = Mapping[str, Any]
_STRONGEST = 6
_SHADES = {"plus": ((255, 255, 255), (0, 114, 178)), "minus": ((255, 255, 255), (213, 94, 0))}


def render_explanation(records: Sequence[Found], run: Found, console: Console) -> None:
    """Print the answer, then tables of each model: a row a language, since many would not fit a screen as columns."""
    print_answer(explain_answer(Run(run, records)), console)
    further = (
        heads_table(records, run),
        correlation_table(correlations(records, run), run),
        choices_table(records, run),
        faithfulness_table(records, run),
    )
    for model, source in run["models"]:
        name = short_names(run)[model]
        for table in _levels(records, run, model, source):
            print_table(replace(table, title=f"{table.title}: {name}, trained in {source}"), console)
    for table in (each for each in further if each is not None):
        for own in _by_model(table):
            print_table(own, console)


def _levels(records: Sequence[Found], run: Found, model: str, source: str) -> list[Written]:
    """An aspect's consistency beside its controls and the task's score: a row a language."""
    performance = selected(records, "task", run["metric"])
    heads = ("language", "consistency", "random", "shuffled", visible(run["metric"]), "chance")
    caption = (
        "Earth mover's similarity, 0 to 1: flow times cosine, summed; a text beside itself is 1. Random: of random "
        "attributions on the same texts. Shuffled: with other examples' texts."
    )
    tables = []
    for aspect in aspects(records):
        cells = selected(records, "consistency", aspect)
        rows = []
        for code in run["languages"]:
            if (model, source, code) in cells:
                each, score = cells[model, source, code], performance.get((model, source, code))
                reached = (None, None) if score is None else (score["value"], Standing.of([score]).level)
                rows.append((visible(code), each["value"], each["details"]["random"], each["null"], *reached))
        tables.append(Written("levels", f"Consistency of attributions, {visible(aspect)}", caption, heads, tuple(rows)))
    return tables


def _by_model(table: Written) -> list[Written]:
    """The rows of each model apart, its name in the title: a column of names leaves no room for words."""
    models = list(dict.fromkeys(row[0] for row in table.rows))
    return [
        replace(
            table,
            title=f"{table.title}: {model}",
            columns=tuple(head.removesuffix(" attributions") for head in table.columns[1:]),
            rows=tuple(row[1:] for row in table.rows if row[0] == model),
        )
        for model in models
    ]


def render_texts(example: Found, about: Sequence[str], console: Console) -> None:
    """Print one text or two, words shaded by attribution, the strongest of them, and the strongest flows between two.

    The numbers of the strongest are written out for terminals without colours.
    """
    told = shaded(example)
    for side, note in zip(told["sides"], about, strict=True):
        line = Text(f"{visible(side['language'])}  ", style="bold")
        for unit in side["units"]:
            if unit["opens"]:
                line.append("| ", style="dim")
            line.append(unit["text"], style=_style(unit["sign"], unit["strength"]))
            line.append(" ")
        console.print(line, soft_wrap=True)
        console.print(Text(f"    {visible(note)}", style="dim"), soft_wrap=True)
        first = sorted(side["units"], key=lambda unit: -unit["strength"])[:_STRONGEST]
        strongest = ", ".join(f"{unit['text']} {unit['value']}" for unit in first)
        console.print(Text(f"    strongest: {strongest}", style="dim"), soft_wrap=True)
    if len(told["sides"]) < 2:
        return
    numbers = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="strongest flows", title_justify="left")
    for head, justify in (("from", "left"), ("to", "left"), ("share", "right")):
        numbers.add_column(head, justify=justify)  # type: ignore[arg-type]
    for flow in told["flows"]:
        numbers.add_row(Text(flow["from"]), Text(flow["to"]), flow["share"])
    console.print(numbers)
    console.print(Text(f"consistency {told['score']}", style="bold"))


def render_row(sides: Sequence[Found], examples: Sequence[Found], console: Console) -> None:
    """Print what a row is by its files and by the model, then what speaks for each."""
    for side in sides:
        line = Text(f"{visible(side['language'])}  {visible(side['file'])}:{side['line']}  ", style="bold")
        gold, predicted = visible(side["gold"]), visible(side["predicted"])
        if gold == predicted:
            line.append(f"right: {gold}", style="not bold")
        else:
            line.append(f"wrong: the file says {gold}, the model {predicted}", style="not bold")
        console.print(line, soft_wrap=True)
    if not examples:
        console.print("nothing to explain: neither the file nor the model finds anything here")
    for example in examples:
        console.print()
        whose = {"gold": "what the file says", "predicted": "what the model says"}[example["explained"]]
        console.print(Text(f"{visible(example['aspect'])}: {whose}", style="bold"))
        render_texts(example, example["about"], console)


def _style(sign: str, strength: float) -> str:
    """A background between white and the sign's colour; text that can be read on it."""
    pale, full = _SHADES[sign]
    mixed = [round(a + (b - a) * strength) for a, b in zip(pale, full, strict=True)]
    return f"{'white' if strength > 0.6 else 'black'} on rgb({mixed[0]},{mixed[1]},{mixed[2]})"
