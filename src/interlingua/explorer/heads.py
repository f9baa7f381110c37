"""Task heads: what fine-tuned models say of a text and of its translation, and which words they look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from interlingua.analyses.explanation import (
    EncodedExamples,
    ExplainedLanguage,
    Explainer,
    ExplainSettings,
    ExternalVectors,
    explained_examples,
)
from interlingua.errors import InputError
from interlingua.readers.examples import Examples
from interlingua.tasks.saved_models import FineTuned, load

SETTINGS = ExplainSettings(unit="word", target="predicted", steps=8, tolerance=None, faithful=False, choices=False)
"""Eight steps and no more: an answer has a second, and the completeness gap is shown beside it."""


@dataclass(frozen=True)
class Head:
    """A fine-tuned model under the name the user gave it."""

    name: str
    tuned: FineTuned

    @classmethod
    def load(cls, name: str, folder: str | Path, *, device: str | None = None) -> Head:
        """The model in a folder that `transfer --save-models` wrote, or in an ordinary one of a classifier."""
        return cls(name, load(folder, device=device))

    def about(self) -> dict[str, Any]:
        """What the page has to know of it."""
        kind = self.tuned.task.kind
        labels = list(self.tuned.labels) if kind == "sequence" else []
        return {"name": self.name, "task": self.tuned.task.name, "reads": list(self.tuned.task.reads), "labels": labels}

    def explain(
        self, texts: tuple[str, str], seconds: tuple[str, str], languages: tuple[str, str], *, label: str | None = None
    ) -> dict[str, Any]:
        """What the head looks at in a text and in its translation: words, attributions, flows and a score in [0, 1].

        `seconds` are the second texts of a task of pairs. Explained is `label`, or what the model says of the first
        language, in both; for questions each answer's start, for entities the first that both have.
        """
        asked = self.tuned.task.reads
        if len(asked) > 1 and not all(second.strip() for second in seconds):
            raise InputError(
                f"{self.tuned.task.name} reads {' and '.join(asked)}", remedy="Fill in the second text of both."
            )
        examples: list[Examples[Any]] = [
            Examples((self.tuned.task.example(both[: len(asked)]),), code, name)
            for both, code, name in zip(
                zip(texts, seconds, strict=True), languages, ("the first", "the second"), strict=True
            )
        ]
        explainer = Explainer(self.tuned, SETTINGS, ExternalVectors({}, {}))
        reads = [explainer.read(each.language, each) for each in examples]
        said = [self._said(read) for read in reads]
        sides = explainer.two(reads[0], reads[1], label=self._label(label, said[0]))
        if sides is None:
            # Keys of entities are (example, kind, which of it); those of answers and labels meet.
            keys = [read.aspects[0].keys for read in reads]
            found_in = [sorted({str(key[1]) for key in side if isinstance(key, tuple)}) for side in keys]
            shown = [", ".join(tags) or "none" for tags in found_in]
            raise InputError(
                f"{self.name} finds nothing of one kind in both texts: {shown[0]} in the first, "
                f"{shown[1]} in the second",
                remedy="Type texts with a name in both.",
            )
        compared = explainer.compare(sides[0], sides[1], 0)
        examples_of_pair = explained_examples(sides[0], sides[1], 0, compared, most=1)
        if not examples_of_pair:
            raise InputError("the attributions weigh nothing", remedy="Type other texts.")
        found = examples_of_pair[0].to_dict()
        row = int(compared.found.rows[0])
        for name, side, pair in zip(("source", "target"), sides, compared.pairs, strict=True):
            found[name] |= self._about(side, int(pair[row]))
        random = float(compared.found.random[0]) if len(compared.found.random) else None
        return {
            "head": self.name,
            "steps": SETTINGS.steps,
            "score": found["score"],
            "random": random,
            "flows": found["flows"],
            "source": found["source"] | {"said": said[0]},
            "target": found["target"] | {"said": said[1]},
            "notes": explainer.notes,
        }

    def _said(self, read: EncodedExamples) -> dict[str, float]:
        """The probability of each label, for a task of labels."""
        if self.tuned.task.kind != "sequence":
            return {}
        scores = np.asarray(read.predictions.scores[0], np.float64)
        shares = np.exp(scores - scores.max())
        return dict(zip(self.tuned.labels, (shares / shares.sum()).round(4).tolist(), strict=True))

    def _label(self, label: str | None, said: dict[str, float]) -> str | None:
        if not said:
            return None
        if label is not None and label not in said:
            raise InputError("a label that the head does not know", value=label, remedy=f"It knows: {', '.join(said)}.")
        return label or max(said, key=said.__getitem__)

    def _about(self, side: ExplainedLanguage, number: int) -> dict[str, Any]:
        """What is explained of a side, and its value for the text and for the baseline."""
        aspect, found = side.aspects[0], side.found[0]
        label = int(aspect.targets.label[number])
        name = self.tuned.labels[label] if self.tuned.labels else aspect.name
        return {
            "explained": name,
            "value": round(float(found.score[number]), 4),
            "nothing": round(float(found.nothing[number]), 4),
        }
