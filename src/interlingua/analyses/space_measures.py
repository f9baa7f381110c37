"""A corpus inside a model: encoded once, every measure of every pair of languages, and what is missing."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from interlingua.corpus import ParallelCorpus, Skip
from interlingua.encoder import Cache, Encoder, PoolingRequest, Representations
from interlingua.encoder.pooling import SINK
from interlingua.errors import InputError, MissingExtra, NoSegmenter
from interlingua.measures import measures
from interlingua.measures.clusters import clusters
from interlingua.measures.procrustes import DICTIONARY_METRICS, dictionary_precision
from interlingua.measures.tokenization import Splits
from interlingua.measures.vectors import Kept, MemoryBudget, PreparedVectors
from interlingua.metric import Metrics
from interlingua.plural_counts import count_noun
from interlingua.projection import projections
from interlingua.readers.word_lists import find_dictionaries, read_dictionary
from interlingua.record import Made, Record, RecordTable, versions
from interlingua.registry import Entry
from interlingua.score import Scores
from interlingua.wordalign import align_words
from interlingua.words import word_spans

MOST_UNKNOWN = 0.5
"""The share of unknown tokens above which a language counts as one the tokenizer can't spell."""
KEPT_BYTES = 2**29
"""What measures may keep in memory of all languages of a model, so that it is made once and not for every pair."""
Words = list[list[tuple[str, tuple[int, int]]]]
Work = Callable[[], Made]
"""What measures a language, a pair of them, or a dictionary."""
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class MeasurePlan:
    """What is measured: names of measures, and the few numbers that decide the result."""

    measures: tuple[str, ...] = ()
    seed: int = 0
    pooling: str | None = None
    word_rows: int = 250
    repeats: int = 10


