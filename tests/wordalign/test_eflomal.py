"""The eflomal adapter: links in our form where eflomal is installed, a clear error where it is not."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from interlingua.errors import MissingExtra
from interlingua.wordalign.eflomal import LONGEST, eflomal_links


def test_without_eflomal_the_error_is_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "eflomal", None)
    with pytest.raises(MissingExtra, match=r"pip install 'interlingua\[eflomal\]'"):
        eflomal_links([["a"]], [["b"]])


def test_words_of_a_made_up_language_find_their_twins_and_rows_keep_their_numbers() -> None:
    pytest.importorskip("eflomal")
    draw = np.random.default_rng(0)
    source = [[f"s{word}" for word in draw.permutation(30)[: draw.integers(3, 9)]] for _ in range(400)]
    target = [[word.replace("s", "t") for word in draw.permutation(row)] for row in source]
    source[7], target[8] = [], []
    source[9] = ["s1"] * (LONGEST + 1)
    found = eflomal_links(source, target)
    assert found.too_long == (9,)
    for links in (found.forward, found.backward):
        assert not np.isin(links.row, (7, 8, 9)).any()
        hits = [
            source[r][s][1:] == target[r][t][1:] for r, s, t in zip(links.row, links.source, links.target, strict=True)
        ]
        assert np.mean(hits) > 0.95
        assert links.row.max() == 399


def test_nothing_to_align_gives_no_links() -> None:
    pytest.importorskip("eflomal")
    assert len(eflomal_links([[], ["a"]], [["b"], []]).forward) == 0
