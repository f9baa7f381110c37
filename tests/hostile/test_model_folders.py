"""Model folders that anyone may have written: each is loaded, or refused, within bounds of time and memory."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import models
from hostile.bounded import Outcome, run_bounded
from hostile.mutations import damaged_bytes, damaged_documents, json_bytes
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.training.folders import load_whole

TEXTS = ["The kitchen tap is leaking.", "Кухонный кран снова течёт."]
BIG = 10**400


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = models.bert(tmp_path_factory.mktemp("whole") / "model", hidden_size=16, num_hidden_layers=1)
    Encoder.load(str(folder)).encode(TEXTS)  # What is imported here is not imported in every worker.
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "model"))


def read(folder: Path) -> object:
    return Encoder.load(str(folder), device="cpu").encode(TEXTS)


def change(file: str, **values: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        found = json.loads((folder / file).read_text("utf-8"))
        (folder / file).write_bytes(json_bytes({**found, **values}))

    return write


def piece(number: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        found = json.loads((folder / "tokenizer.json").read_text("utf-8"))
        found["model"]["vocab"]["maximum"] = number  # A name that a setting could have.
        (folder / "tokenizer.json").write_bytes(json_bytes(found))

    return write


def added(number: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        found = json.loads((folder / "tokenizer.json").read_text("utf-8"))
        found["added_tokens"][0]["id"] = number
        (folder / "tokenizer.json").write_bytes(json_bytes(found))

    return write


def text(file: str, content: str) -> Callable[[Path], None]:
    return lambda folder: void((folder / file).write_text(content, "utf-8"))


def void(_: object) -> None:
    return None


DECODED = {"4000000000": {"content": "x", "special": False}}
REFUSED: dict[str, Callable[[Path], None]] = {
    **{f"hidden_size {size}": change("config.json", hidden_size=size) for size in (30_000, 10**6, 10**12, BIG)},
    **{f"layers {size}": change("config.json", num_hidden_layers=size) for size in (900, 100_000, 10**9, BIG)},
    **{f"vocab_size {size}": change("config.json", vocab_size=size) for size in (10**8, 2**40, BIG)},
    **{f"positions {size}": change("config.json", max_position_embeddings=size) for size in (10**7, 10**10, BIG)},
    **{f"intermediate_size {size}": change("config.json", intermediate_size=size) for size in (10**8, 10**15)},
    "type_vocab_size": change("config.json", type_vocab_size=10**9),
    "another architecture": change("config.json", model_type="gpt2", n_positions=10**6, n_layer=10**6),
    "causal masks": change("config.json", model_type="gptj", n_positions=10**6, n_embd=16, n_head=2, rotary_dim=4),
    "nested config": text("config.json", '{"a":' * 100_000 + "1" + "}" * 100_000),
    "nested lists": text("config.json", "[" * 100_000),
    "5,001 digits": text("config.json", '{"hidden_size": ' + "9" * 5_001 + "}"),
    **{f"piece {number}": piece(number) for number in (4_000_000_000, 2**32 - 1, 2**31, 10**7, -1, 0.5, BIG)},
    **{f"added token {number}": added(number) for number in (4_000_000_000, 2**32 - 1, 10**8, -1, BIG)},
    "decoded token": change("tokenizer_config.json", added_tokens_decoder=DECODED),
    **{f"model_max_length {value!r}": change("tokenizer_config.json", model_max_length=value)
       for value in ("abc", 0, -5, True, [], {}, float("nan"), "512")},
    "nested tokenizer": text("tokenizer.json", '{"model":' * 100_000),
    "nested tokenizer config": text("tokenizer_config.json", '{"model":' * 100_000),
}  # fmt: skip


@pytest.mark.reliability("sizes that a model folder states")
def test_sizes_that_the_folder_does_not_hold_are_refused(whole, tmp_path, record_property):
    def refused(name: str) -> None:
        place = Path(shutil.copytree(whole, tmp_path / "refused", dirs_exist_ok=True))
        REFUSED[name](place)
        read(place)

    outcomes = run_bounded(refused, [(name, name) for name in REFUSED], check=lambda name, _: f"{name} was accepted")
    report(outcomes, record_property)


def report(outcomes: list[Outcome], record_property: Callable[[str, object], None]) -> None:
    record_property("tried", len(outcomes))
    record_property("held", sum(outcome.held for outcome in outcomes))
    broken = [f"{outcome.label}: {outcome.why}" for outcome in outcomes if not outcome.held]
    assert not broken, f"{len(broken)} of {len(outcomes)}:\n" + "\n".join(broken[:40])


@pytest.mark.reliability("sizes that a model folder states")
def test_training_from_a_folder_is_bounded_too(folder):
    change("config.json", hidden_size=30_000)(folder)
    with pytest.raises(InputError, match="larger"):
        load_whole(str(folder))


@pytest.mark.reliability("pipes and devices in a model folder")
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "extra.json", "notes.txt", "model.safetensors",
                                  "modules.json", "tokenizer_config.json", "b.bin", "chat_template.jinja"])  # fmt: skip
@pytest.mark.parametrize("kind", ["fifo", "zero", "socket"])
def test_no_pipe_or_device_is_opened(folder, name, kind, monkeypatch):
    place = folder / name
    place.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "zero":
        place.symlink_to("/dev/zero")
    else:
        monkeypatch.chdir(folder)  # The path of a socket is short.
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(name)
    (outcome,) = run_bounded(read, [(name, folder)], check=lambda *_: "accepted", seconds=5)
    assert outcome.held, outcome.why


@pytest.mark.reliability("whole numbers as weights")
@pytest.mark.parametrize("kind", [torch.int8, torch.uint8, torch.bool, torch.int32, torch.int16, torch.int64])
@pytest.mark.parametrize("quantized", [None, {}, {"quant_method": "nonsense"}, {"quant_method": "awq"}])
def test_whole_numbers_without_scales_are_refused(folder, kind, quantized):
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in weights if name.endswith("query.weight"))
    weights[name] = (weights[name] * 100).to(kind)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    if quantized is not None:
        change("config.json", quantization_config=quantized)(folder)
    with pytest.raises(InputError):
        read(folder)


def test_stored_positions_and_small_floats_are_read(folder):
    weights = load_file(folder / "model.safetensors")
    weights["bert.embeddings.position_ids"] = torch.arange(128)[None]
    name = next(name for name in weights if name.endswith("query.weight"))
    weights[name] = weights[name].to(torch.float8_e4m3fn)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    read(folder)


def inputs(whole: Path, seed: int, *, count: int | None) -> Iterator[tuple[str, tuple[str, bytes]]]:
    """(file, content) for every node of every JSON file × every nasty value, and for damaged bytes; `count` a file."""
    draw = random.Random(seed)
    for file in sorted(whole.iterdir()):
        data = file.read_bytes()
        if file.suffix == ".json":
            document = json.loads(data)
            if file.name == "tokenizer.json":  # A vocabulary of 400 pieces has as many nodes alike.
                kept = dict(list(document["model"]["vocab"].items())[:8])
                document["model"]["vocab"] = kept
            nodes = list(damaged_documents(document))
            for label, changed in nodes if count is None else draw.sample(nodes, min(count, len(nodes))):
                yield f"{file.name} {label}", (file.name, json_bytes(changed))
        damaged = 2000 if count is None else count // 4
        for number, changed in enumerate(damaged_bytes(data, damaged, seed)):
            yield f"{file.name} damaged {number}", (file.name, changed)
        for number in range(20):
            yield f"{file.name} cut {number}", (file.name, data[: draw.randrange(len(data))])


def fuzz(whole: Path, scratch: Path, count: int | None) -> list[Outcome]:
    place = Path(shutil.copytree(whole, scratch / "model"))

    def call(given: tuple[str, bytes]) -> object:
        name, content = given
        (place / name).write_bytes(content)
        try:
            return read(place)
        finally:
            shutil.copyfile(whole / name, place / name)

    def check(given: tuple[str, bytes], _: object) -> str:
        name, content = given
        original = (whole / name).read_bytes().rstrip()  # Without its last newline a file is still whole.
        cut = len(content) < len(original) and original.startswith(content)
        return "a truncated file was accepted" if cut else ""

    return run_bounded(call, inputs(whole, 0, count=count), check=check)


@pytest.mark.reliability("damaged model folders")
def test_damaged_folders_are_read_or_refused(whole, tmp_path, record_property):
    report(fuzz(whole, tmp_path, 160), record_property)


@pytest.mark.heavy
@pytest.mark.reliability("damaged model folders")
def test_every_damaged_node_is_read_or_refused(whole, tmp_path, record_property):
    report(fuzz(whole, tmp_path, None), record_property)
