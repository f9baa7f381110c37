"""What a transfer study found in words: what did not learn, the base regime's scores, what each other changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from interlingua.report.runs import Run
from interlingua.report.transfer import (
    NOTHING_TOLD,
    SHOWN,
    Entry,
    cell,
    chance_levels,
    detectable_points,
    gain,
    headline,
    learnt,
    of_today,
    planned_seeds,
    signed_points,
    stuck_seeds,
    sure,
    sure_words,
    tells_nothing,
    untested_words,
)
from interlingua.report.wording import language_name, listing, visible


def run_scores(run: Run) -> Sequence[Entry]:
    """The entries of all metrics, regimes and tests; nothing before the first is scored."""
    return of_today(run.more.get("scores") or [])


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
    return {(entry["regime"], entry["test"]) for entry in entries if compared_with(entry, base[entry["test"]])}


def compared_with(entry: Entry, base: str) -> bool:
    """Whether a regime was compared with a base at all, with a test over seeds or, of one seed, without."""
    return base in entry["p"] or base in entry.get("against", {})


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
    lead = " ".join([*chance_sentences(run), lead])
    facts = []
    for regime in run.about["regimes"]:
        mine = [entry for entry in entries if entry["regime"] == regime and regime != first[entry["test"]]]
        mine = [entry for entry in mine if entry["test"] in base]
        if mine:
            changed = {name: _against(own, base, low, luck) for name, own in _by(mine, "metric").items()}
            one = len(_by(entries, "metric")) == 1
            said = [text if one else f"{SHOWN.get(name, visible(name))}: {text}" for name, text in changed.items()]
            facts.append((visible(regime), " ".join(said)))
    if stuck and any(compared_with(entry, first[entry["test"]]) for entry in entries):
        facts.append(("Stuck", "A mean with a seed that never left chance compares luck in training, not regimes."))
    return lead, facts


def chance_sentences(run: Run) -> list[str]:
    """What did not learn, with the chance level, to be said before anything else; nothing where all has learnt.

    First what is above chance in no seed, then single seeds that never left chance where others of the regime did.
    """
    entries = main_entries(run)
    stuck = stuck_seeds(entries)
    some = {(regime, test) for (regime, _), tests in stuck.items() for test in tests}  # Where another seed has learnt.
    low = [entry for entry in entries if not learnt(entry) and (entry["regime"], entry["test"]) not in some]
    said = []
    if low:
        answers = {entry.get("always") for entry in low}
        answer = answers.pop() if len(answers) == 1 else None
        where = "Not above chance in any seed" if len(run.about["seeds"]) > 1 else "Not above chance"
        always = "" if answer is None else f"; every example is answered with {visible(str(answer))!r}"
        said.append(f"{where}: {_at_chance(low)}{always}.")
    if stuck:
        every = list(dict.fromkeys(entry["test"] for entry in entries))
        seeds = [f"seed {seed} of {visible(regime)} ({_tests(of, every)})" for (regime, seed), of in stuck.items()]
        named_seeds = (
            listing(seeds) if len(seeds) <= MANY else f"{len(seeds)} models; the tables have the score of every seed"
        )
        mine = [entry for entry in entries if any(entry["test"] in of for of in stuck.values())]
        said.append(f"Never left chance (chance level {chance_levels(mine)}), where other seeds did: {named_seeds}.")
    return said


def _at_chance(low: Sequence[Entry]) -> str:
    """Scores at chance, each with its level; of many how many, and the range of the levels."""
    if len(low) > MANY:
        regimes = listing([visible(name) for name in _by(low, "regime")])
        return f"{len(low)} scores ({regimes}; chance level {chance_levels(low)})"
    several = len({entry["regime"] for entry in low}) > 1
    of = [f"{named(entry['test'])}, {visible(entry['regime'])}" if several else named(entry["test"]) for entry in low]
    levels = [f"{100 * entry['mean']:.2f} (chance level {100 * entry['null']:.2f})" for entry in low]
    return listing([f"{name} {level}" for name, level in zip(of, levels, strict=True)])


def _by(entries: Iterable[Entry], key: str) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry[key], []).append(entry)
    return found


def _by_metric(entries: Iterable[Entry], tell: Callable[[Sequence[Entry]], str]) -> str:
    """What the entries of each metric read, with its title: numbers of different metrics are never in one list."""
    return "; ".join(
        f"{SHOWN.get(name, visible(name))}{_level(own)}: {tell(own)}" for name, own in _by(entries, "metric").items()
    )


def _level(own: Sequence[Entry]) -> str:
    level = chance_levels(own)
    return f" (chance level {level})" if level else ""


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
    return f"{named(test)} ({signed_points(points)})"


NOT_TESTED = "Not tested over seeds"


def _against(
    mine: Sequence[Entry], base: Mapping[str, Entry], low: set[tuple[str, str]], luck: set[tuple[str, str]]
) -> str:
    """What a regime changed, in points, test by test: helped and hurt are significant, of models above chance (`low`).

    Significant over seeds and examples, after Holm's correction over the metric's table: of forty comparisons two would
    be below 0.05 by luck. A regime that was not tested against the base (one of both has one seed) is said to be so,
    and so is one of whose seeds, or the base's, one is stuck (`luck`).
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
            said = NOT_TESTED
        elif p >= 0.05 or not round(more, 2):
            said = "No clear difference"
        own.setdefault(said, []).append((more, _gain(entry["test"], more)))
    order = ("Helped", "Hurt", "No clear difference", NOT_TESTED, "A seed is stuck", "Both at chance")
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
            p = kept.get("p_holm")
            said = "helped" if more > 0 else "hurt"
            said = "not tested over seeds" if p is None else "no clear difference" if p >= 0.05 or not more else said
            own.setdefault(said, []).append((more, _gain(entry["test"], more)))
            counts.append(min(len(kept["seeds"]), len(kept.get("base_seeds", kept["seeds"]))))
    if not counts:
        # Runs of before this was kept say nothing of it.
        return ["No seed is left in which both learnt."] if any("without_stuck" in entry for entry in mine) else []
    seeds = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    order = ("helped", "hurt", "no clear difference", "not tested over seeds")
    gains = "; ".join(f"{said}{_gains(own[said], len(mine), most=said in order[:2])}" for said in order if said in own)
    return [f"Over the seeds in which both learnt ({seeds} per test): {gains}."]


