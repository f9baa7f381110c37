"""Whether a model's weights and its config.json belong together, by what `transformers` tells of loading them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from interlingua.encoder.modelfiles import STORED
from interlingua.errors import InputError


def check_fit(model: torch.nn.Module, report: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Notes on weights that the model has no place for; an error where model and weights differ by more than that.

    `report` is the loading info of `from_pretrained`. A head is no part of the model here, and a pooler is never used.
    """
    if unfit := sorted(report["mismatched_keys"]):
        key, stored, wanted = unfit[0]
        raise InputError(
            f"{len(unfit)} tensors of the weights have another shape than config.json says",
            file=folder,
            value=f"{key}: {tuple(stored)}, not {tuple(wanted)}",
            remedy="Use the weights that belong to this config.json.",
        )
    computed = {name for name, module in model.named_modules() if "Sinusoidal" in type(module).__name__ and name}
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key and _parent(key) not in computed)
    if missing:
        raise InputError(
            f"the weights lack {len(missing)} tensors of the model",
            file=folder,
            value=", ".join(missing[:3]),
            remedy="They would be random numbers; use the weights that belong to this config.json.",
        )
    unused = [key for key in _of_the_body(model, report["unexpected_keys"]) if _parent(key) not in computed]
    if more := sorted(_blocks_beyond(model, unused)):
        raise InputError(
            "the weights have blocks that config.json makes no room for",
            file=folder,
            value=", ".join(more[:3]),
            remedy="Write their true number into config.json; a study takes the first of them by `blocks`.",
        )
    return (f"weights that the model has no place for: {len(unused)}, such as {unused[0]}",) if unused else ()


def _of_the_body(model: torch.nn.Module, unused: Iterable[str]) -> list[str]:
    """The weights among these that lie inside a part of the model, by their names in it; heads lie beside."""
    parts = dict(model.named_modules())
    bodies = {name for name, _ in model.named_children()} - {"pooler"}
    prefix = f"{getattr(model, 'base_model_prefix', '')}."
    named = sorted(key.removeprefix(prefix) for key in unused)
    return [key for key in named if key.split(".")[0] in bodies and not _follows(key, parts)]


def _follows(key: str, parts: Mapping[str, torch.nn.Module]) -> bool:
    """Whether a stored tensor follows from the config; a `bias` of what is no single layer is a mask (GPT-2)."""
    last = key.rpartition(".")[2]
    return last in STORED or (last == "bias" and _parent(key) in parts and any(parts[_parent(key)].children()))


def _blocks_beyond(model: torch.nn.Module, unused: Iterable[str]) -> set[str]:
    """The blocks of these weights whose number is past the end of the model's list of them."""
    lengths = {name: len(part) for name, part in model.named_modules() if isinstance(part, torch.nn.ModuleList)}
    beyond = set()
    for key in unused:
        names = key.split(".")
        for end, name in enumerate(names):
            within = ".".join(names[:end])
            if name.isdecimal() and within in lengths and int(name) >= lengths[within]:
                beyond.add(f"{within}.{name}")
    return beyond


def _parent(key: str) -> str:
    return key.rpartition(".")[0]
