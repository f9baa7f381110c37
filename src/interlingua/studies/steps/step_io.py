"""What steps share: their inputs read, their models trained, their records and notes written."""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from interlingua.analyses.aligned_bitext import LinkedFiles, LinkedText, Linking
from interlingua.analyses.space_measures import Language, MeasurePlan, encode_language, split_languages
from interlingua.analyses.training_inputs import Material, Pairs, PairSettings, drawn_pairs, loop_settings, stages
from interlingua.analyses.transfer import Lesson
from interlingua.corpus import ParallelCorpus, Skip
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs
from interlingua.encoder.representations import Cache
from interlingua.engine.atomic_files import write_text
from interlingua.engine.records import NOTES, Records
from interlingua.engine.serialization import File, digest
from interlingua.engine.step import ObjectCache, StepContext
from interlingua.readers import read_corpus
from interlingua.record import Made
from interlingua.studies.step_settings import (
    Data,
    EncodeStep,
    LinkedRows,
    MeasureStep,
    StudyBitext,
    StudyEncoder,
    StudyTask,
)
from interlingua.studies.study import MADE
from interlingua.tasks import tasks
from interlingua.tasks.saved_models import FineTuned, load
from interlingua.training.loop import Monitor
from interlingua.training.phases import Phase
from interlingua.training.regime import Place, Stage, train_stages
from interlingua.training.task import TaskModel

MODEL = Path("heavy") / "model"
VECTORS = Path("heavy") / "representations"
LINKS = "links.npz"
_TRAINED = "trained"
"""The kind of models that were just trained, or are asked: one at a time, beside the encoder they are made of."""
_MOST_TEXTS, _MOST_PAIRS, _MOST_INPUTS = 32, 4, 256
_PATH = re.compile(r"(?<![\w./~])/(?:[^\s/,;:()]+/)+([^\s/,;:()]+)")


def load_encoder(about: StudyEncoder, context: StepContext, *, precision: str = "fp32", role: str = "") -> Encoder:
    """The encoder that settings name, or that an earlier step pretrained; who trains it takes a copy.

    `role` begins the roles of one of several sides.
    """
    made = context.inputs.get(f"{role}encoder")
    model = about.model if made is None else str(made / MODEL)

    def read() -> Encoder:
        return Encoder.load(
            model.path if isinstance(model, File) else str(model),
            device=context.device,
            precision=precision,
            trust_remote_code=about.trust_remote_code,
            allow_pickle=about.allow_pickle,
            revision=about.revision,
            blocks=about.blocks,
        )

    # By what it is, not by what a study calls it.
    told = [model.digest if isinstance(model, File) else model, about.revision, about.blocks, precision]
    return context.objects.get(digest(["encoder", *told]), read)


def load_body(about: StudyEncoder, context: StepContext, *, precision: str = "fp32", role: str = "") -> Encoder:
    """The newest encoder there is: fine-tuned, else adjusted, else as it came."""
    for name in (f"{role}tuned", f"{role}adjusted"):
        if name in context.inputs:
            return load_made(context.inputs[name], context, precision=precision)
    return load_encoder(about, context, precision=precision, role=role)


def load_made(made: Path, context: StepContext, *, precision: str = "fp32") -> Encoder:
    """The encoder that a step left."""
    key = digest(["made", made.name, precision])
    return context.objects.get(key, lambda: read_made(made, context, precision=precision), kind=_TRAINED)


def read_made(made: Path, context: StepContext, *, precision: str = "fp32") -> Encoder:
    """The encoder that a step left, for who reads it once and lets it go."""
    return Encoder.load(str(made / MODEL), device=context.device, precision=precision)


def load_tuned(context: StepContext) -> FineTuned:
    """The model that was fine-tuned, with its head."""
    made = context.inputs["tuned"]
    return context.objects.get(digest(["tuned", made.name]), lambda: load(made / MODEL, device=context.device))


def train_once(context: StepContext, train: Callable[[], FineTuned]) -> FineTuned:
    """What a step trains, kept for the steps that ask it next in this process; what was trained before it goes first.

    Its folder is what counts: a step in another process, or a later one, reads that.
    """
    return context.objects.get(_trained_key(context.key), train, kind=_TRAINED, most=1)


def _trained_key(key: str) -> str:
    return digest(["trained", key])


def asked_model(about: StudyEncoder, context: StepContext, task: Any, *, precision: str) -> FineTuned:
    """The model that is asked: fine-tuned, or a body without a head."""
    if "tuned" in context.inputs:
        made = context.inputs["tuned"]
        found = context.objects.get(
            _trained_key(made.name), lambda: load(made / MODEL, device=context.device), kind=_TRAINED, most=1
        )
        inside = encoder_over(found.model.base_model, found.encoder, about.name, precision)
        return FineTuned(found.task, found.labels, found.model.eval(), inside)
    body = load_body(about, context)
    return headless(body.model, body, about.name, precision, task)


