"""Spelling: how alike two languages write the same names, once both are in Latin letters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from interlingua.errors import InputError, MissingExtra
from interlingua.measures import measures
from interlingua.metric import Metric, Metrics
from interlingua.registry import unknown
from interlingua.score import Score, Scores
from interlingua.stats import mean_interval

NULL_ROWS = 1000
"""The most names of one side behind the null: all pairings of 1,000 are a million distances."""

KEPT = 100_000
"""Romanised names that are remembered, some 15 MB of them."""

Romaniser = Callable[[str], str]


METRICS = Metrics(
    (
        Metric(
            name="tnld",
            title="Distance of spellings in Latin letters (TNLD)",
            higher_is_better=False,
            null="names shuffled",
            headline=True,
            about="Edit distance of names in Latin letters: 0 if they are spelt alike, 1 if they share nothing.",
            heading="TNLD",
        ),
        Metric(name="nld", title="Distance of spellings (NLD)", higher_is_better=False, null="names shuffled"),
    )
)


@measures.register("spelling", needs="names", metrics=METRICS)
def spelling(
    source: Sequence[str],
    target: Sequence[str],
    *,
    romaniser: str = "anyascii",
    case: bool = False,
    seed: int = 0,
    null_rows: int = NULL_ROWS,
) -> Scores:
    """TNLD: the mean transliterated, normalised edit distance of parallel names, in [0, 1], 0 is best.

    - `tnld`: LD(t(a), t(b)) / max(|t(a)|, |t(b)|) with t the transliteration into Latin letters and LD the
      Levenshtein distance, all edits of cost 1 (papers/003 §3.2). `romaniser` is `anyascii`, or `uroman` (an
      extra: slower, better for Thai and Arabic).
    - `nld`: the same without transliteration, 1 for names of two scripts.

    Names are case-folded (after transliteration) unless `case` is asked for: a script without capitals is no other
    spelling. Two empty names are equal: 0. `items` are the names' distances, the interval is Student's, and the
    null is the mean over all pairings, the exact expectation for shuffled pairs; with more than `null_rows` names,
    that of a seeded sample of that size per side (`details`: `null_rows`).

    >>> scores = spelling(["Moscow", "Minsk"], ["Москва", "Минск"])
    >>> round(scores["tnld"].value, 4), scores["nld"].value  # moscow -> moskva: 3 of 6; minsk -> minsk: 0
    (0.25, 1.0)
    """
    if len(source) != len(target):
        shown = f"{len(source)} and {len(target)}"
        raise InputError("source and target have unequal numbers of names", value=shown, remedy="Give parallel names.")
    if not source:
        raise InputError("no names to compare", remedy="Give at least one pair of names.")
    romanise = _romaniser(romaniser)
    scores: Scores = {}
    for variant, spell in (("tnld", romanise), ("nld", str)):
        left, right = ([_folded(spell(name), case) for name in side] for side in (source, target))
        items = _distances(left, right)
        low, high = mean_interval(items)
        null, rows = _all_pairings(left, right, seed, null_rows)
        scores[variant] = Score(
            float(items.mean()), len(items), null, max(low, 0.0), min(high, 1.0), items, {"null_rows": rows}
        )
    return scores


@functools.cache
def _romaniser(name: str) -> Romaniser:
    """The romaniser, which remembers names: each of a language's is asked for once with every other language."""
    if name == "anyascii":
        from anyascii import anyascii

        return functools.lru_cache(KEPT)(lambda text: str(anyascii(text)))
    if name == "uroman":
        try:
            import uroman
        except ImportError as error:
            raise MissingExtra("uroman", "romanising with uroman") from error
        engine = uroman.Uroman()
        return functools.lru_cache(KEPT)(lambda text: str(engine.romanize_string(text)))
    raise unknown("romaniser", name, ["anyascii", "uroman"])


def _folded(text: str, case: bool) -> str:
    return text if case else text.casefold()


def _distances(left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
    from rapidfuzz.distance import Levenshtein

    pairs = zip(left, right, strict=True)
    return np.fromiter((Levenshtein.normalized_distance(a, b) for a, b in pairs), np.float64, len(left))


def _all_pairings(left: Sequence[str], right: Sequence[str], seed: int, most: int) -> tuple[float, int]:
    """The mean distance over all pairings, and the number of names a side it is over."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    rows = min(len(left), most)
    draw = np.random.default_rng(seed)
    ours, theirs = (
        [side[place] for place in draw.choice(len(side), rows, replace=False)] if rows < len(side) else list(side)
        for side in (left, right)
    )
    # 100 rows at a time: the mean needs no matrix.
    total = sum(
        float(cdist(ours[start : start + 100], theirs, scorer=Levenshtein.normalized_distance).sum(dtype=np.float64))
        for start in range(0, rows, 100)
    )
    return total / rows**2, rows
