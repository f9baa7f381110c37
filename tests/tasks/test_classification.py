"""Classification: any labels, F1 as scikit-learn has it, its chance levels, and what is no set of labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

from interlingua.errors import InputError
from interlingua.readers.examples import Examples, LabelledText
from interlingua.tasks.classification import MAX_LABELS, Classification, macro_f1
from interlingua.tasks.text_pairs import ClassPredictions
from toys import toy


def labelled(labels: list[str]) -> Examples[LabelledText]:
    items = tuple(LabelledText((f"text {n}",), label, n + 1) for n, label in enumerate(labels))
    return Examples(items, "en", "train.tsv")


@pytest.mark.parametrize("seed", range(6))
def test_f1_is_that_of_scikit_learn_whatever_labels_occur(seed: int) -> None:
    draw = np.random.default_rng(seed)
    size = int(draw.integers(2, 9))
    names = tuple(f"label {n}" for n in range(size))
    gold = draw.integers(size, size=50) if seed % 2 else draw.integers(max(size // 2, 1), size=50)
    said = np.where(draw.random(50) < 0.6, gold, draw.integers(size, size=50))
    score = macro_f1(said, gold, names)
    assert score.value == pytest.approx(f1_score(gold, said, average="macro", zero_division=0))
    assert score.items is not None
    assert score.items.mean() == pytest.approx(score.value)


def test_the_null_is_the_mean_over_shuffled_predictions() -> None:
    draw = np.random.default_rng(0)
    gold, said = draw.integers(3, size=40), draw.integers(3, size=40)
    shuffled = [f1_score(gold, draw.permutation(said), average="macro") for _ in range(1500)]
    assert macro_f1(said, gold, ("a", "b", "c")).null == pytest.approx(np.mean(shuffled), abs=0.01)


def test_the_interval_is_as_wide_as_scores_of_other_samples_differ() -> None:
    draw = np.random.default_rng(1)
    values, halves = [], []
    for _ in range(200):
        gold = draw.choice(3, size=300, p=(0.6, 0.3, 0.1))
        said = np.where(draw.random(300) < 0.7, gold, draw.integers(3, size=300))
        score = macro_f1(said, gold, ("a", "b", "c"))
        assert score.low is not None
        assert score.high is not None
        values.append(score.value)
        halves.append((score.high - score.low) / 2)
    assert np.mean(halves) == pytest.approx(1.97 * np.std(values), rel=0.15)


def test_chance_is_the_best_of_one_label_for_all_and_labels_drawn_evenly() -> None:
    gold = np.array([0] * 90 + [1] * 10)
    always = macro_f1(np.zeros(100, np.int64), gold, ("a", "b"))
    assert always.details["chance"]["always"] == "a"
    assert always.details["chance"]["above"] is False
    assert always.details["chance"]["level"] == pytest.approx(f1_score(gold, np.zeros(100), average="macro"))
    even = np.random.default_rng(0).integers(2, size=(800, 100))
    drawn = np.mean([f1_score(gold, said, average="macro") for said in even])
    balanced = np.array([0, 1] * 50)
    level = macro_f1(np.zeros(100, np.int64), balanced, ("a", "b")).details["chance"]
    assert level["by"] == "one of 2 labels"
    assert level["level"] == pytest.approx(0.5)
    assert drawn < always.details["chance"]["level"]
    right = macro_f1(gold, gold, ("a", "b"))
    assert right.value == 1.0
    assert right.details["chance"]["above"] is True


def test_labels_are_those_of_the_examples_and_whole_numbers_in_their_order() -> None:
    task = Classification()
    assert task.labels(labelled(["b", "a", "ö", "a"])) == ("a", "b", "ö")
    assert task.labels(labelled(["10", "9", "-1", "9"])) == ("-1", "9", "10")
    with pytest.raises(InputError, match=r"train\.tsv: only one label.*'x'"):
        task.labels(labelled(["x", "x"]))
    many = [str(n) for n in range(MAX_LABELS + 1)]
    with pytest.raises(InputError, match=r"1,001 labels"):
        task.labels(labelled(many))
    assert len(task.labels(labelled(many[1:]))) == MAX_LABELS


def test_a_models_own_labels_may_be_numbered_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("fine\tPOSITIVE\nbad\t0\nso\tneutral\n", "utf-8")
    task = Classification(names=("negative", "neutral", "positive"))
    assert [item.label for item in task.read(tmp_path / "a.tsv", "en")] == ["positive", "negative", "neutral"]
    (tmp_path / "a.tsv").write_text("fine\tpositive\nbad\t3\n", "utf-8")
    with pytest.raises(InputError, match=r"a\.tsv:2: a label that the model does not have: '3'"):
        task.read(tmp_path / "a.tsv", "en")


def test_a_text_is_what_the_tokenizer_makes_of_it_and_long_ones_are_cut(encoder) -> None:
    examples = toy("classification")
    task = Classification(length=8)
    inputs = task.inputs(examples, encoder, labels=("travel", "food", "sport"), training=True)
    for number, item in enumerate(examples):
        expected = encoder.tokenizer(item.texts[0], truncation=True, max_length=8)["input_ids"]
        assert inputs.ids[inputs.starts[number] : inputs.starts[number + 1]].tolist() == expected
    assert inputs.row_labels["labels"].tolist() == [k % 3 for k in range(20)]
    (skip,) = inputs.skipped
    assert skip.reason == "texts cut to 6 tokens"
    assert skip.count == sum(len(encoder.tokenizer(item.texts[0])["input_ids"]) > 8 for item in examples)


def test_two_texts_are_read_as_pairs_are_and_not_beside_single_ones(encoder) -> None:
    pair = LabelledText(("the kitchen tap", "rise again"), "x", 1)
    examples = Examples((pair,), "en", "p.tsv")
    inputs = Classification().inputs(examples, encoder, labels=("x", "y"), training=False)
    assert inputs.ids.tolist() == encoder.tokenizer(*pair.texts)["input_ids"]
    both = replace(examples, items=(pair, LabelledText(("one",), "y", 2)))
    with pytest.raises(InputError, match="examples of one text and of two"):
        Classification().inputs(both, encoder, labels=("x", "y"), training=False)


def test_predictions_are_judged_by_both_scores() -> None:
    labels, examples = ("a", "b"), labelled(["a", "b", "b", "b"])
    said = np.array([0, 0, 1, 1])
    scores = Classification().judge(ClassPredictions(labels, said, np.eye(2, dtype=np.float32)[said]), examples)
    assert scores["accuracy"].value == 0.75
    assert scores["f1/macro"].value == pytest.approx((2 / 3 + 4 / 5) / 2)


def test_columns_are_two_or_three() -> None:
    with pytest.raises(InputError, match="columns are those"):
        Classification(columns=("text",))
