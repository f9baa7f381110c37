from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
import torch

import interlingua
from interlingua.analyses import training_inputs
from interlingua.analyses.training_inputs import bucket
from interlingua.analyses.transfer import TestFiles, TransferSettings, phases_of, task_named
from interlingua.commands.report import read_run
from interlingua.commands.study import plan_study
from interlingua.encoder import Encoder
from interlingua.engine.records import Records
from interlingua.errors import InputError
from interlingua.objectives.task import TaskObjective
from interlingua.readers.squad import read_questions
from interlingua.record import Record
from interlingua.studies.steps import finetune, step_io
from interlingua.tasks import ner
from interlingua.tasks.saved_models import load
from interlingua.training.phases import Phase
from interlingua.training.regime import Regime, regime
from interlingua.training.task import TaskModel
from record_store import record_lines
from sentence_models import DENSE, NORMAL, folder_of
from worlds import make_world, run_here

SETTINGS = {
    "epochs": 8,
    "learning_rate": 5e-3,
    "batch_size": 16,
    "adjust_epochs": 20,
    "adjust_learning_rate": 8e-3,
    "adjust_batch_size": 16,
    "max_pairs": 100,
    "held_out": 30,
    "reference_dtype": "fp32",
    "checkpoint_every": 20,
}

QUICK = {**SETTINGS, "epochs": 1, "adjust_epochs": 2}


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return make_world(tmp_path_factory.mktemp("world"), dropout=0.1)


def given(world, task="ner", ending="tsv", languages=("en", "ru"), **options):
    """The arguments of a call."""
    tests = {code: world[f"{task}-test-{code}.{ending}"] for code in languages}
    plain = {
        "model": world["model"],
        "task": task,
        "tests": tests,
        "train": world[f"{task}-train-en.{ending}"],
        "bitexts": {"ru": world["bitext.en-ru.tsv"]},
        "links": {"ru": world["links"]},
        "seeds": 2,
        "device": "cpu",
    }
    return {**plain, **options.pop("settings", SETTINGS), **options}


def study(world, out, *arguments, **options):
    return interlingua.transfer(out=out, **given(world, *arguments, **options))


@pytest.fixture(scope="module")
def made(world, tmp_path_factory):
    return study(world, tmp_path_factory.mktemp("made") / "out", settings={**SETTINGS, "distances": True})


def entries(result, metric):
    return {key: score.to_plain() for key, score in result.select(metric).items()}


def means(result, metric):
    return {key: entry["mean"] for key, entry in entries(result, metric).items()}


def phases(result):
    return [(line["seed"], line["phase"]) for line in result.run["trained"]]


def test_what_regimes_share_is_trained_once(made):
    assert sorted(phases(made)) == sorted([(seed, "adjust") for seed in (0, 1)] + 3 * [(0, "task"), (1, "task")])
    assert {line["steps"] for line in made.run["trained"] if line["phase"] == "task"} == {8 * 6}
    assert {line["steps"] for line in made.run["trained"] if line["phase"] == "adjust"} == {20 * 7}


def test_adjustment_brings_the_task_to_the_other_language(made):
    found = means(made, "f1/token")
    assert found["original", "en"] > 0.9
    assert found["original", "ru"] < 0.6
    assert found["adjusted", "ru"] > found["original", "ru"] + 0.2
    assert found["continual", "ru"] > found["original", "ru"] + 0.2
    assert entries(made, "f1/token")["adjusted", "ru"]["p_permutation"]["original"] < 0.01
    assert entries(made, "f1/token")["adjusted", "ru"]["p"]["original"] > 0.01  # Two seeds cannot show more.
    assert "original" not in entries(made, "f1/token")["original", "ru"]["p"]


def test_distances_are_measured_in_the_five_states_of_the_paper(made):
    states = {each.state: each.to_plain() for each in made.distances}
    assert list(states) == ["untouched", "adjustment", "original", "adjusted", "continual"]
    assert states["adjustment"]["related"] < 0.5 * states["untouched"]["related"]
    # Fine-tuning forgets what links the languages, less so after adjustment, and least where both are learnt at once.
    order = ("original", "adjusted", "continual", "adjustment")
    assert sorted(order, key=lambda state: states[state]["auc"]) == list(order)


