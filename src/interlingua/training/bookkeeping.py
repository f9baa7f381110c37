"""What a run keeps of itself: metrics of its steps, what monitors measured, the best weights, its state."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from interlingua.errors import InputError
from interlingua.training.best import Best
from interlingua.training.checkpoints import Checkpoint
from interlingua.training.metrics import Journal

Progress = Callable[[str, int, int], None]

_SPEAK = 2.0  # seconds between two words on progress


@dataclass(frozen=True)
class Monitor:
    """Something measured during training: every so many steps, and at the end."""

    every: int
    measure: Callable[[torch.nn.Module], dict[str, float]]


@dataclass
class Books:
    """The books of one run. All processes keep them, since some entries need all; the first one writes."""

    model: torch.nn.Module
    accelerator: Any
    names: Sequence[str]
    monitors: Sequence[Monitor] = ()
    checkpoint: Checkpoint | None = None
    journal: Journal | None = None
    best: Best | None = None
    progress: Progress | None = None
    metrics: list[dict[str, Any]] = field(default_factory=list)
    _since: tuple[float, int] = (0.0, 0)
    _told: float = 0.0

    def begin(self, optimizer: torch.optim.Optimizer) -> int:
        """Take up the newest state; the number of finished steps, -1 where the whole run is."""
        done = 0
        state: dict[str, Any] = {}
        if self.checkpoint:
            done, self.metrics = self.checkpoint.load(self.model, optimizer)
            state = self.checkpoint.state()
            if self.best:
                self.best.go_on(state.get("best") or {}, self.checkpoint.best())
        if self.accelerator.scaler is not None and state.get("scaler"):
            self.accelerator.scaler.load_state_dict(state["scaler"])
        if self.journal and self.accelerator.is_main_process:
            self.journal.begin(done)
        self._since = (time.monotonic(), done)
        return -1 if state.get("finished") else done

    def due(self, step: int, *, last: bool) -> list[Monitor]:
        """The monitors that measure after a step."""
        return [monitor for monitor in self.monitors if last or step % monitor.every == 0]

    def tell(self, step: int, steps: int) -> None:
        """Say how far it is, every two seconds at most, without waiting for the device."""
        if self.progress and self.accelerator.is_main_process and time.monotonic() - self._told > _SPEAK:
            self._told = time.monotonic()
            self.progress("training", step, steps)

    def enter(self, step: int, steps: int, readings: torch.Tensor, due: Sequence[Monitor]) -> bool:
        """Take note of a step; whether better weights are no longer looked for. Waits for the device."""
        value = _finite(float(self.accelerator.reduce(readings, "mean")[0]), step)
        if self.accelerator.is_main_process:
            if self.progress:
                self.progress("training", step, steps)
            if due:
                self._measure(step, value, due)
        return bool(due) and self._considered(whole=len(due) == len(self.monitors))

    def flush(self) -> None:
        """Write what the journal holds: before a state is saved and now and then, not whenever a monitor measures."""
        if self.journal:
            waiting = self.journal.waiting()
            values = None if waiting is None else self.accelerator.reduce(waiting, "mean")
            self.journal.flush(values, self.names, write=self.accelerator.is_main_process)

    def _measure(self, step: int, loss: float, due: Sequence[Monitor]) -> None:
        rate = (step - self._since[1]) / max(time.monotonic() - self._since[0], 1e-9)
        found: dict[str, Any] = {"step": step, "loss": loss, "steps_per_second": round(rate, 3)}
        self.model.eval()
        for monitor in due:
            found |= monitor.measure(self.model)
        self.model.train()
        self.metrics.append(found)
        if self.journal:
            self.journal.measured(step, {name: value for name, value in found.items() if name != "step"})
        self._since = (time.monotonic(), step)

    def _considered(self, *, whole: bool) -> bool:
        """Keep the weights where they are the best so far; whether to stop. The first process decides for all.

        A step at which only some monitors measured may lack the metric, and says nothing of the weights then.
        """
        if self.best is None:
            return False
        main = self.accelerator.is_main_process
        told = main and (whole or self.best.measured_in(self.metrics[-1]))
        better = agreed(told and self.best.consider(self.metrics[-1]), self.accelerator)
        if better:
            self.best.keep(self.model)
        return agreed(self.best.exhausted, self.accelerator)

    def save(self, step: int, optimizer: torch.optim.Optimizer, *, finished: bool) -> None:
        """Save the state; at the end of the run with the best weights, where there are any."""
        if finished and self.best:
            self.best.restore(self.model)
        if self.checkpoint is None or not self.accelerator.is_main_process:
            return
        scaler = self.accelerator.scaler
        more = {
            "finished": finished,
            "scaler": None if scaler is None else scaler.state_dict(),
            "best": None if self.best is None else self.best.to_dict(),
        }
        best = None if self.best is None or finished else self.best.weights
        self.checkpoint.save(step, self.model, optimizer, self.metrics, more=more, best=best)

    def close(self) -> None:
        if self.journal:
            self.journal.close()


def agreed(said: bool, accelerator: Any) -> bool:
    """Whether the first process says so: clocks differ, and a process that leaves alone makes the others wait."""
    from accelerate.utils import broadcast_object_list

    return bool(broadcast_object_list([said])[0]) if accelerator.num_processes > 1 else said


def _finite(value: float, step: int) -> float:
    if not math.isfinite(value):
        raise InputError(f"the loss is not finite at step {step}", value=value, remedy="Lower the learning rate.")
    return value
