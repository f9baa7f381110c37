"""Locks of steps: one holder at a time, whoever races; the dead keep none."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from interlingua.engine import locks as locks_module
from interlingua.engine.locks import Owner, holder, living_tokens


def forge(lock: Path, **told: Any) -> None:
    """A lock of a process that is not ours."""
    own = holder(lock)
    assert own is not None
    said = json.dumps({**vars(own), "token": "other", **told})
    lock.unlink()
    lock.write_text(said)


def test_a_lock_has_one_holder_until_it_is_let_go(tmp_path: Path) -> None:
    first, second, lock = Owner(tmp_path), Owner(tmp_path), tmp_path / "step.lock"
    assert first.take(lock)
    assert not second.take(lock)
    second.release(lock)  # not theirs to let go
    assert holder(lock) == holder(tmp_path / f".owner.{first.token}")
    first.release(lock)
    assert second.take(lock)


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    own, lock = Owner(tmp_path), tmp_path / "step.lock"
    dead = multiprocessing.get_context("spawn").Process(target=os.getpid)
    dead.start()
    dead.join()
    assert own.take(lock)
    forge(lock, pid=dead.pid)
    assert Owner(tmp_path).take(lock)
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith(".")) == ["step.lock"]


def test_a_number_that_another_process_has_now_is_not_taken_for_its_first_owner(tmp_path: Path) -> None:
    own, lock = Owner(tmp_path), tmp_path / "step.lock"
    own.take(lock)
    forge(lock, started="1")  # our own number, but a process of another time
    assert Owner(tmp_path).take(lock)


@pytest.mark.parametrize(
    ("age", "taken"), [(0.0, False), (locks_module.STALE / 2, False), (locks_module.STALE * 2, True)]
)
def test_the_lock_of_another_machine_is_taken_over_when_it_is_silent_for_long(
    tmp_path: Path, age: float, taken: bool
) -> None:
    own, lock = Owner(tmp_path), tmp_path / "step.lock"
    own.take(lock)
    forge(lock, host="elsewhere")
    os.utime(lock, (time.time() - age, time.time() - age))
    assert Owner(tmp_path).take(lock) is taken


def test_a_lock_whose_text_is_lost_is_let_go_when_it_is_old(tmp_path: Path) -> None:
    own, lock = Owner(tmp_path), tmp_path / "step.lock"
    lock.touch()
    assert not own.take(lock)
    os.utime(lock, (0, 0))
    assert own.take(lock)


def test_a_claim_left_by_a_death_does_not_keep_the_lock(tmp_path: Path) -> None:
    own, lock = Owner(tmp_path), tmp_path / "step.lock"
    own.take(lock)
    forge(lock, started="1")
    claim = tmp_path / "step.lock.other"
    claim.write_text(lock.read_text())
    assert Owner(tmp_path).take(lock)


def test_the_heartbeat_is_that_of_all_locks_of_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks_module, "BEAT", 0.01)
    own, locks = Owner(tmp_path), [tmp_path / f"{name}.lock" for name in "ab"]
    for lock in locks:
        own.take(lock)
        os.utime(lock, (0, 0))
    until = time.monotonic() + 60
    while min(lock.stat().st_mtime for lock in locks) < 1 and time.monotonic() < until:
        time.sleep(0.01)
    assert all(time.time() - lock.stat().st_mtime < 60 for lock in locks)
    own.leave()


def test_the_files_of_the_dead_are_removed_and_those_of_the_living_stay(tmp_path: Path) -> None:
    living, dead = Owner(tmp_path), Owner(tmp_path)
    file = tmp_path / f".owner.{dead.token}"
    file.write_text(file.read_text().replace('"started": "', '"started": "1'))
    assert living_tokens(tmp_path) == {living.token}
    assert not file.exists()


def race(folder: Path, line: Connection[Any, Any], rounds: int) -> None:
    own = Owner(folder)
    for number in range(rounds):
        line.recv()
        line.send(own.take(folder / f"{number}.lock"))


def test_of_many_that_race_for_a_dead_owners_lock_one_gets_it(tmp_path: Path) -> None:
    own, rounds, context = Owner(tmp_path), 60, multiprocessing.get_context("spawn")
    lines = []
    for _ in range(4):
        ours, theirs = context.Pipe()
        context.Process(target=race, args=(tmp_path, theirs, rounds), daemon=True).start()
        lines.append(ours)
    for number in range(rounds):
        lock = tmp_path / f"{number}.lock"
        own.take(lock)
        if number % 2:
            forge(lock, started="1")
        else:
            own.release(lock)
        for line in lines:
            line.send(None)
        assert sum(line.recv() for line in lines) == 1
