import importlib
import itertools

import numpy as np
import pytest
import torch

from interlingua.errors import InputError
from interlingua.measures import vectors as rows_module
from interlingua.measures.cka import cka, minibatch_cka
from interlingua.stats import half_sample_interval


def related_pair(n, d, e, seed=0):
    draw = np.random.default_rng(seed)
    source = draw.normal(size=(n, d)) * np.linspace(0.2, 2, d) + 3
    return source, source @ draw.normal(size=(d, e)) + 2 * draw.normal(size=(n, e))


def gram_cka(source, target):
    """Both forms by the published n x n formulas: Kornblith et al. 2019, Song et al. 2012."""
    n = len(source)
    centre = np.eye(n) - 1 / n
    k, l = source @ source.T, target @ target.T  # noqa: E741

    def biased(a, b):
        return np.trace(a @ centre @ b @ centre)

    def unbiased(a, b):
        a, b = a - np.diag(np.diag(a)), b - np.diag(np.diag(b))
        ones = np.ones(n)
        middle = (ones @ a @ ones) * (ones @ b @ ones) / ((n - 1) * (n - 2))
        return (np.trace(a @ b) + middle - 2 / (n - 2) * ones @ a @ b @ ones) / (n * (n - 3))

    return {
        name: hsic(k, l) / np.sqrt(hsic(k, k) * hsic(l, l))
        for name, hsic in (("plain", biased), ("debiased", unbiased))
    }


@pytest.mark.parametrize(("n", "d", "e"), [(50, 8, 8), (50, 8, 12), (20, 40, 30), (30, 10, 60), (4, 3, 3)])
def test_both_forms_equal_the_gram_formulas(n, d, e):
    source, target = related_pair(n, d, e)
    scores = cka(torch.tensor(source), torch.tensor(target))
    for name, value in gram_cka(source, target).items():
        assert scores[name].value == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(("n", "forms"), [(90, ["plain"]), (90, ["plain", "debiased"]), (1030, ["plain", "debiased"])])
def test_blocks_of_rows_change_nothing(monkeypatch, n, forms):
    source, target = (torch.tensor(side) for side in related_pair(n, 6, 7))
    whole = cka(source, target, forms=forms)
    monkeypatch.setattr(rows_module, "BLOCK_CELLS", 7 * 11)
    for name, score in cka(source, target, forms=forms).items():
        assert score.value == pytest.approx(whole[name].value, abs=1e-12)
        assert score.null == pytest.approx(whole[name].null, abs=1e-12)


def test_noise_reads_near_a_half_plain_and_nothing_debiased():
    draw = torch.Generator().manual_seed(0)
    source, target = torch.randn(1000, 768, generator=draw), torch.randn(1000, 768, generator=draw)
    scores = cka(source, target)
    assert scores["plain"].value > 0.4
    assert scores["plain"].value == pytest.approx(scores["plain"].null, abs=0.02)
    assert abs(scores["debiased"].value) < 0.02


def test_null_is_the_mean_over_every_pairing():
    source, target = (torch.tensor(side) for side in related_pair(5, 4, 3))
    runs = [cka(source, target[list(order)]) for order in itertools.permutations(range(5))]
    for form, score in runs[0].items():
        assert np.mean([run[form].value for run in runs]) == pytest.approx(score.null, abs=1e-9)


@pytest.mark.parametrize(("n", "d"), [(8, 3), (41, 6), (60, 80)])
def test_interval_is_that_of_the_gram_formula_on_every_half_sample(n, d):
    source, target = related_pair(n, d, d + 1)
    score = cka(torch.tensor(source), torch.tensor(target), seed=5)["debiased"]

    def statistic(rows):
        return gram_cka(source[rows], target[rows])["debiased"]

    low, high = half_sample_interval(lambda rows: float(np.clip(statistic(rows), -1, 1)), n, score.value, seed=5)
    assert (score.low, score.high) == (pytest.approx(max(low, -1), abs=1e-9), pytest.approx(min(high, 1), abs=1e-9))


def test_interval_covers_the_value_of_a_much_larger_sample():
    draw = np.random.default_rng(0)
    mixing = draw.normal(size=(6, 6))

    def sample(n):
        source = draw.normal(size=(n, 6))
        return torch.tensor(source), torch.tensor(source @ mixing + 2 * draw.normal(size=(n, 6)))

    truth = cka(*sample(50_000), forms=["debiased"])["debiased"].value
    runs = [cka(*sample(200), forms=["debiased"])["debiased"] for _ in range(40)]
    assert sum(run.low <= truth <= run.high for run in runs) >= 33