def test_the_same_call_trains_nothing_and_says_the_same(world, made):
    before = record_lines(made.folder), (made.folder / "run.json").read_bytes()
    again = study(world, made.folder, settings={**SETTINGS, "distances": True})
    assert (again.scores, again.distances, again.run) == (made.scores, made.distances, json.loads(before[1]))
    assert (record_lines(made.folder), (made.folder / "run.json").read_bytes()) == before
    assert not list((made.folder / ".interlingua/work").iterdir())


def test_another_folder_has_the_same_numbers_and_more_seeds_and_regimes_only_add(world, tmp_path):
    whole = study(world, tmp_path / "whole", settings=QUICK)
    first = study(world, tmp_path / "parts", seeds=1, regimes=["original"], settings=QUICK)
    assert phases(first) == [(0, "task")]
    parts = study(world, tmp_path / "parts", settings=QUICK)
    assert sorted(phases(parts)) == sorted(phases(whole))
    assert parts.scores == whole.scores


def test_deviation_and_significance_are_those_of_scipy(made, world):
    store = Records(Record, made.folder)
    records = [record for record in store.read() if record.test == "ru"]
    entry = entries(made, "accuracy/token")["adjusted", "ru"]
    assert entry["deviation"] == pytest.approx(np.std(entry["values"], ddof=1))

    def items(name, variant):
        chosen = [r for r in records if r.regime == name and r.key == variant]
        assert [record.seed for record in chosen] == [0, 1]
        return [store.items(record).astype(float) for record in chosen]

    sides = [np.mean(items(name, "accuracy/token"), axis=0) for name in ("adjusted", "original")]
    assert entry["p_examples"]["original"] == pytest.approx(scipy.stats.ttest_rel(*sides).pvalue)
    counts = [np.concatenate(items(name, "f1/token"), axis=1) for name in ("continual", "adjusted")]

    # scipy permutes vectors of numbers: an item's two sets of counts are numbered, and looked up.
    table = np.concatenate(counts, axis=1)
    size = counts[0].shape[1]

    def statistic(left, right, axis=-1):
        f1s = []
        for side in (left, right):
            taken = table[:, side.astype(int)].sum(axis=-1)
            f1s.append(2 * taken[0] / (taken[1] + taken[2]))
        return np.abs(f1s[0] - f1s[1])

    numbers = (np.arange(size), np.arange(size) + size)
    found = scipy.stats.permutation_test(
        numbers, statistic, permutation_type="samples", n_resamples=2000, alternative="greater", rng=1, batch=100
    )
    ours = entries(made, "f1/token")["continual", "ru"]["p_permutation_apart"]["adjusted"]
    assert abs(ours - found.pvalue) < 4 * np.sqrt(0.25 / 1000)
    whole = entries(made, "f1/token")["continual", "ru"]
    taken = items("continual", "f1/token")[1].sum(axis=1)
    assert whole["values"][1] == pytest.approx(2 * taken[0] / (taken[1] + taken[2]))


def test_killed_at_any_moment_a_study_ends_with_the_numbers_of_one_left_alone(world, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["interlingua.commands.transfer", "accelerate", "transformers", "torch._dynamo"])
    settings = {**SETTINGS, "epochs": 2, "adjust_epochs": 2, "checkpoint_every": 4}

    def start(out):
        process = context.Process(
            target=study, args=(world, tmp_path / out), kwargs={"settings": settings, "save_models": True}
        )
        process.start()
        return process

    warm = context.Process(target=int)
    warm.start()
    warm.join()
    began = time.monotonic()
    whole = start("whole")
    whole.join()
    took = time.monotonic() - began
    assert whole.exitcode == 0
    draw = np.random.default_rng(0)
    for _ in range(4):
        process = start("killed")
        process.join(float(draw.uniform(0.2, 0.8)) * took)
        if process.exitcode is None:
            os.kill(process.pid, signal.SIGKILL)
        process.join()
    last = start("killed")
    last.join()
    assert last.exitcode == 0
    ended = [json.loads((tmp_path / name / "transfer.json").read_text("utf-8")) for name in ("whole", "killed")]
    assert ended[0] == ended[1]
    kept = [record_lines(tmp_path / name) for name in ("whole", "killed")]
    assert kept[0] == kept[1]
    assert not list((tmp_path / "killed/.interlingua/work").iterdir())


