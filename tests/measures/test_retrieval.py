import numpy as np
import pytest
import torch
from scipy.stats import binomtest, skew, ttest_rel
from scipy.stats import t as student
from sklearn.neighbors import NearestNeighbors

from interlingua.errors import InputError
from interlingua.measures import vectors as rows_module
from interlingua.measures.retrieval import (
    cosine_scores,
    gain,
    hubness,
    interval_of_ranks,
    nearest,
    rank_scores,
    ranks,
    retrieval,
)
from interlingua.score import Score


def noisy_pair(n=60, d=12, noise=0.8, seed=0):
    draw = np.random.default_rng(seed)
    source = draw.normal(size=(n, d))
    target = source + noise * draw.normal(size=(n, d)) + 2 * draw.normal(size=d)
    return source, target


def plain_similarity(name, source, target, k):
    """Direct from the papers, in numpy and float64, with the whole matrix at hand."""
    x = source / np.linalg.norm(source, axis=1, keepdims=True)
    y = target / np.linalg.norm(target, axis=1, keepdims=True)
    cosine = x @ y.T
    r_source = np.sort(cosine, axis=1)[:, -k:].mean(axis=1)[:, None]
    r_target = np.sort(cosine, axis=0)[-k:].mean(axis=0)[None, :]
    margin = cosine / np.maximum((r_source + r_target) / 2, 1e-6)
    return {"cosine": cosine, "csls": 2 * cosine - r_source - r_target, "margin": margin}[name]


@pytest.mark.parametrize("name", ["cosine", "csls", "margin"])
@pytest.mark.parametrize("moved", [False, True])
def test_every_variant_equals_a_plain_numpy_computation(name, moved):
    source, target = noisy_pair()
    scores = retrieval(torch.tensor(source), torch.tensor(target), neighbours=7)
    if moved:
        source, target = source - source.mean(axis=0), target - target.mean(axis=0)
    matrix = plain_similarity(name, source, target, 7)
    where = f"{name}/{'centred' if moved else 'raw'}"
    for suffix, table in (("", matrix), ("/backward", matrix.T)):
        rank = (table >= np.diagonal(table)[:, None]).sum(axis=1)
        for metric, items in {"p@1": rank <= 1, "p@5": rank <= 5, "mrr": 1 / rank}.items():
            score = scores[f"{metric}/{where}{suffix}"]
            assert score.value == pytest.approx(items.mean(), abs=1e-9)
            np.testing.assert_allclose(score.items, items)


def test_nearest_equals_scikit_learn():
    source, target = noisy_pair()
    indices, cosines = nearest(torch.tensor(source), torch.tensor(target[:40]), 3)
    distances, expected = NearestNeighbors(n_neighbors=3, metric="cosine").fit(target[:40]).kneighbors(source)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(cosines, 1 - distances, atol=1e-6)


@pytest.mark.parametrize("similarity", ["cosine", "csls", "margin"])
def test_blocks_of_any_size_give_the_ranks_of_one_block(monkeypatch, similarity):
    source, target = (torch.tensor(side) for side in noisy_pair(n=50))
    whole = ranks(source, target, similarity=similarity)
    monkeypatch.setattr(rows_module, "BLOCK_CELLS", 50 * 3)
    for one, other in zip(whole, ranks(source, target, similarity=similarity), strict=True):
        np.testing.assert_array_equal(one, other)


def test_csls_normalises_by_row_where_normalising_the_whole_matrix_would_fail():
    draw = np.random.default_rng(0)
    latent = draw.normal(size=(200, 32))
    lengths = np.exp(2 * draw.normal(size=(200, 1)))
    target = (latent + 0.3 * draw.normal(size=latent.shape)) * lengths
    whole = plain_csls_of_whole_matrix(latent, target)
    ours = retrieval(torch.tensor(latent), torch.tensor(target), similarities=["csls"])["p@1/csls/raw"].value
    assert ours > 0.95
    assert whole < 0.4


def plain_csls_of_whole_matrix(source, target):
    product = (source / np.linalg.norm(source)) @ (target / np.linalg.norm(target)).T
    local = np.sort(product, axis=1)[:, -10:].mean(axis=1)[:, None] + np.sort(product, axis=0)[-10:].mean(axis=0)
    return np.mean((2 * product - local).argmax(axis=1) == np.arange(len(source)))


def test_centring_takes_away_a_language_offset_that_hides_the_translations():
    source, target = noisy_pair(n=200, noise=0.3)
    shifted = torch.tensor(target) + 30 * torch.randn(12, generator=torch.Generator().manual_seed(0))
    scores = retrieval(torch.tensor(source), shifted, similarities=["cosine"])
    assert scores["p@1/cosine/centred"].value > 0.9 > scores["p@1/cosine/raw/backward"].value + 0.3


