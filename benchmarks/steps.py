"""What a step of a study costs beside its own work: here, and on Ray against Ray's own tasks in the same run.

    python -m benchmarks.steps [--steps 5000] [--rounds 3] [--where DIR] [--json]

Steps that do nothing, each of them waiting for the one fifty before it. A step still takes a lock, has a log, writes a
folder with its manifest, flushed to the disk, and renames it into place. Ray's own tasks do nothing at all, with the
same graph of references, on the same cluster: this machine as two nodes. Rounds of the two alternate, after one that
starts Ray's processes; the medians are shown, in wall milliseconds a step, and the processor's milliseconds of this
process and, here, of its workers.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.sides import Side, version
from interlingua.engine.executors import Options
from interlingua.engine.graph import Graph
from interlingua.engine.runner import run
from interlingua.engine.step import Step, StepContext
from interlingua.engine.workspace import Workspace

_APART = 50


@dataclass(frozen=True)
class Number:
    """What tells one step that does nothing from another."""

    number: int


def nothing(settings: Number, context: StepContext) -> None:
    """The step that does nothing."""


def graph_of(count: int) -> Graph:
    steps: list[Step] = []
    for number in range(count):
        needs = {"before": steps[number - _APART]} if number >= _APART else {}
        steps.append(Step("benchmarks.steps:nothing", Number(number), needs))
    return Graph(steps)


def used() -> float:
    both = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(use.ru_utime + use.ru_stime for use in both)


def ours(graph: Graph, executor: str, where: Path) -> tuple[float, float, float]:
    """Wall and processor milliseconds a step, and the milliseconds of a second run, which finds all done."""
    workspace = Workspace(Path(tempfile.mkdtemp(dir=where)))
    began, before = time.perf_counter(), used()
    ran = run(graph, workspace, executor=executor, options=Options(cpus=2))
    wall, processor = time.perf_counter() - began, used() - before
    assert ran.done == len(graph), ran.failed[:1]
    began = time.perf_counter()
    assert run(graph, workspace, executor=executor).done == 0
    again = time.perf_counter() - began
    return wall / len(graph) * 1e3, processor / len(graph) * 1e3, again * 1e3


def rays(ray: Any, count: int) -> float:
    """Wall milliseconds of one of Ray's own tasks, in the same graph."""

    @ray.remote(num_cpus=1, max_retries=0)
    def task(number: int, *before: None) -> None:
        return None

    began = time.perf_counter()
    results: list[Any] = []
    for number in range(count):
        results.append(task.remote(number, *([results[number - _APART]] if number >= _APART else [])))
    ray.get(results)
    return (time.perf_counter() - began) / count * 1e3


def on_this_machine(graph: Graph, rounds: int, where: Path) -> dict[str, float]:
    found: dict[str, float] = {"steps": len(graph)}
    for executor in ("local", "inline"):
        wall, processor, again = (
            median(column) for column in zip(*(ours(graph, executor, where) for _ in range(rounds)), strict=True)
        )
        found |= {f"{executor}_ms": wall, f"{executor}_processor_ms": processor, "rerun_ms": again}
    return found


def on_ray(graph: Graph, rounds: int, where: Path) -> dict[str, float]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        from ray.cluster_utils import Cluster
    except ImportError:
        return {}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        small = graph_of(4 * _APART)
        rays(ray, len(small))
        ours(small, "ray", where)
        pairs = [(rays(ray, len(graph)), ours(graph, "ray", where)[0]) for _ in range(rounds)]
    finally:
        ray.shutdown()
        cluster.shutdown()
    own, step = (median(column) for column in zip(*pairs, strict=True))
    return {"ray_task_ms": own, "step_on_ray_ms": step, "ratio": median(step / own for own, step in pairs)}


def sides(found: dict[str, Any]) -> list[Side]:
    if "ratio" not in found:
        return []
    ours, theirs = found["step_on_ray_ms"], found["ray_task_ms"]
    return [Side("a step of a study on Ray", "ms", ours, "Ray's own task", theirs, version("ray"), better="less")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--where", help="The folder for studies, on the disk to measure; the system's temporary one.")
    asked = parser.parse_args()
    graph = graph_of(asked.steps)
    # One folder for all rounds: after thousands of files are deleted, ext4 is slow to make new ones for a minute.
    with tempfile.TemporaryDirectory(dir=asked.where) as where:
        found = on_this_machine(graph, asked.rounds, Path(where)) | on_ray(graph, asked.rounds, Path(where))
    if asked.json:
        print(json.dumps(found))
        return
    for executor in ("local", "inline"):
        wall, processor = found[f"{executor}_ms"], found[f"{executor}_processor_ms"]
        print(f"{executor}: {wall:.2f} ms per step ({processor:.2f} ms of the processor)")
    print(f"a second run of all: {found['rerun_ms']:.0f} ms")
    if "ratio" in found:
        print(f"Ray's own task: {found['ray_task_ms']:.2f} ms; a step on Ray: {found['step_on_ray_ms']:.2f} ms; "
              f"ratio {found['ratio']:.2f}")  # fmt: skip
    else:
        print("Ray is not installed: left out")


if __name__ == "__main__":
    main()
