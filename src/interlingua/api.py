"""What the command line calls, and what a notebook calls: `audit()`, `adjust()`, `pretrain()`, `align()`."""

from __future__ import annotations

import datetime
import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from interlingua import languages as codes
from interlingua.api_adjust import adjust
from interlingua.api_results import Audit, Pretrained
from interlingua.corpus import ParallelCorpus
from interlingua.encoder import Cache, Encoder, View
from interlingua.encoder.encoder import pick_device
from interlingua.encoder.loading import check_precision
from interlingua.errors import InputError
from interlingua.measures import measures as registry
from interlingua.measures.tokenization import Splits
from interlingua.readers import read_corpus
from interlingua.readers.places import place_names
from interlingua.report.files import report_files
from interlingua.report.readings import gather
from interlingua.studies.aligning import Alignment, align
from interlingua.studies.dictionaries import dictionary_step, read_dictionaries
from interlingua.studies.languagepairs import asked_pairs, measure_steps
from interlingua.studies.leftovers import left_out, unmeasured
from interlingua.studies.measuring import (
    Language,
    Made,
    Plan,
    Step,
    encode_language,
    split_languages,
)
from interlingua.studies.pretraining import held_out
from interlingua.studies.pretraining import pretrain as train_model
from interlingua.studies.projection import project
from interlingua.studies.recipe import read_config
from interlingua.studies.record import Record, versions
from interlingua.studies.runfolder import alone_in, check_folder
from interlingua.studies.store import Store, write_text

__all__ = ["Alignment", "Audit", "Pretrained", "adjust", "align", "audit", "pretrain"]

Progress = Callable[[str, int, int], None]
DEFAULT_MEASURES = (
    "retrieval",
    "procrustes",
    "procrustes-words",
    "cka",
    "separation",
    "isotropy",
    "tokenization",
    "spelling",
)
TWO_MODELS = ("procrustes", "procrustes-words", "cka")
"""What can be said of two models: measures that ask for no common space."""