def test_ties_never_count_as_hits():
    # In float64 the mean of nine 0.1 is not 0.1: what centring leaves must not become a direction.
    constant = torch.full((9, 4), 0.1, dtype=torch.float64) * torch.tensor([1.0, 3.0, 7.0, 11.0])
    for score in retrieval(constant, constant).values():
        assert score.value in (0.0, pytest.approx(1 / 9))
    twice = torch.eye(4)[[0, 1, 2, 2]]
    assert ranks(twice, twice)[0].tolist() == [1, 1, 2, 2]


def test_a_zero_vector_has_cosine_zero_and_spoils_nothing():
    source = torch.eye(4)
    target = torch.eye(4)
    target[3] = 0
    forward, backward = ranks(source, target)
    assert forward.tolist() == [1, 1, 1, 4]
    assert backward.tolist() == [1, 1, 1, 4]


def test_null_is_the_mean_over_shuffled_pairs():
    source, target = (torch.tensor(side) for side in noisy_pair(n=8))
    draw = np.random.default_rng(0)
    runs = [retrieval(source, target[draw.permutation(8)], similarities=["cosine"]) for _ in range(400)]
    for name, score in runs[0].items():
        assert np.mean([run[name].value for run in runs]) == pytest.approx(score.null, abs=0.03)


def without_each(matrix, score):
    """The mean score of all rows but one, which is neither query nor candidate, for each row left out."""
    n = len(matrix)
    found = []
    for row in range(n):
        kept = np.delete(np.arange(n), row)
        part = matrix[np.ix_(kept, kept)]
        found.append(score((part >= np.diagonal(part)[:, None]).sum(axis=1)).mean())
    return np.array(found)


@pytest.mark.parametrize("similarity", ["cosine", "csls"])
@pytest.mark.parametrize("cells", [2**21, 60 * 7])
def test_the_interval_is_the_jackknife_over_rows_less_the_chance_it_counts_twice(monkeypatch, similarity, cells):
    monkeypatch.setattr(rows_module, "BLOCK_CELLS", cells)
    source, target = noisy_pair(noise=1.2)
    scores = retrieval(torch.tensor(source), torch.tensor(target), similarities=[similarity])
    matrix, n = plain_similarity(similarity, source, target, 10), len(source)
    kinds = {"p@1": lambda rank: rank <= 1, "p@5": lambda rank: rank <= 5, "mrr": lambda rank: 1 / rank}
    for suffix, table in (("", matrix), ("/backward", matrix.T)):
        rank = (table >= np.diagonal(table)[:, None]).sum(axis=1)
        ahead = table >= np.diagonal(table)[:, None]
        np.fill_diagonal(ahead, False)
        for name, kind in kinds.items():
            score = scores[f"{name}/{similarity}/raw{suffix}"]
            # CSLS's neighbourhoods are held: only the ranks are those without the row.
            values = without_each(table, kind)
            jackknife = (n - 1) / n * np.square(values - values.mean()).sum()
            single = kind(np.maximum(rank - 1, 1)).astype(float) - kind(rank)
            twice = (ahead * np.square(single)[:, None]).sum() / n**2
            own = kind(rank).astype(float)
            least = own.var() / n if name != "mrr" else own.var() / (n - 1)
            variance = max(jackknife - twice, least)
            costs = (ahead * single[:, None]).sum(axis=0)
            beyond = variance - least
            freedom = max(2, 2 * beyond**2 * n**4 / ((costs - costs.mean()) ** 4).sum())
            plain = 1.959964 if name != "mrr" else student.ppf(0.975, n - 1)
            z = ((plain**2 * least + student.ppf(0.975, freedom) ** 2 * beyond) / variance) ** 0.5
            if name == "mrr":
                half = z * variance**0.5
                wanted = own.mean() - half, own.mean() + half
            else:
                worth = own.var() / variance
                low, high = ((own.mean() + z**2 / (2 * worth) + sign * z * np.sqrt(
                    own.var() / worth + z**2 / (4 * worth**2))) / (1 + z**2 / worth) for sign in (-1, 1))  # fmt: skip
                wanted = low, high
            assert (score.low, score.high) == pytest.approx(wanted, abs=2e-4), name


