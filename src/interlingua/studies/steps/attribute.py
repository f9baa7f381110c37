"""A fine-tuned model to the consistency of its attributions between languages (papers/002)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from interlingua.analyses.explanation import Explainer, ExplainSettings, Outside, example_lines, texts_of
from interlingua.engine.records import Made, write_text
from interlingua.engine.step import Work
from interlingua.readers.examples import Examples
from interlingua.readers.word_lists import read_dictionary, read_vectors
from interlingua.studies.steps.step_io import MODEL, Inputs, file_of, keep, note
from interlingua.tasks.saved_models import FineTuned, load
from interlingua.words import token_spans

_KEPT = 200  # examples of each language whose attributions and flows are written out


def run(settings: Mapping[str, Any], inputs: Inputs, out: Path, work: Work) -> None:
    """Explain one model in the language it was trained in, and compare every other language with that."""
    own, source = ExplainSettings(**settings["settings"]), settings["source"]
    tuned = load(inputs["tuned"] / MODEL)
    examples = {code: _read(tuned, settings, inputs, code) for code in settings["data"]}
    outside = Outside(
        {code: read_dictionary(path) for code, path in settings["dictionaries"].items()},
        {code: read_vectors(path, words=_words(tuned, examples[code])) for code, path in settings["vectors"].items()},
    )
    explainer = Explainer(tuned, own, outside, work.progress)
    first = explainer.side(source, examples[source])
    made: Made = []
    for code, each in examples.items():
        second = first if code == source else explainer.side(code, each)
        records, compared = explainer.step(first, second)
        made += records
        for place, result in enumerate(compared):
            name = f"examples/{source}-{code}.{second.aspects[place].name}.jsonl"
            write_text(out / name, "\n".join([*example_lines(first, second, place, result, most=_KEPT), ""]))
    asked = {"task": settings["task"], "regime": settings["regime"], "bitexts": tuple(settings["spoken"])}
    keep(out, work, made, model=settings["encoder"]["name"], block=settings["called"], **asked)
    note(out, explainer.notes)


def _read(tuned: FineTuned, settings: Mapping[str, Any], inputs: Inputs, code: str) -> Examples[Any]:
    examples: Examples[Any] = tuned.task.read(file_of(settings["data"][code], inputs), code)
    # The first rows of each file, so that rows go on corresponding.
    return examples if settings["rows"] is None else replace(examples, items=examples.items[: settings["rows"]])


def _words(tuned: FineTuned, examples: Examples[Any]) -> set[str]:
    texts = [text for parts in texts_of(tuned.task, examples) for text in parts]
    return {text[start:end] for text in texts for start, end in token_spans(text)}
