"""Regimes of a study's own, heads that read another model through a map, and the first blocks of a model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import models
from interlingua.analyses.aligned_bitext import LinkedText
from interlingua.analyses.evaluation import fit_rotation, linked_vectors, sentence_vectors
from interlingua.analyses.transfer import TransferSettings
from interlingua.commands.study import PlannedStudy, plan_study
from interlingua.encoder import Encoder
from interlingua.encoder.pooling import PoolingRequest
from interlingua.engine.records import Records
from interlingua.errors import InputError
from interlingua.record import Record
from interlingua.studies.compile.custom_regimes import own_regime
from interlingua.studies.config.fields import ConfigErrors
from interlingua.studies.config.schema import PartTable, PhaseTable, RegimeTable
from interlingua.studies.steps.step_io import MODEL
from interlingua.tasks.saved_models import load
from interlingua.wordalign.links import Links
from interlingua.words import Sentence
from worlds import World, make_world, run_here

STUDY = """
name = "own"
languages = ["en", "ru"]
seeds = 1
regimes = ["adjusted", "mine", "gentle", "frozen", "mapped-inside", "shuffled"]
[encoders.bert]
model = "model"
[encoders.first]
model = "model"
languages = ["en"]
[encoders.second]
model = "model"
languages = ["ru"]
[bitexts]
files = "bitext.{source}-{language}.tsv"
links = "links"
[adjust]
max_pairs = 60
held_out = 20
epochs = 2
learning_rate = 8e-3
batch_size = 16
[regime.mine]
[[regime.mine.phases]]
parts = [{ objective = "adjustment" }, { objective = "anchor" }]
[[regime.mine.phases]]
parts = [{ objective = "task" }]
[regime.gentle]
[[regime.gentle.phases]]
parts = [{ objective = "contrastive", weight = 0.5 }, { objective = "drift" }]
epochs = 1
freeze = 1
[[regime.gentle.phases]]
parts = [{ objective = "task" }, { objective = "adjustment", weight = 0.1, batch_size = 8, replacement = true }]
[regime.frozen]
phases = [{ parts = [{ objective = "task" }], freeze = -1 }]
[regime.mapped-inside]
mapped = true
phases = [{ parts = [{ objective = "task" }], freeze = -1 }]
[regime.shuffled]
mapped = "shuffled"
phases = [{ parts = [{ objective = "task" }], freeze = -1 }]
[tasks.ner]
train = "ner-train-{source}.tsv"
tests = "ner-test-{language}.tsv"
encoders = ["bert"]
epochs = 1
learning_rate = 5e-3
batch_size = 16
[tasks.crossed]
task = "ner"
train = "ner-train-{source}.tsv"
tests = "ner-test-{language}.tsv"
encoders = ["first"]
regimes = ["frozen", "mapped-inside", "shuffled"]
test_encoder = { ru = "second" }
epochs = 1
learning_rate = 5e-3
batch_size = 16
[measures.between]
measures = ["cka"]
corpus = "parallel.tsv"
against = [["first", "second"]]
"""


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> object:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    made = make_world(tmp_path_factory.mktemp("own"))
    (made.folder / "study.toml").write_text(STUDY, "utf-8")
    return made


@pytest.fixture(scope="module")
def done(world: World, tmp_path_factory: pytest.TempPathFactory) -> PlannedStudy:
    planned = plan_study(world["study.toml"], out=tmp_path_factory.mktemp("study") / "out")
    run_here(planned)
    return planned


def values(planned: PlannedStudy, task: str, regime: str) -> dict[tuple[str, str], float]:
    return {
        (score.test, score.metric): score.value
        for score in planned.report().scores
        if (score.task, score.regime) == (task, regime)
    }


def test_the_phases_of_a_regime_of_ours_written_out_give_its_scores(done: PlannedStudy) -> None:
    assert values(done, "ner", "mine") == values(done, "ner", "adjusted")
    assert ("ru", "f1/token") in values(done, "ner", "mine")


def test_a_frozen_body_stays_as_it_came(world: World, done: PlannedStudy) -> None:
    (step,) = [step for step in done.graph if step.shown == "finetune bert ner en frozen seed 0"]
    tuned = load(done.workspace.step(step.key) / MODEL).model.base_model.state_dict()
    came = Encoder.load(world["model"], device="cpu", precision="fp32").model.state_dict()
    assert tuned.keys() == came.keys()
    assert all(torch.equal(tuned[name], came[name]) for name in came)


def test_a_phase_of_ones_own_trains_what_it_does_not_freeze(world: World, done: PlannedStudy) -> None:
    (tuned,) = [step for step in done.graph if step.shown == "finetune bert ner en gentle ru seed 0"]
    folder = done.workspace.step(tuned.needs["adjusted"].key) / MODEL
    adjusted = Encoder.load(str(folder), device="cpu", precision="fp32").model.state_dict()
    came = Encoder.load(world["model"], device="cpu", precision="fp32").model.state_dict()
    moved = {name for name in came if not torch.equal(adjusted[name], came[name])}
    assert any(name.startswith("encoder.layer.1.") for name in moved)
    assert not [name for name in moved if name.startswith(("embeddings.", "encoder.layer.0."))]
    assert ("ru", "f1/token") in values(done, "ner", "gentle")


def test_regimes_that_train_alike_share_a_model(done: PlannedStudy) -> None:
    tuned = [step.shown for step in done.graph if step.kind == "finetune"]
    assert sorted(tuned) == [
        "finetune bert ner en adjusted ru seed 0",
        "finetune bert ner en frozen seed 0",
        "finetune bert ner en gentle ru seed 0",
        "finetune bert ner en mine ru seed 0",
        "finetune first crossed en frozen seed 0",
    ]


def test_through_a_twin_scores_are_those_of_a_map_inside_one_model(done: PlannedStudy) -> None:
    inside, crossed = values(done, "ner", "mapped-inside"), values(done, "crossed", "mapped-inside")
    assert {test for test, _ in inside} == {"ru"}
    # Two ways to the same map: words of a bitext in batches, and tokens of sentences one side at a time; the last
    # digits of their vectors may turn a tag or two of some two hundred.
    assert crossed == pytest.approx(inside, abs=0.03)
    assert inside["ru", "f1/token"] > 0.1


def test_a_control_is_another_map_in_the_same_place(done: PlannedStudy) -> None:
    for task in ("ner", "crossed"):
        fitted_on_pairs, dealt = values(done, task, "mapped-inside"), values(done, task, "shuffled")
        assert fitted_on_pairs.keys() == dealt.keys()
        assert fitted_on_pairs != dealt


def test_records_of_two_models_name_both(done: PlannedStudy) -> None:
    records = Records(Record, done.workspace.folder).read()
    crossed = [r for r in records if r.task == "crossed" and r.target == "ru"]
    assert {(r.model, r.against) for r in crossed} == {("first", "second")}
    assert all("target_model" in r.digests for r in crossed)
    between = [r for r in records if r.measure == "cka"]
    assert {(r.model, r.against, r.source, r.target) for r in between} == {("first", "second", "en", "ru")}


def test_what_a_model_does_not_know_it_is_asked_through_another_alone(done: PlannedStudy) -> None:
    assert values(done, "crossed", "frozen").keys() == {key for key in values(done, "ner", "frozen") if key[0] == "en"}
    assert "crossed: first does not know the languages of ru" in done.notes


def test_what_a_model_said_of_each_example_is_kept_and_gives_its_score(world: World, done: PlannedStudy) -> None:
    for regime, test in (("mapped-inside", "ru"), ("frozen", "en"), ("mine", "ru")):
        mine = [
            line for line in done.predictions() if (line["task"], line["regime"], line["test"]) == ("ner", regime, test)
        ]
        file = f"ner-test-{test}.tsv"
        rows = Path(world[file]).read_text("utf-8").split("\n")
        assert [(line["file"], line["seed"], line["encoder"]) for line in mine] == [(file, 0, "bert")] * 40
        assert (done.workspace.folder / mine[0]["folder"] / "config.json").is_file()
        right = said = known = 0
        for line in mine:
            gold, own = (set(line[side].split("; ")) - {"no name"} for side in ("gold", "predicted"))
            # Every name of this world is one word, and no word stands twice in a sentence.
            assert all(f"{name.split()[1]}\tB-{name.split()[0]}" in rows[line["line"] - 1 :] for name in gold)
            right, said, known = right + len(gold & own), said + len(own), known + len(gold)
            assert line["right"] == (gold == own)
        assert 2 * right / (said + known) == pytest.approx(values(done, "ner", regime)[test, "f1/entity"])


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Encoder, Encoder]:
    folder = tmp_path_factory.mktemp("two")
    made = models.bert(folder / "bert"), models.xlm_roberta(folder / "xlmr")
    first, second = (Encoder.load(str(path), device="cpu", precision="fp32") for path in made)
    return first, second


def text() -> LinkedText:
    ours = ["the red tea is very hot", "milk and tea", "a cat, unbelievably small", "tea"]
    theirs = ["el té rojo está caliente", "leche y té", "un gato pequeñísimo", "té"]
    sides = [[Sentence.of(row.split()) for row in side] for side in (ours, theirs)]
    links = [(0, 1, 2), (0, 2, 1), (0, 5, 4), (1, 0, 0), (1, 2, 2), (2, 2, 2), (2, 1, 1), (3, 0, 0)]
    return LinkedText(*sides, Links.of(*(np.array(column) for column in zip(*links, strict=True))))


def test_vectors_of_linked_words_are_those_of_the_words_one_by_one(two: tuple[Encoder, Encoder]) -> None:
    given = text()
    found = linked_vectors(given, two, most=100, seed=0)
    links = zip(given.links.row.tolist(), given.links.source.tolist(), given.links.target.tolist(), strict=True)
    wanted: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for row, *words in links:
        for side, (encoder, sentences, word) in enumerate(zip(two, (given.source, given.target), words, strict=True)):
            last = encoder.layers[-1]
            view = PoolingRequest("span", "mean", layers=(last,), spans=(sentences[row].spans[word],))
            (made,) = encoder.encode_views([sentences[row].text], [view])
            wanted[side].append(np.asarray(made[last])[0])
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours.numpy(), np.stack(theirs), atol=1e-5)


def test_a_sample_of_linked_words_is_the_same_for_both_sides(two: tuple[Encoder, Encoder]) -> None:
    whole, some = (linked_vectors(text(), two, most=most, seed=3) for most in (100, 5))
    rows = [
        [int(((side - one).abs().sum(dim=1)).argmin()) for one in few] for side, few in zip(whole, some, strict=True)
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 5


def test_sentences_of_each_side_are_read_by_its_own_model(two: tuple[Encoder, Encoder]) -> None:
    given = text()
    found = sentence_vectors(given, two, most=3)
    for encoder, side, vectors in zip(two, (given.source, given.target), found, strict=True):
        wanted = encoder.encode([row.text for row in side[:3]])[encoder.layers[-1]]
        np.testing.assert_allclose(vectors.numpy(), np.asarray(wanted), atol=1e-6)


def test_models_of_two_widths_have_no_map() -> None:
    with pytest.raises(InputError, match="different widths"):
        fit_rotation(torch.randn(5, 4), torch.randn(5, 3), seed=0)


def test_a_map_finds_a_rotation_and_its_controls_do_not() -> None:
    generator = torch.Generator().manual_seed(0)
    rotation, _ = torch.linalg.qr(torch.randn(8, 8, generator=generator))
    target = torch.randn(400, 8, generator=generator) + 5
    source = (target - 5) @ rotation - 3
    found, shuffled, shifted = (
        fit_rotation(source, target, control=how, seed=0) for how in (None, "shuffled", "shifted")
    )
    torch.testing.assert_close(found.apply(target), source, atol=1e-4, rtol=0)
    torch.testing.assert_close(shifted.apply(target), target - target.mean(0) + source.mean(0))
    # Also a rotation about the same means; but it misses by as much as a stranger would: two centred points of
    # variance 1 are sqrt(2) of their length apart.
    identity = torch.eye(8, dtype=shuffled.matrix.dtype)
    torch.testing.assert_close(shuffled.matrix @ shuffled.matrix.T, identity)
    torch.testing.assert_close((shuffled.source_mean, shuffled.target_mean), (found.source_mean, found.target_mean))
    spread = source - source.mean(0)
    assert float((shuffled.apply(target) - source).norm() / spread.norm()) > 1.0
    again, other = (fit_rotation(source, target, control="shuffled", seed=seed).matrix for seed in (0, 1))
    assert torch.equal(shuffled.matrix, again)
    assert not torch.equal(shuffled.matrix, other)


@pytest.mark.parametrize("make", [models.bert, models.electra, models.xlm_roberta, models.distilbert])
def test_the_first_blocks_of_a_model_give_its_layer(make: object, tmp_path: Path) -> None:
    folder = str(make(tmp_path / "model"))  # type: ignore[operator]
    whole, first = (Encoder.load(folder, device="cpu", precision="fp32", blocks=blocks) for blocks in (None, 1))
    texts = ["tea and milk", "a very small cat"]
    assert first.layers == (0, 1)
    np.testing.assert_allclose(first.encode(texts)[1], whole.encode(texts)[1], atol=1e-6)
    assert first.digest != whole.digest
    assert Encoder.load(folder, device="cpu", precision="fp32", blocks=whole.layers[-1]).digest == whole.digest
    with pytest.raises(InputError, match="no such number of blocks"):
        Encoder.load(folder, device="cpu", precision="fp32", blocks=99)


def test_a_cut_model_is_saved_and_read_again(tmp_path: Path) -> None:
    first = Encoder.load(str(models.bert(tmp_path / "model")), device="cpu", precision="fp32", blocks=1)
    first.model.save_pretrained(tmp_path / "cut")
    first.tokenizer.save_pretrained(tmp_path / "cut")
    assert json.loads((tmp_path / "cut" / "config.json").read_text("utf-8"))["num_hidden_layers"] == 1
    again = Encoder.load(str(tmp_path / "cut"), device="cpu", precision="fp32")
    np.testing.assert_allclose(again.encode(["tea"])[1], first.encode(["tea"])[1], atol=1e-6)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('{ objective = "anchor" }]', '{ objective = "anchr" }]', "unknown objective of a regime: 'anchr'. Did you"),
        ("[regime.frozen]", "[regime.original]\nphases = []\n[regime.frozen]", "a regime of ours has this name"),
        ("[regime.frozen]", "[regime.bare]\nphases = []\n[regime.frozen]", "has a phase without parts"),
        ('[{ objective = "adjustment" }, ', '[{ objective = "task" }, ', "not the first part of its last"),
        ('"mine", "gentle"', '"mien", "gentle"', "unknown regime: 'mien'. Did you mean 'mine'?"),
        ('ru = "second"', 'ru = "secund"', "unknown encoder: 'secund'. Did you mean 'second'?"),
        ('ru = "second"', 'de = "second"', "unknown language of the study: 'de'"),
        ("mapped = true\nphases = [{ parts = [{", 'mapped = true\nphases = [{ parts = [{ objective = "task" }, {',
         "not the first part of its last"),
        ("mapped = true\nphases = [{ parts = [{ objective = \"task\" }]",
         "mapped = true\nphases = [{ parts = [{ objective = \"task\" }, { objective = \"drift\" }]",
         "maps, and trains for more than its task"),
        ('mapped = "shuffled"', 'mapped = "shufled"', "unknown control of a map: 'shufled'. Did you mean 'shuffled'?"),
        ('mapped = "shuffled"', "mapped = 1", "mapped should be true or false or a string"),
        ('phases = [{ parts = [{ objective = "task" }], freeze = -1',
         'phases = [{ parts = [{ objective = "task" }, { objective = "drift" }], freeze = -1',
         "freezes the whole body, which drift is for"),
        ("freeze = 1\n", "freeze = -1\n", "freezes the whole body, which contrastive is for"),
        ("freeze = -1 }]\n[regime.mapped", "freze = -1 }]\n[regime.mapped", "unknown key in [regime.frozen.phases.0]"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_regime_is_told(world: World, old: str, new: str, told: str) -> None:
    file = world.folder / "wrong.toml"
    assert old in STUDY
    file.write_text(STUDY.replace(old, new, 1), "utf-8")
    with pytest.raises(ConfigErrors) as wrong:
        plan_study(file)
    assert any(told in str(problem) for problem in wrong.value.problems), wrong.value


def test_without_a_bitext_only_what_reads_one_is_refused(world: World) -> None:
    text = STUDY.replace('[bitexts]\nfiles = "bitext.{source}-{language}.tsv"\nlinks = "links"\n', "")
    file = world.folder / "bare.toml"
    own = '"frozen", "mapped-inside", "shuffled"'
    alone = text.replace(f'"adjusted", "mine", "gentle", {own}', '"frozen"').replace(f"[{own}]", '["frozen"]')
    file.write_text(alone, "utf-8")
    assert plan_study(file).graph
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigErrors, match="needs bitexts"):
        plan_study(file)


@pytest.mark.parametrize(
    ("phase", "settings", "place", "shares"),
    [
        ({"warmup": 0.25}, {}, 1, (0.25, 0.75)),
        ({"warmup": 0.25}, {"warmup": 0.5}, 1, (0.25, 0.75)),
        ({}, {"warmup": 0.5}, 1, (0.5, 0.5)),
        ({"warmup": 0.25, "decay": 0.5}, {}, 1, (0.25, 0.5)),
        ({"warmup": 0.25}, {}, 0, (0.25, 0.0)),
        ({"decay": 1.0}, {}, 0, (0.1, 0.9)),
    ],
)
def test_the_rate_of_an_own_phase_rises_to_what_is_said(phase, settings, place, shares) -> None:
    parts = [(PartTable(objective="adjustment"),), (PartTable(objective="task"),)]
    tables = [PhaseTable(parts=each, **(phase if number == place else {})) for number, each in enumerate(parts)]
    own = own_regime("mine", RegimeTable(phases=tuple(tables)), task="nli", settings=TransferSettings(**settings))
    schedule = own.phases[place].schedule
    assert (schedule.warmup, schedule.decay) == pytest.approx(shares)
    rates = [schedule.settings(40).rate(step) for step in range(schedule.settings(40).steps)]
    assert max(rates) == pytest.approx(schedule.learning_rate)


@pytest.mark.parametrize(
    ("said", "problem"),
    [("warmup = 1.0", "warmup must be at least 0 and below 1"), ("warmup = -0.1", "warmup must be at least 0"),
     ("decay = 1.5", "decay must be at least 0 and at most 1"),
     ("warmup = 0.5\ndecay = 0.6", "more than all steps")],
)  # fmt: skip
def test_shares_of_steps_that_cannot_be_are_refused(world: World, tmp_path: Path, said: str, problem: str) -> None:
    text = STUDY.replace("epochs = 1\nfreeze = 1", f"{said}\nfreeze = 1")
    (world.folder / "shares.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigErrors, match=problem):
        plan_study(world["shares.toml"], out=tmp_path / "out")
