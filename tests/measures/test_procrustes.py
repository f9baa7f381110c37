import numpy as np
import pytest
import torch
from scipy.linalg import orthogonal_procrustes, polar
from scipy.stats import binomtest, ttest_rel

from interlingua.errors import InputError
from interlingua.measures import procrustes as module
from interlingua.measures.procrustes import (
    Map,
    dictionary_precision,
    fit_rotation_map,
    procrustes,
    procrustes_words,
    split,
)
from interlingua.measures.retrieval import cosine_scores, ranks
from interlingua.measures.vectors import unit
from interlingua.stats import half_sample_interval


def rotated_pair(n=200, d=10, noise=0.3, seed=0):
    draw = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(draw.normal(size=(d, d)))
    source = draw.normal(size=(n, d))
    return torch.tensor(source), torch.tensor(source @ rotation + noise * draw.normal(size=(n, d)) + 1), rotation


def test_map_equals_scipys_on_centred_rows():
    source, target, _ = rotated_pair()
    expected, _ = orthogonal_procrustes(source - source.mean(0), target - target.mean(0))
    np.testing.assert_allclose(fit_rotation_map(source, target, normalise=False).matrix, expected, atol=1e-10)


@pytest.mark.parametrize("weakest", [1.0, 1e-3, 1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("falling", ["slowly", "at once"])
@pytest.mark.parametrize(("left", "right"), [(64, 64), (40, 64), (64, 40)])
def test_map_equals_scipys_polar_factor_however_uneven_the_directions(weakest, falling, left, right):
    draw = np.random.default_rng(0)
    count = min(left, right)
    scale = np.geomspace(1, weakest, count) if falling == "slowly" else np.where(np.arange(count) < 60, 1.0, weakest)
    u, v = np.linalg.qr(draw.normal(size=(left, count)))[0], np.linalg.qr(draw.normal(size=(right, count)))[0]
    for cross in (u * scale @ v.T, 1e-180 * (u * scale @ v.T), 1e180 * (u * scale @ v.T)):
        found = module._isometry(torch.tensor(cross), spanned=True).numpy()
        np.testing.assert_allclose(found, u @ v.T, atol=1e-6)
        small = found @ found.T if left <= right else found.T @ found
        np.testing.assert_allclose(small, np.eye(count), atol=1e-8)
        if left == right:
            np.testing.assert_allclose(found, polar(cross)[0], atol=1e-6)


def test_map_of_rows_that_miss_some_directions_still_keeps_lengths():
    draw = np.random.default_rng(0)
    for rank in (1, 30, 63):
        cross = draw.normal(size=(64, rank)) @ draw.normal(size=(rank, 64))
        matrix = module._isometry(torch.tensor(cross), spanned=True).numpy()
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(64), atol=1e-7)
        # The map of greatest trace, which is the sum of singular values.
        assert np.trace(matrix.T @ cross) == pytest.approx(np.linalg.svd(cross, compute_uv=False).sum(), rel=1e-9)
    zero = module._isometry(torch.zeros(5, 5, dtype=torch.float64), spanned=True).numpy()
    np.testing.assert_allclose(zero @ zero.T, np.eye(5), atol=1e-12)


@pytest.mark.parametrize(("left", "right"), [(10, 10), (6, 10), (10, 6)])
def test_map_keeps_lengths_of_the_smaller_space(left, right):
    source, target, _ = rotated_pair()
    matrix = fit_rotation_map(source[:, :left], target[:, :right]).matrix
    small = matrix @ matrix.T if left <= right else matrix.T @ matrix
    np.testing.assert_allclose(small, np.eye(min(left, right)), atol=1e-10)


def test_wide_targets_get_the_least_squares_map_no_other_isometry_is_better():
    source, target, _ = rotated_pair()
    best = fit_rotation_map(source[:, :6], target, normalise=False)
    x, y = best.centre_source(source[:, :6]), best.centre_target(target)
    draw = np.random.default_rng(0)
    for _ in range(50):
        nudged = best.matrix + 0.05 * torch.tensor(draw.normal(size=(6, 10)))
        u, _, vh = torch.linalg.svd(nudged, full_matrices=False)
        assert (x @ (u @ vh) - y).norm() >= (x @ best.matrix - y).norm()


def test_recovers_a_rotation_that_the_identity_misses():
    source, target, _ = rotated_pair(noise=0.1)
    scores = procrustes(source, target, normalise=False)
    assert scores["p@1/mapped"].value == 1.0
    for control in ("identity", "random"):
        assert scores[f"p@1/{control}"].value < 0.3
    assert scores["error/mapped"].value < 0.2
    assert scores["error/mapped"].null > 1.0
    assert scores["error/mapped"].low <= scores["error/mapped"].value <= scores["error/mapped"].high


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("size", [1e-4, 0.1, 1e4])
def test_the_error_of_a_target_whose_rows_are_all_alike_is_undefined_and_said_to_be(normalise, size):
    source, target, _ = rotated_pair(n=60)
    alike = (size * target[:1] / 3).repeat(60, 1)
    for rows in (alike, alike.float(), torch.zeros(60, 10)):
        scores = procrustes(source, rows, normalise=normalise)
        assert "error/mapped" not in scores
        assert scores["p@1/mapped"].value == 0.0
        [reason] = scores["p@1/mapped"].details["undefined"]
        assert reason.startswith("error/mapped: ")
    # The source may be alike: then nothing of the target is found, and all of it is missed.
    missed = procrustes(alike, target, normalise=normalise)["error/mapped"]
    assert missed.value == pytest.approx(1.0)


def test_the_error_of_a_target_with_one_row_that_differs_is_a_number_without_an_interval():
    source, target, _ = rotated_pair(n=60)
    rows = target[:1].repeat(60, 1)
    rows[split(60, fraction=0.8, groups=None, seed=0)[1][0]] += 1
    found = procrustes(source, rows, normalise=False)["error/mapped"]
    assert np.isfinite(found.value)
    assert (found.low, found.high) == (None, None)


def test_error_and_hits_are_those_of_the_test_rows_under_a_map_of_the_training_rows():
    source, target, _ = rotated_pair(n=80, noise=1.0)
    train, test = split(80, fraction=0.8, groups=None, seed=3)
    x, y = source.numpy(), target.numpy()
    w, _ = orthogonal_procrustes(x[train] - x[train].mean(0), y[train] - y[train].mean(0))
    mapped, right = (x[test] - x[train].mean(0)) @ w, y[test] - y[train].mean(0)
    scores = procrustes(source, target, normalise=False, seed=3)
    expected = np.linalg.norm(mapped - right) / np.linalg.norm(right)
    assert scores["error/mapped"].value == pytest.approx(expected)
    cosine = (mapped @ right.T) / np.linalg.norm(mapped, axis=1)[:, None] / np.linalg.norm(right, axis=1)
    np.testing.assert_array_equal(scores["p@1/mapped"].items, cosine.argmax(axis=1) == np.arange(len(test)))


def test_never_tested_on_its_training_pairs(monkeypatch):
    fitted = []
    original = module.fit_rotation_map

    def spy(source, target, *, normalise):
        fitted.append(source)
        return original(source, target, normalise=normalise)

    monkeypatch.setattr(module, "fit_rotation_map", spy)
    # Unrelated noise of fewer rows than dimensions: a rotation fits the rows it has seen, and no others.
    draw = torch.Generator().manual_seed(0)
    source, target = torch.randn(100, 200, generator=draw), torch.randn(100, 200, generator=draw)
    scores = procrustes(source, target)
    assert len(fitted[0]) == 80
    assert scores["p@1/mapped"].n == 20
    assert scores["p@1/mapped"].value <= 0.25
    seen = target[split(100, fraction=0.8, groups=None, seed=0)[0]]
    leaked = ranks(original(fitted[0], seen).apply(fitted[0]), seen)[0]
    assert (leaked == 1).mean() > 0.9


def test_split_is_disjoint_complete_and_keeps_groups_together():
    groups = np.random.default_rng(0).integers(0, 30, size=200)
    train, test = split(200, fraction=0.7, groups=groups, seed=1)
    assert sorted([*train, *test]) == list(range(200))
    assert not set(groups[train]) & set(groups[test])
    assert len(set(groups[train])) == 21
    assert not np.array_equal(train, split(200, fraction=0.7, groups=groups, seed=2)[0])


def test_saved_and_loaded_map_applies_alike_and_lands_on_the_target():
    source, target, _ = rotated_pair(noise=0.0)
    fitted = fit_rotation_map(source, target, normalise=False)
    loaded = Map.from_tensors(fitted.to_tensors())
    np.testing.assert_allclose(loaded.apply(source), target, atol=1e-9)
    assert loaded.normalise is fitted.normalise
    assert loaded.apply(source.float()).dtype == torch.float32
    with pytest.raises(InputError, match="lacks matrix"):
        Map.from_tensors({key: value for key, value in fitted.to_tensors().items() if key != "matrix"})


def test_spaces_of_different_widths_have_no_identity_control():
    source, target, _ = rotated_pair(noise=0.05)
    scores = procrustes(source[:, :9], target)
    assert "p@1/identity" not in scores
    assert scores["p@1/mapped"].value > 0.8


def test_dictionary_hit_is_any_translation_among_all_targets():
    source, target, _ = rotated_pair(n=100, noise=0.05)
    pairs = np.stack([np.arange(100)] * 2, axis=1)
    extra = np.array([[90, 3], [91, 4]])
    scores = dictionary_precision(source, target, train=pairs[:80], test=np.concatenate([pairs[80:], extra]))
    assert scores["p@1/mapped"].value == 1.0
    assert scores["p@1/mapped"].n == 20
    assert scores["p@1/random"].null == pytest.approx((18 / 100 + 2 * 2 / 100) / 20)
    wrong = np.array([[90, 3], [91, 4]])
    missed = dictionary_precision(source, target, train=pairs[:80], test=wrong)
    assert missed["p@1/mapped"].value == 0.0


def test_dictionary_chance_equals_random_draws():
    draw = np.random.default_rng(0)
    test = np.array([[0, 0], [0, 1], [0, 2], [1, 5]])
    hits = []
    for _ in range(4000):
        chosen = draw.permutation(12)[:5]
        hits += [np.isin([0, 1, 2], chosen).any(), 5 in chosen]
    assert module._chance(test, 12, [5])[5] == pytest.approx(np.mean(hits), abs=0.02)


def test_dictionary_refuses_test_words_seen_in_training():
    pairs = np.array([[0, 0], [1, 1], [2, 2]])
    with pytest.raises(InputError, match="Split by word"):
        dictionary_precision(torch.eye(4), torch.eye(4), train=pairs, test=pairs[2:])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"fraction": 1.0}, "between 0 and 1"),
        ({"groups": np.zeros(3, int)}, "one number for each"),
        ({"groups": np.zeros(20, int)}, "more rows or groups"),
    ],
)
def test_splits_that_cannot_be_say_so(options, says):
    source, target, _ = rotated_pair(n=20)
    with pytest.raises(InputError, match=says):
        procrustes(source, target, **options)


