"""fast_align's model with its settings, saved and loaded, and a text linked by it in both directions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from interlingua.engine.atomic_files import atomic_path, open_to_umask
from interlingua.errors import InputError
from interlingua.paths import read_json, regular_folder
from interlingua.wordalign.blocks import workers
from interlingua.wordalign.cooccurrence import Cooccurrences, EntryStore
from interlingua.wordalign.diagonal import TENSIONS, Prior
from interlingua.wordalign.em_steps import RULES, BestLinks, TranslationTable, decode
from interlingua.wordalign.links import Links
from interlingua.wordalign.symmetrize import symmetrize
from interlingua.wordalign.vocabulary import Sentences

_ROWS_AT_ONCE = 1 << 17
Starts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DirectedAlignment:
    """What a model says of a bitext: the best source word of each target word, and ln p(target | source) by row.

    `turned`: the model is one of p(source | target), and its links are still given as (row, source word, target word).
    """

    best: NDArray[np.int32]  # of each word given the other side: a place in the row, -1 for none
    log_likelihood: NDArray[np.float64]  # 0 where a side is empty
    given_starts: Starts  # where each row's words begin on the side that is given
    starts: Starts  # and on the side that is explained
    turned: bool = False

    @classmethod
    def of(cls, best: BestLinks, source: Sentences, target: Sentences, *, turned: bool = False) -> DirectedAlignment:
        """What was found for each target word of p(target | source)."""
        logs = best.logs.cpu().numpy()
        by_row = np.zeros(len(target))
        for first, last in _ranges(len(target)):
            starts = target.starts[first : last + 1]
            sums = np.zeros(starts[-1] - starts[0] + 1)
            np.cumsum(logs[starts[0] : starts[-1]], dtype=np.float64, out=sums[1:])
            by_row[first:last] = np.diff(sums[starts - starts[0]])
        return cls(best.source.cpu().numpy(), by_row, source.starts, target.starts, turned)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def links(self) -> Links:
        """One link for each word that has one."""
        parts = (self.links_of(*bounds) for bounds in _ranges(len(self)))
        return _gathered(parts, int(np.count_nonzero(self.best >= 0)))

    def links_of(self, first: int, last: int) -> Links:
        """The links of the rows `first:last`."""
        row, place, column = self.found(first, last)
        if self.turned:
            return Links(row, place, column)  # A word has one link, so that these are in order as they come.
        order = np.argsort(self.given_starts[row] + column, kind="stable")
        return Links(row[order], column[order], place[order])

    def found(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Row, own place and best place of the words of these rows that have a link, in the order of the text."""
        starts = self.starts[first : last + 1]
        here = self.best[starts[0] : starts[-1]]
        linked = np.flatnonzero(here >= 0)
        row = np.repeat(np.arange(first, last), np.diff(starts))[linked]
        return row, linked + starts[0] - self.starts[row], here[linked].astype(np.int64)


def combine_directions(
    forward: DirectedAlignment, backward: DirectedAlignment, how: str = "intersect", *, rows: int | None = None
) -> Links:
    """The links of both directions as one set (see `symmetrize`), of the first `rows` rows where that is given.

    Rows are worked on some at a time, so that the links of a direction are never there as a whole.
    """
    count = len(forward) if rows is None else rows
    words = [int(np.count_nonzero(one.best[: one.starts[count]] >= 0)) for one in (forward, backward)]
    room = {"intersect": min(words), "forward": words[0], "backward": words[1]}.get(how, sum(words))
    made = (
        _agreed(forward, backward, *bounds)
        if how == "intersect"
        else symmetrize(forward.links_of(*bounds), backward.links_of(*bounds), how)
        for bounds in _ranges(count)
    )
    return _gathered(made, room)


def _agreed(forward: DirectedAlignment, backward: DirectedAlignment, first: int, last: int) -> Links:
    """Links that both directions have; by source word, and so in order without a sort."""
    row, source, target = backward.found(first, last)
    kept = forward.best[forward.starts[row] + target] == source
    return Links(row[kept], source[kept], target[kept])


def _gathered(parts: Iterator[Links], room: int) -> Links:
    """The parts as one, where it is known how many links there can be: room that is not needed is never touched."""
    columns = tuple(np.empty(room, np.int64) for _ in range(3))
    done = 0
    for part in parts:
        for column, values in zip(columns, (part.row, part.source, part.target), strict=True):
            column[done : done + len(part)] = values
        done += len(part)
    row, source, target = (column[:done] for column in columns)
    return Links(row, source, target)


def _ranges(rows: int) -> Iterator[tuple[int, int]]:
    for first in range(0, rows, _ROWS_AT_ONCE):
        yield first, min(first + _ROWS_AT_ONCE, rows)


UNSEEN = 1e-9
"""p(target word | source word) of words never seen together, as in fast_align."""
_TENSORS = ("pair_source", "pair_target", "log_probability", "null_log_probability")


