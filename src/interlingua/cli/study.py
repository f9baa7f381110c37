"""The command `interlingua study`: parse, one call, print."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from interlingua.cli.options import Console, as_command, print_json, print_notes, split_names
from interlingua.cli.plans import print_plan, show_steps
from interlingua.cli.progress import Tell, progress_bars, resumable
from interlingua.errors import InputError, printable
from interlingua.plural_counts import count_noun
from interlingua.studies.config.schema import (
    StudyCheck,
    StudyFolder,
    StudyPlan,
    StudyPrune,
    StudyReportCommand,
    StudyRun,
    StudyStatus,
)

if TYPE_CHECKING:
    from interlingua.commands.study import PlannedStudy, StudyReport
    from interlingua.engine.plan import RunPlan
    from interlingua.engine.runner import Event
    from interlingua.stats.power import SeedPlan

app = typer.Typer(
    help="Run a grid of encoders, languages, tasks, regimes, seeds, measures and explanations from one TOML file.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
EXAMPLES = """
**Examples**

    interlingua study check studies/adjustment.toml

    interlingua study plan studies/adjustment.toml --size small --data-root corpora/

    interlingua study run studies/adjustment.toml --size tiny --out run

    interlingua study report studies/adjustment.toml --size tiny --out run --json
"""


def check(given: StudyCheck, output: Console) -> None:
    """Check, and print what is right."""
    from interlingua.commands.study import check_study

    file = given.file
    found = check_study(file, size=given.size, data_root=given.data_root, encoders=given.encoders)
    if output.json:
        # A file without sizes is one study: it goes by its own name.
        print_json({name or planned.study.name: len(planned.graph) for name, planned in found.items()})
        return
    for name, planned in found.items():
        typer.echo(f"{file}{f' [{name}]' if name else ''}: right, {count_noun(len(planned.graph), 'steps')}")


def plan(given: StudyPlan, output: Console) -> None:
    """Print the plan."""
    from interlingua.commands.study import as_dict

    planned, steps = _planned(given), given.steps
    told = planned.plan(retry=given.retry)
    states = planned.states(retry=given.retry)
    if output.json:
        every = [{"key": s.key, "kind": s.kind, "label": s.shown, "state": str(states[s.key])} for s in planned.graph]
        print_json(as_dict(planned, told) | ({"steps": every} if steps else {}))
        return
    _show_plan(planned, told)
    if steps:
        show_steps(planned.graph, states)


def run(given: StudyRun, output: Console) -> None:
    """Run, and print the report."""
    from interlingua.engine.executors import Options

    ids = None if given.gpus is None else tuple(split_names(given.gpus) or ())
    options = Options(cpus=given.cpus, gpus=ids, attempts=given.attempts, address=given.address)
    planned = _planned(given, ask=True, executor=given.executor, options=options)
    with resumable(planned.workspace.folder):
        with progress_bars() as tell:
            ran = planned.run(
                executor=given.executor,
                options=options,
                retry=given.retry,
                keep=given.keep,
                reuse=given.reuse,
                tell=_teller(tell),
            )
        if not options.group.is_first:
            return
        for failure in ran.failed:
            sys.stderr.write(printable(f"failed: {failure.label}: {failure.message}\n"))
        report = planned.write_report()
    print_notes(report.about["notes"])
    if output.json:
        counts = {"done": ran.done, "reused": ran.reused, "failed": len(ran.failed), "blocked": ran.blocked}
        print_json({"ran": counts, "report": report.report().to_dict(), **report.exports()})
    else:
        _show_report(report)
        typer.echo(
            f"\n{count_noun(ran.done, 'steps')} run, {ran.reused} done before, {len(ran.failed)} failed, "
            f"{ran.blocked} blocked. Page: {report.page_file}"
        )
    if ran.failed:
        raise typer.Exit(1)


def status(given: StudyStatus, output: Console) -> None:
    """Print where it stands."""
    from interlingua.commands.study import as_dict

    planned = _planned(given)
    if not planned.workspace.folder.is_dir():
        raise InputError(
            "nothing was run yet in this folder",
            file=planned.workspace.folder,
            remedy="Run it first (interlingua study run), or see what a run would do (interlingua study plan).",
        )
    told = planned.plan()
    if output.json:
        print_json(as_dict(planned, told) | {"disk": [vars(use) for use in planned.usage()]})
        return
    _show_plan(planned, told)
    for use in planned.usage():
        heavy = f"{_bytes(use.heavy)} of them models and vectors"
        typer.echo(f"{use.kind}: {_bytes(use.bytes)} in {count_noun(use.steps, 'steps')}, {heavy}")
    for failure in planned.failures():
        typer.echo(printable(f"failed: {failure.label}: {failure.message}"))


def report(given: StudyReportCommand, output: Console) -> None:
    """Print the report."""
    result = _planned(given).write_report()
    if output.json:
        print_json({"report": result.report().to_dict(), **result.exports()})
        return
    _show_report(result)
    typer.echo(f"\nPage: {result.page_file}")


def gc(given: StudyPrune, output: Console) -> None:
    """Print what can go, and remove it."""
    planned, yes = _planned(given), given.yes
    waste = planned.garbage()
    freed = planned.remove(waste) if yes else 0
    if output.json:
        found: list[dict[str, Any]] = [{**vars(each), "path": str(each.path)} for each in waste]
        print_json({"found": found, "bytes": sum(each.bytes for each in waste), "removed": freed})
        return
    for each in waste:
        typer.echo(f"{_bytes(each.bytes):>10}  {each.kind:10} {each.why}")
    whole = _bytes(sum(each.bytes for each in waste))
    typer.echo(f"{whole} {'removed' if yes else 'can go: give --yes'}" if waste else "nothing can go")


def _planned(given: StudyFolder, **more: Any) -> PlannedStudy:
    """The study of a file, in the folder of its results."""
    from interlingua.commands.study import plan_study

    return plan_study(
        given.file, size=given.size, data_root=given.data_root, out=given.out, encoders=given.encoders, **more
    )


def _teller(tell: Tell) -> Any:
    """Events of a run as bars: one for all steps, one for each that reports its own progress."""

    def hear(event: Event) -> None:
        tell("steps", event.finished, max(event.total, 1))
        if event.what == "progress" and event.of:
            tell(f"{event.label}: {event.stage}", event.done, event.of)
        elif event.what in ("failed", "blocked"):
            sys.stderr.write(printable(f"{event.what}: {event.label}\n"))

    return hear


def _show_plan(planned: PlannedStudy, told: RunPlan) -> None:
    seeds = [_seed_words(each) for each in planned.seed_plans()]
    print_plan(planned.study.name, len(planned.graph), told, [*(f"note: {note}" for note in planned.notes), *seeds])


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


def _show_report(result: StudyReport) -> None:
    from interlingua.report.kit.terminal import console, print_report

    print_report(result.report(), console())


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


for _settings, _command, _name in (
    (StudyCheck, check, "check"),
    (StudyPlan, plan, "plan"),
    (StudyRun, run, "run"),
    (StudyStatus, status, "status"),
    (StudyReportCommand, report, "report"),
    (StudyPrune, gc, "gc"),
):
    as_command(app, _settings, _command, name=_name, examples=EXAMPLES if _name == "check" else "", plugins=False)  # type: ignore[arg-type]
