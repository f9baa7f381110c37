"""What a study found in words: what helped and what hurt, how sure that is, where measures peak, what papers say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from interlingua.report.geometry_page import geometry_tiles
from interlingua.report.geometry_tables import findings
from interlingua.report.panels import PANELS
from interlingua.report.papers import in_names
from interlingua.report.readings import Reading, Readings, lower_is_better, mean
from interlingua.report.runs import Run
from interlingua.report.sections import Section
from interlingua.report.study import effect_tables
from interlingua.report.study_consistency import explained as explained_in
from interlingua.report.study_geometry import geometry_runs
from interlingua.report.study_parts import (
    Block,
    Entry,
    Found,
    beside_entries,
    differences,
    entries,
    measure_blocks,
    task_runs,
)
from interlingua.report.tables import Ref, refs
from interlingua.report.transfer import SHOWN, detectable_points, gain, planned_seeds, untested_words
from interlingua.report.transfer_answer import (
    at_chance,
    base_regimes,
    chance_sentences,
    compared_with,
    main_entries,
    told,
    unlucky,
)
from interlingua.report.wording import listing, measure_name, number, variant_name, visible
from interlingua.stats import holm

LINES = 12
"""How many lines a term has in the answer; those past it are counted, and stand in the tables."""

SURE = "p < 0.05 after Holm’s correction"

AT_A_GLANCE = 4
"""How many measures of a block the sentences on top name."""

Fact = tuple[str, str | Sequence[str]]


def study_answer(run: Run) -> Section:
    """The section on top: one sentence for all comparisons, then each task, block and paper on its own."""
    title = f"The answer: {run.name}" if run.key else "The answer"
    # The section says which study it is of; its lines need not.
    parts, blocks, explained = task_runs(run), measure_blocks([replace(run, key="", name="")]), explained_in(run)
    more = [("Consistency of attributions", _cut(explained))] if explained else []
    looked = [(part, findings(part.records, part.about, part.more["found"])) for part in geometry_runs(run)]
    names = [(visible(part.name), [f"{topic}. {text}" for topic, text in said]) for part, said in looked if said]
    facts: list[Fact] = [*_tasks(parts), *_blocks(blocks), *names, *more, *_papers(run), *_sure(run, parts)]
    question = visible(str(run.about.get("about") or ""))
    first = [text for _, said in looked for _, text in said[:1]]
    leading = first[0] if first and not comparisons(parts) else lead(parts, blocks, explained)
    if not (parts or blocks or explained or looked) and effect_tables(run):
        leading = "Encoders were measured before and after their adjustment; the table has both."
    leading = " ".join([*chance_first(parts, leading), leading])
    second = measured(blocks) if comparisons(parts) and blocks else ""
    asked = f"Asked: {question}" if question else ""
    words = tuple(text for text in (_unfinished(run), leading, second, asked) if text)
    tiles = [tile for part, _ in looked[:1] for tile in geometry_tiles(part)]
    return Section(run.id("answer"), title, words, (*tiles, *_tiles(run, parts, blocks)), tuple(facts))


def _unfinished(run: Run) -> str:
    """How far a study came that was stopped, or in which steps failed; nothing of one that is done."""
    steps = run.about.get("steps") or {}
    done, every = steps.get("done", 0), sum(steps.values())
    far = f"{done} of {every} steps are done, and all that is said is of those"
    return f"This study is not finished: {far}. interlingua study status says what is left." if done < every else ""


def chance_first(parts: Sequence[Run], leading: str) -> list[str]:
    """What did not learn in the first tasks, with its chance level, unless the sentence that follows says it."""
    said = [(part, text) for part in parts for text in chance_sentences(part) if text not in leading]
    shown = [f"{visible(part.name)}: {text}" if len(parts) > 1 else text for part, text in said[:AT_A_GLANCE]]
    left = len(said) - len(shown)
    return [*shown, *([f"{left} more such sentences stand below."] if left > 0 else [])]


def comparisons(parts: Sequence[Run]) -> list[Entry]:
    """Entries of each test's first metric that were compared with the original, or what took its place."""
    return [entry for part in parts for entry, _ in _tested(part)]


