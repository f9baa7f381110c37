"""`Encoder`: one pass over texts gives every layer and every view of them, in bounded memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from copy import copy
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from interlingua.encoder import model_loading as loading
from interlingua.encoder.devices import BUDGET, pick_device
from interlingua.encoder.forward_pass import ForwardPass, Progress
from interlingua.encoder.model_init import cut
from interlingua.encoder.output_layer import write_output
from interlingua.encoder.pooling import POOLINGS, UNITS, PoolingRequest
from interlingua.encoder.representations import Cache, MemoryWriter, Representations
from interlingua.encoder.tokens import Tokeniser, language_mark, locate_items, translates_into
from interlingua.errors import InputError
from interlingua.measures.tokenization import Splits

_CACHE_FORMAT = 2
_WINDOW = 512  # for models that state no limit (relative positions)
_LONGEST_WINDOW = 8192  # attention is quadratic: past this a document is better read in windows


class Encoder:
    """A multilingual encoder: `Encoder.load(name).encode(texts)`.

    Layer 0 is the embedding output, layer k the output of block k.
    """

    def __init__(
        self,
        loaded: loading.LoadedModel,
        *,
        device: torch.device,
        precision: str,
        budget: int | None = None,
        prompt: str | None = None,
    ) -> None:
        self._loaded, self.device, self.precision = loaded, device, precision
        self.prompt = "" if loaded.head is None else loaded.head.prompt(prompt)
        if prompt is not None and loaded.head is None:
            raise InputError("a prompt is for models of sentence-transformers, and this is none", value=loaded.name,
                             remedy="Leave the prompt out.")  # fmt: skip
        self._budget = budget or BUDGET[device.type]
        self.tokeniser = Tokeniser(loaded.tokenizer, known=loading.vocabulary(loaded.model))

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
        prompt: str | None = None,
    ) -> Encoder:
        """The encoder called `name`: 'embedded', a local folder, or a hub name (at a `revision` of it).

        `budget` is the number of tokens, padding included, that go through the model at once. `blocks` takes only that
        many first blocks: what was their output is then the model's. `prompt`, a text or the name of one that a
        sentence-transformers folder has, comes before every text in `output`; its default one does otherwise.
        """
        place = pick_device(device)
        chosen = precision or loading.default_precision(place)
        loaded = loading.load(name, device=place, precision=chosen, trust_remote_code=trust_remote_code,
                              allow_pickle=allow_pickle, revision=revision)  # fmt: skip
        loaded = loaded if blocks is None else cut(loaded, blocks)
        return cls(loaded, device=place, precision=chosen, budget=budget, prompt=prompt)

    @classmethod
    def of(
        cls, model: torch.nn.Module, tokenizer: Any, *, name: str, precision: str = "fp32", digest: str = ""
    ) -> Encoder:
        """An encoder over a model that is already in memory, such as one in training; `digest` is what it came as."""
        loaded = replace(loading.from_memory(model, tokenizer, name=name), digest=digest)
        return cls(loaded, device=next(model.parameters()).device, precision=precision)

    def reading(self, language: str) -> Encoder:
        """The encoder as it reads a language: its tokenizer may mark it, or have other pieces for its target."""
        tokenizer = self._loaded.tokenizer
        target, mark = translates_into(tokenizer, language), language_mark(tokenizer, language)
        if not target and mark is None:
            return self
        other = copy(self)
        known = loading.vocabulary(self._loaded.model)
        other.tokeniser = Tokeniser(tokenizer, known=known, target=target, mark=mark)
        return other

    def __repr__(self) -> str:
        shape = f"{self._loaded.layers} layers × {self._loaded.dim}"
        return f"Encoder({self.name!r}, {shape}, {self.device}, {self.precision})"

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
        """What of the model's folder is read otherwise than its maker meant, as descriptions."""
        return self._loaded.notes

    @property
    def layer_notes(self) -> tuple[str, ...]:
        """`notes` of what reads layers alone, with the modules of a sentence-transformers folder that come after them.

        Not Normalize: a length of 1 changes no cosine, and a task's own head reads the layers anyway.
        """
        steps = [] if self._loaded.head is None else [type(step).__name__ for step in self._loaded.head.steps]
        after = [kind for kind in dict.fromkeys(steps) if kind in ("Dense", "LayerNorm")]
        return (
            *self.notes,
            *(f"the folder's module {kind} is not applied: layers are read before it" for kind in after),
        )

    @property
    def layers(self) -> tuple[int, ...]:
        """The numbers of the layers: 0 is the embedding output."""
        return tuple(range(self._loaded.layers))

    @property
    def dim(self) -> int:
        return self._loaded.dim

    @property
    def pooling(self) -> str:
        """The pooling of sentences in layers: cls, last or weighted where the folder states that, else its mean."""
        head = self._loaded.head
        return (None if head is None else head.layers_pooling) or self.mean

    @property
    def output_layer(self) -> int | None:
        """The number after the last layer, for what a sentence-transformers folder makes of it; None without one."""
        return None if self._loaded.head is None else self._loaded.layers

    @property
    def mean(self) -> str:
        """The mean of tokens by default: of a model that reads from left to right without attention sinks."""
        return "sinkless" if self.causal else "mean"

    @cached_property
    def causal(self) -> bool:
        """Whether the model reads from left to right, as decoders do: found by trying."""
        return loading.reads_left_to_right(self._loaded.model)

    @cached_property
    def _padding_rules(self) -> tuple[bool, bool]:
        return loading.padding_rules(self._loaded.model, self.tokeniser.pad)

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
        view = PoolingRequest(unit, pooling, special_tokens, None if layers is None else tuple(layers))
        return self.encode_views(texts, [view], cache=cache, progress=progress)[0]

    def encode_views(
        self,
        texts: Sequence[str],
        views: Sequence[PoolingRequest],
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
        keys = [self._key(texts, view) for view in views]
        found = [cache.get(key) if cache else None for key in keys]
        todo = [number for number, result in enumerate(found) if result is None]
        if todo:
            masked, one_length = self._padding_rules
            run = ForwardPass(
                self._loaded, self.tokeniser, self.device, self.precision, self._budget, self.room, masked, one_length
            )
            made = run.encode([views[n] for n in todo], [keys[n] for n in todo], texts, cache, progress)
            for number, result in zip(todo, made, strict=True):
                found[number] = result
        elif progress:
            progress(len(texts), len(texts))
        return [result for result in found if result is not None]

    def output(
        self, texts: Sequence[str], *, cache: Cache | None = None, progress: Progress | None = None
    ) -> Representations:
        """What `SentenceTransformer.encode` gives for texts: one layer, numbered after the last.

        Each text stands after the prompt and is cut where the folder says; it is not read in windows.
        """
        head, layer = self._loaded.head, self.output_layer
        if head is None or layer is None:
            raise InputError("only a sentence-transformers folder has an output of its own", value=self.name,
                             remedy="Use encode().")  # fmt: skip
        if not len(texts):
            raise InputError("there is no text to encode", remedy="Give at least one sentence.")
        about = [_CACHE_FORMAT, "output", self.digest, self.prompt, self.precision, self.tokeniser.target, _hash(texts)]
        about += self._unusual("sentence")
        key = hashlib.blake2b(json.dumps(about).encode(), digest_size=20).hexdigest()
        if cache is not None and (found := cache.get(key)) is not None:
            if progress:
                progress(len(texts), len(texts))
            return found
        dim, dtype = head.width(self.dim), np.dtype(np.float32)
        writer = cache.writer(key, (layer,), dim, dtype) if cache else MemoryWriter((layer,))
        try:
            cut = write_output(self._loaded, self.tokeniser, texts, writer, prompt=self.prompt, device=self.device,
                               budget=self._budget, progress=progress)  # fmt: skip
            ends = np.fromiter((len(text) for text in texts), np.int64, len(texts))
            spans = np.stack([np.zeros(len(texts), np.int64), ends], axis=1)
            return writer.finish("sentence", np.arange(len(texts)), spans, 0, cut)
        except BaseException:
            writer.abort()
            raise

    def split(self, texts: Sequence[str], *, words: bool = True) -> Splits:
        """How the tokenizer cuts texts, for the measure `tokenization`; without `words` only tokens are counted."""
        tokens = self.tokeniser(texts, spans=words, words=words)
        found = locate_items(tokens, "word", texts) if words else None
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

    def checked(self, view: PoolingRequest, *, texts: int) -> PoolingRequest:
        """The view with nothing left open, or an error where this model or this number of texts cannot give it."""
        if view.unit not in UNITS:
            raise InputError("unknown unit", value=view.unit, remedy=f"Known: {', '.join(UNITS)}.")
        pooling = view.pooling or (self.pooling if view.unit == "sentence" else self.mean)
        if pooling not in POOLINGS or (pooling == "cls" and view.unit != "sentence"):
            usable = POOLINGS if view.unit == "sentence" else POOLINGS[:-1]
            raise InputError(f"unknown pooling of {view.unit}s", value=pooling, remedy=f"Known: {', '.join(usable)}.")
        if pooling == "cls" and not self.tokeniser.prefix:
            raise InputError(
                "this model puts no special token before a text, so it has no 'cls'",
                value=self.name,
                remedy="Use --pooling mean (or last, for a decoder).",
            )
        if view.special_tokens and (view.unit != "sentence" or pooling not in ("mean", "sinkless")):
            raise InputError("special tokens count only in the mean of a sentence", remedy="Leave the option out.")
        wanted = self.layers if view.layers is None else tuple(range(self._loaded.layers)[i] for i in view.layers)
        if view.only is not None and (
            not view.only or max(view.only) >= texts or list(view.only) != sorted(set(view.only))
        ):
            raise InputError("a view's texts must be numbers in ascending order", remedy=f"From 0 to {texts - 1}.")
        if (view.unit == "span") != (view.spans is not None) or len(view.spans or ()) not in (0, texts):
            raise InputError("the unit 'span' needs one span of every text", value=view.unit, remedy="Give `spans`.")
        return PoolingRequest(view.unit, pooling, view.special_tokens, wanted, view.only, view.spans)

    def _key(self, texts: Sequence[str], view: PoolingRequest) -> str:
        """What a stored result depends on, hashed; only what can change the numbers is in it."""
        chosen = {name: value for name, value in asdict(view).items() if name != "spans" or value is not None}
        about = [
            _CACHE_FORMAT,
            self.digest,
            chosen,
            self.precision,
            self.room,
            self.tokeniser.target,
            _hash(texts),
        ]
        # Once repeated texts were encoded each by itself; what was stored of them differs in its last bits.
        about += ["once"] if len(set(texts)) < len(texts) else []
        about += self._unusual(view.unit)
        return hashlib.blake2b(json.dumps(about).encode(), digest_size=20).hexdigest()

    def _unusual(self, unit: str) -> list[Any]:
        """What a stored result depends on of a few architectures alone; the keys of all others stay as they were."""
        found: list[Any] = []
        if any(self._padding_rules):
            found += ["padding", *self._padding_rules]
        if self.tokeniser.types is not None:
            found += ["types", self.tokeniser.types]
        if self.tokeniser.mark is not None:
            found += ["mark", self.tokeniser.mark]
        if unit in ("word", "span") and not self.tokenizer.is_fast:
            found += ["spelled by bytes"]
        return found


def _hash(texts: Sequence[str]) -> str:
    state = hashlib.blake2b(digest_size=20)
    for text in texts:
        state.update(text.encode() + b"\0")
    return state.hexdigest()
