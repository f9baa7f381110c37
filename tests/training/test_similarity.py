from __future__ import annotations

import copy
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch

from interlingua.errors import InputError
from interlingua.measures.cka import cka
from interlingua.measures.isotropy import isotropy
from interlingua.measures.retrieval import retrieval
from interlingua.measures.separation import separation
from interlingua.objectives.task import TaskObjective
from interlingua.tasks.ner import Ner
from interlingua.training.checkpoints import Checkpoint
from interlingua.training.journal import Journal, read_journal
from interlingua.training.loop import LoopSettings, Monitor, Term, train
from interlingua.training.monitors import (
    ENOUGH_ROWS,
    LEAST_ROWS,
    Budget,
    Sample,
    Similarities,
    cadence,
    curve,
    measured_share,
)
from interlingua.training.task import TaskModel
from toys import make_toy, sentences, toy

CPU = torch.device("cpu")


@pytest.fixture
def made(tmp_path):
    return make_toy(tmp_path / "toy", rows=20, hidden_dropout_prob=0.1)


@pytest.fixture
def texts():
    source, target, _ = sentences(20, seed=3)
    marked = [f"{one.text} , again !" for one in source]
    return {"en": [one.text for one in source], "xx": [one.text for one in target], "yy": marked}


def vectors(encoder, column, unit, layer):
    found = encoder.encode(list(column), unit=unit, layers=[layer])
    return torch.from_numpy(np.array(found[layer], np.float32))


@pytest.mark.parametrize("layer", [0, 2, 3])
def test_the_average_cosine_is_that_of_all_pairs_of_words_as_the_encoder_gives_them(made, texts, layer):
    found = Similarities.of(Sample.of(made.encoder, texts), made.model, layer=layer)
    assert found.average_cosines(made.model.eval()) == dict(found.begun)
    for code, column in texts.items():
        words = vectors(made.encoder, column, "word", layer)
        assert found.begun[f"cosine {code}"] == pytest.approx(isotropy(words)["average-cosine"].value, abs=1e-6)
        pairs = [torch.cosine_similarity(a, b, dim=0).item() for a, b in combinations(words, 2)]
        assert found.begun[f"cosine {code}"] == pytest.approx(np.mean(pairs), abs=1e-5)


def test_other_languages_beside_it_change_no_languages_value(made, texts):
    whole = Similarities.of(Sample.of(made.encoder, texts), made.model).begun
    for code, column in texts.items():
        alone = Similarities.of(Sample.of(made.encoder, {code: column}), made.model).begun
        assert alone[f"cosine {code}"] == pytest.approx(whole[f"cosine {code}"], abs=1e-6)


def test_alignment_is_that_of_the_measures_on_the_encoders_vectors(made, texts):
    texts = {code: column[:12] for code, column in texts.items()}  # No more words than CKA takes.
    similarities = Similarities.of(Sample.of(made.encoder, texts), made.model)
    begun = {code: vectors(made.encoder, column, "word", 3) for code, column in texts.items()}
    assert [similarities.alignment(pivot="en")[f"cka {code}"] for code in texts] == pytest.approx([1.0] * 3)
    with torch.no_grad():
        for weight in made.model.parameters():
            weight.add_(0.05 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)))
    found = similarities.alignment(made.model.eval(), pivot="en")
    rows = {code: vectors(made.encoder, column, "sentence", 3) for code, column in texts.items()}
    assert "retrieval en" not in found
    for code, column in texts.items():
        now = vectors(made.encoder, column, "word", 3)
        assert found[f"cka {code}"] == pytest.approx(cka(now, begun[code])["debiased"].value, abs=1e-4)
        if code != "en":
            ranked = retrieval(rows[code], rows["en"])["mrr/cosine/raw"].value
            assert found[f"retrieval {code}"] == pytest.approx(ranked)
            near = separation(rows[code], rows["en"])["auc/cosine"].value
            assert found[f"separation {code}"] == pytest.approx(near, abs=1e-6)


def test_a_row_that_does_not_fit_in_one_language_is_left_out_of_all_and_counted(made, texts):
    texts["xx"][2], texts["yy"][5] = "tap " * 300, "!!"
    sample = Sample.of(made.encoder, texts)
    assert len(sample) == 18
    assert [str(skip) for skip in sample.skipped] == [
        "1 row of a sample too long for the model",
        "1 row of a sample without words",
    ]
    kept = {code: [text for row, text in enumerate(column) if row not in (2, 5)] for code, column in texts.items()}
    again = Similarities.of(Sample.of(made.encoder, kept), made.model).begun
    assert again == Similarities.of(sample, made.model).begun