def audit(
    model: str = "embedded",
    corpus: str | Path | ParallelCorpus = "sampler",
    *,
    languages: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    format: str | None = None,
    encoding: str | None = None,
    against: str | None = None,
    pairs: str | None = None,
    maps: str | None = None,
    pooling: str | None = None,
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
    names a second model: then every language of the first is compared with every language of the second. `format` and
    `encoding` help where the corpus's content leaves a doubt. `rows` draws that many rows by `seed`. `names`
    is a corpus of parallel names for `spelling`; by default CLDR's territories. `dictionary` is a folder of
    MUSE dictionaries: then words alone are mapped, too.
    """
    if seed < 0:
        raise InputError("the seed is negative", value=seed, remedy="Give 0 or more.")
    plan = _plan(measures, against=against, pooling=pooling, seed=seed)
    for what, choice in (("pairs", pairs), ("maps", maps)):
        if choice is not None and choice not in ("all", "pivot"):
            raise InputError(f"unknown choice of {what}", value=choice, remedy="Use all, or pivot.")
        if choice is not None and against is not None:
            raise InputError(
                f"--{what} has nothing to do here",
                value=choice,
                remedy="With --against every language of one model is compared with every one of the other.",
            )
    pairs, maps = pairs or "all", maps or "pivot"
    if isinstance(corpus, str | Path):
        corpus = read_corpus(corpus, languages=languages, format=format, encoding=encoding)
    texts = _corpus(corpus, languages, rows=rows, seed=seed, alone=against is not None)
    parallel_names = _names(names, texts, plan)
    entries = [] if dictionary is None else read_dictionaries(dictionary, texts.languages, seed=seed)
    tell = progress or (lambda stage, done, total: None)
    tell("loading the model", 0, 1)

    def load(name: str) -> Encoder:
        return Encoder.load(
            name, device=device, precision=precision, trust_remote_code=trust_remote_code, allow_pickle=allow_pickle
        )

    first = load(model)
    encoders = [first] if against is None else [first, load(against)]
    for encoder in encoders:
        encoder.checked(View("sentence", pooling), texts=1)
    started = time.monotonic()
    splits = [split_languages(encoder, texts) for encoder in encoders]
    settings = {**_settings(encoders, texts, plan), "pairs": pairs, "maps": maps}
    if parallel_names is not None:
        settings["digests"]["names"] = parallel_names.digest
    settings["digests"] |= {f"dictionary {entry.source}-{entry.target}": entry.digest for entry in entries}
    with alone_in(None if out is None else Path(out), "audit"):
        store = _open_store(out, settings)  # Nothing is written before all that can be checked has been.
        spaces = _encode(encoders, texts, [found for found, _ in splits], plan, _cache(cache), tell)
        asked = asked_pairs(texts, [texts.languages] * len(encoders), pairs=pairs, maps=maps)
        steps = measure_steps(spaces, texts, parallel_names, plan, asked)
        for number, entry in enumerate(entries):
            tell("encoding words", number, len(entries))
            steps.append(dictionary_step(entry, encoders[0], encoders[-1], plan, cache=_cache(cache)))
        settings["steps"] = [step.key for step in steps]
        if out is not None:  # The records of a run that is cut short are told from others by them.
            write_text(Path(out) / "run.json", json.dumps(settings, ensure_ascii=False, indent=1))
        made = _run(steps, store, tell)
        records = [record.to_dict() for record in made]
        run = {
            **settings,
            "names": {code: codes.name(code) for code in texts.languages},
            "skipped": [
                *dict.fromkeys(note for encoder in encoders for note in encoder.notes),
                *left_out(texts, [skip for _, skips in splits for skip in skips], spaces),
                *unmeasured(plan, made, asked),
            ],
            "rows": len(texts),
            "device": str(first.device),
            "versions": versions(),
            "seconds": round(time.monotonic() - started, 1),
            "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        }
        found = gather(records)
        best = found.best_layer()
        points = project(spaces[0], texts, layer=first.layers[-1] if best is None else best, seed=seed)
        if out is not None:
            folder = Path(out)
            write_text(folder / "map.json", json.dumps(points, ensure_ascii=False))
            for name, text in report_files(records, run, points, found=found).items():
                write_text(folder / name, text)
            write_text(folder / "run.json", json.dumps(run, ensure_ascii=False, indent=1))
        return Audit(records, run, points, None if out is None else Path(out))


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


def _plan(names: Sequence[str] | None, *, against: str | None, pooling: str | None, seed: int) -> Plan:
    """The measures asked for, checked before anything is loaded."""
    chosen = tuple(names) if names is not None else DEFAULT_MEASURES if against is None else TWO_MODELS
    for name in chosen:
        registry[name]  # Raises with the nearest name.
        if against is not None and name not in TWO_MODELS:
            raise InputError(
                "this measure needs one space, and two models have two",
                value=name,
                remedy=f"With a second model use: {', '.join(TWO_MODELS)}.",
            )
    if not chosen:
        raise InputError("no measure was named", remedy="Leave --measures out for those of a plain audit.")
    return Plan(chosen, seed=seed, pooling=pooling)


def _corpus(
    corpus: ParallelCorpus, languages: Sequence[str] | None, *, rows: int | None, seed: int, alone: bool
) -> ParallelCorpus:
    if languages is not None:
        corpus = corpus.select(languages)
    if len(corpus.languages) < (1 if alone else 2):
        raise InputError(
            "an audit compares languages, and this corpus has one",
            value=corpus.languages[0],
            remedy="Give at least two.",
        )
    if rows is not None and rows < 1:
        raise InputError("the number of rows must be positive", value=rows, remedy="Leave --rows out for all of them.")
    corpus = corpus if rows is None else corpus.sample(rows, seed=seed)
    if not alone:
        for source, target in corpus.pairs():
            count = len(corpus.pair(source, target).rows)
            if count < 10:
                raise InputError(
                    f"{source} and {target} share only {count} row{'s' if count > 1 else ''} in {corpus.name}",
                    remedy="No measure says anything below 10; give more rows or other --languages.",
                )
    return corpus


def _names(given: str | Path | None, texts: ParallelCorpus, plan: Plan) -> ParallelCorpus | None:
    if not any(registry[name].needs == "names" for name in plan.measures):
        if given is not None:
            raise InputError(
                "--names has nothing to do here", value=str(given), remedy="Leave it out, or measure spelling."
            )
        return None
    return place_names(texts.languages) if given is None else read_corpus(given)


def _settings(encoders: list[Encoder], texts: ParallelCorpus, plan: Plan) -> dict[str, Any]:
    """What decides the numbers: the same settings mean the same run."""
    first = encoders[0]
    return {
        "kind": "audit",
        "model": first.name,
        "against": encoders[1].name if len(encoders) > 1 else None,
        "corpus": texts.name,
        "languages": list(texts.languages),
        "measures": list(plan.measures),
        "pooling": plan.pooling or first.pooling,
        "seed": plan.seed,
        "layers": list(first.layers),
        "dim": first.dim,
        "precision": first.precision,
        "digests": {"corpus": texts.digest, **{f"model {e.name}": e.digest for e in encoders}},
    }


def _open_store(out: str | Path | None, settings: dict[str, Any]) -> Store | None:
    """The store at `out`; a folder that holds another run is refused, nothing in it is touched."""
    if out is None:
        return None
    folder = Path(out)
    check_folder(folder, kind="audit", same=settings)
    store = Store(folder)
    write_text(folder / "run.json", json.dumps(settings, ensure_ascii=False, indent=1))
    return store


def _cache(given: str | Path | None) -> Cache | None:
    """The cache of representations: a folder, `none`, or the user's cache folder."""
    if given is not None and str(given) == "none":
        return None
    if given is not None:
        return Cache(Path(given))
    home = os.environ.get("INTERLINGUA_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Cache(Path(home) / "interlingua" / "representations")


def _encode(
    encoders: list[Encoder],
    texts: ParallelCorpus,
    splits: list[dict[str, Splits]],
    plan: Plan,
    cache: Cache | None,
    tell: Progress,
) -> list[list[Language]]:
    """Every language in every model, one pass each."""
    total = len(encoders) * sum(len(texts.rows_of(code)) for code in texts.languages)
    done = 0
    spaces: list[list[Language]] = []
    for encoder, cut in zip(encoders, splits, strict=True):
        spaces.append([])
        for code in texts.languages:
            bar = partial(lambda before, part, _: tell("encoding", before + part, total), done)
            language = encode_language(encoder, texts, code, cut[code], plan, cache=cache, progress=bar)
            spaces[-1].append(language)
            done += len(language.rows)
    return spaces


def _run(steps: list[Step], store: Store | None, tell: Progress) -> list[Record]:
    """Run the steps that are not done, in parallel, stored in their order."""
    todo = [step for step in steps if store is None or not store.done(step.key)]
    made: list[Record] = []
    threads = torch.get_num_threads()
    # The matrices are small: a thread a step beats many threads inside each.
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1), ThreadPoolExecutor(max(threads, 1)) as pool:
            finished = len(steps) - len(todo)
            tell("measuring", finished, len(steps))
            for step, result in zip(todo, pool.map(lambda step: step.run(), todo), strict=True):
                _keep(step, result, store, made)
                finished += 1
                tell("measuring", finished, len(steps))
    finally:
        torch.set_num_threads(threads)
    if store is None:
        return made
    # A folder may hold steps of an earlier run whose inputs differed; they are not this run's.
    wanted = {step.key for step in steps}
    return [record for record in store.read() if record.step in wanted]


def _keep(step: Step, result: Made, store: Store | None, made: list[Record]) -> None:
    if store is not None:
        store.append(step.key, result)
    else:
        made += [record for record, _ in result]
