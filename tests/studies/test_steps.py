"""Steps on a small world of two languages find what `transfer`, `audit` and `explain` find by their own ways."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch

import interlingua
from interlingua.commands.study import plan_study
from interlingua.encoder import model_loading
from interlingua.engine.graph import StepState
from interlingua.engine.records import Records
from interlingua.record import Record
from interlingua.studies.steps.step_io import VECTORS
from record_store import record_lines
from worlds import make_world, run_here

STUDY = """
name = "world"
languages = ["ru"]
seeds = 2
regimes = ["original", "adjusted", "continual", "mapped"]

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
epochs = 1
learning_rate = 5e-3
batch_size = 16
retrieval = "parallel.tsv"

[tasks.inference]
task = "nli"
train = "nli-train-{source}.tsv"
tests = "nli-test-{language}.tsv"
mix_with = "nli-test-{source}.tsv"
regimes = ["original"]
epochs = 1

[tasks.qa]
train = "qa-train-{source}.json"
regimes = ["original"]
epochs = 1
[tasks.qa.tests]
"{language}" = "qa-test-{language}.json"
"{source}+{language}" = ["qa-test-{source}.json", "qa-test-{language}.json"]

[tasks.lookup]
task = "retrieval"
tests = "parallel.tsv"

[measures.space]
measures = ["retrieval", "cka", "procrustes"]
corpus = "parallel.tsv"
models = ["encoder", "adjusted", "ner/original"]

[measures.two]
measures = ["cka"]
corpus = "parallel.tsv"
against = [["bert", "twin"]]

