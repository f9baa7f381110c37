"""Executors: what runs the steps of a graph, one file each; the same jobs, keys and bytes whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from interlingua.engine.process_group import ProcessGroup, current_group
from interlingua.engine.step_runner import Job, Outcome
from interlingua.engine.workspace import Workspace
from interlingua.errors import InputError
from interlingua.registry import Registry

executors = Registry("executor", "interlingua.engine.executors")

Tell = Callable[[str, str, tuple[str, int, int]], None]
"""Called about a job on its way: "started" or "progress" or "elsewhere", its key, and (stage, done, total)."""


@dataclass(frozen=True)
class Options:
    """What the user says: CPUs and GPU ids (None: all there are), tries that a step gets, a cluster's address.

    After `stop_after` seconds no step is begun, and those that can are asked to pause. `group` are the processes that a
    launcher started, which run the same steps together. `device` is where steps compute, None: each by itself finds
    what there is; `cache` a folder in which steps of many runs keep what takes long to make, None: their own;
    `tensorboard` one for the curves of a training while it runs, None: nowhere.
    """

    cpus: int | None = None
    gpus: tuple[str, ...] | None = None
    attempts: int = 1
    address: str | None = None
    stop_after: float | None = None
    device: str | None = None
    cache: Path | None = None
    tensorboard: Path | None = None
    group: ProcessGroup = field(default_factory=current_group, compare=False, repr=False)

    def __post_init__(self) -> None:
        if (self.cpus is not None and self.cpus < 1) or self.attempts < 1:
            raise InputError("too few CPUs or attempts", value=repr(self), remedy="Give at least 1.")


class Executor(Protocol):
    """What is registered: it runs jobs, which come each after what it waits for, and yields what became of them."""

    def __call__(
        self, jobs: Sequence[Job], workspace: Workspace, options: Options, tell: Tell
    ) -> Iterator[Outcome]: ...