def test_the_interval_covers_where_hubs_take_the_hits_of_many_queries():
    def world(draw, n=200):
        table = draw.normal(size=(n, n))
        table[:, draw.random(n) < 0.05] += 1.4
        np.fill_diagonal(table, 3.5 + draw.normal(size=n))
        return table

    draw, found = np.random.default_rng(0), []
    for _ in range(400):
        ahead = (table := world(draw)) >= np.diagonal(table)[:, None]
        np.fill_diagonal(ahead, False)
        rank = 1 + ahead.sum(axis=1)
        costs = ahead[rank == 2].sum(axis=0).astype(float)
        hits = (rank == 1).astype(float)
        found.append((hits.mean(), *interval_of_ranks(hits, costs, costs.sum(), share=True),
                      *interval_of_ranks(hits, 0 * costs, 0.0, share=True)))  # fmt: skip
    true = np.mean([each[0] for each in found])
    covered, plain = (np.mean([each[at] <= true <= each[at + 1] for each in found]) for at in (1, 3))
    assert plain < 0.9
    assert 0.925 <= covered <= 0.995


def test_hubness_is_the_skewness_of_how_often_a_candidate_is_near():
    source, target = (torch.tensor(side) for side in noisy_pair(n=80, noise=1.0))
    scores = retrieval(source, target, neighbours=5)
    for suffix, (queries, candidates) in (("", (source, target)), ("/backward", (target, source))):
        indices = nearest(queries, candidates, 5)[0]
        counts = np.bincount(indices.ravel(), minlength=80)
        assert scores[f"hubness/cosine/raw{suffix}"].value == pytest.approx(skew(counts), abs=1e-6)
    draw = np.random.default_rng(0)
    nulls = [skew(np.bincount(np.argsort(draw.random((80, 80)))[:, :5].ravel(), minlength=80)) for _ in range(300)]
    assert hubness(np.arange(80.0), 5).null == pytest.approx(np.mean(nulls), abs=0.05)
    assert hubness(np.full(9, 3.0), 3).value == 0.0


@pytest.mark.parametrize("similarity", ["csls", "margin"])
@pytest.mark.parametrize(("asked", "used"), [(1, 1), (2, 2), (7, 7), (8, 7), (10, 7)])
def test_neighbours_are_as_many_as_asked_cut_to_what_there_is(similarity, asked, used):
    for seed in range(20):
        source, target = noisy_pair(n=8, noise=1.5, seed=seed)
        table = plain_similarity(similarity, source, target, used)
        expected = (table >= np.diagonal(table)[:, None]).sum(axis=1)
        found = ranks(torch.tensor(source), torch.tensor(target), similarity=similarity, neighbours=asked)[0]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        (torch.ones(1, 3), torch.ones(1, 3), "at least 2"),
        (torch.ones(3, 3), torch.ones(4, 3), "unequal"),
        (torch.ones(3, 3), torch.ones(3, 4), "width"),
        (torch.ones(3, 3), torch.full((3, 3), torch.inf), "fp16"),
        (torch.ones(3), torch.ones(3), "shape"),
        (torch.ones(3, 3, dtype=torch.int64), torch.ones(3, 3), "floats"),
    ],
)
def test_bad_input_says_what_to_do(source, target, says):
    with pytest.raises(InputError, match=says):
        retrieval(source, target)


def test_unknown_similarity_names_the_nearest():
    with pytest.raises(InputError, match="Did you mean 'cosine'"):
        retrieval(torch.eye(3), torch.eye(3), similarities=["cosin"])


@pytest.mark.parametrize("candidates", [None, 20])
def test_nulls_are_those_of_a_random_rank_among_the_candidates_and_intervals_wilsons(candidates):
    found = np.array([1, 2, 1, 6, 3, 1])
    among = 1 + np.arange(candidates or 6)
    scores = rank_scores(found, ks=[1, 3, 30], candidates=candidates)
    assert scores["mrr"].null == pytest.approx(np.mean(1 / among))
    assert scores["mrr"].n == 6
    for k in (1, 3, 30):
        score = scores[f"p@{k}"]
        interval = binomtest(int((found <= k).sum()), 6).proportion_ci(0.95, method="wilson")
        assert score.null == pytest.approx(np.mean(among <= k))
        assert (score.value, score.n) == (pytest.approx(np.mean(found <= k)), 6)
        assert (score.low, score.high) == pytest.approx((interval.low, interval.high))


def test_the_interval_of_mrr_stays_within_0_and_1():
    assert rank_scores(np.array([1, 1, 2]), ks=[])["mrr"].high == 1.0
    assert rank_scores(np.array([1, 90, 90]), ks=[])["mrr"].low == 0.0


