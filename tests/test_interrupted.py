"""Ctrl-C ends a command with one line and code 130, and a folder with a run of another command is refused by name."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from typer.testing import CliRunner

import interlingua
from interlingua.cli.app import app, main
from interlingua.commands.audit import compile_audit
from interlingua.commands.command import call_with
from interlingua.encoder import Encoder
from interlingua.engine.workspace import Workspace
from interlingua.errors import InputError, Interrupted
from interlingua.studies.config.schema import AuditCommand
from interlingua.studies.run_folder import alone_in, check_folder, kind_of
from interlingua.tasks import tasks
from interlingua.tasks.saved_models import FineTuned, save
from interlingua.training.task import TaskModel
from worlds import World, make_world

SOURCE = Path(next(iter(interlingua.__path__))).parent
STUDY = """
name = "world"
languages = ["ru"]
seeds = 1
[encoders.bert]
model = "model"
[tasks.ner]
train = "ner-train-{source}.tsv"
tests = "ner-test-{language}.tsv"
epochs = 300
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    made = make_world(tmp_path_factory.mktemp("world"))
    (made.folder / "study.toml").write_text(STUDY, "utf-8")
    return made


def commands(world: World, out: Path) -> dict[str, list[str]]:
    """Every command that goes on in its folder, with little to do."""
    ner = ["--train", world["ner-train-en.tsv"], "--test", f"ru={world['ner-test-ru.tsv']}", "--device", "cpu"]
    pairs = ["--bitext", world["bitext.en-ru.tsv"], "--device", "cpu"]
    return {
        "audit": ["audit", world["model"], "--corpus", world["parallel.tsv"], "--cache", "none", "--out", str(out)],
        "adjust": ["adjust", world["model"], *pairs, "--out", str(out)],
        "transfer": ["transfer", world["model"], "--task", "ner", *ner, "--out", str(out)],
        "explain": ["explain", world["model"], f"--test=en={world['parallel.tsv']}", "--out", str(out)],
        "geometry": ["geometry", world["model"], "--out", str(out)],
        "pretrain": ["pretrain", world["study.toml"], "--out", str(out)],
        "study": ["study", "run", world["study.toml"], "--out", str(out)],
    }


CALLED = {
    "audit": "interlingua.commands.audit.audit",
    "adjust": "interlingua.commands.adjust.adjust",
    "transfer": "interlingua.commands.transfer.transfer",
    "explain": "interlingua.commands.explain.explain",
    "geometry": "interlingua.commands.geometry.geometry",
    "pretrain": "interlingua.commands.pretrain.pretrain",
    "study": "interlingua.commands.study.Planned.run",
}


@pytest.mark.parametrize("name", CALLED)
@pytest.mark.parametrize("begun", [True, False])
def test_ctrl_c_is_one_line_that_says_what_is_kept(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str,
    begun: bool,
) -> None:  # fmt: skip
    out = tmp_path / "out"

    def stopped(*_: Any, **__: Any) -> NoReturn:
        if begun:
            out.mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(CALLED[name], stopped)
    monkeypatch.setattr(sys, "argv", ["interlingua", *commands(world, out)[name]])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 130
    kept = f"interrupted: what was done is kept in {out}; the same command goes on from there.\n"
    told = capsys.readouterr()
    assert told.err == (kept if begun else "interrupted: nothing was done yet; the same command begins anew.\n")
    assert not told.out


@pytest.mark.parametrize(
    ("called", "command"),
    [
        ("interlingua.analyses.word_alignment.align", ["align", "x.tsv"]),
        ("interlingua.commands.report.report_on", ["report", "."]),
        ("interlingua.commands.synth.synth", ["synth", "--out", "x"]),
        ("interlingua.commands.study.check_study", ["study", "check", "x.toml"]),
        ("interlingua.commands.explain.explain_rows", ["explain", "x", "--test", "en=x", "--row", "1"]),
    ],
)
def test_ctrl_c_of_a_command_that_keeps_nothing_is_one_line_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], called: str, command: list[str]
) -> None:
    def stopped(*_: Any, **__: Any) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(called, stopped)
    monkeypatch.setattr(sys, "argv", ["interlingua", *command])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 130
    assert capsys.readouterr().err == "interrupted: give the same command again.\n"


@pytest.mark.parametrize("name", ["adjust", "transfer", "geometry"])
def test_a_second_run_in_a_folder_is_refused_by_name_and_touches_nothing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    out = tmp_path / "new" / "out"
    monkeypatch.setattr(
        sys, "argv", ["interlingua", *commands(world, out)[name], *(["--small"] if name == "geometry" else [])]
    )
    with alone_in(out, name):
        before = sorted(out.rglob("*"))
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        said = capsys.readouterr().err
        assert f"another run is at work in this folder (process {os.getpid()} on " in said
        assert sorted(out.rglob("*")) == before
    assert list(tmp_path.iterdir()) == []


