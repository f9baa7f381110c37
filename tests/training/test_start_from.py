"""Runs that begin with the weights and the tokenizer of another run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from interlingua.commands.pretrain import pretrain
from interlingua.errors import InputError
from tiny import TINY, as_toml

STILL = {"steps": 1, "learning_rate": 1e-30, "weight_decay": 0.0, "warmup": 0, "seed": 1, "save": "fp32"}


@pytest.fixture(scope="module")
def first(texts: Path) -> Path:
    """A finished run of two steps, its weights in full."""
    training = {**TINY["training"], "steps": 2, "save": "fp32"}
    (texts / "first.toml").write_text(as_toml({**TINY, "training": training}), "utf-8")
    pretrain(texts / "first.toml", out=texts / "first", device="cpu")
    return texts / "first"


def second(home: Path, name: str, **changes: dict[str, object]) -> Path:
    """A config that starts from `first`, changed section by section."""
    sections = {key: values for key, values in TINY.items() if key != "tokenizer"}
    sections["training"] = {**sections["training"], **STILL, "start_from": "first"}
    whole = {key: {**sections.get(key, {}), **changes.get(key, {})} for key in {**sections, **changes}}
    (home / name).write_text(as_toml(whole), "utf-8")
    return home / name


def test_a_run_begins_with_the_weights_and_the_tokenizer_of_the_run_it_starts_from(first, texts):
    # Less text, from which another tokenizer would be trained; steps that move no weight.
    config = second(texts, "still.toml", data={"lines": 60})
    made = pretrain(config, out=texts / "still", device="cpu")
    before, after = load_file(first / "model.safetensors"), load_file(made.folder / "model.safetensors")
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    ours, theirs = (Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab() for folder in (made.folder, first))
    assert ours == theirs
    trained = pretrain(second(texts, "on.toml", training={"learning_rate": 1e-3}), out=texts / "on", device="cpu")
    moved = load_file(trained.folder / "model.safetensors")
    assert not all(torch.equal(before[name], moved[name]) for name in before)


def test_weights_of_fewer_bits_are_read_as_numbers(first, texts):
    training = {**TINY["training"], "steps": 1, "save": "fp8"}
    (texts / "small.toml").write_text(as_toml({**TINY, "training": training}), "utf-8")
    small = pretrain(texts / "small.toml", out=texts / "small", device="cpu").folder
    made = pretrain(second(texts, "wide.toml", training={"start_from": "small"}), out=texts / "wide", device="cpu")
    narrow, wide = (load_file(folder / "model.safetensors") for folder in (small, made.folder))
    assert {tensor.dtype for tensor in wide.values()} == {torch.float32}
    # What 8 bits store as zero is moved by as much as the rate, and no more.
    assert all(torch.allclose(narrow[name].float(), wide[name], rtol=0, atol=1e-20) for name in wide)


def test_another_start_is_another_run(first, texts):
    out = texts / "again"
    pretrain(second(texts, "again.toml"), out=out, device="cpu")
    pretrain(second(texts, "again.toml"), out=out, device="cpu")  # The same: nothing is done.
    shutil.copytree(first, texts / "moved")
    pretrain(
        second(texts, "again.toml", training={"start_from": "moved"}), out=out, device="cpu"
    )  # Where it is is not.
    about = json.loads((texts / "moved" / "training.json").read_text("utf-8"))
    (texts / "moved" / "training.json").write_text(json.dumps({**about, "steps": 3}), "utf-8")
    with pytest.raises(InputError, match="the folder holds another run"):
        pretrain(second(texts, "again.toml", training={"start_from": "moved"}), out=out, device="cpu")


CASES = {
    "nowhere": ({"training": {"start_from": "none"}}, "start_from", r"that folder has no training\.json: .*none"),
    "the same seed": ({"training": {"seed": 0}}, "seed", r"has the same seed, .*: 0\. Give \[training\] another seed"),
    "a wider model": (
        {"model": {"intermediate_size": 128}},
        "start_from",
        r"its model is another: .* has shape \(64, 32\) and should have \(128, 32\): '.*first'\. Repeat the \[model\]",
    ),
    "a deeper model": (
        {"model": {"num_hidden_layers": 3}},
        "start_from",
        r"its model is another: .*layer\.2.* is missing",
    ),
    "a tokenizer": (
        {"tokenizer": {"vocabulary": 600}},
        "[tokenizer]",
        r"has its tokenizer: 'first'\. Remove \[tokenizer\]",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_start_that_does_not_fit_is_refused_on_its_line(case, first, texts, tmp_path):
    changes, key, expected = CASES[case]
    config = second(texts, f"{case}.toml", **changes)
    with pytest.raises(InputError, match=expected) as error:
        pretrain(config, out=tmp_path / "out", device="cpu")
    line = int(str(error.value).removeprefix(f"{config}:").split(":")[0])
    assert config.read_text("utf-8").splitlines()[line - 1].startswith(key)
