"""A corpus inside a model: encoded once, every measure of every pair of languages, and what is missing."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.corpus import ParallelCorpus, Skip
from interlingua.counting import counted
from interlingua.encoder import Cache, Encoder, Representations, View
from interlingua.encoder.pooling import SINK
from interlingua.errors import InputError, MissingExtra, NoSegmenter
from interlingua.flattening.pca import components
from interlingua.measures import measures
from interlingua.measures.procrustes import dictionary_precision
from interlingua.measures.rows import Kept, Room, Side
from interlingua.measures.tokenization import Splits
from interlingua.readers.word_lists import find_dictionaries, read_dictionary
from interlingua.record import Made, Record, versions
from interlingua.registry import Entry
from interlingua.score import Scores
from interlingua.wordalign import link_words
from interlingua.words import word_spans

MOST_UNKNOWN = 0.5
"""The share of unknown tokens above which a language counts as one the tokenizer can't spell."""
KEPT_BYTES = 2**29
"""What measures may keep in memory of all languages of a model, so that it is made once and not for every pair."""
BACKWARD = "/backward"
"""What ends the name of a score from target to source; a record of it has the two languages turned round."""
Words = list[list[tuple[str, tuple[int, int]]]]


@dataclass(frozen=True)
class MeasurePlan:
    """What is measured: names of measures, and the few numbers that decide the result."""

    measures: tuple[str, ...]
    seed: int = 0
    pooling: str | None = None
    prompt: str | None = None
    word_rows: int = 250
    repeats: int = 10


@dataclass(frozen=True)
class Language:
    """One language of the corpus inside one model: its texts, sentences, words and splits.

    Its sides are kept from pair to pair as far as `room` goes.
    """

    code: str
    encoder: Encoder
    rows: NDArray[np.int64]
    texts: tuple[str, ...]
    sentences: Representations
    words: Representations | None
    splits: Splits
    room: Room
    _kept: dict[int, Kept] = field(default_factory=dict, repr=False)
    sinkless: bool = False
    """Whether words that are attention sinks are left out."""
    cut: int = 0
    """How many texts are cut in the layer `output`."""

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places of corpus rows among this language's texts."""
        return np.searchsorted(self.rows, rows)

    def side(self, layer: int, places: NDArray[np.int64]) -> Side:
        """The sentences at these places in a layer; what is dear of all of them is kept for the other pairs."""
        if len(places) < len(self.rows):
            return Side(torch.from_numpy(self.sentences.copied(layer, places)))
        vectors = torch.from_numpy(self.sentences.copied(layer))
        return Side(vectors, self.room, self._kept.setdefault(layer, {}))

    @cached_property
    def usable(self) -> NDArray[np.int64]:
        """The word representations that are measured: all, or those that are no attention sink in any layer.

        A sink that is a word by itself, as the first token of a text may be, can't be left out of that word's mean: the
        word is left out. It is told as tokens are, by its length against the median of the others of its layer.
        """
        assert self.words is not None
        kept = np.ones(len(self.words), bool)
        if self.sinkless:
            for layer in self.words.layers:
                lengths = np.linalg.norm(self.words.copied(layer), axis=1)
                kept &= lengths <= SINK * np.median(lengths)
        return np.flatnonzero(kept)

    @cached_property
    def lone_sinks(self) -> int:
        """How many texts of a decoder are nothing but an attention sink in some layer, as texts of one token are.

        No token is left to stand for such a text, and its vector moves the centre of all others.
        """
        found = np.zeros(len(self.texts), bool)
        if self.encoder.causal:
            for layer in self.sentences.layers:
                if layer != self.encoder.output_layer:
                    lengths = np.linalg.norm(self.sentences.copied(layer), axis=1)
                    found |= lengths > SINK * np.median(lengths)
        return int(found.sum())

    @cached_property
    def word_table(self) -> Words:
        """The words of each text, case-folded, and where they stand in it."""
        return [[(text[a:b].casefold(), (a, b)) for a, b in word_spans(text)] for text in self.texts]

    @cached_property
    def item_table(self) -> dict[tuple[int, tuple[int, int]], int]:
        """Where a word (corpus row, characters) stands among the word representations."""
        assert self.words is not None
        rows, spans = self.rows[self.words.row[self.usable]].tolist(), self.words.spans[self.usable].tolist()
        return {(row, (a, b)): number for number, row, (a, b) in zip(self.usable.tolist(), rows, spans, strict=True)}