def test_a_second_run_of_audit_is_refused_too(world: World, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    given = AuditCommand(world["model"], world["parallel.tsv"], cache="none", out=out)
    with Workspace(out).acquire("audit", compile_audit(given).identity):
        before = sorted(out.rglob("*"))
        with pytest.raises(InputError, match=rf"another run is at work in this folder \(process {os.getpid()} on "):
            call_with(interlingua.audit, given)
        assert sorted(out.rglob("*")) == before


def test_a_second_run_of_explain_is_refused_too(world: World, tmp_path: Path) -> None:
    encoder, task = Encoder.load(world["model"], device="cpu", precision="fp32"), tasks["nli"].call()
    examples = task.read(world["nli-test-en.tsv"], "en")
    labels = task.labels(examples)
    save(FineTuned(task, labels, TaskModel.of(encoder, task, labels, seed=0), encoder), tmp_path / "tuned")
    files = {code: world[f"nli-test-{code}.tsv"] for code in ("en", "ru")}
    with alone_in(tmp_path / "out", "explain"), pytest.raises(InputError, match="another run is at work"):
        interlingua.explain(tmp_path / "tuned", files, out=tmp_path / "out", device="cpu")


def test_the_lock_of_a_killed_run_does_not_block_and_is_cleared_away(tmp_path: Path) -> None:
    code = "import pathlib, sys, time; from interlingua.studies.run_folder import alone_in\n"
    code += "with alone_in(pathlib.Path(sys.argv[1]), 'audit'): print('in', flush=True); time.sleep(60)"
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
    out = tmp_path / "out"
    with subprocess.Popen([sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE, text=True, env=env) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        with pytest.raises(InputError, match=f"process {other.pid} on "), alone_in(out, "audit"):
            pytest.fail("two runs in one folder")
        other.kill()
    assert (out / ".running" / "lock").is_file()
    check_folder(out, kind="audit")
    with alone_in(out, "audit"):
        pass
    assert list(out.iterdir()) == []


def stopped_when(command: list[str], begun: Callable[[], bool]) -> tuple[int, str]:
    """A command of its own process, which gets the signal of Ctrl-C once something is true."""
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "interlingua", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    ) as process:
        until = time.monotonic() + 120
        while not begun() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    return process.returncode, err


@pytest.mark.parametrize("name", ["transfer", "study"])
def test_a_signal_ends_a_run_in_training_without_a_traceback(world: World, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    command = commands(world, out)[name] + (["--epochs", "300"] if name == "transfer" else ["--cpus", "1"])
    place = out / (".training" if name == "transfer" else ".interlingua/work")
    code, err = stopped_when(command, lambda: place.is_dir() and any(place.iterdir()))
    assert code == 130, err
    assert "Traceback" not in err
    assert err.splitlines()[-1] == f"interrupted: what was done is kept in {out}; the same command goes on from there."


def make_run(out: Path, kind: str) -> None:
    """What is left of a run of a kind: enough to tell it by."""
    out.mkdir()
    if kind in ("study", "pretrain", "synth", "adjust"):
        (out / ".interlingua").mkdir()
        (out / ".interlingua" / "run.json").write_text(json.dumps({"layout": 1, "kind": kind, "identity": {}}))
    else:
        (out / "run.json").write_text(json.dumps({"kind": kind}))
        (out / "steps").mkdir()


KINDS = ("audit", "transfer", "explain", "geometry", "adjust", "pretrain", "synth", "study")
ASKED = ("audit", "transfer", "adjust", "study", "synth")


@pytest.mark.parametrize(("asked", "there"), [(one, other) for one in ASKED for other in KINDS if one != other])
def test_a_folder_with_a_run_of_another_command_is_refused_by_its_name(
    world: World, tmp_path: Path, asked: str, there: str
) -> None:
    out = tmp_path / "out"
    make_run(out, there)
    assert kind_of(out) == there
    before = sorted(path.name for path in out.rglob("*"))
    command = {**commands(world, out), "synth": ["synth", "--rows", "20", "--out", str(out)]}[asked]
    done = CliRunner().invoke(app, command)
    assert isinstance(done.exception, InputError), done.output
    assert str(done.exception) == (
        f"{out}: the folder holds another run, one of interlingua {there}. Name another --out for this {asked}, or "
        "remove that folder."
    )
    assert sorted(path.name for path in out.rglob("*")) == before


def test_an_interruption_is_an_error_of_ours_that_names_its_folder(tmp_path: Path) -> None:
    assert str(tmp_path) in str(Interrupted(tmp_path))
    assert "begins anew" in str(Interrupted(tmp_path / "none"))
