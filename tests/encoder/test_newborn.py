from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from tokenizers import Tokenizer

import models
from interlingua.encoder import Encoder
from interlingua.encoder.model_init import init_masked_lm, save_folder

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
SIZES = {"bert": SMALL, "electra": {**SMALL, "embedding_size": 16}, "modernbert": SMALL, "xlm-roberta": SMALL}


@cache
def pieces() -> Tokenizer:
    """One for all: trained anew, a tokenizer may number its pieces in another order."""
    return models.wordpiece()


def e5m2(values: np.ndarray) -> np.ndarray:
    """The nearest number of E5M2, ties to the even one, by the list of all of them (Micikevicius et al. 2022, table 1).

    Exponent 0 has no leading one; the largest exponent is for infinity and no number, so 57,344 is the largest.
    """
    numbers = np.array(
        [
            (mantissa / 4) * 2.0**-14 if exponent == 0 else (1 + mantissa / 4) * 2.0 ** (exponent - 15)
            for exponent in range(31)
            for mantissa in range(4)
        ]
    )
    size = np.minimum(np.abs(values.astype(np.float64)), numbers[-1])
    above = np.searchsorted(numbers, size)
    below = np.maximum(above - 1, 0)
    up, down = numbers[above] - size, size - numbers[below]
    chosen = np.where((up < down) | ((up == down) & (above % 2 == 0)), above, below)
    return np.sign(values) * numbers[chosen]


@pytest.fixture(params=SIZES)
def saved(request, tmp_path):
    """A model whose weights are drawn so as to meet every exponent, and the folder it was saved to in 8 bits."""
    model = init_masked_lm(request.param, SIZES[request.param], pieces(), length=24, seed=0).eval()
    draw = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            scale = torch.exp2(torch.randint(-18, 1, weight.shape, generator=draw).float())
            weight.copy_(torch.randn(weight.shape, generator=draw) * scale)
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    save_folder(model, pieces(), tmp_path / "model", length=24, dtype="fp8")
    for name, weight in model.named_parameters():
        assert torch.equal(weight, before[name]), name  # The model itself is left as it was.
    return model, tmp_path / "model"


