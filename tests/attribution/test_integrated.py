from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from cases import ARCHITECTURES, Linear, case_of, linear_case, loaded
from interlingua.attribution.embedding_forward import _SAVED, EmbeddingForward, _budget
from interlingua.attribution.inputs import AttributionInput, Targets, of_texts
from interlingua.attribution.integrated_gradients import RULES, IntegratedGradients
from interlingua.encoder import Encoder
from interlingua.errors import InputError

CAPTUMS = {
    "gauss-legendre": "gausslegendre",
    "left": "riemann_left",
    "middle": "riemann_middle",
    "right": "riemann_right",
    "trapezoid": "riemann_trapezoid",
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return loaded(tmp_path_factory.mktemp("models") / "bert", "bert")


def by_captum(case: AttributionInput, number: int, *, rule: str, steps: int) -> np.ndarray:
    from captum.attr import LayerIntegratedGradients

    case.through.model.eval()
    row = np.array([case.targets.row[number]])
    batch = case.inputs.batch(row, case.through.device)
    ids = batch.pop("input_ids")
    nothing = torch.where(torch.isin(ids, torch.tensor(case.baseline.kept)), ids, case.inputs.pad)
    target = case.targets.take(np.array([number]))

    def forward(given: torch.Tensor) -> torch.Tensor:
        rest = {name: tensor.expand(len(given), *tensor.shape[1:]) for name, tensor in batch.items()}
        whole = {"input_ids": given, **rest}
        many = target.take(np.zeros(len(given), np.int64))
        return many.values(case.through.model(whole), whole, np.arange(len(given)))

    found = LayerIntegratedGradients(forward, case.through.table).attribute(
        ids, baselines=nothing, n_steps=steps, method=CAPTUMS[rule]
    )
    return found[0].sum(dim=-1).detach().double().numpy()


@pytest.mark.parametrize("rule", list(RULES))
def test_a_linear_model_is_attributed_in_closed_form_by_every_rule(rule: str) -> None:
    case = linear_case()
    model = case.through.model
    assert isinstance(model, Linear)
    found = IntegratedGradients(steps=3, rule=rule, tolerance=None)(case)
    for number in range(len(found)):
        ids = case.inputs.ids[case.inputs.starts[number] : case.inputs.starts[number + 1]]
        vectors = model.table.weight.detach().double()[ids]
        nothing = vectors.clone()
        nothing[1:-1] = model.table.weight.detach().double()[0]
        weight = model.weight.detach().double()[: len(ids), :, case.targets.label[number]]
        assert found[number] == pytest.approx(((vectors - nothing) * weight).sum(dim=1).numpy(), abs=1e-5)
    assert found.gap.max() < 1e-5


@pytest.mark.parametrize("task", ["nli", "ner", "qa"])
@pytest.mark.parametrize("scale", ["logit", "probability"])
def test_attributions_equal_captums_with_the_same_steps_and_baseline(bert: Encoder, task: str, scale: str) -> None:
    pytest.importorskip("captum")
    case = case_of(bert, task, scale=scale)
    found = IntegratedGradients(steps=20, tolerance=None)(case)
    for number in range(0, len(found), 5):
        assert found[number] == pytest.approx(by_captum(case, number, rule="gauss-legendre", steps=20), abs=1e-5)


@pytest.mark.parametrize("rule", list(RULES))
def test_every_rule_is_captums_of_that_name(bert: Encoder, rule: str) -> None:
    pytest.importorskip("captum")
    case = case_of(bert, "nli")
    case = replace(case, targets=case.targets.take(np.arange(3)))
    found = IntegratedGradients(steps=8, rule=rule, tolerance=None)(case)
    # Captum's weights of the trapezoid add up to 7/8.
    factor = 8 / 7 if rule == "trapezoid" else 1.0
    for number in range(len(found)):
        assert found[number] == pytest.approx(factor * by_captum(case, number, rule=rule, steps=8), abs=1e-5)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_is_complete_and_equals_captum(architecture: str, tmp_path: Path) -> None:
    encoder = loaded(tmp_path / "model", architecture)
    case = case_of(encoder, "ner")
    case = replace(case, targets=case.targets.take(np.arange(4)))
    found = IntegratedGradients()(case)
    assert found.gap.max() < 0.01
    assert np.abs(found.score - found.nothing).max() > 0.01
    pytest.importorskip("captum")
    same = IntegratedGradients(steps=12, tolerance=None)(case)
    for number in range(len(same)):
        wanted = by_captum(case, number, rule="gauss-legendre", steps=12)
        assert same[number] == pytest.approx(wanted, abs=1e-5)


def test_only_examples_above_the_tolerance_are_refined_and_the_others_stay_as_they_were(bert: Encoder) -> None:
    case = case_of(bert, "nli")
    rough = IntegratedGradients(steps=2, tolerance=None)(case)
    threshold = float(np.median(rough.gap))
    found = IntegratedGradients(steps=2, tolerance=threshold, most=64)(case)
    stays = rough.gap <= threshold
    assert (found.steps[stays] == 2).all()
    assert (found.steps[~stays] > 2).all()
    assert (found.gap <= threshold).all()
    for number in np.flatnonzero(stays):
        assert found[number] == pytest.approx(rough[number], abs=1e-12)


def test_steps_stop_at_the_most_and_the_gap_says_so(bert: Encoder) -> None:
    found = IntegratedGradients(steps=1, rule="left", tolerance=1e-9, most=4)(case_of(bert, "nli"))
    assert (found.steps == 4).all()
    assert (found.gap > 1e-9).all()


def test_the_gap_is_what_is_missing_to_the_difference_of_both_ends(bert: Encoder) -> None:
    case = case_of(bert, "nli")
    found = IntegratedGradients(steps=3, rule="right", tolerance=None)(case)
    for number in range(len(found)):
        change = found.score[number] - found.nothing[number]
        off = abs(found[number].sum() - change)
        assert found.gap[number] == pytest.approx(off / max(abs(change), np.abs(found[number]).sum()))


def test_what_is_batched_together_changes_nothing(bert: Encoder) -> None:
    case = case_of(bert, "nli")
    together = IntegratedGradients(steps=5, tolerance=None)(case)
    alone = replace(case, through=EmbeddingForward(case.through.model, budget=1))
    assert together.values == pytest.approx(IntegratedGradients(steps=5, tolerance=None)(alone).values, abs=1e-5)


def test_weights_modes_and_gradients_are_left_as_they_were(bert: Encoder) -> None:
    case = case_of(bert, "nli")
    model = case.through.model
    model.train()
    before = [weight.detach().clone() for weight in model.parameters()]
    IntegratedGradients(steps=2)(case)
    assert model.training
    assert all(weight.requires_grad and weight.grad is None for weight in model.parameters())
    assert all(torch.equal(left, right) for left, right in zip(before, model.parameters(), strict=True))
    assert not model.base_model.get_input_embeddings()._forward_hooks  # type: ignore[operator,union-attr]


def test_separators_are_their_own_baseline_and_have_no_attribution(bert: Encoder) -> None:
    case = case_of(bert, "nli")
    found = IntegratedGradients(steps=2)(case)
    assert (found.values[~case.changed] == 0).all()
    assert (np.abs(found.values[case.changed]) > 0).mean() > 0.9


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"rule": "gaus-legendre"}, "Did you mean 'gauss-legendre'"),
        ({"steps": 0}, "too few steps"),
        ({"steps": 1, "rule": "trapezoid"}, "at least 2"),
        ({"tolerance": 0.0}, "tolerance"),
    ],
)
def test_bad_settings_are_refused_at_once(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        IntegratedGradients(**settings)  # type: ignore[arg-type]


def test_a_label_the_head_does_not_have_and_a_head_of_another_kind_are_named(bert: Encoder) -> None:
    case = case_of(bert, "nli")
    with pytest.raises(InputError, match="It has 3"):
        IntegratedGradients()(replace(case, targets=of_texts(np.full(20, 3))))
    tokens = Targets(np.arange(20), np.zeros(20, np.int64), np.ones(20, np.int64))
    with pytest.raises(InputError, match="the head scores texts, and tokens are asked for"):
        IntegratedGradients()(replace(case, targets=tokens))


@pytest.mark.parametrize("free", [1 << 30, 12 << 30, 139 << 30])
def test_a_batch_takes_at_most_half_of_what_is_free_on_a_gpu_and_never_so_much_that_eight_could_not_share_it(
    bert: Encoder, monkeypatch: pytest.MonkeyPatch, free: int
) -> None:
    held = 1 << 28
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (free - held, 139 << 30))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: 3 * held)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _: 2 * held)
    model = case_of(bert, "nli").through.model
    monkeypatch.setattr(model.base_model.config, "num_hidden_layers", 12)
    monkeypatch.setattr(model.base_model.config, "hidden_size", 768)
    taken = _budget(model, torch.device("cuda"), 4) * _SAVED * 12 * 768 * 4
    assert taken <= min(free / 2, (139 << 30) / 8)
    assert taken > 0.99 * min(free / 2, 8 << 30)
    assert _budget(model, torch.device("cpu"), 4) == (1 << 30) // (_SAVED * 12 * 768 * 4)


