"""The command line: parse, one call, print.

Results on stdout, progress on stderr; exit code 0, 1 (failed), 2 (bad input) or 130 (interrupted).
"""

from __future__ import annotations

import errno
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlingua import __version__
from interlingua.cli import adjust, align, audit, explain, explore, geometry, pretrain, report, study, synth, transfer
from interlingua.cli.options import Compile, Console, as_command, print_json
from interlingua.cli.output import standard_output
from interlingua.errors import DiskFull, InputError, InterlinguaError, RunInterrupted, printable, system_error
from interlingua.paths import check_name, too_long
from interlingua.studies.config.schema import (
    AdjustCommand,
    AlignCommand,
    AuditCommand,
    ExplainOptions,
    ExploreCommand,
    GeometryCommand,
    PretrainCommand,
    ReportCommand,
    SynthCommand,
    TransferCommand,
)

if TYPE_CHECKING:
    from interlingua.commands.command_study import CompiledCommand

app = typer.Typer(
    help="Shows, explains and improves how a multilingual language model carries meaning across languages.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


STOPPED, AGAIN = 130, "interrupted: give the same command again."


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"interlingua {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def _compile(name: str) -> Compile:
    """A command's function that compiles its settings, looked up when it is called: it loads torch."""

    def compile(given: Any) -> CompiledCommand:
        made: CompiledCommand = getattr(import_module(f"interlingua.commands.{name}"), f"compile_{name}")(given)
        return made

    return compile


_COMPILED = {name: _compile(name) for name in ("adjust", "audit", "geometry", "pretrain", "synth", "transfer")}
_COMPILED["explain"] = explain.compiled
"""The commands that are studies with one cell."""

for _settings, _command, _name, _examples in (
    (AuditCommand, audit.audit, "audit", audit.EXAMPLES),
    (PretrainCommand, pretrain.pretrain, "pretrain", pretrain.EXAMPLES),
    (AdjustCommand, adjust.adjust, "adjust", adjust.EXAMPLES),
    (AlignCommand, align.align, "align", align.EXAMPLES),
    (TransferCommand, transfer.transfer, "transfer", transfer.EXAMPLES),
    (SynthCommand, synth.synth, "synth", synth.EXAMPLES),
    (ReportCommand, report.report, "report", report.EXAMPLES),
    (ExplainOptions, explain.explain, "explain", explain.EXAMPLES),
    (GeometryCommand, geometry.geometry, "geometry", geometry.EXAMPLES),
    (ExploreCommand, explore.explore, "explore", explore.EXAMPLES),
):
    _names = _name not in ("align", "report", "synth")
    as_command(app, _settings, _command, name=_name, examples=_examples, plugins=_names, compile=_COMPILED.get(_name))  # type: ignore[arg-type]
app.add_typer(study.app, name="study")


@dataclass(frozen=True)
class ListCommand:
    """Name every measure, reader, task, objective, attribution, projection and regime, with one line each."""


def list_names(_: ListCommand, output: Console) -> None:
    """Print what is registered."""
    from interlingua.metric import metric_to_dict
    from interlingua.registry import list_registered
    from interlingua.training.regime_names import ABOUT

    registries = {"measures": "measures", "readers": "readers", "tasks": "tasks", "objectives": "objectives"}
    registries |= {"attributions": "attribution", "projections": "projection"}
    kinds: dict[str, list[dict[str, Any]]] = {
        kind: [
            {"name": entry.name, "needs": entry.needs, "summary": entry.summary}
            | ({"metrics": [metric_to_dict(metric) for metric in entry.metrics]} if entry.metrics else {})
            for entry in list_registered(f"interlingua.{package}", kind)
        ]
        for kind, package in registries.items()
    }
    kinds["regimes"] = [{"name": name, "needs": "", "summary": summary} for name, summary in ABOUT.items()]
    if output.json:
        print_json(kinds)
        return
    from rich.table import Table
    from rich.text import Text

    from interlingua.report.kit.citations import name_papers
    from interlingua.report.kit.terminal import console

    screen = console()
    for kind, entries in kinds.items():
        table = Table(title=kind, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
        for entry in entries:
            table.add_row(f"[bold]{entry['name']}[/bold]", name_papers(str(entry["summary"])))
            if metrics := entry.get("metrics"):
                told = " ".join(metric["key"] for metric in metrics)
                table.add_row("", Text(f"metrics: {told}", style="dim"))
        screen.print(table)


as_command(app, ListCommand, list_names, name="list")


def main() -> None:
    """Run the command line, with every error a user can meet on one line of stderr."""
    try:
        with standard_output():
            for argument in sys.argv[1:]:
                check_name(argument)
            app(standalone_mode=True)
    except InputError as error:
        _fail(f"error: {error}", 1 if isinstance(error, DiskFull) else 2)
    except RunInterrupted as stop:
        _fail(f"interrupted: {stop}", STOPPED)
    except InterlinguaError as error:
        _fail(f"error: {error}", 1)
    except Exception as error:
        found = system_error(error)
        if found is None:
            raise
        if found.errno == errno.ENAMETOOLONG:
            _fail(f"error: {too_long(str(found.filename))}", 2)
        place = "" if found.filename is None else f"{found.filename}: "
        _fail(f"error: {place}the system refuses it ({found.strerror or found}).", 1)
    except KeyboardInterrupt:
        _fail(AGAIN, STOPPED)
    except SystemExit as end:
        if end.code == STOPPED:  # What typer makes of Ctrl-C, without a word.
            _fail(AGAIN, STOPPED)
        raise


def _fail(line: str, code: int) -> None:
    # Progress bars leave the cursor anywhere, and a terminal has just echoed ^C there.
    start = "\n" if code == STOPPED and sys.stderr.isatty() else ""
    sys.stderr.write(f"{start}{printable(line)}\n")
    raise SystemExit(code) from None


if __name__ == "__main__":
    main()
