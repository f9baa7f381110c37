from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from clients import Client
from interlingua.encoder import Cache, Encoder
from interlingua.explorer.corpus_index import CorpusIndex
from interlingua.explorer.explorer import Explorer
from interlingua.explorer.server import ExplorerServer
from interlingua.readers import read_corpus

LANGUAGES = ["en", "es", "ar", "zh"]
ROWS = 30


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    return Encoder.load("embedded", device="cpu")


@pytest.fixture(scope="session")
def shelf(encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    corpus = read_corpus("sampler", languages=LANGUAGES).take(np.arange(ROWS))
    return CorpusIndex.of(encoder, corpus, cache=Cache(Path(tmp_path_factory.mktemp("shelf"))))


@pytest.fixture(scope="session")
def explorer(shelf: CorpusIndex) -> Explorer:
    return Explorer((shelf,), shelf.corpus)


@pytest.fixture
def server(explorer: Explorer) -> Iterator[ExplorerServer]:
    with ExplorerServer(explorer) as running:
        yield running


@pytest.fixture
def client(server: ExplorerServer) -> Client:
    return Client(server)
