"""The command `interlingua transfer`: parse, one call, print."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from interlingua.cli.progress import progress_bars, resumable

if TYPE_CHECKING:
    from interlingua.analyses.transfer import Files

EXAMPLES = """
**Examples**

    interlingua transfer mbert/ --task ner --train en.tsv --test ru=ru.tsv --test hi=hi.tsv --out a

    interlingua transfer mbert/ --task ner --train en.tsv --test ru=ru.tsv --bitext ru=en-ru.tsv --out b

    interlingua transfer mbert/ --task nli --train en.tsv --test es=es.tsv --mixed dev-en.tsv --out c

    interlingua transfer mbert/ --task classification --train en.csv --test hi=hi.csv --out topics

    interlingua transfer mbert/ --task qa --train en.json --test en+ru=q-en.json,q-ru.json --out d

    interlingua transfer mbert/ --task retrieval --test ru=tatoeba/ --bitext ru=en-ru.tsv --out e
"""


def transfer(
    model: Annotated[str, typer.Argument(help="'embedded', a model folder, or a hub name.", metavar="MODEL")],
    task: Annotated[
        str, typer.Option(help="ner, nli, paraphrase, classification, qa or retrieval; see 'interlingua list'.")
    ],
    test: Annotated[
        list[str],
        typer.Option(
            help="A language and its test file, as many as you like. For qa also en+ru=QUESTIONS,PARAGRAPHS: two files "
            "joined by id. ru:NAME=FILE tells two tests of one language apart.",
            metavar="XX=FILE",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where results go; a folder begun before is gone on with.", metavar="DIR")],
    train: Annotated[
        str | None, typer.Option(help="Labelled examples in one language (not for retrieval).", metavar="FILE")
    ] = None,
    regime: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated: original, adjusted, continual, continual-code, joint, mapped. "
            "[default: the first three; without a bitext the first]",
            metavar="NAMES",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(help="How often each is trained: with the seeds 0, 1, … One seed tests no difference.")
    ] = 5,
    bitext: Annotated[
        list[str] | None,
        typer.Option(
            help="Sentence pairs to adjust on: 'source ||| target' lines, two columns, or two files with a comma "
            "between.",
            metavar="XX=FILE",
        ),
    ] = None,
    links: Annotated[
        list[str] | None,
        typer.Option(help="Word links of a bitext (Pharaoh), in place of an aligner.", metavar="XX=FILE"),
    ] = None,
    aligner: Annotated[
        str | None,
        typer.Option(help="diagonal, neural or eflomal; see 'interlingua align'. [default: diagonal]"),
    ] = None,
    english: Annotated[
        str | None,
        typer.Option(
            help="The side of a bitext that stays, source or target. [default: what the file's name says, else source]",
            metavar="SIDE",
        ),
    ] = None,
    together: Annotated[
        bool,
        typer.Option(
            "--together", help="Adjust on all bitexts at once, and test every language on that model. Else one each."
        ),
    ] = False,
    dev: Annotated[
        str | None, typer.Option(help="Examples like --train's; the best epoch on them counts.", metavar="FILE")
    ] = None,
    source: Annotated[str, typer.Option(help="The language of --train.", metavar="XX")] = "en",
    mixed: Annotated[
        str | None,
        typer.Option(
            help="For nli: the test in the language of --train, row for row; every test is taken again with premise or "
            "hypothesis from it.",
            metavar="FILE",
        ),
    ] = None,
    retrieval: Annotated[
        list[str] | None,
        typer.Option(help="A parallel corpus: sentences are looked up by every model, too.", metavar="XX=CORPUS"),
    ] = None,
    epochs: Annotated[float | None, typer.Option(help="Of the task. [default: the task's]")] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Of the task; small models want more. [default: the task's]")
    ] = None,
    warmup: Annotated[
        float | None, typer.Option(help="The share of the task's steps in which its rate rises. [default: 0]")
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Examples a step. [default: 32]")] = None,
    length: Annotated[int | None, typer.Option(help="Tokens of an input at most. [default: the task's]")] = None,
    pooling: Annotated[
        str | None,
        typer.Option(
            help="Of tasks with a label for a text, what the head reads: first (token) or mean. [default: first]"
        ),
    ] = None,
    train_rows: Annotated[int | None, typer.Option(help="Train on a sample of so many examples.")] = None,
    test_rows: Annotated[int | None, typer.Option(help="Test on a sample of so many examples.")] = None,
    sentences: Annotated[int, typer.Option(help="Adjust on this many of a bitext, drawn by the seed.")] = 30_000,
    adjust_epochs: Annotated[float | None, typer.Option(help="Of the adjustment. [default: 1]")] = None,
    adjust_rate: Annotated[float | None, typer.Option(help="Its learning rate. [default: 5e-5]")] = None,
    layer: Annotated[int, typer.Option(help="Adjust at: 0 is the embedding output, -1 the last layer.")] = -1,
    target: Annotated[str, typer.Option(help="joint: both languages move; frozen: the other one alone.")] = "joint",
    alpha: Annotated[
        float | None, typer.Option(help="The adjustment's weight beside the task. [default: 0.01]")
    ] = None,
    map_on: Annotated[str, typer.Option(help="For mapped: words or sentences.")] = "words",
    distances: Annotated[
        bool, typer.Option("--distances", help="Measure related and unrelated words after every phase, too.")
    ] = False,
    permutations: Annotated[
        int, typer.Option(help="Of the F1 test of Efimov et al. 2023, which holds the seeds fixed.")
    ] = 10_000,
    keep: Annotated[bool, typer.Option("--keep", help="Keep every fine-tuned model, in DIR/models.")] = False,
    precision: Precision = None,
    compile: Annotated[bool, typer.Option("--compile", help="Compile the model before training.")] = False,
    device: Device = None,
    trust_remote_code: TrustRemoteCode = False,
    allow_pickle: AllowPickle = False,
    load: Load = None,
    as_json: Json = False,
) -> None:
    """Will a model trained on English work in my language?

    Fine-tunes MODEL on --train with every regime and seed, tests it zero-shot on every --test, and prints mean,
    deviation and whether a regime differs from the original, over seeds and examples. What regimes share is trained
    once; a killed run continues when the same command is run again, and more seeds, tests or regimes can be added to a
    folder.
    """
    from interlingua.analyses.evaluation import FOLDER
    from interlingua.analyses.training_inputs import PairSettings
    from interlingua.analyses.transfer import TransferSettings, named_files, one_file
    from interlingua.commands import transfer as transfer_command
    from interlingua.training.processes import is_first_process

    load_all(load)
    settings = TransferSettings(
        source=source,
        together=together,
        train_rows=train_rows,
        length=length,
        pooling=pooling,
        epochs=epochs,
        learning_rate=learning_rate,
        warmup=warmup,
        batch=batch,
        adjust_epochs=adjust_epochs,
        adjust_learning_rate=adjust_rate,
        alpha=alpha,
        pairs=PairSettings(rows=sentences, layer=layer, target=target),
        map_on=map_on,
        distances=distances,
        permutations=permutations,
        precision=precision,
        compile=compile,
    )
    tests, bitexts = named_files(test, "--test"), named_files(bitext or [], "--bitext")
    with resumable(out), progress_bars() as tell:
        result = transfer_command.transfer(
            model,
            task,
            tests,
            train=train,
            regimes=split_names(regime),
            seeds=seeds,
            bitexts=bitexts,
            links={name: one_file(files, "--links") for name, files in named_files(links or [], "--links").items()},
            aligner=aligner,
            english=english,
            dev=dev,
            mixed=mixed,
            retrieval=named_files(retrieval or [], "--retrieval"),
            test_rows=test_rows,
            settings=settings,
            out=out,
            keep=keep,
            device=device,
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
            progress=tell,
        )
    if not is_first_process():
        return
    print_notes(result.run["skipped"])
    if as_json:
        told = {"run": result.run, "scores": result.scores, "distances": result.distances}
        print_json(told)
        return
    from interlingua.report.runs import Run
    from interlingua.report.screen import console
    from interlingua.report.transfer_terminal import render_transfer

    render_transfer(Run(result.run, more={"scores": result.scores, "distances": result.distances}), console())
    typer.echo(f"\nPage, tables, picture and records: {out / 'transfer.html'}")
    if (out / FOLDER).is_dir():
        typer.echo(f"What each model said of each example: {out / FOLDER}/")
        if why := _why_wrong(result.predictions(), tests, out, keep=keep):
            typer.echo(why)


def _why_wrong(predictions: Iterator[Mapping[str, Any]], tests: Mapping[str, Files], out: Path, *, keep: bool) -> str:
    """The command that explains the first wrong prediction of a kept model on a test of one file; how to keep one."""
    if not keep:  # What is there may be of other settings.
        return "With --keep the models stay, and interlingua explain --row says why one of them is wrong."
    wrong = (line for line in predictions if not line["right"] and isinstance(tests.get(line["test"]), str))
    first = next((line for line in wrong if (out / "models" / line["model"]).is_dir()), None)
    if first is None:
        return ""
    code, model = first["language"], out / "models" / first["model"]
    row = first.get("id") or f"{code}:{first['line']}"
    given = ["interlingua", "explain", str(model), "--data", f"{code}={tests[first['test']]}", "--row", str(row)]
    return f"Why is one wrong? For the first: {shlex.join(given)}"
