import importlib
import itertools

import numpy as np
import pytest
from scipy import stats

from interlingua.errors import InputError
from interlingua.stats.correlation import mantel


def matrices(n=6, seed=0, tie=0.5):
    draw = np.random.default_rng(seed)
    left = draw.random((n, n))
    left = left + left.T
    return left, tie * left + draw.random((n, n))


def cells(matrix):
    return matrix[~np.eye(len(matrix), dtype=bool)]


@pytest.mark.parametrize(("ranks", "theirs"), [(False, stats.pearsonr), (True, stats.spearmanr)])
def test_the_value_is_scipys_over_the_cells_and_p_is_counted_over_all_orders(ranks, theirs):
    left, right = matrices(5)
    np.fill_diagonal(right, 99.0)  # Not looked at.
    score = mantel(left, right, ranks=ranks)
    observed = theirs(cells(left), cells(right)).statistic
    assert score.value == pytest.approx(observed)
    found = [
        theirs(cells(left), cells(right[np.ix_(order, order)])).statistic for order in itertools.permutations(range(5))
    ]
    assert score.details == {
        "p": pytest.approx(np.mean(np.abs(found) >= abs(observed) - 1e-9)),
        "permutations": 120,
        "exact": True,
        "languages": 5,
    }
    assert score.null == pytest.approx(np.mean(found))
    assert score.n == 20


def test_other_names_of_the_languages_and_other_units_change_nothing():
    left, right = matrices(6)
    order = np.random.default_rng(1).permutation(6)
    first = mantel(left, right)
    again = mantel(3 * left[np.ix_(order, order)] - 1, right[np.ix_(order, order)] / 7e20)
    for ours, theirs in ((first.value, again.value), (first.low, again.low), (first.high, again.high)):
        assert ours == pytest.approx(theirs)
    assert first.details == again.details


def test_drawn_permutations_come_near_to_all_of_them():
    left, right = matrices(6, tie=0.25)
    exact = mantel(left, right).details
    drawn = mantel(left, right, permutations=700, seed=1).details
    assert exact["exact"]
    assert (drawn["exact"], drawn["permutations"]) == (False, 700)
    assert abs(drawn["p"] - exact["p"]) < 4 * np.sqrt(exact["p"] * (1 - exact["p"]) / 700) + 1 / 700


def test_p_keeps_its_word_where_languages_have_a_way_of_their_own_and_the_usual_one_does_not():
    draw = np.random.default_rng(0)
    ours, usual = [], []
    for _ in range(200):
        own = draw.normal(size=(2, 6))  # A hard language is hard with every other: cells share what moves them.
        left, right = (side[:, None] + side + 0.1 * draw.normal(size=(6, 6)) for side in own)
        ours.append(mantel(left, right).details["p"])
        usual.append(stats.pearsonr(cells(left), cells(right)).pvalue)
    limit = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert np.mean(np.array(ours) <= 0.05) < limit
    assert np.mean(np.array(usual) <= 0.05) > 2 * limit


@pytest.mark.parametrize("n", [5, 7])
@pytest.mark.parametrize(("ranks", "theirs"), [(False, stats.pearsonr), (True, stats.spearmanr)])
def test_the_interval_is_the_jackknifes_over_languages(n, ranks, theirs):
    left, right = matrices(n)
    score = mantel(left, right, ranks=ranks, permutations=10)
    without = []
    for gone in range(n):
        kept = [number for number in range(n) if number != gone]
        without.append(theirs(cells(left[kept][:, kept]), cells(right[kept][:, kept])).statistic)
    z = np.arctanh(without)
    half = stats.t.ppf(0.975, n - 1) * np.sqrt((n - 1) / n * ((z - z.mean()) ** 2).sum())
    assert np.arctanh([score.low, score.high]) == pytest.approx(
        [np.arctanh(score.value) - half, np.arctanh(score.value) + half]
    )


def test_few_languages_and_perfect_fit_have_no_interval():
    left, right = matrices(4)
    assert mantel(left, right).low is None
    left, _ = matrices(6)
    perfect = mantel(left, left)
    assert (perfect.value, perfect.low, perfect.high) == (pytest.approx(1.0), None, None)
    assert perfect.details["p"] == 1 / 720


def test_cells_without_spread_have_no_correlation():
    left, _ = matrices(5)
    score = mantel(left, np.full((5, 5), 0.3))
    assert (score.value, score.details["p"], score.null) == (0.0, 1.0, 0.0)


