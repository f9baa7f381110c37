"""Fine-tuned on each language, tested on all (papers/003 §4.2), and watched on the way (§4.1): what is shared, once."""

from __future__ import annotations

import copy
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, islice
from typing import Any

import numpy as np
import torch

from interlingua.analyses.synthesis import Synthetic
from interlingua.analyses.training_inputs import Material, PairSettings, Progress, loop_settings, stages
from interlingua.analyses.transfer_matrix import MEASURE, SIMILARITY, WRONG_METRICS, Watch, Watched
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs
from interlingua.encoder.loading import default_precision
from interlingua.engine.atomic_files import write_text
from interlingua.engine.run_store import Store
from interlingua.errors import InputError
from interlingua.readers.examples import Examples, TaggedWords
from interlingua.record import Made, Record, versions
from interlingua.studies.run_folder import STATE
from interlingua.tasks.ner import Ner, Tagged, wrong_sentences
from interlingua.tasks.saved_models import FineTuned
from interlingua.training.checkpoints import put_weights, weights_of
from interlingua.training.monitors import measured_share
from interlingua.training.phases import Phase
from interlingua.training.processes import is_first_process
from interlingua.training.regime import Place, Stage, regime, train_stages
from interlingua.training.task import TaskModel


@dataclass(frozen=True)
class Wanted:
    """What is wanted of a model that a run trained: a key, and how it is measured.

    `saves` where a model's folder is written instead; `place` is that folder, or the file beside the records: their
    names say nothing of settings, so each says its key.
    """

    key: str
    label: str
    measure: Callable[[FineTuned], Made]
    saves: bool = False
    place: str | None = None


@dataclass(frozen=True)
class PairwiseSettings:
    """How the fine-tunings are run; what is None is the task's or the device's own.

    `train_rows` and `test_rows` are how many rows of each part are used, the same in every language. `train_on` are the
    languages to fine-tune on; none: all.
    """

    train_rows: int | None = None
    test_rows: int | None = None
    train_on: tuple[str, ...] = ()
    epochs: float | None = None
    learning_rate: float | None = None
    batch: int | None = None
    seeds: tuple[int, ...] = (0,)
    watch: Watch = field(default_factory=Watch)
    precision: str | None = None
    graph: bool | None = None
    compile: bool = False
    checkpoint_every: int = 1000

    @property
    def phase(self) -> Phase:
        """The task alone, with what was set in place of its own."""
        (own,) = regime("original", task=Ner.defaults).phases
        schedule = replace(
            own.schedule,
            epochs=own.schedule.epochs if self.epochs is None else self.epochs,
            learning_rate=own.schedule.learning_rate if self.learning_rate is None else self.learning_rate,
        )
        part = own.parts[0] if self.batch is None else replace(own.parts[0], batch=self.batch)
        return replace(own, parts=(part,), schedule=schedule)


def tagged_examples(
    synthetic: Synthetic, language: str, part: str = "train", *, rows: int | None = None
) -> Examples[TaggedWords]:
    """The first rows of a part in a language as examples of NER; example i is the same in every language."""
    sentences = (filled for _, filled in synthetic.sentences(language, part))
    items = tuple(TaggedWords(one.words, one.tags) for one in islice(sentences, rows))
    return Examples(items, language, f"{language}.{part}")


