"""A fine-tuned model to the consistency of its attributions between languages (papers/002)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from interlingua.analyses.explanation import Explainer, ExplainSettings, Outside, example_lines, texts_of
from interlingua.engine.atomic_files import write_text
from interlingua.engine.step import StepContext
from interlingua.readers.examples import Examples
from interlingua.readers.word_lists import read_dictionary, read_vectors
from interlingua.record import Made
from interlingua.studies.step_settings import AttributeStep
from interlingua.studies.steps.step_io import load_tuned, path_of, write_notes, write_records
from interlingua.tasks.saved_models import FineTuned
from interlingua.words import token_spans

_KEPT = 200  # examples of each language whose attributions and flows are written out


def run(settings: AttributeStep, context: StepContext) -> None:
    """Explain one model in the language it was trained in, and compare every other language with that."""
    how: Any = settings.how
    own, source = ExplainSettings(**how), settings.source
    tuned = load_tuned(context)
    examples = {code: _read(tuned, settings, context, code) for code in settings.data}
    outside = Outside(
        {code: read_dictionary(path_of(file, context)) for code, file in settings.dictionaries.items()},
        {
            code: read_vectors(path_of(file, context), words=_words(examples[code]))
            for code, file in settings.vectors.items()
        },
    )
    explainer = Explainer(tuned, own, outside, context.progress)
    first = explainer.side(source, examples[source])
    made: Made = []
    for code, read in examples.items():
        second = first if code == source else explainer.side(code, read)
        records, compared = explainer.step(first, second)
        made += records
        for place, result in enumerate(compared):
            name = f"examples/{source}-{code}.{second.aspects[place].name}.jsonl"
            write_text(context.out / name, "\n".join([*example_lines(first, second, place, result, most=_KEPT), ""]))
    details = {"regime": settings.regime, "called": settings.block, "bitexts": list(settings.bitext_languages)}
    write_records(context, made, model=settings.encoder.name, **details, task=settings.task)
    write_notes(context, explainer.notes)


def _read(tuned: FineTuned, settings: AttributeStep, context: StepContext, code: str) -> Examples[Any]:
    examples: Examples[Any] = tuned.task.read(path_of(settings.data[code], context), code)
    # The first rows of each file, so that rows go on corresponding.
    return examples if settings.rows is None else replace(examples, items=examples.items[: settings.rows])


def _words(examples: Examples[Any]) -> set[str]:
    texts = [text for parts in texts_of(examples) for text in parts]
    return {text[start:end] for text in texts for start, end in token_spans(text)}
