"""A study as tables: scores with significance, distances, measures and consistency, the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interlingua.report.tables import Table
from interlingua.report.transfer import SHOWN, difference_table, distance_lines, marks, metrics, score_table
from interlingua.report.wording import visible
from interlingua.stats import pearson, spearman

Entry = Mapping[str, Any]


@dataclass(frozen=True)
class StudyReport:
    """What a study found: `scores` of tasks, `distances` of words, the paper's numbers `beside` ours, and `tables`.

    `about` is all that made them.
    """

    about: dict[str, Any]
    scores: list[dict[str, Any]]
    distances: list[dict[str, Any]]
    beside: list[dict[str, Any]]
    tables: list[Table]

    def select(self, task: str, metric: str) -> dict[tuple[str, str, str], dict[str, Any]]:
        """The entries of a task's metric, by encoder, regime and test."""
        return {
            (entry["encoder"], entry["regime"], entry["test"]): entry
            for entry in self.scores
            if (entry["task"], entry["metric"]) == (task, metric)
        }

    def __repr__(self) -> str:
        return f"StudyReport({self.about['name']}, {len(self.tables)} tables)"


def study_report(
    about: dict[str, Any],
    scores: list[dict[str, Any]],
    distances: list[dict[str, Any]],
    beside: list[dict[str, Any]],
    records: Sequence[Entry],
) -> StudyReport:
    """The report with its tables; `records` are those of measures and explanations, as plain data."""
    tables = [_beside_table(beside, about)] if beside else []
    for key in dict.fromkeys((entry["encoder"], entry["task"], entry["source"]) for entry in scores):
        tables += _score_tables([entry for entry in scores if _key(entry) == key], about)
    for key in dict.fromkeys((entry["encoder"], entry["task"], entry["source"]) for entry in distances):
        tables.append(_distances([entry for entry in distances if _key(entry) == key]))
    called = [record for record in records if "called" in record["details"]]
    explained = [record for record in called if "regime" in record["details"]]
    tables += _measures([record for record in called if "regime" not in record["details"]])
    tables += _consistency([record for record in explained if record["measure"] in ("consistency", "task")])
    tables += [_correlations(explained)] if any(_points(explained).values()) else []
    return StudyReport(about, scores, distances, beside, tables)


def _key(entry: Entry) -> tuple[str, str, str]:
    return entry["encoder"], entry["task"], entry["source"]


def _score_tables(entries: Sequence[Entry], about: Entry) -> list[Table]:
    encoder, task, source = _key(entries[0])
    run = {
        "tests": list(dict.fromkeys(entry["test"] for entry in entries)),
        "regimes": list(dict.fromkeys(entry["regime"] for entry in entries)),
        "seeds": about["seeds"],
        "source": source,
        "model": encoder,
    }
    tables = []
    for metric in metrics(entries):
        for table in (score_table(entries, run, metric), difference_table(entries, run, metric)):
            name = f"{encoder}-{task}-{source}-{table.name.removeprefix('transfer-')}"
            if table.rows:
                tables.append(Table(name, f"{visible(task)}. {table.title}", table.caption, table.columns, table.rows))
    return tables


def _distances(entries: Sequence[Entry]) -> Table:
    encoder, task, _ = _key(entries[0])
    table = distance_lines(entries)
    title = f"{table.title}: {visible(encoder)}, {visible(task) if task else 'before any task'}"
    return Table(f"{encoder}-{task or 'before'}-distances", title, table.caption, table.columns, table.rows)


def _measures(records: Sequence[Entry]) -> list[Table]:
    """A table a block of measures and measure: one row a model, pair of languages and variant, at its best layer."""
    tables = []
    heads = ("model", "from", "to", "what", "best", "layer", "at last", "null", "n")
    caption = (
        "The best value over layers (the lowest of errors and distances), its layer and null, and that of the last "
        "layer; all are in records.jsonl."
    )
    for called, measure in dict.fromkeys((record["details"]["called"], record["measure"]) for record in records):
        cells: dict[tuple[str, ...], list[Entry]] = {}
        for record in records:
            if (record["details"]["called"], record["measure"]) == (called, measure):
                other = record["target_model"]
                model = record["model"] if other is None else f"{record['model']}–{other}"
                cells.setdefault((model, record["source"], record["target"] or "", record["variant"]), []).append(
                    record
                )
        rows = []
        for (model, source, target, variant), its in cells.items():
            sign = -1.0 if variant.startswith(("error", "distance")) else 1.0
            best = max(its, key=lambda record: (sign * record["value"], -(record["layer"] or 0)))
            last = max(its, key=lambda record: record["layer"] or 0)
            values = (best["value"], best["layer"], last["value"], best["null"], best["n"])
            rows.append((visible(model), source, target or None, visible(variant), *values))
        title = f"{visible(called)}: {visible(measure)}"
        tables.append(Table(f"{called}-{measure}", title, caption, heads, tuple(rows)))
    return tables


