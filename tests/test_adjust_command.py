"""`interlingua adjust`: a model any tool loads, what changed, nothing lost to a kill, and the same from Python."""

from __future__ import annotations

import csv
import json
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import interlingua
import models
from interlingua.analyses.aligned_bitext import AlignerChoice, LinkedFiles, linked_text
from interlingua.cli import app
from interlingua.engine.workspace import INNER
from interlingua.errors import InputError
from interlingua.record import RecordTable
from interlingua.report.kit.wording import format_share
from interlingua.training import regime
from toys import sentences

LAYERS = int(models._SMALL["num_hidden_layers"])
QUICK = ("--batch-size", "8", "--learning-rate", "2e-3", "--epochs", "3", "--device", "cpu")


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@dataclass(frozen=True)
class Printed:
    code: int
    out: str
    err: str


Run = Callable[..., Printed]


def printed(arguments: tuple[Any, ...], capsys: Any, monkeypatch: Any) -> Printed:
    monkeypatch.setattr(sys, "argv", ["interlingua", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        app.main()
    told = capsys.readouterr()
    return Printed(int(end.value.code or 0), told.out, told.err)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return lambda *arguments: printed(("adjust", *arguments), capsys, monkeypatch)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model, a bitext in three forms, and its links."""
    folder = tmp_path_factory.mktemp("adjust")
    models.bert(folder / "model")
    source, target, links = sentences(160)
    rows = list(zip(source, target, strict=True))
    write(folder / "talk.en-ru.tsv", [f"{a.text}\t{b.text}" for a, b in rows])
    write(folder / "talk.txt", [f"{a.text} ||| {b.text}" for a, b in rows])
    write(folder / "back.ru-en.tsv", [f"{b.text}\t{a.text}" for a, b in rows])
    write(folder / "talk.en", [a.text for a, _ in rows])
    write(folder / "talk.ru", [b.text for _, b in rows])
    pharaoh: list[list[str]] = [[] for _ in rows]
    for row, s, t in zip(links.row, links.source, links.target, strict=True):
        pharaoh[row].append(f"{s}-{t}")
    write(folder / "talk.links", [" ".join(row) for row in pharaoh])
    return folder


def write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", "utf-8")


@dataclass(frozen=True)
class Made:
    folder: Path
    told: Printed


@pytest.fixture(scope="module")
def made(home: Path) -> Made:
    """One run of the command that many tests look at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        out, err = Taken(), Taken()
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setattr(
            sys, "argv", ["interlingua", "adjust", "model", "--bitext", "talk.en-ru.tsv", "--out", "out", *QUICK]
        )
        with pytest.raises(SystemExit) as end:
            app.main()
    return Made(home / "out", Printed(int(end.value.code or 0), out.text, err.text))


class Taken:
    """A stream that keeps what is written."""

    encoding, text = "utf-8", ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def same(ours: Path, theirs: Path) -> bool:
    mine, other = weights(ours), weights(theirs)
    return set(mine) == set(other) and all(torch.equal(value, other[name]) for name, value in mine.items())


def test_the_folder_is_one_that_plain_transformers_loads_tokenizer_and_head_included(made, home):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    assert made.told.code == 0, made.told.err
    model, report = AutoModelForMaskedLM.from_pretrained(made.folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    line = (home / "talk.en").read_text("utf-8").splitlines()[0]
    first, second = (AutoTokenizer.from_pretrained(place) for place in (home / "model", made.folder))
    assert first(line)["input_ids"] == second(line)["input_ids"]
    assert torch.isfinite(model(**second(line, return_tensors="pt")).logits).all()
    assert not same(made.folder, home / "model")


def test_the_page_the_tables_and_the_terminal_have_the_numbers_of_the_records(made):
    about = json.loads((made.folder / "run.json").read_text("utf-8"))
    records = interlingua.open_records(made.folder).read()
    assert (about["kind"], about["layer"], about["languages"]) == ("adjust", LAYERS, ["en", "ru"])
    shown = " ".join(made.told.out.split())
    near = []
    for state in ("original", "adjusted"):
        own = RecordTable(record for record in records if record.state == state)
        near.append(own.of("separation", "distance", pairs="related", distance="l2").mean())
        assert (
            format_share(own.of("separation", "auc", distance="l2").mean()).replace("\N{NO-BREAK SPACE}", " ") in shown
        )
    assert near[1] < near[0]
    assert "Did adjusting model on 144 sentence pairs help Russian?" in shown
    with (made.folder / "tables" / "adjustment.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    values = {record.value for record in records if record.metric == "p@1"}
    assert len(rows) == 8
    assert all(float(row[when]) in values for row in rows for when in ("before", "after"))
    assert len((made.folder / "steps.jsonl").read_text("utf-8").splitlines()) == about["training"]["steps"] == 3 * 18
    assert {"report.html", "summary.md", "records"} <= {path.name for path in made.folder.iterdir()}
    assert not {"adjustment.json", "adjustment.html", "distances.svg"} & {path.name for path in made.folder.iterdir()}


@pytest.mark.reliability("damaged state of a stopped run")
def test_a_stopped_run_whose_state_is_damaged_is_told_plainly_or_goes_on(
    made, home, tmp_path, run, monkeypatch, record_property
):
    monkeypatch.chdir(home)
    command = ("model", "--bitext", "talk.en-ru.tsv", "--out", tmp_path / "out", *QUICK)
    train = regime.train
    monkeypatch.setattr(regime, "train", lambda *given, **how: train(*given, **{**how, "stop_after": 0.0}))
    assert run(*command, "--stop-after", "1000").code == 0
    shutil.copytree(tmp_path / "out", tmp_path / "stopped")
    files = [path.relative_to(tmp_path / "stopped") for path in (tmp_path / "stopped").rglob("*") if path.is_file()]
    assert len(files) >= 6
    for file in files:
        for content in (b"", b"[" * 9):
            shutil.rmtree(tmp_path / "out")
            shutil.copytree(tmp_path / "stopped", tmp_path / "out")
            (tmp_path / "out" / file).write_bytes(content)
            ended = run(*command, "--stop-after", "1000")
            assert ended.code in (0, 2), (file, ended.err)
            assert (ended.code == 0) or ended.err.splitlines()[-1].startswith("error: "), (file, ended.err)
    record_property("tried", 2 * len(files))
    record_property("held", 2 * len(files))


@pytest.mark.reliability("full disk")
@pytest.mark.parametrize("size", [2_000, 20_000, 200_000])
def test_a_full_disk_is_one_line_and_exit_code_1(home, tmp_path, run, monkeypatch, size):
    monkeypatch.chdir(home)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        ended = run("model", "--bitext", "talk.en-ru.tsv", "--out", tmp_path / "out", *QUICK)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1].startswith(f"error: {tmp_path / 'out'}: no space left")


@pytest.mark.reliability("a name that is not UTF-8")
@pytest.mark.parametrize("option", ["--out", "--bitext", "--tensorboard"])
def test_a_name_that_is_not_utf8_is_refused_before_the_work(home, tmp_path, run, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    ended = run(str(home / "model"), "--bitext", home / "talk.en-ru.tsv", "--out", "out", option, "caf\udce9", *QUICK)
    assert (ended.code, ended.out) == (2, "")
    assert "a name that is not UTF-8" in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.reliability("a verdict on one kind of text")
def test_the_sampler_is_asked_too_on_the_page_in_the_terminal_and_in_json(made, home, run, monkeypatch):
    monkeypatch.chdir(home)
    records = RecordTable(interlingua.open_records(made.folder).read())
    for state in ("original", "adjusted"):
        found = records.of("retrieval", "p@1", state=state, corpus="sampler", source="ru", centering="raw")
        assert {record.layer for record in found} == set(range(LAYERS + 1))
        assert {record.n for record in found} == {600}
    told = json.loads(run("model", "--bitext", "talk.en-ru.tsv", "--out", "out", *QUICK, "--json").out)
    answer = told["report"]["answer"]
    assert (answer["kind"], answer["about"]["compared"], answer["about"]["on_other_text"]) == ("adjustment", 16, True)
    assert answer["verdict"] in ("unclear", "lower")  # The toy's languages are not those of the sampler.
    for shown in (made.told.out, (made.folder / "report.html").read_text("utf-8")):
        assert "Russian → English" in shown
        assert "sampler" in shown
        assert "translation →" not in shown


def test_rows_of_the_sampler_that_are_trained_on_are_not_its_judge(home, tmp_path):
    corpus = interlingua.read_corpus("sampler", languages=["en", "es"])
    rows = list(zip(corpus.column("en"), corpus.column("es"), strict=True))
    for name, count in (("all", 600), ("half", 300)):
        write(tmp_path / f"{name}.en-es.tsv", [f"{en}\t{es}" for en, es in rows[:count]])
        made = interlingua.adjust(
            str(home / "model"),
            tmp_path / f"{name}.en-es.tsv",
            out=tmp_path / name,
            batch_size=8,
            steps=1,
            max_pairs=20,
            held_out=10,
            device="cpu",
        )
        found = {record.n for record in made.records if record.corpus == "sampler"}
        assert found == (set() if name == "all" else {300})
        assert made.report().headline.answer.about["on_other_text"] == (name != "all")


def test_a_finished_run_is_told_again_and_not_run_again(made, home, run, monkeypatch):
    monkeypatch.chdir(home)
    before = {path: path.stat().st_mtime_ns for path in made.folder.iterdir() if path.name != INNER}
    again = run("model", "--bitext", "talk.en-ru.tsv", "--out", "out", *QUICK)
    assert again.code == 0
    assert [line.rstrip() for line in again.out.splitlines()] == [line.rstrip() for line in made.told.out.splitlines()]
    assert {path: path.stat().st_mtime_ns for path in made.folder.iterdir() if path.name != INNER} == before
    other = run("model", "--bitext", "talk.en-ru.tsv", "--out", "out", *QUICK, "--seed", "1")
    assert (other.code, other.out) == (2, "")
    assert "the folder holds another run" in other.err


def test_python_makes_the_same_model_in_one_call(made, home, tmp_path):
    result = interlingua.adjust(
        str(home / "model"),
        home / "talk.en-ru.tsv",
        out=tmp_path / "out",
        batch_size=8,
        learning_rate=2e-3,
        epochs=3.0,
        device="cpu",
    )
    assert same(result.folder, made.folder)
    here = RecordTable(interlingua.open_records(made.folder).read())
    assert [record.value for record in result.records] == [record.value for record in here]
    assert result.report().headline.answer.sentence in result.summary()


def test_json_is_alone_on_stdout_and_a_stopped_run_goes_on(made, home, tmp_path, run, monkeypatch):
    monkeypatch.chdir(home)
    command = ("model", "--bitext", "talk.en-ru.tsv", "--out", tmp_path / "out", *QUICK, "--json")
    train = regime.train
    with monkeypatch.context() as patch:
        patch.setattr(regime, "train", lambda *given, **how: train(*given, **{**how, "stop_after": 0.0}))
        stopped = json.loads(run(*command, "--stop-after", "1000").out)
        shown = run(*command[:-1], "--stop-after", "1000")
    training = stopped["run"]["training"]
    assert (training["finished"], training["steps"], training["of_steps"]) == (False, 1, 54)
    assert stopped["report"]["answer"]["verdict"] == "unfinished"
    assert {record["state"] for record in stopped["records"]} == {"original"}
    assert not (tmp_path / "out" / "model.safetensors").exists()
    assert "2 of 54 steps are done" in shown.out
    ended = json.loads(run(*command).out)
    assert ended["run"]["training"]["finished"]
    assert ended["folder"] == str(tmp_path / "out")
    assert same(tmp_path / "out", made.folder)


def test_a_plan_tells_the_steps_and_runs_none(made, home, tmp_path, run, monkeypatch):
    monkeypatch.chdir(home)
    command = ("model", "--bitext", "talk.en-ru.tsv", *QUICK, "--plan")
    told = json.loads(run(*command, "--out", tmp_path / "out", "--json").out)
    assert [step["kind"] for step in told["steps"]] == ["align", "effect", "adjust", "effect"]
    assert told["plan"]["needed"] == 4
    assert not (tmp_path / "out").exists()
    assert "nothing to run: 4 of 4 steps are done" in run(*command, "--out", "out").out


@pytest.mark.parametrize(
    ("given", "english"),
    [
        (("talk.txt",), None),
        (("talk.en", "talk.ru"), None),
        (("back.ru-en.tsv",), None),
        (("back.ru-en.tsv",), "target"),
    ],
)
def test_a_bitext_is_the_same_in_every_form(home, tmp_path, given, english):
    found = LinkedFiles(tuple(home / name for name in given), english=english)
    assert found.language in ("ru", None)
    text = found.read(tmp_path / "links.npz")
    plain = linked_text(home / "talk.en-ru.tsv")
    assert [one.text for one in text.source] == [one.text for one in plain.source]
    assert [one.text for one in text.target] == [one.text for one in plain.target]
    # A direction of training more or less: the two orders of the sides give nearly the same links.
    ours, theirs = (
        {*zip(*(part.tolist() for part in vars(each.links).values()), strict=True)} for each in (text, plain)
    )
    assert len(ours & theirs) > 0.95 * len(theirs)


@pytest.mark.parametrize("linking", [AlignerChoice(), AlignerChoice("neural")])
def test_links_are_made_once_and_kept(home, tmp_path, linking, monkeypatch):
    linking = replace(linking, model=str(home / "model"))
    files = LinkedFiles((home / "talk.en-ru.tsv",), linking=linking)
    first = files.read(tmp_path / "links.npz")
    monkeypatch.setattr("interlingua.analyses.aligned_bitext.align", None)
    again = files.read(tmp_path / "links.npz")
    assert again.digest == first.digest
    assert again.notes == first.notes
    assert len(first.links) > 100
    assert files.digest != replace(files, linking=AlignerChoice("eflomal")).digest


def test_a_file_of_links_is_used_as_it_is(home, tmp_path):
    given = LinkedFiles((home / "talk.txt",), home / "talk.links").read(tmp_path / "links.npz")
    assert given.links.target.tolist() == sentences(160)[2].target.tolist()


def test_several_languages_are_adjusted_at_once_each_with_its_table(home, tmp_path, run, monkeypatch):
    monkeypatch.chdir(home)
    told = run(
        *("model", "--bitext", "ru=talk.txt", "--bitext", "es=talk.en,talk.ru", "--links", "ru=talk.links"),
        *(
            "--out",
            tmp_path / "out",
            *QUICK,
            "--steps",
            "2",
            "--layer",
            "1",
            "--source-side",
            "frozen",
            "--freeze",
            "0",
        ),
        *("--max-pairs", "50", "--anchor", "0.5", "--drift", "0.1", "--contrastive", "0.1", "--monitor-every", "1"),
    )
    assert told.code == 0, told.err
    about = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    training = about["training"]
    assert (training["steps"], about["layer"], about["languages"]) == (2, 1, ["en", "ru", "es"])
    assert {code: its["rows"] for code, its in training["languages"].items()} == {"ru": 50, "es": 50}
    assert "help Russian and Spanish?" in told.out
    assert "16 held-out sentences" in " ".join(told.out.split())
    assert [entry["step"] for entry in training["metrics"]] == [1, 2]
    before, after = weights(home / "model"), weights(tmp_path / "out")
    words = next(name for name in before if name.endswith("word_embeddings.weight"))
    assert torch.equal(before[words], after[words])


def test_lora_is_merged_into_plain_weights(home, tmp_path, run, monkeypatch):
    pytest.importorskip("peft")
    monkeypatch.chdir(home)
    told = run("model", "--bitext", "talk.en-ru.tsv", "--out", tmp_path / "out", *QUICK, "--steps", "3", "--lora", "4")
    assert told.code == 0, told.err
    before, after = weights(home / "model"), weights(tmp_path / "out")
    assert set(before) == set(after)
    moved = {name for name, value in before.items() if not torch.equal(value, after[name])}
    assert moved
    assert all("encoder.layer" in name and before[name].ndim == 2 for name in moved)
    change = after[next(iter(moved))] - before[next(iter(moved))]
    assert torch.linalg.matrix_rank(change, rtol=1e-3) <= 4


def test_blocks_that_are_frozen_stay_to_the_bit_in_the_saved_model_under_lora_too(home, tmp_path, run, monkeypatch):
    pytest.importorskip("peft")
    monkeypatch.chdir(home)
    options = ("--steps", "3", "--lora", "4", "--freeze", "1", "--learning-rate", "1e-2")
    told = run("model", "--bitext", "talk.en-ru.tsv", "--out", tmp_path / "out", *QUICK, *options)
    assert told.code == 0, told.err
    before, after = weights(home / "model"), weights(tmp_path / "out")
    moved = {name for name, value in before.items() if not torch.equal(value, after[name])}
    maps = {name for name in before if "encoder.layer." in name and before[name].ndim == 2}
    assert moved == {name for name in maps if "encoder.layer.0." not in name}


def test_drift_holds_the_adapters_of_lora(home, tmp_path, run, monkeypatch):
    pytest.importorskip("peft")
    monkeypatch.chdir(home)
    before, moved = weights(home / "model"), {}
    for drift in ("0", "10"):
        options = ("--steps", "10", "--lora", "4", "--drift", drift)
        told = run("model", "--bitext", "talk.en-ru.tsv", "--out", tmp_path / drift, *QUICK, *options)
        assert told.code == 0, told.err
        after = weights(tmp_path / drift)
        moved[drift] = sum(float((after[name] - before[name]).square().sum()) for name in before)
    assert 0 < moved["10"] < moved["0"] / 2
    steps = [json.loads(line) for line in (tmp_path / "10" / "steps.jsonl").read_text("utf-8").splitlines()]
    assert steps[0]["drift"] == 0
    assert all(step["drift"] > 0 for step in steps[2:])


BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "no file": (("--bitext", "talk.en-ru.tvs"), "no such file: 'talk.en-ru.tvs'. Did you mean talk.en-ru.tsv?"),
    "no links": (("--bitext", "ru=talk.txt", "--links", "nothing"), "no such file"),
    "no such language": (("--bitext", "xx9=talk.txt"), "not a language code"),
    "two without a language": (
        ("--bitext", "talk.txt", "--bitext", "talk.en-ru.tsv"),
        "with several --bitext each needs a language",
    ),
    "a language twice": (("--bitext", "ru=talk.txt", "--bitext", "rus=talk.en-ru.tsv"), "two bitexts of one language"),
    "links of nothing": (("--bitext", "ru=talk.txt", "--links", "es=talk.links"), "links without a bitext: 'es'"),
    "three files": (("--bitext", "talk.en,talk.ru,talk.txt"), "--bitext takes XX=FILE"),
    "no such layer": (("--bitext", "ru=talk.txt", "--layer", "7"), "no such layer: 7. There are 0"),
    "no such target": (("--bitext", "ru=talk.txt", "--source-side", "both"), "unknown value of --source-side: 'both'"),
    "no such reduction": (("--bitext", "ru=talk.txt", "--reduction", "max"), "unknown value of --reduction: 'max'"),
    "no such aligner": (("--bitext", "ru=talk.txt", "--aligner", "giza"), "unknown value of --aligner: 'giza'"),
    "an aligner beside links": (
        ("--bitext", "ru=talk.txt", "--links", "talk.links", "--aligner", "neural"),
        "--aligner has nothing to do here: 'neural'. It links bitexts that have no links",
    ),
    "a model of no aligner": (("--bitext", "ru=talk.txt", "--aligner-model", "model"), "It is for --aligner neural"),
    "no such side": (("--bitext", "ru=talk.txt", "--pivot-side", "left"), "unknown value of --pivot-side: 'left'"),
    "no such precision": (("--bitext", "ru=talk.txt", "--precision", "fp8"), "unknown value of --precision"),
    "fp16 on a CPU": (("--bitext", "ru=talk.txt", "--precision", "fp16"), "fp16 is for GPUs"),
    "too many blocks": (("--bitext", "ru=talk.txt", "--freeze", "9"), "no such number of blocks: 9"),
    "all maps frozen": (
        ("--bitext", "ru=talk.txt", "--freeze", str(LAYERS), "--lora", "4"),
        "LoRA has no map to train: all are frozen",
    ),
    "a layer that nothing moves": (
        ("--bitext", "ru=talk.txt", "--layer", "1", "--freeze", "1"),
        "nothing is trained that layer 1 depends on",
    ),
    "adapters above the layer": (
        ("--bitext", "ru=talk.txt", "--layer", "1", "--freeze", "1", "--lora", "4"),
        "nothing is trained that layer 1 depends on",
    ),
    "drift of nothing": (
        ("--bitext", "ru=talk.txt", "--drift", "1", "--freeze", "-1"),
        "nothing is trained that layer",
    ),
    "no rank": (("--bitext", "ru=talk.txt", "--lora", "0"), "--lora must be at least 1: 0"),
    "no rate": (("--bitext", "ru=talk.txt", "--learning-rate", "0"), "--learning-rate must be above 0: 0.0"),
    "a rate without end": (
        ("--bitext", "ru=talk.txt", "--learning-rate", "inf"),
        "--learning-rate must be finite: inf",
    ),
    "no steps": (("--bitext", "ru=talk.txt", "--steps", "0"), "--steps must be at least 1: 0"),
    "no sentences": (("--bitext", "ru=talk.txt", "--max-pairs", "0"), "--max-pairs must be at least 1: 0"),
    "no batch": (("--bitext", "ru=talk.txt", "--batch-size", "0"), "--batch-size must be at least 1: 0"),
    "a negative seed": (("--bitext", "ru=talk.txt", "--seed", "-1"), "--seed must be at least 0"),
    "empty": (("--bitext", "ru=empty.txt"), "empty"),
    "a folder": (("--bitext", "ru=model"), "model: a folder where a file was expected. Give a file in it."),
    "one column": (("--bitext", "talk.en"), "talk.en"),
    "unequal files": (("--bitext", "talk.en,short.ru"), "no partner"),
    "too little text": (("--bitext", "ru=short.txt"), "fewer sentence pairs than training and measuring need: 3"),
    "too little to hold out": (("--bitext", "ru=few.txt"), "more than half of the words are of one sentence"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_on_one_line_before_training_and_leaves_no_run(case, home, tmp_path, run, monkeypatch):
    options, problem = BAD[case]
    monkeypatch.chdir(home)
    write(home / "empty.txt", [""])
    lines = (home / "talk.txt").read_text("utf-8").splitlines()
    write(home / "short.txt", lines[:3])
    write(home / "few.txt", lines[:12])
    write(home / "short.ru", ["a"])
    monkeypatch.setattr("interlingua.training.regime.train", None)
    told = run("model", "--out", tmp_path / "out", "--device", "cpu", *options)
    assert told.code == 2, told.err
    assert told.out == ""
    last = told.err.strip().splitlines()[-1]
    assert last.startswith("error: ")
    assert problem in last
    assert not (tmp_path / "out").exists()


def test_a_model_that_is_not_there_and_an_out_that_is_a_file_are_refused(home, tmp_path, run, monkeypatch):
    monkeypatch.chdir(home)
    missing = run("modle", "--bitext", "ru=talk.txt", "--out", tmp_path / "out")
    assert (missing.code, missing.out) == (2, "")
    (tmp_path / "file").write_text("x", "utf-8")
    taken = run("model", "--bitext", "ru=talk.txt", "--out", tmp_path / "file")
    assert taken.code == 2
    assert "--out is a file" in taken.err
    with pytest.raises(InputError, match="there is no bitext"):
        interlingua.adjust(str(home / "model"), {}, out=tmp_path / "out")


def test_lines_that_are_no_pair_are_counted_and_shown(home, tmp_path, run, monkeypatch):
    monkeypatch.chdir(home)
    lines = (home / "talk.txt").read_text("utf-8").splitlines()
    write(home / "gaps.txt", [*lines[:20], "no pair here", *lines[20:], "||| nothing"])
    write(home / "far.links", ["99-0", *["0-0"] * (len(lines) + 1)])
    links = ("--links", "ru=far.links", "--out", tmp_path / "out")
    told = run("model", "--bitext", "ru=gaps.txt", *links, *QUICK, "--steps", "1")
    assert told.code == 0, told.err
    assert "gaps.txt:21" in told.err
    about = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))["training"]["languages"]["ru"]
    assert any("gaps.txt:21" in note for note in about["notes"])
    assert any("far.links:1" in note for note in about["notes"])
    without = about["left_out"]["rows without a pair of linked words"]
    assert about["rows"] + without + 16 == 160


def test_list_names_tasks_objectives_and_regimes(capsys, monkeypatch):
    found = json.loads(printed(("list", "--json"), capsys, monkeypatch).out)
    names = {kind: {entry["name"] for entry in entries} for kind, entries in found.items()}
    assert names["tasks"] >= {"nli", "paraphrase", "ner", "qa", "retrieval"}
    assert names["objectives"] >= {"adjustment", "anchor", "contrastive", "drift", "mlm", "task"}
    assert names["regimes"] >= {"original", "adjusted", "continual", "joint", "adjust-only"}
    assert all(entry["summary"] for entries in found.values() for entry in entries)
    shown = printed(("list",), capsys, monkeypatch).out
    assert all(name in shown for kind in ("tasks", "objectives", "regimes") for name in names[kind])
