"""Attributions in several languages and how consistent they are: what is explained, and with which controls."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.analyses.explained_examples import ExplainedExample, ExplainedText, Word
from interlingua.attribution import attributions
from interlingua.attribution.consistency import CHOICES as CONSISTENCY_CHOICES
from interlingua.attribution.consistency import METRICS as CONSISTENCY
from interlingua.attribution.consistency import Consistency, WeightedUnits, consistencies, consistency
from interlingua.attribution.embedding_forward import EmbeddingForward
from interlingua.attribution.faithfulness import METRICS as FAITHFULNESS
from interlingua.attribution.faithfulness import faithfulness
from interlingua.attribution.inputs import (
    END,
    START,
    AttributionInput,
    Attributions,
    Baseline,
    Targets,
    of_answers,
    of_texts,
    of_tokens,
)
from interlingua.attribution.integrated_gradients import IntegratedGradients
from interlingua.attribution.methods import Random
from interlingua.attribution.shared_spaces import AlignedSpace, Contextual, Embeddings, External, Space
from interlingua.attribution.units import UNITS, Units, units_of
from interlingua.corpus import Skip
from interlingua.encoder.inputs import Inputs, expand_ranges, frame
from interlingua.errors import InputError, MissingExtra, NoSegmenter
from interlingua.readers.examples import Examples
from interlingua.readers.word_lists import WordVectors
from interlingua.record import Made, Record, versions
from interlingua.registry import unknown
from interlingua.score import Score, Scores
from interlingua.stats import mean_interval
from interlingua.tasks import tasks
from interlingua.tasks.chance import chance
from interlingua.tasks.ner import entities
from interlingua.tasks.qa import exact, official
from interlingua.tasks.saved_models import FineTuned
from interlingua.tasks.text_pairs import label_numbers
from interlingua.transport import WEIGHTINGS, has_network_simplex
from interlingua.words import token_spans

Ints = NDArray[np.int64]
CHOICES = ("gold", "predicted")


@dataclass(frozen=True)
class ExplanationTarget:
    """Numbers that are explained under one name: the label of a pair, an answer's start or end, entities.

    `keys` has one for each target; targets of two languages with equal keys belong together. `explained` names what is
    explained of each (`ORG: Bank of Spain`), `spans` say where that stands: the text (0 or 1) and its characters; the
    whole text has none.
    """

    name: str
    targets: Targets
    keys: tuple[Hashable, ...]
    skipped: tuple[Skip, ...] = ()
    explained: tuple[str, ...] = ()
    spans: tuple[tuple[int, int, int], ...] = ()

    def take(self, numbers: Ints) -> ExplanationTarget:
        """The same of the targets of these numbers."""
        keys, explained = tuple(self.keys[n] for n in numbers), tuple(self.explained[n] for n in numbers)
        spans = tuple(self.spans[n] for n in numbers) if self.spans else ()
        return replace(self, targets=self.targets.take(numbers), keys=keys, explained=explained, spans=spans)

    def of_label(self, number: int, label: str) -> ExplanationTarget:
        """The same with this label to be explained of every example."""
        numbers = np.full(len(self.targets), number, np.int64)
        named = (f"label: {label}",) * len(self.targets)
        return replace(self, targets=replace(self.targets, label=numbers), explained=named)


@dataclass(frozen=True)
class ExplainedAnswers:
    """Examples with what a model says of them, and which of both is explained: gold or predicted, on which scale."""

    task: Any
    examples: Examples[Any]
    inputs: Inputs
    predictions: Any
    labels: tuple[str, ...]
    choice: str
    scale: str

    def aspects(self) -> list[ExplanationTarget]:
        """The aspects of the task's kind."""
        if self.choice not in CHOICES:
            raise unknown("choice of a target", self.choice, list(CHOICES))
        return {"sequence": self._label, "span": self._ends, "token": self._entities}[self.task.kind]()

    def _label(self) -> list[ExplanationTarget]:
        numbers = label_numbers(self.examples, self.labels) if self.choice == "gold" else self.predictions.choice
        explained = tuple(f"label: {self.labels[int(number)]}" for number in numbers)
        targets = of_texts(numbers, scale=self.scale)
        return [ExplanationTarget("label", targets, row_keys(self.examples), explained=explained)]

    def _ends(self) -> list[ExplanationTarget]:
        if self.choice == "gold":
            first = [next((each for each in item.answers if each.start >= 0), None) for item in self.examples]
            spans = np.array([(-1, -1) if a is None else (a.start, a.start + len(a.text)) for a in first], np.int64)
        else:
            spans = self.predictions.spans
        row, start, end = _windows_with(self.inputs, spans)
        there = np.flatnonzero(row >= 0)
        lost = np.flatnonzero(row < 0)
        where = tuple(f"{self.examples.name} {self.examples[int(n)].id}" for n in lost[:3])
        skipped = (Skip("questions no window of which holds the answer", len(lost), where),) if len(lost) else ()
        keys = tuple(self.examples[int(n)].id for n in there)
        within = tuple((1, int(spans[n, 0]), int(spans[n, 1])) for n in there)
        explained = tuple(
            f"answer: {self.examples[int(n)].context[begin:stop]}"
            for n, (_, begin, stop) in zip(there, within, strict=True)
        )
        return [
            ExplanationTarget(
                name, of_answers(row[there], at[there], side, scale=self.scale), keys, skipped, explained, within
            )
            for name, at, side in (("start", start, START), ("end", end, END))
        ]

    def _entities(self) -> list[ExplanationTarget]:
        words = [tag for item in self.examples for tag in item.tags]
        tags = words if self.choice == "gold" else self.predictions.tags()
        numbers = {tag: number for number, tag in enumerate(self.labels)}
        keys: list[Hashable] = []
        items: list[int] = []
        explained: list[str] = []
        spans: list[tuple[int, int, int]] = []
        seen: dict[tuple[int, str], int] = {}
        word = 0
        for number, example in enumerate(self.examples):
            own = tags[word : word + len(example.words)]
            for offset, tag in enumerate(own):
                if tag not in numbers:
                    raise InputError(
                        "a tag that the model was not trained on",
                        file=self.examples.name,
                        line=example.line + offset,
                        value=tag,
                        remedy=f"It knows: {', '.join(self.labels)}.",
                    )
            # As the judge finds them: a model may begin an entity with I-, and so may its data.
            # Words of a sentence are joined by one blank (`TaggedWords.texts`).
            begins = np.cumsum([0, *(len(each) + 1 for each in example.words)])
            for kind, first, last in sorted(entities(own), key=lambda entity: entity[1]):
                place = seen[number, kind] = seen.get((number, kind), -1) + 1
                keys.append((number, kind, place))
                items.append(word + first)
                explained.append(f"{kind}: {' '.join(example.words[first : last + 1])}")
                spans.append((0, int(begins[first]), int(begins[last]) + len(example.words[last])))
            word += len(example.words)
        chosen = np.array(items, np.int64)
        assert self.inputs.items is not None
        readable = np.isin(chosen, self.inputs.items)
        kept = np.flatnonzero(readable)
        targets = of_tokens(
            self.inputs, chosen[kept], np.array([numbers[tags[n]] for n in chosen[kept]], np.int64), scale=self.scale
        )
        lost = int((~readable).sum())
        skipped = (Skip("entities whose first word has no token", lost),) if lost else ()
        shown = tuple(explained[n] for n in kept)
        within = tuple(spans[n] for n in kept)
        return [ExplanationTarget("entities", targets, tuple(keys[n] for n in kept), skipped, shown, within)]


