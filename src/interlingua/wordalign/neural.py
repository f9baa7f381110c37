"""Word links from an encoder: words whose vectors choose each other, with no parallel text to train on.

Both sides are encoded apart; the similarities of their words (or sub-tokens: then two words are linked if any of
their tokens are) decide the links. Many pairs are one padded batch on the encoder's device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interlingua.encoder import Encoder
from interlingua.encoder.pooling import to_device
from interlingua.encoder.tokens import covering_windows
from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.wordalign.links import Links
from interlingua.words import Sentence

Ints = NDArray[np.int64]
Progress = Callable[[int, int], None]
UNITS = ("token", "word")
_CHUNK_BYTES = 256 << 20
_BATCH_CELLS = {"cpu": 1 << 20, "cuda": 1 << 25}
_CENTRE_ROWS = 1000


@dataclass(frozen=True)
class NeuralSettings:
    """How vectors become links.

    `method` is argmax, itermax or softmax. `layer` None is two thirds of the way up (mBERT's 8 of 12, as SimAlign
    and awesome-align have it). `unit` is what is compared: token or word. `centre` takes each language's mean off
    first, that of the tokens of the first 1,000 pairs. `least` is the lowest cosine a link may have.
    `alpha` and `rounds` are itermax's, `threshold` is softmax's.
    """

    method: str = "argmax"
    layer: int | None = None
    unit: str = "word"
    centre: bool = True
    least: float | None = None
    alpha: float = 0.9
    rounds: int = 2
    threshold: float = 1e-3

    def checked(self, encoder: Encoder) -> NeuralSettings:
        """The settings with a layer of this encoder, or an error."""
        if self.method not in METHODS:
            raise unknown("method of a neural aligner", self.method, list(METHODS))
        if self.unit not in UNITS:
            raise unknown("unit of a neural aligner", self.unit, list(UNITS))
        layer = round(2 * encoder.layers[-1] / 3) if self.layer is None else self.layer
        if not -len(encoder.layers) <= layer < len(encoder.layers):
            raise InputError(
                "no such layer",
                value=layer,
                remedy=f"{encoder.name} has 0 (the embedding output) to {encoder.layers[-1]}.",
            )
        return replace(self, layer=encoder.layers[layer])


@dataclass(frozen=True)
class NeuralLinks:
    """Links, and how many words of each side the tokenizer turned into nothing: those have no link."""

    links: Links
    lost: tuple[int, int]


def neural_links(
    encoder: Encoder,
    source: Sequence[Sentence],
    target: Sequence[Sentence],
    settings: NeuralSettings | None = None,
    *,
    progress: Progress | None = None,
) -> NeuralLinks:
    """The links of sentences that translate each other; rows with no word on a side have none.

    Encodes a bounded part of the bitext at a time, each side once, in batches of the encoder's token budget.
    """
    if len(source) != len(target):
        raise InputError(f"{len(source)} source and {len(target)} target sentences", remedy="Give pairs.")
    settings = (settings or NeuralSettings()).checked(encoder)
    rows = np.array([r for r in range(len(source)) if source[r].spans and target[r].spans], np.int64)
    sides = (source, target)
    centres: list[Tensor | None] = [None, None]
    found: list[tuple[Ints, Ints, Ints]] = []
    lost = [0, 0]
    for number, chunk in enumerate(_chunks(source, target, rows, encoder.dim)):
        units = [_units(encoder, [side[r] for r in chunk], settings) for side in sides]
        if settings.centre and number == 0:
            centres = [_centre(encoder, side, rows, unit, settings) for side, unit in zip(sides, units, strict=True)]
        for place, (unit, centre) in enumerate(zip(units, centres, strict=True)):
            lost[place] += unit.lost
            if centre is not None:
                unit.vectors.sub_(centre)
        for row, left, right in _link(units[0], units[1], settings):
            found.append((chunk[row], left, right))
        if progress:
            progress(len(source) if chunk[-1] == rows[-1] else int(chunk[-1]) + 1, len(source))
    columns = [np.concatenate([part[k] for part in found]) if found else np.zeros(0, np.int64) for k in range(3)]
    return NeuralLinks(Links.of(*columns), (lost[0], lost[1]))


@dataclass(frozen=True)
class _Units:
    """What is compared on one side of a chunk: vectors (unit, dim), and the row and word of each, in order."""

    vectors: Tensor
    row: Ints
    word: Ints
    rows: int
    lost: int


def _chunks(source: Sequence[Sentence], target: Sequence[Sentence], rows: Ints, dim: int) -> Iterator[Ints]:
    """Consecutive rows whose vectors fit the chunk's memory; a token is seldom shorter than three characters."""
    size, begin = 0.0, 0
    for place, row in enumerate(rows):
        more = (len(source[row].text) + len(target[row].text) + 6) * dim * 4 / 3
        if size + more > _CHUNK_BYTES and place > begin:
            yield rows[begin:place]
            size, begin = 0.0, place
        size += more
    if begin < len(rows):
        yield rows[begin:]


