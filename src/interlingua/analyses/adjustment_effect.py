"""What an adjustment changed: retrieval and word distances of an encoder in either state, compared by sentence.

Both states read the same rows, so their differences are judged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.analyses.aligned_bitext import LinkedText
from interlingua.analyses.training_inputs import Pairs
from interlingua.corpus import Pair, clean
from interlingua.encoder import Encoder
from interlingua.measures.retrieval import METRICS as RETRIEVAL
from interlingua.measures.retrieval import retrieval
from interlingua.measures.separation import METRICS as SEPARATION
from interlingua.metric import BACKWARD
from interlingua.readers.embedded import sampler
from interlingua.record import Made, Record
from interlingua.stats import holm, paired_difference
from interlingua.stats.chance import LEVEL, above_chance
from interlingua.training.monitors import WordDistances

Found = Mapping[str, Any]
HIGHER, LOWER, UNCLEAR = "higher", "lower", "unclear"
_STATES = ("before", "after")
STATES = {"original": "before", "adjusted": "after"}
"""What the states of records are called where both stand side by side."""
SAMPLER = "sampler"
_SAMPLER_LEAST = 100  # With fewer rows the change of a share is known to no better than ten points.
BEST = "best layer"
"""How the names of comparisons of each state at its own best layer begin, beside names of scores."""
Sides = tuple[NDArray[np.float64], Sequence[Sequence[float]]]
_WAYS = ("p@1/cosine/centred", "p@1/cosine/centred/backward")


def sampler_rows(staying: str, code: str, given: LinkedText) -> Pair | None:
    """The embedded sampler in both languages, without rows of the bitext; None where it lacks one, or has too few.

    What is learnt from one kind of text may be lost on another.
    """
    corpus = sampler("sampler", languages=None)
    if staying == code or not {staying, code} <= set(corpus.languages):
        return None
    seen = {clean(text) for texts in given.texts for text in texts}
    both = corpus.select([staying, code])
    pair = both.pair(staying, code)
    texts = zip(pair.source_texts, pair.target_texts, strict=True)
    fresh = np.flatnonzero([not seen & set(row) for row in texts])
    return both.take(fresh).pair(staying, code) if len(fresh) >= _SAMPLER_LEAST else None


def measure_effect(encoder: Encoder, pairs: Pairs, other: Pair | None, shared: Record, *, precision: str) -> Made:
    """Distances of words at the adjusted layer and retrieval at every layer, on the rows held out of a bitext.

    On `other`, rows of the sampler, retrieval alone.
    """
    layer, seed = pairs.settings.layer, shared.seed or 0
    words = WordDistances(pairs.held, layer, precision=precision, seed=seed)(encoder.model)
    near = replace(shared, measure="separation", layer=encoder.layers[layer], unit="word")
    near = replace(near, digests=_of_texts(near, *pairs.held_texts))
    made: Made = [(near.scored(SEPARATION, key, score), score.items) for key, score in words.items()]
    made += _retrieval(encoder, *pairs.held_texts, shared)
    if other is not None:
        made += _retrieval(encoder, other.source_texts, other.target_texts, replace(shared, corpus=SAMPLER))
    return made


def _retrieval(encoder: Encoder, source: Sequence[str], target: Sequence[str], shared: Record) -> Made:
    """P@1 of both directions at every layer, with what each sentence added."""
    sides = [encoder.encode(list(texts)) for texts in (source, target)]
    shared = replace(shared, digests=_of_texts(shared, source, target))
    made: Made = []
    for layer in encoder.layers:
        vectors = [torch.from_numpy(np.array(side[layer], np.float32)) for side in sides]
        scores = retrieval(vectors[0], vectors[1], ks=(1,), similarities=("cosine",))
        own = replace(shared, layer=layer)
        made += [(own.scored(RETRIEVAL, key, score), score.items) for key, score in scores.items()]
    return made


def _of_texts(shared: Record, *sides: Sequence[str]) -> dict[str, str]:
    """The digests of a record with that of the sentences it is of: those of two runs may be compared one by one."""
    state = hashlib.blake2b(digest_size=16)
    for text in chain.from_iterable(sides):
        state.update(b"\x1f" + text.encode("utf-8", "surrogatepass"))
    return {**shared.digests, "corpus": state.hexdigest()}


def states_of(records: Iterable[Record], items: Callable[[Record], Any]) -> dict[str, dict[str, Any]]:
    """Records of an effect as `with_changes` reads them: `before` and `after`, each by language."""
    every = [record for record in records if record.state in STATES]
    staying = {str(record.target): str(record.source) for record in every if record.measure == "separation"}
    found: dict[str, dict[str, Any]] = {}
    for record in every:
        forward = staying.get(str(record.target)) == record.source
        code = str(record.target if forward else record.source)
        key = record.key if forward else record.key + BACKWARD
        told: dict[str, Any] = {
            "value": record.value, "n": record.n, "null": record.null_value,
            "low": record.ci_low, "high": record.ci_high,
        }  # fmt: skip
        if record.details:
            told["details"] = dict(record.details)
        its = found.setdefault(STATES[str(record.state)], {}).setdefault(code, {"distances": {}, "retrieval": {}})
        if record.measure == "separation":
            its["distances"][key] = told
            continue
        if key.startswith("p@1"):
            told["items"] = items(record).tolist()
        if record.corpus == SAMPLER:
            its = its.setdefault(SAMPLER, {"languages": [staying[code], code], "rows": record.n, "retrieval": {}})
        its["retrieval"].setdefault(str(record.layer), {})[key] = told
    return found


def with_changes(before: Found, after: Found, layer: int) -> dict[str, Any]:
    """The measures after, with what changed: each P@1 as `change`, both directions as `changes`, and a `verdict`.

    `changes` has the adjusted layer, and each state at its best layer, language means removed: where another layer was
    nearly as good before, the first alone says too much; `tied` are the layers that are as good. A change is a mean
    difference by sentence and its interval, which counts the candidates that all sentences share (`hubs`). Where items
    are not known, as in the state of an older version, there is none.

    `verdict` has every comparison that it is made of (`comparisons`): both directions, as is and with means removed, at
    the adjusted layer and with each state at its own best layer, of the held-out rows and of the sampler. Each is
    higher or lower where its paired t-test says so after Holm's correction for their number, else unclear. The verdict
    is the weakest of them: `worse` where one is lower, else `unclear` where one is unclear, else `better`. Without a
    sampler only the text's own kind was asked: where it gained the verdict is `untested`. `texts` has of each text the
    chance level, its highest P@1 before and after (`most`), and the states whose P@1 is above chance nowhere
    (`at_chance`); `at_chance` beside them names the states of which that is so in every text.
    """
    told = {}
    for code, found in after.items():
        made = told[code] = {**found, **_text_changes(before[code], found, layer)}
        texts = {"held-out": (before[code], made)}
        if "sampler" in found and "sampler" in before[code]:
            own = before[code]["sampler"]
            made["sampler"] = {**found["sampler"], **_text_changes(own, found["sampler"], layer)}
            texts["sampler"] = (own, made["sampler"])
        if all("changes" in its for _, its in texts.values()):
            made["verdict"] = _verdict(texts, layer)
    return told


def _text_changes(before: Found, after: Found, layer: int) -> dict[str, Any]:
    """The retrieval of one text after, with its changes."""
    old, new = before["retrieval"], after["retrieval"]
    scores = {
        at: {name: {**score, **_changed(old[at][name], score)} for name, score in its.items()}
        for at, its in new.items()
    }
    every = [score for state in (old, new) for its in state.values() for name, score in its.items()
             if name.startswith("p@1/")]  # fmt: skip
    if not all("items" in score for score in every):
        return {"retrieval": scores}
    places = {"adjusted": (str(layer), str(layer)), "best": (_best(old), _best(new))}
    changes = {
        name: {"layers": [int(at) for at in both], **_change(_both(old[both[0]]), _both(new[both[1]]))}
        for name, both in places.items()
    }
    changes["best"]["tied"] = [_tied(state, at) for state, at in zip((old, new), places["best"], strict=True)]
    return {"retrieval": scores, "changes": changes}


def _tied(by_layer: Found, best: str) -> list[int]:
    """The layers that a paired t-test over sentences cannot separate from the best, after Holm's correction."""
    others = [at for at in by_layer if at != best]
    top = _both(by_layer[best])
    found = holm([_change(top, _both(by_layer[at]))["p"] for at in others])
    return sorted(int(at) for at, p in zip(others, found, strict=True) if p >= LEVEL)