@pytest.mark.parametrize("normalise", [True, False])
def test_nulls_controls_sizes_and_the_interval_are_what_their_names_say(normalise):
    source, target, _ = rotated_pair(n=80, d=6, noise=1.0)
    train, test = split(80, fraction=0.7, groups=None, seed=3)
    scores = procrustes(source, target, fraction=0.7, normalise=normalise, seed=3)
    x, y = source.numpy(), target.numpy()
    if normalise:
        x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y))
    shuffled = np.random.default_rng(3).permutation(train)
    left, right = x[test] - x[train].mean(0), y[test] - y[train].mean(0)
    images = {"identity": left}
    for name, rows in (("mapped", train), ("astray", shuffled)):
        images[name] = left @ orthogonal_procrustes(x[train] - x[train].mean(0), y[rows] - y[train].mean(0))[0]
    wanted = {
        name: cosine_scores(unit(torch.tensor(image)), unit(torch.tensor(right)), ks=[1])
        for name, image in images.items()
    }
    for metric in ("p@1", "mrr"):
        mapped, identity = scores[f"{metric}/mapped"], scores[f"{metric}/identity"]
        assert (mapped.value, mapped.null) == pytest.approx(
            (wanted["mapped"][metric].value, wanted["astray"][metric].value)
        )
        assert (mapped.low, mapped.high) == pytest.approx((wanted["mapped"][metric].low, wanted["mapped"][metric].high))
        sizes = {key: value for key, value in mapped.details.items() if key not in ("above_identity", "hubs")}
        assert sizes == {"train": 56, "test": 24, "width": 6}
        assert (identity.value, identity.null) == pytest.approx(
            (wanted["identity"][metric].value, wanted["identity"][metric].null)
        )

    def error(name, rows):
        return float(np.linalg.norm((images[name] - right)[rows]) / np.linalg.norm(right[rows]))

    found = scores["error/mapped"]
    assert (found.value, found.null, found.n) == pytest.approx(
        (error("mapped", range(24)), error("astray", range(24)), 24), rel=1e-5
    )
    low, high = half_sample_interval(lambda rows: error("mapped", rows), 24, found.value, seed=3)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-5)


