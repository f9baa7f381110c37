"""Query, key and value by one product."""

import copy

import pytest
import torch
from transformers import AutoConfig, AutoModelForMaskedLM

from interlingua.encoder.fused_layers import joined_projections

SIZES = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}


def model(architecture: str) -> torch.nn.Module:
    torch.manual_seed(0)
    if architecture == "distilbert":
        config = AutoConfig.for_model(architecture, vocab_size=60, dim=32, n_layers=2, n_heads=2, hidden_dim=48)
    else:
        config = AutoConfig.for_model(architecture, **SIZES)
    return AutoModelForMaskedLM.from_config(config).eval()


@pytest.mark.parametrize("architecture", ["bert", "electra", "xlm-roberta", "distilbert"])
def test_joined_projections_give_the_same_outputs_and_gradients(architecture: str) -> None:
    plain = model(architecture)
    joined = copy.deepcopy(plain)
    ids = torch.randint(5, 60, (3, 9), generator=torch.Generator().manual_seed(1))
    expected = plain(input_ids=ids).logits
    expected.square().mean().backward()
    with joined_projections(joined) as places:
        found = joined(input_ids=ids).logits
        found.square().mean().backward()
    assert places == 2
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)
    for (name, ours), theirs in zip(joined.named_parameters(), plain.parameters(), strict=True):
        assert (ours.grad is None) == (theirs.grad is None), name
        if ours.grad is not None and theirs.grad is not None:
            torch.testing.assert_close(ours.grad, theirs.grad, rtol=0, atol=1e-6, msg=name)


def test_one_product_takes_the_place_of_three() -> None:
    net = model("bert")
    ids = torch.arange(5, 15)[None]

    def products() -> int:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen, torch.no_grad():
            net(input_ids=ids)
        return sum(event.count for event in seen.key_averages() if event.key == "aten::linear")

    before = products()
    with joined_projections(net):
        inside = products()
    assert before - inside == 2 * SIZES["num_hidden_layers"]
    assert products() == before


def test_each_projection_computes_its_own_where_inputs_differ() -> None:
    attention = model("bert").base_model.encoder.layer[0].attention.self
    one, other = torch.randn(2, 4, 32, generator=torch.Generator().manual_seed(2)).unbind()
    expected = attention.query(one), attention.key(other), attention.value(other)
    with joined_projections(attention):
        found = attention.query(one), attention.key(other), attention.value(other)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)
