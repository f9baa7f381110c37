"""Adjusting: a model any tool loads, closer languages, the same from text in memory, in a study, in two processes."""

from __future__ import annotations

import itertools
import json
import lzma
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import interlingua
import models
from interlingua.analyses.aligned_bitext import LinkedFiles, LinkedText, linked_text
from interlingua.analyses.training_inputs import PairSettings, sample_pairs
from interlingua.encoder import Encoder
from interlingua.engine.workspace import INNER
from interlingua.errors import InputError
from interlingua.report.kit.finding import Verdict
from interlingua.training import regime
from interlingua.training.journal import read_journal
from interlingua.wordalign.links import PairFilters
from interlingua.words import Sentence
from record_store import record_lines
from toys import sentences

SOURCE = Path(next(iter(interlingua.__path__))).parent
QUICK = {"batch_size": 8, "learning_rate": 1e-3, "epochs": 2.0, "checkpoint_every": 3, "reference_dtype": "fp32"}


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return models.bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(scope="module")
def text():
    return LinkedText(*sentences(160))


def run(folder, text, out, **settings):
    return interlingua.adjust(str(folder), {"ru": text}, out=out, **{"device": "cpu", **QUICK, **settings})


@pytest.fixture(scope="module")
def made(folder, text, tmp_path_factory):
    return run(folder, text, tmp_path_factory.mktemp("made") / "out", learning_rate=2e-3, epochs=6.0)


def weights(out):
    return load_file(out / "model.safetensors")


def same(ours, theirs):
    mine, other = weights(ours), weights(theirs)
    return set(mine) == set(other) and all(torch.equal(value, other[name]) for name, value in mine.items())


