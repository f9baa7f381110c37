"""What numbers support: whether they clear their null value, whether a layer stands out, whether a line is drawn."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from interlingua.record import Estimate, RecordTable
from interlingua.report.kit.finding import Verdict
from interlingua.report.kit.wording import format_number, format_p_value
from interlingua.stats import Association, correlate
from interlingua.stats.chance import LEVEL, binomial_p

K = TypeVar("K", bound=Hashable)
Line = tuple[tuple[float, float], tuple[float, float]]

MIN_CORRELATION_ITEMS = 5
"""With fewer items no correlation is reported and no line drawn: of 4 even a perfect order has p = 0.08."""


def is_above_null(estimate: Estimate, *, tries: int = 1) -> bool:
    """Whether the interval lies above the null value; an estimate without either gets the benefit of the doubt.

    A share whose chance is one of its n candidates must also have more hits than chance gives in 2.5 % of studies, over
    the `tries` it was the best of (Bonferroni): of 200 sentences 3 hits have an interval above 1/200, which chance
    gives in 8 %.

    >>> is_above_null(Estimate(value=0.3, null_value=0.1, ci_low=0.2, ci_high=0.4))
    True
    >>> [is_above_null(Estimate(value=h / 200, null_value=1 / 200, ci_low=h / 200 - 0.0099, n=200)) for h in (3, 4)]
    [False, True]
    """
    if estimate.ci_low is None or estimate.null_value is None:
        return True
    if estimate.ci_low <= estimate.null_value:
        return False
    one_in_n = abs(estimate.null_value * estimate.n - 1) < 0.5
    return not one_in_n or tries * binomial_p(estimate.value * estimate.n, estimate.n, estimate.null_value) < LEVEL / 2


def differs_from_null(estimate: Estimate) -> bool:
    """Whether the null value lies outside the interval, on whichever side; without either, the benefit of the doubt."""
    if estimate.ci_low is None or estimate.ci_high is None or estimate.null_value is None:
        return True
    return not estimate.ci_low <= estimate.null_value <= estimate.ci_high


def judge_sign(sign: int) -> Verdict:
    """The verdict of a test whose interval lies above 0 (1), below it (-1), or contains it (0)."""
    return {1: Verdict.HIGHER, -1: Verdict.LOWER}.get(sign, Verdict.UNCLEAR)


def tied_for_first(estimates: Mapping[K, Estimate], *, higher_is_better: bool = True) -> list[K]:
    """The items that lie within the interval of the best, it included: on other sentences any may be first.

    >>> tied_for_first({"a": Estimate(value=0.5, ci_low=0.4), "b": Estimate(value=0.45), "c": Estimate(value=0.3)})
    ['a', 'b']
    """
    sign = 1.0 if higher_is_better else -1.0
    top = max(estimates, key=lambda item: sign * estimates[item].value)
    bound = estimates[top].ci_low if higher_is_better else estimates[top].ci_high
    bound = estimates[top].value if bound is None else bound
    return [item for item in estimates if sign * estimates[item].value >= sign * bound]


@dataclass(frozen=True)
class Peak:
    """The layer with the best mean, its estimate, and the other layers within its interval."""

    layer: int
    estimate: Estimate
    tied_layers: tuple[int, ...]
    layers: tuple[int, ...]
    is_output: bool = False
    """Whether it was not chosen, but is the model's own output (sentence-transformers)."""

    @property
    def is_at_chance(self) -> bool:
        """Whether even this layer is no better than its null value, counting how many it was chosen from."""
        return not is_above_null(self.estimate, tries=1 if self.is_output else max(len(self.layers), 1))

    @property
    def has_no_peak(self) -> bool:
        """Whether all other layers lie within its interval, so that no layer is best."""
        return not self.is_output and len(self.layers) > 1 and len(self.tied_layers) == len(self.layers) - 1

    @property
    def embeddings_suffice(self) -> bool:
        """Whether the embedding output does as well as any layer: shared pieces of words may be all that is found."""
        return not self.is_at_chance and len(self.layers) > 1 and 0 in (self.layer, *self.tied_layers)

    @property
    def stands_out(self) -> bool:
        """Whether it is a layer to name: above chance, and above some other layer; a lone layer is no choice."""
        return not self.is_output and not self.is_at_chance and not self.has_no_peak


def find_peak(layers: Mapping[int, Estimate], *, higher_is_better: bool = True, output: int | None = None) -> Peak:
    """The best of the layers, the lowest of equals; the model's own `output` where it has one.

    A layer is tied where its mean lies within the best one's interval; layers that are all equal are all tied.

    >>> find_peak({0: Estimate(value=0.1), 1: Estimate(value=0.5, ci_low=0.4), 2: Estimate(value=0.45)}).tied_layers
    (2,)
    """
    order = sorted(layers)
    sign = 1.0 if higher_is_better else -1.0
    top = output if output in layers else max(order, key=lambda layer: (sign * layers[layer].value, -layer))
    assert top is not None
    bound = layers[top].ci_low if higher_is_better else layers[top].ci_high
    others = [layer for layer in order if layer != top]
    tied = () if bound is None else tuple(at for at in others if sign * layers[at].value >= sign * bound)
    if len({estimate.value for estimate in layers.values()}) == 1:  # Equal to the last bit is no peak.
        tied = tuple(others)
    return Peak(top, layers[top], tied, tuple(order), output in layers)


