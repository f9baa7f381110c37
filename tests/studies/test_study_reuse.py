"""One's own model in a shipped study, earlier runs taken over, and tables written as TOML."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from interlingua.cli.app import app
from interlingua.commands.study import plan_study
from interlingua.errors import InputError
from interlingua.studies.config.study_file import read_tables
from interlingua.studies.config.toml_file import ProblemList, to_toml
from record_store import record_lines
from worlds import World, make_world

SHIPPED = sorted((Path(__file__).resolve().parents[2] / "studies").glob("*.toml"))
STUDY = """
name = "world"
languages = ["ru"]
seeds = 1

[encoders.bert]
model = "model"

[tasks.ner]
train = "ner-train-{source}.tsv"
tests = "ner-test-{language}.tsv"
epochs = 1
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    made = make_world(tmp_path_factory.mktemp("world"), dropout=0.0)
    (made.folder / "study.toml").write_text(STUDY, "utf-8")
    return made


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
@pytest.mark.parametrize("size", ["tiny", "small", "paper"])
def test_a_study_written_as_toml_is_read_back_as_it_was(file: Path, size: str, tmp_path: Path) -> None:
    table, problems, _ = read_tables(file, size)
    problems.check()
    again = tmp_path / "again.toml"
    again.write_text(to_toml(table), "utf-8")
    read, problems, _ = read_tables(again)
    problems.check()
    assert read == table


def test_odd_texts_survive_being_written(tmp_path: Path) -> None:
    names = ['quote"d', "back\\slash", "line\nbreak", "tab\t\x7f\x01", "кириллица", "", "a.b", "#x"]
    text = to_toml(read_tables(SHIPPED[0], "tiny")[0])
    lines = "".join(f"[encoders.{json.dumps(name)}]\nmodel = {json.dumps(name)}\n" for name in names)
    (tmp_path / "odd.toml").write_text(text + lines.replace("\x7f", "\\u007f"), "utf-8")
    table, problems, _ = read_tables(tmp_path / "odd.toml")
    problems.check()
    (tmp_path / "again.toml").write_text(to_toml(table), "utf-8")
    assert read_tables(tmp_path / "again.toml")[0] == table
    assert table is not None
    assert [table.encoders[name].model for name in names] == names


def test_ones_own_model_takes_the_place_of_an_encoder_or_stands_beside_it(world: World, tmp_path: Path) -> None:
    own = tmp_path / "own"
    shutil.copytree(world.folder / "model", own)
    (own / "note.txt").write_text("another folder", "utf-8")
    file, out = world.folder / "study.toml", tmp_path / "out"
    usual = plan_study(file, out=out)
    instead = plan_study(file, out=out, encoders={"bert": own})
    beside = plan_study(file, out=out, encoders={"mine": own})
    keys = [{step.key for step in planned.graph} for planned in (usual, instead, beside)]
    assert len(keys[0]) == len(keys[1])
    assert not keys[0] & keys[1]
    assert keys[0] < keys[2]
    with pytest.raises(InputError, match="no such model folder"):
        plan_study(file, out=out, encoders={"bert": "./nowhere"})


def test_steps_of_an_earlier_run_are_taken_over_where_they_are_the_same(world: World, tmp_path: Path) -> None:
    file, first, second = world["study.toml"], str(tmp_path / "first"), str(tmp_path / "second")
    run = ["study", "run", file, "--executor", "inline", "--json"]
    assert CliRunner().invoke(app, [*run, "--out", first]).exit_code == 0
    done = CliRunner().invoke(app, [*run, "--out", second, "--reuse", first])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["ran"]
    assert (told["done"], told["failed"]) == (0, 0)
    assert told["reused"] > 0
    assert record_lines(tmp_path / "first") == record_lines(tmp_path / "second")
    done = CliRunner().invoke(app, [*run, "--out", second, "--reuse", str(tmp_path)])
    assert isinstance(done.exception, InputError)
    assert "no run of interlingua" in str(done.exception)


def test_a_damaged_step_is_not_taken_over(world: World, tmp_path: Path) -> None:
    file, first = world.folder / "study.toml", tmp_path / "first"
    plan_study(file, out=first).run(executor="inline", keep=True)
    broken = next(step for step in plan_study(file, out=first).graph if step.kind == "predict")
    (first / ".interlingua" / "steps" / broken.key / "records.jsonl.gz").write_bytes(b"")
    ran = plan_study(file, out=tmp_path / "second").run(executor="inline", reuse=[first])
    assert (ran.reused, ran.done, ran.failed) == (1, 1, ())


def test_what_is_wrong_with_a_command_is_told_by_its_option() -> None:
    problems = ProblemList("", options={("tasks", "ner"): "--task", ("tasks", "ner", "train"): "--train"})
    problems.add(("tasks", "ner", "train", 0), "no such file", value="x.tsv", remedy="Check the path.")
    problems.add(("tasks", "ner", "tests"), "is empty", remedy="Add some.")
    problems.add(("seeds",), "none", remedy="Give one.")
    assert [str(each) for each in problems.found] == [
        "--train: no such file: 'x.tsv'. Check the path.",
        "--task: is empty. Add some.",
        "none. Give one.",
    ]
