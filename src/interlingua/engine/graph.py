"""`Graph`: all steps of a run, shared by key, each after what it needs, and where each of them stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum

from interlingua.engine.step import Step
from interlingua.engine.workspace import Workspace


class StepState(StrEnum):
    """Where a step stands: done, failed in an earlier run, blocked by such a one, or needed."""

    DONE = "done"
    FAILED = "failed"
    BLOCKED = "blocked"
    NEEDED = "needed"


class Graph:
    """Steps and all that they need, each once, in an order that depends on nothing but how they were given.

    >>> import dataclasses
    >>> Rows = dataclasses.make_dataclass("Rows", [("count", int)], frozen=True)
    >>> base = Step("my:cut", Rows(3))
    >>> graph = Graph([Step("my:sort", Rows(3), {"rows": base}), Step("my:join", Rows(3), {"rows": base})])
    >>> [step.kind for step in graph]
    ['cut', 'sort', 'join']
    >>> [step.kind for step in graph.dependants(base.key)]
    ['sort', 'join']
    """

    def __init__(self, steps: Iterable[Step], *, whole: Callable[[Step], bool] | None = None) -> None:
        """`whole` says of which steps the heavy part is asked for: it stays, and is made again where it was removed."""
        self._whole = whole or (lambda _: False)
        self._steps: dict[str, Step] = {}
        self._dependants: dict[str, list[Step]] = {}
        given = tuple(steps)  # held, because they are told apart by where they lie in memory
        for step in _needs_first(given):
            if step.key not in self._steps:
                self._steps[step.key] = step
                for key in dict.fromkeys(need.key for need in step.needs.values()):
                    self._dependants.setdefault(key, []).append(step)
        turns = sorted(given, key=lambda step: (not step.turn, step.turn))
        self._run_order = dict.fromkeys(step.key for step in _needs_first(turns))

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self._steps.values())

    @property
    def run_order(self) -> Iterator[Step]:
        """All steps, each after what it needs, by their turns."""
        return (self._steps[key] for key in self._run_order)

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps.values())

    def __contains__(self, key: object) -> bool:
        return key in self._steps

    def __getitem__(self, key: str) -> Step:
        return self._steps[key]

    def dependants(self, key: str) -> tuple[Step, ...]:
        """The steps that need this one, themselves."""
        return tuple(self._dependants.get(key, ()))

    def is_asked_whole(self, step: Step) -> bool:
        """Whether a step's heavy part is asked for."""
        return self._whole(step)

    def states(self, workspace: Workspace, *, retry: bool = False) -> dict[str, StepState]:
        """Where each step stands, by key, in the graph's order; with `retry`, what failed is needed again.

        A step whose heavy part was removed is done, and becomes needed when a step that needs it is to run, or when
        that part is asked for.
        """
        done = workspace.done() & self._steps.keys()
        failed = set() if retry else workspace.failures().keys() & self._steps.keys()
        pruned = workspace.pruned(done)
        found = self._forward(done, failed - done)
        again: set[str] = set()
        for key in reversed(self._steps) if pruned else ():
            if key in pruned and (
                self._whole(self._steps[key])
                or any(step.key in again or found[step.key] is StepState.NEEDED for step in self.dependants(key))
            ):
                again.add(key)
        return self._forward(done - again, failed - (done - again)) if again else found

    def _forward(self, done: set[str], failed: set[str]) -> dict[str, StepState]:
        found: dict[str, StepState] = {}
        for key, step in self._steps.items():
            if key in done:
                found[key] = StepState.DONE
            elif key in failed:
                found[key] = StepState.FAILED
            elif any(found[need.key] in (StepState.FAILED, StepState.BLOCKED) for need in step.needs.values()):
                found[key] = StepState.BLOCKED
            else:
                found[key] = StepState.NEEDED
        return found


def _needs_first(steps: Iterable[Step]) -> Iterator[Step]:
    """Every step after what it needs; without recursion, so that a long chain is no error."""
    seen: set[int] = set()
    for first in steps:
        stack = [(first, iter(first.needs.values()))]
        while stack:
            step, needs = stack[-1]
            if id(step) in seen:
                stack.pop()
                continue
            need = next((need for need in needs if id(need) not in seen), None)
            if need is not None:
                stack.append((need, iter(need.needs.values())))
            else:
                seen.add(id(step))
                stack.pop()
                yield step
