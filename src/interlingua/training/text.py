"""Plain text for pretraining: which lines are taken, and their tokens as one stream on disk."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray
from tokenizers import Tokenizer

from interlingua.corpus import clean
from interlingua.engine.atomic_files import atomic_path
from interlingua.engine.child_processes import safe_child_environment
from interlingua.errors import InputError
from interlingua.paths import read_json, regular
from interlingua.readers.documents import open_document

RULES = ("short", "web address", "few letters", "repeated")
_SHORTEST = 8
_LETTERS = 0.6
_NO_LETTERS = regex.compile(r"[^\p{L}\p{M}]+")
_DIGIT = regex.compile(r"\p{Nd}")
# Harakat, superscript alef and tatweel: the tokenizer drops them too.
_UNWRITTEN = regex.compile("[\u064b-\u0652\u0670\u0640]")


def filter_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines that are worth learning from, in order; doing it twice changes nothing.

    Left out: lines of fewer than 8 characters, with "http" in them, with fewer letters than 60 % of their characters
    (tables, code, numbers), and lines seen before in all but their digits (menus, dates, headings).

    >>> lines = ["Version 2.0 is out now", "Version 3.1 is out now", "ok", "see http://a.example", "1 + 1 = 2 (!)"]
    >>> list(filter_lines(lines))
    ['Version 2.0 is out now']
    """
    return (line for line, rule in classify_lines(lines) if rule is None)


