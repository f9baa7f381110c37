"""Integrated gradients along points chosen by the completeness gap (Sundararajan et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.attribution import attributions
from interlingua.attribution.inputs import AttributionInput, Attributions
from interlingua.encoder.pooling import to_device
from interlingua.encoder.tokens import batches
from interlingua.errors import InputError
from interlingua.registry import unknown

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mix = Callable[[Ints, int], NDArray[np.float32]]
"""The share of the input at each position of points (the rest is baseline): (points, width), or (points, 1)."""
Reduce = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""From the gradients at points, the points, and inputs less baselines, (point, position, dim), to (point, position)."""


def scores_at(case: AttributionInput, owner: Ints, mix: Mix, *, exact: bool) -> Floats:
    """The value of target `owner[p]` at each point p: baseline + mix · (input - baseline)."""
    found = torch.zeros(len(owner), dtype=torch.float64, device=case.through.device)

    def take(points: Ints, values: torch.Tensor, _: torch.Tensor | None) -> None:
        found[to_device(points, found.device)] = values.detach().double()

    _walk(case, owner, mix, take, reduce=None, exact=exact)
    result: Floats = found.cpu().numpy()
    return result


def gradients_at(
    case: AttributionInput, owner: Ints, mix: Mix, weight: Floats, reduce: Reduce, *, exact: bool = False
) -> Floats:
    """What `reduce` makes of gradients at each point, times the point's weight, added up by target: flat, by token."""
    total = int(case.starts[-1])
    # One place more, where what is said of padding goes: no count has to come back to the host.
    sums = torch.zeros(total + 1, dtype=torch.float64, device=case.through.device)

    def take(points: Ints, _: torch.Tensor, reduced: torch.Tensor | None) -> None:
        assert reduced is not None
        offsets = np.arange(reduced.shape[1])
        own = owner[points]
        inside = offsets < np.diff(case.starts)[own][:, None]
        places = np.where(inside, case.starts[own][:, None] + offsets, total)
        shares = to_device(weight[points], sums.device)[:, None]
        sums.index_add_(0, to_device(places.ravel(), sums.device), (shares * reduced).ravel())

    _walk(case, owner, mix, take, reduce=reduce, exact=exact)
    result: Floats = sums[:total].cpu().numpy()
    return result


def ends(case: AttributionInput) -> tuple[Floats, Floats]:
    """The value of each target for its input and for its baseline, by the model in its own precision."""
    count = len(case.targets)
    owner = np.concatenate([np.arange(count), np.arange(count)])

    def mix(points: Ints, _: int) -> NDArray[np.float32]:
        return (points < count).astype(np.float32)[:, None]

    values = scores_at(case, owner, mix, exact=True)
    return values[:count], values[count:]


def attributions_without_path(case: AttributionInput, values: Floats, *, steps: int = 0) -> Attributions:
    """Values with both ends, for ways that follow no path."""
    score, nothing = ends(case)
    return Attributions(values, case.starts, score, nothing, np.full(len(case.targets), steps))


