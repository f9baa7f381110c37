"""No record depends on how a model was run or on what else was measured, whatever the architecture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import models
from interlingua import audit
from interlingua.corpus import ParallelCorpus
from interlingua.encoder.devices import BUDGET
from interlingua.readers import read_corpus

ARCHITECTURES = {**models.ARCHITECTURES, "marian of two sides": models.marian_of_two_sides}
MEASURES = ("retrieval", "cka", "isotropy", "tokenization")
ROWS = [
    *("The tap is leaking again.\tКран снова течёт.", "Empires rise slowly.\tКран снова, и снова!", "the tap\tкран"),
    *("Don't feed the monkeys, please!\tВ 1960 году здесь течёт кран.", "In 1960\tВ 1960", "fields and orchards\tсады"),
    *("nothing but fields\tодин кран", "The district\tКухонный кран", "collapse quickly\tснова", "rise\tтечёт снова"),
    *("kitchen monkeys again\tкухонный", "please feed the tap\tкран, кран"),
]


def corpus_of(rows: list[str], folder: Path) -> ParallelCorpus:
    (folder / "rows.tsv").write_text("\n".join(["en\tru", *rows]) + "\n", "utf-8")
    return read_corpus(folder / "rows.tsv")


def values(model: Path, corpus: ParallelCorpus, measures: tuple[str, ...]) -> dict[tuple[Any, ...], float]:
    found = audit(str(model), corpus, measures=measures, cache="none", device="cpu").records
    keys = ("measure", "variant", "source", "target", "layer", "unit", "pooling")
    return {tuple(record[key] for key in keys): record["value"] for record in found}


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
    assert {record["pooling"] for record in made.records} == {pooling or "sinkless"}
    assert made.run["pooling"] == (pooling or "sinkless")
    assert said in " ".join(made.run["skipped"])
    assert said in (tmp_path / "out" / "report.html").read_text("utf-8")
    other = audit(str(models.bert(tmp_path / "b")), corpus_of(ROWS, tmp_path), measures=("retrieval",), cache="none")
    assert {record["pooling"] for record in other.records} == {"mean"}
    assert "sinks" not in " ".join(other.run["skipped"])
