"""What is kept of a language from pair to pair decides the time, never a number."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from interlingua.analyses.space_measures import (
    Language,
    MeasurePlan,
    describe_exclusions,
    measure_language,
    measure_pair,
)
from interlingua.corpus import ParallelCorpus
from interlingua.encoder import Representations
from interlingua.measures.cka import _gram
from interlingua.measures.tokenization import Splits
from interlingua.measures.vectors import MemoryBudget

ROWS = 40
CORPUS = ParallelCorpus.of(
    {
        "en": [f"row {n} of words" for n in range(ROWS)],
        "es": [f"fila {n} de palabras" for n in range(ROWS)],
        "ru": [f"строка {n} слов" if n % 4 else None for n in range(ROWS)],
    }
)
PLAN = MeasurePlan(("retrieval", "procrustes", "cka"))


def language(code: str, seed: int, room: int) -> Language:
    draw = np.random.default_rng(seed)
    rows = CORPUS.rows_of(code)
    vectors = draw.normal(size=(3, len(rows), 6)).astype(np.float32)
    sentences = Representations(
        list(vectors), (0, 1, 2), "sentence", np.arange(len(rows)), np.zeros((len(rows), 2), np.int64)
    )
    none = np.zeros(0, np.int64)
    splits = Splits(len(rows), none, none, none, none, none.astype(bool))
    encoder: Any = SimpleNamespace(digest="d", name="m", pooling="mean", mean="mean", output_layer=None, causal=False)
    return Language(code, encoder, rows, CORPUS.column(code), sentences, None, splits, MemoryBudget(room))


def languages(room: int) -> list[Language]:
    return [language(code, seed, room) for seed, code in enumerate(CORPUS.languages)]


def measured(spaces: list[Language]) -> list[Any]:
    pairs = [(a, b) for place, a in enumerate(spaces) for b in spaces[place + 1 :]]
    return [record for a, b in pairs for record, _ in measure_pair(a, b, CORPUS, None, PLAN)]


@pytest.mark.parametrize("room", [0, 3000, 10**8])
def test_records_are_the_same_whatever_is_kept(room: int) -> None:
    spaces = languages(room)
    expected = [record for a, b in ((0, 1), (0, 2), (1, 2)) for record in measured([languages(0)[a], languages(0)[b]])]
    assert measured(spaces) == expected
    assert measured(spaces) == expected


def test_all_sentences_are_one_side_for_every_pair_and_some_of_them_are_not() -> None:
    english = language("en", 0, 10**6)
    everything = np.arange(ROWS)
    gram = english.side(1, everything).of(_gram, 0)
    assert english.side(1, everything).of(_gram, 0) is gram
    assert english.side(2, everything).of(_gram, 0) is not gram
    part = english.side(1, everything[::2])
    np.testing.assert_array_equal(part.vectors, english.sentences[1][::2])
    assert part.of(_gram, 0) is not part.of(_gram, 0)


def test_without_room_nothing_is_kept() -> None:
    english = language("en", 0, 100)
    side = english.side(1, np.arange(ROWS))
    assert side.of(_gram, 0) is not side.of(_gram, 0)


@pytest.mark.reliability("attention sinks")
@pytest.mark.parametrize("place", [0, 3, 19])
def test_words_that_are_sinks_in_some_layer_are_in_no_measure_of_words(place: int) -> None:
    draw = np.random.default_rng(5)
    vectors = draw.normal(size=(3, 20, 6)).astype(np.float32)
    vectors[1, place] *= 100
    row, kept = np.arange(20) // 2, np.delete(np.arange(20), place)
    spans = np.stack([np.arange(20) % 2 * 5, np.arange(20) % 2 * 5 + 4], axis=1)
    plan = MeasurePlan(("isotropy",))

    def measured(items: np.ndarray, *, sinkless: bool) -> tuple[list[float], Language]:
        words = Representations(list(vectors[:, items]), (0, 1, 2), "word", row[items], spans[items])
        found = replace(language("en", 0, 0), words=words, sinkless=sinkless)
        return [record.value for record, _ in measure_language(found, CORPUS, plan)], found

    values, found = measured(np.arange(20), sinkless=True)
    assert found.usable.tolist() == kept.tolist()
    assert values == measured(kept, sinkless=False)[0]
    assert values != measured(np.arange(20), sinkless=False)[0]
    assert sorted(found.item_table.values()) == kept.tolist()
    assert "1 word of en that is" in " ".join(describe_exclusions(CORPUS, [], [found])).replace("are", "is")
