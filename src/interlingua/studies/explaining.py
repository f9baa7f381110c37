"""Do the languages look at the same words? Models × languages attributed, compared with the language of training."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.attribution import attributions
from interlingua.attribution.consistency import SOLVERS, Consistency, Weighed, consistencies, consistency
from interlingua.attribution.embedding_forward import Through
from interlingua.attribution.faithfulness import faithfulness
from interlingua.attribution.inputs import BASELINES, SCALES, Attributions, Baseline, Case
from interlingua.attribution.integrated_gradients import IntegratedGradients
from interlingua.attribution.methods import Random
from interlingua.attribution.shared_spaces import SPACES, Aligned, Contextual, Embeddings, External, Space
from interlingua.attribution.units import UNITS, Units, units_of
from interlingua.corpus import Skip
from interlingua.encoder.inputs import Inputs, frame, spread
from interlingua.errors import InputError, MissingExtra, NoSegmenter
from interlingua.readers.examples import Examples
from interlingua.readers.word_lists import WordVectors
from interlingua.registry import unknown
from interlingua.score import Score, Scores
from interlingua.stats import mean_interval
from interlingua.studies.aspects import CHOICES, Asked, Aspect, by_order, matched, texts_of, verdicts
from interlingua.studies.record import Record, versions
from interlingua.studies.store import Made
from interlingua.tasks.chance import chance
from interlingua.tasks.saved_models import FineTuned
from interlingua.transport import WEIGHTINGS, quick

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Progress = Callable[[str, int, int], None]
LEAST_HEADS = 3
_TRIED_ROWS = 500  # pairs that the choices the paper leaves open are tried on


@dataclass(frozen=True)
class ExplainSettings:
    """How attributions are made and compared; what papers/002 leaves open has a default here and is in every record."""

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

    def __post_init__(self) -> None:
        if self.random_heads != 0 and self.random_heads < LEAST_HEADS:
            raise InputError(
                "too few random heads to tell how they differ",
                value=self.random_heads,
                remedy=f"Give {LEAST_HEADS} or more, or 0 for none.",
            )
        _ = attributions[self.attribution]
        for kind, name, known in (
            ("baseline", self.baseline, BASELINES),
            ("choice of a target", self.target, CHOICES),
            ("scale of a target", self.scale, SCALES),
            ("unit", self.unit, UNITS),
            ("space", self.space, SPACES),
            ("way from attributions to weights", self.weighting, WEIGHTINGS),
            ("solver", self.solver, SOLVERS),
        ):
            if name not in known:
                raise unknown(kind, name, list(known))
        if self.space == "vectors" and self.unit != "word":
            raise InputError("word vectors are of words", value=self.unit, remedy="Use --unit word.")

    def way(self) -> Callable[[Case], Attributions]:
        """The attribution with its settings."""
        if self.attribution == "integrated":
            return IntegratedGradients(self.steps, self.rule, self.tolerance, max(256, self.steps))
        made: Callable[[Case], Attributions] = attributions[self.attribution].call()
        return made


@dataclass(frozen=True)
class Outside:
    """What spaces are made of beside the model: dictionaries and word vectors, by language."""

    dictionaries: Mapping[str, Sequence[tuple[str, str]]]
    vectors: Mapping[str, WordVectors]


@dataclass(frozen=True)
class Read:
    """One language's examples as the model reads them, what it says of them, and what is to be explained."""

    language: str
    examples: Examples[Any]
    inputs: Inputs
    predictions: Any
    aspects: tuple[Aspect, ...]

    def only(self, numbers: Ints) -> Read:
        """The same with some targets of the first aspect alone."""
        first = self.aspects[0]
        keys = tuple(first.keys[number] for number in numbers)
        return replace(self, aspects=(replace(first, targets=first.targets.take(numbers), keys=keys),))

    def of_label(self, label: int) -> Read:
        """The same with this label to be explained of every example."""
        first = self.aspects[0]
        labels = np.full(len(first.targets), label, np.int64)
        return replace(self, aspects=(replace(first, targets=replace(first.targets, label=labels)),))


