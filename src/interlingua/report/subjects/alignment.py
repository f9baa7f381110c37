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
from interlingua.report.kit.chart import (
    Axis,
    Dot,
    HeatMap,
    IntervalChart,
    IntervalRow,
    ReferenceLine,
    ScatterChart,
)
from interlingua.report.kit.evidence import (
    MIN_CORRELATION_ITEMS,
    Peak,
    association_sentence,
    describe_association,
    describe_association_power,
    fit_trend,
    is_above_null,
    tied_for_first,
)
from interlingua.report.kit.finding import Basis, Finding, Verdict, sentence_of
from interlingua.report.kit.section import Headline, KeyFigure, Run, Section, Subject
from interlingua.report.kit.table import Cell, Column, Table
from interlingua.report.kit.wording import (
    escape_control_characters,
    format_number,
    format_points,
    format_share,
    format_value,
    join_with_and,
    pluralize,
)
from interlingua.report.subjects.layers import (
    AlignmentRecords,
    Pair,
    Quantity,
    alignment_blocks,
    best_layer_text,
    column_title,
    difference_sign,
    distance_section,
    is_alignment_record,
    language_layer_table,
    layer_section,
    lost_languages,
    map_section,
    mean_both_directions,
    mean_change,
    name_languages,
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
def find_alignment(space: AlignmentRecords) -> list[Finding]:
    """All findings of one model, the answer first; those without records are left out."""
    parts = (find_level, find_languages, find_pairs, find_layers, find_centering, find_hubs, find_rotation,
             find_outliers, find_tokenizer)  # fmt: skip
    findings = [finding for part in parts for finding in part(space)]
    return findings or [Finding(kind="no_alignment", verdict=Verdict.NOT_TESTED)]


def find_level(space: AlignmentRecords) -> list[Finding]:
    """How well translations are found at the best layer, on the fixed scale; by CKA where retrieval was not taken."""
    quantity, top = space.headline, space.peak()
    estimate = space.mean(quantity, space.best_layer)
    if quantity is None or top is None or estimate is None:
        return []
    found = space.at(quantity, top.layer)
    pairs = mean_both_directions(found)
    about: dict[str, Any] = {
        "scope": space.name_pair(next(iter(pairs))) if len(pairs) == 1 else "",
        "pairs": len(pairs),
        "languages": len({code for pair in pairs for code in pair}),
        "layer": space.name_layer(top.layer),
        "layers": len(top.layers),
        "is_output": top.is_output,
        "candidates": estimate.n,
        "equal_candidates": space.has_equal_candidates,
        "levels": list(alignment_levels(estimate)) if quantity.measure == "retrieval" else [],
        "means_subtracted": quantity == space.centered,
    }
    if not top.is_at_chance and space.has_equal_candidates:
        about |= _spread(space, quantity, top.layer, pairs)
    centered = space.mean(space.centered, top.layer) if quantity == space.as_is else None
    if top.is_at_chance and centered is not None and is_above_null(centered):
        about["centered"] = centered.value
    verdict = Verdict.AT_CHANCE if top.is_at_chance else Verdict.FOUND
    return [Finding(kind="level", verdict=verdict, about=about, metric=quantity.metric, estimate=estimate)]


def _spread(space: AlignmentRecords, quantity: Quantity, layer: int, pairs: Mapping[Pair, Estimate]) -> dict[str, Any]:
    """What the answer says of single languages, from five on, else of the highest and the lowest pair."""
    found = space.language_estimates(quantity, layer)
    if len(found) >= MIN_RANKED_LANGUAGES:
        weak = weak_languages(found)
        others = [estimate.value for code, estimate in found.items() if code not in weak]
        low = [found[code].value for code in weak]
        return {
            "weak": [space.name_language(code) for code in weak],
            "weak_range": [min(low), max(low)] if low else [],
            "others": len(others),
            "others_range": [min(others), max(others)],
        }
    if len(pairs) > 1 and len(tied_for_first(pairs)) < len(pairs):
        order = sorted(pairs, key=lambda pair: -pairs[pair].value)
        ends = {"highest": order[0], "lowest": order[-1]}
        return {name: [space.name_pair(pair), pairs[pair].value] for name, pair in ends.items()}
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
def _say_level(finding: Finding) -> str:
    about, estimate, metric = finding.about, finding.estimate, finding.metric
    assert estimate is not None
    assert metric is not None
    interval = _interval(estimate, metric.display)
    null = format_value(estimate.null_value, metric.display)
    where = "on average" if about["pairs"] > 1 else ""
    if not about["levels"]:
        scope = f" of {about['scope']}" if about["scope"] else ""
        tail = f": no better than shuffled pairs ({null})." if finding.verdict == Verdict.AT_CHANCE else "."
        return (
            f"The debiased CKA{scope} is {format_number(estimate.value)} {where}{interval} at layer {about['layer']}; "
            f"1 is the same space up to rotation and scale, 0 is no relation{tail}"
        ).replace(" ;", ";").replace("  ", " ")  # fmt: skip
    level = " or ".join(about["levels"])
    begin = f"{about['scope']} is {level}" if about["scope"] else f"{level[0].upper()}{level[1:]}"
    least = "" if about["equal_candidates"] else "at least "
    pool = f"{least}{about['candidates']:,} candidates, chance level {null}"
    share = format_share(estimate.value)
    of = f"{where} {share}" if where else share
    means = ", language means subtracted" if about["means_subtracted"] else ""
    layer = "" if about["layers"] < 2 else f" at layer {about['layer']}"
    if about["is_output"]:
        layer = " in the sentence vectors that the model returns (layer output)"
    text = f"{begin}: {of} of sentences retrieve their translation{layer}{means} ({pool})"
    if finding.verdict == Verdict.AT_CHANCE:
        even = " even at the best layer" if about["layers"] > 1 else ""
        more = about.get("centered")
        hidden = "" if more is None else f" With language means subtracted it is above chance: {format_share(more)}."
        return f"{text}, no better than chance{even}, so nothing is ranked.{hidden}"
    return f"{text}.{_say_spread(about)}"


def _say_spread(about: Mapping[str, Any]) -> str:
    if about.get("weak"):
        named = about["weak"][:MAX_NAMED_LANGUAGES]
        more = len(about["weak"]) - len(named)
        names = join_with_and(named) if not more else f"{', '.join(named)} and {more} more"
        return (
            f" {about['others']} of {about['others'] + len(about['weak'])} languages reach "
            f"{_range(about['others_range'])}; weak: {names} ({_range(about['weak_range'])})."
        )
    if "others_range" in about:
        return f" All {about['others']} languages: {_range(about['others_range'])}."
    if "highest" in about:
        (best, most), (worst, least) = about["highest"], about["lowest"]
        return f" Highest: {best} ({format_share(most)}); lowest: {worst} ({format_share(least)})."
    return ""


def _range(ends: Sequence[float]) -> str:
    shown = list(dict.fromkeys(format_share(end) for end in ends))
    return " to ".join([shown[0].removesuffix(f"{NBSP}%"), shown[1]]) if len(shown) > 1 else shown[0]


@sentence_of("no_alignment", topic="Alignment")
def _say_nothing(finding: Finding) -> str:
    return "No alignment between languages was measured in this run."


@sentence_of("model_levels", topic="Models")
def _say_model_levels(finding: Finding) -> str:
    about = finding.about
    models = [f"{name} ({share})" for name, share in about["models"]]
    if finding.verdict == Verdict.NOT_COMPARABLE:
        return f"Models measured: {join_with_and(models)}; they did not read the same candidates and are not ranked."
    if finding.verdict == Verdict.UNCLEAR:
        return f"No model is clearly best: all lie within the interval of the highest. {join_with_and(models)}."
    tied = f", tied with {join_with_and(about['tied'])}" if about["tied"] else ""
    return f"{models[0]} is highest of {len(models)} models{tied}: {join_with_and(models[1:])} follow."


def find_languages(space: AlignmentRecords) -> list[Finding]:
    """Which languages are connected best and which are weak; nothing is ranked at chance or on unequal candidates."""
    quantity, layer = space.headline, space.best_layer
    if quantity is None or len(space.languages) < 3 or space.is_at_chance:
        return []
    found = space.language_estimates(quantity, layer)
    lost = [
        Finding(
            kind="languages_at_chance",
            verdict=Verdict.AT_CHANCE,
            about={"languages": codes, "names": [space.name_language(code) for code in codes]},
            metric=quantity.metric,
        )
        for codes in [lost_languages(space)]
        if codes
    ]
    if not space.has_equal_candidates:
        return [_find_unequal(space, quantity, layer), *lost]
    if len(found) < MIN_RANKED_LANGUAGES:
        return lost
    order = sorted(found, key=lambda code: -found[code].value)
    middle = statistics.median(estimate.value for estimate in found.values())
    shared = {"median": middle, "languages_measured": len(found)}
    tied = tied_for_first({code: found[code] for code in order})
    above = [code for code in order if found[code].value > middle][: min(3, len(order) // 2)]
    best = [] if len(tied) == len(order) else above
    findings = [
        Finding(
            kind="best_languages",
            verdict=Verdict.HIGHER if best else Verdict.UNCLEAR,
            about=shared | _about_languages(space, best or order[:1], found) | {"tied": tied},
            metric=quantity.metric,
            estimate=found[order[0]],
        )
    ]
    weak = weak_languages(found)
    lowest = found[order[-1]]
    behind = lowest.value < WEAK_SHARE * middle
    verdict = Verdict.LOWER if weak else Verdict.FOUND if not behind else Verdict.UNCLEAR
    if behind and lowest.ci_high is None:
        verdict = Verdict.NOT_TESTED
    findings.append(
        Finding(
            kind="weak_languages",
            verdict=verdict,
            about=shared | _about_languages(space, weak or order[-1:], found),
            metric=quantity.metric,
            estimate=found[(weak or order[-1:])[0]],
            basis=Basis(over="sentences", test="interval below the median language"),
        )
    )
    return [*findings, *lost]


def _about_languages(space: AlignmentRecords, codes: Sequence[str], found: Mapping[str, Estimate]) -> dict[str, Any]:
    return {
        "languages": list(codes),
        "names": [space.name_language(code) for code in codes],
        "values": [found[code].value for code in codes],
    }


def _find_unequal(space: AlignmentRecords, quantity: Quantity, layer: int | None) -> Finding:
    found = space.at(quantity, layer)
    least, most = (pick(found, key=lambda pair: found[pair].n) for pick in (min, max))
    return Finding(
        kind="unranked",
        verdict=Verdict.NOT_COMPARABLE,
        about={
            "fewest": [space.name_pair(least), found[least].n],
            "most": [space.name_pair(most), found[most].n],
        },
        metric=quantity.metric,
    )


@sentence_of("unranked", topic="Languages")
def _say_unequal(finding: Finding) -> str:
    (least, few), (most, many) = finding.about["fewest"], finding.about["most"]
    return (
        f"Not comparable: {few:,} candidates ({least}) against {many:,} ({most}). Translations are easier to find "
        "among fewer candidates, so languages and pairs are not ranked."
    )


@sentence_of("languages_at_chance", topic="At chance")
def _say_lost(finding: Finding) -> str:
    return f"No better than chance: {join_with_and(finding.about['names'])}."


@sentence_of("best_languages", topic="Best languages")
def _say_best(finding: Finding) -> str:
    about, tied = finding.about, len(finding.about["tied"])
    named = _named_values(about, finding)
    if finding.verdict == Verdict.UNCLEAR:
        if tied == about["languages_measured"]:
            return f"No language stands out: all lie within the interval of the highest, {named}."
        return f"{tied} of {about['languages_measured']} languages are tied for first, {named} the highest of them."
    return f"{named}{f'; {tied} languages are tied for first' if tied > 1 else ''}."


@sentence_of("weak_languages", topic="Weak languages")
def _say_weak(finding: Finding) -> str:
    about, named = finding.about, _named_values(finding.about, finding)
    assert finding.metric is not None
    median = f"the median language has {format_value(about['median'], finding.metric.display)}"
    if finding.verdict == Verdict.LOWER:
        return f"{named}; {median}."
    if finding.verdict == Verdict.FOUND:
        return f"None: the lowest is {named}, and {median}."
    if finding.verdict == Verdict.NOT_TESTED:
        return f"Not tested, because there are no intervals. The lowest is {named}; {median}."
    return f"Not clear: the interval of the lowest, {named}, reaches the median language; {median}."


def _named_values(about: Mapping[str, Any], finding: Finding) -> str:
    assert finding.metric is not None
    shown = [
        f"{name} ({format_value(value, finding.metric.display)})"
        for name, value in zip(about["names"], about["values"], strict=True)
    ]
    more = len(shown) - MAX_NAMED_LANGUAGES
    return f"{', '.join(shown[:MAX_NAMED_LANGUAGES])} and {more} more" if more > 0 else join_with_and(shown)


def find_pairs(space: AlignmentRecords) -> list[Finding]:
    """The closest and the farthest pairs, where there are three or more that may be ranked."""
    quantity = space.headline
    if quantity is None or space.is_at_chance or not space.has_equal_candidates:
        return []
    pairs = mean_both_directions(space.at(quantity, space.best_layer))
    if len(pairs) < 3:
        return []
    order = sorted(pairs, key=lambda pair: -pairs[pair].value)
    tied = tied_for_first(pairs)
    count = min(3, len(order) // 2)

    def about(chosen: Iterable[Pair]) -> list[list[Any]]:
        return [[space.name_pair(pair), pairs[pair].value] for pair in chosen]

    return [
        Finding(
            kind="pairs",
            verdict=Verdict.UNCLEAR if len(tied) == len(pairs) else Verdict.HIGHER,
            about={"closest": about(order[:count]), "farthest": about(order[: -count - 1 : -1]), "tied": len(tied)},
            metric=quantity.metric,
            estimate=pairs[order[0]],
            compared_with=pairs[order[-1]],
        )
    ]


@sentence_of("pairs", topic="Pairs")
def _say_pairs(finding: Finding) -> str:
    assert finding.metric is not None
    display = finding.metric.display

    def named(entries: Sequence[Sequence[Any]]) -> str:
        return join_with_and([f"{name} ({format_value(value, display)})" for name, value in entries])

    if finding.verdict == Verdict.UNCLEAR:
        return f"No pair stands out: all lie within the interval of the highest, {named(finding.about['closest'][:1])}."
    tied = f" ({finding.about['tied']} pairs are tied for first)" if finding.about["tied"] > 1 else ""
    return f"Closest: {named(finding.about['closest'])}{tied}. Farthest: {named(finding.about['farthest'])}."


def find_layers(space: AlignmentRecords) -> list[Finding]:
    """Which layer is best, and whether the embeddings alone do as well."""
    quantity, top = space.headline, space.peak()
    if quantity is None or top is None or len(top.layers) < 2:
        return []
    values = {layer: estimate.value for layer, estimate in space.layer_estimates(quantity).items()}
    own = [layer for layer in top.layers if layer != space.output]
    about: dict[str, Any] = {
        "layer": top.layer,
        "name": space.name_layer(top.layer),
        "tied": list(top.tied_layers),
        "tied_names": [space.name_layer(layer) for layer in top.tied_layers],
        "first": own[0],
        "last": own[-1],
        "values": {str(layer): values[layer] for layer in (own[0], own[-1])},
        "is_output": top.is_output,
    }
    if top.is_output:
        best = max(own, key=lambda layer: (values[layer], -layer))
        about |= {"best_inner": best, "best_inner_value": values[best], "inner_tied": best in top.tied_layers}
    verdict = (
        Verdict.AT_CHANCE if top.is_at_chance else Verdict.FOUND if top.is_output
        else Verdict.UNCLEAR if top.has_no_peak else Verdict.HIGHER
    )  # fmt: skip
    findings = [
        Finding(
            kind="best_layer",
            verdict=verdict,
            about=about,
            metric=quantity.metric,
            estimate=top.estimate,
            compared_with=space.mean(quantity, own[-1]),
        )
    ]
    if top.embeddings_suffice:
        findings.append(Finding(kind="embeddings_suffice", verdict=Verdict.UNCLEAR, about={"layer": top.layer}))
    return findings


@sentence_of("best_layer", topic="Best layer")
def _say_layers(finding: Finding) -> str:
    about, metric = finding.about, finding.metric
    assert metric is not None
    assert finding.estimate is not None

    def shown(value: float) -> str:
        return format_value(value, metric.display)

    span = f"{about['first']}–{about['last']}"
    value = shown(finding.estimate.value)
    if about["is_output"]:
        tied = ", within the interval of the output" if about["inner_tied"] else ""
        return (
            f"The output of the model has {value}. Of its layers {span}, layer {about['best_inner']} is highest: "
            f"{shown(about['best_inner_value'])}{tied}."
        )
    if finding.verdict == Verdict.AT_CHANCE:
        return f"None: no layer of {span} is better than chance."
    if finding.verdict == Verdict.UNCLEAR:
        best = f"layer {about['layer']} ({value})"
        return f"None stands out: layers {span} all lie within the interval of the highest, {best}."
    group = sorted([about["layer"], *about["tied"]])
    ends = [end for end in dict.fromkeys((about["first"], about["last"])) if end not in group]
    against = join_with_and([f"{shown(about['values'][str(end)])} at layer {end}" for end in ends])
    against = f", against {against}" if against else ""
    flattering = "It was chosen on the same sentences, so its value is slightly optimistic."
    if about["tied"]:
        names = join_with_and([str(layer) for layer in group])
        return f"Layers {names} are tied for best of {span}: layer {about['layer']} has {value}{against}. {flattering}"
    return f"Layer {about['layer']} is best of {span}: {value}{against}. {flattering}"


@sentence_of("embeddings_suffice", topic="Embeddings")
def _say_embeddings(finding: Finding) -> str:
    return (
        "Layer 0, where a word does not depend on its context, does as well as any layer: word pieces that the "
        "languages share may be all that is found, as in an untrained model."
    )


def find_centering(space: AlignmentRecords) -> list[Finding]:
    """What subtracting each language's mean vector changes at the best layer, judged by the paired interval."""
    raw, centered = (space.at(quantity, space.best_layer) for quantity in (space.as_is, space.centered))
    if not raw or not centered or not is_above_null(mean_estimate(centered.values())):
        return []
    assert space.as_is is not None
    return [_change_finding("centering", space.as_is, centered, raw, "above_raw")]


def _change_finding(
    kind: str, quantity: Quantity, after: Mapping[Pair, Estimate], before: Mapping[Pair, Estimate], detail: str
) -> Finding:
    gain = mean_change(after, before, detail)
    after_mean, before_mean = mean_estimate(after.values()), mean_estimate(before.values())
    sign = difference_sign(gain)
    tested = gain.ci_low is not None
    verdict = {1: Verdict.HIGHER, -1: Verdict.LOWER, 0: Verdict.UNCLEAR if tested else Verdict.NOT_TESTED}[sign]
    return Finding(
        kind=kind,
        verdict=verdict,
        about={"before": before_mean.value, "after": after_mean.value, "candidates": after_mean.n},
        metric=quantity.metric,
        estimate=gain,
        compared_with=before_mean,
        basis=Basis(over="sentences", test="paired by sentence"),
    )


@sentence_of("centering", topic="Language means")
def _say_centering(finding: Finding) -> str:
    about = finding.about
    what = "Subtracting the mean vector of each language"
    change = f"P@1 from {format_share(about['before'])} to {format_share(about['after'])} on the same candidates"
    numbers = f"({_change_text(finding)})"
    if finding.verdict == Verdict.HIGHER:
        return f"{what} raises {change} {numbers}: part of the distance between languages is a constant offset."
    if finding.verdict == Verdict.LOWER:
        return f"{what} lowers {change} {numbers}."
    return f"{what} changes {change} {numbers}: not a significant change."


def _change_text(finding: Finding) -> str:
    gain = finding.estimate
    assert isinstance(gain, Difference)
    text = f"{format_points(finding.about['after'], finding.about['before'])} points"
    if gain.ci_low is None or gain.ci_high is None:
        return f"{text}; without an interval"
    if (
        gain.ci_low == gain.ci_high == 0
    ):  # Differences that are all 0 have an interval of no width, which proves nothing.
        return f"{text}; every sentence as before"
    ends = [f"{'+' if end > 0 else ''}{format_number(100 * end, 1)}" for end in (gain.ci_low, gain.ci_high)]
    return f"{text}; 95{NBSP}% interval {ends[0]} to {ends[1]}"


def find_hubs(space: AlignmentRecords) -> list[Finding]:
    """How uneven nearest neighbours are, which makes retrieval by cosine fail, and what removes it."""
    layer = space.best_layer
    raw, centered = (
        space.find("retrieval", "hubness", similarity="cosine", centering=centering) for centering in ("raw", "centred")
    )
    found = space.at(raw, layer)
    own = space.mean(raw, layer)
    if raw is None or own is None:
        return []
    csls = space.mean(space.find("retrieval", "p@1", similarity="csls", centering="raw"), layer)
    without = space.mean(centered, layer)
    worst = max(estimate.value for estimate in found.values())
    return [
        Finding(
            kind="hubs",
            verdict=Verdict.HIGHER if own.value >= MANY_HUBS else Verdict.FOUND,
            about={
                "centered": None if without is None else without.value,
                "csls": None if csls is None else csls.value,
                "intervals_may_fail": worst > INTERVALS_FAIL,
            },
            metric=raw.metric,
            estimate=own,
        )
    ]


@sentence_of("hubs", topic="Hubs")
def _say_hubs(finding: Finding) -> str:
    own, about = finding.estimate, finding.about
    assert own is not None
    means = (
        f", {format_number(about['centered'], 1)} with language means subtracted"
        if about["centered"] is not None
        else ""
    )
    numbers = (
        "the skewness of how often a sentence is among the 10 nearest of another is "
        f"{format_number(own.value, 1)}{means} (random neighbours: {format_number(own.null_value, 1)})"
    )
    if finding.verdict != Verdict.HIGHER:
        return f"None: {numbers}."
    csls = "" if about["csls"] is None else f" CSLS, which corrects for hubs, has P@1 {format_share(about['csls'])}."
    fail = (
        " Intervals of retrieval may be too narrow, because so few hubs decide." if about["intervals_may_fail"] else ""
    )
    return f"A few sentences are neighbours of many others: {numbers}.{csls}{fail}"


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
    about = dict(finding.about) | {
        "pivot": space.name_language(space.about["languages"][0]) if pivot else "",
        "equal_candidates": len({estimate.n for estimate in mapped.values()}) == 1,
        "too_few_rows": _unfit(mapped.values()),
    }
    return [replace(finding, verdict=Verdict.AT_CHANCE if at_null else finding.verdict, about=about)]


def _unfit(mapped: Iterable[Estimate]) -> list[int]:
    """Rows and dimensions of the fit, where every pair has fewer rows than dimensions: why a map may do harm."""
    details = [record.details for estimate in mapped for record in estimate.records]
    sizes = [(each["train"], each["width"]) for each in details if "train" in each and "width" in each]
    if len(sizes) < len(details) or not sizes or any(train >= width for train, width in sizes):
        return []
    return list(sizes[0])


@sentence_of("rotation", topic="Rotation")
def _say_rotation(finding: Finding) -> str:
    about = finding.about
    pivot = f" from {about['pivot']}" if about["pivot"] else ""
    count = about["candidates"]
    least = "" if about["equal_candidates"] else "at least "
    pool = (
        f"{least}{count:,} held-out candidates, chance level {format_share(1 / count)}"
        if count
        else "held-out sentences"
    )
    change = (
        f"{format_share(about['before'])} to {format_share(about['after'])} ({pool}; language means subtracted; "
        f"{_change_text(finding)})"
    )
    if finding.verdict == Verdict.AT_CHANCE:
        return f"A rotation{pivot} finds no more than one fitted on shuffled pairs: P@1 {change}."
    if finding.verdict == Verdict.HIGHER:
        return f"A rotation{pivot} raises P@1 from {change}: part of the mismatch is rotational."
    if finding.verdict == Verdict.LOWER:
        why = ""
        if about["too_few_rows"]:
            rows, width = about["too_few_rows"]
            why = f": {rows} sentences are too few to fit a map of {width} dimensions"
        return f"A rotation{pivot} lowers P@1 from {change}{why}."
    return f"A rotation{pivot} does not change P@1 significantly: {change}."


def find_outliers(space: AlignmentRecords) -> list[Finding]:
    """A language that is lowest in one measure, its interval below the median language, and not low in another."""
    quantity, layer = space.headline, space.best_layer
    if quantity is None or space.is_at_chance or not space.has_equal_candidates:
        return []
    first = space.language_estimates(quantity, layer)
    findings = []
    for lines in space.shown:
        other = lines[0]
        found = space.language_estimates(other, layer)
        comparable = other.metric.higher_is_better is True and other.measure != quantity.measure
        if not comparable or set(found) != set(first) or len(first) < MIN_RANKED_LANGUAGES:
            continue
        for low, low_of, high, high_of in ((found, other, first, quantity), (first, quantity, found, other)):
            code = min(low, key=lambda each: low[each].value)
            low_median, high_median = (statistics.median(e.value for e in side.values()) for side in (low, high))
            bound = low[code].ci_high
            if bound is not None and bound < low_median and high[code].value >= high_median:
                findings.append(
                    Finding(
                        kind="outlier_language",
                        verdict=Verdict.LOWER,
                        about={
                            "language": code,
                            "name": space.name_language(code),
                            "low": [low_of.heading, format_value(low[code].value, low_of.metric.display),
                                    format_value(low_median, low_of.metric.display)],
                            "high": [high_of.heading, format_value(high[code].value, high_of.metric.display),
                                     format_value(high_median, high_of.metric.display)],
                        },
                        metric=low_of.metric,
                        estimate=low[code],
                        compared_with=high[code],
                    )
                )  # fmt: skip
    return findings


@sentence_of("outlier_language", topic="Out of line")
def _say_outlier(finding: Finding) -> str:
    about = finding.about
    (low, value, median), (high, other, other_median) = about["low"], about["high"]
    return (
        f"{about['name']} is lowest in {low} ({value}; median language {median}), but not in {high} ({other}; median "
        f"language {other_median})."
    )


def find_tokenizer(space: AlignmentRecords) -> list[Finding]:
    """How finely languages are cut, and whether that goes with their alignment, from five languages on."""
    fertility = space.side_estimates("fertility")
    if not fertility:
        return []
    findings = [_find_fertility(space, fertility)]
    quantity = space.headline
    if quantity is None or space.is_at_chance or not space.has_equal_candidates:
        return findings
    found = space.language_estimates(quantity, space.best_layer)
    agreement = space.language_estimates(space.find("tokenization", "agreement"), None)
    for kind, values in (("fertility_relation", fertility), ("agreement_relation", agreement)):
        codes = [code for code in values if code in found]
        if len(codes) >= MIN_CORRELATION_ITEMS:
            relation = correlate([values[code].value for code in codes], [found[code].value for code in codes])
            verdict = Verdict.NOT_TESTED
            if relation is not None:
                verdict = {1: Verdict.HIGHER, -1: Verdict.LOWER, 0: Verdict.UNCLEAR}[relation.sign]
            about = {} if relation is None else vars(relation)
            if relation is not None or kind == "fertility_relation":
                findings.append(Finding(kind=kind, verdict=verdict, about=about, metric=quantity.metric,
                                        basis=Basis(over="languages", test="Spearman’s ρ, permutation")))  # fmt: skip
    return findings


def _find_fertility(space: AlignmentRecords, fertility: Mapping[str, Estimate]) -> Finding:
    order = sorted(fertility, key=lambda code: fertility[code].value)
    most = sorted(tied_for_first(fertility), key=order.index)[::-1]
    least = sorted(tied_for_first(fertility, higher_is_better=False), key=order.index)
    alike = bool(set(most) & set(least))

    def named(codes: Iterable[str]) -> list[list[Any]]:
        return [[space.name_language(code), fertility[code].value] for code in codes]

    return Finding(
        kind="fertility",
        verdict=Verdict.UNCLEAR if alike else Verdict.FOUND,
        about={"most": named(most if not alike else order[-1:]), "fewest": named(least if not alike else order[:1])},
        estimate=fertility[order[-1]],
        compared_with=fertility[order[0]],
    )


@sentence_of("fertility", topic="Tokenizer")
def _say_fertility(finding: Finding) -> str:
    most, fewest = finding.about["most"], finding.about["fewest"]
    if finding.verdict == Verdict.UNCLEAR:
        ends = f"{format_number(fewest[0][1])} to {format_number(most[0][1])}"
        return f"All languages are cut about equally finely: {ends} pieces per word."

    def named(entries: Sequence[Sequence[Any]]) -> str:
        return join_with_and([f"{name} ({format_number(value)})" for name, value in entries])

    return f"Most pieces per word: {named(most)}; fewest: {named(fewest)}."


@sentence_of("fertility_relation", topic="Pieces per word and alignment")
def _say_fertility_relation(finding: Finding) -> str:
    if finding.verdict == Verdict.NOT_TESTED:
        return "No correlation is defined: pieces per word, or alignment, are equal in all languages."
    found = Association(**finding.about)
    if finding.verdict == Verdict.UNCLEAR:
        return f"No clear relation ({describe_association(found)}). {describe_association_power(found)}"
    goes = "worse" if finding.verdict == Verdict.LOWER else "better"
    return (
        f"Languages with more pieces per word are aligned {goes} ({describe_association(found)}). Correlation does not "
        "imply causation: training data and script vary with both."
    )


@sentence_of("agreement_relation", topic="Token counts and alignment")
def _say_agreement(finding: Finding) -> str:
    return association_sentence(Association(**finding.about))


def _interval(estimate: Estimate, display: Any) -> str:
    if estimate.ci_low is None or estimate.ci_high is None:
        return ""
    low, high = (format_value(end, display) for end in (estimate.ci_low, estimate.ci_high))
    return f" (95{NBSP}% interval {low.removesuffix(f'{NBSP}%')} to {high})"


# ------------------------------------------------------------------------------------------------------ first screen
def alignment_headline(run: Run) -> Headline | None:
    """The first screen of an audit, or of a study of measures alone."""
    spaces = [space for block in alignment_blocks(run).values() for space in block]
    if not spaces:
        return None
    if len(spaces) > 1:
        return _headline_of_several(run, spaces)
    space = spaces[0]
    answer, *more = find_alignment(space)
    first_screen = ("best_layer", "embeddings_suffice", "weak_languages", "languages_at_chance", "unranked",
                    "centering", "outlier_language")  # fmt: skip
    return Headline(
        title=_title(space, run),
        answer=answer,
        figures=key_figures(space),
        measured=_measured(space, run),
        next_step=_next_step(space, run),
        findings=tuple(finding for finding in more if finding.kind in first_screen),
    )


def _title(space: AlignmentRecords, run: Run) -> str:
    models = list(dict.fromkeys(name for record in space.records for name in (record.model, record.against) if name))
    model = escape_control_characters(str(models[0] if models else run.about.get("model") or "the model"))
    count = len(space.languages)
    if run.about.get("against") or len(models) > 1:
        other = escape_control_characters(str([*models, run.about.get("against")][1]))
        return f"How alike {model} and {other} are in {pluralize(count, 'language')}"
    if count == 2:
        names = [space.name_language(code) for code in space.languages]
        verb = "does not align" if space.is_at_chance else "aligns"
        begin = "" if space.is_at_chance else "How well "
        return f"{begin}{model} {verb} {join_with_and(names)}"
    return f"{model} does not align {count} languages" if space.is_at_chance else (
        f"How well {model} aligns {pluralize(count, 'language')}"
    )  # fmt: skip


def _measured(space: AlignmentRecords, run: Run) -> str:
    """What was measured on how much data, in one line."""
    found = space.at(space.headline, space.best_layer)
    counts = sorted({estimate.n for estimate in found.values()})
    corpus = escape_control_characters(str(run.about.get("corpus") or "")) or "corpus"
    sentences = (
        "" if not counts else f"{counts[0]:,}{f' to {counts[-1]:,}' if len(counts) > 1 else ''} sentences per pair"
    )
    top = space.peak()
    layers = "" if top is None else f"layers {space.name_span(top.layers)}"
    parts = [f"corpus {corpus}", pluralize(len(space.languages), "language"), sentences, layers]
    return ", ".join(part for part in parts if part)


def key_figures(space: AlignmentRecords) -> tuple[KeyFigure, ...]:
    """P@1 with its chance level, the best layer, the gain from subtracting means, the weakest language or pair."""
    top, quantity = space.peak(), space.headline
    if top is None or quantity is None:
        return ()
    estimate = space.mean(quantity, top.layer)
    pool = space.candidates(quantity, top.layer)
    label = f"{quantity.metric.title}, layer {space.name_layer(top.layer)}"
    remark = pool or _null_remark(estimate, quantity)
    if top.is_at_chance:
        remark = f"no better than chance; {remark}"
    figures = [KeyFigure(label=label, estimate=estimate, display=quantity.metric.display, remark=remark)]
    if len(top.layers) > 1:
        figures.append(_layer_figure(space, quantity, top))
    centering = next(iter(find_centering(space)), None)
    if centering is not None and not top.is_at_chance:
        after = format_share(centering.about["after"])
        remark = f"to {after}" if difference_sign(centering.estimate) else f"to {after}, not significant"  # type: ignore[arg-type]
        figures.append(
            KeyFigure(
                label="Points gained by subtracting language means",
                estimate=centering.estimate,
                display="points",
                remark=remark,
            )
        )
    figures += _weakest_figure(space, quantity, top)
    if top.is_at_chance and (fertility := space.side_estimates("fertility")):
        code = max(fertility, key=lambda each: fertility[each].value)
        least = min(estimate.value for estimate in fertility.values())
        figures.append(
            KeyFigure(
                label=f"Pieces per word: {space.name_language(code)}",
                estimate=fertility[code],
                display="number",
                remark=f"against {format_number(least)} at least",
            )
        )
    return tuple(figures)


def _null_remark(estimate: Estimate | None, quantity: Quantity) -> str:
    if estimate is None or estimate.null_value is None:
        return ""
    return f"{format_value(estimate.null_value, quantity.metric.display)} for shuffled pairs"


def _layer_figure(space: AlignmentRecords, quantity: Quantity, top: Peak) -> KeyFigure:
    last = [layer for layer in top.layers if layer != space.output][-1]
    value = space.mean(quantity, last)
    at_last = "" if value is None else f"layer {last}: {format_value(value.value, quantity.metric.display)}"
    if top.is_output:
        return KeyFigure(label="Layer", text="output", remark="the sentence vectors that the model returns")
    if not top.stands_out:
        why = "all are at chance" if top.is_at_chance else "all lie within one interval"
        return KeyFigure(label="Best layer", text="none stands out", remark=why)
    tied = f"{join_with_and([space.name_layer(layer) for layer in top.tied_layers])} tied" if top.tied_layers else ""
    remark = "; ".join(part for part in (tied, f"last {at_last}" if last != top.layer else "last layer") if part)
    return KeyFigure(label="Best layer", text=f"layer {top.layer}", remark=remark)


def _weakest_figure(space: AlignmentRecords, quantity: Quantity, top: Peak) -> list[KeyFigure]:
    if top.is_at_chance or not space.has_equal_candidates:
        return []
    found = space.language_estimates(quantity, top.layer)
    display = quantity.metric.display
    if len(found) >= MIN_RANKED_LANGUAGES:
        code = min(found, key=lambda each: found[each].value)
        return [KeyFigure(label=f"Lowest language: {space.name_language(code)}", estimate=found[code], display=display)]
    pairs = mean_both_directions(space.at(quantity, top.layer))
    if len(pairs) < 2:
        return []
    pair = min(pairs, key=lambda each: pairs[each].value)
    return [KeyFigure(label=f"Lowest pair: {space.name_pair(pair)}", estimate=pairs[pair], display=display)]


def _next_step(space: AlignmentRecords, run: Run) -> str:
    """Which layer to use, whether to subtract means, and which language to adjust first."""
    top, quantity = space.peak(), space.headline
    model = str(run.about.get("model") or "MODEL")
    if top is None or quantity is None or run.about.get("against"):
        return ""
    if top.is_at_chance:
        return "Use a model that was trained on these languages: `interlingua audit MODEL`"
    parts = []
    if top.stands_out:
        parts.append(f"use layer {top.layer}")
    gain = next(iter(find_centering(space)), None)
    if gain is not None and gain.verdict == Verdict.HIGHER:
        parts.append("subtract the mean vector of each language")
    use = f"{' and '.join(parts)}. " if parts else ""
    use = f"{use[:1].upper()}{use[1:]}"
    code = _weakest(space, quantity, top.layer)
    if code is None:
        return use.strip()
    return (
        f"{use}To improve {space.name_language(code)}: "
        f"`interlingua adjust {escape_control_characters(model)} --bitext {code}=FILE --out adjusted`"
    )


def _weakest(space: AlignmentRecords, quantity: Quantity, layer: int) -> str | None:
    """The language to adjust first: the lowest, or the second of a lone pair; None where languages are not ranked."""
    pivot = space.languages[0]
    found = {code: each for code, each in space.language_estimates(quantity, layer).items() if code != pivot}
    if not found or not space.has_equal_candidates:
        return None
    return min(found, key=lambda code: found[code].value)


def _headline_of_several(run: Run, spaces: Sequence[AlignmentRecords]) -> Headline:
    answer = compare_models(spaces)
    levels = [finding for space in spaces for finding in find_level(space)[:1]]
    models = list(dict.fromkeys(space.label for space in spaces if space.label))
    name = escape_control_characters(str(run.about.get("name") or ""))
    languages = len({code for space in spaces for code in space.languages})
    title = f"How well {pluralize(len(models), 'model')} align {pluralize(languages, 'language')}"
    return Headline(
        title=f"{name}: {title}" if name else title,
        answer=answer if answer is not None else (levels[0] if levels else find_alignment(spaces[0])[0]),
        measured=f"{pluralize(len(run.records), 'record')}, {pluralize(languages, 'language')}",
    )


def compare_models(spaces: Sequence[AlignmentRecords]) -> Finding | None:
    """The models of a block by their headline at their own best layers; ranked only on equal candidates."""
    found = {
        space.label or str(number): (space, space.mean(space.headline, space.best_layer))
        for number, space in enumerate(spaces)
    }
    known = {label: estimate for label, (_, estimate) in found.items() if estimate is not None}
    quantities = {space.headline for space, _ in found.values() if space.headline is not None}
    if len(known) < 2 or len(quantities) > 1:
        return None
    quantity = quantities.pop()
    order = sorted(known, key=lambda label: -known[label].value)
    tied = tied_for_first(known)
    equal = len({(estimate.n, estimate.records[0].digests.get("corpus")) for estimate in known.values()}) == 1
    verdict = Verdict.NOT_COMPARABLE if not equal else Verdict.UNCLEAR if len(tied) == len(known) else Verdict.HIGHER
    return Finding(
        kind="model_levels",
        verdict=verdict,
        about={
            "models": [[escape_control_characters(label), format_value(known[label].value, quantity.metric.display)]
                       for label in order],
            "tied": [label for label in tied if label != order[0]],
        },
        metric=quantity.metric,
        estimate=known[order[0]],
        compared_with=known[order[1]],
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- sections
def alignment_sections(run: Run) -> list[Section]:
    """Languages, pairs, layers, map, words and tokenizer of every block of measures and every model in it."""
    blocks = alignment_blocks(run)
    sections: list[Section] = []
    for block, spaces in blocks.items():
        own = f"-{slugify(block)}" if len(blocks) > 1 else ""
        title = f": {escape_control_characters(block)}" if len(blocks) > 1 else ""
        parts = [languages_section(space, own, title) for space in spaces]
        parts.append(layer_section(spaces, name=f"layers{own}", title=f"Layers{title}"))
        parts += [pairs_section(space, own, title) for space in spaces]
        if len(blocks) == 1 and len(spaces) == 1:
            parts.append(map_section(run))
        parts += [distance_section(space, name=f"distances{own}{_of(space)}") for space in spaces]
        parts += [tokenizer_section(space, own, title) for space in spaces]
        sections += [part for part in parts if part is not None]
    return sections


def _of(space: AlignmentRecords) -> str:
    return f"-{slugify(space.label)}" if space.label else ""


def _labelled(title: str, space: AlignmentRecords) -> str:
    return f"{title}: {escape_control_characters(space.label)}" if space.label else title


def languages_section(space: AlignmentRecords, suffix: str = "", title: str = "") -> Section | None:
    """The languages as a table, from five on also as a chart, and the best layer of each."""
    table = languages_table(space, name=f"languages{suffix}{_of(space)}")
    if table is None:
        return None
    chart = languages_chart(space, name=f"languages-chart{suffix}{_of(space)}")
    wanted = ("best_languages", "hubs", "rotation")
    findings = [finding for finding in find_alignment(space) if finding.kind in wanted]
    best = language_layer_table(space, name=f"best-layers{suffix}{_of(space)}")
    more = measures_table(space, name=f"measures{suffix}{_of(space)}")
    return Section(
        name=f"languages{suffix}{_of(space)}",
        title=_labelled(f"Languages{title}", space),
        findings=tuple(findings),
        charts=() if chart is None else (chart,),
        tables=tuple(each for each in (table, best, more) if each is not None),
        terminal=True,
    )


def _ranked_codes(space: AlignmentRecords, found: Mapping[str, Estimate]) -> list[str]:
    """Languages best first where they may be ranked, else in the order of the run."""
    if space.is_at_chance or not space.has_equal_candidates:
        return list(found)
    return sorted(found, key=lambda code: -found[code].value)


def languages_table(space: AlignmentRecords, *, name: str = "languages") -> Table | None:
    """A row per language at the best layer: its headline with interval and chance level, and what explains it."""
    quantity, top = space.headline, space.peak()
    if quantity is None or top is None:
        return None
    found = space.language_estimates(quantity, top.layer)
    order = _ranked_codes(space, found)
    display = quantity.metric.display
    ranked = space.has_equal_candidates and not space.is_at_chance
    columns = [
        Column(title="Language"),
        Column(
            title=quantity.heading,
            display=display,
            interval=True,
            better=quantity.metric.higher_is_better if ranked else None,
        ),
    ]
    rows: dict[str, list[Cell]] = {code: [space.name_language(code), found[code]] for code in order}
    if len({estimate.null_value for estimate in found.values()}) > 1:
        columns.append(Column(title="Chance level", display=display))
        for code in order:
            rows[code].append(found[code].null_value)
    if quantity == space.as_is and space.at(space.centered, top.layer):
        columns.append(Column(title="Centred", display=display))
        for code in order:
            rows[code].append(space.language(space.centered, top.layer, code))
    if len(top.layers) > 1:
        columns.append(Column(title="Best layer"))
        for code in order:
            best = space.peak(quantity, code)
            rows[code].append("–" if best is None else best_layer_text(best, space))
    fertility = space.side_estimates("fertility")
    if fertility:
        columns.append(Column(title="Pieces/word", display="number"))
        for code in order:
            rows[code].append(fertility.get(code))
    return Table(
        name=name,
        title=f"Languages at layer {space.name_layer(top.layer)}",
        columns=tuple(columns),
        rows=tuple(tuple(row) for row in rows.values()),
        note=_languages_note(space, quantity, top, found),
        terminal=True,
    )


def _languages_note(space: AlignmentRecords, quantity: Quantity, top: Peak, found: Mapping[str, Estimate]) -> str:
    parts = ["Mean over the pairs of a language, both directions, with the 95\N{NO-BREAK SPACE}% interval."]
    if quantity == space.as_is and space.centered is not None:
        parts.append("Centred: the mean vector of each language is subtracted.")
    if len(top.layers) > 1:
        parts.append("Best layer: tied layers in brackets.")
    if pool := space.candidates(quantity, top.layer):
        parts.append(f"{pool[0].upper()}{pool[1:]}.")
    if not space.has_equal_candidates:
        parts.append("Unequal numbers of candidates: the languages are not ranked.")
    elif space.is_at_chance:
        parts.append("No better than chance: the languages are not ranked.")
    elif len(found) > 2 and len(tied := tied_for_first(found)) > 1:
        order = sorted(tied, key=lambda code: -found[code].value)
        parts.append(f"Tied for first: {name_languages(space, order)}.")
    if (lost := lost_languages(space)) and not space.is_at_chance:
        parts.append(f"No better than chance: {name_languages(space, lost)}.")
    return " ".join(parts)


def measures_table(space: AlignmentRecords, *, name: str = "measures") -> Table | None:
    """A row per language, a column per measure: the first line of each at the best layer."""
    layer = space.best_layer
    columns = {lines[0]: space.language_estimates(lines[0], layer) for lines in space.shown}
    kept = {quantity: found for quantity, found in columns.items() if found and quantity != space.headline}
    if not kept:
        return None
    pools = [
        f"{column_title(each, space, line=False)}: {pool}" for each in kept if (pool := space.candidates(each, layer))
    ]
    where = "" if layer is None else f" at layer {space.name_layer(layer)}"
    codes = [code for code in space.languages if any(code in found for found in kept.values())]
    return Table(
        name=name,
        title=f"All measures by language{where}",
        columns=(
            Column(title="Language"),
            *(Column(title=column_title(each, space, line=False), display=each.metric.display) for each in kept),
        ),
        rows=tuple((space.name_language(code), *(found.get(code) for found in kept.values())) for code in codes),
        note=". ".join(["Mean over the pairs of a language", *pools]) + ".",
    )


def languages_chart(space: AlignmentRecords, *, name: str = "languages-chart") -> IntervalChart | None:
    """The languages with their intervals, best first, from five languages on and where they may be ranked."""
    quantity, layer = space.headline, space.best_layer
    found = space.language_estimates(quantity, layer)
    if quantity is None or len(found) < MIN_RANKED_LANGUAGES or space.is_at_chance or not space.has_equal_candidates:
        return None
    nulls = {estimate.null_value for estimate in found.values()}
    level = nulls.pop() if len(nulls) == 1 else None
    lines = [quantity, *([space.centered] if quantity == space.as_is and space.centered is not None else [])]
    rows = []
    for code in _ranked_codes(space, found):
        for line in lines:
            label = "as is" if line == quantity else "centred"
            rows.append(
                IntervalRow(
                    label=space.name_language(code),
                    group=label if len(lines) > 1 else quantity.heading,
                    estimate=space.language(line, layer, code),
                )
            )
    return IntervalChart(
        name=name,
        title=f"{quantity.metric.title} by language, layer {space.name_layer(layer)}",
        note="Mean over the pairs of a language, both directions, with its 95\N{NO-BREAK SPACE}% interval.",
        x=Axis(title=quantity.heading, display=quantity.metric.display, zero=True),
        rows=tuple(rows),
        references=() if level is None else (ReferenceLine(label="chance level", values=(level,)),),
    )


# ------------------------------------------------------------------------------------------------------------- pairs
def _pair_quantities(space: AlignmentRecords) -> list[Quantity]:
    """What is shown of pairs: the first line of each metric that most pairs of its languages have."""
    found = []
    for lines in space.shown:
        pairs = {frozenset(pair) for pair in space.at(lines[0], space.best_layer) if None not in pair}
        codes = {code for pair in pairs for code in pair}
        if pairs and len(pairs) >= 0.8 * len(codes) * (len(codes) - 1) / 2:
            found.append(lines[0])
    return found


def pairs_section(space: AlignmentRecords, suffix: str = "", title: str = "") -> Section | None:
    """Language by language at the best layer: heat maps from five languages on, below that one table."""
    quantities = _pair_quantities(space)
    if not quantities or len(space.languages) < 3:
        return None
    findings = tuple(find_pairs(space))
    name = f"pairs{suffix}{_of(space)}"
    shown = _labelled(f"Pairs of languages{title}", space)
    if len(space.languages) < MIN_RANKED_LANGUAGES:
        table = pairs_table(space, quantities, name=name)
        return Section(name=name, title=shown, findings=findings, tables=(table,), terminal=True)
    order = pair_order(space)
    charts = tuple(
        heat_map(space, quantity, order, name=f"{name}-{_quantity_slug(quantity)}") for quantity in quantities
    )
    matrix = matrix_table(space, order, name=f"{name}-matrix")
    grouped = (
        "Languages stand in the order of a clustering of the first map, so groups that the model holds close form "
        "blocks along the diagonal."
    )
    given = "The order is that of the run."
    ranked = not space.is_at_chance and space.has_equal_candidates
    text = ("Rows are queries, columns candidates. " + (grouped if ranked else given),)
    return Section(name=name, title=shown, findings=findings, text=text, charts=charts, tables=(matrix,), terminal=True)


def _quantity_slug(quantity: Quantity) -> str:
    return slugify(f"{quantity.measure}-{quantity.heading}")


def pairs_table(space: AlignmentRecords, quantities: Sequence[Quantity], *, name: str) -> Table:
    """A row per pair, the mean of both directions of each metric, for two to four languages."""
    columns = {quantity: mean_both_directions(space.at(quantity, space.best_layer)) for quantity in quantities}
    pairs = list(dict.fromkeys(frozenset(pair) for found in columns.values() for pair in found))
    first = columns[quantities[0]]
    named = {frozenset(pair): pair for found in columns.values() for pair in found}
    by_pair = [{frozenset(pair): each for pair, each in found.items()} for found in columns.values()]
    ranked = not space.is_at_chance and space.has_equal_candidates
    if ranked:
        values = {frozenset(pair): estimate.value for pair, estimate in first.items()}
        pairs.sort(key=lambda pair: -values.get(pair, -1.0))
    return Table(
        name=name,
        title=f"Pairs at layer {space.name_layer(space.best_layer)}",
        columns=(
            Column(title="Pair"),
            *(
                Column(title=each.heading, display=each.metric.display, interval=number == 0)
                for number, each in enumerate(quantities)
            ),
        ),
        rows=tuple((space.name_pair(named[pair]), *(found.get(pair) for found in by_pair)) for pair in pairs),
        note="Mean of both directions." + ("" if space.has_equal_candidates else " Unequal candidates: not ranked."),
        terminal=True,
    )


def pair_order(space: AlignmentRecords) -> list[str]:
    """The order of languages in heat maps: clustered by the headline where it may be ranked, else that of the run."""
    found = space.at(space.headline, space.best_layer)
    if not found or space.is_at_chance or not space.has_equal_candidates:
        return list(space.languages)
    order = cluster_order(found)
    return [*order, *(code for code in space.languages if code not in order)]


def heat_map(space: AlignmentRecords, quantity: Quantity, order: Sequence[str], *, name: str) -> HeatMap:
    """Language by language, on a scale from the least to the greatest value shown, which its legend names."""
    found = space.at(quantity, space.best_layer)
    codes = [code for code in order if any(code in pair for pair in found)]
    where = f", layer {space.name_layer(space.best_layer)}" if space.layers(quantity) else ""
    notes = [quantity.metric.about, "Lower is closer." if quantity.metric.higher_is_better is False else ""]
    if pool := space.candidates(quantity, space.best_layer):
        notes.append(f"{pool[0].upper()}{pool[1:]}.")
    if quantity == space.headline and space.is_at_chance:
        notes.append("No better than chance: differences between pairs mean nothing.")
    return HeatMap(
        name=name,
        title=f"{quantity.metric.title}{where}",
        note=" ".join(part for part in notes if part),
        rows=tuple(space.name_language(code) for code in codes),
        columns=tuple(codes),
        cells=tuple(tuple(_cell(found, row, column) for column in codes) for row in codes),
        scale=quantity.heading,
        display="percent" if quantity.metric.display == "percent" else "number",
    )


def matrix_table(space: AlignmentRecords, order: Sequence[str], *, name: str) -> Table:
    """The headline of every pair: a row per language of the queries, a column per language of the candidates."""
    found = space.at(space.headline, space.best_layer)
    metric = None if space.headline is None else space.headline.metric
    codes = [code for code in order if any(code in pair for pair in found)]
    return Table(
        name=name,
        title=f"Pairs at layer {space.name_layer(space.best_layer)}",
        columns=(
            Column(title="Language"),
            *(Column(title=code, display="number" if metric is None else metric.display) for code in codes),
        ),
        rows=tuple((space.name_language(row), *(_cell(found, row, column) for column in codes)) for row in codes),
        note="Rows are queries, columns candidates.",
    )


def _cell(found: Mapping[Pair, Estimate], row: str, column: str) -> Estimate | None:
    return None if row == column else found.get((row, column)) or found.get((column, row))


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
    table = tokenizer_table(space, name=f"tokenizer{suffix}{_of(space)}")
    if table is None:
        return None
    chart = fertility_chart(space, name=f"fertility{suffix}{_of(space)}")
    return Section(
        name=f"tokenizer{suffix}{_of(space)}",
        title=_labelled(f"Tokenizer{title}", space),
        findings=tuple(find_tokenizer(space)),
        charts=() if chart is None else (chart,),
        tables=(table,),
        terminal=True,
    )


def fertility_chart(space: AlignmentRecords, *, name: str = "fertility") -> ScatterChart | None:
    """Alignment against pieces per word, a dot per language; only where five or more may be compared."""
    quantity = space.headline
    if quantity is None or space.is_at_chance or not space.has_equal_candidates:
        return None
    found, fertility = space.language_estimates(quantity, space.best_layer), space.side_estimates("fertility")
    codes = [code for code in found if code in fertility]
    if len(codes) < MIN_CORRELATION_ITEMS:
        return None
    trend = fit_trend([fertility[code].value for code in codes], [found[code].value for code in codes])
    return ScatterChart(
        name=name,
        title="Pieces per word and alignment",
        note=f"One dot per language. {trend.text} Correlation does not imply causation.",
        x=Axis(title="pieces per word"),
        y=Axis(title=quantity.heading, display=quantity.metric.display, zero=True),
        dots=tuple(
            Dot(
                label=space.name_language(code),
                x=fertility[code].value,
                y=found[code].value,
                records=found[code].records,
            )
            for code in codes
        ),
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
    for block, spaces in blocks.items():
        for space in spaces:
            begin = "".join(f"{part}: " for part in (block if len(blocks) > 1 else "", space.label) if part)
            for quantity in (line for lines in space.shown for line in lines):
                estimate = space.mean(quantity, space.best_layer)
                if estimate is not None:
                    name = ", ".join(part for part in (_number_name(quantity, space), quantity.line) if part)
                    numbers[f"{begin}{name}"] = estimate
            for code, estimate in space.language_estimates(space.headline, space.best_layer).items():
                assert space.headline is not None
                numbers[f"{begin}{space.headline.heading} of {space.name_language(code)}"] = estimate
    return numbers


def _number_name(quantity: Quantity, space: AlignmentRecords) -> str:
    same = {lines[0].measure for lines in space.shown if lines[0].metric.title == quantity.metric.title}
    unit = next((record.unit for record in space.records if record.measure == quantity.measure), "")
    text = quantity.metric.title + (f" of {unit}s" if len(same) > 1 else "")
    return f"{text}, same language" if quantity.same_language else text


def applies(run: Run) -> bool:
    """Whether a run has measures of representations."""
    return run.kind == "audit" or any(is_alignment_record(record) for record in run.records)


def _headline(run: Run) -> Headline | None:
    found = alignment_headline(run)
    if found is None and run.kind == "audit":
        nothing = Finding(kind="no_alignment", verdict=Verdict.NOT_TESTED)
        return Headline(title=f"How well {run.about.get('model', 'the model')} aligns languages", answer=nothing)
    return found


SUBJECT = Subject(
    name="alignment",
    applies=applies,
    sections=alignment_sections,
    headline=_headline,
    numbers=alignment_numbers,
)