@dataclass(frozen=True, eq=False)
class Language:
    """One language of the corpus inside one model: its texts, sentences, words and splits.

    Its sides are kept from pair to pair and measure to measure as far as `room` goes, and so are links of its words.
    """

    code: str
    encoder: Encoder
    rows: NDArray[np.int64]
    texts: tuple[str, ...]
    sentences: Representations
    words: Representations | None
    splits: Splits
    room: MemoryBudget
    _kept: dict[int, Kept] = field(default_factory=dict, repr=False)
    sinkless: bool = False
    """Whether words that are attention sinks are left out."""
    cut: int = 0
    """How many texts are cut in the layer `output`."""
    _linked: dict[Language, _Linked] = field(default_factory=dict, repr=False)

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places of corpus rows among this language's texts."""
        return np.searchsorted(self.rows, rows)

    def side(self, layer: int, places: NDArray[np.int64]) -> PreparedVectors:
        """The sentences at these places in a layer; what is dear of all of them is kept for the other pairs."""
        if len(places) < len(self.rows):
            return PreparedVectors(torch.from_numpy(self.sentences.copied(layer, places)))
        vectors = torch.from_numpy(self.sentences.copied(layer))
        return PreparedVectors(vectors, self.room, self._kept.setdefault(layer, {}))

    @cached_property
    def usable(self) -> NDArray[np.int64]:
        """The word representations that are measured: all, or those that are no attention sink in any layer.

        A sink that is a word by itself, as the first token of a text may be, can't be left out of that word's mean: the
        word is left out. It is detected as tokens are, by its length against the median of the others of its layer.
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


@dataclass(frozen=True, eq=False)
class ModelSpace:
    """A corpus inside one model: its languages, and the words of dictionaries; a description of what was left out."""

    encoder: Encoder
    corpus: ParallelCorpus
    languages: Mapping[str, Language]
    words: Mapping[tuple[Codes, int], EncodedWords]
    notes: tuple[str, ...]


def encode_space(
    encoder: Encoder,
    corpus: ParallelCorpus,
    codes: Sequence[str],
    plan: MeasurePlan,
    *,
    words: bool = True,
    dictionaries: Sequence[Dictionary] = (),
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> ModelSpace:
    """Languages of a corpus inside a model, one pass each; `words` of their sentences are for measures that ask.

    Of a dictionary those sides are encoded whose language is among `codes`.
    """
    splits, skipped = split_languages(encoder, corpus, codes)
    total, done = sum(len(corpus.rows_of(code)) for code in codes), 0
    languages: dict[str, Language] = {}
    for code in codes:

        def bar(part: int, _: int, before: int = done) -> None:
            if progress is not None:
                progress("encoding", before + part, total)

        languages[code] = encode_language(
            encoder, corpus, code, splits[code], plan, words=words, cache=cache, progress=bar
        )
        done += len(languages[code].rows)
    encoded: dict[tuple[Codes, int], EncodedWords] = {}
    for number, entry in enumerate(dictionaries):
        if progress is not None:
            progress("encoding words", number, len(dictionaries))
        for side, code in enumerate(entry.codes):
            if code in codes:
                encoded[entry.codes, side] = encode_words(encoder, entry, side, cache=cache)
    notes = [*encoder.notes, *_pooling_notes(encoder, plan), *_marks(encoder, codes)]
    notes += [*(() if cache is None else cache.notes), *describe_exclusions(corpus, skipped, languages.values())]
    return ModelSpace(encoder, corpus, languages, encoded, tuple(dict.fromkeys(notes)))


def split_languages(
    encoder: Encoder, corpus: ParallelCorpus, codes: Sequence[str] | None = None
) -> tuple[dict[str, Splits], list[Skip]]:
    """How the tokenizer cuts each language (all by default), and the languages whose words can't be found.

    A language that the tokenizer can't spell is an error, before anything is encoded.
    """
    found: dict[str, Splits] = {}
    skipped: list[Skip] = []
    for code in corpus.languages if codes is None else codes:
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
    words: bool = True,
    cache: Cache | None,
    progress: Callable[[int, int], None] | None = None,
) -> Language:
    """A language's sentences and words, at every layer, from one pass; and the output of a model that has its own."""
    rows = corpus.rows_of(code)
    views = [PoolingRequest("sentence", plan.pooling)]
    only = tuple(int(place) for place in np.flatnonzero(np.isin(rows, _word_rows(corpus, code, plan))))
    if words and only and len(splits.pieces):
        views.append(PoolingRequest("word", _word_pooling(encoder, plan), only=only))
    texts = corpus.column(code)
    reader = encoder.reading(code)
    sentences, *of_words = reader.encode_views(texts, views, cache=cache, progress=progress)
    cut = 0
    if encoder.output_layer is not None:
        output = reader.output(texts, cache=cache)
        sentences, cut = sentences.with_more(output), output.windowed
    room = MemoryBudget(KEPT_BYTES // len(corpus.languages))
    sinkless = _word_pooling(encoder, plan) == "sinkless"
    return Language(
        code,
        encoder,
        rows,
        texts,
        sentences,
        of_words[0] if of_words else None,
        splits,
        room,
        sinkless=sinkless,
        cut=cut,
    )


def needs_words(names: Iterable[str]) -> bool:
    """Whether one of these measures asks for words of sentences."""
    return any(measures[name].needs in ("words", "space") for name in names)


def measure_language(language: Language, corpus: ParallelCorpus, plan: MeasurePlan) -> Made:
    """The measures of one language's space, at every layer; nothing where its words can't be found."""
    made: Made = []
    words = language.words
    if words is None:
        return made
    for entry in (entry for entry in map(measures.__getitem__, plan.measures) if entry.needs == "space"):
        for layer in words.layers:
            used = words.copied(layer, language.usable) if len(language.usable) < len(words) else words.copied(layer)
            scores = _call(entry, plan, torch.from_numpy(used), groups=words.row[language.usable])
            made += _records(entry, scores, language, None, corpus, plan, layer=layer, unit="word")
    return made


def measure_pair(
    source: Language,
    target: Language,
    corpus: ParallelCorpus,
    names: ParallelCorpus | None,
    plan: MeasurePlan,
    *,
    fits: bool = True,
    most_rows: int | None = None,
) -> Made:
    """The measures of two languages (of one model or two), at every layer; with or without those that fit a map.

    Sentences are cut to `most_rows`, drawn by the seed: a rank among fewer candidates is better by that alone.
    """
    entries = [entry for entry in map(measures.__getitem__, plan.measures) if entry.needs != "space"]
    chosen = [entry for entry in entries if fits or not entry.fits]
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
    """The linked words of a pair, linked once for all measures."""
    if target not in source._linked:
        source._linked[target] = _link_words(source, target, corpus, plan)
    return source._linked[target]


def _link_words(source: Language, target: Language, corpus: ParallelCorpus, plan: MeasurePlan) -> _Linked:
    """Word pairs for the word-level measures: linked by the aligner on all shared rows, seen at least twice.

    On a small corpus a link seen once is little better than a guess. A pair that recurs more than
    `plan.repeats` times is cut to that, or the articles would be most of the sample.
    """
    shared = shared_rows(corpus, source.code, target.code)
    ours, theirs = ([side.word_table[place] for place in side.at(shared)] for side in (source, target))
    links = align_words([[w for w, _ in row] for row in ours], [[w for w, _ in row] for row in theirs])
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
    shared = Record(
        measure=entry.name,
        model=source.encoder.name,
        against=None if other is None else other.name,
        source=source.code,
        target=None if target is None else target.code,
        layer=layer,
        unit=unit,
        pooling=pooling,
        seed=plan.seed,
        corpus=corpus.name,
        digests=digests,
        versions=versions(),
    )
    return scored_records(shared, entry.metrics, scores)


def scored_records(shared: Record, metrics: Metrics, scores: Scores) -> Made:
    """A record of each score; per-item values are kept of the headline alone, which is what runs are compared by.

    All of them take ten times the room: 46 of the 115 MB that an audit of 17 languages had.
    """
    made = [(shared.scored(metrics, key, score), score.items) for key, score in scores.items()]
    headline = {metric.name for metric in metrics if metric.headline}
    return [(record, items if record.metric in headline else None) for record, items in made]


def _word_pooling(encoder: Encoder, plan: MeasurePlan) -> str:
    """How words are pooled: by the mean that is the model's, or the plain one where that was asked for."""
    return "mean" if plan.pooling == "mean" else encoder.mean


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
class MeasuredPairs:
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


def select_pairs(
    corpus: ParallelCorpus, sides: Sequence[Sequence[str]], *, pairs: str = "all", maps: str = "all"
) -> MeasuredPairs:
    """The pairs of one model's languages, or every language of the first of two models with every one of the second.

    `pairs` and `maps` are all, or pivot: those with the first language of the corpus. Two models have no space in
    common: the same sentences in both are a pair like any other, and every pair has its map.
    """
    if len(sides) == 2:
        every = tuple((a, b) for a in sides[0] for b in sides[1])
        return MeasuredPairs(every, frozenset(every), **_equal_rows(corpus, every))
    pivot, shared = corpus.languages[0], set(corpus.pairs())
    known = [code for code in corpus.languages if code in sides[0]]
    asked = [(a, b) for a, b in combinations(known, 2) if pairs == "all" or a == pivot]
    there = tuple(pair for pair in asked if pair in shared)
    mapped = frozenset(pair for pair in there if maps == "all" or pair[0] == pivot)
    return MeasuredPairs(there, mapped, len(asked) - len(there), **_equal_rows(corpus, there))


def _equal_rows(corpus: ParallelCorpus, pairs: Sequence[Codes]) -> dict[str, Any]:
    """The number of rows that all pairs can be measured on, the pair that has no more, and what others have beyond."""
    shared = {pair: count for pair in pairs if (count := len(shared_rows(corpus, *pair)))}
    if not shared:
        return {}
    fewest = min(shared, key=lambda pair: shared[pair])
    rows = shared[fewest]
    return {"rows": rows, "fewest": fewest, "cut": sum(shared.values()) - rows * len(shared)}


def measure_spaces(
    spaces: Sequence[ModelSpace], names: ParallelCorpus | None, plan: MeasurePlan, asked: MeasuredPairs
) -> list[Work]:
    """What measures the first model's languages, and the pairs that are asked for."""
    corpus, ours, theirs = spaces[0].corpus, spaces[0].languages, spaces[-1].languages
    kinds = {measures[name].needs for name in plan.measures}
    work: list[Work] = []
    if "space" in kinds:
        work += [partial(measure_language, language, corpus, plan) for language in ours.values()]
    if kinds - {"space"}:
        work += [
            partial(
                measure_pair,
                ours[a],
                theirs[b],
                corpus,
                names,
                plan,
                fits=(a, b) in asked.mapped,
                most_rows=asked.rows,
            )
            for a, b in asked.pairs
            if (a, b) in asked.mapped or not all(measures[name].fits for name in plan.measures)
        ]
    return work


def run_measurements(work: Sequence[Work], progress: Progress) -> Made:
    """What all of it makes, in its order: as many pieces at a time as torch has threads."""
    made: Made = []
    threads = torch.get_num_threads()
    # The matrices are small: a thread a pair beats many threads inside each.
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1), ThreadPoolExecutor(max(threads, 1)) as pool:
            progress("measuring", 0, len(work))
            for number, found in enumerate(pool.map(lambda each: each(), work), 1):
                made += found
                progress("measuring", number, len(work))
    finally:
        torch.set_num_threads(threads)
    return made


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
    def codes(self) -> Codes:
        return self.source, self.target

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


