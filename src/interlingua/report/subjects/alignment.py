"""How well a model aligns languages: the verdict, languages, pairs, layers, tokenizer; findings first, words last.

Nothing is ranked that is not above chance, or was read among unequal numbers of candidates, and a language is called
weak only where there are five or more and its interval ends below the median language.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from interlingua.record import Difference, Estimate, mean_estimate
from interlingua.report.kit.chart import Axis, Dot, HeatMap, IntervalChart, IntervalRow, ReferenceLine, ScatterChart
from interlingua.report.kit.evidence import (
    MIN_CORRELATION_ITEMS,
    association_sentence,
    fit_trend,
    is_above_null,
    judge_sign,
    tied_for_first,
)
from interlingua.report.kit.finding import Basis, Finding, Verdict, sentence_of
from interlingua.report.kit.section import Headline, KeyFigure, Part, Run, Section, Subject, section_of_parts
from interlingua.report.kit.table import Cell, Column, Table, table_of_columns
from interlingua.report.kit.wording import (
    capitalize_first,
    escape_control_characters,
    format_estimate,
    format_number,
    format_points,
    format_share,
    format_value,
    join_at_most,
    join_with_and,
    pluralize,
)
from interlingua.report.subjects.layers import (
    AlignmentRecords,
    Pair,
    Quantity,
    alignment_blocks,
    difference_sign,
    distance_section,
    is_alignment_record,
    language_layer_table,
    layer_section,
    lost_languages,
    map_section,
    mean_both_directions,
    mean_change,
    quantity_title,
    slugify,
    tokenizer_table,
)
from interlingua.stats import Association, correlate

WEAK_SHARE = 0.75
"""A language is called weak when it has less than this share of the median language, and its interval ends below it."""
MIN_RANKED_LANGUAGES = 5
"""With fewer languages none is called weak, pairs are listed, and a table stands in the place of a heat map."""
MAX_NAMED_LANGUAGES = 5
SCALE = (
    (0.9, "strongly aligned"),
    (0.6, "usable for search with review"),
    (0.2, "weakly aligned"),
    (-1.0, "not aligned"),
)
"""What P@1 means for who wants to find translations: the least share of each level, and its words."""
MANY_HUBS, INTERVALS_FAIL = 1.0, 5.0
"""The skewness of neighbour counts from which hubs are reported, and from which intervals may fail them
(docs/calibration.md)."""
NBSP = "\N{NO-BREAK SPACE}"


def alignment_levels(estimate: Estimate) -> tuple[str, ...]:
    """The level of a P@1 on the fixed scale; the lowest and the highest where its interval reaches over several.

    >>> alignment_levels(Estimate(value=0.95, ci_low=0.93, ci_high=0.97, null_value=0.01))
    ('strongly aligned',)
    >>> alignment_levels(Estimate(value=0.25, ci_low=0.15, ci_high=0.35, null_value=0.01))
    ('not aligned', 'weakly aligned')
    >>> alignment_levels(Estimate(value=0.5, ci_low=0.4, ci_high=0.6, null_value=0.5))
    ('not aligned',)
    """
    if not is_above_null(estimate):
        return (SCALE[-1][1],)
    ends = (estimate.value if end is None else end for end in (estimate.ci_low, estimate.ci_high))
    low, high = (next(place for place, (least, _) in enumerate(SCALE) if end >= least) for end in ends)
    return (SCALE[low][1],) if low == high else (SCALE[low][1], SCALE[high][1])


# ------------------------------------------------------------------------------------------------------- the findings
NamedValue = tuple[str, float]
"""A language or a pair by its name, and its number."""


def find_alignment(space: AlignmentRecords) -> list[Finding]:
    """All findings of one model, the answer first; those without records are left out."""
    parts = (find_level, find_languages, find_pairs, find_layers, find_centering, find_hubs, find_rotation,
             find_outliers, find_tokenizer)  # fmt: skip
    findings = [finding for part in parts for finding in part(space)]
    return findings or [Finding(kind="no_alignment", verdict=Verdict.NOT_TESTED)]


@sentence_of("no_alignment", topic="Alignment")
def _(finding: Finding) -> str:
    return "No alignment between languages was measured in this run."


def _show(finding: Finding, value: float | None) -> str:
    return format_value(value, "number" if finding.metric is None else finding.metric.display)


def _list_values(finding: Finding, entries: Iterable[NamedValue]) -> str:
    """Names with their numbers: `Hindi (12.0 %) and Swahili (9.0 %)`."""
    return join_at_most([f"{name} ({_show(finding, value)})" for name, value in entries], MAX_NAMED_LANGUAGES)


def _named_pairs(space: AlignmentRecords, pairs: Mapping[Pair, Estimate], chosen: Iterable[Pair]) -> list[NamedValue]:
    return [(space.name_pair(pair), pairs[pair].value) for pair in chosen]


def find_level(space: AlignmentRecords) -> list[Finding]:
    """How well translations are found at the best layer, on the fixed scale; by CKA where retrieval was not taken."""
    quantity, top = space.headline, space.peak()
    if quantity is None or top is None:
        return []
    pairs = mean_both_directions(space.at(quantity, top.layer))
    estimate = mean_estimate(space.at(quantity, top.layer).values())
    about: dict[str, Any] = {
        "scope": space.name_pair(next(iter(pairs))) if len(pairs) == 1 else "",
        "layer": space.name_layer(top.layer),
        "layers": len(top.layers),
        "is_output": top.is_output,
        "candidates": estimate.n,
        "equal_candidates": space.has_equal_candidates,
        "levels": list(alignment_levels(estimate)) if quantity.measure == "retrieval" else [],
        "means_subtracted": quantity == space.centered,
    }
    if space.is_ranked:
        about |= _about_spread(space, quantity, top.layer, pairs)
    centered = space.mean(space.centered, top.layer) if quantity == space.as_is else None
    if top.is_at_chance and centered is not None and is_above_null(centered):
        about["centered"] = centered.value
    verdict = Verdict.AT_CHANCE if top.is_at_chance else Verdict.FOUND
    return [Finding(kind="level", verdict=verdict, about=about, metric=quantity.metric, estimate=estimate)]


def _about_spread(
    space: AlignmentRecords, quantity: Quantity, layer: int, pairs: Mapping[Pair, Estimate]
) -> dict[str, Any]:
    """What the answer says of single languages, from five on, else of the highest and the lowest pair."""
    found = space.language_estimates(quantity, layer)
    if len(found) >= MIN_RANKED_LANGUAGES:
        weak = weak_languages(found)
        low = [found[code].value for code in weak]
        others = [estimate.value for code, estimate in found.items() if code not in weak]
        return {
            "weak": [space.name_language(code) for code in weak],
            "weak_range": [min(low), max(low)] if low else [],
            "others": len(others),
            "others_range": [min(others), max(others)],
        }
    if len(pairs) > 1 and len(tied_for_first(pairs)) < len(pairs):
        order = sorted(pairs, key=lambda pair: -pairs[pair].value)
        return {"ends": _named_pairs(space, pairs, (order[0], order[-1]))}
    return {}


def weak_languages(found: Mapping[str, Estimate]) -> list[str]:
    """The languages with under three quarters of the median language whose interval ends below it, lowest first."""
    if len(found) < MIN_RANKED_LANGUAGES:
        return []
    middle = statistics.median(estimate.value for estimate in found.values())
    weak = [
        code
        for code, estimate in found.items()
        if estimate.value < WEAK_SHARE * middle and estimate.ci_high is not None and estimate.ci_high < middle
    ]
    return sorted(weak, key=lambda code: found[code].value)


@sentence_of("level", topic="Alignment")
def _(finding: Finding) -> str:
    about, estimate = finding.about, finding.estimate
    assert estimate is not None
    at_chance = finding.verdict == Verdict.AT_CHANCE
    null = _show(finding, estimate.null_value)
    scope, average = about["scope"], "" if about["scope"] else "on average "
    if not about["levels"]:
        tail = f": no better than shuffled pairs ({null})" if at_chance else ""
        return (
            f"The debiased CKA{f' of {scope}' if scope else ''} is {average}{format_estimate(estimate, 'number')} at "
            f"layer {about['layer']}; 1 is the same space up to rotation and scale, 0 is no relation{tail}."
        )
    level = " or ".join(about["levels"])
    begin = f"{scope} is {level}" if scope else capitalize_first(level)
    least = "" if about["equal_candidates"] else "at least "
    layer = "" if about["layers"] < 2 else f" at layer {about['layer']}"
    if about["is_output"]:
        layer = " in the sentence vectors that the model returns (layer output)"
    means = ", language means subtracted" if about["means_subtracted"] else ""
    text = (
        f"{begin}: {average}{format_share(estimate.value)} of sentences retrieve their translation{layer}{means} "
        f"({least}{about['candidates']:,} candidates, chance level {null})"
    )
    if not at_chance:
        return f"{text}.{_word_spread(finding)}"
    even = " even at the best layer" if about["layers"] > 1 else ""
    hidden = (
        f" With language means subtracted it is above chance: {format_share(about['centered'])}."
        if "centered" in about
        else ""
    )
    return f"{text}, no better than chance{even}, so nothing is ranked.{hidden}"


def _word_spread(finding: Finding) -> str:
    about = finding.about

    def ends(name: str) -> str:
        shown = list(dict.fromkeys(format_share(end) for end in about[name]))
        return " to ".join([*(each.removesuffix(f"{NBSP}%") for each in shown[:-1]), shown[-1]])

    if about.get("weak"):
        return (
            f" {about['others']} of {about['others'] + len(about['weak'])} languages reach {ends('others_range')}; "
            f"weak: {join_at_most(about['weak'], MAX_NAMED_LANGUAGES)} ({ends('weak_range')})."
        )
    if "others_range" in about:
        return f" All {about['others']} languages: {ends('others_range')}."
    if "ends" in about:
        highest, lowest = (_list_values(finding, [end]) for end in about["ends"])
        return f" Highest: {highest}; lowest: {lowest}."
    return ""


def find_languages(space: AlignmentRecords) -> list[Finding]:
    """Which languages are connected best and which are weak; nothing is ranked at chance or on unequal candidates."""
    quantity = space.headline
    if quantity is None or len(space.languages) < 3 or space.is_at_chance:
        return []
    found = space.language_estimates(quantity, space.best_layer)
    findings = []
    if not space.has_equal_candidates:
        pairs = space.at(quantity, space.best_layer)
        ends = [pick(pairs, key=lambda pair: pairs[pair].n) for pick in (min, max)]
        findings.append(
            Finding(
                kind="unranked",
                verdict=Verdict.NOT_COMPARABLE,
                about={"ends": [(space.name_pair(pair), pairs[pair].n) for pair in ends]},
                metric=quantity.metric,
            )
        )
    elif len(found) >= MIN_RANKED_LANGUAGES:
        findings += _rank_languages(space, quantity, found)
    if lost := lost_languages(space):
        about = {"languages": lost, "names": [space.name_language(code) for code in lost]}
        findings.append(
            Finding(kind="languages_at_chance", verdict=Verdict.AT_CHANCE, about=about, metric=quantity.metric)
        )
    return findings


def _rank_languages(space: AlignmentRecords, quantity: Quantity, found: Mapping[str, Estimate]) -> list[Finding]:
    order = sorted(found, key=lambda code: -found[code].value)
    middle = statistics.median(estimate.value for estimate in found.values())
    tied = tied_for_first(found)
    above = [code for code in order if found[code].value > middle][: min(3, len(order) // 2)]
    best = [] if len(tied) == len(order) else above
    weak, lowest = weak_languages(found), found[order[-1]]
    behind = lowest.value < WEAK_SHARE * middle
    judged = Verdict.LOWER if weak else Verdict.UNCLEAR if behind else Verdict.FOUND
    if behind and lowest.ci_high is None:
        judged = Verdict.NOT_TESTED

    def finding(kind: str, verdict: Verdict, codes: Sequence[str], test: str = "") -> Finding:
        about = {
            "languages": list(codes),
            "values": [found[code].value for code in codes],
            "named": [(space.name_language(code), found[code].value) for code in codes],
            "median": middle,
            "languages_measured": len(found),
            "tied": len(tied),
        }
        return Finding(kind=kind, verdict=verdict, about=about, metric=quantity.metric, estimate=found[codes[0]],
                       basis=Basis(over="sentences", test=test))  # fmt: skip

    return [
        finding("best_languages", Verdict.HIGHER if best else Verdict.UNCLEAR, best or order[:1]),
        finding("weak_languages", judged, weak or order[-1:], "interval below the median language"),
    ]


@sentence_of("unranked", topic="Languages")
def _(finding: Finding) -> str:
    (least, few), (most, many) = finding.about["ends"]
    return (
        f"Not comparable: {few:,} candidates ({least}) against {many:,} ({most}). Translations are easier to find "
        "among fewer candidates, so languages and pairs are not ranked."
    )


@sentence_of("languages_at_chance", topic="At chance")
def _(finding: Finding) -> str:
    return f"No better than chance: {join_with_and(finding.about['names'])}."


@sentence_of("best_languages", topic="Best languages")
def _(finding: Finding) -> str:
    about, named = finding.about, _list_values(finding, finding.about["named"])
    tied, count = about["tied"], about["languages_measured"]
    if finding.verdict == Verdict.HIGHER:
        return f"{named}{f'; {tied} languages are tied for first' if tied > 1 else ''}."
    if tied == count:
        return f"No language stands out: all lie within the interval of the highest, {named}."
    return f"{tied} of {count} languages are tied for first, {named} the highest of them."


@sentence_of("weak_languages", topic="Weak languages")
def _(finding: Finding) -> str:
    named = _list_values(finding, finding.about["named"])
    lead = {
        Verdict.LOWER: named,
        Verdict.FOUND: f"None: the lowest is {named}",
        Verdict.NOT_TESTED: f"Not tested, because there are no intervals. The lowest is {named}",
        Verdict.UNCLEAR: f"Not clear: the interval of the lowest, {named}, reaches the median language",
    }[finding.verdict]
    return f"{lead}; the median language has {_show(finding, finding.about['median'])}."


def find_pairs(space: AlignmentRecords) -> list[Finding]:
    """The closest and the farthest pairs, where there are three or more that may be ranked."""
    quantity = space.headline
    pairs = mean_both_directions(space.at(quantity, space.best_layer)) if space.is_ranked else {}
    if quantity is None or len(pairs) < 3:
        return []
    order = sorted(pairs, key=lambda pair: -pairs[pair].value)
    tied, count = tied_for_first(pairs), min(3, len(order) // 2)
    return [
        Finding(
            kind="pairs",
            verdict=Verdict.UNCLEAR if len(tied) == len(pairs) else Verdict.HIGHER,
            about={
                "closest": _named_pairs(space, pairs, order[:count]),
                "farthest": _named_pairs(space, pairs, order[: -count - 1 : -1]),
                "tied": len(tied),
            },
            metric=quantity.metric,
            estimate=pairs[order[0]],
            compared_with=pairs[order[-1]],
        )
    ]


@sentence_of("pairs", topic="Pairs")
def _(finding: Finding) -> str:
    closest, farthest, tied = (finding.about[name] for name in ("closest", "farthest", "tied"))
    if finding.verdict == Verdict.UNCLEAR:
        highest = _list_values(finding, closest[:1])
        return f"No pair stands out: all lie within the interval of the highest, {highest}."
    also = f" ({tied} pairs are tied for first)" if tied > 1 else ""
    return f"Closest: {_list_values(finding, closest)}{also}. Farthest: {_list_values(finding, farthest)}."


def find_layers(space: AlignmentRecords) -> list[Finding]:
    """Which layer is best, and whether the embeddings alone do as well."""
    quantity, top = space.headline, space.peak()
    if quantity is None or top is None or len(top.layers) < 2:
        return []
    values = {layer: estimate.value for layer, estimate in space.layer_estimates(quantity).items()}
    inner = [layer for layer in top.layers if layer != space.output]
    about: dict[str, Any] = {
        "layer": top.layer,
        "tied": list(top.tied_layers),
        "ends": [(layer, values[layer]) for layer in dict.fromkeys((inner[0], inner[-1]))],
        "is_output": top.is_output,
    }
    if top.is_output:
        best = max(inner, key=lambda layer: (values[layer], -layer))
        about |= {"best_inner": best, "best_inner_value": values[best], "inner_tied": best in top.tied_layers}
    verdict = (
        Verdict.AT_CHANCE if top.is_at_chance else Verdict.FOUND if top.is_output
        else Verdict.UNCLEAR if top.has_no_peak else Verdict.HIGHER
    )  # fmt: skip
    findings = [
        Finding(kind="best_layer", verdict=verdict, about=about, metric=quantity.metric, estimate=top.estimate,
                compared_with=space.mean(quantity, inner[-1]))
    ]  # fmt: skip
    if top.embeddings_suffice:
        findings.append(Finding(kind="embeddings_suffice", verdict=Verdict.UNCLEAR, about={"layer": top.layer}))
    return findings


@sentence_of("best_layer", topic="Best layer")
def _(finding: Finding) -> str:
    about, ends = finding.about, finding.about["ends"]
    assert finding.estimate is not None
    span = "–".join(str(layer) for layer, _ in ends)
    layer, value = about["layer"], _show(finding, finding.estimate.value)
    if about["is_output"]:
        tied = ", within the interval of the output" if about["inner_tied"] else ""
        return (
            f"The output of the model has {value}. Of its layers {span}, layer {about['best_inner']} is highest: "
            f"{_show(finding, about['best_inner_value'])}{tied}."
        )
    if finding.verdict == Verdict.AT_CHANCE:
        return f"None: no layer of {span} is better than chance."
    if finding.verdict == Verdict.UNCLEAR:
        return f"None stands out: layers {span} all lie within the interval of the highest, layer {layer} ({value})."
    group = sorted([layer, *about["tied"]])
    against = join_with_and([f"{_show(finding, each)} at layer {end}" for end, each in ends if end not in group])
    best = (
        f"Layers {join_with_and([str(each) for each in group])} are tied for best of {span}: layer {layer} has {value}"
        if about["tied"]
        else f"Layer {layer} is best of {span}: {value}"
    )
    return (
        f"{best}{f', against {against}' if against else ''}. It was chosen on the same sentences, so its value is "
        "slightly optimistic."
    )


@sentence_of("embeddings_suffice", topic="Embeddings")
def _(finding: Finding) -> str:
    return (
        "Layer 0, where a word does not depend on its context, does as well as any layer: word pieces that the "
        "languages share may be all that is found, as in an untrained model."
    )


def find_centering(space: AlignmentRecords) -> list[Finding]:
    """What subtracting each language's mean vector changes at the best layer, judged by the paired interval."""
    raw, centered = (space.at(quantity, space.best_layer) for quantity in (space.as_is, space.centered))
    if space.as_is is None or not raw or not centered or not is_above_null(mean_estimate(centered.values())):
        return []
    return [_change_finding("centering", space.as_is, centered, raw, "above_raw")]


