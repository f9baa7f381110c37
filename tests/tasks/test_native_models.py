"""Ordinary folders of classifiers: logits as `transformers` gives them, labels of the config, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import models
from interlingua import explain_texts
from interlingua.errors import InputError
from interlingua.readers.examples import Examples, LabelledText, TaggedWords
from interlingua.tasks.saved_models import described, load

LABELS = ("negative", "neutral", "positive")
TEXTS = ("The kitchen tap drips again.", "empire", "Monkeys feed slowly, please rise; the fields and orchards rise.")


def ordinary(folder: Path, architecture: str, *, head: str = "SequenceClassification", labels=LABELS, **config) -> Path:
    """A folder as `transformers` writes it, with a head of random weights."""
    import transformers

    models.ARCHITECTURES[architecture](folder / "body")
    torch.manual_seed(3)
    config |= {"id2label": dict(enumerate(labels)), "label2id": {name: n for n, name in enumerate(labels)}}
    model: Any = getattr(transformers, f"AutoModelFor{head}").from_pretrained(
        folder / "body", num_labels=len(labels), **config
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "body")
    model.config.pad_token_id = tokenizer.pad_token_id
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if not name.startswith(f"{model.base_model_prefix}.") or "pooler" in name:
                weight.normal_(std=0.5)
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    return folder / "model"


def changed(folder: Path, **more: object) -> None:
    config = json.loads((folder / "config.json").read_text("utf-8")) | more
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


def logits(folder: Path, *texts: str, head: str = "SequenceClassification") -> np.ndarray:
    import transformers

    model = getattr(transformers, f"AutoModelFor{head}").from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        return model(**tokenizer(*texts, return_tensors="pt")).logits[0].numpy()


@pytest.mark.parametrize("architecture", ["bert", "xlm-roberta", "distilbert", "electra", "modernbert", "qwen2"])
def test_logits_are_those_of_transformers_for_texts_and_for_pairs(tmp_path: Path, architecture: str) -> None:
    folder = ordinary(tmp_path, architecture)
    tuned = load(folder, device="cpu")
    assert (tuned.task.name, tuned.labels) == ("classification", LABELS)
    pairs = tuple(zip(TEXTS, TEXTS[::-1], strict=True))
    for texts in ([(text,) for text in TEXTS], pairs):
        items = tuple(LabelledText(tuple(each), "neutral", n + 1) for n, each in enumerate(texts))
        inputs = tuned.task.inputs(Examples(items, "en", "a.tsv"), tuned.encoder, labels=tuned.labels, training=False)
        found = tuned.task.predict(tuned.model, inputs, labels=tuned.labels, precision="fp32").scores
        expected = np.stack([logits(folder, *each) for each in texts])
        assert np.ptp(expected) > 0.1
        assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("architecture", ["bert", "xlm-roberta"])
def test_tags_are_those_of_transformers(tmp_path: Path, architecture: str) -> None:
    labels = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
    folder = ordinary(tmp_path, architecture, head="TokenClassification", labels=labels)
    tuned = load(folder, device="cpu")
    assert (tuned.task.name, tuned.labels) == ("ner", labels)
    words = ("the", "kitchen", "tap", "empire")
    examples = Examples((TaggedWords(words, ("O",) * 4, 1),), "en", "a.iob")
    inputs = tuned.task.inputs(examples, tuned.encoder, labels=labels, training=False)
    batch = inputs.batch(np.arange(1), torch.device("cpu"))
    with torch.no_grad():
        found = tuned.model(batch)[0].numpy()
    assert found == pytest.approx(logits(folder, " ".join(words), head="TokenClassification"), abs=1e-5)


@pytest.mark.parametrize("architecture", ["bert", "distilbert", "xlm-roberta"])
def test_a_random_head_shares_the_layers_and_has_the_same_weights_in_another_order(
    tmp_path: Path, architecture: str
) -> None:
    model = load(ordinary(tmp_path, architecture), device="cpu").model
    other = model.under_random_head(seed=0)
    ours, theirs = dict(model.named_parameters()), dict(other.named_parameters())
    head = {f"whole.{name}" for name, _ in model.whole.named_parameters() if theirs[f"whole.{name}"] is not
            ours[f"whole.{name}"]}  # fmt: skip
    assert {id(weight) for weight in model.head.parameters()} == {id(ours[name]) for name in head}
    for name in head:
        assert torch.equal(theirs[name].flatten().sort().values, ours[name].flatten().sort().values)
    assert any(not torch.equal(theirs[name], ours[name]) for name in head)


def test_two_texts_are_explained_by_the_models_own_label(tmp_path: Path) -> None:
    folder = ordinary(tmp_path, "bert")
    expected = LABELS[int(logits(folder, TEXTS[0]).argmax())]
    found = explain_texts(folder, TEXTS[0], TEXTS[2], device="cpu")
    assert expected in found.about[0]
    assert sum(found.example.texts[0].attributions) != 0
    pair = explain_texts(folder, f"{TEXTS[0]} ||| {TEXTS[1]}", f"{TEXTS[2]} ||| {TEXTS[1]}", label="positive")
    assert set(pair.example.texts[0].side) == {0, 1}
    assert "positive" in pair.about[0]
    with pytest.raises(InputError, match="the model reads a text"):
        explain_texts(folder, "a ||| b ||| c", "a")


def test_labels_without_names_are_numbered(tmp_path: Path) -> None:
    folder = ordinary(tmp_path, "bert", labels=("LABEL_0", "LABEL_1"))
    changed(folder, id2label=None)
    task, labels = described(folder)
    assert labels == ("LABEL_0", "LABEL_1")
    (tmp_path / "a.tsv").write_text("one\t1\nother\tLABEL_0\n", "utf-8")
    assert [item.label for item in task.read(tmp_path / "a.tsv", "en")] == ["LABEL_1", "LABEL_0"]


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"problem_type": "multi_label_classification"}, "chooses one of several labels"),
        ({"problem_type": "regression"}, "chooses one of several labels"),
        ({"id2label": {"0": "score"}}, "chooses one of several labels"),
        ({"id2label": {"0": "a", "2": "b"}}, "does not number its labels from 0"),
        ({"id2label": {"0": "a", "1": "a"}}, "a label twice"),
        ({"id2label": {"0": "a", "1": "\ud800"}}, "a label holds half a surrogate"),
        ({"id2label": {"0": "a", "1": ["b"]}}, "a label is no text"),
        ({"id2label": None, "num_labels": 10**9}, "no number of labels"),
        ({"id2label": None, "num_labels": True}, "no number of labels"),
        ({"architectures": ["BertModel"]}, r"no task\.json"),
        ({"architectures": ["BertForTokenClassification"]}, "labels of tokens that are no entities"),
        ({"is_encoder_decoder": True}, "only encoders and decoders"),
    ],
)
def test_a_config_that_is_no_classifier_is_refused_before_weights_are_read(
    tmp_path: Path, config: dict[str, object], problem: str
) -> None:
    folder = ordinary(tmp_path, "bert")
    changed(folder, **config)
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match=problem):
        described(folder)


def test_weights_without_the_head_and_pickles_are_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = ordinary(tmp_path, "bert")
    weights = load_file(folder / "model.safetensors")
    for lost in ("classifier.weight", "bert.pooler.dense.weight"):
        kept = {name: tensor for name, tensor in weights.items() if name != lost}
        save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
        with pytest.raises(InputError, match=lost):
            load(folder, device="cpu")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="pickled"):
        load(folder, device="cpu")


def test_no_code_of_the_folder_runs(tmp_path: Path) -> None:
    folder = ordinary(tmp_path, "bert")
    (folder / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", "utf-8")
    changed(folder, auto_map={"AutoModelForSequenceClassification": "mine.Mine"})
    with pytest.raises(InputError, match="run its own code"):
        load(folder, device="cpu")
    assert not (tmp_path / "ran").exists()