@dataclass(frozen=True)
class Measurement:
    """Work whose records are stored together, under a key made of everything that decides them."""

    key: str
    name: str
    run: Callable[[], Made]


def split_languages(encoder: Encoder, corpus: ParallelCorpus) -> tuple[dict[str, Splits], list[Skip]]:
    """How the tokenizer cuts each language, and the languages whose words can't be found.

    A language that the tokenizer can't spell is an error, before anything is encoded.
    """
    found: dict[str, Splits] = {}
    skipped: list[Skip] = []
    for code in corpus.languages:
        texts = corpus.column(code)
        try:
            found[code] = encoder.reading(code).split(texts)
        except (MissingExtra, NoSegmenter) as error:
            found[code] = encoder.reading(code).split(texts, words=False)
            skipped.append(Skip(f"language left out of word measures: {code} ({error})", 1))
        unknown = found[code].unknown.mean()
        if unknown > MOST_UNKNOWN:
            raise InputError(
                f"the tokenizer of {encoder.name} can't spell {code}: {unknown:.0%} of its tokens are unknown",
                remedy="Leave the language out with --languages, or use a model that knows its script.",
            )
    return found, skipped


def encode_language(
    encoder: Encoder,
    corpus: ParallelCorpus,
    code: str,
    splits: Splits,
    plan: MeasurePlan,
    *,
    cache: Cache | None,
    progress: Callable[[int, int], None] | None = None,
) -> Language:
    """A language's sentences and words, at every layer, from one pass; and the output of a model that has its own."""
    rows = corpus.rows_of(code)
    views = [View("sentence", plan.pooling)]
    wanted = {measures[name].needs for name in plan.measures}
    only = tuple(int(place) for place in np.flatnonzero(np.isin(rows, _word_rows(corpus, code, plan))))
    if wanted & {"words", "space"} and only and len(splits.pieces):
        views.append(View("word", _word_pooling(encoder, plan), only=only))
    texts = corpus.column(code)
    reader = encoder.reading(code)
    sentences, *words = reader.encode_views(texts, views, cache=cache, progress=progress)
    cut = 0
    if encoder.output_layer is not None:
        output = reader.output(texts, cache=cache)
        sentences, cut = sentences.with_more(output), output.windowed
    room = Room(KEPT_BYTES // len(corpus.languages))
    sinkless = _word_pooling(encoder, plan) == "sinkless"
    return Language(
        code, encoder, rows, texts, sentences, words[0] if words else None, splits, room, sinkless=sinkless, cut=cut
    )


def language_measurement(language: Language, corpus: ParallelCorpus, plan: MeasurePlan) -> Measurement | None:
    """The measures of one language's space, at every layer; None where there is nothing to measure."""
    chosen = [entry for entry in map(measures.__getitem__, plan.measures) if entry.needs == "space"]
    if not chosen or language.words is None:
        return None
    return Measurement(
        _key("language", chosen, plan, corpus, [language.encoder.digest], [language.code]),
        language.code,
        partial(_measure_language, language, language.words, chosen, corpus, plan),
    )


def pair_measurement(
    source: Language,
    target: Language,
    corpus: ParallelCorpus,
    names: ParallelCorpus | None,
    plan: MeasurePlan,
    *,
    fits: bool = True,
    most_rows: int | None = None,
) -> Measurement:
    """The measures of two languages (of one model or two), at every layer; with or without those that fit a map.

    Sentences are cut to `most_rows`, drawn by the seed: a rank among fewer candidates is better by that alone.
    """
    entries = [entry for entry in map(measures.__getitem__, plan.measures) if entry.needs != "space"]
    chosen = [entry for entry in entries if fits or not entry.fits]
    digests = [source.encoder.digest, target.encoder.digest, names.digest if names else ""]
    return Measurement(
        _key("pair", chosen, plan, corpus, digests, [source.code, target.code], most_rows),
        f"{source.code}–{target.code}",
        partial(_measure_pair, source, target, chosen, corpus, names, plan, most_rows),
    )


def _measure_language(
    language: Language, words: Representations, chosen: Sequence[Entry], corpus: ParallelCorpus, plan: MeasurePlan
) -> Made:
    made: Made = []
    for entry in chosen:
        for layer in words.layers:
            used = words.copied(layer, language.usable) if len(language.usable) < len(words) else words.copied(layer)
            scores = _call(entry, plan, torch.from_numpy(used), groups=words.row[language.usable])
            made += _records(entry, scores, language, None, corpus, plan, layer=layer, unit="word")
    return made


def _measure_pair(
    source: Language,
    target: Language,
    chosen: Sequence[Entry],
    corpus: ParallelCorpus,
    names: ParallelCorpus | None,
    plan: MeasurePlan,
    most_rows: int | None,
) -> Made:
    rows = shared_rows(corpus, source.code, target.code)
    if most_rows is not None and most_rows < len(rows):
        rows = np.sort(np.random.default_rng(plan.seed).choice(rows, most_rows, replace=False))
    here, there = source.at(rows), target.at(rows)
    made: Made = []
    linked = None
    if any(entry.needs == "words" for entry in chosen) and source.words is not None and target.words is not None:
        linked = _linked_words(source, target, corpus, plan)
    for entry in chosen:
        if entry.needs == "sentences":
            for layer, other in _common_layers(source, target):
                sides = (source.side(layer, here), target.side(other, there))
                scores = _call(entry, plan, sides[0].vectors, sides[1].vectors, sides=sides)
                made += _records(entry, scores, source, target, corpus, plan, layer=layer, unit="sentence")
        elif entry.needs == "words" and linked is not None and len(linked.groups):
            assert source.words is not None
            assert target.words is not None
            for layer in (layer for layer in source.words.layers if layer in target.words.layers):
                pair = (source.words.copied(layer, linked.source), target.words.copied(layer, linked.target))
                scores = _call(entry, plan, *map(torch.from_numpy, pair), groups=torch.from_numpy(linked.groups))
                made += _records(entry, scores, source, target, corpus, plan, layer=layer, unit="word")
        elif entry.needs == "splits":
            scores = _call(entry, plan, _take(source.splits, here), _take(target.splits, there))
            made += _records(entry, scores, source, target, corpus, plan, layer=None, unit="token")
        elif entry.needs == "names" and names is not None and {source.code, target.code} <= set(names.languages):
            both = names.pair(source.code, target.code)
            if len(both.rows):
                scores = _call(entry, plan, list(both.source_texts), list(both.target_texts))
                made += _records(entry, scores, source, target, names, plan, layer=None, unit="name")
    return made


@dataclass(frozen=True)
class _Linked:
    source: NDArray[np.int64]  # items of the source's word representations
    target: NDArray[np.int64]
    groups: NDArray[np.int64]  # the corpus row of each


def _linked_words(source: Language, target: Language, corpus: ParallelCorpus, plan: MeasurePlan) -> _Linked:
    """Word pairs for the word-level measures: linked by the aligner on all shared rows, seen at least twice.

    On a small corpus a link seen once is little better than a guess. A pair that recurs more than
    `plan.repeats` times is cut to that, or the articles would be most of the sample.
    """
    shared = shared_rows(corpus, source.code, target.code)
    ours, theirs = ([side.word_table[place] for place in side.at(shared)] for side in (source, target))
    links = link_words([[w for w, _ in row] for row in ours], [[w for w, _ in row] for row in theirs])
    found = list(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))
    seen = Counter((ours[r][s][0], theirs[r][t][0]) for r, s, t in found)
    used: Counter[tuple[str, str]] = Counter()
    rows: list[tuple[int, int, int]] = []
    for r, s, t in found:
        (word, place), (other_word, other_place) = ours[r][s], theirs[r][t]
        words, row = (word, other_word), int(shared[r])
        item, other = source.item_table.get((row, place)), target.item_table.get((row, other_place))
        if item is None or other is None or seen[words] < 2 or used[words] >= plan.repeats:
            continue
        used[words] += 1
        rows.append((item, other, row))
    table = np.array(rows, np.int64).reshape(-1, 3)
    few = len(table) < 20 or len(np.unique(table[:, 2])) < 10
    return _Linked(*(table[:0] if few else table).T)