def test_plain_transformers_loads_what_is_written_head_and_all(made, folder, text):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    assert {path.name for path in made.folder.iterdir()} >= {"config.json", "model.safetensors", "steps.jsonl"}
    model, report = AutoModelForMaskedLM.from_pretrained(made.folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    tokenizer = AutoTokenizer.from_pretrained(made.folder)
    given = tokenizer(text.source[0].text, return_tensors="pt")
    hidden = model.eval().base_model(**given).last_hidden_state[0, 1:-1].mean(dim=0)
    encoded = Encoder.load(str(made.folder), device="cpu").encode([text.source[0].text])[-1][0]
    torch.testing.assert_close(torch.from_numpy(np.array(encoded)), hidden.detach(), atol=1e-5, rtol=1e-5)


def distance(records, pairs):
    return records.of("separation", "distance", pairs=pairs, distance="l2").mean()


def auc(records):
    return records.of("separation", "auc", distance="l2").mean()


def test_adjustment_raises_retrieval_and_brings_related_words_together_while_others_stay_apart(made):
    before, after = (made.records.where(state=state) for state in ("original", "adjusted"))

    def best(found):
        held_out = found.of("retrieval", "p@1", centering="raw", source="en")
        return max(record.value for record in held_out if record.corpus != "sampler")

    assert best(after) > best(before) + 0.1
    assert distance(after, "related") < 0.7 * distance(before, "related")
    assert distance(after, "unrelated") / distance(after, "related") > 1.3 * (
        distance(before, "unrelated") / distance(before, "related")
    )
    assert auc(after) > auc(before)
    lines = read_journal(made.folder / "steps.jsonl")
    assert len(lines) == made.run["training"]["steps"] == 6 * 18
    assert {"step", "rate", "loss", "adjustment", "anchor", "gradient_norm"} == set(lines[0])


def test_rows_held_out_are_not_trained_on_and_what_was_left_out_is_counted(made, text):
    about = made.run["training"]["languages"]["ru"]
    assert (about["rows"], about["held_out"]) == (144, 16)
    assert about["links_dropped"]["identical words"] == 0
    assert set(about["left_out"]) == {
        "rows too long for the model",
        "rows without a pair of linked words",
        "words the tokenizer turned into nothing",
    }


@pytest.fixture
def one_step(monkeypatch):
    """Every training stops after a step, as at the end of the time that it was given."""
    train = regime.train
    monkeypatch.setattr(regime, "train", lambda *given, **how: train(*given, **{**how, "stop_after": 0.0}))


@pytest.mark.gpu
def test_on_a_gpu_recorded_steps_in_bf16_adjust_and_a_stopped_run_goes_on(folder, text, tmp_path, monkeypatch):
    train = regime.train
    settings = {"learning_rate": 2e-3, "epochs": 4.0, "device": "cuda"}
    for name, stops in (("whole", [None]), ("parts", [0.0, 0.0, None])):
        for stop in stops:
            stopped = {} if stop is None else {"stop_after": stop}
            monkeypatch.setattr(
                regime, "train", lambda *given, stopped=stopped, **how: train(*given, **{**how, **stopped})
            )
            made = run(folder, text, tmp_path / name, stop_after=None if stop is None else 1000.0, **settings)
    assert made.run["settings"]["precision"] == "bf16"
    before, after = (made.records.where(state=state) for state in ("original", "adjusted"))
    assert distance(after, "related") < 0.8 * distance(before, "related")
    assert auc(after) > auc(before)
    ours, theirs = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    for key, value in ours.items():
        torch.testing.assert_close(theirs[key], value, atol=2e-3, rtol=1e-2, msg=key)


def test_a_stopped_run_says_how_far_it_came_and_ends_as_one_left_alone(folder, text, tmp_path, monkeypatch, one_step):
    out, settings = tmp_path / "out", {"epochs": 0.5}
    for step in (1, 2):
        stopped = run(folder, text, out, stop_after=1000.0, **settings)
        training = stopped.run["training"]
        assert (stopped.finished, training["steps"], training["of_steps"]) == (False, step, 9)
        assert {record.state for record in stopped.records} == {"original"}
        assert stopped.report().headline.answer.verdict is Verdict.UNFINISHED
        assert not (out / "model.safetensors").exists()
    monkeypatch.undo()
    ended = run(folder, text, out, **settings)
    alone = run(folder, text, tmp_path / "alone", **settings)
    assert same(out, tmp_path / "alone")
    assert read_journal(out / "steps.jsonl") == read_journal(tmp_path / "alone" / "steps.jsonl")
    assert ended.run["training"] == alone.run["training"]
    assert ended.report().headline.answer == alone.report().headline.answer
    assert ended.records == alone.records


def test_a_run_without_time_is_told_as_one_that_has_not_begun(folder, text, tmp_path):
    stopped = run(folder, text, tmp_path / "out", stop_after=0.0)
    assert not stopped.finished
    assert stopped.run["training"]["steps"] == 0
    assert "not finished" in repr(stopped)


def test_a_finished_run_is_left_alone_and_another_is_refused(folder, text, tmp_path):
    out = tmp_path / "out"
    first = run(folder, text, out, epochs=0.1)
    times = {path: path.stat().st_mtime_ns for path in out.iterdir() if path.name != INNER}
    again = run(folder, text, out, epochs=0.1)
    assert again.run == json.loads(json.dumps(first.run))
    assert {path: path.stat().st_mtime_ns for path in out.iterdir() if path.name != INNER} == times
    with pytest.raises(InputError, match=r"the folder holds another run \(its seed differs: seed 0 → 1\)"):
        run(folder, text, out, epochs=0.1, seed=1)
    with pytest.raises(InputError, match="the folder holds another run \\(its bitext ru differs\\)"):
        run(folder, LinkedText(*sentences(90)), out, epochs=0.1)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("x", "utf-8")
    with pytest.raises(InputError, match="no run of ours"):
        run(folder, text, tmp_path / "other", epochs=0.1)


@pytest.mark.parametrize(
    "changes",
    [
        {"source_side": "frozen", "anchor": 0.0},
        {"reduction": "sum", "layer": 2, "word_pooling": "last"},
        {"contrastive": 0.1, "drift": 1.0, "freeze": 1},
        {"include_special_tokens": False, "reference_dtype": "bf16", "monitor_every": 1},
        {"pair_filters": PairFilters(one_to_one=False, shortest=2), "warmup": 0.5},
    ],
)
def test_every_choice_makes_a_model_of_its_own(folder, text, tmp_path, changes):
    made = run(folder, text, tmp_path / "out", epochs=0.2, **changes)
    assert made.finished
    assert not same(tmp_path / "out", folder)


def test_records_have_every_number_of_both_states_with_what_each_sentence_added(made):
    table = made.records
    hits = table.where(measure="retrieval", metric="p@1", similarity="cosine", centering="centred")
    ways = {key: len(its) for key, its in hits.by("state", "source", "target", "corpus").items()}
    layers = len({record.layer for record in hits})
    texts = ("sampler", hits[0].corpus)
    assert ways == {
        (state, *way, text): layers
        for state in ("original", "adjusted") for way in (("en", "ru"), ("ru", "en")) for text in texts
    }  # fmt: skip
    assert {record.layer for record in table.where(measure="separation")} == {made.run["layer"]}
    assert {record.bitexts for record in table.where(state="adjusted")} == {("ru",)}
    for record in hits:
        assert interlingua.open_records(made.folder).items(record).mean() == pytest.approx(record.value)


def test_text_in_memory_is_the_text_of_its_files(folder, text, tmp_path):
    files = text.write(tmp_path / "bitexts", "ru")
    given = files.read(tmp_path / "links.npz")
    assert given.digest == text.digest
    assert LinkedFiles(files.files, files.links, tokenize="words").read(tmp_path / "again.npz").digest == text.digest
    made = run(folder, files.files[0], tmp_path / "files", links=files.links, epochs=0.2)
    ours = run(folder, text, tmp_path / "memory", epochs=0.2)
    assert same(made.folder, ours.folder)
    odd = LinkedText([Sentence("one two", [(0, 7)])] * 20, list(text.target[:20]), text.take(range(20)).links)
    with pytest.raises(InputError, match="text whose words are neither"):
        odd.write(tmp_path / "odd", "ru")
    with pytest.raises(InputError, match="the language of the bitext is not known"):
        interlingua.adjust(str(folder), text, out=tmp_path / "unnamed")


def study_of(command, tmp_path):
    """The study file that a command writes, and the records of its run."""
    file = tmp_path / "saved.toml"
    for arguments in (
        (*command, "--save-study", file),
        ("study", "run", file, "--out", tmp_path / "study", "--cpus", "1"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "interlingua", *map(str, arguments)],
            cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return file.read_text("utf-8"), record_lines(tmp_path / "study")


def test_the_study_that_a_command_saves_gives_the_same_records(folder, text, tmp_path):
    files, other = (each.write(tmp_path, code) for code, each in (("ru", text), ("es", LinkedText(*sentences(60)))))
    settings = {"steps": 2, "max_pairs": 40, "layer": 1, "contrastive": 0.2, "temperature": 0.3, "freeze": 0, "seed": 3}
    command = ["adjust", folder, "--out", "command", "--device", "cpu", "--anchor", "0.5", "--drift", "0.1"]
    for code, each in (("ru", files), ("es", other)):
        command += ["--bitext", f"{code}={each.files[0]}", "--links", f"{code}={each.links}"]
    for name, value in settings.items():
        command += [f"--{name.replace('_', '-')}", value]
    saved, records = study_of(command, tmp_path)
    assert "effect = true" in saved
    answer = interlingua.report_on(tmp_path / "study").headline.answer
    assert answer.kind in ("adjustment", "adjustments")
    bitexts = {"ru": files.files[0], "es": other.files[0]}
    links = {"ru": files.links, "es": other.links}
    interlingua.adjust(
        str(folder), bitexts, links=links, out=tmp_path / "command", device="cpu", anchor=0.5, drift=0.1, **settings
    )
    assert record_lines(tmp_path / "command") == records


def test_languages_are_adjusted_together(folder, text, tmp_path):
    other = LinkedText(*sentences(60, seed=4))
    made = interlingua.adjust(
        str(folder), {"ru": text, "es": other}, out=tmp_path / "out", device="cpu", **{**QUICK, "epochs": 0.5}
    )
    assert [finding.about["language"] for finding in made.report().headline.findings] == ["ru", "es"]
    assert made.run["training"]["of_steps"] == round(0.5 * -(-(144 + 54) // 8))


def test_two_processes_adjust_the_model_of_one(text, tmp_path, monkeypatch):
    # Adam with a small ε blows up the rounding of a gradient near 0.
    phase = replace(regime._ADJUST, schedule=replace(regime._ADJUST.schedule, eps=1e-3))
    monkeypatch.setattr(regime, "_ADJUST", phase)
    folder = models.bert(tmp_path / "still", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    settings = {"batch_size": 8, "learning_rate": 1e-2, "epochs": 0.5, "layer": 2, "reference_dtype": "fp32"}
    script = f"""
import interlingua
from dataclasses import replace
from interlingua.analyses.aligned_bitext import LinkedText
from interlingua.training import regime
from toys import sentences
regime._ADJUST = replace(regime._ADJUST, schedule=replace(regime._ADJUST.schedule, eps=1e-3))
interlingua.adjust({str(folder)!r}, {{"ru": LinkedText(*sentences(160))}}, out="two", device="cpu", **{settings!r})
"""
    (tmp_path / "run.py").write_text(script, "utf-8")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "run.py"]
    paths = os.pathsep.join([str(SOURCE), str(Path(__file__).resolve().parents[1])])
    done = subprocess.run(
        launch,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        timeout=180,
    )
    assert done.returncode == 0, done.stderr[:3000]
    run(folder, text, tmp_path / "one", **settings)
    ours, theirs = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name, value in ours.items():
        torch.testing.assert_close(theirs[name], value, atol=1e-4, rtol=0, msg=name)
    losses = [[line["loss"] for line in read_journal(tmp_path / way / "steps.jsonl")] for way in ("one", "two")]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)


def test_text_and_links_come_from_files_and_either_side_may_stay(text, tmp_path):
    lines = [f"{a.text} ||| {b.text}" for a, b in zip(text.source, text.target, strict=True)]
    (tmp_path / "bitext.txt").write_text("\n".join(lines) + "\n", "utf-8")
    links = [[] for _ in lines]
    for row, s, t in zip(text.links.row, text.links.source, text.links.target, strict=True):
        links[row].append(f"{s}-{t}")
    (tmp_path / "links.txt").write_text("\n".join(" ".join(row) for row in links) + "\n", "utf-8")
    given = linked_text(tmp_path / "bitext.txt", links=tmp_path / "links.txt")
    assert given.links.target.tolist() == text.links.target.tolist()
    assert [sentence.text for sentence in given.target] == [sentence.text for sentence in text.target]
    turned = linked_text(tmp_path / "bitext.txt", links=tmp_path / "links.txt", english="target")
    assert [sentence.text for sentence in turned.source] == [sentence.text for sentence in text.target]
    assert sorted(turned.links.source.tolist()) == sorted(text.links.target.tolist())
    learnt = linked_text(tmp_path / "bitext.txt")
    right = {*zip(*(part.tolist() for part in (text.links.row, text.links.source, text.links.target)), strict=True)}
    found = {
        *zip(*(part.tolist() for part in (learnt.links.row, learnt.links.source, learnt.links.target)), strict=True)
    }
    assert len(found & right) > 0.6 * len(right)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"adjustment": 0.0, "anchor": 0.0}, "nothing is adjusted"),
        ({"source_side": "both"}, "unknown value of source_side"),
        ({"max_pairs": 0}, "max_pairs must be at least 1"),
        ({"held_out": 1}, "held_out must be at least 2"),
    ],
)
def test_settings_that_say_nothing_are_refused(tmp_path, options, problem):
    with pytest.raises(InputError, match=f"adjust: {problem}"):
        interlingua.adjust("embedded", "none.tsv", out=tmp_path / "out", **options)


