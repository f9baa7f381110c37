"""The one loop. A step is a weighted sum of objectives; what differs between runs is data, not code."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import torch

from interlingua.errors import InputError
from interlingua.training.checkpoints import Checkpoint
from interlingua.training.graphed import Graphed, Update
from interlingua.training.muon import MuonAdamW

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
    optimizer: str = "adamw"
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

    def __init__(self, model: torch.nn.Module, terms: Sequence[Term]) -> None:
        super().__init__()
        self.model, self.terms = model, tuple(terms)

    def forward(self, batches: list[Batch]) -> torch.Tensor:
        losses = [
            term.weight * term.objective.loss(self.model, batch)
            for term, batch in zip(self.terms, batches, strict=True)
        ]
        return torch.stack(losses).sum()


class _Halved(torch.nn.Module):
    """The sum computed with bfloat16 copies of the weights; the weights themselves stay in float32.

    Autocast would keep the norms and the residual stream in float32, and a small model spends its time on moving
    them. The copies are made in the forward, so gradients and the optimiser see float32 weights alone.
    """

    def __init__(self, whole: _Sum) -> None:
        super().__init__()
        self.whole = whole

    def forward(self, batches: list[Batch]) -> torch.Tensor:
        copies = {
            name: weight.to(torch.bfloat16) if weight.is_floating_point() else weight
            for name, weight in self.whole.named_parameters()
        }
        loss: torch.Tensor = torch.func.functional_call(self.whole, copies, (batches,))
        return loss


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

    _check(settings)
    accelerator = Accelerator(cpu=device.type == "cpu")
    model.to(accelerator.device)
    optimizer = _optimizer(model, settings, on_device=accelerator.device.type == "cuda")
    done, metrics = checkpoint.load(model, optimizer) if checkpoint else (0, [])
    undo = [term.objective.prepare(model) for term in terms]
    update, optimizer = _prepared(model, terms, settings, optimizer, accelerator)
    began, since, seen = time.monotonic(), time.monotonic(), done
    model.train()
    for step in range(done, settings.steps):
        # Dropout is a function of seed, step and rank, so no generator state has to be kept.
        torch.manual_seed(_mix(settings.seed, step, accelerator.process_index))
        for group in optimizer.param_groups:
            _set_rate(group, settings.rate(step))
        loss = update(_batches(terms, settings, step, accelerator))
        last = step + 1 == settings.steps
        due = [monitor for monitor in monitors if last or (step + 1) % monitor.every == 0]
        save = settings.checkpoint_every is not None and (step + 1) % settings.checkpoint_every == 0
        if due or last or save or (step + 1) % 100 == 0:
            value = _finite(float(accelerator.reduce(loss, "mean")), step)  # Waits for the device: not at every step.
            if progress and accelerator.is_main_process:
                progress("training", step + 1, settings.steps)
            if due and accelerator.is_main_process:
                rate = (step + 1 - seen) / max(time.monotonic() - since, 1e-9)
                metrics.append({"step": step + 1, "loss": value, "steps_per_second": round(rate, 3)})
                metrics[-1] |= _measured(model, due)
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


def _check(settings: Settings) -> None:
    for what, value, known in (
        ("training precision", settings.precision, ("fp32", "bf16")),
        ("optimiser", settings.optimizer, ("adamw", "muon")),
    ):
        if value not in known:
            raise InputError(f"unknown {what}", value=value, remedy=f"Use {known[0]} or {known[1]}.")


def _prepared(
    model: torch.nn.Module, terms: Sequence[Term], settings: Settings, optimizer: Any, accelerator: Any
) -> tuple[Update, Any]:
    """What takes a step from its batches, and the optimiser, both as this device and these processes want them."""
    whole = _Sum(model, terms)
    module, optimizer = accelerator.prepare(_Halved(whole) if settings.precision == "bf16" else whole, optimizer)
    on_gpu = accelerator.device.type == "cuda"
    if settings.compile:
        module = torch.compile(module)
    update: Update = partial(_update, module, settings, accelerator, optimizer)
    if settings.compile and on_gpu and accelerator.num_processes == 1:
        update = Graphed(update)
    return update, optimizer


def _measured(model: torch.nn.Module, due: Sequence[Monitor]) -> dict[str, float]:
    model.eval()
    found: dict[str, float] = {}
    for monitor in due:
        found |= monitor.measure(model)
    model.train()
    return found


def _finite(value: float, step: int) -> float:
    if not math.isfinite(value):
        raise InputError(f"the loss is not finite at step {step + 1}", value=value, remedy="Lower the learning rate.")
    return value


def _batches(terms: Sequence[Term], settings: Settings, step: int, accelerator: Any) -> list[list[Batch]]:
    """The batches of a step, accumulated parts × terms."""
    rank, world, device = accelerator.process_index, accelerator.num_processes, accelerator.device
    return [
        [
            term.objective.batch(step * settings.accumulate + part, rank=rank, world=world, device=device)
            for term in terms
        ]
        for part in range(settings.accumulate)
    ]


def _update(
    module: Any, settings: Settings, accelerator: Any, optimizer: Any, batches: list[list[Batch]]
) -> torch.Tensor:
    """One optimiser step; its loss, still on the device."""
    total = torch.zeros((), device=accelerator.device)
    for part in batches:
        loss = module(part) / settings.accumulate
        accelerator.backward(loss)
        total += loss.detach()
    if settings.clip is not None:
        accelerator.clip_grad_norm_(module.parameters(), settings.clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return total


def _set_rate(group: dict[str, Any], rate: float) -> None:
    if isinstance(group["lr"], torch.Tensor):
        group["lr"].fill_(rate)
    else:
        group["lr"] = rate


def _agreed(over: bool, accelerator: Any) -> bool:
    """Whether the first process says so: clocks differ, and a process that leaves alone makes the others wait."""
    from accelerate.utils import broadcast_object_list

    return bool(broadcast_object_list([over])[0]) if accelerator.num_processes > 1 else over


def _optimizer(model: torch.nn.Module, settings: Settings, *, on_device: bool) -> torch.optim.Optimizer:
    """AdamW, or Muon for the matrices and AdamW for the rest; biases and norms do not decay.

    `on_device` keeps the learning rate and the count of steps there, as a recorded step needs.
    """
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    rate = torch.tensor(settings.learning_rate, device=trained[0].device) if on_device else settings.learning_rate
    inner = _inner(model) if settings.optimizer == "muon" else set()
    groups: list[dict[str, Any]] = [
        {"params": [w for w in trained if id(w) in inner], "weight_decay": settings.weight_decay, "muon": True},
        {
            "params": [w for w in trained if w.ndim >= 2 and id(w) not in inner],
            "weight_decay": settings.weight_decay,
        },
        {"params": [w for w in trained if w.ndim < 2], "weight_decay": 0.0},
    ]
    if settings.optimizer == "muon":
        return MuonAdamW(groups, lr=rate, betas=settings.betas, eps=settings.eps, on_device=on_device)
    return torch.optim.AdamW(
        groups[1:], lr=rate, betas=settings.betas, eps=settings.eps, fused=on_device, capturable=on_device
    )


def _inner(model: torch.nn.Module) -> set[int]:
    """The weights of linear maps between hidden layers: no embedding, nor an output tied to one or as large."""
    tied = {id(module.weight) for module in model.modules() if isinstance(module, torch.nn.Embedding)}
    words = getattr(model, "get_input_embeddings", lambda: None)()
    vocabulary = None if words is None else words.weight.shape[0]
    return {
        id(module.weight)
        for module in model.modules()
        if isinstance(module, torch.nn.Linear) and id(module.weight) not in tied and module.out_features != vocabulary
    }


def _mix(*numbers: int) -> int:
    """A seed made of several numbers, well spread."""
    return int.from_bytes(hashlib.blake2b(repr(numbers).encode(), digest_size=7).digest(), "little")