def shared_rows(corpus: ParallelCorpus, source: str, target: str) -> NDArray[np.int64]:
    """The rows that both languages have; of a language and itself, in two models, all that it has."""
    return corpus.rows_of(source) if source == target else corpus.pair(source, target).rows


def _word_rows(corpus: ParallelCorpus, code: str, plan: MeasurePlan) -> NDArray[np.int64]:
    """The rows whose words are kept: a seeded sample, since words at every layer take far more room than sentences.

    As many of the rows shared with each other language: in a strictly parallel corpus these are the same rows,
    in a set of bitexts each has its own.
    """
    chosen = [np.zeros(0, np.int64)]
    for other in corpus.languages:
        rows = shared_rows(corpus, code, other)
        if other != code or len(corpus.languages) == 1:
            draw = np.random.default_rng(plan.seed)
            chosen.append(rows if len(rows) <= plan.word_rows else draw.choice(rows, plan.word_rows, replace=False))
    return np.unique(np.concatenate(chosen))


def _common_layers(source: Language, target: Language) -> list[tuple[int, int]]:
    """Layers compared with each other: the same numbers, and outputs; the deeper model's other ones have no partner."""
    ends = source.encoder.output_layer, target.encoder.output_layer
    shared = [layer for layer in source.sentences.layers if layer in target.sentences.layers and layer not in ends]
    return [(layer, layer) for layer in shared] + ([] if None in ends else [ends])  # type: ignore[list-item]


