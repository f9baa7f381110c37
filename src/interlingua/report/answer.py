"""Records to the answer in words: what is close, what is weak, where, and how much the tokenizer is to blame."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from interlingua.report.evidence import (
    FEW,
    Peak,
    above_null,
    association_numbers,
    association_power,
    change,
    peak,
)
from interlingua.report.readings import Reading, Readings, Record, both_ways, gather, mean
from interlingua.report.wording import language_name, listing, number, percent
from interlingua.stats import Association, correlate

WEAK = 0.75
"""A language is called weak when it reads less than this share of the median language, and its interval ends below it.
"""

NBSP = "\N{NO-BREAK SPACE}"

RAW, CENTRED = "p@1/cosine/raw", "p@1/cosine/centred"


@dataclass(frozen=True)
class Finding:
    """One paragraph of the answer: what it is about, and the sentences; plain text."""

    topic: str
    text: str


def answer(records: Iterable[Record] | Readings, run: Mapping[str, Any]) -> list[Finding]:
    """The findings in the order a reader asks for them, the headline first; those without records are left out."""
    found = records if isinstance(records, Readings) else gather(records)
    parts = (_unfinished, _overall, _languages, _pairs, _layers, _centring, _rotation, _tokenizer)
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
    null = _show(key, overall.null or 0.0)
    poor = f" That is no better than chance ({null}): no alignment shows, and nothing is ranked."
    if key[0] == "cka":
        return Finding(
            "Overall",
            f"{_where(top)}, the debiased CKA of two languages’ sentences is {number(overall.value)}"
            f"{_interval(overall)}: {scope}. 1 is the same space up to rotation and scale, 0 is no relation."
            f"{poor if top.chance else ''}",
        )
    chance = "" if overall.null is None else f" Chance would find {percent(overall.null)}{_times(overall)}."
    if top.chance:
        chance = poor
    least = "" if len({reading.n for reading in all_pairs.values()}) == 1 else "at least "
    kind = "" if key[1] == RAW else ", once each language’s mean is removed"
    text = (
        f"{_where(top)}, {percent(overall.value)} of sentences{_interval(overall, percent)} "
        f"find their translation as nearest neighbour among {least}{overall.n} candidates{kind}: {scope}.{chance}"
        f"{_blocks(top)}"
    )
    return Finding("Overall", text)


def _languages(found: Readings, run: Mapping[str, Any]) -> Finding | None:
    key, layer = found.headline(), found.best_layer()
    if key is None or len(found.languages) < 3 or not above_null(mean(found.at(*key, layer).values())):
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
    strong = named(order[: min(3, len(order) - 1)])
    if weak:
        more = f" and {len(weak) - 5} more" if len(weak) > 5 else ""
        tail = f"Weak: {named(weak[:5])}{more}, under three quarters of the median language ({_show(key, middle)})."
    elif behind:
        tail = f"Lowest: {named(order[-1:])}; its interval reaches the median language ({_show(key, middle)})."
        if each[order[-1]].high is None:
            tail = (
                f"Lowest: {named(order[-1:])}, the median {_show(key, middle)}; without intervals none is called weak."
            )
    else:
        tail = f"No language falls far behind: the lowest is {named(order[-1:])}, the median {_show(key, middle)}."
    lost = [code for code in found.languages if code in each and not above_null(each[code])]
    if lost:
        tail += f" No better than chance: {listing([language_name(code, run) for code in lost])}."
    return Finding("Languages", f"Best connected: {strong}. {tail}")


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
    if len(pairs) < 3 or not above_null(mean(pairs.values())) or not found.equal_candidates():
        return None
    order = sorted(pairs, key=lambda pair: -pairs[pair].value)
    count = min(3, len(order) // 2)

    def named(chosen: Iterable[tuple[str, str | None]]) -> str:
        return listing([f"{_pair(pair, run)} ({_show(key, pairs[pair].value)})" for pair in chosen])

    return Finding("Pairs", f"Closest: {named(order[:count])}. Farthest: {named(order[: -count - 1 : -1])}.")


def _layers(found: Readings, run: Mapping[str, Any]) -> Finding | None:
    key, top = found.headline(), peak(found)
    if key is None or top is None or len(top.layers) < 2:
        return None
    layers, best = top.layers, top.layer
    span = f"{layers[0]}–{layers[-1]} (layer 0 is the embedding output, layer k the output of block k)"
    if top.chance:
        return Finding("Layers", f"No layer of {span} is better than chance, so none is called the best.")
    values = {layer: mean(found.at(*key, layer).values()).value for layer in layers}
    if top.flat:
        ends = list(dict.fromkeys(_show(key, value) for value in (min(values.values()), top.reading.value)))
        text = (
            f"No layer of {span} stands out: they read {' to '.join(ends)}, all within the interval of the highest, "
            f"layer {best}."
        )
        return Finding("Layers", f"{text}{_shallow(top)}")
    close = (
        f" Layer{'s' if len(top.rivals) > 1 else ''} {listing([str(layer) for layer in top.rivals])} read within its "
        "interval."
        if top.rivals
        else ""
    )
    text = (
        f"Layer {best} is best of {span}: {_show(key, top.reading.value)}, against {_show(key, values[layers[0]])} at "
        f"layer {layers[0]} and {_show(key, values[layers[-1]])} at layer {layers[-1]}.{close} "
        f"It was chosen on these same sentences, so its own number is slightly flattering.{_shallow(top)}"
    )
    return Finding("Layers", text)


def _where(top: Peak) -> str:
    """Where the headline was read, with no more claimed for that layer than the numbers bear out."""
    if len(top.layers) < 2:
        return f"At layer {top.layer}"
    if top.chance:
        return f"Even at the layer that reads highest ({top.layer})"
    return f"At layer {top.layer} (no layer stands out)" if top.flat else f"At its best layer ({top.layer})"


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
    gain = change(centred, raw, "above_raw")
    verb = {1: "lifts retrieval", -1: "lowers retrieval", 0: "takes retrieval"}[gain.sign]
    verdict = {
        1: ": part of the distance between languages is a constant offset that only says which language it is, and it "
        "can be taken away for free.",
        -1: ".",
        0: ": no change can be told.",
    }[gain.sign]
    text = (
        f"Subtracting each language’s mean vector {verb} from {percent(mean(raw.values()).value)} to "
        f"{percent(top.value)} ({gain.told}){verdict}"
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
    if chance:
        verdict = ": no more than a map fitted on shuffled pairs finds."
    elif gain.sign > 0:
        verdict = f" ({gain.told}): the languages are shaped alike but turned against each other."
    elif gain.sign < 0:
        verdict = f" ({gain.told}){_unfit(mapped.values())}."
    else:
        verdict = f" ({gain.told}): no difference can be told."
    ours = f" from {language_name(run['languages'][0], run)}" if run.get("maps") == "pivot" else ""
    text = (
        f"A rotation{ours} fitted on other sentences finds {percent(after.value)} of {after.n} held-out translations, "
        f"against {percent(before.value)} without it{verdict}"
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
    ends = (
        f"The tokenizer cuts {language_name(order[-1], run)} most finely ({number(fertility[order[-1]])} pieces per "
        f"word) and {language_name(order[0], run)} least ({number(fertility[order[0]])})."
    )
    if key and not (above_null(mean(found.at(*key, layer).values())) and found.equal_candidates()):
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
    return f"Agreement of token counts and retrieval: {association_numbers(relation)}."


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


def _times(reading: Reading) -> str:
    if not reading.null or reading.value <= 0:
        return ""
    ratio = reading.value / reading.null
    return f", {ratio:.0f} times fewer" if ratio >= 2 and reading.null else ""


def _show(key: tuple[str, str], value: float) -> str:
    return percent(value) if key[0] == "retrieval" else number(value)