def test_minibatches_average_to_the_full_value_and_one_batch_is_the_full_value():
    source, target = (torch.tensor(side) for side in related_pair(4000, 6, 7))
    full = cka(source, target, forms=["debiased"])["debiased"].value
    assert minibatch_cka([(source, target)]).value == pytest.approx(full, abs=1e-12)
    many = minibatch_cka(zip(source.split(40), target.split(40), strict=True))
    assert many.value == pytest.approx(full, abs=0.02)
    assert many.n == 4000


def test_minibatches_of_noise_read_zero_however_small():
    draw = torch.Generator().manual_seed(0)
    pairs = [(torch.randn(16, 50, generator=draw), torch.randn(16, 50, generator=draw)) for _ in range(200)]
    assert abs(minibatch_cka(pairs).value) < 0.03


def test_a_side_without_spread_is_similar_to_nothing():
    scores = cka(torch.full((9, 3), 0.1), torch.eye(9))
    assert [score.value for score in scores.values()] == [0.0, 0.0]
    assert [score.null for score in scores.values()] == [0.0, 0.0]


def test_no_side_without_spread_is_similar_to_one_with_it():
    constant, other = torch.full((9, 3), 0.1), torch.tensor(related_pair(9, 3, 3)[0])
    for sides in ((constant, other), (other, constant)):
        assert [score.value for score in cka(*sides).values()] == [0.0, 0.0]
        assert minibatch_cka([sides]).value == 0.0


def test_a_space_beside_itself_or_turned_round_never_reads_more_than_1():
    for seed in range(40):
        source = torch.tensor(related_pair(12, 5, 5, seed=seed)[0])
        score = cka(source, 3 * source.flip(1))["debiased"]
        assert 1 - 1e-9 < score.value <= 1.0
        assert score.high <= 1.0


def test_refuses_what_it_cannot_compare():
    with pytest.raises(InputError, match="at least 4"):
        cka(torch.eye(3), torch.eye(3))
    with pytest.raises(InputError, match="Did you mean 'debiased'"):
        cka(torch.eye(5), torch.eye(5), forms=["debiasd"])
    with pytest.raises(InputError, match="at least one block"):
        minibatch_cka([])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_many_rows_are_compared_by_the_gram_formulas_too(monkeypatch, kind):
    module = importlib.import_module("interlingua.measures.cka")
    monkeypatch.setattr(module, "GRAM_ROWS", 10)
    monkeypatch.setattr(module, "INTERVAL_ROWS", 12)
    source, target = related_pair(60, 5, 7)
    source, target = ((side + np.arange(side.shape[1])).astype(kind) for side in (source, target))
    scores = cka(torch.tensor(source), torch.tensor(target), seed=3)
    source, target = source.astype(np.float64), target.astype(np.float64)
    for name, value in gram_cka(source, target).items():
        assert scores[name].value == pytest.approx(value, abs=1e-9)
        assert scores[name].n == 60
    low, high = half_sample_interval(
        lambda rows: float(gram_cka(source[rows], target[rows])["debiased"]),
        60,
        scores["debiased"].value,
        seed=3,
        most=12,
    )
    assert (scores["debiased"].low, scores["debiased"].high) == pytest.approx((max(low, -1), min(high, 1)), abs=1e-9)


@pytest.mark.parametrize("forms", [["plain"], ["plain", "debiased"]])
def test_the_unit_of_either_side_does_not_matter(forms):
    source, target = (torch.tensor(side) for side in related_pair(30, 5, 4))
    scores = cka(source, target, forms=forms)
    for form, score in cka(1e-4 * source, 1e-3 * target, forms=forms).items():
        assert (score.value, score.null) == pytest.approx((scores[form].value, scores[form].null), abs=1e-9)


def test_minibatches_are_the_ratio_of_mean_hsics_from_four_rows_on():
    source, target = related_pair(12, 3, 5)
    ratio = []
    for left, right in ((source, target), (source, source), (target, target)):
        parts = []
        for begin, n in ((0, 4), (4, 8)):
            k, l = (side[begin : begin + n] @ side[begin : begin + n].T for side in (left, right))  # noqa: E741
            np.fill_diagonal(k, 0)
            np.fill_diagonal(l, 0)
            middle = k.sum() * l.sum() / ((n - 1) * (n - 2))
            parts.append(((k * l).sum() + middle - 2 / (n - 2) * (k @ l).sum()) / (n * (n - 3)))
        ratio.append(np.mean(parts))
    found = minibatch_cka(zip(torch.tensor(source).split([4, 8]), torch.tensor(target).split([4, 8]), strict=True))
    assert found.value == pytest.approx(ratio[0] / np.sqrt(ratio[1] * ratio[2]))
    assert (found.n, found.null) == (12, 0.0)