def _change_finding(
    kind: str, quantity: Quantity, after: Mapping[Pair, Estimate], before: Mapping[Pair, Estimate], detail: str
) -> Finding:
    gain = mean_change(after, before, detail)
    after_mean, before_mean = mean_estimate(after.values()), mean_estimate(before.values())
    return Finding(
        kind=kind,
        verdict=Verdict.NOT_TESTED if gain.ci_low is None else judge_sign(difference_sign(gain)),
        about={"before": before_mean.value, "after": after_mean.value, "candidates": after_mean.n},
        metric=quantity.metric,
        estimate=gain,
        compared_with=before_mean,
        basis=Basis(over="sentences", test="paired by sentence"),
    )


@sentence_of("centering", topic="Language means")
def _(finding: Finding) -> str:
    about = finding.about
    verb, end = {
        Verdict.HIGHER: ("raises", ": part of the distance between languages is a constant offset"),
        Verdict.LOWER: ("lowers", ""),
    }.get(finding.verdict, ("changes", ": not a significant change"))
    return (
        f"Subtracting the mean vector of each language {verb} P@1 from {format_share(about['before'])} to "
        f"{format_share(about['after'])} on the same candidates ({_word_change(finding)}){end}."
    )


def _word_change(finding: Finding) -> str:
    gain = finding.estimate
    assert isinstance(gain, Difference)
    text = f"{format_points(finding.about['after'], finding.about['before'])} points"
    if gain.ci_low is None or gain.ci_high is None:
        return f"{text}; without an interval"
    if gain.ci_low == gain.ci_high == 0:  # Differences that are all 0 have an interval of no width: it proves nothing.
        return f"{text}; every sentence as before"
    low, high = (format_value(end, "points") for end in (gain.ci_low, gain.ci_high))
    return f"{text}; 95{NBSP}% interval {low} to {high}"


