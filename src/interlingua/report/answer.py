"""Records to the answer in words: what is close, what is weak, where, and what goes with the tokenizer."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from interlingua.report.evidence import (
    FEW,
    Peak,
    above_null,
    association_numbers,
    association_power,
    association_said,
    at_chance,
    change,
    peak,
)
from interlingua.report.readings import Reading, Readings, Record, both_ways, gather, mean, tied_for_first
from interlingua.report.wording import language_name, listing, number, points, share_percent
from interlingua.stats import Association, correlate

WEAK = 0.75
"""A language is called weak when it reads less than this share of the median language, and its interval ends below it.
"""

NBSP = "\N{NO-BREAK SPACE}"

SCALE = (
    (0.9, "Strongly aligned"),
    (0.6, "Usable for search with review"),
    (0.2, "Weakly aligned"),
    (-1.0, "Not aligned"),
)
"""What P@1 means for who wants to find translations: the least share of each step, and its words."""

HUBS, STRONG_HUBS = 1.0, 5.0
"""The skewness of neighbour counts from which hubs are spoken of, and from which intervals may fail them
(docs/calibration.md)."""

RAW, CENTRED = "p@1/cosine/raw", "p@1/cosine/centred"


@dataclass(frozen=True)
class Finding:
    """One paragraph of the answer: what it is about, and the sentences; plain text."""

    topic: str
    text: str


def answer(records: Iterable[Record] | Readings, run: Mapping[str, Any]) -> list[Finding]:
    """The findings in the order a reader asks for them, the headline first; those without records are left out."""
    found = records if isinstance(records, Readings) else gather(records)
    parts = (_unfinished, _overall, _languages, _pairs, _layers, _centring, _hubs, _rotation, _tokenizer)
    findings = [finding for part in parts if (finding := part(found, run)) is not None]
    return findings or [Finding("Overall", "No alignment between languages was measured in this run.")]


def _unfinished(found: Readings, run: Mapping[str, Any]) -> Finding | None:
    """Before all else, since it bears on all else."""
    return Finding("Unfinished", str(run["unfinished"])) if run.get("unfinished") else None


def _overall(found: Readings, run: Mapping[str, Any]) -> Finding | None:
    key, top = found.headline(), peak(found)
    if key is None or top is None:
        return None
    all_pairs = found.at(*key, top.layer)
    overall = mean(all_pairs.values())
    scope = _scope(all_pairs, run)
    if key[0] == "cka":
        null = _show(key, overall.null or 0.0)
        poor = f" That is no better than chance ({null}): no alignment shows, and nothing is ranked."
        return Finding(
            "Overall",
            f"{_where(top).capitalize()}, the debiased CKA of two languages’ sentences is {number(overall.value)}"
            f"{_interval(overall)}: {scope}. 1 is the same space up to rotation and scale, 0 is no relation."
            f"{poor if top.chance else ''}",
        )
    least = "" if len({reading.n for reading in all_pairs.values()}) == 1 else "at least "
    chance = "" if overall.null is None else f" (chance {share_percent(overall.null)})"
    kind = "" if key[1] == RAW else ", once each language’s mean is removed"
    centred = found.at("retrieval", CENTRED, top.layer) if key[1] == RAW else {}
    hidden = top.chance and bool(centred) and above_null(mean(centred.values()))
    poor = " That is no better than chance: no alignment shows, and nothing is ranked." if top.chance else ""
    if hidden:
        poor = " As is, that is no better than chance, and nothing is ranked; with means removed it is above chance."
    more = _centred_too(found, key, top.layer) if hidden or not top.chance else ""
    text = (
        f"{verdict(overall)}: among {least}{overall.n:,} candidates{chance} {share_percent(overall.value)} of sentences"
        f"{_interval(overall, share_percent)} find their translation as nearest neighbour{kind}"
        f"{more}, {_where(top)}: {scope}.{poor}{_blocks(top)}"
    )
    return Finding("Overall", text)


def verdict(reading: Reading) -> str:
    """P@1 on a fixed scale; two steps of it where the interval reaches from one to the other.

    >>> verdict(Reading(0.95, 0.01, 0.93, 0.97)), verdict(Reading(0.25, 0.01, 0.15, 0.35))
    ('Strongly aligned', 'Not aligned or weakly aligned')
    >>> verdict(Reading(0.5, 0.5, 0.4, 0.6))
    'Not aligned'
    """
    if not above_null(reading):
        return SCALE[-1][1]
    ends = (reading.value if end is None else end for end in (reading.low, reading.high))
    low, high = (next(place for place, (least, _) in enumerate(SCALE) if end >= least) for end in ends)
    words = [text for _, text in SCALE[high : low + 1]][::-1]
    return words[0] if len(words) == 1 else f"{words[0]} or {words[-1][0].lower()}{words[-1][1:]}"


def _centred_too(found: Readings, key: tuple[str, str], layer: int) -> str:
    """What removing each language's mean adds to the headline, in the same sentence; nothing where not measured."""
    raw, centred = (found.at("retrieval", variant, layer) for variant in (RAW, CENTRED))
    if key[1] != RAW or not raw or not centred:
        return ""
    before, after = mean(raw.values()).value, mean(centred.values()).value
    clear = "" if change(centred, raw, "above_raw").sign else ", not a clear difference"
    return f", and {share_percent(after)} once each language’s mean is removed ({points(after, before)} points{clear})"


