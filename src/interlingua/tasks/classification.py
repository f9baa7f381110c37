"""Classification: a label for each text, whatever the labels are: topics, intents, sentiment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from interlingua.errors import InputError
from interlingua.metric import Metric, Metrics
from interlingua.readers.examples import Examples, LabelledText
from interlingua.readers.labelled_texts import read_texts
from interlingua.score import Score, Scores
from interlingua.tasks import tasks
from interlingua.tasks.predictions import accuracy, mean_score
from interlingua.tasks.text_pairs import METRICS as ACCURACY
from interlingua.tasks.text_pairs import ClassPredictions, TextTask, gold_numbers
from interlingua.training.task import FineTuning, check_typed

MAX_LABELS = 1000
METRICS = Metrics(
    (
        *ACCURACY,
        Metric(
            name="f1",
            title="F1 averaged over labels",
            display="percent",
            null="its own answers, shuffled among examples",
            options={"average": ("macro",)},
        ),
    )
)
_WHOLE = re.compile(r"-?\d+")


@tasks.register("classification", needs="head", metrics=METRICS)
@dataclass(frozen=True)
class Classification(TextTask):
    """Classification of texts by any labels (topics, intents, sentiment): accuracy, and F1 averaged over labels.

    Labels are those of the training file, at least two and at most 1,000. A row is one text, or two texts that are read
    together. `columns` names the columns of text and label where their names do not show it. `names` are the labels of
    a model that was trained elsewhere, in its order: files may then also give their numbers, or their names in another
    case.
    """

    columns: tuple[str, ...] | None = None
    names: tuple[str, ...] = ()
    name: ClassVar[str] = "classification"
    reads: ClassVar[tuple[str, ...]] = ("text",)
    defaults: ClassVar[FineTuning] = FineTuning(learning_rate=3e-5, epochs=3)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.columns is not None and not 2 <= len(self.columns) <= 3:
            raise InputError(
                "columns are those of the text (or of two texts) and of the label",
                value=", ".join(self.columns),
                remedy='Give ("text", "label").',
            )

    def read(self, path: str | Path, language: str) -> Examples[LabelledText]:
        examples = read_texts(path, language=language, columns=self.columns)
        return replace(examples, items=tuple(self._named(item, path) for item in examples)) if self.names else examples

    def _named(self, item: LabelledText, path: str | Path) -> LabelledText:
        """The example with its label as the model calls it."""
        if item.label in self.names:
            return item
        numbers = dict(zip(map(str, range(len(self.names))), self.names, strict=True))
        alike = [name for name in self.names if name.casefold() == item.label.casefold()]
        found = numbers.get(item.label) or (alike[0] if len(alike) == 1 else None)
        if found is None:
            raise InputError(
                "a label that the model does not have",
                file=path,
                line=item.line,
                value=item.label,
                remedy=f"It knows: {_listed(self.names)}; or their numbers from 0.",
            )
        return replace(item, label=found)

    def labels(self, examples: Examples[LabelledText]) -> tuple[str, ...]:
        """The labels that occur: whole numbers by value, else alphabetically."""
        if self.names:
            return self.names
        found = {item.label for item in examples}
        if len(found) < 2:
            raise InputError(
                "only one label, so there is nothing to learn",
                file=examples.name,
                value=next(iter(found), None),
                remedy="Train on examples of two labels or more.",
            )
        if len(found) > MAX_LABELS:
            raise InputError(
                f"{len(found):,} labels in {len(examples):,} examples",
                file=examples.name,
                value=examples[0].label,
                remedy=f"At most {MAX_LABELS:,} are trained; check that the column of labels holds labels.",
            )
        numeric = all(_WHOLE.fullmatch(label) for label in found)
        return tuple(sorted(found, key=lambda label: (int(label) if numeric else 0, label)))

    def example(self, texts: Sequence[str]) -> LabelledText:
        # A model may have been trained on texts or on pairs of them: what is typed says which.
        check_typed(texts, ("first text", "second text") if len(texts) == 2 else self.reads)
        return LabelledText(tuple(texts), "", 1)

    def judge(self, predictions: ClassPredictions, examples: Examples[Any]) -> Scores:
        """`accuracy`, and `f1/macro`: F1 of each label, averaged over labels."""
        gold = gold_numbers(predictions, examples)
        return {
            "accuracy": accuracy(predictions.choice, gold),
            "f1/macro": macro_f1(predictions.choice, gold, predictions.labels),
        }


def macro_f1(predicted: NDArray[np.int64], gold: NDArray[np.int64], labels: Sequence[str]) -> Score:
    """The mean over labels of F1 = 2 · right / (predicted + gold), in [0, 1], 1 is best.

    Over the labels that are gold or predicted somewhere, as scikit-learn has it. `items` are the value plus each
    example's influence on it (n times the residual of the ratios, Cochran 1977, Eq. 6.13), so that their mean is the
    value and their spread gives its interval and tests. The null is exact over shuffled predictions: of a label's
    right ones predicted · gold / n are expected. In `details`, `chance` is the highest of that, one label for all,
    and labels drawn evenly, and whether the interval is above it.

    >>> macro_f1(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), ("a", "b")).value
    0.7333333333333334
    """
    n, size = len(gold), len(labels)
    said, there = (np.bincount(numbers, minlength=size).astype(np.float64) for numbers in (predicted, gold))
    hits = predicted == gold
    both = said + there
    occurs = np.flatnonzero(both)
    count = len(occurs)
    scale = np.where(both > 0, both, 1.0)
    each = 2 * np.bincount(gold[hits], minlength=size) / scale
    value = float(each[occurs].mean())
    share = each / scale  # What one more prediction or gold label of a kind takes away.
    influence = (2 * hits / scale[gold] - share[predicted] - share[gold]) * n / count
    score = mean_score(value + influence)
    null = float((2 * said * there / (n * scale))[occurs].mean())
    most = int(there.argmax())
    levels = {
        f"always {labels[most]!r}": 2 * float(there[most]) / (n + float(there[most])) / int((there > 0).sum()),
        f"one of {size} labels": float(np.mean(2 * there / size / (there + n / size))),
        "its own answers, shuffled": null,
    }
    by = max(levels, key=lambda name: levels[name])
    alone = len(set(predicted.tolist())) == 1 and n > 1
    above = not alone and n > 1 and score.low is not None and score.low > levels[by]
    chance = {"level": levels[by], "by": by, "always": labels[int(predicted[0])] if alone else None, "above": above}
    return replace(score, value=value, null=null, details={"chance": chance})


def _listed(names: Sequence[str], most: int = 20) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
