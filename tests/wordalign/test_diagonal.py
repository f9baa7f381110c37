"""The word aligner against the same model written as loops over words."""

from __future__ import annotations

import math
import random
from collections import defaultdict

import pytest
from scipy.special import digamma

from interlingua.wordalign import link_words

Rows = list[list[str]]
Found = set[tuple[int, int, int]]


def by_loops(source: Rows, target: Rows, *, iterations: int = 5, null: float = 0.08, tension: float = 4.0) -> Found:
    """Dyer et al. 2013 with variational Bayes, word by word: the best source word of each target word but null."""
    alpha = 0.01
    theta: dict[tuple[str | None, str], float] = defaultdict(lambda: 1.0)  # Uniform: any constant is.

    def weights(row: int, place: int) -> dict[int | None, float]:
        ours, theirs = source[row], target[row]
        near = [
            math.exp(-tension * abs((place + 1) / len(theirs) - (column + 1) / len(ours)))
            for column in range(len(ours))
        ]
        found: dict[int | None, float] = {None: null * theta[None, theirs[place]]}
        for column, weight in enumerate(near):
            found[column] = (1 - null) * weight / sum(near) * theta[ours[column], theirs[place]]
        return found

    for _ in range(iterations):
        counts: dict[tuple[str | None, str], float] = defaultdict(float)
        for row, theirs in enumerate(target):
            for place, word in enumerate(theirs):
                found = weights(row, place)
                for column, weight in found.items():
                    key = None if column is None else source[row][column]
                    counts[key, word] += weight / sum(found.values())
        totals: dict[str | None, float] = defaultdict(float)
        for (key, _), count in counts.items():
            totals[key] += count + alpha
        theta = defaultdict(float)
        for (key, word), count in counts.items():
            theta[key, word] = math.exp(digamma(count + alpha) - digamma(totals[key]))
    links: Found = set()
    for row, theirs in enumerate(target):
        for place in range(len(theirs)):
            found = weights(row, place)
            best = max(found, key=lambda column: found[column])
            if best is not None:
                links.add((row, best, place))
    return links


def bitext(seed: int, rows: int = 12) -> tuple[Rows, Rows]:
    """Random sentences and their word-by-word translation, shuffled a little, with words dropped and added."""
    draw = random.Random(seed)
    source: Rows = [[f"s{draw.randrange(9)}" for _ in range(draw.randint(1, 7))] for _ in range(rows)]
    target: Rows = []
    for words in source:
        out = [f"t{word[1:]}" for word in words if draw.random() > 0.15] + ["t99"] * (draw.random() < 0.3)
        if len(out) > 1 and draw.random() < 0.5:
            place = draw.randrange(len(out) - 1)
            out[place : place + 2] = out[place + 1], out[place]
        target.append(out or ["t99"])
    return source, target


def linked(source: Rows, target: Rows) -> Found:
    links = link_words(source, target)
    return set(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_links_are_those_of_the_same_model_in_loops(seed: int) -> None:
    source, target = bitext(seed)
    backward = {(row, place, column) for row, column, place in by_loops(target, source)}
    assert linked(source, target) == by_loops(source, target) & backward


@pytest.mark.parametrize("seed", range(4))
def test_swapping_the_sides_swaps_the_links(seed: int) -> None:
    source, target = bitext(seed)
    assert linked(target, source) == {(row, place, column) for row, column, place in linked(source, target)}


def test_no_word_has_two_links() -> None:
    found = linked(*bitext(1, rows=60))
    assert (
        len({(row, column) for row, column, _ in found}) == len({(row, place) for row, _, place in found}) == len(found)
    )


def test_names_of_words_do_not_matter() -> None:
    source, target = bitext(2)
    renamed = [[f"{word}-x" for word in row] for row in source]
    assert linked(renamed, target) == linked(source, target)


def test_a_translation_word_by_word_is_found_whole() -> None:
    draw = random.Random(0)
    source = [[f"s{number}" for number in draw.sample(range(12), 5)] for _ in range(60)]
    target = [[f"t{word[1:]}" for word in row] for row in source]
    assert linked(source, target) == {(row, place, place) for row in range(60) for place in range(5)}


def test_rows_without_words_have_no_links() -> None:
    assert linked([[], ["s1", "s2"], []], [["t1"], ["t1", "t2"], []]) <= {(1, a, b) for a in range(2) for b in range(2)}
    assert linked([], []) == set()
    assert linked([[]], [[]]) == set()
