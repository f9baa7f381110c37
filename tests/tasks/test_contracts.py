"""What every task of the registry promises."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.analyses.evaluation import read_posteriors, write_posteriors
from interlingua.analyses.transfer import TransferSettings, phases_of
from interlingua.corpus import ParallelCorpus
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.measures.retrieval import rank_scores, rankings
from interlingua.measures.retrieval import retrieval as measure
from interlingua.studies.compile.custom_regimes import own_regime
from interlingua.studies.config.schema import PartTable, PhaseTable, RegimeTable
from interlingua.tasks import tasks
from interlingua.tasks.predictions import round_probabilities
from interlingua.tasks.retrieval import Retrieval, TranslationRanks
from interlingua.training.task import FineTuning, TaskModel
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
def test_a_task_is_trained_as_its_defaults_say(name, monkeypatch):
    own = FineTuning(learning_rate=1e-3, epochs=7, batch=5)
    monkeypatch.setattr(tasks[name].call, "defaults", own)
    table = RegimeTable(phases=(PhaseTable(parts=(PartTable(objective="task"),)),))
    for phases in (
        phases_of("original", TransferSettings(), task=name, headless=False),
        own_regime("mine", table, task=name).phases,
    ):
        (phase,) = phases
        assert (phase.schedule.learning_rate, phase.schedule.epochs, phase.parts[0].batch) == (1e-3, 7, 5)


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
def test_the_posteriors_in_a_file_give_the_scores_again(name, encoder, tmp_path):
    task, examples = tasks[name].call(), toy(name)
    labels = task.labels(examples)
    model = TaskModel.of(encoder, task, labels, seed=0)
    inputs = task.inputs(examples, encoder, labels=labels, training=False)
    said = task.predict(model, inputs, labels=labels)
    file = tmp_path / "original-seed0.ru.npz"
    write_posteriors(file, {"ru:mlqa": said})
    (found,) = read_posteriors(file).values()
    if task.kind == "span":
        again = dataclasses.replace(said, spans=found["spans"])
        assert (found["probabilities"] > 0).all()
        assert (found["probabilities"] <= 1).all()
        size = 12 * len(examples)
    else:
        sure = found["probabilities"].astype(float)
        read = sure.any(axis=1)
        assert sure[read].sum(axis=1) == pytest.approx(1, abs=5e-3)
        again = dataclasses.replace(said, choice=np.where(read, sure.argmax(axis=1), -1))
        assert tuple(found["labels"].tolist()) == said.labels
        size = 2 * len(said.labels) * len(said.choice)
    assert sum(values.nbytes for what, values in found.items() if what != "labels") == size
    scores, wanted = task.judge(again, examples), task.judge(said, examples)
    assert {key: score.value for key, score in scores.items()} == {key: score.value for key, score in wanted.items()}


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_rounding_never_changes_which_label_is_first(seed):
    draw = np.random.default_rng(seed)
    close = 0.25 + draw.uniform(-1e-5, 1e-5, (40, 4))
    choice = close.argmax(axis=1)
    found = round_probabilities(close, choice)
    assert found.dtype == np.float16
    assert found.argmax(axis=1).tolist() == choice.tolist()
    assert np.abs(found - close).max() < 1e-3
    assert (close.astype(np.float16).argmax(axis=1) != choice).any()  # Else nothing was tried.


@pytest.mark.parametrize("name", NAMES)
def test_every_score_of_a_task_is_declared_and_one_is_its_headline(name, encoder):
    task, metrics = tasks[name].call(), tasks[name].metrics
    if name == "retrieval":
        corpus = ParallelCorpus.of({"ru": [f"a{k} b" for k in range(12)], "en": [f"c{k} d" for k in range(12)]})
        keys = {key for scores in task.by_layer(task.predict(encoder, corpus)).values() for key in scores}
    else:
        examples = toy(name)
        labels = task.labels(examples)
        model = TaskModel.of(encoder, task, labels, seed=0)
        inputs = task.inputs(examples, encoder, labels=labels, training=False)
        keys = set(task.judge(task.predict(model, inputs, labels=labels), examples))
    assert set(metrics.keys) == keys
    (first,) = (metric for metric in metrics if metric.headline)
    assert metrics.named(task.metric, of=name).metric is first


@pytest.mark.parametrize("name", TRAINED)
def test_predictions_are_computed_in_the_precision_that_is_asked_for(name, encoder):
    task, examples = tasks[name].call(), toy(name)
    labels = task.labels(examples)
    model = TaskModel.of(encoder, task, labels, seed=0)
    inputs = task.inputs(examples, encoder, labels=labels, training=False)
    kinds = []
    model.base_model.register_forward_hook(lambda *_: kinds.append(torch.is_autocast_enabled("cpu")))
    for precision, mixed in (("fp32", False), ("bf16", True), (None, False)):
        kinds.clear()
        task.predict(model, inputs, labels=labels, precision=precision)
        assert set(kinds) == {mixed}


@pytest.mark.gpu
def test_on_a_gpu_fp32_is_fp32_and_bf16_what_nobody_asked_about(still_folder):
    task, examples = tasks["nli"].call(), toy("nli")
    scores = {}
    for device, precision in (("cpu", "fp32"), ("cuda", "fp32"), ("cuda", "bf16"), ("cuda", None)):
        encoder = Encoder.load(str(still_folder), device=device, precision="fp32")
        model = TaskModel.of(encoder, task, task.known, seed=0)
        inputs = task.inputs(examples, encoder, labels=task.known, training=False)
        scores[device, precision] = task.predict(model, inputs, labels=task.known, precision=precision).scores
    assert scores["cuda", "fp32"] == pytest.approx(scores["cpu", "fp32"], abs=1e-5)
    assert np.abs(scores["cuda", "bf16"] - scores["cpu", "fp32"]).max() > 1e-4
    assert np.array_equal(scores["cuda", None], scores["cuda", "bf16"])


@pytest.mark.parametrize("name", TRAINED)
def test_predictions_for_other_examples_are_refused(name, encoder):
    task, examples = tasks[name].call(), toy(name)
    labels = task.labels(examples)
    model = TaskModel.of(encoder, task, labels, seed=0)
    predictions = task.predict(model, task.inputs(examples, encoder, labels=labels, training=False), labels=labels)
    with pytest.raises(InputError, match="predictions for"):
        task.judge(predictions, examples.take(np.arange(5)))


@pytest.mark.parametrize("name", ["nli", "paraphrase", "classification", "ner"])
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
        for metric, back in product(("mrr", "p@1"), ("", "/backward")):
            ours, theirs = scores[f"{metric}/layer {layer}{back}"], expected[f"{metric}/cosine/raw{back}"]
            assert (ours.value, ours.low, ours.high) == (theirs.value, theirs.low, theirs.high)
            assert ours.details.get("hubs") == theirs.details.get("hubs")


def test_an_interval_of_retrieval_counts_the_candidates_that_all_queries_share():
    draw = np.random.default_rng(0)
    meaning = draw.normal(size=(120, 12))
    sides = [torch.from_numpy(meaning + 0.7 * draw.normal(size=meaning.shape)).float() for _ in range(2)]
    way = torch.eye(12)[0]
    sides[0] += 1.5 * way
    sides[1][::40] = 0.3 * sides[1][::40] + 3 * way  # Hubs: near to all queries, which lie in one direction.
    both = rankings(*sides, ks=(1,))
    task = Retrieval()
    scores = task.judge(TranslationRanks({0: both[0]}, {0: both[1]}), ParallelCorpus.of({"es": ["a"], "en": ["b"]}))
    for metric in ("mrr", "p@1"):
        score = scores[f"{metric}/layer 0"]
        plain = rank_scores(both[0].ranks, ks=(1,))[metric]
        assert score.value == plain.value
        assert score.high - score.low > plain.high - plain.low
        assert score.details["hubs"][0] > 0
