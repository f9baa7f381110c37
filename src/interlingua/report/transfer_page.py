"""A transfer study as sections of a page: what helped, every seed a dot, regimes against each other, distances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlingua.report.page import Page, render_page, settings_section
from interlingua.report.readings import Reading, Record
from interlingua.report.runs import Run, colour
from interlingua.report.scatter import dot_plot
from interlingua.report.sections import Figure, Section, Trace, label, of_run, short
from interlingua.report.states import STATES_WORDS, state_hills
from interlingua.report.tables import Ref, Table
from interlingua.report.transfer import (
    SHOWN,
    Entry,
    difference_table,
    distance_lines,
    headline,
    interval,
    metric_slug,
    metrics,
    score_table,
    seed_table,
    table_files,
)
from interlingua.report.transfer_answer import base_name, base_regimes, named, run_scores, told, uncertainty
from interlingua.report.wording import visible

SEEDS_WORDS = (
    "One row per test and regime: dots are seeds, the bar their mean, the line its 95 % interval (Student; of one seed "
    "that over its examples), the cross the chance level."
)
PAIRWISE_TITLE = "Regimes against each other"
PAIRWISE_WORDS = (
    "A dot a test: what the original (without one, the first regime) reads, and what another does. Above the dotted "
    "line it helps."
)


def transfer_page(run: Run) -> str:
    """The page of a transfer study, which makes no request; `run.more` has `scores` and `distances`."""
    about = run.about
    seeds, tests = len(about["seeds"]), len(about["tests"])
    below = f"{about['task']}, trained in {named(about['source'])}, seeds: {seeds}, tests: {tests}"
    return render_page(Page("transfer", str(about["model"]), below, transfer_sections([run]), run.records))


def transfer_files(
    scores: Sequence[Entry], distances: Sequence[Entry], run: Mapping[str, Any], records: Sequence[Record] = ()
) -> dict[str, str]:
    """File names and texts: the page `transfer.html`, and all that `table_files` makes."""
    own = Run(run, records, more={"scores": scores, "distances": distances})
    return {"transfer.html": transfer_page(own), **table_files(scores, distances, run)}


def transfer_sections(runs: Sequence[Run]) -> list[Section]:
    """What there is to show of each study."""
    sections = [transfer_answer(run) for run in runs]
    seeds = tuple(of_run(figure, run.key, run.name) for run in runs for figure in seed_figures(run))
    if seeds:
        sections.append(Section("seeds", "Every seed", (SEEDS_WORDS,), figures=seeds))
    pairs = tuple(of_run(figure, run.key, run.name) for run in runs for figure in pairwise_figures(run))
    if pairs:
        sections.append(Section("pairwise", PAIRWISE_TITLE, (PAIRWISE_WORDS,), figures=pairs))
    for run in runs:
        made = state_hills(state_readings(run))
        if made is not None:
            title = "Related and unrelated words" + (f": {run.name}" if run.key else "")
            figure = of_run(made[1], run.key, run.name)
            sections.append(
                Section(run.id("distances"), title, (STATES_WORDS,), choices=tuple(made[0]), figures=(figure,))
            )
    tables = tuple(table for run in runs for table in _tables(run))
    if tables:
        sections.append(Section("tables", "Tables", ("A number with dots under it shows its records.",), tables=tables))
    return sections + [_made(run) for run in runs]


def transfer_answer(run: Run) -> Section:
    """The section on top: what the base regime reads, what each other one changed, and how sure that is."""
    title = f"The answer: {run.name}" if run.key else "The answer"
    lead, facts = told(run)
    if facts is not None:
        facts.append(("How sure", uncertainty(run)))
    return Section(run.id("answer"), title, (lead,), facts=tuple(facts or ()))


def entry_records(run: Run) -> dict[tuple[str, str, str, int | None], Ref]:
    """The records behind an entry by test, regime, metric and layer: one a seed."""
    found: dict[tuple[str, str, str, int | None], tuple[int, ...]] = {}
    for place, record in run.numbered():
        details = record.get("details") or {}
        if "regime" in details:
            metric = str(record["variant"]).partition("/layer ")[0]
            key = (details["test"], details["regime"], metric, record.get("layer"))
            found[key] = (*found.get(key, ()), place)
    return dict(found)


def behind_entry(found: Mapping[tuple[str, str, str, int | None], Ref], entry: Entry) -> Ref:
    """The records that an entry of the scores was made from."""
    return found.get((entry["test"], entry["regime"], entry["metric"], entry["layer"]))


def score_records(
    table: Table, entries: Sequence[Entry], behind: Mapping[tuple[str, str, str, int | None], Ref]
) -> tuple[tuple[Ref, ...], ...]:
    """What is behind the cells of a table of one metric's scores."""
    first, second = ("test", "regime") if table.columns[0] == "test" else ("regime", "test")
    cells = {(visible(entry[first]), visible(entry[second])): behind_entry(behind, entry) for entry in entries}
    return tuple((None, *(cells.get((str(row[0]), head)) for head in table.columns[1:])) for row in table.rows)


