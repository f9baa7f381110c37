"""The graph of steps: each once, after what it needs; where each stands; what a run would do and how long it takes."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from interlingua.engine.executors.ready_queue import ReadyQueue
from interlingua.engine.graph import Graph, StepState
from interlingua.engine.machine import Machine
from interlingua.engine.plan import plan
from interlingua.engine.step import Resources, Step
from interlingua.engine.step_runner import BLOCKED, DONE, FAILED, Job, Outcome
from interlingua.engine.workspace import MANIFEST, PRUNED, Failure, Workspace
from steps_for_tests import Settings


def make(kind: str, value: int = 0, needs: Mapping[str, Step] | None = None, **kwargs: Any) -> Step:
    return Step(f"m:{kind}", Settings(value=value), needs or {}, **kwargs)


def random_steps(seed: int, count: int = 40) -> list[Step]:
    draw = random.Random(seed)
    steps: list[Step] = []
    for number in range(count):
        needs = draw.sample(steps, min(len(steps), draw.randrange(4)))
        kind, shape = draw.choice("abc"), Resources(draw.choice((1, 2)), draw.choice((0, 0.5, 1, 2)))
        steps.append(make(kind, number, {str(i): need for i, need in enumerate(needs)}, resources=shape))
    return steps


def finish(workspace: Workspace, step: Step, *, pruned: bool = False) -> None:
    workspace.step(step.key).mkdir(parents=True)
    (workspace.step(step.key) / MANIFEST).write_text("{}")
    if pruned:
        (workspace.step(step.key) / PRUNED).touch()


@pytest.mark.parametrize("seed", range(5))
def test_each_step_comes_once_and_after_what_it_needs(seed: int) -> None:
    steps = random_steps(seed)
    twice = [*random_steps(seed), *steps]
    random.Random(seed).shuffle(twice)
    graph = Graph(twice)
    order = [step.key for step in graph]
    assert sorted(order) == sorted({step.key for step in steps})
    for step in graph:
        for need in step.needs.values():
            assert order.index(need.key) < order.index(step.key)
            assert step.key in {after.key for after in graph.dependants(need.key)}
    assert [step.key for step in Graph(iter(twice))] == order


def test_what_is_needed_need_not_be_given() -> None:
    last = random_steps(0)[-1]
    found, queue = set(), [last]
    while queue:
        step = queue.pop()
        found.add(step.key)
        queue += step.needs.values()
    assert {step.key for step in Graph([last])} == found


def test_a_chain_of_thousands_is_no_error() -> None:
    step = make("a")
    for number in range(5000):
        step = make("a", number, {"before": step})
    assert len(Graph([step])) == 5001


@pytest.mark.parametrize("seed", range(5))
def test_a_step_is_blocked_where_one_below_it_failed_and_it_is_not_done(tmp_path: Path, seed: int) -> None:
    draw, workspace, steps = random.Random(seed), Workspace(tmp_path), random_steps(seed)
    workspace.make()
    failed = draw.sample(steps, 4)
    for step in failed:
        workspace.keep_failure(Failure(step.key, step.kind, "", "why"))
    done = {step.key for step in steps if step not in failed and draw.random() < 0.3}
    for step in steps:
        if step.key in done:
            finish(workspace, step)
    bad = {step.key for step in failed}

    def is_blocked(step: Step) -> bool:
        open_needs = [need for need in step.needs.values() if need.key not in done]
        return any(need.key in bad or is_blocked(need) for need in open_needs)

    for step in steps:
        wanted = StepState.BLOCKED if is_blocked(step) else StepState.NEEDED
        wanted = StepState.DONE if step.key in done else StepState.FAILED if step.key in bad else wanted
        assert Graph(steps).states(workspace)[step.key] is wanted
        again = Graph(steps).states(workspace, retry=True)[step.key]
        assert again is (StepState.DONE if step.key in done else StepState.NEEDED)


def test_a_pruned_step_is_needed_again_only_for_one_that_is_to_run(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.make()
    base = make("base")
    middle = make("middle", needs={"base": base})
    leaves = [make("leaf", n, {"middle": middle}) for n in range(2)]
    for step in (base, middle):
        finish(workspace, step, pruned=True)
    finish(workspace, leaves[0])
    assert set(Graph([leaves[0]]).states(workspace).values()) == {StepState.DONE}
    states = Graph(leaves).states(workspace)
    assert [states[step.key] for step in (base, middle, *leaves)] == ["needed", "needed", "done", "needed"]
    workspace.keep_failure(Failure(leaves[1].key, "leaf", "", "why"))
    states = Graph(leaves).states(workspace)
    assert [states[step.key] for step in (base, middle, *leaves)] == ["done", "done", "done", "failed"]


@pytest.mark.parametrize("seed", range(5))
def test_whatever_fails_and_however_much_runs_at_once_every_job_ends_once(seed: int) -> None:
    draw, steps = random.Random(seed), random_steps(seed)
    keys = {step.key for step in steps}
    machine, queue = Machine(3, 0, ("0", "1")), ReadyQueue([Job.of(step, running=keys) for step in Graph(steps)])
    by_key = {step.key: step for step in steps}
    running, ended = [], {}
    while not queue.is_over():
        while (job := queue.choose(machine.fits)) is not None:
            assert all(ended[need.key] == DONE for need in by_key[job.key].needs.values())
            running.append((job, machine.take(job.resources)))
            taken = [share.part for _, share in running for gpu in share.gpus if gpu == "0"]
            assert sum(taken) <= 1 + 1e-9
            assert sum(share.cpus for _, share in running) <= 3
        job, share = running.pop(draw.randrange(len(running)))
        machine.give_back(share)
        for outcome in queue.settle(Outcome(job.key, FAILED if draw.random() < 0.1 else DONE)):
            assert outcome.key not in ended
            ended[outcome.key] = outcome.status
    assert ended.keys() == keys
    for step in steps:
        below = [ended[need.key] for need in step.needs.values()]
        assert (ended[step.key] == BLOCKED) == any(status != DONE for status in below)


def test_what_asks_for_more_than_there_is_runs_alone() -> None:
    machine = Machine(2, 100)
    big = machine.take(Resources(cpus=64, memory=1000))
    assert not machine.fits(Resources())
    machine.give_back(big)
    assert machine.fits(Resources(cpus=64, gpus=8))


def test_a_plan_counts_every_step_and_guesses_by_medians(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.make()
    base = make("train", resources=Resources(cpus=2))
    steps = [make("test", n, {"base": base}, like="big" if n < 2 else "small") for n in range(6)]
    other = make("other")
    graph = Graph([*steps, other])
    finish(workspace, steps[5])
    workspace.keep_failure(Failure(other.key, "other", "", "why"))
    known = {"train": [7.0, 9.0, 50.0], "big": [3.0, 5.0], "small": [1.0]}
    lines = [{"key": f"{like}{value}", "kind": "train" if like == "train" else "test", "seconds": value,
              "like": "" if like == "train" else like}
             for like, values in known.items() for value in values]  # fmt: skip
    workspace.keep_times(lines)
    found = plan(graph, workspace, cpus=4)
    tests = 2 * median(known["big"]) + 3 * median(known["small"])
    assert found.seconds == pytest.approx(9 + tests)
    assert found.wall == pytest.approx(max(9 + 4, (2 * 9 + tests) / 4))
    assert plan(graph, workspace, cpus=1).wall == pytest.approx(9 + tests)
    assert (found.done, found.needed, found.failed, found.blocked, found.untimed) == (1, 6, 1, 0, 0)
    assert [(kind.kind, kind.steps) for kind in found.kinds] == [("train", 1), ("test", 6), ("other", 1)]
    assert plan(graph, workspace, retry=True).untimed == 1
    assert found.to_dict()["kinds"][1]["done"] == 1


def test_times_cut_by_a_kill_are_passed_over(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.make()
    workspace.keep_times([{"key": "k", "kind": "a", "like": "", "seconds": 2.0}])
    with workspace.times.open("a") as file:
        file.write('{"key": "l", "ki')
    assert [told["seconds"] for told in workspace.read_times()] == [2.0]