def find_hubs(space: AlignmentRecords) -> list[Finding]:
    """How uneven nearest neighbours are, which makes retrieval by cosine fail, and what removes it."""
    layer, raw = space.best_layer, space.find("retrieval", "hubness", similarity="cosine", centering="raw")
    own = space.mean(raw, layer)
    if raw is None or own is None:
        return []
    removed = {
        "centered": space.mean(space.find("retrieval", "hubness", similarity="cosine", centering="centred"), layer),
        "csls": space.mean(space.find("retrieval", "p@1", similarity="csls", centering="raw"), layer),
    }
    about: dict[str, Any] = {name: None if found is None else found.value for name, found in removed.items()}
    about["intervals_may_fail"] = max(pair.value for pair in space.at(raw, layer).values()) > INTERVALS_FAIL
    verdict = Verdict.HIGHER if own.value >= MANY_HUBS else Verdict.FOUND
    return [Finding(kind="hubs", verdict=verdict, about=about, metric=raw.metric, estimate=own)]


@sentence_of("hubs", topic="Hubs")
def _(finding: Finding) -> str:
    own, about = finding.estimate, finding.about
    assert own is not None
    centered, csls = about["centered"], about["csls"]
    means = "" if centered is None else f", {format_number(centered, 1)} with language means subtracted"
    numbers = (
        "the skewness of how often a sentence is among the 10 nearest of another is "
        f"{format_number(own.value, 1)}{means} (random neighbours: {format_number(own.null_value, 1)})"
    )
    if finding.verdict != Verdict.HIGHER:
        return f"None: {numbers}."
    more = "" if csls is None else f" CSLS, which corrects for hubs, has P@1 {format_share(csls)}."
    if about["intervals_may_fail"]:
        more += " Intervals of retrieval may be too narrow, because so few hubs decide."
    return f"A few sentences are neighbours of many others: {numbers}.{more}"


