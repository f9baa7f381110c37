"""The folder of a run: whose it is, who is at work in it, and what of a step people see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlingua.engine.graph import Graph
from interlingua.engine.runner import run
from interlingua.engine.step import Step
from interlingua.engine.workspace import Workspace
from interlingua.errors import InputError, InterlinguaError
from steps_for_tests import Settings

OURS = {"name": "toy"}


def total(value: int) -> Step:
    return Step("steps_for_tests:total", Settings(value=value))


def test_a_run_begins_in_a_new_or_empty_folder_and_goes_on_in_its_own(tmp_path: Path) -> None:
    for folder in (tmp_path / "deep" / "new", tmp_path / "empty"):
        tmp_path.joinpath("empty").mkdir(exist_ok=True)
        workspace = Workspace(folder)
        for done in (1, 0):
            with workspace.acquire("study", OURS):
                assert run(Graph([total(1)]), workspace, executor="inline").done == done
        assert [path.name for path in workspace.work.iterdir()] == []


@pytest.mark.parametrize(
    ("kind", "identity", "problem"),
    [
        ("audit", OURS, "another run, one of interlingua study"),
        ("study", {"name": "other"}, r"another run \(its name differs: name toy → other\)"),
        ("study", {"name": "toy", "size": "tiny"}, r"another run \(its size differs\)"),
        ("study", {"title": "x"}, r"another run \(its name, title differ\)"),
    ],
)
def test_the_folder_of_another_run_is_refused_as_it_is(
    tmp_path: Path, kind: str, identity: dict[str, str], problem: str
) -> None:
    workspace = Workspace(tmp_path / "run")
    with workspace.acquire("study", OURS):
        run(Graph([total(1)]), workspace, executor="inline")
    before = everything(tmp_path)
    with pytest.raises(InputError, match=problem) as told, workspace.acquire(kind, identity):
        pass
    assert "--out" in told.value.remedy
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"letter.txt": "dear"}, "no run of ours"),
        ({"run.json": '{"kind": "audit"}'}, "one of interlingua audit"),
        ({"run.json": '{"kind": "study"}'}, r"before 0\.1\.0"),
        ({"steps/a": "", "work/b": "", "logs/c": ""}, r"before 0\.1\.0"),
        ({".interlingua/run.json": '{"layout": 2, "kind": "study"}'}, "a later version"),
        ({".interlingua/run.json": "half"}, "not what a run says"),
        ({"run.json": "half"}, "not what a run says"),
    ],
)
def test_a_folder_with_anything_else_is_refused_as_it_is(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = everything(tmp_path)
    with pytest.raises(InputError, match=problem) as told, Workspace(tmp_path).acquire("study", OURS):
        pass
    assert "--out" in told.value.remedy
    assert everything(tmp_path) == before


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"), Workspace(tmp_path / "file").acquire("study", OURS):
        pass
    with pytest.raises(InputError, match="cannot write"), Workspace(tmp_path / "file" / "run").acquire("study", OURS):
        pass


HOLD = """
import sys
from interlingua.engine.workspace import Workspace
with Workspace(sys.argv[1]).acquire("study", {"name": "toy"}):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_run_is_refused_while_the_first_lives_and_a_killed_one_is_taken_over(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "run")
    source = str(Path(__file__).resolve().parents[2] / "src")
    command = [sys.executable, "-c", HOLD, str(workspace.folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": source}
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match=f"another run is at work in this folder .process {other.pid} "):
            workspace.acquire("study", OURS).__enter__()
        with workspace.acquire("study", OURS, shared=True):
            pass
        other.kill()
        other.wait()
        with workspace.acquire("study", OURS):
            assert run(Graph([total(1)]), workspace, executor="inline").done == 1


def test_a_new_folder_goes_with_an_error_before_the_first_step_is_done(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "run")
    with pytest.raises(InterlinguaError, match="x"), workspace.acquire("study", OURS):
        raise InterlinguaError("x")
    assert not workspace.folder.exists()
    bad = Step("steps_for_tests:fails", Settings(mended=str(tmp_path / "mended")))
    for first in ([bad], [total(1), bad]):
        with pytest.raises(InputError, match="no such thing"), workspace.acquire("study", OURS):
            run(Graph(first), workspace, executor="inline", raise_first=True)
        assert workspace.folder.exists() == (len(first) == 2)
    assert workspace.is_done(total(1).key)
    with pytest.raises(InterlinguaError, match="x"), workspace.acquire("study", OURS):
        raise InterlinguaError("x")
    assert workspace.is_done(total(1).key)


def test_what_is_exported_outlives_the_step_it_is_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(95, "no links here")

    workspace, step = Workspace(tmp_path / "run"), total(7)
    run(Graph([step]), workspace, executor="inline")
    for name in ("linked", "copied"):
        if name == "copied":
            monkeypatch.setattr(os, "link", no_links)
        for _ in range(2):  # again is no error
            workspace.export(step.key, "value", f"{name}/value.txt")
            workspace.export(step.key, "heavy", f"{name}/weights")
    inode = (workspace.step(step.key) / "value").stat().st_ino
    assert (workspace.folder / "linked" / "value.txt").stat().st_ino == inode
    assert (workspace.folder / "copied" / "value.txt").stat().st_ino != inode
    workspace.drop(workspace.step(step.key))
    for name in ("linked", "copied"):
        assert (workspace.folder / name / "value.txt").read_text() == "7"
        assert (workspace.folder / name / "weights" / "weights").read_bytes() == b"w" * 1000


def test_a_run_says_whose_it_is(tmp_path: Path) -> None:
    with Workspace(tmp_path / "run").acquire("study", OURS):
        told = json.loads((tmp_path / "run" / ".interlingua" / "run.json").read_text())
    assert (told["kind"], told["identity"]) == ("study", OURS)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
