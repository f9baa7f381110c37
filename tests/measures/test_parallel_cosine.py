import numpy as np
import pytest
import torch
from sklearn.metrics.pairwise import cosine_similarity

from interlingua.errors import InputError
from interlingua.measures.parallel_cosine import parallel_cosine


def sides(n=40, d=7, seed=0):
    draw = np.random.default_rng(seed)
    source = draw.normal(size=(n, d)) + 1.0
    return source, source + 0.4 * draw.normal(size=(n, d)) - 0.5


@pytest.mark.parametrize("variant", ["raw", "centred"])
def test_values_are_sklearns_diagonal_and_the_null_its_whole_matrix(variant):
    source, target = sides()
    score = parallel_cosine(torch.tensor(source), torch.tensor(target))[variant]
    if variant == "centred":
        source, target = source - source.mean(axis=0), target - target.mean(axis=0)
    every = cosine_similarity(source, target)
    np.testing.assert_allclose(score.items, np.diag(every), atol=1e-6)
    assert score.null == pytest.approx(every.mean(), abs=1e-6)


def test_the_null_is_the_mean_over_shuffles():
    source, target = (torch.tensor(side) for side in sides(n=25))
    draw = np.random.default_rng(1)
    shuffled = [parallel_cosine(source, target[torch.from_numpy(draw.permutation(25))])["raw"] for _ in range(400)]
    assert np.mean([score.value for score in shuffled]) == pytest.approx(
        parallel_cosine(source, target)["raw"].null, abs=0.01
    )


def test_a_crowded_space_has_a_high_cosine_and_as_high_a_null():
    draw = torch.Generator().manual_seed(0)
    source, target = (torch.randn(300, 16, generator=draw) + 20 for _ in range(2))
    score = parallel_cosine(source, target)["raw"]
    assert score.value > 0.99
    assert score.null == pytest.approx(score.value, abs=1e-3)


def test_a_zero_row_has_cosine_zero():
    source = torch.eye(3)
    target = torch.eye(3)
    target[1] = 0
    assert parallel_cosine(source, target)["raw"].items.tolist() == [1.0, 0.0, 1.0]


def test_unequal_sides_are_refused():
    with pytest.raises(InputError, match="unequal numbers"):
        parallel_cosine(torch.eye(4), torch.eye(4)[:3])