def find_rotation(space: AlignmentRecords) -> list[Finding]:
    """Whether a fitted rotation finds more held-out translations, on the same candidates with and without it."""
    quantity = space.find("procrustes", "p@1", map="mapped")
    mapped = space.at(quantity, space.best_layer)
    plain = space.at(space.find("procrustes", "p@1", map="identity"), space.best_layer)
    if quantity is None or not mapped or not plain:
        return []
    finding = _change_finding("rotation", quantity, mapped, plain, "above_identity")
    after = mean_estimate(mapped.values())
    at_null = after.null_value is not None and after.ci_low is not None and after.ci_low <= after.null_value
    pivot = space.about.get("maps") == "pivot" and space.about.get("languages")
    details = [record.details for estimate in mapped.values() for record in estimate.records]
    sizes = [(each["train"], each["width"]) for each in details if "train" in each and "width" in each]
    # A map may do harm where every pair was fitted on fewer rows than it has dimensions.
    unfit = bool(sizes) and len(sizes) == len(details) and all(train < width for train, width in sizes)
    about = dict(finding.about) | {
        "pivot": space.name_language(space.about["languages"][0]) if pivot else "",
        "equal_candidates": len({estimate.n for estimate in mapped.values()}) == 1,
        "too_few_rows": list(sizes[0]) if unfit else [],
    }
    return [replace(finding, verdict=Verdict.AT_CHANCE if at_null else finding.verdict, about=about)]


@sentence_of("rotation", topic="Rotation")
def _(finding: Finding) -> str:
    about, count = finding.about, finding.about["candidates"]
    begin = f"A rotation from {about['pivot']}" if about["pivot"] else "A rotation"
    least = "" if about["equal_candidates"] else "at least "
    level = f"{least}{count:,} held-out candidates, chance level {format_share(1 / count)}" if count else "held out"
    change = (
        f"{format_share(about['before'])} to {format_share(about['after'])} ({level}; language means subtracted; "
        f"{_word_change(finding)})"
    )
    if finding.verdict == Verdict.AT_CHANCE:
        return f"{begin} finds no more than one fitted on shuffled pairs: P@1 {change}."
    if finding.verdict == Verdict.HIGHER:
        return f"{begin} raises P@1 from {change}: part of the mismatch is rotational."
    if finding.verdict == Verdict.LOWER:
        why = ""
        if about["too_few_rows"]:
            rows, width = about["too_few_rows"]
            why = f": {rows} sentences are too few to fit a map of {width} dimensions"
        return f"{begin} lowers P@1 from {change}{why}."
    return f"{begin} does not change P@1 significantly: {change}."


def find_outliers(space: AlignmentRecords) -> list[Finding]:
    """A language that is lowest in one measure, its interval below the median language, and not low in another."""
    quantity, layer = space.headline, space.best_layer
    if quantity is None or not space.is_ranked:
        return []
    first = space.language_estimates(quantity, layer)
    findings = []
    for other, *_ in space.shown:
        found = space.language_estimates(other, layer)
        comparable = other.metric.higher_is_better is True and other.measure != quantity.measure
        if not comparable or set(found) != set(first) or len(first) < MIN_RANKED_LANGUAGES:
            continue
        for low, low_of, high, high_of in ((found, other, first, quantity), (first, quantity, found, other)):
            code = min(low, key=lambda each: low[each].value)
            low_median, high_median = (statistics.median(e.value for e in side.values()) for side in (low, high))
            bound = low[code].ci_high
            if bound is not None and bound < low_median and high[code].value >= high_median:
                sides = ((low_of, low[code].value, low_median), (high_of, high[code].value, high_median))
                shown = [
                    (of.heading, *(format_value(number, of.metric.display) for number in numbers))
                    for of, *numbers in sides
                ]
                about = {"language": code, "name": space.name_language(code), "low": shown[0], "high": shown[1]}
                findings.append(
                    Finding(kind="outlier_language", verdict=Verdict.LOWER, about=about, metric=low_of.metric,
                            estimate=low[code], compared_with=high[code])
                )  # fmt: skip
    return findings


