"""What a training keeps of its steps: metrics, progress, best weights, early stop."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from interlingua.engine.atomic_files import write_atomically
from interlingua.errors import InputError, MissingExtra
from interlingua.paths import json_value
from interlingua.training.checkpoints import Checkpoint, put_weights, weights_of


class BestWeights:
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


class Journal:
    """One JSON line per step: its number, the loss, each term's loss, the gradient's norm and the learning rate.

    Readings stay on the device until `flush`, so that no step waits. A run that goes on drops the lines after its
    checkpoint: they come again. With `tensorboard`, a folder, the same goes there (extra `tensorboard`).
    """

    def __init__(self, file: Path, *, tensorboard: Path | None = None) -> None:
        self._file, self._board_folder = file, tensorboard
        self._board: Any = None
        if tensorboard is not None:
            _writer()  # Told before the first second of compute.
        self._waiting: list[tuple[int, float, torch.Tensor]] = []

    def begin(self, done: int) -> None:
        """Begin, or go on after `done` steps."""
        self._waiting.clear()
        self._file.parent.mkdir(parents=True, exist_ok=True)
        kept = [json.dumps(line) for line in read_journal(self._file) if line["step"] <= done]
        write_atomically(self._file, lambda file: file.write("".join(f"{line}\n" for line in kept).encode()))
        if self._board_folder is not None:
            self._board = _writer()(str(self._board_folder), purge_step=done + 1)

    def add(self, step: int, rate: float, readings: torch.Tensor) -> None:
        """Take note of a step: the loss, the terms' losses and the gradient's norm, wherever they are."""
        self._waiting.append((step, rate, readings))

    def waiting(self) -> torch.Tensor | None:
        """The readings that are not yet written, (step, reading)."""
        return torch.stack([readings for _, _, readings in self._waiting]) if self._waiting else None

    def flush(self, values: torch.Tensor | None, names: Sequence[str], *, write: bool) -> None:
        """Write what waits, as `values` has it (the mean over processes); only one process writes."""
        rows = [] if values is None else values.tolist()
        if write and rows:
            lines = [
                {"step": step, "rate": rate, **dict(zip(names, row, strict=True))}
                for (step, rate, _), row in zip(self._waiting, rows, strict=True)
            ]
            with self._file.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
            for line in lines:
                self.measured(int(line["step"]), {name: value for name, value in line.items() if name != "step"})
        self._waiting.clear()

    def measured(self, step: int, values: Mapping[str, Any]) -> None:
        """Show values of a step in TensorBoard."""
        if self._board is not None:
            for name, value in values.items():
                self._board.add_scalar(name, value, step)

    def close(self) -> None:
        if self._board is not None:
            self._board.close()
            self._board = None


def read_journal(file: Path) -> list[dict[str, Any]]:
    """The lines of a journal; one that a kill cut short is left out, with what follows it."""
    found: list[dict[str, Any]] = []
    if file.is_file():
        for line in file.read_text("utf-8").splitlines():
            try:
                found.append(json_value(line))
            except json.JSONDecodeError:
                break
    return found


def _writer() -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtra("tensorboard", "writing TensorBoard files") from error
    return SummaryWriter


Progress = Callable[[str, int, int], None]

_SPEAK = 2.0  # seconds between two words on progress


@dataclass(frozen=True)
class Monitor:
    """Something measured during training: at regular steps, and at the end."""

    every: int
    measure: Callable[[torch.nn.Module], dict[str, float]]


@dataclass
class TrainingLog:
    """The books of one run. All processes keep them, since some entries need all; the first one writes."""

    model: torch.nn.Module
    accelerator: Any
    names: Sequence[str]
    monitors: Sequence[Monitor] = ()
    checkpoint: Checkpoint | None = None
    journal: Journal | None = None
    best: BestWeights | None = None
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

        A step at which only some monitors measured may lack the metric, and shows nothing about the weights then.
        """
        if self.best is None:
            return False
        main = self.accelerator.is_main_process
        told = main and (whole or self.best.measured_in(self.metrics[-1]))
        better = broadcast_decision(told and self.best.consider(self.metrics[-1]), self.accelerator)
        if better:
            self.best.keep(self.model)
        return broadcast_decision(self.best.exhausted, self.accelerator)

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


def broadcast_decision(said: bool, accelerator: Any) -> bool:
    """Whether the first process says so: clocks differ, and a process that leaves alone makes the others wait."""
    from accelerate.utils import broadcast_object_list

    return bool(broadcast_object_list([said])[0]) if accelerator.num_processes > 1 else said


def _finite(value: float, step: int) -> float:
    if not math.isfinite(value):
        raise InputError(f"the loss is not finite at step {step}", value=value, remedy="Lower the learning rate.")
    return value
