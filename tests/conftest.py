from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
os.environ["HF_HUB_OFFLINE"] = "1"  # Read when huggingface_hub is imported: no test reaches for a hub.
# The same examples on every run, so that a change is judged by what it changed; `HYPOTHESIS=random` looks for new ones.
settings.register_profile("same", derandomize=True)
settings.load_profile("default" if os.environ.get("HYPOTHESIS") == "random" else "same")
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not SHARED.is_dir():
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(pytest.mark.skip(reason="../shared is not here"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    return SHARED


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("INTERLINGUA_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import models

    return models.bert(tmp_path_factory.mktemp("models") / "bert")