@sentence_of("outlier_language", topic="Out of line")
def _(finding: Finding) -> str:
    low, high = (
        f"{heading} ({value}; median language {median})"
        for heading, value, median in (finding.about["low"], finding.about["high"])
    )
    return f"{finding.about['name']} is lowest in {low}, but not in {high}."


def find_tokenizer(space: AlignmentRecords) -> list[Finding]:
    """How finely languages are cut, and whether that goes with their alignment, from five languages on."""
    fertility, quantity = space.side_estimates("fertility"), space.headline
    if not fertility:
        return []
    order = sorted(fertility, key=lambda code: fertility[code].value)
    most = sorted(tied_for_first(fertility), key=order.index)[::-1]
    fewest = sorted(tied_for_first(fertility, higher_is_better=False), key=order.index)
    alike = bool(set(most) & set(fewest))
    ends = {"most": order[-1:] if alike else most, "fewest": order[:1] if alike else fewest}
    findings = [
        Finding(
            kind="fertility",
            verdict=Verdict.UNCLEAR if alike else Verdict.FOUND,
            about={
                name: [(space.name_language(code), fertility[code].value) for code in codes]
                for name, codes in ends.items()
            },
            estimate=fertility[order[-1]],
            compared_with=fertility[order[0]],
        )
    ]
    if quantity is None or not space.is_ranked:
        return findings
    found = space.language_estimates(quantity, space.best_layer)
    agreement = space.language_estimates(space.find("tokenization", "agreement"), None)
    for kind, values in (("fertility_relation", fertility), ("agreement_relation", agreement)):
        codes = [code for code in values if code in found]
        if len(codes) >= MIN_CORRELATION_ITEMS:
            relation = correlate([values[code].value for code in codes], [found[code].value for code in codes])
            verdict = Verdict.NOT_TESTED if relation is None else judge_sign(relation.sign)
            findings.append(Finding(kind=kind, verdict=verdict, about={} if relation is None else vars(relation),
                                    metric=quantity.metric,
                                    basis=Basis(over="languages", test="Spearman’s ρ, permutation")))  # fmt: skip
    return findings


@sentence_of("fertility", topic="Tokenizer")
def _(finding: Finding) -> str:
    most, fewest = finding.about["most"], finding.about["fewest"]
    if finding.verdict == Verdict.UNCLEAR:
        ends = f"{format_number(fewest[0][1])} to {format_number(most[0][1])}"
        return f"All languages are cut about equally finely: {ends} pieces per word."
    return f"Most pieces per word: {_list_values(finding, most)}; fewest: {_list_values(finding, fewest)}."


@sentence_of("fertility_relation", topic="Pieces per word and alignment")
@sentence_of("agreement_relation", topic="Token counts and alignment")
def _(finding: Finding) -> str:
    if finding.verdict == Verdict.NOT_TESTED:
        return "No correlation is defined: one of the two is equal in all languages."
    numbers = association_sentence(Association(**finding.about))
    if finding.verdict == Verdict.UNCLEAR:
        return f"No clear relation. {numbers}"
    more = (
        "more pieces per word" if finding.kind == "fertility_relation" else "token counts closer to their translations’"
    )
    return (
        f"Languages with {more} are aligned {'worse' if finding.verdict == Verdict.LOWER else 'better'}. {numbers} "
        "Correlation does not imply causation: training data and script vary with both."
    )


# ------------------------------------------------------------------------------------------------------ first screen
FIRST_SCREEN = ("best_layer", "embeddings_suffice", "weak_languages", "languages_at_chance", "unranked", "centering",
                "outlier_language")  # fmt: skip


def alignment_headline(run: Run) -> Headline | None:
    """The first screen of an audit, or of a study of measures alone; several models are compared on it."""
    spaces = [space for block in alignment_blocks(run).values() for space in block]
    if len(spaces) > 1:
        return _headline_of_several(run, spaces)
    if not spaces:
        model = escape_control_characters(str(run.about.get("model", "the model")))
        nothing = Finding(kind="no_alignment", verdict=Verdict.NOT_TESTED)
        return Headline(title=f"How well {model} aligns languages", answer=nothing) if run.kind == "audit" else None
    space = spaces[0]
    answer, *more = find_alignment(space)
    return Headline(
        title=_title(space),
        answer=answer,
        figures=key_figures(space),
        measured=_measured(space, run),
        next_step=_next_step(space, run),
        findings=tuple(finding for finding in more if finding.kind in FIRST_SCREEN),
    )


def _title(space: AlignmentRecords) -> str:
    model, other = (
        escape_control_characters(name or "") for name in (space.records[0].model, space.records[0].against)
    )
    count = len(space.languages)
    if other:
        return f"How alike {model} and {other} are in {pluralize(count, 'language')}"
    names = [space.name_language(code) for code in space.languages]
    languages = join_with_and(names) if count == 2 else pluralize(count, "language")
    return f"{model} does not align {languages}" if space.is_at_chance else f"How well {model} aligns {languages}"


def _measured(space: AlignmentRecords, run: Run) -> str:
    """What was measured on how much data, in one line."""
    counts = sorted({estimate.n for estimate in space.at(space.headline, space.best_layer).values()})
    ends = " to ".join(f"{count:,}" for count in dict.fromkeys([*counts[:1], *counts[-1:]]))
    top = space.peak()
    parts = [
        f"corpus {escape_control_characters(str(run.about.get('corpus') or '')) or 'corpus'}",
        pluralize(len(space.languages), "language"),
        f"{ends} sentences per pair" if ends else "",
        "" if top is None else f"layers {space.name_span(top.layers)}",
    ]
    return ", ".join(filter(None, parts))