def test_a_kept_model_answers_as_it_was_scored(world, tmp_path):
    result = study(world, tmp_path / "out", seeds=1, regimes=["original", "adjusted"], save_models=True, settings=QUICK)
    names = sorted(path.name for path in (tmp_path / "out" / "models").iterdir())
    assert names == ["adjusted-ru-seed0", "original-seed0"]
    tuned = load(tmp_path / "out" / "models" / "adjusted-ru-seed0", device="cpu")
    examples = tuned.task.read(world["ner-test-ru.tsv"], "ru")
    inputs = tuned.task.inputs(examples, tuned.encoder, labels=tuned.labels, training=False)
    scores = tuned.task.judge(tuned.task.predict(tuned.model, inputs, labels=tuned.labels), examples)
    assert scores["f1/token"].value == entries(result, "f1/token")["adjusted", "ru"]["values"][0]


def test_models_that_are_asked_for_later_are_trained_again_and_nothing_else_is(world, tmp_path):
    options = {"seeds": 1, "regimes": ["original", "adjusted"], "settings": QUICK}
    first = study(world, tmp_path / "out", **options)
    assert not list((tmp_path / "out/.interlingua/steps").glob("*/heavy/model"))
    second = study(world, tmp_path / "out", save_models=True, **options)
    alone = study(world, tmp_path / "alone", save_models=True, **options)
    assert second.scores == first.scores
    for name in ("adjusted-ru-seed0", "original-seed0"):
        ours, theirs = (tmp_path / out / "models" / name / "model.safetensors" for out in ("out", "alone"))
        assert ours.read_bytes() == theirs.read_bytes()
    assert phases(second) == phases(alone)
    assert [line["predicted"] for line in second.predictions()] == [line["predicted"] for line in alone.predictions()]


def test_a_model_just_trained_is_asked_as_it_is_and_an_encoder_is_read_once(world, tmp_path, monkeypatch):
    loaded, load_encoder = [], Encoder.load
    monkeypatch.setattr(Encoder, "load", lambda name, **options: loaded.append(name) or load_encoder(name, **options))
    read, own = [], ner.Ner.inputs
    monkeypatch.setattr(
        ner.Ner, "inputs", lambda self, given, *a, **o: read.append(given.name) or own(self, given, *a, **o)
    )
    study(world, tmp_path / "out", seeds=2, regimes=["original"], settings=QUICK)
    assert loaded == [world["model"]]
    assert sorted(read) == ["ner-test-en.tsv", "ner-test-ru.tsv", "ner-train-en.tsv"]


def test_what_the_model_as_it_came_makes_of_a_text_is_computed_once_for_all_that_train_on_it(
    world, tmp_path, monkeypatch
):
    made, make = [], training_inputs.reference
    monkeypatch.setattr(training_inputs, "reference", lambda *a, **o: made.append(1) or make(*a, **o))
    study(world, tmp_path / "out", seeds=2, regimes=["adjusted", "continual", "joint"], settings=QUICK)
    assert len(made) == 2  # once a seed, which draws its own rows


@pytest.mark.reliability("damaged files of a run")
def test_a_saved_model_of_which_a_file_was_cut_is_made_anew(world, tmp_path):
    options = {"seeds": 1, "regimes": ["original"], "save_models": True, "settings": QUICK}
    study(world, tmp_path / "out", **options)
    model = tmp_path / "out/models/original-seed0"
    before = {file.name: file.read_bytes() for file in model.iterdir()}
    for name in ("model.safetensors", "head.safetensors", "tokenizer.json", "config.json"):
        (model / name).write_bytes(before[name][:-5])
        study(world, tmp_path / "out", **options)
        assert {file.name: file.read_bytes() for file in model.iterdir()} == before
        (model / name).unlink()
        study(world, tmp_path / "out", **options)
        assert {file.name: file.read_bytes() for file in model.iterdir()} == before


