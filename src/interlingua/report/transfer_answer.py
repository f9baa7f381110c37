"""What a transfer study found in words: what the base regime reads, what each other changed, which seeds were stuck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interlingua.report.runs import Run
from interlingua.report.transfer import SHOWN, Entry, cell, gain, learnt, metrics, stuck_seeds, sure
from interlingua.report.wording import language_name, listing, visible


def run_scores(run: Run) -> Sequence[Entry]:
    """The entries of all metrics, regimes and tests; nothing before the first is scored."""
    found: Sequence[Entry] = run.more.get("scores") or []
    return found


def main_entries(run: Run) -> tuple[str, list[Entry]]:
    """The first metric that is printed, and its entries."""
    metric = (metrics(run_scores(run)) or [""])[0]
    return metric, [entry for entry in run_scores(run) if entry["metric"] == metric]


def base_regime(run: Run) -> str:
    """What the others are compared with: the original where it is among them, else the first regime."""
    regimes: Sequence[str] = run.about["regimes"]
    return "original" if "original" in regimes else next(iter(regimes), "")


def at_chance(run: Run) -> set[tuple[str, str]]:
    """The tested comparisons (regime, test) in which neither the regime nor the base is above chance in any seed."""
    own, base = main_entries(run)[1], base_regime(run)
    low = {(entry["regime"], entry["test"]) for entry in own if not learnt(entry)}
    return {(regime, test) for regime, test in low & _tested(own, base) if (base, test) in low}


def _tested(entries: Sequence[Entry], base: str) -> set[tuple[str, str]]:
    return {(entry["regime"], entry["test"]) for entry in entries if base in entry["p"]}


def told(run: Run) -> tuple[str, list[tuple[str, str]] | None]:
    """What was found in words: what the base regime reads, then what each other one changed; None without scores."""
    metric, entries = main_entries(run)
    if not entries:
        return "Nothing has been scored yet: run the same command again.", None
    first, low, luck, stuck = base_regime(run), at_chance(run), unlucky(run), stuck_seeds(entries)
    base = {entry["test"]: entry for entry in entries if entry["regime"] == first}
    lead = (
        f"Trained in {named(run.about['source'])} ({visible(first)}), in percent, "
        f"{SHOWN.get(metric, visible(metric))}: {_read(list(base.values()))}."
    )
    facts = []
    for regime in run.about["regimes"]:
        mine = [entry for entry in entries if entry["regime"] == regime != first and entry["test"] in base]
        if mine:
            facts.append((visible(regime), _against(mine, base, low, luck)))
    lost = [test for test, entry in base.items() if not learnt(entry)]
    if lost:
        where = "In no seed above chance" if len(run.about["seeds"]) > 1 else "Not above chance"
        facts.append(("Chance", f"{where} ({visible(first)}): {_tests(lost, [*base])}."))
    if stuck:
        every = list(dict.fromkeys(entry["test"] for entry in entries))
        said = [f"seed {seed} of {visible(regime)} ({_tests(tests, every)})" for (regime, seed), tests in stuck.items()]
        facts.append(
            ("Stuck", f"Never left chance, where other seeds did: {listing(said)}. Means with such a seed compare luck "
             f"in training, not regimes, and tests over examples do not see that.{_without(entries, first, stuck)}")
        )  # fmt: skip
    return lead, facts


MANY = 8
"""Of more tests than that the words name the ends of their range; the tables have all."""


def _read(own: Sequence[Entry]) -> str:
    if len(own) <= MANY:
        return ", ".join(f"{named(entry['test'])} {cell(entry)}" for entry in own)
    least, most = min(own, key=lambda entry: entry["mean"]), max(own, key=lambda entry: entry["mean"])
    ends = [f"{named(entry['test'])} {cell(entry)}" for entry in (least, most)]
    return f"{' to '.join(ends)}, {len(own)} tests"


def named(test: str) -> str:
    """What a test is called in a sentence: its language, where it is named after one alone.

    >>> named("ru"), named("en+ru"), named("ru:mlqa")
    ('Russian', 'en+ru', 'ru:mlqa')
    """
    return language_name(test, {})


def _tests(names: Sequence[str], every: Sequence[str]) -> str:
    return "every test" if set(names) == set(every) and len(every) > 3 else listing([*map(named, names)])


def unlucky(run: Run) -> set[tuple[str, str]]:
    """The tested comparisons (regime, test) in which a seed of the regime or of the base is stuck."""
    own, base = main_entries(run)[1], base_regime(run)
    stuck = {(regime, test) for (regime, _), tests in stuck_seeds(own).items() for test in tests}
    return {(regime, test) for regime, test in _tested(own, base) if {(regime, test), (base, test)} & stuck}


def _without(entries: Sequence[Entry], first: str, stuck: Mapping[tuple[str, int], Sequence[str]]) -> str:
    """What each regime changes over the seeds in which no regime's model is stuck, test by test."""
    values = {
        (entry["regime"], entry["test"]): dict(zip(entry["seeds"], entry["values"], strict=True)) for entry in entries
    }
    if all(regime == first for regime, _ in values):
        return ""
    said: dict[str, list[tuple[float, str]]] = {}
    counts = []
    for (regime, test), own in values.items():
        lost = {seed for (_, seed), tests in stuck.items() if test in tests}
        kept = [seed for seed in own if seed in values.get((first, test), {}) and seed not in lost]
        if regime != first and kept:
            more = 100 * sum(own[seed] - values[first, test][seed] for seed in kept) / len(kept)
            said.setdefault(regime, []).append((more, _gain(test, more)))
            counts.append(len(kept))
    if not counts:
        return " No seed is left in which every regime has learnt."
    seeds = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    gains = "; ".join(f"{visible(regime)}{_gains(each, len(each), most=True)}" for regime, each in said.items())
    return f" Over the seeds without a stuck model ({seeds} a test): {gains}."


def _gain(test: str, points: float) -> str:
    signed = f"{points:+.1f}".replace("-", "−")
    return f"{named(test)} ({signed})"


def _against(
    mine: Sequence[Entry], base: Mapping[str, Entry], low: set[tuple[str, str]], luck: set[tuple[str, str]]
) -> str:
    """What a regime changed, in points, test by test: helped and hurt are significant, of models above chance (`low`).

    Significant after Holm's correction over the metric's table: of forty comparisons two would be below 0.05 by luck.
    A regime that was not tested against the base (no original, no adjusted one before it) is said to be so, and so is
    one of whose seeds, or the base's, one is stuck (`luck`).
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
    return " ".join(f"{said}{_gains(own[said], len(mine), most=said in order[:2])}." for said in order if said in own)


def _gains(own: Sequence[tuple[float, str]], of: int, *, most: bool) -> str:
    """Every gain with its test; of many tests how many, and the largest of those that are sure."""
    if of <= MANY or len(own) <= 3:
        return f": {listing([text for _, text in own])}"
    largest = sorted(own, key=lambda each: -abs(each[0]))[:3]
    largest_said = f", most in {listing([text for _, text in largest])}" if most else ""
    return f" in {len(own)} of {of} tests{largest_said}"