def _tested(part: Run) -> list[tuple[Entry, str]]:
    """The entries that were compared with their test's base, and that."""
    base = base_regimes(part)
    every = [(entry, base[entry["test"]]) for entry in main_entries(part)]
    return [(entry, first) for entry, first in every if compared_with(entry, first)]


def _base(parts: Sequence[Run]) -> str:
    """What most is compared with, in words."""
    names = {base for part in parts for _, base in _tested(part)}
    return f"{'the ' if names == {'original'} else ''}{visible(names.pop())}" if len(names) == 1 else "the first regime"


def lead(parts: Sequence[Run], blocks: Mapping[Block, Found], explained: Sequence[str]) -> str:
    """How many comparisons with the base came out higher, lower or not clear; without any, what was measured."""
    found = comparisons(parts)
    if len(found) == 1:
        return _only(parts)
    if found:
        higher, lower = (len(_clear(parts, sign)) for sign in (1, -1))
        alone = sum(base not in entry["p"] for entry, base, _ in _told(parts))
        stuck = sum(len(unlucky(part)) for part in parts)
        chance = sum(len(at_chance(part) - unlucky(part)) for part in parts)
        rest = len(found) - higher - lower - chance - stuck - alone
        counts = {"came out higher": higher, "came out lower": lower, "came out not clear": rest}
        told_of = listing([f"{count} {name}" for name, count in counts.items() if count])
        said = f"Of {len(found)} comparisons with {_base(parts)} {told_of} ({SURE})"
        apart = {
            "are not tested over seeds": alone,
            "are of models at chance": chance,
            "have a seed that never left chance": stuck,
        }
        silent = listing([f"{count} {name}" for name, count in apart.items() if count])
        if not told_of:
            said = f"Of {len(found)} comparisons with {_base(parts)} {silent}: they say nothing"
        elif silent:
            said += f"; {silent} and say nothing of regimes"
        return f"{said}.{_without_stuck(parts)}"
    if explained:
        return explained[0]
    if blocks:
        return measured(blocks)
    return told(parts[0])[0] if parts else "Nothing has been measured yet: run the study again."


def _only(parts: Sequence[Run]) -> str:
    """The one comparison of a study as its task tells it: a count of one names neither the regime nor what it gains."""
    [(first, facts)] = [told(part) for part in parts if _tested(part)]
    return " ".join([first, *(f"{name}. {said}" for name, said in facts or [])])


def _without_stuck(parts: Sequence[Run]) -> str:
    """What comparisons that hold a stuck seed say over the seeds in which both sides learnt, corrected together."""
    kept = [
        entry["without_stuck"][base]
        for part in parts
        for luck in [unlucky(part)]
        for entry, base in _tested(part)
        if (entry["regime"], entry["test"]) in luck and base in entry.get("without_stuck", {})
    ]
    if not kept:
        return ""
    sure = [
        (each["difference"] > 0) - (each["difference"] < 0) if p < 0.05 else 0
        for each, p in _corrected([(each, each["p"]) for each in kept])
    ]
    names = {1: "higher", -1: "lower", 0: "not clear"}
    counts = [f"{sure.count(sign)} came out {name}" for sign, name in names.items() if sign in sure]
    counts += [f"{len(kept) - len(sure)} are not tested over seeds"] if len(sure) < len(kept) else []
    return f" Of these, over the seeds in which both learnt, {listing(counts)}."


Thing = TypeVar("Thing")


def _corrected(things: Sequence[tuple[Thing, float | None]]) -> list[tuple[Thing, float]]:
    """The things that have a p-value, with Holm's over all of them."""
    known = [(thing, p) for thing, p in things if p is not None]
    return [(thing, p) for (thing, _), p in zip(known, holm([p for _, p in known]), strict=True)]