def test_bf16_is_refused_on_a_cpu(bert: Encoder) -> None:
    with pytest.raises(InputError, match="slower"):
        EmbeddingForward(case_of(bert, "nli").through.model, precision="bf16")


@pytest.mark.gpu
def test_bf16_on_a_gpu_is_near_float32(bert: Encoder) -> None:
    case = case_of(bert, "nli")
    wanted = IntegratedGradients(steps=20, tolerance=None)(case)
    there = EmbeddingForward(case.through.model.to("cuda"), precision="bf16")
    vector = case.baseline.vector.to("cuda")
    found = IntegratedGradients(steps=20, tolerance=None)(
        replace(case, through=there, baseline=replace(case.baseline, vector=vector))
    )
    assert np.corrcoef(found.values, wanted.values)[0, 1] > 0.99
    assert np.median(found.gap) < 0.05


def test_what_a_rough_model_leaves_above_the_tolerance_is_done_by_the_exact_one(bert: Encoder) -> None:
    # A rough copy of the weights stands in for bfloat16, which a CPU is refused.
    case = case_of(bert, "nli")
    wanted = IntegratedGradients(steps=16)(case)
    rough = EmbeddingForward(case.through.model, budget=256)
    rough.precision, rough._quick = "bf16", copy.deepcopy(case.through.model).to(torch.bfloat16).float()
    near = IntegratedGradients(steps=16, tolerance=None)(replace(case, through=rough))
    assert near.score.tolist() == wanted.score.tolist()
    tolerance = float(np.median(near.gap))
    found = IntegratedGradients(steps=16, tolerance=tolerance)(replace(case, through=rough))
    assert (found.gap <= tolerance).all()
    again = near.gap > tolerance
    for number in range(len(found)):
        other = wanted if again[number] else near
        assert found[number] == pytest.approx(other[number], abs=1e-6)
