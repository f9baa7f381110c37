"""Mantel: the correlation of two language × language matrices, whose cells are not independent of each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.stats import rankdata

from interlingua.errors import InputError
from interlingua.score import Score
from interlingua.stats import pearson

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BLOCK = 1 << 20  # cells that are permuted at once


def mantel(
    left: Floats,
    right: Floats,
    *,
    given: Floats | None = None,
    ranks: bool = False,
    permutations: int = 9999,
    seed: int = 0,
) -> Score:
    """The correlation of two matrices' off-diagonal cells, in [-1, 1]; with `ranks` Spearman's instead of Pearson's.

    Cells (a, b) and (a, c) share a language, so n (n - 1) cells are worth far fewer independent ones, and the usual
    interval and p-value are too good. Instead

    - `details["p"]`, two-sided, in (0, 1]: the share of permutations of the languages of one matrix, rows and columns
      together, with |r| at least as large (Mantel 1967). Where n! is at most `permutations` all of them are taken
      (`exact`), else so many seeded draws and the observed one. With n languages p is at least 1 / n!: 0.042 for four.
    - `low`, `high`: z ± t(0.975, n - 1) · sqrt((n - 1) / n · Σ (z₋ᵢ - mean z₋)²), back from Fisher's scale z = atanh r,
      with z₋ᵢ the value without language i, its row and its column: the jackknife, which holds for statistics of
      pairs (Arvesen 1969). Absent below five languages, where leaving one out leaves too few, or for |r| = 1.

    `null` is the mean over the permutations, `n` the number of cells; rows and columns are those of the same languages
    in both. Either matrix may be asymmetric, and the diagonal is not looked at. Constant cells have no correlation: 0.

    `given`, a third matrix, is held: the value is the partial correlation (r_lr - r_lg r_rg) / sqrt((1 - r_lg²)
    (1 - r_rg²)), its permutations move the right matrix against both others (Smouse, Long & Sokal 1986). 0 where the
    third explains all of one.

    >>> far = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 3.0], [4.0, 3.0, 0.0]])
    >>> score = mantel(far, 2 * far + 1)
    >>> round(score.value, 4), score.n, round(score.details["p"], 4), score.details["exact"]
    (1.0, 6, 0.1667, True)
    """
    count = len(left)
    sides = (left, right) if given is None else (left, right, given)
    if any(side.shape != (count, count) for side in sides):
        raise InputError(
            "not square matrices of one size", value=", ".join(str(side.shape) for side in sides), remedy="Pair them."
        )
    if count < 3:
        raise InputError("too few languages to correlate over", value=count, remedy="Give at least three.")
    if not all(np.isfinite(side[_off(count)]).all() for side in sides):
        raise InputError("a cell is missing or undefined", remedy="Measure every pair of languages.")
    value = _value(sides, ranks)
    shuffled, exact = _permuted(left, right, ranks=ranks, permutations=permutations, seed=seed)
    if given is not None:
        third, _ = _permuted(given, right, ranks=ranks, permutations=permutations, seed=seed)
        shuffled = _held(shuffled, np.full(len(third), _correlated(left, given, ranks)), third)
    # Equal up to rounding is as large; the observed one is among all permutations, and joins the draws.
    hits = int((np.abs(shuffled) >= abs(value) - 1e-12).sum())
    p = hits / len(shuffled) if exact else (1 + hits) / (1 + len(shuffled))
    low, high = _jackknife(sides, lambda parts: _value(parts, ranks), value)
    details = {"p": p, "permutations": len(shuffled), "exact": exact, "languages": count}
    return Score(value, count * (count - 1), float(shuffled.mean()), low, high, details=details)


def _off(count: int) -> NDArray[np.bool_]:
    return ~np.eye(count, dtype=bool)


def _correlated(left: Floats, right: Floats, ranks: bool) -> float:
    cells = [side[_off(len(side))] for side in (left, right)]
    return pearson(*(rankdata(side) if ranks else side for side in cells))[0]


def _value(sides: Sequence[Floats], ranks: bool) -> float:
    """The correlation of two matrices, the third held where there is one."""
    plain = _correlated(sides[0], sides[1], ranks)
    if len(sides) == 2:
        return plain
    both = (np.array([_correlated(side, sides[2], ranks)]) for side in sides[:2])
    return float(_held(np.array([plain]), *both)[0])


def _held(plain: Floats, left: Floats, right: Floats) -> Floats:
    """Partial correlations from the plain ones and those of each side with what is held."""
    rest = np.sqrt(np.clip((1 - left**2) * (1 - right**2), 0.0, None))
    there = rest > 1e-9
    return np.where(there, (plain - left * right) / np.where(there, rest, 1.0), 0.0)


def _permuted(left: Floats, right: Floats, *, ranks: bool, permutations: int, seed: int) -> tuple[Floats, bool]:
    """The correlation for each permutation of the right one's languages, and whether these are all there are."""
    count = len(left)
    exact = math.factorial(count) <= permutations
    draw = np.random.default_rng(seed)
    orders = (
        np.array(list(itertools.permutations(range(count))))
        if exact
        else np.stack([draw.permutation(count) for _ in range(permutations)])
    )
    rows, columns = np.nonzero(_off(count))
    # A permutation moves cells, and so their ranks, and changes none: mean and length are those of all.
    ours, cells = (_standard(side[rows, columns], ranks) for side in (left, right))
    theirs = np.zeros((count, count))
    theirs[rows, columns] = cells
    block = max(_BLOCK // len(rows), 1)
    found = [
        theirs[part[:, rows], part[:, columns]] @ ours
        for part in (orders[begin : begin + block] for begin in range(0, len(orders), block))
    ]
    return np.concatenate(found), exact


def _standard(cells: Floats, ranks: bool) -> Floats:
    """Cells (or their ranks) of mean 0 and length 1; all 0 where they are constant."""
    around = rankdata(cells) if ranks else cells.astype(np.float64)
    spread = float(np.ptp(around)) > 1e-12 * float(np.abs(around).max())
    around = around - around.mean()
    return around / np.linalg.norm(around) if spread else np.zeros(len(cells))


def _jackknife(
    sides: Sequence[Floats], statistic: Callable[[Sequence[Floats]], float], value: float
) -> tuple[float | None, float | None]:
    count = len(sides[0])
    if count < 5:
        return None, None
    kept = [np.delete(np.arange(count), number) for number in range(count)]
    parts = np.array([statistic([side[np.ix_(rows, rows)] for side in sides]) for rows in kept])
    if np.abs([value, *parts]).max() >= 1 - 1e-12:
        return None, None
    scaled, middle = np.arctanh(parts), float(np.arctanh(value))
    error = float(np.sqrt((count - 1) / count * ((scaled - scaled.mean()) ** 2).sum()))
    half = float(special.stdtrit(count - 1, 0.975)) * error
    return float(np.tanh(middle - half)), float(np.tanh(middle + half))
