"""The explorer: requests in, plain answers out. It knows models and a corpus, and nothing of HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua import languages as codes
from interlingua.analyses.word_alignment import SavedAligner
from interlingua.corpus import ParallelCorpus
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.explorer.corpus_index import Band, CorpusIndex
from interlingua.explorer.encoded_text import ModelReading, read, words_of
from interlingua.explorer.heads import Head
from interlingua.explorer.language_detection import LanguageDetector, doubt
from interlingua.explorer.layer_comparison import LINKINGS, WEIGHINGS, LayerComparison, compare
from interlingua.explorer.requests import (
    LONGEST,
    HeadAsked,
    NeighboursAsked,
    PairRequest,
    RowsAsked,
    Texts,
    known_language,
    parse_request,
)
from interlingua.registry import unknown
from interlingua.wordalign.model import combine_directions

Answer = dict[str, Any]
HOW = "grow-diag-final-and"
"""How the two directions of the statistical aligner become one set of links."""
_SHOWN = 400  # characters of a sentence of the corpus


@dataclass(frozen=True)
class Explorer:
    """One model or two over a corpus, task heads, and a statistical aligner where one was given."""

    shelves: tuple[CorpusIndex, ...]
    corpus: ParallelCorpus
    heads: tuple[Head, ...] = ()
    aligner: SavedAligner | None = None
    notes: tuple[str, ...] = ()

    @property
    def routes(self) -> Mapping[str, Callable[[object], Answer]]:
        """The kinds of requests, under their names."""
        return {"pair": self.pair, "neighbours": self.neighbours, "head": self.head, "rows": self.rows}

    def setup(self) -> Answer:
        """What the page has to know before anything is asked."""
        return {
            "models": [_about(shelf.encoder) for shelf in self.shelves],
            "corpus": {"name": self.corpus.name, "rows": len(self.corpus)},
            "languages": [{"code": code, "name": codes.name(code)} for code in self.corpus.languages],
            "heads": [head.about() for head in self.heads],
            "aligner": self.aligner is not None,
            "weighings": list(WEIGHINGS),
            "linkings": list(LINKINGS),
            "longest": LONGEST,
            "notes": list(self.notes),
        }

    def warm(self) -> None:
        """Answer the page's first requests once, before anyone waits for them."""
        pair = self.corpus.pairs()[0]
        row = int(self.corpus.pair(*pair).rows[0])
        _ = self._detector
        texts = [str(self.corpus.texts[code][row]) for code in pair]
        languages = {"source_language": pair[0], "target_language": pair[1]}
        try:
            self.pair({"source": texts[0], "target": texts[1], **languages})
            self.neighbours({"text": texts[0], "language": pair[0]})
        except InputError:  # A first row longer than a request may be: nobody will ask for it.
            return
        for head in self.heads:
            with suppress(InputError):  # One that finds nothing in it has read it all the same.
                head.explain((texts[0], texts[1]), (texts[0], texts[1]), pair)

    def pair(self, given: object) -> Answer:
        """Two texts in each model: words with sub-words, and at every layer similarity, attribution, links and flow."""
        asked = parse_request(given, PairRequest)
        source, target = self._languages(asked)
        found = []
        for shelf in self.shelves:
            both = read(shelf.encoder, [asked.source, asked.target])
            centres = (shelf.centre(source, centred=asked.centred), shelf.centre(target, centred=asked.centred))
            levels = compare(both[0], both[1], centres, weighing=asked.weighing, linking=asked.linking)
            band = shelf.band(source, target, asked.centred)
            found.append(
                {
                    "words": [_words(side) for side in both],
                    "layers": [
                        {**_level(level), "standing": describe_cosine(level.cosine, band, layer)}
                        for layer, level in enumerate(levels)
                    ],
                    "unrelated": _rounded(band.unrelated),
                    "translations": _rounded(band.translations),
                    "band_pairs": band.n,
                }
            )
        doubts = self._doubts(asked, (source, target))
        return {"models": found, "statistical": self._statistical(asked), "doubts": doubts}

    def neighbours(self, given: object) -> Answer:
        """The nearest sentences to a text at one layer, language by language, in each model."""
        asked = parse_request(given, NeighboursAsked)
        language = known_language(asked.language, self.corpus.languages)
        row = self._row(asked.row, language, asked.text)
        found = []
        for shelf in self.shelves:
            layer = _layer(asked.layer, shelf.encoder)
            (own,) = read(shelf.encoder, [asked.text])
            vector = own.sentence[layer] - shelf.centre(language, centred=asked.centred)[layer]
            groups = []
            for code in self.corpus.languages:
                # In its own language a row's nearest is itself: it is asked for and left out.
                same = code == language and row is not None
                near, rank = shelf.neighbours(
                    vector, layer, code, centred=asked.centred, count=asked.count + same, row=None if same else row
                )
                kept = [each for each in near if not (same and each.row == row)][: asked.count]
                shown = [{"row": each.row, "text": _short(each.text), "cosine": round(each.cosine, 4)} for each in kept]
                groups.append({"language": code, "found": shown, "rank": rank, "of": len(shelf.corpus.rows_of(code))})
            found.append({"layer": layer, "languages": groups})
        return {"models": found, "row": row}

    def head(self, given: object) -> Answer:
        """What a task head looks at in both texts."""
        asked = parse_request(given, HeadAsked)
        self._languages(asked)
        by_name = {head.name: head for head in self.heads}
        if asked.head not in by_name:
            if not by_name:
                raise InputError("no task head is loaded", remedy="Start with --head nli=DIR.")
            raise unknown("task head", asked.head, list(by_name))
        names = (asked.source_language or "first", asked.target_language or "second")
        return by_name[asked.head].explain(
            (asked.source, asked.target), (asked.source_second, asked.target_second), names, label=asked.label or None
        )

    def rows(self, given: object) -> Answer:
        """Rows that both languages have and that hold a piece of text in either, from a row on."""
        asked = parse_request(given, RowsAsked)
        for code in (asked.source_language, asked.target_language):
            if known_language(code, self.corpus.languages) is None:
                raise InputError("rows are of two languages of the corpus", remedy="Choose both languages.")
        ours, theirs = (self.corpus.texts[code] for code in (asked.source_language, asked.target_language))
        wanted, following = asked.find.casefold(), None
        found: list[Answer] = []
        for row in range(min(asked.start, len(ours)), len(ours)):
            source, target = ours[row], theirs[row]
            if source is None or target is None:
                continue
            if wanted and wanted not in source.casefold() and wanted not in target.casefold():
                continue
            if len(found) == asked.count:
                following = row
                break
            found.append({"row": row, "source": source, "target": target})
        return {"rows": found, "next": following, "of": len(ours)}

    def _languages(self, asked: Texts) -> tuple[str | None, str | None]:
        languages = self.corpus.languages
        return known_language(asked.source_language, languages), known_language(asked.target_language, languages)

    @cached_property
    def _detector(self) -> LanguageDetector:
        return LanguageDetector.of(self.corpus)

    def _doubts(self, asked: Texts, languages: tuple[str | None, str | None]) -> list[Answer]:
        """What is to be said of typed texts that are not in the language chosen for them."""
        found: list[Answer] = []
        sides = (("source", "first", asked.source), ("target", "second", asked.target))
        for (side, name, text), language in zip(sides, languages, strict=True):
            if self._row(asked.row, language, text) is None:
                said = doubt(self._detector, text, language, name)
                found += [] if said is None else [{"side": side, **said}]
        return found

    def _row(self, row: int, language: str | None, text: str) -> int | None:
        """The row, if the text still is what stands there; an edited one has no translation in the corpus."""
        if language is None or not 0 <= row < len(self.corpus) or self.corpus.texts[language][row] != text:
            return None
        return row

    def _statistical(self, asked: PairRequest) -> list[list[int]] | None:
        """Links of the statistical aligner, whose source is the first text."""
        if self.aligner is None:
            return None
        sides = [[[text[a:b] for a, b in words_of(text)]] for text in (asked.source, asked.target)]
        forward = self.aligner.models[0].apply(sides[0], sides[1])
        backward = self.aligner.models[1].apply(sides[1], sides[0], turned=True)
        links = combine_directions(forward, backward, HOW)
        return [[int(i), int(j)] for i, j in zip(links.source, links.target, strict=True)]


