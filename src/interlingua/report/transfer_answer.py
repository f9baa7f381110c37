"""What a transfer study found in words: what the base regime reads, what each other changed, which seeds were stuck."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from interlingua.report.runs import Run
from interlingua.report.transfer import SHOWN, Entry, cell, gain, headline, learnt, stuck_seeds, sure
from interlingua.report.wording import language_name, listing, visible


def run_scores(run: Run) -> Sequence[Entry]:
    """The entries of all metrics, regimes and tests; nothing before the first is scored."""
    found: Sequence[Entry] = run.more.get("scores") or []
    return found


def main_entries(run: Run) -> list[Entry]:
    """The entries that the summary goes by: those of every test's own first metric."""
    return [entry for entries in headline(run_scores(run)).values() for entry in entries]


def base_regimes(run: Run) -> dict[str, str]:
    """By test what the other regimes are compared with: the original, or what took its place.

    Runs of before that was kept have the original where it is among them, else the first regime.
    """
    own = main_entries(run)
    known = {entry["test"]: entry["bases"][0] for entry in own if entry.get("bases")}
    regimes: Sequence[str] = run.about["regimes"]
    first = "original" if "original" in regimes else next(iter(regimes), "")
    return {entry["test"]: known.get(entry["test"], first) for entry in own}


def base_name(run: Run) -> str:
    """The regime that the others are compared with; of tests that have others, "the first"."""
    names = {*base_regimes(run).values()}
    return names.pop() if len(names) == 1 else "the first"


def at_chance(run: Run) -> set[tuple[str, str]]:
    """The tested comparisons (regime, test) in which neither the regime nor the base is above chance in any seed."""
    own, base = main_entries(run), base_regimes(run)
    low = {(entry["regime"], entry["test"]) for entry in own if not learnt(entry)}
    return {(regime, test) for regime, test in low & _tested(own, base) if (base[test], test) in low}


def _tested(entries: Sequence[Entry], base: Mapping[str, str]) -> set[tuple[str, str]]:
    return {(entry["regime"], entry["test"]) for entry in entries if base[entry["test"]] in entry["p"]}


def told(run: Run) -> tuple[str, list[tuple[str, str]] | None]:
    """What was found in words: what the base regime reads, then what each other one changed; None without scores."""
    entries = main_entries(run)
    if not entries:
        return "Nothing has been scored yet: run the same command again.", None
    first, low, luck, stuck = base_regimes(run), at_chance(run), unlucky(run), stuck_seeds(entries)
    base = {entry["test"]: entry for entry in entries if entry["regime"] == first[entry["test"]]}
    source = named(run.about["source"])
    if len(_by(base.values(), "regime")) > 1:
        lead = f"Trained in {source}, in percent, {_by_metric(base.values(), _read_apart)}."
    else:
        lead = f"Trained in {source} ({visible(base_name(run))}), in percent, {_by_metric(base.values(), _read)}."
    facts = []
    for regime in run.about["regimes"]:
        mine = [entry for entry in entries if entry["regime"] == regime and regime != first[entry["test"]]]
        mine = [entry for entry in mine if entry["test"] in base]
        if mine:
            changed = {name: _against(own, base, low, luck) for name, own in _by(mine, "metric").items()}
            one = len(_by(entries, "metric")) == 1
            said = [text if one else f"{SHOWN.get(name, visible(name))}: {text}" for name, text in changed.items()]
            facts.append((visible(regime), " ".join(said)))
    for name, lost in _by((entry for entry in base.values() if not learnt(entry)), "regime").items():
        where = "In no seed above chance" if len(run.about["seeds"]) > 1 else "Not above chance"
        facts.append(("Chance", f"{where} ({visible(name)}): {_tests([entry['test'] for entry in lost], [*base])}."))
    if stuck:
        every = list(dict.fromkeys(entry["test"] for entry in entries))
        said = [f"seed {seed} of {visible(regime)} ({_tests(tests, every)})" for (regime, seed), tests in stuck.items()]
        facts.append(
            ("Stuck", f"Never left chance, where other seeds did: {listing(said)}. Means with such a seed compare luck "
             "in training, not regimes, and tests over examples do not see that.")
        )  # fmt: skip
    return lead, facts


def _by(entries: Iterable[Entry], key: str) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry[key], []).append(entry)
    return found


def _by_metric(entries: Iterable[Entry], tell: Callable[[Sequence[Entry]], str]) -> str:
    """What the entries of each metric read, with its title: numbers of different metrics are never in one list."""
    return "; ".join(f"{SHOWN.get(name, visible(name))}: {tell(own)}" for name, own in _by(entries, "metric").items())


def _read_apart(own: Sequence[Entry]) -> str:
    return "; ".join(f"{visible(name)}, {_read(entries)}" for name, entries in _by(own, "regime").items())


