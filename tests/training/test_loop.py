from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch

from interlingua.encoder.model_init import attention, init_masked_lm
from interlingua.objectives.mlm import MaskedLanguageModelling, SpecialTokens
from interlingua.training.checkpoints import Checkpoint
from interlingua.training.loop import LoopSettings, Monitor, Term, train
from interlingua.training.text import token_stream
from interlingua.training.tokenizer import SPECIAL, train_wordpiece

CPU = torch.device("cpu")
LENGTH = 24
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
SIZES = {
    "bert": SMALL,
    "electra": {**SMALL, "embedding_size": 16},
    "albert": {**SMALL, "embedding_size": 16},
    "modernbert": SMALL,
    "distilbert": {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64},
    "xlm-roberta": SMALL,
}


@pytest.fixture(scope="module")
def tokenizer(texts):
    return train_wordpiece({code: texts / "text" / f"{code}.txt" for code in ("en", "ru")}, vocabulary=500)


@pytest.fixture(scope="module")
def stream(texts, tokenizer, tmp_path_factory):
    files = {code: texts / "text" / f"{code}.txt" for code in ("en", "ru")}
    return token_stream(tokenizer, files, length=LENGTH, folder=tmp_path_factory.mktemp("stream"))


@pytest.fixture
def mlm(stream, tokenizer):
    special = SpecialTokens(2, 4, tokenizer.get_vocab_size(), len(SPECIAL))
    return MaskedLanguageModelling(stream, special, batch_size=6, length=LENGTH)


def still(config_keys: dict[str, object]) -> dict[str, object]:
    return {**config_keys, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


@pytest.mark.parametrize("architecture", SIZES)
def test_loss_at_masked_positions_is_the_loss_of_plain_transformers(architecture, mlm, tokenizer):
    model = init_masked_lm(architecture, SIZES[architecture], tokenizer, length=LENGTH, seed=0).eval()
    plain = copy.deepcopy(model)
    mlm.prepare(model)
    batch = mlm.batch(0, rank=0, world=1, device=CPU)
    labels = torch.full_like(batch["input_ids"], -100).scatter(1, batch["positions"], batch["labels"])
    expected = plain(input_ids=batch["input_ids"], attention_mask=torch.ones_like(labels), labels=labels).loss
    with attention(model, masked=False):
        found = mlm.loss(model, batch)
    assert found.item() == pytest.approx(expected.item(), abs=1e-6)
    found.backward()
    expected.backward()
    for (name, ours), theirs in zip(model.named_parameters(), plain.parameters(), strict=True):
        assert (ours.grad is None) == (theirs.grad is None), name
        if ours.grad is not None:
            torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-6, rtol=1e-4, msg=name)


def test_after_the_loss_the_model_answers_at_every_position_again(mlm, tokenizer):
    model = init_masked_lm("bert", SMALL, tokenizer, length=LENGTH, seed=0).eval()
    plain = copy.deepcopy(model)
    mlm.prepare(model)
    batch = mlm.batch(0, rank=0, world=1, device=CPU)
    mlm.loss(model, batch)
    assert torch.equal(model(batch["input_ids"]).logits, plain(batch["input_ids"]).logits)


@pytest.mark.parametrize("accumulate", [1, 2])
def test_steps_are_those_of_plain_torch(mlm, tokenizer, accumulate):
    model = init_masked_lm("bert", still(SMALL), tokenizer, length=LENGTH, seed=0)
    plain = copy.deepcopy(model).train()
    settings = LoopSettings(3, 1e-2, warmup=2, decay=0.5, weight_decay=0.1, clip=0.5, accumulate=accumulate)
    train(model, [Term(0.5, mlm)], settings, device=CPU)
    matrices = [w for w in plain.parameters() if w.ndim >= 2]
    others = [w for w in plain.parameters() if w.ndim < 2]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
        betas=settings.betas,
        eps=settings.eps,
    )
    for step, rate in enumerate([0.005, 0.01, 0.01 * (1 / 1.5)]):
        for group in optimizer.param_groups:
            group["lr"] = rate
        for part in range(accumulate):
            batch = mlm.batch(step * accumulate + part, rank=0, world=1, device=CPU)
            logits = plain(batch["input_ids"]).logits.gather(
                1, batch["positions"][..., None].expand(-1, -1, tokenizer.get_vocab_size())
            )
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())
            (0.5 * loss / accumulate).backward()
        torch.nn.utils.clip_grad_norm_(plain.parameters(), 0.5)
        optimizer.step()
        optimizer.zero_grad()
    for (name, ours), theirs in zip(model.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=2e-5, rtol=1e-4, msg=name)


