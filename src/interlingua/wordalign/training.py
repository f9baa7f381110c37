"""Training by EM or variational Bayes: passes over a text, none of which lowers the objective."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from interlingua.wordalign.blocks import Workers, workers
from interlingua.wordalign.cooccurrence import Cooccurrences, EntryStore
from interlingua.wordalign.diagonal import Prior
from interlingua.wordalign.em_steps import (
    BestLinks,
    Distributions,
    ExpectedCounts,
    TranslationTable,
    best_tension,
    decode,
    expect,
    fast_align_tension,
)
from interlingua.wordalign.model import AlignerSettings, DiagonalModel, DirectedAlignment, check_rows
from interlingua.wordalign.vocabulary import Sentences

Text = Iterable[Sequence[str]] | Sentences


@dataclass(frozen=True)
class Iteration:
    """One pass over the text: the model as it was when the pass began, measured on all of the text."""

    number: int  # from 1
    objective: float  # never falls: the log-likelihood under plain EM, its variational bound otherwise (nats)
    log_likelihood: float  # Σ ln p(target word | source sentence) with exp E[ln θ] for θ where variational (nats)
    perplexity: float  # exp(-log_likelihood / target words)
    tension: float
    null: float  # the share of target words that belong to the empty word


@dataclass(frozen=True)
class TrainedAligner:
    """A model, how its training went, and what it says of the text it was trained on."""

    model: DiagonalModel
    iterations: tuple[Iteration, ...]
    applied: DirectedAlignment


@dataclass(frozen=True)
class DirectionResult:
    """How the training of a direction went, and what its model says of the text; the model itself is gone."""

    iterations: tuple[Iteration, ...]
    applied: DirectedAlignment


def train(
    source: Text,
    target: Text,
    settings: AlignerSettings = AlignerSettings(),  # noqa: B008 - it is frozen
    *,
    device: str = "cpu",
    memory: int | None = None,
    progress: Callable[[Iteration], None] | None = None,
) -> TrainedAligner:
    """The model of p(target | source), trained on rows that translate each other.

    Rows with an empty side are passed over. `memory` is the number of bytes that may be taken by what grows with the
    text (four a co-occurrence, eight a distinct pair of words) before it goes to a temporary file; nothing else
    depends on it.

    >>> trained = train([["the", "dog"], ["the", "cat"], ["dog"]], [["el", "perro"], ["el", "gato"], ["perro"]])
    >>> links = trained.applied.links
    >>> [(int(r), int(s), int(t)) for r, s, t in zip(links.row, links.source, links.target)]
    [(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1), (2, 0, 0)]
    """
    models: list[DiagonalModel] = []
    place = _TrainingPlace(device, memory)
    found = _train(*_numbered(source, target, device), settings, place, progress, models.append, turned=False)
    return TrainedAligner(models[0], found.iterations, found.applied)


def train_both(
    source: Text,
    target: Text,
    settings: AlignerSettings = AlignerSettings(),  # noqa: B008 - it is frozen
    *,
    device: str = "cpu",
    memory: int | None = None,
    progress: Callable[[str, Iteration], None] | None = None,
) -> tuple[TrainedAligner, TrainedAligner]:
    """The models of p(target | source) and p(source | target); progress is reported as "forward" or "backward".

    The links of both are (row, source word, target word), so that they can be symmetrised as they are.
    """
    models: list[DiagonalModel] = []
    both = align_both(
        source,
        target,
        settings,
        device=device,
        memory=memory,
        progress=progress,
        keep=lambda _, model: models.append(model),
    )
    forward, backward = (TrainedAligner(m, one.iterations, one.applied) for m, one in zip(models, both, strict=True))
    return forward, backward


def align_both(
    source: Text,
    target: Text,
    settings: AlignerSettings = AlignerSettings(),  # noqa: B008 - it is frozen
    *,
    device: str = "cpu",
    memory: int | None = None,
    progress: Callable[[str, Iteration], None] | None = None,
    keep: Callable[[str, DiagonalModel], None] | None = None,
) -> tuple[DirectionResult, DirectionResult]:
    """What `train_both` finds, without its models, which take more room than all the rest.

    `keep` is handed each of them, with "forward" or "backward", as soon as it is trained; without it none is made.
    """
    ours, theirs = _numbered(source, target, device)
    told, place = progress or (lambda direction, iteration: None), _TrainingPlace(device, memory)
    sides = {"forward": (ours, theirs), "backward": (theirs, ours)}

    def direction(name: str) -> DirectionResult:
        kept = None if keep is None else (lambda model: keep(name, model))
        return _train(
            *sides[name], settings, place, lambda iteration: told(name, iteration), kept, turned=name == "backward"
        )

    return direction("forward"), direction("backward")


def _numbered(source: Text, target: Text, device: str) -> tuple[Sentences, Sentences]:
    ours, theirs = (
        side if isinstance(side, Sentences) else Sentences.of(side, device=device) for side in (source, target)
    )
    check_rows(ours, theirs)
    return ours, theirs


class _TrainingPlace(NamedTuple):
    """Where training is done, and how many bytes of memory the co-occurrences may take there."""

    device: str
    memory: int | None


def _train(
    source: Sentences,
    target: Sentences,
    settings: AlignerSettings,
    place: _TrainingPlace,
    progress: Callable[[Iteration], None] | None,
    keep: Callable[[DiagonalModel], None] | None,
    *,
    turned: bool,
) -> DirectionResult:
    store = EntryStore.on(torch.device(place.device), place.memory)
    try:
        with workers(store.device) as pool:
            done, best = _trained(source, target, settings, store, pool, progress or (lambda iteration: None), keep)
    finally:
        store.close()
    return DirectionResult(done, DirectedAlignment.of(best, source, target, turned=turned))


@dataclass(frozen=True)
class _TrainingState:
    """Where training stands: the table, the tension, and how far θ's posterior is from its prior (None: it is not)."""

    table: TranslationTable
    tension: float
    divergence: float | None


