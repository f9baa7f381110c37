"""The prior of positions and the arithmetic beneath training, against sums and other libraries."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import digamma, gammaln

from interlingua.wordalign import vocabulary as hashing
from interlingua.wordalign.diagonal import TENSIONS, Groups, Prior, TargetPlaces
from interlingua.wordalign.em_steps import best_tension, fast_align_tension, log_gamma_and_digamma
from interlingua.wordalign.vocabulary import distinct

SHAPES = [(1, 1), (1, 7), (7, 1), (5, 5), (6, 4), (4, 6), (40, 33), (300, 2)]


def places_of(shapes: list[tuple[int, int]]) -> tuple[TargetPlaces, torch.Tensor]:
    n, m = zip(*shapes, strict=True)
    return TargetPlaces.of(torch.tensor(n), torch.tensor(m))


def distances(n: int, m: int, j: int) -> list[float]:
    return [abs(i / n - j / m) for i in range(1, n + 1)]


@pytest.mark.parametrize("tension", [0.1, 1.0, 4.0, 14.0])
def test_the_normaliser_in_closed_form_is_the_sum_and_its_slope_the_mean_distance(tension: float) -> None:
    places, _ = places_of(SHAPES)
    logs, slopes = places.log_normaliser(tension)
    triples = zip(places.source_length.tolist(), places.target_length.tolist(), places.position.tolist(), strict=True)
    for (n, m, j), log, slope in zip(triples, logs.tolist(), slopes.tolist(), strict=True):
        weights = [math.exp(-tension * h) for h in distances(n, m, j)]
        mean = sum(w * h for w, h in zip(weights, distances(n, m, j), strict=True)) / sum(weights)
        assert log == pytest.approx(math.log(sum(weights)), abs=1e-9)
        assert slope == pytest.approx(-mean, abs=1e-9)


def test_the_prior_of_a_word_is_one_less_nulls_and_falls_with_the_distance() -> None:
    places, firsts = places_of(SHAPES)
    prior = Prior(places, 4.0, 0.08, dtype=torch.float64)
    for (n, m), first in zip(SHAPES, firsts.tolist(), strict=True):
        here = torch.arange(first, first + m)
        groups = Groups((n,), (m,))
        weights = prior.weights(groups, here)
        far = weights.clone()
        prior.times_distances(far, groups, here)
        expected = np.array([distances(n, m, j) for j in range(1, m + 1)])
        plain = np.exp(-4 * expected)
        plain *= 0.92 / plain.sum(axis=1, keepdims=True)
        assert np.allclose(weights.view(m, n), plain, atol=1e-12)
        assert np.allclose(far.view(m, n), plain * expected, atol=1e-12)


@given(
    h=st.floats(0.001, 0.6),
    start=st.floats(*TENSIONS),
    mass=st.lists(st.floats(0, 50), min_size=12, max_size=12).filter(lambda values: sum(values) > 1),
)
@settings(max_examples=30, deadline=None)
def test_the_best_tension_is_the_maximum_and_the_way_there_rises(h: float, start: float, mass: list[float]) -> None:
    places, _ = places_of([(5, 5), (9, 7)])
    weight = torch.tensor(mass, dtype=torch.float64)
    distance = h * float(weight.sum())

    def gain(tension: float) -> float:
        return -tension * distance - float((weight * places.log_normaliser(tension)[0]).sum())

    found = best_tension(places, weight, distance, start)
    best = minimize_scalar(lambda tension: -gain(tension), bounds=TENSIONS, method="bounded", options={"xatol": 1e-7})
    assert gain(found) >= -best.fun - 1e-7 * abs(best.fun)
    way = [gain(start + part * (found - start)) for part in (0.0, 0.05, 0.5, 1.0)]
    assert all(after >= before - 1e-9 * abs(before) for before, after in itertools.pairwise(way))


@pytest.mark.parametrize(("h", "end"), [(0.0, TENSIONS[1]), (0.9, TENSIONS[0])])
@pytest.mark.parametrize("start", [*TENSIONS, 4.0])
def test_where_the_objective_rises_or_falls_all_the_way_the_best_tension_is_the_end(
    h: float, end: float, start: float
) -> None:
    places, _ = places_of([(5, 5), (9, 7)])
    assert best_tension(places, torch.ones(12, dtype=torch.float64), 12 * h, start) == end


@pytest.mark.parametrize("start", [*TENSIONS, 4.0])
@pytest.mark.parametrize("tension", [0.11, 0.5, 3.0, 13.0, 13.99])
def test_links_as_far_from_the_diagonal_as_a_tension_has_them_give_that_tension(tension: float, start: float) -> None:
    shapes = [(5, 5), (9, 7)]
    total = 0.0
    for n, m in shapes:
        for j in range(1, m + 1):
            near = [math.exp(-tension * h) for h in distances(n, m, j)]
            total += sum(h * w for h, w in zip(distances(n, m, j), near, strict=True)) / sum(near)
    for mass in (0.01, 1.0, 100.0):
        weight = torch.full((12,), mass, dtype=torch.float64)
        found = best_tension(places_of(shapes)[0], weight, total * mass, start)
        assert found == pytest.approx(tension, abs=1e-4)


@pytest.mark.parametrize("start", [*TENSIONS, 4.0])
@pytest.mark.parametrize("rounding", [0.0, 1e-7, -1e-7])
def test_where_source_sentences_have_one_word_no_tension_is_better_than_another(rounding: float, start: float) -> None:
    places, _ = places_of([(1, 1), (1, 7), (1, 3)])
    mass = torch.arange(1, 12, dtype=torch.float64) / 7
    distance = float((mass * (1 - places.position / places.target_length)).sum()) * (1 + rounding)
    assert best_tension(places, mass, distance, start) == start


@pytest.mark.parametrize("distance", [0.5, 4.0, 12.0])
@pytest.mark.parametrize("start", [0.1, 2.0, 9.0])
def test_fast_aligns_tension_is_that_of_its_eight_steps_summed_word_by_word(distance: float, start: float) -> None:
    shapes = [(5, 5), (5, 5), (9, 7), (3, 6)]
    words = sum(m for _, m in shapes)
    tension = start
    for _ in range(8):
        model = 0.0
        for n, m in shapes:
            for j in range(1, m + 1):
                # Its Z has the lengths exchanged; past the last word its count wraps round: as good as endless.
                last = m if j <= n else 3_000
                z = sum(math.exp(-tension * abs(i / m - j / n)) for i in range(1, last + 1))
                model -= sum(h * math.exp(-tension * h) for h in distances(n, m, j)) / z
        tension = min(max(tension + 20 * (-distance - model) / words, TENSIONS[0]), TENSIONS[1])
    assert fast_align_tension(places_of(shapes)[0], distance, start) == pytest.approx(tension, rel=1e-9)


@pytest.mark.parametrize(("dtype", "close"), [(torch.float64, 1e-13), (torch.float32, 5e-6)])
def test_gamma_functions_are_those_of_scipy(dtype: torch.dtype, close: float) -> None:
    x = torch.tensor(np.geomspace(1e-4, 1e8, 3000), dtype=dtype)
    log_gamma, derivative = (value.double().numpy() for value in log_gamma_and_digamma(x))
    exact = x.double().numpy()
    assert np.allclose(log_gamma, gammaln(exact), rtol=close, atol=2 * close)
    assert np.allclose(derivative, digamma(exact), rtol=close, atol=2 * close)


@given(st.lists(st.integers(0, 10**12), max_size=80), st.sampled_from([1, 7, 1000, 10**12 + 1]))
def test_distinct_numbers_are_found_with_their_places(numbers: list[int], bound: int) -> None:
    keys = torch.tensor([number % bound for number in numbers], dtype=torch.int64)
    values, place = distinct(keys, bound)
    assert sorted(values.tolist()) == sorted(set(keys.tolist()))
    assert values[place.long()].tolist() == keys.tolist()


def test_numbers_that_fall_into_one_cell_again_and_again_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_FACTORS", (1, 0, 0))  # The second and third hash of every number is 0.
    keys = torch.arange(50).repeat(3) << 40
    values, place = hashing._by_hashing(keys)
    assert sorted(values.tolist()) == sorted(set(keys.tolist()))
    assert torch.equal(values[place.long()], keys)


@pytest.mark.parametrize("shift", [0, 20, 40])
def test_numbers_that_end_alike_are_found_by_hashing_and_hardly_any_is_left_to_sort(
    monkeypatch: pytest.MonkeyPatch, shift: int
) -> None:
    numbers = torch.from_numpy(np.random.default_rng(0).permutation(1 << 22)[:20_000])
    numbered, left = hashing._numbered, []

    def spy(keys: torch.Tensor, own: torch.Tensor, leader: torch.Tensor, lost: torch.Tensor) -> object:
        left.append(len(lost))
        return numbered(keys, own, leader, lost)

    monkeypatch.setattr(hashing, "_numbered", spy)
    keys = numbers.repeat(2) << shift
    values, place = hashing._by_hashing(keys)
    assert torch.equal(values[place.long()], keys)
    assert len(values) == 20_000
    # A share λ / 2 of the numbers is not alone in its cell, and of these λ² / 4 in the next round.
    crowded = 20_000 / (1 << 18)
    assert left[0] <= 5 * 40_000 * crowded**3 / 8