def seed_figures(run: Run) -> Iterator[Figure]:
    """Every seed a dot, a figure a headline metric; nothing where nothing was scored."""
    for place, (metric, entries) in enumerate(headline(run_scores(run)).items()):
        yield _seed_figure(run, metric, entries, "seeds" if place == 0 else f"seeds-{metric_slug(metric)}")


def _seed_figure(run: Run, metric: str, entries: Sequence[Entry], figure_name: str) -> Figure:
    behind = entry_records(run)
    traces: list[Trace] = []
    rows, records = [], []
    for place, regime in enumerate(run.about["regimes"]):
        mine = [entry for entry in entries if entry["regime"] == regime]
        ink = colour(place)
        where = {entry["test"]: [label(entry["test"]), label(regime)] for entry in mine}
        middle: list[Any] = [entry["mean"] for entry in mine]
        ends = [interval(entry) for entry in mine]
        traces.append(
            {"type": "scatter", "mode": "markers", "name": label(regime), "x": [short(v) for v in middle],
             "y": [[where[e["test"]][0] for e in mine], [where[e["test"]][1] for e in mine]],
             "error_x": {"type": "data", "symmetric": False, "color": ink, "thickness": 1.5,
                         "array": [short(high - v) for (_, high), v in zip(ends, middle, strict=True)],
                         "arrayminus": [short(v - low) for (low, _), v in zip(ends, middle, strict=True)]},
             "marker": {"color": ink, "size": 14, "symbol": "line-ns-open", "line": {"width": 3, "color": ink}},
             "records": [behind_entry(behind, e) for e in mine], "hover": f"{label(regime)}, %{{y}}: mean %{{x:.3f}}"}
        )  # fmt: skip
        dots = [
            (entry, seed, value) for entry in mine for seed, value in zip(entry["seeds"], entry["values"], strict=True)
        ]
        traces.append(
            {"type": "scatter", "mode": "markers", "showlegend": False, "name": label(regime),
             "x": [short(value) for *_, value in dots],
             "y": [[where[e["test"]][0] for e, *_ in dots], [where[e["test"]][1] for e, *_ in dots]],
             "marker": {"color": ink, "size": 8, "opacity": 0.45}, "hover": f"{label(regime)}, a seed: %{{x:.3f}}",
             "records": [_one(behind_entry(behind, e), e["seeds"].index(seed)) for e, seed, _ in dots]}
        )  # fmt: skip
        rows += [(visible(entry["test"]), visible(regime), seed, value) for entry, seed, value in dots]
        records += [(None, None, None, _one(behind_entry(behind, e), e["seeds"].index(s))) for e, s, _ in dots]
    levels = [entry for entry in entries if entry["null"] is not None]
    if levels:
        traces.append(
            {"type": "scatter", "mode": "markers", "name": "chance level",
             "x": [short(entry["null"]) for entry in levels],
             "y": [[label(entry["test"]) for entry in levels], [label(entry["regime"]) for entry in levels]],
             "marker": {"color": "@soft", "size": 9, "symbol": "x-thin-open", "line": {"width": 2, "color": "@soft"}},
             "hover": "chance level: %{x:.3f}"}
        )  # fmt: skip
    name = SHOWN.get(metric, visible(metric))
    table = Table(figure_name, name, "", ("test", "regime", "seed", name), tuple(rows), tuple(records))
    layout = {
        "showlegend": len(run.about["regimes"]) > 1 or bool(levels),
        "xaxis": {"title": {"text": name}, "tickformat": ".0%", "nticks": 7},
        "yaxis": {"range": [len(entries) - 0.5, -0.5], "showgrid": False, "type": "multicategory"},
    }
    tall = 120 + 22 * len(entries)  # A row is as high as its two words, be there three or sixty.
    caption = "Of every regime, test and seed."
    return Figure(figure_name, name, caption, tuple(traces), layout, table, "wide", height=tall)


