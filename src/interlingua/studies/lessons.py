"""What a transfer study is made of: the lesson, and runs with the keys of what they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from interlingua.studies.linkedtexts import LinkedFiles
from interlingua.studies.scenarios import needs_pairs
from interlingua.training.regime import Phase


@dataclass(frozen=True)
class Lesson:
    """What is trained: the task with its labels, examples to train on and, by choice, to choose the best weights by.

    A task without a head (retrieval) has no examples.
    """

    task: Any
    labels: tuple[str, ...] = ()
    train: Any = None
    dev: Any = None

    @property
    def headless(self) -> bool:
        return self.train is None

    @property
    def digest(self) -> str:
        parts = ["" if each is None else each.digest for each in (self.train, self.dev)]
        return f"{self.task!r} {self.labels} {parts}"


@dataclass(frozen=True)
class Run:
    """Phases trained with one seed on the bitexts of some languages; what they share with others is trained once."""

    phases: tuple[Phase, ...]
    spoken: tuple[str, ...]
    seed: int

    def prefixes(self, base: str, bitexts: Mapping[str, LinkedFiles]) -> list[str]:
        """A key for the state after each phase."""
        keys, key = [], f"{base} {self.seed}"
        for phase in self.phases:
            told = [bitexts[code].digest for code in self.spoken] if needs_pairs(phase) else []
            key = blake2b(f"{key} {told} {phase!r}".encode(), digest_size=12).hexdigest()
            keys.append(key)
        return keys