MANY = 8
"""Of more tests than that the words name the ends of their range; the tables have all."""


def _read(own: Sequence[Entry]) -> str:
    if len(own) <= MANY:
        return ", ".join(f"{named(entry['test'])} {cell(entry)}" for entry in own)
    least, most = min(own, key=lambda entry: entry["mean"]), max(own, key=lambda entry: entry["mean"])
    ends = [f"{named(entry['test'])} {cell(entry)}" for entry in (least, most)]
    return f"{' to '.join(ends)}, {len(own)} tests"


def named(test: str) -> str:
    """What a test is called in a sentence: the names of its languages, and what else it is called.

    >>> named("ru"), named("en+ru"), named("ru:mlqa"), named("ru mixed"), named("mine")
    ('Russian', 'English+Russian', 'Russian:mlqa', 'Russian mixed', 'mine')
    """
    codes = re.split(r"[: ]", test, maxsplit=1)[0]
    return "+".join(language_name(code, {}) for code in codes.split("+")) + visible(test[len(codes) :])


def _tests(names: Sequence[str], every: Sequence[str]) -> str:
    return "every test" if set(names) == set(every) and len(every) > 3 else listing([*map(named, names)])


def unlucky(run: Run) -> set[tuple[str, str]]:
    """The tested comparisons (regime, test) in which a seed of the regime or of the base is stuck."""
    own, base = main_entries(run), base_regimes(run)
    stuck = {(regime, test) for (regime, _), tests in stuck_seeds(own).items() for test in tests}
    return {(regime, test) for regime, test in _tested(own, base) if {(regime, test), (base[test], test)} & stuck}


def _gain(test: str, points: float) -> str:
    signed = f"{points:+.1f}".replace("-", "−")
    return f"{named(test)} ({signed})"


def _against(
    mine: Sequence[Entry], base: Mapping[str, Entry], low: set[tuple[str, str]], luck: set[tuple[str, str]]
) -> str:
    """What a regime changed, in points, test by test: helped and hurt are significant, of models above chance (`low`).

    Significant after Holm's correction over the metric's table: of forty comparisons two would be below 0.05 by luck.
    A regime that was not tested against the base (no seed in common) is said to be so, and so is one of whose seeds,
    or the base's, one is stuck (`luck`).
    """
    own: dict[str, list[tuple[float, str]]] = {}
    for entry in mine:
        first, key = base[entry["test"]], (entry["regime"], entry["test"])
        more, p = gain(entry, first), sure(entry, first["regime"])
        said = "Helped" if more > 0 else "Hurt"
        if key in luck:
            said = "A seed is stuck"
        elif key in low:
            said = "Both at chance"
        elif p is None:
            said = "Not tested"
        elif p >= 0.05 or not more:
            said = "No clear difference"
        own.setdefault(said, []).append((more, _gain(entry["test"], more)))
    order = ("Helped", "Hurt", "No clear difference", "Not tested", "A seed is stuck", "Both at chance")
    told = [f"{said}{_gains(own[said], len(mine), most=said in order[:2])}." for said in order if said in own]
    return " ".join([*told, *_without([entry for entry in mine if (entry["regime"], entry["test"]) in luck], base)])


def _without(mine: Sequence[Entry], base: Mapping[str, Entry]) -> list[str]:
    """What a regime changed in tests in which a seed is stuck, over the seeds in which both sides learnt."""
    own: dict[str, list[tuple[float, str]]] = {}
    counts = []
    for entry in mine:
        kept = entry.get("without_stuck", {}).get(base[entry["test"]]["regime"])
        if kept is not None:
            more = 100 * kept["difference"]
            said = "no clear difference" if kept["p_holm"] >= 0.05 or not more else "helped" if more > 0 else "hurt"
            own.setdefault(said, []).append((more, _gain(entry["test"], more)))
            counts.append(len(kept["seeds"]))
    if not counts:
        # Runs of before this was kept say nothing of it.
        return ["No seed is left in which both learnt."] if any("without_stuck" in entry for entry in mine) else []
    seeds = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    order = ("helped", "hurt", "no clear difference")
    gains = "; ".join(f"{said}{_gains(own[said], len(mine), most=said in order[:2])}" for said in order if said in own)
    return [f"Over the seeds in which both learnt ({seeds} a test): {gains}."]


def _gains(own: Sequence[tuple[float, str]], of: int, *, most: bool) -> str:
    """Every gain with its test; of many tests how many, and the largest of those that are sure."""
    if of <= MANY or len(own) <= 3:
        return f": {listing([text for _, text in own])}"
    largest = sorted(own, key=lambda each: -abs(each[0]))[:3]
    largest_said = f", most in {listing([text for _, text in largest])}" if most else ""
    return f" in {len(own)} of {of} tests{largest_said}"