def _one(refs: Ref, place: int) -> Ref:
    return refs[place] if isinstance(refs, tuple) and place < len(refs) else refs


def pairwise_figures(run: Run) -> Iterator[Figure]:
    """Regimes against the base, a dot a test, a figure a headline metric; nothing for fewer than two tests."""
    for place, (metric, entries) in enumerate(headline(run_scores(run)).items()):
        yield from _pairwise_figure(
            run, metric, entries, "pairwise" if place == 0 else f"pairwise-{metric_slug(metric)}"
        )


def _pairwise_figure(run: Run, metric: str, entries: Sequence[Entry], figure_name: str) -> Iterator[Figure]:
    behind, first, name = entry_records(run), base_regimes(run), visible(base_name(run))
    base = {entry["test"]: entry for entry in entries if entry["regime"] == first[entry["test"]]}
    series = {
        regime: [
            (entry["test"], base[entry["test"]]["mean"], entry["mean"], behind_entry(behind, entry))
            for entry in entries
            if entry["regime"] == regime != first[entry["test"]] and entry["test"] in base
        ]
        for regime in run.about["regimes"]
    }
    series = {regime: dots for regime, dots in series.items() if len(dots) > 1}
    if series:
        read = SHOWN.get(metric, visible(metric))
        axes = (f"{name}: {read}", f"another regime: {read}")
        caption = "Means over seeds."
        title = f"Regimes against {name}"
        yield dot_plot(figure_name, title, caption, series, axes, first=1, diagonal=True)


def state_readings(run: Run) -> dict[str, dict[str, Reading]]:
    """The first seed's AUC of every state and language, with its histograms."""
    states: dict[str, dict[str, Reading]] = {}
    for place, record in run.numbered():
        details = record.get("details") or {}
        if "state" in details and record["variant"] == "auc/l2":
            reading = Reading(record["value"], record.get("null"), record.get("low"), record.get("high"),
                              record.get("n") or 0, details, (place,))  # fmt: skip
            states.setdefault(details["state"], {}).setdefault(str(record["target"]), reading)
    return states


def _tables(run: Run) -> Iterator[Table]:
    scores, behind = run_scores(run), entry_records(run)
    for metric in metrics(scores) if scores else []:
        table = score_table(scores, run.about, metric)
        records = score_records(table, [entry for entry in scores if entry["metric"] == metric], behind)
        yield Table(run.id(table.name), table.title, table.caption, table.columns, table.rows, records)
    for metric in metrics(scores) if scores else []:
        for table in (difference_table(scores, run.about, metric), seed_table(scores, run.about, metric)):
            if table.rows:
                yield Table(run.id(table.name), table.title, table.caption, table.columns, table.rows)
    if run.more.get("distances"):
        table = distance_lines(run.more["distances"])
        title = f"{table.title}: {visible(run.name)}" if run.key else table.title
        yield Table(run.id(table.name), title, table.caption, table.columns, table.rows)


def _made(run: Run) -> Section:
    title = f"How it was made: {run.name}" if run.key else "How it was made"
    about = {**run.about, **(run.about.get("settings") or {})}
    labels, without = (
        {"model": "Model", "task": "Task", "source": "Trained in"},
        ("settings", "left_out", "trained", "steps"),
    )
    return settings_section(about, labels=labels, without=without, name=run.id("made"), title=title)
