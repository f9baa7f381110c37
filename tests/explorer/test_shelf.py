from __future__ import annotations

import numpy as np
import pytest

from interlingua.explorer.corpus_index import CorpusIndex


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


@pytest.mark.parametrize("centred", [True, False])
def test_neighbours_are_those_of_a_full_sort(shelf: CorpusIndex, centred: bool) -> None:
    texts = {code: list(shelf.corpus.column(code)) for code in ("en", "es")}
    found = {code: shelf.encoder.encode(each) for code, each in texts.items()}
    for layer in (0, 4, 8):
        vectors = {code: each[layer].astype(np.float64) for code, each in found.items()}
        if centred:
            vectors = {code: each - each.mean(axis=0) for code, each in vectors.items()}
        cosines = unit(vectors["en"]) @ unit(vectors["es"]).T
        for row in (0, 7, 19):
            near, rank = shelf.neighbours(vectors["en"][row], layer, "es", centred=centred, count=5, row=row)
            order = np.argsort(-cosines[row])
            assert [each.row for each in near] == order[:5].tolist()
            assert [each.text for each in near] == [texts["es"][n] for n in order[:5]]
            np.testing.assert_allclose([each.cosine for each in near], cosines[row][order[:5]], atol=1e-5)
            assert rank == 1 + int(np.flatnonzero(order == row)[0])


def test_more_neighbours_than_rows_are_all_rows(shelf: CorpusIndex) -> None:
    near, rank = shelf.neighbours(np.ones(shelf.encoder.dim), 3, "ar", centred=True, count=1000)
    assert sorted(each.row for each in near) == list(range(len(shelf.corpus)))
    assert rank is None


def test_bands_hold_what_all_pairs_say(shelf: CorpusIndex) -> None:
    band = shelf.band("en", "es", False)
    assert band.n == len(shelf.corpus)
    found = [shelf.encoder.encode(shelf.corpus.column(code)) for code in ("en", "es")]
    for layer in shelf.encoder.layers:
        ours, theirs = (unit(side[layer].astype(float)) for side in found)
        cosines = ours @ theirs.T
        np.testing.assert_allclose(
            band.translations[layer], np.quantile(np.diag(cosines), [0.05, 0.5, 0.95]), atol=1e-5
        )
        others = cosines[~np.eye(len(cosines), dtype=bool)]
        assert others.min() <= band.unrelated[layer, 0] <= band.unrelated[layer, 2] <= others.max()


def test_a_language_beside_itself_is_all_translation(shelf: CorpusIndex) -> None:
    np.testing.assert_allclose(shelf.band("en", "en", True).translations, 1.0, atol=1e-9)


def test_an_unknown_language_has_a_band_of_all_and_the_mean_of_means(shelf: CorpusIndex) -> None:
    assert shelf.band(None, "en", True).n > 0
    every = np.mean([shelf.centre(code) for code in shelf.corpus.languages], axis=0)
    np.testing.assert_allclose(shelf.centre(None), every)


def test_all_layers_are_memory_mapped(shelf: CorpusIndex) -> None:
    for code in shelf.corpus.languages:
        assert len(shelf._found[code].vectors) == len(shelf.encoder.layers)
        assert all(isinstance(layer, np.memmap) for layer in shelf._found[code].vectors)
