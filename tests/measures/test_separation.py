import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, norm
from scipy.stats import t as t_distribution

from interlingua.errors import InputError
from interlingua.measures import vectors as rows_module
from interlingua.measures.separation import derangement, separation
from interlingua.stats import mean_interval


def word_pair(n=120, d=6, noise=1.5, seed=0):
    draw = np.random.default_rng(seed)
    source = draw.normal(size=(n, d))
    return source, source + noise * draw.normal(size=(n, d))


def plain_distances(name, source, target):
    if name == "l2":
        return np.sqrt(((source - target) ** 2).sum(axis=1))
    return 1 - (source * target).sum(axis=1) / np.linalg.norm(source, axis=1) / np.linalg.norm(target, axis=1)


@pytest.mark.parametrize("name", ["l2", "cosine"])
def test_auc_distances_and_overlap_equal_scipy_and_numpy(name):
    source, target = word_pair()
    scores = separation(torch.tensor(source), torch.tensor(target), seed=5)
    partner = derangement(120, groups=None, seed=[5, 0])
    near, far = plain_distances(name, source, target), plain_distances(name, source, target[partner])
    auc = scores[f"auc/{name}"]
    assert auc.value == pytest.approx(mannwhitneyu(far, near).statistic / 120**2, abs=1e-6)
    assert auc.items.mean() == pytest.approx(auc.value)
    np.testing.assert_allclose(scores[f"distance/related/{name}"].items, near, atol=1e-6)
    np.testing.assert_allclose(scores[f"distance/unrelated/{name}"].items, far, atol=1e-6)
    related, unrelated = np.array(auc.details["related"]), np.array(auc.details["unrelated"])
    assert related.sum() == unrelated.sum() == 120
    assert len(auc.details["edges"]) == 41
    assert scores[f"overlap/{name}"].value == pytest.approx(np.minimum(related, unrelated).sum() / 120)


@pytest.mark.parametrize("name", ["l2", "cosine"])
def test_histograms_share_their_edges_and_the_nulls_are_of_unrelated_pairs(name):
    source, target = word_pair()
    scores = separation(torch.tensor(source), torch.tensor(target), bins=9, seed=5)
    partners = [derangement(120, groups=None, seed=[5, draw]) for draw in (0, 1)]
    near, far, again = (plain_distances(name, source, target[rows]) for rows in (np.arange(120), *partners))
    details = scores[f"auc/{name}"].details
    edges = np.linspace(min(map(min, (near, far, again))), max(map(max, (near, far, again))), 10)
    np.testing.assert_allclose(details["edges"], edges, atol=1e-6)
    edges[[0, -1]] += -1e-6, 1e-6
    tables = [np.histogram(part, edges)[0] for part in (near, far, again)]
    assert (details["related"], details["unrelated"]) == (tables[0].tolist(), tables[1].tolist())
    assert scores[f"overlap/{name}"].null == pytest.approx(np.minimum(tables[1], tables[2]).sum() / 120)
    for kind, values, null in (("related", near, far.mean()), ("unrelated", far, None)):
        score = scores[f"distance/{kind}/{name}"]
        assert score.value == pytest.approx(values.mean(), rel=1e-5)
        assert score.null == (None if null is None else pytest.approx(null, rel=1e-5))
        assert (score.low, score.high) == pytest.approx(mean_interval(values), rel=1e-5)
    assert {score.n for score in scores.values()} == {120}


def test_the_interval_of_the_auc_sums_over_all_pairs_that_share_a_row():
    source, target = word_pair(n=30, noise=2.5)
    score = separation(torch.tensor(source), torch.tensor(target), seed=3)["auc/l2"]
    partner = derangement(30, groups=None, seed=[3, 0])
    near, far = plain_distances("l2", source, target), plain_distances("l2", source, target[partner])
    nearer = near[:, None] < far[None, :]
    pull = np.concatenate([nearer.mean(axis=1), nearer.mean(axis=0)]) - nearer.mean()
    rows = np.concatenate([np.arange(30)] * 2), np.concatenate([np.arange(30), partner])
    sharing = (rows[0][:, None] == rows[0]) | (rows[1][:, None] == rows[1])
    half = norm.ppf(0.975) * np.sqrt(pull @ sharing @ pull / 29 / 30)
    assert (score.low, score.high) == pytest.approx((nearer.mean() - half, nearer.mean() + half))
    assert score.null == 0.5


def test_the_interval_of_the_auc_stays_within_0_and_1():
    source, target = word_pair(n=12, noise=1.2)
    above = separation(torch.tensor(source), torch.tensor(target))["auc/l2"]
    assert 0.9 < above.value < 1.0 == above.high
    partner = derangement(12, groups=None, seed=[0, 0])
    below = separation(torch.tensor(source), torch.tensor(target[np.argsort(partner)]))["auc/l2"]
    assert below.low == 0.0 < below.value


def test_two_words_and_one_bin_are_enough():
    scores = separation(torch.eye(2), torch.eye(2), bins=1)
    assert scores["auc/l2"].value == 1.0
    assert scores["overlap/l2"].value == 1.0


