"""The store: what is appended is read back, whole steps or nothing, whatever the moment of a kill."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.engine import run_store as room
from interlingua.engine.atomic_files import hidden_name
from interlingua.engine.run_store import Store
from interlingua.errors import InputError
from interlingua.record import Record


def record(variant: str, value: float = 0.5) -> Record:
    return Record("cka", variant, "model", "en", value, 10, target="es", layer=2, digests={"corpus": "é"}, seed=0)


def three(name: str) -> list[tuple[Record, np.ndarray | None]]:
    hits, inverse = np.array([0.0, 1.0, 1.0]), np.array([0.5, 1.0, 0.25])
    return [(record(f"{name}-a"), None), (record(f"{name}-b"), hits), (record(f"{name}-c"), inverse)]


def test_what_is_appended_is_read_back_in_order(tmp_path: Path) -> None:
    store = Store(tmp_path / "run")
    for name in ("one", "two"):
        assert not store.done(name)
        store.append(name, three(name))
        assert store.done(name)
    for opened in (store, Store(tmp_path / "run")):
        found = opened.read()
        assert [r.variant for r in found] == [f"{name}-{part}" for name in ("one", "two") for part in "abc"]
        assert [r.part for r in found] == [(1, 3), (2, 3), (3, 3)] * 2
        expected = replace(record("one-a"), step="one", part=(1, 3))
        assert found[0] == expected
        np.testing.assert_array_equal(opened.items(found[1]), [0, 1, 1])
        np.testing.assert_array_equal(opened.items(found[5]), np.array([0.5, 1, 0.25], np.float32))
        assert opened.done("one")
        assert opened.done("two")


def test_a_record_without_items_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.append("one", three("one"))
    with pytest.raises(InputError, match=r"no per-item values: 'cka one-a'"):
        store.items(store.read()[0])


@settings(max_examples=40, deadline=None)
@given(share=st.floats(0, 1))
def test_a_file_cut_anywhere_loses_whole_steps_only(tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    folder = tmp_path_factory.mktemp("store")
    store = Store(folder)
    for name in ("one", "two", "three"):
        store.append(name, three(name))
    file = folder / "records.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[: round(share * len(whole))])
    again = Store(folder)
    steps = [r.step for r in again.read()]
    finished = [name for name in ("one", "two", "three") if again.done(name)]
    assert steps == [name for name in finished for _ in range(3)]
    for name in ("one", "two", "three"):
        if not again.done(name):
            again.append(name, three(name))
    assert file.read_bytes() == whole


def test_a_write_that_fails_leaves_the_records_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    store.append("one", three("one"))
    before = (tmp_path / "records.jsonl").read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(room.os, "fsync", full)
        for made in (three("two"), [(record("plain"), None)]):
            with pytest.raises(InputError, match="no space left for results"):
                store.append("two", made)
    assert (tmp_path / "records.jsonl").read_bytes() == before
    assert not store.done("two")
    assert [path.name for path in (tmp_path / "items").iterdir()] == ["one.npz"]
    store.append("two", three("two"))
    assert len(Store(tmp_path).read()) == 6


def test_a_step_without_records_leaves_no_trace(tmp_path: Path) -> None:
    Store(tmp_path).append("none", [])
    assert not (tmp_path / "records.jsonl").exists()


def test_what_a_killed_process_left_half_written_is_swept_and_a_living_ones_kept(tmp_path):
    (tmp_path / "items").mkdir()
    alive = hidden_name(tmp_path / "items" / "a.npz")
    dead = alive.with_suffix(".999999999")
    dead.write_bytes(b"half")
    alive.write_bytes(b"half")
    Store(tmp_path)
    assert not dead.exists()
    assert alive.exists()


def test_a_store_that_nothing_is_put_in_makes_no_folder_and_a_place_that_can_hold_none_is_told_at_once(tmp_path):
    Store(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write results"):
        Store(tmp_path / "file" / "run")


@pytest.mark.reliability("damaged state of a stopped run")
@pytest.mark.parametrize("data", [None, b"", b"half", b"{}"])
def test_a_step_whose_values_are_gone_or_damaged_is_made_anew(tmp_path, data):
    store = Store(tmp_path)
    store.append("a", [(record("debiased"), np.arange(3.0))])
    store.append("b", [(record("debiased"), np.arange(4.0))])
    file = tmp_path / "items" / "a.npz"
    file.unlink() if data is None else file.write_bytes(data)
    again = Store(tmp_path)
    assert (again.done("a"), again.done("b")) == (False, True)
    again.append("a", [(record("debiased"), np.arange(3.0))])
    assert [again.items(each).tolist() for each in again.read()] == [[0, 1, 2, 3], [0, 1, 2]]
