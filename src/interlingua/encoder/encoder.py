"""`Encoder`: one pass over texts gives every layer and every view of them, in bounded memory."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.attention import SDPBackend, sdpa_kernel

from interlingua.encoder import loading
from interlingua.encoder.cutting import cut
from interlingua.encoder.pooling import Pool, send
from interlingua.encoder.representations import Cache, CacheWriter, MemoryWriter, Representations
from interlingua.encoder.tokens import (
    Items,
    TokenisedTexts,
    Tokeniser,
    Windows,
    batches,
    items_of,
    parts_of,
    windows,
)
from interlingua.errors import InputError
from interlingua.measures.tokenization import Splits

UNITS = ("sentence", "word", "token", "span")
POOLINGS = ("mean", "first", "last", "cls")
_CACHE_FORMAT = 1
_CHUNK_BYTES = {"cpu": 64 << 20, "cuda": 1 << 30}
_CHUNK_TEXTS = {"cpu": 8192, "cuda": 16384}
_BUDGET = {"cpu": 2048, "cuda": 32768}
_WINDOW = 512  # for models that state no limit (relative positions)
_LONGEST_WINDOW = 8192  # attention is quadratic: past this a document is better read in windows

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class View:
    """What is wanted of a pass: the unit, how its sub-tokens are pooled, and of which texts and layers.

    `pooling` None is the model's own (a sentence-transformers folder states it; mean otherwise).
    `only` limits the view to some texts, by number; `layers` None is all of them. The unit `span` takes one piece of
    every text, such as a name: its characters are `spans[text]`.
    """

    unit: str = "sentence"
    pooling: str | None = None
    special_tokens: bool = False
    layers: tuple[int, ...] | None = None
    only: tuple[int, ...] | None = None
    spans: tuple[tuple[int, int], ...] | None = None

    def items(self, tokens: TokenisedTexts, texts: Sequence[str], begin: int) -> Items:
        """What is pooled of a chunk of texts, of which the first is number `begin`."""
        own = None if self.spans is None else self.spans[begin : begin + len(texts)]
        return _offset(_chosen(items_of(tokens, self.unit, texts, spans=own), self.only, begin), begin)


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


class Encoder:
    """A multilingual encoder: `Encoder.load(name).encode(texts)`.

    Layer 0 is the embedding output, layer k the output of block k.
    """

    def __init__(
        self, loaded: loading.Loaded, *, device: torch.device, precision: str, budget: int | None = None
    ) -> None:
        self._loaded, self.device, self.precision = loaded, device, precision
        self._budget = budget or _BUDGET[device.type]
        self.tokeniser = Tokeniser(loaded.tokenizer)
        # Weights kept in float32 (a model in training) run in the chosen precision all the same.
        self._mixed = precision != "fp32" and next(loaded.model.parameters()).dtype == torch.float32

    @classmethod
    def load(
        cls,
        name: str = loading.EMBEDDED,
        *,
        device: str | None = None,
        precision: str | None = None,
        budget: int | None = None,
        trust_remote_code: bool = False,
        allow_pickle: bool = False,
        revision: str | None = None,
        blocks: int | None = None,
    ) -> Encoder:
        """The encoder called `name`: 'embedded', a local folder, or a hub name (at a `revision` of it).

        `budget` is the number of tokens, padding included, that go through the model at once. `blocks` takes the first
        so many alone: what was their output is then the model's.
        """
        place = pick_device(device)
        chosen = precision or loading.default_precision(place)
        loaded = loading.load(name, device=place, precision=chosen, trust_remote_code=trust_remote_code,
                              allow_pickle=allow_pickle, revision=revision)  # fmt: skip
        return cls(loaded if blocks is None else cut(loaded, blocks), device=place, precision=chosen, budget=budget)

    @classmethod
    def of(cls, model: torch.nn.Module, tokenizer: Any, *, name: str, precision: str = "fp32") -> Encoder:
        """An encoder over a model that is already in memory, such as one in training; it has no digest."""
        loaded = loading.from_memory(model, tokenizer, name=name)
        return cls(loaded, device=next(model.parameters()).device, precision=precision)

    @property
    def name(self) -> str:
        return self._loaded.name

    @property
    def digest(self) -> str:
        return self._loaded.digest

    @property
    def model(self) -> torch.nn.Module:
        """The model itself; who trains it gives it float32 weights and gradients."""
        return self._loaded.model

    @property
    def tokenizer(self) -> Any:
        """The tokenizer as `transformers` knows it."""
        return self._loaded.tokenizer

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the model's folder is read otherwise than its maker meant, in words."""
        return self._loaded.notes

    @property
    def layers(self) -> tuple[int, ...]:
        """The numbers of the layers: 0 is the embedding output."""
        return tuple(range(self._loaded.layers))

    @property
    def dim(self) -> int:
        return self._loaded.dim

    @property
    def pooling(self) -> str:
        """The pooling the model itself states; mean where it states none."""
        return self._loaded.pooling

    @cached_property
    def limit(self) -> int:
        """The number of tokens one window holds, special ones included."""
        return min(self._loaded.limit or _WINDOW, _LONGEST_WINDOW)

    @cached_property
    def room(self) -> int:
        """The number of text tokens one window holds."""
        around = len(self.tokeniser.prefix) + len(self.tokeniser.suffix)
        return max(self.limit - around, 1)

    def encode(
        self,
        texts: Sequence[str],
        *,
        unit: str = "sentence",
        pooling: str | None = None,
        special_tokens: bool = False,
        layers: Sequence[int] | None = None,
        cache: Cache | None = None,
        progress: Progress | None = None,
    ) -> Representations:
        """The representations of texts in one unit. Special tokens are left out unless asked for."""
        view = View(unit, pooling, special_tokens, None if layers is None else tuple(layers))
        return self.encode_views(texts, [view], cache=cache, progress=progress)[0]

    def encode_views(
        self,
        texts: Sequence[str],
        views: Sequence[View],
        *,
        cache: Cache | None = None,
        progress: Progress | None = None,
    ) -> list[Representations]:
        """Several views of the same texts from one pass; what the cache has is not computed again."""
        if not len(texts):
            raise InputError("there is no text to encode", remedy="Give at least one sentence.")
        views = [self.checked(view, texts=len(texts)) for view in views]
        if cache is not None and not self.digest:
            raise InputError("a model in memory has no digest to cache under", value=self.name, remedy="Give no cache.")
        # A tokenizer without offsets is asked word by word where words are wanted, which may cut differently.
        by_word = not self.tokeniser.keeps_offsets and any(view.unit != "sentence" for view in views)
        keys = [self._key(texts, view, by_word=by_word) for view in views]
        found = [cache.get(key) if cache else None for key in keys]
        todo = [number for number, result in enumerate(found) if result is None]
        if todo:
            made = self._encode([views[n] for n in todo], [keys[n] for n in todo], texts, cache, progress)
            for number, result in zip(todo, made, strict=True):
                found[number] = result
        elif progress:
            progress(len(texts), len(texts))
        return [result for result in found if result is not None]

    def split(self, texts: Sequence[str], *, words: bool = True) -> Splits:
        """How the tokenizer cuts texts, for the measure `tokenization`; without `words` only tokens are counted."""
        tokens = self.tokeniser(texts, spans=words, words=words)
        found = items_of(tokens, "word", texts) if words else None
        none = np.zeros(0, np.int64)
        unknown = (
            np.zeros(len(tokens.ids), bool) if self.tokeniser.unknown is None else tokens.ids == self.tokeniser.unknown
        )
        return Splits(
            rows=len(texts),
            pieces=none if found is None else found.last - found.first,
            word_row=none if found is None else found.row,
            tokens=tokens.ids.astype(np.int64),
            token_row=np.repeat(np.arange(len(texts)), tokens.lengths),
            unknown=unknown,
        )

    def checked(self, view: View, *, texts: int) -> View:
        """The view with nothing left open, or an error where this model or so many texts can't give it."""
        if view.unit not in UNITS:
            raise InputError("unknown unit", value=view.unit, remedy=f"Known: {', '.join(UNITS)}.")
        pooling = view.pooling or (self.pooling if view.unit == "sentence" else "mean")
        if pooling not in POOLINGS or (pooling == "cls" and view.unit != "sentence"):
            usable = POOLINGS if view.unit == "sentence" else POOLINGS[:3]
            raise InputError(f"unknown pooling of {view.unit}s", value=pooling, remedy=f"Known: {', '.join(usable)}.")
        if pooling == "cls" and not self.tokeniser.prefix:
            raise InputError(
                "this model puts no special token before a text, so it has no 'cls'",
                value=self.name,
                remedy="Use --pooling mean (or last, for a decoder).",
            )
        if view.special_tokens and (view.unit != "sentence" or pooling != "mean"):
            raise InputError("special tokens count only in the mean of a sentence", remedy="Leave the option out.")
        wanted = self.layers if view.layers is None else tuple(range(self._loaded.layers)[i] for i in view.layers)
        if view.only is not None and (
            not view.only or max(view.only) >= texts or list(view.only) != sorted(set(view.only))
        ):
            raise InputError("a view's texts must be numbers in ascending order", remedy=f"From 0 to {texts - 1}.")
        if (view.unit == "span") != (view.spans is not None) or len(view.spans or ()) not in (0, texts):
            raise InputError("the unit 'span' needs one span of every text", value=view.unit, remedy="Give `spans`.")
        return View(view.unit, pooling, view.special_tokens, wanted, view.only, view.spans)

    def _key(self, texts: Sequence[str], view: View, *, by_word: bool) -> str:
        """What a stored result depends on, hashed; only what can change the numbers is in it."""
        state = hashlib.blake2b(digest_size=20)
        for text in texts:
            state.update(text.encode() + b"\0")
        chosen = {name: value for name, value in asdict(view).items() if name != "spans" or value is not None}
        about = [_CACHE_FORMAT, self.digest, chosen, self.precision, self.room, by_word, state.hexdigest()]
        return hashlib.blake2b(json.dumps(about).encode(), digest_size=20).hexdigest()

    def _encode(
        self, views: list[View], keys: list[str], texts: Sequence[str], cache: Cache | None, progress: Progress | None
    ) -> list[Representations]:
        dtype = np.dtype(np.float32 if self.precision == "fp32" else np.float16)
        writers: list[CacheWriter | MemoryWriter] = []
        collected: list[list[Items]] = [[] for _ in views]
        windowed = 0
        try:
            for key, view in zip(keys, views, strict=True):
                layers = view.layers or ()
                writers.append(cache.writer(key, layers, self.dim, dtype) if cache else MemoryWriter(layers))
            spans, words = any(v.unit in ("token", "span") for v in views), any(v.unit == "word" for v in views)
            with ThreadPoolExecutor(1) as pool:
                writing: deque[Future[None]] = deque()
                for begin, chunk, tokens in self._chunks(texts, spans=spans, words=words, views=views):
                    plan = windows(tokens.lengths, self.room)
                    windowed += int((tokens.lengths > self.room).sum())
                    made = [view.items(tokens, chunk, begin) for view in views]
                    outputs = self._run(tokens, plan, made, views, begin, dtype)
                    # One chunk is written while the next is computed; waiting here bounds the memory.
                    while len(writing) > 1:
                        writing.popleft().result()
                    writing.append(pool.submit(self._write, writers, outputs))
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
        self, texts: Sequence[str], *, spans: bool, words: bool, views: list[View]
    ) -> Iterator[tuple[int, Sequence[str], TokenisedTexts]]:
        """Consecutive texts whose results fit the chunk's memory, the next chunk tokenised while one is encoded."""
        vector = max(len(view.layers or ()) for view in views) * self.dim * 4
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
        items: list[Items],
        views: list[View],
        begin: int,
        dtype: np.dtype[Any],
    ) -> list[Output]:
        """The (layer, item, dim) results of a chunk, pooled on the device, one for each view."""
        around = (len(self.tokeniser.prefix), len(self.tokeniser.suffix))
        like = torch.empty(self.dim, dtype=torch.float32 if dtype == np.float32 else torch.float16, device=self.device)
        pools = [
            Pool.of(
                parts_of(
                    _offset(item, -begin), plan, pooling=str(view.pooling), special=view.special_tokens, around=around
                ),
                windows=len(plan.row),
                items=len(item),
                layers=view.layers or (),
                mean=view.pooling == "mean",
                like=like,
            )
            for item, view in zip(items, views, strict=True)
        ]
        # cuDNN's attention builds a plan for every new shape, which costs more than it saves here.
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
            for batch in batches(plan.lengths + sum(around), self._budget):
                hidden = self._forward(tokens, plan, batch)
                for pool in pools:
                    pool.take(hidden, batch)
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

    def _write(self, writers: list[CacheWriter | MemoryWriter], outputs: list[Output]) -> None:
        for writer, output in zip(writers, outputs, strict=True):
            vectors = output.wait()
            if not np.isfinite(vectors).all():
                half = vectors.dtype == np.float16
                problem = "do not fit half precision" if half else "are infinite or undefined"
                remedy = "Use --precision fp32." if half else "Its weights are broken; fetch or train it again."
                raise InputError(f"vectors of this model {problem}", value=self.name, remedy=remedy)
            writer.append(vectors)

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
        given = {"input_ids": send(ids, self.device)}
        if int(lengths.min()) + around < width:  # Windows of one length need no mask, and run faster without.
            given["attention_mask"] = send((np.arange(width) < lengths[:, None] + around).astype(np.int64), self.device)
        with torch.autocast(self.device.type, loading.PRECISIONS[self.precision], enabled=self._mixed):
            states = self._loaded.model(**given, output_hidden_states=True).hidden_states
        assert isinstance(states, tuple)
        if len(states) != self._loaded.layers:
            raise InputError(
                f"the model gives {len(states)} layers where its config says {self._loaded.layers}",
                remedy="Report it to us.",
            )
        return states


