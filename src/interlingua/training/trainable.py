"""Which weights are trained: frozen blocks and embeddings, or adapters (LoRA)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from interlingua.errors import InputError, MissingExtra
from interlingua.training.forward import block_count, blocks
from interlingua.training.phases import Freeze, Lora


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
def freeze_weights(model: torch.nn.Module, freeze: Freeze) -> Iterator[None]:
    """Within the block, what is frozen gets no gradient; after it, everything is as before."""
    held = [weight for weight in frozen(model, freeze) if weight.requires_grad]
    for weight in held:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in held:
            weight.requires_grad_(True)


@dataclass(frozen=True)
class Adapter:
    """A weight of the body and the two small matrices beside it, which add `scale` B A to it."""

    weight: torch.Tensor
    a: torch.Tensor
    b: torch.Tensor
    scale: float

    def change(self) -> torch.Tensor:
        """What the adapter adds to its weight, of the weight's shape."""
        return self.scale * (self.b @ self.a)


@contextmanager
def with_adapters(model: torch.nn.Module, lora: Lora, *, seed: int = 0) -> Iterator[None]:
    """Within the block the body has adapters; after it they are merged, and its weights are plain ones again.

    A is drawn by the seed and B is zero, so that the model is the same when it begins. Biases, norms and embeddings
    are frozen meanwhile. A map whose weight is frozen already has no adapter: it stays as it is.
    """
    if lora.rank < 1:
        raise InputError("the rank of LoRA is at least 1", value=lora.rank, remedy="Give 8, or so.")
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError as error:
        raise MissingExtra("peft", "LoRA") from error
    body: Any = model.base_model
    names = _targets(body, lora)
    trained = [weight for weight in body.parameters() if weight.requires_grad]
    torch.manual_seed(seed)
    config = LoraConfig(r=lora.rank, lora_alpha=lora.alpha, lora_dropout=lora.dropout, target_modules=names)
    inject_adapter_in_model(config, body)
    try:
        yield
    finally:
        merge(body)
        for weight in trained:
            weight.requires_grad_(True)


def merge(body: torch.nn.Module) -> None:
    """Add what adapters have learnt to the weights they stand beside, and leave nothing of `peft` in the body."""
    for name, layer in _layers(body):
        layer.merge()
        parent, _, own = name.rpartition(".")
        setattr(body.get_submodule(parent), own, layer.get_base_layer())
    del body.peft_config


def adapters(body: torch.nn.Module) -> dict[str, Adapter]:
    """The adapters of a body by the name that the weight has without them; none outside of `with_adapters`."""
    if not any("lora_" in name for name, _ in body.named_parameters()):
        return {}  # peft takes seconds to load, and need not be there.
    return {
        f"{name}.weight": Adapter(
            layer.get_base_layer().weight, layer.lora_A[own].weight, layer.lora_B[own].weight, layer.scaling[own]
        )
        for name, layer in _layers(body)
        for own in layer.active_adapters
    }


def _layers(body: torch.nn.Module) -> list[tuple[str, Any]]:
    """The maps that have an adapter, under their names, as `peft` knows them."""
    from peft.tuners.lora import LoraLayer

    return [(name, module) for name, module in body.named_modules() if isinstance(module, LoraLayer)]


def _targets(body: torch.nn.Module, lora: Lora) -> list[str]:
    """The names of the maps that get an adapter: in a block, of a wanted name, and not frozen."""
    inner = {
        name: part for name, part in body.named_modules() if isinstance(part, torch.nn.Linear) and _in_a_block(name)
    }
    named = [name for name in inner if not lora.targets or name.endswith(lora.targets)]
    if not named:
        kinds = sorted({name.rsplit(".", 1)[-1] for name in inner})
        raise InputError(
            "no linear map of the model has such a name",
            value=", ".join(lora.targets),
            remedy=f"There are: {', '.join(kinds)}.",
        )
    chosen = [name for name in named if inner[name].weight.requires_grad]
    if not chosen:
        raise InputError(
            "LoRA has no map to train: all are frozen", value=len(named), remedy="Freeze fewer blocks, or none."
        )
    return chosen


def _in_a_block(name: str) -> bool:
    """Whether a module is of a numbered block: `encoder.layer.3.attention…`."""
    return any(part.isdigit() for part in name.split("."))
