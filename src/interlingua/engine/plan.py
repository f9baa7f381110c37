"""What a run would do: steps by kind, and about how long the rest takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from interlingua.engine.graph import Graph, StepState
from interlingua.engine.process_setup import cpu_count
from interlingua.engine.step import Step
from interlingua.engine.workspace import Workspace


@dataclass(frozen=True)
class KindCount:
    """The steps of a kind: how many, where they stand, and the seconds that those to run are thought to take."""

    kind: str
    steps: int
    done: int
    failed: int
    blocked: int
    needed: int
    seconds: float
    untimed: int
    """Of those needed, the steps for which no time of one like them is known; their seconds are not in the sum."""


@dataclass(frozen=True)
class RunPlan:
    """A run before it begins. `seconds` is the sum over the steps to run, `wall` the least that CPUs and GPUs need."""

    kinds: tuple[KindCount, ...]
    seconds: float
    wall: float
    untimed: int

    @property
    def done(self) -> int:
        return sum(kind.done for kind in self.kinds)

    @property
    def needed(self) -> int:
        return sum(kind.needed for kind in self.kinds)

    @property
    def failed(self) -> int:
        return sum(kind.failed for kind in self.kinds)

    @property
    def blocked(self) -> int:
        return sum(kind.blocked for kind in self.kinds)

    def to_dict(self) -> dict[str, Any]:
        whole = {"done": self.done, "needed": self.needed, "failed": self.failed, "blocked": self.blocked}
        return {**asdict(self), **whole, "kinds": [asdict(kind) for kind in self.kinds]}


def plan(graph: Graph, workspace: Workspace, *, cpus: int | None = None, gpus: int = 0, retry: bool = False) -> RunPlan:
    """What a run would do, and about how long it takes.

    A step is thought to take the median time of finished steps that are `like` it, else of those of its kind. `wall`
    is the larger of the longest chain of steps and of the work shared by all CPUs (and GPUs): no run can be faster.
    """
    states = graph.states(workspace, retry=retry)
    guess = _Guess(workspace)
    seconds = {step.key: guess(step) for step in graph if states[step.key] is StepState.NEEDED}
    kinds = []
    for kind, count in Counter(step.kind for step in graph).items():
        keys = [step.key for step in graph if step.kind == kind]
        stand = Counter(states[key] for key in keys)
        known = [seconds.get(key) for key in keys if key in seconds]
        kinds.append(
            KindCount(
                kind,
                count,
                stand[StepState.DONE],
                stand[StepState.FAILED],
                stand[StepState.BLOCKED],
                stand[StepState.NEEDED],
                sum(one for one in known if one is not None),
                known.count(None),
            )
        )
    return RunPlan(
        tuple(kinds),
        sum(one.seconds for one in kinds),
        _least(graph, {key: value or 0.0 for key, value in seconds.items()}, cpus or cpu_count(), gpus),
        sum(one.untimed for one in kinds),
    )


def _least(graph: Graph, seconds: Mapping[str, float], cpus: int, gpus: int) -> float:
    ends: dict[str, float] = {}
    for step in graph:
        begin = max((ends[need.key] for need in step.needs.values()), default=0.0)
        ends[step.key] = begin + seconds.get(step.key, 0.0)
    work = sum(seconds[step.key] * min(step.resources.cpus, cpus) for step in graph if step.key in seconds) / cpus
    on_gpu = sum(seconds[step.key] * min(step.resources.gpus, gpus) for step in graph if step.key in seconds)
    return max(max(ends.values(), default=0.0), work, on_gpu / gpus if gpus else 0.0)


class _Guess:
    """Seconds of a step by those known: itself, those like it, those of its kind; None where there are none."""

    def __init__(self, workspace: Workspace) -> None:
        self._times: dict[tuple[str, ...], list[float]] = {}
        for told in workspace.read_times():
            for group in ((told["key"],), (told["kind"], told["like"]), (told["kind"], "", "")):
                self._times.setdefault(group, []).append(told["seconds"])
        self._medians: dict[tuple[str, ...], float] = {}

    def __call__(self, step: Step) -> float | None:
        for group in ((step.key,), (step.kind, step.like), (step.kind, "", "")):
            if group in self._times:
                if group not in self._medians:
                    self._medians[group] = median(self._times[group])
                return self._medians[group]
        return None