def test_other_settings_in_one_folder_leave_no_model_prediction_or_journal_of_the_first(world, tmp_path):
    def left(settings, out="out"):
        study(world, tmp_path / out, seeds=1, regimes=["original"], save_models=True, settings=settings)
        names = ("predictions/original-seed0.ru.jsonl", "steps/original-seed0.jsonl", "models/original-seed0")
        lines, journal, model = (tmp_path / out / name for name in names)
        said = [json.loads(line)["predicted"] for line in lines.read_text("utf-8").splitlines()]
        losses = [json.loads(line)["loss"] for line in journal.read_text("utf-8").splitlines()]
        return said, losses, (model / "head.safetensors").read_bytes()

    first, other = {**SETTINGS, "epochs": 2}, {**SETTINGS, "epochs": 2, "learning_rate": 1e-4}
    alone, changed = left(first), left(other, "alone")
    assert all(one != two for one, two in zip(alone, changed, strict=True))
    assert left(first) == alone
    records = record_lines(tmp_path / "out")
    assert left(other) == changed
    assert record_lines(tmp_path / "out") != records
    assert left(first) == alone
    assert record_lines(tmp_path / "out") == records
    assert len(list((tmp_path / "out/.interlingua/steps").glob("*/heavy/model"))) == 1  # the model that has a name


def test_a_report_and_predictions_are_of_the_last_settings_alone(world, tmp_path):
    study(world, tmp_path / "out", seeds=2, regimes=["original"], settings=QUICK)
    result = study(world, tmp_path / "out", seeds=1, regimes=["original"], settings={**QUICK, "learning_rate": 1e-4})
    records = read_run(tmp_path / "out").records
    assert {record.step for record in records} <= set(result.run["steps"])
    assert {line["seed"] for line in result.predictions()} == {record.seed for record in records} == {0}


def test_what_is_left_out_of_dev_and_of_the_models_folder_is_told_by_transfer_and_by_a_study(world, tmp_path):
    def model_of(place: Path) -> None:
        shutil.copytree(world["model"], place, dirs_exist_ok=True)

    folder = folder_of(tmp_path / "model", {"pooling_mode": "mean"}, DENSE, NORMAL, body=model_of)
    lines = Path(world["nli-test-en.tsv"]).read_text("utf-8").splitlines()
    first, second, label = lines[0].split("\t")
    long = "\t".join([" ".join(20 * first.split()), second, label])
    (tmp_path / "dev.tsv").write_text("\n".join([*lines, long, ""]), "utf-8")
    for name in ("nli-train-en.tsv", "nli-test-ru.tsv"):
        shutil.copy(world[name], tmp_path / name)
    options = {"seeds": 1, "regimes": ["original"], "languages": ["ru"]}
    settings = {**QUICK, "max_length": 24}
    made = study(
        world, tmp_path / "out", "nli", **options, model=str(folder), dev=tmp_path / "dev.tsv", settings=settings
    )
    (tmp_path / "study.toml").write_text(
        """
        name = "dev"
        languages = ["ru"]
        seeds = 1
        [encoders.bert]
        model = "model"
        [tasks.nli]
        train = "nli-train-en.tsv"
        dev = "dev.tsv"
        tests = "nli-test-{language}.tsv"
        regimes = ["original"]
        epochs = 1
        max_length = 24
        """
    )
    planned = plan_study(tmp_path / "study.toml", out=tmp_path / "study")
    run_here(planned)
    for told in (made.run["skipped"], (tmp_path / "study/notes.txt").read_text("utf-8").splitlines()):
        assert any("module Dense is not applied" in note for note in told)
        assert not any("Normalize" in note for note in told)
        assert any("pair cut" in note and "dev.tsv:41" in note for note in told)


