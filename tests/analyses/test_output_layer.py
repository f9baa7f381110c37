"""An audit of a sentence-transformers folder: the layer `output` is measured, is the headline, and is named."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import models
from interlingua import audit
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.record import Record
from interlingua.report.subjects.layers import AlignmentRecords
from parallel_rows import ROWS, corpus_of
from sentence_models import DENSE, NORMAL, PROMPTS, folder_of, theirs


def found_both_ways(source: np.ndarray, target: np.ndarray, *, centred: bool) -> tuple[float, float]:
    sides = [side - side.mean(0) * centred for side in (source.astype(np.float64), target.astype(np.float64))]
    one, other = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides)
    cosines, own = one @ other.T, np.arange(len(one))
    return float((cosines.argmax(1) == own).mean()), float((cosines.argmax(0) == own).mean())


def at_output(records: Iterable[Record], variant: str, source: str) -> float:
    (found,) = (
        each
        for each in records
        if each.pooling == "output" and (each.key, each.source) == (f"p@1/cosine/{variant}", source)
    )
    return found.value


@pytest.mark.reliability("sentence-transformers folders")
@pytest.mark.parametrize("prompt", [None, "query"])
def test_retrieval_at_the_output_is_that_of_sentence_transformers(prompt: str | None, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", {"pooling_mode": "max"}, DENSE, NORMAL, prompts=PROMPTS)
    corpus = corpus_of(ROWS, tmp_path)
    made = audit(str(folder), corpus, measures=("retrieval", "cka", "isotropy"), prompt=prompt, cache="none",
                 device="cpu", out=tmp_path / "out")  # fmt: skip
    sides = [theirs(folder, list(corpus.column(code)), prompt_name=prompt) for code in ("en", "ru")]
    for centred in (False, True):
        there, back = found_both_ways(*sides, centred=centred)
        name = "centred" if centred else "raw"
        assert at_output(made.records, name, "en") == pytest.approx(there)
        assert at_output(made.records, name, "ru") == pytest.approx(back)
    assert made.run["output"] == 4
    assert made.run["layers"] == [0, 1, 2, 3]
    assert made.run["prompt"] == ["" if prompt is None else "Find the kitchen: "]
    space = AlignmentRecords(made.records, made.run)
    assert made.best_layer == space.best_layer == space.output == 4
    assert space.as_is is not None
    assert space.layers(space.as_is) == [0, 1, 2, 3, 4]
    assert made.findings[0].about["is_output"]
    assert "(layer output)" in made.answer()
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    for said in ("layer output", "layers 0–3 and output", "SentenceTransformer.encode"):
        assert said in page
    assert {record.layer for record in made.records if record.unit == "word"} == {0, 1, 2, 3}


def test_outputs_of_two_models_are_compared_with_each_other_alone(tmp_path: Path) -> None:
    first = folder_of(tmp_path / "first", {"pooling_mode": "max"}, DENSE)
    second = folder_of(tmp_path / "second", {"pooling_mode": "cls"}, body=lambda folder: models.bert(
        folder, seed=3, num_hidden_layers=5))  # fmt: skip
    corpus = corpus_of(ROWS, tmp_path)

    def layers(one: Path, other: Path) -> dict[int, str]:
        made = audit(str(one), corpus, against=str(other), measures=("cka",), cache="none", device="cpu")
        return {record.layer: record.pooling for record in made.records}

    shared = dict.fromkeys(range(4), "mean")
    assert layers(first, second) == {**shared, 4: "output"}
    assert layers(second, first) == {**dict.fromkeys(range(4), "cls"), 6: "output"}
    assert layers(first, models.bert(tmp_path / "plain", num_hidden_layers=5)) == shared


def test_a_prompt_is_refused_where_no_model_takes_one_and_another_prompt_is_another_run(tmp_path: Path) -> None:
    corpus = corpus_of(ROWS, tmp_path)
    with pytest.raises(InputError, match="a prompt is for models of sentence-transformers"):
        audit(str(models.bert(tmp_path / "plain")), corpus, prompt="query: ", cache="none")
    folder = folder_of(tmp_path / "model", {"pooling_mode": "mean"}, prompts=PROMPTS)
    given: dict[str, Any] = {"measures": ("cka",), "cache": "none", "out": tmp_path / "out"}
    audit(str(folder), corpus, **given)
    with pytest.raises(InputError):
        audit(str(folder), corpus, prompt="query", **given)
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["digests"][f"model {folder}"] == Encoder.load(str(folder)).digest