def test_what_cannot_be_correlated_is_refused():
    left, right = matrices(5)
    with pytest.raises(InputError, match="one size"):
        mantel(left, right[:4, :4])
    with pytest.raises(InputError, match="too few languages"):
        mantel(left[:2, :2], right[:2, :2])
    right[1, 3] = np.nan
    with pytest.raises(InputError, match="missing or undefined"):
        mantel(left, right)


def test_permutations_in_blocks_are_those_in_one(monkeypatch):
    left, right = matrices(6)
    whole = mantel(left, right), mantel(left, right, permutations=50)
    monkeypatch.setattr(importlib.import_module("interlingua.stats.correlation"), "_BLOCK", 30 * 7)
    again = mantel(left, right), mantel(left, right, permutations=50)
    for one, other in zip(whole, again, strict=True):
        assert one.details == other.details
        assert one.null == pytest.approx(other.null)


def test_the_observed_order_joins_those_that_are_drawn():
    left, right = matrices(9, tie=50.0)
    details = mantel(left, right, permutations=19).details
    assert details == {"p": 1 / 20, "permutations": 19, "exact": False, "languages": 9}
    loose = matrices(9, tie=0.0)
    values = [mantel(*loose, permutations=19, seed=seed).details["p"] for seed in range(6)]
    assert values == [mantel(*loose, permutations=19, seed=seed).details["p"] for seed in range(6)]
    assert len(set(values)) > 1


def test_a_correlation_against_the_grain_is_found_as_well_as_one_with_it():
    left, right = matrices(6)
    first, turned = mantel(left, right), mantel(left, -right)
    assert turned.details == first.details
    assert (turned.value, turned.low, turned.high) == pytest.approx((-first.value, -first.high, -first.low))


def test_all_permutations_are_taken_where_they_are_no_more_than_asked_for():
    left, right = matrices(4)
    assert mantel(left, right, permutations=24).details["exact"]
    assert not mantel(left, right, permutations=23).details["exact"]
    assert mantel(*matrices(3)).details["permutations"] == 6


def residual(values, held):
    design = np.column_stack([np.ones(len(held)), held])
    return values - design @ np.linalg.lstsq(design, values, rcond=None)[0]


@pytest.mark.parametrize("ranks", [False, True])
def test_with_a_third_matrix_held_the_residuals_of_both_are_correlated_in_every_order(ranks):
    left, right = matrices(5, tie=0.3)
    held = (np.add.outer([0, 0, 1, 1, 1], [0, 0, 1, 1, 1]) % 2).astype(float)

    def expected(order):
        sides = [cells(side) for side in (left, right[np.ix_(order, order)], held)]
        one, other, third = ([stats.rankdata(side) for side in sides]) if ranks else sides
        return stats.pearsonr(residual(one, third), residual(other, third)).statistic

    found = np.array([expected(order) for order in itertools.permutations(range(5))])
    score = mantel(left, right, given=held, ranks=ranks)
    assert score.value == pytest.approx(found[0])
    assert score.details["p"] == pytest.approx(np.mean(np.abs(found) >= abs(found[0]) - 1e-9))
    assert score.null == pytest.approx(found.mean())


def test_what_the_held_matrix_explains_alone_is_nothing():
    held = np.array([[0.0, 1, 0, 1, 0], [1, 0, 1, 0, 1], [0, 1, 0, 1, 0], [1, 0, 1, 0, 1], [0, 1, 0, 1, 0]])
    draw = np.random.default_rng(3)
    right = held + 0.2 * draw.random((5, 5))
    assert mantel(held, right).value > 0.9
    assert mantel(2 * held + 1, right, given=held).value == 0.0
    plain, constant = mantel(right, held), mantel(right, held, given=np.ones((5, 5)))
    assert constant.value == pytest.approx(plain.value)


def test_with_a_third_matrix_held_drawn_orders_move_the_right_one_against_both_others_at_once():
    # The left one is nearly the held one: orders of the right one that differ for the two would count for wild values.
    draw = np.random.default_rng(4)
    held, right = draw.random((2, 6, 6))
    left = held + 0.05 * draw.random((6, 6))
    exact = mantel(left, right, given=held)
    drawn = [mantel(left, right, given=held, permutations=700, seed=5) for _ in range(2)]
    assert drawn[0] == drawn[1]
    p = exact.details["p"]
    assert 0.1 < p < 0.9
    assert abs(drawn[0].details["p"] - p) < 4 * np.sqrt(p * (1 - p) / 700) + 1 / 700
