"""What a geometry study found, as tables in the manner of papers/003 and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import variance
from typing import Any

from scipy import special

from interlingua.report.evidence import association_said
from interlingua.report.papers import PAPERS
from interlingua.report.runs import Run
from interlingua.report.tables import Ref, Table, Told
from interlingua.report.wording import language_name, listing, number, p_value, percent, visible
from interlingua.stats import Z95, Association

Found = Mapping[str, Any]
STATES = ("before", "after")
LABELS = ("language", "type")
_NO_TRANSFER = "No transfer"
_NAMED = 3  # pairs that are named where many are alike
_PAPER = PAPERS["papers/003"].name


def sets_of(records: Sequence[Found]) -> list[str]:
    """The names of the sets of entities that were looked at, in order: the test part, then what is about a name."""
    return list(dict.fromkeys(each["corpus"] for each in records if each["measure"] == "clusters" and "corpus" in each))


def layers_of(records: Sequence[Found]) -> list[int]:
    """The layers that were looked at."""
    return sorted({each["layer"] for each in records if each["measure"] == "parallel-cosine"})


def last_layer(records: Sequence[Found]) -> int | None:
    """The last layer that was looked at, the output; None before the first look."""
    return next(reversed(layers_of(records)), None)


def places_of(records: Sequence[Found], first: int = 0) -> dict[int, int]:
    """The place of each record on a page where those of the run begin at `first`, by the record's `id()`."""
    return {id(record): place for place, record in enumerate(records, first)}


def looked(records: Sequence[Found], measure: str, variant: str, state: str, corpus: str) -> Iterator[Found]:
    """The records of one variant in one state of the model, of one set, at all layers."""
    return (
        each
        for each in records
        if (each["measure"], each["variant"], each.get("corpus")) == (measure, variant, corpus)
        and (each.get("details") or {}).get("state") == state
    )


def cosine_cells(
    records: Sequence[Found], state: str, corpus: str, layer: int | None, variant: str = "raw"
) -> dict[tuple[str, str], Found]:
    """The cosine records of every pair at a layer, both ways round."""
    found = {}
    for each in looked(records, "parallel-cosine", variant, state, corpus):
        if each["layer"] == layer:
            found[each["source"], each["target"]] = found[each["target"], each["source"]] = each
    return found


def cluster_value(records: Sequence[Found], variant: str, state: str, corpus: str, layer: int | None) -> Found | None:
    """The record of silhouette or purity at a layer, or None."""
    return next((each for each in looked(records, "clusters", variant, state, corpus) if each["layer"] == layer), None)


def places_on_page(run: Run) -> dict[int, int]:
    """The place of each record of a run on its page, by the record's `id()`."""
    return {id(record): place for place, record in run.numbered()}


def learnt_records(records: Sequence[Found], found: Found) -> list[Found]:
    """The records without the tests and the curves of fine-tunings that did not learn the task."""
    failed = {(each["language"], each["seed"]) for each in found.get("not_learnt") or ()}
    return [
        each
        for each in records
        if each["measure"] not in ("pairwise", "similarity") or (each["source"], each.get("seed")) not in failed
    ]


def chance_level(record: Found) -> float:
    """The share of wrong sentences by chance: of answers dealt to other sentences or of no tag, whichever is lower."""
    levels = (record.get("null"), (record.get("details") or {}).get("untagged"))
    return min((level for level in levels if level is not None), default=1.0)


def states_of(run: Found, found: Found) -> tuple[str, ...]:
    """The states that say something: the one after fine-tuning does not where the task was not learnt."""
    failed = found.get("not_learnt") or ()
    seeds = [each["seed"] for each in failed if each["language"] == run["source"]]
    # What is looked at is the model of the first seed.
    first = run.get("seed") or 0
    return STATES[:1] if first in seeds or (None in seeds) else STATES


def wrong_cells(records: Sequence[Found]) -> dict[tuple[str, str], float]:
    """The share of wrong sentences for each language of training and of testing, averaged over seeds."""
    found = wrong_records(records)
    return {pair: sum(each["value"] for each in its) / len(its) for pair, its in found.items()}


