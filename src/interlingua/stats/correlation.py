"""Correlations: Pearson's and Spearman's of two vectors, Mantel's of two matrices, and the one that pages print."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.stats import rankdata

from interlingua.errors import InputError
from interlingua.score import Score
from interlingua.stats.intervals import Z95

Correlation = tuple[float, float | None, float | None]
Floats = NDArray[np.float64]
_BLOCK = 1 << 20  # cells that are permuted at once
PERMUTATIONS = 9999
"""How many orders are drawn where there are too many to take all."""
Z80 = 0.8416212335729143
"""The 80 % point of the normal distribution."""


@dataclass(frozen=True)
class Association:
    """Spearman's rho of two numbers over languages, in [-1, 1], and what its number of languages allows to say.

    `low` and `high` bound the 95 % interval, None where too few are left to know. `p` is that of a permutation test,
    two-sided, in (0, 1], `least_p` the smallest that this number of languages allows, and `detectable` the smallest
    |rho| that is called clear (`sign`) with 80 % power; None where none is.
    """

    value: float
    low: float | None
    high: float | None
    p: float
    least_p: float
    detectable: float | None
    n: int
    of_pairs: bool = False

    @property
    def sign(self) -> int:
        """1 or -1 where p is below .05 and the interval leaves out 0, else 0: nothing can be said."""
        if self.p >= 0.05 or self.low is None or self.high is None or self.low <= 0 <= self.high:
            return 0
        return 1 if self.value > 0 else -1


def correlate(
    x: Sequence[float], y: Sequence[float], *, languages: Sequence[Any] | None = None, seed: int = 0
) -> Association | None:
    """Spearman's rho of two numbers over languages; None where it is undefined: a side is constant, or under 3 items.

    `languages` says what each item is of: a language, or a pair of them (a tuple of two). Items of one language are not
    independent, so they are averaged first, and `n` counts languages. Pairs share languages: they are compared by
    Mantel's test, every pair of them once or in both directions, and `n` counts languages again
    (`association_of_pairs`).

    p is the share of orders of one side with |rho| at least as large: all of them up to 7 languages (exact), 9,999
    seeded ones and the one observed beyond (Phipson & Smyth 2010). No table or t approximation: they fail on few items.
    The interval is Bonett & Wright's (2000), tanh(atanh(rho) ± 1.96 sqrt((1 + rho²/2) / (n - 3))), where |rho| is taken
    as at most 1 - 6 / (n³ - n): half a step below a perfect order, which does not prove a perfect relation (without
    it the interval of five items covers .62 of what it should). None below five items. Of pairs it is Mantel's
    jackknife over languages.

    >>> found = correlate([1, 2, 3, 4, 5, 6], [10, 20, 30, 50, 40, 60])
    >>> round(found.value, 3), round(found.p, 3), round(found.least_p, 4), round(found.detectable, 2), found.n
    (0.943, 0.017, 0.0028, 0.98, 6)
    >>> correlate([1, 1, 1], [1, 2, 3]) is None
    True
    """
    sides = np.asarray(x, np.float64), np.asarray(y, np.float64)
    keys = list(range(len(sides[0]))) if languages is None else list(languages)
    if not len(sides[0]) == len(sides[1]) == len(keys):
        raise InputError(
            "sides to correlate differ in length", value=f"{len(sides[0])}, {len(sides[1])}, {len(keys)}",
            remedy="Give one value of each per item.",
        )  # fmt: skip
    if not all(np.isfinite(side).all() for side in sides):
        raise InputError("a value to correlate is not a finite number", remedy="Leave that item out, and say so.")
    if any(isinstance(key, tuple) for key in keys):
        return _of_pairs(*sides, keys, seed)
    groups: dict[Any, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        groups[key].append(place)
    ours, theirs = (np.array([side[places].mean() for places in groups.values()]) for side in sides)
    n = len(groups)
    if n < 3 or _correlation(ours, theirs) is None:
        return None
    left, right = (_standard(side, True) for side in (ours, theirs))
    value = float(left @ right)
    if _correlation(rankdata(ours), rankdata(theirs)) is None:
        return None
    orders, exact = _orders(n, 5040, seed)  # All 7! of them: more take longer than the page.
    drawn = np.abs(right[orders] @ left)
    hits = int((drawn >= abs(value) - 1e-9).sum())
    p = hits / len(orders) if exact else (hits + 1) / (len(orders) + 1)
    # With ties fewer orders differ, and the least p is larger.
    least = float((drawn >= drawn.max() - 1e-9).mean()) if exact else 1 / (len(orders) + 1)
    low, high = _bounds(value, n)
    return Association(min(max(value, -1.0), 1.0), low, high, p, least, detectable_rho(n), n)


def detectable_rho(n: int) -> float | None:
    """The smallest |rho| of n items that is called clear with 80 % power (`Association.sign`); None below six items.

    Clear is an estimate beyond c, whose interval ends at 0: atanh(c) = 1.96 sqrt((1 + c²/2) / (n - 3)), by Bonett &
    Wright's (2000) error. It is the rho with atanh(rho) = atanh(c) + 0.84 sqrt((1 + rho²/2) / (n - 3)). Of five items
    only a perfect order has p below .05, which no rho shows in 80 % of samples; with six the exact test asks for more
    than the formula has: 0.98, by simulation.

    >>> round(detectable_rho(17), 2), round(detectable_rho(7), 2), detectable_rho(5)
    (0.67, 0.93, None)
    """
    if n < 6:
        return None
    limit = rho = 0.5
    for _ in range(100):  # Contractions: digits settle long before.
        limit = float(np.tanh(Z95 * np.sqrt((1 + limit * limit / 2) / (n - 3))))
        rho = float(np.tanh(np.arctanh(limit) + Z80 * np.sqrt((1 + rho * rho / 2) / (n - 3))))
    return 0.98 if n == 6 else rho


def _of_pairs(x: Floats, y: Floats, keys: Sequence[Any], seed: int) -> Association | None:
    """Mantel's test of the cells of pairs of languages; a pair given once counts for both directions."""
    cells = {key: place for place, key in enumerate(keys) if len(set(key)) == 2}
    names = list(dict.fromkeys(name for key in cells for name in key))
    n = len(names)
    if n < 3:
        return None
    matrices = np.zeros((2, n, n))
    for row, column in itertools.permutations(range(n), 2):
        place = cells.get((names[row], names[column]), cells.get((names[column], names[row])))
        if place is None:
            raise InputError(
                "a pair of languages is missing", value=f"{names[row]}-{names[column]}", remedy="Measure every pair."
            )
        matrices[:, row, column] = x[place], y[place]
    off = _off(n)
    if any(np.ptp(side[off]) <= 1e-12 * np.abs(side[off]).max() for side in matrices):
        return None
    return association_of_pairs(mantel(matrices[0], matrices[1], ranks=True, permutations=PERMUTATIONS, seed=seed))