def test_the_rate_warms_up_holds_and_decays_to_the_floor():
    settings = LoopSettings(100, 2.0, warmup=10, decay=0.4, floor=0.1)
    rates = np.array([settings.rate(step) for step in range(100)])
    np.testing.assert_allclose(rates[:10], 2.0 * np.arange(1, 11) / 10)
    np.testing.assert_allclose(rates[10:60], 2.0)
    np.testing.assert_allclose(rates[60:], 2.0 * (0.1 + 0.9 * (100 - np.arange(60, 100)) / 40))


def test_training_brings_the_loss_below_that_of_a_uniform_guess(mlm, tokenizer):
    model = init_masked_lm("bert", SMALL, tokenizer, length=LENGTH, seed=0)
    batch = mlm.batch(10**6, rank=0, world=1, device=CPU)

    def loss() -> float:
        undo = mlm.prepare(model.eval())
        value = mlm.loss(model, batch).item()
        undo()
        return value

    guess = math.log(tokenizer.get_vocab_size())
    assert loss() > guess - 0.05
    train(model, [Term(1.0, mlm)], LoopSettings(60, 1e-2, warmup=5), device=CPU)
    assert loss() < guess - 0.1


def test_a_run_stopped_and_resumed_has_the_weights_and_metrics_of_one_that_was_not(mlm, tokenizer, tmp_path):
    def run(place, stops):
        for stop in stops:
            model = init_masked_lm("bert", SMALL, tokenizer, length=LENGTH, seed=0)  # With dropout.
            monitor = Monitor(2, lambda now: {"norm": sum(w.norm().item() for w in now.parameters())})
            metrics = train(
                model,
                [Term(1.0, mlm)],
                LoopSettings(9, 1e-3, warmup=2, checkpoint_every=3),
                device=CPU,
                checkpoint=Checkpoint(tmp_path / place),
                monitors=[monitor],
                stop_after=stop,
            )
        return model, metrics

    whole, measured = run("whole", [None])
    parts, kept = run("parts", [0.0, 0.0, 0.0, None])  # 0 seconds: one step at a time.
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), parts.parameters(), strict=True))
    assert [{k: e[k] for k in ("step", "loss", "norm")} for e in kept] == [
        {k: e[k] for k in ("step", "loss", "norm")} for e in measured
    ]
    assert [entry["step"] for entry in kept] == [2, 4, 6, 8, 9]


def test_a_checkpoint_killed_between_its_renames_is_the_one_before(mlm, tokenizer, tmp_path, monkeypatch):
    import os

    model = init_masked_lm("bert", SMALL, tokenizer, length=LENGTH, seed=0)
    optimizer = torch.optim.AdamW(model.parameters())
    checkpoint = Checkpoint(tmp_path / "state")
    checkpoint.save(1, model, optimizer, [])
    real = os.rename
    for victim in range(2):  # Twice: a second kill must not take what the first left.
        calls = []

        def rename(source, target, calls=calls, victim=victim):
            calls.append(source)
            if len(calls) == 2 - victim:
                raise KeyboardInterrupt
            real(source, target)

        monkeypatch.setattr(os, "rename", rename)
        with pytest.raises(KeyboardInterrupt):
            checkpoint.save(2 + victim, model, optimizer, [])
        monkeypatch.setattr(os, "rename", real)
        assert checkpoint.load(model, optimizer) == (1, [])
    checkpoint.save(4, model, optimizer, [{"step": 4}])
    assert checkpoint.load(model, optimizer) == (4, [{"step": 4}])
    assert checkpoint.finished_steps() == 4


def test_a_loss_that_is_not_finite_stops_the_run(mlm, tokenizer):
    from interlingua.errors import InputError

    model = init_masked_lm("bert", SMALL, tokenizer, length=LENGTH, seed=0)
    with torch.no_grad():
        next(model.parameters()).fill_(torch.inf)
    with pytest.raises(InputError, match=r"the loss is not finite at step 1: nan\. Lower the learning rate"):
        train(model, [Term(1.0, mlm)], LoopSettings(1, 1e-3), device=CPU)
