"""The command `interlingua study`: parse, one call, print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlingua.cli.options import Json, print_json, print_notes, split_names
from interlingua.cli.progress import Tell, progress_bars, resumable
from interlingua.counting import counted
from interlingua.errors import InputError, printable

if TYPE_CHECKING:
    from interlingua.commands.study import Planned
    from interlingua.engine.plan import Plan
    from interlingua.engine.runner import Event
    from interlingua.report.study_files import StudyReport
    from interlingua.stats.power import SeedPlan

app = typer.Typer(
    help="Run a grid of encoders, languages, tasks, regimes, seeds, measures and explanations from one TOML file.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
EXAMPLES = """
**Examples**

    interlingua study check studies/adjustment.toml

    interlingua study plan studies/adjustment.toml --size small --data corpora/

    interlingua study run studies/adjustment.toml --size tiny --out run

    interlingua study report studies/adjustment.toml --size tiny --out run --json
"""

File = Annotated[Path, typer.Argument(help="A study file; see docs/howto-study.md.", metavar="FILE.toml")]
Size = Annotated[str | None, typer.Option(help="One of the file's sizes. [default: the file's own]", metavar="NAME")]
Data = Annotated[
    Path | None, typer.Option(help="Where the files are that it names. [default: what it says]", metavar="DIR")
]
Out = Annotated[
    Path | None,
    typer.Option(help="Where results go. [default: interlingua-study-NAME-SIZE, here]", metavar="DIR"),
]
Retry = Annotated[bool, typer.Option("--retry", help="Run again what failed before.")]


@app.command(epilog=EXAMPLES)
def check(file: File, size: Size = None, data: Data = None, as_json: Json = False) -> None:
    """Say all that is wrong with a study file, each with its line, before anything runs: exit code 2."""
    from interlingua.commands.study import check_study

    found = check_study(file, size=size, data=data)
    if as_json:
        # A file without sizes is one study: it goes by its own name.
        print_json({name or planned.study.name: len(planned.graph) for name, planned in found.items()})
        return
    for name, planned in found.items():
        typer.echo(f"{file}{f' [{name}]' if name else ''}: right, {counted(len(planned.graph), 'steps')}")


@app.command()
def plan(
    file: File,
    size: Size = None,
    data: Data = None,
    out: Out = None,
    retry: Retry = False,
    steps: Annotated[bool, typer.Option("--steps", help="Name every step, too.")] = False,
    as_json: Json = False,
) -> None:
    """Print what a run would do: steps by kind, what is done, and about how long the rest takes."""
    from interlingua.commands.study import as_dict, plan_study

    planned = plan_study(file, size=size, data=data, out=out)
    told = planned.plan(retry=retry)
    states = planned.states(retry=retry)
    if as_json:
        every = [{"key": s.key, "kind": s.kind, "label": s.shown, "state": str(states[s.key])} for s in planned.graph]
        print_json(as_dict(planned, told) | ({"steps": every} if steps else {}))
        return
    _show_plan(planned, told)
    if steps:
        for step in planned.graph:
            typer.echo(f"{states[step.key]:8} {step.key[:8]}  {step.shown}")


@app.command()
def run(
    file: File,
    size: Size = None,
    data: Data = None,
    out: Out = None,
    executor: Annotated[
        str,
        typer.Option(
            help="local: processes of this machine. inline: this process alone. ray: a cluster.", metavar="NAME"
        ),
    ] = "local",
    address: Annotated[
        str | None, typer.Option(help="Of a Ray cluster: auto, or HOST:PORT.", metavar="ADDRESS")
    ] = None,
    cpus: Annotated[int | None, typer.Option(help="Use so many. [default: all]")] = None,
    gpus: Annotated[
        str | None, typer.Option(help="Ids, comma-separated; '' for none. [default: all]", metavar="IDS")
    ] = None,
    attempts: Annotated[int, typer.Option(help="How often a step is tried.")] = 1,
    retry: Retry = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep models and vectors that no step to come needs.")] = False,
    as_json: Json = False,
) -> None:
    """Run what is not done; a killed study goes on where it was, and a finished one is only told again.

    A step that fails fails those that need it, and the rest goes on: the exit code is then 1.
    """
    from interlingua.commands.study import plan_study
    from interlingua.engine.executors import Options

    ids = None if gpus is None else tuple(split_names(gpus) or ())
    options = Options(cpus=cpus, gpus=ids, attempts=attempts, address=address)
    planned = plan_study(file, size=size, data=data, out=out, ask=True, executor=executor, options=options)
    with resumable(planned.workspace.folder):
        with progress_bars() as tell:
            ran = planned.run(
                executor=executor,
                options=options,
                retry=retry,
                keep=keep,
                tell=_teller(tell),
            )
        if not options.group.is_first:
            return
        for failure in ran.failed:
            sys.stderr.write(printable(f"failed: {failure.label}: {failure.message}\n"))
        report = planned.write_report()
    print_notes(report.about["notes"])
    if as_json:
        from interlingua.report.study_files import as_json as plain

        told = {"done": ran.done, "reused": ran.reused, "failed": len(ran.failed), "blocked": ran.blocked}
        print_json({"ran": told, **plain(report)})
    else:
        _show_report(report)
        typer.echo(
            f"\n{counted(ran.done, 'steps')} run, {ran.reused} done before, {len(ran.failed)} failed, "
            f"{ran.blocked} blocked. Page, tables and records: {planned.workspace.folder}"
        )
    if ran.failed:
        raise typer.Exit(1)


@app.command()
def status(file: File, size: Size = None, data: Data = None, out: Out = None, as_json: Json = False) -> None:
    """Print where a study stands: steps done, failed and why, the rest with its time, and the disk it takes."""
    from interlingua.commands.study import as_dict, plan_study

    planned = plan_study(file, size=size, data=data, out=out)
    if not planned.workspace.folder.is_dir():
        raise InputError(
            "nothing was run yet in this folder",
            file=planned.workspace.folder,
            remedy="Run it first (interlingua study run), or see what a run would do (interlingua study plan).",
        )
    told = planned.plan()
    if as_json:
        print_json(as_dict(planned, told) | {"disk": [vars(use) for use in planned.usage()]})
        return
    _show_plan(planned, told)
    for use in planned.usage():
        typer.echo(
            f"{use.kind}: {_bytes(use.bytes)} in {counted(use.steps, 'steps')}, {_bytes(use.heavy)} of them models and "
            "vectors"
        )
    for failure in planned.failures():
        typer.echo(printable(f"failed: {failure.label}: {failure.message}"))


@app.command()
def report(file: File, size: Size = None, data: Data = None, out: Out = None, as_json: Json = False) -> None:
    """Print and write what was found so far, with the paper's numbers beside, from the records alone."""
    from interlingua.commands.study import plan_study

    made = (planned := plan_study(file, size=size, data=data, out=out)).write_report()
    if as_json:
        from interlingua.report.study_files import as_json as plain

        print_json(plain(made))
        return
    _show_report(made)
    typer.echo(f"\nPage, tables and records: {planned.workspace.folder}")