def association_of_pairs(found: Score) -> Association:
    """What `mantel` says of ranks, as the association that pages print, a third matrix held or not.

    `detectable` is that of as many languages without pairs, which pairs of them do not exceed.

    >>> score = Score(0.18, 110, 0.0, -0.1, 0.43, details={"p": 0.21, "languages": 11, "exact": False})
    >>> round(association_of_pairs(score).detectable, 2), association_of_pairs(score).least_p
    (0.8, 0.0001)
    """
    n = int(found.details["languages"])
    least = 1 / math.factorial(n) if found.details["exact"] else 1 / (PERMUTATIONS + 1)
    bounds = found.low, found.high
    return Association(found.value, *bounds, found.details["p"], least, detectable_rho(n), n, of_pairs=True)


def _bounds(value: float, n: int) -> tuple[float | None, float | None]:
    if n < 5:
        return None, None
    most = 1 - 6 / (n**3 - n)
    at = min(max(value, -most), most)
    low, high = _fisher(at, n, 1 + at * at / 2)
    assert low is not None
    assert high is not None
    return min(low, value), max(high, value)


def _orders(n: int, most: int, seed: int) -> tuple[NDArray[np.int64], bool]:
    """All orders of n items where they are at most `most`, else 9,999 drawn ones; and whether they are all."""
    if math.factorial(n) <= most:
        return np.array(list(itertools.permutations(range(n)))), True
    draw = np.random.default_rng(seed)
    return draw.permuted(np.tile(np.arange(n), (PERMUTATIONS, 1)), axis=1), False


def pearson(x: NDArray[np.floating[Any]], y: NDArray[np.floating[Any]]) -> Correlation:
    """Pearson's correlation of two vectors, in [-1, 1], and the ends of its 95 % interval.

    The interval is tanh(atanh(r) ± 1.96 / sqrt(n - 3)) (Fisher 1921), None below four pairs. Where a side is constant
    there is no correlation: 0, without an interval.

    >>> pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    (1.0, None, None)
    """
    value = _correlation(np.asarray(x, np.float64), np.asarray(y, np.float64))
    return (0.0, None, None) if value is None else (value, *_fisher(value, len(x), 1.0))


def spearman(x: NDArray[np.floating[Any]], y: NDArray[np.floating[Any]]) -> Correlation:
    """Spearman's rank correlation of two vectors, in [-1, 1], and the ends of its 95 % interval.

    Pearson's of the ranks, ties sharing theirs. The interval is Fisher's with the variance of atanh(r) put at
    (1 + r²/2) / (n - 3), which holds its level where Fisher's own is too narrow (Bonett & Wright 2000). None
    below four pairs, and 0 without an interval where a side is constant.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0, 100.0]))
    (1.0, None, None)
    """
    value = _correlation(*(rankdata(side).astype(np.float64) for side in (x, y)))
    return (0.0, None, None) if value is None else (value, *_fisher(value, len(x), 1 + value * value / 2))


def _correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("a value to correlate is not a finite number", remedy="Leave that pair out, and say so.")
    ours, theirs = (side - np.mean(side) for side in (x, y))
    scale = float(np.sqrt((ours @ ours) * (theirs @ theirs)))
    # A constant side differs from its mean by rounding alone.
    if any(np.ptp(side) <= 1e-12 * np.abs(side).max(initial=0.0) for side in (x, y)) or not scale > 0:
        return None
    return min(max(float(ours @ theirs) / scale, -1.0), 1.0)


def _fisher(value: float, n: int, variance: float) -> tuple[float | None, float | None]:
    if n < 4:
        return None, None
    middle = float(np.arctanh(min(max(value, -1 + 1e-15), 1 - 1e-15)))
    half = Z95 * float(np.sqrt(variance / (n - 3)))
    return float(np.tanh(middle - half)), float(np.tanh(middle + half))


def mantel(
    left: Floats,
    right: Floats,
    *,
    given: Floats | None = None,
    ranks: bool = False,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> Score:
    """The correlation of two matrices' off-diagonal cells, in [-1, 1]; with `ranks` Spearman's instead of Pearson's.

    Cells (a, b) and (a, c) share a language, so n (n - 1) cells are worth far fewer independent ones, and the usual
    interval and p-value are too good. Instead

    - `details["p"]`, two-sided, in (0, 1]: the share of permutations of the languages of one matrix, rows and columns
      together, with |r| at least as large (Mantel 1967). Where n! is at most `permutations` all of them are taken
      (`exact`), else that number of seeded draws and the observed one. With n languages p is at least 1 / n!: 0.042
      for four.
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
