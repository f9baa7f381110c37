from __future__ import annotations

import itertools
import json
import lzma
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import interlingua
import models
from interlingua.analyses.aligned_bitext import LinkedFiles
from interlingua.analyses.training_inputs import PairSettings, drawn_pairs
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.studies.adjusting import AdjustSettings, LinkedText, adjust, linked_text
from interlingua.training.journal import read_journal
from interlingua.training.phases import Freeze, Schedule
from interlingua.training.regime import ADJUST
from toys import sentences

CPU = torch.device("cpu")
SOURCE = Path(next(iter(interlingua.__path__))).parent
QUICK = AdjustSettings(
    batch=8, schedule=Schedule(1e-3, epochs=2, warmup=0.1, decay=0.0), checkpoint_every=3, reference="fp32"
)


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


def run(folder, text, out, settings=QUICK, **options):
    return adjust(str(folder), {"xx": text}, settings, out=out, device=CPU, **options)


@pytest.fixture(scope="module")
def made(folder, text, tmp_path_factory):
    return run(folder, text, tmp_path_factory.mktemp("made") / "out", replace(QUICK, schedule=Schedule(2e-3, epochs=6)))


def weights(out):
    return load_file(out / "model.safetensors")


def same(ours, theirs):
    mine, other = weights(ours), weights(theirs)
    return set(mine) == set(other) and all(torch.equal(value, other[name]) for name, value in mine.items())


def test_plain_transformers_loads_what_is_written_head_and_all(made, folder, text):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    assert {path.name for path in made.folder.iterdir()} >= {"config.json", "model.safetensors", "steps.jsonl"}
    assert not (made.folder / ".training").exists()
    model, report = AutoModelForMaskedLM.from_pretrained(made.folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    tokenizer = AutoTokenizer.from_pretrained(made.folder)
    given = tokenizer(text.source[0].text, return_tensors="pt")
    hidden = model.eval().base_model(**given).last_hidden_state[0, 1:-1].mean(dim=0)
    encoded = Encoder.load(str(made.folder), device="cpu").encode([text.source[0].text])[-1][0]
    torch.testing.assert_close(torch.from_numpy(np.array(encoded)), hidden.detach(), atol=1e-5, rtol=1e-5)


def test_adjustment_raises_retrieval_and_brings_related_words_together_while_others_stay_apart(made):
    before, after = made.summary["before"]["xx"], made.summary["after"]["xx"]

    def distance(found, kind):
        return found["distances"][f"distance/{kind}/l2"]["value"]

    def best(found):
        return max(scores["p@1/cosine/raw"]["value"] for scores in found["retrieval"].values())

    assert best(after) > best(before) + 0.1
    assert distance(after, "related") < 0.7 * distance(before, "related")
    assert distance(after, "unrelated") / distance(after, "related") > 1.3 * (
        distance(before, "unrelated") / distance(before, "related")
    )
    assert after["distances"]["auc/l2"]["value"] > before["distances"]["auc/l2"]["value"]
    lines = read_journal(made.folder / "steps.jsonl")
    assert len(lines) == made.summary["steps"] == 6 * 18
    assert {"step", "rate", "loss", "adjustment", "anchor", "gradient_norm"} == set(lines[0])


def test_rows_held_out_are_not_trained_on_and_what_was_left_out_is_counted(made, text):
    about = made.summary["languages"]["xx"]
    assert (about["rows"], about["held_out"]) == (144, 16)
    assert about["links_dropped"]["identical words"] == 0
    assert set(about["left_out"]) == {
        "rows too long for the model",
        "rows without a pair of linked words",
        "words the tokenizer turned into nothing",
    }


def test_killed_at_ten_random_moments_a_run_has_the_weights_of_one_left_alone(folder, tmp_path, monkeypatch):
    text = LinkedText(*sentences(60))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["interlingua.studies.adjusting", "accelerate", "transformers", "torch._dynamo"])
    # A checkpoint at every step, so that kills fall into their writing too.
    settings = replace(QUICK, schedule=Schedule(1e-3, epochs=1), checkpoint_every=1)

    def start(out):
        given = {"out": tmp_path / out, "device": CPU}
        process = context.Process(target=adjust, args=(str(folder), {"xx": text}, settings), kwargs=given)
        process.start()
        return process

    warm = context.Process(target=int)  # The server loads everything before its first child: no part of a run.
    warm.start()
    warm.join()
    whole = start("whole")
    began = time.monotonic()
    whole.join()
    took = time.monotonic() - began
    assert whole.exitcode == 0
    draw, kills, runs = np.random.default_rng(0), 0, 0
    while kills < 10 or runs == 0:
        process = start(f"killed-{runs}")
        # At any moment of a run, loading and measuring included; after ten kills it is left alone.
        process.join(None if kills == 10 else float(draw.uniform(0.2, 0.9)) * took)
        if process.exitcode is None:
            os.kill(process.pid, signal.SIGKILL)
            process.join()
            kills += 1
            continue
        assert process.exitcode == 0
        runs += 1
    for number in range(runs):
        ended = tmp_path / f"killed-{number}"
        assert same(ended, tmp_path / "whole")
        assert read_journal(ended / "steps.jsonl") == read_journal(tmp_path / "whole" / "steps.jsonl")
        found = [json.loads((out / "adjustment.json").read_text("utf-8")) for out in (ended, tmp_path / "whole")]
        assert found[0]["after"] == found[1]["after"]
        assert found[0]["before"] == found[1]["before"]