@pytest.mark.reliability("a number of the user's silently changed")
def test_so_many_rows_are_held_out_as_were_asked_for_or_it_is_refused(text, tmp_path):
    usable = len(text.usable)
    for asked, held in ((None, usable // 10), (30, 30), (usable // 2, usable // 2)):
        assert len(sample_pairs(text, Encoder.load(device="cpu"), PairSettings(held_out=asked), seed=0).aside) == held
    with pytest.raises(InputError, match=f"Hold out {usable // 2} at most"):
        sample_pairs(text, Encoder.load(device="cpu"), PairSettings(held_out=usable // 2 + 1), seed=0)


@pytest.mark.heavy
@pytest.mark.shared
def test_a_real_bitext_brings_the_embedded_encoder_s_languages_closer(shared_data, tmp_path):
    with lzma.open(shared_data / "parallel" / "software.en-ru.tsv.xz", "rt", encoding="utf-8") as file:
        lines = list(itertools.islice(file, 4000))
    (tmp_path / "software.en-ru.tsv").write_text("".join(lines), "utf-8")
    settings = {"max_pairs": 1500, "held_out": 400, "learning_rate": 3e-4}
    made = interlingua.adjust(
        "embedded", tmp_path / "software.en-ru.tsv", out=tmp_path / "out", device="cpu", **settings
    )
    before, after = (made.records.where(state=state) for state in ("original", "adjusted"))

    def found(records, source, centering):
        at_layer = records.of("retrieval", "p@1", layer=made.run["layer"], source=source, centering=centering)
        return next(record.value for record in at_layer if record.corpus != "sampler")

    for source in ("en", "ru"):
        for centering in ("raw", "centred"):
            assert found(after, source, centering) > found(before, source, centering) + 0.05
    near, far = ([distance(state, pairs) for state in (before, after)] for pairs in ("related", "unrelated"))
    assert near[1] < 0.7 * near[0]
    # Everything comes closer, and translations most: unrelated words stay apart.
    assert far[1] / near[1] > 1.1 * far[0] / near[0]
    low, high = (state.of("separation", "auc", distance="l2").estimate() for state in (before, after))
    assert high.ci_low > low.ci_high
