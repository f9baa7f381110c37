"""The aligner of Dyer, Chahuneau & Smith (2013) word by word, in plain Python: what the fast one must agree with."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from dataclasses import dataclass

from scipy.optimize import minimize_scalar
from scipy.special import digamma, gammaln

Rows = list[list[str]]
Link = tuple[int, int, int]
Theta = dict[tuple[str | None, str], float]


def bitext(seed: int, rows: int = 12, words: int = 9) -> tuple[Rows, Rows]:
    """Random sentences and their word-by-word translation, shuffled a little, with words dropped and added."""
    draw = random.Random(seed)
    source: Rows = [[f"s{draw.randrange(words)}" for _ in range(draw.randint(1, 7))] for _ in range(rows)]
    target: Rows = []
    for sentence in source:
        out = [f"t{word[1:]}" for word in sentence if draw.random() > 0.15] + ["t99"] * (draw.random() < 0.3)
        if len(out) > 1 and draw.random() < 0.5:
            place = draw.randrange(len(out) - 1)
            out[place : place + 2] = out[place + 1], out[place]
        target.append(out or ["t99"])
    return source, target


@dataclass
class ByLoops:
    """One direction. `null` is p0; rows with an empty side are passed over."""

    source: Rows
    target: Rows
    variational: bool = True
    null: float = 0.12
    tension: float = 4.0
    alpha: float = 0.01

    def __post_init__(self) -> None:
        self.rows = [row for row, (s, t) in enumerate(zip(self.source, self.target, strict=True)) if s and t]
        types = {word for row in self.rows for word in self.target[row]}
        self.seen: dict[str | None, set[str]] = defaultdict(set)
        self.seen[None] = types
        for row in self.rows:
            for word in self.source[row]:
                self.seen[word].update(self.target[row])
        self.theta: Theta = {(s, t): 1 / len(types) for s, found in self.seen.items() for t in found}
        self.posterior: dict[str | None, dict[str, float]] | None = None  # Dirichlet parameters; None: the prior

    def prior(self, row: int, place: int, tension: float) -> list[float]:
        n, m = len(self.source[row]), len(self.target[row])
        near = [math.exp(-tension * abs((i + 1) / n - (place + 1) / m)) for i in range(n)]
        return [(1 - self.null) * weight / sum(near) for weight in near]

    def weights(self, row: int, place: int) -> list[float]:
        """p(link, target word) of null and of each source word."""
        word = self.target[row][place]
        real = zip(self.prior(row, place, self.tension), self.source[row], strict=True)
        return [self.null * self.theta[None, word], *(prior * self.theta[s, word] for prior, s in real)]

    def places(self) -> list[tuple[int, int]]:
        return [(row, place) for row in self.rows for place in range(len(self.target[row]))]

    def log_likelihood(self) -> float:
        return sum(math.log(sum(self.weights(*at))) for at in self.places())

    def posteriors(self) -> dict[tuple[int, int], list[float]]:
        return {at: [weight / sum(self.weights(*at)) for weight in self.weights(*at)] for at in self.places()}

    def counts(self) -> dict[str | None, dict[str, float]]:
        found: dict[str | None, dict[str, float]] = {s: dict.fromkeys(types, 0.0) for s, types in self.seen.items()}
        for (row, place), shares in self.posteriors().items():
            for word, share in zip([None, *self.source[row]], shares, strict=True):
                found[word][self.target[row][place]] += share
        return found

    def bound(self) -> float:
        """E[ln p(links, words, θ)] - E[ln q(links) q(θ)], term by term."""
        dirichlet = self.posterior or {s: dict.fromkeys(types, self.alpha) for s, types in self.seen.items()}
        logs = {
            (s, t): digamma(value) - digamma(sum(values.values()))
            for s, values in dirichlet.items()
            for t, value in values.items()
        }
        total = 0.0
        for (row, place), shares in self.posteriors().items():
            word, prior = self.target[row][place], [self.null, *self.prior(row, place, self.tension)]
            for s, share, before in zip([None, *self.source[row]], shares, prior, strict=True):
                if share > 0:
                    total += share * (math.log(before) + logs[s, word] - math.log(share))
        for s, values in dirichlet.items():
            prior_log = gammaln(self.alpha * len(values)) - len(values) * gammaln(self.alpha)
            own_log = gammaln(sum(values.values())) - sum(gammaln(value) for value in values.values())
            total += prior_log + sum((self.alpha - 1) * logs[s, t] for t in values)
            total -= own_log + sum((value - 1) * logs[s, t] for t, value in values.items())
        return total

    def best_tension(self) -> float:
        shares = self.posteriors()

        def lost(tension: float) -> float:
            return -sum(
                share * math.log(prior)
                for at, found in shares.items()
                for share, prior in zip(found[1:], self.prior(*at, tension), strict=True)
            )

        found = minimize_scalar(lost, bounds=(0.1, 14.0), method="bounded", options={"xatol": 1e-8})
        return float(found.x)

    def fast_align_tension(self) -> float:
        """What fast_align -o makes of the tension, by its own formulas with its own slips."""
        shares, words = self.posteriors(), len(self.places())
        found = -sum(
            share * abs(i / len(self.source[row]) - place / len(self.target[row]))
            for (row, place), all_shares in shares.items()
            for i, share in enumerate(all_shares)
            if i
        )
        tension = self.tension
        for _ in range(8):
            model = sum(
                _slope(place + 1, len(self.target[row]), len(self.source[row]), tension) for row, place in self.places()
            )
            tension = min(max(tension + 20 * (found - model) / words, 0.1), 14.0)
        return tension

    def step(self, *, tension_step: float = 0.0, fast_align: bool = False) -> None:
        """One iteration: the counts under the present model, then a new θ, then a new tension."""
        counts = self.counts()
        tension = self.tension
        if fast_align:
            tension = self.fast_align_tension()
        elif tension_step:
            tension += tension_step * (self.best_tension() - tension)
        if self.variational:
            self.posterior = {s: {t: c + self.alpha for t, c in found.items()} for s, found in counts.items()}
            self.theta = {
                (s, t): math.exp(digamma(value) - digamma(sum(values.values())))
                for s, values in self.posterior.items()
                for t, value in values.items()
            }
        else:
            totals = {s: sum(found.values()) or 1.0 for s, found in counts.items()}  # 0 / 0 is 0: nothing is expected
            self.theta = {(s, t): c / totals[s] for s, found in counts.items() for t, c in found.items()}
        self.tension = tension

    def run(self, iterations: int, *, tension_step: float = 0.0, fast_align: bool = False) -> list[float]:
        """The objective of each iteration; the last one only looks. The tension moves from the second one on."""
        found = []
        for number in range(1, iterations + 1):
            found.append(self.bound() if self.variational else self.log_likelihood())
            if number < iterations:
                self.step(tension_step=tension_step if number > 1 else 0.0, fast_align=fast_align and number > 1)
        return found

    def links(self) -> set[Link]:
        """The best source word of each target word, but where null is at least as good."""
        found = set()
        for row, place in self.places():
            null, *real = self.weights(row, place)
            # The first of those that differ by rounding only: a word may stand twice, as far from the diagonal.
            best = next(i for i, weight in enumerate(real) if weight >= max(real) * (1 - 1e-7))
            if real[best] > null:
                found.add((row, best, place))
        return found


def _slope(j: int, m: int, n: int, tension: float) -> float:
    """Σ -h exp(-λ h) over the source words of target word j, over a normaliser with the two lengths exchanged."""
    h = [abs(i / n - j / m) for i in range(1, n + 1)]
    below = int(j * m / n)
    ratio = math.exp(-tension / m)
    above = (m - below) % 2**32  # an unsigned number
    weight = math.exp(-tension * abs((below + 1) / m - j / n)) * (1 - ratio**above) / (1 - ratio) if above else 0.0
    if below:
        weight += math.exp(-tension * abs(below / m - j / n)) * (1 - ratio**below) / (1 - ratio)
    return sum(-distance * math.exp(-tension * distance) for distance in h) / weight
