"""Query, key and value by one product: small matrices are bound by memory, and one pass reads the input once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch

_NAMES = (("query", "key", "value"), ("q_lin", "k_lin", "v_lin"), ("q_proj", "k_proj", "v_proj"))


@contextmanager
def joined_projections(model: torch.nn.Module) -> Iterator[int]:
    """Inside, attention's three projections of one input are slices of one product; the number of places joined.

    The first of the three to be called computes the product, the others take their parts of it. Weights stay as they
    are, by their own names; given another input, as in cross-attention, each computes its own.
    """
    places = [triple for module in model.modules() if (triple := _triple(module)) is not None]
    for triple in places:
        joint = _Joint(triple)
        for number, own in enumerate(triple):
            own.forward = partial(joint.part, number)  # type: ignore[method-assign]
    try:
        yield len(places)
    finally:
        for triple in places:
            for own in triple:
                del own.forward


class _Joint:
    """The product of one input with three matrices side by side, kept until each part was taken."""

    def __init__(self, layers: tuple[torch.nn.Linear, ...]) -> None:
        self._layers = layers
        self._states: torch.Tensor | None = None
        self._parts: tuple[torch.Tensor, ...] = ()

    def part(self, number: int, states: torch.Tensor) -> torch.Tensor:
        if self._states is not states:
            weight = torch.cat(tuple(layer.weight for layer in self._layers))
            biases = [layer.bias for layer in self._layers if layer.bias is not None]
            product = torch.nn.functional.linear(states, weight, torch.cat(tuple(biases)) if biases else None)
            self._states = states
            self._parts = torch.split(product, [layer.out_features for layer in self._layers], dim=-1)
        found = self._parts[number]
        if number == len(self._layers) - 1:  # The value comes last: nothing is held longer than it is used.
            self._states, self._parts = None, ()
        return found


def _triple(module: torch.nn.Module) -> tuple[torch.nn.Linear, ...] | None:
    """The three projections of a module that has them."""
    for names in _NAMES:
        found: list[Any] = [getattr(module, name, None) for name in names]
        plain = [layer for layer in found if type(layer) is torch.nn.Linear]
        if len(plain) == len(names):
            alike = {(layer.in_features, layer.bias is None) for layer in plain}
            return tuple(plain) if len(alike) == 1 else None
    return None
