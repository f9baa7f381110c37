"""What a page shows of each kind of run, and one page of any runs: a comparison on top, then sections by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from interlingua.report.answer import CENTRED, RAW
from interlingua.report.audit import audit_sections, build_page
from interlingua.report.comparison import Numbers, alignment_and_transfer, compared
from interlingua.report.evidence import above_null, peak
from interlingua.report.explain_page import explain_page, explain_sections
from interlingua.report.explain_picture import aspects, selected, short_names
from interlingua.report.geometry_page import geometry_page, geometry_sections
from interlingua.report.geometry_tables import last_layer, learnt_records, sets_of, states_of
from interlingua.report.page import Page, render_page
from interlingua.report.readings import HEADLINE, Reading, Record, mean
from interlingua.report.runs import Run
from interlingua.report.sections import Section
from interlingua.report.study_answer import peaks
from interlingua.report.study_geometry import geometry_runs
from interlingua.report.study_page import study_page, study_sections
from interlingua.report.study_parts import consistency_points, measure_blocks, task_runs
from interlingua.report.transfer import SHOWN, interval, learnt, metrics
from interlingua.report.transfer_page import behind_entry, entry_records, transfer_page, transfer_sections
from interlingua.report.wording import listing, measure_name, variant_name, visible
from interlingua.stats import mean_interval


@dataclass(frozen=True)
class RunKind:
    """A kind of run: the page of one, the sections that show several, and the numbers by which two are compared."""

    page: Callable[[Run], str]
    sections: Callable[[Sequence[Run]], list[Section]]
    numbers: Callable[[Run], Numbers]


def audit_page(run: Run) -> str:
    """The page of an audit."""
    return build_page(run.records, run.about, run.more.get("points"))


def audits(runs: Sequence[Run]) -> list[Section]:
    """The sections of audits."""
    return audit_sections({run.key: (run, run.readings()) for run in runs})


def audit_numbers(run: Run) -> Numbers:
    """An audit's means over pairs at its best layer."""
    found = run.readings()
    key, layer = found.headline(), found.best_layer()
    wanted = {
        "retrieval, as is": ("retrieval", RAW),
        "retrieval, language means removed": ("retrieval", CENTRED),
        "CKA, debiased": ("cka", "debiased"),
        "after a fitted rotation": ("procrustes", "p@1/mapped"),
        "related words nearer (AUC)": ("separation", "auc/cosine"),
        "mean cosine of unrelated words": ("isotropy", "average-cosine"),
    }
    means = {name: mean(pairs.values()) for name, key in wanted.items() if (pairs := found.at(*key, layer))}
    numbers = {name: _or_chance(reading) if "retrieval" in name else reading for name, reading in means.items()}
    top = peak(found)
    best = (
        {"best layer": Reading(float(top.layer), details={"tied": list(top.rivals)})}
        if top is not None and top.stands_out
        else {}
    )
    pools = {"candidates of retrieval": HEADLINE[0], "candidates of the rotation": wanted["after a fitted rotation"]}
    counts = {
        name: Reading(float(count)) for name, its in pools.items() if (count := found.pool(*its, layer)[0]) is not None
    }
    each = {
        f"retrieval of {visible(code)}": _or_chance(reading)
        for code in found.languages
        if key is not None and key[0] == "retrieval" and (reading := found.language(*key, layer, code))
    }
    return best | counts | numbers | each


def _or_chance(reading: Reading) -> Reading:
    """The reading, which says so where it is no better than chance."""
    return replace(reading, details={**reading.details, "at_chance": not above_null(reading)})