def _units(encoder: Encoder, sentences: Sequence[Sentence], settings: NeuralSettings) -> _Units:
    layer = settings.layer
    assert layer is not None
    texts = [sentence.text for sentence in sentences]
    tokens = encoder.encode(texts, unit="token", layers=[layer])
    vectors = torch.from_numpy(np.ascontiguousarray(tokens[layer])).to(encoder.device).float()
    starts = np.searchsorted(tokens.row, np.arange(len(texts) + 1))
    longest = max(len(text) for text in texts)
    row, first, last, _ = covering_windows(
        [sentence.spans for sentence in sentences], starts, tokens.spans, longest=longest
    )
    counts = np.maximum(last - first, 0)
    word = np.arange(len(row)) - np.searchsorted(row, row)
    owner = np.repeat(np.arange(len(row)), counts)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts) + (first + starts[row])[owner]
    vectors = vectors[to_device(place, encoder.device)]
    if settings.unit == "word":
        kept = np.flatnonzero(counts)
        number = np.searchsorted(kept, owner)
        sums = vectors.new_zeros(len(kept), vectors.shape[1]).index_add_(0, to_device(number, encoder.device), vectors)
        vectors = sums / to_device(counts[kept].astype(np.float32), encoder.device)[:, None]
        owner = kept
    return _Units(vectors, row[owner], word[owner], len(sentences), int((counts == 0).sum()))


def _centre(encoder: Encoder, side: Sequence[Sentence], rows: Ints, first: _Units, settings: NeuralSettings) -> Tensor:
    """The mean of a language's units; of a fixed number of rows, so that it does not depend on how text is cut up.

    `first` are the units of the first chunk, which are most often all that is needed.
    """
    wanted = rows[:_CENTRE_ROWS]
    if first.rows >= len(wanted):
        return first.vectors[: int(np.searchsorted(first.row, len(wanted)))].mean(dim=0)
    return _units(encoder, [side[r] for r in wanted], settings).vectors.mean(dim=0)


