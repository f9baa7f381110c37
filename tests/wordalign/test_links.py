"""Links against sets of triples."""

from __future__ import annotations

import numpy as np
import pytest

from interlingua.wordalign.links import Links

Triples = list[tuple[int, int, int]]


def as_list(links: Links) -> Triples:
    return list(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [0, 1, 2, 300])
def test_links_are_the_sorted_set_of_their_triples_and_so_are_turned_ones(count: int, seed: int) -> None:
    columns = np.random.default_rng(seed).integers(0, 5, (3, count))
    triples = {(int(row), int(source), int(target)) for row, source, target in columns.T}
    assert count < 300 or len(triples) < 125 < count  # Some are there more than once, some not at all.
    links = Links.of(*columns.tolist())
    assert as_list(links) == sorted(triples)
    assert len(links) == len(triples)
    assert as_list(links.turned()) == sorted((row, target, source) for row, source, target in triples)
    assert as_list(links.turned().turned()) == as_list(links)
    for column in (links.row, links.source, links.target):
        assert column.dtype == np.int64
