"""Names inside a model: their vectors, cosines, clusters by language and type, and maps."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.analyses.synthesis import Synthetic
from interlingua.corpus import Skip
from interlingua.encoder import Encoder, PoolingRequest
from interlingua.errors import InputError
from interlingua.measures.clusters import clusters
from interlingua.measures.parallel_cosine import METRICS as COSINES
from interlingua.measures.parallel_cosine import parallel_cosine
from interlingua.measures.vectors import unit
from interlingua.metric import Metric, Metrics
from interlingua.projection import projections
from interlingua.record import Made, Record, versions
from interlingua.synthetic.name_products import DrawnRows
from interlingua.words import Sentence

Progress = Callable[[str, int, int], None]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity in a sentence: the row's id, which all languages share, its type and name, and where it stands."""

    row: str
    type: str
    name: str
    text: str
    span: tuple[int, int]


@dataclass(frozen=True)
class Mentions:
    """The same rows in several languages: mention i of each is of the same entity in the same context."""

    name: str
    by_language: Mapping[str, tuple[Mention, ...]]

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self.by_language)

    def __len__(self) -> int:
        return len(next(iter(self.by_language.values())))

    @cached_property
    def digest(self) -> str:
        """A hash of all that decides the vectors."""
        state = hashlib.blake2b(digest_size=16)
        for code, found in self.by_language.items():
            state.update(f"\x1d{code}".encode())
            for mention in found:
                state.update(f"\0{mention.row}\0{mention.type}\0{mention.text}\0{mention.span}".encode())
        return state.hexdigest()


def mentions(sample: DrawnRows, languages: Sequence[str], *, name: str) -> Mentions:
    """The entity of each row of a sample; where a context has several slots, the first.

    The text is the words with one space between them: what a model for NER reads (`tasks.ner`), so that what is
    looked at before and after fine-tuning is what it was fine-tuned on.

    >>> from interlingua.synthetic.name_products import Product, sample
    >>> from interlingua.synthetic.slot_filling import cut
    >>> from interlingua.synthetic.tables import SlotKind, SlotName, TemplateTable
    >>> contexts = TemplateTable(SlotKind("LOC"), {"tr": (cut("[???]'da kış."),)}, (2,), "contexts")
    >>> product = Product(contexts, TemplateTable(SlotKind("LOC"), {"tr": (SlotName("Ankara"),)}, (2,), "names"))
    >>> found = mentions(sample([product], 1, seed="0"), ["tr"], name="test").by_language["tr"][0]
    >>> found.text, found.span, found.name
    ("Ankara 'da kış .", (0, 6), 'Ankara')
    """
    made = {}
    for code in languages:
        found = []
        for row, filled in sample.sentences(code):
            sentence = Sentence.of(filled.words)
            first = next(place for place, tag in enumerate(filled.tags) if tag != "O")
            last = first + 1
            while last < len(filled.tags) and filled.tags[last].startswith("I-"):
                last += 1
            span = (sentence.spans[first][0], sentence.spans[last - 1][1])
            found.append(Mention(row.id, row.kind.type, sentence.text[slice(*span)], sentence.text, span))
        made[code] = tuple(found)
    if not made or not len(next(iter(made.values()))):
        raise InputError("there is no row with an entity", value=name, remedy="Draw more rows.")
    return Mentions(name, made)


TEST = "test"


def entity_set(synthetic: Synthetic, entity: str | None = None, rows: int = 0) -> tuple[Mentions, list[str]]:
    """What is looked at, and what there is too little of: the entities of the test part, or sentences about one name.

    `rows` is the number of sentences of each type about the name `entity` (papers/003 §3.2: 100).
    """
    if entity is None:
        return mentions(synthetic.parts[TEST], synthetic.languages, name=TEST), []
    sample = synthetic.about(entity, rows)
    short = len({row.kind.type for row in sample.rows}) * rows - len(sample)
    notes = [f"about {entity}: {short} sentences fewer, for want of contexts"] if short else []
    return mentions(sample, synthetic.languages, name=f"about {entity}"), notes


