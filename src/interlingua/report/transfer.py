"""A transfer study as tables, for people and for papers, and as a picture: every seed a dot."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from interlingua.report.scatter import PALETTE
from interlingua.report.tables import Table, Told, to_csv, to_latex, to_markdown
from interlingua.report.wording import number, visible
from interlingua.stats import SEED_DEVIATIONS, USUAL_DEVIATION, items_needed, mean_interval, seeds_needed, stuck

Entry = Mapping[str, Any]
SHOWN = {
    "f1/token": "F1 of tagged words",
    "f1/entity": "F1 of entities",
    "accuracy": "Accuracy",
    "f1/macro": "F1 averaged over labels",
    "f1": "F1 of answers",
    "em": "Exact match",
    "mrr": "Retrieval, mean reciprocal rank",
    "p@1": "Retrieval, first is right",
}
"""The metrics that are printed, in this order, with their titles; all others are in `transfer.json`."""
ACROSS = 5
"""How many tests stand side by side; more would not fit a terminal or a paper's page, and stand below each other."""
_LEFT, _WIDE, _ROW, _GAP, _TOP = 130, 460, 15, 12, 46
_STYLE = """
svg{--ink:#1b1d21;--soft:#5a606b;--line:#d5d8dd;font:13px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
@media (prefers-color-scheme:dark){svg{--ink:#e8eaed;--soft:#a3a9b4;--line:#3a3f47}}
text{fill:var(--soft)} .ink{fill:var(--ink);font-weight:600} .axis{stroke:var(--line)} .null{stroke-dasharray:2 3}
.seed{fill-opacity:.4} .mean{stroke-width:2.5}
"""


def of_today(entries: Sequence[Entry]) -> list[Entry]:
    """Entries of runs of before seeds were counted, whose p-values held the seeds fixed, as entries of today.

    What they call `p` becomes `p_examples`: no mark and no word goes by it.

    >>> old = {"p": {"original": 0.01}, "p_holm": {"original": 0.02}, "against": {"original": {"difference": 0.1}}}
    >>> of_today([old])  # doctest: +ELLIPSIS
    [{'p': {}, 'p_holm': {}, 'against': {...}, 'p_examples': {'original': 0.01}, 'without_stuck': {}}]
    """
    return [
        {**entry, "p": {}, "p_holm": {}, "p_examples": entry["p"], "without_stuck": {}}
        if any("over" not in each for each in entry.get("against", {}).values())
        else entry
        for entry in entries
    ]


def marks(entry: Entry) -> str:
    """What a difference's p-values are shown as: the marks of Efimov et al. 2023, Tables 2-5, after Holm's correction.

    >>> marks({"p": {"original": 0.003, "adjusted": 0.04}}), marks({"p": {}}), marks({"p": {"original": 0.02}})
    ('**', '', '*')
    >>> marks({"p": {"original": 0.02}, "p_holm": {"original": 0.06}})
    ''
    """
    return max((sign(entry, base) for base, p in sure_p(entry).items() if p < 0.05), key=len, default="")


def sure_p(entry: Entry) -> Mapping[str, float]:
    """The p-values that marks and words go by, by base: over seeds and examples, corrected over the table."""
    found: Mapping[str, float] = entry.get("p_holm", entry["p"])
    return found


def sign(entry: Entry, base: str) -> str:
    """The mark of a difference to a base: ** of the adjusted or, where others are the bases, of the second of them.

    >>> sign({}, "original"), sign({}, "adjusted"), sign({"bases": ["plain", "shuffled"]}, "shuffled")
    ('*', '**', '**')
    """
    return "**" if base == "adjusted" or base in entry.get("bases", [])[1:] else "*"


