"""AER, precision, recall and F1 against definitions written out, and scores that tell bad pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from interlingua.errors import InputError
from interlingua.wordalign import quality as measuring
from interlingua.wordalign.links import Links
from interlingua.wordalign.quality import Gold, LinkCounts, count_links, quality, score_pairs

Cells = set[tuple[int, int]]


def links_of(rows: list[Cells]) -> Links:
    return Links.of(*np.array([(r, s, t) for r, row in enumerate(rows) for s, t in row], np.int64).reshape(-1, 3).T)


def gold_of(sure: list[Cells], possible: list[Cells], marked: list[bool] | None = None) -> Gold:
    both = [s | p for s, p in zip(sure, possible, strict=True)]
    return Gold(links_of(sure), links_of(both), np.array([True] * len(sure) if marked is None else marked))


def test_the_numbers_of_a_sentence_worked_by_hand() -> None:
    # A = 4 links; 2 of them sure, 1 more possible; S = 3: P 3/4, R 2/3, AER 1 - (2 + 3) / (4 + 3).
    found = links_of([{(0, 0), (1, 1), (2, 3), (3, 0)}])
    gold = gold_of([{(0, 0), (1, 1), (2, 2)}], [{(2, 3)}])
    scores = {name: score.value for name, score in quality(count_links(found, gold)).items()}
    assert scores["precision"] == pytest.approx(3 / 4)
    assert scores["recall"] == pytest.approx(2 / 3)
    assert scores["aer"] == pytest.approx(2 / 7)
    assert scores["f1"] == pytest.approx(2 * (3 / 4) * (2 / 3) / (3 / 4 + 2 / 3))


def test_the_null_is_the_mean_over_all_ways_to_deal_links_to_rows() -> None:
    rows: list[Cells] = [{(0, 0), (1, 1)}, {(0, 0), (1, 2), (2, 1)}, {(1, 1)}, {(0, 1), (1, 0), (2, 2)}]
    sure: list[Cells] = [{(0, 0)}, {(0, 0), (1, 2)}, {(1, 1), (2, 2)}, {(0, 1)}]
    gold = gold_of(sure, [{(1, 1)}, {(2, 1)}, {(0, 0)}, {(1, 0)}])
    dealt = [quality(count_links(links_of([rows[at] for at in order]), gold), times=2)
             for order in itertools.permutations(range(4))]  # fmt: skip
    scores = quality(count_links(links_of(rows), gold), times=2)
    for name in ("aer", "precision", "recall"):
        assert scores[name].null == pytest.approx(np.mean([found[name].value for found in dealt]))


ROW = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


@given(st.lists(st.tuples(ROW, ROW, ROW, st.booleans()), min_size=1, max_size=6))
def test_sums_over_rows_equal_sets_counted_one_by_one(rows: list[tuple[Cells, Cells, Cells, bool]]) -> None:
    found, sure, possible, marked = (list(column) for column in zip(*rows, strict=True))
    if not any(marked):
        with pytest.raises(InputError, match="gold speaks of no row"):
            quality(count_links(links_of(found), gold_of(sure, possible, marked)))
        return
    gold = gold_of(sure, possible, marked)
    # What a reader of gold gives has no links in rows that are not marked.
    gold = Gold(*(Links(*(part[gold.marked[one.row]] for part in (one.row, one.source, one.target)))
                  for one in (gold.sure, gold.possible)), gold.marked)  # fmt: skip
    scores = quality(count_links(links_of(found), gold), times=10)
    a = s = a_s = a_p = 0
    for one, certain, maybe, counts in rows:
        if counts:
            a, s = a + len(one), s + len(certain)
            a_s, a_p = a_s + len(one & certain), a_p + len(one & (certain | maybe))
    assert scores["precision"].value == pytest.approx(a_p / a if a else 0)
    assert scores["recall"].value == pytest.approx(a_s / s if s else 0)
    assert scores["aer"].value == pytest.approx(1 - (a_s + a_p) / (a + s) if a + s else 0)


def test_with_sure_links_alone_aer_is_one_minus_f1() -> None:
    draw = np.random.default_rng(3)
    cells = [[{(int(a), int(b)) for a, b in draw.integers(0, 6, (8, 2))} for _ in range(40)] for _ in range(2)]
    scores = quality(count_links(links_of(cells[0]), gold_of(cells[1], [set()] * 40)))
    assert scores["aer"].value == pytest.approx(1 - scores["f1"].value)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    # Rows are drawn from a known population: AER of the population should lie in the interval 95 times of 100.
    draw = np.random.default_rng(5)
    population = draw.integers(0, 12, (5000, 4))
    population[:, 2] = draw.binomial(np.minimum(population[:, 0], population[:, 1]), 0.7)
    population[:, 3] = population[:, 2] + draw.binomial(population[:, 0] - population[:, 2], 0.2)
    truth = quality(LinkCounts(*population.T), times=2)["aer"].value
    inside = 0
    for number in range(200):
        sample = population[draw.integers(0, len(population), 60)]
        score = quality(LinkCounts(*sample.T), seed=number, times=400)["aer"]
        inside += score.low <= truth <= score.high
    assert 0.89 <= inside / 200 <= 0.99


def test_the_same_seed_gives_the_same_interval() -> None:
    counts = LinkCounts(*np.random.default_rng(0).integers(1, 5, (4, 30)))
    assert quality(counts, seed=4) == quality(counts, seed=4)
    assert quality(counts, seed=4)["aer"].low != quality(counts, seed=5)["aer"].low


def test_a_score_is_the_mean_log_probability_of_a_word_and_the_share_of_words_linked() -> None:
    links = Links.of([0, 0, 0], [0, 0, 1], [0, 1, 2])
    scores = score_pairs([(2, 4), (3, 1), (-1, -1)], links, np.array([-8.0, -1.0, 0.0]), np.array([-2.0, -9.0, 0.0]))
    assert scores.likelihood[:2].tolist() == [(-8 / 4 - 2 / 2) / 2, (-1 / 1 - 9 / 3) / 2]
    assert scores.linked[:2].tolist() == [(2 + 3) / 6, 0.0]
    assert np.isnan(scores.likelihood[2])
    assert np.isnan(scores.linked[2])


def test_without_a_model_there_is_the_share_of_linked_words_alone() -> None:
    scores = score_pairs([(1, 1)], Links.of([0], [0], [0]))
    assert np.isnan(scores.likelihood).all()
    assert scores.linked.tolist() == [1.0]


@given(st.lists(ROW, min_size=1, max_size=7), st.sampled_from([1, 3, 100]))
def test_words_with_a_link_are_counted_once_however_many_rows_are_counted_at_once(rows: list[Cells], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "_ROWS_AT_ONCE", size)
        scores = score_pairs([(5, 5)] * len(rows), links_of(rows))
    linked = [len({s for s, _ in row}) + len({t for _, t in row}) for row in rows]
    assert scores.linked.tolist() == [count / 10 for count in linked]


@pytest.mark.parametrize("name", ["aer", "precision", "recall", "f1"])
def test_intervals_are_scipys_percentiles_over_rows(name: str) -> None:
    draw = np.random.default_rng(6)
    found, sure = draw.integers(2, 12, (2, 40))
    in_sure = draw.binomial(np.minimum(found, sure), 0.6)
    in_possible = in_sure + draw.binomial(found - in_sure, 0.4)

    def value(a, s, a_s, a_p, axis=-1):  # type: ignore[no-untyped-def]
        a, s, a_s, a_p = (np.sum(part, axis=axis) for part in (a, s, a_s, a_p))
        precision, recall = a_p / a, a_s / s
        f1 = 2 * precision * recall / (precision + recall)
        return {"aer": 1 - (a_s + a_p) / (a + s), "precision": precision, "recall": recall, "f1": f1}[name]

    parts = found, sure, in_sure, in_possible
    score = quality(LinkCounts(*parts), times=10_000)[name]
    expected = scipy_stats.bootstrap(
        parts, value, n_resamples=10_000, paired=True, vectorized=True, method="percentile", rng=1
    )
    close = 0.1 * expected.standard_error
    assert (score.low, score.high) == pytest.approx(tuple(expected.confidence_interval), abs=close)
    assert (score.value, score.n) == (pytest.approx(value(*parts)), 40)


def test_nothing_found_and_nothing_to_find_is_no_error_and_no_merit() -> None:
    nothing = quality(LinkCounts(*np.zeros((4, 3), np.int64)))
    assert {name: score.value for name, score in nothing.items()} == {"aer": 0, "precision": 0, "recall": 0, "f1": 0}
    all_wrong = quality(LinkCounts(np.array([2]), np.array([1]), np.array([0]), np.array([0])))
    assert {name: score.value for name, score in all_wrong.items()} == {"aer": 1, "precision": 0, "recall": 0, "f1": 0}


def test_a_row_with_an_empty_side_has_no_score() -> None:
    nothing = Links.of([], [], [])
    scores = score_pairs([(0, 3), (3, 0), (1, 1)], nothing, np.full(3, -1.0), np.full(3, -1.0))
    assert np.isnan(scores.likelihood).tolist() == np.isnan(scores.linked).tolist() == [True, True, False]
    for sides in ((np.full(1, -1.0), None), (None, np.full(1, -1.0))):
        assert np.isnan(score_pairs([(1, 1)], nothing, *sides).likelihood).all()
