from __future__ import annotations

import copy
from itertools import combinations

import numpy as np
import pytest
import torch
from scipy import stats

import models
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.objectives.adjustment import Adjustment
from interlingua.objectives.anchor import Anchor
from interlingua.objectives.drift import Drift
from interlingua.tasks.ner import Ner
from interlingua.tasks.text_pairs import Nli
from interlingua.training.checkpoints import Checkpoint
from interlingua.training.journal import Journal, read_journal
from interlingua.training.loop import LoopSettings, Monitor, Term, train
from interlingua.training.pair_batches import PairBatches, PairPass
from interlingua.training.phases import Freeze, Lora, Phase, PhaseObjective
from interlingua.training.reference import reference
from interlingua.training.regime import ADJUST, NAMES, RunPaths, Stage, regime, train_stages, trainable
from interlingua.training.trainable import freeze_weights, with_adapters
from toys import make_toy

CPU = torch.device("cpu")
PLAIN = LoopSettings(4, 1e-3, weight_decay=0.0, clip=None)


@pytest.fixture
def toy(tmp_path):
    return make_toy(tmp_path / "toy", hidden_dropout_prob=0.1)


def terms(toy, *, kept=None):
    pairs = PairPass(PairBatches(toy.data, 4))
    made = [Term(1.0, Adjustment(pairs), "adjustment")]
    return made if kept is None else [*made, Term(1.0, Anchor(pairs, kept), "anchor")]