def test_dev_and_tests_are_predicted_in_the_precision_of_the_run(world, tmp_path, monkeypatch):
    asked, plain = [], ner.by_token
    monkeypatch.setattr(ner, "by_token", lambda *a, **o: asked.append(o["precision"]) or plain(*a, **o))
    settings = {**QUICK, "precision": "fp32"}
    dev = world["ner-test-en.tsv"]
    study(world, tmp_path / "out", seeds=1, regimes=["original"], dev=dev, settings=settings)
    assert asked == 3 * ["fp32"]


def test_the_best_epoch_by_dev_counts(world, tmp_path):
    result = study(
        world,
        tmp_path / "out",
        seeds=1,
        regimes=["original"],
        dev=world["ner-test-en.tsv"],
        settings={**SETTINGS, "epochs": 6},
    )
    plain = study(world, tmp_path / "plain", seeds=1, regimes=["original"], settings={**SETTINGS, "epochs": 6})
    assert means(result, "f1/token")["original", "en"] >= means(plain, "f1/token")["original", "en"]


@pytest.mark.parametrize("map_on", ["words", "sentences"])
def test_a_map_gives_a_rotated_language_back_to_the_head(world, tmp_path, monkeypatch, map_on):
    rotation, _ = torch.linalg.qr(torch.randn(32, 32, generator=torch.Generator().manual_seed(0)))
    offset = torch.randn(32, generator=torch.Generator().manual_seed(1))
    half = (33 - 5) // 2

    def turn(*arguments, **options):
        """The model, made to read the second language's words as the first's and to answer rotated and moved."""
        model = TaskModel.of(*arguments, **options)
        foreign = []

        def before(_, arguments, given):
            ids = given["input_ids"]
            foreign.append((ids >= 5 + half).any(dim=1))
            return arguments, {**given, "input_ids": torch.where(ids >= 5 + half, ids - half, ids)}

        def after(_, __, output):
            theirs = foreign.pop()[:, None, None]
            last = output["last_hidden_state"]
            output["last_hidden_state"] = torch.where(theirs, last @ rotation + offset, last)
            if "hidden_states" in output:
                output["hidden_states"] = (*output["hidden_states"][:-1], output["last_hidden_state"])
            return output

        model.base_model.register_forward_pre_hook(before, with_kwargs=True)
        model.base_model.register_forward_hook(after)
        return model

    # What was trained is asked as it is, hooks and all: in one process it is not read again from its folder.
    monkeypatch.setattr(finetune, "TaskModel", SimpleNamespace(of=turn))
    result = study(
        world, tmp_path / "out", seeds=1, regimes=["original", "mapped"], settings={**SETTINGS, "map_on": map_on}
    )
    found = means(result, "f1/token")
    assert found["mapped", "ru"] == pytest.approx(found["original", "en"], abs=0.02)
    assert found["original", "ru"] < 0.6
    assert ("mapped", "en") not in found
    assert phases(result) == [(0, "task")]
    assert any("en is not tested under mapped" in note for note in result.run["skipped"])


def test_a_pair_of_mixed_language_has_one_side_in_english(world, tmp_path):
    task = task_named("nli")
    files = {"en": world["nli-test-en.tsv"], "ru": world["nli-test-ru.tsv"]}
    exams = TestFiles(files, mixed=world["nli-test-en.tsv"]).read(task, source="en")
    assert [exam.name for exam in exams] == ["en", "ru", "ru mixed"]
    english, russian, both = (exam.examples for exam in exams)
    sides = [
        (mine.first == ours.first, mine.second == ours.second)
        for mine, ours in zip(both, english, strict=True)
        if (mine.first, mine.second) != (ours.first, ours.second)
    ]
    assert set(sides) == {(True, False), (False, True)}
    assert all(
        (mine.first == theirs.first) != (mine.second == theirs.second)
        for mine, theirs in zip(both, russian, strict=True)
    )
    result = study(world, tmp_path / "out", "nli", seeds=1, mix_with=world["nli-test-en.tsv"], regimes=["original"])
    assert set(means(result, "accuracy")) == {("original", test) for test in ("en", "ru", "ru mixed")}


