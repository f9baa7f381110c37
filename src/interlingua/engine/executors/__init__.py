"""Executors: what runs the steps of a study, one file each; the same jobs, keys and bytes whichever it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from interlingua.errors import InputError
from interlingua.registry import Registry

executors = Registry("executor", "interlingua.engine.executors")

Tell = Callable[[str, str, tuple[str, int, int]], None]
"""Told of a job on its way: "started" or "progress" or "elsewhere", its key, and (stage, done, total)."""


@dataclass(frozen=True)
class Options:
    """What the user says: CPUs and GPU ids (None: all there are), tries that a step gets, a cluster's address."""

    cpus: int | None = None
    gpus: tuple[str, ...] | None = None
    attempts: int = 1
    address: str | None = None

    def __post_init__(self) -> None:
        if (self.cpus is not None and self.cpus < 1) or self.attempts < 1:
            raise InputError("too few CPUs or attempts", value=repr(self), remedy="Give at least 1.")