def headless(body: Any, encoder: Encoder, name: str, precision: str, task: Any) -> FineTuned:
    """A body as the model of a task that needs no head."""
    inside = encoder_over(body, encoder, name, precision)
    # In evaluation mode, which who measures it puts it back into: a body that is read stays as it is.
    return FineTuned(task, (), TaskModel(body, torch.nn.Identity()).eval(), inside)


def trainable_copy(encoder: Encoder, name: str, precision: str) -> Encoder:
    """The encoder over a copy of its weights, which a step may train: other steps of the process read the encoder."""
    body = copy.deepcopy(encoder.model).float().requires_grad_(True)
    return encoder_over(body, encoder, name, precision)


def encoder_over(body: Any, encoder: Encoder, name: str, precision: str) -> Encoder:
    """An encoder over a model in memory, called as the study calls it."""
    return Encoder.of(body, encoder.tokenizer, name=name, precision=precision)


def task_of(about: StudyTask) -> Any:
    """The task that settings name."""
    return tasks[about.kind].call(**about.settings)


def remember_inputs(context: StepContext) -> Callable[[str, Callable[[], Inputs]], Inputs]:
    """What gives an examiner the inputs that one of this process made before of the same examples."""

    def remember(key: str, make: Callable[[], Inputs]) -> Inputs:
        return context.objects.get(digest(key), make, kind="inputs", most=_MOST_INPUTS)

    return remember


def read_examples(about: StudyTask, file: Data, language: str, context: StepContext) -> Any:
    """The examples of a file, read once for all steps of this process."""
    path = path_of(file, context)
    told = ["examples", about.kind, repr(task_of(about)), file if isinstance(file, File) else path, language]
    return context.objects.get(digest(told), lambda: task_of(about).read(path, language), kind="examples", most=4)


def path_of(given: Data, context: StepContext) -> str:
    """The path of a file, of the settings or of what another step made; of a corpus its name."""
    if isinstance(given, File):
        return given.path
    if not given.startswith(MADE):
        return given
    name, _, rest = given.partition("/")
    return str(context.inputs[name] / rest)


def pair_settings(given: LinkedRows | None) -> PairSettings:
    """How rows of bitexts are drawn; where nothing reads any, as by default."""
    if given is None:
        return PairSettings()
    return PairSettings(**vars(given))


def linked_files(
    bitexts: Iterable[StudyBitext], inputs: Mapping[str, Path], *, encoder: Encoder | None = None
) -> dict[str, LinkedFiles]:
    """The bitexts by language; those cut from a corpus lie where they were linked. `encoder` is who links them."""
    found = {}
    for bitext in bitexts:
        files = [Path(file.path) for file in bitext.files]
        if bitext.corpus is not None:
            files = [inputs[f"align {bitext.language}"] / bitext_name(bitext)]
        links = None if bitext.links is None else Path(bitext.links.path)
        # What was cut from a corpus has the source first, as it was written.
        stays = bitext.english if bitext.corpus is None else "source"
        linking = Linking(bitext.aligner, encoder or ("embedded" if bitext.encoder is None else bitext.encoder.name))
        found[bitext.language] = LinkedFiles(tuple(files), links, stays, linking, bitext.source)
    return found


def bitext_name(about: StudyBitext) -> str:
    """What a bitext that was cut from a corpus is called."""
    return f"bitext.{about.source}-{about.language}.tsv"


def write_records(context: StepContext, made: Made, *, model: str, **fields: Any) -> None:
    """Leave the records of a step, under the name that the study has for the model, and with no path of a machine."""
    if not context.group.is_first:
        return
    named = [
        (
            replace(
                record,
                model=model,
                corpus=Path(record.corpus).name,
                part=(number, len(made)),
                **fields,
            ),
            items,
        )
        for number, (record, items) in enumerate(made, 1)
    ]
    Records.write(context.out, context.key, named)


def write_notes(context: StepContext, notes: Iterable[object]) -> None:
    """Leave what was left out, one line each; of a path the name is left, as in records."""
    lines = [_PATH.sub(r"\1", " ".join(str(each).split())) for each in notes]
    if lines and context.group.is_first:
        write_text(context.out / NOTES, "".join(f"{line}\n" for line in dict.fromkeys(lines)))


