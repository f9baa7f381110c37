"""Fine-tuned models on disk: an ordinary Hugging Face folder, the head beside it, and what task it is for.

`config.json`, `model.safetensors` and the tokenizer are what `transformers` loads. Where the architecture's own head
computes the same function as ours (tried on a probe), the weights are stored under its names and
`AutoModelForSequenceClassification` (`…TokenClassification`, `…QuestionAnswering`) loads model and labels; otherwise
`AutoModel` loads the body. `head.safetensors` and `task.json` are what we load, in either case. A folder without
`task.json` that someone else fine-tuned is loaded with its own head (`native_models`).
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from interlingua.encoder import Encoder
from interlingua.engine.atomic_files import open_to_umask
from interlingua.errors import InputError
from interlingua.paths import read_json
from interlingua.tasks import tasks
from interlingua.tasks.native_models import NativeModel, described_by_config, is_native, load_native
from interlingua.training.task import Task, TaskModel

_FORMAT = 1


@dataclass(frozen=True)
class FineTuned:
    """A model trained for a task: the task with its settings, the names of its labels, the model, and its encoder."""

    task: Task
    labels: tuple[str, ...]
    model: TaskModel | NativeModel
    encoder: Encoder


def save(tuned: FineTuned, folder: str | Path) -> bool:
    """Write the folder, whole or not at all; whether the architecture's own head could hold ours.

    A folder of that name is replaced.
    """
    folder = Path(folder)
    beside = folder.with_name(f".{folder.name}-new")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    try:
        native = _native(tuned)
        body: Any = tuned.model.base_model
        _quietly(lambda: (native or body).save_pretrained(beside))
        tuned.encoder.tokenizer.save_pretrained(beside)
        head = {name: tensor.detach().cpu().contiguous() for name, tensor in tuned.model.head.state_dict().items()}
        save_file(head, beside / "head.safetensors")
        settings: Any = tuned.task
        about = {
            "format": _FORMAT,
            "task": tuned.task.name,
            "settings": asdict(settings),
            "labels": list(tuned.labels),
            "native": native is not None,
        }
        (beside / "task.json").write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", "utf-8")
        open_to_umask(beside)
        _swap(beside, folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return native is not None


def described(folder: str | Path) -> tuple[Task, tuple[str, ...]]:
    """The task of a folder and its labels: as `save` wrote them, or of a model's own head; no weights are read."""
    folder = Path(folder)
    if not (folder / "task.json").exists() and is_native(folder):
        return described_by_config(folder)
    about = _about(folder / "task.json")
    try:
        usual = asdict(tasks[about["task"]].call())
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in about["settings"].items()}
        for name, value in given.items():
            if not isinstance(value, type(usual[name])) and usual[name] is not None:
                raise TypeError(f"{name} is {value!r:.40}")
        task: Task = tasks[about["task"]].call(**given)
        return task, tuple(str(name) for name in about["labels"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"not the description of a task ({type(error).__name__}: {error})",
            file=folder / "task.json",
            remedy="Fine-tune the model again.",
        ) from error


def load(folder: str | Path, *, device: str | None = None) -> FineTuned:
    """The model that `save` wrote, or an ordinary one with its own head, in float32 and evaluation mode."""
    folder = Path(folder)
    if not (folder / "task.json").exists() and is_native(folder):
        return FineTuned(*load_native(folder, device=device))
    task, labels = described(folder)
    encoder = Encoder.load(str(folder), device=device, precision="fp32")
    model = TaskModel.of(encoder, task, labels, seed=0)
    try:
        model.head.load_state_dict(load_file(folder / "head.safetensors"))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise InputError(
            f"the head cannot be loaded ({str(error).splitlines()[0]})",
            file=folder / "head.safetensors",
            remedy="Use the head that belongs to task.json.",
        ) from error
    return FineTuned(task, labels, model.eval(), encoder)


def _about(path: Path) -> dict[str, Any]:
    try:
        about = read_json(path)
    except OSError as error:
        inside = [found.parent.relative_to(path.parent).as_posix() for found in path.parent.glob("models/*/task.json")]
        known = f"Its models are in {', '.join(sorted(inside)[:4])}: give one of those."
        raise InputError(
            "not a fine-tuned model: there is no task.json",
            file=path.parent,
            remedy=known
            if inside
            else "Give a folder in DIR/models of transfer --save-models --out DIR, or one whose config.json names "
            "an architecture …ForSequenceClassification or …ForTokenClassification.",
        ) from error
    except ValueError as error:
        raise InputError(f"not JSON ({error})", file=path, remedy="Fine-tune the model again.") from error
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise InputError("written by another version", file=path, remedy="Fine-tune the model again.")
    return about


def _native(tuned: FineTuned) -> Any:
    """The architecture's own model for the task with our weights in it, or None where it is another function."""
    import transformers

    kinds = {
        "sequence": "AutoModelForSequenceClassification",
        "token": "AutoModelForTokenClassification",
        "span": "AutoModelForQuestionAnswering",
    }
    body: Any = tuned.model.base_model
    # Save and load a copy of the config: the body's own must not learn of labels.
    config = type(body.config).from_dict(body.config.to_dict())
    if tuned.labels:
        config.id2label = dict(enumerate(tuned.labels))
        config.label2id = {name: number for number, name in enumerate(tuned.labels)}
    if tuned.task.kind == "sequence":
        config.problem_type = "single_label_classification"
    try:
        model = getattr(transformers, kinds[tuned.task.kind]).from_config(config)
    except ValueError:  # The architecture has no such head.
        return None
    # Where it calls the body by another name (Qwen2's for questions), `AutoModel` would not find the body again.
    weights = _renamed(tuned, model) if model.base_model_prefix == body.base_model_prefix else None
    if weights is None:
        return None
    model.load_state_dict(weights)
    return model.eval() if _agree(tuned, model) else None


def _renamed(tuned: FineTuned, native: Any) -> dict[str, torch.Tensor] | None:
    """Our weights under the names of the architecture's own model; None where the shapes differ."""
    prefix = f"{native.base_model_prefix}."
    body = {f"{prefix}{name}": tensor.detach().cpu() for name, tensor in tuned.model.base_model.state_dict().items()}
    wanted = native.state_dict()
    rest = [name for name in wanted if name not in body]
    head = [tensor.detach().cpu() for tensor in tuned.model.head.state_dict().values()]
    if not set(body) <= set(wanted) or [wanted[name].shape for name in rest] != [tensor.shape for tensor in head]:
        return None
    return body | dict(zip(rest, head, strict=True))


@torch.no_grad()
def _agree(tuned: FineTuned, native: Any) -> bool:
    """Whether both give the same scores on a probe: two texts of random tokens."""
    frame = tuned.encoder.tokeniser
    vocabulary = int(tuned.model.base_model.get_input_embeddings().weight.shape[0])  # type: ignore[operator]
    drawn = torch.randint(vocabulary, (2, 6), generator=torch.Generator().manual_seed(0))
    edges = [torch.tensor(ids, dtype=torch.long).expand(2, -1) for ids in (frame.prefix, frame.suffix)]
    ids = torch.cat([edges[0], drawn, edges[1]], dim=1)
    device = tuned.encoder.device
    last = 0 if frame.prefix and frame.suffix else ids.shape[1] - 1
    mask = torch.ones_like(ids)
    batch = {"input_ids": ids, "attention_mask": mask, "summary": torch.full((2,), last)}
    before = tuned.model.training
    ours = tuned.model.eval()({name: tensor.to(device) for name, tensor in batch.items()}).cpu().float()
    tuned.model.train(before)
    found = native.eval()(input_ids=ids, attention_mask=mask)
    theirs = torch.stack([found.start_logits, found.end_logits], -1) if tuned.task.kind == "span" else found.logits
    return ours.shape == theirs.shape and torch.allclose(ours, theirs, rtol=1e-3, atol=1e-4)


def _quietly(write: Any) -> None:
    from transformers.utils import logging as chatter

    chatter.disable_progress_bar()  # One file is written; stderr belongs to our own progress.
    write()


def _swap(beside: Path, folder: Path) -> None:
    """Put the new folder in the place of the old one, which goes only when the new one is there."""
    before = folder.with_name(f".{folder.name}-before")
    shutil.rmtree(before, ignore_errors=True)
    if folder.exists():
        os.rename(folder, before)
    os.rename(beside, folder)
    shutil.rmtree(before, ignore_errors=True)
