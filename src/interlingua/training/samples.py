"""Parallel rows that a monitor reads again and again: tokenised once, sent to the device once, words pooled there.

How often they can be read for a given share of a run is counted in tokens, not taken with a clock: a run that is begun
again measures the same rows at the same steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.corpus import Skip
from interlingua.encoder import Encoder
from interlingua.encoder.pooling import send
from interlingua.encoder.tokens import batches, items_of
from interlingua.errors import InputError
from interlingua.training.passes import Forward
from interlingua.training.reference import KINDS

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
            items = items_of(tokens, "word", list(column))
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
        """The first so many rows."""
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
        given = {"input_ids": send(ids, device)}
        if int(lengths.min()) < wide:
            given["attention_mask"] = send((np.arange(wide) < lengths[:, None]).astype(np.int64), device)
        spoken = np.arange(len(self.languages))[:, None] == texts // len(self)
        return PooledBatch(given, send(pools, device), send(spoken.astype(np.float32), device), texts)


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
class Cadence:
    """How often a sample is read: every so many steps, what is dearer every `coarse` steps; `share` is its cost.

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
        """The share that so many readings and coarse readings of so many tokens take."""
        step = 3 * self.tokens_a_step
        least, more = (step, step * languages) if self.recorded else (0.0, 0.0)
        return (max(tokens, least) * (readings + coarse) + more * coarse) / (step * self.steps)


def cadence(sample: Sample, budget: Budget, *, span: int, every: int | None = None, rows: int | None = None) -> Cadence:
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
    return Cadence(chosen, times * chosen, count, cost(chosen, count, -(-steps // (times * chosen))))
