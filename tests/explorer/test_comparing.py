from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.explorer.corpus_index import CorpusIndex
from interlingua.explorer.encoded_text import read
from interlingua.explorer.layer_comparison import LayerComparison, compare
from interlingua.wordalign.neural import NeuralSettings, neural_links
from interlingua.words import Sentence, token_spans

SOURCE, TARGET = "The kitchen tap is leaking again.", "El grifo de la cocina vuelve a gotear."


def levels(
    shelf: CorpusIndex, source: str, target: str, *, centred: bool, linking: str = "argmax"
) -> list[LayerComparison]:
    both = read(shelf.encoder, [source, target])
    centres = (shelf.centre("en", centred=centred), shelf.centre("es", centred=centred))
    return compare(both[0], both[1], centres, weighing="attribution", linking=linking)


@pytest.mark.parametrize("centred", [True, False])
def test_what_words_add_is_the_cosine_to_the_last_digit(shelf: CorpusIndex, centred: bool) -> None:
    found = shelf.encoder.encode([SOURCE, TARGET], pooling="mean")
    for layer, level in enumerate(levels(shelf, SOURCE, TARGET, centred=centred)):
        assert level.source.sum() + level.rest[0] == pytest.approx(level.explained, abs=1e-12)
        assert level.target.sum() + level.rest[1] == pytest.approx(level.explained, abs=1e-12)
        ours, theirs = (
            found[layer][n].astype(np.float64) - shelf.centre(code, centred=centred)[layer]
            for n, code in enumerate(["en", "es"])
        )
        cosine = ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs)
        assert level.explained == pytest.approx(cosine, abs=1e-5)
        assert level.cosine == pytest.approx(cosine, abs=1e-5)  # The embedded encoder pools by the mean.


def test_a_sentence_beside_itself_is_all_one(shelf: CorpusIndex) -> None:
    both = read(shelf.encoder, [SOURCE, SOURCE])
    none = shelf.centre(None, centred=False)
    for level in compare(both[0], both[1], (none, none), weighing="attribution", linking="argmax"):
        assert level.cosine == pytest.approx(1.0)
        assert level.flow is not None
        assert level.flow.score == pytest.approx(1.0)
        assert level.links == [(n, n) for n in range(7)]


@pytest.mark.parametrize("method", ["argmax", "itermax"])
def test_links_are_those_of_the_neural_aligner(encoder: Encoder, shelf: CorpusIndex, method: str) -> None:
    sentences = [Sentence(text, token_spans(text)) for text in (SOURCE, TARGET)]
    for layer, level in enumerate(levels(shelf, SOURCE, TARGET, centred=False, linking=method)):
        settings = NeuralSettings(method=method, layer=layer, centre=False)
        links = neural_links(encoder, sentences[:1], sentences[1:], settings).links
        assert level.links == list(zip(links.source.tolist(), links.target.tolist(), strict=True))


def test_the_plan_is_the_linear_programs_optimum(shelf: CorpusIndex) -> None:
    level = levels(shelf, SOURCE, TARGET, centred=True)[5]
    assert level.flow is not None
    weights = [np.abs(side) / np.abs(side).sum() for side in (level.source, level.target)]
    costs = 1 - np.maximum(level.similar, 0)
    n, m = costs.shape
    rows = [np.eye(n)[i][:, None] * np.ones((1, m)) for i in range(n)]
    columns = [np.ones((n, 1)) * np.eye(m)[j] for j in range(m)]
    sums = np.stack([cell.ravel() for cell in rows + columns])
    best = linprog(costs.ravel(), A_eq=sums[:-1], b_eq=np.concatenate(weights)[:-1], bounds=(0, None))
    assert level.flow.score == pytest.approx(1 - best.fun, abs=1e-9)


def test_exchanging_the_sentences_transposes_everything(shelf: CorpusIndex) -> None:
    both = read(shelf.encoder, [SOURCE, TARGET])
    none = shelf.centre(None, centred=False)
    ours = compare(both[0], both[1], (none, none), weighing="even", linking="argmax")
    theirs = compare(both[1], both[0], (none, none), weighing="even", linking="argmax")
    for one, other in zip(ours, theirs, strict=True):
        assert sorted(one.links) == sorted((i, j) for j, i in other.links)
        np.testing.assert_allclose(one.source, other.target, atol=1e-12)
        assert one.flow is not None
        assert other.flow is not None
        assert one.flow.score == pytest.approx(other.flow.score, abs=1e-9)


def test_unknown_names_are_told(shelf: CorpusIndex) -> None:
    with pytest.raises(InputError, match="argmax"):
        levels(shelf, SOURCE, TARGET, centred=True, linking="armax")
