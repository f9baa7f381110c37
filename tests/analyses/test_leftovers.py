"""What could not be measured is told, by an audit and by a study alike."""

from __future__ import annotations

import numpy as np
import pytest

import interlingua
from interlingua.analyses.space_measures import MeasurePlan, describe_missing, select_pairs
from interlingua.commands.study import plan_study
from interlingua.corpus import ParallelCorpus
from interlingua.engine.records import Records
from interlingua.record import Record
from toys import WORDS
from worlds import make_world, run_here, turned

STUDY = """
name = "told"
languages = ["en", "ru"]
seeds = 1
[encoders.bert]
model = "model"
[encoders.twin]
model = "model"
[measures.space]
measures = ["separation", "procrustes"]
encoders = ["bert"]
corpus = "few.tsv"
dictionary = "muse"
[measures.two]
measures = ["cka"]
corpus = "few.tsv"
against = [["bert", "twin"]]
"""
NO_LINKS = "1 pair without separation: too few repeated word links"
REPEATED = "1 duplicate row (few.tsv:14)"
DROPPED = (
    "1 entry of the ru–en dictionary: a test word that is trained on, or one that the tokenizer turns into nothing"
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = make_world(tmp_path_factory.mktemp("world"))
    rows = [(word, *turned([word])) for word in WORDS[:12]]  # No word comes twice, as a link must.
    lines = ["en\tru", *("\t".join(row) for row in [*rows, rows[0]])]
    (world.folder / "few.tsv").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    words = [(b, a) for a, b in rows]
    (world.folder / "muse").mkdir()
    for name, entries in (("0-5000", words[:7]), ("5000-6500", words[6:])):
        text = "".join(f"{a}\t{b}\n" for a, b in entries)
        (world.folder / "muse" / f"ru-en.{name}.txt").write_text(text, "utf-8")
    (world.folder / "study.toml").write_text(STUDY, "utf-8")
    return world


@pytest.fixture(scope="module")
def done(world, tmp_path_factory):
    planned = plan_study(world["study.toml"], out=tmp_path_factory.mktemp("study") / "out")
    run_here(planned)
    return planned


def audited(world, **options):
    options = {"cache": "none", "device": "cpu", **options}
    return interlingua.audit(world["model"], world["few.tsv"], languages=["en", "ru"], **options)


def test_a_pair_without_links_is_told_though_nothing_else_is_measured(world):
    assert NO_LINKS in audited(world, measures=["separation"]).run["skipped"]


def test_a_dictionary_the_other_way_round_is_no_pair_without_a_map_and_its_dropped_entries_are_told(world):
    notes = audited(world, measures=["procrustes"], dictionary=world["muse"]).run["skipped"]
    assert notes == [REPEATED, DROPPED]


def test_the_error_of_a_layer_whose_vectors_are_all_alike_is_left_out_and_counted(world):
    # The embedding of the first token is the same for every text.
    found = audited(world, measures=["procrustes"], pooling="cls")
    told = "1 undefined: procrustes error/mapped: the target's test rows are all alike"
    assert told in found.run["skipped"]
    layers = {record.layer for record in found.records if record.key == "error/mapped"}
    assert layers == {record.layer for record in found.records} - {0}


def test_a_study_tells_what_an_audit_tells(done):
    notes = (done.workspace.folder / "notes.txt").read_text("utf-8").splitlines()
    assert f"measure separation bert: {NO_LINKS}" in notes
    assert f"measure procrustes-dictionary bert: {DROPPED}" in notes
    assert f"encode bert few.tsv: {REPEATED}" in notes


def test_two_models_are_compared_in_a_study_as_in_an_audit(world, done):
    theirs = audited(world, against=world["model"], measures=["cka"]).records
    ours = [record for record in Records(Record, done.workspace.folder).read() if record.block == "two"]
    assert {(r.source, r.target) for r in ours} == {(a, b) for a in ("en", "ru") for b in ("en", "ru")}
    found = {(r.source, r.target, r.key, r.layer): r.value for r in ours}
    told = {(r.source, r.target, r.key, r.layer): r.value for r in theirs}
    assert found == pytest.approx(told, abs=1e-5)


def test_pairs_that_share_no_row_are_counted_among_those_asked_for_alone():
    text = [f"a{number}" for number in range(4)]
    texts = {"en": [*text, None, None], "es": [*text, "x", "y"], "ru": [None] * 4 + ["z", "w"]}
    corpus = ParallelCorpus.of(texts, name="c")
    every, pivot = (select_pairs(corpus, [corpus.languages], pairs=pairs) for pairs in ("all", "pivot"))
    assert (set(every.pairs), every.apart) == ({("en", "es"), ("es", "ru")}, 1)
    assert (set(pivot.pairs), pivot.apart) == ({("en", "es")}, 1)
    alone = select_pairs(corpus, [["es", "ru"]], pairs="all")
    assert (set(alone.pairs), alone.apart) == ({("es", "ru")}, 0)


@pytest.mark.reliability("languages ranked over unequal candidates")
@pytest.mark.parametrize("seed", range(20))
def test_all_pairs_are_measured_on_as_many_rows_as_the_smallest_whatever_the_gaps(seed):
    draw = np.random.default_rng(seed)
    codes = ("en", "es", "hi", "ru")
    there = draw.random((4, 80)) < draw.uniform(0.3, 1, (4, 1))
    texts = {
        code: [f"{code} {row}" if own[row] else None for row in range(80)]
        for code, own in zip(codes, there, strict=True)
    }
    corpus = ParallelCorpus.of(texts, name="c")
    for pairs in ("all", "pivot"):
        asked = select_pairs(corpus, [corpus.languages], pairs=pairs)
        shared = {pair: len(corpus.pair(*pair).rows) for pair in asked.pairs}
        assert (asked.rows, shared[asked.fewest]) == (min(shared.values()),) * 2
        assert asked.cut == sum(shared.values()) - asked.rows * len(shared)
        notes = describe_missing(MeasurePlan(("retrieval",)), [], asked)
        assert any(f"compared over {asked.rows}" in note for note in notes) == (len(set(shared.values())) > 1)
