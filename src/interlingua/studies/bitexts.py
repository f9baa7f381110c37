"""A bitext on its way to the aligner: two columns of text, how they are cut into words, and the lines left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import overload

from interlingua.errors import InputError, MissingExtra
from interlingua.readers.inmemory import text_pairs
from interlingua.readers.sentence_pairs import HEADER, SentencePair, open_bitext
from interlingua.registry import unknown
from interlingua.wordalign.spill import PackedTexts
from interlingua.words import Sentence, Span, by_character, field_spans, has_tokens, lacks_segmenter, token_spans

CUTS = ("auto", "words", "space")
"""`words`: words and punctuation by Unicode, Chinese and Thai segmented. `space`: at white space, as it stands."""
BAD_LINES = ("skip", "fail")
FOREIGN = 0.02
"""The share of rows with Chinese or Thai below which it is no language of the bitext, and needs no segmenter."""


@dataclass(frozen=True)
class LeftOut:
    """Lines that were not aligned, for one reason."""

    reason: str
    file: str
    lines: tuple[int, ...]

    def __str__(self) -> str:
        shown = ", ".join(str(line) for line in self.lines[:10]) + (", …" if len(self.lines) > 10 else "")
        some = f"{len(self.lines)} lines" if len(self.lines) > 1 else "1 line"
        return f"{some} left out: {self.reason} ({self.file}:{shown})"


class Words(Sequence[list[str]]):
    """The words of each row of a side, cut when asked for: the texts take less room than lists of their words."""

    def __init__(self, side: Side) -> None:
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
class Side(Sequence[Sentence]):
    """One language of a bitext: a text a row ('' where the row was left out), cut as `cut` says."""

    texts: Sequence[str]
    cut: str
    segmented: bool = True

    def words_of(self, text: str) -> list[str]:
        if self.cut == "space":
            return text.split()
        return [text[a:b] for a, b in token_spans(text, segmented=self.segmented)]

    @property
    def words(self) -> Words:
        return Words(self)

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
    source: Side
    target: Side
    left_out: tuple[LeftOut, ...]
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
        raise InputError("no line can be used", file=rows.name, value=str(rows.left_out[0]), remedy="Mend the file.")
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
    left = tuple(LeftOut(reason, file, tuple(lines)) for (reason, file), lines in bad.items())
    ours, theirs = (Side(texts, cut, segmented=not unsegmented) for texts in (source, target))
    return Rows(name, ours, theirs, left, characters)


def tokenised(rows: Rows) -> Iterator[str]:
    """The bitext as `source ||| target` with a space between words, a line a row, empty where a row was left out."""
    for ours, theirs in zip(rows.source.words, rows.target.words, strict=True):
        yield f"{' '.join(ours)} ||| {' '.join(theirs)}" if ours and theirs else ""
