"""What numbers bear out: whether they clear their null, whether a layer stands out, whether dots deserve a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from interlingua.report.readings import Pair, Reading, Readings, lower_is_better, mean
from interlingua.report.wording import number, p_value
from interlingua.stats import Association, correlate
from interlingua.stats.chance import LEVEL, binomial_p

Line = tuple[tuple[float, float], tuple[float, float]]

FEW = 5
"""With fewer items no correlation is told and no line drawn: of 4 even a perfect order has p = 0.08."""


def above_null(reading: Reading, *, tries: int = 1) -> bool:
    """Whether the interval lies above the null; a reading without either gets the benefit of the doubt.

    A share whose chance is one of its n candidates must also have more hits than chance gives in 2.5 % of studies, over
    the `tries` it was the best of (Bonferroni): of 200 sentences 3 hits have an interval above 1/200, which chance
    gives in 8 %.

    >>> above_null(Reading(0.3, null=0.1, low=0.2, high=0.4)), above_null(Reading(0.3, null=0.25, low=0.2, high=0.4))
    (True, False)
    >>> [above_null(Reading(hits / 200, 1 / 200, hits / 200 - 0.0099, 0.1, 200)) for hits in (3, 4)]
    [False, True]
    """
    if reading.low is None or reading.null is None:
        return True
    if reading.low <= reading.null:
        return False
    one_in_n = abs(reading.null * reading.n - 1) < 0.5
    return not one_in_n or tries * binomial_p(reading.value * reading.n, reading.n, reading.null) < LEVEL / 2


def apart_from_null(reading: Reading) -> bool:
    """Whether the null lies outside the interval, on whichever side; without either, the benefit of the doubt."""
    if reading.low is None or reading.high is None or reading.null is None:
        return True
    return not reading.low <= reading.null <= reading.high


@dataclass(frozen=True)
class Change:
    """A difference of two numbers and its 95 % interval; no interval where one of the two has none."""

    value: float
    low: float | None
    high: float | None

    @property
    def sign(self) -> int:
        """1 where the interval lies above 0, -1 where below, 0 where nothing can be told."""
        if self.low is None or self.high is None:
            return 0
        return int(self.low > 0) - int(self.high < 0)

    @property
    def told(self) -> str:
        r"""The interval in points of percent, in brackets.

        >>> Change(0.03, 0.014, 0.046).told
        '95\xa0% interval of the change +1.4 to +4.6 points'
        >>> Change(0.0, 0.0, 0.0).told
        'every sentence as before'
        """
        if self.low is None or self.high is None:
            return "without an interval"
        if self.low == self.high == 0:  # Differences that are all 0 have an interval of no width, which proves nothing.
            return "every sentence as before"
        ends = ((f"{'+' if end > 0 else ''}{number(100 * end, 1)}") for end in (self.low, self.high))
        return f"95\N{NO-BREAK SPACE}% interval of the change {' to '.join(ends)} points"


def change(after: Mapping[Pair, Reading], before: Mapping[Pair, Reading], key: str) -> Change:
    """What pairs gain on average, with the interval of their differences by row, which `details` have under `key`.

    Bounds are averaged, as everywhere. Where some pair does not have it (records of older versions), the two intervals
    are taken as far apart as they may be: the error of a difference is at most the sum of both errors.

    >>> pairs = [{("en", "ru"): Reading(value, low=value - 0.1, high=value + 0.1)} for value in (0.5, 0.2)]
    >>> round(change(*pairs, "above_raw").low, 2)
    0.1
    """
    known = [reading.details.get(key) for reading in after.values()]
    if all(known):
        return Change(*(float(end) for end in np.mean(np.array(known, np.float64), axis=0)))
    one, other = mean(after.values()), mean(before.values())
    value = one.value - other.value
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return Change(value, None, None)
    return Change(value, one.low - other.high, one.high - other.low)


@dataclass(frozen=True)
class Peak:
    """The layer with the best mean over pairs, its reading, and the other layers that read within its interval."""

    layer: int
    reading: Reading
    rivals: tuple[int, ...]
    layers: tuple[int, ...]
    output: bool = False
    """Whether it was not chosen, but is the model's own output."""

    @property
    def chance(self) -> bool:
        """Whether even this layer is no better than its null, counting how many it was chosen from."""
        return not above_null(self.reading, tries=1 if self.output else max(len(self.layers), 1))

    @property
    def flat(self) -> bool:
        """Whether all other layers read within its interval, so that no layer is best."""
        return not self.output and len(self.layers) > 1 and len(self.rivals) == len(self.layers) - 1

    @property
    def shallow(self) -> bool:
        """Whether the embedding output does as well as any layer: shared pieces of words may be all that is found."""
        return not self.chance and len(self.layers) > 1 and 0 in (self.layer, *self.rivals)

    @property
    def stands_out(self) -> bool:
        """Whether it is a layer to name: above chance, and above some other layer; a lone layer is no choice."""
        return not self.output and not self.chance and not self.flat


def at_chance(found: Readings) -> bool:
    """Whether the headline is no better than chance, so that nothing is ranked by it; False without one."""
    top = peak(found)
    return top is not None and top.chance