def rounded(weight: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(e5m2(weight.detach().numpy())).float() if weight.ndim > 1 else weight.detach()


def test_a_folder_in_8_bits_holds_matrices_rounded_to_e5m2_and_vectors_as_they_were(saved):
    model, folder = saved
    stored = load_file(folder / "model.safetensors")
    weights = dict(model.named_parameters(remove_duplicate=False))  # A tied weight by all its names.
    assert sorted(id(weights[name]) for name in stored) == sorted({id(weight) for weight in weights.values()})
    for name, tensor in stored.items():
        assert tensor.dtype == (torch.float8_e5m2 if tensor.ndim > 1 else torch.float32), name
        assert torch.equal(tensor.float(), rounded(weights[name])), name
        assert torch.equal(tensor.float(), weights[name]) == (tensor.ndim < 2), name  # Else rounding was not tested.


def test_a_folder_with_words_in_8_bits_holds_the_other_matrices_in_16(tmp_path):
    model = init_masked_lm("electra", SIZES["electra"], pieces(), length=24, seed=0)
    save_folder(model, pieces(), tmp_path, length=24, dtype="fp8-words")
    stored = load_file(tmp_path / "model.safetensors")
    kinds = {name: tensor.dtype for name, tensor in stored.items() if tensor.ndim > 1}
    assert [name for name, kind in kinds.items() if kind == torch.float8_e5m2] == [
        "electra.embeddings.word_embeddings.weight"
    ]
    assert set(kinds.values()) == {torch.float8_e5m2, torch.bfloat16}
    assert {tensor.dtype for tensor in stored.values() if tensor.ndim < 2} == {torch.float32}
    assert json.loads((tmp_path / "config.json").read_text("utf-8"))["dtype"] == "float32"


def test_plain_transformers_reads_it_as_float32(saved):
    from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

    model, folder = saved
    assert json.loads((folder / "config.json").read_text("utf-8"))["dtype"] == "float32"
    # The class that versions 4 and 5 both have.
    assert (
        json.loads((folder / "tokenizer_config.json").read_text("utf-8"))["tokenizer_class"]
        == "PreTrainedTokenizerFast"
    )
    assert AutoTokenizer.from_pretrained(folder)("a")["input_ids"] == pieces().encode("a").ids
    again, report = AutoModelForMaskedLM.from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    weights = dict(model.named_parameters())
    for name, weight in again.named_parameters():
        assert weight.dtype == torch.float32, name
        assert torch.equal(weight, rounded(weights[name])), name
    body = AutoModel.from_pretrained(folder).eval()
    ids = torch.arange(5, 17)[None]
    torch.testing.assert_close(body(ids).last_hidden_state, again.eval().base_model(ids).last_hidden_state)


def test_our_encoder_reads_it_as_it_reads_the_rounded_weights_in_float32(saved, tmp_path):
    model, folder = saved
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(rounded(weight))
    save_folder(model, pieces(), tmp_path / "whole", length=24, dtype="fp32")
    lines = models.LINES[:3]
    ours, theirs = (
        Encoder.load(str(place), device="cpu", precision="fp32").encode(lines) for place in (folder, tmp_path / "whole")
    )
    for layer in range(3):
        assert np.array_equal(ours[layer], theirs[layer])
        assert np.isfinite(ours[layer]).all()


def test_a_tied_weight_is_stored_once_and_a_matrix_takes_a_byte_a_weight(saved):
    model, folder = saved
    matrices = sum(weight.numel() for weight in model.parameters() if weight.ndim > 1)
    vectors = sum(weight.numel() for weight in model.parameters() if weight.ndim < 2)
    with safe_open(folder / "model.safetensors", "pt") as file:
        assert sum(np.prod(file.get_slice(name).get_shape()) for name in file.keys()) == matrices + vectors  # noqa: SIM118
    size = (folder / "model.safetensors").stat().st_size
    header = int.from_bytes((folder / "model.safetensors").read_bytes()[:8], "little")
    assert size == 8 + header + matrices + 4 * vectors


def test_weights_out_of_range_become_the_largest_number_and_small_ones_nothing(tmp_path):
    model = init_masked_lm("bert", SMALL, pieces(), length=24, seed=0)
    values = torch.tensor([1e6, -1e6, 57345.0, 57344.0, 65536.0, 2.0**-16, 2.0**-17, 2.0**-17 * 1.01, -0.0])
    with torch.no_grad():
        dense = model.bert.encoder.layer[0].output.dense
        dense.weight[0, : len(values)] = values
        dense.bias[0] = 1e6
    save_folder(model, pieces(), tmp_path, length=24, dtype="fp8")
    stored = load_file(tmp_path / "model.safetensors")
    found = stored["bert.encoder.layer.0.output.dense.weight"][0, : len(values)].float()
    assert found.tolist() == [57344, -57344, 57344, 57344, 57344, 2.0**-16, 0, 2.0**-16, 0]
    assert stored["bert.encoder.layer.0.output.dense.bias"][0] == 1e6  # A vector is not rounded.


@pytest.mark.parametrize(
    ("dtype", "kind"), [("fp32", torch.float32), ("fp16", torch.float16), ("bf16", torch.bfloat16)]
)
def test_other_kinds_are_stored_as_they_are_named(dtype, kind, tmp_path):
    model = init_masked_lm("bert", SMALL, pieces(), length=24, seed=0)
    save_folder(model, pieces(), tmp_path, length=24, dtype=dtype)
    stored = load_file(tmp_path / "model.safetensors")
    weights = dict(model.named_parameters())
    for name, tensor in stored.items():
        assert torch.equal(tensor, weights[name].detach().to(kind)), name