[explanations.ig]
tasks = ["inference"]
tests = "nli-test-{language}.tsv"
languages = ["en", "ru"]
seeds = [1]
rows = 6
steps = 4
faithfulness = false
"""


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = make_world(tmp_path_factory.mktemp("world"), dropout=0.1)
    twin = '\n[encoders.twin]\nmodel = "model"\nlanguages = ["ru"]\n'
    only = 'encoders = ["bert"]\n'
    text = STUDY.replace(
        'measures = ["retrieval", "cka", "procrustes"]\n', f'measures = ["retrieval", "cka", "procrustes"]\n{only}'
    )
    for task in ("ner", "inference", "qa", "lookup"):
        text = text.replace(f"[tasks.{task}]\n", f"[tasks.{task}]\n{only}")
    (made.folder / "study.toml").write_text(text + twin, "utf-8")
    return made


@pytest.fixture(scope="module")
def done(world, tmp_path_factory):
    planned = plan_study(world["study.toml"], out=tmp_path_factory.mktemp("study") / "out")
    run_here(planned)
    return planned


@pytest.fixture(scope="module")
def records(done):
    return Records(Record, done.workspace.folder).read()


@pytest.fixture(scope="module")
def transferred(world, tmp_path_factory):
    settings = {
        "epochs": 1,
        "learning_rate": 5e-3,
        "batch_size": 16,
        "adjust_epochs": 2,
        "adjust_learning_rate": 8e-3,
        "adjust_batch_size": 16,
        "max_pairs": 100,
        "held_out": 30,
        "distances": True,
    }
    return interlingua.transfer(
        world["model"],
        "ner",
        {"ru": world["ner-test-ru.tsv"]},
        train=world["ner-train-en.tsv"],
        regimes=["original", "adjusted", "continual", "mapped"],
        seeds=2,
        bitexts={"ru": world["bitext.en-ru.tsv"]},
        links={"ru": world["links"]},
        retrieval={"ru": world["parallel.tsv"]},
        **settings,
        out=tmp_path_factory.mktemp("transfer") / "out",
        device="cpu",
    )


def test_a_study_finds_what_transfer_finds(done, transferred):
    ours = {
        (score.metric, score.regime, score.test): score.to_plain() for score in done.report().scores
        if score.task == "ner"
    }  # fmt: skip
    assert len(ours) == len(transferred.scores)
    for entry in (score.to_plain() for score in transferred.scores):
        mine = ours[entry["metric"], entry["regime"], entry["test"]]
        assert mine["values"] == pytest.approx(entry["values"], abs=1e-9)
        assert mine["p"] == pytest.approx(entry["p"])
        assert mine["against"].keys() == entry["against"].keys()
        for base, each in entry["against"].items():
            texts = ("seeds", "base_seeds", "over")
            assert [mine["against"][base].pop(key) for key in texts] == [each[key] for key in texts]
            assert mine["against"][base] == pytest.approx({k: value for k, value in each.items() if k not in texts})


def test_distances_are_those_of_transfer_in_every_state(done, transferred):
    found = {each.state: each.to_plain() for each in done.report().distances if each.task in ("ner", "", None)}
    for entry in (each.to_plain() for each in transferred.distances):
        for key in ("related", "unrelated", "auc"):
            assert found[entry["state"]][key] == pytest.approx(entry[key], rel=1e-5)


def test_what_is_shared_runs_once(done):
    kinds = [step.kind for step in done.graph]
    assert kinds.count("align") == 1
    assert kinds.count("adjust") == 2  # one a seed, for NER, for retrieval and for the measures
    # Of NER original (which mapped shares), adjusted, continual; of the other two original: with two seeds.
    assert kinds.count("finetune") == 2 * (3 + 1 + 1)


def test_measures_are_those_of_an_audit(world, records):
    audit = interlingua.audit(
        world["model"],
        world["parallel.tsv"],
        measures=["retrieval", "cka", "procrustes"],
        languages=["en", "ru"],
        cache="none",
    )
    ours = {
        (r.measure, r.key, r.source, r.target, r.layer): r.value for r in records
        if r.block == "space" and r.model == "bert"
    }  # fmt: skip
    assert len(ours) == len(audit.records)
    for record in audit.records:
        place = (record.measure, record.key, record.source, record.target, record.layer)
        assert ours[place] == pytest.approx(record.value, abs=1e-5)


def test_a_model_and_its_twin_are_as_alike_as_the_model_and_itself(records):
    one = {(r.key, r.layer): r.value for r in records if r.measure == "cka" and r.model == "bert"
           and r.block == "space"}  # fmt: skip
    two = {(r.key, r.layer): r for r in records if r.measure == "cka" and r.block == "two"
           and r.source == "en"}  # fmt: skip
    assert set(one) == set(two)
    for key, record in two.items():
        assert record.value == pytest.approx(one[key], abs=1e-5)


def test_states_of_a_model_are_measured_apart(records):
    models = {r.model for r in records if r.block == "space"}
    assert {f"bert adjusted ru seed {seed}" for seed in (0, 1)} <= models
    assert {f"bert ner/original seed {seed}" for seed in (0, 1)} <= models


def test_explanations_are_those_of_explain(world, done, records, tmp_path):
    key = next(step for step in done.graph if step.kind == "attribute").needs["tuned"].key
    found = interlingua.explain(
        done.workspace.step(key) / "heavy" / "model",
        {code: world[f"nli-test-{code}.tsv"] for code in ("en", "ru")},
        rows=6,
        steps=4,
        faithfulness=False,
        seed=1,
        out=tmp_path / "out",
        device="cpu",
    )
    ours = {(r.aspect, r.target): r.value for r in records if r.measure == "consistency"}
    theirs = {(r.aspect, r.target): r.value for r in found.records if r.measure == "consistency"}
    assert ours == pytest.approx(theirs, abs=1e-6)


def test_tests_of_two_languages_are_asked(done):
    tests = {(score.task, score.test) for score in done.report().scores}
    assert {("inference", "ru"), ("inference", "ru mixed"), ("qa", "ru"), ("qa", "en+ru"), ("lookup", "ru")} <= tests


def test_a_report_gathers_what_is_done_where_no_run_came_to_its_end(done):
    whole, scores = record_lines(done.workspace.folder), done.report().scores
    shutil.rmtree(done.workspace.folder / "records")
    assert done.report().scores == scores
    assert record_lines(done.workspace.folder) == whole


def test_a_report_can_be_made_whichever_step_is_missing(done, tmp_path):
    whole = len(done.report().records)
    told = [step for step in done.graph if (done.workspace.step(step.key) / "records.jsonl.gz").is_file()]
    for step in told:
        place = done.workspace.step(step.key)
        place.rename(tmp_path / "aside")
        try:
            assert 0 < len(done.report().records) < whole, step.shown
        finally:
            (tmp_path / "aside").rename(place)
    assert len(done.report().records) == whole


def test_no_record_knows_where_it_was_made(world, done):
    notes = done.workspace.folder / "notes.txt"
    for text in (record_lines(done.workspace.folder).decode(), notes.read_text("utf-8") if notes.is_file() else ""):
        assert str(world.folder) not in text
        assert str(done.workspace.folder) not in text


def test_the_same_study_in_another_place_has_the_same_keys_and_run_again_runs_nothing(world, done, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    other = make_world(tmp_path / "elsewhere", dropout=0.1)
    (other.folder / "study.toml").write_text((world.folder / "study.toml").read_text("utf-8"), "utf-8")
    again = plan_study(other["study.toml"], out=done.workspace.folder)
    assert [step.key for step in again.graph] == [step.key for step in done.graph]
    assert set(again.states().values()) == {StepState.DONE}
    assert again.run().done == 0


def test_one_changed_setting_runs_only_what_hangs_on_it(world, done, tmp_path):
    text = (world.folder / "study.toml").read_text("utf-8").replace('task = "nli"', 'task = "nli"\nmax_length = 24')
    (world.folder / "changed.toml").write_text(text, "utf-8")
    changed = plan_study(world["changed.toml"], out=done.workspace.folder)
    states = changed.states()
    needed = [step for step in changed.graph if states[step.key] is not StepState.DONE]
    assert {step.kind for step in needed} == {"finetune", "predict", "attribute", "distances"}
    assert all("inference" in step.label or step.settings.block == "inference" for step in needed)


def test_a_changed_file_changes_what_reads_it(world, done):
    path = world.folder / "qa-test-ru.json"
    before = path.read_text("utf-8")
    try:
        path.write_text(before + "\n", "utf-8")
        changed = plan_study(world["study.toml"], out=done.workspace.folder)
        states = changed.states()
        assert {step.label.split(" seed")[0] for step in changed.graph if states[step.key] is not StepState.DONE} == {
            "predict bert qa en original"
        }
    finally:
        path.write_text(before, "utf-8")


def test_models_can_go_once_everything_is_measured(done):
    waste = done.garbage()
    assert {each.kind for each in waste} >= {"adjust", "finetune", "encode"}
    assert all(each.path.name == "heavy" for each in waste)
    assert all(np.isfinite(each.bytes) and each.bytes > 0 for each in waste)


def test_vectors_of_half_precision_are_read_where_nothing_computes_in_it(world, tmp_path, monkeypatch):
    monkeypatch.setattr(model_loading, "check_precision", lambda *_: None)  # This CPU may refuse bf16, or not.
    text = "\n".join(
        ['name = "half"', 'languages = ["ru"]', 'precision = "bf16"', "[encoders.bert]", 'model = "model"']
    )
    table = '\n[measures.space]\nmeasures = ["cka"]\ncorpus = "parallel.tsv"\n'
    (world.folder / "half.toml").write_text(text + table, "utf-8")
    planned = plan_study(world["half.toml"], out=tmp_path / "out")
    run_here(planned)
    (encode,) = [step for step in planned.graph if step.kind == "encode"]
    # A measure that did not find the vectors would have added its own.
    assert planned.workspace.broken([encode.key]) == []
    assert list((planned.workspace.step(encode.key) / VECTORS).rglob("*.*"))
