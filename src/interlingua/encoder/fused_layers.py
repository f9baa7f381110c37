"""A layer's small steps joined: a small model is bound by memory, and what is done in one pass is read once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import torch

from interlingua import kernels

_NAMES = (("query", "key", "value"), ("q_lin", "k_lin", "v_lin"), ("q_proj", "k_proj", "v_proj"))


@contextmanager
def joined_projections(model: torch.nn.Module, *, unmasked: bool = False) -> Iterator[int]:
    """Inside, attention's three projections of one input are slices of one product; the number of places joined.

    The first of the three to be called computes the product, the others take their parts of it. Weights stay as they
    are, by their own names; given another input, as in cross-attention, each computes its own. Where attention is
    `unmasked` and a GPU has Triton, an attention function may take the whole product instead: `fused_attention`.
    """
    places = [(module, triple) for module in model.modules() if (triple := _triple(module)) is not None]
    kernel = import_module("interlingua.kernels.attention") if unmasked and kernels.available() else None
    for module, triple in places:
        joint = _Joint(triple, kernel)
        module.joint = joint  # type: ignore[assignment]
        for number, own in enumerate(triple):
            own.forward = partial(joint.part, number)  # type: ignore[method-assign]
    try:
        yield len(places)
    finally:
        for module, triple in places:
            del module.joint
            for own in triple:
                del own.forward


def fused_attention(module: Any, query: torch.Tensor, *, scale: float | None) -> torch.Tensor | None:
    """Attention of the module's joined query, key and value by one kernel, (sequence, position, head, width).

    None where they were not joined or no kernel fits; `query` is the module's own, (sequence, head, position, width).
    """
    joint = getattr(module, "joint", None)
    return None if joint is None else joint.attended(query, scale)


@contextmanager
def fused_activations(model: torch.nn.Module, *, device: torch.device) -> Iterator[int]:
    """Inside, a layer's bias and GELU are one kernel on a GPU that has Triton; the number of places, elsewhere 0."""
    places = [module for module in model.modules() if _widens(module)]
    if device.type != "cuda" or not kernels.available():
        places = []
    for module in places:
        from interlingua.kernels.gelu import biased_gelu

        module.forward = partial(_widened, module, biased_gelu)
    try:
        yield len(places)
    finally:
        for module in places:
            del module.forward


def _widens(module: Any) -> bool:
    """Whether a module is a dense layer with bias and the exact GELU after it, as BERT and its kin have it."""
    from transformers.activations import GELUActivation

    dense, activation = getattr(module, "dense", None), getattr(module, "intermediate_act_fn", None)
    exact = isinstance(activation, GELUActivation) and activation.act is torch.nn.functional.gelu
    return exact and type(dense) is torch.nn.Linear and dense.bias is not None


def _widened(module: Any, biased_gelu: Any, states: torch.Tensor) -> torch.Tensor:
    wide: torch.Tensor = biased_gelu(torch.nn.functional.linear(states, module.dense.weight), module.dense.bias)
    return wide


class _Joint:
    """The product of one input with three matrices side by side; its parts are kept until each was taken."""

    def __init__(self, layers: tuple[torch.nn.Linear, ...], kernel: Any = None) -> None:
        self._layers, self._kernel = layers, kernel
        self._states: torch.Tensor | None = None
        self._parts: tuple[torch.Tensor, ...] = ()
        self._whole: tuple[torch.Tensor, torch.Tensor] | None = None

    def attended(self, query: torch.Tensor, scale: float | None) -> torch.Tensor | None:
        whole, self._whole = self._whole, None
        _, heads, length, width = query.shape
        if whole is None or not self._kernel.fits(whole[0], heads, width):
            return None
        mixed: torch.Tensor = self._kernel.short_attention(*whole, heads, width**-0.5 if scale is None else scale)
        return mixed.view(-1, length, heads, width)

    def part(self, number: int, states: torch.Tensor) -> torch.Tensor:
        if self._states is not states:
            product, bias = self._product(states)
            whole = product if bias is None else product + bias
            self._whole = None if self._kernel is None or bias is None else (product, bias)
            self._states = states
            self._parts = torch.split(whole, [layer.out_features for layer in self._layers], dim=-1)
        found = self._parts[number]
        if number == len(self._layers) - 1:  # The value comes last: nothing is held longer than it is used.
            self._states, self._parts = None, ()
        return found

    def _product(self, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The product and the bias still to be added to it, which a kernel does on its way."""
        weight = torch.cat(tuple(layer.weight for layer in self._layers))
        biases = [layer.bias for layer in self._layers if layer.bias is not None]
        bias = torch.cat(tuple(biases)) if biases else None
        if self._kernel is None:
            return torch.nn.functional.linear(states, weight, bias), None
        return torch.nn.functional.linear(states, weight), bias


def _triple(module: torch.nn.Module) -> tuple[torch.nn.Linear, ...] | None:
    """The three projections of a module that has them."""
    for names in _NAMES:
        found: list[Any] = [getattr(module, name, None) for name in names]
        plain = [layer for layer in found if type(layer) is torch.nn.Linear]
        if len(plain) == len(names):
            alike = {(layer.in_features, layer.bias is None) for layer in plain}
            return tuple(plain) if len(alike) == 1 else None
    return None
