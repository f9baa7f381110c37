"""Model folders that anyone may have written: each is loaded, or refused, within bounds of time and memory."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModel, BertConfig

import models
from hostile.bounded import Outcome, run_bounded
from hostile.mutations import damaged_bytes, damaged_documents, json_bytes
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.training.checkpoints import load_whole

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
        found = json.loads((folder / file).read_text("utf-8")) if (folder / file).exists() else {}
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


def sparse(file: str, size: int) -> Callable[[Path], None]:
    """A file that was never written: no room on the disk, all memory when it is read."""

    def write(folder: Path) -> None:
        (folder / file).unlink(missing_ok=True)
        with (folder / file).open("wb") as opened:
            opened.truncate(size)

    return write


def tokenizer(**parts: Any) -> Callable[[Path], None]:
    return change("tokenizer.json", **parts)


def header(edit: Callable[[dict[str, Any], str], object], *, body: int = 0) -> Callable[[Path], None]:
    """Another header of the weights; `body` says how large the file pretends to be."""

    def write(folder: Path) -> None:
        data = (folder / "model.safetensors").read_bytes()
        length = struct.unpack("<Q", data[:8])[0]
        found = json.loads(data[8 : 8 + length])
        edit(found, next(name for name in found if name.endswith("query.weight")))
        changed = json_bytes(found)
        with (folder / "model.safetensors").open("wb") as file:
            file.write(struct.pack("<Q", len(changed)) + changed + data[8 + length :])
            file.truncate(file.tell() + body)

    return write


def holes(folder: Path) -> None:
    """A whole model of 4 GB, in a header of 2 kB."""
    stated = {**json.loads((folder / "config.json").read_text("utf-8")), "hidden_size": 30_000}
    (folder / "config.json").write_bytes(json_bytes(stated))
    with torch.device("meta"):
        whole = AutoModel.from_config(BertConfig(**stated))
    shapes: dict[str, Any] = {}
    end = 0
    for name, weight in whole.state_dict().items():
        begin, end = end, end + 4 * weight.numel()
        shapes[f"bert.{name}"] = {"dtype": "F32", "shape": list(weight.shape), "data_offsets": [begin, end]}
    changed = json_bytes(shapes)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(changed)) + changed)
        file.truncate(file.tell() + end)


def empty_tensors(found: dict[str, Any], _: str) -> None:
    found.update({f"x{number}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for number in range(50_000)})


def adapter(folder: Path) -> None:
    about = {"peft_type": "LORA", "r": 2_000_000, "target_modules": ["query"], "base_model_name_or_path": "/etc"}
    (folder / "adapter_config.json").write_bytes(json_bytes(about))


def replacing(letter: str, times: int) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": letter}, "content": letter * times}


def nested_steps(count: int) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "NFC"}
    for _ in range(count):
        made = {"type": "Sequence", "normalizers": [made]}
    return made


READ = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
        "generation_config.json", "vocab.txt", "merges.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model",
        "modules.json", "model.safetensors.index.json", "processor_config.json", "preprocessor_config.json",
        "chat_template.jinja", "tekken.json", "tokenizer.model", "extra.txt")  # fmt: skip
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
AROUND = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
SINGLE = [*[AROUND] * 100_000, {"Sequence": {"id": "A", "type_id": 0}}]
CLS = {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}}
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
    **{f"20 GB of nothing: {name}": sparse(name, 20 << 30) for name in READ},
    **{f"6,000,000 objects: {name}": text(name, '{"a":[' + "{}," * 6_000_000 + "{}]}")
       for name in READ if name.endswith(".json")},
    "weights that were never written": holes,
    "100 GB after the weights": sparse("model-2.safetensors", 100 << 30),
    "a tensor larger than its bytes": header(lambda found, name: found[name].update(shape=[2**62, 4])),
    "two tensors in one place": header(
        lambda found, name: found[name].update(data_offsets=found[list(found)[3]]["data_offsets"])
    ),
    "a negative length": header(lambda found, name: found[name].update(shape=[-1, 16])),
    "another type": header(lambda found, name: found[name].update(dtype="F64")),
    "an unknown type": header(lambda found, name: found[name].update(dtype="X")),
    "offsets that run backwards": header(lambda found, name: found[name].update(data_offsets=[10, 5])),
    "bytes of no tensor": header(lambda found, name: None, body=100),
    "empty tensors": header(empty_tensors),
    "a header of 2⁶³ bytes": lambda folder: void((folder / "model.safetensors").write_bytes(b"\xff" * 8 + b"{}")),
    "num_labels": change("config.json", num_labels=10**7),
    "weights by another name": change("config.json", transformers_weights="evil.bin"),
    "weights elsewhere": change("config.json", transformers_weights="../model.safetensors"),
    "an adapter": adapter,
    "an encoder-decoder that is none": change("config.json", is_encoder_decoder=True),
    "chunks": change("config.json", chunk_size_feed_forward=3),
    "dropout": change("config.json", hidden_dropout_prob=float("nan")),
    "20,001 special tokens": change(
        "special_tokens_map.json", additional_special_tokens=[f"a{number}" for number in range(20_001)]
    ),
    "100,001 added tokens": change("added_tokens.json", **{f"a{number}": number for number in range(100_001)}),
    "a normalizer that grows": tokenizer(normalizer={"type": "Sequence", "normalizers": [replacing("a", 1000)] * 4}),
    "a normalizer that grows by expressions": tokenizer(normalizer={"type": "Sequence", "normalizers": [
        {"type": "Replace", "pattern": {"Regex": "."}, "content": "aa"}] * 40}),
    "bytes of bytes": tokenizer(pre_tokenizer={"type": "Sequence", "pretokenizers": [BYTE_LEVEL] * 40}),
    "steps in steps": tokenizer(normalizer=nested_steps(400)),
    "300 steps": tokenizer(normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}] * 300}),
    "a map of characters": tokenizer(normalizer={"type": "Precompiled", "precompiled_charsmap": "////////////"}),
    "100,000 tokens around a text": tokenizer(
        post_processor={"type": "TemplateProcessing", "single": SINGLE, "pair": [], "special_tokens": CLS}
    ),
}  # fmt: skip


@pytest.mark.reliability("sizes that a model folder states")
def test_sizes_that_the_folder_does_not_hold_are_refused(whole, tmp_path, record_property):
    def refused(name: str) -> None:
        shutil.rmtree(tmp_path / "refused", ignore_errors=True)
        place = Path(shutil.copytree(whole, tmp_path / "refused"))
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


ARCHITECTURES = ("bert", "distilbert", "electra", "xlm_roberta", "deberta", "modernbert", "t5", "marian", "qwen",
                 "llama", "gemma")  # fmt: skip
VALUES = (10**5, 10**6, 10**7, -5, -1, 0, 0.5, "abc", None, [], {}, [10**7], 1e308, True, float("nan"), {"a": 1}, 17)


def settings_of(folders: dict[str, Path], count: int | None) -> Iterator[tuple[str, tuple[str, dict[str, Any]]]]:
    """(architecture, config) for every setting that an architecture knows × every value; `count` an architecture."""
    for name, folder in folders.items():
        stated = json.loads((folder / "config.json").read_text("utf-8"))
        known = sorted({*AutoConfig.from_pretrained(folder).to_dict(), *stated} - {"model_type"})
        every = [(key, value) for key in known for value in VALUES]
        for key, value in every if count is None else random.Random(name).sample(every, count):
            yield f"{name} {key} = {value!r}", (name, {**stated, key: value})


def check_settings(
    scratch: Path, record: Callable[[str, object], None], names: tuple[str, ...], count: int | None
) -> None:
    folders = {name: getattr(models, name)(scratch / name) for name in names}
    for folder in folders.values():
        read(folder)

    def call(given: tuple[str, dict[str, Any]]) -> None:
        name, config = given
        place = scratch / f"{name}-changed"
        if not place.is_dir():
            shutil.copytree(folders[name], place)
        (place / "config.json").write_bytes(json_bytes(config))
        read(place)

    report(run_bounded(call, settings_of(folders, count)), record)


@pytest.mark.reliability("settings of a model that do not fit")
def test_settings_that_do_not_fit_are_refused_or_do_no_harm(tmp_path, record_property):
    check_settings(tmp_path, record_property, ("deberta", "gemma", "t5"), 25)


@pytest.mark.heavy
@pytest.mark.reliability("settings of a model that do not fit")
def test_every_setting_of_every_architecture_is_refused_or_does_no_harm(tmp_path, record_property):
    check_settings(tmp_path, record_property, ARCHITECTURES, None)
