"""What is watched while training: word distances, similarity of languages, isotropy, on a fixed sample."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.corpus import Skip
from interlingua.encoder import Encoder
from interlingua.encoder.pooling import to_device
from interlingua.encoder.tokens import batches, locate_items
from interlingua.errors import InputError
from interlingua.measures.cka import minibatch_cka
from interlingua.measures.retrieval import retrieval
from interlingua.measures.separation import separation
from interlingua.score import Scores
from interlingua.training.forward import Forward, checked_layer
from interlingua.training.journal import Monitor
from interlingua.training.pair_batches import TokenizedBitext, pooled_words
from interlingua.training.reference import KINDS, length_batches

Ints = NDArray[np.int64]
SHARE = 0.05
"""The most that monitors may cost, as a share of the training itself."""
ENOUGH_ROWS, LEAST_ROWS, ENOUGH_CHANGES = 8, 4, 10
"""Rows that a cadence should allow; fewer, but not below the least, where changes would else be fewer than enough."""
_FINE = 0.8  # of the share: the rest is for measuring what is dearer more than once
_BUDGET = {"cpu": 2048, "cuda": 32768}


@dataclass(frozen=True)
class PooledBatch:
    """A batch of texts on its device, and where it goes: `pools` (text, slot, position) are weights whose product with
    hidden states are vectors; slot 0 is the mean of the whole text, the others its words, empty ones zero.

    `spoken` (language, text) is 1 where a text is of a language; `texts` are the numbers of the texts, on the host.
    """

    given: dict[str, torch.Tensor]
    pools: torch.Tensor
    spoken: torch.Tensor
    texts: Ints


@dataclass(frozen=True)
class Sample:
    """Parallel rows of some languages. Text l · rows + r is row r of language l.

    `ids` are all that is read of each text, special tokens included; `words` the positions of its words, (word, 2).
    `edges` is how many special tokens stand before and after. `skipped` are the rows left out of every language.
    """

    languages: tuple[str, ...]
    ids: tuple[Ints, ...]
    words: tuple[Ints, ...]
    edges: tuple[int, int]
    pad: int
    skipped: tuple[Skip, ...] = ()
    _sent: dict[torch.device, list[PooledBatch]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, encoder: Encoder, texts: Mapping[str, Sequence[str]]) -> Sample:
        """The rows of `texts`, row i of each language the same sentence; such as do not fit the model are left out."""
        counts = {len(column) for column in texts.values()}
        if len(counts) != 1 or 0 in counts:
            raise InputError("a sample needs the same rows in every language", remedy="Give parallel rows.")
        rows = counts.pop()
        prefix, suffix = encoder.tokeniser.prefix, encoder.tokeniser.suffix
        ids: list[Ints] = []
        words: list[Ints] = []
        long, empty = np.zeros(rows, bool), np.zeros(rows, bool)
        for column in texts.values():
            tokens = encoder.tokeniser(list(column), spans=False, words=True)
            items = locate_items(tokens, "word", list(column))
            bounds = np.searchsorted(items.row, np.arange(rows + 1))
            long |= tokens.lengths > encoder.room
            empty |= np.diff(bounds) == 0
            for row in range(rows):
                own = tokens.ids[tokens.starts[row] : tokens.starts[row + 1]].astype(np.int64)
                ids.append(np.concatenate([np.array(prefix, np.int64), own, np.array(suffix, np.int64)]))
                inside = slice(bounds[row], bounds[row + 1])
                words.append(np.stack([items.first[inside], items.last[inside]], axis=1) + len(prefix))
        reasons = (("rows of a sample too long for the model", long), ("rows of a sample without words", empty & ~long))
        skipped = tuple(Skip(reason, int(which.sum())) for reason, which in reasons if which.any())
        whole = cls(tuple(texts), tuple(ids), tuple(words), (len(prefix), len(suffix)), encoder.tokeniser.pad, skipped)
        kept = whole._rows(np.flatnonzero(~long & ~empty))
        if len(kept) < 4:
            raise InputError("fewer than four rows to measure on", value=len(kept), remedy="Give more parallel rows.")
        return kept

    def __len__(self) -> int:
        return len(self.ids) // len(self.languages)

    @property
    def lengths(self) -> Ints:
        """The number of tokens of each text, special ones included."""
        return np.fromiter((len(ids) for ids in self.ids), np.int64, len(self.ids))

    @property
    def word_counts(self) -> Ints:
        """The number of words of each language."""
        counts = np.fromiter((len(words) for words in self.words), np.int64, len(self.words))
        total: Ints = counts.reshape(len(self.languages), -1).sum(axis=1)
        return total

    def first(self, rows: int) -> Sample:
        """That many rows, from the first."""
        return self._rows(np.arange(min(rows, len(self))))

    def _rows(self, rows: Ints) -> Sample:
        chosen = (np.arange(len(self.languages))[:, None] * len(self) + rows).ravel().tolist()
        ids, words = (tuple(parts[place] for place in chosen) for parts in (self.ids, self.words))
        return replace(self, ids=ids, words=words, _sent={})

    def batches_on(self, device: torch.device) -> list[PooledBatch]:
        """All texts in batches of a token budget, on the device; made and sent once."""
        if device not in self._sent:
            self._sent[device] = [
                self._batch(texts, device) for texts in batches(self.lengths, _BUDGET.get(device.type, 2048))
            ]
        return self._sent[device]

    def _batch(self, texts: Ints, device: torch.device) -> PooledBatch:
        lengths = self.lengths[texts]
        wide, slots = int(lengths.max()), 1 + max(len(self.words[text]) for text in texts)
        ids = np.full((len(texts), wide), self.pad, np.int64)
        pools = np.zeros((len(texts), slots, wide), np.float32)
        for place, text in enumerate(texts):
            length = int(lengths[place])
            ids[place, :length] = self.ids[text]
            for slot, (begin, end) in enumerate(((self.edges[0], length - self.edges[1]), *self.words[text])):
                pools[place, slot, begin:end] = 1 / (end - begin)
        given = {"input_ids": to_device(ids, device)}
        if int(lengths.min()) < wide:
            given["attention_mask"] = to_device((np.arange(wide) < lengths[:, None]).astype(np.int64), device)
        spoken = np.arange(len(self.languages))[:, None] == texts // len(self)
        return PooledBatch(given, to_device(pools, device), to_device(spoken.astype(np.float32), device), texts)


@torch.no_grad()
def pooled_states(
    model: torch.nn.Module, forward: Forward, batch: PooledBatch, *, precision: str = "fp32"
) -> torch.Tensor:
    """The vectors of a batch at the forward's one layer, (text, slot, dim) in float32, as the model is now.

    Means by a product with weights: the same to the bit at every call, which adding at indices on a GPU is not.
    """
    device = batch.pools.device
    with torch.autocast(device.type, KINDS[precision], enabled=precision != "fp32"):
        hidden = forward(model, batch.given)[forward.layers[0]]
    return torch.bmm(batch.pools, hidden.float())


@dataclass(frozen=True)
class MonitorSchedule:
    """How often a sample is read: in steps, what is dearer every `coarse` steps; `share` is its cost.

    `share` is in tokens: all that the monitors read, over three times what is trained on, since the backward pass of a
    step costs twice its forward pass.
    """

    every: int
    coarse: int
    rows: int
    share: float


@dataclass(frozen=True)
class Budget:
    """What a run trains on, and the share of it that monitors may cost.

    On a GPU a batch takes as long as its kernels need to be sent, however few its tokens are: there `recorded` counts
    a reading as a whole step at least, and what is measured of one language at the coarser cadence as another. A step
    that is one CUDA graph takes about as long as the forward pass of a monitor, which is none.
    """

    steps: int
    tokens_a_step: float
    share: float = SHARE
    recorded: bool = False

    def cost(self, tokens: float, languages: int, readings: int, coarse: int) -> float:
        """The share of time that these numbers of readings and coarse readings take."""
        step = 3 * self.tokens_a_step
        least, more = (step, step * languages) if self.recorded else (0.0, 0.0)
        return (max(tokens, least) * (readings + coarse) + more * coarse) / (step * self.steps)


def cadence(
    sample: Sample, budget: Budget, *, span: int, every: int | None = None, rows: int | None = None
) -> MonitorSchedule:
    """The most frequent cadence at which enough rows can be read for the budget's share.

    Cadences are divisors of `span`, so that changes over the span can be taken. The first is chosen that allows
    `ENOUGH_ROWS` rows and has `ENOUGH_CHANGES` changes, where there is none the first that allows `LEAST_ROWS`, and
    else the last, with so few rows, and a larger share. As many rows as fit are read; what is left goes to the coarser
    cadence. `every` and `rows` fix either, whatever the share is then. What is read before the first step is counted.
    """
    sizes = np.cumsum(sample.lengths.reshape(len(sample.languages), -1).sum(axis=0))
    steps = budget.steps

    def cost(step: int, count: int, coarse: int = 1) -> float:
        return budget.cost(float(sizes[count - 1]), len(sample.languages), 1 + -(-steps // step), coarse)

    apart = [every] if every is not None else [k for k in range(1, span + 1) if span % k == 0]
    counts = range(1, len(sample) + 1)
    room = {step: sum(cost(step, count) <= _FINE * budget.share for count in counts) for step in apart}
    plenty = min(rows or ENOUGH_ROWS, len(sample))
    chosen = next(
        (step for step in apart if room[step] >= plenty and (steps - span) // step + 1 >= ENOUGH_CHANGES),
        next((step for step in apart if room[step] >= (rows or LEAST_ROWS)), apart[-1]),
    )
    count = min(rows or max(room[chosen], LEAST_ROWS), len(sample))
    last = -(-steps // chosen)  # Measured at the end alone.
    times = next((k for k in range(1, last) if cost(chosen, count, -(-last // k)) <= budget.share), last)
    return MonitorSchedule(chosen, times * chosen, count, cost(chosen, count, -(-steps // (times * chosen))))


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

    def monitors(self, cadence: MonitorSchedule, *, pivot: str) -> tuple[Monitor, Monitor]:
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


@dataclass(frozen=True)
class WordDistances:
    """The distances of a bitext's linked words and of unrelated ones in a model, by `measures.separation`.

    Related: word pairs of `bitext`, special tokens left out. Unrelated: a word with a word of another row. At most
    `most` pairs, drawn by the seed. Called with a model (from any checkpoint: `Checkpoint.load_weights`) it gives all
    scores, histograms among them; as a monitor, the means by L2 and the AUC.
    """

    bitext: TokenizedBitext
    layer: int = -1
    most: int = 5000
    precision: str = "fp32"
    seed: int = 0

    def __call__(self, model: torch.nn.Module) -> Scores:
        left, right, rows = self.vectors(model)
        return separation(left, right, groups=rows, seed=self.seed)

    def vectors(self, model: torch.nn.Module) -> tuple[torch.Tensor, torch.Tensor, Ints]:
        """The vectors of the pairs' two sides, on the host, and the row each is of."""
        whole, pairs = self.bitext, self._pairs()
        rows = np.unique(whole.pair_row[pairs])
        forward = Forward(model, [checked_layer(model, self.layer)])
        device, before = next(model.parameters()).device, model.training
        model.eval()
        sides: list[list[torch.Tensor]] = [[], []]
        order = []
        wanted = np.zeros(len(whole.pair_row), bool)
        wanted[pairs] = True
        longest = np.maximum(whole.lengths[: len(whole)], whole.lengths[len(whole) :])[rows]
        try:
            for chosen in length_batches(longest, device):
                batch = whole.batch(rows[chosen], device=device)
                with (
                    torch.no_grad(),
                    torch.autocast(device.type, KINDS[self.precision], enabled=self.precision != "fp32"),
                ):
                    hidden = forward(model, batch)[forward.layers[0]]
                words = pooled_words(hidden, batch).flatten(0, 1)
                numbers = whole.pair_numbers(rows[chosen])
                kept = torch.from_numpy(wanted[numbers]).to(device)
                for side, name in zip(sides, ("left", "right"), strict=True):
                    side.append(words[batch[name][: len(numbers)][kept]].cpu())
                order.append(numbers[wanted[numbers]])
        finally:
            model.train(before)
        place = np.argsort(np.concatenate(order), kind="stable")
        ours, theirs = (torch.cat(side)[torch.from_numpy(place)] for side in sides)
        return ours, theirs, whole.pair_row[np.sort(pairs)]

    def _pairs(self) -> Ints:
        """The numbers of the pairs that are measured, in order."""
        words = np.flatnonzero(self.bitext.of_words)
        if len(words) < 2:
            raise InputError("fewer than two pairs of words", value=len(words), remedy="Give more text.")
        if len(words) <= self.most:
            return words
        return np.sort(np.random.default_rng(self.seed).choice(words, self.most, replace=False))

    def monitor(self, every: int) -> Monitor:
        """The means and the AUC as a monitor of the loop."""

        def measure(model: torch.nn.Module) -> dict[str, float]:
            scores = self(model)
            return {
                "related": scores["distance/related/l2"].value,
                "unrelated": scores["distance/unrelated/l2"].value,
                "auc": scores["auc/l2"].value,
            }

        return Monitor(every, measure)