@pytest.mark.parametrize(("rows", "columns"), [(5, 5), (3, 7), (7, 3)])
def test_the_random_control_is_a_map_that_keeps_lengths_and_follows_the_seed(rows, columns):
    maps = [module._random_map(rows, columns, seed) for seed in (0, 1)]
    assert maps[0].shape == (rows, columns)
    small = maps[0] @ maps[0].T if rows <= columns else maps[0].T @ maps[0]
    np.testing.assert_allclose(small, np.eye(min(rows, columns)), atol=1e-12)
    assert not np.allclose(*maps)


def test_random_maps_of_the_plane_turn_everywhere_alike():
    # A uniform rotation or reflection: every entry has mean 0 and mean square 1/2.
    drawn = np.stack([module._random_map(2, 2, seed) for seed in range(2000)])
    np.testing.assert_allclose(drawn.mean(axis=0), 0, atol=0.07)
    np.testing.assert_allclose((drawn**2).mean(axis=0), 0.5, atol=0.04)
    assert np.mean(np.linalg.det(drawn) > 0) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("normalise", [True, False])
def test_dictionary_scores_equal_a_loop_over_words(normalise):
    source, target, _ = rotated_pair(n=60, d=5, noise=0.8)
    order = np.random.default_rng(1).permutation(60)  # word i of the source is word order[i] of the target
    target = target[torch.from_numpy(np.argsort(order))]
    train = np.stack([np.arange(40), order[:40]], axis=1)
    test = np.concatenate([np.stack([np.arange(40, 60), order[40:]], axis=1), [[45, 3], [46, 7]]])
    scores = dictionary_precision(source, target, train=train, test=test, ks=[1, 3], normalise=normalise, seed=2)
    x, y = source.numpy(), target.numpy()
    if normalise:
        x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y))
    learnt = y[order[:40]]
    middle, goal = x[:40].mean(0), learnt.mean(0)

    def hits(matrix, k):
        found = []
        for word in range(40, 60):
            image = (x[word] - middle) @ matrix
            cosines = (y - goal) @ image / np.linalg.norm(y - goal, axis=1)
            right = {pair[1] for pair in test.tolist() if pair[0] == word}
            found.append(bool(right & set(np.argsort(-cosines)[:k].tolist())))
        return np.array(found)

    shuffled = np.random.default_rng(2).permutation(40)
    fitted, blind = (
        orthogonal_procrustes(x[:40] - middle, learnt[rows] - goal)[0] for rows in (np.arange(40), shuffled)
    )
    for k in (1, 3):
        mapped, identity = scores[f"p@{k}/mapped"], scores[f"p@{k}/identity"]
        np.testing.assert_array_equal(mapped.items, hits(fitted, k))
        assert mapped.null == pytest.approx(hits(blind, k).mean())
        np.testing.assert_array_equal(identity.items, hits(np.eye(5), k))
        interval = binomtest(int(mapped.items.sum()), 20).proportion_ci(0.95, method="wilson")
        assert (mapped.value, mapped.low, mapped.high) == pytest.approx(
            (mapped.items.mean(), interval.low, interval.high)
        )