def texts_of(examples: Examples[Any]) -> list[tuple[str, ...]]:
    """The texts that each example's input is made of."""
    return [item.texts for item in examples]


def words_of(examples: Examples[Any]) -> set[str]:
    """The words that occur, of which word vectors are read."""
    texts = [text for parts in texts_of(examples) for text in parts]
    return {text[start:end] for text in texts for start, end in token_spans(text)}


def verdicts(task: Any, examples: Examples[Any], predictions: Any) -> list[tuple[str, str]]:
    """What each example is by its file, and what the model predicts, as text; names of a sentence in their order.

    The two are equal where the model is right: an answer that the official script takes for one of several stands for
    them.
    """
    if task.kind == "sequence":
        said = [predictions.labels[number] for number in predictions.choice.tolist()]
        return [(item.label, own) for item, own in zip(examples, said, strict=True)]
    if task.kind == "span":
        cut, pairs = official(examples.language), []
        for item, own in zip(examples, predictions.texts(examples), strict=True):
            known = [answer.text for answer in item.answers]
            pairs.append((own if exact(own, known, cut) else " / ".join(dict.fromkeys(known)), own))
        return pairs
    tags, found = iter(predictions.tags()), []
    for item in examples:
        own = list(islice(tags, len(item.words)))
        found.append((_names(item.words, item.tags), _names(item.words, own)))
    return found


