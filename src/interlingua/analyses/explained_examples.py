"""Explained examples: texts of two languages, their attributions, what flows between them; in memory and in files.

The units that bear attributions may be pieces of words. People read words, so every text says which units make up each
word, and which words are what is explained: an entity, an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interlingua.paths import json_value

EXAMPLES = "examples"
SHOWN = 8
"""How many examples of each language a page shows."""

Word = tuple[str, int, int]
"""A word as it is written, its first unit and the one after its last."""


@dataclass(frozen=True, kw_only=True)
class ExplainedText:
    """One text of an example: its units with their attributions, the words they make up, and what is explained.

    `row` is its row as `--row` takes it (`es:57`, a question's id). `side` has for each unit whether it is of the first
    or the second text of a pair. `explained` names what is explained (`ORG: Bank of Spain`, `label: neutral`), `marked`
    the numbers of the words it lies in. `gold` and `predicted` are None where they are not known, `about` is the score
    that is explained and how complete its attributions are.
    """

    language: str
    units: tuple[str, ...]
    side: tuple[int, ...]
    attributions: tuple[float, ...]
    gap: float = 0.0
    words: tuple[Word, ...] = ()
    explained: str = ""
    marked: tuple[int, ...] = ()
    gold: str | None = None
    predicted: str | None = None
    row: str = ""
    about: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether the model is known to be wrong."""
        return self.gold != self.predicted

    @property
    def whole_words(self) -> tuple[Word, ...]:
        """The words, or the units where the words are not known (files of earlier versions)."""
        return self.words or tuple((unit, place, place + 1) for place, unit in enumerate(self.units))

    @property
    def word_attributions(self) -> tuple[float, ...]:
        """The attribution of each whole word: the sum of its units', so that what they add up to stays what it was."""
        return tuple(sum(self.attributions[begin:end]) for _, begin, end in self.whole_words)

    def word_of_units(self) -> list[int]:
        """The number of the word that each unit is of."""
        return [number for number, (_, begin, end) in enumerate(self.whole_words) for _ in range(begin, end)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; what is not known is left out."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        return {name: value for name, value in plain.items() if value is not None and value != ""}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], *, language: str = "") -> ExplainedText:
        """The text that plain data describes; names that only a later version writes are left aside."""
        fields = {name: plain[name] for name in cls.__dataclass_fields__ if name in plain}
        fields |= {name: tuple(fields[name]) for name in ("units", "side", "attributions", "marked") if name in fields}
        words = tuple((str(text), int(begin), int(end)) for text, begin, end in fields.get("words", ()))
        return cls(**{"language": language, **fields, "words": words})


@dataclass(frozen=True, kw_only=True)
class ExplainedExample:
    """What belongs together in one language or two: texts with attributions, what flows between them, the score.

    `key` identifies it in its file (a line, an id, an entity of a line), `aspect` says what is explained, and
    `answer` whether that is the `gold` or the `predicted` one. `score` and `null_value` (another example's text) are
    None of a text that is alone.
    """

    key: Any
    aspect: str = ""
    answer: str = "gold"
    score: float | None = None
    null_value: float | None = None
    texts: tuple[ExplainedText, ...]
    flows: tuple[tuple[int, int, float], ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Whether the model is known to be wrong on one of the texts."""
        return any(text.is_wrong for text in self.texts)

    @property
    def row(self) -> str:
        """The row of its last text as `--row` takes it; its key where an earlier version wrote the file."""
        return self.texts[-1].row or str(self.key[0] if isinstance(self.key, list | tuple) else self.key)

    def word_flows(self) -> list[tuple[int, int, float]]:
        """What flows from word to word of the two texts, the strongest first."""
        if len(self.texts) < 2:
            return []
        first, second = (text.word_of_units() for text in self.texts)
        sums: dict[tuple[int, int], float] = {}
        for i, j, share in self.flows:
            sums[first[i], second[j]] = sums.get((first[i], second[j]), 0.0) + share
        return sorted(((i, j, share) for (i, j), share in sums.items()), key=lambda flow: -flow[2])

    def with_about(self, about: Sequence[str]) -> ExplainedExample:
        """The same with a description of each text's score."""
        texts = tuple(replace(text, about=line) for text, line in zip(self.texts, about, strict=True))
        return replace(self, texts=texts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: `source`, and `target` where there are two texts."""
        sides = ("source", "target")[: len(self.texts)]
        return {
            "key": self.key,
            "aspect": self.aspect,
            "explained": self.answer,
            "score": self.score,
            "null": self.null_value,
            **{side: text.to_dict() for side, text in zip(sides, self.texts, strict=True)},
            "flows": [list(flow) for flow in self.flows],
            "languages": {side: text.language for side, text in zip(sides, self.texts, strict=True)},
            "about": [text.about for text in self.texts],
        }

    def to_json(self) -> str:
        """One line of a file of examples."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], *, languages: Sequence[str] = ("", "")) -> ExplainedExample:
        """The example that plain data describes; `languages` are those of files that do not say them."""
        sides = [name for name in ("source", "target") if name in plain]
        texts = [
            ExplainedText.from_dict(plain[name], language=code) for name, code in zip(sides, languages, strict=False)
        ]
        return cls(
            key=plain["key"],
            aspect=str(plain.get("aspect", "")),
            answer=str(plain.get("explained", "gold")),
            score=plain["score"],
            null_value=plain.get("null"),
            texts=tuple(texts),
            flows=tuple((int(i), int(j), float(share)) for i, j, share in plain.get("flows", ())),
        )


@dataclass(frozen=True, kw_only=True)
class WrongPredictions:
    """How many explained examples of a language the model is wrong on, and the first of these as `--row` takes it."""

    language: str
    wrong: int
    total: int
    first: str = ""


@dataclass(frozen=True, kw_only=True)
class ExampleCollection:
    """Examples that are shown, wrong ones first, and how many predictions are wrong in each language."""

    shown: tuple[ExplainedExample, ...] = ()
    predictions: tuple[WrongPredictions, ...] = ()
    model: str = ""


def example_file(model: str, source: str, target: str, aspect: str) -> str:
    """Where the examples of an aspect of two languages are written, under the folder.

    >>> example_file("runs/mBERT", "en", "es", "label")
    'examples/runs-mBERT.en-es.label.jsonl'
    """
    name = re.sub(r"[^\w.-]+", "-", model).strip("-")
    return f"{EXAMPLES}/{name}.{source}-{target}.{aspect}.jsonl"


def read_collection(
    folder: Path, models: Sequence[tuple[str, str]], languages: Sequence[str], *, most: int = SHOWN
) -> ExampleCollection:
    """The examples of the first model that a page shows: in every language those that are wrong before the others.

    A prediction is counted once, however many entities of its sentence are explained.
    """
    if not models:
        return ExampleCollection()
    model, source = models[0]
    shown: list[ExplainedExample] = []
    counts = []
    for code in languages:
        verdicts: dict[str, bool] = {}
        for path in sorted((folder / EXAMPLES).glob(Path(example_file(model, source, code, "*")).name)):
            examples = list(_read(path, (source, code)))
            verdicts |= {example.row: example.texts[-1].is_wrong for example in examples}
            if code != source:
                shown += sorted(examples, key=lambda example: not example.is_wrong)[:most]
        if verdicts:
            wrong = [row for row, is_wrong in verdicts.items() if is_wrong]
            counts.append(
                WrongPredictions(language=code, wrong=len(wrong), total=len(verdicts), first=wrong[0] if wrong else "")
            )
    ordered = sorted(shown, key=lambda example: not example.is_wrong)
    return ExampleCollection(shown=tuple(ordered), predictions=tuple(counts), model=model)


def _read(path: Path, languages: tuple[str, str]) -> Iterator[ExplainedExample]:
    aspect = path.name.split(".")[-2]
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            plain = json_value(line)
            try:
                yield ExplainedExample.from_dict({"aspect": aspect, **plain}, languages=languages)
            except (KeyError, TypeError, AttributeError) as error:
                raise ValueError(f"{path.name}: {error!r}") from error
