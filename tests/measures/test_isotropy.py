import numpy as np
import pytest
import torch
from scipy import stats as scipy_stats
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA

from interlingua.errors import InputError
from interlingua.measures import vectors as rows_module
from interlingua.measures.isotropy import _isotropic_spectrum, isotropy


def cloud(n=150, d=9, seed=0):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, d)) * np.linspace(0.3, 2, d) + draw.normal(size=d)


def published_isoscore(points):
    """Rudman et al. 2022, Algorithm 1, step by step."""
    rotated = PCA().fit_transform(points)
    d = points.shape[1]
    diagonal = np.zeros(d)
    diagonal[: rotated.shape[1]] = np.var(rotated, axis=0, ddof=1)
    normalised = np.sqrt(d) * diagonal / np.linalg.norm(diagonal)
    defect = np.linalg.norm(normalised - np.ones(d)) / np.sqrt(2 * (d - np.sqrt(d)))
    used = (d - defect**2 * (d - np.sqrt(d))) ** 2 / d**2
    return (d * used - 1) / (d - 1)


@pytest.mark.parametrize(("n", "d"), [(150, 9), (10, 30), (30, 30)])
def test_isoscore_and_variance_profile_equal_the_published_steps(n, d):
    points = cloud(n, d)
    scores = isotropy(torch.tensor(points))
    assert scores["isoscore"].value == pytest.approx(published_isoscore(points), abs=1e-9)
    profile = np.cumsum(PCA().fit(points).explained_variance_ratio_)
    np.testing.assert_allclose(scores["top-1"].details["profile"], profile[:100], atol=1e-9)
    assert scores["top-1"].value == pytest.approx(profile[0])
    assert scores["top-10"].value == pytest.approx(profile[min(10, len(profile)) - 1])


def test_average_cosine_equals_scipy_over_all_pairs():
    points = cloud()
    score = isotropy(torch.tensor(points))["average-cosine"]
    assert score.value == pytest.approx(1 - pdist(points, "cosine").mean(), abs=1e-7)
    assert score.items.mean() == pytest.approx(score.value)


def test_an_isotropic_gaussian_reads_the_known_bias_and_its_null():
    draw = torch.Generator().manual_seed(0)
    scores = isotropy(torch.randn(1000, 768, generator=draw), seed=3)
    assert scores["isoscore"].value == pytest.approx(0.57, abs=0.01)
    for name in ("isoscore", "top-1", "top-10"):
        assert scores[name].value == pytest.approx(scores[name].null, rel=0.05)


@pytest.mark.parametrize(("n", "d"), [(40, 10), (8, 20)])
def test_null_spectrum_has_the_moments_of_a_wishart_matrix(n, d):
    spectra = np.array([_isotropic_spectrum(n, d, seed) for seed in range(400)]) * n
    m = n - 1
    assert spectra.sum(axis=1).mean() == pytest.approx(m * d, rel=0.03)
    assert np.square(spectra).sum(axis=1).mean() == pytest.approx(m * d * (m + d + 1), rel=0.05)
    assert (np.diff(spectra, axis=1) <= 0).all()


@pytest.mark.parametrize("name", ["average-cosine", "isoscore", "top-1"])
def test_interval_is_as_wide_as_the_spread_over_fresh_samples(name):
    runs = [isotropy(torch.tensor(4 + draw.normal(size=(400, 4)) * [3, 1, 1, 0.5]))[name] for draw in draws(80)]
    spread = np.std([run.value for run in runs])
    assert np.mean([(run.high - run.low) / 2 for run in runs]) == pytest.approx(1.96 * spread, rel=0.25)


def draws(count):
    return [np.random.default_rng(seed) for seed in range(count)]


def test_blocks_of_rows_change_nothing(monkeypatch):
    points = torch.tensor(cloud())
    whole = isotropy(points)
    monkeypatch.setattr(rows_module, "BLOCK_CELLS", 9 * 11)
    for name, score in isotropy(points).items():
        assert (score.value, score.low) == (
            pytest.approx(whole[name].value, abs=1e-12),
            pytest.approx(whole[name].low, abs=1e-12),
        )


def test_constant_vectors_are_as_anisotropic_as_can_be():
    scores = isotropy(torch.full((20, 5), 0.1))
    assert scores["isoscore"].value == 0.0
    assert scores["top-1"].value == 1.0
    assert scores["average-cosine"].value == pytest.approx(1.0)
    assert [(scores[name].low, scores[name].high) for name in ("isoscore", "top-1")] == [(0.0, 0.0), (1.0, 1.0)]


def test_refuses_lines_and_too_few_rows():
    with pytest.raises(InputError, match="width 2"):
        isotropy(torch.ones(5, 1))
    with pytest.raises(InputError, match="at least 3"):
        isotropy(torch.ones(2, 5))


def test_the_interval_of_the_average_cosine_is_that_of_a_statistic_of_pairs():
    points = cloud(n=40)
    score = isotropy(torch.tensor(points))["average-cosine"]
    items = (1 - squareform(pdist(points, "cosine"))).sum(axis=1) / 39 - 1 / 39
    np.testing.assert_allclose(score.items, items, atol=1e-6)
    half = scipy_stats.t.ppf(0.975, 39) * 2 * scipy_stats.sem(items)
    assert (score.low, score.high) == pytest.approx((items.mean() - half, items.mean() + half), abs=1e-5)
    assert (score.null, score.n) == (0.0, 40)


