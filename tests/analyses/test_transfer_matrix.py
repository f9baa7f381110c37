"""Fine-tuned on each language, tested on all and watched on the way: by loops, alone, killed, and in two processes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import torch

import interlingua
from interlingua.analyses.synthesis import spellings, synthesise
from interlingua.analyses.training_inputs import loop_settings
from interlingua.analyses.transfer_matrix import (
    CANDIDATES,
    TaggedLanguages,
    against_spelling,
    changes_of,
    group_curves,
    tagged_examples,
    transfer_matrix,
)
from interlingua.encoder import Encoder
from interlingua.engine.records import Records
from interlingua.engine.serialization import File
from interlingua.engine.step import ObjectCache, StepContext
from interlingua.errors import InputError
from interlingua.readers.examples import Examples, TaggedWords
from interlingua.record import Record
from interlingua.studies.step_settings import GeometryStep, StudyEncoder, SynthStep
from interlingua.studies.steps import geometry
from interlingua.studies.steps.step_io import MODEL
from interlingua.studies.steps.synth import synthetic_of
from interlingua.tasks.ner import TagPredictions, wrong_sentences
from interlingua.tasks.saved_models import load
from interlingua.training.journal import read_journal
from interlingua.training.monitors import Sample, Similarities

LANGUAGES = ("be", "en", "tr")
SYNTH = SynthStep(
    contexts=("embedded",),
    names=("embedded",),
    types=("LOC.nominative",),
    languages=LANGUAGES,
    rows=250,
    test_share=0.2,
    slots="one",
    bad_rows="skip",
    entity=None,
    seed=0,
)
STEPS = 130


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def make_model(synthetic, folder, *, dropout=0.1):
    """A tiny model that has a token for every letter and for every word that stands there often."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    # Not trained: how a trainer breaks ties is not the same from run to run.
    found = Counter(word for code in LANGUAGES for _, one in synthetic.sentences(code) for word in one.words)
    letters = sorted({letter for word in found for letter in word})
    often = sorted(word for word, count in found.items() if count > 2 and len(word) > 1)
    vocabulary = {
        piece: number for number, piece in enumerate([*special, *letters, *(f"##{x}" for x in letters), *often])
    }
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.NFC(), pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    torch.manual_seed(0)
    sizes |= {"vocab_size": tokenizer.get_vocab_size(), "max_position_embeddings": 128}
    sizes |= {"attention_probs_dropout_prob": dropout, "hidden_dropout_prob": dropout}
    config = BertConfig(pad_token_id=0, initializer_range=0.1, **sizes)
    BertModel(config).save_pretrained(folder)
    names = {f"{name[1:-1].lower()}_token": name for name in special}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    return str(folder)


class Trained:
    """What a step of a fine-tuning leaves: records with their items, and files."""

    def __init__(self, folder):
        self.folder = folder
        self.store = Records(Record, folder)
        self.records = self.store.read()
        self.about = json.loads((folder / geometry.TRAINED).read_text("utf-8"))


def settings_of(model, code, **changed):
    own = GeometryStep(
        encoder=StudyEncoder(name="tiny", model=File(model, "0")),
        block="names",
        synth=SYNTH,
        source=code,
        sources=LANGUAGES,
        epochs=10.0,
        learning_rate=3e-3,
        batch=16,
        watch=True,
        watch_every=None,
        watch_span=50,
        keep_model=False,
        precision="fp32",
        seed=0,
    )
    return replace(own, **changed)


def trained(settings, folder, objects=None, **more):
    out = folder / "out"
    out.mkdir(parents=True)
    context = StepContext("0", {}, out, folder / "state", objects=objects or ObjectCache(), device="cpu", **more)
    geometry.run(settings, context)
    return Trained(out)


@pytest.fixture(scope="module")
def synthetic():
    return synthetic_of(SYNTH)


@pytest.fixture(scope="module")
def model(synthetic, tmp_path_factory):
    return make_model(synthetic, tmp_path_factory.mktemp("model") / "model")


@pytest.fixture(scope="module")
def made(model, tmp_path_factory):
    """A fine-tuning on each language in one process, which shares what it has read; the model of en is kept."""
    objects, folder = ObjectCache(), tmp_path_factory.mktemp("made")
    return {
        code: trained(settings_of(model, code, keep_model=code == "en"), folder / code, objects) for code in LANGUAGES
    }


@pytest.fixture(scope="module")
def records(made):
    return [record for its in made.values() for record in its.records]


@pytest.fixture(scope="module")
def data(model, synthetic):
    return TaggedLanguages(Encoder.load(model, device="cpu", precision="fp32"), synthetic)


@pytest.fixture(scope="module")
def tuned(made):
    return load(made["en"].folder / MODEL, device="cpu")


def select(records, measure, **wanted):
    return [r for r in records if r.measure == measure and all(getattr(r, name) == v for name, v in wanted.items())]


def test_every_language_is_tested_by_every_other_and_learns_its_own(records):
    matrix = transfer_matrix(records, LANGUAGES)
    assert matrix.shape == (3, 3)
    assert np.isfinite(matrix).all()
    assert matrix.diagonal().mean() < matrix[~np.eye(3, dtype=bool)].mean()
    nulls = [record.null_value for record in select(records, "pairwise")]
    assert matrix.diagonal().mean() < np.mean(nulls)


