"""One row of the data, explained: which example is meant in each language, what it is, what the model says, and why."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua import languages as codes
from interlingua.analyses.explained_examples import ExplainedExample
from interlingua.analyses.explanation import (
    ExplainedLanguage,
    Explainer,
    by_order,
    explained_examples,
    explained_text,
    verdicts,
)
from interlingua.errors import InputError
from interlingua.readers.examples import Examples, TaggedWords
from interlingua.tasks.saved_models import FineTuned
from interlingua.training.task import Task

Ints = NDArray[np.int64]
Files = Mapping[str, Examples[Any]]


@dataclass(frozen=True, kw_only=True)
class RowPrediction:
    """What a file and the model say of a row in one language; `id` is that of a question, else empty."""

    language: str
    file: str
    line: int
    id: str = ""
    gold: str
    predicted: str

    @property
    def is_wrong(self) -> bool:
        """Whether the model says something else than the file."""
        return self.gold != self.predicted


@dataclass(frozen=True, kw_only=True)
class RowExplanation:
    """A row in every language that has it: the prediction in each, and what speaks for it.

    `examples` are texts with attributions, alone or beside what belongs to them in another language, then with what
    flows between the two.
    """

    row: str
    predictions: tuple[RowPrediction, ...]
    examples: tuple[ExplainedExample, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Whether the model is wrong in one of the languages."""
        return any(prediction.is_wrong for prediction in self.predictions)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "row": self.row,
            "predictions": [vars(prediction) for prediction in self.predictions],
            "examples": [example.to_dict() for example in self.examples],
            "notes": list(self.notes),
        }


def find_row(task: Task, files: Files, asked: str) -> dict[str, int]:
    """The number of the row that is asked for in each language that has it.

    Asked for by the line that it begins on (`57`; in a file of tagged words any of its lines), by language or file and
    line (`es:57`, `test-es.tsv:57`), or by a question's id. A line alone must mean one row in all files.
    """
    if task.kind == "span" and (found := _of_id(files, asked)):
        return found
    place, _, line = asked.rpartition(":")
    if not line.isdecimal():
        raise InputError(
            "neither a line nor an id of the data",
            value=asked,
            remedy="Give --row 57, --row es:57 (of that language's file)" + _or_id(task) + ".",
        )
    there = _with_line(task, _named(files, place, asked), int(line), asked)
    rows = [_elsewhere(task, files, code, number) for code, number in there.items()]
    if any(row != rows[0] for row in rows):
        where = ", ".join(f"--row {code}:{line}" for code in there)
        raise InputError("another row in each file", value=asked, remedy=f"Say which is meant: {where}.")
    return rows[0]


def _or_id(task: Task) -> str:
    return ", or a question's id" if task.kind == "span" else ""


def _of_id(files: Files, asked: str) -> dict[str, int]:
    numbers = {code: [n for n, item in enumerate(each) if item.id == asked] for code, each in files.items()}
    return {code: own[0] for code, own in numbers.items() if own}


def _named(files: Files, place: str, asked: str) -> Files:
    """The files that a place names: a language, or a file's name; all of them where none is named."""
    if not place:
        return files
    chosen = {code: each for code, each in files.items() if place in (code, each.name)}
    if not chosen and place.replace("-", "").isalpha():
        code = codes.canonical(place)
        chosen = {code: files[code]} if code in files else {}
    if not chosen:
        shown = ", ".join(f"{code} ({each.name})" for code, each in files.items())
        raise InputError("no data of this name", value=asked, remedy=f"Given are: {shown}.")
    return chosen


def _with_line(task: Task, files: Files, line: int, asked: str) -> dict[str, int]:
    """The example on a line of each file that has one there."""
    found: dict[str, int] = {}
    for code, each in files.items():
        own = [number for number, item in enumerate(each) if item.line <= line <= _last(item)]
        if len(own) > 1:
            raise InputError(
                f"{len(own)} examples on one line",
                file=each.name,
                value=asked,
                remedy=f"Give an id: {each[own[0]].id}.",
            )
        found.update((code, number) for number in own)
    if not found:
        names = ", ".join(each.name for each in files.values())
        left = sorted({f"{skip}" for each in files.values() for skip in each.skipped})
        why = f" Left out were {'; '.join(left)}." if left else ""
        raise InputError(
            f"no example on this line of {names}", value=asked, remedy=f"Give the line of one{_or_id(task)}.{why}"
        )
    return found


def _last(item: Any) -> int:
    """The last line of an example: tagged words have one each."""
    return int(item.line) + (len(item.words) - 1 if isinstance(item, TaggedWords) else 0)


def _elsewhere(task: Task, files: Files, code: str, number: int) -> dict[str, int]:
    """The same row in all files that have it, by id, by line or by order, as rows correspond."""
    if task.kind == "span":
        return _of_id(files, files[code][number].id)
    found = {}
    for other, each in files.items():
        if other == code or by_order(task, files[code], each):
            found[other] = number
        else:
            line = files[code][number].line
            found.update((other, n) for n, item in enumerate(each) if item.line == line)
    return found


