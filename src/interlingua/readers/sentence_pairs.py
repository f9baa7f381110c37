"""Bitext for an aligner, line by line: `source ||| target`, two-column TSV, or two files; bad lines are reported.

A corpus (`read_corpus`) may drop rows; an aligner's output has one line for every line of its input, so each line is
handed on with its number, and with what is wrong with it where it can't be used.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from interlingua.errors import InputError
from interlingua.plural_counts import count_noun
from interlingua.readers.corpus_builder import is_header, language_of
from interlingua.readers.documents import UNDECODABLE, Document, open_document
from interlingua.readers.file_names import parse

FORMATS = ("pipes", "tsv", "xl-wa", "files")
"""`source ||| target`; two columns; two columns and one of gold links; one file per side."""

REMEDIES = {
    "blank line": "Remove the line, or write both sides.",
    "no separator": "Write source ||| target, or source, a tab and target.",
    "more than one separator": "Leave one ||| or tab in the line.",
    "empty source": "Write both sides.",
    "empty target": "Write both sides.",
    "no words": "Write both sides in visible characters.",
    "undecodable bytes": "Give the file's encoding (--encoding cp1251), or convert it to UTF-8.",
    "no partner": "The two files have unequal numbers of lines; cut both alike.",
    "names of the languages": "",
}
"""What can be wrong with a line, and what to do about it; a first line that names the languages is no fault."""
HEADER = "names of the languages"

_SEPARATOR = re.compile(r"(?:^|(?<=\s))\|\|\|(?=\s|$)")
_LINKS = re.compile(r"\s*[0-9]+-[0-9]+(?:\s+[0-9]+-[0-9]+)*\s*")


@dataclass(frozen=True, slots=True)
class SentencePair:
    """One line of a bitext; where `problem` (a key of `REMEDIES`) is set, it can't be used and both sides are empty."""

    line: int
    source: str
    target: str
    problem: str = ""
    file: str = ""
    detail: str = ""

    def error(self) -> InputError:
        """What to raise where bad lines are fatal."""
        problem = f"{self.problem}: {self.detail}" if self.detail else self.problem
        return InputError(problem, file=self.file, line=self.line, remedy=REMEDIES[self.problem])


@dataclass(frozen=True)
class BitextReader:
    """An open bitext: its name, its format (one of `FORMATS`), and its lines, which can be walked once."""

    name: str
    format: str
    pairs: Iterator[SentencePair]
    languages: tuple[str, str] | None = None
    """Those that the first line names."""


@contextmanager
def open_bitext(
    source: str | Path,
    target: str | Path | None = None,
    *,
    format: str | None = None,
    encoding: str | None = None,
    stdin: BinaryIO | None = None,
) -> Iterator[BitextReader]:
    """The bitext in one file, or in one file per side where `target` is given; `-` is standard input.

    Plain or compressed. `format` is detected from the first lines where it is not given.

    >>> import io
    >>> with open_bitext("-", stdin=io.BytesIO("the cat ||| el gato\\nthe dog\\n".encode())) as bitext:
    ...     [(pair.line, pair.source, pair.target, pair.problem) for pair in bitext.pairs]
    [(1, 'the cat', 'el gato', ''), (2, '', '', 'no separator')]
    """
    if format is not None and format not in FORMATS:
        raise InputError("unknown format of a bitext", value=format, remedy=f"Known: {', '.join(FORMATS)}.")
    if (format == "files") != (target is not None) and format is not None:
        raise InputError(
            "one file where two are needed" if target is None else "two files where the format has one",
            value=format,
            remedy="Give two files, one a side, for --format files; one file for the others.",
        )
    if target is not None and str(source) == "-" and str(target) == "-":
        raise InputError("both sides are standard input", remedy="Give a file for one of them.")
    with ExitStack() as stack:
        first = stack.enter_context(_document(source, encoding, stdin))
        if target is not None:
            second = stack.enter_context(_document(target, encoding, stdin))
            yield BitextReader(f"{first.name}, {second.name}", "files", _two_files(first, second))
            return
        chosen = format or _told(first)
        header = _header(first, chosen)
        named = None if header is None else (language_of(header[0]), language_of(header[1]))
        languages = (named[0], named[1]) if named and named[0] and named[1] else None
        yield BitextReader(first.name, chosen, _one_file(first, chosen, header=header), languages)


