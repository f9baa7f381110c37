"""`interlingua study`: checks with lines and exit code 2, a plan, a run that goes on, a report."""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import interlingua
from interlingua.analyses.published_numbers import COLUMNS, read_published
from interlingua.cli import app
from interlingua.errors import InputError
from worlds import World, make_world

Run = Callable[..., tuple[int, str, str]]
STUDY = """
name = "world"
paper = "Efimov et al. 2023"
published = "published.tsv"
languages = ["ru"]
seeds = 2
[encoders.bert]
model = "model"
[tasks.ner]
train = "ner-train-{source}.tsv"
tests = "ner-test-{language}.tsv"
epochs = 1
learning_rate = 5e-3
"""
PAPER = ("Efimov et al. 2023 Table 3, row 1, ru", "mbert", "ner", "en", "ru", "f1/token", "original", "0.6343", "")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    made = make_world(tmp_path_factory.mktemp("world"))
    (made.folder / "study.toml").write_text(STUDY, "utf-8")
    (made.folder / "published.tsv").write_text("\t".join(COLUMNS) + "\n" + "\t".join(PAPER) + "\n", "utf-8")
    return made


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def call(*arguments: Any) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["interlingua", "study", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            app.main()
        told = capsys.readouterr()
        return int(end.value.code or 0), told.out, told.err

    return call


def test_a_right_file_is_said_to_be_right(world: World, run: Run) -> None:
    code, out, err = run("status", world["study.toml"], "--out", world.folder / "nowhere")
    assert (code, out) == (2, "")
    assert "nowhere: nothing was run yet in this folder. Run it first" in err
    assert not (world.folder / "nowhere").exists()
    assert "" not in json.loads(run("check", world["study.toml"], "--json")[1])
    code, out, _ = run("check", world["study.toml"])
    assert code == 0
    assert "right, 4 steps" in out


def test_all_that_is_wrong_is_on_stderr_with_exit_code_2(world: World, run: Run) -> None:
    path = world.folder / "wrong.toml"
    path.write_text(STUDY.replace("epochs", "epoch").replace('"ru"', '"q7"').replace("seeds = 2", "seeds = 0"), "utf-8")
    code, out, err = run("check", path)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    for line in (5, 6, 12):
        assert f"wrong.toml:{line}: " in err
    assert "Did you mean 'epochs'?" in err
    assert "Traceback" not in err


def test_a_plan_counts_steps_and_writes_nothing(world: World, run: Run, tmp_path: Path) -> None:
    code, out, _ = run("plan", world["study.toml"], "--out", tmp_path / "out", "--json", "--steps")
    told = json.loads(out)
    assert code == 0
    assert told["plan"]["needed"] == 4
    assert [step["kind"] for step in told["steps"]].count("finetune") == 2
    assert not (tmp_path / "out").exists()
    assert "4 of 4 steps to run" in run("plan", world["study.toml"], "--out", tmp_path / "out")[1]


def test_a_study_is_run_once_told_again_and_lays_the_papers_numbers_beside(
    world: World, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    given = (world["study.toml"], "--out", tmp_path / "out")
    code, out, err = run("run", *given, "--cpus", "1", "--keep", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert told["ran"] == {"done": 4, "reused": 0, "failed": 0, "blocked": 0}
    [beside] = told["beside"]
    assert (beside["paper"], beside["encoder"]) == (0.6343, "bert")
    records = interlingua.open_records(tmp_path / "out").read()
    code, out, _ = run("run", *given, "--json")
    assert json.loads(out)["ran"] == {"done": 0, "reused": 4, "failed": 0, "blocked": 0}
    assert interlingua.open_records(tmp_path / "out").read() == records
    code, out, _ = run("report", *given)
    page = html.unescape(re.sub(r"<[^>]+>", "", (tmp_path / "out" / "report.html").read_text("utf-8")))
    answer = " ".join(out.split("\n\n")[1].split())
    assert answer.endswith(".")
    assert answer in " ".join(page.split())
    for name in ("study.json", "summary.md", "tables/beside-the-paper.tex", "tables/f1-token.md"):
        assert (tmp_path / "out" / name).is_file()
    assert "Table 3, row 1, ru" in (tmp_path / "out" / "tables" / "beside-the-paper.csv").read_text("utf-8")
    again = interlingua.report_on(tmp_path / "out").to_dict()
    written = json.loads(run("report", *given, "--json")[1])["report"]
    assert (again["answer"], again["findings"]) == (written["answer"], written["findings"])
    status = json.loads(run("status", *given, "--json")[1])
    assert status["plan"]["done"] == 4
    assert {use["kind"] for use in status["disk"]} == {"finetune", "predict"}
    assert json.loads(run("gc", *given, "--json")[1])["removed"] == 0
    freed = json.loads(run("gc", *given, "--yes", "--json")[1])["removed"]
    assert freed > 0
    # What is gone is not needed: nothing runs again.
    assert json.loads(run("run", *given, "--json")[1])["ran"]["done"] == 0


def test_a_failed_step_is_told_what_needs_it_waits_and_the_exit_code_is_1(
    world: World, run: Run, tmp_path: Path
) -> None:
    (world.folder / "broken.tsv").write_text("a word without a tag\n", "utf-8")
    path = world.folder / "broken.toml"
    study = STUDY.replace("published", "about").replace("ner-train-{source}.tsv", "broken.tsv")
    path.write_text(study.replace("seeds = 2", "seeds = 1"), "utf-8")
    given = (path, "--out", tmp_path / "out", "--cpus", "1")
    code, out, err = run("run", *given, "--json")
    assert code == 1, err
    told = json.loads(out)
    assert told["ran"] == {"done": 0, "reused": 0, "failed": 1, "blocked": 1}
    assert "failed: finetune bert ner en original seed 0" in err
    assert "broken.tsv" in err
    [named] = interlingua.study(path, out=tmp_path / "out").about["failed"]
    assert named.startswith("finetune bert ner en original seed 0: ")
    assert "broken.tsv" in named
    assert json.loads(run("plan", *given[:3], "--json")[1])["plan"]["failed"] == 1
    again = json.loads(run("plan", *given[:3], "--retry", "--steps", "--json")[1])
    assert again["plan"]["needed"] == 2
    assert {step["state"] for step in again["steps"]} == {"needed"}
    lines = run("plan", *given[:3], "--retry", "--steps")[1].splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["needed", "needed"]


def test_a_report_before_a_run_says_what_to_do(world: World, run: Run, tmp_path: Path) -> None:
    code, _, err = run("report", world["study.toml"], "--out", tmp_path / "none")
    assert code == 2
    assert "interlingua study run" in err


def test_a_folder_of_something_else_is_refused(world: World, run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine", "utf-8")
    for place in (tmp_path, tmp_path / "notes"):
        code, _, err = run("run", world["study.toml"], "--out", place)
        assert code == 2
        assert "error: " in err
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes"]


def test_published_numbers_are_read_strictly(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text("# a comment\n" + "\t".join(COLUMNS) + "\n" + "\t".join(PAPER) + "\n", "utf-8")
    [found] = read_published(path)
    assert found.cell == ("ner", "en", "ru", "f1/token", "original")
    path.write_text("\t".join(COLUMNS) + "\n" + "\t".join((*PAPER[:7], "x", "")) + "\n", "utf-8")
    with pytest.raises(InputError, match=r"p\.tsv:2"):
        read_published(path)
