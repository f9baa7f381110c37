"""Shared spaces: the vectors by which units of two languages are compared (Wang et al. 2021 §2.2, which names none).

| name         | the vector of a unit                                                                       |
|--------------|--------------------------------------------------------------------------------------------|
| `embeddings` | the mean of its tokens' word embeddings in the model: context-free, shared by construction |
| `aligned`    | the same, mapped to the first language's by Procrustes on a dictionary                     |
| `vectors`    | that of its word in files of aligned word vectors (MUSE, fastText)                         |
| `layer`      | the mean of its tokens' states at a layer of the body: in context                          |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.attribution.embedding_forward import EmbeddingForward
from interlingua.attribution.units import Units
from interlingua.corpus import Skip
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs, expand_ranges
from interlingua.encoder.pooling import to_device
from interlingua.encoder.tokens import batches
from interlingua.errors import InputError
from interlingua.measures.procrustes import Map, fit_rotation_map
from interlingua.readers.word_lists import WordVectors

Vectors = NDArray[np.float32]
SPACES = ("embeddings", "aligned", "vectors", "layer")
_CHUNK = 1 << 16
_LEAST = 2
_READ = ("input_ids", "attention_mask", "token_type_ids")


class Space(Protocol):
    """Vectors of units; a unit whose vector is all 0 has none, and is left out of comparisons."""

    @property
    def name(self) -> str:
        """What the record says was used."""
        ...

    def vectors(self, units: Units, inputs: Inputs, language: str) -> Vectors:
        """The (unit, dim) vectors of the units of inputs in a language."""
        ...


@dataclass(frozen=True)
class Embeddings:
    """The model's own word embeddings."""

    through: EmbeddingForward
    name: str = "embeddings"

    def vectors(self, units: Units, inputs: Inputs, language: str) -> Vectors:
        return _means(self.through, inputs.ids[units.place], units.start)


@dataclass(frozen=True)
class AlignedSpace:
    """The model's own word embeddings, each language but the first mapped to the first's."""

    own: Embeddings
    maps: Mapping[str, Map]
    name: str = "aligned"

    @classmethod
    def of(
        cls, through: EmbeddingForward, encoder: Encoder, dictionaries: Mapping[str, Sequence[tuple[str, str]]]
    ) -> tuple[AlignedSpace, tuple[Skip, ...]]:
        """Maps fitted on dictionaries from the first language to each other one, and what could not be used of them.

        A word is the mean of its tokens; one that the tokenizer does not know (nothing, or unknown tokens alone)
        teaches nothing.
        """
        own = Embeddings(through)
        maps: dict[str, Map] = {}
        skipped: list[Skip] = []
        for language, entries in dictionaries.items():
            sides = [_known_words(through, encoder, [entry[side] for entry in entries]) for side in (0, 1)]
            kept = sides[0][1] & sides[1][1]
            if lost := int((~kept).sum()):
                first = tuple(" ".join(entries[at]) for at in np.flatnonzero(~kept)[:3])
                skipped.append(
                    Skip(f"entries of the {language} dictionary that the tokenizer does not know", lost, first)
                )
            if kept.sum() < _LEAST:
                raise InputError(
                    "the tokenizer knows too few words of the dictionary",
                    value=language,
                    remedy="Give more words, or use the space embeddings.",
                )
            ours, theirs = (torch.from_numpy(side[0][kept]) for side in sides)
            maps[language] = fit_rotation_map(theirs, ours)
        return cls(own, maps), tuple(skipped)

    def vectors(self, units: Units, inputs: Inputs, language: str) -> Vectors:
        found = self.own.vectors(units, inputs, language)
        if language not in self.maps:
            return found
        mapped: Vectors = self.maps[language].apply(torch.from_numpy(found)).numpy()
        return mapped