def test_the_interval_of_the_average_cosine_stays_within_its_range():
    line = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    assert isotropy(line)["average-cosine"].high == 1.0
    cross = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [-0.3, 1.0]])
    assert isotropy(cross)["average-cosine"].low == -1.0


def spectrum(points, weights):
    moved = points - weights @ points
    return np.linalg.eigvalsh(moved.T @ (weights[:, None] * moved))[::-1]


@pytest.mark.parametrize(("n", "d"), [(40, 12), (14, 20)])
def test_intervals_are_those_of_what_a_little_more_weight_of_each_row_does(n, d):
    points = cloud(n, d)
    statistics = {
        "isoscore": lambda values: (values.sum() ** 2 / (values**2).sum() - 1) / (d - 1),
        "top-1": lambda values: values[0] / values.sum(),
        "top-10": lambda values: values[:10].sum() / values.sum(),
    }
    even, step = np.full(n, 1 / n), 1e-5
    scores = isotropy(torch.tensor(points))
    for name, statistic in statistics.items():
        moves = [
            (
                statistic(spectrum(points, even + step * (row - even)))
                - statistic(spectrum(points, even - step * (row - even)))
            )
            / (2 * step)
            for row in np.eye(n)
        ]
        value, half = statistic(spectrum(points, even)), 1.959964 * np.sqrt(np.mean(np.square(moves)) / n)
        score = scores[name]
        assert (score.value, score.n) == (pytest.approx(value), n)
        assert (score.low, score.high) == pytest.approx((max(value - half, 0), min(value + half, 1)), rel=1e-4)


def test_nulls_follow_the_seed_and_are_those_of_one_spectrum():
    points = torch.tensor(cloud(50, 12))
    for seed in (0, 1):
        scores, expected = isotropy(points, seed=seed), _isotropic_spectrum(50, 12, seed)
        for count in (1, 10):
            assert scores[f"top-{count}"].null == pytest.approx(expected[:count].sum() / expected.sum())
        ratio = expected.sum() ** 2 / np.square(expected).sum()
        assert scores["isoscore"].null == pytest.approx((ratio - 1) / 11)
    assert not np.array_equal(_isotropic_spectrum(50, 12, 0), _isotropic_spectrum(50, 12, 1))
    assert len(isotropy(torch.tensor(cloud(150, 130)))["top-1"].details["profile"]) == 100


@pytest.mark.parametrize(("n", "d"), [(40, 12), (14, 20)])
def test_the_unit_of_the_vectors_does_not_matter(n, d):
    points = torch.tensor(cloud(n, d))
    small = isotropy(1e-3 * points)
    for name, score in isotropy(points).items():
        assert (small[name].value, small[name].low, small[name].high) == pytest.approx(
            (score.value, score.low, score.high), abs=1e-6
        )


def test_shares_and_their_intervals_stay_below_1():
    clipped = 0
    for seed in range(40):
        scores = isotropy(torch.tensor(cloud(4, 3, seed=seed)))
        assert all(0 <= score.low <= score.value <= score.high <= 1 for score in list(scores.values())[1:])
        clipped += scores["top-1"].value < scores["top-1"].high == 1.0
    assert clipped


@pytest.mark.parametrize("name", ["average-cosine", "isoscore", "top-1", "top-10"])
def test_with_sentences_the_interval_is_the_jackknifes_that_leaves_out_whole_sentences(name):
    draw = np.random.default_rng(0)
    groups = np.repeat(np.arange(150), draw.integers(3, 12, 150))
    words = draw.normal(size=(150, 14))[groups] + draw.normal(size=(len(groups), 14))
    points = 1 + words * np.geomspace(0.2, 6, 14)
    score = isotropy(torch.tensor(points), groups=groups)[name]
    left = np.array([isotropy(torch.tensor(points[groups != group]))[name].value for group in range(150)])
    half = scipy_stats.t.ppf(0.975, 149) * np.sqrt(149 / 150 * np.square(left - left.mean()).sum())
    assert (score.high - score.low) / 2 == pytest.approx(half, rel=0.05)
    alone = isotropy(torch.tensor(points))[name]
    assert score.value == alone.value
    assert score.high - score.low > 1.15 * (alone.high - alone.low)


def test_words_that_are_each_a_sentence_of_their_own_change_nothing_and_one_sentence_says_nothing():
    points = torch.tensor(cloud(n=400))
    for name, score in isotropy(points, groups=np.arange(400)).items():
        alone = isotropy(points)[name]
        assert (score.low, score.high) == pytest.approx((alone.low, alone.high), rel=1e-3), name
    whole = isotropy(points, groups=np.zeros(400, int))
    assert {name: (score.low, score.high) for name, score in whole.items()} == {
        name: (-1.0 if name == "average-cosine" else 0.0, 1.0) for name in whole
    }
    with pytest.raises(InputError, match="each of 400 rows"):
        isotropy(points, groups=np.arange(3))
