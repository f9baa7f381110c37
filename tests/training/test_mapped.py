from __future__ import annotations

import numpy as np
import pytest
import torch

from interlingua.errors import InputError
from interlingua.measures.procrustes import fit_rotation_map
from interlingua.training.checkpoints import Checkpoint
from interlingua.training.forward import map_head, map_states
from interlingua.training.monitors import WordDistances
from toys import make_toy

CPU = torch.device("cpu")


class TaskModel(torch.nn.Module):
    """A body and a head, as a task's model has them."""

    def __init__(self, body, head):
        super().__init__()
        self.base_model, self.head = body, head

    def forward(self, batch):
        return self.head(self.base_model(**batch).last_hidden_state[:, 0])


@pytest.mark.parametrize("normalise", [False, True])
def test_a_head_answers_for_a_rotated_language_as_for_its_own(tmp_path, normalise):
    """The target language is English rotated and moved: the map undoes it, and the head never sees a difference."""
    toy = make_toy(tmp_path / "toy")
    body, generator = toy.model.base_model.eval(), torch.Generator().manual_seed(0)
    model = TaskModel(body, torch.nn.Linear(32, 3)).eval()
    rotation, _ = torch.linalg.qr(torch.randn(32, 32, generator=generator))
    moved = torch.zeros(32) if normalise else torch.randn(32, generator=generator)
    batch = {"input_ids": torch.randint(5, 60, (40, 6), generator=generator)}
    with torch.no_grad():
        english = model(batch)
        states = body(**batch).last_hidden_state.reshape(-1, 32)
        fitted = fit_rotation_map(states @ rotation + moved, states, normalise=normalise)

        def turn(_, __, output):
            output["last_hidden_state"] = output["last_hidden_state"] @ rotation + moved
            return output

        hook = body.register_forward_hook(turn)
        without = model(batch)
        with map_head(model, fitted):
            found = model(batch)
        assert torch.equal(model(batch), without)
        hook.remove()
    torch.testing.assert_close(found, english, atol=1e-4, rtol=1e-4)
    assert (without - english).abs().max() > 0.1


def test_states_keep_their_shape_and_a_map_of_another_width_is_refused(tmp_path):
    toy = make_toy(tmp_path / "toy")
    rows = torch.randn(50, 8, generator=torch.Generator().manual_seed(0))
    assert map_states(rows.view(5, 10, 8).half(), fit_rotation_map(rows, rows)).shape == (5, 10, 8)
    with (
        pytest.raises(InputError, match="the map is of another width"),
        map_head(toy.model, fit_rotation_map(rows, rows)),
    ):
        pass


def test_distances_are_those_of_vectors_made_one_text_at_a_time(tmp_path):
    toy = make_toy(tmp_path / "toy", rows=20)
    toy.model.eval()
    scores = WordDistances(toy.data, 2)(toy.model)
    apart = []
    for row, s, t in zip(toy.links.row, toy.links.source, toy.links.target, strict=True):
        sides = []
        for sentence, word in ((toy.source[row], s), (toy.target[row], t)):
            given = toy.encoder.encode([sentence.text], unit="word", layers=[2])
            sides.append(given[2][word])
        apart.append(np.linalg.norm(sides[0] - sides[1]))
    assert scores["distance/related/l2"].n == len(toy.links)
    assert scores["distance/related/l2"].value == pytest.approx(float(np.mean(apart)), rel=1e-5)
    np.testing.assert_allclose(scores["distance/related/l2"].items, apart, rtol=1e-4)
    few = WordDistances(toy.data, 2, most=30)(toy.model)
    assert few["distance/related/l2"].n == 30
    assert set(np.round(few["distance/related/l2"].items, 4)) <= set(np.round(scores["distance/related/l2"].items, 4))


def test_any_checkpoint_of_a_run_can_be_measured(tmp_path):
    toy = make_toy(tmp_path / "toy")
    measure = WordDistances(toy.data)
    checkpoint = Checkpoint(tmp_path / "state")
    now = measure(toy.model)["distance/related/l2"].value
    checkpoint.save(3, toy.model, torch.optim.AdamW(toy.model.parameters()), [])
    other = make_toy(tmp_path / "other", seed=1).model
    assert measure(other)["distance/related/l2"].value != pytest.approx(now)
    checkpoint.load_weights(other)
    assert measure(other)["distance/related/l2"].value == pytest.approx(now)
    assert set(measure.monitor(5).measure(other)) == {"related", "unrelated", "auc"}
    with pytest.raises(InputError, match="no state of a run is here"):
        Checkpoint(tmp_path / "none").load_weights(other)