def _gains(own: Sequence[tuple[float, str]], of: int, *, most: bool) -> str:
    """Every gain with its test; of many tests how many, and the largest of those that are sure."""
    if of <= MANY or len(own) <= 3:
        return f": {listing([text for _, text in own])}"
    largest = sorted(own, key=lambda each: -abs(each[0]))[:3]
    largest_said = f", most in {listing([text for _, text in largest])}" if most else ""
    return f" in {len(own)} of {of} tests{largest_said}"


def uncertainty(run: Run) -> str:
    """How sure the words are: what was tested over what, what could be detected, and how many seeds it would take.

    Nothing of tests where nothing was compared.
    """
    seeds, entries = len(run.about["seeds"]), main_entries(run)
    compared = [entry for entry in entries if entry.get("against") or entry["p"]]
    tested = sum(len(entry["p"]) for entry in compared)
    if not compared:
        return (
            f"{seeds} seeds; ± is their standard deviation."
            if seeds > 1
            else "One seed: how far other seeds are from it is not known. Intervals are over its examples."
        )
    if tells_nothing(entries):
        return f"{NOTHING_TOLD}, so nothing is called helped or hurt."
    if not tested:
        said = [f"{untested_words(compared)}, so nothing is called helped or hurt. Intervals are over examples."]
    else:
        tables = [sum(len(entry["p"]) for entry in own) for own in _by(run_scores(run), "metric").values()]
        many = max(tables)
        sure_at = sure_words(many) if len({*tables}) == 1 else "p < 0.05 after Holm's correction over its table"
        said = [f"Helped and hurt are said of differences of means, tested over seeds and examples, at {sure_at}."]
        if sizes := detectable_points(compared):
            said.append(f"Detectable with 80 % power: {sizes} points or more.")
    plans = {name: planned_seeds(own) for name, own in _by(compared, "metric").items()}
    said += [text if len(plans) == 1 else f"{SHOWN.get(name, visible(name))}: {text}" for name, text in plans.items()]
    return " ".join(each for each in said if each)