def wrong_places(records: Sequence[Found], places: Mapping[int, int]) -> dict[tuple[str, str], tuple[int, ...]]:
    """The places of the records behind each share of `wrong_cells`: one per seed."""
    return {pair: tuple(places[id(each)] for each in its) for pair, its in wrong_records(records).items()}


def wrong_records(records: Sequence[Found]) -> dict[tuple[str, str], list[Found]]:
    """The records of wrong sentences by language of training and of testing, one per seed."""
    found: dict[tuple[str, str], list[Found]] = {}
    for each in records:
        if (each["measure"], each["variant"]) == ("pairwise", "wrong/sentence"):
            found.setdefault((each["source"], each["target"]), []).append(each)
    return found


def all_tables(records: Sequence[Found], run: Found, found: Found, *, first: int = 0) -> list[Table]:
    """Every table there is something for; `found` is what was made of several records (`studies.concluding`).

    `first` is the place of the first record on the page, for what is behind each cell.
    """
    failed = len(states_of(run, found)) == 1
    made = [*_cosines(records, run, first, failed=failed), *_clusters(records, first, failed=failed)]
    tables = (_pieces(run), _pairwise(records, run, found, first), _groups(found), _spelling(found))
    made += [table for table in tables if table]
    return made


def _cosines(records: Sequence[Found], run: Found, first: int, *, failed: bool) -> Iterator[Table]:
    last, places = last_layer(records), places_of(records, first)
    codes = run["languages"]
    for corpus in sets_of(records):
        for state in STATES:
            cells = cosine_cells(records, state, corpus, last)
            if not cells:
                continue
            most = {
                one: max((cells[one, own] for own in codes if own != one), key=lambda c: c["null"]) for one in codes
            }
            rows = tuple(
                (
                    visible(one),
                    *(1.0 if one == other else cells[one, other]["value"] for other in codes),
                    most[one]["null"],
                )
                for one in codes
            )
            behind = tuple(
                (
                    None,
                    *(None if one == other else places[id(cells[one, other])] for other in codes),
                    places[id(most[one])],
                )
                for one in codes
            )
            yield Table(
                f"cosine-{_slug(corpus)}-{state}",
                f"Average cosine of parallel entities, {visible(corpus)}, {_state(state, run)}"
                f"{' (task not learnt)' if failed and state != STATES[0] else ''}",
                f"Layer {last}, the output ({_PAPER}, Table 2). 'shuffled' is the largest that pairs of different "
                "entities of the row's language reach: only what is above it says anything.",
                ("", *(visible(code) for code in codes), "shuffled"),
                rows,
                behind,
            )


def _clusters(records: Sequence[Found], first: int, *, failed: bool) -> Iterator[Table]:
    layers = [layer for layer in layers_of(records) if layer in (0, last_layer(records))]
    places = places_of(records, first)
    rows: list[tuple[str | int | float | None, ...]] = []
    behind: list[tuple[Ref, ...]] = []
    for corpus in sets_of(records):
        for layer in layers:
            for label in LABELS:
                for variant in ("silhouette", "purity"):
                    sides = [cluster_value(records, f"{variant}/{label}", state, corpus, layer) for state in STATES]
                    if any(sides):
                        cells = [None if side is None else side["value"] for side in sides]
                        nulls = [None if side is None else side["null"] for side in sides]
                        count = next(side.get("n") for side in sides if side is not None)
                        rows.append((visible(corpus), layer, f"{variant} by {label}", count, *cells, *nulls))
                        own = [None if side is None else places[id(side)] for side in sides]
                        behind.append((None, None, None, None, *own, *own))
    if rows:
        yield Table(
            "clusters",
            "How far entities lie together",
            "By cosine, of the vectors themselves, not of the maps. Purity is the share of the 10 nearest that have "
            "the same label. n: the entities. Shuffled: what labels dealt at random give, before and after."
            f"{' The fine-tuning did not learn the task.' if failed else ''}",
            ("entities", "layer", "what", "n", *STATES, "shuffled before", "shuffled after"),
            tuple(rows),
            tuple(behind),
        )


