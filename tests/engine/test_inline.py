"""Steps in this process: the same results as in workers, what was loaded stays, and the first error is the run's."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

import steps_for_tests
from interlingua.engine.executors import Options
from interlingua.engine.graph import Graph
from interlingua.engine.process_group import SingleProcess
from interlingua.engine.runner import Event, RunSummary, run
from interlingua.engine.step import Resources, Step
from interlingua.engine.torchrun import _run
from interlingua.engine.workspace import Workspace
from interlingua.errors import InputError
from steps_for_tests import Settings


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "run")


def step(name: str, *needs: Step, resources: Resources | None = None, **settings: Any) -> Step:
    roles = {str(number): need for number, need in enumerate(needs)}
    return Step(f"steps_for_tests:{name}", Settings(**settings), roles, resources=resources or Resources())


def everything(workspace: Workspace) -> dict[str, bytes]:
    files = (path for path in sorted(workspace.folder.rglob("*")) if path.is_file() and path.suffix != ".lock")
    return {str(path.relative_to(workspace.folder)): path.read_bytes() for path in files if path.name != "times.jsonl"}


def test_inline_leaves_the_bytes_that_workers_leave(tmp_path: Path) -> None:
    graph = Graph(steps_for_tests.study(str(tmp_path / "side"), layers=4, width=3, sleep=0))
    inline, local = Workspace(tmp_path / "inline"), Workspace(tmp_path / "local")
    assert run(graph, inline, executor="inline") == RunSummary(12, 0, (), 0, 12)
    run(graph, local, options=Options(cpus=2))
    assert everything(inline) == everything(local)
    assert run(graph, inline, executor="inline") == RunSummary(0, 12, (), 0, 12)


def test_a_failure_blocks_what_needs_it_and_the_rest_goes_on(workspace: Workspace, tmp_path: Path) -> None:
    bad = step("fails", mended=str(tmp_path / "mended"))
    graph = Graph([step("total", step("total", bad)), step("total", value=3)])
    ran = run(graph, workspace, executor="inline")
    assert (ran.done, ran.blocked, [failure.message for failure in ran.failed]) == (
        1, 2, ["no such thing: 'x'. Mend it."],
    )  # fmt: skip
    (tmp_path / "mended").touch()
    assert run(graph, workspace, executor="inline").done == 0
    assert run(graph, workspace, executor="inline", retry=True).done == 3


@pytest.mark.parametrize("executor", ["inline", "local"])
def test_the_first_failure_is_raised_and_tried_again_by_the_next_run(
    workspace: Workspace, tmp_path: Path, executor: str
) -> None:
    side = tmp_path / "side"
    side.touch()
    graph = Graph(
        [step("total", value=1), step("fails", mended=str(tmp_path / "mended")), step("total", value=2, side=str(side))]
    )
    with pytest.raises(Exception, match="no such thing") as told:
        run(graph, workspace, executor=executor, options=Options(cpus=1), raise_first=True)
    assert executor == "local" or type(told.value) is InputError
    assert workspace.is_done(graph.steps[0].key)
    assert executor == "local" or side.read_text() == ""  # nothing after it ran
    (tmp_path / "mended").touch()
    assert run(graph, workspace, executor=executor, raise_first=True).failed == ()
    assert workspace.done() == {one.key for one in graph}


def test_a_step_gets_as_many_tries_as_asked_for(workspace: Workspace) -> None:
    flaky = step("fails_unless_tried_before")
    assert run(Graph([flaky]), workspace, executor="inline", options=Options(attempts=2)).done == 1


@pytest.mark.parametrize("executor", ["inline", "local"])
def test_a_paused_step_goes_on_in_the_next_run_and_is_no_failure(workspace: Workspace, executor: str) -> None:
    paused = step("pauses")
    graph = Graph([step("total", paused), step("total", value=3)])
    events: list[Event] = []
    first = run(graph, workspace, executor=executor, tell=events.append)
    assert first == RunSummary(1, 0, (), 1, 1, paused=1)
    assert "paused" in [event.what for event in events]
    assert (workspace.failures(), workspace.is_done(paused.key)) == ({}, False)
    assert workspace.state(paused.key).is_dir()
    assert run(graph, workspace, executor=executor) == RunSummary(2, 1, (), 0, 2)
    assert not workspace.state(paused.key).exists()


@pytest.mark.parametrize("executor", ["inline", "local"])
def test_after_the_time_asked_for_steps_pause_and_none_begins(workspace: Workspace, executor: str) -> None:
    slow = step("waits_to_pause")
    graph = Graph([slow, step("total", value=1, sleep=0.01)])
    first = run(graph, workspace, executor=executor, options=Options(cpus=1, stop_after=0.5))
    assert first.paused == (1 if executor == "inline" and workspace.is_done(graph.steps[1].key) else 2)
    assert 1 < int((workspace.state(slow.key) / "count").read_text()) < 100
    assert run(graph, workspace, executor=executor).paused == 0
    assert (workspace.step(slow.key) / "value").read_text() == "100"


@pytest.mark.parametrize("executor", ["inline", "local"])
def test_what_a_step_loaded_stays_for_the_next_and_goes_with_a_failure(
    workspace: Workspace, tmp_path: Path, executor: str
) -> None:
    side = tmp_path / "side"
    side.touch()
    steps = [step("loads", value=n, side=str(side), wrong=n == 2) for n in range(5)]
    ran = run(Graph(steps), workspace, executor=executor, options=Options(cpus=1))
    assert (ran.done, len(ran.failed)) == (4, 1)
    assert side.read_text() == "made\n" * 2


def test_threads_are_as_before_when_the_steps_are_through(workspace: Workspace) -> None:
    before = torch.get_num_threads(), os.environ.get("OMP_NUM_THREADS")
    asked = [step("threads", value=count, resources=Resources(cpus=count)) for count in (3, 2)]
    run(Graph(asked), workspace, executor="inline")
    assert [(workspace.step(one.key) / "value").read_text() for one in asked] == ["3 3", "2 2"]
    assert (torch.get_num_threads(), os.environ.get("OMP_NUM_THREADS")) == before


def test_steps_print_where_this_process_prints_and_a_failure_leaves_its_trace(
    workspace: Workspace, capfd: pytest.CaptureFixture[str]
) -> None:
    fine, bad = step("prints"), step("prints", wrong=True)
    ran = run(Graph([fine, bad]), workspace, executor="inline")
    assert capfd.readouterr().out == "a word\n" * 2
    assert "ValueError: wrong" in workspace.read_log(bad.key)
    assert "ValueError: wrong" in ran.failed[0].log
    assert not workspace.log(fine.key).exists()


def test_a_folder_that_was_removed_while_this_process_went_on_is_begun_anew(tmp_path: Path) -> None:
    import shutil

    for _ in range(2):
        workspace = Workspace(tmp_path / "run")
        assert run(Graph([step("total")]), workspace, executor="inline").done == 1
        shutil.rmtree(workspace.folder)


class _Second(SingleProcess):
    size = 2


def test_several_processes_run_the_same_steps_inline_only(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="Use the executor inline"):
        run(Graph([step("total")]), workspace, executor="local", options=Options(group=_Second()))
    assert not workspace.folder.exists()


SCRIPT = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from interlingua.engine.graph import Graph
from interlingua.engine.runner import run
from interlingua.engine.step import Step
from interlingua.engine.workspace import Workspace
from steps_for_tests import Settings
steps = [Step("steps_for_tests:group", Settings(value=n, side={side!r}, wrong={wrong} and n == 1)) for n in range(3)]
ran = run(Graph(steps), Workspace(Path({folder!r})), executor="inline", raise_first=True)
assert ran.done == {done}, ran
"""


