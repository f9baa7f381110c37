"""Drift: the weights of the body stay near those they had (Wu & Dredze 2020)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

from interlingua.errors import InputError
from interlingua.objectives import objectives
from interlingua.training.forward import Batch
from interlingua.training.trainable import Adapter, adapters


@objectives.register("drift")
@dataclass
class Drift:
    """Squared L2 distance of the body's trained weights to the original ones, >= 0: the whole model stays.

    Σ (θ - θ⁰)² over all weights of the body that are trained (Wu & Dredze 2020 weigh it with 1). A weight with an
    adapter is W + (alpha / rank) B A, what it will be when that is merged. Make it with `Drift.of(model)` before
    training: a run that goes on must hold on to where the first began.

    >>> model = torch.nn.Linear(2, 1)
    >>> model.base_model = model
    >>> drift = Drift.of(model)
    >>> _ = torch.nn.init.constant_(model.weight, 0.0), drift.prepare(model)
    >>> torch.isclose(drift.loss(model, {}), drift.original["weight"].square().sum()).item()
    True
    """

    original: Mapping[str, torch.Tensor] = field(repr=False)
    _now: list[_Moving] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, model: torch.nn.Module) -> Drift:
        """The drift from a model as it is now."""
        body = _body(model)
        return cls({name: weight.detach().clone() for name, weight in body.named_parameters(remove_duplicate=True)})

    def prepare(self, model: torch.nn.Module) -> Callable[[], None]:
        body = _body(model)
        beside = adapters(body)
        trained: dict[str, torch.Tensor] = {
            **{name: weight for name, weight in body.named_parameters() if weight.requires_grad},
            **{name: adapter.weight for name, adapter in beside.items()},
        }
        # The weights themselves, not what stands in their place at a step: bfloat16 copies differ by more than a drift.
        self._now = [
            _Moving(weight, self.original[name].to(weight.device, weight.dtype), beside.get(name))
            for name, weight in trained.items()
            if name in self.original
        ]
        if not self._now:
            raise InputError(
                "drift holds the trained weights of the body, and none is trained",
                remedy="Freeze fewer blocks, or leave drift out.",
            )
        return self._now.clear

    def batch(self, step: int, *, rank: int, world: int, device: torch.device) -> Batch:
        return {}

    def loss(self, model: torch.nn.Module, batch: Batch) -> torch.Tensor:
        return torch.stack([each.change().square().sum() for each in self._now]).sum()


@dataclass(frozen=True)
class _Moving:
    """A weight, what it was, and the adapter beside it where it has one."""

    weight: torch.Tensor
    before: torch.Tensor
    adapter: Adapter | None

    def change(self) -> torch.Tensor:
        own = self.weight - self.before
        return own if self.adapter is None else own + self.adapter.change()


def _body(model: torch.nn.Module) -> torch.nn.Module:
    body = model.base_model
    assert isinstance(body, torch.nn.Module)
    return body
