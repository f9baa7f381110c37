"""Training by EM or variational Bayes: passes over a text, none of which lowers the objective."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch

from interlingua.wordalign.cooccurrence import Cooccurrences
from interlingua.wordalign.diagonal import Prior, best_tension
from interlingua.wordalign.entries import EntryStore
from interlingua.wordalign.expectation import Best, Expected, Table, decode, expect
from interlingua.wordalign.maximisation import Distributions
from interlingua.wordalign.model import Applied, DiagonalModel, Settings, check_rows
from interlingua.wordalign.numbering import Sentences
from interlingua.wordalign.threads import Workers, workers

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
class Trained:
    """A model, how its training went, and what it says of the text it was trained on."""

    model: DiagonalModel
    iterations: tuple[Iteration, ...]
    applied: Applied


def train(
    source: Text,
    target: Text,
    settings: Settings = Settings(),  # noqa: B008 - it is frozen
    *,
    device: str = "cpu",
    memory: int | None = None,
    progress: Callable[[Iteration], None] | None = None,
) -> Trained:
    """The model of p(target | source), trained on rows that translate each other.

    Rows with an empty side are passed over. `memory` is the number of bytes that co-occurrences may take (four
    each) before they go to a temporary file; nothing else depends on it.

    >>> trained = train([["the", "dog"], ["the", "cat"], ["dog"]], [["el", "perro"], ["el", "gato"], ["perro"]])
    >>> links = trained.applied.links
    >>> [(int(r), int(s), int(t)) for r, s, t in zip(links.row, links.source, links.target)]
    [(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1), (2, 0, 0)]
    """
    ours, theirs = _numbered(source, target)
    return _train(ours, theirs, settings, device, memory, progress, turned=False)


def train_both(
    source: Text,
    target: Text,
    settings: Settings = Settings(),  # noqa: B008 - it is frozen
    *,
    device: str = "cpu",
    memory: int | None = None,
    progress: Callable[[str, Iteration], None] | None = None,
) -> tuple[Trained, Trained]:
    """The models of p(target | source) and p(source | target); progress is told "forward" or "backward".

    The links of both are (row, source word, target word), so that they can be symmetrised as they are.
    """
    ours, theirs = _numbered(source, target)
    told = progress or (lambda direction, iteration: None)
    return (
        _train(ours, theirs, settings, device, memory, lambda iteration: told("forward", iteration), turned=False),
        _train(theirs, ours, settings, device, memory, lambda iteration: told("backward", iteration), turned=True),
    )


def _numbered(source: Text, target: Text) -> tuple[Sentences, Sentences]:
    ours, theirs = (side if isinstance(side, Sentences) else Sentences.of(side) for side in (source, target))
    check_rows(ours, theirs)
    return ours, theirs


def _train(
    source: Sentences,
    target: Sentences,
    settings: Settings,
    device: str,
    memory: int | None,
    progress: Callable[[Iteration], None] | None,
    *,
    turned: bool,
) -> Trained:
    store = EntryStore.on(torch.device(device), memory)
    try:
        with workers(store.device) as pool:
            return _trained(source, target, settings, store, pool, progress or (lambda iteration: None), turned=turned)
    finally:
        store.close()


@dataclass(frozen=True)
class _State:
    """Where training stands: the table, the tension, and how far θ's posterior is from its prior (None: it is not)."""

    table: Table
    tension: float
    divergence: float | None


@dataclass(frozen=True)
class _Training:
    """One direction of a text under its settings."""

    text: Cooccurrences
    theta: Distributions
    settings: Settings
    pool: Workers

    def improved(self, state: _State, number: int) -> tuple[_State, Iteration]:
        """The state after one more pass, and what the pass found of the state before it.

        Links, θ and tension are improved one after the other with the others held, each to its optimum or, for
        the tension, towards it: none of the steps can lower the objective.
        """
        moving = self.settings.optimise_tension and number > 1
        expected = expect(self.text, state.table, self._prior(state), self.pool, distances=moving)
        told = self._told(state, number, expected.log_likelihood, float(expected.null.sum()), lambda: expected)
        tension = state.tension
        if moving:
            best = best_tension(self.text.places, expected.mass, expected.distance, tension)
            tension += self.settings.tension_step * (best - tension)
        if not self.settings.variational:
            return _State(self.theta.likeliest(expected, self.pool), tension, 0.0), told
        table, divergence = self.theta.variational(expected, self.settings.alpha, self.pool)
        return _State(table, tension, divergence), told

    def read_off(self, state: _State, number: int, words: int) -> tuple[Best, Iteration]:
        """The links of the last state, and what this last pass found of it."""
        prior = self._prior(state, torch.float64)
        best = decode(self.text, state.table, prior, self.pool, words=words)

        def expected() -> Expected:
            return expect(self.text, state.table, self._prior(state), self.pool, distances=False)

        return best, self._told(state, number, float(best.log_likelihood.sum()), best.null, expected)

    def _prior(self, state: _State, dtype: torch.dtype | None = None) -> Prior:
        return Prior(self.text.places, state.tension, self.settings.null, dtype=dtype or state.table.pairs.dtype)

    def _told(
        self, state: _State, number: int, log_likelihood: float, null: float, expected: Callable[[], Expected]
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
    settings: Settings,
    store: EntryStore,
    pool: Workers,
    progress: Callable[[Iteration], None],
    *,
    turned: bool,
) -> Trained:
    text = Cooccurrences.of(source, target, store=store, workers=pool)
    training = _Training(text, Distributions.of(text, len(source.words), len(target.words)), settings, pool)
    state = _State(training.theta.uniform(len(target.words)), settings.tension, None)
    done: list[Iteration] = []
    for number in range(1, settings.iterations):
        state, iteration = training.improved(state, number)
        done.append(iteration)
        progress(iteration)
    best, iteration = training.read_off(state, settings.iterations, len(target.ids))
    progress(iteration)
    model = _model(text, state, settings, source, target)
    return Trained(model, (*done, iteration), Applied.of(best, source, target, turned=turned))


def _model(
    text: Cooccurrences, state: _State, settings: Settings, source: Sentences, target: Sentences
) -> DiagonalModel:
    logs, null = state.table.logs()
    pairs = text.pair_source.cpu(), text.pair_target.cpu(), logs.cpu()
    return DiagonalModel(settings, state.tension, source.words, target.words, *pairs, null.cpu())