def test_questions_and_paragraphs_in_two_languages_both_ways(world, tmp_path):
    english, russian = world["qa-test-en.json"], world["qa-test-ru.json"]
    tests = {"en": english, "en+ru": (english, russian), "ru+en": (russian, english), "ru:again": russian}
    tests["en+ru:one"] = russian
    exams = {exam.name: exam for exam in TestFiles(tests).read(task_named("qa"), source="en")}
    asked, told = (read_questions(path, language="en") for path in (english, russian))
    assert [item.question for item in exams["en+ru"].examples] == [item.question for item in asked]
    assert [item.context for item in exams["en+ru"].examples] == [item.context for item in told]
    assert exams["en+ru"].judged == "ru"
    one = exams["en+ru:one"]
    assert (one.languages, one.judged, one.examples.language) == (("en", "ru"), "ru", "ru")
    assert [item.question for item in one.examples] == [item.question for item in exams["ru:again"].examples]
    assert exams["ru+en"].judged == "en"
    result = study(world, tmp_path / "out", "qa", "json", tests=tests, seeds=1, regimes=["original", "adjusted"])
    assert {test for _, test in means(result, "f1")} == set(tests)
    english_only = entries(result, "f1")["original", "en"]
    # The whole paragraph, which is short here, is the best answer without reading; answers of other questions are not.
    records = [each for each in Records(Record, result.folder).read() if each.key == "f1"]
    [line] = [each for each in records if (each.regime, each.test) == ("original", "en")]
    assert english_only["null"] == line.details["chance"]["level"] >= line.null_value
    assert english_only["mean"] > 2 * line.null_value


def test_every_model_retrieves_too_at_the_layer_that_is_best_for_it(world, tmp_path):
    result = study(
        world, tmp_path / "out", languages=("ru",), seeds=1, retrieval={"ru": world["parallel.tsv"]},
        regimes=["original", "adjusted"],
    )  # fmt: skip
    found = entries(result, "mrr")
    assert found["adjusted", "ru retrieval"]["mean"] > found["original", "ru retrieval"]["mean"]
    store = Records(Record, result.folder)
    for name in ("original", "adjusted"):
        layers = {
            record.layer: record.value for record in store.read() if record.regime == name and record.key == "mrr"
        }
        assert set(layers) == {0, 1, 2}
        entry = found[name, "ru retrieval"]
        assert entry["mean"] == max(layers.values()) == layers[entry["layer"]]


def test_retrieval_alone_trains_no_head(world, tmp_path):
    tests = {"ru": world["parallel.tsv"]}
    options = {"tests": tests, "train": None, "seeds": 1}
    result = study(world, tmp_path / "out", "retrieval", **options)
    assert phases(result) == [(0, "adjust")]
    vectors = Encoder.load(world["model"], device="cpu")
    assert entries(result, "mrr")["original", "ru"]["layer"] in vectors.layers
    assert means(result, "mrr")["adjusted", "ru"] > means(result, "mrr")["original", "ru"] + 0.2


