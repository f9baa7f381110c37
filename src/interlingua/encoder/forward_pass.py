"""One pass over texts for all layers and units: batches by token budget, equal texts once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.attention import SDPBackend, sdpa_kernel

from interlingua.encoder import model_loading as loading
from interlingua.encoder.pooling import Pool, PoolingRequest, attention_sinks, shift_items, to_device
from interlingua.encoder.representations import Cache, CacheWriter, MemoryWriter, Representations
from interlingua.encoder.tokens import (
    PooledItems,
    TokenisedTexts,
    Tokeniser,
    Windows,
    batches,
    locate_parts,
    token_types,
    windows,
)
from interlingua.errors import InputError

Ints = NDArray[np.int64]
Vectors = NDArray[np.floating[Any]]


class Written(Protocol):
    """Vectors that were written and can be read again."""

    def taken(self, items: Ints) -> Vectors: ...


def find_first_occurrence(texts: Sequence[str], view: PoolingRequest) -> Ints:
    """For each text the number of the first equal one of those that a view wants; its own where the view does not.

    With spans a text is equal where its span is, too.

    >>> [find_first_occurrence("abaa", view).tolist() for view in (PoolingRequest(), PoolingRequest(only=(2, 3)))]
    [[0, 1, 0, 0], [0, 1, 2, 2]]
    """
    found = np.arange(len(texts))
    first: dict[object, int] = {}
    for number in range(len(texts)) if view.only is None else view.only:
        key = texts[number] if view.spans is None else (texts[number], view.spans[number])
        found[number] = first.setdefault(key, number)
    return found


@dataclass(frozen=True)
class Repeats:
    """What of a chunk's items is pooled (`fresh`), and which item, of all so far, each takes its vector from.

    `before` items were in earlier chunks.
    """

    fresh: NDArray[np.bool_]
    origin: Ints
    before: int

    def pooled(self, items: PooledItems) -> PooledItems:
        """The items that are pooled."""
        return PooledItems(
            items.row[self.fresh], items.first[self.fresh], items.last[self.fresh], items.spans[self.fresh]
        )

    def whole(self, vectors: Vectors, written: Written) -> Vectors:
        """The (layer, item, dim) vectors of all items of the chunk, from those of the fresh ones and earlier chunks."""
        if self.fresh.all():
            return vectors
        made = np.empty((len(vectors), len(self.fresh), vectors.shape[-1]), vectors.dtype)
        made[:, self.fresh] = vectors
        earlier = self.origin < self.before
        if earlier.any():
            made[:, earlier] = written.taken(self.origin[earlier])
        here = ~self.fresh & ~earlier
        made[:, here] = made[:, self.origin[here] - self.before]
        return made


class DuplicateTexts:
    """The repeats of a view's texts, chunk after chunk, from the numbers of `find_first_occurrence`."""

    def __init__(self, first: Ints) -> None:
        self.first = first
        self._begin = np.zeros_like(first)  # the number of each text's first item
        self._count = 0

    def next(self, items: PooledItems) -> Repeats:
        """The repeats among the next chunk's items, which are in the order of texts."""
        begin = np.searchsorted(items.row, items.row)
        self._begin[items.row] = self._count + begin
        first = self.first[items.row]
        # Equal texts have the same items in the same order.
        origin = self._begin[first] + np.arange(len(items)) - begin
        found = Repeats(first == items.row, origin, self._count)
        self._count += len(items)
        return found


_CHUNK_BYTES = {"cpu": 64 << 20, "cuda": 1 << 30}
_CHUNK_TEXTS = {"cpu": 8192, "cuda": 16384}

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Output:
    """A chunk's vectors on their way to the host."""

    host: torch.Tensor
    arrived: torch.cuda.Event | None

    def wait(self) -> NDArray[np.floating[Any]]:
        if self.arrived is not None:
            self.arrived.synchronize()
        vectors: NDArray[np.floating[Any]] = self.host.numpy()
        return vectors