@dataclass(frozen=True)
class Side:
    """One language's examples with their attributions, by aspect; `vectors` are those of all units."""

    language: str
    examples: Examples[Any]
    inputs: Inputs
    units: Units
    vectors: NDArray[np.float32]
    aspects: tuple[Aspect, ...]
    found: tuple[Attributions, ...]
    judged: Scores
    heads: tuple[tuple[Attributions, ...], ...] = ()
    """Attributions of the same targets under random heads on the same body: by head and aspect."""
    verdicts: list[tuple[str, str]] = field(default_factory=list)
    """What each example is by its file, and by the model."""

    def weighed(self, place: int, targets: Ints, *, head: int | None = None) -> Weighed:
        """The units of some targets of an aspect, with their attributions, or those under a random head."""
        rows = self.aspects[place].targets.row
        found = self.found if head is None else self.heads[head]
        values, starts = self.units.sums(found[place], self.inputs, rows)
        numbers, _ = self.units.of_rows(rows)
        sizes = np.diff(starts)[targets]
        chosen = spread(starts[targets], sizes)
        return Weighed(values[chosen], self.vectors[numbers[chosen]], np.concatenate([[0], np.cumsum(sizes)]))


@dataclass(frozen=True)
class Compared:
    """Two languages' aspect: which targets of each belong together, and how consistent they are."""

    pairs: tuple[Ints, Ints]
    keys: tuple[Hashable, ...]
    sides: tuple[Weighed, Weighed]
    found: Consistency
    skipped: tuple[Skip, ...]