def test_rows_beside_a_task_are_padded_to_one_of_three_widths_and_others_to_few(toy):
    data, longest = toy.data, int(toy.data.lengths.max())
    every = [np.array(rows) for rows in combinations(range(len(data)), 2)]
    for few, most in ((True, 3), (False, -(-longest // 8))):
        widths = [data.width(rows, few=few) for rows in every]
        lengths = [int(data.lengths[[*rows, *rows + len(data)]].max()) for rows in every]
        assert all(length <= width for length, width in zip(lengths, widths, strict=True))
        assert len(set(widths)) <= most
        assert max(widths) < longest + 16


def test_rows_drawn_anew_are_uniform_the_same_by_seed_and_of_about_one_length(toy):
    data = toy.data
    batches = PairBatches(data, 4, seed=3, replacement=True, pooled=8)
    drawn = np.stack([batches.rows(step) for step in range(4000)])
    again = PairBatches(data, 4, seed=3, replacement=True, pooled=8)
    assert all(np.array_equal(drawn[step], again.rows(step)) for step in (0, 777, 3999, 5))
    counts = np.bincount(drawn.ravel(), minlength=len(data))
    assert stats.chisquare(counts).pvalue > 1e-4
    longest = np.maximum(data.lengths[: len(data)], data.lengths[len(data) :])
    alone = np.random.default_rng(0).integers(len(data), size=drawn.shape)
    assert longest[drawn].max(axis=1).mean() < longest[alone].max(axis=1).mean()
    assert stats.pearsonr(longest[drawn].mean(axis=1)[:-1], longest[drawn].mean(axis=1)[1:]).statistic < 0.1


def weights(model):
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def same(ours, theirs):
    return all(torch.equal(value, theirs[name]) for name, value in ours.items())


@pytest.mark.parametrize("freeze", [Freeze(embeddings=True), Freeze(blocks=2), Freeze(True, 1), Freeze(False, 3)])
def test_what_is_frozen_stays_to_the_bit_and_the_rest_moves(toy, freeze):
    before = weights(toy.model)
    with freeze_weights(toy.model, freeze):
        train(toy.model, terms(toy), PLAIN, device=CPU)
    moved = {name for name, value in weights(toy.model).items() if not torch.equal(value, before[name])}
    held = {f"bert.encoder.layer.{number}." for number in range(freeze.blocks)}
    held |= {"bert.embeddings."} if freeze.embeddings else set()
    assert not [name for name in moved if name.startswith(tuple(held))] or not held
    free = [f"bert.encoder.layer.{number}.output.dense.weight" for number in range(freeze.blocks, 3)]
    free += [] if freeze.embeddings else ["bert.embeddings.word_embeddings.weight"]
    assert set(free) <= moved
    assert all(weight.requires_grad for weight in toy.model.parameters())


@pytest.mark.parametrize("architecture", ["bert", "distilbert", "electra", "xlm-roberta", "modernbert", "t5", "qwen2"])
@pytest.mark.parametrize("layer", [0, 2])
def test_a_layer_up_to_which_all_is_frozen_does_not_hang_on_anything_that_is_trained(architecture, layer, tmp_path):
    model = Encoder.load(
        str(models.ARCHITECTURES[architecture](tmp_path / "model")), device="cpu"
    ).model.requires_grad_(True)
    ids = torch.tensor([[5, 6, 7, 8]])

    def reached():
        states = model(input_ids=ids, output_hidden_states=True).hidden_states
        return states[layer].requires_grad, states[layer + 1].requires_grad

    assert reached() == (True, True)
    with freeze_weights(model, Freeze(embeddings=True, blocks=layer)):
        assert reached() == (False, True)


def test_more_blocks_than_there_are_cannot_be_frozen(toy):
    with (
        pytest.raises(InputError, match=r"no such number of blocks: 4\. The model has 3"),
        freeze_weights(toy.model, Freeze(blocks=4)),
    ):
        pass


def test_merged_lora_is_the_unmerged_model_in_plain_weights(toy):
    pytest.importorskip("peft")
    names, attributes = set(toy.model.state_dict()), set(vars(toy.model.base_model))
    before = weights(toy.model)
    batch = toy.data.batch(torch.arange(3).numpy(), device=CPU)
    given = {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}
    with with_adapters(toy.model, Lora(rank=4, targets=("query", "value"))):
        with torch.no_grad():
            begun = toy.model.eval()(**given).logits
        trained = {name for name, weight in toy.model.base_model.named_parameters() if weight.requires_grad}
        assert trained
        assert all("lora_" in name for name in trained)
        train(toy.model, terms(toy), PLAIN, device=CPU)
        with torch.no_grad():
            unmerged = toy.model(**given).logits
    with torch.no_grad():
        merged = toy.model(**given).logits
    assert set(toy.model.state_dict()) == names
    assert set(vars(toy.model.base_model)) == attributes
    torch.testing.assert_close(merged, unmerged, atol=1e-5, rtol=1e-5)
    assert (merged - begun).abs().max() > 1e-4
    moved = {name for name, value in weights(toy.model).items() if not torch.equal(value, before[name])}
    assert moved == {name for name in names if name.endswith(("self.query.weight", "self.value.weight"))}
    assert all(weight.requires_grad for weight in toy.model.parameters())


@pytest.mark.parametrize("freeze", [Freeze(True, 2), Freeze(False, 5), Freeze(True, 0)])
def test_lora_trains_no_map_that_is_frozen_and_every_other(tmp_path, freeze):
    pytest.importorskip("peft")
    # Six blocks: of 20 names or more peft makes fewer, shorter ones, which must not reach into other blocks.
    model = (toy := make_toy(tmp_path / "toy", num_hidden_layers=6)).model
    before = weights(model)
    train_stages(model, [Stage("adjust", terms(toy), PLAIN, freeze, Lora(rank=2))], device=CPU)
    moved = {name for name, value in weights(model).items() if not torch.equal(value, before[name])}
    blocks = [f"bert.encoder.layer.{number}." for number in range(freeze.blocks, 6)]
    maps = {name for name in before if name.startswith(tuple(blocks)) and before[name].ndim == 2}
    assert len(maps) == 6 * (6 - freeze.blocks)
    assert moved == maps
    assert all(weight.requires_grad for weight in model.parameters())


def test_lora_without_a_map_that_is_not_frozen_is_refused_and_leaves_the_model_as_it_was(toy):
    pytest.importorskip("peft")
    before = weights(toy.model)
    with (
        pytest.raises(InputError, match=r"LoRA has no map to train: all are frozen: 18\. Freeze fewer blocks"),
        trainable(toy.model, Freeze(True, 3), Lora(), seed=0),
    ):
        pass
    assert same(before, weights(toy.model))
    assert all(weight.requires_grad for weight in toy.model.parameters())


def test_without_peft_lora_names_the_extra(toy, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(InputError, match=r"pip install 'interlingua\[peft\]'"), with_adapters(toy.model, Lora()):
        pass


def test_the_regimes_are_those_of_the_paper():
    def shape(name, **options):
        return [
            [(part.objective, part.weight, part.batch, part.replacement) for part in phase.parts]
            for phase in regime(name, task=Nli.defaults, **options).phases
        ]

    task, eq_1 = [("task", 1.0, 32, False)], [("adjustment", 1.0, 32, False), ("anchor", 1.0, 32, False)]
    eq_2 = [*task, ("adjustment", 0.01, 16, True), ("anchor", 0.01, 16, True)]
    assert shape("original") == [task]
    assert shape("adjusted") == [eq_1, task]
    assert shape("continual") == [eq_1, eq_2]
    assert shape("continual-code") == [eq_1, [*eq_2[:2], ("anchor", 1.0, 16, True)]]
    assert shape("joint") == [eq_2]
    assert set(NAMES) >= {"original", "adjusted", "continual", "joint"}
    adjust = ADJUST.settings(938, seed=7)
    assert (adjust.steps, adjust.warmup, adjust.seed) == (938, 94, 7)
    assert (adjust.betas, adjust.eps, adjust.clip, adjust.weight_decay) == ((0.9, 0.98), 1e-9, None, 0.0)
    assert {adjust.rate(step) for step in range(94, 938)} == {5e-5}
    fine = regime("original", task=Ner.defaults).phases[0].schedule.settings(100)
    assert (fine.steps, fine.rate(0), fine.rate(150)) == (300, 2e-5, pytest.approx(1e-5))
    with pytest.raises(InputError, match=r"unknown regime: 'continal'\. Did you mean 'continual'"):
        regime("continal")
    with pytest.raises(InputError, match="a regime with a task, and none was given"):
        regime("joint")
    with pytest.raises(InputError, match="nothing to train for"):
        Phase("empty", (), ADJUST)
    assert PhaseObjective("mlm").weight == 1.0


def stages(toy, original, steps=6):
    kept = reference(original, toy.data)
    settings = LoopSettings(steps, 1e-3, checkpoint_every=2)
    return [
        Stage("adjust", terms(toy, kept=kept), settings),
        Stage("again", [*terms(toy), Term(0.1, Drift.of(original))], settings, Freeze(blocks=1)),
    ]


def test_stopped_in_the_middle_of_phase_2_a_run_ends_with_the_weights_of_one_that_was_not(toy, tmp_path):
    whole = copy.deepcopy(toy.model)
    train_stages(whole, stages(toy, whole), device=CPU, place=RunPaths(tmp_path / "whole"))
    finished = []
    for stop in (0.0,) * 9 + (None,):  # One step at a time: phase 1 takes six of them.
        model = copy.deepcopy(toy.model)
        train_stages(model, stages(toy, model), device=CPU, place=RunPaths(tmp_path / "parts"), stop_after=stop)
        finished.append([Checkpoint(tmp_path / "parts" / name).finished_steps() for name in ("1-adjust", "2-again")])
    assert [6, 3] in finished
    assert finished[-1] == [6, 6]
    assert same(weights(whole), weights(model))
    for name in ("1-adjust", "2-again"):
        journals = [read_journal(tmp_path / run / f"{name}.jsonl") for run in ("whole", "parts")]
        assert journals[0] == journals[1]
        assert [line["step"] for line in journals[0]] == [1, 2, 3, 4, 5, 6]


def test_the_journal_has_the_loss_of_each_term_the_rate_and_the_norm_of_the_gradient(tmp_path):
    toy = make_toy(tmp_path / "still")
    kept = reference(toy.model, toy.data)
    plain = copy.deepcopy(toy.model).train()
    made = terms(toy, kept=kept)
    settings = LoopSettings(3, 1e-3, warmup=2, weight_decay=0.0, clip=None)
    train(toy.model, made, settings, device=CPU, journal=Journal(tmp_path / "steps.jsonl"))
    lines = read_journal(tmp_path / "steps.jsonl")
    assert [line["rate"] for line in lines] == [settings.rate(step) for step in range(3)]
    for term in made:
        term.objective.prepare(plain)
    losses = [term.objective.loss(plain, term.objective.batch(0, rank=0, world=1, device=CPU)) for term in made]
    sum(losses).backward()
    norm = torch.stack([w.grad.norm() for w in plain.parameters() if w.grad is not None]).norm()
    assert lines[0]["adjustment"] == pytest.approx(losses[0].item(), abs=1e-6)
    assert lines[0]["anchor"] == pytest.approx(losses[1].item(), abs=1e-6)
    assert lines[0]["loss"] == pytest.approx(sum(losses).item(), abs=1e-6)
    assert lines[0]["gradient_norm"] == pytest.approx(norm.item(), rel=1e-4)
    for line in lines[1:]:
        assert line["loss"] == pytest.approx(line["adjustment"] + line["anchor"], rel=1e-5)
        assert line["anchor"] > 0


def test_a_journal_cut_short_by_a_kill_is_mended(tmp_path):
    file = tmp_path / "steps.jsonl"
    file.write_text('{"step": 1}\n{"step": 2}\n{"step": 3}\n{"st', "utf-8")
    Journal(file).begin(2)
    assert read_journal(file) == [{"step": 1}, {"step": 2}]


def test_tensorboard_has_what_the_journal_has(toy, tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    journal = Journal(tmp_path / "steps.jsonl", tensorboard=tmp_path / "board")
    train(toy.model, terms(toy), PLAIN, device=CPU, journal=journal)
    board = EventAccumulator(str(tmp_path / "board")).Reload()
    shown = [(event.step, event.value) for event in board.Scalars("adjustment")]
    written = [(line["step"], line["adjustment"]) for line in read_journal(tmp_path / "steps.jsonl")]
    assert [step for step, _ in shown] == [1, 2, 3, 4]
    assert [value for _, value in shown] == pytest.approx([value for _, value in written], rel=1e-6)


def test_without_tensorboard_the_extra_is_named_at_once(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match=r"pip install 'interlingua\[tensorboard\]'"):
        Journal(tmp_path / "steps.jsonl", tensorboard=tmp_path)


class Scripted:
    """A monitor whose values are given, and which keeps the weights it saw."""

    def __init__(self, values):
        self.values, self.seen = list(values), []

    def __call__(self, model):
        self.seen.append(weights(model))
        return {"dev": self.values[len(self.seen) - 1]}


@pytest.mark.parametrize(("metric", "values", "best"), [("dev", [1, 5, 2, 5], 1), ("-dev", [3, 2, 0, 1], 2)])
def test_a_run_ends_with_the_weights_that_were_best(toy, tmp_path, metric, values, best):
    script = Scripted(values)
    settings = LoopSettings(8, 1e-3, best=metric)
    checkpoint = Checkpoint(tmp_path / "state")
    train(toy.model, terms(toy), settings, device=CPU, monitors=[Monitor(2, script)], checkpoint=checkpoint)
    assert same(script.seen[best], weights(toy.model))
    assert not same(script.seen[-1], weights(toy.model))
    again = make_toy(tmp_path / "again").model  # A finished run is not run again, and gives the same.
    train(again, terms(toy), settings, device=CPU, monitors=[Monitor(2, script)], checkpoint=checkpoint)
    assert same(script.seen[best], weights(again))
    assert len(script.seen) == 4


def test_a_run_stops_when_its_patience_is_at_an_end_also_after_it_was_stopped(toy, tmp_path):
    values = [1, 4, 3, 2, 9, 9]
    settings = LoopSettings(6, 1e-3, best="dev", patience=2, checkpoint_every=1)
    whole, script = copy.deepcopy(toy.model), Scripted(values)
    metrics = train(whole, terms(toy), settings, device=CPU, monitors=[Monitor(1, script)])
    assert [entry["dev"] for entry in metrics] == values[:4]
    assert same(script.seen[1], weights(whole))
    parts = Scripted(values)
    for _ in range(5):
        model = copy.deepcopy(toy.model)
        checkpoint = Checkpoint(tmp_path / "state")
        metrics = train(
            model, terms(toy), settings, device=CPU, monitors=[Monitor(1, parts)], checkpoint=checkpoint, stop_after=0.0
        )
    assert [entry["dev"] for entry in metrics] == values[:4]
    assert same(weights(whole), weights(model))


def test_settings_that_cannot_be_are_refused(toy):
    for settings, problem in (
        (LoopSettings(1, 1e-3, precision="fp8"), r"unknown training precision: 'fp8'\. Use fp32, bf16 or fp16"),
        (LoopSettings(1, 1e-3, precision="fp16"), "fp16 is for GPUs"),
        (LoopSettings(1, 1e-3, best="dev"), "nothing is measured to be best by"),
        (LoopSettings(1, 1e-3, patience=2), "patience is for a metric"),
    ):
        with pytest.raises(InputError, match=problem):
            train(toy.model, terms(toy), settings, device=CPU)
    with pytest.raises(InputError, match=r"no monitor measures this: 'dev'\. There are: step, loss"):
        train(
            toy.model,
            terms(toy),
            LoopSettings(1, 1e-3, best="dev"),
            device=CPU,
            monitors=[Monitor(1, lambda _: {"other": 1.0})],
        )


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_recorded_steps_are_those_that_are_not(tmp_path, precision):
    made = {}
    for graph in (False, True):
        toy = make_toy(tmp_path / f"toy-{graph}", rows=60)
        toy.model.to("cuda")
        kept = reference(toy.model, toy.data)
        settings = LoopSettings(40, 1e-3, clip=1.0, precision=precision, graph=graph)
        train(toy.model, terms(toy, kept=kept), settings, device=torch.device("cuda"))
        made[graph] = weights(toy.model)
    for name, value in made[False].items():
        torch.testing.assert_close(made[True][name], value, atol=2e-4, rtol=1e-3, msg=name)


@pytest.mark.gpu
def test_fp16_with_its_scaler_goes_on_as_if_never_stopped(toy, tmp_path):
    made = {}
    for name, stops in (("whole", [None]), ("parts", [0.0, 0.0, None])):
        for stop in stops:
            model = copy.deepcopy(toy.model)
            train(
                model,
                terms(toy),
                LoopSettings(6, 1e-3, precision="fp16"),
                device=torch.device("cuda"),
                checkpoint=Checkpoint(tmp_path / name),
                stop_after=stop,
            )
        made[name] = weights(model)
    assert same(made["whole"], made["parts"])
