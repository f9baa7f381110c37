"""A model as a function of its word embeddings: the body is called with its ids, and what its table gives is replaced.

Ids still go in, so that positions and token types are those of the text (XLM-R counts positions from ids); a hook on
`get_input_embeddings()` puts other vectors in the place of the looked-up ones, whatever the architecture.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from interlingua.errors import InputError

Batch = dict[str, torch.Tensor]
PRECISIONS = ("fp32", "bf16")
_MEMORY = 1 << 30  # on a CPU
_PART = 8  # of a GPU's memory one part in so many at most: others may share it
_SAVED = 40  # numbers a token and unit of width that a block of a transformer keeps for the way back, about
_TOKENS = {"cpu": 2048, "cuda": 65536}


class EmbeddingForward:
    """A model called with batches, and its table of word embeddings.

    `precision="bf16"` computes points on the path with a bfloat16 copy of the weights; what it gives is float32, sums
    are made in float64, and `exact` scores, which completeness is judged by, are the given model's.
    """

    def __init__(self, model: torch.nn.Module, *, precision: str = "fp32", budget: int | None = None) -> None:
        self.model = model
        self.device = next(model.parameters()).device
        if precision not in PRECISIONS:
            raise InputError("unknown precision", value=precision, remedy=f"Known: {', '.join(PRECISIONS)}.")
        if precision == "bf16" and self.device.type == "cpu":
            raise InputError("bfloat16 is slower than float32 on a CPU", value=precision, remedy="Use fp32.")
        self.precision = precision
        self._quick = copy.deepcopy(model).to(torch.bfloat16) if precision == "bf16" else model
        self.table = _table(model)
        self.budget = budget or _budget(model, self.device, 2 if precision == "bf16" else 4)

    @property
    def body(self) -> Any:
        """The model without its head."""
        return getattr(self.model, "base_model", self.model)

    @torch.no_grad()
    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """The word embeddings of ids, (…, dim), in float32."""
        found: torch.Tensor = self.table(ids)
        return found.float()

    def scores(self, embeddings: torch.Tensor, batch: Mapping[str, torch.Tensor], *, exact: bool) -> torch.Tensor:
        """What the model gives for a batch, were its word embeddings these; in float32.

        `exact` asks the given model, whatever the precision.
        """
        model = self.model if exact else self._quick
        table = _table(model)
        given = embeddings.to(next(model.parameters()).dtype)
        taken = []

        def replace(*_: Any) -> torch.Tensor:
            taken.append(1)
            return given

        handle = table.register_forward_hook(replace)
        try:
            output: torch.Tensor = model(dict(batch))
        finally:
            handle.remove()
        if len(taken) != 1:
            raise InputError(
                f"the model reads its word embeddings {len(taken)} times",
                value=type(self.body).__name__,
                remedy="Give an encoder that reads them once.",
            )
        return output.float()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Within the block the model is in evaluation mode and its weights ask for no gradient; after it, as before."""
        models = (self.model,) if self._quick is self.model else (self.model, self._quick)
        held = [weight for model in models for weight in model.parameters() if weight.requires_grad]
        modes = [(part, part.training) for model in models for part in model.modules()]
        for weight in held:
            weight.requires_grad_(False)
        for model in models:
            model.eval()
        try:
            # cuDNN's attention builds a plan for every new shape, which costs more than it saves here.
            with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
                yield
        finally:
            for weight in held:
                weight.requires_grad_(True)
            for part, training in modes:
                part.training = training


def _table(model: torch.nn.Module) -> torch.nn.Module:
    """The table of word embeddings of a model or of its body."""
    for part in (getattr(model, "base_model", model), model):
        find: Any = getattr(part, "get_input_embeddings", None)
        if find is not None and isinstance(found := find(), torch.nn.Module):
            return found
    raise InputError(
        "the model has no table of word embeddings",
        value=type(model).__name__,
        remedy="Give a transformers model, or one with get_input_embeddings().",
    )


def _budget(model: torch.nn.Module, device: torch.device, size: int) -> int:
    """The tokens that go through at once: as many as keep what the way back needs within a fixed memory.

    On a GPU that is a part of its memory, and at most half of what is free on it.
    """
    config: Any = getattr(getattr(model, "base_model", model), "config", None)
    depth, width = (getattr(config, name, None) for name in ("num_hidden_layers", "hidden_size"))
    if not isinstance(depth, int) or not isinstance(width, int):
        return _TOKENS["cpu"]
    memory = _MEMORY
    if device.type == "cuda":
        memory = min(torch.cuda.mem_get_info(device)[1] // _PART, _free(device) // 2)
    held = memory // (_SAVED * depth * width * size)
    return min(max(held, 128), _TOKENS.get(device.type, 2048))


def _free(device: torch.device) -> int:
    """The bytes of a GPU that nobody has, with those that this process holds and does not use."""
    free: int = torch.cuda.mem_get_info(device)[0]
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