def test_a_dictionary_of_more_answers_than_targets_is_never_missed():
    test = np.array([[0, target] for target in range(4)] + [[1, 0]])
    assert module._chance(test, 4, [1, 2, 9]) == pytest.approx({1: (1 + 1 / 4) / 2, 2: (1 + 2 / 4) / 2, 9: 1.0})


def test_rows_are_of_length_1_unless_said_otherwise_and_a_saved_map_knows_it():
    source, target, _ = rotated_pair(n=50)
    source = source * torch.linspace(0.1, 9, 50)[:, None].double()
    said, other = fit_rotation_map(source, target, normalise=True), fit_rotation_map(source, target, normalise=False)
    assert not torch.allclose(said.matrix, other.matrix)
    assert torch.equal(fit_rotation_map(source, target).matrix, said.matrix)
    for fitted in (said, other):
        loaded = Map.from_tensors(fitted.to_tensors())
        assert loaded.normalise is fitted.normalise
        assert torch.equal(loaded.apply(source), fitted.apply(source))
    pairs = np.stack([np.arange(50)] * 2, axis=1)
    dictionary = {"train": pairs[:35], "test": pairs[35:]}
    for default, explicit in (
        (procrustes(source, target), procrustes(source, target, normalise=True, seed=0)),
        (
            dictionary_precision(source, target, **dictionary),
            dictionary_precision(source, target, normalise=True, **dictionary),
        ),
    ):
        assert {name: score.value for name, score in default.items()} == {
            name: score.value for name, score in explicit.items()
        }