def _pieces(run: Found) -> Table | None:
    pieces = run.get("pieces") or {}
    rows = tuple((visible(code), len(cut), " ".join(visible(piece) for piece in cut)) for code, cut in pieces.items())
    title = f"How the tokenizer cuts {visible(str(run['about']))}" if rows else ""
    return Table("pieces", title, f"Sub-tokens ({_PAPER}, §3.2).", ("", "pieces", "cut"), rows) if rows else None


def _pairwise(records: Sequence[Found], run: Found, found: Found, first: int) -> Table | None:
    cells, places = wrong_cells(records), wrong_places(records, places_of(records, first))
    codes = run["languages"]
    trained = [code for code in codes if any(code == source for source, _ in cells)]
    rows = tuple(
        (visible(source), *(cells.get((source, code)) for code in codes), _mean_of_others(cells, source))
        for source in trained
    )
    behind = tuple(
        (
            None,
            *(places.get((source, code)) for code in codes),
            tuple(at for (one, other), its in places.items() if one == source != other for at in its),
        )
        for source in trained
    )
    heads = ("trained on", *(visible(code) for code in codes), "others")
    caption = (
        f"The share of test sentences with a wrong tag ({_PAPER}, §4.2, counts them); 'others' without the language "
        "of training. No name and no context of the test sentences was trained on."
    )
    failed = dict.fromkeys(language_name(each["language"], run) for each in found.get("not_learnt") or ())
    if failed:
        caption += f" The task was not learnt when trained on {listing(list(failed))} (some seed or all)."
    title = "Wrong sentences, by language of training"
    return Table("pairwise", title, caption, heads, rows, behind) if rows else None


def _mean_of_others(cells: Mapping[tuple[str, str], float], source: str) -> float | None:
    others = [value for (one, other), value in cells.items() if one == source and other != source]
    return sum(others) / len(others) if others else None


def _groups(found: Found) -> Table | None:
    together = found.get("groups")
    if not together:
        return None
    codes, matrix, null = together["languages"], together["matrix"], together["null"]
    rows = tuple(
        (
            visible(code),
            chr(ord("A") + together["groups"][at]),
            *matrix[at],
            max(null[at][other] for other in range(len(codes)) if other != at),
        )
        for at, code in enumerate(codes)
    )
    caption = (
        f"Pearson's r of the changes of the average cosine over {together['span']} steps, all fine-tunings end to end "
        f"({_PAPER}, Fig. 4); groups by average linkage. 'chance' is the largest mean |r| of the language's curve with "
        "another's shifted in time."
    )
    heads = ("", "group", *(visible(code) for code in codes), "chance")
    if len(codes) < 3:  # Two are cut into two groups whatever they do.
        caption = caption.replace("; groups by average linkage", "")
        heads, rows = (heads[0], *heads[2:]), tuple((row[0], *row[2:]) for row in rows)
    return Table("groups", "Languages that move together", caption, heads, rows)


def _told_p(p: float) -> Told:
    return Told(p_value(p).removeprefix("p = ").removeprefix("p "), {"": p})


def _spelling(found: Found) -> Table | None:
    scatter = found.get("scatter")
    if not scatter:
        return None
    rows = tuple(
        (
            name,
            scatter[key]["value"],
            scatter[key]["low"],
            scatter[key]["high"],
            _told_p(scatter[key]["p"]),
            len(scatter["points"]),
            scatter[key]["n"],
        )
        for name, key in (("all pairs", "rho"), ("script held", "within"))
        if scatter.get(key)
    )
    caption = (
        f"Over pairs of languages ({_PAPER}, Fig. 5). Pairs share languages: p is Mantel's, from permuted languages, "
        "and the interval a jackknife over languages. 'Script held' takes away what one script or two explain."
    )
    heads = ("correlation", "ρ", "low", "high", "p", "pairs", "languages")
    return Table("spelling", "Wrong sentences against the spelling of names (TNLD)", caption, heads, rows)


