"""Logarithm of the gamma function and its derivative together: the two cost half as much as one after the other."""

from __future__ import annotations

import torch

_HALF_LOG_TWO_PI = 0.9189385332046727
_LOG_TEN = 2.302585092994046
# Stirling's series: B_2k / (2k (2k - 1)) and B_2k / 2k for k = 1, 2, ...
_LOG_GAMMA = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_TERMS = {torch.float32: 3, torch.float64: 7}
"""How many terms the precision can tell, six steps up."""


def log_gamma_and_digamma(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """ln Γ(x) and ψ(x) of positive numbers, in the precision of x.

    Both are pushed six steps up by Γ(x + 1) = x Γ(x), where Stirling's series is short (Abramowitz & Stegun
    6.1.41, 6.3.18). With u = x (x + 5) the six factors are u and (u + 4) (u + 6).

    >>> log_gamma, digamma = log_gamma_and_digamma(torch.tensor([1.0, 5.0], dtype=torch.float64))
    >>> [round(float(value), 6) for value in (*log_gamma, *digamma)]
    [0.0, 3.178054, -0.577216, 1.506118]
    """
    terms = _TERMS[x.dtype]
    u = x * (x + 5.0)
    rest = (u + 4.0).mul_(u + 6.0)
    up = x + 6.0
    log_up = up.log()
    r = up.reciprocal()
    r2 = r * r
    digamma = u.mul(2.0).add_(10.0).div_(rest).add_(u.reciprocal()).mul_(x.mul(-2.0).sub_(5.0))
    digamma += log_up
    digamma -= r.mul(0.5)
    digamma -= _series(r2, _DIGAMMA[:terms]).mul_(r2)
    log_gamma = _series(r2, _LOG_GAMMA[:terms]).mul_(r).add_(_HALF_LOG_TWO_PI).sub_(up)
    log_gamma += up.sub_(0.5).mul_(log_up)
    log_gamma -= u.mul_(1e-10).mul_(rest.mul_(1e-10)).log_()  # The product alone could overflow.
    log_gamma -= 20 * _LOG_TEN
    return log_gamma, digamma


def _series(x: torch.Tensor, coefficients: tuple[float, ...]) -> torch.Tensor:
    """Σ c_k x^k."""
    *lower, last = coefficients
    value = x.mul(last).add_(lower[-1])
    for coefficient in lower[-2::-1]:
        value.mul_(x).add_(coefficient)
    return value
