from __future__ import annotations

import inspect
import json
import multiprocessing
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

import interlingua
from interlingua import languages
from interlingua.commands.pretrain import pretrain
from interlingua.encoder import Encoder
from interlingua.encoder import model_loading as loading
from interlingua.encoder.model_init import init_masked_lm
from interlingua.errors import InputError
from interlingua.measures.retrieval import retrieval
from interlingua.readers import read_corpus
from interlingua.training.loop import train
from interlingua.training.tokenizer import SPECIAL
from tiny import TINY, as_toml

SOURCE = Path(next(iter(interlingua.__path__))).parent


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def same(ours: Path, theirs: Path) -> bool:
    return all(torch.equal(value, weights(theirs)[name]) for name, value in weights(ours).items())


def measured(folder: Path) -> list[dict[str, float]]:
    metrics = json.loads((folder / "training.json").read_text("utf-8"))["metrics"]
    return [{key: value for key, value in entry.items() if key != "steps_per_second"} for entry in metrics]


@pytest.fixture(scope="module")
def made(texts):
    (texts / "made.toml").write_text(as_toml(TINY), "utf-8")
    return pretrain(texts / "made.toml", out=texts / "made", device="cpu")


def test_the_folder_is_an_ordinary_one(made, texts):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    assert sorted(path.name for path in made.folder.iterdir()) == [
        ".interlingua",
        "config.json",
        "model.safetensors",
        "report.html",
        "run.json",
        "summary.md",
        "tokenizer.json",
        "tokenizer_config.json",
        "training.json",
    ]
    assert {value.dtype for value in weights(made.folder).values()} == {torch.float16}
    tokenizer = AutoTokenizer.from_pretrained(made.folder)
    model, report = AutoModelForMaskedLM.from_pretrained(made.folder, output_loading_info=True, dtype=torch.float32)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    line = (texts / "text" / "en.txt").read_text("utf-8").splitlines()[0]
    batch = tokenizer(line, return_tensors="pt")
    assert model(**batch).logits.shape == (*batch["input_ids"].shape, len(tokenizer))
    assert tokenizer.convert_tokens_to_ids(list(SPECIAL)) == [0, 1, 2, 3, 4]
    assert model.num_parameters() == made.training["parameters"]
    assert Encoder.load(str(made.folder), device="cpu").encode([line])[0].shape == (1, model.config.hidden_size)


def test_the_last_evaluation_is_retrieval_by_the_saved_model(write_config, tmp_path):
    config = write_config(training={"save": "fp32", "steps": 2})
    made = pretrain(config, out=tmp_path / "made", device="cpu")
    encoder = Encoder.load(str(made.folder), device="cpu", precision="fp32")
    corpus = read_corpus(tmp_path / "held-out.tsv")
    vectors = {code: encoder.encode(corpus.column(code)) for code in ("en", "ru", "zh")}
    for variant in ("raw", "centred"):
        means = []
        for layer in encoder.layers:
            values = []
            for other in ("ru", "zh"):
                sides = [torch.tensor(np.array(vectors[code][layer], np.float32)) for code in ("en", other)]
                scores = retrieval(*sides)
                values += [scores[f"p@1/cosine/{variant}{way}"].value for way in ("", "/backward")]
            means.append(np.mean(values))
        last = made.training["metrics"][-1]
        assert last[variant] == pytest.approx(max(means), abs=1e-9)
        assert last[f"{variant}_layer"] == int(np.argmax(means))
        assert last[f"{variant}_chance"] == pytest.approx(
            np.mean([1 / len(corpus.pair("en", other).rows) for other in ("ru", "zh")])
        )


def test_the_same_config_makes_the_same_weights_and_another_seed_others(made, write_config, tmp_path):
    pretrain(write_config("again.toml"), out=tmp_path / "again", device="cpu")
    pretrain(write_config("other.toml", training={"seed": 1}), out=tmp_path / "other", device="cpu")
    assert same(made.folder, tmp_path / "again")
    assert measured(made.folder) == measured(tmp_path / "again")
    assert not same(made.folder, tmp_path / "other")