def describe_cosine(cosine: float, band: Band, layer: int) -> str:
    """Where a cosine lies: among `unrelated` sentences, `translations`, `both` or `neither`; "" where no pair is known.

    >>> band = Band(np.array([[-0.3, 0.0, 0.33]]), np.array([[0.29, 0.6, 0.9]]), 10)
    >>> [describe_cosine(cosine, band, 0) for cosine in (0.1, 0.31, 0.5)]
    ['unrelated', 'both', 'translations']
    """
    if not band.n:
        return ""
    unrelated, translations = cosine <= band.unrelated[layer, 2], cosine >= band.translations[layer, 0]
    return ("both" if unrelated else "translations") if translations else "unrelated" if unrelated else "neither"


def _about(encoder: Encoder) -> Answer:
    about = {"name": encoder.name, "layers": len(encoder.layers), "dim": encoder.dim, "pooling": encoder.pooling}
    return about | {"reads": encoder.room, "device": str(encoder.device)}


def _layer(layer: int, encoder: Encoder) -> int:
    """The number of a layer, negative ones from the end; past a shallower model's last layer, its last."""
    count = len(encoder.layers)
    return min(layer, count - 1) if layer >= 0 else max(count + layer, 0)


def _words(reading: ModelReading) -> list[Answer]:
    return [
        {"text": text, "pieces": [[piece.text, piece.known] for piece in pieces]}
        for text, pieces in zip(reading.written, reading.pieces, strict=True)
    ]


def _level(level: LayerComparison) -> Answer:
    flows = [] if level.flow is None else level.flow.strongest(level.flow.plan.size)
    return {
        "cosine": round(level.cosine, 4),
        "explained": round(level.explained, 4),
        "source": _rounded(level.source),
        "target": _rounded(level.target),
        "rest": [round(value, 5) for value in level.rest],
        "links": [[i, j, round(float(level.similar[i, j]), 4)] for i, j in level.links],
        "flows": [[i, j, round(share, 5), round(float(level.similar[i, j]), 4)] for i, j, share in flows],
        "transport": None if level.flow is None else round(level.flow.score, 4),
    }


def _rounded(values: NDArray[np.float64]) -> list[Any]:
    rounded: list[Any] = np.round(values, 5).tolist()
    return rounded


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def shelf_notes(corpus: ParallelCorpus, shelves: Sequence[CorpusIndex]) -> tuple[str, ...]:
    """What was left out of the corpus, and how sentences are made of tokens, as descriptions."""
    poolings = {shelf.encoder.pooling for shelf in shelves} - {"mean"}
    notes = [str(skip) for skip in corpus.skipped]
    if poolings:
        notes.append(
            f"sentences are pooled by {', '.join(sorted(poolings))}; "
            "what words add is a part of the cosine of means over tokens"
        )
    return tuple(notes)