def cell(entry: Entry | None) -> Told:
    """A mean in percent, its deviation over seeds (of one seed its interval over examples) and its marks.

    >>> cell({"mean": 0.63434, "deviation": 0.0021, "p": {"original": 0.02}, "layer": None})
    '63.43 ±0.21*'
    >>> cell({"mean": 0.63434, "deviation": None, "low": 0.619, "high": 0.649, "p": {}, "layer": None})
    '63.43 [61.9, 64.9]'
    """
    if entry is None:
        return Told("–", {"": None})
    spread = "" if entry["deviation"] is None else f" ±{100 * entry['deviation']:.2f}"
    if entry["deviation"] is None and entry.get("low") is not None and entry["low"] < entry["high"]:
        spread = f" [{100 * entry['low']:.1f}, {100 * entry['high']:.1f}]"
    layer = "" if entry["layer"] is None else f" (layer {entry['layer']})"
    # A deviation over seeds or, of one seed, an interval over examples: never both, for they are of different things.
    ends = {"sd": "deviation"} if entry["deviation"] is not None else {"low": "low", "high": "high"}
    bounds = {part: None if entry.get(key) is None else 100 * entry[key] for part, key in ends.items()}
    parts = {"": 100 * entry["mean"], **bounds, "marks": marks(entry), "layer": entry["layer"]}
    return Told(f"{100 * entry['mean']:.2f}{spread}{marks(entry)}{layer}", parts)


def metrics(scores: Sequence[Entry]) -> list[str]:
    """The metrics there are that are printed."""
    found = {entry["metric"] for entry in scores}
    return [metric for metric in SHOWN if metric in found] or sorted(found)


def metric_slug(metric: str) -> str:
    """A metric's name as a part of a file's or figure's name."""
    return metric.replace("/", "-").replace("@", "")


def headline(scores: Sequence[Entry]) -> dict[str, list[Entry]]:
    """By metric the entries that the summary goes by: every test by the first of its own metrics that is printed.

    Tests of one run may have different metrics: sentence retrieval (XSR) beside the task that was trained.

    >>> tests = [("ru", "f1/token"), ("ru", "f1/entity"), ("ru:xsr", "mrr"), ("ru:xsr", "p@1")]
    >>> found = headline([{"test": test, "metric": metric} for test, metric in tests])
    >>> {metric: [entry["test"] for entry in entries] for metric, entries in found.items()}
    {'f1/token': ['ru'], 'mrr': ['ru:xsr']}
    """
    by_test: dict[str, list[Entry]] = {}
    for entry in scores:
        by_test.setdefault(entry["test"], []).append(entry)
    first = {test: metrics(own)[0] for test, own in by_test.items()}
    return {
        metric: [entry for entry in scores if entry["metric"] == metric == first[entry["test"]]]
        for metric in metrics(scores)
        if metric in first.values()
    }


def score_table(scores: Sequence[Entry], run: Mapping[str, Any], metric: str) -> Table:
    """One row a regime, one column a test; of more than five tests one row a test, one column a regime."""
    entries = [entry for entry in scores if entry["metric"] == metric]
    cells = {(entry["regime"], entry["test"]): entry for entry in telling(entries)}
    tests = [test for test in run["tests"] if any(test == key[1] for key in cells)]
    regimes = [regime for regime in run["regimes"] if any(regime == key[0] for key in cells)]
    if len(tests) > ACROSS:
        heads = ("test", *map(visible, regimes))
        rows = tuple((visible(test), *(cell(cells.get((regime, test))) for regime in regimes)) for test in tests)
    else:
        heads = ("regime", *map(visible, tests))
        rows = tuple((visible(regime), *(cell(cells.get((regime, test))) for test in tests)) for regime in regimes)
    counts = [len(entry.get("seeds") or run["seeds"]) for entry in cells.values()]
    few, many = min(counts), max(counts)
    # Of a study that is under way some cells have fewer.
    spread = f", mean ± standard deviation over {many if few == many else f'{few} to {many}'} seeds"
    spread = spread if many > 1 else ""
    spread += ", in brackets the 95 % interval of one seed over its examples" if few == 1 else ""
    caption = f"Percent{spread}.{_levels(entries)}{_signs(entries, silent=tells_nothing(entries))}{_luck(entries)}"
    title = f"{SHOWN.get(metric, visible(metric))}, trained in {visible(run['source'])}: {visible(run['model'])}"
    name = f"transfer-{metric_slug(metric)}"
    return Table(name, title, caption, heads, rows)


def _levels(entries: Sequence[Entry]) -> str:
    """The chance levels of a table, where they are known."""
    said = chance_levels(entries)
    return f" Chance level: {said}." if said else ""


