"""One thread: the models are tiny, and threads that wait for each other on a busy machine take most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from toys import Toy, make_toy


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return make_toy(tmp_path / "toy")
