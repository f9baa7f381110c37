"""No record depends on how a model was run or on what else was measured, whatever the architecture."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import models
from interlingua import audit
from interlingua.corpus import ParallelCorpus
from interlingua.encoder.devices import BUDGET
from parallel_rows import ROWS, corpus_of
from sentence_models import folder_of


def gpt2(folder: Path) -> Path:
    """A decoder with learned absolute positions, which padding on the left would move."""
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    tokenizer = models.byte_level(bos=False)
    torch.manual_seed(11)
    config = GPT2Config(vocab_size=tokenizer.get_vocab_size(), n_positions=128, n_embd=32, n_layer=3, n_head=4)
    GPT2LMHeadModel(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", pad_token="<pad>").save_pretrained(folder)
    return folder


def bloom(folder: Path) -> Path:
    """A decoder without positions but for a slope by distance (ALiBi)."""
    from transformers import BloomConfig, BloomForCausalLM, PreTrainedTokenizerFast

    tokenizer = models.byte_level(bos=False)
    torch.manual_seed(12)
    config = BloomConfig(vocab_size=tokenizer.get_vocab_size(), hidden_size=32, n_layer=3, n_head=4)
    BloomForCausalLM(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", pad_token="<pad>").save_pretrained(folder)
    return folder


def sentence_folder(folder: Path) -> Path:
    """A decoder in a sentence-transformers folder: the layer `output` is of texts after a prompt."""
    settings, prompts = {"max_seq_length": 12}, {"prompts": {"q": "Find: "}, "default_prompt_name": "q"}
    return folder_of(folder, {"pooling_mode": ["lasttoken", "mean"]}, ("Normalize", {}), body=models.qwen,
                     settings=settings, prompts=prompts)  # fmt: skip


ARCHITECTURES = {
    **models.ARCHITECTURES,
    **models.UNUSUAL,
    "marian of two sides": models.marian_of_two_sides,
    "gpt2": gpt2,
    "bloom": bloom,
    "sentence-transformers": sentence_folder,
}
MEASURES = ("retrieval", "cka", "isotropy", "tokenization")


def values(
    model: Path, corpus: ParallelCorpus, measures: tuple[str, ...], cache: str = "none"
) -> dict[tuple[Any, ...], float]:
    found = audit(str(model), corpus, measures=measures, cache=cache, device="cpu").records
    return {(r.measure, r.key, r.source, r.target, r.layer, r.unit, r.pooling): r.value for r in found}


@pytest.mark.reliability("records depend on how they are made")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_no_record_depends_on_batches_order_padding_or_other_measures(
    architecture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    model = ARCHITECTURES[architecture](tmp_path / "model")
    corpus = corpus_of(ROWS, tmp_path)
    whole = values(model, corpus, MEASURES)
    tried = held = 0

    def compare(found: dict[tuple[Any, ...], float], what: str) -> None:
        nonlocal tried, held
        wanted = {key: whole[key] for key in found}
        tried += len(found)
        np.testing.assert_allclose([*found.values()], [*wanted.values()], rtol=2e-4, atol=2e-5, err_msg=what)
        held += len(found)

    for name in MEASURES:
        alone = values(model, corpus, (name,))
        assert alone == {key: value for key, value in whole.items() if key[0] == name}, name
        compare(alone, f"{name} alone")
    for measures in (("retrieval",), ("isotropy",), MEASURES):  # What the cache keeps of one run serves the others.
        compare(values(model, corpus, measures, str(tmp_path / "cache")), f"{measures} from a cache")
    for budget in (1, 50):
        monkeypatch.setitem(BUDGET, "cpu", budget)
        compare(values(model, corpus, MEASURES), f"{budget} tokens at once")
    monkeypatch.undo()
    backwards = values(model, corpus_of(ROWS[::-1], tmp_path), MEASURES)
    # The bootstrap draws rows by number; what is drawn from is the same.
    compare(backwards, "order")
    config = model / "tokenizer_config.json"
    side = json.loads(config.read_text("utf-8")) | {"padding_side": "left"}
    config.write_text(json.dumps(side), "utf-8")
    compare(values(model, corpus, MEASURES), "padding side")
    record_property("tried", tried)
    record_property("held", held)


@pytest.mark.reliability("attention sinks")
@pytest.mark.parametrize(("pooling", "said"), [(None, "attention sinks are left out"), ("mean", "sinks are counted")])
def test_an_audit_of_a_decoder_says_how_it_pooled(pooling: str | None, said: str, tmp_path: Path) -> None:
    made = audit(
        str(models.qwen(tmp_path / "model")), corpus_of(ROWS, tmp_path), measures=("retrieval", "isotropy"),
        pooling=pooling, cache="none", device="cpu", out=tmp_path / "out",
    )  # fmt: skip
    assert {record.pooling for record in made.records} == {pooling or "sinkless"}
    assert made.run["pooling"] == (pooling or "sinkless")
    assert said in " ".join(made.run["skipped"])
    assert said in (tmp_path / "out" / "report.html").read_text("utf-8")
    weighted = audit(str(tmp_path / "model"), corpus_of(ROWS, tmp_path), measures=("retrieval",), pooling="weighted",
                     cache="none", device="cpu")  # fmt: skip
    assert "sinks are left out of means of words, and counted in sentences" in " ".join(weighted.run["skipped"])
    other = audit(str(models.bert(tmp_path / "b")), corpus_of(ROWS, tmp_path), measures=("retrieval",), cache="none")
    assert {record.pooling for record in other.records} == {"mean"}
    assert "sinks" not in " ".join(other.run["skipped"])


@pytest.mark.reliability("attention sinks")
def test_an_audit_of_a_decoder_counts_texts_that_are_sinks_alone(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = models.qwen(tmp_path / "model")
    model = AutoModelForCausalLM.from_pretrained(folder)
    (token,) = AutoTokenizer.from_pretrained(folder)("T").input_ids
    with torch.no_grad():
        model.get_input_embeddings().weight[token] *= 300
    model.save_pretrained(folder)
    for rows, said in [(ROWS, False), ([*ROWS, "T\tтечёт"], True)]:
        made = audit(str(folder), corpus_of(rows, tmp_path), measures=("retrieval",), cache="none", device="cpu")
        notes = " ".join(made.run["skipped"])
        assert ("1 text of en with nothing but an attention sink" in notes) == said
        assert "of ru with nothing but" not in notes


@pytest.mark.reliability("target language of a translation model")
def test_an_audit_says_how_languages_are_marked(tmp_path: Path) -> None:
    folder = models.nllb(tmp_path / "model")
    made = audit(str(folder), corpus_of(ROWS, tmp_path), measures=("retrieval",), cache="none", device="cpu")
    assert "marks each text by its language: en (eng_Latn), ru (rus_Cyrl)" in " ".join(made.run["skipped"])


@pytest.mark.heavy
@pytest.mark.parametrize("architecture", ["qwen2", "llama", "gpt2"])
def test_an_audit_of_a_decoder_equals_a_few_lines_of_plain_transformers(architecture: str, tmp_path: Path) -> None:
    folder = ARCHITECTURES[architecture](tmp_path / "model")
    corpus_of(ROWS, tmp_path)
    command = [sys.executable, "-m", "benchmarks.decoders", str(folder), "--corpus", str(tmp_path / "rows.tsv")]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n| ") == 5