def test_no_parallel_signal_can_enter(write_config, tmp_path, made, texts):
    # The loop gets objectives and their stream alone; no parameter could carry a corpus.
    assert "corpus" not in inspect.signature(train).parameters
    # And indeed: without the held-out sentences, and with others, the weights are the same.
    rows = (texts / "held-out.tsv").read_text("utf-8").splitlines()
    (tmp_path / "other.tsv").write_text("\n".join([rows[0], *reversed(rows[11:])]) + "\n", "utf-8")
    config = write_config("other.toml", evaluation={"corpus": "other.tsv"}, training={"evaluate_every": 5})
    pretrain(config, out=tmp_path / "other", device="cpu")
    assert measured(tmp_path / "other") != measured(made.folder)
    assert same(made.folder, tmp_path / "other")


def test_one_language_trains_without_evaluation(write_config, tmp_path):
    config = write_config(data={"languages": ["ru"]}, training={"steps": 1})
    made = pretrain(config, out=tmp_path / "ru", device="cpu")
    assert made.training["languages"] == ["ru"]
    assert set(made.training["metrics"][-1]) == {"step", "loss", "steps_per_second"}


def test_codes_of_any_convention_name_a_language(write_config, tmp_path, texts):
    for path in (texts / "text").iterdir():
        (tmp_path / "long").mkdir(exist_ok=True)
        (tmp_path / "long" / path.name.replace("en.", "eng.")).write_bytes(path.read_bytes())
    config = write_config(data={"folder": "long", "languages": ["eng", "ru", "zh"]}, training={"steps": 1})
    made = pretrain(config, out=tmp_path / "made", device="cpu")
    assert made.training["languages"] == ["en", "ru", "zh"]
    assert "raw" in made.training["metrics"][-1]


def test_a_run_that_was_stopped_goes_on_and_a_finished_one_is_left_alone(made, write_config, tmp_path):
    config, out = write_config("again.toml"), tmp_path / "again"
    stopped = pretrain(config, out=out, device="cpu", stop_after=0.0)
    assert (stopped.training["steps"], stopped.training["finished"]) == (1, False)
    assert stopped.training["tokens_seen"] == 8 * 32
    finished = pretrain(config, out=out, device="cpu")
    assert same(out, made.folder)
    assert measured(out) == measured(made.folder)
    before = {path: path.stat().st_mtime_ns for path in out.iterdir() if path.is_file()}
    assert pretrain(config, out=out, device="cpu").training == finished.training
    assert {path: path.stat().st_mtime_ns for path in out.iterdir() if path.is_file()} == before


def test_killed_at_random_moments_and_resumed_a_run_has_the_weights_of_one_that_was_not(
    write_config, tmp_path, monkeypatch
):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    # More checkpoints than in life, so that kills fall into their writing too.
    often = {"steps": 40, "checkpoint_every": 2, "evaluate_every": 20}
    config = write_config(data={"tidy": True, "held_out": 0.1}, training={**often, "optimizer": "muon", "save": "fp8"})
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["interlingua.commands.audit", "accelerate", "torch._dynamo"])

    def start(out: Path):
        process = context.Process(target=pretrain, args=(config,), kwargs={"out": out, "device": "cpu"})
        process.start()
        return process

    whole = start(tmp_path / "whole")
    whole.join()
    assert whole.exitcode == 0
    draw = np.random.default_rng(0)
    kills = 0
    while True:
        process = start(tmp_path / "killed")
        # Later each time, so that the run ends.
        process.join(float(draw.uniform(0.1, 0.5 + 0.4 * kills)))
        if process.exitcode is None:
            os.kill(process.pid, signal.SIGKILL)
            process.join()
            kills += 1
            continue
        assert process.exitcode == 0
        break
    assert kills >= 1
    assert same(tmp_path / "killed", tmp_path / "whole")
    assert measured(tmp_path / "killed") == measured(tmp_path / "whole")
    assert not list((tmp_path / "killed" / ".interlingua" / "work").iterdir())


