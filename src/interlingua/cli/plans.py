"""Plans in the terminal: the steps of a command or a study, what is done, and about how long the rest takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from interlingua.cli.options import Console, print_json, print_notes
from interlingua.errors import InputError

if TYPE_CHECKING:
    from interlingua.commands.command_study import CompiledCommand
    from interlingua.engine.plan import RunPlan


def show_compiled(compiled: CompiledCommand, output: Console) -> None:
    """What a command would do, or the study file that does the same; nothing is run."""
    from interlingua.commands.command_study import PlannedCommand, study_file
    from interlingua.engine.atomic_files import write_text

    if output.save_study is not None:
        file = Path(output.save_study)
        if file.exists():
            raise InputError("the file is there already", value=str(file), remedy="Name another, or remove it.")
        write_text(file, study_file(compiled, file))
        print_notes(compiled.notes)
        if output.json:
            print_json({"study": str(file)})
        else:
            typer.echo(f"The same as a study: interlingua study run {file}")
        return
    out = compiled.out
    planned = PlannedCommand.of(compiled, out if out is not None else Path(f"interlingua-{compiled.kind}"))
    told, states = planned.plan(), planned.states()
    if output.json:
        every = [{"key": s.key, "kind": s.kind, "label": s.shown, "state": str(states[s.key])} for s in planned.graph]
        print_json({"plan": told.to_dict(), "steps": every, "notes": list(planned.notes)})
        return
    print_plan(compiled.kind, len(planned.graph), told, [f"note: {note}" for note in planned.notes])
    show_steps(planned.graph, states)


def print_plan(name: str, steps: int, told: RunPlan, notes: Iterable[str]) -> None:
    """Steps by kind, and what is left."""
    from rich import box
    from rich.console import Console as Screen
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=name, title_justify="left")
    for head in ("kind", "steps", "done", "to run", "failed", "blocked", "about"):
        table.add_column(head, justify="left" if head == "kind" else "right")
    for kind in told.kinds:
        about = _time(kind.seconds) if kind.needed > kind.untimed else "–"
        known = f"{about} + {kind.untimed} unknown" if kind.untimed else about
        counts = (kind.steps, kind.done, kind.needed, kind.failed, kind.blocked)
        table.add_row(kind.kind, *map(str, counts), known if kind.needed else "")
    screen = Screen()
    screen.print(table)
    for note in notes:
        screen.print(note, markup=False, highlight=False)
    if not told.needed:
        screen.print(f"nothing to run: {told.done} of {steps} steps are done", highlight=False)
        return
    known = f"{_time(told.seconds)} of work, no less than {_time(told.wall)} here"
    left = known if told.seconds else "how long is not known yet"
    more = f"; of {told.untimed} no like was measured" if told.untimed and told.seconds else ""
    screen.print(f"{told.needed} of {steps} steps to run: {left}{more}", highlight=False)


def show_steps(steps: Iterable[Any], states: Mapping[str, Any]) -> None:
    """Every step on a line: where it stands, its key, what it is."""
    for step in steps:
        typer.echo(f"{states[step.key]:8} {step.key[:8]}  {step.shown}")


def _time(seconds: float) -> str:
    """Seconds as people say them.

    >>> _time(3.2), _time(95), _time(7300)
    ('3 s', '2 min', '2.0 h')
    """
    return (
        f"{seconds:.0f} s"
        if seconds < 90
        else f"{seconds / 60:.0f} min"
        if seconds < 5400
        else f"{seconds / 3600:.1f} h"
    )