def transfer_numbers(run: Run) -> Numbers:
    """Means over seeds of every metric that is shown, regime and test."""
    scores, behind = run.more.get("scores") or [], entry_records(run)
    numbers = {}
    for metric in metrics(scores) if scores else []:
        for entry in scores:
            if entry["metric"] == metric:
                name = f"{SHOWN.get(metric, visible(metric))}, {visible(entry['regime'])}, {visible(entry['test'])}"
                found = behind_entry(behind, entry)
                records = found if isinstance(found, tuple) else ()
                low, high = _bounds(entry)
                about = {"seeds": len(entry.get("seeds") or run.about["seeds"]), "at_chance": not learnt(entry)}
                numbers[name] = Reading(entry["mean"], entry["null"], low, high, entry["n"], about, records)
    return numbers


def _bounds(entry: Mapping[str, object]) -> tuple[float | None, float | None]:
    low, high = interval(entry)
    return (None, None) if entry["deviation"] is None and low == high else (low, high)


def explain_numbers(run: Run) -> Numbers:
    """Consistency and performance of every language but the source, for every model: each was trained once."""
    places = {id(record): place for place, record in enumerate(run.records, run.first)}
    names = short_names(run.about)
    several = len(run.about["models"]) > 1
    scored = selected(run.records, "task", run.about["metric"])
    low = {key for key, each in scored.items() if not (each.get("details") or {}).get("chance", {}).get("above", True)}
    wanted = [("consistency", aspect) for aspect in aspects(run.records)] + [("task", run.about["metric"])]
    return {
        f"{names.get(model, visible(model)) + ', ' if several else ''}"
        f"{visible(variant) if measure == 'task' else 'consistency, ' + visible(variant)}, {visible(code)}": Reading(
            each["value"],
            each["null"],
            each["low"],
            each["high"],
            each.get("n") or 0,
            {"at_chance": (model, source, code) in low, "seeds": 1, "weights": _weights(each)},
            (places[id(each)],),
        )
        for measure, variant in wanted
        for (model, source, code), each in selected(run.records, measure, variant).items()
        if code != source
    }


def _weights(record: Record) -> str | None:
    """What tells a record's model from others: its digest."""
    told = (record.get("digests") or {}).get("model")
    return None if told is None else str(told)


def geometry_numbers(run: Run) -> Numbers:
    """Clusters and the mean cosine of the test part at the output, before and after, and errors by what was trained on.

    Errors in other languages are a mean over them, as the cosine is over pairs. What was fine-tuned tells its seeds,
    and nothing is told of the model after a fine-tuning that did not learn the task.
    """
    last, corpus = last_layer(run.records), next(iter(sets_of(run.records)), None)
    told = run.more.get("found") or {}
    states = states_of(run.about, told)
    learnt = {id(record) for record in learnt_records(run.records, told)}
    found: dict[str, list[Reading]] = {}
    by_seed: dict[str, dict[int | None, list[float]]] = {}
    failed: set[str] = set()
    for place, each in enumerate(run.records, run.first):
        null, low, high = (each.get(key) for key in ("null", "low", "high"))
        reading = Reading(each["value"], null, low, high, each.get("n") or 0, {}, (place,))
        state = (each.get("details") or {}).get("state")
        if each["measure"] == "pairwise":
            where = "in it" if each["source"] == each["target"] else "in others"
            name = f"wrong sentences, trained on {visible(each['source'])}, {where}"
            found.setdefault(name, []).append(reading)
            if id(each) not in learnt:
                failed.add(name)
            by_seed.setdefault(name, {}).setdefault(each.get("seed"), []).append(reading.value)
        elif (each.get("layer"), each.get("corpus")) == (last, corpus) and state in states:
            if each["variant"] == "centred":
                continue
            what = each["variant"].replace("/", " by ") if each["measure"] == "clusters" else "cosine of translations"
            name = f"{visible(what)}, {state}"
            found.setdefault(name, []).append(reading)
            if state == "after":
                by_seed.setdefault(name, {}).setdefault(each.get("seed"), []).append(reading.value)
    errors_last = sorted(found, key=lambda name: name.startswith("wrong"))  # Steps are in the order they were run in.
    return {
        name: _counting_seeds(mean(found[name]), by_seed.get(name, {}), at_chance=name in failed)
        for name in errors_last
    }


