"""What steps share: their inputs read, their models trained, their records and spaces written."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from interlingua.analyses.aligned_bitext import LinkedFiles, LinkedText, Linking
from interlingua.analyses.space_measures import Language, MeasurePlan, encode_language, split_languages
from interlingua.analyses.training_inputs import Material, Pairs, PairSettings, drawn_pairs, loop_settings, stages
from interlingua.analyses.transfer import Lesson, TransferSettings
from interlingua.corpus import ParallelCorpus, Skip
from interlingua.encoder import Encoder
from interlingua.encoder.loading import default_precision
from interlingua.encoder.representations import Cache
from interlingua.engine.records import Made, Store, write_text
from interlingua.engine.step import Work
from interlingua.readers import read_corpus
from interlingua.studies.study import MADE
from interlingua.tasks.saved_models import FineTuned, load
from interlingua.training.loop import Monitor
from interlingua.training.processes import is_first_process
from interlingua.training.regime import Phase, Place, Stage, train_stages
from interlingua.training.task import TaskModel
from interlingua.wordalign.links import PairFilters

MODEL = Path("heavy") / "model"
LINKS = "links.npz"
Inputs = Mapping[str, Path]
_PATH = re.compile(r"(?<![\w./~])/(?:[^\s/,;:()]+/)+([^\s/,;:()]+)")


def encoder_of(about: Mapping[str, Any], inputs: Inputs, *, precision: str | None = "fp32", role: str = "") -> Encoder:
    """The encoder that settings name, or that an earlier step pretrained; `role` begins those of several sides."""
    made = inputs.get(f"{role}encoder")
    return Encoder.load(
        str(about["model"]) if made is None else str(made / MODEL),
        precision=precision,
        trust_remote_code=about["trust_remote_code"],
        allow_pickle=about["allow_pickle"],
        revision=about.get("revision"),
        blocks=about.get("blocks"),
    )


def body_of(about: Mapping[str, Any], inputs: Inputs, *, precision: str | None = "fp32", role: str = "") -> Encoder:
    """The newest encoder there is: fine-tuned, else adjusted, else as it came."""
    for name in ("tuned", "adjusted"):
        if f"{role}{name}" in inputs:
            return Encoder.load(str(inputs[f"{role}{name}"] / MODEL), precision=precision)
    return encoder_of(about, inputs, precision=precision, role=role)


def tuned_of(about: Mapping[str, Any], inputs: Inputs, task: Any, *, precision: str) -> FineTuned:
    """The model that is asked: fine-tuned, or a body without a head."""
    if "tuned" in inputs:
        found = load(inputs["tuned"] / MODEL)
        inside = named(found.model.base_model, found.encoder, about["name"], precision)
        return FineTuned(found.task, found.labels, found.model, inside)
    body = body_of(about, inputs)
    inside = named(body.model, body, about["name"], precision)
    return FineTuned(task, (), TaskModel(body.model, torch.nn.Identity()), inside)


def named(body: Any, encoder: Encoder, name: str, precision: str) -> Encoder:
    """An encoder over a model in memory, called as the study calls it."""
    return Encoder.of(body, encoder.tokenizer, name=name, precision=precision)


def precision_of(settings: TransferSettings, encoder: Encoder) -> str:
    """bf16 on a GPU and fp32 elsewhere, where nothing is said."""
    return settings.precision or default_precision(encoder.device)


def file_of(given: str, inputs: Inputs) -> str:
    """The path of a file: of the settings, or of what another step made."""
    if not given.startswith(MADE):
        return given
    name, _, rest = given.partition("/")
    return str(inputs[name] / rest)


def transfer_settings(given: Mapping[str, Any]) -> TransferSettings:
    """The settings as they were before they became plain data."""
    pairs = dict(given["pairs"])
    return TransferSettings(**{**given, "pairs": PairSettings(**{**pairs, "tidy": PairFilters(**pairs["tidy"])})})


def linked_files(
    bitexts: Iterable[Mapping[str, Any]], inputs: Inputs, *, encoder: Encoder | None = None
) -> dict[str, LinkedFiles]:
    """The bitexts by language; those cut from a corpus lie where they were linked. `encoder` is who links them."""
    found = {}
    for each in bitexts:
        code = each["language"]
        made = inputs.get(f"align {code}")
        files = [Path(file) for file in each["files"]] or [made / bitext_name(each)]  # type: ignore[operator]
        links = None if each["links"] is None else Path(each["links"])
        # What was cut from a corpus has the source first, as it was written.
        stays = each["english"] if each["corpus"] is None else "source"
        linking = Linking(each["aligner"], encoder or each.get("encoder", {}).get("name", "embedded"))
        found[code] = LinkedFiles(tuple(files), links, stays, linking, each["source"])
    return found


def bitext_name(about: Mapping[str, Any]) -> str:
    """What a bitext that was cut from a corpus is called."""
    return f"bitext.{about['source']}-{about['language']}.tsv"


def keep(out: Path, work: Work, made: Made, *, model: str, **fields: Any) -> None:
    """Leave the records of a step, under the name that the study has for the model, and with no path of a machine."""
    if not is_first_process():
        return
    told = []
    for record, items in made:
        told.append((replace(record, model=model, corpus=Path(record.corpus).name, **fields), items))
    Store(out).append(work.key, told)


def note(out: Path, notes: Iterable[object]) -> None:
    """Leave what was left out, a line each; of a path the name is left, as in records."""
    lines = [_PATH.sub(r"\1", " ".join(str(each).split())) for each in notes]
    if lines and is_first_process():
        write_text(out / "notes.txt", "".join(f"{line}\n" for line in dict.fromkeys(lines)))


@dataclass
class Linked:
    """The linked text of each language, drawn by a seed when it is asked for."""

    encoder: Encoder
    bitexts: Mapping[str, LinkedFiles]
    settings: TransferSettings
    inputs: Inputs
    _texts: dict[str, LinkedText] = field(default_factory=dict)
    _pairs: dict[tuple[str, int], Pairs] = field(default_factory=dict)

    def __call__(self, code: str, seed: int) -> Pairs:
        if code not in self._texts:
            self._texts[code] = self.bitexts[code].read(self.inputs[f"align {code}"] / LINKS)
        if (code, seed) not in self._pairs:
            self._pairs[code, seed] = drawn_pairs(self._texts[code], self.encoder, self.settings.pairs, seed=seed)
        return self._pairs[code, seed]

    @property
    def notes(self) -> list[str]:
        """What was left out of the texts that were trained on."""
        return [f"{code}: {line}" for (code, _), made in self._pairs.items() for line in made.notes]


def stages_of(
    tuned: FineTuned,
    phases: Sequence[Phase],
    lesson: Lesson | None,
    inputs: Any,
    linked: Linked,
    *,
    seed: int,
    precision: str,
    watch: Callable[[int], Monitor] | None = None,
    work: Work,
) -> list[Stage]:
    """The stages of phases; the model must be as it came, because references are made of it."""
    own, device = linked.settings, linked.encoder.device
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
        tuple(linked.bitexts),
        lambda code: linked(code, seed),
        own.pairs,
        seed,
        precision,
        steady=device.type == "cuda",
    )
    monitors = None if watch is None else {"task": watch}
    return stages(tuned.model, phases, material, like=like, monitors=monitors, progress=work.progress)


def trained(tuned: FineTuned, made: Sequence[Stage], out: Path, work: Work) -> None:
    """Train the stages one after another, going on from the newest checkpoint; the metrics of every step are kept."""
    place = Place(work.state)
    train_stages(tuned.model, made, device=tuned.encoder.device, place=place, progress=work.progress)
    for number, stage in enumerate(made):
        journal = place.journal(number, stage)
        if is_first_process() and journal.is_file():
            shutil.copyfile(journal, out / f"{number + 1}-{stage.name}.jsonl")
    tuned.model.eval()


CACHE = Path("heavy") / "representations"


def corpus_of(settings: Mapping[str, Any]) -> ParallelCorpus:
    """The corpus with the languages and rows that are asked for."""
    corpus = read_corpus(settings["corpus"], languages=settings["languages"]).select(settings["languages"])
    return corpus if settings["rows"] is None else corpus.sample(settings["rows"], seed=settings["seed"])


def plan_of(settings: Mapping[str, Any], names: tuple[str, ...]) -> MeasurePlan:
    """What is measured, as the audit has it."""
    return MeasurePlan(names, seed=settings["seed"], pooling=settings["pooling"])


def languages_of(
    side: Mapping[str, Any],
    settings: Mapping[str, Any],
    corpus: ParallelCorpus,
    plan: MeasurePlan,
    inputs: Inputs,
    cache: Path,
    work: Work,
    *,
    role: str = "",
) -> tuple[Encoder, list[Language], list[Skip]]:
    """One side's encoder, its languages, and what was left out."""
    encoder = body_of(side["encoder"], inputs, precision=settings["precision"], role=role)
    found, skipped = [], []
    for number, code in enumerate(side["spoken"]):
        work.progress("encoding", number, len(side["spoken"]))
        cut, skips = split_languages(encoder, corpus.select([code]))
        found.append(encode_language(encoder, corpus, code, cut[code], plan, cache=Cache(cache)))
        skipped += skips
    return encoder, found, skipped
