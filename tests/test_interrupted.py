"""Ctrl-C ends a command with one line and code 130, and a folder with a run of another command is refused by name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest
from typer.testing import CliRunner

import interlingua
from interlingua.cli.app import app, main
from interlingua.encoder import Encoder
from interlingua.engine.workspace import Workspace
from interlingua.errors import InputError, RunInterrupted
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
    "study": "interlingua.commands.study.PlannedStudy.run",
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
    kept = f"interrupted: what was done is kept in {out}; the same command continues from there.\n"
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


def test_a_second_run_of_explain_is_refused_too(world: World, tmp_path: Path) -> None:
    encoder, task = Encoder.load(world["model"], device="cpu", precision="fp32"), tasks["nli"].call()
    examples = task.read(world["nli-test-en.tsv"], "en")
    labels = task.labels(examples)
    save(FineTuned(task, labels, TaskModel.of(encoder, task, labels, seed=0), encoder), tmp_path / "tuned")
    files = {code: world[f"nli-test-{code}.tsv"] for code in ("en", "ru")}
    busy = Workspace(tmp_path / "out").acquire("explain", {})
    with busy, pytest.raises(InputError, match="another run is at work"):
        interlingua.explain(tmp_path / "tuned", files, out=tmp_path / "out", device="cpu")


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
    assert str(tmp_path) in str(RunInterrupted(tmp_path))
    assert "begins anew" in str(RunInterrupted(tmp_path / "none"))