def test_a_regime_of_ones_own_and_several_languages_at_once(world, tmp_path):
    own = Regime("mine", tuple(regime("continual", task=ner.Ner.defaults).phases[1:]))
    assert isinstance(own.phases[0], Phase)
    both = {"ru": world["bitext.en-ru.tsv"], "be": world["bitext.en-ru.tsv"]}
    links = dict.fromkeys(both, world["links"])
    options = {"bitexts": both, "links": links, "seeds": 1, "settings": {**QUICK, "joint_adjustment": True}}
    result = study(world, tmp_path / "out", regimes=[own, "adjusted"], **options)
    [adjusted] = [told for told in result.run["trained"] if told["phase"] == "adjust"]
    assert adjusted["steps"] == 2 * 13  # 200 rows of two languages, 16 a step.
    apart = study(world, tmp_path / "apart", regimes=["adjusted"], **{**options, "settings": QUICK})
    assert set(means(apart, "f1/token")) == {("adjusted", "ru")}
    assert any("en is not tested under adjusted" in note for note in apart.run["skipped"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"task": "nre"}, r"unknown task: 'nre'\. Did you mean 'ner'"),
        ({"regimes": ["orignal"]}, r"unknown regime: 'orignal'\. Did you mean 'original'"),
        ({"regimes": ["adjusted", "adjusted"]}, "a regime is named twice"),
        ({"regimes": ["adjusted"], "bitexts": {}, "links": {}}, "the regime adjusted needs a bitext"),
        ({"bitexts": {"hi": "bitext.en-ru.tsv"}, "links": {}}, "the regime adjusted has no bitext for the test ru"),
        (
            {"regimes": ["mapped"], "bitexts": {"hi": "bitext.en-ru.tsv"}, "links": {}},
            "the regime mapped has no bitext",
        ),
        ({"links": {"hi": "links"}}, "links without a bitext: 'hi'"),
        ({"train": None}, "nothing to train the task on"),
        ({"train": "ner-train.tsv"}, r"no such file.*ner-train\.tsv.*Did you mean"),
        ({"tests": {"ru": "nowhere.tsv"}}, "no such file"),
        ({"tests": {"ru": "misc.tsv"}}, r"misc\.tsv:4: a tag that ner-train-en\.tsv does not have: 'B-MISC'"),
        ({"tests": {"en+ru": ("ner-test-en.tsv", "ner-test-ru.tsv")}}, "only questions have a paragraph"),
        ({"tests": {}}, "nothing to test on"),
        ({"seeds": 0}, "seeds are 0 or more"),
        ({"mix_with": "ner-test-en.tsv"}, "mixed languages are for pairs"),
        ({"bitexts": {"ru": "nothing.tsv"}}, "no such file"),
        ({"task": "retrieval", "tests": {"ru": "parallel.tsv"}}, "--train has nothing to do here"),
        (
            {"task": "retrieval", "tests": {"ru": "parallel.tsv"}, "train": None, "regimes": ["continual"]},
            "unknown regime of retrieval",
        ),
        ({"aligner": "fastalign"}, "unknown value of aligner"),
        ({"aligner": "diagonal"}, "--aligner has nothing to do here: 'diagonal'.*leave out --links"),
        ({"aligner": "neural", "bitexts": {}, "links": {}}, "--aligner has nothing to do here"),
        ({"pivot_side": "left"}, "unknown value of pivot_side"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_trained(world, tmp_path, monkeypatch, options, problem):
    Path(world["misc.tsv"]).write_text("a\tO\n\nb\tO\nc\tB-MISC\n", "utf-8")
    monkeypatch.chdir(world.folder)
    monkeypatch.setattr(step_io, "train_stages", None)
    changed = {"tests": {"ru": "ner-test-ru.tsv"}, "train": "ner-train-en.tsv", "links": {"ru": "links"}, **options}
    with pytest.raises(InputError, match=problem):
        study(world, tmp_path / "out", changed.pop("task", "ner"), **changed)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"map_on": "letters"}, "unknown value of map_on"),
        ({"epochs": 0}, "epochs must be above 0"),
        ({"learning_rate": float("nan")}, "learning_rate is of the wrong type|learning_rate must be finite"),
        ({"epochs": float("inf")}, "epochs must be finite"),
        ({"adjust_learning_rate": -1}, "adjust_learning_rate must be above 0"),
        ({"permutations": 0}, "permutations must be at least 1"),
        ({"warmup": 1.0}, "warmup must be at least 0 and below 1"),
        ({"source_side": "both"}, "unknown value of source_side"),
    ],
)
def test_settings_that_cannot_be_are_refused(world, tmp_path, options, problem):
    with pytest.raises(InputError, match=f"transfer: ({problem})"):
        study(world, tmp_path / "out", settings=options)
    assert not (tmp_path / "out").exists()


def test_a_folder_of_something_else_is_not_touched(world, tmp_path):
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(InputError, match="no run of ours"):
        study(world, tmp_path)
    (tmp_path / "run.json").write_text('{"kind": "audit"}', "utf-8")
    with pytest.raises(InputError, match="holds another run"):
        study(world, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "run.json"]


def test_the_rate_of_a_task_rises_for_a_share_of_its_steps_and_then_falls_to_nothing():
    settings = TransferSettings(warmup=0.25, learning_rate=1.0, epochs=1, adjust_learning_rate=1.0)
    before, task = phases_of("adjusted", settings, task="nli", headless=False)
    rates = [task.schedule.settings(8).rate(step) for step in range(8)]
    assert rates == pytest.approx([1 / 2, 1, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6])
    assert before.schedule.warmup == 0.1  # The adjustment has its own.


