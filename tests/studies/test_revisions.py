"""Hub models are known by their commit: an updated model is another one, a fixed revision stays what it is."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub import constants

import models
from interlingua.commands.study import PlannedStudy, plan_study
from interlingua.encoder import Encoder
from interlingua.encoder.model_loading import asked_commit, cached_commit
from interlingua.engine.graph import StepState
from interlingua.engine.records import Records
from interlingua.engine.serialization import File
from interlingua.record import Record
from interlingua.studies.config.fields import ConfigErrors
from interlingua.studies.step_settings import EncodeStep
from worlds import run_here

FIRST, SECOND = "a" * 40, "b" * 40
STUDY = """
name = "hub"
languages = ["es"]
seeds = 1
[encoders.small]
model = "someone/tiny"
[measures.space]
measures = ["cka"]
rows = 20
"""


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the hub with two commits of a model; main is the first."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    folder = tmp_path / "hub" / "models--someone--tiny"
    for commit, seed in ((FIRST, 0), (SECOND, 1)):
        models.bert(folder / "snapshots" / commit, seed=seed)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(FIRST)
    (folder / "refs" / "v2").write_text(SECOND)
    return folder


def planned(tmp_path: Path, *more: str, ask: bool = False) -> PlannedStudy:
    text = STUDY.replace('model = "someone/tiny"\n', 'model = "someone/tiny"\n' + "".join(f"{line}\n" for line in more))
    (tmp_path / "study.toml").write_text(text, "utf-8")
    return plan_study(tmp_path / "study.toml", out=tmp_path / "out", ask=ask)


def keys(found: PlannedStudy) -> list[str]:
    return [step.key for step in found.graph]


def test_the_cache_tells_the_commit_of_a_branch_a_tag_and_a_commit(hub: Path) -> None:
    assert cached_commit("someone/tiny") == cached_commit("someone/tiny", "main") == FIRST
    assert cached_commit("someone/tiny", "v2") == SECOND
    assert cached_commit("someone/tiny", "c" * 40) == "c" * 40
    assert cached_commit("someone/tiny", "v3") is None
    assert cached_commit("someone/else") is None
    shutil.rmtree(hub / "snapshots" / FIRST)
    assert cached_commit("someone/tiny") is None


def test_an_updated_model_is_measured_anew_and_a_fixed_one_is_not(hub: Path, tmp_path: Path) -> None:
    first = planned(tmp_path)
    run_here(first)
    before = {record.digests["model"] for record in Records(Record, first.workspace.folder).read()}
    (hub / "refs" / "main").write_text(SECOND)
    again = planned(tmp_path)
    assert set(again.states().values()) == {StepState.NEEDED}
    run_here(again)
    after = {record.digests["model"] for record in Records(Record, again.workspace.folder).read()}
    assert len(before) == len(after) == len(before ^ after) / 2 == 1
    assert set(planned(tmp_path, f'revision = "{FIRST}"').states().values()) == {StepState.DONE}
    assert keys(planned(tmp_path, f'revision = "{FIRST}"')) == keys(first)
    assert keys(planned(tmp_path, 'revision = "v2"')) == keys(again)


def test_the_steps_of_a_commit_read_that_commit(hub: Path, tmp_path: Path) -> None:
    found = planned(tmp_path, 'revision = "v2"')
    (encode,) = [step for step in found.graph if step.kind == "encode"]
    assert isinstance(encode.settings, EncodeStep)
    assert encode.settings.encoder.revision == SECOND
    asked = Encoder.load("someone/tiny", device="cpu", precision="fp32", revision=SECOND)
    own = Encoder.load(str(hub / "snapshots" / SECOND), device="cpu", precision="fp32")
    assert asked.digest == own.digest != Encoder.load("someone/tiny", device="cpu", precision="fp32").digest


def test_without_a_cache_a_run_asks_the_hub_once_and_the_study_remembers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "none"))
    asked: list[tuple[str, str | None]] = []

    def model_info(_: object, name: str, *, revision: str | None, timeout: float) -> object:
        asked.append((name, revision))
        return SimpleNamespace(sha=FIRST)

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", model_info)
    bare = planned(tmp_path)
    assert asked == []
    assert any("known by its name alone" in note for note in bare.notes)
    found = planned(tmp_path, ask=True)
    assert asked == [("someone/tiny", None)]
    assert keys(found) != keys(bare)
    found.revisions.keep()
    assert keys(planned(tmp_path)) == keys(found)
    assert planned(tmp_path).notes == ()
    planned(tmp_path, ask=True)
    assert len(asked) == 1


def test_a_hub_that_cannot_be_asked_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "none"))
    assert asked_commit("someone/tiny") is None  # Tests are offline.
    assert len(planned(tmp_path, ask=True).graph) == 2


def test_a_folder_is_known_by_its_content_whatever_it_is_called(tmp_path: Path) -> None:
    models.bert(tmp_path / "someone" / "tiny")
    step = planned(tmp_path).graph.steps[0]
    assert isinstance(step.settings, EncodeStep)
    assert isinstance(step.settings.encoder.model, File)
    assert step.settings.encoder.revision is None


@pytest.mark.parametrize("model", ["embedded", "folder"])
def test_only_a_hub_name_has_a_revision(model: str, tmp_path: Path) -> None:
    models.bert(tmp_path / "folder")
    text = STUDY.replace('model = "someone/tiny"', f'model = "{model}"\nrevision = "main"')
    (tmp_path / "study.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigErrors, match="a revision is of a hub name"):
        plan_study(tmp_path / "study.toml")
