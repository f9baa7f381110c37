"""A study as sections of a page: the answer, papers beside, every seed, distances, layer curves, consistency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from interlingua.report.audit import named_table
from interlingua.report.figures import layer_curves
from interlingua.report.page import Page, render_page, settings_section
from interlingua.report.papers import in_names
from interlingua.report.runs import Run
from interlingua.report.scatter import Dot, dot_plot
from interlingua.report.sections import Choice, Figure, Section, of_run
from interlingua.report.states import STATES_WORDS, state_hills
from interlingua.report.study import (
    beside_tables,
    cell_of,
    distance_tables,
    effect_tables,
    measure_tables,
    score_tables,
)
from interlingua.report.study_answer import study_answer
from interlingua.report.study_consistency import consistency_sections, slugged, titled
from interlingua.report.study_geometry import geometry_parts
from interlingua.report.study_parts import (
    Block,
    Entry,
    Found,
    Names,
    beside_entries,
    cell_records,
    differences,
    measure_blocks,
    slug,
    state_runs,
    task_runs,
)
from interlingua.report.tables import Table
from interlingua.report.transfer import DIFFERENCE_HEADS, SEED_HEADS, SHOWN
from interlingua.report.transfer_answer import base_name
from interlingua.report.transfer_page import (
    PAIRWISE_TITLE,
    PAIRWISE_WORDS,
    SEEDS_WORDS,
    pairwise_figures,
    seed_figures,
    state_readings,
)
from interlingua.report.wording import visible

FIGURES = 6
"""How many tasks have figures and open tables of their own; more share a figure with a menu, and fold their tables."""

NOTES, ROWS = 40, 300
"""How many notes on what was left out, and rows of a measure's table, are on the page; the study's folder has all."""


def study_page(run: Run) -> str:
    """The page of a study, which makes no request; `run.more` has `scores`, `distances` and `beside`."""
    about = run.about
    seeds, done = len(about.get("seeds") or []), (about.get("steps") or {}).get("done", 0)
    parts = [about.get("paper"), about.get("size"), f"seeds: {seeds}", f"steps done: {done}"]
    below = in_names(" · ".join(visible(str(part)) for part in parts if part))
    return render_page(Page("study", str(about["name"]), below, study_sections([run]), run.records))


def study_sections(runs: Sequence[Run]) -> list[Section]:
    """What there is to show of each study; layer curves of blocks of one name share their figures."""
    sections = [study_answer(run) for run in runs]
    sections += [section for run in runs for section in _beside(run)]
    parts = [replace(part, name=f"{run.prefix}{part.name}") for run in runs for part in task_runs(run)]
    for name, title, words, make in (
        ("seeds", "Every seed", SEEDS_WORDS, seed_figures),
        ("pairwise", PAIRWISE_TITLE, PAIRWISE_WORDS, pairwise_figures),
    ):
        drawn = [(part, figure) for part in parts for figure in make(part)]
        if len(drawn) > FIGURES:
            menu, one = _with_menu(drawn, title)
            sections.append(Section(name, title, (words,), choices=(menu,), figures=(one,)))
        elif drawn:
            figures = tuple(of_run(figure, part.key, part.name) for part, figure in drawn)
            sections.append(Section(name, title, (words,), figures=figures))
    sections += [section for run in runs for section in _scores(run)]
    sections += [section for run in runs for section in _distances(run)]
    sections += [
        Section("adjustment", "Before and after adjustment", (), tables=(named_table(table, run),))
        for run in runs
        for table in effect_tables(run)
    ]
    sections += [_block(block, found, runs) for block, found in measure_blocks(runs).items()]
    sections += geometry_parts(runs)
    sections += [section for run in runs for section in consistency_sections(run)]
    return _told_apart([*sections, *(_made(run) for run in runs)])


def _told_apart(sections: Sequence[Section]) -> list[Section]:
    """The sections with no name twice: users' names of blocks, tasks and encoders may be one once they are joined."""
    parts, figures, tables = Names(), Names(), Names()
    return [
        replace(
            section,
            name=parts.new(section.name),
            figures=tuple(replace(figure, name=figures.new(figure.name)) for figure in section.figures),
            tables=tuple(replace(table, name=tables.new(table.name)) for table in section.tables),
        )
        for section in sections
    ]