@pytest.mark.parametrize(("precision", "optimizer"), [("fp32", "adamw"), ("bf16", "muon")])
def test_two_processes_train_the_model_of_one(write_config, tmp_path, precision, optimizer):
    if precision == "bf16" and not loading._has_bf16_instructions():
        pytest.skip("this processor has no bf16 instructions")
    still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    config = write_config(
        model=still, training={"save": "fp32", "accumulate": 2, "precision": precision, "optimizer": optimizer}
    )
    one = pretrain(config, out=tmp_path / "one", device="cpu")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    done = subprocess.run(
        [*launch, "-m", "interlingua", "pretrain", config, "--out", tmp_path / "two", "--device", "cpu", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    summary = json.loads(done.stdout)  # One process speaks.
    ours, theirs = weights(tmp_path / "one"), weights(tmp_path / "two")
    losses = [[entry["loss"] for entry in found["metrics"]] for found in (one.training, summary)]
    if precision == "fp32":
        for name, value in ours.items():
            torch.testing.assert_close(theirs[name], value, atol=1e-4, rtol=0, msg=name)
        assert losses[0] == pytest.approx(losses[1], abs=1e-4)
        return
    # Each process rounds the gradients of its half to 8 bits: the ways differ by a small part of their length.
    sizes = {key: value for key, value in {**TINY["model"], **still}.items() if key != "architecture"}
    tokenizer = Tokenizer.from_file(str(tmp_path / "one" / "tokenizer.json"))
    start = dict(init_masked_lm("electra", sizes, tokenizer, length=32, seed=0).named_parameters())
    apart = sum((theirs[name] - value).square().sum() for name, value in ours.items())
    way = sum((start[name] - value).square().sum() for name, value in ours.items())
    assert apart.sqrt() < 0.1 * way.sqrt()
    assert losses[0] == pytest.approx(losses[1], abs=1e-2)


def test_a_folder_of_another_run_is_refused_and_not_touched(write_config, tmp_path):
    out = tmp_path / "out"
    pretrain(write_config(), out=out, device="cpu", stop_after=0.0)
    before = weights(out)
    other = write_config("other.toml", training={"learning_rate": 0.1})
    refused = r"out: the folder holds another run \(its config or its text differs\)\. Name another --out"
    with pytest.raises(InputError, match=refused):
        pretrain(other, out=out, device="cpu")
    pretrain(write_config(), out=out, device="cpu")
    with pytest.raises(InputError, match=refused):
        pretrain(other, out=out, device="cpu")
    assert set(weights(out)) == set(before)


def test_changed_text_is_another_run(write_config, tmp_path, texts):
    (tmp_path / "own").mkdir()
    for path in (texts / "text").iterdir():
        (tmp_path / "own" / path.name).write_bytes(path.read_bytes())
    config = write_config(data={"folder": "own"})
    pretrain(config, out=tmp_path / "out", device="cpu", stop_after=0.0)
    with (tmp_path / "own" / "en.txt").open("a", encoding="utf-8") as file:
        file.write("One more line.\n")
    with pytest.raises(InputError, match="holds another run"):
        pretrain(config, out=tmp_path / "out", device="cpu")


def test_a_folder_of_other_files_is_refused(write_config, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("x", "utf-8")
    with pytest.raises(InputError, match="holds files that are no run of ours"):
        pretrain(write_config(), out=tmp_path / "out", device="cpu")
    with pytest.raises(InputError, match=r"--out is a file"):
        pretrain(write_config(), out=tmp_path / "out" / "thesis.tex", device="cpu")


@pytest.mark.parametrize("size", [300, 20_000, 60_000])  # In the tokenizer, in the text, in the checkpoint.
def test_a_full_disk_is_a_clear_error_and_a_rerun_goes_on(write_config, made, tmp_path, size):
    config, out = write_config("again.toml"), tmp_path / "out"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        with pytest.raises(InputError, match=r"no space left for results\. Free some"):
            pretrain(config, out=out, device="cpu")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    pretrain(config, out=out, device="cpu")
    assert same(out, made.folder)


def test_the_command_prints_a_table_or_one_object(write_config, tmp_path, capsys, monkeypatch):
    from interlingua.cli import app

    config = write_config(training={"steps": 2})
    given = ["interlingua", "pretrain", str(config), "--out", str(tmp_path / "out"), "--device", "cpu"]
    for extra in ([], ["--json"]):
        monkeypatch.setattr(sys, "argv", [*given, *extra])
        with pytest.raises(SystemExit) as end:
            app.main()
        assert not end.value.code
        printed = capsys.readouterr()
        if not extra:
            shown = " ".join(printed.out.split())
            assert "512 tokens seen" in shown
            assert "The model learnt nothing of the text: its loss is " in shown
            assert "Translations are not found above chance at any layer" in shown
            assert "training: 2/2" in printed.err
        else:
            found = json.loads(printed.out)
            assert (found["steps"], found["finished"], found["folder"]) == (2, True, str(tmp_path / "out"))
            verdicts = {
                each["kind"]: each["verdict"] for each in [found["report"]["answer"], *found["report"]["findings"]]
            }
            assert verdicts == {"pretraining_text": "at chance", "pretraining_translations": "at chance"}


def test_lines_that_were_left_out_are_counted_in_the_file_the_object_and_the_table(
    write_config, texts, tmp_path, capsys, monkeypatch
):
    from interlingua.cli import app

    (tmp_path / "own").mkdir()
    expected = {}
    for number, path in enumerate(sorted((texts / "text").iterdir())):
        lines = [line for line in path.read_text("utf-8").splitlines() if len(line) > 20]
        lines += [*["ok"] * number, "see http://a.example", *["1 2 3 4 5 6 7"] * 1200, lines[0], lines[1], "", ""]
        (tmp_path / "own" / path.name).write_text("\n".join(lines), "utf-8")
        kept = len(lines) - number - 1 - 1200 - 2 - 2
        expected[path.stem] = {
            "kept": kept, "short": number, "web address": 1, "few letters": 1200, "repeated": 2
        }  # fmt: skip
    config = write_config(data={"folder": "own", "tidy": True, "held_out": 0.1}, training={"steps": 1})
    given = ["interlingua", "pretrain", str(config), "--out", str(tmp_path / "out"), "--device", "cpu"]
    printed = []
    for extra in ([], ["--json"]):
        monkeypatch.setattr(sys, "argv", [*given, *extra])
        with pytest.raises(SystemExit) as end:
            app.main()
        assert not end.value.code
        printed.append(capsys.readouterr().out)
    assert json.loads(printed[1])["lines_of_text"] == expected
    assert json.loads((tmp_path / "out" / "training.json").read_text("utf-8"))["lines_of_text"] == expected
    assert re.search(r"language +kept +short +web address +few letters +repeated", printed[0])
    for code, counts in expected.items():
        assert re.search(rf"{languages.name(code)} +{counts['kept']} +{counts['short']} +1 +1,200 +2\b", printed[0])
    assert "eld-out loss" in printed[0]


def test_text_taken_as_it_is_has_no_table_of_lines(made):
    assert made.training["lines_of_text"] == {code: {"kept": 100} for code in ("en", "ru", "zh")}
    assert not [table for section in made.report().sections for table in section.tables]


def test_no_more_than_the_first_lines_of_each_language_are_taken(write_config, texts, tmp_path):
    (tmp_path / "cut").mkdir()
    for path in (texts / "text").iterdir():
        lines = path.read_text("utf-8").splitlines()
        (tmp_path / "cut" / path.name).write_text("\n".join(lines[:60]) + "\n", "utf-8")
    whole = write_config("whole.toml", data={"lines": 60}, training={"steps": 2})
    cut = write_config("cut.toml", data={"folder": "cut"}, training={"steps": 2})
    ours = pretrain(whole, out=tmp_path / "a", device="cpu")
    pretrain(cut, out=tmp_path / "b", device="cpu")
    assert same(tmp_path / "a", tmp_path / "b")
    assert {counts["kept"] for counts in ours.training["lines_of_text"].values()} == {60}


def test_a_bad_config_ends_with_code_2_and_one_line(write_config, tmp_path, capsys, monkeypatch):
    from interlingua.cli import app

    config = write_config(training={"steps": 0})
    monkeypatch.setattr(sys, "argv", ["interlingua", "pretrain", str(config), "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as end:
        app.main()
    printed = capsys.readouterr()
    assert (end.value.code, printed.out) == (2, "")
    assert re.fullmatch(
        rf"error: {config}:\d+: steps must be at least 1 and at most 1,000,000,000: 0\. Give another number\.\n",
        printed.err,
    )
    assert not (tmp_path / "out").exists()
