"""One contract for every projection, and what each alone promises."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from interlingua.errors import InputError, MissingExtra
from interlingua.projection import clamp_perplexity, projections

NEEDS = {"pca": None, "tsne": "sklearn", "umap": "umap"}


def groups(n=90, d=20, seed=0):
    draw = np.random.default_rng(seed)
    label = np.arange(n) % 3
    return draw.normal(size=(n, d)) + 12 * np.eye(d)[label], label


def projection(name):
    if NEEDS[name] is not None:
        pytest.importorskip(NEEDS[name])
    return projections[name].call


def test_every_flattening_is_in_the_contract():
    assert {entry.name for entry in projections} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_the_same_vectors_and_seed_give_the_same_places_and_the_input_stays(name):
    flatten = projection(name)
    vectors, _ = groups()
    before = vectors.copy()
    one, other = (flatten(vectors, perplexity=8, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.places, other.places)
    np.testing.assert_array_equal(vectors, before)
    assert one.places.shape == (90, 2)
    assert np.isfinite(one.places).all()


@pytest.mark.parametrize("name", NEEDS)
def test_groups_far_apart_stay_apart_on_the_map(name):
    vectors, label = groups()
    places = projection(name)(vectors, perplexity=8).places
    near = NearestNeighbors(n_neighbors=5).fit(places).kneighbors(return_distance=False)
    assert (label[near] == label[:, None]).mean() == 1.0


@pytest.mark.parametrize("name", NEEDS)
def test_undefined_values_and_single_points_are_refused(name):
    flatten = projection(name)
    with pytest.raises(InputError, match="too few points"):
        flatten(np.ones((1, 3)))
    broken = groups()[0]
    broken[4, 2] = np.nan
    with pytest.raises(InputError, match="undefined"):
        flatten(broken)


@pytest.mark.parametrize("name", NEEDS)
def test_equal_vectors_are_no_error(name):
    assert np.isfinite(projection(name)(np.ones((30, 6)), perplexity=4).places).all()


def test_pca_equals_sklearns_up_to_sign():
    vectors, _ = groups()
    ours, theirs = projections["pca"].call(vectors), PCA(2).fit(vectors)
    there = theirs.transform(vectors)
    np.testing.assert_allclose(np.abs(ours.places), np.abs(there), atol=1e-8)
    np.testing.assert_allclose(ours.about["explained"], theirs.explained_variance_ratio_)


def test_pca_of_a_line_has_no_second_share():
    line = np.arange(12.0)[:, None]
    flat = projections["pca"].call(line)
    assert flat.places[:, 1].tolist() == [0.0] * 12
    assert flat.about["explained"] == [1.0]


@pytest.mark.parametrize("name", ["tsne", "umap"])
def test_a_perplexity_beyond_a_third_of_the_points_is_refused(name):
    with pytest.raises(InputError, match=r"90 points are too few for this perplexity.*30"):
        projections[name].call(groups()[0], perplexity=29.7)
    with pytest.raises(InputError, match="below 1"):
        projections[name].call(groups()[0], perplexity=0.5)


def test_the_default_perplexity_is_the_papers_as_far_as_points_allow():
    assert clamp_perplexity(None, 212, default=70) == 70
    assert clamp_perplexity(None, 100, default=70) == 33
    assert clamp_perplexity(33, 100, default=70) == 33


@pytest.mark.parametrize(("name", "package", "extra"), [("tsne", "sklearn", "maps"), ("umap", "umap", "umap")])
def test_a_missing_extra_is_told_with_its_command(name, package, extra, monkeypatch):
    for module in [module for module in sys.modules if module.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"interlingua\[{extra}\]"):
        projections[name].call(groups()[0])
