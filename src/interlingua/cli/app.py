"""The command line: parse, one call, print.

Results on stdout, progress on stderr; exit code 0, 1 (failed), 2 (bad input) or 130 (interrupted).
"""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from interlingua import __version__
from interlingua.cli import adjust, align, explain, explore, geometry, report, study, synth, transfer
from interlingua.cli.options import (
    AllowPickle,
    Device,
    Json,
    Load,
    Precision,
    TrustRemoteCode,
    load_all,
    print_json,
    print_notes,
    split_names,
)
from interlingua.cli.output import standard_output
from interlingua.cli.progress import progress_bars, resumable
from interlingua.errors import InputError, InterlinguaError, Interrupted, NoRoom, printable, system_error
from interlingua.paths import check_name, too_long

app = typer.Typer(
    help="Shows, explains and improves how a multilingual language model carries meaning across languages.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


DEFAULT_OUT = Path("interlingua-audit")
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


@app.command(
    epilog="""
**Examples**

    interlingua audit                                        # the embedded encoder on the embedded corpus

    interlingua audit xlm-roberta-base --languages en,ru,hi  # a hub model, three languages

    interlingua audit ./my-model --corpus flores/ --out run  # your model, your files

    interlingua audit ./a --against ./b --json               # two models, side by side
"""
)
def audit(
    model: Annotated[
        str, typer.Argument(help="'embedded', a model folder, or a hub name.", metavar="MODEL")
    ] = "embedded",
    corpus: Annotated[
        str, typer.Option(help="'sampler', a file, a folder, hf:NAME, or - for stdin.", metavar="CORPUS")
    ] = "sampler",
    languages: Annotated[
        str | None,
        typer.Option(help="Codes or names, comma-separated; the first is the pivot. All by default.", metavar="XX,YY"),
    ] = None,
    measures: Annotated[
        str | None,
        typer.Option(
            help="Names, comma-separated; see 'interlingua list'. [default: those of a plain audit]", metavar="NAMES"
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="The corpus's format, where its content leaves a doubt.", metavar="READER")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="The corpus's encoding; UTF-8 by default.")] = None,
    column: Annotated[
        str | None,
        typer.Option(
            help="The column of the sentences, by number or name, where the file of each language has columns.",
            metavar="COLUMN",
        ),
    ] = None,
    against: Annotated[str | None, typer.Option(help="A second model to compare with.", metavar="MODEL")] = None,
    pairs: Annotated[
        str | None,
        typer.Option(help="'all', or 'pivot': only with the first language. [default: all]", metavar="WHICH"),
    ] = None,
    maps: Annotated[
        str | None,
        typer.Option(
            help="Pairs that get a fitted map: 'pivot', those with the first language, or 'all'. [default: pivot]",
            metavar="WHICH",
        ),
    ] = None,
    pooling: Annotated[
        str | None,
        typer.Option(
            help="mean, sinkless (without attention sinks), weighted (by position), first, last or cls; by default what"
            " the model's folder states, or the mean: of a decoder, sinkless."
        ),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            help="Of a sentence-transformers model: the text before every text, or the name of one that it has; by"
            " default the model's own default."
        ),
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="Use this many rows of every pair of languages, drawn by the seed.")
    ] = None,
    names: Annotated[
        str | None, typer.Option(help="Parallel names for 'spelling'; CLDR's territories by default.", metavar="CORPUS")
    ] = None,
    dictionary: Annotated[
        Path | None,
        typer.Option(help="A folder of MUSE dictionaries: words alone are mapped, too.", metavar="DIR"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides splits, shuffles and samples.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help=f"Where results go. [default: {DEFAULT_OUT}; with --json nowhere]", metavar="DIR"),
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(help="Where representations are kept, or 'none'. [default: the user's cache]", metavar="DIR"),
    ] = None,
    device: Device = None,
    precision: Precision = None,
    trust_remote_code: TrustRemoteCode = False,
    allow_pickle: AllowPickle = False,
    load: Load = None,
    as_json: Json = False,
) -> None:
    """How well are my languages aligned inside this model, and where is it weak?

    Encodes each language once, measures every layer and pair of languages against its null, prints what was
    found, and writes records, tables (CSV, Markdown, LaTeX) and an HTML page. A killed audit continues when
    the same command is run again.
    """
    load_all(load)
    from interlingua.commands import audit as audit_command

    place = out if out is not None else None if as_json else DEFAULT_OUT
    with resumable(place), progress_bars() as tell:
        result = audit_command.audit(
            model,
            corpus,
            languages=split_names(languages),
            measures=split_names(measures),
            format=format,
            encoding=encoding,
            column=int(column) if column and column.isdecimal() and len(column) < 6 else column,
            against=against,
            pairs=pairs,
            maps=maps,
            pooling=pooling,
            prompt=prompt,
            rows=rows,
            names=names,
            dictionary=dictionary,
            seed=seed,
            out=place,
            cache=cache,
            device=device,
            precision=precision,
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
            progress=tell,
        )
    print_notes(result.run["skipped"])
    if as_json:
        print_json({"run": result.run, "records": result.records.to_dicts()})
        return
    from interlingua.report.record_adapter import to_v1
    from interlingua.report.screen import console
    from interlingua.report.terminal import render

    render(to_v1(result.records), result.run, console())
    typer.echo(f"\nPage, tables and records: {place}/report.html")