def layer_means(records: RecordTable) -> dict[int, Estimate]:
    """The mean of one metric per layer, over pairs, directions and seeds; records without a layer are left out."""
    return {layer: own.estimate() for (layer,), own in records.by("layer").items() if layer is not None}


def describe_association(found: Association) -> str:
    r"""A correlation over languages with all that judges it; the only wording of one.

    >>> describe_association(Association(-0.156, -0.59, 0.35, 0.54, 1e-4, 0.648, 17))
    'Spearman’s ρ = −0.16 (95\xa0% interval −0.59 to 0.35), p = 0.54 (least possible < 0.001), 17 languages'
    """
    kind = "Mantel’s ρ" if found.of_pairs else "Spearman’s ρ"
    bounds = "" if found.low is None else (
        f" (95\N{NO-BREAK SPACE}% interval {format_number(found.low)} to {format_number(found.high)})"
    )  # fmt: skip
    numbers = f"{kind} = {format_number(found.value)}{bounds}, {format_p_value(found.p)}"
    return f"{numbers} ({_least_p(found)}), {found.n} languages"


def describe_association_power(found: Association) -> str:
    r"""The |ρ| that is detectable with this number of languages; a weaker correlation may exist.

    >>> describe_association_power(Association(-0.16, -0.59, 0.35, 0.54, 1e-4, 0.648, 17))
    '17 languages show a |ρ| of 0.65 or more with 80\xa0% power; a weaker relation may exist.'
    >>> describe_association_power(Association(0.5, -0.7, 0.97, 0.45, 2 / 120, None, 5))
    'Of 5 languages only a perfect order, or nearly, has p below 0.05; a weaker relation may exist.'
    >>> describe_association_power(Association(0.5, None, None, 0.33, 2 / 24, None, 4))
    '4 languages are too few to show any relation: p cannot fall below 0.083.'
    """
    if found.least_p >= 0.05:
        return (
            f"{found.n} languages are too few to show any relation: p cannot fall below "
            f"{format_p_value(found.least_p).removeprefix('p = ')}."
        )
    if found.p < 0.05:  # A small p alone is no evidence where the interval is unknown or contains 0.
        return f"The interval is unknown or contains 0: {found.n} languages are too few to claim a relation."
    if found.detectable is None:
        return f"Of {found.n} languages only a perfect order, or nearly, has p below 0.05; a weaker relation may exist."
    least = format_number(found.detectable)
    return (
        f"{found.n} languages show a |ρ| of {least} or more with 80\N{NO-BREAK SPACE}% power; "
        "a weaker relation may exist."
    )


def association_sentence(found: Association) -> str:
    r"""The numbers of a correlation as a sentence; if it is not significant, also the |ρ| that is detectable.

    >>> association_sentence(Association(0.9, 0.6, 0.98, 0.001, 1e-4, 0.648, 17))
    'Spearman’s ρ = 0.90 (95\xa0% interval 0.60 to 0.98), p = 0.001 (least possible < 0.001), 17 languages.'
    """
    numbers = f"{describe_association(found)}."
    return numbers if found.sign else f"{numbers} {describe_association_power(found)}"


def _least_p(found: Association) -> str:
    return f"least possible {format_p_value(found.least_p).removeprefix('p ').removeprefix('= ')}"


@dataclass(frozen=True)
class Trend:
    """A least-squares line where dots bear one out (its ends, else None), and the sentence that says so, or why not."""

    line: Line | None
    text: str


def fit_trend(across: Sequence[float], up: Sequence[float]) -> Trend:
    r"""Words on five dots or more, one per language, and the least-squares line where their correlation is clear.

    The coefficient is the one of the text beside it (`stats.correlate`). No line is drawn against the coefficient's
    sign, which ranks and least squares need not share.

    >>> fit_trend([1, 2, 3], [1, 2, 3]).text
    'Too few for a line: 3 dots.'
    >>> fit_trend([1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]).text
    'No line: Spearman’s ρ = 0.83 (95\xa0% interval −0.13 to 0.99), p = 0.058 (least possible 0.003), 6 languages.'
    >>> fit_trend([1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 9]).text.removeprefix('Spearman’s ρ = 1.00 (95\xa0% interval ')
    '0.63 to 1.00), p = 0.003 (least possible 0.003), 6 languages, with the least-squares line.'
    """
    if len(across) < MIN_CORRELATION_ITEMS:
        return Trend(None, f"Too few for a line: {len(across)} dots.")
    found = correlate(across, up)
    if found is None:
        return Trend(None, "No line: one of the two numbers is the same for all dots.")
    return fit_trend_of_pairs(across, up, found)


def fit_trend_of_pairs(across: Sequence[float], up: Sequence[float], found: Association) -> Trend:
    """The same with a correlation that is known: of dots that share languages it is that of pairs, by Mantel's test."""
    if found.sign and len(across) >= MIN_CORRELATION_ITEMS and np.ptp(np.asarray(across)):
        slope, level = (float(coefficient) for coefficient in np.polyfit(across, up, 1))
        left, right = float(min(across)), float(max(across))
        if found.sign * slope > 0:
            line = ((left, slope * left + level), (right, slope * right + level))
            return Trend(line, f"{describe_association(found)}, with the least-squares line.")
    return Trend(None, f"No line: {describe_association(found)}.")
