import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet
from sklearn.cluster import AgglomerativeClustering

from interlingua.errors import InputError
from interlingua.measures.curves import cluster_curves, correlations, differences, pool_runs


def smooth(steps=60, languages=5, seed=0):
    return np.random.default_rng(seed).normal(size=(steps, languages)).cumsum(axis=0)


def test_changes_over_a_span_add_up_to_the_whole_change():
    steps, values = np.arange(0, 130, 10), smooth(13)
    begun, changes = differences(steps, values, span=30)
    assert begun.tolist() == list(range(0, 100, 10))
    np.testing.assert_allclose(changes[::3].sum(axis=0), values[-1] - values[0])


def test_a_step_off_the_cadence_adds_no_change_and_order_does_not_matter():
    steps, values = [0, 20, 40, 60, 73], smooth(5)
    order = [3, 0, 4, 2, 1]
    begun, changes = differences(steps, values, span=20)
    again = differences([steps[place] for place in order], values[order], span=20)
    assert begun.tolist() == [0, 20, 40] == again[0].tolist()
    np.testing.assert_array_equal(changes, again[1])
    np.testing.assert_allclose(changes, np.diff(values[:4], axis=0))


@pytest.mark.parametrize(("steps", "span"), [([0, 10, 20], 50), ([0, 10, 20], 5), ([0, 10, 20], 0)])
def test_a_span_that_no_two_steps_lie_apart_is_refused(steps, span):
    with pytest.raises(InputError, match="no two measured steps lie"):
        differences(steps, smooth(3), span=span)


def test_correlations_are_numpys_and_a_constant_curve_has_none():
    curves = smooth()
    np.testing.assert_allclose(correlations(curves).matrix, np.corrcoef(curves.T), atol=1e-12)
    curves[:, 2] = 0.1
    found = correlations(curves).matrix
    assert found[2].tolist() == found[:, 2].tolist() == [0.0, 0.0, 1.0, 0.0, 0.0]


def test_the_null_is_the_mean_over_all_shifts():
    curves = smooth(21, 3)
    found = correlations(curves).null
    for one in range(3):
        for other in range(3):
            shifted = [np.corrcoef(curves[:, one], np.roll(curves[:, other], by))[0, 1] for by in range(1, 21)]
            assert found[one, other] == pytest.approx(np.mean(np.abs(shifted)))


def test_smooth_curves_without_relation_read_more_than_rough_ones():
    rough = np.random.default_rng(1).normal(size=(200, 4))
    off = ~np.eye(4, dtype=bool)
    assert correlations(rough.cumsum(axis=0)).null[off].min() > 2 * correlations(rough).null[off].max()


def test_what_is_added_to_a_whole_run_changes_no_correlation():
    runs = [smooth(30, 3, seed) for seed in range(3)]
    moved = [run + np.array([10.0 * number, -5.0, number**2]) for number, run in enumerate(runs)]
    np.testing.assert_allclose(correlations(pool_runs(runs)).matrix, correlations(pool_runs(moved)).matrix, atol=1e-9)
    np.testing.assert_allclose(correlations(pool_runs(runs[:1])).matrix, correlations(runs[0]).matrix, atol=1e-12)


def test_planted_groups_are_found_whatever_the_order_of_languages():
    draw = np.random.default_rng(0)
    common = draw.normal(size=(40, 2))
    member = np.array([0, 1, 0, 1, 1, 0])
    matrix = correlations(common[:, member] + 0.3 * draw.normal(size=(40, 6))).matrix
    for _ in range(5):
        order = draw.permutation(6)
        found = cluster_curves(matrix[np.ix_(order, order)])
        groups = np.array(found.groups)
        assert ((groups[:, None] == groups) == (member[order][:, None] == member[order])).all()
        assert sorted(found.order) == list(range(6))
        assert groups[found.order].tolist() == [0, 0, 0, 1, 1, 1]


def test_groups_are_those_of_sklearn_and_merges_make_a_tree():
    matrix = correlations(smooth(50, 7, seed=3)).matrix
    for count in range(1, 8):
        ours = np.array(cluster_curves(matrix, groups=count).groups)
        theirs = AgglomerativeClustering(count, metric="precomputed", linkage="average").fit_predict(1 - matrix)
        assert ((ours[:, None] == ours) == (theirs[:, None] == theirs)).all()
    merges = np.array(cluster_curves(matrix).merges)
    assert merges[-1, 3] == 7
    assert (np.diff(merges[:, 2]) >= 0).all()
    assert len(cophenet(merges)) == 21  # scipy takes it as a tree of its own.


def test_impossible_groups_are_refused():
    with pytest.raises(InputError, match="fewer groups"):
        cluster_curves(np.eye(3), groups=4)
    with pytest.raises(InputError, match="one language"):
        cluster_curves(np.eye(1))
    with pytest.raises(InputError, match="too few steps"):
        correlations(np.zeros((2, 3)))
