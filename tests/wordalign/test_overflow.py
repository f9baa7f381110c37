"""The temporary file: what was put there comes back, from any thread, and a full disk is an error with a remedy."""

from __future__ import annotations

import random
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from interlingua.errors import InputError
from interlingua.wordalign.entries import EntryStore
from interlingua.wordalign.overflow import Overflow


def test_parts_come_back_from_many_threads_in_any_order() -> None:
    parts = [bytes([number]) * (number * 37 % 1000) for number in range(200)]
    file = Overflow("a test")
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
        Overflow("a test").append(b"four")
    assert error.value.file == tempfile.gettempdir()


@pytest.mark.parametrize("budget", [0, 40, 1000])
def test_a_store_gives_back_what_it_was_given_whatever_its_budget(budget: int) -> None:
    store = EntryStore(budget, torch.device("cpu"))
    arrays = [torch.arange(count, dtype=torch.int32) for count in (7, 0, 3, 12)]
    kept = [store.keep(array) for array in arrays]
    joined = store.keep(arrays[0], arrays[2])
    for array, place in zip(arrays, kept, strict=True):
        assert torch.equal(store.get(place), array)
    assert store.get(joined).tolist() == [*range(7), *range(3)]
    in_memory = sum(place.memory.numel() * 4 for place in (*kept, joined) if place.memory is not None)
    assert in_memory <= budget
    store.close()