def key_figures(space: AlignmentRecords) -> tuple[KeyFigure, ...]:
    """P@1 with its chance level, the best layer, the gain from subtracting means, the weakest language or pair."""
    top, quantity = space.peak(), space.headline
    if top is None or quantity is None:
        return ()
    display = quantity.metric.display
    shuffled = top.estimate.null_value
    null = "" if shuffled is None else f"{format_value(shuffled, display)} for shuffled pairs"
    remarks = ["no better than chance" if top.is_at_chance else "", space.candidates(quantity, top.layer) or null]
    figures = [
        KeyFigure(
            label=f"{quantity.metric.title}, layer {space.name_layer(top.layer)}",
            estimate=top.estimate,
            display=display,
            remark="; ".join(filter(None, remarks)),
        )
    ]
    if len(top.layers) > 1:
        label, text = "Best layer", f"layer {top.layer}"
        last, tied = top.layers[-1], join_with_and([str(layer) for layer in top.tied_layers])
        at_last = f" {last}: {format_value(space.layer_estimates(quantity)[last].value, display)}"
        remark = f"{f'{tied} tied; ' if tied else ''}last layer{'' if last == top.layer else at_last}"
        if top.is_output:
            label, text, remark = "Layer", "output", "the sentence vectors that the model returns"
        elif not top.stands_out:
            text, remark = "none stands out", "all are at chance" if top.is_at_chance else "all lie within one interval"
        figures.append(KeyFigure(label=label, text=text, remark=remark))
    if top.is_at_chance:
        return tuple(figures)
    for gain in find_centering(space):
        unclear = "" if gain.verdict in (Verdict.HIGHER, Verdict.LOWER) else ", not significant"
        figures.append(
            KeyFigure(label="Points gained by subtracting language means", estimate=gain.estimate, display="points",
                      remark=f"to {format_share(gain.about['after'])}{unclear}")
        )  # fmt: skip
    if space.is_ranked:
        found = space.language_estimates(quantity, top.layer)
        pairs = mean_both_directions(space.at(quantity, top.layer))
        named = (
            {f"Lowest language: {space.name_language(code)}": estimate for code, estimate in found.items()}
            if len(found) >= MIN_RANKED_LANGUAGES
            else {f"Lowest pair: {space.name_pair(pair)}": estimate for pair, estimate in pairs.items()}
        )
        if len(named) > 1:
            label = min(named, key=lambda each: named[each].value)
            figures.append(KeyFigure(label=label, estimate=named[label], display=display))
    return tuple(figures)


def _next_step(space: AlignmentRecords, run: Run) -> str:
    """Which layer to use, whether to subtract means, and which language to adjust first."""
    top, quantity = space.peak(), space.headline
    if top is None or quantity is None or run.about.get("against"):
        return ""
    if top.is_at_chance:
        return "Use a model that was trained on these languages: `interlingua audit MODEL`"
    parts = [f"use layer {top.layer}"] if top.stands_out else []
    if any(gain.verdict == Verdict.HIGHER for gain in find_centering(space)):
        parts.append("subtract the mean vector of each language")
    steps = [f"{capitalize_first(' and '.join(parts))}."] if parts else []
    # Of a lone pair the second is adjusted: the first is the pivot.
    found = space.language_estimates(quantity, top.layer)
    others = [code for code in found if code != space.languages[0]]
    if others and space.has_equal_candidates:
        code = min(others, key=lambda each: found[each].value)
        model = escape_control_characters(str(run.about.get("model") or "MODEL"))
        steps.append(
            f"To improve {space.name_language(code)}: `interlingua adjust {model} --bitext {code}=FILE --out adjusted`"
        )
    return " ".join(steps)


def _headline_of_several(run: Run, spaces: Sequence[AlignmentRecords]) -> Headline:
    answer = compare_models(spaces)
    levels = [finding for space in spaces for finding in find_level(space)]
    name = escape_control_characters(str(run.about.get("name") or ""))
    models = len({space.label for space in spaces if space.label})
    languages = pluralize(len({code for space in spaces for code in space.languages}), "language")
    title = f"How well {pluralize(models, 'model')} align {languages}"
    return Headline(
        title=f"{name}: {title}" if name else title,
        answer=answer or (levels or find_alignment(spaces[0]))[0],
        measured=f"{pluralize(len(run.records), 'record')}, {languages}",
    )


def compare_models(spaces: Sequence[AlignmentRecords]) -> Finding | None:
    """The models of a block by their headline at their own best layers; ranked only on equal candidates."""
    means = {
        escape_control_characters(space.label) or str(number): space.mean(space.headline, space.best_layer)
        for number, space in enumerate(spaces)
    }
    known = {label: estimate for label, estimate in means.items() if estimate is not None}
    quantities = {space.headline for space in spaces if space.headline is not None}
    if len(known) < 2 or len(quantities) > 1:
        return None
    order = sorted(known, key=lambda label: -known[label].value)
    tied = tied_for_first(known)
    equal = len({(estimate.n, estimate.records[0].digests.get("corpus")) for estimate in known.values()}) == 1
    verdict = Verdict.NOT_COMPARABLE if not equal else Verdict.UNCLEAR if len(tied) == len(known) else Verdict.HIGHER
    return Finding(
        kind="model_levels",
        verdict=verdict,
        about={
            "models": [(label, known[label].value) for label in order],
            "tied": [label for label in tied if label != order[0]],
        },
        metric=quantities.pop().metric,
        estimate=known[order[0]],
        compared_with=known[order[1]],
    )


@sentence_of("model_levels", topic="Models")
def _(finding: Finding) -> str:
    entries = finding.about["models"]
    models = join_with_and([f"{name} ({_show(finding, value)})" for name, value in entries])
    if finding.verdict == Verdict.NOT_COMPARABLE:
        return f"Models measured: {models}; they did not read the same candidates and are not ranked."
    if finding.verdict == Verdict.UNCLEAR:
        return f"No model is clearly best: all lie within the interval of the highest. {models}."
    tied = f", tied with {join_with_and(finding.about['tied'])}" if finding.about["tied"] else ""
    return f"{entries[0][0]} is highest of {len(entries)} models{tied}: {models}."


# ---------------------------------------------------------------------------------------------------------- sections
def alignment_sections(run: Run) -> list[Section]:
    """Languages, pairs, layers, map, words and tokenizer of every block of measures and every model in it."""
    blocks = alignment_blocks(run)
    sections: list[Section | None] = []
    for block, spaces in blocks.items():
        suffix = f"-{slugify(block)}" if len(blocks) > 1 else ""
        title = f": {escape_control_characters(block)}" if len(blocks) > 1 else ""
        # Names and titles of a model's sections end with the block and the model, where there are several.
        ends = [
            (space, suffix + (f"-{slugify(space.label)}" if space.label else ""),
             title + (f": {escape_control_characters(space.label)}" if space.label else ""))
            for space in spaces
        ]  # fmt: skip
        sections += [languages_section(*end) for end in ends]
        sections.append(layer_section(spaces, name=f"layers{suffix}", title=f"Layers{title}"))
        sections += [pairs_section(*end) for end in ends]
        if len(blocks) == 1 and len(spaces) == 1:
            sections.append(map_section(run))
        sections += [distance_section(space, name=f"distances{own}") for space, own, _ in ends]
        sections += [tokenizer_section(*end) for end in ends]
    return [section for section in sections if section is not None]


