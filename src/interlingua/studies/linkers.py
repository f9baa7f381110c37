"""The ways from a bitext to links: a model trained or loaded, an encoder's vectors, eflomal, files from elsewhere."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.atomic_files import hidden_name
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.paths import read_json
from interlingua.readers.documents import opened
from interlingua.readers.format_detection import missing
from interlingua.studies.bitexts import CUTS, LeftOut, ReadingRules, Rows
from interlingua.studies.store import cannot_write, told_when_full, write_text
from interlingua.wordalign.eflomal import LONGEST, eflomal_links
from interlingua.wordalign.links import Links
from interlingua.wordalign.model import DiagonalModel, Settings, combined
from interlingua.wordalign.quality import Gold, read_gold
from interlingua.wordalign.symmetrize import symmetrise
from interlingua.wordalign.training import Iteration, align_both
from interlingua.wordalign.vocabulary import Sentences
from interlingua.wordalign_neural import NeuralSettings, neural_links

DIRECTIONS = ("forward", "backward")
Progress = Callable[[str, int, int], None]
Watch = Callable[[str, Iteration], None]


@dataclass(frozen=True)
class Found:
    """What a way gave: one set of links, and all it has to say.

    `likelihoods` are log p(target | source) and log p(source | target) by row.
    """

    links: Links
    likelihoods: tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]] | None = None
    iterations: dict[str, tuple[Iteration, ...]] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()


class Text:
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
    def left_out(self) -> tuple[LeftOut, ...]:
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


def trained(
    text: Text, settings: Settings, how: str, *, device: str, watch: Watch | None, staged: Staged | None = None
) -> Found:
    """Links of a model trained on the text, both directions; the models are kept where there is a place for them."""
    keep = None if staged is None else staged.keep
    forward, backward = align_both(text.source, text.target, settings, device=device, progress=watch, keep=keep)
    count = len(text.rows)
    return Found(
        combined(forward.applied, backward.applied, how, rows=count),
        likelihoods=(forward.applied.log_likelihood[:count], backward.applied.log_likelihood[:count]),
        iterations={name: one.iterations for name, one in zip(DIRECTIONS, (forward, backward), strict=True)},
    )


def _first(links: Links, rows: int) -> Links:
    """The links of the first rows: those of the bitext itself, not of the text beside it."""
    last = int(np.searchsorted(links.row, rows))
    return Links(links.row[:last], links.source[:last], links.target[:last])


class Staged:
    """A folder of a trained model on its way: written beside, and there whole when it is all done, or not at all."""

    def __init__(self, folder: Path, cut: str) -> None:
        self._folder, self._cut = folder, cut
        self._beside = hidden_name(folder)

    def __enter__(self) -> Staged:
        return self

    def keep(self, direction: str, model: DiagonalModel) -> None:
        """Write one direction."""
        try:
            with told_when_full(self._folder.parent):
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
class Saved:
    """A trained model of both directions, and how the text it was trained on was cut."""

    models: tuple[DiagonalModel, DiagonalModel]
    cut: str

    @classmethod
    def load(cls, folder: Path) -> Saved:
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


def applied(saved: Saved, rows: Rows, how: str, *, device: str) -> Found:
    """Links of a loaded model."""
    forward = saved.models[0].apply(rows.source.words, rows.target.words, device=device)
    backward = saved.models[1].apply(rows.target.words, rows.source.words, device=device, turned=True)
    likelihoods = (forward.log_likelihood, backward.log_likelihood)
    return Found(combined(forward, backward, how), likelihoods=likelihoods)


def neural(encoder: Encoder, rows: Rows, settings: NeuralSettings, *, progress: Progress | None) -> Found:
    """Links of an encoder's vectors."""
    bar = None if progress is None else (lambda done, total: progress("aligning", done, total))
    found = neural_links(encoder, rows.source, rows.target, settings, progress=bar)
    notes = [
        f"{encoder.name}, layer {settings.layer} (0 is the embedding output), {settings.method} of {settings.unit}s"
    ]
    if any(found.lost):
        notes.append(f"{sum(found.lost)} words have no link: the tokenizer of {encoder.name} turns them into nothing")
    return Found(found.links, notes=tuple(notes))


def eflomal(text: Text, how: str) -> Found:
    """Links by eflomal, both directions."""
    source = list(chain.from_iterable(part.source.words for part in (text.rows, *text.also)))
    target = list(chain.from_iterable(part.target.words for part in (text.rows, *text.also)))
    found, count = eflomal_links(source, target), len(text.rows)
    lines = tuple(row + 1 for row in found.too_long if row < count)
    left = (LeftOut(f"more than {LONGEST} words, which eflomal passes over", text.rows.name, lines),) if lines else ()
    return Found(symmetrise(_first(found.forward, count), _first(found.backward, count), how), left_out=left)


def given(paths: Sequence[str | Path], text: Text, reading: ReadingRules, how: str, *, base: int) -> Found:
    """Links from files: one set, or one a direction."""
    read = [read_links(path, text, reading, base=base) for path in paths]
    left = tuple(one for path, links in zip(paths, read, strict=True) for one in unusable(links, str(path)))
    links = [one.possible for one in read]
    return Found(links[0] if len(links) == 1 else symmetrise(links[0], links[1], how), left_out=left)


def read_links(path: str | Path, text: Text, reading: ReadingRules, *, base: int | None) -> Gold:
    """The links of a file for this bitext; bad lines as the reading says."""
    if not Path(path).exists():
        raise missing(Path(path))
    with opened(Path(path), encoding=reading.encoding) as document:
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


def unusable(links: Gold, file: str) -> Iterator[LeftOut]:
    """The bad lines of a file of links, by what is wrong with them."""
    lines: dict[str, list[int]] = {}
    for error in links.bad:
        lines.setdefault(error.problem.partition(" (")[0], []).append(error.line or 0)
    for problem, where in lines.items():
        yield LeftOut(problem, file, tuple(where))