def classify_lines(lines: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Every line, in order, with the first of `RULES` that leaves it out; None for a line that is kept.

    >>> lines = ["Version 2.0 is out now", "Version 3.1 is out now", "ok", "1 + 1 = 2 (!)"]
    >>> [rule for _, rule in classify_lines(lines)]
    [None, 'repeated', 'short', 'few letters']
    """
    seen: set[bytes] = set()
    for line in lines:
        text = _UNWRITTEN.sub("", line)
        if len(text) < _SHORTEST:
            yield line, "short"
        elif "http" in text:
            yield line, "web address"
        elif len(_NO_LETTERS.sub("", text)) < _LETTERS * len(text):
            yield line, "few letters"
        else:
            key = hashlib.blake2b(_DIGIT.sub("0", text).encode(), digest_size=8).digest()
            yield line, "repeated" if key in seen else None
            seen.add(key)


_LINES_AT_ONCE = 20_000
_WORTH_PROCESSES = 8 << 20  # bytes of text: below, starting processes takes longer than the work
Progress = Callable[[str, int, int], None]
_Tokenised = tuple[NDArray[Any], NDArray[np.int64], dict[str, int]]


@dataclass(frozen=True)
class TokenStream:
    """The tokens of all languages end to end, each line closed by the separator.

    `starts` are the places where a sequence may begin; language i has `starts[begin[i]:begin[i + 1]]` and
    tokens `edges[i]:edges[i + 1]`. `lines` counts the lines of each language: `kept`, and left out by each rule of
    `tidying` where the text was tidied.
    """

    ids: NDArray[Any]
    starts: NDArray[np.int64]
    begin: NDArray[np.int64]
    edges: NDArray[np.int64]
    languages: tuple[str, ...]
    lines: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def sizes(self) -> NDArray[np.int64]:
        """The number of tokens of each language."""
        return np.diff(self.edges)

    def parted(self, share: float, *, length: int) -> tuple[TokenStream, TokenStream]:
        """The stream without the last `share` of each language's text, and that part alone; no token is in both."""
        rest: list[NDArray[np.int64]] = []
        held: list[NDArray[np.int64]] = []
        for number in range(len(self.languages)):
            starts = self.starts[self.begin[number] : self.begin[number + 1]]
            cut = self.edges[number + 1] - round(share * (self.edges[number + 1] - self.edges[number]))
            rest.append(starts[starts + length - 1 <= cut])
            held.append(starts[starts >= cut])
        return self._from(rest), self._from(held)

    def _from(self, starts: list[NDArray[np.int64]]) -> TokenStream:
        begin = np.concatenate([[0], np.cumsum([len(each) for each in starts])])
        return replace(self, starts=np.concatenate(starts), begin=begin)


def lines_of(path: Path, *, tidied: bool = False, limit: int | None = None) -> Iterator[str]:
    """The cleaned lines of a text file, plain or compressed, empty ones left out; `tidied` by `tidying.tidy`.

    No more than the first `limit` lines are looked at.
    """
    found = islice(_lines_of(path), limit)
    return filter_lines(found) if tidied else found


def _lines_of(path: Path) -> Iterator[str]:
    with open_document(path) as document:
        for _, line in document.lines():
            text = clean(line)
            if text is not None:
                yield text


def token_stream(
    tokenizer: Tokenizer,
    files: Mapping[str, Path],
    *,
    length: int,
    folder: Path,
    tidied: bool = False,
    limit: int | None = None,
    progress: Progress | None = None,
) -> TokenStream:
    """The files as a stream of tokens, made once and kept in `folder` under a key of tokenizer and files.

    `tidied` and `limit` are those of `lines_of`.
    """
    separator = token_id(tokenizer, "[SEP]")
    state = hashlib.blake2b(tokenizer.to_str().encode(), digest_size=12)
    digests = [(code, file_digest(path)) for code, path in files.items()]
    state.update(json.dumps([length, _counts(tidied), limit, digests]).encode())
    place = folder / f"tokens-{state.hexdigest()}"
    if (made := _made_before(place)) is not None:
        return made
    shutil.rmtree(place, ignore_errors=True)  # Damaged, if it is there.
    if not place.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(place) as beside:
            beside.mkdir()
            work = partial(_tokenise, tokenizer.to_str(), _dtype(tokenizer), length, separator, tidied, limit)
            _write(work, files, beside, length=length, tidied=tidied, progress=progress)
    stream = _made_before(place)
    if stream is None:
        raise InputError("the tokens of the text cannot be read", file=place, remedy="Remove that folder.")
    return stream


def _made_before(place: Path) -> TokenStream | None:
    """The stream that a folder holds; None where there is none, or it is damaged: it is made anew."""
    try:
        about = read_json(place / "about.json")
        return TokenStream(
            np.load(place / "ids.npy", mmap_mode="r"),
            np.load(place / "starts.npy"),
            np.array(about["begin"], np.int64),
            np.array(about["edges"], np.int64),
            tuple(about["languages"]),
            about["lines"],
        )
    except (OSError, ValueError, KeyError, TypeError, EOFError):
        return None


def _write(
    work: Callable[[Path], _Tokenised],
    files: Mapping[str, Path],
    place: Path,
    *,
    length: int,
    tidied: bool,
    progress: Progress | None,
) -> None:
    """Tokenise the files, large ones in a process each, and write them end to end."""
    pieces: list[NDArray[Any]] = []
    starts: list[NDArray[np.int64]] = []
    lines: dict[str, dict[str, int]] = {}
    begin, edges = [0], [0]
    with _mapped(work, list(files.values())) as tokenised:
        for (code, path), (ids, places, tally) in zip(files.items(), tokenised, strict=True):
            if len(ids) < length:
                problem = f"too little text in {code}" + (" after tidying" if tidied else "")
                raise InputError(problem, file=path, remedy=f"Give more than {length} tokens.")
            lines[code] = tally
            # A sequence must not run over into the next language; the last one ends with the text.
            final = len(ids) - (length - 1)
            usable = np.append(places[places < final], final)
            pieces.append(ids)
            starts.append(usable + edges[-1])
            edges.append(edges[-1] + len(ids))
            begin.append(begin[-1] + len(usable))
            if progress:
                progress("tokenising", len(pieces), len(files))
    np.save(place / "ids.npy", np.concatenate(pieces))
    np.save(place / "starts.npy", np.concatenate(starts))
    about = {"begin": begin, "edges": edges, "languages": list(files), "lines": lines}
    (place / "about.json").write_text(json.dumps(about), "utf-8")


def _dtype(tokenizer: Tokenizer) -> np.dtype[Any]:
    return np.dtype(np.uint16 if tokenizer.get_vocab_size() <= 1 << 16 else np.int32)


@contextmanager
def _mapped(work: Callable[[Path], _Tokenised], paths: Sequence[Path]) -> Iterator[Iterator[_Tokenised]]:
    workers = min(os.cpu_count() or 1, len(paths))
    if workers == 1 or sum(path.stat().st_size for path in paths) < _WORTH_PROCESSES:
        yield map(work, paths)
        return
    with safe_child_environment(), ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield pool.map(work, paths)


def _tokenise(
    tokenizer: str, dtype: np.dtype[Any], length: int, separator: int, tidied: bool, limit: int | None, path: Path
) -> _Tokenised:
    """The tokens of a file, a separator after each line; the places where a sequence may begin; the count of lines."""
    encode = Tokenizer.from_str(tokenizer).encode_batch_fast
    pieces: list[NDArray[Any]] = []
    places: list[NDArray[np.int64]] = []
    at = 0
    tally = _counts(tidied)
    source = _counted(islice(_lines_of(path), limit), tidied, tally)
    while lines := list(islice(source, _LINES_AT_ONCE)):
        encodings = encode(lines, add_special_tokens=False)
        counts = np.fromiter((len(e) for e in encodings), np.int64, len(encodings))
        bare = np.fromiter(chain.from_iterable(e.ids for e in encodings), dtype, counts.sum())
        pieces.append(np.insert(bare, np.cumsum(counts), separator))
        ends = np.cumsum(counts + 1)
        places.append(at + _places(np.concatenate([[0], ends[:-1]]), ends, length))
        at += int(ends[-1])
    if not pieces:
        return np.zeros(0, dtype), np.zeros(0, np.int64), tally
    return np.concatenate(pieces), np.concatenate(places), tally


def _counts(tidied: bool) -> dict[str, int]:
    return dict.fromkeys(("kept", *RULES) if tidied else ("kept",), 0)


def _counted(lines: Iterator[str], tidied: bool, tally: dict[str, int]) -> Iterator[str]:
    """The lines, tidied or as they are, counted on the way with those that were left out."""
    for line, rule in classify_lines(lines) if tidied else ((line, None) for line in lines):
        tally[rule or "kept"] += 1
        if rule is None:
            yield line


def file_digest(path: Path) -> str:
    """A hash of a file's bytes: a file that changed is never mistaken for the old one."""
    with regular(path).open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=12)).hexdigest()


def token_id(tokenizer: Tokenizer, name: str) -> int:
    """The id of a special token that must be there."""
    number = tokenizer.token_to_id(name)
    if number is None:
        raise InputError("the tokenizer lacks a token", value=name, remedy="Use one that interlingua pretrain made.")
    return int(number)


def _places(opening: NDArray[np.int64], ends: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Where sequences may begin: at every line, and at every half sequence inside a longer one, so all text is seen.

    A sequence of `length` is [CLS] and `length` - 1 tokens of text.
    """
    step = max(length // 2, 1)
    over = np.maximum(ends - opening - (length - 1), 0)
    counts = 1 + (over + step - 1) // step
    base = np.repeat(opening, counts)
    places: NDArray[np.int64] = base + step * (np.arange(len(base)) - np.repeat(np.cumsum(counts) - counts, counts))
    return places
