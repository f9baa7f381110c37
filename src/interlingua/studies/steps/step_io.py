"""What steps share: their inputs read, their models trained, their records and notes written."""

from __future__ import annotations

import copy
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from interlingua.analyses.aligned_bitext import LinkedFiles, LinkedText, Linking
from interlingua.analyses.space_measures import MeasurePlan, Space, encode_space, read_dictionaries
from interlingua.analyses.training_inputs import Material, Pairs, PairSettings, drawn_pairs, loop_settings, stages
from interlingua.analyses.transfer import Lesson, TransferSettings
from interlingua.corpus import ParallelCorpus
from interlingua.encoder import Encoder
from interlingua.encoder.representations import Cache
from interlingua.engine.atomic_files import write_text
from interlingua.engine.records import NOTES, Records
from interlingua.engine.serialization import File, digest
from interlingua.engine.step import StepContext
from interlingua.readers import read_corpus
from interlingua.record import Made
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
from interlingua.training.loop import Monitor
from interlingua.training.phases import Phase
from interlingua.training.regime import Place, Stage, train_stages
from interlingua.training.task import TaskModel

MODEL = Path("heavy") / "model"
VECTORS = Path("heavy") / "representations"
ABOUT, MAP = "about.json", "map.json"
SPACE = "space"
"""What kind of object a process keeps by the key of the step that encoded it."""
LINKS = "links.npz"
_PATH = re.compile(r"(?<![\w./~])/(?:[^\s/,;:()]+/)+([^\s/,;:()]+)")


def load_encoder(
    about: StudyEncoder, context: StepContext, *, precision: str = "fp32", role: str = "", prompt: str | None = None
) -> Encoder:
    """The encoder that settings name, or that an earlier step pretrained; who trains it takes a copy.

    `role` begins the roles of one of several sides. `prompt` is for models of sentence-transformers.
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
            prompt=prompt,
        )

    # By what it is, not by what a study calls it.
    told = [model.digest if isinstance(model, File) else model, about.revision, about.blocks, precision, prompt]
    return context.objects.get(digest(["encoder", *told]), read)


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

    def read() -> Encoder:
        return Encoder.load(str(made / MODEL), device=context.device, precision=precision, prompt=prompt)

    return context.objects.get(digest(["made", made.name, precision, prompt]), read)


def load_tuned(context: StepContext) -> FineTuned:
    """The model that was fine-tuned, with its head."""
    made = context.inputs["tuned"]
    return context.objects.get(digest(["tuned", made.name]), lambda: load(made / MODEL, device=context.device))


def asked_model(about: StudyEncoder, context: StepContext, task: Any, *, precision: str) -> FineTuned:
    """The model that is asked: fine-tuned, or a body without a head."""
    if "tuned" in context.inputs:
        found = load_tuned(context)
        inside = encoder_over(found.model.base_model, found.encoder, about.name, precision)
        return FineTuned(found.task, found.labels, found.model, inside)
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
    _texts: dict[str, LinkedText] = field(default_factory=dict)
    _pairs: dict[tuple[str, int], Pairs] = field(default_factory=dict)

    @classmethod
    def of(
        cls, encoder: Encoder, bitexts: Iterable[StudyBitext], rows: LinkedRows | None, context: StepContext
    ) -> LinkedBitexts:
        return cls(encoder, linked_files(bitexts, context.inputs), pair_settings(rows), context.inputs)

    def __call__(self, code: str, seed: int) -> Pairs:
        if code not in self._texts:
            self._texts[code] = self.files[code].read(self.inputs[f"align {code}"] / LINKS)
        if (code, seed) not in self._pairs:
            self._pairs[code, seed] = drawn_pairs(self._texts[code], self.encoder, self.settings, seed=seed)
        return self._pairs[code, seed]

    @property
    def notes(self) -> list[str]:
        """What was left out of the texts that were trained on."""
        return [f"{code}: {line}" for (code, _), made in self._pairs.items() for line in made.notes]


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
    begin_with: Encoder | None = None,
) -> None:
    """Train a model by phases, from the newest checkpoint on; the metrics of every training step are kept.

    The model is given as it came, because references are made of it; `begin_with` has the weights that are then put in.
    """
    device, own = linked.encoder.device, TransferSettings()
    like = loop_settings(
        device,
        precision,
        graph=own.graph,
        compile=own.compile,
        checkpoint_every=own.checkpoint_every,
        best=None if watch is None or lesson is None else lesson.task.metric,
    )
    material = Material(
        None if lesson is None else lesson.task,
        inputs,
        tuple(linked.files),
        lambda code: linked(code, seed),
        linked.settings,
        seed,
        precision,
        steady=device.type == "cuda",
    )
    monitors = None if watch is None else {"task": watch}
    made: list[Stage] = stages(tuned.model, phases, material, like=like, monitors=monitors, progress=context.progress)
    if begin_with is not None:
        tuned.model.base_model.load_state_dict(begin_with.model.state_dict())
    place = Place(context.state)
    train_stages(tuned.model, made, device=device, place=place, progress=context.progress)
    for number, stage in enumerate(made):
        journal = place.journal(number, stage)
        if context.group.is_first and journal.is_file():
            shutil.copyfile(journal, context.out / f"{number + 1}-{stage.name}.jsonl")
    tuned.model.eval()


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


def load_space(settings: EncodeStep, context: StepContext, role: str) -> Space:
    """What an encoding step made: in the process that encoded it at hand, elsewhere read again from its vectors."""
    made = context.inputs[f"{role}encode"]
    kept = made / VECTORS

    def again() -> Space:
        about = settings.encoder
        if kept.is_dir():  # A step that measures has no GPU: it reads vectors of a precision that it does not load.
            encoder = copy.copy(load_body(about, context, role=role, prompt=settings.prompt))
            encoder.precision = settings.precision
            return make_space(settings, context, encoder, Cache(kept))
        # They went into a cache that may be gone, too.
        encoder = load_body(about, context, precision=settings.precision, role=role, prompt=settings.prompt)
        return make_space(settings, context, encoder, None if context.cache is None else Cache(context.cache))

    return context.objects.get(made.name, again, kind=SPACE)


def make_space(settings: EncodeStep, context: StepContext, encoder: Encoder, cache: Cache | None) -> Space:
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
