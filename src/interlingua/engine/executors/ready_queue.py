"""Which jobs may run now: those whose needs are done; what a failure blocks; what another run is at."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

from interlingua.engine.step import Resources
from interlingua.engine.step_runner import BLOCKED, DONE, FAILED, Job, Outcome


class ReadyQueue:
    """The jobs of a run and how far they are; jobs come each after what it needs."""

    def __init__(self, jobs: Sequence[Job], *, attempts: int = 1) -> None:
        self._jobs = {job.key: job for job in jobs}
        self._order = {job.key: number for number, job in enumerate(jobs)}
        self._waits = {job.key: len(job.after) for job in jobs}
        self._next: dict[str, list[str]] = {}
        for job in jobs:
            for key in job.after:
                self._next.setdefault(key, []).append(job.key)
        self._tries = dict.fromkeys(self._jobs, attempts)
        self._open = set(self._jobs)
        # One heap for each shape of resources: to find the first that fits, a few shapes are looked at, not all jobs.
        self._ready: dict[Resources, list[int]] = {}
        self._keys = [job.key for job in jobs]
        self._later: dict[str, float] = {}
        for job in jobs:
            if not job.after:
                self.offer(job.key)

    def is_over(self) -> bool:
        return not self._open

    def offer(self, key: str) -> None:
        """Let a job run as soon as it fits."""
        heapq.heappush(self._ready.setdefault(self._jobs[key].resources, []), self._order[key])

    def choose(self, fits: Callable[[Resources], bool]) -> Job | None:
        """The first job in the graph's order that may run and fits; None where there is none."""
        fitting = [heap for shape, heap in self._ready.items() if heap and fits(shape)]
        return self._jobs[self._keys[heapq.heappop(min(fitting, key=lambda heap: heap[0]))]] if fitting else None

    def put_off(self, key: str, until: float) -> None:
        """Look at a job again at a time: another run is at it."""
        self._later[key] = until

    def due(self, now: float) -> list[str]:
        """The jobs whose time has come to be looked at again."""
        found = [key for key, until in self._later.items() if until <= now]
        for key in found:
            del self._later[key]
        return found

    def patience(self, now: float) -> float | None:
        """How long nothing need be looked at; None: until a worker speaks."""
        return max(min(self._later.values()) - now, 0.0) if self._later else None

    def settle(self, outcome: Outcome) -> Iterator[Outcome]:
        """Take in what became of a job; yields what is final: itself, and those it blocks."""
        key = outcome.key
        if outcome.status == FAILED and self._tries[key] > 1 and outcome.ran:
            self._tries[key] -= 1
            self.offer(key)
            return
        self._open.discard(key)
        yield outcome
        for after in self._next.get(key, ()):
            if outcome.status == DONE:
                self._waits[after] -= 1
                if self._waits[after] == 0 and after in self._open:
                    self.offer(after)
            elif after in self._open:
                yield from self._block(after)

    def _block(self, first: str) -> Iterator[Outcome]:
        stack = [first]
        while stack:
            key = stack.pop()
            if key in self._open:
                self._open.discard(key)
                yield Outcome(key, BLOCKED)
                stack += self._next.get(key, ())