def _with_menu(drawn: Sequence[tuple[Run, Figure]], title: str) -> tuple[Choice, Figure]:
    """Figures of many tasks as one, the task chosen above it; its table has all."""
    traces = tuple({**trace, "when": {"task": part.key}} for part, figure in drawn for trace in figure.traces)
    tables = [(part, figure.table) for part, figure in drawn if figure.table is not None]
    rows = tuple((visible(part.name), *row) for part, table in tables for row in table.rows)
    records = tuple((None, *row) for _, table in tables for row in table.records)
    first = drawn[0][1]
    layout = dict(first.layout)
    # Tasks have metrics of their own: the axis can't name one.
    names = {base_name(part) for part, _ in drawn}
    base = visible(names.pop()) if len(names) == 1 else "the first regime"
    layout["xaxis"] = {**layout["xaxis"], "title": {"text": base if "pairwise" in first.name else "score"}}
    if "title" in layout["yaxis"]:
        layout["yaxis"] = {**layout["yaxis"], "title": {"text": "another regime", "standoff": 12}}
    heads = ("of", *(tables[0][1].columns if tables else ()))
    table = Table(first.name, title, "", heads, rows, records)
    menu = Choice("task", "Task", tuple((part.key, visible(part.name)) for part, _ in drawn), drawn[0][0].key)
    return menu, replace(first, title=title, traces=traces, layout=layout, table=table)


def _silent(beside: Sequence[Entry]) -> str:
    """How many of our comparisons tell nothing, and are not drawn."""
    count = sum(each["silent"] for each in beside)
    return f" Left out: {count} of ours with a seed that never left chance, or with both at chance." if count else ""


def _beside(run: Run) -> list[Section]:
    """The paper's numbers against ours, and its differences to the original against ours."""
    beside, behind = beside_entries(run), cell_records(run)
    if not beside:
        return []
    values: dict[str, list[Dot]] = {}
    for each in beside:
        series = values.setdefault(f"{each['task']}, {SHOWN.get(each['metric'], each['metric'])}", [])
        series.append((_cited(each), each["paper"], each["ours"], behind.get(cell_of(each))))
    caption = "A dot a cell of the paper’s tables, shares of 1; on the dotted line both are the same."
    figures = [dot_plot("paper", "The paper’s numbers and ours", caption, values, ("the paper", "ours"), diagonal=True,
                        named=False)]  # fmt: skip
    gains: dict[str, list[Dot]] = {}
    for each, theirs, ours in differences(beside):
        gains.setdefault(each["regime"], []).append((_cited(each), theirs, ours, behind.get(cell_of(each))))
    if gains:
        caption = (
            "Each regime less the original. Right above and left below the cross, the signs are the same."
            f"{_silent(beside)}"
        )
        axes = ("the paper: difference to the original", "ours: difference to the original")
        drawn = dot_plot("paper-gains", "Differences to the original", caption, gains, axes, first=1, diagonal=True,
                         named=False)  # fmt: skip
        cross = {"zeroline": True, "zerolinecolor": "@soft", "zerolinewidth": 1}
        crossed = {axis: {**drawn.layout[axis], **cross} for axis in ("xaxis", "yaxis")}
        figures.append(replace(drawn, layout={**drawn.layout, **crossed}))
    words = "Point at a dot for the paper’s table and cell; click for our records. The paper’s own encoder may differ."
    tables = tuple(named_table(table, run) for table in beside_tables(run))
    shown = tuple(of_run(figure, run.key, run.name) for figure in figures)
    title = titled("Beside the paper", run)
    return [Section(run.id("beside"), title, (words,), figures=shown, tables=tables, folded=True)]


def _cited(each: Entry) -> str:
    return f"{in_names(each['cite'])} ({each['paper_encoder']}; ours {each['encoder']})"