def _call(entry: Entry, plan: MeasurePlan, *given: Any, **more: Any) -> Scores:
    """Call a measure with the seed and what else it takes; a measure need not accept what it does not use."""
    taken = _parameters(entry.call)
    offered = {"seed": plan.seed, **more}
    scores: Scores = entry.call(*given, **{name: value for name, value in offered.items() if name in taken})
    return scores


@cache
def _parameters(call: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(call).parameters)


@cache
def _digest(call: Callable[..., Any]) -> str:
    """A hash of a measure's source, once a measure: to find the source takes milliseconds."""
    return hashlib.blake2b(inspect.getsource(call).encode()).hexdigest()[:8]


def _records(
    entry: Entry,
    scores: Scores,
    source: Language,
    target: Language | None,
    corpus: ParallelCorpus,
    plan: MeasurePlan,
    *,
    layer: int | None,
    unit: str,
) -> Made:
    digests = {"model": source.encoder.digest, "corpus": corpus.digest}
    other = target.encoder if target is not None and target.encoder.digest != source.encoder.digest else None
    if other is not None:
        digests["target_model"] = other.digest
    pooling = None
    if unit == "sentence" and layer is not None and layer == source.encoder.output_layer:
        pooling = "output"
    elif unit in ("sentence", "word"):
        pooling = plan.pooling or source.encoder.pooling if unit == "sentence" else _word_pooling(source.encoder, plan)
    made: Made = []
    for full, score in scores.items():
        variant, sides = full, (source.code, None if target is None else target.code)
        if full.endswith(BACKWARD) and target is not None and other is None:
            # A direction is a record's source and target: the mean over records is the number of a page.
            variant, sides = full.removesuffix(BACKWARD), (target.code, source.code)
        record = Record(
            measure=entry.name,
            variant=variant,
            model=source.encoder.name,
            source=sides[0],
            target=sides[1],
            target_model=None if other is None else other.name,
            layer=layer,
            unit=unit,
            pooling=pooling,
            value=score.value,
            null=score.null,
            low=score.low,
            high=score.high,
            best=entry.best(full),
            n=score.n,
            seed=plan.seed,
            corpus=corpus.name,
            digests=digests,
            details=score.details,
            versions=versions(),
        )
        made.append((record, score.items))
    return made


def _word_pooling(encoder: Encoder, plan: MeasurePlan) -> str:
    """How words are pooled: by the mean that is the model's, or the plain one where that was asked for."""
    return "mean" if plan.pooling == "mean" else encoder.mean


def _key(
    kind: str,
    chosen: Sequence[Entry],
    plan: MeasurePlan,
    corpus: ParallelCorpus,
    digests: list[str],
    codes: list[str],
    most_rows: int | None = None,
) -> str:
    about: Mapping[str, Any] = {
        "kind": kind,
        "measures": [(entry.name, _digest(entry.call)) for entry in chosen],
        "plan": [plan.seed, plan.pooling, plan.word_rows, plan.repeats, *([plan.prompt] if plan.prompt else [])],
        "corpus": corpus.digest,
        "digests": digests,
        "codes": codes,
        "most rows": most_rows,
    }
    return hashlib.blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=12).hexdigest()


