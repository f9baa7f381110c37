"""What steps share: their inputs read, their models trained, their records and notes written."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from interlingua.analyses.aligned_bitext import AlignerChoice, LinkedFiles, LinkedText
from interlingua.analyses.space_measures import MeasurePlan, ModelSpace, encode_space, read_dictionaries
from interlingua.analyses.training_inputs import (
    Pairs,
    PairSettings,
    TrainingInputs,
    loop_settings,
    sample_pairs,
    stages,
)
from interlingua.analyses.transfer import TaskData
from interlingua.corpus import ParallelCorpus
from interlingua.encoder import Encoder
from interlingua.encoder.devices import pick_device
from interlingua.encoder.inputs import Inputs
from interlingua.encoder.representations import Cache
from interlingua.engine.atomic_files import write_text
from interlingua.engine.records import NOTES, Records
from interlingua.engine.serialization import File, digest
from interlingua.engine.step import ObjectCache, StepContext, StepPaused
from interlingua.readers import read_corpus
from interlingua.record import Made
from interlingua.studies.analysis_settings import pair_filters
from interlingua.studies.step_settings import (
    Data,
    EncodeStep,
    LinkedRows,
    StudyBitext,
    StudyCorpus,
    StudyEncoder,
    StudyTask,
)
from interlingua.studies.study import MADE
from interlingua.tasks import tasks
from interlingua.tasks.saved_models import FineTuned, load
from interlingua.training.checkpoints import load_whole
from interlingua.training.loop import Monitor
from interlingua.training.phases import Phase
from interlingua.training.regime import RunPaths, Stage, train_stages
from interlingua.training.task import TaskModel

MODEL = Path("heavy") / "model"
VECTORS = Path("heavy") / "representations"
ABOUT, MAP = "about.json", "map.json"
SPACE = "space"
"""What kind of object a process keeps by the key of the step that encoded it."""
LINKS = "links.npz"
PROGRESS = "progress.json"
_TRAINED = "trained"
"""The kind of models that were just trained, or are asked: one at a time, beside the encoder they are made of."""
_MOST_TEXTS, _MOST_PAIRS, _MOST_INPUTS = 32, 4, 256
_PATH = re.compile(r"(?<![\w./~])/(?:[^\s/,;:()]+/)+([^\s/,;:()]+)")


def use_device(context: StepContext) -> None:
    """Make a GPU that was named the current one; the launcher of several processes chooses theirs."""
    if (device := pick_device(context.device)).index is not None:
        torch.cuda.set_device(device)


def load_encoder(
    about: StudyEncoder, context: StepContext, *, precision: str = "fp32", role: str = "", prompt: str | None = None
) -> Encoder:
    """The encoder that settings name, or that an earlier step pretrained; who trains it takes a copy.

    `role` begins the roles of one of several sides. `prompt` is for models of sentence-transformers.
    """
    made = context.inputs.get(f"{role}encoder")
    model = about.model if made is None else str(made / MODEL)
    # By what it is, not by what a study calls it.
    told = [model.digest if isinstance(model, File) else model, about.revision, about.blocks, precision, prompt]
    return context.objects.get(
        digest(["encoder", *told]),
        lambda: read_encoder(about, context, precision=precision, role=role, prompt=prompt),
    )


def read_encoder(
    about: StudyEncoder, context: StepContext, *, precision: str = "fp32", role: str = "", prompt: str | None = None
) -> Encoder:
    """The same encoder, and nobody else's: it is not kept."""
    name, given = _folder_of(about, context, role)
    return Encoder.load(name, device=context.device, precision=precision, prompt=prompt, **given)


def load_model(about: StudyEncoder, context: StepContext) -> tuple[Any, Encoder]:
    """The whole model that settings name, its head included, in float32, to be trained; and the encoder in it."""
    name, given = _folder_of(about, context, "")
    model, tokenizer, digest = load_whole(name, **given)
    model.to(pick_device(context.device))
    return model, Encoder.of(model.base_model, tokenizer, name=name, digest=digest)


def _folder_of(about: StudyEncoder, context: StepContext, role: str) -> tuple[str, dict[str, Any]]:
    """The folder or hub name of an encoder, and how it is read."""
    made = context.inputs.get(f"{role}encoder")
    model = about.model if made is None else str(made / MODEL)
    reading = ("trust_remote_code", "allow_pickle", "revision", "blocks")
    return model.path if isinstance(model, File) else str(model), {name: getattr(about, name) for name in reading}


