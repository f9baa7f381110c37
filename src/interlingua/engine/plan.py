"""What a run would do: steps by kind, about how long the rest takes, and which differences its seeds can detect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from interlingua.engine.graph import Graph, State
from interlingua.engine.machine import cpu_count
from interlingua.engine.step import Step
from interlingua.engine.workspace import Home
from interlingua.stats.power import (
    ITEM_DEVIATION,
    SEED_DEVIATIONS,
    USUAL_DEVIATION,
    detectable_over_seeds,
    items_needed,
    seeds_needed,
)


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
    unmeasured: int
    """Of those needed, the steps that nothing like them was measured for; their seconds are not in the sum."""


@dataclass(frozen=True)
class Plan:
    """A study before it runs. `seconds` is the sum over the steps to run, `wall` the least that CPUs and GPUs need."""

    kinds: tuple[KindCount, ...]
    seconds: float
    wall: float
    unmeasured: int

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


EXAMPLES = (500, 1000, 5000)
"""The sizes of test sets that a plan of seeds is made for; XNLI has 5,010 examples."""
POINTS = (1, 2, 5)
"""The differences in points that a plan names the seeds for."""
_METRICS = {"ner": "f1", "retrieval": "mrr"}


@dataclass(frozen=True)
class SeedPlan:
    """What differences between regimes a task's seeds can detect with 80 % power, and the seeds that others need.

    `deviation` is that of a score over seeds, `measured` in this study or taken from our own grids (docs/findings).
    `detectable` has the smallest difference by the number of test examples, None with one seed; `seeds_needed` by
    points the seeds per regime with 5,000 examples, or None where these are too few, and `examples_needed` how many it
    takes at least. Shares of 1 all.
    """

    task: str
    seeds: int
    deviation: float
    measured: bool
    item_deviation: float
    detectable: dict[int, float | None]
    seeds_needed: dict[int, int | None]
    examples_needed: dict[int, int]


def seed_plan(task: str, kind: str, seeds: int, scores: Sequence[Mapping[str, Any]] = ()) -> SeedPlan:
    """The plan of a task of that kind; `scores` are what the study has found of it so far.

    >>> made = seed_plan("ner", "ner", 5)
    >>> round(made.detectable[5000], 3), made.seeds_needed, made.examples_needed[1]
    (0.032, {1: None, 2: 20, 5: 3}, 12559)
    """
    own = [each.get("deviation") for each in scores if each.get("task") == task]
    known = [value for value in own if isinstance(value, float) and value > 0]
    usual = SEED_DEVIATIONS.get(_METRICS.get(kind, ""), USUAL_DEVIATION)
    deviation = float(median(known)) if known else usual
    spread = {"deviation": deviation, "item_deviation": ITEM_DEVIATION}
    return SeedPlan(
        task,
        seeds,
        deviation,
        bool(known),
        ITEM_DEVIATION,
        {n: detectable_over_seeds(seeds, n=n, **spread) for n in EXAMPLES},
        {points: seeds_needed(points / 100, n=EXAMPLES[-1], **spread) for points in POINTS},
        {points: items_needed(points / 100, item_deviation=ITEM_DEVIATION) for points in POINTS},
    )


def plan(graph: Graph, home: Home, *, cpus: int | None = None, gpus: int = 0, retry: bool = False) -> Plan:
    """What a run would do, and about how long it takes.

    A step is thought to take the median of the measured steps that are `like` it, else of those of its kind. `wall`
    is the larger of the longest chain of steps and of the work shared by all CPUs (and GPUs): no run can be faster.
    """
    states = graph.states(home, retry=retry)
    guess = _Guess(home)
    seconds = {step.key: guess(step) for step in graph if states[step.key] is State.NEEDED}
    kinds = []
    for kind, count in Counter(step.kind for step in graph).items():
        keys = [step.key for step in graph if step.kind == kind]
        stand = Counter(states[key] for key in keys)
        known = [seconds.get(key) for key in keys if key in seconds]
        kinds.append(
            KindCount(
                kind,
                count,
                stand[State.DONE],
                stand[State.FAILED],
                stand[State.BLOCKED],
                stand[State.NEEDED],
                sum(one for one in known if one is not None),
                known.count(None),
            )
        )
    return Plan(
        tuple(kinds),
        sum(one.seconds for one in kinds),
        _least(graph, {key: value or 0.0 for key, value in seconds.items()}, cpus or cpu_count(), gpus),
        sum(one.unmeasured for one in kinds),
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
    """Seconds of a step by those measured: itself, those like it, those of its kind; None where there are none."""

    def __init__(self, home: Home) -> None:
        self._times: dict[tuple[str, ...], list[float]] = {}
        for told in home.measured():
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
