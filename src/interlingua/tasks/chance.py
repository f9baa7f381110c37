"""Chance: the score that a model reaches which has learnt nothing of a task, and whether a score is above it.

| kind     | the chance level is the highest of                                                             |
|----------|------------------------------------------------------------------------------------------------|
| sequence | one label for all (the most frequent one), and one in as many as there are labels              |
| token    | one tag for every word (the best one; O alone scores 0), and the model's own tags, shuffled     |
| span     | the whole paragraph, spans of the model's lengths at random places, answers to other questions |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interlingua.readers.examples import Examples
from interlingua.score import Score
from interlingua.tasks.qa import official, overlap

_DRAWS = 10  # random spans for each question
_LETTERS_PER_WORD = 20  # a paragraph with fewer spaces is written without them


def chance(task: Any, predictions: Any, examples: Examples[Any], labels: Sequence[str], score: Score) -> dict[str, Any]:
    """The chance level of a task's own metric, what reaches it, and whether `score` is `above` it.

    `always` is the one answer that the model gives to every example, None where it gives several. A score is above
    chance where its 95 % interval is, and the answers are not all the same.
    """
    levels, said = KINDS[task.kind](predictions, examples, labels)
    if score.null is not None:
        levels["its own answers, shuffled"] = score.null
    by = max(levels, key=lambda name: levels[name])
    always = next(iter(said)) if len(said) == 1 and len(examples) > 1 else None
    above = always is None and score.low is not None and score.low > levels[by] and score.n > 1
    return {"level": float(levels[by]), "by": by, "always": always, "above": above}


def _label(predictions: Any, examples: Examples[Any], labels: Sequence[str]) -> tuple[dict[str, float], set[str]]:
    """The levels of chance by what reaches them, and all that the model says."""
    most, count = Counter(item.label for item in examples).most_common(1)[0]
    levels = {f"always {most!r}": count / len(examples), f"one of {len(labels)} labels": 1 / len(labels)}
    return levels, {predictions.labels[number] for number in set(predictions.choice.tolist())}


def _tag(predictions: Any, examples: Examples[Any], labels: Sequence[str]) -> tuple[dict[str, float], set[str]]:
    tags = Counter(tag for item in examples for tag in item.tags)
    words, named = tags.total(), tags.total() - tags["O"]
    # F1 of one tag for every word: 2 · right / (words tagged + words of entities).
    levels = {f"always {tag!r}": 2 * tags[tag] / (words + named) for tag in labels if tag != "O"} | {"always 'O'": 0.0}
    return levels, set(predictions.tags())


def _span(predictions: Any, examples: Examples[Any], labels: Sequence[str]) -> tuple[dict[str, float], set[str]]:
    cut, draw = official(examples.language), np.random.default_rng(0)
    whole, drawn, said = [], [], set()
    for item, (start, end) in zip(examples, predictions.spans.tolist(), strict=True):
        known = [answer.text for answer in item.answers]
        pieces = _pieces(item.context)
        length = sum(start <= first < end for first, _ in pieces) or 1
        said.add(item.context[start:end])
        whole.append(overlap(item.context, known, cut))
        for first in draw.integers(0, max(len(pieces) - length, 0) + 1, _DRAWS).tolist() if pieces else ():
            last = pieces[min(first + length, len(pieces)) - 1][1]
            drawn.append(overlap(item.context[pieces[first][0] : last], known, cut))
    means: Mapping[str, Sequence[float]] = {"the whole paragraph": whole, "spans of its lengths at random": drawn}
    return {name: float(np.mean(values)) if values else 0.0 for name, values in means.items()}, said


def _pieces(text: str) -> list[tuple[int, int]]:
    """Where words are, by spaces; letters where there are hardly any spaces."""
    found = [match.span() for match in re.finditer(r"\S+", text)]
    if len(text) > _LETTERS_PER_WORD * len(found):
        found = [match.span() for match in re.finditer(r"\S", text)]
    return found


KINDS = {"sequence": _label, "token": _tag, "span": _span}
"""How the levels of chance and the answers of a task are found, by the task's kind."""