@app.command(
    epilog="""
**Examples**

    interlingua pretrain recipes/tiny-mono-en.toml --out tiny  # your text is in recipes/mono/en.txt

    interlingua pretrain recipes/embedded.toml --out model --json  # and there in 19 languages more

    torchrun --nproc-per-node 8 -m interlingua pretrain my.toml --out model  # eight GPUs
"""
)
def pretrain(
    config: Annotated[Path, typer.Argument(help="A TOML file; see docs/howto-pretrain.md.", metavar="CONFIG")],
    out: Annotated[Path, typer.Option(help="Where the model folder goes.", metavar="DIR")],
    device: Device = None,
    stop_after: Annotated[
        float | None,
        typer.Option(help="Stop after this many seconds; the same command goes on later.", metavar="SECONDS"),
    ] = None,
    load: Load = None,
    as_json: Json = False,
) -> None:
    """Train a small masked language model on plain text, one file a language.

    Trains a tokenizer and a model as CONFIG says, without any parallel signal, measures retrieval on held-out
    parallel sentences on the way, and writes an ordinary Hugging Face folder. A killed run continues when the
    same command is run again.
    """
    load_all(load)
    from interlingua.commands import pretrain as pretrain_command
    from interlingua.training.processes import is_first_process

    with resumable(out), progress_bars() as tell:
        result = pretrain_command.pretrain(config, out=out, device=device, progress=tell, stop_after=stop_after)
    if not is_first_process():
        return
    if as_json:
        from interlingua.report.terminal import training_findings

        print_json({"folder": str(result.folder), **result.summary, "not_learnt": training_findings(result.summary)})
        return
    from interlingua.report.screen import console
    from interlingua.report.terminal import render_training

    render_training(result.summary, console())
    typer.echo(f"\nModel: {result.folder}")


app.command(name="adjust", epilog=adjust.EXAMPLES)(adjust.adjust)
app.command(name="align", epilog=align.EXAMPLES)(align.align)
app.command(name="transfer", epilog=transfer.EXAMPLES)(transfer.transfer)
app.command(name="synth", epilog=synth.EXAMPLES)(synth.synth)
app.command(name="report", epilog=report.EXAMPLES)(report.report)
app.command(name="explain", epilog=explain.EXAMPLES)(explain.explain)
app.command(name="geometry", epilog=geometry.EXAMPLES)(geometry.geometry)
app.command(name="explore", epilog=explore.EXAMPLES)(explore.explore)
app.add_typer(study.app, name="study")


@app.command(name="list")
def list_names(load: Load = None, as_json: Json = False) -> None:
    """Name every measure, reader, task, objective, attribution, flattening and regime, with one line each."""
    load_all(load)
    from interlingua.analyses.transfer import ABOUT
    from interlingua.attribution import attributions
    from interlingua.flattening import flattenings
    from interlingua.measures import measures
    from interlingua.metric import as_plain
    from interlingua.objectives import objectives
    from interlingua.readers import readers
    from interlingua.tasks import tasks

    registries = {"measures": measures, "readers": readers, "tasks": tasks, "objectives": objectives}
    registries |= {"attributions": attributions, "flattenings": flattenings}
    kinds: dict[str, list[dict[str, Any]]] = {
        kind: [
            {"name": entry.name, "needs": entry.needs, "summary": entry.summary}
            | ({"metrics": [as_plain(metric) for metric in entry.metrics]} if entry.metrics else {})
            for entry in registry
        ]
        for kind, registry in registries.items()
    }
    kinds["regimes"] = [{"name": name, "needs": "", "summary": summary} for name, summary in ABOUT.items()]
    if as_json:
        print_json(kinds)
        return
    from rich.table import Table
    from rich.text import Text

    from interlingua.report.papers import in_names
    from interlingua.report.screen import console

    screen = console()
    for kind, entries in kinds.items():
        table = Table(title=kind, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
        for entry in entries:
            table.add_row(f"[bold]{entry['name']}[/bold]", in_names(str(entry["summary"])))
            if metrics := entry.get("metrics"):
                told = " ".join(metric["key"] for metric in metrics)
                table.add_row("", Text(f"metrics: {told}", style="dim"))
        screen.print(table)


def main() -> None:
    """Run the command line, with every error a user can meet on one line of stderr."""
    try:
        with standard_output():
            for argument in sys.argv[1:]:
                check_name(argument)
            app(standalone_mode=True)
    except InputError as error:
        _fail(f"error: {error}", 1 if isinstance(error, NoRoom) else 2)
    except Interrupted as stop:
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
