from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import torch

import interlingua
from interlingua.analyses.synthesis import spellings, synthesise
from interlingua.analyses.transfer_matrix import Watch, against_spelling, changes_of, together, transfer_matrix
from interlingua.encoder import Encoder
from interlingua.engine.run_store import Store
from interlingua.errors import InputError
from interlingua.readers.examples import Examples, TaggedWords
from interlingua.record import Record
from interlingua.studies.pairwise import Pairwise, PairwiseSettings, Wanted, tagged_examples
from interlingua.studies.run_folder import STATE
from interlingua.tasks.ner import Tagged, wrong_sentences
from interlingua.training.journal import read_journal
from interlingua.training.monitors import Similarities

LANGUAGES = ("be", "en", "tr")
SETTINGS = PairwiseSettings(train_rows=192, test_rows=40, epochs=10, learning_rate=3e-3, batch=16, checkpoint_every=50)
STEPS = 120


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def make_set():
    return synthesise(["embedded"], ["embedded"], languages=LANGUAGES, types=["LOC.nominative"], rows=250, seed=0)


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
    return Encoder.load(str(folder), device="cpu")


@pytest.fixture(scope="module")
def synthetic():
    return make_set()


@pytest.fixture(scope="module")
def encoder(synthetic, tmp_path_factory):
    return make_model(synthetic, tmp_path_factory.mktemp("model"))


class Kept:
    """A step that keeps what the model says of each language's test sentences alone, and what becomes of its sample."""

    def __init__(self, study):
        self.study, self.said, self.calls = study, {}, 0

    def __call__(self, tuned):
        self.calls += 1
        for code, examples in self.study.test_examples.items():
            inputs = tuned.task.inputs(examples, tuned.encoder, labels=tuned.labels, training=False)
            self.said[code] = tuned.task.predict(tuned.model, inputs, labels=tuned.labels).tags()
        self.cosines = Similarities.of(self.study._watching.similarities.sample, tuned.model).begun
        return [(Record(measure="kept", model="model", source="en", value=1.0, n=1), None)]


@pytest.fixture(scope="module")
def made(synthetic, encoder, tmp_path_factory):
    study = Pairwise(encoder, synthetic, SETTINGS, Store(tmp_path_factory.mktemp("made") / "out"))
    study.also = {"en": [Wanted("kept", "en", kept := Kept(study))]}
    before = [weight.clone() for weight in encoder.model.parameters()]
    study.run()
    assert all(torch.equal(a, b) for a, b in zip(before, encoder.model.parameters(), strict=True))
    return study, kept


def select(records, measure, **wanted):
    return [r for r in records if r.measure == measure and all(getattr(r, name) == v for name, v in wanted.items())]


def test_every_language_is_tested_by_every_other_and_learns_its_own(made):
    study, _ = made
    matrix = transfer_matrix(study.store.read(), LANGUAGES)
    assert matrix.shape == (3, 3)
    assert np.isfinite(matrix).all()
    assert matrix.diagonal().mean() < matrix[~np.eye(3, dtype=bool)].mean()
    nulls = [record.null_value for record in select(study.store.read(), "pairwise")]
    assert matrix.diagonal().mean() < np.mean(nulls)


def test_wrong_sentences_are_those_with_a_wrong_tag_counted_by_a_loop(made):
    study, kept = made
    for record in select(study.store.read(), "pairwise", source="en"):
        said, wrong, types = list(kept.said[record.target]), [], []
        for item in study.test_examples[record.target]:
            ours = [said.pop(0) for _ in item.words]
            wrong.append(float(tuple(ours) != item.tags))
            types.append({tag[2:] for tag in item.tags if tag != "O"}.pop())
        assert study.store.items(record).tolist() == wrong
        assert (record.value, record.n, record.details["wrong"]) == (np.mean(wrong), 40, sum(wrong))
        for kind, (missed, count) in record.details["by_type"].items():
            mine = [one for one, its in zip(wrong, types, strict=True) if its == kind]
            assert (missed, count) == (sum(mine), len(mine))
        assert record.ci_low <= record.value <= record.ci_high


def test_a_model_does_not_depend_on_the_languages_trained_before_it_nor_on_being_watched(
    made, synthetic, encoder, tmp_path
):
    study, _ = made
    settings = replace(SETTINGS, train_on=("tr",), watch=Watch(on=False))
    alone = Pairwise(encoder, synthetic, settings, Store(tmp_path / "alone"))
    alone.run()
    assert alone.store.read() == select(study.store.read(), "pairwise", source="tr")
    assert [line["language"] for line in alone.trained] == ["tr"]
    assert "monitors" not in alone.trained[0]