def chance_levels(entries: Sequence[Entry]) -> str:
    """The lowest and highest chance level of the entries in percent, in words; nothing where none is known.

    >>> chance_levels([{"null": 1 / 3}, {"null": 0.3334}, {"null": None}])
    '33.3'
    >>> chance_levels([{"null": 0.1}, {"null": 0.2}])
    '10.0 to 20.0'
    """
    known = [100 * entry["null"] for entry in entries if entry.get("null") is not None]
    ends = [f"{end(known):.1f}" for end in (min, max)] if known else []
    return " to ".join(dict.fromkeys(ends))


def tells_nothing(entries: Sequence[Entry]) -> bool:
    """Whether entries were compared, and no comparison is of models that learnt without a stuck seed."""
    before, after = (any(entry["p"] or entry.get("against") for entry in each) for each in (entries, telling(entries)))
    return before and not after


NOTHING_TOLD = "No comparison tells anything: a seed of a side is stuck, or neither side is above chance"


def _signs(entries: Sequence[Entry], *, silent: bool = False) -> str:
    """What a table's marks say, how many of its comparisons differ, and the differences it could detect.

    Where all its comparisons are `silent` (`tells_nothing`), there is no mark to explain.

    >>> _signs([{"p": {"original": 0.2}}]), _signs([{"p": {}}])
    (' Differs over seeds and examples (p < 0.05): * from original.', '')
    >>> _signs([{"p": {}, "against": {"original": {"detectable": None}}}])
    ' One seed: differences are not tested, and none is marked.'
    """
    tested = sum(len(entry["p"]) for entry in entries)
    if not tested:
        compared_at_all = any(entry.get("against") for entry in entries)
        return f" {untested_words(entries)}, and none is marked." if compared_at_all else ""
    if silent:
        return f" {NOTHING_TOLD}, and none is marked."
    known: dict[str, dict[str, None]] = {"*": {}, "**": {}}
    for entry in entries:
        for base in entry["p"]:
            known[sign(entry, base)][visible(base)] = None
    told = [f"{mark} from {' or '.join(bases)}" for mark, bases in known.items() if bases]
    said = f" Differs over seeds and examples ({sure_words(tested)}): {', '.join(told)}."
    if tested > 1:
        differ = sum(p < 0.05 for entry in telling(entries) for p in sure_p(entry).values())
        said += f" {differ} of {tested} comparisons differ."
    if sizes := detectable_points(entries):
        said += f" Detectable with 80 % power: differences of {sizes} points or more."
    return said


def untested_words(entries: Sequence[Entry]) -> str:
    """Why comparisons have no test over seeds: one seed on a side, or a run of before there was such a test."""
    every = [(entry, each) for entry in entries for each in entry.get("against", {}).values()]
    if any("over" not in each and len(entry.get("seeds", ())) > 1 for entry, each in every):
        return "This run was made before tests counted seeds: its differences are not tested (run its command again)"
    return "One seed: differences are not tested"


def sure_words(tested: int) -> str:
    """The level that differences are called significant at: of one comparison there is nothing to correct."""
    return "p < 0.05" if tested < 2 else f"p < 0.05 after Holm's correction over {tested} comparisons"


def detectable_points(entries: Sequence[Entry]) -> str:
    """The smallest and largest detectable difference of the tested comparisons in points, in words.

    >>> each = {"p": {"original": 0.5}, "against": {"original": {"detectable": 5.3}}}
    >>> detectable_points([each, {**each, "against": {"original": {"detectable": 0.041}}}])
    '4.1 to over 100'
    """
    sizes = [
        100 * entry["against"][base]["detectable"]
        for entry in entries
        for base in entry["p"]
        if entry.get("against", {}).get(base, {}).get("detectable") is not None
    ]
    ends = [end(sizes) for end in (min, max)] if sizes else []
    return " to ".join(dict.fromkeys("over 100" if each > 100 else f"{each:.1f}" for each in ends))


def _luck(entries: Sequence[Entry]) -> str:
    """Which seeds of a table's regimes were stuck in some test: comparisons with them have no marks."""
    known = [entry for entry in entries if "seeds" in entry]
    if not any(entry["p"] or entry.get("against") for entry in entries):
        return ""
    told = ", ".join(f"{visible(regime)} {seed}" for regime, seed in sorted(stuck_seeds(known)))
    return f" Stuck at chance, and compared by no mark: {told} (regime and seed)." if told else ""