def _take(splits: Splits, rows: NDArray[np.int64]) -> Splits:
    """The splits of some rows, renumbered; rows are in ascending order."""
    if len(rows) == splits.rows:
        return splits
    place = np.full(splits.rows, -1)
    place[rows] = np.arange(len(rows))
    words, tokens = place[splits.word_row] >= 0, place[splits.token_row] >= 0
    return Splits(
        len(rows),
        splits.pieces[words],
        place[splits.word_row[words]],
        splits.tokens[tokens],
        place[splits.token_row[tokens]],
        splits.unknown[tokens],
    )


Codes = tuple[str, str]
TWO_MODELS = ("procrustes", "procrustes-words", "cka")
"""What can be said of two models: measures that ask for no common space."""


@dataclass(frozen=True)
class Asked:
    """Pairs of languages to measure, those of them that a map is fitted for, and how many others share no row.

    `rows` is how many sentences every pair is measured on: as many as `fewest` shares, since retrieval among fewer
    candidates is easier. `cut` counts what that leaves out, over all pairs.
    """

    pairs: tuple[Codes, ...]
    mapped: frozenset[Codes]
    apart: int = 0
    rows: int | None = None
    fewest: Codes | None = None
    cut: int = 0


def asked_pairs(
    corpus: ParallelCorpus, sides: Sequence[Sequence[str]], *, pairs: str = "all", maps: str = "all"
) -> Asked:
    """The pairs of one model's languages, or every language of the first of two models with every one of the second.

    `pairs` and `maps` are all, or pivot: those with the first language of the corpus. Two models have no space in
    common: the same sentences in both are a pair like any other, and every pair has its map.
    """
    if len(sides) == 2:
        every = tuple((a, b) for a in sides[0] for b in sides[1])
        return Asked(every, frozenset(every), **_equal_rows(corpus, every))
    pivot, shared = corpus.languages[0], set(corpus.pairs())
    known = [code for code in corpus.languages if code in sides[0]]
    asked = [(a, b) for a, b in combinations(known, 2) if pairs == "all" or a == pivot]
    there = tuple(pair for pair in asked if pair in shared)
    mapped = frozenset(pair for pair in there if maps == "all" or pair[0] == pivot)
    return Asked(there, mapped, len(asked) - len(there), **_equal_rows(corpus, there))


def _equal_rows(corpus: ParallelCorpus, pairs: Sequence[Codes]) -> dict[str, Any]:
    """The number of rows that all pairs can be measured on, the pair that has no more, and what others have beyond."""
    shared = {pair: count for pair in pairs if (count := len(shared_rows(corpus, *pair)))}
    if not shared:
        return {}
    fewest = min(shared, key=lambda pair: shared[pair])
    rows = shared[fewest]
    return {"rows": rows, "fewest": fewest, "cut": sum(shared.values()) - rows * len(shared)}


def measurements(
    spaces: Sequence[Sequence[Language]],
    corpus: ParallelCorpus,
    names: ParallelCorpus | None,
    plan: MeasurePlan,
    asked: Asked,
) -> list[Measurement]:
    """The measurements of the first model's languages, and of the pairs that are asked for."""
    alone = [each for language in spaces[0] if (each := language_measurement(language, corpus, plan)) is not None]
    ours, theirs = ({language.code: language for language in space} for space in (spaces[0], spaces[-1]))
    return alone + [
        pair_measurement(ours[a], theirs[b], corpus, names, plan, fits=(a, b) in asked.mapped, most_rows=asked.rows)
        for a, b in asked.pairs
    ]


NAME = "procrustes-dictionary"
Entries = list[tuple[str, str]]


@dataclass(frozen=True)
class Dictionary:
    """The training and test entries of one language pair; `dropped` entries could not be used."""

    source: str
    target: str
    train: Entries
    test: Entries
    dropped: int

    @property
    def digest(self) -> str:
        text = json.dumps([self.source, self.target, self.train, self.test], ensure_ascii=False)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def read_dictionaries(folder: str | Path, languages: Sequence[str], *, seed: int) -> list[Dictionary]:
    """The dictionaries of a folder between these languages, in MUSE's own split or one drawn by source word."""
    found = [
        _dictionary(pair, files, seed)
        for pair, files in find_dictionaries(folder).items()
        if pair[0] != pair[1] and set(pair) <= set(languages)
    ]
    if not found:
        raise InputError(
            f"no dictionary between {', '.join(languages)}",
            file=folder,
            remedy="Give files such as en-ru.txt, or other --languages.",
        )
    return found


