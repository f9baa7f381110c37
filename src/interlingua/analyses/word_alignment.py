"""A bitext and an aligner to word links: statistical, neural, eflomal, saved, or from files."""

from __future__ import annotations

import html
import json
import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, overload

import numpy as np
from numpy.typing import NDArray

from interlingua.encoder import Encoder
from interlingua.encoder.devices import pick_device
from interlingua.engine.atomic_files import cannot_write, hidden_name, report_full_disk, write_atomically, write_text
from interlingua.errors import InputError, MissingExtra
from interlingua.paths import read_json
from interlingua.readers.documents import open_document
from interlingua.readers.format_detection import missing_file
from interlingua.readers.inmemory import text_pairs
from interlingua.readers.sentence_pairs import HEADER, SentencePair, open_bitext
from interlingua.registry import unknown
from interlingua.score import Scores
from interlingua.wordalign.eflomal import LONGEST, eflomal_links
from interlingua.wordalign.links import Links, write_pharaoh
from interlingua.wordalign.model import AlignerSettings, DiagonalModel, combine_directions
from interlingua.wordalign.neural import NeuralSettings, neural_links
from interlingua.wordalign.quality import Gold, LinkCounts, PairScores, count_links, quality, read_gold, score_pairs
from interlingua.wordalign.spill import PackedTexts
from interlingua.wordalign.symmetrize import SYMMETRISATIONS, symmetrize
from interlingua.wordalign.training import Iteration, align_both
from interlingua.wordalign.vocabulary import Sentences
from interlingua.words import Sentence, Span, by_character, field_spans, has_tokens, lacks_segmenter, token_spans

CUTS = ("auto", "words", "space")
"""`words`: words and punctuation by Unicode, Chinese and Thai segmented. `space`: at white space, as it stands."""
BAD_LINES = ("skip", "fail")
FOREIGN = 0.02
"""The share of rows with Chinese or Thai below which it is no language of the bitext, and needs no segmenter."""


@dataclass(frozen=True)
class SkippedLines:
    """Lines that were not aligned, for one reason."""

    reason: str
    file: str
    lines: tuple[int, ...]

    def __str__(self) -> str:
        shown = ", ".join(str(line) for line in self.lines[:10]) + (", …" if len(self.lines) > 10 else "")
        some = f"{len(self.lines)} lines" if len(self.lines) > 1 else "1 line"
        return f"{some} left out: {self.reason} ({self.file}:{shown})"


class SideWords(Sequence[list[str]]):
    """The words of each row of a side, cut when asked for: the texts take less room than lists of their words."""

    def __init__(self, side: BitextSide) -> None:
        self._side = side

    def __len__(self) -> int:
        return len(self._side.texts)

    def __iter__(self) -> Iterator[list[str]]:
        return map(self._side.words_of, self._side.texts)

    @overload
    def __getitem__(self, row: int) -> list[str]: ...
    @overload
    def __getitem__(self, row: slice) -> list[list[str]]: ...
    def __getitem__(self, row: int | slice) -> list[str] | list[list[str]]:
        if isinstance(row, slice):
            return [self._side.words_of(text) for text in self._side.texts[row]]
        return self._side.words_of(self._side.texts[row])


@dataclass(frozen=True)
class BitextSide(Sequence[Sentence]):
    """One language of a bitext: a text a row ('' where the row was left out), cut as `cut` says."""

    texts: Sequence[str]
    cut: str
    segmented: bool = True

    def words_of(self, text: str) -> list[str]:
        if self.cut == "space":
            return text.split()
        return [text[a:b] for a, b in token_spans(text, segmented=self.segmented)]

    @property
    def words(self) -> SideWords:
        return SideWords(self)

    def filled(self) -> list[bool]:
        """Whether each row has a word; its words are not looked for, which would take twenty times as long."""
        return [bool(text.strip()) if self.cut == "space" else has_tokens(text) for text in self.texts]

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, row: int) -> Sentence: ...
    @overload
    def __getitem__(self, row: slice) -> list[Sentence]: ...
    def __getitem__(self, row: int | slice) -> Sentence | list[Sentence]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        text = self.texts[row]
        return Sentence(text, self._spans(text))

    def _spans(self, text: str) -> list[Span]:
        return field_spans(text) if self.cut == "space" else token_spans(text, segmented=self.segmented)