@dataclass(frozen=True, eq=False)
class EncodedWords:
    """The words of one side of a dictionary inside a model: the row of each, and vectors."""

    rows: Mapping[str, int]
    vectors: Representations


def encode_words(encoder: Encoder, dictionary: Dictionary, side: int, *, cache: Cache | None) -> EncodedWords:
    """The words of a side of a dictionary at every layer, without those of which the tokenizer leaves nothing."""
    words = list(dict.fromkeys(entry[side] for entry in dictionary.train + dictionary.test))
    cut = encoder.tokeniser(words, spans=False, words=False).lengths > 0
    kept = [word for word, whole in zip(words, cut, strict=True) if whole]
    vectors = encoder.reading(dictionary.codes[side]).encode(kept, pooling=encoder.mean, cache=cache)
    return EncodedWords({word: row for row, word in enumerate(kept)}, vectors)


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


def measure_dictionary(dictionary: Dictionary, source: ModelSpace, target: ModelSpace, plan: MeasurePlan) -> Made:
    """P@K of a dictionary's test words at every layer.

    Entries of which a tokenizer leaves nothing are left out, and counted.
    """
    sides = source.words[dictionary.codes, 0], target.words[dictionary.codes, 1]
    ours, theirs = (side.vectors for side in sides)

    def rows(entries: Entries) -> NDArray[np.int64]:
        kept = [(a, b) for a, b in entries if a in sides[0].rows and b in sides[1].rows]
        return np.array([(sides[0].rows[a], sides[1].rows[b]) for a, b in kept], np.int64).reshape(-1, 2)

    train, test = rows(dictionary.train), rows(dictionary.test)
    dropped = dictionary.dropped + len(dictionary.train) + len(dictionary.test) - len(train) - len(test)
    two = source.encoder.digest != target.encoder.digest
    made: Made = []
    for layer in (layer for layer in ours.layers if layer in theirs.layers):
        left, right = (torch.from_numpy(np.array(side[layer], np.float32)) for side in (ours, theirs))
        scores = dictionary_precision(left, right, train=train, test=test, seed=plan.seed)
        shared = Record(
            measure=NAME,
            model=source.encoder.name,
            against=target.encoder.name if two else None,
            source=dictionary.source,
            target=dictionary.target,
            layer=layer,
            unit="dictionary word",
            pooling=source.encoder.mean,
            seed=plan.seed,
            corpus=f"dictionary {dictionary.source}-{dictionary.target}",
            digests={
                "model": source.encoder.digest,
                "corpus": dictionary.digest,
                **({"target_model": target.encoder.digest} if two else {}),
            },
            details={"train": len(train), "dropped": dropped},
            versions=versions(),
        )
        made += scored_records(shared, DICTIONARY_METRICS, scores)
    return made


