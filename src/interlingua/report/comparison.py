"""Several runs side by side: what differs in their settings, and their key numbers in columns with differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlingua.report.page import in_words
from interlingua.report.readings import Reading
from interlingua.report.runs import Run
from interlingua.report.scatter import Dot, dot_plot
from interlingua.report.sections import Section
from interlingua.report.tables import Cell, Ref, Table, Told, refs
from interlingua.report.wording import listing, number, visible

Numbers = Mapping[str, Reading]
_NO_SETTING = ("names", "skipped", "left_out", "trained", "seconds", "created", "metrics", "before", "after", "steps",
               "pieces", "notes")  # fmt: skip
"""What a run found out, which is no setting."""


def compared(runs: Sequence[Run], numbers: Sequence[Numbers], *, kind: str) -> Section:
    """The section that stands on top of a page of several runs of a kind."""
    tables = [table for table in (settings_table(runs), numbers_table(runs, numbers)) if table.rows]
    words = (
        f"{len(runs)} runs ({kind}): {', '.join(visible(run.name) for run in runs)}. Differences are to the first; "
        "a star marks those whose 95\N{NO-BREAK SPACE}% intervals do not meet. Point at a number, or click, for its "
        "interval."
    )
    told = tuple(verdict(run, numbers[0], own) for run, own in zip(runs[1:], numbers[1:], strict=True))
    same = "" if any(table.name == "settings" for table in tables) else " Their settings are the same."
    return Section("compared", "Side by side", (*told, *other_sentences(runs), words + same), tables=tuple(tables))


def other_sentences(runs: Sequence[Run]) -> tuple[str, ...]:
    """A warning where runs did not read the same corpus; nothing where they did, or do not tell.

    >>> other_sentences([Run({"digests": {"corpus": "a"}}), Run({"digests": {"corpus": "a"}})])
    ()
    """
    seen = {str((run.about.get("digests") or {}).get("corpus")) for run in runs}
    if len(seen) < 2 or "None" in seen:
        return ()
    counts = listing(list(dict.fromkeys(f"{run.about['rows']:,}" for run in runs if run.about.get("rows"))))
    rows = f" ({counts} rows)" if counts else ""
    return (
        f"The runs did not read the same sentences{rows}, so part of every difference may be the sentences’: retrieval "
        "among more candidates is harder, whatever the model.",
    )


def verdict(run: Run, first: Numbers, own: Numbers) -> str:
    """What is higher in a run than in the first, what lower, each beyond both intervals, and how much is not clear."""
    marks = {key: difference(first[key], own[key]) for key in first if key in own}
    higher, lower = (
        [
            f"{visible(key)} ({mark.rstrip('*')})"
            for key, mark in marks.items()
            if mark.endswith("*") and mark[0] == sign
        ]
        for sign in "+−"
    )
    said = [f"{name}: {listing(each)}." for name, each in (("Higher", higher), ("Lower", lower)) if each]
    unclear = len(marks) - len(higher) - len(lower)
    rest = (
        f"Intervals of {unclear} of {len(marks)} numbers meet, or are not known: no clear difference."
        if unclear
        else ""
    )
    return f"{visible(run.name)} against the first. {' '.join([*said, rest])}".strip()


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


def numbers_table(runs: Sequence[Run], numbers: Sequence[Numbers]) -> Table:
    """A row a number, a column a run, then each other run's difference to the first."""
    keys = list(dict.fromkeys(key for each in numbers for key in each))
    rows: list[tuple[Cell, ...]] = []
    records: list[tuple[Ref, ...]] = []
    for key in keys:
        found = [each.get(key) for each in numbers]
        rows.append(
            (visible(key), *(None if each is None else whole(each.value) for each in found),
             *(difference(found[0], each) for each in found[1:]))
        )  # fmt: skip
        records.append((None, *(refs(each) for each in found), *(None for _ in found[1:])))
    names = [visible(run.name) for run in runs]
    heads = ("", *names, *(f"{name} − {names[0]}" for name in names[1:]))
    caption = "* the 95 % intervals do not meet."
    return Table("numbers", "Key numbers", caption, heads, tuple(rows), tuple(records))


def whole(value: float) -> float | int:
    """The number, a whole one above 1 (a layer, a count) as such."""
    return int(value) if value > 1 and float(value).is_integer() else value


def difference(first: Reading | None, other: Reading | None) -> Told:
    """What one reading is above another, with a star where their intervals do not meet.

    >>> difference(Reading(0.2, low=0.1, high=0.3), Reading(0.5, low=0.4, high=0.6))
    '+0.300*'
    >>> difference(Reading(0.2), None)
    '–'
    """
    if first is None or other is None:
        return Told("–", {"": None})
    gap = other.value - first.value
    if isinstance(whole(first.value), int) and isinstance(whole(other.value), int):
        return Told(f"{gap:+.0f}".replace("-", "−"), {"": int(gap)})
    bounds = (first.low, first.high, other.low, other.high)
    apart = None not in bounds and (first.low > other.high or other.low > first.high)  # type: ignore[operator]
    mark = "*" if apart else ""
    return Told(f"{'+' if gap >= 0 else ''}{number(gap, 3)}{mark}", {"": gap, "marks": mark})


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
    caption = "A dot a language. A correlation is no cause, and languages are few."
    figure = dot_plot("alignment-transfer", "Alignment and transfer", caption, series, axes)
    return Section("alignment-transfer", "Alignment and transfer", figures=(figure,))
