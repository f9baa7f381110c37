"""A module computed with bfloat16 copies of its weights; the weights themselves stay in float32."""

from __future__ import annotations

from typing import Any

import torch


class Halved(torch.nn.Module):
    """A module of batches run with bfloat16 copies of its float weights, made at every call.

    Autocast would keep the norms and the residual stream in float32, and a small model spends its time on moving
    them. The copies are made in the forward, so gradients and the optimiser see float32 weights alone. `together`
    makes all copies, and later all gradients, in a few launches instead of one for each weight; the numbers are the
    same. It is not for several processes, which must see each weight's use on its own, nor for a compiler.
    """

    def __init__(self, whole: torch.nn.Module, *, together: bool) -> None:
        super().__init__()
        self.whole, self._together = whole, together

    def forward(self, batches: Any) -> torch.Tensor:
        weights = {name: weight for name, weight in self.whole.named_parameters() if weight.is_floating_point()}
        if self._together:
            made: tuple[torch.Tensor, ...] = _Copies.apply(*weights.values())  # type: ignore[no-untyped-call]
            copies = dict(zip(weights, made, strict=True))
        else:
            copies = {name: weight.to(torch.bfloat16) for name, weight in weights.items()}
        losses: torch.Tensor = torch.func.functional_call(self.whole, copies, (batches,))
        return losses


class _Copies(torch.autograd.Function):
    """bfloat16 copies of weights, and float32 copies of their gradients; a weight without a gradient gets none."""

    @staticmethod
    def forward(ctx: Any, *weights: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.set_materialize_grads(False)
        copies = _copied(weights, torch.bfloat16)
        # What is frozen stays so: its gradient would be computed for nobody.
        ctx.mark_non_differentiable(
            *(copy for copy, wanted in zip(copies, ctx.needs_input_grad, strict=True) if not wanted)
        )
        return copies

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        there = [number for number, gradient in enumerate(gradients) if gradient is not None]
        made = _copied([gradient for gradient in gradients if gradient is not None], torch.float32)
        found: list[torch.Tensor | None] = [None] * len(gradients)
        for number, gradient in zip(there, made, strict=True):
            found[number] = gradient
        return tuple(found)


def _copied(tensors: Any, kind: torch.dtype) -> tuple[torch.Tensor, ...]:
    copies = [torch.empty_like(tensor, dtype=kind) for tensor in tensors]
    if copies:
        torch._foreach_copy_(copies, list(tensors))
    return tuple(copies)