def tokenize_names(encoder: Encoder, given: Mentions) -> dict[str, list[str]]:
    """How the tokenizer cuts the name of the first mention, in each language (papers/003 §3.2)."""
    return {code: list(encoder.tokenizer.tokenize(own[0].name)) for code, own in given.by_language.items()}


@dataclass(frozen=True)
class EntityVectors:
    """Vectors (layer, entity, dim) of every language and what they are of.

    Only rows that have a vector in every language are kept, so that entity i of each language is of mention `rows[i]`.
    """

    mentions: Mentions
    layers: tuple[int, ...]
    rows: Ints
    vectors: Mapping[str, NDArray[np.float32]]
    skipped: tuple[Skip, ...] = field(default=(), compare=False)

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self.vectors)

    @property
    def types(self) -> list[str]:
        """The type of each row."""
        found = next(iter(self.mentions.by_language.values()))
        return [found[row].type for row in self.rows]

    def side(self, language: str, layer: int) -> torch.Tensor:
        """The (entity, dim) vectors of a language at a layer."""
        return torch.from_numpy(self.vectors[language][self.layers.index(layer)])

    def together(self, layer: int, chosen: Ints | None = None) -> tuple[torch.Tensor, list[str], list[str]]:
        """The vectors of all languages at a layer, one language after another, and the language and type of each.

        `chosen` takes some of the rows, the same in every language.
        """
        places = np.arange(len(self.rows)) if chosen is None else chosen
        rows = torch.cat([self.side(code, layer)[torch.from_numpy(places)] for code in self.languages])
        kinds = self.types
        return (
            rows,
            [code for code in self.languages for _ in places],
            [kinds[place] for _ in self.languages for place in places],
        )


def entity_vectors(
    encoder: Encoder, given: Mentions, *, layers: Sequence[int] | None = None, progress: Progress | None = None
) -> EntityVectors:
    """The mean of each entity's sub-tokens, e(w) = 1/k Σ e(t_l) (papers/003 §3.2), at all layers asked for.

    One pass a language. An entity of several words is the mean of all their sub-tokens. No sentence is cut: one
    longer than the model's limit is read in windows. An entity whose characters the tokenizer turns into nothing in
    some language is left out in all of them, and counted.
    """
    wanted = encoder.layers if layers is None else tuple(encoder.layers[layer] for layer in layers)
    found: dict[str, tuple[Ints, list[NDArray[np.float32]]]] = {}
    skipped: list[Skip] = []
    for number, (code, own) in enumerate(given.by_language.items()):
        if progress:
            progress(f"encoding {given.name}", number, len(given.by_language))
        view = PoolingRequest("span", layers=wanted, spans=tuple(mention.span for mention in own))
        (made,) = encoder.encode_views([mention.text for mention in own], [view])
        if made.lost:
            gone = sorted(set(range(len(own))) - set(made.row.tolist()))
            where = tuple(f"{code} {own[row].row}" for row in gone[:3])
            skipped.append(Skip("entities that the tokenizer turns into nothing", made.lost, where))
        found[code] = made.row, [np.asarray(made[layer], np.float32) for layer in wanted]
    if progress:
        progress(f"encoding {given.name}", len(found), len(found))
    rows = np.arange(len(given))
    for own_rows, _ in found.values():
        rows = np.intersect1d(rows, own_rows)
    if len(rows) < 2:
        raise InputError("fewer than two entities have a vector in every language", remedy="Use another model.")
    vectors = {
        code: np.stack([layer[np.searchsorted(own_rows, rows)] for layer in stacked])
        for code, (own_rows, stacked) in found.items()
    }
    return EntityVectors(given, wanted, rows, vectors, tuple(skipped))


