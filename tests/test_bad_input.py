"""Bad input through the real command line: exit code 2, one line that says what to do, and nothing half-written."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoTokenizer

import models
from interlingua.cli import app
from interlingua.encoder import model_loading
from interlingua.engine.workspace import INNER
from interlingua.readers import read_corpus
from record_store import record_lines

ROWS = 30


@dataclass(frozen=True)
class Place:
    """Where a case plays: an empty folder, and a sound model and corpus to spoil."""

    folder: Path
    sound: Path

    def file(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def corpus(self, *, rows: int = ROWS, name: str = "corpus.tsv") -> str:
        lines = ["en\tes", *("\t".join(pair) for pair in sentences()[:rows])]
        return self.file(name, "\n".join(lines) + "\n")

    @property
    def model(self) -> Path:
        """A copy of the sound model, to be spoiled."""
        copy = self.folder / "model"
        if not copy.exists():
            shutil.copytree(self.sound, copy)
        return copy

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"


def sentences() -> list[tuple[str, str]]:
    pair = read_corpus("sampler", languages=["en", "es"]).pair("en", "es")
    return list(zip(pair.source_texts, pair.target_texts, strict=True))


Spoil = Callable[[Place], list[str]]


class Case(NamedTuple):
    spoil: Spoil
    error: str


CASES: dict[str, Case] = {}


def bad(error: str) -> Callable[[Spoil], Spoil]:
    """A case: the arguments that a user might type, and the error line they must get, as a pattern."""

    def add(spoil: Spoil) -> Spoil:
        CASES[spoil.__name__] = Case(spoil, error)
        return spoil

    return add


# The corpus.


@bad(r"no such file: '.*/corpsu\.tsv'\. Did you mean .*/corpus\.tsv\?")
def missing_corpus(place: Place) -> list[str]:
    place.corpus()
    return ["--corpus", str(place.folder / "corpsu.tsv")]


@bad(r"no such file: '.*/nowhere/corpus\.tsv'\. There is no folder .*/nowhere either\.")
def missing_corpus_folder(place: Place) -> list[str]:
    return ["--corpus", str(place.folder / "nowhere" / "corpus.tsv")]


@bad(r"a name that is too long for a file: 'x{120}…'\. Check it for a text given as a path\.")
def file_name_too_long(place: Place) -> list[str]:
    return ["--corpus", "x" * 300]


@bad(r"a name that is too long for a file: '.*'\. Check it for a text given as a path\.")
def name_of_dictionaries_too_long(place: Place) -> list[str]:
    return ["--dictionary", "x" * 300]


@bad(r"no file or folder is named: ''\. Give a path\.")
def corpus_without_a_name(place: Place) -> list[str]:
    return ["--corpus", ""]


@bad(r"no file is named: ','\. Give files with a comma between them\.")
def commas_without_files(place: Place) -> list[str]:
    return ["--corpus", ","]


@bad(r"a name that is not UTF-8: '.*\\udcff\.tsv'\. Rename that file or folder")
def file_name_that_is_not_utf8(place: Place) -> list[str]:
    return ["--corpus", os.fsdecode(bytes(place.folder) + b"/\xff.tsv")]


@bad(r"corpus\.tsv:3: a byte that is not utf-8: '0xf1'\. Give the file's encoding")
def latin_1_bytes(place: Place) -> list[str]:
    return ["--corpus", place.file("corpus.tsv", "en\tes\nHello.\tHola.\nYear.\tAño.\n".encode("latin-1"))]


@bad(r"x\.es: unequal line counts: x\.en has 3, x\.es has 2\. Give files whose lines correspond")
def unequal_line_counts(place: Place) -> list[str]:
    place.file("x.en", "One.\nTwo.\nThree.\n")
    place.file("x.es", "Uno.\nDos.\n")
    return ["--corpus", str(place.folder / "x.en")]


@bad(r"corpus\.tsv: the file is empty\. Give a file with text in it\.")
def empty_corpus(place: Place) -> list[str]:
    return ["--corpus", place.file("corpus.tsv", "")]


@bad(r"corpus\.tsv: the corpus is empty\. Give rows with text in at least two languages\.")
def header_and_no_rows(place: Place) -> list[str]:
    return ["--corpus", place.file("corpus.tsv", "en\tes\n")]


@bad(r"en and es share only 1 row in corpus\.tsv\. No measure says anything below 10; give more rows")
def one_sentence(place: Place) -> list[str]:
    return ["--corpus", place.corpus(rows=1)]


@bad(r"an audit compares languages, and one was named: 'en'\. Give at least two\.")
def one_language(place: Place) -> list[str]:
    return ["--corpus", place.corpus(), "--languages", "en,en"]


@bad(
    r"corpus\.tsv:1: fewer than two languages \(none\) among the columns: 'first, second'\. Name.*--languages en,rus\."
)
def header_without_languages(place: Place) -> list[str]:
    return ["--corpus", place.file("corpus.tsv", "first\tsecond\nOne.\tUno.\n")]


@bad(r"corpus\.tsv:3: 3 cells where the header has 2\. Remove the extra separators")
def ragged_row(place: Place) -> list[str]:
    return ["--corpus", place.file("corpus.tsv", "en\tes\nOne.\tUno.\nTwo.\tDos.\tDeux.\n")]


@bad(r"corpus\.tsv\.gz: cannot be read: damaged or cut short \(.+\)\. Fetch the file again")
def truncated_gzip(place: Place) -> list[str]:
    whole = gzip.compress(Path(place.corpus()).read_bytes())
    return ["--corpus", place.file("corpus.tsv.gz", whole[: len(whole) // 2])]


@bad(r"corpus\.tsv: the file is binary, not text\. Give a text file")
def binary_garbage(place: Place) -> list[str]:
    return ["--corpus", place.file("corpus.tsv", bytes(range(256)) * 8)]


@bad(r"stdin: the file is empty\. Give a file with text in it\.")
def empty_stdin(place: Place) -> list[str]:
    return ["--corpus", "-"]


@bad(r"broken\.jsonl:2: not JSON \(.+\)\. Give one JSON object a line\.")
def broken_json_lines(place: Place) -> list[str]:
    return ["--corpus", place.file("broken.jsonl", '{"en": "One.", "es": "Uno."}\n{"en": "Two."\n')]


# What is asked of it.


@bad(r"unknown measure: 'retreival'\. Did you mean 'retrieval'\? Known: .*cka.*retrieval")
def unknown_measure(place: Place) -> list[str]:
    return ["--measures", "cka,retreival"]


@bad(r"no measure was named\. Leave --measures out for those of a plain audit\.")
def empty_measures(place: Place) -> list[str]:
    return ["--measures", ","]


@bad(r"not a language code: 'e1'\. Use an ISO 639 or BCP 47 code")
def malformed_language(place: Place) -> list[str]:
    return ["--corpus", place.corpus(), "--languages", "e1,es"]


@bad(r"unknown language: 'xx'\. Use an ISO 639 or BCP 47 code")
def unknown_language(place: Place) -> list[str]:
    return ["--corpus", place.corpus(), "--languages", "en,xx"]


@bad(r"corpus\.tsv: has no vi\. It has: en, es\.")
def absent_language(place: Place) -> list[str]:
    return ["--corpus", place.corpus(), "--languages", "en,vi"]


@bad(r"no language is asked for\. Give at least two, or none to read all\.")
def empty_languages(place: Place) -> list[str]:
    return ["--corpus", place.corpus(), "--languages", ""]


@bad(r"--rows must be at least 1: 0\. Give another number\.")
def no_rows(place: Place) -> list[str]:
    return ["--corpus", place.corpus(), "--rows", "0"]


@bad(r"unknown value of --pairs: 'some'\. Known: all, pivot\.")
def unknown_pairs(place: Place) -> list[str]:
    return ["--pairs", "some"]


@bad(r"--seed must be at least 0 and below 2\*\*63: -1\. Give another number\.")
def negative_seed(place: Place) -> list[str]:
    return ["--seed", "-1"]


@bad(r"this measure needs one space, and two models have two: 'retrieval'\. With a second model use: procrustes, ")
def measure_of_one_space_against_another_model(place: Place) -> list[str]:
    return ["--against", str(place.sound), "--measures", "cka,retrieval"]


@bad(r"no such file: '.*names\.tsv'\.")
def missing_names(place: Place) -> list[str]:
    return ["--spellings", str(place.folder / "names.tsv"), "--corpus", place.corpus()]


@bad(r"no such file to load: '.*mine\.py'\. Give the path of a Python file\.")
def missing_file_to_load(place: Place) -> list[str]:
    return ["--plugin", str(place.folder / "mine.py")]


@bad(r"mine\.py: cannot be loaded \(SyntaxError: .*\)\. Correct the file; it must import cleanly\.")
def file_to_load_with_a_syntax_error(place: Place) -> list[str]:
    return ["--plugin", place.file("mine.py", "def measure(:\n")]


TAKEN = '''
from interlingua.measures import measures

@measures.register("cka", needs="sentences")
def mine(source, target):
    """Mine."""
    return {}
'''


@bad(r"mine\.py: two measures are called: 'cka'\. Rename one of them\.")
def file_to_load_with_a_taken_name(place: Place) -> list[str]:
    return ["--plugin", place.file("mine.py", TAKEN)]


@bad(r"not a Python file: '.*mine\.txt'\. Give a file that ends in \.py\.")
def file_to_load_that_is_no_python(place: Place) -> list[str]:
    return ["--plugin", place.file("mine.txt", "words\n")]


# The model.


@bad(r"no such model folder: '.*/nowhere'\. Give an existing folder or a hub name\.")
def missing_model(place: Place) -> list[str]:
    return ["MODEL", str(place.folder / "nowhere")]


@bad(r"no such user: '~nosuchuser/model'\. Write the whole path\.")
def model_of_an_unknown_user(place: Place) -> list[str]:
    return ["MODEL", "~nosuchuser/model"]


@bad(r"a model is a folder, and this is a file: '.*model\.bin'\. Give the folder that holds it; text .*--corpus")
def model_that_is_a_file(place: Place) -> list[str]:
    return ["MODEL", place.file("model.bin", b"x")]


@bad(r"no such folder, and the hub did not give it \(.+\): 'nobody/nothing'\. Check the spelling and the network")
def hub_name_offline(place: Place) -> list[str]:
    return ["MODEL", "nobody/nothing"]


@bad(r"model: the model folder has no config\.json\. Give a Hugging Face model folder\.")
def model_without_config(place: Place) -> list[str]:
    (place.model / "config.json").unlink()
    return ["MODEL", str(place.model)]


@bad(r"config\.json: not valid JSON \(.+\)\. Fetch the model again\.")
def config_that_is_no_json(place: Place) -> list[str]:
    (place.model / "config.json").write_text('{"hidden_size": ')
    return ["MODEL", str(place.model)]


@bad(r"config\.json: config\.json holds no object\. Fetch the model again\.")
def config_that_is_a_list(place: Place) -> list[str]:
    (place.model / "config.json").write_text("[]")
    return ["MODEL", str(place.model)]


@bad(r"model: the model cannot be loaded \(.+\)\. Check that config\.json and the weights belong together")
def config_of_an_unknown_architecture(place: Place) -> list[str]:
    return ["MODEL", str(configured(place, model_type="nonsense", architectures=["NonsenseModel"]))]


@bad(r"model: the folder has no safetensors weights\. It must hold model\.safetensors; .*--allow-pickle\.")
def model_without_weights(place: Place) -> list[str]:
    (place.model / "model.safetensors").unlink()
    return ["MODEL", str(place.model)]


@bad(r"model: the folder has only pickled weights \(pytorch_model\.bin\), which can run code when read\. Convert")
def pickled_weights(place: Place) -> list[str]:
    torch.save(load_file(place.model / "model.safetensors"), place.model / "pytorch_model.bin")
    (place.model / "model.safetensors").unlink()
    return ["MODEL", str(place.model)]


@bad(r"the model has no vector for the token '.+', number \d+: it knows [\d,]+: '.+'\. Use the tokenizer that belong")
def tokenizer_that_knows_more_than_the_model(place: Place) -> list[str]:
    tokenizer = AutoTokenizer.from_pretrained(place.model)
    tokenizer.add_tokens(sorted({word for pair in sentences() for text in pair for word in text.split()}))
    assert len(tokenizer) > AutoConfig.from_pretrained(place.model).vocab_size
    tokenizer.save_pretrained(place.model)
    return ["MODEL", str(place.model)]


def indexed(place: Place, name: str) -> list[str]:
    """The model's weights under another name, which an index of safetensors tells."""
    weights = load_file(place.model / "model.safetensors")
    (place.model / "model.safetensors").unlink()
    torch.save(weights, place.model / "weights.bin")
    index = {"metadata": {}, "weight_map": dict.fromkeys(weights, name)}
    (place.model / "model.safetensors.index.json").write_text(json.dumps(index), "utf-8")
    return ["MODEL", str(place.model)]