def _verdict(texts: Mapping[str, tuple[Found, Found]], layer: int) -> dict[str, Any]:
    """The verdict over all comparisons of all texts, each given before and after."""
    compared = []
    for text, (before, after) in texts.items():
        old, new = before["retrieval"], after["retrieval"]
        for name, score in new[str(layer)].items():
            if name.startswith("p@1/") and "change" in score:
                values = [old[str(layer)][name]["value"], score["value"]]
                compared.append(_compared(text, name, [layer, layer], values, score))
        for kind in ("raw", "centred"):
            tops = [_best(state, kind) for state in (old, new)]
            for way in ("", "/backward"):
                name = f"p@1/cosine/{kind}{way}"
                both = [state[at][name] for state, at in zip((old, new), tops, strict=True)]
                change = _change(*map(_one, both))
                values = [score["value"] for score in both]
                compared.append(_compared(text, f"{BEST}/{kind}{way}", [int(at) for at in tops], values, change))
    for each, corrected in zip(compared, holm([each["p"] for each in compared]), strict=True):
        sure = corrected < LEVEL
        each["holm"] = corrected
        each["is"] = UNCLEAR if not sure else HIGHER if each["change"][0] > 0 else LOWER
    order = (LOWER, UNCLEAR, HIGHER)
    weakest = min(compared, key=lambda each: (order.index(each["is"]), each["change"][0]))
    said = {LOWER: "worse", UNCLEAR: "unclear", HIGHER: "better" if "sampler" in texts else "untested"}[weakest["is"]]
    about = {name: _text_at_chance(states) for name, states in texts.items()}
    return {
        "change": said,
        "text": weakest["text"],
        "score": weakest["score"],
        "interval": weakest["change"],
        "of": len(compared),
        "at_chance": [name for name in _STATES if all(name in its["at_chance"] for its in about.values())],
        "texts": about,
        "comparisons": compared,
    }