def learnt(entry: Entry) -> bool:
    """Whether a model of the entry reads more than chance: one seed at least, by its own interval over examples.

    Over two seeds Student's interval of the mean holds nearly anything; each seed has thousands of examples to go by.
    Runs of before that was kept have the interval of the mean alone.

    >>> learnt({"null": 0.333, "above": 2, "values": [0.66, 0.60]}), learnt({"null": 0.333, "above": 0})
    (True, False)
    """
    if entry["null"] is None:
        return True
    if entry.get("above") is None:
        return interval(entry)[0] > float(entry["null"])
    return int(entry["above"]) > 0


def telling(entries: Sequence[Entry]) -> list[Entry]:
    """The entries without p-values of comparisons that tell nothing: a seed of a side is stuck, or neither has learnt.

    Marks are pasted into papers with their table, and what is said of them below it is not.
    """
    known = [entry for entry in entries if "seeds" in entry]
    lost = {(regime, test) for (regime, _), tests in stuck_seeds(known).items() for test in tests}
    low = {(entry["regime"], entry["test"]) for entry in entries if not learnt(entry)}

    def silent(entry: Entry, base: str) -> bool:
        both = {(entry["regime"], entry["test"]), (base, entry["test"])}
        return bool(both & lost) or both <= low

    return [
        {
            **entry,
            **{
                key: {base: each for base, each in entry[key].items() if not silent(entry, base)}
                for key in ("p", "p_holm", "p_examples", "p_permutation", "p_permutation_apart", "against")
                if key in entry
            },
        }
        for entry in entries
    ]


def gain(entry: Entry, base: Entry) -> float:
    """How many points a regime is above another: the difference of the two means as they are shown, in hundredths.

    >>> round(gain({"mean": 0.63434}, {"mean": 0.63026}), 2)  # 63.43 and 63.03
    0.4
    """
    apart: float = round(100 * entry["mean"], 2) - round(100 * base["mean"], 2)
    return apart


def signed_points(points: float) -> str:
    """Points with their sign.

    >>> signed_points(-0.4), signed_points(1.25), signed_points(-0.001)
    ('−0.40', '+1.25', '+0.00')
    """
    return f"{round(points, 2) + 0.0:+.2f}".replace("-", "−")


def sure(entry: Entry, base: str) -> float | None:
    """The p-value that words go by: corrected over the table; None where the two were not tested over seeds."""
    return sure_p(entry).get(base)


def stuck_seeds(entries: Sequence[Entry]) -> dict[tuple[str, int], list[str]]:
    """Regimes and seeds whose models are at chance in a test where another seed of the regime is not, with these tests.

    A regime of which no seed has learnt a test is not stuck in it by luck: what another does better there counts.

    >>> entry = {"test": "ru", "null": 0.333, "regime": "original", "seeds": [0, 1], "values": [0.47, 0.3333]}
    >>> stuck_seeds([entry])
    {('original', 1): ['ru']}
    """
    found: dict[tuple[str, int], list[str]] = {}
    for entry in entries:
        for seed in sorted(stuck(dict(zip(entry["seeds"], entry["values"], strict=True)), entry["null"])):
            found.setdefault((entry["regime"], seed), []).append(entry["test"])
    return found


def compared(entry: Entry) -> Iterator[tuple[str, Mapping[str, Any], float | None, float | None, float | None]]:
    """A regime's comparisons, those over the seeds in which both sides learnt last.

    Base, difference, p, p (Holm), p of the paper's test, which holds the seeds fixed.
    """
    fixed = entry.get("p_permutation") or entry.get("p_examples") or {}
    for base, each in entry.get("against", {}).items():
        yield base, each, entry["p"].get(base), sure_p(entry).get(base), fixed.get(base)
    for base, each in entry.get("without_stuck", {}).items():
        yield base, each, each["p"], each.get("p_holm"), None


