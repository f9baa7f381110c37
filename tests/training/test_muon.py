from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import torch

import models
from interlingua.encoder.model_init import init_masked_lm
from interlingua.training.checkpoints import Checkpoint
from interlingua.training.loop import LoopSettings, _optimizer
from interlingua.training.muon import MuonAdamW, orthogonal

SHAPES = [(24, 24), (24, 24), (16, 40), (40, 16), (1, 12), (64, 8)]
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
# What stands between the embeddings and the vocabulary, by architecture: the part of a name that says so.
BETWEEN = {
    "bert": ("encoder.layer", "transform.dense"),
    "electra": ("encoder.layer", "embeddings_project", "generator_predictions.dense"),
    "modernbert": ("model.layers", "head.dense"),
    "xlm-roberta": ("encoder.layer", "lm_head.dense"),
}


def random_matrices(seed: int, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=draw).to(dtype) for shape in SHAPES]


def stepped(optimizer: torch.optim.Optimizer, weights: list[torch.Tensor], steps: int) -> None:
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 0.02 / (step + 1)
        for weight, gradient in zip(weights, random_matrices(100 + step, weights[0].dtype), strict=True):
            weight.grad = gradient
        optimizer.step()


def polynomial(values: np.ndarray) -> np.ndarray:
    for _ in range(5):
        values = 3.4445 * values - 4.7750 * values**3 + 2.0315 * values**5
    return values


@pytest.mark.parametrize("shape", sorted(set(SHAPES)))
def test_orthogonal_is_the_polynomial_of_the_singular_values(shape):
    matrix = np.random.default_rng(0).normal(size=(3, *shape))
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    expected = left * polynomial(values / np.linalg.norm(values, axis=1, keepdims=True))[:, None] @ right
    np.testing.assert_allclose(orthogonal(torch.from_numpy(matrix)).numpy(), expected, atol=1e-9)


@pytest.mark.parametrize("shape", [(32, 32), (16, 40), (40, 16)])
def test_orthogonal_is_near_the_polar_factor_with_singular_values_in_the_stated_range(shape):
    draw = np.random.default_rng(1)
    least = min(shape)
    left, right = (np.linalg.qr(draw.normal(size=(side, least)))[0] for side in shape)
    values = np.geomspace(0.006, 1.0, least)
    assert 0.002 < values[0] / np.linalg.norm(values) < 0.005
    matrix = left * values @ right.T
    found = orthogonal(torch.from_numpy(matrix)[None])[0].numpy()
    inner = left.T @ found @ right
    assert np.abs(inner - np.diag(inner.diagonal())).max() < 1e-9  # The same singular vectors.
    assert inner.diagonal().min() > 0.68
    assert inner.diagonal().max() < 1.21
    polar = scipy.linalg.polar(matrix)[0]
    assert np.linalg.norm(found - polar, 2) < 0.32  # The furthest singular value from 1.


def test_orthogonal_does_not_mind_the_size_of_a_matrix_and_leaves_zero_alone():
    matrix = torch.from_numpy(np.random.default_rng(2).normal(size=(1, 12, 20)))
    torch.testing.assert_close(orthogonal(1e-3 * matrix), orthogonal(1e3 * matrix), atol=1e-9, rtol=0)
    assert not orthogonal(torch.zeros(1, 4, 6)).any()


def test_orthogonal_in_bfloat16_is_the_one_of_torch():
    # From weights of zero, without momentum, one step of torch is its orthogonal factor, times the size of a step.
    gradients = random_matrices(0)
    for gradient in gradients:
        weight = torch.zeros_like(gradient)
        weight.grad = gradient
        torch.optim.Muon([weight], lr=1.0, momentum=0.0, weight_decay=0.0, adjust_lr_fn="match_rms_adamw").step()
        expected = -weight / (0.2 * max(gradient.shape) ** 0.5)
        found = orthogonal(gradient[None].bfloat16())[0].float()
        # Sums may be taken in another order: a few roundings of 2⁻⁹ of entries up to 1.
        torch.testing.assert_close(found, expected, atol=2**-7, rtol=0)


