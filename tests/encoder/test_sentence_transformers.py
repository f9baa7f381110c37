"""The layer `output` against the real sentence-transformers, over whatever its folders can say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import models
from interlingua.encoder import Cache, Encoder
from interlingua.errors import InputError
from sentence_models import BACK, DENSE, NORMAL, PROMPTS, WIDE, folder_of, theirs

TEXTS = [*models.LINES, "The tap", "the tap", "The tap", *(line + " " + line for line in models.LINES)]
MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
FLAGS = ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")


def ours(folder: Path, texts: list[str], **given: Any) -> np.ndarray:
    return np.asarray(Encoder.load(str(folder), device="cpu", **given).output(texts)[-1])


FOLDERS: dict[str, tuple[Mapping[str, Any], tuple[tuple[str, Mapping[str, Any]], ...]]] = {
    **{f"flag {mode}": ({f"pooling_mode_{each}": each == mode for each in FLAGS}, ()) for mode in FLAGS},
    **{f"mode {mode}": ({"pooling_mode": mode}, (NORMAL,)) for mode in MODES},
    "no mode": ({}, ()),
    "all flags joined": ({f"pooling_mode_{each}": True for each in FLAGS}, (NORMAL,)),
    "joined in another order": ({"pooling_mode": ["mean", "cls", "max"]}, ()),
    "one of a list": ({"pooling_mode": ["max"]}, ()),
    "the newer key counts": ({"pooling_mode": "cls", "pooling_mode_mean_tokens": True}, ()),
    "dense": ({"pooling_mode_mean_tokens": True}, (DENSE,)),
    "dense, normalised": ({"pooling_mode_mean_tokens": True}, (DENSE, NORMAL)),
    "normalised, then dense": ({"pooling_mode": "max"}, (NORMAL, DENSE)),
    "two dense": ({"pooling_mode": "weightedmean"}, (DENSE, BACK, NORMAL)),
    "wider, with a residual": ({"pooling_mode": "mean"}, (WIDE,)),
    "tanh by default": ({"pooling_mode": "mean"}, (("Dense", {"in_features": 32, "out_features": 5}),)),
    "layer norm, dropout": ({"pooling_mode": "cls"}, (("LayerNorm", {"dimension": 32}), ("Dropout", {"dropout": 0.5}))),
}


@pytest.mark.reliability("sentence-transformers folders")
@pytest.mark.parametrize("name", FOLDERS)
def test_the_output_is_what_sentence_transformers_encodes(name: str, tmp_path: Path) -> None:
    pooling, steps = FOLDERS[name]
    folder = folder_of(tmp_path / "model", pooling, *steps)
    np.testing.assert_allclose(ours(folder, TEXTS), theirs(folder, TEXTS), atol=1e-5)


BODIES = {
    "xlm-roberta": (models.xlm_roberta, "0_Transformer"),
    "t5": (models.t5, ""),
    "modernbert": (models.modernbert, ""),
    "qwen2": (models.qwen, ""),
    "gemma3": (models.gemma, ""),
    "electra": (models.electra, ""),
}


@pytest.mark.reliability("sentence-transformers folders")
@pytest.mark.parametrize("mode", ["mean", "weightedmean", "lasttoken"])
@pytest.mark.parametrize("name", BODIES)
def test_the_output_of_other_bodies_and_old_places(name: str, mode: str, tmp_path: Path) -> None:
    body, inner = BODIES[name]
    folder = folder_of(tmp_path / "model", {"pooling_mode": mode}, DENSE, NORMAL, body=body, inner=inner)
    np.testing.assert_allclose(ours(folder, TEXTS), theirs(folder, TEXTS), atol=1e-5)


@pytest.mark.reliability("sentence-transformers folders")
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_prompts_by_name_by_text_and_by_default(mode: str, counted: bool, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", {"pooling_mode": mode, "include_prompt": counted}, prompts=PROMPTS)
    bare = ours(folder, TEXTS)
    np.testing.assert_allclose(bare, theirs(folder, TEXTS), atol=1e-5)
    for asked, given in {
        "query": {"prompt_name": "query"},
        "passage": {"prompt_name": "passage"},
        "none": {"prompt_name": "none"},
        "In 1960 the tap, ": {"prompt": "In 1960 the tap, "},
    }.items():
        found = ours(folder, TEXTS, prompt=asked)
        np.testing.assert_allclose(found, theirs(folder, TEXTS, **given), atol=1e-5)
        assert np.allclose(found, bare) == (asked == "none")
    stated = folder / "config_sentence_transformers.json"
    stated.write_text(json.dumps({**PROMPTS, "default_prompt_name": "query"}))
    np.testing.assert_allclose(ours(folder, TEXTS), theirs(folder, TEXTS), atol=1e-5)
    assert not np.allclose(ours(folder, TEXTS), bare)
    np.testing.assert_allclose(ours(folder, TEXTS, prompt=""), bare, atol=1e-6)


@pytest.mark.reliability("sentence-transformers folders")
@pytest.mark.parametrize("settings", [
    {"max_seq_length": 6, "do_lower_case": False},
    {"max_seq_length": 6, "do_lower_case": True},
    {"max_seq_length": None, "do_lower_case": True},
    {"max_seq_length": 64, "transformer_task": "feature-extraction", "module_output_name": "token_embeddings",
     "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}},
])  # fmt: skip
@pytest.mark.parametrize("side", ["right", "left"])
def test_texts_are_cut_and_lower_cased_as_the_folder_says(settings: dict[str, Any], side: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", {"pooling_mode": "mean"}, settings=settings, body=models.xlm_roberta,
                       prompts=PROMPTS)  # fmt: skip
    config = folder / "tokenizer_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"truncation_side": side, "padding_side": side}))
    np.testing.assert_allclose(ours(folder, TEXTS), theirs(folder, TEXTS), atol=1e-5)
    given = ours(folder, TEXTS, prompt="query"), theirs(folder, TEXTS, prompt_name="query")
    np.testing.assert_allclose(*given, atol=1e-5)
    cut = Encoder.load(str(folder), device="cpu").output(TEXTS).windowed
    assert (cut > 0) == (settings["max_seq_length"] is not None)


def test_what_sentence_transformers_writes_today_is_read(tmp_path: Path) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    from sentence_transformers.sentence_transformer import modules as parts

    transformer = parts.Transformer(str(models.bert(tmp_path / "plain")), max_seq_length=20)
    steps = [transformer, parts.Pooling(32, pooling_mode=("mean", "max")), parts.Dense(64, 7), parts.Normalize()]
    made = sentence_transformers.SentenceTransformer(modules=steps, device="cpu", prompts={"q": "Ask: "})
    made.save(str(tmp_path / "model"))
    wanted = made.encode(TEXTS, prompt_name="q")
    np.testing.assert_allclose(ours(tmp_path / "model", TEXTS, prompt="q"), wanted, atol=1e-5)


@pytest.mark.reliability("sentence-transformers folders")
@pytest.mark.parametrize("kept", [5, 100])
def test_vectors_are_cut_where_the_folder_says(kept: int, tmp_path: Path) -> None:
    stated = {"truncate_dim": kept, "similarity_fn_name": "dot", "prompts": {}, "default_prompt_name": "query"}
    folder = folder_of(tmp_path / "model", {"pooling_mode": "mean"}, NORMAL, prompts=stated)
    found = ours(folder, TEXTS)
    assert found.shape[1] == min(kept, 32)
    np.testing.assert_allclose(found, theirs(folder, TEXTS), atol=1e-5)
    digest = Encoder.load(str(folder), device="cpu").digest
    (folder / "config_sentence_transformers.json").write_text("{}")
    assert Encoder.load(str(folder), device="cpu").digest != digest
    assert ours(folder, TEXTS).shape[1] == 32


@pytest.mark.reliability("sentence-transformers folders")
def test_a_stated_length_counts_where_positions_are_computed(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", {"pooling_mode": "mean"}, body=models.qwen, settings={"max_seq_length": 400})
    long = " ".join(models.LINES * 2)
    assert len(Encoder.load(str(folder), device="cpu").tokeniser([long], spans=False, words=False).ids) > 256
    np.testing.assert_allclose(ours(folder, [long]), theirs(folder, [long]), atol=1e-5)


@pytest.mark.reliability("records depend on how they are made")
def test_an_output_depends_on_its_text_alone_and_is_kept(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", {"pooling_mode": "lasttoken"}, DENSE, body=models.qwen)
    whole = ours(folder, TEXTS)
    assert (whole[10] == whole[12]).all()
    for budget in (1, 40):
        np.testing.assert_allclose(ours(folder, TEXTS, budget=budget), whole, atol=1e-6)
    np.testing.assert_allclose(ours(folder, TEXTS[::-1])[::-1], whole, atol=1e-6)
    cache, encoder = Cache(tmp_path / "cache"), Encoder.load(str(folder), device="cpu")
    first, second = (encoder.output(TEXTS, cache=cache) for _ in range(2))
    assert first.layers == second.layers == (encoder.output_layer,)
    assert encoder.output_layer == len(encoder.layers)
    assert (first[-1] == second[-1]).all()
    prompted = Encoder.load(str(folder), device="cpu", prompt="the tap: ").output(TEXTS, cache=cache)
    assert not np.allclose(prompted[-1], second[-1])
    other = folder_of(tmp_path / "other", {"pooling_mode": "lasttoken"}, NORMAL, body=models.qwen)
    assert Encoder.load(str(other), device="cpu").digest != encoder.digest


BROKEN: dict[str, tuple[str, Any, str]] = {
    "an unknown module": ("modules.json", ("3", "sentence_transformers.models.CNN"), "accepted: Transformer, Pooling"),
    "a module of its own code": ("modules.json", ("3", "custom_st.Normalize"), "accepted: Transformer, Pooling"),
    "two poolings": ("modules.json", ("1_Pooling", "sentence_transformers.models.Pooling"), "order that is not read"),
    "unknown pooling": ("1_Pooling/config.json", {"pooling_mode": "median"}, "unknown pooling: 'median'"),
    "an activation by code": ("2_Dense/config.json", {"activation_function": "os.system"}, "not have: 'os.system'"),
    "no activation of torch": ("2_Dense/config.json", {"activation_function": "torch.nn.Linear"}, "does not have"),
    "dense of tokens": ("2_Dense/config.json", {"module_input_name": "token_embeddings"}, "than the vector of a sent"),
    "weights that do not fit": ("1_Pooling/config.json", {"pooling_mode": ["mean", "cls"]}, "do not fit vectors of 64"),
    "no weights": ("2_Dense/model.safetensors", None, "has no weights"),
    "another task": ("sentence_bert_config.json", {"transformer_task": "text-generation"}, "than plain text"),
    "messages": ("sentence_bert_config.json", {"modality_config": {"message": {}}}, "than plain text"),
    "no length": ("sentence_bert_config.json", {"max_seq_length": -3}, "no number of tokens: -3"),
    "no such default": ("config_sentence_transformers.json", {"default_prompt_name": "x"}, "none of the prompts: 'x'"),
    "no dimensions": ("config_sentence_transformers.json", {"truncate_dim": -2}, "no number of dimensions: -2"),
    "prompts that are no texts": ("config_sentence_transformers.json", {"prompts": {"a": 3}}, "prompts are texts"),
}  # fmt: skip


@pytest.mark.reliability("sentence-transformers folders")
@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_read_is_named_and_never_left_out(name: str, tmp_path: Path) -> None:
    where, what, said = BROKEN[name]
    folder = folder_of(tmp_path / "model", {"pooling_mode": "mean"}, DENSE)
    file = folder / where
    if what is None:
        file.unlink()
    elif isinstance(what, tuple):
        file.write_text(json.dumps([*json.loads(file.read_text()), {"path": what[0], "type": what[1]}]))
    else:
        before = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps(before | what))
    with pytest.raises(InputError) as raised:
        Encoder.load(str(folder), device="cpu")
    assert said in str(raised.value)


def test_a_prompt_is_a_name_that_is_there_or_a_text_and_needs_such_a_model(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", {"pooling_mode": "mean"}, prompts=PROMPTS)
    with pytest.raises(InputError, match=r"no prompt of this name: 'qurey'\. It has: query, none, passage\."):
        Encoder.load(str(folder), device="cpu", prompt="qurey")
    plain = models.bert(tmp_path / "plain")
    with pytest.raises(InputError, match="a prompt is for models of sentence-transformers"):
        Encoder.load(str(plain), device="cpu", prompt="query: ")
    with pytest.raises(InputError, match="only a sentence-transformers folder has an output"):
        Encoder.load(str(plain), device="cpu").output(TEXTS)
    assert Encoder.load(str(plain), device="cpu").output_layer is None
    assert Encoder.load(str(folder), device="cpu", blocks=1).output_layer is None