def _names(words: Sequence[str], tags: Sequence[str]) -> str:
    """
    >>> _names(["Ada", "Lovelace", "in", "Rome"], ["B-PER", "I-PER", "O", "B-LOC"])
    'PER Ada Lovelace; LOC Rome'
    """
    ordered = sorted(entities(tags), key=lambda entity: entity[1])
    return "; ".join(f"{kind} {' '.join(words[first : last + 1])}" for kind, first, last in ordered) or "no name"


def row_keys(examples: Examples[Any]) -> tuple[Hashable, ...]:
    """The number of each example's line, by which files of one release correspond whatever was skipped."""
    return tuple(item.line for item in examples)


def by_order(task: Any, source: Examples[Any], target: Examples[Any]) -> bool:
    """Whether rows correspond by their order rather than by line: always for tagged words, and where lines are apart.

    A file of all languages, one block each, has other lines for the same row in each. Neither equal lines nor equal
    counts are an error; so are other labels.
    """
    if task.kind == "span":
        return False
    apart = task.kind == "token" or not {item.line for item in source} & {item.line for item in target}
    if apart and len(source) != len(target):
        raise InputError(
            f"{len(target)} examples, and {len(source)} in {source.name}",
            file=target.name,
            remedy="Give files of one release, whose rows correspond.",
        )
    if task.kind == "sequence":
        lines = {(n if apart else item.line): item for n, item in enumerate(source)}
        for number, item in enumerate(target):
            other = lines.get(number if apart else item.line)
            if other is not None and other.label != item.label:
                raise InputError(
                    f"another label than {source.name}:{other.line} has",
                    file=target.name,
                    line=item.line,
                    value=item.label,
                    remedy="Give files of one release, whose rows correspond.",
                )
    return apart