def _link(source: _Units, target: _Units, settings: NeuralSettings) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Rows, source words and target words of links, a batch of pairs of similar size at a time."""
    device = source.vectors.device
    begins = [np.searchsorted(side.row, np.arange(side.rows + 1)) for side in (source, target)]
    n, m = (np.diff(begin) for begin in begins)
    for batch in _batches(n, m, source.vectors.shape[1], _BATCH_CELLS[device.type]):
        padded, masks = [], []
        for side, begin, counts in ((source, begins[0], n), (target, begins[1], m)):
            place = np.arange(counts[batch].max())
            inside = place < counts[batch][:, None]
            padded.append(side.vectors[to_device(np.where(inside, begin[batch][:, None] + place, 0), device)])
            masks.append(to_device(inside, device))
        linked = link_batch(padded[0], padded[1], masks[0], masks[1], settings)
        pair, left, right = (part.cpu().numpy() for part in linked.nonzero(as_tuple=True))
        rows = batch[pair]
        yield rows, source.word[begins[0][rows] + left], target.word[begins[1][rows] + right]


def _batches(n: Ints, m: Ints, dim: int, cells: int) -> Iterator[Ints]:
    """Rows in batches of at most `cells` padded numbers, similarities and vectors alike, sorted by length."""
    order = np.lexsort((m, n))
    order = order[(n[order] > 0) & (m[order] > 0)]
    begin, widest = 0, 0
    for place, row in enumerate(order):
        width = max(widest, int(m[row]))
        tall = int(n[row])  # Sorted by n: the last is the tallest.
        if place > begin and (place - begin + 1) * (tall * width + (tall + width) * dim) > cells:
            yield order[begin:place]
            begin, width = place, int(m[row])
        widest = width
    if begin < len(order):
        yield order[begin:]


def link_batch(source: Tensor, target: Tensor, inside: Tensor, other: Tensor, settings: NeuralSettings) -> Tensor:
    """Which units are linked, (pair, n, m) booleans, from padded vectors (pair, n, dim) and (pair, m, dim).

    `inside` and `other` are true where a unit is no padding.
    """
    valid = inside[:, :, None] & other[:, None, :]
    dots = source @ target.transpose(1, 2)
    norms = source.norm(dim=2)[:, :, None] * target.norm(dim=2)[:, None, :]
    cosines = dots / norms.clamp_min(1e-12)
    linked = METHODS[settings.method](dots if settings.method == "softmax" else cosines, valid, settings) & valid
    return linked if settings.least is None else linked & (cosines >= settings.least)


def argmax(cosines: Tensor, valid: Tensor, settings: NeuralSettings) -> Tensor:
    """Units that are each other's nearest (SimAlign's Argmax: Jalili Sabet et al. 2020, section 2)."""
    return _mutual(cosines.masked_fill(~valid, -torch.inf))


def itermax(cosines: Tensor, valid: Tensor, settings: NeuralSettings) -> Tensor:
    """Argmax again and again over what is left (SimAlign's Itermax: Jalili Sabet et al. 2020, Algorithm 1).

    Each round after the first links mutual nearest units where at least one of the two has no link yet: similarities
    (cos + 1) / 2 count in full where neither has one, times `alpha` where one has, not at all where both have. A pair
    with no unit left on a side is done. As in the authors' code, which the paper's listing does not say, a side of
    one or two units has the first round only.
    """
    linked = _mutual(cosines.masked_fill(~valid, -torch.inf)) & valid
    similar = (cosines + 1) / 2
    long = (torch.minimum(valid.any(2).sum(1), valid.any(1).sum(1)) > 2)[:, None, None]
    for _ in range(settings.rounds - 1):
        left, right = ~linked.any(2, keepdim=True), ~linked.any(1, keepdim=True)
        some = (left & valid).any(2).any(1) & (right & valid).any(2).any(1)
        weight = (settings.alpha * (left.float() + right.float())).clamp(max=1.0)
        best = _mutual((similar * weight).masked_fill(~valid, -1.0))
        linked = linked | (best & (left | right) & valid & long & some[:, None, None])
    return linked


def softmax(dots: Tensor, valid: Tensor, settings: NeuralSettings) -> Tensor:
    """Units that give each other more than `threshold` in a softmax over inner products, in both directions.

    awesome-align's extraction (Dou & Neubig 2021, section 2.2): inner products, not cosines, so that it depends on
    the scale of the model's vectors.
    """
    dots = dots.masked_fill(~valid, torch.finfo(dots.dtype).min)
    forward, backward = dots.softmax(dim=2), dots.softmax(dim=1)
    return (forward > settings.threshold) & (backward > settings.threshold)


METHODS = {"argmax": argmax, "itermax": itermax, "softmax": softmax}


def _mutual(similar: Tensor) -> Tensor:
    """Cells that are the first largest of their row and of their column."""
    forward = torch.zeros_like(similar, dtype=torch.bool).scatter_(2, similar.argmax(2, keepdim=True), True)
    backward = torch.zeros_like(similar, dtype=torch.bool).scatter_(1, similar.argmax(1, keepdim=True), True)
    return forward & backward