@bad(
    r"index\.json: the index names weights that are not safetensors, which can run code when read: 'weights\.bin'\. Con"
)
def pickled_weights_under_a_safe_name(place: Place) -> list[str]:
    return indexed(place, "weights.bin")


@bad(r"index\.json: the index names weights outside of the model's folder: '\.\./other\.safetensors'\. Put them there")
def weights_outside_of_the_folder(place: Place) -> list[str]:
    return indexed(place, "../other.safetensors")


@bad(r"index\.json: weights that the index names are not there: 'gone\.safetensors'\. Fetch the model again")
def weights_that_are_not_there(place: Place) -> list[str]:
    return indexed(place, "gone.safetensors")


@bad(r"model\.safetensors: a Git LFS pointer, not the weights\. Run 'git lfs pull' in that folder\.")
def git_lfs_pointer(place: Place) -> list[str]:
    (place.model / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    return ["MODEL", str(place.model)]


@bad(
    r"model: the model cannot be loaded \(.+\)\. Check that config\.json and the weights belong together and are whole"
)
def truncated_weights(place: Place) -> list[str]:
    file = place.model / "model.safetensors"
    file.write_bytes(file.read_bytes()[:5000])
    return ["MODEL", str(place.model)]


@bad(
    r"model: the weights lack \d+ tensors of the model: '.*layer\.3.*'\. They would be random numbers; use the weights"
)
def weights_of_a_shallower_model(place: Place) -> list[str]:
    return ["MODEL", str(configured(place, num_hidden_layers=4))]


@bad(r"model: the weights have blocks that config\.json makes no room for: 'encoder\.layer\.2'\. Write their true num")
def weights_of_a_deeper_model(place: Place) -> list[str]:
    return ["MODEL", str(configured(place, num_hidden_layers=2))]


@bad(r"model: \d+ tensors of the weights have another shape than config\.json says: '\S+: \(.*64.*\), not \(.*96.*\)'")
def weights_of_a_narrower_model(place: Place) -> list[str]:
    return ["MODEL", str(configured(place, intermediate_size=96))]


@bad(r"model: the model wants to run its own code\. Read that code, and pass --trust-remote-code if you trust it\.")
def remote_code(place: Place) -> list[str]:
    return ["MODEL", str(configured(place, auto_map={"AutoModel": "modeling.Mine"}))]


@bad(r"model: the tokenizer has no vocabulary\. The folder must hold tokenizer\.json")
def model_without_tokenizer(place: Place) -> list[str]:
    for file in place.model.glob("tokenizer*"):
        file.unlink()
    return ["MODEL", str(place.model)]


@bad(r"the tokenizer of .*model can't spell th: \d+% of its tokens are unknown\. Leave the language out")
def language_the_tokenizer_cannot_spell(place: Place) -> list[str]:
    thai = "\n".join(["en\tth", *(f"{english}\tน้ำ {row} ก๊อก" for row, (english, _) in enumerate(sentences()[:ROWS]))])
    return ["MODEL", str(place.model), "--corpus", place.file("thai.tsv", thai)]


@bad(r"vectors of this model are infinite or undefined: '.*model'\. Its weights are broken")
def model_that_gives_no_numbers(place: Place) -> list[str]:
    weights = load_file(place.model / "model.safetensors")
    name = next(name for name in weights if "layer.1.output.dense.weight" in name)
    save_file(
        {**weights, name: torch.full_like(weights[name], 3e38)},
        place.model / "model.safetensors",
        {"format": "pt"},
    )
    return ["MODEL", str(place.model), "--corpus", place.corpus()]


@bad(r"model: the weights hold infinite or undefined values: '.*layer\.1\.output\.dense\.weight'\. They are broken")
def weights_that_are_no_numbers(place: Place) -> list[str]:
    weights = load_file(place.model / "model.safetensors")
    name = next(name for name in weights if "layer.1.output.dense.weight" in name)
    save_file(
        {**weights, name: torch.full_like(weights[name], torch.inf)},
        place.model / "model.safetensors",
        {"format": "pt"},
    )
    return ["MODEL", str(place.model), "--corpus", place.corpus()]


@bad(r"unknown pooling of sentences: 'median'\. Known: mean, sinkless, weighted, first, last, cls\.")
def unknown_pooling(place: Place) -> list[str]:
    return ["--pooling", "median"]


@bad(r"this model puts no special token before a text, so it has no 'cls': '.*qwen'\. Use --pooling mean")
def cls_of_a_decoder_without(place: Place) -> list[str]:
    return ["MODEL", str(models.qwen(place.folder / "qwen")), "--pooling", "cls"]


@bad(r"unknown device: 'tpu9'\. Use cpu, cuda or cuda:N\.")
def unknown_device(place: Place) -> list[str]:
    return ["--device", "tpu9"]


@bad(r"unsupported device: 'meta'\. Use cpu, cuda or cuda:N\.")
def unsupported_device(place: Place) -> list[str]:
    return ["--device", "meta"]


@bad(r"no CUDA device is here: 'cuda'\. Use --device cpu\.")
def cuda_where_there_is_none(place: Place) -> list[str]:
    return ["--device", "cuda"]


@bad(r"unknown value of --precision: 'fp8'\. Known: bf16, fp16, fp32\.")
def unknown_precision(place: Place) -> list[str]:
    return ["--precision", "fp8"]


@bad(r"fp16 is for GPUs: 'fp16'\. Use --precision fp32 on a CPU\.")
def half_precision_on_a_cpu(place: Place) -> list[str]:
    return ["--precision", "fp16", "--device", "cpu"]


@bad(r"this CPU has no bf16 instructions, and bf16 runs six times slower than fp32 on it\. Use --precision fp32")
def bf16_on_a_cpu_without(place: Place) -> list[str]:
    return ["--precision", "bf16", "--device", "cpu"]


def configured(place: Place, **changes: object) -> Path:
    file = place.model / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    return place.model


# Where results go.


@bad(r"--out is a file: '.*out'\. Name a folder\.")
def out_is_a_file(place: Place) -> list[str]:
    place.file("out", "mine")
    return []


@bad(r"out: the folder holds files that are no run of ours\. Name another --out\.")
def out_holds_foreign_files(place: Place) -> list[str]:
    place.out.mkdir()
    (place.out / "thesis.tex").write_text("mine")
    return []


@bad(r"out: the folder holds another run \(its .*seed.* differ.*\)\. Name another --out, or remove that folder\.")
def out_holds_another_run(place: Place) -> list[str]:
    inner = place.out / "inner"
    inner.mkdir(parents=True)
    (inner / "run.json").write_text(json.dumps({"layout": 1, "kind": "audit", "identity": {"seed": "5"}}))
    inner.rename(place.out / INNER)
    return []


@bad(r"out: the folder was made by a development version of interlingua before 0\.1\.0, which alone reads it\. Name an")
def out_holds_a_run_of_before(place: Place) -> list[str]:
    place.out.mkdir()
    (place.out / "run.json").write_text(json.dumps({"kind": "audit", "seed": 5}))
    return []


@bad(r"run\.json: not what a run says of itself\. Name another --out\.")
def out_holds_a_broken_run(place: Place) -> list[str]:
    place.out.mkdir()
    (place.out / "run.json").write_text("{")
    return []


@bad(r"out/run: cannot write results \(Not a directory\)\. Name a folder you can write to with --out DIR\.")
def out_under_a_file(place: Place) -> list[str]:
    place.file("out", "mine")
    return ["--out", str(place.out / "run")]


@bad(r"/proc/interlingua: cannot write results \(.+\)\. Name a folder you can write to with --out DIR\.")
def out_not_writable(place: Place) -> list[str]:
    return ["--out", "/proc/interlingua"]


@bad(r"cache: cannot write representations \(.+\)\. Name a folder you can write to with --cache DIR\.")
def cache_is_a_file(place: Place) -> list[str]:
    place.file("cache", "mine")
    return []


@bad(r"/proc/interlingua: cannot write representations \(.+\)\. Name a folder you can write to with --cache DIR\.")
def cache_not_writable(place: Place) -> list[str]:
    return ["--cache", "/proc/interlingua"]


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line of error; whatever else is on stderr is progress."""
        *told, last = self.err.rstrip("\n").split("\n")
        assert all(re.fullmatch(r"[a-z ]+: \d+/\d+", line) for line in told), self.err
        return last


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[list[str]], Result]:
    def call(arguments: list[str]) -> Result:
        monkeypatch.setattr(sys, "argv", ["interlingua", *arguments])
        with pytest.raises(SystemExit) as end:
            app.main()
        shown = capsys.readouterr()
        return Result(int(end.value.code or 0), shown.out, shown.err)

    return call


Run = Callable[[list[str]], Result]


@pytest.fixture
def place(tmp_path: Path, bert_folder: Path) -> Place:
    return Place(tmp_path, bert_folder)


def command(place: Place, arguments: list[str]) -> list[str]:
    """The whole command: the case's arguments over sound ones, since each case is bad in one way only."""
    model, *rest = [arguments[1], *arguments[2:]] if arguments[:1] == ["MODEL"] else [str(place.sound), *arguments]
    sound = {"--out": str(place.out), "--cache": str(place.cache), "--measures": "retrieval,cka"}
    if "--corpus" not in rest:
        sound["--corpus"] = place.corpus()
    more = [part for option, value in sound.items() if option not in rest for part in (option, value)]
    if "--against" in rest or "--spellings" in rest:
        more = [part for part in more if part not in ("--measures", "retrieval,cka")]
    return ["audit", model, *rest, *more]


def listing(folder: Path) -> dict[str, bytes]:
    return (
        {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        if folder.exists()
        else {}
    )


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_told_on_one_line_and_leaves_nothing_behind(
    name: str, place: Place, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_loading, "_has_bf16_instructions", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    given = command(place, CASES[name].spoil(place))
    before = listing(place.folder)
    result = run(given)
    assert result.code == 2
    assert result.out == ""
    assert re.fullmatch(r"error: .*", result.error)
    assert re.search(CASES[name].error, result.error), result.error
    assert not set(listing(place.folder)) - set(before)
    assert all((place.folder / file).read_bytes() == content for file, content in before.items())
    hidden = {entry.name for entry in place.folder.rglob("*") if entry.name.startswith(".")}
    assert not hidden - {entry.split("/")[1] for entry in before if entry.startswith("out/.")}


def test_there_are_at_least_thirty_kinds() -> None:
    assert len(CASES) >= 30


# A run that was begun.


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, bert_folder: Path) -> Place:
    """A whole run, never to be changed: tests copy it."""
    place = Place(tmp_path_factory.mktemp("finished"), bert_folder)
    from interlingua.commands import audit

    audit.audit(str(bert_folder), place.corpus(), measures=["retrieval", "cka"], out=place.out, cache=place.cache)
    return place


@pytest.fixture
def again(finished: Place, place: Place) -> tuple[Place, list[str]]:
    """A copy of the finished run, and the command that would continue it."""
    shutil.copytree(finished.out, place.out)
    shutil.copytree(finished.cache, place.cache)
    return place, ["audit", *_sound(finished, place)]


def _sound(finished: Place, place: Place) -> list[str]:
    where = {"--corpus": str(finished.folder / "corpus.tsv"), "--out": str(place.out), "--cache": str(place.cache)}
    options = [part for option, value in where.items() for part in (option, value)]
    return [str(finished.sound), "--measures", "retrieval,cka", *options]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda line: line[:40] + b"\n",
        lambda line: b"{}\n",
        lambda line: b"[1, 2]\n",
        lambda line: b"\xff\xfe\n",
        lambda line: line.replace(b'"measure"', b'"measured"', 1),
        lambda line: line.replace(b'"schema":2', b'"schema":9', 1),
    ],
)
def test_a_corrupted_record_is_gathered_anew_from_its_step(
    spoil: Callable[[bytes], bytes], again: tuple[Place, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, given = again
    file = sorted((place.out / "records").iterdir())[0]
    whole = file.read_bytes()
    lines = gzip.decompress(whole).splitlines(keepends=True)
    file.unlink()  # It is a second name of the step's own.
    file.write_bytes(gzip.compress(b"".join([*lines[:2], spoil(lines[2]), *lines[3:]])))
    rerun(given, monkeypatch)
    assert file.read_bytes() == whole


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.999])
def test_records_cut_in_the_middle_of_a_line_are_made_again_to_the_byte(
    kept: float, again: tuple[Place, list[str]], finished: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, given = again
    file = sorted((place.out / "records").iterdir())[0]
    whole = file.read_bytes()
    file.unlink()
    file.write_bytes(whole[: int(kept * len(whole))])
    rerun(given, monkeypatch)
    assert record_lines(place.out) == record_lines(finished.out)


def test_records_of_a_step_that_were_cut_are_made_again_to_the_byte(
    again: tuple[Place, list[str]], finished: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, given = again
    for file in (place.out / INNER / "steps").glob("*/records.jsonl.gz"):
        file.write_bytes(file.read_bytes()[:30])
    rerun(given, monkeypatch)
    assert record_lines(place.out) == record_lines(finished.out)


def test_a_run_killed_before_its_settings_were_written_can_begin_again(
    finished: Place, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.out / INNER / "steps").mkdir(parents=True)
    rerun(["audit", *_sound(finished, place)], monkeypatch)
    assert record_lines(place.out) == record_lines(finished.out)


def rerun(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["interlingua", *arguments])
    with pytest.raises(SystemExit) as end:
        app.main()
    assert not end.value.code


# A disk that takes no more: the kernel refuses to let any file grow past a limit, as a quota does.


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_no_half_of_the_representations(finished: Place, place: Place, run: Run) -> None:
    given = ["audit", *_sound(finished, place)]
    with files_up_to(2048):
        result = run(given)
    assert (result.code, result.out) == (1, ""), result.err
    assert re.search(r"cache: no space left for representations\. Free some, or name another place", result.error)
    assert list(place.cache.iterdir()) == []


def test_a_full_disk_leaves_no_half_of_the_records_and_a_rerun_continues(
    finished: Place, place: Place, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["audit", *_sound(finished, place)]
    size = max(file.stat().st_size for file in (finished.out / "records").iterdir())
    with files_up_to(size - 100):
        result = run([*given[:-1], "none"])
    assert (result.code, result.out) == (1, ""), result.err
    assert re.search(r"out: no space left for results\. Free some.*; a rerun\s+continues", result.error)
    assert not (place.out / "records").exists()
    rerun(given, monkeypatch)
    assert record_lines(place.out) == record_lines(finished.out)


# The same from a shell: no in-process patching between the user and the exit code.


def test_a_shell_sees_the_code_and_the_line(place: Place) -> None:
    given = command(place, ["--measures", "retreival"])
    done = subprocess.run(
        [sys.executable, "-m", "interlingua", *given], capture_output=True, text=True, check=False, env=shell()
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: unknown measure: 'retreival'\. Did you mean 'retrieval'\? Known: .*\n", done.stderr)
    assert not place.out.exists()
    assert not place.cache.exists()


def test_an_option_that_does_not_exist_is_refused(run: Run) -> None:
    result = run(["audit", "--mesures", "cka"])
    assert (result.code, result.out) == (2, "")
    assert "--mesures" in result.err
    assert "--measures" in result.err


def shell() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(app.__file__).parents[2])}