@pytest.mark.gpu
def test_on_a_gpu_recorded_steps_in_bf16_adjust_and_a_stopped_run_goes_on(folder, text, tmp_path):
    settings = replace(QUICK, schedule=Schedule(2e-3, epochs=4))
    assert settings.on(torch.device("cuda")).precision == "bf16"
    assert settings.on(torch.device("cuda")).graph
    for name, stops in (("whole", [None]), ("parts", [0.0, 0.0, None])):
        for stop in stops:
            made = adjust(
                str(folder),
                {"xx": text},
                settings,
                out=tmp_path / name,
                device=torch.device("cuda"),
                stop_after=stop,
            )
    before, after = (made.summary[when]["xx"]["distances"] for when in ("before", "after"))
    assert after["distance/related/l2"]["value"] < 0.8 * before["distance/related/l2"]["value"]
    assert after["auc/l2"]["value"] > before["auc/l2"]["value"]
    ours, theirs = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    for key, value in ours.items():
        torch.testing.assert_close(theirs[key], value, atol=2e-3, rtol=1e-2, msg=key)


def test_a_finished_run_is_left_alone_and_another_is_refused(folder, text, tmp_path):
    out = tmp_path / "out"
    settings = replace(QUICK, schedule=Schedule(1e-3, epochs=0.1))
    stopped = run(folder, text, out, settings, stop_after=0.0)
    assert not stopped.summary["finished"]
    assert not (out / "model.safetensors").exists()
    first = run(folder, text, out, settings)
    times = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert run(folder, text, out, settings).summary == json.loads(json.dumps(first.summary))
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == times
    with pytest.raises(InputError, match="the folder holds another run"):
        run(folder, text, out, replace(settings, seed=1))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("x", "utf-8")
    with pytest.raises(InputError, match="no run of ours"):
        run(folder, text, tmp_path / "other", settings)


@pytest.mark.parametrize(
    "changes",
    [
        {"target": "frozen", "anchor": 0.0},
        {"reduction": "sum", "layer": 2, "how": "last"},
        {"contrastive": 0.1, "drift": 1.0, "freeze": Freeze(True, 1)},
        {"specials": False, "reference": "bf16", "monitor_every": 1},
    ],
)
def test_every_choice_makes_a_model_of_its_own(folder, text, tmp_path, changes):
    settings = replace(QUICK, schedule=Schedule(1e-3, epochs=0.2), **changes)
    made = run(folder, text, tmp_path / "out", settings)
    assert made.summary["finished"]
    assert not same(tmp_path / "out", folder)


def test_languages_are_adjusted_together(folder, text, tmp_path):
    other = LinkedText(*sentences(60, seed=4))
    settings = replace(QUICK, schedule=Schedule(1e-3, epochs=0.5))
    made = adjust(str(folder), {"xx": text, "yy": other}, settings, out=tmp_path / "out", device=CPU)
    assert set(made.summary["after"]) == {"xx", "yy"}
    assert made.summary["of_steps"] == round(0.5 * -(-(144 + 54) // 8))


def test_two_processes_adjust_the_model_of_one(text, tmp_path):
    folder = models.bert(tmp_path / "still", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    settings = "AdjustSettings(batch=8, schedule=Schedule(1e-2, epochs=0.5, eps=1e-3), layer=2, reference='fp32')"
    script = f"""
import torch
from pathlib import Path
from interlingua.studies.adjusting import AdjustSettings, LinkedText, adjust
from interlingua.training.phases import Schedule
from interlingua.training.regime import ADJUST
from toys import sentences
adjust({str(folder)!r}, {{"xx": LinkedText(*sentences(160))}}, {settings}, out=Path("two"), device=torch.device("cpu"))
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
    assert done.returncode == 0, done.stderr[-3000:]
    run(
        folder,
        text,
        tmp_path / "one",
        AdjustSettings(batch=8, schedule=Schedule(1e-2, epochs=0.5, eps=1e-3), layer=2, reference="fp32"),
    )
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
        assert len(drawn_pairs(text, None, PairSettings(held_out=asked), seed=0).aside) == held
    with pytest.raises(InputError, match=f"Hold out {usable // 2} at most"):
        drawn_pairs(text, None, PairSettings(held_out=usable // 2 + 1), seed=0)


@pytest.mark.heavy
@pytest.mark.shared
def test_a_real_bitext_brings_the_embedded_encoder_s_languages_closer(shared_data, tmp_path):
    with lzma.open(shared_data / "parallel" / "software.en-ru.tsv.xz", "rt", encoding="utf-8") as file:
        lines = list(itertools.islice(file, 4000))
    (tmp_path / "software.en-ru.tsv").write_text("".join(lines), "utf-8")
    text = LinkedFiles((tmp_path / "software.en-ru.tsv",))
    settings = AdjustSettings(rows=1500, held_out=400, schedule=replace(ADJUST, learning_rate=3e-4))
    made = adjust("embedded", {"ru": text}, settings, out=tmp_path / "out", device=CPU)
    before, after = made.summary["before"]["ru"], made.summary["after"]["ru"]
    layer = str(made.summary["layer"])

    def found(state, name):
        return state["retrieval"][layer][f"p@1/cosine/{name}"]["value"]

    for way in ("", "/backward"):
        assert found(after, f"raw{way}") > found(before, f"raw{way}") + 0.05
        assert found(after, f"centred{way}") > found(before, f"centred{way}") + 0.05
    near, far = (
        [state["distances"][f"distance/{kind}/l2"]["value"] for state in (before, after)]
        for kind in ("related", "unrelated")
    )
    assert near[1] < 0.7 * near[0]
    # Everything comes closer, and translations most: unrelated words stay apart.
    assert far[1] / near[1] > 1.1 * far[0] / near[0]
    assert after["distances"]["auc/l2"]["low"] > before["distances"]["auc/l2"]["high"]