@dataclass
class Pairwise:
    """The fine-tunings of a synthetic set; `run` trains and measures what is not in the store yet.

    `also` is what else is wanted of the model fine-tuned on a language with the first seed. One model is trained again
    and again, its first weights put back each time; every language is tokenised once, and the test sentences of all go
    through a model in one pass. `trained` says of each run that was made now how long it took and what its monitors
    cost, `notes` what was left out.
    """

    encoder: Encoder
    synthetic: Synthetic
    settings: PairwiseSettings
    store: Store
    also: Mapping[str, Sequence[Wanted]] = field(default_factory=dict)
    progress: Progress | None = None
    task: Ner = field(default_factory=Ner)
    trained: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _inputs: dict[str, Inputs] = field(default_factory=dict)
    _metrics: dict[tuple[str, int], list[dict[str, Any]]] = field(default_factory=dict)
    _watching: Watched | None = None
    _fresh: tuple[int, FineTuned, dict[str, torch.Tensor]] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        unknown = sorted({*self.settings.train_on, *self.also} - set(self.synthetic.languages))
        if unknown:
            raise InputError(
                "no such language in the set",
                value=unknown[0],
                remedy=f"It has: {', '.join(self.synthetic.languages)}.",
            )

    @property
    def languages(self) -> tuple[str, ...]:
        return self.synthetic.languages

    @property
    def sources(self) -> tuple[str, ...]:
        """The languages of training, those of which something else is wanted among them."""
        asked = {*(self.settings.train_on or self.languages), *self.also}
        return tuple(code for code in self.languages if code in asked)

    @property
    def precision(self) -> str:
        return self.settings.precision or default_precision(self.encoder.device)

    @cached_property
    def train_examples(self) -> dict[str, Examples[TaggedWords]]:
        return {code: self._examples(code, "train", self.settings.train_rows) for code in self.sources}

    @cached_property
    def test_examples(self) -> dict[str, Examples[TaggedWords]]:
        return {code: self._examples(code, "test", self.settings.test_rows) for code in self.languages}

    def _examples(self, code: str, part: str, rows: int | None) -> Examples[TaggedWords]:
        found = tagged_examples(self.synthetic, code, part, rows=rows)
        if not len(found):
            raise InputError(f"no sentence to {part} on", value=code, remedy="Draw more rows.")
        return found

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return self.task.labels(next(iter(self.train_examples.values())))

    @property
    def steps(self) -> list[str]:
        """The keys of all that is to be in the store."""
        return [each.key for _, _, wanted in self._plan for each in wanted]

    def run(self, *, only: str | None = None) -> None:
        """Fine-tune and measure, language by language; what was killed goes on from its newest checkpoint.

        `only` is the language of the one fine-tuning that is wanted; how it is watched goes by all of them still.
        """
        todo = [
            (code, seed, missing)
            for code, seed, wanted in self._plan
            if only in (None, code) and (missing := [each for each in wanted if not self.store.done(each.key)])
        ]
        for number, (code, seed, missing) in enumerate(todo):
            self._tell("models", number, len(todo))
            self._one(code, seed, missing)
        if todo:
            self._tell("models", len(todo), len(todo))
        if only is None and is_first_process():  # Also what a run left that was killed while it removed this.
            shutil.rmtree(self.store.folder / STATE, ignore_errors=True)

    @cached_property
    def _plan(self) -> list[tuple[str, int, list[Wanted]]]:
        """Every run with what is measured of it."""
        plan = []
        for seed in self.settings.seeds:
            for code in self.sources:
                wanted = [Wanted(self._key(code, seed, "transfer", *self._tested), code, self._exams(code, seed))]
                if self.settings.watch.on:
                    key = self._key(code, seed, "curves", repr(self.settings.watch), *self.sources, *self._tested)
                    wanted.append(Wanted(key, code, self._curves(code, seed)))
                plan.append(
                    (code, seed, [*wanted, *(self.also.get(code, ()) if seed == self.settings.seeds[0] else ())])
                )
        return plan

    def _one(self, code: str, seed: int, wanted: Sequence[Wanted]) -> None:
        """Train on a language, then measure; the first of several processes measures for all."""
        tuned, first = self._untrained(seed)
        put_weights(tuned.model, first)
        stage = self._stage(tuned.model, code, seed)
        place = Place(self.store.folder / STATE / self._key(code, seed))
        began, state = time.monotonic(), place.checkpoint(0, stage).state()
        (metrics,) = train_stages(
            tuned.model,
            [stage],
            device=self.encoder.device,
            place=place,
            progress=lambda _, done, total: self._tell(f"fine-tuning on {code}, seed {seed}", done, total),
        )
        if not is_first_process():
            return
        made_now = stage.settings.steps - int(state.get("step", 0))
        seconds = round(time.monotonic() - began, 2)
        about = {"language": code, "seed": seed, "steps": made_now, "seconds": seconds}
        self.trained.append(about | self._cost(metrics))
        self._keep_journal(place, stage, f"{code} seed{seed}")
        self._metrics[code, seed] = metrics
        tuned.model.eval()
        for each in wanted:
            self.store.append(each.key, each.measure(tuned))
        # What is stored needs no state; the folder of all states goes with the last.
        shutil.rmtree(place.folder, ignore_errors=True)
        with suppress(OSError):
            (self.store.folder / STATE).rmdir()

    def _cost(self, metrics: list[dict[str, Any]]) -> dict[str, Any]:
        """What the monitors of a run cost, over the training itself: counted in tokens, and by the clock."""
        if self._watching is None:
            return {}
        own = self._watching.cadence
        shares = {"tokens": round(own.share, 4), "seconds": round(measured_share(metrics), 4)}
        return {"monitors": {"every": own.every, "coarse": own.coarse, "rows": own.rows, "share": shares}}

    def _untrained(self, seed: int) -> tuple[FineTuned, dict[str, torch.Tensor]]:
        """The one model that is trained, under a head drawn by the seed, and its first weights, the encoder's."""
        if self._fresh is None or self._fresh[0] != seed:
            body = copy.deepcopy(self.encoder.model)
            inside = Encoder.of(body, self.encoder.tokenizer, name=self.encoder.name, precision=self.precision)
            model = TaskModel.of(inside, self.task, self.labels, seed=seed)
            first = {f"base_model.{name}": tensor for name, tensor in weights_of(self.encoder.model).items()}
            first |= {f"head.{name}": tensor.detach().clone() for name, tensor in weights_of(model.head).items()}
            self._fresh = (seed, FineTuned(self.task, self.labels, model, inside), first)
        return self._fresh[1], self._fresh[2]

    def _stage(self, model: torch.nn.Module, code: str, seed: int) -> Stage:
        """The one stage of a run, with its monitors; the model must have its first weights."""
        given, device = self.settings, self.encoder.device
        like = loop_settings(
            device,
            self.precision,
            graph=given.graph,
            compile=given.compile,
            checkpoint_every=given.checkpoint_every,
        )
        read, steady = self._train_inputs(code), device.type == "cuda"
        material = Material(self.task, read, (), _no_pairs, PairSettings(), seed, self.precision, steady=steady)
        (stage,) = stages(model, [given.phase], material, like=like)
        return replace(stage, monitors=self._watched(model).monitors(code)) if given.watch.on else stage

    def _watched(self, model: torch.nn.Module) -> Watched:
        """What is watched: in every run the same rows at the same steps, as the run with the fewest tokens allows."""
        if self._watching is None:
            schedule, batch = self.settings.phase.schedule, self.settings.phase.parts[0].batch
            read = [self._train_inputs(source) for source in self.sources]
            self._watching = Watched.of(
                self.settings.watch,
                {code: [" ".join(item.words) for item in its] for code, its in self.test_examples.items()},
                self.encoder,
                model,
                steps=min(schedule.settings(-(-len(inputs) // batch)).steps for inputs in read),
                tokens_a_step=min(float(inputs.lengths.mean()) * min(batch, len(inputs)) for inputs in read),
                precision=self.precision,
            )
            self.notes += [str(skip) for skip in self._watching.similarities.sample.skipped]
        return self._watching

    def _train_inputs(self, code: str) -> Inputs:
        if code not in self._inputs:
            self._inputs[code] = self._read(self.train_examples[code], training=True)
        return self._inputs[code]

    def _read(self, examples: Examples[TaggedWords], *, training: bool) -> Inputs:
        inputs = self.task.inputs(examples, self.encoder, labels=self.labels, training=training)
        self.notes += [f"{examples.name}: {skip}" for skip in inputs.skipped]
        return inputs

    @cached_property
    def _all_tests(self) -> tuple[Inputs, list[tuple[str, slice]]]:
        """The test sentences of all languages as one list of inputs, and which words of it are each language's."""
        whole = tuple(item for examples in self.test_examples.values() for item in examples)
        counts = [sum(len(item.words) for item in examples) for examples in self.test_examples.values()]
        ends = list(accumulate(counts))
        places = [(code, slice(end - size, end)) for code, end, size in zip(self.languages, ends, counts, strict=True)]
        return self._read(Examples(whole, "mul", "test sentences of all languages"), training=False), places

    def _curves(self, source: str, seed: int) -> Callable[[FineTuned], Made]:
        """What makes records of what was watched of a run."""

        def measure(tuned: FineTuned) -> Made:
            assert self._watching is not None
            return self._watching.records(self._metrics[source, seed], self._shared(source, seed, SIMILARITY))

        return measure

    def _exams(self, source: str, seed: int) -> Callable[[FineTuned], Made]:
        """What measures a model on the test sentences of every language: one pass, one record a language."""

        def measure(tuned: FineTuned) -> Made:
            inputs, places = self._all_tests
            said = self.task.predict(tuned.model, inputs, labels=self.labels, precision=self.precision)
            made: Made = []
            for code, words in places:
                examples = self.test_examples[code]
                score = wrong_sentences(Tagged(said.labels, said.choice[words]), examples)
                assert score.items is not None
                about = {
                    "wrong": int(score.items.sum()),
                    "untagged": float(np.mean([any(tag != "O" for tag in item.tags) for item in examples])),
                    "by_type": _by_type(examples, score.items),
                }
                shared = self._shared(source, seed, MEASURE)
                own = {"target": code, "unit": "example", "corpus": examples.name, "details": about}
                record = shared.scored(WRONG_METRICS, "wrong/sentence", score, **own)
                made.append((record, score.items))
            return made

        return measure

    def _shared(self, source: str, seed: int, measure: str) -> Record:
        digests = {
            "model": self.encoder.digest,
            "train": self.train_examples[source].digest,
            "test": blake2b(" ".join(self._tested).encode(), digest_size=16).hexdigest(),
        }
        return Record(
            measure=measure, model=self.encoder.name, source=source, seed=seed, digests=digests, versions=versions()
        )

    @cached_property
    def _tested(self) -> tuple[str, ...]:
        return tuple(f"{code} {examples.digest}" for code, examples in self.test_examples.items())

    def _key(self, code: str, seed: int, *what: str) -> str:
        trained = self.train_examples[code].digest
        run = f"{self.encoder.digest} {self.task!r} {self.labels} {trained} {self.settings.phase!r} {self.precision}"
        return blake2b(f"{run} {seed} {what}".encode(), digest_size=16).hexdigest()

    def _keep_journal(self, place: Place, stage: Stage, name: str) -> None:
        journal, kept = place.journal(0, stage), self.store.folder / "steps" / f"{name.replace(' ', '-')}.jsonl"
        if journal.is_file():
            write_text(kept, journal.read_text("utf-8"))

    def _tell(self, stage: str, done: int, total: int) -> None:
        if self.progress is not None and is_first_process():
            self.progress(stage, done, total)


def _no_pairs(code: str) -> Any:
    raise InputError("a pairwise study reads no bitext", value=code, remedy="Use interlingua transfer.")


def _by_type(examples: Examples[TaggedWords], wrong: np.ndarray[Any, Any]) -> dict[str, list[int]]:
    """Wrong and all sentences by the type of their entity; a sentence without one is under O."""
    found: dict[str, list[int]] = {}
    for item, missed in zip(examples, wrong.tolist(), strict=True):
        kind = next((tag[2:] for tag in item.tags if tag != "O"), "O")
        counts = found.setdefault(kind, [0, 0])
        counts[0] += int(missed)
        counts[1] += 1
    return found
