"""Plain text, a file a language, as one stream of token ids with the places where a sequence may begin."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from interlingua.corpus import clean
from interlingua.errors import InputError
from interlingua.readers.documents import opened
from interlingua.training.tidying import tidy

_LINES_AT_ONCE = 20_000
_WORTH_PROCESSES = 8 << 20  # bytes of text: below, starting processes takes longer than the work
Progress = Callable[[str, int, int], None]
_Tokenised = tuple[NDArray[Any], NDArray[np.int64]]


@dataclass(frozen=True)
class TokenStream:
    """The tokens of all languages end to end, each line closed by the separator.

    `starts` are the places where a sequence may begin; language i has `starts[begin[i]:begin[i + 1]]` and
    tokens `edges[i]:edges[i + 1]`.
    """

    ids: NDArray[Any]
    starts: NDArray[np.int64]
    begin: NDArray[np.int64]
    edges: NDArray[np.int64]
    languages: tuple[str, ...]

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


def lines_of(path: Path, *, tidied: bool = False) -> Iterator[str]:
    """The cleaned lines of a text file, plain or compressed, empty ones left out; `tidied` by `tidying.tidy`."""
    found = _lines_of(path)
    return tidy(found) if tidied else found


def _lines_of(path: Path) -> Iterator[str]:
    with opened(path) as document:
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
    progress: Progress | None = None,
) -> TokenStream:
    """The files as a stream of tokens, made once and kept in `folder` under a key of tokenizer and files."""
    separator = token_id(tokenizer, "[SEP]")
    state = hashlib.blake2b(tokenizer.to_str().encode(), digest_size=12)
    state.update(json.dumps([length, tidied, [(code, file_digest(path)) for code, path in files.items()]]).encode())
    place = folder / f"tokens-{state.hexdigest()}"
    if not place.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=".tokens-", dir=folder))
        try:
            _write(tokenizer, files, beside, length=length, separator=separator, tidied=tidied, progress=progress)
            os.rename(beside, place)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
    about = json.loads((place / "about.json").read_text("utf-8"))
    return TokenStream(
        np.load(place / "ids.npy", mmap_mode="r"),
        np.load(place / "starts.npy"),
        np.array(about["begin"], np.int64),
        np.array(about["edges"], np.int64),
        tuple(about["languages"]),
    )


def _write(
    tokenizer: Tokenizer,
    files: Mapping[str, Path],
    place: Path,
    *,
    length: int,
    separator: int,
    tidied: bool,
    progress: Progress | None,
) -> None:
    """Tokenise the files, large ones in a process each, and write them end to end."""
    dtype = np.uint16 if tokenizer.get_vocab_size() <= 1 << 16 else np.int32
    work = partial(_tokenise, tokenizer.to_str(), separator, length, tidied, np.dtype(dtype))
    pieces: list[NDArray[Any]] = []
    starts: list[NDArray[np.int64]] = []
    begin, edges = [0], [0]
    with _mapped(work, list(files.values())) as tokenised:
        for number, (ids, places) in enumerate(tokenised):
            if len(ids) < length:
                code, path = list(files.items())[number]
                raise InputError(f"too little text in {code}", file=path, remedy=f"Give more than {length} tokens.")
            # A sequence must not run over into the next language; the last one ends with the text.
            final = len(ids) - (length - 1)
            usable = np.append(places[places < final], final)
            pieces.append(ids)
            starts.append(usable + edges[-1])
            edges.append(edges[-1] + len(ids))
            begin.append(begin[-1] + len(usable))
            if progress:
                progress("tokenising", number + 1, len(files))
    np.save(place / "ids.npy", np.concatenate(pieces))
    np.save(place / "starts.npy", np.concatenate(starts))
    about = {"begin": begin, "edges": edges, "languages": list(files)}
    (place / "about.json").write_text(json.dumps(about), "utf-8")


@contextmanager
def _mapped(work: Callable[[Path], _Tokenised], paths: Sequence[Path]) -> Iterator[Iterator[_Tokenised]]:
    workers = min(os.cpu_count() or 1, len(paths))
    if workers == 1 or sum(path.stat().st_size for path in paths) < _WORTH_PROCESSES:
        yield map(work, paths)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield pool.map(work, paths)


def _tokenise(
    tokenizer: str, separator: int, length: int, tidied: bool, dtype: np.dtype[Any], path: Path
) -> _Tokenised:
    """The tokens of a file, a separator after each line, and the places in them where a sequence may begin."""
    encode = Tokenizer.from_str(tokenizer).encode_batch_fast
    pieces: list[NDArray[Any]] = []
    places: list[NDArray[np.int64]] = []
    at = 0
    source = lines_of(path, tidied=tidied)
    while lines := list(islice(source, _LINES_AT_ONCE)):
        encodings = encode(lines, add_special_tokens=False)
        counts = np.fromiter((len(e) for e in encodings), np.int64, len(encodings))
        bare = np.fromiter(chain.from_iterable(e.ids for e in encodings), dtype, counts.sum())
        pieces.append(np.insert(bare, np.cumsum(counts), separator))
        ends = np.cumsum(counts + 1)
        places.append(at + _places(np.concatenate([[0], ends[:-1]]), ends, length))
        at += int(ends[-1])
    if not pieces:
        return np.zeros(0, dtype), np.zeros(0, np.int64)
    return np.concatenate(pieces), np.concatenate(places)


def file_digest(path: Path) -> str:
    """A hash of a file's bytes: a file that changed is never mistaken for the old one."""
    with path.open("rb") as file:
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