def findings(records: Sequence[Found], run: Found, found: Found) -> list[tuple[str, str]]:
    """What was found, in words: a topic and a sentence or two each; only what was measured.

    Where a fine-tuning did not learn the task that is said first, and nothing is concluded from it.
    """
    learnt = learnt_records(records, found)
    carried = _transfer(learnt, run)
    told = [_not_learnt(found, run), _clustering(records, run, found), _nearest(records, run, found), carried]
    if carried is not None and carried[0] == _NO_TRANSFER:
        told.insert(1, told.pop())
    told += [_spelled(found, run), _moving(found, run)]
    return [each for each in told if each is not None]


def _not_learnt(found: Found, run: Found) -> tuple[str, str] | None:
    """Which fine-tunings did not learn the task, with the level of chance; None where all did."""
    failed = found.get("not_learnt") or []
    if not failed:
        return None
    lines = [
        f"{language_name(each['language'], run)}, seed {each['seed']}: {percent(each['wrong'])} of "
        f"{each['n']:,} test sentences wrong, {percent(each['chance'])} by chance"
        for each in failed
    ]
    of_source = len(states_of(run, found)) == 1
    start = "The task was not learnt, not even in the language of training" if of_source else (
        "The task was not learnt in the language of training by all models"
    )  # fmt: skip
    rest = (
        f"What follows describes the model before fine-tuning; of fine-tuning on {language_name(run['source'], run)} "
        "nothing can be said"
        if of_source
        else "These are left out of all that follows"
    )
    return "Not learnt", f"{start} ({'; '.join(lines)}). {rest}: train longer (--epochs), or at a higher rate."


ONE_FINE_TUNING = "After fine-tuning is one model: how far those of other seeds are from it was not looked at."


def _clustering(records: Sequence[Found], run: Found, found: Found) -> tuple[str, str] | None:
    corpora, last, states = sets_of(records), last_layer(records), states_of(run, found)
    if not corpora:
        return None
    parts, count = [], 0
    for label in LABELS:
        sides = [cluster_value(records, f"purity/{label}", state, corpora[0], last) for state in states]
        if sides[0] is None:
            continue
        after = sides[1] if len(sides) > 1 else None
        count = sides[0].get("n") or count
        shown = f"{_with_ends(sides[0])} have its {label}"
        if after is not None:
            shown += f", {_with_ends(after)} after fine-tuning{_unclear(sides[0], after)}"
        beyond = "" if any(above_shuffled(side) for side in sides if side is not None) else ": not above it"
        parts.append(f"{shown} ({percent(sides[0]['null'])} by chance{beyond})")
    if not parts:
        return None
    names = f" of {count:,}" if count else ""
    one = f" {ONE_FINE_TUNING}" if len(states) > 1 else ""
    return "Clusters", f"Of the 10 nearest of each entity{names} at the output layer {'; '.join(parts)}.{one}"


def above_shuffled(record: Found) -> bool:
    """Whether a share's 95 % interval lies above what labels dealt at random give."""
    low = record["value"] if record.get("low") is None else record["low"]
    return record.get("null") is None or bool(low > record["null"])


def _with_ends(record: Found) -> str:
    """A share with its 95 % interval."""
    if record.get("low") is None or record.get("high") is None:
        return percent(record["value"])
    return f"{percent(record['value'])} ({percent(record['low'])} to {percent(record['high'])})"


def _unclear(before: Found, after: Found) -> str:
    """That two numbers are not told apart, where their intervals meet; nothing where they lie apart."""
    ends = [each[end] for each in (before, after) for end in ("low", "high") if each.get(end) is not None]
    if len(ends) < 4 or ends[2] > ends[1] or ends[3] < ends[0]:
        return ""
    return ", no clear change"


