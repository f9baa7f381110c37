"""Several runs side by side: what differs in their settings, and their key numbers in columns with differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interlingua.measures import measures
from interlingua.report.evidence import Change, at_chance
from interlingua.report.page import in_words
from interlingua.report.readings import Reading, Record
from interlingua.report.runs import Run
from interlingua.report.scatter import Dot, dot_plot
from interlingua.report.sections import Section
from interlingua.report.tables import Cell, Ref, Table, Told, refs
from interlingua.report.wording import listing, number, visible
from interlingua.stats import paired_difference

Numbers = Mapping[str, Reading]
_NO_SETTING = ("names", "skipped", "left_out", "trained", "seconds", "created", "metrics", "before", "after", "steps",
               "pieces", "notes", "unfinished")  # fmt: skip
"""What a run found out, which is no setting."""
_SAME = ("measure", "variant", "source", "target", "seed", "n")
_BY_SENTENCE = ("retrieval", "procrustes")
"""Measures whose value is a mean over sentences that the corpus and the seed alone decide."""
POINT = "Point at a number, or click, for its interval."
"""What a page adds to the words of a comparison, and a terminal does not."""
UNLIKE = (
    "Numbers called not comparable were read of other texts, rows or candidates, or of texts that the run does not "
    "tell: they have no difference."
)
_CLEAR = (
    "the 95\N{NO-BREAK SPACE}% interval of the difference, sentence by sentence, leaves out 0; where that is not "
    "known, the two intervals do not meet"
)


def compared(runs: Sequence[Run], numbers: Sequence[Numbers], *, kind: str) -> Section:
    """The section that stands on top of a page of several runs of a kind."""
    found = [gaps((runs[0], run), (numbers[0], own)) for run, own in zip(runs[1:], numbers[1:], strict=True)]
    tables = [table for table in (settings_table(runs), numbers_table(runs, numbers, found)) if table.rows]
    words = (
        f"{len(runs)} runs ({kind}): {', '.join(visible(run.name) for run in runs)}. Differences are to the first; "
        "a star marks clear ones."
    )
    first, *others = (verdict(run, its) for run, its in zip(runs[1:], found, strict=True))
    told = (" ".join([*_below_chance(runs, numbers, found), first]), *others)
    same = "" if any(table.name == "settings" for table in tables) else " Their settings are the same."
    unlike = any(
        key in numbers[0] and key not in its and not _counts(numbers[0][key], reading)
        for own, its in zip(numbers[1:], found, strict=True)
        for key, reading in own.items()
    )
    why = other_sentences(runs) or ((UNLIKE,) if unlike else ())
    return Section("compared", "Side by side", (*told, *why, words + same, POINT), tables=tuple(tables))


def _below_chance(runs: Sequence[Run], numbers: Sequence[Numbers], found: Sequence[Mapping[str, Gap]]) -> list[str]:
    """Which runs have numbers that are no better than chance, but for those of which a verdict says it of both."""
    said = {key for its in found for key, each in its.items() if each.silent == CHANCE}
    told = []
    for run, own in zip(runs, numbers, strict=True):
        every = {key: reading for key, reading in own.items() if "at_chance" in reading.details}
        low = [each for key, each in every.items() if each.details["at_chance"] and key not in said]
        if low:
            levels = _levels([each.null for each in low])
            told.append(f"{visible(run.name)}: {len(low)} of {len(every)} numbers are no better than chance{levels}.")
    return told


def comparable(first: Reading, other: Reading, runs: tuple[Run, Run]) -> bool:
    """Whether a difference of two readings says something of the models: same text, rows, candidates and pairs.

    The text is the same where the records behind the readings have one digest of a corpus or, of tasks, of the test
    (readings without records go by the run's). Rows are the same where the same pairs have as many, and a measure of a
    corpus drew or split them by the same seed. What was read of an unknown text is compared with nothing.

    >>> both = Run({"digests": {"corpus": "a"}}), Run({"digests": {"corpus": "a"}})
    >>> comparable(Reading(0.2, n=600), Reading(0.3, n=600), both)
    True
    >>> comparable(Reading(0.2, n=600), Reading(0.3, n=200), both)
    False
    """
    ours, theirs = ((_texts(run, reading), _rows(run, reading)) for run, reading in
                    zip(runs, (first, other), strict=True))  # fmt: skip
    return ours == theirs and ours[0] != {"None"}


def _behind(run: Run, reading: Reading) -> list[Record]:
    wanted = set(reading.records)
    return [record for place, record in run.numbered() if place in wanted] if wanted else []


def _texts(run: Run, reading: Reading) -> set[str]:
    told = [record.get("digests") or {} for record in _behind(run, reading)]
    return {str(each.get("corpus") or each.get("test")) for each in told} - {"None"} or {_text(run)}


def _text(run: Run) -> str:
    return str((run.about.get("digests") or {}).get("corpus"))


def _rows(run: Run, reading: Reading) -> set[tuple[object, ...]]:
    """The pairs behind a reading, each with its rows, and the seed where it decides which rows these are."""
    found, own = _behind(run, reading), {entry.name for entry in measures}
    return {
        (record["source"], record.get("target"), record.get("n"),
         record.get("seed") if record["measure"] in own else None)
        for record in found
    } or {(reading.n,)}  # fmt: skip


def other_sentences(runs: Sequence[Run]) -> tuple[str, ...]:
    """A sentence where runs did not read the same corpus; nothing where they did, or do not tell.

    >>> other_sentences([Run({"digests": {"corpus": "a"}}), Run({"digests": {"corpus": "a"}})])
    ()
    """
    seen = {str((run.about.get("digests") or {}).get("corpus")) for run in runs}
    if len(seen) < 2 or "None" in seen:
        return ()
    counts = listing(list(dict.fromkeys(f"{run.about['rows']:,}" for run in runs if run.about.get("rows"))))
    rows = f" ({counts} rows)" if counts else ""
    return (
        f"The runs did not read the same sentences{rows}, so no difference is printed for what was measured on them: "
        "retrieval among more candidates is harder, whatever the model. Give both runs the same --corpus and --rows.",
    )


@dataclass(frozen=True)
class Gap:
    """What a number of a run is above that of the first, with its interval where both have items of the same sentences.

    `clear` says whether that interval leaves out 0, or, without one, whether the two intervals do not meet; never where
    `silent` says why nothing can be: a side has one seed, or both are at chance.
    """

    value: float
    paired: Change | None
    clear: bool
    silent: str = ""
    null: float | None = None


def gap(first: Reading, other: Reading, paired: Change | None = None) -> Gap:
    """The difference of two readings, judged by the paired interval where there is one.

    >>> gap(Reading(0.2, low=0.1, high=0.3), Reading(0.5, low=0.4, high=0.6)).clear
    True
    >>> gap(Reading(0.2, low=0.1, high=0.3), Reading(0.25, low=0.15, high=0.35), Change(0.05, 0.01, 0.09)).clear
    True
    >>> one = [Reading(value, low=value, high=value, details={"seeds": 1}) for value in (0.2, 0.5)]
    >>> gap(*one).clear, gap(*one).silent
    (False, 'one seed')
    """
    silent = _silent(first, other)
    if silent:
        return Gap(other.value - first.value, None, clear=False, silent=silent, null=first.null)
    bounds = (first.low, first.high, other.low, other.high)
    apart = None not in bounds and (first.low > other.high or other.low > first.high)  # type: ignore[operator]
    return Gap(other.value - first.value, paired, apart if paired is None else paired.sign != 0)


ONE_SEED, CHANCE = "one seed", "at chance"


def _silent(first: Reading, other: Reading) -> str:
    """Why a difference is no finding, whatever its intervals.

    `details` have whether a score is at chance, the seeds of a model that was trained for it, and, where it is one and
    the same model that is asked in two ways, its `weights`.
    """
    both = [reading.details for reading in (first, other)]
    if all(each.get("at_chance") for each in both):
        return CHANCE
    weights = {each.get("weights") for each in both}
    one_model = len(weights) == 1 and None not in weights
    return ONE_SEED if any(each.get("seeds") == 1 for each in both) and not one_model else ""


def gaps(runs: tuple[Run, Run], numbers: tuple[Numbers, Numbers]) -> dict[str, Gap]:
    """The differences of all numbers that both runs have of the same text and as many rows.

    Layers and counts, which have no interval, have none.
    """
    records = tuple(dict(run.numbered()) for run in runs)
    found = {}
    for key, first in numbers[0].items():
        other = numbers[1].get(key)
        if other is not None and not _counts(first, other) and comparable(first, other, runs):
            behind = tuple([each[place] for place in reading.records if place in each]
                           for each, reading in zip(records, (first, other), strict=True))  # fmt: skip
            found[key] = gap(first, other, paired_change(runs, behind))
    return found


def paired_change(runs: tuple[Run, Run], behind: tuple[Sequence[Record], ...]) -> Change | None:
    """The mean difference of records over the same sentences with its 95 % interval; None where they are not.

    They are where each has a partner of the other run (of whatever layer) with the corpus's digest, the seed and the
    number of rows in common, and both have their items. Bounds are averaged over records, as everywhere.
    """
    first, other = ({tuple(each.get(name) for name in _SAME): each for each in its} for its in behind)
    if not first or first.keys() != other.keys() or len(first) < len(behind[0]) or len(other) < len(behind[1]):
        return None
    ends = []
    for key, record in first.items():
        corpora = [(each.get("digests") or {}).get("corpus") for each in (record, other[key])]
        if record["measure"] not in _BY_SENTENCE or corpora[0] is None or corpora[0] != corpora[1]:
            return None
        ours, theirs = runs[0].items(record), runs[1].items(other[key])
        if ours is None or theirs is None or ours.shape != theirs.shape or len(ours) < 2:
            return None
        more = [hubs for each in (record, other[key]) if (hubs := (each.get("details") or {}).get("hubs"))]
        ends.append(paired_difference(theirs.astype(np.float64) - ours, more)[:3])
    return Change(*(float(end) for end in np.mean(ends, axis=0)))


def verdict(run: Run, found: Mapping[str, Gap]) -> str:
    """What is clearly higher in a run than in the first, what lower, and of how much that can't be said, and why."""
    higher, lower = (
        [f"{visible(key)} ({_signed(each.value)}{_between(each)})" for key, each in found.items()
         if each.clear and (each.value > 0) == up]
        for up in (True, False)
    )  # fmt: skip
    if not found:
        return f"{visible(run.name)} against the first. Nothing can be compared: side by side only."
    said = [f"{name}: {listing(each)}." for name, each in (("Higher", higher), ("Lower", lower)) if each]
    unclear = [each for each in found.values() if not each.clear and not each.silent]
    zero = sum(each.paired is not None for each in unclear)
    meet = len(unclear) - zero
    for silent, why in (
        (CHANCE, "no better than chance in either run, so their differences say nothing"),
        (ONE_SEED, "of one seed: how far other seeds are from it is not known, so no difference is tested"),
    ):
        if mine := [each for each in found.values() if each.silent == silent]:
            levels = _levels([each.null for each in mine]) if silent == CHANCE else ""
            said.append(f"{len(mine)} of {len(found)} numbers are {why}{levels}.")
    if zero:
        said.append(
            f"Of {zero} of {len(found)} numbers the interval of the difference, sentence by sentence, includes 0."
        )
    if meet:
        said.append(
            f"{meet} of {len(found)} numbers cannot be told apart by their intervals, which meet or are not known."
        )
    return f"{visible(run.name)} against the first. {' '.join(said)}".strip()


def _levels(nulls: Sequence[float | None]) -> str:
    """The lowest and highest chance level, in brackets."""
    known = [null for null in nulls if null is not None]
    ends = dict.fromkeys(number(end, 3) for end in (min(known), max(known))) if known else {}
    return f" (chance level {' to '.join(ends)})" if ends else ""


def _between(found: Gap) -> str:
    change = found.paired
    if change is None or change.low is None or change.high is None:
        return ""
    return f", {_signed(change.low)} to {_signed(change.high)}"


def _signed(value: float) -> str:
    return f"{'+' if value >= 0 else ''}{number(value, 3)}"


def settings_table(runs: Sequence[Run]) -> Table:
    """A row a setting that is not the same in all runs, a column a run."""
    flat = [flattened(run.about) for run in runs]
    keys = list(dict.fromkeys(key for each in flat for key in each))
    rows = tuple(
        (visible(key.replace("_", " ")), *(each.get(key, "–") for each in flat))
        for key in keys
        if len({each.get(key) for each in flat}) > 1
    )
    heads = ("setting", *(visible(run.name) for run in runs))
    return Table("settings", "What differs in settings", "Settings that are the same are not shown.", heads, rows)


def flattened(about: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Settings by name, those inside of others with a point between, each in words.

    >>> flattened({"seed": 1, "settings": {"rate": 0.1}})
    {'seed': '1', 'settings.rate': '0.1'}
    """
    found: dict[str, str] = {}
    for key, value in about.items():
        if not before and key in _NO_SETTING:
            continue
        if isinstance(value, Mapping) and value:
            found |= flattened(value, f"{before}{key}.")
        else:
            found[before + key] = in_words(value)
    return found


def numbers_table(runs: Sequence[Run], numbers: Sequence[Numbers], gapped: Sequence[Mapping[str, Gap]]) -> Table:
    """A row a number, a column a run, then each other run's difference to the first, which `gapped` has."""
    keys = list(dict.fromkeys(key for each in numbers for key in each))
    rows: list[tuple[Cell, ...]] = []
    records: list[tuple[Ref, ...]] = []
    for key in keys:
        found = [each.get(key) for each in numbers]
        rows.append(
            (visible(key), *(None if each is None else whole(each) for each in found),
             *(difference(found[0], each, its.get(key)) for each, its in zip(found[1:], gapped, strict=True)))
        )  # fmt: skip
        records.append((None, *(refs(each) for each in found), *(None for _ in found[1:])))
    names = [visible(run.name) for run in runs]
    heads = ("", *names, *(f"{name} − {names[0]}" for name in names[1:]))
    return Table("numbers", "Key numbers", f"* {_CLEAR}.", heads, tuple(rows), tuple(records))


def whole(reading: Reading) -> float | int | Told:
    """The number, a layer or a count as a whole one: it is above 1, or has neither interval nor record.

    A layer is shown with those tied with it, which `details` have.

    >>> whole(Reading(0.0)), whole(Reading(1.0, low=0.9, high=1.0))
    (0, 1.0)
    """
    bare = reading.value > 1 or (reading.low is None and not reading.records)
    if not bare or not float(reading.value).is_integer():
        return reading.value
    if tied := reading.details.get("tied"):
        names = listing([str(each) for each in tied])
        return Told(f"{int(reading.value)} (tied with {names})", {"": int(reading.value), "tied": names})
    return int(reading.value)


def difference(first: Reading | None, other: Reading | None, found: Gap | None) -> Told:
    """What one reading is above another, with a star where that is clear.

    >>> one, two = Reading(0.2, low=0.1, high=0.3), Reading(0.5, low=0.4, high=0.6)
    >>> difference(one, two, gap(one, two))
    '+0.300*'
    >>> difference(Reading(0.2), None, None)
    '–'
    """
    if first is None or other is None:
        return Told("–", {"": None})
    if found is None:
        return Told("–" if _counts(first, other) else "not comparable", {"": None})
    mark = "*" if found.clear else ""
    ends = {} if found.paired is None else {"low": found.paired.low, "high": found.paired.high}
    return Told(f"{_signed(found.value)}{mark}", {"": found.value, **ends, "marks": mark})


def _counts(first: Reading, other: Reading) -> bool:
    return all(isinstance(whole(each), int | Told) for each in (first, other))


def alignment_and_transfer(audits: Sequence[Run], transfers: Sequence[Run]) -> Section | None:
    """How a language's alignment with the language of training goes with what transfers to it; None for under three."""
    series: dict[str, list[Dot]] = {}
    for audit in audits:
        found = audit.readings()
        key, layer = found.headline(), found.best_layer()
        for study in transfers:
            source, regime = study.about["source"], next(iter(study.about["regimes"]), "")
            scores = {
                entry["test"]: entry["mean"]
                for entry in study.more.get("scores") or []
                if (entry["metric"], entry["regime"]) == (study.about["metric"], regime)
            }
            pairs = found.at(*key, layer) if key else {}
            # Alignment with each language is compared: nothing to see at chance, or over other candidates.
            pairs = pairs if found.equal_candidates() and not at_chance(found) else {}
            dots = [
                (code, reading.value, scores[code], refs(reading))
                for code in scores
                if code != source and (reading := pairs.get((source, code)) or pairs.get((code, source)))
            ]
            if len(dots) > 2:
                series[f"{audit.name}, {study.name}"] = dots
    if not series:
        return None
    axes = ("alignment with the language of training, at the audit’s best layer", "score of the task")
    caption = "One dot per language. Correlation does not imply causation, and languages are few."
    figure = dot_plot("alignment-transfer", "Alignment and transfer", caption, series, axes)
    return Section("alignment-transfer", "Alignment and transfer", figures=(figure,))
