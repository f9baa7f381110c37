"""A study as tables: scores with significance, distances, measures and consistency, the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from interlingua.report.explain_picture import LEAST
from interlingua.report.papers import in_names
from interlingua.report.readings import Record, lower_is_better
from interlingua.report.runs import Run
from interlingua.report.study_geometry import study_geometry_tables
from interlingua.report.study_parts import (
    Entry,
    Names,
    beside_entries,
    cell_records,
    consistency_points,
    entries,
    group_of,
    slug,
    task_runs,
)
from interlingua.report.tables import Ref, Table, Told
from interlingua.report.transfer import (
    DIFFERENCE_HEADS,
    compared,
    difference_table,
    distance_lines,
    marks,
    metrics,
    score_table,
    seed_table,
)
from interlingua.report.transfer_page import behind_entry, entry_records, score_records
from interlingua.report.wording import visible
from interlingua.stats import correlate

Numbered = Sequence[tuple[int, Record]]
"""Records with their places on the page."""

MEASURE_HEADS = ("model", "from", "to", "what", "best", "low", "high", "layer", "at last", "null", "n")
"""The columns of a table of a measure: a row a model, pair of languages and variant."""

_DISTANCES = ("distance/related/l2", "distance/unrelated/l2", "auc/l2")


def study_tables(run: Run) -> list[Table]:
    """All tables of a study: the paper's numbers, scores, distances, measures, consistency; what there is of them."""
    names = Names()  # A name is a file's.
    found = (beside_tables, score_tables, distance_tables, effect_tables, measure_tables, study_geometry_tables,
             consistency_tables)  # fmt: skip
    return [replace(table, name=names.new(slug(table.name))) for make in found for table in make(run)]


def score_tables(run: Run) -> list[Table]:
    """Scores, differences and seeds: three tables per metric of an encoder, task and language of training."""
    tables = []
    for part in task_runs(run):
        scores, behind = part.more["scores"], entry_records(part)
        for metric in metrics(scores):
            mine = [entry for entry in scores if entry["metric"] == metric]
            made = score_table(scores, part.about, metric)
            tables.append(_of_task(made, part, score_records(made, mine, behind)))
            made = difference_table(scores, part.about, metric)
            if made.rows:
                tables.append(_of_task(made, part, _difference_records(mine, behind)))
            tables.append(_of_task(seed_table(scores, part.about, metric), part, ()))
    return tables


def _of_task(table: Table, part: Run, records: tuple[tuple[Ref, ...], ...]) -> Table:
    about = part.about
    name = f"{about['model']}-{about['task']}-{about['source']}-{table.name.removeprefix('transfer-')}"
    return Table(name, f"{visible(about['task'])}. {table.title}", table.caption, table.columns, table.rows, records)


def _difference_records(
    mine: Sequence[Entry], behind: Mapping[tuple[str, str, str, int | None], Ref]
) -> tuple[tuple[Ref, ...], ...]:
    """Behind each difference, the records of both regimes."""
    own = {(entry["test"], entry["regime"]): behind_entry(behind, entry) for entry in mine}
    rows: list[tuple[Ref, ...]] = []
    for entry in mine:
        for base, *_ in compared(entry):
            both = [own.get((entry["test"], regime)) for regime in (entry["regime"], base)]
            places = tuple(place for each in both if isinstance(each, tuple) for place in each)
            rows.append((*[None] * 4, places or None, *[None] * (len(DIFFERENCE_HEADS) - 5)))
    return tuple(rows)


def distance_tables(run: Run) -> list[Table]:
    """Distances of words, a table an encoder, task and language of training."""
    distances = entries(run, "distances")
    held: dict[tuple[str, ...], tuple[int, ...]] = {}
    for place, record in run.numbered():
        details = record.get("details") or {}
        if record["measure"] == "distances":
            group = (record["model"], details.get("task") or "", record["source"])
            cell = (*group, details["state"], str(record["target"]), record["variant"])
            held[cell] = (*held.get(cell, ()), place)
    tables: list[Table] = []
    for encoder, task, source in dict.fromkeys(map(group_of, distances)):
        mine = [entry for entry in distances if group_of(entry) == (encoder, task, source)]
        table = distance_lines(mine)
        title = f"{table.title}: {visible(encoder)}, {visible(task) if task else 'before any task'}"
        name = f"{encoder}-{task or 'before'}-distances"
        behind = [
            [held.get((encoder, task, source, entry["state"], entry["language"], variant)) for variant in _DISTANCES]
            for entry in mine
        ]
        records = tuple((None, None, related, unrelated, None, auc) for related, unrelated, auc in behind)
        tables.append(Table(name, title, table.caption, table.columns, table.rows, records))
    return tables


