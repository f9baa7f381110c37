"""The command `interlingua adjust`: parse, one call, print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
)
from interlingua.cli.progress import progress_bars, resumable
from interlingua.errors import InputError

EXAMPLES = """
**Examples**

    interlingua adjust embedded --bitext talks.en-ru.tsv --out adjusted --rate 3e-4

    interlingua adjust xlm-roberta-base --bitext ru=talks.txt --links ru=talks.links --out adjusted

    interlingua adjust ./my-model --bitext ru=en-ru.tsv --bitext es=en-es.tsv --out both  # at once

    interlingua adjust ./my-model --bitext hi=train.en,train.hi --out tuned --layer 8 --freeze 6

    torchrun --nproc-per-node 8 -m interlingua adjust ./my-model --bitext x.en-ru.tsv --out adjusted
"""


def adjust(
    model: Annotated[str, typer.Argument(help="'embedded', a model folder, or a hub name.", metavar="MODEL")],
    bitext: Annotated[
        list[str],
        typer.Option(
            help="Sentence pairs: 'source ||| target' lines or two columns, or two files with a comma between. With a "
            "language before it (ru=FILE) as many as you like.",
            metavar="XX=FILE",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where the adjusted model goes.", metavar="DIR")],
    links: Annotated[
        list[str] | None,
        typer.Option(help="Word links of the bitext (Pharaoh), in place of an aligner.", metavar="XX=FILE"),
    ] = None,
    aligner: Annotated[
        str | None,
        typer.Option(
            help="diagonal (fast_align's model), neural (an encoder's vectors) or eflomal (an extra). "
            "[default: diagonal]"
        ),
    ] = None,
    aligner_model: Annotated[
        str | None, typer.Option(help="For neural: another model than MODEL.", metavar="MODEL")
    ] = None,
    english: Annotated[
        str | None,
        typer.Option(
            help="The side that stays, source or target. [default: what the file's name says, else source]",
            metavar="SIDE",
        ),
    ] = None,
    layer: Annotated[int, typer.Option(help="Whose vectors: 0 is the embedding output, -1 the last layer.")] = -1,
    target: Annotated[str, typer.Option(help="joint: both languages move; frozen: the other one alone.")] = "joint",
    reduction: Annotated[str, typer.Option(help="Of the loss: mean, or sum as Efimov et al. 2023 print it.")] = "mean",
    anchor: Annotated[float, typer.Option(help="The weight of English staying where it was.")] = 1.0,
    contrastive: Annotated[float, typer.Option(help="The weight of a contrast of word pairs (InfoNCE).")] = 0.0,
    drift: Annotated[float, typer.Option(help="The weight of all weights staying where they were (L2).")] = 0.0,
    epochs: Annotated[float, typer.Option(help="Passes over the sentences; parts of one will do.")] = 1.0,
    steps: Annotated[int | None, typer.Option(help="So many steps, in place of epochs.")] = None,
    rate: Annotated[float, typer.Option(help="The learning rate; small models want more.")] = 5e-5,
    batch: Annotated[int, typer.Option(help="Sentence pairs a step.")] = 32,
    sentences: Annotated[int, typer.Option(help="Train on this many of each bitext, drawn by the seed.")] = 30_000,
    held_out: Annotated[
        int | None,
        typer.Option(help="Measure on exactly this many others. [default: 1000, but a tenth at most]"),
    ] = None,
    freeze: Annotated[
        int | None,
        typer.Option(help="Leave embeddings and the first N blocks as they are; 0: embeddings.", metavar="N"),
    ] = None,
    lora: Annotated[
        int | None, typer.Option(help="Train LoRA matrices of this rank (extra peft), merged at the end.", metavar="R")
    ] = None,
    precision: Precision = None,
    device: Device = None,
    seed: Annotated[int, typer.Option(help="Decides sentences, order and dropout.")] = 0,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Losses of every step, for TensorBoard (an extra).", metavar="DIR")
    ] = None,
    monitor_every: Annotated[
        int | None, typer.Option(help="Measure distances every so many steps, too.", metavar="STEPS")
    ] = None,
    stop_after: Annotated[
        float | None,
        typer.Option(help="Stop after this many seconds; the same command goes on later.", metavar="SECONDS"),
    ] = None,
    trust_remote_code: TrustRemoteCode = False,
    allow_pickle: AllowPickle = False,
    load: Load = None,
    as_json: Json = False,
) -> None:
    """Can a small parallel corpus bring the languages of this model closer?

    Pulls words and their translations together (Efimov et al. 2023, Eq. 1) while English stays where it was, and writes
    an ordinary Hugging Face folder. Prints retrieval and distances before and after, on sentences that were not trained
    on; the folder has them as JSON and on a page. A killed run continues when the same command is run again.
    """
    from dataclasses import replace

    from interlingua.commands import adjust as adjust_command
    from interlingua.studies.adjusting import AdjustSettings
    from interlingua.training.phases import Freeze, Lora
    from interlingua.training.processes import is_first_process
    from interlingua.training.regime import ADJUST

    load_all(load)
    settings = AdjustSettings(
        rows=sentences,
        held_out=held_out,
        batch=batch,
        schedule=replace(ADJUST, learning_rate=rate, epochs=epochs),
        steps=steps,
        layer=layer,
        target=target,
        reduction=reduction,
        anchor=anchor,
        contrastive=contrastive,
        drift=drift,
        freeze=Freeze() if freeze is None else Freeze(embeddings=True, blocks=freeze),
        lora=None if lora is None else Lora(lora),
        precision=precision,
        monitor_every=monitor_every,
        seed=seed,
    )
    with resumable(out), progress_bars() as tell:
        result = adjust_command.adjust(
            model,
            {name: _files(value) for name, value in _named(bitext, "--bitext").items()},
            out=out,
            links=_named(links or [], "--links"),
            aligner=aligner,
            aligner_model=aligner_model,
            english=english,
            settings=settings,
            tensorboard=tensorboard,
            device=device,
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
            progress=tell,
            stop_after=stop_after,
        )
    if not is_first_process():
        return
    from interlingua.report.adjustment import left_out

    print_notes(left_out(result.summary))
    if as_json:
        told = {"folder": str(result.folder), **result.summary}
        print_json(told)
        return
    from interlingua.report.adjustment_terminal import render_adjustment
    from interlingua.report.screen import console

    render_adjustment(result.summary, console())
    if result.summary["finished"]:
        typer.echo(f"\nModel: {result.folder}, page: {result.folder / 'adjustment.html'}")


def _named(given: list[str], option: str) -> dict[str, str]:
    """Values by what stands before their `=`; nothing where nothing does."""
    found: dict[str, str] = {}
    for each in given:
        name, sign, value = each.partition("=")
        # A path may hold the sign, and a language has no dot and no slash.
        name, value = (name, value) if sign and not set(name) & set("./\\") else ("", each)
        if name in found or ("" in found and name):
            raise InputError(
                f"{option} twice for one language, or without one", value=each, remedy=f"Give {option} ru=FILE each."
            )
        found[name] = value
    return found


def _files(value: str) -> str | tuple[str, ...]:
    """One file, or two with a comma between; a file whose name has a comma is one."""
    return value if Path(value).exists() or "," not in value else tuple(value.split(","))
