"""The one loop. A step is a weighted sum of objectives; what differs between runs is data, not code."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from interlingua.errors import InputError
from interlingua.training.checkpoints import Checkpoint

Batch = dict[str, torch.Tensor]
Progress = Callable[[str, int, int], None]


class Objective(Protocol):
    """A differentiable loss with its own data."""

    def prepare(self, model: torch.nn.Module) -> Callable[[], None]:
        """Make the model ready for `loss`, before the first step; the call that undoes it after the last."""
        ...

    def batch(self, step: int, *, rank: int, world: int, device: torch.device) -> Batch:
        """This process's share of the batch of a step: a pure function of the seed and the step."""
        ...

    def loss(self, model: torch.nn.Module, batch: Batch) -> torch.Tensor:
        """The mean loss of a batch."""
        ...


@dataclass(frozen=True)
class Term:
    """An objective and its weight in the sum."""

    weight: float
    objective: Objective


@dataclass(frozen=True)
class Monitor:
    """Something measured during training: every so many steps, and at the end."""

    every: int
    measure: Callable[[torch.nn.Module], dict[str, float]]


@dataclass(frozen=True)
class Settings:
    """How a run is trained. The learning rate warms up linearly, holds, and decays linearly to `floor` times the peak.

    `decay` is the share of the steps that decay; 1 - warmup/steps is plain linear decay.
    """

    steps: int
    learning_rate: float
    warmup: int = 0
    decay: float = 1.0
    floor: float = 0.0
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-6
    clip: float | None = 1.0
    accumulate: int = 1
    precision: str = "fp32"
    compile: bool = False
    seed: int = 0
    checkpoint_every: int | None = None

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 0.

        >>> [round(Settings(10, 1.0, warmup=2, decay=0.5).rate(step), 2) for step in (0, 1, 4, 5, 9)]
        [0.5, 1.0, 1.0, 1.0, 0.2]
        """
        up = (step + 1) / self.warmup if step < self.warmup else 1.0
        tail = max(min(self.decay, 1.0) * self.steps, 1.0)
        down = self.floor + (1 - self.floor) * min((self.steps - step) / tail, 1.0)
        return self.learning_rate * min(up, down)


class _Sum(torch.nn.Module):
    """The weighted sum of the terms' losses as one module: one forward serves compilation and several processes."""

    def __init__(self, model: torch.nn.Module, terms: Sequence[Term], *, mixed: bool, device: str) -> None:
        super().__init__()
        self.model, self.terms, self._mixed, self._device = model, tuple(terms), mixed, device

    def forward(self, batches: list[Batch]) -> torch.Tensor:
        # Inside the module, so that it is compiled with the rest.
        with torch.autocast(self._device, torch.bfloat16, enabled=self._mixed):
            return self._sum(batches)

    def _sum(self, batches: list[Batch]) -> torch.Tensor:
        losses = [
            term.weight * term.objective.loss(self.model, batch)
            for term, batch in zip(self.terms, batches, strict=True)
        ]
        return torch.stack(losses).sum()


