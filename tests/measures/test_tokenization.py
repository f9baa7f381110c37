import itertools
import warnings

import numpy as np
import pytest
from scipy import stats

from interlingua.measures.tokenization import Splits, tokenization


def random_splits(rows=6, seed=0, vocabulary=30):
    draw = np.random.default_rng(seed)
    pieces, word_row = [], []
    for row in range(rows):
        for _ in range(draw.integers(1, 6)):
            pieces.append(draw.integers(1, 5))
            word_row.append(row)
    token_row = np.repeat(word_row, pieces)
    tokens = draw.integers(0, vocabulary, size=len(token_row))
    return Splits(rows, np.array(pieces), np.array(word_row), tokens, token_row, tokens == 0)


def test_every_share_equals_a_count_by_hand():
    source = Splits(
        2,
        pieces=np.array([1, 3, 2]),
        word_row=np.array([0, 0, 1]),
        tokens=np.array([5, 6, 7, 8, 5, 0]),
        token_row=np.array([0, 0, 0, 0, 1, 1]),
        unknown=np.array([False, False, False, False, False, True]),
    )
    target = Splits(2, np.array([1, 1]), np.array([0, 1]), np.array([5, 9]), np.array([0, 1]), np.array([False, False]))
    values = {name: score.value for name, score in tokenization(source, target).items()}
    assert values == {
        "fertility/source": 2.0,
        "continued/source": pytest.approx(2 / 3),
        "unknown/source": pytest.approx(1 / 6),
        "fertility/target": 1.0,
        "continued/target": 0.0,
        "unknown/target": 0.0,
        "overlap": pytest.approx(1 / 6),
        "agreement": pytest.approx((1 / 4 + 1 / 2) / 2),
    }


def test_null_of_agreement_is_the_mean_over_every_order_of_the_rows():
    source, target = random_splits(rows=5, seed=1), random_splits(rows=5, seed=2)
    left, right = source.tokens_per_row(), target.tokens_per_row()
    orders = [
        np.mean(np.minimum(left, right[list(order)]) / np.maximum(left, right[list(order)]))
        for order in itertools.permutations(range(5))
    ]
    assert tokenization(source, target)["agreement"].null == pytest.approx(np.mean(orders))


ONE_ROW = Splits(2, np.array([1]), np.array([0]), np.array([5]), np.array([0]), np.array([False]))


def test_rows_that_tokenise_to_nothing_are_left_out_of_agreement():
    assert tokenization(ONE_ROW, ONE_ROW)["agreement"].n == 1


def test_a_side_that_tokenises_to_nothing_gives_finite_scores_and_bounds():
    nothing = np.array([], int)
    empty = Splits(2, nothing, nothing, nothing, nothing, np.array([], bool))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = tokenization(ONE_ROW, empty)
    numbers = [number for score in scores.values() for number in (score.value, score.low, score.high)]
    assert all(number is None or np.isfinite(number) for number in numbers)
    assert "fertility/target" not in scores


def test_sides_of_unequal_rows_have_no_agreement_but_all_else():
    scores = tokenization(random_splits(rows=3), random_splits(rows=4))
    assert "agreement" not in scores
    assert len(scores) == 7


def test_bounds_of_shares_stay_between_0_and_1():
    tokens = np.zeros(5000, np.int64)
    unknown = np.zeros(5000, bool)
    unknown[7] = True
    rows = np.arange(5000)  # One word of one token each: rows are independent, and the interval is Wilson's.
    split = Splits(5000, np.full(5000, 1), rows, tokens, rows, unknown)
    scores = tokenization(split, split)
    for name in ("unknown/source", "continued/source"):
        low, high = stats.binomtest(int(name == "unknown/source"), 5000).proportion_ci(method="wilson")
        assert (scores[name].low, scores[name].high) == pytest.approx((max(low, 0.0), high), abs=1e-5)
        assert 0.0 <= scores[name].low <= scores[name].value <= scores[name].high <= 1.0
