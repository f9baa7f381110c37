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
    """The measures after, with what changed: each P@1 as `change`, and both directions together as `changes`.

    `changes` has the adjusted layer, and each state at its best layer, language means removed: where another layer was
    nearly as good before, the first alone says too much. A change is a mean difference by sentence and its Student
    interval. Where items are not known, as in the state of an older version, there is none.
    """
    told = {}
    for code, found in after.items():
        old, new = before[code]["retrieval"], found["retrieval"]
        scores = {
            at: {name: {**score, **_changed(old[at][name], score)} for name, score in its.items()}
            for at, its in new.items()
        }
        told[code] = {**found, "retrieval": scores}
        if all("items" in its[way] for state in (old, new) for its in state.values() for way in _WAYS):
            places = {"adjusted": (str(layer), str(layer)), "best": (_best(old), _best(new))}
            told[code]["changes"] = {
                name: {"layers": [int(at) for at in both], "change": _change(_both(old[both[0]]), _both(new[both[1]]))}
                for name, both in places.items()
            }
    return told


def without_items(state: Found) -> dict[str, Any]:
    """The measures of a state without what each sentence added, which only `with_changes` reads."""
    return {
        code: {**found, "retrieval": {
            at: {name: {key: value for key, value in score.items() if key != "items"} for name, score in its.items()}
            for at, its in found["retrieval"].items()
        }}
        for code, found in state.items()
    }  # fmt: skip


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
