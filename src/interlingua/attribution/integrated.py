"""Layer integrated gradients over word embeddings (papers/002 §2.1): rules of integration, more steps where needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.attribution import attributions
from interlingua.attribution.attributed import Attributions, Case
from interlingua.attribution.points import ends, gradients_at
from interlingua.errors import InputError
from interlingua.registry import unknown

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@attributions.register("integrated", needs="gradients")
@dataclass(frozen=True)
class IntegratedGradients:
    """Integrated gradients: complete, so that attributions add up to what the input changes (papers/002 Eq. 1).

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

    def __call__(self, case: Case) -> Attributions:
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

    def _integral(self, case: Case, chosen: Ints, steps: int, *, exact: bool) -> Floats:
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
