"""The best weights of a run by something measured on the way, and when to stop looking for better ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from interlingua.errors import InputError
from interlingua.training.checkpoints import put_weights, weights_of


class Best:
    """The weights with the highest value of a metric so far; with `-name`, the lowest. Of ties, the first.

    `patience` is how many measurements in a row may bring nothing better before the run ends; None: it never does.
    """

    def __init__(self, metric: str, patience: int | None) -> None:
        self._name, self._sign = metric.removeprefix("-"), -1.0 if metric.startswith("-") else 1.0
        self._patience = patience
        self._value, self._since = -math.inf, 0
        self._weights: dict[str, torch.Tensor] = {}

    def measured_in(self, measured: Mapping[str, float]) -> bool:
        """Whether the metric is among what was measured."""
        return self._name in measured

    def consider(self, measured: Mapping[str, float]) -> bool:
        """Whether what was measured is better than all before it."""
        if not self.measured_in(measured):
            raise InputError(
                "no monitor measures this", value=self._name, remedy=f"There are: {', '.join(measured) or 'none'}."
            )
        value = self._sign * measured[self._name]
        better = value > self._value
        if better:
            self._value = value
        self._since = 0 if better else self._since + 1
        return better

    @property
    def exhausted(self) -> bool:
        return self._patience is not None and self._since >= self._patience

    def keep(self, model: torch.nn.Module) -> None:
        """Copy the weights, to the host."""
        self._weights = {name: tensor.detach().to("cpu", copy=True) for name, tensor in weights_of(model).items()}

    def restore(self, model: torch.nn.Module) -> None:
        """Put the best weights back, where there are any."""
        if self._weights:
            put_weights(model, self._weights)

    @property
    def weights(self) -> Mapping[str, torch.Tensor]:
        return self._weights

    def to_dict(self) -> dict[str, Any]:
        return {"value": self._value if self._weights else None, "since": self._since}

    def go_on(self, state: Mapping[str, Any], weights: dict[str, torch.Tensor]) -> None:
        """Take up what a run had that was stopped."""
        self._value = -math.inf if state.get("value") is None else float(state["value"])
        self._since, self._weights = int(state.get("since", 0)), weights