@dataclass(frozen=True)
class AlignerSettings:
    """How a direction is trained; the defaults are those of fast_align -d -o -v but for `tension_rule`."""

    iterations: int = 5  # passes over the text; the last one only reads the links off, as in fast_align
    null: float = 0.12  # p0, the mass of the empty word; fast_align's is 0.08
    tension: float = 4.0  # λ, where it starts
    optimise_tension: bool = True
    variational: bool = True
    alpha: float = 0.01  # the Dirichlet prior, where variational
    tension_step: float = 0.05  # how far an iteration moves λ towards its maximum: links get worse near it
    tension_rule: str = "part"  # or "fast_align", which moves λ as that program does

    def __post_init__(self) -> None:
        low, high = TENSIONS
        for name, value, good, accepted in (
            ("iterations", self.iterations, self.iterations >= 1, "1 or more"),
            ("p0 (null)", self.null, 0 <= self.null < 1, "a probability below 1"),
            ("tension", self.tension, low <= self.tension <= high, f"from {low} to {high}"),
            ("alpha", self.alpha, 0 < self.alpha < math.inf, "a positive number"),
            ("tension_step", self.tension_step, 0 < self.tension_step <= 1, "above 0, at most 1"),
            ("tension_rule", self.tension_rule, self.tension_rule in RULES, " or ".join(RULES)),
        ):
            if not good:
                raise InputError(f"bad {name} of the aligner", value=value, remedy=f"Give {accepted}.")


@dataclass(frozen=True, eq=False)
class DiagonalModel:
    """ln p(target word | source word) of pairs seen together, in no order, ln p(target word | null), the tension."""

    settings: AlignerSettings
    tension: float
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    pair_source: torch.Tensor
    pair_target: torch.Tensor
    log_probability: torch.Tensor
    null_log_probability: torch.Tensor

    def apply(
        self,
        source: Iterable[Sequence[str]],
        target: Iterable[Sequence[str]],
        *,
        device: str = "cpu",
        turned: bool = False,
    ) -> DirectedAlignment:
        """Links and likelihoods of any text; words and pairs never seen have probability 1e-9, as in fast_align.

        `turned`: links are given as (row, target word, source word), those of a model of the other direction.
        """
        ours, theirs = Sentences.known(source, self.source_words), Sentences.known(target, self.target_words)
        check_rows(ours, theirs)
        place = torch.device(device)
        unseen = torch.tensor([math.log(UNSEEN)])
        keys, found = self._asked(ours, theirs)
        logs, null = (torch.cat([x, unseen]) for x in (found, self.null_log_probability))
        table = TranslationTable.of_logs(logs.to(place), null.to(place))
        store = EntryStore.on(place)
        try:
            with workers(place) as pool:
                text = Cooccurrences.known(ours, theirs, keys.to(place), store=store, workers=pool)
                prior = Prior(text.places, self.tension, self.settings.null, dtype=torch.float64)
                best = decode(text, table, prior, pool, words=len(theirs.ids))
        finally:
            store.close()
        return DirectedAlignment.of(best, ours, theirs, turned=turned)

    def _asked(self, source: Sentences, target: Sentences) -> tuple[torch.Tensor, torch.Tensor]:
        """The keys of the pairs whose words both occur in a text, sorted, and their ln p.

        A text asks for no others, and to sort all that a large corpus taught would take 40 bytes for each.
        """
        occurs = []
        for side in (source, target):
            words = torch.zeros(len(side.words) + 1, dtype=torch.bool)
            words[torch.from_numpy(side.ids).long()] = True
            occurs.append(words)
        kept = occurs[0].index_select(0, self.pair_source)
        kept &= occurs[1].index_select(0, self.pair_target)
        # In place, one after the other: these are the largest things here.
        keys = self.pair_target[kept].long()
        keys.mul_(len(self.source_words) + 1).add_(self.pair_source[kept])
        keys, order = torch.sort(keys)
        return keys, self.log_probability[kept][order]

    def links(self, source: Iterable[Sequence[str]], target: Iterable[Sequence[str]], *, device: str = "cpu") -> Links:
        """The best source word of each target word of any text."""
        return self.apply(source, target, device=device).links

    def save(self, folder: Path) -> None:
        """Write the model into a folder: beside it first, then renamed, so that it is there whole or not at all."""
        with atomic_path(folder) as beside:
            beside.mkdir(parents=True)
            save_file({name: getattr(self, name).contiguous() for name in _TENSORS}, beside / "model.safetensors")
            about = {"settings": asdict(self.settings), "tension": self.tension}
            words = {"source_words": self.source_words, "target_words": self.target_words}
            (beside / "model.json").write_text(json.dumps(about | words), "utf-8")
            open_to_umask(beside)

    @classmethod
    def load(cls, folder: Path) -> DiagonalModel:
        """The model that `save` wrote."""
        try:
            regular_folder(folder)
            about = read_json(folder / "model.json")
            tensors = load_file(folder / "model.safetensors")
            source, target = tuple(about["source_words"]), tuple(about["target_words"])
            settings = AlignerSettings(**about["settings"])
            return cls(settings, about["tension"], source, target, *(tensors[name] for name in _TENSORS))
        except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
            raise InputError(
                f"no model of the aligner can be read here ({type(error).__name__})",
                file=folder,
                remedy="Give a folder that it was saved in, or train it anew.",
            ) from error


def check_rows(source: Sentences, target: Sentences) -> None:
    """Raise where the two sides have different numbers of rows."""
    if len(source) != len(target):
        raise InputError(
            f"{len(source)} source rows and {len(target)} target rows",
            remedy="Give sides whose rows correspond, one by one.",
        )