def dictionary_measurement(
    dictionary: Dictionary, source: Encoder, target: Encoder, plan: MeasurePlan, *, cache: Cache | None
) -> Measurement:
    """P@K of a dictionary's test words at every layer; the words are encoded here, once."""
    dictionary = _spelled(dictionary, source, target)
    ours, theirs = (list(dict.fromkeys(entry[side] for entry in dictionary.train + dictionary.test)) for side in (0, 1))
    vectors = (
        source.reading(dictionary.source).encode(ours, pooling=source.mean, cache=cache),
        target.reading(dictionary.target).encode(theirs, pooling=target.mean, cache=cache),
    )
    rows = ({word: row for row, word in enumerate(ours)}, {word: row for row, word in enumerate(theirs)})

    def pairs(entries: Entries) -> NDArray[np.int64]:
        return np.array([(rows[0][left], rows[1][right]) for left, right in entries], np.int64)

    about = json.dumps([NAME, dictionary.digest, source.digest, target.digest, plan.seed])
    return Measurement(
        hashlib.blake2b(about.encode(), digest_size=12).hexdigest(),
        f"{dictionary.source}–{dictionary.target} dictionary",
        partial(
            _measure, dictionary, vectors, (pairs(dictionary.train), pairs(dictionary.test)), (source, target), plan
        ),
    )


def _spelled(dictionary: Dictionary, source: Encoder, target: Encoder) -> Dictionary:
    """The dictionary without entries of which a tokenizer leaves nothing; they are counted."""

    def kept(entries: Entries) -> Entries:
        sides = [
            encoder.tokeniser([entry[side] for entry in entries], spans=False, words=False).lengths > 0
            for side, encoder in enumerate((source, target))
        ]
        return [entry for entry, left, right in zip(entries, *sides, strict=True) if left and right]

    train, test = kept(dictionary.train), kept(dictionary.test)
    lost = len(dictionary.train) + len(dictionary.test) - len(train) - len(test)
    return replace(dictionary, train=train, test=test, dropped=dictionary.dropped + lost) if lost else dictionary


def _dictionary(pair: tuple[str, str], files: dict[str, Path], seed: int) -> Dictionary:
    if {"train", "test"} <= set(files):
        train, test = read_dictionary(files["train"]), read_dictionary(files["test"])
    else:
        entries = [entry for path in files.values() for entry in read_dictionary(path)]
        words = list(dict.fromkeys(source for source, _ in entries))
        order = np.random.default_rng(seed).permutation(len(words))
        learnt = {words[number] for number in order[: round(0.8 * len(words))]}
        train = [entry for entry in entries if entry[0] in learnt]
        test = [entry for entry in entries if entry[0] not in learnt]
    known = {source for source, _ in train}
    fair = [entry for entry in test if entry[0] not in known]
    if len(train) < 2 or not fair:
        raise InputError(
            f"the {pair[0]}–{pair[1]} dictionary is too small to split",
            file=next(iter(files.values())),
            remedy="Give more words.",
        )
    return Dictionary(*pair, train, fair, len(test) - len(fair))


def _measure(
    dictionary: Dictionary,
    vectors: tuple[Representations, Representations],
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    encoders: tuple[Encoder, Encoder],
    plan: MeasurePlan,
) -> Made:
    (ours, theirs), (train, test), (source, target) = vectors, pairs, encoders
    two = source.digest != target.digest
    made: Made = []
    for layer in (layer for layer in ours.layers if layer in theirs.layers):
        left, right = (torch.from_numpy(np.array(side[layer], np.float32)) for side in (ours, theirs))
        scores = dictionary_precision(left, right, train=train, test=test, seed=plan.seed)
        for variant, score in scores.items():
            record = Record(
                measure=NAME,
                variant=variant,
                model=source.name,
                source=dictionary.source,
                target=dictionary.target,
                target_model=target.name if two else None,
                layer=layer,
                unit="dictionary word",
                pooling=source.mean,
                value=score.value,
                null=score.null,
                low=score.low,
                high=score.high,
                n=score.n,
                seed=plan.seed,
                corpus=f"dictionary {dictionary.source}-{dictionary.target}",
                digests={
                    "model": source.digest,
                    "corpus": dictionary.digest,
                    **({"target_model": target.digest} if two else {}),
                },
                details={"train": len(train), "dropped": dictionary.dropped, **score.details},
                versions=versions(),
            )
            made.append((record, score.items))
    return made


