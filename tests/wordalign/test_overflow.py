"""The temporary file: what was put there comes back, from any thread, and a full disk is an error with a remedy."""

from __future__ import annotations

import random
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from io import FileIO
from pathlib import Path
from typing import Any

import pytest
import torch

from interlingua.errors import InputError, InterlinguaError
from interlingua.wordalign.cooccurrence import EntryStore
from interlingua.wordalign.spill import SpillFile


def test_parts_come_back_from_many_threads_in_any_order() -> None:
    parts = [bytes([number]) * (number * 37 % 1000) for number in range(200)]
    file = SpillFile("a test")
    with ThreadPoolExecutor(4) as pool:
        offsets = list(pool.map(file.append, parts))

        def read(number: int) -> bytes:
            buffer = bytearray(len(parts[number]))
            file.read_into(buffer, offsets[number])
            return bytes(buffer)

        order = random.Random(0).sample(range(200), 200)
        assert list(pool.map(read, order)) == [parts[number] for number in order]
    file.close()


def test_a_full_disk_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("Usage", (), {"free": 3}))
    with pytest.raises(InputError, match=r"no room for a test .*TMPDIR") as error:
        SpillFile("a test").append(b"four")
    assert error.value.file == tempfile.gettempdir()
    file = SpillFile("a test")
    assert file.append(b"two") == 0  # Room for as much is enough.
    file.close()


class _Slow(FileIO):
    """A file that takes and gives three bytes at a time, as one of Linux does two gibibytes."""

    def write(self, data: Any, /) -> int:
        return super().write(memoryview(data)[:3])

    def readinto(self, buffer: Any, /) -> int:
        return super().readinto(memoryview(buffer)[:3])


def test_what_the_disk_takes_and_gives_in_parts_comes_back_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: _Slow(tmp_path / "file", "w+"))
    file, parts = SpillFile("a test"), [b"", b"abcdefgh", b"ij", b"klmnop"]
    offsets = [file.append(part) for part in parts]
    for part, offset in zip(parts, offsets, strict=True):
        buffer = bytearray(len(part))
        file.read_into(buffer, offset)
        assert bytes(buffer) == part
    file.close()


class _Hesitant(FileIO):
    """A file that lets other threads run before it writes or reads."""

    def write(self, data: Any, /) -> int:
        time.sleep(0.001)
        return super().write(memoryview(data)[:3])

    def readinto(self, buffer: Any, /) -> int:
        time.sleep(0.001)
        return super().readinto(buffer)


def test_threads_that_interrupt_one_another_neither_mix_what_they_write_nor_what_they_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: _Hesitant(tmp_path / "file", "w+"))
    file, parts = SpillFile("a test"), [bytes([number]) * (4 + number) for number in range(12)]

    def read(offset: int, size: int) -> bytes:
        buffer = bytearray(size)
        file.read_into(buffer, offset)
        return bytes(buffer)

    with ThreadPoolExecutor(4) as pool:
        offsets = list(pool.map(file.append, parts))
        assert list(pool.map(read, offsets, map(len, parts))) == parts
    file.close()


def test_the_file_is_given_back_when_closed_whoever_else_holds_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    held = FileIO(tmp_path / "file", "w+")
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: held)
    file = SpillFile("a test")
    file.append(b"some")
    assert not held.closed
    file.close()
    assert held.closed


def test_what_was_never_written_is_an_error_rather_than_waited_for() -> None:
    file = SpillFile("a test")
    file.append(b"some")
    with pytest.raises(InterlinguaError, match="the temporary file of a test ends before 5 bytes"):
        file.read_into(bytearray(3), 2)
    file.close()


def test_a_file_that_is_closed_may_be_closed_again_and_begins_anew() -> None:
    file = SpillFile("a test")
    file.close()
    assert file.append(b"some") == 0
    file.close()
    file.close()
    assert file.append(b"more") == 0
    buffer = bytearray(4)
    file.read_into(buffer, 0)
    assert bytes(buffer) == b"more"
    file.close()


@pytest.mark.parametrize("budget", [0, 40, 1000])
def test_a_store_gives_back_what_it_was_given_whatever_its_budget(budget: int) -> None:
    store = EntryStore(budget, torch.device("cpu"))
    arrays = [torch.arange(count, dtype=torch.int32) for count in (7, 0, 3, 12)]
    kept = [store.keep(array) for array in arrays]
    joined = store.keep(arrays[0], arrays[2])
    for array, place in zip(arrays, kept, strict=True):
        assert torch.equal(store.get(place), array)
    assert store.get(joined).tolist() == [*range(7), *range(3)]
    room = budget
    for place, count in zip((*kept, joined), (7, 0, 3, 12, 10), strict=True):
        assert (place.memory is not None) == (4 * count <= room)  # What fits is in memory, to the last byte.
        room -= 4 * count * (place.memory is not None)
    store.close()


def test_a_store_may_take_a_gibibyte_or_half_of_what_is_free_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    free = {torch.device("cuda:0"): (1001, 5000), torch.device("cuda:1"): (77, 5000)}
    monkeypatch.setattr(torch.cuda, "mem_get_info", free.__getitem__)
    assert EntryStore.on(torch.device("cpu")).budget == 1024**3
    assert [EntryStore.on(device).budget for device in free] == [500, 38]
    for device in (torch.device("cpu"), *free):
        assert EntryStore.on(device, 0).budget == 0
        assert EntryStore.on(device, 7).device == device
