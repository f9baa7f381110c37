"""What an adjustment changed, sentence by sentence: both states read the same rows, so their differences are judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.stats import mean_interval

Found = Mapping[str, Any]
_WAYS = ("p@1/cosine/centred", "p@1/cosine/centred/backward")


def with_changes(before: Found, after: Found, layer: int) -> dict[str, Any]:
    """The measures after, with what changed: each P@1 as `change`, both directions as `changes`, and a `verdict`.

    `changes` has the adjusted layer, and each state at its best layer, language means removed: where another layer was
    nearly as good before, the first alone says too much. A change is a mean difference by sentence and its Student
    interval. Where items are not known, as in the state of an older version, there is none. The verdict of a language
    is the weakest of all its texts: what is better on the text that was trained on may be worse elsewhere.
    """
    told = {}
    for code, found in after.items():
        made = told[code] = {**found, **_text_changes(before[code], found, layer)}
        texts = {"held-out": made}
        if "sampler" in found and "sampler" in before[code]:
            made["sampler"] = {
                **found["sampler"],
                **_text_changes(before[code]["sampler"], found["sampler"], layer),
            }
            texts["sampler"] = made["sampler"]
        if all("changes" in its for its in texts.values()):
            made["verdict"] = _weakest({name: its["retrieval"][str(layer)] for name, its in texts.items()})
    return told


def _text_changes(before: Found, after: Found, layer: int) -> dict[str, Any]:
    """The retrieval of one text after, with its changes."""
    old, new = before["retrieval"], after["retrieval"]
    scores = {
        at: {name: {**score, **_changed(old[at][name], score)} for name, score in its.items()}
        for at, its in new.items()
    }
    if not all("items" in its[way] for state in (old, new) for its in state.values() for way in _WAYS):
        return {"retrieval": scores}
    places = {"adjusted": (str(layer), str(layer)), "best": (_best(old), _best(new))}
    changes = {
        name: {"layers": [int(at) for at in both], "change": _change(_both(old[both[0]]), _both(new[both[1]]))}
        for name, both in places.items()
    }
    return {"retrieval": scores, "changes": changes}


def _weakest(texts: Mapping[str, Found]) -> dict[str, Any]:
    """The least favourable change of P@1: which text and score it is of, and better, worse or unclear by its interval.

    >>> good, bad = ({"p@1/cosine/raw": {"change": ends}} for ends in ([0.1, 0.02, 0.2], [-0.1, -0.2, -0.05]))
    >>> _weakest({"held-out": good})["change"], _weakest({"held-out": good, "sampler": bad})["text"]
    ('better', 'sampler')
    """
    ranks = ("worse", "unclear", "better")
    judged = [
        ((score["change"][1] > 0) - (score["change"][2] < 0), score["change"], text, name)
        for text, scores in texts.items()
        for name, score in scores.items()
        if name.startswith("p@1/") and "change" in score
    ]
    rank, interval, text, name = min(judged)
    return {"change": ranks[rank + 1], "text": text, "score": name, "interval": interval, "of": len(judged)}


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


def _changed(before: Found, after: Found) -> dict[str, list[float]]:
    if "items" not in before or "items" not in after:
        return {}
    return {"change": _change(np.array(before["items"]), np.array(after["items"]))}


def _change(before: NDArray[np.floating[Any]], after: NDArray[np.floating[Any]]) -> list[float]:
    apart = after - before
    return [float(apart.mean()), *mean_interval(apart)]


def _both(scores: Found) -> NDArray[np.float64]:
    """Each sentence's share of the two directions in which it finds its translation."""
    ways = np.array([scores[way]["items"] for way in _WAYS], np.float64)
    return np.asarray(ways.mean(axis=0))


def _best(by_layer: Found) -> str:
    return max(by_layer, key=lambda at: (sum(by_layer[at][way]["value"] for way in _WAYS), -int(at)))