def test_the_curves_begin_with_the_untrained_model_and_end_with_the_trained_one(made, encoder):
    study, kept = made
    records = study.store.read()
    sample = study._watching.similarities.sample
    begun = Similarities.of(sample, encoder.model).begun
    for record in select(records, "similarity", source="en", metric="cosine"):
        steps, values = record.details["steps"], record.details["values"]
        assert (steps[0], steps[-1]) == (0, STEPS)
        assert values[0] == pytest.approx(begun[f"cosine {record.target}"], abs=1e-6)
        assert values[-1] == record.value == pytest.approx(kept.cosines[f"cosine {record.target}"], abs=1e-6)
    for source in LANGUAGES:
        kinds = {(r.key, r.target) for r in select(records, "similarity", source=source)}
        others = {code for code in LANGUAGES if code != source}
        both = {(name, code) for name in ("retrieval", "separation") for code in others}
        assert kinds == both | {(name, code) for name in ("cosine", "cka") for code in LANGUAGES}
    starts = [r.details["values"][0] for r in select(records, "similarity", metric="cka")]
    assert starts == pytest.approx([1.0] * 9)


def test_monitors_cost_what_they_may(made):
    study, _ = made
    for line in study.trained:
        assert line["steps"] == STEPS
        assert line["monitors"]["share"]["tokens"] <= 0.05
        assert line["monitors"]["share"]["seconds"] > 0


def test_the_same_call_trains_nothing_and_a_new_step_only_what_it_is_of(made, synthetic, encoder):
    study, kept = made
    before = (study.store.folder / "records.jsonl").read_bytes()
    again = Pairwise(encoder, synthetic, SETTINGS, Store(study.store.folder))
    again.run()
    assert again.trained == []
    assert (study.store.folder / "records.jsonl").read_bytes() == before
    assert all(again.store.done(key) for key in again.steps)
    assert not (study.store.folder / STATE).exists()
    assert kept.calls == 1


def test_killed_at_any_step_a_study_ends_with_the_records_of_one_left_alone(made, synthetic, encoder, tmp_path):
    class Killed(Exception):
        pass

    whole, _ = made
    draw = np.random.default_rng(0)
    settings, trained = replace(SETTINGS, checkpoint_every=10), 0
    for kill in (*draw.integers(1, 30, 4).tolist(), 10**9):
        left = [kill]

        def progress(stage, done, total, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise Killed

        study = Pairwise(encoder, synthetic, settings, Store(tmp_path / "out"), progress=progress)
        with contextlib.suppress(Killed):
            study.run()
        trained += sum(line["steps"] for line in study.trained)
    ours, theirs = (
        sorted(r.to_json() for r in store.read() if r.measure != "kept") for store in (study.store, whole.store)
    )
    assert ours == theirs
    assert trained <= 3 * STEPS


def test_seeds_are_averaged_and_differ(made, synthetic, encoder, tmp_path):
    settings = replace(SETTINGS, train_on=("en",), seeds=(0, 1), epochs=5, watch=Watch(on=False))
    study = Pairwise(encoder, synthetic, settings, Store(tmp_path / "seeds"))
    study.run()
    values = {seed: [r.value for r in select(study.store.read(), "pairwise", seed=seed)] for seed in (0, 1)}
    journals = {read_journal(study.store.folder / "steps" / f"en-seed{seed}.jsonl")[-1]["loss"] for seed in (0, 1)}
    assert len(journals) == 2
    matrix = transfer_matrix(study.store.read(), LANGUAGES)
    np.testing.assert_allclose(matrix[1], np.mean([values[0], values[1]], axis=0))
    assert np.isnan(matrix[[0, 2]]).all()
    spelled = spellings(synthetic.names, LANGUAGES)
    with pytest.raises(InputError, match="no fine-tuning on: 'be, tr'"):
        against_spelling(study.store.read(), spelled)


def test_the_scatter_is_wrong_sentences_against_tnld(made, synthetic):
    records, spelled = made[0].store.read(), spellings(synthetic.names, LANGUAGES)
    found = against_spelling(records, spelled)
    assert len(found.points) == 6
    for point in found.points:
        (record,) = select(records, "pairwise", source=point["source"], target=point["target"])
        assert (point["wrong"], point["low"], point["high"]) == (record.value, record.ci_low, record.ci_high)
        assert point["tnld"] == spelled.value("LOC", "tnld", point["source"], point["target"])
    sides = [[point[name] for point in found.points] for name in ("tnld", "wrong")]
    assert found.rho.value == pytest.approx(scipy.stats.spearmanr(*sides).statistic)
    assert (found.rho.n, found.rho.of_pairs, found.rho.least_p) == (3, True, pytest.approx(1 / 6))


def test_changes_of_all_runs_are_correlated_and_grouped(made):
    runs = changes_of(made[0].store.read())
    assert [run.source for run in runs] == list(LANGUAGES)
    for run in runs:
        assert run.languages == LANGUAGES
        at = run.steps.tolist()
        for begun, change in zip(run.begun.tolist(), run.changes, strict=True):
            np.testing.assert_allclose(change, run.values[at.index(begun + run.span)] - run.values[at.index(begun)])
    found = together(runs)
    parts = np.concatenate([run.changes - run.changes.mean(axis=0) for run in runs])
    np.testing.assert_allclose(found.correlations.matrix, np.corrcoef(parts.T), atol=1e-12)
    assert sorted(found.clustering.order) == [0, 1, 2]
    with pytest.raises(InputError, match="no fine-tuning was watched"):
        together([])


def test_examples_are_parallel_and_the_first_rows_of_their_part(synthetic):
    whole, few = (tagged_examples(synthetic, "tr", "test", rows=rows) for rows in (None, 5))
    assert len(whole) == 50
    assert whole.items[:5] == few.items
    rows = [row.kind.type for row, _ in synthetic.sentences("tr", "test")]
    assert [{tag[2:] for tag in item.tags if tag != "O"} for item in whole] == [{kind} for kind in rows]


def test_wrong_sentences_by_hand_and_their_null():
    words = [("a", "b"), ("c",), ("d", "e"), ("f",)]
    gold = [("B-X", "O"), ("O",), ("B-X", "O"), ("B-X",)]
    examples = Examples(tuple(TaggedWords(*pair) for pair in zip(words, gold, strict=True)), "en", "toy")
    labels = ("O", "B-X")
    score = wrong_sentences(Tagged(labels, np.array([1, 0, 0, 1, 1, -1])), examples)
    assert score.items.tolist() == [0.0, 0.0, 1.0, 1.0]  # B-X B-X is none of ours; a word not read is O.
    # Predicted B-X O, O, B-X B-X, O against gold B-X O twice, O, B-X: 1/4 · 2/4 + 2/4 · 1/4.
    assert (score.value, score.null, score.n) == (0.5, 0.75, 4)
    everything = wrong_sentences(Tagged(labels, np.array([1, 0, 0, 1, 0, 1])), examples)
    assert (everything.value, everything.low) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"epochs": float("inf")}, "epochs must be finite"),
        ({"monitor_every": 7}, r"monitor_every does not divide change_window \(50\): 7"),
        ({"entity_rows": 0}, "entity_rows must be at least 1"),
        ({"max_points": 9}, "max_points must be at least 10"),
        ({"perplexity": 5.0}, "perplexity does not apply to pca"),
    ],
)
def test_settings_that_cannot_be_are_refused(tmp_path, options, problem):
    with pytest.raises(InputError, match=f"geometry: {problem}"):
        interlingua.geometry(out=tmp_path / "out", **options)


