"""From names to an explorer: models, a corpus and heads loaded, every sentence encoded or taken from the cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from interlingua.analyses.word_alignment import SavedAligner
from interlingua.encoder import Cache, Encoder
from interlingua.errors import InputError
from interlingua.explorer.corpus_index import CorpusIndex
from interlingua.explorer.explorer import Explorer, shelf_notes
from interlingua.explorer.heads import Head
from interlingua.explorer.model_queue import ModelQueue
from interlingua.explorer.server import ExplorerServer
from interlingua.readers import read_corpus

Progress = Callable[[str, int, int], None]


def open_explorer(
    models: Sequence[str] = ("embedded",),
    *,
    corpus: object = "sampler",
    languages: Sequence[str] | None = None,
    rows: int | None = None,
    heads: Mapping[str, str | Path] | None = None,
    aligner: str | Path | None = None,
    cache: str | Path | None = None,
    device: str | None = None,
    progress: Progress | None = None,
) -> Explorer:
    """An explorer of one model, or of two side by side, over a corpus.

    `rows` draws that many rows. `heads` are folders of fine-tuned models under names (`transfer --save-models`),
    `aligner` a folder that `interlingua align --save` made, whose source is the first text. `cache` is a folder,
    'none', or by default the user's cache, which an audit fills too.
    """
    if rows is not None and rows < 2:
        raise InputError("too few rows", value=rows, remedy="Give --rows 2 or more.")
    if not 1 <= len(models) <= 2:
        raise InputError("one model or two are shown", value=len(models), remedy="Give --against once.")
    texts = read_corpus(corpus, languages=languages)
    texts = texts if languages is None else texts.select(texts.languages)
    texts = texts if rows is None else texts.sample(rows, seed=0)
    saved = None if aligner is None else SavedAligner.load(Path(aligner))
    loaded = tuple(Head.load(name, folder, device=device) for name, folder in (heads or {}).items())
    shelves = []
    for name in models:
        if progress:
            progress(f"loading {name}", 0, 1)
        encoder = Encoder.load(name, device=device)
        shelves.append(CorpusIndex.of(encoder, texts, cache=_cache(cache), progress=progress))
    explorer = Explorer(tuple(shelves), texts, loaded, saved, shelf_notes(texts, shelves))
    explorer.warm()
    return explorer


def open_server(explorer: Explorer, *, port: int | None = None, turns: ModelQueue | None = None) -> ExplorerServer:
    """A server for an explorer on this machine, not yet started; on `port`, or on ours, or on any that is free."""
    if port is not None:
        try:
            return ExplorerServer(explorer, port=port, turns=turns)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"the port cannot be opened ({reason})", value=port, remedy="Give another --port, or none."
            ) from error
    try:
        return ExplorerServer(explorer, port=PORT, turns=turns)
    except OSError:
        return ExplorerServer(explorer, port=0, turns=turns)


PORT = 8017
"""The port where none is asked for, so that a permalink of yesterday opens today."""


def _cache(given: str | Path | None) -> Cache | None:
    """The cache of representations: a folder, `none`, or the user's, the same as an audit's."""
    if given is not None:
        return None if str(given) == "none" else Cache(Path(given))
    home = os.environ.get("INTERLINGUA_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Cache(Path(home) / "interlingua" / "representations")
