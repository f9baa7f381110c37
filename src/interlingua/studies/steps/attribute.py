"""A fine-tuned model to its attributions in a language, and their consistency with another's (Wang et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from interlingua.analyses.explained_examples import EXAMPLES
from interlingua.analyses.explanation import (
    ExplainedLanguage,
    Explainer,
    ExplainSettings,
    ExternalVectors,
    explained_examples,
    words_of,
)
from interlingua.attribution.inputs import Attributions
from interlingua.engine.atomic_files import write_text
from interlingua.engine.serialization import digest
from interlingua.engine.step import Progress, StepContext
from interlingua.readers.examples import Examples
from interlingua.readers.word_lists import read_dictionary, read_vectors
from interlingua.studies.step_settings import AttributeStep
from interlingua.studies.steps.step_io import load_tuned, path_of, write_notes, write_records
from interlingua.tasks.saved_models import FineTuned

_ATTRIBUTIONS = Path("heavy") / "attributions.npz"
_FIELDS = tuple(each.name for each in fields(Attributions))


def run(settings: AttributeStep, context: StepContext) -> None:
    """Explain one model in one language, and compare that with the language it was trained in.

    A process that attributed the language of training has it at hand for all others; another reads what was found.
    """
    tuned, source, language = load_tuned(context, settings.folder), settings.source, settings.language
    explainer, examples = _explainer(tuned, settings, context, language, context.progress)
    if language == source:
        first = second = context.objects.get(_side_key(context.key), lambda: explainer.side(language, examples))
        if context.group.is_first:
            _write_attributions(context.out / _ATTRIBUTIONS, first)
    else:
        made = context.inputs["source"]
        first = context.objects.get(_side_key(made.name), lambda: _side_again(tuned, settings, context, made))
        second = explainer.side(language, examples)
    records, compared = explainer.step(first, second)
    if context.group.is_first:
        for place, result in enumerate(compared):
            shown = explained_examples(first, second, place, result, most=settings.examples or None)
            lines = [example.to_json() for example in shown]
            name = f"{source}-{language}.{second.aspects[place].name}.jsonl"
            write_text(context.out / EXAMPLES / name, "\n".join([*lines, ""]))
    told = {"block": settings.block, "task": settings.task, "regime": settings.regime}
    bitexts = tuple(settings.bitext_languages) if settings.folder is None else None
    write_records(context, records, model=settings.model, bitexts=bitexts, **told)
    write_notes(context, explainer.notes)


def _side_key(step: str) -> str:
    return digest(["side", step])


def _explainer(
    tuned: FineTuned, settings: AttributeStep, context: StepContext, language: str, progress: Progress | None
) -> tuple[Explainer, Examples[Any]]:
    """What explains the model in a language, and its examples: the first rows, so that rows go on corresponding."""
    how: Any = settings.how
    examples: Examples[Any] = tuned.task.read(path_of(settings.tests[language], context), language)
    if settings.rows is not None:
        examples = replace(examples, items=examples.items[: settings.rows])
    outside = ExternalVectors(
        {
            code: read_dictionary(path_of(file, context))
            for code, file in settings.dictionaries.items()
            if code == language
        },
        {
            code: read_vectors(path_of(file, context), words=words_of(examples))
            for code, file in settings.vectors.items()
            if code == language
        },
    )
    return Explainer(tuned, ExplainSettings(**how), outside, progress), examples


def _side_again(tuned: FineTuned, settings: AttributeStep, context: StepContext, made: Path) -> ExplainedLanguage:
    """The language of training as its own step attributed it, which has reported what was left out."""
    explainer, examples = _explainer(tuned, settings, context, settings.source, None)
    return explainer.side_again(settings.source, examples, list(_read_attributions(made / _ATTRIBUTIONS)))


def _write_attributions(file: Path, side: ExplainedLanguage) -> None:
    """Keep a side's attributions, the model's and each random head's, for steps of other processes."""
    file.parent.mkdir()
    arrays = {
        f"{head}/{aspect}/{name}": getattr(each, name)
        for head, found in enumerate((side.found, *side.heads))
        for aspect, each in enumerate(found)
        for name in _FIELDS
    }
    np.savez(file, allow_pickle=False, **arrays)


def _read_attributions(file: Path) -> Iterator[list[Attributions]]:
    """The attributions of a side by aspect: the model's, then each random head's."""
    with np.load(file, allow_pickle=False) as arrays:
        for head in _counted(name.split("/")[0] for name in arrays.files):
            aspects = _counted(name.split("/")[1] for name in arrays.files)
            yield [Attributions(*(arrays[f"{head}/{aspect}/{name}"] for name in _FIELDS)) for aspect in aspects]


def _counted(names: Iterable[str]) -> range:
    return range(len(set(names)))
