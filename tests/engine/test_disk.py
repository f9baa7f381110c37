"""What a study takes of the disk, and what can go: heavy parts that nobody needs any more, and other studies' steps."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlingua.engine.disk import garbage, remove, size, usage
from interlingua.engine.executors import Options
from interlingua.engine.graph import Graph
from interlingua.engine.locks import Owner
from interlingua.engine.runner import keep_all_heavy, run
from interlingua.engine.step import Step
from interlingua.engine.workspace import Workspace
from record_store import record_lines
from steps_for_tests import Settings


def total(value: int, *needs: Step) -> Step:
    roles = {str(number): need for number, need in enumerate(needs)}
    return Step("steps_for_tests:total" if needs else "steps_for_tests:base", Settings(value=value), roles)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "study")


def test_disk_use_is_counted_by_kind(workspace: Workspace) -> None:
    graph = Graph([total(1, total(2)), total(3, total(2))])
    run(graph, workspace, options=Options(cpus=1), keep=keep_all_heavy)
    found = {use.kind: use for use in usage(graph, workspace)}
    assert {kind: (use.steps, use.heavy) for kind, use in found.items()} == {"base": (1, 1000), "total": (2, 2000)}
    files = [path for path in (workspace.inner / "steps").rglob("*") if path.is_file()]
    assert sum(use.bytes for use in found.values()) == sum(path.stat().st_size for path in files)
    assert [use.kind for use in usage(Graph([]), workspace)] == ["not in this run"]


def test_only_the_heavy_part_of_what_nobody_needs_any_more_goes(workspace: Workspace) -> None:
    base = total(2)
    graph = Graph([total(1, base), total(3, base)])
    run(Graph([total(1, base)]), workspace, options=Options(cpus=1), keep=keep_all_heavy)
    assert garbage(graph, workspace) == ()  # one that needs it is not done yet
    run(graph, workspace, options=Options(cpus=1), keep=keep_all_heavy)
    records = record_lines(workspace.folder)
    waste = garbage(graph, workspace)
    assert [one.path for one in waste] == [workspace.step(base.key) / "heavy"]  # leaves were asked for themselves
    assert remove(waste, workspace) == 1000
    assert size(workspace.step(base.key) / "heavy") == 0
    assert garbage(graph, workspace) == ()
    assert run(graph, workspace, options=Options(cpus=1), keep=keep_all_heavy).done == 0
    assert record_lines(workspace.folder) == records


def test_what_lost_its_heavy_part_is_made_again_for_a_new_step(workspace: Workspace) -> None:
    base = total(2)
    graph = Graph([total(1, base)])
    run(graph, workspace, options=Options(cpus=1), keep=keep_all_heavy)
    remove(garbage(graph, workspace), workspace)
    more = Graph([total(1, base), total(5, base)])
    assert run(more, workspace, options=Options(cpus=1), keep=keep_all_heavy).done == 2
    assert (workspace.step(base.key) / "heavy" / "weights").is_file()
    assert run(more, workspace, options=Options(cpus=1), keep=keep_all_heavy).done == 0


def test_steps_states_and_failures_of_an_earlier_study_go(workspace: Workspace) -> None:
    old, new = total(1), total(2)
    run(Graph([old, new]), workspace, options=Options(cpus=1), keep=keep_all_heavy)
    workspace.state("gone").mkdir()
    workspace.state("held").mkdir()
    workspace.log("gone").write_text("words")
    assert Owner(workspace.work).take(workspace.lock("held"))
    graph = Graph([new])
    waste = garbage(graph, workspace)
    assert [one.path for one in waste] == [workspace.step(old.key), workspace.state("gone"), workspace.log("gone")]
    remove(waste, workspace)
    assert workspace.done() == {new.key}
    assert workspace.state("held").exists()
    assert garbage(graph, workspace) == ()


def test_a_heavy_part_goes_when_the_last_step_that_needs_it_is_done(workspace: Workspace) -> None:
    base = total(2)
    leaves = [total(1, base), total(3, base)]
    heavy = workspace.step(base.key) / "heavy"
    kept = Graph([total(1, base)])
    run(kept, workspace, options=Options(cpus=1), keep=lambda step: step.kind == "base")
    assert heavy.is_dir()
    run(Graph(leaves), workspace, options=Options(cpus=1))
    assert not heavy.exists()
    assert workspace.is_pruned(base.key)
    assert all((workspace.step(leaf.key) / "heavy").is_dir() for leaf in leaves)  # they were asked for themselves
    assert run(Graph(leaves), workspace, options=Options(cpus=1)).done == 0


def test_what_a_killed_run_had_no_time_to_remove_goes_at_the_next_run_of_a_command(workspace: Workspace) -> None:
    base = total(2)
    graph = Graph([total(1, base)])
    heavy = workspace.step(base.key) / "heavy"
    run(graph, workspace, executor="inline", raise_first=True, keep=keep_all_heavy)  # Killed before it was removed.
    assert heavy.is_dir()
    assert run(graph, workspace, executor="inline", raise_first=True).done == 0
    assert not heavy.exists()
    heavy.mkdir()  # Killed when it was marked, and not removed yet.
    assert run(graph, workspace, executor="inline", raise_first=True).done == 0
    assert not heavy.exists()


def test_a_heavy_part_stays_while_a_step_that_needs_it_has_failed(workspace: Workspace, tmp_path: Path) -> None:
    base = total(2)
    mended = tmp_path / "mended"
    bad = Step("steps_for_tests:fails", Settings(mended=str(mended)), {"base": base})
    graph = Graph([total(1, base), bad])
    assert run(graph, workspace, options=Options(cpus=1)).done == 2
    assert (workspace.step(base.key) / "heavy").is_dir()
    mended.touch()
    assert run(graph, workspace, options=Options(cpus=1), retry=True).done == 1  # the base is not made again
    assert not (workspace.step(base.key) / "heavy").exists()


def test_the_lock_of_who_was_killed_when_its_step_was_done_goes(workspace: Workspace) -> None:
    graph = Graph([total(1)])
    run(graph, workspace, executor="inline")
    done, undone = workspace.lock(graph.steps[0].key), workspace.lock("undone")
    if (child := os.fork()) == 0:
        Owner(workspace.work).take(done)
        Owner(workspace.work).take(undone)
        os._exit(0)
    os.waitpid(child, 0)
    assert done.exists()
    run(graph, workspace, executor="inline")
    assert not done.exists()
    assert undone.exists()  # Who takes it next tells that its owner is dead.


def test_the_log_of_a_failure_goes_when_the_step_is_done(workspace: Workspace) -> None:
    flaky = Step("steps_for_tests:fails_unless_tried_before", Settings())
    with pytest.raises(RuntimeError):
        run(Graph([flaky]), workspace, executor="inline", raise_first=True)
    assert "RuntimeError: the first try" in workspace.log(flaky.key).read_text("utf-8")
    run(Graph([flaky]), workspace, executor="inline", raise_first=True)
    assert not workspace.log(flaky.key).exists()