def _nearest(records: Sequence[Found], run: Found, found: Found) -> tuple[str, str] | None:
    last, corpus = last_layer(records), next(iter(sets_of(records)), None)
    states = states_of(run, found)
    looked_at = [state for state in states if corpus and cosine_cells(records, state, corpus, last)]
    if not looked_at or corpus is None:
        return None
    state = looked_at[-1]
    cells = cosine_cells(records, state, corpus, last)
    pairs = [each for (one, _), each in cells.items() if each["source"] == one]
    pairs.sort(key=lambda each: each["null"] - each["value"])
    best, worst = pairs[0], pairs[-1]

    def told(each: Found) -> str:
        names = f"{language_name(each['source'], run)} and {language_name(each['target'], run)}"
        return f"{names} ({number(each['value'], 3)}, {number(each['null'], 3)} for shuffled pairs)"

    if not any(map(above_shuffled, pairs)):
        where = "in any pair of languages" if len(pairs) > 1 else f"in {told(best)}"
        ends = f": {told(best)} and {told(worst)} are the extremes" if len(pairs) > 1 else ""
        said = f"Parallel entities are not shown to be nearer than pairs of different names {where}"
        return "Cosine", f"{said}, {_state(state, run)}{ends}."
    if len(pairs) == 1:
        return "Cosine", f"Parallel entities of {told(best)}, {_state(state, run)}."
    sides = [(each["value"] - each["null"], _error([each])) for each in (best, worst)]
    if not _apart(*sides, of=len(pairs)):
        said = f"{told(best)} and {told(worst)} are the extremes, no further apart than the extremes of equal pairs"
        return "Cosine", f"No pair of languages stands out by its parallel entities, {_state(state, run)}: {said}."
    return (
        "Cosine",
        f"Parallel entities stand out most between {told(best)}, least between {told(worst)}, {_state(state, run)}.",
    )


def _error(its: Sequence[Found]) -> float | None:
    """The standard error of a mean over seeds: that of the sentences, which all seeds share, and that of the seeds."""
    if any(each.get("low") is None or each.get("high") is None for each in its):
        return None
    wide = sum(each["high"] - each["low"] for each in its) / len(its)
    seeds = variance([each["value"] for each in its]) / len(its) if len(its) > 1 else 0.0
    return math.sqrt((wide / 2 / Z95) ** 2 + seeds)


def _apart(one: tuple[float, float | None], other: tuple[float, float | None], *, of: int) -> bool:
    """Whether the extremes of so many numbers, each with its error, differ: by Bonferroni over all pairs of them.

    The extremes of many equal numbers lie apart: of 110 with one error, further than two 95 % intervals reach.
    """
    if one[1] is None or other[1] is None:
        return False
    limit = -float(special.ndtri(0.05 / (of * (of - 1))))
    return abs(one[0] - other[0]) > limit * math.hypot(one[1], other[1])


def _transfer(records: Sequence[Found], run: Found) -> tuple[str, str] | None:
    """Errors in other languages than that of training; of pairs at chance no best is told and no worst."""
    cells, every = wrong_cells(records), wrong_records(records)
    others = {pair: value for pair, value in cells.items() if pair[0] != pair[1]}
    if not others:
        return None
    own = [value for (one, other), value in cells.items() if one == other]
    within = f"within a language {percent(sum(own) / len(own))} are wrong" if own else ""

    def end(pair: tuple[str, str], which: str) -> float:
        return float(sum(each[which] for each in every[pair]) / len(every[pair]))

    levels = {pair: sum(map(chance_level, every[pair])) / len(every[pair]) for pair in others}
    lost = [pair for pair in others if end(pair, "high") >= levels[pair]]

    def told(pair: tuple[str, str]) -> str:
        chance = f", {percent(levels[pair])} by chance" if pair in lost else ""
        return f"{language_name(pair[0], run)} to {language_name(pair[1], run)} ({percent(others[pair])} wrong{chance})"

    named = f"{'; '.join(f'from {told(pair)}' for pair in lost[:_NAMED])}{' and others' * (len(lost) > _NAMED)}"
    if len(lost) == len(others):
        said = f"Nothing is carried over to another language: all {len(lost)} pairs" if len(lost) > 1 else (
            "Nothing is carried over to another language: the one pair"
        )  # fmt: skip
        verb = "are" if len(lost) > 1 else "is"
        return _NO_TRANSFER, f"{said} {verb} no better than chance, {named}; {within}."
    if len(others) < 3:  # Of two there is no best: they differ by chance at least.
        each = ", ".join(f"from {told(pair)}" for pair in others)
        return "Transfer", f"{each[:1].upper()}{each[1:]}; {within}."
    rest = {pair: value for pair, value in others.items() if pair not in lost}
    best, worst = min(rest, key=lambda pair: rest[pair]), max(rest, key=lambda pair: rest[pair])
    chance = f" No better than chance: {len(lost)} of {len(others)} pairs ({named})." if lost else ""
    errors = {pair: (rest[pair], _error(every[pair])) for pair in rest}
    if len(rest) < 2 or not _apart(errors[best], errors[worst], of=len(rest)):
        said = f"No pair is clearly better than another: from {told(best)} to {told(worst)} is within the error"
        if len(rest) < 2:
            said = f"Above chance only from {told(best)}"
        return "Transfer", f"{said}; {within}.{chance}"
    # Others may be as good: the lowest of many is not alone.
    alike = sum(not _apart(errors[best], errors[pair], of=len(rest)) for pair in rest if pair != best)
    also = f", {alike} other pairs not clearly worse" if alike > 1 else ", one other pair not clearly worse" * alike
    least = "worst from" if not lost else "worst above chance from"
    return "Transfer", f"Best from {told(best)}{also}; {least} {told(worst)}; {within}.{chance}"


