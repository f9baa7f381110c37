from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file

import interlingua
from interlingua.encoder import Encoder
from interlingua.encoder.model_loading import _first_line
from interlingua.engine.atomic_files import (
    atomic_path,
    hidden_name,
    link_or_copy,
    report_full_disk,
    swap_in,
    sweep,
    write_atomically,
    write_text,
)
from interlingua.engine.step_runner import _no_room
from interlingua.errors import InputError
from interlingua.training.checkpoints import load_whole, save_whole

SOURCE = str(Path(interlingua.__file__).parents[1])


@pytest.mark.reliability("litter of killed commands")
def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    code = "import os, sys; from pathlib import Path; from interlingua.engine.atomic_files import hidden_name\n"
    code += "for name in ('file', 'folder'): place = hidden_name(Path(sys.argv[1]) / name); "
    code += "place.write_text('half') if name == 'file' else place.mkdir()\n"
    code += "os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], env={**os.environ, "PYTHONPATH": SOURCE}, check=False)
    assert len(list(tmp_path.iterdir())) == 2
    kept = [".hidden", f".file.{os.getpid()}", ".a.0123abcd.1", hidden_name(tmp_path / "mine").name]
    for name in kept:
        (tmp_path / name).touch()
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_besides(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("old")

    def half(file: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_atomically(place, half)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_folder_that_cannot_be_put_in_place_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "old").touch()
    with pytest.raises(FileNotFoundError):
        swap_in(tmp_path / "none", tmp_path / "folder")
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["folder", "folder/old"]


@pytest.mark.reliability("two runs that gather one study")
def test_linking_what_another_run_has_linked_meanwhile_leaves_one_name(tmp_path: Path, monkeypatch) -> None:
    source, folder = tmp_path / "step.npz", tmp_path / "items"
    source.write_text("values")
    folder.mkdir()
    replace = os.replace

    def after_the_other(beside: str, place: str) -> None:
        os.link(source, place)
        replace(beside, place)

    monkeypatch.setattr(os, "replace", after_the_other)
    link_or_copy(source, folder / "a.npz")
    assert [path.name for path in folder.iterdir()] == ["a.npz"]


@pytest.mark.reliability("files that only their owner can read")
@pytest.mark.parametrize("umask", [0o022, 0o027, 0o002])
def test_written_weights_have_the_mode_of_any_new_file(bert_folder: Path, tmp_path: Path, umask: int) -> None:
    model, tokenizer, _ = load_whole(str(bert_folder))
    before = os.umask(umask)
    try:
        save_whole(model, tokenizer, tmp_path / "model")
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "model").iterdir()}
    assert modes == {0o666 & ~umask}


def test_what_people_print_is_one_short_line(bert_folder: Path) -> None:
    corpus = interlingua.read_corpus("sampler")
    encoder = Encoder.load(str(bert_folder), device="cpu")
    for each in (corpus, corpus.pair("en", "ru"), encoder, encoder.encode(["a", "b"])):
        assert len(repr(each)) < 250
        assert "\n" not in repr(each)
        assert " object at 0x" not in repr(each)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Short.", "Short"),
        ("A first sentence. " + "word " * 60, "A first sentence"),
        ("word " * 60, ("word " * 40).strip() + "…"),
        ("", ""),
        ("one\ntwo", "one"),
    ],
)
def test_an_error_of_the_hub_is_cut_between_sentences_or_words(text: str, expected: str) -> None:
    assert _first_line(ValueError(text)) == expected


def test_text_is_replaced_whole(tmp_path: Path) -> None:
    write_text(tmp_path / "deep" / "page.md", "old")
    write_text(tmp_path / "deep" / "page.md", "new é")
    assert (tmp_path / "deep" / "page.md").read_text("utf-8") == "new é"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["page.md"]


def test_a_disk_that_fills_up_under_safetensors_is_told_and_fails_no_step(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(InputError, match="no space left for results") as told, report_full_disk(tmp_path):
            save_file({"weights": torch.zeros(1000)}, tmp_path / "model.safetensors")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert isinstance(told.value.__cause__, SafetensorError)
    with pytest.raises(ValueError, match="another"), report_full_disk(tmp_path):
        raise ValueError("another error")
    full = SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
    assert _no_room(full)
    assert not _no_room(SafetensorError("invalid header"))


@pytest.mark.parametrize("is_folder", [False, True])
def test_what_is_made_beside_takes_the_place_of_the_old_or_leaves_it_and_nothing_else(
    tmp_path: Path, is_folder: bool
) -> None:
    place = tmp_path / "made"

    def make(text: str) -> None:
        with atomic_path(place) as beside:
            if is_folder:
                beside.mkdir()
            (beside / "inner" if is_folder else beside).write_text(text)
            assert not place.exists() or read() != text
            if text == "bad":
                raise ValueError(text)

    def read() -> str:
        return (place / "inner" if is_folder else place).read_text()

    for text in ("old", "new"):
        make(text)
        assert read() == text
    with pytest.raises(ValueError, match="bad"):
        make("bad")
    assert read() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