@dataclass(frozen=True)
class Rows:
    """Both sides of a bitext, a row for every line of the input, and what was left out."""

    name: str
    source: BitextSide
    target: BitextSide
    left_out: tuple[SkippedLines, ...]
    characters: int  # rows cut into characters for want of a segmenter

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True)
class ReadingRules:
    """How bitext is read: its format and encoding, how it is cut, and what happens to bad lines.

    `cut` auto is `space` for `source ||| target` and for XL-WA, which are tokenised already, and wherever
    `indexed` says that other files count its words; `words` for TSV and for two files. `bad_lines` None skips
    lines, but fails where two files are of unequal length: that is seldom a bad line, and mostly a wrong file.
    """

    format: str | None = None
    encoding: str | None = None
    cut: str = "auto"
    bad_lines: str | None = None
    indexed: bool = False

    def __post_init__(self) -> None:
        if self.cut not in CUTS:
            raise unknown("way to cut text into words", self.cut, list(CUTS))
        if self.bad_lines is not None and self.bad_lines not in BAD_LINES:
            raise unknown("treatment of bad lines", self.bad_lines, list(BAD_LINES))

    @property
    def fail(self) -> bool:
        return self.bad_lines == "fail"

    def fatal(self, pair: SentencePair) -> bool:
        if pair.problem == HEADER:
            return False
        return self.fail or (pair.problem == "no partner" and self.bad_lines is None)

    def cut_of(self, format: str) -> str:
        if self.cut != "auto":
            return self.cut
        return "space" if self.indexed or format in ("pipes", "xl-wa") else "words"


def read_rows(bitext: object, target: str | Path | None, reading: ReadingRules) -> Rows:
    """The bitext in a file, in two, or in memory as pairs or two columns; an error where no line can be used."""
    if isinstance(bitext, str | Path):
        with open_bitext(bitext, target, format=reading.format, encoding=reading.encoding) as opened:
            rows = _gather(opened.name, opened.pairs, reading, reading.cut_of(opened.format))
    else:
        if target is not None:
            raise InputError("pairs of texts and a file of targets", remedy="Give one or the other.")
        rows = _gather("pairs", _numbered(text_pairs(bitext)), reading, reading.cut_of("pairs"))
    if len(rows.left_out) and sum(len(left.lines) for left in rows.left_out) == len(rows):
        raise InputError("no line can be used", file=rows.name, value=str(rows.left_out[0]), remedy="Correct the file.")
    return rows


def _numbered(pairs: Iterable[tuple[str, str]]) -> Iterator[SentencePair]:
    for number, (source, target) in enumerate(pairs, 1):
        # A line break inside a text would be two lines of output.
        ours, theirs = " ".join(source.split()), " ".join(target.split())
        problem = "" if ours and theirs else "empty target" if ours else "empty source"
        yield SentencePair(number, "" if problem else ours, "" if problem else theirs, problem, "pairs")


def _gather(name: str, pairs: Iterable[SentencePair], reading: ReadingRules, cut: str) -> Rows:
    source, target = PackedTexts(), PackedTexts()
    bad: dict[tuple[str, str], list[int]] = {}
    characters = unsegmented = 0
    script = ""
    for pair in pairs:
        if cut == "words" and not pair.problem and not (has_tokens(pair.source) and has_tokens(pair.target)):
            pair = replace(pair, source="", target="", problem="no words", file=name)  # noqa: PLW2901
        if pair.problem:
            if reading.fatal(pair):
                raise pair.error()
            bad.setdefault((pair.problem, pair.file), []).append(pair.line)
        source.append(pair.source)
        target.append(pair.target)
        if cut == "words":
            foreign = lacks_segmenter(pair.source) or lacks_segmenter(pair.target)
            unsegmented, script = unsegmented + (foreign is not None), foreign or script
            characters += foreign is not None or by_character(pair.source) or by_character(pair.target)
    if unsegmented > FOREIGN * len(source):
        raise MissingExtra("segment", f"finding words in {script} script")
    left = tuple(SkippedLines(reason, file, tuple(lines)) for (reason, file), lines in bad.items())
    ours, theirs = (BitextSide(texts, cut, segmented=not unsegmented) for texts in (source, target))
    return Rows(name, ours, theirs, left, characters)