def explain_row(explainer: Explainer, files: Files, asked: str, *, own: str) -> RowExplanation:
    """A row explained: the answer that the settings say; where the model is wrong, what it says, too.

    `own` is the language that others are laid beside, the model's own; the first that has the row where it lacks it.
    """
    task, before = explainer.tuned.task, len(explainer.notes)
    rows = find_row(task, files, asked)
    one: dict[str, Examples[Any]] = {
        code: replace(files[code], items=(files[code][row],), skipped=()) for code, row in rows.items()
    }
    first = own if own in one else next(iter(one))
    choices = [explainer.settings.target]
    reads = {code: explainer.read(code, each) for code, each in one.items()}
    said = {code: verdicts(task, one[code], read.predictions)[0] for code, read in reads.items()}
    wrong = any(gold != predicted for gold, predicted in said.values())
    if wrong and choices == ["gold"]:
        choices.append("predicted")
    shown: dict[Hashable, ExplainedExample] = {}
    for choice in choices:
        again = reads if choice == choices[0] else {c: explainer.read(c, e, choice=choice) for c, e in one.items()}
        sides = {
            code: explainer.attributed(read, judged=False)
            for code, read in again.items()
            if all(len(aspect.targets) for aspect in read.aspects)
        }
        for key, example in _examples(explainer, sides, first):
            texts = tuple(
                replace(text, gold=said[text.language][0], predicted=said[text.language][1]) for text in example.texts
            )
            shown.setdefault(key, replace(example, answer=choice, texts=texts))
    absent = [f"{files[code].name}: does not have the row {asked}" for code in files if code not in rows]
    return RowExplanation(
        row=asked,
        predictions=tuple(
            _prediction(code, one[code], said[code]) for code in sorted(one, key=lambda code: code != first)
        ),
        examples=tuple(shown.values()),
        notes=(*absent, *dict.fromkeys(explainer.notes[before:])),
    )


def _prediction(code: str, examples: Examples[Any], said: tuple[str, str]) -> RowPrediction:
    item = examples[0]
    return RowPrediction(
        language=code,
        file=examples.name,
        line=item.line,
        id=str(getattr(item, "id", "")),
        gold=said[0],
        predicted=said[1],
    )


def _examples(
    explainer: Explainer, sides: Mapping[str, ExplainedLanguage], first: str
) -> Iterator[tuple[Hashable, ExplainedExample]]:
    """Everything that is explained of a row, with what identifies it: pairs of two languages, then what is alone."""
    for place in range(max((len(side.aspects) for side in sides.values()), default=0)):
        met: dict[str, set[int]] = {code: set() for code in sides}
        for code in sides if first in sides else ():
            source, target = sides[first], sides[code]
            if code == first or not len(explainer.paired(source, target, place)[1][0]):
                continue
            compared = explainer.compare(source, target, place)
            explainer.notes += [f"{first}–{code}: {skip}" for skip in compared.found.skipped]
            examples = explained_examples(source, target, place, compared)
            for row, example in zip(compared.found.rows, examples, strict=True):
                numbers = [int(pair[row]) for pair in compared.pairs]
                met[first].add(numbers[0])
                met[code].add(numbers[1])
                yield _with_about(explainer.tuned, ((source, numbers[0]), (target, numbers[1])), place, example)
        for code, side in sides.items():
            for number in sorted(set(range(len(side.aspects[place].targets))) - met[code]):
                values = side.weighed(place, np.array([number])).values
                text = explained_text(side, place, number, values)
                aspect = side.aspects[place]
                alone = ExplainedExample(key=aspect.keys[number], aspect=aspect.name, texts=(text,))
                yield _with_about(explainer.tuned, ((side, number),), place, alone)


def _with_about(
    tuned: FineTuned, sides: Sequence[tuple[ExplainedLanguage, int]], place: int, example: ExplainedExample
) -> tuple[Hashable, ExplainedExample]:
    """The example with descriptions of its scores, under the numbers that identify its targets."""
    about, key = [], []
    for side, number in sides:
        targets = side.aspects[place].targets
        about.append(about_target(tuned, side, number, place=place))
        key.append((side.language, *(int(each[number]) for each in (targets.row, targets.label, targets.position))))
    return (place, *key), example.with_about(about)


def about_target(tuned: FineTuned, side: ExplainedLanguage, number: int, *, place: int = 0) -> str:
    """What is explained of a target, its value, and how complete its attributions are."""
    targets, found = side.aspects[place].targets, side.found[place]
    name = tuned.labels[int(targets.label[number])] if tuned.labels else side.aspects[place].name
    score, nothing = (f"{float(values[number]):.2f}".replace("-", "−") for values in (found.score, found.nothing))
    return (
        f"{name}{_at(side, targets.row[number], targets.position[number])}: {score}, {nothing} for the baseline; "
        f"completeness gap {100 * found.gap[number]:.2f}\N{NO-BREAK SPACE}% over {int(found.steps[number])} steps"
    )


def _at(side: ExplainedLanguage, row: Any, position: Any) -> str:
    """The unit that a target stands at; nothing for one of the whole text."""
    if position < 0:
        return ""
    flat, units = side.inputs.starts[row] + position, side.units
    for unit in units.of_rows(np.array([row]))[0]:
        if flat in units.place[units.start[unit] : units.start[unit + 1]]:
            return f" at {units.written[unit]!r}"
    return ""