STATES = ("before", "after")
COSINE, CLUSTERS = "parallel-cosine", "clusters"
_LABELS = {"label": ("language", "type")}
CLUSTER_METRICS = Metrics(
    (
        Metric(
            name="silhouette",
            title="Silhouette",
            higher_is_better=None,
            range=(-1.0, 1.0),
            null="labels shuffled",
            options=_LABELS,
            headline=True,
        ),
        Metric(
            name="purity",
            title="Nearest neighbours of the same label",
            higher_is_better=None,
            display="percent",
            null="chance: the share of the same label among the other rows",
            options=_LABELS,
        ),
    )
)
CLUSTER_POINTS = 4000
"""Points behind silhouette and purity at most, whose cost grows with their square."""


@dataclass(frozen=True)
class LookSettings:
    """What is looked at: the projection and its perplexity, layers of maps, most points of a map, and neighbours.

    Layers count from the end where they are negative. Numbers are taken at every layer.
    """

    projection: str = "pca"
    perplexity: float | None = None
    map_layers: tuple[int, ...] = (0, -1)
    points: int = 2000
    k: int = 10
    seed: int = 0


@dataclass(frozen=True)
class GeometrySnapshot:
    """What was found: records with their per-item values, the maps as plain data, and what was left out."""

    made: Made
    maps: dict[str, Any]
    notes: tuple[str, ...]


def measure_snapshot(
    encoder: Encoder,
    given: Mentions,
    settings: LookSettings,
    *,
    state: str,
    source: str | None = None,
    digest: str,
    progress: Progress | None = None,
) -> GeometrySnapshot:
    """Everything of one set of mentions in one state of a model, from one pass a language.

    `state` is before or after fine-tuning, `source` the language of that, and `digest` the model's as it came.
    """
    count = len(encoder.layers)
    if wrong := [layer for layer in settings.map_layers if not -count <= layer < count]:
        raise InputError("no such layer", value=wrong[0], remedy=f"There are 0 (the embedding output) to {count - 1}.")
    vectors = entity_vectors(encoder, given, progress=progress)
    notes = [f"{given.name}, {state}: {skip}" for skip in vectors.skipped]
    shared = Record(
        measure=COSINE,
        model=encoder.name,
        unit="entity",
        pooling=encoder.mean,
        seed=settings.seed,
        corpus=given.name,
        digests={"model": digest, "corpus": given.digest},
        state=state,
        trained_on=source,
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
    return GeometrySnapshot(made + found, maps, tuple(notes))


def _cosines(vectors: EntityVectors, shared: Record, device: torch.device) -> Made:
    """The average cosine of every pair of languages at every layer (papers/003 Table 2)."""
    made: Made = []
    codes = vectors.languages
    for layer in vectors.layers:
        sides = {code: vectors.side(code, layer).to(device) for code in codes}
        for place, one in enumerate(codes):
            for other in codes[place + 1 :]:
                pair = replace(shared, source=one, target=other, layer=layer)
                scores = parallel_cosine(sides[one], sides[other])
                made += [(pair.scored(COSINES, key, score), score.items) for key, score in scores.items()]
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
    for layer in vectors.layers:
        rows, languages, types = vectors.together(layer, chosen)
        rows = rows.to(device)
        everyone = replace(shared, measure=CLUSTERS, languages=tuple(vectors.languages), layer=layer)
        for name, labels in (("language", languages), ("type", types)):
            if len(set(labels)) < 2:
                notes.append(f"one {name} only: no silhouette and purity by {name}")
                continue
            for key, score in clusters(rows, labels, k=settings.k, seed=settings.seed).items():
                made.append((everyone.scored(CLUSTER_METRICS, f"{key}/{name}", score), score.items))
    return made, list(dict.fromkeys(notes))


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
    flatten = projections[settings.projection].call
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
        "method": settings.projection,
        "entities": len(vectors.rows),
        "points": points,
        "panels": panels,
    }


def _four(value: float) -> float:
    """Four digits after the first that counts: what a picture can show, whatever the map's scale."""
    return float(f"{value:.4g}")