def _spelled(found: Found, run: Found) -> tuple[str, str] | None:
    scatter = found.get("scatter")
    if not scatter:
        return None
    without = [language_name(code, run) for code in scatter.get("left_out") or ()]
    left = f" Without {listing(without)}, where the task was not learnt." if without else ""
    said = f"Errors and the distance of names: {association_said(Association(**scatter['rho']))}"
    return "Spelling", f"{said}{within_script(scatter)}{left}"


def within_script(scatter: Found) -> str:
    """What is left of the correlation once it is known which pairs share a script; nothing where all or none do."""
    held = scatter.get("within")
    return f" With the script held: {association_said(Association(**held))}" if held else ""


def _moving(found: Found, run: Found) -> tuple[str, str] | None:
    together = found.get("groups")
    if not together:
        return None
    names = [language_name(code, run) for code in together["languages"]]
    if len(names) < 3:  # Two are cut into two groups whatever they do.
        r, chance = number(together["matrix"][0][1]), number(together["null"][0][1])
        said = (
            f"In fine-tuning the spaces of {' and '.join(names)} change with r = {r}, their curves shifted in time "
            f"with {chance}."
        )
        return "Moving together", said
    member, count = together["groups"], range(len(names))
    pairs = [(i, j) for i in count for j in count if i < j]
    every = [together["matrix"][i][j] for i, j in pairs]
    nulls = [together["null"][i][j] for i, j in pairs]
    told = (
        f"Changes of all pairs of languages in fine-tuning correlate with r = {number(min(every))} to "
        f"{number(max(every))}; curves shifted in time with {number(min(nulls))} to {number(max(nulls))} on average"
    )
    if "p" in together:
        sure = sum(together["p"][i][j] < 0.05 for i, j in pairs)
        told += (
            f", and {sure} of {len(pairs)} pairs are above 95 % of the shifts, where chance alone gives about "
            f"{number(0.05 * len(pairs), 1)}"
        )
    # Groups are made of any matrix: how far apart they are says whether they mean anything.
    shown = " | ".join(", ".join(names[at] for at in count if member[at] == group) for group in sorted(set(member)))
    across = [together["matrix"][i][j] for i, j in pairs if member[i] != member[j]]
    inside = [together["matrix"][i][j] for i, j in pairs if member[i] == member[j]]
    if across and inside:
        ends = [f"{number(min(values))} to {number(max(values))}" for values in (across, inside)]
        told += (
            f". A clustering, which cuts any matrix, cuts {shown}: r = {ends[0]} across, {ends[1]} within"
            f"{'; even across them all go together' if min(every) > 0.5 else ''}"
        )
    return "Moving together", f"{told}."


def _state(state: str, run: Found) -> str:
    return "before fine-tuning" if state == STATES[0] else f"after fine-tuning on {language_name(run['source'], run)}"


def _slug(corpus: str) -> str:
    return "about" if corpus.startswith("about ") else "test"
