"""What an audit measures, computed again by plain means: transformers in a loop, scikit-learn, SciPy and NumPy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes
from scipy.stats import mannwhitneyu
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

Vectors = NDArray[np.float64]
Spans = list[tuple[int, int]]
CLOSE = 2e-7
"""Cosines nearer to each other than this are in no order that float32 could tell; lengths are 50 times coarser."""


class Expected(NamedTuple):
    """A value, and how far a rank statistic may lie from it because some items are too close to be ordered."""

    value: float
    slack: float = 0.0


class PlainModel:
    """A model folder read by transformers, one text at a time, no batch and no padding."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer, self.model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
        self._known: dict[str, tuple[list[Vectors], Spans]] = {}

    def states(self, text: str) -> tuple[list[Vectors], Spans]:
        """Every layer's vectors of a text's own tokens, and the characters of each."""
        if text not in self._known:
            self._known[text] = self._states(text)
        return self._known[text]

    def _states(self, text: str) -> tuple[list[Vectors], Spans]:
        given: Any = self.tokenizer(
            text, return_tensors="pt", return_special_tokens_mask=True, return_offsets_mapping=True
        )
        with torch.no_grad():
            layers = self.model(input_ids=given["input_ids"], output_hidden_states=True).hidden_states
        own = ~given["special_tokens_mask"][0].bool().numpy()
        spans = [(int(a), int(b)) for a, b in given["offset_mapping"][0].numpy()[own]]
        return [layer[0].double().numpy()[own] for layer in layers], spans

    def sentences(self, texts: Sequence[str]) -> list[Vectors]:
        """For each layer the (text, dim) means of tokens."""
        found = [[layer.mean(axis=0) for layer in self.states(text)[0]] for text in texts]
        return [np.stack(column) for column in zip(*found, strict=True)]

    def words(self, texts: Sequence[str], places: Sequence[tuple[int, tuple[int, int]]]) -> list[Vectors]:
        """For each layer the (word, dim) means of the tokens that overlap each (text number, characters)."""
        states = {row: self.states(texts[row]) for row in {row for row, _ in places}}
        found = []
        for row, (start, end) in places:
            layers, spans = states[row]
            inside = [k for k, (a, b) in enumerate(spans) if texts[row][max(a, start) : min(b, end)].strip()]
            found.append([layer[inside].mean(axis=0) for layer in layers])
        return [np.stack(column) for column in zip(*found, strict=True)]


def retrieval(source: Vectors, target: Vectors) -> dict[str, Expected]:
    """P@1 by scikit-learn's nearest neighbours and MRR by sorted cosines, source to target, raw and centred."""
    scores = {}
    for kind, left, right in (
        ("raw", source, target),
        ("centred", source - source.mean(0), target - target.mean(0)),
    ):
        near = NearestNeighbors(n_neighbors=1, metric="cosine").fit(right).kneighbors(left, return_distance=False)
        ranks, slack = ranked(cosine_similarity(left, right))
        scores[f"p@1/cosine/{kind}"] = Expected(float((near[:, 0] == np.arange(len(left))).mean()), slack)
        scores[f"mrr/cosine/{kind}"] = Expected(float((1 / ranks).mean()), slack)
    return scores


def ranked(cosines: Vectors) -> tuple[NDArray[np.int64], float]:
    """The rank of each row's own column by sorting, and the share of rows in which another is as close as rounding."""
    rows = np.arange(len(cosines))
    ranks = 1 + np.argmax(np.argsort(-cosines, axis=1) == rows[:, None], axis=1)
    close = np.abs(cosines - np.diag(cosines)[:, None]) < CLOSE
    return ranks, float((close.sum(axis=1) > 1).mean())


def cka(source: Vectors, target: Vectors) -> dict[str, Expected]:
    """Linear CKA from whole Gram matrices: plain with the centring matrix, debiased by Song et al. 2012, Eq. 5."""
    n = len(source)
    gram_x, gram_y = source @ source.T, target @ target.T
    centring = np.eye(n) - 1 / n
    kx, ky = centring @ gram_x @ centring, centring @ gram_y @ centring

    def unbiased(k: Vectors, m: Vectors) -> float:
        k, m = k - np.diag(np.diag(k)), m - np.diag(np.diag(m))
        ones = np.ones(n)
        crossed = (ones @ k @ ones) * (ones @ m @ ones) / ((n - 1) * (n - 2)) - 2 / (n - 2) * (ones @ k @ m @ ones)
        return float((np.trace(k @ m) + crossed) / (n * (n - 3)))

    return {
        "plain": Expected(float((kx * ky).sum() / np.sqrt((kx * kx).sum() * (ky * ky).sum()))),
        "debiased": Expected(
            float(unbiased(gram_x, gram_y) / np.sqrt(unbiased(gram_x, gram_x) * unbiased(gram_y, gram_y)))
        ),
    }


def procrustes(source: Vectors, target: Vectors, *, seed: int) -> dict[str, Expected]:
    """SciPy's orthogonal map, fitted on four fifths of the rows drawn by the seed and tested on the others."""
    order = np.random.default_rng(seed).permutation(len(source))
    train, test = np.sort(order[: round(0.8 * len(source))]), np.sort(order[round(0.8 * len(source)) :])
    left, right = normalize(source), normalize(target)
    left, right = left - left[train].mean(0), right - right[train].mean(0)
    mapped = left[test] @ orthogonal_procrustes(left[train], right[train])[0]
    ranks, slack = ranked(cosine_similarity(mapped, right[test]))
    return {
        "p@1/mapped": Expected(float((ranks == 1).mean()), slack),
        "mrr/mapped": Expected(float((1 / ranks).mean()), slack),
        "error/mapped": Expected(float(np.linalg.norm(mapped - right[test]) / np.linalg.norm(right[test]))),
    }


def separation(source: Vectors, target: Vectors, partner: NDArray[np.int64]) -> dict[str, Expected]:
    """AUC by SciPy's Mann-Whitney U over the product of sizes; unrelated pairs are row i with row `partner[i]`."""
    scores = {}
    for name, left, right in (("l2", source, target), ("cosine", normalize(source), normalize(target))):
        if name == "l2":
            near, far = np.linalg.norm(left - right, axis=1), np.linalg.norm(left - right[partner], axis=1)
        else:
            near, far = 1 - (left * right).sum(1), 1 - (left * right[partner]).sum(1)
        slack = float((np.abs(far[:, None] - near) < 50 * CLOSE).mean())
        scores[f"auc/{name}"] = Expected(float(mannwhitneyu(far, near).statistic / len(near) ** 2), slack)
        scores[f"distance/related/{name}"] = Expected(float(near.mean()))
        scores[f"distance/unrelated/{name}"] = Expected(float(far.mean()))
    return scores


def recurring(pairs: Sequence[tuple[str, str]], *, least: int = 2, most: int = 10) -> list[int]:
    """The numbers of word pairs seen at least twice, each kept its first ten times."""
    seen, used, kept = Counter(pairs), Counter[tuple[str, str]](), []
    for number, pair in enumerate(pairs):
        if seen[pair] >= least and used[pair] < most:
            used[pair] += 1
            kept.append(number)
    return kept
