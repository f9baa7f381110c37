import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.metrics import silhouette_samples
from sklearn.neighbors import NearestNeighbors

from interlingua.errors import InputError
from interlingua.measures import vectors as rows_module
from interlingua.measures.clusters import clusters, language_clusters
from interlingua.stats import mean_interval


def cloud(n=90, d=8, seed=0, pull=1.0):
    draw = np.random.default_rng(seed)
    labels = draw.choice(["be", "en", "ru"], size=n)
    centres = {code: draw.normal(size=d) for code in ("be", "en", "ru")}
    return draw.normal(size=(n, d)) + pull * np.stack([centres[code] for code in labels]), labels


def test_silhouette_and_purity_equal_sklearn():
    vectors, labels = cloud()
    scores = clusters(torch.tensor(vectors), labels, k=7)
    np.testing.assert_allclose(
        scores["silhouette"].items, silhouette_samples(vectors, labels, metric="cosine"), atol=1e-5
    )
    near = NearestNeighbors(n_neighbors=7, metric="cosine").fit(vectors).kneighbors(return_distance=False)
    np.testing.assert_allclose(scores["purity"].items, (labels[near] == labels[:, None]).mean(axis=1), atol=1e-9)
    for score in scores.values():
        for code in ("be", "en", "ru"):
            assert score.details["by_label"][code] == pytest.approx(score.items[labels == code].mean())


def test_orthogonal_groups_read_one_and_equal_rows_read_nothing():
    apart = torch.eye(3)[[0, 0, 1, 1, 2, 2]]
    scores = clusters(apart, list("aabbcc"), k=1)
    assert scores["silhouette"].value == scores["purity"].value == 1.0
    same = clusters(torch.ones(6, 4), list("aaabbb"), k=2)
    assert same["silhouette"].value == pytest.approx(0.0, abs=1e-6)
    # All rows are equally near: each gets the share of its label among the others.
    assert same["purity"].value == pytest.approx(2 / 5)


def test_a_label_of_one_row_has_silhouette_zero():
    vectors, labels = cloud(n=20)
    labels[3] = "tr"
    items = clusters(torch.tensor(vectors), labels, k=3)["silhouette"].items
    assert items[3] == 0.0
    np.testing.assert_allclose(items, silhouette_samples(vectors, labels, metric="cosine"), atol=1e-5)
    labels[9] = "tr"
    items = clusters(torch.tensor(vectors), labels, k=3)["silhouette"].items
    assert items[3] != 0.0
    np.testing.assert_allclose(items, silhouette_samples(vectors, labels, metric="cosine"), atol=1e-5)


def test_random_labels_read_the_null():
    draw = np.random.default_rng(1)
    vectors = torch.tensor(draw.normal(size=(600, 6)))
    labels = draw.choice(["a", "b"], p=[0.8, 0.2], size=600)
    for score in clusters(vectors, labels, k=15).values():
        assert score.value == pytest.approx(score.null, abs=0.02)


def test_blocks_length_and_order_of_rows_change_nothing(monkeypatch):
    vectors, labels = cloud(n=40)
    whole = clusters(torch.tensor(vectors), labels, k=5)
    order = np.random.default_rng(0).permutation(40)
    moved = clusters(torch.tensor(3 * vectors[order]), labels[order], k=5)
    monkeypatch.setattr(rows_module, "BLOCK_CELLS", 40 * 7)
    blocked = clusters(torch.tensor(vectors), labels, k=5)
    for name, score in whole.items():
        np.testing.assert_allclose(blocked[name].items, score.items, atol=1e-6)
        np.testing.assert_allclose(moved[name].items, score.items[order], atol=1e-5)


@pytest.mark.parametrize(
    ("labels", "k", "say"),
    [(["a"] * 5, 1, "two labels"), (list("abcde"), 1, "two rows share"), (list("aabb"), 1, "each of 5 rows"),
     (list("aabbb"), 5, "below the number of rows")],
)  # fmt: skip
def test_labels_that_say_nothing_are_refused(labels, k, say):
    with pytest.raises(InputError, match=say):
        clusters(torch.eye(5), labels, k=k)


def test_nulls_are_of_shuffled_labels_and_intervals_students():
    vectors, labels = cloud(n=30)
    scores = clusters(torch.tensor(vectors), labels, seed=4)
    draw, names = np.random.default_rng(4), np.unique(labels, return_inverse=True)[1]
    shuffled = [silhouette_samples(vectors, draw.permutation(names), metric="cosine").mean() for _ in range(5)]
    assert scores["silhouette"].null == pytest.approx(np.mean(shuffled), abs=1e-5)
    pairs = labels[:, None] == labels
    assert scores["purity"].null == pytest.approx((pairs.sum() - 30) / (30 * 29))
    assert scores["purity"].details["k"] == 10
    for score in scores.values():
        assert (score.value, score.n) == (pytest.approx(score.items.mean()), 30)
    assert (scores["silhouette"].low, scores["silhouette"].high) == pytest.approx(
        mean_interval(scores["silhouette"].items)
    )


def test_the_interval_of_purity_is_the_jackknife_of_purity_without_each_row():
    vectors, labels = cloud(n=40)
    whole = clusters(torch.tensor(vectors), labels, k=5)["purity"]
    without = np.array(
        [clusters(torch.tensor(np.delete(vectors, row, 0)), np.delete(labels, row), k=5)["purity"].value * 39
         for row in range(40)]
    )  # fmt: skip
    influence = whole.value * 40 - without
    half = stats.t.ppf(0.975, 39) * influence.std(ddof=1) / 40**0.5
    assert (whole.low, whole.high) == pytest.approx((whole.value - half, min(whole.value + half, 1.0)))


def test_intervals_stay_within_what_the_scores_can_be():
    # Six pairs of equal rows; all but one pair share their label, or all but one do not.
    rows = torch.eye(6).repeat_interleave(2, dim=0)
    together = clusters(rows, list("aaaaaaaaaaab"), k=1)["purity"]
    assert (together.value, together.high) == (pytest.approx(10 / 12), 1.0)
    crossed = clusters(rows, list("ababababab" + "aa"), k=1)["purity"]
    assert (crossed.value, crossed.low) == (pytest.approx(2 / 12), 0.0)


def test_two_languages_are_clusters_of_their_rows():
    source, target = (torch.tensor(cloud(n=20, seed=seed)[0]) for seed in (0, 1))
    found = language_clusters(source, target, seed=2)
    expected = clusters(torch.cat([source, target]), ["source"] * 20 + ["target"] * 20, k=10, seed=2)
    for name, score in expected.items():
        assert (found[name].value, found[name].null) == (score.value, score.null)
    half = language_clusters(source.half(), target.half())
    exact = language_clusters(source.half().float(), target.half().float())
    assert {name: score.value for name, score in half.items()} == {name: score.value for name, score in exact.items()}


def test_as_many_neighbours_as_there_are_other_rows_read_the_null():
    vectors, labels = cloud(n=12)
    purity = clusters(torch.tensor(vectors), labels, k=11)["purity"]
    assert purity.value == pytest.approx(purity.null)