def tokenised(rows: Rows) -> Iterator[str]:
    """The bitext as `source ||| target` with a space between words, one line per row, empty where a row was left
    out.
    """
    for ours, theirs in zip(rows.source.words, rows.target.words, strict=True):
        yield f"{' '.join(ours)} ||| {' '.join(theirs)}" if ours and theirs else ""


DIRECTIONS = ("forward", "backward")
Progress = Callable[[str, int, int], None]
Watch = Callable[[str, Iteration], None]


@dataclass(frozen=True)
class AlignerResult:
    """What a way gave: one set of links, and all it has to say.

    `likelihoods` are log p(target | source) and log p(source | target) by row.
    """

    links: Links
    likelihoods: tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]] | None = None
    iterations: dict[str, tuple[Iteration, ...]] = field(default_factory=dict)
    left_out: tuple[SkippedLines, ...] = ()
    notes: tuple[str, ...] = ()


class NumberedBitext:
    """The rows of a bitext, and those trained on beside it, as numbered words; numbered once, when first asked for."""

    def __init__(self, rows: Rows, also: Sequence[Rows] = (), *, device: str = "cpu") -> None:
        self.rows, self.also, self._device = rows, also, device

    @cached_property
    def source(self) -> Sentences:
        words = chain.from_iterable(text.source.words for text in (self.rows, *self.also))
        return Sentences.of(words, device=self._device)

    @cached_property
    def target(self) -> Sentences:
        words = chain.from_iterable(text.target.words for text in (self.rows, *self.also))
        return Sentences.of(words, device=self._device)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The numbers of words of each row of the bitext itself, on either side; (-1, -1) where it was left out."""
        count = len(self.rows)
        both = np.stack([self.source.lengths[:count], self.target.lengths[:count]], axis=1)
        both[(both == 0).any(axis=1)] = -1
        return both

    @property
    def left_out(self) -> tuple[SkippedLines, ...]:
        return tuple(left for text in (self.rows, *self.also) for left in text.left_out)

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(
            f"{text.characters} rows of {text.name} have a script without spaces and without a segmenter here "
            "(Japanese kana, Lao, Khmer, Burmese, Tibetan; Chinese and Thai without the extra 'segment'): it is cut "
            "into characters"
            for text in (self.rows, *self.also)
            if text.characters
        )


def train_links(
    text: NumberedBitext,
    linking: AlignerChoice,
    *,
    device: str,
    watch: Watch | None,
    staged: PartialModelFolder | None = None,
) -> AlignerResult:
    """Links of a model trained on the text, both directions; the models are kept where there is a place for them."""
    keep = None if staged is None else staged.keep
    forward, backward = align_both(text.source, text.target, linking.diagonal, device=device, progress=watch, keep=keep)
    count = len(text.rows)
    return AlignerResult(
        combine_directions(forward.applied, backward.applied, linking.symmetrize, rows=count),
        likelihoods=(forward.applied.log_likelihood[:count], backward.applied.log_likelihood[:count]),
        iterations={name: one.iterations for name, one in zip(DIRECTIONS, (forward, backward), strict=True)},
    )


def _first(links: Links, rows: int) -> Links:
    """The links of the first rows: those of the bitext itself, not of the text beside it."""
    last = int(np.searchsorted(links.row, rows))
    return Links(links.row[:last], links.source[:last], links.target[:last])


class PartialModelFolder:
    """A folder of a trained model on its way: written beside, and there whole when it is all done, or not at all."""

    def __init__(self, folder: Path, cut: str) -> None:
        self._folder, self._cut = folder, cut
        self._beside = hidden_name(folder)

    def __enter__(self) -> PartialModelFolder:
        return self

    def keep(self, direction: str, model: DiagonalModel) -> None:
        """Write one direction."""
        try:
            with report_full_disk(self._folder.parent):
                model.save(self._beside / direction)
        except OSError as error:
            raise cannot_write(self._folder.parent, error) from error

    def done(self) -> None:
        """Say how the text was cut, and put the folder where it belongs."""
        try:
            write_text(self._beside / "align.json", json.dumps({"tokenize": self._cut}))
            os.rename(self._beside, self._folder)
        except OSError as error:
            raise cannot_write(self._folder.parent, error) from error

    def __exit__(self, *exception: object) -> None:
        shutil.rmtree(self._beside, ignore_errors=True)


@dataclass(frozen=True)
class SavedAligner:
    """A trained model of both directions, and how the text it was trained on was cut."""

    models: tuple[DiagonalModel, DiagonalModel]
    cut: str

    @classmethod
    def load(cls, folder: Path) -> SavedAligner:
        about = folder / "align.json"
        if not about.is_file():
            raise InputError("no saved aligner here", file=folder, remedy="Give a folder that --save made.")
        try:
            cut = read_json(about)["tokenize"]
        except (ValueError, KeyError, TypeError):
            cut = None
        if cut not in CUTS[1:]:
            raise InputError("not the settings of a saved aligner", file=about, remedy="Train and save it anew.")
        forward, backward = (DiagonalModel.load(folder / name) for name in DIRECTIONS)
        return cls((forward, backward), cut)


def apply_saved_aligner(saved: SavedAligner, rows: Rows, how: str, *, device: str) -> AlignerResult:
    """Links of a loaded model."""
    forward = saved.models[0].apply(rows.source.words, rows.target.words, device=device)
    backward = saved.models[1].apply(rows.target.words, rows.source.words, device=device, turned=True)
    likelihoods = (forward.log_likelihood, backward.log_likelihood)
    return AlignerResult(combine_directions(forward, backward, how), likelihoods=likelihoods)


def link_by_encoder(
    encoder: Encoder, rows: Rows, settings: NeuralSettings, *, progress: Progress | None
) -> AlignerResult:
    """Links of an encoder's vectors."""
    bar = None if progress is None else (lambda done, total: progress("aligning", done, total))
    found = neural_links(encoder, rows.source, rows.target, settings, progress=bar)
    notes = [
        f"{encoder.name}, layer {settings.layer} (0 is the embedding output), {settings.method} of {settings.unit}s"
    ]
    if any(found.lost):
        notes.append(f"{sum(found.lost)} words have no link: the tokenizer of {encoder.name} turns them into nothing")
    return AlignerResult(found.links, notes=tuple(notes))