def _languages(found: Readings, run: Mapping[str, Any]) -> Finding | None:
    key, layer = found.headline(), found.best_layer()
    if key is None or len(found.languages) < 3 or at_chance(found):
        return None
    if not found.equal_candidates():
        return Finding("Languages", _not_comparable(found.at(*key, layer), run))
    each = _by_language(found, key, layer)
    order = sorted(each, key=lambda code: -each[code].value)
    middle = statistics.median(reading.value for reading in each.values())

    def named(codes: Iterable[str]) -> str:
        return listing([f"{language_name(code, run)} ({_show(key, each[code].value)})" for code in codes])

    behind = [code for code in reversed(order) if each[code].value < WEAK * middle]
    weak = [code for code in behind if (high := each[code].high) is not None and high < middle]
    weak = weak if len(order) >= FEW else []
    median = f"the median language has {_show(key, middle)}"
    if weak:
        more = f" and {len(weak) - 5} more" if len(weak) > 5 else ""
        tail = f"Weak: {named(weak[:5])}{more}, under three quarters of the median language ({_show(key, middle)})."
    elif behind and len(order) < FEW:
        tail = f"Lowest: {named(order[-1:])}; {median}. Of fewer than {FEW} languages none is called weak."
    elif behind and each[order[-1]].high is None:
        tail = f"Lowest: {named(order[-1:])}; {median}. Without intervals none is called weak."
    elif behind:
        tail = f"Lowest: {named(order[-1:])}; its interval reaches the median language ({_show(key, middle)})."
    else:
        tail = f"No language falls far behind: the lowest is {named(order[-1:])}, and {median}."
    lost = [code for code in found.languages if code in each and not above_null(each[code])]
    if lost:
        tail += f" No better than chance: {listing([language_name(code, run) for code in lost])}."
    return Finding("Languages", f"{_connected(each, order, middle, named)} {tail}")