def languages_section(space: AlignmentRecords, suffix: str = "", title: str = "") -> Section | None:
    """The languages as a table, from five on also as a chart, and the best layer of each."""
    table = languages_table(space, name=f"languages{suffix}")
    findings = find_languages(space) + find_hubs(space) + find_rotation(space)
    parts = (
        *(finding for finding in findings if finding.kind not in FIRST_SCREEN),
        languages_chart(space, name=f"languages-chart{suffix}"),
        table,
        language_layer_table(space, name=f"best-layers{suffix}"),
        measures_table(space, name=f"measures{suffix}"),
    )
    title = f"Languages{title}"
    return None if table is None else section_of_parts(parts, name=f"languages{suffix}", title=title, terminal=True)


def languages_table(space: AlignmentRecords, *, name: str = "languages") -> Table | None:
    """A row per language at the best layer: its headline with interval and chance level, and what explains it.

    Languages are best first where they may be ranked, else in the order of the run.
    """
    quantity, top = space.headline, space.peak()
    if quantity is None or top is None:
        return None
    found = space.language_estimates(quantity, top.layer)
    order = sorted(found, key=lambda code: -found[code].value) if space.is_ranked else list(found)
    display = quantity.metric.display
    better = quantity.metric.higher_is_better if space.is_ranked else None
    columns: list[tuple[Column, Mapping[str, Cell]]] = [
        (Column(title=quantity.heading, display=display, interval=True, better=better), found),
    ]
    if len({estimate.null_value for estimate in found.values()}) > 1:
        nulls = {code: estimate.null_value for code, estimate in found.items()}
        columns.append((Column(title="Chance level", display=display), nulls))
    if quantity == space.as_is and space.at(space.centered, top.layer):
        centered = space.language_estimates(space.centered, top.layer)
        columns.append((Column(title="Centred", display=display), centered))
    if fertility := space.side_estimates("fertility"):
        columns.append((Column(title="Pieces/word", display="number"), fertility))
    why = "No better than chance" if space.has_equal_candidates else "Unequal numbers of candidates"
    pool, titles = space.candidates(quantity, top.layer), [column.title for column, _ in columns]
    notes = (
        f"Mean over the pairs of a language, both directions, with the 95{NBSP}% interval.",
        "Centred: the mean vector of each language is subtracted." if "Centred" in titles else "",
        f"{capitalize_first(pool)}." if pool else "",
        "Bold: highest, with all in its interval." if space.is_ranked else f"{why}: the languages are not ranked.",
    )
    labels, title = (
        {code: space.name_language(code) for code in order},
        f"Languages at layer {space.name_layer(top.layer)}",
    )
    note = " ".join(filter(None, notes))
    return table_of_columns("Language", labels, columns, name=name, title=title, note=note, terminal=True)


def measures_table(space: AlignmentRecords, *, name: str = "measures") -> Table | None:
    """A row per language, a column per measure: the first line of each at the best layer, without the headline."""
    layer = space.best_layer
    means = {lines[0]: space.language_estimates(lines[0], layer) for lines in space.shown}
    columns = {quantity: found for quantity, found in means.items() if found and quantity != space.headline}
    if not columns:
        return None
    heads = [
        Column(title=quantity_title(quantity, [space], short=True), display=quantity.metric.display)
        for quantity in columns
    ]
    where = "" if layer is None else f" at layer {space.name_layer(layer)}"
    return table_of_columns(
        "Language",
        {
            code: space.name_language(code)
            for code in space.languages
            if any(code in found for found in columns.values())
        },
        list(zip(heads, columns.values(), strict=True)),
        name=name,
        title=f"All measures by language{where}",
        note="Mean over the pairs of a language.",
    )


def languages_chart(space: AlignmentRecords, *, name: str = "languages-chart") -> IntervalChart | None:
    """The languages with their intervals, best first, from five languages on and where they may be ranked."""
    quantity, layer = space.headline, space.best_layer
    found = space.language_estimates(quantity, layer)
    if quantity is None or len(found) < MIN_RANKED_LANGUAGES or not space.is_ranked:
        return None
    nulls = {estimate.null_value for estimate in found.values()}
    level = nulls.pop() if len(nulls) == 1 else None
    lines = {quantity.heading: found}
    if quantity == space.as_is and space.centered is not None:
        lines = {"as is": found, "centred": space.language_estimates(space.centered, layer)}
    return IntervalChart(
        name=name,
        title=f"{quantity.metric.title} by language, layer {space.name_layer(layer)}",
        note=f"Mean over the pairs of a language, both directions, with its 95{NBSP}% interval.",
        x=Axis(title=quantity.heading, display=quantity.metric.display, zero=True),
        rows=tuple(
            IntervalRow(label=space.name_language(code), group=group, estimate=estimates.get(code))
            for code in sorted(found, key=lambda code: -found[code].value)
            for group, estimates in lines.items()
        ),
        references=() if level is None else (ReferenceLine(label="chance level", values=(level,)),),
    )


# ------------------------------------------------------------------------------------------------------------- pairs
def pairs_section(space: AlignmentRecords, suffix: str = "", title: str = "") -> Section | None:
    """Language by language at the best layer: heat maps from five languages on, below that one table.

    Shown is the first line of each metric that most pairs of its languages have.
    """
    quantities = []
    for quantity, *_ in space.shown:
        pairs = {frozenset(pair) for pair in space.at(quantity, space.best_layer) if None not in pair}
        codes = {code for pair in pairs for code in pair}
        if pairs and len(pairs) >= 0.8 * len(codes) * (len(codes) - 1) / 2:
            quantities.append(quantity)
    if not quantities or len(space.languages) < 3:
        return None
    name, text = f"pairs{suffix}", ""
    shown: tuple[Part, ...] = (pairs_table(space, quantities, name=name),)
    if len(space.languages) >= MIN_RANKED_LANGUAGES:
        clustered = (
            "Languages stand in the order of a clustering of the first map, so groups that the model holds close form "
            "blocks along the diagonal."
        )
        text = "Rows are queries, columns candidates. "
        text += clustered if space.is_ranked else "The order is that of the run."
        order = pair_order(space)
        shown = tuple(
            heat_map(space, quantity, order, name=f"{name}-{slugify(f'{quantity.measure}-{quantity.heading}')}")
            for quantity in quantities
        )
    title = f"Pairs of languages{title}"
    return section_of_parts((*find_pairs(space), *shown), name=name, title=title, terminal=True,
                            text=(text,) if text else ())  # fmt: skip