def link_by_eflomal(text: NumberedBitext, how: str) -> AlignerResult:
    """Links by eflomal, both directions."""
    source = list(chain.from_iterable(part.source.words for part in (text.rows, *text.also)))
    target = list(chain.from_iterable(part.target.words for part in (text.rows, *text.also)))
    found, count = eflomal_links(source, target), len(text.rows)
    lines = tuple(row + 1 for row in found.too_long if row < count)
    left = (
        (SkippedLines(f"more than {LONGEST} words, which eflomal passes over", text.rows.name, lines),) if lines else ()
    )
    return AlignerResult(symmetrize(_first(found.forward, count), _first(found.backward, count), how), left_out=left)


def read_given_links(
    paths: Sequence[str | Path], text: NumberedBitext, reading: ReadingRules, how: str, *, base: int
) -> AlignerResult:
    """Links from files: one set, or one a direction."""
    read = [read_links(path, text, reading, base=base) for path in paths]
    left = tuple(one for path, links in zip(paths, read, strict=True) for one in unusable(links, str(path)))
    links = [one.possible for one in read]
    return AlignerResult(links[0] if len(links) == 1 else symmetrize(links[0], links[1], how), left_out=left)


def read_links(path: str | Path, text: NumberedBitext, reading: ReadingRules, *, base: int | None) -> Gold:
    """The links of a file for this bitext; bad lines as the reading says."""
    if not Path(path).exists():
        raise missing_file(Path(path))
    with open_document(Path(path), encoding=reading.encoding) as document:
        links = read_gold(
            document.lines(marked=True),
            file=document.name,
            lengths=text.lengths.tolist(),
            base=base,
            fail=reading.fail,
        )
    if links.unequal is not None and reading.bad_lines is None:
        raise links.unequal
    return links


def unusable(links: Gold, file: str) -> Iterator[SkippedLines]:
    """The bad lines of a file of links, by what is wrong with them."""
    lines: dict[str, list[int]] = {}
    for error in links.bad:
        lines.setdefault(error.problem.partition(" (")[0], []).append(error.line or 0)
    for problem, where in lines.items():
        yield SkippedLines(problem, file, tuple(where))


METHODS = ("diagonal", "neural", "eflomal")


