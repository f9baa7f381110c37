"""The languages of a parallel corpus inside a model, from the representations that an earlier step kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlingua.corpus import ParallelCorpus, Skip
from interlingua.encoder import Encoder
from interlingua.encoder.representations import Cache
from interlingua.readers import read_corpus
from interlingua.studies.measuring import Language, MeasurePlan, encode_language, split_languages
from interlingua.studies.step import Work
from interlingua.studies.steps.given import Inputs, body_of

CACHE = Path("heavy") / "representations"


def corpus_of(settings: Mapping[str, Any]) -> ParallelCorpus:
    """The corpus with the languages and rows that are asked for."""
    corpus = read_corpus(settings["corpus"], languages=settings["languages"]).select(settings["languages"])
    return corpus if settings["rows"] is None else corpus.sample(settings["rows"], seed=settings["seed"])


def plan_of(settings: Mapping[str, Any], names: tuple[str, ...]) -> MeasurePlan:
    """What is measured, as the audit has it."""
    return MeasurePlan(names, seed=settings["seed"], pooling=settings["pooling"])


def languages_of(
    side: Mapping[str, Any],
    settings: Mapping[str, Any],
    corpus: ParallelCorpus,
    plan: MeasurePlan,
    inputs: Inputs,
    cache: Path,
    work: Work,
    *,
    role: str = "",
) -> tuple[Encoder, list[Language], list[Skip]]:
    """One side's encoder, its languages, and what was left out."""
    encoder = body_of(side["encoder"], inputs, precision=settings["precision"], role=role)
    found, skipped = [], []
    for number, code in enumerate(side["spoken"]):
        work.progress("encoding", number, len(side["spoken"]))
        cut, skips = split_languages(encoder, corpus.select([code]))
        found.append(encode_language(encoder, corpus, code, cut[code], plan, cache=Cache(cache)))
        skipped += skips
    return encoder, found, skipped