def test_samples_that_cannot_be_are_refused(made, texts):
    with pytest.raises(InputError, match="same rows in every language"):
        Sample.of(made.encoder, {"en": texts["en"], "xx": texts["xx"][:5]})
    with pytest.raises(InputError, match="fewer than four rows"):
        Sample.of(made.encoder, {code: column[:3] for code, column in texts.items()})


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("tokens", [40.0, 400.0, 4000.0, 40000.0])
def test_the_cadence_divides_the_span_and_keeps_to_its_share_where_it_can(made, texts, tokens, recorded):
    sample, budget = Sample.of(made.encoder, texts), Budget(400, tokens, recorded=recorded)
    found = cadence(sample, budget, span=50)
    assert 50 % found.every == 0 == found.coarse % found.every
    assert found.share <= 0.05 or (found.every, found.rows) == (50, LEAST_ROWS)
    assert LEAST_ROWS <= found.rows <= len(sample)
    # More rows, or measuring more often with rows enough, would leave nothing for the coarser cadence, or be too much.
    if found.share <= 0.05 and found.rows < len(sample):
        assert cadence(sample, budget, span=50, every=found.every, rows=found.rows + 1).share > 0.04
    if found.every > 1:
        nearer = max(k for k in (1, 2, 5, 10, 25) if k < found.every)
        rows = ENOUGH_ROWS if found.rows >= ENOUGH_ROWS else LEAST_ROWS
        assert cadence(sample, budget, span=50, every=nearer, rows=rows).share > 0.04
    fixed = cadence(sample, budget, span=50, every=1, rows=7)
    assert (fixed.every, fixed.rows) == (1, 7)


def test_a_reading_on_a_gpu_costs_a_step_at_least(made, texts):
    sample = Sample.of(made.encoder, texts)
    found = cadence(sample, Budget(400, 1e6, recorded=True), span=50, every=10, rows=4)
    # 41 readings, and as many coarse ones as 5 % of 400 steps has room for at a step and three languages' more: none.
    assert (found.coarse, found.share) == (400, pytest.approx((41 + 1 + 3) / 400))


class Run:
    """A small task, trained with or without being watched, in one go or a step at a time."""

    def __init__(self, made, texts, *, steps=12):
        examples, task = toy("ner"), Ner()
        labels = task.labels(examples)
        self.model = TaskModel.of(made.encoder, task, labels, seed=0)
        inputs = task.inputs(examples, made.encoder, labels=labels, training=True)
        self.term = Term(1.0, TaskObjective(task, inputs, 4), "task")
        self.sample = Sample.of(made.encoder, texts)
        self.similarities = Similarities.of(self.sample, self.model)
        self.steps, self.tokens = steps, float(inputs.lengths.mean()) * 4

    def __call__(self, plan=None, *, model=None, monitors=None, **options):
        model = copy.deepcopy(self.model) if model is None else model
        watching = monitors or (() if plan is None else self.similarities.monitors(plan, pivot="en"))
        settings = options.pop("settings", LoopSettings(self.steps, 1e-3, checkpoint_every=5))
        return model, train(model, [self.term], settings, device=CPU, monitors=watching, **options)

    def plan(self, **options):
        return cadence(self.sample, Budget(self.steps, self.tokens), span=6, **options)


@pytest.fixture
def run(made, texts):
    return Run(made, texts)


def test_being_watched_changes_no_weight(run):
    alone, _ = run()
    watched, metrics = run(replace(run.plan(every=1), coarse=5))
    assert all(torch.equal(a, b) for a, b in zip(alone.parameters(), watched.parameters(), strict=True))
    steps, values = curve(metrics, "cosine xx", run.similarities.begun["cosine xx"])
    assert steps == list(range(13))
    now = Similarities.of(run.sample, watched).begun
    assert values[-1] == now["cosine xx"]
    assert len(set(values)) == 13
    assert curve(metrics, "retrieval xx")[0] == [5, 10, 12]


def test_the_share_is_what_is_read_over_three_times_what_is_trained_on(run, made, texts):
    plan = run.plan(every=2, rows=9)
    assert plan.coarse == 12  # Beyond its share: at the end alone.
    sample = run.sample.first(plan.rows)
    seen = {True: 0, False: 0}

    def count(module, _, given):
        mask = given.get("attention_mask")
        seen[module.training] += int(given["input_ids"].numel() if mask is None else mask.sum())

    hook = run.model.base_model.register_forward_pre_hook(count, with_kwargs=True)
    similarities = Similarities.of(sample, run.model)
    begun = seen[False]
    run(model=run.model, monitors=similarities.monitors(plan, pivot="en"))
    hook.remove()
    # Before the first step all is read twice, of which once is counted: the rest serves every run. An epoch's mean
    # stands for the batches that were drawn.
    assert begun == 2 * sum(sample.lengths)
    assert seen[False] == sum(sample.lengths) * (2 + 6 + 1)
    assert plan.share == pytest.approx(sum(sample.lengths) * (1 + 6 + 1) / (3 * run.tokens * 12))
    assert plan.share == pytest.approx((seen[False] - begun / 2) / (3 * seen[True]), rel=0.05)