def difference_table(scores: Sequence[Entry], run: Mapping[str, Any], metric: str) -> Table:
    """One row per test, regime and baseline: the difference of the means, how sure it is, and what was detectable."""
    mine = [entry for entry in scores if entry["metric"] == metric]
    means = {(entry["test"], entry["regime"]): entry for entry in mine}
    rows: list[tuple[Any, ...]] = []
    for entry in mine:
        for place, (base, each, *p) in enumerate(compared(entry)):
            points = [None if each[name] is None else 100 * each[name] for name in ("low", "high", "detectable")]
            about = [visible(str(name)) for name in (entry["test"], entry["regime"], base)]
            first = means.get((entry["test"], base))
            shown = 100 * each["difference"]
            if first is not None and place < len(entry.get("against", {})):
                shown = gain(entry, first)
            difference = Told(signed_points(shown), {"": 100 * each["difference"]})
            rows.append((*about, _seed_counts(each), difference, *points, each["effect"], *p))
    caption = (
        "Points: differences of the means over seeds. p, p (Holm), the 95 % interval and detectable, the smallest "
        "difference found with 80 % power, are over seeds and examples; Holm's correction is over this table. With one "
        "seed on a side there is no p, and the interval is over examples. p (examples) is the test of Efimov et al. "
        "2023, §5.1, which holds the seeds fixed and says nothing of others: Student's of examples or, for an F1 of "
        "counts, a permutation test of all seeds' counts together. d: Cohen's, of examples paired, with Hedges' "
        "correction."
    )
    caption += _luck(mine)
    if any(entry.get("without_stuck") for entry in mine):
        caption += (
            " What is compared with one has a second row, over the seeds in which both learnt, corrected apart: its "
            "difference is that of their means, not of those in the table of scores."
        )
    title = f"{SHOWN.get(metric, visible(metric))}: differences, {visible(run['model'])}"
    name = f"{score_table(scores, run, metric).name}-differences"
    return Table(name, title, caption, DIFFERENCE_HEADS, tuple(rows))


DIFFERENCE_HEADS = (
    *("test", "regime", "less", "seeds", "difference", "low", "high", "detectable", "d", "p", "p (Holm)"),
    "p (examples)",
)


SEED_HEADS = ("test", "regime", "mean", "sd")
"""The first columns of a table of every seed; one per seed follows."""


def _seed_counts(each: Mapping[str, Any]) -> int | str | None:
    """How many seeds a comparison has: of both sides, where they differ."""
    if "seeds" not in each:
        return None
    counts = dict.fromkeys((len(each["seeds"]), len(each.get("base_seeds", each["seeds"]))))
    return next(iter(counts)) if len(counts) == 1 else " and ".join(map(str, counts))


def seed_table(scores: Sequence[Entry], run: Mapping[str, Any], metric: str) -> Table:
    """One row per test and regime: its mean, its deviation, and the score of every seed."""
    mine = [entry for entry in scores if entry["metric"] == metric]
    seeds = sorted({seed for entry in mine for seed in entry.get("seeds", ()) if seed is not None})
    rows = []
    for entry in mine:
        own = dict(zip(entry.get("seeds", ()), entry["values"], strict=False))
        values = (entry["mean"], entry["deviation"], *(own.get(seed) for seed in seeds))
        shown = (None if each is None else Told(f"{100 * each:.2f}", {"": 100 * each}) for each in values)
        rows.append((visible(entry["test"]), visible(entry["regime"]), *shown))
    title = f"{SHOWN.get(metric, visible(metric))}: every seed, {visible(run['model'])}"
    name = f"{score_table(scores, run, metric).name}-seeds"
    heads = (*SEED_HEADS, *(f"seed {seed}" for seed in seeds))
    return Table(name, title, "Percent; sd: standard deviation over seeds.", heads, tuple(rows))


def planned_seeds(entries: Sequence[Entry]) -> str:
    """How many seeds per regime a difference of 1, 2 or 5 points needs, by the deviations of these entries.

    With one seed, whose deviation is not known, by the median one of the grids in docs/findings. Nothing without
    comparisons.
    """
    apart = [each for entry in entries for each in entry.get("against", {}).values() if each.get("item_deviation")]
    if not apart:
        return ""
    own = [entry["deviation"] for entry in entries if entry["deviation"]]
    deviation = float(np.median(own)) if own else usual_deviation(entries[0]["metric"])
    items = float(np.median([each["item_deviation"] for each in apart]))
    n = int(np.median([entry["n"] for entry in entries]))
    whose = "this run's median deviation over seeds" if own else "the median deviation over seeds of our own grids"
    words = plan_words(deviation=deviation, item_deviation=items, n=n)
    return f"By {whose} ({100 * deviation:.1f} points) and {n:,} examples, {words}"