@dataclass(frozen=True)
class ForwardPass:
    """A model on its device, and how it is run: `budget` tokens at once, windows of `room` tokens of a text.

    `masked` gives every batch a mask, `one_length` pads none: see `loading.padding_rules`.
    """

    loaded: loading.LoadedModel
    tokeniser: Tokeniser
    device: torch.device
    precision: str
    budget: int
    room: int
    masked: bool
    one_length: bool

    def encode(
        self,
        views: list[PoolingRequest],
        keys: list[str],
        texts: Sequence[str],
        cache: Cache | None,
        progress: Progress | None,
    ) -> list[Representations]:
        """The representations of texts, one for each view, kept in the cache under its key."""
        dtype = np.dtype(np.float32 if self.precision == "fp32" else np.float16)
        writers: list[CacheWriter | MemoryWriter] = []
        collected: list[list[PooledItems]] = [[] for _ in views]
        alike = [DuplicateTexts(find_first_occurrence(texts, view)) for view in views]
        windowed = 0
        try:
            for key, view in zip(keys, views, strict=True):
                layers = view.layers or ()
                writers.append(cache.writer(key, layers, self.loaded.dim, dtype) if cache else MemoryWriter(layers))
            spans, words = any(v.unit in ("token", "span") for v in views), any(v.unit == "word" for v in views)
            with ThreadPoolExecutor(1) as pool:
                writing: deque[Future[None]] = deque()
                for begin, chunk, tokens in self._chunks(texts, spans=spans, words=words, views=views):
                    windowed += int((tokens.lengths > self.room).sum())
                    made = [view.items(tokens, chunk, begin) for view in views]
                    repeats = [each.next(items) for each, items in zip(alike, made, strict=True)]
                    own = np.arange(begin, begin + len(chunk))
                    read = np.any([each.first[own] == own for each in alike], axis=0)
                    plan = windows(tokens.lengths, self.room).of(read)
                    pooled = [each.pooled(items) for each, items in zip(repeats, made, strict=True)]
                    outputs = self._run(tokens, plan, pooled, views, begin, dtype)
                    # One chunk is written while the next is computed; waiting here bounds the memory.
                    while len(writing) > 1:
                        writing.popleft().result()
                    writing.append(pool.submit(self._write, writers, outputs, repeats))
                    for kept, items in zip(collected, made, strict=True):
                        kept.append(items)
                    if progress:
                        progress(begin + len(chunk), len(texts))
                for future in writing:
                    future.result()
            return [_finish(w, v, i, windowed) for w, v, i in zip(writers, views, collected, strict=True)]
        except BaseException:
            for writer in writers:
                writer.abort()
            raise

    def _chunks(
        self, texts: Sequence[str], *, spans: bool, words: bool, views: list[PoolingRequest]
    ) -> Iterator[tuple[int, Sequence[str], TokenisedTexts]]:
        """Consecutive texts whose results fit the chunk's memory, the next chunk tokenised while one is encoded."""
        vector = max(len(view.layers or ()) for view in views) * self.loaded.dim * 4
        per_letter = 0.25 if any(view.unit in ("word", "token") for view in views) else 0.0
        limit_bytes, limit_texts = _CHUNK_BYTES[self.device.type], _CHUNK_TEXTS[self.device.type]
        bounds, size = [0], 0.0
        for number, text in enumerate(texts):
            size += vector * (1 + per_letter * len(text))
            if size > limit_bytes or number - bounds[-1] >= limit_texts:
                bounds.append(number)
                size = vector * (1 + per_letter * len(text))
        bounds = [*dict.fromkeys(bounds), len(texts)]

        def tokenise(number: int) -> tuple[int, Sequence[str], TokenisedTexts]:
            chunk = texts[bounds[number] : bounds[number + 1]]
            return bounds[number], chunk, self.tokeniser(chunk, spans=spans, words=words)

        with ThreadPoolExecutor(1) as pool:
            ahead = pool.submit(tokenise, 0)
            for number in range(1, len(bounds)):
                ready = ahead.result()
                if number < len(bounds) - 1:
                    ahead = pool.submit(tokenise, number)
                yield ready

    @torch.inference_mode()
    def _run(
        self,
        tokens: TokenisedTexts,
        plan: Windows,
        items: list[PooledItems],
        views: list[PoolingRequest],
        begin: int,
        dtype: np.dtype[Any],
    ) -> list[Output]:
        """The (layer, item, dim) results of a chunk, pooled on the device, one for each view."""
        around = (len(self.tokeniser.prefix), len(self.tokeniser.suffix))
        like = torch.empty(
            self.loaded.dim, dtype=torch.float32 if dtype == np.float32 else torch.float16, device=self.device
        )
        pools = [
            Pool.of(
                locate_parts(
                    shift_items(item, -begin),
                    plan,
                    pooling=str(view.pooling),
                    special=view.special_tokens,
                    around=around,
                ),
                windows=len(plan.row),
                items=len(item),
                layers=view.layers or (),
                pooling=str(view.pooling),
                like=like,
            )
            for item, view in zip(items, views, strict=True)
        ]
        # cuDNN's attention builds a plan for every new shape, which costs more than it saves here.
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
            for batch in batches(plan.lengths + sum(around), self.budget, one_length=self.one_length):
                hidden = self._forward(tokens, plan, batch)
                sinks: list[torch.Tensor] = []
                if any(view.pooling == "sinkless" for view in views):
                    sizes = to_device(plan.lengths[batch] + sum(around), self.device)
                    inside = torch.arange(hidden[0].shape[1], device=self.device) < sizes[:, None]
                    sinks = [attention_sinks(states, inside) for states in hidden]
                for pool in pools:
                    pool.take(hidden, batch, sinks)
        return [self._fetch(pool.result) for pool in pools]

    def _fetch(self, result: torch.Tensor) -> Output:
        """Start the copy of a result to the host; on a GPU it runs while the next chunk is computed."""
        if self.device.type != "cuda":
            return Output(result, None)
        host = torch.empty(result.shape, dtype=result.dtype, pin_memory=True)
        host.copy_(result, non_blocking=True)
        arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
        arrived.record()
        return Output(host, arrived)

    def _write(self, writers: list[CacheWriter | MemoryWriter], outputs: list[Output], repeats: list[Repeats]) -> None:
        for writer, output, repeated in zip(writers, outputs, repeats, strict=True):
            vectors = output.wait()
            if not np.isfinite(vectors).all():
                half = vectors.dtype == np.float16
                problem = "do not fit half precision" if half else "are infinite or undefined"
                remedy = "Use --precision fp32." if half else "Its weights are broken; fetch or train it again."
                raise InputError(f"vectors of this model {problem}", value=self.loaded.name, remedy=remedy)
            writer.append(repeated.whole(vectors, writer))

    @property
    def _mixed(self) -> bool:
        """Weights kept in float32 (a model in training) run in the chosen precision all the same."""
        return self.precision != "fp32" and next(self.loaded.model.parameters()).dtype == torch.float32

    def _forward(self, tokens: TokenisedTexts, plan: Windows, batch: NDArray[np.int64]) -> tuple[torch.Tensor, ...]:
        """All hidden states of a batch of windows, in float32 or the model's precision, (window, position, dim)."""
        prefix, suffix = self.tokeniser.prefix, self.tokeniser.suffix
        lengths = plan.lengths[batch]
        around = len(prefix) + len(suffix)
        width = int(lengths.max()) + around
        ids = np.full((len(batch), width), self.tokeniser.pad, np.int64)
        ids[:, : len(prefix)] = prefix
        offsets = np.arange(width - around)
        inside = offsets < lengths[:, None]
        begin = tokens.starts[plan.row[batch]] + plan.begin[batch]
        ids[:, len(prefix) : width - len(suffix)][inside] = tokens.ids[(begin[:, None] + offsets)[inside]]
        for place, token in enumerate(suffix):
            ids[np.arange(len(batch)), len(prefix) + lengths + place] = token
        given = {"input_ids": to_device(ids, self.device)}
        # Windows of one length need no mask, and most models run faster without.
        if self.masked or int(lengths.min()) + around < width:
            given["attention_mask"] = to_device(
                (np.arange(width) < lengths[:, None] + around).astype(np.int64), self.device
            )
        if self.tokeniser.types is not None:
            given["token_type_ids"] = to_device(token_types(self.tokeniser.types, lengths), self.device)
        with torch.autocast(self.device.type, loading.PRECISIONS[self.precision], enabled=self._mixed):
            states = loading.hidden_states(self.loaded.model, given)
        if len(states) != self.loaded.layers:
            raise InputError(
                f"the model gives {len(states)} layers where its config says {self.loaded.layers}",
                value=type(self.loaded.model).__name__,
                remedy="Models whose layers are not one after each block (CANINE's, Funnel's) are not read here.",
            )
        return states


def _finish(
    writer: CacheWriter | MemoryWriter, view: PoolingRequest, chunks: list[PooledItems], windowed: int
) -> Representations:
    row = np.concatenate([items.row for items in chunks])
    if not len(row):
        raise InputError(f"the texts have no {view.unit}", remedy="Use another unit, or other texts.")
    spans = np.concatenate([items.spans for items in chunks])
    return writer.finish(view.unit, row, spans, sum(items.lost for items in chunks), windowed)
