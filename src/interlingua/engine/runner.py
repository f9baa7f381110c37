"""A graph, run: what is not done goes to an executor; records, times and failures are kept."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from interlingua.engine.atomic_files import cannot_write
from interlingua.engine.disk import prune, sweep
from interlingua.engine.executors import Options, executors
from interlingua.engine.graph import Graph, StepState
from interlingua.engine.records import Records
from interlingua.engine.step import Step
from interlingua.engine.step_runner import BLOCKED, DONE, FAILED, FULL, PAUSED, Job, Outcome
from interlingua.engine.workspace import Failure, Workspace
from interlingua.errors import DiskFull, InputError, InterlinguaError

_KEEP = 1.0  # seconds between two writes of times
_FREE = "Free some (of a study interlingua study gc lists what can go); a rerun continues."
Keep = Callable[[Step], bool]
"""Whether the heavy part of a step stays when no step to come needs it."""


@dataclass(frozen=True)
class Event:
    """Something to show: what became of which step, and how far the run is.

    `what` is started, progress, elsewhere (another run is at it), done, failed, blocked, paused, broken (so it runs
    again). `label` is "" where it is of no one step. `stage`, `done` and `of` are what a step itself says of its
    progress.
    """

    what: str
    label: str
    finished: int
    total: int
    stage: str = ""
    done: int = 0
    of: int = 0


@dataclass(frozen=True)
class RunSummary:
    """What a run did: steps run now, done before, failed now or earlier, blocked by those, and paused; its records."""

    done: int
    reused: int
    failed: tuple[Failure, ...]
    blocked: int
    records: int
    paused: int = 0


def keep_all_heavy(step: Step) -> bool:
    """Keep every heavy part: `run(..., keep=keep_all)`."""
    return True


def keep_no_heavy(step: Step) -> bool:
    """Remove the heavy part of a step when the last step that needs it is done."""
    return False


def run(
    graph: Graph,
    workspace: Workspace,
    *,
    executor: str = "local",
    options: Options | None = None,
    retry: bool = False,
    raise_first: bool = False,
    keep: Keep = keep_no_heavy,
    tell: Callable[[Event], None] | None = None,
) -> RunSummary:
    """Run what is needed and not done, and gather the records of all that is; see `RunSummary`.

    A failed step fails those that need it, and the rest goes on; it is left alone by later runs unless `retry`. With
    `raise_first` the first failure ends the run as the error that it is, and what failed earlier is tried again. A run
    that was killed, stopped or paused goes on where it was when it is started again, and a finished one runs nothing.

    A step's `heavy` folder is removed when the last step that needs it is done in this run, unless `keep` says that it
    stays; a step that no other needs keeps it. When a new step needs what was removed, it is made again. With
    `raise_first`, what earlier runs left of that kind goes, too.
    """
    entry, options = executors[executor], options or Options()
    group = options.group
    if group.size > 1 and executor != "inline":
        raise InputError(
            "several processes run the same steps in one way only", value=executor, remedy="Use the executor inline."
        )
    broken, found = group.broadcast(lambda: _prepared(graph, workspace, retry or raise_first))
    states = {key: StepState(state) for key, state in found.items()}
    running = {key for key, state in states.items() if state is StepState.NEEDED}
    deadline = None if options.stop_after is None else time.time() + options.stop_after
    jobs = [
        Job.of(
            step,
            running=running,
            deadline=deadline,
            device=options.device,
            cache=options.cache,
            tensorboard=options.tensorboard,
        )
        for step in graph.run_order
        if step.key in running
    ]
    book = _Book(graph, workspace, states, len(jobs), tell, writes=group.is_first)
    for key in broken:
        book.hear("broken", key, ("", 0, 0))
    if jobs:  # Nothing to run: no worker, no cluster.
        try:
            with closing(entry.call(jobs, workspace, options, book.hear)) as outcomes:
                for outcome in outcomes:
                    book.enter(outcome)
                    if outcome.status == DONE and group.is_first:
                        _prune(graph, workspace, outcome.key, book.finished, keep)
                    if outcome.status == FAILED and raise_first:
                        raise outcome.error or InterlinguaError(_first(outcome))
        finally:
            if workspace.inner.is_dir():
                book.keep_times()
    for step in graph if raise_first and group.is_first else ():  # Also what a run that was killed had no time for.
        _prune(graph, workspace, step.key, book.finished, keep)
    with _clearly(workspace):
        return book.closed(group.broadcast(lambda: Records.collect(graph, workspace)))


def _prepared(graph: Graph, workspace: Workspace, retry: bool) -> tuple[list[str], dict[str, str]]:
    """The folder made ready: the steps that were found broken, and where each stands."""
    with _clearly(workspace):
        workspace.make()
        sweep(workspace)
        broken = _drop_broken(graph, workspace)
        if retry:
            for key in workspace.failures().keys() & {step.key for step in graph}:
                workspace.failure(key).unlink(missing_ok=True)
        return broken, {key: str(state) for key, state in graph.states(workspace).items()}


def _prune(graph: Graph, workspace: Workspace, key: str, finished: set[str], keep: Keep) -> None:
    """Remove the heavy parts of what a step needed, if it was the last to need them."""
    for need in {need.key: need for need in graph[key].needs.values()}.values():
        if not (keep(need) or graph.is_asked_whole(need)) and all(
            after.key in finished for after in graph.dependants(need.key)
        ):
            prune(need, workspace)


def _first(outcome: Outcome) -> str:
    failure = outcome.failure
    return "a step failed" if failure is None else f"{failure.label}: {failure.message}"


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
        states: dict[str, StepState],
        total: int,
        tell: Callable[[Event], None] | None,
        *,
        writes: bool,
    ) -> None:
        self._graph, self._workspace, self._total, self._tell = graph, workspace, total, tell
        self._writes = writes
        self._count = dict.fromkeys((DONE, FAILED, BLOCKED, PAUSED), 0)
        self.finished = {key for key, state in states.items() if state is StepState.DONE}
        self._before = [key for key, state in states.items() if state is StepState.DONE]
        self._blocked = sum(state is StepState.BLOCKED for state in states.values())
        earlier = workspace.failures()
        self._failed = [earlier[key] for key, state in states.items() if state is StepState.FAILED and key in earlier]
        self._elsewhere = 0
        self._times: list[dict[str, Any]] = []
        self._kept, self._host = time.monotonic(), socket.gethostname()

    def hear(self, what: str, key: str, said: tuple[str, int, int]) -> None:
        if self._tell is not None:
            label = self._graph[key].shown if key else ""
            self._tell(Event(what, label, sum(self._count.values()), self._total, *said))

    def enter(self, outcome: Outcome) -> None:
        if outcome.status == FULL:
            if isinstance(outcome.error, DiskFull):  # It says where.
                raise outcome.error
            raise DiskFull("no space left for results", file=self._workspace.folder, remedy=_FREE)
        self._count[outcome.status] += 1
        step = self._graph[outcome.key]
        if outcome.status == DONE:
            self.finished.add(outcome.key)
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
        """Write them, if this is the process that writes."""
        if self._writes and self._times:
            with _clearly(self._workspace):
                self._workspace.keep_times(self._times)
        self._times.clear()
        self._kept = time.monotonic()

    def closed(self, records: int) -> RunSummary:
        return RunSummary(
            self._count[DONE] - self._elsewhere,
            len(self._before) + self._elsewhere,
            tuple(self._failed),
            self._blocked + self._count[BLOCKED],
            records,
            self._count[PAUSED],
        )