def usual_deviation(metric: str) -> float:
    """The deviation over seeds that a metric had in our own grids."""
    return SEED_DEVIATIONS.get(metric.partition("/")[0], USUAL_DEVIATION)


def plan_words(*, deviation: float, item_deviation: float, n: int) -> str:
    """How many seeds per regime a difference of 1, 2 and 5 points needs to be found with 80 % power.

    >>> plan_words(deviation=0.016, item_deviation=0.4, n=5000)
    'to detect 1 point with 80 % power takes over 12,500 examples, 2 points 30 seeds, 5 points 4 seeds.'
    """

    def told(points: int) -> str:
        seeds = seeds_needed(points / 100, deviation=deviation, item_deviation=item_deviation, n=n)
        least = items_needed(points / 100, item_deviation=item_deviation)
        about = f"{max(least // 100 * 100, 100):,}"
        return f"over {about} examples" if seeds is None else f"{seeds} seeds"

    first, *others = PLANNED_POINTS
    more = "".join(f", {points} points {told(points)}" for points in others)
    return f"to detect {first} point with 80 % power takes {told(first)}{more}."


PLANNED_POINTS = (1, 2, 5)


def distance_lines(distances: Sequence[Entry]) -> Table:
    """Distances of related and unrelated words in each state of the model, with intervals."""

    def shown(entry: Entry, name: str) -> Told:
        low, high = entry.get("intervals", {}).get(name, (0.0, 0.0))
        if not low < high:
            return Told(number(entry[name], 3), {"": entry[name]})
        text = f"{number(entry[name], 3)} [{number(low, 3)}, {number(high, 3)}]"
        return Told(text, {"": entry[name], "low": low, "high": high})

    rows = tuple(
        (
            visible(entry["state"]),
            visible(entry["language"]),
            shown(entry, "related"),
            shown(entry, "unrelated"),
            entry["unrelated"] / max(entry["related"], 1e-12),
            shown(entry, "auc"),
        )
        for entry in distances
    )
    heads = ("state", "language", "related", "unrelated", "unrelated / related", "AUC")
    seeds = [entry.get("seeds", 1) for entry in distances]
    over = {True: "the words of one seed", False: "seeds (Student)"}
    said = " or ".join(over[one] for one in dict.fromkeys(count == 1 for count in seeds))
    caption = (
        "L2 distances of words and their translations, and of unrelated words, on rows that were not trained on. In "
        f"brackets the 95 % interval over {said}."
    )
    return Table("transfer-distances", "Distances of words", caption, heads, rows)


def table_files(scores: Sequence[Entry], distances: Sequence[Entry], run: Mapping[str, Any]) -> dict[str, str]:
    """File names and texts: `transfer.json`, `transfer.svg`, and under `tables/` each table as CSV, Markdown, LaTeX."""
    tables = [score_table(scores, run, metric) for metric in metrics(scores)]
    tables += [table for metric in metrics(scores) if (table := difference_table(scores, run, metric)).rows]
    tables += [seed_table(scores, run, metric) for metric in metrics(scores)]
    tables += [distance_lines(distances)] if distances else []
    found = {"scores": list(scores), "distances": list(distances)}
    out = {"transfer.json": json.dumps(found, ensure_ascii=False, indent=1)}
    if scores:
        out["transfer.svg"] = f'<?xml version="1.0" encoding="UTF-8"?>\n{picture(scores, run)}\n'
    for table in tables:
        for ending, write in (("csv", to_csv), ("md", to_markdown), ("tex", to_latex)):
            out[f"tables/{table.name}.{ending}"] = write(table)
    return out


