"""A tiny encoder without dropout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import models
from interlingua.encoder import Encoder

STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """The models are tiny, and threads that wait for each other on a busy machine take most of the time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def still_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return models.bert(tmp_path_factory.mktemp("models") / "still", positions=64, hidden_size=64, **STILL)


@pytest.fixture
def encoder(still_folder: Path) -> Encoder:
    return Encoder.load(str(still_folder), device="cpu", precision="fp32")
