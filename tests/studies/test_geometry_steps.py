"""Geometry tables of a study find what `interlingua geometry` finds, and nothing twice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import interlingua
import models
from interlingua.analyses import transfer_matrix
from interlingua.analyses.synthesis import synthesise
from interlingua.commands.geometry import GeometryFound
from interlingua.commands.report import report_on
from interlingua.commands.study import PlannedStudy, plan_study
from interlingua.engine.graph import Graph, StepState
from interlingua.engine.records import Records
from interlingua.record import Record
from interlingua.report.subjects.geometry import read_geometries
from interlingua.studies.config.fields import ConfigErrors
from worlds import run_here

STUDY = """
name = "looks"
languages = ["en", "ru", "tr"]
seeds = 2
published = "published.tsv"
[encoders.small]
model = "model"
[synth.sentences]
rows = 40
[geometry.names]
synth = "sentences"
sources = ["en", "ru", "tr"]
entity = "Georgia"
entity_rows = 3
max_points = 30
epochs = 2
learning_rate = 3e-3
batch_size = 8
"""
LOOKS, TRAINING, STATES = "entity geometry names small", "geometry names small", ("before", "after en")
PUBLISHED = """cite\tencoder\ttask\tsource\ttest\tmetric\tregime\tvalue\tmark
A paper, ru, en\tother\tnames\tru\ten\tparallel-cosine/raw\tafter en\t0.5\t
A paper, before\tother\tnames\ten\ttr\tparallel-cosine/raw\tbefore\t0.25\t
"""


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> object:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("geometry")
    models.modernbert(folder / "model")
    (folder / "published.tsv").write_text(PUBLISHED, "utf-8")
    (folder / "study.toml").write_text(STUDY, "utf-8")
    return folder / "study.toml"


@pytest.fixture(scope="module")
def done(file: Path, tmp_path_factory: pytest.TempPathFactory) -> PlannedStudy:
    planned = plan_study(file, out=tmp_path_factory.mktemp("study") / "out")
    run_here(planned)
    planned.write_report()
    return planned


@pytest.fixture(scope="module")
def whole(file: Path, tmp_path_factory: pytest.TempPathFactory) -> GeometryFound:
    return interlingua.geometry(
        str(file.parent / "model"),
        languages=["en", "ru", "tr"],
        rows=40,
        entity="Georgia",
        entity_rows=3,
        max_points=30,
        epochs=2,
        learning_rate=3e-3,
        batch_size=8,
        seeds=2,
        device="cpu",
        out=tmp_path_factory.mktemp("whole") / "run",
    )


def cell(record: Record) -> tuple[object, ...]:
    state = record.state
    return (
        record.measure,
        record.key,
        record.source,
        record.target,
        record.layer,
        record.seed,
        record.corpus,
        state,
    )


def geometry_records(planned: PlannedStudy) -> list[Record]:
    return [record for record in Records(Record, planned.workspace.folder).read() if record.block == "names"]


def test_a_study_finds_what_the_command_finds(done: PlannedStudy, whole: GeometryFound) -> None:
    ours, theirs = (Records(Record, folder) for folder in (done.workspace.folder, whole.folder))
    found, wanted = ({cell(r): r for r in its} for its in (geometry_records(done), theirs.read()))
    wanted = {key: record for key, record in wanted.items() if record.measure != "spelling"}
    assert found.keys() == wanted.keys()
    for key, record in wanted.items():
        mine = found[key]
        assert (mine.value, mine.null_value, mine.n) == pytest.approx(
            (record.value, record.null_value, record.n), rel=1e-4
        )
        assert mine.details.keys() == record.details.keys()
        if record.items is not None:
            np.testing.assert_allclose(ours.items(mine), theirs.items(record), rtol=1e-4, atol=1e-5)


def test_maps_and_conclusions_are_those_of_the_command(
    done: PlannedStudy, whole: GeometryFound, monkeypatch: pytest.MonkeyPatch
) -> None:
    (entry,) = done.report().run.attachments["geometries"]
    ours, theirs = ({(each["set"], each["state"]): each for each in its} for its in (entry["maps"], whole.maps))
    assert ours.keys() == theirs.keys()
    for place, wanted in theirs.items():
        assert ours[place]["points"] == wanted["points"]
        for mine, own in zip(ours[place]["panels"], wanted["panels"], strict=True):
            assert mine["x"] + mine["y"] == pytest.approx(own["x"] + own["y"], rel=1e-2, abs=1e-3)
    assert [(each["set"], each["state"]) for each in entry["maps"][:2]] == [
        ("test", "before"),
        ("about Georgia", "before"),
    ]
    assert entry["about"]["pieces"] == whole.run["pieces"]
    assert entry["about"]["settings"] == whole.run["settings"]
    # Two epochs on 40 sentences teach nothing, so nothing is concluded; then again as if they had.
    assert {(each["language"], each["seed"]) for each in entry["found"]["not_learnt"]} == {
        (code, seed) for code in ("en", "ru", "tr") for seed in (0, 1)
    }
    assert not {"changes", "groups", "scatter"} & entry["found"].keys()
    monkeypatch.setattr(transfer_matrix, "not_learnt", lambda records: [])
    (entry,) = done.report().run.attachments["geometries"]
    made = synthesise(["embedded"], ["embedded"], languages=["en", "ru", "tr"], rows=40)
    found, _ = transfer_matrix.summarize_geometry(list(whole.records), transfer_matrix.spellings_of_test(made))
    assert {"changes", "groups"} <= found.keys()
    assert_alike(json.loads(json.dumps(entry["found"])), json.loads(json.dumps(found)))


def assert_alike(found: Any, wanted: Any) -> None:
    """The same keys and lengths all the way down, and numbers that differ by rounding alone."""
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            assert_alike(found[key], value)
    elif isinstance(wanted, list):
        assert len(found) == len(wanted)
        for mine, own in zip(found, wanted, strict=True):
            assert_alike(mine, own)
    elif isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=1e-3, abs=1e-4)
    else:
        assert found == wanted


def test_nothing_is_done_twice_and_run_again_nothing_runs(done: PlannedStudy) -> None:
    kinds = [step.kind for step in done.graph]
    assert {kind: kinds.count(kind) for kind in kinds} == {"entity_geometry": 2 + 2, "geometry": 3 * 2, "spelling": 1}
    assert done.run().done == 0


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        (
            "max_points = 30",
            "max_points = 40",
            {f"{LOOKS} {state}: {name}" for state in STATES for name in ("names", "Georgia")},
        ),
        (
            "entity_rows = 3",
            "entity_rows = 2",
            {f"{LOOKS} {state}: Georgia" for state in STATES},
        ),
        ("seeds = 2", "seeds = 3", {f"{TRAINING} {code} seed 2" for code in ("en", "ru", "tr")}),
        (
            "batch_size = 8",
            "batch_size = 4",
            {
                *(f"{TRAINING} {code} seed {n}" for code in ("en", "ru", "tr") for n in (0, 1)),
                *(f"{LOOKS} after en: {name}" for name in ("names", "Georgia")),
            },
        ),
        ("languages =", "permutations = 7\nlanguages =", set()),
    ],
)
def test_a_changed_setting_runs_only_what_hangs_on_it(
    file: Path, done: PlannedStudy, old: str, new: str, again: set[str]
) -> None:
    other = file.with_name("other.toml")
    other.write_text(STUDY.replace(old, new), "utf-8")
    states = plan_study(other, out=done.workspace.folder)
    needed = {step.shown for step in states.graph if states.states()[step.key] is StepState.NEEDED}
    assert needed == again


def test_the_papers_cosines_stand_beside_ours_whichever_way_round(done: PlannedStudy) -> None:
    records = geometry_records(done)
    last = max(record.layer or 0 for record in records)
    after = {
        (r.state, r.source, r.target): r.value
        for r in records
        if (r.measure, r.key, r.corpus, r.layer) == ("parallel-cosine", "raw", "test", last)
    }
    found = {each.published.cite: (each.published.value, each.ours.value) for each in done.report().published}
    assert found == {
        "A paper, ru, en": (0.5, after["after", "en", "ru"]),
        "A paper, before": (0.25, after["before", "en", "tr"]),
    }


def test_the_report_has_the_parts_of_a_geometry_run_and_is_the_same_from_its_folder(done: PlannedStudy) -> None:
    result = done.report()
    (part,) = read_geometries(result.run)
    assert {record.block for record in part.records if record.measure != "spelling"} == {"names"}
    report = result.report()
    assert any("names, small" in section.title for section in report.sections)
    again = report_on(done.workspace.folder)
    assert again.to_dict()["answer"] == report.to_dict()["answer"]
    assert [table.name for table in again.tables()] == [table.name for table in report.tables()]


def test_distances_of_other_studies_are_not_looked_for_in_looks(done: PlannedStudy) -> None:
    report = done.report()
    assert report.distances == []
    assert not [table for table in report.tables if "word-distances" in table.name]


def test_a_library_that_is_missing_is_named_by_the_step(
    done: PlannedStudy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'anyascii'", name="anyascii")

    monkeypatch.setattr("interlingua.studies.steps.spelling.spellings_of_test", gone)
    planned = plan_study(done.study.file, out=tmp_path / "out")
    spelling = [step for step in planned.graph if step.kind == "spelling"]
    (failure,) = replace(planned, graph=Graph(spelling)).run(executor="inline").failed
    assert failure.message.endswith("Run: pip install anyascii")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('synth = "sentences"', 'synth = "sentence"', "unknown synth: 'sentence'. Did you mean 'sentences'?"),
        ('sources = ["en", "ru", "tr"]', 'sources = ["en", "de"]', "unknown language of the set: 'de'"),
        ("max_points = 30", "max_points = 4", "max_points must be at least 10: 4"),
        ("max_points = 30", 'projection = "tsen"', "unknown projection: 'tsen'. Did you mean 'tsne'?"),
        ("max_points = 30", "perplexity = 5", "perplexity does not apply to pca"),
        ("max_points = 30", 'source = "de"', "the language of the second look is not in the set: 'de'"),
        ("epochs = 2", "epochs = 0", "epochs must be above 0"),
        ("epochs = 2", "monitor_every = 7", "monitor_every does not divide change_window (50): 7"),
    ],
)
def test_what_is_wrong_with_a_table_is_told_with_its_line(file: Path, old: str, new: str, told: str) -> None:
    other = file.with_name("wrong.toml")
    other.write_text(STUDY.replace(old, new), "utf-8")
    with pytest.raises(ConfigErrors) as wrong:
        plan_study(other)
    (problem,) = wrong.value.problems
    assert told in str(problem)
    key = new.partition(" =")[0]
    lines = other.read_text("utf-8").splitlines()
    assert problem.line is not None
    assert lines[problem.line - 1].startswith((key, "[geometry.names]"))
