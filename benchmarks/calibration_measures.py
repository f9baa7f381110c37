"""Rows of `benchmarks.calibration`: intervals of an audit's other measures, of links, clusters and correlated cells."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.calibration import Row
from interlingua.measures.cka import cka
from interlingua.measures.clusters import clusters
from interlingua.measures.curves import correlations
from interlingua.measures.isotropy import isotropy
from interlingua.measures.parallel_cosine import parallel_cosine
from interlingua.measures.procrustes import procrustes, procrustes_words, split
from interlingua.measures.retrieval import ranking_scores, rankings
from interlingua.measures.separation import separation
from interlingua.measures.tokenization import Splits, tokenization
from interlingua.score import Score
from interlingua.stats import above_draws, mantel
from interlingua.wordalign.quality import LinkCounts, quality

Draw = np.random.Generator
TRUTH_DRAWS = 300


@cache
def _truth(measured: Callable[[Draw], Score]) -> float:
    """What the measure gives on average in this world, with as many rows: what its interval should hold."""
    draw = np.random.default_rng(0)
    return float(np.mean([measured(draw).value for _ in range(TRUTH_DRAWS)]))


def _covered(measured: Callable[[Draw], Score], draw: Draw) -> bool:
    score = measured(draw)
    assert score.low is not None
    assert score.high is not None
    return score.low <= _truth(measured) <= score.high


def _sentences(draw: Draw, n: int, related: float) -> tuple[torch.Tensor, torch.Tensor]:
    scale = np.linspace(2, 0.2, 16)
    meaning = draw.normal(size=(n, 16)) * scale
    sides = [related * meaning + draw.normal(size=(n, 16)) * scale for _ in range(2)]
    return torch.from_numpy(sides[0]).float(), torch.from_numpy(sides[1]).float()


def _cka(related: float, n: int, draw: Draw) -> Score:
    return cka(*_sentences(draw, n, related), forms=("debiased",), seed=int(draw.integers(2**31)))["debiased"]


def _words(draw: Draw, sentences: int = 120, words: int = 4) -> tuple[torch.Tensor, torch.Tensor, NDArray[np.int64]]:
    """Words that share the context of their sentence, in both languages."""
    groups = np.repeat(np.arange(sentences), words)
    context = draw.normal(size=(sentences, 12))[groups]
    meaning = draw.normal(size=(len(groups), 12))
    sides = [torch.from_numpy(context + meaning + draw.normal(size=meaning.shape)).float() for _ in range(2)]
    return sides[0], sides[1], groups


def _separation(variant: str, draw: Draw) -> Score:
    source, target, groups = _words(draw)
    return separation(source, target, groups=groups, seed=int(draw.integers(2**31)))[variant]


def _isotropy(variant: str, draw: Draw) -> Score:
    source, _, groups = _words(draw)
    return isotropy(source, groups=groups, seed=0)[variant]


def _splits(draw: Draw, rows: int = 200) -> Splits:
    """Sentences that are harder or easier to cut, all words of one alike; and as rare in unknown tokens."""
    lengths = draw.integers(5, 20, rows)
    owner = np.repeat(np.arange(rows), lengths)
    hard = np.exp(0.5 * draw.normal(size=rows))
    pieces = 1 + draw.poisson(0.6 * hard[owner])
    token_row = np.repeat(owner, pieces)
    unknown = draw.random(len(token_row)) < 0.02 * hard[token_row]
    return Splits(rows, pieces, owner, draw.integers(0, 5000, len(token_row)), token_row, unknown)


def _tokenizer(variant: str, draw: Draw) -> Score:
    return tokenization(_splits(draw), _splits(draw))[variant]


def _map(draw: Draw) -> Score:
    """The same rows to fit on each time, others to test on: the interval is of these."""
    train, test = split(400, fraction=0.5, groups=None, seed=0)
    sides = [torch.empty(400, 16), torch.empty(400, 16)]
    for rows, its in ((train, np.random.default_rng(1)), (test, draw)):
        source = _sentences(its, len(rows), 1.0)[0]
        noise = torch.from_numpy(its.normal(size=source.shape)).float()
        sides[0][rows], sides[1][rows] = source, source.flip(1) + 0.8 * noise
    return procrustes(*sides, fraction=0.5, seed=0)["error/mapped"]


def _rotated(of: str, what: str, draw: Draw) -> Score:
    """P@1 after a rotation between sentences, or words of which some sentences' are harder, of many lengths."""
    if of == "sentences":
        source, target = _sentences(draw, 300, 1.0)
        scores = procrustes(source, target.flip(1), fraction=0.5, seed=0)
    else:
        lengths = draw.integers(2, 7, 100)
        groups = np.repeat(np.arange(100), lengths)
        meaning = 0.5 * draw.normal(size=(100, 24))[groups] + draw.normal(size=(len(groups), 24))
        noise = 0.9 * np.exp(0.5 * draw.normal(size=100))[groups][:, None]
        sides = [torch.from_numpy(meaning + noise * draw.normal(size=meaning.shape)).float() for _ in range(2)]
        scores = procrustes_words(sides[0], sides[1].flip(1), groups=groups, fraction=0.5, seed=0)
    score = scores["p@1/mapped"]
    if what == "rotation":
        return score
    mean, low, high = score.details["above_identity"]
    return Score(mean, score.n, low=low, high=high)


def _xsr(draw: Draw) -> Score:
    """The mean reciprocal rank of the retrieval task, of one model, with hubs."""
    source, target = _sentences(draw, 200, 1.0)
    offset = 2.0 * torch.eye(source.shape[1])[0]
    ranked, _ = rankings(source + offset, target + offset, ks=(1,))
    return ranking_scores(ranked, ks=(1,))["mrr"]


