"""A study's graph, run: what is not done goes to an executor; records, times and failures are kept."""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from interlingua.engine.disk import sweep
from interlingua.engine.executors import Options, executors
from interlingua.engine.graph import Graph, State
from interlingua.engine.records import cannot_write, collect
from interlingua.engine.step_runner import BLOCKED, DONE, FAILED, FULL, Job, Outcome
from interlingua.engine.workspace import Failure, Workspace
from interlingua.errors import InputError, InterlinguaError

_KEEP = 1.0  # seconds between two writes of times


@dataclass(frozen=True)
class Event:
    """Something to show: what became of which step, and how far the run is.

    `what` is started, progress, elsewhere (another run is at it), done, failed, blocked, broken (so it runs again).
    `label` is "" where it is of no one step. `stage`, `done` and `of` are what a step itself says of its progress.
    """

    what: str
    label: str
    finished: int
    total: int
    stage: str = ""
    done: int = 0
    of: int = 0


@dataclass(frozen=True)
class Ran:
    """What a run did: steps run now, done before, failed now or earlier, blocked by those; the number of records."""

    done: int
    reused: int
    failed: tuple[Failure, ...]
    blocked: int
    records: int


def run(
    graph: Graph,
    workspace: Workspace,
    *,
    executor: str = "here",
    options: Options | None = None,
    retry: bool = False,
    tell: Callable[[Event], None] | None = None,
) -> Ran:
    """Run what is needed and not done, and gather the records of all that is; see `Ran`.

    A failed step fails those that need it, and the rest goes on; it is left alone by later runs unless `retry`. A run
    that was killed or stopped goes on where it was when it is started again, and a finished one runs nothing.
    """
    entry, fresh = executors[executor], not workspace.folder.exists()
    with _clearly(workspace):
        workspace.make()
        sweep(workspace)
        broken = _drop_broken(graph, workspace)
        if retry:
            for key in workspace.failures().keys() & {step.key for step in graph}:
                workspace.failure(key).unlink(missing_ok=True)
        states = graph.states(workspace)
    running = {key for key, state in states.items() if state is State.NEEDED}
    jobs = [Job.of(step, running=running) for step in graph if step.key in running]
    book = _Book(graph, workspace, states, len(jobs), tell)
    for key in broken:
        book.hear("broken", key, ("", 0, 0))
    if jobs:  # Nothing to run: no worker, no cluster.
        try:
            with closing(entry.call(jobs, workspace, options or Options(), book.hear)) as outcomes:
                for outcome in outcomes:
                    book.enter(outcome)
        except InterlinguaError:
            if fresh and not any(file.stat().st_size for file in workspace.folder.rglob("*") if file.is_file()):
                shutil.rmtree(workspace.folder)  # Nothing was begun: no cluster, no such device.
            raise
        finally:
            if workspace.folder.is_dir():
                book.keep_times()
    with _clearly(workspace):
        return book.closed(collect(graph, workspace))


@contextmanager
def _clearly(workspace: Workspace) -> Iterator[None]:
    """A full or forbidden disk is a clear error."""
    try:
        yield
    except OSError as error:
        raise cannot_write(workspace.folder, error) from error


def _drop_broken(graph: Graph, workspace: Workspace) -> list[str]:
    """Remove the finished steps that are not as they were left; their keys."""
    broken = workspace.broken(workspace.done() & {step.key for step in graph})
    for key in broken:
        workspace.drop(workspace.step(key))
    return broken


class _Book:
    """What became of the steps so far."""

    def __init__(
        self,
        graph: Graph,
        workspace: Workspace,
        states: dict[str, State],
        total: int,
        tell: Callable[[Event], None] | None,
    ) -> None:
        self._graph, self._workspace, self._total, self._tell = graph, workspace, total, tell
        self._count = dict.fromkeys((DONE, FAILED, BLOCKED), 0)
        self._before = [key for key, state in states.items() if state is State.DONE]
        self._blocked = sum(state is State.BLOCKED for state in states.values())
        earlier = workspace.failures()
        self._failed = [earlier[key] for key, state in states.items() if state is State.FAILED and key in earlier]
        self._elsewhere = 0
        self._times: list[dict[str, Any]] = []
        self._kept, self._host = time.monotonic(), socket.gethostname()

    def hear(self, what: str, key: str, said: tuple[str, int, int]) -> None:
        if self._tell is not None:
            label = self._graph[key].shown if key else ""
            self._tell(Event(what, label, sum(self._count.values()), self._total, *said))

    def enter(self, outcome: Outcome) -> None:
        if outcome.status == FULL:
            raise InputError(
                "no space left for results",
                file=self._workspace.folder,
                remedy="Free some (interlingua study gc lists what can go); a rerun continues.",
            )
        self._count[outcome.status] += 1
        step = self._graph[outcome.key]
        if outcome.failure is not None:
            self._failed.append(outcome.failure)
        if outcome.status == DONE and not outcome.ran:
            self._elsewhere += 1  # Another run finished it meanwhile.
        elif outcome.status == DONE:
            told = {"key": step.key, "kind": step.kind, "like": step.like, "label": step.label}
            self._times.append({**told, "seconds": round(outcome.seconds, 4), "host": self._host})
            if time.monotonic() - self._kept > _KEEP:
                self.keep_times()
        self.hear(outcome.status, outcome.key, ("", 0, 0))

    def keep_times(self) -> None:
        with _clearly(self._workspace):
            self._workspace.keep_times(self._times)
        self._times.clear()
        self._kept = time.monotonic()

    def closed(self, records: int) -> Ran:
        return Ran(
            self._count[DONE] - self._elsewhere,
            len(self._before) + self._elsewhere,
            tuple(self._failed),
            self._blocked + self._count[BLOCKED],
            records,
        )