def _compared(text: str, name: str, layers: list[int], values: list[float], found: Found) -> dict[str, Any]:
    its = {"change": found["change"], "p": found["p"]}
    return {"text": text, "score": name, "layers": layers, "before": values[0], "after": values[1], **its}


def _text_at_chance(states: Sequence[Found]) -> dict[str, Any]:
    """The chance level of a text, its highest P@1 in each state, and the states in which none is above chance."""
    scores = {
        name: [
            (score["value"], score["n"], score["null"])
            for its in state["retrieval"].values()
            for variant, score in its.items()
            if variant.startswith("p@1/")
        ]
        for name, state in zip(_STATES, states, strict=True)
    }
    return {
        "chance": max(null for its in scores.values() for *_, null in its),
        "most": {name: max(value for value, *_ in its) for name, its in scores.items()},
        "at_chance": [name for name, its in scores.items() if not above_chance(its)],
    }


def without_items(state: Found) -> dict[str, Any]:
    """The measures of a state without what each sentence added, which only `with_changes` reads."""
    told = {}
    for code, found in state.items():
        told[code] = {**found, "retrieval": _without(found["retrieval"])}
        if "sampler" in found:
            told[code]["sampler"] = {**found["sampler"], "retrieval": _without(found["sampler"]["retrieval"])}
    return told


def _without(by_layer: Found) -> dict[str, Any]:
    return {
        at: {name: {key: value for key, value in score.items() if key != "items"} for name, score in its.items()}
        for at, its in by_layer.items()
    }


def _changed(before: Found, after: Found) -> dict[str, Any]:
    if "items" not in before or "items" not in after:
        return {}
    return _change(_one(before), _one(after))


def _change(before: Sides, after: Sides) -> dict[str, Any]:
    """The mean change with its interval, and the p-value of the paired test that the interval is of."""
    *change, p = paired_difference(after[0] - before[0], [*before[1], *after[1]])
    return {"change": change, "p": p}


def _one(score: Found) -> Sides:
    """What each sentence added to a score, and what shared candidates add to its variance."""
    hubs = (score.get("details") or {}).get("hubs")
    return np.array(score["items"], np.float64), [hubs] if hubs else []


def _both(scores: Found) -> Sides:
    """Each sentence's share of the two directions in which it finds its translation, and what candidates add.

    The variance of a mean of two is at most the mean of theirs: their hubs may be of the same sentences.
    """
    ways = [_one(scores[way]) for way in _WAYS]
    hubs = [[variance / 2, freedom] for _, more in ways for variance, freedom in more]
    return np.asarray(np.mean([items for items, _ in ways], axis=0)), hubs


def _best(by_layer: Found, kind: str = "centred") -> str:
    """The layer with the best mean P@1 of both directions; the lowest of equal ones."""

    def mean(at: str) -> float:
        return float(sum(by_layer[at][f"p@1/cosine/{kind}{way}"]["value"] for way in ("", "/backward"))) / 2

    return max(by_layer, key=lambda at: (mean(at), -int(at)))