def train(
    model: torch.nn.Module,
    terms: Sequence[Term],
    settings: Settings,
    *,
    device: torch.device,
    checkpoint: Checkpoint | None = None,
    monitors: Sequence[Monitor] = (),
    progress: Progress | None = None,
    stop_after: float | None = None,
) -> list[dict[str, Any]]:
    """Train the model in place; the metrics of the steps that were measured.

    Runs on one process or on several (`torchrun`, `accelerate launch`). With a checkpoint, goes on from the
    newest state. `stop_after` seconds ends the run early after saving its state; a later call goes on.
    """
    from accelerate import Accelerator

    if settings.precision not in ("fp32", "bf16"):
        raise InputError("unknown training precision", value=settings.precision, remedy="Use fp32 or bf16.")
    accelerator = Accelerator(cpu=device.type == "cpu")
    rank, device = accelerator.process_index, accelerator.device
    model.to(device)
    optimizer = _optimizer(model, settings, fused=device.type == "cuda")
    done, metrics = checkpoint.load(model, optimizer) if checkpoint else (0, [])
    undo = [term.objective.prepare(model) for term in terms]
    whole = _Sum(model, terms, mixed=settings.precision == "bf16", device=device.type)
    step_module, optimizer = accelerator.prepare(whole, optimizer)
    if settings.compile:
        step_module = torch.compile(step_module)
    began, since, seen = time.monotonic(), time.monotonic(), done
    model.train()
    for step in range(done, settings.steps):
        # Dropout is a function of seed, step and rank, so no generator state has to be kept.
        torch.manual_seed(_mix(settings.seed, step, rank))
        for group in optimizer.param_groups:
            group["lr"] = settings.rate(step)
        loss = _step(step_module, terms, settings, step, accelerator=accelerator, optimizer=optimizer)
        last = step + 1 == settings.steps
        due = [monitor for monitor in monitors if last or (step + 1) % monitor.every == 0]
        save = settings.checkpoint_every is not None and (step + 1) % settings.checkpoint_every == 0
        if due or last or save or (step + 1) % 100 == 0:
            value = float(accelerator.reduce(loss, "mean"))  # Waits for the device, so not at every step.
            if not math.isfinite(value):
                raise InputError(
                    f"the loss is not finite at step {step + 1}", value=value, remedy="Lower the learning rate."
                )
            if progress and accelerator.is_main_process:
                progress("training", step + 1, settings.steps)
            if due and accelerator.is_main_process:
                rate = (step + 1 - seen) / max(time.monotonic() - since, 1e-9)
                entry = {"step": step + 1, "loss": value, "steps_per_second": round(rate, 3)}
                model.eval()
                for monitor in due:
                    entry |= monitor.measure(model)
                model.train()
                metrics.append(entry)
                since, seen = time.monotonic(), step + 1
        over = stop_after is not None and _agreed(time.monotonic() - began > stop_after, accelerator)
        if checkpoint and accelerator.is_main_process and (save or last or over):
            checkpoint.save(step + 1, model, optimizer.optimizer, metrics)
        if over:
            break
    accelerator.wait_for_everyone()
    for take_back in undo:
        take_back()
    model.eval()
    return metrics


def _step(
    module: Any, terms: Sequence[Term], settings: Settings, step: int, *, accelerator: Any, optimizer: Any
) -> torch.Tensor:
    """One optimiser step; its loss, still on the device."""
    total = torch.zeros((), device=accelerator.device)
    for micro in range(settings.accumulate):
        number = step * settings.accumulate + micro
        batches = [
            term.objective.batch(
                number, rank=accelerator.process_index, world=accelerator.num_processes, device=accelerator.device
            )
            for term in terms
        ]
        loss = module(batches) / settings.accumulate
        accelerator.backward(loss)
        total += loss.detach()
    if settings.clip is not None:
        accelerator.clip_grad_norm_(module.parameters(), settings.clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return total


def _agreed(over: bool, accelerator: Any) -> bool:
    """Whether the first process says so: clocks differ, and a process that leaves alone makes the others wait."""
    from accelerate.utils import broadcast_object_list

    return bool(broadcast_object_list([over])[0]) if accelerator.num_processes > 1 else over


def _optimizer(model: torch.nn.Module, settings: Settings, *, fused: bool) -> torch.optim.AdamW:
    """AdamW; biases and norms do not decay."""
    trained = [(name, weight) for name, weight in model.named_parameters() if weight.requires_grad]
    groups = [
        {"params": [w for _, w in trained if w.ndim >= 2], "weight_decay": settings.weight_decay},
        {"params": [w for _, w in trained if w.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, betas=settings.betas, eps=settings.eps, fused=fused)


def _mix(*numbers: int) -> int:
    """A seed made of several numbers, well spread."""
    return int.from_bytes(hashlib.blake2b(repr(numbers).encode(), digest_size=7).digest(), "little")
