"""Explanations as a terminal shows them: tables, and texts with words shaded by what they matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from interlingua.report.explain import all_tables, shaded
from interlingua.report.screen import print_table
from interlingua.report.wording import visible

Found = Mapping[str, Any]
_STRONGEST = 6
_SHADES = {"plus": ((255, 255, 255), (0, 114, 178)), "minus": ((255, 255, 255), (213, 94, 0))}


def render_explanation(records: Sequence[Found], run: Found, console: Console) -> None:
    """Print every table of a study."""
    for each in all_tables(records, run):
        print_table(each, console)


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
