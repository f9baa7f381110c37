from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from cases import case_of, linear_case, loaded
from interlingua.attribution import NEEDS, attributions
from interlingua.attribution.embedding_forward import EmbeddingForward
from interlingua.attribution.inputs import BASELINES, Baseline
from interlingua.attribution.integrated_gradients import IntegratedGradients
from interlingua.attribution.methods import Occlusion, Random, Rollout
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from models import wordpiece

ALL = [entry.name for entry in attributions]
SIGNED = {"integrated", "gradient-input", "occlusion", "random"}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return loaded(tmp_path_factory.mktemp("models") / "bert", "bert")


def test_every_attribution_says_what_it_needs() -> None:
    assert {"integrated", "gradient-input", "saliency", "occlusion", "rollout", "random"} <= set(ALL)
    assert all(entry.needs in NEEDS for entry in attributions)


@pytest.mark.parametrize("task", ["nli", "ner", "qa"])
@pytest.mark.parametrize("name", ALL)
def test_every_attribution_gives_a_finite_value_for_every_token_of_every_target(
    bert: Encoder, name: str, task: str
) -> None:
    case = case_of(bert, task)
    found = attributions[name].call()(case)
    assert len(found) == len(case.targets)
    assert np.diff(found.starts).tolist() == case.inputs.lengths[case.targets.row].tolist()
    assert np.isfinite(found.values).all()
    assert found.values.any()
    assert np.isfinite(found.gap).all()
    assert (found.values < 0).any() == (name in SIGNED)


@pytest.mark.parametrize("name", ALL)
def test_every_attribution_is_the_same_twice_and_does_not_depend_on_what_it_is_batched_with(
    bert: Encoder, name: str
) -> None:
    case = case_of(bert, "nli")
    way = attributions[name].call()
    first, second = way(case), way(replace(case, through=EmbeddingForward(case.through.model, budget=1)))
    assert first.values == pytest.approx(second.values, abs=1e-5, rel=1e-5)


@pytest.mark.parametrize("name", sorted(set(ALL) - {"rollout", "random"}))
def test_a_token_the_model_does_not_read_gets_nothing(name: str) -> None:
    case = linear_case()
    case.through.model.weight.data[4] = 0  # type: ignore[union-attr,operator]
    found = attributions[name].call()(case)
    for number in range(len(found)):
        if len(found[number]) > 4:
            assert found[number][4] == pytest.approx(0, abs=1e-6)
            assert np.abs(found[number][1:4]).max() > 1e-3


def test_random_attributions_are_standard_normal_and_nothing_on_separators() -> None:
    case = linear_case()
    drawn = np.stack([Random(seed)(case).values for seed in range(30)])
    assert 0 < case.changed.sum() < len(case.changed)
    assert not drawn[:, ~case.changed].any()
    assert stats.kstest(drawn[:, case.changed].ravel(), "norm").pvalue > 0.01


def test_occlusion_of_a_linear_model_is_its_integrated_gradient() -> None:
    case = linear_case()
    assert Occlusion()(case).values == pytest.approx(IntegratedGradients()(case).values, abs=1e-4)


def test_rollout_shares_add_up_to_1_and_do_not_depend_on_the_label(bert: Encoder) -> None:
    case = case_of(bert, "nli")
    found = Rollout()(case)
    for number in range(len(found)):
        assert found[number].sum() == pytest.approx(1.0)
    other = replace(case, targets=replace(case.targets, label=1 - case.targets.label))
    assert Rollout()(other).values.tolist() == found.values.tolist()


def test_rollout_equals_the_product_of_attention_matrices(bert: Encoder) -> None:
    import torch

    case = case_of(bert, "ner")
    found = Rollout()(case)
    body = case.through.body
    body.set_attn_implementation("eager")
    for number in (0, 3):
        row = int(case.targets.row[number])
        batch = case.inputs.batch(np.array([row]), case.through.device)
        with torch.no_grad():
            weights = body.eval()(input_ids=batch["input_ids"], output_attentions=True).attentions
        whole = torch.eye(weights[0].shape[-1])
        for layer in weights:
            whole = (0.5 * layer[0].mean(dim=0) + 0.5 * torch.eye(len(whole))) @ whole
        assert found[number] == pytest.approx(whole[case.targets.position[number]].numpy(), abs=1e-6)
    body.set_attn_implementation("sdpa")


