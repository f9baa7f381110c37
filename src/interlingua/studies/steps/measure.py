"""Representations to one measure's records: a language, a pair of languages, or two models."""

from __future__ import annotations

import copy
from dataclasses import replace

from interlingua.analyses.space_measures import (
    asked_pairs,
    dictionary_measurement,
    measurements,
    read_dictionaries,
    unmeasured,
)
from interlingua.encoder import Encoder
from interlingua.engine.step import StepContext
from interlingua.measures import measures
from interlingua.readers import read_corpus
from interlingua.readers.embedded import place_names
from interlingua.record import Made
from interlingua.studies.step_settings import MeasureStep
from interlingua.studies.steps.step_io import (
    VECTORS,
    corpus_of,
    load_body,
    path_of,
    plan_of,
    read_languages,
    write_notes,
    write_records,
)


def run(settings: MeasureStep, context: StepContext) -> None:
    """Measure one or two models, every layer and pair of languages (with the first alone where `pairs` says pivot)."""
    name, sides = settings.measure, settings.sides
    corpus, plan = corpus_of(settings, context), plan_of(settings, (settings.measure,))
    spaces, encoders = [], []
    for place, side in enumerate(sides):
        encoder = load_body(side.encoder, context, role=f"{place} ")
        encoders.append(encoder)
        reader = _reader(encoder, settings.precision)
        vectors = context.inputs[f"{place} encode"] / VECTORS
        spaces.append(read_languages(reader, side.known, corpus, plan, context, vectors)[0])
    names = None
    if measures[name].needs == "names":
        given = settings.spellings
        names = place_names(corpus.languages) if given is None else read_corpus(path_of(given, context))
    asked = asked_pairs(corpus, [list(side.known) for side in sides], pairs=settings.pairs)
    wanted = measurements(spaces, corpus, names, plan, asked)
    notes: list[str] = []
    if settings.dictionary is not None:
        # A model is asked for words of its own languages alone: of two, the first reads the source.
        ours, theirs = sides[0].known, sides[-1].known
        words = read_dictionaries(path_of(settings.dictionary, context), corpus.languages, seed=settings.seed)
        entries = [entry for entry in words if entry.source in ours and entry.target in theirs]
        if not entries:
            notes.append(f"no dictionary from {', '.join(ours)} to {', '.join(theirs)}")
        wanted += [dictionary_measurement(entry, encoders[0], encoders[-1], plan, cache=None) for entry in entries]
    made: Made = []
    for number, measurement in enumerate(wanted):
        context.progress("measuring", number, len(wanted))
        made += measurement.run()
    write_notes(context, [*notes, *unmeasured(plan, [record for record, _ in made], asked)])
    second = sides[1].encoder.name if len(sides) == 2 else None
    made = [(replace(record, target_model=second), items) for record, items in made]
    write_records(context, made, model=sides[0].encoder.name, called=settings.block)


def _reader(encoder: Encoder, precision: str) -> Encoder:
    """The encoder as it finds vectors of a precision that were made elsewhere: a step that measures has no GPU."""
    found = copy.copy(encoder)
    found.precision = precision
    return found