def effect_tables(run: Run) -> list[Table]:
    """Encoders before and after their adjustment at the adjusted layer: retrieval both ways, and the AUC of words."""
    held: dict[tuple[str, str, str, str], dict[str, list[tuple[int, Record]]]] = {}
    adjusted = {(r["model"], r["layer"]) for _, r in run.numbered() if _is_effect(r) and r["measure"] == "separation"}
    for place, record in run.numbered():
        if not _is_effect(record) or (record["model"], record["layer"]) not in adjusted:
            continue
        if record["variant"] in ("p@1/cosine/raw", "p@1/cosine/centred", "auc/l2"):
            cell = (record["model"], "–".join(sorted((record["source"], record["target"]))), record["corpus"],
                    record["variant"])  # fmt: skip
            held.setdefault(cell, {}).setdefault(record["details"]["state"], []).append((place, record))
    rows, records = [], []
    for (model, pair, corpus, variant), states in held.items():
        both = [states.get(state, []) for state in ("original", "adjusted")]
        values = [float(np.mean([each["value"] for _, each in its])) if its else None for its in both]
        rows.append((visible(model), visible(pair), visible(corpus), visible(variant), *values))
        records.append((None, None, None, None, *(tuple(place for place, _ in its) or None for its in both)))
    caption = (
        "At the layer that was adjusted, on sentences that were not trained on and on the embedded sampler: P@1 as a "
        "mean of both directions, and how often a word lies nearer to its translation than to another word (AUC); "
        "means over seeds. Every layer, interval and item is in records.jsonl."
    )
    heads = ("model", "languages", "text", "what", "before", "after")
    return (
        [Table("adjustment", "Before and after adjustment", caption, heads, tuple(rows), tuple(records))]
        if rows
        else []
    )


def _is_effect(record: Record) -> bool:
    """Whether a record is of an adjustment's effect, and of no task, block or geometry."""
    details = record.get("details") or {}
    own = record["measure"] in ("retrieval", "separation") and details.get("state") in ("original", "adjusted")
    return own and not {"regime", "called", "geometry", "test"} & details.keys()


def measure_tables(run: Run, called: str | None = None, *, between: bool | None = None) -> list[Table]:
    """A table a block of measures and measure: one row a model, pair of languages and variant, at its best layer.

    Of one block where it is named, and of it what lies `between` two models, or what does not.
    """
    held: dict[tuple[str, str], dict[tuple[str, ...], list[tuple[int, Record]]]] = {}
    for place, record in run.numbered():
        details, other = record.get("details") or {}, record["target_model"]
        if "called" not in details or "regime" in details:
            continue
        if called in (None, details["called"]) and between in (None, other is not None):
            model = record["model"] if other is None else f"{record['model']}–{other}"
            cell = (model, record["source"], record["target"] or "", record["variant"])
            table = held.setdefault((details["called"], record["measure"]), {})
            table.setdefault(cell, []).append((place, record))
    caption = (
        "The best value over layers (the lowest where low is best, as of errors, distances and crowding) with its 95 % "
        "interval, layer and null, and that of the last layer; all are in records.jsonl."
    )
    tables = []
    for (block, measure), cells in held.items():
        lines = [(cell, *_best_and_last(its)) for cell, its in cells.items()]
        rows = tuple(
            (visible(model), source, target or None, visible(variant), best["value"], best.get("low"), best.get("high"),
             best["layer"], last["value"], best["null"], best["n"])
            for (model, source, target, variant), (_, best), (_, last) in lines
        )  # fmt: skip
        records = tuple((*[None] * 4, best[0], *[None] * 3, last[0], None, None) for _, best, last in lines)
        title = f"{visible(block)}: {visible(measure)}"
        tables.append(Table(f"{block}-{measure}", title, caption, MEASURE_HEADS, rows, records))
    return tables


def _best_and_last(its: Numbered) -> tuple[tuple[int, Record], tuple[int, Record]]:
    first = its[0][1]
    sign = -1.0 if lower_is_better(first.get("best"), first["measure"], first["variant"]) else 1.0
    best = max(its, key=lambda each: (sign * each[1]["value"], -(each[1]["layer"] or 0)))
    return best, max(its, key=lambda each: each[1]["layer"] or 0)


Control = tuple[str, str, Callable[[Record], float | None], str]
"""A measure, the ending of its table's name, what is read of a record, the table's title."""


def _of_heads(record: Record) -> float | None:
    """The mean consistency of the same body under untrained heads; None where there were none."""
    found = (record["details"].get("heads") or {}).get("consistency")
    return float(np.mean(found)) if found else None


CONTROLS: tuple[Control, ...] = (
    ("consistency", "", lambda record: record["value"], "consistency of attributions"),
    ("consistency", "-shuffled", lambda record: record["null"], "consistency with other examples' texts"),
    ("consistency", "-random", lambda record: record["details"].get("random"), "consistency of random attributions"),
    ("consistency", "-heads", _of_heads, "consistency under untrained heads"),
    ("task", "", lambda record: record["value"], "performance on what is explained"),
)