def _pooling_notes(encoder: Encoder, plan: MeasurePlan) -> list[str]:
    """A description of what is left out of means of a model's tokens, and what else is not the same in all layers."""
    notes = []
    if encoder.output_layer is not None:
        prompt = f"after the prompt {encoder.prompt!r}" if encoder.prompt else "without a prompt"
        notes.append(
            f"the layer output of {encoder.name} is what SentenceTransformer.encode gives ({prompt}); the other "
            f"layers are of the bare texts, their tokens pooled by {plan.pooling or encoder.pooling}"
        )
    return notes + _sinks(encoder, plan)


def _marks(encoder: Encoder, languages: Sequence[str]) -> list[str]:
    """Which special token says a text's language, of a model that has such tokens."""
    marks = {code: encoder.reading(code).tokeniser.mark for code in languages}
    if not any(marks.values()):
        return []
    known = ", ".join(f"{code} ({mark})" for code, mark in marks.items() if mark)
    without = ", ".join(code for code, mark in marks.items() if not mark)
    said = f"; its tokenizer has no code for {without}, marked as it marks by default" if without else ""
    return [f"{encoder.name} marks each text by its language: {known}{said}"]


def _sinks(encoder: Encoder, plan: MeasurePlan) -> list[str]:
    sentences = plan.pooling or encoder.pooling
    if "sinkless" not in (sentences, encoder.mean):
        return []
    if plan.pooling == "mean":
        return ["attention sinks are counted in means, as --pooling mean says: one may outweigh all other tokens"]
    of_words = "" if sentences == "sinkless" else f" of words, and counted in sentences (pooled by {sentences})"
    return [
        f"attention sinks are left out of means{of_words}: in each layer the tokens over {SINK:g} times as long as the "
        "median of the others of their text (--pooling mean counts them)"
    ]