def test_wrong_sentences_are_those_with_a_wrong_tag_counted_by_a_loop(made, data, tuned):
    for record in select(made["en"].records, "pairwise"):
        examples = data.test_examples[record.target]
        inputs = tuned.task.inputs(examples, tuned.encoder, labels=tuned.labels, training=False)
        said = tuned.task.predict(tuned.model, inputs, labels=tuned.labels).tags()
        wrong, types = [], []
        for item in examples:
            ours = [said.pop(0) for _ in item.words]
            wrong.append(float(tuple(ours) != item.tags))
            types.append({tag[2:] for tag in item.tags if tag != "O"}.pop())
        assert made["en"].store.items(record).tolist() == wrong
        assert (record.value, record.n, record.details["wrong"]) == (pytest.approx(np.mean(wrong)), 50, sum(wrong))
        for kind, (missed, count) in record.details["by_type"].items():
            mine = [one for one, its in zip(wrong, types, strict=True) if its == kind]
            assert (missed, count) == (sum(mine), len(mine))
        assert record.ci_low <= record.value <= record.ci_high


def test_a_model_does_not_depend_on_the_languages_trained_before_it_nor_on_being_watched(made, model, tmp_path):
    alone = trained(settings_of(model, "tr", sources=("tr",), watch=False), tmp_path)
    assert alone.records == [replace(r, part=(n, 3)) for n, r in enumerate(select(made["tr"].records, "pairwise"), 1)]
    assert "monitors" not in alone.about


def test_the_curves_begin_with_the_untrained_model_and_end_with_the_trained_one(made, model, data, tuned):
    rows = made["en"].about["monitors"]["rows"]
    texts = {code: [" ".join(item.words) for item in its] for code, its in data.test_examples.items()}
    sample = Sample.of(data.encoder, {code: column[:CANDIDATES] for code, column in texts.items()}).first(rows)
    begun, ended = (Similarities.of(sample, body).begun for body in (data.encoder.model, tuned.model))
    for record in select(made["en"].records, "similarity", metric="cosine"):
        steps, values = record.details["steps"], record.details["values"]
        assert (steps[0], steps[-1]) == (0, STEPS)
        assert values[0] == pytest.approx(begun[f"cosine {record.target}"], abs=1e-6)
        assert values[-1] == record.value == pytest.approx(ended[f"cosine {record.target}"], abs=1e-6)
    for source, its in made.items():
        kinds = {(r.key, r.target) for r in select(its.records, "similarity")}
        others = {code for code in LANGUAGES if code != source}
        both = {(name, code) for name in ("retrieval", "separation") for code in others}
        assert kinds == both | {(name, code) for name in ("cosine", "cka") for code in LANGUAGES}
        starts = [r.details["values"][0] for r in select(its.records, "similarity", metric="cka")]
        assert starts == pytest.approx([1.0] * 3)


def test_monitors_cost_what_they_may(made):
    for line in (its.about for its in made.values()):
        assert line["steps"] == STEPS
        assert line["monitors"]["share"]["tokens"] <= 0.05
        assert line["monitors"]["share"]["seconds"] > 0


def test_killed_at_any_step_a_fine_tuning_ends_with_the_records_of_one_left_alone(made, model, tmp_path, monkeypatch):
    class Killed(Exception):
        pass

    def at(left):
        def progress(stage, done, total):
            left[0] -= 1
            if left[0] < 0:
                raise Killed

        return progress

    monkeypatch.setattr(
        geometry, "loop_settings", lambda *given, **more: loop_settings(*given, **{**more, "checkpoint_every": 10})
    )
    # Progress is told of at most every two seconds; here at every step.
    monkeypatch.setattr("interlingua.training.journal._SPEAK", 0.0)
    run = partial(trained, settings_of(model, "be"))
    for number, kill in enumerate(np.random.default_rng(0).integers(1, 60, 3).tolist()):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "state").symlink_to(tmp_path / "state")
        (tmp_path / "state").mkdir(exist_ok=True)
        with contextlib.suppress(Killed):
            run(folder, progress=at([kill]))
    assert any((tmp_path / "state").iterdir())
    (tmp_path / "last").mkdir()
    (tmp_path / "last" / "state").symlink_to(tmp_path / "state")
    again = run(tmp_path / "last")
    assert again.about["steps"] < STEPS
    assert again.records == made["be"].records
    journals = [read_journal(each.folder / geometry.JOURNAL) for each in (again, made["be"])]
    assert journals[0] == journals[1]


def test_seeds_are_averaged_and_differ(made, model, synthetic, tmp_path):
    one, other = (
        trained(settings_of(model, "en", sources=("en",), epochs=5.0, watch=False, seed=seed), tmp_path / str(seed))
        for seed in (0, 1)
    )
    values = [[r.value for r in select(each.records, "pairwise")] for each in (one, other)]
    journals = {read_journal(each.folder / geometry.JOURNAL)[-1]["loss"] for each in (one, other)}
    assert len(journals) == 2
    both = [*one.records, *other.records]
    matrix = transfer_matrix(both, LANGUAGES)
    np.testing.assert_allclose(matrix[1], np.mean(values, axis=0))
    assert np.isnan(matrix[[0, 2]]).all()
    with pytest.raises(InputError, match="no fine-tuning on: 'be, tr'"):
        against_spelling(both, spellings(synthetic.names, LANGUAGES))


