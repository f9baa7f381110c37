"""A study in one process and in workers: the same keys, and records that are equal to the byte."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from interlingua.cli.app import app
from interlingua.commands.study import plan_study
from interlingua.engine.torchrun import _run
from record_store import record_lines
from worlds import World, make_world

STUDY = """
name = "world"
languages = ["ru"]
seeds = 1
regimes = ["original", "adjusted", "mapped"]

[encoders.bert]
model = "model"

[bitexts]
files = "bitext.{source}-{language}.tsv"
links = "links"

[adjust]
max_pairs = 100
held_out = 30
epochs = 2
learning_rate = 8e-3
batch_size = 16
distances = true

[tasks.ner]
train = "ner-train-{source}.tsv"
tests = "ner-test-{language}.tsv"
epochs = 2
learning_rate = 5e-3
batch_size = 16
retrieval = "parallel.tsv"

[tasks.lookup]
task = "retrieval"
tests = "parallel.tsv"

[measures.space]
measures = ["retrieval", "cka"]
corpus = "parallel.tsv"
models = ["encoder", "adjusted", "ner/original"]

[explanations.ig]
tasks = ["ner"]
tests = "ner-test-{language}.tsv"
languages = ["en", "ru"]
rows = 4
steps = 4
faithfulness = false

[sizes.tiny]
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    made = make_world(tmp_path_factory.mktemp("world"), dropout=0.1)
    (made.folder / "study.toml").write_text(STUDY, "utf-8")
    return made


def run(world: World, out: Path, executor: str, *more: str) -> None:
    command = ["study", "run", world["study.toml"], "--size", "tiny", "--executor", executor, "--out", str(out), *more]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, (done.output, done.exception)


def test_a_study_inline_gives_the_records_of_workers(world: World, tmp_path: Path) -> None:
    before = torch.get_num_threads()
    run(world, tmp_path / "inline", "inline")
    assert torch.get_num_threads() == before
    run(world, tmp_path / "local", "local", "--cpus", "2")
    inline, local = (record_lines(tmp_path / name) for name in ("inline", "local"))
    kinds = {json.loads(line)["measure"] for line in inline.splitlines()}
    assert {"ner", "retrieval", "cka", "consistency", "distances"} <= kinds
    assert inline == local
    for name in (path.name for path in (tmp_path / "inline" / "items").iterdir()):
        assert (tmp_path / "inline" / "items" / name).read_bytes() == (tmp_path / "local" / "items" / name).read_bytes()


def test_a_study_begun_inline_is_finished_by_workers_and_its_models_go_unless_kept(
    world: World, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run(world, out, "inline", "--keep")
    planned = plan_study(world["study.toml"], size="tiny", out=out)
    models = {step.key for step in planned.graph if (planned.workspace.step(step.key) / "heavy").is_dir()}
    assert {step.kind for step in planned.graph if step.key in models} >= {"adjust", "finetune", "encode"}
    measured = [step for step in planned.graph if step.kind == "measure"]
    before = record_lines(out)
    planned.workspace.drop(planned.workspace.step(measured[-1].key))
    run(world, out, "local", "--cpus", "1")
    assert record_lines(out) == before
    for step in planned.graph:
        gone = step.key in {need.key for need in measured[-1].needs.values()} and step.key in models
        assert planned.workspace.is_pruned(step.key) == gone, step.shown


@pytest.mark.heavy
def test_processes_of_a_launcher_find_what_one_finds(tmp_path: Path) -> None:
    quiet = make_world(tmp_path / "world", dropout=0.0)  # Each process draws its own dropout.
    (quiet.folder / "study.toml").write_text(STUDY, "utf-8")
    run(quiet, tmp_path / "one", "inline")
    command = [sys.executable, "-m", "interlingua", "study", "run", quiet["study.toml"], "--size", "tiny"]
    again = [*command, "--executor", "inline", "--out", str(tmp_path / "two")]
    source = str(Path(__file__).resolve().parents[2] / "src")
    for _ in range(2):  # The second time all is done.
        assert _run(again, {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"}, 2) == 0
    one, two = ([json.loads(line) for line in record_lines(tmp_path / name).splitlines()] for name in ("one", "two"))
    assert [record["step"] for record in one] == [record["step"] for record in two]
    assert [record["value"] for record in one] == pytest.approx([record["value"] for record in two], abs=1e-3)
    times = (tmp_path / "two" / ".interlingua" / "times.jsonl").read_text("utf-8").splitlines()
    assert len(times) == len({json.loads(line)["key"] for line in times})  # each step once, by one writer