def _consistency(records: Sequence[Entry]) -> list[Table]:
    """A table a block of explanations: one row a model, task, regime, source and aspect, a column a language."""
    tables = []
    caption = "Means over seeds. Overall is over all languages, the source included, as papers/002 has it."
    for called, measure in dict.fromkeys((record["details"]["called"], record["measure"]) for record in records):
        mine = [r for r in records if (r["details"]["called"], r["measure"]) == (called, measure)]
        languages = list(dict.fromkeys(record["target"] for record in mine))
        cells: dict[tuple[str, ...], dict[str, list[float]]] = {}
        for record in mine:
            details = record["details"]
            row = (record["model"], details["task"], details["regime"], record["source"], record["variant"])
            cells.setdefault(row, {}).setdefault(record["target"], []).append(record["value"])
        rows = []
        for line, values in cells.items():
            means = [float(np.mean(values[code])) if code in values else None for code in languages]
            overall = float(np.mean([value for value in means if value is not None]))
            rows.append((*map(visible, line), *means, overall))
        heads = ("model", "task", "regime", "source", "what", *languages, "overall")
        title = "consistency of attributions" if measure == "consistency" else "performance on what is explained"
        tables.append(Table(f"{called}-{measure}", f"{visible(called)}: {title}", caption, heads, tuple(rows)))
    return tables


def _points(records: Sequence[Entry]) -> dict[tuple[str, ...], list[tuple[str, float, float]]]:
    """(language, consistency, performance) by model, task, regime, source and aspect, means over seeds."""
    means: dict[tuple[str, ...], list[float]] = {}
    for record in records:
        details = record["details"]
        key = (record["model"], details["task"], details["regime"], record["source"])
        means.setdefault((*key, record["measure"], record["variant"], record["target"]), []).append(record["value"])
    found: dict[tuple[str, ...], list[tuple[str, float, float]]] = {}
    for cell, values in means.items():
        shared, (measure, variant, target) = cell[:4], cell[4:]
        # The metric that speaks for the task is the first of those that are shown.
        judged = next(
            (means[each] for each in ((*shared, "task", name, target) for name in SHOWN) if each in means), None
        )
        if measure == "consistency" and judged is not None:
            found.setdefault((*shared, variant), []).append((target, float(np.mean(values)), float(np.mean(judged))))
    return found


def _correlations(records: Sequence[Entry]) -> Table:
    """Consistency against performance over languages (papers/002 §3.4, Fig. 2), with and without the source.

    The source's consistency is 1 by construction: one such point makes any correlation high.
    """
    rows = []
    for key, points in _points(records).items():
        for named, chosen in (("all", points), ("others", [point for point in points if point[0] != key[3]])):
            if len(chosen) < 3:
                continue
            sides = np.array([[x, y] for _, x, y in chosen]).T
            rows.append((*map(visible, key), named, len(chosen), *pearson(*sides), *spearman(*sides)))
    heads = ("model", "task", "regime", "source", "what", "languages", "n", "r", "low", "high", "ρ", "low", "high")
    caption = (
        "Pearson's r (Fisher's 95 % interval) and Spearman's ρ (Bonett & Wright's) over languages; intervals from four "
        "languages on. 'others' leaves the language of training out."
    )
    return Table("consistency-and-performance", "Consistency and performance", caption, heads, tuple(rows))


def _beside_table(beside: Sequence[Entry], about: Entry) -> Table:
    heads = ("where", "task", "source", "test", "regime", "metric", "paper", "of", "ours", "of ours")
    rows = tuple(
        (
            *(visible(each[key]) for key in ("cite", "task", "source", "test", "regime", "metric")),
            f"{each['paper']:.4f}{each['paper_mark']}",
            visible(each["paper_encoder"]),
            f"{each['ours']:.4f}{marks(each)}",
            visible(each["encoder"]),
        )
        for each in beside
    )
    caption = (
        "Shares of 1. * differs from original, ** from adjusted (p < 0.05): the paper's marks, and ours. Where the "
        "encoders differ, the signs of differences can be compared, not the values."
    )
    return Table("beside-the-paper", f"{visible(about['paper'] or 'The paper')} and ours", caption, heads, rows)
