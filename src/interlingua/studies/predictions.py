"""What models said of every example of a test, a line each: where it stands, what it is, and what it was taken for."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from interlingua.paths import json_value
from interlingua.studies.aspects import verdicts
from interlingua.studies.exams import Exam

FOLDER = "predictions"
FILE = "predictions.jsonl"
"""What a step of a study leaves, all its tests in one."""


def prediction_file(model: str, test: str) -> str:
    """Where the predictions of a model on a test are, under a run's folder; `model` is its folder's name in `models/`.

    >>> prediction_file("adjusted-ru-seed0", "ru:mlqa"), prediction_file("original-seed1", "es mixed")
    ('predictions/adjusted-ru-seed0.ru.mlqa.jsonl', 'predictions/original-seed1.es-mixed.jsonl')
    """
    name = re.sub(r"[^\w.+-]", "_", f"{model}.{test.replace(':', '.').replace(' ', '-')}")
    return f"{FOLDER}/{name}.jsonl"


def prediction_lines(exam: Exam, predictions: Any, about: Mapping[str, Any]) -> str:
    """One JSON line an example: file and line (and id), test and language, `about` the model, gold and predicted.

    What `about` says of the file stands in place of its name here.

    Both are in words as explanations have them: a label, an answer, names of a sentence; `right` where they agree.
    A sentence of tagged words has also its `words`, their `tags` and the `predicted_tags`, from which every F1 can be
    computed again.
    """
    lines = []
    tags = iter(predictions.tags()) if exam.task.kind == "token" else iter(())
    for item, (gold, predicted) in zip(exam.examples, verdicts(exam.task, exam.examples, predictions), strict=True):
        told = {"file": exam.examples.name, "line": item.line}
        if hasattr(item, "id"):
            told["id"] = item.id
        told |= {"test": exam.name, "language": exam.judged, **about}
        told |= {"gold": gold, "predicted": predicted, "right": gold == predicted}
        if hasattr(item, "words"):
            own = list(islice(tags, len(item.words)))
            told |= {"words": item.words, "tags": item.tags, "predicted_tags": own}
        lines.append(json.dumps(told, ensure_ascii=False) + "\n")
    return "".join(lines)


def read_predictions(folder: Path, steps: Collection[str]) -> Iterator[dict[str, Any]]:
    """All lines of a run's predictions, file by file; not those of other steps, which other settings left."""
    for path in sorted((folder / FOLDER).glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            yield from (line for line in map(json_value, lines) if line.get("step") in steps)
