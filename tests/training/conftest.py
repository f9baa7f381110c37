"""A few kilobytes of text a language, of different rows, so that nothing in it is parallel; and a config for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from interlingua.readers import read_corpus
from tiny import LANGUAGES, TINY, as_toml


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """The models are tiny, and threads that wait for each other on a busy machine take most of the time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `text/xx.txt`, and `held-out.tsv`: parallel rows that are in no text."""
    home = tmp_path_factory.mktemp("pretraining")
    sampler = read_corpus("sampler", languages=LANGUAGES)
    (home / "text").mkdir()
    for number, code in enumerate(LANGUAGES):
        rows = sampler.column(code)[number * 100 : (number + 1) * 100]
        (home / "text" / f"{code}.txt").write_text("\n".join(rows) + "\n", "utf-8")
    held_out = zip(*(sampler.column(code)[-30:] for code in LANGUAGES), strict=True)
    lines = ["\t".join(LANGUAGES), *("\t".join(row) for row in held_out)]
    (home / "held-out.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return home


@pytest.fixture
def write_config(texts: Path, tmp_path: Path) -> Callable[..., Path]:
    """Writes the tiny config, changed section by section, beside links to the texts."""

    def write(name: str = "config.toml", **changes: dict[str, object]) -> Path:
        for place in ("text", "held-out.tsv"):
            if not (tmp_path / place).exists():
                (tmp_path / place).symlink_to(texts / place)
        sections = {**{key: {} for key in changes}, **TINY}
        whole = {key: {**keys, **changes.get(key, {})} for key, keys in sections.items()}
        path = tmp_path / name
        path.write_text(as_toml(whole), "utf-8")
        return path

    return write
