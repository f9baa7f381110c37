"""From a bitext to word links for every line of it: read, linked, symmetrised, judged against gold, written."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from interlingua.argument_types import check_argument_types
from interlingua.atomic_files import write_beside
from interlingua.encoder import Encoder
from interlingua.encoder.devices import pick_device
from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.score import Scores
from interlingua.studies import linkers
from interlingua.studies.bitexts import LeftOut, ReadingRules, Rows, read_rows, tokenised
from interlingua.studies.linkers import Found, Progress, Saved, Staged, Text, Watch
from interlingua.studies.store import cannot_write
from interlingua.wordalign.links import Links, write_pharaoh
from interlingua.wordalign.model import Settings
from interlingua.wordalign.quality import Gold, LinkCounts, PairScores, count_links, quality, score_pairs
from interlingua.wordalign.symmetrize import SYMMETRISATIONS
from interlingua.wordalign.training import Iteration
from interlingua.wordalign_neural import NeuralSettings

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
    left_out: tuple[LeftOut, ...] = ()
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


@check_argument_types
def align(
    bitext: object,
    target: str | Path | None = None,
    *,
    method: str | None = None,
    symmetrize: str | None = None,
    settings: Settings | None = None,
    neural: NeuralSettings | None = None,
    model: str | Encoder = "embedded",
    also: Sequence[str | Path] = (),
    load: str | Path | None = None,
    save: str | Path | None = None,
    links: Sequence[str | Path] = (),
    base: int = 0,
    gold: str | Path | None = None,
    gold_base: int | None = None,
    format: str | None = None,
    encoding: str | None = None,
    tokenize: str = "auto",
    bad_lines: str | None = None,
    scores: str | Path | None = None,
    write_tokens: str | Path | None = None,
    out: str | Path | None = None,
    seed: int = 0,
    device: str | None = None,
    precision: str | None = None,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Alignment:
    """Which words translate each other in a bitext: one set of links for every line of it.

    `bitext` is a file of `source ||| target` lines or of two columns (or the source's file, with `target` the other),
    `-` for standard input, or pairs of texts. `method` is diagonal (fast_align's model, trained here, with `settings`;
    the default), neural (the vectors of `model`, by its name or loaded, with `neural`) or eflomal; the first and last
    have two directions, made one as `symmetrize` says (intersect by default). `also` is more text to train on. `save`
    and `load` keep a trained model and apply one. `links` are files of links from elsewhere: one to be converted and
    judged, or one a direction to be symmetrised. `gold` gives `quality`, its first word being number `gold_base`;
    `base` is that number in `links` and in what is written. `scores`, `write_tokens` and `out` name files for the
    scores of lines, the text as it was cut into words, and the links. Nothing is written before all is done.
    """
    plan = _Plan(method, symmetrize, settings or Settings(), load, save, tuple(also), tuple(links), base)
    reading = ReadingRules(format, encoding, tokenize, bad_lines, indexed=bool(links) or gold is not None)
    saved = None if load is None else Saved.load(Path(load))
    if saved is not None and tokenize == "auto":
        reading = ReadingRules(format, encoding, saved.cut, bad_lines)
    place = str(pick_device(device))
    encoder, chosen = None, neural or NeuralSettings()
    if plan.by == "neural":
        encoder = model if isinstance(model, Encoder) else Encoder.load(
            model, device=place, precision=precision, trust_remote_code=trust_remote_code, allow_pickle=allow_pickle
        )  # fmt: skip
        chosen = chosen.checked(encoder)
    # Other files count the words of the bitext, not those of the text beside it, which has a form of its own.
    beside = replace(reading, format=None, indexed=False)
    rows = read_rows(bitext, target, reading)
    text = Text(rows, [read_rows(path, None, beside) for path in also], device=place)
    truth = None if gold is None else linkers.read_links(gold, text, reading, base=gold_base)
    with ExitStack() as stack:
        staged = None if save is None else stack.enter_context(Staged(Path(save), text.rows.source.cut))
        if links:
            found = linkers.given(links, text, reading, plan.how, base=base)
        elif encoder is not None:
            found = linkers.neural(encoder, text.rows, chosen, progress=progress)
        elif plan.by == "eflomal":
            found = linkers.eflomal(text, plan.how)
        elif saved is not None:
            found = linkers.applied(saved, text.rows, plan.how, device=place)
        else:
            found = linkers.trained(text, plan.settings, plan.how, device=place, watch=watch, staged=staged)
        result = _result(found, text, truth, plan, gold=str(gold), seed=seed)
        _write([(scores, _score_lines(result.scores)), (write_tokens, tokenised(text.rows)), (out, result.lines())])
        if staged is not None:
            staged.done()  # Last: a model that is there is not written again, and the files are.
    return result


def _result(found: Found, text: Text, truth: Gold | None, plan: _Plan, *, gold: str, seed: int) -> Alignment:
    counts = None if truth is None else count_links(found.links, truth)
    unused = () if truth is None else tuple(linkers.unusable(truth, gold))
    return Alignment(
        found.links,
        text.rows,
        plan.base,
        found.iterations,
        (*text.left_out, *found.left_out, *unused),
        (*text.notes, *found.notes),
        None if counts is None else quality(counts, seed=seed),
        counts,
        score_pairs(text.lengths, found.links, *(found.likelihoods or (None, None))),
    )


@dataclass(frozen=True)
class _Plan:
    """What is asked for, checked before anything is read."""

    method: str | None
    symmetrize: str | None
    settings: Settings
    load: str | Path | None
    save: str | Path | None
    also: tuple[str | Path, ...]
    links: tuple[str | Path, ...]
    base: int

    def __post_init__(self) -> None:
        if self.method is not None and self.method not in METHODS:
            raise unknown("method of aligning", self.method, list(METHODS))
        if self.symmetrize is not None and self.symmetrize not in SYMMETRISATIONS:
            raise unknown("symmetrisation", self.symmetrize, list(SYMMETRISATIONS))
        if self.base not in (0, 1):
            raise InputError("the first word is 0 or 1", value=self.base, remedy="Give --base 0 or --base 1.")
        if len(self.links) > 2:
            raise InputError("more than two files of links", value=len(self.links), remedy="Give one a direction.")
        trains = self.by == "diagonal" and self.load is None
        for asked, name, fits in (
            (self.save, "--save", trains),
            (self.method, "--method", not self.links),
            (self.load, "--load", self.by == "diagonal"),
            (self.also, "--also", trains or self.by == "eflomal"),
            (self.symmetrize, "--symmetrize", len(self.links) == 2 or self.by in ("diagonal", "eflomal")),
        ):
            if asked and not fits:
                raise InputError(f"{name} has nothing to do here", remedy=_REASONS[name])
        if self.save is not None and Path(self.save).exists():
            raise InputError("there is something already", file=self.save, remedy="Name a folder that does not exist.")

    @property
    def by(self) -> str:
        """The method that links; none where the links are given."""
        return "" if self.links else self.method or "diagonal"

    @property
    def how(self) -> str:
        return self.symmetrize or "intersect"


_REASONS = {
    "--save": "Only a model that is trained now can be saved.",
    "--method": "The links are given, nothing is linked here; leave it out, or leave out --links.",
    "--load": "A loaded model replaces training; leave out --links and --method.",
    "--also": "More text is for training, and nothing is trained here.",
    "--symmetrize": "There are not two directions; give two files of links, or a method that has both.",
}


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
            write_beside(place, write)
        except OSError as error:
            raise cannot_write(place.parent, error) from error


def _score_lines(scores: PairScores | None) -> Iterator[str]:
    """Mean log-probability of a word and share of words linked, a line a row; empty where a row was left out."""
    assert scores is not None
    for likelihood, linked in zip(scores.likelihood.tolist(), scores.linked.tolist(), strict=True):
        first = "" if math.isnan(likelihood) else f"{likelihood:.4f}"
        yield "" if math.isnan(linked) else f"{first}\t{linked:.4f}"