def _scores(run: Run) -> list[Section]:
    """Scores first, then differences with Holm's correction and what could be detected, and every seed, folded."""
    tables = [slugged(named_table(table, run)) for table in score_tables(run)]
    differences = [table for table in tables if table.columns == DIFFERENCE_HEADS]
    by_seed = [table for table in tables if table.columns[: len(SEED_HEADS)] == SEED_HEADS]
    means = [table for table in tables if table not in differences and table not in by_seed]
    words = ("A number with dots under it shows its records: point at it, or click.",)
    made = []
    for name, title, folded, its in (
        ("scores", "Scores", False, means),
        ("differences", "Differences", True, differences),
        ("by-seed", "Scores of every seed", True, by_seed),
    ):
        if its:
            fold = folded or len(its) > FIGURES
            made.append(Section(run.id(name), titled(title, run), words, tables=tuple(its), folded=fold))
    return made


def _distances(run: Run) -> list[Section]:
    """Hills of related and unrelated words over the states, one section a task; then the tables of all."""
    made = []
    for part in state_runs(run):
        hills = state_hills(state_readings(part))
        if hills is not None:
            title = f"Related and unrelated words: {visible(f'{run.prefix}{part.name}')}"
            figure = of_run(hills[1], part.key, f"{run.prefix}{part.name}")
            name = f"distances-{part.key}"
            words = (STATES_WORDS, "The hills are of the first seed; the tables below are means over seeds.")
            made.append(Section(name, title, words, choices=tuple(hills[0]), figures=(figure,)))
    tables = tuple(slugged(named_table(table, run)) for table in distance_tables(run))
    if tables:
        made.append(Section(run.id("distance-tables"), titled("Distances", run), tables=tables, folded=True))
    return made


def _block(block: Block, found: Found, runs: Sequence[Run]) -> Section:
    """A block of measures: a curve a measure with a line a model, and its tables."""
    called, between = block
    name = slug(f"{called}-between" if between else called)
    choices, curves = layer_curves(found)
    # A legend of many lines would leave a plain figure no room.
    size = "plain" if len(found) < 4 else "tall" if len(found) > 4 else "wide"
    figures = tuple(replace(figure, name=f"{figure.name}-{name}", size=size) for figure in curves)
    tables = tuple(
        slugged(named_table(_cut(table), run)) for run in runs for table in measure_tables(run, called, between=between)
    )
    if between:  # A block may have both, and a table's name is one on a page.
        tables = tuple(replace(table, name=f"{table.name}-between") for table in tables)
    words = (
        "Each line is the mean over all language pairs (or languages) and seeds, the band its 95 % interval over "
        "sentences, and the dotted line what the measure reads without any relation: with pairs shuffled. Layer 0 is "
        "the embedding output, layer k the output of block k."
    )
    title = f"{visible(called)}{': between models' if between else ': layer by layer' if curves else ''}"
    told = (words,) if curves else ("These measures have no layers.",)
    return Section(f"measures-{name}", title, told, choices=tuple(choices), figures=figures, tables=tables, folded=True)


def _made(run: Run) -> Section:
    about = dict(run.about)
    notes = [*(about.get("notes") or []), *(about.get("skipped") or [])]
    left = len(notes) - NOTES
    about["skipped"] = [*notes[:NOTES], *([f"{left} more notes, in notes.txt"] if left > 0 else [])]
    labels = {"name": "Study", "about": "Asks", "paper": "Paper", "size": "Size", "encoders": "Encoders"}
    more = (("Records", f"{len(run.records)}, in records.jsonl in the study’s folder"),)
    without = ("notes", "kind")
    title = titled("How it was made", run)
    return settings_section(about, labels=labels, without=without, more=more, name=run.id("made"), title=title)


def _cut(table: Table) -> Table:
    """The table's first rows, and where the others are."""
    if len(table.rows) <= ROWS:
        return table
    said = f" The first {ROWS} of {len(table.rows)} rows; all are in tables/{slug(table.name)}.csv."
    return replace(table, caption=table.caption + said, rows=table.rows[:ROWS], records=table.records[:ROWS])
