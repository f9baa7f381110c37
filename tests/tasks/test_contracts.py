"""What every task of the registry promises."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.measures.retrieval import retrieval as measure
from interlingua.tasks import tasks
from interlingua.tasks.retrieval import Retrieval
from interlingua.training.task import TaskModel
from toys import toy

NAMES = [entry.name for entry in tasks]
TRAINED = [entry.name for entry in tasks if entry.needs == "head"]


@pytest.mark.parametrize("name", NAMES)
def test_a_task_is_named_frozen_and_says_what_it_needs(name):
    entry = tasks[name]
    task = entry.call()
    assert task.name == name
    assert entry.needs in ("head", "encoder")
    assert dataclasses.is_dataclass(task)
    assert task == entry.call(**dataclasses.asdict(task))
    with pytest.raises(dataclasses.FrozenInstanceError):
        task.length = 3


@pytest.mark.parametrize("name", TRAINED)
def test_every_example_is_read_predicted_and_judged_in_order(name, encoder):
    task, examples = tasks[name].call(), toy(name)
    labels = task.labels(examples)
    model = TaskModel.of(encoder, task, labels, seed=0)
    inputs = task.inputs(examples, encoder, labels=labels, training=False)
    assert set(inputs.owner.tolist()) == set(range(len(examples)))
    assert inputs.examples == len(examples)
    predictions = task.predict(model, inputs, labels=labels)
    scores = task.judge(predictions, examples)
    assert task.metric in scores
    turned = examples.take(np.arange(len(examples))[::-1])
    again = task.predict(model, task.inputs(turned, encoder, labels=labels, training=False), labels=labels)
    assert task.judge(again, turned)[task.metric].value == pytest.approx(scores[task.metric].value)
    for score in scores.values():
        assert score.n >= len(examples)
        assert 0 <= score.low <= score.value <= score.high <= 1
        assert score.items is not None or set(score.details) == {"right", "predicted", "gold"}
        if score.items is not None:
            assert score.items.mean() == pytest.approx(score.value)


@pytest.mark.parametrize("name", TRAINED)
def test_predictions_for_other_examples_are_refused(name, encoder):
    task, examples = tasks[name].call(), toy(name)
    labels = task.labels(examples)
    model = TaskModel.of(encoder, task, labels, seed=0)
    predictions = task.predict(model, task.inputs(examples, encoder, labels=labels, training=False), labels=labels)
    with pytest.raises(InputError, match="predictions for"):
        task.judge(predictions, examples.take(np.arange(5)))


@pytest.mark.parametrize("name", ["nli", "paraphrase", "ner"])
def test_a_label_the_head_does_not_have_is_refused(name, encoder):
    with pytest.raises(InputError, match=r"toy\..*:\d+: a (label|tag) that the model"):
        tasks[name].call().inputs(toy(name), encoder, labels=("O", "x"), training=True)


@pytest.mark.parametrize("name", TRAINED)
def test_the_head_is_drawn_by_the_seed_alone(name, encoder):
    task, labels = tasks[name].call(), tasks[name].call().labels(toy(name))
    state = torch.random.get_rng_state()
    one, same, other = (TaskModel.of(encoder, task, labels, seed=seed).head for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize(("name", "settings"), [("ner", {"overflow": "windw"}), ("qa", {"unanswered": "dorp"})])
def test_a_misspelled_setting_gets_the_nearest(name, settings):
    with pytest.raises(InputError, match="Did you mean"):
        tasks[name].call(**settings)


def test_retrieval_scores_every_layer_as_the_measure_does(encoder):
    corpus = ParallelCorpus.of(
        {"es": ["El grifo.", "La cocina.", "Vuelve a gotear."], "en": ["The tap.", "The kitchen.", "Leaking again."]}
    )
    task = Retrieval()
    scores = task.judge(task.predict(encoder, corpus), corpus)
    for layer in encoder.layers:
        sides = [torch.from_numpy(encoder.encode(corpus.column(code))[layer]) for code in ("es", "en")]
        expected = measure(*sides, similarities=["cosine"], centre=[False])
        for metric in ("mrr", "p@1"):
            assert scores[f"{metric}/layer {layer}"].value == expected[f"{metric}/cosine/raw"].value
            assert scores[f"{metric}/layer {layer}/backward"].value == expected[f"{metric}/cosine/raw/backward"].value
