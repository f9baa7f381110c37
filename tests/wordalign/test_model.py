"""A model that is saved, loaded and applied says what it said; words it never saw are not an error."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from aligner_by_loops import ByLoops, Link, Rows, bitext
from interlingua.engine.atomic_files import hidden_name
from interlingua.errors import InputError
from interlingua.wordalign.cooccurrence import EntryStore
from interlingua.wordalign.links import Links
from interlingua.wordalign.model import AlignerSettings, DiagonalModel
from interlingua.wordalign.training import train
from interlingua.wordalign.vocabulary import Sentences


def as_set(links: Links) -> set[Link]:
    return set(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))


def test_a_model_applied_to_its_own_text_says_what_training_said() -> None:
    source, target = bitext(1, rows=80, words=25)
    trained = train(source, target)
    applied = trained.model.apply(source, target)
    assert as_set(applied.links) == as_set(trained.applied.links)
    assert applied.log_likelihood == pytest.approx(trained.applied.log_likelihood, rel=1e-5)
    turned = trained.model.apply(source, target, turned=True)
    assert as_set(turned.links) == as_set(applied.links.turned())


def test_some_rows_are_linked_as_among_all_and_only_the_pairs_they_can_ask_for_are_looked_up() -> None:
    source, target = bitext(6, rows=80, words=60)
    model = train(source, target).model
    whole, row = model.apply(source, target), 17
    some = model.apply(source[row : row + 3], target[row : row + 3])
    assert {(r + row, s, t) for r, s, t in as_set(some.links)} == {
        link for link in as_set(whole.links) if row <= link[0] < row + 3
    }
    assert some.log_likelihood == pytest.approx(whole.log_likelihood[row : row + 3])
    ours = Sentences.known([*source[row : row + 1], ["never seen"]], model.source_words)
    theirs = Sentences.known([*target[row : row + 1], []], model.target_words)
    keys, logs = model._asked(ours, theirs)
    width = len(model.source_words) + 1
    known = {
        (model.source_words[s], model.target_words[t]): value
        for s, t, value in zip(
            *(x.tolist() for x in (model.pair_source, model.pair_target, model.log_probability)), strict=True
        )
    }
    asked = {(a, b): known[a, b] for a in source[row] for b in target[row]}
    found = {
        (model.source_words[key % width], model.target_words[key // width]): value
        for key, value in zip(keys.tolist(), logs.tolist(), strict=True)
    }
    assert found == asked
    assert keys.tolist() == sorted(keys.tolist())


def test_a_model_that_was_saved_is_the_same_when_loaded(tmp_path: Path) -> None:
    source, target = bitext(2, rows=40)
    model = train(source, target, AlignerSettings(iterations=3, null=0.2, variational=False)).model
    model.save(tmp_path / "model")
    again = DiagonalModel.load(tmp_path / "model")
    assert (again.settings, again.tension) == (model.settings, model.tension)
    assert (again.source_words, again.target_words) == (model.source_words, model.target_words)
    assert torch.equal(again.log_probability, model.log_probability)
    before, after = model.apply(source, target), again.apply(source, target)
    assert as_set(before.links) == as_set(after.links)
    assert np.array_equal(before.log_likelihood, after.log_likelihood)


def test_saving_again_replaces_the_model_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    for seed in (3, 4):
        model = train(*bitext(seed)).model
        model.save(tmp_path / "folder" / "model")
    assert DiagonalModel.load(tmp_path / "folder" / "model").source_words == model.source_words
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["model"]


def test_a_save_that_fails_at_its_last_rename_leaves_the_old_model_there(tmp_path: Path, monkeypatch) -> None:
    first, second = (train(*bitext(seed)).model for seed in (3, 4))
    first.save(tmp_path / "model")
    rename, calls = os.rename, []

    def second_time(source: Path, target: Path) -> None:
        calls.append(source)
        if len(calls) == 2:
            raise OSError("no room")
        rename(source, target)

    monkeypatch.setattr(os, "rename", second_time)
    with pytest.raises(OSError, match="no room"):
        second.save(tmp_path / "model")
    assert DiagonalModel.load(tmp_path / "model").tension == first.tension
    assert [each.name for each in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("moment", ["save_file", "asdict"])
def test_a_model_that_cannot_be_written_leaves_the_one_before_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    first, second = (train(*bitext(seed)).model for seed in (3, 4))
    first.save(tmp_path / "model")
    monkeypatch.setattr(sys.modules[DiagonalModel.__module__], moment, full)
    with pytest.raises(OSError, match="no space left"):
        second.save(tmp_path / "model")
    assert torch.equal(DiagonalModel.load(tmp_path / "model").log_probability, first.log_probability)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_what_a_killed_process_of_the_same_number_left_beside_is_no_part_of_a_model(tmp_path: Path) -> None:
    beside = hidden_name(tmp_path / "model")
    beside.mkdir()
    (beside / "half").write_text("")
    train(*bitext(3)).model.save(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["model.json", "model.safetensors"]


@pytest.mark.parametrize("harm", ["absent", "no weights", "cut weights", "bad words", "bad setting"])
def test_a_folder_that_holds_no_whole_model_is_named(tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "model"
    if harm != "absent":
        train(*bitext(5)).model.save(folder)
    if harm == "no weights":
        (folder / "model.safetensors").unlink()
    elif harm == "cut weights":
        (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:100])
    elif harm == "bad words":
        (folder / "model.json").write_text("{}")
    elif harm == "bad setting":
        text = (folder / "model.json").read_text()
        (folder / "model.json").write_text(text.replace('"iterations"', '"iteration"'))
    why = {"absent": "FileNotFoundError", "no weights": "FileNotFoundError", "bad words": "KeyError"}.get(
        harm, r"\w+Error"
    )
    with pytest.raises(
        InputError, match=rf"no model of the aligner can be read here \({why}\).*train it anew"
    ) as error:
        DiagonalModel.load(folder)
    assert error.value.file == folder


def by_loops(loops: ByLoops, source: Rows, target: Rows) -> tuple[set[Link], list[float]]:
    """The same model on other text: pairs and words never seen have probability 1e-9 (fast_align's force_align)."""
    links, logs = set(), []
    for row, (ours, theirs) in enumerate(zip(source, target, strict=True)):
        logs.append(0.0)
        for place, word in enumerate(theirs if ours else []):
            near = [
                math.exp(-loops.tension * abs((i + 1) / len(ours) - (place + 1) / len(theirs)))
                for i in range(len(ours))
            ]
            null = loops.null * loops.theta.get((None, word), 1e-9)
            real = [
                (1 - loops.null) * weight / sum(near) * loops.theta.get((s, word), 1e-9)
                for s, weight in zip(ours, near, strict=True)
            ]
            logs[-1] += math.log(null + sum(real))
            best = next(i for i, weight in enumerate(real) if weight >= max(real) * (1 - 1e-7))
            if real[best] > null:
                links.add((row, best, place))
    return links, logs


@pytest.mark.parametrize("seed", range(4))
def test_other_text_is_aligned_as_in_loops_words_never_seen_included(seed: int) -> None:
    loops = ByLoops(*bitext(seed))
    loops.run(5)
    source, target = bitext(seed + 100, rows=30, words=14)
    source, target = [[], ["s1"], *source], [["t1"], [], *target]
    applied = train(*bitext(seed), AlignerSettings(optimise_tension=False)).model.apply(source, target)
    links, logs = by_loops(loops, source, target)
    assert as_set(applied.links) == links
    assert applied.log_likelihood == pytest.approx(logs, rel=1e-5)


def test_pairs_of_more_words_than_32_bits_number_are_looked_up_as_what_they_are() -> None:
    words = tuple(f"w{number}" for number in range(70_000))
    ends = torch.tensor([0, 69_999, 30_000], dtype=torch.int32)
    logs = torch.tensor([-1.0, -2.0, -3.0])
    null = torch.full((len(words),), -5.0)
    model = DiagonalModel(AlignerSettings(null=0.1), 4.0, words, words, ends, ends.flip(0), logs, null)
    pairs = {("w0", "w30000"): -1.0, ("w69999", "w69999"): -2.0, ("w30000", "w0"): -3.0}
    source, target = ([[s] for s in ("w0", "w30000", "w69999") for _ in range(3)], [["w0"], ["w30000"], ["w69999"]] * 3)
    applied = model.apply(source, target)
    expected = [
        math.log(0.1 * math.exp(-5) + 0.9 * math.exp(pairs.get((s, t), math.log(1e-9))))
        for [s], [t] in zip(source, target, strict=True)
    ]
    assert applied.log_likelihood == pytest.approx(expected, rel=1e-5)


def test_a_text_whose_pairs_are_in_a_file_is_aligned_alike_and_the_file_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, target = bitext(7, rows=20)
    model = train(source, target).model
    in_memory = model.apply(source, target)
    store = EntryStore(0, torch.device("cpu"))
    monkeypatch.setattr(EntryStore, "on", lambda device: store)
    in_a_file = model.apply(source, target)
    assert as_set(in_a_file.links) == as_set(in_memory.links)
    assert np.array_equal(in_a_file.log_likelihood, in_memory.log_likelihood)
    assert store._used == 0
    assert store._file._file is None


def test_a_text_of_words_never_seen_links_along_the_diagonal() -> None:
    model = train(*bitext(6)).model
    assert as_set(model.links([["x", "y", "z"]], [["u", "v", "w"]])) == {(0, 0, 0), (0, 1, 1), (0, 2, 2)}


def test_no_text_has_no_links() -> None:
    model = train(*bitext(6)).model
    assert len(model.links([], [])) == len(model.links([[]], [["t1"]])) == 0
    assert as_set(train([], []).model.links([["a"]], [["b"]])) == {(0, 0, 0)}


def test_unequal_sides_are_an_error() -> None:
    with pytest.raises(InputError, match="2 source rows and 1 target rows"):
        train(*bitext(6)).model.links([["a"], ["b"]], [["c"]])