def test_steps_in_float32_are_those_of_torch_up_to_the_rounding_of_its_iteration():
    ours, theirs = random_matrices(0), random_matrices(0)
    stepped(MuonAdamW([{"params": ours, "muon": True, "weight_decay": 0.1}], lr=0.02), ours, 6)
    stepped(torch.optim.Muon(theirs, lr=0.02, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"), theirs, 6)
    for mine, other, before in zip(ours, theirs, random_matrices(0), strict=True):
        # Five rounds of three products, each rounded to 8 bits: √15 · 2⁻⁸ is 1.5 %, where the errors are independent.
        assert (mine - other).norm() < 0.015 * (other - before).norm()


def test_weight_decay_alone_shrinks_by_the_rate_times_the_decay():
    weights = random_matrices(0)
    optimizer = MuonAdamW([{"params": weights, "muon": True, "weight_decay": 0.3}], lr=0.5)
    for weight in weights:
        weight.grad = torch.zeros_like(weight)
    optimizer.step()
    for weight, before in zip(weights, random_matrices(0), strict=True):
        torch.testing.assert_close(weight, before * (1 - 0.5 * 0.3))


def test_the_other_groups_step_as_adamw_does():
    ours, theirs = random_matrices(0), random_matrices(0)
    options = {"betas": (0.9, 0.98), "eps": 1e-6}

    def groups(weights):
        return [{"params": weights[:3], "weight_decay": 0.1}, {"params": weights[3:], "weight_decay": 0.0}]

    stepped(MuonAdamW(groups(ours), lr=0.02, **options), ours, 6)
    stepped(torch.optim.AdamW(groups(theirs), lr=0.02, **options), theirs, 6)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, atol=1e-7, rtol=0)


def test_a_weight_without_a_gradient_stays_and_has_no_state():
    moved, still = torch.ones(3, 4), torch.ones(3, 4)
    moved.grad = torch.eye(3, 4)
    optimizer = MuonAdamW([{"params": [moved, still], "muon": True, "weight_decay": 0.1}], lr=0.02)
    optimizer.step()
    assert torch.equal(still, torch.ones(3, 4))
    assert set(optimizer.state) == {moved}


def test_a_checkpoint_puts_the_state_back_bit_for_bit(tmp_path):
    def fresh():
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(6, 10), torch.nn.LayerNorm(10), torch.nn.Linear(10, 4))
        return model, _optimizer(model, LoopSettings(8, 1e-2, optimizer="muon", weight_decay=0.1), on_device=False)

    def go(model, optimizer, steps):
        for step in steps:
            data = torch.randn(5, 6, generator=torch.Generator().manual_seed(step))
            model(data).square().sum().backward()
            optimizer.step()
            optimizer.zero_grad()

    whole, its = fresh()
    go(whole, its, range(8))
    first, its = fresh()
    go(first, its, range(3))
    Checkpoint(tmp_path / "state").save(3, first, its, [])
    second, its = fresh()
    assert Checkpoint(tmp_path / "state").load(second, its) == (3, [])
    go(second, its, range(3, 8))
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), second.parameters(), strict=True))
    assert {tuple(sorted(entry)) for entry in its.state.values()} == {("momentum",), ("exp_avg", "exp_avg_sq", "step")}


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("architecture", BETWEEN)
def test_muon_takes_the_matrices_between_embeddings_and_vocabulary_and_adamw_the_rest(architecture, tied):
    sizes = {**SMALL, "tie_word_embeddings": tied}
    if architecture == "electra":
        sizes["embedding_size"] = 16
    model = init_masked_lm(architecture, sizes, models.wordpiece(), length=24, seed=0)
    names = {id(weight): name for name, weight in model.named_parameters()}
    optimizer = _optimizer(model, LoopSettings(1, 1e-3, optimizer="muon", weight_decay=0.1), on_device=False)
    held = [(names[id(w)], w.ndim, group) for group in optimizer.param_groups for w in group["params"]]
    assert sorted(name for name, _, _ in held) == sorted(names.values())  # Each in one group, and in one alone.
    for name, ndim, group in held:
        between = any(part in name for part in BETWEEN[architecture])
        assert group["muon"] == (ndim == 2 and between), name
        assert group["weight_decay"] == (0.1 if ndim == 2 else 0.0), name
    vocabulary = model.config.vocab_size
    large = [w for group in optimizer.param_groups for w in group["params"] if vocabulary in w.shape and w.ndim == 2]
    assert len(large) == (1 if tied else 2)


def test_frozen_weights_are_in_no_group():
    model = init_masked_lm("bert", SMALL, models.wordpiece(), length=24, seed=0)
    model.bert.encoder.requires_grad_(False)
    optimizer = _optimizer(model, LoopSettings(1, 1e-3, optimizer="muon"), on_device=False)
    held = {id(weight) for group in optimizer.param_groups for weight in group["params"]}
    assert held == {id(weight) for weight in model.parameters() if weight.requires_grad}


def test_muon_reaches_a_lower_loss_on_a_linear_map_than_it_began_with():
    draw = torch.Generator().manual_seed(0)
    data, target = torch.randn(200, 12, generator=draw), torch.randn(12, 7, generator=draw)
    weight = torch.zeros(12, 7, requires_grad=True)
    optimizer = MuonAdamW([{"params": [weight], "muon": True}], lr=0.1)
    for step in range(200):
        optimizer.param_groups[0]["lr"] = 0.1 * (1 - step / 200)
        (data @ weight - data @ target).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    before = target.square().sum()
    assert (weight.detach() - target).square().sum() < 1e-3 * before


def test_an_untied_output_is_no_inner_weight_even_where_there_are_more_positions_than_words() -> None:
    from transformers import BertConfig, BertForMaskedLM

    from interlingua.training.loop import _inner

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24}
    model = BertForMaskedLM(BertConfig(vocab_size=40, max_position_embeddings=64, tie_word_embeddings=False, **sizes))
    inner = _inner(model)
    assert id(model.cls.predictions.decoder.weight) not in inner
    assert id(model.bert.encoder.layer[0].attention.self.query.weight) in inner
