"""A fine-tuned model on its test sets: scores, predictions, word distances, maps between two models' spaces."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Protocol
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.analyses.aligned_bitext import LinkedFiles, LinkedText
from interlingua.analyses.explanation import verdicts
from interlingua.analyses.training_inputs import Pairs
from interlingua.analyses.transfer import Scenario, TaskData, TestSet, TransferSettings
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs
from interlingua.encoder.pooling import PoolingRequest
from interlingua.engine.atomic_files import write_atomically
from interlingua.errors import InputError
from interlingua.measures.procrustes import Map, fit_rotation_map
from interlingua.measures.separation import METRICS as DISTANCES
from interlingua.metric import Metrics
from interlingua.paths import json_value
from interlingua.record import Items, Made, Record, versions
from interlingua.score import Score, Scores
from interlingua.tasks import tasks
from interlingua.tasks.chance import KINDS, chance
from interlingua.tasks.saved_models import FineTuned
from interlingua.training.forward import map_head
from interlingua.training.loop import Monitor
from interlingua.training.monitors import WordDistances
from interlingua.training.task import TaskModel
from interlingua.training.word_pairs import WordTokens, align_tokens, word_tokens

Ints = NDArray[np.int64]
Encoders = tuple[Encoder, Encoder]
"""Who reads the source side, and who reads the target side."""
CONTROLS = ("shuffled", "shifted")
"""What may stand in the place of a map that was fitted on translations."""


class Remember(Protocol):
    """What was made under a key before, or is made now."""

    def __call__(self, key: str, make: Callable[[], Inputs], /) -> Inputs: ...


def _forget(key: str, make: Callable[[], Inputs], /) -> Inputs:
    return make()


def linked_vectors(text: LinkedText, encoders: Encoders, *, most: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The last layer's vectors of linked words, source and target, each side by its own model and tokenizer.

    A word is the mean of its sub-tokens. At most `most` pairs, drawn by the seed; a pair one of whose words has no
    token is left out.
    """
    sentences = (text.source, text.target)
    sides = [word_tokens(each.tokeniser, own, room=each.room) for each, own in zip(encoders, sentences, strict=True)]
    aligned = align_tokens(text.links, *sides)
    count = len(aligned.left)
    if count < 2:
        raise InputError("fewer than two pairs of words", value=count, remedy="Give more text.")
    chosen = np.arange(count)
    if count > most:
        chosen = np.sort(np.random.default_rng(seed).choice(count, most, replace=False))
    found = []
    for encoder, own, items, wanted in zip(
        encoders, sentences, (aligned.source, aligned.target), (aligned.left, aligned.right), strict=True
    ):
        rows = np.unique(items.row[wanted[chosen]])
        found.append(_means(encoder, [own[row].text for row in rows.tolist()], rows, items, wanted[chosen]))
    return found[0], found[1]


def _means(encoder: Encoder, texts: list[str], rows: Ints, items: WordTokens, wanted: Ints) -> torch.Tensor:
    """The vectors of some items, whose texts are `rows`: means over their tokens, at the last layer."""
    last = encoder.layers[-1]
    (made,) = encoder.encode_views(texts, [PoolingRequest("token", layers=(last,))])
    vectors = np.asarray(made[last], np.float32)
    begin = np.searchsorted(made.row, np.arange(len(rows)))
    text = np.searchsorted(rows, items.row[wanted])
    counts = np.diff(items.start)[wanted]
    owner = np.repeat(np.arange(len(wanted)), counts)
    inner = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    # Positions count the special tokens before a text, which are no items of the view.
    places = items.position[items.start[wanted][owner] + inner] - len(encoder.tokeniser.prefix)
    summed = np.zeros((len(wanted), vectors.shape[1]), np.float64)
    np.add.at(summed, owner, vectors[begin[text][owner] + places])
    return torch.from_numpy((summed / counts[:, None]).astype(np.float32))


