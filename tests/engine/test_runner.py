"""Runs of steps on this machine: each once, whatever fails, dies, is stopped, or is changed in between."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import steps_for_tests
from interlingua.engine.digests import Digests
from interlingua.engine.executors import Options
from interlingua.engine.graph import Graph
from interlingua.engine.records import Records
from interlingua.engine.runner import Event, RunSummary, keep_all_heavy, run
from interlingua.engine.step import Resources, Step
from interlingua.engine.workspace import MANIFEST, Workspace
from interlingua.errors import InputError
from interlingua.record import Record
from record_store import record_lines
from steps_for_tests import Settings

TWO = Options(cpus=2)


def step(name: str, *needs: Step, resources: Resources | None = None, **settings: Any) -> Step:
    roles = {str(number): need for number, need in enumerate(needs)}
    return Step(f"steps_for_tests:{name}", Settings(**settings), roles, resources=resources or Resources())


def total(value: int, *needs: Step, side: Path | None = None) -> Step:
    return step("total", *needs, value=value, **({} if side is None else {"side": str(side)}))


def value(workspace: Workspace, of: Step) -> str:
    return (workspace.step(of.key) / "value").read_text()


def began(side: Path) -> list[str]:
    return [line.split()[1] for line in side.read_text().splitlines() if line.startswith("begin")]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "study")


def test_steps_run_once_on_the_results_of_what_they_need(workspace: Workspace, tmp_path: Path) -> None:
    side = tmp_path / "side"
    one = total(1, side=side)
    two = total(10, one, side=side)
    three = total(100, one, two, side=side)
    graph = Graph([three, total(1, side=side)])
    assert run(graph, workspace, options=TWO) == RunSummary(3, 0, (), 0, 3)
    assert [value(workspace, of) for of in (one, two, three)] == ["1", "11", "112"]
    assert run(graph, workspace, options=TWO) == RunSummary(0, 3, (), 0, 3)
    assert began(side) == [one.key, two.key, three.key]
    manifest = json.loads((workspace.step(two.key) / MANIFEST).read_text())
    assert manifest["needs"] == {"0": one.key}
    assert manifest["files"]["value"] == 2
    left = [path.name for folder in ("work", "logs", "failed") for path in (workspace.inner / folder).iterdir()]
    assert left == []


def test_only_what_depends_on_a_changed_input_runs_again(workspace: Workspace, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.txt" for name in "ab"]
    for file in files:
        file.write_text("text")

    def graph() -> Graph:
        read = [Step("steps_for_tests:reads", Settings(file=Digests().file(file))) for file in files]
        return Graph([total(1, read[0]), total(2, read[1]), total(3, *read), total(4)])

    assert run(graph(), workspace, options=TWO).done == 6
    files[1].write_text("longer text")
    ran = run(graph(), workspace, options=TWO)
    assert (ran.done, ran.reused) == (3, 3)
    sums = [json.loads(line)["value"] for line in record_lines(workspace.folder).splitlines()]
    assert sums == [5, 13, 18, 4]


def test_a_file_that_changes_after_planning_fails_the_step(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    graph = Graph([Step("steps_for_tests:reads", Settings(file=Digests().file(tmp_path / "a.txt")))])
    (tmp_path / "a.txt").write_text("other text")
    assert "changed since" in run(graph, workspace, options=TWO).failed[0].message


def test_a_failure_blocks_what_needs_it_and_nothing_else(workspace: Workspace, tmp_path: Path) -> None:
    bad = step("fails", mended=str(tmp_path / "mended"))
    above = total(1, bad)
    graph = Graph([total(2, above), total(3), total(4, total(5))])
    ran = run(graph, workspace, options=TWO)
    assert (ran.done, ran.blocked, ran.records) == (3, 2, 3)
    assert [(failure.key, failure.message) for failure in ran.failed] == [(bad.key, "no such thing: 'x'. Mend it.")]
    assert ran.failed[0].log == "what it said before"
    (tmp_path / "mended").touch()
    assert run(graph, workspace, options=TWO) == RunSummary(0, 3, ran.failed, 2, 3)  # left alone, and told again
    assert run(graph, workspace, options=TWO, retry=True) == RunSummary(3, 3, (), 0, 5)
    assert value(workspace, above) == "2"


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV"])
def test_the_death_of_a_process_is_a_failed_step_with_its_last_words(workspace: Workspace, name: str) -> None:
    dead = step("dies", signal=name)
    ran = run(Graph([dead, total(1, dead), *(total(number) for number in range(5))]), workspace, options=TWO)
    assert (ran.done, ran.blocked) == (5, 1)
    assert name in ran.failed[0].message
    assert ran.failed[0].log.startswith("its last words")
    assert not workspace.is_done(dead.key)


@pytest.mark.reliability("a worker killed from outside")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGHUP"])
def test_a_step_whose_process_was_killed_from_outside_runs_again_without_being_asked(
    workspace: Workspace, tmp_path: Path, name: str
) -> None:
    graph = Graph([above := total(1, step("dies", signal=name, once=str(tmp_path / "died")))])
    first = run(graph, workspace)
    assert (first.done, first.blocked, len(first.failed)) == (0, 1, 1)
    assert "runs it again" in first.failed[0].message
    assert workspace.failures() == {}
    assert run(graph, workspace) == RunSummary(2, 0, (), 0, 1)
    assert value(workspace, above) == "1"


def test_a_step_goes_on_from_the_state_that_its_death_left(workspace: Workspace) -> None:
    counts = step("counts_in_its_state")
    assert "code 3" in run(Graph([counts]), workspace).failed[0].message
    assert run(Graph([counts]), workspace, retry=True).done == 1
    assert value(workspace, counts) == "10 from 7"
    assert not workspace.state(counts.key).exists()


def test_a_step_gets_as_many_tries_as_asked_for(workspace: Workspace) -> None:
    flaky = step("fails_unless_tried_before")
    assert run(Graph([flaky, total(1, flaky)]), workspace, options=Options(cpus=1, attempts=2)) == RunSummary(
        2, 0, (), 0, 1
    )


def test_an_unknown_function_is_a_failure_in_words(workspace: Workspace) -> None:
    ran = run(Graph([Step("no_such:thing", Settings())]), workspace)
    assert "no such step function" in ran.failed[0].message


def test_a_full_disk_stops_the_run_and_fails_no_step(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="no space left"):
        run(Graph([step("fills_the_disk")]), workspace)
    assert workspace.failures() == {}


def test_a_folder_that_can_not_be_written_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        run(Graph([total(1)]), Workspace(tmp_path / "file" / "study"))


def test_an_unknown_executor_is_named_before_anything_runs(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="Did you mean 'ray'"):
        run(Graph([total(1)]), workspace, executor="rai")
    assert not workspace.folder.exists()


def test_gpus_are_handed_out_by_id_and_never_twice(workspace: Workspace, tmp_path: Path) -> None:
    shares = [0.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 2.0]
    graph = Graph(
        step("environment", told=str(tmp_path / f"{n}.json"), sleep=0.1, resources=Resources(cpus=1, gpus=share))
        for n, share in enumerate(shares)
    )
    assert run(graph, workspace, options=Options(cpus=4, gpus=("3", "5"))).done == len(shares)
    told = [json.loads((tmp_path / f"{n}.json").read_text()) for n in range(len(shares))]
    for share, one in zip(shares, told, strict=True):
        ids = one["gpus"].split(",") if one["gpus"] else []
        assert len(ids) == (1 if 0 < share < 1 else share)
        assert set(ids) <= {"3", "5"}
    for gpu in ("3", "5"):
        users = [(share, one) for share, one in zip(shares, told, strict=True) if gpu in one["gpus"].split(",")]
        for _, at in users:
            together = sum(min(share, 1) for share, one in users if one["began"] <= at["began"] < one["ended"])
            assert together <= 1


def test_without_a_gpu_a_step_that_wants_one_runs_on_the_cpu(workspace: Workspace, tmp_path: Path) -> None:
    wants = step("environment", told=str(tmp_path / "told"), sleep=0, resources=Resources(cpus=3, gpus=1))
    assert run(Graph([wants]), workspace, options=Options(cpus=2, gpus=())).done == 1
    told = json.loads((tmp_path / "told").read_text())
    assert (told["gpus"], told["threads"]) == ("", "3")


def test_workers_are_kept_for_many_steps(workspace: Workspace, tmp_path: Path) -> None:
    graph = Graph(step("environment", told=str(tmp_path / f"{n}.json"), sleep=0) for n in range(20))
    run(graph, workspace, options=TWO)
    assert len({json.loads(file.read_text())["pid"] for file in tmp_path.glob("*.json")}) <= 2


def test_records_of_steps_are_read_as_those_of_any_run(workspace: Workspace) -> None:
    graph = Graph(step("measures", value=number) for number in range(3))
    assert run(graph, workspace, options=TWO).records == 6
    store = Records(Record, workspace.folder)
    assert [record.value for record in store.read()] == [1, 1, 2, 2, 3, 3]
    assert [record.step for record in store.read()[::2]] == [step.key for step in graph]
    assert store.items(store.read()[2]).tolist() == [1, 2, 3]


def test_records_are_the_same_bytes_whatever_ran_first(tmp_path: Path) -> None:
    workspaces = [Workspace(tmp_path / name) for name in "ab"]
    steps = steps_for_tests.study("", layers=2, width=2, sleep=0)
    steps = [Step(one.run, Settings(value=number)) for number, one in enumerate(steps)]
    run(Graph(steps), workspaces[0], options=TWO)
    for one in reversed(steps):
        run(Graph([one]), workspaces[1], options=TWO)
    run(Graph(steps), workspaces[1], options=TWO)
    assert everything(workspaces[0]) == everything(workspaces[1])


def everything(workspace: Workspace) -> dict[str, bytes]:
    """All that a study leaves, but times, by name; and but locks: a killed one may leave that of a finished step."""
    files = (path for path in sorted(workspace.folder.rglob("*")) if path.is_file() and path.suffix != ".lock")
    return {str(path.relative_to(workspace.folder)): path.read_bytes() for path in files if path.name != "times.jsonl"}


def test_a_step_that_lost_bytes_to_a_power_cut_runs_again_and_is_told(workspace: Workspace) -> None:
    steps = [total(number) for number in range(3)]
    run(Graph(steps), workspace, options=TWO)
    whole = everything(workspace)
    (workspace.step(steps[0].key) / "value").write_bytes(b"")
    (workspace.step(steps[1].key) / MANIFEST).write_bytes(b"")
    events: list[Event] = []
    assert run(Graph(steps), workspace, options=TWO, tell=events.append).done == 2
    assert [event.what for event in events].count("broken") == 2
    assert everything(workspace) == whole


def test_what_happens_is_told(workspace: Workspace) -> None:
    events: list[Event] = []
    run(Graph([total(1, total(2))]), workspace, options=TWO, tell=events.append)
    assert [(event.what, event.finished, event.total) for event in events] == [
        ("started", 0, 2), ("done", 1, 2), ("started", 1, 2), ("done", 2, 2),
    ]  # fmt: skip


def begin(
    workspace: Workspace, side: Path, sleep: float, *, layers: int = 6, stderr: int | None = None
) -> subprocess.Popen[bytes]:
    script = Path(steps_for_tests.__file__)
    source = str(Path(__file__).resolve().parents[2] / "src")
    command = [sys.executable, str(script), str(workspace.folder), str(side), str(sleep), str(layers)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": source}, start_new_session=True, stderr=stderr)


@pytest.mark.parametrize(("kills", "layers"), [(4, 6), pytest.param(20, 12, marks=pytest.mark.heavy)])
def test_a_study_killed_at_random_moments_ends_with_the_same_bytes(tmp_path: Path, kills: int, layers: int) -> None:
    draw = random.Random(kills)
    side, quiet, killed = tmp_path / "side", Workspace(tmp_path / "quiet"), Workspace(tmp_path / "killed")
    side.touch()
    graph = Graph(steps_for_tests.study(str(side), layers=layers, sleep=0.02))
    assert len(graph) >= 60
    assert run(graph, quiet, options=TWO, keep=keep_all_heavy).done == len(graph)
    side.write_text("")
    finished: set[str] = set()
    done = 0
    for number in range(kills):
        runner, before = begin(killed, side, 0.02, layers=layers), len(began(side))
        while len(began(side)) == before and runner.poll() is None:
            time.sleep(0.002)
        time.sleep(draw.random() * 0.05)  # a random moment after its first step began
        if runner.poll() is not None:
            break  # A busy machine let it end before it could be killed.
        done += 1
        # All of them at once, or the runner alone, whose workers must notice.
        os.kill(runner.pid, signal.SIGKILL) if number % 2 else os.killpg(runner.pid, signal.SIGKILL)
        runner.wait()
        assert not finished & set(began(side)[before:]), "a finished step ran again"
        finished = killed.done()
    assert done > kills // 2, "it was hardly killed: the test shows nothing"
    before = len(began(side))
    assert begin(killed, side, 0.02, layers=layers).wait(240) == 0
    assert not finished & set(began(side)[before:])
    assert everything(killed) == everything(quiet)


def test_nothing_finished_runs_again_after_a_kill(tmp_path: Path) -> None:
    side, workspace = tmp_path / "side", Workspace(tmp_path / "study")
    side.touch()
    runner = begin(workspace, side, 0.05)
    while len(workspace.done()) < 15 and runner.poll() is None:
        time.sleep(0.005)
    os.killpg(runner.pid, signal.SIGKILL)
    runner.wait()
    finished = workspace.done()
    side.write_text("")
    assert begin(workspace, side, 0.05).wait(240) == 0
    assert len(finished) >= 15
    assert sorted([*finished, *began(side)]) == sorted(workspace.done())


def test_two_runs_at_once_share_the_steps_and_leave_one_result(tmp_path: Path) -> None:
    for seconds in (0.02, 0.1, 0.5):  # On a busy machine the second may start when the first is through.
        place = tmp_path / str(seconds)
        side, workspace, quiet = place / "side", Workspace(place / "study"), Workspace(place / "quiet")
        place.mkdir()
        side.touch()
        runners = [begin(workspace, side, seconds) for _ in range(2)]
        assert [runner.wait(240) for runner in runners] == [0, 0]
        graph = Graph(steps_for_tests.study(str(side)))
        assert sorted(began(side)) == sorted(step.key for step in graph)
        pids = {line.split()[2] for line in side.read_text().splitlines()}
        run(graph, quiet, options=TWO, keep=keep_all_heavy)
        assert everything(workspace) == everything(quiet)
        if len(pids) > 2:
            return
    pytest.fail("only one of the two did all the work: the test shows nothing")


@pytest.mark.heavy  # A race with a clock: once in some forty runs the study was over before the signal came, it seems.
def test_control_c_stops_the_workers_and_a_later_run_goes_on(tmp_path: Path) -> None:
    side, workspace = tmp_path / "side", Workspace(tmp_path / "study")
    side.touch()
    runner = begin(workspace, side, 0.05, stderr=subprocess.PIPE)
    while len(workspace.done()) < 5 and runner.poll() is None:
        time.sleep(0.005)
    os.killpg(runner.pid, signal.SIGINT)
    _, said = runner.communicate(timeout=30)
    assert b"KeyboardInterrupt" in said, f"ended with {runner.returncode}, {len(workspace.done())} steps done"
    assert runner.returncode != 0
    count = len(side.read_text())
    time.sleep(0.3)
    assert len(side.read_text()) == count, "a worker went on"
    assert begin(workspace, side, 0.05).wait(240) == 0
    assert len(workspace.done()) == 60


@pytest.mark.heavy
def test_several_processes_run_one_step_together(workspace: Workspace) -> None:
    two = Resources(cpus=2, processes=2)
    ranks, wrong = step("ranks", resources=two), step("ranks", resources=two, wrong=True)
    ran = run(Graph([ranks, wrong]), workspace, options=TWO)
    assert value(workspace, ranks) == "3 of 2"
    assert [failure.message for failure in ran.failed] == ["wrong. Right it."]


@pytest.mark.heavy
@pytest.mark.reliability("what listens on a network")
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what is listened on")
def test_processes_of_one_step_listen_on_this_machine_alone(workspace: Workspace) -> None:
    asked = step("listeners", resources=Resources(cpus=2, processes=2))
    assert run(Graph([asked]), workspace, options=TWO).done == 1
    assert value(workspace, asked) == "0100007F"