def _counting_seeds(reading: Reading, by_seed: Mapping[int | None, Sequence[float]], *, at_chance: bool) -> Reading:
    """The reading of fine-tuned models with their number; of several its interval is at least that over seeds.

    `at_chance` says that one of them did not learn: then its errors are no better than chance, and so is a mean of it.
    """
    if not by_seed:
        return reading
    low, high = reading.low, reading.high
    if len(by_seed) > 1 and low is not None and high is not None:
        ends = mean_interval(np.array([np.mean(values) for values in by_seed.values()]))
        low, high = min(low, ends[0]), max(high, ends[1])
    return replace(reading, low=low, high=high, details={"seeds": len(by_seed), "at_chance": at_chance})


def study_numbers(run: Run) -> Numbers:
    """A study's scores, its measures at their best layers, and its consistencies."""
    numbers = {f"{part.name}: {name}": each for part in task_runs(run) for name, each in transfer_numbers(part).items()}
    for (called, _), lines in measure_blocks([replace(run, key="", name="")]).items():
        for part, found in lines.values():
            for measure, variant, _, reading in peaks(found):
                named = ", ".join(each for each in (visible(called), visible(part.name)) if each)
                numbers[f"{named}: {measure_name(measure)}, {variant_name(measure, variant)}"] = reading
    for part in geometry_runs(run):
        numbers |= {f"{visible(part.name)}: {name}": each for name, each in geometry_numbers(part).items()}
    for (model, task, regime, source, aspect), points in consistency_points(run).items():
        of = f"{model}, {task}, {regime}"
        for code, value, _, behind in points:
            if code != source:
                places = behind if isinstance(behind, tuple) else ()
                numbers[visible(f"{of}: consistency, {aspect}, {source}–{code}")] = Reading(value, records=places)
    return numbers


KINDS = {
    "audit": RunKind(audit_page, audits, audit_numbers),
    "transfer": RunKind(transfer_page, transfer_sections, transfer_numbers),
    "explain": RunKind(explain_page, explain_sections, explain_numbers),
    "geometry": RunKind(geometry_page, geometry_sections, geometry_numbers),
    "study": RunKind(study_page, study_sections, study_numbers),
}
"""Every kind of run that has a page. A new kind is a line here."""


def report_page(runs: Mapping[str, Sequence[Run]]) -> str:
    """One page of runs by kind; those of several kinds follow each other, and each kind's comparison stands on top.

    One run alone has the page that its own command writes.
    """
    every = [run for its in runs.values() for run in its]
    if len(every) == 1:  # What its command wrote.
        return KINDS[next(iter(runs))].page(every[0])
    sections: list[Section] = []
    several = len(runs) > 1
    for kind, its in runs.items():
        own = [*([compare(kind, its)] if len(its) > 1 else []), *KINDS[kind].sections(its)]
        sections += [_suffixed(section, kind) for section in own] if several else own
    both = alignment_and_transfer(runs.get("audit", ()), runs.get("transfer", ()))
    if both is not None:
        sections.append(both)
    below = listing([f"{len(its)} × {kind}" for kind, its in runs.items()])
    heading = listing([visible(run.name) for run in every])
    return render_page(Page("report", heading, below, sections, [each for run in every for each in run.records]))


def compare(kind: str, runs: Sequence[Run]) -> Section:
    """What differs between runs of one kind."""
    return compared(runs, [KINDS[kind].numbers(run) for run in runs], kind=kind)


def _suffixed(section: Section, kind: str) -> Section:
    """The section with names that no section of another kind has."""
    return replace(
        section,
        title=section.title if ":" in section.title else f"{section.title} ({kind})",
        name=f"{section.name}-{kind}",
        figures=tuple(replace(figure, name=f"{figure.name}-{kind}") for figure in section.figures),
        tables=tuple(replace(table, name=f"{table.name}-{kind}") for table in section.tables),
    )
