"""Layers that a phase leaves as they are: embeddings and the first blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from interlingua.errors import InputError
from interlingua.training.passes import block_count, blocks


@dataclass(frozen=True)
class Freeze:
    """What is not trained: the body's weights before its blocks (`embeddings`), and blocks 1 … `blocks`.

    Freezing up to layer k, layer 0 being the embedding output, is `Freeze(embeddings=True, blocks=k)`; the front half
    of 12 blocks, as in AlignFreeze (2025), is k = 6. Negative ones count from the end, as layers do: -1 is all blocks,
    and with `embeddings` the whole body, whatever stands between its parts.
    """

    embeddings: bool = False
    blocks: int = 0


def frozen(model: torch.nn.Module, freeze: Freeze) -> list[torch.nn.Parameter]:
    """The weights that a freeze leaves as they are."""
    count = block_count(model)
    if not -count - 1 <= freeze.blocks <= count:
        raise InputError("no such number of blocks", value=freeze.blocks, remedy=f"The model has {count}.")
    upto = freeze.blocks if freeze.blocks >= 0 else freeze.blocks + count + 1
    if freeze.embeddings and freeze.blocks == -1:
        return list(model.base_model.parameters())  # type: ignore[union-attr]
    parts = blocks(model)
    if parts is None and (upto or freeze.embeddings):
        raise InputError("this architecture shares its blocks", remedy="Freeze nothing.")
    inner = [weight for part in parts or () for weight in part.parameters()]
    held = [weight for part in (parts or ())[:upto] for weight in part.parameters()]
    if freeze.embeddings:
        body = model.base_model
        assert isinstance(body, torch.nn.Module)
        known = {id(weight) for weight in inner}
        embedding = _embeddings(body)
        held += [weight for weight in embedding if id(weight) not in known]
    return held


def _embeddings(body: torch.nn.Module) -> list[torch.nn.Parameter]:
    """The weights of whatever part of the body has its embedding tables: norms beside them are theirs.

    So are parts between them and the blocks, as ELECTRA's map from narrow embeddings to the width of its blocks.
    """
    found: list[torch.nn.Parameter] = []
    before = True
    for child in body.children():
        tables = [part for part in child.modules() if isinstance(part, torch.nn.Embedding)]
        has_blocks = any(isinstance(part, torch.nn.ModuleList) for part in child.modules())
        before = before and not has_blocks
        if before or (tables and not has_blocks):
            found += list(child.parameters())
        elif tables:
            found += [weight for table in tables for weight in table.parameters()]
    return found


@contextmanager
def freezing(model: torch.nn.Module, freeze: Freeze) -> Iterator[None]:
    """Within the block, what is frozen gets no gradient; after it, everything is as before."""
    held = [weight for weight in frozen(model, freeze) if weight.requires_grad]
    for weight in held:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in held:
            weight.requires_grad_(True)
