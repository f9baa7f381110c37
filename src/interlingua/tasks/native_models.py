"""Models with the head that `transformers` has for them: folders of AutoModelForSequenceClassification or …Token….

Nothing of ours is in such a folder. The model is called whole, so that pooler and head are used exactly as it uses
them; labels are those of its config. Only safetensors are read, and no code of the folder runs.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from interlingua.encoder import Encoder
from interlingua.encoder import model_loading as loading
from interlingua.encoder.devices import pick_device
from interlingua.encoder.model_folders import check_weights_match_config, model_json
from interlingua.errors import InputError
from interlingua.readers.json_values import text_of
from interlingua.tasks.classification import Classification
from interlingua.tasks.ner import Ner
from interlingua.training.loop import Batch
from interlingua.training.task import Task, inputs_of, shuffle_weights

MOST_LABELS = 100_000
_MAX_LENGTH = 512  # what such models are usually trained with; their own limit where it is lower
_KINDS = {"ForSequenceClassification": "sequence", "ForTokenClassification": "token"}


class NativeModel(torch.nn.Module):
    """A `transformers` model with its own head; called with a batch, gives its logits.

    `base_model` is its body, `head` the parts that are no part of the layers: what comes after the body, and a pooler.
    """

    def __init__(self, whole: Any) -> None:
        super().__init__()
        self.whole = whole
        self._reads = inputs_of(whole)

    @property
    def base_model(self) -> Any:
        return self.whole.base_model

    @property
    def head(self) -> torch.nn.ModuleDict:
        body = self.base_model
        parts = {name: part for name, part in self.whole.named_children() if part is not body}
        pooler = getattr(body, "pooler", None)
        return torch.nn.ModuleDict(parts if pooler is None else {"pooler": pooler, **parts})

    def forward(self, batch: Batch) -> torch.Tensor:
        logits: torch.Tensor = self.whole(**{name: batch[name] for name in self._reads if name in batch}).logits
        return logits

    def under_random_head(self, *, seed: int) -> NativeModel:
        """The same layers, shared, under its own head with the weights of each tensor shuffled."""
        shared = {id(part): part for name, part in self.base_model.named_children() if name != "pooler"}
        other = NativeModel(copy.deepcopy(self.whole, shared)).train(self.training)
        shuffle_weights(other.head.parameters(), seed=seed)
        return other


def is_native(folder: Path) -> bool:
    """Whether a folder's config names an architecture with a head for texts or tokens."""
    return (folder / "config.json").is_file() and _kind(_config(folder)) is not None


def described_by_config(folder: Path) -> tuple[Task, tuple[str, ...]]:
    """The task that a folder's own head is for, and its labels; no weights are read."""
    config, file = _config(folder), folder / "config.json"
    if config.get("is_encoder_decoder"):
        raise InputError("only encoders and decoders are explained, and this is both", file=file,
                         value=config.get("model_type"), remedy="Use an encoder such as XLM-R.")  # fmt: skip
    labels = _labels(config, file)
    if _kind(config) == "sequence":
        if config.get("problem_type") not in (None, "single_label_classification") or len(labels) < 2:
            raise InputError(
                "only a model that chooses one of several labels is explained",
                file=file,
                value=config.get("problem_type") or f"{len(labels)} label",
                remedy="Give one with two labels or more and problem_type single_label_classification.",
            )
        return Classification(length=_MAX_LENGTH, names=labels), labels
    strange = next((name for name in labels if name != "O" and name[:2] not in ("B-", "I-")), None)
    if strange is not None or "O" not in labels:
        raise InputError(
            "labels of tokens that are no entities",
            file=file,
            value=strange or "no O",
            remedy="Named entities are explained: labels O, B-… and I-… in id2label.",
        )
    return Ner(length=_MAX_LENGTH), labels


def load_native(folder: Path, *, device: str | None = None) -> tuple[Task, tuple[str, ...], NativeModel, Encoder]:
    """The task, the labels, the model in float32 and evaluation mode, and the encoder over its own body."""
    import transformers

    task, labels = described_by_config(folder)
    place = pick_device(device)
    loaded = loading.load(str(folder), device=place, precision="fp32")
    config = loading.check_folder(folder, trust_remote_code=False, allow_pickle=False)
    auto = {
        "sequence": transformers.AutoModelForSequenceClassification,
        "token": transformers.AutoModelForTokenClassification,
    }[task.kind]
    whole, report = loading.read_model(auto, folder, config, dtype=torch.float32, allow_pickle=False)
    check_weights_match_config(whole, report, folder)
    # A pooler that is missing would be made up, and read by the head.
    if missing := sorted(report["missing_keys"]):
        raise InputError(
            "the weights lack a part of the head",
            file=folder,
            value=", ".join(missing[:3]),
            remedy="It would be random numbers; give a folder of the whole fine-tuned model.",
        )
    if getattr(whole.config, "pad_token_id", None) is None:  # A decoder's head finds the end of a text by it.
        whole.config.pad_token_id = Encoder(loaded, device=place, precision="fp32").tokeniser.pad
    whole = whole.to(place).eval().requires_grad_(False)
    encoder = Encoder(replace(loaded, model=whole.base_model), device=place, precision="fp32")
    return task, labels, NativeModel(whole), encoder


def _config(folder: Path) -> Mapping[str, Any]:
    config: Mapping[str, Any] = model_json(folder / "config.json", dict)
    return config


def _kind(config: Mapping[str, Any]) -> str | None:
    stated = config.get("architectures")
    names = [str(name) for name in stated] if isinstance(stated, list) else []
    return next((kind for end, kind in _KINDS.items() for name in names[:1] if name.endswith(end)), None)


def _labels(config: Mapping[str, Any], file: Path) -> tuple[str, ...]:
    """The labels of a config in their order; LABEL_0, LABEL_1 … where it only has their number, or two."""
    named = config.get("id2label")
    if named is None:
        count = 2 if config.get("num_labels") is None else config["num_labels"]
        if type(count) is not int or not 0 <= count <= MOST_LABELS:
            raise InputError("no number of labels", file=file, value=count, remedy="Fetch the model again.")
        named = {str(number): f"LABEL_{number}" for number in range(count)}
    if not isinstance(named, dict) or sorted(map(str, named)) != sorted(map(str, range(len(named)))):
        raise InputError(
            "id2label does not number its labels from 0", file=file, value=named, remedy='Write {"0": …, "1": …}.'
        )
    given = [named[key] for key in sorted(named, key=int)]
    labels = tuple(str(name) if type(name) is int else text_of(name, "a label", file=str(file)) for name in given)
    if len(set(labels)) < len(labels):
        raise InputError(
            "id2label has a label twice", file=file, value=", ".join(labels), remedy="Give each another name."
        )
    return labels
