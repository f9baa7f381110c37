from __future__ import annotations

import copy

import pytest
import torch

from interlingua.encoder.model_init import attention, init_masked_lm
from interlingua.objectives.mlm import MaskedLanguageModelling, SpecialTokens
from interlingua.training.checkpoints import Checkpoint
from interlingua.training.loop import Bf16Module, LoopSettings, Monitor, Term, _Sum, train
from interlingua.training.text import token_stream
from interlingua.training.tokenizer import SPECIAL, train_wordpiece

CPU = torch.device("cpu")
LENGTH = 24
SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
SIZES = {"bert": SMALL, "electra": {**SMALL, "embedding_size": 16}, "xlm-roberta": SMALL}


@pytest.fixture(scope="module")
def tokenizer(texts):
    return train_wordpiece({code: texts / "text" / f"{code}.txt" for code in ("en", "ru")}, vocabulary=500)


@pytest.fixture
def mlm(texts, tokenizer, tmp_path):
    files = {code: texts / "text" / f"{code}.txt" for code in ("en", "ru")}
    stream = token_stream(tokenizer, files, length=LENGTH, folder=tmp_path)
    special = SpecialTokens(2, 4, tokenizer.get_vocab_size(), len(SPECIAL))
    return MaskedLanguageModelling(stream, special, batch_size=16, length=LENGTH)


def gradients(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None}


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("architecture", SIZES)
def test_the_loss_in_bf16_is_that_of_the_model_in_bf16_and_its_gradients_are_near_those_in_fp32(
    architecture, together, mlm, tokenizer
):
    model = init_masked_lm(architecture, SIZES[architecture], tokenizer, length=LENGTH, seed=0)
    exact, half = copy.deepcopy(model), copy.deepcopy(model).to(torch.bfloat16)
    batch = mlm.batch(0, rank=0, world=1, device=CPU)
    for each in (model, exact, half):
        mlm.prepare(each)
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    loss = Bf16Module(_Sum(model, [Term(1.0, mlm)]), together=together)([batch])
    assert loss.dtype == torch.float32
    assert loss.item() == mlm.loss(half, batch).item()
    loss.backward()
    mlm.loss(exact, batch).backward()
    found, expected = gradients(model), gradients(exact)
    assert set(found) == set(expected)
    assert {gradient.dtype for gradient in found.values()} == {torch.float32}
    # A tied weight has one gradient, of both its uses.
    total = torch.cat([expected[name].flatten() for name in sorted(expected)])
    error = torch.cat([(found[name] - expected[name]).flatten() for name in sorted(expected)])
    assert 0 < error.norm() < 0.03 * total.norm()
    for name, weight in model.named_parameters():
        assert weight.dtype == torch.float32
        assert torch.equal(weight, before[name]), name


def test_copies_made_together_are_those_made_one_by_one_and_what_is_frozen_or_unused_gets_no_gradient(mlm, tokenizer):
    made = []
    for together in (False, True):
        model = init_masked_lm("electra", SIZES["electra"], tokenizer, length=LENGTH, seed=0)
        model.register_parameter("unused", torch.nn.Parameter(torch.ones(3)))
        for name, weight in model.named_parameters():
            weight.requires_grad_("embeddings" not in name)
        mlm.prepare(model)
        loss = Bf16Module(_Sum(model, [Term(1.0, mlm)]), together=together)([mlm.batch(0, rank=0, world=1, device=CPU)])
        loss.backward()
        made.append((loss.item(), gradients(model)))
    (one, ours), (all_at_once, theirs) = made
    assert one == all_at_once
    assert set(ours) == set(theirs)
    assert ours
    assert not any("embeddings" in name or name == "unused" for name in ours)
    assert all(torch.equal(gradient, theirs[name]) for name, gradient in ours.items())


def test_weights_and_state_of_a_run_in_bf16_stay_in_fp32(mlm, tokenizer, tmp_path):
    model = init_masked_lm("electra", SIZES["electra"], tokenizer, length=LENGTH, seed=0)
    settings = LoopSettings(3, 1e-3, precision="bf16", optimizer="muon")
    train(model, [Term(1.0, mlm)], settings, device=CPU, checkpoint=Checkpoint(tmp_path / "state"))
    from safetensors.torch import load_file

    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    # Steps smaller than the spacing of bfloat16 are kept.
    assert any(not torch.equal(weight, weight.bfloat16().float()) for weight in model.parameters())
    state = load_file(tmp_path / "state" / "optimizer.safetensors")
    assert {tensor.dtype for tensor in state.values()} == {torch.float32}


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_run_stopped_and_resumed_has_the_weights_of_one_that_was_not(mlm, tokenizer, tmp_path, optimizer, precision):
    def run(place, stops):
        for stop in stops:
            model = init_masked_lm("electra", SIZES["electra"], tokenizer, length=LENGTH, seed=0)
            metrics = train(
                model,
                [Term(1.0, mlm)],
                LoopSettings(6, 2e-3, weight_decay=0.1, optimizer=optimizer, precision=precision, checkpoint_every=2),
                device=CPU,
                checkpoint=Checkpoint(tmp_path / place),
                monitors=[Monitor(1, lambda _: {})],
                stop_after=stop,
            )
        return model, [entry["loss"] for entry in metrics]

    whole, losses = run("whole", [None])
    parts, kept = run("parts", [0.0, 0.0, None])
    assert losses == kept
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), parts.parameters(), strict=True))


@pytest.fixture
def own_device():
    """accelerate keeps the device of the first run in a process for all that follow."""
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(reset_partial_state=True)
    yield
    AcceleratorState._reset_state(reset_partial_state=True)


@pytest.mark.gpu
@pytest.mark.usefixtures("own_device")
@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_recorded_step_does_what_the_step_does_and_resumes(mlm, tokenizer, tmp_path, monkeypatch, optimizer):
    from interlingua.training import cuda_graph, loop

    replays = []
    replay = torch.cuda.CUDAGraph.replay
    monkeypatch.setattr(torch.cuda.CUDAGraph, "replay", lambda graph: (replays.append(1), replay(graph))[1])

    def run(place, stops):
        for stop in stops:
            torch._dynamo.reset()
            model = init_masked_lm("electra", SIZES["electra"], tokenizer, length=LENGTH, seed=0)
            with attention(model, masked=False):
                metrics = train(
                    model,
                    [Term(1.0, mlm)],
                    LoopSettings(
                        12, 1e-3, warmup=4, precision="bf16", compile=True, optimizer=optimizer, checkpoint_every=5
                    ),
                    device=torch.device("cuda"),
                    checkpoint=Checkpoint(tmp_path / place),
                    monitors=[Monitor(1, lambda _: {})],
                    stop_after=stop,
                )
        return [entry["loss"] for entry in metrics]

    recorded = run("recorded", [None])
    assert len(replays) == 12 - cuda_graph._FIRST
    resumed = run("resumed", [0.0, 0.0, None])  # One step, another, and the rest: recorded anew after it goes on.
    assert len(replays) == 2 * (12 - cuda_graph._FIRST) - 2
    monkeypatch.setattr(loop, "CudaGraphStep", lambda update: update)
    plain = run("plain", [None])
    assert len(replays) == 2 * (12 - cuda_graph._FIRST) - 2
    assert recorded == pytest.approx(plain, abs=1e-3)
    assert resumed == pytest.approx(plain, abs=1e-3)
    assert recorded[0] != pytest.approx(recorded[-1], abs=1e-2)  # Something is learnt, so the steps were taken.
