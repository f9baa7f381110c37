"""Representations to one measure's records: a language, a pair of languages, or two models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from interlingua.analyses.space_measures import (
    asked_pairs,
    dictionary_measurement,
    measurements,
    read_dictionaries,
    unmeasured,
)
from interlingua.engine.records import Made
from interlingua.engine.step import Work
from interlingua.measures import measures
from interlingua.readers import read_corpus
from interlingua.readers.embedded import place_names
from interlingua.studies.steps.step_io import CACHE, Inputs, corpus_of, keep, languages_of, note, plan_of


def run(settings: Mapping[str, Any], inputs: Inputs, out: Path, work: Work) -> None:
    """Measure one or two models, every layer and pair of languages (with the first alone where `pairs` says pivot)."""
    name = settings["measure"]
    corpus, sides = corpus_of(settings), settings["sides"]
    kept = plan_of(settings, (name,))
    spaces, encoders = [], []
    for place, side in enumerate(sides):
        cache = inputs[f"{place} encode"] / CACHE
        encoder, languages, _ = languages_of(side, settings, corpus, kept, inputs, cache, work, role=f"{place} ")
        spaces.append(languages)
        encoders.append(encoder)
    names = None
    if measures[name].needs == "names":
        given = settings["spellings"]
        names = place_names(corpus.languages) if given is None else read_corpus(given)
    asked = asked_pairs(corpus, [side["spoken"] for side in sides], pairs=settings["pairs"])
    wanted = measurements(spaces, corpus, names, kept, asked)
    notes: list[str] = []
    if settings.get("dictionary") is not None:
        # A model is asked for words of its own languages alone: of two, the first reads the source.
        ours, theirs = sides[0]["spoken"], sides[-1]["spoken"]
        entries = [
            entry
            for entry in read_dictionaries(settings["dictionary"], corpus.languages, seed=settings["seed"])
            if entry.source in ours and entry.target in theirs
        ]
        if not entries:
            notes.append(f"no dictionary from {', '.join(ours)} to {', '.join(theirs)}")
        wanted += [dictionary_measurement(entry, encoders[0], encoders[-1], kept, cache=None) for entry in entries]
    made: Made = []
    for number, measurement in enumerate(wanted):
        work.progress("measuring", number, len(wanted))
        made += measurement.run()
    note(out, [*notes, *unmeasured(kept, [record for record, _ in made], asked)])
    second = sides[1]["encoder"]["name"] if len(sides) == 2 else None
    made = [(replace(record, against=second), items) for record, items in made]
    keep(out, work, made, model=sides[0]["encoder"]["name"], block=settings["called"])
