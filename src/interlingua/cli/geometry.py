"""The command `interlingua geometry`: parse, one call, print."""

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
    split_names,
)
from interlingua.cli.progress import progress_bars, resumable

EXAMPLES = """
**Examples**

    interlingua geometry --small --out geometry                     # the embedded encoder, minutes on 2 cores

    interlingua geometry xlm-roberta-base --languages be,en,ru,tr --map tsne --out geometry

    interlingua geometry xlm-roberta-base --data SyntheticNER --data embedded --about Washington --out g

    interlingua geometry ./my-model --train-on en --no-watch --out geometry   # one fine-tuning only
"""


def geometry(
    out: Annotated[Path, typer.Option(help="Where results go; a folder begun before is gone on with.", metavar="DIR")],
    model: Annotated[
        str, typer.Argument(help="'embedded', a model folder, or a hub name.", metavar="MODEL")
    ] = "embedded",
    data: Annotated[
        list[str] | None,
        typer.Option(
            help="A folder of contexts and names, or 'embedded'; a kind comes from the first that has it. "
            "[default: embedded]",
            metavar="DIR",
        ),
    ] = None,
    languages: Annotated[
        str | None,
        typer.Option(help="Codes, comma-separated. [default: those that every type has]", metavar="XX,YY"),
    ] = None,
    types: Annotated[
        str | None, typer.Option(help="Entity types or kinds, as for synth: PER=4,LOC,ORG. [default: all]")
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(help="Sentences in each language, for training and testing together. [default: 10000]"),
    ] = None,
    source: Annotated[str, typer.Option(help="The language fine-tuned on for the maps after.", metavar="XX")] = "en",
    train_on: Annotated[
        str | None,
        typer.Option(help="Fine-tune on these, and on --source. [default: every language]", metavar="XX,YY"),
    ] = None,
    about: Annotated[
        str | None, typer.Option(help="A name to follow, in test contexts of every type.", metavar="NAME")
    ] = None,
    about_rows: Annotated[int, typer.Option(help="Sentences of each type about it.")] = 100,
    map: Annotated[str, typer.Option(help="pca; tsne (extra maps) or umap (extra umap).")] = "pca",
    perplexity: Annotated[
        float | None, typer.Option(help="Of t-SNE, or neighbours of UMAP. [default: 70, the paper's; UMAP 15]")
    ] = None,
    layers: Annotated[str, typer.Option(help="Of the maps: 0 is the embedding output, -1 the output.")] = "0,-1",
    points: Annotated[int, typer.Option(help="Points of a map at most.")] = 2000,
    epochs: Annotated[float | None, typer.Option(help="Of each fine-tuning. [default: 1]")] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Small models want more. [default: 2e-5; for the embedded encoder 2e-4]")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(help="Sentences a step. [default: 32; for the embedded encoder 16]")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Fine-tunings of each language; errors are means over them.")] = 1,
    watch: Annotated[bool, typer.Option(help="Watch every language's space while fine-tuning.")] = True,
    every: Annotated[
        int | None, typer.Option(help="Watch every so many steps. [default: what 5 % of the training allows]")
    ] = None,
    span: Annotated[int, typer.Option(help="Changes are taken over so many steps.")] = 50,
    small: Annotated[
        bool, typer.Option("--small", help="For 2 cores: be,en,ru,tr, 1000 sentences, 2 epochs, unless set.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Decides sentences, splits, samples and maps.")] = 0,
    precision: Precision = None,
    device: Device = None,
    trust_remote_code: TrustRemoteCode = False,
    allow_pickle: AllowPickle = False,
    load: Load = None,
    as_json: Json = False,
) -> None:
    """What does fine-tuning do to the space my languages share?

    Puts parallel names into parallel sentences, looks at them inside MODEL (how near translations lie, whether they
    cluster by language or by type, maps), fine-tunes it for NER on every language, watched step by step and tested on
    all, looks again, and sets errors against the spelling of names. A killed study continues when the same command is
    run again.
    """
    from interlingua.commands import geometry as api
    from interlingua.training.processes import is_first_process

    load_all(load)
    settings = api.GeometrySettings(
        source=source,
        about=about,
        about_rows=about_rows,
        looks=api.LookSettings(flattening=map, perplexity=perplexity, map_layers=_layers(layers), points=points),
        training=api.PairwiseSettings(
            train_on=tuple(split_names(train_on) or ()),
            epochs=epochs,
            learning_rate=learning_rate,
            batch=batch,
            seeds=tuple(range(seeds)),
            watch=api.Watch(on=watch, span=span, every=every),
            precision=precision,
        ),
    )
    with resumable(out), progress_bars() as tell:
        result = api.geometry(
            model,
            data or "embedded",
            languages=split_names(languages),
            types=split_names(types),
            rows=rows,
            small=small,
            seed=seed,
            settings=settings,
            out=out,
            device=device,
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
            progress=tell,
        )
    if not is_first_process():
        return
    print_notes(result.run["skipped"])
    if as_json:
        told = {"run": result.run, "records": result.records.to_dicts(), **result.found}
        print_json(told)
        return
    from interlingua.report.geometry_terminal import render_geometry
    from interlingua.report.record_adapter import to_v1
    from interlingua.report.screen import console

    render_geometry(to_v1(result.records), result.run, result.found, console())
    typer.echo(f"\nPage: {out / 'geometry.html'}")


def _layers(given: str) -> tuple[int, ...]:
    from interlingua.errors import InputError

    try:
        return tuple(int(part) for part in given.split(",") if part.strip())
    except ValueError as error:
        raise InputError("layers are numbers", value=given, remedy="Give --layers 0,-1.") from error