def test_a_language_that_the_set_lacks_is_named(synthetic, encoder, tmp_path):
    with pytest.raises(InputError, match="no such language in the set: 'pl'"):
        Pairwise(encoder, synthetic, replace(SETTINGS, train_on=("pl",)), Store(tmp_path))


@pytest.mark.heavy
def test_two_processes_train_and_watch_what_one_does(tmp_path):
    script = tmp_path / "both.py"
    script.write_text(
        "import sys\n"
        "from dataclasses import replace\n"
        "from pathlib import Path\n"
        "from studies.test_pairwise import SETTINGS, Pairwise, Store, make_model, make_set\n"
        "import os\n"
        "made, out = make_set(), Path(sys.argv[1])\n"
        "encoder = make_model(made, out / f'model{os.environ.get(\"RANK\", 0)}', dropout=0.0)\n"
        "Pairwise(encoder, made, replace(SETTINGS, epochs=2), Store(out / 'store')).run()\n",
        "utf-8",
    )
    source = Path(next(iter(interlingua.__path__))).parent
    env = {**os.environ, "PYTHONPATH": f"{source}:{Path(__file__).parents[1]}", "OMP_NUM_THREADS": "1"}
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    found = []
    for start, out in (([sys.executable], "one"), (launch, "two")):
        (tmp_path / out).mkdir()
        subprocess.run([*start, str(script), str(tmp_path / out)], check=True, env=env, capture_output=True)
        found.append(Store(tmp_path / out / "store").read())
    assert len(found[0]) == 9 + 9 + 6 + 9 + 6
    for ours, theirs in zip(*found, strict=True):
        assert (ours.measure, ours.key, ours.source, ours.target) == (
            theirs.measure, theirs.key, theirs.source, theirs.target,
        )  # fmt: skip
        if ours.key == "cosine":
            assert ours.details["steps"] == theirs.details["steps"]
            assert ours.details["values"] == pytest.approx(theirs.details["values"], abs=0.02)
