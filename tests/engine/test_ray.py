"""Steps on a real Ray cluster of two nodes on this machine: the same keys and bytes as here, whatever fails or dies."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import steps_for_tests
from interlingua.engine.digests import Digests
from interlingua.engine.executors import Options
from interlingua.engine.graph import Graph
from interlingua.engine.runner import run
from interlingua.engine.step import Resources, Step
from interlingua.engine.workspace import Workspace
from interlingua.errors import InterlinguaError
from steps_for_tests import Settings

pytestmark = pytest.mark.heavy
ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    from ray.cluster_utils import Cluster

    here = Path(__file__).resolve().parents[2]
    with pytest.MonkeyPatch.context() as patch:
        # Processes of the cluster find the package as an installed one is found.
        patch.setenv("PYTHONPATH", f"{here.parent / 'src'}{os.pathsep}{here}")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "resources": {"first": 1}})
        cluster.add_node(num_cpus=2, num_gpus=2)
        yield cluster.address
        cluster.shutdown()


@pytest.fixture
def options(address: str) -> Options:
    return Options(address=address)


def everything(workspace: Workspace) -> dict[str, bytes]:
    files = (path for path in sorted(workspace.folder.rglob("*")) if path.is_file())
    kept = {str(path.relative_to(workspace.folder)): path.read_bytes() for path in files}
    # A cluster's processes live on for the next run: their files in `work` and `logs` are no results.
    return {name: data for name, data in kept.items() if name != "times.jsonl" and "/." not in name}


def test_a_cluster_leaves_the_bytes_that_this_machine_leaves(tmp_path: Path, options: Options) -> None:
    side = tmp_path / "side"
    graph = Graph(steps_for_tests.study(str(side), sleep=0.0))
    there, here = Workspace(tmp_path / "there"), Workspace(tmp_path / "here")
    assert run(graph, there, executor="ray", options=options).done == 60
    run(graph, here, options=Options(cpus=2))
    assert everything(there) == everything(here)
    assert run(graph, there, executor="ray", options=options).done == 0


def test_a_failure_and_a_death_block_what_needs_them_and_nothing_else(tmp_path: Path, options: Options) -> None:
    fails = Step("steps_for_tests:fails", Settings(mended=str(tmp_path / "mended")))
    dies = Step("steps_for_tests:dies", Settings(signal="SIGKILL"))
    above = [
        Step("steps_for_tests:total", Settings(value=number), {"below": below})
        for number, below in enumerate((fails, dies))
    ]
    top = Step("steps_for_tests:total", Settings(value=5), {"a": above[0], "b": above[1]})
    free = Step("steps_for_tests:total", Settings(value=6))
    workspace = Workspace(tmp_path / "study")
    ran = run(Graph([top, free]), workspace, executor="ray", options=options)
    assert (ran.done, ran.blocked) == (1, 3)
    told = {failure.kind: failure for failure in ran.failed}
    assert told.keys() == {"fails", "dies"}
    assert told["fails"].message == "no such thing: 'x'. Mend it."
    assert "WorkerCrashed" in told["dies"].message
    assert told["dies"].log.startswith("its last words")
    (tmp_path / "mended").touch()
    again = run(Graph([top, free]), workspace, executor="ray", options=options, retry=True)
    assert (again.done, again.blocked, [failure.kind for failure in again.failed]) == (2, 2, ["dies"])


def test_a_step_that_fails_or_dies_gets_the_tries_asked_for(tmp_path: Path, address: str) -> None:
    names = ("fails_unless_tried_before", "counts_in_its_state")
    steps = [Step(f"steps_for_tests:{name}", Settings()) for name in names]
    workspace = Workspace(tmp_path / "study")
    ran = run(Graph(steps), workspace, executor="ray", options=Options(address=address, attempts=2))
    assert (ran.done, ran.failed) == (2, ())
    assert (workspace.step(steps[1].key) / "value").read_text() == "10 from 7"


def test_steps_get_the_gpus_and_threads_they_ask_for(tmp_path: Path, options: Options) -> None:
    shapes = [Resources(gpus=0), Resources(gpus=1), Resources(gpus=0.5), Resources(cpus=2, gpus=2)]
    graph = Graph(
        Step("steps_for_tests:environment", Settings(told=str(tmp_path / f"{n}")), resources=shape)
        for n, shape in enumerate(shapes)
    )
    assert run(graph, Workspace(tmp_path / "study"), executor="ray", options=options).done == 4
    told = [json.loads((tmp_path / str(n)).read_text()) for n in range(4)]
    assert [len(one["gpus"].split(",")) if one["gpus"] else 0 for one in told] == [0, 1, 1, 2]
    assert [one["threads"] for one in told] == ["1", "1", "1", "2"]


def test_a_full_disk_stops_a_run_on_a_cluster(tmp_path: Path, options: Options) -> None:
    full = Step("steps_for_tests:fills_the_disk", Settings())
    above = Step("steps_for_tests:total", Settings(value=1), {"below": full})
    with pytest.raises(InterlinguaError, match="no space left"):
        run(Graph([above]), Workspace(tmp_path / "study"), executor="ray", options=options)


def test_no_cluster_is_an_error_that_says_how_to_start_one(tmp_path: Path) -> None:
    workspace, graph = Workspace(tmp_path / "study"), Graph([Step("steps_for_tests:trivial", Settings())])
    with pytest.raises(InterlinguaError, match="ray start --head"), workspace.acquire("study", {}):
        run(graph, workspace, executor="ray", options=Options(address="127.0.0.1:1"))
    assert not (tmp_path / "study").exists()


def test_workers_of_a_cluster_load_the_files_of_a_step(tmp_path: Path, options: Options) -> None:
    (tmp_path / "mine.py").write_text(
        "from interlingua.measures import measures\n"
        "@measures.register('fourfold')\n"
        "def fourfold(source, target):\n"
        "    'Nothing.'\n",
        "utf-8",
    )
    file = Digests().file(tmp_path / "mine.py")
    steps = [Step("steps_for_tests:knows", Settings(measure="fourfold"), load=(file,))]
    ran = run(Graph(steps), Workspace(tmp_path / "out"), executor="ray", options=options)
    assert not ran.failed, ran.failed