def consistency_tables(run: Run) -> list[Table]:
    """Consistency, its controls and performance, a table each and block of explanations; then correlations."""
    return [*(table for control in CONTROLS for table in _languages_across(run, control)), *_correlations(run)]


def _languages_across(run: Run, control: Control) -> list[Table]:
    """A column a language, a row a model, task, regime, source and aspect; a table a block of explanations."""
    measure, ending, pick, title = control
    caption = in_names("Means over seeds. Overall is over all languages, the source included, as papers/002 has it.")
    held: dict[str, dict[tuple[str, ...], dict[str, list[tuple[int, float]]]]] = {}
    for place, record in run.numbered():
        details = record.get("details") or {}
        if {"called", "regime"} <= details.keys() and record["measure"] == measure:
            value = pick(record)
            if value is not None:
                row = (record["model"], details["task"], details["regime"], record["source"], record["variant"])
                cells = held.setdefault(details["called"], {}).setdefault(row, {})
                cells.setdefault(record["target"], []).append((place, value))
    tables = []
    for called, lines in held.items():
        languages = list(dict.fromkeys(code for cells in lines.values() for code in cells))
        rows, records = [], []
        for line, cells in lines.items():
            means = [float(np.mean([v for _, v in cells[code]])) if code in cells else None for code in languages]
            overall = float(np.mean([value for value in means if value is not None]))
            rows.append((*map(visible, line), *means, overall))
            behind = [tuple(place for place, _ in cells[code]) if code in cells else None for code in languages]
            records.append((*[None] * 5, *behind, None))
        heads = ("model", "task", "regime", "source", "what", *languages, "overall")
        name = f"{called}-{measure}{ending}"
        tables.append(Table(name, f"{visible(called)}: {title}", caption, heads, tuple(rows), tuple(records)))
    return tables


def _correlations(run: Run) -> list[Table]:
    """Consistency against performance over languages (papers/002 §3.4, Fig. 2), with and without the source.

    The source's consistency is 1 by construction: one such point makes any correlation high.
    """
    found = consistency_points(run)
    rows, records = [], []
    for key, points in found.items():
        for named, chosen in (("all", points), ("others", [point for point in points if point[0] != key[3]])):
            goes = correlate([x for _, x, *_ in chosen], [y for *_, y, _ in chosen]) if len(chosen) >= LEAST else None
            if goes is None:  # Too few languages, or one number for all.
                continue
            numbers = (goes.n, goes.value, goes.low, goes.high, goes.p, goes.detectable, goes.least_p)
            rows.append((*map(visible, key), named, *numbers))
            behind = tuple(place for *_, refs in chosen if isinstance(refs, tuple) for place in refs)
            records.append((*[None] * 7, behind, *[None] * 5))
    heads = (
        "model",
        "task",
        "regime",
        "source",
        "what",
        "languages",
        "n",
        "rho",
        "low",
        "high",
        "p",
        "detectable",
        "least p",
    )
    caption = (
        "Spearman's rho, 95 % interval, p by permutations; four languages or more. Detectable: the smallest |rho| they "
        "show with 80 % power; least p: the smallest that they allow. 'others' leaves the language of training "
        "out."
    )
    name, title = "consistency-and-performance", "Consistency and performance"
    return [Table(name, title, caption, heads, tuple(rows), tuple(records))] if rows else []


def beside_tables(run: Run) -> list[Table]:
    """The paper's numbers beside ours, where the study names them."""
    beside, behind = beside_entries(run), cell_records(run)
    if not beside:
        return []
    heads = ("where", "task", "source", "test", "regime", "metric", "paper", "of", "ours", "of ours")
    rows = tuple(
        (
            *(in_names(visible(each[key])) for key in ("cite", "task", "source", "test", "regime", "metric")),
            Told(f"{each['paper']:.4f}{each['paper_mark']}", {"": each["paper"], "marks": each["paper_mark"]}),
            visible(each["paper_encoder"]),
            Told(f"{each['ours']:.4f}{marks(each)}", {"": each["ours"], "marks": marks(each)}),
            visible(each["encoder"]),
        )
        for each in beside
    )
    records = tuple((*[None] * 8, behind.get(cell_of(each)), None) for each in beside)
    caption = (
        "Shares of 1. * differs from original, ** from adjusted (p < 0.05): the paper's marks, and ours by the paper's "
        "own tests, which hold the seeds fixed and are not corrected; the tables of scores have tests over seeds. "
        "Where the encoders differ, the signs of differences can be compared, not the values."
    )
    title = f"{in_names(visible(run.about['paper'] or 'The paper'))} and ours"
    return [Table("beside-the-paper", title, caption, heads, rows, records)]


def cell_of(each: Entry) -> tuple[str, ...]:
    """What our number beside a paper's is of, as `study_parts.cell_records` names it."""
    return tuple(str(each[key]) for key in ("encoder", "task", "source", "test", "metric", "regime"))
