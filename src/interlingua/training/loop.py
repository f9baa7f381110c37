"""The one training loop: batches, precision, accumulation, clipping, checkpoints, monitors."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import torch

from interlingua.errors import InputError
from interlingua.training.checkpoints import Checkpoint
from interlingua.training.cuda_graph import CudaGraphStep, Update
from interlingua.training.forward import share_within_sum
from interlingua.training.journal import BestWeights, Journal, Monitor, Progress, TrainingLog, broadcast_decision
from interlingua.training.muon import MuonAdamW


class Bf16Module(torch.nn.Module):
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


__all__ = ["Batch", "LoopSettings", "Monitor", "Objective", "Progress", "Term", "train"]

Batch = dict[str, torch.Tensor]


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
    """An objective, its weight in the sum, and its name in what is written of each step."""

    weight: float
    objective: Objective
    name: str = ""


@dataclass(frozen=True)
class LoopSettings:
    """How a run is trained. The learning rate warms up linearly, holds, and decays linearly to `floor` times the peak.

    `decay` is the share of the steps that decay; 1 - warmup/steps is plain linear decay. `graph` records steps as CUDA
    graphs, as `compile` does too, where one GPU trains alone. `static_shapes` compiles each shape of a batch by itself,
    which is quicker where there are few. `partial` says that some trained weights may get no gradient (layers above the
    last one that is read), which several processes must know. `best` is a metric of a
    monitor: the run ends with the weights that had the highest value (`-name`: the lowest), and, with `patience`,
    after that many measurements in a row without a better one.
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
    graph: bool = False
    static_shapes: bool = False
    partial: bool = False
    optimizer: str = "adamw"
    seed: int = 0
    checkpoint_every: int | None = None
    best: str | None = None
    patience: int | None = None

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 0.

        >>> [round(LoopSettings(10, 1.0, warmup=2, decay=0.5).rate(step), 2) for step in (0, 1, 4, 5, 9)]
        [0.5, 1.0, 1.0, 1.0, 0.2]
        """
        up = (step + 1) / self.warmup if step < self.warmup else 1.0
        tail = max(min(self.decay, 1.0) * self.steps, 1.0)
        down = self.floor + (1 - self.floor) * min((self.steps - step) / tail, 1.0)
        return self.learning_rate * min(up, down)


class _Sum(torch.nn.Module):
    """The losses of the terms as one module, (term,): one forward serves compilation and several processes."""

    def __init__(self, model: torch.nn.Module, terms: Sequence[Term]) -> None:
        super().__init__()
        self.model, self.terms = model, tuple(terms)

    def forward(self, batches: list[Batch]) -> torch.Tensor:
        return torch.stack(
            [term.objective.loss(self.model, batch).float() for term, batch in zip(self.terms, batches, strict=True)]
        )


def train(
    model: torch.nn.Module,
    terms: Sequence[Term],
    settings: LoopSettings,
    *,
    device: torch.device,
    checkpoint: Checkpoint | None = None,
    monitors: Sequence[Monitor] = (),
    journal: Journal | None = None,
    progress: Progress | None = None,
    stop_after: float | None = None,
) -> list[dict[str, Any]]:
    """Train the model in place; the metrics of the steps that were measured.

    Runs on one process or on several (`torchrun`, `accelerate launch`). With a checkpoint, continues from the
    newest state. The journal takes the metrics of every step. `stop_after` seconds ends the run early after saving
    its state; a later call goes on.
    """
    _check(settings, device, monitors)
    accelerator = _accelerator(settings, device)
    model.to(accelerator.device)
    optimizer = _optimizer(model, settings, on_device=accelerator.device.type == "cuda")
    best = None if settings.best is None else BestWeights(settings.best, settings.patience)
    names = ("loss", *_names(terms), "gradient_norm")
    books = TrainingLog(model, accelerator, names, monitors, checkpoint, journal, best, progress)
    done = books.begin(optimizer)
    undo = [term.objective.prepare(model) for term in terms]
    update, prepared = _prepared(model, terms, settings, optimizer, accelerator, norm=journal is not None)
    began = time.monotonic()
    model.train()
    for step in range(done if done >= 0 else settings.steps, settings.steps):
        # Dropout is a function of seed, step and rank, so no generator state has to be kept.
        torch.manual_seed(_mix(settings.seed, step, accelerator.process_index))
        for group in prepared.param_groups:
            _set_rate(group, settings.rate(step))
        readings = update(_batches(terms, settings, step, accelerator))
        books.tell(step + 1, settings.steps)
        if journal:
            journal.add(step + 1, settings.rate(step), readings)
        last = step + 1 == settings.steps
        save = settings.checkpoint_every is not None and (step + 1) % settings.checkpoint_every == 0
        over = stop_after is not None and broadcast_decision(time.monotonic() - began > stop_after, accelerator)
        due = books.due(step + 1, last=last)
        flush = last or save or over or (step + 1) % 100 == 0
        if due or flush:
            last = books.enter(step + 1, settings.steps, readings, due) or last
        if flush or last:
            books.flush()
        if save or last or over:
            books.save(step + 1, optimizer, finished=last)
        if last or over:
            break
    accelerator.wait_for_everyone()
    books.close()
    for take_back in undo:
        take_back()
    model.eval()
    return books.metrics


def _check(settings: LoopSettings, device: torch.device, monitors: Sequence[Monitor]) -> None:
    for what, value, known in (
        ("training precision", settings.precision, ("fp32", "bf16", "fp16")),
        ("optimiser", settings.optimizer, ("adamw", "muon")),
    ):
        if value not in known:
            raise InputError(f"unknown {what}", value=value, remedy=f"Use {', '.join(known[:-1])} or {known[-1]}.")
    if settings.precision == "fp16" and device.type == "cpu":
        raise InputError("fp16 is for GPUs", value="fp16", remedy="Use fp32 on a CPU.")
    if settings.precision == "fp16" and (settings.graph or settings.compile):
        raise InputError(
            "fp16 looks at every gradient before a step, which no recorded step can",
            remedy="Use bf16, or neither graph nor compile.",
        )
    if settings.best is not None and not monitors:
        raise InputError("nothing is measured to be best by", value=settings.best, remedy="Give a monitor.")
    if settings.patience is not None and (settings.best is None or settings.patience < 1):
        raise InputError(
            "patience is for a metric, and at least 1", value=settings.patience, remedy="Name the metric in `best`."
        )


def _accelerator(settings: LoopSettings, device: torch.device) -> Any:
    from accelerate import Accelerator, DistributedDataParallelKwargs
    from accelerate.state import AcceleratorState

    # The precision of the first run of a process would else be that of all.
    AcceleratorState._reset_state()
    return Accelerator(
        cpu=device.type == "cpu",
        # Scaling and autocast are accelerate's; bf16 is ours, by copies of the weights.
        mixed_precision="fp16" if settings.precision == "fp16" else "no",
        kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=settings.partial)],
    )


def _names(terms: Sequence[Term]) -> list[str]:
    """A name for each term, none twice."""
    names: list[str] = []
    for term in terms:
        name = term.name or type(term.objective).__name__.lower()
        names.append(name if name not in names else f"{name} {len(names) + 1}")
    return names


def _prepared(
    model: torch.nn.Module,
    terms: Sequence[Term],
    settings: LoopSettings,
    optimizer: Any,
    accelerator: Any,
    *,
    norm: bool,
) -> tuple[Update, Any]:
    """What takes a step from its batches, and the optimiser, both as this device and these processes want them."""
    module: torch.nn.Module = _Sum(model, terms)
    if settings.precision == "bf16":
        module = Bf16Module(module, together=accelerator.num_processes == 1 and not settings.compile)
    module, optimizer = accelerator.prepare(module, optimizer)
    on_gpu = accelerator.device.type == "cuda"
    if settings.compile:
        module = torch.compile(module, dynamic=False if settings.static_shapes else None)  # type: ignore[assignment]
    weights = tuple(term.weight for term in terms)
    update: Update = partial(_update, module, settings, accelerator, optimizer, weights, norm)
    if (settings.compile or settings.graph) and on_gpu and accelerator.num_processes == 1:
        update = CudaGraphStep(update)
    return update, optimizer


def _batches(terms: Sequence[Term], settings: LoopSettings, step: int, accelerator: Any) -> list[list[Batch]]:
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
    module: Any,
    settings: LoopSettings,
    accelerator: Any,
    optimizer: Any,
    weights: tuple[float, ...],
    norm: bool,
    batches: list[list[Batch]],
) -> torch.Tensor:
    """One optimiser step; its loss, each term's loss and the gradient's norm, still on the device."""
    readings = torch.zeros(len(weights) + 2, device=accelerator.device)
    for part in batches:
        with share_within_sum():
            losses = module(part) / settings.accumulate
        loss = torch.stack([weight * term for weight, term in zip(weights, losses, strict=True)]).sum()
        accelerator.backward(loss)
        readings[0] += loss.detach()
        readings[1:-1] += losses.detach()
    if settings.clip is not None:
        readings[-1] = accelerator.clip_grad_norm_(module.parameters(), settings.clip)
    elif norm:
        accelerator.unscale_gradients(optimizer)
        held = [weight.grad for weight in module.parameters() if weight.grad is not None]
        readings[-1] = torch.nn.utils.get_total_norm(held)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return readings


def _set_rate(group: dict[str, Any], rate: float) -> None:
    if isinstance(group["lr"], torch.Tensor):
        group["lr"].fill_(rate)
    else:
        group["lr"] = rate


def _optimizer(model: torch.nn.Module, settings: LoopSettings, *, on_device: bool) -> torch.optim.Optimizer:
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
    # One kernel for all of AdamW; a CPU has it, too.
    fused = on_device or trained[0].device.type == "cpu"
    return torch.optim.AdamW(
        groups[1:], lr=rate, betas=settings.betas, eps=settings.eps, fused=fused, capturable=on_device
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
