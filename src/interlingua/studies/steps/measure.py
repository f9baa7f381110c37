"""Representations to one measure's records: languages, pairs of them, or two models."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from interlingua.analyses.space_measures import (
    NAME,
    MeasurePlan,
    Work,
    describe_missing,
    measure_dictionary,
    measure_spaces,
    read_dictionaries,
    run_measurements,
    select_pairs,
)
from interlingua.engine.step import StepContext
from interlingua.measures import measures
from interlingua.readers.embedded_data import place_names
from interlingua.studies.step_settings import MeasureStep
from interlingua.studies.steps.step_io import load_space, path_of, read_parallel, write_notes, write_records


def run(settings: MeasureStep, context: StepContext) -> None:
    """Measure one or two models, every layer, pair of languages and dictionary, in as many threads as there are."""
    name, encoded = settings.measure, settings.encoded
    spaces = [load_space(each, context, f"{place} ") for place, each in enumerate(encoded)]
    first, last, corpus = encoded[0], encoded[-1], spaces[0].corpus
    asked = select_pairs(corpus, [each.known for each in encoded], pairs=settings.pairs, maps=settings.maps)
    notes: list[str] = []
    if name == NAME:
        plan = MeasurePlan(seed=first.seed, pooling=first.pooling)
        assert first.dictionary is not None
        words = read_dictionaries(path_of(first.dictionary, context), corpus.languages, seed=first.seed)
        # A model is asked for words of its own languages alone: of two, the first reads the source.
        entries = [entry for entry in words if entry.source in first.known and entry.target in last.known]
        if not entries:
            notes.append(f"no dictionary from {', '.join(first.known)} to {', '.join(last.known)}")
        work: list[Work] = [partial(measure_dictionary, entry, spaces[0], spaces[-1], plan) for entry in entries]
    else:
        plan = MeasurePlan((name,), seed=first.seed, pooling=first.pooling)
        names = None
        if measures[name].needs == "names":
            given = settings.spellings
            names = place_names(corpus.languages) if given is None else read_parallel(given)
        work = measure_spaces(spaces, names, plan, asked)
    made = run_measurements(work, context.progress)
    write_notes(context, [*notes, *describe_missing(plan, [record for record, _ in made], asked)])
    second = last.encoder.name if len(encoded) == 2 else None
    made = [(replace(record, against=second), items) for record, items in made]
    write_records(context, made, model=first.encoder.name, block=settings.block)
