"""The metrics of every step: kept on the device, written as JSON lines beside the checkpoint, and to TensorBoard."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from interlingua.atomic_files import write_beside
from interlingua.errors import MissingExtra
from interlingua.paths import json_value


class Journal:
    """One JSON line a step: its number, the loss, each term's loss, the gradient's norm and the learning rate.

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
        write_beside(self._file, lambda file: file.write("".join(f"{line}\n" for line in kept).encode()))
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