def _walk(
    case: AttributionInput,
    owner: Ints,
    mix: Mix,
    take: Callable[[Ints, torch.Tensor, torch.Tensor | None], None],
    *,
    reduce: Reduce | None,
    exact: bool,
) -> None:
    through, inputs, targets = case.through, case.inputs, case.targets
    rows = targets.row[owner]
    # Without a way back nothing is kept, and more goes through at once in the same memory.
    budget = through.budget if reduce is not None else through.budget * 8
    budget = max(budget // 2, 1) if exact and through.precision == "bf16" else budget
    done = 0
    with through.frozen(), torch.set_grad_enabled(reduce is not None):
        for points in batches(inputs.lengths[rows], budget):
            # Points of one input share its embeddings: they are looked up once.
            distinct, which = np.unique(rows[points], return_inverse=True)
            batch = inputs.batch(rows[points], through.device)
            width = batch["input_ids"].shape[1]
            nothing, difference = _sides(case, inputs.batch(distinct, through.device)["input_ids"][:, :width])
            nothing, difference = (side[to_device(which, through.device)] for side in (nothing, difference))
            share = to_device(mix(points, width), through.device)[:, :, None]
            there = (nothing + share * difference).requires_grad_(reduce is not None)
            values = targets.values(through.scores(there, batch, exact=exact), batch, owner[points])
            reduced = None
            if reduce is not None:
                (gradient,) = torch.autograd.grad(values.sum(), there)
                with torch.no_grad():
                    reduced = reduce(gradient.float(), there.detach(), difference)
            take(points, values, reduced)
            done += len(points)
            if case.progress:
                case.progress(done, len(owner))


def _sides(case: AttributionInput, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The baseline's embeddings of ids and the input's less those, (input, position, dim)."""
    vectors = case.through.embed(ids)
    kept = torch.isin(ids, torch.tensor(case.baseline.kept, device=ids.device))[..., None]
    nothing = torch.where(kept, vectors, case.baseline.vector)
    return nothing, vectors - nothing


@attributions.register("integrated", needs="gradients")
@dataclass(frozen=True)
class IntegratedGradients:
    """Integrated gradients: complete, so that attributions add up to what the input changes (Wang et al. 2021 Eq. 1).

    a_i = sum_k (x_ik - x'_ik) · integral over alpha in [0, 1] of dF(x' + alpha (x - x')) / dx_ik, with x the word
    embeddings, x' the baseline and the integral a sum over `steps` points by `rule` (Sundararajan et al. 2017). Where
    an example's completeness gap is above `tolerance`, it alone is integrated again over twice the steps, until it is
    below or `most` are reached; `tolerance=None` leaves all at `steps`. What a model in bfloat16 leaves above the
    tolerance, by rounding or by too few steps, is done in float32.
    """

    steps: int = 16
    rule: str = "gauss-legendre"
    tolerance: float | None = 0.01
    most: int = 256

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise unknown("rule of integration", self.rule, list(RULES))
        if self.steps < LEAST[self.rule]:
            raise InputError("too few steps", value=self.steps, remedy=f"Give at least {LEAST[self.rule]}.")
        if self.tolerance is not None and not self.tolerance > 0:
            raise InputError("the tolerance is not above 0", value=self.tolerance, remedy="Give 0.01 for 1 %.")

    def __call__(self, case: AttributionInput) -> Attributions:
        """The attributions of every target of a case."""
        score, nothing = ends(case)
        count = len(case.targets)
        found = Attributions(np.zeros(case.starts[-1]), case.starts, score, nothing, np.zeros(count, np.int64))
        chosen, steps, exact = np.arange(count), self.steps, case.through.precision == "fp32"
        while len(chosen):
            found = _with(found, chosen, self._integral(case, chosen, steps, exact=exact), steps)
            if self.tolerance is None or (exact and steps >= self.most):
                break
            chosen = chosen[found.gap[chosen] > self.tolerance]
            steps, exact = (min(2 * steps, self.most) if exact else steps), True
        return found

    def _integral(self, case: AttributionInput, chosen: Ints, steps: int, *, exact: bool) -> Floats:
        """The attributions of the chosen targets, flat."""
        alphas, weights = RULES[self.rule](steps)
        part = replace(case, targets=case.targets.take(chosen))
        owner = np.repeat(np.arange(len(chosen)), steps)
        shares = np.tile(alphas, len(chosen)).astype(np.float32)
        return gradients_at(
            part,
            owner,
            lambda points, _: shares[points][:, None],
            np.tile(weights, len(chosen)),
            _along,
            exact=exact,
        )


def _along(gradient: torch.Tensor, there: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
    return (gradient * difference).sum(dim=-1)


def _with(found: Attributions, chosen: Ints, values: Floats, steps: int) -> Attributions:
    """The attributions with those of the chosen targets replaced."""
    all_steps, flat = found.steps.copy(), found.values.copy()
    all_steps[chosen] = steps
    lengths = np.diff(found.starts)
    marked = np.zeros(len(lengths), bool)
    marked[chosen] = True
    flat[np.repeat(marked, lengths)] = values  # `chosen` is in order.
    return replace(found, values=flat, steps=all_steps)


def gauss_legendre(steps: int) -> tuple[Floats, Floats]:
    """Points in (0, 1) and weights that integrate polynomials up to degree 2 · steps - 1 exactly.

    >>> alphas, weights = gauss_legendre(3)
    >>> round(float(weights @ alphas**5), 12) == round(1 / 6, 12)
    True
    """
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    return (1.0 + nodes) / 2.0, weights / 2.0


def _riemann(offset: float) -> Callable[[int], tuple[Floats, Floats]]:
    return lambda steps: ((np.arange(steps) + offset) / steps, np.full(steps, 1.0 / steps))


def trapezoid(steps: int) -> tuple[Floats, Floats]:
    """Points from 0 to 1, the two ends at half weight; weights add up to 1.

    Captum's `riemann_trapezoid` has them add up to 1 - 1/steps: its attributions are ours times that.
    """
    weights = np.full(steps, 1.0 / (steps - 1))
    weights[[0, -1]] /= 2.0
    return np.linspace(0.0, 1.0, steps), weights


RULES: dict[str, Callable[[int], tuple[Floats, Floats]]] = {
    "gauss-legendre": gauss_legendre,
    "left": _riemann(0.0),
    "middle": _riemann(0.5),
    "right": _riemann(1.0),
    "trapezoid": trapezoid,
}
LEAST = {name: 2 if name == "trapezoid" else 1 for name in RULES}