def match_keys(source: Sequence[Hashable], target: Sequence[Hashable]) -> tuple[Ints, Ints]:
    """The numbers of the keys that both have, in the order of the source.

    >>> match_keys(["a", "b", "c"], ["c", "a"])
    (array([0, 2]), array([1, 0]))
    """
    places = {key: number for number, key in enumerate(target)}
    both = [(number, places[key]) for number, key in enumerate(source) if key in places]
    pairs = np.array(both, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _windows_with(inputs: Inputs, spans: Ints) -> tuple[Ints, Ints, Ints]:
    """For each example the input that holds these characters of its paragraph, and their first and last position.

    -1 where there is none; of several windows, that which shows most around them.
    """
    assert inputs.spans is not None
    row, first, last = (np.full(inputs.examples, -1, np.int64) for _ in range(3))
    best = np.full(inputs.examples, -1, np.int64)
    for number in range(len(inputs)):
        owner = int(inputs.owner[number])
        start, end = spans[owner]
        told = inputs.spans[inputs.starts[number] : inputs.starts[number + 1]]
        inside = np.flatnonzero((told[:, 0] < end) & (told[:, 1] > start) & (told[:, 0] >= 0))
        shown = np.flatnonzero(told[:, 0] >= 0)
        if not len(inside) or told[inside[0], 0] > start or told[inside[-1], 1] < end:
            continue
        around = int(min(inside[0] - shown[0], shown[-1] - inside[-1]))
        if around > best[owner]:
            best[owner], row[owner], first[owner], last[owner] = around, number, inside[0], inside[-1]
    return row, first, last


Floats = NDArray[np.float64]
Progress = Callable[[str, int, int], None]
LEAST_HEADS = 3
_TRIED_ROWS = 500  # pairs that the choices the paper leaves open are tried on


@dataclass(frozen=True)
class ExplainSettings:
    """How attributions are made and compared; what Wang et al. 2021 leave open has a default here, and is recorded."""

    attribution: str = "integrated"
    steps: int = 16
    rule: str = "gauss-legendre"
    tolerance: float | None = 0.01
    baseline: str = "padding"
    target: str = "gold"
    scale: str = "logit"
    unit: str = "token"
    space: str = "embeddings"
    layer: int = -1
    weighting: str = "absolute"
    solver: str = "exact"
    precision: str = "fp32"
    faithful: bool = True
    choices: bool = True
    random_heads: int = 5
    seed: int = 0

    def way(self) -> Callable[[AttributionInput], Attributions]:
        """The attribution with its settings."""
        if self.attribution == "integrated":
            return IntegratedGradients(self.steps, self.rule, self.tolerance, max(256, self.steps))
        made: Callable[[AttributionInput], Attributions] = attributions[self.attribution].call()
        return made


@dataclass(frozen=True)
class ExternalVectors:
    """What spaces are made of beside the model: dictionaries and word vectors, by language."""

    dictionaries: Mapping[str, Sequence[tuple[str, str]]]
    vectors: Mapping[str, WordVectors]


@dataclass(frozen=True)
class EncodedExamples:
    """One language's examples as the model reads them, what it says of them, and what is to be explained."""

    language: str
    examples: Examples[Any]
    inputs: Inputs
    predictions: Any
    aspects: tuple[ExplanationTarget, ...]

    def only(self, numbers: Ints) -> EncodedExamples:
        """The same with some targets of the first aspect alone."""
        return replace(self, aspects=(self.aspects[0].take(numbers),))


@dataclass(frozen=True)
class ExplainedLanguage:
    """One language's examples with their attributions, by aspect; `vectors` are those of all units."""

    language: str
    examples: Examples[Any]
    inputs: Inputs
    units: Units
    vectors: NDArray[np.float32]
    aspects: tuple[ExplanationTarget, ...]
    found: tuple[Attributions, ...]
    judged: Scores = field(default_factory=dict)
    heads: tuple[tuple[Attributions, ...], ...] = ()
    """Attributions of the same targets under random heads on the same body: by head and aspect."""
    verdicts: list[tuple[str, str]] = field(default_factory=list)
    """What each example is by its file, and by the model."""
    recut: dict[str, ExplainedLanguage] = field(default_factory=dict, repr=False)
    """The same in other units, kept as they are asked for."""

    def weighed(self, place: int, targets: Ints, *, head: int | None = None) -> WeightedUnits:
        """The units of some targets of an aspect, with their attributions, or those under a random head."""
        rows = self.aspects[place].targets.row
        found = self.found if head is None else self.heads[head]
        values, starts = self.units.sums(found[place], self.inputs, rows)
        numbers, _ = self.units.of_rows(rows)
        sizes = np.diff(starts)[targets]
        chosen = expand_ranges(starts[targets], sizes)
        return WeightedUnits(values[chosen], self.vectors[numbers[chosen]], np.concatenate([[0], np.cumsum(sizes)]))


@dataclass(frozen=True)
class LanguageComparison:
    """Two languages' aspect: which targets of each belong together, and how consistent they are."""

    pairs: tuple[Ints, Ints]
    keys: tuple[Hashable, ...]
    sides: tuple[WeightedUnits, WeightedUnits]
    found: Consistency
    skipped: tuple[Skip, ...]


class Explainer:
    """A fine-tuned model, explained language by language; every language is attributed once."""

    def __init__(
        self, tuned: FineTuned, settings: ExplainSettings, outside: ExternalVectors, progress: Progress | None = None
    ) -> None:
        self.tuned, self.settings, self.outside, self._progress = tuned, settings, outside, progress
        self.through = EmbeddingForward(tuned.model, precision=settings.precision)
        shape = frame(tuned.encoder.tokenizer, pair=tuned.task.kind != "token")
        kept = shape.before + shape.between + shape.after
        self.baseline = Baseline.of(settings.baseline, self.through, tuned.encoder.tokenizer, kept=kept)
        self.notes: list[str] = []
        if settings.solver == "exact" and not has_network_simplex():
            self.notes.append("POT is not installed: exact similarities are 50 to 100 times slower by scipy")

    @cached_property
    def space(self) -> Space:
        """The shared space of the settings, made once."""
        name = self.settings.space
        if name == "aligned":
            made, skipped = AlignedSpace.of(self.through, self.tuned.encoder, self.outside.dictionaries)
            self.notes += [str(skip) for skip in skipped]
            return made
        if name == "vectors":
            return External(self.outside.vectors)
        if name == "layer":
            return Contextual(self.through, self.settings.layer)
        return Embeddings(self.through)

    def case(self, inputs: Inputs, aspect: ExplanationTarget, label: str) -> AttributionInput:
        """The case of an aspect, with progress under a label."""
        tell = None if self._progress is None else lambda done, of: self._progress(label, done, of)  # type: ignore[misc]
        return AttributionInput(self.through, inputs, aspect.targets, self.baseline, tell)

    def read(self, language: str, examples: Examples[Any], *, choice: str | None = None) -> EncodedExamples:
        """A language's examples as the model reads them, and what there is to explain of them.

        That is the gold or the predicted answer (`choice`), by default as the settings say.
        """
        task, encoder, labels = self.tuned.task, self.tuned.encoder, self.tuned.labels
        inputs = task.inputs(examples, encoder, labels=labels, training=False)
        self.notes += [f"{language}: {skip}" for skip in (*examples.skipped, *inputs.skipped)]
        predictions = task.predict(self.tuned.model, inputs, labels=labels, precision=self.settings.precision)
        asked = ExplainedAnswers(
            task, examples, inputs, predictions, labels, choice or self.settings.target, self.settings.scale
        )
        aspects = tuple(asked.aspects())
        self.notes += [f"{language}: {skip}" for aspect in aspects for skip in aspect.skipped]
        return EncodedExamples(language, examples, inputs, predictions, aspects)

    def attributed(self, read: EncodedExamples, *, judged: bool = True) -> ExplainedLanguage:
        """What was read, attributed; `judged` also says how right the model is."""
        way = self.settings.way()
        found = tuple(way(self.case(read.inputs, each, f"{read.language} {each.name}")) for each in read.aspects)
        side = self._side(read, found)
        if not judged:
            return side
        return replace(side, judged=self._judged(read), verdicts=self._verdicts(read))

    def _side(self, read: EncodedExamples, found: tuple[Attributions, ...]) -> ExplainedLanguage:
        units = self._units(read.inputs, read.examples, read.aspects, self.settings.unit)
        vectors = self.space.vectors(units, read.inputs, read.language)
        return ExplainedLanguage(read.language, read.examples, read.inputs, units, vectors, read.aspects, found)

    def _verdicts(self, read: EncodedExamples) -> list[tuple[str, str]]:
        return verdicts(self.tuned.task, read.examples, read.predictions)

    def _judged(self, read: EncodedExamples) -> Scores:
        """How right the model is, and in the details of the task's own metric the chance level."""
        task, labels = self.tuned.task, self.tuned.labels
        scores = task.judge(read.predictions, read.examples)
        own = scores[task.metric]
        told = chance(task, read.predictions, read.examples, labels, own)
        return {**scores, task.metric: replace(own, details={**own.details, "chance": told})}

    def side(self, language: str, examples: Examples[Any]) -> ExplainedLanguage:
        """A language's examples, attributed, and under random heads, too."""
        read = self.read(language, examples)
        made = self.attributed(read)
        return replace(made, heads=tuple(self._under_head(read, number) for number in range(self.heads)))

    def side_again(
        self, language: str, examples: Examples[Any], found: Sequence[Sequence[Attributions]]
    ) -> ExplainedLanguage:
        """A language's examples with attributions that were made before: the model's, then each random head's.

        The model's score was reported when they were made.
        """
        read = self.read(language, examples)
        own, *heads = map(tuple, found)
        for aspect, each in zip(read.aspects, own, strict=True):
            if not np.array_equal(each.starts, self.case(read.inputs, aspect, "").starts):
                raise InputError(
                    "the model finds other places here than where its attributions were made",
                    file=examples.name,
                    remedy="Explain all languages on one machine, in a new folder.",
                )
        return replace(self._side(read, own), heads=tuple(heads), verdicts=self._verdicts(read))

    @cached_property
    def heads(self) -> int:
        """How many random heads there are.

        None where what the model says of places is explained: a random head says it of other places.
        """
        if self.settings.target == "predicted" and self.tuned.task.kind != "sequence" and self.settings.random_heads:
            self.notes.append(
                "not compared with random heads, which find other places: explain the gold answers (--target gold)"
            )
            return 0
        return self.settings.random_heads

    def _under_head(self, read: EncodedExamples, number: int) -> tuple[Attributions, ...]:
        """The attributions of the same targets with a head that has learnt nothing; of its own label, if predicted."""
        tuned, settings = self.tuned, self.settings
        seed = int(np.random.SeedSequence((settings.seed, number)).generate_state(1)[0])
        model = tuned.model.under_random_head(seed=seed)
        through = EmbeddingForward(model, precision=settings.precision)
        if settings.target == "predicted":
            said = tuned.task.predict(model, read.inputs, labels=tuned.labels, precision=settings.precision)
            asked = ExplainedAnswers(
                tuned.task, read.examples, read.inputs, said, tuned.labels, "predicted", settings.scale
            )
            read = replace(read, aspects=tuple(asked.aspects()))
        label = f"{read.language}, random head {number + 1} of {self.heads}"
        return tuple(
            settings.way()(replace(self.case(read.inputs, each, f"{label} {each.name}"), through=through))
            for each in read.aspects
        )

    def two(
        self, source: EncodedExamples, target: EncodedExamples, *, label: str | None = None
    ) -> tuple[ExplainedLanguage, ExplainedLanguage] | None:
        """Two texts of one example each, attributed for what is shown of them; None where they share nothing.

        That is `label` in both, an answer's start, or the first entity that both have: no more is attributed.
        """
        if self.tuned.task.kind == "sequence" and label is not None:
            number = self.tuned.labels.index(label)
            source, target = (
                replace(read, aspects=(read.aspects[0].of_label(number, label),)) for read in (source, target)
            )
        pairs = match_keys(source.aspects[0].keys, target.aspects[0].keys)
        if not len(pairs[0]):
            return None
        ours, theirs = (
            self.attributed(read.only(numbers[:1]), judged=False)
            for read, numbers in zip((source, target), pairs, strict=True)
        )
        return ours, theirs

    def paired(
        self, source: ExplainedLanguage, target: ExplainedLanguage, place: int
    ) -> tuple[tuple[Sequence[Hashable], Sequence[Hashable]], tuple[Ints, Ints]]:
        """The keys of an aspect's targets in two languages, and the numbers of those that belong together."""
        keys: list[Sequence[Hashable]] = [side.aspects[place].keys for side in (source, target)]
        if by_order(self.tuned.task, source.examples, target.examples) and self.tuned.task.kind == "sequence":
            keys = [tuple(range(len(side))) for side in keys]
        return (keys[0], keys[1]), match_keys(*keys)

    def compare(self, source: ExplainedLanguage, target: ExplainedLanguage, place: int) -> LanguageComparison:
        """The consistency of one aspect of two languages."""
        keys, pairs = self.paired(source, target, place)
        alone = len(keys[0]) + len(keys[1]) - 2 * len(pairs[0])
        what = f"targets ({source.aspects[place].name}) that the other language does not have"
        what += "; are the rows translations of each other?" if alone > len(pairs[0]) else ""
        skipped = (Skip(what, alone),) if alone else ()
        if not len(pairs[0]):
            raise InputError(
                f"nothing corresponds to {source.examples.name}",
                file=target.examples.name,
                remedy="Give files of one release, whose rows (or ids) correspond.",
            )
        sides = source.weighed(place, pairs[0]), target.weighed(place, pairs[1])
        # A text beside itself scores 1 whatever the head.
        heads = range(0 if source is target else min(len(source.heads), len(target.heads)))
        found = consistency(
            *sides,
            weighting=self.settings.weighting,
            solver=self.settings.solver,
            seed=self.settings.seed,
            device=str(self.through.device),
            heads=[self._weights_of_head((source, target), place, pairs, sides, number) for number in heads],
        )
        return LanguageComparison(pairs, tuple(keys[0][n] for n in pairs[0]), sides, found, (*skipped, *found.skipped))

    def _weights_of_head(
        self,
        both: tuple[ExplainedLanguage, ExplainedLanguage],
        place: int,
        pairs: tuple[Ints, Ints],
        sides: tuple[WeightedUnits, WeightedUnits],
        number: int,
    ) -> tuple[Floats, Floats]:
        """A random head's attributions of the pairs; for softmax, which minds their scale, as large as the model's."""
        theirs = [each.weighed(place, pair, head=number).values for each, pair in zip(both, pairs, strict=True)]
        if self.settings.weighting == "softmax":
            sizes = [float(np.abs(values).mean()) if len(values) else 0.0 for values in theirs]
            own = [float(np.abs(side.values).mean()) if len(side.values) else 0.0 for side in sides]
            theirs = [v * (a / b if b > 0 else 1.0) for v, a, b in zip(theirs, own, sizes, strict=True)]
        return theirs[0], theirs[1]

    def step(self, source: ExplainedLanguage, target: ExplainedLanguage) -> tuple[Made, list[LanguageComparison]]:
        """All records of one language beside the language of training, and what they were made of."""
        made: Made = []
        compared = []
        for place, aspect in enumerate(target.aspects):
            each = self.compare(source, target, place)
            compared.append(each)
            self.notes += [f"{source.language}–{target.language}: {skip}" for skip in each.skipped]
            if each.sides[1].unknown:
                self.notes.append(
                    f"{target.language}: {each.sides[1].unknown} of {len(each.sides[1].values)} units without a vector"
                )
            made.append(self._consistency(source, target, aspect.name, each))
            made += self._choices(source, target, aspect.name, each)
            if self.settings.faithful:
                made += self._faithful(target, place)
        shared = self._shared("task", source.language, target)
        metrics = tasks[self.tuned.task.name].metrics
        made += [(shared.scored(metrics, key, score), score.items) for key, score in target.judged.items()]
        return made, compared

    def _consistency(
        self, source: ExplainedLanguage, target: ExplainedLanguage, name: str, each: LanguageComparison
    ) -> tuple[Record, NDArray[np.floating[Any]] | None]:
        place = [aspect.name for aspect in target.aspects].index(name)
        found = target.found[place]
        tolerance = self.settings.tolerance or 0.0
        about = {
            "gap_median": float(np.median(found.gap)),
            "gap_above": int((found.gap > tolerance).sum()) if self.settings.attribution == "integrated" else None,
            "steps_mean": float(found.steps.mean()),
            "space": self.space.name,
            "unknown_units": each.sides[1].unknown,
        }
        # The names of one sentence share its attributions' noise.
        rows = source.aspects[place].targets.row[each.pairs[0][each.found.rows]]
        score = each.found.score(source.inputs.owner[rows])
        score = replace(score, details={**score.details, **about})
        shared = self._shared("consistency", source.language, target, aspect=name)
        return shared.scored(CONSISTENCY, "consistency", score), score.items

    def _choices(
        self, source: ExplainedLanguage, target: ExplainedLanguage, name: str, each: LanguageComparison
    ) -> Made:
        """The score under every weighting and unit, on the first pairs: what depends on choices the paper leaves
        open.
        """
        if not self.settings.choices:
            return []
        made: Made = []
        place = [aspect.name for aspect in target.aspects].index(name)
        first = tuple(side[:_TRIED_ROWS] for side in each.pairs)
        units = (self.settings.unit,) if self.settings.space == "vectors" else UNITS
        for unit in units:
            try:
                both = [self._in_units(side, unit) for side in (source, target)]
            except (MissingExtra, NoSegmenter) as error:
                self.notes.append(f"{target.language}: not scored by {unit}: {error}")
                continue
            ours, theirs = (side.weighed(place, chosen) for side, chosen in zip(both, first, strict=True))
            known = {}
            if unit == self.settings.unit and self.settings.solver == "exact" and len(first[0]) == len(each.pairs[0]):
                known = {self.settings.weighting: each.found}
            asked = [weighting for weighting in WEIGHTINGS if weighting not in known]
            tried = known | consistencies(ours, theirs, weightings=asked, seed=self.settings.seed, flows=False)
            for weighting in WEIGHTINGS:
                if len(tried[weighting].scores):
                    score = tried[weighting].score()
                    shared = self._shared("consistency-choices", source.language, target, aspect=name)
                    record = shared.scored(CONSISTENCY_CHOICES, f"consistency/{unit}/{weighting}", score)
                    made.append((record, score.items))
        return made

    def _in_units(self, side: ExplainedLanguage, unit: str) -> ExplainedLanguage:
        """The side in other units, for all its aspects, and for all languages that it is compared with."""
        if unit == self.settings.unit:
            return side
        if unit not in side.recut:
            units = self._units(side.inputs, side.examples, side.aspects, unit)
            vectors = self.space.vectors(units, side.inputs, side.language)
            side.recut[unit] = replace(side, units=units, vectors=vectors, recut={})
        return side.recut[unit]

    def _units(self, inputs: Inputs, examples: Examples[Any], aspects: Sequence[ExplanationTarget], unit: str) -> Units:
        """The units of the inputs that something is explained of: a paragraph has many windows, and one is read."""
        rows = np.unique(np.concatenate([aspect.targets.row for aspect in aspects]))
        return units_of(inputs, texts_of(examples), self.tuned.encoder, unit=unit, rows=rows)

    def _faithful(self, side: ExplainedLanguage, place: int) -> Made:
        aspect = side.aspects[place]
        case = self.case(side.inputs, aspect, f"{side.language} {aspect.name}, deletions")
        found = faithfulness(case, side.found[place])
        chance = faithfulness(case, Random(self.settings.seed)(case))
        made: Made = []
        for name in ("comprehensiveness", "sufficiency"):
            values, control = getattr(found, name), getattr(chance, name)
            low, high = mean_interval(values)
            curve = getattr(found, "deleted" if name == "comprehensiveness" else "kept").mean(axis=0)
            details = {"fractions": list(found.fractions), "curve": [float(value) for value in curve]}
            score = Score(float(values.mean()), len(values), float(control.mean()), low, high, values, details)
            shared = self._shared("faithfulness", side.language, side, aspect=aspect.name)
            made.append((shared.scored(FAITHFULNESS, name, score), score.items))
        return made

    def _shared(self, measure: str, source: str, side: ExplainedLanguage, aspect: str | None = None) -> Record:
        encoder = self.tuned.encoder
        return Record(
            measure=measure,
            model=encoder.name,
            source=source,
            target=side.language,
            unit=self.settings.unit,
            seed=self.settings.seed,
            task=self.tuned.task.name,
            aspect=aspect,
            corpus=side.examples.name,
            digests={"model": encoder.digest, "corpus": side.examples.digest},
            details={"settings": asdict(self.settings)},
            versions=versions(),
        )


def explained_examples(
    source: ExplainedLanguage,
    target: ExplainedLanguage,
    place: int,
    each: LanguageComparison,
    *,
    most: int | None = None,
) -> list[ExplainedExample]:
    """Every compared example: both texts with their attributions, the score, and what flows."""
    examples = []
    for at, row in enumerate(each.found.rows[:most]):
        flow = each.found.flows[at]
        texts = tuple(
            explained_text(side, place, int(pair[row]), weighed.values[weighed.starts[row] : weighed.starts[row + 1]])
            for side, pair, weighed in zip((source, target), each.pairs, each.sides, strict=True)
        )
        examples.append(
            ExplainedExample(
                key=each.keys[row],
                aspect=target.aspects[place].name,
                score=flow.score,
                null_value=float(each.found.null[at]) if at < len(each.found.null) else None,
                texts=texts,
                flows=tuple((i, j, round(share, 6)) for i, j, share in flow.strongest(flow.plan.size)),
            )
        )
    return examples


def explained_text(side: ExplainedLanguage, place: int, number: int, values: NDArray[np.float64]) -> ExplainedText:
    """One text of an example: units and whole words, attributions, the completeness gap, gold and predicted."""
    aspect = side.aspects[place]
    row = aspect.targets.row[number : number + 1]
    numbers, _ = side.units.of_rows(row)
    owner = int(side.inputs.owner[row[0]])
    item = side.examples[owner]
    words, spans = _whole_words(side.units, numbers, texts_of(side.examples)[owner])
    at, begin, stop = aspect.spans[number] if aspect.spans else (-1, 0, 0)
    gold, predicted = side.verdicts[owner] if side.verdicts else (None, None)
    return ExplainedText(
        language=side.language,
        units=tuple(side.units.written[unit] for unit in numbers),
        side=tuple(side.units.side[numbers].tolist()),
        attributions=tuple(round(float(value), 6) for value in values),
        gap=round(float(side.found[place].gap[number]), 6),
        words=tuple(words),
        explained=aspect.explained[number],
        marked=tuple(n for n, (text, first, last) in enumerate(spans) if text == at and first < stop and last > begin),
        gold=gold,
        predicted=predicted,
        row=str(getattr(item, "id", None) or f"{side.language}:{item.line}"),
    )


def _whole_words(units: Units, numbers: Ints, texts: Sequence[str]) -> tuple[list[Word], list[tuple[int, int, int]]]:
    """The words that the units of an input make up, and for each its text and its characters there.

    A piece belongs to the first word that it has letters of; a piece of blanks alone to the word before it.
    """
    spans = [_spans_of_words(text) for text in texts]
    ends = [[last for _, last in own] for own in spans]
    words: list[Word] = []
    places: list[tuple[int, int, int]] = []
    before = (-1, -1)
    for at, unit in enumerate(numbers.tolist()):
        side, (begin, stop) = int(units.side[unit]), units.spans[unit].tolist()
        number = bisect_right(ends[side], begin)
        if number == len(ends[side]) or spans[side][number][0] >= stop:
            number = before[1] if before[0] == side else -1
        if (side, number) == before:
            first, begin = words.pop()[1], places.pop()[1]
        else:
            first = at
        words.append((texts[side][begin:stop].strip(), first, at + 1))
        places.append((side, begin, stop))
        before = side, number
    return words, places


def _spans_of_words(text: str) -> list[tuple[int, int]]:
    """The characters of each word; of scripts whose segmenter is not installed each character, as only shown."""
    try:
        return token_spans(text)
    except (MissingExtra, NoSegmenter):
        return token_spans(text, segmented=False)