def test_ties_count_half():
    grid = torch.tensor(np.random.default_rng(0).integers(0, 2, size=(80, 3)), dtype=torch.float32)
    score = separation(grid, grid.flip(0))["auc/l2"]
    far = (grid - grid.flip(0)[derangement(80, groups=None, seed=[0, 0])]).norm(dim=1).numpy()
    near = (grid - grid.flip(0)).norm(dim=1).numpy()
    expected = np.mean((near[:, None] < far) + 0.5 * (near[:, None] == far))
    assert score.value == pytest.approx(expected)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=40), st.integers(0, 5))
def test_partners_are_a_permutation_that_leaves_every_group(labels, seed):
    groups = np.array(labels)
    if 2 * np.bincount(groups).max() > len(groups):
        with pytest.raises(InputError, match="more sentences"):
            derangement(len(groups), groups=groups, seed=seed)
        return
    partner = derangement(len(groups), groups=groups, seed=seed)
    assert sorted(partner) == list(range(len(groups)))
    assert (groups[partner] != groups).all()


def test_unrelated_words_of_one_sentence_are_never_paired():
    # Words of one sentence are equal, so a pair within a sentence would lie at distance 0.
    groups = np.repeat(np.arange(20), 5)
    words = torch.eye(20)[groups]
    scores = separation(words, words, groups=groups)
    assert min(scores["distance/unrelated/l2"].items) == pytest.approx(2**0.5)
    assert scores["auc/l2"].value == 1.0


@pytest.mark.parametrize("noise", [1.5, None])
def test_interval_is_as_wide_as_the_spread_over_fresh_samples(noise):
    runs = []
    for seed in range(300):
        draw = torch.Generator().manual_seed(seed)
        source, other = torch.randn(80, 5, generator=draw), torch.randn(80, 5, generator=draw)
        runs.append(separation(source, other if noise is None else source + noise * other, seed=seed)["auc/l2"])
    spread = 1.96 * np.std([run.value for run in runs])
    assert np.mean([(run.high - run.low) / 2 for run in runs]) == pytest.approx(spread, rel=0.12)


def test_blocks_of_rows_change_nothing(monkeypatch):
    source, target = (torch.tensor(side) for side in word_pair())
    whole = separation(source, target)
    monkeypatch.setattr(rows_module, "BLOCK_CELLS", 6 * 7)
    assert {name: score.value for name, score in separation(source, target).items()} == {
        name: score.value for name, score in whole.items()
    }


def test_refuses_no_bins_and_misfitting_groups():
    with pytest.raises(InputError, match="1 or more"):
        separation(torch.eye(4), torch.eye(4), bins=0)
    with pytest.raises(InputError, match="each of 4 rows"):
        separation(torch.eye(4), torch.eye(4), groups=np.arange(3))


def sentences(count, seed, words=6, d=8):
    """Words of sentences, each sentence with a direction, and a quality of translation, of its own."""
    draw = np.random.default_rng(seed)
    groups = np.repeat(np.arange(count), words)
    source = draw.normal(size=(len(groups), d)) + 0.6 * draw.normal(size=(count, d))[groups]
    noise = draw.uniform(0.3, 2.4, count)[groups, None] * draw.normal(size=source.shape)
    return torch.tensor(source), torch.tensor(source + noise), groups


def test_with_sentences_the_variance_sums_over_all_pairs_that_share_one():
    source, target, groups = sentences(9, seed=0, words=4)
    scores = separation(source, target, groups=groups, seed=3)
    partner = derangement(36, groups=groups, seed=[3, 0])
    near, far = (plain_distances("l2", source.numpy(), side) for side in (target.numpy(), target.numpy()[partner]))
    nearer = near[:, None] < far[None, :]
    within = [np.eye(9)[groups], np.maximum(np.eye(9)[groups], np.eye(9)[groups[partner]])]
    pulls = {
        "auc/l2": ([nearer.mean(axis=1), nearer.mean(axis=0)], within),
        "distance/related/l2": ([near], within[:1]),
        "distance/unrelated/l2": ([far], within[1:]),
    }
    for name, (parts, touched) in pulls.items():
        pull, touches = np.concatenate([part - part.mean() for part in parts]), np.concatenate(touched)
        sharing = touches @ touches.T > 0
        half = t_distribution.ppf(0.975, 8) * np.sqrt(9 / 8 * (pull @ sharing @ pull)) / 36
        score = scores[name]
        assert (score.low, score.high) == pytest.approx((score.value - half, score.value + half), abs=1e-6), name


@pytest.mark.parametrize("name", ["auc/cosine", "auc/l2", "distance/related/l2", "distance/unrelated/cosine"])
def test_with_sentences_intervals_are_as_wide_as_the_spread_over_fresh_sentences(name):
    found = [
        separation(*sentences(80, seed)[:2], groups=sentences(80, seed)[2], seed=seed)[name] for seed in range(200)
    ]
    spread = 1.96 * np.std([score.value for score in found])
    assert np.mean([(score.high - score.low) / 2 for score in found]) == pytest.approx(spread, rel=0.15)
    inside = [score.low <= np.mean([each.value for each in found]) <= score.high for score in found]
    assert 0.91 <= np.mean(inside) <= 0.985