@dataclass(frozen=True)
class Alignment:
    """What aligning a bitext found: links for every line of it, and all there is to know of how.

    `rows` are the texts and words that links are between. `iterations` are those of training, by direction. `left_out`
    are the lines that could not be used, here and in the files of links and gold. `quality` and the `counts` it is
    made of are there where gold was given; `scores` are of each line.
    """

    links: Links
    rows: Rows
    base: int = 0
    iterations: dict[str, tuple[Iteration, ...]] = field(default_factory=dict)
    left_out: tuple[SkippedLines, ...] = ()
    notes: tuple[str, ...] = ()
    quality: Scores | None = None
    counts: LinkCounts | None = None
    scores: PairScores | None = None

    def lines(self) -> Iterator[str]:
        """Pharaoh lines, one for every line of the input, empty where it has no links."""
        return iter(write_pharaoh(self.links, len(self.rows), base=self.base))

    @property
    def at_chance(self) -> bool | None:
        """Whether the AER is not shown to be below that of other rows' links; None without gold or another row."""
        score = (self.quality or {}).get("aer")
        return None if score is None or score.null is None else score.high is None or score.high >= score.null

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists and numbers, for JSON."""
        judged = {
            name: {"value": score.value, "low": score.low, "high": score.high, "null": score.null, "rows": score.n}
            for name, score in (self.quality or {}).items()
        }
        return {
            "links": list(self.lines()),
            "base": self.base,
            "iterations": {name: [asdict(one) for one in passes] for name, passes in self.iterations.items()},
            "skipped": [{"count": len(left.lines), **asdict(left)} for left in self.left_out],
            "notes": list(self.notes),
            "quality": judged or None,
            "at_chance": self.at_chance,
        }

    def __repr__(self) -> str:
        return f"Alignment({len(self.links)} links of {len(self.rows)} pairs)"

    def _repr_html_(self) -> str:
        """For a notebook: what was found, and the links of the first ten lines."""
        judged = "".join(f"<br>{html.escape(name)} {score.value:.3f}" for name, score in (self.quality or {}).items())
        first = "".join(f"<li><code>{html.escape(line)}</code></li>" for line in islice(self.lines(), 10))
        return f"<p>{html.escape(repr(self))}{judged}</p><ol>{first}</ol>"


@dataclass(frozen=True)
class AlignerChoice:
    """What links the words of a bitext.

    `method` is diagonal (fast_align's model, trained on the text, with the settings `diagonal`), neural (the vectors of
    `model`, an encoder by its name or loaded, with the settings `neural`) or eflomal; the first and last have two
    directions, made one as `symmetrize` says.
    """

    method: str = "diagonal"
    model: str | Encoder = "embedded"
    device: str | None = None
    symmetrize: str = "intersect"
    diagonal: AlignerSettings = field(default_factory=AlignerSettings)
    neural: NeuralSettings = field(default_factory=NeuralSettings)
    precision: str | None = None
    trust_remote_code: bool = False
    allow_pickle: bool = False

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise unknown("aligner", self.method, list(METHODS))
        if self.symmetrize not in SYMMETRISATIONS:
            raise unknown("symmetrisation", self.symmetrize, list(SYMMETRISATIONS))

    @property
    def named(self) -> str:
        """What links: the aligner, and for `neural` its model."""
        model = self.model if isinstance(self.model, str) else self.model.name
        return f"{self.method} {model if self.method == 'neural' else ''}"

    def encoder(self) -> Encoder:
        """The encoder whose vectors link."""
        if isinstance(self.model, Encoder):
            return self.model
        return Encoder.load(
            self.model,
            device=str(pick_device(self.device)),
            precision=self.precision,
            trust_remote_code=self.trust_remote_code,
            allow_pickle=self.allow_pickle,
        )


@dataclass(frozen=True)
class GoldLinks:
    """A file of gold links, the number of the first word in it (None: as its format has it), and a seed of draws."""

    file: str | Path
    base: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class AlignmentFiles:
    """Where links, scores of lines, the text as cut into words and the trained model are written; None: nowhere."""

    links: str | Path | None = None
    scores: str | Path | None = None
    tokens: str | Path | None = None
    model: str | Path | None = None

    def write(self, found: Alignment) -> None:
        """Write what was found, each file beside and renamed; the model is kept as it is trained."""
        _write([(self.scores, _score_lines(found.scores)), (self.tokens, tokenised(found.rows)),
                (self.links, found.lines())])  # fmt: skip


def align(
    bitext: object,
    target: str | Path | None = None,
    *,
    linking: AlignerChoice | None = None,
    saved: str | Path | None = None,
    links: Sequence[str | Path] = (),
    base: int = 0,
    also: Sequence[str | Path] = (),
    reading: ReadingRules | None = None,
    gold: GoldLinks | None = None,
    files: AlignmentFiles | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Alignment:
    """Which words translate each other in a bitext: one set of links for every line of it.

    `bitext` is a file of `source ||| target` lines or of two columns (or the source's file, with `target` the other),
    `-` for standard input, or pairs of texts. Its words are linked as `linking` says, by a `saved` model instead of one
    that is trained here, or are `links` from elsewhere: one file to be converted and judged, or one a direction to be
    symmetrised. `also` is more text to train on. `gold` gives `quality`; `base` is the number of the first word in
    `links` and in what is written. Nothing is written before all is done.
    """
    linking, files = linking or AlignerChoice(), files or AlignmentFiles()
    reading = replace(reading or ReadingRules(), indexed=bool(links) or gold is not None)
    loaded = None if saved is None else SavedAligner.load(Path(saved))
    if loaded is not None and reading.cut == "auto":
        reading = replace(reading, cut=loaded.cut, indexed=False)
    place = str(pick_device(linking.device))
    encoder = linking.encoder() if linking.method == "neural" and not links else None
    neural = linking.neural if encoder is None else linking.neural.checked(encoder)
    # Other files count the words of the bitext, not those of the text beside it, which has a form of its own.
    beside = replace(reading, format=None, indexed=False)
    rows = read_rows(bitext, target, reading)
    text = NumberedBitext(rows, [read_rows(path, None, beside) for path in also], device=place)
    truth = None if gold is None else read_links(gold.file, text, reading, base=gold.base)
    with ExitStack() as stack:
        staged = (
            None if files.model is None else stack.enter_context(PartialModelFolder(Path(files.model), rows.source.cut))
        )
        if links:
            found = read_given_links(links, text, reading, linking.symmetrize, base=base)
        elif encoder is not None:
            found = link_by_encoder(encoder, rows, neural, progress=progress)
        elif linking.method == "eflomal":
            found = link_by_eflomal(text, linking.symmetrize)
        elif loaded is not None:
            found = apply_saved_aligner(loaded, rows, linking.symmetrize, device=place)
        else:
            found = train_links(text, linking, device=place, watch=watch, staged=staged)
        result = _result(found, text, base, gold, truth)
        files.write(result)
        if staged is not None:
            staged.done()  # Last: a model that is there is not written again, and the files are.
    return result


def _result(
    found: AlignerResult, text: NumberedBitext, base: int, gold: GoldLinks | None, truth: Gold | None
) -> Alignment:
    counts = quality_of = None
    unused: tuple[SkippedLines, ...] = ()
    if gold is not None and truth is not None:
        counts = count_links(found.links, truth)
        quality_of = quality(counts, seed=gold.seed)
        unused = tuple(unusable(truth, str(gold.file)))
    return Alignment(
        found.links,
        text.rows,
        base,
        found.iterations,
        (*text.left_out, *found.left_out, *unused),
        (*text.notes, *found.notes),
        quality_of,
        counts,
        score_pairs(text.lengths, found.links, *(found.likelihoods or (None, None))),
    )


def _write(files: list[tuple[str | Path | None, Iterator[str]]]) -> None:
    """Write the files that have a name, each beside and renamed."""
    for path, lines in files:
        if path is None:
            continue
        place = Path(path)

        def write(file: BinaryIO, lines: Iterator[str] = lines) -> None:
            file.writelines(f"{line}\n".encode("utf-8", "backslashreplace") for line in lines)

        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(place, write)
        except OSError as error:
            raise cannot_write(place.parent, error) from error


def _score_lines(scores: PairScores | None) -> Iterator[str]:
    """Mean log-probability of a word and share of words linked, one line per row; empty where a row was left out."""
    assert scores is not None
    for likelihood, linked in zip(scores.likelihood.tolist(), scores.linked.tolist(), strict=True):
        first = "" if math.isnan(likelihood) else f"{likelihood:.4f}"
        yield "" if math.isnan(linked) else f"{first}\t{linked:.4f}"
