"""What a step is given, as objects: encoders, models, files and linked text; and its records, as it leaves them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from interlingua.encoder import Encoder
from interlingua.encoder.loading import default_precision
from interlingua.studies.linkedtexts import LinkedFiles, Linking
from interlingua.studies.scenarios import TransferSettings
from interlingua.studies.stages import PairSettings
from interlingua.studies.step import Work
from interlingua.studies.store import Made, Store, write_text
from interlingua.studies.study import MADE
from interlingua.tasks.saved_models import FineTuned, load
from interlingua.training.processes import is_first_process
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


def keep(out: Path, work: Work, made: Made, *, model: str, **details: Any) -> None:
    """Leave the records of a step, under the name that the study has for the model, and with no path of a machine."""
    if not is_first_process():
        return
    told = []
    for record, items in made:
        changed = replace(record, model=model, corpus=Path(record.corpus).name,
                          details={**record.details, **details})  # fmt: skip
        told.append((changed, items))
    Store(out).append(work.key, told)


def note(out: Path, notes: Iterable[object]) -> None:
    """Leave what was left out, a line each; of a path the name is left, as in records."""
    lines = [_PATH.sub(r"\1", " ".join(str(each).split())) for each in notes]
    if lines and is_first_process():
        write_text(out / "notes.txt", "".join(f"{line}\n" for line in dict.fromkeys(lines)))