def describe_exclusions(texts: ParallelCorpus, skips: Iterable[Skip], languages: Iterable[Language]) -> list[str]:
    """Descriptions, with counts, of all that was left out or handled specially."""
    notes = [str(skip) for skip in (*texts.skipped, *skips)]
    for language in languages:
        if language.words is not None and language.words.lost:
            what = f"words of {language.code} that the tokenizer turns into nothing"
            notes.append(count_noun(language.words.lost, what))
        if language.words is not None and (sinks := len(language.words) - len(language.usable)):
            notes.append(
                count_noun(sinks, f"words of {language.code} that are attention sinks, in no measure of words")
            )
        if language.lone_sinks:
            what = f"texts of {language.code} with nothing but an attention sink, as with one token alone: such a long "
            what += "vector moves the centre of centred measures (remove such rows from the corpus)"
            notes.append(count_noun(language.lone_sinks, what))
        if language.cut:
            what = f"texts of {language.code} cut in the layer output, as the model's folder says"
            notes.append(count_noun(language.cut, what))
        if language.sentences.windowed:
            what = f"texts of {language.code} longer than the model's limit, read in windows"
            notes.append(count_noun(language.sentences.windowed, what))
    return notes


def describe_missing(plan: MeasurePlan, made: Sequence[Record], asked: MeasuredPairs) -> list[str]:
    """What had to be left out, counted: pairs of languages, numbers that are undefined, entries of dictionaries."""
    notes = [count_noun(asked.apart, "pairs of languages that share no row")] if asked.apart else []
    if asked.cut and asked.fewest is not None and asked.rows is not None:
        fewest = "–".join(asked.fewest)
        what = f"rows left out of pairs, so that all are compared over {asked.rows:,}: {fewest} shares no more"
        notes.append(count_noun(asked.cut, what))
    pairs = set(asked.pairs)
    if pairs - asked.mapped and any(measures[name].fits for name in plan.measures):
        what = "pairs without a fitted map: --maps all fits one for every pair"
        notes.append(count_noun(len(pairs - asked.mapped), what))
    reasons = {"words": "too few repeated word links", "names": "no names in both"}
    for name in plan.measures:
        if measures[name].needs in reasons:
            have = {(record.source, record.target) for record in made if record.measure == name}
            wanted = asked.mapped if measures[name].fits else pairs
            if wanted - have:
                notes.append(count_noun(len(wanted - have), f"pairs without {name}: {reasons[measures[name].needs]}"))
    undefined = Counter(f"{each.measure} {what}" for each in made for what in each.details.get("undefined", ()))
    notes += [f"{count} undefined: {what}" for what, count in undefined.items()]
    dropped = {(str(r.source), str(r.target)): r.details["dropped"] for r in made if r.measure == NAME}
    notes += [
        count_noun(
            count,
            f"entries of the {source}–{target} dictionary: a test word that is trained on, or one that the tokenizer "
            "turns into nothing",
        )
        for (source, target), count in dropped.items()
        if count
    ]
    return notes