def peak(found: Readings, key: tuple[str, str] | None = None) -> Peak | None:
    """The best layer of a measure and variant, of the headline's by default; None without layers.

    It is the highest, or the lowest where low is best; of the headline the model's own output, if any. A layer is
    a rival where its mean lies within the best one's interval: on other sentences either may be first.
    """
    headline = key is None
    key = key or found.headline()
    layers = found.layers(*key) if key else []
    if key is None or not layers:
        return None
    each = {layer: mean(found.at(*key, layer).values()) for layer in layers}
    sign = -1.0 if lower_is_better(each[layers[0]].best, *key) else 1.0
    output = headline and found.output in layers
    top = found.best_layer() if output else max(layers, key=lambda layer: (sign * each[layer].value, -layer))
    assert top is not None
    end = each[top].low if sign > 0 else each[top].high
    rivals = () if end is None else tuple(at for at in layers if at != top and sign * each[at].value >= sign * end)
    # Equal to the last bit is no peak either, interval or not.
    level = tuple(at for at in layers if at != top) if len({own.value for own in each.values()}) == 1 else rivals
    return Peak(top, each[top], level, tuple(layers), output)


def association_numbers(found: Association) -> str:
    r"""A correlation over languages with all that judges it; the only wording of one.

    >>> association_numbers(Association(-0.156, -0.59, 0.35, 0.54, 1e-4, 0.648, 17))
    'Spearman’s ρ = −0.16 (95\xa0% interval −0.59 to 0.35), p = 0.54 (least possible < 0.001), 17 languages'
    """
    kind = "Mantel’s ρ" if found.of_pairs else "Spearman’s ρ"
    bounds = "" if found.low is None else (
        f" (95\N{NO-BREAK SPACE}% interval {number(found.low)} to {number(found.high)})"
    )  # fmt: skip
    return f"{kind} = {number(found.value)}{bounds}, {p_value(found.p)} ({_least(found)}), {found.n} languages"


def association_power(found: Association) -> str:
    r"""What so many languages could have shown, for a correlation without evidence: that is not evidence of none.

    >>> association_power(Association(-0.16, -0.59, 0.35, 0.54, 1e-4, 0.648, 17))
    '17 languages show a |ρ| of 0.65 or more with 80\xa0% power; a weaker relation may exist.'
    >>> association_power(Association(0.5, -0.7, 0.97, 0.45, 2 / 120, None, 5))
    'Of 5 languages only a perfect order, or nearly, has p below 0.05; a weaker relation may exist.'
    >>> association_power(Association(0.5, None, None, 0.33, 2 / 24, None, 4))
    '4 languages are too few to show any relation: p cannot fall below 0.083.'
    """
    if found.least_p >= 0.05:
        return (
            f"{found.n} languages are too few to show any relation: p cannot fall below "
            f"{p_value(found.least_p).removeprefix('p = ')}."
        )
    if found.detectable is None:
        return f"Of {found.n} languages only a perfect order, or nearly, has p below 0.05; a weaker relation may exist."
    return (
        f"{found.n} languages show a |ρ| of {number(found.detectable)} or more with 80\N{NO-BREAK SPACE}% power; "
        "a weaker relation may exist."
    )


def association_said(found: Association) -> str:
    r"""The numbers of a correlation as a sentence, and, where it is not clear, what so many languages could have shown.

    >>> association_said(Association(0.9, 0.6, 0.98, 0.001, 1e-4, 0.648, 17))
    'Spearman’s ρ = 0.90 (95\xa0% interval 0.60 to 0.98), p = 0.001 (least possible < 0.001), 17 languages.'
    """
    numbers = f"{association_numbers(found)}."
    return numbers if found.sign else f"{numbers} {association_power(found)}"


def _least(found: Association) -> str:
    return f"least possible {p_value(found.least_p).removeprefix('p ').removeprefix('= ')}"


@dataclass(frozen=True)
class Trend:
    """A least-squares line where dots bear one out (its ends, else None), and the sentence that says so, or why not."""

    line: Line | None
    said: str


def trend(across: Sequence[float], up: Sequence[float]) -> Trend:
    r"""Words on five dots or more, one per language, and the least-squares line where their correlation is clear.

    The coefficient is the one of the text beside it (`stats.correlate`). No line is drawn against the coefficient's
    sign, which ranks and least squares need not share.

    >>> trend([1, 2, 3], [1, 2, 3]).said
    'Too few for a line: 3 dots.'
    >>> trend([1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]).said
    'No line: Spearman’s ρ = 0.83 (95\xa0% interval −0.13 to 0.99), p = 0.058 (least possible 0.003), 6 languages.'
    >>> trend([1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 9]).said.removeprefix('Spearman’s ρ = 1.00 (95\xa0% interval ')
    '0.63 to 1.00), p = 0.003 (least possible 0.003), 6 languages, with the least-squares line.'
    """
    if len(across) < FEW:
        return Trend(None, f"Too few for a line: {len(across)} dots.")
    found = correlate(across, up)
    if found is None:
        return Trend(None, "No line: one of the two numbers is the same for all dots.")
    line = _least_squares(across, up)
    if found.sign == 0 or found.sign * (line[1][1] - line[0][1]) <= 0:
        return Trend(None, f"No line: {association_numbers(found)}.")
    return Trend(line, f"{association_numbers(found)}, with the least-squares line.")


def trend_of_pairs(across: Sequence[float], up: Sequence[float], found: Association) -> Trend:
    """The same for dots that share languages, whose correlation is `found`: of the pairs, by Mantel's test."""
    line = _least_squares(across, up) if found.sign and len(across) >= FEW and np.ptp(np.asarray(across)) else None
    if line is None or found.sign * (line[1][1] - line[0][1]) <= 0:
        return Trend(None, f"No line: {association_numbers(found)}.")
    return Trend(line, f"{association_numbers(found)}, with the least-squares line.")


def _least_squares(across: Sequence[float], up: Sequence[float]) -> Line:
    slope, level = (float(each) for each in np.polyfit(across, up, 1))
    left, right = float(min(across)), float(max(across))
    return (left, slope * left + level), (right, slope * right + level)
