"""One look at parallel entities inside a model: how near translations lie, how they cluster, and maps of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.flattening import flattenings, installed
from interlingua.measures.clusters import clusters
from interlingua.measures.parallel_cosine import parallel_cosine
from interlingua.measures.rows import unit
from interlingua.score import Score
from interlingua.studies.entities import EntityVectors, Mentions, entity_vectors
from interlingua.studies.record import Record, versions
from interlingua.studies.store import Made

Progress = Callable[[str, int, int], None]
STATES = ("before", "after")
COSINE, CLUSTERS = "parallel-cosine", "clusters"
CLUSTER_POINTS = 4000
"""Points behind silhouette and purity at most, whose cost grows with their square."""


@dataclass(frozen=True)
class LookSettings:
    """What is looked at: the flattening and its perplexity, layers of maps, most points of a map, and neighbours.

    Layers count from the end where they are negative. Numbers are taken at every layer.
    """

    flattening: str = "pca"
    perplexity: float | None = None
    map_layers: tuple[int, ...] = (0, -1)
    points: int = 2000
    k: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        installed(self.flattening)
        if self.perplexity is not None and self.flattening == "pca":
            raise InputError("PCA has no perplexity", value=self.perplexity, remedy="Use --map tsne, or leave it out.")
        if not self.map_layers or self.points < 10:
            raise InputError("a map needs a layer and ten points", value=self.points, remedy="Give more.")


@dataclass(frozen=True)
class Look:
    """What was found: records with their per-item values, the maps as plain data, and what was left out."""

    made: Made
    maps: dict[str, Any]
    notes: tuple[str, ...]


def look(
    encoder: Encoder,
    given: Mentions,
    settings: LookSettings,
    *,
    state: str,
    source: str | None = None,
    digest: str,
    progress: Progress | None = None,
) -> Look:
    """Everything of one set of mentions in one state of a model, from one pass a language.

    `state` is before or after fine-tuning, `source` the language of that, and `digest` the model's as it came.
    """
    vectors = entity_vectors(encoder, given, progress=progress)
    notes = [f"{given.name}, {state}: {skip}" for skip in vectors.skipped]
    shared = Record(
        measure=COSINE,
        variant="",
        model=encoder.name,
        source="",
        value=0.0,
        n=0,
        unit="entity",
        pooling=encoder.mean,
        seed=settings.seed,
        corpus=given.name,
        digests={"model": digest, "corpus": given.digest},
        details={"state": state, "trained": source},
        versions=versions(),
    )
    device = encoder.device
    made = _cosines(vectors, shared, device)
    found, left = _clusters(vectors, shared, settings, device)
    notes += [f"{given.name}, {state}: {note}" for note in left]
    if progress:
        progress(f"map of {given.name}", 0, 1)
    maps = _maps(vectors, settings, state)
    if progress:
        progress(f"map of {given.name}", 1, 1)
    return Look(made + found, maps, tuple(notes))


def _cosines(vectors: EntityVectors, shared: Record, device: torch.device) -> Made:
    """The average cosine of every pair of languages at every layer (papers/003 Table 2)."""
    made: Made = []
    codes = vectors.languages
    for layer in vectors.layers:
        sides = {code: vectors.side(code, layer).to(device) for code in codes}
        for place, one in enumerate(codes):
            for other in codes[place + 1 :]:
                for variant, score in parallel_cosine(sides[one], sides[other]).items():
                    made.append(_record(shared, score, COSINE, variant, one, other, layer))
    return made


def _clusters(
    vectors: EntityVectors, shared: Record, settings: LookSettings, device: torch.device
) -> tuple[Made, list[str]]:
    """Silhouette and neighbour purity by language and by type, of all languages together, at every layer."""
    made: Made = []
    notes: list[str] = []
    chosen = drawn_rows(len(vectors.rows), CLUSTER_POINTS // len(vectors.languages), settings.seed)
    if len(chosen) * len(vectors.languages) <= settings.k:
        return [], [f"too few entities for {settings.k} neighbours: no silhouette and purity"]
    everyone = "+".join(vectors.languages)
    for layer in vectors.layers:
        rows, languages, types = vectors.together(layer, chosen)
        rows = rows.to(device)
        for name, labels in (("language", languages), ("type", types)):
            if len(set(labels)) < 2:
                notes.append(f"one {name} only: no silhouette and purity by {name}")
                continue
            for variant, score in clusters(rows, labels, k=settings.k, seed=settings.seed).items():
                made.append(_record(shared, score, CLUSTERS, f"{variant}/{name}", everyone, None, layer))
    return made, list(dict.fromkeys(notes))


def _record(
    shared: Record, score: Score, measure: str, variant: str, source: str, target: str | None, layer: int
) -> tuple[Record, NDArray[np.floating[Any]] | None]:
    about = {**shared.details, **score.details}
    record = Record(
        **{
            **vars(shared),
            "measure": measure,
            "variant": variant,
            "source": source,
            "target": target,
            "layer": layer,
            "value": score.value,
            "n": score.n,
            "null": score.null,
            "low": score.low,
            "high": score.high,
            "details": about,
        }
    )
    return record, score.items


def drawn_rows(count: int, most: int, seed: int) -> NDArray[np.int64]:
    """At most `most` of `count` rows, drawn by the seed, in order.

    >>> drawn_rows(3, 5, 0).tolist(), len(drawn_rows(100, 7, 0))
    ([0, 1, 2], 7)
    """
    if count <= max(most, 1):
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, max(most, 1), replace=False))


def _maps(vectors: EntityVectors, settings: LookSettings, state: str) -> dict[str, Any]:
    """Places of the same entities at each layer of the maps, and what each is: plain data for a file.

    Vectors are brought to length 1 first, as papers/003 Fig. 1 has them.
    """
    chosen = drawn_rows(len(vectors.rows), settings.points // len(vectors.languages), settings.seed)
    numbers: Sequence[int] = range(vectors.layers[-1] + 1)
    panels = []
    flatten = flattenings[settings.flattening].call
    for layer in dict.fromkeys(numbers[layer] for layer in settings.map_layers):
        rows, _, _ = vectors.together(layer, chosen)
        flat = flatten(unit(rows).numpy(), perplexity=settings.perplexity, seed=settings.seed)
        places = [[_four(value) for value in column] for column in flat.places.T]
        panels.append({"layer": layer, "x": places[0], "y": places[1], "about": dict(flat.about)})
    given = vectors.mentions.by_language
    points = [
        {
            "language": code,
            "row": given[code][row].row,
            "type": given[code][row].type,
            "name": given[code][row].name,
            "text": given[code][row].text,
        }
        for code in vectors.languages
        for row in vectors.rows[chosen]
    ]
    return {
        "set": vectors.mentions.name,
        "state": state,
        "method": settings.flattening,
        "entities": len(vectors.rows),
        "points": points,
        "panels": panels,
    }


def _four(value: float) -> float:
    """Four digits after the first that counts: what a picture can show, whatever the map's scale."""
    return float(f"{value:.4g}")
