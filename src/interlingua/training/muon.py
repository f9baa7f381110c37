"""Muon for the matrices of a network, AdamW for the rest: fewer steps to the same loss than AdamW alone.

Muon (Jordan et al. 2024) steps along the nearest orthogonal matrix to the momentum, found by Newton–Schulz iteration;
the step is scaled to AdamW's usual size (Liu et al. 2025, §2.2), so one learning rate serves both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.optim.adamw import adamw

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # Jordan et al. 2024: steep at 0, so that five rounds are enough
_ROUNDS = 5
_SCALE = 0.2  # the root mean square of an AdamW step, Liu et al. 2025


class MuonAdamW(torch.optim.Optimizer):
    """Groups with `muon` true step by Muon, the others by AdamW; all matrices of a shape take one batched step."""

    def __init__(
        self,
        groups: Sequence[dict[str, Any]],
        *,
        lr: float | torch.Tensor,
        momentum: float = 0.95,
        betas: tuple[float, float] = (0.9, 0.98),
        eps: float = 1e-6,
        on_device: bool = False,
    ) -> None:
        # By the names that PyTorch looks for when it puts a saved state back: where the count of steps must be.
        where = {"fused": on_device, "capturable": on_device}
        defaults = {"lr": lr, "momentum": momentum, "betas": betas, "eps": eps, "weight_decay": 0.0, "muon": False}
        super().__init__(list(groups), {**defaults, **where})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Take one step."""
        if closure is not None:
            raise ValueError("no closure is taken")
        for group in self.param_groups:
            held = [weight for weight in group["params"] if weight.grad is not None]
            if held and group["muon"]:
                self._muon(held, group)
            elif held:
                self._adamw(held, group)

    def _muon(self, weights: list[torch.Tensor], group: dict[str, Any]) -> None:
        kinds: dict[tuple[int, ...], list[torch.Tensor]] = {}
        for weight in weights:
            if weight not in self.state:
                self.state[weight]["momentum"] = torch.zeros_like(weight)
            kinds.setdefault(tuple(weight.shape), []).append(weight)
        for (rows, columns), alike in kinds.items():
            gradients = [weight.grad for weight in alike if weight.grad is not None]
            momenta = [self.state[weight]["momentum"] for weight in alike]
            torch._foreach_lerp_(momenta, gradients, 1 - group["momentum"])
            ahead = torch._foreach_lerp(gradients, momenta, group["momentum"])  # Nesterov's look ahead
            steps = orthogonal(torch.stack(list(ahead)))
            size = _SCALE * max(rows, columns) ** 0.5
            torch._foreach_mul_(alike, 1 - group["lr"] * group["weight_decay"])
            torch._foreach_add_(alike, list((steps * (-group["lr"] * size)).unbind()))

    def _adamw(self, weights: list[torch.Tensor], group: dict[str, Any]) -> None:
        for weight in weights:
            if weight not in self.state:
                self.state[weight] = {
                    "step": torch.zeros((), device=weight.device if group["capturable"] else "cpu"),
                    "exp_avg": torch.zeros_like(weight),
                    "exp_avg_sq": torch.zeros_like(weight),
                }
        kept = [self.state[weight] for weight in weights]
        adamw(
            weights,
            [weight.grad for weight in weights if weight.grad is not None],
            [entry["exp_avg"] for entry in kept],
            [entry["exp_avg_sq"] for entry in kept],
            [],
            [entry["step"] for entry in kept],
            fused=group["fused"],
            capturable=group["capturable"],
            amsgrad=False,
            beta1=group["betas"][0],
            beta2=group["betas"][1],
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=False,
        )


def orthogonal(matrices: torch.Tensor) -> torch.Tensor:
    """About the orthogonal polar factor of each matrix (n, rows, columns), its singular values between 0.68 and 1.21.

    So where they were above 0.002 of the matrix's Frobenius norm; smaller ones stay nearer to 0. In bfloat16 on a GPU.

    >>> found = orthogonal(torch.tensor([[[3.0, 0.0, 0.0], [0.0, 2.0, 0.0]]]))
    >>> bool((found[0, :, 2].abs() < 0.05).all() and (found[0].diagonal() - 1).abs().max() < 0.35)
    True
    """
    wide = matrices.shape[-2] <= matrices.shape[-1]
    kept = torch.bfloat16 if matrices.is_cuda else matrices.dtype
    found = (matrices if wide else matrices.mT).to(kept)
    found = found / found.norm(dim=(-2, -1), keepdim=True).clamp_min(1e-7)
    a, b, c = _COEFFICIENTS
    for _ in range(_ROUNDS):
        gram = found @ found.mT
        found = torch.baddbmm(found, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), found, beta=a)
    return (found if wide else found.mT).to(matrices.dtype)