class Explainer:
    """A fine-tuned model, explained language by language; every language is attributed once."""

    def __init__(
        self, tuned: FineTuned, settings: ExplainSettings, outside: Outside, progress: Progress | None = None
    ) -> None:
        self.tuned, self.settings, self.outside, self._progress = tuned, settings, outside, progress
        self.through = Through(tuned.model, precision=settings.precision)
        shape = frame(tuned.encoder.tokenizer, pair=tuned.task.kind != "token")
        kept = shape.before + shape.between + shape.after
        self.baseline = Baseline.of(settings.baseline, self.through, tuned.encoder.tokenizer, kept=kept)
        self.notes: list[str] = []
        self._recut: list[tuple[Side, Side]] = []
        if settings.solver == "exact" and not quick():
            self.notes.append("POT is not installed: exact similarities are 50 to 100 times slower by scipy")

    @cached_property
    def space(self) -> Space:
        """The shared space of the settings, made once."""
        name = self.settings.space
        if name == "aligned":
            made, skipped = Aligned.of(self.through, self.tuned.encoder, self.outside.dictionaries)
            self.notes += [str(skip) for skip in skipped]
            return made
        if name == "vectors":
            return External(self.outside.vectors)
        if name == "layer":
            return Contextual(self.through, self.settings.layer)
        return Embeddings(self.through)

    def case(self, inputs: Inputs, aspect: Aspect, label: str) -> Case:
        """The case of an aspect, with progress under a label."""
        tell = None if self._progress is None else lambda done, of: self._progress(label, done, of)  # type: ignore[misc]
        return Case(self.through, inputs, aspect.targets, self.baseline, tell)

    def read(self, language: str, examples: Examples[Any], *, choice: str | None = None) -> Read:
        """A language's examples as the model reads them, and what there is to explain of them.

        That is the gold or the predicted answer (`choice`), by default as the settings say.
        """
        task, encoder, labels = self.tuned.task, self.tuned.encoder, self.tuned.labels
        inputs = task.inputs(examples, encoder, labels=labels, training=False)
        self.notes += [f"{language}: {skip}" for skip in (*examples.skipped, *inputs.skipped)]
        predictions = task.predict(self.tuned.model, inputs, labels=labels, precision=self.settings.precision)
        asked = Asked(task, examples, inputs, predictions, labels, choice or self.settings.target, self.settings.scale)
        aspects = tuple(asked.aspects())
        self.notes += [f"{language}: {skip}" for aspect in aspects for skip in aspect.skipped]
        return Read(language, examples, inputs, predictions, aspects)

    def attributed(self, read: Read, *, judged: bool = True) -> Side:
        """What was read, attributed; `judged` also says how right the model is."""
        way = self.settings.way()
        found = tuple(way(self.case(read.inputs, each, f"{read.language} {each.name}")) for each in read.aspects)
        task = self.tuned.task
        units = self._units(read.inputs, read.examples, read.aspects, self.settings.unit)
        vectors = self.space.vectors(units, read.inputs, read.language)
        scores = self._judged(read) if judged else {}
        said = verdicts(task, read.examples, read.predictions) if judged else []
        return Side(read.language, read.examples, read.inputs, units, vectors, read.aspects, found, scores,
                    verdicts=said)  # fmt: skip

    def _judged(self, read: Read) -> Scores:
        """How right the model is, and in the details of the task's own metric the chance level."""
        task, labels = self.tuned.task, self.tuned.labels
        scores = task.judge(read.predictions, read.examples)
        own = scores[task.metric]
        told = chance(task, read.predictions, read.examples, labels, own)
        return {**scores, task.metric: replace(own, details={**own.details, "chance": told})}

    def side(self, language: str, examples: Examples[Any]) -> Side:
        """A language's examples, attributed, and under random heads, too."""
        read = self.read(language, examples)
        made = self.attributed(read)
        return replace(made, heads=tuple(self._under_head(read, number) for number in range(self.heads)))

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

    def _under_head(self, read: Read, number: int) -> tuple[Attributions, ...]:
        """The attributions of the same targets with a head that has learnt nothing; of its own label, if predicted."""
        tuned, settings = self.tuned, self.settings
        seed = int(np.random.SeedSequence((settings.seed, number)).generate_state(1)[0])
        model = tuned.model.under_random_head(seed=seed)
        through = Through(model, precision=settings.precision)
        if settings.target == "predicted":
            said = tuned.task.predict(model, read.inputs, labels=tuned.labels, precision=settings.precision)
            asked = Asked(tuned.task, read.examples, read.inputs, said, tuned.labels, "predicted", settings.scale)
            read = replace(read, aspects=tuple(asked.aspects()))
        label = f"{read.language}, random head {number + 1} of {self.heads}"
        return tuple(
            settings.way()(replace(self.case(read.inputs, each, f"{label} {each.name}"), through=through))
            for each in read.aspects
        )

    def two(self, source: Read, target: Read, *, label: str | None = None) -> tuple[Side, Side] | None:
        """Two texts of one example each, attributed for what is shown of them; None where they share nothing.

        That is `label` in both, an answer's start, or the first entity that both have: no more is attributed.
        """
        if self.tuned.task.kind == "sequence" and label is not None:
            source, target = (read.of_label(self.tuned.labels.index(label)) for read in (source, target))
        pairs = matched(source.aspects[0].keys, target.aspects[0].keys)
        if not len(pairs[0]):
            return None
        ours, theirs = (
            self.attributed(read.only(numbers[:1]), judged=False)
            for read, numbers in zip((source, target), pairs, strict=True)
        )
        return ours, theirs

    def paired(
        self, source: Side, target: Side, place: int
    ) -> tuple[tuple[Sequence[Hashable], Sequence[Hashable]], tuple[Ints, Ints]]:
        """The keys of an aspect's targets in two languages, and the numbers of those that belong together."""
        keys: list[Sequence[Hashable]] = [side.aspects[place].keys for side in (source, target)]
        if by_order(self.tuned.task, source.examples, target.examples) and self.tuned.task.kind == "sequence":
            keys = [tuple(range(len(side))) for side in keys]
        return (keys[0], keys[1]), matched(*keys)

    def compare(self, source: Side, target: Side, place: int) -> Compared:
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
        return Compared(pairs, tuple(keys[0][n] for n in pairs[0]), sides, found, (*skipped, *found.skipped))

    def _weights_of_head(
        self,
        both: tuple[Side, Side],
        place: int,
        pairs: tuple[Ints, Ints],
        sides: tuple[Weighed, Weighed],
        number: int,
    ) -> tuple[Floats, Floats]:
        """A random head's attributions of the pairs; for softmax, which minds their scale, as large as the model's."""
        theirs = [each.weighed(place, pair, head=number).values for each, pair in zip(both, pairs, strict=True)]
        if self.settings.weighting == "softmax":
            sizes = [float(np.abs(values).mean()) if len(values) else 0.0 for values in theirs]
            own = [float(np.abs(side.values).mean()) if len(side.values) else 0.0 for side in sides]
            theirs = [v * (a / b if b > 0 else 1.0) for v, a, b in zip(theirs, own, sizes, strict=True)]
        return theirs[0], theirs[1]

    def step(self, source: Side, target: Side) -> tuple[Made, list[Compared]]:
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
        for variant, score in target.judged.items():
            made.append(self._record("task", variant, source.language, target, score))
        return made, compared

    def _consistency(
        self, source: Side, target: Side, name: str, each: Compared
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
        return self._record("consistency", name, source.language, target, score)

    def _choices(self, source: Side, target: Side, name: str, each: Compared) -> Made:
        """The score under every weighting and unit, on the first pairs: what hangs on choices the paper leaves open."""
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
                    variant = f"{name}/{unit}/{weighting}"
                    made.append(self._record("consistency-choices", variant, source.language, target, score))
        return made

    def _in_units(self, side: Side, unit: str) -> Side:
        """The side in other units; kept for the source of all languages, and for all aspects of a target."""
        if unit == self.settings.unit:
            return side
        made = next((made for held, made in self._recut if held is side), None)
        if made is None:
            units = self._units(side.inputs, side.examples, side.aspects, unit)
            made = replace(side, units=units, vectors=self.space.vectors(units, side.inputs, side.language))
        self._recut = [*(pair for pair in self._recut if pair[0] is not side), (side, made)][-2:]
        return made

    def _units(self, inputs: Inputs, examples: Examples[Any], aspects: Sequence[Aspect], unit: str) -> Units:
        """The units of the inputs that something is explained of: a paragraph has many windows, and one is read."""
        rows = np.unique(np.concatenate([aspect.targets.row for aspect in aspects]))
        return units_of(inputs, texts_of(self.tuned.task, examples), self.tuned.encoder, unit=unit, rows=rows)

    def _faithful(self, side: Side, place: int) -> Made:
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
            made.append(self._record("faithfulness", f"{name}/{aspect.name}", side.language, side, score))
        return made

    def _record(
        self, measure: str, variant: str, source: str, side: Side, score: Score
    ) -> tuple[Record, NDArray[np.floating[Any]] | None]:
        encoder = self.tuned.encoder
        record = Record(
            measure=measure,
            variant=variant,
            model=encoder.name,
            source=source,
            target=side.language,
            value=score.value,
            null=score.null,
            low=score.low,
            high=score.high,
            n=score.n,
            unit=self.settings.unit,
            seed=self.settings.seed,
            corpus=side.examples.name,
            digests={"model": encoder.digest, "corpus": side.examples.digest},
            details={"task": self.tuned.task.name, **score.details, "settings": asdict(self.settings)},
            versions=versions(),
        )
        return record, score.items


def step_key(
    tuned_digest: str, source: Examples[Any], target: Examples[Any], settings: ExplainSettings, more: str
) -> str:
    """The key of a step: all that its records are made of."""
    about = ["explain", 2, tuned_digest, source.digest, target.digest, asdict(settings), more]
    return hashlib.blake2b(json.dumps(about).encode(), digest_size=12).hexdigest()
