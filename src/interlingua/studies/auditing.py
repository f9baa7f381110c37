"""The work of an audit: what is asked of a corpus and one or two encoders, checked, encoded once, measured, stored."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from interlingua import languages as codes
from interlingua.analyses.space_measures import (
    TWO_MODELS,
    Dictionary,
    Language,
    Measurement,
    MeasurePlan,
    asked_pairs,
    dictionary_measurement,
    encode_language,
    left_out,
    measurements,
    split_languages,
    unmeasured,
)
from interlingua.corpus import ParallelCorpus, Skip
from interlingua.encoder import Cache, Encoder
from interlingua.encoder.pooling import SINK
from interlingua.engine.atomic_files import write_text
from interlingua.engine.run_store import Store
from interlingua.errors import InputError
from interlingua.measures import measures as registry
from interlingua.measures.tokenization import Splits
from interlingua.readers import read_corpus
from interlingua.readers.embedded import place_names
from interlingua.record import Record, versions
from interlingua.studies.run_folder import check_folder

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


@dataclass(frozen=True)
class Questions:
    """What an audit asks: texts, measures, parallel names, dictionaries; which pairs, and which of them have a map."""

    texts: ParallelCorpus
    plan: MeasurePlan
    names: ParallelCorpus | None = None
    dictionaries: Sequence[Dictionary] = ()
    pairs: str = "all"
    maps: str = "pivot"


@dataclass(frozen=True)
class Prepared:
    """An audit whose texts the tokenizers can spell; `settings` decide its numbers: the same mean the same run."""

    encoders: Sequence[Encoder]
    asked: Questions
    splits: Sequence[dict[str, Splits]]
    skipped: Sequence[Skip]
    settings: dict[str, Any]
    started: float


@dataclass(frozen=True)
class Measured:
    """What was measured: records, what is known of the run, and every language in every model."""

    records: list[Record]
    run: dict[str, Any]
    spaces: list[list[Language]]


def prepare(encoders: Sequence[Encoder], asked: Questions) -> Prepared:
    """The audit of these models, cut into tokens and checked; nothing is written."""
    started = time.monotonic()
    split = [split_languages(encoder, asked.texts) for encoder in encoders]
    skipped = [skip for _, skips in split for skip in skips]
    return Prepared(encoders, asked, [found for found, _ in split], skipped, _settings(encoders, asked), started)


def measure(prepared: Prepared, folder: Path | None, *, cache: Cache | None, tell: Progress) -> Measured:
    """Encode every language once and take all measurements; with a folder, go on where a killed run was."""
    asked, encoders = prepared.asked, prepared.encoders
    texts, plan, settings = asked.texts, asked.plan, dict(prepared.settings)
    store = _open_store(folder, settings)  # Nothing is written before all that can be checked has been.
    spaces = _encode(encoders, texts, prepared.splits, plan, cache, tell)
    chosen = asked_pairs(texts, [texts.languages] * len(encoders), pairs=asked.pairs, maps=asked.maps)
    wanted = measurements(spaces, texts, asked.names, plan, chosen)
    for number, entry in enumerate(asked.dictionaries):
        tell("encoding words", number, len(asked.dictionaries))
        wanted.append(dictionary_measurement(entry, encoders[0], encoders[-1], plan, cache=cache))
    settings["steps"] = [measurement.key for measurement in wanted]
    if folder is not None:  # The records of a run that is cut short are told from others by them.
        write_text(folder / "run.json", json.dumps(settings, ensure_ascii=False, indent=1))
    made = _taken(wanted, store, tell)
    run = {
        **settings,
        "names": {code: codes.name(code) for code in texts.languages},
        "skipped": [
            *dict.fromkeys(note for encoder in encoders for note in (*encoder.notes, *pooling_notes(encoder, plan))),
            *dict.fromkeys(note for encoder in encoders for note in _marks(encoder, texts.languages)),
            *(cache.notes if cache is not None else ()),
            *left_out(texts, prepared.skipped, spaces),
            *unmeasured(plan, made, chosen),
        ],
        "rows": len(texts),
        "device": str(encoders[0].device),
        "versions": versions(),
        "seconds": round(time.monotonic() - prepared.started, 1),
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    return Measured(made, run, spaces)


def audit_plan(
    names: Sequence[str] | None, *, against: str | None, pooling: str | None, seed: int, prompt: str | None = None
) -> MeasurePlan:
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
    return MeasurePlan(chosen, seed=seed, pooling=pooling, prompt=prompt)


def audit_corpus(
    corpus: ParallelCorpus, languages: Sequence[str] | None, *, rows: int | None, seed: int, alone: bool
) -> ParallelCorpus:
    """The rows and languages asked for; refused where two languages share too few rows (`alone`: one may do)."""
    if languages is not None:
        corpus = corpus.select(languages)
    if len(corpus.languages) < (1 if alone else 2):
        raise InputError(
            f"an audit compares languages, and {'this corpus has one' if languages is None else 'one was named'}",
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


def pooling_notes(encoder: Encoder, plan: MeasurePlan) -> list[str]:
    """What is left out of means of a model's tokens, in words, and what else is not the same in all layers."""
    notes = []
    if encoder.output_layer is not None:
        prompt = f"after the prompt {encoder.prompt!r}" if encoder.prompt else "without a prompt"
        notes.append(
            f"the layer output of {encoder.name} is what SentenceTransformer.encode gives ({prompt}); the other "
            f"layers are of the bare texts, their tokens pooled by {plan.pooling or encoder.pooling}"
        )
    return notes + _sinks(encoder, plan)