@pytest.mark.parametrize("longest", [1, 16, 100, 128, 384, 512, 8192])
def test_there_are_at_most_twelve_lengths_of_batches(longest):
    step = bucket(longest)
    assert step % 16 == 0
    assert -(-longest // step) <= 12


@pytest.mark.heavy
def test_two_processes_train_what_one_does(tmp_path):
    (tmp_path / "world").mkdir()
    make_world(tmp_path / "world")
    script = tmp_path / "both.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
        "from pathlib import Path\n"
        "from studies.test_transfer import QUICK, study\n"
        "from worlds import World\n"
        f"study(World(Path({str(tmp_path / 'world')!r})), sys.argv[1], settings=QUICK, seeds=1)\n",
        "utf-8",
    )
    source = Path(next(iter(interlingua.__path__))).parent
    env = {**os.environ, "PYTHONPATH": f"{source}:{Path(__file__).parents[1]}", "OMP_NUM_THREADS": "1"}
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29571"]
    for start, out in (([sys.executable], "one"), (launch, "two")):
        subprocess.run([*start, str(script), str(tmp_path / out)], check=True, env=env, capture_output=True)
    found = [json.loads((tmp_path / out / "transfer.json").read_text("utf-8"))["scores"] for out in ("one", "two")]
    for ours, theirs in zip(*found, strict=True):
        assert ours["mean"] == pytest.approx(theirs["mean"], abs=0.02)


@pytest.mark.heavy
@pytest.mark.shared
def test_panx_from_english_to_russian_with_the_embedded_encoder(shared_data, tmp_path):
    result = interlingua.transfer(
        "embedded",
        "ner",
        {"ru": shared_data / "panx/dev-ru.tsv.xz", "en": shared_data / "panx/dev-en.tsv.xz"},
        train=shared_data / "panx/train-en.tsv.xz",
        bitexts={"ru": shared_data / "parallel/software.en-ru.tsv.xz"},
        seeds=1,
        test_rows=500,
        train_rows=2000,
        epochs=1,
        learning_rate=3e-4,
        distances=True,
        max_pairs=1000,
        held_out=300,
        out=tmp_path / "out",
        device="cpu",
    )
    found = entries(result, "f1/token")
    for test, least in (("en", 0.4), ("ru", 0.15)):
        assert found["original", test]["mean"] > max(least, 3 * found["original", test]["null"])
    states = {each.state: each.to_plain() for each in result.distances}
    assert states["adjustment"]["related"] < 0.8 * states["untouched"]["related"]
    assert states["adjustment"]["auc"] > states["untouched"]["auc"]
    assert states["continual"]["auc"] > states["original"]["auc"]


def test_batches_of_few_shapes_have_the_loss_of_those_that_are_not_padded(world):
    encoder, task = Encoder.load(world["model"], device="cpu", precision="fp32"), task_named("ner")
    examples = task.read(world["ner-train-en.tsv"], "en")
    labels = task.labels(examples)
    model = TaskModel.of(encoder, task, labels, seed=0).eval()
    inputs = task.inputs(examples, encoder, labels=labels, training=True)
    plain, padded = TaskObjective(task, inputs, 7, pool=1), TaskObjective(task, inputs, 7, pool=1, fixed=True, bucket=4)
    shapes = set()
    for step in range(plain.steps_per_epoch):
        batches = [each.batch(step, rank=0, world=1, device=torch.device("cpu")) for each in (plain, padded)]
        losses = [each.loss(model, batch).item() for each, batch in zip((plain, padded), batches, strict=True)]
        assert losses[0] == pytest.approx(losses[1], abs=1e-5)
        shapes.add(tuple(batches[1]["input_ids"].shape))
        assert set(batches[1]) >= {"attention_mask", "labels", "scale"}
    longest = int(inputs.lengths.max())
    assert all(rows == 7 and (wide % 4 == 0 or wide == longest) for rows, wide in shapes)