def together(folder: Path, side: Path, *, done: int, wrong: bool = False) -> int:
    """Run the same script in two processes, as torchrun does; the exit code."""
    here = Path(__file__).resolve()
    path = [str(here.parents[2] / "src"), str(here.parents[1])]
    code = SCRIPT.format(path=path, side=str(side), folder=str(folder), done=done, wrong=wrong)
    return _run([sys.executable, "-c", code], os.environ, 2)


@pytest.mark.heavy
def test_processes_of_a_launcher_walk_the_same_steps_and_the_first_writes(tmp_path: Path) -> None:
    side, workspace = tmp_path / "side", Workspace(tmp_path / "run")
    side.touch()
    began = time.monotonic()
    assert together(workspace.folder, side, done=3, wrong=True) != 0
    assert time.monotonic() - began < 60, "the process that did not fail waited"
    assert len(workspace.done()) == 1
    assert together(workspace.folder, side, done=2) == 0
    values = [(workspace.step(key) / "value").read_text() for key in workspace.done()]
    assert values == ["2", "2", "2"]
    assert all((workspace.step(key) / "beside").is_file() for key in workspace.done())
    assert len(workspace.times.read_text().splitlines()) == 3
    heard = sorted(side.read_text().splitlines())
    assert {line for line in heard if line.startswith("1")} == {f"1 heard {n}" for n in range(3)}
    before = everything(workspace)
    assert together(workspace.folder, side, done=0) == 0
    assert everything(workspace) == before