def load_body(
    about: StudyEncoder, context: StepContext, *, precision: str = "fp32", role: str = "", prompt: str | None = None
) -> Encoder:
    """The newest encoder there is: fine-tuned, else adjusted, else as it came."""
    for name in (f"{role}tuned", f"{role}adjusted"):
        if name in context.inputs:
            return load_made(context.inputs[name], context, precision=precision, prompt=prompt)
    return load_encoder(about, context, precision=precision, role=role, prompt=prompt)


def load_made(made: Path, context: StepContext, *, precision: str = "fp32", prompt: str | None = None) -> Encoder:
    """The encoder that a step left."""
    key = digest(["made", made.name, precision, prompt])
    return context.objects.get(key, lambda: read_made(made, context, precision=precision, prompt=prompt), kind=_TRAINED)


def read_made(made: Path, context: StepContext, *, precision: str = "fp32", prompt: str | None = None) -> Encoder:
    """The encoder that a step left, for who reads it once and lets it go."""
    return Encoder.load(str(made / MODEL), device=context.device, precision=precision, prompt=prompt)


def load_tuned(context: StepContext, folder: File | None = None) -> FineTuned:
    """The model that was fine-tuned, with its head: by an earlier step, or the one in a folder from elsewhere."""
    if folder is not None:
        return context.objects.get(digest(["tuned", folder]), lambda: load(folder.path, device=context.device))
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
    return PairSettings(**{**vars(given), "tidy": pair_filters(given.tidy)})


def linked_files(
    bitexts: Iterable[StudyBitext], inputs: Mapping[str, Path], *, linking: AlignerChoice | None = None
) -> dict[str, LinkedFiles]:
    """The bitexts by language; those cut from a corpus lie where they were linked. `linking` says how to link them."""
    found = {}
    for bitext in bitexts:
        files = [Path(file.path) for file in bitext.files]
        if bitext.corpus is not None:
            files = [inputs[f"align {bitext.language}"] / bitext_name(bitext)]
        links = None if bitext.links is None else Path(bitext.links.path)
        # What was cut from a corpus has the source first, as it was written.
        stays = bitext.english if bitext.corpus is None else "source"
        own = linking or AlignerChoice(bitext.aligner, "embedded" if bitext.encoder is None else bitext.encoder.name)
        found[bitext.language] = LinkedFiles(tuple(files), links, stays, own, bitext.source, bitext.tokenize)
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

    def text(self, code: str) -> LinkedText:
        """The linked text of a language, all of it; read once for all steps of this process."""
        made = self.inputs[f"align {code}"]
        return self.objects.get(
            made.name, lambda: self.files[code].read(made / LINKS), kind="linked text", most=_MOST_TEXTS
        )

    def __call__(self, code: str, seed: int) -> Pairs:
        if (code, seed) not in self._pairs:

            def draw() -> Pairs:
                return sample_pairs(self.text(code), self.encoder, self.settings, seed=seed)

            most = max(len(self.files), _MOST_PAIRS)
            self._pairs[code, seed] = self.objects.get(self.key([code], seed), draw, kind="pairs", most=most)
        return self._pairs[code, seed]

    def key(self, languages: Iterable[str], seed: int) -> str:
        """What identifies the text of some languages, drawn by a seed and cut by this encoder."""
        links = [self.inputs[f"align {code}"].name for code in languages]
        return digest(["pairs", self.encoder.digest, self.encoder.name, links, repr(self.settings), seed])

    @property
    def notes(self) -> list[str]:
        """What was left out of the texts that were trained on, beyond what linking them did."""
        told = [(code, made.notes[len(made.given.notes) :]) for (code, _), made in self._pairs.items()]
        return [f"{code}: {line}" for code, lines in told for line in lines]


def train_phases(
    model: Any,
    phases: Sequence[Phase],
    linked: LinkedBitexts,
    context: StepContext,
    *,
    seed: int,
    precision: str,
    lesson: TaskData | None = None,
    inputs: Any = None,
    monitors: Mapping[str, Callable[[int], Monitor]] | None = None,
    begin_with: Callable[[], Encoder] | None = None,
    compile: bool = False,
    checkpoint_every: int = 1000,
    references: Path | None = None,
) -> None:
    """Train a model by phases, from the newest checkpoint on; the metrics of every training step are kept.

    The model is given as it came, because references are made of it, in the folder `references` where it is given;
    `begin_with` gives the weights that are then put in. `monitors` are by phase. `progress.json` says how far each
    phase came, also where the step is paused: then it lies in the step's state.
    """
    device = linked.encoder.device
    like = loop_settings(
        device,
        precision,
        graph=None,
        compile=compile,
        checkpoint_every=checkpoint_every,
        best=None if monitors is None or lesson is None else lesson.task.metric,
    )
    material = replace(
        _material(linked, context, seed=seed, precision=precision),
        task=None if lesson is None else lesson.task,
        inputs=inputs,
        folder=references,
    )
    made: list[Stage] = stages(model, phases, material, like=like, monitors=monitors, progress=context.progress)
    if begin_with is not None:
        model.base_model.load_state_dict(begin_with().model.state_dict())
    place = RunPaths(context.state)
    left = None if context.deadline is None else max(context.deadline - time.time(), 0.0)
    train_stages(
        model,
        made,
        device=device,
        place=place,
        tensorboard=context.tensorboard,
        progress=context.progress,
        stop_after=left,
    )
    told = [_progress_of(place, number, stage) for number, stage in enumerate(made)]
    finished = all(phase["finished"] for phase in told)
    if context.group.is_first:
        write_text((context.out if finished else context.state) / PROGRESS, json.dumps(told))
        for number, stage in enumerate(made if finished else ()):
            if (journal := place.journal(number, stage)).is_file():
                shutil.copyfile(journal, context.out / journal_name(number, stage.name))
    if not finished:
        raise StepPaused("the time is over")
    for code in linked.files:
        linked(code, seed)  # What was left out is told by every step that trains on it, also where it was made before.
    model.eval()