@dataclass(frozen=True)
class _Training:
    """One direction of a text under its settings."""

    text: Cooccurrences
    theta: Distributions
    settings: AlignerSettings
    pool: Workers

    def improved(self, state: _TrainingState, number: int) -> tuple[_TrainingState, Iteration]:
        """The state after one more pass, and what the pass found of the state before it.

        Links, θ and tension are improved one after the other with the others held, each to its optimum or, for
        the tension, towards it: none of the steps can lower the objective, but for fast_align's own of the tension.
        """
        moving = self.settings.optimise_tension and number > 1
        # The counts take the place of the table they are made with.
        expected = self._expect(state, distances=moving, into=state.table.pairs)
        told = self._told(state, number, expected.log_likelihood, float(expected.null.sum()), lambda: expected)
        tension = self._moved(state.tension, expected) if moving else state.tension
        if not self.settings.variational:
            return _TrainingState(self.theta.likeliest(expected, self.pool), tension, 0.0), told
        table, divergence = self.theta.variational(expected, self.settings.alpha, self.pool)
        return _TrainingState(table, tension, divergence), told

    def read_off(self, state: _TrainingState, number: int, words: int) -> tuple[BestLinks, Iteration]:
        """The links of the last state, and what this last pass found of it."""
        prior = self._prior(state, torch.float64)
        best = decode(self.text, state.table, prior, self.pool, words=words)

        return best, self._told(state, number, best.log_likelihood, best.null, lambda: self._expect(state))

    def _expect(
        self, state: _TrainingState, *, distances: bool = False, into: torch.Tensor | None = None
    ) -> ExpectedCounts:
        prior, types = self._prior(state), len(self.theta.sizes)
        return expect(self.text, state.table, prior, self.pool, source_types=types, distances=distances, into=into)

    def _moved(self, tension: float, expected: ExpectedCounts) -> float:
        places = self.text.places
        if self.settings.tension_rule == "fast_align":
            return fast_align_tension(places, expected.distance, tension)
        best = best_tension(places, expected.mass, expected.distance, tension)
        return tension + self.settings.tension_step * (best - tension)

    def _prior(self, state: _TrainingState, dtype: torch.dtype | None = None) -> Prior:
        chosen = dtype or state.table.pairs.dtype
        first = 0 if self.settings.tension_rule == "fast_align" else 1
        return Prior(self.text.places, state.tension, self.settings.null, dtype=chosen, measured_from=first)

    def _told(
        self,
        state: _TrainingState,
        number: int,
        log_likelihood: float,
        null: float,
        expected: Callable[[], ExpectedCounts],
    ) -> Iteration:
        """The record of a pass. Before the first step, the bound is that of links and θ drawn from their priors."""
        words = max(self.text.words, 1)
        perplexity = math.exp(min(-log_likelihood / words, 700.0))
        objective = log_likelihood
        if self.settings.variational and state.divergence is None:
            objective = self.theta.prior_expectation(expected(), self.settings.alpha)
        elif self.settings.variational and state.divergence is not None:
            objective -= state.divergence
        return Iteration(number, objective, log_likelihood, perplexity, state.tension, null / words)


def _trained(
    source: Sentences,
    target: Sentences,
    settings: AlignerSettings,
    store: EntryStore,
    pool: Workers,
    progress: Callable[[Iteration], None],
    keep: Callable[[DiagonalModel], None] | None,
) -> tuple[tuple[Iteration, ...], BestLinks]:
    text = Cooccurrences.of(source, target, store=store, workers=pool)
    training = _Training(text, Distributions.of(text, len(source.words)), settings, pool)
    state = _TrainingState(training.theta.uniform(len(target.words)), settings.tension, None)
    done: list[Iteration] = []
    for number in range(1, settings.iterations):
        state, iteration = training.improved(state, number)
        done.append(iteration)
        progress(iteration)
    best, iteration = training.read_off(state, settings.iterations, len(target.ids))
    progress(iteration)
    if keep is not None:
        keep(_model(text, state, settings, source, target))
    return (*done, iteration), best


def _model(
    text: Cooccurrences, state: _TrainingState, settings: AlignerSettings, source: Sentences, target: Sentences
) -> DiagonalModel:
    logs, null = state.table.logs()
    sources, targets = (torch.empty(text.pairs, dtype=torch.int32) for _ in range(2))
    for block in text.blocks:
        here = slice(block.first_pair, block.first_pair + block.pairs)
        sources[here], targets[here] = text.store.get(block.sources), text.store.get(block.targets)
    return DiagonalModel(settings, state.tension, source.words, target.words, sources, targets, logs.cpu(), null.cpu())