def _parallel(draw: Draw) -> Score:
    return parallel_cosine(*_sentences(draw, 150, 1.0))["centred"]


def _clusters(variant: str, apart: float, draw: Draw) -> Score:
    source, target = _sentences(draw, 75, 1.0)
    rows = torch.cat([source, target + apart])
    return clusters(rows, ["a"] * 75 + ["b"] * 75, seed=0)[variant]


def _aer(rows: int, draw: Draw) -> Score:
    """Links of sentences of many lengths, of which some are aligned better than others."""
    gold = draw.integers(4, 30, rows)
    skill = draw.beta(8, 3, rows)
    found = draw.binomial(gold, 0.9)
    right = draw.binomial(found, skill)
    return quality(LinkCounts(found, gold, right, right), seed=int(draw.integers(2**31)), times=400)["aer"]


def _matrices(draw: Draw, languages: int, shared: float) -> tuple[Any, Any]:
    """Two matrices of languages, each with ways of its own in all its cells; `shared` of them in both."""
    own = draw.normal(size=languages)
    sides = []
    for _ in range(2):
        way = shared * own + (1 - shared**2) ** 0.5 * draw.normal(size=languages)
        cells = way[:, None] + way[None, :] + 0.7 * draw.normal(size=(languages, languages))
        sides.append(np.triu(cells, 1) + np.triu(cells, 1).T)
    return sides[0], sides[1]


def _mantel(languages: int, shared: float, draw: Draw) -> Score:
    return mantel(*_matrices(draw, languages, shared), ranks=True, permutations=10)


def _mantel_rejects(languages: int, draw: Draw) -> bool:
    found = mantel(*_matrices(draw, languages, 0.0), ranks=True, permutations=499, seed=int(draw.integers(2**31)))
    return bool(found.details["p"] < 0.05)


def _curves_reject(draw: Draw) -> bool:
    """Changes over overlapping spans, of two languages that go their own ways."""
    steps = draw.normal(size=(46, 2)).cumsum(axis=0)
    return bool(correlations(steps[5:] - steps[:-5]).p[0, 1] < 0.05)


def _one_more_draw(count: int, draw: Draw) -> bool:
    """A model that is one more draw of its control is called above it."""
    value, *control = draw.normal(size=count + 1)
    _, low, _ = above_draws(value, control)
    assert low is not None
    return low > 0


def _coverage(name: str, measured: Callable[[Draw], Score], times: int, before: str = "as now") -> Row:
    return Row(name, "coverage", partial(_covered, measured), times=times, before=before)


ROWS = [
    _coverage("CKA of 150 sentences, related", partial(_cka, 1.0, 150), 800, "0.94"),
    _coverage("CKA of 150 sentences, unrelated", partial(_cka, 0.0, 150), 600),
    _coverage("AUC, cosine, 480 words of 120 sentences", partial(_separation, "auc/cosine"), 600),
    _coverage("distance of related words, 480 of 120 sentences", partial(_separation, "distance/related/l2"), 600),
    _coverage("distance of unrelated words, 480 of 120 sentences", partial(_separation, "distance/unrelated/l2"), 600),
    _coverage("IsoScore, 480 words of 120 sentences", partial(_isotropy, "isoscore"), 1000),
    _coverage("mean cosine, 480 words of 120 sentences", partial(_isotropy, "average-cosine"), 1000),
    _coverage("variance on the first axis, 480 words of 120 sentences", partial(_isotropy, "top-1"), 1000),
    _coverage("pieces per word, 200 sentences", partial(_tokenizer, "fertility/source"), 1500, "0.74"),
    _coverage("share of words cut, 200 sentences", partial(_tokenizer, "continued/source"), 1500, "0.81"),
    _coverage("share of unknown tokens, 200 sentences", partial(_tokenizer, "unknown/source"), 1500, "0.92"),
    _coverage("agreement of token counts, 200 sentences", partial(_tokenizer, "agreement"), 1500),
    _coverage("error of a fitted map, 200 test sentences", _map, 400, "0.93"),
    _coverage("P@1 after a rotation, 150 test sentences", partial(_rotated, "sentences", "rotation"), 600, "0.94"),
    _coverage("what the rotation adds, 150 test sentences", partial(_rotated, "sentences", "gain"), 600, "–"),
    _coverage("P@1 after a rotation, words of 50 test sentences", partial(_rotated, "words", "rotation"), 600, "0.73"),
    _coverage("what the rotation adds, words of 50 test sentences", partial(_rotated, "words", "gain"), 600, "–"),
    _coverage("MRR of the retrieval task among 200, hubs, one seed", _xsr, 800, "0.94"),
    _coverage("cosine of translations, 150 sentences, means removed", _parallel, 1500),
    _coverage("silhouette, 150 rows", partial(_clusters, "silhouette", 0.7), 400),
    _coverage("purity of neighbours, 150 rows", partial(_clusters, "purity", 0.7), 400, "0.89"),
    _coverage("AER of 250 sentence pairs (bootstrap)", partial(_aer, 250), 400),
    _coverage("AER of 40 sentence pairs (bootstrap)", partial(_aer, 40), 800),
    _coverage("rho over pairs of 8 languages, unrelated (jackknife)", partial(_mantel, 8, 0.0), 800),
    _coverage("rho over pairs of 12 languages, related (jackknife)", partial(_mantel, 12, 0.8), 800),
    Row("rho over pairs of 6 languages, unrelated (Mantel)", "error", partial(_mantel_rejects, 6), 600, "as now"),
    Row("changes of two languages over 41 overlapping spans", "error", _curves_reject, 3000, "as now"),
    *(
        Row(f"above {count} draws of a control", "error", partial(_one_more_draw, count), 8000, "none", nominal=0.025)
        for count in (3, 5)
    ),
]
