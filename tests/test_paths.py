"""The door to files: only regular ones are opened, and what can't be read is an input error."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from hostile.bounded import run_bounded
from interlingua.encoder.model_loading import find_folder
from interlingua.encoder.sentence_folders import sentence_folder
from interlingua.engine.digests import Digests
from interlingua.errors import InputError, printable
from interlingua.readers import read_corpus
from interlingua.registry import load
from interlingua.report.kit.terminal import console
from interlingua.studies.config.toml_file import read_toml
from interlingua.training.text import file_digest
from interlingua.wordalign.model import DiagonalModel

DOORS = {
    "corpus": read_corpus,
    "file of a study": lambda path: read_toml(path, called="study"),
    "text": file_digest,
    "digest": lambda path: Digests()._digest(path),
    "loaded": load,
    "model": lambda path: find_folder(str(path.parent)),
    "aligner": lambda path: DiagonalModel.load(path.parent),
}


@pytest.mark.reliability("pipes and devices as files")
@pytest.mark.parametrize("name", ["config.json", "notes.txt", "x.en-ru.tsv", "model.json", "my.py"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_only_regular_files_are_opened(tmp_path: Path, name: str, kind: str, record_property) -> None:
    (tmp_path / "more").mkdir()
    for place in (tmp_path / name, tmp_path / "more" / name):
        os.mkfifo(place) if kind == "pipe" else place.symlink_to("/dev/zero")
    given = [(door, (door, tmp_path / name)) for door in DOORS]
    outcomes = run_bounded(lambda one: DOORS[one[0]](one[1]), given, check=lambda *_: "accepted", seconds=5)
    record_property("tried", len(outcomes))
    record_property("held", sum(outcome.held for outcome in outcomes))
    assert [outcome for outcome in outcomes if not outcome.held] == []


def test_what_is_no_regular_file_is_said_to_be_one_and_never_taken_for_a_slip_of_the_pen(tmp_path: Path) -> None:
    for name, target in (("z.tsv", "/dev/zero"), ("n.tsv", "nowhere")):
        (tmp_path / name).symlink_to(target)
    os.mkfifo(tmp_path / "p.tsv")
    for name, said in (("z", "not a regular file"), ("p", "not a regular file"), ("n", "a link that leads nowhere")):
        with pytest.raises(InputError, match=f"{name}.tsv: {said}"):
            read_corpus(tmp_path / f"{name}.tsv", languages=["en", "ru"])


@pytest.mark.reliability("a model folder that points elsewhere")
@pytest.mark.parametrize("path", ["../elsewhere", "/etc", "a/../../elsewhere", "link", "\0", "../model-2"])
def test_modules_lie_in_the_folder(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("elsewhere", "model-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    for kind in ("Transformer", "Pooling", "Dense"):
        (folder / "modules.json").write_text(
            json.dumps([{"type": f"sentence_transformers.models.{kind}", "path": path}])
        )
        with pytest.raises(InputError, match="outside of the model's folder"):
            sentence_folder(folder)
    shutil.rmtree(folder)


@pytest.mark.reliability("terminal escapes in an input")
def test_escapes_of_an_input_are_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    nasty = "a\x1b]0;title\x07\x1b[2J\x9b31m\x7f\r\u202eb"
    assert all(letter.isprintable() for letter in printable(nasty))
    console().print(nasty)
    assert not set("\x1b\x07\x9b\x7f\r") & set(capsys.readouterr().out)