def test_the_random_control_is_that_of_the_seed():
    source, target, _ = rotated_pair(n=60, d=6, noise=0.1)
    train, test = split(60, fraction=0.8, groups=None, seed=2)
    images = (source[test] - source[train].mean(0)) @ torch.from_numpy(module._random_map(6, 6, 2))
    expected = ranks(images, target[test] - target[train].mean(0))[0]
    found = procrustes(source, target, normalise=False, seed=2)["mrr/random"].items
    np.testing.assert_array_equal(found, 1 / expected)


def test_the_error_does_not_change_with_the_unit():
    source, target, _ = rotated_pair(n=60, noise=0.5)
    one, other = (procrustes(scale * source, scale * target, normalise=False)["error/mapped"] for scale in (1, 1e-3))
    assert (one.value, one.low, one.high, one.null) == pytest.approx((other.value, other.low, other.high, other.null))


def test_words_are_split_by_their_sentences():
    source, target, _ = rotated_pair(n=60)
    groups = np.arange(60) // 4
    options = {"fraction": 0.6, "groups": groups, "normalise": False, "seed": 3}
    found, expected = procrustes_words(source, target, **options), procrustes(source, target, **options)
    assert {name: score.value for name, score in found.items()} == {
        name: score.value for name, score in expected.items()
    }
    whole = {name: score.value for name, score in procrustes_words(source, target, groups=groups).items()}
    assert whole == {name: score.value for name, score in procrustes(source, target, groups=groups).items()}


def test_two_rows_on_each_side_of_the_split_are_enough_and_nothing_is_no_share():
    train, test = split(4, fraction=0.5, groups=None, seed=0)
    assert (len(train), len(test)) == (2, 2)
    source, target, _ = rotated_pair(n=4, d=2)
    assert procrustes(source, target, fraction=0.5)["p@1/mapped"].n == 2
    with pytest.raises(InputError, match="between 0 and 1"):
        split(10, fraction=0.0, groups=None, seed=0)
    for rows in (1, 3):
        with pytest.raises(InputError, match="too few rows"):
            split(4, fraction=rows / 4, groups=None, seed=0)


def test_words_said_again_within_their_sentence_do_not_narrow_the_errors_interval():
    source, target, _ = rotated_pair(n=60, noise=0.8)
    once = procrustes(source, target)["error/mapped"]
    five = np.repeat(np.arange(60), 5)
    again = procrustes_words(source[five], target[five], groups=five)["error/mapped"]
    assert (again.value, again.low, again.high) == pytest.approx((once.value, once.low, once.high))
    assert (once.n, again.n) == (12, 60)
    words = procrustes_words(source[five], target[five], groups=np.arange(300) // 5)["error/mapped"]
    assert (words.low, words.high) == (again.low, again.high)


def test_what_the_map_adds_is_scipys_paired_interval_of_the_test_rows():
    source, target, _ = rotated_pair(n=150, d=6, noise=0.6)
    scores = procrustes(source, target)
    for name in ("p@1", "mrr"):
        mapped, plain = scores[f"{name}/mapped"], scores[f"{name}/identity"]
        expected = ttest_rel(mapped.items, plain.items).confidence_interval(0.95)
        found = mapped.details["above_identity"]
        assert found == pytest.approx([mapped.value - plain.value, expected.low, expected.high])
    assert "above_identity" not in procrustes(source, target[:, :4])["p@1/mapped"].details
