from __future__ import annotations

import pytest
import torch

import models
from interlingua.training.forward import Forward


@pytest.mark.parametrize("architecture", [name for name in models.ARCHITECTURES if name not in ("t5", "marian")])
def test_a_pass_that_stops_gives_the_layers_of_one_that_does_not(architecture, tmp_path):
    from transformers import AutoModel

    model = AutoModel.from_pretrained(models.ARCHITECTURES[architecture](tmp_path / "model")).eval()
    batch = {
        "input_ids": torch.randint(5, 60, (3, 7), generator=torch.Generator().manual_seed(0)),
        "attention_mask": torch.tensor([[1] * 7, [1] * 5 + [0] * 2, [1] * 2 + [0] * 5]),
    }
    with torch.no_grad():
        states = model(**batch, output_hidden_states=True).hidden_states
        for layers in ([0], [1], [2], [3], [1, 2], [0, 2], [-1, 1]):
            forward = Forward(model, layers)
            found = forward(model, batch)
            assert forward.stops == (max(forward.layers) < 3), layers
            for layer, hidden in found.items():
                assert torch.equal(hidden, states[layer]), (layers, layer)
        assert torch.equal(model(**batch, output_hidden_states=True).hidden_states[-1], states[-1])


def test_blocks_above_the_layer_are_not_run(tmp_path):
    from transformers import AutoModel

    model = AutoModel.from_pretrained(models.bert(tmp_path / "model")).eval()
    forward = Forward(model, [1])
    ran = []
    for number, block in enumerate(model.encoder.layer):
        block.register_forward_pre_hook(lambda *_, number=number: ran.append(number))
    forward(model, {"input_ids": torch.tensor([[2, 7, 3]])})
    assert ran == [0]