def best_layer(records: Iterable[Record]) -> int | None:
    """The layer of the highest mean of what the best layer is chosen by: the first of `HEADLINE` that is there.

    Means are over pairs and directions of two languages, and of equal ones the lowest layer is taken; None without
    layers. Where the model has an output of its own, it is that: what its users compare.
    """
    found = RecordTable(records)
    output = next((record.layer for record in found if record.pooling == "output"), None)
    for wanted in HEADLINE:
        values: defaultdict[int, list[float]] = defaultdict(list)
        for record in found:
            own = (record.measure, record.metric, *sorted(record.options.items()))
            if own == wanted and record.layer is not None and record.source != record.target:
                values[record.layer].append(record.value)
        if values:
            means = {layer: sum(many) / len(many) for layer, many in values.items()}
            return output if output in means else max(means, key=lambda layer: (means[layer], -layer))
    return None


HEADLINE = (
    ("retrieval", "p@1", ("centering", "raw"), ("similarity", "cosine")),
    ("retrieval", "p@1", ("centering", "centred"), ("similarity", "cosine")),
    ("cka", "cka", ("form", "debiased")),
)
"""Measure, metric and options that the best layer is chosen by, as a page has it in `report.readings`."""
MOST_POINTS = 3000
NEIGHBOURS = 10


def project(space: ModelSpace, *, layer: int, seed: int, projection: str = "pca") -> dict[str, Any]:
    """A layer's sentences on a plane, as is and with each language's mean subtracted: points with language, row, text.

    Rows are sampled by `seed` so that at most 3,000 points are drawn, the same rows in every language. `explained` is
    the share of the variance each principal component carries, `purity` the share of nearest neighbours by cosine, in
    all dimensions, that have the same language.
    """
    corpus, languages = space.corpus, space.languages.values()
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
    codes = [code for code, _, _ in labels]
    raw, centered = (
        _view(np.concatenate(vectors), codes, projection, seed)
        for vectors in (blocks, [block - block.mean(axis=0) for block in blocks])
    )
    places = raw.pop("places")
    return {
        "method": projection,
        "layer": "output" if layer == space.encoder.output_layer else layer,
        **raw,
        "points": [
            {"x": x, "y": y, "language": code, "row": row, "text": text}
            for (x, y), (code, row, text) in zip(places, labels, strict=True)
        ],
        "centred": centered,
    }


def _view(vectors: NDArray[np.float64], codes: Sequence[str], projection: str, seed: int) -> dict[str, Any]:
    """Vectors on a plane, and how many of the nearest neighbours of one have its language, in all dimensions."""
    flat = projections[projection].call(vectors, seed=seed)
    found: dict[str, Any] = {"places": [[round(float(x), 4), round(float(y), 4)] for x, y in flat.places]}
    if "explained" in flat.about:
        found["explained"] = flat.about["explained"]
    if len(set(codes)) > 1 and len(vectors) > NEIGHBOURS:
        purity = clusters(torch.from_numpy(vectors.astype(np.float32)), codes, k=NEIGHBOURS, seed=seed)["purity"]
        found["purity"] = {"k": NEIGHBOURS, "value": round(purity.value, 4), "chance": round(purity.null or 0.0, 4)}
    return found