@dataclass
class LinkedBitexts:
    """The linked text of each language, drawn by a seed when it is asked for."""

    encoder: Encoder
    files: Mapping[str, LinkedFiles]
    settings: PairSettings
    inputs: Mapping[str, Path]
    objects: ObjectCache = field(default_factory=ObjectCache)
    _pairs: dict[tuple[str, int], Pairs] = field(default_factory=dict)

    @classmethod
    def of(
        cls, encoder: Encoder, bitexts: Iterable[StudyBitext], rows: LinkedRows | None, context: StepContext
    ) -> LinkedBitexts:
        files, settings = linked_files(bitexts, context.inputs), pair_settings(rows)
        return cls(encoder, files, settings, context.inputs, context.objects)

    def __call__(self, code: str, seed: int) -> Pairs:
        if (code, seed) not in self._pairs:
            made = self.inputs[f"align {code}"]

            def read() -> LinkedText:
                return self.files[code].read(made / LINKS)

            def draw() -> Pairs:
                text = self.objects.get(made.name, read, kind="linked text", most=_MOST_TEXTS)
                return drawn_pairs(text, self.encoder, self.settings, seed=seed)

            most = max(len(self.files), _MOST_PAIRS)
            self._pairs[code, seed] = self.objects.get(self.key([code], seed), draw, kind="pairs", most=most)
        return self._pairs[code, seed]

    def key(self, languages: Iterable[str], seed: int) -> str:
        """What tells the text of some languages from any other, drawn by a seed and cut by this encoder."""
        links = [self.inputs[f"align {code}"].name for code in languages]
        return digest(["pairs", self.encoder.digest, self.encoder.name, links, repr(self.settings), seed])

    @property
    def notes(self) -> list[str]:
        """What was left out of the texts that were trained on, beyond what linking them did."""
        told = [(code, made.notes[len(made.given.notes) :]) for (code, _), made in self._pairs.items()]
        return [f"{code}: {line}" for code, lines in told for line in lines]


def train_phases(
    tuned: FineTuned,
    phases: Sequence[Phase],
    linked: LinkedBitexts,
    context: StepContext,
    *,
    seed: int,
    precision: str,
    lesson: Lesson | None = None,
    inputs: Any = None,
    watch: Callable[[int], Monitor] | None = None,
    begin_with: Callable[[], Encoder] | None = None,
    compile: bool = False,
    checkpoint_every: int = 1000,
) -> None:
    """Train a model by phases, from the newest checkpoint on; the metrics of every training step are kept.

    The model is given as it came, because references are made of it; `begin_with` gives the weights that are then put
    in.
    """
    device = linked.encoder.device
    like = loop_settings(
        device,
        precision,
        graph=None,
        compile=compile,
        checkpoint_every=checkpoint_every,
        best=None if watch is None or lesson is None else lesson.task.metric,
    )
    material = replace(
        _material(linked, context, seed=seed, precision=precision),
        task=None if lesson is None else lesson.task,
        inputs=inputs,
    )
    monitors = None if watch is None else {"task": watch}
    made: list[Stage] = stages(tuned.model, phases, material, like=like, monitors=monitors, progress=context.progress)
    if begin_with is not None:
        tuned.model.base_model.load_state_dict(begin_with().model.state_dict())
    place = Place(context.state)
    train_stages(tuned.model, made, device=device, place=place, progress=context.progress)
    for number, stage in enumerate(made):
        journal = place.journal(number, stage)
        if context.group.is_first and journal.is_file():
            shutil.copyfile(journal, context.out / journal_name(number, stage.name))
    for code in linked.files:
        linked(code, seed)  # What was left out is told by every step that trains on it, also where it was made before.
    tuned.model.eval()


def journal_name(number: int, phase: str) -> str:
    """What a step calls the metrics of every training step of a phase, by its number from 0."""
    return f"{number + 1}-{phase}.jsonl"


def _material(linked: LinkedBitexts, context: StepContext, *, seed: int, precision: str) -> Material:
    """What phases are made of; what the model as it came makes of a text is computed once for all that train on it."""
    languages, steady = tuple(linked.files), linked.encoder.device.type == "cuda"

    def make() -> Material:
        pairs = partial(_pairs_of, linked, seed)
        return Material(None, None, languages, pairs, linked.settings, seed, precision, steady=steady)

    if not languages:
        return make()
    key = digest(["material", linked.key(languages, seed), precision])
    return context.objects.get(key, make, kind="material", most=1)


def _pairs_of(linked: LinkedBitexts, seed: int, code: str) -> Pairs:
    return linked(code, seed)


def corpus_of(settings: EncodeStep | MeasureStep, context: StepContext) -> ParallelCorpus:
    """The corpus with the languages and rows that are asked for."""
    languages = list(settings.languages)
    corpus = read_corpus(path_of(settings.corpus, context), languages=languages).select(languages)
    return corpus if settings.rows is None else corpus.sample(settings.rows, seed=settings.seed)


def plan_of(settings: EncodeStep | MeasureStep, names: tuple[str, ...]) -> MeasurePlan:
    """What is measured, as the audit has it."""
    return MeasurePlan(names, seed=settings.seed, pooling=settings.pooling)


def read_languages(
    encoder: Encoder,
    known: Sequence[str],
    corpus: ParallelCorpus,
    plan: MeasurePlan,
    context: StepContext,
    vectors: Path,
) -> tuple[list[Language], list[Skip]]:
    """The languages that an encoder knows, with their vectors, which are kept in a folder; and what was left out."""
    found, skipped = [], []
    for number, code in enumerate(known):
        context.progress("encoding", number, len(known))
        cut, skips = split_languages(encoder, corpus.select([code]))
        found.append(encode_language(encoder, corpus, code, cut[code], plan, cache=Cache(vectors)))
        skipped += skips
    return found, skipped