def test_rollout_to_a_head_on_the_mean_is_the_mean_over_tokens(bert: Encoder) -> None:
    import torch

    case = case_of(bert, "nli")
    first = Rollout()(case)
    case.through.model.head.pooling = "mean"  # type: ignore[union-attr]
    found = Rollout()(case)
    case.through.model.head.pooling = "first"  # type: ignore[union-attr]
    assert found.values.tolist() != first.values.tolist()
    body = case.through.body
    body.set_attn_implementation("eager")
    for number in (0, 2):
        row = int(case.targets.row[number])
        batch = case.inputs.batch(np.array([row]), case.through.device)
        given = {name: batch[name] for name in ("input_ids", "token_type_ids") if name in batch}
        with torch.no_grad():
            weights = body.eval()(**given, output_attentions=True).attentions
        whole = torch.eye(weights[0].shape[-1])
        for layer in weights:
            whole = (0.5 * layer[0].mean(dim=0) + 0.5 * torch.eye(len(whole))) @ whole
        assert found[number] == pytest.approx(whole.mean(dim=0).numpy(), abs=1e-6)
    body.set_attn_implementation("sdpa")


def test_rollout_of_a_model_without_attention_is_refused() -> None:
    with pytest.raises(InputError, match="no attention weights"):
        Rollout()(linear_case())


@pytest.mark.parametrize("name", list(BASELINES))
def test_every_baseline_keeps_separators_and_integrated_gradients_complete(bert: Encoder, name: str) -> None:
    case = case_of(bert, "nli", baseline=name)
    found = IntegratedGradients()(case)
    assert found.gap.max() < 0.01
    assert (found.values[~case.changed] == 0).all()


def test_baselines_are_the_vectors_their_names_say(bert: Encoder) -> None:
    case = case_of(bert, "nli")
    table = case.through.table.weight.detach()
    made = {name: Baseline.of(name, case.through, bert.tokenizer, kept=()).vector for name in BASELINES}
    assert made["padding"].tolist() == table[bert.tokenizer.pad_token_id].tolist()
    assert made["mask"].tolist() == table[bert.tokenizer.mask_token_id].tolist()
    assert not made["zero"].any()
    assert made["mean"].numpy() == pytest.approx(table.double().mean(dim=0).numpy(), abs=1e-6)


def test_unknown_names_and_a_missing_mask_token_are_told(bert: Encoder) -> None:
    from transformers import PreTrainedTokenizerFast

    case = case_of(bert, "nli")
    with pytest.raises(InputError, match="Did you mean 'padding'"):
        Baseline.of("pading", case.through, bert.tokenizer, kept=())
    plain = PreTrainedTokenizerFast(tokenizer_object=wordpiece(), pad_token="[PAD]")
    with pytest.raises(InputError, match="no mask token"):
        Baseline.of("mask", case.through, plain, kept=())
    with pytest.raises(InputError, match="Did you mean 'integrated'"):
        attributions["integratd"]


def test_a_user_file_adds_an_attribution(bert: Encoder, tmp_path: Path) -> None:
    from interlingua.registry import load

    path = tmp_path / "mine.py"
    path.write_text(
        "import numpy as np\n"
        "from interlingua.attribution import attributions\n"
        "from interlingua.attribution.integrated_gradients import attributions_without_path\n"
        "@attributions.register('even', needs='scores')\n"
        "class Even:\n"
        "    '''The same for all.'''\n"
        "    def __call__(self, case):\n"
        "        return attributions_without_path(case, np.ones(case.starts[-1]))\n",
        "utf-8",
    )
    load(path)
    assert (attributions["even"].call()(case_of(bert, "nli")).values == 1).all()
    del attributions._entries["even"]