@contextmanager
def _document(path: str | Path, encoding: str | None, stdin: BinaryIO | None) -> Iterator[Document]:
    from interlingua.readers.format_detection import missing_file

    if str(path) == "-":
        yield Document(stdin or sys.stdin.buffer, name="stdin", encoding=encoding)
        return
    if not Path(path).exists():
        raise missing_file(Path(path))
    with open_document(Path(path), encoding=encoding) as document:
        yield document


def _told(document: Document) -> str:
    """The format of most of the first lines: a bad first line must not decide."""
    lines = [line for line in re.split(r"\r\n|\r|\n", document.head)[:100] if line.strip()]
    pipes = sum(1 for line in lines if _SEPARATOR.search(line))
    tabs = [line.split("\t") for line in lines if "\t" in line]
    if pipes and pipes >= len(tabs):
        return "pipes"
    if tabs:
        linked = sum(1 for cells in tabs if len(cells) == 3 and _LINKS.fullmatch(cells[2]))
        return "xl-wa" if 2 * linked > len(tabs) else "tsv"
    document.check_head()
    raise InputError(
        "no line is a pair; it begins with",
        file=document.name,
        value=document.first_line,
        remedy="Give 'source ||| target' a line, two columns with a tab between, or two files, one a side.",
    )


def _header(document: Document, format: str) -> list[str] | None:
    """The cells of a first line that names the languages, or source and target, in place of sentences."""
    line = document.first_line
    cells = _SEPARATOR.split(line) if format == "pipes" else line.split("\t")
    pair = parse(document.path.name).pair if document.path else None
    return cells if len(cells) >= 2 and is_header(cells[:2], pair) else None


def _one_file(document: Document, format: str, *, header: list[str] | None) -> Iterator[SentencePair]:
    most = 3 if format == "xl-wa" else 2
    for number, text in document.lines(marked=True):
        if header is not None and text.strip():
            header = None
            yield SentencePair(number, "", "", HEADER, document.name)
            continue
        sides = _SEPARATOR.split(text) if format == "pipes" else text.split("\t")
        problem = "no separator" if len(sides) < 2 else "more than one separator" if len(sides) > most else ""
        if not text.strip():
            problem = "blank line"
        if UNDECODABLE in text:
            problem = "undecodable bytes"
        if problem:
            yield SentencePair(number, "", "", problem, document.name)
        else:
            yield _pair(number, sides[0], sides[1], document.name)


def _two_files(first: Document, second: Document) -> Iterator[SentencePair]:
    count = 0
    for left, right in zip_longest(first.lines(marked=True), second.lines(marked=True)):
        if left is None or right is None:
            (number, _), longer, shorter = (right, second, first) if left is None else (left, first, second)
            yield SentencePair(
                number, "", "", "no partner", longer.name, f"{shorter.name} has {count_noun(count, 'lines')}"
            )
            continue
        (number, source), (_, target) = left, right
        count = number
        for text, file in ((source, first.name), (target, second.name)):
            if UNDECODABLE in text:
                yield SentencePair(number, "", "", "undecodable bytes", file)
                break
        else:
            yield _pair(number, source, target, first.name if not source.strip() else second.name)


def _pair(line: int, source: str, target: str, file: str) -> SentencePair:
    source, target = source.strip(), target.strip()
    problem = "" if source and target else "empty target" if source else "empty source"
    return SentencePair(line, "", "", problem, file) if problem else SentencePair(line, source, target)