def sentence_vectors(text: LinkedText, encoders: Encoders, *, most: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The last layer's vectors of the first rows, source and target, each side by its own model."""
    found = []
    for encoder, side in zip(encoders, (text.source, text.target), strict=True):
        last, rows = encoder.layers[-1], min(len(side), most)
        vectors = encoder.encode([side[row].text for row in range(rows)], layers=[last])[last]
        found.append(torch.from_numpy(np.array(vectors, np.float32)))
    return found[0], found[1]


def fit_rotation(source: torch.Tensor, target: torch.Tensor, *, control: str | None = None, seed: int) -> Map:
    """The rotation that carries target vectors onto source ones; two models must have one width.

    A control in its place: `shuffled` is fitted on pairs that the seed deals anew, so that it turns one space into
    the other with no knowledge of who translates whom; `shifted` moves the target's mean to the source's and turns
    nothing.
    """
    if source.shape[1] != target.shape[1]:
        raise InputError(
            "two models of different widths have no rotation between them",
            value=f"{source.shape[1]} and {target.shape[1]}",
            remedy="Use models whose vectors are of one width.",
        )
    if control == "shuffled":
        source = source[torch.from_numpy(np.random.default_rng(seed).permutation(len(source))).to(source.device)]
    found = fit_rotation_map(target.float(), source.float(), normalise=False)
    return replace(found, matrix=torch.eye(len(found.matrix)).to(found.matrix)) if control == "shifted" else found


_MAP_WORDS, _MAP_SENTENCES = 20_000, 5_000
_COUNTS = ("right", "predicted", "gold")


@dataclass(frozen=True)
class Evaluation:
    """An exam that a model took: its records, and what the model said of each example; None where it has no head."""

    exam: TestSet
    made: Made
    predictions: Any | None


@dataclass
class Evaluator:
    """Measures a model of a study; `linked` gives the linked text of a language and seed.

    `remember` gives what was made under a key before, in another examiner of this process.

    `through` is another encoder that reads the exams of mapped regimes in the place of the model's own (papers/000
    Fig. 5): its vectors go through a map to the model's head.
    """

    encoder: Encoder
    lesson: TaskData
    settings: TransferSettings
    bitexts: Mapping[str, LinkedFiles]
    exams: tuple[TestSet, ...]
    precision: str
    linked: Callable[[str, int], Pairs]
    through: Encoder | None = None
    remember: Remember = _forget

    @cached_property
    def train_inputs(self) -> Inputs | None:
        return None if self.lesson.train is None else self._inputs_of(self.lesson.train, training=True)

    @cached_property
    def dev_inputs(self) -> Inputs | None:
        return None if self.lesson.dev is None else self._inputs_of(self.lesson.dev, training=False)

    @property
    def trained_without(self) -> list[str]:
        """What training does not see as it was meant: of the model's folder, and of examples to train and choose by."""
        parts = [each.skipped for each in (self.lesson.train, self.lesson.dev) if each is not None]
        parts += [each.skipped for each in (self.train_inputs, self.dev_inputs) if each is not None]
        return list(dict.fromkeys([*self.encoder.layer_notes, *(str(skip) for part in parts for skip in part)]))

    @cached_property
    def exam_inputs(self) -> dict[str, Inputs]:
        """The inputs of every exam that a head takes, by digest."""
        taken = [] if self.lesson.headless else [e for e in self.exams if e.task.name == self.lesson.task.name]
        return {exam.digest: self._inputs_of(exam.examples, training=False) for exam in taken}

    def _inputs_of(self, examples: Any, *, training: bool) -> Inputs:
        reader = self.encoder if training or self.through is None else self.through
        task, labels = self.lesson.task, self.lesson.labels
        # By its name, too: what is left out is told with it.
        told = f"{reader.digest} {reader.name} {task!r} {labels} {examples.name} {examples.digest} {training}"
        return self.remember(told, lambda: task.inputs(examples, reader, labels=labels, training=training))

    def watch(self, epoch: int) -> Monitor:
        """The task's metric on the examples for choosing, after every epoch of that many steps."""
        inputs, task = self.dev_inputs, self.lesson.task

        def measure(model: torch.nn.Module) -> dict[str, float]:
            said = task.predict(model, inputs, labels=self.lesson.labels, precision=self.precision)
            return {task.metric: task.judge(said, self.lesson.dev)[task.metric].value}

        return Monitor(epoch, measure)

    def examine(self, tuned: FineTuned, scenario: Scenario, exam: TestSet, seed: int) -> Evaluation:
        """The records of an exam that a model takes, and its predictions."""
        said = None
        by_layer: dict[int | None, Scores] = {}
        if exam.task.name == "retrieval":
            by_layer |= exam.task.by_layer(exam.task.predict(tuned.encoder, exam.examples))
        elif scenario.mapped:
            model = tuned.model if self.through is None else TaskModel(self.through.model, tuned.model.head).eval()
            control = scenario.mapped if isinstance(scenario.mapped, str) else None
            with map_head(model, self._map(tuned, exam.judged, seed, control)):
                said = self._said(model, exam)
        else:
            said = self._said(tuned.model, exam)
        if said is not None:
            by_layer[None] = self._judged(said, exam)
        spoken = list(scenario.spoken)
        shared = Record(
            measure=exam.task.name,
            model=self.encoder.name,
            against=None if self.through is None else self.through.name,
            source=self.settings.source,
            target=exam.judged,
            unit="example",
            seed=seed,
            test=exam.name,
            regime=scenario.regime,
            bitexts=tuple(spoken),
            corpus=exam.examples.name,
            digests=self._digests(spoken) | {"test": exam.digest},
            versions=versions(),
        )
        metrics = tasks[exam.task.name].metrics
        made: Made = []
        for layer, own in by_layer.items():
            made += _records(own, metrics, replace(shared, layer=layer))
        return Evaluation(exam, made, said)

    def _said(self, model: torch.nn.Module, exam: TestSet) -> Any:
        inputs = self.exam_inputs[exam.digest]
        return exam.task.predict(model, inputs, labels=self.lesson.labels, precision=self.precision)

    def _judged(self, said: Any, exam: TestSet) -> Scores:
        """The exam's scores, and in the details of the task's own metric the chance level."""
        task, scores = exam.task, dict(exam.task.judge(said, exam.examples))
        own = scores.get(task.metric)
        if own is not None and getattr(task, "kind", None) in KINDS:
            told = chance(task, said, exam.examples, self.lesson.labels, own)
            scores[task.metric] = replace(own, details={**own.details, "chance": told})
        return scores

    def _map(self, tuned: FineTuned, code: str, seed: int, control: str | None) -> Map:
        """From the language's vectors to those of the language of training, at this model's last layer."""
        return fit_rotation(*self._vectors(tuned, code, seed), control=control, seed=seed)

    def _vectors(self, tuned: FineTuned, code: str, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Of words or sentences that translate each other, the language of training first."""
        pairs = self.linked(code, seed)
        if self.settings.map_on == "words" and self.through is None:
            words = WordDistances(pairs.trained, most=_MAP_WORDS, precision=self.precision, seed=seed)
            english, theirs, _ = words.vectors(tuned.model)
            return english, theirs
        encoders = (tuned.encoder, self.through or tuned.encoder)
        if self.settings.map_on == "words":
            return linked_vectors(pairs.text, encoders, most=_MAP_WORDS, seed=seed)
        return sentence_vectors(pairs.text, encoders, most=_MAP_SENTENCES)

    def distances(self, tuned: FineTuned, state: str, spoken: tuple[str, ...], code: str, seed: int) -> Made:
        """The records of related and unrelated words of a language, on rows that were not trained on."""
        layer = self.settings.pairs.layer
        words = WordDistances(self.linked(code, seed).held, layer, precision=self.precision, seed=seed)
        shared = Record(
            measure="distances",
            model=self.encoder.name,
            source=self.settings.source,
            target=code,
            layer=tuned.encoder.layers[layer],
            unit="word",
            seed=seed,
            bitexts=spoken,
            state=state,
            corpus=self.bitexts[code].files[0].name,
            digests=self._digests([code, *(other for other in spoken if other != code)]),
            versions=versions(),
        )
        return _records(words(tuned.model), DISTANCES, shared)

    def _digests(self, spoken: list[str]) -> dict[str, str]:
        train = {} if self.lesson.train is None else {"train": self.lesson.train.digest}
        told = {f"bitext {code}": self.bitexts[code].digest for code in spoken}
        other = {} if self.through is None else {"target_model": self.through.digest}
        return {"model": self.encoder.digest, **other, **train, **told}


def _records(scores: Scores, metrics: Metrics, shared: Record) -> Made:
    """Scores as records like `shared`; the counts that an F1 is made of go with the items, not into the line."""
    made: Made = []
    for key, score in scores.items():
        items, details = _items(score)
        made.append((shared.scored(metrics, key, score, details=details), items))
    return made


def _items(score: Score) -> tuple[Items | None, dict[str, Any]]:
    """The per-item values of a score: a value an item or, of an F1, (3, item) counts; and its other details."""
    if score.items is None and all(name in score.details for name in _COUNTS):
        rest = {name: value for name, value in score.details.items() if name not in _COUNTS}
        return np.array([score.details[name] for name in _COUNTS], np.float64), rest
    return score.items, dict(score.details)


FOLDER = "predictions"
"""Where predictions are, under a run's folder and a step's."""


def test_file(test: str) -> str:
    """What the file of a model's predictions on a test is called.

    >>> test_file("ru:mlqa"), test_file("es mixed")
    ('ru.mlqa.jsonl', 'es-mixed.jsonl')
    """
    return plain_name(test.replace(":", ".").replace(" ", "-")) + ".jsonl"


def plain_name(name: str) -> str:
    """A name as a part of a file's: letters, digits and a few signs.

    >>> plain_name("google/bert-ner")
    'google_bert-ner'
    """
    return re.sub(r"[^\w.+-]", "_", name)


def model_name(regime: str, bitexts: Sequence[str], seed: int) -> str:
    """What a trained model is called: by its regime, the languages whose bitexts it read, and its seed.

    >>> model_name("adjusted", ("ru", "hi"), 0), model_name("original", (), 1)
    ('adjusted-ru+hi-seed0', 'original-seed1')
    """
    label = f"{regime} {'+'.join(bitexts)}" if bitexts else regime
    return f"{label.replace(' ', '-')}-seed{seed}"


def prediction_lines(exam: TestSet, predictions: Any, about: Mapping[str, Any]) -> str:
    """One JSON line an example: file and line (and id), test and language, `about` the model, gold and predicted.

    What `about` says of the file stands in place of its name here.

    Both are texts as in explanations: a label, an answer, names of a sentence; `right` where they agree.
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


def posteriors_file(predictions: str | Path) -> Path:
    """Where the posteriors are of the predictions in a file: beside it.

    >>> posteriors_file("predictions/original-seed1.es.jsonl").name
    'original-seed1.es.npz'
    """
    return Path(predictions).with_suffix(".npz")


def write_posteriors(path: Path, said: Mapping[str, Any]) -> None:
    """The confidence of a model in its answers, by test; `said` are its predictions. Nothing is written of none.

    Two bytes a label of each example, or of each word of tagged words; of questions 12 bytes each.
    """
    told = {test: own.posteriors() for test, own in said.items() if hasattr(own, "posteriors")}
    arrays = {f"{test}/{name}": values for test, own in told.items() for name, values in own.items()}
    if arrays:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lambda file: np.savez_compressed(file, allow_pickle=False, **arrays))


def read_posteriors(path: str | Path) -> dict[str, dict[str, NDArray[Any]]]:
    """The arrays of each test in a file of posteriors, rows in the order of the predictions beside it.

    Of labels and tags: `labels` and `probabilities` (example or word, label), whose largest is what was predicted, or
    all 0 for a word that could not be read. Of questions: `spans` (first, last character), `scores`, `probabilities`.
    """
    found: dict[str, dict[str, NDArray[Any]]] = {}
    try:
        with np.load(path, allow_pickle=False) as arrays:
            for name in arrays.files:
                test, _, what = name.rpartition("/")
                found.setdefault(test, {})[what] = arrays[name]
    except (OSError, ValueError, EOFError, BadZipFile, zlib.error) as error:
        raise InputError(
            f"posteriors that can't be read ({error})", file=path, remedy="Remove the file and run the command again."
        ) from error
    return found


def read_predictions(folder: Path, steps: Collection[str]) -> Iterator[dict[str, Any]]:
    """All lines of a run's predictions, file by file; not those of other steps, which other settings left."""
    for path in sorted((folder / FOLDER).glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            yield from (line for line in map(json_value, lines) if line.get("step") in steps)
