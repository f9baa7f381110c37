"""`interlingua geometry` as a user meets it: what is measured, files, JSON, a kill, and every kind of bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import interlingua
import models
from interlingua.analyses.entity_geometry import entity_set, entity_vectors
from interlingua.analyses.synthesis import Synthetic
from interlingua.cli.app import app
from interlingua.commands import geometry
from interlingua.commands.geometry import GeometryFound
from interlingua.encoder import Encoder
from interlingua.engine.records import Records
from interlingua.errors import InputError
from interlingua.measures.clusters import clusters
from interlingua.measures.parallel_cosine import parallel_cosine
from interlingua.measures.vectors import unit
from interlingua.projection import projections
from interlingua.record import Record
from record_store import record_lines

runner = CliRunner()
LANGUAGES = ("en", "ru", "tr")
FEW = ("--languages", "en,tr", "--rows", "40", "--epochs", "1", "--batch-size", "8", "--learning-rate", "1e-3")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(models.modernbert(tmp_path_factory.mktemp("geometry") / "model"))


@pytest.fixture(scope="module")
def out(model: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("geometry") / "out"
    given = [
        "geometry",
        model,
        "--out",
        str(folder),
        "--device",
        "cpu",
        "--entity",
        "Georgia",
        "--entity-rows",
        "2",
        *FEW,
    ]
    done = runner.invoke(app, given)
    assert done.exit_code == 0, done.output
    assert "Wrong sentences by language of training" in done.stdout
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 80
    return folder


def test_the_folder_has_page_tables_and_records(out: Path) -> None:
    wanted = {"report.html", "geometry.json", "summary.md", "records", "run.json"}
    assert wanted <= {path.name for path in out.iterdir()}
    assert (out / "tables" / "cosine-test-before.csv").is_file()
    assert (out / "report.html").stat().st_size < 2_000_000
    run = json.loads((out / "run.json").read_text("utf-8"))
    assert run["kind"] == "geometry"
    assert run["settings"]["epochs"] == 1
    assert {each["language"] for each in run["trained"]} == {"en", "tr"}


def test_the_same_command_again_prints_the_same_json_and_trains_nothing(out: Path, model: str) -> None:
    given = ["geometry", model, "--out", str(out), "--device", "cpu", "--entity", "Georgia", "--entity-rows", "2", *FEW]
    before = (out / "run.json").read_text("utf-8")
    done = runner.invoke(app, [*given, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["run"]["languages"] == ["en", "tr"]
    assert told["report"]["answer"]["verdict"] in ("at chance", "higher", "lower", "unclear")
    assert {each["measure"] for each in told["records"]} >= {"parallel-cosine", "clusters", "pairwise"}
    assert (out / "run.json").read_text("utf-8") == before


@pytest.fixture(scope="module")
def synthetic() -> Synthetic:
    return interlingua.synth(languages=LANGUAGES, rows=60, test_share=0.25)


def study(model: str, synthetic: Synthetic, folder: Path, **more: Any) -> GeometryFound:
    usual = {"entity": "Georgia", "entity_rows": 3, "epochs": 4, "learning_rate": 3e-3, "batch_size": 8}
    return interlingua.geometry(model, synthetic, out=folder, device="cpu", **{**usual, **more})


@pytest.fixture(scope="module")
def done(model: str, synthetic: Synthetic, tmp_path_factory: pytest.TempPathFactory) -> GeometryFound:
    return study(model, synthetic, tmp_path_factory.mktemp("geometry") / "run")


@pytest.fixture(scope="module")
def encoder(model: str) -> Encoder:
    return Encoder.load(model, device="cpu", precision="fp32")


def test_records_have_both_states_of_both_sets(done: GeometryFound) -> None:
    seen = {(r.corpus, r.state) for r in done.records if r.measure == "parallel-cosine"}
    assert seen == {(corpus, state) for corpus in ("test", "about Georgia") for state in ("before", "after")}
    assert {r.source for r in done.records if r.measure == "pairwise"} == set(LANGUAGES)
    assert {r.measure for r in done.records} == {"parallel-cosine", "clusters", "pairwise", "similarity", "spelling"}
    assert done.run["rows"] == {"train": 45, "test": 15}  # By the rules that synth() was given.


def test_cosines_and_clusters_are_those_of_the_entities_vectors(
    done: GeometryFound, encoder: Encoder, synthetic: Synthetic
) -> None:
    vectors = entity_vectors(encoder, entity_set(synthetic)[0])
    last = vectors.layers[-1]
    wanted = parallel_cosine(vectors.side("en", last), vectors.side("tr", last))["centred"]
    rows, languages, _ = vectors.together(last)
    together = clusters(rows, languages)["purity"]
    store, seen = Records(Record, done.folder), set()
    for record in done.records:
        if (record.corpus, record.layer, record.state) == ("test", last, "before"):
            if (record.key, record.source, record.target) == ("centred", "en", "tr"):
                assert record.value == pytest.approx(wanted.value, abs=1e-6)
                np.testing.assert_allclose(store.items(record), wanted.items, atol=1e-5)
                seen.add("cosine")
            if record.key == "purity/language":
                assert record.value == pytest.approx(together.value, abs=1e-6)
                seen.add("purity")
    assert seen == {"cosine", "purity"}


def test_fine_tuning_moves_the_output_more_than_the_first_layer(done: GeometryFound) -> None:
    by_state = {
        (r.state, r.layer): r.value
        for r in done.records
        if (r.measure, r.key, r.corpus, r.source, r.target) == ("parallel-cosine", "raw", "test", "en", "ru")
    }
    last = max(layer for _, layer in by_state if layer is not None)
    moved = {layer: abs(by_state["after", layer] - by_state["before", layer]) for layer in (0, last)}
    assert moved[last] > moved[0]


def test_maps_are_the_flattened_entities_of_length_one(
    done: GeometryFound, encoder: Encoder, synthetic: Synthetic
) -> None:
    before = next(each for each in done.maps if (each["set"], each["state"]) == ("test", "before"))
    vectors = entity_vectors(encoder, entity_set(synthetic)[0])
    last = vectors.layers[-1]
    flat = projections["pca"].call(unit(vectors.together(last)[0]).numpy())
    panel = before["panels"][-1]
    assert panel["layer"] == last
    np.testing.assert_allclose(np.array([panel["x"], panel["y"]]).T, flat.places, rtol=1e-3, atol=1e-6)
    assert [point["language"] for point in before["points"]] == [code for code in LANGUAGES for _ in vectors.rows]


def test_pieces_of_the_name_are_told_in_every_language(done: GeometryFound) -> None:
    assert set(done.run["pieces"]) == set(LANGUAGES)
    assert all(done.run["pieces"].values())


class Killed(Exception):
    """The end of a process, in the middle of its work."""


@pytest.mark.parametrize("where", ["map of about Georgia", "fine-tuning on en", "fine-tuning on tr"])
def test_a_killed_study_ends_with_the_same_records(
    done: GeometryFound, model: str, synthetic: Synthetic, tmp_path: Path, where: str
) -> None:
    def tell(stage: str, number: int, total: int) -> None:
        if stage.startswith(where) and (number >= 3 or total == 1):
            raise Killed

    with pytest.raises(Killed):
        study(model, synthetic, tmp_path / "run", progress=tell)
    with pytest.raises(InputError, match="run of interlingua geometry is not finished"):
        interlingua.report_on(tmp_path / "run")
    again = study(model, synthetic, tmp_path / "run")
    assert record_lines(again.folder) == record_lines(done.folder)
    for file in ("summary.md", "steps/tr-seed0.jsonl"):
        assert (again.folder / file).read_bytes() == (done.folder / file).read_bytes()
    assert again.maps == done.maps


def test_sentences_that_were_changed_by_hand_are_refused(model: str, synthetic: Synthetic, tmp_path: Path) -> None:
    parts = {**synthetic.parts, "train": replace(synthetic.parts["train"], rows=synthetic.parts["train"].rows[:9])}
    with pytest.raises(InputError, match="not those that their contexts and names give"):
        study(model, replace(synthetic, parts=parts), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_saved_study_gives_the_same_records(out: Path, model: str, tmp_path: Path) -> None:
    file = tmp_path / "saved" / "study.toml"
    file.parent.mkdir()
    given = ["geometry", model, "--out", str(out), "--device", "cpu", "--entity", "Georgia", "--entity-rows", "2", *FEW]
    done = runner.invoke(app, [*given, "--save-study", str(file)])
    assert done.exit_code == 0, done.output
    interlingua.study(file, out=tmp_path / "run", executor="inline")
    assert record_lines(tmp_path / "run") == record_lines(out)


def test_a_plan_says_what_is_done_and_what_is_left(out: Path, model: str, tmp_path: Path) -> None:
    given = [
        "geometry",
        model,
        "--device",
        "cpu",
        "--entity",
        "Georgia",
        "--entity-rows",
        "2",
        *FEW,
        "--plan",
        "--json",
    ]
    kinds = {"entity_geometry": 4, "geometry": 2, "spelling": 1}
    for folder, state in ((out, "done"), (tmp_path / "new", "needed")):
        told = runner.invoke(app, [*given, "--out", str(folder)])
        assert told.exit_code == 0, told.output
        steps = json.loads(told.stdout)["steps"]
        assert {kind: sum(each["kind"] == kind for each in steps) for kind in kinds} == kinds
        assert {each["state"] for each in steps} == {state}
    assert not (tmp_path / "new").exists()


def test_the_page_of_the_folder_is_the_page_that_the_command_wrote(out: Path) -> None:
    assert interlingua.report_on(out).html == (out / "report.html").read_text("utf-8")


def test_a_study_can_be_made_of_what_synth_gave(model: str, tmp_path: Path) -> None:
    made = interlingua.synth(languages=["en", "ru"], types=["LOC"], rows=40)
    found = interlingua.geometry(
        model,
        made,
        epochs=1,
        batch_size=8,
        sources=["en"],
        watch=False,
        learning_rate=1e-3,
        out=tmp_path / "out",
        device="cpu",
    )
    assert found.records.where(measure="clusters", metric="purity", label="language", state="after")
    assert len(found._repr_html_()) < 30_000
    assert found.show()._repr_html_().startswith("<iframe")
    assert {table.name for table in found.report().tables()} >= {"errors-by-language", "cluster-numbers"}
    # One type, one fine-tuning: what can't be said is told, not made up.
    assert any("one type only" in note for note in found.run["skipped"])
    assert any("no correlation with spelling" in note for note in found.run["skipped"])
    assert not found.records.where(measure="clusters", metric="purity", label="type")


def test_small_leaves_what_is_set_and_sets_the_rest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: dict[str, object] = {}

    def stop(*given: object, **more: object) -> None:
        asked.update(more)
        raise InputError("stop", remedy="here.")

    monkeypatch.setattr(geometry, "synthesise", stop)
    for more, languages, rows in (
        ({}, ("be", "en", "ru", "tr"), 1000),
        ({"rows": 7, "languages": ["en", "es"]}, ["en", "es"], 7),
    ):
        with pytest.raises(InputError, match="stop"):
            geometry.geometry(small=True, out=tmp_path / "x", device="cpu", **more)  # type: ignore[arg-type]
        assert (asked["languages"], asked["rows"]) == (languages, rows)


@pytest.mark.parametrize(
    ("given", "say"),
    [
        (["--projection", "tnse"], "Did you mean 'tsne'"),
        (["--projection", "tsne", "--perplexity", "500"], "too few for this perplexity"),
        (["--perplexity", "5"], "--perplexity does not apply to pca"),
        (["--source", "be"], "not in the set"),
        (["--sources", "be"], "no such language in the set"),
        (["--languages", "en"], "nothing to be compared with"),
        (["--languages", "en,xx9"], "xx9"),
        (["--layers", "first"], "--layers takes numbers"),
        (["--layers", "44"], "no such layer"),
        (["--entity", "Nowhereland"], "no such name"),
        (["--entities", "nowhere"], "nowhere"),
        (["--monitor-every", "7"], "divisor"),
        (["--rows", "0"], "--rows must be at least 1"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing_behind(
    model: str, tmp_path: Path, given: list[str], say: str
) -> None:
    out = tmp_path / "out"
    done = runner.invoke(app, ["geometry", model, "--out", str(out), "--device", "cpu", *FEW, *given])
    assert isinstance(done.exception, InputError), done.output
    assert say in str(done.exception)
    assert not out.exists()


def test_a_folder_of_something_else_is_refused(model: str, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear", "utf-8")
    done = runner.invoke(app, ["geometry", model, "--out", str(tmp_path), "--device", "cpu", *FEW])
    assert "no run of ours" in str(done.exception)
    (tmp_path / "run.json").write_text('{"kind": "audit"}', "utf-8")
    done = runner.invoke(app, ["geometry", model, "--out", str(tmp_path), "--device", "cpu", *FEW])
    assert "another run" in str(done.exception)
