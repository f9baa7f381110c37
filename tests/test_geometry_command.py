"""`interlingua geometry` as a user meets it: files, JSON, and every kind of bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import interlingua
import models
from interlingua.cli.app import app
from interlingua.commands import geometry
from interlingua.errors import InputError
from interlingua.studies.pairwise import Pairwise

runner = CliRunner()
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
    assert "Average cosine" in done.stdout
    return folder


def test_the_folder_has_page_pictures_tables_and_records(out: Path) -> None:
    wanted = {"geometry.html", "geometry.json", "answer.md", "records.jsonl", "run.json", "maps-test-language.svg"}
    assert wanted <= {path.name for path in out.iterdir()}
    assert (out / "tables" / "cosine-test-before.csv").is_file()
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
    assert {each["measure"] for each in told["records"]} >= {"parallel-cosine", "clusters", "pairwise"}
    assert (out / "run.json").read_text("utf-8") == before


def test_a_study_killed_in_training_is_known_as_one_and_goes_on(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["geometry", model, "--out", str(tmp_path / "out"), "--device", "cpu", *FEW]

    def killed(self: Pairwise) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Pairwise, "run", killed)
        runner.invoke(app, given)
    run = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert run["kind"] == "geometry"
    assert "created" not in run
    shown = interlingua.report_on(tmp_path / "out")
    assert {each["details"]["state"] for each in shown.runs["geometry"][0].records} == {"before"}
    done = runner.invoke(app, given)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "geometry.html").is_file()


def test_the_page_of_the_folder_is_the_page_that_the_command_wrote(out: Path) -> None:
    assert interlingua.report_on(out).html == (out / "geometry.html").read_text("utf-8")


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
    assert found.figure("map-0-before")["data"]
    assert found._repr_html_().startswith("<iframe")
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
        (["--map", "tnse"], "Did you mean 'tsne'"),
        (["--map", "tsne", "--perplexity", "500"], "too few for this perplexity"),
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