@dataclass(frozen=True)
class External:
    """Aligned word vectors from files, one a language; words they lack have no vector."""

    tables: Mapping[str, WordVectors]
    name: str = "vectors"

    def vectors(self, units: Units, inputs: Inputs, language: str) -> Vectors:
        if language not in self.tables:
            raise InputError(
                "no word vectors for this language", value=language, remedy=f"Give --vectors {language}=FILE."
            )
        words = self.tables[language]
        rows = np.array([-1 if (row := words.find(word)) is None else row for word in units.written], np.int64)
        return np.where(rows[:, None] >= 0, words.table[rows], np.float32(0.0))


@dataclass(frozen=True)
class Contextual:
    """The states at a layer of the body: 0 is the embedding output, k that of block k."""

    through: EmbeddingForward
    layer: int

    @property
    def name(self) -> str:
        return f"layer {self.layer}"

    @torch.no_grad()
    def vectors(self, units: Units, inputs: Inputs, language: str) -> Vectors:
        body, device = self.through.body, self.through.device
        kinds = int(getattr(body.config, "type_vocab_size", 0) or 0)
        result: Vectors | None = None
        counts = np.diff(units.start)
        read = np.unique(units.row)  # What no unit is of need not be read.
        for rows in (read[part] for part in batches(inputs.lengths[read], self.through.budget * 4)):
            given: dict[str, Any] = {
                name: tensor for name, tensor in inputs.batch(rows, device).items() if name in _READ
            }
            if kinds < 2:
                given.pop("token_type_ids", None)
            with self.through.frozen():
                states = body(**given, output_hidden_states=True).hidden_states
            if not -len(states) <= self.layer < len(states):
                raise InputError("no such layer", value=self.layer, remedy=f"There are 0 to {len(states) - 1}.")
            hidden = states[self.layer].float()
            numbers, starts = units.of_rows(rows)
            line = np.repeat(np.repeat(np.arange(len(rows)), np.diff(starts)), counts[numbers])
            places = units.place[expand_ranges(units.start[numbers], counts[numbers])]
            flat = line * hidden.shape[1] + places - inputs.starts[rows[line]]
            pooled = _pooled(hidden.reshape(-1, hidden.shape[-1])[to_device(flat, device)], counts[numbers])
            result = np.zeros((len(units), hidden.shape[-1]), np.float32) if result is None else result
            result[numbers] = pooled
        assert result is not None
        return result


def _means(through: EmbeddingForward, ids: NDArray[Any], start: NDArray[np.int64]) -> Vectors:
    """The mean embedding of each range of ids; ids are looked up a chunk of ranges at a time."""
    parts = []
    counts = np.diff(start)
    for begin in range(0, len(counts), _CHUNK):
        end = min(begin + _CHUNK, len(counts))
        chunk = to_device(ids[start[begin] : start[end]].astype(np.int64), through.device)
        parts.append(_pooled(through.embed(chunk), counts[begin:end]))
    if parts:
        return np.concatenate(parts)
    return np.zeros((0, int(through.embed(torch.tensor(0, device=through.device)).numel())), np.float32)


def _pooled(vectors: torch.Tensor, counts: NDArray[np.int64]) -> Vectors:
    owner = to_device(np.repeat(np.arange(len(counts)), counts), vectors.device)
    sums = vectors.new_zeros(len(counts), vectors.shape[-1]).index_add(0, owner, vectors)
    mean: Vectors = (sums / to_device(np.maximum(counts, 1), vectors.device)[:, None]).cpu().numpy()
    return mean


def _known_words(
    through: EmbeddingForward, encoder: Encoder, words: Sequence[str]
) -> tuple[Vectors, NDArray[np.bool_]]:
    """The vector of each word, and whether the tokenizer knows any of it."""
    tokens = encoder.tokeniser(list(words), spans=False, words=False)
    strange = np.zeros(len(tokens.ids), bool)
    if encoder.tokeniser.unknown is not None:
        strange = tokens.ids == encoder.tokeniser.unknown
    row = np.repeat(np.arange(len(words)), tokens.lengths)
    known = np.bincount(row[~strange], minlength=len(words)) > 0
    return _means(through, tokens.ids, tokens.starts), known
