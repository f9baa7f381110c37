"""The control that credits a model, the same body under random heads: a head without work is hardly ever credited."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import toys
from cases import loaded
from interlingua.analyses.explanation import ExplainedLanguage, Explainer, ExplainSettings, ExternalVectors
from interlingua.attribution.consistency import WeightedUnits, consistency
from interlingua.encoder import Encoder
from interlingua.readers.examples import Examples, TextPair
from interlingua.record import Record, RecordTable
from interlingua.report.subjects.attribution import lead_over_heads
from interlingua.stats import above_draws
from interlingua.tasks import tasks
from interlingua.tasks.saved_models import FineTuned
from interlingua.training.task import TaskModel

HEADS = 24
SETTINGS = ExplainSettings(steps=2, tolerance=None, faithful=False, choices=False, random_heads=HEADS)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return loaded(tmp_path_factory.mktemp("models") / "bert", "bert")


def untrained(encoder: Encoder, task_name: str, *, seed: int = 99) -> FineTuned:
    task = tasks[task_name].call()
    labels = task.labels(toys.toy(task_name))
    return FineTuned(task, labels, TaskModel.of(encoder, task, labels, seed=seed).eval(), encoder)


def reordered(examples: Examples[TextPair]) -> Examples[TextPair]:
    """Another language: the same words, those of each text the other way round."""
    items = [
        replace(item, first=" ".join(item.first.split()[::-1]), second=" ".join(item.second.split()[::-1]))
        for item in examples
    ]
    return replace(examples, items=tuple(items), language="es")


@pytest.fixture(scope="module")
def sides(bert: Encoder) -> tuple[Explainer, ExplainedLanguage, ExplainedLanguage]:
    explainer = Explainer(untrained(bert, "nli"), SETTINGS, ExternalVectors({}, {}))
    pairs = toys.toy("nli")
    return explainer, explainer.side("en", pairs), explainer.side("es", reordered(pairs))


def test_a_random_head_has_the_weights_of_the_models_own_in_another_order(bert: Encoder) -> None:
    model = untrained(bert, "nli").model
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    other, again = model.under_random_head(seed=3), model.under_random_head(seed=3)
    assert other.base_model is model.base_model
    for ours, theirs, same in zip(
        model.head.parameters(), other.head.parameters(), again.head.parameters(), strict=True
    ):
        assert torch.equal(ours.flatten().sort().values, theirs.flatten().sort().values)
        assert torch.equal(theirs, same)
    assert any(not torch.equal(a, b) for a, b in zip(model.head.parameters(), other.head.parameters(), strict=True))
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


def test_a_heads_control_is_what_consistency_gives_for_its_attributions(
    sides: tuple[Explainer, ExplainedLanguage, ExplainedLanguage],
) -> None:
    explainer, source, target = sides
    found = explainer.compare(source, target, 0)
    for number in (0, HEADS - 1):
        both = [side.weighed(0, pairs, head=number) for side, pairs in zip((source, target), found.pairs, strict=True)]
        alone = consistency(*both)
        assert found.found.heads[number, 0] == pytest.approx(alone.scores, abs=1e-9)
        assert found.found.heads[number, 1] == pytest.approx(alone.random, abs=1e-9)


def test_attributions_of_a_head_that_weigh_nothing_score_nothing() -> None:
    draw = np.random.default_rng(0)
    starts = np.array([0, 3, 6])
    side = WeightedUnits(draw.normal(size=6), draw.normal(size=(6, 4)).astype(np.float32), starts)
    empty = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0])
    found = consistency(side, side, heads=[(empty, empty)])
    assert found.heads.shape == (1, 2, 2)
    assert found.heads[0, :, 0].tolist() == [0.0, 0.0]
    assert found.heads[0, 0, 1] == pytest.approx(1.0)


def test_a_text_beside_itself_needs_no_heads(sides: tuple[Explainer, ExplainedLanguage, ExplainedLanguage]) -> None:
    explainer, source, _ = sides
    assert explainer.compare(source, source, 0).found.heads.shape[0] == 0


@pytest.mark.parametrize("heads", [3, 5, 10])
def test_one_more_draw_is_above_the_draws_as_rarely_as_the_interval_says(heads: int) -> None:
    draw = np.random.default_rng(heads)
    values = draw.normal(size=(4000, heads + 1))
    above = np.mean([(above_draws(row[0], row[1:].tolist())[1] or 0.0) > 0 for row in values])
    assert above == pytest.approx(0.025, abs=0.008)


@pytest.mark.reliability("an untrained head credited with words")
def test_an_untrained_head_is_hardly_ever_above_other_untrained_heads(
    sides: tuple[Explainer, ExplainedLanguage, ExplainedLanguage],
) -> None:
    explainer, source, target = sides
    found = explainer.compare(source, target, 0).found
    every = np.concatenate([[found.scores - found.random], found.heads[:, 0] - found.heads[:, 1]])
    draw = np.random.default_rng(0)
    credited = []
    for _ in range(1500):
        chosen = draw.permutation(len(every))[:6]
        own, control = every[chosen[0]], every[chosen[1:]]
        error = float((own - control.mean(axis=0)).std(ddof=1) / np.sqrt(len(own)))
        low = above_draws(float(own.mean()), control.mean(axis=1).tolist(), error=error)[1]
        credited.append(low is not None and low > 0)
    assert np.mean(credited) <= 0.05


def test_records_of_several_languages_are_one_comparison_head_by_head(
    sides: tuple[Explainer, ExplainedLanguage, ExplainedLanguage],
) -> None:
    explainer, source, target = sides
    score = explainer.compare(source, target, 0).found.score()
    shared = Record(measure="consistency", metric="consistency", model="m")
    record = replace(shared, value=score.value, n=score.n, details=score.details)
    bare = replace(shared, value=0.5, details={"random": 0.4, "above_random": [0.1, 0.0, 0.2]})
    alone, twice = (lead_over_heads(RecordTable([record] * times)) for times in (1, 2))
    assert alone is not None
    assert twice is not None
    # The same numbers again are no more heads.
    assert replace(twice.difference, records=()) == replace(alone.difference, records=())
    assert lead_over_heads(RecordTable([record, bare])) is None


def test_the_names_of_one_sentence_are_no_more_than_one_sentence() -> None:
    draw = np.random.default_rng(1)
    starts = np.arange(0, 33, 3)
    ours, theirs = (
        WeightedUnits(draw.normal(size=30), draw.normal(size=(30, 4)).astype(np.float32), starts) for _ in "ab"
    )
    heads = [(draw.normal(size=30), draw.normal(size=30)) for _ in range(3)]
    found = consistency(ours, theirs, heads=heads)
    alone, grouped = found.score(), found.score(np.zeros(10, np.int64))
    assert (grouped.low, grouped.high) == (None, None)
    assert alone.low is not None
    singles = found.score(np.arange(10))
    assert singles.details["heads"]["error"] == pytest.approx(alone.details["heads"]["error"])
    above = found.scores - found.random - (found.heads[:, 0] - found.heads[:, 1]).mean(axis=0)
    assert singles.details["heads"]["error"] == pytest.approx(above.std(ddof=1) / np.sqrt(10))


def test_places_that_only_the_model_names_have_no_random_heads(bert: Encoder, tmp_path: Path) -> None:
    explainer = Explainer(untrained(bert, "ner"), replace(SETTINGS, target="predicted"), ExternalVectors({}, {}))
    assert explainer.heads == 0
    assert any("--target gold" in note for note in explainer.notes)
    pairs = Explainer(untrained(bert, "nli"), replace(SETTINGS, target="predicted"), ExternalVectors({}, {}))
    assert pairs.heads == HEADS
