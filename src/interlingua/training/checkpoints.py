"""Checkpoints from which a killed training continues, and model folders as they are written."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from interlingua.encoder import model_loading as loading
from interlingua.encoder.model_folders import model_json
from interlingua.encoder.model_init import cut
from interlingua.engine.atomic_files import open_to_umask
from interlingua.errors import InputError
from interlingua.paths import read_json


class Checkpoint:
    """The newest state of a run, in a folder: weights, optimiser state, the number of finished steps, metrics."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(
        self,
        step: int,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        metrics: list[dict[str, Any]],
        *,
        more: Mapping[str, Any] | None = None,
        best: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        """Keep the state after `step` finished steps; the one before is removed only when this one is whole.

        `more` is whatever else the run must know to go on, as plain numbers; `best` the weights that were best so far.
        """
        beside = self.folder.with_name(f".{self.folder.name}-{step}")
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        save_file(weights_of(model), beside / "model.safetensors")
        save_file(_flat(optimizer), beside / "optimizer.safetensors")
        if best:
            save_file(dict(best), beside / "best.safetensors")
        (beside / "state.json").write_text(json.dumps({"step": step, "metrics": metrics, **(more or {})}), "utf-8")
        before = self.folder.with_name(f".{self.folder.name}-before")
        if self.folder.exists():
            # Only now: where a kill left the one before alone, it is all there is.
            shutil.rmtree(before, ignore_errors=True)
            os.rename(self.folder, before)
        os.rename(beside, self.folder)
        shutil.rmtree(before, ignore_errors=True)

    def load(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> tuple[int, list[dict[str, Any]]]:
        """Put the newest state into model and optimiser; the number of finished steps (0: none) and the metrics."""
        place = self._newest()
        if place is None:
            return 0, []
        state = self.state()
        self.load_weights(model)
        with _readable(place):
            _unflatten(optimizer, load_file(place / "optimizer.safetensors"))
            return int(state["step"]), list(state["metrics"])

    def load_weights(self, model: torch.nn.Module) -> None:
        """Put the newest weights into a model, and nothing else: to measure a run at this moment."""
        place = self._newest()
        if place is None:
            raise InputError("no state of a run is here", file=self.folder, remedy="Name the folder of a checkpoint.")
        with _readable(place):
            put_weights(model, load_file(place / "model.safetensors"))

    def state(self) -> dict[str, Any]:
        """What the newest state says beside its tensors; empty where there is none."""
        place = self._newest()
        if place is None:
            return {}
        with _readable(place):
            found = read_json(place / "state.json")
            return {**found, "step": int(found["step"]), "metrics": list(found["metrics"])}

    def best(self) -> dict[str, torch.Tensor]:
        """The best weights so far; empty where none were kept."""
        place = self._newest()
        file = None if place is None else place / "best.safetensors"
        if file is None or not file.is_file():
            return {}
        with _readable(file.parent):
            return load_file(file)

    def finished_steps(self) -> int:
        """The number of finished steps of the newest state, 0 where there is none."""
        return int(self.state().get("step", 0))

    def _newest(self) -> Path | None:
        # Killed between the two renames: the one before is whole.
        places = (self.folder, self.folder.with_name(f".{self.folder.name}-before"))
        return next((place for place in places if (place / "state.json").is_file()), None)


@contextmanager
def _readable(place: Path) -> Iterator[None]:
    """A damaged state is reported with its folder: what was trained is lost, and only the user may remove it."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, EOFError, SafetensorError) as error:
        raise InputError(
            f"the state of a stopped run is damaged ({type(error).__name__})",
            file=place,
            remedy="Remove that folder: the training begins anew.",
        ) from error


def put_weights(model: torch.nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    """Copy weights into a model, matched on names."""
    with torch.no_grad():
        for name, tensor in weights_of(model).items():
            tensor.copy_(weights[name])


def weights_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers under their names, tied ones once."""
    seen: set[int] = set()
    found: dict[str, torch.Tensor] = {}
    for name, tensor in model.state_dict().items():
        if tensor.data_ptr() not in seen or tensor.numel() == 0:
            seen.add(tensor.data_ptr())
            found[name] = tensor
    return found


def _flat(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    state = optimizer.state_dict()["state"]
    return {f"{number}.{name}": value for number, entry in state.items() for name, value in entry.items()}


def _unflatten(optimizer: torch.optim.Optimizer, flat: dict[str, torch.Tensor]) -> None:
    whole = optimizer.state_dict()
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in flat.items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = value
    optimizer.load_state_dict({"state": state, "param_groups": whole["param_groups"]})


def load_whole(
    name: str,
    *,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    revision: str | None = None,
    blocks: int | None = None,
) -> tuple[Any, Any, str]:
    """The model called `name` in float32, its tokenizer, and its digest; checked as an encoder's folder is.

    The model is of the class that its config names (`BertForMaskedLM`), so that a head is not lost; of a class that
    `transformers` lacks, and of an encoder-decoder, it is the encoder alone. So it is where the first `blocks` are
    taken: a head that read all of them has nothing to say of these.
    """
    loaded = loading.load(
        name,
        device=torch.device("cpu"),
        precision="fp32",
        trust_remote_code=trust_remote_code,
        allow_pickle=allow_pickle,
        revision=revision,
    )
    if blocks is not None:
        loaded = cut(loaded, blocks)
        body: Any = loaded.model
        return body.requires_grad_(True), loaded.tokenizer, loaded.digest
    folder = loading.find_folder(name, allow_pickle=allow_pickle, revision=revision)
    model: Any = loaded.model
    config = folder / "config.json"
    stated = model_json(config, dict) if config.is_file() else {}
    named = stated.get("architectures")
    import transformers

    kind = getattr(transformers, str(named[0]), None) if isinstance(named, list) and named else None
    known = isinstance(kind, type) and issubclass(kind, transformers.PreTrainedModel)
    if known and kind is not type(model) and not stated.get("is_encoder_decoder"):
        model, _ = loading.read_model(kind, folder, stated, dtype=torch.float32, allow_pickle=allow_pickle)
    return model.requires_grad_(True), loaded.tokenizer, loaded.digest


def save_whole(model: Any, tokenizer: Any, folder: Path) -> None:
    """An ordinary Hugging Face folder: config, tokenizer, and weights in float32 as safetensors."""
    from transformers.utils import logging as chatter

    chatter.disable_progress_bar()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    open_to_umask(folder)