@app.command()
def gc(
    file: File,
    size: Size = None,
    data: Data = None,
    out: Out = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove it.")] = False,
    as_json: Json = False,
) -> None:
    """List the models and vectors that no record needs any more, and with --yes remove them; records stay."""
    from interlingua.commands.study import plan_study

    planned = plan_study(file, size=size, data=data, out=out)
    waste = planned.garbage()
    freed = planned.remove(waste) if yes else 0
    if as_json:
        found: list[dict[str, Any]] = [{**vars(each), "path": str(each.path)} for each in waste]
        print_json({"found": found, "bytes": sum(each.bytes for each in waste), "removed": freed})
        return
    for each in waste:
        typer.echo(f"{_bytes(each.bytes):>10}  {each.kind:10} {each.why}")
    whole = _bytes(sum(each.bytes for each in waste))
    typer.echo(f"{whole} {'removed' if yes else 'can go: give --yes'}" if waste else "nothing can go")


def _teller(tell: Tell) -> Any:
    """Events of a run as bars: one for all steps, one for each that tells its own progress."""

    def hear(event: Event) -> None:
        tell("steps", event.finished, max(event.total, 1))
        if event.what == "progress" and event.of:
            tell(f"{event.label}: {event.stage}", event.done, event.of)
        elif event.what in ("failed", "blocked"):
            sys.stderr.write(printable(f"{event.what}: {event.label}\n"))

    return hear


def _show_plan(planned: Planned, told: Plan) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=planned.study.name, title_justify="left")
    for head in ("kind", "steps", "done", "to run", "failed", "blocked", "about"):
        table.add_column(head, justify="left" if head == "kind" else "right")
    for kind in told.kinds:
        about = _time(kind.seconds) if kind.needed > kind.untimed else "–"
        known = f"{about} + {kind.untimed} unknown" if kind.untimed else about
        counts = (kind.steps, kind.done, kind.needed, kind.failed, kind.blocked)
        table.add_row(kind.kind, *map(str, counts), known if kind.needed else "")
    console = Console()
    console.print(table)
    for note in planned.notes:
        console.print(f"note: {note}", markup=False, highlight=False)
    for each in planned.seed_plans():
        console.print(_seed_words(each), markup=False, highlight=False)
    if not told.needed:
        console.print(f"nothing to run: {told.done} of {len(planned.graph)} steps are done", highlight=False)
        return
    known = f"{_time(told.seconds)} of work, no less than {_time(told.wall)} here"
    left = known if told.seconds else "how long is not known yet"
    more = f"; of {told.untimed} no like was measured" if told.untimed and told.seconds else ""
    console.print(f"{told.needed} of {len(planned.graph)} steps to run: {left}{more}", highlight=False)


def _seed_words(made: SeedPlan) -> str:
    """Which differences a task's seeds can detect, and what smaller ones take."""
    whose = "measured in this study" if made.measured else "usual in our own grids"
    begin = f"{made.task}: {made.seeds} seed{'s' if made.seeds > 1 else ''} per regime"
    sizes = [f"{100 * size:.1f} points with {n:,} examples" for n, size in made.detectable.items() if size is not None]
    can = f"detect {', '.join(sizes)} (80 % power)" if sizes else "tests no difference"
    needed = [
        f"{points} point{'s' if points > 1 else ''} over {made.examples_needed[points]:,} examples"
        if seeds is None
        else f"{points} point{'s' if points > 1 else ''} {seeds} seeds"
        for points, seeds in made.seeds_needed.items()
    ]
    most = max(made.detectable)
    spread = f"at a deviation over seeds of {100 * made.deviation:.1f} points ({whose})"
    return f"{begin} {can}, {spread}. With {most:,} examples: {', '.join(needed)}."


def _show_report(made: StudyReport) -> None:
    from interlingua.report.screen import console
    from interlingua.report.study_terminal import render_study

    render_study(made.run(), made.tables, console())


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


def _bytes(count: int) -> str:
    """Bytes as people say them.

    >>> _bytes(512), _bytes(3 << 20)
    ('512 B', '3.0 MiB')
    """
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