def left_out(texts: ParallelCorpus, skips: Iterable[Skip], spaces: Iterable[Sequence[Language]]) -> list[str]:
    """All that was left out or handled specially, counted, in words."""
    notes = [str(skip) for skip in (*texts.skipped, *skips)]
    for language in (language for space in spaces for language in space):
        if language.words is not None and language.words.lost:
            what = f"words of {language.code} that the tokenizer turns into nothing"
            notes.append(counted(language.words.lost, what))
        if language.words is not None and (sinks := len(language.words) - len(language.usable)):
            notes.append(counted(sinks, f"words of {language.code} that are attention sinks, in no measure of words"))
        if language.lone_sinks:
            what = f"texts of {language.code} with nothing but an attention sink, as with one token alone: such a long "
            what += "vector moves the centre of centred measures (remove such rows from the corpus)"
            notes.append(counted(language.lone_sinks, what))
        if language.cut:
            what = f"texts of {language.code} cut in the layer output, as the model's folder says"
            notes.append(counted(language.cut, what))
        if language.sentences.windowed:
            what = f"texts of {language.code} longer than the model's limit, read in windows"
            notes.append(counted(language.sentences.windowed, what))
    return notes


def unmeasured(plan: MeasurePlan, made: Sequence[Record], asked: Asked) -> list[str]:
    """What had to be left out, counted: pairs of languages, numbers that are undefined, entries of dictionaries."""
    notes = [counted(asked.apart, "pairs of languages that share no row")] if asked.apart else []
    if asked.cut and asked.fewest is not None and asked.rows is not None:
        fewest = "–".join(asked.fewest)
        what = f"rows left out of pairs, so that all are compared over {asked.rows:,}: {fewest} shares no more"
        notes.append(counted(asked.cut, what))
    pairs = set(asked.pairs)
    if pairs - asked.mapped and any(measures[name].fits for name in plan.measures):
        what = "pairs without a fitted map: --maps all fits one for every pair"
        notes.append(counted(len(pairs - asked.mapped), what))
    reasons = {"words": "too few repeated word links", "names": "no names in both"}
    for name in plan.measures:
        if measures[name].needs in reasons:
            have = {(record.source, record.target) for record in made if record.measure == name}
            wanted = asked.mapped if measures[name].fits else pairs
            if wanted - have:
                notes.append(counted(len(wanted - have), f"pairs without {name}: {reasons[measures[name].needs]}"))
    undefined = Counter(f"{each.measure} {what}" for each in made for what in each.details.get("undefined", ()))
    notes += [f"{count} undefined: {what}" for what, count in undefined.items()]
    dropped = {(r.source, str(r.target)): r.details["dropped"] for r in made if r.measure == NAME}
    notes += [
        counted(
            count,
            f"entries of the {source}–{target} dictionary: a test word that is trained on, or one that the tokenizer "
            "turns into nothing",
        )
        for (source, target), count in dropped.items()
        if count
    ]
    return notes


MOST_POINTS = 3000


def project(languages: Sequence[Language], corpus: ParallelCorpus, *, layer: int, seed: int) -> dict[str, Any]:
    """The first two principal components of a layer's sentences, as points with language, row and text.

    Rows are sampled by `seed` so that at most 3,000 points are drawn, the same rows in every language.
    `explained` is the share of the variance each component carries.
    """
    most = max(MOST_POINTS // len(languages), 1)
    chosen = np.arange(len(corpus))
    if len(chosen) > most:
        chosen = np.sort(np.random.default_rng(seed).choice(len(corpus), most, replace=False))
    blocks, labels = [], []
    for language in languages:
        places = np.flatnonzero(np.isin(language.rows, chosen))
        blocks.append(language.sentences.copied(layer, places).astype(np.float64))
        column = corpus.column(language.code)
        labels += [(language.code, int(language.rows[place]), column[place]) for place in places]
    flat, explained = components(np.concatenate(blocks), 2)
    return {
        "method": "pca",
        "layer": layer,
        "explained": explained,
        "points": [
            {"x": round(float(x), 4), "y": round(float(y), 4), "language": code, "row": row, "text": text}
            for (x, y), (code, row, text) in zip(flat, labels, strict=True)
        ],
    }
