"""How alike a language's words are to each other while a model is trained, and how near languages stay: monitors."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from interlingua.measures.cka import minibatch_cka
from interlingua.measures.retrieval import retrieval
from interlingua.measures.separation import separation
from interlingua.training.bookkeeping import Monitor
from interlingua.training.passes import Forward
from interlingua.training.samples import Cadence, Sample, pooled_states

COSINE = "cosine"
COARSE = ("retrieval", "cka", "separation")
"""What is measured at the coarser cadence, one value a language; metrics are called `cosine en`, `cka en`."""
_SECONDS = "seconds in monitors:"
CKA_WORDS = 128
Vectors = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Similarities:
    """A sample, the model's layer it is read at, and what the model made of it before training.

    `average_cosines` is sim(l, t) of papers/003 §4.1: the mean cosine of two random words of a language, here exact
    over all pairs of distinct words of the sample. A word is the mean of its sub-tokens (§3.2); the paper names no
    layer for it, and takes the output layer elsewhere, as we do. `begun`, `rows` and `words` are from before the first
    step: build it with the model as it was then, also where a run goes on.
    """

    sample: Sample
    forward: Forward
    precision: str
    begun: Mapping[str, float]
    rows: Vectors
    words: Vectors

    @classmethod
    def of(cls, sample: Sample, model: torch.nn.Module, *, layer: int = -1, precision: str = "fp32") -> Similarities:
        """What the model, not yet trained, makes of a sample."""
        forward = Forward(model, [layer])
        before = model.training
        model.eval()
        rows, words = _vectors(sample, forward, precision, model)
        begun = _named(sample, _average_cosines(sample, forward, precision, model).tolist())
        model.train(before)
        return cls(sample, forward, precision, begun, rows, words)

    def average_cosines(self, model: torch.nn.Module) -> dict[str, float]:
        """The mean cosine of two distinct words of each language, in [-1, 1]; the model must be in evaluation mode."""
        return _named(self.sample, _average_cosines(self.sample, self.forward, self.precision, model).tolist())

    def alignment(self, model: torch.nn.Module | None = None, *, pivot: str) -> dict[str, float]:
        """How near the languages are to `pivot` and to their own beginning, on the rows of the sample.

        - `retrieval xx`: the mean reciprocal rank of a row's translation among the pivot's rows, by cosine.
        - `separation xx`: the chance that translations are nearer by cosine than rows that are none (AUC).
        - `cka xx`: debiased CKA of (at most 128 of) the language's words now and before training.

        A row is the mean of its tokens. The pivot has its CKA alone. Without a model: before the first step.
        """
        rows, words = (
            (self.rows, self.words) if model is None else _vectors(self.sample, self.forward, self.precision, model)
        )
        languages = self.sample.languages
        found: dict[str, float] = {}
        source = rows[languages.index(pivot)]
        for code, own, now, then in zip(languages, rows, words, self.words, strict=True):
            if code != pivot:
                ranked = retrieval(own, source, ks=(), similarities=("cosine",), centre=(False,))
                found[f"retrieval {code}"] = ranked["mrr/cosine/raw"].value
                found[f"separation {code}"] = separation(own, source)["auc/cosine"].value
            found[f"cka {code}"] = minibatch_cka([(_some(now), _some(then))]).value
        return found

    def monitors(self, cadence: Cadence, *, pivot: str) -> tuple[Monitor, Monitor]:
        """Both as monitors of the loop: the average cosine at every `every` steps, the rest at every `coarse`."""
        return (
            Monitor(cadence.every, _timed(COSINE, self.average_cosines)),
            Monitor(cadence.coarse, _timed("alignment", lambda model: self.alignment(model, pivot=pivot))),
        )


def _timed(
    name: str, measure: Callable[[torch.nn.Module], dict[str, float]]
) -> Callable[[torch.nn.Module], dict[str, float]]:
    """The measure with the seconds it took among its values; the loop has waited for the device before it begins."""

    def timed(model: torch.nn.Module) -> dict[str, float]:
        began = time.perf_counter()
        found = measure(model)
        return {**found, f"{_SECONDS} {name}": time.perf_counter() - began}

    return timed


def measured_share(metrics: Sequence[Mapping[str, Any]]) -> float:
    """The seconds that monitors took over those of the training itself, from what a run measured; >= 0.

    A run that was stopped and went on has the times of all its parts in its metrics.
    """
    watched = sum(value for entry in metrics for name, value in entry.items() if name.startswith(_SECONDS))
    steps = [0, *(int(entry["step"]) for entry in metrics)]
    trained = sum(
        (step - before) / max(float(entry["steps_per_second"]), 1e-9)
        for before, step, entry in zip(steps[:-1], steps[1:], metrics, strict=True)
    )
    return float(watched / trained) if trained else 0.0


def curve(metrics: Sequence[Mapping[str, Any]], name: str, begun: float | None = None) -> tuple[list[int], list[float]]:
    """The steps at which something was measured and its values there; `begun` is the value before the first step."""
    found = [(int(entry["step"]), float(entry[name])) for entry in metrics if name in entry]
    points = found if begun is None else [(0, begun), *found]
    return [step for step, _ in points], [value for _, value in points]


def _named(sample: Sample, values: Sequence[float]) -> dict[str, float]:
    return {f"{COSINE} {code}": value for code, value in zip(sample.languages, values, strict=True)}


def _average_cosines(sample: Sample, forward: Forward, precision: str, model: torch.nn.Module) -> torch.Tensor:
    """(|Σu|² - Σ|u|²) / (n (n - 1)) with u a language's n words of length 1: the mean over all pairs, (language,)."""
    device = next(model.parameters()).device
    totals: torch.Tensor | None = None
    for batch in sample.batches_on(device):
        words = pooled_states(model, forward, batch, precision=precision)[:, 1:]
        words = torch.nn.functional.normalize(words, dim=-1)  # An empty slot stays zero.
        sums = torch.cat([words.sum(dim=1), words.square().sum(dim=(1, 2))[:, None]], dim=1)
        spoken = (batch.spoken @ sums).double()
        totals = spoken if totals is None else totals + spoken
    assert totals is not None
    counts = torch.from_numpy(sample.word_counts).to(device)
    return (totals[:, :-1].square().sum(dim=1) - totals[:, -1]) / (counts * (counts - 1)).clamp_min(1)


def _some(words: torch.Tensor) -> torch.Tensor:
    """At most 128 of the words, evenly spaced: a Gram matrix of all would cost more than the forward pass."""
    return words[torch.linspace(0, len(words) - 1, min(len(words), CKA_WORDS)).round().long()]


def _vectors(sample: Sample, forward: Forward, precision: str, model: torch.nn.Module) -> tuple[Vectors, Vectors]:
    """The vectors of each language's rows and of its words, in their order, on the host: few and small, they are
    measured there sooner than a GPU is sent the kernels for it.
    """
    device = next(model.parameters()).device
    texts: list[torch.Tensor] = [torch.empty(0)] * len(sample.ids)
    for batch in sample.batches_on(device):
        vectors = pooled_states(model, forward, batch, precision=precision).cpu()
        for number, found in zip(batch.texts.tolist(), vectors, strict=True):
            texts[number] = found[: 1 + len(sample.words[number])]
    count = len(sample)
    spoken = [texts[begin : begin + count] for begin in range(0, len(texts), count)]
    rows = tuple(torch.stack([text[0] for text in own]) for own in spoken)
    return rows, tuple(torch.cat([text[1:] for text in own]) for own in spoken)
