import numpy as np
import pytest
from scipy import stats as scipy_stats

from interlingua.errors import InputError
from interlingua.stats import correlate, detectable_rho, mantel, pearson, spearman


def test_pearson_equals_scipys_with_its_interval_and_is_0_for_a_constant():
    draw = np.random.default_rng(0)
    for n in (4, 9, 40):
        x = draw.normal(size=n)
        y = x + draw.normal(size=n)
        wanted = scipy_stats.pearsonr(x, y)
        interval = wanted.confidence_interval(0.95)
        assert pearson(x, y) == pytest.approx((wanted.statistic, interval.low, interval.high), abs=1e-4)
    assert pearson(x, np.full(40, 0.35)) == (0.0, None, None)


def test_spearman_equals_scipys_and_does_not_change_with_monotone_scales():
    draw = np.random.default_rng(1)
    x = draw.integers(0, 12, 30).astype(float)  # with ties
    y = x + draw.normal(scale=3, size=30)
    assert spearman(x, y)[0] == pytest.approx(scipy_stats.spearmanr(x, y).statistic)
    assert spearman(np.exp(x), y**3) == pytest.approx(spearman(x, y))
    assert spearman(x, np.ones(30)) == (0.0, None, None)


def test_the_interval_of_spearmans_holds_its_level():
    draw, true = np.random.default_rng(2), 0.6
    # For two normal variables Spearman's is 6/pi asin(r/2) of Pearson's.
    expected = 6 / np.pi * np.arcsin(true / 2)
    inside = 0
    for _ in range(600):
        x, noise = draw.normal(size=(2, 40))
        _, low, high = spearman(x, true * x + np.sqrt(1 - true**2) * noise)
        inside += low <= expected <= high
    assert 0.92 < inside / 600 < 0.98


def test_turning_a_side_round_turns_the_interval_round_and_units_do_not_matter():
    x, noise = np.random.default_rng(3).normal(size=(2, 25))
    y = x + noise
    for correlation in (pearson, spearman):
        value, low, high = correlation(x, y)
        assert correlation(x, -y) == pytest.approx((-value, -high, -low))
        assert correlation(1e-20 * x, 1e20 * y) == pytest.approx((value, low, high))


def test_the_interval_of_spearmans_is_bonett_and_wrights():
    x, y = np.random.default_rng(4).normal(size=(2, 20))
    value, low, high = spearman(x, x + y)
    half = scipy_stats.norm.ppf(0.975) * np.sqrt((1 + value**2 / 2) / 17)
    assert (low, high) == pytest.approx((np.tanh(np.arctanh(value) - half), np.tanh(np.arctanh(value) + half)))


def test_a_straight_line_is_never_beyond_1_and_its_interval_is_finite():
    draw = np.random.default_rng(5)
    for n in range(4, 60):
        x = draw.normal(size=n)
        with np.errstate(all="raise"):
            for side, sign in ((3 * x + 1, 1), (-7 * x + 0.1, -1)):
                value, low, high = pearson(x, side)
                assert -1 <= low <= high <= 1
                assert abs(value) <= 1
                assert (value, low, high) == pytest.approx((sign, sign, sign))


def test_no_constant_correlates_whatever_its_mean_is_rounded_to():
    for n in range(4, 40):
        assert pearson(np.full(n, 0.1), np.arange(n) + 0.1) == (0.0, None, None)
    assert pearson(np.arange(9) * 1e-200, np.arange(9.0)) == (0.0, None, None)  # whose squares are 0


def test_single_precision_sides_are_compared_in_double_precision():
    x, y = (1000 + np.random.default_rng(6).normal(size=(2, 30))).astype(np.float32)
    assert pearson(x, y) == pearson(x.astype(np.float64), y.astype(np.float64))


@pytest.mark.parametrize("correlation", [pearson, spearman])
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_no_number_is_refused_and_not_read_as_no_correlation(correlation, wrong):
    fine = np.arange(6.0)
    for x, y in (
        (np.array([1.0, 2.0, wrong, 4.0, 5.0, 6.0]), fine),
        (fine, np.array([1.0, wrong, 3.0, 2.0, 5.0, 6.0])),
    ):
        if correlation is spearman and np.isinf(wrong):
            assert np.isfinite(correlation(x, y)[0])  # Infinity has a rank.
            continue
        with pytest.raises(InputError, match="not a finite number"):
            correlation(x, y)


def test_correlate_is_scipys_spearman_with_the_exact_p_of_all_orders():
    draw = np.random.default_rng(7)
    for n in (5, 6, 7):
        x, y = draw.normal(size=(2, n))
        found = correlate(x, y)
        wanted = scipy_stats.spearmanr(x, y).statistic
        exact = scipy_stats.permutation_test(
            (x,), lambda side, y=y: abs(scipy_stats.spearmanr(side, y).statistic), permutation_type="pairings",
            n_resamples=np.inf, alternative="greater",
        ).pvalue  # fmt: skip
        assert (found.value, found.p) == (pytest.approx(wanted), pytest.approx(exact))
    wanted = correlate(range(5), range(5))
    assert (wanted.value, wanted.p, wanted.least_p) == pytest.approx((1, 2 / 120, 2 / 120))
    assert wanted.low < 0.5 < wanted.high == 1
    assert wanted.detectable is None


def test_a_correlation_with_a_constant_or_of_two_items_is_undefined():
    assert correlate([1, 1, 1, 1], [1, 2, 3, 4]) is None
    assert correlate([1, 2, 3, 4], [0.1 + 0.2] * 2 + [0.3] * 2) is None  # 0.30000000000000004 is 0.3
    assert correlate([1, 2], [1, 2]) is None
    cells = [("a", "b"), ("a", "c"), ("b", "c")]
    assert correlate([1, 1, 1], [1, 2, 3], languages=cells) is None


def test_items_of_one_language_count_once_and_pairs_are_those_of_mantel():
    draw = np.random.default_rng(8)
    x, y = draw.normal(size=(2, 12))
    plain, noise = correlate(x, y), draw.normal(size=12)
    twice = correlate([*(x + noise), *(x - noise)], [*y, *y], languages=[*"abcdefghijkl"] * 2)
    assert twice == plain
    names = "abcdef"
    left, right = (np.triu(side, 1) + np.triu(side, 1).T for side in draw.normal(size=(2, 6, 6)))
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    cells = [side[np.triu_indices(6, 1)] for side in (left, right)]
    found, wanted = correlate(*cells, languages=pairs), mantel(left, right, ranks=True)
    assert (found.value, found.p, found.n) == (pytest.approx(wanted.value), wanted.details["p"], 6)
    with pytest.raises(InputError, match="a pair of languages is missing"):
        correlate(cells[0][1:], cells[1][1:], languages=pairs[1:])


@pytest.mark.parametrize("n", [7, 10])
def test_the_p_of_unrelated_languages_is_level_and_the_power_is_that_of_the_verdict(n):
    draw, trials = np.random.default_rng(9), 300
    rho = detectable_rho(n)
    r = 2 * np.sin(np.pi * rho / 6)  # Pearson's of normal variables with this Spearman's
    false = true = covered = 0
    for seed in range(trials):
        x, noise = draw.normal(size=(2, n))
        false += correlate(x, noise, seed=seed).p < 0.05
        found = correlate(x, r * x + np.sqrt(1 - r * r) * noise, seed=seed)
        true += found.sign != 0
        covered += found.low <= rho <= found.high
    assert 0.02 <= false / trials <= 0.08
    assert 0.75 <= true / trials <= 0.88
    assert covered / trials >= 0.92