def _chosen(items: Items, only: tuple[int, ...] | None, begin: int) -> Items:
    if only is None:
        return items
    kept = np.isin(items.row + begin, np.asarray(only))
    return Items(items.row[kept], items.first[kept], items.last[kept], items.spans[kept], items.lost)


def _offset(items: Items, by: int) -> Items:
    return Items(items.row + by, items.first, items.last, items.spans, items.lost)


def _finish(writer: CacheWriter | MemoryWriter, view: View, chunks: list[Items], windowed: int) -> Representations:
    row = np.concatenate([items.row for items in chunks])
    if not len(row):
        raise InputError(f"the texts have no {view.unit}", remedy="Use another unit, or other texts.")
    spans = np.concatenate([items.spans for items in chunks])
    return writer.finish(view.unit, row, spans, sum(items.lost for items in chunks), windowed)


def pick_device(name: str | None) -> torch.device:
    """The device of a name; without one, the GPU where there is one."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError("unknown device", value=name, remedy="Use cpu, cuda or cuda:N.") from error
    if device.type not in _BUDGET:
        raise InputError("unsupported device", value=name, remedy="Use cpu, cuda or cuda:N.")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError("no CUDA device is here", value=name, remedy="Use --device cpu.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InputError(
            "no such CUDA device", value=name, remedy=f"There are {torch.cuda.device_count()}, from cuda:0."
        )
    return device