def pairs_table(space: AlignmentRecords, quantities: Sequence[Quantity], *, name: str) -> Table:
    """A row per pair, the mean of both directions of each metric, for two to four languages."""
    columns = [mean_both_directions(space.at(quantity, space.best_layer)) for quantity in quantities]
    names = {frozenset(pair): space.name_pair(pair) for found in reversed(columns) for pair in found}
    cells = [{frozenset(pair): estimate for pair, estimate in found.items()} for found in columns]
    pairs = list(dict.fromkeys(pair for found in cells for pair in found))
    if space.is_ranked:
        pairs.sort(key=lambda pair: -cells[0][pair].value if pair in cells[0] else 1.0)
    heads = [
        Column(title=quantity.heading, display=quantity.metric.display, interval=number == 0)
        for number, quantity in enumerate(quantities)
    ]
    return table_of_columns(
        "Pair",
        {pair: names[pair] for pair in pairs},
        list(zip(heads, cells, strict=True)),
        name=name,
        title=f"Pairs at layer {space.name_layer(space.best_layer)}",
        note="Mean of both directions." + ("" if space.has_equal_candidates else " Unequal candidates: not ranked."),
        terminal=True,
    )


def pair_order(space: AlignmentRecords) -> list[str]:
    """The order of languages in heat maps: clustered by the headline where it may be ranked, else that of the run."""
    order = cluster_order(space.at(space.headline, space.best_layer)) if space.is_ranked else []
    return [*order, *(code for code in space.languages if code not in order)]


def heat_map(space: AlignmentRecords, quantity: Quantity, order: Sequence[str], *, name: str) -> HeatMap:
    """Language by language, on a scale from the least to the greatest value shown, which its legend names."""
    found = space.at(quantity, space.best_layer)
    codes = [code for code in order if any(code in pair for pair in found)]
    where = f", layer {space.name_layer(space.best_layer)}" if space.layers(quantity) else ""
    pool = space.candidates(quantity, space.best_layer)
    at_chance = quantity == space.headline and space.is_at_chance
    notes = (
        quantity.metric.about,
        "Lower is closer." if quantity.metric.higher_is_better is False else "",
        f"{capitalize_first(pool)}." if pool else "",
        "No better than chance: differences between pairs mean nothing." if at_chance else "",
    )
    return HeatMap(
        name=name,
        title=f"{quantity.metric.title}{where}",
        note=" ".join(filter(None, notes)),
        rows=tuple(space.name_language(code) for code in codes),
        columns=tuple(codes),
        cells=tuple(
            tuple(None if row == column else found.get((row, column)) or found.get((column, row)) for column in codes)
            for row in codes
        ),
        scale=quantity.heading,
        display="percent" if quantity.metric.display == "percent" else "number",
    )


def cluster_order(found: Mapping[Pair, Estimate]) -> list[str]:
    """Languages so that close ones stand together: leaves of an average-linkage tree, optimally turned.

    Similarities become distances by 1 - s; a pair that was not measured takes the largest distance seen (Bar-Joseph et
    al. 2001 for the order of leaves).

    >>> found = {("a", "c"): 0.9, ("a", "b"): 0.1, ("b", "c"): 0.2}
    >>> cluster_order({pair: Estimate(value=value) for pair, value in found.items()})
    ['a', 'c', 'b']
    """
    codes = list(dict.fromkeys(code for pair in found for code in pair if code is not None))
    if len(codes) < 3:
        return codes
    matrix: NDArray[np.float64] = np.full((len(codes), len(codes)), np.nan)
    for (row, column), estimate in mean_both_directions(found).items():
        if column is not None:
            i, j = codes.index(row), codes.index(column)
            matrix[i, j] = matrix[j, i] = max(1 - estimate.value, 0.0)
    matrix = np.where(np.isnan(matrix), np.nanmax(matrix), matrix)
    np.fill_diagonal(matrix, 0.0)
    flat = squareform(matrix, checks=False)
    order = [codes[leaf] for leaf in leaves_list(optimal_leaf_ordering(linkage(flat, "average"), flat))]
    return order if codes.index(order[0]) < codes.index(order[-1]) else order[::-1]


# --------------------------------------------------------------------------------------------------------- tokenizer
def tokenizer_section(space: AlignmentRecords, suffix: str = "", title: str = "") -> Section | None:
    """How languages are cut into pieces, and from five languages on whether that goes with their alignment."""
    chart = fertility_chart(space, name=f"fertility{suffix}")
    parts = (*find_tokenizer(space), chart, tokenizer_table(space, name=f"tokenizer{suffix}"))
    return section_of_parts(parts, name=f"tokenizer{suffix}", title=f"Tokenizer{title}", terminal=True)


def fertility_chart(space: AlignmentRecords, *, name: str = "fertility") -> ScatterChart | None:
    """Alignment against pieces per word, a dot per language; only where five or more may be compared."""
    quantity = space.headline
    found, fertility = space.language_estimates(quantity, space.best_layer), space.side_estimates("fertility")
    codes = [code for code in found if code in fertility]
    if quantity is None or not space.is_ranked or len(codes) < MIN_CORRELATION_ITEMS:
        return None
    trend = fit_trend([fertility[code].value for code in codes], [found[code].value for code in codes])
    dots = (
        Dot(label=space.name_language(code), x=fertility[code].value, y=found[code].value, records=found[code].records)
        for code in codes
    )
    return ScatterChart(
        name=name,
        title="Pieces per word and alignment",
        note=f"One dot per language. {trend.text} Correlation does not imply causation.",
        x=Axis(title="pieces per word"),
        y=Axis(title=quantity.heading, display=quantity.metric.display, zero=True),
        dots=tuple(dots),
        trend=trend.line,
    )


# ------------------------------------------------------------------------------------------------- comparison of runs
def language_estimates(run: Run) -> dict[str, Estimate]:
    """The headline of each language at the best layer of the run's first model, by code; empty where none was read."""
    spaces = [space for block in alignment_blocks(run).values() for space in block]
    return spaces[0].language_estimates(spaces[0].headline, spaces[0].best_layer) if spaces else {}


def alignment_numbers(run: Run) -> dict[str, Estimate]:
    """What a comparison of runs compares: every line that is shown, at the best layer, and retrieval per language."""
    blocks = alignment_blocks(run)
    numbers: dict[str, Estimate] = {}
    for block, space in ((block, space) for block, spaces in blocks.items() for space in spaces):
        begin = "".join(f"{part}: " for part in (block if len(blocks) > 1 else "", space.label) if part)
        for quantity in (line for lines in space.shown for line in lines):
            if (estimate := space.mean(quantity, space.best_layer)) is not None:
                numbers[f"{begin}{quantity_title(quantity, [space], line=True)}"] = estimate
        if space.headline is not None:
            for code, estimate in space.language_estimates(space.headline, space.best_layer).items():
                numbers[f"{begin}{space.headline.heading} of {space.name_language(code)}"] = estimate
    return numbers


SUBJECT = Subject(
    name="alignment",
    applies=lambda run: run.kind == "audit" or any(map(is_alignment_record, run.records)),
    sections=alignment_sections,
    headline=alignment_headline,
    numbers=alignment_numbers,
)