def measured(blocks: Mapping[Block, Found]) -> str:
    """Of the first two blocks their first measures: from which to which model their peaks reach. Below are all."""
    said = []
    for block, lines in blocks.items():
        reach: dict[str, list[float]] = {}
        for _, readings in lines.values():
            for measure, variant, _, reading in peaks(readings):
                reach.setdefault(f"{measure_name(measure)}, {variant_name(measure, variant)}", []).append(reading.value)
        spans = [
            f"{name} {number(min(found))}{f' to {number(max(found))}' if len(found) > 1 else ''}"
            for name, found in list(reach.items())[:AT_A_GLANCE]
        ]
        said.append(f"{_called(block)}: {'; '.join(spans)}.")
    return " ".join(said[:2])


def _called(block: Block) -> str:
    return f"{visible(block[0])}{', between models' if block[1] else ''}"


def _comma(part: Run) -> str:
    return f", {visible(part.name)}" if part.name else ""


def _told(parts: Sequence[Run]) -> list[tuple[Entry, str, float]]:
    """The comparisons of models that have learnt something, in every seed: with which base, and the gain in points."""
    found = []
    for part in parts:
        dropped, own = at_chance(part) | unlucky(part), main_entries(part)
        cells = {(entry["regime"], entry["test"]): entry for entry in own}
        for entry, base in _tested(part):
            if (entry["regime"], entry["test"]) not in dropped:
                found.append((entry, base, gain(entry, cells[base, entry["test"]])))
    return found


def _clear(parts: Sequence[Run], sign: int) -> list[Entry]:
    """The comparisons with a gain of that sign, significant among all that are counted, of models that have learnt."""
    every = [each for part in parts for each in _tested(part)]
    places = {id(entry): p for entry, p in _corrected([(entry, entry["p"].get(base)) for entry, base in every])}
    return [entry for entry, _, more in _told(parts) if places.get(id(entry), 1.0) < 0.05 and sign * more > 0]


def _tiles(run: Run, parts: Sequence[Run], blocks: Mapping[Block, Found]) -> tuple[tuple[str, str, str, Ref], ...]:
    found = comparisons(parts)
    tiles: list[tuple[str, str, str, Ref]] = []
    if any(entry["p"] for entry in found):
        sure = SURE if sum(len(entry["p"]) for entry in found) > 1 else "p < 0.05"
        tiles.append((f"{len(_clear(parts, 1))} of {len(found)}", "comparisons helped", sure, None))
        tiles.append((f"{len(_clear(parts, -1))} of {len(found)}", "hurt", sure, None))
    for block, lines in blocks.items():
        for part, readings in lines.values():
            for measure, variant, layer, reading in peaks(readings)[:1]:
                at = "" if layer is None else f" at layer {readings.name(layer)}"
                remark = f"{visible(block[0])}{_comma(part)}{at}"
                name = f"{measure_name(measure)}, {variant_name(measure, variant)}"
                tiles.append((number(reading.value), name, remark, refs(reading)))
    steps = run.about.get("steps") or {}
    failed = steps.get("failed", 0) + steps.get("blocked", 0)
    seeds = len(run.about.get("seeds") or [])
    more = f"{failed} failed or blocked" if failed else f"{seeds} seed{'s' if seeds > 1 else ''}"
    records = (str(len(run.records)), f"records of {steps.get('done', 0)} steps", more, None)
    return (*tiles[:3], records)


def peaks(found: Readings) -> list[tuple[str, str, int | None, Reading]]:
    """Each measure's first variant at the layer of its highest mean over pairs (of errors and distances its lowest)."""
    made = []
    for measure in found.measures():
        known = [variant for name, variants, *_ in PANELS if name == measure for variant in variants]
        every = found.variants(measure)
        variant = next((each for each in known if each in every), every[0])
        layers: list[int | None] = [*found.layers(measure, variant)] or [None]
        by_layer = {at: mean(pairs.values()) for at in layers if (pairs := found.at(measure, variant, at))}
        sign = -1.0 if lower_is_better(next(iter(by_layer.values())).best, measure, variant) else 1.0
        layer = max(by_layer, key=lambda at: (sign * by_layer[at].value, -(at or 0)))
        made.append((measure, variant, layer, by_layer[layer]))
    return made