def _connected(
    each: Mapping[str, Reading], order: Sequence[str], middle: float, named: Callable[[Iterable[str]], str]
) -> str:
    """The best connected languages: above the median, at most half of all, and which of them are tied for first."""
    tied = tied_for_first({code: each[code] for code in order})
    if len(tied) == len(order):
        return f"No language stands out: all lie within the interval of the highest, {named(order[:1])}."
    chosen = [code for code in order if each[code].value > middle][: min(3, len(order) // 2)]
    if not chosen:  # So many are equal that their number is the median.
        return (
            f"{len(tied)} of {len(order)} languages are tied for first (within the interval of the highest, "
            f"{named(order[:1])})."
        )
    text = f"Best connected: {named(chosen)}"
    if len(tied) == 1:
        return f"{text}."
    if len(tied) <= len(chosen):
        return f"{text}; the first {len(tied)} are tied (within the interval of the highest)."
    return f"{text}; {len(tied)} languages are tied for first (within the interval of the highest)."


def _not_comparable(readings: Mapping[tuple[str, str | None], Reading], run: Mapping[str, Any]) -> str:
    """Why nothing is ranked: the pairs with the fewest and the most candidates."""
    least, most = (pick(readings, key=lambda pair: readings[pair].n) for pick in (min, max))
    return (
        f"Not comparable: {readings[least].n:,} candidates ({_pair(least, run)}) against {readings[most].n:,} "
        f"({_pair(most, run)}). The fewer candidates, the easier to find a translation, so nothing is ranked."
    )


def _pairs(found: Readings, run: Mapping[str, Any]) -> Finding | None:
    key, layer = found.headline(), found.best_layer()
    if key is None:
        return None
    pairs = both_ways(found.at(*key, layer))
    if len(pairs) < 3 or at_chance(found) or not found.equal_candidates():
        return None
    order = sorted(pairs, key=lambda pair: -pairs[pair].value)
    if len(tied_for_first(pairs)) == len(pairs):
        first = f"{_pair(order[0], run)} ({_show(key, pairs[order[0]].value)})"
        return Finding("Pairs", f"No pair stands out: all lie within the interval of the highest, {first}.")
    count = min(3, len(order) // 2)

    def named(chosen: Iterable[tuple[str, str | None]]) -> str:
        return listing([f"{_pair(pair, run)} ({_show(key, pairs[pair].value)})" for pair in chosen])

    tied = len(tied_for_first(pairs))
    among = f" ({tied} pairs are tied for first: within the interval of the highest)" if tied > 1 else ""
    text = f"Closest: {named(order[:count])}{among}. Farthest: {named(order[: -count - 1 : -1])}."
    return Finding("Pairs", text)


def _layers(found: Readings, run: Mapping[str, Any]) -> Finding | None:
    key, top = found.headline(), peak(found)
    if key is None or top is None or len(top.layers) < 2:
        return None
    if top.output:
        return _output_and_layers(found, key, top)
    layers, best = top.layers, top.layer
    span = f"{layers[0]}–{layers[-1]} (layer 0 is the embedding output, layer k the output of block k)"
    if top.chance:
        return Finding("Layers", f"No layer of {span} is better than chance, so none is called the best.")
    values = {layer: mean(found.at(*key, layer).values()).value for layer in layers}
    if top.flat:
        ends = list(dict.fromkeys(_show(key, value) for value in (min(values.values()), top.reading.value)))
        text = (
            f"No layer of {span} stands out: they have {' to '.join(ends)}, all within the interval of the highest, "
            f"layer {best}."
        )
        return Finding("Layers", f"{text}{_shallow(top)}")
    group = sorted((best, *top.rivals))
    others = [layer for layer in dict.fromkeys((layers[0], layers[-1])) if layer not in group]
    against = listing([f"{_show(key, values[layer])} at layer {layer}" for layer in others])
    against = f", against {against}" if against else ""
    if top.rivals:
        names = listing([str(layer) for layer in group])
        begin = (
            f"Layers {names} are tied for best of {span}: all lie within the interval of the highest, layer {best} "
            f"({_show(key, top.reading.value)}){against}."
        )
    else:
        begin = f"Layer {best} is best of {span}: {_show(key, top.reading.value)}{against}."
    text = f"{begin} It was chosen on these same sentences, so its own number is slightly flattering.{_shallow(top)}"
    return Finding("Layers", text)


def _output_and_layers(found: Readings, key: tuple[str, str], top: Peak) -> Finding:
    """How the layers of the transformer read beside the output that was made of the last one."""
    own = [layer for layer in top.layers if layer != top.layer]
    values = {layer: mean(found.at(*key, layer).values()).value for layer in own}
    best = max(own, key=lambda layer: (values[layer], -layer))
    tied = [at for at in tied_for_first({at: mean(found.at(*key, at).values()) for at in own}) if at != best]
    within = f" (tied with {listing([str(at) for at in tied])})" if tied else ""
    within += ", within the interval of the output" if best in top.rivals else ""
    last = "" if best == own[-1] or own[-1] in tied else f"; the last reads {_show(key, values[own[-1]])}"
    text = (
        f"The output reads {_show(key, top.reading.value)}. Of layers {found.span(own)} (layer 0 is the embedding "
        f"output, layer k the output of block k) layer {best} reads highest, {_show(key, values[best])}{within}{last}."
        f"{_shallow(top)}"
    )
    return Finding("Layers", text)


def _where(top: Peak) -> str:
    """Where the headline was read, with no more claimed for that layer than the numbers bear out."""
    if top.output:
        return "In the sentence vectors that the model gives out (layer output)"
    if len(top.layers) < 2:
        return f"at layer {top.layer}"
    if top.chance:
        return f"even at the layer with the highest value ({top.layer})"
    if top.flat:
        return f"at layer {top.layer} (no layer stands out)"
    tied = f", tied with {listing([str(layer) for layer in top.rivals])}" if top.rivals else ""
    return f"at the best layer ({top.layer}{tied})"


def _blocks(top: Peak) -> str:
    """A sentence where the blocks above the embeddings have no part in what was found."""
    if not top.shallow:
        return ""
    if top.layer == 0:
        return " That is the embedding output alone, and the layers above add nothing to it."
    return " The embedding output alone does as well."


def _shallow(top: Peak) -> str:
    """A warning where the embeddings alone do as well: a model with random weights shows just that."""
    return (
        " Layer 0, where words know nothing of each other, does as well as any: pieces of words that the languages "
        "share may be all that is found, as in a model that was never trained."
        if top.shallow
        else ""
    )


def _centring(found: Readings, run: Mapping[str, Any]) -> Finding | None:
    layer = found.best_layer()
    raw, centred = (found.at("retrieval", variant, layer) for variant in (RAW, CENTRED))
    if not raw or not centred:
        return None
    top = mean(centred.values())
    if not above_null(top):
        return None
    gain, before = change(centred, raw, "above_raw"), mean(raw.values()).value
    verb = {1: "lifts retrieval", -1: "lowers retrieval", 0: "takes retrieval"}[gain.sign]
    verdict = {
        1: ": part of the distance between languages is a constant offset that only says which language it is, and it "
        "can be taken away for free.",
        -1: ".",
        0: ": the change is not clear.",
    }[gain.sign]
    text = (
        f"Subtracting each language’s mean vector {verb} from {share_percent(before)} to {share_percent(top.value)} "
        f"among the same candidates ({points(top.value, before)} points; {gain.told}){verdict}"
    )
    return Finding("Language identity", text)


def _rotation(found: Readings, run: Mapping[str, Any]) -> Finding | None:
    layer = found.best_layer()
    mapped, plain = (found.at("procrustes", variant, layer) for variant in ("p@1/mapped", "p@1/identity"))
    if not mapped or not plain:
        return None
    after, before = mean(mapped.values()), mean(plain.values())
    gain = change(mapped, plain, "above_identity")
    chance = after.null is not None and after.low is not None and after.low <= after.null
    told = f" ({points(after.value, before.value)} points; {gain.told})"
    if chance:
        verdict = ": no more than a map fitted on shuffled pairs finds."
    elif gain.sign > 0:
        verdict = f"{told}: the languages are shaped alike but turned against each other."
    elif gain.sign < 0:
        verdict = f"{told}{_unfit(mapped.values())}."
    else:
        verdict = f"{told}: the difference is not clear."
    ours = f" from {language_name(run['languages'][0], run)}" if run.get("maps") == "pivot" else ""
    pool = f"{after.n} held-out candidates (chance {share_percent(1 / after.n)})" if after.n else "held-out candidates"
    text = (
        f"A rotation{ours} fitted on other sentences, language means removed, finds {share_percent(after.value)} of "
        f"translations among {pool}, against {share_percent(before.value)} without it among the same{verdict}"
    )
    return Finding("Rotation", text)


def _unfit(mapped: Iterable[Reading]) -> str:
    """Why a map does harm, where it was fitted on fewer rows than its dimensions in every pair; else nothing."""
    sizes = [(reading.details.get("train"), reading.details.get("width")) for reading in mapped]
    known = [(train, width) for train, width in sizes if train is not None and width is not None]
    if len(known) < len(sizes) or any(train >= width for train, width in known):
        return ""
    train, width = known[0]
    return f": {train} sentences are too few to fit a map of {width} dimensions"


def _tokenizer(found: Readings, run: Mapping[str, Any]) -> Finding | None:
    key, layer = found.headline(), found.best_layer()
    fertility = {code: reading.value for code in found.languages if (reading := found.fertility(code))}
    if not fertility:
        return None
    order = sorted(fertility, key=lambda code: fertility[code])
    ends = _cut_most_and_least(found, order, run)
    if key and (at_chance(found) or not found.equal_candidates()):
        return Finding("Tokenizer", ends)
    each = _by_language(found, key, layer) if key else {}
    codes = [code for code in order if code in each]
    if len(codes) < FEW:
        return Finding(
            "Tokenizer", f"{ends} {len(codes) or 'No'} languages are too few to say whether that explains who is weak."
        )
    relation = correlate([fertility[code] for code in codes], [each[code].value for code in codes])
    parts = [ends, _fertility_verdict(relation), _agreement(found, each)]
    return Finding("Tokenizer", " ".join(part for part in parts if part))


def _cut_most_and_least(found: Readings, order: Sequence[str], run: Mapping[str, Any]) -> str:
    """Which languages the tokenizer cuts most finely and least, with those tied with them."""
    each = {code: reading for code in order if (reading := found.fertility(code)) is not None}
    turned = {
        code: replace(reading, value=-reading.value, low=None if reading.high is None else -reading.high)
        for code, reading in each.items()
    }
    groups = [sorted(tied_for_first(its), key=order.index) for its in (each, turned)]
    if set(groups[0]) & set(groups[1]):
        first, last = (number(each[code].value) for code in (order[0], order[-1]))
        return f"The tokenizer cuts all languages about as finely: {first} to {last} pieces per word."
    most, least = (
        listing([f"{language_name(code, run)} ({number(each[code].value)})" for code in group])
        for group in (groups[0][::-1], groups[1])
    )
    return f"The tokenizer cuts {most} into most pieces per word, and {least} into fewest."


def _fertility_verdict(relation: Association | None) -> str:
    """Whether retrieval goes with pieces per word. Without evidence nothing is said to be, or not to be, the cause."""
    if relation is None:
        return "Pieces per word, or retrieval, is the same in all languages: no correlation is defined."
    numbers = f"({association_numbers(relation)})"
    if relation.sign == 0:
        return f"Pieces per word and retrieval show no clear relation {numbers}. {association_power(relation)}"
    goes = "worse" if relation.sign < 0 else "better"
    return (
        f"The more pieces per word, the {goes} the retrieval {numbers}. Correlation does not imply causation: size of "
        "training data and script go with both."
    )


def _agreement(found: Readings, each: Mapping[str, Reading]) -> str:
    """Whether languages that get as many tokens as their translations do better, or nothing when not measured."""
    agreement = {
        code: reading.value for code in each if (reading := found.language("tokenization", "agreement", None, code))
    }
    relation = correlate(list(agreement.values()), [each[code].value for code in agreement])
    if len(agreement) < FEW or relation is None:
        return ""
    return f"Agreement of token counts and retrieval: {association_said(relation)}"


def _by_language(found: Readings, key: tuple[str, str], layer: int | None) -> dict[str, Reading]:
    return {code: reading for code in found.languages if (reading := found.language(*key, layer, code))}


def _scope(pairs: Mapping[tuple[str, str | None], Reading], run: Mapping[str, Any]) -> str:
    count = len(both_ways(pairs))
    if count == 1:
        return _pair(next(iter(pairs)), run)
    languages = len({code for pair in pairs for code in pair})
    return f"the mean over {count} pairs of {languages} languages"


def _pair(pair: tuple[str, str | None], run: Mapping[str, Any]) -> str:
    return "–".join(language_name(code, run) for code in pair if code is not None)


def _interval(reading: Reading, show: Any = number) -> str:
    if reading.low is None or reading.high is None:
        return ""
    low, high = show(reading.low).removesuffix(f"{NBSP}%"), show(reading.high)
    return f" (95{NBSP}% interval {low} to {high})"


def _hubs(found: Readings, run: Mapping[str, Any]) -> Finding | None:
    """How uneven nearest neighbours are, which makes retrieval by cosine fail, and what takes it away."""
    layer = found.best_layer()
    raw, centred = (found.at("retrieval", f"hubness/cosine/{space}", layer) for space in ("raw", "centred"))
    if not raw:
        return None
    own = mean(raw.values())
    without = f"; {number(mean(centred.values()).value, 1)} once each language’s mean is removed" if centred else ""
    text = (
        f"The skewness of how often a sentence is among the 10 nearest of another is {number(own.value, 1)}{without} "
        f"({number(own.null, 1)} for neighbours drawn at random)"
    )
    if own.value < HUBS:
        return Finding("Hubs", f"{text}: no sentence is the neighbour of far more than its share.")
    better = found.at("retrieval", "p@1/csls/raw", layer)
    csls = f" CSLS, which corrects for them, finds {share_percent(mean(better.values()).value)}." if better else ""
    few = (
        " So few hubs decide so much that the intervals of retrieval may be too narrow."
        if max(reading.value for reading in raw.values()) > STRONG_HUBS
        else ""
    )
    return Finding("Hubs", f"{text}: a few sentences, the hubs, are neighbours of many others.{csls}{few}")


def _show(key: tuple[str, str], value: float) -> str:
    return share_percent(value) if key[0] == "retrieval" else number(value)