def test_a_run_stopped_again_and_again_ends_with_the_curve_and_journal_of_one_that_was_not(run, tmp_path):
    plan = run.plan(every=2)
    made = {}
    for name, stops in (("whole", [None]), ("parts", [0.0] * 5 + [None])):
        for stop in stops:
            journal = Journal(tmp_path / f"{name}.jsonl")
            _, metrics = run(plan, checkpoint=Checkpoint(tmp_path / name), journal=journal, stop_after=stop)
        made[name] = (
            [{key: value for key, value in entry.items() if "second" not in key} for entry in metrics],
            read_journal(tmp_path / f"{name}.jsonl"),
        )
    assert made["whole"] == made["parts"]
    assert [line["step"] for line in made["whole"][1]] == list(range(1, 13))


def test_measuring_every_step_saves_and_flushes_no_more_often(run, tmp_path, monkeypatch):
    calls = []
    for kind, name in ((Checkpoint, "save"), (Journal, "flush")):
        own = getattr(kind, name)
        monkeypatch.setattr(kind, name, lambda *a, own=own, name=name, **k: (calls.append(name), own(*a, **k))[1])
    for plan in (None, run.plan(every=1)):
        calls.clear()
        where = tmp_path / str(plan is None)
        run(plan, checkpoint=Checkpoint(where), journal=Journal(tmp_path / f"{where.name}.jsonl"))
        assert sorted(calls) == ["flush"] * 3 + ["save"] * 3  # After steps 5, 10 and 12.
        assert len(read_journal(tmp_path / f"{where.name}.jsonl")) == 12


def test_the_best_weights_are_chosen_where_their_metric_was_measured(run):
    values = iter([1.0, 3.0, 2.0, 0.0])
    kept = []

    def dev(model):
        kept.append(copy.deepcopy(model.state_dict()))
        return {"dev": next(values)}

    often = run.similarities.monitors(run.plan(every=1), pivot="en")[0]
    settings = LoopSettings(12, 1e-3, best="dev", patience=2)
    model, metrics = run(monitors=(often, Monitor(3, dev)), settings=settings)
    assert [entry["step"] for entry in metrics] == list(range(1, 13))
    assert all(torch.equal(value, kept[1][name]) for name, value in model.state_dict().items())


def test_a_metric_that_no_monitor_has_is_told_where_all_have_measured(run):
    often = run.similarities.monitors(run.plan(every=1), pivot="en")[0]
    with pytest.raises(InputError, match="no monitor measures this: 'dve'"):
        run(monitors=(often, Monitor(3, lambda _: {"dev": 1.0})), settings=LoopSettings(12, 1e-3, best="dve"))


def test_the_measured_share_is_of_the_seconds_of_training():
    metrics = [
        {"step": 10, "steps_per_second": 5.0, "seconds in monitors: cosine": 0.1},
        {
            "step": 30,
            "steps_per_second": 10.0,
            "seconds in monitors: cosine": 0.1,
            "seconds in monitors: alignment": 0.2,
        },
    ]
    assert measured_share(metrics) == pytest.approx(0.4 / 4.0)
    assert measured_share([]) == 0.0


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_recorded_steps_are_watched_as_those_that_are_not(made, texts, precision):
    found = {}
    for graph in (False, True):
        own = copy.deepcopy(made)
        own.encoder.model.to("cuda")
        examples, task = toy("ner"), Ner()
        labels = task.labels(examples)
        model = TaskModel.of(own.encoder, task, labels, seed=0).to("cuda")
        inputs = task.inputs(examples, own.encoder, labels=labels, training=True)
        sample = Sample.of(own.encoder, texts)
        similarities = Similarities.of(sample, model, precision=precision)
        plan = cadence(sample, Budget(40, 100.0), span=10, every=1)
        metrics = train(
            model,
            [Term(1.0, TaskObjective(task, inputs, 20, fixed=True), "task")],
            LoopSettings(40, 1e-3, precision=precision, graph=graph),
            device=torch.device("cuda"),
            monitors=similarities.monitors(plan, pivot="en"),
        )
        found[graph] = np.array([curve(metrics, f"cosine {code}")[1] for code in texts])
        assert (
            np.abs(found[graph][:, -1] - [similarities.average_cosines(model)[f"cosine {c}"] for c in texts]).max() == 0
        )
    assert np.abs(np.diff(found[True], axis=1)).min() > 0
    np.testing.assert_allclose(found[True], found[False], atol=5e-3)
