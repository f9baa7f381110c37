"""What every objective of the registry promises, and every regime."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.objectives import objectives
from interlingua.objectives.mlm import SpecialTokens
from interlingua.objectives.task import TaskObjective
from interlingua.tasks import tasks
from interlingua.training.loop import LoopSettings, Term, train
from interlingua.training.pair_batches import PairBatches, PairPass
from interlingua.training.reference import reference
from interlingua.training.regime import NAMES, regime
from interlingua.training.regime_names import SUMMARIES
from interlingua.training.task import TaskModel
from interlingua.training.text import TokenStream
from toys import Toy
from toys import toy as examples_of

CPU = torch.device("cpu")
Made = tuple[Any, torch.nn.Module]


def _pairs(toy: Toy) -> PairPass:
    return PairPass(PairBatches(toy.data, 6, seed=3))


def _mlm(toy: Toy) -> Made:
    size = toy.model.get_input_embeddings().weight.shape[0]
    edges = np.array([0, 300, 500])
    ids = np.random.default_rng(0).integers(5, size, edges[-1]).astype(np.uint16)
    starts = [np.arange(low, high - 15) for low, high in pairwise(edges)]
    begin = np.cumsum([0, *map(len, starts)])
    stream = TokenStream(ids, np.concatenate(starts), begin, edges, ("a", "b"))
    special = SpecialTokens(cls=2, mask=4, vocabulary=size, first_ordinary=5)
    return objectives["mlm"].call(stream, special, batch_size=4, length=16, seed=3), toy.model


def _task(toy: Toy) -> Made:
    encoder = Encoder.of(toy.model.base_model, toy.encoder.tokenizer, name="tiny")
    task, examples = tasks["ner"].call(), examples_of("ner")
    labels = task.labels(examples)
    inputs = task.inputs(examples, encoder, labels=labels, training=True)
    return TaskObjective(task, inputs, batch_size=6, seed=3), TaskModel.of(encoder, task, labels, seed=0)


MAKE: dict[str, Callable[[Toy], Made]] = {
    "adjustment": lambda toy: (objectives["adjustment"].call(_pairs(toy)), toy.model),
    "anchor": lambda toy: (objectives["anchor"].call(_pairs(toy), _moved(toy)), toy.model),
    "contrastive": lambda toy: (objectives["contrastive"].call(_pairs(toy)), toy.model),
    "drift": lambda toy: (_drift(toy), toy.model),
    "mlm": _mlm,
    "task": _task,
}
"""An objective of each name with a model it trains; a new one is made here, or these tests say so."""


def _moved(toy: Toy) -> Any:
    """What the model was before it moved a little, so that there is something to hold on to."""
    kept = reference(toy.model, toy.data)
    _move(toy.model)
    return kept


def _drift(toy: Toy) -> Any:
    drift: Any = objectives["drift"].call
    held = drift.of(toy.model)
    _move(toy.model)
    return held


def _move(model: torch.nn.Module) -> None:
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.01 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(0)))


def test_every_objective_is_under_contract():
    assert {entry.name for entry in objectives} == set(MAKE)
    with pytest.raises(InputError, match="Did you mean 'adjustment'"):
        objectives["adjustmnt"]


@pytest.mark.parametrize("name", MAKE)
def test_a_loss_is_one_finite_number_with_a_gradient(name, toy):
    objective, model = MAKE[name](toy)
    undo = objective.prepare(model)
    loss = objective.loss(model.train(), objective.batch(0, rank=0, world=1, device=CPU))
    assert loss.shape == ()
    assert float(loss.detach()) > 0
    loss.backward()
    norms = [float(weight.grad.norm()) for weight in model.parameters() if weight.grad is not None]
    assert norms
    assert np.isfinite(norms).all()
    assert max(norms) > 0
    undo()
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize("name", MAKE)
def test_a_batch_is_a_function_of_seed_and_step(name, toy):
    objective, _ = MAKE[name](toy)
    batches = [objective.batch(step, rank=0, world=1, device=CPU) for step in (4, 0, 4)]
    assert set(batches[0]) == set(batches[2])
    assert all(torch.equal(batches[0][key], batches[2][key]) for key in batches[0])
    if batches[0]:
        assert any(
            batches[0][key].shape != batches[1][key].shape or not torch.equal(batches[0][key], batches[1][key])
            for key in batches[0]
        )


@pytest.mark.parametrize("name", MAKE)
def test_the_loop_brings_every_loss_down(name, toy):
    objective, model = MAKE[name](toy)
    model.eval()

    def loss() -> float:
        undo = objective.prepare(model)
        with torch.no_grad():
            batches = [objective.batch(step, rank=0, world=1, device=CPU) for step in range(3)]
            found = [float(objective.loss(model, batch)) for batch in batches]
        undo()
        return float(np.mean(found))

    before = loss()
    train(model, [Term(1.0, objective)], LoopSettings(25, 1e-3, weight_decay=0.0), device=CPU)
    assert loss() < before


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("task", [entry.name for entry in tasks if entry.needs == "head"])
def test_a_regime_is_made_of_objectives_that_exist_and_says_what_it_is(name, task):
    made = regime(name, task=tasks[task].call.defaults)
    assert made.name == name
    assert SUMMARIES[name].endswith(".")
    known = {entry.name for entry in objectives}
    for phase in made.phases:
        assert {part.objective for part in phase.parts} <= known
        assert phase.schedule.settings(100).steps >= 100
    assert ("task" in [part.objective for phase in made.phases for part in phase.parts]) == (name != "adjust-only")


def test_regimes_and_their_lines_are_the_same_and_an_unknown_one_gets_the_nearest():
    assert tuple(SUMMARIES) == NAMES
    with pytest.raises(InputError, match="Did you mean 'continual'"):
        regime("continal")
