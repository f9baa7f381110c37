import numpy as np
import pytest
from scipy import integrate
from scipy import stats as scipy_stats

from interlingua.stats import detectable_error, detectable_mean, detectable_share


@pytest.mark.parametrize(("effect", "pairs"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_sample_sizes_of_g_power_for_a_paired_t_test(effect, pairs):
    # The pairs that G*Power asks for at power 0.8, two-sided 0.05: with one fewer the effect is missed more often.
    assert detectable_mean(1.0, pairs) <= effect < detectable_mean(1.0, pairs - 1)


@pytest.mark.parametrize("power", [0.06, 0.1, 0.8])  # of little power, much is on the wrong side
@pytest.mark.parametrize("n", [2, 3, 5, 20, 3000])
def test_the_power_at_the_detectable_mean_is_what_was_asked(n, power):
    shift = detectable_mean(0.3, n, power=power) / 0.3 * n**0.5
    limit = scipy_stats.t.ppf(0.975, n - 1)

    def found(spread):
        far = scipy_stats.norm.cdf(shift - limit * spread) + scipy_stats.norm.cdf(-shift - limit * spread)
        return far * scipy_stats.chi.pdf(spread, n - 1, scale=(n - 1) ** -0.5)

    assert integrate.quad(found, 0, 8, points=[1.0], limit=400)[0] == pytest.approx(power, abs=1e-5)


def test_with_many_items_the_detectable_mean_is_that_of_the_standard_error():
    assert detectable_mean(0.4, 10_000) == pytest.approx(detectable_error(0.004), rel=1e-3)
    assert detectable_mean(0.4, 1) is None
    assert detectable_mean(0.0, 9) is None
    assert detectable_error(0.0) is None


@pytest.mark.parametrize(("discordance", "n"), [(0.05, 2000), (0.2, 500), (0.4, 2000)])
def test_mcnemars_test_finds_the_detectable_share_in_four_of_five_studies(discordance, n):
    apart = detectable_share(discordance, n)
    draw = np.random.default_rng(0)
    up = (discordance + apart) / 2
    first, second, _ = draw.multinomial(n, [up, discordance - up, 1 - discordance], size=20_000).T
    found = (first - second) ** 2 / np.maximum(first + second, 1) > scipy_stats.chi2.ppf(0.95, 1)
    assert found.mean() == pytest.approx(0.8, abs=0.025)


def test_the_detectable_share_solves_connors_equation_where_there_is_one():
    z, w = scipy_stats.norm.ppf(0.975), scipy_stats.norm.ppf(0.9)
    apart = detectable_share(0.3, 400, power=0.9)
    assert 400 * apart**2 == pytest.approx((z * 0.3**0.5 + w * (0.3 - apart**2) ** 0.5) ** 2)
    # With so few that one alone has right, not even all of them on one side would be found: 7.8 = (1.96 + 0.84)².
    assert detectable_share(7 / 10_000, 10_000) is None
    assert detectable_share(8 / 10_000, 10_000) == pytest.approx(8 / 10_000, rel=0.02)


@pytest.mark.parametrize("n", range(1, 9))
def test_where_all_answers_differ_a_share_is_found_from_z_squared_questions_on(n):
    # At δ = ψ = 1 Connor's equation is n = z²: 3.84.
    z, w = scipy_stats.norm.ppf(0.975), scipy_stats.norm.ppf(0.8)
    apart = detectable_share(1.0, n)
    assert (apart is None) == (n < z**2)
    if apart is not None:
        assert n * apart**2 == pytest.approx((z + w * (1 - apart**2) ** 0.5) ** 2)


def test_where_no_answer_differs_the_sample_says_nothing_of_what_it_would_find():
    assert detectable_share(0.0, 100) is None
