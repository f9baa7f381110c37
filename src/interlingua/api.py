"""What the command line calls, and what a notebook calls: `audit()`, `adjust()`, `pretrain()`, `align()`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch

from interlingua import languages as codes
from interlingua.api_adjust import adjust
from interlingua.api_results import Audit, Pretrained
from interlingua.argument_types import check_argument_types
from interlingua.encoder import Cache, Encoder, View
from interlingua.encoder.devices import pick_device
from interlingua.encoder.loading import check_precision
from interlingua.errors import InputError
from interlingua.readers import read_corpus
from interlingua.report.files import report_files
from interlingua.report.readings import gather
from interlingua.studies.aligning import Alignment, align
from interlingua.studies.auditing import (
    DEFAULT_MEASURES,
    Questions,
    audit_corpus,
    audit_names,
    audit_plan,
    measure,
    prepare,
)
from interlingua.studies.dictionaries import read_dictionaries
from interlingua.studies.pretraining import held_out
from interlingua.studies.pretraining import pretrain as train_model
from interlingua.studies.projection import project
from interlingua.studies.recipe import read_config
from interlingua.studies.runfolder import alone_in
from interlingua.studies.store import write_text

__all__ = ["DEFAULT_MEASURES", "Alignment", "Audit", "Pretrained", "adjust", "align", "audit", "pretrain"]

Progress = Callable[[str, int, int], None]


@check_argument_types
def audit(
    model: str = "embedded",
    corpus: object = "sampler",
    *,
    languages: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    format: str | None = None,
    encoding: str | None = None,
    column: int | str | None = None,
    against: str | None = None,
    pairs: str | None = None,
    maps: str | None = None,
    pooling: str | None = None,
    prompt: str | None = None,
    rows: int | None = None,
    names: str | Path | None = None,
    dictionary: str | Path | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    cache: str | Path | None = None,
    device: str | None = None,
    precision: str | None = None,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """How well the languages of a corpus are aligned inside a model, layer by layer.

    Encodes each language once and runs the measures over all layers and language pairs (`pairs`: all, or pivot:
    only those with the first language); measures that fit a map do so for pairs with the first language
    (`maps`: pivot, or all), since a map costs more than all comparisons of a pair. With `out`, records, tables, figures
    and a page are written there, and a second call with the same settings continues what a killed one began. `against`
    names a second model: then every language of the first is compared with every language of the second. `corpus` is
    whatever `read_corpus` takes: a path, a DataFrame, a mapping, rows, pairs of texts. `format`, `encoding` and
    `column` (of files with columns) help where the corpus's content leaves a doubt. `prompt`, a text or its name, comes
    before every text in the layer `output` of a sentence-transformers model. `rows` draws that many rows by `seed`.
    `names` is a corpus of parallel names for `spelling`; by default CLDR's territories. `dictionary` is a folder of
    MUSE dictionaries: then words alone are mapped, too.
    """
    if seed < 0:
        raise InputError("the seed is negative", value=seed, remedy="Give 0 or more.")
    plan = audit_plan(measures, against=against, pooling=pooling, seed=seed, prompt=prompt)
    _check_choices({"pairs": pairs, "maps": maps}, against)
    chosen = None if languages is None else codes.several(languages)
    texts = read_corpus(corpus, languages=chosen, format=format, encoding=encoding, column=column)
    texts = audit_corpus(texts, chosen, rows=rows, seed=seed, alone=against is not None)
    parallel_names = audit_names(names, texts, plan)
    entries = [] if dictionary is None else read_dictionaries(dictionary, texts.languages, seed=seed)
    asked = Questions(texts, plan, parallel_names, entries, pairs or "all", maps or "pivot")
    tell = progress or (lambda stage, done, total: None)
    tell("loading the model", 0, 1)

    def load(name: str) -> Encoder:
        return Encoder.load(
            name, device=device, precision=precision, trust_remote_code=trust_remote_code, allow_pickle=allow_pickle,
            prompt=prompt,
        )  # fmt: skip

    first = load(model)
    encoders = [first] if against is None else [first, load(against)]
    for encoder in encoders:
        encoder.checked(View("sentence", pooling), texts=1)
    prepared, folder = prepare(encoders, asked), None if out is None else Path(out)
    with alone_in(folder, "audit"):
        measured = measure(prepared, folder, cache=_cache(cache), tell=tell)
        records, run = [record.to_dict() for record in measured.records], measured.run
        found = gather(records)
        best = found.best_layer()
        points = project(measured.spaces[0], texts, layer=first.layers[-1] if best is None else best, seed=seed)
        points["layer"] = "output" if best is not None and best == found.output else points["layer"]
        if folder is not None:
            write_text(folder / "map.json", json.dumps(points, ensure_ascii=False))
            for name, text in report_files(records, run, points, found=found).items():
                write_text(folder / name, text)
            write_text(folder / "run.json", json.dumps(run, ensure_ascii=False, indent=1))
        return Audit(records, run, points, folder)


@check_argument_types
def pretrain(
    config: str | Path,
    *,
    out: str | Path,
    device: str | None = None,
    progress: Progress | None = None,
    stop_after: float | None = None,
) -> Pretrained:
    """Train a tokenizer and a masked LM on plain text a language, as a TOML file says, into a Hugging Face folder.

    Paths in the file start from its own folder. A killed run goes on when the same call is made again, and so
    does one that `stop_after` seconds ended; a finished one is not run again. Started by `torchrun` or
    `accelerate launch`, all processes train one model.
    """
    settings, home = read_config(Path(config)), Path(config).parent
    place = pick_device(device)
    try:
        check_precision(place, settings.training.precision)
    except InputError as error:
        raise settings.source.wrong(
            error.problem, "training", "precision", value="bf16", remedy='Use precision = "fp32", or a GPU.'
        ) from error
    if place.index is not None:
        torch.cuda.set_device(place)  # The launcher of several processes chooses; alone, it takes the current one.
    with alone_in(Path(out), "pretrain"):
        summary = train_model(
            settings,
            held_out(settings, home),
            home=home,
            out=Path(out),
            device=place,
            progress=progress,
            stop_after=stop_after,
        )
    return Pretrained(Path(out), summary)


def _check_choices(choices: Mapping[str, str | None], against: str | None) -> None:
    for what, choice in choices.items():
        if choice is not None and choice not in ("all", "pivot"):
            raise InputError(f"unknown choice of {what}", value=choice, remedy="Use all, or pivot.")
        if choice is not None and against is not None:
            raise InputError(
                f"--{what} has nothing to do here",
                value=choice,
                remedy="With --against every language of one model is compared with every one of the other.",
            )


def _cache(given: str | Path | None) -> Cache | None:
    """The cache of representations: a folder, `none`, or the user's cache folder."""
    if given is not None and str(given) == "none":
        return None
    if given is not None:
        return Cache(Path(given))
    home = os.environ.get("INTERLINGUA_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Cache(Path(home) / "interlingua" / "representations")