def _peaks(found: Readings) -> Iterator[str]:
    for measure, variant, layer, reading in peaks(found):
        null = "" if reading.null is None else f", without a relation {number(reading.null)}"
        at = "" if layer is None else f" at layer {found.name(layer)}"
        which = "" if layer is None else "lowest " if lower_is_better(reading.best, measure, variant) else "highest "
        yield f"{measure_name(measure)}, {variant_name(measure, variant)}: {which}{number(reading.value)}{at}{null}"


def _tasks(parts: Sequence[Run]) -> Iterator[Fact]:
    for part in parts[:LINES]:
        first, facts = told(part)
        yield visible(part.name), [first, *(f"{name}. {said}" for name, said in facts or [])]
    if len(parts) > LINES:
        yield "More tasks", f"{len(parts) - LINES} more stand in the tables."


def _blocks(blocks: Mapping[Block, Found]) -> Iterator[Fact]:
    for block, lines in blocks.items():
        said = [
            f"{f'{visible(part.name)}. ' if part.name else ''}{each}."
            for part, found in lines.values()
            for each in _peaks(found)
        ]
        yield _called(block), _cut(said)


def _cut(said: Sequence[str]) -> list[str]:
    rest = [f"{len(said) - LINES} more stand in the tables."] if len(said) > LINES else []
    return [*said[:LINES], *rest]


def _papers(run: Run) -> Iterator[Fact]:
    beside = beside_entries(run)
    if not beside:
        return
    found = list(differences(beside))
    same = sum(theirs * ours > 0 for _, theirs, ours in found)
    signs = f" Our differences to the original have the paper’s sign in {same} of {len(found)}." if found else ""
    silent = sum(each["silent"] for each in beside)
    signs += f" {silent} of ours tell nothing: a seed never left chance, or both are at chance." if silent else ""
    other = sum(each["encoder"] != each["paper_encoder"] for each in beside)
    apart = f" {other} are of another encoder than the paper’s: compare signs there, not values." if other else ""
    title = in_names(visible(str(run.about.get("paper") or "The paper")))
    yield title, f"{len(beside)} of our numbers stand beside its own.{signs}{apart}"


def _sure(run: Run, parts: Sequence[Run]) -> Iterator[Fact]:
    said = []
    seeds = len(run.about.get("seeds") or [])
    if entries(run, "scores"):
        said.append(f"{seeds} seeds" if seeds > 1 else "one seed: how far others are from it is not known")
    compared = comparisons(parts)
    if any(entry["p"] for entry in compared):
        sizes = detectable_points(compared)
        power = f"; detectable with 80 % power: {sizes} points or more" if sizes else ""
        said.append(f"differences of means are tested over seeds and examples{power}")
    elif compared:
        why = untested_words(compared)
        said.append(f"{why[0].lower()}{why[1:]}, and nothing is called helped or hurt")
    by_metric: dict[str, list[Entry]] = {}
    for entry in compared:
        by_metric.setdefault(entry["metric"], []).append(entry)
    plans = {SHOWN.get(name, visible(name)): planned_seeds(own) for name, own in by_metric.items()}
    said += [f"{name}: {text.rstrip('.')}" for name, text in plans.items() if text]
    steps = run.about.get("steps") or {}
    counted = ", ".join(f"{count} {visible(name)}" for name, count in steps.items() if count)
    said.append(f"steps: {counted or 'none'}; records: {len(run.records)}")
    whole = "; ".join(said)
    yield "How sure", f"{whole[0].upper()}{whole[1:]}."