def test_what_is_not_said_is_ten_neighbours():
    source, target = (torch.tensor(side) for side in noisy_pair(noise=1.5))
    for similarity in ("csls", "margin"):
        said, other = (ranks(source, target, similarity=similarity, neighbours=k)[0] for k in (10, 11))
        assert not np.array_equal(said, other)
        np.testing.assert_array_equal(ranks(source, target, similarity=similarity)[0], said)
        expected = 1 / said
        np.testing.assert_array_equal(retrieval(source, target)[f"mrr/{similarity}/raw"].items, expected)


def test_scores_by_cosine_are_those_of_the_source_rows():
    source, target = (torch.tensor(side) for side in noisy_pair(noise=1.5))
    source, target = (side / side.norm(dim=1, keepdim=True) for side in (source, target))
    wanted = retrieval(source, target)
    for name, score in cosine_scores(source, target, ks=[1]).items():
        forward = wanted[f"{name}/cosine/raw"]
        assert (score.value, score.low, score.high) == (forward.value, forward.low, forward.high)


def test_two_rows_can_be_ranked_and_one_row_has_a_nearest():
    assert ranks(torch.eye(2), torch.eye(2))[0].tolist() == [1, 1]
    assert nearest(torch.ones(1, 2), torch.ones(1, 2), 5)[0].tolist() == [[0]]
    for sides, name in (
        ((torch.ones(0, 2), torch.ones(1, 2)), "source"),
        ((torch.ones(1, 2), torch.ones(0, 2)), "target"),
    ):
        with pytest.raises(InputError, match=name):
            nearest(*sides, 1)


def test_what_centring_adds_is_scipys_paired_interval_of_the_rows_wider_by_hubs_and_only_where_both_are_asked_for():
    draw = torch.Generator().manual_seed(0)
    source = torch.randn(60, 8, generator=draw)
    target = source + torch.randn(60, 8, generator=draw) + 1
    scores = retrieval(source, target)
    seen = set()
    for name in [name for name in scores if "centred" in name and "hubness" not in name]:
        both = scores[name], scores[name.replace("centred", "raw")]
        expected = ttest_rel(both[0].items, both[1].items).confidence_interval(0.95)
        mean, low, high = scores[name].details["above_raw"]
        assert mean == pytest.approx(np.mean(both[0].items - both[1].items))
        hubs = [score.details["hubs"][0] for score in both if "hubs" in score.details]
        seen.add(bool(hubs))
        assert (high - low > expected.high - expected.low) == bool(hubs)
        if not hubs:
            assert (low, high) == pytest.approx(tuple(expected))
    assert seen == {True, False}
    assert not any("above_raw" in score.details for name, score in scores.items() if "raw" in name)
    alone = retrieval(source, target, centre=(True,))
    assert not any("above_raw" in score.details for score in alone.values())


def test_rows_drawn_in_groups_are_worth_as_many_rows_as_there_are_groups_where_all_of_one_are_alike():
    draw = np.random.default_rng(0)
    hits, costs = (draw.random(60) < 0.4).astype(float), draw.poisson(0.3, 60).astype(float)
    groups = np.arange(60)
    for share in (True, False):
        alone = interval_of_ranks(hits, costs, float(costs.sum()), share=share)
        each = interval_of_ranks(hits, costs, float(costs.sum()), share=share, groups=groups)
        assert each == pytest.approx(alone, abs=0.01)  # Student's t of 59 for the normal's.
        # Four copies of each row say no more than it does; their costs are shared out among the copies.
        copies = interval_of_ranks(
            np.repeat(hits, 4), np.repeat(costs, 4), 16 * float(costs.sum()), share=share, groups=np.repeat(groups, 4)
        )
        assert copies == pytest.approx(each, abs=1e-9)
        plain = interval_of_ranks(np.repeat(hits, 4), np.zeros(240), 0.0, share=share)
        assert copies[1] - copies[0] > 1.5 * (plain[1] - plain[0])
    assert interval_of_ranks(hits, costs, 0.0, share=True, groups=np.zeros(60, int)) == (0.0, 1.0)


def test_a_gain_of_rows_in_groups_is_that_of_the_groups_means():
    draw = np.random.default_rng(1)
    before, after = (draw.random(50) for _ in range(2))
    scores = [Score(0.5, 150, items=np.repeat(items, 3)) for items in (after, before)]
    wanted = ttest_rel(after, before).confidence_interval(0.95)
    mean, low, high = gain(*scores, np.repeat(np.arange(50), 3))
    assert (mean, low, high) == pytest.approx((after.mean() - before.mean(), wanted.low, wanted.high))