def _progress_of(place: RunPaths, number: int, stage: Stage) -> dict[str, Any]:
    """How far a phase came, and what was measured on the way."""
    state = place.checkpoint(number, stage).state()
    return {
        "phase": stage.name,
        "steps": int(state.get("step", 0)),
        "of_steps": stage.settings.steps,
        "finished": bool(state.get("finished")),
        "metrics": state.get("metrics", []),
    }


def journal_name(number: int, phase: str) -> str:
    """What a step calls the metrics of every training step of a phase, by its number from 0."""
    return f"{number + 1}-{phase}.jsonl"


def _material(linked: LinkedBitexts, context: StepContext, *, seed: int, precision: str) -> TrainingInputs:
    """What phases are made of; what the model as it came makes of a text is computed once for all that train on it."""
    languages, steady = tuple(linked.files), linked.encoder.device.type == "cuda"

    def make() -> TrainingInputs:
        pairs = {code: linked(code, seed) for code in languages}  # They know no model, which may be gone by then.
        return TrainingInputs(None, None, languages, pairs.__getitem__, linked.settings, seed, precision, steady=steady)

    if not languages:
        return make()
    key = digest(["material", linked.key(languages, seed), precision])
    return context.objects.get(key, make, kind="material", most=1)


def read_parallel(given: StudyCorpus, languages: Sequence[str] | None = None) -> ParallelCorpus:
    """A corpus, as it is said to be read."""
    place = given.name
    if given.files:
        first = Path(given.files[0].path)
        listed = len(given.files) > 1 and "," in given.name and first.name != given.name
        # From here on, as they were named: a comma in the path of this folder would cut them.
        places = [os.path.relpath(file.path) for file in given.files] if listed else [str(first.parent / given.name)]
        place = ",".join(places)
    return read_corpus(place, languages=languages, format=given.format, encoding=given.encoding, column=given.column)


def load_space(settings: EncodeStep, context: StepContext, role: str) -> ModelSpace:
    """What an encoding step made: in the process that encoded it at hand, elsewhere read again from its vectors."""
    made = context.inputs[f"{role}encode"]
    kept = made / VECTORS

    def again() -> ModelSpace:
        about = settings.encoder
        if kept.is_dir():  # A step that measures has no GPU: it reads vectors of a precision that it does not load.
            encoder = copy.copy(load_body(about, context, role=role, prompt=settings.prompt))
            encoder.precision = settings.precision
            return make_space(settings, context, encoder, Cache(kept))
        # They went into a cache that may be gone, too.
        encoder = load_body(about, context, precision=settings.precision, role=role, prompt=settings.prompt)
        return make_space(settings, context, encoder, None if context.cache is None else Cache(context.cache))

    return context.objects.get(made.name, again, kind=SPACE)


def make_space(settings: EncodeStep, context: StepContext, encoder: Encoder, cache: Cache | None) -> ModelSpace:
    """The corpus inside a model, and the words of dictionaries; what the cache has is read from there."""
    languages = list(settings.languages)
    corpus = read_parallel(settings.corpus, languages).select(languages)
    corpus = corpus if settings.rows is None else corpus.sample(settings.rows, seed=settings.seed)
    given = settings.dictionary
    words = () if given is None else read_dictionaries(path_of(given, context), corpus.languages, seed=settings.seed)
    plan = MeasurePlan(seed=settings.seed, pooling=settings.pooling)
    return encode_space(
        encoder,
        corpus,
        settings.known,
        plan,
        words=settings.words,
        dictionaries=words,
        cache=cache,
        progress=context.progress,
    )