def test_the_scatter_is_wrong_sentences_against_tnld(records, synthetic):
    spelled = spellings(synthetic.names, LANGUAGES)
    found = against_spelling(records, spelled)
    assert len(found.points) == 6
    for point in found.points:
        (record,) = select(records, "pairwise", source=point["source"], target=point["target"])
        assert (point["wrong"], point["low"], point["high"]) == (record.value, record.ci_low, record.ci_high)
        assert point["tnld"] == spelled.value("LOC", "tnld", point["source"], point["target"])
    sides = [[point[name] for point in found.points] for name in ("tnld", "wrong")]
    assert found.rho.value == pytest.approx(scipy.stats.spearmanr(*sides).statistic)
    assert (found.rho.n, found.rho.of_pairs, found.rho.least_p) == (3, True, pytest.approx(1 / 6))


def test_changes_of_all_runs_are_correlated_and_grouped(records):
    runs = changes_of(records)
    assert [run.source for run in runs] == list(LANGUAGES)
    for run in runs:
        assert run.languages == LANGUAGES
        at = run.steps.tolist()
        for begun, change in zip(run.begun.tolist(), run.changes, strict=True):
            np.testing.assert_allclose(change, run.values[at.index(begun + run.span)] - run.values[at.index(begun)])
    found = group_curves(runs)
    parts = np.concatenate([run.changes - run.changes.mean(axis=0) for run in runs])
    np.testing.assert_allclose(found.correlations.matrix, np.corrcoef(parts.T), atol=1e-12)
    assert sorted(found.clustering.order) == [0, 1, 2]
    with pytest.raises(InputError, match="no fine-tuning was watched"):
        group_curves([])


def test_examples_are_parallel_and_the_rows_of_their_part(synthetic):
    whole = tagged_examples(synthetic, "tr", "test")
    assert len(whole) == 50
    rows = [row.kind.type for row, _ in synthetic.sentences("tr", "test")]
    assert [{tag[2:] for tag in item.tags if tag != "O"} for item in whole] == [{kind} for kind in rows]
    with pytest.raises(InputError, match="no sentence to test on: 'tr'"):
        tagged_examples(synthesise(["embedded"], ["embedded"], languages=["en", "tr"], rows=1), "tr", "test")


def test_wrong_sentences_by_hand_and_their_null():
    words = [("a", "b"), ("c",), ("d", "e"), ("f",)]
    gold = [("B-X", "O"), ("O",), ("B-X", "O"), ("B-X",)]
    examples = Examples(tuple(TaggedWords(*pair) for pair in zip(words, gold, strict=True)), "en", "toy")
    labels = ("O", "B-X")
    score = wrong_sentences(TagPredictions(labels, np.array([1, 0, 0, 1, 1, -1])), examples)
    assert score.items.tolist() == [0.0, 0.0, 1.0, 1.0]  # B-X B-X is none of ours; a word not read is O.
    # Predicted B-X O, O, B-X B-X, O against gold B-X O twice, O, B-X: 1/4 · 2/4 + 2/4 · 1/4.
    assert (score.value, score.null, score.n) == (0.5, 0.75, 4)
    everything = wrong_sentences(TagPredictions(labels, np.array([1, 0, 0, 1, 0, 1])), examples)
    assert (everything.value, everything.low) == (0.0, 0.0)


@pytest.mark.heavy
def test_two_processes_train_and_watch_what_one_does(synthetic, tmp_path):
    script = tmp_path / "both.py"
    script.write_text(
        "import sys, interlingua\n"
        "interlingua.geometry(sys.argv[1], languages=['be', 'en', 'tr'], types=['LOC.nominative'], rows=250,\n"
        "                     epochs=2, learning_rate=3e-3, batch_size=16, device='cpu', out=sys.argv[2])\n",
        "utf-8",
    )
    model = make_model(synthetic, tmp_path / "model", dropout=0.0)
    source = Path(next(iter(interlingua.__path__))).parent
    env = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    found = []
    for start, out in (([sys.executable], "one"), (launch, "two")):
        done = subprocess.run(
            [*start, str(script), model, str(tmp_path / out)], env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        every = Records(Record, tmp_path / out).read()
        found.append([r for r in every if r.measure in ("pairwise", "similarity")])
    assert len(found[0]) == 9 + 9 + 6 + 9 + 6
    for ours, theirs in zip(*found, strict=True):
        assert (ours.measure, ours.key, ours.source, ours.target) == (
            theirs.measure, theirs.key, theirs.source, theirs.target,
        )  # fmt: skip
        if ours.key == "cosine":
            assert ours.details["steps"] == theirs.details["steps"]
            assert ours.details["values"] == pytest.approx(theirs.details["values"], abs=0.02)
