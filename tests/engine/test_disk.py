"""What a study takes of the disk, and what can go: heavy parts that nobody needs any more, and other studies' steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlingua.engine.disk import garbage, remove, size, usage
from interlingua.engine.executors import Options
from interlingua.engine.graph import Graph
from interlingua.engine.locks import Owner
from interlingua.engine.runner import run
from interlingua.engine.step import Step
from interlingua.engine.workspace import Home


def total(value: int, *needs: Step) -> Step:
    roles = {str(number): need for number, need in enumerate(needs)}
    return Step("leaf" if needs else "base", "steps_for_tests:total", {"value": value}, roles)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "study")


def test_disk_use_is_counted_by_kind(home: Home) -> None:
    graph = Graph([total(1, total(2)), total(3, total(2))])
    run(graph, home, options=Options(cpus=1))
    found = {use.kind: use for use in usage(graph, home)}
    assert {kind: (use.steps, use.heavy) for kind, use in found.items()} == {"base": (1, 1000), "leaf": (2, 2000)}
    files = [path for path in (home.folder / "steps").rglob("*") if path.is_file()]
    assert sum(use.bytes for use in found.values()) == sum(path.stat().st_size for path in files)
    assert [use.kind for use in usage(Graph([]), home)] == ["not in this study"]


def test_only_the_heavy_part_of_what_nobody_needs_any_more_goes(home: Home) -> None:
    base = total(2)
    graph = Graph([total(1, base), total(3, base)])
    run(Graph([total(1, base)]), home, options=Options(cpus=1))
    assert garbage(graph, home) == ()  # one that needs it is not done yet
    run(graph, home, options=Options(cpus=1))
    records = (home.folder / "records.jsonl").read_bytes()
    waste = garbage(graph, home)
    assert [one.path for one in waste] == [home.step(base.key) / "heavy"]  # leaves were asked for themselves
    assert remove(waste, home) == 1000
    assert size(home.step(base.key) / "heavy") == 0
    assert garbage(graph, home) == ()
    assert run(graph, home, options=Options(cpus=1)).done == 0
    assert (home.folder / "records.jsonl").read_bytes() == records


def test_what_lost_its_heavy_part_is_made_again_for_a_new_step(home: Home) -> None:
    base = total(2)
    graph = Graph([total(1, base)])
    run(graph, home, options=Options(cpus=1))
    remove(garbage(graph, home), home)
    more = Graph([total(1, base), total(5, base)])
    assert run(more, home, options=Options(cpus=1)).done == 2
    assert (home.step(base.key) / "heavy" / "weights").is_file()
    assert run(more, home, options=Options(cpus=1)).done == 0


def test_steps_states_and_failures_of_an_earlier_study_go(home: Home) -> None:
    old, new = total(1), total(2)
    run(Graph([old, new]), home, options=Options(cpus=1))
    home.state("gone").mkdir()
    home.state("held").mkdir()
    home.log("gone").write_text("words")
    assert Owner(home.work).take(home.lock("held"))
    graph = Graph([new])
    waste = garbage(graph, home)
    assert [one.path for one in waste] == [home.step(old.key), home.state("gone"), home.log("gone")]
    remove(waste, home)
    assert home.done() == {new.key}
    assert home.state("held").exists()
    assert garbage(graph, home) == ()