def picture(scores: Sequence[Entry], run: Mapping[str, Any]) -> str:
    """An SVG of the headline metrics: a band a test, a line a regime; dots are seeds, the bar their mean.

    The line is Student's 95 % interval of the mean over seeds, of one seed that over its examples; a dotted stroke is
    the chance level.
    """
    found = headline(scores)
    cells = [entry for entries in found.values() for entry in entries]
    tests = [test for test in run["tests"] if any(entry["test"] == test for entry in cells)]
    colours = {regime: PALETTE[place % len(PALETTE)] for place, regime in enumerate(run["regimes"])}
    reach = [value for entry in cells for value in (*entry["values"], *interval(entry))]
    reach += [entry["null"] for entry in cells if entry["null"] is not None]
    low, high = max(math.floor(20 * min(reach)) / 20, 0.0), min(math.ceil(20 * max(reach)) / 20, 1.0)

    def x(value: float) -> float:
        return float(_LEFT + (min(max(value, low), high) - low) / max(high - low, 1e-9) * _WIDE)

    parts, y = [], _TOP
    for test in tests:
        mine = [
            entry for regime in run["regimes"] for entry in cells if (entry["test"], entry["regime"]) == (test, regime)
        ]
        middle = y + _ROW * len(mine) / 2 + 4
        parts.append(f'<text class="ink" x="12" y="{middle:.0f}">{_safe(test)}</text>')
        if len(found) > 1:  # Tests of different metrics share the axis: each names its own.
            parts.append(f'<text x="12" y="{middle + 13:.0f}">{_safe(mine[0]["metric"])}</text>')
        for entry in mine:
            parts += _line(entry, colours[entry["regime"]], x, y + _ROW / 2, (low, high))
            y += _ROW
        y += _GAP
        parts.append(f'<path class="axis" d="M{_LEFT} {y - _GAP / 2}h{_WIDE}"/>')
    wide, tall = _LEFT + _WIDE + 40, y + 40
    for value in _ticks(low, high):
        parts.append(f'<text x="{x(value):.1f}" y="{y + 12}" text-anchor="middle">{100 * value:g}</text>')
    title = "; ".join(SHOWN.get(metric, visible(metric)) for metric in found)
    below = f"{_safe(title)}, percent: seeds, mean, 95 % interval; dotted: chance level"
    parts.append(f'<text x="{_LEFT + _WIDE / 2}" y="{y + 30}" text-anchor="middle">{below}</text>')
    begin = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}" '
        f'role="img" aria-label="{_safe(title)} of every regime, test and seed">'
    )
    return "\n".join([begin, f"<style>{_STYLE}</style>", *_legend(colours), *parts, "</svg>"])


def _line(entry: Entry, colour: str, x: Any, y: float, reach: tuple[float, float]) -> list[str]:
    low, high = interval(entry)
    about = f"{entry['regime']}, {entry['test']}: {cell(entry)}"
    parts = [f'<g fill="{colour}" stroke="{colour}"><title>{_safe(about)}</title>']
    if entry["null"] is not None and reach[0] <= entry["null"] <= reach[1]:
        parts.append(f'<path class="axis null" d="M{x(entry["null"]):.1f} {y - 6:.1f}v12"/>')
    parts.append(f'<path d="M{x(low):.1f} {y:.1f}H{x(high):.1f}"/>')
    parts += [f'<circle class="seed" cx="{x(v):.1f}" cy="{y:.1f}" r="3.2" stroke="none"/>' for v in entry["values"]]
    parts += [f'<path class="mean" d="M{x(entry["mean"]):.1f} {y - 5:.1f}v10"/></g>']
    return parts


def _legend(colours: Mapping[str, str]) -> list[str]:
    parts, left = [], float(_LEFT)
    for regime, colour in colours.items():
        parts.append(f'<circle cx="{left:.0f}" cy="18" r="5" fill="{colour}"/>')
        parts.append(f'<text x="{left + 10:.0f}" y="22">{_safe(regime)}</text>')
        left += 30 + 7.5 * len(regime)
    return parts


def interval(entry: Entry) -> tuple[float, float]:
    """The 95 % interval of the mean over seeds; of one seed that over its examples, where it is known."""
    low, high = mean_interval(np.array(entry["values"]))
    if len(entry["values"]) == 1 and entry.get("low") is not None:
        low, high = entry["low"], entry["high"]
    return max(low, 0.0), min(high, 1.0)


def _ticks(low: float, high: float) -> list[float]:
    """Shares at every 5 or 10 percent, or more, six or so.

    >>> _ticks(0.0, 0.5)
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    """
    step = next(each for each in (0.01, 0.05, 0.1, 0.2, 0.5) if (high - low) / each < 8)
    first = math.ceil(round(low / step, 6))
    return [round(step * place, 4) for place in range(first, math.floor(round(high / step, 6)) + 1)]


def _safe(text: str) -> str:
    return html.escape(visible(text))
