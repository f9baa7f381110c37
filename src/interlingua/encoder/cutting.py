"""The first blocks of a model as a model of its own: what its layer k is, read as an output."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import torch

from interlingua.encoder.loading import Loaded
from interlingua.errors import InputError


def block_list(body: torch.nn.Module, count: int) -> torch.nn.ModuleList | None:
    """The list of a body's `count` blocks: of lists so long the one with the most weights; None where there is none."""
    lists = [part for part in body.modules() if isinstance(part, torch.nn.ModuleList) and len(part) == count]
    sizes = [sum(weight.numel() for weight in part.parameters()) for part in lists]
    return lists[sizes.index(max(sizes))] if lists else None


def cut(loaded: Loaded, blocks: int) -> Loaded:
    """The model with its first blocks alone, in place; its output is layer `blocks`, with its own digest.

    A norm that the model has after its last block (ModernBERT) then stands after this one.
    """
    count = loaded.layers - 1
    if not 1 <= blocks <= count:
        raise InputError("no such number of blocks", value=blocks, remedy=f"The model has {count}.")
    if blocks == count:
        return loaded
    found = block_list(loaded.model, count)
    if found is None:
        raise InputError("this architecture shares its blocks", value=blocks, remedy="Use all of them.")
    del found[blocks:]
    config = loaded.model.config
    for name in ("num_hidden_layers", "encoder_layers", "num_layers", "n_layer", "n_layers"):
        if getattr(config, name, None) == count:
            setattr(config, name, blocks)
    digest = hashlib.blake2b(f"{loaded.digest} {blocks}".encode(), digest_size=16).hexdigest()
    return replace(loaded, layers=blocks + 1, digest=digest, head=None)