def _marks(encoder: Encoder, languages: Sequence[str]) -> list[str]:
    """Which special token says a text's language, of a model that has such tokens."""
    marks = {code: encoder.reading(code).tokeniser.mark for code in languages}
    if not any(marks.values()):
        return []
    known = ", ".join(f"{code} ({mark})" for code, mark in marks.items() if mark)
    without = ", ".join(code for code, mark in marks.items() if not mark)
    said = f"; its tokenizer has no code for {without}, marked as it marks by default" if without else ""
    return [f"{encoder.name} marks each text by its language: {known}{said}"]


def _sinks(encoder: Encoder, plan: MeasurePlan) -> list[str]:
    sentences = plan.pooling or encoder.pooling
    if "sinkless" not in (sentences, encoder.mean):
        return []
    if plan.pooling == "mean":
        return ["attention sinks are counted in means, as --pooling mean says: one may outweigh all other tokens"]
    of_words = "" if sentences == "sinkless" else f" of words, and counted in sentences (pooled by {sentences})"
    return [
        f"attention sinks are left out of means{of_words}: in each layer the tokens over {SINK:g} times as long as the "
        "median of the others of their text (--pooling mean counts them)"
    ]


def audit_names(given: str | Path | None, texts: ParallelCorpus, plan: MeasurePlan) -> ParallelCorpus | None:
    """Parallel names where a measure asks for them: those given, or CLDR's territories."""
    if not any(registry[name].needs == "names" for name in plan.measures):
        if given is not None:
            raise InputError(
                "--spellings has nothing to do here", value=str(given), remedy="Leave it out, or measure spelling."
            )
        return None
    return place_names(texts.languages) if given is None else read_corpus(given)


def _settings(encoders: Sequence[Encoder], asked: Questions) -> dict[str, Any]:
    """What decides the numbers: the same settings mean the same run."""
    first, texts, plan = encoders[0], asked.texts, asked.plan
    digests = {"corpus": texts.digest, **{f"model {encoder.name}": encoder.digest for encoder in encoders}}
    if asked.names is not None:
        digests["names"] = asked.names.digest
    digests |= {f"dictionary {entry.source}-{entry.target}": entry.digest for entry in asked.dictionaries}
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
        **_outputs(encoders),
        "dim": first.dim,
        "precision": first.precision,
        "digests": digests,
        "pairs": asked.pairs,
        "maps": asked.maps,
    }


def _outputs(encoders: Sequence[Encoder]) -> dict[str, Any]:
    """The number of the layer `output`, and what comes before every text there; nothing where no model has one."""
    own = [encoder for encoder in encoders if encoder.output_layer is not None]
    if not own:
        return {}
    return {"output": own[0].output_layer, "prompt": list(dict.fromkeys(encoder.prompt for encoder in own))}


def _open_store(folder: Path | None, settings: dict[str, Any]) -> Store | None:
    """The store in a folder; one that holds another run is refused, nothing in it is touched."""
    if folder is None:
        return None
    check_folder(folder, kind="audit", same=settings)
    store = Store(folder)
    write_text(folder / "run.json", json.dumps(settings, ensure_ascii=False, indent=1))
    return store


def _encode(
    encoders: Sequence[Encoder],
    texts: ParallelCorpus,
    splits: Sequence[dict[str, Splits]],
    plan: MeasurePlan,
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


def _taken(wanted: list[Measurement], store: Store | None, tell: Progress) -> list[Record]:
    """Take the measurements that are not done, in parallel, stored in their order."""
    todo = [each for each in wanted if store is None or not store.done(each.key)]
    made: list[Record] = []
    threads = torch.get_num_threads()
    # The matrices are small: a thread a measurement beats many threads inside each.
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1), ThreadPoolExecutor(max(threads, 1)) as pool:
            finished = len(wanted) - len(todo)
            tell("measuring", finished, len(wanted))
            for measurement, result in zip(todo, pool.map(lambda each: each.run(), todo), strict=True):
                if store is not None:
                    store.append(measurement.key, result)
                else:
                    made += [record for record, _ in result]
                finished += 1
                tell("measuring", finished, len(wanted))
    finally:
        torch.set_num_threads(threads)
    if store is None:
        return made
    # A folder may hold steps of an earlier run whose inputs differed; they are not this run's.
    keys = {measurement.key for measurement in wanted}
    return [record for record in store.read() if record.step in keys]
